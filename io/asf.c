// ASF and AMC (Acclaim): a skeleton whose bones turn about axes given in the world's frame at rest, and frames of its joint
// values. The two are read one after the other: an AMC says nothing without its ASF, which comes as options.model.
//
// A bone turns about its origin, where its parent ends, by C M C^-1, where C comes from its `axis` and M from its degrees of
// freedom: of "rx ry rz" M = Rz Ry Rx, the first innermost. All bones lie along the world's axes when no joint turns. In the
// model a bone's joint has the frame C as its `axes` (also where its type has an axis of its own and does not need them, so
// that the file can be written again), its body the name of the bone, and the bone's end is the tool "<bone>.tip".
//
// Coordinates of a joint are outermost first, values in an AMC innermost first: value i of n is coordinate n - 1 - i. The
// root has its position first, in both.
//
// ASF: sections begin with a colon; a line is a statement.
//
// AMC: a frame is a line with its number and a line for each bone: its name and its values. A bone that is missing from a
// frame, and a value that is no finite number, stay as in the frame before.
//
// Warned of: bones that are not connected to the root (left out), limits that do not fit the degrees of freedom; in an AMC
// bones that are not in the model, wrong numbers of values, frames out of order.
// Refused: an ASF without a hierarchy, a bone twice or with two parents, axes and orders that are none; an AMC without a
// model ("give it as model") or without frames; writing joints that are no bones ("an ASF has only bones that turn about up
// to three axes").
#include "io/skeleton.h"

#include <math.h>
#include <string.h>

// ---- What ASF and AMC share ----------------------------------------------------------------------------------------------

// How an AMC lists a joint's coordinates.
typedef struct asf_columns {
    int first;     // coordinate
    int positions; // of them that are lengths, in the order of q: 0 or 3
    int angles;    // after those, outermost first
} asf_columns;

#define ASF_ROOT "root"

// A comment in a written file, which others pass over: the frame C where its angles do not give back every bit.
#define ASF_AXES_COMMENT "#axes"

// A comment at the top of a written AMC: seconds from frame to frame.
#define AMC_TIME_COMMENT "#frame-time"
#define AMC_FRAME_TIME   (1.0 / 120.0) // seconds, where nothing says it: the rate of most recordings in this format

// False: the joint has coordinates that an AMC cannot list.
static bool columns_of(const poise_model *model, int joint, asf_columns *columns)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    *columns = (asf_columns){.first = info.q};
    switch (info.type) {
    case POISE_JOINT_FIXED:
    case POISE_JOINT_REVOLUTE:
    case POISE_JOINT_UNIVERSAL:
    case POISE_JOINT_BALL_EULER:
        columns->angles = info.nq; // 0 for one that mimics
        return true;
    case POISE_JOINT_TRANSLATION:
        columns->positions = 3;
        return true;
    case POISE_JOINT_FREE_EULER:
        columns->positions = columns->angles = 3;
        return true;
    default:
        return info.nq == 0;
    }
}

// Do turns of this order go about three different axes?
static bool has_three_axes(poise_euler_order order)
{
    const char *name = pz_euler_name((int)order);
    return name[0] != name[2];
}

// The joint that is the root of a file: the first, if all others are below it, it is FREE_EULER with an order of three
// different axes and these are those of its frame. -1: none.
static int root_of(const poise_model *model)
{
    poise_joint_info info = poise_model_joint_info(model, 0);
    bool is_root = info.type == POISE_JOINT_FREE_EULER && info.subtree == poise_model_info(model).joints &&
                   has_three_axes(info.given->order) && info.given->axes.x == 0 && info.given->axes.y == 0 &&
                   info.given->axes.z == 0;
    return is_root ? 0 : -1;
}

// The name of a bone, which is a word, does not begin as comments and sections do, and is not the root's.
static void write_bone_name(pz_output *output, const char *name)
{
    bool is_taken = strcmp(name, ASF_ROOT) == 0, begins_otherwise = name[0] == '#' || name[0] == ':';
    pz_put(output, is_taken || begins_otherwise ? "_" : "");
    pz_put_name(output, begins_otherwise ? name + 1 : name, " ");
}

// ---- ASF: reading --------------------------------------------------------------------------------------------------------

typedef struct bone {
    const char *name;
    int line;
    double direction[3], length;
    double angle[3]; // of the frame C, as given
    int order[3];
    poise_quat axes;   // C
    bool has_axes;     // from a comment
    int dofs, axis[3]; // turns, innermost first
    int limits;        // pairs
    double lower[3], upper[3];
    int parent, first_child, last_child, next; // bones; -1: none. Bone 0 is the root.
} bone;

typedef struct asf {
    pz_input *input;
    pz_scan scan;
    bone *bones; // [0]: the root
    size_t count, capacity;
    bool is_radians;
    double length_unit; // 0: not given
    poise_pose root_pose;
    int root_axis[3], root_order[6], root_orders; // order: 0 1 2 positions, 3 4 5 rotations
    bool has_hierarchy;
    pz_cause passed_over; // statements
} asf;

// C = R_c R_b R_a for the order "abc" (axes 0, 1, 2) and angles in radians, in the order of the letters.
static poise_quat axes_of(const int order[3], const double angle[3])
{
    if (order[0] == 0 && order[1] == 1 && order[2] == 2) {
        return poise_quat_from_roll_pitch_yaw(angle[0], angle[1], angle[2]);
    }
    poise_quat C = poise_pose_identity().rotation;
    for (int i = 0; i < 3; ++i) {
        poise_vec3 axis = poise_vec3_make(order[i] == 0, order[i] == 1, order[i] == 2);
        C = poise_quat_multiply(poise_quat_from_axis_angle(axis, angle[i]), C);
    }
    return C;
}

static poise_status fail(asf *file, const char *name, const char *what)
{
    return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "bone \"%s\": %s", name, what);
}

// ---- ASF: parts of lines -------------------------------------------------------------------------------------------------

static bool parse_number(pz_scan *scan, double *value)
{
    pz_word word;
    return pz_scan_word_in_line(scan, &word) && pz_word_number(word, value);
}

static bool parse_numbers(pz_scan *scan, int count, double *value)
{
    for (int i = 0; i < count; ++i) {
        if (!parse_number(scan, &value[i])) {
            return false;
        }
    }
    return true;
}

static bool parse_angles(asf *file, int count, double *radians)
{
    for (int i = 0; i < count; ++i) {
        pz_word word;
        if (!pz_scan_word_in_line(&file->scan, &word) ||
            !(file->is_radians ? pz_word_number(word, &radians[i]) : pz_word_degrees(word, &radians[i]))) {
            return false;
        }
    }
    return true;
}

// "XYZ" in any order, each letter once.
static bool parse_order(pz_scan *scan, int order[3])
{
    pz_word word;
    int seen = 0;
    if (!pz_scan_word_in_line(scan, &word) || word.length != 3) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        order[i] = (word.text[i] | 0x20) - 'x';
        if (order[i] < 0 || order[i] > 2) {
            return false;
        }
        seen |= 1 << order[i];
    }
    return seen == 7;
}

static void skip_line(asf *file)
{
    pz_word rest;
    pz_scan_line(&file->scan, &rest);
}

static void pass_over(asf *file, pz_word word)
{
    if (pz_is_among_first(&file->passed_over)) {
        char text[PZ_SAID_SIZE];
        word.length = word.length < 31 ? word.length : 31;
        pz_input_warn(file->input, file->scan.line, "\"%s\" is ignored", pz_word_said(word, text));
    }
    skip_line(file);
}

