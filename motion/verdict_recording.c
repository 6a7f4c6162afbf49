// What a recording shows by itself, whatever is made of it: as a film, frames that come twice, are missing or are cut, and
// people who are too fast; and by the way that a person carries themselves, mirror images, wrong rates and rooms that lean.
#include "motion/verdict.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/tracker.h"
#include "num/vector.h"

#include <poise/kinematics.h>

// ---- A recording as a film -----------------------------------------------------------------------------------------------

// A recording as a film: frames that come twice, frames that are missing, markers that leap, people who are too fast. All of
// it is seen in the paths of the markers alone, and a track may follow every one of them.
//
// A step of a marker, u = x(f+1) - x(f), lies between the one before it, a, and the one after it, b, also where velocities
// change at once, as in an impact. What it is off by is a surprise:
//
//   s(f) = the least | u - a - t (b - a) |        t from 0 to 1
//
// or the same of three steps together, whichever is less: a frame that comes twice, or late, leads nowhere else.
//
// A cut makes s large for most markers at once, and for one frame alone; a fall, a kick, a camera's noise do not. A cluster
// that is pushed aside makes it large for the markers of one body.
//
// To the last digit no two frames are alike: cameras have noise. Where they are, while the person moves, a frame was repeated,
// or a gap was filled with what was there before.
//
// People accelerate their markers by a few times g on average, sprinters by five; ten times the rate is a hundred times that.

#define LEAST    4      // markers that show whether all leap
#define ALONE    5.0    // times as large as around it: a surprise that is one frame's
#define AROUND   0.12   // seconds, and
#define BEYOND   3      // frames next to it do not count: they share its frames
#define STILL    0.0006 // of the stature: what the repeated frames of all markers hide at least
#define STOP     0.0012 // of the stature: the step with which one marker stops, or goes on
#define ASIDE    0.006  // of the stature: how far markers are pushed aside, at least, and
#define STAYS    8      // frames in which they stay there
#define SHORTLY  3      // repeats in a row: more are a film that stands, fewer a film that is slower than said
#define NEVER    0.01   // of the steps repeat by chance: where more do, digits are too coarse to tell
#define SETTLED  0.5    // seconds before and after a leap, in which the place of a marker is compared
#define QUIET    0.5    // seconds that a marker may be still, to the last digit, while others never are, and
#define AWAY     0.01   // of the stature: as far as these go in the meantime; who stands sways by less
#define STRAIGHT 0.1    // seconds, and
#define IN_LINE  10     // frames, at least, in which a marker is in line
#define ROUNDED  1e-6   // of a coordinate: single precision, calculated with
#define GOES     20.0   // times what files round: how far a marker goes in a line, at least
#define WINDOW   0.03   // seconds: over which an acceleration is taken
#define STATURE  1.75   // metres, where units are unknown

typedef struct footage {
    const poise_verdict_problem *problem;
    const poise_markers *markers;
    const double *distances; // frames x placements
    int *index;              // by placement that counts: its marker
    int *body;               // and its body
    int *placement;          // and its number
    int count;
    double *surprise; // by frame: the middle one of all markers
    double *scratch;  // by marker
    double stature;
    poise_kinematics *kin;
} footage;

static bool sees(const footage *w, int frame, int i)
{
    return frame >= 0 && frame < w->markers->frames && poise_markers_seen(w->markers, frame, w->index[i]);
}

static vec3 point(const footage *w, int frame, int i)
{
    return w->markers->position[(size_t)frame * (size_t)w->markers->count + (size_t)w->index[i]];
}

