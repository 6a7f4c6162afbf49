// The parts of the arm solver: normal form, derivatives, searches.
#include <math.h>
#include <string.h>

#include "scenes/scenes.h"
#include "solve/arm_kernel.h"
#include "support/test_arms.h"
#include "support/test_main.h"

static const char *const robots[] = {"panda", "iiwa14", "ur5", "jaco2", "gen3", "pr2", "baxter"};
static const char *const scenes[] = {"arm6", "arm7", "scara", "gantry"};

static void make_boxes(const test_arm *arm, pz_box *box)
{
    for (int i = 0; i < arm->n; ++i) {
        box[i] =
            (pz_box){.lower = poise_model_info(arm->model).lower[i], .upper = poise_model_info(arm->model).upper[i], .q = i};
    }
}

static pz_arm_chain chain_of(const test_arm *arm)
{
    pz_box box[ARM_LARGEST];
    pz_arm_chain chain;
    make_boxes(arm, box);
    ck_assert(pz_arm_chain_make(arm->model, box, NULL, arm->body, &arm->tip, &chain));
    ck_assert_int_eq(chain.n, arm->n);
    return chain;
}

// The target that the configuration q meets.
static pz_arm_target target_of(const pz_arm_chain *chain, const double *q)
{
    mat3 R, back = m3_transpose(&chain->base), tail = m3_transpose(&chain->tail);
    vec3 p;
    pz_arm_chain_pose(chain, q, &R, &p);
    pz_arm_target target = {.most_r = 1e-20, .most_e = 1e-20, .W = 2.5, .cost = 0.0, .stationary = 1e-9};
    mat3 u = m3_mul(&back, &R);
    target.u = m3_mul(&u, &tail);
    target.t = v3_scale(m3_apply(&back, v3_sub(p, chain->base_at)), 1.0 / chain->unit);
    return target;
}

// ---- Normal form ---------------------------------------------------------------------------------------------------------

// Largest difference of matrices and positions over random configurations.
static double disagreement(const test_arm *arm)
{
    pz_arm_chain chain = chain_of(arm);
    scene_random random = scene_random_make(5);
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(arm->model, NULL, &kin, NULL), POISE_OK);
    double worst = 0.0;
    for (int k = 0; k < 200; ++k) {
        double q[ARM_LARGEST], B[9], b[3], L[9];
        mat3 R;
        vec3 p;
        scene_random_configuration(&random, arm->model, q);
        pz_arm_chain_pose(&chain, q, &R, &p);
        poise_kinematics_update(kin, q, NULL);
        poise_kinematics_body_frame(kin, arm->body, B, b);
        poise_quat_to_matrix(arm->tip.rotation, L);
        mat3 body = m3_from_rows(B), local = m3_from_rows(L), expected = m3_mul(&body, &local);
        vec3 at = v3_add(v3(b[0], b[1], b[2]), m3_apply(&body, arm->tip.position));
        const double *x = (const double *)&R, *y = (const double *)&expected;
        for (int i = 0; i < 9; ++i) {
            worst = fmax(worst, fabs(x[i] - y[i]));
        }
        worst = fmax(worst, v3_norm(v3_sub(at, p)));
    }
    poise_kinematics_destroy(kin);
    return worst;
}

// Each of up to 16 joints turns frames with a relative rounding of a few 2^-53 and shifts them by lengths below 1.
#define FORM_TOLERANCE 1e-14

TEST(normal_form_of_the_scenes_agrees_with_kinematics)
{
    for (size_t i = 0; i < TEST_COUNT(scenes); ++i) {
        test_arm arm = arm_of_scene(scenes[i]);
        ck_assert_msg(disagreement(&arm) < FORM_TOLERANCE, "%s: %g", scenes[i], disagreement(&arm));
    }
}

TEST(normal_form_of_robots_agrees_with_kinematics)
{
    for (size_t i = 0; i < TEST_COUNT(robots); ++i) {
        test_arm arm = arm_of_robot(robots[i]);
        ck_assert_msg(disagreement(&arm) < FORM_TOLERANCE, "%s: %g", robots[i], disagreement(&arm));
    }
}

