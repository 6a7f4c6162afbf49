#include "io/bone_tips.h"

#include "base/letters.h"

#include <math.h>
#include <string.h>

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

bool pz_tip_is_child(const poise_model *model, int joint, poise_vec3 tip)
{
    int end = joint + poise_model_joint_info(model, joint).subtree;
    for (int child = joint + 1; child < end; child += poise_model_joint_info(model, child).subtree) {
        poise_vec3 p = poise_model_joint_info(model, child).given->offset.position;
        if (p.x == tip.x && p.y == tip.y && p.z == tip.z) {
            return true;
        }
    }
    return false;
}

static double length_of(poise_vec3 v)
{
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

// The bone above, of some length, in the frame of the body.
static poise_vec3 bone_above(const poise_model *model, int body)
{
    poise_quat turn = poise_pose_identity().rotation; // from the frame in question to the body's
    for (int k = body; poise_model_joint_info(model, k).parent >= 0; k = poise_model_joint_info(model, k).parent) {
        poise_pose offset = poise_model_joint_info(model, k).given->offset;
        poise_quat r = offset.rotation;
        turn = poise_quat_multiply(turn, (poise_quat){-r.x, -r.y, -r.z, r.w});
        if (length_of(offset.position) > 0) {
            return poise_quat_rotate(turn, offset.position);
        }
    }
    return poise_vec3_make(0, 0, 0);
}

poise_vec3 pz_leaf_end(const poise_model *model, int body)
{
    const double share = 0.3; // of a bone, what a hand is to a forearm
    poise_vec3 end = poise_vec3_make(0, 0, 0);
    for (int t = 0; t < poise_model_info(model).tools; ++t) {
        poise_tool_info tool = poise_model_tool_info(model, t);
        end = tool.body == body && length_of(tool.pose.position) > length_of(end) ? tool.pose.position : end;
    }
    const poise_joint *joint = poise_model_joint_info(model, body).given;
    double times = 1;
    if (!(length_of(end) > 0)) {
        bool has_mass = joint->mass > 0 && length_of(joint->mass_center) > 0;
        times = has_mass ? 2 : share;
        end = has_mass ? joint->mass_center : bone_above(model, body);
    }
    return poise_vec3_make(times * end.x, times * end.y, times * end.z);
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
