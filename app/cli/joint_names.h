// What the coordinates of joints are called, and in which unit people read them.
#ifndef APP_JOINT_NAMES_H
#define APP_JOINT_NAMES_H

#include <poise/model.h>

#define DEGREES_PER_RADIAN (180 / 3.14159265358979323846)

typedef enum coordinate_unit { COORDINATE_NUMBER = 0, COORDINATE_LENGTH, COORDINATE_ANGLE } coordinate_unit;

// Of coordinate i of a joint; a component of a quaternion is a plain number.
coordinate_unit joint_coordinate_unit(poise_joint_type type, int i);

// "x", "twist", "Z"; "" where a joint has only one.
const char *joint_coordinate_name(const poise_joint *joint, int i);

// What people read for a value that is in radians or length units: degrees, or the value itself.
double value_for_people(coordinate_unit unit, double value);

// The joint that coordinate i of a configuration belongs to, and its place there.
int model_joint_of(const poise_model *model, int coordinate, int *place);

// Roll, pitch and yaw in degrees of a unit quaternion: Rz(yaw) Ry(pitch) Rx(roll).
poise_vec3 roll_pitch_yaw(poise_quat rotation);

#endif
