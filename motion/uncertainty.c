// How sure the joint angles of a track are.
//
// Markers that miss their places independently by n in each coordinate move the answer by dq = H^-1 J^T dx, hence
//
//   Cov q = n^2 H^-1
//
// with weights as inverse variances, and H at the answer: exact, or Gauss-Newton where that is a saddle.
//
// A clinical angle a(q) with gradient g has the variance n^2 g^T H^-1 g. There H is by Gauss-Newton, and beside the markers
// stands a rest posture that holds next to nothing, with deviations of half a turn or ten statures where a marker misses by
// what is common: of an angle that still has a tenth of that variance markers tell nothing.
//
// A joint centre moves by J dq, so that its variance, of the three coordinates together, is the trace of n^2 J H^-1 J^T.
//
// That is what noise does. Where a marker sits on its body is known to a deviation s_i alone, and what it is off by bends
// the angles of all frames alike. With both, markers count by 1/(n^2 + s_i^2), beside the posture W that calibration takes
// for usual:
//
//   Var a = g^T (sum J_i^T J_i / (n^2 + s_i^2) + W)^-1 g
//
// A skeleton whose size is off by ds, of a person whose markers tell it to a deviation d alone (places.c), has all of its
// frames bent: markers stay where they are while bones grow by ds, x_i - root, and dq = -H^-1 sum w J_i^T (x_i - root) ds.
// So
//
//   Var a += (g . dq/ds)^2 d^2
//
// s_i is a share of what anatomy leaves open: half of it, or as much as the markers of the recording are off from their
// usual places, all together or this one. Markers of one body are off alike in part: k of them tell the mean of what they
// are off by as if each had s_i^2 (1 + ALIKE (k - 1)). Of places that were given nothing is known beforehand, but one that
// is wrong shows in what the markers of its body and of the next ones miss on average, as a vector of the body. Of 200
// people with places off by 0.4 of what anatomy leaves open, two deviations are exceeded by one angle in fifty
// (test/motion/test_broken_recordings.c).
//
// n comes from what the markers miss by: n^2 = sum w r^2/(3 markers - degrees of freedom that they determine), over all
// frames.
//
// What markers tell of a degree of freedom beside the rest posture, whose deviation s_i is known before: with W = diag
// (n/s_i)^2 its variance comes down from s_i^2 to n^2 (H + W)^-1_ii, so that they tell
//
//   1 - W_ii (H + W)^-1_ii        from 0, nothing, to 1
//
// of it, with H by Gauss-Newton. Two joints in a row whose sum is seen share it.
#include "motion/uncertainty.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/clinical.h"
#include "num/dense.h"
#include "num/vector.h"

#define HALF_A_TURN 3.14159265358979323846
#define DEGREES     57.29577951308232
#define STATURES    10.0
#define OPEN        0.1  // of the variance that nothing but the loose posture leaves
#define TOLD        4.0  // times what the posture holds: a pivot that markers made
#define SHARE       0.5  // of what anatomy leaves open: what places are off by, at least
#define ALIKE       0.15 // of that, squared: what markers of one body are off by together, as on a cuff, or by one hand
#define LOOKS       40   // frames in which given places are looked at

typedef struct measuring {
    const poise_track_problem *problem;
    const poise_clip *clip;
    const poise_track_frame *frames;
    poise_objective *objective;
    poise_goal *goals;
    int *index; // by placement: marker, or POISE_NONE
    double *work;
    double *rest;                   // nq: the rest posture
    double *weights;                // nv: of it
    double *jacobian;               // 3 x nv: scratch
    double square;                  // sum w r^2
    double freedom;                 // 3 markers - determined degrees of freedom, summed
    double size;                    // of the skeleton
    const pz_doubt *doubt;          // NULL: nothing but noise
    double *slope;                  // nv: d q/d size
    const poise_placement *centres; // whose deviations are wanted; NULL: those of angles
    int columns;                    // of the deviations: angles or centres
    int rows;                       // frames measured
} measuring;

