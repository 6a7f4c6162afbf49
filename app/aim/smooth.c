// The motion filter, set up by words.
#include "smooth.h"

#include "cli/command.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct smoother {
    const poise_model *model;
    poise_filter *filter; // NULL: off
};

// ---- Reading -------------------------------------------------------------------------------------------------------------

static bool set_member(poise_filter_joint *joint, const char *name, double value)
{
    const struct {
        const char *name;
        double *place;
    } members[] = {{"velocity", &joint->velocity},     {"acceleration", &joint->acceleration},     {"jerk", &joint->jerk},
                   {"smoothness", &joint->smoothness}, {"responsiveness", &joint->responsiveness}, {"soft", &joint->soft}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; ++i) {
        if (strcmp(members[i].name, name) == 0) {
            *members[i].place = value;
            return true;
        }
    }
    return false;
}

static bool moves_freely(const poise_model *model, int joint)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    return info.parent == POISE_WORLD &&
           (info.type == POISE_JOINT_FREE || info.type == POISE_JOINT_FREE_EXPMAP || info.type == POISE_JOINT_FREE_EULER);
}

// "nutty" or "optimal": the mode of all joints that are filtered. False when it is neither.
static bool set_mode(const poise_model *model, const char *word, poise_filter_joint *joints)
{
    bool is_nutty = strcmp(word, "nutty") == 0;
    if (!is_nutty && strcmp(word, "optimal") != 0) {
        return false;
    }
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (joints[k].mode != POISE_FILTER_OFF) {
            joints[k].mode = is_nutty ? POISE_FILTER_NUTTY : POISE_FILTER_TIME_OPTIMAL;
        }
    }
    return true;
}

// One word "velocity=2" or "elbow.velocity=2"; a root that moves freely is filtered once it is named so.
static bool read_word(const poise_model *model, char *word, poise_filter_joint *joints)
{
    if (set_mode(model, word, joints)) {
        return true;
    }
    char *equals = strchr(word, '='), *name = word;
    double value;
    if (!equals || !parse_number(equals + 1, &value)) {
        complain("--filter: \"%s\" is neither of the form name=number nor one of: nutty optimal", word);
        return false;
    }
    *equals = '\0';
    char *dot = strrchr(word, '.');
    int joint = POISE_NONE;
    if (dot) {
        *dot = '\0';
        name = dot + 1;
        joint = poise_model_find_joint(model, word);
        if (joint == POISE_NONE) {
            complain("--filter: no joint is called \"%s\"; \"poise info\" lists them", word);
            return false;
        }
    }
    poise_filter_joint trial = poise_filter_joint_default();
    if (!set_member(&trial, name, value)) {
        complain("--filter: there is no \"%s\"; there are velocity, acceleration, jerk, smoothness, responsiveness, soft",
                 name);
        return false;
    }
    poise_filter *made = NULL;
    poise_error error;
    if (poise_filter_create(NULL, &trial, 1, NULL, &made, &error) != POISE_OK) {
        const char *rule = strchr(error.text, ':'); // after the joint, which is none of the model's
        complain("--filter %s=%s%s", name, equals + 1, rule ? rule : "");
        return false;
    }
    poise_filter_destroy(made);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (!dot || k == joint) {
            set_member(&joints[k], name, value);
            joints[k].mode = dot && joints[k].mode == POISE_FILTER_OFF ? POISE_FILTER_TIME_OPTIMAL : joints[k].mode;
        }
    }
    return true;
}

static bool read_text(const poise_model *model, const char *text, poise_filter_joint *joints)
{
    while (text && *(text += strspn(text, " ,\t\n"))) {
        char word[256];
        size_t size = strcspn(text, " ,\t\n");
        snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word - 1), text);
        if (!read_word(model, word, joints)) {
            return false;
        }
        text += size;
    }
    return true;
}

// ---- Filtering -----------------------------------------------------------------------------------------------------------

static bool make_filter(smoother *s, double metres, const char *text)
{
    int count = poise_model_info(s->model).joints;
    poise_filter_joint *joints = calloc((size_t)count, sizeof *joints);
    poise_error error = {.text = "no memory left"};
    for (int k = 0; joints && k < count; ++k) {
        joints[k] = poise_filter_joint_default();
        joints[k].mode = moves_freely(s->model, k) ? POISE_FILTER_OFF : POISE_FILTER_TIME_OPTIMAL;
        joints[k].length_unit = metres > 0 ? 1 / metres : 0;
    }
    bool works = joints && read_text(s->model, text, joints);
    if (works && poise_filter_create(s->model, joints, count, NULL, &s->filter, &error) != POISE_OK) {
        complain("--filter \"%s\": %s", text ? text : "", error.text);
        works = false;
    }
    free(joints);
    return works;
}

smoother *smoother_create(const poise_model *model, double metres, const char *text)
{
    smoother *s = calloc(1, sizeof *s);
    if (!s) {
        complain("no memory left");
        return NULL;
    }
    s->model = model;
    if ((!text || strcmp(text, "off") != 0) && !make_filter(s, metres, text)) {
        smoother_destroy(s);
        return NULL;
    }
    return s;
}

void smoother_destroy(smoother *s)
{
    if (s) {
        poise_filter_destroy(s->filter);
        free(s);
    }
}

void smoother_limits(const smoother *s, double *velocity, double *acceleration)
{
    for (int i = 0; i < poise_model_info(s->model).nv; ++i) {
        velocity[i] = acceleration[i] = INFINITY;
    }
    poise_filter_limits(s->filter, velocity, acceleration);
}

void smoother_reset(smoother *s, const double *q)
{
    if (s->filter) {
        poise_filter_reset(s->filter, q, NULL);
    }
}

void smoother_step(smoother *s, const double *setpoint, double dt, double *q)
{
    if (!s->filter) {
        memcpy(q, setpoint, (size_t)poise_model_info(s->model).nq * sizeof *q);
    } else {
        poise_filter_step(s->filter, setpoint, dt, q, NULL);
    }
}

bool smoother_rests(const smoother *s)
{
    return poise_filter_rests(s->filter);
}
