// The normal form of a chain.
//
// A chain is a product of motions and constants, from the world to the goal's frame:
//
//   base  [Z_1 T(t_1) M_1]  [Z_2 T(t_2) M_2]  ...  [Z_n T(t_n) M_n]
//
// Z_i the turn about z by q_i, or the slide along z; M_i constant turns, t_i constant shifts. Any turn splits as
// M = Rz(phi) Rx(alpha) Rz(psi). Turns about z commute with Z, so that phi_i moves before T(t_i), where it turns the shift,
// and psi_i into the next factor:
//
//   Z_i T(t_i) Rz(phi_i) = [Z_i Rz(phi_i)] T(Rz(-phi_i) t_i)         angle_i = q_i + psi_(i-1) + phi_i
//
// What is left between two joints is T(t) Rx(alpha), five numbers. Unlike the parameters of Denavit and Hartenberg (1955)
// they exist and stay small for axes that are parallel or nearly so. The last M_n is not split: it goes with the target.
#include "num/trig.h"
#include "solve/arm_kernel.h"

// L over the length of the chain. The search hardly depends on it: 0.15 to 0.6 cost 4 % more iterations at most.
#define UNIT_SHARE  0.3
#define FAR_TURNS   16.0 // from 0: limits of hinges beyond are none, for restarts
#define FAR_LENGTHS 64.0 // of the chain, from 0: limits of slides beyond are none, likewise

// ---- Walk along the path -------------------------------------------------------------------------------------------------

// A constant transform, being put together.
typedef struct constant {
    mat3 R;
    vec3 t;
} constant;

static void append(constant *c, const mat3 *R, vec3 t)
{
    c->t = v3_add(c->t, m3_apply(&c->R, t));
    c->R = m3_mul(&c->R, R);
}