// The goals of a frame: markers that were seen and not ignored. Returns how many.
static int make_goals(const measuring *m, const poise_kinematics *kin, int frame)
{
    const poise_markers *markers = m->problem->markers;
    const poise_track_frame *f = m->frames ? &m->frames[frame] : NULL;
    int count = 0;
    for (int i = 0; i < m->problem->placement_count; ++i) {
        const poise_placement *p = &m->problem->placements[i];
        if (m->index[i] < 0 || !(p->weight > 0) || !poise_markers_seen(markers, frame, m->index[i])) {
            continue;
        }
        vec3 x = markers->position[(size_t)frame * (size_t)markers->count + (size_t)m->index[i]];
        double distance = v3_norm(v3_sub(x, poise_kinematics_point(kin, p->body, p->local)));
        if (!f || !poise_track_lets_go(f, distance)) {
            m->goals[count] = poise_goal_position(p->body, p->local, x);
            double n = m->doubt ? m->doubt->noise : 0.0, s = m->doubt ? m->doubt->place[i] : 0.0;
            m->goals[count++].weight = m->doubt ? p->weight / (n * n + p->weight * s * s) : p->weight;
        }
    }
    return count;
}

// Variances of one frame in units of n^2 into `row`; infinite throughout where the frame was held.
static poise_status measure_frame(measuring *m, poise_kinematics *kin, int frame, double *row)
{
    const double *q = m->clip->q + (size_t)frame * (size_t)m->clip->nq;
    int nv = poise_model_info(m->problem->model).nv;
    if (m->frames && (m->frames[frame].flags & POISE_TRACK_HELD)) {
        for (int i = 0; i < nv; ++i) {
            row[i] = INFINITY;
        }
        return POISE_OK;
    }
    poise_status status = poise_kinematics_update(kin, q, NULL);
    int count = status == POISE_OK ? make_goals(m, kin, frame) : 0;
    status = status == POISE_OK ? poise_objective_set_goals(m->objective, m->goals, count, NULL) : status;
    status = status == POISE_OK ? poise_objective_evaluate(m->objective, q, POISE_LEVEL_HESSIAN, NULL) : status;
    if (status != POISE_OK) {
        return status;
    }
    status = poise_objective_inverse_diagonal(m->objective, POISE_HESSIAN_EXACT, m->work, row, NULL);
    if (status == POISE_ERROR_NUMERIC) {
        status = poise_objective_inverse_diagonal(m->objective, POISE_HESSIAN_GAUSS_NEWTON, m->work, row, NULL);
    }
    int determined = 0;
    for (int i = 0; i < nv && status == POISE_OK; ++i) {
        determined += row[i] < INFINITY;
    }
    m->square += 2.0 * poise_objective_value(m->objective).cost;
    m->freedom += max2(3.0 * count - determined, 0.0);
    return status;
}

// Variances into deviations.
static void finish(const measuring *m, double noise, double *deviation, poise_uncertainty_report *report)
{
    size_t all = (size_t)m->rows * (size_t)poise_model_info(m->problem->model).nv;
    bool is_told = m->freedom > 0;
    report->noise = noise > 0 ? noise : is_told ? sqrt(m->square / m->freedom) : PZ_NOISE_SHARE * m->size;
    for (size_t i = 0; i < all; ++i) {
        deviation[i] = deviation[i] < INFINITY ? report->noise * sqrt(max2(deviation[i], 0.0)) : INFINITY;
    }
}

static poise_status check(const poise_track_problem *problem, const poise_clip *clip, const double *deviation,
                          poise_error *error)
{
    if (!problem || !problem->model || !problem->markers || (problem->placement_count > 0 && !problem->placements) ||
        !clip || !deviation) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, placements, markers, clip and deviation must not be NULL");
    }
    if (clip->nq != poise_model_info(problem->model).nq || clip->frames != problem->markers->frames) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "the clip is of another model or recording");
    }
    return POISE_OK;
}

poise_status poise_track_uncertainty(const poise_track_problem *problem, const poise_clip *clip,
                                     const poise_track_frame *frames, double noise, const poise_allocator *allocator,
                                     double *deviation, poise_uncertainty_report *report, poise_error *error)
{
    return pz_track_deviations(problem, clip, frames, 1, noise, allocator, deviation, report, error);
}

