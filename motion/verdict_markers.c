// Markers that are not what their names say: distances that change where they should not, two with each other's names
// throughout a take or within it, and those without a place that lie where the skeleton is not.
#include "motion/verdict.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "motion/anatomy.h"
#include "motion/places.h"
#include "num/dense.h"
#include "num/real.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

// ---- Distances that should not change ------------------------------------------------------------------------------------

// Markers on one body, and those at both ends of a bone, keep their distances. Skin lets them change by a centimetre; two
// kinds of change have other causes.
//
// Space that is stretched along an axis, as by a calibration of the cameras that went wrong or a column of a file that was
// scaled: distances depend on their direction. With d the vector of a pair in frame f and L its true length,
//
//   d^T (1 + E) d = L^2        E symmetric, tr E = 0
//
// where size, tr E, is not seen. The mean of each pair over the frames takes L off, and what is left is linear in E: least
// squares over all pairs and frames, with E a few per cent at most before anything is seen. Half of the range of E's
// eigenvalues is how far one axis is stretched against another. Skin slides with posture, and so with direction, too, but on
// each body in its own way, while space is stretched for all: E is found once more without each of the bodies (with its twin
// on the other side), and what counts is what is beyond twice the deviation that this jackknife tells.
//
// A marker that was pushed, or drifts: most distances in one part of the take are longer than most in another. Skin slides
// with posture, so that a distance is first explained by how the joints around the body are turned,
//
//   d(f) = m + sum c_k turn_k(f) + p(part of f)        c_k and p held to 0 by what is common, least squares
//
// and the turns' share is taken off, up to 3 cm: the ankle of a batter who ends on one leg is nearer the knee than at the
// beginning.

#define LOOKS    400   // frames, at most
#define LEAST    0.05  // of the stature: pairs that are nearer do not count
#define PARTS    4     // of a take, whose means are compared
#define OUT      0.2   // of its frames, at both ends, which do not count: whatever posture does within a part
#define SAMPLES  8     // frames in which a pair is seen, at least, in each of them
#define EXPECT   0.05  // the deviation of E before anything is seen, and
#define SKIN     0.03  // that of the distances on one body, of their length
#define GROUPS   4     // bodies that tell whether space is stretched
#define SLIDES   0.02  // of the stature: what skin slides by with a turn of a radian, or a part is off by, at first sight;
#define STRAYS   0.004 // of the stature: what a distance is off by in a movement, and
#define FARTHEST 0.018 // of the stature: what it slides by at most
#define MOVES    20    // movements, as which the frames count: those of one are much alike

enum { UNKNOWNS = 5, TURNS = 12, SLOPES = TURNS + 4 };

// The normal equations of E.
typedef struct equations {
    double N[UNKNOWNS * UNKNOWNS], b[UNKNOWNS];
    int pairs;
} equations;

// One pair through the take.
typedef struct pair_history {
    double length[LOOKS], turn[LOOKS][SLOPES]; // by look: the distance, and what explains it
    int part[LOOKS];
    int count, turns;
} pair_history;

typedef struct rigid {
    const poise_verdict_problem *problem;
    const poise_markers *markers;
    const pz_anatomy *anatomy;
    const double *distances; // frames x placements
    pz_marker_table table;
    int every;
    double stature;
    int *index;    // by placement: its marker, or POISE_NONE
    equations *by; // by body: of the pairs on it and its twin
    int bodies;
    pair_history *pair; // scratch
    vec3 *turn;         // by look and joint: the rotation vector of a body against its parent, about
    vec3 *miss;         // by look and placement: what a marker misses its place by, in its body; NaN: not seen
} rigid;

// Does one body hang from the other? Two shoulders are far apart, and not always as far.
static bool is_below(const poise_model *model, int a, int b)
{
    int high = a < b ? a : b, low = a < b ? b : a;
    return low < high + poise_model_joint_info(model, high).subtree;
}

// Shoulders rise with the arm.
static bool is_of_shoulder(const rigid *r, int body)
{
    return body == r->anatomy->part[PZ_CLAVICLE][PZ_LEFT].body || body == r->anatomy->part[PZ_CLAVICLE][PZ_RIGHT].body;
}

static bool is_stiff(const rigid *r, int a, int b)
{
    const poise_placement *p = r->problem->track->placements;
    bool is_shoulder = is_of_shoulder(r, p[a].body) || is_of_shoulder(r, p[b].body);
    if (!is_below(r->problem->track->model, p[a].body, p[b].body) || (p[a].body != p[b].body && is_shoulder)) {
        return false;
    }
    return p[a].body == p[b].body || pz_marker_table_stiff(&r->table, p[a].label, p[b].label) ||
           pz_marker_table_stiff(&r->table, p[b].label, p[a].label);
}

// Is placement i seen and followed in this frame?
static bool is_followed(const rigid *r, int frame, int i)
{
    double off = r->distances[(size_t)frame * (size_t)r->problem->track->placement_count + (size_t)i];
    return off == off && !(r->problem->frames && poise_track_lets_go(&r->problem->frames[frame], off));
}

static bool see_pair(const rigid *r, int frame, int a, int b, vec3 *d)
{
    const poise_vec3 *row = r->markers->position + (size_t)frame * (size_t)r->markers->count;
    if (!is_followed(r, frame, a) || !is_followed(r, frame, b)) {
        return false;
    }
    *d = v3_sub(row[r->index[a]], row[r->index[b]]);
    return true;
}

// d^T E d for each of the unknowns of E, over L^2.
static void row_of(vec3 d, double square, double row[UNKNOWNS])
{
    row[0] = (d.x * d.x - d.z * d.z) / square;
    row[1] = (d.y * d.y - d.z * d.z) / square;
    row[2] = 2.0 * d.x * d.y / square;
    row[3] = 2.0 * d.x * d.z / square;
    row[4] = 2.0 * d.y * d.z / square;
}

static void sort(double *x, int n)
{
    for (int i = 1; i < n; ++i) {
        double kept = x[i];
        int at = i;
        for (; at > 0 && x[at - 1] > kept; --at) {
            x[at] = x[at - 1];
        }
        x[at] = kept;
    }
}

