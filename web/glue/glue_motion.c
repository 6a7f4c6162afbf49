// Clips, markers, tracking and calibration.
#include "glue.h"

#include <string.h>

// ---- Clips ---------------------------------------------------------------------------------------------------------------

poise_clip *WEB_EXPORT(web_clip_create)(int frames, int nq, double frame_time, double start_time)
{
    poise_clip *clip = NULL;
    if (poise_clip_create(frames, nq, frame_time, NULL, &clip, web_error_clear()) == POISE_OK) {
        clip->start_time = start_time;
    }
    return clip;
}

// Row: frames, nq, frame time, start time, address of q.
void WEB_EXPORT(web_clip_facts)(const poise_clip *clip, double *numbers)
{
    web_row row = {numbers};
    web_put(&row, clip->frames);
    web_put(&row, clip->nq);
    web_put(&row, clip->frame_time);
    web_put(&row, clip->start_time);
    web_put_address(&row, clip->q);
}

poise_status WEB_EXPORT(web_clip_sample)(const poise_clip *clip, const poise_model *model, double time, double *q)
{
    return poise_clip_sample(clip, model, time, q, web_error_clear());
}

poise_clip *WEB_EXPORT(web_clip_trim)(const poise_clip *clip, int first, int count)
{
    poise_clip *trimmed = NULL;
    poise_clip_trim(clip, first, count, NULL, &trimmed, web_error_clear());
    return trimmed;
}

poise_clip *WEB_EXPORT(web_clip_resample)(const poise_clip *clip, const poise_model *model, double frame_time)
{
    poise_clip *resampled = NULL;
    poise_clip_resample(clip, model, frame_time, NULL, &resampled, web_error_clear());
    return resampled;
}

// ---- Markers -------------------------------------------------------------------------------------------------------------

poise_markers *WEB_EXPORT(web_markers_create)(int frames, int count, double rate, const char *const *labels, int first_frame,
                                              double metres, poise_up up)
{
    poise_markers *markers = NULL;
    if (poise_markers_create(frames, count, rate, labels, NULL, &markers, web_error_clear()) == POISE_OK) {
        markers->first_frame = first_frame;
        markers->scale = (poise_scale){metres, up};
    }
    return markers;
}

// Row: frames, count, rate, first frame, metres, up, addresses of positions, residuals and labels.
void WEB_EXPORT(web_markers_facts)(const poise_markers *markers, double *numbers)
{
    web_row row = {numbers};
    web_put(&row, markers->frames);
    web_put(&row, markers->count);
    web_put(&row, markers->rate);
    web_put(&row, markers->first_frame);
    web_put(&row, markers->scale.metres);
    web_put(&row, markers->scale.up);
    web_put_address(&row, markers->position);
    web_put_address(&row, markers->residual);
    web_put_address(&row, markers->label);
}

poise_markers *WEB_EXPORT(web_markers_trim)(const poise_markers *markers, int first, int count)
{
    poise_markers *trimmed = NULL;
    poise_markers_trim(markers, first, count, NULL, &trimmed, web_error_clear());
    return trimmed;
}

poise_markers *WEB_EXPORT(web_markers_resample)(const poise_markers *markers, double rate)
{
    poise_markers *resampled = NULL;
    poise_markers_resample(markers, rate, NULL, &resampled, web_error_clear());
    return resampled;
}

poise_status WEB_EXPORT(web_markers_rescale)(poise_markers *markers, double metres, poise_up up)
{
    return poise_markers_rescale(markers, (poise_scale){metres, up}, web_error_clear());
}

// Row: metres and up of the model on the way in and out, then metres and up of the markers before, whether their unit was
// unknown, whether the model's was, whether it was found by size.
poise_status WEB_EXPORT(web_markers_match)(poise_markers *markers, const poise_model *model, double *numbers)
{
    poise_scale scale = {numbers[0], (poise_up)(int)numbers[1]};
    poise_scale_match match;
    poise_status status = poise_markers_match(markers, model, &scale, &match, web_error_clear());
    if (status == POISE_OK) {
        web_row row = {numbers};
        web_put(&row, scale.metres);
        web_put(&row, scale.up);
        web_put(&row, match.from.metres);
        web_put(&row, match.from.up);
        web_put(&row, match.markers_unknown);
        web_put(&row, match.model_unknown);
        web_put(&row, match.by_size);
    }
    return status;
}

