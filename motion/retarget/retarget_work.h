// What one call of poise_retarget works with: the feet of the target, and the rest.
#ifndef PZ_MOTION_RETARGET_WORK_H
#define PZ_MOTION_RETARGET_WORK_H

#include <poise/hull.h>

#include "motion/retarget/actor.h"

// ---- Feet: their soles, when they rest on the ground, and where they go --------------------------------------------------

enum {
    PZ_HEEL = 1, // bits of a contact
    PZ_TOE = 2,
    PZ_SLOW = 4,
    PZ_SOLE_MOST = 24 // points of a sole that are kept above the ground
};

// A ball that a foot, or what hangs from it, must not push into the ground: the corner of a shape.
typedef struct pz_sole_point {
    int body;         // that carries it
    vec3 at;          // in the body's frame
    double radius;    // around it
    unsigned char of; // PZ_HEEL or PZ_TOE: the end of the sole that it is nearer to
} pz_sole_point;

typedef struct pz_foot {
    int body;           // of the target; POISE_NONE: there is none
    double height;      // of the ankle above the sole, standing
    vec3 ankle;         // in the body's frame
    vec3 heel, toe;     // on the sole, likewise
    bool is_guessed;    // nothing tells where the sole is
    bool has_edges;     // shapes tell: it rests on the edges of its heel and toe,
    vec3 across;        // half as long as this, in the body's frame,
    double heel_radius; // and so round
    double toe_radius;
    quat rest;                        // its turn standing
    pz_sole_point *corner;            // of all shapes of the foot; NULL: not wanted
    int corners;                      // how many
    int soles;                        // how many there are of
    pz_sole_point sole[PZ_SOLE_MOST]; // those of them that can be lowest in a foot that is not upside down
    poise_pose *path;                 // by frame: where the body is to be
    unsigned char *contact;           // by frame: bits
    bool *flat;                       // by frame: the actor stands on heel and toe
    unsigned char *rests; // by frame: bits, the actor's end does not move, at whatever height; times PZ_SLOW: it is
                          // as slow as one that carries weight
    poise_pose last;      // measuring: the frame before,
    int held;             // and frames in which a point was held
} pz_foot;

// Heel, toe and height of the sole, from the hulls of the foot and of what hangs from it. `sole` > 0 is the height.
// foot->corner, where it is not NULL, has room for the corners of all hulls.
void pz_foot_measure(const pz_actor *to, int side_offset, const poise_hull *hulls, int hull_count, double sole,
                     pz_foot *foot);

// Plant a foot: foot->path comes in as the source's foot goes, and goes out with its contacts held, its sole above
// `ground`. `offset` (frames each) is scratch. Contacts in which the source's foot drifts away are cut.
typedef struct pz_ground {
    vec3 up;
    double height; // of the ground
    double leg;    // of the target
    int frames;
    double frame_time;
    bool *released; // by frame: no foot is planted
} pz_ground;

void pz_foot_plant(pz_foot *foot, const pz_ground *ground, poise_vec3 *offset);

// How firmly a point is held: 1 in contact, going to 0 in a fraction of a second before and after.
double pz_foot_firmness(const pz_foot *foot, const pz_ground *ground, unsigned char bit, int frame);

// The lowest point of the sole, with the body at `pose`, along up; of its ends `ends`, bits. `lowest` (may be NULL) receives
// it, in the body's frame. Toes that turn by themselves are left out.
double pz_sole_height(const pz_foot *foot, poise_pose pose, vec3 up, unsigned char ends, vec3 *lowest);

// The point of the sole that rests: heel, toe or, for both or neither, the middle.
static inline vec3 pz_foot_point(const pz_foot *foot, unsigned char contact)
{
    return contact == PZ_HEEL ? foot->heel : contact == PZ_TOE ? foot->toe : v3_scale(v3_add(foot->heel, foot->toe), 0.5);
}

// ---- The work ------------------------------------------------------------------------------------------------------------

typedef struct pz_retarget_work {
    const poise_retarget_task *task;
    pz_actor from, to;
    pz_followed followed;
    pz_foot foot[2];         // left, right
    poise_vec3 *hips;        // by frame: where the hips are to be; NULL: no legs
    pz_ground ground;        // of the target
    bool planted;            // feet are planted
    bool loose;              // feet only show where they reach: the solve leaves that in their paths
    bool in_place;           // the target's root cannot move
    bool same_shape;         // bones have the same proportions
    double *posture;         // nv: weights of the rest pose
    double *steady;          // nv: weights of the last frame's answer
    bool *locked;            // nv: slides that stay
    const poise_hull *hulls; // of the target, or of its shapes
    int hull_count;
    double *reach;         // by hull: of its surface from its first corner
    poise_goal *goals;     // of a frame
    quat *turn;            // by pair: what it is to have, of this frame and the one before
    quat *turned;          // by pair: what it had in the frame before
    double *v;             // nv: from the last frame to this one
    double *held;          // nv: weights of joints that are as fast as they may be,
    double *slow;          // and nq: where they are held
    double *lower, *upper; // nq: how far coordinates go in a frame
    double *velocity;      // nv: limits for a step; NULL: none
    bool *strained;        // by frame: planted feet take the hips far from their path
    int stumbles;          // frames in which trunk or legs jump; arms jump for reasons of their own
    double led[2];         // largest turns that the source asks for, into the second frame and the third
    bool *late;            // by frame: velocity limits leave a joint behind
    const double *old;     // an answer for the same frames with other feet; NULL: none
    bool *changed;         // by frame: with that, where the feet are to go elsewhere
} pz_retarget_work;

// Measuring, frame by frame, with w->to.kin at the answer.
void pz_retarget_measure(pz_retarget_work *w, int frame, poise_retarget_outcome *outcome);
void pz_retarget_measured(const pz_retarget_work *w, poise_retarget_outcome *outcome);

// What the whole motion shows: speeds of joints, feet that slide though the actor's rest, bodies inside each other.
poise_status pz_retarget_check(const pz_retarget_work *w, const poise_allocator *allocator, const poise_clip *clip,
                               poise_retarget_outcome *outcome, poise_error *error);

#endif
