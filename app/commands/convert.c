// poise convert: from one format to another.
#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "commands/commands.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LOSSES = 64 };

typedef struct job {
    const char *input, *output;
    poise_file *file, *skeleton; // the skeleton where it came from another file
    poise_format format;
    poise_warning losses[MOST_LOSSES]; // what could not be carried over
    int loss_count;                    // may be more than that
    size_t size;                       // bytes written
    bool is_table;                     // of joint values, a row a frame
    int changed;                       // joints that became Euler angles, without limits
} job;

// ---- Changes -------------------------------------------------------------------------------------------------------------

// An AMC or MOT and its skeleton become one.
static void join_skeleton(job *j)
{
    if (j->skeleton && !j->file->model) {
        j->file->model = j->skeleton->model;
        j->file->scale = j->skeleton->scale;
        j->skeleton->model = NULL;
    }
}

// What the file does not say and OUT needs, by the figure in it, with a word; what the user says counts more.
static void assume(const job *j, poise_scale wanted, poise_scale *assumed)
{
    const poise_markers *markers = j->file->markers;
    poise_figure f = {.metres = 0};
    poise_scale said = markers ? markers->scale : j->file->scale;
    char unit[32];
    bool is_gltf = j->format == POISE_FORMAT_GLTF || j->format == POISE_FORMAT_GLB; // metres, y up
    bool needs_unit = !(said.metres > 0) && !(assumed->metres > 0) && (wanted.metres > 0 || is_gltf);
    bool needs_up =
        said.up == POISE_UP_UNKNOWN && assumed->up == POISE_UP_UNKNOWN && (wanted.up != POISE_UP_UNKNOWN || is_gltf);
    if (markers) {
        poise_markers_figure(markers, &f, NULL);
    } else if (j->file->model) {
        poise_clip_figure(j->file->model, j->file->clip, &f, NULL);
    }
    if (said.metres > 0 && !(assumed->metres > 0) && is_no_person(&f, said.metres)) {
        warn("%s: in its units of %g m the person is %.3g m tall; in %s it would be %.3g m", j->input, said.metres,
             f.height * said.metres, unit_name(f.metres, unit), f.height * f.metres);
    }
    needs_unit = needs_unit && f.metres > 0;
    needs_up = needs_up && f.up != POISE_UP_UNKNOWN && !f.is_upside_down;
    assumed->metres = needs_unit ? f.metres : assumed->metres;
    assumed->up = needs_up ? f.up : assumed->up;
    if (needs_unit || needs_up) {
        warn("%s: %s%s%s%s assumed from the figure; --source-unit and --source-up override this", j->input,
             needs_unit ? unit_name(f.metres, unit) : "", needs_unit && needs_up ? ", " : "", needs_up ? up_name(f.up) : "",
             needs_up ? " up" : "");
    }
}

static bool change(job *j, const arguments *args)
{
    int first = option_count(args, "first", 0), last = option_count(args, "last", -1);
    if (option_given(args, "last") && last < first) {
        complain("convert: --first %d is after --last %d", first, last);
        return false;
    }
    poise_edit edit = {
        .first = first,
        .count = option_given(args, "last") ? last - first + 1 : 0,
        .rate = option_given(args, "rate") ? option_number(args, "rate", 0) : 0,
        .assumed = {option_number(args, "source-unit", 0), up_by_name(option_text(args, "source-up", NULL))},
        .scale = {option_number(args, "unit", 0), up_by_name(option_text(args, "up", NULL))},
        .euler = j->format == POISE_FORMAT_ASF || j->format == POISE_FORMAT_AMC,
    };
    assume(j, edit.scale, &edit.assumed);
    poise_error error;
    poise_status status = poise_file_edit(j->file, &edit, &j->changed, &error);
    if (status == POISE_ERROR_UNSUPPORTED) {
        bool is_unit = strstr(error.text, "unit") != NULL;
        complain("%s: %s; give it with --source-%s", j->input, error.text, is_unit ? "unit" : "up");
    } else if (status != POISE_OK) {
        complain("%s: %s", j->input, error.text);
    }
    if (edit.scale.up != POISE_UP_UNKNOWN && (j->format == POISE_FORMAT_BVH || j->format == POISE_FORMAT_ASF)) {
        j->file->scale.up = POISE_UP_UNKNOWN; // as asked for, not as the format has it by custom
    }
    return status == POISE_OK;
}

// ---- One chain -----------------------------------------------------------------------------------------------------------

// The joints from the root to a body, the first of them first. Returns how many.
static int path_to(const poise_model *model, int body, int *path)
{
    int count = 0;
    for (int k = body; k >= 0; k = poise_model_joint_info(model, k).parent) {
        path[count++] = k;
    }
    for (int i = 0; i < count / 2; ++i) {
        int other = path[i];
        path[i] = path[count - 1 - i];
        path[count - 1 - i] = other;
    }
    return count;
}

