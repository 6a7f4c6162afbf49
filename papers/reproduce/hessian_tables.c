// Erleben & Andrews 2019, runs over many frames: calls until f < 1e-2 (Table 3), a whole motion (Table 4), band against
// tolerance of the conjugate gradients (Fig. 8), and the times of section 6.2.
#include "reproduce.h"

#include <papers/plain/plain.h>

#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

// ---- Runs over many frames -----------------------------------------------------------------------------------------------

enum { PIECES = 10 }; // of a motion of which only some frames are taken

// A run over many frames.
typedef struct frames_job {
    const hessian_study *take;
    hessian_run run;
    int every;         // of single frames; 0: a sequence, or
    const int *listed; // these
    int listed_count;
    hessian_first first;
    int pieces, frames; // of a sequence
    hessian_sums sums;
} frames_job;

static bool run_frames(void *work, int index)
{
    frames_job *j = (frames_job *)work + index;
    j->run.now = reproduce_now;
    return j->listed      ? hessian_listed(j->take, &j->run, j->listed, j->listed_count, &j->sums)
           : j->every > 0 ? hessian_frames(j->take, &j->run, j->every, &j->sums)
                          : hessian_sequence(j->take, &j->run, j->first, j->pieces, j->frames, &j->sums);
}

static double mean(double sum, int count)
{
    return count > 0 ? sum / count : NAN;
}

// One frame in how many: short motions are taken whole.
static int every_of(const reproduce *r, const hessian_study *take)
{
    int usual = r->is_full || !take->task.is_recording ? 1 : 20;
    return r->every > 0 ? r->every : usual;
}

// ---- Table 3 -------------------------------------------------------------------------------------------------------------

// Printed, by kind of motion: seconds and calls for each frame.
static const struct {
    const char *motion;
    double seconds[HESSIAN_PRINTED], calls[HESSIAN_PRINTED];
} printed_calls[PAPER_SCENES] = {
    {"walking", {5.30, 0.59, 0.25}, {213.0, 3.7, 7.8}},
    {"punching", {6.05, 2.54, 0.49}, {299.3, 13.3, 17.3}},
    {"kicking", {4.68, 0.64, 0.29}, {232.3, 4.7, 10.0}},
    {"workout", {5.05, 0.78, 0.25}, {219.8, 4.8, 9.0}},
};

static bool print_calls(reproduce *r, const frames_job *jobs)
{
    static const sheet_column columns[] = {
        {.key = "printed_motion", .head = "printed"},
        {.key = "take", .head = "here"},
        {.key = "method", .head = "method"},
        {.key = "printed_calls", .head = "calls", .format = "%.1f"},
        {.key = "calls", .head = "ours", .format = "%.1f"},
        {.key = "frames", .head = NULL, .format = "%.0f"},
        {.key = "below", .head = NULL, .format = "%.0f"},
        {.key = "below_percent", .head = "ok %", .format = "%.1f"},
        {.key = "printed_seconds", .head = "s", .format = "%.2f", .is_time = true},
        {.key = "microseconds", .head = "us", .format = "%.0f", .is_time = true},
        {0},
    };
    sheet *s = sheet_create(columns);
    for (int i = 0; i < PAPER_SCENES * HESSIAN_ROWS; ++i) {
        const frames_job *j = &jobs[i];
        int motion = i / HESSIAN_ROWS, m = i % HESSIAN_ROWS;
        sheet_text(s, printed_calls[motion].motion);
        sheet_text(s, j->take->name);
        sheet_text(s, hessian_rows[m].name);
        sheet_number(s, m < HESSIAN_PRINTED ? printed_calls[motion].calls[m] : NAN);
        sheet_number(s, mean(j->sums.evaluations, j->sums.frames));
        sheet_number(s, j->sums.frames);
        sheet_number(s, j->sums.below);
        sheet_number(s, mean(100.0 * j->sums.below, j->sums.frames));
        sheet_number(s, m < HESSIAN_PRINTED ? printed_calls[motion].seconds[m] : NAN);
        sheet_number(s, mean(j->sums.time * 1e-3, j->sums.frames));
    }
    return reproduce_sheet(r, s, NULL, "");
}

