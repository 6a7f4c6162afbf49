// What ERIK's files share: the chain as ERIK sees it, the model of one joint, and what a poise_erik holds.
#ifndef PZ_PAPERS_ERIK_H
#define PZ_PAPERS_ERIK_H

#include <poise/express.h>

#include "base/arena.h"
#include "num/trig.h"
#include "num/vector.h"

// ---- The chain (chain.c) -------------------------------------------------------------------------------------------------
//
// A chain of hinges as ERIK sees it: frames before each joint, rotation axes, segments; and the model of one joint.
//
// Frame k (world rotation Q_k) is the one in which joint k = 0 .. N-1 turns. Its y is the direction of the segment before,
// the Parent P of the paper. In that frame the joint has the axis R and its own segment S, both constant unit vectors:
//
//   Q_k+1 = Q_k rot(R_k, theta_k) C_k        C_k y = S_k, so that the y of Q_k+1 is where segment k points
//
// Q_0 is constant. Q_N belongs to the Superpoint: a joint without freedom that continues the last segment. A chain that is
// straight at rest, along y, has S = y and C = I everywhere, as in the paper. The end frame as the user knows it is Q_N E.
//
// No lengths: the measures of ERIK are made of directions, and a segment without length has one too.

#define PZ_NO_DIRECTION 1e-18 // square of the sine below which a projection has no direction, 1e-9 rad

typedef enum pz_axis_kind { PZ_AXIS_X = 0, PZ_AXIS_Y, PZ_AXIS_Z, PZ_AXIS_ANY } pz_axis_kind;

// What a joint can do besides aiming its segment.
typedef enum pz_link_kind {
    PZ_LINK_SWING = 0, // the general case
    PZ_LINK_TWISTER,   // R along S: turns what comes after and leaves its own segment
    PZ_LINK_PAN        // R along P: its segment goes round at one latitude
} pz_link_kind;

typedef struct pz_link {
    pz_link_kind kind;
    pz_axis_kind axis;
    bool C_is_identity;
    vec3 R, S;
    mat3 C;
    double sign;         // of R . S
    double lower, upper; // limits
    double center;       // angles are brought within half a turn of this before they are limited
    double weight;       // in the posture error: a^i / sum a^i; 0 for twisters
    // latitude: u(theta) . P = A + h cos(theta - theta0), u(theta) = rot(R, theta) S
    double A, B, C_sine, h, theta0;
    double top, bottom; // A + h - 1 and A - h + 1: 0 where the poles can be reached
    int joint;          // of the model
    int q;              // its coordinate
} pz_link;

typedef struct pz_chain {
    int count;
    pz_link *links;
    mat3 base; // Q_0
    mat3 E;
} pz_chain;

// Angles of a chain and all that follows from them.
typedef struct pz_chain_pose {
    double *theta, *sine, *cosine; // count
    mat3 *Q;                       // count + 1
} pz_chain_pose;

// Is an option a finite number that is not negative?
static inline bool pz_is_amount(double value)
{
    return is_finite(value) && value >= 0.0;
}

// ---- Building ------------------------------------------------------------------------------------------------------------

// The number of hinges from the root to options->body, or 0 with *error filled when there is a joint that is not one.
int pz_chain_measure(const poise_model *model, const poise_erik_options *options, poise_error *error);

// Fill `chain`, whose links have room for that many.
void pz_chain_build(const poise_model *model, const poise_erik_options *options, pz_chain *chain);

pz_chain_pose pz_chain_pose_lay_out(int count, pz_arena *arena);

// ---- Kinematics ----------------------------------------------------------------------------------------------------------

