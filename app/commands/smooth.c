// The motion filter over whole configurations.
#include "smooth.h"

#include "cli/arguments.h"
#include "cli/joint_names.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

// How numbers of q become numbers that are filtered.
typedef enum part_kind {
    PART_PLAIN,  // one number as it is
    PART_TURNS,  // a hinge without limits: one number, and whole turns
    PART_VECTOR, // a rotation vector without limits: three, and whole turns
    PART_QUAT    // a quaternion: four numbers become three
} part_kind;

typedef struct part {
    part_kind kind;
    int q, x; // where it begins in a configuration, and in what is filtered
} part;

struct smoother {
    const poise_model *model;
    int part_count, count; // parts; numbers that are filtered
    part *parts;
    double *reference;               // nq: the pose of the last reset
    double *setpoint, *x, *velocity; // count each: the last set-points, the place now, scratch
    poise_filter *filter;            // NULL: off
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

// Does a filtered number belong to the joint?
static bool belongs(const smoother *s, int i, int joint)
{
    for (int k = s->part_count - 1; k >= 0; --k) {
        if (s->parts[k].x <= i) {
            int place;
            return model_joint_of(s->model, s->parts[k].q, &place) == joint;
        }
    }
    return false;
}

// One word "velocity=2" or "elbow.velocity=2".
static bool read_word(const smoother *s, char *word, poise_filter_joint *joints)
{
    char *equals = strchr(word, '='), *name = word;
    double value;
    if (!equals || !parse_number(equals + 1, &value)) {
        complain("--filter: \"%s\" is not of the form name=number", word);
        return false;
    }
    *equals = '\0';
    char *dot = strrchr(word, '.');
    int joint = POISE_NONE;
    if (dot) {
        *dot = '\0';
        name = dot + 1;
        joint = poise_model_find_joint(s->model, word);
        if (joint == POISE_NONE) {
            complain("--filter: no joint is called \"%s\"; \"poise info\" lists them", word);
            return false;
        }
    }
    poise_filter_joint trial;
    if (!set_member(&trial, name, value)) {
        complain("--filter: no \"%s\"; there are velocity, acceleration, jerk, smoothness, responsiveness, soft", name);
        return false;
    }
    for (int i = 0; i < s->count; ++i) {
        if (!dot || belongs(s, i, joint)) {
            set_member(&joints[i], name, value);
        }
    }
    return true;
}

static bool read_text(const smoother *s, const char *text, poise_filter_joint *joints)
{
    while (text && *(text += strspn(text, " ,\t\n"))) {
        char word[256];
        size_t size = strcspn(text, " ,\t\n");
        snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word - 1), text);
        if (!read_word(s, word, joints)) {
            return false;
        }
        text += size;
    }
    return true;
}

// ---- Making --------------------------------------------------------------------------------------------------------------

static bool is_limited(const smoother *s, int first, int count)
{
    const double *lower = poise_model_info(s->model).lower, *upper = poise_model_info(s->model).upper;
    for (int i = first; i < first + count; ++i) {
        if (isfinite(lower[i]) || isfinite(upper[i])) {
            return true;
        }
    }
    return false;
}

static void add_part(smoother *s, part_kind kind, int q, int count)
{
    s->parts[s->part_count++] = (part){.kind = kind, .q = q, .x = s->count};
    s->count += count;
}

static void add_joint(smoother *s, int joint)
{
    int q = poise_model_joint_info(s->model, joint).q, count = poise_model_joint_info(s->model, joint).nq;
    poise_joint_type type = poise_model_joint_info(s->model, joint).type;
    bool vector = type == POISE_JOINT_BALL_EXPMAP || type == POISE_JOINT_FREE_EXPMAP;
    bool quat = type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE;
    int rotation = vector ? count - 3 : quat ? count - 4 : count; // where it begins; lengths come before
    for (int i = 0; i < rotation; ++i) {
        bool turns = type == POISE_JOINT_REVOLUTE && !is_limited(s, q, 1);
        add_part(s, turns ? PART_TURNS : PART_PLAIN, q + i, 1);
    }
    if (quat) {
        add_part(s, PART_QUAT, q + rotation, 3);
    } else if (vector && !is_limited(s, q + rotation, 3)) {
        add_part(s, PART_VECTOR, q + rotation, 3);
    } else {
        for (int i = rotation; i < count; ++i) {
            add_part(s, PART_PLAIN, q + i, 1);
        }
    }
}

static bool make_filter(smoother *s, const char *text)
{
    poise_filter_joint *joints = calloc((size_t)s->count + 1, sizeof *joints);
    if (!joints) {
        complain("no memory left");
        return false;
    }
    for (int i = 0; i < s->count; ++i) {
        joints[i] = poise_filter_joint_default();
    }
    for (int k = 0; k < s->part_count; ++k) {
        if (s->parts[k].kind == PART_PLAIN) {
            joints[s->parts[k].x].lower = poise_model_info(s->model).lower[s->parts[k].q];
            joints[s->parts[k].x].upper = poise_model_info(s->model).upper[s->parts[k].q];
        }
    }
    bool works = read_text(s, text, joints);
    if (works && poise_filter_create(joints, s->count, NULL, &s->filter, NULL) != POISE_OK) {
        complain("--filter \"%s\": velocity, acceleration and jerk must be above 0, smoothness in [0, 1), responsiveness in "
                 "[0, 1], soft not below 0",
                 text ? text : "");
        s->filter = NULL;
        works = false;
    }
    free(joints);
    return works;
}

