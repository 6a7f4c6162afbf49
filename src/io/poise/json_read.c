// The Poise JSON format: reading.
#include "io/poise/json_poise.h"
#include "motion/markers.h"

#include <float.h>
#include <limits.h>
#include <string.h>

static const poise_model *model_of(const pz_input *input)
{
    return input->file->model ? input->file->model : input->options->model;
}

static const char *up_name(int up)
{
    static const char *const names[] = {"unknown", "x", "y", "z"};
    return names[up];
}

static poise_status read_scale(const pz_item *object, poise_scale *scale)
{
    static const char *const known[] = {"metres", "up"};
    pz_item item = pz_json_get(object, "scale");
    if (!item.value) {
        return POISE_OK;
    }
    int up = POISE_UP_UNKNOWN;
    poise_status status = pz_json_need_object(&item);
    status = status == POISE_OK ? pz_json_number_of(&item, "metres", &scale->metres) : status;
    status = status == POISE_OK ? pz_json_choice_of(&item, "up", up_name, 4, &up) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (!(scale->metres >= 0)) {
        pz_item metres = pz_json_get(&item, "metres");
        return pz_json_fail(&metres, POISE_ERROR_FORMAT, "%g metres per unit; give a number above 0", scale->metres);
    }
    scale->up = (poise_up)up;
    pz_json_warn_unknown(&item, known, PZ_COUNT(known));
    return POISE_OK;
}

// Numbers that are a configuration; of->nq of them.
static poise_status read_configuration(const pz_item *item, const pz_configurations *of, double *q)
{
    poise_status status = pz_json_numbers(item, q, (size_t)of->nq);
    if (status == POISE_OK && !pz_is_configuration(of, q)) {
        return pz_json_fail(item, POISE_ERROR_FORMAT, "a quaternion is zero; [0, 0, 0, 1] means no rotation");
    }
    return status;
}

// A number above 0 that must be there.
static poise_status read_positive(const pz_item *object, const char *key, double *value)
{
    pz_item item = pz_json_get(object, key);
    poise_status status = pz_json_number(&item, value);
    if (status == POISE_OK && !(*value > 0)) {
        return pz_json_fail(&item, POISE_ERROR_FORMAT, "%g instead of a number above 0", *value);
    }
    return status;
}

// ---- Clips ---------------------------------------------------------------------------------------------------------------

static poise_status read_clip(const pz_item *item)
{
    static const char *const known[] = {"frame_time", "start_time", "q"};
    pz_input *input = item->json->input;
    const poise_model *model = model_of(input);
    double frame_time = 0, start_time = 0;
    pz_item q = pz_json_get(item, "q");
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? read_positive(item, "frame_time", &frame_time) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "start_time", &start_time) : status;
    status = status == POISE_OK ? pz_json_need_array(&q) : status;
    if (status != POISE_OK) {
        return status;
    }
    pz_item first = pz_json_at(&q, 0);
    int frames = (int)pz_json_length(&q);
    pz_configurations of = {.nq = (int)pz_json_length(&first)};
    if (model && !pz_configurations_of(model, &input->pool, &of)) {
        return pz_input_no_memory(input);
    }
    // every row is checked before the memory for all of them is asked for
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(&q, (size_t)f);
        status = pz_json_need_length(&row, (size_t)of.nq);
    }
    if (status == POISE_OK &&
        poise_clip_create(frames, of.nq, frame_time, input->allocator, &input->file->clip, NULL) != POISE_OK) {
        return pz_input_no_memory(input);
    }
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(&q, (size_t)f);
        status = read_configuration(&row, &of, input->file->clip->q + (size_t)f * (size_t)of.nq);
    }
    if (status == POISE_OK) {
        input->file->clip->start_time = start_time;
        pz_json_warn_unknown(item, known, PZ_COUNT(known));
    }
    return status;
}

// ---- Markers -------------------------------------------------------------------------------------------------------------

static poise_status read_labels(const pz_item *labels, const char ***texts)
{
    pz_input *input = labels->json->input;
    poise_status status = pz_json_need_array(labels);
    size_t count = pz_json_length(labels);
    const char **list = status == POISE_OK ? pz_pool_take(&input->pool, count, sizeof *list) : NULL;
    if (!list) {
        return status != POISE_OK ? status : pz_input_no_memory(input);
    }
    for (size_t i = 0; i < count && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(labels, i);
        status = pz_json_string(&item, &list[i]);
    }
    *texts = list;
    return status;
}

