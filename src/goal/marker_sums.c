#include "goal/marker_sums.h"

#include "goal/sum_kernel.h"

#include <string.h>

void pz_markers_lay_out(pz_marker_set *set, const poise_model *model, pz_arena *arena)
{
    size_t places = (size_t)model->joint_count * (PZ_MARKERS_PER_JOINT + PZ_MARKER_LANES - 1);
    set->body = pz_arena_take(arena, (size_t)model->joint_count, sizeof *set->body);
    for (int i = 0; i < 3; ++i) {
        set->l[i] = pz_arena_take(arena, places, sizeof(double));
        set->t[i] = pz_arena_take(arena, places, sizeof(double));
    }
    set->w = pz_arena_take(arena, places, sizeof(double));
}

// ---- Condensing ----------------------------------------------------------------------------------------------------------

// Count the markers of every body, give places to bodies that have enough, and find the means of their targets.
static void give_places(pz_marker_set *set, const poise_model *model, const poise_goal *goals, int count)
{
    memset(set->body, 0, (size_t)model->joint_count * sizeof *set->body);
    for (int i = 0; i < count; ++i) {
        if (pz_is_marker(&goals[i])) {
            pz_markers *m = &set->body[goals[i].body];
            m->count += 1;
            m->moments.n += goals[i].weight;
            m->moments.tau = v3_mad(m->moments.tau, goals[i].weight, goals[i].target.position);
        }
    }
    int next = 0, room = model->joint_count * PZ_MARKERS_PER_JOINT;
    for (int k = 0; k < model->joint_count; ++k) {
        pz_markers *m = &set->body[k];
        if (m->count < PZ_CONDENSED_MARKERS || m->count > room) {
            m->count = 0;
            continue;
        }
        room -= m->count;
        m->first = next;
        m->slots = (m->count + PZ_MARKER_LANES - 1) / PZ_MARKER_LANES * PZ_MARKER_LANES;
        next += m->slots;
        m->moments.tau = v3_scale(m->moments.tau, 1.0 / m->moments.n);
        for (int place = m->first; place < next; ++place) { // until they are filled
            set->l[0][place] = set->l[1][place] = set->l[2][place] = 0.0;
            set->t[0][place] = set->t[1][place] = set->t[2][place] = 0.0;
            set->w[place] = 0.0;
        }
        m->count = 0; // counted again as they are filled
        set->any = true;
    }
}

// a + s u w^T, columns by the components of w
static inline mat3 outer_mad(mat3 a, double s, vec3 u, vec3 w)
{
    return (mat3){v3_mad(a.x, s * w.x, u), v3_mad(a.y, s * w.y, u), v3_mad(a.z, s * w.z, u)};
}

static void fill_place(pz_marker_set *set, const poise_model *model, const poise_goal *goal)
{
    const pz_joint *joint = &model->joints[goal->body];
    pz_markers *m = &set->body[goal->body];
    double w = goal->weight;
    vec3 l = joint->B_is_identity ? goal->local.position : m3_apply(&joint->B, goal->local.position);
    vec3 t = v3_sub(goal->target.position, m->moments.tau);
    int place = m->first + m->count++;
    set->l[0][place] = l.x, set->l[1][place] = l.y, set->l[2][place] = l.z;
    set->t[0][place] = t.x, set->t[1][place] = t.y, set->t[2][place] = t.z;
    set->w[place] = w;
    m->moments.b = v3_mad(m->moments.b, w, l);
    m->moments.S = sym3_add(m->moments.S, sym3_outer(w, l));
    m->moments.Y = outer_mad(m->moments.Y, w, l, t);
}

void pz_markers_condense(pz_marker_set *set, const poise_model *model, const poise_goal *goals, int count)
{
    set->any = false;
    set->all = count >= PZ_CONDENSED_MARKERS;
    if (!set->all) {
        return;
    }
    give_places(set, model, goals, count);
    for (int i = 0; i < count; ++i) {
        if (pz_is_marker(&goals[i]) && set->body[goals[i].body].slots > 0) {
            fill_place(set, model, &goals[i]);
        } else {
            set->all = false;
        }
    }
}

// ---- Cost ----------------------------------------------------------------------------------------------------------------

typedef double four __attribute__((vector_size(32))); // two of two where registers are no wider

// sum w |R l + shift - (t - tau)|^2 / 2 over one body's places, shift = p - tau, in four sums that are added at the end.
PZ_INLINE double cost_by_fours(const pz_marker_set *set, const pz_markers *m, const mat3 *R, vec3 shift)
{
    four sum = {0.0, 0.0, 0.0, 0.0};
    for (int i = m->first; i < m->first + m->slots; i += PZ_MARKER_LANES) {
        four l[3], t[3], w;
        for (int k = 0; k < 3; ++k) {
            memcpy(&l[k], set->l[k] + i, sizeof l[k]);
            memcpy(&t[k], set->t[k] + i, sizeof t[k]);
        }
        memcpy(&w, set->w + i, sizeof w);
        four rx = R->x.x * l[0] + R->y.x * l[1] + R->z.x * l[2] + shift.x - t[0];
        four ry = R->x.y * l[0] + R->y.y * l[1] + R->z.y * l[2] + shift.y - t[1];
        four rz = R->x.z * l[0] + R->y.z * l[1] + R->z.z * l[2] + shift.z - t[2];
        sum = sum + w * (rx * rx + ry * ry + rz * rz);
    }
    return 0.5 * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static double body_cost(const pz_marker_set *set, const pz_markers *m, const mat3 *R, vec3 shift)
{
    return cost_by_fours(set, m, R, shift);
}

// The same code for processors with wider registers (base/cpu.h).
PZ_WIDE static double body_cost_wide(const pz_marker_set *set, const pz_markers *m, const mat3 *R, vec3 shift)
{
    return cost_by_fours(set, m, R, shift);
}

// ---- Evaluation ----------------------------------------------------------------------------------------------------------

void pz_markers_evaluate(const pz_marker_set *set, pz_evaluation *evaluation)
{
    const poise_kinematics *kin = evaluation->kin;
    for (int k = 0; k < kin->model->joint_count; ++k) {
        const pz_markers *m = &set->body[k];
        if (m->count == 0) {
            continue;
        }
        vec3 tau = v3_sub(m->moments.tau, kin->origin), shift = v3_sub(kin->p[k], tau);
        bool is_wide = kin->model->is_wide;
        evaluation->cost += is_wide ? body_cost_wide(set, m, &kin->R[k], shift) : body_cost(set, m, &kin->R[k], shift);
        if (evaluation->level != POISE_LEVEL_COST) {
            sum_add_condensed(&evaluation->sums[k], &m->moments, &kin->R[k], kin->p[k], tau,
                              evaluation->level == POISE_LEVEL_HESSIAN);
        }
    }
}
