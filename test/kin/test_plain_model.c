// Poise against the plain implementation, entry by entry, on random models of every joint type that plain knows.
#include "kin/plain_random.h"
#include "papers/plain/plain.h"
#include "support/test_main.h"

#include <poise/poise.h>

#include <math.h>

#define JOINTS    14
#define EFFECTORS 6
#define DOFS      (6 * JOINTS)
#define ROWS      (3 * EFFECTORS)
#define MODELS    40

// Both sides do the same sums of a few hundred products in another order, on numbers that went through JOINTS frames.
#define TOLERANCE (256 * 2.220446049250313e-16) // relative to the largest entry

static poise_quat random_rotation(void)
{
    return poise_quat_from_axis_angle(random_vector(), 3.0 * uniform());
}

static poise_joint random_joint(poise_joint_type type, const char *name, const char *parent)
{
    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.parent = parent;
    joint.type = type;
    joint.offset = (poise_pose){random_rotation(), random_vector()};
    joint.axis = random_vector();
    poise_vec3 other = random_vector(), a = joint.axis;
    joint.axis2 = (poise_vec3){a.y * other.z - a.z * other.y, a.z * other.x - a.x * other.z, a.x * other.y - a.y * other.x};
    joint.axes = random_rotation();
    joint.order = (poise_euler_order)below(POISE_EULER_ORDER_COUNT);
    return joint;
}

static poise_model *build(const poise_joint *joints, int count)
{
    poise_builder *builder;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int k = 0; k < count; ++k) {
        ck_assert_int_eq(poise_builder_add_joint(builder, &joints[k], NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return model;
}

// A tree whose joints come in no particular order: a parent may be added after its child, and the model sorts them.
static poise_model *random_model(void)
{
    static const poise_joint_type known[] = {POISE_JOINT_FIXED,     POISE_JOINT_REVOLUTE,   POISE_JOINT_PRISMATIC,
                                             POISE_JOINT_UNIVERSAL, POISE_JOINT_BALL_EULER, POISE_JOINT_TRANSLATION,
                                             POISE_JOINT_PLANAR,    POISE_JOINT_FREE_EULER};
    static char name[JOINTS][16];
    poise_joint joints[JOINTS], shuffled[JOINTS];
    for (int k = 0; k < JOINTS; ++k) {
        snprintf(name[k], sizeof name[k], "%d", k);
        poise_joint_type type = known[k < 8 ? k : below(8)]; // every type at least once
        joints[k] = random_joint(type, name[k], k == 0 || below(8) == 0 ? NULL : name[below(k)]);
    }
    for (int k = 0; k < JOINTS; ++k) {
        int at = below(k + 1);
        shuffled[k] = shuffled[at];
        shuffled[at] = joints[k];
    }
    return build(shuffled, JOINTS);
}

static void random_effectors(plain_effector *effectors)
{
    for (int c = 0; c < EFFECTORS; ++c) {
        effectors[c] = (plain_effector){below(JOINTS), random_vector(), random_vector(), 1.5 + uniform()};
    }
}

static void assert_same(const double *x, const double *y, int count, const char *what)
{
    double largest = 1.0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, fabs(y[i]));
    }
    for (int i = 0; i < count; ++i) {
        ck_assert_msg(fabs(x[i] - y[i]) <= TOLERANCE * largest, "%s: entry %d is %.17g, not %.17g", what, i, x[i], y[i]);
    }
}

// A model and the plain skeleton made from it, at one random configuration with random effectors.
typedef struct twin {
    poise_model *model;
    plain_ik *plain;
    plain_effector effectors[EFFECTORS];
    int n;
    double q[DOFS];
    double J[ROWS * DOFS];
} twin;

static void start(twin *now)
{
    now->model = random_model();
    random_effectors(now->effectors);
    now->plain = plain_from_model(now->model, now->effectors, EFFECTORS);
    ck_assert_ptr_nonnull(now->plain);
    now->n = poise_model_info(now->model).nv;
    ck_assert_int_eq(now->plain->dof_count, now->n);
    for (int i = 0; i < now->n; ++i) {
        now->q[i] = 3.0 * uniform();
    }
    plain_update(now->plain, now->q);
    plain_jacobian(now->plain, now->J);
}

static void finish(twin *now)
{
    plain_destroy(now->plain);
    poise_model_destroy(now->model);
}

static poise_kinematics *kinematics_at(const twin *now)
{
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(now->model, NULL, &kinematics, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kinematics, now->q, NULL), POISE_OK);
    return kinematics;
}