// The turns of the joints around a body in one look; returns how many numbers.
static int turns_around(const rigid *r, int look, int body, double turn[TURNS])
{
    const poise_model *model = r->problem->track->model;
    const vec3 *row = r->turn + (size_t)look * (size_t)r->bodies;
    int count = 0;
    for (int k = body; k < body + poise_model_joint_info(model, body).subtree && count + 3 <= TURNS; ++k) {
        if (k == body ? poise_model_joint_info(model, k).parent != POISE_WORLD
                      : poise_model_joint_info(model, k).parent == body) {
            turn[count++] = row[k].x;
            turn[count++] = row[k].y;
            turn[count++] = row[k].z;
        }
    }
    return count;
}

// How much longer most distances in one part are than most in another.
static double shift_of(const pair_history *d)
{
    double length[LOOKS + 1], lowest = INFINITY, highest = -INFINITY;
    for (int part = 0; part < PARTS; ++part) {
        int count = 0;
        for (int i = 0; i < d->count; ++i) {
            if (d->part[i] == part) {
                length[count++] = d->length[i];
            }
        }
        if (count >= SAMPLES) {
            sort(length, count);
            lowest = min2(lowest, length[(int)((1.0 - OUT) * count)]);
            highest = max2(highest, length[(int)(OUT * count)]);
        }
    }
    return max2(highest - lowest, 0.0);
}