// A row of points; null was not seen.
static poise_status read_points(const pz_item *row, poise_vec3 *points, int count)
{
    poise_status status = POISE_OK;
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(row, (size_t)i);
        double p[3] = {NAN, NAN, NAN};
        status = item.value ? pz_json_numbers(&item, p, 3) : POISE_OK;
        points[i] = v3(p[0], p[1], p[2]);
    }
    return status;
}

static poise_status read_residuals(const pz_item *residuals, poise_markers *markers)
{
    poise_status status = pz_json_need_length(residuals, (size_t)markers->frames);
    markers->residual = pz_markers_room(markers);
    for (int f = 0; f < markers->frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(residuals, (size_t)f);
        status = pz_json_need_length(&row, (size_t)markers->count);
        for (int i = 0; i < markers->count && status == POISE_OK; ++i) {
            pz_item item = pz_json_at(&row, (size_t)i);
            double value = 0;
            status = item.value ? pz_json_number(&item, &value) : POISE_OK;
            if (fabs(value) > (double)FLT_MAX) {
                status = pz_json_fail(&item, POISE_ERROR_FORMAT, "%g is too large for a 32-bit float", value);
            }
            markers->residual[(size_t)f * (size_t)markers->count + (size_t)i] = status != POISE_OK ? 0.0f
                                                                                : item.value       ? (float)value
                                                                                                   : (float)NAN;
        }
    }
    return status;
}

static poise_status read_positions(const pz_item *item, const char *const *labels, int count, double rate)
{
    pz_input *input = item->json->input;
    pz_item positions = pz_json_get(item, "positions"), residuals = pz_json_get(item, "residuals");
    poise_status status = pz_json_need_array(&positions);
    int frames = (int)pz_json_length(&positions);
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(&positions, (size_t)f);
        status = pz_json_need_length(&row, (size_t)count);
    }
    if (status != POISE_OK) {
        return status;
    }
    if (poise_markers_create(frames, count, rate, labels, input->allocator, &input->file->markers, NULL) != POISE_OK) {
        return pz_input_no_memory(input);
    }
    for (int f = 0; f < frames && status == POISE_OK; ++f) {
        pz_item row = pz_json_at(&positions, (size_t)f);
        status = read_points(&row, input->file->markers->position + (size_t)f * (size_t)count, count);
    }
    return status == POISE_OK && residuals.value ? read_residuals(&residuals, input->file->markers) : status;
}

static poise_status read_markers(const pz_item *item)
{
    static const char *const known[] = {"rate", "first_frame", "start_time", "scale", "labels", "positions", "residuals"};
    double rate = 0, start_time = 0;
    int first_frame = 1;
    poise_scale scale = {0};
    const char **labels = NULL;
    pz_item labels_at = pz_json_get(item, "labels");
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? read_positive(item, "rate", &rate) : status;
    status = status == POISE_OK ? pz_json_integer_of(item, "first_frame", INT_MIN, INT_MAX, &first_frame) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "start_time", &start_time) : status;
    status = status == POISE_OK ? read_scale(item, &scale) : status;
    status = status == POISE_OK ? read_labels(&labels_at, &labels) : status;
    status = status == POISE_OK ? read_positions(item, labels, (int)pz_json_length(&labels_at), rate) : status;
    if (status == POISE_OK) {
        poise_markers *markers = item->json->input->file->markers;
        markers->first_frame = first_frame;
        markers->start_time = start_time;
        markers->scale = scale;
        pz_json_warn_unknown(item, known, PZ_COUNT(known));
    }
    return status;
}

// ---- Postures and placements ---------------------------------------------------------------------------------------------

static poise_status read_posture(const pz_item *item, const pz_configurations *of, poise_posture *posture)
{
    pz_input *input = item->json->input;
    poise_status status = pz_json_need_length(item, (size_t)of->nq);
    if (status != POISE_OK) {
        return status;
    }
    double *q = pz_pool_take(&input->kept, (size_t)of->nq, sizeof *q);
    posture->name = pz_pool_copy(&input->kept, item->key, strlen(item->key));
    posture->q = q;
    return q && posture->name ? read_configuration(item, of, q) : pz_input_no_memory(input);
}

static poise_status read_postures(const pz_item *item, const poise_model *model)
{
    pz_input *input = item->json->input;
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? pz_json_need_model(item, model) : status;
    int count = pz_json_member_count(item);
    poise_posture *postures = status == POISE_OK ? pz_pool_take(&input->kept, (size_t)count, sizeof *postures) : NULL;
    pz_configurations of;
    if (!postures || !pz_configurations_of(model, &input->pool, &of)) {
        return status != POISE_OK ? status : pz_input_no_memory(input);
    }
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        pz_item posture = pz_json_member(item, i);
        status = read_posture(&posture, &of, &postures[i]);
    }
    input->file->postures = count > 0 ? postures : NULL;
    input->file->posture_count = count;
    return status;
}

