// poise track: one recording, or a list of them, from the words to the exit status.
#include "track/track.h"
#include "cli/files.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "cli/words.h"
#include "commands/commands.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// One line of the list: MODEL MARKERS OUT, separated by blanks, or by tabs where the line has any (for names with blanks).
// Empty lines and lines that begin with # are passed over. No two jobs may have the same OUT.
typedef struct track_list {
    struct track_line {
        int line;
        const char *model, *source, *out;
    } * job;
    int count;
    char *text;
} track_list;

// Cut a line into at most `most` words in place; returns how many there are, most + 1 for more.
static int cut(char *line, char **words, int most)
{
    const char *blanks = strchr(line, '\t') ? "\t" : " ";
    int count = 0;
    for (char *c = line;;) {
        c += strspn(c, blanks);
        if (!*c) {
            return count;
        }
        if (count == most) {
            return most + 1;
        }
        words[count++] = c;
        c += strcspn(c, blanks);
        if (*c) {
            *c++ = '\0';
        }
    }
}

static bool read_line(const char *name, int number, char *line, track_list *list)
{
    char *words[3];
    int count = cut(line, words, 3);
    if (count == 0 || words[0][0] == '#') {
        return true;
    }
    if (count != 3) {
        complain("%s:%d: a job is MODEL MARKERS OUT, separated by spaces (by tabs if names contain spaces)", name, number);
        return false;
    }
    list->job[list->count++] = (struct track_line){number, words[0], words[1], words[2]};
    return true;
}

