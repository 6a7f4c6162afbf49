// Every goal kind through every joint type: gradient and Hessian against differences, at random and at hard configurations.
#include "goal/objective_state.h"
#include "support/derivative_check.h"
#include "support/test_main.h"

#include <math.h>

// ---- Models: a limb with the joint under test in its middle, and a branch beside it --------------------------------------

// What the test adds to a skeleton: one joint, of any type.
typedef struct subject {
    poise_joint_type type;
    poise_euler_order order;
    bool mimic;
} subject;

static poise_joint named(const char *name, const char *parent, poise_joint_type type)
{
    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.parent = parent;
    joint.type = type;
    return joint;
}

static void add(poise_builder *builder, const poise_joint *joint)
{
    poise_error error = {0};
    ck_assert_msg(poise_builder_add_joint(builder, joint, &error) == POISE_OK, "%s", error.text);
}

// Limits far away: they keep rotation vectors from being reparameterised while the differences step across pi.
static void keep_vector(poise_joint *joint)
{
    if (joint->type != POISE_JOINT_BALL_QUATERNION && joint->type != POISE_JOINT_FREE) {
        for (int i = 0; i < 6; ++i) {
            joint->lower[i] = -100.0;
            joint->upper[i] = 100.0;
        }
    }
}

static void add_subject(poise_builder *builder, subject s)
{
    poise_joint joint = named("subject", "base", s.type);
    joint.order = s.order;
    joint.offset = (poise_pose){poise_quat_from_axis_angle(poise_vec3_make(1, 2, -1), 0.7), {0.2, 0.1, 0.4}};
    joint.axis = poise_vec3_make(1, 1, 0.5);
    joint.axis2 = poise_vec3_make(1, -1, 0);
    joint.axes = poise_quat_from_axis_angle(poise_vec3_make(-1, 1, 3), 0.4);
    joint.mass = 1.5;
    joint.mass_center = poise_vec3_make(0.1, 0.05, 0.2);
    if (s.mimic) {
        joint.mimic = "base";
        joint.mimic_multiplier = -1.7;
        joint.mimic_offset = 0.3;
    } else {
        keep_vector(&joint);
    }
    add(builder, &joint);
}