// The next word that begins a statement; comments are skipped, and sections end before their colon.
static bool next_word(asf *file, pz_word *word)
{
    for (;;) {
        pz_scan before = file->scan;
        if (!pz_scan_word(&file->scan, word)) {
            return false;
        }
        if (word->text[0] == ':') {
            file->scan = before;
            return false;
        }
        if (word->text[0] != '#' || pz_word_is(*word, ASF_AXES_COMMENT)) {
            return true;
        }
        skip_line(file);
    }
}

// ---- ASF: sections -------------------------------------------------------------------------------------------------------

static poise_status parse_units(asf *file)
{
    pz_word word, value;
    while (next_word(file, &word)) {
        double number;
        if (pz_word_is_like(word, "length")) {
            if (!parse_number(&file->scan, &number) || !(number > 0) || 0.0254 / number > 1e300 ||
                0.0254 / number < 1e-300) {
                return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "units: length must be above 0");
            }
            file->length_unit = number;
        } else if (pz_word_is_like(word, "angle")) {
            bool is_there = pz_scan_word_in_line(&file->scan, &value);
            file->is_radians = is_there && pz_word_is_like(value, "rad");
            if (!file->is_radians && !(is_there && pz_word_is_like(value, "deg"))) {
                pz_input_warn(file->input, file->scan.line, "units: angle is neither deg nor rad; deg assumed");
            }
        }
        skip_line(file); // mass: bodies have none here
    }
    return POISE_OK;
}

static poise_status parse_root_order(asf *file)
{
    static const char *const names[] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    pz_word word;
    file->root_orders = 0;
    while (pz_scan_word_in_line(&file->scan, &word)) {
        int found = -1;
        for (int i = 0; i < 6; ++i) {
            found = pz_word_is_like(word, names[i]) ? i : found;
        }
        if (found < 0 || file->root_orders >= 6) {
            return fail(file, ASF_ROOT, "order must consist of TX TY TZ RX RY RZ");
        }
        file->root_order[file->root_orders++] = found;
    }
    return POISE_OK;
}

static poise_status parse_root(asf *file)
{
    pz_word word;
    while (next_word(file, &word)) {
        double p[3];
        poise_status status = POISE_OK;
        if (pz_word_is_like(word, "order")) {
            status = parse_root_order(file);
        } else if (pz_word_is_like(word, "axis")) {
            status = parse_order(&file->scan, file->root_axis) ? POISE_OK
                                                               : fail(file, ASF_ROOT, "axis must be an order such as XYZ");
        } else if (pz_word_is_like(word, "position")) {
            if (!parse_numbers(&file->scan, 3, p)) {
                return fail(file, ASF_ROOT, "position needs three numbers");
            }
            file->root_pose.position = poise_vec3_make(p[0], p[1], p[2]);
        } else if (pz_word_is(word, ASF_AXES_COMMENT)) {
            double x[4];
            if (parse_numbers(&file->scan, 4, x)) {
                file->root_pose.rotation = (poise_quat){x[0], x[1], x[2], x[3]};
            }
        } else if (pz_word_is_like(word, "orientation")) {
            if (!parse_angles(file, 3, p)) {
                return fail(file, ASF_ROOT, "orientation needs three angles");
            }
            file->root_pose.rotation = poise_quat_from_roll_pitch_yaw(p[0], p[1], p[2]);
        } else {
            pass_over(file, word);
            continue;
        }
        if (status != POISE_OK) {
            return status;
        }
        skip_line(file);
    }
    return POISE_OK;
}

// "rx ry rz", or some of them.
static poise_status parse_dofs(asf *file, bone *b)
{
    pz_word word;
    b->dofs = 0;
    while (pz_scan_word_in_line(&file->scan, &word)) {
        bool is_turn =
            word.length == 2 && (word.text[0] | 0x20) == 'r' && (word.text[1] | 0x20) >= 'x' && (word.text[1] | 0x20) <= 'z';
        if (!is_turn) {
            return pz_input_fail(file->input, POISE_ERROR_UNSUPPORTED, file->scan.line,
                                 "bone \"%s\": only rx, ry and rz can move it", b->name);
        }
        int axis = (word.text[1] | 0x20) - 'x';
        for (int i = 0; i < b->dofs; ++i) {
            if (b->axis[i] == axis) {
                return fail(file, b->name, "a degree of freedom is listed twice");
            }
        }
        b->axis[b->dofs++] = axis;
    }
    return POISE_OK;
}

// "(-160.0 20.0)", pairs over one or more lines, as many as follow.
static poise_status parse_limits(asf *file, bone *b)
{
    for (;;) {
        pz_scan next = file->scan;
        if (!pz_scan_skip(&next) || *next.at != '(') {
            return POISE_OK;
        }
        double pair[2];
        file->scan = next;
        file->scan.at += 1;
        for (int i = 0; i < 2; ++i) {
            while (file->scan.at < file->scan.end && (*file->scan.at == ' ' || *file->scan.at == '\t')) {
                ++file->scan.at;
            }
            const char *at = file->scan.at;
            file->scan.at = file->is_radians ? pz_number_read(at, file->scan.end, &pair[i])
                                             : pz_number_read_scaled(at, file->scan.end, PZ_RADIANS_PER_DEGREE, &pair[i]);
            if (file->scan.at == at || pair[i] != pair[i]) {
                return fail(file, b->name, "limits are pairs of numbers in brackets");
            }
        }
        if (!pz_scan_skip(&file->scan) || *file->scan.at != ')') {
            return fail(file, b->name, "a pair of limits lacks its )");
        }
        file->scan.at += 1;
        if (b->limits < 3) {
            b->lower[b->limits] = pair[0];
            b->upper[b->limits] = pair[1];
            b->limits += 1;
        }
    }
}

// One statement of a bone.
static poise_status parse_bone_statement(asf *file, pz_word word, bone *b)
{
    poise_status status = POISE_OK;
    if (pz_word_is_like(word, "name")) {
        pz_word name;
        if (!pz_scan_word_in_line(&file->scan, &name) || memchr(name.text, '\0', name.length)) {
            return fail(file, "", "name needs a word");
        }
        b->name = pz_pool_copy(&file->input->pool, name.text, name.length);
        status = b->name ? POISE_OK : pz_input_no_memory(file->input);
    } else if (pz_word_is_like(word, "direction")) {
        status =
            parse_numbers(&file->scan, 3, b->direction) ? POISE_OK : fail(file, b->name, "direction needs three numbers");
    } else if (pz_word_is_like(word, "length")) {
        status = parse_number(&file->scan, &b->length) ? POISE_OK : fail(file, b->name, "length needs a number");
    } else if (pz_word_is_like(word, "axis")) {
        bool is_right = parse_angles(file, 3, b->angle) && parse_order(&file->scan, b->order);
        status = is_right ? POISE_OK : fail(file, b->name, "axis needs three angles and an order such as XYZ");
    } else if (pz_word_is(word, ASF_AXES_COMMENT)) {
        double x[4];
        b->has_axes = parse_numbers(&file->scan, 4, x);
        b->axes = b->has_axes ? (poise_quat){x[0], x[1], x[2], x[3]} : b->axes;
    } else if (pz_word_is_like(word, "dof")) {
        status = parse_dofs(file, b);
    } else if (pz_word_is_like(word, "limits")) {
        return parse_limits(file, b);
    } else if (!pz_word_is_like(word, "id")) {
        pass_over(file, word);
        return POISE_OK;
    }
    if (status == POISE_OK) {
        skip_line(file);
    }
    return status;
}

