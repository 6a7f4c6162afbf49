// Poise: retargeting. The motion of one skeleton on another: characters, humanoid robots, hands.
//
//   poise_retarget_task task = poise_retarget_task_default();
//   task.from = actor, task.clip = clip, task.to = robot;
//   poise_role_map map;
//   poise_roles_match(&task, NULL, &map, &error);                // which body is which; change it as you like
//   task.map = &map, task.velocity = limits;
//   poise_retarget(&task, NULL, &moved, NULL, &outcome, &error); // a clip of the robot
//
// **What is followed.** Every part of the body that both skeletons have turns as the actor's has turned from its rest pose;
// differences between rest poses (T, A, hanging arms) are removed limb by limb:
//
//   R_to(t) = A D(t) A^-1 C^-1 R_to(rest)     D(t) = R_from(t) R_from(rest)^-1
//
// where A maps the axes of one world to those of the other and C is the rotation that brings the limb of one rest pose onto
// that of the other, from the trunk outwards. So bones of any length point where the actor's point, and a skeleton
// retargeted onto itself moves as before, to rounding. The path of the hips is the actor's, scaled by the ratio of leg
// lengths; so are those of the feet, each as far from its own hip as the actor's from his.
//
// **Feet.** While the actor's heel or toe rests on the ground, the target's is planted: one place for the whole contact,
// with the sole flat if both rest. Between contacts the foot moves from one place to the next, never below the ground.
// Where the sole is, its heel and its toe, the shapes of the foot tell: pass those of the target's file. A foot with shapes
// tips about the edge of its heel or toe, and no corner of them goes below the ground.
// Skeletons of the same proportions need none of this: their feet simply follow.
//
// **Limits.** Joint limits hold exactly, and so do velocity limits if given; what cannot keep up arrives late. Feet that
// cannot reach the actor's position, because the hips turn out less or the legs are shorter, are planted within reach.
#ifndef POISE_RETARGET_H
#define POISE_RETARGET_H

#include <poise/constraint.h>
#include <poise/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Roles ---------------------------------------------------------------------------------------------------------------

// The parts of a body: those of the trunk, then of the left side, then of the right. Fingers have three roles each, from
// the palm outwards.
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
    POISE_ROLE_SIDE = POISE_ROLE_RIGHT - POISE_ROLE_LEFT, // add this to a left role to get the right one
    POISE_ROLE_COUNT = POISE_ROLE_RIGHT + POISE_ROLE_SIDE
};

// The name of a role, such as "thigh.left" or "index2.right"; "" if out of range.
POISE_API const char *poise_role_name(int role);

// The bodies that have one role.
typedef struct poise_role_pair {
    int from, to;      // bodies; POISE_NONE: the skeleton has none
    double confidence; // in [0, 1]: 1 by name, 0.8 by its place in a chain, 0.6 by shape alone
} poise_role_pair;

// Two skeletons, role by role. A body without a role, such as a tail, follows the body of the same name, if there is one.
typedef struct poise_role_map {
    poise_role_pair role[POISE_ROLE_COUNT]; // by role
} poise_role_map;

// How feet move.
typedef enum poise_feet {
    POISE_FEET_AUTO = 0, // FOLLOW between skeletons of the same proportions, else PLANT
    POISE_FEET_FOLLOW,   // follow the actor's, slipping included
    POISE_FEET_PLANT     // planted while the actor's rest
} poise_feet;

// What to retarget, and how. Fill with poise_retarget_task_default(), set from, clip and to, change what you like.
typedef struct poise_retarget_task {
    const poise_model *from;     // the skeleton that moves
    const poise_clip *clip;      // its motion
    const poise_model *to;       // the skeleton that follows. A root that cannot move stays where it is (`in_place`): read
                                 // robots with poise_read_options.floating
    const poise_clip *to_clip;   // NULL: a motion of `to`, in which to find a rest pose if its neutral configuration is not
                                 // one
    const poise_clip *from_clip; // NULL: `clip`; the same for `from`. If `clip` is part of a longer motion, pass the whole,
                                 // so that all parts are retargeted alike
    poise_up from_up, to_up;     // UNKNOWN: the axis along which the figures stand
    const poise_role_map *map;   // NULL: poise_roles_match
    const poise_shape *shapes;   // NULL: shapes of `to`; those of its feet, and of what hangs from them, give the soles
    int shape_count;             // 0: how many
    const poise_hull *hulls; // NULL: the shapes; else the same geometry as it is (poise_file.hulls), which is used instead
    int hull_count;          // 0: how many
    int shapes_skipped;      // 0: shapes of `to` that could not be read, for the verdict (poise_file.shapes_skipped)
    bool is_robot;           // false: `to` is a robot's, whose limbs and trunk should all have collision shapes (verdict)
    const poise_pair *excluded;    // NULL: pairs of bodies of `to` that may overlap (poise_file.excluded)
    int excluded_count;            // 0: how many
    const poise_constraint *loops; // NULL: loops that the file of `to` closes (poise_file.loops), for the verdict
    int loop_count;                // 0: how many
    double metres;                 // 0: per unit of length of `to`; 0: by the size of its figure
    double sole;                   // 0: height of the ankle above the sole, in units of `to`; 0: from shapes or toes, else
                                   // assumed
    poise_feet feet;               // AUTO
    double ground;                 // NaN: height of the actor's ground; NaN: found from where its feet rest
    const double *velocity;        // NULL: limits, nv numbers > 0, per second; infinity for none
    bool use_limits;               // true: joint limits
} poise_retarget_task;

