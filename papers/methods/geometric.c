// What the geometric methods (CCD, BWCD, FABRIK) share: pulls, the best move of one joint, a sweep from the root.
#include "papers/methods/geometric.h"

#include "base/error.h"
#include "num/dense.h"
#include "num/trig.h"

#include <string.h>

// ---- Pulls ---------------------------------------------------------------------------------------------------------------
//
// Pulls: what goals want of a rigid motion, as sixteen numbers.
//
// Most kinds fit exactly. The others are replaced, at the current point, by a pull with the same gradient there:
//
//   loss    rho is concave in the squared error: rho(s) <= rho(s0) + rho'(s0) (s - s0), so w rho'(s0) in place of w bounds
//           the energy from above (iteratively reweighted least squares)
//   band    the error is the distance to a box; with the box's nearest point in place of t it is bounded from above
//   AIM     see add_aim: resembles the energy, does not bound it
//
// A bound that touches the energy at the current point cannot be lowered without lowering the energy: descent on such pulls
// is descent on the cost (Hunter & Lange, "A tutorial on MM algorithms", 2004).

// M + x t^T
static void add_product(mat3 *M, vec3 x, vec3 t)
{
    M->x = v3_mad(M->x, t.x, x);
    M->y = v3_mad(M->y, t.y, x);
    M->z = v3_mad(M->z, t.z, x);
}

void pz_pull_add_point(pz_pull *pull, double w, vec3 x, vec3 t)
{
    pull->n += w;
    pull->X = v3_mad(pull->X, w, x);
    pull->T = v3_mad(pull->T, w, t);
    add_product(&pull->M, v3_scale(x, w), t);
    pull->size += w * (v3_norm(x) * v3_norm(t));
}

// A direction d that wants to be along u.
static void add_direction(pz_pull *pull, double w, vec3 d, vec3 u)
{
    add_product(&pull->M, v3_scale(d, w), u);
    pull->size += w;
}

// The energy f . x: a target infinitely far away on a weight of 0.
static void add_force(pz_pull *pull, vec3 x, vec3 f)
{
    pull->T = v3_sub(pull->T, f);
    add_product(&pull->M, x, v3_neg(f));
    pull->size += v3_norm(x) * v3_norm(f);
}

void pz_pull_add(pz_pull *pull, double factor, const pz_pull *other)
{
    pull->n += factor * other->n;
    pull->X = v3_mad(pull->X, factor, other->X);
    pull->T = v3_mad(pull->T, factor, other->T);
    pull->M.x = v3_mad(pull->M.x, factor, other->M.x);
    pull->M.y = v3_mad(pull->M.y, factor, other->M.y);
    pull->M.z = v3_mad(pull->M.z, factor, other->M.z);
    pull->size += factor * other->size;
}

// Carry the points and directions along with a move: x -> R x + s:  M -> R M + s T^T,  X -> R X + n s
static void carry_points(pz_pull *pull, const pz_move *move)
{
    pull->M = m3_mul(&move->R, &pull->M);
    add_product(&pull->M, move->s, pull->T);
    pull->X = v3_mad(m3_apply(&move->R, pull->X), pull->n, move->s);
    pull->size += v3_norm(move->s) * v3_norm(pull->T);
}

// Carry the targets back, by its inverse: t -> R^T (t - s):  M -> (M - X s^T) R,  T -> R^T (T - n s)
static void carry_targets_back(pz_pull *pull, const pz_move *move)
{
    add_product(&pull->M, pull->X, v3_neg(move->s));
    pull->M = m3_mul(&pull->M, &move->R);
    pull->T = m3_apply_transposed(&move->R, v3_mad(pull->T, -pull->n, move->s));
    pull->size += v3_norm(move->s) * v3_norm(pull->X);
}

// ---- Pulls of goals ------------------------------------------------------------------------------------------------------

vec3 pz_pull_target(const poise_method_run *run, const poise_goal *goal, vec3 x, double *weight)
{
    vec3 t = v3_sub(goal->target.position, run->at.reference);
    if (has_band(goal->tolerance)) { // the nearest point of the box
        mat3 A = quat_matrix(goal->target.rotation);
        vec3 e = m3_apply_transposed(&A, v3_sub(x, t)), h = goal->tolerance;
        t = v3_add(t, m3_apply(&A, v3(clamp(e.x, -h.x, h.x), clamp(e.y, -h.y, h.y), clamp(e.z, -h.z, h.z))));
    }
    vec3 r = v3_sub(x, t);
    *weight = goal->weight * run->call->loss_slope(goal, v3_dot(r, r));
    return t;
}

