// The marker-tracking task: a skeleton, its markers, and where they were seen, frame by frame.
//
// The skeleton is a body made up for the purpose, or the scene "humanoid". Metres, radians; 100 frames a second.
#ifndef BENCH_MARKER_TASK_H
#define BENCH_MARKER_TASK_H

#include <poise/poise.h>
#include <scenes/scenes.h>

typedef struct marker_task {
    const char *name; // of the motion
    poise_model *model;
    int nq, nv;
    scene_marker *markers;
    int marker_count;
    int frame_count;
    double *q;        // nq: the neutral pose, where the first frame is started
    double *truth;    // frame_count x nq: the poses that the markers were seen in
    poise_vec3 *seen; // frame_count x marker_count
} marker_task;

// 58 degrees of freedom without limits, 41 markers, in the motion "swing":
//
//   q_d(t) = A_d sin(2 pi f_d t + phi_d),   f_d in [0.3, 1.2] Hz, phi_d in [0, 2 pi), drawn coordinate by coordinate
//
// with A = 0.5 rad and 0.3 m for the root (whose rotation is drawn first), 0.35 rad for a ball's rotation vector, 0.5 rad
// for a hinge. Markers are seen with Gaussian noise of `sigma` metres per component.
void marker_task_swing(int frames, double sigma, marker_task *task);

// The scene "humanoid" in one of its motions.
void marker_task_scene(const char *motion, int frames, double sigma, marker_task *task);

void marker_task_free(marker_task *task);

// Where the markers are in the pose q.
void marker_task_points(const marker_task *task, poise_kinematics *kinematics, const double *q, poise_vec3 *points);

static inline const poise_vec3 *marker_task_frame(const marker_task *task, int frame)
{
    return task->seen + (size_t)frame * (size_t)task->marker_count;
}

#endif
