// Keyframes as postures.
//
//   <keyframe><key name="home" qpos="0 0 0.8  1 0 0 0  0.1 -0.4 ..."/></keyframe>
//
// qpos has the numbers of all joints, body by body: 1 of a hinge or slide, 4 of a ball (w x y z), 7 of a free joint. What
// follows another joint has a number there and none in the model.
#include "io/mjcf/mjcf.h"

#include <string.h>

static int numbers_of(pz_mjcf_joint_type type)
{
    static const int counts[] = {[MJCF_HINGE] = 1, [MJCF_SLIDE] = 1, [MJCF_BALL] = 4, [MJCF_FREE] = 7};
    return counts[type];
}

// The numbers of a text, `count` of them; false where there are more, fewer or others.
static bool read_numbers(const char *text, int count, double *values)
{
    pz_scan scan = pz_scan_over(text, strlen(text));
    for (int i = 0; i < count; ++i) {
        if (!pz_scan_number(&scan, &values[i])) {
            return false;
        }
    }
    return !pz_scan_skip(&scan);
}

static void put_joint(const pz_mjcf *m, const pz_mjcf_joint *joint, const double *from, double *q)
{
    const poise_model *model = m->input->file->model;
    poise_joint_info info = poise_model_joint_info(model, poise_model_find_joint(model, m->parts[joint->part].joint.name));
    int count = numbers_of(joint->type);
    if (info.nq != count) { // it follows another
        return;
    }
    memcpy(q + info.q, from, (size_t)count * sizeof *q);
    if (count >= 4) { // w x y z there, x y z w here
        const double *there = from + count - 4;
        double *here = q + info.q + count - 4;
        here[0] = there[1], here[1] = there[2], here[2] = there[3], here[3] = there[0];
    }
}

static poise_status read_key(pz_mjcf *m, const pz_xml_node *node, double *values, int count)
{
    poise_file *file = m->input->file;
    const char *name = pz_xml_get(node, "name"), *qpos = pz_xml_get(node, "qpos");
    if (!name || !name[0] || !qpos) {
        return POISE_OK; // nobody could ask for it, or it is of activations or mocap bodies
    }
    if (!read_numbers(qpos, count, values)) {
        pz_xml_warn(m->input, &m->causes[MJCF_KEY], node, "qpos of key \"%s\" does not have %d numbers; it is ignored", name,
                    count);
        return POISE_OK;
    }
    double *q = pz_pool_take(&m->input->kept, (size_t)poise_model_info(file->model).nq, sizeof *q);
    const char *copy = pz_pool_copy(&m->input->kept, name, strlen(name));
    if (!q || !copy) {
        return pz_input_no_memory(m->input);
    }
    poise_model_neutral(file->model, q);
    for (int b = 0, at = 0; b < m->body_count; ++b) {
        for (int j = m->bodies[b].first_joint; j >= 0; j = m->joints[j].next) {
            put_joint(m, &m->joints[j], values + at, q);
            at += numbers_of(m->joints[j].type);
        }
    }
    file->postures[file->posture_count++] = (poise_posture){.name = copy, .q = q};
    return POISE_OK;
}

poise_status pz_mjcf_read_keys(pz_mjcf *m)
{
    size_t most = 0, count = 0;
    for (const pz_xml_node *node = NULL; (node = pz_mjcf_next_in(m, "keyframe", "key", node));) {
        most += 1;
    }
    for (int j = 0; j < m->joint_count; ++j) {
        count += (size_t)numbers_of(m->joints[j].type);
    }
    if (most == 0) {
        return POISE_OK;
    }
    poise_file *file = m->input->file;
    file->postures = pz_pool_take(&m->input->kept, most, sizeof *file->postures);
    double *values = pz_pool_take(&m->input->pool, count + 1, sizeof *values);
    poise_status status = file->postures && values ? POISE_OK : pz_input_no_memory(m->input);
    for (const pz_xml_node *node = NULL; status == POISE_OK && (node = pz_mjcf_next_in(m, "keyframe", "key", node));) {
        status = read_key(m, node, values, (int)count);
    }
    return status;
}
