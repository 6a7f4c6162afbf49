// The whole-clip solver: a motion is a spline, and Newton steps move its coefficients, a window of frames after the other.
//
//   evaluate all frames of the window
//   repeat: hold coefficients at limits; factor; conjugate gradients; go the step or a part of it; until the cost stays
//
// Gauss-Newton: the exact Hessian takes as many steps here. A step that had to be shortened damps the next ones.
#include "motion/sequence.h"

#include "base/cpu.h"
#include "base/error.h"
#include "motion/pieces.h"
#include "num/rotation.h"
#include "num/trig.h"

#include <string.h>

// ---- The spline ----------------------------------------------------------------------------------------------------------

// From coefficients to frames, and the smoothness of these.
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

// Coefficients that a clip of so many frames has.
static int knots_of(int frames, int knot)
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

// ---- The spline: frames --------------------------------------------------------------------------------------------------

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

// Make the clip a spline whose control points are its frames at the knots.
static void start_spline(pz_sequence *s)
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

// ---- The spline: windows -------------------------------------------------------------------------------------------------

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

// Frames and coefficients of a window, and its arrays that depend on these alone.
static void open_window(pz_sequence *s, int settled_knots)
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

// ---- The spline: moving --------------------------------------------------------------------------------------------------

// Remember the window as it is.
static void keep_window(pz_sequence *s)
{
    size_t nq = (size_t)s->nq, nv = (size_t)s->nv, blocks = (size_t)s->block_count;
    memcpy(s->q_kept, pz_sequence_frame(s, s->first), (size_t)s->touched * nq * sizeof *s->q_kept);
    memcpy(s->coefficient_kept, s->coefficient + (size_t)s->knot * nv, (size_t)s->knot_count * nv * sizeof(double));
    memcpy(s->rotation_kept, pz_sequence_rotations(s, s->first), (size_t)s->touched * blocks * sizeof *s->rotation_kept);
}

static void restore_window(pz_sequence *s)
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

// Go on from where the window was remembered, by `share` of the step x.
static void move_window(pz_sequence *s, double share)
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

// s->gradient += B^T of the gradient of one frame (nv numbers).
static void add_gradient(pz_sequence *s, int frame, const double *gradient)
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
        add_gradient(s, t + end, g);
    }
}

// The cost of smoothness in the window; its gradient is added to s->gradient. With the bends p_t = W a_t the edge from t to
// t+1 pulls with p_t - p_(t+1).
static double smoothness(pz_sequence *s)
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

// ---- How smooth a motion is, from the motion itself ----------------------------------------------------------------------

// Let each dof be a motion whose accelerations are independent from frame to frame, with the deviation a, seen through
// noise of the deviation n with the information h of one frame (all markers, through the tree). A solve with W = (n/a)^2
// keeps of a motion at the frequency w the share h/(h + W D(w)), D = (2 - 2 cos w)^2, and the accelerations of its answer
// have the mean square
//
//   m = a^2 beta,     beta = mean over w in [0, pi] of h/(h + W D(w))
//
// so a^2 = m/beta, with the beta of the W that it was solved with: the step of expectation and maximisation (Dempster,
// Laird & Rubin 1977) for this model.

#define FREQUENCIES 64
#define LEAST       0.05 // of the usual acceleration
#define MOST        20.0

// beta for x = W/h.
static double share_kept(double x)
{
    double sum = 0.0;
    for (int i = 0; i < FREQUENCIES; ++i) {
        double s, c;
        poise_sincos((i + 0.5) / FREQUENCIES * 3.14159265358979323846, &s, &c);
        double d = 2.0 - 2.0 * c;
        sum += 1.0 / (1.0 + x * d * d);
    }
    return sum / FREQUENCIES;
}

// The mean information of a frame on each dof, with what hangs on it free and what it hangs on held: the pivots of the
// tree's factor.
static void find_pivots(pz_sequence *s, double *pivot)
{
    double *F = s->row;
    for (int e = 0; e < s->entries; ++e) {
        F[e] = s->information[e] / max2(s->informed, 1);
    }
    for (int i = s->nv - 1; i >= 0; --i) {
        int begin = s->row_begin[i], own = s->row_begin[i + 1] - 1;
        pivot[i] = F[own];
        for (int a = own - 1; a >= begin && pivot[i] > 0.0; --a) {
            double ratio = F[a] / pivot[i];
            for (int b = begin; b <= a; ++b) {
                F[s->row_begin[s->above[a]] + b - begin] -= ratio * F[b];
            }
        }
    }
}

void pz_sequence_estimate(pz_sequence *s, double metres)
{
    double *pivot = s->frame_gradient, *square = s->bend, *before = s->edge, *after = s->edge + s->nv;
    memset(square, 0, (size_t)s->nv * sizeof *square);
    for (int t = 0; t + 1 < s->frames; ++t) {
        pz_sequence_edge(s, t, after);
        for (int i = 0; i < s->nv && t > 0; ++i) {
            square[i] += (after[i] - before[i]) * (after[i] - before[i]);
        }
        memcpy(before, after, (size_t)s->nv * sizeof *before);
    }
    find_pivots(s, pivot);
    for (int i = 0; i < s->nv; ++i) {
        double usual = pz_sequence_usual(s, i, metres), dt2 = s->frame_time * s->frame_time;
        double mean = square[i] / max2(s->frames - 2, 1) / (dt2 * dt2);
        double kept = pivot[i] > 0.0 ? share_kept(s->weight[i] / pivot[i]) : 0.0;
        if (kept > 0.0 && mean > 0.0) {
            s->acceleration[i] = clamp(sqrt(mean / kept), LEAST * usual, MOST * usual);
        }
    }
}

