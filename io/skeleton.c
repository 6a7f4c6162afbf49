// What the formats of skeletons share: joints by their public description, the tips of bones, and what every writer checks.
#include "io/skeleton.h"

#include "base/text.h"
#include "num/real.h"

#include <math.h>
#include <string.h>

// ---- Orders of Euler angles ----------------------------------------------------------------------------------------------

const char *pz_euler_name(int order)
{
    static const char *const names[POISE_EULER_ORDER_COUNT] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx",
                                                               "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"};
    return names[order];
}

bool pz_euler_find(const int axis[3], poise_euler_order *order)
{
    for (int i = 0; i < POISE_EULER_ORDER_COUNT; ++i) {
        const char *name = pz_euler_name(i);
        if (name[0] == 'x' + axis[0] && name[1] == 'x' + axis[1] && name[2] == 'x' + axis[2]) {
            *order = (poise_euler_order)i;
            return true;
        }
    }
    return false;
}

// ---- Angles --------------------------------------------------------------------------------------------------------------

static double way(const double a[3], const double b[3])
{
    return fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]);
}

// R = Ri(a) Rj(b) Rk(c):
//
//   Rik = sin b,  Rjk = -sin a cos b,  Rkk = cos a cos b,  Rij = -cos b sin c,  Rii = cos b cos c
//
// Where cos b is 0 any a will do, so a stays, and c follows from Ri(-a) R = Rj(b) Rk(c), whose row j is sin c and cos c in
// the columns i and j. R has two triples, (a, b, c) and (a + pi, pi - b, c + pi), and whole turns of each.
void pz_euler_next(const double R[9], int first, double angle[3])
{
    int i = first, j = (first + 1) % 3, k = (first + 2) % 3;
    double one[3], other[3], cosine = sqrt(R[3 * j + k] * R[3 * j + k] + R[3 * k + k] * R[3 * k + k]);
    one[1] = poise_atan2(R[3 * i + k], cosine);
    if (cosine > 1e-9) { // below, the sines above are rounding errors: R is good to 1e-15
        one[0] = poise_atan2(-R[3 * j + k], R[3 * k + k]);
        one[2] = poise_atan2(-R[3 * i + j], R[3 * i + i]);
    } else {
        double s, c;
        poise_sincos(angle[0], &s, &c);
        one[0] = angle[0];
        one[2] = poise_atan2(c * R[3 * j + i] + s * R[3 * k + i], c * R[3 * j + j] + s * R[3 * k + j]);
    }
    for (int n = 0; n < 3; ++n) {
        other[n] = turn_near(n == 1 ? PZ_PI - one[1] : one[n] + PZ_PI, angle[n]);
        one[n] = turn_near(one[n], angle[n]);
    }
    memcpy(angle, way(other, angle) < way(one, angle) ? other : one, sizeof one);
}

// ---- Configurations ------------------------------------------------------------------------------------------------------

bool pz_configurations_of(const poise_model *model, pz_pool *pool, pz_configurations *out)
{
    int joints = poise_model_info(model).joints;
    *out = (pz_configurations){.nq = poise_model_info(model).nq};
    // four coordinates to each
    out->quaternions = pz_pool_take(pool, (size_t)out->nq / 4, sizeof *out->quaternions);
    for (int k = 0; k < joints && out->quaternions; ++k) {
        poise_joint_type type = poise_model_joint_info(model, k).type;
        if (type == POISE_JOINT_BALL_QUATERNION || type == POISE_JOINT_FREE) {
            out->quaternions[out->count++] = poise_model_joint_info(model, k).q + (type == POISE_JOINT_FREE ? 3 : 0);
        }
    }
    return out->quaternions != NULL;
}

bool pz_is_configuration(const pz_configurations *of, const double *q)
{
    if (!all_finite(q, (size_t)of->nq)) {
        return false;
    }
    for (int i = 0; i < of->count; ++i) {
        const double *r = q + of->quaternions[i];
        if (r[0] == 0 && r[1] == 0 && r[2] == 0 && r[3] == 0) {
            return false;
        }
    }
    return true;
}

// ---- Tips of bones -------------------------------------------------------------------------------------------------------