// Take off what the turns around the body explain.
static void take_off_posture(pair_history *d)
{
    double N[SLOPES * SLOPES] = {0}, b[SLOPES] = {0}, mean[SLOPES] = {0}, middle = 0.0;
    int n = d->turns + PARTS;
    for (int f = 0; f < d->count; ++f) {
        for (int i = 0; i < PARTS; ++i) {
            d->turn[f][d->turns + i] = d->part[f] == i;
        }
        for (int i = 0; i < n; ++i) {
            mean[i] += d->turn[f][i] / d->count;
        }
        middle += d->length[f] / d->count;
    }
    for (int f = 0; f < d->count; ++f) {
        for (int i = 0; i < n; ++i) {
            double x = (d->turn[f][i] - mean[i]) / d->count;
            b[i] += x * (d->length[f] - middle);
            for (int k = 0; k <= i; ++k) {
                N[i * n + k] += x * (d->turn[f][k] - mean[k]);
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        N[i * n + i] += STRAYS * STRAYS / (SLIDES * SLIDES) / MOVES;
    }
    if (d->turns == 0 || !pz_cholesky(n, N)) {
        return;
    }
    pz_cholesky_solve(n, N, b);
    for (int f = 0; f < d->count; ++f) {
        for (int i = 0; i < d->turns; ++i) {
            d->length[f] -= b[i] * (d->turn[f][i] - mean[i]);
        }
    }
}

// Where a marker sits on its body in one part of the take, against another: what it misses its place by, as a vector of the
// body, without what posture explains. A plate or a cuff that drifts takes its body with it, and the markers of the next
// bodies miss their places; distances on one body stay.
static void look_for_drift(rigid *r, int i, pz_findings *found)
{
    const poise_placement *p = &r->problem->track->placements[i];
    pair_history *one = r->pair;
    double squares = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        one->count = one->turns = 0;
        for (int f = 0; f < r->markers->frames; f += r->every) {
            vec3 miss = r->miss[(size_t)(f / r->every) * (size_t)r->problem->track->placement_count + (size_t)i];
            if (miss.x == miss.x && is_followed(r, f, i)) {
                one->turns = turns_around(r, f / r->every, p->body, one->turn[one->count]);
                one->part[one->count] = (int)((int64_t)f * PARTS / r->markers->frames);
                one->length[one->count++] = axis == 0 ? miss.x : axis == 1 ? miss.y : miss.z;
            }
        }
        if (one->count < PARTS * SAMPLES) {
            return;
        }
        take_off_posture(one);
        double shift = shift_of(one);
        squares += shift * shift;
    }
    pz_weigh(found, POISE_FINDING_DRIFTED, p->label, sqrt(squares) / r->stature, false);
}

// Add a pair to the equations of E, and weigh how it changes.
static void look_at(rigid *r, int a, int b, pz_findings *found)
{
    double mean[UNKNOWNS] = {0}, row[UNKNOWNS], squares = 0.0;
    int all = 0;
    const poise_placement *p = r->problem->track->placements;
    pair_history *pair = r->pair;
    pair->count = pair->turns = 0;
    vec3 d;
    for (int f = 0; f < r->markers->frames; f += r->every) {
        if (see_pair(r, f, a, b, &d)) {
            pair->turns = turns_around(r, f / r->every, p[a].body, pair->turn[pair->count]);
            pair->part[pair->count] = (int)((int64_t)f * PARTS / r->markers->frames);
            pair->length[pair->count++] = v3_norm(d);
            squares += v3_dot(d, d);
            all += 1;
        }
    }
    if (all < PARTS * SAMPLES || sqrt(squares / all) < LEAST * r->stature) {
        return;
    }
    double square = squares / all, shift = shift_of(pair);
    take_off_posture(pair);
    shift = max2(shift_of(pair), shift - FARTHEST * r->stature);
    pz_weigh_two(found, POISE_FINDING_SHIFTED, p[a].label, p[b].label, shift / r->stature);
    for (int f = 0; f < r->markers->frames; f += r->every) {
        if (see_pair(r, f, a, b, &d)) {
            row_of(d, square, row);
            for (int i = 0; i < UNKNOWNS; ++i) {
                mean[i] += row[i] / all;
            }
        }
    }
    int twin = pz_mirror_body(r->problem->track->model, p[a].body);
    equations *e = &r->by[twin >= 0 && twin < p[a].body ? twin : p[a].body];
    e->pairs += 1;
    for (int f = 0; f < r->markers->frames; f += r->every) {
        if (see_pair(r, f, a, b, &d)) {
            row_of(d, square, row);
            double miss = v3_dot(d, d) / square - 1.0;
            for (int i = 0; i < UNKNOWNS; ++i) {
                e->b[i] -= (row[i] - mean[i]) * miss / all;
                for (int k = 0; k < UNKNOWNS; ++k) {
                    e->N[i * UNKNOWNS + k] += (row[i] - mean[i]) * (row[k] - mean[k]) / all;
                }
            }
        }
    }
}

// E without the equations of one body; POISE_NONE: of all. False when it is not determined.
static bool solve(const rigid *r, int without, double E[9])
{
    double N[UNKNOWNS * UNKNOWNS] = {0}, b[UNKNOWNS] = {0}, prior = SKIN * SKIN / (EXPECT * EXPECT);
    for (int k = 0; k < r->bodies; ++k) {
        // bodies with many markers count as those with few
        double w = k == without || r->by[k].pairs == 0 ? 0.0 : 1.0 / r->by[k].pairs;
        for (int i = 0; i < UNKNOWNS * UNKNOWNS; ++i) {
            N[i] += w * r->by[k].N[i];
        }
        for (int i = 0; i < UNKNOWNS; ++i) {
            b[i] += w * r->by[k].b[i];
        }
    }
    for (int i = 0; i < UNKNOWNS; ++i) { // |E|^2, whose third entry on the diagonal is minus the sum of the others
        N[i * UNKNOWNS + i] += 2.0 * prior;
    }
    N[1] += prior;
    N[UNKNOWNS] += prior;
    if (!pz_cholesky(UNKNOWNS, N)) {
        return false;
    }
    pz_cholesky_solve(UNKNOWNS, N, b);
    const double made[9] = {b[0], b[2], b[3], b[2], b[1], b[4], b[3], b[4], -b[0] - b[1]};
    memcpy(E, made, sizeof made);
    return true;
}

// The eigenvectors of a symmetric matrix, as columns of V, by Jacobi's rotations; its eigenvalues are left on its diagonal.
static void diagonalise(double A[9], double V[9])
{
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(V, one, sizeof one);
    for (int turn = 0; turn < 36; ++turn) {
        int p = turn % 3 == 2, q = turn % 3 == 0 ? 1 : 2;
        double off = A[3 * p + q];
        if (off == 0.0) {
            continue;
        }
        double theta = (A[4 * q] - A[4 * p]) / (2.0 * off);
        double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
        double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        for (int k = 0; k < 3; ++k) {
            double a = A[3 * k + p], b = A[3 * k + q], v = V[3 * k + p], w = V[3 * k + q];
            A[3 * k + p] = c * a - s * b;
            A[3 * k + q] = s * a + c * b;
            V[3 * k + p] = c * v - s * w;
            V[3 * k + q] = s * v + c * w;
        }
        for (int k = 0; k < 3; ++k) {
            double a = A[3 * p + k], b = A[3 * q + k];
            A[3 * p + k] = c * a - s * b;
            A[3 * q + k] = s * a + c * b;
        }
    }
}

// v^T E v for column i of V.
static double along(const double E[9], const double V[9], int i)
{
    vec3 v = v3(V[i], V[3 + i], V[6 + i]);
    return v3_dot(v, v3(E[0] * v.x + E[1] * v.y + E[2] * v.z, E[3] * v.x + E[4] * v.y + E[5] * v.z,
                        E[6] * v.x + E[7] * v.y + E[8] * v.z));
}

static void weigh_skew(const rigid *r, pz_findings *found)
{
    double E[9], A[9], V[9], sum = 0.0, squares = 0.0;
    int groups = 0;
    for (int k = 0; k < r->bodies; ++k) {
        groups += r->by[k].pairs > 0;
    }
    if (groups < GROUPS || !solve(r, POISE_NONE, E)) {
        return;
    }
    memcpy(A, E, sizeof A);
    diagonalise(A, V);
    int low = A[0] < A[4] ? 0 : 1, high = 1 - low;
    low = A[8] < A[4 * low] ? 2 : low;
    high = A[8] > A[4 * high] ? 2 : high;
    double range = A[4 * high] - A[4 * low];
    for (int k = 0; k < r->bodies; ++k) {
        if (r->by[k].pairs > 0 && solve(r, k, E)) {
            double one = along(E, V, high) - along(E, V, low) - range;
            sum += one;
            squares += one * one;
        }
    }
    double deviation = sqrt(max2(squares - sum * sum / groups, 0.0) * (groups - 1) / groups);
    pz_weigh(found, POISE_FINDING_SKEWED, NULL, max2(0.5 * range - deviation, 0.0), false);
}

static void find_misses(const rigid *r, const poise_kinematics *kin, int frame)
{
    const poise_track_problem *track = r->problem->track;
    vec3 *row = r->miss + (size_t)(frame / r->every) * (size_t)track->placement_count;
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        bool is_there = r->index[i] >= 0 && poise_markers_seen(r->markers, frame, r->index[i]);
        row[i] = v3(NAN, NAN, NAN);
        if (is_there) {
            vec3 x = r->markers->position[(size_t)frame * (size_t)r->markers->count + (size_t)r->index[i]];
            x = poise_pose_transform(poise_pose_inverse(poise_kinematics_body_pose(kin, p->body)), x);
            row[i] = v3_sub(x, p->local);
        }
    }
}

// How the joints are turned in each look, and what markers miss.
static poise_status find_turns(const rigid *r, const poise_allocator *allocator, poise_error *error)
{
    const poise_model *model = r->problem->track->model;
    const poise_clip *clip = r->problem->clip;
    poise_kinematics *kin = NULL;
    poise_status status = poise_kinematics_create(model, allocator, &kin, error);
    for (int f = 0; f < clip->frames && status == POISE_OK; f += r->every) {
        status = poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, error);
        if (status != POISE_OK) {
            break;
        }
        vec3 *row = r->turn + (size_t)(f / r->every) * (size_t)r->bodies;
        for (int k = 0; k < r->bodies; ++k) {
            int parent = poise_model_joint_info(model, k).parent;
            poise_quat turn = poise_kinematics_body_pose(kin, k).rotation;
            if (parent != POISE_WORLD) {
                turn = poise_quat_multiply(poise_quat_conjugate(poise_kinematics_body_pose(kin, parent).rotation), turn);
            }
            row[k] = v3_scale(v3(turn.x, turn.y, turn.z), turn.w < 0.0 ? -2.0 : 2.0);
        }
        find_misses(r, kin, f);
    }
    poise_kinematics_destroy(kin);
    return status;
}