static void clean_up(measuring *m, poise_kinematics *kin, const poise_allocator *allocator)
{
    poise_objective_destroy(m->objective);
    poise_kinematics_destroy(kin);
    pz_release(allocator, m->slope);
    pz_release(allocator, m->jacobian);
    pz_release(allocator, m->weights);
    pz_release(allocator, m->rest);
    pz_release(allocator, m->work);
    pz_release(allocator, m->index);
    pz_release(allocator, m->goals);
}

// Memory, the markers of the placements, the size.
static poise_status set_up(measuring *m, const poise_allocator *allocator, poise_kinematics **kin)
{
    const poise_model *model = m->problem->model;
    size_t count = (size_t)m->problem->placement_count, nv = (size_t)poise_model_info(model).nv,
           nq = (size_t)poise_model_info(model).nq;
    m->goals = pz_allocate(allocator, (count + 1) * sizeof *m->goals);
    m->index = pz_allocate(allocator, (count + 1) * sizeof *m->index);
    m->work = pz_allocate(allocator, (nv + 1) * (2 * nv + 2) * sizeof *m->work);
    m->rest = pz_allocate(allocator, (nq + 1) * sizeof *m->rest);
    m->weights = pz_allocate(allocator, (2 * nv + 1) * sizeof *m->weights);
    m->jacobian = pz_allocate(allocator, (3 * nv + 1) * sizeof *m->jacobian);
    m->slope = pz_allocate(allocator, (nv + 1) * sizeof *m->slope);
    bool works = m->goals && m->index && m->work && m->rest && m->weights && m->jacobian && m->slope;
    poise_status status = works ? poise_kinematics_create(model, allocator, kin, NULL) : POISE_ERROR_MEMORY;
    status = status == POISE_OK ? poise_objective_create(model, 0, allocator, &m->objective, NULL) : status;
    status = status == POISE_OK ? pz_skeleton_size(model, allocator, &m->size) : status;
    for (size_t i = 0; i < count && status == POISE_OK; ++i) {
        const char *label = m->problem->placements[i].label;
        m->index[i] = label ? poise_markers_find(m->problem->markers, label) : POISE_NONE;
    }
    return status;
}

poise_status pz_track_deviations(const poise_track_problem *problem, const poise_clip *clip, const poise_track_frame *frames,
                                 int every, double noise, const poise_allocator *allocator, double *deviation,
                                 poise_uncertainty_report *report, poise_error *error)
{
    poise_status status = check(problem, clip, deviation, error);
    if (status != POISE_OK) {
        return status;
    }
    measuring m = {.problem = problem, .clip = clip, .frames = frames};
    poise_kinematics *kin = NULL;
    status = set_up(&m, allocator, &kin);
    for (int f = 0; f < clip->frames && status == POISE_OK; f += every) {
        status = measure_frame(&m, kin, f, deviation + (size_t)(f / every) * (size_t)poise_model_info(problem->model).nv);
        m.rows += 1;
    }
    if (status == POISE_OK) {
        poise_uncertainty_report scratch;
        finish(&m, noise, deviation, report ? report : &scratch);
    }
    clean_up(&m, kin, allocator);
    return status == POISE_OK ? status : pz_error_set(error, status, "%s", poise_status_name(status));
}

// ---- Clinical angles and joint centres ----------------------------------------------------------------------------------

// The posture that holds next to nothing, as weights; with places in doubt the usual one, where it holds more.
static poise_status hold_loosely(const measuring *m, poise_error *error)
{
    const poise_model *model = m->problem->model;
    double noise = m->doubt ? 1.0 : PZ_NOISE_SHARE * m->size, *usual = m->weights + poise_model_info(model).nv;
    poise_status status = poise_posture_weights(model, 1.0, usual, error);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        for (int i = 0; i < joint.nv; ++i) {
            bool is_length = poise_model_coordinate(model, joint.q + i).unit == POISE_UNIT_LENGTH;
            double weight = noise / (is_length ? STATURES * m->size : HALF_A_TURN);
            m->weights[joint.v + i] = weight * weight;
            usual[joint.v + i] = m->doubt ? max2(usual[joint.v + i], weight * weight) : weight * weight;
        }
    }
    return status;
}

