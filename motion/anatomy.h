// The parts of a human skeleton: which body is which, and where its joints are in the neutral configuration.
#ifndef PZ_MOTION_ANATOMY_H
#define PZ_MOTION_ANATOMY_H

#include <poise/model.h>

#include "num/vector.h"

#define PZ_ACCLAIM_INCH (0.0254 / 0.45) // metres: the unit of CMU's skeletons, and of BVH files made of them
#define PZ_LEG_SHARE    0.491           // of the stature: from hip to ankle
#define PZ_NOISE_SHARE  0.006           // of the stature: what a marker misses its place by in one frame

typedef enum pz_part {
    PZ_HEAD,
    PZ_THORAX,
    PZ_PELVIS,
    PZ_CLAVICLE,
    PZ_UPPER_ARM,
    PZ_FOREARM,
    PZ_WRIST, // the forearm again, by the body next to the hand, which turns with it
    PZ_HAND,
    PZ_THIGH,
    PZ_SHANK,
    PZ_FOOT,
    PZ_PART_COUNT
} pz_part;

typedef enum pz_side { PZ_MIDDLE = 0, PZ_LEFT, PZ_RIGHT } pz_side;

// One part. Places are in the world, in the neutral configuration.
typedef struct pz_segment {
    int body;         // POISE_NONE: the skeleton has no such part
    vec3 origin, end; // of the bone; the same where a part has only one point
    vec3 axis[3];     // along, forward, outward: unit vectors
} pz_segment;

typedef struct pz_anatomy {
    pz_segment part[PZ_PART_COUNT][3]; // by side; parts of the trunk have all three
    vec3 up, left, forward;            // unit vectors
    double stature;                    // by the length of the legs; 0: not a human skeleton
} pz_anatomy;

// The part of this name ("thigh"); false for none.
bool pz_part_by_name(const char *name, size_t length, pz_part *part);
bool pz_part_has_sides(pz_part part);

// Find the parts by the names of bodies. Fails only with MEMORY.
poise_status pz_anatomy_of(const poise_model *model, const poise_allocator *allocator, pz_anatomy *anatomy);

// The same where bodies of some parts are known; `given` may be NULL.
typedef struct pz_part_bodies {
    int body[PZ_PART_COUNT][3]; // by side; POISE_NONE: by name
} pz_part_bodies;

poise_status pz_anatomy_given(const poise_model *model, const pz_part_bodies *given, const poise_allocator *allocator,
                              pz_anatomy *anatomy);

// Is this component of a joint's step a length that stays as it is? People's bones do not change theirs, whatever channels
// a file has.
bool pz_anatomy_holds(const pz_anatomy *anatomy, const poise_model *model, int joint, int dof);

// Weights of the neutral configuration: poise_posture_weights.
void pz_anatomy_posture(const pz_anatomy *anatomy, const poise_model *model, double noise, double *weights);

// The body of the other side, by its name; POISE_NONE where there is none.
int pz_mirror_body(const poise_model *model, int body);

// How large a skeleton is: its stature, or twice the largest distance of a body from the mean of all. Fails only with
// MEMORY.
poise_status pz_skeleton_size(const poise_model *model, const poise_allocator *allocator, double *size);

// Does the skeleton have a body of this name, in whatever case and punctuation?
bool pz_model_has_body(const poise_model *model, const char *name, size_t length);

#endif