static poise_status parse_bone(asf *file, int line)
{
    bone b = {.name = "", .line = line, .order = {0, 1, 2}, .parent = -1, .first_child = -1, .last_child = -1, .next = -1};
    pz_word word;
    while (next_word(file, &word)) {
        if (!pz_word_is_like(word, "end")) {
            poise_status status = parse_bone_statement(file, word, &b);
            if (status != POISE_OK) {
                return status;
            }
            continue;
        }
        skip_line(file);
        if (b.name[0] == '\0') {
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, b.line, "a bone without a name");
        }
        if (b.limits > 0 && b.limits != b.dofs) {
            pz_input_warn(file->input, b.line, "bone \"%s\": %d pairs of limits for %d degrees of freedom", b.name, b.limits,
                          b.dofs);
        }
        bone *bones = pz_pool_grow(&file->input->pool, file->bones, file->count, &file->capacity, sizeof *bones);
        if (!bones) {
            return pz_input_no_memory(file->input);
        }
        file->bones = bones;
        bones[file->count++] = b;
        return POISE_OK;
    }
    return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "bone \"%s\": end is missing", b.name);
}

static poise_status parse_bones(asf *file)
{
    pz_word word;
    while (next_word(file, &word)) {
        if (!pz_word_is_like(word, "begin")) {
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "bonedata: expected begin");
        }
        int line = file->scan.line;
        skip_line(file);
        poise_status status = parse_bone(file, line);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

// ---- ASF: the hierarchy --------------------------------------------------------------------------------------------------

static const char *bone_name(const void *owner, int position)
{
    return ((const asf *)owner)->bones[position].name;
}

static poise_status index_bones(asf *file, pz_names *names)
{
    if (!pz_pool_names(&file->input->pool, file->count, names)) {
        return pz_input_no_memory(file->input);
    }
    for (size_t i = 0; i < file->count; ++i) {
        if (pz_names_find(names, file->bones[i].name, bone_name, file) >= 0) {
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->bones[i].line,
                                 "bone \"%s\": the name is already used", file->bones[i].name);
        }
        pz_names_add(names, file->bones[i].name, (int)i);
    }
    return POISE_OK;
}

static poise_status find_bone(asf *file, const pz_names *names, pz_word word, int *found)
{
    char *name = pz_pool_copy(&file->input->pool, word.text, word.length);
    if (!name) {
        return pz_input_no_memory(file->input);
    }
    *found = pz_names_find(names, name, bone_name, file);
    return *found >= 0
               ? POISE_OK
               : pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "hierarchy: there is no bone \"%s\"", name);
}

// "parent child child ..."
static poise_status parse_hierarchy_line(asf *file, const pz_names *names, pz_word word)
{
    int parent = -1, child = -1;
    poise_status status = find_bone(file, names, word, &parent);
    while (status == POISE_OK && pz_scan_word_in_line(&file->scan, &word)) {
        status = find_bone(file, names, word, &child);
        if (status != POISE_OK) {
            return status;
        }
        bone *b = &file->bones[child], *p = &file->bones[parent];
        if (child == 0 || b->parent >= 0) {
            return fail(file, b->name, child == 0 ? "has no parent" : "has two parents");
        }
        b->parent = parent;
        *(p->last_child >= 0 ? &file->bones[p->last_child].next : &p->first_child) = child;
        p->last_child = child;
    }
    return status;
}

static poise_status parse_hierarchy(asf *file)
{
    pz_names names;
    poise_status status = index_bones(file, &names);
    pz_word word;
    while (status == POISE_OK && next_word(file, &word)) {
        pz_scan rest = file->scan;
        pz_word child;
        bool is_bracket = pz_word_is_like(word, "begin") || pz_word_is_like(word, "end");
        if (!is_bracket || pz_scan_word_in_line(&rest, &child)) {
            status = parse_hierarchy_line(file, &names, word);
        }
    }
    file->has_hierarchy = true;
    return status;
}

static poise_status parse_name(asf *file)
{
    pz_word word;
    if (pz_scan_word_in_line(&file->scan, &word) && !memchr(word.text, '\0', word.length)) {
        file->input->file->title = pz_pool_copy(&file->input->pool, word.text, word.length);
    }
    skip_line(file);
    return POISE_OK;
}

// ---- ASF: the model ------------------------------------------------------------------------------------------------------

static const char *tip_name(pz_pool *pool, const char *of)
{
    size_t length = strlen(of);
    char *name = pz_pool_take(pool, length + 5, 1);
    if (name) {
        memcpy(name, of, length);
        memcpy(name + length, ".tip", 5);
    }
    return name;
}

static poise_vec3 tip_of(const bone *b)
{
    return poise_vec3_make(b->direction[0] * b->length, b->direction[1] * b->length, b->direction[2] * b->length);
}

// The order of Rc Rb Ra, axes given innermost first.
static poise_euler_order outermost_first(const int axis[3])
{
    poise_euler_order order = POISE_EULER_XYZ;
    pz_euler_find((const int[]){axis[2], axis[1], axis[0]}, &order);
    return order;
}

static poise_vec3 turned(poise_quat C, int axis)
{
    return poise_quat_rotate(C, poise_vec3_make(axis == 0, axis == 1, axis == 2));
}

static void set_limits(asf *file, const bone *b, poise_joint *joint)
{
    for (int i = 0; i < b->dofs && i < b->limits; ++i) {
        if (b->lower[i] > b->upper[i]) {
            pz_input_warn(file->input, b->line, "bone \"%s\": lower limit %g above upper limit %g, left out", b->name,
                          b->lower[i], b->upper[i]);
            continue;
        }
        joint->lower[b->dofs - 1 - i] = b->lower[i];
        joint->upper[b->dofs - 1 - i] = b->upper[i];
    }
}

static poise_joint joint_of(asf *file, const bone *b)
{
    const bone *parent = &file->bones[b->parent];
    poise_joint joint = poise_joint_default();
    joint.name = b->name;
    joint.parent = parent->name;
    poise_vec3 end = b->parent == 0 ? poise_vec3_make(0, 0, 0) : tip_of(parent);
    joint.offset = (poise_pose){{0, 0, 0, 1}, {end.x, end.y, end.z}};
    joint.axes = b->has_axes ? b->axes : axes_of(b->order, b->angle);
    if (b->dofs == 1) {
        joint.type = POISE_JOINT_REVOLUTE;
        joint.axis = turned(joint.axes, b->axis[0]);
    } else if (b->dofs == 2) {
        joint.type = POISE_JOINT_UNIVERSAL;
        joint.axis = turned(joint.axes, b->axis[1]);
        joint.axis2 = turned(joint.axes, b->axis[0]);
    } else if (b->dofs == 3) {
        joint.type = POISE_JOINT_BALL_EULER;
        joint.order = outermost_first(b->axis);
    }
    set_limits(file, b, &joint);
    return joint;
}

// Positions first, X Y Z, then turns as `axis` orders them: then an AMC can be read with the model alone.
static poise_status root_joint(asf *file, poise_joint *joint)
{
    const int *order = file->root_order;
    bool is_usual = file->root_orders == 6;
    for (int i = 0; i < 3 && is_usual; ++i) {
        is_usual = order[i] == i && order[3 + i] == 3 + file->root_axis[i];
    }
    if (!is_usual) {
        return pz_input_fail(file->input, POISE_ERROR_UNSUPPORTED, file->bones[0].line,
                             "root: order must be TX TY TZ followed by the rotations in the order of its axis");
    }
    *joint = poise_joint_default();
    joint->name = ASF_ROOT;
    joint->type = POISE_JOINT_FREE_EULER;
    joint->offset = file->root_pose;
    joint->order = outermost_first(file->root_axis);
    return POISE_OK;
}

