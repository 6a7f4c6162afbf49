// The best motion of one joint for a pull: closed forms.
//
// All turning steps of a joint pass through one point p. About it, with Mp = sum w (x - p) (t - p)^T + sum w d u^T, a turn R
// leaves the energy const - tr(R Mp). As a unit quaternion r = (w x y z) in the axes that Mp is written in,
//
//   tr(R Mp) = r . N r      N = [ tr Mp   a^T               ]      a = sum x x t + sum d x u, the moment of the pull
//                               [ a       Mp + Mp^T - tr Mp ]
//
// (Davenport's matrix; Horn, "Closed-form solution of absolute orientation using unit quaternions", 1987). The best turn is
// an eigenvector of the largest eigenvalue of N over the components that the step may use:
//
//   turn about an axis e    {w, e}       tr = e . Mp e + c cos + s sin,  c = tr Mp - e . Mp e,  s = a . e: atan2(s, c)
//   swing                   {w, x, y}    3 x 3
//   ball                    all          4 x 4; where it is not unique, the one nearest to where the joint is
//
// A slide along e by l costs const - l e . (T - X) + n l^2/2: best at e . (T - X)/n.
//
// Limits: a sinusoid over an interval is largest at its peak or at an end, a parabola nearest to its vertex; both exact.
// Rotation vectors in a box or an ellipse have no closed form: see bounded_block.
#include "math/dense.h"
#include "math/trig.h"
#include "solve/geometric.h"

#define NOISE 32.0 // roundings, in units of the pull's size, below which a moment is no reason to move

// ---- Elements ------------------------------------------------------------------------------------------------------------

double pz_best_angle(double c, double s, double lower, double upper)
{
    double peak = pz_atan2(s, c);
    if (peak < lower && peak + PZ_TWO_PI <= upper) {
        return peak + PZ_TWO_PI;
    }
    if (peak > upper && peak - PZ_TWO_PI >= lower) {
        return peak - PZ_TWO_PI;
    }
    if (peak < lower) { // the nearer end, where upper is approached from the next peak
        return peak + PZ_TWO_PI - upper < lower - peak ? upper : lower;
    }
    if (peak > upper) {
        return lower - (peak - PZ_TWO_PI) < peak - upper ? lower : upper;
    }
    return peak;
}

// sum (x - p) x (t - p) + sum d x u
static inline vec3 moment(const mat3 *M)
{
    return v3(M->z.y - M->y.z, M->x.z - M->z.x, M->y.x - M->x.y);
}

static inline double trace(const mat3 *M)
{
    return M->x.x + M->y.y + M->z.z;
}

// cos I + sin [a]x + (1 - cos) a a^T
static inline mat3 turn_matrix(vec3 a, double sine, double cosine)
{
    vec3 b = v3_scale(a, 1.0 - cosine), s = v3_scale(a, sine);
    return (mat3){{cosine + b.x * a.x, b.x * a.y + s.z, b.x * a.z - s.y},
                  {b.y * a.x - s.z, cosine + b.y * a.y, b.y * a.z + s.x},
                  {b.z * a.x + s.y, b.z * a.y - s.x, cosine + b.z * a.z}};
}

// A joint on its way.
typedef struct mover {
    const poise_solver *solver;
    const pz_joint *joint;
    vec3 p;        // where its turns pass through
    bool is_loose; // it slides freely in all directions, so that turns need not care where p goes
    pz_pull *pull;
    pz_move *made; // or NULL
    double *q;
    double longest;
} mover;

static void carry(mover *m, const pz_move *move)
{
    pz_pull_carry(m->pull, move);
    if (m->made) {
        *m->made = pz_move_after(move, m->made);
    }
}

// Turn what the joint carries about p.
static void carry_turn(mover *m, const mat3 *R)
{
    pz_move move = {*R, v3_sub(m->p, m3_apply(R, m->p))};
    carry(m, &move);
}

// Mp = M - X p^T - p (T - n p)^T, and a bound on its rounding errors. A joint that is free to slide will bring the means of
// points and targets together after any turn: what is left is M - X T^T/n.
static mat3 centred(const mover *m, double *noise)
{
    const pz_pull *a = m->pull;
    vec3 p = m->p, X = a->X, U = v3_mad(a->T, -a->n, p);
    double reach = v3_norm(p);
    *noise = a->size + reach * (v3_norm(X) + v3_norm(a->T) + a->n * reach);
    if (m->is_loose) {
        vec3 mean = a->n > 0 ? v3_scale(a->T, 1.0 / a->n) : v3(0, 0, 0);
        *noise = a->size + v3_norm(X) * v3_norm(mean);
        p = mean, U = v3(0, 0, 0);
    }
    *noise *= NOISE * PZ_EPSILON;
    vec3 q = m->p;
    return (mat3){v3_sub(v3_mad(a->M.x, -p.x, X), v3_scale(q, U.x)), v3_sub(v3_mad(a->M.y, -p.y, X), v3_scale(q, U.y)),
                  v3_sub(v3_mad(a->M.z, -p.z, X), v3_scale(q, U.z))};
}

