// Clinical joint angles at one configuration: which joints they span, and how they change with the degrees of freedom.
#ifndef PZ_MOTION_CLINICAL_H
#define PZ_MOTION_CLINICAL_H

#include <poise/track.h>

#include "motion/anatomy.h"
#include "num/vector.h"

typedef struct pz_clinic {
    const poise_model *model;
    pz_anatomy anatomy;
    poise_kinematics *kin;          // pz_clinic_begin leaves it in the neutral configuration
    quat neutral[PZ_PART_COUNT][3]; // of the bodies
    double *turns;                  // 2 x 3 x nv: scratch
    bool moves[POISE_ANGLE_COUNT];  // do joints turn about this angle's axis?
} pz_clinic;

// Fails with MEMORY. Call pz_clinic_end in any case.
poise_status pz_clinic_begin(const poise_model *model, const poise_allocator *allocator, pz_clinic *clinic,
                             poise_error *error);
void pz_clinic_end(pz_clinic *clinic, const poise_allocator *allocator);

// Is the joint one of those between the two segments of the angle?
bool pz_angle_spans(const pz_clinic *clinic, int angle, int joint);

// The body of the angle's distal segment; POISE_NONE: the skeleton has none.
int pz_angle_body(const pz_clinic *clinic, int angle);

// By how much an angle changes with a step (radians, sign aside), where the kinematics are: nv numbers. Returns by how much
// it changes with a turn about its own axis: 1, and more towards gimbal lock, where the first and the last angle of a
// sequence can no longer be told apart. 0, with zeros, where the skeleton lacks a part.
double pz_angle_gradient(const pz_clinic *clinic, int angle, double *gradient);

#endif