// g^T (L L^T)^-1 g; spoils g.
static double variance_of(int n, const double *L, double *g)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        double x = g[i];
        for (int k = 0; k < i; ++k) {
            x -= L[i * n + k] * g[k];
        }
        g[i] = x / L[i * n + i];
        sum += g[i] * g[i];
    }
    return sum;
}

// From where the root is, what a point moves by when all bones grow: its distance.
static vec3 growth_of(const poise_kinematics *kin, vec3 point)
{
    return v3_sub(point, poise_kinematics_body_pose(kin, 0).position);
}

// How the pose answers to a size that is off, with the Hessian factored: -H^-1 sum w J^T dx/ds.
static poise_status find_slope(const measuring *m, poise_kinematics *kin, int count)
{
    int n = poise_model_info(m->problem->model).nv;
    double *J = m->jacobian;
    poise_status status = POISE_OK;
    for (int k = 0; k < n; ++k) {
        m->slope[k] = 0.0;
    }
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        const poise_goal *g = &m->goals[i];
        vec3 grows = growth_of(kin, poise_kinematics_point(kin, g->body, g->local.position));
        status = poise_kinematics_jacobian(kin, g->body, g->local.position, J, NULL, NULL);
        for (int k = 0; k < n; ++k) {
            m->slope[k] -= g->weight * (J[k] * grows.x + J[n + k] * grows.y + J[2 * n + k] * grows.z);
        }
    }
    pz_cholesky_solve(n, m->work, m->slope);
    return status;
}

// The Hessian of the frame with the loose posture, factored, into m->work. OK with *found false: the frame was held.
static poise_status factor_frame(measuring *m, pz_clinic *clinic, int frame, bool *found)
{
    const double *q = m->clip->q + (size_t)frame * (size_t)m->clip->nq;
    int n = poise_model_info(m->problem->model).nv;
    *found = !(m->frames && (m->frames[frame].flags & POISE_TRACK_HELD));
    if (!*found) {
        return POISE_OK;
    }
    poise_status status = poise_kinematics_update(clinic->kin, q, NULL);
    int count = status == POISE_OK ? make_goals(m, clinic->kin, frame) : 0;
    status = status == POISE_OK ? poise_objective_set_goals(m->objective, m->goals, count, NULL) : status;
    status = status == POISE_OK ? poise_objective_evaluate(m->objective, q, POISE_LEVEL_HESSIAN, NULL) : status;
    status = status == POISE_OK ? poise_objective_hessian(m->objective, POISE_HESSIAN_GAUSS_NEWTON, m->work, NULL) : status;
    if (status != POISE_OK) {
        return status;
    }
    int determined = 0;
    for (int i = 0; i < n; ++i) {
        m->work[i * n + i] += m->weights[n + i];
    }
    *found = pz_cholesky(n, m->work);
    for (int i = 0; i < n && *found; ++i) {
        double pivot = m->work[i * n + i];
        determined += pivot * pivot > TOLD * m->weights[n + i];
    }
    if (*found && m->doubt) {
        status = find_slope(m, clinic->kin, count);
    }
    m->square += *found ? 2.0 * poise_objective_value(m->objective).cost : 0.0;
    m->freedom += *found ? max2(3.0 * count - determined, 0.0) : 0.0;
    return status;
}

// What something with this gradient may be off by for a size that is off.
static double change_by_size(const measuring *m, const double *gradient)
{
    double sum = 0.0;
    for (int k = 0; k < poise_model_info(m->problem->model).nv && m->doubt; ++k) {
        sum += gradient[k] * m->slope[k];
    }
    return m->doubt ? m->doubt->size * sum : 0.0;
}

