#include "support/io_check.h"

static void same_numbers(const void *a, const void *b, size_t count)
{
    ck_assert_mem_eq(a, b, count * sizeof(double));
}

static void same_shape(const poise_shape *a, const poise_shape *b)
{
    ck_assert(a->kind == b->kind && a->body == b->body && a->groups == b->groups && a->against == b->against);
    same_numbers(&a->pose, &b->pose, 7);
    same_numbers(&a->half, &b->half, 3);
    same_numbers(&a->radius, &b->radius, 1);
}

static void same_loop(const poise_constraint *a, const poise_constraint *b)
{
    ck_assert(a->kind == b->kind && a->body == b->body && a->body2 == b->body2);
    same_numbers(&a->local, &b->local, 7);
    same_numbers(&a->target, &b->target, 7);
    same_numbers(&a->lower, &b->lower, 1);
    same_numbers(&a->upper, &b->upper, 1);
}

void io_same_bounds(const poise_file *a, const poise_file *b)
{
    ck_assert_int_eq(a->shape_count, b->shape_count);
    for (int i = 0; i < a->shape_count; ++i) {
        same_shape(&a->shapes[i], &b->shapes[i]);
    }
    ck_assert_int_eq(a->excluded_count, b->excluded_count);
    for (int i = 0; i < a->excluded_count; ++i) {
        ck_assert(a->excluded[i].a == b->excluded[i].a && a->excluded[i].b == b->excluded[i].b);
    }
    ck_assert_int_eq(a->loop_count, b->loop_count);
    for (int i = 0; i < a->loop_count; ++i) {
        same_loop(&a->loops[i], &b->loops[i]);
    }
}
