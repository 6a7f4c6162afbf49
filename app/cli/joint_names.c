// What the coordinates of joints are called.
#include "joint_names.h"

#include <math.h>

// Translations come first, then the rotation, as numbers where it is a quaternion.
coordinate_unit joint_coordinate_unit(poise_joint_type type, int i)
{
    switch (type) {
    case POISE_JOINT_PRISMATIC:
    case POISE_JOINT_TRANSLATION:
        return COORDINATE_LENGTH;
    case POISE_JOINT_PLANAR:
        return i < 2 ? COORDINATE_LENGTH : COORDINATE_ANGLE;
    case POISE_JOINT_FREE:
        return i < 3 ? COORDINATE_LENGTH : COORDINATE_NUMBER;
    case POISE_JOINT_FREE_EXPMAP:
    case POISE_JOINT_FREE_EULER:
        return i < 3 ? COORDINATE_LENGTH : COORDINATE_ANGLE;
    case POISE_JOINT_BALL_QUATERNION:
        return COORDINATE_NUMBER;
    default:
        return COORDINATE_ANGLE;
    }
}

static const char *euler_name(poise_euler_order order, int i)
{
    static const char letters[][4] = {
        [POISE_EULER_XYZ] = "XYZ", [POISE_EULER_XZY] = "XZY", [POISE_EULER_YXZ] = "YXZ", [POISE_EULER_YZX] = "YZX",
        [POISE_EULER_ZXY] = "ZXY", [POISE_EULER_ZYX] = "ZYX", [POISE_EULER_XYX] = "XYX", [POISE_EULER_XZX] = "XZX",
        [POISE_EULER_YXY] = "YXY", [POISE_EULER_YZY] = "YZY", [POISE_EULER_ZXZ] = "ZXZ", [POISE_EULER_ZYZ] = "ZYZ",
    };
    static const char *const turn[] = {"turn X", "turn Y", "turn Z"};
    return turn[letters[order][i] - 'X'];
}

const char *joint_coordinate_name(const poise_joint *joint, int i)
{
    static const char *const place[] = {"x", "y", "z"};
    static const char *const turns[] = {"first turn", "second turn"};
    static const char *const vector[] = {"vector x", "vector y", "vector z"};
    static const char *const quaternion[] = {"quat x", "quat y", "quat z", "quat w"};
    static const char *const swing[] = {"swing x", "swing y", "twist"};
    switch (joint->type) {
    case POISE_JOINT_UNIVERSAL:
        return turns[i];
    case POISE_JOINT_BALL_EULER:
        return euler_name(joint->order, i);
    case POISE_JOINT_BALL_EXPMAP:
        return vector[i];
    case POISE_JOINT_BALL_QUATERNION:
        return quaternion[i];
    case POISE_JOINT_SWING_TWIST:
        return swing[i];
    case POISE_JOINT_TRANSLATION:
        return place[i];
    case POISE_JOINT_PLANAR:
        return i < 2 ? place[i] : "turn";
    case POISE_JOINT_FREE:
        return i < 3 ? place[i] : quaternion[i - 3];
    case POISE_JOINT_FREE_EXPMAP:
        return i < 3 ? place[i] : vector[i - 3];
    case POISE_JOINT_FREE_EULER:
        return i < 3 ? place[i] : euler_name(joint->order, i - 3);
    default:
        return "";
    }
}

double value_for_people(coordinate_unit unit, double value)
{
    return unit == COORDINATE_ANGLE ? value * DEGREES_PER_RADIAN : value;
}

// Coordinates are in the order of the joints.
int model_joint_of(const poise_model *model, int coordinate, int *place)
{
    int low = 0, high = poise_model_info(model).joints - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (poise_model_joint_info(model, middle).q <= coordinate) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    while (low > 0 && poise_model_joint_info(model, low).nq == 0) {
        low -= 1; // joints without coordinates begin where the next one does
    }
    *place = coordinate - poise_model_joint_info(model, low).q;
    return low;
}

// R = Rz(yaw) Ry(pitch) Rx(roll), row-major:
//
//   R10 = sin(yaw) cos(pitch)   R00 = cos(yaw) cos(pitch)   R20 = -sin(pitch)   R21 = cos(pitch) sin(roll)   R22 = cos cos
//
// Where cos(pitch) is 0 only yaw - roll or yaw + roll is determined: roll is 0 then.
poise_vec3 roll_pitch_yaw(poise_quat rotation)
{
    double R[9];
    poise_quat_to_matrix(rotation, R);
    double cosine = hypot(R[0], R[3]), pitch = poise_atan2(-R[6], cosine);
    bool upright = cosine > 1e-9; // R is good to 1e-15
    double roll = upright ? poise_atan2(R[7], R[8]) : 0;
    double yaw = upright ? poise_atan2(R[3], R[0]) : poise_atan2(-R[1], R[4]);
    return poise_vec3_make(roll * DEGREES_PER_RADIAN, pitch * DEGREES_PER_RADIAN, yaw * DEGREES_PER_RADIAN);
}
