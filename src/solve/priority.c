// Methods over residual rows. PRIORITY is the one with any number of strict levels, by goal.priority, 0 first.
//
// Every goal is a residual r with the Jacobian J (goal/goal.h). A method over rows says which goals form a level and how to
// step for one level; the rest is shared, and here: the rows of the levels and their factors; the damped inverse, which is
// PRIORITY's step; the step for all levels within limits; which steps are taken; the run. A run ends where no level can be
// improved without one above becoming worse (POISE_WHY_LEVELS), or as every method does (step.c).
#include "solve/priority.h"

#include "base/error.h"
#include "num/dense.h"

#include <string.h>

// ---- The rows of the levels ----------------------------------------------------------------------------------------------

// Singular values below this share of the longest row are rounding: entries of J carry errors of some eps for each joint of
// the path, and this leaves room for thousands.
#define RANK_TOLERANCE 1e-12

// A unit vector of which less than this is left by projection lies in the used directions.
#define USED_TOLERANCE 1e-10

// An error below this, in length units or radians, is none: a thousandth of the 1e-9 to which levels are kept apart. Beside
// it stands the rounding of positions, some eps of the skeleton's size.
#define LEAST_ERROR    1e-12
#define ROUNDING_SHARE (64.0 * PZ_EPSILON)

static int capacity_of(const poise_solver *s)
{
    return s->options.rows.max_rows > 0 ? s->options.rows.max_rows : 6 * s->model->joint_count + s->model->nv;
}

static size_t swing_count(const poise_model *model)
{
    size_t count = 0;
    for (int k = 0; k < model->joint_count; ++k) {
        count += model->given[k].type == POISE_JOINT_SWING_TWIST;
    }
    return count;
}

// Memory for the rows that options.rows.max_rows allows.
static void *rows_lay_out(poise_solver *solver, pz_arena *arena, pz_level_rule rule)
{
    pz_rows blank = {0}, *taken = pz_arena_take(arena, 1, sizeof *taken);
    pz_rows *rows = taken ? taken : &blank;
    size_t capacity = (size_t)capacity_of(solver), n = (size_t)solver->model->nv, least = n < capacity ? n : capacity;
    *rows = (pz_rows){.rule = rule, .nv = solver->model->nv, .capacity = capacity_of(solver)};
    rows->levels = pz_arena_take(arena, capacity + 1, sizeof *rows->levels);
    rows->r = pz_arena_take(arena, capacity, sizeof *rows->r);
    rows->J = pz_arena_take(arena, capacity, n * sizeof *rows->J);
    rows->wanted = pz_arena_take(arena, capacity, sizeof *rows->wanted);
    rows->block = pz_arena_take(arena, capacity, sizeof *rows->block);
    rows->e = pz_arena_take(arena, capacity, sizeof *rows->e);
    rows->factors.s = pz_arena_take(arena, least, sizeof *rows->factors.s);
    rows->factors.longer = pz_arena_take(arena, capacity, n * sizeof *rows->factors.longer);
    rows->factors.shorter = pz_arena_take(arena, least, least * sizeof *rows->factors.shorter);
    rows->alpha = pz_arena_take(arena, least, sizeof *rows->alpha);
    rows->used = pz_arena_take(arena, rule == POISE_ROWS_ONE ? swing_count(solver->model) : n, n * sizeof *rows->used);
    rows->hold_level = pz_arena_take(arena, n, sizeof *rows->hold_level);
    rows->edge_level = pz_arena_take(arena, (size_t)solver->model->joint_count, sizeof *rows->edge_level);
    rows->hold = pz_arena_take(arena, n, sizeof *rows->hold);
    rows->hold_by = pz_arena_take(arena, n, sizeof *rows->hold_by);
    rows->x = pz_arena_take(arena, n, sizeof *rows->x);
    rows->x_level = pz_arena_take(arena, n, sizeof *rows->x_level);
    rows->taken = pz_arena_take(arena, n, sizeof *rows->taken);
    rows->gradient = pz_arena_take(arena, n, sizeof *rows->gradient);
    rows->line = pz_arena_take(arena, n, sizeof *rows->line);
    rows->q_trial = pz_arena_take(arena, (size_t)solver->model->nq, sizeof *rows->q_trial);
    return taken;
}

// The caller's goals, and after them the prior if there is one.
static int goal_count(const poise_solver *s)
{
    return s->problem->goal_count + (s->at->prior ? 1 : 0);
}

static const poise_goal *goal_at(const poise_solver *s, int i)
{
    return i < s->problem->goal_count ? &s->problem->goals[i] : s->at->prior;
}

// Has every goal rows, and do they fit?
static poise_status rows_check(poise_solver *solver)
{
    const pz_rows *rows = solver->method;
    int count = 0;
    for (int i = 0; i < goal_count(solver); ++i) {
        const pz_goal_row *row = pz_goal_row_of(goal_at(solver, i)->kind);
        if (!row->rows) {
            return pz_error_set(solver->error, POISE_ERROR_UNSUPPORTED,
                                "goal %d: a %s goal has no residual rows, which the method %s needs", i,
                                poise_goal_kind_name(goal_at(solver, i)->kind), pz_method_name(solver));
        }
        int more = row->rows(&solver->at->kin, goal_at(solver, i), NULL, NULL);
        if (more > rows->capacity - count) {
            return pz_error_set(
                solver->error, POISE_ERROR_ARGUMENT,
                "the goals have more than the %d residual rows that the solver was created for: raise max_rows",
                rows->capacity);
        }
        count += more > 0 ? more : 1; // each may be a level of its own, and those must fit as well
    }
    return POISE_OK;
}

// Levels come in the order of this number.
static int64_t level_key(const poise_solver *s, pz_level_rule rule, int i)
{
    const poise_goal *goal = goal_at(s, i);
    if (rule == POISE_ROWS_ONE) {
        return 0;
    }
    if (rule == POISE_ROWS_POSTURE) {
        return goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
    }
    return i < s->problem->goal_count ? goal->priority : INT64_MAX;
}

