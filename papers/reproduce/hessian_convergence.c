// Erleben & Andrews 2019: convergence, frame by frame (Figs. 3-5 and 7), and the takes and methods of all their experiments.
//
// Their Figs. 3-5 are of walking, punching and kicking in dg_03-02_01, Fig. 7 of mm_03-05_02; where a user does not have
// these, others stand in (below), and curves can be compared in shape only. Frames are counted from 1 in all output.
#include "reproduce.h"

#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

// ---- Methods -------------------------------------------------------------------------------------------------------------

const hessian_row hessian_rows[HESSIAN_ROWS] = {
    [HESSIAN_BFGS] = {"bfgs as fminunc", POISE_METHOD_BFGS, PAPER_BFGS, false, 0.0, PLOT_ORANGE, false},
    [HESSIAN_EXACT] = {"trust_region", POISE_METHOD_TRUST_REGION, PAPER_NONE, false, 0.1, PLOT_BLUE, false},
    [HESSIAN_LM] = {"lm as LMFsolve", POISE_METHOD_LEVENBERG_MARQUARDT, PAPER_LM, false, 0.0, PLOT_GREEN, false},
    [HESSIAN_AUTO] = {"auto", POISE_METHOD_AUTO, PAPER_NONE, false, 0.0, PLOT_RED, false},
    [HESSIAN_OWN_BFGS] = {"bfgs", POISE_METHOD_BFGS, PAPER_NONE, false, 0.0, PLOT_ORANGE, true},
    [HESSIAN_NEAREST] = {"trust_region, nearest", POISE_METHOD_TRUST_REGION, PAPER_NONE, true, 0.1, PLOT_BLUE, true},
    [HESSIAN_OWN_LM] = {"levenberg_marquardt", POISE_METHOD_LEVENBERG_MARQUARDT, PAPER_NONE, false, 1.0, PLOT_GREEN, true},
    [HESSIAN_CONJUGATE] = {"conjugate_gradient", POISE_METHOD_CONJUGATE_GRADIENT, PAPER_NONE, false, 0.0, PLOT_PURPLE, true},
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
static bool serves(const hessian_row *row, bool has_limits)
{
    return !has_limits || row->paper == PAPER_NONE;
}

// ---- Takes ---------------------------------------------------------------------------------------------------------------
//
// Which takes the authors show, and what stands in where a user does not have them.

// Frames as the authors' scripts have them, counted from 1.
static const int walking[] = {287, 321, 3375, 6538}, punching[] = {3612, 3624, 4005}, kicking[] = {489, 2469, 2842};

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

// ---- Curves --------------------------------------------------------------------------------------------------------------

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

// ---- Tables and figures of curves ----------------------------------------------------------------------------------------

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
            if (!serves(&hessian_rows[m], panels[p].has_limits)) {
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
            if (serves(&hessian_rows[row], panels[i].has_limits)) {
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

// ---- Figs. 3, 4, 5 and 7 -------------------------------------------------------------------------------------------------

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

static bool run_motions(reproduce *r, bool has_limits, bool from_zero)
{
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

static bool run_hessian_fig3(reproduce *r)
{
    return run_motions(r, false, false);
}

const experiment hessian_fig3 = {.name = "hessian-fig3",
                                 .title = "Convergence without limits",
                                 .source = REPRODUCE_HESSIAN ", Fig. 3",
                                 .uses_data = true,
                                 .run = run_hessian_fig3};

static bool run_hessian_fig4(reproduce *r)
{
    return run_motions(r, true, false);
}

const experiment hessian_fig4 = {.name = "hessian-fig4",
                                 .title = "Convergence with limits",
                                 .source = REPRODUCE_HESSIAN ", Fig. 4",
                                 .uses_data = true,
                                 .run = run_hessian_fig4};

static bool run_hessian_fig5(reproduce *r)
{
    return run_motions(r, false, true);
}

const experiment hessian_fig5 = {.name = "hessian-fig5",
                                 .title = "Convergence from zero",
                                 .source = REPRODUCE_HESSIAN ", Fig. 5",
                                 .uses_data = true,
                                 .run = run_hessian_fig5};

// One take in three ways.
static bool run_hessian_fig7(reproduce *r)
{
    static const char *const titles[3] = {"without limits", "with limits", "from zero"};
    convergence_panel panels[3];
    scene_take take;
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

const experiment hessian_fig7 = {.name = "hessian-fig7",
                                 .title = "Convergence in a workout",
                                 .source = REPRODUCE_HESSIAN ", Fig. 7",
                                 .uses_data = true,
                                 .run = run_hessian_fig7};
