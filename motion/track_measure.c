// How far markers are from their places in a motion that follows them.
#include <poise/track.h>

#include "base/error.h"
#include "kin/kin.h"

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

static void begin(measuring *m)
{
    for (int i = 0; i < m->problem->placement_count; ++i) {
        const char *label = m->problem->placements[i].label;
        m->index[i] = label ? poise_markers_find(m->problem->markers, label) : POISE_NONE;
        if (m->summary.markers) {
            m->summary.markers[i] = (poise_marker_error){.seen = 0};
        }
    }
}

static void finish(measuring *m, int frames)
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
    if (clip->nq != problem->model->nq || clip->frames != problem->markers->frames) {
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
    begin(&m);
    find_ends(&m, clip->frames);
    for (int f = 0; f < clip->frames; ++f) {
        poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL);
        measure_frame(&m, kin, f);
    }
    finish(&m, clip->frames);
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
