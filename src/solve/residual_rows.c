// Residual rows: gathering them by level, clamping, factoring.
#include "solve/residual_rows.h"

#include "solve/methods.h"

#include "base/error.h"
#include "num/dense.h"

// Singular values below this share of the longest row are rounding: entries of J carry errors of some eps for each joint of
// the path, and this leaves room for thousands.
#define RANK_TOLERANCE 1e-12

// A unit vector of which less than this is left by projection lies in the used directions.
#define USED_TOLERANCE 1e-10

// An error below this, in length units or radians, is none: a thousandth of the 1e-9 to which levels are kept apart. Beside
// it stands the rounding of positions, some eps of the skeleton's size.
#define LEAST_ERROR    1e-12
#define ROUNDING_SHARE (64.0 * PZ_EPSILON)

// ---- Memory --------------------------------------------------------------------------------------------------------------

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

void *pz_rows_lay_out(poise_solver *solver, pz_arena *arena, pz_level_rule rule)
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

// ---- Goals ---------------------------------------------------------------------------------------------------------------

// The caller's goals, and after them the prior if there is one.
static int goal_count(const poise_solver *s)
{
    return s->goal_count + (s->at->prior ? 1 : 0);
}

static const poise_goal *goal_at(const poise_solver *s, int i)
{
    return i < s->goal_count ? &s->goals[i] : s->at->prior;
}

poise_status pz_rows_check(poise_solver *solver)
{
    const pz_rows *rows = solver->method;
    int count = 0;
    for (int i = 0; i < goal_count(solver); ++i) {
        const pz_goal_row *row = pz_goal_row_of(goal_at(solver, i)->kind);
        if (!row->rows) {
            return pz_error_set(solver->error, POISE_ERROR_UNSUPPORTED,
                                "goal %d: a %s goal has no residual rows, which the method %s needs", i, row->name,
                                pz_method_name(solver));
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
static int64_t key_of(const poise_solver *s, pz_level_rule rule, int i)
{
    const poise_goal *goal = goal_at(s, i);
    if (rule == POISE_ROWS_ONE) {
        return 0;
    }
    if (rule == POISE_ROWS_POSTURE) {
        return goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
    }
    return i < s->goal_count ? goal->priority : INT64_MAX;
}

// The smallest key above `after`. False: there is none.
static bool next_key(const poise_solver *s, pz_level_rule rule, int64_t after, int64_t *key)
{
    bool found = false;
    for (int i = 0; i < goal_count(s); ++i) {
        int64_t k = key_of(s, rule, i);
        if (k > after && (!found || k < *key)) {
            *key = k;
            found = true;
        }
    }
    return found;
}

// ---- Gathering -----------------------------------------------------------------------------------------------------------

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

static void gather_goal(const poise_solver *s, const poise_kinematics *kin, const poise_goal *goal, pz_rows *rows)
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

void pz_rows_gather(const poise_solver *solver, const poise_kinematics *kin, pz_rows *rows)
{
    int64_t key = INT64_MIN;
    rows->count = rows->level_count = 0;
    while (next_key(solver, rows->rule, key, &key)) {
        pz_level *level = &rows->levels[rows->level_count++];
        level->first = rows->count;
        for (int i = 0; i < goal_count(solver); ++i) {
            if (key_of(solver, rows->rule, i) == key) {
                gather_goal(solver, kin, goal_at(solver, i), rows);
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

void pz_rows_take_costs(const poise_solver *solver, pz_rows *rows, bool is_trial)
{
    const poise_kinematics *kin = is_trial ? &solver->trial->kin : &solver->at->kin;
    double least = least_error(kin);
    int64_t key = INT64_MIN;
    for (int l = 0; next_key(solver, rows->rule, key, &key); ++l) {
        double cost = 0.0, weight = 0.0;
        for (int i = 0; i < goal_count(solver); ++i) {
            if (key_of(solver, rows->rule, i) == key) {
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

bool pz_rows_missed(const poise_solver *solver, const pz_rows *rows, int l, double *missed)
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
        if (key_of(solver, rows->rule, i) == key && !pz_goal_is_met(solver, goal)) {
            *missed += pz_goal_energy(&solver->at->kin, goal);
        }
    }
    return true;
}

// ---- Factors -------------------------------------------------------------------------------------------------------------

// Gram-Schmidt. Once leaves rounding errors of the size of x along the used directions; twice, of the size of what is left.
void pz_rows_project(const pz_rows *rows, double *x)
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

bool pz_rows_use(pz_rows *rows, double *x, double *length)
{
    pz_rows_project(rows, x);
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
        pz_rows_project(rows, a);
        for (int j = 0; j < f->n; ++j) {
            f->longer[f->m < f->n ? (size_t)j * (size_t)f->m + (size_t)i : (size_t)i * (size_t)f->n + (size_t)j] = a[j];
        }
    }
    return longest;
}

// alpha_k = u_k . e
static void take_alpha(pz_rows *rows)
{
    const pz_factors *f = &rows->factors;
    for (int k = 0; k < f->count; ++k) {
        rows->alpha[k] = 0.0;
        for (int i = 0; i < f->m; ++i) {
            rows->alpha[k] += pz_left(f, i, k) * rows->e[i];
        }
    }
}

bool pz_rows_factor(pz_rows *rows, const pz_level *level)
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
    take_alpha(rows);
    return true;
}