static bool is_same(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// The middle one of n numbers, which change places; 0 of none.
static double middle_of(double *x, int n)
{
    return n > 0 ? pz_middle_of(x, n) : 0.0;
}

// How far a way is from all that lie between two others.
static double off_between(vec3 way, vec3 a, vec3 b)
{
    vec3 off = v3_sub(way, a), turn = v3_sub(b, a);
    double square = v3_dot(turn, turn), t = square > 0.0 ? min2(max2(v3_dot(off, turn) / square, 0.0), 1.0) : 0.0;
    return v3_norm(v3_sub(off, v3_scale(turn, t)));
}

static vec3 way(const footage *w, int from, int to, int i)
{
    return v3_sub(point(w, to, i), point(w, from, i));
}

// The surprise of one marker between f and f + 1; negative: not known.
static double surprise_of(const footage *w, int f, int i)
{
    for (int k = f - 1; k <= f + 2; ++k) {
        if (!sees(w, k, i)) {
            return -1.0;
        }
    }
    double s = off_between(way(w, f, f + 1, i), way(w, f - 1, f, i), way(w, f + 1, f + 2, i));
    if (sees(w, f - 2, i) && sees(w, f + 3, i)) {
        vec3 before = v3_scale(way(w, f - 2, f - 1, i), 3.0), after = v3_scale(way(w, f + 2, f + 3, i), 3.0);
        s = min2(s, off_between(way(w, f - 1, f + 2, i), before, after));
    }
    return s;
}

// Is the surprise at f, of one marker or (i < 0) of all, much larger than most around it? A leap that comes back soon may be
// around it, too.
static bool is_alone(const footage *w, int i, int f, double value)
{
    int reach = BEYOND + 8 + (int)(AROUND * w->markers->rate), all = 0, large = 0;
    for (int k = f - reach; k <= f + reach; ++k) {
        if (k >= 0 && k < w->markers->frames && (k < f - BEYOND || k > f + BEYOND)) {
            double s = i < 0 ? w->surprise[k] : surprise_of(w, k, i);
            large += ALONE * s > value;
            all += 1;
        }
    }
    return all >= 2 * BEYOND && 4 * large <= all;
}

// ---- Film: cuts ----------------------------------------------------------------------------------------------------------

static void weigh_cuts(const footage *w, pz_findings *found)
{
    poise_finding worst = {.kind = POISE_FINDING_CUT};
    for (int f = 0; f < w->markers->frames; ++f) {
        int seen = 0;
        for (int i = 0; i < w->count; ++i) {
            double s = surprise_of(w, f, i);
            if (s >= 0.0) {
                w->scratch[seen++] = s;
            }
        }
        w->surprise[f] = seen >= LEAST ? middle_of(w->scratch, seen) : 0.0;
    }
    for (int f = 0; f < w->markers->frames; ++f) {
        double value = w->surprise[f] / w->stature;
        if (value > worst.value && is_alone(w, POISE_NONE, f, w->surprise[f])) {
            worst.value = value;
            worst.first = f;
            worst.last = f + 1;
        }
    }
    poise_verdict_weigh(found->thresholds, worst, false, &found->verdict, found->list, found->capacity);
}

// ---- Film: repeated frames -----------------------------------------------------------------------------------------------

// Are all markers that either frame sees where they were, and enough of them?
static bool is_repeated(const footage *w, int f)
{
    int same = 0;
    for (int i = 0; i < w->count; ++i) {
        bool now = sees(w, f, i), then = sees(w, f - 1, i);
        if (now != then || (now && !is_same(point(w, f, i), point(w, f - 1, i)))) {
            return false;
        }
        same += now;
    }
    return same > 0;
}

// The middle step of all markers from f - 1 to f; 0 beyond the ends.
static double step_of(const footage *w, int f)
{
    int seen = 0;
    for (int i = 0; i < w->count; ++i) {
        if (sees(w, f, i) && sees(w, f - 1, i)) {
            w->scratch[seen++] = v3_norm(v3_sub(point(w, f, i), point(w, f - 1, i)));
        }
    }
    return middle_of(w->scratch, seen);
}

static void weigh_repeats(const footage *w, pz_findings *found)
{
    poise_finding worst = {.kind = POISE_FINDING_FROZEN, .name = "every marker"};
    int run = 0, all = 0;
    for (int f = 1; f <= w->markers->frames; ++f) {
        bool is_again = f < w->markers->frames && is_repeated(w, f);
        if (!is_again && run > 0) {
            double hidden = max2(step_of(w, f - run - 1) * run, step_of(w, f));
            if (run > worst.value && hidden > STILL * w->stature) {
                worst.value = run;
                worst.first = f - run - 1;
                worst.last = f - 1;
            }
        }
        run = is_again ? run + 1 : 0;
        all += is_again;
    }
    if (2 * all < w->markers->frames) { // else its rate is lower than said
        poise_verdict_weigh(found->thresholds, worst, false, &found->verdict, found->list, found->capacity);
    }
}

// How often each frame comes, where the person moves. A film that stands for long, once or twice, is another matter.
static void weigh_doubled(const footage *w, pz_findings *found)
{
    int run = 0, all = 0, moved = 0, repeated = 0;
    for (int f = 1; f < w->markers->frames; ++f) {
        all += is_repeated(w, f);
    }
    for (int f = 1; f < w->markers->frames; ++f) {
        bool is_again = is_repeated(w, f), moves = !is_again && step_of(w, f) > STILL * w->stature;
        moved += moves;
        repeated += moves && (run <= SHORTLY || 2 * all >= w->markers->frames) ? run : 0;
        run = is_again ? run + 1 : 0;
    }
    if (moved > 0) {
        pz_weigh(found, POISE_FINDING_DOUBLED, NULL, (double)(moved + repeated) / moved, false);
    }
}

// The share of its steps with which one marker stays where it is, to the last digit, while not all do.
static double find_quiet(const footage *w, int i)
{
    int still = 0, all = 0;
    for (int f = 1; f < w->markers->frames; ++f) {
        if (sees(w, f, i) && sees(w, f - 1, i) && !is_repeated(w, f)) {
            all += 1;
            still += is_same(point(w, f, i), point(w, f - 1, i));
        }
    }
    return all > 0 ? (double)still / all : 0.0;
}

// Are digits so many that the middle one of all markers never repeats them by chance?
static bool has_digits(const footage *w)
{
    for (int i = 0; i < w->count; ++i) {
        w->scratch[i] = find_quiet(w, i);
    }
    return w->count >= LEAST && middle_of(w->scratch, w->count) <= NEVER;
}

// How far markers go from where they are in frame `first`, until `last`: the middle one.
static double reach_of(const footage *w, int first, int last)
{
    int count = 0;
    for (int i = 0; i < w->count; ++i) {
        double far = -1.0;
        for (int f = first; f <= last && sees(w, first, i); ++f) {
            far = sees(w, f, i) ? max2(far, v3_norm(way(w, first, f, i))) : far;
        }
        if (far >= 0.0) {
            w->scratch[count++] = far;
        }
    }
    return middle_of(w->scratch, count);
}

// One marker that stops at once, or goes on at once, where it was still to the last digit; or is so for long, where others
// never are.
static void weigh_stops(const footage *w, int i, bool has_all_digits, pz_findings *found)
{
    poise_finding worst = {.kind = POISE_FINDING_FROZEN, .name = w->markers->label[w->index[i]]};
    double stop = STOP * w->stature;
    for (int f = 1, run = 0; f <= w->markers->frames; ++f) {
        bool is_again = sees(w, f, i) && sees(w, f - 1, i) && is_same(point(w, f, i), point(w, f - 1, i));
        if (!is_again && run > worst.value && !is_repeated(w, f - 1)) {
            int first = f - run - 1;
            bool begins = sees(w, first - 1, i) && v3_norm(v3_sub(point(w, first, i), point(w, first - 1, i))) > stop;
            bool ends = sees(w, f, i) && v3_norm(v3_sub(point(w, f, i), point(w, f - 1, i))) > stop;
            bool is_long = has_all_digits && run >= IN_LINE && run > QUIET * w->markers->rate &&
                           reach_of(w, first, f - 1) > AWAY * w->stature;
            if (begins || ends || is_long) {
                worst.value = run;
                worst.first = first;
                worst.last = f - 1;
            }
        }
        run = is_again ? run + 1 : 0;
    }
    poise_verdict_weigh(found->thresholds, worst, false, &found->verdict, found->list, found->capacity);
}

// ---- Film: straight lines ------------------------------------------------------------------------------------------------

// What the file rounds to: the least step of a coordinate that is not zero, or what single precision keeps.
static double rounding_of(const footage *w)
{
    double least = INFINITY, largest = 0.0;
    for (int i = 0; i < w->count; ++i) {
        for (int f = 1; f < w->markers->frames; ++f) {
            if (sees(w, f, i) && sees(w, f - 1, i)) {
                vec3 a = point(w, f, i), step = way(w, f - 1, f, i);
                const double steps[3] = {fabs(step.x), fabs(step.y), fabs(step.z)};
                for (int c = 0; c < 3; ++c) {
                    least = steps[c] > 0.0 ? min2(least, steps[c]) : least;
                }
                largest = max2(largest, max2(fabs(a.x), max2(fabs(a.y), fabs(a.z))));
            }
        }
    }
    return max2(least < INFINITY ? 1.5 * least : 0.0, ROUNDED * largest);
}

// Is a marker at an even pace on a straight line from frame `first` to `last`, give or take `rounding`?
static bool is_straight(const footage *w, int i, int first, int last, double rounding)
{
    vec3 step = v3_scale(way(w, first, last, i), 1.0 / (last - first));
    for (int f = first + 1; f < last; ++f) {
        vec3 there = v3_add(point(w, first, i), v3_scale(step, f - first));
        if (!(v3_norm(v3_sub(point(w, f, i), there)) <= rounding)) {
            return false;
        }
    }
    return true;
}

// The longest time in which one marker follows a straight line that leads somewhere.
static void weigh_straight(const footage *w, int i, double rounding, pz_findings *found)
{
    poise_finding worst = {.kind = POISE_FINDING_FILLED, .name = w->markers->label[w->index[i]]};
    int frames = w->markers->frames, window = (int)(STRAIGHT * w->markers->rate + 0.5), seen = 0;
    window = window > IN_LINE ? window : IN_LINE;
    for (int last = 0; last < frames; ++last) {
        int first = last - window;
        seen = sees(w, last, i) ? seen + 1 : 0;
        if (seen <= window || !(v3_norm(way(w, first, last, i)) > GOES * rounding) ||
            !is_straight(w, i, first, last, rounding)) {
            continue;
        }
        while (last + 1 < frames && sees(w, last + 1, i)) { // as far as it leads on
            vec3 on = v3_scale(way(w, first, last, i), (double)(last + 1 - first) / (last - first));
            if (!(v3_norm(v3_sub(way(w, first, last + 1, i), on)) <= 2.0 * rounding)) {
                break;
            }
            last += 1;
            seen += 1;
        }
        double time = (last - first) / w->markers->rate;
        if (time > worst.value && is_straight(w, i, first, last, rounding)) {
            worst.value = time;
            worst.first = first;
            worst.last = last;
        }
    }
    poise_verdict_weigh(found->thresholds, worst, false, &found->verdict, found->list, found->capacity);
}

// ---- Film: bodies whose markers are pushed aside -------------------------------------------------------------------------

// Is the marker ignored in this frame? Then what it does there does no harm.
static bool is_let_go(const footage *w, int frame, int i)
{
    const poise_track_frame *frames = w->problem->frames;
    size_t row = (size_t)frame * (size_t)w->problem->track->placement_count;
    return frames && poise_track_lets_go(&frames[frame], w->distances[row + (size_t)w->placement[i]]);
}

// Does a marker leap by itself from f to f + 1, and not come back at once?
static bool leaps(const footage *w, int f, int i)
{
    double s = surprise_of(w, f, i);
    if (!(s > ASIDE * w->stature) || !(s > ALONE * w->surprise[f]) || is_let_go(w, f, i) || !is_alone(w, i, f, s)) {
        return false;
    }
    vec3 before = v3_sub(point(w, f, i), point(w, f - 1, i)),
         aside = v3_sub(v3_sub(point(w, f + 1, i), point(w, f, i)), before);
    for (int k = f + 2; k <= f + STAYS; ++k) {
        bool is_known = sees(w, k, i) && sees(w, k - 1, i);
        vec3 step = is_known ? v3_sub(v3_sub(point(w, k, i), point(w, k - 1, i)), before) : aside;
        if (!is_known || is_let_go(w, k, i) || v3_dot(step, aside) < -0.5 * v3_dot(aside, aside)) {
            return false;
        }
    }
    return true;
}

// By how much a marker sits elsewhere on its body after frame f than before, over half a second or what is seen of it.
static double moved_on_body(const footage *w, int f, int i)
{
    const poise_clip *clip = w->problem->clip;
    int reach = (int)(SETTLED * w->markers->rate + 0.5), count[2] = {0, 0};
    vec3 sum[2] = {v3(0, 0, 0), v3(0, 0, 0)};
    for (int k = f - reach + 1; k <= f + reach; ++k) {
        bool counts = sees(w, k, i) && !is_let_go(w, k, i);
        if (counts && poise_kinematics_update(w->kin, clip->q + (size_t)k * (size_t)clip->nq, NULL) == POISE_OK) {
            poise_pose body = poise_pose_inverse(poise_kinematics_body_pose(w->kin, w->body[i]));
            sum[k > f] = v3_add(sum[k > f], poise_pose_transform(body, point(w, k, i)));
            count[k > f] += 1;
        }
    }
    bool is_known = 2 * count[0] > reach && 2 * count[1] > reach;
    return is_known ? v3_norm(v3_sub(v3_scale(sum[1], 1.0 / count[1]), v3_scale(sum[0], 1.0 / count[0]))) : 0.0;
}

// A marker that leaps alone, and sits elsewhere from then on: it was knocked off, or has the name of another point. Where it
// only looks so for a moment its tracking is rough, as in many recordings that are sound. A limb that follows it takes up a
// part of what its place changes by, so that the two distances are weighed together, by their geometric mean.
static void weigh_knocks(const footage *w, pz_findings *found)
{
    for (int i = 0; i < w->count; ++i) {
        poise_finding worst = {.kind = POISE_FINDING_KNOCKED, .name = w->markers->label[w->index[i]]};
        for (int f = 1; f + STAYS < w->markers->frames; ++f) {
            double far = leaps(w, f, i) ? surprise_of(w, f, i) / w->stature : 0.0;
            double value = far > 0.0 ? sqrt(far * moved_on_body(w, f, i) / w->stature) : 0.0;
            if (value > worst.value) {
                worst.value = value;
                worst.distance = far;
                worst.first = f;
                worst.last = f + 1;
            }
        }
        poise_verdict_weigh(found->thresholds, worst, false, &found->verdict, found->list, found->capacity);
    }
}

// A cluster, or what else one body carries: two markers at least, and half of those that are seen.
static void weigh_pushes(const footage *w, pz_findings *found)
{
    const poise_model *model = w->problem->track->model;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_finding worst = {.kind = POISE_FINDING_PUSHED, .name = poise_model_joint_info(model, k).body};
        for (int f = 1; f + STAYS < w->markers->frames; ++f) {
            int on = 0, gone = 0;
            double far = INFINITY;
            for (int i = 0; i < w->count; ++i) {
                if (w->body[i] == k && sees(w, f, i)) {
                    bool is_gone = leaps(w, f, i);
                    on += 1;
                    gone += is_gone;
                    far = is_gone ? min2(far, surprise_of(w, f, i)) : far;
                }
            }
            if (gone >= 2 && 2 * gone >= on && far / w->stature > worst.value) {
                worst.value = far / w->stature;
                worst.first = f;
                worst.last = f + 1;
            }
        }
        poise_verdict_weigh(found->thresholds, worst, false, &found->verdict, found->list, found->capacity);
    }
}

