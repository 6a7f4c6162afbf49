// Ribeiro & Paiva 2019, Figs. 7 to 13.
#include "reproduce.h"

#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static const char *const skeleton_names[EVALUATE_SKELETONS] = {"A", "B", "C", "D", "E", "F", "G"};
#define PALE_BLUE "#cfe3f1"

// ---- Figs. 7 and 8: postures ---------------------------------------------------------------------------------------------

enum { MOST_POINTS = EVALUATE_MOST_DIMENSIONS + 3 };

// The joints of posture i and its tip. Returns how many points that is.
static int place_joints(const evaluate_problem *problem, poise_kinematics *kinematics, int64_t i, poise_vec3 *points)
{
    double q[EVALUATE_MOST_DIMENSIONS + 2];
    int joints = poise_model_info(problem->model).joints;
    evaluate_posture(problem, i, q);
    poise_kinematics_update(kinematics, q, NULL);
    for (int k = 0; k < joints; ++k) {
        points[k] = poise_kinematics_body_pose(kinematics, k).position;
    }
    points[joints] = poise_kinematics_point(kinematics, problem->options.body, problem->options.tip.position);
    return joints + 1;
}

typedef struct segment {
    double x0, y0, x1, y1;
} segment;

static int by_place(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(segment));
}

// x and y on the page of a view from in front (0), from the side (1), from above (2); rounded, so that equal segments of
// different postures are equal to the bit, and never -0.
static void project(poise_vec3 p, int view, double *x, double *y)
{
    *x = round(1e4 * (view == 1 ? p.z : p.x)) / 1e4 + 0.0;
    *y = round(1e4 * (view == 2 ? -p.z : p.y)) / 1e4 + 0.0;
}

// Segment number `link` of all postures in one view, each once.
static int collect_segments(const evaluate_problem *problem, poise_kinematics *kinematics, int view, int link,
                            segment *segments)
{
    poise_vec3 points[MOST_POINTS];
    int count = 0, kept = 0;
    for (int64_t i = 0; i < problem->posture_count; ++i) {
        segment s;
        place_joints(problem, kinematics, i, points);
        project(points[link], view, &s.x0, &s.y0);
        project(points[link + 1], view, &s.x1, &s.y1);
        if (s.x0 != s.x1 || s.y0 != s.y1) {
            segments[count++] = s;
        }
    }
    qsort(segments, (size_t)count, sizeof *segments, by_place);
    for (int i = 0; i < count; ++i) {
        if (i == 0 || memcmp(&segments[i], &segments[i - 1], sizeof *segments) != 0) {
            segments[kept++] = segments[i];
        }
    }
    return kept;
}

static bool draw_all_postures(reproduce *r, const evaluate_problem *problem, poise_kinematics *kinematics)
{
    static const char *const titles[3] = {"from in front", "from the side", "from above"};
    static const char *const x_labels[3] = {"x", "z", "x"}, *const y_labels[3] = {"y", "y", "−z"};
    static const char *const names[5] = {"first segment", "second", "third", "fourth", "last"};
    static const char *const colors[5] = {PLOT_BLACK, PLOT_RED, PLOT_ORANGE, PLOT_GREEN, PLOT_SKY};
    size_t most = (size_t)problem->posture_count;
    segment *segments = needed(malloc(most * sizeof *segments));
    double *x = needed(malloc(2 * most * sizeof *x)), *y = needed(malloc(2 * most * sizeof *y));
    plot *p = plot_create(r->now->title, "3789 postures laid over each other; the root does not turn", reproduce_foot(r), 3,
                          1, 240.0, 240.0);
    for (int view = 0; view < 3; ++view) {
        plot_panel(
            p, view, 0,
            &(plot_panel_options){
                .title = titles[view],
                .x = {.label = x_labels[view], .from = -1.2, .to = 1.2, .step = 0.5},
                .y = {.label = y_labels[view], .from = view == 2 ? -1.2 : -1.0, .to = view == 2 ? 1.2 : 1.4, .step = 0.5}});
        for (int link = 4; link >= 0; --link) { // what all have in common comes last, on top
            int count = collect_segments(problem, kinematics, view, link, segments);
            for (int i = 0; i < count; ++i) {
                x[2 * i] = segments[i].x0;
                y[2 * i] = segments[i].y0;
                x[2 * i + 1] = segments[i].x1;
                y[2 * i + 1] = segments[i].y1;
            }
            if (count > 0) {
                plot_segments(p,
                              (plot_style){.color = colors[link],
                                           .width = link == 4  ? 0.4
                                                    : link > 1 ? 0.7
                                                               : 1.5},
                              x, y, count, names[link]);
            }
        }
    }
    free(segments);
    free(x);
    free(y);
    return reproduce_plot(r, p, "");
}

