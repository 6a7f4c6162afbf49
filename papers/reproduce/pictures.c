// Pictures: frames of motions and the arm of two links of Erleben & Andrews 2019 (Figs. 2, 6, A.9, A.10), and gradient
// descent in the plane.
#include "reproduce.h"

#include "cli/terminal.h"

#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static const char *const pale_grey = "#d9d9d9";

// ---- Figs. 2 and 6: frames -----------------------------------------------------------------------------------------------

typedef struct drawn_frame {
    const hessian_study *take;
    int frame; // counted from 0
    char title[80];
} drawn_frame;

// A figure seen from its left and front, without perspective: a recording's 28 degrees, our own motions 62 degrees off z.
static void project(const hdm05_task *task, poise_vec3 p, poise_vec3 root, double *x, double *y)
{
    const double c = task->is_recording ? 0.88 : 0.47, s = task->is_recording ? 0.47 : 0.88;
    *x = c * (p.x - root.x) + s * (p.z - root.z);
    *y = p.y + 0.12 * (s * (p.x - root.x) - c * (p.z - root.z));
}

static void draw_frame(plot *p, int column, const drawn_frame *d)
{
    const hdm05_task *task = &d->take->task;
    enum { MOST = 128 };
    double x[2 * MOST], y[2 * MOST];
    int bodies = poise_model_info(task->model).joints, count = 0;
    poise_kinematics_update(task->kinematics, hdm05_pose(task, d->frame), NULL);
    poise_vec3 root = poise_kinematics_body_pose(task->kinematics, 0).position;
    plot_panel(p, column, 0,
               &(plot_panel_options){.title = d->title,
                                     .is_bare = true,
                                     .is_equal = true,
                                     .x = {.from = -95.0, .to = 95.0},
                                     .y = {.from = -12.0, .to = 215.0}});
    const double floor_x[2] = {-95.0, 95.0}, floor_y[2] = {0.0, 0.0};
    plot_line(p, (plot_style){.color = pale_grey, .width = 1.0}, floor_x, floor_y, 2, NULL);
    for (int i = 0; i < HDM05_MARKERS; ++i) { // what a marker hangs on
        poise_vec3 o = poise_kinematics_body_pose(task->kinematics, task->body[i]).position;
        project(task, o, root, &x[2 * i], &y[2 * i]);
        project(task, task->target[(size_t)d->frame * HDM05_MARKERS + (size_t)i], root, &x[2 * i + 1], &y[2 * i + 1]);
    }
    plot_segments(p, (plot_style){.color = "#b8cfe0", .width = 1.0}, x, y, HDM05_MARKERS, NULL);
    for (int b = 0; b < bodies && count < MOST; ++b) {
        int parent = poise_model_joint_info(task->model, b).parent;
        if (parent != POISE_WORLD) {
            project(task, poise_kinematics_body_pose(task->kinematics, parent).position, root, &x[2 * count], &y[2 * count]);
            project(task, poise_kinematics_body_pose(task->kinematics, b).position, root, &x[2 * count + 1],
                    &y[2 * count + 1]);
            count += 1;
        }
    }
    plot_segments(p, (plot_style){.color = PLOT_BLUE, .width = 4.0}, x, y, count, "bones");
    plot_points(p, (plot_style){.color = PLOT_BLUE, .size = 4.0}, x, y, 2 * count, NULL);
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        project(task, task->target[(size_t)d->frame * HDM05_MARKERS + (size_t)i], root, &x[i], &y[i]);
    }
    plot_points(p, (plot_style){.color = PLOT_RED, .size = 4.5}, x, y, HDM05_MARKERS, "markers");
}

