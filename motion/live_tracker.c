// Markers as they arrive, a fixed number of frames behind.
//
// Every new frame is tracked on its own (tracker.c), which is where it starts. Every knot-th time the last frames are solved
// as a whole clip: those that were given out, pulled to where they were, and `lag` more. A frame is given out when `lag`
// frames have come after it. Windows begin at knots of the clip, so that what was given out is a spline of the next window.
//
// Weights come from the motion so far: the noise from what tracking leaves, accelerations from each window's answer.
#include "motion/sequence.h"
#include "motion/tracker.h"

#include "base/error.h"
#include "motion/pieces.h"

#include <string.h>

#define PAST          4 // knots that were given out and still count
#define LEAST_LAG     3 // knots: nearer to a window's end a spline is looser than frames on their own
#define LEAST_FRAMES  8 // fewer are given out as they were tracked
#define MOST_LAG      100000
#define ITERATIONS    3    // of a window
#define ANCHOR        0.03 // of the weight of all markers: of a frame that was given out
#define SHARE         0.2  // of a window in the accelerations
#define LEAST_NOISE   5e-5 // of the reach
#define LEAST_CHANCE  0.25 // of the numbers of a frame: what is left to chance at least
#define OUTLIER_NOISE 20.0
#define OUTLIER_REACH 0.03 // of the reach: markers nearer than this are never ignored
#define FARTHEST      1e100

struct poise_live {
    poise_track_problem problem;
    poise_sequence_options options;
    const poise_allocator *allocator; // NULL, or `own`
    poise_allocator own;
    void *memory;
    poise_tracker *tracker;
    poise_kinematics *kin;
    poise_placement *placements;
    int count;         // of them
    int lag, room;     // frames; that fit
    int begin, filled; // the first frame in the window, and how many there are
    int came, given;   // frames so far
    int waiting;       // since the last solve
    double frame_time;
    double *q;                 // room x nq
    double *before;            // room x nq: scratch
    poise_vec3 *seen;          // room x count
    bool *gone;                // room x count: far from where tracking has it
    poise_track_frame *record; // room: what tracking made of it
    poise_goal *goals;         // of a frame
    double *anchor;            // nv: weights of frames that were given out
    double *acceleration;      // nv: of the motion so far
    bool *is_length;           // nv
    double squares, chances;   // of what tracking leaves
    double reach;
};

static bool is_seen(vec3 p)
{
    return fabs(p.x) < FARTHEST && fabs(p.y) < FARTHEST && fabs(p.z) < FARTHEST;
}

// poise_sequence_goals: markers that were seen and fit, or the pose that was given out.
static const poise_goal *goals_of(void *user, int frame, int *count)
{
    poise_live *live = user;
    const poise_vec3 *seen = live->seen + (size_t)frame * (size_t)live->count;
    const bool *gone = live->gone + (size_t)frame * (size_t)live->count;
    int n = 0;
    for (int i = 0; i < live->count; ++i) {
        if (is_seen(seen[i]) && !gone[i] && live->placements[i].weight > 0.0) {
            live->goals[n] = poise_goal_position(live->placements[i].body, live->placements[i].local, seen[i]);
            live->goals[n++].weight = live->placements[i].weight;
        }
    }
    if (live->begin + frame < live->given) {
        live->goals[n] =
            poise_goal_posture(live->before + (size_t)frame * (size_t)poise_model_info(live->problem.model).nq, 1.0);
        live->goals[n++].q_weights = live->anchor;
    }
    *count = n;
    return live->goals;
}

// ---- Windows -------------------------------------------------------------------------------------------------------------

static double noise_of(const poise_live *live)
{
    double noise = live->chances > 0.0 ? sqrt(live->squares / live->chances) : 0.0;
    return live->options.noise > 0.0 ? live->options.noise : max2(noise, LEAST_NOISE * live->reach);
}

// Weights for the next window by what this one's answer is.
static void learn(poise_live *live, pz_sequence *s)
{
    memcpy(s->acceleration, live->acceleration, (size_t)s->nv * sizeof *s->acceleration);
    pz_sequence_estimate(s, 0.0);
    for (int i = 0; i < s->nv; ++i) {
        live->acceleration[i] += SHARE * (s->acceleration[i] - live->acceleration[i]);
    }
}

