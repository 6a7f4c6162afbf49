// Models, motions and markers from files and from the built-in scenes; pictures and tables of joint values into files.
#include "load.h"
#include "cli/files.h"
#include "files.h"
#include "terminal.h"

#include <scenes/recording.h>
#include <scenes/scenes.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Files that a file names ---------------------------------------------------------------------------------------------

enum { MOST_NAMED = 4096 };

typedef struct named_files {
    char folder[PATH_MAX]; // of the file that names the others
    int count;
    file_bytes file[MOST_NAMED];
} named_files;

bool find_named(const char *folder, const char *name, char *path, size_t size)
{
    for (int i = 0; poise_named_file(folder, name, i, path, size); ++i) {
        if (system_path_kind(path, true) == PATH_FILE) {
            return true;
        }
    }
    return false;
}

// poise_load: names are relative to the folder of the file that holds them.
static poise_status load_named(void *user, const char *name, const void **bytes, size_t *size)
{
    named_files *named = user;
    char path[PATH_MAX];
    if (!find_named(named->folder, name, path, sizeof path) || named->count == MOST_NAMED ||
        !file_read(path, &named->file[named->count])) {
        return POISE_ERROR_NOT_FOUND;
    }
    *bytes = named->file[named->count].bytes;
    *size = named->file[named->count++].size;
    return POISE_OK;
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

static void print_warnings(const char *name, const poise_file *file)
{
    enum { SHOWN = 5 };
    for (int i = 0; i < file->warning_count && i < SHOWN; ++i) {
        const poise_warning *w = &file->warnings[i];
        if (w->line > 0) {
            warn("%s:%d: %s", name, w->line, w->text);
        } else {
            warn("%s: %s", name, w->text);
        }
    }
    int more = file->warning_count + file->warnings_dropped - SHOWN;
    if (more > 0) {
        warn("%s: %d more; \"poise info %s%s\" lists them", name, more, name,
             file->format == POISE_FORMAT_SRDF ? " -m ROBOT.urdf" : "");
    }
}

static void print_error(const char *name, const poise_error *error)
{
    if (error->line > 0 && error->column > 0) {
        complain("%s:%d:%d: %s", name, error->line, error->column, error->text);
    } else if (error->line > 0) {
        complain("%s:%d: %s", name, error->line, error->text);
    } else {
        complain("%s: %s", name, error->text);
    }
}

static void miss_skeleton(const char *name)
{
    complain("%s: does not contain the skeleton it moves; give it with --source-model FILE", name);
}

// OpenSense's table of sensors, which looks like a motion.
static bool holds_sensors(const file_bytes *bytes)
{
    char head[2000];
    size_t size = bytes->size < sizeof head - 1 ? bytes->size : sizeof head - 1;
    memcpy(head, bytes->bytes, size);
    head[size] = '\0';
    return strstr(head, "DataType=Quaternion") != NULL;
}

// Text in two bytes a character, as some editors save it: a mark of their order, or letters with zeros between them. Of
// these XML is read.
static bool is_utf16(const file_bytes *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes->bytes;
    if (bytes->size < 4) {
        return false;
    }
    bool is_marked = (b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff);
    bool is_wide = (b[0] >= ' ' && !b[1] && b[2] >= ' ' && !b[3]) || (!b[0] && b[1] >= ' ' && !b[2] && b[3] >= ' ');
    int first = is_marked ? b[2] | b[3] : b[0] | b[1];
    return (is_marked || is_wide) && first != '<';
}

static poise_file *read_bytes(const char *name, const file_bytes *bytes, const load_options *options)
{
    static named_files named;
    named.count = 0;
    snprintf(named.folder, sizeof named.folder, "%.*s", (int)(path_base(name) - name), name);
    poise_read_options how = {0};
    how.name = name;
    how.model = options->model;
    how.floating = options->floating;
    how.ignore_follower_limits = options->ignore_follower_limits;
    how.animation = options->animation;
    how.animation_name = options->animation_name;
    how.meshes = options->meshes;
    how.load = load_named;
    how.user = &named;
    poise_file *file = NULL;
    poise_error error = {0};
    poise_format format = poise_format_detect(bytes->bytes, bytes->size, name);
    if (format == POISE_FORMAT_MOT && holds_sensors(bytes)) {
        complain("%s: holds orientations of sensors; \"poise track MODEL.osim %s --sensors PLACER.xml\" follows them", name,
                 path_base(name));
    } else if (!how.model && format == POISE_FORMAT_SRDF) {
        complain("%s: does not contain its robot; give it with -m ROBOT.urdf (solve: ROBOT.urdf --avoid --srdf %s)", name,
                 path_base(name));
    } else if (!how.model && (format == POISE_FORMAT_AMC || format == POISE_FORMAT_MOT)) {
        miss_skeleton(name);
    } else if (poise_read(bytes->bytes, bytes->size, &how, NULL, &file, &error) != POISE_OK) {
        if (is_utf16(bytes)) {
            complain("%s: is UTF-16 text; convert it to UTF-8: iconv -f UTF-16 -t UTF-8", name);
        } else {
            print_error(name, &error);
        }
        file = NULL;
    }
    for (int i = 0; i < named.count; ++i) {
        file_release(&named.file[i]);
    }
    return file;
}

poise_file *load_file(const char *name, const load_options *options)
{
    static const load_options none = {0};
    options = options ? options : &none;
    if (strncmp(name, SCENE_PREFIX, strlen(SCENE_PREFIX)) == 0) {
        return load_scene(name + strlen(SCENE_PREFIX));
    }
    if (strcmp(name, "scene") == 0 && system_path_kind(name, true) == PATH_MISSING) {
        complain("scene: there is no such file; did you mean \"scene:\"? \"poise info scene:\" lists the scenes");
        return NULL;
    }
    file_bytes bytes;
    if (!file_read(name, &bytes)) {
        return NULL;
    }
    const char *shown = strcmp(name, "-") == 0 ? "standard input" : name;
    poise_file *file = read_bytes(shown, &bytes, options);
    file_release(&bytes);
    if (file && !options->quiet) {
        print_warnings(shown, file);
        if (file->loop_count > 0 && !options->holds_loops) {
            warn("%s: closes %d loop%s; only \"poise solve\", and \"poise track\" without --whole, keep loops closed", shown,
                 file->loop_count, file->loop_count > 1 ? "s" : "");
        }
    }
    return file;
}

poise_file *load_model(const char *name, const load_options *options)
{
    poise_file *file = load_file(name, options);
    if (file && !file->model) {
        complain("%s: holds no skeleton; a skeleton comes from URDF, MJCF, OpenSim, BVH, ASF, glTF, a DH table or JSON",
                 name);
        poise_file_destroy(file);
        return NULL;
    }
    return file;
}

// The skeleton of "folder/HDM_dg_03-05_02.amc" is "folder/HDM_dg_03-05_02.asf", or ".../HDM_dg_03-05.asf", and so on.
static poise_file *load_skeleton_of(const char *motion)
{
    char path[PATH_MAX];
    int stem = (int)(strrchr(motion, '.') - motion), least = (int)(path_base(motion) - motion);
    while (stem > least) {
        if (snprintf(path, sizeof path, "%.*s.asf", stem, motion) >= (int)sizeof path) {
            break;
        }
        FILE *file = fopen(path, "rb");
        if (file) {
            fclose(file);
            return load_model(path, NULL);
        }
        do {
            --stem;
        } while (stem > least && motion[stem] != '_');
    }
    miss_skeleton(motion);
    return NULL;
}

static bool has_extension(const char *name, const char *extension)
{
    size_t size = strlen(name), length = strlen(extension);
    if (size < length) {
        return false;
    }
    for (size_t i = 0; i < length; ++i) {
        char c = name[size - length + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != extension[i]) {
            return false;
        }
    }
    return true;
}

// A motion of a robot may move it about as a whole: where it has columns that the robot, fixed to the world, leaves out, and
// the robot with a free root does not, that is the robot which is meant. Both are exchanged, or neither.
static void try_free_root(const char *name, const char *model_name, const load_options *options, poise_file **file,
                          poise_file **skeleton)
{
    load_options how = *options;
    bool is_robot = (*skeleton)->format == POISE_FORMAT_URDF || (*skeleton)->format == POISE_FORMAT_MJCF;
    if (!is_robot || how.floating || (*file)->warning_count == 0 || strcmp(name, "-") == 0) {
        return;
    }
    how.floating = how.quiet = true;
    poise_file *robot = load_model(model_name, &how), *motion = NULL;
    how.model = robot ? robot->model : NULL;
    motion = robot ? load_file(name, &how) : NULL;
    if (motion && motion->warning_count < (*file)->warning_count) {
        poise_file *const fixed[2] = {*file, *skeleton};
        *file = motion, *skeleton = robot;
        motion = fixed[0], robot = fixed[1];
    }
    poise_file_destroy(motion);
    poise_file_destroy(robot);
}

bool load_any(const char *name, const char *model_name, const load_options *options, poise_file **file,
              poise_file **skeleton)
{
    load_options how = options ? *options : (load_options){0};
    bool is_quiet = how.quiet;
    poise_file *other = NULL;
    bool needs_model = has_extension(name, ".amc");
    if (model_name || needs_model) {
        other = model_name ? load_model(model_name, &how) : load_skeleton_of(name);
        if (!other) {
            return false;
        }
        how.model = other->model;
        how.quiet = true;
    }
    poise_file *found = load_file(name, &how);
    if (!found || found->model) { // its own skeleton is the one that it moves
        poise_file_destroy(other);
        other = NULL;
    }
    if (found && model_name && other) {
        try_free_root(name, model_name, &how, &found, &other);
    }
    if (found && how.quiet && !is_quiet) {
        print_warnings(strcmp(name, "-") == 0 ? "standard input" : name, found);
    }
    *file = found;
    *skeleton = other;
    return found != NULL;
}

poise_file *load_motion_for(const char *name, const char *animation, const poise_file *model, const char *model_name)
{
    load_options options = {.model = model->model};
    load_animation(animation, &options);
    poise_file *motion = load_file(name, &options);
    int nq = poise_model_info(model->model).nq;
    if (!motion) {
        return NULL;
    }
    if (!motion->clip) {
        complain("%s: holds no motion; a motion comes from BVH, AMC, MOT, glTF or JSON", name);
    } else if (motion->clip->nq != nq) {
        complain("%s: moves another skeleton, with %d numbers per frame where %s has %d; retarget it first: poise %s %s "
                 "%s -o motion.json",
                 name, motion->clip->nq, model_name, nq, motion->model ? "retarget" : "track",
                 motion->model ? name : model_name, motion->model ? model_name : name);
    } else if (motion->clip->frames == 0) {
        complain("%s: its motion has no frames", name);
    } else {
        return motion;
    }
    poise_file_destroy(motion);
    return NULL;
}

void load_animation(const char *choice, load_options *options)
{
    bool is_number = choice && *choice && strlen(choice) < 9 && strspn(choice, "0123456789") == strlen(choice);
    options->animation = is_number ? atoi(choice) : 0;
    options->animation_name = is_number ? NULL : choice;
}

bool load_can_choose(const char *choice, const poise_file *file, const char *name)
{
    bool has_any = file->format == POISE_FORMAT_GLTF || file->format == POISE_FORMAT_GLB;
    if (choice && !has_any) {
        complain("%s: is no glTF and holds one motion at most; leave --animation out", name);
    }
    return !choice || has_any;
}

bool load_motion(const char *name, const char *model_name, const load_options *options, poise_file **motion,
                 poise_file **skeleton)
{
    if (!load_any(name, model_name, options, motion, skeleton)) {
        return false;
    }
    if ((*motion)->clip && ((*motion)->model || *skeleton)) {
        return true;
    }
    if ((*motion)->clip) {
        miss_skeleton(name);
    } else {
        complain("%s: holds no motion; a motion comes from BVH, AMC, MOT, glTF or JSON", name);
    }
    poise_file_destroy(*motion);
    poise_file_destroy(*skeleton);
    return false;
}

bool load_subject(const char *name, const char *subject, poise_file *file)
{
    poise_markers *part = NULL;
    poise_error error = {0};
    if (!subject) {
        return true;
    }
    if (!file->markers) {
        complain("%s: holds no markers for --subject to choose from", name);
        return false;
    }
    if (poise_markers_select(file->markers, subject, NULL, &part, &error) != POISE_OK) {
        complain("%s: %s", name, error.text);
        return false;
    }
    poise_markers_destroy(file->markers);
    file->markers = part;
    return true;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

poise_format format_by_name(const char *name)
{
    poise_format format = poise_format_detect(NULL, 0, name);
    if (format == POISE_FORMAT_UNKNOWN) {
        complain("%s: no output format has this extension; use one of " WRITTEN_FILES, name);
    }
    return format;
}

static bool can_hold(const poise_file *file, poise_format format, poise_error *error)
{
    void *bytes;
    size_t size;
    int warnings = 0;
    bool works = poise_write(file, format, NULL, &bytes, &size, NULL, &warnings, error) == POISE_OK;
    if (works) {
        poise_bytes_release(NULL, bytes);
    }
    return works;
}

void name_of_motion(const poise_file *file, const char *path, char *name, size_t size)
{
    const poise_carried *c = file->carried;
    if (c && c->animations > 1 && c->animation_name[c->animation][0]) {
        snprintf(name, size, "%s", c->animation_name[c->animation]);
        return;
    }
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot > name) {
        *dot = '\0';
    }
    if (name[0] == '\0' || strcmp(name, "-") == 0) {
        snprintf(name, size, "motion");
    }
}

bool motion_can_be_written(const poise_file *given, const char *name)
{
    static const struct {
        const char *extension;
        poise_format format;
    } motions[] = {{".bvh", POISE_FORMAT_BVH}, {".amc", POISE_FORMAT_AMC},   {".mot", POISE_FORMAT_MOT},
                   {".glb", POISE_FORMAT_GLB}, {".gltf", POISE_FORMAT_GLTF}, {".json", POISE_FORMAT_JSON}};
    enum { COUNT = sizeof motions / sizeof motions[0] };
    poise_format format = strcmp(name, "-") == 0 ? POISE_FORMAT_JSON : format_by_name(name);
    if (format == POISE_FORMAT_UNKNOWN || is_joint_table(name)) {
        return format != POISE_FORMAT_UNKNOWN;
    }
    poise_file file = *given;
    need(poise_clip_create(1, poise_model_info(file.model).nq, 1, NULL, &file.clip, NULL) == POISE_OK);
    poise_model_neutral(file.model, file.clip->q);
    file.placement_count = 0;
    poise_error error = {0};
    bool is_motion = false;
    char able[64] = "";
    for (int i = 0; i < COUNT; ++i) {
        is_motion = is_motion || motions[i].format == format;
    }
    bool works = is_motion && can_hold(&file, format, &error);
    for (int i = 0; i < COUNT && !works; ++i) {
        if (motions[i].format != format && can_hold(&file, motions[i].format, NULL)) {
            snprintf(able + strlen(able), sizeof able - strlen(able), " %s", motions[i].extension);
        }
    }
    poise_clip_destroy(file.clip);
    if (!works) {
        complain("%s: %s; this motion can be written as%s .csv", name,
                 is_motion ? error.text : "such a file cannot hold a motion", able);
    }
    return works;
}

bool save_file(const char *name, const poise_file *file)
{
    enum { SHOWN = 8 };
    poise_format format = strcmp(name, "-") == 0 ? POISE_FORMAT_JSON : format_by_name(name);
    if (format == POISE_FORMAT_UNKNOWN) {
        return false;
    }
    void *bytes;
    size_t size;
    poise_warning warnings[SHOWN];
    int count = SHOWN;
    poise_error error = {0};
    if (poise_write(file, format, NULL, &bytes, &size, warnings, &count, &error) != POISE_OK) {
        print_error(name, &error);
        return false;
    }
    for (int i = 0; i < count && i < SHOWN; ++i) {
        warn("%s: %s", name, warnings[i].text);
    }
    if (count > SHOWN) {
        warn("%s: %d more things were lost", name, count - SHOWN);
    }
    bool works = file_write(name, bytes, size);
    poise_bytes_release(NULL, bytes);
    return works;
}

bool save_motion(const char *name, const poise_file *file)
{
    return is_joint_table(name) ? save_joint_table(file->model, file->clip, name) : save_file(name, file);
}

bool save_skeleton_of(const char *amc, const poise_file *file, const char *input)
{
    char path[PATH_MAX];
    poise_file skeleton = {.model = file->model, .scale = file->scale, .title = file->title};
    if (!has_extension(amc, ".amc")) {
        return true;
    }
    int stem = (int)strlen(amc) - 4;
    snprintf(path, sizeof path, "%.*s.asf", stem, amc);
    if (files_are_same(path, input)) {
        snprintf(path, sizeof path, "%.*s-scaled.asf", stem, amc);
    }
    bool works = save_file(path, &skeleton);
    if (works) {
        warn("%s: an AMC holds no skeleton; its skeleton is in %s", amc, path);
    }
    return works;
}

// ---- The built-in scenes as if they were files ---------------------------------------------------------------------------

// A scene while it is put together; poise_read makes an owned copy of it.
typedef struct scene_parts {
    poise_file file;
    scene_marker *places;
} scene_parts;

static void release(scene_parts *parts)
{
    for (int i = 0; i < parts->file.posture_count; ++i) {
        free((void *)parts->file.postures[i].q);
    }
    free(parts->file.postures);
    free(parts->file.placements);
    free(parts->places);
    poise_clip_destroy(parts->file.clip);
    poise_markers_destroy(parts->file.markers);
    poise_model_destroy(parts->file.model);
}

static void add_postures(scene_parts *parts, const char *scene)
{
    poise_file *file = &parts->file;
    file->posture_count = scene_posture_count(scene);
    file->postures = needed(calloc((size_t)file->posture_count + 1, sizeof *file->postures));
    for (int i = 0; i < file->posture_count; ++i) {
        double *q = needed(calloc((size_t)poise_model_info(file->model).nq + 1, sizeof *q));
        file->postures[i] = (poise_posture){.name = scene_posture_name(scene, i), .q = q};
        need(scene_posture(file->model, scene, file->postures[i].name, q) == POISE_OK);
    }
}

static void add_placements(scene_parts *parts, const char *scene)
{
    poise_file *file = &parts->file;
    int count = scene_marker_count(scene);
    parts->places = needed(calloc((size_t)count + 1, sizeof *parts->places));
    file->placements = needed(calloc((size_t)count + 1, sizeof *file->placements));
    file->placement_count = scene_markers(scene, parts->places, count);
    for (int i = 0; i < count; ++i) {
        const scene_marker *m = &parts->places[i];
        file->placements[i] = (poise_placement){.label = m->name, .body = m->body, .local = m->local, .weight = 1};
    }
}

// False after a line on standard error: "scene" exists, its motion may not.
static bool add_motion(scene_parts *parts, const char *scene, const char *motion)
{
    char name[64];
    snprintf(name, sizeof name, "%s", motion);
    char *slash = strchr(name, '/');
    if (slash) {
        *slash++ = '\0';
    }
    if (slash && strcmp(slash, "noisy") != 0) {
        complain("scene:%s/%s: there is \"%s/noisy\", but not \"%s/%s\"", scene, motion, name, name, slash);
        return false;
    }
    scene_recording how = slash ? scene_recording_noisy() : scene_recording_default();
    poise_status status = scene_record(parts->file.model, scene, name, &how, &parts->file.clip, &parts->file.markers);
    if (status == POISE_ERROR_UNSUPPORTED) {
        complain("scene:%s/%s: only the humanoids have motions", scene, motion);
    } else if (status != POISE_OK) {
        complain("scene:%s/%s: no such motion; there are walk, punch, kick and cartwheel", scene, motion);
    }
    return status == POISE_OK;
}

// Write it and read it back: then all parts are the file's own.
static poise_file *own(const scene_parts *parts, const char *scene)
{
    void *bytes;
    size_t size;
    int warnings = 0;
    poise_file *file = NULL;
    poise_error error = {0};
    poise_read_options options = {0};
    options.name = "scene.json";
    if (poise_write(&parts->file, POISE_FORMAT_JSON, NULL, &bytes, &size, NULL, &warnings, &error) == POISE_OK) {
        if (poise_read(bytes, size, &options, NULL, &file, &error) != POISE_OK) {
            file = NULL;
        }
        poise_bytes_release(NULL, bytes);
    }
    if (!file) {
        complain("scene:%s: %s", scene, error.text);
        return NULL;
    }
    file->format = POISE_FORMAT_UNKNOWN; // it comes from no file
    return file;
}

static const char *scene_at(const void *user, int index)
{
    (void)user;
    return scene_name(index);
}

// Figures that stand for people and animals have y up, machines z.
static poise_up upward(const char *scene)
{
    static const char *const families[] = {"humanoid", "lamp", "erik-"};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; ++i) {
        if (strncmp(scene, families[i], strlen(families[i])) == 0) {
            return POISE_UP_Y;
        }
    }
    return POISE_UP_Z;
}

