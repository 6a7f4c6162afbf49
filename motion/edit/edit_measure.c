// What an edit changed: how far joints turned, how fast they turn now, and whether points jolt.
#include "motion/edit/editor.h"

#include "num/real.h"
#include "num/rotation.h"

#define SNAP      0.25  // radians from frame to frame that an edit must not add all of a sudden, and
#define FLIP      0.8   // not at all
#define JOLT      0.012 // of the skeleton's size: likewise of a jolt
#define JOLT_NEAR 2     // frames around in which a jolt of the original counts for an edit's

// The largest turn from frame f - 1 to f, and of which degree of freedom.
static poise_status turn_between(pz_editor *e, const double *q, double *way, poise_error *error)
{
    return poise_difference(e->model, q - poise_model_info(e->model).nq, q, way, error);
}

static bool turns(const pz_editor *e, int dof)
{
    return !e->is_length[dof];
}

// Does a degree of freedom turn by so much in frame f alone? One that gathers speed over several frames does not snap,
// unless it turns by more than FLIP.
static bool is_sudden(pz_editor *e, int f, int dof, double turn)
{
    double *way = e->jacobian + 2 * poise_model_info(e->model).nv, around = 0.0;
    for (int g = f - 1; g <= f + 1; g += 2) {
        if (g > 0 && g < e->clip->frames && turn_between(e, pz_editor_frame(e, g), way, NULL) == POISE_OK) {
            around = max2(around, fabs(way[dof]));
        }
    }
    return turn > 2.0 * around || turn > FLIP;
}

static void measure_step(pz_editor *e, int f, poise_pin_report *r)
{
    double rate = 1.0 / e->clip->frame_time, *before = e->jacobian, *after = e->jacobian + poise_model_info(e->model).nv;
    for (int i = 0; i < poise_model_info(e->model).nv; ++i) {
        if (turns(e, i)) {
            r->speed_before = max2(r->speed_before, fabs(before[i]) * rate);
            r->speed_after = max2(r->speed_after, fabs(after[i]) * rate);
            if (r->snap_frame == POISE_NONE && fabs(after[i]) > max2(SNAP, 2.0 * fabs(before[i])) &&
                is_sudden(e, f, i, fabs(after[i]))) {
                r->snap_frame = f;
                r->snap_dof = i;
            }
        }
    }
}

// The rotation of a body against its parent.
static quat turn_of(const poise_kinematics *kin, int body, int parent)
{
    quat own = poise_kinematics_body_pose(kin, body).rotation;
    return parent < 0 ? own : quat_mul(quat_conj(poise_kinematics_body_pose(kin, parent).rotation), own);
}

// The largest turn of a joint, |log(R^-1 R')|, whatever angles its coordinates are.
static poise_status measure_turn(pz_editor *e, int f, poise_pin_report *r, poise_error *error)
{
    const poise_model *m = e->model;
    poise_status status = poise_kinematics_update(e->kin, pz_editor_original(e, f), error);
    status = status == POISE_OK ? poise_kinematics_update(e->at, pz_editor_frame(e, f), error) : status;
    for (int k = 0; k < poise_model_info(m).joints && status == POISE_OK; ++k) {
        int parent = poise_model_joint_info(m, k).parent,
            last = poise_model_joint_info(m, k).v + poise_model_joint_info(m, k).nv - 1;
        if (last < poise_model_joint_info(m, k).v || !turns(e, last)) { // slides come first
            continue;
        }
        quat before = turn_of(e->kin, k, parent), after = turn_of(e->at, k, parent);
        double angle = v3_norm(so3_log(quat_mul(quat_conj(before), after)));
        if (angle > r->turn) {
            r->turn = angle;
            r->turn_dof = last;
            r->turn_frame = f;
        }
    }
    return status;
}

