// Reading the words of one goal.
#include "goal_words.h"

#include "cli/parse_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180)

// ---- Words ---------------------------------------------------------------------------------------------------------------

bool reader_fail(reader *r, int index, const char *format, ...)
{
    char text[READER_ERROR];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    snprintf(r->error, r->size, "goal %d, word %d: %s", r->number, index + 1, text);
    return false;
}

const char *reader_peek(const reader *r)
{
    return r->next < r->count ? r->word[r->next] : NULL;
}

bool reader_skip(reader *r, const char *word)
{
    const char *next = reader_peek(r);
    bool is_it = next && strcmp(next, word) == 0;
    r->next += is_it;
    return is_it;
}

bool reader_numbers(reader *r, const char *meaning, double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        const char *word = reader_peek(r);
        const char *plural = count > 1 ? "s" : "";
        if (!word) {
            return reader_fail(r, r->next, "%s needs %d number%s, there %s %d", meaning, count, plural,
                               i == 1 ? "is" : "are", i);
        }
        if (!parse_number(word, &numbers[i])) {
            return reader_fail(r, r->next, "\"%s\" is not a number; %s needs %d number%s", word, meaning, count, plural);
        }
        r->next += 1;
    }
    return true;
}

bool reader_vector(reader *r, const char *meaning, poise_vec3 *v)
{
    double n[3];
    if (!reader_numbers(r, meaning, n, 3)) {
        return false;
    }
    *v = poise_vec3_make(n[0], n[1], n[2]);
    return true;
}

bool reader_direction(reader *r, const char *meaning, poise_vec3 *v)
{
    static const char *const name[] = {"x", "y", "z", "-x", "-y", "-z"};
    for (int i = 0; i < 6; ++i) {
        if (reader_skip(r, name[i]) ||
            (i < 3 && reader_peek(r) && reader_peek(r)[0] == '+' && strcmp(reader_peek(r) + 1, name[i]) == 0 && r->next++)) {
            double sign = i < 3 ? 1 : -1;
            *v = poise_vec3_make(i % 3 == 0 ? sign : 0, i % 3 == 1 ? sign : 0, i % 3 == 2 ? sign : 0);
            return true;
        }
    }
    int first = r->next;
    if (!reader_vector(r, meaning, v)) {
        return false;
    }
    double most = fmax(fabs(v->x), fmax(fabs(v->y), fabs(v->z))); // scaled first: squares do not overflow
    double length = most > 0 ? hypot(hypot(v->x / most, v->y / most), v->z / most) : 0;
    if (!(length > 0)) {
        return reader_fail(r, first, "%s has no length; it is three numbers, or one of x y z -x -y -z", meaning);
    }
    *v = poise_vec3_make(v->x / most / length, v->y / most / length, v->z / most / length);
    return true;
}

bool reader_angle_unit(reader *r, double *unit)
{
    if (reader_skip(r, "deg") || reader_skip(r, "degrees")) {
        *unit = DEGREE;
        return true;
    }
    if (reader_skip(r, "rad") || reader_skip(r, "radians")) {
        *unit = 1;
        return true;
    }
    return reader_fail(r, r->next, "say deg or rad after the angles");
}

// ---- Bodies and rotations ------------------------------------------------------------------------------------------------

static const char *part_name(const void *model, int index)
{
    int bodies = poise_model_joint_count(model);
    return index < bodies ? poise_model_joint_info(model, index).body : poise_model_tool_info(model, index - bodies).name;
}

bool reader_body(reader *r, int *body, poise_pose *local)
{
    const poise_model *model = r->context->model;
    const char *name = reader_peek(r);
    if (!name) {
        return reader_fail(r, r->next, "the name of a body or tool is missing");
    }
    *local = poise_pose_identity();
    *body = poise_model_find_body(model, name);
    *body = *body == POISE_NONE ? poise_model_find_joint(model, name) : *body;
    int tool = *body == POISE_NONE ? poise_model_find_tool(model, name) : POISE_NONE;
    if (tool != POISE_NONE) {
        *body = poise_model_tool_info(model, tool).body;
        *local = poise_model_tool_info(model, tool).pose;
    }
    if (*body == POISE_NONE) {
        int parts = poise_model_joint_count(model) + poise_model_tool_count(model);
        const char *near = poise_nearest_name(name, part_name, model, parts);
        return reader_fail(r, r->next, "no body or tool is called \"%s\"%s%s%s", name, near ? "; did you mean \"" : "",
                           near ? near : "", near ? "\"?" : "");
    }
    r->next += 1;
    return true;
}

bool reader_has_rotation(const reader *r)
{
    const char *word = reader_peek(r);
    return word && (strcmp(word, "rpy") == 0 || strcmp(word, "quaternion") == 0 || strcmp(word, "turn") == 0);
}

bool reader_rotation(reader *r, poise_quat *rotation)
{
    double n[4], unit = 1;
    poise_vec3 axis;
    if (reader_skip(r, "rpy")) {
        if (!reader_numbers(r, "rpy (roll, pitch, yaw)", n, 3) || !reader_angle_unit(r, &unit)) {
            return false;
        }
        *rotation = poise_quat_from_roll_pitch_yaw(n[0] * unit, n[1] * unit, n[2] * unit);
        return true;
    }
    if (reader_skip(r, "turn")) {
        if (!reader_direction(r, "the axis of turn", &axis) || !reader_numbers(r, "turn (an angle)", n, 1) ||
            !reader_angle_unit(r, &unit)) {
            return false;
        }
        *rotation = poise_quat_from_axis_angle(axis, n[0] * unit);
        return true;
    }
    int first = r->next;
    if (!reader_skip(r, "quaternion")) {
        return reader_fail(r, first, "a rotation is needed: rpy R P Y deg, turn AXIS ANGLE deg, or quaternion X Y Z W");
    }
    if (!reader_numbers(r, "quaternion (x y z w)", n, 4)) {
        return false;
    }
    double length = hypot(hypot(n[0], n[1]), hypot(n[2], n[3]));
    if (!(length > 1e-9 && length < 1e9)) { // any rotation can be written with numbers near 1
        return reader_fail(r, first, "the quaternion has no sensible length");
    }
    *rotation = (poise_quat){n[0] / length, n[1] / length, n[2] / length, n[3] / length};
    return true;
}