// The smallest key above `after`. False: there is none.
static bool next_key(const poise_solver *s, pz_level_rule rule, int64_t after, int64_t *key)
{
    bool found = false;
    for (int i = 0; i < goal_count(s); ++i) {
        int64_t k = level_key(s, rule, i);
        if (k > after && (!found || k < *key)) {
            *key = k;
            found = true;
        }
    }
    return found;
}

// A goal of several kinds of error counts each on its own: length and rotation of a pose, every coordinate of a posture.
static int block_size(const poise_goal *goal, int count)
{
    bool is_pose = goal->kind == POISE_GOAL_POSE || goal->kind == POISE_GOAL_RELATIVE;
    bool is_posture = goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
    return is_pose ? 3 : is_posture ? 1 : count;
}

// ClampMag of S. Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares
// methods" (2009); eq. 8 of Ribeiro & Paiva (2019): e = -r, cut to the length `most`.
static void clamp_goal(const double *r, int count, double most, double *wanted)
{
    double length = sqrt(pz_dot(r, r, count));
    double factor = most > 0 && length > most ? most / length : 1.0;
    for (int i = 0; i < count; ++i) {
        wanted[i] = -r[i] * factor;
    }
}

static void fill_goal(const poise_solver *s, const poise_kinematics *kin, const poise_goal *goal, pz_rows *rows)
{
    int first = rows->count;
    double *r = rows->r + first;
    int count = pz_goal_row_of(goal->kind)->rows(kin, goal, r, rows->J + (size_t)first * (size_t)rows->nv);
    clamp_goal(r, count, s->options.rows.clamp, rows->wanted + first);
    int size = block_size(goal, count);
    for (int i = 0; i < count; ++i) {
        rows->block[first + i] = first + i - i % size;
    }
    rows->count += count;
}

// The rows of all levels, from poses and axes.
static void fill_rows(const poise_solver *solver, const poise_kinematics *kin, pz_rows *rows)
{
    int64_t key = INT64_MIN;
    rows->count = rows->level_count = 0;
    while (next_key(solver, rows->rule, key, &key)) {
        pz_level *level = &rows->levels[rows->level_count++];
        level->first = rows->count;
        for (int i = 0; i < goal_count(solver); ++i) {
            if (level_key(solver, rows->rule, i) == key) {
                fill_goal(solver, kin, goal_at(solver, i), rows);
            }
        }
        level->count = rows->count - level->first;
    }
}

static double least_error(const poise_kinematics *kin)
{
    double size = 0.0;
    for (int k = 0; k < kin->model->joint_count; ++k) {
        vec3 p = kin->p[k];
        size = max2(size, max2(fabs(p.x), max2(fabs(p.y), fabs(p.z))));
    }
    return max2(LEAST_ERROR, ROUNDING_SHARE * size);
}

void pz_rows_evaluate_costs(const poise_solver *solver, pz_rows *rows, bool is_trial)
{
    const poise_kinematics *kin = is_trial ? &solver->trial->kin : &solver->at->kin;
    double least = least_error(kin);
    int64_t key = INT64_MIN;
    for (int l = 0; next_key(solver, rows->rule, key, &key); ++l) {
        double cost = 0.0, weight = 0.0;
        for (int i = 0; i < goal_count(solver); ++i) {
            if (level_key(solver, rows->rule, i) == key) {
                const poise_goal *goal = goal_at(solver, i);
                cost += pz_goal_energy(kin, goal);
                weight += max2(goal->weight, goal->rotation_weight);
            }
        }
        if (rows->level_count == 1) { // the same sum, to the bit as the report has it
            cost = is_trial ? solver->trial->cost : solver->at->cost;
        }
        if (is_trial) {
            rows->levels[l].cost_trial = cost;
        } else {
            rows->levels[l].cost = cost;
            rows->levels[l].floor = 0.5 * weight * least * least;
        }
    }
}

// Energy of the goals of level l that are missed, at the current point; false: there is no such level.
static bool energy_missed(const poise_solver *solver, const pz_rows *rows, int l, double *missed)
{
    int64_t key = INT64_MIN;
    for (int k = 0; k <= l; ++k) {
        if (!next_key(solver, rows->rule, key, &key)) {
            return false;
        }
    }
    *missed = 0.0;
    for (int i = 0; i < goal_count(solver); ++i) {
        const poise_goal *goal = goal_at(solver, i);
        if (level_key(solver, rows->rule, i) == key && !pz_goal_is_met(solver, goal)) {
            *missed += pz_goal_energy(&solver->at->kin, goal);
        }
    }
    return true;
}

// ---- The factors of a level ----------------------------------------------------------------------------------------------

// Gram-Schmidt. Once leaves rounding errors of the size of x along the used directions; twice, of the size of what is left.
static void rows_project(const pz_rows *rows, double *x)
{
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < rows->used_count; ++k) {
            const double *u = rows->used + (size_t)k * (size_t)rows->nv;
            double along = pz_dot(x, u, rows->nv);
            for (int j = 0; j < rows->nv; ++j) {
                x[j] -= along * u[j];
            }
        }
    }
}

// Make the direction x (nv numbers of length about 1, which are lost) a used one. False when it is so already: rounding is
// all that is left of it. *length (may be NULL) is what was left.
static bool use_direction(pz_rows *rows, double *x, double *length)
{
    rows_project(rows, x);
    double left = sqrt(pz_dot(x, x, rows->nv));
    if (length) {
        *length = left;
    }
    if (!(left > USED_TOLERANCE) || rows->used_count == rows->nv) {
        return false;
    }
    double *u = rows->used + (size_t)rows->used_count * (size_t)rows->nv;
    for (int j = 0; j < rows->nv; ++j) {
        u[j] = x[j] / left;
    }
    rows->used_count += 1;
    return true;
}