smoother *smoother_create(const poise_model *model, const char *text)
{
    smoother *s = calloc(1, sizeof *s);
    size_t room = (size_t)poise_model_info(model).nq + 1;
    if (s) {
        s->model = model;
        s->parts = calloc(room, sizeof *s->parts);
        s->reference = calloc(room, sizeof *s->reference);
        s->setpoint = calloc(room, sizeof *s->setpoint);
        s->x = calloc(room, sizeof *s->x);
        s->velocity = calloc(room, sizeof *s->velocity);
    }
    if (!s || !s->parts || !s->reference || !s->setpoint || !s->x || !s->velocity) {
        complain("no memory left");
        smoother_destroy(s);
        return NULL;
    }
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        add_joint(s, k);
    }
    if ((!text || strcmp(text, "off") != 0) && !make_filter(s, text)) {
        smoother_destroy(s);
        return NULL;
    }
    return s;
}

void smoother_destroy(smoother *s)
{
    if (s) {
        poise_filter_destroy(s->filter);
        free(s->parts);
        free(s->reference);
        free(s->setpoint);
        free(s->x);
        free(s->velocity);
        free(s);
    }
}

// ---- Filtering -----------------------------------------------------------------------------------------------------------

// The rotation vector of a quaternion of any sign, up to pi long.
static void quat_log(poise_quat q, double *v)
{
    double sign = q.w < 0 ? -1 : 1, s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double scale = s > 1e-12 ? sign * 2 * poise_atan2(s, sign * q.w) / s : sign * 2;
    v[0] = scale * q.x;
    v[1] = scale * q.y;
    v[2] = scale * q.z;
}

static double distance2(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// Of the vectors of one rotation, v (1 + 2 pi k / |v|), the one nearest to `near`: k by the projection of `near` on v.
static void unwrap(double *v, const double *near)
{
    double l = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(l > 1e-9)) {
        return; // the direction of a turn is lost here, and the zero is as good as any
    }
    double along = (v[0] * near[0] + v[1] * near[1] + v[2] * near[2]) / l, turns = floor((along - l) / (2 * PI) + 0.5);
    double scale = 1 + 2 * PI * turns / l, other[3] = {v[0] * scale, v[1] * scale, v[2] * scale};
    if (turns != 0 && distance2(other, near) < distance2(v, near)) {
        memcpy(v, other, sizeof other);
    }
}

static poise_quat quat_at(const double *q)
{
    return (poise_quat){q[0], q[1], q[2], q[3]};
}

// Numbers of q to numbers that are filtered, near the last ones.
static void to_filter(const smoother *s, const double *q, double *x)
{
    for (int k = 0; k < s->part_count; ++k) {
        const part *p = &s->parts[k];
        double last[3], *to = x + p->x;
        switch (p->kind) {
        case PART_PLAIN:
            to[0] = q[p->q];
            break;
        case PART_TURNS:
            to[0] = q[p->q] + 2 * PI * floor((to[0] - q[p->q]) / (2 * PI) + 0.5);
            break;
        default:
            memcpy(last, to, sizeof last);
            if (p->kind == PART_VECTOR) {
                memcpy(to, q + p->q, sizeof last);
            } else {
                poise_quat reference = quat_at(s->reference + p->q);
                quat_log(poise_quat_multiply(poise_quat_conjugate(reference), quat_at(q + p->q)), to);
            }
            unwrap(to, last);
        }
    }
}

static void from_filter(const smoother *s, const double *x, double *q)
{
    for (int k = 0; k < s->part_count; ++k) {
        const part *p = &s->parts[k];
        const double *from = x + p->x;
        if (p->kind == PART_QUAT) {
            poise_vec3 v = {from[0], from[1], from[2]};
            poise_quat turn = poise_quat_from_axis_angle(v, sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
            poise_quat r = poise_quat_multiply(quat_at(s->reference + p->q), turn);
            memcpy(q + p->q, (double[]){r.x, r.y, r.z, r.w}, 4 * sizeof *q);
        } else {
            memcpy(q + p->q, from, (p->kind == PART_VECTOR ? 3 : 1) * sizeof *q);
        }
    }
}

void smoother_reset(smoother *s, const double *q)
{
    memcpy(s->reference, q, (size_t)poise_model_info(s->model).nq * sizeof *q);
    poise_model_clamp(s->model, s->reference, NULL, NULL);
    memset(s->setpoint, 0, (size_t)s->count * sizeof *s->setpoint);
    to_filter(s, s->reference, s->setpoint);
    memcpy(s->x, s->setpoint, (size_t)s->count * sizeof *s->x);
    if (s->filter) {
        poise_filter_reset(s->filter, s->x, NULL);
    }
}

void smoother_step(smoother *s, const double *setpoint, double dt, double *q)
{
    to_filter(s, setpoint, s->setpoint);
    if (!s->filter) {
        memcpy(q, setpoint, (size_t)poise_model_info(s->model).nq * sizeof *q);
        return;
    }
    poise_filter_step(s->filter, s->setpoint, dt, s->x, NULL);
    from_filter(s, s->x, q);
    if (!poise_model_within_limits(s->model, q)) {
        poise_model_clamp(s->model, q, NULL, NULL); // swing ellipses
    }
}

bool smoother_rests(const smoother *s)
{
    const double near = 1e-5, slow = 1e-3; // of the set-point; per second
    if (s->filter) {
        poise_filter_state(s->filter, NULL, s->velocity, NULL);
    }
    for (int i = 0; s->filter && i < s->count; ++i) {
        if (fabs(s->x[i] - s->setpoint[i]) > near || fabs(s->velocity[i]) > slow) {
            return false;
        }
    }
    return true;
}
