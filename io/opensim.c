// OpenSim's documents: what elements say, setups of tools, and the tasks of inverse kinematics.
#include "io/opensim.h"

#include "base/arena.h"
#include "num/real.h"

#include <string.h>

// ---- Elements ------------------------------------------------------------------------------------------------------------

poise_status pz_osim_vec3(pz_input *input, const pz_xml_node *node, const char *name, vec3 *v)
{
    const pz_xml_node *child = pz_xml_child(node, name);
    if (!child || !child->text) {
        return POISE_OK;
    }
    double x[3];
    int count;
    poise_status status = pz_xml_numbers_of(input, child, "text", child->text, PZ_XML_FINITE, 3, 3, x, &count);
    *v = status == POISE_OK ? v3(x[0], x[1], x[2]) : *v;
    return status;
}

poise_status pz_osim_number(pz_input *input, const pz_xml_node *node, const char *name, double *value)
{
    const pz_xml_node *child = pz_xml_child(node, name);
    int count;
    if (!child || !child->text) {
        return POISE_OK;
    }
    return pz_xml_numbers_of(input, child, "text", child->text, PZ_XML_INFINITE, 1, 1, value, &count);
}

bool pz_osim_is_true(const pz_xml_node *node, const char *name)
{
    const char *text = pz_xml_child_text(node, name);
    return text && pz_word_is_like((pz_word){text, strlen(text)}, "true");
}

const char *pz_osim_name(const pz_xml_node *node)
{
    const char *name = pz_xml_get(node, "name");
    return name && name[0] ? name : NULL;
}

const pz_xml_node *pz_osim_objects(const pz_xml_node *node, const char *set)
{
    const pz_xml_node *child = pz_xml_child(node, set);
    const pz_xml_node *objects = child ? pz_xml_child(child, "objects") : NULL;
    return objects ? objects : child;
}

// ---- Setups: their documents ---------------------------------------------------------------------------------------------

poise_status pz_setup_open(pz_setup *s, const void *bytes, size_t size, const poise_allocator *allocator, poise_error *error)
{
    *s = (pz_setup){0};
    s->input = (pz_input){.bytes = bytes ? bytes : (const void *)"",
                          .size = bytes ? size : 0,
                          .options = &s->options,
                          .allocator = allocator,
                          .pool = {.allocator = allocator},
                          .kept = {.allocator = allocator},
                          .file = &s->file,
                          .error = error};
    return pz_xml_parse(&s->input, s->input.bytes, s->input.size, NULL, &s->root);
}

void pz_setup_close(pz_setup *s, bool keep)
{
    pz_pool_release(&s->input.pool);
    if (!keep) {
        pz_pool_release(&s->input.kept);
    }
}

const pz_xml_node *pz_setup_find(const pz_setup *s, const char *name)
{
    for (const pz_xml_node *node = s->root; node; node = pz_xml_after(node, s->root, false)) {
        if (pz_xml_is(node, name)) {
            return node;
        }
    }
    return NULL;
}

const char *pz_setup_text(pz_setup *s, const pz_xml_node *node, const char *name)
{
    const char *text = pz_xml_child_text(node, name);
    bool is_there = text && text[0] && strcmp(text, "Unassigned") != 0;
    const char *copy = is_there ? pz_pool_copy(&s->input.kept, text, strlen(text)) : NULL;
    s->lacks_memory = s->lacks_memory || (is_there && !copy);
    return copy;
}

poise_status pz_setup_times(pz_setup *s, const pz_xml_node *node, double *start, double *end)
{
    const pz_xml_node *range = pz_xml_child(node, "time_range");
    double values[2];
    int count = 0;
    if (!range || !range->text) {
        return POISE_OK;
    }
    poise_status status = pz_xml_numbers_of(&s->input, range, "text", range->text, PZ_XML_INFINITE, 2, 2, values, &count);
    if (status == POISE_OK) {
        *start = values[0];
        *end = values[1];
    }
    return status;
}

// ---- Tasks ---------------------------------------------------------------------------------------------------------------