// The k-th left and right singular vectors.
static double left_at(const pz_factors *f, int row, int k)
{
    const double *from = f->m < f->n ? f->shorter : f->longer;
    return from[(size_t)row * (size_t)f->count + (size_t)k];
}

static double right_at(const pz_factors *f, int column, int k)
{
    const double *from = f->m < f->n ? f->longer : f->shorter;
    return from[(size_t)column * (size_t)f->count + (size_t)k];
}

// A into factors.longer, transposed when it is wider than high. Returns the largest length of a row of J, held dofs left
// out.
static double copy_rows(pz_rows *rows, const pz_level *level)
{
    pz_factors *f = &rows->factors;
    double longest = 0.0, *a = rows->line;
    for (int i = 0; i < f->m; ++i) {
        const double *J = rows->J + (size_t)(level->first + i) * (size_t)rows->nv;
        for (int j = 0; j < f->n; ++j) {
            a[j] = rows->hold[j] ? 0.0 : J[j];
        }
        longest = max2(longest, sqrt(pz_dot(a, a, f->n)));
        rows_project(rows, a);
        for (int j = 0; j < f->n; ++j) {
            f->longer[f->m < f->n ? (size_t)j * (size_t)f->m + (size_t)i : (size_t)i * (size_t)f->n + (size_t)j] = a[j];
        }
    }
    return longest;
}

// alpha_k = u_k . e
static void find_alpha(pz_rows *rows)
{
    const pz_factors *f = &rows->factors;
    for (int k = 0; k < f->count; ++k) {
        rows->alpha[k] = 0.0;
        for (int i = 0; i < f->m; ++i) {
            rows->alpha[k] += left_at(f, i, k) * rows->e[i];
        }
    }
}

// Factor the level's Jacobian A: J without the columns of held dofs and without the directions used by levels above, into
// rows->factors and rows->alpha. False when it has numbers that are not finite.
static bool rows_factor(pz_rows *rows, const pz_level *level)
{
    pz_factors *f = &rows->factors;
    f->m = level->count;
    f->n = rows->nv;
    bool is_wide = f->m < f->n;
    f->count = is_wide ? f->m : f->n;
    double longest = copy_rows(rows, level);
    if (!pz_svd(is_wide ? f->n : f->m, f->count, f->longer, f->s, f->shorter)) {
        return false;
    }
    f->rank = 0;
    while (f->rank < f->count && f->s[f->rank] > RANK_TOLERANCE * longest) {
        f->rank += 1;
    }
    find_alpha(rows);
    return true;
}

// ---- The damped inverse --------------------------------------------------------------------------------------------------
//
// (P. Baerlocher & R. Boulic, "An inverse kinematics architecture enforcing an arbitrary number of strict priority levels",
// 2004; Ribeiro & Paiva 2019, eq. 13 and 14.) With J_l the rows of level l and P_l the projection onto the null space of all
// levels above together:
//
//   x_l = x_l-1 + (J_l P_l)^+lambda_l (e_l - J_l x_l-1),      P_0 = I,   P_l+1 = P_l - sum_k v_k v_k^T
//
// where the v_k are the right singular vectors of J_l P_l, which lie in the range of P_l. (J_l x_l-1 is subtracted once: e_l
// is the residual at the current point, before any level has moved.) ^+lambda is the damped inverse of
// the next paragraph with a lambda for each level, from the smallest singular value of J_l P_l. That value gets small
// where level l conflicts with the levels above although J_l itself is sound, an "algorithmic singularity" (S. Chiaverini,
// "Singularity-robust task-priority redundancy resolution for real-time kinematic control of robot manipulators", 1997); the
// damping bounds the step there as it does at other singularities.
//
// x_l - x_l-1 lies in the range of P_l however much it is damped, so J_m x does not change for the levels m above l. What
// remains is the curvature of finite steps, which the frame below takes back before a step counts: from step to step the
// costs of the levels fall in the order of the dictionary, and the cost of the sum may rise.
//
// **The damped inverse.** x = J^T (J J^T + lambda^2 I)^-1 e minimises |J x - e|^2 + lambda^2 |x|^2 (C. Wampler 1986; Y.
// Nakamura & H. Hanafusa 1986). With J = sum s_k u_k v_k^T:
//
//   x = sum_k s_k/(s_k^2 + lambda^2) (u_k . e) v_k         (Ribeiro & Paiva 2019, eq. 9 and 10)
//
// Damping by A. Maciejewski & C. Klein, "Numerical filtering for the operation of robotic manipulators through kinematically
// singular configurations" (1988); Ribeiro & Paiva, eq. 15. With d = |e|/b, b the longest step asked for:
//
//   lambda = d/2                      s_min <= d/2
//            sqrt(s_min (d - s_min))  between
//            0                        s_min >= d
//
// Then |x| <= b: s/(s^2 + lambda^2) is at most 1/(2 lambda) = 1/d in the first case, 1/s_min <= 1/d in the last, and in the
// middle one it is 1/d at s_min and falls beyond it, since lambda < s_min. Two refinements, neither of which the bound
// minds: s_min is the smallest singular value that is not rounding, since a goal such as a direction has three rows and two
// degrees of freedom, which makes J singular everywhere; and |e| is the length of what J can reach at all, the root of
// sum_k (u_k . e)^2, since the rest takes no part in x but would damp it for good where goals cannot be met.
// options.damping > 0 is lambda itself, in the units of s: roots of weights times lengths.

// b, in radians and length units: a step that linear motion describes to a few percent
#define LONGEST_STEP 0.5

// d/2, .. as above.
static double maciejewski_damping(double s_min, double e)
{
    double d = e / LONGEST_STEP;
    if (s_min >= d) {
        return 0.0;
    }
    return s_min <= 0.5 * d ? 0.5 * d : sqrt(s_min * (d - s_min));
}