// The posture of the set that is nearest to three bends in degrees.
static int64_t find_posture(const evaluate_problem *problem, const double *bends)
{
    double q[EVALUATE_MOST_DIMENSIONS + 2], least = INFINITY;
    int64_t nearest = 0;
    for (int64_t i = 0; i < problem->posture_count; ++i) {
        double distance = 0.0;
        evaluate_posture(problem, i, q);
        for (int k = 0; k < 3; ++k) {
            distance += fabs(q[k + 1] - bends[k] * PI / 180.0);
        }
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return nearest;
}

static bool draw_five_postures(reproduce *r, const evaluate_problem *problem, poise_kinematics *kinematics)
{
    static const double bends[5][3] = {{30, 30, 30}, {-60, 60, 45}, {60, -30, -60}, {-30, -45, 60}, {-20, 80, -30}};
    plot *p = plot_create(r->now->title, "Five of 3789", reproduce_foot(r), 5, 1, 150.0, 132.0);
    for (int i = 0; i < 5; ++i) {
        poise_vec3 points[MOST_POINTS];
        double x[MOST_POINTS], y[MOST_POINTS];
        int n = place_joints(problem, kinematics, find_posture(problem, bends[i]), points);
        for (int k = 0; k < n; ++k) {
            x[k] = 0.8 * points[k].x + 0.6 * points[k].z;
            y[k] = points[k].y + 0.25 * (0.6 * points[k].x - 0.8 * points[k].z);
        }
        plot_panel(p, i, 0,
                   &(plot_panel_options){
                       .is_bare = true, .is_equal = true, .x = {.from = -0.7, .to = 0.7}, .y = {.from = -0.12, .to = 1.1}});
        const double floor_x[2] = {-0.5, 0.5}, floor_y[2] = {0.0, 0.0};
        plot_line(p, (plot_style){.color = "#d9d9d9", .width = 1.0}, floor_x, floor_y, 2, NULL);
        plot_line(p, (plot_style){.color = PLOT_BLUE, .width = 6.0}, x, y, n, "segments");
        plot_points(p, (plot_style){.color = PLOT_BLACK, .size = 8.0}, x, y, n - 1, "joints");
        plot_points(p, (plot_style){.color = PLOT_RED, .size = 8.0}, x + n - 1, y + n - 1, 1, "end");
    }
    return reproduce_plot(r, p, "");
}

static bool write_postures(reproduce *r, const evaluate_problem *problem)
{
    static const sheet_column columns[] = {{.key = "posture", .format = "%.0f"},
                                           {.key = "joint2", .format = "%.6f"},
                                           {.key = "joint3", .format = "%.6f"},
                                           {.key = "joint4", .format = "%.6f"},
                                           {0}};
    double q[EVALUATE_MOST_DIMENSIONS + 2];
    sheet *s = sheet_create(columns);
    for (int64_t i = 0; i < problem->posture_count; ++i) {
        evaluate_posture(problem, i, q);
        sheet_number(s, (double)i);
        for (int k = 1; k <= 3; ++k) {
            sheet_number(s, q[k]);
        }
    }
    return reproduce_data(r, s, "");
}

static bool draw_postures(reproduce *r, bool all)
{
    const erik_run *run = erik_problems(r);
    const evaluate_problem *problem = run->problems[ERIK_C];
    poise_kinematics *kinematics;
    need(poise_kinematics_create(problem->model, NULL, &kinematics, NULL) == POISE_OK);
    reproduce_note(r, "%d postures of skeleton C; the paper has 3789. Angles in radians.", (int)problem->posture_count);
    bool works = write_postures(r, problem) && (all ? draw_all_postures : draw_five_postures)(r, problem, kinematics);
    poise_kinematics_destroy(kinematics);
    return works;
}

static bool run_erik_fig7(reproduce *r)
{
    return draw_postures(r, false);
}

const experiment erik_fig7 = {
    .name = "erik-fig7", .title = "Five postures of skeleton C", .source = REPRODUCE_ERIK ", Fig. 7", .run = run_erik_fig7};

static bool run_erik_fig8(reproduce *r)
{
    return draw_postures(r, true);
}

const experiment erik_fig8 = {
    .name = "erik-fig8", .title = "All postures of skeleton C", .source = REPRODUCE_ERIK ", Fig. 8", .run = run_erik_fig8};

// ---- Fig. 9: orientations ------------------------------------------------------------------------------------------------

// Angle number `numerator` of a grid of `denominator` steps over a whole turn.
static double grid_angle(int numerator, int denominator)
{
    return PI * (2.0 * numerator - denominator) / denominator;
}

// Yaw and pitch give a direction; the twist is the distance from the middle. `thickness` > 0: only what is as near to the
// plane of the page through the middle.
static void draw_cloud(plot *p, int column, double thickness, const unsigned char *points, const unsigned char *denominators,
                       int count)
{
    static const char *const names[3] = {"twist < 0", "no twist", "twist > 0"};
    static const char *const colors[3] = {PLOT_RED, PLOT_BLUE, PLOT_GREEN};
    double *x = malloc((size_t)count * sizeof *x), *y = malloc((size_t)count * sizeof *y);
    plot_panel(p, column, 0,
               &(plot_panel_options){.title = thickness > 0.0 ? "a slice through the middle" : "all",
                                     .is_bare = true,
                                     .is_equal = true,
                                     .x = {.from = -1.6, .to = 1.6},
                                     .y = {.from = -1.6, .to = 1.6}});
    for (int k = 0; k < 3 && x && y; ++k) {
        int kind = 2 - k, used = 0; // the outermost first
        for (int i = 0; i < count; ++i) {
            double yaw = grid_angle(points[3 * i], denominators[i]), pitch = grid_angle(points[3 * i + 1], denominators[i]);
            double twist = grid_angle(points[3 * i + 2], denominators[i]), radius = 1.0 + 0.5 * twist / PI;
            double px = radius * cos(pitch) * sin(yaw), py = radius * sin(pitch), pz = radius * cos(pitch) * cos(yaw);
            double right = 0.87 * px - 0.5 * pz, front = 0.5 * px + 0.87 * pz;
            bool is_seen = thickness <= 0.0 || fabs(0.94 * front - 0.34 * py) <= thickness;
            if (is_seen && (twist < -1e-9 ? 0 : twist > 1e-9 ? 2 : 1) == kind) {
                x[used] = right;
                y[used++] = 0.94 * py + 0.34 * front;
            }
        }
        plot_points(p, (plot_style){.color = colors[kind], .size = thickness > 0.0 ? 3.5 : 2.2}, x, y, used, names[kind]);
    }
    free(x);
    free(y);
}

static bool run_erik_fig9(reproduce *r)
{
    static const sheet_column columns[] = {
        {.key = "yaw", .format = "%.6f"}, {.key = "pitch", .format = "%.6f"}, {.key = "roll", .format = "%.6f"}, {0}};
    const int finest = 12;
    int count = (int)evaluate_grid_count(3, finest);
    unsigned char *points = needed(malloc((size_t)count * 4)), *denominators = points + (size_t)count * 3;
    evaluate_grid_points(3, finest, points, denominators);
    sheet *s = sheet_create(columns);
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            sheet_number(s, grid_angle(points[3 * i + k], denominators[i]));
        }
    }
    reproduce_note(r, "%d orientations; the paper has 7609, which no rule we tried gives. Angles in radians.", count);
    plot *p = plot_create(r->now->title, "A direction each, with its twist as the distance from the middle",
                          reproduce_foot(r), 2, 1, 380.0, 380.0);
    draw_cloud(p, 0, 0.0, points, denominators, count);
    draw_cloud(p, 1, 0.2, points, denominators, count);
    free(points);
    return reproduce_data(r, s, "") && reproduce_plot(r, p, "");
}