static bool draw_calls(reproduce *r, const frames_job *jobs)
{
    static const char *const names[] = {"walking", "punching", "kicking", "workout"};
    static const char *const colors[HESSIAN_ROWS] = {PLOT_ORANGE, PLOT_BLUE, PLOT_GREEN, PLOT_RED,
                                                     PLOT_BLACK,  PLOT_SKY,  PLOT_GREY,  PLOT_PURPLE};
    plot *p = plot_create(r->now->title, "Calls for each frame until f < 10⁻² cm²: printed (pale, left) and here",
                          reproduce_foot(r), 1, 1, 700.0, 260.0);
    plot_panel(p, 0, 0,
               &(plot_panel_options){.x = {.names = names, .name_count = COUNT(names)},
                                     .y = {.label = "calls", .is_log = true, .from = 1.0, .to = 1000.0}});
    for (int i = 0; i < PAPER_SCENES * HESSIAN_ROWS; ++i) {
        int motion = i / HESSIAN_ROWS, m = i % HESSIAN_ROWS;
        double left = motion - 0.44 + 0.11 * m;
        bool is_printed = m < HESSIAN_PRINTED;
        if (is_printed) {
            plot_bar(p, (plot_style){.fill = colors[m], .opacity = 0.35}, left + 0.005, 1.0, left + 0.05,
                     printed_calls[motion].calls[m], NULL);
        }
        plot_bar(p, (plot_style){.fill = colors[m]}, left + (is_printed ? 0.055 : 0.015), 1.0,
                 left + (is_printed ? 0.1 : 0.095), mean(jobs[i].sums.evaluations, jobs[i].sums.frames),
                 hessian_rows[m].name);
    }
    return reproduce_plot(r, p, "");
}

static bool run_hessian_table3(reproduce *r)
{
    frames_job jobs[PAPER_SCENES * HESSIAN_ROWS];
    scene_take takes[PAPER_SCENES];
    if (!reproduce_scenes(r, PAPER_WALKING, PAPER_SCENES, takes)) {
        return false;
    }
    for (int i = 0; i < COUNT(jobs); ++i) {
        const scene_take *take = &takes[i / HESSIAN_ROWS];
        jobs[i] = (frames_job){.take = take->study, .every = every_of(r, take->study)};
        if (!r->is_full && r->every == 0) { // the frames of Fig. 3, which the authors' table is about
            jobs[i].listed = take->frames;
            jobs[i].listed_count = take->count;
        }
        jobs[i].run = hessian_run_of(&hessian_rows[i % HESSIAN_ROWS], 1000, false, false);
    }
    reproduce_note(r, "Each frame from the pose of the frame before, at most 1000 iterations; times are CPU times.");
    return reproduce_jobs(r, COUNT(jobs), run_frames, jobs) && print_calls(r, jobs) && draw_calls(r, jobs);
}

const experiment hessian_table3 = {.name = "hessian-table3",
                                   .title = "Calls of the function until f < 1e-2",
                                   .source = REPRODUCE_HESSIAN ", Table 3",
                                   .uses_data = true,
                                   .run = run_hessian_table3};

// ---- Table 4 -------------------------------------------------------------------------------------------------------------

// Printed of each recording: seconds and cm for each frame, in the order of the first three runs.
enum { PRINTED_RUNS = 3 };
static const struct {
    const char *take;
    double seconds[PRINTED_RUNS], error[PRINTED_RUNS];
} printed_takes[] = {
    {REPRODUCE_TAKE, {0.38, 2.63, 1.01}, {23.78, 1.61, 0.5}},
    {"dg_03-02_03", {0.31, 4.25, 0.69}, {15.25, 1.65, 0.13}},
    {"bk_05-03_03", {0.33, 2.19, 0.91}, {308.06, 5.96, 0.10}},
    {"mm_03-05_02", {0.32, 2.29, 0.77}, {43.3, 2.80, 0.09}},
};

#define RESTARTS 20

// The runs, in the order of the table; the first three are printed.
enum {
    RUN_FMINUNC_10 = 0,
    RUN_FMINUNC_100,
    RUN_TRUST_24,
    RUN_TRUST_8,
    RUN_NEAREST,
    RUN_LMF_10,
    RUN_LMF_100,
    RUN_BFGS_10,
    RUN_BFGS_100,
    RUN_CONJUGATE_100,
    RUN_LM_10,
    RUN_LM_100,
    RUN_AUTO,
    RUN_AUTO_RESTARTS,
    RUNS
};

static const struct {
    const char *name;       // in the table
    const char *short_name; // below a bar
    int row, iterations, band, restarts;
} sequences[RUNS] = {
    [RUN_FMINUNC_10] = {"bfgs as fminunc", "fminunc 10", HESSIAN_BFGS, 10, 0, 0},
    [RUN_FMINUNC_100] = {"bfgs as fminunc", "100", HESSIAN_BFGS, 100, 0, 0},
    [RUN_TRUST_24] = {"trust_region, band 24", "trust 24", HESSIAN_EXACT, 10, 24, 0},
    [RUN_TRUST_8] = {"trust_region, band 8", "band 8", HESSIAN_EXACT, 10, 8, 0},
    [RUN_NEAREST] = {"trust_region, nearest", "nearest", HESSIAN_NEAREST, 10, 24, 0},
    [RUN_LMF_10] = {"lm as LMFsolve", "LMF 10", HESSIAN_LM, 10, 0, 0},
    [RUN_LMF_100] = {"lm as LMFsolve", "100", HESSIAN_LM, 100, 0, 0},
    [RUN_BFGS_10] = {"bfgs", "bfgs 10", HESSIAN_OWN_BFGS, 10, 0, 0},
    [RUN_BFGS_100] = {"bfgs", "100", HESSIAN_OWN_BFGS, 100, 0, 0},
    [RUN_CONJUGATE_100] = {"conjugate_gradient", "cg 100", HESSIAN_CONJUGATE, 100, 0, 0},
    [RUN_LM_10] = {"levenberg_marquardt", "lm 10", HESSIAN_OWN_LM, 10, 0, 0},
    [RUN_LM_100] = {"levenberg_marquardt", "100", HESSIAN_OWN_LM, 100, 0, 0},
    [RUN_AUTO] = {"auto", "auto 10", HESSIAN_AUTO, 10, 0, 0},
    [RUN_AUTO_RESTARTS] = {"auto, restarts", "restarts", HESSIAN_AUTO, 10, 0, RESTARTS},
};

