// The Poise JSON format: collision shapes, pairs that may touch, loops.
#include "io/poise/json_poise.h"

#include <string.h>

static const char *shape_name(int kind)
{
    return poise_shape_kind_name((poise_shape_kind)kind);
}

static const char *loop_name(int kind) // those that close loops lie between the first kind and the last
{
    return poise_constraint_kind_name((poise_constraint_kind)(kind + POISE_CONSTRAINT_CONNECT));
}

#define LOOP_KINDS (POISE_CONSTRAINT_BALANCE - POISE_CONSTRAINT_CONNECT)

// A body by its name, the world where there is none.
static poise_status body_or_world(const pz_item *item, const poise_model *model, int *body)
{
    *body = POISE_WORLD;
    return item->value ? pz_json_body(item, model, body) : POISE_OK;
}

// ---- Shapes and pairs ----------------------------------------------------------------------------------------------------

static poise_status read_bits(const pz_item *object, const char *key, uint32_t *bits)
{
    pz_item item = pz_json_get(object, key);
    double value = 0;
    poise_status status = item.value ? pz_json_number(&item, &value) : POISE_OK;
    if (status == POISE_OK && !(value >= 0 && value <= (double)UINT32_MAX && value == round_down(value))) {
        return pz_json_fail(&item, POISE_ERROR_FORMAT, "%g; bits are a whole number from 0 to 4294967295", value);
    }
    *bits = status == POISE_OK ? (uint32_t)value : 0;
    return status;
}

poise_status pz_json_shape(const pz_item *item, const poise_model *model, void *entry)
{
    static const char *const known[] = {"kind", "body", "position", "rotation", "half", "radius", "groups", "against"};
    poise_shape *shape = entry;
    int kind = POISE_SHAPE_CAPSULE;
    double half[3] = {0, 0, 0};
    pz_item body = pz_json_get(item, "body");
    *shape = (poise_shape){.pose = poise_pose_identity()};
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? pz_json_choice_of(item, "kind", shape_name, POISE_SHAPE_KIND_COUNT, &kind) : status;
    status = status == POISE_OK ? body_or_world(&body, model, &shape->body) : status;
    status = status == POISE_OK ? pz_json_pose_of(item, &shape->pose) : status;
    status = status == POISE_OK ? pz_json_numbers_of(item, "half", half, 3) : status;
    status = status == POISE_OK ? pz_json_number_of(item, "radius", &shape->radius) : status;
    status = status == POISE_OK ? read_bits(item, "groups", &shape->groups) : status;
    status = status == POISE_OK ? read_bits(item, "against", &shape->against) : status;
    shape->kind = (poise_shape_kind)kind;
    shape->half = v3(half[0], half[1], half[2]);
    poise_error said = {.line = 0};
    if (status == POISE_OK && poise_shape_check(shape, model, &said) != POISE_OK) {
        return pz_json_fail_as(item, POISE_ERROR_FORMAT, &said);
    }
    if (status == POISE_OK) {
        pz_json_warn_unknown(item, known, PZ_COUNT(known));
    }
    return status;
}

poise_status pz_json_excluded(const pz_item *item, const poise_model *model, void *entry)
{
    poise_pair *pair = entry;
    pz_item a = pz_json_at(item, 0), b = pz_json_at(item, 1);
    poise_status status = pz_json_need_length(item, 2);
    status = status == POISE_OK ? body_or_world(&a, model, &pair->a) : status;
    return status == POISE_OK ? body_or_world(&b, model, &pair->b) : status;
}

// ---- Loops ---------------------------------------------------------------------------------------------------------------

static poise_status read_bound(const pz_item *object, const char *key, double none, double *value)
{
    pz_item item = pz_json_get(object, key);
    if (item.value) {
        return pz_json_number(&item, value);
    }
    for (int i = 0; i < pz_json_member_count(object); ++i) { // null is no bound; what is left out has its default
        *value = strcmp(pz_json_member(object, i).key, key) == 0 ? none : *value;
    }
    return POISE_OK;
}