// Q rot(R, theta) for the link's axis: columns are turned in the plane across it.
static inline mat3 pz_turn_axis(const pz_link *link, const mat3 *Q, double s, double c)
{
    switch (link->axis) {
    case PZ_AXIS_X:
        return (mat3){Q->x, v3_combine(c, Q->y, s, Q->z), v3_combine(c, Q->z, -s, Q->y)};
    case PZ_AXIS_Y:
        return (mat3){v3_combine(c, Q->x, -s, Q->z), Q->y, v3_combine(c, Q->z, s, Q->x)};
    case PZ_AXIS_Z:
        return (mat3){v3_combine(c, Q->x, s, Q->y), v3_combine(c, Q->y, -s, Q->x), Q->z};
    default: {
        // c I + s [R]x + (1 - c) R R^T
        vec3 R = link->R, k = v3_scale(R, 1.0 - c);
        mat3 L = {{c + k.x * R.x, s * R.z + k.x * R.y, -s * R.y + k.x * R.z},
                  {-s * R.z + k.y * R.x, c + k.y * R.y, s * R.x + k.y * R.z},
                  {s * R.y + k.z * R.x, -s * R.x + k.z * R.y, c + k.z * R.z}};
        return m3_mul(Q, &L);
    }
    }
}

// Q_k+1 from Q_k.
static inline mat3 pz_turn(const pz_link *link, const mat3 *Q, double s, double c)
{
    mat3 W = pz_turn_axis(link, Q, s, c);
    return link->C_is_identity ? W : m3_mul(&W, &link->C);
}

// Q_k from Q_k+1.
static inline mat3 pz_turn_back(const pz_link *link, const mat3 *Q, double s, double c)
{
    if (link->C_is_identity) {
        return pz_turn_axis(link, Q, -s, c);
    }
    mat3 Ct = m3_transpose(&link->C), W = m3_mul(Q, &Ct);
    return pz_turn_axis(link, &W, -s, c);
}

// World direction of the axis of a joint whose frame is Q.
static inline vec3 pz_link_axis(const pz_link *link, const mat3 *Q)
{
    switch (link->axis) {
    case PZ_AXIS_X:
        return Q->x;
    case PZ_AXIS_Y:
        return Q->y;
    case PZ_AXIS_Z:
        return Q->z;
    default:
        return m3_apply(Q, link->R);
    }
}

static inline void pz_set_angle(pz_chain_pose *pose, int k, double theta)
{
    pose->theta[k] = theta;
    pz_sincos(theta, &pose->sine[k], &pose->cosine[k]);
}

// Frames from joint `from` on; sines and cosines are there.
static inline void pz_chain_forward(const pz_chain *chain, int from, pz_chain_pose *pose)
{
    for (int k = from; k < chain->count; ++k) {
        pose->Q[k + 1] = pz_turn(&chain->links[k], &pose->Q[k], pose->sine[k], pose->cosine[k]);
    }
}

// All of a pose from angles by link.
void pz_chain_set(const pz_chain *chain, const double *theta, pz_chain_pose *pose);

// ---- The model of one joint ----------------------------------------------------------------------------------------------

// rot(axis, ..) of v with sine s and cosine c.
static inline vec3 pz_rotate_about(vec3 axis, double s, double c, vec3 v)
{
    return v3_mad(v3_combine(c, v, s, v3_cross(axis, v)), (1.0 - c) * v3_dot(axis, v), axis);
}

// The angle about the unit vector r that turns the part of unit vector a across r onto that of b; false where one of them
// has none.
//   a_p . b_p = a . b - (a . r)(b . r),     r . (a_p x b_p) = r . (a x b)
static inline bool pz_angle_about(vec3 r, vec3 a, vec3 b, double *angle)
{
    double ar = v3_dot(a, r), br = v3_dot(b, r);
    if (1.0 - ar * ar < PZ_NO_DIRECTION || 1.0 - br * br < PZ_NO_DIRECTION) {
        return false;
    }
    *angle = pz_atan2(v3_dot(r, v3_cross(a, b)), v3_dot(a, b) - ar * br);
    return true;
}

// The angles that give the segment the latitude of the unit vector t (in the joint's frame): first the one in the
// hemisphere of t, then the one in the other. Limits are not looked at.
void pz_latitude_angles(const pz_link *link, vec3 t, double angle[2]);

// The representative of an angle next to the middle of the limits, and that within the limits or at the nearer one.
double pz_near_center(const pz_link *link, double angle);
double pz_limit_angle(const pz_link *link, double angle);

