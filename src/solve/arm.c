// A pose goal on an arm, from start to answer. The file is in the order in which a solve goes:
//
//   the chain              a normal form of its own, without the rest of the model
//   the problem            is this one for an arm? The target in the frame of the chain's first joint
//   where searches begin   at the caller's start, then at entries of a table, then along an even sequence
//   one search             for a zero of the pose error: Gauss-Newton (arm_kernel.h); what comes near one is finished by
//                          descent with exact second derivatives
//   beyond the limits      where all searches missed: zeros without limits, brought inside
//   the closest pose       by descent, from the best ends
//   the answer             hinges turned back, errors and cost into the report; what is called the closest is doubted once more
//   all solutions          the same, each kept that differs from those before
//
// A batch does the same for many problems, whose searches run side by side (batch/arm_lanes.c).
#include "num/trig.h"
#include "solve/arm_kernel.h"

#define ALIKE        1e-3  // radians, or lengths over L: solutions are the same when no joint differs by more
#define FARTHEST     1e300 // of the energy: nothing overflows on the way
#define SADDLE_TRIES 3     // at a pose that is called closest
#define BESIDE_ZERO  1e-5  // energy of a closest pose that may be one that searches missed
#define POLISHED     1e-9  // error to which solutions are brought that are compared

// ---- The chain -----------------------------------------------------------------------------------------------------------
//
// A chain is a product of motions and constants, from the world to the goal's frame:
//
//   base  [Z_1 T(t_1) M_1]  [Z_2 T(t_2) M_2]  ...  [Z_n T(t_n) M_n]
//
// Z_i the turn about z by q_i, or the slide along z; M_i constant turns, t_i constant shifts. Any turn splits as
// M = Rz(phi) Rx(alpha) Rz(psi). Turns about z commute with Z, so that phi_i moves before T(t_i), where it turns the shift,
// and psi_i into the next factor:
//
//   Z_i T(t_i) Rz(phi_i) = [Z_i Rz(phi_i)] T(Rz(-phi_i) t_i)         angle_i = q_i + psi_(i-1) + phi_i
//
// What is left between two joints is T(t) Rx(alpha), five numbers. Unlike the parameters of Denavit and Hartenberg (1955)
// they exist and stay small for axes that are parallel or nearly so. The last M_n is not split: it goes with the target.

// L over the length of the chain. The search hardly depends on it: 0.15 to 0.6 cost 4 % more iterations at most.
#define UNIT_SHARE  0.3
#define FAR_TURNS   16.0 // from 0: limits of hinges beyond are none, for restarts
#define FAR_LENGTHS 64.0 // of the chain, from 0: limits of slides beyond are none, likewise

// A constant transform, being put together.
typedef struct constant {
    mat3 R;
    vec3 t;
} constant;

static void append_constant(constant *c, const mat3 *R, vec3 t)
{
    c->t = v3_add(c->t, m3_apply(&c->R, t));
    c->R = m3_mul(&c->R, R);
}

