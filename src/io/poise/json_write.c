// The Poise JSON format: writing.
#include "io/poise/json_poise.h"

static void put_scale(pz_json_writer *writer, poise_scale scale)
{
    static const char *const names[] = {"unknown", "x", "y", "z"};
    if (scale.metres == 0 && scale.up == POISE_UP_UNKNOWN) {
        return;
    }
    pz_json_open_flat(writer, "scale", "{");
    pz_json_put_number(writer, "metres", scale.metres);
    pz_json_put_text(writer, "up", names[(unsigned)scale.up <= POISE_UP_Z ? scale.up : POISE_UP_UNKNOWN]);
    pz_json_close_flat(writer, "}");
}

static void put_clip(pz_json_writer *writer, const poise_clip *clip)
{
    pz_json_open(writer, "clip", "{");
    pz_json_put_number(writer, "frame_time", clip->frame_time);
    pz_json_put_number(writer, "start_time", clip->start_time);
    pz_json_open(writer, "q", "[");
    for (int f = 0; f < clip->frames; ++f) {
        pz_json_put_numbers(writer, NULL, clip->q + (size_t)f * (size_t)clip->nq, (size_t)clip->nq);
    }
    pz_json_close(writer, "]");
    pz_json_close(writer, "}");
}

static void put_positions(pz_json_writer *writer, const poise_markers *markers)
{
    pz_json_open(writer, "positions", "[");
    for (int f = 0; f < markers->frames; ++f) {
        pz_json_open_flat(writer, NULL, "[");
        for (int i = 0; i < markers->count; ++i) {
            poise_vec3 p = markers->position[(size_t)f * (size_t)markers->count + (size_t)i];
            if (poise_markers_seen(markers, f, i)) {
                pz_json_put_numbers(writer, NULL, (double[]){p.x, p.y, p.z}, 3);
            } else {
                pz_json_put_null(writer, NULL);
            }
        }
        pz_json_close_flat(writer, "]");
    }
    pz_json_close(writer, "]");
}

static void put_residuals(pz_json_writer *writer, const poise_markers *markers)
{
    pz_json_open(writer, "residuals", "[");
    for (int f = 0; f < markers->frames; ++f) {
        pz_json_open_flat(writer, NULL, "[");
        for (int i = 0; i < markers->count; ++i) {
            pz_json_put_number(writer, NULL, (double)markers->residual[(size_t)f * (size_t)markers->count + (size_t)i]);
        }
        pz_json_close_flat(writer, "]");
    }
    pz_json_close(writer, "]");
}

static void put_markers(pz_json_writer *writer, const poise_markers *markers)
{
    pz_json_open(writer, "markers", "{");
    pz_json_put_number(writer, "rate", markers->rate);
    pz_json_put_integer(writer, "first_frame", markers->first_frame);
    if (markers->start_time != 0.0) {
        pz_json_put_number(writer, "start_time", markers->start_time);
    }
    put_scale(writer, markers->scale);
    pz_json_open_flat(writer, "labels", "[");
    for (int i = 0; i < markers->count; ++i) {
        pz_json_put_text(writer, NULL, markers->label[i]);
    }
    pz_json_close_flat(writer, "]");
    put_positions(writer, markers);
    if (markers->residual) {
        put_residuals(writer, markers);
    }
    pz_json_close(writer, "}");
}

static void put_postures(pz_json_writer *writer, const poise_file *file)
{
    pz_json_open(writer, "postures", "{");
    for (int i = 0; i < file->posture_count; ++i) {
        pz_json_put_numbers(writer, file->postures[i].name, file->postures[i].q, (size_t)poise_model_info(file->model).nq);
    }
    pz_json_close(writer, "}");
}

static void put_placements(pz_json_writer *writer, const poise_file *file)
{
    pz_json_open(writer, "placements", "[");
    for (int i = 0; i < file->placement_count; ++i) {
        const poise_placement *p = &file->placements[i];
        pz_json_open_flat(writer, NULL, "{");
        pz_json_put_text(writer, "label", p->label);
        pz_json_put_text(writer, "body", poise_model_joint_info(file->model, p->body).body);
        if (v3_is_finite(p->local)) {
            pz_json_put_numbers(writer, "local", (double[]){p->local.x, p->local.y, p->local.z}, 3);
        }
        if (!pz_same_numbers(&p->weight, (double[]){1}, 1)) {
            pz_json_put_number(writer, "weight", p->weight);
        }
        pz_json_close_flat(writer, "}");
    }
    pz_json_close(writer, "]");
}

// ---- What a file must satisfy to be written ------------------------------------------------------------------------------

static poise_status refuse(pz_output *output, const char *what, int index, const char *why)
{
    return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "%s %d: %s", what, index, why);
}

