// Any chain, posture and target for ERIK, its successor, the method it is compared with, and the motion filter.
#include "fuzz.h"
#include "structured.h"

#include <papers/plain/two_task.h>

#include <math.h>
#include <string.h>

typedef struct task {
    poise_model *model;
    double posture[FUZZ_NUMBERS], q[FUZZ_NUMBERS];
} task;

static void check(const task *t, poise_status status, const double *q, double error)
{
    if (status != POISE_OK) {
        fuzz_require(memcmp(q, t->q, sizeof t->q) == 0, "q was touched");
        return;
    }
    fuzz_check_answer(t->model, q, false);
    fuzz_require(isfinite(error), "the error is not finite");
}

// Joints of the chain keep their limits; those beside it are the caller's.
static void check_chain(const task *t, const poise_erik *erik, const double *q)
{
    const double *lower = poise_model_info(t->model).lower, *upper = poise_model_info(t->model).upper;
    for (int k = 0; k < poise_erik_joints(erik).count; ++k) {
        int at = poise_model_joint_info(t->model, poise_erik_joints(erik).links[k].index).q,
            count = poise_model_joint_info(t->model, poise_erik_joints(erik).links[k].index).nq;
        fuzz_require(count == 0 || (q[at] >= lower[at] && q[at] <= upper[at]), "a joint is outside of its limits");
    }
}

static void run_erik(fuzz_bytes *bytes, const task *t)
{
    poise_erik_options options = poise_erik_options_default();
    int features = fuzz_byte(bytes);
    options.body = fuzz_index(bytes, FUZZ_JOINTS + 2) - 2; // POISE_NONE, the world, a body
    options.tip = features & 1 ? fuzz_pose(bytes) : options.tip;
    options.max_iterations = 1 + fuzz_index(bytes, 12);
    options.max_sweeps = 1 + fuzz_index(bytes, 8);
    options.restarts = fuzz_index(bytes, 4);
    options.exact_orientation = features & 2;
    options.symmetric_endpoint = features & 4;
    options.avoid_edges = features & 8;
    if (features & 16) {
        options.disturbance = fuzz_number(bytes);
        options.threshold = fuzz_number(bytes);
        options.aggravation = fuzz_number(bytes);
        options.posture_weight = fuzz_number(bytes);
    }
    poise_erik *erik = NULL;
    poise_error error = {.text = ""};
    if (poise_erik_create(t->model, &options, NULL, &erik, &error) != POISE_OK) {
        fuzz_require(error.text[0] != '\0' && !erik, "an error without a text");
        return;
    }
    poise_quat target = fuzz_quat(bytes);
    double q[FUZZ_NUMBERS];
    poise_erik_report report = {0};
    memcpy(q, t->q, sizeof q);
    poise_status status = poise_erik_solve(erik, t->posture, target, q, &report, NULL);
    check(t, status, q, report.error);
    if (status == POISE_OK) {
        check_chain(t, erik, q);
    }
    memcpy(q, t->q, sizeof q);
    status = two_task_solve(erik, NULL, t->posture, target, q, &report);
    check(t, status, q, report.error);
    if (status == POISE_OK) {
        check_chain(t, erik, q);
    }
    poise_erik_destroy(erik);
}

static void run_expressive(fuzz_bytes *bytes, const task *t)
{
    poise_expressive_options options = poise_expressive_options_default();
    int features = fuzz_byte(bytes);
    options.mode = (poise_expressive_mode)(features & 1);
    options.body = fuzz_index(bytes, FUZZ_JOINTS + 2) - 2; // POISE_NONE, the world, a body
    options.warm = features & 2;
    options.exact = features & 4;
    options.use_erik = features & 8;
    options.max_iterations = 1 + fuzz_index(bytes, 8);
    options.searches = fuzz_index(bytes, 4);
    if (features & 16) {
        options.tip = fuzz_pose(bytes);
        options.length_scale = fuzz_number(bytes);
        options.inertia = fuzz_number(bytes);
        options.gain = fuzz_number(bytes);
        options.goal_weight = fuzz_number(bytes);
    }
    poise_expressive *expressive = NULL;
    poise_error error = {.text = ""};
    if (poise_expressive_create(t->model, &options, NULL, &expressive, &error) != POISE_OK) {
        fuzz_require(error.text[0] != '\0' && !expressive, "an error without a text");
        return;
    }
    poise_goal goals[3];
    int count = fuzz_index(bytes, 4);
    for (int i = 0; i < count; ++i) {
        goals[i] = fuzz_goal(bytes, t->posture);
    }
    double q[FUZZ_NUMBERS];
    poise_expressive_report report = {0};
    memcpy(q, t->q, sizeof q);
    poise_status status = poise_expressive_solve(expressive, goals, count, t->posture, q, &report, NULL);
    check(t, status, q, report.error);
    if (status == POISE_OK) {
        fuzz_check_answer(t->model, q, true);
    }
    poise_expressive_destroy(expressive);
}

static void run_filter(fuzz_bytes *bytes)
{
    poise_filter_joint joint = poise_filter_joint_default();
    joint.lower = fuzz_number_or(bytes, -1.0);
    joint.upper = fuzz_number_or(bytes, 1.0);
    joint.velocity = fuzz_number_or(bytes, joint.velocity);
    joint.acceleration = fuzz_number_or(bytes, joint.acceleration);
    joint.jerk = fuzz_number_or(bytes, joint.jerk);
    joint.smoothness = fuzz_number_or(bytes, 0.0);
    joint.responsiveness = fuzz_number_or(bytes, 0.0);
    joint.soft = fuzz_number_or(bytes, 0.0);
    poise_filter *filter = NULL;
    if (poise_filter_create(NULL, &joint, 1, NULL, &filter, NULL) != POISE_OK) {
        return;
    }
    double x = fuzz_number(bytes);
    poise_filter_reset(filter, &x, NULL);
    for (int i = 0; i < 12; ++i) {
        double setpoint = fuzz_number(bytes), dt = fuzz_number_or(bytes, 0.02);
        if (poise_filter_step(filter, &setpoint, dt, &x, NULL) == POISE_OK) {
            fuzz_require(isfinite(x) && x >= joint.lower && x <= joint.upper, "the filter leaves its range");
        }
    }
    poise_filter_destroy(filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const poise_joint_type chain[] = {POISE_JOINT_REVOLUTE, POISE_JOINT_REVOLUTE, POISE_JOINT_REVOLUTE,
                                             POISE_JOINT_FIXED};
    fuzz_bytes bytes = {data, data + size};
    int kind = fuzz_index(&bytes, 4);
    if (kind == 3) {
        run_filter(&bytes);
        return 0;
    }
    task t = {.model = kind == 2 ? fuzz_model(&bytes, NULL, 0) : fuzz_model(&bytes, chain, 4)};
    if (!t.model) {
        return 0;
    }
    fuzz_configuration(&bytes, t.model, t.posture);
    fuzz_configuration(&bytes, t.model, t.q);
    if (kind == 0) {
        run_erik(&bytes, &t);
    } else {
        run_expressive(&bytes, &t);
    }
    poise_model_destroy(t.model);
    return 0;
}
