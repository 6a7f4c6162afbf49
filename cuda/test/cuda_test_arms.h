// Arms with targets, alone and among obstacles, and how answers are judged: for tests of arm poses on the device and on the
// host.
#ifndef POISE_CUDA_CUDA_TEST_ARMS_H
#define POISE_CUDA_CUDA_TEST_ARMS_H

#include "support/constraint_check.h"
#include "support/test_main.h"

#include <poise/cuda.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-6
#define MOST_Q    16
#define RESTARTS  300

// An arm with targets: poses of joints within its limits.
typedef struct fixture {
    poise_model *model;
    poise_goal goal;
    int nq, count;
    poise_pose *targets;
    double *starts, *q;
    poise_cuda_answer *answers;
} fixture;

// `beyond`: so many targets from the first on are moved away from the base.
static inline fixture make(const char *scene, int count, int beyond, uint64_t seed)
{
    fixture f = {.count = count};
    ck_assert_int_eq(scene_create(scene, NULL, &f.model, NULL), POISE_OK);
    f.nq = poise_model_info(f.model).nq;
    int tool = poise_model_find_tool(f.model, "tip");
    int body = tool >= 0 ? poise_model_tool_info(f.model, tool).body : poise_model_info(f.model).joints - 1;
    poise_pose local = tool >= 0 ? poise_model_tool_info(f.model, tool).pose : (poise_pose){{0, 0, 0, 1}, {0.1, 0.05, 0.2}};
    f.goal = poise_goal_pose(body, local, poise_pose_identity());
    size_t many = (size_t)count, numbers = many * (size_t)f.nq;
    f.targets = malloc(many * sizeof *f.targets);
    f.starts = malloc(numbers * sizeof *f.starts);
    f.q = malloc(numbers * sizeof *f.q);
    f.answers = malloc(many * sizeof *f.answers);
    ck_assert(f.targets && f.starts && f.q && f.answers);
    scene_random random = scene_random_make(seed);
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(f.model, NULL, &kinematics, NULL), POISE_OK);
    for (int i = 0; i < count; ++i) {
        double q[MOST_Q];
        scene_random_configuration(&random, f.model, q);
        scene_random_configuration(&random, f.model, f.starts + (size_t)i * (size_t)f.nq);
        poise_kinematics_update(kinematics, q, NULL);
        f.targets[i] = poise_pose_multiply(poise_kinematics_body_pose(kinematics, body), local);
        if (i < beyond) {
            f.targets[i].position = poise_vec3_make(1.7 * f.targets[i].position.x + 0.3, 1.7 * f.targets[i].position.y,
                                                    1.7 * f.targets[i].position.z);
        }
    }
    poise_kinematics_destroy(kinematics);
    return f;
}

// Make the last `count` targets anew, with joint number `elbow` at 0. Where that is straight, searches creep.
static inline void straighten(fixture *f, int elbow, int count)
{
    scene_random random = scene_random_make(99);
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(f->model, NULL, &kinematics, NULL), POISE_OK);
    for (int i = f->count - count; i < f->count; ++i) {
        double q[MOST_Q];
        scene_random_configuration(&random, f->model, q);
        q[elbow] = 0.0;
        poise_kinematics_update(kinematics, q, NULL);
        f->targets[i] = poise_pose_multiply(poise_kinematics_body_pose(kinematics, f->goal.body), f->goal.local);
    }
    poise_kinematics_destroy(kinematics);
}

static inline void release(fixture *f)
{
    poise_model_destroy(f->model);
    free(f->targets), free(f->starts), free(f->q), free(f->answers);
}

static inline poise_solver_options solver_options(void)
{
    poise_solver_options options = poise_solver_options_default();
    options.restarts = RESTARTS;
    options.position_tolerance = options.rotation_tolerance = TOLERANCE;
    return options;
}

static inline void begin(fixture *f)
{
    memcpy(f->q, f->starts, (size_t)f->count * (size_t)f->nq * sizeof *f->q);
    memset(f->answers, 0xff, (size_t)f->count * sizeof *f->answers);
}

// The error of an answer by the library's kinematics, and its limits.
static inline void judge(const fixture *f, poise_kinematics *kinematics, int i)
{
    const double *q = f->q + i * f->nq, *lower = poise_model_info(f->model).lower, *upper = poise_model_info(f->model).upper;
    for (int k = 0; k < f->nq; ++k) {
        ck_assert(q[k] >= lower[k] && q[k] <= upper[k]);
    }
    poise_kinematics_update(kinematics, q, NULL);
    poise_pose at = poise_pose_multiply(poise_kinematics_body_pose(kinematics, f->goal.body), f->goal.local);
    poise_vec3 p = at.position, t = f->targets[i].position;
    double length = sqrt((p.x - t.x) * (p.x - t.x) + (p.y - t.y) * (p.y - t.y) + (p.z - t.z) * (p.z - t.z));
    double angle = poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(at.rotation), f->targets[i].rotation));
    ck_assert_int_eq(f->answers[i].outcome, POISE_OUTCOME_REACHED);
    ck_assert_double_le(length, TOLERANCE);
    ck_assert_double_le(angle, TOLERANCE);
    // sums in another order: rounding of numbers of size 1
    ck_assert_double_le(fabs(length - f->answers[i].length), 1e-14);
}

