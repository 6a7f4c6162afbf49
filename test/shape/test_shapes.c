// Distances of shapes against a search that shares no code, and their first derivatives against differences.
#include "shape/shape.h"
#include "support/shape_check.h"
#include "support/skeleton.h"

#include <math.h>

#define KINDS POISE_SHAPE_KIND_COUNT
#define TRIES 400

static poise_nearest nearest_of(const figure *f, const poise_shape *a, const poise_shape *b)
{
    poise_nearest nearest;
    ck_assert_int_eq(poise_distance(f->kin, a, b, &nearest, NULL), POISE_OK);
    return nearest;
}

// Rows: all pairs of kinds. What the numbers cannot hold is said; it is no distance.
TEST_ROWS(distances_are_finite_or_refused, KINDS *KINDS)
{
    figure f = two_free_bodies();
    scene_random random = scene_random_make(3 + (uint64_t)test_row);
    int found = 0, refused = 0;
    for (int exponent = 0; exponent < 306; exponent += 5) {
        double size = pow(10, exponent);
        poise_shape shape[2] = {random_shape(&random, (poise_shape_kind)(test_row / KINDS), 0, 1),
                                random_shape(&random, (poise_shape_kind)(test_row % KINDS), 1, 1)};
        for (int i = 0; i < 2; ++i) {
            shape[i].half = poise_vec3_make(size * shape[i].half.x, size * shape[i].half.y, size * shape[i].half.z);
            shape[i].pose.position.x += 5 * i * size;
        }
        poise_nearest nearest;
        poise_error error;
        poise_status status = poise_distance(f.kin, &shape[0], &shape[1], &nearest, &error);
        ck_assert(status != POISE_OK || isfinite(nearest.distance));
        found += status == POISE_OK;
        refused += status == POISE_ERROR_NUMERIC;
    }
    ck_assert_int_eq(found + refused > 0, test_row != KINDS * KINDS - 1); // of two half-spaces there is none
}

// Rows: all pairs of kinds, both ways.
TEST_ROWS(distances_are_those_of_a_search, KINDS *KINDS)
{
    poise_shape_kind kind_a = (poise_shape_kind)(test_row / KINDS), kind_b = (poise_shape_kind)(test_row % KINDS);
    figure f = two_free_bodies();
    scene_random random = scene_random_make(7 + (uint64_t)test_row);
    for (int i = 0; i < TRIES; ++i) {
        place_apart(&f, &random, i % 4 == 0 ? 0.2 : 1.2);
        poise_shape a = random_shape(&random, kind_a, 0, 1), b = random_shape(&random, kind_b, 1, 1);
        if (kind_a == POISE_SHAPE_HALF_SPACE && kind_b == POISE_SHAPE_HALF_SPACE) {
            poise_error error;
            ck_assert_int_eq(poise_distance(f.kin, &a, &b, &(poise_nearest){0}, &error), POISE_ERROR_UNSUPPORTED);
            continue;
        }
        double expected = checked_distance(f.kin, &a, &b), core = expected + a.radius + b.radius;
        poise_nearest nearest = nearest_of(&f, &a, &b);
        bool is_plane = kind_a == POISE_SHAPE_HALF_SPACE || kind_b == POISE_SHAPE_HALF_SPACE;
        double tolerance = kind_a == POISE_SHAPE_BOX && kind_b == POISE_SHAPE_BOX ? 1e-6 : 1e-9;
        if (core > 1e-6 || is_plane) {
            ck_assert_double_eq_tol(nearest.distance, expected, tolerance);
        } else { // overlapping cores: never said to be farther apart than they are
            ck_assert_double_le(nearest.distance, expected + tolerance);
        }
        poise_vec3 n = nearest.normal;
        poise_vec3 gap = {nearest.on_a.x - nearest.on_b.x, nearest.on_a.y - nearest.on_b.y, nearest.on_a.z - nearest.on_b.z};
        ck_assert_double_eq_tol(n.x * n.x + n.y * n.y + n.z * n.z, 1, 1e-12);
        ck_assert_double_eq_tol(gap.x - nearest.distance * n.x, 0, 1e-8);
        ck_assert_double_eq_tol(gap.y - nearest.distance * n.y, 0, 1e-8);
        ck_assert_double_eq_tol(gap.z - nearest.distance * n.z, 0, 1e-8);
    }
}