static double largest_entry(const mat3 *M)
{
    const double *e = (const double *)M;
    return pz_largest(e, 9);
}

// What a coordinate may still do: from its value to its limits, and no further than the step limit.
static void room(const poise_solver *solver, const pz_box *box, double *lower, double *upper)
{
    double q = box->q >= 0 ? solver->at->kin.q[box->q] : 0.0, limit = solver->options.step_limit;
    *lower = min2(max2(box->q >= 0 ? box->lower - q : -INFINITY, -limit), 0.0);
    *upper = max2(min2(box->q >= 0 ? box->upper - q : INFINITY, limit), 0.0);
}

// The coordinate after a step, exactly at a limit where the step goes that far.
static double stepped(const pz_box *box, double q, double step)
{
    return step >= box->upper - q ? box->upper : step <= box->lower - q ? box->lower : q + step;
}

// ---- Turns and slides ----------------------------------------------------------------------------------------------------

// The best angle about the unit axis a; false when the pull has nothing to say about it.
static bool best_turn(const mover *m, vec3 a, double lower, double upper, double *angle)
{
    double noise;
    mat3 M = centred(m, &noise);
    double s = v3_dot(moment(&M), a), c = trace(&M) - v3_dot(a, m3_apply(&M, a));
    if (!(fabs(s) + fabs(c) > noise) || !is_finite(s) || !is_finite(c)) {
        return false;
    }
    *angle = pz_best_angle(c, s, lower, upper);
    return true;
}

static void turn_about(mover *m, vec3 a, double angle)
{
    double sine, cosine;
    pz_sincos(angle, &sine, &cosine);
    mat3 R = turn_matrix(a, sine, cosine);
    carry_turn(m, &R);
    m->longest = max2(m->longest, fabs(angle));
}

static void turn_step(mover *m, const pz_step *step)
{
    const pz_box *box = &m->solver->box[m->solver->model->axes[step->axis].dof];
    vec3 a = m->solver->at->kin.S[step->axis].w;
    double lower, upper, angle;
    room(m->solver, box, &lower, &upper);
    if (box->locked || !best_turn(m, a, lower, upper, &angle)) {
        return;
    }
    m->q[step->q] = stepped(box, m->q[step->q], angle);
    turn_about(m, a, angle);
}

static void slide_step(mover *m, const pz_step *step)
{
    const pz_box *box = &m->solver->box[m->solver->model->axes[step->axis].dof];
    vec3 a = m->solver->at->kin.S[step->axis].v;
    double lower, upper;
    room(m->solver, box, &lower, &upper);
    double length = v3_dot(a, v3_sub(m->pull->T, m->pull->X)) / m->pull->n;
    if (box->locked || !is_finite(length)) { // 0/0 where nothing pulls
        return;
    }
    length = clamp(length, lower, upper);
    m->q[step->q] = stepped(box, m->q[step->q], length);
    pz_move move = {m3_identity(), v3_scale(a, length)};
    carry(m, &move);
    m->longest = max2(m->longest, fabs(length));
}

// ---- Best rotations ------------------------------------------------------------------------------------------------------

// Eigenvalues nearer to the largest than this, relative to the pull's size, count as equal to it.
#define ALIKE 1e-12

// Davenport's matrix, lower triangle, over the first `count` of w x y z.
static void davenport(const mat3 *M, int count, double *N)
{
    vec3 a = moment(M);
    double t = trace(M);
    const double full[4][4] = {{t, 0, 0, 0},
                               {a.x, 2.0 * M->x.x - t, 0, 0},
                               {a.y, M->y.x + M->x.y, 2.0 * M->y.y - t, 0},
                               {a.z, M->z.x + M->x.z, M->z.y + M->y.z, 2.0 * M->z.z - t}};
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            N[i * count + j] = full[i][j];
        }
    }
}