static int compare_outs(const void *a, const void *b)
{
    const struct track_line *x = *(struct track_line *const *)a, *y = *(struct track_line *const *)b;
    int order = strcmp(x->out, y->out);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

// Two jobs with one OUT would take turns in writing it, or leave one of them out.
static bool check_outs(const char *name, const track_list *list)
{
    struct track_line **sorted = needed(malloc((size_t)list->count * sizeof *sorted));
    bool works = true;
    for (int i = 0; i < list->count; ++i) {
        sorted[i] = &list->job[i];
    }
    qsort(sorted, (size_t)list->count, sizeof *sorted, compare_outs);
    for (int i = 1; works && i < list->count; ++i) {
        if (strcmp(sorted[i - 1]->out, sorted[i]->out) == 0) {
            complain("%s:%d: line %d has the same OUT, %s", name, sorted[i]->line, sorted[i - 1]->line, sorted[i]->out);
            works = false;
        }
    }
    free(sorted);
    return works;
}

// False after one line on standard error that names file and line. Release with track_list_release in any case.
static bool track_list_read(const char *name, track_list *list)
{
    *list = (track_list){0};
    file_bytes file;
    if (!file_read(name, &file)) {
        return false;
    }
    size_t lines = 2;
    for (size_t i = 0; i < file.size; ++i) {
        lines += ((const char *)file.bytes)[i] == '\n';
    }
    list->text = memcpy(needed(malloc(file.size + 1)), file.bytes, file.size);
    list->text[file.size] = '\0';
    list->job = needed(calloc(lines, sizeof *list->job));
    file_release(&file);
    bool works = true;
    int number = 1;
    for (char *line = list->text, *end; works && line; line = end, ++number) {
        end = strchr(line, '\n');
        if (end) {
            *end++ = '\0';
        }
        line[strcspn(line, "\r")] = '\0';
        works = read_line(name, number, line, list);
    }
    if (works && list->count == 0) {
        complain("%s: holds no job; a job is a line MODEL MARKERS OUT", name);
        works = false;
    }
    return works && check_outs(name, list);
}

static void track_list_release(track_list *list)
{
    free(list->text);
    free(list->job);
    *list = (track_list){0};
}

// ---- poise track: a whole clip, from markers or another skeleton's motion ------------------------------------------------

enum { JOBS_AT_ONCE = 32 }; // of a list, on a device

// One job: what to follow, and what to write.
typedef struct job {
    const char *out, *report, *model_out, *deviations, *errors, *angles, *centres; // NULL: not wanted
    poise_verdict_level accept;                                                    // the worst verdict of exit status 0
    track_request request;
} job;

// ---- Request -------------------------------------------------------------------------------------------------------------

static poise_fit fit_by_name(const char *name)
{
    static const char *const names[] = {"", "none", "places", "uniform", "segments"};
    int i = 0;
    while (i < POISE_FIT_SEGMENTS && strcmp(names[i], name) != 0) {
        ++i;
    }
    return (poise_fit)i;
}

// How to track, as the command line says.
static void read_tracking(const arguments *args, bool has_tasks, poise_recording_problem *p)
{
    p->track.chunk = option_count(args, "chunk", p->track.chunk);
    p->track.robust = !option_given(args, "no-robust") && !has_tasks;
    p->track.solver.use_limits = !option_given(args, "no-limits");
    p->track.max_turn = has_tasks ? 10.0 : p->track.max_turn; // the answer is OpenSim's: nothing is held
    p->track.outlier = option_number(args, "outlier", 0);
    p->track.smoothness = option_number(args, "smoothness", 0);
    p->track.least_markers = option_count(args, "least-markers", p->track.least_markers);
    p->whole = option_given(args, "whole");
    p->sequence.knot = option_count(args, "knot", p->sequence.knot);
    p->sequence.noise = option_number(args, "noise", 0);
    p->lag = option_count(args, "lag", -1);
    p->velocity = option_number(args, "velocity", 0);
    p->acceleration = option_number(args, "acceleration", 0);
}

// `pairs` has room for as many as the command line has.
static track_request request_of(const arguments *args, const char **pairs)
{
    track_request w = track_request_default();
    poise_recording_problem *p = &w.problem;
    w.source_model = option_text(args, "source-model", NULL);
    w.placements = option_text(args, "placements", NULL);
    w.labels = option_text(args, "labels", NULL);
    w.tasks = option_text(args, "tasks", NULL);
    w.standing = option_text(args, "static", NULL);
    w.scale = (poise_scale){option_number(args, "unit", 0), up_by_name(option_text(args, "up", ""))};
    w.source_scale = (poise_scale){option_number(args, "source-unit", 0), up_by_name(option_text(args, "source-up", ""))};
    w.floating = option_given(args, "floating");
    w.use_bodies = option_given(args, "bodies");
    w.kept = args;
    w.has_floor = option_given(args, "floor");
    w.floor = option_number(args, "floor", 0);
    w.threads = option_count(args, "threads", threads_available());
    for (const char *pair; (pair = option_text_at(args, "pair", p->pair_count)) != NULL;) {
        pairs[p->pair_count++] = pair;
    }
    p->pairs = pairs;
    p->subject = option_text(args, "subject", NULL);
    p->keep_size = option_given(args, "keep-size");
    p->first = option_count(args, "first", 0);
    p->last = option_count(args, "last", -1);
    p->rate = option_number(args, "rate", 0);
    p->fit = fit_by_name(option_text(args, "calibrate", ""));
    p->calibration_frames = option_count(args, "calibration-frames", p->calibration_frames);
    read_tracking(args, w.tasks != NULL, p);
    return w;
}

// ---- One job -------------------------------------------------------------------------------------------------------------

static bool write_results(const job *j, const track_result *r, const arguments *args)
{
    // OUT comes last: where it is, the job is done
    if (j->report && !report_write(r, j->report, args)) {
        return false;
    }
    if (j->model_out) {
        poise_file file = {.model = (poise_model *)r->made->model,
                           .scale = r->made->scale,
                           .placements = r->made->placements,
                           .placement_count = r->made->placement_count,
                           .title = r->skeleton->title};
        if (!save_file(j->model_out, &file)) {
            return false;
        }
    }
    if (j->deviations && !track_write_deviations(r, j->deviations)) {
        return false;
    }
    if ((j->angles && !track_write_angles(r, j->angles)) || (j->centres && !track_write_centres(r, j->centres))) {
        return false;
    }
    return (!j->errors || track_write_errors(r, j->errors)) && (!j->out || track_write(r, j->out));
}

// The exit status of a job that was done.
static app_exit exit_of(const job *j, const track_result *r)
{
    return r->made->verdict.level > j->accept || track_leaves_limits(r) || track_leaves_clearance(r) ? APP_MISSED : APP_DONE;
}

// A line of a list is checked as the command line is.
static bool check_output(const job *j)
{
    bool is_input = j->out && (files_are_same(j->out, j->request.model) || files_are_same(j->out, j->request.source));
    if (is_input) {
        complain("%s: is also an input and would be overwritten; write to another file", j->out);
    }
    return !is_input && (!j->out || file_can_be_written(j->out));
}

// Fill r. False after one line on standard error.
static bool do_job(const job *j, track_result *r, const arguments *args)
{
    return check_output(j) && track_load(&j->request, r) && (!j->out || track_can_write(r, j->out)) &&
           track_run(&j->request, r) && write_results(j, r, args);
}

// The files that a job has made, on a line.
static void say_written(const job *j, FILE *stream)
{
    const char *files[] = {j->out, j->report, j->model_out, j->deviations, j->errors, j->angles, j->centres};
    print_written(files, (int)(sizeof files / sizeof files[0]), stream);
}

static app_exit run_one(job *j, const arguments *args)
{
    track_result r = {0};
    bool works = do_job(j, &r, args);
    r.wall = seconds_of_process();
    app_exit status = works ? exit_of(j, &r) : APP_BAD;
    bool to_output = j->out && strcmp(j->out, "-") == 0;
    if (works && arguments_json(args)) {
        status = json_print(track_as_json(&r, j->out, j->report)) ? status : APP_BAD;
    } else if (works) {
        track_print(&r, to_output ? stderr : stdout);
        say_written(j, to_output ? stderr : stdout);
    }
    if (works && track_leaves_limits(&r)) {
        warn("the limits of velocity or acceleration do not hold: they are exceeded by %.2g %%",
             100 * (fmax(r.made->sequence.velocity, r.made->sequence.acceleration) - 1));
    }
    if (works && r.clearance.found.broken > 0) {
        warn("%d of %d frames do not keep to %s", r.clearance.found.broken, r.made->clip->frames,
             track_kept_words(&r.clearance));
    }
    if (works && r.made->summary.held > 0) {
        warn("%d of %d frames could not be trusted and hold the last good pose", r.made->summary.held,
             r.made->markers->frames - r.made->summary.before - r.made->summary.after);
    }
    track_release(&r);
    return status;
}

// ---- Many jobs -----------------------------------------------------------------------------------------------------------

static void say_job(FILE *stream, int number, int count, const char *out, const char *what)
{
    char text[PATH_MAX + 256];
    snprintf(text, sizeof text, "%*d/%d  %s  %s", count > 99 ? 4 : 2, number, count, out, what);
    text_make_printable(text);
    fprintf(stream, "%s\n", text);
}

// "folder/walk.bvh" into "REPORTS/walk.html".
static bool report_name(const char *folder, const char *out, char *path, size_t size)
{
    char name[256];
    const char *base = path_base(out), *dot = strrchr(base, '.');
    snprintf(name, sizeof name, "%.*s.html", dot ? (int)(dot - base) : (int)strlen(base), base);
    return path_join(path, size, folder, name);
}

static app_exit list_job(const job *j, const struct track_line *line, int number, int count, const arguments *args,
                         FILE *stream)
{
    char what[160];
    track_result r = {0};
    double begun = seconds_now();
    bool works = do_job(j, &r, args);
    r.wall = seconds_now() - begun;
    app_exit status = works ? exit_of(j, &r) : APP_BAD;
    if (arguments_json(args)) {
        json_node *o = works ? track_as_json(&r, j->out, j->report)
                             : json_make("{s:o, s:o, s:o, s:b}", "model", json_from_text(line->model), "source",
                                         json_from_text(line->source), "output", json_from_text(line->out), "failed", 1);
        status = json_write_line(stream, o) ? status : APP_BAD;
    } else if (works) {
        const char *unit;
        double per = track_unit(&r, &unit);
        char ahead[40] = "";
        if (j->request.device) {
            snprintf(ahead, sizeof ahead, ", %d on the device", r.made->summary.ahead);
        }
        snprintf(what, sizeof what, "%s, %d frame%s%s, %d held, mean error %.3g %s, %.0f us a frame",
                 poise_verdict_name(r.made->verdict.level), r.made->markers->frames, r.made->markers->frames == 1 ? "" : "s",
                 ahead, r.made->summary.held, r.made->summary.mean * per, unit, 1e6 * r.mean_time);
        say_job(stream, number, count, line->out, what);
    } else {
        snprintf(what, sizeof what, "failed (line %d of the list)", line->line);
        say_job(stream, number, count, line->out, what);
    }
    fflush(stream);
    track_release(&r);
    return status;
}

// A job beside others: what it has to say is printed when its turn comes. `piece` counts the jobs to do.
static app_exit shared_job(const job *j, const struct track_line *line, int number, int count, const arguments *args,
                           int piece)
{
    text_file messages, output;
    text_open(&messages);
    text_open(&output);
    FILE *before = messages_to(messages.stream);
    app_exit status = list_job(j, line, number, count, args, output.stream);
    messages_to(before);
    bool is_whole = system_memory_close(&messages);
    is_whole = system_memory_close(&output) && is_whole;
    ranks_current()->say(piece, is_whole ? messages.text : "poise: no memory left\n", is_whole ? output.text : "");
    free(messages.text);
    free(output.text);
    return status;
}

// Which jobs are there to do, by number: those whose output is there are done, so that a list that was stopped goes on where
// it was. Rank 0 looks, together. NULL after one line on standard error.
static int *open_jobs(const track_list *list, bool force, int *count)
{
    int *open = calloc((size_t)list->count + 1, sizeof *open);
    *count = 0;
    for (int i = 0; open && rank_leads() && i < list->count; ++i) {
        if (force || system_path_kind(list->job[i].out, true) == PATH_MISSING) {
            open[(*count)++] = i;
        }
    }
    if (!open) {
        complain("no memory left");
    }
    if (!ranks_current()->agree(open != NULL)) {
        free(open);
        return NULL;
    }
    ranks_current()->share(count, sizeof *count);
    ranks_current()->share(open, (size_t)*count * sizeof *open);
    return open;
}

// The jobs to do.
typedef struct jobs {
    const job *common;
    const track_list *list;
    const int *open;
    int count;
    const arguments *args;
    app_exit worst; // of those that fall to this process
} jobs;

static void run_piece(jobs *all, int piece)
{
    int i = all->open[piece];
    const struct track_line *line = &all->list->job[i];
    const char *reports = all->common->report;
    char page[PATH_MAX];
    job j = *all->common;
    j.request.model = line->model;
    j.request.source = line->source;
    j.out = line->out;
    j.report = reports && report_name(reports, line->out, page, sizeof page) ? page : NULL;
    app_exit status = ranks_current()->size > 1 || j.request.device
                          ? shared_job(&j, line, i + 1, all->list->count, all->args, piece)
                          : list_job(&j, line, i + 1, all->list->count, all->args, stdout);
    all->worst = status > all->worst ? status : all->worst;
}

// poise_piece: a job that has its turn.
static void run_in_turn(void *work, int piece, int worker)
{
    (void)worker;
    track_turn_take();
    run_piece(work, piece);
    track_turn_leave();
}

// One after another; with a device side by side, so that it has frames of many recordings at a time.
static void run_jobs(jobs *all)
{
    if (all->common->request.device) {
        int at_once = JOBS_AT_ONCE;
        terminals_are(is_terminal(stdout), false); // lines that end jobs show how far the list has come
        threads_run(&at_once, all->count, run_in_turn, all);
        return;
    }
    for (int piece; (piece = ranks_current()->next()) < all->count;) {
        run_piece(all, piece);
    }
}

static app_exit run_list(const job *j, const arguments *args)
{
    track_list list;
    int count = 0, *open = NULL;
    app_exit worst = APP_BAD;
    bool works = track_list_read(option_text(args, "jobs-from", NULL), &list) && (!j->report || folder_make(j->report));
    works = ranks_current()->agree(works) && (open = open_jobs(&list, option_given(args, "force"), &count)) != NULL;
    if (works) {
        ranks_current()->start();
        ranks_current()->listen(count);
        jobs all = {.common = j, .list = &list, .open = open, .count = count, .args = args, .worst = APP_DONE};
        run_jobs(&all);
        ranks_current()->hear_out();
        worst = (app_exit)ranks_current()->most((int)all.worst);
    }
    if (works && count < list.count && !arguments_json(args)) {
        printf("%d of %d jobs were done before; --force does them again\n", list.count - count, list.count);
    }
    free(open);
    track_list_release(&list);
    return worst;
}

// What frames keep to is held frame by frame, from markers, by one method.
static bool check_clearance(const arguments *args)
{
    static const char *const kept[] = {"avoid", "obstacle", "floor", "balance"}, *const alone[] = {"whole", "lag",
                                                                                                   "sensors"};
    const char *asked = NULL;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0] && !asked; ++i) {
        asked = option_given(args, kept[i]) ? kept[i] : NULL;
    }
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; ++i) {
        if (asked && option_given(args, alone[i])) {
            complain("track: --%s cannot be combined with --%s: it works frame by frame, on markers", asked, alone[i]);
            return false;
        }
    }
    if (asked && strcmp(option_text(args, "method", "auto"), "auto") != 0) {
        complain("track: --%s is held by the method auto alone", asked);
        return false;
    }
    if (option_given(args, "srdf") && !option_given(args, "avoid") && !option_given(args, "obstacle")) {
        complain("track: --srdf has pairs for --avoid: add it");
        return false;
    }
    return avoid_check_use(args, "track", option_given(args, "floor"));
}