// ---- Film: haste ---------------------------------------------------------------------------------------------------------

// The mean acceleration of one marker, in length units per second squared; negative: not seen for long enough.
static double acceleration_of(const footage *w, int i)
{
    int h = (int)(WINDOW * w->markers->rate + 0.5), count = 0;
    h = h > 1 ? h : 1;
    double sum = 0.0, t = h / w->markers->rate;
    for (int f = h; f + h < w->markers->frames; ++f) {
        if (sees(w, f - h, i) && sees(w, f, i) && sees(w, f + h, i)) {
            vec3 ends = v3_add(point(w, f - h, i), point(w, f + h, i));
            sum += v3_norm(v3_sub(ends, v3_scale(point(w, f, i), 2.0))) / (t * t);
            count += 1;
        }
    }
    return count > 0 ? sum / count : -1.0;
}

static void weigh_haste(const footage *w, pz_findings *found)
{
    double metres = w->markers->scale.metres > 0.0 ? w->markers->scale.metres : STATURE / w->stature;
    int count = 0;
    for (int i = 0; i < w->count; ++i) {
        double a = acceleration_of(w, i);
        if (a >= 0.0) {
            w->scratch[count++] = a;
        }
    }
    pz_weigh(found, POISE_FINDING_HASTY, NULL, middle_of(w->scratch, count) * metres, false);
}

