// Erleben & Andrews 2019, "Solving inverse kinematics using exact Hessian matrices": convergence (Figs. 3-5 and 7).
//
// Their Figs. 3-5 are of walking, punching and kicking in dg_03-02_01, Fig. 7 of mm_03-05_02: hessian/paper_scenes.c says
// what stands in where these are missing; curves can be compared in shape only then. Frames are counted from 1 in all
// output.
#include "reproduce_hessian.h"

#include "cli/memory.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const hessian_row hessian_rows[HESSIAN_ROWS] = {
    [HESSIAN_BFGS] = {"bfgs as fminunc", POISE_METHOD_BFGS, PAPER_BFGS, false, 0.0, PLOT_ORANGE, false},
    [HESSIAN_EXACT] = {"trust_region", POISE_METHOD_TRUST_REGION, PAPER_NONE, false, 0.1, PLOT_BLUE, false},
    [HESSIAN_LM] = {"lm as LMFsolve", POISE_METHOD_LEVENBERG_MARQUARDT, PAPER_LM, false, 0.0, PLOT_GREEN, false},
    {"auto", POISE_METHOD_AUTO, PAPER_NONE, false, 0.0, PLOT_RED, false},
    {"bfgs", POISE_METHOD_BFGS, PAPER_NONE, false, 0.0, PLOT_ORANGE, true},
    {"trust_region, nearest", POISE_METHOD_TRUST_REGION, PAPER_NONE, true, 0.1, PLOT_BLUE, true},
    {"levenberg_marquardt", POISE_METHOD_LEVENBERG_MARQUARDT, PAPER_NONE, false, 1.0, PLOT_GREEN, true},
    {"conjugate_gradient", POISE_METHOD_CONJUGATE_GRADIENT, PAPER_NONE, false, 0.0, PLOT_PURPLE, true},
};

hessian_run hessian_run_of(const hessian_row *row, int max_iterations, bool has_limits, bool from_zero)
{
    hessian_run run = hessian_run_default(row->method, max_iterations);
    run.paper = row->paper;
    run.nearest = row->nearest;
    run.has_limits = has_limits;
    run.damping = from_zero ? row->far_damping : 0.0;
    run.is_cold = from_zero && row->method == POISE_METHOD_AUTO; // it is made to be told so
    return run;
}

// The paper's solvers know no limits.
static bool hessian_row_serves(const hessian_row *row, bool has_limits)
{
    return !has_limits || row->paper == PAPER_NONE;
}

enum { MOST_FRAMES = 16 };

// One panel: frames of a take, all from zero or from the pose before, with or without limits.
typedef struct convergence_panel {
    char title[96];
    const hessian_study *take;
    bool has_limits, from_zero;
    int frames[MOST_FRAMES], count; // counted from 1
} convergence_panel;

typedef struct curve {
    const convergence_panel *panel;
    int frame, row;
    double *f; // room for iterations + 1
    int count;
    double reached; // the first iteration after which f <= 1e-2; infinity: none
} curve;

static int iterations_of(const convergence_panel *p)
{
    return p->from_zero ? 200 : 100; // as many as the authors draw
}

static bool run_curve(void *work, int index)
{
    curve *c = (curve *)work + index;
    hessian_run run =
        hessian_run_of(&hessian_rows[c->row], iterations_of(c->panel), c->panel->has_limits, c->panel->from_zero);
    run.tolerance = 1e-20; // far below what the authors stop at, so that the rate at the end can be seen
    if (!hessian_curve(c->panel->take, &run, c->frame - 1, c->panel->from_zero, c->f, &c->count)) {
        return false;
    }
    c->reached = INFINITY;
    for (int k = c->count - 1; k >= 0; --k) {
        c->reached = c->f[k] <= HDM05_FTOL ? k : c->reached;
    }
    return true;
}

// ---- What comes out ------------------------------------------------------------------------------------------------------

