// Reading the words of one goal.
#include "io/goals/goal_words.h"

#include "math/scalar.h"

#include <string.h>

// ---- Words ---------------------------------------------------------------------------------------------------------------

bool pz_reader_fail(pz_reader *r, int index, const char *format, ...)
{
    poise_error why;
    va_list values;
    va_start(values, format);
    pz_error_set_list(&why, POISE_ERROR_FORMAT, format, values);
    va_end(values);
    r->status = pz_error_set(r->error, POISE_ERROR_FORMAT, "%s %d, word %d: %s", r->noun ? r->noun : "goal", r->number,
                             (r->place ? r->place[index] : index) + 1, why.text);
    return false;
}

bool pz_reader_no_memory(pz_reader *r)
{
    r->status = pz_error_set(r->error, POISE_ERROR_MEMORY, "no memory left");
    return false;
}

bool pz_reader_is_number(const char *text, double *number)
{
    return pz_word_number((pz_word){text, strlen(text)}, number);
}

const char *pz_reader_peek(const pz_reader *r)
{
    return r->next < r->count ? r->word[r->next] : NULL;
}

bool pz_reader_skip(pz_reader *r, const char *word)
{
    const char *next = pz_reader_peek(r);
    bool is_it = next && strcmp(next, word) == 0;
    r->next += is_it;
    return is_it;
}

bool pz_reader_numbers(pz_reader *r, const char *meaning, double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        const char *word = pz_reader_peek(r);
        const char *plural = count > 1 ? "s" : "";
        if (!word) {
            return pz_reader_fail(r, r->next, "%s needs %d number%s, but there %s %d", meaning, count, plural,
                                  i == 1 ? "is" : "are", i);
        }
        if (!pz_reader_is_number(word, &numbers[i])) {
            return pz_reader_fail(r, r->next, "\"%s\" is not a number; %s needs %d number%s", word, meaning, count, plural);
        }
        r->next += 1;
    }
    return true;
}

bool pz_reader_vector(pz_reader *r, const char *meaning, poise_vec3 *v)
{
    double n[3];
    if (!pz_reader_numbers(r, meaning, n, 3)) {
        return false;
    }
    *v = poise_vec3_make(n[0], n[1], n[2]);
    return true;
}

bool pz_reader_direction(pz_reader *r, const char *meaning, poise_vec3 *v)
{
    static const char *const name[] = {"x", "y", "z", "-x", "-y", "-z"};
    for (int i = 0; i < 6; ++i) {
        if (pz_reader_skip(r, name[i]) || (i < 3 && pz_reader_peek(r) && pz_reader_peek(r)[0] == '+' &&
                                           strcmp(pz_reader_peek(r) + 1, name[i]) == 0 && r->next++)) {
            double sign = i < 3 ? 1 : -1;
            *v = poise_vec3_make(i % 3 == 0 ? sign : 0, i % 3 == 1 ? sign : 0, i % 3 == 2 ? sign : 0);
            return true;
        }
    }
    int first = r->next;
    if (!pz_reader_vector(r, meaning, v)) {
        return false;
    }
    double most = max2(fabs(v->x), max2(fabs(v->y), fabs(v->z)));
    if (!(most > 0)) {
        return pz_reader_fail(r, first, "%s has zero length; give three numbers, or one of x y z -x -y -z", meaning);
    }
    poise_vec3 u = poise_vec3_make(v->x / most, v->y / most, v->z / most); // scaled first: squares do not overflow
    double length = sqrt(u.x * u.x + u.y * u.y + u.z * u.z);
    *v = poise_vec3_make(u.x / length, u.y / length, u.z / length);
    return true;
}

bool pz_reader_angle_unit(pz_reader *r, double *unit)
{
    if (pz_reader_skip(r, "deg") || pz_reader_skip(r, "degrees")) {
        *unit = PZ_RADIANS_PER_DEGREE;
        return true;
    }
    if (pz_reader_skip(r, "rad") || pz_reader_skip(r, "radians")) {
        *unit = 1;
        return true;
    }
    return pz_reader_fail(r, r->next, "write deg or rad after the angles");
}

// ---- Bodies and rotations ------------------------------------------------------------------------------------------------

bool pz_reader_body(pz_reader *r, int *body, poise_pose *local)
{
    const char *name = pz_reader_peek(r);
    poise_error why;
    if (!name) {
        return pz_reader_fail(r, r->next, "the name of a body or tool is missing");
    }
    *body = poise_model_find_part(r->words->model, name, local, &why);
    if (*body < 0) {
        return pz_reader_fail(r, r->next, "%s", why.text);
    }
    r->next += 1;
    return true;
}

bool pz_reader_has_rotation(const pz_reader *r)
{
    const char *word = pz_reader_peek(r);
    return word && (strcmp(word, "rpy") == 0 || strcmp(word, "quaternion") == 0 || strcmp(word, "turn") == 0);
}

bool pz_reader_rotation(pz_reader *r, poise_quat *rotation)
{
    double n[4] = {0}, unit = 1;
    poise_vec3 axis;
    if (pz_reader_skip(r, "rpy")) {
        if (!pz_reader_numbers(r, "rpy (roll, pitch, yaw)", n, 3) || !pz_reader_angle_unit(r, &unit)) {
            return false;
        }
        *rotation = poise_quat_from_roll_pitch_yaw(n[0] * unit, n[1] * unit, n[2] * unit);
        return true;
    }
    if (pz_reader_skip(r, "turn")) {
        if (!pz_reader_direction(r, "the axis of turn", &axis) || !pz_reader_numbers(r, "turn (an angle)", n, 1) ||
            !pz_reader_angle_unit(r, &unit)) {
            return false;
        }
        *rotation = poise_quat_from_axis_angle(axis, n[0] * unit);
        return true;
    }
    int first = r->next;
    if (!pz_reader_skip(r, "quaternion")) {
        return pz_reader_fail(r, first, "a rotation is needed: rpy R P Y deg, turn AXIS ANGLE deg, or quaternion X Y Z W");
    }
    if (!pz_reader_numbers(r, "quaternion (x y z w)", n, 4)) {
        return false;
    }
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]);
    if (!(length > 1e-9 && length < 1e9)) { // any rotation can be written with numbers near 1
        return pz_reader_fail(r, first, "the quaternion is zero or not finite");
    }
    *rotation = (poise_quat){n[0] / length, n[1] / length, n[2] / length, n[3] / length};
    return true;
}
