// Markers to a clip, all frames at once: where it starts, how noisy the markers are, which are ignored.
//
// The start is every knot-th frame, tracked (tracker.c). Its residuals tell the noise: with n markers of three numbers each
// that leave 3 n - nv of them to chance,
//
//   noise^2 = sum |residual|^2/(3 n - nv)
//
// Markers farther than HUBER_NOISE times that from where the first answer has them pull with a constant force (Huber) in a
// first solve, and are ignored in a second one if they are then still farther than OUTLIER_NOISE times.
//
// Markers without noise were computed from a motion: with a knot in every frame and weights that fall they give it back.
#include "motion/gaps.h"
#include "motion/sequence.h"
#include "motion/tracker.h"

#include "base/error.h"
#include "motion/pieces.h"

#include <float.h>
#include <string.h>

#define LEAST_NOISE      5e-5 // of the reach: markers with less were computed, not recorded
#define LEAST_EXACT      1e-9 // of the reach: what these are off by at least, by rounding
#define EXACT_ROUNDS     12   // in which the weights of exact markers fall
#define EXACT_FALL       0.5  // of what they miss by, from round to round, or they miss by no less
#define LEAST_CHANCE     0.25 // of the numbers of a frame: what is left to chance at least
#define HUBER_NOISE      5.0
#define OUTLIER_NOISE    20.0
#define OUTLIER_REACH    0.03 // of the reach: markers nearer than this are never ignored
#define BRIDGE           0.25 // seconds: a longer gap of too few markers is not trusted
#define FARTHEST         1e100
#define FIRST_ITERATIONS 1    // of the solves that find the weights
#define FIRST_OVERLAP    16   // frames that their windows have in common: what they leave at seams the last solve mends
#define FIRST_NOISE      1e-3 // of the reach: the least that the first of them counts on, which keeps it from wrong poses
#define MISFIT           1.3  // of the noise: splines that miss by more do not follow
#define MISFIT_REACH     5e-4 // of the reach: what they may miss by in any case

typedef struct whole {
    const poise_track_problem *problem;
    const poise_markers *markers;
    const poise_model *model;
    poise_kinematics *kin, *before; // the second one: of the frame before
    poise_goal *goals;
    int *made;       // by goal: the placement that it was made for, or POISE_NONE
    double *neutral; // nq
    int *index;      // by placement: marker, or POISE_NONE
    bool *gone;      // frames x placements
    bool *hidden;    // frames x joints: no marker tells anything of them (gaps.h)
    double *rest;    // frames x nq: where joints rest; NULL, where none is hidden: in the neutral pose
    double *weights; // nv: of hidden joints, and
    double *pull;    // nv: those that count in a frame
    bool is_robust;  // markers that are far off pull with a constant force
    bool is_exact;   // markers without noise: every frame has a knot, and weights fall until they are met
    double huber, outlier, reach;
} whole;

static vec3 seen_at(const whole *w, int frame, int placement)
{
    int marker = w->index[placement];
    return marker < 0 ? v3(NAN, NAN, NAN) : w->markers->position[(size_t)frame * (size_t)w->markers->count + (size_t)marker];
}

static bool is_seen(vec3 p)
{
    return fabs(p.x) < FARTHEST && fabs(p.y) < FARTHEST && fabs(p.z) < FARTHEST;
}

static bool *gone_at(const whole *w, int frame, int placement)
{
    return &w->gone[(size_t)frame * (size_t)w->problem->placement_count + (size_t)placement];
}

// Weights that pull hidden joints alone.
static const double *pull_in(const whole *w, int frame)
{
    const bool *row = w->hidden + (size_t)frame * (size_t)poise_model_info(w->model).joints;
    for (int k = 0; k < poise_model_info(w->model).joints; ++k) {
        poise_joint_info info = poise_model_joint_info(w->model, k);
        for (int v = info.v; v < info.v + info.nv; ++v) {
            w->pull[v] = row[k] ? w->weights[v] : 0.0;
        }
    }
    return w->pull;
}

