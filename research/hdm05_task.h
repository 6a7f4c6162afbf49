// The problem of Erleben & Andrews 2019 on their own data: HDM05, actor dg, markers and motion of one take.
//
// The skeleton and its poses come from an ASF and an AMC, the markers from the C3D of the same take, read through poise_io.
// Lengths in cm, y up, angles in radians: the authors take an inch for 2.5189 cm, and so does this. Thumbs stay at zero.
//
// Each marker sits on one bone. Its place there is either found anew in every frame from the frame's AMC pose, as the
// authors do, so that the pose of the AMC meets all markers; or fixed at the mean over all frames. With fixed places the
// markers are those of the recording, which no pose meets, or where the AMC pose takes those places, which that pose does.
//
// Where the recording is not available, a motion of the humanoid of the scenes can stand in for it: as many markers, lengths
// in cm, 120 frames a second, Euler angles; its markers sit where they sit, so own and mean places are the same.
#ifndef RESEARCH_HDM05_TASK_H
#define RESEARCH_HDM05_TASK_H

#include <poise/poise.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HDM05_MARKERS 41
#define HDM05_FTOL    1e-2 // cm^2: where the authors stop

// Frames in which the AMC itself jumps, counted from 1 (the right thigh turns by half a turn at its ends).
#define HDM05_FLIPS_FIRST 2842
#define HDM05_FLIPS_LAST  3299

typedef struct hdm05_task {
    poise_error error; // why there is no task
    poise_model *model;
    int nq, nv, frames;
    double frame_time;
    double *amc;                    // frames x nq: poses of the AMC, root in cm
    poise_vec3 *target;             // frames x HDM05_MARKERS
    poise_vec3 *own;                // frames x HDM05_MARKERS: places that meet the markers
    poise_vec3 mean[HDM05_MARKERS]; // places fixed at their means
    char label[HDM05_MARKERS][32];  // without the subject's name
    int body[HDM05_MARKERS];
    bool *locked;                 // nv: the thumbs; none of the humanoid's
    bool is_recording;            // read, not made
    bool has_flips;               // dg_03-05_02, the take with the frames above
    poise_kinematics *kinematics; // scratch
} hdm05_task;

// Read a take from `folder`, such as take "HDM_dg_03-05_02_120" of the skeleton "HDM_dg". False, with the reason in
// task->error, when a file is not there or does not hold what it should.
bool hdm05_read(const char *folder, const char *skeleton, const char *take, hdm05_task *task);

// The stand-in: one period of a motion of scenes.h, such as "walk". False, with the reason in task->error, on failure.
bool hdm05_make(const char *motion, hdm05_task *task);

void hdm05_free(hdm05_task *task);

static inline const double *hdm05_pose(const hdm05_task *task, int frame)
{
    return task->amc + (size_t)frame * (size_t)task->nq;
}

typedef enum hdm05_kind {
    HDM05_OWN_PLACES, // the authors' problem
    HDM05_MEAN_PLACES,
    HDM05_MADE_MARKERS // mean places, markers where the AMC pose takes them
} hdm05_kind;

// The goals of a frame: HDM05_MARKERS of them. Several threads may ask for own and mean places at once; made markers use
// the scratch of the task.
void hdm05_goals(const hdm05_task *task, int frame, hdm05_kind kind, poise_goal *goals);

// The authors' start from nothing: all angles zero, the root at the mean of the markers.
void hdm05_zero(const hdm05_task *task, int frame, double *q);

// Does this frame, counted from 0, come before the AMC jumps for the first time? After that a solver that follows its own
// answers may stay in another basin for good.
static inline bool hdm05_is_before_flip(int frame)
{
    return frame + 1 < HDM05_FLIPS_FIRST;
}

// Is this frame, counted from 0, outside the window in which the AMC jumps?
static inline bool hdm05_is_calm(int frame)
{
    return frame + 1 < HDM05_FLIPS_FIRST || frame + 1 > HDM05_FLIPS_LAST;
}

#ifdef __cplusplus
}
#endif

#endif
