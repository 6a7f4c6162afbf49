// Whole recordings: chunks for workers, and seams that do not depend on how many there are.
//
//            s_c - LEAD   s_c          s_c + SEAM                  s_(c+1)     s_(c+1) + SEAM
//   chunk c      |--cold---|============|==========================|- - - - - - -|
//   chunk c - 1  ==========|- - - - - - |
//
// Chunk c begins cold LEAD frames ahead of its first frame s_c (the first chunk LEAD frames in, backwards). The chunk before
// goes on for SEAM frames beyond its end. If both found the same pose there, up to what the markers do not tell, the seam
// goes over from one to the other and each of its frames is solved once more from the pose in between. If not, the chunk is
// tracked again, on from the one before.
//
// In the end, frames before one that was found afresh are tracked backwards from it, for as long as that is better: what
// made the fresh start necessary began before it was noticed. And limbs that were hidden for a while go from where they were
// to where they are found again (gaps.c).
#include <poise/track.h>

#include "base/error.h"
#include "motion/gaps.h"
#include "motion/tracker.h"

#include <string.h>

// ---- The way of a chunk --------------------------------------------------------------------------------------------------

#define LEAD   30   // frames
#define SEAM   30   // frames
#define AGREE  0.2  // radians: no body turned farther from one to the other
#define WORSE  1.1  // times the rms of the worse of two chunks
#define BETTER 0.7  // of the rms: then the cold start of the later chunk is right and the earlier chunk went astray
#define SAME   0.99 // of the rms: no better

static int chunk_count(const pz_track_chunks *r)
{
    return r->markers->frames / r->chunk + (r->markers->frames % r->chunk > 0);
}

static double *frame_q(const pz_track_chunks *r, int frame)
{
    return r->clip->q + (size_t)frame * (size_t)r->nq;
}

static double *tail_q(const pz_track_chunks *r, int chunk, int i)
{
    return r->tail_q + ((size_t)chunk * SEAM + (size_t)i) * (size_t)r->nq;
}

void pz_track_see(const pz_track_chunks *r, int frame, poise_vec3 *seen)
{
    const poise_vec3 *row = r->markers->position + (size_t)frame * (size_t)r->markers->count;
    for (int i = 0; i < r->count; ++i) {
        seen[i] = r->index[i] < 0 ? v3(NAN, NAN, NAN) : row[r->index[i]];
    }
}

void pz_track_next(const pz_track_chunks *r, poise_tracker *tracker, int worker, int number, double *q,
                   poise_track_frame *frame)
{
    pz_track_see(r, number, r->seen[worker]);
    const poise_track_problem *p = &tracker->problem;
    tracker->task = p->task ? p->task + (size_t)least(number, p->task_frames - 1) * (size_t)r->nq : NULL;
    poise_error why;
    if (poise_tracker_next(tracker, r->seen[worker], q, frame, &why) != POISE_OK) {
        r->refused[worker] = why;
    }
    if (tracker->problem.on_frame) {
        tracker->problem.on_frame(tracker->problem.user, number, worker);
    }
}

static int end_of(const pz_track_chunks *r, int chunk)
{
    return least((chunk + 1) * r->chunk, r->markers->frames);
}

// The LEAD frames after a cold start, which settle what a first frame with gaps may get wrong: those before the chunk, or,
// where the recording begins, the first ones backwards.
static int lead_of(const pz_track_chunks *r, int chunk)
{
    return least(LEAD, chunk > 0 ? chunk * r->chunk : r->markers->frames - 1);
}

// The way of a chunk: places 0, 1, .. are frames that lead in, those of the chunk, and those of the seam beyond its end.
static int place_count(const pz_track_chunks *r, int chunk)
{
    int end = end_of(r, chunk);
    return lead_of(r, chunk) + end - chunk * r->chunk + least(SEAM, r->markers->frames - end);
}

static int frame_at(const pz_track_chunks *r, int chunk, int place)
{
    int lead = lead_of(r, chunk), frame = chunk * r->chunk + place - lead;
    return place < lead && chunk == 0 ? -frame : frame;
}

