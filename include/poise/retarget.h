// Poise: retargeting. The motion of one skeleton on another: characters, humanoid robots, hands.
//
//   poise_retarget_task task = poise_retarget_task_default();
//   task.from = actor, task.clip = clip, task.to = robot;
//   poise_role_map map;
//   poise_roles_match(&task, NULL, &map, &error);                // which body is which; change it as you like
//   task.map = &map, task.velocity = limits;
//   poise_retarget(&task, NULL, &moved, NULL, &outcome, &error); // a clip of the robot
//
// **What is followed.** Every part of the body that both have keeps its orientation, as far as it has turned from the rest
// pose; rest poses that differ (T, A, arms that hang) are taken out limb by limb:
//
//   R_to(t) = A D(t) A^-1 C^-1 R_to(rest)     D(t) = R_from(t) R_from(rest)^-1
//
// with A from the axes of one world to those of the other and C the turn that brings the limb of one rest pose onto that
// of the other, from the trunk outwards. So bones of any length point where the actor's point, and a skeleton that is
// retargeted onto itself moves as before, to rounding. The hips go where the actor's go, times the ratio of the legs;
// feet likewise.
//
// **Feet.** Where the actor's heel or toe rests on the ground, the target's is planted: one place for the whole contact,
// its sole flat where both rest. Between contacts the foot goes from one place to the next, never below the ground. Two
// skeletons of the same proportions need none of this, and their feet only follow.
//
// **Limits.** Joint limits hold exactly, limits of velocity, where given, as well; what cannot be followed then is late.
// Feet that legs cannot put where the actor's are, because hips turn out less or legs are short, are planted where they
// reach.
#ifndef POISE_RETARGET_H
#define POISE_RETARGET_H

#include <poise/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Roles ---------------------------------------------------------------------------------------------------------------

// The parts of a body: the trunk's, then those of the left side, then those of the right. Fingers have three roles each,
// from the palm outwards.
enum {
    POISE_ROLE_PELVIS = 0,
    POISE_ROLE_CHEST,
    POISE_ROLE_HEAD,
    POISE_ROLE_LEFT, // the first of the left side
    POISE_ROLE_CLAVICLE = POISE_ROLE_LEFT,
    POISE_ROLE_UPPER_ARM,
    POISE_ROLE_FOREARM,
    POISE_ROLE_HAND,
    POISE_ROLE_THIGH,
    POISE_ROLE_SHANK,
    POISE_ROLE_FOOT,
    POISE_ROLE_TOE,
    POISE_ROLE_THUMB, // and the two after it
    POISE_ROLE_INDEX = POISE_ROLE_THUMB + 3,
    POISE_ROLE_MIDDLE = POISE_ROLE_INDEX + 3,
    POISE_ROLE_RING = POISE_ROLE_MIDDLE + 3,
    POISE_ROLE_LITTLE = POISE_ROLE_RING + 3,
    POISE_ROLE_RIGHT = POISE_ROLE_LITTLE + 3,             // the first of the right side
    POISE_ROLE_SIDE = POISE_ROLE_RIGHT - POISE_ROLE_LEFT, // add this to a role of the left for that of the right
    POISE_ROLE_COUNT = POISE_ROLE_RIGHT + POISE_ROLE_SIDE
};

// "thigh.left", "index2.right"; "" outside.
POISE_API const char *poise_role_name(int role);

// Who plays a role.
typedef struct poise_role_pair {
    int from, to;      // bodies; POISE_NONE: the skeleton has none
    double confidence; // in [0, 1]: 1 a name that says it, 0.8 a joint of a chain, 0.6 by shape alone
} poise_role_pair;

// Two skeletons, role by role. What is not a role, such as a tail, is followed where both have a body of the same name.
typedef struct poise_role_map {
    poise_role_pair role[POISE_ROLE_COUNT]; // by role
} poise_role_map;

// How feet are led.
typedef enum poise_feet {
    POISE_FEET_AUTO = 0, // FOLLOW between skeletons of the same proportions, else PLANT
    POISE_FEET_FOLLOW,   // as the actor's, with whatever they slip
    POISE_FEET_PLANT     // planted where the actor's rest
} poise_feet;

// What to retarget, and how. Fill with poise_retarget_task_default(), set from, clip and to, change what you like.
typedef struct poise_retarget_task {
    const poise_model *from;     // the skeleton that moves
    const poise_clip *clip;      // its motion
    const poise_model *to;       // the skeleton that is to follow
    const poise_clip *to_clip;   // NULL: a motion of `to`, to find its rest pose where its neutral configuration is none
    const poise_clip *from_clip; // NULL: the same of `from`; NULL: `clip`. Give the whole motion where `clip` is a part of
                                 // it, and every part is taken the same way
    poise_up from_up, to_up;     // UNKNOWN: along which the figures stand
    const poise_role_map *map;   // NULL: poise_roles_match
    const poise_shape *shapes;   // NULL: of `to`; those of its feet tell where the soles are
    int shape_count;             // of them
    double sole;                 // 0: height of the ankle above the sole, in units of `to`; 0: by shapes, toes, or assumed
    poise_feet feet;             // AUTO
    double ground;               // NaN: height of the actor's ground; NaN: found where its feet rest
    const double *velocity;      // NULL: limits, nv numbers > 0, per second; infinity for none
    bool use_limits;             // true: joint limits
} poise_retarget_task;

