// Distances and depths of hulls: against shapes, whose formulas are closed, and against what defines them. Overlaps of a
// motion against the same distances one by one.
#include "support/shape_check.h"
#include "support/skeleton.h"

#include <math.h>

#include "num/vector.h"

static poise_nearest between(const poise_kinematics *kin, const poise_hull *a, const poise_hull *b)
{
    poise_nearest nearest;
    poise_error error = {0};
    ck_assert_msg(poise_hull_distance(kin, a, b, &nearest, &error) == POISE_OK, "%s", error.text);
    return nearest;
}

static poise_hull hull_of(const poise_shape *shape, vec3 corners[POISE_HULL_OF_SHAPE])
{
    poise_hull hull;
    ck_assert_int_eq(poise_hull_of_shape(shape, corners, &hull, NULL), POISE_OK);
    return hull;
}

// ---- Two hulls -----------------------------------------------------------------------------------------------------------

// Rows: capsule and box against either. Apart, touching and overlapping; shapes have closed formulas for all of it.
TEST_ROWS(hulls_of_shapes_are_as_far_apart_as_the_shapes, 4)
{
    figure f = two_free_bodies();
    scene_random random = scene_random_make(7 + (uint64_t)test_row);
    int apart = 0, deep = 0;
    for (int i = 0; i < 3000; ++i) {
        vec3 corners[2][POISE_HULL_OF_SHAPE];
        poise_shape shape[2] = {random_shape(&random, (poise_shape_kind)(test_row / 2), 0, 1),
                                random_shape(&random, (poise_shape_kind)(test_row % 2), 1, 1)};
        place_apart(&f, &random, scene_random_range(&random, 0, 3));
        poise_hull a = hull_of(&shape[0], corners[0]), b = hull_of(&shape[1], corners[1]);
        poise_nearest by_shape, by_hull = between(f.kin, &a, &b);
        ck_assert_int_eq(poise_distance(f.kin, &shape[0], &shape[1], &by_shape, NULL), POISE_OK);
        bool cores_meet = by_shape.distance < -shape[0].radius - shape[1].radius - 1e-9;
        if (cores_meet && test_row != 3) {
            continue; // a segment in a box: the shapes' formula takes faces alone
        }
        ck_assert_msg(fabs(by_hull.distance - by_shape.distance) < 1e-8, "%d: %.12g, %.12g", i, by_hull.distance,
                      by_shape.distance);
        apart += by_hull.distance > 0;
        deep += cores_meet;
    }
    ck_assert_int_gt(apart, 500);
    ck_assert(deep > 100 || test_row != 3);
}

typedef struct lump {
    vec3 corners[40];
    poise_hull hull;
} lump;

static void make_lump(scene_random *random, int body, int count, double radius, lump *made)
{
    for (int i = 0; i < count; ++i) {
        vec3 d = scene_random_direction(random);
        made->corners[i] = v3_scale(v3(d.x, 0.4 * d.y, 0.7 * d.z), scene_random_range(random, 0.2, 1));
    }
    made->hull = (poise_hull){.body = body, .corners = made->corners, .corner_count = count, .radius = radius};
}

// How far the hulls have to be moved along n to be apart; negative: how far they are apart there.
static double along(const poise_kinematics *kin, const poise_hull *a, const poise_hull *b, vec3 n)
{
    double lowest = INFINITY, highest = -INFINITY;
    for (int i = 0; i < a->corner_count; ++i) {
        lowest = fmin(lowest, v3_dot(n, poise_kinematics_point(kin, a->body, a->corners[i])) - a->radius);
    }
    for (int i = 0; i < b->corner_count; ++i) {
        highest = fmax(highest, v3_dot(n, poise_kinematics_point(kin, b->body, b->corners[i])) + b->radius);
    }
    return highest - lowest;
}