// The turn that makes axis x, y or z the z axis: its columns are the axes in cyclic order.
static mat3 axis_to_z(int axis)
{
    static const mat3 turns[3] = {
        {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    return turns[axis];
}

// Below this the sine of alpha is rounding.
#define STRAIGHT 1e-15

// M = Rz(phi) Rx(alpha) Rz(psi). The third column of M is (sin(phi) sin(alpha), -cos(phi) sin(alpha), cos(alpha)); psi then
// comes from what is left, Rx(-alpha) Rz(-phi) M = Rz(psi), so that phi + psi is right even where alpha is tiny and each of
// them is not.
static void split_turn(const mat3 *M, double *phi, double *ca, double *sa, double *psi)
{
    double sine = sqrt(M->z.x * M->z.x + M->z.y * M->z.y), size = sqrt(sine * sine + M->z.z * M->z.z);
    bool straight = sine < STRAIGHT;
    *phi = straight ? 0.0 : pz_atan2(M->z.x, -M->z.y);
    *ca = straight ? (M->z.z > 0 ? 1.0 : -1.0) : M->z.z / size;
    *sa = straight ? 0.0 : sine / size;
    double s, c;
    pz_sincos(*phi, &s, &c);
    vec3 x = v3(c * M->x.x + s * M->x.y, c * M->x.y - s * M->x.x, M->x.z); // Rz(-phi) times the first column
    *psi = pz_atan2(*ca * x.y + *sa * x.z, x.x);
}

static bool add_joint(const poise_model *model, const pz_box *box, const pz_joint *joint, pz_arm_chain *chain)
{
    const pz_step *step = &model->steps[joint->step_begin];
    const pz_box *limits = &box[joint->v_begin];
    int i = chain->n;
    if (i == PZ_ARM_MOST || joint->mimic != POISE_WORLD || joint->step_end - joint->step_begin != 1 ||
        pz_step_is_block(step->kind) || limits->locked) {
        return false;
    }
    bool turns = pz_step_is_turn(step->kind);
    chain->turn[i] = turns ? 1.0 : 0.0;
    chain->slides = chain->slides || !turns;
    chain->q[i] = step->q;
    chain->lower[i] = limits->lower;
    chain->upper[i] = limits->upper;
    chain->n += 1;
    return true;
}

// The constant M, t after joint i, i >= 0, into its numbers. `psi` is what the joint before left over, and becomes what
// this one leaves.
static void set_link(pz_arm_chain *chain, int i, const constant *link, double *psi)
{
    double phi, s, c, left;
    split_turn(&link->R, &phi, &chain->ca[i], &chain->sa[i], &left);
    pz_sincos(phi, &s, &c);
    chain->offset[i] = *psi + phi;
    chain->tx[i] = c * link->t.x + s * link->t.y;
    chain->ty[i] = c * link->t.y - s * link->t.x;
    chain->tz[i] = link->t.z;
    *psi = left;
}

// The last one keeps its M whole, as the tail.
static void set_tail(pz_arm_chain *chain, int i, const constant *link, double psi)
{
    chain->offset[i] = psi;
    chain->tx[i] = link->t.x;
    chain->ty[i] = link->t.y;
    chain->tz[i] = link->t.z;
    chain->ca[i] = 1.0;
    chain->sa[i] = 0.0;
    chain->tail = link->R;
}

// Is the joint, or the one it follows, locked in all that it can do?
static bool is_locked_whole(const poise_model *model, const pz_box *box, const pz_joint *joint)
{
    const pz_joint *own = joint->mimic >= 0 ? &model->joints[joint->mimic] : joint;
    bool is_locked = own->v_begin < own->v_end;
    for (int v = own->v_begin; v < own->v_end; ++v) {
        is_locked = is_locked && box[v].locked;
    }
    return is_locked;
}

// The frame of a joint in that of its parent, where `held` has them.
static void append_locked(constant *c, const poise_kinematics *held, int joint)
{
    int parent = held->model->joints[joint].parent;
    mat3 above = parent >= 0 ? held->R[parent] : m3_identity();
    vec3 from = parent >= 0 ? held->p[parent] : v3_neg(held->origin);
    mat3 back = m3_transpose(&above), R = m3_mul(&back, &held->R[joint]);
    append_constant(c, &R, m3_apply(&back, v3_sub(held->p[joint], from)));
}

bool pz_arm_chain_walk(const poise_model *model, const pz_box *box, const poise_kinematics *held, const int *path, int count,
                       const mat3 *R, vec3 t, pz_arm_chain *chain)
{
    constant link = {m3_identity(), {0, 0, 0}};
    double psi = 0.0;
    *chain = (pz_arm_chain){.is_wide = model->is_wide};
    for (int k = 0; k < count; ++k) {
        const pz_joint *joint = &model->joints[path[k]];
        if (held && is_locked_whole(model, box, joint)) {
            append_locked(&link, held, path[k]);
            continue;
        }
        append_constant(&link, &joint->C, joint->t);
        if (joint->step_begin == joint->step_end) {
            continue; // fixed: one more constant
        }
        if (!add_joint(model, box, joint, chain)) {
            return false;
        }
        mat3 turn = axis_to_z(pz_step_axis(model->steps[joint->step_begin].kind));
        link.R = m3_mul(&link.R, &turn);
        if (chain->n == 1) {
            chain->base = link.R;
            chain->base_at = link.t;
        } else {
            set_link(chain, chain->n - 2, &link, &psi);
        }
        link = (constant){m3_transpose(&turn), {0, 0, 0}};
    }
    append_constant(&link, R, t);
    if (chain->n > 0) {
        set_tail(chain, chain->n - 1, &link, psi);
    } else {
        chain->base = link.R;
        chain->base_at = link.t;
        chain->tail = m3_identity();
    }
    return true;
}

static bool walk_to(const poise_model *model, const pz_box *box, const poise_kinematics *held, int body,
                    const poise_pose *local, pz_arm_chain *chain)
{
    int path[8 * PZ_ARM_MOST], count = pz_model_path(model, body, path, 8 * PZ_ARM_MOST);
    mat3 L = quat_matrix(quat_normalize(local->rotation)), B = model->joints[body].B;
    L = m3_mul(&B, &L);
    return count <= 8 * PZ_ARM_MOST &&
           pz_arm_chain_walk(model, box, held, path, count, &L, m3_apply(&B, local->position), chain) && chain->n > 0;
}

// Lengths over L, which is `unit` or a share of the chain's length. A slide counts for half its range, as far as that is in
// proportion to the links, or for nothing where it has no end.
static void scale(double unit, pz_arm_chain *chain)
{
    double links = 0.0, ranges = 0.0, ends = 0.0;
    for (int i = 0; i < chain->n; ++i) {
        links += v3_norm(v3(chain->tx[i], chain->ty[i], chain->tz[i]));
        if (chain->turn[i] == 0) {
            double range = 0.5 * (chain->upper[i] - chain->lower[i]);
            ranges += is_finite(range) ? range : 0.0;
            ends += max2(fabs(chain->lower[i]), fabs(chain->upper[i]));
        }
    }
    double length = links + pz_counted_ranges(links, ranges);
    chain->unit = unit > 0 ? unit : length > 0 && is_finite(length) ? UNIT_SHARE * length : 1.0;
    chain->reach = (links + ends) / chain->unit;
    chain->size = min2(chain->reach, FAR_LENGTHS * max2(length, chain->unit) / chain->unit);
    for (int i = 0; i < chain->n; ++i) {
        chain->tx[i] /= chain->unit;
        chain->ty[i] /= chain->unit;
        chain->tz[i] /= chain->unit;
        chain->slide[i] = chain->turn[i] == 0 ? 1.0 / chain->unit : 0.0;
        chain->rate[i] = chain->turn[i] == 0 ? chain->unit : 1.0;
    }
}

// Restarts begin within the limits; where one is missing, within a turn of the other or of 0, for slides within the chain's
// length. A hinge's limit that is many turns away is missing: numbers are written there for "none".
static void place_restarts(pz_arm_chain *chain)
{
    for (int i = 0; i < chain->n; ++i) {
        double lower = chain->lower[i], upper = chain->upper[i];
        double half = chain->turn[i] != 0 ? PZ_PI : chain->unit / UNIT_SHARE;
        double far = chain->turn[i] != 0 ? FAR_TURNS * 2.0 * PZ_PI : FAR_LENGTHS * half;
        bool has_lower = lower > -far, has_upper = upper < far;
        chain->first[i] = has_lower ? lower : has_upper ? upper - 2.0 * half : -half;
        chain->span[i] = has_lower && has_upper ? upper - lower : 2.0 * half;
    }
}

void pz_arm_chain_scale(double unit, pz_arm_chain *chain)
{
    scale(unit, chain);
    place_restarts(chain);
}

// g > 1 with g^(n+1) = g + 1, by Newton's method from above, and its powers g^-i: the fractions of m g^-i, m = 1, 2, ...,
// cover the unit cube evenly, whatever their number (M. Roberts, "The unreasonable effectiveness of quasirandom sequences",
// 2018; for n = 1 the golden ratio).
static void make_sequence(pz_arm_chain *chain)
{
    double g = 2.0;
    for (int k = 0; k < 60; ++k) {
        double power = 1.0; // g^n
        for (int i = 0; i < chain->n; ++i) {
            power *= g;
        }
        g -= (power * g - g - 1.0) / ((chain->n + 1) * power - 1.0);
    }
    double fraction = 1.0;
    for (int i = 0; i < chain->n; ++i) {
        fraction /= g;
        chain->ratio[i] = fraction;
    }
}

bool pz_arm_chain_make(const poise_model *model, const pz_box *box, const poise_kinematics *held, int body,
                       const poise_pose *local, pz_arm_chain *chain)
{
    if (!walk_to(model, box, held, body, local, chain)) {
        return false;
    }
    pz_arm_chain_scale(0.0, chain);
    make_sequence(chain);
    return true;
}

void pz_arm_chain_pose(const pz_arm_chain *chain, const double *q, mat3 *R, vec3 *p)
{
    arm_frames frames;
    arm_forward(chain, chain->n, chain->slides, ARM_ALONE, q, &frames);
    mat3 turned = m3_mul(&chain->base, &frames.d);
    *R = m3_mul(&turned, &chain->tail);
    *p = v3_mad(chain->base_at, chain->unit, m3_apply(&chain->base, frames.p));
}

// ---- The problem ---------------------------------------------------------------------------------------------------------

struct pz_arm {
    int body; // what the chain was made for; -1: nothing
    poise_pose local;
    bool fits;    // it could be made
    double chord; // 2 sin of half the rotation tolerance
    pz_arm_chain chain;
    pz_arm_call own;     // of a solve that goes from begin to end at once
    pz_arm_table *table; // NULL: none is wanted
    bool has_table;      // it fits the chain
};

pz_arm *pz_arm_lay_out(const poise_solver *solver, pz_arena *arena)
{
    pz_arm *arm = pz_arena_take(arena, 1, sizeof *arm);
    pz_arm_table *table = solver->options.arm.seed_table ? pz_arena_take(arena, 1, sizeof *table) : NULL;
    if (arm) {
        double sine, cosine, tolerance = min2(solver->options.rotation_tolerance, PZ_PI);
        pz_sincos(0.5 * tolerance, &sine, &cosine);
        *arm = (pz_arm){.body = -1, .table = table, .chord = 2.0 * sine};
    }
    return arm;
}

void pz_arm_record(pz_arm_run *run, double f, double damping, bool exact)
{
    double weight = run->trace->problem->goals[0].rotation_weight;
    pz_trace(run->trace, (poise_trace){.cost = weight * f,
                                       .gradient = weight * run->slope,
                                       .damping = damping,
                                       .step = run->longest,
                                       .accepted = f < run->best,
                                       .exact = exact});
    run->best = min2(run->best, f);
}

static bool goal_fits(const poise_solver *solver)
{
    const poise_goal *goal = solver->problem->goals;
    return solver->problem->goal_count == 1 && goal->kind == POISE_GOAL_POSE && goal->weight > 0 &&
           goal->rotation_weight > 0 && goal->loss == POISE_LOSS_NONE;
}

static void make_chain(const poise_solver *solver, pz_arm *arm, const poise_goal *goal, const poise_kinematics *held)
{
    arm->fits = pz_arm_chain_make(solver->model, solver->box, held, goal->body, &goal->local, &arm->chain);
    arm->body = goal->body;
    arm->local = goal->local;
    arm->has_table = arm->fits && arm->table && pz_arm_table_make(&arm->chain, arm->table);
}

bool pz_arm_make_chain(const poise_solver *solver, pz_arm *arm, const poise_goal *goal)
{
    if (goal->body != arm->body || memcmp(&goal->local, &arm->local, sizeof arm->local) != 0) {
        make_chain(solver, arm, goal, NULL);
    }
    return arm->fits;
}

// False when a number overflows: that is left to the general path.
static bool make_target(const poise_solver *solver, const pz_arm *arm, pz_arm_target *target)
{
    const poise_goal *goal = solver->problem->goals;
    const poise_solver_options *options = &solver->options;
    const pz_arm_chain *chain = &arm->chain;
    double scale = 1.0 / chain->unit;
    target->has_band = pz_has_band(goal->tolerance) || pz_has_band(goal->rotation_tolerance);
    arm_aim(chain, &goal->target, target);
    if (target->has_band) {
        target->turn = quat_from_matrix(&target->u);
        target->tolerance = v3_scale(goal->tolerance, scale);
        target->rotation_tolerance = goal->rotation_tolerance;
        target->most_e = pz_arm_square(options->rotation_tolerance, 1.0);
    } else {
        target->most_e = options->rotation_tolerance < PZ_PI ? pz_arm_square(arm->chord, 1.0) : INFINITY;
    }
    target->most_r = pz_arm_square(options->position_tolerance * scale, chain->size);
    target->W = goal->weight * chain->unit * chain->unit / goal->rotation_weight;
    target->cost = PZ_ARM_MARGIN * solver->problem->cost_tolerance / goal->rotation_weight;
    target->stationary = options->gradient_tolerance;
    double farthest = v3_dot(target->t, target->t) + chain->size * chain->size;
    return max2(target->W, 1.0) * farthest < FARTHEST; // W may underflow to 0: the search has its own
}

bool pz_arm_prepare(poise_solver *solver, pz_arm *arm, pz_arm_call *call)
{
    if (!arm || !pz_arm_options_fit(&solver->options) || !goal_fits(solver) ||
        !pz_arm_make_chain(solver, arm, solver->problem->goals) || !make_target(solver, arm, &call->target)) {
        return false;
    }
    const pz_arm_chain *chain = &arm->chain;
    call->chain = chain;
    call->table = arm->has_table && !call->target.has_band ? arm->table : NULL;
    for (int i = 0; i < chain->n; ++i) {
        call->q_start[i] = solver->problem->q_start[chain->q[i]];
    }
    call->run.iterations = call->run.evaluations = 0;
    call->run.best = INFINITY;
    call->run.trace = solver->options.trace && solver->options.trace_capacity > 0 ? solver : NULL;
    call->end_count = call->search = 0;
    call->last_search = arm_last_search(chain, &call->target, solver->options.restarts);
    call->met = false;
    call->reach = PZ_ARM_UNKNOWN;
    arm_open(chain, chain->n, call->q_start, &call->run);
    return true;
}

// ---- Where searches begin ------------------------------------------------------------------------------------------------

// First the caller's start, then entries of a table, near the target, then an even sequence over the limits.
//
// Turning the first joint turns the whole arm about its axis, and turning the last one changes nothing but the angle about
// its own: both are solved for in closed form, so that the table only has to cover what is left, four dimensions of the
// pose. With c the point of the last axis next to the goal's origin and z the direction of that axis, both known from a
// target, and az the angle of c about the first axis (z of the base), a pose has the features
//
//   (rho_c, c_z)/sqrt2,  (z_rho, z_az, z_z)/sqrt2         in the frame turned by az
//
// whose squared distance is the search's own energy, but for the turn about z.
#define SHORTEST  3 // joints of a chain with a table
#define ROOT_HALF 0.70710678118654752440

static void make_feature(vec3 c, vec3 z, double *feature, double *azimuth)
{
    double rho = sqrt(c.x * c.x + c.y * c.y);
    double cosine = rho > 0 ? c.x / rho : 1.0, sine = rho > 0 ? c.y / rho : 0.0;
    *azimuth = rho > 0 ? pz_atan2(c.y, c.x) : 0.0;
    feature[0] = ROOT_HALF * rho;
    feature[1] = ROOT_HALF * c.z;
    feature[2] = ROOT_HALF * (cosine * z.x + sine * z.y);
    feature[3] = ROOT_HALF * (cosine * z.y - sine * z.x);
    feature[4] = ROOT_HALF * z.z;
}

// The point of the last axis next to the goal's origin.
static vec3 axis_point(const pz_arm_chain *chain, const mat3 *frame, vec3 p)
{
    int last = chain->n - 1;
    return v3_sub(p, v3_combine(chain->tx[last], frame->x, chain->ty[last], frame->y));
}

static double middle_of(const pz_arm_chain *chain, int i)
{
    return chain->first[i] + 0.5 * chain->span[i];
}

bool pz_arm_table_make(const pz_arm_chain *chain, pz_arm_table *table)
{
    int n = chain->n, last = n - 1;
    if (n < SHORTEST || chain->turn[0] == 0 || chain->turn[last] == 0) {
        return false;
    }
    // the sequence of restarts for the joints between, in n - 2 dimensions
    pz_arm_chain inner = *chain;
    inner.n = n - 2;
    make_sequence(&inner);
    for (int entry = 0; entry < PZ_ARM_TABLE; ++entry) {
        double *q = table->q[entry];
        arm_frames frames;
        q[0] = middle_of(chain, 0);
        q[last] = middle_of(chain, last);
        for (int i = 1; i < last; ++i) {
            q[i] = arm_sequence_at(chain, i, inner.ratio[i - 1], entry + 1);
        }
        arm_forward(chain, n, true, ARM_ALONE, q, &frames);
        make_feature(axis_point(chain, &frames.d, frames.p), frames.d.z, table->feature[entry], &table->azimuth[entry]);
    }
    return true;
}

// The shortest way by whole turns.
static double shortest_turn(double angle)
{
    return angle - PZ_TWO_PI * arm_round(angle / PZ_TWO_PI);
}

void pz_arm_table_aim(const pz_arm_chain *chain, const pz_arm_target *target, pz_arm_table *table)
{
    double feature[5], azimuth, half = 0.5 * chain->span[0];
    make_feature(axis_point(chain, &target->u, target->t), target->u.z, feature, &azimuth);
    for (int entry = 0; entry < PZ_ARM_TABLE; ++entry) {
        double sum = 0.0;
        for (int k = 0; k < 5; ++k) {
            double d = feature[k] - table->feature[entry][k];
            sum += d * d;
        }
        // what the first joint would have to turn beyond its limits
        double excess = max2(fabs(shortest_turn(azimuth - table->azimuth[entry])) - half, 0.0);
        table->distance[entry] = sum + 2.0 * excess * excess;
    }
    table->aim = azimuth;
}

static int next_nearest(pz_arm_table *table)
{
    int nearest = 0;
    for (int entry = 1; entry < PZ_ARM_TABLE; ++entry) {
        nearest = table->distance[entry] < table->distance[nearest] ? entry : nearest;
    }
    table->distance[nearest] = INFINITY;
    return nearest;
}

// Turn of the frame d about a that brings it nearest to u: the largest of sum u_k . (R d_k) over R about a is at the angle
// atan2(sum a . (d_k x u_k), sum d_k . u_k - (a . d_k)(a . u_k)). For a = z of the frame the third term of each sum is 0.
static double best_turn(const mat3 *d, const mat3 *u)
{
    double sine = v3_dot(d->z, v3_add(v3_cross(d->x, u->x), v3_cross(d->y, u->y)));
    return pz_atan2(sine, v3_dot(d->x, u->x) + v3_dot(d->y, u->y));
}

void pz_arm_table_next(const pz_arm_chain *chain, const pz_arm_target *target, pz_arm_table *table, double *q)
{
    int entry = next_nearest(table), last = chain->n - 1;
    memcpy(q, table->q[entry], (size_t)chain->n * sizeof *q);
    q[0] = clamp(q[0] + shortest_turn(table->aim - table->azimuth[entry]), chain->lower[0], chain->upper[0]);
    arm_frames frames;
    arm_forward(chain, chain->n, true, ARM_ALONE, q, &frames);
    q[last] = clamp(q[last] + best_turn(&frames.d, &target->u), chain->lower[last], chain->upper[last]);
}

// Where search number m begins: the caller's start, then entries of the table, then the sequence.
static void arm_start_search(const poise_solver *solver, pz_arm_call *call, int m)
{
    double q[PZ_ARM_MOST];
    const pz_arm_chain *chain = call->chain;
    int from_table = call->table ? PZ_ARM_NEAR : 0;
    if (m == 1 && from_table > 0) {
        pz_arm_table_aim(chain, &call->target, call->table);
    }
    if (m > 0 && m <= from_table) {
        pz_arm_table_next(chain, &call->target, call->table, q);
    } else if (m > 0) {
        arm_restart(chain, pz_arm_first_start(solver->problem->seed) + m - from_table, q);
    }
    arm_begin(chain, chain->n, m == 0 ? call->q_start : q, &call->run);
}

void pz_arm_begin_search(const poise_solver *solver, pz_arm_call *call)
{
    arm_start_search(solver, call, call->search);
}

// ---- One search ----------------------------------------------------------------------------------------------------------

// Instances for the usual arms: constant n lets the loops unroll, which takes a quarter off an iteration.
bool pz_arm_search(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    if (chain->is_wide && !chain->slides && chain->n >= 6) {
        return pz_arm_search_wide(chain, target, most, run);
    }
    switch (chain->slides ? 0 : chain->n) {
    case 3:
        return arm_search(chain, target, most, run, 3, false);
    case 4:
        return arm_search(chain, target, most, run, 4, false);
    case 5:
        return arm_search(chain, target, most, run, 5, false);
    case 6:
        return arm_search(chain, target, most, run, 6, false);
    case 7:
        return arm_search(chain, target, most, run, 7, false);
    case 8:
        return arm_search(chain, target, most, run, 8, false);
    default:
        return arm_search(chain, target, most, run, chain->n, true);
    }
}

// ---- A search with tolerance bands ---------------------------------------------------------------------------------------

// Gauss-Newton over the residuals beyond the bands.
//
// Along the axes T_a of the target, with dead() the part of a number beyond its tolerance,
//
//   rho_a = dead(T_a . r)        row:  T_a . J_i                         for a = x, y, z
//   rho_k = dead(e_k)            row:  A_k . a_i                         e = 2 vec(conj(target) frame), goal/orientation.c
//
// and no row where the band holds. The step minimises |rho + K^T x|^2 + lambda |x|^2, K the n x 6 matrix of rows; search,
// limits and damping are those of the other search. What this leaves is finished by the general method.
typedef struct banded_point {
    arm_frames frames;
    double rho[6];
    mat3 position; // rows of the position, as columns; 0 where the band holds
    mat3 rotation; // the same of the rotation
    double r, e;   // |rho|^2 of each
} banded_point;

static vec3 banded_beyond(vec3 x, vec3 tolerance)
{
    return v3(pz_dead_zone(x.x, tolerance.x), pz_dead_zone(x.y, tolerance.y), pz_dead_zone(x.z, tolerance.z));
}

// The columns of M whose component of x is beyond its tolerance.
static mat3 banded_active(const mat3 *M, vec3 x, vec3 tolerance)
{
    vec3 none = {0, 0, 0};
    return (mat3){fabs(x.x) >= tolerance.x ? M->x : none, fabs(x.y) >= tolerance.y ? M->y : none,
                  fabs(x.z) >= tolerance.z ? M->z : none};
}

static void banded_evaluate(const pz_arm_chain *chain, const pz_arm_target *target, const double *q, banded_point *at)
{
    arm_forward(chain, chain->n, true, ARM_ALONE, q, &at->frames);
    vec3 r = m3_apply_transposed(&target->u, v3_sub(at->frames.p, target->t)), left = banded_beyond(r, target->tolerance);
    at->position = banded_active(&target->u, r, target->tolerance);

    mat3 frame = m3_mul(&at->frames.d, &chain->tail);
    quat turn = quat_mul(quat_conj(target->turn), quat_from_matrix(&frame));
    double sign = turn.w < 0 ? -1.0 : 1.0, w = sign * turn.w;
    vec3 v = v3_scale(quat_vec(turn), sign), e = v3_scale(v, 2.0), turned = banded_beyond(e, target->rotation_tolerance);
    mat3 A = {m3_apply(&target->u, v3(w, v.z, -v.y)), m3_apply(&target->u, v3(-v.z, w, v.x)),
              m3_apply(&target->u, v3(v.y, -v.x, w))};
    at->rotation = banded_active(&A, e, target->rotation_tolerance);

    at->rho[0] = left.x;
    at->rho[1] = left.y;
    at->rho[2] = left.z;
    at->rho[3] = turned.x;
    at->rho[4] = turned.y;
    at->rho[5] = turned.z;
    at->r = v3_dot(left, left);
    at->e = v3_dot(turned, turned);
}

static double dot6(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// The rows of one joint, cleared where it is held at a limit.
static void banded_rows(const pz_arm_chain *chain, const banded_point *at, const pz_arm_run *run, int i, double *K)
{
    arm_column column = arm_column_of(chain, true, &at->frames, i);
    vec3 p = m3_apply_transposed(&at->position, column.J), t = m3_apply_transposed(&at->rotation, column.a);
    K[0] = p.x;
    K[1] = p.y;
    K[2] = p.z;
    K[3] = t.x;
    K[4] = t.y;
    K[5] = t.z;
    bool held = arm_is_held(run->side[i], dot6(K, at->rho));
    for (int k = 0; held && k < 6; ++k) {
        K[k] = 0.0;
    }
}

// x = -K (K^T K + lambda I)^-1 rho, 6 x 6.
static void banded_step(int n, double (*K)[6], const double *rho, double lambda, double *x)
{
    double A[6][8], y[6];
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b <= a; ++b) {
            double sum = 0.0;
            for (int i = 0; i < n; ++i) {
                sum += K[i][a] * K[i][b];
            }
            A[a][b] = A[b][a] = sum;
        }
        A[a][a] += lambda;
        A[a][6] = -rho[a];
    }
    arm_eliminate(6, A);
    for (int a = 0; a < 6; ++a) {
        y[a] = A[a][6];
    }
    for (int i = 0; i < n; ++i) {
        x[i] = dot6(K[i], y);
    }
}

bool pz_arm_search_banded(const pz_arm_chain *chain, const pz_arm_target *target, int most, pz_arm_run *run)
{
    banded_point at;
    arm_progress progress = arm_progress_begin();
    arm_joints joints = arm_joints_of(run);
    double lambda = 0.0;
    for (;;) {
        banded_evaluate(chain, target, run->q, &at);
        double f = 0.5 * (at.r + at.e), cost = 0.5 * (target->W * at.r + at.e);
        bool met = (at.r <= target->most_r && at.e <= target->most_e) || cost <= target->cost;
        arm_note_iterate(progress.k, at.r, 0.5 * at.e, cost, lambda, run);
        if (arm_ends(&progress, f, met, most)) {
            run->f = f;
            run->r = at.r;
            run->e = 0.5 * at.e;
            run->iterations += (int)progress.k - 1;
            run->evaluations += (int)progress.k;
            return met;
        }
        lambda = arm_damping(f);
        double K[PZ_ARM_MOST][6], x[PZ_ARM_MOST];
        run->slope = run->longest = 0.0;
        for (int i = 0; i < chain->n; ++i) {
            banded_rows(chain, &at, run, i, K[i]);
            run->slope = max2(run->slope, fabs(dot6(K[i], at.rho)));
        }
        banded_step(chain->n, K, at.rho, lambda, x);
        run->longest = pz_largest(x, chain->n);
        arm_move(chain, chain->n, true, x, &joints);
    }
}

// ---- Descent -------------------------------------------------------------------------------------------------------------

pz_arm_end pz_arm_finish(const pz_arm_chain *chain, const pz_arm_target *target, bool zero, int most, pz_arm_run *run)
{
    if (chain->n == 6 && !chain->slides) {
        return arm_descend(chain, target, zero, most, run, 6, false);
    }
    if (chain->n == 7 && !chain->slides) {
        return arm_descend(chain, target, zero, most, run, 7, false);
    }
    return arm_descend(chain, target, zero, most, run, chain->n, true);
}

static void measure_run(const pz_arm_chain *chain, const pz_arm_target *target, pz_arm_run *run)
{
    arm_point point;
    arm_evaluate_point(chain, target, chain->n, true, run, target->W, &point);
    arm_note(chain, chain->n, true, &point.frames, &point.error, target, true, run);
}

double pz_arm_derivatives(const pz_arm_chain *chain, const pz_arm_target *target, double W, const double *q, double *g,
                          double (*H)[PZ_ARM_MOST])
{
    static const double inside[PZ_ARM_MOST] = {0};
    arm_frames frames;
    arm_model model;
    int n = chain->n;
    arm_error error = arm_evaluate(chain, n, true, q, target, &frames);
    arm_make_columns(chain, n, true, &frames, &error, W, inside, &model);
    arm_make_exact(n, &frames, &error, target, W, &model);
    memcpy(g, model.g, (size_t)n * sizeof *g);
    for (int i = 0; i < n; ++i) {
        memcpy(H[i], model.exact[i], (size_t)(i + 1) * sizeof H[i][0]);
    }
    return 0.5 * W * error.rr + error.e;
}

// ---- The searches of a call ----------------------------------------------------------------------------------------------

// The chain's coordinates put into a configuration of the model.
static void set_configuration(const poise_solver *solver, const pz_arm_chain *chain, const double *q, double *configuration)
{
    memcpy(configuration, solver->problem->q_start, (size_t)solver->model->nq * sizeof *configuration);
    for (int i = 0; i < chain->n; ++i) {
        configuration[chain->q[i]] = q[i];
    }
}

// Of the iterations recorded since `first`, only those count as accepted that came closer than all before.
static void arm_judge_trace(const poise_solver *solver, pz_arm_run *run, int first)
{
    for (int i = first; i < solver->answer->report.traced; ++i) {
        poise_trace *record = &solver->options.trace[i];
        double f = record->cost / solver->problem->goals[0].rotation_weight;
        record->accepted = record->accepted && f < run->best;
        run->best = min2(run->best, f);
    }
}

// The general method from run->q, for goals with bands.
static pz_arm_end descend_generally(poise_solver *solver, pz_arm_call *call)
{
    int traced = solver->answer->report.traced;
    set_configuration(solver, call->chain, call->run.q, solver->q_try);
    poise_outcome outcome = pz_solver_run_from(solver, solver->q_try).outcome;
    arm_judge_trace(solver, &call->run, traced);
    for (int i = 0; i < call->chain->n; ++i) {
        call->run.q[i] = solver->at->kin.q[call->chain->q[i]];
    }
    return outcome == POISE_OUTCOME_REACHED   ? PZ_ARM_MET
           : outcome == POISE_OUTCOME_CLOSEST ? PZ_ARM_CLOSEST
           : outcome == POISE_OUTCOME_STALLED ? PZ_ARM_STALLED
                                              : PZ_ARM_BUDGET;
}

// Look for a zero from where the run is, within the limits of `chain`, which is the call's or the same without limits.
static bool arm_search_zero(const pz_arm_chain *chain, int max_iterations, pz_arm_call *call)
{
    int most = pz_arm_search_most(max_iterations);
    return call->target.has_band ? pz_arm_search_banded(chain, &call->target, most, &call->run)
                                 : pz_arm_search(chain, &call->target, most, &call->run);
}

bool pz_arm_finish_search(const pz_arm_chain *chain, const pz_arm_target *target, int max_iterations, pz_arm_run *run)
{
    return !target->has_band && pz_arm_is_near_zero(run) &&
           pz_arm_finish(chain, target, true, pz_arm_finish_most(max_iterations), run) == PZ_ARM_MET;
}

static bool arm_finish_search(const poise_solver *solver, pz_arm_call *call, bool met)
{
    return met || pz_arm_finish_search(call->chain, &call->target, solver->options.max_iterations, &call->run);
}

static void count_search(poise_solver *solver, const pz_arm_call *call, int m)
{
    if (m == 0) {
        double f = 0.5 * call->target.W * call->run.first_r + call->run.first_e;
        solver->answer->report.start_cost = solver->problem->goals[0].rotation_weight * f;
    }
    solver->answer->report.restarts = m;
}

// Would the caller keep this answer, as it would be handed out?
static bool arm_is_accepted(poise_solver *solver, pz_arm_call *call)
{
    if (!solver->problem->accepts) {
        return true;
    }
    arm_turn_back(call->chain, call->chain->n, call->q_start, call->run.q);
    set_configuration(solver, call->chain, call->run.q, solver->q_try);
    return solver->problem->accepts(solver, solver->q_try);
}

bool pz_arm_end_search(poise_solver *solver, pz_arm_call *call, bool met)
{
    call->met = arm_finish_search(solver, call, met) && arm_is_accepted(solver, call);
    count_search(solver, call, call->search);
    if (call->met) {
        return true;
    }
    arm_keep_end(call);
    call->search += 1;
    return call->search > call->last_search;
}

// ---- Beyond the limits ---------------------------------------------------------------------------------------------------
//
// Answers in a corner of the limits: what is tried when every search has missed.
//
// A search clamps joints on its way, so that an answer with several joints at their limits is found from few starts only.
// What the others end in looks like it: another branch of the same pose that misses a limit by little, from which descent
// leads nowhere. Of poses with all joints at limits, as robots are parked and shipped, 30 searches miss one in fifty to one
// in four, by the arm.
//
// Without limits every branch is found from many starts. So zeros are searched without them, and each is brought inside:
// hinges by whole turns as near to the middle of their interval as they come, what is still outside to its limit, and from
// there by a search within the limits. A zero that lies within them, be it in a corner, is all but met where that begins.
//
// Up to six joints leave isolated zeros, sixteen at most (E. J. F. Primrose, "On the input-output equation of the general
// 7R-mechanism", 1986). When each was found several times, all are known, and none lies within the limits. Where joints are
// left over the zeros are a surface: clamping leaves it, a search without limits returns to it, and by turns they come to
// where it meets the limits, if they converge (von Neumann's alternating projections); that there is none is never known.
// Such a surface may meet the limits in a corner alone, and seven joints have but 128: searches begin there, too.

#define BEYOND_PROJECTIONS 8    // onto the limits, from one zero
#define BEYOND_CONVERGES   0.9  // what a projection may leave of the way that the one before had to go
#define BEYOND_INSIDE      1e-9 // of that way, in radians or lengths over L: there is nothing to return for

#define ZERO_MOST    16   // isolated ones
#define ZERO_SAME    1e-2 // radians, or lengths over L, between finds of one zero: near a singularity they differ
#define ZERO_TRIES   2    // finds of one zero that are brought inside
#define ZERO_KNOWN   20   // finds of each zero, when all are known
#define ZERO_OUTSIDE 0.3 // radians, or lengths over L: near a zero that lies so near the limits there may be one within them

typedef struct zero {
    double q[PZ_ARM_MOST], far; // beyond the limits
    int finds;
} zero;

typedef struct zeros {
    zero found[ZERO_MOST];
    int count;
    bool are_isolated; // and no more than there is room for
} zeros;

static bool are_same_zero(const pz_arm_chain *chain, const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < chain->n; ++i) {
        double apart = (a[i] - b[i]) / chain->rate[i];
        apart -= chain->turn[i] != 0 ? PZ_TWO_PI * arm_round(apart / PZ_TWO_PI) : 0.0;
        most = max2(most, fabs(apart));
    }
    return most < ZERO_SAME;
}