static poise_status add_bone(asf *file, poise_builder *builder, int index)
{
    const bone *b = &file->bones[index];
    poise_joint joint;
    poise_status status = POISE_OK;
    if (index == 0) {
        status = root_joint(file, &joint);
    } else {
        joint = joint_of(file, b);
    }
    if (status == POISE_OK) {
        status = poise_builder_add_joint(builder, &joint, file->input->error);
    }
    if (status == POISE_OK && index > 0) {
        poise_vec3 end = tip_of(b);
        poise_tool tip = {.name = tip_name(&file->input->pool, b->name),
                          .body = b->name,
                          .pose = (poise_pose){{0, 0, 0, 1}, {end.x, end.y, end.z}}};
        status = tip.name ? poise_builder_add_tool(builder, &tip, file->input->error) : pz_input_no_memory(file->input);
    }
    if (status != POISE_OK && file->input->error && status != POISE_ERROR_MEMORY) {
        file->input->error->line = b->line;
    }
    return status;
}

// Depth-first, the children of a bone as the hierarchy lists them.
static poise_status build(asf *file)
{
    poise_builder *builder;
    if (poise_builder_create(file->input->allocator, &builder, NULL) != POISE_OK) {
        return pz_input_no_memory(file->input);
    }
    poise_status status = POISE_OK;
    size_t added = 0;
    int at = 0;
    while (at >= 0 && status == POISE_OK) {
        status = add_bone(file, builder, at);
        added += 1;
        if (file->bones[at].first_child >= 0) {
            at = file->bones[at].first_child;
            continue;
        }
        while (at > 0 && file->bones[at].next < 0) {
            at = file->bones[at].parent;
        }
        at = at > 0 ? file->bones[at].next : -1;
    }
    if (status == POISE_OK && added < file->count) {
        pz_input_warn(file->input, 0, "%d bones are not connected to the root and are left out", (int)(file->count - added));
    }
    if (status == POISE_OK) {
        status = poise_model_create(builder, file->input->allocator, &file->input->file->model, file->input->error);
    }
    poise_builder_destroy(builder);
    return status;
}

static poise_status parse_section(asf *file, pz_word word)
{
    if (pz_word_is_like(word, ":units")) {
        return parse_units(file);
    }
    if (pz_word_is_like(word, ":root")) {
        file->bones[0].line = file->scan.line;
        return parse_root(file);
    }
    if (pz_word_is_like(word, ":bonedata")) {
        return parse_bones(file);
    }
    if (pz_word_is_like(word, ":hierarchy")) {
        return parse_hierarchy(file);
    }
    if (pz_word_is_like(word, ":name")) {
        return parse_name(file);
    }
    if (!pz_word_is_like(word, ":version") && !pz_word_is_like(word, ":documentation")) {
        pass_over(file, word);
    }
    return POISE_OK;
}

static poise_status read_asf(pz_input *input)
{
    asf file = {.input = input,
                .scan = pz_scan_over(input->bytes, input->size),
                .passed_over.what = "words are ignored",
                .root_pose = poise_pose_identity(),
                .root_axis = {0, 1, 2},
                .root_order = {0, 1, 2, 3, 4, 5},
                .root_orders = 6};
    file.bones = pz_pool_grow(&input->pool, NULL, 0, &file.capacity, sizeof *file.bones);
    if (!file.bones) {
        return pz_input_no_memory(input);
    }
    file.bones[file.count++] =
        (bone){.name = ASF_ROOT, .order = {0, 1, 2}, .parent = -1, .first_child = -1, .last_child = -1, .next = -1};
    pz_word word;
    while (pz_scan_word(&file.scan, &word)) {
        if (word.text[0] != ':') { // a comment, or the text of a section that holds no statements
            skip_line(&file);
            continue;
        }
        poise_status status = file.has_hierarchy && pz_word_is_like(word, ":bonedata")
                                  ? fail(&file, ASF_ROOT, "bonedata must come before the hierarchy")
                                  : parse_section(&file, word);
        if (status != POISE_OK) {
            return status;
        }
    }
    if (!file.has_hierarchy) {
        return pz_input_fail(input, POISE_ERROR_FORMAT, file.scan.line, "an ASF needs a section :hierarchy");
    }
    pz_causes_close(input, &file.passed_over, 1);
    input->file->scale.metres = file.length_unit > 0 ? 0.0254 / file.length_unit : 0.0; // 1 / length inches
    return build(&file);
}

// ---- ASF: writing --------------------------------------------------------------------------------------------------------
//
// An ASF has one root, free in space, and bones that begin where their parent ends and turn about axes given in the world's
// frame at rest. So a model's rest rotations go into the bones' axes, and a body whose children do not all begin at one
// point is written as a bone of no length, with a bone "<child>.base" that does not move to each child.
//
// The format does not say which axis points up, and programs take it to be y: the root turns what has another.

typedef struct asf_writing {
    const poise_model *model;
    pz_output *output;
    pz_pool pool;
    poise_quat *rest; // by body: its rotation in the world at rest
    pz_tips tips;
    poise_vec3 *end; // by body: of the bone, in the world's axes
    bool *has_base;  // by joint: a bone leads to it
    int root;        // the joint that is the file's root; -1: none is
} asf_writing;

static bool is_identity(poise_quat r)
{
    return r.x == 0 && r.y == 0 && r.z == 0;
}

static poise_vec3 turned_by(poise_quat r, poise_vec3 v)
{
    return is_identity(r) ? v : poise_quat_rotate(r, v); // the same bits where nothing turns
}

