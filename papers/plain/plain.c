// Algorithms 1-4 of Erleben & Andrews 2019. Where a line departs from the printed one, a comment starting with "Slip" says
// from what and why. Each was found by comparing with central differences.
#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef poise_vec3 vec3;

static inline vec3 add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec3 sub(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec3 scale(vec3 a, double s)
{
    return (vec3){a.x * s, a.y * s, a.z * s};
}

static inline double dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Slip: notes (4), (5) print the transpose of the matrix C with a x b = C(a) b; their results use the right one, as here.
static inline vec3 cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// R v
static vec3 apply(const double R[9], vec3 v)
{
    return (vec3){R[0] * v.x + R[1] * v.y + R[2] * v.z, R[3] * v.x + R[4] * v.y + R[5] * v.z,
                  R[6] * v.x + R[7] * v.y + R[8] * v.z};
}

// A <- A B
static void multiply(double A[9], const double B[9])
{
    double C[9];
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
            C[3 * row + column] = A[3 * row] * B[column] + A[3 * row + 1] * B[3 + column] + A[3 * row + 2] * B[6 + column];
        }
    }
    memcpy(A, C, sizeof C);
}

// Rotation by an angle about a unit axis: cos I + sin C(a) + (1 - cos) a a^T (O. Rodrigues, 1840).
static void rotation_about(vec3 a, double angle, double R[9])
{
    double s = sin(angle), c = cos(angle), d = 1.0 - c;
    const double made[9] = {c + d * a.x * a.x,       d * a.x * a.y - s * a.z, d * a.x * a.z + s * a.y,
                            d * a.x * a.y + s * a.z, c + d * a.y * a.y,       d * a.y * a.z - s * a.x,
                            d * a.x * a.z - s * a.y, d * a.y * a.z + s * a.x, c + d * a.z * a.z};
    memcpy(R, made, sizeof made);
}

// ---- Bones ---------------------------------------------------------------------------------------------------------------

plain_bone plain_bone_fixed(int parent, vec3 position)
{
    return (plain_bone){.parent = parent, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .position = position};
}

void plain_bone_add(plain_bone *bone, plain_kind kind, vec3 axis)
{
    double length = sqrt(dot(axis, axis));
    bool good = bone->dof_count >= 0 && bone->dof_count < PLAIN_DOF_MAX && length > 0.0;
    if (!good) {
        bone->dof_count = -1; // plain_create refuses it
        return;
    }
    bone->kind[bone->dof_count] = kind;
    bone->axis[bone->dof_count] = scale(axis, 1.0 / length);
    bone->dof_count += 1;
}

void plain_bone_add_euler(plain_bone *bone, poise_euler_order order, const double *axes)
{
    static const int letter[POISE_EULER_ORDER_COUNT][3] = {
        [POISE_EULER_XYZ] = {0, 1, 2}, [POISE_EULER_XZY] = {0, 2, 1}, [POISE_EULER_YXZ] = {1, 0, 2},
        [POISE_EULER_YZX] = {1, 2, 0}, [POISE_EULER_ZXY] = {2, 0, 1}, [POISE_EULER_ZYX] = {2, 1, 0},
        [POISE_EULER_XYX] = {0, 1, 0}, [POISE_EULER_XZX] = {0, 2, 0}, [POISE_EULER_YXY] = {1, 0, 1},
        [POISE_EULER_YZY] = {1, 2, 1}, [POISE_EULER_ZXZ] = {2, 0, 2}, [POISE_EULER_ZYZ] = {2, 1, 2},
    };
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *A = axes ? axes : identity;
    for (int i = 0; i < 3; ++i) {
        int column = letter[order][i];
        plain_bone_add(bone, PLAIN_REVOLUTE, (vec3){A[column], A[3 + column], A[6 + column]});
    }
}

