// The pieces that a joint's motion is made of, by its type (the table of <poise/model.h>): angles, lengths and rotations, each
// with its own coordinates and components of a step.
#ifndef PZ_MOTION_PIECES_H
#define PZ_MOTION_PIECES_H

#include <poise/model.h>

#include "num/real.h"

typedef enum pz_piece_kind {
    PZ_PIECE_LENGTH,
    PZ_PIECE_ANGLE,
    PZ_PIECE_VECTOR,     // a rotation vector
    PZ_PIECE_SWING,      // its first two components
    PZ_PIECE_QUATERNION, // four coordinates, three components of a step
    PZ_PIECE_CURVE
} pz_piece_kind;

#define PZ_MOST_PIECES 6

typedef struct pz_piece {
    pz_piece_kind kind;
    int q, nq, v, nv; // where its coordinates and its components of a step begin, and how many there are
} pz_piece;

// The pieces of a joint, in the order of its coordinates. Returns how many; 0 for a mimic, which has none of its own.
static inline int pz_pieces_of(const poise_model *model, int joint, pz_piece piece[PZ_MOST_PIECES])
{
    static const struct {
        int lengths, angles;
        pz_piece_kind last; // LENGTH: none
    } rows[POISE_JOINT_TYPE_COUNT] = {
        [POISE_JOINT_REVOLUTE] = {0, 1, PZ_PIECE_LENGTH},    [POISE_JOINT_PRISMATIC] = {1, 0, PZ_PIECE_LENGTH},
        [POISE_JOINT_UNIVERSAL] = {0, 2, PZ_PIECE_LENGTH},   [POISE_JOINT_BALL_EULER] = {0, 3, PZ_PIECE_LENGTH},
        [POISE_JOINT_BALL_EXPMAP] = {0, 0, PZ_PIECE_VECTOR}, [POISE_JOINT_BALL_QUATERNION] = {0, 0, PZ_PIECE_QUATERNION},
        [POISE_JOINT_SWING_TWIST] = {0, 1, PZ_PIECE_SWING}, // the swing comes first
        [POISE_JOINT_TRANSLATION] = {3, 0, PZ_PIECE_LENGTH}, [POISE_JOINT_PLANAR] = {2, 1, PZ_PIECE_LENGTH},
        [POISE_JOINT_FREE] = {3, 0, PZ_PIECE_QUATERNION},    [POISE_JOINT_FREE_EXPMAP] = {3, 0, PZ_PIECE_VECTOR},
        [POISE_JOINT_FREE_EULER] = {3, 3, PZ_PIECE_LENGTH},  [POISE_JOINT_CURVE] = {0, 0, PZ_PIECE_CURVE},
    };
    poise_joint_info info = poise_model_joint_info(model, joint);
    int count = 0, q = info.q, v = info.v, last = (int)rows[info.type].last;
    if (info.nq == 0) {
        return 0;
    }
    for (int turn = 0; turn < 2; ++turn) {
        bool is_now = last != PZ_PIECE_LENGTH && (last == PZ_PIECE_SWING) == (turn == 0);
        if (is_now) {
            int nv = last == PZ_PIECE_CURVE ? 1 : last == PZ_PIECE_SWING ? 2 : 3, nq = last == PZ_PIECE_QUATERNION ? 4 : nv;
            piece[count++] = (pz_piece){(pz_piece_kind)last, q, nq, v, nv};
            q += nq;
            v += nv;
        }
        for (int i = 0; turn == 0 && i < rows[info.type].lengths + rows[info.type].angles; ++i, ++q, ++v) {
            piece[count++] = (pz_piece){i < rows[info.type].lengths ? PZ_PIECE_LENGTH : PZ_PIECE_ANGLE, q, 1, v, 1};
        }
    }
    return count;
}

// By component of a step: is it a length?
static inline void pz_find_lengths(const poise_model *model, bool *is_length)
{
    pz_piece piece[PZ_MOST_PIECES];
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        int count = pz_pieces_of(model, k, piece);
        for (int i = 0; i < count; ++i) {
            for (int d = 0; d < piece[i].nv; ++d) {
                is_length[piece[i].v + d] = piece[i].kind == PZ_PIECE_LENGTH;
            }
        }
    }
}

// Lengths that a joint of this type has, which come first among its coordinates.
static inline int pz_lengths_of(poise_joint_type type)
{
    switch (type) {
    case POISE_JOINT_PRISMATIC:
        return 1;
    case POISE_JOINT_PLANAR:
        return 2;
    case POISE_JOINT_TRANSLATION:
    case POISE_JOINT_FREE:
    case POISE_JOINT_FREE_EXPMAP:
    case POISE_JOINT_FREE_EULER:
        return 3;
    default:
        return 0;
    }
}

// Can the joint take every rotation?
static inline bool pz_has_rotation(poise_joint_type type)
{
    return type == POISE_JOINT_BALL_EULER || type == POISE_JOINT_BALL_EXPMAP || type == POISE_JOINT_BALL_QUATERNION ||
           type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER;
}

// (a/A)^2 + (b/B)^2 of the swing a, b that the numbers of a joint begin with; 0 where it has no ellipse.
static inline double pz_beyond_ellipse(const poise_joint *given, const double *q)
{
    if (given->type != POISE_JOINT_SWING_TWIST || !is_finite(given->swing[0])) {
        return 0.0;
    }
    double a = q[0] / given->swing[0], b = q[1] / given->swing[1];
    return a * a + b * b;
}

// Does `body` hang from `above`, or is it the same?
static inline bool pz_hangs_from(const poise_model *model, int body, int above)
{
    return above >= 0 && body >= above && body < above + poise_model_joint_info(model, above).subtree;
}

// Does a joint follow another one?
static inline bool pz_has_mimic(const poise_model *model)
{
    bool found = false;
    for (int k = 0; k < poise_model_info(model).joints && !found; ++k) {
        found = poise_model_joint_info(model, k).mimic >= 0;
    }
    return found;
}

#endif
