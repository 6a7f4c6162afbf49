// BVH: writing.
//
// A joint whose coordinates are those of BVH channels (turns about and slides along the axes of its own frame, which lies in
// its parent's without a rotation) is written as it is, number by number. Every other joint gets three rotation channels in
// the order Z X Y, and three position channels if it slides, computed from its pose in its parent's frame. Where one joint
// does, all get three rotations in that order, hinges with zeros: many readers want it the same everywhere.
//
// The format does not say which axis points up, and programs take it to be y: with another one all axes take each other's
// places, of offsets, positions and rotations alike, and the numbers stay.
//
// Positions of a joint with six channels hold its offset, as most programs have it and as reading decides by the first
// frame (poise_bvh_positions). A file that was read from BVH keeps its joints and what its positions mean; sums with the
// offset are rounded there. In others, where the first frame would leave it open, where a sum does not keep every bit of a
// number, and for joints of other channels with an offset along their positions, it is written as a joint of its own above,
// "<name>.offset", which reading folds away again.
#include "io/bvh/bvh.h"

#include "io/skeleton.h"

#include <string.h>

typedef struct column {
    bvh_kind kind;
    int axis;
    int q; // coordinate; -1: computed, or 0 where nothing of the joint is
} column;

// How a joint is written.
typedef struct plan {
    column column[6];
    int columns;
    bool is_computed;
    bool has_offset; // along one of its positions,
    bool has_holder; // which is a joint of its own,
    bool is_apart;   // or which positions add to; otherwise they hold it,
    bool is_unsaid;  // and of a root it may be written as 0 then: its place is theirs alone
    double offset[3];
    double angle[3]; // the last computed, so that the next goes on from it without a jump
} plan;

typedef struct writing {
    const poise_file *file;
    const poise_model *model;
    pz_output *output;
    pz_pool pool;
    plan *plans;
    pz_tips tips;
    poise_kinematics *kinematics; // NULL: no joint is computed
    int turns;                    // axis 0, 1, 2 of the model is axis (0, 1, 2) + turns in the file
} writing;

static int axis_in_file(const writing *w, int axis)
{
    return (axis + w->turns) % 3;
}

static int axis_in_model(const writing *w, int axis)
{
    return (axis + 3 - w->turns) % 3;
}

// A vector of the model in the axes of the file.
static void turn(const writing *w, poise_vec3 v, double turned[3])
{
    const double x[3] = {v.x, v.y, v.z};
    for (int axis = 0; axis < 3; ++axis) {
        turned[axis] = x[axis_in_model(w, axis)];
    }
}

// ---- What goes into which column -----------------------------------------------------------------------------------------

// The axis 0, 1, 2 of the file along which v points; -1: none.
static int axis_of(const writing *w, poise_vec3 v)
{
    double x[3];
    turn(w, v, x);
    for (int axis = 0; axis < 3; ++axis) {
        if (x[axis] > 0 && x[(axis + 1) % 3] == 0 && x[(axis + 2) % 3] == 0) {
            return axis;
        }
    }
    return -1;
}

static bool is_identity(poise_quat r)
{
    return r.x == 0 && r.y == 0 && r.z == 0 && r.w > 0;
}

static void add_column(plan *p, bvh_kind kind, int axis, int q)
{
    p->column[p->columns++] = (column){kind, axis, q};
}

static void add_positions(const writing *w, plan *p, int q)
{
    for (int axis = 0; axis < 3; ++axis) {
        add_column(p, BVH_POSITION, axis, q < 0 ? -1 : q + axis_in_model(w, axis));
    }
}

static void add_euler(const writing *w, plan *p, poise_euler_order order, int q)
{
    for (int i = 0; i < 3; ++i) {
        add_column(p, BVH_ROTATION, axis_in_file(w, pz_euler_name((int)order)[i] - 'x'), q + i);
    }
}