// ---- The solver ----------------------------------------------------------------------------------------------------------

#define SHORTEN      0.3  // a step that does not lower the cost, and
#define TRIES        6    // how often
#define MU_FIRST     1e-2 // the damping after that,
#define MU_GROWTH    6.0  // after another one,
#define MU_FALL      0.25 // after one that was gone in full,
#define MU_MOST      10.0 // and beyond which nothing is to be gained
#define FARTHEST     0.7  // radians that a step may turn a joint
#define STILL        1e-6 // radians or lengths: a step this short ends a window
#define REST         0.2  // of a step's decrease: what conjugate gradients and the curve of the cost leave to later ones
#define HOLD_PASSES  3    // of holding coefficients that a step takes across a limit
#define USUAL_SLIDES 0.1  // of acceleration_usual, in metres

// ---- Evaluation ----------------------------------------------------------------------------------------------------------

// The gradient of a frame in terms of turns, for a rotation vector.
static void turn_gradient(int dof, const mat3 *T, double *g)
{
    vec3 turned = m3_apply_transposed(T, v3(g[dof], g[dof + 1], g[dof + 2]));
    g[dof] = turned.x, g[dof + 1] = turned.y, g[dof + 2] = turned.z;
}

// The packed Hessian likewise: rows and columns times T.
static void turn_block(const pz_sequence *s, int dof, const mat3 *T, double *rows)
{
    double *row[3];
    for (int i = 0; i < 3; ++i) {
        row[i] = rows + s->row_begin[dof + i];
    }
    int before = s->row_begin[dof + 1] - s->row_begin[dof] - 1; // entries above the block
    for (int e = 0; e < before; ++e) {
        vec3 turned = m3_apply_transposed(T, v3(row[0][e], row[1][e], row[2][e]));
        row[0][e] = turned.x, row[1][e] = turned.y, row[2][e] = turned.z;
    }
    double *a = row[0] + before, *b = row[1] + before, *c = row[2] + before; // T^T S T
    mat3 S = {v3(a[0], b[0], c[0]), v3(b[0], b[1], c[1]), v3(c[0], c[1], c[2])};
    mat3 ST = m3_mul(&S, T), transposed = m3_transpose(T);
    S = m3_mul(&transposed, &ST);
    a[0] = S.x.x, b[0] = S.x.y, b[1] = S.y.y, c[0] = S.x.z, c[1] = S.y.z, c[2] = S.z.z;
    for (int i = dof + 3; i < s->nv && s->row_begin[i + 1] - s->row_begin[i] > before + 3; ++i) { // the subtree
        double *e = rows + s->row_begin[i] + before;
        vec3 turned = m3_apply_transposed(T, v3(e[0], e[1], e[2]));
        e[0] = turned.x, e[1] = turned.y, e[2] = turned.z;
    }
}

// Goals of one frame, their gradient and Hessian as far as `level` asks. False: something is wrong, and s->error says what.
static bool evaluate_frame(pz_sequence *s, int t, poise_level level, double *cost)
{
    int count = 0;
    const double *q = pz_sequence_frame(s, s->first + t);
    const poise_goal *goals = s->goals(s->user, s->first + t, &count);
    poise_status status = poise_objective_set_goals(s->objective, goals, count, s->error);
    status = status == POISE_OK ? poise_objective_evaluate(s->objective, q, level, s->error) : status;
    if (status == POISE_OK && level == POISE_LEVEL_HESSIAN) {
        status = poise_objective_packed(s->objective, POISE_HESSIAN_GAUSS_NEWTON, s->row, s->error);
    }
    if (status != POISE_OK) {
        s->status = status;
        return false;
    }
    poise_value value = poise_objective_value(s->objective);
    *cost += value.cost;
    if (level == POISE_LEVEL_COST) {
        return true;
    }
    memcpy(s->frame_gradient, value.gradient, (size_t)s->nv * sizeof *s->frame_gradient);
    for (int k = 0; k < s->block_count; ++k) {
        if (s->blocks[k].is_vector) {
            const double *r = q + s->blocks[k].q;
            mat3 T = so3_left_jacobian_inverse(v3(-r[0], -r[1], -r[2]));
            turn_gradient(s->blocks[k].dof, &T, s->frame_gradient);
            if (level == POISE_LEVEL_HESSIAN) {
                turn_block(s, s->blocks[k].dof, &T, s->row);
            }
        }
    }
    float *H = s->H + pz_sequence_slot(s, t);
    for (int e = 0; e < s->entries && level == POISE_LEVEL_HESSIAN; ++e) {
        H[(size_t)e * (size_t)s->slots] = (float)s->row[e];
    }
    add_gradient(s, s->first + t, s->frame_gradient);
    return true;
}

// The cost of the window, with gradient and Hessians as far as `level` asks. Infinite where it cannot be evaluated.
static double evaluate(pz_sequence *s, poise_level level)
{
    size_t size = (size_t)s->nv * (size_t)s->knot_room * sizeof *s->gradient;
    memset(s->gradient, 0, size);
    double cost = 0.0;
    for (int t = 0; t < s->count; ++t) {
        if (!evaluate_frame(s, t, level, &cost)) {
            return INFINITY;
        }
    }
    cost += smoothness(s);
    if (pz_sequence_has_walls(s)) {
        s->bare_cost = cost;
        memcpy(s->bare_gradient, s->gradient, size);
    }
    return cost + pz_sequence_walls(s);
}

