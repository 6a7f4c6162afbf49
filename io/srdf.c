// SRDF, what MoveIt says about a URDF robot: pairs of links that may touch, and named states.
//
//   <disable_collisions link1="hand" link2="finger" reason="Adjacent"/>
//   <group_state name="home" group="arm"><joint name="elbow" value="1.5"/></group_state>
//
// A state becomes a posture: joints that it does not name are neutral. One name for states of several groups is one posture.
// The joint of a free base is that of <virtual_joint>, or "root_joint", which Pinocchio calls it.
//
// Read: with the model of its robot (options.model): the pairs, as excluded, and the states, as postures.
// Refused: without a model ("give it as model"), and where hardly a link is one of the model's ("this SRDF is for another
// robot").
#include "io/xml.h"
#include "num/vector.h"

#include <string.h>

enum { NO_LINK, NO_JOINT, CAUSE_COUNT };

typedef struct srdf {
    pz_input *input;
    const pz_xml_node *robot;
    const poise_model *model;
    const char *base; // name of the first <virtual_joint>; NULL: none
    pz_cause causes[CAUSE_COUNT];
    int named, known; // links of pairs; those that the model has
} srdf;

static int find_link(srdf *s, const pz_xml_node *node, const char *attribute)
{
    const char *name = pz_xml_get(node, attribute);
    int body = name ? poise_model_find_body(s->model, name) : POISE_NONE;
    s->named += 1;
    s->known += body != POISE_NONE;
    if (body == POISE_NONE) {
        pz_xml_warn(s->input, &s->causes[NO_LINK], node, "%s: the model has no link \"%s\"; the pair is left out", attribute,
                    name ? name : "");
    }
    return body;
}

static poise_status read_pairs(srdf *s, size_t most)
{
    if (most == 0) {
        return POISE_OK;
    }
    poise_file *file = s->input->file;
    file->excluded = pz_pool_take(&s->input->kept, most, sizeof *file->excluded);
    if (!file->excluded) {
        return pz_input_no_memory(s->input);
    }
    for (const pz_xml_node *node = s->robot->first; node; node = node->next) {
        if (pz_xml_is(node, "disable_collisions")) {
            poise_pair pair = {find_link(s, node, "link1"), find_link(s, node, "link2")};
            if (pair.a != POISE_NONE && pair.b != POISE_NONE) {
                file->excluded[file->excluded_count++] = pair;
            }
        }
    }
    if (2 * s->known < s->named) {
        return pz_xml_fail(s->input, s->robot, POISE_ERROR_FORMAT,
                           "this SRDF is for another robot: the model has %d of the %d links in its pairs", s->known,
                           s->named);
    }
    return POISE_OK;
}

// The posture of this name, made where there is none; NULL: out of memory.
static poise_posture *posture_named(srdf *s, const char *name)
{
    poise_file *file = s->input->file;
    for (int i = 0; i < file->posture_count; ++i) {
        if (strcmp(file->postures[i].name, name) == 0) {
            return &file->postures[i];
        }
    }
    double *q = pz_pool_take(&s->input->kept, (size_t)poise_model_info(s->model).nq, sizeof *q);
    const char *copy = pz_pool_copy(&s->input->kept, name, strlen(name));
    if (!q || !copy) {
        return NULL;
    }
    poise_model_neutral(s->model, q);
    file->postures[file->posture_count] = (poise_posture){.name = copy, .q = q};
    return &file->postures[file->posture_count++];
}

// A free base goes by other names here.
static int find_joint(const srdf *s, const char *name)
{
    int joint = poise_model_find_joint(s->model, name);
    bool is_free = poise_model_joint_info(s->model, 0).type == POISE_JOINT_FREE;
    bool is_base = strcmp(name, "root_joint") == 0 || (s->base && strcmp(name, s->base) == 0);
    return joint == POISE_NONE && is_free && is_base ? 0 : joint;
}