// x += J^+lambda e with the damping above.
static bool damped_rows_step(const poise_solver *solver, pz_rows *rows, pz_level *level, double *x)
{
    if (!rows_factor(rows, level)) {
        return false;
    }
    const pz_factors *f = &rows->factors;
    double s_min = f->rank > 0 ? f->s[f->rank - 1] : 0.0, e = sqrt(pz_dot(rows->alpha, rows->alpha, f->rank));
    double lambda = solver->options.damping > 0 ? solver->options.damping : maciejewski_damping(s_min, e);
    for (int k = 0; k < f->rank; ++k) {
        double part = rows->alpha[k] / (f->s[k] + lambda * (lambda / f->s[k]));
        for (int j = 0; j < f->n; ++j) {
            x[j] += part * right_at(f, j, k);
        }
    }
    level->damping = lambda;
    return true;
}

// ---- The frame of all methods over rows ----------------------------------------------------------------------------------
//
// **The step.** Level by level, each in what the levels above leave free:
//
//   x_0 = 0,   e_l = wanted_l - J_l x_l-1,   x_l = x_l-1 + step of the method for e_l with A_l = J_l P_l
//
// P_l projects onto the dofs that are free and the directions that levels above have not used. Limits as P. Baerlocher,
// "Inverse kinematics techniques for the interactive posture control of articulated figures" (2001), does: dofs that the
// step takes across a bound are held there, and the step is computed again without their columns; a swing at the edge of its
// ellipse keeps only the direction along the edge. Dofs that only level l takes across a bound are held for the levels from
// l on, so that no level above loses them (F. Flacco, A. De Luca & O. Khatib, "Motion control of redundant robots under
// joint constraints: saturation in the null space", 2012). With one level, dofs at a bound that descent would leave are held
// from the start.
//
// **Which steps are taken.** The cost of every level is watched on its own. Let k be the first level that is not at rest:
// its cost is not rounding and it can do something about its residual. A step is taken when the cost of k falls by a share
// of what the linear model promises and no level above has become worse. Levels below k do not count: they move along while
// k still moves. If the step fails, levels below k are left with the dofs that no level up to k depends on, and it is made
// shorter.
//
// A step along the free directions of a level above still bends away from them to second order. So before levels above k
// are compared, they may go back to where they were by steps of their own (restore). A level at rest that is not met, such
// as an arm stretched towards a target out of reach, cannot go back: every bend makes it worse. It keeps the dofs that it
// depends on to itself.
//
// A step that solves a linear model across a bound need not lower the cost. When no length of it does, the step is cut at
// the first bound it meets instead; when that does not, the gradient of level k takes its place, with the length at which
// the linear model is least.
//
// So from step to step the costs of the levels fall in the order of the dictionary; with one level, the cost falls.

#define PASSES       12    // of the active set in one step
#define TRIALS       7     // of one step: lengths 1, 1/2, 1/8, 1/64, .. 2^-21
#define SUFFICIENT   1e-4  // share of the promised decrease that a step must keep (Armijo 1966)
#define WHOLE_SHARE  0.1   // the same for a step of all levels: those below must not eat up what the level gains
#define RESTORATIONS 5     // steps of the levels above: they converge quadratically
#define LEVEL_SLACK  1e-13 // relative rise of a level's cost that is rounding
#define ROUNDS       4     // of finding dofs that a gradient takes out of their limits
#define REST_SLOPE   1e-7  // of a level: its cost is then within 1e-14 of the least, relative
#define ALIKE        1e-9  // relative difference of a level's cost between two ends at one minimum, and room to spare
#define LONGEST_TURN PZ_PI // of a dof in one step: more only winds it up

// ---- Limits --------------------------------------------------------------------------------------------------------------

static void start_holds(const poise_solver *s, pz_rows *rows)
{
    for (int i = 0; i < rows->nv; ++i) {
        rows->hold[i] = rows->level_count == 1 ? pz_is_held(s, i) : s->box[i].locked;
        rows->hold_level[i] = PZ_NEVER;
        rows->hold_by[i] = 0.0;
    }
    for (int k = 0; k < s->model->joint_count; ++k) {
        rows->edge_level[k] = PZ_NEVER;
    }
}

// Keep dofs that x takes out of their interval at the bound, from level l on; with `cut` only those that stand there
// already. Returns how many are new.
static int hold_leavers(const poise_solver *s, const double *q, pz_rows *rows, int l, bool cut)
{
    int count = 0;
    for (int i = 0; i < rows->nv; ++i) {
        const pz_box *box = &s->box[i];
        if (box->q < 0 || rows->hold[i] || rows->hold_level[i] <= l) {
            continue;
        }
        double next = q[box->q] + rows->x[i];
        bool stands = q[box->q] <= box->lower || q[box->q] >= box->upper;
        if ((next < box->lower || next > box->upper) && (stands || !cut)) {
            rows->hold_level[i] = l;
            rows->hold_by[i] = (next < box->lower ? box->lower : box->upper) - q[box->q];
            count += 1;
        }
    }
    return count;
}

// The normal of a swing that stands at the edge of its ellipse, in its two dofs; held ones have no part in it. False: the
// joint is not such a swing.
static bool edge_normal(const poise_solver *s, const double *q, const pz_rows *rows, int joint, double normal[2])
{
    const poise_joint *given = &s->model->given[joint];
    int first = s->model->joints[joint].q_begin, v = s->model->joints[joint].v_begin;
    if (!s->options.use_limits || given->type != POISE_JOINT_SWING_TWIST || !pz_model_at_swing_edge(s->model, q, first)) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        normal[i] = rows->hold[v + i] ? 0.0 : q[first + i] / (given->swing[i] * given->swing[i]);
    }
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1]);
    normal[0] /= length;
    normal[1] /= length;
    return length > 0;
}