poise_file *load_scene(const char *name)
{
    char scene[64];
    snprintf(scene, sizeof scene, "%s", name);
    char *slash = strchr(scene, '/');
    if (slash) {
        *slash = '\0';
    }
    scene_parts parts = {.file.scale = {.metres = 1, .up = upward(scene)}, .file.title = scene};
    poise_file *file = NULL;
    if (scene_create(scene, NULL, &parts.file.model, NULL) != POISE_OK) {
        parts.file.model = NULL;
        const char *near = poise_nearest_name(scene, scene_at, NULL, scene_count());
        complain("scene:%s: no such scene; %s%s%s", scene,
                 near ? "did you mean \"scene:" : "\"poise info scene:\" lists them", near ? near : "", near ? "\"?" : "");
        return NULL;
    }
    add_postures(&parts, scene);
    add_placements(&parts, scene);
    if (!slash || add_motion(&parts, scene, slash + 1)) {
        file = own(&parts, scene);
    }
    release(&parts);
    return file;
}

// ---- Pictures and tables -------------------------------------------------------------------------------------------------

enum { TOP = 80 }; // pixels above, for the title

picture *begin_picture(int width, int height, const char *title, const char *caption, const poise_model *model,
                       poise_kinematics **kinematics)
{
    picture *p = needed(picture_create(width, height));
    need(poise_kinematics_create(model, NULL, kinematics, NULL) == POISE_OK);
    picture_text(p, 30, 40, 20, PICTURE_LEFT, INK, title);
    picture_text(p, 30, 62, 13, PICTURE_LEFT, PALE_INK, caption);
    return p;
}