// The same where only the walls have changed since.
static double evaluate_walls(pz_sequence *s)
{
    memcpy(s->gradient, s->bare_gradient, (size_t)s->nv * (size_t)s->knot_room * sizeof *s->gradient);
    return s->bare_cost + pz_sequence_walls(s);
}

// ---- The linear system of a step -----------------------------------------------------------------------------------------

//   A = sum over frames t of B_t^T H_t B_t + K (x) W + mu D       H_t packed by the tree, K with 11 diagonals
//
// is never formed. Conjugate gradients are preconditioned by what A has at each coefficient by itself,
//
//   F_j = sum over t of B_j(t)^2 H_t + K_jj W + mu D_j = L^T D L
//
// factored on the tree without fill (Featherstone 2008, section 6.5).
//
// It knows the tree, and time only by its diagonal, which is enough for splines: the largest eigenvalue of K falls with the
// fourth power of the knots' distance. Numbers are floats: a step need not be exact.

#define ENOUGH         0.1  // of |r| in the norm of F^-1: where the iterations end
#define ENOUGH_ONCE    0.05 // the same where no further step makes up for it
#define MOST_CONJUGATE 200  // iterations

PZ_INLINE float *dof_of(const pz_sequence *s, const float *x, int dof)
{
    return (float *)(uintptr_t)x + (size_t)dof * (size_t)s->knot_room;
}

// ---- Loops ---------------------------------------------------------------------------------------------------------------
//
// As functions, for gcc believes restrict of parameters alone, and makes two loops of one that it does not.

// y += a x.
PZ_INLINE void add_scaled(float *restrict y, float a, const float *restrict x, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] += a * x[l];
    }
}

// y -= h x.
PZ_INLINE void subtract_product(float *restrict y, const float *restrict h, const float *restrict x, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] -= h[l] * x[l];
    }
}

// y += a h x.
PZ_INLINE void add_product(float *restrict y, float a, const float *restrict h, const float *restrict x, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] += a * h[l] * x[l];
    }
}

// y -= a b c.
PZ_INLINE void subtract_three(float *restrict y, const float *restrict a, const float *restrict b, const float *restrict c,
                              int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] -= a[l] * b[l] * c[l];
    }
}

// y *= x.
PZ_INLINE void scale_by(float *restrict y, const float *restrict x, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] *= x[l];
    }
}

// An entry of a symmetric matrix, to both sides: y += h x, above += h z.
PZ_INLINE void add_both(float *restrict y, float *restrict above, const float *restrict h, const float *restrict x,
                        const float *restrict z, int count)
{
    for (int l = 0; l < count; ++l) {
        y[l] += h[l] * x[l];
        above[l] += h[l] * z[l];
    }
}

// ---- Products ------------------------------------------------------------------------------------------------------------

// moved = B in, for `count` frames of a phase from interval `j` on.
PZ_INLINE void to_frames(const pz_sequence *s, const float *in, int phase, int j, int count)
{
    const float *b = s->phase + phase * SEQUENCE_BASIS;
    for (int i = 0; i < s->nv; ++i) {
        const float *restrict x = dof_of(s, in, i) + j;
        float *restrict z = s->moved + (size_t)i * SEQUENCE_CHUNK;
        for (int l = 0; l < count; ++l) {
            z[l] = b[0] * x[l] + b[1] * x[l + 1] + b[2] * x[l + 2] + b[3] * x[l + 3];
        }
    }
}

// out += B^T force.
PZ_INLINE void from_frames(const pz_sequence *s, float *out, int phase, int j, int count)
{
    const float *b = s->phase + phase * SEQUENCE_BASIS;
    for (int i = 0; i < s->nv; ++i) {
        for (int n = 0; n < SEQUENCE_BASIS; ++n) {
            add_scaled(dof_of(s, out, i) + j + n, b[n], s->force + (size_t)i * SEQUENCE_CHUNK, count);
        }
    }
}

// force = H moved, by rows of the packed Hessians.
PZ_INLINE void multiply_frames(const pz_sequence *s, int slot, int count)
{
    for (int i = 0; i < s->nv; ++i) {
        float *y = s->force + (size_t)i * SEQUENCE_CHUNK;
        const float *z = s->moved + (size_t)i * SEQUENCE_CHUNK;
        int own = s->row_begin[i + 1] - 1;
        memcpy(y, z, (size_t)count * sizeof *y);
        scale_by(y, s->H + (size_t)own * (size_t)s->slots + slot, count);
        for (int e = s->row_begin[i]; e < own; ++e) {
            size_t above = (size_t)s->above[e] * SEQUENCE_CHUNK;
            add_both(y, s->force + above, s->H + (size_t)e * (size_t)s->slots + slot, s->moved + above, z, count);
        }
    }
}

// out += W K in, and the damping.
PZ_INLINE void add_smoothness(const pz_sequence *s, const float *in, float *out)
{
    int n = s->knot_count;
    for (int i = 0; i < s->nv; ++i) {
        const float *x = dof_of(s, in, i), *extra = dof_of(s, s->extra, i);
        float *y = dof_of(s, out, i), w = (float)s->weight[i];
        for (int j = 0; j < n; ++j) {
            y[j] += (w * s->band[j] + extra[j]) * x[j];
        }
        for (int d = 1; d < SEQUENCE_BAND; ++d) {
            const float *band = s->band + (size_t)d * (size_t)s->knot_room + d;
            add_product(y + d, w, band, x, n - d);
            add_product(y, w, band, x + d, n - d);
        }
    }
}

static void mask(const pz_sequence *s, float *x)
{
    for (int i = 0; i < s->nv; ++i) {
        scale_by(dof_of(s, x, i), dof_of(s, s->free, i), s->knot_count);
    }
}

