#include "goal/marker_sums.h"

#include "simd/six.h"

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
            m->n += goals[i].weight;
            m->tau = v3_mad(m->tau, goals[i].weight, goals[i].target.position);
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
        m->tau = v3_scale(m->tau, 1.0 / m->n);
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
    vec3 t = v3_sub(goal->target.position, m->tau);
    int place = m->first + m->count++;
    set->l[0][place] = l.x, set->l[1][place] = l.y, set->l[2][place] = l.z;
    set->t[0][place] = t.x, set->t[1][place] = t.y, set->t[2][place] = t.z;
    set->w[place] = w;
    m->b = v3_mad(m->b, w, l);
    m->S = sym3_add(m->S, sym3_outer(w, l));
    m->Y = outer_mad(m->Y, w, l, t);
}

void pz_markers_condense(pz_marker_set *set, const poise_model *model, const poise_goal *goals, int count)
{
    set->any = false;
    set->all = count > 0;
    if (count < PZ_CONDENSED_MARKERS) {
        set->all = false;
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

// sum w |R l + shift - (t - tau)|^2 / 2 over one body's places, shift = p - tau, in four lanes that are added at the end.
// The two versions do the same in the same order.
static double body_cost(const pz_marker_set *set, const pz_markers *m, const mat3 *R, vec3 shift)
{
    two low = two_of(0.0), high = two_of(0.0);
    for (int i = m->first; i < m->first + m->slots; i += 2) {
        two l[3], t[3], w;
        for (int k = 0; k < 3; ++k) {
            memcpy(&l[k], set->l[k] + i, sizeof l[k]);
            memcpy(&t[k], set->t[k] + i, sizeof t[k]);
        }
        memcpy(&w, set->w + i, sizeof w);
        two rx = R->x.x * l[0] + R->y.x * l[1] + R->z.x * l[2] + shift.x - t[0];
        two ry = R->x.y * l[0] + R->y.y * l[1] + R->z.y * l[2] + shift.y - t[1];
        two rz = R->x.z * l[0] + R->y.z * l[1] + R->z.z * l[2] + shift.z - t[2];
        two cost = w * (rx * rx + ry * ry + rz * rz);
        low = (i - m->first) % PZ_MARKER_LANES == 0 ? low + cost : low;
        high = (i - m->first) % PZ_MARKER_LANES == 0 ? high : high + cost;
    }
    return 0.5 * ((low[0] + low[1]) + (high[0] + high[1]));
}

#if PZ_HAS_WIDE
typedef double four __attribute__((vector_size(32)));

PZ_WIDE static double body_cost_wide(const pz_marker_set *set, const pz_markers *m, const mat3 *R, vec3 shift)
{
    four sum = {0, 0, 0, 0};
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
        sum += w * (rx * rx + ry * ry + rz * rz);
    }
    return 0.5 * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}
#else
#define body_cost_wide body_cost
#endif

// ---- Derivatives ---------------------------------------------------------------------------------------------------------

// R S R^T: the columns of S turned, then their rows, of which six entries are needed
static inline sym3 turned(const mat3 *R, const sym3 *S)
{
    vec3 x = m3_apply(R, v3(S->xx, S->xy, S->xz)), y = m3_apply(R, v3(S->xy, S->yy, S->yz));
    vec3 z = m3_apply(R, v3(S->xz, S->yz, S->zz));
    return (sym3){R->x.x * x.x + R->y.x * y.x + R->z.x * z.x, R->x.y * x.x + R->y.y * y.x + R->z.y * z.x,
                  R->x.z * x.x + R->y.z * y.x + R->z.z * z.x, R->x.y * x.y + R->y.y * y.y + R->z.y * z.y,
                  R->x.z * x.y + R->y.z * y.y + R->z.z * z.y, R->x.z * x.z + R->y.z * y.z + R->z.z * z.z};
}

static void add_derivatives(pz_evaluation *evaluation, int body, const pz_markers *m, vec3 tau)
{
    const mat3 *R = &evaluation->kin->R[body];
    vec3 p = evaluation->kin->p[body];
    vec3 Rb = m3_apply(R, m->b);
    vec3 c = v3_mad(Rb, m->n, p);
    sym3 P = sym3_add(turned(R, &m->S), sym3_add(sym3_outer(m->n, p), sym3_scale(sym3_pair(p, Rb), 2.0)));
    mat3 RY = m3_mul(R, &m->Y);
    mat3 Q = outer_mad(sym3_matrix(&P), -1.0, c, tau);
    Q = (mat3){v3_sub(Q.x, RY.x), v3_sub(Q.y, RY.y), v3_sub(Q.z, RY.z)};

    pz_sum *sum = &evaluation->sums[body];
    vec3 torque = v3(Q.z.y - Q.y.z, Q.x.z - Q.z.x, Q.y.x - Q.x.y); // x x f, component by component of x f^T
    sum->g = wrench_add(sum->g, (wrench){torque, v3_mad(c, -m->n, tau)});
    if (evaluation->level == POISE_LEVEL_HESSIAN) {
        double trace_Q = Q.x.x + Q.y.y + Q.z.z;
        sum->n += m->n;
        sum->c = v3_add(sum->c, c);
        sum->ww = sym3_add(sum->ww, sym3_mad(sym3_identity(P.xx + P.yy + P.zz), -1.0, P));
        sum->K = sym3_add(sum->K, sym3_add(sym3_of(&Q), sym3_identity(-trace_Q)));
    }
}

void pz_markers_evaluate(const pz_marker_set *set, pz_evaluation *evaluation)
{
    const poise_kinematics *kin = evaluation->kin;
    for (int k = 0; k < kin->model->joint_count; ++k) {
        const pz_markers *m = &set->body[k];
        if (m->count == 0) {
            continue;
        }
        vec3 tau = v3_sub(m->tau, kin->origin), shift = v3_sub(kin->p[k], tau);
        bool is_wide = kin->model->is_wide;
        evaluation->cost += is_wide ? body_cost_wide(set, m, &kin->R[k], shift) : body_cost(set, m, &kin->R[k], shift);
        if (evaluation->level != POISE_LEVEL_COST) {
            add_derivatives(evaluation, k, m, tau);
        }
    }
}
