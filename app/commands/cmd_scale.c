// poise scale: a generic OpenSim model takes on the size of a person.
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/whole_files.h"
#include "commands.h"

#include <poise/opensim.h>

#include <limits.h>
#include <string.h>

typedef struct inputs {
    file_bytes model, set, setup;
    poise_file *trial;
} inputs;

static void release(inputs *in)
{
    file_release(&in->model);
    file_release(&in->set);
    file_release(&in->setup);
    poise_file_destroy(in->trial);
}

// The marker set that the setup names, beside it, unless one is given. False after one line on standard error.
static bool read_set(inputs *in, const char *given, const char *setup)
{
    char name[PATH_MAX] = "", folder[PATH_MAX], path[PATH_MAX];
    poise_error error = {0};
    if (given) {
        return file_read(given, &in->set);
    }
    if (poise_osim_scale_marker_set(in->setup.bytes, in->setup.size, name, sizeof name, &error) != POISE_OK) {
        complain("%s:%d: %s", setup, error.line, error.text);
        return false;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(path_base(setup) - setup), setup);
    if (name[0] == '\0') {
        return true;
    }
    bool fits = name[0] == '/' ? snprintf(path, sizeof path, "%s", name) > 0
                               : snprintf(path, sizeof path, "%s%s", folder, name) < (int)sizeof path;
    return fits && file_read(path, &in->set);
}

static bool read_all(inputs *in, const arguments *args)
{
    const char *setup = option_text(args, "setup", "");
    in->trial = load_file(arguments_at(args, 1), NULL);
    if (!in->trial || !file_read(arguments_at(args, 0), &in->model) || !file_read(setup, &in->setup) ||
        !read_set(in, option_text(args, "placements", NULL), setup)) {
        return false;
    }
    if (!in->trial->markers) {
        complain("%s: holds no markers; a static trial comes from TRC, C3D or JSON", arguments_at(args, 1));
        return false;
    }
    return true;
}

// ---- Files that OpenSim reads --------------------------------------------------------------------------------------------

static bool write_scale_set(const poise_osim_scaled *s, const char *name)
{
    text_file out;
    text_open(&out);
    fprintf(out.stream, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<OpenSimDocument Version=\"40000\">\n"
                        "\t<ScaleSet name=\"scale_set\">\n\t\t<objects>\n");
    for (int i = 0; i < s->factor_count; ++i) {
        poise_vec3 f = s->factors[i].factors;
        fprintf(out.stream,
                "\t\t\t<Scale>\n\t\t\t\t<scales> %.17g %.17g %.17g</scales>\n\t\t\t\t<segment>%s</segment>\n"
                "\t\t\t\t<apply>true</apply>\n\t\t\t</Scale>\n",
                f.x, f.y, f.z, s->factors[i].body);
    }
    fprintf(out.stream, "\t\t</objects>\n\t</ScaleSet>\n</OpenSimDocument>\n");
    return text_close(&out, name);
}

static bool write_marker_set(const poise_osim_scaled *s, const char *name)
{
    text_file out;
    text_open(&out);
    fprintf(out.stream, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<OpenSimDocument Version=\"40000\">\n"
                        "\t<MarkerSet name=\"marker_set\">\n\t\t<objects>\n");
    for (int i = 0; i < s->file->placement_count; ++i) {
        const poise_placement *p = &s->file->placements[i];
        fprintf(out.stream,
                "\t\t\t<Marker name=\"%s\">\n\t\t\t\t<socket_parent_frame>/bodyset/%s</socket_parent_frame>\n"
                "\t\t\t\t<location> %.17g %.17g %.17g</location>\n\t\t\t\t<fixed>true</fixed>\n\t\t\t</Marker>\n",
                p->label, poise_model_joint_info(s->file->model, p->body).body, p->local.x, p->local.y, p->local.z);
    }
    fprintf(out.stream, "\t\t</objects>\n\t</MarkerSet>\n</OpenSimDocument>\n");
    return text_close(&out, name);
}

static bool write_pose(const poise_osim_scaled *s, const char *name)
{
    poise_clip *clip = NULL;
    int nq = poise_model_info(s->file->model).nq;
    if (poise_clip_create(1, nq, 1.0, NULL, &clip, NULL) != POISE_OK) {
        complain("no memory left");
        return false;
    }
    memcpy(clip->q, s->q, (size_t)nq * sizeof *clip->q);
    poise_file file = {.model = s->file->model, .clip = clip, .scale = s->file->scale, .title = "static pose"};
    bool works = save_file(name, &file);
    poise_clip_destroy(clip);
    return works;
}