PZ_INLINE void multiply(pz_sequence *s, const float *in, float *out)
{
    memset(out, 0, (size_t)s->nv * (size_t)s->knot_room * sizeof *out);
    for (int p = 0; p < s->options.knot; ++p) {
        int end = pz_sequence_phase_count(s, p);
        for (int j = 0; j < end; j += SEQUENCE_CHUNK) {
            int count = end - j < SEQUENCE_CHUNK ? end - j : SEQUENCE_CHUNK;
            to_frames(s, in, p, j, count);
            multiply_frames(s, p * s->phase_room + j, count);
            from_frames(s, out, p, j, count);
        }
    }
    add_smoothness(s, in, out);
}

// The same code for processors with wider registers (base/cpu.h).
PZ_WIDE static void multiply_wide(pz_sequence *s, const float *in, float *out)
{
    multiply(s, in, out);
}

// out = A in (nv x knot_room numbers) for the free coefficients.
static void apply_matrix(pz_sequence *s, const float *in, float *out)
{
    if (s->is_wide) {
        multiply_wide(s, in, out);
    } else {
        multiply(s, in, out);
    }
    pz_sequence_walls_multiply(s, in, out);
    mask(s, out);
    s->report.products += 1;
}

// ---- Preconditioner ------------------------------------------------------------------------------------------------------

// F of one entry, from the Hessians of all frames.
PZ_INLINE void gather(const pz_sequence *s, const float *H, float *F)
{
    memset(F, 0, (size_t)s->knot_room * sizeof *F);
    for (int p = 0; p < s->options.knot; ++p) {
        const float *b = s->phase + p * SEQUENCE_BASIS;
        for (int n = 0; n < SEQUENCE_BASIS; ++n) {
            add_scaled(F + n, b[n] * b[n], H + (size_t)p * (size_t)s->phase_room, pz_sequence_phase_count(s, p));
        }
    }
}

// Held coefficients get a unit pivot and no entries.
PZ_INLINE void assemble(pz_sequence *s, double mu)
{
    for (int i = 0; i < s->nv; ++i) {
        const float *free = dof_of(s, s->free, i);
        for (int e = s->row_begin[i]; e < s->row_begin[i + 1]; ++e) {
            float *F = s->F + (size_t)e * (size_t)s->knot_room, *extra = dof_of(s, s->extra, i);
            const float *above = dof_of(s, s->free, s->above[e]);
            bool is_own = e == s->row_begin[i + 1] - 1;
            gather(s, s->H + (size_t)e * (size_t)s->slots, F);
            for (int j = 0; j < s->knot_count && !is_own; ++j) {
                F[j] *= free[j] * above[j];
            }
            for (int j = 0; j < s->knot_count && is_own; ++j) {
                extra[j] = (float)mu * F[j];
                F[j] += extra[j] + (float)s->weight[i] * s->band[j];
            }
            if (is_own) {
                pz_sequence_walls_diagonal(s, i, F);
            }
            for (int j = 0; j < s->knot_count && is_own; ++j) {
                F[j] = free[j] > 0.0f && F[j] > 1e-20f ? F[j] : 1.0f;
            }
        }
    }
}

PZ_INLINE void factor(pz_sequence *s, double mu)
{
    assemble(s, mu);
    size_t room = (size_t)s->knot_room;
    int n = s->knot_count;
    for (int i = s->nv - 1; i >= 0; --i) {
        int begin = s->row_begin[i], own = s->row_begin[i + 1] - 1;
        float *d = s->F + (size_t)own * room;
        for (int j = 0; j < n; ++j) { // the inverse of the pivot, which rounding keeps from vanishing
            d[j] = 1.0f / (d[j] > 1e-20f ? d[j] : 1e-20f);
        }
        for (int a = own - 1; a >= begin; --a) {
            float *entry = s->F + (size_t)a * room;
            int row = s->row_begin[s->above[a]];
            for (int b = begin; b <= a; ++b) { // F[a][b] -= F[i][a] F[i][b]/d
                subtract_three(s->F + (size_t)(row + b - begin) * room, entry, d, s->F + (size_t)b * room, n);
            }
            scale_by(entry, d, n);
        }
    }
}

PZ_WIDE static void factor_wide(pz_sequence *s, double mu)
{
    factor(s, mu);
}

// The preconditioner for the current Hessians and free coefficients, damped by mu.
static void factor_tree(pz_sequence *s, double mu)
{
    if (s->is_wide) {
        factor_wide(s, mu);
    } else {
        factor(s, mu);
    }
}

// z = F^-1 r.
PZ_INLINE void solve_factored(const pz_sequence *s)
{
    size_t room = (size_t)s->knot_room;
    int n = s->knot_count;
    memcpy(s->z, s->r, (size_t)s->nv * room * sizeof *s->z);
    for (int i = s->nv - 1; i >= 0; --i) {
        float *z = dof_of(s, s->z, i);
        int own = s->row_begin[i + 1] - 1;
        for (int e = s->row_begin[i]; e < own; ++e) {
            subtract_product(dof_of(s, s->z, s->above[e]), s->F + (size_t)e * room, z, n);
        }
        scale_by(z, s->F + (size_t)own * room, n);
    }
    for (int i = 0; i < s->nv; ++i) {
        for (int e = s->row_begin[i]; e < s->row_begin[i + 1] - 1; ++e) {
            subtract_product(dof_of(s, s->z, i), s->F + (size_t)e * room, dof_of(s, s->z, s->above[e]), n);
        }
    }
}

PZ_WIDE static void solve_factored_wide(const pz_sequence *s)
{
    solve_factored(s);
}