// n . (velocity of the points, fixed in their bodies) along one coordinate.
static double rate(const figure *f, const poise_nearest *at, int dof)
{
    double J[3 * 12], sum = 0;
    const double n[3] = {at->normal.x, at->normal.y, at->normal.z};
    for (int body = 0; body < 2; ++body) {
        poise_pose back = poise_pose_inverse(poise_kinematics_body_pose(f->kin, body));
        poise_vec3 local = poise_pose_transform(back, body == 0 ? at->on_a : at->on_b);
        ck_assert_int_eq(poise_kinematics_jacobian(f->kin, body, local, J, NULL, NULL), POISE_OK);
        for (int k = 0; k < 3; ++k) {
            sum += (body == 0 ? n[k] : -n[k]) * J[k * f->nv + dof];
        }
    }
    return sum;
}

TEST_ROWS(the_normal_is_the_derivative, KINDS *KINDS - 1)
{
    poise_shape_kind kind_a = (poise_shape_kind)(test_row / KINDS), kind_b = (poise_shape_kind)(test_row % KINDS);
    figure f = two_free_bodies();
    scene_random random = scene_random_make(3 + (uint64_t)test_row);
    int compared = 0;
    for (int i = 0; i < TRIES; ++i) {
        place_apart(&f, &random, i % 3 == 0 ? 0.2 : 1.2);
        poise_shape a = random_shape(&random, kind_a, 0, 1), b = random_shape(&random, kind_b, 1, 1);
        poise_nearest at = nearest_of(&f, &a, &b);
        int dof = i % 12;
        double h = 1e-5, expected = rate(&f, &at, dof), q = f.q[dof], d[2];
        bool jumps = false; // to other features of the shapes, where the derivative may jump
        for (int side = 0; side < 2; ++side) {
            f.q[dof] = q + (side == 0 ? -h : h);
            update(&f);
            poise_nearest near = nearest_of(&f, &a, &b);
            d[side] = near.distance;
            jumps = jumps || fabs(rate(&f, &near, dof) - expected) > 1e-3;
        }
        f.q[dof] = q;
        update(&f);
        if (!jumps) {
            ck_assert_double_eq_tol((d[1] - d[0]) / (2 * h), expected, 1e-6);
            compared += 1;
        }
    }
    ck_assert_int_gt(compared, TRIES * 9 / 10);
}

// Two capsules whose axes lie on one line, exactly x, y or z, and overlap: no direction is the nearest, and one across
// will do.
TEST_ROWS(capsules_on_one_line_part_across_it, 3)
{
    static const poise_quat turns[] = {{0.5, 0.5, 0.5, 0.5}, {-0.5, -0.5, -0.5, 0.5}, {0, 0, 0, 1}}; // of z
    figure f = two_free_bodies();
    poise_vec3 origin = {0, 0, 0}, end = {0, 0, 1};
    poise_shape a = poise_shape_capsule(0, origin, end, 0.1), b = poise_shape_capsule(1, origin, end, 0.2);
    a.pose.rotation = b.pose.rotation = turns[test_row];
    update(&f);
    poise_nearest nearest = nearest_of(&f, &a, &b);
    double n[3] = {nearest.normal.x, nearest.normal.y, nearest.normal.z};
    ck_assert_double_eq_tol(nearest.distance, -0.3, 1e-12);
    ck_assert_double_eq_tol(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-12);
    ck_assert_double_eq_tol(n[test_row], 0, 1e-12);
}

