// Copies of the functions that a joint's description points to: the curve, the mimic's function, then their numbers.
#include "model/builder.h"

#include <string.h>

static bool has_points(const poise_function *f)
{
    return f->kind != POISE_FUNCTION_POLYNOMIAL;
}

static size_t numbers_of(const poise_function *f)
{
    return (size_t)f->count * (has_points(f) ? 2 : 1);
}

size_t pz_functions_size(const poise_joint *joint)
{
    size_t bytes = 0;
    for (int i = 0; joint->curve && i < 6; ++i) {
        bytes += numbers_of(&joint->curve->value[i]) * sizeof(double);
    }
    bytes += joint->curve ? sizeof *joint->curve : 0;
    bytes += joint->mimic_function ? sizeof *joint->mimic_function + numbers_of(joint->mimic_function) * sizeof(double) : 0;
    return bytes;
}

static poise_function copied(const poise_function *f, double **numbers)
{
    size_t count = (size_t)f->count;
    poise_function copy = {.kind = f->kind, .count = f->count};
    if (count > 0 && has_points(f)) {
        copy.x = (const double *)memcpy(*numbers, f->x, count * sizeof **numbers);
        *numbers += count;
    }
    if (count > 0) {
        copy.y = (const double *)memcpy(*numbers, f->y, count * sizeof **numbers);
        *numbers += count;
    }
    return copy;
}

static vec3 unit_axis(vec3 a)
{
    return pz_is_unit(v3_dot(a, a)) ? a : v3_normalize(a);
}

void pz_functions_copy(poise_joint *joint, void *memory)
{
    poise_curve *curve = (poise_curve *)memory;
    poise_function *mimic = (poise_function *)(void *)(curve + (joint->curve ? 1 : 0));
    double *numbers = (double *)(void *)(mimic + (joint->mimic_function ? 1 : 0));
    if (joint->curve) {
        for (int i = 0; i < 6; ++i) {
            bool is_there = joint->curve->value[i].count > 0;
            curve->axis[i] = is_there ? unit_axis(joint->curve->axis[i]) : v3(i % 3 == 0, i % 3 == 1, i % 3 == 2);
            curve->value[i] = copied(&joint->curve->value[i], &numbers);
        }
        joint->curve = curve;
    }
    if (joint->mimic_function) {
        *mimic = copied(joint->mimic_function, &numbers);
        joint->mimic_function = mimic;
    }
}
