// The last step of a whole clip with limits of velocity or acceleration: what still leaves them is replaced by the nearest
// path within. Walls hold them as well as the solver converges; this holds them always, but knows nothing of goals.
//
// Plain coordinates are moved by their coefficients, so that limits hold between frames, too; the two numbers of a swing
// together, within their ellipse. Rotations have no coefficients and are moved frame by frame.
#include "motion/limits/nearest_path.h"
#include "motion/sequence_state.h"

#include "base/error.h"
#include "num/rotation.h"

#include <string.h>

#define LITTLE 0.1 // of the way that a limit allows from knot to knot

// The limit of the order-th difference over `step` seconds; infinite: none.
static double limit_of(const pz_sequence *s, int order, int dof, double step)
{
    const double *given = order == 1 ? s->options.velocity : s->options.acceleration;
    return given ? given[dof] * (order == 1 ? step : step * step) : INFINITY;
}

static bool is_locked(const pz_sequence *s, int dof)
{
    return s->options.locked && s->options.locked[dof];
}

// The path of `dofs` dofs from `dof` on, without its points. False: none of them is limited, or one is locked.
static bool describe(const pz_sequence *s, int dof, int dofs, double step, pz_path *path)
{
    bool is_limited = false, is_held = false;
    path->dofs = dofs;
    path->swing[0] = path->swing[1] = INFINITY;
    for (int i = 0; i < dofs; ++i) {
        path->velocity[i] = limit_of(s, 1, dof + i, step);
        path->acceleration[i] = limit_of(s, 2, dof + i, step);
        path->lower[i] = s->lower[dof + i];
        path->upper[i] = s->upper[dof + i];
        is_limited = is_limited || is_finite(path->velocity[i]) || is_finite(path->acceleration[i]);
        is_held = is_held || is_locked(s, dof + i);
    }
    return is_limited && !is_held;
}

// The clip's report on the moves, and room for it.
typedef struct moves {
    void *points;     // of one path
    bool *is_late;    // by frame
    double most_late; // the largest move, as a share of what the limits allow from knot to knot
} moves;

// Count a move of a dof in the frames from `first` to before `end`.
static void note(pz_sequence *s, moves *m, int dof, double moved, int first, int end)
{
    double step = s->options.knot * s->frame_time;
    double way = limit_of(s, 1, dof, step), share = moved / (is_finite(way) ? way : limit_of(s, 2, dof, step));
    s->report.moved = max2(s->report.moved, moved);
    for (int t = first < 0 ? 0 : first; t < end && t < s->frames && share > LITTLE; ++t) {
        s->report.late += !m->is_late[t];
        m->is_late[t] = true;
    }
    if (share > LITTLE && share > m->most_late) {
        m->most_late = share;
        s->report.late_dof = dof;
    }
}

static bool fix(pz_sequence *s, pz_path *path)
{
    if (!pz_path_bring_within(path, s->owned.allocator.allocate ? &s->owned.allocator : NULL)) {
        s->status = pz_error_set(s->error, POISE_ERROR_MEMORY, "out of memory: limits of a clip of %d frames", s->frames);
        return false;
    }
    return true;
}

static void bring_plain(pz_sequence *s, int dof, int dofs, const double *swing, moves *m)
{
    pz_path path = {.count = s->knots, .x = m->points};
    if (!describe(s, dof, dofs, s->options.knot * s->frame_time, &path)) {
        return;
    }
    for (int i = 0; swing && i < 2; ++i) {
        path.swing[i] = swing[i];
    }
    for (int j = 0; j < s->knots; ++j) {
        const double *c = s->coefficient + (size_t)j * (size_t)s->nv + dof;
        path.x[j] = v3(c[0], dofs > 1 ? c[1] : 0.0, dofs > 2 ? c[2] : 0.0);
    }
    if (!pz_path_leaves(&path) || !fix(s, &path)) {
        return;
    }
    for (int j = 0; j < s->knots; ++j) {
        double *c = s->coefficient + (size_t)j * (size_t)s->nv + dof;
        double to[PATH_DOFS] = {path.x[j].x, path.x[j].y, path.x[j].z};
        for (int i = 0; i < dofs; ++i) {
            note(s, m, dof + i, fabs(to[i] - c[i]), (j - 1) * s->options.knot, j * s->options.knot);
            c[i] = to[i];
        }
    }
}

static void bring_rotation(pz_sequence *s, int block, moves *m)
{
    int dof = s->blocks[block].dof;
    pz_path path = {.count = s->frames, .turns = true, .rotation = m->points};
    if (!describe(s, dof, 3, s->frame_time, &path)) {
        return;
    }
    for (int t = 0; t < s->frames; ++t) {
        path.rotation[t] = pz_sequence_rotations(s, t)[block];
    }
    if (!pz_path_leaves(&path) || !fix(s, &path)) {
        return;
    }
    for (int t = 0; t < s->frames; ++t) {
        quat *at = &pz_sequence_rotations(s, t)[block];
        vec3 turn = so3_log(quat_mul(quat_conj(*at), path.rotation[t]));
        for (int i = 0; i < 3; ++i) {
            note(s, m, dof + i, v3_norm(turn), t, t + 1);
        }
        *at = path.rotation[t];
    }
}

void pz_sequence_bring_within(pz_sequence *s)
{
    if (!pz_sequence_has_walls(s) || s->status != POISE_OK) {
        return;
    }
    size_t points = (size_t)(s->frames > s->knots ? s->frames : s->knots);
    const poise_allocator *allocator = s->owned.allocator.allocate ? &s->owned.allocator : NULL;
    void *room = pz_allocate(allocator, points * (sizeof(quat) + sizeof(bool)));
    if (!room) {
        s->status = pz_error_set(s->error, POISE_ERROR_MEMORY, "out of memory: limits of a clip of %d frames", s->frames);
        return;
    }
    moves m = {.points = room, .is_late = (bool *)((quat *)room + points)};
    memset(m.is_late, 0, points * sizeof(bool));
    for (int k = 0; k < s->model->step_count && s->status == POISE_OK; ++k) {
        const pz_step *step = &s->model->steps[k];
        int dof = s->model->axes[step->axis].dof;
        bool is_swing = step->kind == PZ_SWING && s->options.use_limits;
        if (step->own && is_swing) {
            bring_plain(s, dof, 2, s->model->given[s->model->axes[step->axis].joint].swing, &m);
        }
        for (int i = 0; i < pz_step_nv(step->kind) && step->own && !is_swing && s->coordinate[dof] >= 0; ++i) {
            bring_plain(s, dof + i, 1, NULL, &m);
        }
    }
    for (int k = 0; k < s->block_count && s->status == POISE_OK; ++k) {
        bring_rotation(s, k, &m);
    }
    pz_release(allocator, room);
    s->report.converged = s->report.converged && s->report.late == 0;
    pz_sequence_write_frames(s);
}

void pz_sequence_measure_walls(pz_sequence *s)
{
    double *before = s->bend, *way = s->edge; // scratch by now
    for (int t = 0; t + 1 < s->frames && pz_sequence_has_walls(s); ++t) {
        pz_sequence_edge(s, t, way);
        for (int i = 0; i < s->nv; ++i) {
            double velocity = fabs(way[i]) / limit_of(s, 1, i, s->frame_time);
            double acceleration = t > 0 ? fabs(way[i] - before[i]) / limit_of(s, 2, i, s->frame_time) : 0.0;
            s->report.velocity = max2(s->report.velocity, velocity);
            s->report.acceleration = max2(s->report.acceleration, acceleration);
        }
        memcpy(before, way, (size_t)s->nv * sizeof *before);
    }
}