TEST(normal_form_of_random_arms_agrees_with_kinematics)
{
    scene_random random = scene_random_make(1);
    for (int k = 0; k < 60; ++k) {
        unsigned features = (unsigned)k % 16;
        test_arm arm = arm_random(&random, 1 + k % ARM_LARGEST, features);
        ck_assert_msg(disagreement(&arm) < FORM_TOLERANCE, "arm %d: %g", k, disagreement(&arm));
    }
}

// Slides along one line, with limits to both sides that differ: the tip is farthest where each is at its farther end.
TEST(the_reach_of_slides_is_that_of_their_farther_limits)
{
    static const double limits[][2] = {{-0.2, 1.5}, {0.5, 1.0}, {-0.3, 0.4}};
    poise_builder *builder;
    test_arm arm = {.n = 3, .body = 2, .tip = poise_pose_identity()};
    char name[] = "a", parent[] = "a";
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < 3; ++i) {
        poise_joint joint = poise_joint_default();
        name[0] = (char)('a' + i), parent[0] = (char)('a' + i - 1);
        joint.name = name;
        joint.parent = i > 0 ? parent : NULL;
        joint.type = POISE_JOINT_PRISMATIC;
        joint.lower[0] = limits[i][0], joint.upper[0] = limits[i][1];
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &arm.model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    pz_arm_chain chain = chain_of(&arm);
    ck_assert_double_eq_tol(chain.reach * chain.unit, 1.5 + 1.0 + 0.4, FORM_TOLERANCE);
    poise_model_destroy(arm.model);
}

