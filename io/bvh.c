// BVH (Biovision hierarchy): a tree of joints with channels, then rows of numbers, one a frame.
//
// Reading takes the hierarchy as it stands in the text, makes joints of the model of it, and knows then where each column of
// the rows goes in q. Writing plans for each joint of the model which channels hold it, and puts out both parts.
//
// Read: any tree of ROOT and JOINT with up to three position and three rotation channels each, End Sites (as tools); a
// hierarchy without MOTION.
// Warned of: names that are missing or taken (renamed), channels of another kind, Frames: that says another number than
// there are rows.
// Refused: a text that does not begin with HIERARCHY, ends within a joint ("} is missing"), lists a channel twice, or whose
// CHANNELS disagree with their number.
#include "io/io_core.h"

#include "io/skeleton.h"
#include "num/vector.h"

#include <string.h>

// What a column of the motion holds: a position along, or a rotation about, axis 0, 1, 2.
typedef enum bvh_kind { BVH_POSITION, BVH_ROTATION, BVH_IGNORED } bvh_kind;

typedef struct bvh_channel {
    bvh_kind kind;
    int axis;
    int joint; // that it belongs to
} bvh_channel;

typedef struct bvh_joint {
    const char *name;
    int line;
    int parent; // -1: none
    int children;
    double offset[3];
    bool has_offset, has_channels;
    int sites;
    bool is_folded;     // its offset went to its only child (a joint "x.offset" above "x")
    bool is_settled;    // its offset does not depend on what position channels mean
    int first_channel;  // of the file's
    int channel_count;  // columns
    int position_count; // of them
    int rotation_count;
} bvh_joint;

typedef struct bvh_site {
    int joint;
    int number; // among the sites of its joint, from 1
    double offset[3];
} bvh_site;

// A file while it is read.
typedef struct bvh {
    pz_input *input;
    pz_scan scan;
    bvh_joint *joints;
    size_t joint_count, joint_capacity;
    bvh_channel *channels;
    size_t channel_count, channel_capacity;
    bvh_site *sites;
    size_t site_count, site_capacity;
    int *target;   // by column: where it goes in q, -1: nowhere
    double *shift; // by column: what is taken off its values, the offset that a position holds
} bvh;

// The rows after "Frame Time:".
typedef struct bvh_motion {
    int frames; // as announced
    double frame_time;
    pz_scan rows; // where they begin
} bvh_motion;

// A joint that only holds the offset of its child, for a child with position channels: its name ends with this.
#define BVH_OFFSET_SUFFIX ".offset"

// From this share of the offsets on, the positions of the first frame hold them without a doubt.
#define BVH_CLEAR  0.75
#define BVH_LIKELY 0.5 // from here on they are taken to

// ---- Reading: the tree of joints -----------------------------------------------------------------------------------------
//
// The text is a tree of blocks, read with a cursor and the index of the joint that is open: no recursion, however deep.

// ---- Names ---------------------------------------------------------------------------------------------------------------

// The rest of the line, up to a brace, as a name: from its first to its last word.
static pz_word parse_name(pz_scan *scan)
{
    pz_word name = {scan->at, 0}, word;
    while (pz_scan_word_in_line(scan, &word)) {
        const char *brace = memchr(word.text, '{', word.length);
        word.length = brace ? (size_t)(brace - word.text) : word.length;
        if (word.length > 0) {
            name = name.length == 0 ? word : (pz_word){name.text, (size_t)(word.text + word.length - name.text)};
        }
        if (brace) {
            scan->at = brace;
            break;
        }
    }
    return name;
}

// ---- Blocks --------------------------------------------------------------------------------------------------------------

// The next word; a brace is one by itself, whatever follows it.
static bool next_word(bvh *file, pz_word *word)
{
    if (pz_scan_skip(&file->scan) && (*file->scan.at == '{' || *file->scan.at == '}')) {
        *word = (pz_word){file->scan.at, 1};
        file->scan.at += 1;
        return true;
    }
    return pz_scan_word(&file->scan, word);
}

static poise_status parse_brace(bvh *file, const char *of)
{
    pz_word word;
    if (!next_word(file, &word) || word.text[0] != '{') {
        return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "%s: { is missing after it", of);
    }
    return POISE_OK;
}