// The printed recording of that name; NAN rows for others.
static double printed_error(const char *take, int run, bool seconds)
{
    for (int i = 0; i < COUNT(printed_takes); ++i) {
        if (strcmp(printed_takes[i].take, take) == 0 && run < PRINTED_RUNS) {
            return seconds ? printed_takes[i].seconds[run] : printed_takes[i].error[run];
        }
    }
    return NAN;
}

// Does every frame start at the recorded pose of the one before?
static bool is_each(const frames_job *j)
{
    return j->every > 0;
}

// Does a sequence start at its pose, as the authors' program has it?
static bool follows_from_pose(const frames_job *j)
{
    return !is_each(j) && j->first == HESSIAN_FROM_POSE;
}

// What a table calls that, and what a name ends with.
typedef struct start_words {
    const char *key, *end;
} start_words;

static start_words start_of(const frames_job *j)
{
    static const start_words words[] = {[HESSIAN_FROM_POSE] = {"pose", ""},
                                        [HESSIAN_FROM_ZERO] = {"zero", ", zero"},
                                        [HESSIAN_COLD] = {"cold", ", cold start"}};
    return is_each(j) ? (start_words){"each", ", each"} : words[j->first];
}

static bool print_sequences(reproduce *r, const frames_job *jobs, const int *row, int count, const char *suffix)
{
    static const sheet_column columns[] = {
        {.key = "method", .head = "method"},
        {.key = "most_iterations", .head = "kmax", .format = "%.0f"},
        {.key = "first", .head = NULL},
        {.key = "printed_cm", .head = "cm", .format = "%.2f"},
        {.key = "error_cm", .head = "|r|", .format = "%.2f"},
        {.key = "error_before_flip_cm", .head = "before", .format = "%.2f"},
        {.key = "sum_of_distances_cm", .head = "sum", .format = "%.2f"},
        {.key = "iterations", .head = "iter.", .format = "%.1f"},
        {.key = "frames", .head = NULL, .format = "%.0f"},
        {.key = "below", .head = "f<1e-2", .format = "%.0f"},
        {.key = "printed_seconds", .head = NULL, .format = "%.2f", .is_time = true},
        {.key = "microseconds", .head = "us", .format = "%.0f", .is_time = true},
        {0},
    };
    sheet *s = sheet_create(columns);
    for (int i = 0; i < count; ++i) {
        char name[64];
        const hessian_sums *sums = &jobs[i].sums;
        snprintf(name, sizeof name, "%s%s", sequences[row[i]].name, start_of(&jobs[i]).end);
        sheet_text(s, name);
        sheet_number(s, sequences[row[i]].iterations);
        sheet_text(s, start_of(&jobs[i]).key);
        sheet_number(s, is_each(&jobs[i]) ? NAN : printed_error(jobs[i].take->name, row[i], false));
        sheet_number(s, mean(sums->error, sums->frames));
        sheet_number(s, mean(sums->before_error, sums->before));
        sheet_number(s, mean(sums->distances, sums->frames));
        sheet_number(s, mean(sums->iterations, sums->frames));
        sheet_number(s, sums->frames);
        sheet_number(s, sums->below);
        sheet_number(s, is_each(&jobs[i]) ? NAN : printed_error(jobs[i].take->name, row[i], true));
        sheet_number(s, mean(sums->time * 1e-3, sums->frames));
    }
    char title[96];
    snprintf(title, sizeof title, "%s, %d frames", jobs[0].take->name, jobs[0].sums.frames);
    return reproduce_sheet(r, s, title, suffix);
}

// Whole decades that hold every mean error that is drawn, 0.01 to 100 at least: no bar is cut off.
static plot_axis axis_of_errors(const frames_job *jobs, int count)
{
    double least = 0.01, most = 100.0;
    for (int i = 0; i < count; ++i) {
        const hessian_sums *sums = &jobs[i].sums;
        const double errors[2] = {mean(sums->error, sums->frames), mean(sums->before_error, sums->before)};
        for (int k = 0; k < 2; ++k) {
            least = errors[k] > 0.0 ? fmin(least, pow(10.0, floor(log10(errors[k])))) : least;
            most = fmax(most, errors[k]);
        }
    }
    return (plot_axis){.label = "error, cm", .is_log = true, .from = least, .to = pow(10.0, ceil(log10(most)))};
}