// The model without what is not on the way to --tip, which a table of one chain has no place for.
static bool keep_chain(job *j, const char *tip)
{
    const poise_model *model = j->file->model;
    poise_pose local = poise_pose_identity();
    int body = model ? find_body(model, tip, &local) : POISE_NONE;
    if (!model || body < 0) {
        if (!model) {
            complain("%s: holds no skeleton to take --body from", j->input);
        }
        return false;
    }
    int *path = needed(calloc((size_t)poise_model_info(model).joints, sizeof *path)), count = path_to(model, body, path);
    poise_builder *builder;
    poise_model *chain = NULL;
    poise_error error;
    char name[PATH_MAX];
    need(poise_builder_create(NULL, &builder, NULL) == POISE_OK);
    poise_status status = POISE_OK;
    for (int i = 0; i < count && status == POISE_OK; ++i) {
        poise_joint joint = *poise_model_joint_info(model, path[i]).given;
        status = poise_builder_add_joint(builder, &joint, &error);
    }
    snprintf(name, sizeof name, "%s.tip", poise_model_joint_info(model, body).body);
    poise_tool tool = {.name = name, .body = poise_model_joint_info(model, body).body, .pose = local};
    status = status == POISE_OK ? poise_builder_add_tool(builder, &tool, &error) : status;
    status = status == POISE_OK ? poise_model_create(builder, NULL, &chain, &error) : status;
    poise_builder_destroy(builder);
    free(path);
    if (status != POISE_OK) {
        complain("%s: --body %s: %s", j->input, tip, error.text);
        return false;
    }
    poise_model_destroy(j->file->model);
    j->file->model = chain;
    return true;
}

static int moving_joints(const poise_model *model)
{
    int count = 0;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        count += poise_model_joint_info(model, k).type != POISE_JOINT_FIXED;
    }
    return count;
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static poise_format choose_format(const char *output, const char *name)
{
    if (!name) {
        if (strcmp(output, "-") == 0) {
            complain("convert: which format should standard output get? --to-format NAME");
            return POISE_FORMAT_UNKNOWN;
        }
        return format_by_name(output);
    }
    for (int i = POISE_FORMAT_UNKNOWN + 1; i < POISE_FORMAT_COUNT; ++i) {
        if (strcmp(poise_format_name((poise_format)i), name) == 0) {
            return (poise_format)i;
        }
    }
    return POISE_FORMAT_UNKNOWN; // the table of options has no such name
}

// An AMC whose skeleton is in no ASF: that comes beside it, unless something of its name is there.
static bool write_skeleton(const job *j)
{
    char path[PATH_MAX];
    bool has_own = j->skeleton && j->skeleton->format == POISE_FORMAT_ASF && j->changed == 0;
    size_t length = strlen(j->output);
    if (j->format != POISE_FORMAT_AMC || has_own || length < 4) {
        return true;
    }
    snprintf(path, sizeof path, "%.*s.asf", (int)length - 4, j->output);
    return system_path_kind(path, true) != PATH_MISSING || save_skeleton_of(j->output, j->file, j->input);
}

static bool holds_markers(poise_format format)
{
    return format == POISE_FORMAT_C3D || format == POISE_FORMAT_TRC || format == POISE_FORMAT_JSON;
}

static bool write_output(job *j)
{
    if (j->is_table) {
        return save_joint_table(j->file->model, j->file->clip, j->output);
    }
    if (!j->file->model && j->file->markers && !holds_markers(j->format)) {
        complain("%s: holds markers only; fit a skeleton to them first: poise track SKELETON %s -o %s", j->input, j->input,
                 j->output);
        return false;
    }
    void *bytes;
    poise_error error = {0};
    j->loss_count = MOST_LOSSES;
    poise_status status = poise_write(j->file, j->format, NULL, &bytes, &j->size, j->losses, &j->loss_count, &error);
    if (status != POISE_OK) {
        bool has_branches = j->format == POISE_FORMAT_DH && strstr(error.text, "one chain");
        complain("%s: %s%s", j->output, error.text, has_branches ? "; --body NAME says where it ends" : "");
        return false;
    }
    bool works = file_write(j->output, bytes, j->size);
    poise_bytes_release(NULL, bytes);
    return works && write_skeleton(j);
}

// ---- Printing ------------------------------------------------------------------------------------------------------------