// The defaults given beside the members.
static inline poise_retarget_task poise_retarget_task_default(void)
{
    poise_retarget_task task;
    poise_init(POISE_TYPE_RETARGET_TASK, &task, sizeof task);
    return task;
}

// Velocity limits for the task: those from the model's file, and `all` (infinity: none) for every joint but a free root.
// Writes nv numbers; returns false if all are infinite.
POISE_API bool poise_retarget_velocities(const poise_model *to, double all, double *velocity);

// Find the role of every body on both skeletons. Uses from, to, their clips and their axes of the task.
POISE_API poise_status poise_roles_match(const poise_retarget_task *task, const poise_allocator *allocator,
                                         poise_role_map *map, poise_error *error);

// A map as text, to look at and edit: a line "ROLE SOURCE TARGET CONFIDENCE" for each role that either skeleton has, "-"
// for none, names with spaces in quotes. Writes up to `size` bytes, terminating zero included; returns the length of the
// full text.
POISE_API size_t poise_role_map_write(const poise_role_map *map, const poise_model *from, const poise_model *to, char *text,
                                      size_t size);

// Read such a text. Roles that it does not name stay empty. FORMAT, with the line: a role or a body is unknown
// or named twice.
POISE_API poise_status poise_role_map_read(const char *text, const poise_model *from, const poise_model *to,
                                           poise_role_map *map, poise_error *error);

// ---- Retargeting ---------------------------------------------------------------------------------------------------------

// Which parts of the feet rest on the ground in a frame: bits.
typedef enum poise_contact {
    POISE_CONTACT_LEFT_HEEL = 1,
    POISE_CONTACT_LEFT_TOE = 2,
    POISE_CONTACT_RIGHT_HEEL = 4,
    POISE_CONTACT_RIGHT_TOE = 8
} poise_contact;

// The result. Lengths are in units of `to`, angles in radians, times in seconds.
typedef struct poise_retarget_outcome {
    int roles;             // roles that both have
    int bodies;            // bodies that follow one of the source, those with roles included
    double factor;         // factor applied to the paths of hips and feet
    double leg;            // leg length of the target, hip to ankle; 0: no legs
    bool same;             // the skeletons have the same proportions
    bool planted;          // feet were planted
    bool in_place;         // the target's root cannot move: the motion stays in place
    poise_up from_up;      // upward axis used for the source
    poise_up to_up;        // the same for the target
    poise_quat axes;       // A above
    bool from_stands;      // a pose was found in which the source stands upright, so that limbs can be compared
    bool to_stands;        // the same for the target
    bool from_reversed;    // by the names of its hips, the feet of the source point backwards: left and right may be
                           // swapped
    bool to_reversed;      // the same for the target
    double ground;         // height of the target's ground
    double bone_mean;      // angle between a bone and the actor's, mean over limbs and frames
    double bone_worst;     // largest
    int bone_role;         // whose; POISE_NONE: none
    int bone_frame;        // when
    double limb_mean;      // the same angle for the worst limb, mean over frames
    int limb_role;         // which; POISE_NONE: none
    int aside;             // frames in which one limb is more than 45 degrees off, the limb that is so in most
    int aside_role;        // which; POISE_NONE: none
    double turn_mean;      // angle between a body and the orientation it follows, mean
    double turn_worst;     // largest
    double hips_mean;      // distance of the hips from their target path, mean
    double hips_worst;     // largest
    double contact;        // share of frames in which a foot is planted
    int unplanted;         // frames in which a sole is near the ground, below the hips, if no foot is planted in any; else 0
    bool soles_guessed;    // neither shapes, toes nor the task tell where the soles are
    double skate_mean;     // speed of planted heels and toes along the ground, where they touch it, mean
    double skate_worst;    // largest
    int skate_frame;       // when
    int released;          // frames in which no foot was planted because hips and legs could not have followed
    int tipped;            // frames in which a sole is tilted by 0.2 radians or more where the actor stands on heel and toe
    double tipped_worst;   // by how much at most, radians
    int tipped_frame;      // when
    double sunk;           // largest depth of a corner of a foot's shapes below the ground; without shapes, of its sole
    double buried;         // largest depth of a shape of another part below it; 0: none, or there are no shapes
    int buried_body;       // which; POISE_NONE: none
    int buried_frame;      // when
    double turn_most;      // largest rotation of any body from frame to frame
    int jumps;             // frames in which a body turns 0.5 radians more than the one it follows
    double jump_worst;     // by how much more at most, radians
    int jump_body;         // which; POISE_NONE: none
    int jump_frame;        // when
    bool starts_apart;     // the first frame is a pose of its own, such as a T-pose, far from the rest of the motion
    int outside;           // coordinates outside their limits: always 0
    double velocity;       // largest share of a velocity limit that was used; 0 without limits
    int late;              // frames in which velocity limits held a joint back by more than 0.1
    double late_worst;     // largest such delay, radians or lengths
    int late_joint;        // which; POISE_NONE: none
    double fast;           // largest speed of a joint as a multiple of its limit: the task's, else the file's, else 20 rad/s
    double fast_speed;     // that speed, per second
    int fast_joint;        // which; POISE_NONE: none
    int fast_frame;        // when
    int abrupt;            // frames in which a joint accelerates by more than 1000 rad/s^2
    double acceleration;   // the largest
    int abrupt_joint;      // which; POISE_NONE: none
    int abrupt_frame;      // when
    double lurch;          // by how much the hips are faster than the actor's, scaled, or than 12 m/s: largest, m/s
    double lurch_speed;    // their speed then, m/s
    int lurch_frame;       // when
    int upright;           // frames in which the target's head is above its hips
    int overturned;        // those of them in which the actor's is below
    int loose;             // frames in which a foot of the actor rests, at any height, and the target's, not planted, slides
    int stances;           // frames in which a foot of the actor rests, of both feet together
    int loose_stances;     // those of them in which the target's slides
    double loose_speed;    // the fastest of them
    int loose_role;        // which foot; POISE_NONE: none
    int loose_frame;       // when
    int scuffed;           // frames in which a foot that is not planted touches the ground and scrapes over it
    double scuff_speed;    // the fastest of them
    int scuff_role;        // which foot; POISE_NONE: none
    int scuff_frame;       // when
    int hovering;          // frames in which nothing is near the ground, for more than a second: longer than in a jump
    int hover_first;       // the longest of these times,
    int hover_last;        // to its last frame
    double unclosed;       // largest error of the task's loops, length units or radians
    int unclosed_frame;    // when
    double travel;         // how far the hips get from where they start, along the ground
    double glide;          // speed of soles near the ground as a share of the speed of the hips
    bool has_bodies;       // hulls or shapes are there, so that `overlap` is known
    int bare;              // bodies of a robot's limbs and trunk that have no collision shapes
    int bare_body;         // the first; POISE_NONE: none
    bool bare_by_size;     // some of them have shapes, but far too small ones, as where the unit of a mesh is wrong
    poise_overlap overlap; // how far bodies lie inside each other, and below the ground if the root can move
    double metres;         // per unit of length, as used for depths
    int iterations;        // of all frames
    double seconds_of_clip; // its duration
} poise_retarget_outcome;