static bool check_use(const arguments *args)
{
    bool list = option_given(args, "jobs-from");
    if (!list && arguments_count(args) < 2) {
        complain("track: missing argument; usage: poise track MODEL MARKERS_OR_MOTION");
        return false;
    }
    if (!list && ranks_current()->size > 1) {
        complain("track: processes share the jobs of a list; give one with --jobs-from");
        return false;
    }
    if (list && (arguments_count(args) > 0 || option_given(args, "output") || option_given(args, "save-model"))) {
        complain("track: with --jobs-from the list names MODEL, MARKERS and OUT; leave them out of the command line");
        return false;
    }
    static const char *const only_whole[] = {"knot", "noise", "velocity", "acceleration"};
    for (size_t i = 0; i < sizeof only_whole / sizeof only_whole[0]; ++i) {
        bool is_live = i < 2 && option_given(args, "lag");
        if (option_given(args, only_whole[i]) && !option_given(args, "whole") && !is_live) {
            complain("track: --%s is for --whole, which solves all frames at once", only_whole[i]);
            return false;
        }
    }
    if (option_given(args, "lag") && option_given(args, "whole")) {
        complain("track: --lag shows what live tracking gives, --whole uses the whole recording; choose one");
        return false;
    }
    const char *report = option_text(args, "report", NULL); // of a list, a folder
    if (report && !list && !arguments_check_output(args, report, ".html .htm")) {
        return false;
    }
    if (option_given(args, "output") && strcmp(option_text(args, "output", ""), "-") == 0 && arguments_json(args)) {
        complain("track: -o - and --json both want standard output; give -o a file");
        return false;
    }
    return check_clearance(args);
}

