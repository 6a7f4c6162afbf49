// Arrays of other programs on the device: numbers of either precision with any strides into poses and starts, answers into
// columns. A thread for each problem.
#include "lib/cuda_arm.h"

#include "num/rotation.h"

#define THREADS 256

__device__ __forceinline__ double number(const poise_cuda_view &view, int64_t problem, int row, int column)
{
    int64_t at = problem * view.strides[0] + row * view.strides[1] + column * view.strides[2];
    return view.is_float ? (double)((const float *)view.at)[at] : ((const double *)view.at)[at];
}

// False where the numbers are no pose.
__device__ __forceinline__ bool read_pose(const poise_cuda_arrays &from, int64_t problem, poise_pose *pose)
{
    const poise_cuda_view &view = from.targets;
    if (from.targets_are_matrices) {
        double matrix[16];
        for (int i = 0; i < 16; ++i) {
            matrix[i] = number(view, problem, i / 4, i % 4);
        }
        *pose = pose_of_matrix(matrix);
        return is_pose_matrix(matrix) && v3_is_finite(pose->position) && quat_is_finite(pose->rotation);
    }
    pose->position = v3(number(view, problem, 0, 0), number(view, problem, 0, 1), number(view, problem, 0, 2));
    quat r = {number(view, problem, 0, 3), number(view, problem, 0, 4), number(view, problem, 0, 5),
              number(view, problem, 0, 6)};
    double square = r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w;
    pose->rotation = view.is_float ? quat_normalize(r) : r;
    return v3_is_finite(pose->position) && fabs(square - 1.0) < 1e-5;
}

// What is refused is solved as something harmless, and its answer is overwritten.
__global__ void read_kernel(pz_cuda_array_part part, pz_cuda_array_work work)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= part.count) {
        return;
    }
    int64_t problem = part.first + i;
    poise_pose pose;
    bool is_sound = read_pose(part.from, problem, &pose);
    double *q = part.to.q + problem * part.nq;
    for (int k = 0; k < part.nq; ++k) {
        double start = number(part.from.starts, problem, 0, k);
        is_sound = is_sound && isfinite(start);
        q[k] = isfinite(start) ? start : 0.0;
    }
    work.is_refused[i] = !is_sound;
    if (!is_sound) {
        pose = poise_pose{{0, 0, 0, 1}, {0, 0, 0}};
        atomicMin(work.first, (unsigned long long)problem);
    }
    work.targets[i] = pose;
}

template <typename Number> __device__ __forceinline__ void put(Number *column, int64_t problem, Number value)
{
    if (column) {
        column[problem] = value;
    }
}

__global__ void write_kernel(pz_cuda_array_part part, pz_cuda_array_work work)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= part.count) {
        return;
    }
    int64_t problem = part.first + i;
    poise_cuda_answer answer = work.answers[i];
    bool is_refused = work.is_refused[i];
    if (is_refused) {
        answer = poise_cuda_answer{POISE_OUTCOME_COUNT, 0, NAN, NAN, NAN};
        for (int k = 0; k < part.nq; ++k) {
            part.to.q[problem * part.nq + k] = NAN;
        }
    }
    put(part.to.reached, problem, answer.outcome == POISE_OUTCOME_REACHED);
    put(part.to.outcome, problem, (int)answer.outcome);
    put(part.to.restarts, problem, answer.restarts);
    put(part.to.cost, problem, answer.cost);
    put(part.to.length, problem, answer.length);
    put(part.to.angle, problem, answer.angle);
}

cudaError_t pz_cuda_arrays_read(const pz_cuda_array_part *part, const pz_cuda_array_work *work, cudaStream_t stream)
{
    read_kernel<<<(part->count + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*part, *work);
    return cudaPeekAtLastError();
}

cudaError_t pz_cuda_arrays_write(const pz_cuda_array_part *part, const pz_cuda_array_work *work, cudaStream_t stream)
{
    write_kernel<<<(part->count + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*part, *work);
    return cudaPeekAtLastError();
}