poise_status pz_weigh_rigid(const poise_verdict_problem *problem, const double *distances, const pz_anatomy *anatomy,
                            double stature, const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_track_problem *track = problem->track;
    rigid r = {.problem = problem,
               .markers = track->markers,
               .anatomy = anatomy,
               .distances = distances,
               .table = {.model = track->model, .markers = track->markers},
               .every = track->markers->frames / LOOKS + 1,
               .bodies = poise_model_info(track->model).joints,
               .stature = stature};
    size_t bodies = (size_t)r.bodies, looks = (size_t)(track->markers->frames / r.every) + 1;
    r.index = pz_allocate(allocator, ((size_t)track->placement_count + 1) * sizeof *r.index);
    r.by = pz_allocate(allocator, (bodies + 1) * sizeof *r.by);
    r.turn = pz_allocate(allocator, (looks * bodies + 1) * sizeof *r.turn);
    r.miss = pz_allocate(allocator, (looks * (size_t)track->placement_count + 1) * sizeof *r.miss);
    r.pair = pz_allocate(allocator, sizeof *r.pair);
    bool works = r.index && r.by && r.turn && r.miss && r.pair;
    for (int i = 0; i < track->placement_count && works; ++i) {
        const char *label = track->placements[i].label;
        r.index[i] = label && track->placements[i].weight > 0 ? poise_markers_find(track->markers, label) : POISE_NONE;
    }
    poise_status status =
        works ? find_turns(&r, allocator, error) : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK) {
        memset(r.by, 0, (bodies + 1) * sizeof *r.by);
        for (int i = 0; i < track->placement_count; ++i) {
            if (r.index[i] >= 0) {
                look_for_drift(&r, i, found);
            }
        }
        for (int i = 0; i < track->placement_count; ++i) {
            for (int k = 0; k < i; ++k) {
                if (r.index[i] >= 0 && r.index[k] >= 0 && is_stiff(&r, i, k)) {
                    look_at(&r, k, i, found);
                }
            }
        }
        weigh_skew(&r, found);
    }
    pz_release(allocator, r.pair);
    pz_release(allocator, r.miss);
    pz_release(allocator, r.turn);
    pz_release(allocator, r.by);
    pz_release(allocator, r.index);
    return status;
}

// ---- Swapped throughout --------------------------------------------------------------------------------------------------

// Markers that have each other's names throughout a take, as the lateral and the medial one of a wrist or a knee. A
// calibration bends places and joints until they fit, so that nothing shows in what is missed. Here places stay where
// anatomy has them, and each of some frames is posed with the names as they are and with two of them exchanged:
//
//   J = sum |x - p(q)|^2 / (n^2 + s^2) + sum (q - neutral)^2 / d^2
//
// n what a marker misses its place by, s how far that may be off, d what joints deviate by. Where the names are right J
// rises by the exchange. Where it falls by more than the threshold in the mean of the frames they are taken to be swapped.
// Only markers whose places are sure are looked at, on one body, or left and right.

#define FRAMES 3     // that are looked at
#define SURE   0.025 // of the stature: places that deviate by more do not tell
#define MOST   64    // pairs that are kept

typedef struct swap {
    int a, b; // placements
    double gain;
} swap;

typedef struct swapper {
    const poise_verdict_problem *problem;
    const poise_model *model;
    double size, stature;
    poise_solver *solver;
    poise_goal *goals; // by placement, and one for the posture
    poise_vec3 *target;
    double *q, *neutral, *weights;
    poise_error *error;
} swapper;

static bool is_sure(const swapper *s, int i)
{
    const poise_place_prior *prior = &s->problem->priors[i];
    return prior->along > 0 && prior->across > 0 && prior->along <= SURE * s->stature && prior->across <= SURE * s->stature;
}

static bool may_be_swapped(const swapper *s, int a, int b)
{
    const poise_placement *p = s->problem->track->placements;
    return is_sure(s, a) && is_sure(s, b) && s->goals[a].weight > 0 && s->goals[b].weight > 0 &&
           (p[a].body == p[b].body || pz_labels_mirror(p[a].label, p[b].label));
}

// Goals of a frame at places of the table; markers that were not seen have no weight.
static void take_frame(swapper *s, int frame)
{
    const poise_track_problem *track = s->problem->track;
    const poise_markers *m = track->markers;
    double noise = PZ_NOISE_SHARE * s->stature;
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_place_prior *prior = &s->problem->priors[i];
        int marker = track->placements[i].label ? poise_markers_find(m, track->placements[i].label) : POISE_NONE;
        bool counts = marker >= 0 && poise_markers_seen(m, frame, marker) && prior->along > 0 && prior->across > 0;
        double variance = (prior->along * prior->along + 2.0 * prior->across * prior->across) / 3.0 + noise * noise;
        s->target[i] = counts ? m->position[(size_t)frame * (size_t)m->count + (size_t)marker] : v3(0, 0, 0);
        vec3 place = counts ? v3_scale(prior->place, s->size) : v3(0, 0, 0);
        s->goals[i] = poise_goal_position(track->placements[i].body, place, s->target[i]);
        s->goals[i].weight = counts ? 1.0 / variance : 0.0;
    }
    s->goals[track->placement_count] = poise_goal_posture(s->neutral, 1.0);
    s->goals[track->placement_count].q_weights = s->weights;
}

// The least J of two starts: the pose that was tracked, and the neutral one where its root is.
static poise_status least_cost(swapper *s, int frame, double *least)
{
    const poise_clip *clip = s->problem->clip;
    const double *tracked = clip->q + (size_t)frame * (size_t)clip->nq;
    *least = INFINITY;
    for (int start = 0; start < 2; ++start) {
        poise_report report;
        memcpy(s->q, start == 0 ? tracked : s->neutral, (size_t)clip->nq * sizeof *s->q);
        for (int k = 0; k < poise_model_info(s->model).joints; ++k) {
            poise_joint_info info = poise_model_joint_info(s->model, k);
            if (info.parent == POISE_WORLD) {
                memcpy(s->q + info.q, tracked + info.q, (size_t)info.nq * sizeof *s->q);
            }
        }
        poise_status status =
            poise_solve(s->solver, s->goals, s->problem->track->placement_count + 1, s->q, &report, s->error);
        if (status != POISE_OK) {
            return status;
        }
        *least = min2(*least, 2.0 * report.cost);
    }
    return POISE_OK;
}