// Count a find, which lies `far` beyond the limits. Returns how often its zero was found.
static int count_find(const pz_arm_chain *chain, const double *q, double far, zeros *all)
{
    int at = 0;
    while (at < all->count && !are_same_zero(chain, all->found[at].q, q)) {
        at += 1;
    }
    if (at == ZERO_MOST) {
        all->are_isolated = false;
        return 1;
    }
    if (at == all->count) {
        memcpy(all->found[at].q, q, sizeof all->found[at].q);
        all->found[at].far = far;
        all->found[at].finds = 0;
        all->count += 1;
    }
    return ++all->found[at].finds;
}

// Is every zero known, and outside of the limits?
static bool are_outside(const zeros *all)
{
    bool are_known = all->are_isolated;
    for (int k = 0; k < all->count; ++k) {
        are_known = are_known && all->found[k].finds >= ZERO_KNOWN && all->found[k].far > ZERO_OUTSIDE;
    }
    return are_known;
}

static pz_arm_chain without_limits(const pz_arm_chain *chain)
{
    pz_arm_chain open = *chain;
    for (int i = 0; i < chain->n; ++i) {
        open.lower[i] = -INFINITY;
        open.upper[i] = INFINITY;
    }
    return open;
}

// Look for a zero from q, within the limits of `chain`.
static bool search_from(const pz_arm_chain *chain, const double *q, int max_iterations, pz_arm_call *call)
{
    arm_open(chain, chain->n, q, &call->run);
    arm_begin(chain, chain->n, q, &call->run);
    return arm_search_zero(chain, max_iterations, call) ||
           pz_arm_finish_search(chain, &call->target, max_iterations, &call->run);
}

