// The model: from a builder's descriptions to the packed constant block, in depth-first order, and what can be asked of it.
#include "model/model.h"
#include "base/cpu.h"
#include "base/error.h"
#include "num/rotation.h"

#include <float.h>
#include <string.h>

// ---- The order of the joints ---------------------------------------------------------------------------------------------

// Scratch for ordering n joints, all arrays of n: entry means position in the builder, joint position in the model.
typedef struct joint_order {
    int *parent;       // by entry: the parent's entry, or POISE_WORLD
    int *mimic;        // by entry: the entry followed, or POISE_WORLD
    int *first_child;  // by entry; links of the tree in the order of addition
    int *next_sibling; // by entry
    int *entry;        // by joint
    int *joint;        // by entry
} joint_order;

static void order_lay_out(joint_order *order, size_t n, pz_arena *arena)
{
    order->parent = pz_arena_take(arena, n, sizeof(int));
    order->mimic = pz_arena_take(arena, n, sizeof(int));
    order->first_child = pz_arena_take(arena, n, sizeof(int));
    order->next_sibling = pz_arena_take(arena, n, sizeof(int));
    order->entry = pz_arena_take(arena, n, sizeof(int));
    order->joint = pz_arena_take(arena, n, sizeof(int));
}

static const char *text_at(const poise_builder *builder, size_t text)
{
    return builder->text + text;
}

// Names of bodies by position, for pz_names.
static const char *body_name_at(const void *model, int position)
{
    return ((const poise_model *)model)->given[position].body;
}

static poise_status resolve_parents(const poise_builder *builder, joint_order *order, poise_error *error)
{
    for (int e = 0; e < builder->joint_count; ++e) {
        const pz_joint_entry *entry = &builder->joints[e];
        order->parent[e] = POISE_WORLD;
        if (entry->parent == PZ_NO_TEXT) {
            continue;
        }
        const char *parent = text_at(builder, entry->parent);
        order->parent[e] = pz_names_find(&builder->body_names, parent, pz_builder_body_name_at, builder);
        if (order->parent[e] < 0) {
            return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": there is no body \"%s\" to be its parent",
                                text_at(builder, entry->name), parent);
        }
    }
    return POISE_OK;
}

// Follow each mimic to a joint with a coordinate of its own. A walk longer than the list is a cycle.
static poise_status resolve_mimics(const poise_builder *builder, joint_order *order, poise_error *error)
{
    for (int e = 0; e < builder->joint_count; ++e) {
        const pz_joint_entry *entry = &builder->joints[e];
        const char *name = text_at(builder, entry->name);
        order->mimic[e] = POISE_WORLD;
        if (entry->mimic == PZ_NO_TEXT) {
            continue;
        }
        const char *leader = text_at(builder, entry->mimic);
        int f = pz_names_find(&builder->joint_names, leader, pz_builder_joint_name_at, builder);
        if (f < 0) {
            return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": there is no joint \"%s\" to mimic", name, leader);
        }
        poise_joint_type type = builder->joints[f].joint.type;
        if (type != POISE_JOINT_REVOLUTE && type != POISE_JOINT_PRISMATIC && type != POISE_JOINT_CURVE) {
            return pz_error_set(error, POISE_ERROR_MODEL,
                                "joint \"%s\": it can mimic a revolute, prismatic or curve joint, not \"%s\"", name, leader);
        }
        if (builder->joints[f].mimic != PZ_NO_TEXT) {
            return pz_error_set(error, POISE_ERROR_MODEL,
                                "joint \"%s\": \"%s\" is itself a mimic joint; name the joint it follows", name, leader);
        }
        order->mimic[e] = f;
    }
    return POISE_OK;
}

// Lists of children, built backwards so that they come out in the order of addition. Returns the first root; roots are
// linked as siblings.
static int link_children(const poise_builder *builder, joint_order *order)
{
    int first_root = -1;
    for (int e = 0; e < builder->joint_count; ++e) {
        order->first_child[e] = -1;
        order->joint[e] = -1;
    }
    for (int e = builder->joint_count - 1; e >= 0; --e) {
        int *head = order->parent[e] == POISE_WORLD ? &first_root : &order->first_child[order->parent[e]];
        order->next_sibling[e] = *head;
        *head = e;
    }
    return first_root;
}

// Depth-first numbering without recursion: down to the first child, else to the next sibling of the nearest one that has
// any.
static int number_joints(joint_order *order, int first_root)
{
    int count = 0;
    int e = first_root;
    while (e >= 0) {
        order->joint[e] = count;
        order->entry[count] = e;
        count += 1;
        if (order->first_child[e] >= 0) {
            e = order->first_child[e];
            continue;
        }
        while (e >= 0 && order->next_sibling[e] < 0) {
            e = order->parent[e];
        }
        e = e >= 0 ? order->next_sibling[e] : -1;
    }
    return count;
}