static bool write_curves(reproduce *r, const curve *curves, int count)
{
    static const sheet_column columns[] = {{.key = "take"},
                                           {.key = "frame", .format = "%.0f"},
                                           {.key = "start"},
                                           {.key = "limits"},
                                           {.key = "method"},
                                           {.key = "iteration", .format = "%.0f"},
                                           {.key = "f_cm2", .format = "%.3g"},
                                           {0}};
    sheet *s = sheet_create(columns);
    for (int i = 0; i < count; ++i) {
        const curve *c = &curves[i];
        for (int k = 0; k < c->count; ++k) {
            sheet_text(s, c->panel->take->name);
            sheet_number(s, c->frame);
            sheet_text(s, c->panel->from_zero ? "zero" : "previous");
            sheet_text(s, c->panel->has_limits ? "range" : "none");
            sheet_text(s, hessian_rows[c->row].name);
            sheet_number(s, k);
            sheet_number(s, c->f[k]);
        }
    }
    return reproduce_data(r, s, "");
}

// For each panel and method: how many frames get below 1e-2, how fast, and where the worst ends.
static bool print_curves(reproduce *r, const convergence_panel *panels, int panel_count, const curve *curves, int count)
{
    static const sheet_column columns[] = {{.key = "panel", .head = "panel"},
                                           {.key = "method", .head = "method"},
                                           {.key = "frames", .head = "frames", .format = "%.0f"},
                                           {.key = "below", .head = "f < 1e-2", .format = "%.0f"},
                                           {.key = "iterations", .head = "after", .format = "%.1f"},
                                           {.key = "largest_f", .head = "largest f", .format = "%.1e"},
                                           {0}};
    sheet *s = sheet_create(columns);
    reproduce_note(
        r, "Frames, those that get below f = 1e-2, after how many iterations on average, and the largest f at the end:");
    for (int p = 0; p < panel_count; ++p) {
        for (int m = 0, shown = 0; m < HESSIAN_ROWS; ++m) {
            double below = 0.0, sum = 0.0, worst = 0.0;
            if (!hessian_row_serves(&hessian_rows[m], panels[p].has_limits)) {
                continue;
            }
            for (int i = 0; i < count; ++i) {
                if (curves[i].panel == &panels[p] && curves[i].row == m) {
                    bool is_below = isfinite(curves[i].reached);
                    below += is_below;
                    sum += is_below ? curves[i].reached : 0.0;
                    worst = fmax(worst, curves[i].f[curves[i].count - 1]);
                }
            }
            sheet_text(s, shown++ == 0 ? panels[p].title : "");
            sheet_text(s, hessian_rows[m].name);
            sheet_number(s, panels[p].count);
            sheet_number(s, below);
            sheet_number(s, below > 0.0 ? sum / below : NAN);
            sheet_number(s, worst);
        }
    }
    return reproduce_sheet(r, s, NULL, "-summary");
}

static void draw_curve(plot *p, const curve *c)
{
    double x[256], y[256];
    for (int k = 0; k < c->count; ++k) {
        x[k] = k;
        y[k] = fmax(c->f[k], 1e-30);
    }
    const hessian_row *row = &hessian_rows[c->row];
    plot_line(p, (plot_style){.color = row->color, .width = 1.3, .opacity = 0.75, .is_dashed = row->is_dashed}, x, y,
              c->count, row->name);
}

static bool draw_curves(reproduce *r, const convergence_panel *panels, int panel_count, const curve *curves, int count,
                        const char *subtitle)
{
    int columns = panel_count == 4 ? 2 : panel_count;
    plot *p = plot_create(r->now->title, subtitle, reproduce_foot(r), columns, panel_count / columns,
                          columns == 2 ? 330.0 : 260.0, 220.0);
    for (int i = 0; i < panel_count; ++i) {
        double most = iterations_of(&panels[i]);
        plot_panel(p, i % columns, i / columns,
                   &(plot_panel_options){.title = panels[i].title,
                                         .x = {.label = "iteration", .from = -0.01 * most, .to = most},
                                         .y = {.label = i % columns == 0 ? "f, cm²" : NULL,
                                               .is_log = true,
                                               .from = 1e-20,
                                               .to = panels[i].from_zero ? 1e6 : 1e5}});
        for (int k = 0; k < count; ++k) {
            if (curves[k].panel == &panels[i]) {
                draw_curve(p, &curves[k]);
            }
        }
        plot_rule_y(p, (plot_style){.color = PLOT_BLACK, .width = 1.0, .is_dashed = true}, HDM05_FTOL,
                    "10⁻²: where the authors stop");
    }
    return reproduce_plot(r, p, "");
}

