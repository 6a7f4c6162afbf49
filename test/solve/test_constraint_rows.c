// Rows of constraints: their derivatives against differences, for every kind of constraint and of pair; quadratic programs
// over rows.
#include "solve/constrained.h"
#include "support/shape_check.h"
#include "support/skeleton.h"

#include <math.h>

#define MOST_NV 24

typedef struct setting {
    figure f;
    poise_objective *objective;
    pz_constraints c;
    pz_constraint_rows rows;
    pz_constraint_row row[64];
    pz_placed placed[8];
    double columns[15 * MOST_NV];
} setting;

// Two limbs on a free body, of all that turns and slides.
static figure two_limbs(void)
{
    poise_builder *builder = new_builder();
    const struct {
        const char *name, *parent;
        poise_joint_type type;
    } joints[] = {{"base", NULL, POISE_JOINT_FREE},
                  {"a1", "base", POISE_JOINT_REVOLUTE},
                  {"a2", "a1", POISE_JOINT_BALL_EXPMAP},
                  {"a3", "a2", POISE_JOINT_PRISMATIC},
                  {"b1", "base", POISE_JOINT_BALL_QUATERNION},
                  {"b2", "b1", POISE_JOINT_UNIVERSAL},
                  {"b3", "b2", POISE_JOINT_SWING_TWIST}};
    for (size_t i = 0; i < TEST_COUNT(joints); ++i) {
        poise_joint joint = joint_of(joints[i].name, joints[i].parent, joints[i].type);
        joint.offset.position = poise_vec3_make(0.1, 0.2 * (double)(i % 2), 0.3);
        joint.offset.rotation = poise_quat_from_axis_angle(poise_vec3_make(1, 2, 3), 0.4 * (double)i);
        joint.mass = 1.0 + (double)i;
        joint.mass_center = poise_vec3_make(0.05, -0.1, 0.02 * (double)i);
        add(builder, &joint);
    }
    return figure_of(model_of(builder));
}

static void set_up(setting *s, const poise_constraint *constraint)
{
    s->c.constraint = constraint;
    s->c.count = 1;
    s->c.row_capacity = 64;
    s->c.unit = 2.0; // derivatives are per unit, too
    s->c.placed = s->placed;
    s->c.columns = s->columns;
    s->rows.row = s->row;
}

