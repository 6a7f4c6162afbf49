// Findings of a verdict, gathered one by one, and the measures that find them.
#ifndef PZ_MOTION_VERDICT_H
#define PZ_MOTION_VERDICT_H

#include <poise/verdict.h>

#include "motion/anatomy.h"

// What has been found so far. Start with thresholds, list and capacity, the rest 0.
typedef struct pz_findings {
    const poise_thresholds *thresholds;
    poise_finding *list;
    int capacity;
    poise_verdict verdict;
} pz_findings;

// Weigh a value against its thresholds. What is within them is kept only where `always` says so. `name` may be NULL.
void pz_weigh(pz_findings *found, poise_finding_kind kind, const char *name, double value, bool always);

// The same of two things at once.
void pz_weigh_two(pz_findings *found, poise_finding_kind kind, const char *name, const char *other, double value);

// ---- What a recording shows by itself (verdict_recording.c) --------------------------------------------------------------

// Weigh repeated frames (FROZEN), frames that are missing or were put together (CUT), bodies whose markers are pushed aside
// (PUSHED), and accelerations that people do not reach (HASTY). Fails only with MEMORY.
poise_status pz_weigh_footage(const poise_verdict_problem *problem, const double *distances, double stature,
                              const poise_allocator *allocator, pz_findings *found, poise_error *error);

// Weigh whether the recording is a mirror image (MIRRORED), steps that take far too long (SLOW), and a walk that goes
// backwards (BACKWARDS). Nothing is weighed for skeletons that are not human. Fails only with MEMORY.
poise_status pz_weigh_carriage(const poise_verdict_problem *problem, const pz_anatomy *anatomy,
                               const poise_allocator *allocator, pz_findings *found, poise_error *error);

// ---- Markers and their names (verdict_markers.c) -------------------------------------------------------------------------

// Weigh how far space is stretched (SKEWED), and pairs of markers that are not as far apart in one part of a take as in
// another (SHIFTED). `distances` is that of poise_track_summary. Fails only with MEMORY.
poise_status pz_weigh_rigid(const poise_verdict_problem *problem, const double *distances, const pz_anatomy *anatomy,
                            double stature, const poise_allocator *allocator, pz_findings *found, poise_error *error);

// Weigh pairs of markers that fit better by each other's names: SWAPPED. Needs priors of the places. MEMORY, or a solve that
// is refused, is all that can go wrong.
poise_status pz_weigh_swaps(const poise_verdict_problem *problem, const poise_allocator *allocator, pz_findings *found,
                            poise_error *error);

// Weigh, for each pair of markers, how often one leaps to where the other was, and the other to where the one was, and both
// are followed: TRADED. `distances` is that of poise_track_summary. Fails only with MEMORY.
poise_status pz_weigh_traded(const poise_verdict_problem *problem, const double *distances, double stature,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error);

// Weigh markers with unknown names, that keep their distance from one that has a place, and that are far from all bones:
// ASTRAY. What goes with the head, a body or POISE_NONE, tells nothing. Those that are nearly always seen are named with the
// body that they move with, UNPLACED, and put into `left`: by body, one that moves with it, or NULL. Fails only with MEMORY.
poise_status pz_weigh_astray(const poise_verdict_problem *problem, double stature, int head, const char **left,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error);

#define PZ_EMPTY_ANGLE 0.17453292519943295 // radians, 10 degrees: an angle with a larger standard deviation is left empty

// ---- Limbs and joint angles (verdict_limbs.c) ----------------------------------------------------------------------------

// Weigh, for each body, the longest time in which most of the markers seen on it were ignored: LOST. `distances` is that of
// poise_track_summary. Fails only with MEMORY.
poise_status pz_weigh_lost(const poise_verdict_problem *problem, const double *distances, double stature,
                           const poise_allocator *allocator, pz_findings *found, poise_error *error);

// Weigh, for each joint that stays at a limit for some frames, how far a marker beyond it is off meanwhile, if it is much
// nearer without limits: BLOCKED. `distances` is that of poise_track_summary. MEMORY, or a solve that is refused, is all
// that can go wrong.
poise_status pz_weigh_blocked(const poise_verdict_problem *problem, const double *distances, double stature,
                              const poise_allocator *allocator, pz_findings *found, poise_error *error);

// Weigh, for each body that carries markers, the largest turn from one frame to the next that stands alone, against the next
// such body above it: SNAPPED. Fails only with MEMORY.
poise_status pz_weigh_snapped(const poise_verdict_problem *problem, const poise_allocator *allocator, pz_findings *found,
                              poise_error *error);

// Weigh, for each joint, the longest time in which markers tell nothing of it or of what hangs on it: HIDDEN. Frames before
// and after the person is there, by the summary, do not count. Fails only with MEMORY.
poise_status pz_weigh_hidden(const poise_verdict_problem *problem, const poise_track_summary *summary,
                             const poise_allocator *allocator, pz_findings *found, poise_error *error);

// Weigh where limbs point against where the points that they follow have them: BONES over all, LIMB of each, in every
// `every`-th frame. Fails only with MEMORY.
poise_status pz_weigh_limbs(const poise_verdict_problem *problem, const pz_anatomy *anatomy, int every,
                            const poise_allocator *allocator, pz_findings *found, poise_error *error);

// Weigh, for each joint between two segments of a clinical angle that markers see, the share of frames in which a limit
// changes one of the angles that are not left empty: AT_LIMIT. `spread` is that of pz_weigh_unsure.
// Frames before and after the person is there, by the summary, do not count. Fails only with MEMORY.
poise_status pz_weigh_at_limit(const poise_verdict_problem *problem, const poise_track_summary *summary,
                               const double *spread, const poise_allocator *allocator, pz_findings *found,
                               poise_error *error);

// Weigh, for each clinical angle that markers see, its standard deviation: UNSURE where a marker was left out that moves with
// the distal segment (`left`: by body, or NULL), else VAGUE. Frames before and after the person is there, by the
// summary, do not count. `spread`: by angle, what was weighed, infinite where markers tell nothing. Fails only with MEMORY.
poise_status pz_weigh_unsure(const poise_verdict_problem *problem, const poise_track_summary *summary,
                             const char *const *left, double *spread, const poise_allocator *allocator, pz_findings *found,
                             poise_error *error);

#endif
