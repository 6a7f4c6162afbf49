// What a file says that an answer must keep to: its shapes apart, its loops closed; and what such constraints are called.
#include <poise/io.h>

#include "base/arena.h"
#include "base/error.h"

#include <string.h>

enum { MOST_SHAPES = 30000 }; // whose pairs an int counts

// The clearance and what it points to, one after the other in one block.
typedef struct clearance_block {
    poise_constraint *constraint;
    poise_shape *shapes;
    poise_pair *pairs;    // room for all there could be,
    poise_pair *excluded; // those of the file and of the options, and bodies that a loop joins
    size_t shape_count, pair_room, excluded_count;
} clearance_block;

static void append(void *to, const void *from, int count, size_t size)
{
    if (count > 0) {
        memcpy(to, from, (size_t)count * size);
    }
}

// The bodies that a loop joins, as a joint does: they touch by design. None for rods and planes, which keep bodies
// apart, nor for the world, whose obstacles stay obstacles.
static poise_pair joined_by(const poise_constraint *loop)
{
    bool joins = loop->kind == POISE_CONSTRAINT_CONNECT || loop->kind == POISE_CONSTRAINT_WELD ||
                 loop->kind == POISE_CONSTRAINT_HINGE;
    bool to_world = loop->body == POISE_WORLD || loop->body2 == POISE_WORLD;
    return joins && !to_world ? (poise_pair){loop->body, loop->body2} : (poise_pair){POISE_NONE, POISE_NONE};
}

// One block, with copies of all shapes and excluded pairs. False: out of memory.
static bool make_block(clearance_block *b, const poise_file *file, const poise_shape *obstacles, int obstacle_count,
                       const poise_pairs_options *options, const poise_allocator *allocator)
{
    size_t own = (size_t)file->shape_count, own_excluded = (size_t)file->excluded_count, n = own + (size_t)obstacle_count;
    *b = (clearance_block){.shape_count = n, .pair_room = n * (n - 1) / 2};
    b->excluded_count = own_excluded + (size_t)options->excluded_count + (size_t)file->loop_count;
    b->constraint = pz_allocate(allocator, sizeof *b->constraint + n * sizeof *b->shapes +
                                               (b->pair_room + b->excluded_count) * sizeof *b->pairs);
    if (!b->constraint) {
        return false;
    }
    b->shapes = (void *)(b->constraint + 1);
    b->pairs = (void *)(b->shapes + n);
    b->excluded = b->pairs + b->pair_room;
    append(b->shapes, file->shapes, file->shape_count, sizeof *b->shapes);
    append(b->shapes + own, obstacles, obstacle_count, sizeof *b->shapes);
    append(b->excluded, file->excluded, file->excluded_count, sizeof *b->excluded);
    append(b->excluded + own_excluded, options->excluded, options->excluded_count, sizeof *b->excluded);
    for (int i = 0; i < file->loop_count; ++i) {
        b->excluded[b->excluded_count - 1 - (size_t)i] = joined_by(&file->loops[i]);
    }
    return true;
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
               ? pz_error_set(
                     error, POISE_ERROR_NOT_FOUND,
                     "%d collision shape%s, but none that could be read: its meshes are not STL, OBJ or COLLADA files, or "
                     "were not found beside it or in a folder above",
                     file->shapes_skipped, file->shapes_skipped == 1 ? "" : "s")
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
    if (obstacle_count > MOST_SHAPES - file->shape_count) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "there are more than %d shapes", MOST_SHAPES);
    }
    poise_pairs_options chosen = options ? *options : poise_pairs_options_default();
    if (chosen.excluded_count < 0 || (chosen.excluded_count > 0 && !chosen.excluded)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "pairs options: excluded must not be NULL if excluded_count > 0");
    }
    poise_status status = check_shapes(file, obstacles, obstacle_count, error);
    if (status != POISE_OK) {
        return status;
    }
    clearance_block b;
    if (!make_block(&b, file, obstacles, obstacle_count, &chosen, allocator)) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory: %d shapes have too many pairs", (int)b.shape_count);
    }
    chosen.excluded = b.excluded;
    chosen.excluded_count = (int)b.excluded_count;
    poise_constraint made = poise_constraint_default(POISE_CONSTRAINT_CLEARANCE);
    made.shapes = b.shapes, made.shape_count = (int)b.shape_count, made.pairs = b.pairs;
    status = poise_pairs_find(file->model, b.shapes, made.shape_count, &chosen, allocator, b.pairs, (int)b.pair_room,
                              &made.pair_count, error);
    if (status != POISE_OK) {
        pz_release(allocator, b.constraint);
        return status;
    }
    *b.constraint = made;
    *clearance = b.constraint;
    return POISE_OK;
}