// The zero in the run moved inside the limits, into q. Returns how far the joint farthest outside was moved.
static double arm_bring_inside(const pz_arm_chain *chain, pz_arm_run *run, double *q)
{
    double farthest = 0.0;
    arm_open(chain, chain->n, run->q, run);
    for (int i = 0; i < chain->n; ++i) {
        double x = run->q[i], middle = run->middle[i];
        bool is_inside = x >= chain->lower[i] && x <= chain->upper[i];
        x -= chain->turn[i] != 0 && !is_inside ? PZ_TWO_PI * arm_round((x - middle) / PZ_TWO_PI) : 0.0;
        q[i] = clamp(x, chain->lower[i], chain->upper[i]);
        farthest = max2(farthest, fabs(x - q[i]) / chain->rate[i]);
    }
    return farthest;
}

// From a zero without limits to one within: true when it is in the run.
static bool search_inside(const pz_arm_chain *open, int max_iterations, zeros *all, pz_arm_call *call)
{
    const pz_arm_chain *chain = call->chain;
    double found[PZ_ARM_MOST], q[PZ_ARM_MOST], before = INFINITY;
    memcpy(found, call->run.q, sizeof found);
    double far = arm_bring_inside(chain, &call->run, q);
    if (all->are_isolated && count_find(chain, found, far, all) > ZERO_TRIES) {
        return false;
    }
    for (int k = 1; !all->are_isolated && k < BEYOND_PROJECTIONS && far > BEYOND_INSIDE && far < BEYOND_CONVERGES * before;
         ++k) {
        if (!search_from(open, q, max_iterations, call)) {
            break;
        }
        before = far;
        far = arm_bring_inside(chain, &call->run, q);
    }
    return search_from(chain, q, max_iterations, call);
}