static poise_status check_clip(const poise_clip *clip, pz_output *output)
{
    if (!(clip->frame_time > 0) || !is_finite(clip->frame_time) || !is_finite(clip->start_time)) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "clip: its times must be finite, frame_time above 0");
    }
    for (int f = 0; f < clip->frames; ++f) {
        if (!all_finite(clip->q + (size_t)f * (size_t)clip->nq, (size_t)clip->nq)) {
            return refuse(output, "frame of the clip", f, "a number is not finite");
        }
    }
    return POISE_OK;
}

static poise_status check_markers(const poise_markers *markers, pz_output *output)
{
    if (!(markers->rate > 0) || !is_finite(markers->rate)) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "markers: their rate must be finite and above 0");
    }
    for (int f = 0; f < markers->frames; ++f) {
        for (int i = 0; i < markers->count; ++i) {
            if (poise_markers_seen(markers, f, i) &&
                !v3_is_finite(markers->position[(size_t)f * (size_t)markers->count + (size_t)i])) {
                return refuse(output, "frame of the markers", f, "a position is infinite");
            }
        }
    }
    return POISE_OK;
}

static poise_status check_postures(const poise_file *file, pz_output *output)
{
    pz_pool pool = {.allocator = output->allocator};
    pz_configurations of;
    poise_status status = POISE_OK;
    if (!pz_configurations_of(file->model, &pool, &of)) {
        status = pz_error_set(output->error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int i = 0; i < file->posture_count && status == POISE_OK; ++i) {
        const poise_posture *posture = &file->postures[i];
        if (!posture->name || !posture->q || !pz_is_configuration(&of, posture->q)) {
            status = refuse(output, "posture", i, "it needs a name and nq finite numbers without a zero quaternion");
        }
    }
    pz_pool_release(&pool);
    return status;
}

// What names bodies, or depends on nq, needs the model.
static poise_status check_with_model(const poise_file *file, pz_output *output)
{
    const poise_model *model = file->model;
    if (!model) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT,
                            "goals, postures, placements, shapes and loops are written with their model: the file has none");
    }
    poise_status status = check_postures(file, output);
    if (status != POISE_OK) {
        return status;
    }
    for (int i = 0; i < file->placement_count; ++i) {
        const poise_placement *p = &file->placements[i];
        if (!p->label || p->body < 0 || p->body >= poise_model_info(model).joints || !(p->weight >= 0) ||
            !is_finite(p->weight)) {
            return refuse(output, "placement", i, "it needs a label, a body and a finite weight that is not negative");
        }
    }
    for (int i = 0; i < file->goal_count; ++i) {
        poise_error said = {.line = 0};
        if (file->goals[i].kind != POISE_GOAL_CALLBACK && poise_goal_check(&file->goals[i], model, &said) != POISE_OK) {
            return refuse(output, "goal", i, said.text);
        }
    }
    return pz_json_check_bounds(file, output);
}

poise_status pz_write_json(const poise_file *file, pz_output *output)
{
    bool has_bounds = file->shape_count > 0 || file->excluded_count > 0 || file->loop_count > 0;
    bool needs_model = file->goal_count > 0 || file->posture_count > 0 || file->placement_count > 0 || has_bounds;
    poise_status status = file->clip ? check_clip(file->clip, output) : POISE_OK;
    status = status == POISE_OK && file->markers ? check_markers(file->markers, output) : status;
    status = status == POISE_OK && needs_model ? check_with_model(file, output) : status;
    if (status == POISE_OK && !(file->scale.metres >= 0 && is_finite(file->scale.metres))) {
        status = pz_error_set(output->error, POISE_ERROR_ARGUMENT, "scale: metres per unit must be finite and not negative");
    }
    if (status == POISE_OK && file->clip && file->model && file->clip->nq != poise_model_info(file->model).nq) {
        status =
            pz_error_set(output->error, POISE_ERROR_ARGUMENT, "the clip has %d coordinates per frame, but the model has %d",
                         file->clip->nq, poise_model_info(file->model).nq);
    }
    if (status != POISE_OK) {
        return status;
    }
    pz_json_writer writer = {.output = output};
    pz_json_open(&writer, NULL, "{");
    pz_json_put_integer(&writer, "poise", PZ_JSON_VERSION);
    if (file->title) {
        pz_json_put_text(&writer, "title", file->title);
    }
    put_scale(&writer, file->scale);
    if (file->model) {
        pz_json_put_model(&writer, file->model);
    }
    if (file->clip) {
        put_clip(&writer, file->clip);
    }
    if (file->markers) {
        put_markers(&writer, file->markers);
    }
    if (file->posture_count > 0) {
        put_postures(&writer, file);
    }
    if (file->goal_count > 0) {
        pz_json_put_goals(&writer, file, file->model);
    }
    if (file->placement_count > 0) {
        put_placements(&writer, file);
    }
    pz_json_put_bounds(&writer, file);
    pz_json_close(&writer, "}");
    pz_put(output, "\n");
    return POISE_OK;
}