static void add_position(const poise_method_run *run, const poise_goal *goal, pz_pull *pull)
{
    vec3 x = run->call->place(run, goal->body, goal->local.position);
    double w;
    vec3 t = pz_pull_target(run, goal, x, &w);
    pz_pull_add_point(pull, w, x, t);
}

// Three directions of weight w/2 (goal/orientation.c).
static void add_orientation(const poise_method_run *run, const poise_goal *goal, double w, pz_pull *pull)
{
    mat3 L = quat_matrix(goal->local.rotation), u = quat_matrix(goal->target.rotation);
    double rows[9], place[3];
    poise_kinematics_body_frame(run->at.kinematics, goal->body, rows, place);
    mat3 R = {{rows[0], rows[3], rows[6]}, {rows[1], rows[4], rows[7]}, {rows[2], rows[5], rows[8]}}, d = m3_mul(&R, &L);
    add_direction(pull, 0.5 * w, d.x, u.x);
    add_direction(pull, 0.5 * w, d.y, u.y);
    add_direction(pull, 0.5 * w, d.z, u.z);
}

// Nearer than this the direction to the target is rounding; the goal then counts as met (goal/aim.c).
#define NEAREST 1e-12

// With l, u length and direction of t - x, c = d . u, and y = x + l d, the point that should be at t:
//
//   E = w (1 - c) = w/(2 l^2) |y - t|^2 + (w/l) (1 - c) u . x + const, to first order in moves of x and d
//
// a point and a force. The point has the second derivatives that matter near the goal, |omega x d + P dx/l|^2 with P across
// u, and some along u. Far from the goal this may not do; `caution` adds that many times more weight towards staying, which
// in the end bounds E.
static void add_aim(const poise_method_run *run, const poise_goal *goal, double caution, pz_pull *pull)
{
    vec3 x = run->call->place(run, goal->body, goal->local.position),
         d = poise_kinematics_direction(run->at.kinematics, goal->body, goal->axis);
    vec3 t = v3_sub(goal->target.position, run->at.reference), way = v3_sub(t, x);
    double l = v3_norm(way), w = goal->weight, k = w / l / l;
    if (!(l > NEAREST) || !is_finite(l) || !is_finite(k)) {
        return;
    }
    vec3 u = v3_scale(way, 1.0 / l), y = v3_mad(x, l, d);
    pz_pull_add_point(pull, k, y, t);
    add_force(pull, x, v3_scale(u, (w / l) * (1.0 - v3_dot(d, u))));
    pz_pull_add_point(pull, caution * k, y, y);
    pz_pull_add_point(pull, caution * k, x, x);
}

bool pz_pull_goals(const poise_method_run *run, double caution, int joint_count, pz_pull *pulls)
{
    memset(pulls, 0, (size_t)joint_count * sizeof *pulls);
    bool bounds = true;
    for (int i = 0; i < run->goal_count; ++i) {
        const poise_goal *goal = &run->goals[i];
        pz_pull *pull = &pulls[goal->body];
        if (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) {
            add_position(run, goal, pull);
        }
        if (goal->kind == POISE_GOAL_POSE || goal->kind == POISE_GOAL_ORIENTATION) {
            add_orientation(run, goal, goal->kind == POISE_GOAL_POSE ? goal->rotation_weight : goal->weight, pull);
        } else if (goal->kind == POISE_GOAL_DIRECTION) {
            add_direction(pull, goal->weight, poise_kinematics_direction(run->at.kinematics, goal->body, goal->axis),
                          goal->direction);
        } else if (goal->kind == POISE_GOAL_AIM) {
            add_aim(run, goal, caution, pull);
            bounds = false;
        }
    }
    return bounds;
}

// ---- The best move of one joint ------------------------------------------------------------------------------------------
//
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
//   ball                    all          4 x 4; for one point alone, the short way round
//
// A slide along e by l costs const - l e . (T - X) + n l^2/2: best at e . (T - X)/n.
//
// Limits: a sinusoid over an interval is largest at its peak or at an end, a parabola nearest to its vertex; both exact.
// Rotation vectors in a box or an ellipse have no closed form: see bounded_block.

#define NOISE 32.0 // a moment below this many roundings of the pull's size is no reason to move