const experiment erik_fig9 = {
    .name = "erik-fig9", .title = "All target orientations", .source = REPRODUCE_ERIK ", Fig. 9", .run = run_erik_fig9};

// ---- Histograms and normal distributions ---------------------------------------------------------------------------------

static const char *const measure_names[3] = {"combined", "orientation", "posture x 0.2"};
static const char *const measure_titles[3] = {"combined error", "orientation error", "posture error × 0.2"};

static const evaluate_statistics *measure(const erik_row *row, int k)
{
    return k == 0 ? &row->results.error : k == 1 ? &row->results.orientation : &row->results.posture;
}

// Shares of the samples in percent, by bin, and the histogram.
static void draw_bins(plot *p, plot_style style, const evaluate_statistics *s, const char *name)
{
    double shares[EVALUATE_BINS];
    for (int b = 0; b < EVALUATE_BINS; ++b) {
        shares[b] = s->count > 0 ? 100.0 * (double)s->bins[b] / (double)s->count : 0.0;
    }
    plot_steps(p, style, 0.0, s->width, shares, EVALUATE_BINS, name);
}

// exp(-((x - mean) / SD)^2 / 2) / (SD sqrt(2 pi))
static void draw_normal(plot *p, plot_style style, const evaluate_statistics *s, double to, const char *name)
{
    enum { POINTS = 161 };
    double x[POINTS], y[POINTS], deviation = fmax(evaluate_statistics_deviation(s), 1e-12);
    for (int i = 0; i < POINTS; ++i) {
        x[i] = to * i / (POINTS - 1);
        double z = (x[i] - s->mean) / deviation;
        y[i] = exp(-0.5 * z * z) / (deviation * sqrt(2.0 * PI));
    }
    plot_line(p, style, x, y, POINTS, name);
}