// Variances of the angles of one frame, in units of n^2 unless places are in doubt, into `row`; infinite where markers tell
// nothing, and throughout where the frame was held.
static poise_status measure_angles(measuring *m, pz_clinic *clinic, int frame, bool of_turns, double *row)
{
    int n = poise_model_info(m->problem->model).nv;
    double *g = m->work + (size_t)n * (size_t)n;
    bool found;
    poise_status status = factor_frame(m, clinic, frame, &found);
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        double loose = 0.0, scale = status == POISE_OK && found ? pz_angle_gradient(clinic, i, g) : 0.0;
        for (int k = 0; k < n && scale > 0.0; ++k) {
            loose += g[k] * g[k] / m->weights[k];
        }
        double by_size = scale > 0.0 ? change_by_size(m, g) : 0.0;
        double variance = scale > 0.0 ? variance_of(n, m->work, g) : INFINITY;
        bool is_told = variance < OPEN * loose;
        variance += by_size * by_size;
        row[i] = !is_told ? INFINITY : of_turns ? variance / (scale * scale) : variance;
    }
    return status;
}

// The same of the joint centres of a frame: the sum over their coordinates.
static poise_status measure_centres(measuring *m, pz_clinic *clinic, int frame, double *row)
{
    int n = poise_model_info(m->problem->model).nv;
    double *J = m->jacobian;
    bool found;
    poise_status status = factor_frame(m, clinic, frame, &found);
    for (int i = 0; i < m->columns && status == POISE_OK; ++i) {
        double loose = 0.0, sized = 0.0, variance = found ? 0.0 : INFINITY;
        status =
            found ? poise_kinematics_jacobian(clinic->kin, m->centres[i].body, m->centres[i].local, J, NULL, NULL) : status;
        vec3 at = poise_kinematics_point(clinic->kin, m->centres[i].body, m->centres[i].local);
        vec3 grows = growth_of(clinic->kin, at);
        for (int axis = 0; axis < 3 && found && status == POISE_OK; ++axis) {
            for (int k = 0; k < n; ++k) {
                loose += J[axis * n + k] * J[axis * n + k] / m->weights[k];
            }
            double by_size = change_by_size(m, J + (size_t)axis * (size_t)n);
            by_size += m->doubt ? m->doubt->size * (axis == 0 ? grows.x : axis == 1 ? grows.y : grows.z) : 0.0;
            sized += by_size * by_size;
            variance += variance_of(n, m->work, J + (size_t)axis * (size_t)n);
        }
        row[i] = variance < OPEN * loose ? variance + sized : INFINITY;
    }
    return status;
}

// Deviations of every so many frames, in `unit`s of an angle or a length.
static poise_status find_deviations(measuring *m, int every, bool of_turns, double unit, double *noise,
                                    const poise_allocator *allocator, double *deviation, poise_error *error)
{
    poise_status status = check(m->problem, m->clip, deviation, error);
    if (status != POISE_OK) {
        return status;
    }
    poise_kinematics *none = NULL;
    pz_clinic clinic = {.model = NULL};
    status = set_up(m, allocator, &none);
    status = status == POISE_OK ? pz_clinic_begin(m->problem->model, allocator, &clinic, NULL) : status;
    status = status == POISE_OK ? hold_loosely(m, NULL) : status;
    for (int f = 0; f < m->clip->frames && status == POISE_OK; f += every) {
        double *row = deviation + (size_t)m->rows * (size_t)m->columns;
        status = m->centres ? measure_centres(m, &clinic, f, row) : measure_angles(m, &clinic, f, of_turns, row);
        m->rows += 1;
    }
    double measured = m->freedom > 0 ? sqrt(m->square / m->freedom) : PZ_NOISE_SHARE * m->size;
    unit *= m->doubt ? 1.0 : measured;
    for (size_t i = 0; i < (size_t)m->rows * (size_t)m->columns && status == POISE_OK; ++i) {
        deviation[i] = deviation[i] < INFINITY ? unit * sqrt(deviation[i]) : INFINITY;
    }
    if (noise && !m->doubt) {
        *noise = measured;
    }
    pz_clinic_end(&clinic, allocator);
    clean_up(m, none, allocator);
    return status == POISE_OK ? status : pz_error_set(error, status, "%s", poise_status_name(status));
}

poise_status pz_angle_deviations(const poise_track_problem *problem, const poise_clip *clip, const poise_track_frame *frames,
                                 int every, bool of_turns, const pz_doubt *doubt, double *noise,
                                 const poise_allocator *allocator, double *deviation, poise_error *error)
{
    measuring m = {.problem = problem, .clip = clip, .frames = frames, .doubt = doubt};
    m.columns = POISE_ANGLE_COUNT;
    return find_deviations(&m, every, of_turns, DEGREES, noise, allocator, deviation, error);
}