// The same for a twister, which may also be half a turn off if `half_turns`: the joints after it then bend the other way.
double pz_limit_twist(const pz_link *link, double angle, bool half_turns);

// Angle of an end twister: the smaller of `angle` and that plus half a turn, if `half_turns`, within the limits.
double pz_limit_end_twist(const pz_link *link, double angle, bool half_turns);

// An angle at a limit or beyond moved inside.
double pz_avoid_edge(const pz_link *link, double angle, double disturbance);

// How far about its own y the frame `from` has to turn to have the x or z of `to` as far as possible (Alg. 17, BWTwist).
double pz_twist_to(const mat3 *from, const mat3 *to);

// The same by the rotation from one to the other, as a turn about y after a swing: yaw + roll of Alg. 11.
double pz_twist_between(const mat3 *from, const mat3 *to);

// ---- What a poise_erik holds ---------------------------------------------------------------------------------------------

#define PZ_LARGEST_WINDOW 64

// Errors of a pose.
typedef struct pz_measure {
    double error, orientation, posture, angle;
} pz_measure;

struct poise_erik {
    const poise_model *model;
    poise_erik_options options;
    pz_owned owned;
    pz_chain chain;
    poise_erik_link *joints; // of the chain, as they are handed out
    double *psi;             // target posture: angles
    double *psi_bend;        // cosine of the bend at each joint
    mat3 tau;                // target of Q_N
    mat3 t;                  // the target worked with, which the offset trick turns
    pz_chain_pose warped;    // Psi: the posture turned towards t, limits or not
    pz_chain_pose now;       // Theta: the candidate
    bool is_empty;           // it is the zero pose that a solve begins with: the paper's empty solution
    double *previous;        // angles of the previous solution
    mat3 *forward;           // count + 1: frames as the forward phase left them
    double *best;            // angles of the best candidate
    pz_measure best_measure;
    double *errors; // window: the last errors
    int error_count;
    double *work; // 3 count: scratch of the exact search
    poise_erik_report report;
};

// ---- ERIK (erik.c) -------------------------------------------------------------------------------------------------------

// cos of the angle between the segments before and after a joint.
double pz_bend(const pz_link *link, double sine, double cosine);

// Take posture and target; false when they are not sound.
bool pz_erik_take(poise_erik *erik, const double *posture, poise_quat target);

// Errors of a pose whose frames are there, against the caller's posture and target.
pz_measure pz_erik_measure(const poise_erik *erik, const pz_chain_pose *pose);

// ---- Parts of a solve ----------------------------------------------------------------------------------------------------

// BWCD from the root to the end: on the posture, without limits, or on the candidate, within. `near`: angles to stay near,
// so that no twister takes half a turn but the end's, where that is nearer; NULL: none.
void pz_bwcd_posture(const poise_erik *erik, pz_chain_pose *pose);
void pz_bwcd_solution(const poise_erik *erik, pz_chain_pose *pose, const double *near);

// CCD from the end to the root, within limits.
void pz_ccd_solution(const poise_erik *erik, pz_chain_pose *pose);

void pz_forward_phase(poise_erik *erik);
void pz_backward_phase(poise_erik *erik);

// Do the last `window` of `count` errors stand still, come back every second time, or gain nothing? Number i, from 0, is in
// errors[i % window].
bool pz_erik_is_stuck(const double *errors, int count, int window, double tolerance);

// Hand the best candidate out.
void pz_erik_hand_out(poise_erik *erik, double *q, poise_erik_report *report);

// The first candidate: the zero pose, or the previous solution; is it good enough?
bool pz_erik_begin(poise_erik *erik, bool warm);

// ERIK over memory of pz_erik_size bytes; 0 when the model has no such chain or the options make no sense.
size_t pz_erik_size(const poise_model *model, const poise_erik_options *options);
poise_erik *pz_erik_init(const poise_model *model, const poise_erik_options *options, void *memory, size_t size);

#endif