static void draw_threshold(plot *p)
{
    plot_rule_x(p, (plot_style){.color = PLOT_BLACK, .width = 1.0, .is_dashed = true}, 0.04, "threshold 0.04");
}

static bool write_bins(reproduce *r, const erik_row *const *rows, int count, const int *measures, int measure_count)
{
    static const sheet_column columns[] = {{.key = "run"},
                                           {.key = "error"},
                                           {.key = "from", .format = "%.4f"},
                                           {.key = "to", .format = "%.4f"},
                                           {.key = "count", .format = "%.0f"},
                                           {0}};
    sheet *s = sheet_create(columns);
    for (int i = 0; i < count * measure_count; ++i) {
        const erik_row *row = rows[i / measure_count];
        int k = measures[i % measure_count];
        const evaluate_statistics *x = measure(row, k);
        for (int b = 0; b <= EVALUATE_BINS; ++b) {
            sheet_text(s, row->name);
            sheet_text(s, measure_names[k]);
            sheet_number(s, b * x->width);
            sheet_number(s, b < EVALUATE_BINS ? (b + 1) * x->width : INFINITY);
            sheet_number(s, (double)x->bins[b]);
        }
    }
    return reproduce_data(r, s, "");
}

static bool print_statistics(reproduce *r, const erik_row *const *rows, int count, const int *measures, int measure_count,
                             const char *suffix)
{
    static const sheet_column columns[] = {{.key = "run", .head = "run"},
                                           {.key = "error", .head = "error"},
                                           {.key = "samples", .head = "samples", .format = "%.0f"},
                                           {.key = "mean", .head = "mean", .format = "%.5f"},
                                           {.key = "deviation", .head = "SD", .format = "%.5f"},
                                           {.key = "most", .head = "max", .format = "%.4f"},
                                           {0}};
    sheet *s = sheet_create(columns);
    for (int i = 0; i < count * measure_count; ++i) {
        const erik_row *row = rows[i / measure_count];
        int k = measures[i % measure_count];
        const evaluate_statistics *x = measure(row, k);
        sheet_text(s, row->name);
        sheet_text(s, measure_names[k]);
        sheet_number(s, (double)x->count);
        sheet_number(s, x->mean);
        sheet_number(s, evaluate_statistics_deviation(x));
        sheet_number(s, x->most);
    }
    return reproduce_sheet(r, s, NULL, suffix);
}

