// OpenSim's documents beside its models: what elements say, setups of tools, the tasks of inverse kinematics, and ScaleTool.
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
//
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

// ---- Scaling: the tool ---------------------------------------------------------------------------------------------------
//
// ScaleTool: a generic model takes on the size of a person.
//
//   factor of a measurement = mean over its pairs of markers of (mean distance in the recording / distance in the model)
//
// written to the listed axes of the listed bodies; a manual scale replaces all three factors of its body. Then the scaled
// model is posed on the mean of the static frames by its own tasks, and every marker that is not fixed moves to where it
// was recorded, X_GB^-1 m.

typedef struct scaler {
    const poise_osim_scaling *problem;
    const poise_allocator *allocator;
    poise_error *error;
    pz_setup setup, set;            // the tool; the document that has the markers
    poise_file *generic, *set_file; // as read; the second may be NULL
    poise_kinematics *kin;          // of the generic model, in its default posture
    poise_placement *places;        // in the setup's pool
    int place_count;
    poise_body_scale *factors; // in the setup's kept pool
    int factor_count, factor_room;
    const char **absent; // names in the setup's kept pool
    int absent_count, absent_room;
    double unit; // metres of the recording
} scaler;

static poise_status no_memory(const scaler *s)
{
    return pz_error_set(s->error, POISE_ERROR_MEMORY, "out of memory");
}

// A name that the setup asks for and that is not there; once.
static poise_status miss(scaler *s, const char *name)
{
    for (int i = 0; i < s->absent_count; ++i) {
        if (strcmp(s->absent[i], name) == 0) {
            return POISE_OK;
        }
    }
    const char *copy = s->absent_count < s->absent_room ? pz_pool_copy(&s->setup.input.kept, name, strlen(name)) : NULL;
    if (!copy) {
        return no_memory(s);
    }
    s->absent[s->absent_count++] = copy;
    return POISE_OK;
}

// ---- Scaling: markers ----------------------------------------------------------------------------------------------------

static int frame_at(const poise_markers *m, double time, bool is_end)
{
    double frame = clamp((time - m->start_time) * m->rate, 0.0, m->frames - 1), nearly = 1e-6;
    int below = (int)(frame + nearly);
    return !is_end && below + nearly < frame ? below + 1 : below;
}

// The frames of a part's <time_range>.
static poise_status frames_of(scaler *s, const pz_xml_node *node, int *first, int *last)
{
    double start = -1e9, end = 1e9;
    poise_status status = pz_setup_times(&s->setup, node, &start, &end);
    *first = frame_at(s->problem->markers, start, false);
    *last = frame_at(s->problem->markers, end, true);
    return status;
}

static bool seen_at(const scaler *s, int frame, const char *label, vec3 *x)
{
    const poise_markers *m = s->problem->markers;
    int i = poise_markers_find(m, label);
    if (i < 0 || !poise_markers_seen(m, frame, i)) {
        return false;
    }
    *x = v3_scale(m->position[(size_t)frame * (size_t)m->count + (size_t)i], s->unit);
    return true;
}

static const poise_placement *place_of(const scaler *s, const char *label)
{
    for (int i = 0; i < s->place_count; ++i) {
        if (strcmp(s->places[i].label, label) == 0) {
            return &s->places[i];
        }
    }
    return NULL;
}

// Recorded distance over the model's; 0 where a marker is missing in either.
static double ratio_of(const scaler *s, const char *a, const char *b, int first, int last)
{
    const poise_placement *p = place_of(s, a), *q = place_of(s, b);
    double sum = 0.0;
    int count = 0;
    for (int f = first; f <= last && p && q; ++f) {
        vec3 x, y;
        if (seen_at(s, f, a, &x) && seen_at(s, f, b, &y)) {
            sum += v3_norm(v3_sub(x, y));
            count += 1;
        }
    }
    if (count == 0) {
        return 0.0;
    }
    vec3 x = poise_kinematics_point(s->kin, p->body, p->local), y = poise_kinematics_point(s->kin, q->body, q->local);
    double length = v3_norm(v3_sub(x, y));
    return length > 0.0 ? sum / count / length : 0.0;
}

// ---- Scaling: factors ----------------------------------------------------------------------------------------------------