poise_status pz_centre_deviations(const poise_track_problem *problem, const poise_clip *clip,
                                  const poise_track_frame *frames, int every, const poise_placement *centres, int count,
                                  const pz_doubt *doubt, const poise_allocator *allocator, double *deviation,
                                  poise_error *error)
{
    measuring m = {.problem = problem, .clip = clip, .frames = frames, .doubt = doubt};
    m.centres = centres;
    m.columns = count;
    return find_deviations(&m, every, false, 1.0, NULL, allocator, deviation, error);
}

poise_status poise_joint_angle_deviations(const poise_track_problem *problem, const poise_clip *clip,
                                          const poise_track_frame *frames, const poise_allocator *allocator,
                                          double *deviation, poise_error *error)
{
    return pz_angle_deviations(problem, clip, frames, 1, false, NULL, NULL, allocator, deviation, error);
}

// ---- Places in doubt -----------------------------------------------------------------------------------------------------

// What a marker misses its place by on average, as a vector of its body.
static poise_status find_bias(const poise_track_problem *track, const poise_clip *clip, const poise_track_frame *frames,
                              int placement, poise_kinematics *kin, double *bias, poise_error *error)
{
    const poise_placement *p = &track->placements[placement];
    const poise_markers *markers = track->markers;
    int marker = p->label ? poise_markers_find(markers, p->label) : POISE_NONE, count = 0;
    vec3 sum = v3(0, 0, 0);
    for (int f = 0; f < clip->frames && marker >= 0; f += clip->frames / LOOKS + 1) {
        if ((frames && (frames[f].flags & POISE_TRACK_HELD)) || !poise_markers_seen(markers, f, marker)) {
            continue;
        }
        poise_status status = poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, error);
        if (status != POISE_OK) {
            return status;
        }
        vec3 x = markers->position[(size_t)f * (size_t)markers->count + (size_t)marker];
        vec3 at = poise_pose_transform(poise_pose_inverse(poise_kinematics_body_pose(kin, p->body)), x);
        bool is_ignored = frames && poise_track_lets_go(&frames[f], v3_norm(v3_sub(at, p->local)));
        sum = is_ignored ? sum : v3_add(sum, v3_sub(at, p->local));
        count += !is_ignored;
    }
    *bias = count > 0 ? v3_norm(sum) / count : 0.0;
    return POISE_OK;
}

// How many markers are on the body of this placement.
static int count_beside(const poise_track_problem *track, int placement)
{
    int count = 0;
    for (int k = 0; k < track->placement_count; ++k) {
        count += track->placements[k].body == track->placements[placement].body && track->placements[k].weight > 0;
    }
    return count > 0 ? count : 1;
}

// The largest bias of the body that carries a placement, and of those next to it.
static double bias_around(const poise_track_problem *track, int placement, const double *bias)
{
    int a = track->placements[placement].body;
    double most = 0.0;
    for (int k = 0; k < track->placement_count; ++k) {
        int b = track->placements[k].body;
        bool is_next = a == b || poise_model_joint_info(track->model, a).parent == b ||
                       poise_model_joint_info(track->model, b).parent == a;
        most = is_next ? max2(most, bias[k]) : most;
    }
    return most;
}

// What anatomy leaves open of a place, and how many times that it is off by, in one direction; false: nothing is known.
static bool open_of(const poise_track_problem *track, const poise_place_prior *priors, double size, int i, double *open,
                    double *off)
{
    if (!priors || !(priors[i].along > 0) || !(priors[i].across > 0) || !(size > 0)) {
        return false;
    }
    double along = size * priors[i].along, across = size * priors[i].across;
    vec3 by = v3_sub(track->placements[i].local, v3_scale(priors[i].place, size));
    double a = v3_dot(by, priors[i].axis), c = max2(v3_dot(by, by) - a * a, 0.0);
    *open = sqrt((along * along + 2.0 * across * across) / 3.0);
    *off = sqrt((a * a / (along * along) + c / (across * across)) / 3.0);
    return true;
}

