// Clips edited, and pins: the calls that take memory.
#include "faults.h"

#include <poise/edit.h>

static poise_status clip_pin(const poise_allocator *a, poise_error *e)
{
    poise_clip *clip = fault_walk(stage.model);
    size_t size = (size_t)clip->frames * (size_t)clip->nq * sizeof *clip->q;
    poise_pin pin = poise_pin_default();
    pin.goal.body = poise_model_find_body(stage.model, "left_hand");
    pin.goal.target.position = poise_vec3_make(0.3, 1.2, 0.3);
    pin.from = 0.06, pin.to = 0.08, pin.fade_in = pin.fade_out = 0.03;
    poise_status status = poise_clip_pin(stage.model, &pin, 1, NULL, clip, a, NULL, NULL, e);
    if (status != POISE_OK) {
        ck_assert_mem_eq(clip->q, stage.clip->q, size);
    }
    poise_clip_destroy(clip);
    return status;
}

static poise_status pin_list_create(const poise_allocator *a, poise_error *e)
{
    static const char text[] = "{\"pins\": [{\"goal\": \"left_hand\", \"keys\": [{\"time\": 1, \"target\": [1, 2, 3]}]}]}";
    poise_pin_list *made = UNTOUCHED;
    poise_goal_words words = {.model = stage.model};
    poise_status status = poise_pin_list_create(a, &made, e);
    if (status != POISE_OK) {
        ck_assert_ptr_eq(made, UNTOUCHED);
        return status;
    }
    status = poise_pin_list_parse(made, &words, NULL, "posture neutral from 1 s; left_hand where it is until 2", e);
    status = status == POISE_OK ? poise_pin_list_read(made, &words, NULL, text, sizeof text - 1, e) : status;
    poise_pin_list_destroy(made);
    return status;
}

static poise_status feet_pins(const poise_allocator *a, poise_error *e)
{
    poise_feet_report report = {.contacts = -7};
    poise_status status = poise_feet_pins(stage.model, stage.clip, a, NULL, 0, &report, e);
    ck_assert_int_eq(status == POISE_OK, report.contacts != -7);
    return status;
}

static poise_status edit_judge(const poise_allocator *a, poise_error *e)
{
    poise_edit_problem problem = poise_edit_problem_default();
    poise_verdict verdict = {.count = -7};
    poise_finding findings[4];
    problem.model = stage.model;
    problem.before = problem.after = stage.clip;
    poise_status status = poise_edit_judge(&problem, a, &verdict, findings, 4, e);
    ck_assert(status == POISE_OK || verdict.count == 0);
    return status;
}

MAKES(clip_reverse, poise_clip, poise_clip_destroy, poise_clip_reverse(stage.clip, a, &made, e))

MAKES(clip_speed, poise_clip, poise_clip_destroy, poise_clip_speed(stage.clip, stage.model, 2, a, &made, e))

MAKES(clip_mirror, poise_clip, poise_clip_destroy, poise_clip_mirror(stage.model, stage.clip, a, &made, NULL, e))

MAKES(clip_append, poise_clip, poise_clip_destroy,
      poise_clip_append(stage.model, stage.clip, stage.clip, 0.04, POISE_UP_Y, a, &made, e))

MAKES(clip_loop, poise_clip, poise_clip_destroy, poise_clip_loop(stage.model, stage.clip, 0.04, POISE_UP_Y, a, &made, e))

static poise_status clip_repeated(const poise_allocator *a, poise_error *e)
{
    poise_clip_travel travel = {.turn = -7};
    poise_status status = poise_clip_repeated(stage.model, stage.clip, POISE_UP_Y, a, &travel, e);
    ck_assert_int_eq(status == POISE_OK, travel.turn != -7);
    return status;
}

const fault_row edit_faults[] = {
    {"poise_clip_append", clip_append, false},
    {"poise_clip_loop", clip_loop, false},
    {"poise_clip_mirror", clip_mirror, false},
    {"poise_clip_pin", clip_pin, false},
    {"poise_clip_repeated", clip_repeated, false},
    {"poise_clip_reverse", clip_reverse, false},
    {"poise_clip_speed", clip_speed, false},
    {"poise_feet_pins", feet_pins, false},
    {"poise_pin_list_create", pin_list_create, false},
    {"poise_edit_judge", edit_judge, false},
    {NULL, NULL, false},
};