static poise_status open_joint(bvh *file, int parent)
{
    int line = file->scan.line;
    pz_word word = parse_name(&file->scan);
    bvh_joint *joints =
        pz_pool_grow(&file->input->pool, file->joints, file->joint_count, &file->joint_capacity, sizeof *joints);
    char *name = pz_pool_copy(&file->input->pool, word.text, word.length);
    if (!joints || !name) {
        return pz_input_no_memory(file->input);
    }
    if (memchr(name, '\0', word.length)) {
        return pz_input_fail(file->input, POISE_ERROR_FORMAT, line, "a joint's name holds a zero byte");
    }
    if (word.length == 0) {
        pz_input_warn(file->input, line, "a joint without a name, renamed to \"joint\"");
        name = pz_pool_copy(&file->input->pool, "joint", 5);
        if (!name) {
            return pz_input_no_memory(file->input);
        }
    }
    file->joints = joints;
    joints[file->joint_count] =
        (bvh_joint){.name = name, .line = line, .parent = parent, .first_channel = (int)file->channel_count};
    file->joint_count += 1;
    if (parent >= 0) {
        joints[parent].children += 1;
    }
    return parse_brace(file, "joint");
}

static poise_status parse_offset(bvh *file, const char *of, double offset[3])
{
    int line = file->scan.line;
    for (int i = 0; i < 3; ++i) {
        if (!pz_scan_number(&file->scan, &offset[i])) {
            pz_word word = {"", 0};
            char said[PZ_SAID_SIZE];
            pz_scan_word_in_line(&file->scan, &word);
            bool has_comma = word.length > 0 && memchr(word.text, ',', word.length);
            return has_comma ? pz_input_fail(file->input, POISE_ERROR_FORMAT, line,
                                             "%s: OFFSET needs three numbers with decimal points; \"%s\" has a comma", of,
                                             pz_word_said(word, said))
                             : pz_input_fail(file->input, POISE_ERROR_FORMAT, line, "%s: OFFSET needs three numbers", of);
        }
    }
    return POISE_OK;
}

// "End Site { OFFSET x y z }"
static poise_status parse_site(bvh *file, int joint)
{
    parse_name(&file->scan); // "Site"
    poise_status status = parse_brace(file, "End Site");
    if (status != POISE_OK) {
        return status;
    }
    bvh_site *sites = pz_pool_grow(&file->input->pool, file->sites, file->site_count, &file->site_capacity, sizeof *sites);
    if (!sites) {
        return pz_input_no_memory(file->input);
    }
    file->sites = sites;
    bvh_site site = {.joint = joint};
    bool has_offset = false;
    pz_word word;
    while (next_word(file, &word)) {
        if (word.text[0] == '}') {
            if (!has_offset) {
                pz_input_warn(file->input, file->scan.line, "an End Site without OFFSET; 0 0 0 assumed");
            }
            file->joints[joint].sites += 1;
            site.number = file->joints[joint].sites;
            sites[file->site_count++] = site;
            return POISE_OK;
        }
        if (!pz_word_is_like(word, "OFFSET")) {
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line,
                                 "joint \"%s\": an End Site may hold only an OFFSET", file->joints[joint].name);
        }
        status = parse_offset(file, "End Site", site.offset);
        if (status != POISE_OK) {
            return status;
        }
        has_offset = true;
    }
    return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "the text ends within an End Site: } is missing");
}

// ---- Channels ------------------------------------------------------------------------------------------------------------

// "Xposition", "yrotation" ...; names that end so but are no axis, or end with "scale", are columns to pass over.
static bool channel_of(pz_word word, bvh_channel *channel)
{
    static const char *const kinds[] = {"position", "rotation", "scale"};
    for (int k = 0; k < 3; ++k) {
        size_t length = strlen(kinds[k]);
        if (word.length > length && pz_word_is_like((pz_word){word.text + word.length - length, length}, kinds[k])) {
            int axis = word.length == length + 1 ? (word.text[0] | 0x20) - 'x' : -1;
            bool is_known = k < 2 && axis >= 0 && axis < 3;
            channel->kind = !is_known ? BVH_IGNORED : k == 0 ? BVH_POSITION : BVH_ROTATION;
            channel->axis = axis;
            return true;
        }
    }
    return false;
}