static bool write_frames(reproduce *r, const drawn_frame *frames, int count)
{
    static const sheet_column columns[] = {{.key = "take"},
                                           {.key = "frame", .format = "%.0f"},
                                           {.key = "marker"},
                                           {.key = "x_cm", .format = "%.2f"},
                                           {.key = "y_cm", .format = "%.2f"},
                                           {.key = "z_cm", .format = "%.2f"},
                                           {0}};
    sheet *s = sheet_create(columns);
    for (int i = 0; i < count; ++i) {
        const hdm05_task *task = &frames[i].take->task;
        for (int k = 0; k < HDM05_MARKERS; ++k) {
            poise_vec3 p = task->target[(size_t)frames[i].frame * HDM05_MARKERS + (size_t)k];
            sheet_text(s, frames[i].take->name);
            sheet_number(s, frames[i].frame + 1);
            sheet_text(s, task->label[k]);
            sheet_number(s, p.x);
            sheet_number(s, p.y);
            sheet_number(s, p.z);
        }
    }
    return reproduce_data(r, s, "");
}

static bool draw_frames(reproduce *r, bool is_workout)
{
    static const double moments[] = {0.06, 0.38, 0.42}; // of the period of our own motions
    int count = is_workout ? 5 : 3;
    drawn_frame frames[5];
    scene_take takes[3];
    if (!reproduce_scenes(r, is_workout ? PAPER_WORKOUT : PAPER_WALKING, is_workout ? 1 : 3, takes)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        const scene_take *take = &takes[is_workout ? 0 : i];
        int length = take->study->task.frames;
        bool is_long = length > 500 + 700 * 4;
        frames[i].take = take->study;
        frames[i].frame = take->frames  ? take->frames[0] - 1
                          : !is_workout ? (int)(moments[i] * length)
                          : is_long     ? 499 + 700 * i
                                        : length * (2 * i + 1) / 10;
        snprintf(frames[i].title, sizeof frames[i].title, "%s%sframe %d", is_workout ? "" : take->motion,
                 is_workout ? "" : ", ", frames[i].frame + 1);
    }
    if (is_workout) {
        reproduce_note(r, "The frames that Fig. 7 is about.");
    }
    plot *p = plot_create(r->now->title, NULL, reproduce_foot(r), count, 1, 170.0, 210.0);
    for (int i = 0; i < count; ++i) {
        draw_frame(p, i, &frames[i]);
    }
    return write_frames(r, frames, count) && reproduce_plot(r, p, "");
}

static bool run_hessian_fig2(reproduce *r)
{
    return draw_frames(r, false);
}

const experiment hessian_fig2 = {.name = "hessian-fig2",
                                 .title = "Frames of walking, punching and kicking",
                                 .source = REPRODUCE_HESSIAN ", Fig. 2",
                                 .uses_data = true,
                                 .run = run_hessian_fig2};

static bool run_hessian_fig6(reproduce *r)
{
    return draw_frames(r, true);
}

const experiment hessian_fig6 = {.name = "hessian-fig6",
                                 .title = "Frames of a workout",
                                 .source = REPRODUCE_HESSIAN ", Fig. 6",
                                 .uses_data = true,
                                 .run = run_hessian_fig6};

// ---- Figs. A.9 and A.10: two links ---------------------------------------------------------------------------------------