static void exchange(swapper *s, int a, int b)
{
    vec3 kept = s->goals[a].target.position;
    s->goals[a].target.position = s->goals[b].target.position;
    s->goals[b].target.position = kept;
}

// What J falls by in a frame, for each pair that may be swapped, into `pairs`; those of the first frame make the list.
static poise_status exchange_at(swapper *s, int frame, bool is_first, swap *pairs, int *count)
{
    int n = s->problem->track->placement_count;
    take_frame(s, frame);
    double before, after;
    poise_status status = least_cost(s, frame, &before);
    for (int a = 0; a < n && is_first; ++a) {
        for (int b = a + 1; b < n && *count < MOST; ++b) {
            if (may_be_swapped(s, a, b)) {
                pairs[(*count)++] = (swap){a, b, 0.0};
            }
        }
    }
    for (int i = 0; i < *count && status == POISE_OK; ++i) {
        exchange(s, pairs[i].a, pairs[i].b);
        status = least_cost(s, frame, &after);
        pairs[i].gain += (before - after) / FRAMES;
        exchange(s, pairs[i].a, pairs[i].b);
    }
    return status;
}

// The largest gain of each marker.
static void weigh(const swapper *s, const swap *pairs, int count, pz_findings *found)
{
    const poise_placement *p = s->problem->track->placements;
    for (int i = 0; i < count; ++i) {
        bool is_best = pairs[i].gain > 0.0;
        for (int k = 0; k < count && is_best; ++k) {
            bool shares =
                pairs[k].a == pairs[i].a || pairs[k].a == pairs[i].b || pairs[k].b == pairs[i].a || pairs[k].b == pairs[i].b;
            is_best = k == i || !shares || pairs[k].gain <= pairs[i].gain;
        }
        if (is_best) {
            pz_weigh_two(found, POISE_FINDING_SWAPPED, p[pairs[i].a].label, p[pairs[i].b].label, pairs[i].gain);
        }
    }
}

static poise_status look(swapper *s, pz_findings *found)
{
    swap pairs[MOST];
    int count = 0, frames = s->problem->clip->frames;
    poise_status status = POISE_OK;
    for (int i = 0; i < FRAMES && status == POISE_OK; ++i) {
        status = exchange_at(s, (int)((2 * i + 1) * (int64_t)frames / (2 * FRAMES)), i == 0, pairs, &count);
    }
    if (status == POISE_OK) {
        weigh(s, pairs, count, found);
    }
    return status;
}

poise_status pz_weigh_swaps(const poise_verdict_problem *problem, const poise_allocator *allocator, pz_findings *found,
                            poise_error *error)
{
    const poise_model *model = problem->track->model;
    size_t n = (size_t)problem->track->placement_count + 1, nq = (size_t)poise_model_info(model).nq,
           nv = (size_t)poise_model_info(model).nv;
    swapper s = {
        .problem = problem, .model = model, .size = problem->calibration ? problem->calibration->size : 1.0, .error = error};
    poise_solver_options options = poise_solver_options_default();
    options.max_iterations = 60;
    s.goals = pz_allocate(allocator, n * sizeof *s.goals);
    s.target = pz_allocate(allocator, n * sizeof *s.target);
    s.q = pz_allocate(allocator, (2 * nq + nv + 1) * sizeof *s.q);
    poise_status status = s.goals && s.target && s.q && pz_skeleton_size(model, allocator, &s.stature) == POISE_OK
                              ? poise_solver_create(model, &options, allocator, &s.solver, error)
                              : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK) {
        s.neutral = s.q + nq;
        s.weights = s.neutral + nq;
        poise_model_neutral(model, s.neutral);
        status = poise_posture_weights(model, 1.0, s.weights, error);
    }
    if (status == POISE_OK && s.size > 0.0 && problem->clip->frames > 0) {
        status = look(&s, found);
    }
    poise_solver_destroy(s.solver);
    pz_release(allocator, s.q);
    pz_release(allocator, s.target);
    pz_release(allocator, s.goals);
    return status;
}

// ---- Traded within a take ------------------------------------------------------------------------------------------------

// Markers that trade names within a take, as the two of a wrist do when a labelling program confuses them: from one frame to
// the next each leaps to where the other was. No motion of a body does that. Both may have been out of sight for a moment.
//
// Markers that tracking ignores while they are swapped do no harm and do not count.
//
// Of markers on one limb the motion of both together is taken off first, by which a fast hand would hide the trade. Hands
// that cross do change places, so markers on different limbs must meet the places themselves.

#define LEAP  0.02 // of the stature: what both move by at least
#define NEAR  0.25 // of that: how near each comes to where the other was
#define SHORT 0.1  // seconds: a longer gap tells nothing
#define HARM  0.25 // of the frames with swapped names: if they are followed in more, it does harm

typedef struct sight {
    int marker; // or POISE_NONE
    int body;
    int frame;  // in which it was seen last, before the current one; -1: never
    vec3 there; // where
    vec3 now;   // in the current frame, if it is
    bool is_seen, is_followed;
} sight;

// What is known of a pair.
typedef struct pair {
    int trades, first;     // how many, and the frame of the first
    int swapped, followed; // frames with swapped names, and those of them in which one is followed
} pair;

// Is one body the other, or not more than two joints beyond it?
static bool is_one_limb(const poise_model *model, int a, int b)
{
    int low = a > b ? a : b, high = a > b ? b : a;
    for (int i = 0; i < 2 && low > high; ++i) {
        low = poise_model_joint_info(model, low).parent;
    }
    return low == high;
}