static bool run_panels(reproduce *r, const convergence_panel *panels, int panel_count, const char *subtitle)
{
    int most = 0, count = 0;
    for (int i = 0; i < panel_count; ++i) {
        most += panels[i].count * HESSIAN_ROWS;
    }
    const size_t room = 201;
    curve *curves = needed(calloc((size_t)most + 1, sizeof *curves));
    double *f = needed(calloc((size_t)most * room + 1, sizeof *f));
    for (int i = 0; i < panel_count; ++i) {
        for (int k = 0; k < panels[i].count * HESSIAN_ROWS; ++k) {
            int row = k / panels[i].count;
            if (hessian_row_serves(&hessian_rows[row], panels[i].has_limits)) {
                curves[count] = (curve){.panel = &panels[i],
                                        .frame = panels[i].frames[k % panels[i].count],
                                        .row = row,
                                        .f = f + (size_t)count * room};
                count += 1;
            }
        }
    }
    bool works = reproduce_jobs(r, count, run_curve, curves) && print_curves(r, panels, panel_count, curves, count) &&
                 write_curves(r, curves, count) && draw_curves(r, panels, panel_count, curves, count, subtitle);
    free(curves);
    free(f);
    return works;
}

// ---- Which frames --------------------------------------------------------------------------------------------------------

// The authors' frames; else `count` of them, by a fixed rule in a long recording, spread over a short motion.
static void choose_frames(reproduce *r, convergence_panel *p, const scene_take *take, int count, int first, int apart)
{
    int frames = take->study->task.frames;
    bool is_long = first + apart * (count - 1) < frames;
    p->take = take->study;
    p->count = take->frames ? take->count : count;
    p->count = r->samples > 0 && r->samples < p->count ? r->samples
               : r->samples > 0 && !take->frames       ? r->samples
                                                       : p->count;
    p->count = p->count < MOST_FRAMES ? p->count : MOST_FRAMES;
    for (int i = 0; i < p->count; ++i) {
        p->frames[i] = take->frames ? take->frames[i]
                       : is_long    ? first + apart * i
                                    : 2 + (frames - 2) * (2 * i + 1) / (2 * p->count);
    }
}

static const char *const far_note =
    " From zero each method has the damping that it needs there: LMFsolve and levenberg_marquardt begin with 1, "
    "trust_region "
    "with a tenth of the residual for its radius; auto is told that it starts from far off, and aligns the root first.";

// Figs. 3, 4 and 5.
static bool run_motions(reproduce *r, const experiment *e)
{
    bool has_limits = strcmp(e->name, "hessian-fig4") == 0, from_zero = strcmp(e->name, "hessian-fig5") == 0;
    convergence_panel panels[PAPER_SCENES];
    scene_take takes[PAPER_SCENES];
    if (!reproduce_scenes(r, PAPER_WALKING, PAPER_SCENES, takes)) {
        return false;
    }
    for (int i = 0; i < PAPER_SCENES; ++i) {
        convergence_panel *p = &panels[i];
        *p = (convergence_panel){.has_limits = has_limits, .from_zero = from_zero};
        snprintf(p->title, sizeof p->title, "%s", takes[i].title);
        choose_frames(r, p, &takes[i], takes[i].study->task.is_recording ? 10 : 5, 200, 380);
        if (takes[i].study->task.has_flips && p->count < MOST_FRAMES) {
            p->frames[p->count++] = HDM05_FLIPS_FIRST;
        }
    }
    reproduce_note(r, "f after each iteration, %s, %s limits.%s",
                   from_zero ? "all angles zero at first" : "from the pose of the frame before",
                   has_limits ? "with" : "without",
                   has_limits  ? " The baselines as the authors ran them know no limits."
                   : from_zero ? far_note
                               : "");
    return run_panels(r, panels, PAPER_SCENES,
                      from_zero    ? "f after each iteration; every frame starts with all angles zero, without limits"
                      : has_limits ? "f after each iteration; every frame starts at the pose before, with limits"
                                   : "f after each iteration; every frame starts at the pose before, without limits");
}

