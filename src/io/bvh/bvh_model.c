// BVH: from joints with channels to a model.
//
// A joint's transform is its translation, then its rotations in the order of their channels, wherever the position channels
// stand among them. So a joint is one joint of the model where a type holds these coordinates, and a chain of joints in one
// place where none does:
//
//   positions X Y Z, any Euler order          FREE_EULER
//   positions X Y Z                           TRANSLATION       with 1 or 2 rotations: called "<name>.position", then those
//   1 or 2 positions                          PRISMATIC each    called "<name>.x", ".y", ".z", and what follows "<name>"
//   3, 2, 1 rotations                         BALL_EULER, UNIVERSAL, REVOLUTE
//   rotations with an axis twice in a row     REVOLUTE each     called "<name>.1", "<name>.2" and "<name>"
//   none                                      FIXED
#include "io/bvh/bvh.h"
#include "io/skeleton.h"

#include <string.h>

// ---- What position channels mean -----------------------------------------------------------------------------------------

// A joint "x.offset" with "CHANNELS 0" whose only child is "x" with OFFSET 0 0 0 and position channels is what writing makes
// of a joint "x" that has both an offset and positions: the offset goes to the child, and positions add to it.
static void fold_offsets(bvh *file)
{
    size_t suffix = strlen(BVH_OFFSET_SUFFIX);
    for (size_t i = 0; i + 1 < file->joint_count; ++i) {
        bvh_joint *holder = &file->joints[i], *child = holder + 1;
        size_t length = strlen(child->name);
        if (holder->children == 1 && holder->has_channels && holder->channel_count == 0 && holder->sites == 0 &&
            child->position_count > 0 && child->offset[0] == 0 && child->offset[1] == 0 && child->offset[2] == 0 &&
            strlen(holder->name) == length + suffix && memcmp(holder->name, child->name, length) == 0 &&
            strcmp(holder->name + length, BVH_OFFSET_SUFFIX) == 0) {
            holder->is_folded = child->is_settled = true;
            memcpy(child->offset, holder->offset, sizeof child->offset);
            child->parent = holder->parent;
        }
    }
}

// Does a channel hold a position whose meaning is open: of a joint with an offset along it, a root or not a root?
static bool is_open(const bvh *file, const bvh_channel *channel, bool of_root)
{
    const bvh_joint *joint = &file->joints[channel->joint];
    return channel->kind == BVH_POSITION && !joint->is_settled && joint->offset[channel->axis] != 0 &&
           of_root == (joint->parent < 0);
}

// Positions replace OFFSET or add to it. The data tell: with p the positions of the first frame and o the offsets, over all
// joints that have both,
//
//   t = sum(p . o) / sum(o . o)
//
// is near 1 where positions hold the offset and near 0 where they do not; in between there is a warning. Only coordinates
// with a channel count, and what moves across the offset (a walk over the floor) does not.
static double share_of_offsets(const bvh *file, const double *first, bool of_root, int *joints)
{
    double po = 0.0, oo = 0.0;
    int last = -1;
    *joints = 0;
    for (size_t c = 0; c < file->channel_count; ++c) {
        const bvh_channel *channel = &file->channels[c];
        if (is_open(file, channel, of_root)) {
            double o = file->joints[channel->joint].offset[channel->axis];
            *joints += channel->joint != last ? 1 : 0;
            last = channel->joint;
            po += (first ? first[c] : 0.0) * o;
            oo += o * o;
        }
    }
    return oo > 0.0 ? po / oo : 0.0;
}