// The turn that makes axis x, y or z the z axis: its columns are the axes in cyclic order.
static mat3 axis_to_z(int axis)
{
    static const mat3 turns[3] = {
        {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    return turns[axis];
}

// Below this the sine of alpha is rounding.
#define STRAIGHT 1e-15

// M = Rz(phi) Rx(alpha) Rz(psi). The third column of M is (sin(phi) sin(alpha), -cos(phi) sin(alpha), cos(alpha)); psi then
// comes from what is left, Rx(-alpha) Rz(-phi) M = Rz(psi), so that phi + psi is right even where alpha is tiny and each of
// them is not.
static void split(const mat3 *M, double *phi, double *ca, double *sa, double *psi)
{
    double sine = sqrt(M->z.x * M->z.x + M->z.y * M->z.y), size = sqrt(sine * sine + M->z.z * M->z.z);
    bool straight = sine < STRAIGHT;
    *phi = straight ? 0.0 : pz_atan2(M->z.x, -M->z.y);
    *ca = straight ? (M->z.z > 0 ? 1.0 : -1.0) : M->z.z / size;
    *sa = straight ? 0.0 : sine / size;
    double s, c;
    pz_sincos(*phi, &s, &c);
    vec3 x = v3(c * M->x.x + s * M->x.y, c * M->x.y - s * M->x.x, M->x.z); // Rz(-phi) times the first column
    *psi = pz_atan2(*ca * x.y + *sa * x.z, x.x);
}

static bool add_joint(const poise_model *model, const pz_box *box, const pz_joint *joint, pz_arm_chain *chain)
{
    const pz_step *step = &model->steps[joint->step_begin];
    const pz_box *limits = &box[joint->v_begin];
    int i = chain->n;
    if (i == PZ_ARM_MOST || joint->mimic != POISE_WORLD || joint->step_end - joint->step_begin != 1 ||
        pz_step_is_block(step->kind) || limits->locked) {
        return false;
    }
    bool turns = pz_step_is_turn(step->kind);
    chain->turn[i] = turns ? 1.0 : 0.0;
    chain->slides = chain->slides || !turns;
    chain->q[i] = step->q;
    chain->lower[i] = limits->lower;
    chain->upper[i] = limits->upper;
    chain->n += 1;
    return true;
}

// The constant M, t after joint i, i >= 0, into its numbers. `psi` is what the joint before left over, and becomes what
// this one leaves.
static void put_link(pz_arm_chain *chain, int i, const constant *link, double *psi)
{
    double phi, s, c, left;
    split(&link->R, &phi, &chain->ca[i], &chain->sa[i], &left);
    pz_sincos(phi, &s, &c);
    chain->offset[i] = *psi + phi;
    chain->tx[i] = c * link->t.x + s * link->t.y;
    chain->ty[i] = c * link->t.y - s * link->t.x;
    chain->tz[i] = link->t.z;
    *psi = left;
}

// The last one keeps its M whole, as the tail.
static void put_tail(pz_arm_chain *chain, int i, const constant *link, double psi)
{
    chain->offset[i] = psi;
    chain->tx[i] = link->t.x, chain->ty[i] = link->t.y, chain->tz[i] = link->t.z;
    chain->ca[i] = 1.0, chain->sa[i] = 0.0;
    chain->tail = link->R;
}

// Is the joint, or the one it follows, locked in all that it can do?
static bool is_held(const poise_model *model, const pz_box *box, const pz_joint *joint)
{
    const pz_joint *own = joint->mimic >= 0 ? &model->joints[joint->mimic] : joint;
    bool is_locked = own->v_begin < own->v_end;
    for (int v = own->v_begin; v < own->v_end; ++v) {
        is_locked = is_locked && box[v].locked;
    }
    return is_locked;
}

// The frame of a joint in that of its parent, where `held` has them.
static void append_held(constant *c, const poise_kinematics *held, int joint)
{
    int parent = held->model->joints[joint].parent;
    mat3 above = parent >= 0 ? held->R[parent] : m3_identity();
    vec3 from = parent >= 0 ? held->p[parent] : v3_neg(held->origin);
    mat3 back = m3_transpose(&above), R = m3_mul(&back, &held->R[joint]);
    append(c, &R, m3_apply(&back, v3_sub(held->p[joint], from)));
}

bool pz_arm_chain_walk(const poise_model *model, const pz_box *box, const poise_kinematics *held, const int *path, int count,
                       const mat3 *R, vec3 t, pz_arm_chain *chain)
{
    constant link = {m3_identity(), {0, 0, 0}};
    double psi = 0.0;
    *chain = (pz_arm_chain){.is_wide = model->is_wide};
    for (int k = 0; k < count; ++k) {
        const pz_joint *joint = &model->joints[path[k]];
        if (held && is_held(model, box, joint)) {
            append_held(&link, held, path[k]);
            continue;
        }
        append(&link, &joint->C, joint->t);
        if (joint->step_begin == joint->step_end) {
            continue; // fixed: one more constant
        }
        if (!add_joint(model, box, joint, chain)) {
            return false;
        }
        mat3 turn = axis_to_z((int)model->steps[joint->step_begin].kind % 3);
        link.R = m3_mul(&link.R, &turn);
        if (chain->n == 1) {
            chain->base = link.R;
            chain->base_at = link.t;
        } else {
            put_link(chain, chain->n - 2, &link, &psi);
        }
        link = (constant){m3_transpose(&turn), {0, 0, 0}};
    }
    append(&link, R, t);
    if (chain->n > 0) {
        put_tail(chain, chain->n - 1, &link, psi);
    } else {
        chain->base = link.R;
        chain->base_at = link.t;
        chain->tail = m3_identity();
    }
    return true;
}

static bool walk(const poise_model *model, const pz_box *box, const poise_kinematics *held, int body,
                 const poise_pose *local, pz_arm_chain *chain)
{
    int path[8 * PZ_ARM_MOST], count = pz_model_path(model, body, path, 8 * PZ_ARM_MOST);
    mat3 L = quat_matrix(quat_normalize(local->rotation)), B = model->joints[body].B;
    L = m3_mul(&B, &L);
    return count <= 8 * PZ_ARM_MOST &&
           pz_arm_chain_walk(model, box, held, path, count, &L, m3_apply(&B, local->position), chain) && chain->n > 0;
}

// ---- Lengths, limits, restarts -------------------------------------------------------------------------------------------

// Lengths over L, which is `unit` or a share of the chain's length. A slide counts for half its range, as far as that is in
// proportion to the links, or for nothing where it has no end.
static void scale(double unit, pz_arm_chain *chain)
{
    double links = 0.0, ranges = 0.0, ends = 0.0;
    for (int i = 0; i < chain->n; ++i) {
        links += v3_norm(v3(chain->tx[i], chain->ty[i], chain->tz[i]));
        if (chain->turn[i] == 0) {
            double range = 0.5 * (chain->upper[i] - chain->lower[i]);
            ranges += is_finite(range) ? range : 0.0;
            ends += max2(fabs(chain->lower[i]), fabs(chain->upper[i]));
        }
    }
    double length = links + pz_counted_ranges(links, ranges);
    chain->unit = unit > 0 ? unit : length > 0 && is_finite(length) ? UNIT_SHARE * length : 1.0;
    chain->reach = (links + ends) / chain->unit;
    chain->size = min2(chain->reach, FAR_LENGTHS * max2(length, chain->unit) / chain->unit);
    for (int i = 0; i < chain->n; ++i) {
        chain->tx[i] /= chain->unit, chain->ty[i] /= chain->unit, chain->tz[i] /= chain->unit;
        chain->slide[i] = chain->turn[i] == 0 ? 1.0 / chain->unit : 0.0;
        chain->rate[i] = chain->turn[i] == 0 ? chain->unit : 1.0;
    }
}

// Restarts begin within the limits; where one is missing, within a turn of the other or of 0, for slides within the chain's
// length. A hinge's limit that is many turns away is missing: numbers are written there for "none".
static void place_restarts(pz_arm_chain *chain)
{
    for (int i = 0; i < chain->n; ++i) {
        double lower = chain->lower[i], upper = chain->upper[i];
        double half = chain->turn[i] != 0 ? PZ_PI : chain->unit / UNIT_SHARE;
        double far = chain->turn[i] != 0 ? FAR_TURNS * 2.0 * PZ_PI : FAR_LENGTHS * half;
        bool has_lower = lower > -far, has_upper = upper < far;
        chain->first[i] = has_lower ? lower : has_upper ? upper - 2.0 * half : -half;
        chain->span[i] = has_lower && has_upper ? upper - lower : 2.0 * half;
    }
}

void pz_arm_chain_scale(double unit, pz_arm_chain *chain)
{
    scale(unit, chain);
    place_restarts(chain);
}

// g > 1 with g^(n+1) = g + 1, by Newton's method from above, and its powers g^-i: the fractions of m g^-i, m = 1, 2, ...,
// cover the unit cube evenly, whatever their number (M. Roberts, "The unreasonable effectiveness of quasirandom sequences",
// 2018; for n = 1 the golden ratio).
void pz_arm_sequence(pz_arm_chain *chain)
{
    double g = 2.0;
    for (int k = 0; k < 60; ++k) {
        double power = 1.0; // g^n
        for (int i = 0; i < chain->n; ++i) {
            power *= g;
        }
        g -= (power * g - g - 1.0) / ((chain->n + 1) * power - 1.0);
    }
    double fraction = 1.0;
    for (int i = 0; i < chain->n; ++i) {
        fraction /= g;
        chain->ratio[i] = fraction;
    }
}

bool pz_arm_chain_make(const poise_model *model, const pz_box *box, const poise_kinematics *held, int body,
                       const poise_pose *local, pz_arm_chain *chain)
{
    if (!walk(model, box, held, body, local, chain)) {
        return false;
    }
    pz_arm_chain_scale(0.0, chain);
    pz_arm_sequence(chain);
    return true;
}

// ---- Poses ---------------------------------------------------------------------------------------------------------------

void pz_arm_chain_pose(const pz_arm_chain *chain, const double *q, mat3 *R, vec3 *p)
{
    arm_frames frames;
    arm_forward(chain, chain->n, chain->slides, ARM_ALONE, q, &frames);
    mat3 turned = m3_mul(&chain->base, &frames.d);
    *R = m3_mul(&turned, &chain->tail);
    *p = v3_mad(chain->base_at, chain->unit, m3_apply(&chain->base, frames.p));
}
