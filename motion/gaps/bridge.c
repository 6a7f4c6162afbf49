// The way of a joint that is hidden for a while: between the last pose that was seen, a, and the next one, b, n frames
// later,
//
//   q = a + h(s) (b - a) + g(s) u - g(1 - s) v        s from 0 to 1,  h = s^2 (3 - 2 s),  g = s (1 - s)^2
//
// with differences and sums on the joint's manifold. u and v are what the joint moves by in n frames with the velocities it
// has at both ends, or in SWING seconds if that is less: a limb goes on for a moment, nobody knows for how long.
#include "motion/gaps/hidden.h"

#include "base/arena.h"
#include "kin/kin.h"
#include "num/real.h"

#include <string.h>

#define SWING 0.15 // seconds
#define PACE  3    // frames that velocities are measured over

typedef struct crossing {
    const poise_model *model;
    const poise_clip *way;
    const bool *hidden;
    double *apart, *leaves, *comes, *step; // nv each
    double *at;                            // nq
} crossing;

static bool is_hidden(const crossing *c, int frame, int joint)
{
    return c->hidden[(size_t)frame * (size_t)c->model->joint_count + (size_t)joint];
}

static const double *pose_at(const crossing *c, int frame)
{
    return c->way->q + (size_t)frame * (size_t)c->way->nq;
}

// What the joint moves by in a frame around `frame`, on the side where it is seen, into the step of all joints.
static void pace_at(const crossing *c, int joint, int frame, int direction, double *velocity)
{
    int far = frame;
    while (far - frame < PACE && frame - far < PACE && far + direction >= 0 && far + direction < c->way->frames &&
           !is_hidden(c, far + direction, joint)) {
        far += direction;
    }
    int first = least(frame, far), last = frame + far - first;
    pz_kin_difference(c->model, pose_at(c, first), pose_at(c, last), velocity);
    for (int v = 0; v < c->model->nv; ++v) {
        velocity[v] = last > first ? velocity[v] / (last - first) : 0.0;
    }
}

// Copy the joint's coordinates of a pose into a frame of q.
static void put(const crossing *c, int joint, const double *pose, int frame, double *q)
{
    poise_joint_info info = poise_model_joint_info(c->model, joint);
    memcpy(q + (size_t)frame * (size_t)c->way->nq + info.q, pose + info.q, (size_t)info.nq * sizeof *q);
}

// Fill the frames between a and b, which see the joint. Where a or b is no frame, the other one's pose stays.
static void cross(const crossing *c, int joint, int a, int b, double *q)
{
    bool has_both = a >= 0 && b < c->way->frames;
    int n = b - a;
    if (has_both) {
        pz_kin_difference(c->model, pose_at(c, a), pose_at(c, b), c->apart);
        pace_at(c, joint, a, -1, c->leaves);
        pace_at(c, joint, b, 1, c->comes);
    }
    double reach = min2(n, SWING / c->way->frame_time);
    for (int f = a + 1; f < b; ++f) {
        if (!has_both) {
            put(c, joint, pose_at(c, a >= 0 ? a : b), f, q);
            continue;
        }
        double s = (double)(f - a) / n, r = 1.0 - s;
        for (int v = 0; v < c->model->nv; ++v) {
            c->step[v] =
                s * s * (3.0 - 2.0 * s) * c->apart[v] + reach * (s * r * r * c->leaves[v] - s * s * r * c->comes[v]);
        }
        pz_kin_retract(c->model, pose_at(c, a), c->step, c->at);
        put(c, joint, c->at, f, q);
    }
}

poise_status pz_bridge_hidden(const poise_model *model, const poise_clip *way, const bool *hidden,
                              const poise_allocator *allocator, double *q)
{
    size_t nv = (size_t)model->nv, nq = (size_t)model->nq;
    double *numbers = pz_allocate(allocator, (4 * nv + nq + 1) * sizeof *numbers);
    if (!numbers) {
        return POISE_ERROR_MEMORY;
    }
    crossing c = {.model = model, .way = way, .hidden = hidden, .apart = numbers};
    c.leaves = c.apart + nv, c.comes = c.leaves + nv, c.step = c.comes + nv, c.at = c.step + nv;
    for (int k = 0; k < model->joint_count; ++k) {
        for (int f = 0, seen = -1; f <= way->frames; ++f) {
            if (f < way->frames && is_hidden(&c, f, k)) {
                continue;
            }
            if (f - seen > 1 && f - seen <= way->frames) {
                cross(&c, k, seen, f, q);
            }
            seen = f;
        }
    }
    pz_release(allocator, numbers);
    return POISE_OK;
}
