// What files say of a recording that is to be tracked, and of a motion that is to be put on another skeleton.
#include <poise/io.h>

#include "motion/markers.h"

#include <string.h>

// The posture that OpenSim's models have as their default; NULL: there is none.
static const double *default_posture(const poise_file *skeleton)
{
    for (int i = 0; i < skeleton->posture_count; ++i) {
        if (strcmp(skeleton->postures[i].name, "default") == 0) {
            return skeleton->postures[i].q;
        }
    }
    return NULL;
}

static bool covers_recording(const poise_recording_problem *problem)
{
    int seen = 0;
    for (int i = 0; i < problem->placement_count && problem->markers; ++i) {
        seen += poise_markers_find(problem->markers, problem->placements[i].label) >= 0;
    }
    return problem->markers && pz_places_cover(seen, problem->placement_count, problem->markers->count);
}

poise_recording_problem poise_recording_of_files(const poise_file *skeleton, const poise_file *recording)
{
    poise_recording_problem problem = poise_recording_problem_default();
    problem.model = skeleton->model;
    problem.scale = skeleton->scale;
    problem.markers = recording->markers;
    problem.from = recording->model;
    problem.clip = recording->clip;
    problem.from_scale = recording->markers ? recording->markers->scale : recording->scale;
    problem.placements = skeleton->placements;
    problem.placement_count = skeleton->placement_count;
    if (problem.placement_count == 0 && recording->model) {
        problem.placements = recording->placements;
        problem.placement_count = recording->placement_count;
        problem.placements_from = recording->model;
    }
    if (skeleton->format == POISE_FORMAT_OSIM) { // its marker places are part of the model
        problem.posture = default_posture(skeleton);
        problem.only_placements = covers_recording(&problem);
    }
    return problem;
}

poise_retarget_task poise_retarget_of_files(const poise_file *motion, const poise_file *skeleton)
{
    poise_retarget_task task = poise_retarget_task_default();
    task.from = motion->model;
    task.clip = motion->clip;
    task.from_clip = motion->clip;
    task.from_up = motion->scale.up;
    task.to = skeleton->model;
    task.to_clip = skeleton->clip;
    task.to_up = skeleton->scale.up;
    task.shapes = skeleton->shapes;
    task.shape_count = skeleton->shape_count;
    task.hulls = skeleton->hulls;
    task.hull_count = skeleton->hull_count;
    task.shapes_skipped = skeleton->shapes_skipped;
    task.is_robot = skeleton->format == POISE_FORMAT_URDF || skeleton->format == POISE_FORMAT_MJCF;
    task.excluded = skeleton->excluded;
    task.excluded_count = skeleton->excluded_count;
    task.metres = skeleton->scale.metres;
    return task;
}
