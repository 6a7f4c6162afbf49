// Functions of one coordinate, and the curves that are made of them.
#include "io/poise/json_poise.h"

static const char *const kinds[] = {"polynomial", "spline", "lines"}; // by poise_function_kind

// ---- Reading -------------------------------------------------------------------------------------------------------------

static poise_status read_points(const pz_item *item, double *x, double *y)
{
    poise_status status = POISE_OK;
    for (size_t i = 0; i < pz_json_length(item) && status == POISE_OK; ++i) {
        pz_item point = pz_json_at(item, i);
        double xy[2] = {0, 0};
        status = pz_json_numbers(&point, xy, 2);
        x[i] = xy[0], y[i] = xy[1];
    }
    return status;
}

// The one member of `item` that is a function.
static poise_status read_function(const pz_item *item, poise_function *f)
{
    pz_input *input = item->json->input;
    for (int kind = 0; kind < (int)PZ_COUNT(kinds); ++kind) {
        pz_item list = pz_json_get(item, kinds[kind]);
        if (!list.value) {
            continue;
        }
        poise_status status = pz_json_need_array(&list);
        size_t count = pz_json_length(&list);
        double *x = pz_pool_take(&input->pool, count, sizeof *x), *y = pz_pool_take(&input->pool, count, sizeof *y);
        if (status == POISE_OK && (!x || !y || count > INT32_MAX / 8)) {
            return pz_input_no_memory(input);
        }
        if (status == POISE_OK) {
            bool is_polynomial = kind == POISE_FUNCTION_POLYNOMIAL;
            status = is_polynomial ? pz_json_numbers(&list, y, count) : read_points(&list, x, y);
        }
        *f = (poise_function){.kind = (poise_function_kind)kind, .count = (int)count, .x = x, .y = y};
        return status;
    }
    return pz_json_fail(item, POISE_ERROR_FORMAT, "no function: give it a polynomial, a spline or lines");
}

static poise_status read_steps(const pz_item *curve, const char *key, poise_vec3 *axes, poise_function *values)
{
    static const char *const known[] = {"axis", "polynomial", "spline", "lines"};
    pz_item list = pz_json_get(curve, key);
    poise_status status = list.value ? pz_json_need_array(&list) : POISE_OK;
    if (status == POISE_OK && pz_json_length(&list) > 3) {
        return pz_json_fail(&list, POISE_ERROR_FORMAT, "at most three %s", key);
    }
    for (size_t i = 0; i < pz_json_length(&list) && status == POISE_OK; ++i) {
        pz_item step = pz_json_at(&list, i);
        if (!step.value) {
            continue;
        }
        double axis[3] = {0, 0, 1};
        status = pz_json_need_object(&step);
        status = status == POISE_OK ? pz_json_unit_of(&step, "axis", axis, 3) : status;
        status = status == POISE_OK ? read_function(&step, &values[i]) : status;
        axes[i] = (poise_vec3){axis[0], axis[1], axis[2]};
        if (status == POISE_OK) {
            pz_json_warn_unknown(&step, known, PZ_COUNT(known));
        }
    }
    return status;
}

poise_status pz_json_curve(const pz_item *joint_item, poise_joint *joint)
{
    static const char *const known[] = {"turns", "slides"};
    pz_item item = pz_json_get(joint_item, "curve");
    if (!item.value) {
        return POISE_OK;
    }
    poise_curve *curve = pz_pool_take(&item.json->input->pool, 1, sizeof *curve);
    if (!curve) {
        return pz_input_no_memory(item.json->input);
    }
    *curve = (poise_curve){.value = {{.count = 0}}};
    poise_status status = pz_json_need_object(&item);
    status = status == POISE_OK ? read_steps(&item, "turns", curve->axis, curve->value) : status;
    status = status == POISE_OK ? read_steps(&item, "slides", curve->axis + 3, curve->value + 3) : status;
    joint->curve = curve;
    if (status == POISE_OK) {
        pz_json_warn_unknown(&item, known, PZ_COUNT(known));
    }
    return status;
}

poise_status pz_json_mimic_function(const pz_item *mimic_item, poise_joint *joint)
{
    pz_item item = pz_json_get(mimic_item, "function");
    if (!item.value) {
        return POISE_OK;
    }
    poise_function *function = pz_pool_take(&item.json->input->pool, 1, sizeof *function);
    if (!function) {
        return pz_input_no_memory(item.json->input);
    }
    joint->mimic_function = function;
    poise_status status = pz_json_need_object(&item);
    return status == POISE_OK ? read_function(&item, function) : status;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

void pz_json_put_function(pz_json_writer *writer, const char *key, const poise_function *function, const poise_vec3 *axis)
{
    pz_json_open_flat(writer, key, "{");
    if (axis) {
        pz_json_put_numbers(writer, "axis", (double[]){axis->x, axis->y, axis->z}, 3);
    }
    if (function->kind == POISE_FUNCTION_POLYNOMIAL) {
        pz_json_put_numbers(writer, kinds[function->kind], function->y, (size_t)function->count);
    } else {
        pz_json_open(writer, kinds[function->kind], "[");
        for (int i = 0; i < function->count; ++i) {
            pz_json_put_numbers(writer, NULL, (double[]){function->x[i], function->y[i]}, 2);
        }
        pz_json_close(writer, "]");
    }
    pz_json_close_flat(writer, "}");
}

static void put_steps(pz_json_writer *writer, const char *key, const poise_vec3 *axes, const poise_function *values)
{
    int count = 3;
    while (count > 0 && values[count - 1].count == 0) {
        count -= 1;
    }
    if (count == 0) {
        return;
    }
    pz_json_open(writer, key, "[");
    for (int i = 0; i < count; ++i) {
        if (values[i].count > 0) {
            pz_json_put_function(writer, NULL, &values[i], &axes[i]);
        } else {
            pz_json_put_null(writer, NULL);
        }
    }
    pz_json_close(writer, "]");
}

void pz_json_put_curve(pz_json_writer *writer, const poise_curve *curve)
{
    pz_json_open(writer, "curve", "{");
    put_steps(writer, "turns", curve->axis, curve->value);
    put_steps(writer, "slides", curve->axis + 3, curve->value + 3);
    pz_json_close(writer, "}");
}