// From a corner of the limits: bit i of its number says which limit joint i is at.
static bool search_corner(int number, int max_iterations, pz_arm_call *call)
{
    const pz_arm_chain *chain = call->chain;
    double q[PZ_ARM_MOST];
    for (int i = 0; i < chain->n; ++i) {
        q[i] = clamp(chain->first[i] + (number >> i & 1 ? chain->span[i] : 0.0), chain->lower[i], chain->upper[i]);
    }
    return search_from(chain, q, max_iterations, call);
}

// How many searches beyond the limits a call may make: a solve without restarts, and a target out of reach, none.
static int count_beyond(const poise_solver_options *options, const pz_arm_call *call)
{
    int wanted = PZ_ARM_BEYOND_EACH * least(options->restarts, PZ_ARM_BEYOND_MOST / PZ_ARM_BEYOND_EACH);
    bool is_wanted = options->restarts > 0 && !arm_is_out_of_reach(call->chain, &call->target);
    return !is_wanted ? 0 : wanted < PZ_ARM_BEYOND_LEAST ? PZ_ARM_BEYOND_LEAST : wanted;
}

// Where searches missed, is the pose reached beyond the limits, or in a corner of them? Zeros without limits from points of
// the sequence, and from each one within the limits, until `keeps` says so of one: it is in call->run then.
static pz_arm_reach search_beyond(const poise_solver *solver, pz_arm_call *call,
                                  bool (*keeps)(void *context, pz_arm_call *call), void *context)
{
    const poise_solver_options *options = &solver->options;
    const pz_arm_chain *chain = call->chain;
    int count = count_beyond(options, call), first = pz_arm_first_start(solver->problem->seed) + call->last_search + 1;
    int most = options->max_iterations;
    pz_arm_chain open = without_limits(chain);
    zeros all = {.count = 0, .are_isolated = chain->n <= 6 && !call->target.has_band};
    pz_arm_reach reach = count > 0 ? PZ_ARM_NOWHERE : PZ_ARM_UNKNOWN;
    double nearest = INFINITY, best = call->run.best;
    bool is_clear = false;
    call->run.best = -INFINITY; // a trace calls no step accepted that leaves the limits
    for (int m = 0; m < count && !is_clear && reach != PZ_ARM_WITHIN_LIMITS; ++m) {
        double q[PZ_ARM_MOST];
        arm_restart(chain, first + m, q);
        if (!search_from(&open, q, most, call)) {
            nearest = min2(nearest, call->run.f);
        } else {
            reach = PZ_ARM_BEYOND_LIMITS;
            bool is_within = (search_inside(&open, most, &all, call) && keeps(context, call)) ||
                             (!all.are_isolated && search_corner(m, most, call) && keeps(context, call));
            reach = is_within ? PZ_ARM_WITHIN_LIMITS : PZ_ARM_BEYOND_LIMITS;
        }
        bool is_out = reach == PZ_ARM_NOWHERE && !(nearest < PZ_ARM_NEAR_ZERO);
        is_clear = m + 1 >= PZ_ARM_BEYOND_LEAST && (is_out || (reach == PZ_ARM_BEYOND_LIMITS && are_outside(&all)));
    }
    call->run.best = best;
    arm_open(chain, chain->n, call->q_start, &call->run);
    return reach == PZ_ARM_BEYOND_LIMITS && are_outside(&all) ? PZ_ARM_NOWHERE : reach;
}

