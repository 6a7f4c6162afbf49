// A pose goal on an arm, from start to answer: searches, the closest pose where they fail, the report.
//
//   take the goal      the chain in its normal form (arm_chain.c), the target in the frame of its first joint
//   search             from the caller's start, then from entries of a table and from an even sequence, for a zero of the
//                      pose error (arm_kernel.h); what comes near one is finished by descent (arm_descent.h)
//   look beyond        where all searches missed: zeros without limits, brought inside (arm_beyond.c)
//   descend            to the closest pose, from the best ends
//   answer             hinges turned back, errors and cost into the report, what is called closest doubted once more
//
// A batch does the same for many problems, whose searches run side by side (batch/).
#include "num/trig.h"
#include "solve/arm_descent.h"
#include "solve/methods.h"

#define MARGIN      0.9999 // of the tolerances: what another order of the same sums may make of the error
#define ALIKE       1e-3   // radians, or lengths over L: solutions are the same when no joint differs by more
#define FARTHEST    1e300  // of the energy: nothing overflows on the way
#define LOOKS       3      // at a pose that is called closest
#define BESIDE_ZERO 1e-5   // energy of a closest pose that may be one that searches missed
#define POLISHED    1e-9   // error to which solutions are brought that are compared

struct pz_arm {
    int body; // what the chain was made for; -1: nothing
    poise_pose local;
    bool fits;    // it could be made
    double chord; // 2 sin of half the rotation tolerance
    pz_arm_chain chain;
    pz_arm_call *call;   // the current one
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
    const poise_solver_options *options = &run->trace->options;
    poise_report *report = &run->trace->report;
    double weight = run->trace->goals[0].rotation_weight;
    if (report->traced < options->trace_capacity) {
        options->trace[report->traced++] = (poise_trace){.cost = pz_finite(weight * f),
                                                         .gradient = pz_finite(weight * run->slope),
                                                         .damping = pz_finite(damping),
                                                         .step = pz_finite(run->longest),
                                                         .accepted = f < run->best,
                                                         .exact = exact};
    }
    run->best = min2(run->best, f);
}

// ---- Is this a problem for an arm? ---------------------------------------------------------------------------------------

bool pz_arm_options_fit(const poise_solver_options *options)
{
    return options->prior == 0 && options->max_iterations > 0 && !is_finite(options->step_limit) && options->damping == 0;
}

static bool goal_fits(const poise_solver *solver)
{
    const poise_goal *goal = solver->goals;
    return solver->goal_count == 1 && goal->kind == POISE_GOAL_POSE && goal->weight > 0 && goal->rotation_weight > 0 &&
           goal->loss == POISE_LOSS_NONE;
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

double pz_arm_square(double tolerance, double size)
{
    double rounding = 16.0 * PZ_EPSILON * size;
    double t = max2(MARGIN * tolerance - rounding, rounding);
    return t * t;
}

// False when a number overflows: that is left to the general path.
static bool make_target(const poise_solver *solver, pz_arm *arm)
{
    const poise_goal *goal = solver->goals;
    const poise_solver_options *options = &solver->options;
    const pz_arm_chain *chain = &arm->chain;
    pz_arm_target *target = &arm->call->target;
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
    target->cost = MARGIN * options->cost_tolerance / goal->rotation_weight;
    target->stationary = options->gradient_tolerance;
    double farthest = v3_dot(target->t, target->t) + chain->size * chain->size;
    return max2(target->W, 1.0) * farthest < FARTHEST; // W may underflow to 0: the search has its own
}

const pz_arm_chain *pz_arm_prepare(poise_solver *solver, pz_arm_call *call)
{
    pz_arm *arm = solver->arm;
    if (!arm || !pz_arm_options_fit(&solver->options) || !goal_fits(solver) ||
        !pz_arm_make_chain(solver, arm, solver->goals)) {
        return NULL;
    }
    arm->call = call;
    if (!make_target(solver, arm)) {
        return NULL;
    }
    const pz_arm_chain *chain = &arm->chain;
    for (int i = 0; i < chain->n; ++i) {
        call->q_start[i] = solver->q_start[chain->q[i]];
    }
    call->run.iterations = call->run.evaluations = 0;
    call->run.best = INFINITY;
    call->run.trace = solver->options.trace && solver->options.trace_capacity > 0 ? solver : NULL;
    call->end_count = call->search = 0;
    call->last_search = arm_last_search(chain, &call->target, solver->options.restarts);
    call->met = false;
    call->reach = PZ_ARM_UNKNOWN;
    arm_open(chain, chain->n, call->q_start, &call->run);
    return chain;
}

void pz_arm_take_up(poise_solver *solver, pz_arm_call *call)
{
    solver->arm->call = call;
}

// ---- Where searches begin ------------------------------------------------------------------------------------------------

// First the caller's start, then entries of a table, near the target, then an even sequence over the limits (arm_chain.c).
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
    pz_arm_sequence(&inner);
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

static int take_nearest(pz_arm_table *table)
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
    int entry = take_nearest(table), last = chain->n - 1;
    memcpy(q, table->q[entry], (size_t)chain->n * sizeof *q);
    q[0] = clamp(q[0] + shortest_turn(table->aim - table->azimuth[entry]), chain->lower[0], chain->upper[0]);
    arm_frames frames;
    arm_forward(chain, chain->n, true, ARM_ALONE, q, &frames);
    q[last] = clamp(q[last] + best_turn(&frames.d, &target->u), chain->lower[last], chain->upper[last]);
}