// The depth is the least shift of all, the distance the largest separation, and both are reached along the normal.
TEST(a_depth_is_the_least_shift_that_separates)
{
    figure f = two_free_bodies();
    scene_random random = scene_random_make(3);
    int apart = 0, deep = 0;
    for (int i = 0; i < 1500; ++i) {
        lump a, b;
        make_lump(&random, 0, 1 + i % 40, i % 3 == 0 ? 0.1 : 0, &a);
        make_lump(&random, 1, 1 + i / 40 % 40, 0, &b);
        place_apart(&f, &random, scene_random_range(&random, 0, 2));
        poise_nearest nearest = between(f.kin, &a.hull, &b.hull);
        double reached = -along(f.kin, &a.hull, &b.hull, nearest.normal);
        ck_assert_msg(fabs(reached - nearest.distance) < 1e-8, "%d: %.12g, %.12g", i, nearest.distance, reached);
        ck_assert_double_eq_tol(v3_norm(nearest.normal), 1, 1e-12);
        for (int k = 0; k < 100; ++k) {
            vec3 n = scene_random_direction(&random);
            ck_assert_double_le(-along(f.kin, &a.hull, &b.hull, n), nearest.distance + 1e-9);
        }
        if (nearest.distance > 0) {
            ck_assert_double_eq_tol(v3_norm(v3_sub(nearest.on_a, nearest.on_b)), nearest.distance, 1e-8);
        }
        apart += nearest.distance > 0;
        deep += nearest.distance < -0.05;
    }
    ck_assert_int_gt(apart, 300);
    ck_assert_int_gt(deep, 300);
}

// Cores that cross without a volume: what overlaps are the radii.
TEST(crossing_capsules_overlap_by_their_radii)
{
    figure f = two_free_bodies();
    vec3 corners[2][POISE_HULL_OF_SHAPE];
    poise_shape x = poise_shape_capsule(0, v3(-1, 0, 0), v3(1, 0, 0), 0.1),
                y = poise_shape_capsule(1, v3(0, -1, 0), v3(0, 1, 0), 0.2);
    poise_hull a = hull_of(&x, corners[0]), b = hull_of(&y, corners[1]);
    poise_nearest nearest = between(f.kin, &a, &b);
    ck_assert_double_eq_tol(nearest.distance, -0.3, 1e-9);
    ck_assert_double_eq_tol(fabs(nearest.normal.z), 1, 1e-9);
}

TEST(hulls_that_are_not_sound_are_refused)
{
    figure f = two_free_bodies();
    vec3 corners[POISE_HULL_OF_SHAPE];
    poise_shape box = poise_shape_box(0, poise_pose_identity(), v3(1, 1, 1)),
                floor = poise_shape_half_space(0, v3(0, 0, 0), v3(0, 0, 1));
    poise_hull good = hull_of(&box, corners), bad[4] = {good, good, good, good}, none;
    vec3 broken[1] = {{NAN, 0, 0}};
    bad[0].body = 2, bad[1].corner_count = 0, bad[2].radius = -1, bad[3].corners = broken, bad[3].corner_count = 1;
    poise_nearest nearest;
    poise_error error;
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(poise_hull_distance(f.kin, &good, &bad[i], &nearest, &error), POISE_ERROR_ARGUMENT);
        ck_assert_str_ne(error.text, "");
    }
    ck_assert_int_eq(poise_hull_of_shape(&floor, corners, &none, &error), POISE_ERROR_UNSUPPORTED);
}

// ---- Clouds --------------------------------------------------------------------------------------------------------------

// Of a cloud within a box the corners of that are left; of a ball as many points as it takes.
TEST(a_cloud_is_reduced_to_the_corners_that_matter)
{
    enum { POINTS = 4000, ROOM = 600 };
    static vec3 cloud[POINTS], corners[ROOM];
    scene_random random = scene_random_make(11);
    int count;
    double overhang;
    for (int i = 0; i < POINTS; ++i) {
        cloud[i] =
            v3(scene_random_range(&random, -1, 1), scene_random_range(&random, -2, 2), scene_random_range(&random, 0, 1));
    }
    for (int i = 0; i < 8; ++i) {
        cloud[500 * i] = v3(i & 1 ? 1 : -1, i & 2 ? 2 : -2, i & 4 ? 1 : 0);
    }
    ck_assert_int_eq(poise_hull_reduce(cloud, POINTS, 0, corners, ROOM, &count, &overhang, NULL), POISE_OK);
    ck_assert_int_eq(count, 8);
    ck_assert_double_le(overhang, 1e-8);
    for (int i = 0; i < POINTS; ++i) {
        cloud[i] = scene_random_direction(&random);
    }
    ck_assert_int_eq(poise_hull_reduce(cloud, POINTS, 0.01, corners, ROOM, &count, &overhang, NULL), POISE_OK);
    ck_assert_int_lt(count, ROOM);
    ck_assert_double_le(overhang, 0.01);
    ck_assert_int_eq(poise_hull_reduce(cloud, POINTS, 0, corners, 100, &count, &overhang, NULL), POISE_OK);
    ck_assert_int_eq(count, 100);
    ck_assert_double_gt(overhang, 0.01);
    cloud[17].y = INFINITY;
    ck_assert_int_eq(poise_hull_reduce(cloud, POINTS, 0, corners, ROOM, &count, NULL, NULL), POISE_ERROR_ARGUMENT);
}