// The unit quaternion r over the first `count` of w x y z with the largest r . N r; of several the one nearest to r0, which
// is the projection of r0 on their span. False when the numbers do not allow it.
static bool best_quat(const mat3 *M, int count, const double *r0, double *r)
{
    double N[16], value[4], work[4];
    davenport(M, count, N);
    if (!all_finite(N, (size_t)(count * count)) || !pz_symmetric_eigen(count, N, value, true, work)) {
        return false;
    }
    double least = value[count - 1] - ALIKE * max2(fabs(value[count - 1]), fabs(value[0]));
    double square = 0.0;
    for (int j = 0; j < count; ++j) {
        r[j] = 0.0;
    }
    for (int i = count - 1; i >= 0 && value[i] >= least; --i) {
        double along = 0.0;
        for (int j = 0; j < count; ++j) {
            along += N[i * count + j] * r0[j];
        }
        square += along * along;
        for (int j = 0; j < count; ++j) {
            r[j] += along * N[i * count + j];
        }
    }
    double length = sqrt(square);
    for (int j = 0; j < count; ++j) { // r0 across all of them: any will do
        r[j] = length > ALIKE ? r[j] / length : N[(count - 1) * count + j];
    }
    return true;
}

static quat quat_of(int count, const double *r)
{
    return (quat){r[1], r[2], count > 3 ? r[3] : 0.0, r[0]};
}

// The rotation vector of the best of all turns. For one point alone M = x t^T, and turning the short way from x to t is
// best, which needs no eigenvectors; cross products of the columns tell, being 0.
static bool best_rotation(const mat3 *M, vec3 *turn)
{
    static const double stay[4] = {1, 0, 0, 0};
    vec3 a = moment(M), u = v3_cross(M->x, M->y), v = v3_cross(M->y, M->z), w = v3_cross(M->z, M->x);
    double t = trace(M), length = v3_norm(a), large = largest_entry(M);
    bool is_one = v3_norm(u) + v3_norm(v) + v3_norm(w) <= ALIKE * large * large;
    if (is_one && length > 0) { // x opposite t: any axis across will do, and the eigenvectors have one
        *turn = v3_scale(a, pz_atan2(length, t) / length);
        return true;
    }
    double r[4];
    if (!best_quat(M, 4, stay, r)) {
        return false;
    }
    *turn = so3_log(quat_of(4, r));
    return true;
}

// A ball without limits, R its rotation in the world: turn it by the best rotation of all, written in its own axes, so that
// the quaternion, or the rotation vector's, is multiplied from the right.
static void free_ball(mover *m, const pz_step *step, const mat3 *R)
{
    double noise;
    vec3 turn;
    mat3 M = centred(m, &noise), L = m3_mul(&M, R), Rt = m3_transpose(R);
    M = m3_mul(&Rt, &L);
    if (!(largest_entry(&M) > noise) || !best_rotation(&M, &turn)) {
        return;
    }
    double angle = v3_norm(turn), limit = m->solver->options.step_limit;
    if (angle > limit) { // on the way to the best the energy falls all along
        turn = v3_scale(turn, limit / angle);
        angle = limit;
    }
    quat by = so3_exp_quat(turn);
    double *q = m->q + step->q;
    if (step->kind == PZ_QUATERNION) {
        quat now = quat_normalize(quat_mul(quat_normalize((quat){q[0], q[1], q[2], q[3]}), by));
        q[0] = now.x, q[1] = now.y, q[2] = now.z, q[3] = now.w;
    } else {
        vec3 v = so3_log(quat_mul(so3_exp_quat(v3(q[0], q[1], q[2])), by));
        q[0] = v.x, q[1] = v.y, q[2] = v.z;
    }
    mat3 W = quat_matrix(by);
    W = m3_mul(R, &W);
    W = m3_mul(&W, &Rt);
    carry_turn(m, &W);
    m->longest = max2(m->longest, angle);
}

// A quaternion with one or two locked components: about each free axis of its own in turn.
static void partly_locked_quaternion(mover *m, const pz_step *step, const mat3 *R)
{
    mat3 now = *R;
    double *q = m->q + step->q, limit = m->solver->options.step_limit;
    for (int i = 0; i < 3; ++i) {
        double angle;
        vec3 a = i == 0 ? now.x : i == 1 ? now.y : now.z;
        if (m->solver->box[m->solver->model->axes[step->axis + i].dof].locked || !best_turn(m, a, -limit, limit, &angle)) {
            continue;
        }
        quat by = so3_exp_quat(v3(i == 0 ? angle : 0.0, i == 1 ? angle : 0.0, i == 2 ? angle : 0.0));
        quat to = quat_normalize(quat_mul(quat_normalize((quat){q[0], q[1], q[2], q[3]}), by));
        q[0] = to.x, q[1] = to.y, q[2] = to.z, q[3] = to.w;
        mat3 turned = quat_matrix(by);
        now = m3_mul(&now, &turned);
        turn_about(m, a, angle);
    }
}