// Where search number m begins: the caller's start, then entries of the table, then the sequence.
static void begin_search(const poise_solver *solver, pz_arm *arm, int m)
{
    double q[PZ_ARM_MOST];
    pz_arm_call *call = arm->call;
    int from_table = arm->has_table && !call->target.has_band ? PZ_ARM_NEAR : 0;
    if (m == 1 && from_table > 0) {
        pz_arm_table_aim(&arm->chain, &call->target, arm->table);
    }
    if (m > 0 && m <= from_table) {
        pz_arm_table_next(&arm->chain, &call->target, arm->table, q);
    } else if (m > 0) {
        arm_restart(&arm->chain, pz_arm_first_start(solver->options.seed) + m - from_table, q);
    }
    arm_begin(&arm->chain, arm->chain.n, m == 0 ? call->q_start : q, &call->run);
}

void pz_arm_begin_search(const poise_solver *solver)
{
    begin_search(solver, solver->arm, solver->arm->call->search);
}

// ---- A search for a zero -------------------------------------------------------------------------------------------------

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

static void banded_look(const pz_arm_chain *chain, const pz_arm_target *target, const double *q, banded_point *at)
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

    at->rho[0] = left.x, at->rho[1] = left.y, at->rho[2] = left.z;
    at->rho[3] = turned.x, at->rho[4] = turned.y, at->rho[5] = turned.z;
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
    K[0] = p.x, K[1] = p.y, K[2] = p.z, K[3] = t.x, K[4] = t.y, K[5] = t.z;
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
        banded_look(chain, target, run->q, &at);
        double f = 0.5 * (at.r + at.e), cost = 0.5 * (target->W * at.r + at.e);
        bool met = (at.r <= target->most_r && at.e <= target->most_e) || cost <= target->cost;
        arm_note_iterate(progress.k, at.r, 0.5 * at.e, cost, lambda, run);
        if (arm_ends(&progress, f, met, most)) {
            run->f = f, run->r = at.r, run->e = 0.5 * at.e;
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

void pz_arm_measure(const pz_arm_chain *chain, const pz_arm_target *target, pz_arm_run *run)
{
    arm_point point;
    arm_look_at(chain, target, chain->n, true, run, target->W, &point);
    arm_note(chain, chain->n, true, &point.frames, &point.error, target, true, run);
}

double pz_arm_derivatives(const pz_arm_chain *chain, const pz_arm_target *target, double W, const double *q, double *g,
                          double (*H)[PZ_ARM_MOST])
{
    static const double inside[PZ_ARM_MOST] = {0};
    arm_frames frames;
    arm_model model;
    int n = chain->n;
    arm_error error = arm_look(chain, n, true, q, target, &frames);
    arm_make_columns(chain, n, true, &frames, &error, W, inside, &model);
    arm_make_exact(n, &frames, &error, target, W, &model);
    memcpy(g, model.g, (size_t)n * sizeof *g);
    for (int i = 0; i < n; ++i) {
        memcpy(H[i], model.exact[i], (size_t)(i + 1) * sizeof H[i][0]);
    }
    return 0.5 * W * error.rr + error.e;
}

// ---- Searches ------------------------------------------------------------------------------------------------------------

// The chain's coordinates put into a configuration of the model.
static void put(const poise_solver *solver, const pz_arm *arm, const double *q, double *configuration)
{
    memcpy(configuration, solver->q_start, (size_t)solver->model->nq * sizeof *configuration);
    for (int i = 0; i < arm->chain.n; ++i) {
        configuration[arm->chain.q[i]] = q[i];
    }
}

// Of the iterations recorded since `first`, only those count as accepted that came closer than all before.
static void judge_trace(const poise_solver *solver, pz_arm_run *run, int first)
{
    for (int i = first; i < solver->report.traced; ++i) {
        poise_trace *record = &solver->options.trace[i];
        double f = record->cost / solver->goals[0].rotation_weight;
        record->accepted = record->accepted && f < run->best;
        run->best = min2(run->best, f);
    }
}

// The general method from run->q, for goals with bands.
static pz_arm_end run_general(poise_solver *solver, pz_arm *arm)
{
    int traced = solver->report.traced;
    put(solver, arm, arm->call->run.q, solver->q_try);
    poise_outcome outcome = pz_solver_run_from(solver, solver->q_try);
    judge_trace(solver, &arm->call->run, traced);
    for (int i = 0; i < arm->chain.n; ++i) {
        arm->call->run.q[i] = solver->at->kin.q[arm->chain.q[i]];
    }
    return outcome == POISE_OUTCOME_REACHED   ? PZ_ARM_MET
           : outcome == POISE_OUTCOME_CLOSEST ? PZ_ARM_CLOSEST
           : outcome == POISE_OUTCOME_STALLED ? PZ_ARM_STALLED
                                              : PZ_ARM_BUDGET;
}

// Look for a zero from where the search begins.
static bool look_for_zero(const poise_solver *solver, pz_arm *arm)
{
    int most = pz_arm_search_most(solver->options.max_iterations);
    pz_arm_call *call = arm->call;
    return call->target.has_band ? pz_arm_search_banded(&arm->chain, &call->target, most, &call->run)
                                 : pz_arm_search(&arm->chain, &call->target, most, &call->run);
}

bool pz_arm_finish_search(const pz_arm_chain *chain, const pz_arm_target *target, int max_iterations, pz_arm_run *run)
{
    return !target->has_band && pz_arm_is_near_zero(run) &&
           pz_arm_finish(chain, target, true, pz_arm_finish_most(max_iterations), run) == PZ_ARM_MET;
}

static bool finish_search(const poise_solver *solver, pz_arm *arm, bool met)
{
    pz_arm_call *call = arm->call;
    return met || pz_arm_finish_search(&arm->chain, &call->target, solver->options.max_iterations, &call->run);
}

static void note_search(poise_solver *solver, const pz_arm_call *call, int m)
{
    if (m == 0) {
        double f = 0.5 * call->target.W * call->run.first_r + call->run.first_e;
        solver->report.start_cost = solver->goals[0].rotation_weight * f;
    }
    solver->report.restarts = m;
}

// Would the caller keep this answer, as it would be handed out?
static bool is_accepted(poise_solver *solver, pz_arm *arm)
{
    if (!solver->accepts) {
        return true;
    }
    arm_turn_back(&arm->chain, arm->chain.n, arm->call->q_start, arm->call->run.q);
    put(solver, arm, arm->call->run.q, solver->q_try);
    return solver->accepts(solver, solver->q_try);
}

bool pz_arm_end_search(poise_solver *solver, bool met)
{
    pz_arm_call *call = solver->arm->call;
    call->met = finish_search(solver, solver->arm, met) && is_accepted(solver, solver->arm);
    note_search(solver, call, call->search);
    if (call->met) {
        return true;
    }
    arm_keep_end(call);
    call->search += 1;
    return call->search > call->last_search;
}

// ---- The closest pose ----------------------------------------------------------------------------------------------------

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
    closest.iterations = call->run.iterations, closest.evaluations = call->run.evaluations, closest.best = call->run.best;
    call->run = closest;
    return best_end;
}