static bool same_point(poise_vec3 a, poise_vec3 b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

// ---- ASF: what ends where ------------------------------------------------------------------------------------------------

// Where the joint begins, from its parent's origin, in the world's axes at rest.
static poise_vec3 start_of(const asf_writing *w, int joint)
{
    int parent = poise_model_joint_info(w->model, joint).parent;
    poise_vec3 p = poise_model_joint_info(w->model, joint).given->offset.position;
    return parent < 0 ? p : turned_by(w->rest[parent], p);
}

// The end of a body's bone: its tip, or where its children begin; nowhere but at its origin if these differ.
static void place_end(asf_writing *w, int body)
{
    const poise_model *model = w->model;
    int last = body + poise_model_joint_info(model, body).subtree, tip = w->tips.first[body];
    poise_vec3 zero = poise_vec3_make(0, 0, 0);
    poise_vec3 end = tip >= 0          ? turned_by(w->rest[body], poise_model_tool_info(model, tip).pose.position)
                     : body + 1 < last ? start_of(w, body + 1)
                                       : zero;
    end = body == w->root ? zero : end;
    bool agree = true;
    for (int child = body + 1; child < last; child += poise_model_joint_info(model, child).subtree) {
        agree = agree && same_point(start_of(w, child), end);
    }
    w->end[body] = agree ? end : zero;
    for (int child = body + 1; child < last; child += poise_model_joint_info(model, child).subtree) {
        w->has_base[child] = !same_point(start_of(w, child), w->end[body]);
    }
    if (!agree && tip >= 0 && body != w->root) {
        pz_output_warn(w->output, "body \"%s\": its tip is left out because its children begin elsewhere",
                       poise_model_joint_info(model, body).body);
    }
}

static poise_status plan(asf_writing *w)
{
    size_t joints = (size_t)poise_model_info(w->model).joints;
    w->rest = pz_pool_take(&w->pool, joints, sizeof *w->rest);
    w->end = pz_pool_take(&w->pool, joints, sizeof *w->end);
    w->has_base = pz_pool_take(&w->pool, joints, sizeof *w->has_base);
    if (!w->rest || !w->end || !w->has_base || !pz_tips_find(&w->pool, w->model, &w->tips)) {
        return pz_error_set(w->output->error, POISE_ERROR_MEMORY, "out of memory");
    }
    w->root = root_of(w->model);
    for (int j = 0; j < (int)joints; ++j) {
        poise_joint joint = *poise_model_joint_info(w->model, j).given;
        int parent = poise_model_joint_info(w->model, j).parent;
        poise_quat own = j == w->root ? poise_pose_identity().rotation : joint.offset.rotation;
        w->rest[j] = parent < 0 ? own : is_identity(own) ? w->rest[parent] : poise_quat_multiply(w->rest[parent], own);
        w->has_base[j] = parent < 0 && j != w->root && !same_point(joint.offset.position, poise_vec3_make(0, 0, 0));
        asf_columns columns;
        bool is_bone = joint.type != POISE_JOINT_TRANSLATION && joint.type != POISE_JOINT_FREE_EULER;
        bool turns_back = joint.type == POISE_JOINT_BALL_EULER && !has_three_axes(joint.order); // about its first axis
        if (!columns_of(w->model, j, &columns) || joint.mimic || turns_back || (j != w->root && !is_bone)) {
            return pz_error_set(w->output->error, POISE_ERROR_UNSUPPORTED,
                                "joint \"%s\": an ASF has only bones that turn about up to three axes, no %s joints",
                                joint.name, joint.mimic ? "mimic" : poise_joint_type_name(joint.type));
        }
    }
    for (int j = 0; j < (int)joints; ++j) {
        place_end(w, j);
    }
    return POISE_OK;
}

// ---- ASF: numbers that read back -----------------------------------------------------------------------------------------

// The double next to x with k digits after the point.
static double cut(double x, int k)
{
    double power = 1.0;
    for (int i = 0; i < k; ++i) {
        power *= 10.0;
    }
    double scaled = x * power;
    if (fabs(scaled) > 4e15) {
        return x;
    }
    return (double)(long long)(scaled + (scaled < 0 ? -0.5 : 0.5)) / power;
}

static bool is_minus(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 != 0;
}

// A length and a direction of norm 1 whose products are the very bits of `end`. For a given length a coordinate has no such
// factor in up to half of all cases; lengths next to the norm differ by less than anybody can measure, and one of them fits.
static bool split_end(poise_vec3 end, double direction[3], double *length)
{
    const double e[3] = {end.x, end.y, end.z};
    double largest = fabs(e[0]) > fabs(e[1]) ? fabs(e[0]) : fabs(e[1]);
    largest = largest > fabs(e[2]) ? largest : fabs(e[2]);
    *length = 0.0;
    if (largest == 0) { // zeros keep their sign
        direction[0] = end.x;
        direction[1] = end.y;
        direction[2] = is_minus(end.z) ? -1.0 : 1.0;
        return true;
    }
    double norm = largest * sqrt((e[0] / largest) * (e[0] / largest) + (e[1] / largest) * (e[1] / largest) +
                                 (e[2] / largest) * (e[2] / largest));
    for (int step = 0; step < 400; ++step) {
        int units = (step + 1) / 2;
        *length = norm * (1.0 + (step % 2 ? -1.0 : 1.0) * units * 2.220446049250313e-16);
        bool fits = true;
        for (int i = 0; i < 3 && fits; ++i) {
            double d = e[i] / *length;
            fits = false;
            for (int k = -1; k <= 1 && !fits; ++k) {
                direction[i] = d * (1.0 + k * 2.220446049250313e-16);
                fits = direction[i] * *length == e[i];
            }
        }
        if (fits) {
            return true;
        }
    }
    return false;
}

// The angles of C = Rz Ry Rx, in radians.
static void angles_of(poise_quat C, double angle[3])
{
    double R[9];
    poise_quat_to_matrix(C, R);
    double cos_y = sqrt(R[0] * R[0] + R[3] * R[3]);
    angle[1] = poise_atan2(-R[6], cos_y);
    if (cos_y > 1e-9) { // below, the sines are rounding errors
        angle[0] = poise_atan2(R[7], R[8]);
        angle[2] = poise_atan2(R[3], R[0]);
    } else {
        angle[0] = poise_atan2(-R[5], R[4]);
        angle[2] = 0.0;
    }
}

// Degrees with the fewest digits after the point that give back every bit of C; false: none do.
static bool short_degrees(poise_quat C, double degrees[3])
{
    double angle[3];
    angles_of(C, angle);
    for (int k = 0; k <= 14; ++k) {
        double radians[3];
        for (int i = 0; i < 3; ++i) {
            degrees[i] = cut(angle[i] / PZ_RADIANS_PER_DEGREE, k);
            radians[i] = degrees[i] * PZ_RADIANS_PER_DEGREE;
        }
        poise_quat again = poise_quat_from_roll_pitch_yaw(radians[0], radians[1], radians[2]); // as the reader has it
        if (memcmp(&again, &C, sizeof C) == 0) {
            return true;
        }
    }
    return false;
}

// ---- ASF: the text -------------------------------------------------------------------------------------------------------

static void write_numbers(pz_output *output, const double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        pz_put(output, " ");
        pz_put_number(output, numbers[i]);
    }
}

static void write_vector(asf_writing *w, poise_vec3 end)
{
    double direction[3], length;
    if (!split_end(end, direction, &length)) { // tiny numbers: as they are
        direction[0] = end.x;
        direction[1] = end.y;
        direction[2] = end.z;
        length = 1.0;
    }
    pz_put(w->output, "     direction");
    write_numbers(w->output, direction, 3);
    pz_put(w->output, "\n     length");
    write_numbers(w->output, &length, 1);
    pz_put(w->output, "\n");
}

static void begin_bone(asf_writing *w, int id, const char *name, const char *suffix)
{
    pz_put(w->output, "  begin\n     id ");
    pz_put_integer(w->output, id);
    pz_put(w->output, "\n     name ");
    write_bone_name(w->output, name);
    pz_put(w->output, suffix);
    pz_put(w->output, "\n");
}

static void write_axes_comment(asf_writing *w, poise_quat C)
{
    const double x[4] = {C.x, C.y, C.z, C.w};
    pz_put(w->output, "     " ASF_AXES_COMMENT);
    write_numbers(w->output, x, 4);
    pz_put(w->output, "\n");
}

static void write_axes(asf_writing *w, poise_quat C)
{
    double degrees[3];
    bool is_exact = short_degrees(C, degrees);
    pz_put(w->output, "     axis");
    write_numbers(w->output, degrees, 3);
    pz_put(w->output, " XYZ\n");
    if (!is_exact) {
        write_axes_comment(w, C);
    }
}

