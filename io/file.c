// What can be done with a file that was read: what it says of a task (a recording to be tracked, a motion to be put on
// another skeleton, which axis points up, what an answer must keep to), and changes to what it holds (some frames, another
// rate, other units, another upward axis, joints as Euler angles). And where the files are that another one names.
#include "io/io_core.h"

#include "base/arena.h"
#include "io/skeleton.h"
#include "num/real.h"
#include "num/vector.h"

#include <math.h>
#include <string.h>

// ---- Files that another file names ---------------------------------------------------------------------------------------

enum { MOST_FOLDERS_UP = 8 };

// Does the text begin so? Then it is moved behind that.
static bool skip(const char **text, const char *beginning)
{
    size_t length = strlen(beginning);
    if (strncmp(*text, beginning, length) != 0) {
        return false;
    }
    *text += length;
    return true;
}

// From the root of a disk: "/robots/a.stl", "C:/robots/a.stl".
static bool is_absolute(const char *name)
{
    return name[0] == '/' || name[0] == '\\' || (name[0] != '\0' && name[1] == ':');
}

// Add to a path if there is room.
static bool add_to_path(char *path, size_t size, size_t *used, const char *text)
{
    size_t length = strlen(text);
    if (length >= size - *used) {
        return false;
    }
    memcpy(path + *used, text, length + 1);
    *used += length;
    return true;
}

bool poise_named_file(const char *folder, const char *name, int number, char *path, size_t size)
{
    if (!folder || !name || number < 0 || !path || size == 0) {
        return false;
    }
    bool in_package = skip(&name, "package://") || skip(&name, "model://");
    while (in_package && name[0] == '/') { // "package:///robot/arm.stl"
        name += 1;
    }
    bool as_it_is = !in_package && (skip(&name, "file://"), is_absolute(name));
    const char *in_it = in_package ? strchr(name, '/') : NULL;
    int ways = in_it ? 2 : 1, up = number / ways;
    if (up > (in_package ? MOST_FOLDERS_UP : 0)) {
        return false;
    }
    size_t used = 0;
    path[0] = '\0';
    bool fits = as_it_is || add_to_path(path, size, &used, folder);
    if (used > 0 && path[used - 1] != '/') {
        fits = fits && add_to_path(path, size, &used, "/");
    }
    for (int i = 0; i < up; ++i) {
        fits = fits && add_to_path(path, size, &used, "../");
    }
    return fits && add_to_path(path, size, &used, number % ways ? in_it + 1 : name);
}

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
//
// What the file says counts. Most motion files say nothing: then the figure in it tells, standing at rest or in most of its
// motion. Where there is no figure, a tree that can move freely lies flat on the ground: in the plane that it is thin
// across, at rest and as it moves. Else it is as the format has it by custom.

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

static void copy_items(void *to, const void *from, int count, size_t size)
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
    copy_items(b->shapes, file->shapes, file->shape_count, sizeof *b->shapes);
    copy_items(b->shapes + own, obstacles, obstacle_count, sizeof *b->shapes);
    copy_items(b->excluded, file->excluded, file->excluded_count, sizeof *b->excluded);
    copy_items(b->excluded + own_excluded, options->excluded, options->excluded_count, sizeof *b->excluded);
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

// Joint k as it is to be.
typedef poise_joint (*edit_joint)(const poise_model *model, int k, const void *user);

// ---- Editing: time -------------------------------------------------------------------------------------------------------

static void replace(poise_file *file, poise_clip *clip, poise_markers *markers)
{
    if (clip) {
        poise_clip_destroy(file->clip);
        file->clip = clip;
    }
    if (markers) {
        poise_markers_destroy(file->markers);
        file->markers = markers;
    }
}