static poise_status solve_window(poise_live *live, poise_error *error)
{
    size_t nq = (size_t)poise_model_info(live->problem.model).nq;
    poise_clip clip = {.frames = live->filled, .nq = (int)nq, .frame_time = live->frame_time, .q = live->q};
    pz_sequence s;
    memcpy(live->before, live->q, (size_t)live->filled * nq * sizeof *live->q);
    poise_status status = pz_sequence_create(live->problem.model, &live->options, &clip, live->allocator, &s, error);
    if (status != POISE_OK) {
        return status;
    }
    s.goals = goals_of;
    s.user = live;
    pz_sequence_weigh(&s, noise_of(live), live->acceleration);
    status = pz_sequence_solve(&s, ITERATIONS);
    if (status == POISE_OK) {
        learn(live, &s);
    }
    pz_sequence_finish(&s, NULL);
    int kept = least(live->given > live->begin ? live->given - live->begin : 0, live->filled);
    memcpy(live->q, live->before, (size_t)kept * nq * sizeof *live->q);
    live->waiting = 0;
    return status;
}

// Room for another frame: whole knots leave at the front.
static void make_room(poise_live *live)
{
    size_t nq = (size_t)poise_model_info(live->problem.model).nq, count = (size_t)live->count;
    if (live->filled < live->room) {
        return;
    }
    size_t leaves = (size_t)live->options.knot, left = (size_t)live->filled - leaves;
    memmove(live->q, live->q + leaves * nq, left * nq * sizeof *live->q);
    memmove(live->seen, live->seen + leaves * count, left * count * sizeof *live->seen);
    memmove(live->gone, live->gone + leaves * count, left * count * sizeof *live->gone);
    memmove(live->record, live->record + leaves, left * sizeof *live->record);
    live->begin += (int)leaves;
    live->filled = (int)left;
}

// ---- One frame -----------------------------------------------------------------------------------------------------------

// What tracking leaves counts as noise; markers that are far off are ignored.
static void judge_markers(poise_live *live, int slot, const poise_track_frame *frame)
{
    double noise = noise_of(live), most = max2(OUTLIER_NOISE * noise, OUTLIER_REACH * live->reach);
    most = live->problem.outlier > 0.0 ? live->problem.outlier : most;
    poise_kinematics_update(live->kin, live->q + (size_t)slot * (size_t)poise_model_info(live->problem.model).nq, NULL);
    for (int i = 0; i < live->count; ++i) {
        const poise_placement *p = &live->placements[i];
        vec3 seen = live->seen[(size_t)slot * (size_t)live->count + (size_t)i];
        double off = v3_norm(v3_sub(poise_kinematics_point(live->kin, p->body, p->local), seen));
        live->gone[(size_t)slot * (size_t)live->count + (size_t)i] = live->problem.robust && is_seen(seen) && off > most;
    }
    int kept = frame->seen - frame->let_go;
    if (kept > 0 && !(frame->flags & POISE_TRACK_HELD)) {
        live->squares += kept * frame->rms * frame->rms;
        live->chances += max2(3.0 * kept - poise_model_info(live->problem.model).nv, LEAST_CHANCE * 3.0 * kept);
    }
}

static poise_status take(poise_live *live, const poise_vec3 *seen, poise_error *error)
{
    size_t nq = (size_t)poise_model_info(live->problem.model).nq, count = (size_t)live->count;
    poise_track_frame frame = {0};
    make_room(live);
    size_t slot = (size_t)live->filled;
    poise_status status = poise_tracker_next(live->tracker, seen, live->q + slot * nq, &frame, error);
    if (status != POISE_OK) {
        return status;
    }
    memcpy(live->seen + slot * count, seen, count * sizeof *seen);
    live->record[slot] = frame;
    judge_markers(live, (int)slot, &frame);
    live->filled += 1;
    live->came += 1;
    live->waiting += 1;
    return live->waiting >= live->options.knot && live->filled >= LEAST_FRAMES ? solve_window(live, error) : POISE_OK;
}

poise_status poise_live_next(poise_live *live, const poise_vec3 *seen, double *q, int *frame, poise_track_frame *record,
                             poise_error *error)
{
    if (!live || !q || !frame) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "live, q and frame must not be NULL");
    }
    *frame = POISE_NONE;
    poise_status status = POISE_OK;
    if (seen) {
        status = take(live, seen, error);
    } else if (live->waiting > 0 && live->filled >= LEAST_FRAMES) {
        status = solve_window(live, error);
    }
    if (status == POISE_OK && live->given < live->came - (seen ? live->lag : 0)) {
        size_t nq = (size_t)poise_model_info(live->problem.model).nq, slot = (size_t)(live->given - live->begin);
        memcpy(q, live->q + slot * nq, nq * sizeof *q);
        if (record) {
            *record = live->record[slot];
        }
        *frame = live->given++;
    }
    return status;
}

// ---- Making --------------------------------------------------------------------------------------------------------------