// The defaults that stand beside the members.
POISE_API poise_retarget_task poise_retarget_task_default(void);

// Limits for the task: the velocities that a model's file gives its joints, and `all` (infinity: none) for every joint but a
// free root. Writes nv numbers; false where all are infinite.
POISE_API bool poise_retarget_velocities(const poise_model *to, double all, double *velocity);

// Find who plays which role on both skeletons. Of the task from, to, their clips and axes count.
POISE_API poise_status poise_roles_match(const poise_retarget_task *task, const poise_allocator *allocator,
                                         poise_role_map *map, poise_error *error);

// A map as a text to look at and edit: a line "ROLE SOURCE TARGET CONFIDENCE" for each role that either has, "-" for none,
// names with blanks in quotes. Writes up to `size` bytes, the zero included; returns the bytes needed, without it.
POISE_API size_t poise_role_map_write(const poise_role_map *map, const poise_model *from, const poise_model *to, char *text,
                                      size_t size);

// Read such a text. Roles that it does not name have nobody. FORMAT, with the line, where a role or a body is unknown.
POISE_API poise_status poise_role_map_read(const char *text, const poise_model *from, const poise_model *to,
                                           poise_role_map *map, poise_error *error);

// ---- Retargeting ---------------------------------------------------------------------------------------------------------

// What of a foot rests on the ground in a frame: bits.
typedef enum poise_contact {
    POISE_CONTACT_LEFT_HEEL = 1,
    POISE_CONTACT_LEFT_TOE = 2,
    POISE_CONTACT_RIGHT_HEEL = 4,
    POISE_CONTACT_RIGHT_TOE = 8
} poise_contact;

// What came of it. Lengths in units of `to`, angles in radians, times in seconds.
typedef struct poise_retarget_outcome {
    int roles;              // that both have
    int bodies;             // that follow one of the source, roles included
    double factor;          // that the paths of hips and feet were multiplied by
    double leg;             // of the target, hip to ankle; 0: none
    bool same;              // the skeletons have the same proportions
    bool planted;           // feet were planted
    bool in_place;          // the target's root cannot move: the motion happens where it is
    poise_up from_up;       // the axes that were taken as up
    poise_up to_up;         // likewise
    bool from_stands;       // a pose was found in which the source stands upright, to compare limbs in
    bool to_stands;         // the same of the target
    bool from_reversed;     // feet of the source point backwards, by the names of its hips: left and right may be swapped
    bool to_reversed;       // the same of the target
    double ground;          // height of the target's ground
    double bone_mean;       // angle between a bone and the actor's, over limbs and frames
    double bone_worst;      // largest
    int bone_role;          // whose; POISE_NONE: none
    int bone_frame;         // when
    double limb_mean;       // the same angle, mean over frames, of the limb that is worst
    int limb_role;          // which; POISE_NONE: none
    double turn_mean;       // angle between a body and the orientation it follows
    double turn_worst;      // largest
    double hips_mean;       // distance of the hips from where they are to go
    double hips_worst;      // largest
    double contact;         // share of frames in which a foot is planted
    double skate_mean;      // speed of planted points along the ground
    double skate_worst;     // largest
    int skate_frame;        // when
    int released;           // frames in which no foot was planted, since hips and legs could not have gone along
    double sunk;            // depth of a sole below the ground, largest
    double turn_most;       // largest turn of any body from frame to frame
    int jumps;              // frames in which a body turns by 0.5 radians more than the one it follows
    int outside;            // numbers outside their limits: 0
    double velocity;        // largest share of a velocity limit; 0 without
    int late;               // frames in which velocity limits left a joint behind by more than 0.1
    double late_worst;      // by how much at most, radians or lengths
    int late_joint;         // which; POISE_NONE: none
    int iterations;         // of all frames
    double seconds_of_clip; // that it lasts
} poise_retarget_outcome;

// Retarget. `contacts` (may be NULL) takes clip->frames sets of poise_contact bits. `outcome` may be NULL. NOT_FOUND, with
// the fix in `error`, where the skeletons have too little in common.
POISE_API poise_status poise_retarget(const poise_retarget_task *task, const poise_allocator *allocator, poise_clip **clip,
                                      unsigned char *contacts, poise_retarget_outcome *outcome, poise_error *error);

// Judge it, by the thresholds of poise_thresholds_default: UNMATCHED, POSE, BONES, LIMB, HIPS, SKATE, SLIPPED, RELEASED,
// SUNK, JUMPED, LATE, REVERSED. Angles are in radians, lengths shares of the target's leg. `findings` takes up to
// `capacity`, the worst first.
POISE_API poise_status poise_retarget_judge(const poise_retarget_task *task, const poise_retarget_outcome *outcome,
                                            const poise_thresholds *thresholds, poise_verdict *verdict,
                                            poise_finding *findings, int capacity, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