poise_status pz_json_loop(const pz_item *item, const poise_model *model, void *entry)
{
    static const char *const known[] = {"kind", "body", "body2", "local", "target", "lower", "upper"};
    poise_constraint *loop = entry;
    int kind = 0;
    pz_item body = pz_json_get(item, "body"), body2 = pz_json_get(item, "body2");
    pz_item local = pz_json_get(item, "local"), target = pz_json_get(item, "target");
    poise_status status = pz_json_need_object(item);
    status = status == POISE_OK ? pz_json_choice_of(item, "kind", loop_name, LOOP_KINDS, &kind) : status;
    *loop = poise_constraint_default((poise_constraint_kind)(kind + POISE_CONSTRAINT_CONNECT));
    status = status == POISE_OK ? body_or_world(&body, model, &loop->body) : status;
    status = status == POISE_OK ? body_or_world(&body2, model, &loop->body2) : status;
    status = status == POISE_OK && local.value ? pz_json_pose_of(&local, &loop->local) : status;
    status = status == POISE_OK && target.value ? pz_json_pose_of(&target, &loop->target) : status;
    status = status == POISE_OK ? read_bound(item, "lower", -INFINITY, &loop->lower) : status;
    status = status == POISE_OK ? read_bound(item, "upper", INFINITY, &loop->upper) : status;
    poise_error said = {.line = 0};
    if (status == POISE_OK && poise_constraint_check(loop, model, &said) != POISE_OK) {
        return pz_json_fail_as(item, POISE_ERROR_FORMAT, &said);
    }
    if (status == POISE_OK) {
        pz_json_warn_unknown(item, known, PZ_COUNT(known));
    }
    return status;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static void put_body(pz_json_writer *writer, const char *key, const poise_model *model, int body)
{
    if (body != POISE_WORLD) {
        pz_json_put_text(writer, key, poise_model_joint_info(model, body).body);
    } else if (!key) {
        pz_json_put_null(writer, NULL);
    }
}

static void put_shape(pz_json_writer *writer, const poise_model *model, const poise_shape *shape)
{
    double half[3] = {shape->half.x, shape->half.y, shape->half.z};
    pz_json_open_flat(writer, NULL, "{");
    pz_json_put_text(writer, "kind", poise_shape_kind_name(shape->kind));
    put_body(writer, "body", model, shape->body);
    pz_json_put_pose(writer, shape->pose);
    if (!pz_same_numbers(half, (double[]){0, 0, 0}, 3)) {
        pz_json_put_numbers(writer, "half", half, 3);
    }
    if (!pz_same_numbers(&shape->radius, (double[]){0}, 1)) {
        pz_json_put_number(writer, "radius", shape->radius);
    }
    if (shape->groups != 0 || shape->against != 0) {
        pz_json_put_integer(writer, "groups", shape->groups);
        pz_json_put_integer(writer, "against", shape->against);
    }
    pz_json_close_flat(writer, "}");
}

static void put_frame(pz_json_writer *writer, const char *key, poise_pose pose)
{
    pz_json_open_flat(writer, key, "{");
    pz_json_put_pose(writer, pose);
    pz_json_close_flat(writer, "}");
}

static void put_loop(pz_json_writer *writer, const poise_model *model, const poise_constraint *loop)
{
    pz_json_open_flat(writer, NULL, "{");
    pz_json_put_text(writer, "kind", poise_constraint_kind_name(loop->kind));
    put_body(writer, "body", model, loop->body);
    put_body(writer, "body2", model, loop->body2);
    put_frame(writer, "local", loop->local);
    put_frame(writer, "target", loop->target);
    if (loop->kind == POISE_CONSTRAINT_DISTANCE || loop->kind == POISE_CONSTRAINT_PLANE) {
        pz_json_put_number(writer, "lower", loop->lower);
        pz_json_put_number(writer, "upper", loop->upper);
    }
    pz_json_close_flat(writer, "}");
}

void pz_json_put_bounds(pz_json_writer *writer, const poise_file *file)
{
    if (file->shape_count > 0) {
        pz_json_open(writer, "shapes", "[");
        for (int i = 0; i < file->shape_count; ++i) {
            put_shape(writer, file->model, &file->shapes[i]);
        }
        pz_json_close(writer, "]");
    }
    if (file->excluded_count > 0) {
        pz_json_open(writer, "excluded", "[");
        for (int i = 0; i < file->excluded_count; ++i) {
            pz_json_open_flat(writer, NULL, "[");
            put_body(writer, NULL, file->model, file->excluded[i].a);
            put_body(writer, NULL, file->model, file->excluded[i].b);
            pz_json_close_flat(writer, "]");
        }
        pz_json_close(writer, "]");
    }
    if (file->loop_count > 0) {
        pz_json_open(writer, "loops", "[");
        for (int i = 0; i < file->loop_count; ++i) {
            put_loop(writer, file->model, &file->loops[i]);
        }
        pz_json_close(writer, "]");
    }
}

static bool is_loop(poise_constraint_kind kind)
{
    return kind >= POISE_CONSTRAINT_CONNECT && kind < POISE_CONSTRAINT_BALANCE;
}

poise_status pz_json_check_bounds(const poise_file *file, pz_output *output)
{
    poise_error said = {.line = 0};
    int joints = poise_model_info(file->model).joints;
    for (int i = 0; i < file->shape_count; ++i) {
        if (poise_shape_check(&file->shapes[i], file->model, &said) != POISE_OK) {
            return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "shape %d: %s", i, said.text);
        }
    }
    for (int i = 0; i < file->excluded_count; ++i) {
        poise_pair pair = file->excluded[i];
        bool is_pair = pair.a >= POISE_WORLD && pair.a < joints && pair.b >= POISE_WORLD && pair.b < joints;
        if (!is_pair) {
            return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "excluded pair %d: the model has no such body", i);
        }
    }
    for (int i = 0; i < file->loop_count; ++i) {
        const poise_constraint *loop = &file->loops[i];
        if (!is_loop(loop->kind) || poise_constraint_check(loop, file->model, &said) != POISE_OK) {
            return pz_error_set(output->error, POISE_ERROR_ARGUMENT, "loop %d: %s", i,
                                is_loop(loop->kind) ? said.text : "clearances and balance are not kept in files");
        }
    }
    return POISE_OK;
}