// Let swings at their edge that x takes outwards move along it only, from level l on. Returns how many are new.
static int hold_swings(const poise_solver *s, const double *q, pz_rows *rows, const double *x, int l)
{
    int count = 0;
    for (int k = 0; k < s->model->joint_count; ++k) {
        double normal[2];
        int v = s->model->joints[k].v_begin;
        if (rows->edge_level[k] > l && edge_normal(s, q, rows, k, normal) && normal[0] * x[v] + normal[1] * x[v + 1] > 0) {
            rows->edge_level[k] = l;
            count += 1;
        }
    }
    return count;
}

// Make the direction of one dof a used one. Returns the square of the part that was free, which is in rows->line; 0 when
// there was none.
static double use_dof(pz_rows *rows, int dof)
{
    double length;
    memset(rows->line, 0, (size_t)rows->nv * sizeof *rows->line);
    rows->line[dof] = 1.0;
    return use_direction(rows, rows->line, &length) ? length * length : 0.0;
}

// A dof goes to its bound. The first level leaves out its column. Below it the dof moves along a = P e_i, which levels above
// do not feel, as far as is missing: a_i = e_i . P e_i = |a|^2.
static void use_bound(pz_rows *rows, int l, int dof)
{
    double missing = rows->hold_by[dof] - rows->x[dof];
    if (l == 0) {
        rows->hold[dof] = true;
        rows->x[dof] = rows->hold_by[dof];
        return;
    }
    double square = use_dof(rows, dof);
    for (int j = 0; square > 0 && j < rows->nv; ++j) {
        rows->x[j] += rows->line[j] * (missing / square);
    }
}

// Make the normal of a swing a used direction. False: it was one.
static bool use_normal(const poise_solver *s, pz_rows *rows, int joint, const double normal[2])
{
    int v = s->model->joints[joint].v_begin;
    memset(rows->line, 0, (size_t)rows->nv * sizeof *rows->line);
    rows->line[v] = normal[0];
    rows->line[v + 1] = normal[1];
    return use_direction(rows, rows->line, NULL);
}

// What limits take from level l on: the dofs that go to a bound, and the normals of swings.
static void use_limits(const poise_solver *s, const double *q, pz_rows *rows, int l)
{
    for (int i = 0; i < rows->nv; ++i) {
        if (rows->hold_level[i] == l) {
            use_bound(rows, l, i);
        }
    }
    for (int k = 0; k < s->model->joint_count; ++k) {
        double normal[2];
        if (rows->edge_level[k] == l && edge_normal(s, q, rows, k, normal)) {
            use_normal(s, rows, k, normal);
        }
    }
}

// ---- The step ------------------------------------------------------------------------------------------------------------

// J x for one row.
static double row_times(const pz_rows *rows, int row, const double *x)
{
    return pz_dot(rows->J + (size_t)row * (size_t)rows->nv, x, rows->nv);
}

// e = wanted - J x of a level.
static void find_residual(pz_rows *rows, const pz_level *level)
{
    for (int i = 0; i < level->count; ++i) {
        rows->e[i] = rows->wanted[level->first + i] - row_times(rows, level->first + i, rows->x);
    }
}

// The directions that a level has just stepped along are used for the levels below.
static void use_directions(pz_rows *rows)
{
    for (int k = 0; k < rows->factors.rank; ++k) {
        for (int j = 0; j < rows->nv; ++j) {
            rows->line[j] = right_at(&rows->factors, j, k);
        }
        use_direction(rows, rows->line, NULL);
    }
}

// The dofs that levels first .. end - 1 depend on are used for the levels below.
static void use_own_dofs(pz_rows *rows, int first, int end)
{
    int row_end = rows->levels[end - 1].first + rows->levels[end - 1].count;
    for (int j = 0; j < rows->nv; ++j) {
        bool moves = false;
        for (int i = rows->levels[first].first; i < row_end && !rows->hold[j]; ++i) {
            moves = moves || rows->J[(size_t)i * (size_t)rows->nv + (size_t)j] != 0;
        }
        if (moves) {
            use_dof(rows, j);
        }
    }
}

static bool level_is_met(const pz_level *level)
{
    return level->cost <= level->floor;
}

static bool is_at_rest(const pz_rows *rows, const pz_level *level)
{
    return rows->level_count > 1 && (level_is_met(level) || level->slope <= REST_SLOPE);
}

// What to step for.
typedef struct pz_span {
    int from;  // look for a level that is not at rest from here on
    int upto;  // levels that step
    int apart; // the dofs of this level and those above are left alone by levels below; -1 for none
    bool cut;  // the whole step is cut at the first bound, instead of holding dofs there and going on
} pz_span;

// Would the dof leave its interval along p?
static bool leaves(const poise_solver *s, const double *q, int dof, double p)
{
    const pz_box *box = &s->box[dof];
    return box->q >= 0 && ((q[box->q] <= box->lower && p < 0) || (q[box->q] >= box->upper && p > 0));
}

// J^T e of level l, without locked dofs, into p.
static void transposed_rows(const poise_solver *s, const pz_rows *rows, int l, const double *e, double *p)
{
    const pz_level *level = &rows->levels[l];
    memset(p, 0, (size_t)rows->nv * sizeof *p);
    for (int i = 0; i < level->count; ++i) {
        const double *J = rows->J + (size_t)(level->first + i) * (size_t)rows->nv;
        for (int j = 0; j < rows->nv; ++j) {
            p[j] += s->box[j].locked ? 0.0 : J[j] * e[i];
        }
    }
}