static const int all_measures[3] = {0, 1, 2};

static bool run_erik_fig12(reproduce *r)
{
    const erik_run *run = erik_results(r, false);
    const erik_row *rows[EVALUATE_SKELETONS];
    char titles[EVALUATE_SKELETONS][3][48];
    if (!run) {
        return false;
    }
    plot *p = plot_create(r->now->title, "ERIK. The scale of A differs; largest errors beyond 0.16 are not drawn.",
                          reproduce_foot(r), 3, EVALUATE_SKELETONS, 230.0, 90.0);
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        rows[i] = &run->rows[i];
        for (int k = 0; k < 3; ++k) {
            const evaluate_statistics *s = measure(rows[i], k);
            snprintf(titles[i][k], sizeof titles[i][k], "%s: %s", rows[i]->name, measure_titles[k]);
            plot_panel(
                p, k, i,
                &(plot_panel_options){.title = titles[i][k],
                                      .x = {.from = 0.0, .to = i == ERIK_A ? 0.7 : 0.16, .step = i == ERIK_A ? 0.2 : 0.04},
                                      .y = {.label = k == 0 ? "samples, %" : NULL}});
            draw_bins(p, (plot_style){.color = PLOT_BLUE, .fill = PALE_BLUE, .width = 1.0}, s, "share of the samples");
            draw_threshold(p);
            plot_rule_x(p, (plot_style){.color = PLOT_RED, .width = 1.5}, s->most, "largest error");
        }
    }
    return print_statistics(r, rows, EVALUATE_SKELETONS, all_measures, 3, "-summary") &&
           write_bins(r, rows, EVALUATE_SKELETONS, all_measures, 3) && reproduce_plot(r, p, "");
}

const experiment erik_fig12 = {.name = "erik-fig12",
                               .title = "Histograms of the errors, skeletons A to G",
                               .source = REPRODUCE_ERIK ", Fig. 12",
                               .run = run_erik_fig12,
                               .is_shared = true};

// Figs. 11 and 13: skeletons B to G, or the baselines on C.
static bool draw_normals(reproduce *r, bool is_baselines)
{
    const erik_run *run = erik_results(r, is_baselines);
    if (!run) {
        return false;
    }
    const erik_row *rows[EVALUATE_SKELETONS];
    const char *colors[EVALUATE_SKELETONS], *names[EVALUATE_SKELETONS];
    static const char *const baseline_colors[4] = {PLOT_BLUE, PLOT_ORANGE, PLOT_RED, PLOT_BLACK};
    static const char *const baseline_names[4] = {"ERIK", "DLS100", "DLS200", "DLS400"};
    int count = is_baselines ? 4 : EVALUATE_SKELETONS - 1;
    for (int i = 0; i < count; ++i) {
        rows[i] = &run->rows[!is_baselines ? i + 1 : i == 0 ? ERIK_C : ERIK_TWO_TASK + i - 1];
        colors[i] = is_baselines ? baseline_colors[i] : erik_colors[i + 1];
        names[i] = is_baselines ? baseline_names[i] : skeleton_names[i + 1];
    }
    plot *p = plot_create(r->now->title, "Normal distributions with the mean and the standard deviation of the errors",
                          reproduce_foot(r), 3, 1, 250.0, 220.0);
    for (int k = 0; k < 3; ++k) {
        double to = is_baselines ? 0.2 : 0.12;
        plot_panel(p, k, 0,
                   &(plot_panel_options){.title = measure_titles[k],
                                         .x = {.label = "error", .from = 0.0, .to = to, .step = 0.04},
                                         .y = {.label = k == 0 ? "density" : NULL}});
        for (int i = 0; i < count; ++i) {
            double width = is_baselines && i > 0 ? 6.9 - 1.9 * i : 2.0; // the baselines hide each other
            draw_normal(p, (plot_style){.color = colors[i], .width = width}, measure(rows[i], k), to, names[i]);
        }
        draw_threshold(p);
    }
    return print_statistics(r, rows, count, all_measures, 3, "") && reproduce_plot(r, p, "");
}