static bool keeps_answer(void *context, pz_arm_call *call)
{
    return arm_is_accepted(context, call);
}

// ---- The closest pose ----------------------------------------------------------------------------------------------------

// The run as it was at an earlier point, with what was counted since.
static void return_to(const pz_arm_run *earlier, pz_arm_run *run)
{
    pz_arm_run now = *run;
    *run = *earlier;
    run->iterations = now.iterations;
    run->evaluations = now.evaluations;
    run->best = now.best;
}

pz_arm_end pz_arm_find_closest(pz_arm_call *call, bool only_near, pz_arm_minimise minimise, void *context)
{
    pz_arm_end end, best_end;
    double best = minimise(context, call, call->q_start, &best_end);
    pz_arm_run closest = call->run;
    for (int k = 0; k < call->end_count && !only_near && best_end != PZ_ARM_MET; ++k) {
        double cost = minimise(context, call, call->ends[k].q, &end);
        if (end == PZ_ARM_MET || cost < best) {
            best = cost;
            best_end = end;
            closest = call->run;
        }
    }
    return_to(&closest, &call->run);
    return best_end;
}

static double arm_minimise(void *context, pz_arm_call *call, const double *q, pz_arm_end *end)
{
    poise_solver *solver = context;
    arm_begin(call->chain, call->chain->n, q, &call->run);
    if (!call->target.has_band) {
        *end = pz_arm_finish(call->chain, &call->target, false, solver->options.max_iterations, &call->run);
        return pz_arm_cost(&call->target, &call->run);
    }
    *end = descend_generally(solver, call);
    return solver->at->cost / solver->problem->goals[0].rotation_weight;
}

