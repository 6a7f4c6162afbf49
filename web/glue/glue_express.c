// Expressive solving and the motion filter.
#include "glue.h"

// ---- ERIK ----------------------------------------------------------------------------------------------------------------

// Row: the members of poise_erik_options in their order.
void WEB_EXPORT(web_erik_defaults)(double *numbers)
{
    poise_erik_options o = poise_erik_options_default();
    web_row row = {numbers};
    web_put(&row, o.body);
    web_put_pose(&row, o.tip);
    web_put(&row, o.orientation_weight);
    web_put(&row, o.posture_weight);
    web_put(&row, o.threshold);
    web_put(&row, o.aggravation);
    web_put(&row, o.max_iterations);
    web_put(&row, o.max_sweeps);
    web_put(&row, o.precision);
    web_put(&row, o.stall);
    web_put(&row, o.disturbance);
    web_put(&row, o.window);
    web_put(&row, o.tolerance);
    web_put(&row, o.symmetric_endpoint);
    web_put(&row, o.avoid_edges);
    web_put(&row, o.offset_trick);
    web_put(&row, o.ccd_trick);
    web_put(&row, o.exact_orientation);
    web_put(&row, o.restarts);
}

static poise_erik_options get_erik_options(web_row *row)
{
    poise_erik_options o = {.body = web_get_int(row)};
    o.tip = web_get_pose(row);
    o.orientation_weight = web_get(row);
    o.posture_weight = web_get(row);
    o.threshold = web_get(row);
    o.aggravation = web_get(row);
    o.max_iterations = web_get_int(row);
    o.max_sweeps = web_get_int(row);
    o.precision = web_get(row);
    o.stall = web_get(row);
    o.disturbance = web_get(row);
    o.window = web_get_int(row);
    o.tolerance = web_get(row);
    o.symmetric_endpoint = web_get_bool(row);
    o.avoid_edges = web_get_bool(row);
    o.offset_trick = web_get_bool(row);
    o.ccd_trick = web_get_bool(row);
    o.exact_orientation = web_get_bool(row);
    o.restarts = web_get_int(row);
    return o;
}

poise_erik *WEB_EXPORT(web_erik_create)(const poise_model *model, double *numbers)
{
    poise_erik_options options = get_erik_options(&(web_row){numbers});
    poise_erik *erik = NULL;
    poise_erik_create(model, &options, NULL, &erik, web_error_clear());
    return erik;
}

// A joint of the chain: its index in the model, and 1 where it is a twister.
int WEB_EXPORT(web_erik_joint)(const poise_erik *erik, int position)
{
    return poise_erik_joint(erik, position).index;
}

int WEB_EXPORT(web_erik_is_twister)(const poise_erik *erik, int position)
{
    return poise_erik_joint(erik, position).is_twister;
}

// Row: the members of poise_erik_report in their order; the reason as an address.
static poise_status put_erik_report(poise_status status, double *numbers, const poise_erik_report *r)
{
    if (status != POISE_OK) {
        return status;
    }
    web_row row = {numbers};
    web_put(&row, r->outcome);
    web_put_address(&row, r->reason);
    web_put(&row, r->iterations);
    web_put(&row, r->used_offset);
    web_put(&row, r->used_ccd);
    web_put(&row, r->exact);
    web_put(&row, r->error);
    web_put(&row, r->orientation);
    web_put(&row, r->posture);
    web_put(&row, r->angle);
    web_put(&row, r->active_limits);
    return POISE_OK;
}

poise_status WEB_EXPORT(web_erik_solve)(poise_erik *erik, const double *posture, double x, double y, double z, double w,
                                        double *q, double *report)
{
    poise_erik_report r = {.reason = ""};
    return put_erik_report(poise_erik_solve(erik, posture, (poise_quat){x, y, z, w}, q, &r, web_error_clear()), report, &r);
}

poise_status WEB_EXPORT(web_erik_measure)(poise_erik *erik, const double *posture, double x, double y, double z, double w,
                                          const double *q, double *report)
{
    poise_erik_report r = {.reason = ""};
    return put_erik_report(poise_erik_measure(erik, posture, (poise_quat){x, y, z, w}, q, &r, web_error_clear()), report,
                           &r);
}

