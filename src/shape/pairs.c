// Which pairs of shapes are worth watching: by the tree, and by trying random configurations.
#include "base/error.h"
#include "math/quat.h"
#include "shape/shape.h"

#include <string.h>

#define TOUCHES       1e-7 // shapes this near to each other touch
#define LONGEST_SLIDE 1.0  // either way, of a slide without limits

poise_pairs_options poise_pairs_options_default(void)
{
    return (poise_pairs_options){.neighbours = 1, .samples = 3000, .always = 0.95, .seed = 1};
}

// ---- By the tree ---------------------------------------------------------------------------------------------------------

static bool moves(const poise_model *model, int body)
{
    return model->joints[body].axis_begin < model->joints[body].axis_end;
}

// Joints that move between two bodies: 0 within a rigid group, which the world is one of.
static int joints_between(const poise_model *model, int a, int b)
{
    int count = 0;
    while (a != b) { // parents come first, so that the larger index is never above the other
        int *lower = a > b ? &a : &b;
        count += moves(model, *lower);
        *lower = model->joints[*lower].parent;
    }
    return count;
}

static bool groups_meet(const poise_shape *a, const poise_shape *b)
{
    bool is_free = (a->groups | a->against) == 0 || (b->groups | b->against) == 0;
    return is_free || (a->groups & b->against) != 0 || (b->groups & a->against) != 0;
}

static bool is_excluded(const poise_pairs_options *options, int a, int b)
{
    for (int i = 0; i < options->excluded_count; ++i) {
        poise_pair pair = options->excluded[i];
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
    return !are_planes && groups_meet(a, b) &&
           joints_between(model, a->body, b->body) > (is_obstacle ? 0 : options->neighbours) &&
           !is_excluded(options, a->body, b->body);
}

// ---- By trying -----------------------------------------------------------------------------------------------------------

static double draw(const poise_model *model, const pz_step *step, int i, uint64_t *state)
{
    double most = pz_axis_slides(model, step->axis) ? LONGEST_SLIDE : PZ_PI;
    double lower = max2(model->lower[step->q + i], -most), upper = min2(model->upper[step->q + i], most);
    if (!(lower <= upper)) { // the limits lie beyond
        lower = model->lower[step->q + i], upper = model->upper[step->q + i];
    }
    return clamp(lower + next_uniform(state) * (upper - lower), model->lower[step->q + i], model->upper[step->q + i]);
}

static void draw_configuration(const poise_model *model, uint64_t *state, double *q)
{
    for (int k = 0; k < model->step_count; ++k) {
        const pz_step *step = &model->steps[k];
        int nq = step->own ? pz_step_nq(step->kind) : 0;
        if (step->kind != PZ_QUATERNION) {
            for (int i = 0; i < nq; ++i) {
                q[step->q + i] = draw(model, step, i, state);
            }
        } else if (nq > 0) {
            double x = next_uniform(state) - 0.5, y = next_uniform(state) - 0.5, z = next_uniform(state) - 0.5;
            quat r = quat_normalize((quat){x, y, z, 0.001 + next_uniform(state)});
            q[step->q] = r.x, q[step->q + 1] = r.y, q[step->q + 2] = r.z, q[step->q + 3] = r.w;
        }
    }
    pz_model_clamp_swings(model, q);
}

// Do they overlap, or touch? What touches in every configuration, as the fingers of a gripper, cannot be kept apart.
static bool overlap(const pz_placed *a, const pz_placed *b)
{
    if (pz_distance_bound(a, b) > TOUCHES) {
        return false;
    }
    pz_contact contacts[PZ_MOST_CONTACTS];
    int count = pz_contacts(a, b, contacts);
    for (int i = 0; i < count; ++i) {
        if (contacts[i].distance < TOUCHES) {
            return true;
        }
    }
    return false;
}

typedef struct search {
    const poise_model *model;
    const poise_shape *shapes;
    int count;
    poise_kinematics kin;
    double *q;
    pz_placed *placed;
    bool *skip;    // count x count, a < b: no candidate
    int *overlaps; // the same: samples that they overlap in
} search;

static void lay_out(search *s, pz_arena *arena)
{
    size_t n = (size_t)s->count;
    pz_kin_layout(&s->kin, s->model, arena);
    s->q = pz_arena_take(arena, (size_t)s->model->nq, sizeof *s->q);
    s->placed = pz_arena_take(arena, n, sizeof *s->placed);
    s->skip = pz_arena_take(arena, n * n, sizeof *s->skip);
    s->overlaps = pz_arena_take(arena, n * n, sizeof *s->overlaps);
}

static void sample(search *s, const poise_pairs_options *options)
{
    double always = options->always * options->samples;
    uint64_t state = options->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    poise_model_neutral(s->model, s->q);
    for (int k = 0; k < options->samples; ++k) {
        draw_configuration(s->model, &state, s->q);
        pz_kin_sweep(&s->kin, s->q);
        for (int i = 0; i < s->count; ++i) {
            s->placed[i] = pz_place(&s->kin, &s->shapes[i]);
        }
        for (int a = 0; a < s->count; ++a) {
            for (int b = a + 1; b < s->count; ++b) {
                int at = a * s->count + b;
                bool is_open = s->overlaps[at] + (options->samples - k) > always; // else it is known that they are apart
                s->overlaps[at] += !s->skip[at] && is_open && overlap(&s->placed[a], &s->placed[b]);
            }
        }
    }
}

static void find(search *s, const poise_pairs_options *options, poise_pair *pairs, int capacity, int *found)
{
    memset(s->overlaps, 0, (size_t)s->count * (size_t)s->count * sizeof *s->overlaps);
    for (int a = 0; a < s->count; ++a) {
        for (int b = a + 1; b < s->count; ++b) {
            s->skip[a * s->count + b] = !is_candidate(s->model, &s->shapes[a], &s->shapes[b], options);
        }
    }
    sample(s, options);
    int count = 0;
    for (int a = 0; a < s->count; ++a) {
        for (int b = a + 1; b < s->count; ++b) {
            int at = a * s->count + b;
            bool is_obstacle = s->shapes[a].body == POISE_WORLD || s->shapes[b].body == POISE_WORLD;
            if (!s->skip[at] && (is_obstacle || s->overlaps[at] <= options->always * options->samples)) {
                if (count < capacity) {
                    pairs[count] = (poise_pair){a, b};
                }
                count += 1;
            }
        }
    }
    *found = count;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

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
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pairs options: excluded must not be NULL where there are some");
    }
    if (options->neighbours < 0 || options->samples < 0 || !(options->always >= 0)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pairs options: neighbours, samples and always must be >= 0");
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
    lay_out(&s, &arena);
    size_t size = pz_arena_bytes(&arena);
    void *memory = pz_allocate(allocator, size);
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the search for pairs needs %g bytes", (double)size);
    }
    arena = pz_arena_over(memory, size);
    lay_out(&s, &arena);
    find(&s, &chosen, pairs, capacity, found);
    pz_release(allocator, memory);
    return POISE_OK;
}