// Take from reach what p would leave the limits with: directions of dofs (at the first level their part of p itself), and
// normals of swings. Returns how many there were.
static int block_leavers(const poise_solver *s, const double *q, pz_rows *rows, int l, double *p)
{
    int count = 0;
    for (int j = 0; j < rows->nv; ++j) {
        if (leaves(s, q, j, p[j])) {
            count += l == 0 || use_dof(rows, j) > 0;
            p[j] = l == 0 ? 0.0 : p[j];
        }
    }
    for (int k = 0; k < s->model->joint_count; ++k) {
        double normal[2];
        int v = s->model->joints[k].v_begin;
        if (edge_normal(s, q, rows, k, normal) && normal[0] * p[v] + normal[1] * p[v + 1] > 0) {
            count += use_normal(s, rows, k, normal);
        }
    }
    return count;
}

// p = P J^T e of level l, with P as the levels above leave it, within the limits.
static void feasible_gradient(const poise_solver *s, const double *q, pz_rows *rows, int l, const double *e, double *p)
{
    int used = rows->used_count;
    transposed_rows(s, rows, l, e, p);
    rows_project(rows, p);
    for (int round = 0; round < ROUNDS && block_leavers(s, q, rows, l, p) > 0; ++round) {
        rows_project(rows, p);
    }
    rows->used_count = used;
}

// |p|/(|J| |e|) for the current e.
static double level_slope(const poise_solver *s, const double *q, pz_rows *rows, int l)
{
    const pz_level *level = &rows->levels[l];
    size_t first = (size_t)level->first * (size_t)rows->nv;
    feasible_gradient(s, q, rows, l, rows->e, rows->gradient);
    double size = sqrt(pz_dot(rows->J + first, rows->J + first, level->count * rows->nv));
    size *= sqrt(pz_dot(rows->e, rows->e, level->count));
    return size > 0 ? sqrt(pz_dot(rows->gradient, rows->gradient, rows->nv)) / size : 0.0;
}

// The step of level l onto x.
static bool step_level(const poise_solver *s, const double *q, pz_rows *rows, const pz_row_method *method, int l)
{
    pz_level *level = &rows->levels[l];
    if (rows->level_count > 1) {
        find_residual(rows, level);
        level->slope = level_slope(s, q, rows, l);
    }
    use_limits(s, q, rows, l);
    find_residual(rows, level);
    return method->step(s, rows, level, rows->x) && all_finite(rows->x, (size_t)rows->nv);
}

// Steps of the levels one after the other, for the present holds. rows->level becomes the first level that is not at rest.
// False: the numbers are not finite. *leavers: how many dofs and swings have to be held beside; then the step is to be
// computed again.
static bool step_levels(const poise_solver *s, const double *q, pz_rows *rows, const pz_row_method *method, pz_span span,
                        int *leavers)
{
    memset(rows->x, 0, (size_t)rows->nv * sizeof *rows->x);
    rows->used_count = 0;
    rows->level = rows->level_count;
    *leavers = 0;
    for (int l = 0; l < span.upto; ++l) {
        const pz_level *level = &rows->levels[l];
        if (!step_level(s, q, rows, method, l)) {
            return false;
        }
        bool rests = is_at_rest(rows, level);
        if (l >= span.from && rows->level == rows->level_count && !rests) {
            rows->level = l;
            memcpy(rows->x_level, rows->x, (size_t)rows->nv * sizeof *rows->x_level);
        }
        *leavers = hold_leavers(s, q, rows, l, span.cut) + hold_swings(s, q, rows, rows->x, l);
        if (*leavers > 0) {
            return true;
        }
        if (l < rows->level_count - 1) {
            use_directions(rows);
            if (l == span.apart) {
                use_own_dofs(rows, 0, l + 1);
            } else if (rests && !level_is_met(level)) {
                use_own_dofs(rows, l, l + 1);
            }
        }
    }
    return true;
}

// Cut a step to step_limit, and to half a turn of any dof that turns.
static void rows_shorten(const poise_solver *s, int nv, double *x)
{
    double factor = 1.0;
    for (int i = 0; i < nv; ++i) {
        double most = s->options.step_limit;
        if (!pz_axis_slides(s->model, s->model->dof_axis[i])) {
            most = min2(most, LONGEST_TURN);
        }
        factor = fabs(x[i]) * factor > most ? most / fabs(x[i]) : factor;
    }
    for (int i = 0; i < nv; ++i) {
        x[i] *= factor;
    }
}

// Cut a step where the first dof meets its bound; a few roundings beyond, so that pz_step_within puts it there.
static void cut_at_bounds(const poise_solver *s, const double *q, int nv, double *x)
{
    double factor = 1.0;
    for (int i = 0; i < nv; ++i) {
        const pz_box *box = &s->box[i];
        double room = box->q < 0 ? INFINITY : x[i] < 0 ? q[box->q] - box->lower : box->upper - q[box->q];
        factor = room > 0 && fabs(x[i]) * factor > room ? room / fabs(x[i]) : factor;
    }
    for (int i = 0; factor < 1.0 && i < nv; ++i) {
        x[i] *= factor * (1.0 + 4.0 * PZ_EPSILON);
    }
}

// The step at the point `kin`, whose rows are current. Dofs that still leave after the last pass are left to pz_step_within.
static bool rows_find_step(const poise_solver *s, const poise_kinematics *kin, pz_rows *rows, const pz_row_method *method,
                           pz_span span)
{
    start_holds(s, rows);
    for (int pass = 0, leavers = 1; leavers > 0 && pass < PASSES; ++pass) {
        if (!step_levels(s, kin->q, rows, method, span, &leavers)) {
            return false;
        }
    }
    if (span.cut) {
        cut_at_bounds(s, kin->q, rows->nv, rows->x);
    }
    rows_shorten(s, rows->nv, rows->x);
    if (rows->level < rows->level_count) {
        rows_shorten(s, rows->nv, rows->x_level);
    }
    return true;
}

// |r|^2/2 - |r + J x|^2/2 of a level, or 0.
static double promised_decrease(const pz_rows *rows, const pz_level *level, const double *x)
{
    double decrease = 0.0;
    for (int i = level->first; i < level->first + level->count; ++i) {
        double change = row_times(rows, i, x);
        decrease -= change * (rows->r[i] + 0.5 * change);
    }
    return max2(decrease, 0.0);
}