static poise_status trim(poise_file *file, int first, int count, poise_error *error)
{
    int frames = file->clip ? file->clip->frames : file->markers ? file->markers->frames : 0;
    if (file->clip && file->markers && file->markers->frames < frames) {
        frames = file->markers->frames;
    }
    if (frames == 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "holds no frames to choose from");
    }
    int last = count > 0 ? first + (count - 1) : count < 0 ? first + count : frames - 1;
    if (first >= frames || last >= frames) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "has frames 0 to %d, so frame %d is beyond its end", frames - 1,
                            first >= frames ? first : last);
    }
    if (first < 0 || last < first) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "frames %d to %d are no range; it has frames 0 to %d", first, last,
                            frames - 1);
    }
    count = last - first + 1;
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    poise_status status = file->clip ? poise_clip_trim(file->clip, first, count, NULL, &clip, error) : POISE_OK;
    if (status == POISE_OK && file->markers) {
        status = poise_markers_trim(file->markers, first, count, NULL, &markers, error);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(clip);
        return status;
    }
    replace(file, clip, markers);
    pz_carried_trim(file->carried, first, count);
    return POISE_OK;
}

static poise_status resample(poise_file *file, double rate, poise_error *error)
{
    poise_clip *clip = NULL;
    poise_markers *markers = NULL;
    if (!file->clip && !file->markers) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "holds no frames whose rate could change");
    }
    poise_status status = file->clip ? poise_clip_resample(file->clip, file->model, 1 / rate, NULL, &clip, error) : POISE_OK;
    if (status == POISE_OK && file->markers) {
        status = poise_markers_resample(file->markers, rate, NULL, &markers, error);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(clip);
        return status;
    }
    pz_carried_trim(file->carried, 0, 0);
    replace(file, clip, markers);
    return POISE_OK;
}

// ---- Editing: space ------------------------------------------------------------------------------------------------------

// What happens to lengths, and to the world: a point p of the world goes to turn(factor p).
typedef struct rescaling {
    double factor;
    poise_quat turn;
} rescaling;

// The turns of poise_markers_rescale: x to y to z to x, as often as it takes. By 120 degrees about (1, 1, 1).
static poise_quat cycle(poise_up from, poise_up to)
{
    int turns = ((int)to - (int)from + 3) % 3;
    return turns == 0   ? poise_pose_identity().rotation
           : turns == 1 ? (poise_quat){0.5, 0.5, 0.5, 0.5}
                        : (poise_quat){-0.5, -0.5, -0.5, 0.5};
}

static bool is_length(const poise_joint *joint, int place)
{
    return poise_joint_coordinate(joint, place).unit == POISE_UNIT_LENGTH && poise_joint_coordinate(joint, place).name;
}

// Lengths in a configuration; the root's turn is in its offset.
static void rescale_q(const poise_model *model, double factor, double *q)
{
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        q[i] *= poise_model_coordinate(model, i).unit == POISE_UNIT_LENGTH ? factor : 1;
    }
}

static poise_joint rescaled_joint(const poise_model *model, int k, const void *user)
{
    const rescaling *r = (const rescaling *)user;
    poise_joint_info info = poise_model_joint_info(model, k);
    poise_joint joint = *info.given;
    joint.offset.position = v3_scale(joint.offset.position, r->factor);
    joint.mass_center = v3_scale(joint.mass_center, r->factor);
    if (info.parent == POISE_WORLD) {
        joint.offset = poise_pose_multiply((poise_pose){.rotation = r->turn}, joint.offset);
    }
    for (int i = 0; i < 7; ++i) {
        double factor = is_length(&joint, i) ? r->factor : 1;
        joint.lower[i] *= factor;
        joint.upper[i] *= factor;
    }
    joint.velocity *= is_length(&joint, 0) ? r->factor : 1;
    if (info.mimic != POISE_NONE) { // q = multiplier * q_other + offset, each in its own unit
        double own = is_length(&joint, 0) ? r->factor : 1;
        double others = is_length(poise_model_joint_info(model, info.mimic).given, 0) ? r->factor : 1;
        joint.mimic_multiplier *= own / others;
        joint.mimic_offset *= own;
    }
    return joint;
}

