// The forward sweep for processors with registers of four: joints that only turn, one column of their frame to a register.
//
// The frame stays in registers from a joint to its first child. All else is left to the scalar sweep, with the same bits.
#include "kin/kin.h"

#if PZ_HAS_WIDE

#define REAL_PACKED
#include "simd/pack3.h"

typedef struct frame {
    pack3 x, y, z, p;
} frame;

PZ_WIDE static inline frame load_frame(const poise_kinematics *kin, int k)
{
    const mat3 *R = &kin->R[k];
    return (frame){pack3_load(&R->x), pack3_load(&R->y), pack3_load(&R->z), pack3_load(&kin->p[k])};
}

PZ_WIDE static inline void store_frame(poise_kinematics *kin, int k, frame f)
{
    mat3 *R = &kin->R[k];
    pack3_store(f.x, &R->x);
    pack3_store(f.y, &R->y);
    pack3_store(f.z, &R->z);
    pack3_store(f.p, &kin->p[k]);
}

// The constant part of a joint: p + R t, and R C.
PZ_WIDE static inline frame placed(frame f, const pz_joint *joint)
{
    f.p = f.p + pack3_apply(f.x, f.y, f.z, joint->t);
    if (joint->C_is_identity) {
        return f;
    }
    const mat3 *C = &joint->C;
    return (frame){pack3_apply(f.x, f.y, f.z, C->x), pack3_apply(f.x, f.y, f.z, C->y), pack3_apply(f.x, f.y, f.z, C->z),
                   f.p};
}

// A joint that hangs on the world. Body 0 is the reference point.
PZ_WIDE static inline frame rooted(poise_kinematics *kin, int k)
{
    const pz_joint *joint = &kin->model->joints[k];
    const mat3 *C = &joint->C;
    pack3 at = pack3_load(&joint->t) + pack3_splat(0.0), p = pack3_splat(0.0); // it slides by 0, which matters to -0
    if (k == 0) {
        pack3_store(at, &kin->origin);
    } else {
        p = at - pack3_load(&kin->origin);
    }
    return (frame){pack3_load(&C->x), pack3_load(&C->y), pack3_load(&C->z), p};
}

// One turn: the axis goes to S, two columns change, u' = c u + s w, w' = c w - s u.
PZ_WIDE static inline frame turned(frame f, const pz_step *step, double sine, double cosine, spatial *S)
{
    pack3 s = pack3_splat(sine), c = pack3_splat(cosine), axis;
    if (step->kind == PZ_TURN_X) {
        axis = f.x;
        f = (frame){f.x, c * f.y + s * f.z, c * f.z - s * f.y, f.p};
    } else if (step->kind == PZ_TURN_Y) {
        axis = f.y;
        f = (frame){c * f.x - s * f.z, f.y, c * f.z + s * f.x, f.p};
    } else {
        axis = f.z;
        f = (frame){c * f.x + s * f.y, c * f.y - s * f.x, f.z, f.p};
    }
    pack3_store(axis, &S->w);
    pack3_store(pack3_cross(f.p, axis), &S->v);
    return f;
}

PZ_WIDE void pz_kin_sweep_wide(poise_kinematics *kin)
{
    const poise_model *model = kin->model;
    frame f = {pack3_splat(0), pack3_splat(0), pack3_splat(0), pack3_splat(0)};
    int held = POISE_WORLD; // the joint whose frame is in f
    for (int k = 0; k < model->joint_count; ++k) {
        const pz_joint *joint = &model->joints[k];
        if (!joint->only_turns) {
            pz_kin_sweep_joint(kin, k);
            held = POISE_WORLD;
            continue;
        }
        if (joint->parent == POISE_WORLD) {
            f = rooted(kin, k);
        } else {
            f = placed(joint->parent == held ? f : load_frame(kin, joint->parent), joint);
        }
        for (const pz_step *at = model->steps + joint->step_begin, *end = model->steps + joint->step_end; at < end; ++at) {
            f = turned(f, at, kin->sine[at->value], kin->cosine[at->value], &kin->S[at->axis]);
        }
        store_frame(kin, k, f);
        held = k;
    }
}

#else

void pz_kin_sweep_wide(poise_kinematics *kin)
{
    (void)kin; // never called: base/cpu.h
}

#endif