// The frame C and the axes 0, 1, 2 in it, outermost first. A joint with axes of its own that its `axes` do not name gets a
// frame in which these are x, or z and x.
static poise_quat frame_of(const asf_writing *w, int index, const poise_joint *joint, int axis[3])
{
    poise_quat rest = w->rest[index], C = joint->axes;
    int count = joint->type == POISE_JOINT_UNIVERSAL ? 2 : joint->type == POISE_JOINT_REVOLUTE ? 1 : 0;
    const poise_vec3 own[2] = {joint->axis, joint->axis2};
    for (int i = 0; i < 3 && joint->type == POISE_JOINT_BALL_EULER; ++i) {
        axis[i] = pz_euler_name((int)joint->order)[i] - 'x';
    }
    bool is_named = true;
    for (int i = 0; i < count; ++i) {
        axis[i] = -1;
        for (int k = 0; k < 3; ++k) {
            poise_vec3 e = poise_quat_rotate(C, poise_vec3_make(k == 0, k == 1, k == 2));
            axis[i] = same_point(e, own[i]) ? k : axis[i];
        }
        is_named = is_named && axis[i] >= 0;
    }
    if (!is_named) {
        poise_vec3 z = own[0], x = own[1];
        if (count == 1) { // any direction across
            bool is_x = fabs(z.x) < 0.5;
            poise_vec3 e = poise_vec3_make(is_x, !is_x, 0);
            double d = e.x * z.x + e.y * z.y;
            x = poise_vec3_make(e.x - d * z.x, e.y - d * z.y, -d * z.z);
            double n = sqrt(x.x * x.x + x.y * x.y + x.z * x.z);
            x = poise_vec3_make(x.x / n, x.y / n, x.z / n);
        }
        poise_vec3 y = poise_vec3_make(z.y * x.z - z.z * x.y, z.z * x.x - z.x * x.z, z.x * x.y - z.y * x.x);
        const double matrix[9] = {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
        C = poise_quat_from_matrix(matrix);
        axis[0] = 2;
        axis[1] = 0;
    }
    return is_identity(rest) ? C : poise_quat_multiply(rest, C);
}

static void write_limits(asf_writing *w, const poise_joint *joint, int count)
{
    bool has_limits = false;
    for (int i = 0; i < count; ++i) {
        has_limits = has_limits || joint->lower[i] - joint->lower[i] == 0 || joint->upper[i] - joint->upper[i] == 0;
    }
    for (int i = count - 1; i >= 0 && has_limits; --i) {
        pz_put(w->output, i == count - 1 ? "     limits (" : "            (");
        pz_put_degrees(w->output, joint->lower[i]);
        pz_put(w->output, " ");
        pz_put_degrees(w->output, joint->upper[i]);
        pz_put(w->output, ")\n");
    }
}

static void write_bone(asf_writing *w, int index, int *id)
{
    poise_joint joint = *poise_model_joint_info(w->model, index).given;
    if (w->has_base[index]) {
        begin_bone(w, ++*id, joint.name, ".base");
        write_vector(w, start_of(w, index));
        pz_put(w->output, "     axis 0 0 0 XYZ\n  end\n");
    }
    begin_bone(w, ++*id, joint.name, "");
    write_vector(w, w->end[index]);
    int axis[3], count;
    count = poise_model_joint_info(w->model, index).nq;
    write_axes(w, frame_of(w, index, &joint, axis));
    if (count > 0) {
        static const char *const names[] = {" rx", " ry", " rz"};
        pz_put(w->output, "     dof");
        for (int i = count - 1; i >= 0; --i) {
            pz_put(w->output, names[axis[i]]);
        }
        pz_put(w->output, "\n");
        write_limits(w, &joint, count);
    }
    pz_put(w->output, "  end\n");
}

// "     parent child child ..."
static void write_hierarchy(asf_writing *w)
{
    const poise_model *model = w->model;
    int joints = poise_model_info(model).joints;
    pz_put(w->output, ":hierarchy\n  begin\n");
    for (int body = w->root < 0 ? -1 : 0; body < joints; ++body) {
        int last = body < 0 ? joints : body + poise_model_joint_info(model, body).subtree;
        for (int child = body + 1; child < last; child += poise_model_joint_info(model, child).subtree) {
            pz_put(w->output, child == body + 1 ? "    " : " ");
            if (child == body + 1) {
                if (body == w->root) {
                    pz_put(w->output, ASF_ROOT);
                } else {
                    write_bone_name(w->output, poise_model_joint_info(model, body).name);
                }
                pz_put(w->output, " ");
            }
            write_bone_name(w->output, poise_model_joint_info(model, child).name);
            pz_put(w->output, w->has_base[child] ? ".base" : "");
        }
        pz_put(w->output, body + 1 < last ? "\n" : "");
        for (int child = body + 1; child < last; child += poise_model_joint_info(model, child).subtree) {
            if (w->has_base[child]) {
                pz_put(w->output, "    ");
                write_bone_name(w->output, poise_model_joint_info(model, child).name);
                pz_put(w->output, ".base ");
                write_bone_name(w->output, poise_model_joint_info(model, child).name);
                pz_put(w->output, "\n");
            }
        }
    }
    pz_put(w->output, "  end\n");
}

static void write_head(const poise_file *file, pz_output *output)
{
    pz_put(output, ":version 1.10\n:name ");
    pz_put_name(output, file->title && file->title[0] ? file->title : "poise", " ");
    pz_put(output, "\n:units\n  mass 1\n");
    double metres = file->scale.metres;
    if (metres > 0) {
        double length = 0.0254 / metres;
        for (int k = 0; k <= 14; ++k) { // the fewest digits that read back
            double shorter = cut(0.0254 / metres, k);
            if (shorter > 0 && 0.0254 / shorter == metres) {
                length = shorter;
                break;
            }
        }
        pz_put(output, "  length ");
        pz_put_number(output, length);
        pz_put(output, "\n");
    }
    pz_put(output, "  angle deg\n");
}

static void write_root(asf_writing *w)
{
    static const char *const orders[] = {
        [POISE_EULER_XYZ] = "RZ RY RX\n   axis ZYX", [POISE_EULER_XZY] = "RY RZ RX\n   axis YZX",
        [POISE_EULER_YXZ] = "RZ RX RY\n   axis ZXY", [POISE_EULER_YZX] = "RX RZ RY\n   axis XZY",
        [POISE_EULER_ZXY] = "RY RX RZ\n   axis YXZ", [POISE_EULER_ZYX] = "RX RY RZ\n   axis XYZ",
    };
    poise_joint root = poise_joint_default();
    root.order = POISE_EULER_ZYX;
    if (w->root >= 0) {
        root = *poise_model_joint_info(w->model, w->root).given;
    }
    const double p[3] = {root.offset.position.x, root.offset.position.y, root.offset.position.z};
    double degrees[3];
    bool is_exact = short_degrees(root.offset.rotation, degrees);
    pz_put(w->output, ":root\n   order TX TY TZ ");
    pz_put(w->output, orders[root.order]);
    pz_put(w->output, "\n   position");
    write_numbers(w->output, p, 3);
    pz_put(w->output, "\n   orientation");
    write_numbers(w->output, degrees, 3);
    pz_put(w->output, "\n");
    if (!is_exact) {
        write_axes_comment(w, root.offset.rotation);
    }
}

static poise_status write_all(asf_writing *w, const poise_file *file)
{
    poise_status status = plan(w);
    if (status != POISE_OK) {
        return status;
    }
    pz_warn_of_losses(file, w->output, "ASF", &w->tips, 0);
    if (w->root < 0) {
        pz_output_warn(w->output, "the model has no root with six free coordinates; the file gets one, \"root\", above it");
    } else if (strcmp(poise_model_joint_info(w->model, w->root).name, ASF_ROOT) != 0) {
        pz_output_warn(w->output, "joint \"%s\" is called \"root\" in the file",
                       poise_model_joint_info(w->model, w->root).name);
    }
    write_head(file, w->output);
    write_root(w);
    pz_put(w->output, ":bonedata\n");
    int id = 0;
    for (int j = w->root + 1; j < poise_model_info(w->model).joints && !w->output->failed; ++j) {
        write_bone(w, j, &id);
    }
    write_hierarchy(w);
    return POISE_OK;
}

static poise_status write_asf(const poise_file *file, pz_output *output)
{
    poise_status status = pz_check_model(file, output, "ASF");
    if (status != POISE_OK) {
        return status;
    }
    poise_model *turned_by = NULL;
    if (file->scale.up != POISE_UP_UNKNOWN && file->scale.up != POISE_UP_Y) {
        status = pz_turn_model(file->model, file->scale.up, POISE_UP_Y, output->allocator, &turned_by, output->error);
    }
    asf_writing w = {
        .model = turned_by ? turned_by : file->model, .output = output, .pool = {.allocator = output->allocator}};
    status = status == POISE_OK ? write_all(&w, file) : status;
    pz_pool_release(&w.pool);
    poise_model_destroy(turned_by);
    return status;
}

const pz_format_row pz_asf_format = {
    .name = "asf", .extension = ".asf", .read = read_asf, .write = write_asf, .is_still = true};

// ---- AMC: reading --------------------------------------------------------------------------------------------------------

enum { UNKNOWN_BONES, BAD_VALUES, WRONG_COUNTS, MISSING_BONES, ODD_NUMBERS, CAUSES };

typedef struct amc {
    pz_input *input;
    const poise_model *model;
    pz_scan scan;
    bool is_radians, has_angle_unit;
    double frame_time;
    asf_columns *columns; // by joint
    int *next;            // by joint: the one that came after it in the frame before, a guess; [joints]: the first
    int moving;           // joints with columns
    int last;             // joint of the last line; joints: none yet in this frame
    int seen;             // moving joints of this frame
    pz_cause causes[CAUSES];
} amc;

static poise_status prepare(amc *file)
{
    int joints = poise_model_info(file->model).joints;
    file->columns = pz_pool_take(&file->input->pool, (size_t)joints, sizeof *file->columns);
    file->next = pz_pool_take(&file->input->pool, (size_t)joints + 1, sizeof *file->next);
    if (!file->columns || !file->next) {
        return pz_input_no_memory(file->input);
    }
    for (int j = 0; j < joints; ++j) {
        if (!columns_of(file->model, j, &file->columns[j])) {
            return pz_input_fail(file->input, POISE_ERROR_UNSUPPORTED, 0,
                                 "joint \"%s\" of the model: an AMC has no %s joints; read the model from its ASF",
                                 poise_model_joint_info(file->model, j).name,
                                 poise_joint_type_name(poise_model_joint_info(file->model, j).type));
        }
        file->moving += file->columns[j].positions + file->columns[j].angles > 0 ? 1 : 0;
        file->next[j] = j + 1 < joints ? j + 1 : 0;
    }
    file->next[joints] = 0;
    file->last = joints;
    return POISE_OK;
}

static void parse_comment(amc *file, pz_word word)
{
    double seconds;
    pz_word value;
    if (pz_word_is(word, AMC_TIME_COMMENT) && pz_scan_word_in_line(&file->scan, &value) && pz_word_number(value, &seconds) &&
        seconds > 0) {
        file->frame_time = seconds;
    }
}

// Comments and lines with a colon, up to the first frame.
static void parse_header(amc *file)
{
    for (;;) {
        pz_scan before = file->scan;
        pz_word word, rest;
        if (!pz_scan_word(&file->scan, &word) || (word.text[0] != '#' && word.text[0] != ':')) {
            file->scan = before;
            return;
        }
        if (word.text[0] == '#') {
            parse_comment(file, word);
        } else if (pz_word_is_like(word, ":degrees") || pz_word_is_like(word, ":radians")) {
            file->has_angle_unit = true;
            file->is_radians = pz_word_is_like(word, ":radians");
        } else if (!pz_word_is_like(word, ":fully-specified")) {
            pz_input_warn(file->input, file->scan.line, "unknown line with a colon, ignored");
        }
        pz_scan_line(&file->scan, &rest);
    }
}

// The joint with this name: mostly the one that followed the last joint in the frame before. -1: none.
static int joint_called(amc *file, pz_word word)
{
    int guess = file->next[file->last];
    if (pz_word_is(word, poise_model_joint_info(file->model, guess).name)) {
        file->last = guess;
        return guess;
    }
    char name[256];
    if (word.length >= sizeof name) {
        return -1;
    }
    memcpy(name, word.text, word.length);
    name[word.length] = '\0';
    int found = strlen(name) == word.length ? poise_model_find_joint(file->model, name) : -1;
    found = found < 0 && strcmp(name, ASF_ROOT) == 0 ? root_of(file->model) : found; // whatever it is called there
    if (found >= 0) {
        file->next[file->last] = found;
        file->last = found;
    }
    return found;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\n' || c == '\r';
}

// The next value of a line into *value, if it is there and a finite number. False at the end of the line.
static bool parse_value(amc *file, bool is_angle, double *value)
{
    const char *at = file->scan.at, *end = file->scan.end;
    while (at < end && (*at == ' ' || *at == '\t')) {
        ++at;
    }
    double read;
    const char *after = is_angle && !file->is_radians ? pz_number_read_scaled(at, end, PZ_RADIANS_PER_DEGREE, &read)
                                                      : pz_number_read(at, end, &read);
    if (after > at && (after == end || is_blank(*after)) && read - read == 0.0) {
        file->scan.at = after;
        *value = read;
        return true;
    }
    pz_word word;
    bool is_there = pz_scan_word_in_line(&file->scan, &word);
    if (is_there && pz_is_among_first(&file->causes[BAD_VALUES])) {
        pz_input_warn(file->input, file->scan.line,
                      "a value that is not a finite number; the value of the previous frame is kept");
    }
    return is_there;
}

// The values of a joint; value i of n angles is coordinate n - 1 - i.
static void parse_values(amc *file, int joint, double *q)
{
    asf_columns columns = file->columns[joint];
    int expected = columns.positions + columns.angles, count = 0;
    while (count < expected) {
        int angle = count - columns.positions;
        int coordinate = angle < 0 ? count : columns.positions + columns.angles - 1 - angle;
        if (!parse_value(file, angle >= 0, &q[columns.first + coordinate])) {
            break;
        }
        ++count;
    }
    pz_word rest;
    bool is_more = pz_scan_word_in_line(&file->scan, &rest);
    if ((count < expected || is_more) && pz_is_among_first(&file->causes[WRONG_COUNTS])) {
        pz_input_warn(file->input, file->scan.line, "bone \"%s\": %s than %d values",
                      poise_model_joint_info(file->model, joint).name, is_more ? "more" : "fewer", expected);
    }
    file->seen += expected > 0 && count > 0 ? 1 : 0;
}

// Is the rest of a line nothing but zeros? So a root stands that only the file has.
static bool stands_still(amc *file)
{
    double value = 0.0;
    while (value == 0.0 && parse_value(file, false, &value)) {
    }
    return value == 0.0;
}

// The lines of a frame after its number, into q.
static void parse_frame(amc *file, double *q)
{
    int joints = poise_model_info(file->model).joints;
    file->last = joints;
    file->seen = 0;
    for (;;) {
        pz_scan before = file->scan;
        pz_word word, rest;
        if (!pz_scan_word(&file->scan, &word)) {
            return;
        }
        if (is_digit(word.text[0])) {
            file->scan = before;
            return;
        }
        int joint = word.text[0] == '#' ? -1 : joint_called(file, word);
        if (joint >= 0) {
            parse_values(file, joint, q);
        } else if (word.text[0] != '#' && !(pz_word_is(word, ASF_ROOT) && stands_still(file)) &&
                   pz_is_among_first(&file->causes[UNKNOWN_BONES])) {
            pz_input_warn(file->input, file->scan.line, "a bone that is not in the model, ignored");
        }
        pz_scan_line(&file->scan, &rest);
    }
}

// Lines that begin with a digit: as many as there are frames, but no more than the text has room for when half of the bones
// of each frame are there.
static int frames_at_most(const amc *file)
{
    size_t count = 0;
    pz_scan scan = file->scan;
    pz_word line;
    while (pz_scan_line(&scan, &line)) {
        size_t i = 0;
        while (i < line.length && (line.text[i] == ' ' || line.text[i] == '\t')) {
            ++i;
        }
        count += i < line.length && is_digit(line.text[i]) ? 1 : 0;
    }
    size_t room = (size_t)(scan.end - file->scan.at) / (size_t)(file->moving > 0 ? file->moving : 1) + 1;
    size_t most = count < room ? count : room;
    return most < INT32_MAX ? (int)most : INT32_MAX;
}

static void warn_of_frame(amc *file, int line, int number, int expected)
{
    if (number != expected && pz_is_among_first(&file->causes[ODD_NUMBERS])) {
        pz_input_warn(file->input, line, "frame %d found where frame %d was expected", number, expected);
    }
    if (file->seen < file->moving && pz_is_among_first(&file->causes[MISSING_BONES])) {
        pz_input_warn(file->input, line, "frame %d: %d bones are missing; %s", number, file->moving - file->seen,
                      2 * file->seen < file->moving ? "left out" : "they keep the values of the previous frame");
    }
}

static poise_status parse_frames(amc *file, poise_clip *clip, int *frames)
{
    size_t nq = (size_t)clip->nq;
    int number = 0, expected = 0;
    pz_word word, rest;
    while (*frames < clip->frames && pz_scan_word(&file->scan, &word)) {
        int line = file->scan.line;
        if (word.text[0] == '#') {
            pz_scan_line(&file->scan, &rest);
            continue;
        }
        if (!pz_word_integer(word, &number)) {
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, line, "expected the number of a frame");
        }
        if (expected == 0) {
            clip->start_time = (number - 1) * clip->frame_time;
            expected = number;
        }
        double *q = clip->q + (size_t)*frames * nq;
        if (*frames > 0) {
            memcpy(q, q - nq, nq * sizeof *q);
        }
        parse_frame(file, q);
        warn_of_frame(file, line, number, expected);
        expected = number < INT32_MAX ? number + 1 : number;
        *frames += 2 * file->seen >= file->moving ? 1 : 0;
    }
    return POISE_OK;
}