static poise_body_scale *factors_of(scaler *s, const char *body)
{
    for (int i = 0; i < s->factor_count; ++i) {
        if (strcmp(s->factors[i].body, body) == 0) {
            return &s->factors[i];
        }
    }
    if (s->factor_count == s->factor_room) {
        return NULL;
    }
    const char *name = pz_pool_copy(&s->setup.input.kept, body, strlen(body));
    if (!name) {
        return NULL;
    }
    s->factors[s->factor_count] = (poise_body_scale){name, {1, 1, 1}, 0};
    return &s->factors[s->factor_count++];
}

// The mean ratio of the pairs of a <Measurement>.
static poise_status measure(scaler *s, const pz_xml_node *node, int first, int last, double *factor)
{
    const pz_xml_node *list = pz_osim_objects(node, "MarkerPairSet");
    double sum = 0.0;
    int count = 0;
    for (const pz_xml_node *pair = list ? list->first : NULL; pair; pair = pair->next) {
        const char *text = pz_xml_is(pair, "MarkerPair") ? pz_xml_child_text(pair, "markers") : NULL;
        pz_scan scan = pz_scan_over(text ? text : "", text ? strlen(text) : 0);
        pz_word a, b;
        if (!pz_scan_word(&scan, &a) || !pz_scan_word(&scan, &b)) {
            continue;
        }
        char *one = pz_pool_copy(&s->setup.input.pool, a.text, a.length);
        char *other = pz_pool_copy(&s->setup.input.pool, b.text, b.length);
        if (!one || !other) {
            return no_memory(s);
        }
        double ratio = ratio_of(s, one, other, first, last);
        if (!(ratio > 0.0)) {
            return pz_xml_fail(&s->setup.input, pair, POISE_ERROR_NOT_FOUND,
                               "measurement \"%s\": markers \"%s\" and \"%s\" are not both in the model and the recording",
                               pz_osim_name(node), one, other);
        }
        sum += ratio;
        count += 1;
    }
    *factor = count > 0 ? sum / count : 1.0;
    return POISE_OK;
}

// Does "X y Z" name this axis, in either case?
static bool has_axis(const char *axes, char axis)
{
    return strchr(axes, axis) || strchr(axes, axis - 'A' + 'a');
}

static poise_status apply_measurement(scaler *s, const pz_xml_node *node, int first, int last)
{
    double factor = 1.0;
    poise_status status = measure(s, node, first, last, &factor);
    const pz_xml_node *list = pz_osim_objects(node, "BodyScaleSet");
    for (const pz_xml_node *at = list ? list->first : NULL; at && status == POISE_OK; at = at->next) {
        const char *axes = pz_xml_is(at, "BodyScale") ? pz_xml_child_text(at, "axes") : NULL;
        if (!axes) {
            continue;
        }
        const char *body = pz_osim_name(at) ? pz_osim_name(at) : "";
        poise_body_scale *f = factors_of(s, body);
        if (!f) {
            return no_memory(s);
        }
        f->factors.x = has_axis(axes, 'X') ? factor : f->factors.x;
        f->factors.y = has_axis(axes, 'Y') ? factor : f->factors.y;
        f->factors.z = has_axis(axes, 'Z') ? factor : f->factors.z;
    }
    return status;
}

static bool is_applied(const pz_xml_node *node)
{
    return !pz_xml_child_text(node, "apply") || pz_osim_is_true(node, "apply");
}

static poise_status apply_manual(scaler *s, const pz_xml_node *node)
{
    vec3 scales = {1, 1, 1};
    const char *segment = pz_xml_child_text(node, "segment");
    poise_status status = pz_osim_vec3(&s->setup.input, node, "scales", &scales);
    if (status != POISE_OK || !segment) {
        return status;
    }
    poise_body_scale *f = factors_of(s, segment);
    if (!f) {
        return no_memory(s);
    }
    f->factors = scales;
    return POISE_OK;
}

// One of the words of <scaling_order>.
static poise_status apply_order(scaler *s, const pz_xml_node *tool, pz_word word, int first, int last)
{
    bool measures = pz_word_is_like(word, "measurements");
    const pz_xml_node *list = pz_osim_objects(tool, measures ? "MeasurementSet" : "ScaleSet");
    poise_status status = POISE_OK;
    for (const pz_xml_node *at = list ? list->first : NULL; at && status == POISE_OK; at = at->next) {
        if (measures && pz_xml_is(at, "Measurement") && is_applied(at)) {
            status = apply_measurement(s, at, first, last);
        } else if (!measures && pz_xml_is(at, "Scale") && is_applied(at)) {
            status = apply_manual(s, at);
        }
    }
    return status;
}