// Row in: addresses of model and clip, metres, up, address of the other model, metres, up, address of the pairs, their
// number, whether the size is kept. Row out: points, factor, whether it is turned, metres, up. `placements` has room
// for all joints and tools.
poise_markers *WEB_EXPORT(web_retarget_points)(double *numbers, poise_placement *placements)
{
    web_row row = {numbers};
    poise_retarget_problem problem = {.from = web_get_address(&row)};
    problem.clip = web_get_address(&row);
    problem.from_scale.metres = web_get(&row);
    problem.from_scale.up = (poise_up)web_get_int(&row);
    problem.to = web_get_address(&row);
    problem.to_scale.metres = web_get(&row);
    problem.to_scale.up = (poise_up)web_get_int(&row);
    problem.pairs = web_get_address(&row);
    problem.pair_count = web_get_int(&row);
    problem.keep_size = web_get_bool(&row);
    poise_markers *markers = NULL;
    poise_retarget_report report;
    if (poise_retarget_points(&problem, NULL, &markers, placements, &report, web_error_clear()) == POISE_OK) {
        row.at = numbers;
        web_put(&row, report.points);
        web_put(&row, report.factor);
        web_put(&row, report.is_turned);
        web_put(&row, report.scale.metres);
        web_put(&row, report.scale.up);
    }
    return markers;
}

poise_markers *WEB_EXPORT(web_markers_from_clip)(const poise_model *model, const poise_clip *clip, double metres,
                                                 poise_up up, const poise_placement *points, int count)
{
    poise_markers *markers = NULL;
    poise_scale scale = {metres, up};
    poise_markers_from_clip(model, clip, scale, points, count, NULL, &markers, web_error_clear());
    return markers;
}

// ---- Placements ----------------------------------------------------------------------------------------------------------

// Room for so many placements; release it with web_release. Labels are the host's to keep.
poise_placement *WEB_EXPORT(web_placements_create)(int count)
{
    return web_take((size_t)count, sizeof(poise_placement));
}

// Row: address of the label, body, local (3), weight.
void WEB_EXPORT(web_placement_set)(poise_placement *placements, int placement, double *numbers)
{
    web_row row = {numbers};
    poise_placement *p = &placements[placement];
    p->label = web_get_address(&row);
    p->body = web_get_int(&row);
    p->local = web_get_vec3(&row);
    p->weight = web_get(&row);
}

void WEB_EXPORT(web_placement_get)(const poise_placement *placements, int placement, double *numbers)
{
    web_row row = {numbers};
    const poise_placement *p = &placements[placement];
    web_put_address(&row, p->label);
    web_put(&row, p->body);
    web_put_vec3(&row, p->local);
    web_put(&row, p->weight);
}

// ---- Tracking ------------------------------------------------------------------------------------------------------------

// Row: the solver's options (23), then restarts, least markers, robust, outlier, smoothness, largest turn, chunk.
void WEB_EXPORT(web_tracker_defaults)(double *numbers)
{
    poise_track_problem o = poise_track_problem_default();
    web_row row = {numbers};
    web_put_solver_options(&row, &o.solver);
    web_put(&row, o.restarts);
    web_put(&row, o.least_markers);
    web_put(&row, o.robust);
    web_put(&row, o.outlier);
    web_put(&row, o.smoothness);
    web_put(&row, o.max_turn);
    web_put(&row, o.chunk);
}

static poise_track_problem get_problem(web_row *row)
{
    poise_track_problem o = poise_track_problem_default();
    o.solver = web_get_solver_options(row);
    o.restarts = web_get_int(row);
    o.least_markers = web_get_int(row);
    o.robust = web_get_bool(row);
    o.outlier = web_get(row);
    o.smoothness = web_get(row);
    o.max_turn = web_get(row);
    o.chunk = web_get_int(row);
    return o;
}

// Row: the members of poise_track_frame in their order.
static void put_frame(web_row *row, const poise_track_frame *frame)
{
    web_put(row, frame->flags);
    web_put(row, frame->outcome);
    web_put(row, frame->iterations);
    web_put(row, frame->seen);
    web_put(row, frame->let_go);
    web_put(row, frame->rms);
    web_put(row, frame->worst);
    web_put(row, frame->turn);
}