// Track the frame at a place, on from what the tracker did last.
static void track_at(const pz_track_chunks *r, poise_tracker *tracker, int worker, int chunk, int place)
{
    int frame = frame_at(r, chunk, place), end = end_of(r, chunk);
    poise_track_frame skipped;
    if (place < lead_of(r, chunk)) {
        pz_track_next(r, tracker, worker, frame, r->q[worker], &skipped);
    } else if (frame < end) {
        pz_track_next(r, tracker, worker, frame, frame_q(r, frame), &r->frames[frame]);
    } else {
        pz_track_next(r, tracker, worker, frame, tail_q(r, chunk, frame - end), &r->tail[chunk * SEAM + frame - end]);
    }
}

static void track_places(const pz_track_chunks *r, int chunk, int first, int worker)
{
    int count = place_count(r, chunk);
    for (int place = first; place < count; ++place) {
        track_at(r, r->trackers[worker], worker, chunk, place);
    }
}

static void run_chunk(void *work, int chunk, int worker)
{
    const pz_track_chunks *r = work;
    poise_tracker_reset(r->trackers[worker], r->q_start, NULL);
    track_places(r, chunk, 0, worker);
}

// ---- Frames solved ahead -------------------------------------------------------------------------------------------------

// Chunks of a recording whose frames are solved ahead of their trackers, in rounds:
//
//   each chunk   its tracker goes on, frame by frame, taking the answers that were found ahead as its first solves. It stops
//                at a frame that no answer from where it stands is there for, and asks
//   all chunks   what they ask for, the frames from there to the end of each, is solved together
//
// Whatever the tracker decides on, an outlier, a cold start, a jump, it does itself, as without. An answer that did not
// converge is none.

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

// ---- Frames solved ahead: asking -----------------------------------------------------------------------------------------