// ---- A motion ------------------------------------------------------------------------------------------------------------

enum { FRAMES = 240 };

// A trunk with two arms of two links each, all boxes; joints swing slowly, as different as they can be.
static poise_model *scarecrow(void)
{
    poise_builder *builder = new_builder();
    poise_joint root = joint_of("trunk", NULL, POISE_JOINT_FREE);
    add(builder, &root);
    static const char *const names[4] = {"left.upper", "left.lower", "right.upper", "right.lower"};
    for (int i = 0; i < 4; ++i) {
        poise_joint joint = joint_of(names[i], i % 2 ? names[i - 1] : "trunk", POISE_JOINT_BALL_QUATERNION);
        joint.offset.position = i % 2 ? v3(0, 0, -0.3) : v3(i < 2 ? 0.25 : -0.25, 0, 0.3);
        add(builder, &joint);
    }
    return model_of(builder);
}

static void make_boxes(poise_shape shapes[5])
{
    shapes[0] = poise_shape_box(0, poise_pose_identity(), v3(0.15, 0.1, 0.4));
    for (int i = 1; i < 5; ++i) {
        shapes[i] = poise_shape_capsule(i, v3(0, 0, 0), v3(0, 0, -0.28), 0.03);
    }
}

static poise_clip *swinging(const poise_model *model)
{
    poise_clip *clip = NULL;
    int nq = poise_model_info(model).nq, nv = poise_model_info(model).nv;
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    double neutral[64], v[64];
    poise_model_neutral(model, neutral);
    for (int f = 0; f < FRAMES; ++f) {
        for (int i = 0; i < nv; ++i) {
            v[i] = i < 3 ? 0.01 * f : 1.6 * sin(0.002 * (i + 3) * f + i);
        }
        ck_assert_int_eq(poise_retract(model, neutral, v, clip->q + f * nq, NULL), POISE_OK);
    }
    return clip;
}

static poise_kinematics *kinematics_of(const poise_model *model)
{
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    own_kinematics(kin);
    return kin;
}

// What of a depth counts beside that of before: all, where it is more by 2 mm, or by 5 mm where it counted before.
static double counted(double depth, double before)
{
    return depth - before >= (before > POISE_OVERLAP_TOUCH ? POISE_OVERLAP_TOUCH : 0.002) ? depth : 0;
}

