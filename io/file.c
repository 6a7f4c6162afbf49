// What files say of a task: of a recording to be tracked, of a motion to be put on another skeleton, of which axis points up,
// and of what an answer must keep to (shapes apart, loops closed).
#include <poise/io.h>

#include "base/arena.h"
#include "base/error.h"
#include "num/real.h"

#include <math.h>
#include <string.h>

// ---- Recordings and retargeting ------------------------------------------------------------------------------------------

// The posture that OpenSim's models have as their default; NULL: there is none.
static const double *default_posture(const poise_file *skeleton)
{
    for (int i = 0; i < skeleton->posture_count; ++i) {
        if (strcmp(skeleton->postures[i].name, "default") == 0) {
            return skeleton->postures[i].q;
        }
    }
    return NULL;
}

poise_recording_problem poise_recording_of_files(const poise_file *skeleton, const poise_file *recording)
{
    poise_recording_problem problem = poise_recording_problem_default();
    problem.model = skeleton->model;
    problem.scale = skeleton->scale;
    problem.markers = recording->markers;
    problem.from = recording->model;
    problem.clip = recording->clip;
    problem.from_scale = recording->markers ? recording->markers->scale : recording->scale;
    problem.placements = skeleton->placements;
    problem.placement_count = skeleton->placement_count;
    if (problem.placement_count == 0 && recording->model) {
        problem.placements = recording->placements;
        problem.placement_count = recording->placement_count;
        problem.placements_from = recording->model;
    }
    if (skeleton->format == POISE_FORMAT_OSIM) { // its marker places are part of the model
        problem.posture = default_posture(skeleton);
        problem.only_placements = poise_placements_cover(problem.placements, problem.placement_count, problem.markers);
    }
    return problem;
}

poise_retarget_task poise_retarget_of_files(const poise_file *motion, const poise_file *skeleton)
{
    poise_retarget_task task = poise_retarget_task_default();
    task.from = motion->model;
    task.clip = motion->clip;
    task.from_clip = motion->clip;
    task.from_up = motion->scale.up;
    task.to = skeleton->model;
    task.to_clip = skeleton->clip;
    task.to_up = skeleton->scale.up;
    task.shapes = skeleton->shapes;
    task.shape_count = skeleton->shape_count;
    task.hulls = skeleton->hulls;
    task.hull_count = skeleton->hull_count;
    task.shapes_skipped = skeleton->shapes_skipped;
    task.is_robot = skeleton->format == POISE_FORMAT_URDF || skeleton->format == POISE_FORMAT_MJCF;
    task.excluded = skeleton->excluded;
    task.excluded_count = skeleton->excluded_count;
    task.loops = skeleton->loops;
    task.loop_count = skeleton->loop_count;
    task.metres = skeleton->scale.metres;
    return task;
}

// ---- Which axis points up ------------------------------------------------------------------------------------------------

// What the file says counts. Most motion files say nothing: then the figure in it tells, standing at rest or in most of its
// motion. Where there is no figure, a tree that can move freely lies flat on the ground: in the plane that it is thin across,
// at rest and as it moves. Else it is as the format has it by custom.

#define FLAT 2.0 // times as far along z as along y: it does not stand along y

// How far the bodies reach along y and z; `q` NULL: in the neutral configuration. False: out of memory.
static bool reach_of(const poise_model *model, const double *q, double *y, double *z)
{
    poise_kinematics *kin = NULL;
    int bodies = poise_model_info(model).joints;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    if (poise_kinematics_create(model, NULL, &kin, NULL) != POISE_OK) { // neutral
        return false;
    }
    bool works = !q || poise_kinematics_update(kin, q, NULL) == POISE_OK;
    for (int k = 0; k < bodies && works; ++k) {
        poise_vec3 at = poise_kinematics_body_pose(kin, k).position;
        low[0] = min2(low[0], at.y);
        high[0] = max2(high[0], at.y);
        low[1] = min2(low[1], at.z);
        high[1] = max2(high[1], at.z);
    }
    poise_kinematics_destroy(kin);
    *y = high[0] - low[0];
    *z = high[1] - low[1];
    return works && bodies > 0;
}

static bool is_flat(const poise_model *model, const double *q)
{
    double y, z;
    return reach_of(model, q, &y, &z) && z > FLAT * y;
}

// Programs that write these formats have y up, most of them; the others are of robots.
static poise_up custom_of(const poise_file *file)
{
    bool is_of_figures = file->format == POISE_FORMAT_BVH || file->format == POISE_FORMAT_ASF ||
                         file->format == POISE_FORMAT_AMC || file->format == POISE_FORMAT_GLTF ||
                         file->format == POISE_FORMAT_GLB;
    bool is_free = poise_model_info(file->model).joints > 0 && poise_model_joint_info(file->model, 0).nv == 6;
    bool moves = file->clip && file->clip->frames > 0 && file->clip->nq == poise_model_info(file->model).nq;
    bool lies = is_free && is_flat(file->model, NULL) && (!moves || is_flat(file->model, file->clip->q));
    return is_of_figures && !lies ? POISE_UP_Y : POISE_UP_Z;
}

poise_up poise_file_up(const poise_file *file, poise_up_source *source)
{
    poise_up_source none;
    source = source ? source : &none;
    *source = POISE_UP_BY_FILE;
    if (file->scale.up != POISE_UP_UNKNOWN || !file->model) {
        return file->scale.up;
    }
    poise_figure figure;
    poise_up up = POISE_UP_UNKNOWN;
    *source = POISE_UP_BY_FIGURE;
    if (poise_clip_figure(file->model, file->clip, &figure, NULL) == POISE_OK && !figure.is_upside_down) {
        up = figure.up;
    }
    up = up == POISE_UP_UNKNOWN ? poise_clip_up(file->model, file->clip) : up; // by shape, where no name tells
    if (up == POISE_UP_UNKNOWN) {
        *source = POISE_UP_BY_CUSTOM;
        up = custom_of(file);
    }
    return up;
}

// ---- Constraints ---------------------------------------------------------------------------------------------------------

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
    made.shapes = b.shapes;
    made.shape_count = (int)b.shape_count;
    made.pairs = b.pairs;
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

// The word by which users ask for such a shape.
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