// The rotation of a free base, x y z w.
static poise_status make_unit(const srdf *s, const pz_xml_node *node, double *rotation)
{
    quat unit = quat_normalize((quat){rotation[0], rotation[1], rotation[2], rotation[3]});
    if (unit.x == 0 && unit.y == 0 && unit.z == 0 && unit.w == 0) {
        return pz_xml_fail(s->input, node, POISE_ERROR_FORMAT, "the rotation x y z w, the last four numbers, is 0 0 0 0");
    }
    rotation[0] = unit.x;
    rotation[1] = unit.y;
    rotation[2] = unit.z;
    rotation[3] = unit.w;
    return POISE_OK;
}

static poise_status read_joint(srdf *s, const pz_xml_node *node, double *q)
{
    const char *name = pz_xml_get(node, "name");
    int joint = name ? find_joint(s, name) : POISE_NONE;
    if (joint == POISE_NONE) {
        pz_xml_warn(s->input, &s->causes[NO_JOINT], node, "the model has no joint \"%s\"; its value is left out",
                    name ? name : "");
        return POISE_OK;
    }
    poise_joint_info info = poise_model_joint_info(s->model, joint);
    if (info.nq == 0 || info.mimic != POISE_NONE) {
        return POISE_OK;
    }
    poise_status status = pz_xml_exactly(s->input, node, "value", info.nq, q + info.q);
    return status == POISE_OK && info.type == POISE_JOINT_FREE ? make_unit(s, node, q + info.q + 3) : status;
}

static poise_status read_states(srdf *s, size_t most)
{
    if (most == 0) {
        return POISE_OK;
    }
    poise_file *file = s->input->file;
    file->postures = pz_pool_take(&s->input->kept, most, sizeof *file->postures);
    if (!file->postures) {
        return pz_input_no_memory(s->input);
    }
    poise_status status = POISE_OK;
    for (const pz_xml_node *state = s->robot->first; state && status == POISE_OK; state = state->next) {
        const char *name = pz_xml_get(state, "name");
        if (!pz_xml_is(state, "group_state") || !name) {
            continue;
        }
        poise_posture *posture = posture_named(s, name);
        status = posture ? POISE_OK : pz_input_no_memory(s->input);
        for (const pz_xml_node *node = state->first; node && status == POISE_OK; node = node->next) {
            status = pz_xml_is(node, "joint") ? read_joint(s, node, (double *)posture->q) : POISE_OK;
        }
    }
    return status;
}

static poise_status read_srdf(pz_input *input)
{
    srdf s = {.input = input,
              .model = input->options->model,
              .causes = {[NO_LINK] = {"pairs of links that the model does not have", 0},
                         [NO_JOINT] = {"joints that the model does not have", 0}}};
    pz_xml_node *root = NULL;
    if (!s.model) {
        return pz_input_fail(input, POISE_ERROR_ARGUMENT, 0, "an SRDF needs its robot: give it as model");
    }
    poise_status status = pz_xml_parse(input, input->bytes, input->size, NULL, &root);
    if (status == POISE_OK && !pz_xml_is(root, "robot")) {
        return pz_xml_fail(input, root, POISE_ERROR_FORMAT, "this is <%s>, not <robot>: not an SRDF file", root->name);
    }
    size_t pairs = 0, states = 0;
    for (const pz_xml_node *node = status == POISE_OK ? root->first : NULL; node; node = node->next) {
        pairs += pz_xml_is(node, "disable_collisions");
        states += pz_xml_is(node, "group_state");
        s.base = !s.base && pz_xml_is(node, "virtual_joint") ? pz_xml_get(node, "name") : s.base;
    }
    s.robot = root;
    status = status == POISE_OK ? read_pairs(&s, pairs) : status;
    status = status == POISE_OK ? read_states(&s, states) : status;
    pz_causes_close(input, s.causes, CAUSE_COUNT);
    return status;
}

const pz_format_row pz_srdf_format = {.name = "srdf", .extension = ".srdf", .read = read_srdf};
