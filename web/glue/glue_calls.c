// Memory, files that others name, progress, and all poses at once.
#include "glue.h"

#include <stdlib.h>

// Zeroed; NULL where memory is short.
void *WEB_EXPORT(web_allocate)(size_t size)
{
    return calloc(size > 0 ? size : 1, 1);
}

void WEB_EXPORT(web_release)(void *memory)
{
    free(memory);
}

// The host puts the bytes of the file that is named into memory of its own and returns their address, 0 if it has no such
// file; *size is their number.
WEB_IMPORT(load) unsigned char *web_host_load(const char *name, size_t *size);

static poise_status load(void *user, const char *name, const void **bytes, size_t *size)
{
    (void)user;
    *bytes = web_host_load(name, size);
    return *bytes ? POISE_OK : POISE_ERROR_NOT_FOUND;
}

// What poise_read_options.load takes.
poise_load WEB_EXPORT(web_load)(void)
{
    return load;
}

// What a recording has come to: `stage` begins, on `frames` frames; -1: a pass over one more frame is done.
WEB_IMPORT(progress) void web_host_progress(int stage, int frames);

static void tell_stage(void *user, poise_recording_stage stage, int frames)
{
    (void)user;
    web_host_progress((int)stage, frames);
}

static void tell_frame(void *user, int frame, int worker)
{
    (void)user, (void)worker;
    web_host_progress(-1, frame);
}

// Let the host hear of the work on a recording.
void WEB_EXPORT(web_recording_progress)(poise_recording_problem *problem)
{
    problem->on_stage = tell_stage;
    problem->track.on_frame = tell_frame;
}

// frames x placements flags: the distance of a marker from its place is one that errors are of.
void WEB_EXPORT(web_counted)(const poise_recording_result *r, unsigned char *counted)
{
    for (int f = 0; f < r->clip->frames; ++f) {
        bool is_held = r->frames[f].flags & POISE_TRACK_HELD;
        for (int i = 0; i < r->placement_count; ++i) {
            double d = r->distances[(size_t)f * (size_t)r->placement_count + (size_t)i];
            *counted++ = d == d && r->placements[i].weight > 0 && !is_held && !poise_track_lets_go(&r->frames[f], d);
        }
    }
}

static double *put_pose(double *at, poise_pose pose)
{
    const double numbers[7] = {pose.position.x, pose.position.y, pose.position.z, pose.rotation.x,
                               pose.rotation.y, pose.rotation.z, pose.rotation.w};
    for (int i = 0; i < 7; ++i) {
        *at++ = numbers[i];
    }
    return at;
}

// Update for q, then fill `poses` and `tools`: seven numbers for each body and each tool, position and quaternion x y z w.
poise_status WEB_EXPORT(web_forward)(poise_kinematics *kinematics, const poise_model *model, const double *q, double *poses,
                                     double *tools, poise_error *error)
{
    poise_status status = poise_kinematics_update(kinematics, q, error);
    for (int body = 0; status == POISE_OK && body < poise_model_info(model).joints; ++body) {
        poses = put_pose(poses, poise_kinematics_body_pose(kinematics, body));
    }
    for (int tool = 0; status == POISE_OK && tool < poise_model_info(model).tools; ++tool) {
        tools = put_pose(tools, poise_kinematics_tool_pose(kinematics, tool));
    }
    return status;
}