// A new model with every joint changed by `edit`, and tools at `length` times their place.
static poise_status edit_model(const poise_model *model, edit_joint edit, const void *user, double length,
                               const poise_allocator *allocator, poise_model **made, poise_error *error)
{
    poise_builder *builder = NULL;
    poise_status status = poise_builder_create(allocator, &builder, error);
    for (int k = 0; k < poise_model_info(model).joints && status == POISE_OK; ++k) {
        poise_joint joint = edit(model, k, user);
        status = poise_builder_add_joint(builder, &joint, error);
    }
    for (int i = 0; i < poise_model_info(model).tools && status == POISE_OK; ++i) {
        poise_tool_info info = poise_model_tool_info(model, i);
        poise_tool tool = {.name = info.name, .body = poise_model_joint_info(model, info.body).body, .pose = info.pose};
        tool.pose.position = v3_scale(tool.pose.position, length);
        status = poise_builder_add_tool(builder, &tool, error);
    }
    status = status == POISE_OK ? poise_model_create(builder, allocator, made, error) : status;
    poise_builder_destroy(builder);
    return status;
}

poise_status pz_turn_model(const poise_model *model, poise_up from, poise_up to, const poise_allocator *allocator,
                           poise_model **made, poise_error *error)
{
    rescaling r = {.factor = 1, .turn = cycle(from, to)};
    return edit_model(model, rescaled_joint, &r, 1, allocator, made, error);
}

// Energies of lengths stay what they are: weights go with the square.
static void rescale_goal(const poise_model *model, const rescaling *r, poise_goal *goal)
{
    goal->local.position = v3_scale(goal->local.position, r->factor);
    goal->target.position = v3_scale(goal->target.position, r->factor);
    goal->tolerance = v3_scale(goal->tolerance, r->factor);
    goal->distance *= r->factor;
    goal->loss_scale *= r->factor;
    bool is_angle = goal->kind == POISE_GOAL_DIRECTION || goal->kind == POISE_GOAL_ORIENTATION ||
                    goal->kind == POISE_GOAL_AIM || goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
    goal->weight /= is_angle ? 1 : r->factor * r->factor;
    if (goal->kind != POISE_GOAL_RELATIVE || goal->body2 == POISE_WORLD) {
        goal->target = poise_pose_multiply((poise_pose){.rotation = r->turn}, goal->target);
    }
    goal->direction = poise_quat_rotate(r->turn, goal->direction);
    const double *lists[] = {goal->q, goal->q_before};
    for (int i = 0; i < 2; ++i) {
        if (lists[i]) {
            rescale_q(model, r->factor, (double *)lists[i]); // the file's own numbers
        }
    }
}

static poise_pose rescaled_pose(const rescaling *r, int body, poise_pose pose)
{
    pose.position = v3_scale(pose.position, r->factor);
    return body == POISE_WORLD ? poise_pose_multiply((poise_pose){.rotation = r->turn}, pose) : pose;
}

static void rescale_shape(const rescaling *r, poise_shape *shape)
{
    shape->pose = rescaled_pose(r, shape->body, shape->pose);
    shape->half = v3_scale(shape->half, r->factor);
    shape->radius *= r->factor;
}

static void rescale_hull(const rescaling *r, poise_hull *hull)
{
    poise_vec3 *corners = (poise_vec3 *)hull->corners; // the file's own
    for (int i = 0; i < hull->corner_count; ++i) {
        corners[i] = v3_scale(corners[i], r->factor);
    }
    hull->radius *= r->factor;
}

static void rescale_loop(const rescaling *r, poise_constraint *loop)
{
    loop->local = rescaled_pose(r, loop->body, loop->local);
    loop->target = rescaled_pose(r, loop->body2, loop->target);
    loop->lower *= r->factor;
    loop->upper *= r->factor;
}

// Everything that the model has a say in.
static poise_status rescale_figure(poise_file *file, const rescaling *r, poise_error *error)
{
    poise_model *old = file->model, *made = NULL;
    poise_status status = edit_model(old, rescaled_joint, r, r->factor, NULL, &made, error);
    if (status != POISE_OK) {
        return status;
    }
    for (int f = 0; file->clip && f < file->clip->frames; ++f) {
        rescale_q(old, r->factor, file->clip->q + (size_t)f * (size_t)file->clip->nq);
    }
    for (int i = 0; i < file->posture_count; ++i) {
        rescale_q(old, r->factor, (double *)file->postures[i].q);
    }
    for (int i = 0; i < file->shape_count; ++i) {
        rescale_shape(r, &file->shapes[i]);
    }
    for (int i = 0; i < file->hull_count; ++i) {
        rescale_hull(r, &file->hulls[i]);
    }
    for (int i = 0; i < file->loop_count; ++i) {
        rescale_loop(r, &file->loops[i]);
    }
    for (int i = 0; i < file->placement_count; ++i) {
        file->placements[i].local = v3_scale(file->placements[i].local, r->factor);
    }
    for (int i = 0; i < file->goal_count; ++i) {
        rescale_goal(old, r, &file->goals[i]);
    }
    poise_model_destroy(old);
    file->model = made;
    return POISE_OK;
}