// Rows: boxes, capsules, both. Pairs that cannot be the nearest are passed over by a bound: none that is.
TEST_ROWS(the_least_room_of_many_pairs_is_that_of_the_nearest, 3)
{
    enum { EACH = 12 };
    figure f = two_free_bodies();
    scene_random random = scene_random_make(31 + (uint64_t)test_row);
    poise_shape shapes[2 * EACH];
    poise_pair pairs[EACH * EACH];
    poise_constraint apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    apart.shapes = shapes, apart.shape_count = 2 * EACH, apart.pairs = pairs, apart.pair_count = EACH * EACH;
    for (int i = 0; i < EACH * EACH; ++i) {
        pairs[i] = (poise_pair){i / EACH, EACH + i % EACH};
    }
    for (int i = 0; i < TRIES; ++i) {
        place_apart(&f, &random, i % 4 == 0 ? 0.2 : 1.2);
        double least = INFINITY;
        for (int k = 0; k < 2 * EACH; ++k) {
            bool is_box = test_row == 0 || (test_row == 2 && k % 2 == 0);
            shapes[k] = random_shape(&random, is_box ? POISE_SHAPE_BOX : POISE_SHAPE_CAPSULE, k / EACH, 1);
        }
        for (int k = 0; k < EACH * EACH; ++k) {
            least = fmin(least, nearest_of(&f, &shapes[pairs[k].a], &shapes[pairs[k].b]).distance);
        }
        ck_assert_double_eq(poise_constraint_room(f.kin, &apart, NULL), least);
    }
}

TEST(shapes_that_are_not_sound_are_refused)
{
    figure f = two_free_bodies();
    poise_shape sound = poise_shape_capsule(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, -1), 0.1), bad;
    ck_assert_int_eq(poise_shape_check(&sound, f.model, NULL), POISE_OK);
    ck_assert_double_eq_tol(poise_pose_transform(sound.pose, poise_vec3_make(0, 0, 0.5)).z, -1, 1e-12);
    poise_error error;
    bad = sound, bad.body = 2;
    ck_assert_int_eq(poise_shape_check(&bad, f.model, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "body"));
    bad = sound, bad.radius = -1;
    ck_assert_int_eq(poise_shape_check(&bad, f.model, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "radius"));
    bad = sound, bad.half.z = NAN;
    ck_assert_int_eq(poise_shape_check(&bad, f.model, &error), POISE_ERROR_ARGUMENT);
    bad = sound, bad.pose.rotation.w += 1;
    ck_assert_int_eq(poise_shape_check(&bad, f.model, &error), POISE_ERROR_ARGUMENT);
    bad = sound, bad.kind = POISE_SHAPE_KIND_COUNT;
    ck_assert_int_eq(poise_shape_check(&bad, f.model, &error), POISE_ERROR_ARGUMENT);
    ck_assert_str_eq(poise_shape_kind_name(POISE_SHAPE_BOX), "box");
    ck_assert_str_eq(poise_shape_kind_name(POISE_SHAPE_KIND_COUNT), "unknown");
}

// A chain of links, one of them fixed, each with a capsule along x.
#define LINKS 5
static figure chain_of_links(poise_shape shapes[LINKS + 1])
{
    static const char *const names[LINKS] = {"l0", "l1", "l2", "l3", "l4"};
    poise_builder *builder = new_builder();
    for (int i = 0; i < LINKS; ++i) {
        poise_joint joint =
            joint_of(names[i], i == 0 ? NULL : names[i - 1], i == 2 ? POISE_JOINT_FIXED : POISE_JOINT_REVOLUTE);
        joint.offset.position.x = i == 0 ? 0 : 0.3;
        add(builder, &joint);
        shapes[i] = poise_shape_capsule(i, poise_vec3_make(0.05, 0, 0), poise_vec3_make(0.25, 0, 0), 0.02);
    }
    shapes[LINKS] = poise_shape_half_space(POISE_WORLD, poise_vec3_make(0, 0, -1), poise_vec3_make(0, 0, 1));
    return figure_of(model_of(builder));
}