static void lay_out(poise_live *live, const poise_model *model, pz_arena *arena)
{
    size_t room = (size_t)live->room, count = (size_t)live->count, nq = (size_t)poise_model_info(model).nq,
           nv = (size_t)poise_model_info(model).nv;
    live->placements = pz_arena_take(arena, count + 1, sizeof *live->placements);
    live->q = pz_arena_take(arena, room * nq, sizeof *live->q);
    live->before = pz_arena_take(arena, room * nq, sizeof *live->before);
    live->seen = pz_arena_take(arena, room * count + 1, sizeof *live->seen);
    live->gone = pz_arena_take(arena, room * count + 1, sizeof *live->gone);
    live->record = pz_arena_take(arena, room, sizeof *live->record);
    live->goals = pz_arena_take(arena, count + 1, sizeof *live->goals);
    live->anchor = pz_arena_take(arena, nv + 1, sizeof *live->anchor);
    live->is_length = pz_arena_take(arena, nv + 1, sizeof *live->is_length);
    live->acceleration = pz_arena_take(arena, nv + 1, sizeof *live->acceleration);
}

// The reach, the weights of frames that were given out, and the usual accelerations.
static void prepare(poise_live *live)
{
    const poise_model *model = live->problem.model;
    double weight = 0.0;
    poise_model_neutral(model, live->q);
    poise_kinematics_update(live->kin, live->q, NULL);
    for (int i = 0; i < live->count; ++i) {
        const poise_placement *p = &live->placements[i], *first = &live->placements[0];
        vec3 apart = poise_kinematics_apart(live->kin, first->body, first->local, p->body, p->local);
        live->reach = max2(live->reach, v3_norm(apart));
        weight += p->weight;
    }
    live->reach = live->reach > 0.0 ? live->reach : 1.0;
    pz_find_lengths(model, live->is_length);
    pz_sequence s = {.model = model, .options = live->options, .is_length = live->is_length};
    for (int i = 0; i < poise_model_info(model).nv; ++i) {
        live->anchor[i] = ANCHOR * weight * (live->is_length[i] ? 1.0 : live->reach * live->reach);
        live->acceleration[i] = pz_sequence_usual(&s, i, 0.0);
    }
}

static poise_status check(const poise_track_problem *problem, const poise_sequence_options *o, double rate, int lag,
                          poise_error *error)
{
    poise_status status = pz_sequence_check(problem->model, o, error);
    if (status != POISE_OK) {
        return status;
    }
    if (problem->task_weights || problem->constraint_count > 0 || o->velocity || o->acceleration) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED,
                            "live: tasks, constraints and limits of velocity and acceleration do not work with a fixed lag");
    }
    if (!(rate > 0.0) || !is_finite(rate) || lag < LEAST_LAG * o->knot || lag > MOST_LAG) {
        return pz_error_set(
            error, POISE_ERROR_ARGUMENT,
            "live: rate must be > 0, and lag in %d .. %d frames, %d knots at least; with a smaller knot it may "
            "be less",
            LEAST_LAG * o->knot, MOST_LAG, LEAST_LAG);
    }
    return POISE_OK;
}

poise_status poise_live_create(const poise_track_problem *problem, const poise_sequence_options *options, double rate,
                               int lag, const poise_allocator *allocator, poise_live **live, poise_error *error)
{
    if (!problem || !options || !live) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "problem, options and live must not be NULL");
    }
    poise_status status = check(problem, options, rate, lag, error);
    if (status != POISE_OK) {
        return status;
    }
    poise_live *made = pz_allocate(allocator, sizeof *made);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    *made = (poise_live){.problem = *problem, .options = *options, .count = problem->placement_count, .lag = lag};
    int knot = options->knot;
    made->room = ((PAST + 1) * knot + lag + knot) / knot * knot;
    made->frame_time = 1.0 / rate;
    made->options.window = made->room > 8 * knot ? made->room : 8 * knot;
    made->options.overlap = 0;
    made->options.use_limits = options->use_limits && problem->solver.use_limits;
    made->options.locked = options->locked ? options->locked : problem->solver.locked;
    made->own = allocator ? *allocator : made->own;
    made->allocator = allocator ? &made->own : NULL;
    status = poise_tracker_create(problem, allocator, &made->tracker, error);
    status = status == POISE_OK ? poise_kinematics_create(problem->model, allocator, &made->kin, error) : status;
    pz_arena counting = pz_arena_counting();
    lay_out(made, problem->model, &counting);
    size_t size = pz_arena_bytes(&counting);
    made->memory = status == POISE_OK ? pz_allocate(allocator, size) : NULL;
    if (!made->memory) {
        status = status == POISE_OK ? pz_error_set(error, POISE_ERROR_MEMORY, "out of memory") : status;
        made->allocator = allocator;
        poise_live_destroy(made);
        return status;
    }
    pz_arena arena = pz_arena_over(made->memory, size);
    lay_out(made, problem->model, &arena);
    memcpy(made->placements, problem->placements, (size_t)made->count * sizeof *made->placements);
    prepare(made);
    *live = made;
    return POISE_OK;
}