// Roots and other joints apart: some programs write absolute positions for the first and displacements for the others.
static void settle_offsets(bvh *file, const double *first, bool of_root)
{
    int joints;
    double share = share_of_offsets(file, first, of_root, &joints);
    bool replace = share >= BVH_LIKELY, is_clear = share >= BVH_CLEAR || share <= 1 - BVH_CLEAR;
    poise_bvh_positions wanted = file->input->options->positions;
    bool adds = wanted == POISE_BVH_ADD || (wanted == POISE_BVH_DECIDE && !replace);
    if (joints == 0) {
        return;
    }
    file->input->file->positions[of_root ? 0 : 1] = adds ? POISE_BVH_ADD : POISE_BVH_REPLACE;
    if (wanted == POISE_BVH_DECIDE && !is_clear) {
        pz_input_warn(file->input, file->joints[0].line,
                      "%d %s%s both an OFFSET and positions, and the first frame does not settle how they combine; assumed: "
                      "positions %s",
                      joints, of_root ? "root" : "joint", joints == 1 ? " has" : "s have",
                      replace ? "replace the OFFSET" : "are added to the OFFSET");
    }
    for (size_t c = 0; c < file->channel_count; ++c) {
        const bvh_channel *channel = &file->channels[c];
        if (!adds && is_open(file, channel, of_root)) { // the joint keeps its offset, as the bone that it is
            file->shift[c] = file->joints[channel->joint].offset[channel->axis];
        }
    }
}

// ---- Building ------------------------------------------------------------------------------------------------------------

// The model under construction.
typedef struct building {
    bvh *file;
    poise_builder *builder;
    pz_names names;         // of the joints so far
    const char **name;      // of the model's joints; at most one more than channels for each joint of the file
    int count;              // of them
    const char **body;      // by joint of the file: its body in the model
    int *column_joint;      // by column: joint of the model, -1: none
    int *column_coordinate; // by column: number within the joint's coordinates
    pz_cause renamed;
} building;

static const char *name_at(const void *owner, int position)
{
    return ((const building *)owner)->name[position];
}

static const char *concatenate(pz_pool *pool, const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    char *text = pz_pool_take(pool, la + lb + 1, 1);
    if (text) {
        memcpy(text, a, la);
        memcpy(text + la, b, lb + 1);
    }
    return text;
}

static const char *with_number(pz_pool *pool, const char *name, const char *mark, int number)
{
    char digits[16];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    for (; number > 0; number /= 10) {
        digits[--at] = (char)('0' + number % 10);
    }
    const char *marked = concatenate(pool, name, mark);
    return marked ? concatenate(pool, marked, digits + at) : NULL;
}

// A name that no joint has: `name`, or with "_2", "_3" ... After a few tries the number jumps, so that many equal names take
// few tries each.
static const char *unique_name(building *b, const char *name, int line)
{
    if (pz_names_find(&b->names, name, name_at, b) < 0) {
        return name;
    }
    int number = 2;
    const char *other = with_number(&b->file->input->pool, name, "_", number);
    while (other && pz_names_find(&b->names, other, name_at, b) >= 0) {
        number = number < 9 ? number + 1 : b->count + number; // beyond the numbers given so far
        other = with_number(&b->file->input->pool, name, "_", number);
    }
    if (other && pz_is_among_first(&b->renamed)) {
        pz_input_warn(b->file->input, line, "joint \"%s\": the name is already used, renamed to \"%s\" here", name, other);
    }
    return other;
}

static poise_status add_joint(building *b, poise_joint joint, const char *name, int line)
{
    joint.name = unique_name(b, name, line);
    if (!joint.name) {
        return pz_input_no_memory(b->file->input);
    }
    poise_status status = poise_builder_add_joint(b->builder, &joint, b->file->input->error);
    if (status != POISE_OK) {
        if (b->file->input->error) {
            b->file->input->error->line = line;
        }
        return status;
    }
    b->name[b->count] = joint.name;
    pz_names_add(&b->names, joint.name, b->count);
    b->count += 1;
    return POISE_OK;
}

static poise_vec3 axis_vector(int axis)
{
    return poise_vec3_make(axis == 0, axis == 1, axis == 2);
}

// A joint of the file, its columns in order, as joints of the model.
typedef struct split {
    const char *name;
    int line;
    const char *parent; // body
    poise_pose offset;
    int position_column[3], rotation_column[3];
    int positions, rotations;
} split;

// Columns `column` are the coordinates of the joint that comes next, from `first` on.
static void assign(building *b, const int *column, int count, int first)
{
    for (int i = 0; i < count; ++i) {
        b->column_joint[column[i]] = b->count;
        b->column_coordinate[column[i]] = first + i;
    }
}