static bool draw_sequences(reproduce *r, const frames_job *jobs, const int *row, int count, const char *suffix)
{
    const char *names[RUNS];
    int used = 0;
    plot_axis y = axis_of_errors(jobs, count);
    plot *p =
        plot_create(r->now->title, "Mean length of the stacked residual of 41 markers, each frame from the answer before",
                    reproduce_foot(r), 1, 1, 860.0, 260.0);
    for (int i = 0; i < RUNS; ++i) {
        names[used++] = sequences[i].short_name;
    }
    plot_panel(p, 0, 0,
               &(plot_panel_options){.title = jobs[0].take->name, .x = {.names = names, .name_count = used}, .y = y});
    for (int i = 0; i < count; ++i) {
        int at = row[i];
        if (!follows_from_pose(&jobs[i])) {
            continue;
        }
        double printed = printed_error(jobs[i].take->name, row[i], false);
        if (printed > 0.0) {
            plot_bar(p, (plot_style){.fill = PLOT_GREY}, at - 0.36, y.from, at - 0.13, printed, "printed");
        }
        plot_bar(p, (plot_style){.fill = PLOT_BLUE}, at - 0.11, y.from, at + 0.12,
                 mean(jobs[i].sums.error, jobs[i].sums.frames), "here");
        plot_bar(p, (plot_style){.fill = PLOT_SKY}, at + 0.14, y.from, at + 0.37,
                 mean(jobs[i].sums.before_error, jobs[i].sums.before), "here, before the recording flips");
    }
    return reproduce_plot(r, p, suffix);
}

// What the authors print, held against both readings of it.
static void note_readings(reproduce *r, const frames_job *jobs, const int *row, int count)
{
    char text[1200];
    int at =
        snprintf(text, sizeof text, "The authors write of the sum of the distances. What they print is, within a tenth,");
    bool any = false;
    for (int i = 0; i < count; ++i) {
        double printed = printed_error(jobs[i].take->name, row[i], false);
        if (!(printed > 0.0) || !follows_from_pose(&jobs[i])) {
            continue;
        }
        double length = mean(jobs[i].sums.error, jobs[i].sums.frames),
               sum = mean(jobs[i].sums.distances, jobs[i].sums.frames);
        bool is_length = fabs(length - printed) <= 0.1 * printed, is_sum = fabs(sum - printed) <= 0.1 * printed;
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "%s %s for %s with %d iterations (printed %.2f; |r| %.2f, sum %.2f)", any ? "," : "",
                       is_length && is_sum ? "either"
                       : is_length         ? "|r|"
                       : is_sum            ? "that sum"
                                           : "neither that sum nor |r|",
                       sequences[row[i]].name, sequences[row[i]].iterations, printed, length, sum);
        any = true;
    }
    if (any) {
        reproduce_note(r, "%s.", text);
    }
}

// The sums of a run, of each frame by itself or of the sequence from its pose; NULL: there is none.
static const hessian_sums *find_run(const frames_job *jobs, const int *row, int count, int run, bool each)
{
    for (int i = 0; i < count; ++i) {
        if (row[i] == run && (each ? is_each(&jobs[i]) : follows_from_pose(&jobs[i]))) {
            return &jobs[i].sums;
        }
    }
    return NULL;
}

// What the flip of the recording does to those that follow their own answers.
static void note_flips(reproduce *r, const frames_job *jobs, const int *row, int count)
{
    const hessian_sums *all = find_run(jobs, row, count, RUN_BFGS_100, false);
    const hessian_sums *each = find_run(jobs, row, count, RUN_BFGS_100, true);
    const hessian_sums *few = find_run(jobs, row, count, RUN_LM_10, false);
    const hessian_sums *many = find_run(jobs, row, count, RUN_LM_100, false);
    if (!all || !each || !few || !many || all->before == all->frames) {
        return;
    }
    double whole = mean(all->error, all->frames), before = mean(all->before_error, all->before);
    double single = mean(each->error, each->frames);
    double ten = mean(few->error, few->frames), hundred = mean(many->error, many->frames);
    reproduce_note(
        r,
        "In frame %d the recording itself turns a thigh by half a turn. bfgs with 100 iterations has %.2f cm before "
        "that, %.2f over all frames, and %.2f where each frame starts at the recorded pose%s",
        HDM05_FLIPS_FIRST, before, whole, single,
        whole > 2.0 * fmax(before, single) ? ": after the flip it stays in a wrong basin, and that is what the mean shows."
                                           : ".");
    if (hundred > 1.1 * ten) {
        reproduce_note(
            r,
            "levenberg_marquardt with 100 iterations ends above that with 10 (%.2f and %.2f cm): it settles in the "
            "wrong basin and follows it to the end; with 10 it is still on its way when the recording turns back, and "
            "gets out.",
            hundred, ten);
    }
}