static app_exit run(const arguments *args)
{
    enum { MOST_PAIRS = 1000 };
    static const char *pairs[MOST_PAIRS];
    if (!check_use(args)) {
        return APP_BAD;
    }
    if (option_text_at(args, "pair", MOST_PAIRS)) {
        complain("track: more than %d times --pair", MOST_PAIRS);
        return APP_BAD;
    }
    job j = {.out = option_text(args, "output", NULL),
             .report = option_text(args, "report", NULL),
             .model_out = option_text(args, "save-model", NULL),
             .deviations = option_text(args, "deviations", NULL),
             .accept = verdict_level_by_name(option_text(args, "accept", "good")),
             .errors = option_text(args, "errors", NULL),
             .angles = option_text(args, "angles", NULL),
             .centres = option_text(args, "centres", NULL),
             .request = request_of(args, pairs)};
    if (!track_device_find(args, &j.request.device)) {
        return APP_BAD;
    }
    if (!method_by_name(option_text(args, "method", "auto"), &j.request.problem.track.solver.method) ||
        !verdict_read_thresholds(args, &j.request.problem.thresholds)) {
        return APP_BAD;
    }
    j.request.problem.track.solver.engine = poise_papers_engine(j.request.problem.track.solver.method);
    if (option_given(args, "jobs-from")) {
        return run_list(&j, args);
    }
    j.request.model = arguments_at(args, 0);
    j.request.source = arguments_at(args, 1);
    if (option_given(args, "sensors")) {
        poise_verdict_level level = POISE_VERDICT_GOOD;
        bool works = track_sensors(&j.request, option_text(args, "sensors", ""), j.out, &level);
        return !works ? APP_BAD : level > j.accept ? APP_MISSED : APP_DONE;
    }
    track_turn_take();
    app_exit status = run_one(&j, args);
    track_turn_leave();
    return status;
}