static poise_model *make_model(subject s)
{
    poise_builder *builder;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    poise_joint base = named("base", NULL, POISE_JOINT_REVOLUTE);
    base.offset.position = poise_vec3_make(3, -2, 1);
    base.axis = poise_vec3_make(0, 1, 0);
    base.mass = 2.0;
    add(builder, &base);
    add_subject(builder, s);
    poise_joint elbow = named("elbow", "subject", POISE_JOINT_REVOLUTE);
    elbow.offset.position = poise_vec3_make(0.1, 0, 0.5);
    elbow.axis = poise_vec3_make(1, 0, 0);
    add(builder, &elbow);
    poise_joint slide = named("slide", "elbow", POISE_JOINT_PRISMATIC);
    slide.offset.position = poise_vec3_make(0, 0.1, 0.4);
    slide.axis = poise_vec3_make(0.3, -0.2, 1);
    slide.mass = 1.0;
    slide.mass_center = poise_vec3_make(0, 0, 0.1);
    add(builder, &slide);
    poise_joint wrist = named("wrist", "slide", POISE_JOINT_REVOLUTE);
    wrist.axis = poise_vec3_make(0, 1, 1);
    add(builder, &wrist);
    poise_joint other = named("other", "base", POISE_JOINT_REVOLUTE);
    other.offset.position = poise_vec3_make(-0.3, 0.2, 0.1);
    other.mass = 0.7;
    other.mass_center = poise_vec3_make(0.2, 0.1, 0);
    add(builder, &other);
    poise_model *model;
    poise_error error = {0};
    ck_assert_msg(poise_model_create(builder, NULL, &model, &error) == POISE_OK, "%s", error.text);
    poise_builder_destroy(builder);
    return model;
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

// E of a pose: a spring of its own on the origin and a term that mixes rotation and position, E = |p|^2/2 + (R z . a) (p .
// b).
static bool spring(void *user, const poise_pose *pose, poise_body_energy *out)
{
    const double *ab = user;
    poise_vec3 p = pose->position, d = poise_quat_rotate(pose->rotation, poise_vec3_make(0, 0, 1));
    double a[3] = {ab[0], ab[1], ab[2]}, b[3] = {ab[3], ab[4], ab[5]}, D[3] = {d.x, d.y, d.z}, P[3] = {p.x, p.y, p.z};
    double da = D[0] * a[0] + D[1] * a[1] + D[2] * a[2], pb = P[0] * b[0] + P[1] * b[1] + P[2] * b[2];
    double t[3] = {D[1] * a[2] - D[2] * a[1], D[2] * a[0] - D[0] * a[2], D[0] * a[1] - D[1] * a[0]}; // d x a
    out->energy = 0.5 * (P[0] * P[0] + P[1] * P[1] + P[2] * P[2]) + da * pb;
    for (int i = 0; i < 3; ++i) {
        out->gradient[i] = t[i] * pb;
        out->gradient[3 + i] = P[i] + da * b[i];
        for (int j = 0; j < 3; ++j) {
            out->hessian[6 * i + j] = pb * (0.5 * (D[i] * a[j] + D[j] * a[i]) - (i == j ? da : 0.0));
            out->hessian[6 * i + 3 + j] = t[i] * b[j];
            out->hessian[6 * (3 + j) + i] = t[i] * b[j];
            out->hessian[6 * (3 + i) + 3 + j] = i == j ? 1.0 : 0.0;
            out->gauss_newton[6 * i + j] = 0.0;
            out->gauss_newton[6 * (3 + i) + 3 + j] = i == j ? 1.0 : 0.0;
        }
    }
    return true;
}

#define GOAL_VARIANTS 22

static const poise_vec3 local = {0.05, 0.15, 0.3};
static const poise_vec3 target = {3.4, -1.3, 1.9};
static double spring_numbers[6] = {0.3, -0.5, 0.8, 1.0, 0.4, -0.6};

typedef struct context {
    const poise_model *model;
    const double *posture, *before, *weights;
} context;

// A position alone, with either loss, and in a box of tolerance.
static poise_goal position_variant(int tip, poise_quat turn, int variant)
{
    poise_goal goal = poise_goal_position(tip, local, target);
    switch (variant) {
    case 1:
        goal.weight = 2.5;
        goal.loss = POISE_LOSS_HUBER;
        goal.loss_scale = 0.2;
        break;
    case 2:
        goal.loss = POISE_LOSS_GEMAN_MCCLURE;
        goal.loss_scale = 1.3;
        break;
    case 3:
        goal.target.rotation = turn;
        goal.tolerance = poise_vec3_make(0.1, INFINITY, 0.05);
        break;
    default:
        break;
    }
    return goal;
}

static poise_goal goal_variant(const context *c, int variant)
{
    int tip = poise_model_find_body(c->model, "wrist"), other = poise_model_find_body(c->model, "other");
    int subject_body = poise_model_find_body(c->model, "subject");
    poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(1, -1, 2), 0.9);
    poise_pose frame = {poise_quat_from_axis_angle(poise_vec3_make(0, 1, 1), 0.3), local};
    poise_goal goal;
    if (variant < 4) {
        return position_variant(tip, turn, variant);
    }
    switch (variant) {
    case 4:
        return poise_goal_direction(tip, poise_vec3_make(1, 2, 3), poise_vec3_make(-1, 0.5, 1));
    case 5:
        return poise_goal_orientation(tip, turn);
    case 6:
        goal = poise_goal_orientation(tip, turn);
        goal.rotation_tolerance = poise_vec3_make(0.05, 0.1, INFINITY);
        return goal;
    case 7:
        return poise_goal_pose(tip, frame, (poise_pose){turn, target});
    case 8:
        goal = poise_goal_pose(tip, frame, (poise_pose){turn, target});
        goal.rotation_weight = 0.3;
        goal.tolerance = poise_vec3_make(0.02, 0.03, 0.01);
        goal.rotation_tolerance = poise_vec3_make(0.01, 0.02, 0.03);
        return goal;
    case 9:
        return poise_goal_aim(tip, local, poise_vec3_make(0, 1, 2), target);
    case 10:
        return poise_goal_plane(tip, local, target, poise_vec3_make(1, 1, -2));
    case 11:
        return poise_goal_line(tip, local, target, poise_vec3_make(1, -1, 2));
    case 12:
        return poise_goal_distance(tip, local, target, 0.8);
    case 13:
        goal = poise_goal_distance(tip, local, target, 0.8);
        goal.loss = POISE_LOSS_GEMAN_MCCLURE;
        goal.loss_scale = 0.7;
        return goal;
    case 14:
        return poise_goal_posture(c->posture, 1.3);
    case 15:
        goal = poise_goal_posture(c->posture, 1.0);
        goal.q_weights = c->weights;
        return goal;
    case 16:
        return poise_goal_smoothness(c->posture, c->before, 0.8);
    case 17:
        return poise_goal_relative(tip, frame, other, (poise_pose){turn, {0.4, 0.1, -0.3}});
    case 18:
        return poise_goal_relative(tip, frame, subject_body, (poise_pose){turn, {0.4, 0.1, -0.3}}); // one above the other
    case 19:
        return poise_goal_relative(tip, frame, POISE_WORLD, (poise_pose){turn, target});
    case 20:
        return poise_goal_center_of_mass(target);
    default:
        return poise_goal_callback(tip, spring, spring_numbers);
    }
}

