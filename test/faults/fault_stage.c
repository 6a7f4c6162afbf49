// What calls work on while their memory fails.
#include "faults.h"

#include <string.h>

fault_stage stage;
char fault_nowhere;

poise_clip *fault_walk(const poise_model *model)
{
    int nq = poise_model_info(model).nq;
    poise_clip *clip;
    ck_assert_int_eq(poise_clip_create(FRAMES, nq, 0.02, NULL, &clip, NULL), POISE_OK);
    for (int f = 0; f < FRAMES; ++f) {
        scene_motion_pose(model, "walk", f * 0.02, clip->q + (size_t)f * (size_t)nq);
    }
    return clip;
}

void open_stage(void)
{
    memset(&stage, 0, sizeof stage);
    ck_assert_int_eq(scene_create("humanoid", NULL, &stage.model, NULL), POISE_OK);
    ck_assert_int_eq(scene_create("erik-c-dh", NULL, &stage.arm, NULL), POISE_OK);
    ck_assert_int_le(poise_model_info(stage.model).nq, NUMBERS);
    ck_assert_int_eq(scene_markers("humanoid", stage.sites, MARKERS), MARKERS);
    for (int i = 0; i < MARKERS; ++i) {
        stage.placements[i] = (poise_placement){stage.sites[i].name, stage.sites[i].body, stage.sites[i].local, 1.0};
    }
    stage.clip = fault_walk(stage.model);
    poise_scale metres = {1.0, POISE_UP_Y};
    ck_assert_int_eq(
        poise_markers_from_clip(stage.model, stage.clip, metres, stage.placements, MARKERS, NULL, &stage.markers, NULL),
        POISE_OK);
    memcpy(stage.q, stage.clip->q, (size_t)stage.clip->nq * sizeof *stage.q);
    ck_assert_int_eq(poise_builder_create(NULL, &stage.builder, NULL), POISE_OK);
    for (int k = 0; k < poise_model_info(stage.model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(stage.model, k).given;
        ck_assert_int_eq(poise_builder_add_joint(stage.builder, &joint, NULL), POISE_OK);
    }
}

void close_stage(void)
{
    poise_builder_destroy(stage.builder);
    poise_markers_destroy(stage.markers);
    poise_clip_destroy(stage.clip);
    poise_model_destroy(stage.model);
    poise_model_destroy(stage.arm);
}