// Name one cycle: from any joint that no root reaches, n steps towards the root must end on it.
static poise_status report_cycle(const poise_builder *builder, const joint_order *order, poise_error *error)
{
    int e = 0;
    while (order->joint[e] >= 0) {
        e += 1;
    }
    for (int step = 0; step < builder->joint_count; ++step) {
        e = order->parent[e];
    }
    return pz_error_set(error, POISE_ERROR_MODEL,
                        "joint \"%s\": its parents form a cycle through \"%s\"; one of them must be attached to the world",
                        text_at(builder, builder->joints[e].name), text_at(builder, builder->joints[order->parent[e]].body));
}

// Resolve the names of parents and mimics, and number the joints depth first, children in the order of addition. Fails on an
// unknown name, on a cycle, and on a mimic that does not end at a joint of one degree of freedom.
static poise_status order_find(const poise_builder *builder, joint_order *order, poise_error *error)
{
    poise_status status = resolve_parents(builder, order, error);
    if (status == POISE_OK) {
        status = resolve_mimics(builder, order, error);
    }
    if (status != POISE_OK) {
        return status;
    }
    int count = number_joints(order, link_children(builder, order));
    return count == builder->joint_count ? POISE_OK : report_cycle(builder, order, error);
}

// ---- Sizes and layout ----------------------------------------------------------------------------------------------------

typedef struct counts {
    size_t joints, steps, axes, turns, slides, curves, numbers, nq, nv, tools, text;
} counts;

// The steps of a joint; one that follows by a function is a curve, whatever its type.
static int steps_of(const poise_joint *joint, pz_step_kind steps[PZ_MAX_STEPS])
{
    int count = pz_joint_steps(joint->type, joint->order, steps);
    steps[0] = joint->mimic_function ? PZ_CURVE : steps[0];
    return count;
}

// Numbers of the functions of a joint, as given and packed. Beside those there are two of a linear function: of a mimic's
// multiplier and offset, or of a turn or slide that follows by a function.
static size_t numbers_of(const poise_joint *joint)
{
    size_t count = pz_functions_size(joint) / sizeof(double) + 2 + 2;
    for (int i = 0; joint->curve && i < 6; ++i) {
        count += pz_function_room(&joint->curve->value[i]);
    }
    return count + (joint->mimic_function ? pz_function_room(joint->mimic_function) : 0);
}

static counts count_all(const poise_builder *builder)
{
    counts n = {.joints = (size_t)builder->joint_count, .tools = (size_t)builder->tool_count, .text = builder->text_size};
    for (int e = 0; e < builder->joint_count; ++e) {
        const pz_joint_entry *entry = &builder->joints[e];
        pz_step_kind steps[PZ_MAX_STEPS];
        int step_count = steps_of(&entry->joint, steps);
        bool own = entry->mimic == PZ_NO_TEXT;
        if (step_count == 1 && steps[0] == PZ_CURVE) {
            n.curves += 1;
            n.numbers += numbers_of(&entry->joint);
        }
        for (int s = 0; s < step_count; ++s) {
            n.axes += (size_t)pz_step_nv(steps[s]);
            n.turns += pz_step_is_turn(steps[s]);
            n.slides += pz_step_is_slide(steps[s]);
            n.nq += own ? (size_t)pz_step_nq(steps[s]) : 0;
            n.nv += own ? (size_t)pz_step_nv(steps[s]) : 0;
        }
        n.steps += (size_t)step_count;
    }
    return n;
}