// ---- Configurations ------------------------------------------------------------------------------------------------------

static uint64_t random_state;

static double random_in(double lower, double upper)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return lower + (upper - lower) * (double)(random_state >> 11) * 0x1p-53;
}

// Values that every coordinate of the joint under test takes in turn: none, hardly any, gimbal lock, almost half a turn.
static const double hard[] = {0.0, 1e-9, 1e-5, 1.5707963267948966, 3.14159165358979323846, -3.14159165358979323846};
#define HARD_COUNT   (sizeof hard / sizeof hard[0])
#define RANDOM_COUNT 4

// Fill q: the joint under test at a hard value (in one coordinate, or in all), the others random; the straight limb, elbow
// and wrist at 0, comes with the first.
static void configure(const poise_model *model, size_t pose, double *q)
{
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        q[i] = random_in(-1.2, 1.2);
    }
    poise_joint_info root = poise_model_joint_info(model, poise_model_find_joint(model, "subject"));
    int count = root.nq, first = root.q;
    if (pose >= HARD_COUNT) {
        return;
    }
    poise_joint_type type = poise_model_joint_info(model, poise_model_find_joint(model, "subject")).type;
    bool is_quaternion = type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE;
    for (int i = 0; i < count && !is_quaternion; ++i) {
        q[first + i] = i == count / 2 || pose < 3 ? hard[pose] : 0.0;
    }
    if (is_quaternion) {
        poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(1, 1, -1), hard[pose]);
        double *c = q + first + count - 4;
        c[0] = turn.x, c[1] = turn.y, c[2] = turn.z, c[3] = turn.w;
    }
    if (pose == 0) {
        q[poise_model_joint_info(model, poise_model_find_joint(model, "elbow")).q] = 0.0;
        q[poise_model_joint_info(model, poise_model_find_joint(model, "wrist")).q] = 0.0;
    }
}

// Differences of fourth order leave about 1e-11 (DIFFERENCE_STEP); an aim has fifth derivatives that grow with the inverse
// fifth power of its distance, here a few times 0.1.
#define DERIVATIVE_BOUND 2e-8

// The energy has a kink in its second derivative at the edge of a tolerance band: differences must not step across one.
#define EDGE_DISTANCE 0.02

static bool is_near_edge(double component, double tolerance)
{
    return fabs(fabs(component) - tolerance) < EDGE_DISTANCE;
}

static bool crosses_band_edge(const poise_kinematics *kinematics, const poise_goal *goal)
{
    poise_pose body = poise_kinematics_body_pose(kinematics, goal->body);
    poise_pose frame = poise_pose_multiply(body, goal->local);
    poise_pose off = poise_pose_multiply(poise_pose_inverse(goal->target), frame);
    poise_vec3 r = off.position, t = goal->tolerance, u = goal->rotation_tolerance;
    double sign = off.rotation.w < 0 ? -2.0 : 2.0;
    bool position = t.x != 0 && (is_near_edge(r.x, t.x) || is_near_edge(r.y, t.y) || is_near_edge(r.z, t.z));
    bool rotation = u.x != 0 && (is_near_edge(sign * off.rotation.x, u.x) || is_near_edge(sign * off.rotation.y, u.y) ||
                                 is_near_edge(sign * off.rotation.z, u.z) || fabs(off.rotation.w) < EDGE_DISTANCE);
    return position || rotation;
}

