// Recordings with known truth, whole and broken: people of many sizes, recorded with several sets of markers, and what goes
// wrong with recordings. A recording that is not what happened may be called doubtful or failed, never good.
//
// A result is wrong where, in more than a tenth of the frames, a clinical angle is more than 5 degrees or a joint centre more
// than 30 mm from the truth, and no standard deviation that the result states covers it (twice). Recordings whose times are
// false are wrong whatever their poses.
#ifndef TEST_MOTION_BROKEN_RECORDINGS_H
#define TEST_MOTION_BROKEN_RECORDINGS_H

#include <poise/recordings.h>

#define BROKEN_CENTRES 12

// A person who moves, and the recording of it.
typedef struct broken_take {
    poise_model *person;
    poise_clip *motion;
    poise_markers *markers; // metres, y up
    const char *set;        // name of the set of markers
    const char *moves;      // name of the motion
    double stature;         // metres
    uint64_t seed;
    double heading;          // radians: how the room is turned about the person's
    poise_placement *places; // by marker: where it truly sits on the person
    double *angles;          // frames x POISE_ANGLE_COUNT: the truth
    poise_vec3 *centres;     // frames x BROKEN_CENTRES: the truth, in metres and y up
} broken_take;

// How the truth compares with what was made of a recording.
typedef struct broken_answer {
    poise_status status; // other than OK: refused
    poise_verdict_level level;
    bool is_wrong;
    double angle, centre; // the largest that a tenth of the frames exceeds, degrees and metres
    const char *which;    // the angle
    double true_angle, true_centre;
    int uncovered,
        truly_uncovered; // angles beyond what is stated, of those compared: from the whole recording's, from the truth
    int vague_centres;   // joint centres beyond what is stated, from the whole recording's
    int compared;
    char reasons[2000]; // kinds of findings that are worse than good
} broken_answer;

// The kinds of damage; the first ones do no harm.
int broken_kind_count(void);
const char *broken_kind_name(int kind); // NULL out of range
bool broken_kind_is_harmless(int kind);

// Record a person, each seed another one, and break the recording. NULL where the damage does not apply to it, as where
// there is no such marker.
broken_take *broken_take_make(int kind, uint64_t seed);
void broken_take_free(broken_take *take);

// Track it on the humanoid without a flag, and compare.
broken_answer broken_take_judge(const broken_take *take, int kind);

#endif
