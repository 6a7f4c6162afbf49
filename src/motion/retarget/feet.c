// The soles of feet: where they are.
#include "motion/retarget/feet.h"

#include "math/scalar.h"

#define SOLE_SHARE   0.08 // of the leg: height of an ankle above its sole, where nothing tells
#define LENGTH_SHARE 0.16 // of the leg: from ankle to ball, likewise
#define HEEL_SHARE   0.4  // of that, behind the ankle

// ---- Soles ---------------------------------------------------------------------------------------------------------------

// What a foot reaches in the rest pose, from its origin: down, forward, backward, to a side.
typedef struct reach {
    double down, front, back, side;
    bool is_known;
} reach;

static void widen(reach *r, const pz_actor *a, vec3 forward, vec3 from_origin, double radius)
{
    r->down = max2(r->down, radius - v3_dot(from_origin, a->up));
    r->front = max2(r->front, v3_dot(from_origin, forward) + radius);
    r->back = max2(r->back, radius - v3_dot(from_origin, forward));
    r->side = max2(r->side, fabs(v3_dot(from_origin, v3_cross(a->up, forward))) + radius);
    r->is_known = true;
}

// Shapes on the foot and on what is fixed to it.
static reach reach_of_shapes(const pz_actor *a, int body, vec3 origin, vec3 forward, const poise_shape *shapes, int count)
{
    reach r = {.is_known = false};
    for (int i = 0; i < count; ++i) {
        int carrier = shapes[i].body;
        while (carrier > body && poise_model_joint_info(a->model, carrier).nv == 0) {
            carrier = poise_model_joint_info(a->model, carrier).parent;
        }
        if (carrier != body || shapes[i].kind == POISE_SHAPE_HALF_SPACE) {
            continue;
        }
        poise_pose pose = poise_pose_multiply(a->pose[shapes[i].body], shapes[i].pose);
        for (int corner = 0; corner < 8; ++corner) {
            vec3 half = shapes[i].half;
            vec3 at = v3(corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y, corner & 4 ? half.z : -half.z);
            vec3 place = poise_pose_transform(pose, at);
            widen(&r, a, forward, v3_sub(place, origin), shapes[i].radius);
        }
    }
    return r;
}

void pz_foot_measure(const pz_actor *a, int offset, const poise_shape *shapes, int shape_count, double sole, pz_foot *foot)
{
    int body = a->roles.body[POISE_ROLE_FOOT + offset], role = POISE_ROLE_FOOT + offset;
    foot->body = body;
    if (body < 0 || !a->has_frame || !(a->leg > 0)) {
        foot->body = POISE_NONE;
        return;
    }
    vec3 origin = pz_joint_place(a, role), ahead = a->has_tip[role] ? v3_sub(a->tip[role], origin) : v3(0, 0, 0);
    vec3 flat = v3_mad(ahead, -v3_dot(ahead, a->up), a->up);
    bool has_toe = v3_norm(flat) > 0.25 * LENGTH_SHARE * a->leg && v3_dot(flat, a->forward) > 0;
    vec3 forward = has_toe ? v3_normalize(flat) : a->forward;
    reach r = reach_of_shapes(a, body, origin, forward, shapes, shape_count);
    double drop = has_toe ? -v3_dot(ahead, a->up) : 0.0;
    double height = sole > 0                            ? sole
                    : r.is_known                        ? r.down
                    : drop > 0.25 * SOLE_SHARE * a->leg ? drop * 1.15
                                                        : SOLE_SHARE * a->leg;
    double front = has_toe ? v3_norm(flat) : r.is_known ? r.front : LENGTH_SHARE * a->leg;
    double back = r.is_known ? max2(r.back, 0.0) : HEEL_SHARE * front;
    poise_pose inverse = poise_pose_inverse(a->pose[body]);
    vec3 below = v3_mad(origin, -height, a->up);
    foot->height = height;
    foot->ankle = a->center[role];
    foot->heel = poise_pose_transform(inverse, v3_mad(below, -back, forward));
    foot->toe = poise_pose_transform(inverse, v3_mad(below, front, forward));
    foot->across = r.is_known ? quat_rotate(inverse.rotation, v3_scale(v3_cross(a->up, forward), r.side)) : v3(0, 0, 0);
    foot->rest = foot->last.rotation = a->pose[body].rotation;
}

double pz_sole_height(const pz_foot *foot, poise_pose pose, vec3 up)
{
    double lowest = INFINITY, side = fabs(v3_dot(quat_rotate(pose.rotation, foot->across), up));
    lowest = min2(lowest, v3_dot(poise_pose_transform(pose, foot->heel), up) - side);
    return min2(lowest, v3_dot(poise_pose_transform(pose, foot->toe), up) - side);
}