static poise_status read_clip(amc *file)
{
    int most = frames_at_most(file), frames = 0;
    poise_clip *clip;
    if (poise_clip_create(most, poise_model_info(file->model).nq, file->frame_time, file->input->allocator, &clip, NULL) !=
        POISE_OK) {
        return pz_input_no_memory(file->input);
    }
    file->input->file->clip = clip;
    poise_status status = parse_frames(file, clip, &frames);
    return status == POISE_OK ? pz_input_keep_clip(file->input, clip, frames) : status;
}

static poise_status read_amc(pz_input *input)
{
    amc file = {.input = input,
                .model = input->options->model,
                .scan = pz_scan_over(input->bytes, input->size),
                .causes = {[UNKNOWN_BONES].what = "lines of bones that are not in the model",
                           [BAD_VALUES].what = "values that are not finite numbers",
                           [WRONG_COUNTS].what = "bones with a wrong number of values",
                           [MISSING_BONES].what = "frames with bones missing",
                           [ODD_NUMBERS].what = "frames with an odd number"}};
    if (!file.model) {
        return pz_input_fail(input, POISE_ERROR_ARGUMENT, 0, "an AMC needs the skeleton of its ASF: give it as model");
    }
    if (poise_model_info(file.model).joints == 0) {
        return pz_input_fail(input, POISE_ERROR_ARGUMENT, 0, "the model has no joints");
    }
    poise_status status = prepare(&file);
    if (status != POISE_OK) {
        return status;
    }
    parse_header(&file);
    if (!file.has_angle_unit) {
        pz_input_warn(input, 0, "neither :DEGREES nor :RADIANS; degrees assumed");
    }
    if (file.frame_time == 0) {
        pz_input_warn(input, 0, "an AMC does not give its frame rate; 120 frames per second assumed");
        file.frame_time = AMC_FRAME_TIME;
    }
    status = read_clip(&file);
    if (status == POISE_OK) {
        pz_causes_close(input, file.causes, CAUSES);
        if (input->file->clip->frames == 0) {
            status = pz_input_fail(input, POISE_ERROR_FORMAT, file.scan.line, "no frames");
        }
    }
    return status;
}