static bool write_all(const poise_osim_scaled *s, const arguments *args)
{
    const char *out = option_text(args, "output", NULL), *scale_set = option_text(args, "scale-set", NULL);
    const char *marker_set = option_text(args, "marker-set", NULL), *pose = option_text(args, "pose", NULL);
    return (!out || save_file(out, s->file)) && (!scale_set || write_scale_set(s, scale_set)) &&
           (!marker_set || write_marker_set(s, marker_set)) && (!pose || write_pose(s, pose));
}

static void print(const poise_osim_scaled *s, const arguments *args)
{
    printf("%s takes on the size of %s\n", arguments_at(args, 0), arguments_at(args, 1));
    printf("  markers     %d placed, rms %.1f mm, largest %.1f mm before they moved\n\n", s->placed, 1000 * s->rms,
           1000 * s->worst);
    table *t = table_create("body\tx\ty\tz");
    for (int i = 0; i < s->factor_count; ++i) {
        poise_vec3 f = s->factors[i].factors;
        table_row(t, "%s\t%.5f\t%.5f\t%.5f", s->factors[i].body, f.x, f.y, f.z);
    }
    table_end(t, stdout);
}

static app_exit run(const arguments *args)
{
    if (!option_given(args, "setup")) {
        complain("scale: --setup SETUP.xml is missing: the ScaleTool that says what to measure");
        return APP_BAD;
    }
    inputs in = {.trial = NULL};
    poise_osim_scaled *scaled = NULL;
    poise_error error = {0};
    bool works = read_all(&in, args);
    if (works) {
        poise_osim_scaling problem = {.model = in.model.bytes,
                                      .model_size = in.model.size,
                                      .marker_set = in.set.bytes,
                                      .marker_set_size = in.set.size,
                                      .setup = in.setup.bytes,
                                      .setup_size = in.setup.size,
                                      .markers = in.trial->markers};
        works = poise_osim_scale(&problem, NULL, &scaled, &error) == POISE_OK;
        if (!works) {
            complain("scale: %s", error.text);
        }
    }
    works = works && write_all(scaled, args);
    if (works) {
        print(scaled, args);
    }
    poise_osim_scaled_destroy(scaled);
    release(&in);
    return works ? APP_DONE : APP_BAD;
}

static const app_option options[] = {
    {"setup", 0, OPTION_FILE, "SETUP.xml", .help = "OpenSim's ScaleTool: measurements, manual scales, marker placement"},
    {"placements", 0, OPTION_FILE, "SET.xml", .help = "the MarkerSet of the generic model (that of the setup)"},
    {"output", 'o', OPTION_OUTPUT, "FILE", .choices = WRITTEN_FILES,
     .help = "write the scaled skeleton with its marker places (.json)"},
    {"scale-set", 0, OPTION_OUTPUT, "S.xml", .help = "write the factors as OpenSim's ScaleSet, for manualScale"},
    {"marker-set", 0, OPTION_OUTPUT, "M.xml", .help = "write the placed markers as OpenSim's MarkerSet"},
    {"pose", 0, OPTION_OUTPUT, "P.mot", .choices = WRITTEN_FILES, .help = "write the static pose"},
    {0},
};

static const app_example examples[] = {
    {"Scale, then follow a walk", "poise scale gait2354.osim static.trc --setup subject01_Setup_Scale.xml -o subject01.json "
                                  "&& poise track subject01.json "
                                  "walk.trc --tasks subject01_Setup_IK.xml -o walk.mot"},
    {0},
};

const app_command cmd_scale = {
    .name = "scale",
    .synopsis = "MODEL STATIC",
    .least = 2,
    .most = 2,
    .summary = "an OpenSim model takes on the size of a person",
    .description =
        "Does what OpenSim's ScaleTool does: factors of bodies from distances between markers of a static trial, or as the "
        "setup gives them; joints, curves, markers and masses scaled by its rules; then one pose on the mean of the static "
        "frames, in which every marker that is not fixed moves to where it was recorded.\n\n"
        "Poise carries no muscles. To scale the whole model, give the ScaleSet to OpenSim's ScaleTool as a manual scale, "
        "with the MarkerSet.",
    .options = options,
    .examples = examples,
    .run = run,
};