static bool sees_enough(const march *m, int worker, int chunk, int place)
{
    poise_vec3 *seen = m->r->seen[worker];
    int count = 0;
    pz_track_see(m->r, frame_at(m->r, chunk, place), seen);
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

// ---- Frames solved ahead: going on ---------------------------------------------------------------------------------------

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
        track_at(m->r, w->tracker, worker, chunk, w->place);
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

// ---- Frames solved ahead: all chunks in rounds ---------------------------------------------------------------------------

static void lay_out_march(march *m, pz_arena *arena)
{
    size_t chunks = (size_t)m->chunks, goals = (size_t)m->goal_count, nq = (size_t)m->r->nq;
    m->ways = pz_arena_take(arena, chunks, sizeof *m->ways);
    m->stretches = pz_arena_take(arena, chunks, sizeof *m->stretches);
    m->open = pz_arena_take(arena, chunks, sizeof *m->open);
    m->goals = pz_arena_take(arena, goals, sizeof *m->goals);
    for (int c = 0; c < m->chunks; ++c) {
        size_t frames = (size_t)place_count(m->r, c);
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

// All chunks from their cold starts to their ends, with frames solved ahead by problem->ahead.
static poise_status track_ahead(pz_track_chunks *r, const poise_track_problem *problem, const poise_allocator *allocator,
                                poise_error *error)
{
    march m = {
        .r = r, .problem = problem, .chunks = chunk_count(r), .goal_count = r->count + 1 + (problem->posture != NULL)};
    pz_arena counting = pz_arena_counting();
    lay_out_march(&m, &counting);
    size_t size = pz_arena_bytes(&counting);
    void *memory = size ? pz_allocate(allocator, size) : NULL;
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_arena arena = pz_arena_over(memory, size);
    lay_out_march(&m, &arena);
    fill_goals(&m);
    poise_status status = march_on(&m, allocator, error);
    pz_release(allocator, memory);
    return status;
}

// ---- Seams ---------------------------------------------------------------------------------------------------------------

static double turn_between(poise_tracker *t, const double *a, const double *b)
{
    poise_kinematics_update(t->other.kin, a, NULL);
    poise_kinematics_update(t->kin, b, NULL);
    return poise_kinematics_turn(t->other.kin, t->kin);
}

// The first worker's tracker as it would be after the frame before a chunk, whatever it did last.
static poise_tracker *go_on_after_seam(const pz_track_chunks *r, int first)
{
    poise_tracker *t = r->trackers[0];
    poise_tracker_reset(t, r->q_start, NULL);
    pz_tracker_go_on_from(t, frame_q(r, first - 1));
    t->usual = r->frames[first - 1].rms;
    return t;
}

// A share of the way from one pose to another. Both are within the limits; rounding may leave what lies between a hair
// outside, and a way that is too long for numbers is not gone.
static void go_part(const poise_tracker *t, const double *from, const double *to, double share, double *q)
{
    const poise_model *model = t->model;
    double *step = t->change;
    memcpy(q, from, (size_t)poise_model_info(model).nq * sizeof *q);
    if (poise_difference(model, from, to, step, NULL) != POISE_OK) {
        return;
    }
    for (int k = 0; k < poise_model_info(model).nv; ++k) {
        step[k] *= share;
    }
    if (poise_retract(model, from, step, q, NULL) == POISE_OK) {
        pz_tracker_keep_limits(t, q);
    }
}

void pz_track_tell_turn(const pz_track_chunks *r, int f)
{
    poise_tracker *t = r->trackers[0];
    poise_track_frame *frame = &r->frames[f];
    frame->turn = turn_between(t, frame_q(r, f - 1), frame_q(r, f));
    frame->flags = frame->turn > t->problem.max_turn ? frame->flags | POISE_TRACK_JUMP : frame->flags & ~POISE_TRACK_JUMP;
}

// Go over from the tail of the chunk before to this one, frame by frame. Bodies agree; angles that say the same may differ,
// and then there is nothing between them. A frame that gets worse on the way stays as the chunk has it.
static void blend(const pz_track_chunks *r, int chunk, int length)
{
    poise_tracker *t = go_on_after_seam(r, chunk * r->chunk);
    for (int i = 0; i < length; ++i) {
        int f = chunk * r->chunk + i;
        double *from = tail_q(r, chunk - 1, i), *to = frame_q(r, f), share = (i + 1.0) / (length + 1.0);
        share = share * share * (3.0 - 2.0 * share);
        pz_nearest_turns(t->model, t->placements, t->count, from, to);
        go_part(t, from, to, share, r->q[0]);
        if (turn_between(t, from, r->q[0]) > AGREE) { // one posture by other Euler angles: what lies between is another
            memcpy(r->q[0], share < 0.5 ? from : to, (size_t)r->nq * sizeof *r->q[0]);
        }
        pz_tracker_go_on_from(t, r->q[0]);
        poise_track_frame between;
        pz_track_next(r, t, 0, f, r->q[0], &between);
        if (between.rms <= WORSE * max2(r->tail[(chunk - 1) * SEAM + i].rms, r->frames[f].rms)) {
            memcpy(to, r->q[0], (size_t)r->nq * sizeof *to);
            r->frames[f] = between;
        }
        pz_track_tell_turn(r, f);
    }
}

// Angles of a chunk, and of the seam beyond its end, that go on from the frame before, or from where a cold start begins.
static void go_on_turning(const pz_track_chunks *r, int chunk)
{
    const poise_tracker *t = r->trackers[0];
    int first = chunk * r->chunk, end = least(first + r->chunk, r->markers->frames);
    const double *before = first > 0 ? frame_q(r, first - 1) : t->q_start;
    for (int f = first; f < end + SEAM && f < r->markers->frames; ++f) {
        double *q = f < end ? frame_q(r, f) : tail_q(r, chunk, f - end);
        pz_nearest_turns(t->model, t->placements, t->count, before, q);
        before = q;
    }
}

static void join(const pz_track_chunks *r, int chunk)
{
    poise_tracker *t = r->trackers[0];
    int first = chunk * r->chunk, length = least(least(SEAM, r->chunk), r->markers->frames - first);
    bool agree = true;
    go_on_turning(r, chunk);
    for (int i = 0; i < length && agree; ++i) {
        agree = turn_between(t, tail_q(r, chunk - 1, i), frame_q(r, first + i)) <= AGREE;
    }
    if (agree) {
        blend(r, chunk, length);
        go_on_turning(r, chunk);
    } else if (!(r->frames[first].rms < BETTER * r->tail[(chunk - 1) * SEAM].rms)) {
        go_on_after_seam(r, first);
        track_places(r, chunk, lead_of(r, chunk), 0);
    } else {
        pz_track_tell_turn(r, first);
        r->frames[first].flags |= POISE_TRACK_RESTARTED | POISE_TRACK_JUMP;
    }
}

// ---- Going back ----------------------------------------------------------------------------------------------------------

static bool is_better(const poise_track_frame *a, const poise_track_frame *b)
{
    if ((a->flags | b->flags) & POISE_TRACK_HELD) {
        return !(a->flags & POISE_TRACK_HELD);
    }
    if (a->outcome == POISE_OUTCOME_INFEASIBLE && b->outcome != POISE_OUTCOME_INFEASIBLE) {
        return false;
    }
    return a->let_go == b->let_go ? a->rms < SAME * b->rms : a->let_go < b->let_go;
}

// Backwards from a frame that was found afresh; returns the first frame that changed.
static int go_back_from(const pz_track_chunks *r, int found)
{
    poise_tracker *t = go_on_after_seam(r, found + 1);
    int f = found - 1;
    for (; f >= 0 && r->refused[0].status == POISE_OK; --f) {
        poise_track_frame frame;
        pz_track_next(r, t, 0, f, r->q[0], &frame);
        if (r->refused[0].status != POISE_OK || !is_better(&frame, &r->frames[f])) {
            break;
        }
        memcpy(frame_q(r, f), r->q[0], (size_t)r->nq * sizeof *r->q[0]);
        r->frames[f] = frame;
    }
    for (int i = f + 1 > 0 ? f + 1 : 1; i <= found && f + 1 < found; ++i) {
        pz_track_tell_turn(r, i);
    }
    return f + 1;
}

static void go_back(const pz_track_chunks *r)
{
    const poise_tracker *t = r->trackers[0];
    int changed = r->markers->frames;
    for (int f = 1; f < r->markers->frames; ++f) {
        if (r->frames[f].flags & POISE_TRACK_RESTARTED) {
            int first = go_back_from(r, f);
            changed = first < f ? least(changed, first) : changed;
        }
    }
    for (int f = changed > 0 ? changed : 1; f < r->markers->frames; ++f) { // angles go on from the frame before
        pz_nearest_turns(t->model, t->placements, t->count, frame_q(r, f - 1), frame_q(r, f));
    }
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static void lay_out(pz_track_chunks *r, int workers, pz_arena *arena)
{
    size_t chunks = (size_t)chunk_count(r), count = (size_t)r->count, nq = (size_t)r->nq, n = (size_t)workers;
    r->index = pz_arena_take(arena, count, sizeof *r->index);
    r->trackers = pz_arena_take(arena, n, sizeof(void *));
    r->seen = pz_arena_take(arena, n, sizeof(void *));
    r->q = pz_arena_take(arena, n, sizeof(void *));
    r->refused = pz_arena_take(arena, n, sizeof *r->refused);
    for (size_t i = 0; i < n; ++i) {
        poise_vec3 *seen = pz_arena_take(arena, count, sizeof *seen);
        double *q = pz_arena_take(arena, nq, sizeof *q);
        if (r->seen && r->q) {
            r->seen[i] = seen;
            r->q[i] = q;
        }
    }
    r->tail_q = pz_arena_take(arena, chunks * SEAM, nq * sizeof *r->tail_q);
    r->tail = pz_arena_take(arena, chunks * SEAM, sizeof *r->tail);
    r->frames = pz_arena_take(arena, (size_t)r->markers->frames, sizeof *r->frames);
}

// Has a worker refused a frame?
static poise_status find_refusal(const pz_track_chunks *r, int workers, poise_error *error)
{
    for (int i = 0; i < workers; ++i) {
        if (r->refused[i].status != POISE_OK) {
            return pz_error_set(error, r->refused[i].status, "%s", r->refused[i].text);
        }
    }
    return POISE_OK;
}

// Can frames be solved ahead? What a tracker is pulled by there is known of each of them, and all that is seen counts.
static bool can_run_ahead(const poise_track_problem *problem)
{
    bool can = problem->ahead && problem->constraint_count == 0 && !problem->task_weights;
    for (int i = 0; i < problem->placement_count && can; ++i) {
        can = problem->placements[i].weight > 0;
    }
    return can;
}

static poise_status track_all(pz_track_chunks *r, const poise_track_problem *problem, const poise_allocator *allocator,
                              poise_error *error)
{
    int chunks = chunk_count(r);
    for (int i = 0; i < problem->workers; ++i) {
        r->refused[i].status = POISE_OK;
    }
    if (can_run_ahead(problem)) {
        poise_status ahead = track_ahead(r, problem, allocator, error);
        if (ahead != POISE_OK) {
            return ahead;
        }
    } else if (problem->parallel_for) {
        problem->parallel_for(problem->user, chunks, run_chunk, r);
    } else {
        for (int c = 0; c < chunks; ++c) {
            run_chunk(r, c, 0);
        }
    }
    poise_status status = find_refusal(r, problem->workers, error);
    if (chunks > 0 && status == POISE_OK) {
        go_on_turning(r, 0);
    }
    for (int c = 1; c < chunks && status == POISE_OK; ++c) {
        join(r, c);
        status = find_refusal(r, 1, error);
    }
    if (status == POISE_OK) {
        go_back(r);
        status = find_refusal(r, 1, error);
    }
    if (status == POISE_OK && !problem->task_weights) {
        status = pz_track_mend_gaps(r, problem, allocator, error);
        status = status == POISE_OK ? find_refusal(r, 1, error) : status;
    }
    return status;
}

// The trackers of all workers but the first, which is there already. *made counts those that are.
static poise_status make_trackers(const poise_track_problem *problem, const poise_allocator *allocator, pz_track_chunks *r,
                                  int *made, poise_error *error)
{
    poise_status status = POISE_OK;
    for (*made = 1; *made < problem->workers && status == POISE_OK; *made += status == POISE_OK) {
        status = poise_tracker_create(problem, allocator, &r->trackers[*made], error);
    }
    return status;
}

static void find_markers(const poise_track_problem *problem, pz_track_chunks *r)
{
    for (int i = 0; i < r->count; ++i) {
        const char *label = problem->placements[i].label;
        r->index[i] = label ? poise_markers_find(problem->markers, label) : POISE_NONE;
    }
}

poise_status poise_track(const poise_track_problem *problem, const poise_allocator *allocator, poise_clip **clip,
                         poise_track_frame *frames, poise_error *error)
{
    if (!problem || !problem->markers || !clip) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, placements, markers and clip must not be NULL");
    }
    poise_tracker *first;
    poise_status status = poise_tracker_create(problem, allocator, &first, error);
    if (status != POISE_OK) {
        return status;
    }
    const poise_markers *markers = problem->markers;
    pz_track_chunks r = {.markers = markers,
                         .q_start = problem->q_start,
                         .count = problem->placement_count,
                         .nq = poise_model_info(problem->model).nq,
                         .chunk = problem->chunk};
    if (problem->constraint_count > 0) { // one chunk: a blend at a seam need not hold them
        r.chunk = markers->frames > 0 ? markers->frames : 1;
    }
    pz_arena counting = pz_arena_counting();
    lay_out(&r, problem->workers, &counting);
    size_t size = pz_arena_bytes(&counting);
    void *memory = size ? pz_allocate(allocator, size) : NULL;
    status = memory ? poise_clip_create(markers->frames, r.nq, 1.0 / markers->rate, allocator, &r.clip, error)
                    : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    int made = 1;
    if (status == POISE_OK) {
        r.clip->start_time = markers->start_time;
        pz_arena arena = pz_arena_over(memory, size);
        lay_out(&r, problem->workers, &arena);
        r.trackers[0] = first;
        find_markers(problem, &r);
        status = make_trackers(problem, allocator, &r, &made, error);
    }
    status = status == POISE_OK ? track_all(&r, problem, allocator, error) : status;
    if (status == POISE_OK) {
        *clip = r.clip;
        if (frames) {
            memcpy(frames, r.frames, (size_t)markers->frames * sizeof *frames);
        }
    } else {
        poise_clip_destroy(r.clip);
    }
    for (int i = 1; i < made; ++i) {
        poise_tracker_destroy(r.trackers[i]);
    }
    poise_tracker_destroy(first);
    pz_release(allocator, memory);
    return status;
}

// ---- What a track misses -------------------------------------------------------------------------------------------------

// How far markers are from their places in a motion that follows them.

typedef struct measuring {
    const poise_track_problem *problem;
    const poise_track_frame *frames;
    int *index;                  // by placement: marker, or POISE_NONE
    poise_track_summary summary; // means are sums, until all are in
    double length, square;       // sums
    double pull, weight;         // likewise, of squares by weight and of weights
    int64_t count;
} measuring;

// The distance of a marker from its place; NaN when it was not seen.
static double distance_of(const measuring *m, const poise_kinematics *kin, int frame, int i)
{
    const poise_markers *markers = m->problem->markers;
    const poise_placement *place = &m->problem->placements[i];
    if (m->index[i] < 0 || !poise_markers_seen(markers, frame, m->index[i])) {
        return (double)NAN;
    }
    vec3 seen = markers->position[(size_t)frame * (size_t)markers->count + (size_t)m->index[i]];
    return v3_norm(v3_sub(seen, poise_kinematics_point(kin, place->body, place->local)));
}

static void add_distance(measuring *m, int frame, int i, double d)
{
    const poise_track_frame *f = &m->frames[frame];
    poise_marker_error none = {.seen = 0}, *marker = m->summary.markers ? &m->summary.markers[i] : &none;
    bool is_held = f->flags & POISE_TRACK_HELD, lets_go = !is_held && poise_track_lets_go(f, d);
    marker->seen += 1;
    marker->let_go += lets_go;
    if (is_held || lets_go) {
        return;
    }
    marker->counted += 1;
    marker->mean += d;
    if (d > marker->worst) {
        marker->worst = d;
        marker->worst_frame = frame;
    }
    if (d > m->summary.worst) {
        m->summary.worst = d;
        m->summary.worst_frame = frame;
        m->summary.worst_marker = i;
    }
    m->length += d;
    m->square += d * d;
    m->pull += m->problem->placements[i].weight * d * d;
    m->weight += m->problem->placements[i].weight;
    m->count += 1;
}

// A take may begin and end with nobody in view: with fewer markers than a frame needs. A take without any other frame does
// not.
static void find_ends(measuring *m, int count)
{
    int first = 0, end = count, least = m->problem->least_markers;
    while (first < end && m->frames[first].seen < least) {
        ++first;
    }
    while (end > first && m->frames[end - 1].seen < least) {
        --end;
    }
    if (first < end) {
        m->summary.before = first;
        m->summary.after = count - end;
    }
}

static void add_flags(const poise_track_frame *f, bool is_there, poise_track_summary *s)
{
    s->held += is_there && (f->flags & POISE_TRACK_HELD);
    s->jumps += (f->flags & POISE_TRACK_JUMP) != 0;
    s->outliers += (f->flags & POISE_TRACK_OUTLIERS) != 0;
    s->restarts += (f->flags & POISE_TRACK_RESTARTED) != 0;
    s->ahead += f->is_ahead;
    s->gaps += is_there && (f->flags & POISE_TRACK_GAPS);
    s->mean_iterations += f->iterations;
    s->most_iterations = f->iterations > s->most_iterations ? f->iterations : s->most_iterations;
}

static void measure_frame(measuring *m, const poise_kinematics *kin, int frame)
{
    int count = m->problem->placement_count;
    for (int i = 0; i < count; ++i) {
        double d = distance_of(m, kin, frame, i);
        if (m->summary.distances) {
            m->summary.distances[(size_t)frame * (size_t)count + (size_t)i] = d;
        }
        if (d == d && m->problem->placements[i].weight > 0) {
            add_distance(m, frame, i, d);
        }
    }
    bool is_there = frame >= m->summary.before && frame < m->problem->markers->frames - m->summary.after;
    add_flags(&m->frames[frame], is_there, &m->summary);
}

static void begin_measuring(measuring *m)
{
    for (int i = 0; i < m->problem->placement_count; ++i) {
        const char *label = m->problem->placements[i].label;
        m->index[i] = label ? poise_markers_find(m->problem->markers, label) : POISE_NONE;
        if (m->summary.markers) {
            m->summary.markers[i] = (poise_marker_error){.seen = 0};
        }
    }
}

static void finish_measuring(measuring *m, int frames)
{
    for (int i = 0; i < m->problem->placement_count && m->summary.markers; ++i) {
        m->summary.markers[i].mean /= max2(m->summary.markers[i].counted, 1.0);
    }
    m->summary.mean = m->count > 0 ? m->length / (double)m->count : 0.0;
    m->summary.rms = m->count > 0 ? sqrt(m->square / (double)m->count) : 0.0;
    m->summary.weighted = m->weight > 0 ? sqrt(m->pull / m->weight) : 0.0;
    m->summary.mean_iterations /= max2(frames, 1.0);
}

poise_status poise_track_measure(const poise_track_problem *problem, const poise_clip *clip, const poise_track_frame *frames,
                                 const poise_allocator *allocator, poise_track_summary *summary, poise_error *error)
{
    if (!problem || !problem->model || !problem->markers || (problem->placement_count > 0 && !problem->placements) ||
        !clip || !frames || !summary) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, placements, markers, clip and frames must not be NULL");
    }
    if (clip->nq != poise_model_info(problem->model).nq || clip->frames != problem->markers->frames) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the clip is of another model or recording");
    }
    measuring m = {
        .problem = problem, .frames = frames, .summary = {.distances = summary->distances, .markers = summary->markers}};
    poise_kinematics *kin = NULL;
    m.index = pz_allocate(allocator, ((size_t)problem->placement_count + 1) * sizeof *m.index);
    if (!m.index || poise_kinematics_create(problem->model, allocator, &kin, NULL) != POISE_OK) {
        pz_release(allocator, m.index);
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    begin_measuring(&m);
    find_ends(&m, clip->frames);
    for (int f = 0; f < clip->frames; ++f) {
        poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL);
        measure_frame(&m, kin, f);
    }
    finish_measuring(&m, clip->frames);
    *summary = m.summary;
    poise_kinematics_destroy(kin);
    pz_release(allocator, m.index);
    return POISE_OK;
}

// ---- Degrees of freedom that nothing sees --------------------------------------------------------------------------------

// A marker sees every joint above its body, and whom those follow.
void poise_unseen_dofs(const poise_model *model, const poise_placement *placements, int count, const double *task_weights,
                       bool *unseen)
{
    poise_model_summary size = poise_model_info(model);
    for (int i = 0; i < size.nv; ++i) {
        unseen[i] = !task_weights || task_weights[i] == 0.0;
    }
    for (int i = 0; i < count; ++i) {
        for (int k = placements[i].body; placements[i].weight > 0.0 && k >= 0;) {
            poise_joint_info info = poise_model_joint_info(model, k);
            poise_joint_info mover = info.mimic >= 0 ? poise_model_joint_info(model, info.mimic) : info;
            for (int v = mover.v; v < mover.v + mover.nv; ++v) {
                unseen[v] = false;
            }
            k = info.parent;
        }
    }
}