// Masses: to the subject's, in proportion to the volumes or in the shares that they have.
static poise_status scale_masses(scaler *s, const pz_xml_node *tool)
{
    const pz_xml_node *root = pz_setup_find(&s->setup, "ScaleTool");
    double wanted = 0.0, total = 0.0;
    poise_status status = root ? pz_osim_number(&s->setup.input, root, "mass", &wanted) : POISE_OK;
    bool keeps_shares = pz_osim_is_true(tool, "preserve_mass_distribution");
    const poise_model *model = s->generic->model;
    for (int pass = 0; pass < 2 && status == POISE_OK && wanted > 0.0; ++pass) {
        for (int k = 0; k < poise_model_info(model).joints; ++k) {
            const poise_joint *given = poise_model_joint_info(model, k).given;
            if (!(given->mass > 0.0)) {
                continue;
            }
            poise_body_scale *f = factors_of(s, given->body);
            if (!f) {
                return no_memory(s);
            }
            double volume = keeps_shares ? 1.0 : fabs(f->factors.x * f->factors.y * f->factors.z);
            total += pass == 0 ? given->mass * volume : 0.0;
            f->mass = pass == 1 ? volume * wanted / total : 0.0;
        }
    }
    return status;
}

// Bodies that the setup scales and the model lacks. Some are usual, such as the patellae of a model without; where they are
// more than a third the setup is another model's.
static poise_status find_strangers(scaler *s)
{
    poise_status status = POISE_OK;
    int strangers = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < s->factor_count && status == POISE_OK; ++i) {
            bool is_stranger = poise_model_find_body(s->generic->model, s->factors[i].body) < 0;
            strangers += pass == 0 && is_stranger;
            status = pass == 1 && is_stranger && 3 * strangers > s->factor_count ? miss(s, s->factors[i].body) : status;
        }
    }
    return status;
}

static poise_status find_factors(scaler *s)
{
    const pz_xml_node *tool = pz_setup_find(&s->setup, "ModelScaler");
    int first = 0, last = 0;
    if (!tool || !is_applied(tool)) {
        return POISE_OK;
    }
    poise_status status = frames_of(s, tool, &first, &last);
    const char *order = pz_xml_child_text(tool, "scaling_order");
    pz_scan scan = pz_scan_over(order ? order : "", order ? strlen(order) : 0);
    pz_word word;
    while (status == POISE_OK && pz_scan_word(&scan, &word)) {
        status = apply_order(s, tool, word, first, last);
    }
    status = status == POISE_OK ? find_strangers(s) : status;
    return status == POISE_OK ? scale_masses(s, tool) : status;
}

// ---- Scaling: placing markers --------------------------------------------------------------------------------------------

static bool is_fixed(const scaler *s, const char *label)
{
    for (const pz_xml_node *node = s->set.root; node; node = pz_xml_after(node, s->set.root, false)) {
        const char *name = pz_xml_is(node, "Marker") ? pz_osim_name(node) : NULL;
        if (name && strcmp(name, label) == 0) {
            return pz_osim_is_true(node, "fixed");
        }
    }
    return false;
}

static bool mean_of(const scaler *s, const char *label, int first, int last, vec3 *mean)
{
    vec3 sum = {0, 0, 0}, x;
    int count = 0;
    for (int f = first; f <= last; ++f) {
        if (seen_at(s, f, label, &x)) {
            sum = v3_add(sum, x);
            count += 1;
        }
    }
    *mean = v3_scale(sum, 1.0 / (count > 0 ? count : 1));
    return count > 0;
}

// What posing needs, in the setup's pool.
typedef struct pose_problem {
    poise_placement *places; // with a task
    poise_goal *goals;       // as many, and one for coordinates
    double *task, *weights;
    bool *unseen;
    int count;
} pose_problem;