static double minimise(void *context, pz_arm_call *call, const double *q, pz_arm_end *end)
{
    poise_solver *solver = context;
    pz_arm *arm = solver->arm;
    arm_begin(&arm->chain, arm->chain.n, q, &call->run);
    if (!call->target.has_band) {
        *end = pz_arm_finish(&arm->chain, &call->target, false, solver->options.max_iterations, &call->run);
        return pz_arm_cost(&call->target, &call->run);
    }
    *end = run_general(solver, arm);
    return solver->at->cost / solver->goals[0].rotation_weight;
}

// A warm start without restarts wants the closest pose near it. Otherwise the best ends of the searches are tried, too.
static pz_arm_end find_closest(poise_solver *solver)
{
    bool only_near = solver->options.restarts == 0 && solver->options.start == POISE_START_WARM;
    return pz_arm_find_closest(solver->arm->call, only_near, minimise, solver);
}

// ---- Beyond the limits ---------------------------------------------------------------------------------------------------

// Where searches missed, is the pose reached beyond the limits, or in a corner of them? A solve without restarts does not
// ask.
static pz_arm_reach look_beyond(poise_solver *solver, bool (*keeps)(void *context), void *context)
{
    const poise_solver_options *options = &solver->options;
    const pz_arm_chain *chain = &solver->arm->chain;
    pz_arm_call *call = solver->arm->call;
    int wanted = PZ_ARM_BEYOND_EACH * least(options->restarts, PZ_ARM_BEYOND_MOST / PZ_ARM_BEYOND_EACH);
    bool looks = options->restarts > 0 && !arm_is_out_of_reach(chain, &call->target);
    int count = !looks ? 0 : wanted < PZ_ARM_BEYOND_LEAST ? PZ_ARM_BEYOND_LEAST : wanted;
    int first = pz_arm_first_start(options->seed) + call->last_search + 1;
    return pz_arm_look_beyond(chain, call, first, count, options->max_iterations, keeps, context);
}

