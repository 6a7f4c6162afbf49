// Which pairs of shapes are worth watching: by the tree, and by trying random configurations.
#include "shape/shape.h"

#include "base/error.h"

#include <string.h>

// in units of the model
#define TOUCHES       1e-7 // shapes this near to each other touch
#define LONGEST_SLIDE 1.0  // either way, of a slide without limits

// ---- By the tree ---------------------------------------------------------------------------------------------------------

static bool moves(const poise_model *model, int body)
{
    return model->joints[body].axis_begin < model->joints[body].axis_end;
}

int pz_joints_between(const poise_model *model, int a, int b, bool *is_chain)
{
    int counts[2] = {0, 0}, at[2] = {a, b};
    while (at[0] != at[1]) { // parents come first, so that the larger index is never above the other
        int lower = at[1] > at[0];
        counts[lower] += moves(model, at[lower]);
        at[lower] = model->joints[at[lower]].parent;
    }
    if (is_chain) {
        *is_chain = counts[0] == 0 || counts[1] == 0;
    }
    return counts[0] + counts[1];
}

bool pz_is_excluded(const poise_pair *excluded, int count, int a, int b)
{
    for (int i = 0; i < count; ++i) {
        poise_pair pair = excluded[i];
        if ((pair.a == a && pair.b == b) || (pair.a == b && pair.b == a)) {
            return true;
        }
    }
    return false;
}

static bool is_candidate(const poise_model *model, const poise_shape *a, const poise_shape *b,
                         const poise_pairs_options *options)
{
    bool are_planes = a->kind == POISE_SHAPE_HALF_SPACE && b->kind == POISE_SHAPE_HALF_SPACE;
    bool is_obstacle = a->body == POISE_WORLD || b->body == POISE_WORLD;
    return !are_planes && pz_groups_meet(a->groups, a->against, b->groups, b->against) &&
           pz_joints_between(model, a->body, b->body, NULL) > (is_obstacle ? 0 : options->neighbours) &&
           !pz_is_excluded(options->excluded, options->excluded_count, a->body, b->body);
}

// ---- By trying -----------------------------------------------------------------------------------------------------------

static double random_step(const poise_model *model, const pz_step *step, int i, uint64_t *state)
{
    double most = pz_axis_slides(model, step->axis) ? LONGEST_SLIDE * model->unit : PZ_PI;
    double lower = max2(model->lower[step->q + i], -most), upper = min2(model->upper[step->q + i], most);
    if (!(lower <= upper)) { // the limits lie beyond
        lower = model->lower[step->q + i], upper = model->upper[step->q + i];
    }
    return clamp(lower + next_uniform(state) * (upper - lower), model->lower[step->q + i], model->upper[step->q + i]);
}

void pz_random_configuration(const poise_model *model, uint64_t *state, double *q)
{
    for (int k = 0; k < model->step_count; ++k) {
        const pz_step *step = &model->steps[k];
        int nq = step->own ? pz_step_nq(step->kind) : 0;
        if (step->kind != PZ_QUATERNION) {
            for (int i = 0; i < nq; ++i) {
                q[step->q + i] = random_step(model, step, i, state);
            }
        } else if (nq > 0) {
            double x = next_uniform(state) - 0.5, y = next_uniform(state) - 0.5, z = next_uniform(state) - 0.5;
            quat r = quat_normalize((quat){x, y, z, 0.001 + next_uniform(state)});
            q[step->q] = r.x, q[step->q + 1] = r.y, q[step->q + 2] = r.z, q[step->q + 3] = r.w;
        }
    }
    pz_model_clamp_swings(model, q);
}

// The distance between two shapes; infinite where it is more than `most`.
static double distance_of(const pz_placed *a, const pz_placed *b, double most)
{
    if (pz_distance_bound(a, b) > most) {
        return INFINITY;
    }
    pz_contact contacts[PZ_MOST_CONTACTS];
    int count = pz_contacts(a, b, contacts);
    double least = contacts[0].distance;
    for (int i = 1; i < count; ++i) {
        least = min2(least, contacts[i].distance);
    }
    return least;
}

// In how many samples two bodies were too near to each other, and how many those may be.
typedef struct tally {
    int count;
    int last; // sample, from 1
    double most;
} tally;

static void add_sample(tally *t, int sample)
{
    t->count += t->last < sample;
    t->last = sample;
}