static bool trades(const poise_model *model, const sight *a, const sight *b, double leap)
{
    vec3 from_a = v3_sub(a->now, a->there), from_b = v3_sub(b->now, b->there);
    vec3 both = v3_scale(v3_add(from_a, from_b), is_one_limb(model, a->body, b->body) ? 0.5 : 0.0);
    double moved = min2(v3_norm(v3_sub(from_a, both)), v3_norm(v3_sub(from_b, both)));
    double off = max2(v3_norm(v3_sub(v3_sub(a->now, both), b->there)), v3_norm(v3_sub(v3_sub(b->now, both), a->there)));
    return moved > leap && off < NEAR * moved && v3_norm(both) < moved;
}

// The current frame of all markers.
static void take_sight(const poise_verdict_problem *problem, const double *distances, int frame, sight *sights)
{
    const poise_markers *m = problem->track->markers;
    int count = problem->track->placement_count;
    const double *row = distances + (size_t)frame * (size_t)count;
    for (int i = 0; i < count; ++i) {
        sight *s = &sights[i];
        if (s->is_seen) {
            s->there = s->now;
            s->frame = frame - 1;
        }
        s->is_seen = s->marker >= 0 && poise_markers_seen(m, frame, s->marker);
        s->is_followed = s->is_seen && !(problem->frames && poise_track_lets_go(&problem->frames[frame], row[i]));
        s->now = s->is_seen ? m->position[(size_t)frame * (size_t)m->count + (size_t)s->marker] : s->now;
    }
}

static void count_trades(const poise_verdict_problem *problem, const double *distances, double leap, sight *sights,
                         pair *pairs)
{
    const poise_track_problem *track = problem->track;
    int most = (int)(SHORT * track->markers->rate) + 1;
    for (int f = 0; f < track->markers->frames; ++f) {
        take_sight(problem, distances, f, sights);
        pair *p = pairs;
        for (int i = 0; i < track->placement_count; ++i) {
            const sight *a = &sights[i];
            bool is_recent = a->is_seen && a->frame >= 0 && f - a->frame <= most;
            for (int k = 0; k < i; ++k, ++p) {
                const sight *b = &sights[k];
                bool are_recent = is_recent && b->is_seen && b->frame >= 0 && f - b->frame <= most;
                if (are_recent && trades(track->model, a, b, leap)) {
                    p->first = p->trades > 0 ? p->first : f;
                    p->trades += 1;
                }
                p->swapped += p->trades % 2;
                p->followed += p->trades % 2 == 1 && (a->is_followed || b->is_followed);
            }
        }
    }
}

static void weigh_pair(const poise_track_problem *track, const pair *p, pz_findings *found)
{
    for (int i = 0; i < track->placement_count; ++i) {
        for (int k = 0; k < i; ++k, ++p) {
            poise_finding f = {.kind = POISE_FINDING_TRADED,
                               .name = track->placements[k].label,
                               .other = track->placements[i].label,
                               .value = p->followed > HARM * p->swapped ? p->trades : 0.0,
                               .first = p->first};
            poise_verdict_weigh(found->thresholds, f, false, &found->verdict, found->list, found->capacity);
        }
    }
}

poise_status pz_weigh_traded(const poise_verdict_problem *problem, const double *distances, double stature,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_track_problem *track = problem->track;
    size_t count = (size_t)track->placement_count;
    sight *sights = pz_allocate(allocator, (count + 1) * sizeof *sights);
    size_t bytes = (count * count / 2 + 1) * sizeof(pair);
    pair *pairs = pz_allocate(allocator, bytes);
    poise_status status = sights && pairs ? POISE_OK : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK) {
        for (size_t i = 0; i < count; ++i) {
            const char *label = track->placements[i].label;
            int marker = label ? poise_markers_find(track->markers, label) : POISE_NONE;
            sights[i] = (sight){.marker = marker, .body = track->placements[i].body, .frame = -1};
        }
        memset(pairs, 0, bytes);
        count_trades(problem, distances, LEAP * stature, sights, pairs);
        weigh_pair(track, pairs, found);
    }
    pz_release(allocator, pairs);
    pz_release(allocator, sights);
    return status;
}

// ---- Astray --------------------------------------------------------------------------------------------------------------

// Markers without a place that lie where the skeleton is not. An unknown label is left out, and what the others say may have
// an arm folded where it was stretched, without missing one of them. Where the marker was, it tells: it goes with its
// neighbour,
//
//   d(f) = |x_k(f) - x_i(f)|      mean(d) below ASTRAY_NEAR, deviation(d) below STIFF
//
// and is then on the body, or held in a hand, and cannot be far from all bones. Names that the table knows
// do not count, since skeletons without arms leave those of arms out, nor do points that Plug-in Gait computes.

#define ASTRAY_LOOKS 40    // frames examined
#define ASTRAY_NEAR  0.2   // of the stature: how far a neighbour may be
#define STIFF        0.012 // of the stature: what its distance may deviate by
#define OFTEN        0.9   // of the frames: a marker that is there for good
#define WITH         0.05  // of the stature: what a marker may wander by on a body that it moves with
#define LOOSE        0.02  // of the stature: the same of one without a name
#define ALIKE        0.004 // of the stature: wandering that tells no body from another

typedef struct stray {
    const poise_verdict_problem *problem;
    int every;   // examined frame
    int looks;   // frames examined, and not held
    double *far; // by marker: sum of distances from the nearest bone
    int *seen;   // by marker: frames in which it was; POISE_NONE: its name is known, or it is no marker
    int *there;  // by marker: of the looks, those in which it was
    double *sum; // by marker and body, and the room: of x, y, z in its frame, and of their squares
    int *placed; // by placement: its marker, or POISE_NONE
    int head;    // body, or POISE_NONE
    double near, stiff;
} stray;

static bool is_seen(const poise_markers *m, int frame, int marker)
{
    vec3 x = m->position[(size_t)frame * (size_t)m->count + (size_t)marker];
    return is_finite(x.x) && is_finite(x.y) && is_finite(x.z);
}

static double distance_to_bone(vec3 begin, vec3 end, vec3 x)
{
    vec3 bone = v3_sub(end, begin), to = v3_sub(x, begin);
    double square = v3_dot(bone, bone), t = square > 0 ? min2(max2(v3_dot(to, bone) / square, 0.0), 1.0) : 0.0;
    return v3_norm(v3_sub(to, v3_scale(bone, t)));
}