poise_tracker *WEB_EXPORT(web_tracker_create)(const poise_model *model, const poise_placement *placements, int count,
                                              double *options)
{
    poise_track_problem problem = get_problem(&(web_row){options});
    problem.model = model;
    problem.placements = placements;
    problem.placement_count = count;
    poise_tracker *tracker = NULL;
    poise_tracker_create(&problem, NULL, &tracker, web_error_clear());
    return tracker;
}

poise_status WEB_EXPORT(web_tracker_reset)(poise_tracker *tracker, const double *q)
{
    return poise_tracker_reset(tracker, q, web_error_clear());
}

// `seen`: three numbers for each placement.
poise_status WEB_EXPORT(web_tracker_next)(poise_tracker *tracker, const double *seen, double *q, double *numbers)
{
    poise_track_frame frame;
    poise_status status = poise_tracker_next(tracker, (const poise_vec3 *)(const void *)seen, q, &frame, web_error_clear());
    if (status == POISE_OK) {
        put_frame(&(web_row){numbers}, &frame);
    }
    return status;
}

// `numbers` takes 8 for each frame, `distances` one for each frame and placement, `summary` the members of
// poise_track_summary in their order.
poise_clip *WEB_EXPORT(web_track)(const poise_model *model, const poise_placement *placements, int count,
                                  const poise_markers *markers, const double *q_start, double *options, double *numbers,
                                  double *distances, double *summary)
{
    poise_track_frame *frames = web_take((size_t)markers->frames, sizeof *frames);
    if (!frames) {
        return NULL;
    }
    poise_track_problem problem = get_problem(&(web_row){options});
    problem.model = model;
    problem.placements = placements;
    problem.placement_count = count;
    problem.markers = markers;
    problem.q_start = q_start;
    poise_clip *clip = NULL;
    poise_track_summary sum = {.distances = distances};
    poise_status status = poise_track(&problem, NULL, &clip, frames, web_error_clear());
    if (status == POISE_OK && poise_track_measure(&problem, clip, frames, NULL, &sum, web_error_clear()) != POISE_OK) {
        poise_clip_destroy(clip);
        clip = NULL;
    }
    web_row row = {numbers};
    for (int i = 0; clip && i < markers->frames; ++i) {
        put_frame(&row, &frames[i]);
    }
    const double members[] = {sum.mean,         sum.rms,  sum.worst,           sum.worst_frame,
                              sum.worst_marker, sum.held, sum.jumps,           sum.outliers,
                              sum.restarts,     sum.gaps, sum.mean_iterations, sum.most_iterations};
    memcpy(summary, members, sizeof members);
    web_release(frames);
    return clip;
}

// ---- Calibration ---------------------------------------------------------------------------------------------------------

// Row: the solver's options (23), then scaling, its prior, rounds, tolerance.
void WEB_EXPORT(web_calibration_defaults)(double *numbers)
{
    poise_calibration o = poise_calibration_default();
    web_row row = {numbers};
    web_put_solver_options(&row, &o.solver);
    web_put(&row, o.scaling);
    web_put(&row, o.scale_prior);
    web_put(&row, o.rounds);
    web_put(&row, o.tolerance);
}

// The fitted model. `frames` may be 0. `numbers` takes frames, rounds, points, rms, mean and scale.
poise_model *WEB_EXPORT(web_calibrate)(const poise_model *model, poise_placement *placements, int count,
                                       const poise_markers *markers, const int *frames, int frame_count, double *q,
                                       double *options, double *numbers)
{
    web_row row = {options};
    poise_calibration problem = {.model = model,
                                 .placements = placements,
                                 .placement_count = count,
                                 .markers = markers,
                                 .frames = frames,
                                 .frame_count = frame_count,
                                 .q = q,
                                 .solver = web_get_solver_options(&row)};
    problem.scaling = (poise_scaling)web_get_int(&row);
    problem.scale_prior = web_get(&row);
    problem.rounds = web_get_int(&row);
    problem.tolerance = web_get(&row);
    poise_model *fitted = NULL;
    poise_calibration_report report;
    poise_status status = poise_calibrate(&problem, NULL, &fitted, &report, web_error_clear());
    if (status == POISE_OK) {
        row.at = numbers;
        web_put(&row, report.frames);
        web_put(&row, report.rounds);
        web_put(&row, report.points);
        web_put(&row, report.rms);
        web_put(&row, report.mean);
        web_put(&row, report.scale);
    }
    return fitted;
}