// May the samples from this one on still change whether there are too many?
static bool is_open(const tally *t, int sample, int samples)
{
    return t->last < sample && t->count <= t->most && t->count + (samples - sample + 1) > t->most;
}

typedef struct search {
    const poise_model *model;
    const poise_shape *shapes;
    int count;
    poise_kinematics kin;
    double *q;
    pz_placed *placed;
    bool *skip;     // count x count, a < b: no candidate
    tally *overlap; // body x body: shapes of both overlap, or touch,
    tally *near;    // or are nearer than the margin: always, as the fingers of a gripper, they cannot be kept apart
} search;

static void sampling_lay_out(search *s, pz_arena *arena)
{
    size_t n = (size_t)s->count;
    pz_kin_layout(&s->kin, s->model, arena);
    s->q = pz_arena_take(arena, (size_t)s->model->nq, sizeof *s->q);
    s->placed = pz_arena_take(arena, n, sizeof *s->placed);
    s->skip = pz_arena_take(arena, n * n, sizeof *s->skip);
    size_t bodies = (size_t)s->model->joint_count;
    s->overlap = pz_arena_take(arena, bodies * bodies, sizeof *s->overlap);
    s->near = pz_arena_take(arena, bodies * bodies, sizeof *s->near);
}

// Where the two bodies of a pair are counted; an obstacle's are not.
static int bodies_at(const search *s, int a, int b)
{
    int first = s->shapes[a].body, second = s->shapes[b].body;
    int least = first < second ? first : second, most = first < second ? second : first;
    return least == POISE_WORLD ? -1 : least * s->model->joint_count + most;
}

// In how many samples two bodies may overlap and still be watched. Next but one on a chain, those that overlap in more than
// half of them do so by the shapes that cover them: no robot is built to hit itself in half of its range.
static double most_overlaps(const search *s, int a, int b, const poise_pairs_options *options)
{
    bool is_chain;
    bool is_near = pz_joints_between(s->model, s->shapes[a].body, s->shapes[b].body, &is_chain) <= options->neighbours + 1;
    double share = is_near && is_chain ? min2(options->often, options->always) : options->always;
    return share * options->samples;
}

static void sample(search *s, const poise_pairs_options *options)
{
    uint64_t state = options->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    double touches = TOUCHES * s->model->unit, near = touches + options->margin;
    poise_model_neutral(s->model, s->q);
    for (int k = 0; k < options->samples; ++k) {
        pz_random_configuration(s->model, &state, s->q);
        pz_kin_sweep(&s->kin, s->q);
        for (int i = 0; i < s->count; ++i) {
            s->placed[i] = pz_place(&s->kin, &s->shapes[i]);
        }
        for (int a = 0; a < s->count; ++a) {
            for (int b = a + 1; b < s->count; ++b) {
                int at = s->skip[a * s->count + b] ? -1 : bodies_at(s, a, b), number = k + 1;
                if (at < 0 || !(is_open(&s->overlap[at], number, options->samples) ||
                                is_open(&s->near[at], number, options->samples))) {
                    continue;
                }
                double distance = distance_of(&s->placed[a], &s->placed[b], near);
                if (distance < near) {
                    add_sample(&s->near[at], number);
                }
                if (distance < touches) {
                    add_sample(&s->overlap[at], number);
                }
            }
        }
    }
}

static void find(search *s, const poise_pairs_options *options, poise_pair *pairs, int capacity, int *found)
{
    size_t bodies = (size_t)s->model->joint_count;
    memset(s->overlap, 0, bodies * bodies * sizeof *s->overlap);
    memset(s->near, 0, bodies * bodies * sizeof *s->near);
    for (int a = 0; a < s->count; ++a) {
        for (int b = a + 1; b < s->count; ++b) {
            s->skip[a * s->count + b] = !is_candidate(s->model, &s->shapes[a], &s->shapes[b], options);
            int at = bodies_at(s, a, b);
            if (at >= 0) {
                s->overlap[at].most = most_overlaps(s, a, b, options);
                s->near[at].most = options->always * options->samples;
            }
        }
    }
    sample(s, options);
    int count = 0;
    for (int a = 0; a < s->count; ++a) {
        for (int b = a + 1; b < s->count; ++b) {
            int at = bodies_at(s, a, b);
            bool is_apart = at < 0 || (s->overlap[at].count <= s->overlap[at].most && s->near[at].count <= s->near[at].most);
            if (!s->skip[a * s->count + b] && is_apart) {
                if (count < capacity) {
                    pairs[count] = (poise_pair){a, b};
                }
                count += 1;
            }
        }
    }
    *found = count;
}