static void model_lay_out(poise_model *model, const counts *n, pz_arena *arena)
{
    model->joints = pz_arena_take(arena, n->joints, sizeof *model->joints);
    model->steps = pz_arena_take(arena, n->steps, sizeof *model->steps);
    model->axes = pz_arena_take(arena, n->axes, sizeof *model->axes);
    model->packed_row = pz_arena_take(arena, n->axes + 1, sizeof *model->packed_row);
    model->dof_axis = pz_arena_take(arena, n->nv, sizeof *model->dof_axis);
    model->value_q = pz_arena_take(arena, n->turns + n->slides, sizeof *model->value_q);
    model->value_factor = pz_arena_take(arena, n->turns + n->slides, sizeof *model->value_factor);
    model->value_offset = pz_arena_take(arena, n->turns + n->slides, sizeof *model->value_offset);
    model->curves = pz_arena_take(arena, n->curves, sizeof *model->curves);
    model->numbers = pz_arena_take(arena, n->numbers, sizeof *model->numbers);
    model->lower = pz_arena_take(arena, n->nq, sizeof *model->lower);
    model->upper = pz_arena_take(arena, n->nq, sizeof *model->upper);
    model->given = pz_arena_take(arena, n->joints, sizeof *model->given);
    model->tools = pz_arena_take(arena, n->tools, sizeof *model->tools);
    model->tool_body = pz_arena_take(arena, n->tools, sizeof *model->tool_body);
    model->text = pz_arena_take(arena, n->text, 1);
    model->joint_names.capacity = pz_names_capacity(n->joints);
    model->body_names.capacity = pz_names_capacity(n->joints);
    model->tool_names.capacity = pz_names_capacity(n->tools);
    model->joint_names.slots = pz_arena_take(arena, model->joint_names.capacity, sizeof(int32_t));
    model->body_names.slots = pz_arena_take(arena, model->body_names.capacity, sizeof(int32_t));
    model->tool_names.slots = pz_arena_take(arena, model->tool_names.capacity, sizeof(int32_t));
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

static bool is_identity(const mat3 *A)
{
    return A->x.x == 1 && A->x.y == 0 && A->x.z == 0 && A->y.x == 0 && A->y.y == 1 && A->y.z == 0 && A->z.x == 0 &&
           A->z.y == 0 && A->z.z == 1;
}

// 0, 1 or 2 when a is exactly x, y or z, else -1.
static int coordinate_axis(vec3 a)
{
    return a.x == 1 ? 0 : a.y == 1 ? 1 : a.z == 1 ? 2 : -1;
}

// A rotation whose z is the unit vector a; exact for a = -z.
static mat3 frame_about(vec3 a)
{
    vec3 e = fabs(a.x) <= fabs(a.y) ? v3(1, 0, 0) : v3(0, 1, 0); // far from a
    vec3 y = v3_normalize(v3_cross(a, e));
    return (mat3){v3_cross(y, a), y, a};
}

// The frame A that lines a joint's axes up with x, y and z, and the steps in it. Axes that are x, y or z already need none.
static mat3 line_up(const poise_joint *joint, pz_step_kind *steps)
{
    int first = coordinate_axis(joint->axis);
    if (joint->mimic_function && joint->type != POISE_JOINT_CURVE) {
        return m3_identity(); // a curve about any axis
    }
    if (joint->type == POISE_JOINT_REVOLUTE || joint->type == POISE_JOINT_PRISMATIC) {
        if (first < 0) {
            return frame_about(joint->axis);
        }
        steps[0] = (pz_step_kind)((joint->type == POISE_JOINT_REVOLUTE ? PZ_TURN_X : PZ_SLIDE_X) + first);
        return m3_identity();
    }
    if (joint->type == POISE_JOINT_UNIVERSAL) {
        int second = coordinate_axis(joint->axis2);
        if (first < 0 || second < 0) {
            vec3 z = v3_normalize(v3_cross(joint->axis, joint->axis2));
            return (mat3){joint->axis, v3_cross(z, joint->axis), z};
        }
        steps[0] = (pz_step_kind)(PZ_TURN_X + first);
        steps[1] = (pz_step_kind)(PZ_TURN_X + second);
        return m3_identity();
    }
    return quat_matrix(joint->axes);
}

static void place(poise_model *model, pz_joint *joint, const poise_joint *given, const mat3 *A)
{
    mat3 offset = quat_matrix(given->offset.rotation);
    mat3 turn = m3_mul(&offset, A);
    joint->t = given->offset.position;
    joint->C = turn;
    if (joint->parent != POISE_WORLD) {
        const mat3 *B = &model->joints[joint->parent].B;
        joint->C = m3_mul(B, &turn);
        joint->t = m3_apply(B, given->offset.position);
    }
    joint->B = m3_transpose(A);
    joint->C_is_identity = is_identity(&joint->C);
    joint->B_is_identity = is_identity(&joint->B);
    joint->mass = given->mass;
    joint->mass_center = m3_apply(&joint->B, given->mass_center);
}

// ---- Curves --------------------------------------------------------------------------------------------------------------

// a q + b; `numbers` moves on.
static pz_function linear_function(double a, double b, double **numbers)
{
    double *c = *numbers;
    c[0] = a, c[1] = b;
    *numbers += 2;
    return (pz_function){.count = 2, .c = c};
}

static pz_function packed_function(const poise_function *f, double **numbers)
{
    pz_function packed = pz_function_pack(f, *numbers);
    *numbers += pz_function_room(f);
    return packed;
}

// The functions of joint k: copied for queries and packed for the sweep, all behind *numbers, which moves on.
static void add_curve(poise_model *model, int k, double **numbers)
{
    poise_joint *given = &model->given[k];
    pz_curve *curve = &model->curves[model->curve_count++];
    size_t size = pz_functions_size(given);
    if (size > 0) {
        pz_functions_copy(given, *numbers);
        *numbers += size / sizeof **numbers;
    }
    *curve = (pz_curve){.inner = {.count = 0}};
    for (int i = 0; given->curve && i < 6; ++i) {
        curve->axis[i] = given->curve->axis[i];
        curve->value[i] = packed_function(&given->curve->value[i], numbers);
    }
    if (!given->curve) { // a turn or slide that follows by a function
        int i = given->type == POISE_JOINT_REVOLUTE ? 0 : 3;
        curve->axis[i] = given->axis;
        curve->value[i] = linear_function(1.0, 0.0, numbers);
    }
    if (given->mimic_function) {
        curve->inner = packed_function(given->mimic_function, numbers);
    } else if (given->mimic) {
        curve->inner = linear_function(given->mimic_multiplier, given->mimic_offset, numbers);
    }
}

// ---- Joints --------------------------------------------------------------------------------------------------------------

static void add_axes(poise_model *model, pz_joint *joint, int k, const pz_step *step)
{
    bool own = joint->mimic == POISE_WORLD;
    for (int i = 0; i < pz_step_nv(step->kind); ++i) {
        int a = model->axis_count++;
        int parent = joint->last_axis;
        model->axes[a] = (pz_axis){.parent = parent,
                                   .depth = parent < 0 ? 1 : model->axes[parent].depth + 1,
                                   .joint = k,
                                   .dof = own ? model->nv : -1,
                                   .factor = own || step->kind == PZ_CURVE ? 1.0 : model->given[k].mimic_multiplier};
        if (own) {
            model->dof_axis[model->nv++] = a;
        }
        joint->last_axis = a;
    }
}

static void add_steps(poise_model *model, int k, const pz_step_kind *kinds, int count)
{
    pz_joint *joint = &model->joints[k];
    const poise_joint *given = &model->given[k];
    bool own = joint->mimic == POISE_WORLD;
    int coordinate = 0;
    for (int s = 0; s < count; ++s) {
        pz_step *step = &model->steps[model->step_count++];
        *step = (pz_step){
            .kind = kinds[s], .q = own ? model->nq : -1, .axis = model->axis_count, .value = -1, .block = -1, .own = own};
        if (pz_step_is_block(kinds[s])) {
            step->block = model->block_count++;
            step->value = kinds[s] == PZ_CURVE ? model->curve_count - 1 : -1;
        } else {
            step->value = pz_step_is_turn(kinds[s]) ? model->turn_count++ : model->value_count++;
            model->value_q[step->value] = step->q;
            model->value_factor[step->value] = own ? 1.0 : given->mimic_multiplier;
            model->value_offset[step->value] = own ? 0.0 : given->mimic_offset;
        }
        add_axes(model, joint, k, step);
        for (int i = 0; own && i < pz_step_nq(kinds[s]); ++i, ++coordinate) {
            model->lower[model->nq] = given->lower[coordinate];
            model->upper[model->nq] = given->upper[coordinate];
            model->nq += 1;
        }
    }
}

static const char *moved_text(const poise_model *model, size_t text)
{
    return text == PZ_NO_TEXT ? NULL : model->text + text;
}

static void add_joint(poise_model *model, const poise_builder *builder, const joint_order *order, int k, double **numbers)
{
    int e = order->entry[k];
    const pz_joint_entry *entry = &builder->joints[e];
    poise_joint *given = &model->given[k];
    *given = entry->joint;
    given->name = moved_text(model, entry->name);
    given->body = moved_text(model, entry->body);
    given->parent = moved_text(model, entry->parent);
    given->mimic = moved_text(model, entry->mimic);

    pz_joint *joint = &model->joints[k];
    *joint = (pz_joint){.parent = order->parent[e] == POISE_WORLD ? POISE_WORLD : order->joint[order->parent[e]],
                        .subtree = 1,
                        .mimic = order->mimic[e] == POISE_WORLD ? POISE_WORLD : order->joint[order->mimic[e]]};
    bool is_below = joint->parent != POISE_WORLD && model->joints[joint->parent].below_mimic;
    joint->below_mimic = joint->mimic != POISE_WORLD || is_below;
    joint->last_axis = joint->parent == POISE_WORLD ? -1 : model->joints[joint->parent].last_axis;
    joint->step_begin = model->step_count;
    joint->axis_begin = model->axis_count;
    joint->q_begin = model->nq;
    joint->v_begin = model->nv;

    pz_step_kind kinds[PZ_MAX_STEPS];
    int count = steps_of(given, kinds);
    mat3 A = line_up(given, kinds);
    if (count == 1 && kinds[0] == PZ_CURVE) {
        add_curve(model, k, numbers);
    }
    place(model, joint, given, &A);
    add_steps(model, k, kinds, count);
    for (int s = 0; s < count; ++s) {
        joint->slide_count += pz_step_is_slide(kinds[s]);
    }

    joint->step_end = model->step_count;
    joint->axis_end = model->axis_count;
    joint->q_end = model->nq;
    joint->v_end = model->nv;
    model->total_mass += joint->mass;
    pz_names_add(&model->joint_names, given->name, k);
    pz_names_add(&model->body_names, given->body, k);
}

static void add_joints(poise_model *model, const poise_builder *builder, const joint_order *order)
{
    double *numbers = model->numbers;
    for (int k = 0; k < builder->joint_count; ++k) {
        add_joint(model, builder, order, k, &numbers);
        model->joint_count += 1;
    }
    for (int k = model->joint_count - 1; k >= 0; --k) {
        if (model->joints[k].parent != POISE_WORLD) {
            model->joints[model->joints[k].parent].subtree += model->joints[k].subtree;
        }
    }
    model->packed_row[0] = 0;
    for (int a = 0; a < model->axis_count; ++a) {
        model->packed_row[a + 1] = model->packed_row[a] + (size_t)model->axes[a].depth;
    }
}

// ---- Size ----------------------------------------------------------------------------------------------------------------

#define SMALLEST (1.0 / 64.0) // models of at least this size, and of less than 1024 times as much, count in units of 1

// The power of 1024 that suits a length; 1 where there is none.
static double unit_of(double length)
{
    double unit = 1.0;
    while (is_finite(length) && length >= 1024.0 * SMALLEST * unit) {
        unit *= 1024.0;
    }
    while (length > 0 && length < SMALLEST * unit) {
        unit /= 1024.0;
    }
    return unit;
}

// The way from a root along links to a body and on to its mass. Half the ranges of slides on the way count where that is
// short.
static double length_of(const poise_model *model, int body)
{
    double links = v3_norm(model->joints[body].mass_center), ranges = 0.0;
    for (int k = body; k != POISE_WORLD; k = model->joints[k].parent) {
        const pz_joint *joint = &model->joints[k];
        links += joint->parent == POISE_WORLD ? 0.0 : v3_norm(joint->t);
        for (int i = 0; i < joint->slide_count && joint->q_begin + i < joint->q_end; ++i) {
            double range = 0.5 * (model->upper[joint->q_begin + i] - model->lower[joint->q_begin + i]);
            ranges += is_finite(range) ? range : 0.0;
        }
    }
    return max2(links, pz_counted_ranges(links, ranges));
}

static void find_unit(poise_model *model)
{
    double longest = 0.0;
    for (int k = 0; k < model->joint_count; ++k) {
        if (model->joints[k].subtree == 1) {
            longest = max2(longest, length_of(model, k));
        }
    }
    model->unit = unit_of(longest);
}

// ---- Mimics and tools ----------------------------------------------------------------------------------------------------

// A limit of the leader, (limit - c)/m rounded, may miss the mimic's own by a few units; move it inwards until m q + c, as
// the forward sweep rounds it, lies within. Steps double, for where the sum with c is coarser than q.
static double moved_inwards(const poise_joint *given, double q, double inwards)
{
    double step = PZ_EPSILON * fabs(q) + DBL_MIN;
    for (; is_finite(q); step *= 2.0) {
        double value = given->mimic_multiplier * q + given->mimic_offset;
        if (given->lower[0] <= value && value <= given->upper[0]) {
            break;
        }
        q += inwards * step;
    }
    return q;
}

// A mimic narrows the limits of the joint it follows: lower <= m q + c <= upper.
static poise_status narrow(poise_model *model, int k, poise_error *error)
{
    const poise_joint *given = &model->given[k];
    double m = given->mimic_multiplier, c = given->mimic_offset;
    int q = model->joints[model->joints[k].mimic].q_begin;
    const char *leader = model->given[model->joints[k].mimic].name;
    if (m == 0) {
        return given->lower[0] <= c && c <= given->upper[0]
                   ? POISE_OK
                   : pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": mimic offset %g lies outside its limits",
                                  given->name, c);
    }
    double from = (given->lower[0] - c) / m, to = (given->upper[0] - c) / m;
    model->lower[q] = max2(model->lower[q], moved_inwards(given, m > 0 ? from : to, 1.0));
    model->upper[q] = min2(model->upper[q], moved_inwards(given, m > 0 ? to : from, -1.0));
    bool has_number = model->lower[q] < INFINITY && model->upper[q] > -INFINITY; // a tiny multiplier may overflow
    if (!(model->lower[q] <= model->upper[q] && has_number)) {
        return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": no position of \"%s\" meets the limits of both",
                            given->name, leader);
    }
    return POISE_OK;
}

