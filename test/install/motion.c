// A user's program with a motion, against the installed libraries: a slide follows a marker.
#include <poise/poise.h>
#include <stdio.h>

#define FRAMES 20

static bool follows(const poise_model *model)
{
    const char *label = "tip";
    poise_placement place = {.label = label, .body = 0, .weight = 1.0};
    poise_markers *markers = NULL;
    poise_clip *clip = NULL;
    if (poise_markers_create(FRAMES, 1, 100.0, &label, NULL, &markers, NULL) != POISE_OK) {
        return false;
    }
    for (int f = 0; f < FRAMES; ++f) {
        markers->position[f] = poise_vec3_make(0.01 * f, 0, 0);
    }
    poise_track_problem problem = poise_track_problem_default();
    problem.model = model;
    problem.placements = &place;
    problem.placement_count = 1;
    problem.least_markers = 1;
    problem.markers = markers;
    bool is_right = poise_track(&problem, NULL, &clip, NULL, NULL) == POISE_OK;
    for (int f = 0; f < FRAMES && is_right; ++f) {
        double off = clip->q[f] - 0.01 * f;
        is_right = off < 1e-6 && off > -1e-6;
    }
    printf("%d frames: %s\n", FRAMES, is_right ? "followed" : "not followed");
    poise_clip_destroy(clip);
    poise_markers_destroy(markers);
    return is_right;
}

int main(void)
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_joint joint = poise_joint_default();
    joint.name = "slide";
    joint.type = POISE_JOINT_PRISMATIC;
    joint.axis = poise_vec3_make(1, 0, 0);
    bool is_right = poise_builder_create(NULL, &builder, NULL) == POISE_OK &&
                    poise_builder_add_joint(builder, &joint, NULL) == POISE_OK &&
                    poise_model_create(builder, NULL, &model, NULL) == POISE_OK && follows(model);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
    return is_right ? 0 : 1;
}