// ---- The pairs of a model ------------------------------------------------------------------------------------------------

static poise_status check(const poise_model *model, const poise_shape *shapes, int count, const poise_pairs_options *options,
                          poise_error *error)
{
    for (int i = 0; i < count; ++i) {
        poise_status status = poise_shape_check(&shapes[i], model, error);
        if (status != POISE_OK) {
            return error ? pz_error_set(error, status, "shape %d%s", i, strchr(error->text, ':')) : status;
        }
    }
    if (options->excluded_count < 0 || (options->excluded_count > 0 && !options->excluded)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pairs options: excluded must not be NULL if excluded_count > 0");
    }
    if (options->neighbours < 0 || options->samples < 0 || !(options->always >= 0) || !(options->often >= 0) ||
        !(options->margin >= 0) || !is_finite(options->margin)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "pairs options: neighbours, samples, always, often and margin must be >= 0");
    }
    return POISE_OK;
}

poise_status poise_pairs_find(const poise_model *model, const poise_shape *shapes, int count,
                              const poise_pairs_options *options, const poise_allocator *allocator, poise_pair *pairs,
                              int capacity, int *found, poise_error *error)
{
    if (!model || count < 0 || (count > 0 && !shapes) || capacity < 0 || (capacity > 0 && !pairs) || !found) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, shapes, pairs and found must not be NULL, and counts must be >= 0");
    }
    poise_pairs_options chosen = options ? *options : poise_pairs_options_default();
    poise_status status = check(model, shapes, count, &chosen, error);
    if (status != POISE_OK) {
        return status;
    }
    search s = {.model = model, .shapes = shapes, .count = count};
    pz_arena arena = pz_arena_counting();
    sampling_lay_out(&s, &arena);
    size_t size = pz_arena_bytes(&arena);
    void *memory = pz_allocate(allocator, size);
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the search for pairs needs %g bytes", (double)size);
    }
    arena = pz_arena_over(memory, size);
    sampling_lay_out(&s, &arena);
    find(&s, &chosen, pairs, capacity, found);
    pz_release(allocator, memory);
    return POISE_OK;
}

// ---- Pairs that are nearer than they may be ------------------------------------------------------------------------------

// Keep the `capacity` with least room, in order; `count` are there already.
static void insert_close(poise_close_pair *close, int count, int capacity, const poise_close_pair *found)
{
    int at = count < capacity ? count : capacity - 1;
    if (capacity == 0 || (count >= capacity && close[at].room <= found->room)) {
        return;
    }
    for (; at > 0 && close[at - 1].room > found->room; --at) {
        close[at] = close[at - 1];
    }
    close[at] = *found;
}

poise_status poise_pairs_close(const poise_kinematics *kinematics, const poise_constraint *clearance, double room,
                               poise_close_pair *close, int capacity, int *found, poise_error *error)
{
    if (!kinematics || !clearance || clearance->kind != POISE_CONSTRAINT_CLEARANCE || capacity < 0 ||
        (capacity > 0 && !close) || !found) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "kinematics, a clearance, an array of pairs and found are required");
    }
    *found = 0;
    for (int i = 0; i < clearance->pair_count; ++i) {
        poise_pair pair = clearance->pairs[i];
        if (pair.a < 0 || pair.b < 0 || pair.a >= clearance->shape_count || pair.b >= clearance->shape_count) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "pair %d: shapes are numbered 0 to %d", i,
                                clearance->shape_count - 1);
        }
        poise_close_pair at = {.pair = i};
        poise_status status =
            poise_distance(kinematics, &clearance->shapes[pair.a], &clearance->shapes[pair.b], &at.nearest, error);
        if (status != POISE_OK) {
            return status;
        }
        at.room = at.nearest.distance - (clearance->margins ? clearance->margins[i] : clearance->margin);
        if (at.room < room) {
            insert_close(close, *found, capacity, &at);
            *found += 1;
        }
    }
    return POISE_OK;
}
