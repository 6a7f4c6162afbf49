// The spline of a whole clip: from coefficients to frames, and its smoothness.
//
// Uniform cubic B-splines: with u the place of a frame between two knots, in [0, 1],
//
//   b_0 = (1 - u)^3/6     b_1 = (3 u^3 - 6 u^2 + 4)/6     b_2 = (-3 u^3 + 3 u^2 + 3 u + 1)/6     b_3 = u^3/6
//
// Rotations start as the cumulative spline of their control points c_j (Kim, Kim & Shin, "A general construction scheme for
// unit quaternion curves with simple high order derivatives", 1995), which is as smooth:
//
//   q(u) = c_0 exp((b_1 + b_2 + b_3) w_1) exp((b_2 + b_3) w_2) exp(b_3 w_3),     w_i = log(c_(i-1)^-1 c_i)
//
// Smoothness of a rotation: with w_e = log(q_t^-1 q_(t+1)) for the edge e from t to t+1, the bend is a_t = w_(t,t+1) -
// w_(t-1,t). Turning both ends by exp(d) changes w by J_r(w)^-1 d_(t+1) - J_l(w)^-1 d_t. Plain coordinates are the same with
// J = 1.
#include "motion/sequence_state.h"

#include "num/rotation.h"

#include <string.h>

// ---- Basis ---------------------------------------------------------------------------------------------------------------

int pz_sequence_knots(int frames, int knot)
{
    int intervals = frames > 1 ? (frames - 2) / knot + 1 : 1;
    return intervals + SEQUENCE_BASIS - 1;
}