// OpenSim minimises, over markers i that are seen and coordinate tasks c,
//
//   J = sum w_i |x_i - m_i|^2 / sum w_i  +  sum w_c (q_c - r_c)^2
//
// in metres and radians. poise_track_problem has the same with its task_weights.

static poise_status read_task(pz_setup *s, const pz_xml_node *node, poise_ik_task *task)
{
    const char *name = pz_osim_name(node), *value = pz_xml_child_text(node, "value_type");
    *task = (poise_ik_task){.name = name ? pz_pool_copy(&s->input.kept, name, strlen(name)) : "",
                            .is_coordinate = pz_xml_is(node, "IKCoordinateTask"),
                            .weight = 1.0};
    if (!task->name) {
        return pz_input_no_memory(&s->input);
    }
    poise_status status = pz_osim_number(&s->input, node, "weight", &task->weight);
    status = status == POISE_OK ? pz_osim_number(&s->input, node, "value", &task->manual) : status;
    task->value = value && strcmp(value, "manual_value") == 0 ? POISE_IK_MANUAL
                  : value && strcmp(value, "from_file") == 0  ? POISE_IK_FILE
                                                              : POISE_IK_DEFAULT;
    if (status == POISE_OK && (!(task->weight >= 0.0) || !is_finite(task->weight) || !is_finite(task->manual))) {
        return pz_xml_fail(&s->input, node, POISE_ERROR_FORMAT, "task \"%s\": weight %g must be finite and not negative",
                           task->name, task->weight);
    }
    return status;
}

poise_status pz_setup_tasks(pz_setup *s, const pz_xml_node *set, poise_ik_task **tasks, int *count)
{
    const pz_xml_node *objects = set ? pz_xml_child(set, "objects") : NULL, *list = objects ? objects : set;
    size_t most = 0;
    *count = 0;
    for (const pz_xml_node *at = list ? list->first : NULL; at; at = at->next) {
        most += 1;
    }
    *tasks = pz_pool_take(&s->input.kept, most, sizeof **tasks);
    poise_status status = *tasks ? POISE_OK : pz_input_no_memory(&s->input);
    for (const pz_xml_node *at = list ? list->first : NULL; at && status == POISE_OK; at = at->next) {
        bool is_task = pz_xml_is(at, "IKMarkerTask") || pz_xml_is(at, "IKCoordinateTask");
        const char *apply = pz_xml_child_text(at, "apply");
        if (is_task && (!apply || pz_osim_is_true(at, "apply"))) {
            status = read_task(s, at, &(*tasks)[*count]);
            *count += 1;
        }
    }
    return status;
}

// ---- Setups of inverse kinematics ----------------------------------------------------------------------------------------

// As it is handed out, with the memory of its parts.
typedef struct whole_setup {
    poise_ik_setup setup;
    poise_allocator allocator;
    bool has_allocator;
    pz_pool kept;
} whole_setup;

static poise_status fill(pz_setup *s, poise_ik_setup *setup)
{
    const pz_xml_node *tool = pz_setup_find(s, "InverseKinematicsTool");
    const pz_xml_node *set = pz_setup_find(s, "IKTaskSet");
    if (!tool && pz_setup_find(s, "ScaleTool")) { // whose marker placer has tasks, too
        return pz_xml_fail(&s->input, s->root, POISE_ERROR_FORMAT,
                           "<%s> is the setup of a ScaleTool, for \"poise scale\", not of an InverseKinematicsTool",
                           s->root->name);
    }
    if (!tool && !set) {
        return pz_xml_fail(&s->input, s->root, POISE_ERROR_FORMAT,
                           "<%s> contains neither an <InverseKinematicsTool> nor an <IKTaskSet>", s->root->name);
    }
    setup->start = -INFINITY;
    setup->end = INFINITY;
    if (tool) {
        setup->model = pz_setup_text(s, tool, "model_file");
        setup->markers = pz_setup_text(s, tool, "marker_file");
        setup->coordinates = pz_setup_text(s, tool, "coordinate_file");
        setup->output = pz_setup_text(s, tool, "output_motion_file");
    }
    poise_status status = s->lacks_memory ? pz_input_no_memory(&s->input) : POISE_OK;
    status = tool && status == POISE_OK ? pz_setup_times(s, tool, &setup->start, &setup->end) : status;
    return status == POISE_OK && set ? pz_setup_tasks(s, set, &setup->tasks, &setup->task_count) : status;
}