static poise_status measure_frame(pz_editor *e, int f, poise_pin_report *r, poise_error *error)
{
    const poise_model *m = e->model;
    const double *q = pz_editor_frame(e, f), *original = pz_editor_original(e, f);
    poise_status status = e->changed[f] ? measure_turn(e, f, r, error) : POISE_OK;
    r->frames += e->changed[f];
    r->outside += e->changed[f] && !poise_model_within_limits(m, q) && poise_model_within_limits(m, original);
    for (int i = 0; i < poise_model_info(m).nq && e->changed[f]; ++i) {
        bool is_outside = original[i] < poise_model_info(m).lower[i] || original[i] > poise_model_info(m).upper[i];
        r->widened += is_outside && !e->is_outside[i];
        e->is_outside[i] = e->is_outside[i] || is_outside;
    }
    if (f > 0 && (e->changed[f] || e->changed[f - 1]) && status == POISE_OK) {
        status = turn_between(e, original, e->jacobian, error);
        status = status == POISE_OK ? turn_between(e, q, e->jacobian + poise_model_info(m).nv, error) : status;
        measure_step(e, f, r);
    }
    return status;
}

// ---- Jolts ---------------------------------------------------------------------------------------------------------------

static poise_status place_of(pz_editor *e, const poise_goal *point, const double *q, vec3 *place, poise_error *error)
{
    poise_status status = poise_kinematics_update(e->at, q, error);
    *place = status == POISE_OK ? poise_kinematics_point(e->at, point->body, point->local.position) : v3(0, 0, 0);
    return status;
}

// |x(f+1) - 2 x(f) + x(f-1)| of a point; `frames` is the original or the clip.
static poise_status jolt_at(pz_editor *e, const poise_goal *point, const double *frames, int f, double *jolt,
                            poise_error *error)
{
    vec3 x[3] = {v3(0, 0, 0)};
    size_t nq = (size_t)e->clip->nq;
    poise_status status = POISE_OK;
    for (int i = 0; i < 3 && status == POISE_OK; ++i) {
        status = place_of(e, point, frames + (size_t)(f + i - 1) * nq, &x[i], error);
    }
    *jolt = v3_norm(v3_sub(v3_add(x[0], x[2]), v3_scale(x[1], 2.0)));
    return status;
}

poise_status pz_editor_find_jolt(pz_editor *e, const poise_goal *point, int first, int last, poise_pin_report *r,
                                 poise_error *error)
{
    poise_status status = POISE_OK;
    int end = e->clip->frames - 1;
    for (int f = first > 1 ? first : 1; f <= last && f < end && status == POISE_OK; ++f) {
        double after, before, own = 0.0;
        status = jolt_at(e, point, e->clip->q, f, &after, error);
        int from = f - JOLT_NEAR > 1 ? f - JOLT_NEAR : 1, to = least(f + JOLT_NEAR, end - 1);
        for (int k = from; k <= to && after > JOLT * e->size && status == POISE_OK; ++k) {
            status = jolt_at(e, point, e->original, k, &before, error);
            own = max2(own, before);
        }
        if (after - own > max2(JOLT * e->size, r->jolt) && status == POISE_OK) {
            bool is_first = r->snap_frame == POISE_NONE || r->snap_dof == POISE_NONE;
            r->jolt = after - own;
            r->jolt_body = point->body;
            r->snap_frame = is_first ? f : r->snap_frame;
        }
    }
    return status;
}

poise_status pz_editor_measure(pz_editor *e, poise_pin_report *report, poise_error *error)
{
    poise_status status = POISE_OK;
    *report = (poise_pin_report){.snap_frame = POISE_NONE,
                                 .snap_dof = POISE_NONE,
                                 .jolt_body = POISE_NONE,
                                 .turn_dof = POISE_NONE,
                                 .turn_frame = POISE_NONE,
                                 .iterations = e->iterations};
    for (int f = 0; f < e->clip->frames && status == POISE_OK; ++f) {
        status = measure_frame(e, f, report, error);
    }
    return status;
}