static void precondition(const pz_sequence *s)
{
    if (s->is_wide) {
        solve_factored_wide(s);
    } else {
        solve_factored(s);
    }
    mask(s, s->z);
}

// ---- Conjugate gradients -------------------------------------------------------------------------------------------------

static double dot(const pz_sequence *s, const float *x, const float *y)
{
    double sum = 0.0;
    for (int i = 0; i < s->nv; ++i) {
        const float *a = dof_of(s, x, i), *b = dof_of(s, y, i);
        float part = 0.0f;
        for (int j = 0; j < s->knot_count; ++j) {
            part += a[j] * b[j];
        }
        sum += (double)part;
    }
    return sum;
}

// y += share x.
static void add(const pz_sequence *s, float *y, double share, const float *x)
{
    for (int i = 0; i < s->nv; ++i) {
        add_scaled(dof_of(s, y, i), (float)share, dof_of(s, x, i), s->knot_count);
    }
}

// s->x over the free coefficients of A x = -gradient - A x_held, x_held being what s->x holds where it is not free.
static void conjugate_gradients(pz_sequence *s)
{
    apply_matrix(s, s->x, s->Ap);
    for (int i = 0; i < s->nv; ++i) {
        float *r = dof_of(s, s->r, i);
        const float *free = dof_of(s, s->free, i), *Ap = dof_of(s, s->Ap, i);
        for (int j = 0; j < s->knot_count; ++j) {
            r[j] = free[j] * ((float)-s->gradient[(size_t)i * (size_t)s->knot_room + (size_t)j] - Ap[j]);
        }
    }
    precondition(s);
    memcpy(s->p, s->z, (size_t)s->nv * (size_t)s->knot_room * sizeof *s->p);
    double enough = s->options.max_iterations > 1 ? ENOUGH : ENOUGH_ONCE;
    double rz = dot(s, s->r, s->z), end = enough * enough * rz;
    for (int n = 0; n < MOST_CONJUGATE && rz > end && rz > 0.0; ++n) {
        apply_matrix(s, s->p, s->Ap);
        double curvature = dot(s, s->p, s->Ap);
        if (!(curvature > 0.0)) {
            return;
        }
        s->expected += 0.5 * rz * rz / curvature;
        add(s, s->x, rz / curvature, s->p);
        add(s, s->r, -rz / curvature, s->Ap);
        precondition(s);
        double next = dot(s, s->r, s->z);
        for (int i = 0; i < s->nv; ++i) {
            float *p = dof_of(s, s->p, i), ratio = (float)(next / rz);
            const float *z = dof_of(s, s->z, i);
            for (int j = 0; j < s->knot_count; ++j) {
                p[j] = z[j] + ratio * p[j];
            }
        }
        rz = next;
    }
}

// ---- A step --------------------------------------------------------------------------------------------------------------

static double coefficient(const pz_sequence *s, int dof, int j)
{
    return s->coefficient[(size_t)(s->knot + j) * (size_t)s->nv + (size_t)dof];
}

static bool is_locked(const pz_sequence *s, int dof)
{
    return s->options.locked && s->options.locked[dof];
}

// Coefficients that are settled, locked, or at a limit that descent would leave are held.
static void hold(pz_sequence *s)
{
    for (int i = 0; i < s->nv; ++i) {
        float *free = s->free + (size_t)i * (size_t)s->knot_room, *x = s->x + (size_t)i * (size_t)s->knot_room;
        const double *g = s->gradient + (size_t)i * (size_t)s->knot_room;
        for (int j = 0; j < s->knot_room; ++j) {
            bool is_free = j >= s->settled && j < s->knot_count && !is_locked(s, i);
            if (is_free && s->coordinate[i] >= 0) {
                double c = coefficient(s, i, j);
                is_free = !(c <= s->lower[i] && g[j] >= 0.0) && !(c >= s->upper[i] && g[j] <= 0.0);
            }
            free[j] = is_free ? 1.0f : 0.0f;
            x[j] = 0.0f;
        }
    }
}

// Fix the coefficients that the step takes across a limit at it; how many there are.
static int hold_leavers(pz_sequence *s)
{
    int count = 0;
    for (int i = 0; i < s->nv; ++i) {
        float *free = s->free + (size_t)i * (size_t)s->knot_room, *x = s->x + (size_t)i * (size_t)s->knot_room;
        for (int j = s->settled; j < s->knot_count && s->coordinate[i] >= 0; ++j) {
            double c = coefficient(s, i, j), to = clamp(c + (double)x[j], s->lower[i], s->upper[i]);
            if (free[j] > 0.0f && to != c + (double)x[j] && is_finite(to)) {
                x[j] = (float)(to - c);
                free[j] = 0.0f;
                count += 1;
            }
        }
    }
    return count;
}

// The largest component of the step, of all dofs or of those that turn.
static double largest_step(const pz_sequence *s, bool turns)
{
    double most = 0.0;
    for (int i = 0; i < s->nv; ++i) {
        bool counts = !turns || !s->is_length[i];
        for (int j = s->settled; j < s->knot_count && counts; ++j) {
            most = max2(most, fabs((double)s->x[(size_t)i * (size_t)s->knot_room + (size_t)j]));
        }
    }
    return most;
}

// Longer turns lead into other basins.
static void shorten(pz_sequence *s)
{
    double longest = largest_step(s, true);
    for (size_t i = 0; longest > FARTHEST && i < (size_t)s->nv * (size_t)s->knot_room; ++i) {
        s->x[i] *= (float)(FARTHEST / longest);
    }
}

