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
// A marker that was pushed, or drifts: most distances in one part of the take are longer than most in another.
#include "motion/verdict/rigid.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/marker_table.h"
#include "num/dense.h"
#include "num/vector.h"

#include <string.h>

#define LOOKS   400  // frames, at most
#define LEAST   0.05 // of the stature: pairs that are nearer do not count
#define PARTS   4    // of a take, whose means are compared
#define OUT     0.2  // of its frames, at both ends, which do not count: whatever posture does within a part
#define SAMPLES 8    // frames in which a pair is seen, at least, in each of them
#define EXPECT  0.05 // the deviation of E before anything is seen, and
#define SKIN    0.03 // that of the distances on one body, of their length
#define GROUPS  4    // bodies that tell whether space is stretched

enum { UNKNOWNS = 5 };

// The normal equations of E.
typedef struct equations {
    double N[UNKNOWNS * UNKNOWNS], b[UNKNOWNS];
    int pairs;
} equations;

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

// Add a pair to the equations of E, and weigh how it changes.
static void look_at(rigid *r, int a, int b, pz_findings *found)
{
    double length[PARTS][LOOKS], mean[UNKNOWNS] = {0}, row[UNKNOWNS], squares = 0.0;
    int count[PARTS] = {0}, all = 0;
    vec3 d;
    for (int f = 0; f < r->markers->frames; f += r->every) {
        if (see_pair(r, f, a, b, &d)) {
            int part = (int)((int64_t)f * PARTS / r->markers->frames);
            length[part][count[part]++] = v3_norm(d);
            squares += v3_dot(d, d);
            all += 1;
        }
    }
    if (all < PARTS * SAMPLES || sqrt(squares / all) < LEAST * r->stature) {
        return;
    }
    double square = squares / all, lowest = INFINITY,
           highest = 0.0; // the least that most are below, the most that most are above
    for (int part = 0; part < PARTS; ++part) {
        if (count[part] >= SAMPLES) {
            sort(length[part], count[part]);
            lowest = min2(lowest, length[part][(int)((1.0 - OUT) * count[part])]);
            highest = max2(highest, length[part][(int)(OUT * count[part])]);
        }
    }
    const poise_placement *p = r->problem->track->placements;
    pz_weigh_two(found, POISE_FINDING_SHIFTED, p[a].label, p[b].label, max2(highest - lowest, 0.0) / r->stature);
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
               .stature = stature};
    r.index = pz_allocate(allocator, ((size_t)track->placement_count + 1) * sizeof *r.index);
    size_t bodies = (size_t)poise_model_info(track->model).joints;
    r.bodies = (int)bodies;
    r.by = pz_allocate(allocator, (bodies + 1) * sizeof *r.by);
    if (!r.index || !r.by) {
        pz_release(allocator, r.by);
        pz_release(allocator, r.index);
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    memset(r.by, 0, (bodies + 1) * sizeof *r.by);
    for (int i = 0; i < track->placement_count; ++i) {
        const char *label = track->placements[i].label;
        r.index[i] = label && track->placements[i].weight > 0 ? poise_markers_find(track->markers, label) : POISE_NONE;
    }
    for (int i = 0; i < track->placement_count; ++i) {
        for (int k = 0; k < i; ++k) {
            if (r.index[i] >= 0 && r.index[k] >= 0 && is_stiff(&r, i, k)) {
                look_at(&r, k, i, found);
            }
        }
    }
    weigh_skew(&r, found);
    pz_release(allocator, r.by);
    pz_release(allocator, r.index);
    return POISE_OK;
}