// ---- Rotation vectors within limits --------------------------------------------------------------------------------------
//
// The rotation vector v in a box, perhaps also an ellipse, where g(v) = tr(exp(v) M) is large. First the best of all
// rotations, brought within the limits along both of its rotation vectors; then from the best of these, and of where the
// joint is, uphill by projected gradients. In coordinates that make the ellipse a circle, moving a point to it along the ray
// to the centre is the nearest point, so that short enough steps go uphill until no direction within the limits does.

#define CLIMBS   6  // uphill steps in one visit; sweeps visit again
#define HALVINGS 12 // of the step's length

typedef struct bounded {
    int count; // 2 for a swing, 3
    double lower[3], upper[3];
    const poise_joint *ellipse; // or NULL
    mat3 M;                     // points in the frame after the rotation, targets in the frame before
    double noise;
} bounded;

static double gain(const bounded *b, const double *v)
{
    mat3 R = so3_exp(v3(v[0], v[1], v[2])), A = m3_mul(&R, &b->M);
    return trace(&A);
}

// dg/dv = J_l^T moment(exp(v) M), times the squared half-axes of the ellipse
static void uphill(const bounded *b, const double *v, double *g)
{
    vec3 at = v3(v[0], v[1], v[2]);
    mat3 R = so3_exp(at), A = m3_mul(&R, &b->M), J = so3_left_jacobian(at);
    vec3 d = m3_apply_transposed(&J, moment(&A));
    double longer = b->ellipse ? max2(b->ellipse->swing[0], b->ellipse->swing[1]) : 1.0;
    double x = b->ellipse ? b->ellipse->swing[0] / longer : 1.0, y = b->ellipse ? b->ellipse->swing[1] / longer : 1.0;
    g[0] = x * x * d.x, g[1] = y * y * d.y, g[2] = b->count > 2 ? d.z : 0.0;
}

// Within the limits; false when box and ellipse cannot be reached together this way.
static bool bring_within(const bounded *b, double *v)
{
    for (int i = 0; i < b->count; ++i) {
        v[i] = clamp(v[i], b->lower[i], b->upper[i]);
    }
    if (!b->ellipse || pz_swing_excess(b->ellipse, v) <= 1.0) {
        return true;
    }
    // rounding may leave the first quotient a hair outside
    for (double size = sqrt(pz_swing_excess(b->ellipse, v)); pz_swing_excess(b->ellipse, v) > 1.0; size = 1.0 + PZ_EPSILON) {
        v[0] /= size;
        v[1] /= size;
    }
    return v[0] >= b->lower[0] && v[0] <= b->upper[0] && v[1] >= b->lower[1] && v[1] <= b->upper[1];
}

// Take v, within the limits, if it is better than the best so far. Returns whether it was.
static bool take_if_better(const bounded *b, double *v, double *best, double *best_gain)
{
    if (!bring_within(b, v)) {
        return false;
    }
    double now = gain(b, v);
    if (!(now > *best_gain + b->noise)) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        best[i] = v[i];
    }
    *best_gain = now;
    return true;
}

// The best of all rotations, along both of its rotation vectors. Returns whether it lies within the limits.
static bool try_best_rotation(const bounded *b, double *best, double *best_gain)
{
    double r[4];
    quat now = so3_exp_quat(v3(best[0], best[1], best[2]));
    if (!best_quat(&b->M, b->count + 1, (double[4]){now.w, now.x, now.y, now.z}, r)) {
        return false;
    }
    vec3 v = so3_log(quat_of(b->count + 1, r));
    double angle = v3_norm(v);
    vec3 other = angle > 0 ? v3_scale(v, 1.0 - PZ_TWO_PI / angle) : v;
    double first[3] = {v.x, v.y, v.z}, second[3] = {other.x, other.y, other.z};
    bool taken = take_if_better(b, first, best, best_gain);
    if (taken && first[0] == v.x && first[1] == v.y && first[2] == v.z) {
        return true;
    }
    taken = take_if_better(b, second, best, best_gain);
    return taken && second[0] == other.x && second[1] == other.y && second[2] == other.z;
}

static bool climb(const bounded *b, double *best, double *best_gain)
{
    double g[3], length = 2.0 / largest_entry(&b->M);
    uphill(b, best, g);
    for (int i = 0; i < HALVINGS; ++i, length *= 0.5) {
        double v[3] = {best[0] + length * g[0], best[1] + length * g[1], best[2] + length * g[2]};
        if (take_if_better(b, v, best, best_gain)) {
            return true;
        }
    }
    return false;
}