// From a point to the nearest of all bones.
static double distance_to_bones(const poise_kinematics *kin, const poise_model *model, vec3 x)
{
    double least = INFINITY;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        int parent = poise_model_joint_info(model, k).parent;
        vec3 end = poise_kinematics_body_pose(kin, k).position;
        vec3 begin = parent == POISE_WORLD ? end : poise_kinematics_body_pose(kin, parent).position;
        least = min2(least, distance_to_bone(begin, end, x));
    }
    return least;
}

// The same of the bones of one body, in its frame: they lead to the bodies that hang from it.
static double distance_to_body(const poise_model *model, int body, vec3 x)
{
    double least = v3_norm(x);
    for (int k = body + 1; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        if (joint.parent == body) {
            least = min2(least, distance_to_bone(v3(0, 0, 0), joint.given->offset.position, x));
        }
    }
    return least;
}

// Does the marker keep its distance from the one of a placement?
static bool goes_with(const stray *s, int marker, int neighbour)
{
    const poise_markers *m = s->problem->track->markers;
    double sum = 0.0, squares = 0.0;
    int count = 0;
    for (int f = 0; f < m->frames; f += s->every) {
        if (is_seen(m, f, marker) && is_seen(m, f, neighbour)) {
            const vec3 *x = m->position + (size_t)f * (size_t)m->count;
            double d = v3_norm(v3_sub(x[marker], x[neighbour]));
            sum += d;
            squares += d * d;
            count += 1;
        }
    }
    double mean = count > 0 ? sum / count : INFINITY;
    return 2 * count >= s->seen[marker] && mean <= s->near && squares / count - mean * mean <= s->stiff * s->stiff;
}

enum { SUMS = 4 }; // by marker and body

// Sum up where a marker is on each body.
static void add_places(const stray *s, const poise_kinematics *kin, int marker, vec3 x)
{
    int joints = poise_model_info(s->problem->track->model).joints;
    double *sum = s->sum + SUMS * (size_t)marker * ((size_t)joints + 1);
    for (int b = 0; b <= joints; ++b, sum += SUMS) {
        vec3 p = b < joints ? poise_pose_transform(poise_pose_inverse(poise_kinematics_body_pose(kin, b)), x) : x;
        sum[0] += p.x;
        sum[1] += p.y;
        sum[2] += p.z;
        sum[3] += v3_dot(p, p);
    }
}

// Where on a body the marker is, and by how much it wanders there.
static vec3 place_on(const stray *s, int marker, int body, double *wander)
{
    size_t joints = (size_t)poise_model_info(s->problem->track->model).joints;
    const double *sum = s->sum + SUMS * ((size_t)marker * (joints + 1) + (size_t)body);
    double n = s->there[marker];
    vec3 mean = v3(sum[0] / n, sum[1] / n, sum[2] / n);
    *wander = sqrt(max2(sum[3] / n - v3_dot(mean, mean), 0.0));
    return mean;
}

// Is there a marker on the body, or beyond it?
static bool carries_marker(const stray *s, int body)
{
    const poise_track_problem *track = s->problem->track;
    int end = body + poise_model_joint_info(track->model, body).subtree;
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        if (s->placed[i] >= 0 && p->weight > 0 && p->body >= body && p->body < end) {
            return true;
        }
    }
    return false;
}

// The body that the marker moves with, and by how much it wanders at least.
static int carrier_of(const stray *s, int marker, double alike, double *least)
{
    const poise_model *model = s->problem->track->model;
    int joints = poise_model_info(model).joints, best = POISE_NONE;
    double nearest = INFINITY, wander;
    *least = INFINITY;
    for (int b = 0; b < joints; ++b) {
        place_on(s, marker, b, &wander);
        *least = carries_marker(s, b) ? min2(*least, wander) : *least;
    }
    for (int b = 0; b < joints; ++b) {
        double far =
            distance_to_body(model, b, place_on(s, marker, b, &wander)) + wander; // a heel is as far from shank and foot
        if (wander <= *least + alike && far < nearest && carries_marker(s, b)) {
            nearest = far;
            best = b;
        }
    }
    return best;
}

// "*12" has none, nor have "x52" and "Marker 7", which programs call what nobody named, nor has a stick that is held: such
// points tell nothing of where the body is.
static bool has_name(const char *label)
{
    static const char *const things[] = {
        "marker", "point",   "unlabeled", "unlabelled", "unnamed", "trajectory", "stick", "bat", "club", "ball", "puck",
        "racket", "racquet", "bike",      "wheel",      "chair",   "handrail",   "plate", "box", "cart", "pole", "force"};
    const char *colon = strrchr(label, ':');
    char word[16] = "";
    size_t letters = 0;
    bool is_thing = false;
    for (const char *c = colon ? colon + 1 : label;; ++c) {
        char lower = is_upper(*c) ? (char)(*c - 'A' + 'a') : *c;
        if (is_lower(lower) && letters + 1 < sizeof word) {
            word[letters++] = lower;
            continue;
        }
        word[letters] = '\0';
        for (size_t i = 0; i < sizeof things / sizeof *things && letters > 0; ++i) {
            is_thing = is_thing || strcmp(word, things[i]) == 0;
        }
        letters = 0;
        if (!*c) {
            break;
        }
    }
    bool has_letters = false;
    for (const char *c = label + 1; *label && *c; ++c) {
        has_letters = has_letters || is_upper(*c) || is_lower(*c);
    }
    return has_letters && (is_upper(*label) || is_lower(*label)) && !is_thing;
}

// Numbers that a program computed and wrote as a point, as a leg's length: in one coordinate, or the same in every frame.
static bool is_number(const poise_markers *m, int marker)
{
    bool is_one = true, is_same = true;
    vec3 first = v3(NAN, NAN, NAN);
    for (int f = 0; f < m->frames && (is_one || is_same); ++f) {
        vec3 x = m->position[(size_t)f * (size_t)m->count + (size_t)marker];
        if (is_finite(x.x)) {
            first = first.x == first.x ? first : x;
            is_one = is_one && (x.x == 0.0) + (x.y == 0.0) + (x.z == 0.0) >= 2;
            is_same = is_same && x.x == first.x && x.y == first.y && x.z == first.z;
        }
    }
    return is_one || (is_same && m->frames > 2);
}

