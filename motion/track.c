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
// to where they are found again (gaps/mend_gaps.c).
#include "motion/track_chunks.h"
#include "motion/turns.h"

#include "base/error.h"

#include <string.h>

#define LEAD   30   // frames
#define SEAM   30   // frames
#define AGREE  0.2  // radians: no body turned farther from one to the other
#define WORSE  1.1  // times the rms of the worse of two chunks
#define BETTER 0.7  // of the rms: then the cold start of the later chunk is right and the earlier chunk went astray
#define SAME   0.99 // of the rms: no better

int pz_track_chunk_count(const pz_track_chunks *r)
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

int pz_track_place_count(const pz_track_chunks *r, int chunk)
{
    int end = end_of(r, chunk);
    return lead_of(r, chunk) + end - chunk * r->chunk + least(SEAM, r->markers->frames - end);
}

int pz_track_frame_at(const pz_track_chunks *r, int chunk, int place)
{
    int lead = lead_of(r, chunk), frame = chunk * r->chunk + place - lead;
    return place < lead && chunk == 0 ? -frame : frame;
}

void pz_track_at(const pz_track_chunks *r, poise_tracker *tracker, int worker, int chunk, int place)
{
    int frame = pz_track_frame_at(r, chunk, place), end = end_of(r, chunk);
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
    int count = pz_track_place_count(r, chunk);
    for (int place = first; place < count; ++place) {
        pz_track_at(r, r->trackers[worker], worker, chunk, place);
    }
}

static void run_chunk(void *work, int chunk, int worker)
{
    const pz_track_chunks *r = work;
    poise_tracker_reset(r->trackers[worker], r->q_start, NULL);
    track_places(r, chunk, 0, worker);
}

// ---- Seams ---------------------------------------------------------------------------------------------------------------

static double turn_between(poise_tracker *t, const double *a, const double *b)
{
    pz_objective_evaluate(t->warm->trial, a, POISE_LEVEL_COST);
    memcpy(t->other.R, t->warm->trial->kin.R, (size_t)t->model->joint_count * sizeof *t->other.R);
    pz_objective_evaluate(t->warm->trial, b, POISE_LEVEL_COST);
    return pz_largest_turn(t->model, t->other.R, t->warm->trial->kin.R);
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
    double *step = t->warm->step; // scratch between solves
    memcpy(q, from, (size_t)model->nq * sizeof *q);
    if (poise_difference(model, from, to, step, NULL) != POISE_OK) {
        return;
    }
    for (int k = 0; k < model->nv; ++k) {
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
    size_t chunks = (size_t)pz_track_chunk_count(r), count = (size_t)r->count, nq = (size_t)r->nq, n = (size_t)workers;
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
    int chunks = pz_track_chunk_count(r);
    for (int i = 0; i < problem->workers; ++i) {
        r->refused[i].status = POISE_OK;
    }
    if (can_run_ahead(problem)) {
        poise_status ahead = pz_track_chunks_ahead(r, problem, allocator, error);
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
                         .nq = problem->model->nq,
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