static void bounded_block(mover *m, const pz_step *step, const mat3 *before)
{
    const poise_solver *s = m->solver;
    bounded b = {.count = pz_step_nv(step->kind)};
    const poise_joint *given = &s->model->given[m->joint - s->model->joints];
    b.ellipse = step->kind == PZ_SWING && s->options.use_limits && is_finite(given->swing[0]) ? given : NULL;
    double v[3] = {0, 0, 0}, *q = m->q + step->q;
    for (int i = 0; i < b.count; ++i) {
        const pz_box *box = &s->box[s->model->axes[step->axis + i].dof];
        v[i] = q[i];
        b.lower[i] = box->locked ? v[i] : max2(box->lower, v[i] - s->options.step_limit);
        b.upper[i] = box->locked ? v[i] : min2(box->upper, v[i] + s->options.step_limit);
    }
    mat3 R = so3_exp(v3(v[0], v[1], v[2])), A = m3_mul(before, &R), At = m3_transpose(&A), M = centred(m, &b.noise);
    M = m3_mul(&M, before);
    b.M = m3_mul(&At, &M);
    double best[3] = {v[0], v[1], v[2]}, start = gain(&b, v), best_gain = start;
    if (!(largest_entry(&b.M) > b.noise) || !is_finite(start)) {
        return;
    }
    bool is_done = try_best_rotation(&b, best, &best_gain);
    for (int i = 0; i < CLIMBS && !is_done; ++i) {
        is_done = !climb(&b, best, &best_gain);
    }
    if (!(best_gain > start)) {
        return;
    }
    for (int i = 0; i < b.count; ++i) {
        m->longest = max2(m->longest, fabs(best[i] - v[i]));
        q[i] = best[i];
    }
    mat3 W = so3_exp(v3(best[0], best[1], best[2]));
    W = m3_mul(before, &W);
    W = m3_mul(&W, &At);
    carry_turn(m, &W);
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

static bool is_bounded(const poise_solver *s, const pz_step *step)
{
    bool is_held = step->kind == PZ_SWING || is_finite(s->options.step_limit);
    for (int i = 0; i < pz_step_nv(step->kind); ++i) {
        const pz_box *box = &s->box[s->model->axes[step->axis + i].dof];
        is_held = is_held || box->locked || is_finite(box->lower) || is_finite(box->upper);
    }
    return is_held;
}

static void block_step(mover *m, const pz_step *step)
{
    const poise_solver *s = m->solver;
    const pz_block *block = &s->at->kin.blocks[step->block];
    int first = s->model->axes[step->axis].dof, locked = 0;
    for (int i = 0; i < pz_step_nv(step->kind); ++i) {
        locked += s->box[first + i].locked;
    }
    if (locked == pz_step_nv(step->kind)) {
        return;
    }
    if (step->kind == PZ_QUATERNION) { // its `before` is the frame after it (kin/forward.c)
        if (locked > 0) {
            partly_locked_quaternion(m, step, &block->before);
        } else {
            free_ball(m, step, &block->before);
        }
    } else if (is_bounded(s, step)) {
        bounded_block(m, step, &block->before);
    } else {
        mat3 R = so3_exp(block->v);
        R = m3_mul(&block->before, &R);
        free_ball(m, step, &R);
    }
}

bool pz_slides_freely(const poise_solver *s, int k)
{
    const pz_joint *joint = &s->model->joints[k];
    bool freely = joint->slide_count == 3;
    for (int i = joint->axis_begin; freely && i < joint->axis_begin + 3; ++i) {
        const pz_box *box = &s->box[s->model->axes[i].dof];
        freely = !box->locked && !is_finite(box->lower) && !is_finite(box->upper);
    }
    return freely;
}

double pz_best_move(const poise_solver *solver, int k, pz_pull *pull, double *q, pz_move *made)
{
    const pz_joint *joint = &solver->model->joints[k];
    mover m = {.solver = solver,
               .joint = joint,
               .p = solver->at->kin.p[k],
               .is_loose = pz_slides_freely(solver, k) && !is_finite(solver->options.step_limit),
               .pull = pull,
               .made = made,
               .q = q};
    for (int i = joint->step_end - 1; i >= joint->step_begin && joint->mimic == POISE_WORLD; --i) {
        const pz_step *step = &solver->model->steps[i];
        if (pz_step_is_turn(step->kind)) {
            turn_step(&m, step);
        } else if (pz_step_is_slide(step->kind)) {
            slide_step(&m, step);
        } else {
            block_step(&m, step);
        }
    }
    return m.longest;
}