// The axis across which all lies in one plane: 0, 1, 2; -1: none, or a single line.
static int flat_axis(const drawing_box *box)
{
    double size[3] = {box->most.x - box->least.x, box->most.y - box->least.y, box->most.z - box->least.z};
    double largest = fmax(fmax(size[0], size[1]), size[2]);
    int flat = -1, count = 0;
    for (int axis = 0; axis < 3; ++axis) {
        if (size[axis] < 1e-3 * largest) {
            flat = axis;
            count += 1;
        }
    }
    return count == 1 ? flat : -1;
}

// What lies in a plane is seen from straight ahead, the upward axis, or else y, upwards.
static void show_flat(picture *p, const drawing_box *box, poise_vec3 up, int axis, double edge)
{
    double front = up.z > 0.5 ? -1 : 1; // robots with z up stand before -y
    poise_vec3 from = poise_vec3_make(axis == 0, axis == 1 ? front : 0, axis == 2);
    bool is_seen_from_above = (axis == 1 && up.y > 0.5) || (axis == 2 && up.z > 0.5);
    poise_vec3 upwards = !is_seen_from_above ? up : axis == 2 ? poise_vec3_make(0, 1, 0) : poise_vec3_make(0, 0, -1);
    picture_view view = picture_look(from, upwards);
    drawing_fit_view(&view, box, SKELETON_WIDTH / 2.0, (SKELETON_HEIGHT + TOP) / 2.0, SKELETON_WIDTH - 2 * edge,
                     SKELETON_HEIGHT - TOP - 2 * edge + 40);
    picture_set_view(p, &view);
}