// "<body>.tip" and nothing but digits behind it.
static bool is_tip_of(const char *tool, const char *body)
{
    size_t length = strlen(body);
    if (strncmp(tool, body, length) != 0 || strncmp(tool + length, ".tip", 4) != 0) {
        return false;
    }
    const char *rest = tool + length + 4;
    while (is_digit(*rest)) {
        ++rest;
    }
    return *rest == '\0';
}

bool pz_tips_find(pz_pool *pool, const poise_model *model, pz_tips *tips)
{
    int bodies = poise_model_info(model).joints, tools = poise_model_info(model).tools;
    tips->first = pz_pool_take(pool, (size_t)bodies, sizeof *tips->first);
    tips->next = pz_pool_take(pool, (size_t)tools, sizeof *tips->next);
    tips->others = 0;
    if (!tips->first || !tips->next) {
        return false;
    }
    for (int b = 0; b < bodies; ++b) {
        tips->first[b] = -1;
    }
    for (int t = tools - 1; t >= 0; --t) { // from the last, so that lists run forwards
        int body = poise_model_tool_info(model, t).body;
        poise_quat r = poise_model_tool_info(model, t).pose.rotation;
        bool is_turned = r.x != 0 || r.y != 0 || r.z != 0;
        if (body >= 0 && !is_turned &&
            is_tip_of(poise_model_tool_info(model, t).name, poise_model_joint_info(model, body).body)) {
            tips->next[t] = tips->first[body];
            tips->first[body] = t;
        } else {
            tips->others += 1;
        }
    }
    return true;
}

void pz_put_name(pz_output *output, const char *name, const char *bad)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; ++i) {
        unsigned char c = (unsigned char)name[i];
        bool is_edge = c == ' ' && (i == 0 || i == length - 1);
        pz_put_bytes(output, c < 0x20 || c == 0x7f || is_edge || strchr(bad, c) ? "_" : &name[i], 1);
    }
}

poise_status pz_check_model(const poise_file *file, pz_output *output, const char *format)
{
    if (!file->model) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "%s: there is no model to write", format);
    }
    if (file->clip && file->clip->nq != poise_model_info(file->model).nq) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT,
                            "%s: the clip has %d numbers per frame, but its model has %d", format, file->clip->nq,
                            poise_model_info(file->model).nq);
    }
    return POISE_OK;
}

poise_status pz_check_finite(pz_output *output, const poise_clip *clip, int frame)
{
    const double *q = clip->q + (size_t)frame * (size_t)clip->nq;
    for (int i = 0; i < clip->nq; ++i) {
        if (q[i] - q[i] != 0.0) {
            return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "frame %d: coordinate %d is not finite", frame, i);
        }
    }
    return POISE_OK;
}

// "6 tools, markers, the masses of 29 bodies": one more part of what is lost.
static void add_loss(poise_error *losses, const char *format, int count)
{
    poise_error before = *losses, part;
    pz_error_set(&part, POISE_OK, format, count);
    pz_error_set(losses, POISE_OK, "%s%s%s", before.text, before.text[0] ? ", " : "", part.text);
}

static int count_masses(const poise_model *model)
{
    int masses = 0;
    for (int j = 0; j < poise_model_info(model).joints; ++j) {
        masses += poise_model_joint_info(model, j).given->mass != 0 ? 1 : 0;
    }
    return masses;
}

void pz_warn_of_losses(const poise_file *file, pz_output *output, const char *format, const pz_tips *tips, int limits)
{
    poise_error losses = {.text = ""};
    int masses = count_masses(file->model);
    if (tips->others > 0) {
        add_loss(&losses, tips->others == 1 ? "%d tool that is not a bone tip" : "%d tools that are not bone tips",
                 tips->others);
    }
    if (file->markers) {
        add_loss(&losses, "markers", 0);
    }
    if (masses > 0) {
        add_loss(&losses, masses == 1 ? "the mass of %d body" : "the masses of %d bodies", masses);
    }
    if (limits > 0) {
        add_loss(&losses, limits == 1 ? "the limits of %d coordinate" : "the limits of %d coordinates", limits);
    }
    if (losses.text[0]) {
        pz_output_warn(output, "%s cannot store %s", format, losses.text);
    }
    if (file->clip && file->clip->start_time != 0) {
        pz_output_warn(output, "%s cannot store the start time of %g s", format, file->clip->start_time);
    }
}