TEST(frames_agree_with_plain)
{
    state = 1;
    for (int trial = 0; trial < MODELS; ++trial) {
        twin now;
        start(&now);
        poise_kinematics *kinematics = kinematics_at(&now);
        double rotation[9 * JOINTS], position[3 * JOINTS];
        for (int k = 0; k < JOINTS; ++k) {
            poise_kinematics_body_frame(kinematics, k, rotation + 9 * k, position + 3 * k);
        }
        assert_same(rotation, now.plain->rotation, 9 * JOINTS, "rotations");
        assert_same(position, &now.plain->position[0].x, 3 * JOINTS, "positions");
        poise_kinematics_destroy(kinematics);
        finish(&now);
    }
}

TEST(point_jacobian_agrees_with_plain)
{
    state = 2;
    for (int trial = 0; trial < MODELS; ++trial) {
        twin now;
        double J[ROWS * DOFS];
        start(&now);
        poise_kinematics *kinematics = kinematics_at(&now);
        for (int c = 0; c < EFFECTORS; ++c) {
            const plain_effector *effector = &now.effectors[c];
            poise_kinematics_jacobian(kinematics, effector->bone, effector->tool, J + 3 * c * now.n, NULL, NULL);
        }
        assert_same(J, now.J, ROWS * now.n, "jacobian");
        poise_kinematics_destroy(kinematics);
        finish(&now);
    }
}

TEST(point_tensor_agrees_with_plain)
{
    state = 3;
    static double K[3 * DOFS * DOFS], plain_K[3 * DOFS * DOFS];
    for (int trial = 0; trial < MODELS; ++trial) {
        twin now;
        start(&now);
        poise_kinematics *kinematics = kinematics_at(&now);
        for (int c = 0; c < EFFECTORS; ++c) {
            poise_kinematics_point_tensor(kinematics, now.effectors[c].bone, now.effectors[c].tool, K, NULL);
            plain_tensor(now.plain, now.J, c, plain_K);
            assert_same(K, plain_K, 3 * now.n * now.n, "tensor");
        }
        poise_kinematics_destroy(kinematics);
        finish(&now);
    }
}

TEST(cost_gradient_and_hessians_agree_with_plain)
{
    state = 4;
    static double H[DOFS * DOFS], plain_H[DOFS * DOFS];
    for (int trial = 0; trial < MODELS; ++trial) {
        twin now;
        poise_objective *objective;
        poise_goal goals[EFFECTORS];
        double g[DOFS], f, plain_f;
        start(&now);
        for (int c = 0; c < EFFECTORS; ++c) {
            const plain_effector *effector = &now.effectors[c];
            goals[c] = poise_goal_position(effector->bone, effector->tool, effector->goal);
            goals[c].weight = effector->weight;
        }
        ck_assert_int_eq(poise_objective_create(now.model, 0, NULL, &objective, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_set_goals(objective, goals, EFFECTORS, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_evaluate(objective, now.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        f = poise_objective_value(objective).cost;
        plain_f = plain_cost(now.plain);
        assert_same(&f, &plain_f, 1, "cost");
        plain_gradient(now.plain, now.J, g);
        assert_same(poise_objective_value(objective).gradient, g, now.n, "gradient");
        ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
        plain_hessian(now.plain, now.J, plain_H);
        assert_same(H, plain_H, now.n * now.n, "exact Hessian");
        ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_GAUSS_NEWTON, H, NULL), POISE_OK);
        plain_gauss_newton(now.plain, now.J, plain_H);
        assert_same(H, plain_H, now.n * now.n, "Gauss-Newton matrix");
        poise_objective_destroy(objective);
        finish(&now);
    }
}

TEST(models_beyond_turns_and_slides_are_refused)
{
    static const poise_joint_type strange[] = {POISE_JOINT_BALL_EXPMAP, POISE_JOINT_BALL_QUATERNION, POISE_JOINT_SWING_TWIST,
                                               POISE_JOINT_FREE, POISE_JOINT_FREE_EXPMAP};
    state = 5;
    for (size_t i = 0; i < TEST_COUNT(strange); ++i) {
        poise_joint joint = random_joint(strange[i], "joint", NULL);
        poise_model *model = build(&joint, 1);
        ck_assert_ptr_null(plain_from_model(model, NULL, 0));
        poise_model_destroy(model);
    }
    poise_joint pair[2] = {random_joint(POISE_JOINT_REVOLUTE, "leader", NULL),
                           random_joint(POISE_JOINT_REVOLUTE, "follower", "leader")};
    pair[1].mimic = "leader";
    poise_model *model = build(pair, 2);
    ck_assert_ptr_null(plain_from_model(model, NULL, 0));
    poise_model_destroy(model);
}
