// poise scale: a generic OpenSim model takes on the size of a person.
#include "cli/files.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "commands/commands.h"

#include <poise/opensim.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// A verdict with all its findings.
typedef struct judgement {
    poise_verdict verdict;
    poise_finding *findings;
} judgement;

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
    bool fits = system_is_absolute(name) ? snprintf(path, sizeof path, "%s", name) > 0
                                         : snprintf(path, sizeof path, "%s%s", folder, name) < (int)sizeof path;
    return fits && file_read(path, &in->set);
}

static bool read_all(inputs *in, const arguments *args)
{
    const char *setup = option_text(args, "setup", ""), *model = arguments_at(args, 0);
    if (strncmp(model, "scene:", 6) == 0) {
        complain(
            "%s: is built in; scale takes an OpenSim model (.osim). \"poise track --calibrate segments\" fits the bones of "
            "any skeleton",
            model);
        return false;
    }
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

// A name inside of XML, where three characters mean something else.
static void put_name(FILE *stream, const char *name)
{
    for (const char *c = name; *c; ++c) {
        const char *as = *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '"' ? "&quot;" : NULL;
        if (as) {
            fputs(as, stream);
        } else {
            fputc(*c, stream);
        }
    }
}

static bool write_scale_set(const poise_osim_scaled *s, const char *name)
{
    text_file out;
    text_open(&out);
    fprintf(out.stream, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<OpenSimDocument Version=\"40000\">\n"
                        "\t<ScaleSet name=\"scale_set\">\n\t\t<objects>\n");
    for (int i = 0; i < s->factor_count; ++i) {
        poise_vec3 f = s->factors[i].factors;
        fprintf(out.stream, "\t\t\t<Scale>\n\t\t\t\t<scales> %.17g %.17g %.17g</scales>\n\t\t\t\t<segment>", f.x, f.y, f.z);
        put_name(out.stream, s->factors[i].body);
        fprintf(out.stream, "</segment>\n\t\t\t\t<apply>true</apply>\n\t\t\t</Scale>\n");
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
        fprintf(out.stream, "\t\t\t<Marker name=\"");
        put_name(out.stream, p->label);
        fprintf(out.stream, "\">\n\t\t\t\t<socket_parent_frame>/bodyset/");
        put_name(out.stream, poise_model_joint_info(s->file->model, p->body).body);
        fprintf(out.stream,
                "</socket_parent_frame>\n\t\t\t\t<location> %.17g %.17g %.17g</location>\n"
                "\t\t\t\t<fixed>true</fixed>\n\t\t\t</Marker>\n",
                p->local.x, p->local.y, p->local.z);
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
    bool works = save_motion(name, &file);
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

// ---- What is said --------------------------------------------------------------------------------------------------------

static void print(const poise_osim_scaled *s, const judgement *j, const arguments *args)
{
    printf("%s takes on the size of %s\n", arguments_at(args, 0), arguments_at(args, 1));
    printf("  markers     %d placed; before they moved rms %.1f mm by weight, %.1f mm all alike, largest %.1f mm\n",
           s->placed, 1000 * s->weighted, 1000 * s->rms, 1000 * s->worst);
    verdict_print(&j->verdict, j->findings, stdout);
    printf("\n");
    table *t = table_create("body\tx\ty\tz");
    for (int i = 0; i < s->factor_count; ++i) {
        poise_vec3 f = s->factors[i].factors;
        table_row(t, "%s\t%.5f\t%.5f\t%.5f", s->factors[i].body, f.x, f.y, f.z);
    }
    table_end(t, stdout);
}

static json_node *as_json(const poise_osim_scaled *s, const judgement *j, const arguments *args)
{
    json_node *factors = json_new(JSON_OBJECT);
    for (int i = 0; i < s->factor_count; ++i) {
        const double f[3] = {s->factors[i].factors.x, s->factors[i].factors.y, s->factors[i].factors.z};
        json_set(factors, s->factors[i].body, json_from_numbers(f, 3));
    }
    json_node *markers =
        json_make("{s:i, s:f, s:f, s:f}", "placed", s->placed, "weighted_rms", s->weighted, "rms", s->rms, "max", s->worst);
    return json_make("{s:o, s:o, s:o, s:o, s:o}", "model", json_from_text(arguments_at(args, 0)), "static",
                     json_from_text(arguments_at(args, 1)), "verdict",
                     verdict_as_json(&j->verdict, j->findings, VERDICT_OF_TRACK), "markers", markers, "factors", factors);
}

// ---- The command ---------------------------------------------------------------------------------------------------------

static bool judge(const poise_osim_scaled *s, const poise_thresholds *thresholds, judgement *j)
{
    int capacity = 0;
    for (int pass = 0; pass < 2; ++pass) { // how many there are, then all of them
        if (poise_osim_scale_judge(s, thresholds, NULL, &j->verdict, j->findings, capacity, NULL) != POISE_OK) {
            return false;
        }
        capacity = j->verdict.count;
        if (pass == 0 && !(j->findings = calloc((size_t)capacity + 1, sizeof *j->findings))) {
            complain("no memory left");
            return false;
        }
    }
    return true;
}

static bool scale(const inputs *in, poise_osim_scaled **scaled)
{
    poise_osim_scaling problem = {.model = in->model.bytes,
                                  .model_size = in->model.size,
                                  .marker_set = in->set.bytes,
                                  .marker_set_size = in->set.size,
                                  .setup = in->setup.bytes,
                                  .setup_size = in->setup.size,
                                  .markers = in->trial->markers};
    poise_error error = {0};
    bool works = poise_osim_scale(&problem, NULL, scaled, &error) == POISE_OK;
    if (!works) {
        complain("scale: %s", error.text);
    }
    return works;
}

static app_exit run(const arguments *args)
{
    poise_thresholds thresholds = poise_scaling_thresholds();
    if (!option_given(args, "setup")) {
        complain("scale: --setup SETUP.xml is missing: the ScaleTool that says what to measure");
        return APP_BAD;
    }
    if (!verdict_read_thresholds(args, &thresholds)) {
        return APP_BAD;
    }
    inputs in = {.trial = NULL};
    judgement j = {.findings = NULL};
    poise_osim_scaled *scaled = NULL;
    bool works = read_all(&in, args) && scale(&in, &scaled) && judge(scaled, &thresholds, &j) && write_all(scaled, args);
    app_exit status = works ? APP_DONE : APP_BAD;
    if (works && j.verdict.level > verdict_level_by_name(option_text(args, "accept", "good"))) {
        status = APP_MISSED;
    }
    if (works && arguments_json(args)) {
        status = json_print(as_json(scaled, &j, args)) ? status : APP_BAD;
    } else if (works) {
        print(scaled, &j, args);
    }
    free(j.findings);
    poise_osim_scaled_destroy(scaled);
    release(&in);
    return status;
}

static const app_option options[] = {
    {"setup", 0, OPTION_FILE, "SETUP.xml", .help = "OpenSim's ScaleTool: measurements, manual scales, marker placement"},
    {"placements", 0, OPTION_FILE, "SET.xml", .help = "MarkerSet of the generic model (the setup's)"},
    {"output", 'o', OPTION_OUTPUT, "FILE", .choices = WRITTEN_SKELETONS,
     .help = "write the scaled skeleton with its marker positions"},
    {"scale-set", 0, OPTION_OUTPUT, "S.xml", .help = "write the factors as OpenSim's ScaleSet, for manualScale"},
    {"marker-set", 0, OPTION_OUTPUT, "M.xml", .help = "write the placed markers as OpenSim's MarkerSet"},
    {"pose", 0, OPTION_OUTPUT, "P.mot", .choices = WRITTEN_MOTIONS, .help = "write the static pose"},
    {"accept", 0, OPTION_CHOICE, "VERDICT", .choices = "good doubtful failed",
     .help = "worst verdict that still exits with 0 (good)"},
    {"threshold", 0, OPTION_TEXT, "WHAT=D[,F]", .repeats = true,
     .help = "beyond D the result is doubtful, beyond F failed; WHAT is size (1.6,2.5), stretched (1.25,1.6 against the "
             "middle factor), sides (1.1,1.25), given (0.012,0.024 of the stature) or absent (0)"},
    {0},
};

static const app_example examples[] = {
    {"Scale, then track a walk", "poise scale gait2354.osim static.trc --setup subject01_Setup_Scale.xml -o "
                                 "subject01.json && poise track subject01.json walk.trc --tasks subject01_Setup_IK.xml "
                                 "-o walk.mot"},
    {0},
};

const app_command cmd_scale = {
    .name = "scale",
    .synopsis = "MODEL STATIC",
    .least = 2,
    .most = 2,
    .summary = "scale an OpenSim model to a person",
    .description =
        "Does what OpenSim's ScaleTool does: computes scale factors of bodies from marker distances in a static trial, or "
        "takes them from the setup; scales joints, curves, markers and masses by OpenSim's rules; then solves one pose "
        "for the mean of the static frames and moves every marker that is not fixed to where it was recorded.\n\n"
        "The verdict looks for factors no person has (wrong unit, wrong trial), bodies scaled unlike the others, left "
        "unlike right, a static pose that misses its markers, and markers or bodies that the setup names but neither file "
        "has. The exit status is 1 unless it is good.\n\n"
        "Poise does not read muscles. To scale the whole model, give the ScaleSet to OpenSim's ScaleTool as a manual "
        "scale, with the MarkerSet.",
    .options = options,
    .examples = examples,
    .run = run,
};