// All pairs that the search would try, less those that are watched: both are ordered by a, then b.
poise_status poise_file_touching(const poise_file *file, const poise_constraint *clearance,
                                 const poise_pairs_options *options, const poise_allocator *allocator,
                                 poise_constraint **touching, poise_error *error)
{
    if (!file || !clearance || clearance->shape_count < file->shape_count || !touching) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "file, its clearance and touching must not be NULL");
    }
    poise_pairs_options untried = options ? *options : poise_pairs_options_default();
    untried.samples = 0; // no pair overlaps in any
    poise_constraint *all;
    poise_status status = poise_file_clearance(file, clearance->shapes + file->shape_count,
                                               clearance->shape_count - file->shape_count, &untried, allocator, &all, error);
    if (status != POISE_OK) {
        return status;
    }
    poise_pair *pairs = (poise_pair *)(void *)(all->shapes + all->shape_count); // as all->pairs, to be written
    int count = 0;
    for (int i = 0, next = 0; i < all->pair_count; ++i) {
        poise_pair pair = pairs[i], watched = next < clearance->pair_count ? clearance->pairs[next] : (poise_pair){-1, -1};
        if (pair.a == watched.a && pair.b == watched.b) {
            next += 1;
        } else {
            pairs[count++] = pair;
        }
    }
    all->pair_count = count;
    *touching = all;
    return POISE_OK;
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

static const char *body_name(const poise_file *file, int body)
{
    return body == POISE_WORLD ? "the world" : poise_model_joint_info(file->model, body).body;
}

static void copy_text(const poise_error *shown, char *text, size_t size)
{
    size_t length = strlen(shown->text);
    length = length < size ? length : size - 1;
    memcpy(text, shown->text, length);
    text[length] = '\0';
}

// As users call it who asked for it.
static const char *kind_of(const poise_shape *shape)
{
    return shape->kind == POISE_SHAPE_HALF_SPACE                        ? "plane"
           : shape->kind == POISE_SHAPE_CAPSULE && shape->half.z == 0.0 ? "sphere"
                                                                        : poise_shape_kind_name(shape->kind);
}

static void name_shape(const poise_constraint *clearance, int shape, const poise_file *file, poise_error *shown)
{
    if (shape >= file->shape_count) {
        pz_error_set(shown, POISE_OK, "obstacle %d (%s)", shape - file->shape_count + 1, kind_of(&clearance->shapes[shape]));
    } else {
        pz_error_set(shown, POISE_OK, "%s", body_name(file, clearance->shapes[shape].body));
    }
}

void poise_shape_describe(const poise_constraint *clearance, int shape, const poise_file *file, char *text, size_t size)
{
    poise_error shown;
    name_shape(clearance, shape, file, &shown);
    copy_text(&shown, text, size);
}

void poise_constraint_describe(const poise_constraint *constraint, int item, const poise_file *file, char *text, size_t size)
{
    poise_error shown, first, second;
    if (constraint->kind == POISE_CONSTRAINT_BALANCE) {
        pz_error_set(&shown, POISE_OK, "the balance, by side %d of its polygon", item + 1);
    } else if (constraint->kind == POISE_CONSTRAINT_CLEARANCE && item >= 0 && item < constraint->pair_count) {
        name_shape(constraint, constraint->pairs[item].a, file, &first);
        name_shape(constraint, constraint->pairs[item].b, file, &second);
        pz_error_set(&shown, POISE_OK, "%s and %s", first.text, second.text);
    } else if (constraint->kind == POISE_CONSTRAINT_CLEARANCE) {
        pz_error_set(&shown, POISE_OK, "the shapes");
    } else if (constraint->kind == POISE_CONSTRAINT_PLANE) {
        pz_error_set(&shown, POISE_OK, "the height of %s above a plane of %s", body_name(file, constraint->body),
                     body_name(file, constraint->body2));
    } else if (constraint->kind == POISE_CONSTRAINT_DISTANCE) {
        pz_error_set(&shown, POISE_OK, "the distance of %s and %s", body_name(file, constraint->body),
                     body_name(file, constraint->body2));
    } else {
        pz_error_set(&shown, POISE_OK, "the loop of %s and %s (%s)", body_name(file, constraint->body),
                     body_name(file, constraint->body2), poise_constraint_kind_name(constraint->kind));
    }
    copy_text(&shown, text, size);
}