// poise_sequence_goals: the markers of a frame that were seen and are not ignored.
static const poise_goal *goals_of(void *user, int frame, int *count)
{
    whole *w = user;
    const poise_track_problem *p = w->problem;
    int n = 0;
    for (int i = 0; i < p->placement_count; ++i) {
        vec3 target = seen_at(w, frame, i);
        if (is_seen(target) && !*gone_at(w, frame, i) && p->placements[i].weight > 0.0) {
            if (w->made[n] != i) { // most are there from the frame before
                w->goals[n] = poise_goal_position(p->placements[i].body, p->placements[i].local, target);
                w->goals[n].weight = p->placements[i].weight;
                w->made[n] = i;
            }
            w->goals[n].target.position = target;
            w->goals[n].loss = w->is_robust ? POISE_LOSS_HUBER : POISE_LOSS_NONE;
            w->goals[n++].loss_scale = w->huber;
        }
    }
    if (p->posture || w->rest) {
        w->made[n] = POISE_NONE;
        w->goals[n] =
            poise_goal_posture(w->rest ? w->rest + (size_t)frame * (size_t)poise_model_info(w->model).nq : w->neutral, 1.0);
        w->goals[n++].q_weights = p->posture ? p->posture : pull_in(w, frame);
    }
    *count = n;
    return w->goals;
}

// ---- The start -----------------------------------------------------------------------------------------------------------

// Every step-th frame of the recording, and the last one.
static poise_status thin_out(const poise_markers *from, int step, const poise_allocator *allocator, poise_markers **out,
                             poise_error *error)
{
    int frames = (from->frames - 2) / step + 2;
    frames = from->frames < 2 ? from->frames : frames;
    poise_status status = poise_markers_create(frames, from->count, from->rate / step, from->label, allocator, out, error);
    for (int t = 0; t < frames && status == POISE_OK; ++t) {
        int source = least(t * step, from->frames - 1);
        memcpy((*out)->position + (size_t)t * (size_t)from->count, from->position + (size_t)source * (size_t)from->count,
               (size_t)from->count * sizeof *from->position);
    }
    return status;
}

// The noise of a coordinate of a marker, from the frames that were tracked.
static double noise_of(whole *w, const poise_track_frame *frames, int count, bool has_no_limits)
{
    double squares = 0.0, chances = 0.0;
    for (int t = 0; t < count; ++t) {
        int kept = frames[t].seen - frames[t].let_go;
        if (kept > 0 && !(frames[t].flags & POISE_TRACK_HELD)) {
            squares += kept * frames[t].rms * frames[t].rms;
            chances += max2(3.0 * kept - poise_model_info(w->model).nv, LEAST_CHANCE * 3.0 * kept);
        }
    }
    double noise = chances > 0.0 ? sqrt(squares / chances) : 0.0;
    w->is_exact = has_no_limits && chances > 0.0 && noise < LEAST_NOISE * w->reach;
    return max2(noise, (w->is_exact ? LEAST_EXACT : LEAST_NOISE) * w->reach);
}

// Between the frames of `few`, each joint goes the shortest way.
static poise_status spread(const whole *w, const poise_clip *few, int step, poise_clip *clip, poise_error *error)
{
    poise_status status = POISE_OK;
    for (int t = 0; t < clip->frames && status == POISE_OK; ++t) {
        int low = least(t / step, few->frames - 1);
        int next = least((low + 1) * step, clip->frames - 1);
        double share = next > low * step ? (double)(t - low * step) / (next - low * step) : 0.0;
        status = poise_clip_sample(few, w->model, few->start_time + (low + share) * few->frame_time,
                                   clip->q + (size_t)t * (size_t)clip->nq, error);
    }
    return status;
}