// All runs over one recording.
static bool run_sequences(reproduce *r, const hessian_study *take, const char *suffix)
{
    enum { SINGLES = 2 };
    static const int singles[SINGLES] = {RUN_FMINUNC_100, RUN_BFGS_100};
    frames_job jobs[3 * RUNS + SINGLES];
    int row[COUNT(jobs)], count = 0, frames = take->task.frames / (r->every > 0 ? r->every : 1);
    for (int k = 0; k < 3; ++k) { // the authors' text has zero; their program, and the default here, the pose
        for (int i = 0; i < RUNS; ++i) {
            const hessian_row *method = &hessian_rows[sequences[i].row];
            bool is_run =
                k == HESSIAN_FROM_POSE || (k == HESSIAN_FROM_ZERO && r->is_full) || (k == HESSIAN_COLD && i == RUN_AUTO);
            if (is_run) {
                row[count] = i;
                jobs[count] = (frames_job){
                    .take = take, .first = (hessian_first)k, .pieces = r->every > 1 ? PIECES : 1, .frames = frames};
                jobs[count].run = hessian_run_of(method, sequences[i].iterations, false, false);
                jobs[count].run.restarts = sequences[i].restarts;
                jobs[count++].run.band = sequences[i].band;
            }
        }
    }
    for (int i = 0; i < SINGLES && take->task.has_flips; ++i) {
        row[count] = singles[i];
        jobs[count] = (frames_job){.take = take, .every = r->every > 0 ? r->every : 1};
        jobs[count++].run =
            hessian_run_of(&hessian_rows[sequences[singles[i]].row], sequences[singles[i]].iterations, false, false);
    }
    if (!reproduce_jobs(r, count, run_frames, jobs) || !print_sequences(r, jobs, row, count, suffix) ||
        !draw_sequences(r, jobs, row, count, suffix)) {
        return false;
    }
    note_readings(r, jobs, row, count);
    note_flips(r, jobs, row, count);
    return true;
}

// What the authors print of recordings that are not available.
static bool print_missing(reproduce *r, const bool *is_there)
{
    static const sheet_column columns[] = {{.key = "take", .head = "recording"},
                                           {.key = "method", .head = "method"},
                                           {.key = "most_iterations", .head = "kmax", .format = "%.0f"},
                                           {.key = "printed_cm", .head = "cm", .format = "%.2f"},
                                           {.key = "printed_seconds", .head = "s", .format = "%.2f"},
                                           {0}};
    static const char *const methods[PRINTED_RUNS] = {"quasi-Newton", "quasi-Newton", "exact Hessian"};
    sheet *s = sheet_create(columns);
    for (int i = 0; i < COUNT(printed_takes) * PRINTED_RUNS; ++i) {
        int take = i / PRINTED_RUNS, run = i % PRINTED_RUNS;
        if (!is_there[take]) {
            sheet_text(s, printed_takes[take].take);
            sheet_text(s, methods[run]);
            sheet_number(s, sequences[run].iterations);
            sheet_number(s, printed_takes[take].error[run]);
            sheet_number(s, printed_takes[take].seconds[run]);
        }
    }
    if (s && sheet_rows(s) == 0) {
        sheet_destroy(s);
        return true;
    }
    return reproduce_sheet(r, s, "Printed, of recordings that are not at hand", "-printed");
}

static void note_sequences(reproduce *r)
{
    reproduce_note(r,
                   "A motion from its beginning, each frame from the answer before, down to f < 1e-2 or kmax iterations; "
                   "mean over the frames of |r|, the length of the stacked residual, of the same before the recording flips "
                   "(\"before\"), and of the sum of the 41 distances, in cm.%s",
                   r->is_full ? "" : " --full adds the first frame from zero.");
    if (r->every > 1) {
        reproduce_note(r, "One frame in %d, in %d pieces spread over the motion, each from the recorded pose on.", r->every,
                       PIECES);
    }
}

static bool run_hessian_table4(reproduce *r)
{
    bool is_there[COUNT(printed_takes)] = {false}, works = true, any = false;
    note_sequences(r);
    for (int i = 0; i < COUNT(printed_takes) && works; ++i) { // those that the folder has
        is_there[i] = reproduce_has_take(r, printed_takes[i].take);
        any = any || is_there[i];
        if (is_there[i]) {
            char suffix[32] = "";
            if (i > 0) {
                snprintf(suffix, sizeof suffix, "-%s", printed_takes[i].take);
            }
            const hessian_study *take = reproduce_take(r, printed_takes[i].take);
            works = take && run_sequences(r, take, suffix);
        }
    }
    if (works && !any) {
        scene_take take;
        works = reproduce_scenes(r, PAPER_WORKOUT, 1, &take) && run_sequences(r, take.study, "");
    }
    return works && print_missing(r, is_there);
}

const experiment hessian_table4 = {.name = "hessian-table4",
                                   .title = "Error and time over a whole motion",
                                   .source = REPRODUCE_HESSIAN ", Table 4",
                                   .uses_data = true,
                                   .run = run_hessian_table4};

// ---- Fig. 8 --------------------------------------------------------------------------------------------------------------

