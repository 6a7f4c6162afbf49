// Chunks of a recording whose frames are solved ahead of their trackers, in rounds:
//
//   each chunk   its tracker goes on, frame by frame, taking the answers that were found ahead as its first solves. It stops
//                at a frame that no answer from where it stands is there for, and asks
//   all chunks   what they ask for, the frames from there to the end of each, is solved together
//
// Whatever the tracker decides on, an outlier, a cold start, a jump, it does itself, as without. An answer that did not
// converge is none.
#include "motion/track_chunks.h"

#include "base/error.h"

#include <string.h>

#define ROUNDS    100 // at most
#define SHORTEST  8   // frames that are worth asking for
#define WORTHY    10  // frames taken of a stretch; after fewer, twice as many frames are tracked before the next one
#define MOST_REST 64  // of those

// A chunk on its way.
typedef struct way {
    poise_tracker *tracker;
    int place, count; // where it is, of so many
    int next, taken;  // frame of the stretch that is next; how many were taken
    int rest;         // frames to be tracked before it asks
    int waits;        // frames of those that are left
    bool asks;
    poise_track_stretch stretch;
    double *start;
    poise_vec3 *targets;
    double *weights;
} way;

typedef struct march {
    const pz_track_chunks *r;
    const poise_track_problem *problem;
    way *ways; // by chunk
    int chunks, goal_count;
    poise_goal *goals;
    poise_track_stretch *stretches; // those that are asked for
    int *open;                      // chunks on their way
    bool is_alone;                  // nothing is solved ahead any more
} march;

// ---- Asking --------------------------------------------------------------------------------------------------------------

static bool sees_enough(const march *m, int worker, int chunk, int place)
{
    poise_vec3 *seen = m->r->seen[worker];
    int count = 0;
    pz_track_see(m->r, pz_track_frame_at(m->r, chunk, place), seen);
    for (int i = 0; i < m->r->count; ++i) {
        count += pz_tracker_sees(seen[i]);
    }
    return count >= m->problem->least_markers;
}

// Frames from the next place on, without those that see too little, which are passed over.
static void ask(const march *m, int worker, int chunk)
{
    way *w = &m->ways[chunk];
    const poise_vec3 *seen = m->r->seen[worker];
    size_t goals = (size_t)m->goal_count;
    int made = 0;
    for (int place = w->place; place < w->count; ++place) {
        if (!sees_enough(m, worker, chunk, place)) {
            continue;
        }
        poise_vec3 *targets = w->targets + (size_t)made * goals;
        double *weights = w->weights + (size_t)made++ * goals;
        for (int i = 0; i < m->goal_count; ++i) {
            bool is_seen = i < m->r->count && pz_tracker_sees(seen[i]);
            targets[i] = is_seen ? seen[i] : v3(0.0, 0.0, 0.0);
            weights[i] = is_seen || i >= m->r->count ? m->goals[i].weight : 0.0;
        }
    }
    memcpy(w->start, w->tracker->last.q, (size_t)m->r->nq * sizeof *w->start);
    w->stretch.frames = made;
    w->stretch.usual = w->tracker->usual;
    w->next = w->taken = 0;
    w->asks = made > 0;
}

// After a stretch of which little was taken, such as in a run of outliers, the tracker goes on for longer by itself.
static bool wants_more(const march *m, way *w)
{
    if (m->is_alone || w->count - w->place < SHORTEST) {
        return false;
    }
    if (w->stretch.frames > 0) { // one that has ended here
        w->rest = w->taken >= WORTHY ? 0 : least(2 * w->rest + 1, MOST_REST);
        w->waits = w->rest;
        w->stretch.frames = 0;
    }
    return w->waits-- <= 0;
}

// The answer to the frame that is next, if it was begun where the tracker is.
static bool find_answer(const march *m, const way *w, pz_track_found *found)
{
    size_t nq = (size_t)m->r->nq, at = (size_t)w->next;
    if (w->next >= w->stretch.frames) {
        return false;
    }
    *found = (pz_track_found){.from = w->next > 0 ? w->stretch.q + (at - 1) * nq : w->start,
                              .q = w->stretch.q + at * nq,
                              .outcome = w->stretch.outcomes[at],
                              .iterations = w->stretch.iterations[at]};
    return memcmp(found->from, w->tracker->last.q, nq * sizeof(double)) == 0;
}

// ---- Going on ------------------------------------------------------------------------------------------------------------

// One chunk as far as it goes.
static void go_on(void *work, int piece, int worker)
{
    const march *m = work;
    int chunk = m->open[piece];
    way *w = &m->ways[chunk];
    for (; w->place < w->count; ++w->place) {
        bool sees = sees_enough(m, worker, chunk, w->place) && w->tracker->has_last;
        pz_track_found found;
        bool is_there = sees && find_answer(m, w, &found);
        bool is_found = is_there && (found.outcome == POISE_OUTCOME_REACHED || found.outcome == POISE_OUTCOME_CLOSEST);
        if (sees && !is_there && wants_more(m, w)) {
            ask(m, worker, chunk);
            return;
        }
        w->tracker->found = is_found ? &found : NULL;
        pz_track_at(m->r, w->tracker, worker, chunk, w->place);
        w->next += sees && w->next < w->stretch.frames;
        w->taken += is_found;
    }
}