// The first coefficient of a frame, and the four weights.
static int basis_of(int frame, int knot, int knots, double b[SEQUENCE_BASIS])
{
    int last = knots - SEQUENCE_BASIS, interval = frame / knot < last ? frame / knot : last;
    double u = (double)(frame - interval * knot) / knot, v = 1.0 - u;
    b[0] = v * v * v / 6.0;
    b[1] = (3.0 * u * u * u - 6.0 * u * u + 4.0) / 6.0;
    b[2] = (-3.0 * u * u * u + 3.0 * u * u + 3.0 * u + 1.0) / 6.0;
    b[3] = u * u * u / 6.0;
    return interval;
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

static quat quat_at(const double *q)
{
    return quat_normalize((quat){q[0], q[1], q[2], q[3]});
}

// The rotation that a block has in a configuration, and back.
static quat rotation_in(const pz_rotation_block *b, const double *q)
{
    return b->is_vector ? so3_exp_quat(v3(q[b->q], q[b->q + 1], q[b->q + 2])) : quat_at(q + b->q);
}

static void put_rotation(const pz_rotation_block *b, quat r, double *q)
{
    if (b->is_vector) {
        vec3 v = so3_log(r);
        q[b->q] = v.x, q[b->q + 1] = v.y, q[b->q + 2] = v.z;
    } else {
        q[b->q] = r.x, q[b->q + 1] = r.y, q[b->q + 2] = r.z, q[b->q + 3] = r.w;
    }
}

// The plain coordinates of a frame from the coefficients.
static void put_plain(const pz_sequence *s, int frame, double *q)
{
    double b[SEQUENCE_BASIS];
    int first = basis_of(frame, s->options.knot, s->knots, b);
    const double *c = s->coefficient + (size_t)first * (size_t)s->nv;
    for (int i = 0; i < s->nv; ++i) {
        if (s->coordinate[i] >= 0) {
            double value = b[0] * c[i] + b[1] * c[i + s->nv] + b[2] * c[i + 2 * s->nv] + b[3] * c[i + 3 * s->nv];
            q[s->coordinate[i]] = clamp(value, s->lower[i], s->upper[i]); // rounding
        }
    }
}

// The cumulative spline of a block at a frame, from the clip's own frames at the knots.
static quat cumulative(const pz_sequence *s, const quat *control, int frame)
{
    double b[SEQUENCE_BASIS];
    int first = basis_of(frame, s->options.knot, s->knots, b);
    const quat *c = control + first;
    double share[SEQUENCE_BASIS] = {1.0, b[1] + b[2] + b[3], b[2] + b[3], b[3]};
    quat r = c[0];
    for (int i = 1; i < SEQUENCE_BASIS; ++i) {
        vec3 w = so3_log(quat_mul(quat_conj(c[i - 1]), c[i]));
        r = quat_mul(r, so3_exp_quat(v3_scale(w, share[i])));
    }
    return quat_normalize(r);
}

// Coefficient j has the weight 4/6 at the frame (j - 1) knot.
static int frame_of_knot(const pz_sequence *s, int j)
{
    int frame = (j - 1) * s->options.knot;
    return frame < 0 ? 0 : frame >= s->frames ? s->frames - 1 : frame;
}

void pz_sequence_write_frames(pz_sequence *s)
{
    for (int t = 0; t < s->frames; ++t) {
        put_plain(s, t, pz_sequence_frame(s, t));
        for (int k = 0; k < s->block_count; ++k) {
            put_rotation(&s->blocks[k], pz_sequence_rotations(s, t)[k], pz_sequence_frame(s, t));
        }
    }
}

void pz_sequence_start(pz_sequence *s)
{
    for (int j = 0; j < s->knots; ++j) {
        const double *q = pz_sequence_frame(s, frame_of_knot(s, j));
        for (int i = 0; i < s->nv; ++i) {
            double value = s->coordinate[i] < 0 ? 0.0 : q[s->coordinate[i]];
            s->coefficient[(size_t)j * (size_t)s->nv + (size_t)i] = clamp(value, s->lower[i], s->upper[i]);
        }
    }
    for (int k = 0; k < s->block_count; ++k) {
        for (int j = 0; j < s->knots; ++j) {
            s->control[j] = rotation_in(&s->blocks[k], pz_sequence_frame(s, frame_of_knot(s, j)));
        }
        for (int t = 0; t < s->frames; ++t) {
            pz_sequence_rotations(s, t)[k] = cumulative(s, s->control, t);
        }
    }
    pz_sequence_write_frames(s);
}

// ---- Windows -------------------------------------------------------------------------------------------------------------

// The diagonals of sum over t of D_t^T D_t, D_t the second difference of the basis at frame t.
static void make_band(pz_sequence *s, int from, int to)
{
    memset(s->band, 0, (size_t)s->knot_room * SEQUENCE_BAND * sizeof *s->band);
    for (int t = from; t <= to; ++t) {
        double d[SEQUENCE_BAND] = {0.0};
        double b[SEQUENCE_BASIS];
        int first = basis_of(t - 1, s->options.knot, s->knots, b);
        for (int n = -1; n <= 1; ++n) {
            int at = basis_of(t + n, s->options.knot, s->knots, b);
            for (int i = 0; i < SEQUENCE_BASIS; ++i) {
                d[at - first + i] += (n == 0 ? -2.0 : 1.0) * b[i];
            }
        }
        int before = s->knot - first, begin = before > 0 ? before : 0, end = least(SEQUENCE_BAND, before + s->knot_count);
        for (int i = begin; i < end; ++i) { // coefficients of the window alone
            for (int h = begin; h <= i; ++h) {
                s->band[(size_t)(i - h) * (size_t)s->knot_room + (size_t)(i - before)] += (float)(d[i] * d[h]);
            }
        }
    }
}

// Second differences that the window can change are those at its frames, and one before.
static int first_bend(const pz_sequence *s)
{
    return s->first > 1 ? s->first - 1 : 1;
}

static int last_bend(const pz_sequence *s)
{
    return s->first + s->count - 2;
}

void pz_sequence_open(pz_sequence *s, int settled_knots)
{
    int k = s->options.knot, before = SEQUENCE_BASIS - 1;
    s->first = settled_knots > before ? (settled_knots - before) * k : 0;
    int end = s->first + s->options.window < s->frames ? s->first + s->options.window : s->frames;
    s->count = end - s->first;
    double b[SEQUENCE_BASIS];
    s->knot = basis_of(s->first, k, s->knots, b);
    s->knot_count = basis_of(end - 1, k, s->knots, b) + SEQUENCE_BASIS - s->knot;
    s->settled = settled_knots > s->knot ? settled_knots - s->knot : 0;
    int beyond = (SEQUENCE_BASIS - 1) * k; // coefficients reach on into the frames behind the window
    s->touched = s->count + beyond < s->frames - s->first ? s->count + beyond : s->frames - s->first;
    for (int t = 0; t < s->touched; ++t) {
        s->interval[t] = basis_of(s->first + t, k, s->knots, b) - s->knot;
        for (int i = 0; i < SEQUENCE_BASIS; ++i) {
            s->basis[t * SEQUENCE_BASIS + i] = (float)b[i];
        }
    }
    for (int i = 0; i < k; ++i) {
        basis_of(i, k, s->knots + k, b);
        for (int n = 0; n < SEQUENCE_BASIS; ++n) {
            s->phase[i * SEQUENCE_BASIS + n] = (float)b[n];
        }
    }
    memset(s->H, 0, (size_t)s->entries * (size_t)s->slots * sizeof *s->H);
    make_band(s, first_bend(s), last_bend(s));
}

// ---- Moving --------------------------------------------------------------------------------------------------------------

void pz_sequence_keep(pz_sequence *s)
{
    size_t nq = (size_t)s->nq, nv = (size_t)s->nv, blocks = (size_t)s->block_count;
    memcpy(s->q_kept, pz_sequence_frame(s, s->first), (size_t)s->touched * nq * sizeof *s->q_kept);
    memcpy(s->coefficient_kept, s->coefficient + (size_t)s->knot * nv, (size_t)s->knot_count * nv * sizeof(double));
    memcpy(s->rotation_kept, pz_sequence_rotations(s, s->first), (size_t)s->touched * blocks * sizeof *s->rotation_kept);
}

void pz_sequence_restore(pz_sequence *s)
{
    size_t nq = (size_t)s->nq, nv = (size_t)s->nv, blocks = (size_t)s->block_count;
    memcpy(pz_sequence_frame(s, s->first), s->q_kept, (size_t)s->touched * nq * sizeof *s->q_kept);
    memcpy(s->coefficient + (size_t)s->knot * nv, s->coefficient_kept, (size_t)s->knot_count * nv * sizeof(double));
    memcpy(pz_sequence_rotations(s, s->first), s->rotation_kept, (size_t)s->touched * blocks * sizeof *s->rotation_kept);
}

// How far the step moves a dof at a frame of the window.
static double moved_by(const pz_sequence *s, int dof, int t)
{
    const float *x = s->x + (size_t)dof * (size_t)s->knot_room + s->interval[t], *b = s->basis + t * SEQUENCE_BASIS;
    return (double)b[0] * x[0] + (double)b[1] * x[1] + (double)b[2] * x[2] + (double)b[3] * x[3];
}

void pz_sequence_move(pz_sequence *s, double share)
{
    for (int j = s->settled; j < s->knot_count; ++j) {
        double *c = s->coefficient + (size_t)(s->knot + j) * (size_t)s->nv;
        const double *kept = s->coefficient_kept + (size_t)j * (size_t)s->nv;
        for (int i = 0; i < s->nv; ++i) {
            c[i] = clamp(kept[i] + share * (double)s->x[(size_t)i * (size_t)s->knot_room + (size_t)j], s->lower[i],
                         s->upper[i]);
        }
    }
    for (int t = 0; t < s->touched; ++t) {
        double *q = pz_sequence_frame(s, s->first + t);
        put_plain(s, s->first + t, q);
        for (int k = 0; k < s->block_count; ++k) {
            const pz_rotation_block *b = &s->blocks[k];
            vec3 turn = v3(moved_by(s, b->dof, t), moved_by(s, b->dof + 1, t), moved_by(s, b->dof + 2, t));
            quat r = s->rotation_kept[t * s->block_count + k];
            r = quat_normalize(quat_mul(r, so3_exp_quat(v3_scale(turn, share))));
            pz_sequence_rotations(s, s->first + t)[k] = r;
            put_rotation(b, r, q);
        }
    }
}

// ---- Smoothness ----------------------------------------------------------------------------------------------------------

void pz_sequence_add_gradient(pz_sequence *s, int frame, const double *gradient)
{
    int t = frame - s->first;
    if (t < 0 || t >= s->count) {
        return;
    }
    const float *b = s->basis + t * SEQUENCE_BASIS;
    for (int i = 0; i < s->nv; ++i) {
        double *g = s->gradient + (size_t)i * (size_t)s->knot_room + s->interval[t];
        for (int n = 0; n < SEQUENCE_BASIS; ++n) {
            g[n] += (double)b[n] * gradient[i];
        }
    }
}

void pz_sequence_edge(const pz_sequence *s, int t, double *w)
{
    const double *from = pz_sequence_frame(s, t), *to = pz_sequence_frame(s, t + 1);
    for (int i = 0; i < s->nv; ++i) {
        w[i] = s->coordinate[i] < 0 ? 0.0 : to[s->coordinate[i]] - from[s->coordinate[i]];
    }
    for (int k = 0; k < s->block_count; ++k) {
        quat a = pz_sequence_rotations(s, t)[k], b = pz_sequence_rotations(s, t + 1)[k];
        vec3 turn = so3_log(quat_mul(quat_conj(a), b));
        double *at = w + s->blocks[k].dof;
        at[0] = turn.x, at[1] = turn.y, at[2] = turn.z;
    }
}

// Add the force f of an edge to the gradients of its ends: J_r(w)^-T f at the later, -J_l(w)^-T f at the earlier one.
static void pull(pz_sequence *s, int t, const double *w, const double *f)
{
    double *g = s->frame_gradient;
    for (int end = 0; end < 2; ++end) {
        for (int i = 0; i < s->nv; ++i) {
            g[i] = s->coordinate[i] < 0 ? 0.0 : end ? f[i] : -f[i];
        }
        for (int k = 0; k < s->block_count; ++k) {
            int dof = s->blocks[k].dof;
            vec3 turn = v3(w[dof], w[dof + 1], w[dof + 2]), force = v3(f[dof], f[dof + 1], f[dof + 2]);
            mat3 J = so3_left_jacobian_inverse(end ? v3_scale(turn, -1.0) : turn); // J_r(w) = J_l(-w)
            vec3 pulled = m3_apply_transposed(&J, force);
            double sign = end ? 1.0 : -1.0;
            g[dof] = sign * pulled.x, g[dof + 1] = sign * pulled.y, g[dof + 2] = sign * pulled.z;
        }
        pz_sequence_add_gradient(s, t + end, g);
    }
}

// With the bends p_t = W a_t the edge from t to t+1 pulls with p_t - p_(t+1).
double pz_sequence_smoothness(pz_sequence *s)
{
    int from = first_bend(s), to = last_bend(s), nv = s->nv;
    double cost = 0.0;
    if (to < from) {
        return 0.0;
    }
    // edges from - 1 .. to, and bends between them; row 0 of both belongs to from - 1
    for (int t = from - 1; t <= to; ++t) {
        pz_sequence_edge(s, t, s->edge + (size_t)(t - from + 1) * (size_t)nv);
    }
    memset(s->bend, 0, (size_t)(to - from + 3) * (size_t)nv * sizeof *s->bend);
    for (int t = from; t <= to; ++t) {
        const double *w = s->edge + (size_t)(t - from) * (size_t)nv;
        double *p = s->bend + (size_t)(t - from + 1) * (size_t)nv;
        for (int i = 0; i < nv; ++i) {
            double a = w[i + nv] - w[i];
            p[i] = s->weight[i] * a;
            cost += 0.5 * p[i] * a;
        }
    }
    for (int t = from - 1; t <= to; ++t) {
        const double *p = s->bend + (size_t)(t - from + 1) * (size_t)nv;
        double *f = s->bend + (size_t)(t - from + 1) * (size_t)nv; // p_t is needed no more
        for (int i = 0; i < nv; ++i) {
            f[i] = p[i] - p[i + nv];
        }
        pull(s, t, s->edge + (size_t)(t - from + 1) * (size_t)nv, f);
    }
    return cost;
}