poise_status pz_places_in_doubt(const poise_track_problem *track, const poise_clip *clip, const poise_track_frame *frames,
                                const poise_place_prior *priors, double size, const poise_allocator *allocator,
                                double *doubt, poise_error *error)
{
    int n = track->placement_count, known = 0;
    double squares = 0.0, open, off, *bias = pz_allocate(allocator, ((size_t)n + 1) * sizeof *bias);
    poise_kinematics *kin = NULL;
    poise_status status = bias ? poise_kinematics_create(track->model, allocator, &kin, error)
                               : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    for (int i = 0; i < n && status == POISE_OK; ++i) {
        status = find_bias(track, clip, frames, i, kin, &bias[i], error);
        bool is_known = open_of(track, priors, size, i, &open, &off);
        squares += is_known ? off * off : 0.0;
        known += is_known;
    }
    double common = max2(SHARE, known > 0 ? sqrt(squares / known) : 0.0);
    for (int i = 0; i < n && status == POISE_OK; ++i) {
        double together = sqrt(1.0 + ALIKE * (count_beside(track, i) - 1));
        bool is_known = open_of(track, priors, size, i, &open, &off);
        doubt[i] = is_known ? together * open * max2(common, off) : bias_around(track, i, bias);
    }
    poise_kinematics_destroy(kin);
    pz_release(allocator, bias);
    return status;
}

// ---- What markers tell ---------------------------------------------------------------------------------------------------

// Add what the markers of a frame tell.
static poise_status learn_frame(measuring *m, poise_kinematics *kin, int frame, double *told)
{
    const double *q = m->clip->q + (size_t)frame * (size_t)m->clip->nq;
    int nv = poise_model_info(m->problem->model).nv;
    double *variance = m->weights + nv;
    poise_status status = poise_kinematics_update(kin, q, NULL);
    int count = status == POISE_OK ? make_goals(m, kin, frame) : 0;
    m->goals[count] = poise_goal_posture(m->rest, 1.0);
    m->goals[count].q_weights = m->weights;
    status = status == POISE_OK ? poise_objective_set_goals(m->objective, m->goals, count + 1, NULL) : status;
    status = status == POISE_OK ? poise_objective_evaluate(m->objective, q, POISE_LEVEL_HESSIAN, NULL) : status;
    status = status == POISE_OK
                 ? poise_objective_inverse_diagonal(m->objective, POISE_HESSIAN_GAUSS_NEWTON, m->work, variance, NULL)
                 : status;
    for (int i = 0; i < nv && status == POISE_OK; ++i) {
        told[i] += variance[i] < INFINITY ? max2(1.0 - m->weights[i] * variance[i], 0.0) : 0.0;
    }
    m->rows += status == POISE_OK;
    return status;
}

poise_status pz_track_information(const poise_track_problem *problem, const poise_clip *clip,
                                  const poise_track_frame *frames, int every, const poise_allocator *allocator, double *told,
                                  poise_error *error)
{
    poise_status status = check(problem, clip, told, error);
    if (status != POISE_OK) {
        return status;
    }
    measuring m = {.problem = problem, .clip = clip, .frames = frames};
    poise_kinematics *kin = NULL;
    status = set_up(&m, allocator, &kin);
    if (status == POISE_OK) {
        poise_model_neutral(problem->model, m.rest);
        status = poise_posture_weights(problem->model, PZ_NOISE_SHARE * m.size, m.weights, NULL);
    }
    for (int i = 0; i < poise_model_info(problem->model).nv && status == POISE_OK; ++i) {
        told[i] = 0.0;
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; f += every) {
        if (!frames || !(frames[f].flags & POISE_TRACK_HELD)) {
            status = learn_frame(&m, kin, f, told);
        }
    }
    for (int i = 0; i < poise_model_info(problem->model).nv && m.rows > 0; ++i) {
        told[i] /= m.rows;
    }
    clean_up(&m, kin, allocator);
    return status == POISE_OK ? status : pz_error_set(error, status, "%s", poise_status_name(status));
}