static void go_on_all(march *m)
{
    int open = 0;
    for (int c = 0; c < m->chunks; ++c) {
        m->ways[c].asks = false;
        if (m->ways[c].place < m->ways[c].count) {
            m->open[open++] = c;
        }
    }
    if (m->problem->parallel_for) {
        m->problem->parallel_for(m->problem->user, open, go_on, m);
    }
    for (int i = 0; i < open && !m->problem->parallel_for; ++i) {
        go_on(m, i, 0);
    }
}

// Have all that is asked for solved. *asked: how many ask.
static poise_status solve_ahead(march *m, int round, int *asked, poise_error *error)
{
    poise_tracker *first = m->r->trackers[0];
    poise_track_plan plan = {.model = first->model,
                             .goals = m->goals,
                             .goal_count = m->goal_count,
                             .solver = &m->problem->solver,
                             .rate = PZ_USUAL_RATE,
                             .turn = PZ_GAP_TURN,
                             .most = pz_tracker_most_calm(first),
                             .round = round};
    *asked = 0;
    for (int c = 0; c < m->chunks; ++c) {
        if (m->ways[c].asks) {
            m->stretches[(*asked)++] = m->ways[c].stretch;
        }
    }
    poise_status status =
        *asked > 0 ? m->problem->ahead(m->problem->ahead_user, &plan, m->stretches, *asked, error) : POISE_OK;
    m->is_alone = m->is_alone || status == POISE_ERROR_UNSUPPORTED;
    for (int c = 0; c < m->chunks && status != POISE_OK; ++c) {
        m->ways[c].stretch.frames = 0;
    }
    return m->is_alone ? POISE_OK : status;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static void lay_out(march *m, pz_arena *arena)
{
    size_t chunks = (size_t)m->chunks, goals = (size_t)m->goal_count, nq = (size_t)m->r->nq;
    m->ways = pz_arena_take(arena, chunks, sizeof *m->ways);
    m->stretches = pz_arena_take(arena, chunks, sizeof *m->stretches);
    m->open = pz_arena_take(arena, chunks, sizeof *m->open);
    m->goals = pz_arena_take(arena, goals, sizeof *m->goals);
    for (int c = 0; c < m->chunks; ++c) {
        size_t frames = (size_t)pz_track_place_count(m->r, c);
        way w = {.count = (int)frames,
                 .start = pz_arena_take(arena, nq, sizeof(double)),
                 .targets = pz_arena_take(arena, frames * goals, sizeof(poise_vec3)),
                 .weights = pz_arena_take(arena, frames * goals, sizeof(double))};
        w.stretch = (poise_track_stretch){.start = w.start,
                                          .targets = w.targets,
                                          .weights = w.weights,
                                          .q = pz_arena_take(arena, frames * nq, sizeof(double)),
                                          .outcomes = pz_arena_take(arena, frames, sizeof(poise_outcome)),
                                          .iterations = pz_arena_take(arena, frames, sizeof(int))};
        if (!arena->full && m->ways) {
            m->ways[c] = w;
        }
    }
}

// The goals of all frames; the tracker has places for them.
static void fill_goals(march *m)
{
    const poise_tracker *t = m->r->trackers[0];
    int count = t->count;
    for (int i = 0; i < count; ++i) {
        m->goals[i] = poise_goal_position(t->placements[i].body, t->placements[i].local, v3(0.0, 0.0, 0.0));
        m->goals[i].weight = t->placements[i].weight;
    }
    if (m->problem->posture) {
        m->goals[count] = poise_goal_posture(t->neutral, 1.0);
        m->goals[count++].q_weights = t->posture;
    }
    m->goals[count] = poise_goal_smoothness(t->neutral, NULL, m->problem->smoothness);
}

static poise_status march_on(march *m, const poise_allocator *allocator, poise_error *error)
{
    poise_status status = POISE_OK;
    int made = 0, asked = 1;
    for (; made < m->chunks && status == POISE_OK; made += status == POISE_OK) {
        status = poise_tracker_create(m->problem, allocator, &m->ways[made].tracker, error);
    }
    for (int round = 0; asked > 0 && status == POISE_OK; ++round) {
        m->is_alone = m->is_alone || round >= ROUNDS;
        go_on_all(m);
        status = solve_ahead(m, round, &asked, error);
    }
    for (int c = 0; c < made; ++c) {
        poise_tracker_destroy(m->ways[c].tracker);
    }
    return status;
}

poise_status pz_track_chunks_ahead(pz_track_chunks *r, const poise_track_problem *problem, const poise_allocator *allocator,
                                   poise_error *error)
{
    march m = {.r = r,
               .problem = problem,
               .chunks = pz_track_chunk_count(r),
               .goal_count = r->count + 1 + (problem->posture != NULL)};
    pz_arena counting = pz_arena_counting();
    lay_out(&m, &counting);
    size_t size = pz_arena_bytes(&counting);
    void *memory = size ? pz_allocate(allocator, size) : NULL;
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_arena arena = pz_arena_over(memory, size);
    lay_out(&m, &arena);
    fill_goals(&m);
    poise_status status = march_on(&m, allocator, error);
    pz_release(allocator, memory);
    return status;
}