static poise_status add_channel(bvh *file, int index, bvh_channel channel)
{
    bvh_joint *joint = &file->joints[index];
    for (size_t c = (size_t)joint->first_channel; channel.kind == BVH_POSITION && c < file->channel_count; ++c) {
        if (file->channels[c].kind == BVH_POSITION && file->channels[c].axis == channel.axis) {
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line,
                                 "joint \"%s\": a position channel is listed twice", joint->name);
        }
    }
    joint->position_count += channel.kind == BVH_POSITION ? 1 : 0;
    joint->rotation_count += channel.kind == BVH_ROTATION ? 1 : 0;
    joint->channel_count += 1;
    if (joint->rotation_count > 3) {
        return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line,
                             "joint \"%s\": more than three rotation channels", joint->name);
    }
    bvh_channel *channels =
        pz_pool_grow(&file->input->pool, file->channels, file->channel_count, &file->channel_capacity, sizeof *channels);
    if (!channels) {
        return pz_input_no_memory(file->input);
    }
    file->channels = channels;
    channel.joint = index;
    channels[file->channel_count++] = channel;
    return POISE_OK;
}

static poise_status parse_channels(bvh *file, int index)
{
    bvh_joint *joint = &file->joints[index];
    pz_word word = {NULL, 0};
    int announced = 0;
    if (joint->has_channels || !pz_scan_word(&file->scan, &word) || !pz_word_integer(word, &announced) || announced < 0) {
        return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line,
                             "joint \"%s\": CHANNELS must appear once, followed by a count", joint->name);
    }
    joint->has_channels = true;
    for (int i = 0; i < announced; ++i) {
        pz_scan before = file->scan;
        bvh_channel channel;
        if (!pz_scan_word(&file->scan, &word) || !channel_of(word, &channel)) {
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, before.line,
                                 "joint \"%s\": CHANNELS says %d names, but %d follow", joint->name, announced, i);
        }
        if (channel.kind == BVH_IGNORED) {
            pz_input_warn(file->input, file->scan.line,
                          "joint \"%s\": a channel that is neither position nor rotation, ignored", joint->name);
        }
        poise_status status = add_channel(file, index, channel);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

// ---- The tree ------------------------------------------------------------------------------------------------------------

// One word of a block, `joint` being the open one; *joint changes where a block opens or closes.
static poise_status parse_statement(bvh *file, pz_word word, int *joint)
{
    bvh_joint *open = &file->joints[*joint];
    if (word.text[0] == '}') {
        if (!open->has_offset) {
            pz_input_warn(file->input, open->line, "joint \"%s\": no OFFSET; 0 0 0 assumed", open->name);
        }
        *joint = open->parent;
        return POISE_OK;
    }
    if (pz_word_is_like(word, "OFFSET")) {
        open->has_offset = true;
        return parse_offset(file, open->name, open->offset);
    }
    if (pz_word_is_like(word, "CHANNELS")) {
        if (open->children > 0) { // the order of columns would not be that of the joints
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line,
                                 "joint \"%s\": CHANNELS must come before its first JOINT", open->name);
        }
        return parse_channels(file, *joint);
    }
    if (pz_word_is_like(word, "End")) {
        return parse_site(file, *joint);
    }
    if (pz_word_is_like(word, "JOINT")) {
        poise_status status = open_joint(file, *joint);
        *joint = (int)file->joint_count - 1;
        return status;
    }
    return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line,
                         "joint \"%s\": expected OFFSET, CHANNELS, JOINT, End Site or }", open->name);
}

static poise_status parse_hierarchy(bvh *file)
{
    pz_word word;
    if (!pz_scan_word(&file->scan, &word) || !pz_word_is_like(word, "HIERARCHY")) {
        return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "a BVH begins with the word HIERARCHY");
    }
    int joint = -1;
    for (;;) {
        pz_scan before = file->scan;
        if (!next_word(file, &word)) {
            break;
        }
        poise_status status;
        if (joint >= 0) {
            status = parse_statement(file, word, &joint);
        } else if (pz_word_is_like(word, "ROOT")) {
            status = open_joint(file, -1);
            joint = (int)file->joint_count - 1;
        } else if (pz_word_is_like(word, "MOTION") && file->joint_count > 0) {
            file->scan = before;
            return POISE_OK;
        } else {
            status = pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "expected ROOT or MOTION");
        }
        if (status != POISE_OK) {
            return status;
        }
    }
    if (joint >= 0) {
        return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line,
                             "the text ends within joint \"%s\": } is missing", file->joints[joint].name);
    }
    if (file->joint_count == 0) {
        return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "no ROOT");
    }
    return POISE_OK;
}