static void find_step(pz_sequence *s, double mu)
{
    bool leaves = true;
    s->expected = 0.0;
    hold(s);
    for (int pass = 0; pass < HOLD_PASSES && leaves; ++pass) {
        factor_tree(s, mu);
        conjugate_gradients(s);
        leaves = hold_leavers(s) > 0;
    }
    shorten(s);
}

// Go the step, or as much of it as lowers the cost, and evaluate there. The share that was gone; 0: none does.
static double go(pz_sequence *s, poise_level level)
{
    double share = 1.0;
    keep_window(s);
    for (int i = 0; i < TRIES; ++i, share *= SHORTEN) {
        move_window(s, share);
        double cost = evaluate(s, level);
        if (s->status != POISE_OK) {
            return 0.0;
        }
        if (cost < s->cost) {
            s->cost = cost;
            return share;
        }
    }
    restore_window(s);
    return 0.0;
}

// Newton steps until the cost stays, or does not fall however strongly they are damped. True: it came to that. With walls
// a clip that was solved before goes one step at first. With `goes_on` only the walls have changed since the last call,
// and its Hessians do for the rest.
static bool descend(pz_sequence *s, bool goes_on, int *iterations)
{
    double mu = 0.0;
    bool is_done = false;
    poise_level full = goes_on ? POISE_LEVEL_GRADIENT : POISE_LEVEL_HESSIAN;
    poise_level last = pz_sequence_has_walls(s) ? POISE_LEVEL_GRADIENT : POISE_LEVEL_COST;
    s->cost = goes_on ? evaluate_walls(s) : evaluate(s, full);
    int most = pz_sequence_has_walls(s) && !goes_on && s->is_near ? 1 : s->options.max_iterations;
    while (s->status == POISE_OK && !is_done && *iterations < most) {
        double before = s->cost, enough = s->options.tolerance * before;
        find_step(s, mu);
        bool is_last = REST * s->expected < enough || *iterations + 1 == most; // needs no Hessians
        double share = go(s, is_last ? last : full);
        *iterations += 1;
        double decrease = before - s->cost, rest = fabs(s->expected - decrease) + REST * s->expected;
        is_done = share == 1.0 && (min2(decrease, rest) < enough || largest_step(s, false) < STILL);
        is_done = is_done || (share == 0.0 && (mu > MU_MOST || largest_step(s, false) < STILL));
        mu = share < 1.0 ? max2(MU_GROWTH * mu, MU_FIRST) : MU_FALL * mu;
        bool has_more = !is_done && *iterations < most;
        bool is_elsewhere = share == 0.0 && (has_more || last != POISE_LEVEL_COST); // the last evaluation was
        if ((is_elsewhere || (has_more && is_last && last != full)) && s->status == POISE_OK) {
            evaluate(s, full);
        }
    }
    return is_done;
}

static void solve_window(pz_sequence *s, int settled_knots)
{
    int iterations = 0;
    open_window(s, settled_knots);
    bool is_done = pz_sequence_has_walls(s) ? pz_sequence_press(s, descend, &iterations) : descend(s, false, &iterations);
    s->report.converged = s->report.converged && is_done;
    s->report.windows += 1;
    s->report.iterations += iterations;
    s->report.most_iterations = iterations > s->report.most_iterations ? iterations : s->report.most_iterations;
    s->report.cost += s->cost;
    for (int e = 0; e < s->entries; ++e) {
        for (int t = 0; t < s->slots; ++t) {
            s->information[e] += (double)s->H[(size_t)e * (size_t)s->slots + (size_t)t];
        }
    }
    s->informed += s->count;
}

// From window to window: what is farther than the overlap from an end is settled.
poise_status pz_sequence_solve(pz_sequence *s, int max_iterations)
{
    int settled = 0;
    bool is_last = false;
    poise_sequence_report fresh = {.converged = true};
    s->report = fresh;
    s->options.max_iterations = max_iterations;
    memset(s->information, 0, (size_t)s->entries * sizeof *s->information);
    s->informed = 0;
    while (!is_last && s->status == POISE_OK) {
        solve_window(s, settled);
        int end = s->first + s->count;
        is_last = end == s->frames;
        settled = (end - s->options.overlap) / s->options.knot;
    }
    s->is_near = true;
    return s->status;
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

static int round_up(int n, int to)
{
    return (n + to - 1) / to * to;
}

// Is the piece a rotation that is smoothed as such?
static bool is_rotation(const poise_model *model, const pz_piece *piece)
{
    poise_model_summary info = poise_model_info(model);
    bool is_free = piece->kind == PZ_PIECE_QUATERNION || piece->kind == PZ_PIECE_VECTOR;
    for (int i = piece->q; is_free && piece->kind == PZ_PIECE_VECTOR && i < piece->q + 3; ++i) {
        is_free = !is_finite(info.lower[i]) && !is_finite(info.upper[i]);
    }
    return is_free;
}

static int count_rotations(const poise_model *model)
{
    int count = 0;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        pz_piece piece[PZ_MOST_PIECES];
        for (int i = pz_pieces_of(model, k, piece) - 1; i >= 0; --i) {
            count += is_rotation(model, &piece[i]);
        }
    }
    return count;
}