// A wrist whose axes meet in one point, which is its tip: there is no length to measure by, and lengths stay as they are.
TEST(a_wrist_without_length_has_a_normal_form)
{
    poise_builder *builder;
    test_arm arm = {.n = 3, .body = 2, .tip = poise_pose_identity()};
    char name[] = "a", parent[] = "a";
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < 3; ++i) {
        poise_joint joint = poise_joint_default();
        name[0] = (char)('a' + i), parent[0] = (char)('a' + i - 1);
        joint.name = name;
        joint.parent = i > 0 ? parent : NULL;
        joint.type = POISE_JOINT_REVOLUTE;
        joint.offset.rotation = poise_quat_from_axis_angle(poise_vec3_make(0.6, 0.8, 0), 1.0 + i);
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(builder, NULL, &arm.model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    ck_assert_double_eq(chain_of(&arm).unit, 1.0);
    ck_assert_double_lt(disagreement(&arm), FORM_TOLERANCE);
    poise_model_destroy(arm.model);
}

// Axes that are nearly, but not quite parallel: the skew is not dropped, and phi + psi stays right.
TEST(nearly_parallel_axes_keep_their_skew)
{
    static const double skews[] = {0, 1e-17, 1e-15, 3e-15, 1e-13, 1e-10, 1e-7, 1e-3};
    for (size_t k = 0; k < TEST_COUNT(skews); ++k) {
        poise_builder *builder;
        test_arm arm = {.name = "skew", .n = 2, .body = 1, .tip = {{0, 0, 0, 1}, {0.3, 0.1, 1e3}}};
        ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
        poise_joint joint = poise_joint_default();
        joint.type = POISE_JOINT_REVOLUTE;
        joint.name = "a";
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
        joint.name = "b";
        joint.parent = "a";
        poise_quat skew = poise_quat_from_axis_angle(poise_vec3_make(0.6, 0.8, 0), skews[k]);
        joint.offset.rotation = poise_quat_multiply(skew, poise_quat_from_axis_angle(poise_vec3_make(0, 0, 1), 1.0));
        joint.offset.position = poise_vec3_make(1, 0, 0);
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
        ck_assert_int_eq(poise_model_create(builder, NULL, &arm.model, NULL), POISE_OK);
        poise_builder_destroy(builder);
        // the tip is 1e3 away, which lets a skew of 1e-15 show at 1e-12; rounding of 1e3 allows a few 1e-13
        ck_assert_msg(disagreement(&arm) < 1e-12, "skew %g: %g", skews[k], disagreement(&arm));
        poise_model_destroy(arm.model);
    }
}

TEST(other_joints_have_no_normal_form)
{
    poise_model *model;
    pz_arm_chain chain;
    static pz_box box[1024];
    poise_pose local = poise_pose_identity();
    ck_assert_int_eq(scene_create("humanoid", NULL, &model, NULL), POISE_OK);
    ck_assert(!pz_arm_chain_make(model, box, NULL, poise_model_info(model).joints - 1, &local, &chain));
    poise_model_destroy(model);
    test_arm arm = arm_of_scene("arm6");
    make_boxes(&arm, box);
    box[2].locked = true;
    ck_assert(!pz_arm_chain_make(arm.model, box, NULL, arm.body, &arm.tip, &chain));
    ck_assert_int_eq(scene_create("chain-17", NULL, &model, NULL), POISE_OK);
    memset(box, 0, sizeof box);
    ck_assert(!pz_arm_chain_make(model, box, NULL, poise_model_info(model).joints - 1, &local, &chain));
    poise_model_destroy(model);
}

// ---- Restarts ------------------------------------------------------------------------------------------------------------

TEST(restarts_cover_the_limits_evenly)
{
    test_arm arm = arm_of_scene("gantry");
    pz_arm_chain chain = chain_of(&arm);
    int cells[ARM_LARGEST][10] = {{0}};
    for (int m = 1; m <= 1000; ++m) {
        double q[ARM_LARGEST];
        arm_restart(&chain, m, q);
        for (int i = 0; i < chain.n; ++i) {
            ck_assert(q[i] >= chain.lower[i] && q[i] <= chain.upper[i]);
            int cell = (int)(10.0 * (q[i] - chain.lower[i]) / (chain.upper[i] - chain.lower[i]));
            cells[i][cell > 9 ? 9 : cell] += 1;
        }
    }
    // multiples of an irrational number: each tenth gets its 100 but for the discrepancy, here a few points; 1000 random
    // ones would miss by 9.5 (the standard deviation), and some of 50 cells by more than 20
    for (int i = 0; i < chain.n; ++i) {
        for (int c = 0; c < 10; ++c) {
            ck_assert_int_ge(cells[i][c], 90);
            ck_assert_int_le(cells[i][c], 110);
        }
    }
}

// Where a limit is missing restarts lie within a turn of the other or of 0; for a slide, within the chain's length, to which
// a slide adds half its range if it has one.
TEST(restarts_keep_to_limits_of_one_side)
{
    for (int sides = 0; sides < 4; ++sides) {
        for (int slides = 0; slides < 2; ++slides) {
            test_arm arm = arm_of_scene("gantry");
            pz_arm_chain plain = chain_of(&arm), chain;
            int joint = 0;
            while ((plain.turn[joint] == 0) != (slides == 1)) {
                joint += 1;
            }
            static pz_box box[1024];
            make_boxes(&arm, box);
            double lower = 0.25, upper = 0.75, links = 0.0, others = 0.0;
            for (int i = 0; i < plain.n; ++i) {
                links +=
                    plain.unit * sqrt(plain.tx[i] * plain.tx[i] + plain.ty[i] * plain.ty[i] + plain.tz[i] * plain.tz[i]);
                others += plain.turn[i] == 0 && i != joint ? 0.5 * (plain.upper[i] - plain.lower[i]) : 0.0;
            }
            box[joint].lower = sides & 1 ? lower : -INFINITY;
            box[joint].upper = sides & 2 ? upper : INFINITY;
            ck_assert(pz_arm_chain_make(arm.model, box, NULL, arm.body, &arm.tip, &chain));
            double length = links + others + (slides && sides == 3 ? 0.25 : 0.0),
                   half = slides ? length : 3.14159265358979323846;
            double first = sides & 1 ? lower : sides & 2 ? upper - 2 * half : -half;
            ck_assert_double_eq_tol(chain.unit, 0.3 * length, 1e-12);
            ck_assert_double_eq_tol(chain.first[joint], first, 1e-12);
            ck_assert_double_eq_tol(chain.span[joint], sides == 3 ? 0.5 : 2 * half, 1e-12);
        }
    }
}

// ---- Derivatives ---------------------------------------------------------------------------------------------------------

// Central differences of the energy and of the gradient, per unit of a step. For f the error is h^2/6 f''' + eps f/h, for g
// the same one order up; with h = 1e-5, f below 100 and derivatives of the size of f, both stay below 1e-8 of it.
static void check_derivatives(const test_arm *arm, scene_random *random)
{
    pz_arm_chain chain = chain_of(arm);
    double q[ARM_LARGEST], there[ARM_LARGEST], g[ARM_LARGEST], up[ARM_LARGEST], down[ARM_LARGEST];
    double H[PZ_ARM_MOST][PZ_ARM_MOST], unused[PZ_ARM_MOST][PZ_ARM_MOST];
    scene_random_configuration(random, arm->model, q);
    scene_random_configuration(random, arm->model, there);
    pz_arm_target target = target_of(&chain, there);
    double W = target.W, h = 1e-5, f = pz_arm_derivatives(&chain, &target, W, q, g, H);
    double size = 1.0 + f;
    for (int h_joint = 0; h_joint < chain.n; ++h_joint) {
        double at = q[h_joint], step = h * chain.rate[h_joint];
        q[h_joint] = at + step;
        double above = pz_arm_derivatives(&chain, &target, W, q, up, unused);
        q[h_joint] = at - step;
        double below = pz_arm_derivatives(&chain, &target, W, q, down, unused);
        q[h_joint] = at;
        ck_assert_double_le(fabs((above - below) / (2 * h) - g[h_joint]), 2e-8 * size);
        for (int i = h_joint; i < chain.n; ++i) {
            double difference = (up[i] - down[i]) / (2 * h);
            ck_assert_msg(fabs(difference - H[i][h_joint]) < 2e-8 * size, "H[%d][%d]: %g for %g", i, h_joint, H[i][h_joint],
                          difference);
        }
    }
}

TEST(gradient_and_hessian_match_differences)
{
    scene_random random = scene_random_make(3);
    for (int k = 0; k < 40; ++k) {
        test_arm arm = arm_random(&random, 1 + k % 9, (unsigned)k % 8);
        check_derivatives(&arm, &random);
    }
}

// ---- The system of a step ------------------------------------------------------------------------------------------------

// |(K^T K + lambda I) x + K^T rho| over |K^T rho| for a random 6 x 7 matrix K of the given rank, x = K^T y from the blocks.
static double step_residual(scene_random *random, int rank, double lambda)
{
    double basis[6][6], K[7][6] = {{0}}, rho[6], x[7], left[6], residual = 0.0, size = 0.0;
    for (int i = 0; i < 6; ++i) {
        rho[i] = left[i] = scene_random_normal(random);
        for (int j = 0; j < 6; ++j) {
            basis[i][j] = scene_random_normal(random);
        }
    }
    arm_blocks b = {sym3_identity(lambda), sym3_identity(lambda), {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    for (int i = 0; i < 7; ++i) {
        for (int k = 0; k < rank; ++k) {
            double c = scene_random_normal(random);
            for (int j = 0; j < 6; ++j) {
                K[i][j] += c * basis[k][j];
            }
        }
        vec3 J = v3(K[i][0], K[i][1], K[i][2]), a = v3(K[i][3], K[i][4], K[i][5]);
        b.P = sym3_add(b.P, sym3_outer(1.0, a));
        b.Q = sym3_add(b.Q, sym3_outer(1.0, J));
        b.X = (mat3){v3_mad(b.X.x, J.x, a), v3_mad(b.X.y, J.y, a), v3_mad(b.X.z, J.z, a)};
    }
    vec3 y, z;
    arm_solve_blocks(&b, ARM_ALONE, v3(-rho[0], -rho[1], -rho[2]), v3(-rho[3], -rho[4], -rho[5]), &y, &z);
    for (int i = 0; i < 7; ++i) {
        x[i] = K[i][0] * y.x + K[i][1] * y.y + K[i][2] * y.z + K[i][3] * z.x + K[i][4] * z.y + K[i][5] * z.z;
        for (int j = 0; j < 6; ++j) {
            left[j] += K[i][j] * x[i];
        }
    }
    for (int i = 0; i < 7; ++i) {
        double row = lambda * x[i], slope = 0.0;
        for (int j = 0; j < 6; ++j) {
            row += K[i][j] * left[j];
            slope += K[i][j] * rho[j];
        }
        residual += row * row;
        size += slope * slope;
    }
    return sqrt(residual / size);
}

// y is up to |rho|/lambda long, so rounding leaves PZ_EPSILON/lambda |K|^2 |rho|, with |K|^2 of a few hundred: 1e-4 |rho|
// for lambda 1e-9. K^T rho may happen to be a hundredth of |K| |rho|.
TEST(steps_are_right_for_singular_systems_too)
{
    scene_random random = scene_random_make(8);
    for (int rank = 1; rank <= 6; ++rank) {
        for (double lambda = 1e-9; lambda < 1.0; lambda *= 10.0) {
            for (int k = 0; k < 1000; ++k) {
                double residual = step_residual(&random, rank, lambda);
                ck_assert_msg(residual < 0.1, "rank %d, lambda %g: %g", rank, lambda, residual);
            }
        }
    }
}

// (K^T w K + lambda I) x = -K^T w rho, row by row, for the step x that the first iteration of a search takes; K of a joint
// is J over a, w = diag(1, kappa). Elimination leaves a residual of a few roundings of |K|^2 |x|; both are below 100 here.
static void check_first_step(const pz_arm_chain *chain, const pz_arm_target *target, const double *q)
{
    arm_frames frames;
    arm_column columns[ARM_LARGEST];
    arm_error error = arm_evaluate(chain, chain->n, true, q, target, &frames);
    double lambda = arm_damping(arm_energy(&error));
    double kappa = sqrt(fmax(1.0 - 0.5 * error.e, ARM_KAPPA_LEAST)), x[ARM_LARGEST];
    pz_arm_run run;
    memset(&run, 0, sizeof run);
    arm_open(chain, chain->n, q, &run);
    arm_begin(chain, chain->n, q, &run);
    for (int i = 0; i < chain->n; ++i) { // so that no limit cuts the step
        run.lower[i] = -1e6, run.upper[i] = 1e6;
        columns[i] = arm_column_of(chain, true, &frames, i);
    }
    ck_assert(!pz_arm_search(chain, target, 1, &run));
    for (int i = 0; i < chain->n; ++i) {
        x[i] = (run.q[i] - q[i]) / chain->rate[i];
    }
    for (int i = 0; i < chain->n; ++i) {
        double row = lambda * x[i] + arm_slope(&columns[i], 1.0, &error);
        for (int j = 0; j < chain->n; ++j) {
            row += (v3_dot(columns[i].J, columns[j].J) + kappa * v3_dot(columns[i].a, columns[j].a)) * x[j];
        }
        ck_assert_msg(fabs(row) < 1e-10, "%d joints, row %d: %g", chain->n, i, row);
    }
}

TEST(the_first_step_of_a_search_solves_its_damped_system)
{
    scene_random random = scene_random_make(9);
    for (int k = 0; k < 180; ++k) {
        test_arm arm = arm_random(&random, 1 + k % 9, (unsigned)k % 8);
        pz_arm_chain chain = chain_of(&arm);
        double q[ARM_LARGEST], there[ARM_LARGEST];
        scene_random_configuration(&random, arm.model, q);
        scene_random_configuration(&random, arm.model, there);
        pz_arm_target target = target_of(&chain, there);
        check_first_step(&chain, &target, q);
    }
}

// The energy beyond the bands after `most` iterations from q, |rho|^2/2, and the slope where the last of them began.
static double banded_energy(const pz_arm_chain *chain, const pz_arm_target *target, const double *q, int most, double *slope)
{
    pz_arm_run run;
    memset(&run, 0, sizeof run);
    arm_open(chain, chain->n, q, &run);
    arm_begin(chain, chain->n, q, &run);
    memset(run.side, 0, sizeof run.side);
    ck_assert(!pz_arm_search_banded(chain, target, most, &run));
    ck_assert_double_eq_tol(run.f, 0.5 * run.r + run.e, 1e-14 * run.f); // its parts, which the answer is judged by
    *slope = run.slope;
    return run.f;
}

// The largest component of the gradient, which a search notes at its start, against central differences with the error of
// gradient_and_hessian_match_differences; a difference across the edge of a band is off by at most h f''/2, f'' below 20.
TEST(the_slope_of_a_search_with_bands_matches_differences)
{
    scene_random random = scene_random_make(10);
    for (int k = 0; k < 120; ++k) {
        test_arm arm = arm_random(&random, 1 + k % 7, (unsigned)k % 8);
        pz_arm_chain chain = chain_of(&arm);
        double q[ARM_LARGEST], there[ARM_LARGEST], h = 1e-5, largest = 0.0, slope, unused;
        scene_random_configuration(&random, arm.model, q);
        scene_random_configuration(&random, arm.model, there);
        pz_arm_target target = target_of(&chain, there);
        target.u = m3_mul(&target.u, &chain.tail); // with a band the tail is not undone
        target.has_band = true;
        target.turn = quat_from_matrix(&target.u);
        target.tolerance = k % 2 ? v3(0, 0, 0) : v3(0.01, 0, 0.3);
        target.rotation_tolerance = k % 3 ? v3(0, 0, 0) : v3(0.4, 0.1, 0);
        target.most_r = target.most_e = 0.0, target.cost = -1.0;
        banded_energy(&chain, &target, q, 1, &slope);
        for (int i = 0; i < chain.n; ++i) {
            double at = q[i], step = h * chain.rate[i];
            q[i] = at + step;
            double above = banded_energy(&chain, &target, q, 0, &unused);
            q[i] = at - step;
            double below = banded_energy(&chain, &target, q, 0, &unused);
            q[i] = at;
            largest = fmax(largest, fabs(above - below) / (2 * h));
        }
        ck_assert_msg(fabs(slope - largest) < 1e-4, "arm %d: %g for %g", k, slope, largest);
    }
}

// ---- Searches ------------------------------------------------------------------------------------------------------------

TEST(wide_registers_give_the_same_bits)
{
    scene_random random = scene_random_make(4);
    for (int k = 0; k < 300; ++k) {
        test_arm arm = arm_random(&random, 6 + k % 5, k % 2 ? ARM_CONTINUOUS : ARM_RIGHT_ANGLES);
        pz_arm_chain chain = chain_of(&arm);
        if (!chain.is_wide) {
            return;
        }
        double q[ARM_LARGEST], there[ARM_LARGEST];
        scene_random_configuration(&random, arm.model, q);
        scene_random_configuration(&random, arm.model, there);
        pz_arm_target target = target_of(&chain, there);
        pz_arm_run wide, narrow;
        memset(&wide, 0, sizeof wide);
        arm_open(&chain, chain.n, q, &wide);
        arm_begin(&chain, chain.n, q, &wide);
        narrow = wide;
        bool met = pz_arm_search(&chain, &target, 30, &wide);
        chain.is_wide = false;
        ck_assert_int_eq(met, pz_arm_search(&chain, &target, 30, &narrow));
        ck_assert_mem_eq(wide.q, narrow.q, (size_t)chain.n * sizeof(double));
        ck_assert_mem_eq(&wide.f, &narrow.f, sizeof wide.f);
        ck_assert_mem_eq(wide.g, narrow.g, (size_t)chain.n * sizeof(double));
        ck_assert_int_eq(wide.iterations, narrow.iterations);
    }
}

TEST(searches_from_nearby_meet_the_target)
{
    scene_random random = scene_random_make(6);
    int met = 0, count = 400;
    for (int k = 0; k < count; ++k) {
        test_arm arm = arm_random(&random, 2 + k % 10, ARM_SLIDES | ARM_CONTINUOUS);
        pz_arm_chain chain = chain_of(&arm);
        double q[ARM_LARGEST], there[ARM_LARGEST];
        scene_random_configuration(&random, arm.model, there);
        for (int i = 0; i < arm.n; ++i) {
            q[i] = there[i] + 0.02 * chain.rate[i] * (scene_random_uniform(&random) - 0.5);
            q[i] = clamp(q[i], chain.lower[i], chain.upper[i]);
        }
        pz_arm_target target = target_of(&chain, there);
        pz_arm_run run;
        memset(&run, 0, sizeof run);
        arm_open(&chain, chain.n, q, &run);
        arm_begin(&chain, chain.n, q, &run);
        met += pz_arm_search(&chain, &target, 30, &run);
        for (int i = 0; i < arm.n; ++i) {
            ck_assert(run.q[i] >= chain.lower[i] && run.q[i] <= chain.upper[i]);
        }
    }
    ck_assert_int_ge(met, count - 4); // a start near a singular pose may be dropped
}

// From anywhere the descent ends where it says: at a zero, or where the gradient vanishes but for joints at limits.
TEST(descent_ends_at_stationary_points)
{
    scene_random random = scene_random_make(7);
    for (int k = 0; k < 200; ++k) {
        test_arm arm = arm_random(&random, 3 + k % 6, k % 2 ? ARM_SLIDES : ARM_CONTINUOUS);
        pz_arm_chain chain = chain_of(&arm);
        double q[ARM_LARGEST], there[ARM_LARGEST], g[ARM_LARGEST], H[PZ_ARM_MOST][PZ_ARM_MOST];
        scene_random_configuration(&random, arm.model, q);
        scene_random_configuration(&random, arm.model, there);
        pz_arm_target target = target_of(&chain, there);
        target.t = v3_scale(target.t, 2.0);
        pz_arm_run run;
        memset(&run, 0, sizeof run);
        arm_open(&chain, chain.n, q, &run);
        arm_begin(&chain, chain.n, q, &run);
        double before = pz_arm_derivatives(&chain, &target, target.W, run.q, g, H);
        pz_arm_end end = pz_arm_finish(&chain, &target, false, 1000, &run);
        double after = pz_arm_derivatives(&chain, &target, target.W, run.q, g, H);
        ck_assert(end == PZ_ARM_MET || end == PZ_ARM_CLOSEST);
        ck_assert_double_le(after, before);
        for (int i = 0; i < arm.n && end == PZ_ARM_CLOSEST; ++i) {
            bool held = (run.q[i] <= chain.lower[i] && g[i] > 0) || (run.q[i] >= chain.upper[i] && g[i] < 0);
            // gradient_tolerance 1e-9 times sqrt(2 f) times the length of a column, which is below 20
            ck_assert(held || fabs(g[i]) <= 1e-9 * sqrt(2 * after) * 20);
        }
    }
}

// Beside a weight of 1e40 the damping is lost: three rows of position and seven joints leave pivots that are only rounding.
// What is left of a factorisation that failed is of the size of the gradient, and no step.
TEST(a_descent_that_finds_no_step_traces_none)
{
    scene_random random = scene_random_make(11);
    test_arm arm = arm_of_scene("arm7");
    poise_trace trace[100];
    poise_solver_options options = poise_solver_options_default();
    options.restarts = 0;
    options.start = POISE_START_WARM;
    options.trace = trace;
    options.trace_capacity = 100;
    options.max_iterations = 50;
    poise_solver *solver = arm_solver(&arm, &options);
    int without = 0;
    for (int k = 0; k < 20; ++k) {
        double q[ARM_LARGEST], there[ARM_LARGEST];
        poise_report report;
        scene_random_configuration(&random, arm.model, q);
        scene_random_configuration(&random, arm.model, there);
        poise_goal goal = arm_goal(&arm, there);
        goal.target.position = v3_scale(goal.target.position, 5.0);
        goal.weight = 1e40;
        ck_assert_int_eq(poise_solve(solver, &goal, 1, q, &report, NULL), POISE_OK);
        for (int i = 0; i < report.traced; ++i) {
            ck_assert_double_le(trace[i].step, 1e20);
            without += trace[i].step == 0;
        }
    }
    ck_assert_int_gt(without, 0);
}

// ---- Table ---------------------------------------------------------------------------------------------------------------

// The entry that the target itself was made from is handed out first, turned so that it meets the target.
TEST(table_hands_out_the_nearest_entry_turned_to_the_target)
{
    test_arm arm = arm_of_scene("arm7");
    pz_arm_chain chain = chain_of(&arm);
    static pz_arm_table table;
    ck_assert(pz_arm_table_make(&chain, &table));
    for (int entry = 0; entry < PZ_ARM_TABLE; ++entry) {
        double there[ARM_LARGEST], q[ARM_LARGEST];
        memcpy(there, table.q[entry], sizeof table.q[entry]);
        there[0] = 0.7, there[6] = -1.1;
        pz_arm_target target = target_of(&chain, there);
        pz_arm_table_aim(&chain, &target, &table);
        pz_arm_table_next(&chain, &target, &table, q);
        for (int i = 0; i < arm.n; ++i) {
            ck_assert_double_eq_tol(q[i], there[i], 1e-9); // the azimuth of a point 0.01 from the axis loses two digits
        }
    }
    arm = arm_of_scene("gantry");
    chain = chain_of(&arm);
    ck_assert(!pz_arm_table_make(&chain, &table));
}