TEST(pairs_leave_out_groups_and_neighbours)
{
    poise_shape shapes[LINKS + 1];
    figure f = chain_of_links(shapes);
    poise_pair pairs[20];
    int found;
    ck_assert_int_eq(poise_pairs_find(f.model, shapes, LINKS + 1, NULL, NULL, pairs, 20, &found, NULL), POISE_OK);
    // links 1 and 2 are one group; 0-3, 0-4, 1-4, 2-4, and the floor with each; neighbours of the floor count
    ck_assert_int_eq(found, 4 + LINKS);
    for (int i = 0; i < found; ++i) {
        ck_assert_int_lt(pairs[i].a, pairs[i].b);
    }
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = 2;
    ck_assert_int_eq(poise_pairs_find(f.model, shapes, LINKS + 1, &options, NULL, pairs, 20, &found, NULL), POISE_OK);
    ck_assert_int_eq(found, 1 + LINKS);
    // a shape that sits in another always
    options.neighbours = 1;
    shapes[4].radius = 2.0;
    ck_assert_int_eq(poise_pairs_find(f.model, shapes, LINKS + 1, &options, NULL, NULL, 0, &found, NULL), POISE_OK);
    ck_assert_int_eq(found, 1 + LINKS); // the floor, which it is in, too, is no part of the robot
    shapes[1].radius = -1;
    poise_error error;
    ck_assert_int_eq(poise_pairs_find(f.model, shapes, LINKS, NULL, NULL, pairs, 20, &found, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "shape 1"));
}

