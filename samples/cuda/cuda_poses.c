// Many poses of one arm on a CUDA device, three ways: from host memory, in device memory, and as the problems of a batch.
#include <poise/cuda.h>
#include <poise/poise.h>

#include <cuda_runtime_api.h>
#include <stdio.h>

enum { COUNT = 10000, JOINTS = 6 };

// An arm with a spherical wrist, lengths in metres.
static poise_model *make_arm(void)
{
    const double half = 1.5707963267948966;
    const poise_dh_row rows[JOINTS] = {
        {.d = 0.4, .alpha = half, .lower = -3, .upper = 3}, {.a = 0.5, .lower = -2, .upper = 2},
        {.alpha = half, .lower = -1, .upper = 3},           {.d = 0.45, .alpha = -half, .lower = -3, .upper = 3},
        {.alpha = half, .lower = -2, .upper = 2},           {.d = 0.1, .lower = -3, .upper = 3}};
    poise_builder *builder;
    poise_model *arm = NULL;
    if (poise_builder_create(NULL, &builder, NULL) == POISE_OK) {
        poise_builder_add_dh(builder, "arm", NULL, POISE_DH_CLASSIC, rows, JOINTS, NULL);
        poise_model_create(builder, NULL, &arm, NULL);
        poise_builder_destroy(builder);
    }
    return arm;
}

// Poses that the arm takes on a path through its joints.
static void make_targets(const poise_model *arm, int body, poise_pose tip, poise_pose *targets)
{
    poise_kinematics *kinematics;
    if (poise_kinematics_create(arm, NULL, &kinematics, NULL) != POISE_OK) {
        return;
    }
    for (int i = 0; i < COUNT; ++i) {
        double u = 2.0 * i / COUNT - 1.0;
        double there[JOINTS] = {2.5 * u, 1.5 * u * u, 1.0 + u, -2.0 * u, 1.0 - u * u, u};
        poise_kinematics_update(kinematics, there, NULL);
        targets[i] = poise_pose_multiply(poise_kinematics_body_pose(kinematics, body), tip);
    }
    poise_kinematics_destroy(kinematics);
}

static int count_reached(const poise_cuda_answer *answers)
{
    int reached = 0;
    for (int i = 0; i < COUNT; ++i) {
        reached += answers[i].outcome == POISE_OUTCOME_REACHED;
    }
    return reached;
}

// What other kernels need next can stay on the device; work on a stream is done in its order.
static int solve_on_device(poise_cuda *cuda, const poise_pose *host_targets, poise_cuda_answer *host_answers)
{
    poise_pose *targets;
    double *q;
    poise_cuda_answer *answers;
    cudaStream_t stream;
    const int count = COUNT;
    if (cudaMalloc((void **)&targets, COUNT * sizeof *targets) || cudaMalloc((void **)&q, COUNT * JOINTS * sizeof *q) ||
        cudaMalloc((void **)&answers, COUNT * sizeof *answers) || cudaStreamCreate(&stream)) {
        return 0;
    }
    (void)cudaMemcpy(targets, host_targets, COUNT * sizeof *targets, cudaMemcpyHostToDevice);
    (void)cudaMemset(q, 0, COUNT * JOINTS * sizeof *q);                     // starts
    poise_cuda_queue_poses(cuda, targets, q, answers, count, stream, NULL); // device memory, asynchronous
    (void)cudaStreamSynchronize(stream);
    (void)cudaMemcpy(host_answers, answers, COUNT * sizeof *answers, cudaMemcpyDeviceToHost);
    (void)cudaFree(targets), (void)cudaFree(q), (void)cudaFree(answers), (void)cudaStreamDestroy(stream);
    return count_reached(host_answers);
}

// Problems that poise_batch_solve takes as well.
static int solve_problems(poise_cuda *cuda, const poise_goal *goal, const poise_pose *targets, double *q)
{
    static poise_goal goals[COUNT];
    static poise_problem problems[COUNT];
    int reached = 0;
    const int count = COUNT;
    for (int i = 0; i < COUNT; ++i) {
        goals[i] = poise_goal_pose(goal->body, goal->local, targets[i]);
        problems[i] = (poise_problem){.goals = &goals[i], .goal_count = 1, .q = q + i * JOINTS};
        for (int k = 0; k < JOINTS; ++k) {
            q[i * JOINTS + k] = 0.0;
        }
    }
    poise_cuda_solve(cuda, problems, count, NULL); // the structs of batch.h
    for (int i = 0; i < COUNT; ++i) {
        reached += problems[i].report.outcome == POISE_OUTCOME_REACHED;
    }
    return reached;
}

int main(void)
{
    static poise_pose targets[COUNT];
    static double q[COUNT * JOINTS]; // starts, then answers
    static poise_cuda_answer answers[COUNT];
    poise_model *model = make_arm();
    poise_cuda *cuda;
    poise_error error = {.text = ""};
    const int body = JOINTS - 1, count = COUNT;
    const poise_pose tip = poise_pose_identity();
    if (!model) {
        return 1;
    }
    make_targets(model, body, tip, targets);

    poise_cuda_options options = poise_cuda_options_default();
    options.solver.restarts = 300;                                       // reach every pose that can be
    poise_goal goal = poise_goal_pose(body, tip, poise_pose_identity()); // its target does not matter
    if (poise_cuda_create(model, &goal, 1, &options, &cuda, &error) != POISE_OK) {
        printf("%s\n", error.text);
        poise_model_destroy(model);
        return 1;
    }
    poise_cuda_solve_poses(cuda, targets, q, answers, count, NULL); // host memory
    printf("%d of %d reached from host memory\n", count_reached(answers), COUNT);
    printf("%d of %d reached in device memory\n", solve_on_device(cuda, targets, answers), COUNT);
    printf("%d of %d reached as problems\n", solve_problems(cuda, &goal, targets, q), COUNT);
    poise_cuda_destroy(cuda);
    poise_model_destroy(model);
    return 0;
}