// Track every knot-th frame, find the noise, and make a clip of all frames of it.
static poise_status start(whole *w, poise_sequence_options *o, const poise_allocator *allocator, poise_clip **clip,
                          poise_error *error)
{
    poise_markers *few = NULL;
    poise_clip *tracked = NULL;
    poise_track_frame *frames = NULL;
    poise_track_problem p = *w->problem;
    poise_status status = thin_out(w->markers, o->knot, allocator, &few, error);
    if (status == POISE_OK) {
        frames = (poise_track_frame *)pz_allocate(allocator, ((size_t)few->frames + 1) * sizeof *frames);
        status = frames ? POISE_OK : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    if (status == POISE_OK) {
        p.markers = few;
        p.max_turn = min2(p.max_turn * o->knot, 2.0);
        p.on_frame = NULL;
        status = poise_track(&p, allocator, &tracked, frames, error);
    }
    if (status == POISE_OK) {
        o->noise = o->noise > 0.0 ? o->noise : noise_of(w, frames, few->frames, !o->velocity && !o->acceleration);
        double frame_time = 1.0 / w->markers->rate;
        status = poise_clip_create(w->markers->frames, poise_model_info(w->model).nq, frame_time, allocator, clip, error);
    }
    if (status == POISE_OK) {
        (*clip)->start_time = w->markers->start_time;
        status = spread(w, tracked, o->knot, *clip, error);
        o->knot = w->is_exact ? 1 : o->knot;
    }
    pz_release(allocator, frames);
    poise_clip_destroy(tracked);
    poise_markers_destroy(few);
    return status;
}

// ---- Limbs that are hidden for a while -----------------------------------------------------------------------------------

// Where hidden joints rest while nobody sees them: on the way from where they were to where they are found again. Others,
// and all in frames that hide none, rest in the neutral pose.
static poise_status find_rest(whole *w, double noise, const poise_clip *clip, const poise_allocator *allocator,
                              poise_error *error)
{
    size_t frames = (size_t)clip->frames, nq = (size_t)clip->nq, nv = (size_t)poise_model_info(w->model).nv;
    bool any = false;
    poise_status status = pz_find_hidden(w->problem, w->index, clip, NULL, allocator, w->hidden, &any, error);
    if (status != POISE_OK || !any) {
        return status;
    }
    w->rest = pz_allocate(allocator, (frames * nq + 2 * nv + 1) * sizeof *w->rest);
    if (!w->rest) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    w->weights = w->rest + frames * nq;
    w->pull = w->weights + nv;
    for (size_t t = 0; t < frames; ++t) {
        memcpy(w->rest + t * nq, w->neutral, nq * sizeof *w->rest);
    }
    status = poise_posture_weights(w->model, noise, w->weights, error);
    return status == POISE_OK ? pz_bridge_hidden(w->model, clip, w->hidden, allocator, w->rest) : status;
}

// ---- Markers -------------------------------------------------------------------------------------------------------------

static double distance_of(const whole *w, int frame, int placement)
{
    const poise_placement *p = &w->problem->placements[placement];
    vec3 miss = v3_sub(poise_kinematics_point(w->kin, p->body, p->local), seen_at(w, frame, placement));
    return min2(v3_norm(miss), DBL_MAX);
}

// Let go of the markers that are farther than `most` from where the clip has them; how many there are.
static int let_go(whole *w, const poise_clip *clip, double most)
{
    int count = 0;
    for (int t = 0; t < clip->frames; ++t) {
        poise_kinematics_update(w->kin, clip->q + (size_t)t * (size_t)clip->nq, NULL);
        for (int i = 0; i < w->problem->placement_count; ++i) {
            *gone_at(w, t, i) = is_seen(seen_at(w, t, i)) && distance_of(w, t, i) > most;
            count += *gone_at(w, t, i);
        }
    }
    return count;
}

// What a coordinate of a marker misses by, root mean square: where a spline cannot follow, that counts as noise.
static double misfit_of(const whole *w, const poise_clip *clip)
{
    double square = 0.0, count = 0.0;
    for (int t = 0; t < clip->frames; ++t) {
        poise_kinematics_update(w->kin, clip->q + (size_t)t * (size_t)clip->nq, NULL);
        for (int i = 0; i < w->problem->placement_count; ++i) {
            if (is_seen(seen_at(w, t, i)) && !*gone_at(w, t, i)) {
                double d = distance_of(w, t, i);
                square += d * d;
                count += 3.0;
            }
        }
    }
    return count > 0.0 ? sqrt(square / count) : 0.0;
}

static void describe_frame(const whole *w, int t, poise_track_frame *frame)
{
    double square = 0.0;
    int kept = 0;
    for (int i = 0; i < w->problem->placement_count; ++i) {
        if (!is_seen(seen_at(w, t, i))) {
            continue;
        }
        frame->seen += 1;
        if (*gone_at(w, t, i)) {
            frame->let_go += 1;
            continue;
        }
        double d = distance_of(w, t, i);
        square += d * d;
        frame->worst = max2(frame->worst, d);
        kept += 1;
    }
    frame->rms = kept > 0 ? min2(sqrt(square / kept), frame->worst) : 0.0;
    frame->flags |= frame->seen < w->problem->placement_count ? POISE_TRACK_GAPS : 0;
    frame->flags |= frame->let_go > 0 ? POISE_TRACK_OUTLIERS : 0;
}

// Frames of a gap that is too long to be bridged.
static void flag_gaps(const whole *w, poise_track_frame *frames, int count)
{
    int most = (int)(BRIDGE * w->markers->rate) + 1, run = 0;
    for (int t = 0; t <= count; ++t) {
        bool is_few = t < count && frames[t].seen - frames[t].let_go < w->problem->least_markers;
        for (int i = t - run; i < t && !is_few && run > most; ++i) {
            frames[i].flags |= POISE_TRACK_HELD;
        }
        run = is_few ? run + 1 : 0;
    }
}

static void describe(whole *w, const poise_clip *clip, const poise_sequence_report *report, poise_track_frame *frames)
{
    for (int t = 0; t < clip->frames; ++t) {
        poise_kinematics_update(w->kin, clip->q + (size_t)t * (size_t)clip->nq, NULL);
        frames[t] = (poise_track_frame){.outcome = report->converged ? POISE_OUTCOME_CLOSEST : POISE_OUTCOME_BUDGET,
                                        .iterations = report->most_iterations};
        describe_frame(w, t, &frames[t]);
        frames[t].turn = t > 0 ? poise_kinematics_turn(w->before, w->kin) : 0.0;
        frames[t].flags |= frames[t].turn > w->problem->max_turn ? POISE_TRACK_JUMP : 0;
        poise_kinematics *now = w->kin;
        w->kin = w->before;
        w->before = now;
    }
    flag_gaps(w, frames, clip->frames);
}

// ---- Frames with nobody there --------------------------------------------------------------------------------------------

static bool is_there(const whole *w, int frame)
{
    int seen = 0;
    for (int i = 0; i < w->problem->placement_count; ++i) {
        seen += is_seen(seen_at(w, frame, i));
    }
    return seen > 0 && seen >= w->problem->least_markers;
}

// A spline goes anywhere beyond what it was fitted to: frames before the first with enough markers hold its pose, those
// after the last hold that one's.
static void hold_ends(const whole *w, poise_clip *clip)
{
    size_t nq = (size_t)clip->nq;
    int first = 0, last = clip->frames - 1;
    while (first < last && !is_there(w, first)) {
        ++first;
    }
    while (last > first && !is_there(w, last)) {
        --last;
    }
    for (int t = 0; t < first; ++t) {
        memcpy(clip->q + (size_t)t * nq, clip->q + (size_t)first * nq, nq * sizeof *clip->q);
    }
    for (int t = last + 1; t < clip->frames; ++t) {
        memcpy(clip->q + (size_t)t * nq, clip->q + (size_t)last * nq, nq * sizeof *clip->q);
    }
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static void lay_out(whole *w, pz_arena *arena)
{
    size_t count = (size_t)w->problem->placement_count, frames = (size_t)w->markers->frames;
    w->goals = pz_arena_take(arena, count + 1, sizeof *w->goals);
    w->made = pz_arena_take(arena, count + 1, sizeof *w->made);
    w->neutral = pz_arena_take(arena, (size_t)poise_model_info(w->model).nq, sizeof(double));
    w->index = pz_arena_take(arena, count, sizeof *w->index);
    w->gone = pz_arena_take(arena, frames * count + 1, sizeof *w->gone);
    w->hidden = pz_arena_take(arena, frames * (size_t)poise_model_info(w->model).joints + 1, sizeof *w->hidden);
}

static double reach_of(const whole *w)
{
    poise_kinematics_update(w->kin, w->neutral, NULL);
    double most = 0.0;
    const poise_placement *p = w->problem->placements;
    for (int i = 1; i < w->problem->placement_count; ++i) {
        vec3 apart = poise_kinematics_apart(w->kin, p[0].body, p[0].local, p[i].body, p[i].local);
        most = max2(most, v3_norm(apart));
    }
    return most > 0.0 ? most : 1.0;
}

static void prepare(whole *w)
{
    poise_model_neutral(w->model, w->neutral);
    w->reach = reach_of(w);
    poise_model_clamp(w->model, w->neutral, NULL, NULL);
    for (int i = 0; i < w->problem->placement_count; ++i) {
        const char *label = w->problem->placements[i].label;
        w->made[i] = w->made[i + 1] = POISE_NONE;
        w->index[i] = label ? poise_markers_find(w->markers, label) : POISE_NONE;
    }
    memset(w->gone, 0, (size_t)w->markers->frames * (size_t)w->problem->placement_count * sizeof *w->gone);
}

// Weights by the accelerations that the clip has now, and by the noise or what splines miss by.
static void refine(const whole *w, const poise_sequence_options *o, pz_sequence *s, double misfit)
{
    pz_sequence_estimate(s, w->markers->scale.metres);
    pz_sequence_weigh(s, max2(o->noise, misfit), s->acceleration);
}

// The first solve: with the usual accelerations, robust where some markers are far off, which are ignored then. Knots get
// nearer to each other until splines follow.
static poise_status solve_first(whole *w, poise_sequence_options *o, poise_clip *clip, const poise_allocator *allocator,
                                pz_sequence *s, poise_error *error)
{
    double misfit = INFINITY;
    w->is_robust = w->problem->robust && let_go(w, clip, w->outlier) > 0;
    memset(w->gone, 0, (size_t)w->markers->frames * (size_t)w->problem->placement_count * sizeof *w->gone);
    for (bool is_followed = false; !is_followed;) {
        poise_status status = pz_sequence_create(w->model, o, clip, allocator, s, error);
        if (status != POISE_OK) {
            return status;
        }
        s->goals = goals_of;
        s->user = w;
        s->options.velocity = s->options.acceleration = NULL;
        s->options.overlap = least(o->overlap, FIRST_OVERLAP);
        for (int i = 0; i < s->nv; ++i) {
            s->acceleration[i] = pz_sequence_usual(s, i, w->markers->scale.metres);
        }
        pz_sequence_weigh(s, max2(o->noise, FIRST_NOISE * w->reach), s->acceleration);
        status = pz_sequence_solve(s, FIRST_ITERATIONS);
        if (w->is_robust && status == POISE_OK) {
            let_go(w, clip, w->outlier);
        }
        w->is_robust = false;
        misfit = misfit_of(w, clip);
        is_followed = status != POISE_OK || o->knot == 1 || misfit < max2(MISFIT * o->noise, MISFIT_REACH * w->reach);
        if (!is_followed) {
            o->knot /= 2;
            pz_sequence_finish(s, NULL);
        } else if (status != POISE_OK) {
            pz_sequence_finish(s, NULL);
            return status;
        }
    }
    refine(w, o, s, misfit);
    return POISE_OK;
}

// Weights fall with what exact markers are missed by, until these are met.
static poise_status solve_exactly(whole *w, const poise_sequence_options *o, const poise_clip *clip, pz_sequence *s)
{
    poise_status status = POISE_OK;
    double before = INFINITY, misfit = misfit_of(w, clip);
    for (int round = 0; round < EXACT_ROUNDS && misfit < EXACT_FALL * before && status == POISE_OK; ++round) {
        before = misfit;
        refine(w, o, s, misfit);
        status = pz_sequence_solve(s, FIRST_ITERATIONS);
        misfit = misfit_of(w, clip);
    }
    return status;
}

// Then, without markers that are far off and with accelerations as the motion has them, the others.
static poise_status solve(whole *w, poise_sequence_options *o, poise_clip *clip, const poise_allocator *allocator,
                          poise_sequence_report *report, poise_error *error)
{
    pz_sequence s;
    w->huber = max2(HUBER_NOISE * o->noise, 0.25 * OUTLIER_REACH * w->reach);
    w->outlier = w->problem->outlier > 0.0 ? w->problem->outlier : max2(OUTLIER_NOISE * o->noise, OUTLIER_REACH * w->reach);
    poise_status status = solve_first(w, o, clip, allocator, &s, error);
    if (status != POISE_OK) {
        return status;
    }
    status = pz_sequence_solve(&s, FIRST_ITERATIONS);
    if (status == POISE_OK && w->is_exact) {
        status = solve_exactly(w, o, clip, &s);
    }
    if (status == POISE_OK) {
        refine(w, o, &s, misfit_of(w, clip));
        s.options.overlap = o->overlap;
        s.options.velocity = o->velocity;
        s.options.acceleration = o->acceleration;
        pz_sequence_solve(&s, o->max_iterations);
        pz_sequence_bring_within(&s);
        status = s.status;
    }
    pz_sequence_finish(&s, report);
    return status;
}

static poise_status track_whole(const poise_track_problem *problem, const poise_sequence_options *options,
                                const poise_allocator *allocator, poise_clip **clip, poise_track_frame *frames,
                                poise_sequence_report *report, poise_error *error)
{
    poise_status status = pz_sequence_check(problem->model, options, error);
    if (status != POISE_OK) {
        return status;
    }
    if (problem->task_weights) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "coordinate tasks need tracking frame by frame");
    }
    if (problem->constraint_count > 0) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "constraints need tracking frame by frame, not all at once");
    }
    whole w = {.problem = problem, .markers = problem->markers, .model = problem->model};
    poise_sequence_options o = *options;
    poise_sequence_report own = {0};
    poise_clip *made = NULL;
    pz_arena counting = pz_arena_counting();
    lay_out(&w, &counting);
    size_t size = pz_arena_bytes(&counting);
    void *memory = size ? pz_allocate(allocator, size) : NULL;
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_arena arena = pz_arena_over(memory, size);
    lay_out(&w, &arena);
    status = poise_kinematics_create(w.model, allocator, &w.kin, error);
    status = status == POISE_OK ? poise_kinematics_create(w.model, allocator, &w.before, error) : status;
    if (status == POISE_OK) {
        prepare(&w);
    }
    o.locked = o.locked ? o.locked : problem->solver.locked;
    o.use_limits = o.use_limits && problem->solver.use_limits;
    status = status == POISE_OK ? start(&w, &o, allocator, &made, error) : status;
    status = status == POISE_OK ? find_rest(&w, o.noise, made, allocator, error) : status;
    if (status == POISE_OK && made->frames > 0) {
        status = solve(&w, &o, made, allocator, &own, error);
        hold_ends(&w, made);
    }
    if (status == POISE_OK && frames) {
        describe(&w, made, &own, frames);
    }
    own.noise = o.noise;
    if (status == POISE_OK && report) {
        *report = own;
    }
    if (status == POISE_OK) {
        *clip = made;
    } else {
        poise_clip_destroy(made);
    }
    poise_kinematics_destroy(w.kin);
    poise_kinematics_destroy(w.before);
    pz_release(allocator, w.rest);
    pz_release(allocator, memory);
    return status;
}