void plain_bone_add_translation(plain_bone *bone)
{
    plain_bone_add(bone, PLAIN_PRISMATIC, (vec3){1, 0, 0});
    plain_bone_add(bone, PLAIN_PRISMATIC, (vec3){0, 1, 0});
    plain_bone_add(bone, PLAIN_PRISMATIC, (vec3){0, 0, 1});
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

static bool description_holds(const plain_bone *bones, int bone_count, const plain_effector *effectors, int effector_count)
{
    for (int k = 0; k < bone_count; ++k) {
        // "h <= k" stands for "h upstream of k" in Algorithm 4, which holds only if indices grow along every chain
        bool good = bones[k].parent >= PLAIN_WORLD && bones[k].parent < k && bones[k].dof_count >= 0;
        if (!good) {
            return false;
        }
    }
    for (int c = 0; c < effector_count; ++c) {
        if (effectors[c].bone < 0 || effectors[c].bone >= bone_count) {
            return false;
        }
    }
    return true;
}

// Number of degrees of freedom from the root down to bone k.
static int chain_length(const plain_bone *bones, int k)
{
    int length = 0;
    for (; k != PLAIN_WORLD; k = bones[k].parent) {
        length += bones[k].dof_count;
    }
    return length;
}

// Algorithm 1, MakeChains: for each effector the path from the root to its bone. The paper stores bones; here a chain is the
// list of their degrees of freedom, because Algorithms 3 and 4 do nothing with a bone but loop over those.
//
// Slip: the printed version takes leaf bones for effectors; the paper's experiments have them on inner bones and the root.
static void make_chains(plain_ik *ik)
{
    int used = 0;
    for (int c = 0; c < ik->effector_count; ++c) {
        int bone = ik->effectors[c].bone;
        ik->chain_start[c] = used;
        used += chain_length(ik->bones, bone);
        int front = used;
        for (int k = bone; k != PLAIN_WORLD; k = ik->bones[k].parent) {
            front -= ik->bones[k].dof_count;
            for (int d = 0; d < ik->bones[k].dof_count; ++d) {
                ik->chain[front + d] = ik->first_dof[k] + d;
            }
        }
    }
    ik->chain_start[ik->effector_count] = used;
}

static bool allocate(plain_ik *ik, size_t chain_total)
{
    // one more than needed everywhere, so that an empty skeleton asks for no zero bytes
    size_t bones = (size_t)ik->bone_count + 1, n = (size_t)ik->dof_count + 1, effectors = (size_t)ik->effector_count + 1;
    ik->bones = malloc(bones * sizeof *ik->bones);
    ik->effectors = malloc(effectors * sizeof *ik->effectors);
    ik->first_dof = malloc(bones * sizeof *ik->first_dof);
    ik->chain_start = malloc(effectors * sizeof *ik->chain_start);
    ik->chain = malloc((chain_total + 1) * sizeof *ik->chain);
    ik->rotation = malloc(9 * bones * sizeof *ik->rotation);
    ik->position = malloc(bones * sizeof *ik->position);
    ik->kind = malloc(n * sizeof *ik->kind);
    ik->axis = malloc(n * sizeof *ik->axis);
    ik->origin = malloc(n * sizeof *ik->origin);
    ik->e = malloc(effectors * sizeof *ik->e);
    ik->r = malloc(effectors * sizeof *ik->r);
    ik->scratch = malloc(2 * n * sizeof *ik->scratch);
    return ik->bones && ik->effectors && ik->first_dof && ik->chain_start && ik->chain && ik->rotation && ik->position &&
           ik->kind && ik->axis && ik->origin && ik->e && ik->r && ik->scratch;
}

static void fill(plain_ik *ik, const plain_bone *bones, const plain_effector *effectors)
{
    int n = 0;
    for (int k = 0; k < ik->bone_count; ++k) {
        ik->bones[k] = bones[k];
        ik->first_dof[k] = n;
        for (int d = 0; d < bones[k].dof_count; ++d) {
            ik->kind[n++] = bones[k].kind[d];
        }
    }
    for (int c = 0; c < ik->effector_count; ++c) {
        ik->effectors[c] = effectors[c];
    }
    make_chains(ik);
}

int plain_leaf_effectors(const plain_bone *bones, int bone_count, plain_effector *effectors)
{
    int count = 0;
    for (int k = 0; k < bone_count; ++k) {
        bool has_children = false;
        for (int child = k + 1; child < bone_count; ++child) {
            has_children = has_children || bones[child].parent == k;
        }
        if (!has_children) {
            effectors[count++] = (plain_effector){.bone = k, .weight = 1.0};
        }
    }
    return count;
}

plain_ik *plain_create(const plain_bone *bones, int bone_count, const plain_effector *effectors, int effector_count)
{
    if (!description_holds(bones, bone_count, effectors, effector_count)) {
        return NULL;
    }
    plain_ik *ik = calloc(1, sizeof *ik);
    if (!ik) {
        return NULL;
    }
    ik->bone_count = bone_count;
    ik->effector_count = effector_count;
    for (int k = 0; k < bone_count; ++k) {
        ik->dof_count += bones[k].dof_count;
    }
    size_t chain_total = 0;
    for (int c = 0; c < effector_count; ++c) {
        chain_total += (size_t)chain_length(bones, effectors[c].bone);
    }
    if (!allocate(ik, chain_total)) {
        plain_destroy(ik);
        return NULL;
    }
    fill(ik, bones, effectors);
    return ik;
}

void plain_destroy(plain_ik *ik)
{
    if (!ik) {
        return;
    }
    free(ik->bones);
    free(ik->effectors);
    free(ik->first_dof);
    free(ik->chain_start);
    free(ik->chain);
    free(ik->rotation);
    free(ik->position);
    free(ik->kind);
    free(ik->axis);
    free(ik->origin);
    free(ik->e);
    free(ik->r);
    free(ik->scratch);
    free(ik);
}

// ---- Algorithm 2 ---------------------------------------------------------------------------------------------------------

// Run frame (R, t) through the motion of bone k, and note axis and origin of each degree of freedom on the way:
//
//   turn   axis R a, through t;   R <- R R(a, q_i)
//   slide  axis R a;              t <- t + q_i R a
//
// So the axes of a ball joint come out as R_p a, R_p R_A b, R_p R_A R_B c (notes, eq. 29), R_p the frame before the joint.
//
// Slip: (43) and notes (21) turn these axes by the rotation of the bone itself; they belong to the frame before it.
// Slip: Algorithm 2 line 2 of the paper says Rz Ry Rx while Algorithms 3 and 4 use the axes of ZYZ. One loop makes both.
static void move_through(plain_ik *ik, int k, const double *q, double R[9], vec3 *t)
{
    const plain_bone *bone = &ik->bones[k];
    for (int d = 0; d < bone->dof_count; ++d) {
        int i = ik->first_dof[k] + d;
        ik->axis[i] = apply(R, bone->axis[d]);
        ik->origin[i] = *t;
        if (bone->kind[d] == PLAIN_REVOLUTE) {
            double turn[9];
            rotation_about(bone->axis[d], q[i], turn);
            multiply(R, turn);
        } else {
            *t = add(*t, scale(ik->axis[i], q[i]));
        }
    }
}

// Algorithm 2, ForwardKinematicsUpdate. Parents come first, so a loop does what the recursion did.
void plain_update(plain_ik *ik, const double *q)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int k = 0; k < ik->bone_count; ++k) {
        const plain_bone *bone = &ik->bones[k];
        double R[9];
        vec3 t = {0, 0, 0};
        memcpy(R, identity, sizeof R);
        if (bone->parent != PLAIN_WORLD) {
            memcpy(R, &ik->rotation[9 * bone->parent], sizeof R);
            t = ik->position[bone->parent];
        }
        // Slip: line 3 takes the local position of the parent B_p; it is that of B_k.
        t = add(t, apply(R, bone->position));
        multiply(R, bone->rotation);
        move_through(ik, k, q, R, &t);
        memcpy(&ik->rotation[9 * k], R, sizeof R);
        ik->position[k] = t;
    }
    for (int c = 0; c < ik->effector_count; ++c) {
        const plain_effector *effector = &ik->effectors[c];
        // Slip: Algorithms 3 (line 7) and 4 (line 3) leave out the tool vector that the experiments need.
        ik->e[c] = add(ik->position[effector->bone], apply(&ik->rotation[9 * effector->bone], effector->tool));
        ik->r[c] = sub(effector->goal, ik->e[c]);
    }
}