static poise_status tie_mimics(poise_model *model, poise_error *error)
{
    for (int k = 0; k < model->joint_count; ++k) {
        const pz_joint *joint = &model->joints[k];
        if (joint->mimic == POISE_WORLD) {
            continue;
        }
        const pz_joint *leader = &model->joints[joint->mimic];
        model->has_mimic = true;
        model->axes[joint->axis_begin].dof = leader->v_begin;
        pz_step *step = &model->steps[joint->step_begin];
        step->q = leader->q_begin;
        if (step->kind != PZ_CURVE) {
            model->value_q[step->value] = leader->q_begin;
        }
        poise_status status = model->given[k].mimic_function ? POISE_OK : narrow(model, k, error);
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

static poise_status add_tools(poise_model *model, const poise_builder *builder, poise_error *error)
{
    for (int i = 0; i < builder->tool_count; ++i) {
        const pz_tool_entry *entry = &builder->tools[i];
        poise_tool *tool = &model->tools[i];
        *tool = entry->tool;
        tool->name = moved_text(model, entry->name);
        tool->body = moved_text(model, entry->body);
        model->tool_body[i] = pz_names_find(&model->body_names, tool->body, body_name_at, model);
        if (model->tool_body[i] < 0) {
            return pz_error_set(error, POISE_ERROR_MODEL, "tool \"%s\": there is no body \"%s\" to carry it", tool->name,
                                tool->body);
        }
        pz_names_add(&model->tool_names, tool->name, i);
        model->tool_count += 1;
    }
    return POISE_OK;
}

// ---- Create --------------------------------------------------------------------------------------------------------------

static poise_status fill(poise_model *model, const poise_builder *builder, const joint_order *order, size_t turns,
                         poise_error *error)
{
    if (builder->text_size > 0) {
        memcpy(model->text, builder->text, builder->text_size);
    }
    memset(model->joint_names.slots, 0, model->joint_names.capacity * sizeof(int32_t));
    memset(model->body_names.slots, 0, model->body_names.capacity * sizeof(int32_t));
    memset(model->tool_names.slots, 0, model->tool_names.capacity * sizeof(int32_t));
    model->value_count = (int)turns; // slides are numbered from here on
    add_joints(model, builder, order);
    find_unit(model);
    poise_status status = tie_mimics(model, error);
    return status == POISE_OK ? add_tools(model, builder, error) : status;
}

static poise_status create_in_order(const poise_builder *builder, const joint_order *order, const poise_allocator *allocator,
                                    poise_model **model, poise_error *error)
{
    counts n = count_all(builder);
    poise_model blank = {0};
    pz_arena arena = pz_arena_counting();
    pz_arena_take(&arena, 1, sizeof blank);
    model_lay_out(&blank, &n, &arena);
    size_t size = pz_arena_bytes(&arena);
    void *memory = size ? pz_allocate(allocator, size) : NULL;
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for a model of %d joints", builder->joint_count);
    }
    // the struct comes first, where release finds it
    poise_model *m = memory;
    arena = pz_arena_over((unsigned char *)memory + sizeof *m, size - sizeof *m);
    *m = (poise_model){.has_allocator = allocator != NULL, .is_wide = pz_cpu_is_wide()};
    if (allocator) {
        m->allocator = *allocator;
    }
    model_lay_out(m, &n, &arena);
    poise_status status = fill(m, builder, order, n.turns, error);
    if (status != POISE_OK) {
        pz_release(allocator, m);
        return status;
    }
    *model = m;
    return POISE_OK;
}

poise_status poise_model_create(const poise_builder *builder, const poise_allocator *allocator, poise_model **model,
                                poise_error *error)
{
    if (!builder || !model) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "builder and model must not be NULL");
    }
    if (builder->joint_count == 0) {
        return pz_error_set(error, POISE_ERROR_MODEL, "a model needs at least one joint");
    }
    joint_order order;
    pz_arena arena = pz_arena_counting();
    order_lay_out(&order, (size_t)builder->joint_count, &arena);
    size_t size = pz_arena_bytes(&arena);
    void *scratch = size ? pz_allocate(allocator, size) : NULL;
    if (!scratch) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for a model of %d joints", builder->joint_count);
    }
    arena = pz_arena_over(scratch, size);
    order_lay_out(&order, (size_t)builder->joint_count, &arena);
    poise_status status = order_find(builder, &order, error);
    if (status == POISE_OK) {
        status = create_in_order(builder, &order, allocator, model, error);
    }
    pz_release(allocator, scratch);
    return status;
}