static bool run_hessian_fig_a9(reproduce *r)
{
    static const sheet_column columns[] = {{.key = "point", .head = "point"},
                                           {.key = "x", .head = "x", .format = "%.0f"},
                                           {.key = "y", .head = "y", .format = "%.0f"},
                                           {.key = "where", .head = "where"},
                                           {0}};
    static const struct {
        const char *name, *where;
        double x;
    } points[] = {{"root", "", 0},
                  {"elbow", "", 1},
                  {"tip", "", 2},
                  {"goal 1", "inside the workspace", 1},
                  {"goal 2", "on its edge", 2},
                  {"goal 3", "outside", 3}};
    const double x[3] = {0, 1, 2}, y[3] = {0, 0, 0}, goals[3] = {1, 2, 3};
    sheet *s = sheet_create(columns);
    for (int i = 0; i < 6; ++i) {
        sheet_text(s, points[i].name);
        sheet_number(s, points[i].x);
        sheet_number(s, 0.0);
        sheet_text(s, points[i].where);
    }
    plot *p = plot_create(r->now->title, "Two unit links at θ₁ = θ₂ = 0, and the three goals of Fig. A.10",
                          reproduce_foot(r), 1, 1, 460.0, 190.0);
    plot_panel(p, 0, 0,
               &(plot_panel_options){.is_equal = true,
                                     .x = {.label = "x", .from = -0.5, .to = 3.5, .step = 1.0},
                                     .y = {.label = "y", .from = -0.8, .to = 0.8, .step = 1.0}});
    double edge_x[91], edge_y[91];
    for (int i = 0; i <= 90; ++i) {
        edge_x[i] = 2.0 * cos((i - 45) * PI / 180.0);
        edge_y[i] = 2.0 * sin((i - 45) * PI / 180.0);
    }
    plot_line(p, (plot_style){.color = PLOT_GREY, .width = 1.0, .is_dashed = true}, edge_x, edge_y, 91,
              "edge of the workspace");
    plot_line(p, (plot_style){.color = PLOT_BLUE, .width = 8.0}, x, y, 3, "links");
    plot_points(p, (plot_style){.color = PLOT_BLACK, .size = 12.0}, x, y, 2, "joints");
    plot_points(p, (plot_style){.color = PLOT_RED, .size = 9.0}, goals, y, 3, "goals");
    plot_text(p, PLOT_BLACK, 13.0, PLOT_MIDDLE, 0, 0, 0, 18, "θ₁");
    plot_text(p, PLOT_BLACK, 13.0, PLOT_MIDDLE, 1, 0, 0, 18, "θ₂");
    return reproduce_sheet(r, s, NULL, "") && reproduce_plot(r, p, "");
}

const experiment hessian_fig_a9 = {.name = "hessian-a9",
                                   .title = "The arm of two links",
                                   .source = REPRODUCE_HESSIAN ", Fig. A.9",
                                   .run = run_hessian_fig_a9};

enum { MAP = 121, GOALS = 3, SURFACE = 30 }; // angles 3 degrees apart; quads of a surface along a side

typedef struct map {
    poise_definiteness kind[MAP * MAP];
    double f[MAP * MAP], smaller[MAP * MAP], larger[MAP * MAP];
} map;

static const char *const kind_names[5] = {"positive definite", "negative definite", "indefinite", "semidefinite, positive",
                                          "semidefinite, negative"};
static const char *const kind_colors[5] = {"#ffffff", "#7a7a7a", "#d2d2d2", "#d2d2d2", "#d2d2d2"}; // lines have no cells

static bool print_shares(reproduce *r, const map *maps)
{
    static const sheet_column columns[] = {{.key = "goal_x", .head = "goal x", .format = "%.0f"},
                                           {.key = "positive", .head = "positive %", .format = "%.2f"},
                                           {.key = "negative", .head = "negative %", .format = "%.2f"},
                                           {.key = "indefinite", .head = "indefinite %", .format = "%.2f"},
                                           {.key = "semi_positive", .head = "semi pos. %", .format = "%.2f"},
                                           {.key = "semi_negative", .head = "semi neg. %", .format = "%.2f"},
                                           {0}};
    sheet *s = sheet_create(columns);
    for (int g = 0; g < GOALS; ++g) {
        int found[5] = {0};
        for (int i = 0; i < MAP * MAP; ++i) {
            found[maps[g].kind[i]] += 1;
        }
        sheet_number(s, g + 1);
        for (int k = 0; k < 5; ++k) {
            sheet_number(s, 100.0 * found[k] / (MAP * MAP));
        }
    }
    return reproduce_sheet(r, s, "Share of the configurations, 121 x 121 of them", "");
}

static bool write_map(reproduce *r, const map *maps)
{
    static const sheet_column columns[] = {{.key = "goal_x", .format = "%.0f"},
                                           {.key = "theta1_degrees", .format = "%.0f"},
                                           {.key = "theta2_degrees", .format = "%.0f"},
                                           {.key = "f", .format = "%.6g"},
                                           {.key = "smaller_eigenvalue", .format = "%.6g"},
                                           {.key = "larger_eigenvalue", .format = "%.6g"},
                                           {.key = "definiteness"},
                                           {0}};
    sheet *s = sheet_create(columns);
    for (int i = 0; i < GOALS * MAP * MAP; ++i) {
        const map *m = &maps[i / (MAP * MAP)];
        int k = i % (MAP * MAP);
        sheet_number(s, i / (MAP * MAP) + 1);
        sheet_number(s, -180.0 + 3.0 * (k / MAP));
        sheet_number(s, -180.0 + 3.0 * (k % MAP));
        sheet_number(s, m->f[k]);
        sheet_number(s, m->smaller[k]);
        sheet_number(s, m->larger[k]);
        sheet_text(s, kind_names[m->kind[k]]);
    }
    return reproduce_data(r, s, "-map");
}