double plain_cost(const plain_ik *ik)
{
    double f = 0.0;
    for (int c = 0; c < ik->effector_count; ++c) {
        f += 0.5 * ik->effectors[c].weight * dot(ik->r[c], ik->r[c]);
    }
    return f;
}

// ---- Algorithm 3 ---------------------------------------------------------------------------------------------------------

// Table 1:   J_i = a_i x (e - o_i)  (revolute)        a_i  (prismatic)
static inline vec3 table1(const plain_ik *ik, int i, vec3 e)
{
    return ik->kind[i] == PLAIN_REVOLUTE ? cross(ik->axis[i], sub(e, ik->origin[i])) : ik->axis[i];
}

// Algorithm 3, ComputeJacobian.
//
// Slip: (35a) prints J' = [I J] for a moving root; the identity stands in the rows of every effector, which follows here
// from treating the root's translation as three slides at the head of every chain.
// Slip: line 20 writes column 3k + 3 where 3k + 2 is meant. Columns here run on from the bone's first one.
void plain_jacobian(const plain_ik *ik, double *J)
{
    size_t n = (size_t)ik->dof_count;
    memset(J, 0, 3 * (size_t)ik->effector_count * n * sizeof *J);
    for (int c = 0; c < ik->effector_count; ++c) {
        double *rows = J + 3 * (size_t)c * n;
        for (int s = ik->chain_start[c]; s < ik->chain_start[c + 1]; ++s) {
            int i = ik->chain[s];
            vec3 column = table1(ik, i, ik->e[c]);
            rows[i] = column.x;
            rows[n + (size_t)i] = column.y;
            rows[2 * n + (size_t)i] = column.z;
        }
    }
}