// The authors sweep bands 0 to 24 and tolerances 0.2 to 0.01 in one frame; further ones are added here.
static const int bands[] = {0, 1, 2, 4, 8, 16, 24, 32, 57};
static const double tolerances[] = {0.2, 0.1, 0.01, 0.001};

enum { SWEEP = COUNT(bands) * COUNT(tolerances), SWEEP_MOST = 100 };

typedef struct sweep {
    frames_job jobs[SWEEP];
    const hessian_study *take;
    int frame; // of the curves, counted from 1
    double f[SWEEP][SWEEP_MOST + 1];
    int count[SWEEP];
} sweep;

static bool run_sweep(void *work, int index)
{
    sweep *w = work;
    hessian_run run = w->jobs[index].run;
    run.tolerance = 1e-16;
    return run_frames(w->jobs, index) && hessian_curve(w->take, &run, w->frame - 1, false, w->f[index], &w->count[index]);
}

static bool print_sweep(reproduce *r, const sweep *w)
{
    static const sheet_column columns[] = {
        {.key = "band", .head = "band", .format = "%.0f"},
        {.key = "cg_tolerance", .head = "tolerance", .format = "%g"},
        {.key = "iterations", .head = "iterations", .format = "%.2f"},
        {.key = "evaluations", .head = "calls", .format = "%.2f"},
        {.key = "frames", .head = NULL, .format = "%.0f"},
        {.key = "below", .head = "f < 1e-2", .format = "%.0f"},
        {.key = "f_in_frame", .head = "f of the frame", .format = "%.1e"},
        {.key = "iterations_in_frame", .head = "after", .format = "%.0f"},
        {.key = "microseconds", .head = "us", .format = "%.0f", .is_time = true},
        {0},
    };
    sheet *s = sheet_create(columns);
    for (int i = 0; i < SWEEP; ++i) {
        const hessian_sums *sums = &w->jobs[i].sums;
        sheet_number(s, bands[i / COUNT(tolerances)]);
        sheet_number(s, tolerances[i % COUNT(tolerances)]);
        sheet_number(s, mean(sums->iterations, sums->frames));
        sheet_number(s, mean(sums->evaluations, sums->frames));
        sheet_number(s, sums->frames);
        sheet_number(s, sums->below);
        sheet_number(s, w->f[i][w->count[i] - 1]);
        sheet_number(s, w->count[i] - 1);
        sheet_number(s, mean(sums->time * 1e-3, sums->frames));
    }
    return reproduce_sheet(r, s, NULL, "");
}

static bool write_sweep(reproduce *r, const sweep *w)
{
    static const sheet_column columns[] = {{.key = "frame", .format = "%.0f"},      {.key = "band", .format = "%.0f"},
                                           {.key = "cg_tolerance", .format = "%g"}, {.key = "iteration", .format = "%.0f"},
                                           {.key = "f_cm2", .format = "%.3g"},      {0}};
    sheet *s = sheet_create(columns);
    for (int i = 0; i < SWEEP; ++i) {
        for (int k = 0; k < w->count[i]; ++k) {
            sheet_number(s, w->frame);
            sheet_number(s, bands[i / COUNT(tolerances)]);
            sheet_number(s, tolerances[i % COUNT(tolerances)]);
            sheet_number(s, k);
            sheet_number(s, w->f[i][k]);
        }
    }
    return reproduce_data(r, s, "-curves");
}

// Curves of the authors' bands at one tolerance.
static void draw_sweep_curves(plot *p, const sweep *w, int tolerance, double most)
{
    static const struct {
        int band;
        const char *color, *name;
    } lines[] = {{0, PLOT_BLACK, "band 0"}, {2, PLOT_ORANGE, "band 2"},  {4, PLOT_PURPLE, "band 4"},
                 {8, PLOT_SKY, "band 8"},   {16, PLOT_GREEN, "band 16"}, {24, PLOT_BLUE, "band 24"}};
    static const char *const titles[] = {"tolerance 0.2", "tolerance 0.1", "tolerance 0.01"};
    plot_panel(
        p, tolerance, 0,
        &(plot_panel_options){.title = titles[tolerance],
                              .x = {.label = "iteration", .from = 0.0, .to = most},
                              .y = {.label = tolerance == 0 ? "f, cm²" : NULL, .is_log = true, .from = 1e-16, .to = 1e5}});
    for (int i = 0; i < SWEEP; ++i) {
        for (int k = 0; k < COUNT(lines); ++k) {
            if (i % COUNT(tolerances) == tolerance && bands[i / COUNT(tolerances)] == lines[k].band) {
                double x[SWEEP_MOST + 1];
                for (int n = 0; n < w->count[i]; ++n) {
                    x[n] = n;
                }
                plot_line(p, (plot_style){.color = lines[k].color}, x, w->f[i], w->count[i], lines[k].name);
            }
        }
    }
}

