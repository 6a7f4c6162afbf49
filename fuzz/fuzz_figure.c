// Any motion of any figure with arms and legs: brought to another one, pinned, mirrored, joined and looped.
#include "fuzz.h"
#include "structured.h"

#include <poise/edit.h>
#include <poise/retarget.h>

#include <math.h>

#define JOINTS  15
#define NUMBERS (7 * JOINTS) // room for q and for a step
#define FRAMES  8
#define PINS    3

// Bytes that are 0 give a figure that stands and moves as figures do; each bit of the first byte of a joint makes one of its
// parts arbitrary.
static poise_joint take_joint(fuzz_bytes *bytes, int number)
{
    static const struct {
        const char *name, *parent;
        double x, y;
    } rows[JOINTS] = {{"Hips", NULL, 0, 1},
                      {"Spine", "Hips", 0, 0.3},
                      {"Head", "Spine", 0, 0.3},
                      {"LeftUpLeg", "Hips", 0.1, 0},
                      {"LeftLeg", "LeftUpLeg", 0, -0.45},
                      {"LeftFoot", "LeftLeg", 0, -0.42},
                      {"RightUpLeg", "Hips", -0.1, 0},
                      {"RightLeg", "RightUpLeg", 0, -0.45},
                      {"RightFoot", "RightLeg", 0, -0.42},
                      {"LeftArm", "Spine", 0.2, 0.1},
                      {"LeftForeArm", "LeftArm", 0.3, 0},
                      {"LeftHand", "LeftForeArm", 0.25, 0},
                      {"RightArm", "Spine", -0.2, 0.1},
                      {"RightForeArm", "RightArm", -0.3, 0},
                      {"RightHand", "RightForeArm", -0.25, 0}};
    poise_joint joint = poise_joint_default();
    int features = fuzz_byte(bytes);
    joint.name = rows[number].name;
    joint.parent = rows[number].parent;
    joint.type = number == 0 ? POISE_JOINT_FREE : POISE_JOINT_BALL_QUATERNION;
    joint.offset.position = poise_vec3_make(rows[number].x, rows[number].y, 0.0);
    if (features & 1) {
        static const poise_joint_type types[] = {POISE_JOINT_FIXED, POISE_JOINT_REVOLUTE, POISE_JOINT_UNIVERSAL,
                                                 POISE_JOINT_BALL_EULER, POISE_JOINT_SWING_TWIST};
        joint.type = types[fuzz_index(bytes, (int)(sizeof types / sizeof types[0]))];
    }
    if (features & 2) {
        joint.offset.position = fuzz_vec3(bytes);
    }
    if (features & 4) {
        joint.offset.rotation = fuzz_quat(bytes);
        joint.axis = fuzz_vec3(bytes);
    }
    for (int i = 0; i < 3 && (features & 8) && joint.type != POISE_JOINT_BALL_QUATERNION; ++i) {
        joint.lower[i] = fuzz_number_or(bytes, -0.3);
        joint.upper[i] = fuzz_number_or(bytes, 0.4);
    }
    return joint;
}

static poise_model *take_figure(fuzz_bytes *bytes)
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_error error = {.text = ""};
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    for (int i = 0; i < JOINTS && status == POISE_OK; ++i) {
        poise_joint joint = take_joint(bytes, i);
        status = poise_builder_add_joint(builder, &joint, &error);
    }
    status = status == POISE_OK ? poise_model_create(builder, NULL, &model, &error) : status;
    fuzz_require(status == POISE_OK ? model != NULL : !model && error.text[0] != '\0', "an error without a text");
    poise_builder_destroy(builder);
    return model;
}

// A clip that was made: every number finite, and within the limits where that is promised. It is destroyed.
static void check_made(const poise_model *model, poise_status status, poise_clip *made, const poise_error *error,
                       bool limited)
{
    fuzz_require(status == POISE_OK || (!made && error->text[0] != '\0'), "an error without a text");
    for (int f = 0; made && f < made->frames; ++f) {
        const double *q = made->q + (size_t)f * (size_t)made->nq;
        for (int i = 0; i < made->nq; ++i) {
            fuzz_require(isfinite(q[i]), "a number of the clip is not finite");
        }
        fuzz_require(!limited || poise_model_within_limits(model, q), "a frame is outside of the limits");
    }
    poise_clip_destroy(made);
}