// The columns of a joint that can be written number by number; false: it cannot.
static bool plan_direct(const writing *w, const poise_joint *joint, int q, plan *p)
{
    int axis = axis_of(w, joint->axis), axis2 = axis_of(w, joint->axis2);
    bool has_axis = joint->type == POISE_JOINT_REVOLUTE || joint->type == POISE_JOINT_PRISMATIC ||
                    joint->type == POISE_JOINT_UNIVERSAL; // then `axes` means nothing
    if (!is_identity(joint->offset.rotation) || (!has_axis && !is_identity(joint->axes)) || joint->mimic) {
        return false;
    }
    switch (joint->type) {
    case POISE_JOINT_FIXED:
        return true;
    case POISE_JOINT_REVOLUTE:
    case POISE_JOINT_PRISMATIC:
        add_column(p, joint->type == POISE_JOINT_REVOLUTE ? BVH_ROTATION : BVH_POSITION, axis, q);
        return axis >= 0;
    case POISE_JOINT_UNIVERSAL:
        add_column(p, BVH_ROTATION, axis, q);
        add_column(p, BVH_ROTATION, axis2, q + 1);
        return axis >= 0 && axis2 >= 0;
    case POISE_JOINT_BALL_EULER:
        add_euler(w, p, joint->order, q);
        return true;
    case POISE_JOINT_TRANSLATION:
        add_positions(w, p, q);
        return true;
    case POISE_JOINT_FREE_EULER:
        add_positions(w, p, q);
        add_euler(w, p, joint->order, q + 3);
        return true;
    default:
        return false;
    }
}

static bool slides(poise_joint_type type)
{
    return type == POISE_JOINT_PRISMATIC || type == POISE_JOINT_TRANSLATION || type == POISE_JOINT_PLANAR ||
           type == POISE_JOINT_FREE || type == POISE_JOINT_FREE_EXPMAP || type == POISE_JOINT_FREE_EULER ||
           type == POISE_JOINT_CURVE;
}

static const int common_order[3] = {2, 0, 1}; // Z X Y

static void plan_computed(const writing *w, const poise_joint *joint, plan *p)
{
    p->columns = 0;
    p->is_computed = true;
    if (slides(joint->type)) {
        add_positions(w, p, -1);
        memset(p->offset, 0, sizeof p->offset); // within the positions
    }
    for (int i = 0; i < 3; ++i) {
        add_column(p, BVH_ROTATION, common_order[i], -1);
    }
}

// Rotations of a direct plan as three in the common order, zeros among them. False: theirs is another order, or there is
// one position alone.
static bool pad_rotations(plan *p)
{
    plan padded = *p;
    int next = 0;
    padded.columns = 0;
    while (next < p->columns && p->column[next].kind == BVH_POSITION) {
        padded.column[padded.columns++] = p->column[next++];
    }
    if (padded.columns != 0 && padded.columns != 3) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        bool is_own = next < p->columns && p->column[next].axis == common_order[i];
        add_column(&padded, BVH_ROTATION, common_order[i], is_own ? p->column[next++].q : -1);
    }
    if (next < p->columns) {
        return false;
    }
    *p = padded;
    return true;
}

// False: the joint is not made of BVH channels. `all_alike`: with the rotations that all joints get.
static bool plan_joint(writing *w, int index, bool all_alike)
{
    poise_joint joint = *poise_model_joint_info(w->model, index).given;
    plan *p = &w->plans[index];
    *p = (plan){0};
    turn(w, joint.offset.position, p->offset);
    bool is_direct = plan_direct(w, &joint, poise_model_joint_info(w->model, index).q, p);
    if (!is_direct || (all_alike && !pad_rotations(p))) {
        plan_computed(w, &joint, p);
    }
    for (int c = 0; c < p->columns; ++c) {
        p->has_offset = p->has_offset || (p->column[c].kind == BVH_POSITION && p->offset[p->column[c].axis] != 0);
    }
    return is_direct;
}

// The number p that reading makes q = p - offset of, bit for bit: o + q or one of its neighbours. False: none does.
static bool with_offset(double q, double offset, double *p)
{
    *p = q;
    if (offset == 0) {
        return true;
    }
    double sum = offset + q;
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    for (int64_t i = 0; i < 3; ++i) { // 0, the next larger, the next smaller
        int64_t near = bits + (i == 2 ? -1 : i);
        memcpy(p, &near, sizeof near);
        double back = *p - offset;
        if (memcmp(&back, &q, sizeof q) == 0) {
            return true;
        }
    }
    return false;
}

// Do all positions of a joint survive a sum with its offset?
static bool survives_sum(const writing *w, const plan *p)
{
    const poise_clip *clip = w->file->clip;
    double sum;
    for (int c = 0; c < p->columns; ++c) {
        const column *k = &p->column[c];
        for (int f = 0; clip && k->kind == BVH_POSITION && k->q >= 0 && f < clip->frames; ++f) {
            if (!with_offset(clip->q[(size_t)f * (size_t)clip->nq + (size_t)k->q], p->offset[k->axis], &sum)) {
                return false;
            }
        }
    }
    return true;
}

