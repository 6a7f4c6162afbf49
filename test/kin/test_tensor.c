// Second derivatives of a point: the tensor K against differences of the Jacobian, against the Hessian, and entry by entry
// where a closed form says what it is.
#include "num/rotation.h"
#include "support/skeleton.h"

#include <float.h>

#define MODELS 40
#define JOINTS 12

static double *tensor_of(const figure *f, int body, poise_vec3 local)
{
    double *K = malloc((size_t)(3 * f->nv * f->nv + 1) * sizeof *K);
    ck_assert_int_eq(poise_kinematics_point_tensor(f->kin, body, local, K, NULL), POISE_OK);
    return K;
}

static vec3 entry(const figure *f, const double *K, int i, int j)
{
    int n = f->nv;
    return v3(K[i * n + j], K[(n + i) * n + j], K[(2 * n + i) * n + j]);
}

static int dof(const figure *f, const char *joint)
{
    return poise_model_joint_info(f->model, poise_model_find_joint(f->model, joint)).v;
}

// ---- Against the Hessian -------------------------------------------------------------------------------------------------

// One marker: H = w (J^T J + sum over rows of r K), r = x - t.
TEST(hessian_of_a_marker_is_its_jacobian_squared_and_its_residual_times_the_tensor)
{
    scene_random random = scene_random_make(3);
    for (int trial = 0; trial < MODELS; ++trial) {
        figure f = random_figure(&random, JOINTS, RANDOM_MIMICS | RANDOM_CURVES);
        int body = scene_random_index(&random, JOINTS), n = f.nv;
        poise_vec3 local = random_vector(&random, 0.5), target = random_vector(&random, 2.0);
        poise_goal goal = poise_goal_position(body, local, target);
        goal.weight = 0.5 + 0.1 * trial;
        poise_objective *objective;
        ck_assert_int_eq(poise_objective_create(f.model, 0, NULL, &objective, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_set_goals(objective, &goal, 1, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_evaluate(objective, f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        double *H = malloc((size_t)(n * n + 1) * sizeof *H), *K = tensor_of(&f, body, local), J[3 * FIGURE_NUMBERS];
        ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_jacobian(f.kin, body, local, J, NULL, NULL), POISE_OK);
        vec3 r = v3_sub(poise_kinematics_point(f.kin, body, local), target);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                vec3 J_i = v3(J[i], J[n + i], J[2 * n + i]), J_j = v3(J[j], J[n + j], J[2 * n + j]);
                double expected = goal.weight * (v3_dot(J_i, J_j) + v3_dot(r, entry(&f, K, i, j)));
                // sums of a few dozen terms of size w * reach^2 < 5 * 20^2
                ck_assert_double_eq_tol(H[i * n + j], expected, 32 * DBL_EPSILON * 2000);
            }
        }
        free(H);
        free(K);
        poise_objective_destroy(objective);
    }
}

// ---- Entry by entry ------------------------------------------------------------------------------------------------------

TEST(tensor_is_symmetric_to_the_last_bit)
{
    scene_random random = scene_random_make(4);
    for (int trial = 0; trial < MODELS; ++trial) {
        figure f = random_figure(&random, 2 * JOINTS, RANDOM_MIMICS);
        double *K = tensor_of(&f, scene_random_index(&random, 2 * JOINTS), random_vector(&random, 0.5));
        for (int r = 0; r < 3; ++r) {
            const double *row = K + r * f.nv * f.nv;
            for (int i = 0; i < f.nv; ++i) {
                for (int j = 0; j < i; ++j) {
                    ck_assert_mem_eq(&row[i * f.nv + j], &row[j * f.nv + i], sizeof *K);
                }
            }
        }
        free(K);
    }
}

// Two joints one above the other with general offsets and axes, then the point.
static figure pair_of(scene_random *random, poise_joint_type upper, poise_joint_type lower)
{
    poise_builder *builder = new_builder();
    poise_joint joint = random_joint(random, upper);
    joint.name = "upper";
    add(builder, &joint);
    joint = random_joint(random, lower);
    joint.name = "lower";
    joint.parent = "upper";
    add(builder, &joint);
    figure f = figure_of(model_of(builder));
    pose_randomly(random, &f);
    return f;
}

// World axis of a revolute or prismatic joint.
static vec3 world_axis(const figure *f, int k)
{
    return poise_kinematics_direction(f->kin, k, poise_model_joint_info(f->model, k).given->axis);
}

TEST(a_slider_above_a_hinge_has_no_second_derivative)
{
    scene_random random = scene_random_make(5);
    figure f = pair_of(&random, POISE_JOINT_PRISMATIC, POISE_JOINT_REVOLUTE);
    double *K = tensor_of(&f, 1, v3(0.3, 0.4, 0.5));
    for (int i = 0; i < 3; ++i) {
        vec3 k = entry(&f, K, (int[]){0, 0, 1}[i], (int[]){0, 1, 0}[i]);
        ck_assert(k.x == 0 && k.y == 0 && k.z == 0);
    }
    ck_assert_double_gt(v3_norm(entry(&f, K, 1, 1)), 0.1); // the hinge with itself: towards its axis
    free(K);
}

TEST(a_hinge_above_a_slider_turns_the_sliders_axis)
{
    scene_random random = scene_random_make(6);
    for (int trial = 0; trial < MODELS; ++trial) {
        figure f = pair_of(&random, POISE_JOINT_REVOLUTE, POISE_JOINT_PRISMATIC);
        double *K = tensor_of(&f, 1, v3(0.3, 0.4, 0.5));
        vec3 expected = v3_cross(world_axis(&f, 0), world_axis(&f, 1));
        ck_assert_double_le(v3_norm(v3_sub(entry(&f, K, 0, 1), expected)), 16 * DBL_EPSILON);
        ck_assert_double_le(v3_norm(v3_sub(entry(&f, K, 1, 0), expected)), 16 * DBL_EPSILON);
        vec3 k = entry(&f, K, 1, 1);
        ck_assert(k.x == 0 && k.y == 0 && k.z == 0); // a slider with itself
        free(K);
    }
}

TEST(a_hinge_above_a_hinge_turns_the_velocity_of_the_lower_one)
{
    scene_random random = scene_random_make(7);
    for (int trial = 0; trial < MODELS; ++trial) {
        figure f = pair_of(&random, POISE_JOINT_REVOLUTE, POISE_JOINT_REVOLUTE);
        poise_vec3 local = {0.3, 0.4, 0.5};
        double *K = tensor_of(&f, 1, local);
        vec3 x = poise_kinematics_point(f.kin, 1, local), a_h = world_axis(&f, 0), a_k = world_axis(&f, 1);
        vec3 J_k = v3_cross(a_k, v3_sub(x, poise_kinematics_body_pose(f.kin, 1).position));
        vec3 J_h = v3_cross(a_h, v3_sub(x, poise_kinematics_body_pose(f.kin, 0).position));
        // arms below 3, some ten roundings
        ck_assert_double_le(v3_norm(v3_sub(entry(&f, K, 0, 1), v3_cross(a_h, J_k))), 32 * DBL_EPSILON);
        ck_assert_double_le(v3_norm(v3_sub(entry(&f, K, 0, 0), v3_cross(a_h, J_h))), 32 * DBL_EPSILON);
        ck_assert_double_le(v3_norm(v3_sub(entry(&f, K, 1, 1), v3_cross(a_k, J_k))), 32 * DBL_EPSILON);
        free(K);
    }
}

TEST(joints_on_different_branches_have_no_second_derivative)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "root", NULL, POISE_JOINT_REVOLUTE);
    poise_joint joint = joint_of("left", "root", POISE_JOINT_BALL_EULER);
    joint.offset.position = v3(1, 0, 0);
    add(builder, &joint);
    joint = joint_of("right", "root", POISE_JOINT_BALL_EXPMAP);
    joint.offset.position = v3(-1, 0, 0);
    add(builder, &joint);
    figure f = figure_of(model_of(builder));
    scene_random random = scene_random_make(8);
    pose_randomly(&random, &f);
    poise_goal goals[2] = {poise_goal_position(1, v3(0, 1, 1), v3(3, 3, 3)),
                           poise_goal_position(2, v3(0, 1, 1), v3(-3, 3, 3))};
    poise_objective *objective;
    double H[49];
    ck_assert_int_eq(poise_objective_create(f.model, 0, NULL, &objective, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_set_goals(objective, goals, 2, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
    double *K = tensor_of(&f, 1, v3(0, 1, 1));
    for (int left = 1; left < 4; ++left) {
        for (int right = 4; right < 7; ++right) {
            vec3 k = entry(&f, K, left, right);
            ck_assert(k.x == 0 && k.y == 0 && k.z == 0);
            ck_assert_double_eq(H[left * 7 + right], 0.0);
        }
        ck_assert_double_ne(H[left * 7], 0.0);
    }
    free(K);
    poise_objective_destroy(objective);
}

// Turning a ball below a moving root does not change how the root moves the point: K is 0. But J^T J couples the two, and
// the translations' own block is (sum of weights) I.
TEST(a_root_translation_couples_with_rotations_in_the_hessian_but_not_in_the_tensor)
{
    static const poise_joint_type roots[] = {POISE_JOINT_FREE, POISE_JOINT_FREE_EULER, POISE_JOINT_FREE_EXPMAP};
    scene_random random = scene_random_make(9);
    for (size_t t = 0; t < TEST_COUNT(roots); ++t) {
        poise_builder *builder = new_builder();
        add_plain(builder, "root", NULL, roots[t]);
        figure f = figure_of(model_of(builder));
        pose_randomly(&random, &f);
        poise_vec3 points[2] = {{0.3, 0.4, 0.5}, {-0.2, 0.6, 0.1}};
        poise_goal goals[2] = {poise_goal_position(0, points[0], v3(1, 2, 3)),
                               poise_goal_position(0, points[1], v3(-1, 2, 3))};
        goals[1].weight = 2.5;
        poise_objective *objective;
        double H[36];
        ck_assert_int_eq(poise_objective_create(f.model, 0, NULL, &objective, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_set_goals(objective, goals, 2, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_evaluate(objective, f.q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
        double *K = tensor_of(&f, 0, points[0]), coupling = 0.0;
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 6; ++j) {
                vec3 k = entry(&f, K, i, j);
                ck_assert(k.x == 0 && k.y == 0 && k.z == 0);
                if (j < 3) {
                    ck_assert_double_eq_tol(H[6 * i + j], i == j ? 3.5 : 0.0, 8 * DBL_EPSILON);
                } else {
                    coupling = max2(coupling, fabs(H[6 * i + j]));
                }
            }
        }
        ck_assert_double_gt(coupling, 0.1);
        free(K);
        poise_objective_destroy(objective);
    }
}

TEST(a_mimic_adds_its_own_second_derivative_to_its_leaders)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "leader", NULL, POISE_JOINT_REVOLUTE);
    poise_joint joint = joint_of("follower", "leader", POISE_JOINT_REVOLUTE);
    joint.offset.position = v3(1, 0, 0);
    joint.mimic = "leader";
    joint.mimic_multiplier = 2.0;
    add(builder, &joint);
    figure f = figure_of(model_of(builder));
    f.q[0] = 0.3;
    update(&f);
    // x = (cos q, sin q) + (cos 3q, sin 3q), so x'' = -(cos q + 9 cos 3q, sin q + 9 sin 3q)
    double *K = tensor_of(&f, 1, v3(1, 0, 0));
    vec3 k = entry(&f, K, dof(&f, "leader"), dof(&f, "leader"));
    ck_assert_double_eq_tol(k.x, -(cos(0.3) + 9 * cos(0.9)), 64 * DBL_EPSILON);
    ck_assert_double_eq_tol(k.y, -(sin(0.3) + 9 * sin(0.9)), 64 * DBL_EPSILON);
    ck_assert_double_eq(k.z, 0.0);
    free(K);
}