void poise_model_destroy(poise_model *model)
{
    if (model) {
        poise_allocator allocator = model->allocator;
        pz_release(model->has_allocator ? &allocator : NULL, model);
    }
}

static void limits_lay_out(poise_model *m, pz_arena *arena)
{
    m->lower = pz_arena_take(arena, (size_t)m->nq, sizeof *m->lower);
    m->upper = pz_arena_take(arena, (size_t)m->nq, sizeof *m->upper);
    m->given = pz_arena_take(arena, (size_t)m->joint_count, sizeof *m->given);
}

poise_status poise_model_with_limits(const poise_model *model, const double *lower, const double *upper, const double *swing,
                                     const poise_allocator *allocator, poise_model **limited, poise_error *error)
{
    if (!model || !lower || !upper || !limited) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, lower, upper and limited must not be NULL");
    }
    for (int i = 0; i < model->nq; ++i) {
        if (!(lower[i] <= upper[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "lower[%d] is %g: it must not be above upper[%d], %g", i,
                                lower[i], i, upper[i]);
        }
    }
    poise_model same = *model;
    pz_arena arena = pz_arena_counting();
    pz_arena_take(&arena, 1, sizeof same);
    limits_lay_out(&same, &arena);
    size_t size = pz_arena_bytes(&arena);
    poise_model *made = size ? pz_allocate(allocator, size) : NULL; // the struct comes first, where release finds it
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: limits need %g bytes", (double)size);
    }
    arena = pz_arena_over((unsigned char *)made + sizeof *made, size - sizeof *made);
    *made = *model;
    limits_lay_out(made, &arena);
    made->has_allocator = allocator != NULL;
    if (allocator) {
        made->allocator = *allocator;
    }
    memcpy(made->lower, lower, (size_t)model->nq * sizeof *lower);
    memcpy(made->upper, upper, (size_t)model->nq * sizeof *upper);
    memcpy(made->given, model->given, (size_t)model->joint_count * sizeof *made->given);
    for (int k = 0; swing && k < model->joint_count; ++k) {
        bool has_ellipse = model->given[k].type == POISE_JOINT_SWING_TWIST && is_finite(model->given[k].swing[0]);
        for (int i = 0; has_ellipse && i < 2; ++i) {
            made->given[k].swing[i] = swing[2 * k + i];
        }
    }
    *limited = made;
    return POISE_OK;
}