static bool run_erik_fig11(reproduce *r)
{
    return draw_normals(r, false);
}

const experiment erik_fig11 = {.name = "erik-fig11",
                               .title = "Distributions of the errors, skeletons B to G",
                               .source = REPRODUCE_ERIK ", Fig. 11",
                               .run = run_erik_fig11,
                               .is_shared = true};

static bool run_erik_fig13(reproduce *r)
{
    return draw_normals(r, true);
}

const experiment erik_fig13 = {.name = "erik-fig13",
                               .title = "Distributions of the errors of ERIK and DLS",
                               .source = REPRODUCE_ERIK ", Fig. 13",
                               .run = run_erik_fig13,
                               .is_shared = true};

static bool run_erik_fig10(reproduce *r)
{
    static const int orientation[1] = {1};
    const erik_run *run = erik_results(r, true);
    if (!run) {
        return false;
    }
    const erik_row *rows[2] = {&run->rows[ERIK_C], &run->rows[ERIK_NO_POSTURE]};
    static const char *const names[2] = {"ERIK", "DLS100 without the posture task"};
    static const char *const colors[2] = {PLOT_BLUE, PLOT_RED};
    static const char *const fills[2] = {PALE_BLUE, "none"};
    const evaluate_results *left = &rows[1]->results;
    double whole = (double)(left->left_out + left->orientation.count);
    reproduce_note(r,
                   "The filter leaves out samples whose orientation error without the posture task is above 0.12; it keeps "
                   "%.1f %%, in the paper 71.3 %%.",
                   100.0 * (double)left->orientation.count / fmax(whole, 1.0));
    plot *p = plot_create(r->now->title, "Skeleton C; the baseline after its filter", reproduce_foot(r), 2, 1, 330.0, 230.0);
    for (int panel = 0; panel < 2; ++panel) {
        plot_panel(p, panel, 0,
                   &(plot_panel_options){.title = panel == 0 ? "histogram" : "normal distribution",
                                         .x = {.label = "orientation error", .from = 0.0, .to = 0.12, .step = 0.04},
                                         .y = {.label = panel == 0 ? "samples, %" : "density",
                                               .is_log = panel == 0,
                                               .from = panel == 0 ? 0.001 : 0.0,
                                               .to = panel == 0 ? 100.0 : 0.0}});
        for (int i = 0; i < 2; ++i) {
            plot_style style = {.color = colors[i], .fill = panel == 0 ? fills[i] : NULL};
            if (panel == 0) {
                draw_bins(p, style, measure(rows[i], 1), names[i]);
            } else {
                draw_normal(p, style, measure(rows[i], 1), 0.12, names[i]);
            }
        }
        draw_threshold(p);
    }
    return print_statistics(r, rows, 2, orientation, 1, "-summary") && write_bins(r, rows, 2, orientation, 1) &&
           reproduce_plot(r, p, "");
}

const experiment erik_fig10 = {.name = "erik-fig10",
                               .title = "Orientation errors of ERIK and DLS",
                               .source = REPRODUCE_ERIK ", Fig. 10",
                               .run = run_erik_fig10,
                               .is_shared = true};
