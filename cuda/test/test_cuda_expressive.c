// ERIK's successor on a device, and ERIK's queue: the bits of the host. Without a device only what fails clearly is tested,
// and the program says that it was skipped.
#include "support/test_main.h"

#include "lib/cuda_evaluate.h"
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

static const char *no_device(void)
{
    return poise_cuda_device_count() > 0 ? NULL : "no CUDA device";
}

#define COUNT  512
#define MOST_Q 16

// A skeleton with samples: postures of which some joints are beyond the limits, targets that may be out of reach.
typedef struct fixture {
    poise_model *model;
    poise_expressive_options options;
    int nq, count;
    double *postures, *starts, *q;
    poise_quat *targets;
    poise_cuda_posture_answer *answers;
} fixture;

// The skeleton with `share` of its limits and, on request, a hinge and a slide beside its chain.
static poise_model *make_model(const char *scene, double share, bool has_more)
{
    poise_model *model, *made;
    poise_builder *builder;
    poise_error error = {.text = ""};
    ck_assert_int_eq(scene_create(scene, NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        joint.lower[0] *= share, joint.upper[0] *= share;
        ck_assert_msg(poise_builder_add_joint(builder, &joint, &error) == POISE_OK, "%s", error.text);
    }
    for (int k = 0; k < 2 && has_more; ++k) {
        poise_joint joint = poise_joint_default();
        joint.name = k ? "slide" : "hinge";
        joint.parent = k ? "hinge" : poise_model_joint_info(model, 1).given->name;
        joint.type = k ? POISE_JOINT_PRISMATIC : POISE_JOINT_REVOLUTE;
        joint.axis = poise_vec3_make(1, 0, 0);
        joint.lower[0] = -0.5, joint.upper[0] = 0.7;
        ck_assert_msg(poise_builder_add_joint(builder, &joint, &error) == POISE_OK, "%s", error.text);
    }
    int tip = poise_model_find_tool(model, "tip");
    poise_tool tool = {.name = "tip",
                       .body = poise_model_joint_info(model, poise_model_tool_info(model, tip).body).body,
                       .pose = poise_model_tool_info(model, tip).pose};
    ck_assert_msg(poise_builder_add_tool(builder, &tool, &error) == POISE_OK, "%s", error.text);
    ck_assert_msg(poise_model_create(builder, NULL, &made, &error) == POISE_OK, "%s", error.text);
    poise_builder_destroy(builder);
    poise_model_destroy(model);
    return made;
}

static fixture make(const char *scene, double share, bool has_more, int count)
{
    fixture f = {.model = make_model(scene, share, has_more), .count = count};
    int tip = poise_model_find_tool(f.model, "tip");
    f.options = poise_expressive_options_default();
    f.options.symmetric_endpoint = true;
    f.options.body = poise_model_tool_info(f.model, tip).body;
    f.options.tip = poise_model_tool_info(f.model, tip).pose;
    f.nq = poise_model_info(f.model).nq;
    ck_assert_int_le(f.nq, MOST_Q);
    size_t many = (size_t)count, numbers = many * (size_t)f.nq;
    f.postures = malloc(numbers * sizeof *f.postures);
    f.starts = malloc(numbers * sizeof *f.starts);
    f.q = malloc(numbers * sizeof *f.q);
    f.targets = malloc(many * sizeof *f.targets);
    f.answers = malloc(many * sizeof *f.answers);
    ck_assert(f.postures && f.starts && f.q && f.targets && f.answers);
    scene_random random = scene_random_make(20);
    for (int i = 0; i < count; ++i) {
        double *posture = f.postures + i * f.nq;
        scene_random_configuration(&random, f.model, posture);
        scene_random_configuration(&random, f.model, f.starts + i * f.nq);
        f.targets[i] = scene_random_rotation(&random);
        for (int k = 0; k < f.nq; ++k) {
            posture[k] *= 1.2;
        }
    }
    return f;
}

static void release(fixture *f)
{
    poise_model_destroy(f->model);
    free(f->postures), free(f->starts), free(f->q), free(f->targets), free(f->answers);
}

static void begin(fixture *f)
{
    memcpy(f->q, f->starts, (size_t)(f->count * f->nq) * sizeof *f->q);
    memset(f->answers, 0xff, (size_t)f->count * sizeof *f->answers);
}

static poise_cuda *open_device(const fixture *f)
{
    poise_error error = {.text = ""};
    poise_cuda *device;
    poise_status status = poise_cuda_create_expressive(f->model, &f->options, 0, f->count, f->count, &device, &error);
    ck_assert_msg(status == POISE_OK, "%s", error.text);
    return device;
}

static poise_goal goal_of(const fixture *f, int i)
{
    poise_goal goal = poise_goal_orientation(f->options.body, f->targets[i]);
    goal.local.rotation = poise_goal_orientation(0, f->options.tip.rotation).target.rotation; // made unit
    return goal;
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

static void compare_with_host(fixture *f)
{
    poise_expressive *host;
    poise_cuda *device = open_device(f);
    ck_assert_int_eq(poise_expressive_create(f->model, &f->options, NULL, &host, NULL), POISE_OK);
    begin(f);
    ck_assert_int_eq(poise_cuda_solve_postures(device, f->postures, f->targets, f->q, f->answers, f->count, NULL), POISE_OK);
    for (int i = 0; i < f->count; ++i) {
        double q[MOST_Q];
        poise_expressive_report r;
        poise_goal goal = goal_of(f, i);
        const poise_cuda_posture_answer *a = &f->answers[i];
        memcpy(q, f->starts + i * f->nq, (size_t)f->nq * sizeof *q);
        ck_assert_int_eq(poise_expressive_solve(host, &goal, 1, f->postures + i * f->nq, q, &r, NULL), POISE_OK);
        ck_assert(memcmp(q, f->q + i * f->nq, (size_t)f->nq * sizeof *q) == 0);
        ck_assert(poise_model_within_limits(f->model, f->q + i * f->nq));
        ck_assert(a->error == r.error && a->goal == r.goal && a->posture == r.posture && a->angle == r.worst_angle);
        ck_assert(a->candidates == r.candidates && a->iterations == r.evaluations);
        ck_assert(a->outcome == r.outcome && a->kept_branch == r.kept_branch);
    }
    poise_expressive_destroy(host);
    poise_cuda_destroy(device);
}

TEST_IF(answers_have_the_bits_of_the_host_within_wide_and_narrow_limits, no_device)
{
    static const char *const scenes[] = {"erik-c", "erik-d", "erik-e", "erik-f", "erik-g"};
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i) {
        for (int k = 0; k < 4; ++k) {
            fixture f = make(scenes[i], k < 2 ? 1.0 : 0.4, false, COUNT);
            f.options.mode = k % 2 ? POISE_EXPRESSIVE_SHAPE : POISE_EXPRESSIVE_METRIC;
            f.options.warm = ((size_t)k + i) % 2 == 1;
            compare_with_host(&f);
            release(&f);
        }
    }
}

TEST_IF(other_options_and_joints_beside_the_chain_have_the_bits_of_the_host, no_device)
{
    for (int k = 0; k < 4; ++k) {
        fixture f = make("erik-c", 0.8, k < 2, COUNT);
        f.options.mode = k % 2 ? POISE_EXPRESSIVE_SHAPE : POISE_EXPRESSIVE_METRIC;
        f.options.symmetric_endpoint = k != 2;
        f.options.use_erik = k >= 2;
        f.options.exact = k != 3;
        f.options.searches = k == 3 ? 0 : 6;
        f.options.max_goals = 5;
        compare_with_host(&f);
        release(&f);
    }
}

TEST_IF(answers_do_not_depend_on_the_batch, no_device)
{
    fixture f = make("erik-f", 1.0, false, 3000);
    poise_cuda *device = open_device(&f);
    begin(&f);
    ck_assert_int_eq(poise_cuda_solve_postures(device, f.postures, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
    size_t size = (size_t)(f.count * f.nq) * sizeof *f.q;
    double *whole = malloc(size);
    ck_assert(whole != NULL);
    memcpy(whole, f.q, size);
    begin(&f);
    static const int sizes[] = {1, 33, 700, 1300};
    for (int k = 0, i = 0; i < f.count; ++k) {
        int part = sizes[k % 4] < f.count - i ? sizes[k % 4] : f.count - i;
        ck_assert_int_eq(
            poise_cuda_solve_postures(device, f.postures + i * f.nq, f.targets + i, f.q + i * f.nq, NULL, part, NULL),
            POISE_OK);
        i += part;
    }
    ck_assert(memcmp(whole, f.q, size) == 0);
    free(whole);
    poise_cuda_destroy(device);
    release(&f);
}

static void *copied(const void *from, size_t size)
{
    void *there;
    ck_assert_int_eq(cudaMalloc(&there, size), cudaSuccess);
    ck_assert_int_eq(cudaMemcpy(there, from, size, cudaMemcpyHostToDevice), cudaSuccess);
    return there;
}

TEST_IF(device_memory_on_a_stream_gives_the_same_as_host_memory, no_device)
{
    fixture f = make("erik-c", 1.0, false, 2000);
    poise_cuda *device = open_device(&f);
    poise_erik_options options = poise_erik_options_default();
    options.body = f.options.body, options.tip = f.options.tip;
    poise_cuda *erik;
    ck_assert_int_eq(poise_cuda_create_erik(f.model, &options, 0, f.count, f.count, &erik, NULL), POISE_OK);
    size_t size = (size_t)(f.count * f.nq) * sizeof *f.q;
    double *postures = copied(f.postures, size), *q = copied(f.starts, size), *back = malloc(size);
    poise_quat *targets = copied(f.targets, (size_t)f.count * sizeof *targets);
    cudaStream_t stream;
    ck_assert(back != NULL);
    ck_assert_int_eq(cudaStreamCreate(&stream), cudaSuccess);
    for (int is_erik = 0; is_erik < 2; ++is_erik) { // ERIK goes on from what the successor left, which does not matter to it
        begin(&f);
        poise_status there = is_erik ? poise_cuda_queue_postures(erik, postures, targets, q, NULL, f.count, stream, NULL)
                                     : poise_cuda_queue_postures(device, postures, targets, q, NULL, f.count, stream, NULL);
        ck_assert_int_eq(there, POISE_OK);
        ck_assert_int_eq(cudaMemcpyAsync(back, q, size, cudaMemcpyDeviceToHost, stream), cudaSuccess);
        ck_assert_int_eq(cudaStreamSynchronize(stream), cudaSuccess);
        poise_status here = is_erik ? poise_cuda_solve_postures(erik, f.postures, f.targets, f.q, NULL, f.count, NULL)
                                    : poise_cuda_solve_postures(device, f.postures, f.targets, f.q, NULL, f.count, NULL);
        ck_assert_int_eq(here, POISE_OK);
        ck_assert(memcmp(back, f.q, size) == 0);
    }
    (void)cudaFree(postures), (void)cudaFree(q), (void)cudaFree(targets), (void)cudaStreamDestroy(stream);
    free(back);
    poise_cuda_destroy(erik);
    poise_cuda_destroy(device);
    release(&f);
}

TEST_IF(an_evaluation_sums_up_what_single_samples_give, no_device)
{
    enum { POSTURES = 20, TARGETS = 25 };
    fixture f = make("erik-d", 1.0, false, POSTURES * TARGETS);
    f.options.warm = false;
    poise_cuda *device = open_device(&f);
    pz_cuda_erik_summary summary;
    ck_assert_int_eq(pz_cuda_evaluate(device, f.postures, POSTURES, f.targets, TARGETS, &summary, NULL), POISE_OK);
    for (int i = f.count - 1; i >= 0; --i) { // from the end, as sources come before what they are copied to
        memmove(f.postures + i * f.nq, f.postures + i / TARGETS * f.nq, (size_t)f.nq * sizeof *f.postures);
        f.targets[i] = f.targets[i % TARGETS];
    }
    begin(&f);
    ck_assert_int_eq(poise_cuda_solve_postures(device, f.postures, f.targets, f.q, f.answers, f.count, NULL), POISE_OK);
    double error = 0, posture = 0, evaluations = 0, most = 0;
    int reached = 0;
    for (int i = 0; i < f.count; ++i) {
        error += f.answers[i].error / f.count;
        posture += f.options.posture_weight * f.answers[i].posture / f.count;
        evaluations += (double)f.answers[i].iterations / f.count;
        most = fmax(most, f.answers[i].error);
        reached += f.answers[i].outcome == POISE_OUTCOME_REACHED;
    }
    ck_assert_int_eq(summary.error.count, f.count);
    ck_assert_int_eq(summary.reached, reached);
    ck_assert_int_eq(summary.outside, 0);
    ck_assert(summary.error.most == most);
    // sums of 500 numbers in another order
    ck_assert_double_le(fabs(summary.error.mean - error), 1e-13);
    ck_assert_double_le(fabs(summary.posture.mean - posture), 1e-13);
    ck_assert_double_le(fabs(summary.iterations.mean - evaluations), 1e-11);
    poise_cuda_destroy(device);
    release(&f);
}

// ---- Failures ------------------------------------------------------------------------------------------------------------

TEST_IF(numbers_that_are_not_finite_are_refused_and_nothing_is_touched, no_device)
{
    fixture f = make("erik-c", 1.0, false, 10);
    poise_cuda *device = open_device(&f);
    size_t size = (size_t)(f.count * f.nq) * sizeof *f.q;
    pz_cuda_erik_summary summary;
    poise_error error = {.text = ""};
    begin(&f);
    f.targets[7] = (poise_quat){0, 0, 0, 0};
    ck_assert_int_eq(poise_cuda_solve_postures(device, f.postures, f.targets, f.q, NULL, f.count, &error),
                     POISE_ERROR_ARGUMENT);
    ck_assert(strstr(error.text, "zero quaternion") != NULL);
    f.targets[7].w = 2.0; // any length but 0
    f.q[3] = NAN;
    ck_assert_int_eq(poise_cuda_solve_postures(device, f.postures, f.targets, f.q, NULL, f.count, NULL),
                     POISE_ERROR_ARGUMENT);
    f.q[3] = f.starts[3];
    ck_assert(memcmp(f.q, f.starts, size) == 0);
    ck_assert_int_eq(poise_cuda_solve_postures(device, f.postures, f.targets, f.q, NULL, f.count, NULL), POISE_OK);
    f.postures[5] = INFINITY;
    ck_assert_int_eq(pz_cuda_evaluate(device, f.postures, 2, f.targets, 2, &summary, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(pz_cuda_evaluate(device, f.postures, 11, f.targets, 2, &summary, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_cuda_solve_postures(device, NULL, f.targets, f.q, NULL, 1, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_cuda_solve_postures(device, NULL, NULL, NULL, NULL, 0, NULL), POISE_OK);
    ck_assert_int_eq(poise_cuda_queue_postures(device, NULL, NULL, NULL, NULL, 1, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_cuda_queue_postures(NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_cuda_queue_postures(NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL), POISE_ERROR_ARGUMENT);
    poise_cuda_destroy(device);
    release(&f);
}

static void refuse(const char *scene, poise_status expected, const char *text)
{
    poise_model *model;
    poise_expressive_options options = poise_expressive_options_default();
    poise_cuda *device = NULL;
    poise_error error = {.text = ""};
    ck_assert_int_eq(scene_create(scene, NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(poise_cuda_create_expressive(model, &options, 0, 10, 10, &device, &error), expected);
    ck_assert_msg(strstr(error.text, text) != NULL, "%s", error.text);
    ck_assert(device == NULL);
    poise_model_destroy(model);
}

TEST(models_options_and_devices_that_are_not_served_are_named)
{
    fixture f = make("erik-c", 1.0, false, 1);
    poise_cuda *device = NULL;
    poise_error error = {.text = ""};
    refuse("chain-20", POISE_ERROR_UNSUPPORTED, "up to 16 joints");
    refuse("scara", POISE_ERROR_UNSUPPORTED, "revolute");
    int missing = poise_cuda_device_count();
    ck_assert_int_eq(poise_cuda_create_expressive(f.model, &f.options, missing, 1, 1, &device, &error), POISE_ERROR_DEVICE);
    ck_assert(strstr(error.text, "no CUDA device") != NULL);
    ck_assert_int_eq(poise_cuda_create_expressive(f.model, &f.options, 0, 0, 1, &device, &error), POISE_ERROR_ARGUMENT);
    f.options.gain = -1.0;
    ck_assert_int_eq(poise_cuda_create_expressive(f.model, &f.options, 0, 1, 1, &device, &error), POISE_ERROR_ARGUMENT);
    ck_assert(strstr(error.text, "gain") != NULL && device == NULL);
    release(&f);
}