static const app_option options[] = {
    {"output", 'o', OPTION_OUTPUT, "OUT", .choices = WRITTEN_FILES, .help = "write the motion"},
    {"report", 0, OPTION_FILE, "R.html", .help = "write a page with errors by frame and by marker, and playback"},
    {"save-model", 0, OPTION_OUTPUT, "FILE", .choices = WRITTEN_SKELETONS,
     .help = "write the fitted skeleton with its marker positions"},
    {"deviations", 0, OPTION_OUTPUT, "FILE.csv",
     .help = "write the standard deviation of every joint angle in every frame, in degrees"},
    {"angles", 0, OPTION_OUTPUT, "FILE", .choices = ".csv .mot", .help = "write clinical joint angles, in degrees"},
    {"centres", 0, OPTION_OUTPUT, "FILE", .choices = ".trc .c3d .json", .help = "write joint centres as markers"},
    {"accept", 0, OPTION_CHOICE, "VERDICT", .choices = "good doubtful failed",
     .help = "worst verdict that still exits with 0 (good)"},
    {"threshold", 0, OPTION_TEXT, "WHAT=D[,F]", .repeats = true,
     .help = "beyond D a track is doubtful, beyond F failed; WHAT is miss (0.010,0.015 of the stature), given "
             "(0.012,0.024), far (0.024), places (0.8,1 deviations), moved (1.35,2.5), unequal (0.027,0.048), swapped (9), "
             "size (1.25,1.6), stretched (1.15,1.35), unseen (0.55,0.75), bare (0.6,0.9), held (0,0.5), let_go (0.2), lost "
             "(0.2 s), hidden (0.5 s), blocked (0.045 of the stature), snapped (0.8 rad), traded (0), astray (0.12), "
             "unplaced (0.02), at_limit (0.02 of the frames), unsure (0.0873 rad), vague (never), blurred (never), foreign "
             "(0.75), ambiguous (0.02), lying (0), turned (0.2,0.5 rad), absent (0), frozen (3 frames), doubled (1.1), "
             "filled (0.5 s), cut (0.004), pushed (0.0125), knocked (0.0165), hasty (100,300 m/s2), slow (2.5 s), backwards "
             "(0.7), mirrored (0.5), falling (0.3), tilted (0.1745 rad), skewed (0.012), shifted (0.014) or drifted "
             "(0.0125); if a motion is followed, also bones (0.14,0.42 rad), limb (0.3,0.72 rad) and misplaced (0.03); with "
             "--velocity and --acceleration, late (0.05,0.5 of the frames)"},
    {"method", 0, OPTION_CHOICE, "NAME", .choices = METHODS_COMMON " ccd fabrik", .also = "newton_projected",
     .help = "solver for each frame (auto)"},
    {"calibrate", 0, OPTION_CHOICE, "WHAT", .choices = "none places uniform segments",
     .help = "fit marker positions (places), and the bones by one factor (uniform) or one each (segments); the default is "
             "places if some are unknown"},
    {"calibration-frames", 0, OPTION_COUNT, "N", .lowest = 1, .highest = 10000,
     .help = "number of frames used for calibration (50)"},
    {"static", 0, OPTION_FILE, "FILE",
     .help = "static trial: marker positions, and bones if --calibrate asks for them, are fitted to it"},
    {"placements", 0, OPTION_FILE, "FILE", .help = "marker positions on the skeleton, as JSON or OpenSim MarkerSet"},
    {"tasks", 0, OPTION_FILE, "SETUP.xml",
     .help = "setup of OpenSim's InverseKinematicsTool: weights of markers and coordinates, time range; no marker is "
             "ignored"},
    {"sensors", 0, OPTION_FILE, "PLACER.xml",
     .help = "follow sensor orientations (STO of quaternions), placed on MODEL by OpenSense's IMUPlacer"},
    {"errors", 0, OPTION_OUTPUT, "E.sto",
     .help = "write total squared, rms and largest marker error of every frame, as OpenSim does"},
    {"labels", 0, OPTION_FILE, "FILE", .help = "additional table of marker names and positions (help markers)"},
    {"first", 0, OPTION_COUNT, "K", .lowest = 0, .highest = INT_MAX, .help = "first frame, counted from 0 (0)"},
    {"last", 0, OPTION_COUNT, "K", .lowest = 0, .highest = INT_MAX, .help = "last frame (the recording's last)"},
    {"rate", 0, OPTION_NUMBER, "R", .lowest = 1e-3, .highest = 1e6, .help = "resample to R frames per second"},
    {"threads", 't', OPTION_COUNT, "N", .lowest = 1, .highest = 256,
     .help = "number of threads (all processors); does not change the answer"},
    {"device", 0, OPTION_CHOICE, "NAME", .choices = "cpu cuda",
     .help = "where frames are solved: cpu, or cuda, which needs the program poise-cuda and pays for lists of many "
             "recordings (cpu)"},
    {"chunk", 0, OPTION_COUNT, "N", .lowest = 1, .highest = INT_MAX,
     .help = "frames a thread takes at once (500); changes the answer slightly"},
    {"smoothness", 0, OPTION_NUMBER, "W", .lowest = 0, .highest = 1e9,
     .help = "weight of staying near the previous frame; a marker has 1 (0)"},
    {"whole", .help = "solve all frames at once, as splines in time: smooth, gaps bridged, no lag"},
    {"lag", 0, OPTION_COUNT, "N", .lowest = 1, .highest = 100000,
     .help = "smooth with a delay of N frames, as in live use: 32 at 120 Hz is nearly as good as --whole; at least 3 knots"},
    {"knot", 0, OPTION_COUNT, "N", .lowest = 1, .highest = 64, .help = "with --whole: frames between knots, at most (4)"},
    {"noise", 0, OPTION_NUMBER, "D", .lowest = 0, .highest = 1,
     .help = "with --whole: marker noise per axis, in metres (estimated)"},
    {"velocity", 0, OPTION_NUMBER, "V", .lowest = 1e-6, .highest = 1e9,
     .help = "with --whole: velocity limit of all joints except a free root, rad/s or m/s (none)"},
    {"acceleration", 0, OPTION_NUMBER, "A", .lowest = 1e-6, .highest = 1e9,
     .help = "with --whole: acceleration limit, rad/s^2 or m/s^2 (none)"},
    {"floor", 0, OPTION_NUMBER, "HEIGHT", .lowest = -1e9, .highest = 1e9,
     .help =
         "keep all collision shapes, or joints and tools if there are none, above this height in every frame, in metres"},
    {"avoid", .help = "keep the collision shapes of MODEL's file apart in every frame; URDF, MJCF, JSON"},
    {"obstacle", 0, OPTION_TEXT, "SHAPE", .repeats = true,
     .help = "keep clear of \"box X Y Z SX SY SZ\", \"sphere X Y Z R\", \"capsule X Y Z X Y Z R\", in metres, or the shapes "
             "of a FILE.json; implies --avoid"},
    {"srdf", 0, OPTION_FILE, "FILE", .help = "MoveIt's SRDF: pairs of links that may touch"},
    {"margin", 0, OPTION_NUMBER, "D", .highest = 1e9, .help = "with --floor and --avoid: least distance, in metres (0)"},
    {"self-margin", 0, OPTION_NUMBER, "D", .highest = 1e9,
     .help = "least distance between shapes of MODEL itself (as --margin)"},
    {"neighbours", 0, OPTION_COUNT, "N", .highest = 100,
     .help = "ignore collisions between bodies at most N joints apart (1)"},
    {"balance", 0, OPTION_TEXT, "POLYGON",
     .help = "keep the centre of mass above \"X Y X Y X Y ...\", corners on the ground in metres (X Z where y is up)"},
    {"allow-missing", .help = "continue if collision meshes cannot be read"},
    {"no-limits", .help = "ignore the joint limits of MODEL's file"},
    {"no-robust", .help = "trust every marker, however far off"},
    {"outlier", 0, OPTION_NUMBER, "D", .lowest = 0, .highest = 1e9,
     .help = "ignore markers farther off than this, in metres (a tenth of the reach)"},
    {"least-markers", 0, OPTION_COUNT, "N", .lowest = 1, .highest = 1e6,
     .help = "hold frames with fewer visible markers (3)"},
    {"bodies", .help = "follow the motion's bodies even if the source has markers"},
    {"source-model", 0, OPTION_FILE, "FILE", .help = "skeleton of an AMC or MOT source"},
    {"pair", 0, OPTION_TEXT, "SOURCE=TARGET", .repeats = true, .help = "match two bodies whose names differ"},
    {"keep-size", .help = "do not scale the motion to the size of MODEL"},
    {"unit", 0, OPTION_UNIT, "UNIT", .help = "unit of length of MODEL: m cm mm in ft, or a number of metres"},
    {"up", 0, OPTION_CHOICE, "AXIS", .choices = "x y z", .help = "upward axis of MODEL"},
    {"source-unit", 0, OPTION_UNIT, "UNIT", .help = "the same of the recording"},
    {"source-up", 0, OPTION_CHOICE, "AXIS", .choices = "x y z", .help = "the same of the recording"},
    {"subject", 0, OPTION_TEXT, "NAME", .help = "person to track, if the recording has several (the only complete one)"},
    {"floating", .help = "URDF, MJCF: leave the root free; that of a glTF character always is"},
    {"jobs-from", 0, OPTION_FILE, "LIST", .help = "file with one job MODEL MARKERS OUT per line"},
    {"force", .help = "with --jobs-from: redo jobs whose OUT exists"},
    {0},
};