static int edges_met, goals_checked;

// Two routes to one number through some dozen additions.
#define AGREEMENT_BOUND 1e-14

static void check_goal(const context *c, poise_objective *objective, int variant, const double *q, const char *what)
{
    poise_goal goal = goal_variant(c, variant);
    poise_error error = {0};
    ck_assert_msg(poise_objective_set_goals(objective, &goal, 1, &error) == POISE_OK, "%s", error.text);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_COST, NULL), POISE_OK);
    if (crosses_band_edge((&objective->kin), &goal)) {
        edges_met += 1;
        return;
    }
    goals_checked += 1;
    derivative_errors e = check_derivatives(objective, c->model, q);
    const char *name = poise_goal_kind_name(goal.kind);
    ck_assert_msg(e.gradient <= DERIVATIVE_BOUND, "%s goal %d (%s): gradient off by %.2e", what, variant, name, e.gradient);
    ck_assert_msg(e.hessian <= DERIVATIVE_BOUND, "%s goal %d (%s): Hessian off by %.2e", what, variant, name, e.hessian);
    ck_assert_msg(e.product <= AGREEMENT_BOUND * 10, "%s goal %d (%s): product off by %.2e", what, variant, name, e.product);
    ck_assert_msg(e.diagonal <= AGREEMENT_BOUND, "%s goal %d (%s): diagonal off by %.2e", what, variant, name, e.diagonal);
    ck_assert_msg(e.packed == 0.0, "%s goal %d (%s): packed rows off by %.2e", what, variant, name, e.packed);
    ck_assert_msg(e.asymmetry == 0.0, "%s goal %d (%s): Hessian not symmetric by %.2e", what, variant, name, e.asymmetry);
    ck_assert_msg(e.least_gauss_newton >= -1e-13, "%s goal %d (%s): Gauss-Newton has eigenvalue %.2e", what, variant, name,
                  e.least_gauss_newton);
}

static void check_subject(subject s, const char *what)
{
    poise_model *model = make_model(s);
    poise_objective *objective;
    ck_assert_int_eq(poise_objective_create(model, 1, NULL, &objective, NULL), POISE_OK);
    double q[16], posture[16], before[16], weights[16];
    random_state = 20 + (uint64_t)s.type * 16 + (uint64_t)s.order;
    for (size_t pose = 0; pose < HARD_COUNT + RANDOM_COUNT; ++pose) {
        configure(model, pose, q);
        configure(model, HARD_COUNT, posture);
        configure(model, HARD_COUNT, before);
        for (int i = 0; i < poise_model_info(model).nv; ++i) {
            weights[i] = random_in(0, 2);
        }
        context c = {model, posture, before, weights};
        for (int variant = 0; variant < GOAL_VARIANTS; ++variant) {
            check_goal(&c, objective, variant, q, what);
        }
    }
    poise_objective_destroy(objective);
    poise_model_destroy(model);
}

// ---- Tests ---------------------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    subject subject;
} subjects[] = {
    {"fixed", {.type = POISE_JOINT_FIXED}},
    {"revolute", {.type = POISE_JOINT_REVOLUTE}},
    {"prismatic", {.type = POISE_JOINT_PRISMATIC}},
    {"universal", {.type = POISE_JOINT_UNIVERSAL}},
    {"ball_expmap", {.type = POISE_JOINT_BALL_EXPMAP}},
    {"ball_quaternion", {.type = POISE_JOINT_BALL_QUATERNION}},
    {"swing_twist", {.type = POISE_JOINT_SWING_TWIST}},
    {"translation", {.type = POISE_JOINT_TRANSLATION}},
    {"planar", {.type = POISE_JOINT_PLANAR}},
    {"free", {.type = POISE_JOINT_FREE}},
    {"free_expmap", {.type = POISE_JOINT_FREE_EXPMAP}},
    {"free_euler", {.type = POISE_JOINT_FREE_EULER, .order = POISE_EULER_ZYX}},
    {"revolute mimic", {.type = POISE_JOINT_REVOLUTE, .mimic = true}},
    {"prismatic mimic", {.type = POISE_JOINT_PRISMATIC, .mimic = true}},
};