static void lay_out(pz_sequence *s, pz_arena *arena)
{
    size_t nv = (size_t)s->nv, frames = (size_t)s->frames, entries = (size_t)s->entries, blocks = (size_t)s->block_count;
    size_t room = (size_t)s->frame_room, knots = (size_t)s->knot_room, all = (size_t)s->knots + 1;
    s->weight = pz_arena_take(arena, nv, sizeof(double));
    s->acceleration = pz_arena_take(arena, nv, sizeof(double));
    s->blocks = pz_arena_take(arena, blocks, sizeof *s->blocks);
    s->coordinate = pz_arena_take(arena, nv, sizeof *s->coordinate);
    s->is_length = pz_arena_take(arena, nv, sizeof *s->is_length);
    s->row_begin = pz_arena_take(arena, nv + 1, sizeof *s->row_begin);
    s->above = pz_arena_take(arena, entries, sizeof *s->above);
    s->lower = pz_arena_take(arena, nv, sizeof(double));
    s->upper = pz_arena_take(arena, nv, sizeof(double));
    s->row = pz_arena_take(arena, entries, sizeof(double));
    s->information = pz_arena_take(arena, entries, sizeof(double));
    s->coefficient = pz_arena_take(arena, all * nv, sizeof(double));
    s->rotation = pz_arena_take(arena, frames * blocks, sizeof(quat));
    s->control = pz_arena_take(arena, all, sizeof(quat));
    s->H = pz_arena_take(arena, entries * (size_t)s->slots, sizeof(float));
    s->phase = pz_arena_take(arena, (size_t)s->options.knot * SEQUENCE_BASIS, sizeof(float));
    s->F = pz_arena_take(arena, entries * knots, sizeof(float));
    s->basis = pz_arena_take(arena, room * SEQUENCE_BASIS, sizeof(float));
    s->interval = pz_arena_take(arena, room, sizeof *s->interval);
    s->band = pz_arena_take(arena, knots * SEQUENCE_BAND, sizeof(float));
    s->gradient = pz_arena_take(arena, nv * knots, sizeof(double));
    float **vectors[] = {&s->free, &s->x, &s->r, &s->z, &s->p, &s->Ap, &s->extra};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
        *vectors[i] = pz_arena_take(arena, nv * knots, sizeof(float));
    }
    s->moved = pz_arena_take(arena, nv * SEQUENCE_CHUNK, sizeof(float));
    s->force = pz_arena_take(arena, nv * SEQUENCE_CHUNK, sizeof(float));
    s->frame_gradient = pz_arena_take(arena, nv, sizeof(double));
    s->bend = pz_arena_take(arena, (room + 4) * nv, sizeof(double));
    s->edge = pz_arena_take(arena, (room + 4) * nv, sizeof(double));
    s->q_kept = pz_arena_take(arena, room * (size_t)s->nq, sizeof(double));
    s->coefficient_kept = pz_arena_take(arena, knots * nv, sizeof(double));
    s->rotation_kept = pz_arena_take(arena, room * blocks, sizeof(quat));
    s->bare_gradient = pz_arena_take(arena, s->options.velocity || s->options.acceleration ? nv * knots : 0, sizeof(double));
    pz_sequence_walls_lay_out(s, arena);
}

// The dofs of a piece of a joint. Returns how many of its rotations are blocks: 1 or 0.
static int read_piece(pz_sequence *s, const pz_piece *piece, int block)
{
    poise_model_summary info = poise_model_info(s->model);
    bool turns = is_rotation(s->model, piece), is_limited = !turns && s->options.use_limits;
    for (int i = 0; i < piece->nv; ++i) {
        s->coordinate[piece->v + i] = turns ? -1 : piece->q + i;
        s->lower[piece->v + i] = is_limited ? info.lower[piece->q + i] : -INFINITY;
        s->upper[piece->v + i] = is_limited ? info.upper[piece->q + i] : INFINITY;
    }
    if (turns) {
        s->blocks[block] = (pz_rotation_block){.dof = piece->v, .q = piece->q, .is_vector = piece->kind == PZ_PIECE_VECTOR};
    }
    return turns;
}

// Where the dofs are, and the pattern of the packed Hessian.
static void read_model(pz_sequence *s)
{
    const poise_model *model = s->model;
    pz_find_lengths(model, s->is_length);
    for (int k = 0, block = 0; k < poise_model_info(model).joints; ++k) {
        pz_piece piece[PZ_MOST_PIECES];
        int pieces = pz_pieces_of(model, k, piece);
        for (int i = 0; i < pieces; ++i) {
            block += read_piece(s, &piece[i], block);
        }
    }
    for (int i = 0; i < s->nv; ++i) {
        poise_packed_row row = poise_model_packed_row(model, i);
        s->row_begin[i] = (int)row.begin;
        s->row_begin[i + 1] = (int)row.begin + row.count;
        for (int e = s->row_begin[i + 1] - 1, dof = i; e >= s->row_begin[i]; --e) {
            s->above[e] = dof;
            dof = poise_model_packed_row(model, dof).parent;
        }
    }
}

void pz_sequence_weigh(pz_sequence *s, double noise, const double *acceleration)
{
    for (int i = 0; i < s->nv; ++i) {
        double ratio = noise / (acceleration[i] * s->frame_time * s->frame_time);
        s->weight[i] = s->options.smoothness ? s->options.smoothness[i] : ratio * ratio;
    }
}

double pz_sequence_usual(const pz_sequence *s, int dof, double metres)
{
    return s->options.acceleration_usual * (s->is_length[dof] ? USUAL_SLIDES / (metres > 0.0 ? metres : 1.0) : 1.0);
}

static bool all_positive(const double *x, int count)
{
    for (int i = 0; x && i < count; ++i) {
        if (!(x[i] > 0.0)) {
            return false;
        }
    }
    return true;
}

static bool weights_are_sound(const poise_sequence_options *o, int nv)
{
    for (int i = 0; o->smoothness && i < nv; ++i) {
        if (!(o->smoothness[i] >= 0.0) || !is_finite(o->smoothness[i])) {
            return false;
        }
    }
    return true;
}