static const app_example examples[] = {
    {"A noisy recording with gaps and swapped labels", "poise track scene:humanoid scene:humanoid/walk/noisy -o walk.json"},
    {"The same with a report page", "poise track scene:humanoid scene:humanoid/walk/noisy --report walk.html"},
    {"All frames at once: smooth, no joint faster than 12 rad/s",
     "poise track scene:humanoid scene:humanoid/walk/noisy --whole --velocity 12 -o walk.bvh"},
    {"Keep the feet above the ground", "poise track scene:humanoid scene:humanoid/walk/noisy --floor 0 -o walk.bvh"},
    {"Another skeleton follows the bodies of a motion",
     "poise track scene:humanoid-euler scene:humanoid/kick --bodies -o kick.bvh"},
    {"Marker positions from another recording, such as a static trial",
     "poise track scene:humanoid scene:humanoid/kick/noisy --static scene:humanoid/walk/noisy -o kick.json"},
    {"OpenSim's inverse kinematics", "poise track subject01.osim walk.trc --tasks subject01_Setup_IK.xml -o walk.mot"},
    {"Orientation sensors", "poise track subject07.osim swing.sto --sensors imuPlacer.xml -o swing.mot"},
    {"Twenty frames as JSON", "poise track scene:humanoid scene:humanoid/punch --first 20 --last 39 --json"},
    {0},
};