TEST_ROWS(every_goal_through_every_joint_matches_differences, TEST_COUNT(subjects))
{
    check_subject(subjects[test_row].subject, subjects[test_row].name);
}

TEST_ROWS(every_goal_through_every_euler_ball_matches_differences, POISE_EULER_ORDER_COUNT)
{
    check_subject((subject){.type = POISE_JOINT_BALL_EULER, .order = (poise_euler_order)test_row}, "ball_euler");
}

TEST(few_goals_were_left_out_at_band_edges)
{
    ck_assert_msg(goals_checked > 0 && edges_met * 40 < goals_checked, "%d left out, %d checked", edges_met, goals_checked);
}

// ---- Energies of the caller's --------------------------------------------------------------------------------------------

// An energy without a slope whose second derivatives are the 36 numbers that `user` points to.
static bool given_curvature(void *user, const poise_pose *pose, poise_body_energy *out)
{
    for (int i = 0; i < 36; ++i) {
        out->hessian[i] = ((const double *)user)[i];
    }
    return pose != NULL;
}

// The objective of such an energy for one free body where it is; steps are translation, then rotation, the energy's numbers
// the other way round.
static poise_objective *free_body(poise_goal *goal, double *numbers, poise_model **model)
{
    poise_builder *builder;
    poise_objective *objective;
    poise_joint joint = poise_joint_default();
    double q[7];
    joint.name = "free";
    joint.type = POISE_JOINT_FREE;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    ck_assert_int_eq(poise_objective_create(*model, 0, NULL, &objective, NULL), POISE_OK);
    *goal = poise_goal_callback(0, given_curvature, numbers);
    poise_model_neutral(*model, q);
    ck_assert_int_eq(poise_objective_set_goals(objective, goal, 1, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    return objective;
}

TEST(every_second_derivative_of_a_callback_comes_through_in_its_place)
{
    double numbers[36], H[36];
    poise_goal goal;
    poise_model *model;
    for (int i = 0; i < 36; ++i) { // symmetric, and all different otherwise
        numbers[i] = 1.0 + (i / 6 < i % 6 ? i / 6 * 10 + i % 6 : i % 6 * 10 + i / 6);
    }
    poise_objective *objective = free_body(&goal, numbers, &model);
    for (int kind = 0; kind < 2; ++kind) {
        ck_assert_int_eq(poise_objective_hessian(objective, (poise_hessian)kind, H, NULL), POISE_OK);
        for (int i = 0; i < 36; ++i) {
            ck_assert_double_eq(H[i], numbers[6 * ((i / 6 + 3) % 6) + (i % 6 + 3) % 6]);
        }
    }
    poise_objective_destroy(objective);
    poise_model_destroy(model);
}

TEST(definiteness_is_judged_beside_the_largest_eigenvalue_of_either_sign)
{
    double numbers[36] = {0}, work[6 * 8];
    poise_goal goal;
    poise_model *model;
    poise_definiteness found;
    static const double sizes[] = {1e-8, 1.0, 1e8};
    for (int i = 0; i < 6; ++i) {
        double sign = i % 2 ? 1.0 : -1.0;
        numbers[0] = sign * sizes[i / 2];
        numbers[35] = -1e-6 * numbers[0]; // nothing beside it
        poise_objective *objective = free_body(&goal, numbers, &model);
        ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 1e-3, work, &found, NULL), POISE_OK);
        ck_assert_int_eq(found, sign < 0 ? POISE_DEFINITE_SEMI_NEGATIVE : POISE_DEFINITE_SEMI_POSITIVE);
        ck_assert_int_eq(poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 1e-9, work, &found, NULL), POISE_OK);
        ck_assert_int_eq(found, POISE_DEFINITE_INDEFINITE);
        poise_objective_destroy(objective);
        poise_model_destroy(model);
    }
}