// ---- Film: the call ------------------------------------------------------------------------------------------------------

static void take_markers(footage *w)
{
    const poise_track_problem *track = w->problem->track;
    for (int i = 0; i < track->placement_count; ++i) {
        const char *label = track->placements[i].label;
        int marker = label ? poise_markers_find(w->markers, label) : POISE_NONE;
        if (marker >= 0 && track->placements[i].weight > 0) {
            w->index[w->count] = marker;
            w->body[w->count] = track->placements[i].body;
            w->placement[w->count++] = i;
        }
    }
}

poise_status pz_weigh_footage(const poise_verdict_problem *problem, const double *distances, double stature,
                              const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_markers *markers = problem->track->markers;
    size_t count = (size_t)problem->track->placement_count + 1, frames = (size_t)markers->frames + 1;
    footage w = {.problem = problem, .markers = markers, .distances = distances, .stature = stature};
    w.index = pz_allocate(allocator, 3 * count * sizeof *w.index);
    w.surprise = pz_allocate(allocator, (frames + count) * sizeof *w.surprise);
    poise_status status = w.index && w.surprise ? POISE_OK : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    status = status == POISE_OK ? poise_kinematics_create(problem->track->model, allocator, &w.kin, error) : status;
    if (status == POISE_OK) {
        w.body = w.index + count;
        w.placement = w.body + count;
        w.scratch = w.surprise + frames;
        take_markers(&w);
        weigh_cuts(&w, found);
        weigh_repeats(&w, found);
        weigh_doubled(&w, found);
        weigh_haste(&w, found);
        weigh_pushes(&w, found);
        weigh_knocks(&w, found);
        bool has_all_digits = has_digits(&w);
        double rounding = rounding_of(&w);
        for (int i = 0; i < w.count; ++i) {
            weigh_stops(&w, i, has_all_digits, found);
            weigh_straight(&w, i, rounding, found);
        }
    }
    poise_kinematics_destroy(w.kin);
    pz_release(allocator, w.surprise);
    pz_release(allocator, w.index);
    return status;
}