// Rows of effector c in column i.
static inline vec3 column_of(const plain_ik *ik, const double *J, int c, int i)
{
    size_t n = (size_t)ik->dof_count;
    const double *rows = J + 3 * (size_t)c * n + (size_t)i;
    return (vec3){rows[0], rows[n], rows[2 * n]};
}

// (9):   g = -J^T W r
void plain_gradient(const plain_ik *ik, const double *J, double *g)
{
    memset(g, 0, (size_t)ik->dof_count * sizeof *g);
    for (int c = 0; c < ik->effector_count; ++c) {
        vec3 wr = scale(ik->r[c], ik->effectors[c].weight);
        for (int s = ik->chain_start[c]; s < ik->chain_start[c + 1]; ++s) {
            int i = ik->chain[s];
            g[i] -= dot(column_of(ik, J, c, i), wr);
        }
    }
}

// ---- Algorithm 4 ---------------------------------------------------------------------------------------------------------

// Table 2, h upstream of k:   K_kh = a_h x J_k  (h revolute)        0  (h prismatic)
//
// With J_k = a_k for a slider this is the whole table. Written with w_h = a_h or 0, it is w_h x J_k without a branch.
//
// Slip: the table states no order of h and k; taken as printed with h downstream it is wrong. K_ij = K_ji, and the axis is
// always that of the upstream one of the two.
// Slip: (23a), (43a) print a_h x a_k x p without brackets; a_h x (a_k x p) is meant.
static inline vec3 turning_axis(const plain_ik *ik, int h)
{
    return ik->kind[h] == PLAIN_REVOLUTE ? ik->axis[h] : (vec3){0, 0, 0};
}

// The strict upper triangle from the lower one.
static void mirror(int n, double *H)
{
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            H[(size_t)j * (size_t)n + (size_t)i] = H[(size_t)i * (size_t)n + (size_t)j];
        }
    }
}

// Algorithm 4, ComputeHessian: H = J^T W J - K : W r, chain by chain. With w_j the turning axis of j, j upstream of i,
//
//   H_ij = sum_c w_c (J_i . J_j - (w_j x J_i) . r) = sum_c w_c (J_i . J_j - w_j . (J_i x r))
//
// where the last form takes the cross product out of the inner loop.
//
// Slip: J_i in lines 16-18 stands for the three rows of chain c in column i.
// Slip: lines 15-18 run over all three angles of B_h also when h = k, and so write (i, j) and (j, i) of one ball joint with
// different values. The angles of one joint count as joints of their own, in the order of the product: only j <= i is right.
// Slip: the caption says that the upper triangle is filled. Row i is downstream of column j: it is the lower one, and the
// upper is its mirror image.
// Slip: (35b) prints H' = blockdiag(I, H) for a moving root. J^T W J couples translation and rotation, and the block of the
// translation is (sum of weights) I. Both come out by themselves, the slides being part of every chain.
static void add_curvature(const plain_ik *ik, const double *J, bool exact, double *H)
{
    size_t n = (size_t)ik->dof_count;
    vec3 *column = ik->scratch, *turn = ik->scratch + n;
    for (int c = 0; c < ik->effector_count; ++c) {
        const int *chain = ik->chain + ik->chain_start[c];
        int length = ik->chain_start[c + 1] - ik->chain_start[c];
        for (int s = 0; s < length; ++s) {
            column[s] = column_of(ik, J, c, chain[s]);
            turn[s] = turning_axis(ik, chain[s]);
        }
        vec3 r = exact ? ik->r[c] : (vec3){0, 0, 0};
        for (int s = 0; s < length; ++s) {
            double *row = H + (size_t)chain[s] * n;
            vec3 wJ = scale(column[s], ik->effectors[c].weight);
            vec3 wJxr = cross(wJ, r);
            for (int u = 0; u <= s; ++u) {
                row[chain[u]] += dot(wJ, column[u]) - dot(turn[u], wJxr);
            }
        }
    }
}