static void warn_of_losses(const job *j)
{
    const char *shown = strcmp(j->output, "-") == 0 ? "standard output" : j->output;
    if (j->changed > 0) {
        warn("%s: %d joints became Euler angles, without limits; their motion is the same", shown, j->changed);
    }
    if (j->file->loop_count > 0 && j->format != POISE_FORMAT_JSON) {
        warn("%s: is written without the loops of the model; only Poise's JSON holds them", shown);
    }
    for (int i = 0; i < j->loss_count && i < MOST_LOSSES; ++i) {
        warn("%s: %s", shown, j->losses[i].text);
    }
    if (j->loss_count > MOST_LOSSES) {
        warn("%s: %d more", shown, j->loss_count - MOST_LOSSES);
    }
}

static bool holds_motion(poise_format format)
{
    return format == POISE_FORMAT_BVH || format == POISE_FORMAT_AMC || format == POISE_FORMAT_MOT ||
           format == POISE_FORMAT_GLTF || format == POISE_FORMAT_GLB || format == POISE_FORMAT_JSON;
}

static bool holds_skeleton(poise_format format)
{
    return format != POISE_FORMAT_AMC && format != POISE_FORMAT_MOT && format != POISE_FORMAT_C3D &&
           format != POISE_FORMAT_TRC;
}

// Joints of the skeleton as OUT holds it: a Denavit-Hartenberg table has a row for each that moves.
static int joints_written(const job *j)
{
    const poise_model *model = j->file->model;
    return !model || j->is_table || !holds_skeleton(j->format) ? 0
           : j->format == POISE_FORMAT_DH                      ? moving_joints(model)
                                                               : poise_model_info(model).joints;
}

static void print_people(const job *j)
{
    const poise_file *file = j->file;
    int joints = joints_written(j);
    printf("%s: %s", j->output, j->is_table ? "joint values" : poise_format_name(j->format));
    if (joints > 0) {
        printf(", %d joint%s", joints, joints == 1 ? "" : "s");
    }
    if (file->clip && (j->is_table || holds_motion(j->format))) {
        printf(", %d frame%s at %.6g per second", file->clip->frames, file->clip->frames == 1 ? "" : "s",
               1 / file->clip->frame_time);
    }
    if (file->markers && !j->is_table && holds_markers(j->format)) {
        printf(", %d marker%s in %d frame%s", file->markers->count, file->markers->count == 1 ? "" : "s",
               file->markers->frames, file->markers->frames == 1 ? "" : "s");
    }
    printf("\n");
}

static app_exit print_machine(const job *j)
{
    const poise_file *file = j->file;
    json_node *losses = json_new(JSON_ARRAY);
    if (j->changed > 0) {
        char text[80];
        snprintf(text, sizeof text, "%d joints became Euler angles, without limits", j->changed);
        json_append(losses, json_from_text(text));
    }
    for (int i = 0; i < j->loss_count && i < MOST_LOSSES; ++i) {
        json_append(losses, json_from_text(j->losses[i].text));
    }
    bool clip = file->clip && (j->is_table || holds_motion(j->format)), markers = file->markers && holds_markers(j->format);
    json_node *o =
        json_make("{s:o, s:o, s:s, s:I, s:i, s:i, s:i, s:o}", "input", json_from_text(j->input), "output",
                  json_from_text(j->output), "format", j->is_table ? "joint values" : poise_format_name(j->format), "bytes",
                  (long long)j->size, "joints", joints_written(j), "frames",
                  clip      ? file->clip->frames
                  : markers ? file->markers->frames
                            : 0,
                  "markers", markers ? file->markers->count : 0, "lost", losses);
    return json_print(o) ? APP_DONE : APP_BAD;
}

// ---- The command ---------------------------------------------------------------------------------------------------------

// OUT, or -o OUT as other commands have it. NULL after one line on standard error.
static const char *output_of(const arguments *args)
{
    const char *given = option_text(args, "output", NULL);
    if ((given != NULL) == (arguments_count(args) == 2)) {
        complain(given ? "convert: writes one file: give OUT or -o OUT, not both"
                       : "convert: missing argument; usage: poise convert IN OUT");
        return NULL;
    }
    return given ? given : arguments_at(args, 1);
}