// ---- How a person carries themselves -------------------------------------------------------------------------------------

// How a person carries themselves tells of a recording what its distances cannot.
//
// A mirror image keeps all distances and exchanges the hands. Where the markers of a frame, x, and their places on the
// skeleton at rest, p, differ by a turn, det sum (x - mean)(p - mean)^T is positive; where they differ by a mirror, negative.
// Limbs that move blur it, so head, trunk, pelvis and feet count alone, whose markers lie deep enough in space.
//
// A walk sets one foot before the other. People who walk slowly take 1.2 s for a step; longer ones that reach as far, one
// after the other, are those of a recording whose rate is wrong. And the lower foot, which carries, goes backwards under the
// pelvis, unless a person walks backwards or time does.
//
// Nobody falls faster than things do, but for a moment in which legs are drawn up: the rate is wrong where hips do, also of
// motions so slow that ten times their accelerations are no haste, as of a squat.
//
// Who stands on a floor has the hips above the feet, on average, and the soles flat on it where they rest. Where both lean the
// same way, the room does. People who lean, or sit, keep their soles flat; soles on a slope, or calibrated askew, leave the
// hips above them.

#define LOOKS         200  // frames in which the hand is looked at
#define LEAST_MARKERS 7    // markers that tell it
#define STEP          0.10 // of the stature: how far one ankle is before the other in a step
#define STEPS         3    // one after the other, at least
#define EVEN          2.0  // times the shortest step: those of a walk are not longer
#define WALK          0.5  // of the time: that much of it is steps
#define LOWER         0.01 // of the stature: by how much the foot that carries is lower
#define MOVES         0.2  // statures per second: slower ones tell no direction
#define RESTS         0.5  // radians per second: a sole that turns by less is flat on the ground
#define FLAT          0.5  // of all: how much of up a sole or a body keeps that stands at all
#define ALIKE         0.7  // cosine between leans of the same way
#define TELLS         10   // frames in which soles rest, at least
#define FALL_WINDOW   0.05 // seconds: over which an acceleration is taken
#define FALL          19.6 // m/s2: twice that of gravity
#define TALL          1.75 // metres, where units are unknown
#define STRIDE        0.3  // of the frames in which the foot moves as in a walk, at least