// ---- Taking it -----------------------------------------------------------------------------------------------------------

static bool above_hold(const pz_rows *rows, int k)
{
    for (int l = 0; l < k; ++l) {
        const pz_level *level = &rows->levels[l];
        if (!(level->cost_trial <= max2(level->floor, level->cost * (1.0 + LEVEL_SLACK)))) {
            return false;
        }
    }
    return true;
}

// One step of the levels above k from the point being tried.
static bool restore(poise_solver *s, pz_rows *rows, const pz_row_method *method, int k)
{
    const poise_kinematics *kin = &s->trial->kin;
    fill_rows(s, kin, rows);
    if (!rows_find_step(s, kin, rows, method, (pz_span){.from = 0, .upto = k, .apart = -1})) {
        return false;
    }
    pz_step_within(s, kin->q, rows->x, rows->q_trial);
    return is_finite(pz_try(s, rows->q_trial, POISE_LEVEL_HESSIAN));
}

// Try solver->step for level k. The current rows, and their step, are lost where levels above had to be restored.
static bool try_step(poise_solver *s, pz_rows *rows, const pz_row_method *method, int k, double promise)
{
    const pz_level *level = &rows->levels[k];
    pz_step_within(s, s->at->kin.q, s->step, rows->q_trial);
    if (!is_finite(pz_try(s, rows->q_trial, POISE_LEVEL_HESSIAN))) {
        return false;
    }
    pz_rows_evaluate_costs(s, rows, true);
    for (int i = 0; level->cost_trial < level->cost && !above_hold(rows, k); ++i) {
        if (i == RESTORATIONS || !restore(s, rows, method, k)) {
            return false;
        }
        pz_rows_evaluate_costs(s, rows, true);
    }
    return level->cost_trial < level->cost && level->cost_trial <= level->cost - SUFFICIENT * promise;
}

// Try rows->taken for level k at shorter and shorter lengths. *t is the length taken.
static bool try_lengths(poise_solver *s, pz_rows *rows, const pz_row_method *method, int k, double promise, double *t)
{
    double halving = 0.5;
    *t = 1.0;
    for (int trial = 0; trial < TRIALS; ++trial) {
        for (int i = 0; i < rows->nv; ++i) {
            s->step[i] = *t * rows->taken[i];
        }
        if (try_step(s, rows, method, k, *t * promise)) {
            return true;
        }
        *t *= halving;
        halving *= 0.5;
    }
    return false;
}

// The step along the feasible gradient of level k, at whose length the linear model is least: x = p (p . p)/|J p|^2. Into
// rows->taken. False: there is none.
static bool gradient_step(poise_solver *s, pz_rows *rows, const pz_row_method *method, int k)
{
    const pz_level *level = &rows->levels[k];
    const double *q = s->at->kin.q;
    double *p = rows->taken;
    int leavers;
    fill_rows(s, &s->at->kin, rows);
    start_holds(s, rows);
    if (!step_levels(s, q, rows, method, (pz_span){.from = rows->level_count, .upto = k, .apart = -1}, &leavers)) {
        return false;
    }
    feasible_gradient(s, q, rows, k, rows->wanted + level->first, p);
    double longest = pz_largest(p, rows->nv), square = 0.0;
    for (int j = 0; longest > 0 && j < rows->nv; ++j) {
        p[j] /= longest; // the length below does not depend on it, and nothing overflows
    }
    for (int i = level->first; i < level->first + level->count; ++i) {
        double change = row_times(rows, i, p);
        square += change * change;
    }
    double length = longest > 0 && square > 0 ? longest * (pz_dot(p, p, rows->nv) / square) : 0.0;
    for (int j = 0; j < rows->nv; ++j) {
        p[j] *= length;
    }
    rows_shorten(s, rows->nv, p);
    return length > 0 && is_finite(length);
}

// Try the current step for level k at any length.
static bool try_at_hand(poise_solver *s, pz_rows *rows, const pz_row_method *method, int k, double *t)
{
    double promise = promised_decrease(rows, &rows->levels[k], rows->x);
    memcpy(rows->taken, rows->x, (size_t)rows->nv * sizeof *rows->x);
    return promise > 0 && try_lengths(s, rows, method, k, promise, t);
}

// Find another step for level k, which levels below join with dofs of their own, and try it at any length.
static bool try_another(poise_solver *s, pz_rows *rows, const pz_row_method *method, int k, bool cut, double *t)
{
    pz_span span = {.from = k, .upto = rows->level_count, .apart = k, .cut = cut};
    fill_rows(s, &s->at->kin, rows);
    return rows_find_step(s, &s->at->kin, rows, method, span) && try_at_hand(s, rows, method, k, t);
}

// Try the current step with all levels, so that the levels below k leave it most of what it gains.
static bool try_whole(poise_solver *s, pz_rows *rows, const pz_row_method *method, int k, double *t)
{
    double promise = promised_decrease(rows, &rows->levels[k], rows->x_level);
    *t = 1.0;
    memcpy(s->step, rows->x, (size_t)rows->nv * sizeof *rows->x);
    return promise > 0 && try_step(s, rows, method, k, WHOLE_SHARE / SUFFICIENT * promise);
}

// Take a step that improves level k, whose step is the current one.
static bool improve(poise_solver *s, pz_rows *rows, const pz_row_method *method, int k, double *t)
{
    bool is_last = k == rows->level_count - 1;
    if (is_last ? try_at_hand(s, rows, method, k, t)
                : try_whole(s, rows, method, k, t) || try_another(s, rows, method, k, false, t)) {
        return true;
    }
    if (try_another(s, rows, method, k, true, t)) {
        return true;
    }
    return gradient_step(s, rows, method, k) &&
           try_lengths(s, rows, method, k, promised_decrease(rows, &rows->levels[k], rows->taken), t);
}