static app_exit run(const arguments *args)
{
    static job j; // the losses are large
    j = (job){.input = arguments_at(args, 0), .output = output_of(args)};
    if (!j.output) {
        return APP_BAD;
    }
    j.format = choose_format(j.output, option_text(args, "to-format", NULL));
    bool to_stdout = strcmp(j.output, "-") == 0;
    if (j.format == POISE_FORMAT_UNKNOWN) {
        return APP_BAD;
    }
    if (to_stdout && arguments_json(args)) {
        complain("convert: standard output can take the file or --json, not both");
        return APP_BAD;
    }
    if (!arguments_check_output(args, j.output, option_given(args, "to-format") ? NULL : WRITTEN_FILES)) {
        return APP_BAD;
    }
    load_options how = {.floating = option_given(args, "floating"),
                        .ignore_follower_limits = option_given(args, "ignore-follower-limits"),
                        .meshes = j.format == POISE_FORMAT_JSON,
                        .holds_loops = true};
    const char *animation = option_text(args, "animation", NULL);
    load_animation(animation, &how);
    if (!load_any(j.input, option_text(args, "source-model", NULL), &how, &j.file, &j.skeleton)) {
        return APP_BAD;
    }
    join_skeleton(&j);
    app_exit result = APP_BAD;
    const char *tip = option_text(args, "body", NULL);
    if (tip && j.format != POISE_FORMAT_DH) {
        complain("convert: --body is about a table of one chain: write a .csv");
        poise_file_destroy(j.file);
        poise_file_destroy(j.skeleton);
        return result;
    }
    j.is_table = j.format == POISE_FORMAT_DH && !tip && !option_given(args, "to-format") && j.file->clip && j.file->model;
    if ((!tip || keep_chain(&j, tip)) && load_can_choose(animation, j.file, j.input) &&
        load_subject(j.input, option_text(args, "subject", NULL), j.file) && change(&j, args) && write_output(&j)) {
        result = APP_DONE;
        if (arguments_json(args)) {
            result = print_machine(&j);
        } else {
            warn_of_losses(&j);
            if (!to_stdout) {
                print_people(&j);
            }
        }
    }
    poise_file_destroy(j.file);
    poise_file_destroy(j.skeleton);
    return result;
}

static const app_option options[] = {
    {"output", 'o', OPTION_OUTPUT, "OUT", .help = "the same as OUT after IN"},
    {"to-format", 0, OPTION_CHOICE, "FORMAT", .choices = "bvh asf amc c3d trc mot gltf glb dh json",
     .help = "output format, whatever the extension of OUT; required when OUT is -"},
    {"body", 'b', OPTION_TEXT, "NAME", .alias = "tip",
     .help = "Denavit-Hartenberg table: the body or tool at the end of the chain"},
    {"source-model", 'm', OPTION_FILE, "FILE", .alias = "model", .help = "skeleton of an AMC or MOT file"},
    {"first", 0, OPTION_COUNT, "K", .alias = "from", .highest = INT_MAX, .help = "first frame to keep, counted from 0"},
    {"last", 0, OPTION_COUNT, "K", .alias = "to", .highest = INT_MAX, .help = "last frame to keep"},
    {"rate", 0, OPTION_NUMBER, "HZ", .lowest = 1e-3, .highest = 1e6, .help = "resample to HZ frames per second"},
    {"unit", 0, OPTION_UNIT, "UNIT", .help = "unit of length in OUT: m cm mm in ft, or a number of metres"},
    {"source-unit", 0, OPTION_UNIT, "UNIT", .alias = "from-unit",
     .help = "unit of length in IN, for formats that do not state it, such as BVH"},
    {"up", 0, OPTION_CHOICE, "AXIS", .choices = "x y z", .help = "upward axis of OUT"},
    {"source-up", 0, OPTION_CHOICE, "AXIS", .alias = "from-up", .choices = "x y z",
     .help = "upward axis of IN, for formats that do not state it"},
    {"subject", 0, OPTION_TEXT, "NAME", .help = "use only this person of several in the recording"},
    {"animation", 0, OPTION_TEXT, "WHICH", .help = "glTF: which animation, by its name or counted from 0"},
    {"floating", .help = "URDF, MJCF: leave the root free instead of fixing it to the world"},
    {"ignore-follower-limits",
     .help = "URDF, MJCF: limits of a joint that follows another do not narrow those of the other"},
    {0},
};

static const app_example examples[] = {
    {"A built-in motion as BVH", "poise convert scene:humanoid/walk walk.bvh"},
    {"Part of it, at 30 frames per second", "poise convert walk.bvh part.bvh --first 20 --last 100 --rate 30"},
    {"To centimetres and z up; BVH states neither",
     "poise convert walk.bvh walk.json --source-unit m --source-up y --unit cm --up z"},
    {"Markers as a table", "poise convert scene:humanoid/walk walk.trc"},
    {"Pipe into another program", "poise convert scene:arm6 - --to-format json | head -n 5"},
    {0},
};

const app_command cmd_convert = {
    .name = "convert",
    .synopsis = "IN OUT",
    .least = 1,
    .most = 2,
    .summary = "convert between file formats and report what is lost",
    .description = "Reads IN and writes OUT in the format given by its extension (\"poise help formats\"). Whatever that "
                   "format cannot hold is left out with a warning. A .csv holds a Denavit-Hartenberg table of a skeleton, "
                   "or the joint values of a motion, a row a frame. Joint types it lacks are replaced by ones it has: the "
                   "motion stays the same to the last digits, only the numbers differ.",
    .options = options,
    .examples = examples,
    .run = run,
};