// Which markers are examined.
static void choose(stray *s)
{
    const poise_track_problem *track = s->problem->track;
    pz_marker_table table = {.model = track->model, .markers = track->markers};
    for (int k = 0; k < track->markers->count; ++k) {
        s->far[k] = 0.0;
        s->there[k] = 0;
        const char *label = track->markers->label[k];
        pz_marker_row row;
        bool is_known = pz_label_is_computed(track->markers, label) || pz_marker_table_find(&table, label, &row) ||
                        is_number(track->markers, k);
        s->seen[k] = is_known ? POISE_NONE : 0;
    }
    for (int i = 0; i < track->placement_count; ++i) {
        const char *label = track->placements[i].label;
        s->placed[i] = label ? poise_markers_find(track->markers, label) : POISE_NONE;
        if (s->placed[i] >= 0) {
            s->seen[s->placed[i]] = POISE_NONE;
        }
    }
}

// Sum up over frames how far markers without a place are from the bones.
static poise_status measure(stray *s, const poise_allocator *allocator, poise_error *error)
{
    const poise_markers *m = s->problem->track->markers;
    const poise_clip *clip = s->problem->clip;
    poise_kinematics *kin;
    poise_status status = poise_kinematics_create(s->problem->track->model, allocator, &kin, error);
    for (int f = 0; f < clip->frames && status == POISE_OK; f += s->every) {
        int flags = s->problem->frames ? (int)s->problem->frames[f].flags : 0;
        if ((flags & POISE_TRACK_HELD) ||
            poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL) != POISE_OK) {
            continue;
        }
        s->looks += 1;
        for (int k = 0; k < m->count; ++k) {
            if (s->seen[k] != POISE_NONE && is_seen(m, f, k)) {
                vec3 x = m->position[(size_t)f * (size_t)m->count + (size_t)k];
                add_places(s, kin, k, x);
                s->there[k] += 1;
                s->far[k] += flags == 0 ? distance_to_bones(kin, s->problem->track->model, x) : 0.0;
                s->seen[k] += flags == 0;
            }
        }
    }
    poise_kinematics_destroy(status == POISE_OK ? kin : NULL);
    return status;
}

// Name the body that an unknown marker moves with. What has a name belongs there, and contradicts the pose where it wanders;
// what has none may be held, or be worn loosely.
static void weigh_place(const stray *s, int marker, double stature, const char **left, pz_findings *found)
{
    const poise_track_problem *track = s->problem->track;
    const char *label = track->markers->label[marker];
    double wander;
    bool is_often = s->seen[marker] != POISE_NONE && s->there[marker] > OFTEN * s->looks;
    int body = is_often ? carrier_of(s, marker, ALIKE * stature, &wander) : POISE_NONE;
    double in_room = INFINITY;
    if (body >= 0) {
        place_on(s, marker, poise_model_info(track->model).joints, &in_room);
    }
    double with = has_name(label) ? WITH : LOOSE;
    if (body >= 0 && wander <= with * stature && wander < in_room + ALIKE * stature) { // else it stands in the room
        poise_finding f = {.kind = POISE_FINDING_UNPLACED,
                           .name = label,
                           .other = poise_model_joint_info(track->model, body).body,
                           .value = wander / stature};
        poise_verdict_weigh(found->thresholds, f, true, &found->verdict, found->list, found->capacity);
        left[body] = has_name(label) ? label : left[body];
    }
}

static void weigh_stray(const stray *s, double stature, const char **left, pz_findings *found)
{
    const poise_track_problem *track = s->problem->track;
    int looks = (s->problem->clip->frames + s->every - 1) / s->every;
    for (int k = 0; k < track->markers->count; ++k) {
        weigh_place(s, k, stature, left, found);
        for (int i = 0; i < track->placement_count && 2 * s->seen[k] >= looks && s->seen[k] > 0; ++i) {
            bool is_head = track->placements[i].body == s->head; // whose bone has no end to be far from
            if (has_name(track->markers->label[k]) && s->placed[i] >= 0 && !is_head && goes_with(s, k, s->placed[i])) {
                pz_weigh_two(found, POISE_FINDING_ASTRAY, track->markers->label[k], track->placements[i].label,
                             s->far[k] / s->seen[k] / stature);
                break;
            }
        }
    }
}

poise_status pz_weigh_astray(const poise_verdict_problem *problem, double stature, int head, const char **left,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_track_problem *track = problem->track;
    size_t joints = (size_t)poise_model_info(track->model).joints;
    size_t count = (size_t)track->markers->count + 1, placements = (size_t)track->placement_count + 1;
    stray s = {.problem = problem,
               .every = problem->clip->frames / ASTRAY_LOOKS + 1,
               .far = pz_allocate(allocator, count * sizeof *s.far),
               .seen = pz_allocate(allocator, count * sizeof *s.seen),
               .there = pz_allocate(allocator, count * sizeof *s.there),
               .sum = pz_allocate(allocator, SUMS * count * (joints + 1) * sizeof *s.sum),
               .placed = pz_allocate(allocator, placements * sizeof *s.placed),
               .head = head,
               .near = ASTRAY_NEAR * stature,
               .stiff = STIFF * stature};
    poise_status status = s.far && s.seen && s.there && s.sum && s.placed
                              ? POISE_OK
                              : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < SUMS * count * (joints + 1) && status == POISE_OK; ++i) {
        s.sum[i] = 0.0;
    }
    if (status == POISE_OK) {
        choose(&s);
        status = measure(&s, allocator, error);
    }
    if (status == POISE_OK) {
        weigh_stray(&s, stature, left, found);
    }
    pz_release(allocator, s.placed);
    pz_release(allocator, s.sum);
    pz_release(allocator, s.there);
    pz_release(allocator, s.seen);
    pz_release(allocator, s.far);
    return status;
}