// Fig. 7: one take in three ways.
static bool run_take(reproduce *r, const experiment *e)
{
    static const char *const titles[3] = {"without limits", "with limits", "from zero"};
    convergence_panel panels[3];
    scene_take take;
    (void)e;
    if (!reproduce_scenes(r, PAPER_WORKOUT, 1, &take)) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        panels[i] = (convergence_panel){.has_limits = i == 1, .from_zero = i == 2};
        snprintf(panels[i].title, sizeof panels[i].title, "%s", titles[i]);
        choose_frames(r, &panels[i], &take, 5, 500, 700);
    }
    reproduce_note(r, "f after each iteration in frames of %s.%s", take.study->name, far_note);
    return run_panels(r, panels, 3, "f after each iteration in frames of a workout; limits in the middle only");
}

// ---- Takes ---------------------------------------------------------------------------------------------------------------
//
// Which takes the authors show, and what stands in where a user does not have them.

// Frames as the authors' scripts have them, counted from 1.
static const int walking[] = {287, 321, 3375, 6538}, punching[] = {3612, 3624, 4005}, kicking[] = {489, 2469, 2842};

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

static const struct {
    const char *motion, *take;
    const int *frames;
    int count;
    const char *recording, *own; // what stands in: a recording, else our own motion
} scenes[PAPER_SCENES] = {
    {"walking", "dg_03-02_01", walking, COUNT(walking), NULL, "walk"},
    {"punching", "dg_03-02_01", punching, COUNT(punching), NULL, "punch"},
    {"kicking", "dg_03-02_01", kicking, COUNT(kicking), NULL, "kick"},
    {"workout", "mm_03-05_02", NULL, 0, REPRODUCE_TAKE, "cartwheel"},
};

static bool load(reproduce *r, paper_scene scene, scene_take *take)
{
    const char *recording = scenes[scene].recording;
    bool is_theirs = reproduce_has_take(r, scenes[scene].take);
    bool is_recording = !is_theirs && recording && reproduce_has_take(r, recording);
    const char *name = is_theirs ? scenes[scene].take : is_recording ? recording : scenes[scene].own;
    *take = (scene_take){.motion = scenes[scene].motion, .study = reproduce_take(r, name), .is_theirs = is_theirs};
    if (!take->study) {
        return false;
    }
    while (is_theirs && take->count < scenes[scene].count && scenes[scene].frames[take->count] <= take->study->task.frames) {
        take->frames = scenes[scene].frames; // a take that was cut has the first of them
        take->count += 1;
    }
    snprintf(take->title, sizeof take->title,
             is_theirs      ? "%s, %s"
             : is_recording ? "%s%s"
                            : "%sour %s",
             is_theirs ? take->motion : "", name);
    return true;
}