// A warm start without restarts wants the closest pose near it. Otherwise the best ends of the searches are tried, too.
static pz_arm_end find_closest(poise_solver *solver, pz_arm_call *call)
{
    bool only_near = solver->options.restarts == 0 && solver->options.start == POISE_START_WARM;
    return pz_arm_find_closest(call, only_near, arm_minimise, solver);
}

// ---- The answer ----------------------------------------------------------------------------------------------------------

// The largest component of the projected gradient at the answer, per unit of a coordinate.
static double arm_slope_of(const pz_arm_call *call)
{
    const pz_arm_chain *chain = call->chain;
    double largest = 0.0;
    for (int i = 0; i < chain->n; ++i) {
        double q = call->run.q[i], g = call->run.g[i];
        bool held = (q <= chain->lower[i] && g >= 0) || (q >= chain->upper[i] && g <= 0);
        largest = held ? largest : max2(largest, chain->slides ? fabs(g) / chain->rate[i] : fabs(g));
    }
    return largest;
}

// Measure an answer without a band by the chain's own numbers, which are those of the general objective up to rounding:
// r is over L, energies are over rotation_weight. True when the goal is met.
static bool arm_is_reached(poise_solver *solver, const pz_arm_call *call)
{
    const poise_solver_options *options = &solver->options;
    poise_report *report = &solver->answer->report;
    double w = solver->problem->goals[0].rotation_weight;
    report->cost = w * pz_arm_cost(&call->target, &call->run);
    report->gradient = w * arm_slope_of(call);
    report->worst_length = call->chain->unit * sqrt(call->run.r);
    report->worst_angle = arm_angle(call->run.e);
    solver->answer->is_measured =
        (report->worst_length <= options->position_tolerance && report->worst_angle <= options->rotation_tolerance) ||
        report->cost <= solver->problem->cost_tolerance;
    return solver->answer->is_measured;
}

#define BESIDE 0.05 // radians beyond a limit, where standing at the limit may do as well

// Is a hinge more than half a turn from where it started?
static bool has_turned_far(const pz_arm_chain *chain, const double *q_start, const double *q)
{
    int far = 0;
    for (int i = 0; i < chain->n; ++i) {
        far += (chain->turn[i] != 0) & (fabs(q[i] - q_start[i]) > PZ_PI);
    }
    return far > 0;
}

// Hinges that are a whole turn from the start, only because next to it they would be a little beyond a limit, are
// put at that limit in q, and held on its side in `run`. False: there are none.
static bool clamp_to_near_limits(const pz_arm_chain *chain, const double *q_start, double *q, pz_arm_run *run)
{
    bool are_there = false;
    for (int i = 0; i < chain->n; ++i) {
        double near = turn_near(q[i], q_start[i]), side = near > q_start[i] ? 1.0 : -1.0;
        double limit = side > 0 ? chain->upper[i] : chain->lower[i];
        if (chain->turn[i] != 0 && fabs(q[i] - q_start[i]) > PZ_PI && fabs(near - limit) <= BESIDE) {
            q[i] = limit;
            run->lower[i] = min2(limit, limit - side);
            run->upper[i] = max2(limit, limit - side);
            run->middle[i] = limit - 0.5 * side;
            are_there = true;
        }
    }
    return are_there;
}

// An answer that lies at a limit, or within the tolerance of it, is not given up for one a whole turn away.
static void stay_at_limits(poise_solver *solver, pz_arm_call *call)
{
    pz_arm_run found = call->run;
    pz_arm_end end;
    double q[PZ_ARM_MOST];
    memcpy(q, found.q, sizeof q);
    if (!clamp_to_near_limits(call->chain, call->q_start, q, &call->run)) {
        return;
    }
    arm_minimise(solver, call, q, &end);
    arm_turn_back(call->chain, call->chain->n, call->q_start, call->run.q);
    if (end != PZ_ARM_MET || !arm_is_accepted(solver, call)) {
        return_to(&found, &call->run);
    }
}

// A pose is called the closest where none that meets the goal was missed, as far as was looked: not where limits alone are
// in the way, between which there may be one, nor so near the goal that ends of searches look like it.
static void doubt_closest(poise_solver *solver, const pz_arm_call *call)
{
    bool is_near = call->reach == PZ_ARM_NOWHERE && !call->target.has_band && 0.5 * call->run.r + call->run.e < BESIDE_ZERO;
    pz_end *end = &solver->answer->end;
    if (end->outcome == POISE_OUTCOME_CLOSEST && (is_near || call->reach == PZ_ARM_BEYOND_LIMITS)) {
        *end = (pz_end){POISE_OUTCOME_STALLED, is_near ? POISE_WHY_BESIDE : POISE_WHY_LIMITS};
    }
}

