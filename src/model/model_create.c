// From a builder's descriptions to the packed constant block.
#include "base/cpu.h"
#include "base/error.h"
#include "model/order.h"
#include "num/rotation.h"

#include <float.h>
#include <string.h>

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

static void lay_out(poise_model *model, const counts *n, pz_arena *arena)
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

static void add_joint(poise_model *model, const poise_builder *builder, const pz_order *order, int k, double **numbers)
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

static void add_joints(poise_model *model, const poise_builder *builder, const pz_order *order)
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
        model->tool_body[i] = pz_names_find(&model->body_names, tool->body, pz_model_body_name_at, model);
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

static poise_status fill(poise_model *model, const poise_builder *builder, const pz_order *order, size_t turns,
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

static poise_status create_in_order(const poise_builder *builder, const pz_order *order, const poise_allocator *allocator,
                                    poise_model **model, poise_error *error)
{
    counts n = count_all(builder);
    poise_model blank = {0};
    pz_arena arena = pz_arena_counting();
    pz_arena_take(&arena, 1, sizeof blank);
    lay_out(&blank, &n, &arena);
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
    lay_out(m, &n, &arena);
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
    pz_order order;
    pz_arena arena = pz_arena_counting();
    pz_order_layout(&order, (size_t)builder->joint_count, &arena);
    size_t size = pz_arena_bytes(&arena);
    void *scratch = size ? pz_allocate(allocator, size) : NULL;
    if (!scratch) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for a model of %d joints", builder->joint_count);
    }
    arena = pz_arena_over(scratch, size);
    pz_order_layout(&order, (size_t)builder->joint_count, &arena);
    poise_status status = pz_order_find(builder, &order, error);
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