// Where the line det H = 0 crosses the side from a to b of a square, as a share of the side; negative: nowhere.
static double crossing(double a, double b)
{
    return (a < 0.0) != (b < 0.0) ? a / (a - b) : -1.0;
}

// The line on which the Hessian is semidefinite, square by square of the grid, straight within each (marching squares, W. E.
// Lorensen & H. E. Cline 1987). A square with four crossings gets two pieces, in the order of its sides.
static void draw_semidefinite(plot *p, const map *m)
{
    static const int corner[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    enum { MOST = 8 * MAP };
    double x[2 * MOST], y[2 * MOST];
    int count = 0;
    for (int i = 0; i < (MAP - 1) * (MAP - 1); ++i) {
        int row = i / (MAP - 1), column = i % (MAP - 1), found = 0;
        for (int side = 0; side < 4 && count + found < 2 * MOST; ++side) {
            const int *a = corner[side], *b = corner[side + 1];
            int from = (row + a[0]) * MAP + column + a[1], to = (row + b[0]) * MAP + column + b[1];
            double at = crossing(m->smaller[from] * m->larger[from], m->smaller[to] * m->larger[to]);
            if (at >= 0.0) {
                x[count + found] = -180.0 + 3.0 * (row + a[0] + at * (b[0] - a[0]));
                y[count + found] = -180.0 + 3.0 * (column + a[1] + at * (b[1] - a[1]));
                found += 1;
            }
        }
        count += found / 2 * 2;
    }
    plot_segments(p, (plot_style){.color = PLOT_RED, .width = 1.5}, x, y, count / 2, "semidefinite");
}

static void draw_map(plot *p, int goal, const map *m)
{
    static const char *const titles[GOALS] = {"goal (1, 0): inside", "goal (2, 0): on the edge", "goal (3, 0): outside"};
    unsigned char cells[MAP * MAP];
    for (int i = 0; i < MAP * MAP; ++i) { // theta_1 to the right
        cells[(i % MAP) * MAP + i / MAP] = (unsigned char)m->kind[i];
    }
    plot_panel(
        p, goal, 0,
        &(plot_panel_options){.title = titles[goal],
                              .x = {.label = "θ₁, degrees", .from = -180.0, .to = 180.0, .step = 90.0},
                              .y = {.label = goal == 0 ? "θ₂, degrees" : NULL, .from = -180.0, .to = 180.0, .step = 90.0}});
    plot_cells(p, &(plot_grid){MAP, MAP, -180.0, -180.0, 3.0, 3.0}, cells, kind_colors);
    if (goal == 0) {
        for (int k = 0; k < 3; ++k) {
            plot_legend(p, kind_colors[k], kind_names[k]);
        }
    }
    draw_semidefinite(p, m);
}

// f as a surface over the angles, seen from above and aside; the farthest quads first.
static void draw_surface(plot *p, int goal, const map *m, double highest)
{
    plot_panel(
        p, goal, 1,
        &(plot_panel_options){
            .title = "f as a height", .is_bare = true, .x = {.from = -1.8, .to = 1.8}, .y = {.from = -1.2, .to = 2.3}});
    const int stride = (MAP - 1) / SURFACE;
    for (int back = 0; back < 2 * SURFACE - 1; ++back) {
        for (int i = 0; i < SURFACE; ++i) {
            int k = back - i;
            if (k < 0 || k >= SURFACE) {
                continue;
            }
            // theta_1 to the right and front, theta_2 to the left and front
            double x[4], y[4];
            static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
            for (int c = 0; c < 4; ++c) {
                int a = i + corner[c][0], b = k + corner[c][1];
                double u = 2.0 * a / SURFACE - 1.0, v = 2.0 * b / SURFACE - 1.0;
                x[c] = 0.87 * (u - v);
                y[c] = -0.5 * (u + v) + 1.5 * m->f[a * stride * MAP + b * stride] / highest;
            }
            int middle = (i * stride + stride / 2) * MAP + k * stride + stride / 2;
            plot_polygon(p, (plot_style){.color = PLOT_GREY, .fill = kind_colors[m->kind[middle]], .width = 0.4}, x, y, 4,
                         NULL);
        }
    }
}

static bool run_hessian_fig_a10(reproduce *r)
{
    map *maps = needed(calloc(GOALS, sizeof *maps));
    double highest = 0.0;
    bool works = true;
    for (int g = 0; g < GOALS && works; ++g) {
        works = hessian_map(g + 1, MAP, maps[g].kind, maps[g].f, maps[g].smaller, maps[g].larger);
    }
    for (int i = 0; i < MAP * MAP; ++i) {
        highest = fmax(highest, maps[GOALS - 1].f[i]);
    }
    reproduce_note(
        r, "The authors print maps without numbers, and find the Hessian positive definite where f is small: so it is "
           "here. Semidefinite are lines, which a grid meets by chance.");
    works = works && print_shares(r, maps) && write_map(r, maps);
    if (works) {
        plot *p =
            plot_create(r->now->title, "Two unit links. Above: the exact Hessian at every configuration. Below: f there.",
                        reproduce_foot(r), 3, 2, 230.0, 230.0);
        for (int g = 0; g < GOALS; ++g) {
            draw_map(p, g, &maps[g]);
            draw_surface(p, g, &maps[g], highest);
        }
        works = reproduce_plot(r, p, "");
    }
    free(maps);
    return works;
}

const experiment hessian_fig_a10 = {.name = "hessian-a10",
                                    .title = "Definiteness of its Hessian",
                                    .source = REPRODUCE_HESSIAN ", Fig. A.10",
                                    .run = run_hessian_fig_a10};

// ---- Gradient descent in the plane ---------------------------------------------------------------------------------------
//
// The way it is taught first (notes on inverse kinematics in the plane): an arm of five unit links whose tip goes to a
// target, and a tree, a trunk with three branches whose tips go to three targets at once.
//
//   energy     E(theta) = 1/2 sum over tips |p - t|^2
//   gradient   dE/dtheta_j = sum over tips (p - t) . dp/dtheta_j,    dp/dtheta_j = R(pi/2) (p - p_j) for joints above the
//              tip, 0 for those of other branches
//   descent    theta <- theta - h gradient

static const struct {
    const char *scene;
    double start[PLANAR_JOINTS];
    int tips;
    const char *tools[PLANAR_TIPS];
    double x[PLANAR_TIPS], y[PLANAR_TIPS];
} skeletons[PLANAR_SKELETONS] = {
    {"arm2d", {0.3, 0.2, 0.1, 0.1, 0.1}, 1, {"tip"}, {1.5}, {2.5}},
    {"tree2d", {0}, 3, {"left", "middle", "right"}, {-1.8, -0.5, 1.6}, {2.4, 3.2, 2.2}},
};

typedef struct planar_work {
    poise_model *model;
    poise_kinematics *kinematics;
    const double *start;
    poise_goal goals[PLANAR_TIPS];
    planar_run *run;
} planar_work;

// The model, its goals, and what hangs from what.
static bool set_up(planar_skeleton skeleton, planar_run *run, planar_work *b)
{
    *b = (planar_work){.run = run, .start = skeletons[skeleton].start};
    bool works = scene_create(skeletons[skeleton].scene, NULL, &b->model, NULL) == POISE_OK &&
                 poise_kinematics_create(b->model, NULL, &b->kinematics, NULL) == POISE_OK;
    run->joints = works ? poise_model_info(b->model).joints : 0;
    run->tips = skeletons[skeleton].tips;
    run->count = 0;
    run->difference = 0.0;
    for (int j = 0; j < run->joints; ++j) {
        run->parent[j] = poise_model_joint_info(b->model, j).parent;
    }
    for (int i = 0; i < run->tips && works; ++i) {
        poise_tool_info tool =
            poise_model_tool_info(b->model, poise_model_find_tool(b->model, skeletons[skeleton].tools[i]));
        run->target_x[i] = skeletons[skeleton].x[i];
        run->target_y[i] = skeletons[skeleton].y[i];
        run->parent[run->joints + i] = tool.body;
        b->goals[i] =
            poise_goal_position(tool.body, tool.pose.position, poise_vec3_make(run->target_x[i], run->target_y[i], 0.0));
    }
    return works;
}

// Is joint j on the way from the root to this body?
static bool is_above(const planar_run *run, int j, int body)
{
    while (body > j) {
        body = run->parent[body];
    }
    return body == j;
}

// Add (p - t) . dp/dtheta_j of one tip to the gradient; returns |p - t|^2/2.
static double add_tip(planar_work *b, int tip, double *gradient)
{
    planar_run *run = b->run;
    const poise_goal *goal = &b->goals[tip];
    double J[3 * PLANAR_JOINTS];
    int n = run->joints;
    poise_kinematics_jacobian(b->kinematics, goal->body, goal->local.position, J, NULL, NULL);
    poise_vec3 p = poise_kinematics_point(b->kinematics, goal->body, goal->local.position);
    double rx = p.x - run->target_x[tip], ry = p.y - run->target_y[tip];
    for (int j = 0; j < n; ++j) {
        poise_vec3 o = poise_kinematics_body_pose(b->kinematics, j).position;
        double reach = is_above(run, j, goal->body) ? 1.0 : 0.0;
        double dx = -reach * (p.y - o.y), dy = reach * (p.x - o.x); // R(pi/2) (p - p_j)
        gradient[j] += rx * dx + ry * dy;
        run->difference = fmax(run->difference, fmax(fabs(J[j] - dx), fabs(J[n + j] - dy)));
    }
    run->x[run->count][n + tip] = p.x;
    run->y[run->count][n + tip] = p.y;
    return 0.5 * (rx * rx + ry * ry);
}

// Note where the skeleton is; returns E, with its gradient by the closed form.
static double evaluate_at(planar_work *b, const double *q, double *gradient)
{
    planar_run *run = b->run;
    double E = 0.0;
    poise_kinematics_update(b->kinematics, q, NULL);
    for (int j = 0; j < run->joints; ++j) {
        poise_vec3 o = poise_kinematics_body_pose(b->kinematics, j).position;
        run->x[run->count][j] = o.x;
        run->y[run->count][j] = o.y;
        gradient[j] = 0.0;
    }
    for (int i = 0; i < run->tips; ++i) {
        E += add_tip(b, i, gradient);
    }
    run->distance[run->count] = sqrt(2.0 * E);
    return E;
}

// theta - h gradient for a step that makes the energy fall enough; E and gradient at the new place.
static void step(planar_work *b, planar_method method, double *h, double *E, double *q, double *gradient)
{
    double next[PLANAR_JOINTS], next_gradient[PLANAR_JOINTS], slope = 0.0, next_E;
    for (int j = 0; j < b->run->joints; ++j) {
        slope += gradient[j] * gradient[j];
    }
    *h = method == PLANAR_LINE_SEARCH ? 4.0 * *h : 0.04;
    do {
        *h /= 2.0;
        for (int j = 0; j < b->run->joints; ++j) {
            next[j] = q[j] - *h * gradient[j];
        }
        next_E = evaluate_at(b, next, next_gradient);
    } while (method == PLANAR_LINE_SEARCH && next_E > *E - *h * slope / 3.0);
    *E = next_E;
    memcpy(q, next, (size_t)b->run->joints * sizeof *q);
    memcpy(gradient, next_gradient, (size_t)b->run->joints * sizeof *gradient);
}

// The solver after `iterations` iterations from the start; without limits, which the notes do not have.
static bool solve(const planar_work *b, int iterations, double *q)
{
    poise_solver_options options = poise_solver_options_default();
    poise_solver *solver;
    options.max_iterations = iterations;
    options.position_tolerance = 1e-7;
    options.use_limits = false;
    if (poise_solver_create(b->model, &options, NULL, &solver, NULL) != POISE_OK) {
        return false;
    }
    memcpy(q, b->start, (size_t)b->run->joints * sizeof *q);
    bool works = poise_solve(solver, b->goals, b->run->tips, q, NULL, NULL) == POISE_OK;
    poise_solver_destroy(solver);
    return works;
}

bool planar_descend(planar_skeleton skeleton, planar_method method, planar_run *run)
{
    planar_work b;
    double q[PLANAR_JOINTS], gradient[PLANAR_JOINTS], h = 1.0;
    bool works = set_up(skeleton, run, &b);
    memcpy(q, b.start, sizeof q);
    double E = works ? evaluate_at(&b, q, gradient) : 0.0;
    run->count = works ? 1 : 0;
    while (works && run->distance[run->count - 1] > 1e-6 && run->count <= PLANAR_MOST) {
        if (method == PLANAR_AUTO) {
            works = solve(&b, run->count, q);
            evaluate_at(&b, q, gradient);
        } else {
            step(&b, method, &h, &E, q, gradient);
        }
        run->count += 1;
    }
    poise_kinematics_destroy(b.kinematics);
    poise_model_destroy(b.model);
    return works;
}

// ---- The experiment ------------------------------------------------------------------------------------------------------

static const char *const planar_names[PLANAR_METHODS] = {"gradient, steps of 0.02", "gradient, line search", "auto"};
static const char *const planar_colors[PLANAR_METHODS] = {PLOT_GREEN, PLOT_BLUE, PLOT_RED};
static const char *const skeleton_names[PLANAR_SKELETONS] = {"arm", "tree"};

static bool print_planar(reproduce *r, planar_run runs[][PLANAR_METHODS])
{
    static const sheet_column columns[] = {{.key = "skeleton", .head = "skeleton"},
                                           {.key = "method", .head = "method"},
                                           {.key = "iterations", .head = "iterations to 1e-6", .format = "%.0f"},
                                           {.key = "difference", .head = "closed form - Jacobian", .format = "%.1e"},
                                           {0}};
    static const sheet_column steps[] = {{.key = "skeleton"},
                                         {.key = "method"},
                                         {.key = "iteration", .format = "%.0f"},
                                         {.key = "distance", .format = "%.3e"},
                                         {.key = "tip_x", .format = "%.6f"},
                                         {.key = "tip_y", .format = "%.6f"},
                                         {0}};
    sheet *s = sheet_create(columns), *all = sheet_create(steps);
    for (int i = 0; i < PLANAR_SKELETONS * PLANAR_METHODS; ++i) {
        const planar_run *run = &runs[i / PLANAR_METHODS][i % PLANAR_METHODS];
        sheet_text(s, skeleton_names[i / PLANAR_METHODS]);
        sheet_text(s, planar_names[i % PLANAR_METHODS]);
        sheet_number(s, run->count - 1);
        sheet_number(s, run->difference);
        for (int k = 0; k < run->count; ++k) {
            sheet_text(all, skeleton_names[i / PLANAR_METHODS]);
            sheet_text(all, planar_names[i % PLANAR_METHODS]);
            sheet_number(all, k);
            sheet_number(all, run->distance[k]);
            sheet_number(all, run->x[k][run->joints]);
            sheet_number(all, run->y[k][run->joints]);
        }
    }
    bool works = reproduce_sheet(r, s, NULL, "");
    return reproduce_data(r, all, "-steps") && works;
}

// The skeleton on its way: every node with its parent.
static void draw_skeleton(plot *p, int row, const planar_run *run)
{
    static const char *const titles[PLANAR_SKELETONS] = {"the arm under line search", "the tree under line search"};
    bool is_arm = row == PLANAR_ARM;
    plot_panel(
        p, 0, row,
        &(plot_panel_options){.title = titles[row],
                              .is_equal = true,
                              .x = {.label = "x", .from = is_arm ? -1.0 : -3.2, .to = is_arm ? 5.0 : 2.8, .step = 1.0},
                              .y = {.label = "y", .from = -0.5, .to = 5.0, .step = 1.0}});
    int last = run->count - 1, shown[6] = {0, 1, 2, 4, 8, last};
    for (int i = 0; i < 6; ++i) {
        int k = shown[i] < last ? shown[i] : last, links = 0;
        double x[2 * PLANAR_NODES], y[2 * PLANAR_NODES];
        for (int n = 0; n < run->joints + run->tips; ++n) {
            if (run->parent[n] >= 0) {
                x[2 * links] = run->x[k][run->parent[n]];
                y[2 * links] = run->y[k][run->parent[n]];
                x[2 * links + 1] = run->x[k][n];
                y[2 * links + 1] = run->y[k][n];
                links += 1;
            }
        }
        double pale = i == 5 ? 1.0 : 0.18 + 0.1 * i;
        plot_segments(p, (plot_style){.color = PLOT_BLUE, .width = i == 5 ? 5.0 : 3.0, .opacity = pale}, x, y, links, NULL);
    }
    plot_points(p, (plot_style){.color = PLOT_BLACK, .size = 7.0}, run->x[last], run->y[last], run->joints, NULL);
    plot_points(p, (plot_style){.color = PLOT_ORANGE, .size = 10.0}, run->target_x, run->target_y, run->tips, "targets");
    plot_text(p, PLOT_BLACK, 11.0, PLOT_START, run->x[0][run->joints], run->y[0][run->joints], -8, 12, "start");
}

static void draw_descent(plot *p, int row, planar_run runs[PLANAR_METHODS])
{
    plot_panel(p, 1, row,
               &(plot_panel_options){.title = row == PLANAR_ARM ? "distance of the tip from the target"
                                                                : "distance of the three tips from their targets",
                                     .x = {.label = "iteration", .from = 1.0, .to = 5000.0, .is_log = true},
                                     .y = {.label = "distance", .from = 1e-8, .to = 10.0, .is_log = true}});
    for (int m = 0; m < PLANAR_METHODS; ++m) {
        double x[PLANAR_MOST + 1], y[PLANAR_MOST + 1];
        for (int k = 0; k < runs[m].count; ++k) { // the logarithm shows the start at 1
            x[k] = k + 1;
            y[k] = fmax(runs[m].distance[k], 1e-16);
        }
        plot_line(p, (plot_style){.color = planar_colors[m], .width = 2.0}, x, y, runs[m].count, planar_names[m]);
    }
}

static bool run_notes_2d(reproduce *r)
{
    planar_run(*runs)[PLANAR_METHODS] = needed(calloc(PLANAR_SKELETONS, sizeof *runs));
    for (int i = 0; i < PLANAR_SKELETONS * PLANAR_METHODS; ++i) {
        need(planar_descend((planar_skeleton)(i / PLANAR_METHODS), (planar_method)(i % PLANAR_METHODS),
                            &runs[i / PLANAR_METHODS][i % PLANAR_METHODS]));
    }
    reproduce_note(
        r,
        "An arm of five unit links, its tip to (1.5, 2.5); and a tree, a trunk of two links with three branches of three, "
        "its tips to three targets at once. The notes print no numbers; their closed form of the derivative, "
        "R(pi/2) (p - p_j) for joints above the tip and 0 for others, is compared with the Jacobian of the library on the "
        "way.");
    bool works = print_planar(r, runs);
    plot *p = plot_create(r->now->title, NULL, reproduce_foot(r), 2, 2, 300.0, 245.0);
    for (int i = 0; i < PLANAR_SKELETONS; ++i) {
        draw_skeleton(p, i, &runs[i][PLANAR_LINE_SEARCH]);
        draw_descent(p, i, runs[i]);
    }
    works = reproduce_plot(r, p, "") && works;
    free(runs);
    return works;
}

const experiment notes_2d = {.name = "notes-2d",
                             .title = "Gradient descent of an arm and a tree",
                             .source = "notes on inverse kinematics in the plane",
                             .run = run_notes_2d};