// ---- Why a configuration is refused --------------------------------------------------------------------------------------

// The joint that coordinate i belongs to.
static const char *joint_of(const poise_model *model, int i)
{
    int k = 0;
    while (k + 1 < model->joint_count && i >= model->joints[k].q_end) {
        ++k;
    }
    return model->given[k].name;
}

poise_status pz_refuse_q(const poise_model *model, const double *q, const char *name, poise_error *error)
{
    if (!q) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s must not be NULL", name);
    }
    for (int i = 0; i < model->nq; ++i) {
        if (!is_finite(q[i])) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s[%d], of joint \"%s\", is %g: it must be finite", name, i,
                                joint_of(model, i), q[i]);
        }
    }
    for (int s = 0; s < model->step_count; ++s) {
        const double *c = q + model->steps[s].q;
        if (model->steps[s].kind == PZ_QUATERNION && c[0] == 0 && c[1] == 0 && c[2] == 0 && c[3] == 0) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT,
                                "%s: the quaternion of joint \"%s\" is zero: set it to 0 0 0 1 for no rotation", name,
                                joint_of(model, model->steps[s].q));
        }
    }
    return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s is not a configuration of this model", name);
}

poise_status poise_model_check(const poise_model *model, const double *q, const char *name, poise_error *error)
{
    if (!model || !name) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and name must not be NULL");
    }
    return q && pz_model_accepts(model, q) ? POISE_OK : pz_refuse_q(model, q, name, error);
}