// ---- Reading: from joints with channels to a model -----------------------------------------------------------------------
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
static void resolve_offsets(bvh *file, const double *first, bool of_root)
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

// Makes the model of the joints: input->file->model, and file->target. `first`: the first frame by column, NULL when there
// is none.
static poise_status bvh_model(bvh *file, const double *first)
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
    resolve_offsets(file, first, true);
    resolve_offsets(file, first, false);
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

// ---- Reading: the rows of numbers ----------------------------------------------------------------------------------------
//
// A row is a line. Where the first line does not hold one number for each channel, numbers are taken one after the other,
// wherever lines end. What is no finite number, or missing from a row, keeps the value of the frame before.

#define DEFAULT_FRAME_TIME (1.0 / 30.0) // seconds, where the file gives none that can be used

// ---- The header ----------------------------------------------------------------------------------------------------------

// The number after the colon, or after the word where there is none; false: none.
static bool value_after(pz_word line, size_t word, double *value)
{
    const char *end = line.text + line.length;
    const char *at = memchr(line.text, ':', line.length);
    at = at ? at + 1 : line.text + word;
    while (at < end && (*at == ' ' || *at == '\t')) {
        ++at;
    }
    return pz_number_read(at, end, value) != at && *value - *value == 0.0;
}

static void parse_frames(bvh *file, pz_word line, int number, bvh_motion *motion)
{
    double value;
    if (!value_after(line, 6, &value) || value < 0 || value > INT32_MAX || value != (double)(int)value) {
        pz_input_warn(file->input, number, "Frames: has no count; the rows are counted instead");
        return;
    }
    motion->frames = (int)value;
}

static void parse_frame_time(bvh *file, pz_word line, int number, bvh_motion *motion)
{
    double value;
    if (!value_after(line, 10, &value) || value <= 0) {
        pz_input_warn(file->input, number, "Frame Time: must be followed by seconds above 0; 1/30 assumed");
        return;
    }
    if (value > 1) {
        pz_input_warn(file->input, number, "a frame time of %g seconds; is that a rate, or in milliseconds?", value);
    }
    motion->frame_time = value;
}

static bool starts_like(pz_word line, const char *text)
{
    size_t length = strlen(text);
    return line.length >= length && pz_word_is_like((pz_word){line.text, length}, text);
}