// Fill in what is not known; UNSUPPORTED when it stays unknown and is asked for.
static poise_status fill_scale(poise_scale *scale, poise_scale assumed, poise_scale wanted, poise_error *error)
{
    scale->metres = scale->metres > 0 ? scale->metres : assumed.metres;
    scale->up = scale->up != POISE_UP_UNKNOWN ? scale->up : assumed.up;
    if (wanted.metres > 0 && !(scale->metres > 0)) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "does not say in which unit it is");
    }
    if (wanted.up != POISE_UP_UNKNOWN && scale->up == POISE_UP_UNKNOWN) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "does not say which axis points up");
    }
    return POISE_OK;
}

static poise_status rescale(poise_file *file, poise_scale assumed, poise_scale scale, poise_error *error)
{
    poise_status status = file->markers ? fill_scale(&file->markers->scale, assumed, scale, error) : POISE_OK;
    if (status == POISE_OK && file->markers) {
        pz_carried_rescale(file->carried, file->markers->scale, scale);
        status = poise_markers_rescale(file->markers, scale, error);
    }
    if (status == POISE_OK && file->model) {
        status = fill_scale(&file->scale, assumed, scale, error);
    }
    if (status != POISE_OK || !file->model) {
        return status;
    }
    poise_up up = scale.up != POISE_UP_UNKNOWN ? scale.up : file->scale.up;
    rescaling r = {.factor = scale.metres > 0 ? file->scale.metres / scale.metres : 1, .turn = cycle(file->scale.up, up)};
    status = r.factor == 1 && up == file->scale.up ? POISE_OK : rescale_figure(file, &r, error);
    file->scale.metres = scale.metres > 0 ? scale.metres : file->scale.metres;
    file->scale.up = up;
    return status;
}

// ---- Editing: Euler angles -----------------------------------------------------------------------------------------------
//
// A joint that changes keeps its frame; its axes frame becomes the identity. With parent pose P, offset O and body pose W
//
//   (P O)^-1 W = motion of the joint = translation, then Rx(a) Ry(b) Rz(c)
//
// so a, b, c come from the poses of the old model, each triple next to that of the frame before.

// The type that holds the same motion in Euler angles; the type itself where it need not change.
static poise_joint_type euler_type(poise_joint_type type)
{
    switch (type) {
    case POISE_JOINT_BALL_EXPMAP:
    case POISE_JOINT_BALL_QUATERNION:
    case POISE_JOINT_SWING_TWIST:
        return POISE_JOINT_BALL_EULER;
    case POISE_JOINT_FREE:
    case POISE_JOINT_FREE_EXPMAP:
        return POISE_JOINT_FREE_EULER;
    default:
        return type;
    }
}

static bool changes(const poise_model *model, int joint)
{
    poise_joint_type type = poise_model_joint_info(model, joint).type;
    return euler_type(type) != type;
}

static poise_joint changed_joint(const poise_model *model, int k, const void *user)
{
    (void)user;
    poise_joint joint = *poise_model_joint_info(model, k).given;
    if (changes(model, k)) {
        poise_joint plain = poise_joint_default();
        joint.type = euler_type(joint.type);
        joint.order = POISE_EULER_XYZ;
        joint.axes = poise_pose_identity().rotation;
        memcpy(joint.lower, plain.lower, sizeof joint.lower); // limits of a rotation vector are none of its angles
        memcpy(joint.upper, plain.upper, sizeof joint.upper);
        memcpy(joint.swing, plain.swing, sizeof joint.swing);
    }
    return joint;
}