typedef struct carriage {
    const poise_verdict_problem *problem;
    const pz_anatomy *anatomy;
    poise_kinematics *rest, *kin;
} carriage;

static double det(const double a[9])
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

static bool tells_hand(const carriage *c, int body)
{
    static const pz_part parts[] = {PZ_HEAD, PZ_THORAX, PZ_PELVIS, PZ_CLAVICLE, PZ_FOOT};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        for (int side = PZ_MIDDLE; side <= PZ_RIGHT; ++side) {
            if (c->anatomy->part[parts[i]][side].body == body) {
                return true;
            }
        }
    }
    return false;
}

// The place of placement i at rest: where anatomy has it, else where it is.
static vec3 place_at_rest(const carriage *c, int i)
{
    const poise_placement *p = &c->problem->track->placements[i];
    const poise_place_prior *prior = c->problem->priors ? &c->problem->priors[i] : NULL;
    bool is_known = prior && prior->along > 0 && v3_is_finite(prior->place);
    double size = c->problem->calibration ? c->problem->calibration->size : 1.0;
    return poise_kinematics_point(c->rest, p->body, is_known ? v3_scale(prior->place, size) : p->local);
}

// -1: a mirror image; 1: none; 0: not told.
static int hand_in(const carriage *c, int frame)
{
    const poise_track_problem *track = c->problem->track;
    const poise_markers *m = track->markers;
    vec3 mean[2] = {v3(0, 0, 0), v3(0, 0, 0)};
    double A[9] = {0};
    int count = 0;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < track->placement_count; ++i) {
            const poise_placement *p = &track->placements[i];
            int marker = p->label ? poise_markers_find(m, p->label) : POISE_NONE;
            if (marker < 0 || !poise_markers_seen(m, frame, marker) || !tells_hand(c, p->body)) {
                continue;
            }
            vec3 x = m->position[(size_t)frame * (size_t)m->count + (size_t)marker], r = place_at_rest(c, i);
            if (round == 0) {
                mean[0] = v3_add(mean[0], x);
                mean[1] = v3_add(mean[1], r);
                count += 1;
                continue;
            }
            x = v3_sub(x, v3_scale(mean[0], 1.0 / count));
            r = v3_sub(r, v3_scale(mean[1], 1.0 / count));
            const double a[3] = {x.x, x.y, x.z}, b[3] = {r.x, r.y, r.z};
            for (int k = 0; k < 9; ++k) {
                A[k] += a[k / 3] * b[k % 3];
            }
        }
        if (count < LEAST_MARKERS) {
            return 0;
        }
    }
    return det(A) < 0.0 ? -1 : 1;
}