void poise_live_destroy(poise_live *live)
{
    if (live) {
        poise_allocator own = live->own;
        const poise_allocator *allocator = live->allocator ? &own : NULL;
        poise_tracker_destroy(live->tracker);
        poise_kinematics_destroy(live->kin);
        pz_release(allocator, live->memory);
        pz_release(allocator, live);
    }
}

// ---- Recordings ----------------------------------------------------------------------------------------------------------

// The markers of a frame by placement; what is not in the recording was not seen.
static void read_frame(const poise_track_problem *problem, const int *index, int frame, poise_vec3 *seen)
{
    const poise_markers *m = problem->markers;
    for (int i = 0; i < problem->placement_count; ++i) {
        seen[i] = index[i] < 0 ? v3(NAN, NAN, NAN) : m->position[(size_t)frame * (size_t)m->count + (size_t)index[i]];
    }
}

// Turns from frame to frame are those of the answer, not those of tracking.
static void measure_turns(poise_live *live, const poise_clip *clip, poise_kinematics **before, poise_track_frame *frames)
{
    for (int t = 0; t < clip->frames; ++t) {
        poise_kinematics_update(live->kin, clip->q + (size_t)t * (size_t)clip->nq, NULL);
        frames[t].turn = t > 0 ? poise_kinematics_turn(*before, live->kin) : 0.0;
        frames[t].flags &= ~POISE_TRACK_JUMP;
        frames[t].flags |= frames[t].turn > live->problem.max_turn ? POISE_TRACK_JUMP : 0;
        poise_kinematics *now = live->kin;
        live->kin = *before;
        *before = now;
    }
}

// Every frame in, and out of the clip what comes.
static poise_status run(poise_live *live, const int *index, poise_vec3 *seen, poise_clip *clip, poise_track_frame *frames,
                        poise_error *error)
{
    poise_status status = POISE_OK;
    for (int t = 0, at = 0; (t < clip->frames || at >= 0) && status == POISE_OK; ++t) {
        bool comes = t < clip->frames;
        size_t due = (size_t)least(live->given, clip->frames - 1);
        if (comes) {
            read_frame(&live->problem, index, t, seen);
        }
        status = poise_live_next(live, comes ? seen : NULL, clip->q + due * (size_t)clip->nq, &at, &frames[due], error);
        if (comes && status == POISE_OK && live->problem.on_frame) {
            live->problem.on_frame(live->problem.user, t, 0);
        }
    }
    return status;
}

poise_status poise_track_live(const poise_track_problem *problem, const poise_sequence_options *options, int lag,
                              const poise_allocator *allocator, poise_clip **clip, poise_track_frame *frames,
                              poise_error *error)
{
    if (!problem || !problem->markers || !clip) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, placements, markers and clip must not be NULL");
    }
    const poise_markers *m = problem->markers;
    size_t count = (size_t)problem->placement_count, length = (size_t)m->frames;
    poise_live *live = NULL;
    poise_status status = poise_live_create(problem, options, m->rate, lag, allocator, &live, error);
    if (status != POISE_OK) {
        return status;
    }
    poise_clip *made = NULL;
    int *index = pz_allocate(allocator, (count + 1) * sizeof *index);
    poise_vec3 *seen = pz_allocate(allocator, (count + 1) * sizeof *seen);
    poise_kinematics *before = NULL;
    status = poise_kinematics_create(problem->model, allocator, &before, error);
    poise_track_frame *records = pz_allocate(allocator, (length + 1) * sizeof *records);
    bool has_room = index && seen && before && records;
    status = has_room
                 ? poise_clip_create(m->frames, poise_model_info(problem->model).nq, 1.0 / m->rate, allocator, &made, error)
                 : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK) {
        made->start_time = m->start_time;
        for (size_t i = 0; i < count; ++i) {
            index[i] = live->placements[i].label ? poise_markers_find(m, live->placements[i].label) : POISE_NONE;
        }
        status = run(live, index, seen, made, records, error);
    }
    if (status == POISE_OK) {
        measure_turns(live, made, &before, records);
        if (frames) {
            memcpy(frames, records, length * sizeof *frames);
        }
        *clip = made;
    } else {
        poise_clip_destroy(made);
    }
    pz_release(allocator, records);
    poise_kinematics_destroy(before);
    pz_release(allocator, seen);
    pz_release(allocator, index);
    poise_live_destroy(live);
    return status;
}