TEST(close_pairs_come_in_order)
{
    poise_shape shapes[LINKS + 1];
    figure f = chain_of_links(shapes);
    shapes[LINKS].pose.position.z = -0.05; // a floor so near that a link is 0.03 above it
    const poise_pair pairs[] = {{0, 4}, {1, LINKS}, {0, 3}};
    poise_constraint apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    apart.shapes = shapes, apart.shape_count = LINKS + 1, apart.pairs = pairs, apart.pair_count = 3;
    static const struct {
        double margin, room;
        int capacity, found, first, second;
    } rows[] = {
        {0, 0, 3, 0, -1, -1},  {0, 0.1, 3, 1, 1, -1}, {0.8, 0, 3, 2, 1, 2},
        {0.8, 0, 1, 2, 1, -1}, {2, 0, 3, 3, 1, 2},    {0, 2, 0, 3, -1, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        poise_close_pair close[3] = {{.pair = -1}, {.pair = -1}, {.pair = -1}};
        int found = -1;
        apart.margin = rows[i].margin;
        ck_assert_int_eq(poise_pairs_close(f.kin, &apart, rows[i].room, close, rows[i].capacity, &found, NULL), POISE_OK);
        ck_assert_int_eq(found, rows[i].found);
        ck_assert_int_eq(close[0].pair, rows[i].first);
        ck_assert_int_eq(close[1].pair, rows[i].second);
        if (rows[i].found == 3 && rows[i].capacity == 3) {
            ck_assert(close[2].pair == 0 && close[2].room > close[1].room && close[2].room < rows[i].room);
        }
        if (rows[i].first >= 0) {
            ck_assert_double_eq_tol(close[0].nearest.distance, 0.03, 1e-12);
            ck_assert_double_eq_tol(close[0].room, 0.03 - rows[i].margin, 1e-12);
        }
    }
    poise_error error;
    int found;
    const poise_pair bad = {0, LINKS + 1};
    apart.pairs = &bad, apart.pair_count = 1;
    ck_assert_int_eq(poise_pairs_close(f.kin, &apart, 0, NULL, 0, &found, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "pair 0"));
    ck_assert_int_eq(poise_pairs_close(f.kin, NULL, 0, NULL, 0, &found, &error), POISE_ERROR_ARGUMENT);
}

// The whole chain is 1.2 long: no margin of 3 can hold between its links, one of 0.1 can. The floor stays.
TEST(pairs_leave_out_what_no_margin_parts)
{
    poise_shape shapes[LINKS + 1];
    figure f = chain_of_links(shapes);
    static const struct {
        double margin;
        int found;
    } rows[] = {{0, 4 + LINKS}, {0.1, 4 + LINKS}, {3, LINKS}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_pairs_options options = poise_pairs_options_default();
        int found = -1;
        options.margin = rows[i].margin;
        ck_assert_int_eq(poise_pairs_find(f.model, shapes, LINKS + 1, &options, NULL, NULL, 0, &found, NULL), POISE_OK);
        ck_assert_int_eq(found, rows[i].found);
    }
    poise_pairs_options bad = poise_pairs_options_default();
    poise_error error;
    int found;
    bad.margin = -1;
    ck_assert_int_eq(poise_pairs_find(f.model, shapes, 1, &bad, NULL, NULL, 0, &found, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "margin"));
}

// Two boxes that turn on one another, with faces in one plane: they touch always, and no margin could hold.
TEST(pairs_leave_out_what_always_touches)
{
    poise_builder *builder = new_builder();
    poise_joint lower = joint_of("lower", NULL, POISE_JOINT_REVOLUTE), upper = joint_of("upper", NULL, POISE_JOINT_REVOLUTE);
    upper.offset.position.z = 0.1;
    add(builder, &lower);
    add(builder, &upper);
    poise_shape shapes[2];
    for (int i = 0; i < 2; ++i) {
        shapes[i] = poise_shape_box(i, poise_pose_identity(), (poise_vec3){0.1, 0.2, 0.05});
    }
    int found = -1;
    ck_assert_int_eq(poise_pairs_find(model_of(builder), shapes, 2, NULL, NULL, NULL, 0, &found, NULL), POISE_OK);
    ck_assert_int_eq(found, 0);
    shapes[1].half.z = 0.049; // 1 mm apart
    ck_assert_int_eq(poise_pairs_find(model_of(builder), shapes, 2, NULL, NULL, NULL, 0, &found, NULL), POISE_OK);
    ck_assert_int_eq(found, 1);
}
// A ball on one body turns among the four quarters of a plate on another: each quarter is free most of the time, the bodies
// never. They are left alone as a whole, for nothing could keep them apart.
TEST(pairs_leave_out_bodies_that_always_overlap)
{
    poise_builder *builder = new_builder();
    poise_joint lower = joint_of("lower", NULL, POISE_JOINT_REVOLUTE), upper = joint_of("upper", NULL, POISE_JOINT_REVOLUTE);
    add(builder, &lower);
    add(builder, &upper);
    poise_shape shapes[5] = {poise_shape_capsule(1, (poise_vec3){0.2, 0, 0}, (poise_vec3){0.2, 0, 0}, 0.1)};
    for (int i = 0; i < 4; ++i) {
        poise_pose at = {{0, 0, 0, 1}, {i % 2 ? 0.2 : -0.2, i / 2 ? 0.2 : -0.2, 0}};
        shapes[1 + i] = poise_shape_box(0, at, (poise_vec3){0.2, 0.2, 0.05});
    }
    int found = -1;
    ck_assert_int_eq(poise_pairs_find(model_of(builder), shapes, 5, NULL, NULL, NULL, 0, &found, NULL), POISE_OK);
    ck_assert_int_eq(found, 0);
    ck_assert_int_eq(poise_pairs_find(model_of(builder), shapes, 4, NULL, NULL, NULL, 0, &found, NULL), POISE_OK);
    ck_assert_int_eq(found, 3); // a quarter that is left out lets the ball stand free
}

// Fingers whose roots overlap however they turn; the palm, the first of the shapes, is a neighbour of both.
TEST(pairs_leave_out_fingers_that_begin_in_one_place)
{
    poise_builder *builder = new_builder();
    poise_joint palm = joint_of("palm", NULL, POISE_JOINT_REVOLUTE),
                finger = joint_of("finger", "palm", POISE_JOINT_REVOLUTE);
    add(builder, &palm);
    add(builder, &finger);
    finger.name = "thumb";
    add(builder, &finger);
    poise_shape shapes[3];
    for (int i = 0; i < 3; ++i) {
        shapes[i] = poise_shape_capsule(i, (poise_vec3){0, 0, 0}, (poise_vec3){i > 0, 0, 0}, 0.1);
    }
    int found = -1;
    ck_assert_int_eq(poise_pairs_find(model_of(builder), shapes, 3, NULL, NULL, NULL, 0, &found, NULL), POISE_OK);
    ck_assert_int_eq(found, 0);
}

// A ball at j on a body that turns by R on a ball joint, a ball at i of the same, and two thick plates on another body: the
// first is within { x_i > 0 } or the second within { x_j < 0 } unless R_ij < 0 < R_ji. Without a part along k, the third
// axis, R_ij = R_ji, and the bodies would always overlap: R_ij - R_ji = 4 q_w q_k, but for the sign. Rows: k.
TEST_ROWS(pairs_are_tried_in_all_orientations_of_a_ball_joint, 3)
{
    poise_builder *builder = new_builder();
    poise_joint plates = joint_of("plates", NULL, POISE_JOINT_REVOLUTE);
    plates.lower[0] = -1e-3, plates.upper[0] = 1e-3;
    add(builder, &plates);
    add_plain(builder, "balls", NULL, POISE_JOINT_BALL_QUATERNION);
    poise_shape shapes[4];
    for (int i = 0; i < 2; ++i) {
        int own = (test_row + 1 + i) % 3, other = (test_row + 2 - i) % 3;
        double at[3] = {0}, to[3] = {0};
        at[other] = 1, to[own] = i == 0 ? 1.99 : -1.99;
        poise_pose plate = {{0, 0, 0, 1}, {to[0], to[1], to[2]}};
        poise_vec3 middle = {at[0], at[1], at[2]};
        shapes[2 * i] = poise_shape_box(0, plate, (poise_vec3){2, 2, 2});
        shapes[2 * i + 1] = poise_shape_capsule(1, middle, middle, 0);
        shapes[2 * i].groups = shapes[2 * i + 1].against = 1u << i;
        shapes[2 * i].against = shapes[2 * i + 1].groups = 4u << i;
    }
    int found = -1;
    ck_assert_int_eq(poise_pairs_find(model_of(builder), shapes, 4, NULL, NULL, NULL, 0, &found, NULL), POISE_OK);
    ck_assert_int_eq(found, 2);
}

// A plate on one body, and a small ball that turns on another, two joints away: where the plate begins left of the middle
// the ball is in it in 2/3 of all configurations, else in 1/3. Next but one on a chain, the former counts as a cover that is
// too large; on two branches both are watched.
TEST(pairs_leave_out_covers_that_meet_in_most_configurations_of_a_chain)
{
    static const struct {
        double from; // where the plate begins
        const char *parent;
        int found;
    } rows[] = {{-0.1, "first", 0}, {0.1, "first", 1}, {-0.1, NULL, 1}, {0.1, NULL, 1}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_builder *builder = new_builder();
        poise_joint base = joint_of("base", NULL, POISE_JOINT_FIXED), first = joint_of("first", NULL, POISE_JOINT_REVOLUTE);
        poise_joint second = joint_of("second", rows[i].parent, POISE_JOINT_REVOLUTE);
        first.lower[0] = -1e-3, first.upper[0] = 1e-3;
        add(builder, &base), add(builder, &first), add(builder, &second);
        poise_pose at = {{0, 0, 0, 1}, {rows[i].from + 1, 0, 0}};
        poise_vec3 middle = {0.2, 0, 0};
        int on_chain = 0, on_branch = 1;
        poise_shape shapes[2] = {poise_shape_box(rows[i].parent ? on_chain : on_branch, at, (poise_vec3){1, 1, 1}),
                                 poise_shape_capsule(2, middle, middle, 1e-3)};
        int found = -1;
        ck_assert_int_eq(poise_pairs_find(model_of(builder), shapes, 2, NULL, NULL, NULL, 0, &found, NULL), POISE_OK);
        ck_assert_msg(found == rows[i].found, "row %zu: %d", i, found);
    }
}

// The corners of a grid of squares, two triangles each, of which most are in six triangles: each is looked at once.
TEST(a_corner_is_fresh_in_the_first_triangle_that_has_it)
{
    enum { SIDE = 20 };
    static const int square[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
    vec3 corners[6 * SIDE * SIDE];
    for (int i = 0; i < 6 * SIDE * SIDE; ++i) {
        int x = i / 6 % SIDE + square[i % 6][0], y = i / 6 / SIDE + square[i % 6][1];
        corners[i] = v3(0.1 * x, 0.3 * y, 1.0 / (1 + x + y));
    }
    pz_mesh_marks marks = pz_mesh_marks_make(corners, 2 * SIDE * SIDE);
    ck_assert(marks.fresh && marks.held);
    for (int i = 0; i < 6 * SIDE * SIDE; ++i) {
        bool is_fresh = true;
        for (int k = 0; k < i && is_fresh; ++k) {
            is_fresh = v3_norm(v3_sub(corners[k], corners[i])) > 0;
        }
        ck_assert_int_eq(marks.fresh[i / 3] >> i % 3 & 1, is_fresh);
    }
    pz_mesh_marks_release(&marks);
}

// A cuboid far from the origin, askew: what covers it is hardly larger.
TEST(a_shape_around_a_cuboid_lies_along_it_wherever_it_is)
{
    static const int faces[12][3] = {{0, 1, 3}, {0, 3, 2}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                     {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 3, 7}, {1, 7, 5}};
    const vec3 half = v3(0.05, 0.1, 0.4);
    scene_random random = scene_random_make(5);
    for (int i = 0; i < 20; ++i) {
        poise_pose pose = {scene_random_rotation(&random), v3_scale(scene_random_direction(&random), i % 2 ? 10.0 : 0.0)};
        vec3 corners[36];
        poise_shape shape;
        int count;
        for (int k = 0; k < 36; ++k) {
            int corner = faces[k / 3][k % 3];
            corners[k] = poise_pose_transform(
                pose, v3(corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y, corner & 4 ? half.z : -half.z));
        }
        ck_assert_int_eq(poise_shapes_fit(0, corners, 12, &shape, 1, &count, NULL), POISE_OK);
        ck_assert_int_eq(count, 1);
        vec3 h = shape.half;
        double volume = 8 * h.x * h.y * h.z;
        ck_assert_int_eq(shape.kind, POISE_SHAPE_BOX);
        ck_assert_msg(volume < 1.3 * 8 * half.x * half.y * half.z, "%g %g %g", h.x, h.y, h.z);
    }
}

// The points of a cloud are spread evenly: a shape covers as large a share of them as of the room that they lie in.
TEST(a_cloud_measures_volumes)
{
    static const double halves[][3] = {{0.5, 1.0, 1.5}, {1.5, 0.5, 1.0}, {1.0, 1.5, 0.5}, {1.0, 1.0, 1.0}};
    static pz_outline cube;
    static pz_cloud cloud;
    for (int k = 0; k < PZ_DIRECTIONS; ++k) {
        cube.corner[k] = v3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
        cube.direction[k] = v3_normalize(cube.corner[k]);
        cube.reach[k] = v3_dot(cube.direction[k], cube.corner[k]);
    }
    for (size_t i = 0; i < TEST_COUNT(halves); ++i) {
        const double *h = halves[i];
        poise_shape box = poise_shape_box(0, poise_pose_identity(), v3(h[0], h[1], h[2]));
        pz_cloud_make(&cloud, &cube);
        double room = cloud.side.x * cloud.side.y * cloud.side.z, covered = 0;
        ck_assert_double_eq(pz_cloud_looseness(&cloud), 0);
        pz_cloud_count(&cloud, &box, 1);
        for (int k = 0; k < PZ_CLOUD_POINTS; ++k) {
            covered += cloud.covers[k];
        }
        double share = covered / PZ_CLOUD_POINTS, volume = 8 * h[0] * h[1] * h[2] / room;
        ck_assert_msg(fabs(share - volume) < 0.1 * volume, "%g, %g", share, volume);
        pz_cloud_count(&cloud, &box, -1);
        ck_assert_double_eq(pz_cloud_looseness(&cloud), 0);
    }
}