#define LISTED 128 // characters of names in an error

static bool has_joint(const poise_model *model, int joint)
{
    return model && joint >= 0 && joint < model->joint_count;
}

static bool has_tool(const poise_model *model, int tool)
{
    return model && tool >= 0 && tool < model->tool_count;
}

// ---- Counts and names ----------------------------------------------------------------------------------------------------

poise_model_summary poise_model_info(const poise_model *model)
{
    poise_model_summary none = {0, 0, 0, 0, NULL, NULL};
    if (!model) {
        return none;
    }
    poise_model_summary info = {model->joint_count, model->tool_count, model->nq, model->nv, model->lower, model->upper};
    return info;
}

// Names by position, for pz_names.
static const char *joint_name_at(const void *model, int position)
{
    return ((const poise_model *)model)->given[position].name;
}

static const char *tool_name_at(const void *model, int position)
{
    return ((const poise_model *)model)->tools[position].name;
}

static int find(const pz_names *names, const char *name, pz_name_at at, const poise_model *model)
{
    int found = name ? pz_names_find(names, name, at, model) : -1;
    return found >= 0 ? found : POISE_NONE;
}

int poise_model_find_joint(const poise_model *model, const char *name)
{
    return model ? find(&model->joint_names, name, joint_name_at, model) : POISE_NONE;
}