static void weigh_hand(const carriage *c, pz_findings *found)
{
    int frames = c->problem->clip->frames, every = frames / LOOKS + 1, mirrored = 0, told = 0;
    for (int f = 0; f < frames; f += every) {
        int hand = hand_in(c, f);
        told += hand != 0;
        mirrored += hand < 0;
    }
    if (told > 0) {
        pz_weigh(found, POISE_FINDING_MIRRORED, NULL, (double)mirrored / told, false);
    }
}

// ---- Carriage: steps -----------------------------------------------------------------------------------------------------

typedef struct stance {
    vec3 ankle[2];
    double before; // how far the left ankle is before the right one, along the pelvis' forward
    vec3 forward, pelvis;
} stance;

static bool look(const carriage *c, int frame, stance *s)
{
    const pz_segment *pelvis = &c->anatomy->part[PZ_PELVIS][PZ_MIDDLE];
    const poise_clip *clip = c->problem->clip;
    bool is_held = c->problem->frames && (c->problem->frames[frame].flags & POISE_TRACK_HELD);
    if (is_held || poise_kinematics_update(c->kin, clip->q + (size_t)frame * (size_t)clip->nq, NULL) != POISE_OK) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        s->ankle[i] = poise_kinematics_body_pose(c->kin, c->anatomy->part[PZ_FOOT][PZ_LEFT + i].body).position;
    }
    poise_pose pose = poise_kinematics_body_pose(c->kin, pelvis->body);
    poise_quat rest = poise_kinematics_body_pose(c->rest, pelvis->body).rotation;
    s->pelvis = pose.position;
    s->forward = poise_quat_rotate(pose.rotation, poise_quat_rotate(poise_quat_conjugate(rest), c->anatomy->forward));
    s->before = v3_dot(v3_sub(s->ankle[0], s->ankle[1]), s->forward);
    return true;
}

// Steps, from one foot before the other to the other before the one; and which way the lower foot goes.
static void weigh_steps(const carriage *c, pz_findings *found)
{
    enum { MOST = 64 };
    double step[MOST], stature = c->anatomy->stature, dt = c->problem->clip->frame_time;
    int steps = 0, side = 0, since = 0, frames = c->problem->clip->frames, back = 0, on = 0;
    stance was, is;
    bool is_known = false;
    for (int f = 0; f < frames; ++f) {
        if (!look(c, f, &is)) {
            is_known = false;
            continue;
        }
        int now = is.before > STEP * stature ? 1 : is.before < -STEP * stature ? -1 : 0;
        if (now != 0 && now != side) {
            if (side != 0 && steps < MOST) {
                step[steps++] = (f - since) * dt;
            }
            side = now;
            since = f;
        }
        double lower = v3_dot(v3_sub(is.ankle[0], is.ankle[1]), c->anatomy->up);
        if (is_known && fabs(lower) > LOWER * stature) {
            int k = lower > 0.0;
            vec3 moved = v3_sub(v3_sub(is.ankle[k], is.pelvis), v3_sub(was.ankle[k], was.pelvis));
            double speed = v3_dot(moved, is.forward) / dt / stature;
            back += speed < -MOVES;
            on += speed > MOVES;
        }
        was = is;
        is_known = true;
    }
    if (steps < STEPS) {
        return;
    }
    double shortest = step[0], longest = step[0];
    for (int i = 1; i < steps; ++i) {
        shortest = min2(shortest, step[i]);
        longest = max2(longest, step[i]);
    }
    double middle = pz_middle_of(step, steps);
    if (longest < EVEN * shortest && steps * middle > WALK * frames * dt) {
        pz_weigh(found, POISE_FINDING_SLOW, NULL, middle, false);
    }
    if (back + on > STRIDE * frames) {
        pz_weigh(found, POISE_FINDING_BACKWARDS, NULL, (double)on / (back + on), false);
    }
}

// ---- Carriage: falls -----------------------------------------------------------------------------------------------------

// The share of the frames in which hips fall faster than they can.
static poise_status weigh_falls(const carriage *c, const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    double dt = c->problem->clip->frame_time, metres = c->problem->track->markers->scale.metres;
    int frames = c->problem->clip->frames, h = (int)(FALL_WINDOW / dt + 0.5), falls = 0, told = 0;
    double *high = pz_allocate(allocator, ((size_t)frames + 1) * sizeof *high), t = (h > 1 ? h : 1) * dt;
    if (!high) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    h = h > 1 ? h : 1;
    metres = metres > 0.0 ? metres : TALL / c->anatomy->stature;
    for (int f = 0; f < frames; ++f) {
        stance s;
        high[f] = look(c, f, &s) ? metres * v3_dot(s.pelvis, c->anatomy->up) : (double)NAN;
    }
    for (int f = h; f + h < frames; ++f) {
        double a = (high[f - h] - 2.0 * high[f] + high[f + h]) / (t * t);
        falls += a < -FALL;
        told += a == a;
    }
    pz_release(allocator, high);
    if (told >= TELLS) {
        pz_weigh(found, POISE_FINDING_FALLING, NULL, (double)falls / told, false);
    }
    return POISE_OK;
}