// ---- Joints that follow others -------------------------------------------------------------------------------------------

// Does no marker sit on a body that moves with a joint which follows another, such as a patella?
static bool sees_no_follower(const poise_track_problem *problem)
{
    for (int i = 0; i < problem->placement_count; ++i) {
        int body = problem->placements[i].body;
        for (; body >= 0 && body < poise_model_info(problem->model).joints;
             body = poise_model_joint_info(problem->model, body).parent) {
            if (poise_model_joint_info(problem->model, body).mimic >= 0) {
                return false;
            }
        }
    }
    return true;
}

// The model with these joints fixed. It has the same numbers, and bodies that are above them move the same.
static poise_status fix_followers(const poise_model *model, const poise_allocator *allocator, poise_model **fixed,
                                  poise_error *error)
{
    poise_builder *builder = NULL;
    poise_status status = poise_builder_create(allocator, &builder, error);
    for (int k = 0; k < poise_model_info(model).joints && status == POISE_OK; ++k) {
        poise_joint_info info = poise_model_joint_info(model, k);
        poise_joint joint = *info.given;
        if (info.mimic >= 0) {
            joint = poise_joint_default();
            joint.name = info.given->name, joint.body = info.given->body, joint.parent = info.given->parent;
            joint.type = POISE_JOINT_FIXED;
            joint.offset = info.given->offset;
        }
        status = poise_builder_add_joint(builder, &joint, error);
    }
    status = status == POISE_OK ? poise_model_create(builder, allocator, fixed, error) : status;
    poise_builder_destroy(builder);
    return status;
}

poise_status poise_track_whole(const poise_track_problem *problem, const poise_sequence_options *options,
                               const poise_allocator *allocator, poise_clip **clip, poise_track_frame *frames,
                               poise_sequence_report *report, poise_error *error)
{
    if (!problem || !problem->model || !problem->markers || !clip) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, placements, markers and clip must not be NULL");
    }
    poise_status status = pz_track_check(problem, error);
    if (status != POISE_OK) {
        return status;
    }
    if (!pz_has_mimic(problem->model) || !sees_no_follower(problem)) {
        return track_whole(problem, options, allocator, clip, frames, report, error);
    }
    poise_track_problem own = *problem;
    poise_model *fixed = NULL;
    status = fix_followers(problem->model, allocator, &fixed, error);
    own.model = fixed;
    status = status == POISE_OK ? track_whole(&own, options, allocator, clip, frames, report, error) : status;
    poise_model_destroy(fixed);
    return status;
}