// ---- Elements ------------------------------------------------------------------------------------------------------------

// a after b: x -> a(b(x))
static pz_move move_after(const pz_move *a, const pz_move *b)
{
    return (pz_move){m3_mul(&a->R, &b->R), v3_add(m3_apply(&a->R, b->s), a->s)};
}

static pz_move move_identity(void)
{
    return (pz_move){m3_identity(), v3(0, 0, 0)};
}

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
    const poise_method_run *run;
    int joint;
    vec3 p;        // where its turns pass through
    bool is_loose; // it slides freely in all directions, so that turns need not care where p goes
    pz_pull *pull;
    pz_move *made; // or NULL
    double *q;
    double longest;
} mover;

static void carry(mover *m, const pz_move *move)
{
    carry_points(m->pull, move);
    if (m->made) {
        *m->made = move_after(move, m->made);
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
    const mat3 *M = &a->M;
    vec3 p = m->p, X = a->X;
    if (m->is_loose) {
        vec3 mean = a->n > 0 ? v3_scale(a->T, 1.0 / a->n) : v3(0, 0, 0);
        *noise = NOISE * PZ_EPSILON * (a->size + v3_norm(X) * v3_norm(mean));
        return (mat3){v3_mad(M->x, -mean.x, X), v3_mad(M->y, -mean.y, X), v3_mad(M->z, -mean.z, X)};
    }
    vec3 U = v3_mad(a->T, -a->n, p);
    double reach = v3_norm(p);
    *noise = NOISE * PZ_EPSILON * (a->size + reach * (v3_norm(X) + v3_norm(a->T) + a->n * reach));
    return (mat3){v3_mad(v3_mad(M->x, -p.x, X), -U.x, p), v3_mad(v3_mad(M->y, -p.y, X), -U.y, p),
                  v3_mad(v3_mad(M->z, -p.z, X), -U.z, p)};
}

// Numbers of a step that a motion takes.
static int components(const poise_joint_motion *step)
{
    return step->kind == POISE_MOTION_SWING                                             ? 2
           : step->kind == POISE_MOTION_VECTOR || step->kind == POISE_MOTION_QUATERNION ? 3
                                                                                        : 1;
}

static double largest_entry(const mat3 *M)
{
    const double *e = (const double *)M;
    return pz_largest(e, 9);
}

// What a coordinate may still do: from its value to its limits, and no further than the step limit.
static void room(const poise_method_run *run, const poise_method_bound *box, double *lower, double *upper)
{
    double q = box->q >= 0 ? run->at.q[box->q] : 0.0, limit = run->options->step_limit;
    *lower = min2(max2(box->q >= 0 ? box->lower - q : -INFINITY, -limit), 0.0);
    *upper = max2(min2(box->q >= 0 ? box->upper - q : INFINITY, limit), 0.0);
}

// The coordinate after a step, exactly at a limit where the step goes that far.
static double stepped(const poise_method_bound *box, double q, double step)
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

static void turn_step(mover *m, const poise_joint_motion *step)
{
    const poise_method_bound *box = &m->run->bounds[step->v];
    vec3 a = step->axis;
    double lower, upper, angle;
    room(m->run, box, &lower, &upper);
    if (box->locked || !best_turn(m, a, lower, upper, &angle)) {
        return;
    }
    m->q[step->q] = stepped(box, m->q[step->q], angle);
    turn_about(m, a, angle);
}

static void slide_step(mover *m, const poise_joint_motion *step)
{
    const poise_method_bound *box = &m->run->bounds[step->v];
    vec3 a = step->axis;
    double lower, upper;
    room(m->run, box, &lower, &upper);
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

// The rotation vector of the best of all turns. For one point alone M = x t^T, all turns that bring x along t are best, and
// the short way is the one that does not twist. The columns of such an M are parallel, to its rounding errors.
static bool best_rotation(const mat3 *M, double noise, vec3 *turn)
{
    vec3 a = moment(M), u = v3_cross(M->x, M->y), v = v3_cross(M->y, M->z), w = v3_cross(M->z, M->x);
    double length = v3_norm(a), large = largest_entry(M);
    bool is_one = v3_norm(u) + v3_norm(v) + v3_norm(w) <= 8.0 * noise * large;
    if (is_one && length > 0) { // x opposite t: any axis across will do, and the eigenvectors have one
        *turn = v3_scale(a, pz_atan2(length, trace(M)) / length);
        return true;
    }
    quat r;
    if (!pz_best_quat(M, 4, &r)) {
        return false;
    }
    *turn = so3_log(r);
    return true;
}

// A ball without limits, R its rotation in the world: turn it by the best rotation of all, written in its own axes, so that
// the quaternion, or the rotation vector's, is multiplied from the right.
static void free_ball(mover *m, const poise_joint_motion *step, const mat3 *R)
{
    double noise;
    vec3 turn;
    mat3 M = centred(m, &noise), L = m3_mul(&M, R), Rt = m3_transpose(R);
    M = m3_mul(&Rt, &L);
    if (!(largest_entry(&M) > noise) || !best_rotation(&M, noise, &turn)) {
        return;
    }
    double angle = v3_norm(turn), limit = m->run->options->step_limit;
    if (angle > limit) { // on the way to the best the energy falls all along
        turn = v3_scale(turn, limit / angle);
        angle = limit;
    }
    quat by = so3_exp_quat(turn);
    double *q = m->q + step->q;
    if (step->kind == POISE_MOTION_QUATERNION) {
        quat now = quat_normalize(quat_mul(quat_normalize((quat){q[0], q[1], q[2], q[3]}), by));
        q[0] = now.x;
        q[1] = now.y;
        q[2] = now.z;
        q[3] = now.w;
    } else {
        vec3 v = so3_log(quat_mul(so3_exp_quat(v3(q[0], q[1], q[2])), by));
        q[0] = v.x;
        q[1] = v.y;
        q[2] = v.z;
    }
    mat3 W = quat_matrix(by);
    W = m3_mul(R, &W);
    W = m3_mul(&W, &Rt);
    carry_turn(m, &W);
    m->longest = max2(m->longest, angle);
}

// ---- Rotation vectors within limits --------------------------------------------------------------------------------------
//
// The rotation vector v in a box, perhaps also an ellipse, where g(v) = tr(exp(v) M) is large. First the best of all
// rotations, brought within the limits along both of its rotation vectors; then from the best of these, and of where the
// joint is, uphill by projected gradients. In coordinates that make the ellipse a circle, moving a point to it along the ray
// to the centre is the nearest point, so that short enough steps go uphill until no direction within the limits does.

#define CLIMBS   6    // uphill steps in one visit; sweeps visit again
#define HALVINGS 12   // of the step's length
#define RAY      (-1) // how to reach an ellipse; or the coordinate to keep

typedef struct bounded {
    int count; // 2 for a swing, 3
    double lower[3], upper[3];
    const poise_joint *ellipse; // or NULL
    mat3 M;                     // points in the frame after the rotation, targets in the frame before
    double noise;
} bounded;

// (a/A)^2 + (b/B)^2 of a swing.
static double swing_excess(const poise_joint *given, const double *q)
{
    double a = q[0] / given->swing[0], b = q[1] / given->swing[1];
    return a * a + b * b;
}

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
    g[0] = x * x * d.x;
    g[1] = y * y * d.y;
    g[2] = b->count > 2 ? d.z : 0.0;
}

// Within the limits: first the box, then the ellipse, along the ray to the centre, or, to reach the corners where the two
// meet, with coordinate `keep` as it is. False when that leaves the box.
static bool bring_within(const bounded *b, int keep, double *v)
{
    for (int i = 0; i < b->count; ++i) {
        v[i] = clamp(v[i], b->lower[i], b->upper[i]);
    }
    if (!b->ellipse || swing_excess(b->ellipse, v) <= 1.0) {
        return true;
    }
    double size = sqrt(swing_excess(b->ellipse, v));
    if (keep >= 0) {
        double kept = v[keep] / b->ellipse->swing[keep], half = b->ellipse->swing[1 - keep];
        size = fabs(v[1 - keep]) / (half * sqrt(max2(1.0 - kept * kept, 0.0)));
    }
    if (!is_finite(size)) {
        return false;
    }
    for (; swing_excess(b->ellipse, v) > 1.0; size = 1.0 + PZ_EPSILON) { // the first quotient may be a hair outside
        v[0] /= keep == 0 ? 1.0 : size;
        v[1] /= keep == 1 ? 1.0 : size;
    }
    return v[0] >= b->lower[0] && v[0] <= b->upper[0] && v[1] >= b->lower[1] && v[1] <= b->upper[1];
}

// Take v, within the limits, if it is better than the best so far. Returns whether it was.
static bool take_if_better(const bounded *b, int keep, double *v, double *best, double *best_gain)
{
    if (!bring_within(b, keep, v)) {
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

// The best rotation vector without limits: of all swings, or of all rotations, the nearest.
static bool best_vector(const bounded *b, const double *now, vec3 *v)
{
    quat r;
    if (b->count == 2) {
        if (!pz_best_quat(&b->M, 3, &r)) {
            return false;
        }
    } else {
        vec3 at = v3(now[0], now[1], now[2]), turn;
        mat3 R = so3_exp(at), M = m3_mul(&b->M, &R);
        if (!best_rotation(&M, b->noise, &turn)) {
            return false;
        }
        r = quat_mul(so3_exp_quat(at), so3_exp_quat(turn));
    }
    *v = so3_log(r);
    return true;
}

// Try that, along both of its rotation vectors. Returns whether it lies within the limits.
static bool try_best_vector(const bounded *b, double *best, double *best_gain)
{
    vec3 v;
    if (!best_vector(b, best, &v)) {
        return false;
    }
    double angle = v3_norm(v), other = angle > 0 ? 1.0 - PZ_TWO_PI / angle : 1.0;
    for (int i = 0; i < 2; ++i) {
        vec3 at = i == 0 ? v : v3_scale(v, other);
        double tried[3] = {at.x, at.y, at.z};
        if (take_if_better(b, RAY, tried, best, best_gain) && tried[0] == at.x && tried[1] == at.y && tried[2] == at.z) {
            return true;
        }
    }
    return false;
}

static bool climb(const bounded *b, double *best, double *best_gain)
{
    double g[3], length = 2.0 / largest_entry(&b->M);
    uphill(b, best, g);
    for (int i = 0; i < HALVINGS; ++i, length *= 0.5) {
        for (int keep = RAY; keep < (b->ellipse ? 2 : 0); ++keep) {
            double v[3] = {best[0] + length * g[0], best[1] + length * g[1], best[2] + length * g[2]};
            if (take_if_better(b, keep, v, best, best_gain)) {
                return true;
            }
        }
    }
    return false;
}

static void bounded_block(mover *m, const poise_joint_motion *step, const mat3 *before)
{
    const poise_method_run *run = m->run;
    bounded b = {.count = components(step)};
    const poise_joint *given = poise_model_joint_info(run->model, m->joint).given;
    b.ellipse = step->kind == POISE_MOTION_SWING && run->options->use_limits && is_finite(given->swing[0]) ? given : NULL;
    double v[3] = {0, 0, 0}, *q = m->q + step->q;
    for (int i = 0; i < b.count; ++i) {
        const poise_method_bound *box = &run->bounds[step->v + i];
        v[i] = q[i];
        b.lower[i] = box->locked ? v[i] : max2(box->lower, v[i] - run->options->step_limit);
        b.upper[i] = box->locked ? v[i] : min2(box->upper, v[i] + run->options->step_limit);
    }
    mat3 R = so3_exp(v3(v[0], v[1], v[2])), A = m3_mul(before, &R), At = m3_transpose(&A), M = centred(m, &b.noise);
    M = m3_mul(&M, before);
    b.M = m3_mul(&At, &M);
    double best[3] = {v[0], v[1], v[2]}, start = gain(&b, v), best_gain = start;
    if (!(largest_entry(&b.M) > b.noise) || !is_finite(start)) {
        return;
    }
    bool is_done = try_best_vector(&b, best, &best_gain);
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

static bool is_bounded(const poise_method_run *run, const poise_joint_motion *step)
{
    bool is_held = step->kind == POISE_MOTION_SWING || is_finite(run->options->step_limit);
    for (int i = 0; i < components(step); ++i) {
        const poise_method_bound *box = &run->bounds[step->v + i];
        is_held = is_held || box->locked || is_finite(box->lower) || is_finite(box->upper);
    }
    return is_held;
}

static void block_step(mover *m, const poise_joint_motion *step)
{
    const poise_method_run *run = m->run;
    mat3 frame = m3_from_rows(step->frame);
    int first = step->v, locked = 0;
    for (int i = 0; i < components(step); ++i) {
        locked += run->bounds[first + i].locked;
    }
    if (locked == components(step)) {
        return;
    }
    if (step->kind == POISE_MOTION_QUATERNION) { // locked as a whole or not at all; its frame is the one after it
        free_ball(m, step, &frame);
    } else if (is_bounded(run, step)) {
        bounded_block(m, step, &frame);
    } else {
        mat3 R = so3_exp(step->vector);
        R = m3_mul(&frame, &R);
        free_ball(m, step, &R);
    }
}

static bool is_open_slide(const poise_method_run *run, const poise_joint_motion *motion)
{
    const poise_method_bound *box = &run->bounds[motion->v];
    return motion->kind == POISE_MOTION_SLIDE && !box->locked && !is_finite(box->lower) && !is_finite(box->upper);
}

bool pz_slides_freely(const poise_method_run *run, int k)
{
    poise_joint_motion motion;
    int slides = 0;
    for (int i = 0; run->call->joint_motion(run, k, i, &motion); ++i) {
        slides += is_open_slide(run, &motion);
    }
    return slides == 3;
}

double pz_best_move(const poise_method_run *run, int k, pz_pull *pull, double *q, pz_move *made)
{
    poise_joint_motion motions[POISE_MOST_MOTIONS];
    int count = 0, slides = 0;
    for (; count < POISE_MOST_MOTIONS && run->call->joint_motion(run, k, count, &motions[count]); ++count) {
        slides += is_open_slide(run, &motions[count]);
    }
    mover m = {.run = run,
               .joint = k,
               .p = run->at.origins[k],
               .is_loose = slides == 3 && !is_finite(run->options->step_limit),
               .pull = pull,
               .made = made,
               .q = q};
    for (int i = count - 1; i >= 0; --i) {
        const poise_joint_motion *step = &motions[i];
        if (step->kind == POISE_MOTION_TURN) {
            turn_step(&m, step);
        } else if (step->kind == POISE_MOTION_SLIDE) {
            slide_step(&m, step);
        } else {
            block_step(&m, step);
        }
    }
    return m.longest;
}

// ---- A sweep from the root -----------------------------------------------------------------------------------------------

double pz_move_from_root(const poise_method_run *run, pz_geometric *g)
{
    double longest = 0.0;
    for (int k = 0; k < g->joint_count; ++k) {
        pz_pull *pull = &g->pulls[k];
        if (pz_pull_is_empty(pull)) {
            continue;
        }
        int parent = g->parent[k];
        pz_move above = parent == POISE_WORLD ? move_identity() : g->moves[parent], own = move_identity();
        carry_targets_back(pull, &above);
        longest = max2(longest, pz_best_move(run, k, pull, g->q, &own));
        g->moves[k] = move_after(&above, &own);
    }
    return longest;
}

// ---- Scratch memory, and what can be served ------------------------------------------------------------------------------

void pz_geometric_lay_out(const poise_method_run *run, poise_method_memory *memory, pz_geometric *g)
{
    size_t joints = (size_t)poise_model_info(run->model).joints;
    g->parent = run->call->take(memory, joints, sizeof *g->parent);
    g->pulls = run->call->take(memory, joints, sizeof *g->pulls);
    g->moves = run->call->take(memory, joints, sizeof *g->moves);
    g->q = run->call->take(memory, (size_t)run->nq, sizeof *g->q);
}

void pz_geometric_begin(const poise_method_run *run, pz_geometric *g)
{
    g->joint_count = poise_model_info(run->model).joints;
    for (int k = 0; k < g->joint_count; ++k) {
        g->parent[k] = poise_model_joint_info(run->model, k).parent;
    }
}

poise_status pz_geometric_check_model(const poise_method_run *run, const char *name, poise_error *error)
{
    if (run->options->prior > 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "%s does not support a prior: set options.prior to 0", name);
    }
    for (int i = 0; i < run->goal_count; ++i) {
        for (int k = run->goals[i].body; k != POISE_WORLD; k = poise_model_joint_info(run->model, k).parent) {
            poise_joint_info joint = poise_model_joint_info(run->model, k);
            if (joint.type == POISE_JOINT_CURVE) {
                return pz_error_set(
                    error, POISE_ERROR_UNSUPPORTED,
                    "goal %d: joint \"%s\" above it moves along curves, but %s supports only hinges and slides", i,
                    joint.name, name);
            }
            if (joint.mimic != POISE_NONE) {
                return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                                    "goal %d: joint \"%s\" above it mimics another one, but %s moves one joint at a time", i,
                                    joint.name, name);
            }
        }
    }
    return POISE_OK;
}