// The positions of the first frame along the offsets of a group, roots or other joints, as reading sums them up: t of
// bvh_model.c, of positions that hold the offsets.
static double share_of_offsets(const writing *w, bool of_root)
{
    const double *first = w->file->clip && w->file->clip->frames > 0 ? w->file->clip->q : NULL;
    double po = 0, oo = 0;
    for (int j = 0; j < poise_model_info(w->model).joints; ++j) {
        const plan *p = &w->plans[j];
        bool counts = p->has_offset && !p->has_holder && of_root == (poise_model_joint_info(w->model, j).parent < 0);
        for (int i = 0; counts && i < 3; ++i) { // three positions come first
            po += p->offset[i] * (p->offset[i] + (first ? first[p->column[i].q] : 0));
            oo += p->offset[i] * p->offset[i];
        }
    }
    return oo > 0 ? po / oo : 1;
}

// How offsets are written, roots and other joints apart, so that reading decides (BVH_LIKELY) for what is meant.
static void choose_holders(writing *w, bool of_root)
{
    poise_bvh_positions meant = w->file->format == POISE_FORMAT_BVH ? w->file->positions[of_root ? 0 : 1] : POISE_BVH_DECIDE;
    for (int j = 0; j < poise_model_info(w->model).joints; ++j) {
        plan *p = &w->plans[j];
        bool is_own = p->has_offset && of_root == (poise_model_joint_info(w->model, j).parent < 0);
        p->has_holder = is_own ? p->columns < 6 || (meant == POISE_BVH_DECIDE && !survives_sum(w, p)) : p->has_holder;
    }
    double share = share_of_offsets(w, of_root);
    bool holds = share >= (meant == POISE_BVH_REPLACE ? BVH_LIKELY : BVH_CLEAR);
    bool adds = meant == POISE_BVH_ADD && share - 1 < BVH_LIKELY;
    for (int j = 0; j < poise_model_info(w->model).joints; ++j) {
        plan *p = &w->plans[j];
        if (p->has_offset && !p->has_holder && of_root == (poise_model_joint_info(w->model, j).parent < 0)) {
            p->is_apart = adds;
            p->is_unsaid = !holds && of_root && meant == POISE_BVH_REPLACE;
            p->has_holder = !adds && !holds && !p->is_unsaid;
        }
    }
}