void plain_hessian(const plain_ik *ik, const double *J, double *H)
{
    memset(H, 0, (size_t)ik->dof_count * (size_t)ik->dof_count * sizeof *H);
    add_curvature(ik, J, true, H);
    mirror(ik->dof_count, H);
}

void plain_gauss_newton(const plain_ik *ik, const double *J, double *H)
{
    memset(H, 0, (size_t)ik->dof_count * (size_t)ik->dof_count * sizeof *H);
    add_curvature(ik, J, false, H);
    mirror(ik->dof_count, H);
}

void plain_tensor(const plain_ik *ik, const double *J, int effector, double *K)
{
    size_t n = (size_t)ik->dof_count;
    memset(K, 0, 3 * n * n * sizeof *K);
    for (int s = ik->chain_start[effector]; s < ik->chain_start[effector + 1]; ++s) {
        int i = ik->chain[s];
        vec3 column = column_of(ik, J, effector, i);
        for (int u = ik->chain_start[effector]; u <= s; ++u) {
            int j = ik->chain[u];
            vec3 k = cross(turning_axis(ik, j), column);
            size_t ij = (size_t)i * n + (size_t)j, ji = (size_t)j * n + (size_t)i;
            K[ij] = K[ji] = k.x;
            K[n * n + ij] = K[n * n + ji] = k.y;
            K[2 * n * n + ij] = K[2 * n * n + ji] = k.z;
        }
    }
}

// ---- Building a model ----------------------------------------------------------------------------------------------------
//
// The plain skeleton of a Poise model, through the model's public queries.

static poise_quat unit(poise_quat q)
{
    double length = sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return (poise_quat){q.x / length, q.y / length, q.z / length, q.w / length};
}

static poise_vec3 column(const double A[9], int i)
{
    return (poise_vec3){A[i], A[3 + i], A[6 + i]};
}

// Add the degrees of freedom of `joint` to `bone`, outermost first, as the table in poise/model.h has them: A M(q) A^-1, so
// every axis of M is an axis of A. False for a joint type that is not made of turns and slides.
static bool add_motion(const poise_joint *joint, plain_bone *bone)
{
    double A[9];
    poise_quat_to_matrix(unit(joint->axes), A);
    switch (joint->type) {
    case POISE_JOINT_FIXED:
        return true;
    case POISE_JOINT_REVOLUTE:
        plain_bone_add(bone, PLAIN_REVOLUTE, joint->axis);
        return true;
    case POISE_JOINT_PRISMATIC:
        plain_bone_add(bone, PLAIN_PRISMATIC, joint->axis);
        return true;
    case POISE_JOINT_UNIVERSAL:
        plain_bone_add(bone, PLAIN_REVOLUTE, joint->axis);
        plain_bone_add(bone, PLAIN_REVOLUTE, joint->axis2);
        return true;
    case POISE_JOINT_BALL_EULER:
        plain_bone_add_euler(bone, joint->order, A);
        return true;
    case POISE_JOINT_TRANSLATION:
    case POISE_JOINT_FREE_EULER:
        for (int i = 0; i < 3; ++i) {
            plain_bone_add(bone, PLAIN_PRISMATIC, column(A, i));
        }
        if (joint->type == POISE_JOINT_FREE_EULER) {
            plain_bone_add_euler(bone, joint->order, A);
        }
        return true;
    case POISE_JOINT_PLANAR:
        plain_bone_add(bone, PLAIN_PRISMATIC, column(A, 0));
        plain_bone_add(bone, PLAIN_PRISMATIC, column(A, 1));
        plain_bone_add(bone, PLAIN_REVOLUTE, column(A, 2));
        return true;
    default:
        return false;
    }
}

plain_ik *plain_from_model(const poise_model *model, const plain_effector *effectors, int effector_count)
{
    int count = poise_model_info(model).joints;
    plain_bone *bones = malloc(((size_t)count + 1) * sizeof *bones);
    bool known = bones != NULL;
    int n = 0;
    for (int k = 0; k < count && known; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        poise_joint_info info = poise_model_joint_info(model, k);
        bones[k] = plain_bone_fixed(info.parent, joint.offset.position);
        poise_quat_to_matrix(unit(joint.offset.rotation), bones[k].rotation);
        // bones number their degrees of freedom one after the other; so must the model, for entries to compare
        known =
            !joint.mimic && add_motion(&joint, &bones[k]) && (info.v == n || info.nv == 0) && info.nv == bones[k].dof_count;
        n += bones[k].dof_count;
    }
    plain_ik *ik = known ? plain_create(bones, count, effectors, effector_count) : NULL;
    free(bones);
    return ik;
}