static void retarget(fuzz_bytes *bytes, int features, const poise_model *from, const poise_clip *clip)
{
    poise_model *to = take_figure(bytes);
    if (!to) {
        return;
    }
    double velocity[NUMBERS];
    poise_role_map map;
    poise_retarget_task task = poise_retarget_task_default();
    task.from = from;
    task.clip = clip;
    task.to = to;
    task.from_up = (poise_up)fuzz_index(bytes, 4);
    task.to_up = (poise_up)fuzz_index(bytes, 4);
    task.feet = (poise_feet)fuzz_index(bytes, 4);
    task.use_limits = !(features & 1);
    task.sole = fuzz_number_or(bytes, 0.0);
    task.ground = fuzz_number_or(bytes, NAN);
    if ((features & 2) && poise_retarget_velocities(to, fuzz_number_or(bytes, 3.0), velocity)) {
        task.velocity = velocity;
    }
    poise_clip *made = NULL;
    poise_retarget_outcome outcome;
    poise_finding findings[16];
    poise_verdict verdict;
    unsigned char contacts[FRAMES];
    poise_error error = {.text = ""};
    if ((features & 4) && poise_roles_match(&task, NULL, &map, NULL) == POISE_OK) {
        task.map = &map;
    }
    poise_status status = poise_retarget(&task, NULL, &made, contacts, &outcome, &error);
    if (status == POISE_OK && task.map) {
        status = poise_retarget_judge(&task, &outcome, NULL, &verdict, findings, 16, &error);
        fuzz_require(status == POISE_OK, "a motion that was made is not judged");
    }
    check_made(to, status, made, &error, task.use_limits);
    poise_model_destroy(to);
}

static void pin(fuzz_bytes *bytes, int features, const poise_model *model, poise_clip *clip)
{
    double q[NUMBERS];
    poise_pin pins[PINS];
    poise_pin_result results[PINS];
    poise_pin_report report;
    poise_pin_options options = poise_pin_options_default();
    poise_error error = {.text = ""};
    int count = 1 + fuzz_index(bytes, PINS);
    for (int i = 0; i < NUMBERS; ++i) {
        q[i] = 0.1;
    }
    for (int i = 0; i < count; ++i) {
        pins[i] = poise_pin_default();
        pins[i].goal = poise_goal_position(fuzz_index(bytes, JOINTS), poise_vec3_make(0, 0, 0),
                                           poise_vec3_make(fuzz_number_or(bytes, 0.3), fuzz_number_or(bytes, 0.9), 0.1));
        pins[i].goal = features & 1 ? fuzz_goal(bytes, q) : pins[i].goal;
        pins[i].target = (poise_pin_target)fuzz_index(bytes, 3);
        pins[i].from = fuzz_number_or(bytes, 0.1);
        pins[i].to = fuzz_number_or(bytes, 0.15);
        pins[i].fade_in = fuzz_number_or(bytes, 0.1);
        pins[i].fade_out = fuzz_number_or(bytes, 0.1);
    }
    if (features & 2) {
        poise_feet_report feet;
        count = poise_feet_pins(model, clip, NULL, pins, PINS, &feet, NULL) == POISE_OK && feet.contacts < PINS
                    ? feet.contacts
                    : 0;
    }
    options.keep_feet = !(features & 4);
    options.metres = fuzz_number_or(bytes, 0.0);
    poise_status status = poise_clip_pin(model, pins, count, &options, clip, NULL, results, &report, &error);
    fuzz_require(status == POISE_OK || error.text[0] != '\0', "an error without a text");
    fuzz_require(status != POISE_OK || report.outside == 0, "a frame left the limits");
}

static void change(fuzz_bytes *bytes, int way, const poise_model *model, const poise_clip *clip)
{
    poise_clip *made = NULL;
    poise_error error = {.text = ""};
    poise_mirror_report report;
    poise_up up = (poise_up)fuzz_index(bytes, 4);
    double blend = fuzz_number_or(bytes, 0.1), speed = fuzz_number_or(bytes, 1.5);
    poise_status status = POISE_OK;
    switch (way) {
    case 0:
        status = poise_clip_mirror(model, clip, NULL, &made, &report, &error);
        break;
    case 1:
        status = poise_clip_append(model, clip, clip, blend, up, NULL, &made, &error);
        break;
    case 2:
        status = poise_clip_loop(model, clip, blend, up, NULL, &made, &error);
        break;
    case 3:
        status = poise_clip_reverse(clip, NULL, &made, &error);
        break;
    default: // more frames are only slow
        status = speed < 1e-2 ? POISE_OK : poise_clip_speed(clip, model, speed, NULL, &made, &error);
    }
    check_made(model, status, made, &error, false);
}

// What is done, and how, stands first, so that few bytes lead everywhere.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_bytes bytes = {data, data + size};
    int kind = fuzz_index(&bytes, 7), features = fuzz_byte(&bytes);
    poise_model *model = take_figure(&bytes);
    poise_clip *clip = model ? fuzz_clip(&bytes, model, 2, FRAMES, 0.05) : NULL;
    if (clip && kind == 0) {
        retarget(&bytes, features, model, clip);
    } else if (clip && kind == 1) {
        pin(&bytes, features, model, clip);
    } else if (clip) {
        change(&bytes, kind - 2, model, clip);
    }
    poise_clip_destroy(clip);
    poise_model_destroy(model);
    return 0;
}