static bool keeps_it(void *context)
{
    poise_solver *solver = context;
    return is_accepted(solver, solver->arm);
}

// ---- Answer --------------------------------------------------------------------------------------------------------------

// The largest component of the projected gradient at the answer, per unit of a coordinate.
static double slope_of(const pz_arm *arm)
{
    const pz_arm_call *call = arm->call;
    const pz_arm_chain *chain = &arm->chain;
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
static bool is_reached(poise_solver *solver, const pz_arm *arm)
{
    const pz_arm_call *call = arm->call;
    const poise_solver_options *options = &solver->options;
    poise_report *report = &solver->report;
    double w = solver->goals[0].rotation_weight;
    report->cost = w * pz_arm_cost(&call->target, &call->run);
    report->gradient = w * slope_of(arm);
    report->worst_length = arm->chain.unit * sqrt(call->run.r);
    report->worst_angle = arm_angle(call->run.e);
    solver->is_measured =
        (report->worst_length <= options->position_tolerance && report->worst_angle <= options->rotation_tolerance) ||
        report->cost <= options->cost_tolerance;
    return solver->is_measured;
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

// Hinges that are a whole turn from the start, only because next to it they would be a little beyond a limit, are put at
// that limit in q, and held on its side in `run`. False: there are none.
static bool put_at_limits(const pz_arm_chain *chain, const double *q_start, double *q, pz_arm_run *run)
{
    bool are_there = false;
    for (int i = 0; i < chain->n; ++i) {
        double near = turn_near(q[i], q_start[i]), side = near > q_start[i] ? 1.0 : -1.0;
        double limit = side > 0 ? chain->upper[i] : chain->lower[i];
        if (chain->turn[i] != 0 && fabs(q[i] - q_start[i]) > PZ_PI && fabs(near - limit) <= BESIDE) {
            q[i] = limit;
            run->lower[i] = min2(limit, limit - side), run->upper[i] = max2(limit, limit - side);
            run->middle[i] = limit - 0.5 * side;
            are_there = true;
        }
    }
    return are_there;
}

// An answer that lies at a limit, or within the tolerance of it, is not given up for one a whole turn away.
static void stay_at_limits(poise_solver *solver, pz_arm *arm)
{
    pz_arm_call *call = arm->call;
    pz_arm_run found = call->run;
    pz_arm_end end;
    double q[PZ_ARM_MOST];
    memcpy(q, found.q, sizeof q);
    if (!put_at_limits(&arm->chain, call->q_start, q, &call->run)) {
        return;
    }
    minimise(solver, call, q, &end);
    arm_turn_back(&arm->chain, arm->chain.n, call->q_start, call->run.q);
    if (end != PZ_ARM_MET || !is_accepted(solver, arm)) {
        found.iterations = call->run.iterations, found.evaluations = call->run.evaluations, found.best = call->run.best;
        call->run = found;
    }
}

// A pose is called the closest where none that meets the goal was missed, as far as was looked: not where limits alone are in
// the way, between which there may be one, nor so near the goal that ends of searches look like it.
static void doubt(poise_solver *solver, const pz_arm_call *call)
{
    bool is_near = call->reach == PZ_ARM_NOWHERE && !call->target.has_band && 0.5 * call->run.r + call->run.e < BESIDE_ZERO;
    if (solver->report.outcome == POISE_OUTCOME_CLOSEST && (is_near || call->reach == PZ_ARM_BEYOND_LIMITS)) {
        solver->report.outcome = POISE_OUTCOME_STALLED;
        solver->report.why = is_near ? POISE_WHY_BESIDE : POISE_WHY_LIMITS;
    }
}

// The descent stops where the gradient vanishes, which may be a saddle: the general method looks for a way out of it, and goes
// on from there. Again where a limit is hardly pushed against, and a second look leads down from it.
static void leave_saddle(poise_solver *solver)
{
    size_t size = (size_t)solver->model->nq * sizeof *solver->q_try;
    bool goes_on = true;
    memcpy(solver->q_try, solver->q_best, size);
    for (int k = 0; k < LOOKS && goes_on; ++k) {
        memcpy(solver->q_best, solver->q_try, size);
        solver->report.outcome = pz_solver_run_from(solver, solver->q_best);
        goes_on = solver->report.outcome == POISE_OUTCOME_CLOSEST && pz_has_weak_bound(solver) && pz_is_refuted(solver);
    }
    memcpy(solver->q_best, solver->at->kin.q, size);
    if (goes_on) {
        solver->report.outcome = POISE_OUTCOME_STALLED;
        solver->report.why = POISE_WHY_REFUTED;
    }
}

static void conclude(poise_solver *solver, pz_arm *arm, pz_arm_end end)
{
    pz_arm_call *call = arm->call;
    poise_report *report = &solver->report;
    arm_turn_back(&arm->chain, arm->chain.n, call->q_start, call->run.q);
    if (end == PZ_ARM_MET && !call->target.has_band && has_turned_far(&arm->chain, call->q_start, call->run.q)) {
        stay_at_limits(solver, arm);
    }
    put(solver, arm, call->run.q, solver->q_best);
    report->iterations += call->run.iterations;
    report->evaluations += call->run.evaluations;
    if (end == PZ_ARM_MET && !call->target.has_band && is_reached(solver, arm)) {
        report->outcome = POISE_OUTCOME_REACHED;
        report->why = POISE_WHY_REACHED;
        return;
    }
    pz_try(solver, solver->q_best, POISE_LEVEL_HESSIAN);
    pz_accept(solver);
    pz_refresh_diagonal(solver);
    if (pz_is_done(solver, &report->outcome)) {
        if (report->outcome == POISE_OUTCOME_CLOSEST) {
            leave_saddle(solver);
        }
        doubt(solver, call);
        return;
    }
    report->outcome = end == PZ_ARM_MET ? POISE_OUTCOME_STALLED : arm_outcome(end);
    report->why = end == PZ_ARM_BUDGET ? POISE_WHY_BUDGET : end == PZ_ARM_CLOSEST ? POISE_WHY_CLOSEST : POISE_WHY_STALLED;
    doubt(solver, call);
}

void pz_arm_conclude(poise_solver *solver)
{
    pz_arm_call *call = solver->arm->call;
    if (!call->met) {
        call->reach = look_beyond(solver, keeps_it, solver);
        call->met = call->reach == PZ_ARM_WITHIN_LIMITS;
    }
    conclude(solver, solver->arm, call->met ? PZ_ARM_MET : find_closest(solver));
}

bool pz_arm_solve(poise_solver *solver)
{
    pz_arm *arm = solver->arm;
    if (!arm || !pz_arm_prepare(solver, &arm->own)) {
        return false;
    }
    do {
        pz_arm_begin_search(solver);
    } while (!pz_arm_end_search(solver, look_for_zero(solver, arm)));
    pz_arm_conclude(solver);
    return true;
}

// ---- All solutions -------------------------------------------------------------------------------------------------------

static double distance_of(const poise_solver *solver, const pz_arm *arm, const double *q)
{
    double sum = 0.0;
    for (int i = 0; i < arm->chain.n; ++i) {
        double d = q[arm->chain.q[i]] - solver->q_start[arm->chain.q[i]];
        sum += d * d;
    }
    return sum;
}

// The same but for whole turns of hinges? An angle of pi is one of -pi.
static bool are_alike(const pz_arm *arm, const double *a, const double *b)
{
    for (int i = 0; i < arm->chain.n; ++i) {
        int q = arm->chain.q[i];
        double apart = a[q] - b[q];
        apart -= arm->chain.turn[i] == 0 ? 0.0 : PZ_TWO_PI * arm_round(apart / PZ_TWO_PI);
        if (fabs(apart) > ALIKE * arm->chain.rate[i]) {
            return false;
        }
    }
    return true;
}

// Put the solution `found` among the rows, nearest first, unless it is there or the rows are full of nearer ones.
static void add_solution(const poise_solver *solver, const pz_arm *arm, const double *found, double *rows, int capacity,
                         int *count)
{
    size_t nq = (size_t)solver->model->nq;
    double distance = distance_of(solver, arm, found);
    int at = 0;
    for (int k = 0; k < *count; ++k) {
        if (are_alike(arm, found, rows + (size_t)k * nq)) {
            return;
        }
        at += distance_of(solver, arm, rows + (size_t)k * nq) <= distance;
    }
    if (at == capacity) {
        return;
    }
    *count = least(*count + 1, capacity);
    memmove(rows + (size_t)(at + 1) * nq, rows + (size_t)at * nq, (size_t)(*count - 1 - at) * nq * sizeof *rows);
    memcpy(rows + (size_t)at * nq, found, nq * sizeof *rows);
}

// Search from where the run is, to far below the tolerance so that two finds of one solution are alike.
static bool find_sharply(poise_solver *solver, pz_arm *arm)
{
    pz_arm_call *call = arm->call;
    pz_arm_target wanted = call->target;
    call->target.most_r = min2(wanted.most_r, POLISHED * POLISHED);
    call->target.most_e = min2(wanted.most_e, POLISHED * POLISHED);
    bool met = finish_search(solver, arm, look_for_zero(solver, arm));
    call->target = wanted;
    return met || (call->run.r <= wanted.most_r && 2.0 * call->run.e <= wanted.most_e);
}

// The solutions found so far.
typedef struct solution_rows {
    poise_solver *solver;
    double *rows;
    int capacity, count;
} solution_rows;

static void take_solution(solution_rows *found)
{
    poise_solver *solver = found->solver;
    pz_arm *arm = solver->arm;
    arm_turn_back(&arm->chain, arm->chain.n, arm->own.q_start, arm->own.run.q);
    put(solver, arm, arm->own.run.q, solver->q_try);
    add_solution(solver, arm, solver->q_try, found->rows, found->capacity, &found->count);
}

// One from beyond the limits; others may follow.
static bool takes(void *context)
{
    solution_rows *found = context;
    if (find_sharply(found->solver, found->solver->arm)) {
        take_solution(found);
    }
    return false;
}

static int find_all(poise_solver *solver, pz_arm *arm, double *solutions, int capacity)
{
    solution_rows all = {solver, solutions, capacity, 0};
    for (int m = 0; m <= solver->options.restarts; ++m) {
        begin_search(solver, arm, m);
        if (find_sharply(solver, arm)) {
            take_solution(&all);
        } else {
            arm_keep_end(&arm->own);
        }
        note_search(solver, &arm->own, m);
    }
    arm->own.reach = look_beyond(solver, takes, &all);
    int found = all.count;
    if (found > 0) {
        for (int i = 0; i < arm->chain.n; ++i) {
            arm->own.run.q[i] = solutions[arm->chain.q[i]];
        }
        pz_arm_measure(&arm->chain, &arm->own.target, &arm->own.run);
    }
    conclude(solver, arm, found > 0 ? PZ_ARM_MET : find_closest(solver));
    return found;
}

// The chain is made with locked joints where the start has them, and not kept: the next start may have them elsewhere.
bool pz_arm_solve_all(poise_solver *solver, double *solutions, int capacity, int *count)
{
    pz_arm *arm = solver->arm;
    if (!arm || !goal_fits(solver)) {
        return false;
    }
    if (solver->options.locked) {
        pz_kin_sweep(&solver->trial->kin, solver->q_start);
        make_chain(solver, arm, solver->goals, &solver->trial->kin);
    }
    bool fits = pz_arm_prepare(solver, &arm->own) != NULL;
    if (fits) {
        *count = find_all(solver, arm, solutions, capacity);
    }
    arm->body = solver->options.locked ? -1 : arm->body;
    return fits;
}