bool reproduce_scenes(reproduce *r, paper_scene first, int count, scene_take *takes)
{
    char text[1024] = "";
    for (int i = 0; i < count; ++i) {
        if (!load(r, (paper_scene)((int)first + i), &takes[i])) {
            return false;
        }
    }
    for (int i = 0; i < count; ++i) { // scenes of one take follow each other
        const char *take = scenes[(int)first + i].take;
        bool begins = i == 0 || strcmp(take, scenes[(int)first + i - 1].take) != 0;
        bool ends = i == count - 1 || strcmp(take, scenes[(int)first + i + 1].take) != 0;
        size_t used = strlen(text);
        if (!takes[i].is_theirs) {
            const char *whose = takes[i].study->task.is_recording ? "the recording " : "our own ";
            snprintf(text + used, sizeof text - used, "%s%s%s%s%s", begins && i > 0 ? " " : "",
                     begins ? "In place of HDM05 " : "", begins ? take : "",
                     begins ? ": "
                     : ends ? " and "
                            : ", ",
                     whose);
            used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s", takes[i].study->name, ends ? "." : "");
        }
    }
    if (text[0]) {
        reproduce_note(r, "%s %s", text, reproduce_no_take(r));
    }
    return true;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------
//
// Erleben & Andrews 2019: calls until f < 1e-2 (Table 3), a whole motion (Table 4), conjugate gradients (Fig. 8).

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

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

static bool hessian_table3(reproduce *r, const experiment *e)
{
    frames_job jobs[PAPER_SCENES * HESSIAN_ROWS];
    scene_take takes[PAPER_SCENES];
    (void)e;
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

static const struct {
    const char *name;       // in the table
    const char *short_name; // below a bar
    int row, iterations, band, restarts;
} sequences[] = {
    {"bfgs as fminunc", "fminunc 10", HESSIAN_BFGS, 10, 0, 0},
    {"bfgs as fminunc", "100", HESSIAN_BFGS, 100, 0, 0},
    {"trust_region, band 24", "trust 24", HESSIAN_EXACT, 10, 24, 0},
    {"trust_region, band 8", "band 8", HESSIAN_EXACT, 10, 8, 0},
    {"trust_region, nearest", "nearest", 5, 10, 24, 0},
    {"lm as LMFsolve", "LMF 10", HESSIAN_LM, 10, 0, 0},
    {"lm as LMFsolve", "100", HESSIAN_LM, 100, 0, 0},
    {"bfgs", "bfgs 10", 4, 10, 0, 0},
    {"bfgs", "100", 4, 100, 0, 0},
    {"conjugate_gradient", "cg 100", 7, 100, 0, 0},
    {"levenberg_marquardt", "lm 10", 6, 10, 0, 0},
    {"levenberg_marquardt", "100", 6, 100, 0, 0},
    {"auto", "auto 10", 3, 10, 0, 0},
    {"auto, restarts", "restarts", 3, 10, 0, RESTARTS},
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

// Where the first frame starts; with EACH, every frame, from the recorded pose of the one before.
enum { EACH = HESSIAN_COLD + 1 };
static const char *const firsts[] = {"pose", "zero", "cold", "each"}, *const ends[] = {"", ", zero", ", cold start",
                                                                                       ", each"};

static int first_of(const frames_job *j)
{
    return j->every > 0 ? EACH : (int)j->first;
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
        snprintf(name, sizeof name, "%s%s", sequences[row[i]].name, ends[first_of(&jobs[i])]);
        sheet_text(s, name);
        sheet_number(s, sequences[row[i]].iterations);
        sheet_text(s, firsts[first_of(&jobs[i])]);
        sheet_number(s, first_of(&jobs[i]) == EACH ? NAN : printed_error(jobs[i].take->name, row[i], false));
        sheet_number(s, mean(sums->error, sums->frames));
        sheet_number(s, mean(sums->before_error, sums->before));
        sheet_number(s, mean(sums->distances, sums->frames));
        sheet_number(s, mean(sums->iterations, sums->frames));
        sheet_number(s, sums->frames);
        sheet_number(s, sums->below);
        sheet_number(s, first_of(&jobs[i]) == EACH ? NAN : printed_error(jobs[i].take->name, row[i], true));
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
    const char *names[COUNT(sequences)];
    int used = 0;
    plot_axis y = axis_of_errors(jobs, count);
    plot *p =
        plot_create(r->now->title, "Mean length of the stacked residual of 41 markers, each frame from the answer before",
                    reproduce_foot(r), 1, 1, 860.0, 260.0);
    for (int i = 0; i < COUNT(sequences); ++i) {
        names[used++] = sequences[i].short_name;
    }
    plot_panel(p, 0, 0,
               &(plot_panel_options){.title = jobs[0].take->name, .x = {.names = names, .name_count = used}, .y = y});
    for (int i = 0; i < count; ++i) {
        int at = row[i];
        if (first_of(&jobs[i]) != HESSIAN_FROM_POSE) {
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
        if (!(printed > 0.0) || first_of(&jobs[i]) != HESSIAN_FROM_POSE) {
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

// The run of that name, iterations and start; NULL: none.
static const hessian_sums *find_run(const frames_job *jobs, const int *row, int count, const char *name, int iterations,
                                    int first)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(sequences[row[i]].name, name) == 0 && sequences[row[i]].iterations == iterations &&
            first_of(&jobs[i]) == first) {
            return &jobs[i].sums;
        }
    }
    return NULL;
}

// What the flip of the recording does to those that follow their own answers.
static void note_flips(reproduce *r, const frames_job *jobs, const int *row, int count)
{
    const hessian_sums *all = find_run(jobs, row, count, "bfgs", 100, HESSIAN_FROM_POSE);
    const hessian_sums *each = find_run(jobs, row, count, "bfgs", 100, EACH);
    const hessian_sums *few = find_run(jobs, row, count, "levenberg_marquardt", 10, HESSIAN_FROM_POSE);
    const hessian_sums *many = find_run(jobs, row, count, "levenberg_marquardt", 100, HESSIAN_FROM_POSE);
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
    static const int singles[SINGLES] = {1, 8}; // in `sequences`: 100 iterations of both kinds of bfgs
    frames_job jobs[3 * COUNT(sequences) + SINGLES];
    int row[COUNT(jobs)], count = 0, frames = take->task.frames / (r->every > 0 ? r->every : 1);
    for (int k = 0; k < 3; ++k) { // the authors' text has zero; their program, and the default here, the pose
        for (int i = 0; i < COUNT(sequences); ++i) {
            const hessian_row *method = &hessian_rows[sequences[i].row];
            bool is_auto = method->method == POISE_METHOD_AUTO && sequences[i].restarts == 0;
            if (k == 0 || (k == 1 && r->is_full) || (k == 2 && is_auto)) {
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

static bool hessian_table4(reproduce *r, const experiment *e)
{
    bool is_there[COUNT(printed_takes)] = {false}, works = true, any = false;
    (void)e;
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

static bool hessian_sweep(reproduce *r, const experiment *e)
{
    const int theirs = 3624;
    bool has_theirs = reproduce_has_take(r, "dg_03-02_01"), has_ours = reproduce_has_take(r, REPRODUCE_TAKE);
    const hessian_study *take = reproduce_take(r, has_theirs ? "dg_03-02_01" : has_ours ? REPRODUCE_TAKE : "cartwheel");
    (void)e;
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

// ---- The list ------------------------------------------------------------------------------------------------------------

const experiment hessian_experiments[] = {
    {"hessian-table3", "Calls of the function until f < 1e-2", HESSIAN_SOURCE ", Table 3", true, hessian_table3, false},
    {"hessian-table4", "Error and time over a whole motion", HESSIAN_SOURCE ", Table 4", true, hessian_table4, false},
    {"hessian-times", "Time of an evaluation and of a solve", HESSIAN_SOURCE ", section 6.2", true, hessian_times, false},
    {"hessian-fig2", "Frames of walking, punching and kicking", HESSIAN_SOURCE ", Fig. 2", true, hessian_frames_drawn,
     false},
    {"hessian-fig3", "Convergence without limits", HESSIAN_SOURCE ", Fig. 3", true, run_motions, false},
    {"hessian-fig4", "Convergence with limits", HESSIAN_SOURCE ", Fig. 4", true, run_motions, false},
    {"hessian-fig5", "Convergence from zero", HESSIAN_SOURCE ", Fig. 5", true, run_motions, false},
    {"hessian-fig6", "Frames of a workout", HESSIAN_SOURCE ", Fig. 6", true, hessian_frames_drawn, false},
    {"hessian-fig7", "Convergence in a workout", HESSIAN_SOURCE ", Fig. 7", true, run_take, false},
    {"hessian-fig8", "Conjugate gradients: band against tolerance", HESSIAN_SOURCE ", Fig. 8", true, hessian_sweep, false},
    {"hessian-definiteness", "Definiteness along a motion", HESSIAN_SOURCE ", section 6.7", true, hessian_definiteness,
     false},
    {"hessian-a9", "The arm of two links", HESSIAN_SOURCE ", Fig. A.9", false, hessian_arm, false},
    {"hessian-a10", "Definiteness of its Hessian", HESSIAN_SOURCE ", Fig. A.10", false, hessian_arm_definiteness, false},
    {0},
};
