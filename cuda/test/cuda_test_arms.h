// Arms with targets, and how answers are judged: for tests of arm poses on the device and on the host.
#ifndef POISE_CUDA_CUDA_TEST_ARMS_H
#define POISE_CUDA_CUDA_TEST_ARMS_H

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

#endif