// The descent stops where the gradient vanishes, which may be a saddle: the general method looks for a way out of it, and
// goes on from there. Again where a limit is hardly pushed against, and a second look leads down from it.
static void arm_leave_saddle(poise_solver *solver)
{
    size_t size = (size_t)solver->model->nq * sizeof *solver->q_try;
    bool goes_on = true;
    memcpy(solver->q_try, solver->q_best, size);
    for (int k = 0; k < SADDLE_TRIES && goes_on; ++k) {
        memcpy(solver->q_best, solver->q_try, size);
        solver->answer->end = pz_solver_run_from(solver, solver->q_best);
        goes_on = solver->answer->end.outcome == POISE_OUTCOME_CLOSEST && pz_has_weak_bound(solver) && pz_is_refuted(solver);
    }
    memcpy(solver->q_best, solver->at->kin.q, size);
    if (goes_on) {
        solver->answer->end = (pz_end){POISE_OUTCOME_STALLED, POISE_WHY_REFUTED};
    }
}

static void arm_conclude(poise_solver *solver, pz_arm_call *call, pz_arm_end end)
{
    poise_report *report = &solver->answer->report;
    arm_turn_back(call->chain, call->chain->n, call->q_start, call->run.q);
    if (end == PZ_ARM_MET && !call->target.has_band && has_turned_far(call->chain, call->q_start, call->run.q)) {
        stay_at_limits(solver, call);
    }
    set_configuration(solver, call->chain, call->run.q, solver->q_best);
    report->iterations += call->run.iterations;
    report->evaluations += call->run.evaluations;
    if (end == PZ_ARM_MET && !call->target.has_band && arm_is_reached(solver, call)) {
        solver->answer->end = pz_reached;
        return;
    }
    pz_try(solver, solver->q_best, POISE_LEVEL_HESSIAN);
    pz_accept(solver);
    pz_refresh_diagonal(solver);
    if (pz_is_done(solver, &solver->answer->end)) {
        if (solver->answer->end.outcome == POISE_OUTCOME_CLOSEST) {
            arm_leave_saddle(solver);
        }
        doubt_closest(solver, call);
        return;
    }
    solver->answer->end = end == PZ_ARM_BUDGET    ? pz_used_up
                          : end == PZ_ARM_CLOSEST ? (pz_end){POISE_OUTCOME_CLOSEST, POISE_WHY_CLOSEST}
                                                  : pz_stalled;
    doubt_closest(solver, call);
}

void pz_arm_conclude(poise_solver *solver, pz_arm_call *call)
{
    if (!call->met) {
        call->reach = search_beyond(solver, call, keeps_answer, solver);
        call->met = call->reach == PZ_ARM_WITHIN_LIMITS;
    }
    arm_conclude(solver, call, call->met ? PZ_ARM_MET : find_closest(solver, call));
}

bool pz_arm_solve(poise_solver *solver, pz_arm *arm)
{
    if (!arm || !pz_arm_prepare(solver, arm, &arm->own)) {
        return false;
    }
    pz_arm_call *call = &arm->own;
    bool met;
    do {
        pz_arm_begin_search(solver, call);
        met = arm_search_zero(call->chain, solver->options.max_iterations, call);
    } while (!pz_arm_end_search(solver, call, met));
    pz_arm_conclude(solver, call);
    return true;
}

// ---- All solutions -------------------------------------------------------------------------------------------------------

static double distance_of(const poise_solver *solver, const pz_arm_chain *chain, const double *q)
{
    double sum = 0.0;
    for (int i = 0; i < chain->n; ++i) {
        double d = q[chain->q[i]] - solver->problem->q_start[chain->q[i]];
        sum += d * d;
    }
    return sum;
}

// The same but for whole turns of hinges? An angle of pi is one of -pi.
static bool arm_are_alike(const pz_arm_chain *chain, const double *a, const double *b)
{
    for (int i = 0; i < chain->n; ++i) {
        int q = chain->q[i];
        double apart = a[q] - b[q];
        apart -= chain->turn[i] == 0 ? 0.0 : PZ_TWO_PI * arm_round(apart / PZ_TWO_PI);
        if (fabs(apart) > ALIKE * chain->rate[i]) {
            return false;
        }
    }
    return true;
}

// Put the solution `found` among the rows, nearest first, unless it is there or the rows are full of nearer ones.
static void add_solution(const poise_solver *solver, const pz_arm_chain *chain, const double *found, double *rows,
                         int capacity, int *count)
{
    size_t nq = (size_t)solver->model->nq;
    double distance = distance_of(solver, chain, found);
    int at = 0;
    for (int k = 0; k < *count; ++k) {
        if (arm_are_alike(chain, found, rows + (size_t)k * nq)) {
            return;
        }
        at += distance_of(solver, chain, rows + (size_t)k * nq) <= distance;
    }
    if (at == capacity) {
        return;
    }
    *count = least(*count + 1, capacity);
    memmove(rows + (size_t)(at + 1) * nq, rows + (size_t)at * nq, (size_t)(*count - 1 - at) * nq * sizeof *rows);
    memcpy(rows + (size_t)at * nq, found, nq * sizeof *rows);
}

// Search from where the run is, to far below the tolerance so that two finds of one solution are alike.
static bool find_sharply(poise_solver *solver, pz_arm_call *call)
{
    pz_arm_target wanted = call->target;
    call->target.most_r = min2(wanted.most_r, POLISHED * POLISHED);
    call->target.most_e = min2(wanted.most_e, POLISHED * POLISHED);
    bool met = arm_finish_search(solver, call, arm_search_zero(call->chain, solver->options.max_iterations, call));
    call->target = wanted;
    return met || (call->run.r <= wanted.most_r && 2.0 * call->run.e <= wanted.most_e);
}

// The solutions found so far.
typedef struct solution_rows {
    poise_solver *solver;
    double *rows;
    int capacity, count;
} solution_rows;

static void add_run(solution_rows *found, pz_arm_call *call)
{
    poise_solver *solver = found->solver;
    arm_turn_back(call->chain, call->chain->n, call->q_start, call->run.q);
    set_configuration(solver, call->chain, call->run.q, solver->q_try);
    add_solution(solver, call->chain, solver->q_try, found->rows, found->capacity, &found->count);
}

// One from beyond the limits; others may follow.
static bool adds_solution(void *context, pz_arm_call *call)
{
    solution_rows *found = context;
    if (find_sharply(found->solver, call)) {
        add_run(found, call);
    }
    return false;
}

static int find_all(poise_solver *solver, pz_arm_call *call, double *solutions, int capacity)
{
    const pz_arm_chain *chain = call->chain;
    solution_rows all = {solver, solutions, capacity, 0};
    for (int m = 0; m <= solver->options.restarts; ++m) {
        arm_start_search(solver, call, m);
        if (find_sharply(solver, call)) {
            add_run(&all, call);
        } else {
            arm_keep_end(call);
        }
        count_search(solver, call, m);
    }
    call->reach = search_beyond(solver, call, adds_solution, &all);
    if (all.count > 0) {
        for (int i = 0; i < chain->n; ++i) {
            call->run.q[i] = solutions[chain->q[i]];
        }
        measure_run(chain, &call->target, &call->run);
    }
    arm_conclude(solver, call, all.count > 0 ? PZ_ARM_MET : find_closest(solver, call));
    return all.count;
}

// The chain is made with locked joints where the start has them, and not kept: the next start may have them elsewhere.
bool pz_arm_solve_all(poise_solver *solver, double *solutions, int capacity, int *count)
{
    pz_arm *arm = solver->arm;
    if (!arm || !goal_fits(solver)) {
        return false;
    }
    if (solver->options.locked) {
        pz_kin_sweep(&solver->trial->kin, solver->problem->q_start);
        make_chain(solver, arm, solver->problem->goals, &solver->trial->kin);
    }
    bool fits = pz_arm_prepare(solver, arm, &arm->own);
    if (fits) {
        *count = find_all(solver, &arm->own, solutions, capacity);
    }
    arm->body = solver->options.locked ? -1 : arm->body;
    return fits;
}
