// BVH (Biovision hierarchy): the tree of joints.
//
// The text is a tree of blocks, read with a cursor and the index of the joint that is open: no recursion, however deep.
#include "io/bvh/bvh.h"

#include <string.h>

// ---- Names ---------------------------------------------------------------------------------------------------------------

// The rest of the line, up to a brace, as a name: from its first to its last word.
static pz_word take_name(pz_scan *scan)
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

static poise_status take_brace(bvh *file, const char *of)
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
    pz_word word = take_name(&file->scan);
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
    return take_brace(file, "joint");
}

static poise_status take_offset(bvh *file, const char *of, double offset[3])
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
static poise_status take_site(bvh *file, int joint)
{
    take_name(&file->scan); // "Site"
    poise_status status = take_brace(file, "End Site");
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
        status = take_offset(file, "End Site", site.offset);
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

static poise_status take_channels(bvh *file, int index)
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
static poise_status take_statement(bvh *file, pz_word word, int *joint)
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
        return take_offset(file, open->name, open->offset);
    }
    if (pz_word_is_like(word, "CHANNELS")) {
        if (open->children > 0) { // the order of columns would not be that of the joints
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line,
                                 "joint \"%s\": CHANNELS must come before its first JOINT", open->name);
        }
        return take_channels(file, *joint);
    }
    if (pz_word_is_like(word, "End")) {
        return take_site(file, *joint);
    }
    if (pz_word_is_like(word, "JOINT")) {
        poise_status status = open_joint(file, *joint);
        *joint = (int)file->joint_count - 1;
        return status;
    }
    return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line,
                         "joint \"%s\": expected OFFSET, CHANNELS, JOINT, End Site or }", open->name);
}

static poise_status take_hierarchy(bvh *file)
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
            status = take_statement(file, word, &joint);
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

poise_status pz_read_bvh(pz_input *input)
{
    bvh file = {.input = input, .scan = pz_scan_over(input->bytes, input->size)};
    poise_status status = take_hierarchy(&file);
    if (status != POISE_OK) {
        return status;
    }
    bvh_motion motion;
    bool has_motion = pz_bvh_motion_header(&file, &motion) && motion.frames != 0 && file.channel_count > 0;
    double *first = has_motion ? pz_bvh_first_frame(&file, &motion) : NULL;
    if (has_motion && !first) {
        return pz_input_no_memory(input);
    }
    status = pz_bvh_model(&file, first);
    if (status == POISE_OK && has_motion) {
        status = pz_bvh_rows(&file, &motion);
    }
    return status;
}