// ---- Carriage: ground ----------------------------------------------------------------------------------------------------

// What the part of a body's rest that points up has become.
static vec3 upright_of(const carriage *c, int body)
{
    poise_quat rest = poise_kinematics_body_pose(c->rest, body).rotation;
    poise_quat is = poise_kinematics_body_pose(c->kin, body).rotation;
    return poise_quat_rotate(is, poise_quat_rotate(poise_quat_conjugate(rest), c->anatomy->up));
}

// How a direction leans, as the tangent of its angle to up.
static vec3 lean_of(const carriage *c, vec3 direction)
{
    double up = v3_dot(direction, c->anatomy->up);
    return up > 0.0 ? v3_sub(v3_scale(direction, 1.0 / up), c->anatomy->up) : v3(0, 0, 0);
}

// From the feet to the hips, and the soles that rest: the lesser of the angles by which both lean the same way.
static void weigh_tilt(const carriage *c, pz_findings *found)
{
    int frames = c->problem->clip->frames, soles = 0;
    double most = 1.0 - 0.5 * RESTS * RESTS * c->problem->clip->frame_time * c->problem->clip->frame_time;
    vec3 body = v3(0, 0, 0), sole = v3(0, 0, 0), was[2] = {v3(0, 0, 0), v3(0, 0, 0)};
    bool is_known = false;
    for (int f = 0; f < frames; ++f) {
        stance s;
        if (!look(c, f, &s)) {
            is_known = false;
            continue;
        }
        vec3 legs = v3_sub(s.pelvis, v3_scale(v3_add(s.ankle[0], s.ankle[1]), 0.5));
        double length = v3_norm(legs), high = v3_dot(legs, c->anatomy->up);
        int low = v3_dot(v3_sub(s.ankle[0], s.ankle[1]), c->anatomy->up) > 0.0;
        for (int i = 0; i < 2; ++i) {
            vec3 is = upright_of(c, c->anatomy->part[PZ_FOOT][PZ_LEFT + i].body);
            if (is_known && i == low && high > FLAT * length && v3_dot(is, was[i]) >= most &&
                v3_dot(is, c->anatomy->up) > FLAT) {
                sole = v3_add(sole, is);
                body = v3_add(body, v3_scale(legs, 1.0 / length));
                soles += 1;
            }
            was[i] = is;
        }
        is_known = true;
    }
    vec3 a = lean_of(c, body), b = lean_of(c, sole);
    if (soles >= TELLS && v3_dot(a, b) > ALIKE * v3_norm(a) * v3_norm(b)) {
        pz_weigh(found, POISE_FINDING_TILTED, NULL, poise_atan2(min2(v3_norm(a), v3_norm(b)), 1.0), false);
    }
}

poise_status pz_weigh_carriage(const poise_verdict_problem *problem, const pz_anatomy *anatomy,
                               const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_model *model = problem->track->model;
    carriage c = {.problem = problem, .anatomy = anatomy};
    size_t nq = (size_t)poise_model_info(model).nq;
    if (!(anatomy->stature > 0.0) || anatomy->part[PZ_PELVIS][PZ_MIDDLE].body < 0 ||
        anatomy->part[PZ_FOOT][PZ_LEFT].body < 0 || anatomy->part[PZ_FOOT][PZ_RIGHT].body < 0) {
        return POISE_OK;
    }
    double *neutral = pz_allocate(allocator, (nq + 1) * sizeof *neutral);
    poise_status status = neutral ? poise_kinematics_create(model, allocator, &c.kin, error)
                                  : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    status = status == POISE_OK ? poise_kinematics_create(model, allocator, &c.rest, error) : status;
    if (status == POISE_OK) {
        poise_model_neutral(model, neutral);
        poise_kinematics_update(c.rest, neutral, NULL);
        weigh_hand(&c, found);
        weigh_steps(&c, found);
        status = weigh_falls(&c, allocator, found, error);
        weigh_tilt(&c, found);
    }
    poise_kinematics_destroy(c.rest);
    poise_kinematics_destroy(c.kin);
    pz_release(allocator, neutral);
    return status;
}
