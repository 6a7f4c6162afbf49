// The scenes: they build, they are what they say they are, and their markers, postures and random numbers hold up.
#include "model/model.h"
#include "scenes/android.h"
#include "scenes/random.h"
#include "scenes/robot_arms.h"
#include "scenes/scenes.h"
#include "support/test_main.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static poise_model *make(const char *scene)
{
    poise_model *model = NULL;
    poise_error error;
    poise_status status = scene_create(scene, NULL, &model, &error);
    ck_assert_msg(status == POISE_OK, "%s: %s", scene, status == POISE_OK ? "" : error.text);
    return model;
}

// Kinematics of a model at q; NULL: at the neutral configuration.
static poise_kinematics *pose(const poise_model *model, const double *q)
{
    poise_kinematics *kinematics = NULL;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kinematics, NULL), POISE_OK);
    if (q) {
        ck_assert_int_eq(poise_kinematics_update(kinematics, q, NULL), POISE_OK);
    }
    return kinematics;
}

static double distance(poise_vec3 a, poise_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static poise_vec3 tool_position(const poise_model *model, const poise_kinematics *kinematics, const char *tool)
{
    int index = poise_model_find_tool(model, tool);
    ck_assert_msg(index != POISE_WORLD, "no tool %s", tool);
    return poise_kinematics_tool_pose(kinematics, index).position;
}

// ---- table ---------------------------------------------------------------------------------------------------------------

TEST(every_scene_of_the_table_builds_and_contains_its_neutral_configuration)
{
    ck_assert_int_ge(scene_count(), 20);
    for (int i = 0; i < scene_count(); ++i) {
        ck_assert_ptr_nonnull(scene_description(i));
        poise_model *model = make(scene_name(i));
        double *q = calloc((size_t)poise_model_info(model).nq, sizeof *q);
        poise_model_neutral(model, q);
        ck_assert_msg(poise_model_within_limits(model, q), "%s", scene_name(i));
        poise_kinematics_destroy(pose(model, q));
        free(q);
        poise_model_destroy(model);
    }
    ck_assert_ptr_null(scene_name(-1));
    ck_assert_ptr_null(scene_name(scene_count()));
    ck_assert_ptr_null(scene_description(scene_count()));
}

// Sums of the lengths in the makers' drawings; right angles there have eleven digits.
TEST(the_tips_of_the_robots_are_where_their_drawings_have_them)
{
    static const struct {
        const char *arm;
        double tip[3]; // with every joint at 0
    } at_rest[] = {{"panda", {0.088, 0, 0.333 + 0.316 + 0.384 - 0.107}},
                   {"iiwa14", {0, 0, 0.36 + 0.42 + 0.4 + 0.126}},
                   {"ur5", {0.425 + 0.39225, 0.10915 + 0.0823, 0.089159 - 0.09465}},
                   {"pr2", {0.1 + 0.4 + 0.321, -0.188, 0}}};
    for (int i = 0; i < ROBOT_ARMS; ++i) {
        const robot_arm *arm = robot_arm_at(i);
        poise_model *model = NULL;
        ck_assert_int_eq(robot_arm_create(arm, NULL, &model, NULL), POISE_OK);
        ck_assert_ptr_eq(robot_arm_find(arm->name), arm);
        ck_assert_int_eq(poise_model_info(model).nq, arm->count);
        double q[ROBOT_ARMS_LARGEST] = {0};
        poise_kinematics *kinematics = pose(model, q);
        poise_pose last = poise_kinematics_body_pose(kinematics, arm->count - 1);
        poise_vec3 tip = poise_pose_multiply(last, robot_arm_pose(&arm->tip)).position;
        for (size_t k = 0; k < TEST_COUNT(at_rest); ++k) {
            const double *p = at_rest[k].tip;
            if (strcmp(at_rest[k].arm, arm->name) == 0) {
                ck_assert_msg(distance(tip, (poise_vec3){p[0], p[1], p[2]}) < 1e-10, "%s: %g %g %g", arm->name, tip.x, tip.y,
                              tip.z);
            }
        }
        poise_kinematics_destroy(kinematics);
        poise_model_destroy(model);
    }
    ck_assert_ptr_null(robot_arm_at(-1));
    ck_assert_ptr_null(robot_arm_at(ROBOT_ARMS));
    ck_assert_ptr_null(robot_arm_find("arm6"));
}

TEST(scenes_have_the_sizes_that_their_descriptions_name)
{
    static const struct {
        const char *scene;
        int joints, nq, nv;
    } sizes[] = {
        {"arm2d", 5, 5, 5},
        {"tree2d", 11, 11, 11},
        {"twolink", 2, 2, 2},
        {"arm6", 6, 6, 6},
        {"arm7", 7, 7, 7},
        {"scara", 4, 4, 4},
        {"gantry", 5, 5, 5},
        {"android", 31, 30, 30},
        {"hand", 16, 17, 17},
        {"lamp", 6, 6, 6},
        {"erik-a", 3, 3, 3},
        {"erik-b", 4, 4, 4},
        {"erik-c", 5, 5, 5},
        {"erik-d", 5, 5, 5},
        {"erik-e", 5, 5, 5},
        {"erik-f", 6, 6, 6},
        {"erik-g", 8, 8, 8},
        {"erik-c-dh", 6, 5, 5},
        {"humanoid", 29, 58, 58},
        {"humanoid-euler", 29, 58, 58},
        {"humanoid-quaternion", 29, 67, 58},
        {"tree-62", 62, 62, 62},
        {"chain-62", 62, 62, 62},
    };
    ck_assert_int_eq((int)TEST_COUNT(sizes), scene_count());
    for (size_t i = 0; i < TEST_COUNT(sizes); ++i) {
        ck_assert_str_eq(sizes[i].scene, scene_name((int)i));
        poise_model *model = make(sizes[i].scene);
        ck_assert_int_eq(poise_model_info(model).joints, sizes[i].joints);
        ck_assert_int_eq(poise_model_info(model).nq, sizes[i].nq);
        ck_assert_int_eq(poise_model_info(model).nv, sizes[i].nv);
        poise_model_destroy(model);
    }
}

TEST(unknown_names_are_not_found_and_leave_the_model_alone)
{
    static const char *const names[] = {"",       "arm",       "humanoid-",        "tree-",    "tree-0",
                                        "tree-x", "chain-01",  "tree-1000001",     "chain--3", "tree-62 ",
                                        "TREE-6", "chain-1e3", "tree-99999999999", "erik-h",   "erik-"};
    for (size_t i = 0; i < TEST_COUNT(names); ++i) {
        poise_model *model = NULL;
        poise_error error = {0};
        ck_assert_int_eq(scene_create(names[i], NULL, &model, &error), POISE_ERROR_NOT_FOUND);
        ck_assert_ptr_null(model);
        ck_assert_int_eq(error.status, POISE_ERROR_NOT_FOUND);
        ck_assert_uint_gt(strlen(error.text), 0);
        ck_assert_int_eq(scene_marker_count(names[i]), 0);
        ck_assert_int_eq(scene_posture_count(names[i]), 0);
    }
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create(NULL, NULL, &model, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(scene_create("lamp", NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
}

// An allocator that fails its n-th request and counts what is held.
typedef struct meter {
    int requests, fail_at, held;
} meter;

static void *meter_allocate(void *user, size_t size)
{
    meter *m = user;
    if (++m->requests == m->fail_at) {
        return NULL;
    }
    m->held += 1;
    return malloc(size);
}

static void meter_release(void *user, void *memory)
{
    ((meter *)user)->held -= 1;
    free(memory);
}

TEST(a_scene_that_runs_out_of_memory_says_so_and_leaks_nothing)
{
    bool built = false;
    for (int n = 1; !built; ++n) {
        meter m = {.fail_at = n};
        poise_allocator allocator = {meter_allocate, meter_release, &m};
        poise_model *model = NULL;
        poise_status status = scene_create("humanoid", &allocator, &model, NULL);
        built = status == POISE_OK;
        ck_assert(built || status == POISE_ERROR_MEMORY);
        ck_assert(built == (m.requests < n)); // every request up to the last was refused once
        poise_model_destroy(model);
        ck_assert_int_eq(m.held, 0);
    }
}

// ---- skeletons -----------------------------------------------------------------------------------------------------------

TEST(planar_scenes_turn_about_z_only_and_reach_as_far_as_their_links)
{
    static const struct {
        const char *scene;
        double reach;
    } arms[] = {{"arm2d", 5}, {"twolink", 2}};
    for (size_t i = 0; i < TEST_COUNT(arms); ++i) {
        poise_model *model = make(arms[i].scene);
        double q[5] = {0.3, -0.7, 1.1, 0.2, -2.0};
        poise_kinematics *kinematics = pose(model, NULL);
        poise_vec3 straight = {arms[i].reach, 0, 0};
        ck_assert_double_eq(distance(tool_position(model, kinematics, "tip"), straight), 0);
        ck_assert_int_eq(poise_kinematics_update(kinematics, q, NULL), POISE_OK);

        // p = sum of R(Theta_i) u_i, Theta_i the sum of the angles so far; five terms of rounding below 1e-15 each
        double x = 0, y = 0, angle = 0;
        for (int k = 0; k < poise_model_info(model).nq; ++k) {
            angle += q[k];
            x += cos(angle);
            y += sin(angle);
        }
        ck_assert_double_le(distance(tool_position(model, kinematics, "tip"), (poise_vec3){x, y, 0}), 1e-14);
        poise_kinematics_destroy(kinematics);
        poise_model_destroy(model);
    }
}

TEST(robot_tools_point_where_their_descriptions_say)
{
    static const struct {
        const char *scene;
        poise_vec3 tip, z;
    } robots[] = {
        {"arm6", {0.66, 0, 0.81}, {1, 0, 0}},
        {"arm7", {0, 0, 1.23}, {0, 0, 1}},
        {"scara", {0.6, 0, 0.29}, {0, 0, -1}},
        {"gantry", {0, 0, 0.87}, {0, 0, -1}},
    };
    for (size_t i = 0; i < TEST_COUNT(robots); ++i) {
        poise_model *model = make(robots[i].scene);
        poise_kinematics *kinematics = pose(model, NULL);
        poise_pose tip = poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "tip"));
        ck_assert_double_le(distance(tip.position, robots[i].tip), 1e-14); // sums of a few lengths below 2
        ck_assert_double_le(distance(poise_quat_rotate(tip.rotation, (poise_vec3){0, 0, 1}), robots[i].z), 1e-14);
        poise_kinematics_destroy(kinematics);
        poise_model_destroy(model);
    }
}

TEST(erik_skeletons_stand_straight_at_rest_and_keep_the_ranges_of_the_paper)
{
    static const struct {
        const char *scene, *axes;
        double range, height;
    } rows[] = {
        {"erik-a", "yxy", PI / 2, 0.8},      {"erik-b", "yxzy", PI, 0.82},      {"erik-c", "yxxzy", PI / 2, 1.1},
        {"erik-d", "yxzxy", PI, 1.05},       {"erik-e", "yxzxy", PI / 2, 1.05}, {"erik-f", "yxxzxy", PI / 2, 1.1},
        {"erik-g", "yxzxyxzy", PI / 2, 1.1},
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_model *model = make(rows[i].scene);
        poise_kinematics *kinematics = pose(model, NULL);
        ck_assert_double_le(distance(tool_position(model, kinematics, "tip"), (poise_vec3){0, rows[i].height, 0}), 1e-14);
        for (int j = 0; j < poise_model_info(model).nq; ++j) {
            poise_joint joint = *poise_model_joint_info(model, j).given;
            ck_assert_double_eq(poise_model_info(model).lower[j], -rows[i].range);
            ck_assert_double_eq(poise_model_info(model).upper[j], rows[i].range);
            poise_vec3 axis = {rows[i].axes[j] == 'x', rows[i].axes[j] == 'y', rows[i].axes[j] == 'z'};
            ck_assert_double_eq(distance(joint.axis, axis), 0);
        }
        poise_kinematics_destroy(kinematics);
        poise_model_destroy(model);
    }
}

// The two forms of skeleton C: q_dh = (q1, q2, q3, -q4, q5), and the end's frame apart by the base's rotation.
TEST(the_denavit_hartenberg_form_of_skeleton_c_is_skeleton_c)
{
    poise_model *plain = make("erik-c"), *table = make("erik-c-dh");
    poise_kinematics *a = pose(plain, NULL), *b = pose(table, NULL);
    poise_quat base = poise_kinematics_body_pose(b, poise_model_find_body(table, "base")).rotation;
    scene_random random = scene_random_make(3);
    for (int trial = 0; trial < 200; ++trial) {
        double q[5], q_dh[5];
        scene_random_configuration(&random, plain, q);
        memcpy(q_dh, q, sizeof q);
        q_dh[3] = -q[3];
        poise_kinematics_update(a, q, NULL);
        poise_kinematics_update(b, q_dh, NULL);
        poise_pose tip = poise_kinematics_tool_pose(a, poise_model_find_tool(plain, "tip"));
        poise_pose tip_dh = poise_kinematics_tool_pose(b, poise_model_find_tool(table, "ctip"));

        // a dozen products of rotations with entries rounded to 1e-16, lengths about 1
        ck_assert_double_le(distance(tip.position, tip_dh.position), 1e-14);
        poise_quat turned = poise_quat_multiply(tip.rotation, base);
        poise_quat apart = poise_quat_multiply(poise_quat_conjugate(turned), tip_dh.rotation);
        ck_assert_double_le(poise_quat_angle(apart), 1e-14);
    }
    poise_kinematics_destroy(a);
    poise_kinematics_destroy(b);
    poise_model_destroy(plain);
    poise_model_destroy(table);
}

TEST(fingers_of_the_hand_close_towards_the_palm_and_their_last_joints_follow)
{
    static const char *const fingers[] = {"thumb", "index", "middle", "ring", "little"};
    poise_model *model = make("hand");
    poise_kinematics *open = pose(model, NULL);
    for (size_t i = 0; i < TEST_COUNT(fingers); ++i) {
        char middle[32], last[32];
        snprintf(middle, sizeof middle, "%s_middle", fingers[i]);
        snprintf(last, sizeof last, "%s_last", fingers[i]);
        int m = poise_model_find_joint(model, middle), l = poise_model_find_joint(model, last);
        ck_assert_int_eq(poise_model_joint_info(model, l).mimic, m);

        double q[17] = {0};
        q[poise_model_joint_info(model, m).q] = 0.9;
        poise_kinematics *bent = pose(model, q);
        poise_vec3 from = tool_position(model, open, fingers[i]), to = tool_position(model, bent, fingers[i]);
        ck_assert_double_gt(to.x, from.x + 0.015); // the palm looks along +x

        // the last bone has turned by the middle joint's angle and its own share
        poise_quat turn = poise_quat_multiply(poise_quat_conjugate(poise_kinematics_body_pose(open, l).rotation),
                                              poise_kinematics_body_pose(bent, l).rotation);
        double follow = strcmp(fingers[i], "thumb") == 0 ? 1.0 : 0.67;
        ck_assert_double_eq_tol(poise_quat_angle(turn), 0.9 * (1 + follow), 1e-14);
        poise_kinematics_destroy(bent);
    }
    poise_kinematics_destroy(open);
    poise_model_destroy(model);
}

TEST(trees_and_chains_have_the_size_of_their_name_and_markers_at_their_leaves)
{
    static const struct {
        const char *scene;
        int size, depth;
    } rows[] = {{"tree-1", 1, 1},        {"tree-7", 7, 7},  {"tree-62", 62, 21},    {"tree-200", 200, 31},
                {"tree-2000", 2000, 50}, {"chain-1", 1, 1}, {"chain-100", 100, 100}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_model *model = make(rows[i].scene);
        ck_assert_int_eq(poise_model_info(model).nv, rows[i].size);
        int depth = 0, leaves = 0;
        for (int j = 0; j < rows[i].size; ++j) {
            int length = pz_model_path(model, j, NULL, 0);
            depth = length > depth ? length : depth;
            leaves += poise_model_joint_info(model, j).subtree == 1;
            char name[16];
            snprintf(name, sizeof name, "j%d", j);
            ck_assert_str_eq(poise_model_joint_info(model, j).name, name); // the numbering is depth-first
        }
        ck_assert_int_eq(depth, rows[i].depth);

        scene_marker markers[512];
        int count = scene_markers(rows[i].scene, markers, 512);
        ck_assert_int_eq(count, leaves);
        for (int m = 0; m < count; ++m) {
            ck_assert_int_eq(poise_model_joint_info(model, markers[m].body).subtree, 1);
            ck_assert(m == 0 || markers[m].body > markers[m - 1].body);
        }
        poise_model_destroy(model);
    }
}

// ---- humanoid ------------------------------------------------------------------------------------------------------------

static const char *const humanoids[] = {"humanoid", "humanoid-euler", "humanoid-quaternion"};

TEST(humanoids_stand_in_a_t_on_the_floor)
{
    for (size_t i = 0; i < TEST_COUNT(humanoids); ++i) {
        poise_model *model = make(humanoids[i]);
        poise_kinematics *kinematics = pose(model, NULL);
        ck_assert_double_eq_tol(tool_position(model, kinematics, "crown").y, 1.75, 1e-14);
        ck_assert_double_eq_tol(tool_position(model, kinematics, "left_sole").y, 0, 1e-14);
        poise_vec3 left = tool_position(model, kinematics, "left_palm"),
                   right = tool_position(model, kinematics, "right_palm");
        ck_assert_double_eq_tol(left.y, 1.385, 1e-14); // both arms level, left along +x
        ck_assert_double_eq_tol(right.y, left.y, 1e-14);
        ck_assert_double_gt(left.x, 0.75);
        ck_assert_double_gt(tool_position(model, kinematics, "eyes").z, 0.08);

        poise_vec3 center;
        double mass = poise_kinematics_mass_center(kinematics, &center, NULL);
        ck_assert_double_eq_tol(mass, 75, 1e-12);
        ck_assert_double_eq_tol(center.x, 0, 1e-15); // mirror images cancel
        ck_assert(center.y > 0.9 && center.y < 1.1); // near 0.55 of the height with raised arms
        poise_kinematics_destroy(kinematics);
        poise_model_destroy(model);
    }
}

TEST(the_humanoids_use_the_joint_types_they_are_named_after)
{
    static const poise_joint_type root[] = {POISE_JOINT_FREE_EXPMAP, POISE_JOINT_FREE_EULER, POISE_JOINT_FREE};
    static const poise_joint_type hip[] = {POISE_JOINT_SWING_TWIST, POISE_JOINT_BALL_EULER, POISE_JOINT_BALL_QUATERNION};
    for (size_t i = 0; i < TEST_COUNT(humanoids); ++i) {
        poise_model *model = make(humanoids[i]);
        ck_assert_int_eq(poise_model_joint_info(model, 0).type, root[i]);
        ck_assert_int_eq(poise_model_joint_info(model, poise_model_find_joint(model, "left_hip")).type, hip[i]);
        ck_assert_int_eq(poise_model_joint_info(model, poise_model_find_joint(model, "right_knee")).type,
                         POISE_JOINT_REVOLUTE);
        for (int j = 1; j < poise_model_info(model).joints; ++j) { // all but the root and quaternions have limits
            int at = poise_model_joint_info(model, j).q, count = poise_model_joint_info(model, j).nq;
            poise_joint joint = *poise_model_joint_info(model, j).given;
            for (int c = 0; c < count && joint.type != POISE_JOINT_BALL_QUATERNION; ++c) {
                bool ellipse = c < 2 && isfinite(joint.swing[c]);
                ck_assert(ellipse || (isfinite(poise_model_info(model).lower[at + c]) &&
                                      isfinite(poise_model_info(model).upper[at + c])));
            }
        }
        poise_model_destroy(model);
    }
}

TEST(the_41_markers_sit_on_the_body_and_mirror_each_other)
{
    poise_model *model = make("humanoid");
    poise_kinematics *kinematics = pose(model, NULL);
    scene_marker markers[41];
    for (size_t i = 0; i < TEST_COUNT(humanoids); ++i) {
        ck_assert_int_eq(scene_marker_count(humanoids[i]), 41);
    }
    ck_assert_int_eq(scene_markers("humanoid", markers, 41), 41);
    for (int i = 0; i < 41; ++i) {
        for (int k = 0; k < i; ++k) {
            ck_assert_str_ne(markers[i].name, markers[k].name);
        }
        const char *body = poise_model_joint_info(model, markers[i].body).body;
        ck_assert_int_eq(strncmp(markers[i].name, "left_", 5) == 0, strncmp(body, "left_", 5) == 0);
        ck_assert_int_eq(strncmp(markers[i].name, "right_", 6) == 0, strncmp(body, "right_", 6) == 0);

        // some marker lies at the mirror image of this one: itself in the middle of the body
        poise_vec3 p = poise_kinematics_point(kinematics, markers[i].body, markers[i].local), image = {-p.x, p.y, p.z};
        double nearest = INFINITY;
        for (int k = 0; k < 41; ++k) {
            nearest = fmin(nearest, distance(image, poise_kinematics_point(kinematics, markers[k].body, markers[k].local)));
        }
        ck_assert_double_le(nearest, 1e-14);
        ck_assert(p.y > 0 && p.y < 1.75 && fabs(p.z) < 0.25);
    }
    scene_marker few[4] = {{.body = -7}, {.body = -7}, {.body = -7}, {.body = -7}};
    ck_assert_int_eq(scene_markers("humanoid", few, 3), 41);
    ck_assert_int_eq(few[3].body, -7);
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
}

enum { DOFS = 58 };

// The smallest pivot of the Cholesky factorisation of A (DOFS x DOFS), which is spoilt; 0 when there is none.
static double smallest_pivot(double *A)
{
    double smallest = INFINITY;
    for (int k = 0; k < DOFS; ++k) {
        double pivot = A[k * DOFS + k];
        smallest = fmin(smallest, pivot);
        if (!(pivot > 0)) {
            return 0;
        }
        for (int i = k + 1; i < DOFS; ++i) {
            double factor = A[i * DOFS + k] / pivot;
            for (int j = k + 1; j < DOFS; ++j) {
                A[i * DOFS + j] -= factor * A[k * DOFS + j];
            }
        }
    }
    return smallest;
}

// J^T J of all markers is positive definite: no small motion leaves every marker in place. Its smallest pivot is the square
// of how far the markers see the least visible joint, in metres per radian, when the joints before it are free:
// centimetres.
TEST(the_markers_determine_every_joint)
{
    static double A[DOFS * DOFS];
    scene_marker markers[41];
    scene_markers("humanoid", markers, 41);
    for (size_t h = 0; h < TEST_COUNT(humanoids); ++h) {
        poise_model *model = make(humanoids[h]);
        double q[67], J[3 * DOFS];
        ck_assert_int_eq(scene_motion_pose(model, "walk", 0.2, q), POISE_OK);
        poise_kinematics *kinematics = pose(model, q);
        memset(A, 0, sizeof A);
        for (int m = 0; m < 41; ++m) {
            poise_kinematics_jacobian(kinematics, markers[m].body, markers[m].local, J, NULL, NULL);
            for (int i = 0; i < DOFS; ++i) {
                for (int j = 0; j < DOFS; ++j) {
                    A[i * DOFS + j] += J[i] * J[j] + J[DOFS + i] * J[DOFS + j] + J[2 * DOFS + i] * J[2 * DOFS + j];
                }
            }
        }
        ck_assert_double_gt(smallest_pivot(A), 1e-4); // (1 cm)^2
        poise_kinematics_destroy(kinematics);
        poise_model_destroy(model);
    }
}

// Both sides mirror each other in any pose that does, it stands on its soles, and at rest no two shapes are nearer than 15 mm but
// those on bodies up to three joints apart, which touch by design.
TEST(the_android_is_symmetric_and_clear_of_itself_at_rest)
{
    poise_model *model = make("android");
    double q[30] = {0};
    for (int k = 0; k < poise_model_info(model).joints; ++k) { // the same for both sides, by the letters of the name
        poise_joint_info joint = poise_model_joint_info(model, k);
        const char *name = strchr(joint.name, '_');
        if (joint.nq == 1 && (strncmp(joint.name, "left_", 5) == 0 || strncmp(joint.name, "right_", 6) == 0)) {
            q[joint.q] = 0.01 * (double)(name[1] + name[2] + name[strlen(name) - 1]) - 3.2;
        }
    }
    poise_model_clamp(model, q, NULL, NULL);
    poise_kinematics *kinematics = pose(model, q);
    static const char *const tools[] = {"palm", "sole"};
    for (int i = 0; i < 2; ++i) {
        char left[16], right[16];
        snprintf(left, sizeof left, "left_%s", tools[i]);
        snprintf(right, sizeof right, "right_%s", tools[i]);
        poise_vec3 a = tool_position(model, kinematics, left), b = tool_position(model, kinematics, right);
        ck_assert_double_eq_tol(a.x, b.x, 1e-15);
        ck_assert_double_eq_tol(a.y, -b.y, 1e-15);
        ck_assert_double_eq_tol(a.z, b.z, 1e-15);
        ck_assert_double_gt(a.y, 0.05);
    }
    poise_model_neutral(model, q);
    poise_kinematics_update(kinematics, q, NULL);
    ck_assert_double_eq_tol(tool_position(model, kinematics, "left_sole").z, -0.677, 1e-15);
    poise_shape shapes[ANDROID_SHAPES];
    poise_pair pairs[ANDROID_SHAPES * ANDROID_SHAPES];
    poise_pairs_options options = poise_pairs_options_default();
    int found = 0;
    options.neighbours = 3;
    android_shapes(model, shapes);
    ck_assert_int_eq(
        poise_pairs_find(model, shapes, ANDROID_SHAPES, &options, NULL, pairs, (int)TEST_COUNT(pairs), &found, NULL),
        POISE_OK);
    ck_assert_int_gt(found, 100);
    for (int i = 0; i < found; ++i) {
        poise_nearest nearest;
        ck_assert_int_eq(poise_distance(kinematics, &shapes[pairs[i].a], &shapes[pairs[i].b], &nearest, NULL), POISE_OK);
        ck_assert_double_gt(nearest.distance, 0.015);
    }
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
}

// ---- postures ------------------------------------------------------------------------------------------------------------

TEST(postures_are_within_the_limits_and_differ_from_each_other)
{
    int scenes = 0;
    for (int i = 0; i < scene_count(); ++i) {
        const char *scene = scene_name(i);
        int count = scene_posture_count(scene);
        scenes += count > 0;
        poise_model *model = make(scene);
        double q[16][8] = {{0}};
        for (int p = 0; p < count; ++p) {
            ck_assert_int_eq(scene_posture(model, scene, scene_posture_name(scene, p), q[p]), POISE_OK);
            ck_assert(poise_model_within_limits(model, q[p]));
            for (int k = 0; k < p; ++k) {
                ck_assert_str_ne(scene_posture_name(scene, p), scene_posture_name(scene, k));
            }
        }
        ck_assert(count == 0 || memcmp(q[0], q[1], sizeof q[0]) != 0);
        ck_assert_ptr_null(scene_posture_name(scene, count));
        poise_model_destroy(model);
    }
    ck_assert_int_eq(scenes, 8); // the lamp and seven skeletons
}

TEST(the_light_of_a_sad_lamp_shines_down_and_of_a_proud_one_ahead)
{
    poise_model *model = make("lamp");
    double q[6];
    ck_assert_int_eq(scene_posture(model, "lamp", "sad", q), POISE_OK);
    poise_kinematics *kinematics = pose(model, q);
    int shade = poise_model_find_body(model, "shade");
    double height = tool_position(model, kinematics, "light").y;
    ck_assert_double_lt(poise_kinematics_direction(kinematics, shade, (poise_vec3){0, 1, 0}).y, -0.9);
    ck_assert_int_eq(scene_posture(model, "lamp", "proud", q), POISE_OK);
    poise_kinematics_update(kinematics, q, NULL);
    ck_assert_double_gt(poise_kinematics_direction(kinematics, shade, (poise_vec3){0, 1, 0}).z, 0.9);
    ck_assert_double_gt(tool_position(model, kinematics, "light").y, height + 0.3);
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
}

TEST(postures_refuse_unknown_names_and_other_models)
{
    poise_model *lamp = make("lamp"), *arm = make("arm7");
    double q[7] = {9, 9, 9, 9, 9, 9, 9};
    ck_assert_int_eq(scene_posture(lamp, "lamp", "bow", q), POISE_ERROR_NOT_FOUND);
    ck_assert_int_eq(scene_posture(arm, "arm7", "rest", q), POISE_ERROR_NOT_FOUND);
    ck_assert_int_eq(scene_posture(arm, "lamp", "rest", q), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(scene_posture(NULL, "lamp", "rest", q), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(scene_posture(lamp, "lamp", NULL, q), POISE_ERROR_ARGUMENT);
    ck_assert_double_eq(q[0], 9);
    poise_model_destroy(lamp);
    poise_model_destroy(arm);
}

// ---- random numbers ------------------------------------------------------------------------------------------------------

TEST(the_generator_gives_the_published_numbers_of_splitmix64)
{
    static const uint64_t expected[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                        UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                        UINT64_C(16408922859458223821)};
    scene_random random = scene_random_make(1234567);
    for (size_t i = 0; i < TEST_COUNT(expected); ++i) {
        ck_assert(scene_random_bits(&random) == expected[i]);
    }
}

// Over n = 100000 draws the mean is off by s / sqrt(n), s the standard deviation; six of those are never seen. The variance
// of a bell of variance 1 is off by sqrt(2 / n).
TEST(random_numbers_have_the_mean_and_spread_they_should)
{
    enum { N = 100000 };
    scene_random random = scene_random_make(7);
    double uniform = 0, normal = 0, square = 0, z = 0;
    int counts[5] = {0};
    for (int i = 0; i < N; ++i) {
        double u = scene_random_range(&random, -3, 5);
        ck_assert(u >= -3 && u <= 5);
        uniform += u / N;
        double x = scene_random_normal(&random);
        normal += x / N;
        square += x * x / N;
        poise_vec3 d = scene_random_direction(&random);
        ck_assert_double_eq_tol(d.x * d.x + d.y * d.y + d.z * d.z, 1, 1e-15);
        z += d.z / N;
        poise_quat r = scene_random_rotation(&random);
        ck_assert_double_eq_tol(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w, 1, 1e-15);
        counts[scene_random_index(&random, 5)] += 1;
    }
    ck_assert_double_le(fabs(uniform - 1), 6 * (8 / sqrt(12)) / sqrt(N));
    ck_assert_double_le(fabs(normal), 6 / sqrt(N));
    ck_assert_double_le(fabs(square - 1), 6 * sqrt(2.0 / N));
    ck_assert_double_le(fabs(z), 6 / sqrt(3.0 * N));
    for (int i = 0; i < 5; ++i) {
        ck_assert_double_le(fabs(counts[i] - N / 5.0), 6 * sqrt(N * 0.16));
    }
}

TEST(random_configurations_are_within_the_limits_of_every_scene)
{
    scene_random random = scene_random_make(11);
    for (int i = 0; i < scene_count(); ++i) {
        poise_model *model = make(scene_name(i));
        double q[67], last = -1;
        for (int trial = 0; trial < 200; ++trial) {
            scene_random_configuration(&random, model, q);
            ck_assert_msg(poise_model_within_limits(model, q), "%s", scene_name(i));
            ck_assert(q[0] != last);
            last = q[0];
        }
        poise_model_destroy(model);
    }
}

// Neck and head have a swing ellipse, hips a box: the draws must come near their whole extent, not only the middle.
TEST(random_configurations_fill_the_limits)
{
    poise_model *model = make("humanoid");
    double q[58], low[58], high[58];
    scene_random random = scene_random_make(12);
    for (int c = 0; c < 58; ++c) {
        low[c] = INFINITY;
        high[c] = -INFINITY;
    }
    for (int trial = 0; trial < 2000; ++trial) {
        scene_random_configuration(&random, model, q);
        for (int c = 0; c < 58; ++c) {
            low[c] = fmin(low[c], q[c]);
            high[c] = fmax(high[c], q[c]);
        }
    }
    for (int j = 1; j < poise_model_info(model).joints; ++j) {
        int at = poise_model_joint_info(model, j).q, count = poise_model_joint_info(model, j).nq;
        poise_joint joint = *poise_model_joint_info(model, j).given;
        for (int c = 0; c < count; ++c) {
            bool ellipse = c < 2 && isfinite(joint.swing[c]);
            double lower = ellipse ? -joint.swing[c] : joint.lower[c], upper = ellipse ? joint.swing[c] : joint.upper[c];
            ck_assert_double_ge(high[at + c] - low[at + c], 0.9 * (upper - lower));
        }
    }
    poise_model_destroy(model);
}