static bool draw_sweep(reproduce *r, const sweep *w, const char *subtitle)
{
    static const char *const band_names[] = {"0", "1", "2", "4", "8", "16", "24", "32", "57"};
    static const char *const tolerance_names[] = {"0.2", "0.1", "0.01", "0.001"};
    plot *p = plot_create(r->now->title, subtitle, reproduce_foot(r), 3, 2, 240.0, 200.0);
    int most = 10;
    for (int i = 0; i < SWEEP; ++i) {
        most = w->count[i] - 1 > most ? w->count[i] - 1 : most;
    }
    for (int i = 0; i < 3; ++i) {
        draw_sweep_curves(p, w, i, most);
    }
    plot_panel(p, 0, 1,
               &(plot_panel_options){.title = "mean iterations until f < 10⁻²",
                                     .span = 3,
                                     .x = {.label = "band of the preconditioner", .names = band_names, .name_count = 9},
                                     .y = {.label = "tolerance", .names = tolerance_names, .name_count = 4}});
    char colors[SWEEP][8];
    for (int i = 0; i < SWEEP; ++i) {
        double iterations = mean(w->jobs[i].sums.iterations, w->jobs[i].sums.frames);
        int column = i / COUNT(tolerances), line = i % COUNT(tolerances);
        bool is_dark = plot_ramp((iterations - 2.0) / 3.0, colors[i]);
        char text[16];
        snprintf(text, sizeof text, "%.2f", iterations);
        plot_bar(p, (plot_style){.fill = colors[i]}, column - 0.5, line - 0.5, column + 0.5, line + 0.5, NULL);
        plot_text(p, is_dark ? "#ffffff" : PLOT_BLACK, 11.5, PLOT_MIDDLE, column, line, 0.0, 0.0, text);
    }
    return reproduce_plot(r, p, "");
}

static bool run_hessian_fig8(reproduce *r)
{
    const int theirs = 3624;
    bool has_theirs = reproduce_has_take(r, "dg_03-02_01"), has_ours = reproduce_has_take(r, REPRODUCE_TAKE);
    const hessian_study *take = reproduce_take(r, has_theirs ? "dg_03-02_01" : has_ours ? REPRODUCE_TAKE : "cartwheel");
    if (!take) {
        return false;
    }
    sweep *w = needed(calloc(1, sizeof *w));
    w->take = take;
    w->frame = has_theirs ? theirs : has_ours ? HDM05_FLIPS_FIRST : take->task.frames / 2;
    for (int i = 0; i < SWEEP; ++i) {
        w->jobs[i] = (frames_job){.take = take, .every = every_of(r, take)};
        w->jobs[i].run = hessian_run_default(POISE_METHOD_TRUST_REGION, SWEEP_MOST);
        w->jobs[i].run.band = bands[i / COUNT(tolerances)];
        w->jobs[i].run.cg_tolerance = tolerances[i % COUNT(tolerances)];
    }
    char subtitle[256];
    snprintf(subtitle, sizeof subtitle,
             "Trust region with the exact Hessian. Above: f in frame %d of %s. Below: one frame in %d.", w->frame,
             take->name, w->jobs[0].every);
    reproduce_note(r, "%s The authors choose band 24 and tolerance 0.1 by frame 3624 of HDM05 dg_03-02_01, a punch.%s%s",
                   subtitle, has_theirs ? "" : " ", has_theirs ? "" : reproduce_no_take(r));
    bool works =
        reproduce_jobs(r, SWEEP, run_sweep, w) && print_sweep(r, w) && write_sweep(r, w) && draw_sweep(r, w, subtitle);
    free(w);
    return works;
}

const experiment hessian_fig8 = {.name = "hessian-fig8",
                                 .title = "Conjugate gradients: band against tolerance",
                                 .source = REPRODUCE_HESSIAN ", Fig. 8",
                                 .uses_data = true,
                                 .run = run_hessian_fig8};

// ---- Section 6.2: times --------------------------------------------------------------------------------------------------

typedef struct stopwatch {
    const hdm05_task *task;
    poise_objective *objective;
    plain_ik *plain;
    poise_goal goals[HDM05_MARKERS];
    double *H, *J;
} stopwatch;

enum { KINDS = 6 };
static const char *const kind_names[KINDS] = {"f",
                                              "f and gradient",
                                              "f, gradient and exact Hessian",
                                              "f, gradient and J^T J",
                                              "Algorithms 2 and 3 as printed: f, Jacobian, gradient",
                                              "Algorithms 2 to 4 as printed: the same and the exact Hessian"};

static void evaluate(stopwatch *w, int kind, const double *q)
{
    double g[256];
    if (kind < 4) {
        poise_objective_evaluate(w->objective, q, kind < 2 ? (poise_level)kind : POISE_LEVEL_HESSIAN, NULL);
        if (kind >= 2) {
            poise_objective_hessian(w->objective, kind == 2 ? POISE_HESSIAN_EXACT : POISE_HESSIAN_GAUSS_NEWTON, w->H, NULL);
        }
        return;
    }
    plain_update(w->plain, q);
    plain_cost(w->plain);
    plain_jacobian(w->plain, w->J);
    plain_gradient(w->plain, w->J, g);
    if (kind == 5) {
        plain_hessian(w->plain, w->J, w->H);
    }
}