// What all pairs in all frames say, one by one; the ground is at -0.3. `before` may be NULL.
static poise_overlap one_by_one(const poise_model *model, const poise_clip *clip, const poise_clip *before,
                                const poise_hull hulls[5])
{
    poise_kinematics *kin = kinematics_of(model), *earlier = kinematics_of(model);
    poise_overlap all = {.pairs = 6};
    for (int k = 0; k < FRAMES; ++k) {
        double deepest = 0, lowest = 0;
        ck_assert_int_eq(poise_kinematics_update(kin, clip->q + k * clip->nq, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(earlier, (before ? before : clip)->q + k * clip->nq, NULL), POISE_OK);
        for (int a = 0; a < 5; ++a) {
            poise_hull below = {.body = POISE_WORLD, .corners = (const vec3[]){{0, 0, -50}}, .corner_count = 1};
            lowest = fmax(lowest, along(kin, &hulls[a], &below, v3(0, 0, 1)) + 50 - 0.3);
            for (int b = a + 1; b < 5; ++b) {
                bool is_joint = (a == 0 && b % 2 == 1) || (a % 2 == 1 && b == a + 1);
                double depth = fmax(-between(kin, &hulls[a], &hulls[b]).distance, 0);
                double was = before ? fmax(-between(earlier, &hulls[a], &hulls[b]).distance, 0) : 0;
                deepest = is_joint ? deepest : fmax(deepest, before ? counted(depth, was) : depth);
            }
        }
        all.frames += deepest > POISE_OVERLAP_TOUCH;
        all.pierced += deepest > POISE_OVERLAP_PIERCE;
        all.buried_count += lowest > POISE_OVERLAP_TOUCH;
        all.buried = fmax(all.buried, lowest);
        all.frame = deepest > all.depth ? k : all.frame;
        all.depth = fmax(all.depth, deepest);
    }
    return all;
}

static void check_same(const poise_overlap_problem *problem, const poise_overlap *all)
{
    poise_overlap o;
    ck_assert_int_eq(poise_overlap_measure(problem, NULL, &o, NULL), POISE_OK);
    ck_assert_int_eq(o.pairs + o.left_out, all->pairs);
    ck_assert_msg(o.frames == all->frames && o.pierced == all->pierced, "%d, %d; %d, %d", o.frames, all->frames, o.pierced,
                  all->pierced);
    ck_assert_int_eq(o.frame, all->frame);
    ck_assert_double_eq_tol(o.depth, all->depth, 1e-8);
    ck_assert_double_eq_tol(o.buried, all->buried, 1e-9);
    ck_assert_int_eq(o.buried_count, all->buried_count);
    ck_assert_int_lt(o.tests, FRAMES * 6 / 2);
}

// Bounds that save tests miss nothing: the same as all pairs in all frames.
TEST(overlaps_of_a_motion_are_those_of_its_frames)
{
    poise_model *model = scarecrow();
    poise_clip *clip = swinging(model);
    poise_shape shapes[5];
    vec3 corners[5][POISE_HULL_OF_SHAPE];
    poise_hull hulls[5];
    make_boxes(shapes);
    for (int i = 0; i < 5; ++i) {
        hulls[i] = hull_of(&shapes[i], corners[i]);
    }
    poise_overlap all = one_by_one(model, clip, NULL, hulls);
    ck_assert(all.frames > 20 && all.frames < FRAMES - 20 && all.pierced < all.frames && all.buried_count > 0);
    poise_overlap_problem problem = poise_overlap_problem_default();
    problem.model = model, problem.clip = clip, problem.hulls = hulls, problem.hull_count = 5;
    problem.up = v3(0, 0, 1), problem.ground = -0.3;
    check_same(&problem, &all);
    problem.hulls = NULL, problem.hull_count = 0, problem.shapes = shapes, problem.shape_count = 5;
    check_same(&problem, &all);
}

// The left arm goes elsewhere while the right one overlaps with the trunk as before: only what is new counts.
TEST(overlaps_that_were_there_before_do_not_count)
{
    poise_model *model = scarecrow();
    poise_clip *before = swinging(model), *clip = swinging(model);
    poise_shape shapes[5];
    vec3 corners[5][POISE_HULL_OF_SHAPE];
    poise_hull hulls[5];
    make_boxes(shapes);
    for (int i = 0; i < 5; ++i) {
        hulls[i] = hull_of(&shapes[i], corners[i]);
    }
    poise_overlap_problem problem = poise_overlap_problem_default();
    problem.model = model, problem.clip = clip, problem.hulls = hulls, problem.hull_count = 5, problem.before = before;
    poise_overlap o;
    ck_assert_int_eq(poise_overlap_measure(&problem, NULL, &o, NULL), POISE_OK);
    ck_assert(o.frames == 0 && o.pierced == 0 && o.depth == 0);
    poise_joint_info arm = poise_model_joint_info(model, 1);
    for (int f = 60; f < 200; ++f) {
        double v[64] = {0};
        v[arm.v] = -1.5 * sin(0.05 * (f - 60));
        ck_assert_int_eq(poise_retract(model, before->q + f * clip->nq, v, clip->q + f * clip->nq, NULL), POISE_OK);
    }
    poise_overlap all = one_by_one(model, clip, NULL, hulls), added = one_by_one(model, clip, before, hulls);
    ck_assert(added.frames > 20 && added.frames < all.frames - 20);
    added.buried = 0, added.buried_count = 0;
    check_same(&problem, &added);
    before->q[7] = NAN;
    ck_assert_int_eq(poise_overlap_measure(&problem, NULL, &o, NULL), POISE_ERROR_ARGUMENT);
}

// Hulls of many corners are looked at cluster by cluster.
TEST(overlaps_of_many_corners_are_those_of_the_frames)
{
    enum { CORNERS = 150 };
    static vec3 corners[5][CORNERS];
    scene_random random = scene_random_make(23);
    poise_model *model = scarecrow();
    poise_clip *clip = swinging(model);
    poise_hull hulls[5];
    for (int i = 0; i < 5; ++i) {
        for (int k = 0; k < CORNERS; ++k) {
            vec3 d = scene_random_direction(&random);
            corners[i][k] = i == 0 ? v3(0.15 * d.x, 0.1 * d.y, 0.4 * d.z) : v3(0.04 * d.x, 0.04 * d.y, 0.15 * d.z - 0.15);
        }
        hulls[i] = (poise_hull){.body = i, .corners = corners[i], .corner_count = CORNERS - 7 * i, .radius = 0.001 * i};
    }
    poise_overlap all = one_by_one(model, clip, NULL, hulls);
    ck_assert(all.frames > 20 && all.frames < FRAMES - 20 && all.pierced < all.frames);
    poise_overlap_problem problem = poise_overlap_problem_default();
    problem.model = model, problem.clip = clip, problem.hulls = hulls, problem.hull_count = 5;
    problem.up = v3(0, 0, 1), problem.ground = -0.3;
    check_same(&problem, &all);
}

// What overlaps at rest, what the file excludes and what groups keep apart is not watched; all else is told, and doubted.
TEST(pairs_are_chosen_as_simulators_choose_them)
{
    poise_model *model = scarecrow();
    poise_clip *clip = swinging(model);
    poise_shape shapes[5];
    make_boxes(shapes);
    poise_overlap_problem problem = poise_overlap_problem_default();
    problem.model = model, problem.clip = clip, problem.shapes = shapes, problem.shape_count = 5;
    poise_overlap all, o;
    ck_assert_int_eq(poise_overlap_measure(&problem, NULL, &all, NULL), POISE_OK);
    ck_assert(all.a >= 0 && all.b >= 0 && all.depth > POISE_OVERLAP_TOUCH);
    poise_verdict verdict = {.level = POISE_VERDICT_GOOD};
    poise_finding found[4];
    char text[256];
    poise_overlap_judge(&problem, &all, NULL, &verdict, found, 4);
    ck_assert_int_ne(verdict.level, POISE_VERDICT_GOOD);
    poise_finding_describe(&found[0], text, sizeof text);
    ck_assert_msg(strstr(text, poise_model_joint_info(model, all.a).body) && strstr(text, "overlap"), "%s", text);

    poise_pair pair = {all.b, all.a};
    problem.excluded = &pair, problem.excluded_count = 1;
    ck_assert_int_eq(poise_overlap_measure(&problem, NULL, &o, NULL), POISE_OK);
    ck_assert_int_eq(o.pairs, all.pairs - 1);
    ck_assert(o.a != all.a || o.b != all.b);
    problem.excluded_count = 0;

    problem.rest = clip->q + all.frame * clip->nq;
    ck_assert_int_eq(poise_overlap_measure(&problem, NULL, &o, NULL), POISE_OK);
    ck_assert_int_ge(o.left_out, 1);
    ck_assert_int_eq(o.pairs + o.left_out, all.pairs);
    problem.rest = NULL;

    for (int i = 0; i < 5; ++i) {
        shapes[i].groups = i == 0, shapes[i].against = i != 0; // arms against the trunk alone
    }
    ck_assert_int_eq(poise_overlap_measure(&problem, NULL, &o, NULL), POISE_OK);
    ck_assert_int_eq(o.pairs, 2);
    problem.shape_count = 0;
    ck_assert_int_eq(poise_overlap_measure(&problem, NULL, &o, NULL), POISE_OK);
    ck_assert(o.pairs == 0 && o.a == POISE_NONE && o.depth == 0);
    problem.metres = 0;
    ck_assert_int_eq(poise_overlap_measure(&problem, NULL, &o, NULL), POISE_ERROR_ARGUMENT);
}