static poise_status make_problem(scaler *s, const poise_osim_scaled *out, const pz_xml_node *placer, pose_problem *p)
{
    pz_pool *pool = &s->setup.input.pool;
    const poise_model *model = out->file->model;
    size_t most = (size_t)out->file->placement_count, nq = (size_t)poise_model_info(model).nq;
    poise_ik_setup tasks = {.model = NULL};
    *p = (pose_problem){.places = pz_pool_take(pool, most, sizeof *p->places),
                        .goals = pz_pool_take(pool, most + 1, sizeof *p->goals),
                        .task = pz_pool_take(pool, nq, sizeof *p->task),
                        .weights = pz_pool_take(pool, nq, sizeof *p->weights),
                        .unseen = pz_pool_take(pool, nq, sizeof *p->unseen),
                        .count = (int)most};
    if (!p->places || !p->goals || !p->task || !p->weights || !p->unseen) {
        return no_memory(s);
    }
    memcpy(p->places, out->file->placements, most * sizeof *p->places);
    poise_status status = pz_setup_tasks(&s->setup, pz_xml_child(placer, "IKTaskSet"), &tasks.tasks, &tasks.task_count);
    for (int i = 0; i < tasks.task_count && status == POISE_OK; ++i) {
        const poise_ik_task *t = &tasks.tasks[i];
        bool is_there = t->is_coordinate || !(t->weight > 0.0) ||
                        (place_of(s, t->name) && poise_markers_find(s->problem->markers, t->name) >= 0);
        status = is_there ? status : miss(s, t->name);
    }
    return status == POISE_OK
               ? poise_ik_setup_apply(&tasks, model, out->q, p->places, &p->count, p->task, p->weights, s->error)
               : status;
}

// Goals of the markers that were seen; the sum of their weights.
static double make_goals(const scaler *s, pose_problem *p, int first, int last)
{
    double weight = 0.0;
    int kept = 0;
    for (int i = 0; i < p->count; ++i) {
        vec3 x;
        if (mean_of(s, p->places[i].label, first, last, &x)) {
            p->goals[kept] = poise_goal_position(p->places[i].body, p->places[i].local, x);
            p->goals[kept].weight = p->places[i].weight;
            weight += p->places[i].weight;
            p->places[kept++] = p->places[i];
        }
    }
    p->count = kept;
    return weight;
}

static poise_status solve_pose(const scaler *s, poise_osim_scaled *out, pose_problem *p, double weight)
{
    const poise_model *model = out->file->model;
    poise_solver_options options = poise_solver_options_default();
    options.max_iterations = 1000;
    options.gradient_tolerance = 1e-10;
    poise_unseen_dofs(model, p->places, p->count, p->weights, p->unseen);
    options.locked = p->unseen;
    p->goals[p->count] = poise_goal_posture(p->task, weight);
    p->goals[p->count].q_weights = p->weights;
    poise_solver *solver = NULL;
    poise_report report;
    poise_status status = poise_solver_create(model, &options, s->allocator, &solver, s->error);
    status = status == POISE_OK ? poise_solve(solver, p->goals, p->count + 1, out->q, &report, s->error) : status;
    double square = 0.0, pull = 0.0;
    for (int i = 0; i < p->count && status == POISE_OK; ++i) {
        double off = poise_solver_goal_error(solver, i).error;
        square += off * off;
        pull += p->places[i].weight * off * off;
        out->worst = max2(out->worst, off);
    }
    out->rms = p->count > 0 ? sqrt(square / p->count) : 0.0;
    out->weighted = weight > 0.0 ? sqrt(pull / weight) : 0.0;
    poise_solver_destroy(solver);
    return status;
}

static poise_status move_markers(const scaler *s, poise_osim_scaled *out, int first, int last)
{
    poise_kinematics *kin = NULL;
    poise_status status = poise_kinematics_create(out->file->model, s->allocator, &kin, s->error);
    status = status == POISE_OK ? poise_kinematics_update(kin, out->q, s->error) : status;
    for (int i = 0; i < out->file->placement_count && status == POISE_OK; ++i) {
        poise_placement *p = &out->file->placements[i];
        vec3 x;
        if (!is_fixed(s, p->label) && mean_of(s, p->label, first, last, &x)) {
            p->local = poise_pose_transform(poise_pose_inverse(poise_kinematics_body_pose(kin, p->body)), x);
            out->placed += 1;
        }
    }
    poise_kinematics_destroy(kin);
    return status;
}

static poise_status place_markers(scaler *s, poise_osim_scaled *out)
{
    const pz_xml_node *placer = pz_setup_find(&s->setup, "MarkerPlacer");
    int first = 0, last = 0;
    pose_problem p;
    if (!placer || !is_applied(placer)) {
        return POISE_OK;
    }
    poise_status status = frames_of(s, placer, &first, &last);
    status = status == POISE_OK ? make_problem(s, out, placer, &p) : status;
    if (status != POISE_OK) {
        return status;
    }
    double weight = make_goals(s, &p, first, last);
    if (p.count == 0) {
        return pz_error_set(s->error, POISE_ERROR_NOT_FOUND, "no marker of the placer's tasks is in the recording");
    }
    status = solve_pose(s, out, &p, weight);
    return status == POISE_OK ? move_markers(s, out, first, last) : status;
}