static poise_status add_stage(building *b, split *s, poise_joint joint, const char *name)
{
    joint.parent = s->parent;
    joint.offset = s->offset;
    poise_status status = name ? add_joint(b, joint, name, s->line) : pz_input_no_memory(b->file->input);
    if (status == POISE_OK) {
        s->parent = b->name[b->count - 1];
        s->offset = poise_pose_identity();
    }
    return status;
}

static poise_status add_positions(building *b, split *s, bool is_last)
{
    pz_pool *pool = &b->file->input->pool;
    if (s->positions == 3) {
        poise_joint joint = poise_joint_default();
        joint.type = POISE_JOINT_TRANSLATION;
        assign(b, s->position_column, 3, 0);
        return add_stage(b, s, joint, is_last ? s->name : concatenate(pool, s->name, ".position"));
    }
    static const char *const suffix[] = {".x", ".y", ".z"};
    int left = s->positions;
    for (int axis = 0; axis < 3; ++axis) {
        if (s->position_column[axis] < 0) {
            continue;
        }
        left -= 1;
        poise_joint joint = poise_joint_default();
        joint.type = POISE_JOINT_PRISMATIC;
        joint.axis = axis_vector(axis);
        assign(b, &s->position_column[axis], 1, 0);
        bool ends = is_last && left == 0;
        poise_status status = add_stage(b, s, joint, ends ? s->name : concatenate(pool, s->name, suffix[axis]));
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

static poise_status add_rotations(building *b, split *s, const int axis[3], bool is_chain)
{
    poise_joint joint = poise_joint_default();
    int count = s->rotations;
    for (int i = 0; is_chain && i < count; ++i) {
        joint.type = POISE_JOINT_REVOLUTE;
        joint.axis = axis_vector(axis[i]);
        assign(b, &s->rotation_column[i], 1, 0);
        const char *name = i == count - 1 ? s->name : with_number(&b->file->input->pool, s->name, ".", i + 1);
        poise_status status = add_stage(b, s, joint, name);
        if (status != POISE_OK) {
            return status;
        }
    }
    if (is_chain) {
        return POISE_OK;
    }
    joint.type = count == 0 ? POISE_JOINT_FIXED : count == 1 ? POISE_JOINT_REVOLUTE : POISE_JOINT_UNIVERSAL;
    if (count > 0) {
        joint.axis = axis_vector(axis[0]);
        joint.axis2 = count > 1 ? axis_vector(axis[1]) : joint.axis2;
    }
    if (count == 3) {
        joint.type = s->positions == 3 ? POISE_JOINT_FREE_EULER : POISE_JOINT_BALL_EULER;
        pz_euler_find(axis, &joint.order);
        joint.axis = poise_joint_default().axis;
        joint.axis2 = poise_joint_default().axis2;
    }
    if (joint.type == POISE_JOINT_FREE_EULER) {
        assign(b, s->position_column, 3, 0);
    }
    assign(b, s->rotation_column, count, joint.type == POISE_JOINT_FREE_EULER ? 3 : 0);
    return add_stage(b, s, joint, s->name);
}

static poise_status add_file_joint(building *b, int index)
{
    const bvh_joint *joint = &b->file->joints[index];
    split s = {.name = joint->name,
               .line = joint->line,
               .parent = joint->parent < 0 ? NULL : b->body[joint->parent],
               .offset = (poise_pose){{0, 0, 0, 1}, {joint->offset[0], joint->offset[1], joint->offset[2]}},
               .position_column = {-1, -1, -1},
               .positions = joint->position_count,
               .rotations = joint->rotation_count};
    int axis[3] = {0, 0, 0}, rotations = 0;
    for (int c = joint->first_channel; c < joint->first_channel + joint->channel_count; ++c) {
        const bvh_channel *channel = &b->file->channels[c];
        if (channel->kind == BVH_POSITION) {
            s.position_column[channel->axis] = c;
        } else if (channel->kind == BVH_ROTATION) {
            s.rotation_column[rotations] = c;
            axis[rotations++] = channel->axis;
        }
    }
    poise_euler_order order;
    bool is_chain = (rotations == 2 && axis[0] == axis[1]) || (rotations == 3 && !pz_euler_find(axis, &order));
    poise_status status = POISE_OK;
    if (s.positions > 0 && !(s.positions == 3 && rotations == 3 && !is_chain)) {
        status = add_positions(b, &s, rotations == 0);
    }
    if (status == POISE_OK && !(s.positions > 0 && rotations == 0)) {
        status = add_rotations(b, &s, axis, is_chain);
    }
    b->body[index] = s.parent;
    return status;
}

static poise_status add_site(building *b, const bvh_site *site)
{
    pz_pool *pool = &b->file->input->pool;
    const char *body = b->body[site->joint];
    const char *name = site->number == 1 ? concatenate(pool, body, ".tip") : with_number(pool, body, ".tip", site->number);
    if (!name) {
        return pz_input_no_memory(b->file->input);
    }
    poise_tool tool = {
        .name = name, .body = body, .pose = (poise_pose){{0, 0, 0, 1}, {site->offset[0], site->offset[1], site->offset[2]}}};
    return poise_builder_add_tool(b->builder, &tool, b->file->input->error);
}

static poise_status add_all(building *b)
{
    bvh *file = b->file;
    poise_status status = POISE_OK;
    for (size_t i = 0; i < file->joint_count && status == POISE_OK; ++i) {
        if (!file->joints[i].is_folded) {
            status = add_file_joint(b, (int)i);
        }
    }
    for (size_t i = 0; i < file->site_count && status == POISE_OK; ++i) {
        status = add_site(b, &file->sites[i]);
    }
    if (status == POISE_OK) {
        status = poise_model_create(b->builder, file->input->allocator, &file->input->file->model, file->input->error);
    }
    return status;
}

// Where each column goes in q. Joints were added in depth-first order, so the model has them in the same.
static void aim_columns(building *b)
{
    const poise_model *model = b->file->input->file->model;
    for (size_t c = 0; c < b->file->channel_count; ++c) {
        int joint = b->column_joint[c];
        b->file->target[c] = joint < 0 ? -1 : poise_model_joint_info(model, joint).q + b->column_coordinate[c];
    }
}

poise_status pz_bvh_model(bvh *file, const double *first)
{
    size_t most = file->joint_count + file->channel_count;
    size_t columns = file->channel_count;
    pz_pool *pool = &file->input->pool;
    file->shift = pz_pool_take(pool, columns, sizeof *file->shift);
    if (!file->shift) {
        return pz_input_no_memory(file->input);
    }
    memset(file->shift, 0, columns * sizeof *file->shift);
    fold_offsets(file);
    settle_offsets(file, first, true);
    settle_offsets(file, first, false);
    building b = {.file = file, .renamed.what = "joints whose name is already used"};
    b.name = pz_pool_take(pool, most, sizeof *b.name);
    b.body = pz_pool_take(pool, file->joint_count, sizeof *b.body);
    b.column_joint = pz_pool_take(pool, columns, sizeof *b.column_joint);
    b.column_coordinate = pz_pool_take(pool, columns, sizeof *b.column_coordinate);
    file->target = pz_pool_take(pool, columns, sizeof *file->target);
    if (!pz_pool_names(pool, most, &b.names) || !b.name || !b.body || !b.column_joint || !b.column_coordinate ||
        !file->target) {
        return pz_input_no_memory(file->input);
    }
    for (size_t c = 0; c < columns; ++c) {
        b.column_joint[c] = -1;
    }
    poise_status status = poise_builder_create(file->input->allocator, &b.builder, NULL);
    if (status != POISE_OK) {
        return pz_input_no_memory(file->input);
    }
    status = add_all(&b);
    poise_builder_destroy(b.builder);
    pz_causes_close(file->input, &b.renamed, 1);
    if (status == POISE_OK) {
        aim_columns(&b);
    }
    return status;
}