// ---- The run -------------------------------------------------------------------------------------------------------------

// May the method stop? With several levels the gradient of their sum says nothing.
static bool rows_are_done(poise_solver *s, pz_rows *rows, pz_end *end)
{
    bool done = pz_is_done_afresh(s, end);
    if (rows->nv == 0 || (done && end->outcome == POISE_OUTCOME_REACHED)) {
        return true;
    }
    fill_rows(s, &s->at->kin, rows);
    return done && rows->level_count <= 1;
}

static pz_end nothing_better(poise_solver *s, pz_rows *rows)
{
    return rows->level_count > 1 ? (pz_end){POISE_OUTCOME_CLOSEST, POISE_WHY_LEVELS} : pz_stuck(s, false);
}

// One iteration: improve the first level that can be improved. False: there is none.
static bool iterate(poise_solver *s, pz_rows *rows, const pz_row_method *method, double *damping)
{
    *damping = 0.0;
    pz_rows_evaluate_costs(s, rows, false);
    for (int k = 0; k < rows->level_count; ++k) {
        if (k > 0) { // the current rows may be those of a point that was tried
            fill_rows(s, &s->at->kin, rows);
        }
        if (!rows_find_step(s, &s->at->kin, rows, method, (pz_span){.from = k, .upto = rows->level_count, .apart = -1})) {
            return false;
        }
        k = rows->level;
        if (k == rows->level_count) {
            return false;
        }
        double lambda = rows->levels[k].damping, t;
        if (improve(s, rows, method, k, &t)) {
            *damping = lambda > 0 ? lambda : t;
            return true;
        }
    }
    return false;
}

// The order of the dictionary: a level counts where all above are alike.
static bool rows_improve(poise_solver *s, bool first)
{
    pz_rows *rows = s->method;
    double missed;
    bool is_better = first, is_decided = first;
    for (int l = 0; !is_decided && energy_missed(s, rows, l, &missed); ++l) {
        double best = rows->levels[l].best;
        is_better = missed < best - ALIKE * best;
        is_decided = is_better || missed > best + ALIKE * best;
    }
    for (int l = 0; is_better && energy_missed(s, rows, l, &missed); ++l) {
        rows->levels[l].best = missed;
    }
    return is_better;
}

static pz_end rows_run(poise_solver *s, const pz_row_method *method)
{
    pz_rows *rows = s->method;
    pz_end end = pz_used_up;
    bool more = true;
    while (!rows_are_done(s, rows, &end)) {
        if (!more) {
            return pz_used_up;
        }
        double damping;
        bool taken = iterate(s, rows, method, &damping);
        if (taken) {
            pz_accept(s);
        }
        more = pz_count_iteration(s, damping, taken ? pz_largest(s->step, rows->nv) : 0.0, taken, false);
        if (!taken) {
            return nothing_better(s, rows);
        }
    }
    return end;
}

// ---- PRIORITY ------------------------------------------------------------------------------------------------------------

static void *priority_lay_out(poise_solver *solver, pz_arena *arena)
{
    return rows_lay_out(solver, arena, POISE_ROWS_PRIORITY);
}

static pz_end priority_run(poise_solver *solver)
{
    static const pz_row_method method = {POISE_ROWS_PRIORITY, damped_rows_step};
    return rows_run(solver, &method);
}

const pz_method_row pz_priority_method = {priority_lay_out, priority_run, rows_check, rows_improve};

// ---- Methods of engines from outside -------------------------------------------------------------------------------------
//
// <poise/method.h>: an engine that has `rows` says how to step for one level; all else is that of this file.

// What the engine of `rows` stands for.
typedef struct row_problem {
    pz_rows *rows;
    pz_level *level;
} row_problem;

bool pz_rows_call_factor(poise_method_rows *rows)
{
    const row_problem *problem = rows->engine;
    bool is_sound = rows_factor(problem->rows, problem->level);
    const pz_factors *f = &problem->rows->factors;
    rows->rank = f->rank;
    rows->width = f->count;
    rows->s = f->s;
    rows->alpha = problem->rows->alpha;
    rows->left = f->m < f->n ? f->shorter : f->longer;
    rows->right = f->m < f->n ? f->longer : f->shorter;
    return is_sound;
}

void pz_rows_call_project(const poise_method_rows *rows, double *x)
{
    rows_project(((const row_problem *)rows->engine)->rows, x);
}

static bool step_by_rows(const poise_solver *solver, pz_rows *rows, pz_level *level, double *x)
{
    row_problem problem = {rows, level};
    poise_method_rows seen = {.level = (int)(level - rows->levels),
                              .count = level->count,
                              .nv = rows->nv,
                              .J = rows->J + (size_t)level->first * (size_t)rows->nv,
                              .wanted = rows->wanted + level->first,
                              .part = rows->block + level->first,
                              .held = rows->hold,
                              .work = rows->line,
                              .sum = rows->x_level,
                              .engine = &problem};
    bool is_sound = solver->options.engine->rows->step(&solver->run, &seen, x);
    level->damping = seen.damping;
    return is_sound;
}

static pz_level_rule levels_of(const poise_solver *solver)
{
    return solver->options.engine->rows->levels;
}

static void *engine_lay_out(poise_solver *solver, pz_arena *arena)
{
    return rows_lay_out(solver, arena, levels_of(solver));
}

static pz_end engine_run(poise_solver *solver)
{
    pz_open_run(solver);
    pz_row_method method = {levels_of(solver), solver->options.engine->rows->step ? step_by_rows : damped_rows_step};
    return rows_run(solver, &method);
}

const pz_method_row pz_one_level_method = {engine_lay_out, engine_run, rows_check, NULL};
const pz_method_row pz_levels_method = {engine_lay_out, engine_run, rows_check, rows_improve};