// Retarget a clip. `contacts` (may be NULL) receives poise_contact bits for each of the clip->frames frames. `outcome` may
// be NULL. NOT_FOUND, with the fix in `error`: the skeletons have too little in common.
POISE_API poise_status poise_retarget(const poise_retarget_task *task, const poise_allocator *allocator, poise_clip **clip,
                                      unsigned char *contacts, poise_retarget_outcome *outcome, poise_error *error);

// Judge the result, by thresholds such as poise_thresholds_default: UNMATCHED, FIXED, POSE, BONES, LIMB, ASIDE, HIPS,
// UNPLANTED, SKATE, SLIPPED, RELEASED, TIPPED, LOOSE, SCUFFED, HOVERING, SUNK, BURIED, FLOOR, SELF, PIERCED, UNCHECKED,
// JUMPED, FAST, ABRUPT, LATE, REVERSED, OVERTURNED, LURCHED, UNCLOSED, APART. Angles are in radians, lengths relative to the
// target's leg. `findings` receives up to `capacity`, worst first.
POISE_API poise_status poise_retarget_judge(const poise_retarget_task *task, const poise_retarget_outcome *outcome,
                                            const poise_thresholds *thresholds, poise_verdict *verdict,
                                            poise_finding *findings, int capacity, poise_error *error);

// ---- Standing ------------------------------------------------------------------------------------------------------------

// A figure that stands at rest, its soles, and the ground below them.
typedef struct poise_stance poise_stance;

// Find how a figure stands in a rest pose, `rest` (nq numbers; NULL: neutral): the ground is at its lowest sole there. `up`
// UNKNOWN: the axis along which it stands. Soles are those of retargeting: by `shapes`, toes, or assumed. NOT_FOUND: nobody
// stands there on legs, or the figure cannot be moved as a whole.
POISE_API poise_status poise_stance_create(const poise_model *model, const double *rest, poise_up up,
                                           const poise_shape *shapes, int shape_count, const poise_allocator *allocator,
                                           poise_stance **stance, poise_error *error);
POISE_API void poise_stance_destroy(poise_stance *stance); // NULL is allowed

// The height of the lowest sole above that ground, in the pose of `kinematics`, which is of the same model; below 0: under it.
POISE_API double poise_stance_height(const poise_stance *stance, const poise_kinematics *kinematics);

// Judge such a height, or by how much it differs from what it should be: AFLOAT, SUNK. `thresholds` NULL: the default.
POISE_API poise_status poise_stance_judge(const poise_stance *stance, double height, const poise_thresholds *thresholds,
                                          poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