const app_command cmd_track = {
    .name = "track",
    .synopsis = "MODEL MARKERS_OR_MOTION",
    .least = 0,
    .most = 2,
    .summary = "fit a skeleton to recorded markers or another motion",
    .description =
        "Finds a motion of MODEL that follows markers (C3D, TRC, JSON) or the bodies of another skeleton's motion (BVH, "
        "AMC, MOT, glTF, JSON). Gaps and occasional bad frames are handled: markers that fit no pose are ignored in that "
        "frame, and a frame that cannot be trusted keeps the last good pose and is listed.\n\n"
        "Marker positions on the skeleton come from --placements, otherwise from MODEL's file, otherwise from anatomy, by "
        "the markers' names (see poise help markers), and are then calibrated. Units and upward axes are converted, and "
        "the output says how. When following a motion, bodies and tools of the same name are matched and scaled to the "
        "size of MODEL.\n\n"
        "Errors are distances between observed markers and where the motion puts them, not counting ignored markers and "
        "held frames. Times are CPU time per frame, all passes included. Long recordings are split into chunks for "
        "several threads; the answer does not depend on the number of threads.\n\n"
        "--whole solves all frames at once: joints are splines in time, with the smoothness estimated from the recording, "
        "and the markers of all frames count together. Noise and gaps show far less than frame by frame, or after any "
        "filter (docs/recordings.md).\n\n"
        "With --jobs-from, jobs run one after another and a failed one does not stop the rest; jobs whose OUT exists are "
        "skipped, so an interrupted list can be resumed. --report then names a folder. poise-mpi shares a list among many "
        "machines (docs/scale.md), if no job needs the OUT of another; --device cuda "
        "solves frames of many jobs at once on a device.\n\n"
        "The verdict is good, doubtful or failed, with reasons: markers far from their positions, positions far from "
        "anatomy or different on the two sides, stretched bones, joints that no marker determines, held frames. A small "
        "error alone does not prove that the skeleton is where the person was.\n\n"
        "Exit status: 0 if the verdict is good (or as good as --accept asks), 1 if it is worse, 2 for wrong use or input.",
    .options = options,
    .examples = examples,
    .run = run,
};