static poise_status read_placement(const pz_item *item, const poise_model *model, void *entry)
{
    static const char *const known[] = {"label", "body", "local", "weight"};
    poise_placement *placement = entry;
    pz_input *input = item->json->input;
    const char *label = NULL;
    double local[3] = {NAN, NAN, NAN};
    *placement = (poise_placement){.weight = 1.0};
    poise_status status = pz_json_need_object(item);
    pz_item label_at = pz_json_get(item, "label"), body = pz_json_get(item, "body");
    status = status == POISE_OK ? pz_json_string(&label_at, &label) : status;
    status = status == POISE_OK ? pz_json_body(&body, model, &placement->body) : status;
    status = status == POISE_OK ? pz_json_numbers_of(item, "local", local, 3) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "weight", &placement->weight) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (!(placement->weight >= 0)) {
        pz_item weight = pz_json_get(item, "weight");
        return pz_json_fail(&weight, POISE_ERROR_FORMAT, "%g; a weight must not be negative", placement->weight);
    }
    placement->local = v3(local[0], local[1], local[2]);
    placement->label = pz_pool_copy(&input->kept, label, strlen(label));
    pz_json_warn_unknown(item, known, PZ_COUNT(known));
    return placement->label ? POISE_OK : pz_input_no_memory(input);
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

static poise_status read_head(const pz_item *root)
{
    static const char *const known[] = {"poise",    "title", "scale",      "model",  "clip",     "markers",
                                        "postures", "goals", "placements", "shapes", "excluded", "loops"};
    pz_input *input = root->json->input;
    poise_status status = pz_json_need_object(root);
    pz_item version_at = pz_json_get(root, "poise");
    int version = 0;
    const char *title = NULL;
    if (status == POISE_OK && !version_at.value) {
        return pz_json_fail(&version_at, POISE_ERROR_FORMAT, "missing; a Poise file begins with { \"poise\": %d",
                            PZ_JSON_VERSION);
    }
    status = status == POISE_OK ? pz_json_integer(&version_at, 0, INT_MAX, &version) : status;
    if (status == POISE_OK && version != PZ_JSON_VERSION) {
        return pz_json_fail(&version_at, POISE_ERROR_UNSUPPORTED, "version %d; only version %d is supported", version,
                            PZ_JSON_VERSION);
    }
    status = status == POISE_OK ? read_scale(root, &input->file->scale) : status;
    status = status == POISE_OK ? pz_json_string_of(root, "title", &title) : status;
    if (status != POISE_OK) {
        return status;
    }
    pz_json_warn_unknown(root, known, PZ_COUNT(known));
    input->file->title = title ? pz_pool_copy(&input->pool, title, strlen(title)) : NULL;
    return title && !input->file->title ? pz_input_no_memory(input) : POISE_OK;
}

static poise_status read_parts(const pz_item *root)
{
    pz_input *input = root->json->input;
    pz_item model = pz_json_get(root, "model"), clip = pz_json_get(root, "clip"), markers = pz_json_get(root, "markers");
    pz_item postures = pz_json_get(root, "postures");
    poise_file *file = input->file;
    poise_status status = model.value ? pz_json_read_model(&model, &file->model) : POISE_OK;
    const poise_model *of = model_of(input);
    status = status == POISE_OK && clip.value ? read_clip(&clip) : status;
    status = status == POISE_OK && markers.value ? read_markers(&markers) : status;
    status = status == POISE_OK && postures.value ? read_postures(&postures, of) : status;
    file->goals = pz_json_entries(root, "goals", of, pz_json_goal, sizeof *file->goals, &file->goal_count, &status);
    file->placements =
        pz_json_entries(root, "placements", of, read_placement, sizeof *file->placements, &file->placement_count, &status);
    file->shapes = pz_json_entries(root, "shapes", of, pz_json_shape, sizeof *file->shapes, &file->shape_count, &status);
    file->excluded =
        pz_json_entries(root, "excluded", of, pz_json_excluded, sizeof *file->excluded, &file->excluded_count, &status);
    file->loops = pz_json_entries(root, "loops", of, pz_json_loop, sizeof *file->loops, &file->loop_count, &status);
    return status;
}

poise_status pz_read_json(pz_input *input)
{
    pz_json json;
    poise_status status = pz_json_load(input, input->bytes, input->size, 0, &json);
    if (status == POISE_OK) {
        pz_item root = pz_json_root(&json);
        status = read_head(&root);
        status = status == POISE_OK ? read_parts(&root) : status;
        pz_json_release(&json);
    }
    return status;
}