// Microseconds of one evaluation: the least of five rounds.
static double time_of(stopwatch *w, int kind)
{
    double least = INFINITY;
    int repeats = kind < 4 ? 2000 : 200;
    for (int round = 0; round < 5; ++round) {
        double start = reproduce_now();
        for (int i = 0; i < repeats; ++i) {
            evaluate(w, kind, hdm05_pose(w->task, i % 2));
        }
        least = fmin(least, (reproduce_now() - start) * 1e-3 / repeats);
    }
    return least;
}

static bool print_evaluations(reproduce *r, const hessian_study *take)
{
    static const sheet_column columns[] = {{.key = "what", .head = "one evaluation"},
                                           {.key = "microseconds", .head = "us", .format = "%.1f", .is_time = true},
                                           {0}};
    const hdm05_task *task = &take->task;
    stopwatch w = {.task = task};
    plain_effector effectors[HDM05_MARKERS];
    size_t n = (size_t)task->nv;
    hdm05_goals(task, 1, HDM05_OWN_PLACES, w.goals);
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        effectors[i] = (plain_effector){w.goals[i].body, w.goals[i].local.position, w.goals[i].target.position, 1.0};
    }
    w.plain = plain_from_model(task->model, effectors, HDM05_MARKERS);
    w.H = needed(calloc(n * n + 1, sizeof *w.H));
    w.J = needed(calloc(3 * HDM05_MARKERS * n + 1, sizeof *w.J));
    bool works = w.plain && poise_objective_create(task->model, 0, NULL, &w.objective, NULL) == POISE_OK &&
                 poise_objective_set_goals(w.objective, w.goals, HDM05_MARKERS, NULL) == POISE_OK;
    sheet *s = sheet_create(columns);
    for (int kind = 0; kind < KINDS && works; ++kind) {
        sheet_text(s, kind_names[kind]);
        sheet_number(s, time_of(&w, kind));
    }
    char title[96];
    snprintf(title, sizeof title, "%d degrees of freedom, 41 markers", task->nv);
    works = reproduce_sheet(r, s, title, "-evaluation") && works;
    plain_destroy(w.plain);
    poise_objective_destroy(w.objective);
    free(w.H);
    free(w.J);
    return works;
}

// Solves of the frames of Fig. 3, as long as the authors let them run.
static bool print_solves(reproduce *r, const scene_take *takes)
{
    static const sheet_column columns[] = {
        {.key = "method", .head = "method"},
        {.key = "frames", .head = "frames", .format = "%.0f"},
        {.key = "iterations", .head = "iterations", .format = "%.1f"},
        {.key = "printed_seconds", .head = "printed, s", .format = "%.1f", .is_time = true},
        {.key = "microseconds", .head = "ours, us", .format = "%.0f", .is_time = true},
        {0}};
    static const double printed[HESSIAN_PRINTED] = {2.6, 19.2, NAN};
    sheet *s = sheet_create(columns);
    bool works = true;
    for (int m = 0; m < HESSIAN_ROWS && works; ++m) {
        hessian_sums all = {.frames = 0};
        for (int t = 0; t < 3 && works; ++t) {
            hessian_run run = hessian_run_of(&hessian_rows[m], 100, false, false);
            hessian_sums sums;
            run.tolerance = 0.0;
            run.now = reproduce_now;
            works = takes[t].frames ? hessian_listed(takes[t].study, &run, takes[t].frames, takes[t].count, &sums)
                                    : hessian_frames(takes[t].study, &run, 20, &sums);
            all.frames += sums.frames;
            all.iterations += sums.iterations;
            all.time += sums.time;
        }
        sheet_text(s, hessian_rows[m].name);
        sheet_number(s, all.frames);
        sheet_number(s, all.frames > 0 ? all.iterations / all.frames : NAN);
        sheet_number(s, m < HESSIAN_PRINTED ? printed[m] : NAN);
        sheet_number(s, all.frames > 0 ? all.time * 1e-3 / all.frames : NAN);
    }
    return reproduce_sheet(r, s, "A solve with kmax = 100 and no other end than convergence to rounding", "") && works;
}

static bool run_hessian_times(reproduce *r)
{
    scene_take takes[3];
    if (!reproduce_scenes(r, PAPER_WALKING, 3, takes)) {
        return false;
    }
    reproduce_note(
        r, "CPU times of one thread. The authors' are of MATLAB on an i7 at 2.8 GHz: 2.6 s for quasi-Newton and 19.2 s for "
           "the exact Hessian, which ran all 100 iterations; ours end where steps no longer lower f.");
    return print_solves(r, takes) && print_evaluations(r, takes[0].study);
}

const experiment hessian_times = {.name = "hessian-times",
                                  .title = "Time of an evaluation and of a solve",
                                  .source = REPRODUCE_HESSIAN ", section 6.2",
                                  .uses_data = true,
                                  .run = run_hessian_times};