// ---- Among obstacles -----------------------------------------------------------------------------------------------------

// Arms among obstacles: capsules along their links, and a box, a beam, a pillar and a floor around them.

#define WORLD_SHAPES 24
#define WORLD_PAIRS  256
#define WORLD_MARGIN 0.01

typedef struct test_world {
    poise_shape shapes[WORLD_SHAPES];
    poise_pair pairs[WORLD_PAIRS];
    poise_constraint apart;
} test_world;

static inline double length_of(poise_vec3 a)
{
    return sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}

// A capsule from each joint to the next one below it, and one to the goal's frame.
static inline int add_links(const fixture *f, poise_shape *shapes)
{
    int count = 0, joints = poise_model_info(f->model).joints;
    for (int k = 0; k <= joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(f->model, k);
        int body = k == joints ? f->goal.body : joint.parent;
        poise_vec3 to = k == joints ? f->goal.local.position : joint.given->offset.position;
        if (body != POISE_WORLD && length_of(to) > 0.02) {
            shapes[count++] = poise_shape_capsule(body, poise_vec3_make(0, 0, 0), to, 0.1 * length_of(to));
        }
    }
    return count;
}

// Obstacles as far from the base as the arm is long, in shares of `reach`.
static inline int add_obstacles(double reach, poise_shape *shapes)
{
    double r = reach;
    poise_pose turned = {{0.1826, 0.3651, 0.5477, 0.7303}, {0.5 * r, 0.1 * r, 0.3 * r}};
    double size = 1.0 / sqrt(0.1826 * 0.1826 + 0.3651 * 0.3651 + 0.5477 * 0.5477 + 0.7303 * 0.7303);
    turned.rotation = (poise_quat){0.1826 * size, 0.3651 * size, 0.5477 * size, 0.7303 * size};
    shapes[0] = poise_shape_box(POISE_WORLD, turned, poise_vec3_make(0.1 * r, 0.2 * r, 0.05 * r));
    shapes[0].radius = 0.02 * r;
    shapes[1] = poise_shape_capsule(POISE_WORLD, poise_vec3_make(-0.4 * r, -0.5 * r, 0.5 * r),
                                    poise_vec3_make(-0.4 * r, 0.5 * r, 0.6 * r), 0.05 * r);
    shapes[2] = poise_shape_box(POISE_WORLD, (poise_pose){{0, 0, 0, 1}, {0, 0.6 * r, 0}},
                                poise_vec3_make(0.1 * r, 0.1 * r, 0.8 * r));
    shapes[3] = poise_shape_half_space(POISE_WORLD, poise_vec3_make(0, 0, -0.3 * r), poise_vec3_make(0.1, 0, 1));
    return 4;
}

static inline void make_world(const fixture *f, test_world *w)
{
    poise_error error = {.text = ""};
    int links = add_links(f, w->shapes), found = 0;
    double reach = 0;
    for (int i = 0; i < links; ++i) {
        reach += 2.0 * w->shapes[i].half.z;
    }
    w->apart = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    w->apart.shape_count = links + add_obstacles(reach, w->shapes + links);
    poise_status status =
        poise_pairs_find(f->model, w->shapes, w->apart.shape_count, NULL, NULL, w->pairs, WORLD_PAIRS, &found, &error);
    ck_assert_msg(status == POISE_OK && found > 10 && found <= WORLD_PAIRS, "%d pairs: %s", found, error.text);
    w->apart.shapes = w->shapes, w->apart.pairs = w->pairs, w->apart.pair_count = found;
    w->apart.margin = WORLD_MARGIN;
}

// Targets anew, from configurations with at least `spare` more than the margins.
static inline void draw_free(fixture *f, const test_world *w, double spare, uint64_t seed)
{
    scene_random random = scene_random_make(seed);
    poise_kinematics *kinematics;
    ck_assert_int_eq(poise_kinematics_create(f->model, NULL, &kinematics, NULL), POISE_OK);
    for (int i = 0; i < f->count; ++i) {
        double q[MOST_Q];
        do {
            scene_random_configuration(&random, f->model, q);
        } while (check_constraints(f->model, &w->apart, 1, q).clearance > -spare);
        poise_kinematics_update(kinematics, q, NULL);
        f->targets[i] = poise_pose_multiply(poise_kinematics_body_pose(kinematics, f->goal.body), f->goal.local);
    }
    poise_kinematics_destroy(kinematics);
}

// Whatever the outcome says holds; true when it is REACHED.
static inline bool judge_apart(const fixture *f, const test_world *w, poise_kinematics *kinematics, int i)
{
    const poise_cuda_answer *answer = &f->answers[i];
    broken b = check_constraints(f->model, &w->apart, 1, f->q + i * f->nq);
    ck_assert_double_le(b.limit, 0.0);
    ck_assert(answer->pair >= 0 && answer->pair < w->apart.pair_count);
    // where cores overlap the check goes on with how deep
    ck_assert(b.clearance > 0 ? answer->room < 0 : fabs(answer->room + b.clearance) <= 1e-9);
    ck_assert((answer->outcome == POISE_OUTCOME_INFEASIBLE) == (b.clearance > 0));
    if (answer->outcome == POISE_OUTCOME_REACHED) {
        judge(f, kinematics, i);
    }
    return answer->outcome == POISE_OUTCOME_REACHED;
}

#endif