poise_status pz_sequence_check(const poise_model *model, const poise_sequence_options *o, poise_error *error)
{
    if (!model || !o) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and options must not be NULL");
    }
    if (pz_has_mimic(model)) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "a whole clip cannot be solved for a model with mimic joints; track it frame by frame");
    }
    const struct {
        bool is_sound;
        const char *rule;
    } checks[] = {
        {o->knot >= 1 && o->knot <= 64, "knot must be in 1 .. 64"},
        {o->noise >= 0.0 && is_finite(o->noise), "noise must be finite and >= 0"},
        {o->acceleration_usual > 0.0 && is_finite(o->acceleration_usual), "acceleration_usual must be finite and > 0"},
        {weights_are_sound(o, poise_model_info(model).nv), "smoothness must be nv finite numbers >= 0"},
        {all_positive(o->velocity, poise_model_info(model).nv), "velocity limits must be > 0; infinity for none"},
        {all_positive(o->acceleration, poise_model_info(model).nv), "acceleration limits must be > 0; infinity for none"},
        {o->overlap >= 0 && o->window >= o->overlap + 8 * o->knot, "window must be at least overlap + 8 knots"},
        {o->max_iterations >= 1, "max_iterations must be >= 1"},
        {o->tolerance >= 0.0, "tolerance must be >= 0"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "whole clip: %s", checks[i].rule);
        }
    }
    return POISE_OK;
}

static poise_status check_clip(const poise_model *model, const poise_clip *clip, poise_error *error)
{
    if (!clip || clip->nq != poise_model_info(model).nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the clip must be of this model: %d numbers per frame",
                            poise_model_info(model).nq);
    }
    for (int t = 0; t < clip->frames; ++t) {
        const double *q = clip->q + (size_t)t * (size_t)clip->nq;
        poise_status status = poise_model_check(model, q, "q", error);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

// Swings outside their ellipse, which the coefficients' boxes do not know, are brought back.
static void keep_limits(const pz_sequence *s)
{
    for (int t = 0; t < s->frames && s->options.use_limits; ++t) {
        double *q = pz_sequence_frame(s, t);
        if (!poise_model_within_limits(s->model, q)) {
            poise_model_clamp(s->model, q, NULL, NULL);
        }
    }
}

poise_status pz_sequence_create(const poise_model *model, const poise_sequence_options *options, poise_clip *clip,
                                const poise_allocator *allocator, pz_sequence *made, poise_error *error)
{
    pz_sequence s = {.model = model, .options = *options, .error = error};
    s.nq = poise_model_info(model).nq, s.nv = poise_model_info(model).nv, s.frames = clip->frames, s.q = clip->q;
    s.knots = knots_of(clip->frames, options->knot);
    s.entries = (int)poise_model_packed_row(model, poise_model_info(model).nv).begin;
    s.block_count = count_rotations(model);
    s.frame_time = clip->frame_time;
    s.is_wide = pz_cpu_is_wide();
    s.frame_room = round_up(least(options->window + SEQUENCE_BASIS * options->knot, s.frames), 16);
    s.phase_room = round_up(s.frame_room / options->knot + 1, 8);
    s.slots = options->knot * s.phase_room;
    s.knot_room = round_up(knots_of(s.frame_room, options->knot) + 2 * SEQUENCE_BASIS, 16);
    pz_arena counting = pz_arena_counting();
    lay_out(&s, &counting);
    size_t size = pz_arena_bytes(&counting);
    if (!pz_owned_take(&s.owned, allocator, size)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the clip needs %g bytes", (double)size);
    }
    poise_status status = poise_objective_create(model, 0, allocator, &s.objective, error);
    if (status != POISE_OK) {
        pz_owned_release(&s.owned);
        return status;
    }
    memset(s.owned.memory, 0, size);
    pz_arena arena = pz_arena_over(s.owned.memory, size);
    lay_out(&s, &arena);
    read_model(&s);
    start_spline(&s);
    *made = s;
    return POISE_OK;
}

void pz_sequence_finish(pz_sequence *s, poise_sequence_report *report)
{
    keep_limits(s);
    pz_sequence_measure_walls(s);
    for (int i = s->nv - 1; i >= 0; --i) {
        s->report.smoothness = s->is_length[i] ? s->report.smoothness : s->weight[i];
    }
    if (report) {
        *report = s->report;
    }
    poise_objective_destroy(s->objective);
    pz_owned_release(&s->owned);
}

poise_status poise_sequence_solve(const poise_model *model, const poise_sequence_options *options,
                                  poise_sequence_goals goals, void *user, poise_clip *clip, const poise_allocator *allocator,
                                  poise_sequence_report *report, poise_error *error)
{
    poise_status status = pz_sequence_check(model, options, error);
    status = status == POISE_OK ? check_clip(model, clip, error) : status;
    if (status == POISE_OK && !goals) {
        status = pz_error_set(error, POISE_ERROR_ARGUMENT, "goals must not be NULL");
    }
    if (status != POISE_OK || clip->frames == 0) {
        return status;
    }
    pz_sequence s;
    status = pz_sequence_create(model, options, clip, allocator, &s, error);
    if (status != POISE_OK) {
        return status;
    }
    s.goals = goals;
    s.user = user;
    for (int i = 0; i < s.nv; ++i) {
        s.acceleration[i] = pz_sequence_usual(&s, i, 0.0);
    }
    pz_sequence_weigh(&s, options->noise, s.acceleration);
    pz_sequence_solve(&s, options->max_iterations);
    pz_sequence_bring_within(&s);
    status = s.status;
    pz_sequence_finish(&s, report);
    return status;
}