// The room of row i of the constraint at the configuration q + h v; NAN when it has gone out of sight.
static double room_at(setting *s, const double *v, double h, const pz_constraint_row *like)
{
    double step[MOST_NV], q[32];
    for (int i = 0; i < s->f.nv; ++i) {
        step[i] = h * v[i];
    }
    ck_assert_int_eq(poise_retract(s->f.model, s->f.q, step, q, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(s->f.kin, q, NULL), POISE_OK);
    pz_constraints_evaluate(&s->c, s->f.kin, &s->rows);
    double room = NAN;
    for (int i = 0; i < s->rows.count; ++i) {
        const pz_constraint_row *row = &s->rows.row[i];
        room = row->item == like->item && row->part == like->part ? row->room : room;
    }
    update(&s->f);
    return room;
}

// First and second derivative along v, from six values around.
typedef struct slopes {
    double first, second;
} slopes;

static slopes differences(setting *s, const double *v, double h, const pz_constraint_row *row)
{
    double d[7];
    for (int i = 0; i < 7; ++i) {
        d[i] = room_at(s, v, (i - 3) * h, row);
    }
    double first = (45 * (d[4] - d[2]) - 9 * (d[5] - d[1]) + (d[6] - d[0])) / (60 * h);
    double second = (270 * (d[4] + d[2]) - 27 * (d[5] + d[1]) + 2 * (d[6] + d[0]) - 490 * d[3]) / (180 * h * h);
    return (slopes){first, second};
}

static slopes derived(setting *s, const double *v, const pz_constraint_row *row)
{
    double J[MOST_NV], H[MOST_NV * MOST_NV];
    int n = s->f.nv;
    slopes found = {0, 0};
    pz_constraint_derivative(&s->c, s->f.kin, row, J);
    ck_assert_int_eq(poise_objective_evaluate(s->objective, s->f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    pz_constraint_bend_tree(row, 1.0, s->objective);
    pz_objective_hessian(s->objective, POISE_HESSIAN_EXACT, H);
    pz_constraint_bend(&s->c, s->f.kin, row, 1.0, H);
    for (int i = 0; i < n; ++i) {
        found.first += J[i] * v[i];
        for (int j = 0; j < n; ++j) {
            found.second += H[i * n + j] * v[i] * v[j];
            ck_assert_double_eq_tol(H[i * n + j], H[j * n + i], 1e-9);
        }
    }
    return found;
}

// There the second derivative is bounded on purpose, or, of edges that go through each other, left out.
static bool is_rough(const pz_constraint_row *row)
{
    const pz_contact *at = &row->contact;
    if (at->gap < 0 && !at->is_smooth) {
        return true;
    }
    if (at->slide_count < 2) {
        return false;
    }
    vec3 across = v3_cross(at->slides[0].along, at->slides[1].along);
    return v3_dot(across, across) < 0.1;
}

// Compare all rows at `tries` random poses; rows whose second differences do not settle, where shapes change features, are
// left out, which may be a share `left_out` at most.
static void compare(setting *s, scene_random *random, void (*shake)(setting *, scene_random *), int tries, double tolerance,
                    double left_out)
{
    int compared = 0, skipped = 0;
    for (int i = 0; i < tries; ++i) {
        pose_randomly(random, &s->f);
        shake(s, random);
        double v[MOST_NV];
        random_step(random, s->f.model, 1.0, v);
        pz_constraints_evaluate(&s->c, s->f.kin, &s->rows);
        pz_constraint_row rows[64];
        int count = s->rows.count;
        memcpy(rows, s->rows.row, sizeof rows);
        for (int r = 0; r < count; ++r) {
            slopes fine = differences(s, v, 1e-3, &rows[r]), coarse = differences(s, v, 2e-3, &rows[r]);
            slopes own = derived(s, v, &rows[r]);
            if (is_rough(&rows[r]) || !(fabs(fine.second - coarse.second) < 1e-4 * (1 + fabs(fine.second)))) {
                skipped += 1;
                continue;
            }
            compared += 1;
            ck_assert_double_eq_tol(own.first, fine.first, 1e-6 * (1 + fabs(fine.first)));
            ck_assert_msg(fabs(own.second - fine.second) <= tolerance * (1 + fabs(fine.second)),
                          "row %d of %s: %.9g, by differences %.9g", r, poise_constraint_kind_name(s->c.constraint->kind),
                          own.second, fine.second);
        }
    }
    ck_assert_int_gt(compared, 20);
    ck_assert_double_le(skipped, left_out * (compared + skipped));
}

// A loop holds at the pose itself, nearly: its target is where its local frame is.
static void close_loop(setting *s, scene_random *random)
{
    poise_constraint *given = (poise_constraint *)s->c.constraint;
    poise_pose a = poise_kinematics_body_pose(s->f.kin, given->body), b = poise_pose_identity();
    if (given->body2 != POISE_WORLD) {
        b = poise_kinematics_body_pose(s->f.kin, given->body2);
    }
    given->target = poise_pose_multiply(poise_pose_inverse(b), poise_pose_multiply(a, given->local));
    if (given->kind == POISE_CONSTRAINT_DISTANCE || given->kind == POISE_CONSTRAINT_PLANE) {
        given->target.position = random_vector(random, 0.5);
    }
}

static void set_objective(setting *s)
{
    ck_assert_int_eq(poise_objective_create(s->f.model, 0, NULL, &s->objective, NULL), POISE_OK);
}

// Rows: the loops, between two limbs and against the world.
TEST_ROWS(loops_have_exact_second_derivatives, 10)
{
    poise_constraint given = poise_constraint_default((poise_constraint_kind)(POISE_CONSTRAINT_CONNECT + test_row % 5));
    setting s = {.f = two_limbs()};
    scene_random random = scene_random_make(17 + (uint64_t)test_row);
    set_objective(&s);
    given.body = poise_model_find_body(s.f.model, "a3");
    given.body2 = test_row < 5 ? poise_model_find_body(s.f.model, "b3") : POISE_WORLD;
    given.local = (poise_pose){poise_quat_from_axis_angle(random_vector(&random, 1), 1), random_vector(&random, 0.3)};
    given.lower = test_row % 2 == 0 ? 0.3 : -INFINITY, given.upper = 0.3;
    set_up(&s, &given);
    compare(&s, &random, close_loop, 30, 1e-5, 0.05);
    poise_objective_destroy(s.objective);
}

static void keep_still(setting *s, scene_random *random)
{
    (void)s, (void)random;
}

TEST(sides_of_a_polygon_have_exact_second_derivatives)
{
    static const poise_vec3 polygon[] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    poise_constraint given = poise_constraint_default(POISE_CONSTRAINT_BALANCE);
    given.polygon = polygon, given.corner_count = 4, given.margin = 0.02;
    setting s = {.f = two_limbs()};
    scene_random random = scene_random_make(5);
    set_objective(&s);
    set_up(&s, &given);
    compare(&s, &random, keep_still, 20, 1e-6, 0.05);
    poise_objective_destroy(s.objective);
}

// New shapes for each pose, near each other.
static void reshape(setting *s, scene_random *random)
{
    poise_shape *shapes = (poise_shape *)s->c.constraint->shapes;
    for (int i = 0; i < 2; ++i) {
        shapes[i] = random_shape(random, shapes[i].kind, shapes[i].body, 0.4);
        shapes[i].radius += 0.05;
    }
    // bring the second next to the first: its pose is free in its body
    poise_pose a = poise_kinematics_body_pose(s->f.kin, shapes[0].body), b = poise_pose_identity();
    if (shapes[1].body != POISE_WORLD) {
        b = poise_kinematics_body_pose(s->f.kin, shapes[1].body);
    }
    poise_vec3 there = poise_pose_transform(a, shapes[0].pose.position), off = scene_random_direction(random);
    double away = 0.3 + 0.2 * scene_random_uniform(random);
    there = poise_vec3_make(there.x + away * off.x, there.y + away * off.y, there.z + away * off.z);
    shapes[1].pose.position = poise_pose_transform(poise_pose_inverse(b), there);
}

// Rows: pairs of kinds, between two limbs and against the world.
TEST_ROWS(pairs_have_exact_second_derivatives, 10)
{
    static const poise_shape_kind kinds[5][2] = {{POISE_SHAPE_CAPSULE, POISE_SHAPE_CAPSULE},
                                                 {POISE_SHAPE_CAPSULE, POISE_SHAPE_BOX},
                                                 {POISE_SHAPE_CAPSULE, POISE_SHAPE_HALF_SPACE},
                                                 {POISE_SHAPE_BOX, POISE_SHAPE_BOX},
                                                 {POISE_SHAPE_BOX, POISE_SHAPE_HALF_SPACE}};
    setting s = {.f = two_limbs()};
    scene_random random = scene_random_make(3 + (uint64_t)test_row);
    set_objective(&s);
    poise_shape shapes[2] = {{.kind = kinds[test_row % 5][0], .body = poise_model_find_body(s.f.model, "a3")},
                             {.kind = kinds[test_row % 5][1], .body = poise_model_find_body(s.f.model, "b3")}};
    shapes[1].body = test_row < 5 ? shapes[1].body : POISE_WORLD;
    poise_pair pair = {0, 1};
    poise_constraint given = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    given.shapes = shapes, given.shape_count = 2, given.pairs = &pair, given.pair_count = 1, given.margin = 10.0;
    set_up(&s, &given);
    compare(&s, &random, reshape, 200, 1e-4, 0.5);
    poise_objective_destroy(s.objective);
}

enum { PROGRAM_MOST = 12, PROGRAM_ROWS = 8, PROGRAM_EQUALITIES = 2 };

typedef struct program {
    int n;
    double J[PROGRAM_ROWS * PROGRAM_MOST], c[PROGRAM_ROWS];
    double lower[PROGRAM_MOST], upper[PROGRAM_MOST], g[PROGRAM_MOST], D[PROGRAM_MOST], span[PROGRAM_MOST];
    bool is_equality[PROGRAM_ROWS];
} program;

// Some point within the bounds holds every row. The last row is parallel to the one before it.
static program make_program(scene_random *random, int n)
{
    program p = {.n = n};
    double held[PROGRAM_MOST], ratio = scene_random_range(random, 0.1, 3);
    for (int i = 0; i < n; ++i) {
        held[i] = scene_random_range(random, -1, 1);
        p.lower[i] = held[i] - scene_random_range(random, 0.1, 1);
        p.upper[i] = held[i] + scene_random_range(random, 0.1, 1);
        p.g[i] = scene_random_range(random, -3, 3);
        p.D[i] = scene_random_range(random, 0.5, 2), p.span[i] = 1;
    }
    for (int k = 0; k < PROGRAM_ROWS; ++k) {
        double *J = p.J + k * n;
        p.is_equality[k] = k < PROGRAM_EQUALITIES;
        p.c[k] = p.is_equality[k] ? 0.0 : scene_random_range(random, 0.1, 0.5);
        for (int i = 0; i < n; ++i) {
            J[i] = k == PROGRAM_ROWS - 1 ? ratio * J[i - n] : scene_random_range(random, -1, 1);
            p.c[k] -= J[i] * held[i];
        }
    }
    return p;
}

// The conditions of a minimum; returns how many inequalities are active.
static int check_program(const program *p, const pz_dual *d)
{
    double left[PROGRAM_MOST], room[PROGRAM_ROWS];
    int active = 0;
    for (int i = 0; i < p->n; ++i) {
        ck_assert(d->x[i] >= p->lower[i] - 1e-9 && d->x[i] <= p->upper[i] + 1e-9);
        left[i] = p->D[i] * d->x[i] + p->g[i];
    }
    for (int k = 0; k < PROGRAM_ROWS; ++k) {
        room[k] = p->c[k];
        for (int i = 0; i < p->n; ++i) {
            room[k] += p->J[k * p->n + i] * d->x[i];
        }
        ck_assert_msg(p->is_equality[k] ? fabs(room[k]) < 1e-9 : room[k] > -1e-9, "row %d: %g", k, room[k]);
    }
    for (int u = 0; u < d->used_count; ++u) {
        int id = d->id[d->used[u]], dof = (id - PROGRAM_ROWS) / 2;
        double mu = d->mu[d->used[u]], sign = (id - PROGRAM_ROWS) % 2 ? -1.0 : 1.0;
        ck_assert((id < PROGRAM_EQUALITIES || mu >= 0) && (id >= PROGRAM_ROWS || fabs(room[id]) < 1e-9));
        for (int i = 0; i < p->n; ++i) {
            left[i] -= mu * (id < PROGRAM_ROWS ? p->J[id * p->n + i] : i != dof ? 0.0 : sign);
        }
        active += id >= PROGRAM_EQUALITIES;
    }
    for (int i = 0; i < p->n; ++i) {
        ck_assert_double_eq_tol(left[i], 0, 1e-9);
    }
    return active;
}

static void pose_program(pz_dual *d, const program *p)
{
    d->row_count = PROGRAM_ROWS, d->J = p->J, d->c = p->c, d->is_equality = p->is_equality;
    d->lower = p->lower, d->upper = p->upper, d->g = p->g, d->D = p->D, d->span = p->span;
    d->soften = 0, d->deep = INFINITY, d->slack = 1e-12;
}

// Rows: how many coordinates. Of a program that some x holds, the answer holds all rows and bounds, and its gradient is a
// sum of their normals n,
//
//   D x + g = sum mu n,     mu >= 0 but for equalities,     mu = 0 where there is room
//
// Where coordinates are few, rows in use soon fix all of them, and a further one must take the place of one of these. With
// the last row turned against its neighbour, both cannot hold, and the answer says so.
TEST_ROWS(programs_are_solved_to_where_no_direction_within_lowers_them, 4)
{
    static const int sizes[4] = {3, 5, 8, PROGRAM_MOST};
    int n = sizes[test_row];
    scene_random random = scene_random_make(41);
    pz_dual d = {0};
    pz_arena count = pz_arena_counting();
    pz_dual_lay_out(&d, n, PROGRAM_ROWS, &count);
    size_t size = pz_arena_bytes(&count);
    void *memory = malloc(size);
    test_own(free, memory);
    int active = 0, left_out = 0, contradictions = 0;
    for (int round = 0; round < 500; ++round) {
        program p = make_program(&random, n);
        pz_arena arena = pz_arena_over(memory, size);
        pz_dual_lay_out(&d, n, PROGRAM_ROWS, &arena);
        pose_program(&d, &p);
        pz_dual_solve(&d, NULL, 0);
        left_out += !d.is_consistent;
        active += check_program(&p, &d);
        int last = PROGRAM_ROWS - 1;
        for (int i = 0; i < n; ++i) {
            p.J[last * n + i] = -p.J[(last - 1) * n + i];
        }
        p.c[last] = -p.c[last - 1] - 0.1;
        pz_dual_solve(&d, NULL, 0);
        contradictions += !d.is_consistent;
    }
    ck_assert_int_gt(active, 300);
    ck_assert_int_eq(left_out, 0);
    ck_assert_int_eq(contradictions, 500);
}

// Every coordinate is pulled to its upper bound, and those in use at first are all the lower ones: more rows become active
// in turn than there are places, and those that are not in use any more make room.
TEST(rows_that_are_not_in_use_any_more_make_room_for_others)
{
    scene_random random = scene_random_make(43);
    pz_dual d = {0};
    pz_arena count = pz_arena_counting();
    pz_dual_lay_out(&d, PROGRAM_MOST, PROGRAM_ROWS, &count);
    size_t size = pz_arena_bytes(&count);
    void *memory = malloc(size);
    test_own(free, memory);
    for (int round = 0; round < 100; ++round) {
        program p = make_program(&random, PROGRAM_MOST);
        pz_arena arena = pz_arena_over(memory, size);
        pz_dual_lay_out(&d, PROGRAM_MOST, PROGRAM_ROWS, &arena);
        pose_program(&d, &p);
        int hints[PROGRAM_MOST];
        for (int i = 0; i < PROGRAM_MOST; ++i) {
            p.g[i] = -scene_random_range(&random, 20, 30);
            hints[i] = pz_dual_lower_id(&d, i);
        }
        pz_dual_solve(&d, hints, PROGRAM_MOST);
        ck_assert(d.is_consistent);
        check_program(&p, &d);
    }
}
