// A pose of the humanoid in angles, whatever the coordinates of the model: what motions are written in.
#ifndef SCENES_FIGURE_H
#define SCENES_FIGURE_H

#include "humanoid.h"

typedef struct figure {
    poise_vec3 position;         // of the pelvis, less where it is in the neutral pose
    double heading, pitch, roll; // of the pelvis: R_y R_x R_z
    double angle[BONE_COUNT][3]; // radians; see bone_frame
} figure;

typedef enum side { LEFT = 0, RIGHT = 1 } side;

// The bone of that side, given the left one.
static inline bone sided(bone left, side s)
{
    return (bone)((int)left + (s == RIGHT ? left < LEFT_THIGH ? (int)ARM_BONES : (int)LEG_BONES : 0));
}

// World pose of a bone.
poise_pose scene_figure_pose(const figure *f, bone b);

// Where a foot stands: the ball of the foot (the joint of the toes), how far the heel is lifted (radians, negative: the toes
// are), the heading of the foot for the direction of that lift, and the twist of the hip.
typedef struct footing {
    poise_vec3 ball;
    double lift;
    double heading;
    double twist;
} footing;

// Set the angles of a leg so that its foot stands there, for the pelvis as it is. The leg must reach: its knee stays
// straight and the foot short of the place when it does not.
void scene_figure_stand(figure *f, side s, footing where);

// The pose in the coordinates of a model. POISE_ERROR_UNSUPPORTED when the model is not a humanoid.
poise_status scene_figure_write(const figure *f, const poise_model *model, double *q);

#endif