// ---- Scaling: the whole --------------------------------------------------------------------------------------------------

static poise_status read_all(scaler *s)
{
    const poise_osim_scaling *p = s->problem;
    poise_read_options options = {0};
    options.format = POISE_FORMAT_OSIM;
    poise_status status = pz_setup_open(&s->setup, p->setup, p->setup_size, s->allocator, s->error);
    status =
        status == POISE_OK ? poise_read(p->model, p->model_size, &options, s->allocator, &s->generic, s->error) : status;
    if (status == POISE_OK && p->marker_set) {
        options.model = s->generic->model;
        status = poise_read(p->marker_set, p->marker_set_size, &options, s->allocator, &s->set_file, s->error);
    }
    if (status == POISE_OK) {
        const void *bytes = p->marker_set ? p->marker_set : p->model;
        size_t size = p->marker_set ? p->marker_set_size : p->model_size;
        status = pz_setup_open(&s->set, bytes, size, s->allocator, s->error);
    }
    status = status == POISE_OK ? poise_kinematics_create(s->generic->model, s->allocator, &s->kin, s->error) : status;
    status = status == POISE_OK ? poise_kinematics_update(s->kin, s->generic->postures[0].q, s->error) : status;
    const poise_file *places = s->set_file ? s->set_file : s->generic;
    s->places = places ? places->placements : NULL;
    s->place_count = places ? places->placement_count : 0;
    s->factor_room = status == POISE_OK ? poise_model_info(s->generic->model).joints + 1000 : 0;
    s->factors = pz_pool_take(&s->setup.input.kept, (size_t)s->factor_room, sizeof *s->factors);
    s->absent_room = s->factor_room + 1000;
    s->absent = pz_pool_take(&s->setup.input.kept, (size_t)s->absent_room, sizeof *s->absent);
    s->unit = p->markers->scale.metres > 0.0 ? p->markers->scale.metres : 1.0;
    return status == POISE_OK && (!s->factors || !s->absent) ? no_memory(s) : status;
}

// Is there something to do in the setup?
static poise_status check_setup(const scaler *s)
{
    const pz_xml_node *scale = pz_setup_find(&s->setup, "ModelScaler"), *place = pz_setup_find(&s->setup, "MarkerPlacer");
    if (!pz_setup_find(&s->setup, "ScaleTool") && !scale && !place) {
        return pz_error_set(s->error, POISE_ERROR_FORMAT, "the setup holds no ScaleTool; an IK setup goes to track --tasks");
    }
    if (!(scale && is_applied(scale)) && !(place && is_applied(place))) {
        return pz_error_set(s->error, POISE_ERROR_FORMAT,
                            "the ScaleTool applies neither its ModelScaler nor its MarkerPlacer");
    }
    return POISE_OK;
}

// Places of the marker set, scaled with their bodies; labels in the kept pool.
static poise_status scale_places(scaler *s, poise_osim_scaled *out)
{
    pz_pool *kept = &s->setup.input.kept;
    poise_placement *places = pz_pool_take(kept, (size_t)s->place_count, sizeof *places);
    for (int i = 0; places && i < s->place_count; ++i) {
        places[i] = s->places[i];
        places[i].label = pz_pool_copy(kept, s->places[i].label, strlen(s->places[i].label));
        poise_body_scale *f = factors_of(s, poise_model_joint_info(out->file->model, places[i].body).body);
        if (!places[i].label || !f) {
            return no_memory(s);
        }
        vec3 x = places[i].local;
        places[i].local = v3(x.x * f->factors.x, x.y * f->factors.y, x.z * f->factors.z);
    }
    out->file->placements = places;
    out->file->placement_count = s->place_count;
    return places ? POISE_OK : no_memory(s);
}

static poise_status make_scaled(scaler *s, poise_osim_scaled *out)
{
    poise_read_options options = {0};
    options.format = POISE_FORMAT_OSIM;
    poise_status status = find_factors(s);
    options.body_scales = s->factors;
    options.body_scale_count = s->factor_count;
    const poise_osim_scaling *p = s->problem;
    status = status == POISE_OK ? poise_read(p->model, p->model_size, &options, s->allocator, &out->file, s->error) : status;
    status = status == POISE_OK ? scale_places(s, out) : status;
    size_t nq = status == POISE_OK ? (size_t)poise_model_info(out->file->model).nq : 0;
    out->q = pz_pool_take(&s->setup.input.kept, nq, sizeof *out->q);
    if (status == POISE_OK && !out->q) {
        return no_memory(s);
    }
    if (status == POISE_OK) {
        memcpy(out->q, out->file->postures[0].q, nq * sizeof *out->q);
        status = place_markers(s, out);
    }
    out->factors = s->factors;
    out->factor_count = s->factor_count;
    out->absent = s->absent;
    out->absent_count = s->absent_count;
    return status;
}