// ---- AMC: writing --------------------------------------------------------------------------------------------------------

static void write_frame(const poise_model *model, const double *q, pz_output *output)
{
    int joints = poise_model_info(model).joints, root = root_of(model);
    if (root < 0) {
        pz_put(output, ASF_ROOT " 0 0 0 0 0 0\n"); // the one that an ASF of this model gets
    }
    for (int j = 0; j < joints; ++j) {
        asf_columns columns;
        columns_of(model, j, &columns);
        if (columns.positions + columns.angles == 0) {
            continue;
        }
        if (j == root) {
            pz_put(output, ASF_ROOT);
        } else {
            write_bone_name(output, poise_model_joint_info(model, j).name);
        }
        for (int i = 0; i < columns.positions; ++i) {
            pz_put(output, " ");
            pz_put_number(output, q[columns.first + i]);
        }
        for (int i = columns.angles - 1; i >= 0; --i) {
            pz_put(output, " ");
            pz_put_degrees(output, q[columns.first + columns.positions + i]);
        }
        pz_put(output, "\n");
    }
}

static poise_status write_amc(const poise_file *file, pz_output *output)
{
    poise_status status = pz_check_model(file, output, "AMC");
    if (status != POISE_OK) {
        return status;
    }
    const poise_clip *clip = file->clip;
    if (!clip) {
        return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "AMC: there is no clip to write");
    }
    for (int j = 0; status == POISE_OK && j < poise_model_info(file->model).joints; ++j) {
        asf_columns columns;
        if (!columns_of(file->model, j, &columns)) {
            status = pz_error_set(output->error, POISE_ERROR_UNSUPPORTED, "joint \"%s\": an AMC has no %s joints",
                                  poise_model_joint_info(file->model, j).name,
                                  poise_joint_type_name(poise_model_joint_info(file->model, j).type));
        }
    }
    if (status != POISE_OK) {
        return status;
    }
    pz_put(output, AMC_TIME_COMMENT " ");
    pz_put_number(output, clip->frame_time);
    pz_put(output, "\n:FULLY-SPECIFIED\n:DEGREES\n");
    double first = clip->start_time / clip->frame_time;
    long long number = first > 0 && first < 1e9 ? (long long)(first + 0.5) + 1 : 1;
    for (int f = 0; f < clip->frames && !output->failed; ++f) {
        status = pz_check_finite(output, clip, f);
        if (status != POISE_OK) {
            return status;
        }
        pz_put_integer(output, number + f);
        pz_put(output, "\n");
        write_frame(file->model, clip->q + (size_t)f * (size_t)clip->nq, output);
    }
    return POISE_OK;
}

const pz_format_row pz_amc_format = {.name = "amc", .extension = ".amc", .read = read_amc, .write = write_amc};
