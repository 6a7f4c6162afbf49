// What an edit changed: how far joints turned, and how fast they turn now.
#include "motion/edit/editor.h"

#define SNAP 0.25 // radians from frame to frame that an edit must not add

// The largest turn from frame f - 1 to f, and of which degree of freedom.
static poise_status turn_between(pz_editor *e, const double *q, double *way, poise_error *error)
{
    return poise_difference(e->model, q - e->model->nq, q, way, error);
}

static bool turns(const pz_editor *e, int dof)
{
    return !pz_axis_slides(e->model, e->model->dof_axis[dof]);
}

static void measure_step(pz_editor *e, int f, poise_pin_report *r)
{
    double rate = 1.0 / e->clip->frame_time, *before = e->jacobian, *after = e->jacobian + e->model->nv;
    for (int i = 0; i < e->model->nv; ++i) {
        if (turns(e, i)) {
            r->speed_before = max2(r->speed_before, fabs(before[i]) * rate);
            r->speed_after = max2(r->speed_after, fabs(after[i]) * rate);
            if (fabs(after[i]) > max2(SNAP, 2.0 * fabs(before[i])) && r->snap_frame == POISE_NONE) {
                r->snap_frame = f;
                r->snap_dof = i;
            }
        }
    }
}

static poise_status measure_frame(pz_editor *e, int f, poise_pin_report *r, poise_error *error)
{
    const poise_model *m = e->model;
    const double *q = pz_editor_frame(e, f), *original = pz_editor_original(e, f);
    poise_status status = poise_difference(m, original, q, e->step, error);
    for (int i = 0; i < m->nv && status == POISE_OK; ++i) {
        if (turns(e, i) && fabs(e->step[i]) > r->turn) {
            r->turn = fabs(e->step[i]);
            r->turn_dof = i;
            r->turn_frame = f;
        }
    }
    r->frames += e->changed[f];
    r->outside += e->changed[f] && !poise_model_within_limits(m, q) && poise_model_within_limits(m, original);
    for (int i = 0; i < m->nq && e->changed[f]; ++i) {
        bool is_outside = original[i] < m->lower[i] || original[i] > m->upper[i];
        r->widened += is_outside && !e->is_outside[i];
        e->is_outside[i] = e->is_outside[i] || is_outside;
    }
    if (f > 0 && (e->changed[f] || e->changed[f - 1]) && status == POISE_OK) {
        status = turn_between(e, original, e->jacobian, error);
        status = status == POISE_OK ? turn_between(e, q, e->jacobian + m->nv, error) : status;
        measure_step(e, f, r);
    }
    return status;
}

poise_status pz_editor_measure(pz_editor *e, poise_pin_report *report, poise_error *error)
{
    poise_status status = POISE_OK;
    *report = (poise_pin_report){.snap_frame = POISE_NONE,
                                 .snap_dof = POISE_NONE,
                                 .turn_dof = POISE_NONE,
                                 .turn_frame = POISE_NONE,
                                 .iterations = e->iterations};
    for (int f = 0; f < e->clip->frames && status == POISE_OK; ++f) {
        status = measure_frame(e, f, report, error);
    }
    return status;
}