// As it is handed out.
typedef struct whole_scaled {
    poise_osim_scaled scaled;
    poise_allocator allocator;
    bool has_allocator;
    pz_pool kept;
} whole_scaled;

poise_status poise_osim_scale(const poise_osim_scaling *problem, const poise_allocator *allocator,
                              poise_osim_scaled **scaled, poise_error *error)
{
    if (!problem || !problem->model || !problem->setup || !problem->markers || problem->markers->frames < 1 || !scaled) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, setup and markers with at least one frame are required");
    }
    whole_scaled *whole = pz_allocate(allocator, sizeof *whole);
    if (!whole) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    *whole = (whole_scaled){.has_allocator = allocator != NULL};
    if (allocator) {
        whole->allocator = *allocator;
    }
    scaler s = {.problem = problem, .allocator = allocator, .error = error};
    poise_status status = read_all(&s);
    status = status == POISE_OK ? check_setup(&s) : status;
    status = status == POISE_OK ? make_scaled(&s, &whole->scaled) : status;
    poise_kinematics_destroy(s.kin);
    poise_file_destroy(s.generic);
    poise_file_destroy(s.set_file);
    pz_setup_close(&s.set, false);
    pz_setup_close(&s.setup, status == POISE_OK);
    whole->kept.blocks = status == POISE_OK ? s.setup.input.kept.blocks : NULL;
    if (status != POISE_OK) {
        poise_file_destroy(whole->scaled.file);
        pz_release(allocator, whole);
        return status;
    }
    *scaled = &whole->scaled;
    return POISE_OK;
}

void poise_osim_scaled_destroy(poise_osim_scaled *scaled)
{
    if (scaled) {
        whole_scaled *whole = (whole_scaled *)(void *)scaled;
        poise_allocator allocator = whole->allocator;
        bool has_allocator = whole->has_allocator;
        poise_file_destroy(whole->scaled.file);
        whole->kept.allocator = has_allocator ? &allocator : NULL;
        pz_pool_release(&whole->kept);
        pz_release(has_allocator ? &allocator : NULL, whole);
    }
}

poise_status poise_osim_scale_judge(const poise_osim_scaled *scaled, const poise_thresholds *thresholds,
                                    const poise_allocator *allocator, poise_verdict *verdict, poise_finding *findings,
                                    int capacity, poise_error *error)
{
    if (!scaled || !thresholds) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "scaled and thresholds must not be NULL");
    }
    int bodies = poise_model_info(scaled->file->model).joints;
    poise_vec3 *factors = pz_allocate(allocator, ((size_t)bodies + 1) * sizeof *factors);
    if (!factors) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int k = 0; k < bodies; ++k) {
        factors[k] = v3((double)NAN, (double)NAN, (double)NAN);
    }
    for (int i = 0; i < scaled->factor_count; ++i) {
        int k = poise_model_find_body(scaled->file->model, scaled->factors[i].body);
        if (k >= 0) {
            factors[k] = scaled->factors[i].factors;
        }
    }
    poise_scaling_problem problem = {.model = scaled->file->model,
                                     .factors = factors,
                                     .miss = scaled->weighted,
                                     .absent = scaled->absent,
                                     .absent_count = scaled->absent_count,
                                     .thresholds = *thresholds};
    poise_status status = poise_scaling_judge(&problem, allocator, verdict, findings, capacity, error);
    pz_release(allocator, factors);
    return status;
}

poise_status poise_osim_scale_marker_set(const void *setup, size_t size, char *name, size_t room, poise_error *error)
{
    pz_setup s;
    poise_status status = pz_setup_open(&s, setup, size, NULL, error);
    const pz_xml_node *maker = status == POISE_OK ? pz_setup_find(&s, "GenericModelMaker") : NULL;
    const char *text = maker ? pz_setup_text(&s, maker, "marker_set_file") : NULL;
    if (room > 0) {
        size_t length = text ? strlen(text) : 0;
        length = length < room ? length : room - 1;
        memcpy(name, text ? text : "", length);
        name[length] = '\0';
    }
    pz_setup_close(&s, false);
    return status;
}
