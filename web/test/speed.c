// The work that is timed natively and in wasm: the humanoid of 58 degrees of freedom follows its 41 markers through a
// motion, every frame started from the answer of the one before.
//
//   prepare();  run(rounds);      the sum of all answers comes back, so that nothing is left out, and both can be compared
#include "speed.h"

#include <poise/solve.h>

#include "scenes/scenes.h"

#define FRAMES  120
#define MARKERS 64
#define NUMBERS 80

static struct {
    poise_model *model;
    poise_solver *solver;
    scene_marker markers[MARKERS];
    int count;
    poise_vec3 seen[FRAMES][MARKERS];
    double start[NUMBERS];
} work;

// The markers of every frame of a walk at 60 frames a second, a little off where they would be.
static poise_status see_frames(poise_kinematics *kinematics)
{
    double q[NUMBERS];
    poise_status status = POISE_OK;
    for (int f = 0; f < FRAMES && status == POISE_OK; ++f) {
        status = scene_motion_pose(work.model, "walk", f / 60.0, q);
        status = status == POISE_OK ? poise_kinematics_update(kinematics, q, NULL) : status;
        for (int m = 0; m < work.count; ++m) {
            poise_vec3 p = poise_kinematics_point(kinematics, work.markers[m].body, work.markers[m].local);
            double off = 0.002 * ((f * 7 + m * 13) % 11 - 5) / 5.0;
            work.seen[f][m] = poise_vec3_make(p.x + off, p.y - off, p.z + 0.5 * off);
        }
    }
    return status;
}

int speed_prepare(void)
{
    poise_solver_options options = poise_solver_options_default();
    options.gradient_tolerance = 1e-4; // as a tracker has it
    poise_kinematics *kinematics = NULL;
    poise_status status = scene_create("humanoid", NULL, &work.model, NULL);
    status = status == POISE_OK ? poise_solver_create(work.model, &options, NULL, &work.solver, NULL) : status;
    status = status == POISE_OK ? poise_kinematics_create(work.model, NULL, &kinematics, NULL) : status;
    if (status != POISE_OK || poise_model_info(work.model).nq > NUMBERS) {
        return 1;
    }
    work.count = scene_markers("humanoid", work.markers, MARKERS);
    status = see_frames(kinematics);
    status = status == POISE_OK ? scene_motion_pose(work.model, "walk", 0.0, work.start) : status;
    poise_kinematics_destroy(kinematics);
    return status != POISE_OK;
}

double speed_run(int rounds)
{
    double sum = 0.0;
    int nq = poise_model_info(work.model).nq;
    for (int round = 0; round < rounds; ++round) {
        double q[NUMBERS];
        for (int i = 0; i < nq; ++i) {
            q[i] = work.start[i];
        }
        for (int f = 0; f < FRAMES; ++f) {
            poise_goal goals[MARKERS];
            for (int m = 0; m < work.count; ++m) {
                goals[m] = poise_goal_position(work.markers[m].body, work.markers[m].local, work.seen[f][m]);
            }
            poise_report report;
            poise_solve(work.solver, goals, work.count, q, &report, NULL);
            sum += report.cost + q[f % nq];
        }
    }
    return sum;
}

int speed_frames(void)
{
    return FRAMES;
}