// The coordinates of the new model for the pose that `kinematics` has; `q` holds those of the frame before.
static void euler_coordinates(const poise_model *old, const poise_model *made, const poise_kinematics *kinematics,
                              const double *q_old, double *q)
{
    for (int k = 0; k < poise_model_info(old).joints; ++k) {
        int first = poise_model_joint_info(made, k).q, count = poise_model_joint_info(made, k).nq,
            parent = poise_model_joint_info(old, k).parent;
        if (!changes(old, k)) {
            memcpy(q + first, q_old + poise_model_joint_info(old, k).q, sizeof *q * (size_t)count);
            continue;
        }
        poise_pose frame = poise_model_joint_info(old, k).given->offset;
        if (parent != POISE_WORLD) {
            frame = poise_pose_multiply(poise_kinematics_body_pose(kinematics, parent), frame);
        }
        poise_pose motion = poise_pose_multiply(poise_pose_inverse(frame), poise_kinematics_body_pose(kinematics, k));
        if (count == 6) {
            q[first] = motion.position.x;
            q[first + 1] = motion.position.y;
            q[first + 2] = motion.position.z;
        }
        double R[9];
        poise_quat_to_matrix(motion.rotation, R);
        pz_euler_next(R, 0, q + first + count - 3);
    }
}

// ---- Editing: clips in Euler angles --------------------------------------------------------------------------------------

static poise_status change_clip(const poise_clip *clip, const poise_model *old, const poise_model *made,
                                poise_clip **changed, poise_error *error)
{
    poise_kinematics *kinematics = NULL;
    size_t nq = (size_t)poise_model_info(made).nq;
    poise_status status = poise_kinematics_create(old, NULL, &kinematics, error);
    if (status == POISE_OK) {
        status = poise_clip_create(clip->frames, (int)nq, clip->frame_time, NULL, changed, error);
    }
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        const double *from = clip->q + (size_t)f * (size_t)clip->nq;
        double *to = (*changed)->q + (size_t)f * nq;
        status = poise_kinematics_update(kinematics, from, error);
        if (f > 0) {
            memcpy(to, to - nq, nq * sizeof *to);
        }
        euler_coordinates(old, made, kinematics, from, to);
    }
    if (*changed) {
        (*changed)->start_time = clip->start_time;
    }
    poise_kinematics_destroy(kinematics);
    return status;
}

// Ball joints and free joints of every kind as Euler angles; *count says how many joints that were.
//
// Postures and goals, which neither ASF nor AMC holds, are left out.
static poise_status edit_euler(poise_file *file, int *count, poise_error *error)
{
    *count = 0;
    for (int k = 0; k < poise_model_info(file->model).joints; ++k) {
        *count += changes(file->model, k);
    }
    if (*count == 0) {
        return POISE_OK;
    }
    poise_model *made = NULL;
    poise_clip *clip = NULL;
    poise_status status = edit_model(file->model, changed_joint, NULL, 1, NULL, &made, error);
    if (status == POISE_OK && file->clip) {
        status = change_clip(file->clip, file->model, made, &clip, error);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(clip);
        poise_model_destroy(made);
        return status;
    }
    poise_clip_destroy(file->clip);
    poise_model_destroy(file->model);
    file->clip = clip;
    file->model = made;
    file->posture_count = file->goal_count = 0;
    return POISE_OK;
}

// ---- Editing: all --------------------------------------------------------------------------------------------------------

poise_status poise_file_edit(poise_file *file, const poise_edit *edit, int *euler_joints, poise_error *error)
{
    if (euler_joints) {
        *euler_joints = 0;
    }
    if (!file || !edit || !(edit->rate >= 0) || edit->rate - edit->rate != 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "file and edit must not be NULL, and the rate must be finite and >= 0");
    }
    poise_status status = POISE_OK;
    if (edit->first != 0 || edit->count != 0) {
        status = trim(file, edit->first, edit->count, error);
    }
    if (status == POISE_OK && edit->rate > 0) {
        status = resample(file, edit->rate, error);
    }
    if (status == POISE_OK) {
        status = rescale(file, edit->assumed, edit->scale, error);
    }
    if (status == POISE_OK && edit->euler && file->model) {
        int count;
        status = edit_euler(file, euler_joints ? euler_joints : &count, error);
    }
    return status;
}