// The misfit, or -1 with an error. `positions` has three numbers for each of `count` points.
double WEB_EXPORT(web_erik_from_positions)(poise_erik *erik, const double *positions, int count, double *posture)
{
    poise_vec3 *points = web_take((size_t)count, sizeof *points);
    if (!points) {
        return -1.0;
    }
    for (int i = 0; i < count; ++i) {
        points[i] = poise_vec3_make(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
    }
    double misfit = 0.0;
    poise_status status = poise_erik_posture_from_positions(erik, points, count, posture, &misfit, web_error_clear());
    web_release(points);
    return status == POISE_OK ? misfit : -1.0;
}

// ---- The successor -------------------------------------------------------------------------------------------------------

// Row: the members of poise_expressive_options in their order.
void WEB_EXPORT(web_expressive_defaults)(double *numbers)
{
    poise_expressive_options o = poise_expressive_options_default();
    web_row row = {numbers};
    web_put(&row, o.mode);
    web_put(&row, o.body);
    web_put_pose(&row, o.tip);
    web_put(&row, o.goal_weight);
    web_put(&row, o.posture_weight);
    web_put(&row, o.threshold);
    web_put(&row, o.aggravation);
    web_put(&row, o.length_scale);
    web_put(&row, o.symmetric_endpoint);
    web_put(&row, o.warm);
    web_put(&row, o.exact);
    web_put(&row, o.gain);
    web_put(&row, o.inertia);
    web_put(&row, o.searches);
    web_put(&row, o.max_iterations);
    web_put(&row, o.max_goals);
    web_put(&row, o.coupled_goals);
    web_put(&row, o.use_erik);
}

poise_expressive *WEB_EXPORT(web_expressive_create)(const poise_model *model, double *numbers)
{
    web_row row = {numbers};
    poise_expressive_options o = {.mode = (poise_expressive_mode)web_get_int(&row)};
    o.body = web_get_int(&row);
    o.tip = web_get_pose(&row);
    o.goal_weight = web_get(&row);
    o.posture_weight = web_get(&row);
    o.threshold = web_get(&row);
    o.aggravation = web_get(&row);
    o.length_scale = web_get(&row);
    o.symmetric_endpoint = web_get_bool(&row);
    o.warm = web_get_bool(&row);
    o.exact = web_get_bool(&row);
    o.gain = web_get(&row);
    o.inertia = web_get(&row);
    o.searches = web_get_int(&row);
    o.max_iterations = web_get_int(&row);
    o.max_goals = web_get_int(&row);
    o.coupled_goals = web_get_int(&row);
    o.use_erik = web_get_bool(&row);
    poise_expressive *expressive = NULL;
    poise_expressive_create(model, &o, NULL, &expressive, web_error_clear());
    return expressive;
}

// Row: the members of poise_expressive_report in their order.
static poise_status put_report(poise_status status, double *numbers, const poise_expressive_report *r)
{
    if (status != POISE_OK) {
        return status;
    }
    web_row row = {numbers};
    web_put(&row, r->outcome);
    web_put(&row, r->error);
    web_put(&row, r->goal);
    web_put(&row, r->posture);
    web_put(&row, r->worst_length);
    web_put(&row, r->worst_angle);
    web_put(&row, r->candidates);
    web_put(&row, r->evaluations);
    web_put(&row, r->kept_branch);
    return POISE_OK;
}

poise_status WEB_EXPORT(web_expressive_solve)(poise_expressive *expressive, const poise_goal *goals, int count,
                                              const double *posture, double *q, double *report)
{
    poise_expressive_report r;
    return put_report(poise_expressive_solve(expressive, goals, count, posture, q, &r, web_error_clear()), report, &r);
}

poise_status WEB_EXPORT(web_expressive_warp)(poise_expressive *expressive, const poise_goal *goals, int count,
                                             const double *posture, poise_filter *filter, double dt, double *answer,
                                             double *q, double *report)
{
    poise_expressive_report r;
    poise_status status =
        poise_expressive_warp(expressive, goals, count, posture, filter, dt, answer, q, &r, web_error_clear());
    return put_report(status, report, &r);
}

// ---- The filter ----------------------------------------------------------------------------------------------------------

// Rows: the members of poise_filter_joint in their order.
void WEB_EXPORT(web_filter_defaults)(double *numbers)
{
    poise_filter_joint j = poise_filter_joint_default();
    web_row row = {numbers};
    web_put(&row, j.lower);
    web_put(&row, j.upper);
    web_put(&row, j.velocity);
    web_put(&row, j.acceleration);
    web_put(&row, j.jerk);
    web_put(&row, j.smoothness);
    web_put(&row, j.responsiveness);
    web_put(&row, j.soft);
}

poise_filter *WEB_EXPORT(web_filter_create)(double *numbers, int count)
{
    poise_filter_joint *joints = web_take((size_t)count, sizeof *joints);
    if (!joints) {
        return NULL;
    }
    web_row row = {numbers};
    for (int i = 0; i < count; ++i) {
        joints[i].lower = web_get(&row);
        joints[i].upper = web_get(&row);
        joints[i].velocity = web_get(&row);
        joints[i].acceleration = web_get(&row);
        joints[i].jerk = web_get(&row);
        joints[i].smoothness = web_get(&row);
        joints[i].responsiveness = web_get(&row);
        joints[i].soft = web_get(&row);
    }
    poise_filter *filter = NULL;
    poise_filter_create(joints, count, NULL, &filter, web_error_clear());
    web_release(joints);
    return filter;
}

poise_status WEB_EXPORT(web_filter_reset)(poise_filter *filter, const double *x)
{
    return poise_filter_reset(filter, x, web_error_clear());
}

poise_status WEB_EXPORT(web_filter_step)(poise_filter *filter, const double *setpoints, double dt, double *x)
{
    return poise_filter_step(filter, setpoints, dt, x, web_error_clear());
}
