// ASF (Acclaim skeleton): reading. Sections begin with a colon; a line is a statement.
#include "io/acclaim/asf.h"
#include "io/skeleton.h"

#include <string.h>

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

// ---- Parts of lines ------------------------------------------------------------------------------------------------------

static bool take_number(pz_scan *scan, double *value)
{
    pz_word word;
    return pz_scan_word_in_line(scan, &word) && pz_word_number(word, value);
}

static bool take_numbers(pz_scan *scan, int count, double *value)
{
    for (int i = 0; i < count; ++i) {
        if (!take_number(scan, &value[i])) {
            return false;
        }
    }
    return true;
}

static bool take_angles(asf *file, int count, double *radians)
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
static bool take_order(pz_scan *scan, int order[3])
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

// ---- Sections ------------------------------------------------------------------------------------------------------------

static poise_status take_units(asf *file)
{
    pz_word word, value;
    while (next_word(file, &word)) {
        double number;
        if (pz_word_is_like(word, "length")) {
            if (!take_number(&file->scan, &number) || !(number > 0) || 0.0254 / number > 1e300 || 0.0254 / number < 1e-300) {
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

static poise_status take_root_order(asf *file)
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

static poise_status take_root(asf *file)
{
    pz_word word;
    while (next_word(file, &word)) {
        double p[3];
        poise_status status = POISE_OK;
        if (pz_word_is_like(word, "order")) {
            status = take_root_order(file);
        } else if (pz_word_is_like(word, "axis")) {
            status = take_order(&file->scan, file->root_axis) ? POISE_OK
                                                              : fail(file, ASF_ROOT, "axis must be an order such as XYZ");
        } else if (pz_word_is_like(word, "position")) {
            if (!take_numbers(&file->scan, 3, p)) {
                return fail(file, ASF_ROOT, "position needs three numbers");
            }
            file->root_pose.position = poise_vec3_make(p[0], p[1], p[2]);
        } else if (pz_word_is(word, ASF_AXES_COMMENT)) {
            double x[4];
            if (take_numbers(&file->scan, 4, x)) {
                file->root_pose.rotation = (poise_quat){x[0], x[1], x[2], x[3]};
            }
        } else if (pz_word_is_like(word, "orientation")) {
            if (!take_angles(file, 3, p)) {
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
static poise_status take_dofs(asf *file, bone *b)
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
static poise_status take_limits(asf *file, bone *b)
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
static poise_status take_bone_statement(asf *file, pz_word word, bone *b)
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
            take_numbers(&file->scan, 3, b->direction) ? POISE_OK : fail(file, b->name, "direction needs three numbers");
    } else if (pz_word_is_like(word, "length")) {
        status = take_number(&file->scan, &b->length) ? POISE_OK : fail(file, b->name, "length needs a number");
    } else if (pz_word_is_like(word, "axis")) {
        bool is_right = take_angles(file, 3, b->angle) && take_order(&file->scan, b->order);
        status = is_right ? POISE_OK : fail(file, b->name, "axis needs three angles and an order such as XYZ");
    } else if (pz_word_is(word, ASF_AXES_COMMENT)) {
        double x[4];
        b->has_axes = take_numbers(&file->scan, 4, x);
        b->axes = b->has_axes ? (poise_quat){x[0], x[1], x[2], x[3]} : b->axes;
    } else if (pz_word_is_like(word, "dof")) {
        status = take_dofs(file, b);
    } else if (pz_word_is_like(word, "limits")) {
        return take_limits(file, b);
    } else if (!pz_word_is_like(word, "id")) {
        pass_over(file, word);
        return POISE_OK;
    }
    if (status == POISE_OK) {
        skip_line(file);
    }
    return status;
}

static poise_status take_bone(asf *file, int line)
{
    bone b = {.name = "", .line = line, .order = {0, 1, 2}, .parent = -1, .first_child = -1, .last_child = -1, .next = -1};
    pz_word word;
    while (next_word(file, &word)) {
        if (!pz_word_is_like(word, "end")) {
            poise_status status = take_bone_statement(file, word, &b);
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

static poise_status take_bones(asf *file)
{
    pz_word word;
    while (next_word(file, &word)) {
        if (!pz_word_is_like(word, "begin")) {
            return pz_input_fail(file->input, POISE_ERROR_FORMAT, file->scan.line, "bonedata: expected begin");
        }
        int line = file->scan.line;
        skip_line(file);
        poise_status status = take_bone(file, line);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

// ---- The hierarchy -------------------------------------------------------------------------------------------------------

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
static poise_status take_hierarchy_line(asf *file, const pz_names *names, pz_word word)
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

static poise_status take_hierarchy(asf *file)
{
    pz_names names;
    poise_status status = index_bones(file, &names);
    pz_word word;
    while (status == POISE_OK && next_word(file, &word)) {
        pz_scan rest = file->scan;
        pz_word child;
        bool is_bracket = pz_word_is_like(word, "begin") || pz_word_is_like(word, "end");
        if (!is_bracket || pz_scan_word_in_line(&rest, &child)) {
            status = take_hierarchy_line(file, &names, word);
        }
    }
    file->has_hierarchy = true;
    return status;
}

static poise_status take_name(asf *file)
{
    pz_word word;
    if (pz_scan_word_in_line(&file->scan, &word) && !memchr(word.text, '\0', word.length)) {
        file->input->file->title = pz_pool_copy(&file->input->pool, word.text, word.length);
    }
    skip_line(file);
    return POISE_OK;
}

// ---- The model -----------------------------------------------------------------------------------------------------------

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

static poise_status take_section(asf *file, pz_word word)
{
    if (pz_word_is_like(word, ":units")) {
        return take_units(file);
    }
    if (pz_word_is_like(word, ":root")) {
        file->bones[0].line = file->scan.line;
        return take_root(file);
    }
    if (pz_word_is_like(word, ":bonedata")) {
        return take_bones(file);
    }
    if (pz_word_is_like(word, ":hierarchy")) {
        return take_hierarchy(file);
    }
    if (pz_word_is_like(word, ":name")) {
        return take_name(file);
    }
    if (!pz_word_is_like(word, ":version") && !pz_word_is_like(word, ":documentation")) {
        pass_over(file, word);
    }
    return POISE_OK;
}

poise_status pz_read_asf(pz_input *input)
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
                                  : take_section(&file, word);
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