// Read "Frames:" and "Frame Time:". False: there is no motion.
static bool bvh_motion_header(bvh *file, bvh_motion *motion)
{
    *motion = (bvh_motion){.frames = -1, .frame_time = 0.0};
    pz_word word, line;
    if (!pz_scan_word(&file->scan, &word)) {
        pz_input_warn(file->input, file->scan.line, "no MOTION");
        return false;
    }
    motion->rows = file->scan; // the word was MOTION, or the hierarchy would not have ended
    pz_scan scan = file->scan;
    for (;;) {
        pz_scan next = scan;
        if (!pz_scan_word(&next, &word)) {
            break;
        }
        next.at = word.text;
        int number = next.line;
        pz_scan_line(&next, &line);
        if (starts_like(line, "Frame Time")) {
            parse_frame_time(file, line, number, motion);
        } else if (starts_like(line, "Frames")) {
            parse_frames(file, line, number, motion);
        } else {
            break;
        }
        motion->rows = scan = next;
    }
    if (motion->frame_time == 0.0) {
        motion->frame_time = DEFAULT_FRAME_TIME;
    }
    return true;
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_end(char c)
{
    return c == '\n' || c == '\r';
}

// Values of the first frame by column, zeros where there is none; NULL when out of memory.
static double *bvh_first_frame(bvh *file, const bvh_motion *motion)
{
    double *first = pz_pool_take(&file->input->pool, file->channel_count, sizeof *first);
    pz_scan scan = motion->rows;
    for (size_t c = 0; first && c < file->channel_count; ++c) {
        pz_word word;
        first[c] = 0.0;
        if (pz_scan_word(&scan, &word)) {
            pz_word_number(word, &first[c]);
        }
    }
    return first;
}

enum { BAD_CELLS, SHORT_ROWS, LONG_ROWS, CAUSES };

// How a file's rows are read.
typedef struct row_reader {
    bvh *file;
    pz_scan scan;
    bool by_line; // a row ends with its line
    pz_cause causes[CAUSES];
} row_reader;

// A cell that is no plain number: passed over, with a warning, its value stays as it is.
static void pass_bad_cell(row_reader *r)
{
    pz_word word;
    pz_scan_word_in_line(&r->scan, &word);
    if (pz_is_among_first(&r->causes[BAD_CELLS])) {
        char text[PZ_SAID_SIZE];
        word.length = word.length < 23 ? word.length : 23;
        pz_input_warn(r->file->input, r->scan.line, "\"%s\" is not a finite number; the value of the previous frame is kept",
                      pz_word_said(word, text));
    }
}

// Cells up to the end of the row into `row`; returns how many there were.
static size_t read_cells(row_reader *r, double *row)
{
    const bvh_channel *channels = r->file->channels;
    const int *target = r->file->target;
    const double *shift = r->file->shift;
    size_t count = r->file->channel_count, c = 0;
    const char *end = r->scan.end;
    while (c < count) {
        const char *at = r->scan.at;
        while (at < end && is_space(*at)) {
            ++at;
        }
        r->scan.at = at;
        if (at >= end || is_end(*at)) {
            pz_word word;
            if (r->by_line || !pz_scan_word(&r->scan, &word)) {
                break;
            }
            at = r->scan.at = word.text;
        }
        double value;
        const char *after = channels[c].kind == BVH_ROTATION ? pz_number_read_scaled(at, end, PZ_RADIANS_PER_DEGREE, &value)
                                                             : pz_number_read(at, end, &value);
        if (after == at || (after < end && !is_space(*after) && !is_end(*after)) || value - value != 0.0) {
            pass_bad_cell(r);
        } else {
            r->scan.at = after;
            if (target[c] >= 0) {
                row[target[c]] = value - shift[c];
            }
        }
        ++c;
    }
    return c;
}

// To the first cell of the next row; false at the end.
static bool next_row(row_reader *r)
{
    pz_word word;
    pz_scan next = r->scan;
    if (!pz_scan_word(&next, &word)) {
        return false;
    }
    next.at = word.text;
    r->scan = next;
    return true;
}

// One row. False: it was left out, because it ends with the text or has less than half of its cells.
static bool read_row(row_reader *r, double *row)
{
    size_t count = r->file->channel_count;
    size_t cells = read_cells(r, row);
    pz_word rest;
    if (cells < count) {
        bool is_kept = r->scan.at < r->scan.end && 2 * cells >= count;
        if (pz_is_among_first(&r->causes[SHORT_ROWS])) {
            pz_input_warn(r->file->input, r->scan.line, "a row of %d numbers instead of %d; %s", (int)cells, (int)count,
                          is_kept ? "the rest keep the values of the previous frame" : "left out");
        }
        return is_kept;
    }
    if (r->by_line && pz_scan_word_in_line(&r->scan, &rest)) {
        if (pz_is_among_first(&r->causes[LONG_ROWS])) {
            pz_input_warn(r->file->input, r->scan.line, "a row of more than %d numbers; the rest are ignored", (int)count);
        }
        pz_scan_line(&r->scan, &rest);
    }
    return true;
}

// Does the first line hold a number for each channel?
static bool first_line_is_a_row(const bvh *file, const bvh_motion *motion)
{
    pz_scan scan = motion->rows;
    pz_word word;
    size_t cells = pz_scan_word(&scan, &word) ? 1 : 0;
    while (cells > 0 && cells <= file->channel_count && pz_scan_word_in_line(&scan, &word)) {
        ++cells;
    }
    return cells == file->channel_count;
}

static void warn_of_counts(row_reader *r, const bvh_motion *motion, int frames)
{
    pz_input *input = r->file->input;
    pz_causes_close(input, r->causes, CAUSES);
    if (motion->frames >= 0 && frames < motion->frames) {
        pz_input_warn(input, r->scan.line, "Frames: says %d, but there are %d", motion->frames, frames);
    } else if (motion->frames >= 0 && next_row(r)) {
        pz_input_warn(input, r->scan.line, "Frames: says %d, but there are more; the rest are ignored", motion->frames);
    }
}

// Frames that the rest of the text can hold at most: a row has half of its cells or more, each of two bytes or more.
static int frames_at_most(const bvh *file, const bvh_motion *motion)
{
    size_t rows = (size_t)(motion->rows.end - motion->rows.at) / file->channel_count + 1;
    int announced = motion->frames >= 0 ? motion->frames : INT32_MAX;
    return rows < (size_t)announced ? (int)rows : announced;
}

// All rows into input->file->clip.
static poise_status bvh_rows(bvh *file, const bvh_motion *motion)
{
    pz_input *input = file->input;
    row_reader r = {.file = file,
                    .scan = motion->rows,
                    .by_line = first_line_is_a_row(file, motion),
                    .causes = {[BAD_CELLS].what = "cells that are not finite numbers",
                               [SHORT_ROWS].what = "rows that are too short",
                               [LONG_ROWS].what = "rows that are too long"}};
    if (!r.by_line && motion->frames > 0) {
        pz_input_warn(input, r.scan.line, "the first line does not hold %d numbers; rows are read across lines",
                      (int)file->channel_count);
    }
    int most = frames_at_most(file, motion), nq = poise_model_info(input->file->model).nq, frames = 0;
    if (nq == 0) {
        return POISE_OK; // nothing moves
    }
    poise_clip *clip;
    poise_status status = poise_clip_create(most, nq, motion->frame_time, input->allocator, &clip, NULL);
    if (status != POISE_OK) {
        return pz_input_no_memory(input);
    }
    while (frames < most && next_row(&r)) {
        double *row = clip->q + (size_t)frames * (size_t)nq;
        if (frames > 0) {
            memcpy(row, row - nq, (size_t)nq * sizeof *row);
        }
        frames += read_row(&r, row) ? 1 : 0;
    }
    warn_of_counts(&r, motion, frames);
    if (frames == 0) {
        poise_clip_destroy(clip);
        return POISE_OK;
    }
    return pz_input_keep_clip(input, clip, frames);
}

// ---- Reading: all --------------------------------------------------------------------------------------------------------

static poise_status read_bvh(pz_input *input)
{
    bvh file = {.input = input, .scan = pz_scan_over(input->bytes, input->size)};
    poise_status status = parse_hierarchy(&file);
    if (status != POISE_OK) {
        return status;
    }
    bvh_motion motion;
    bool has_motion = bvh_motion_header(&file, &motion) && motion.frames != 0 && file.channel_count > 0;
    double *first = has_motion ? bvh_first_frame(&file, &motion) : NULL;
    if (has_motion && !first) {
        return pz_input_no_memory(input);
    }
    status = bvh_model(&file, first);
    if (status == POISE_OK && has_motion) {
        status = bvh_rows(&file, &motion);
    }
    return status;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------
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

static void add_position_columns(const writing *w, plan *p, int q)
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
        add_position_columns(w, p, q);
        return true;
    case POISE_JOINT_FREE_EULER:
        add_position_columns(w, p, q);
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
        add_position_columns(w, p, -1);
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
// resolve_offsets, of positions that hold the offsets.
static double written_share_of_offsets(const writing *w, bool of_root)
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
    double share = written_share_of_offsets(w, of_root);
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

static void write_offset(pz_output *output, int depth, const double offset[3])
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

static void write_channels(pz_output *output, int depth, const plan *p)
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

static void write_site(writing *w, poise_vec3 place, int depth)
{
    double offset[3];
    turn(w, place, offset);
    open_block(w->output, depth, "End Site", "", "");
    write_offset(w->output, depth + 1, offset);
    begin_line(w->output, depth);
    pz_put(w->output, "}\n");
}

// Is the tip of a bone where its child begins?
static bool tip_is_child(const poise_model *model, int joint, poise_vec3 tip)
{
    int end = joint + poise_model_joint_info(model, joint).subtree;
    for (int child = joint + 1; child < end; child += poise_model_joint_info(model, child).subtree) {
        poise_vec3 p = poise_model_joint_info(model, child).given->offset.position;
        if (p.x == tip.x && p.y == tip.y && p.z == tip.z) {
            return true;
        }
    }
    return false;
}

// The bone above, of some length, in the frame of the body.
static poise_vec3 bone_above(const poise_model *model, int body)
{
    poise_quat turn = poise_pose_identity().rotation; // from the frame in question to the body's
    for (int k = body; poise_model_joint_info(model, k).parent >= 0; k = poise_model_joint_info(model, k).parent) {
        poise_pose offset = poise_model_joint_info(model, k).given->offset;
        poise_quat r = offset.rotation;
        turn = poise_quat_multiply(turn, (poise_quat){-r.x, -r.y, -r.z, r.w});
        if (v3_norm(offset.position) > 0) {
            return poise_quat_rotate(turn, offset.position);
        }
    }
    return poise_vec3_make(0, 0, 0);
}

// Where the bone of a body ends that has no tip and on which nothing hangs: at its farthest tool, else at twice the way to
// its centre of mass, else a share of the bone above further on. 0 where nothing tells.
static poise_vec3 leaf_end(const poise_model *model, int body)
{
    const double share = 0.3; // of a bone, what a hand is to a forearm
    poise_vec3 end = poise_vec3_make(0, 0, 0);
    for (int t = 0; t < poise_model_info(model).tools; ++t) {
        poise_tool_info tool = poise_model_tool_info(model, t);
        end = tool.body == body && v3_norm(tool.pose.position) > v3_norm(end) ? tool.pose.position : end;
    }
    const poise_joint *joint = poise_model_joint_info(model, body).given;
    double times = 1;
    if (!(v3_norm(end) > 0)) {
        bool has_mass = joint->mass > 0 && v3_norm(joint->mass_center) > 0;
        times = has_mass ? 2 : share;
        end = has_mass ? joint->mass_center : bone_above(model, body);
    }
    return poise_vec3_make(times * end.x, times * end.y, times * end.z);
}

// Every joint on which nothing hangs gets one: the grammar asks for it, and other programs take from it how long a head or
// a hand is. A file that was read without stays without.
static void write_sites(writing *w, int joint, int depth)
{
    int first = w->tips.first[joint];
    for (int t = first; t >= 0; t = w->tips.next[t]) {
        poise_vec3 p = poise_model_tool_info(w->model, t).pose.position;
        if (t != first || !tip_is_child(w->model, joint, p)) {
            write_site(w, p, depth);
        }
    }
    if (first < 0 && poise_model_joint_info(w->model, joint).subtree == 1 && w->file->format != POISE_FORMAT_BVH) {
        write_site(w, leaf_end(w->model, joint), depth);
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
static poise_status write_hierarchy(writing *w)
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
            write_offset(w->output, ++depth, p->offset);
            begin_line(w->output, depth);
            pz_put(w->output, "CHANNELS 0\n");
            kind = "JOINT ";
        }
        open_block(w->output, depth, kind, name, "");
        write_offset(w->output, ++depth, p->has_holder || p->is_unsaid ? zero : p->offset);
        if (!looks_like_holder(w, j)) {
            write_channels(w->output, depth, p);
        }
        write_sites(w, j, depth);
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

static void write_row(writing *w, const double *q)
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

static poise_status write_motion(writing *w)
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
        write_row(w, q);
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
        status = write_hierarchy(&w);
    }
    if (status == POISE_OK) {
        status = write_motion(&w);
    }
    poise_kinematics_destroy(w.kinematics);
    pz_pool_release(&w.pool);
    return status;
}

// A skeleton without a motion: one frame holds its neutral pose, whose rotations the hierarchy has no place for. A file that
// was read without frames stays without.
static poise_status write_bvh(const poise_file *file, pz_output *output)
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

const pz_format_row pz_bvh_format = {.name = "bvh", .extension = ".bvh", .read = read_bvh, .write = write_bvh};