int poise_model_find_body(const poise_model *model, const char *name)
{
    return model ? find(&model->body_names, name, body_name_at, model) : POISE_NONE;
}

int poise_model_find_tool(const poise_model *model, const char *name)
{
    return model ? find(&model->tool_names, name, tool_name_at, model) : POISE_NONE;
}

// Bodies first, then tools, then joints.
static const char *part_name(const void *user, int index)
{
    const poise_model *model = (const poise_model *)user;
    int tool = index - model->joint_count, joint = tool - model->tool_count;
    return tool < 0 ? model->given[index].body : joint < 0 ? model->tools[tool].name : model->given[joint].name;
}

// Add text to what is in `list`, of which *used characters are taken; what does not fit is left out.
static void add_text(char list[LISTED], int *used, const char *text)
{
    while (*text && *used < LISTED - 1) {
        list[(*used)++] = *text++;
    }
    list[*used] = '\0';
}

// Names of tools, then bodies, until the list is full.
static void list_parts(const poise_model *model, char list[LISTED])
{
    const int enough = LISTED - 64;
    int count = model->tool_count + model->joint_count, used = 0;
    list[0] = '\0';
    for (int i = 0; i < count; ++i) {
        add_text(list, &used, i > 0 ? ", " : "");
        if (used > enough) {
            add_text(list, &used, "...");
            return;
        }
        add_text(list, &used, part_name(model, (i + model->joint_count) % count));
    }
}

int poise_model_find_part(const poise_model *model, const char *name, poise_pose *local, poise_error *error)
{
    if (!model || !name) {
        pz_error_set(error, POISE_ERROR_ARGUMENT, "model and name must not be NULL");
        return POISE_NONE;
    }
    int body = poise_model_find_body(model, name), tool = -1;
    body = body < 0 ? poise_model_find_joint(model, name) : body;
    if (body < 0) {
        tool = poise_model_find_tool(model, name);
        body = tool < 0 ? -1 : poise_model_tool_info(model, tool).body;
    }
    if (body < 0) {
        const char *near = poise_nearest_name(name, part_name, model, 2 * model->joint_count + model->tool_count);
        char others[LISTED];
        list_parts(model, others);
        pz_error_set(error, POISE_ERROR_NOT_FOUND, "no body, joint or tool is called \"%s\"; %s%s%s", name,
                     near ? "did you mean \"" : "there are ", near ? near : others, near ? "\"?" : "");
        return POISE_NONE;
    }
    if (local) {
        *local = tool < 0 ? poise_pose_identity() : model->tools[tool].pose;
    }
    return body;
}

// ---- Joints and tools ----------------------------------------------------------------------------------------------------

poise_joint_info poise_model_joint_info(const poise_model *model, int joint)
{
    if (!has_joint(model, joint)) {
        return (poise_joint_info){.parent = POISE_WORLD, .mimic = POISE_NONE};
    }
    const pz_joint *j = &model->joints[joint];
    return (poise_joint_info){.name = model->given[joint].name,
                              .body = model->given[joint].body,
                              .type = model->given[joint].type,
                              .parent = j->parent,
                              .mimic = j->mimic >= 0 ? j->mimic : POISE_NONE,
                              .subtree = j->subtree,
                              .q = j->q_begin,
                              .nq = j->q_end - j->q_begin,
                              .v = j->v_begin,
                              .nv = j->v_end - j->v_begin,
                              .given = &model->given[joint]};
}

poise_tool_info poise_model_tool_info(const poise_model *model, int tool)
{
    if (!has_tool(model, tool)) {
        return (poise_tool_info){.body = POISE_NONE, .pose = {{0, 0, 0, 1}, {0, 0, 0}}};
    }
    return (poise_tool_info){
        .name = model->tools[tool].name, .body = model->tool_body[tool], .pose = model->tools[tool].pose};
}

// ---- Tree ----------------------------------------------------------------------------------------------------------------

// Depth-first order: the subtree of a joint is a run of indices.
bool pz_model_is_ancestor(const poise_model *model, int ancestor, int body)
{
    if (!has_joint(model, body)) {
        return false;
    }
    if (ancestor == POISE_WORLD) {
        return true;
    }
    return has_joint(model, ancestor) && ancestor <= body && body < ancestor + model->joints[ancestor].subtree;
}

int pz_model_path(const poise_model *model, int body, int *path, int capacity)
{
    if (!has_joint(model, body)) {
        return 0;
    }
    int length = 0;
    for (int k = body; k != POISE_WORLD; k = model->joints[k].parent) {
        length += 1;
    }
    int place = length - 1;
    for (int k = body; path && k != POISE_WORLD; k = model->joints[k].parent, --place) {
        if (place < capacity) {
            path[place] = k;
        }
    }
    return length;
}