static poise_status plan_all(writing *w)
{
    int joints = poise_model_info(w->model).joints, computed = 0;
    w->plans = pz_pool_take(&w->pool, (size_t)joints, sizeof *w->plans);
    if (!w->plans || !pz_tips_find(&w->pool, w->model, &w->tips)) {
        return pz_error_set(w->output->error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int j = 0; j < joints; ++j) {
        computed += !plan_joint(w, j, false);
    }
    if (computed > 0) {
        for (int j = 0; j < joints; ++j) {
            plan_joint(w, j, true);
        }
        pz_output_warn(w->output,
                       computed == 1 ? "%d joint does not fit BVH channels; all joints are written as angles Z X Y"
                                     : "%d joints do not fit BVH channels; all joints are written as angles Z X Y",
                       computed);
        if (poise_kinematics_create(w->model, w->output->allocator, &w->kinematics, NULL) != POISE_OK) {
            return pz_error_set(w->output->error, POISE_ERROR_MEMORY, "out of memory");
        }
    }
    choose_holders(w, true);
    choose_holders(w, false);
    return POISE_OK;
}

// ---- The hierarchy -------------------------------------------------------------------------------------------------------

#define INDENT_MOST 32 // deeper blocks are not indented further: the text stays in proportion to the joints

static void begin_line(pz_output *output, int depth)
{
    for (int i = 0; i < depth && i < INDENT_MOST; ++i) {
        pz_put(output, "\t");
    }
}

static void put_offset(pz_output *output, int depth, const double offset[3])
{
    begin_line(output, depth);
    pz_put(output, "OFFSET");
    for (int i = 0; i < 3; ++i) {
        pz_put(output, " ");
        pz_put_number(output, offset[i]);
    }
    pz_put(output, "\n");
}

static void open_block(pz_output *output, int depth, const char *kind, const char *name, const char *suffix)
{
    begin_line(output, depth);
    pz_put(output, kind);
    pz_put_name(output, name, "{}");
    pz_put(output, suffix);
    pz_put(output, "\n");
    begin_line(output, depth);
    pz_put(output, "{\n");
}

static void put_channels(pz_output *output, int depth, const plan *p)
{
    static const char *const position[] = {" Xposition", " Yposition", " Zposition"};
    static const char *const rotation[] = {" Xrotation", " Yrotation", " Zrotation"};
    begin_line(output, depth);
    pz_put(output, "CHANNELS ");
    pz_put_integer(output, p->columns);
    for (int c = 0; c < p->columns; ++c) {
        pz_put(output, (p->column[c].kind == BVH_POSITION ? position : rotation)[p->column[c].axis]);
    }
    pz_put(output, "\n");
}

// Would reading take this joint for the offset of its child (BVH_OFFSET_SUFFIX), although it is a joint of its own? Without
// a line CHANNELS it does not.
static bool looks_like_holder(const writing *w, int joint)
{
    int child = joint + 1;
    const char *name = poise_model_joint_info(w->model, joint).name, *below = poise_model_joint_info(w->model, child).name;
    if (w->plans[joint].columns > 0 || poise_model_joint_info(w->model, child).parent != joint) {
        return false;
    }
    const double *o = w->plans[child].offset;
    size_t length = strlen(below);
    return w->plans[child].columns > 0 && (w->plans[child].has_holder || (o[0] == 0 && o[1] == 0 && o[2] == 0)) &&
           strncmp(name, below, length) == 0 && strcmp(name + length, BVH_OFFSET_SUFFIX) == 0;
}

static void put_site(writing *w, poise_vec3 place, int depth)
{
    double offset[3];
    turn(w, place, offset);
    open_block(w->output, depth, "End Site", "", "");
    put_offset(w->output, depth + 1, offset);
    begin_line(w->output, depth);
    pz_put(w->output, "}\n");
}

// Every joint on which nothing hangs gets one: the grammar asks for it, and other programs take from it how long a head or
// a hand is. A file that was read without stays without.
static void put_sites(writing *w, int joint, int depth)
{
    int first = w->tips.first[joint];
    for (int t = first; t >= 0; t = w->tips.next[t]) {
        poise_vec3 p = poise_model_tool_info(w->model, t).pose.position;
        if (t != first || !pz_tip_is_child(w->model, joint, p)) {
            put_site(w, p, depth);
        }
    }
    if (first < 0 && poise_model_joint_info(w->model, joint).subtree == 1 && w->file->format != POISE_FORMAT_BVH) {
        put_site(w, pz_leaf_end(w->model, joint), depth);
    }
}

static void close_blocks(pz_output *output, int *depth, int to)
{
    while (*depth > to) {
        *depth -= 1;
        begin_line(output, *depth);
        pz_put(output, "}\n");
    }
}

// Joints come depth-first: those above the next one's parent stay open.
static poise_status put_hierarchy(writing *w)
{
    static const double zero[3] = {0, 0, 0};
    int joints = poise_model_info(w->model).joints, depth = 0;
    int *below = pz_pool_take(&w->pool, (size_t)joints, sizeof *below); // depth of what a joint holds
    if (!below) {
        return pz_error_set(w->output->error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_put(w->output, "HIERARCHY\n");
    for (int j = 0; j < joints; ++j) {
        const plan *p = &w->plans[j];
        int parent = poise_model_joint_info(w->model, j).parent;
        const char *kind = parent < 0 ? "ROOT " : "JOINT ", *name = poise_model_joint_info(w->model, j).name;
        close_blocks(w->output, &depth, parent < 0 ? 0 : below[parent]);
        if (p->has_holder) {
            open_block(w->output, depth, kind, name, BVH_OFFSET_SUFFIX);
            put_offset(w->output, ++depth, p->offset);
            begin_line(w->output, depth);
            pz_put(w->output, "CHANNELS 0\n");
            kind = "JOINT ";
        }
        open_block(w->output, depth, kind, name, "");
        put_offset(w->output, ++depth, p->has_holder || p->is_unsaid ? zero : p->offset);
        if (!looks_like_holder(w, j)) {
            put_channels(w->output, depth, p);
        }
        put_sites(w, j, depth);
        below[j] = depth;
    }
    close_blocks(w->output, &depth, 0);
    return POISE_OK;
}

// ---- The motion ----------------------------------------------------------------------------------------------------------

// Position and angles of a joint in its parent's frame, at the present configuration, in the axes of the file.
static void compute(writing *w, int joint, double position[3], double angle[3])
{
    double R[9], P[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, p[3], o[3] = {0, 0, 0}, L[9];
    int parent = poise_model_joint_info(w->model, joint).parent;
    poise_kinematics_body_frame(w->kinematics, joint, R, p);
    if (parent >= 0) {
        poise_kinematics_body_frame(w->kinematics, parent, P, o);
    }
    for (int i = 0; i < 3; ++i) {
        int row = axis_in_file(w, i);
        position[row] = P[i] * (p[0] - o[0]) + P[3 + i] * (p[1] - o[1]) + P[6 + i] * (p[2] - o[2]);
        for (int k = 0; k < 3; ++k) {
            L[3 * row + axis_in_file(w, k)] = P[i] * R[k] + P[3 + i] * R[3 + k] + P[6 + i] * R[6 + k];
        }
    }
    pz_euler_next(L, common_order[0], w->plans[joint].angle);
    memcpy(angle, w->plans[joint].angle, 3 * sizeof *angle);
}

// The number of a position channel; `computed` is the joint's place in its parent's frame.
static double position_of(const plan *p, const column *k, const double *q, const double computed[3])
{
    double value = computed[k->axis];
    if (k->q >= 0) {
        with_offset(q[k->q], p->has_holder || p->is_apart ? 0 : p->offset[k->axis], &value);
    }
    return value;
}

static void put_row(writing *w, const double *q)
{
    int joints = poise_model_info(w->model).joints;
    const char *space = "";
    for (int j = 0; j < joints; ++j) {
        const plan *p = &w->plans[j];
        double position[3] = {0}, angle[3] = {0};
        if (p->is_computed) {
            compute(w, j, position, angle);
        }
        int turns = 0;
        for (int c = 0; c < p->columns; ++c) {
            const column *k = &p->column[c];
            pz_put(w->output, space);
            space = " ";
            if (k->kind == BVH_POSITION) {
                pz_put_number(w->output, position_of(p, k, q, position));
            } else {
                pz_put_degrees(w->output, k->q >= 0 ? q[k->q] : angle[turns++]);
            }
        }
    }
    pz_put(w->output, "\n");
}

static poise_status put_motion(writing *w)
{
    const poise_clip *clip = w->file->clip;
    pz_put(w->output, "MOTION\nFrames: ");
    pz_put_integer(w->output, clip ? clip->frames : 0);
    pz_put(w->output, "\nFrame Time: ");
    pz_put_number(w->output, clip ? clip->frame_time : 1.0 / 30.0);
    pz_put(w->output, "\n");
    for (int f = 0; clip && f < clip->frames && !w->output->failed; ++f) {
        const double *q = clip->q + (size_t)f * (size_t)clip->nq;
        poise_status status = pz_check_finite(w->output, clip, f);
        if (status == POISE_OK && w->kinematics && poise_kinematics_update(w->kinematics, q, NULL) != POISE_OK) {
            status = pz_error_set(w->output->error, POISE_ERROR_ARGUMENT, "frame %d: a zero quaternion", f);
        }
        if (status != POISE_OK) {
            return status;
        }
        put_row(w, q);
    }
    return POISE_OK;
}

static int count_limits(const writing *w)
{
    const double *lower = poise_model_info(w->model).lower, *upper = poise_model_info(w->model).upper;
    int limits = 0;
    for (int i = 0; i < poise_model_info(w->model).nq; ++i) {
        limits += lower[i] - lower[i] == 0.0 || upper[i] - upper[i] == 0.0 ? 1 : 0;
    }
    return limits;
}

// `is_neutral`: the clip was made of the neutral pose; that is said if anything turns in it.
static poise_status write_clip(const poise_file *file, bool is_neutral, pz_output *output)
{
    writing w = {.file = file, .model = file->model, .output = output, .pool = {.allocator = output->allocator}};
    w.turns = file->scale.up == POISE_UP_UNKNOWN ? 0 : ((int)POISE_UP_Y - (int)file->scale.up + 3) % 3;
    poise_status status = plan_all(&w);
    if (status == POISE_OK) {
        if (is_neutral && w.kinematics) {
            pz_output_warn(output, "there is no motion: its one frame is the neutral pose");
        }
        pz_warn_of_losses(file, output, "BVH", &w.tips, count_limits(&w));
        status = put_hierarchy(&w);
    }
    if (status == POISE_OK) {
        status = put_motion(&w);
    }
    poise_kinematics_destroy(w.kinematics);
    pz_pool_release(&w.pool);
    return status;
}

// A skeleton without a motion: one frame holds its neutral pose, whose rotations the hierarchy has no place for. A file that
// was read without frames stays without.
poise_status pz_write_bvh(const poise_file *file, pz_output *output)
{
    poise_status status = pz_check_model(file, output, "BVH");
    if (status != POISE_OK) {
        return status;
    }
    if ((file->clip && file->clip->frames > 0) || file->format == POISE_FORMAT_BVH) {
        return write_clip(file, false, output);
    }
    poise_file posed = *file;
    status =
        poise_clip_create(1, poise_model_info(file->model).nq, 1.0 / 30.0, output->allocator, &posed.clip, output->error);
    if (status == POISE_OK) {
        poise_model_neutral(file->model, posed.clip->q);
        status = write_clip(&posed, true, output);
        poise_clip_destroy(posed.clip);
    }
    return status;
}