poise_status poise_ik_setup_read(const void *bytes, size_t size, const poise_allocator *allocator, poise_ik_setup **setup,
                                 poise_error *error)
{
    if ((!bytes && size > 0) || !setup) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "bytes and setup must not be NULL");
    }
    pz_setup s;
    poise_ik_setup filled = {.model = NULL};
    poise_status status = pz_setup_open(&s, bytes, size, allocator, error);
    status = status == POISE_OK ? fill(&s, &filled) : status;
    whole_setup *whole = status == POISE_OK ? pz_allocate(allocator, sizeof *whole) : NULL;
    if (whole) {
        *whole = (whole_setup){.setup = filled, .has_allocator = allocator != NULL, .kept = {.blocks = s.input.kept.blocks}};
        if (allocator) {
            whole->allocator = *allocator;
        }
        *setup = &whole->setup;
    } else if (status == POISE_OK) {
        status = pz_input_no_memory(&s.input);
    }
    pz_setup_close(&s, whole != NULL);
    return status;
}

void poise_ik_setup_destroy(poise_ik_setup *setup)
{
    if (setup) {
        whole_setup *whole = (whole_setup *)(void *)setup;
        poise_allocator allocator = whole->allocator;
        bool has_allocator = whole->has_allocator;
        whole->kept.allocator = has_allocator ? &allocator : NULL;
        pz_pool_release(&whole->kept);
        pz_release(has_allocator ? &allocator : NULL, whole);
    }
}

// ---- Onto a model --------------------------------------------------------------------------------------------------------

static const poise_ik_task *marker_task(const poise_ik_setup *setup, const char *label)
{
    for (int i = 0; i < setup->task_count; ++i) {
        if (!setup->tasks[i].is_coordinate && strcmp(setup->tasks[i].name, label) == 0) {
            return &setup->tasks[i];
        }
    }
    return NULL;
}

static poise_status apply_coordinate(const poise_ik_task *t, const poise_model *model, double *task, double *weights,
                                     poise_error *error)
{
    poise_joint_info info = poise_model_joint_info(model, poise_model_find_joint(model, t->name));
    if (!info.name) {
        return pz_error_set(error, POISE_ERROR_NOT_FOUND, "coordinate task \"%s\": the model has no such coordinate",
                            t->name);
    }
    if (info.nq != 1) {
        return POISE_OK; // it follows another one
    }
    weights[info.v] = t->weight;
    task[info.q] = t->value == POISE_IK_MANUAL ? t->manual : task[info.q];
    return POISE_OK;
}

poise_status poise_ik_setup_apply(const poise_ik_setup *setup, const poise_model *model, const double *posture,
                                  poise_placement *placements, int *count, double *task, double *task_weights,
                                  poise_error *error)
{
    if (!setup || !model || !count || (*count > 0 && !placements) || !task || !task_weights) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "only posture and error may be NULL");
    }
    poise_model_summary size = poise_model_info(model);
    poise_model_neutral(model, task);
    if (posture) {
        memcpy(task, posture, (size_t)size.nq * sizeof *task);
    }
    memset(task_weights, 0, (size_t)size.nv * sizeof *task_weights);
    poise_status status = POISE_OK;
    for (int i = 0; i < setup->task_count && status == POISE_OK; ++i) {
        if (setup->tasks[i].is_coordinate) {
            status = apply_coordinate(&setup->tasks[i], model, task, task_weights, error);
        }
    }
    int kept = 0;
    for (int i = 0; i < *count && status == POISE_OK; ++i) {
        const poise_ik_task *t = marker_task(setup, placements[i].label);
        if (t && t->weight > 0.0) {
            placements[kept] = placements[i];
            placements[kept++].weight = t->weight;
        }
    }
    *count = status == POISE_OK ? kept : *count;
    return status;
}