void show_box(picture *p, const poise_file *file, drawing_box *box, double edge)
{
    poise_up side = file->scale.up;
    poise_vec3 up = side == POISE_UP_Y   ? poise_vec3_make(0, 1, 0)
                    : side == POISE_UP_Z ? poise_vec3_make(0, 0, 1)
                                         : drawing_guess_up(file->model);
    int flat = flat_axis(box);
    if (flat >= 0) {
        show_flat(p, box, up, flat, edge);
        return;
    }
    double *floor = up.y > 0.5 ? &box->least.y : &box->least.z;
    *floor = fmin(*floor, 0);
    picture_view view = drawing_view(box, up, SKELETON_WIDTH / 2.0, (SKELETON_HEIGHT + TOP) / 2.0, SKELETON_WIDTH - 2 * edge,
                                     SKELETON_HEIGHT - TOP - 2 * edge + 40);
    picture_set_view(p, &view);
    drawing_ground(p, box, up, *floor, "#e3e8ed");
}

bool save_picture(picture *p, poise_kinematics *kinematics, const char *name)
{
    text_file file;
    need(picture_is_whole(p));
    text_open(&file);
    picture_write(p, file.stream);
    bool works = text_close(&file, name);
    picture_destroy(p);
    poise_kinematics_destroy(kinematics);
    return works;
}

bool is_joint_table(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && strcmp(dot, ".csv") == 0;
}

bool save_joint_table(const poise_model *model, const poise_clip *clip, const char *name)
{
    text_file text;
    text_open(&text);
    fputs("time", text.stream);
    for (int i = 0; i < clip->nq; ++i) {
        poise_coordinate c = poise_model_coordinate(model, i);
        poise_joint_info joint = poise_model_joint_info(model, c.joint);
        fprintf(text.stream, joint.nq > 1 ? ",%s/%s" : ",%s", joint.name, c.name);
    }
    for (int f = 0; f < clip->frames; ++f) {
        fprintf(text.stream, "\n%.9g", clip->start_time + f * clip->frame_time);
        for (int i = 0; i < clip->nq; ++i) {
            fprintf(text.stream, ",%.17g", clip->q[(size_t)f * (size_t)clip->nq + (size_t)i]);
        }
    }
    fputc('\n', text.stream);
    return text_close(&text, name);
}
