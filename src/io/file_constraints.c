// What a file says that an answer must keep to: its shapes apart, and its loops closed; and what such constraints are called.
#include <poise/io.h>

#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

// The clearance and what it points to, in one block.
typedef struct clearance_block {
    poise_constraint *constraint; // first
    poise_shape *shapes;
    poise_pair *pairs, *excluded;
} clearance_block;

static size_t count_pairs(size_t shapes)
{
    return shapes * (shapes > 0 ? shapes - 1 : 0) / 2;
}

static void lay_out(clearance_block *b, size_t shapes, size_t excluded, pz_arena *arena)
{
    b->constraint = pz_arena_take(arena, 1, sizeof *b->constraint);
    b->shapes = pz_arena_take(arena, shapes, sizeof *b->shapes);
    b->pairs = pz_arena_take(arena, count_pairs(shapes), sizeof *b->pairs);
    b->excluded = pz_arena_take(arena, excluded, sizeof *b->excluded);
}

static void append(void *to, size_t at, const void *from, int count, size_t size)
{
    if (count > 0) {
        memcpy((char *)to + at * size, from, (size_t)count * size);
    }
}

static poise_status check_shapes(const poise_file *file, const poise_shape *obstacles, int count, poise_error *error)
{
    for (int i = 0; i < file->shape_count + count; ++i) {
        const poise_shape *shape = i < file->shape_count ? &file->shapes[i] : &obstacles[i - file->shape_count];
        if (shape->body != POISE_WORLD) {
            return POISE_OK;
        }
    }
    return file->shapes_skipped > 0
               ? pz_error_set(error, POISE_ERROR_NOT_FOUND,
                              "%d collision shapes, but none that could be read: its meshes are not STL or OBJ files, or "
                              "were not found",
                              file->shapes_skipped)
               : pz_error_set(error, POISE_ERROR_NOT_FOUND,
                              "no collision shapes: they come from URDF <collision>, MJCF <geom> or \"shapes\" in Poise's "
                              "JSON");
}

poise_status poise_file_clearance(const poise_file *file, const poise_shape *obstacles, int obstacle_count,
                                  const poise_pairs_options *options, const poise_allocator *allocator,
                                  poise_constraint **clearance, poise_error *error)
{
    if (!file || !file->model || obstacle_count < 0 || (obstacle_count > 0 && !obstacles) || !clearance) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "file, its model, obstacles and clearance must not be NULL");
    }
    poise_pairs_options chosen = options ? *options : poise_pairs_options_default();
    poise_status status = check_shapes(file, obstacles, obstacle_count, error);
    if (status != POISE_OK) {
        return status;
    }
    size_t shapes = (size_t)file->shape_count + (size_t)obstacle_count;
    size_t excluded = (size_t)file->excluded_count + (size_t)chosen.excluded_count;
    clearance_block block;
    pz_arena arena = pz_arena_counting();
    lay_out(&block, shapes, excluded, &arena);
    size_t size = pz_arena_bytes(&arena);
    void *memory = pz_allocate(allocator, size);
    if (!memory) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: the pairs of shapes need %g bytes", (double)size);
    }
    arena = pz_arena_over(memory, size);
    lay_out(&block, shapes, excluded, &arena);
    append(block.shapes, 0, file->shapes, file->shape_count, sizeof *block.shapes);
    append(block.shapes, (size_t)file->shape_count, obstacles, obstacle_count, sizeof *block.shapes);
    append(block.excluded, 0, file->excluded, file->excluded_count, sizeof *block.excluded);
    append(block.excluded, (size_t)file->excluded_count, chosen.excluded, chosen.excluded_count, sizeof *block.excluded);
    chosen.excluded = block.excluded;
    chosen.excluded_count = (int)excluded;
    poise_constraint made = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    made.shapes = block.shapes, made.shape_count = (int)shapes, made.pairs = block.pairs;
    status = poise_pairs_find(file->model, block.shapes, (int)shapes, &chosen, allocator, block.pairs,
                              (int)count_pairs(shapes), &made.pair_count, error);
    if (status != POISE_OK) {
        pz_release(allocator, memory);
        return status;
    }
    *block.constraint = made;
    *clearance = block.constraint;
    return POISE_OK;
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

static const char *body_name(const poise_file *file, int body)
{
    return body == POISE_WORLD ? "the world" : poise_model_joint_info(file->model, body).body;
}

void poise_shape_describe(const poise_constraint *clearance, int shape, const poise_file *file, char *text, size_t size)
{
    if (shape >= file->shape_count) {
        snprintf(text, size, "obstacle %d", shape - file->shape_count + 1);
    } else {
        snprintf(text, size, "%s", body_name(file, clearance->shapes[shape].body));
    }
}

void poise_constraint_describe(const poise_constraint *constraint, int item, const poise_file *file, char *text, size_t size)
{
    char first[128], second[128];
    if (constraint->kind == POISE_CONSTRAINT_BALANCE) {
        snprintf(text, size, "the balance, beyond side %d of its polygon", item + 1);
    } else if (constraint->kind == POISE_CONSTRAINT_CLEARANCE && item >= 0 && item < constraint->pair_count) {
        poise_shape_describe(constraint, constraint->pairs[item].a, file, first, sizeof first);
        poise_shape_describe(constraint, constraint->pairs[item].b, file, second, sizeof second);
        snprintf(text, size, "%s and %s", first, second);
    } else if (constraint->kind == POISE_CONSTRAINT_CLEARANCE) {
        snprintf(text, size, "the shapes");
    } else {
        snprintf(text, size, "the loop of %s and %s (%s)", body_name(file, constraint->body),
                 body_name(file, constraint->body2), poise_constraint_kind_name(constraint->kind));
    }
}
