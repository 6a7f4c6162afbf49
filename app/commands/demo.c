// The jobs of `poise demo`.
#include <poise/expressive.h>

#include "cli/files.h"
#include "cli/json.h"
#include "cli/latency.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "commands/commands.h"
#include "track/track.h"

#include <limits.h>
#include <math.h>
#include <scenes/random.h>
#include <scenes/scenes.h>
#include <stdlib.h>
#include <string.h>

// What the sources of `poise demo` share: the jobs, their results, the pictures.

enum { DEMO_STEPS = 360, DEMO_REACHES = 1000, DEMO_WAYS = 6, LAMP_NQ = 6, ARM_NQ = 7 };

#define PI      3.14159265358979323846
#define DEGREES (180 / PI)

// What one job came to. Errors in metres or radians, times in seconds.
typedef struct demo_tally {
    const char *job, *items;    // "track walk", "frames"
    const char *unit;           // of errors in the table
    double per_unit;            // units in a metre or radian
    int count, solved, outside; // answers, those that are as wanted, those that break a limit
    double mean, most;          // error
    double mean_time, p99;
} demo_tally;

// A recording of a humanoid, tracked as `poise track` does it, and the markers without noise and gaps.
typedef struct demo_clip {
    const char *motion;
    track_result r;
    poise_file *clean;
} demo_clip;

// The lamp's way round a circle on the desk.
typedef struct demo_lamp {
    poise_model *model;
    poise_vec3 center;
    double radius;
    poise_vec3 target[DEMO_STEPS];
    poise_clip *clip;
    double largest_step; // of any joint between two steps, the last and the first included
    double largest_bend; // mean over the joints of how far the shape is from the posture, largest of all steps
} demo_lamp;

// The arm's poses; and one pose that it reaches in several ways.
typedef struct demo_arm {
    poise_model *model;
    poise_pose target[DEMO_REACHES];
    double q[DEMO_REACHES][ARM_NQ];
    bool reached[DEMO_REACHES];
    double largest_angle; // of a pose that was reached
    poise_pose one;
    int ways;
    double way[DEMO_WAYS][ARM_NQ];
} demo_arm;

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void tally_times(demo_tally *t, double *times)
{
    for (int i = 0; i < t->count; ++i) {
        t->mean_time += times[i] / t->count;
    }
    qsort(times, (size_t)t->count, sizeof *times, by_size);
    t->p99 = sorted_quantile(times, t->count, 0.99);
}

static void tally_error(demo_tally *t, double error, double total)
{
    t->mean += error / total;
    t->most = fmax(t->most, error);
}

static bool fail(const demo_tally *t, const char *what)
{
    complain("demo: %s: %s", t->job, what);
    return false;
}

// ---- Track ---------------------------------------------------------------------------------------------------------------

// How far the markers of the motion that was found are from where they truly were.
static bool compare_with_truth(const demo_clip *c, demo_tally *t)
{
    const track_result *r = &c->r;
    const poise_markers *truth = c->clean->markers;
    poise_kinematics *kinematics;
    if (truth->frames != r->made->markers->frames || truth->count != r->made->placement_count) {
        return fail(t, "the clean recording is another one");
    }
    if (poise_kinematics_create(r->made->model, NULL, &kinematics, NULL) != POISE_OK) {
        return fail(t, "no memory left");
    }
    for (int f = 0; f < truth->frames; ++f) {
        const double *q = r->made->clip->q + (size_t)f * (size_t)r->made->clip->nq;
        poise_kinematics_update(kinematics, q, NULL);
        t->outside += !poise_model_within_limits(r->made->model, q);
        for (int i = 0; i < truth->count; ++i) {
            int marker = poise_markers_find(truth, r->made->placements[i].label);
            poise_vec3 a = truth->position[(size_t)f * (size_t)truth->count + (size_t)marker];
            poise_vec3 b = poise_kinematics_point(kinematics, r->made->placements[i].body, r->made->placements[i].local);
            tally_error(t, hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z), (double)truth->frames * truth->count);
        }
    }
    poise_kinematics_destroy(kinematics);
    return true;
}

static bool demo_track(const char *motion, demo_clip *c, demo_tally *t)
{
    char clean[64];
    static char noisy[2][64]; // names that the results keep
    char *name = noisy[strcmp(motion, "walk") == 0];
    snprintf(clean, sizeof clean, "scene:humanoid/%s", motion);
    snprintf(name, sizeof noisy[0], "scene:humanoid/%s/noisy", motion);
    c->motion = motion;
    track_request request = track_request_default();
    request.model = "scene:humanoid";
    request.source = name;
    c->clean = load_file(clean, NULL);
    if (!c->clean || !track_load(&request, &c->r) || !track_run(&request, &c->r)) {
        return false;
    }
    t->count = c->r.made->markers->frames;
    t->solved = t->count - c->r.made->summary.held;
    t->mean_time = c->r.mean_time;
    t->p99 = c->r.p99;
    return compare_with_truth(c, t);
}

static void demo_release(demo_clip *c)
{
    track_release(&c->r);
    poise_file_destroy(c->clean);
    c->clean = NULL;
}

// ---- Aim -----------------------------------------------------------------------------------------------------------------

// Point the light at each point of the circle in turn and hold the posture `rest`.
static bool aim_round(poise_expressive *expressive, demo_lamp *lamp, const double *rest, demo_tally *t)
{
    static double times[DEMO_STEPS];
    int light = poise_model_find_tool(lamp->model, "light"), shade = poise_model_tool_info(lamp->model, light).body;
    poise_vec3 from = poise_model_tool_info(lamp->model, light).pose.position, along = poise_vec3_make(0, 1, 0);
    double q[LAMP_NQ];
    memcpy(q, rest, sizeof q);
    progress_start(t->job, t->items, DEMO_STEPS);
    for (int i = -DEMO_STEPS; i < DEMO_STEPS; ++i) { // a round before, so that the end meets the beginning
        double angle = 2 * PI * i / DEMO_STEPS;
        poise_vec3 target = poise_vec3_make(lamp->center.x + lamp->radius * sin(angle), lamp->center.y,
                                            lamp->center.z + lamp->radius * cos(angle));
        poise_goal goal = poise_goal_aim(shade, from, along, target);
        poise_expressive_report report;
        double start = cpu_seconds_now();
        if (poise_expressive_solve(expressive, &goal, 1, rest, q, &report, NULL) != POISE_OK) {
            return fail(t, "a step could not be solved");
        }
        if (i < 0) {
            continue;
        }
        times[i] = cpu_seconds_now() - start;
        lamp->target[i] = target;
        memcpy(lamp->clip->q + i * LAMP_NQ, q, sizeof q);
        tally_error(t, report.worst_angle, DEMO_STEPS);
        t->solved += report.worst_angle < 1e-6;
        t->outside += !poise_model_within_limits(lamp->model, q);
        lamp->largest_bend = fmax(lamp->largest_bend, PI * report.posture);
        progress_show(i + 1);
    }
    progress_end();
    t->count = DEMO_STEPS;
    tally_times(t, times);
    return true;
}

static double largest_step(const poise_clip *clip)
{
    double largest = 0;
    for (int i = 0; i < DEMO_STEPS; ++i) {
        for (int k = 0; k < LAMP_NQ; ++k) {
            largest = fmax(largest, fabs(clip->q[(i + 1) % DEMO_STEPS * LAMP_NQ + k] - clip->q[i * LAMP_NQ + k]));
        }
    }
    return largest;
}

static bool demo_aim(demo_lamp *lamp, demo_tally *t)
{
    poise_expressive *expressive = NULL;
    poise_expressive_options options = poise_expressive_options_default();
    options.mode = POISE_EXPRESSIVE_SHAPE;
    options.gain = 0.05;   // rather a little off the posture ...
    options.inertia = 0.5; // ... than a hasty motion
    double rest[LAMP_NQ];
    lamp->center = poise_vec3_make(0, 0, 0.42);
    lamp->radius = 0.3;
    bool good = scene_create("lamp", NULL, &lamp->model, NULL) == POISE_OK && poise_model_info(lamp->model).nq == LAMP_NQ &&
                scene_posture(lamp->model, "lamp", "curious", rest) == POISE_OK &&
                poise_clip_create(DEMO_STEPS, LAMP_NQ, 1.0 / 60, NULL, &lamp->clip, NULL) == POISE_OK;
    if (good) {
        int light = poise_model_find_tool(lamp->model, "light");
        options.body = poise_model_tool_info(lamp->model, light).body;
        options.tip = poise_model_tool_info(lamp->model, light).pose;
        good = poise_expressive_create(lamp->model, &options, NULL, &expressive, NULL) == POISE_OK;
    }
    if (!good) {
        return fail(t, "no memory left");
    }
    good = aim_round(expressive, lamp, rest, t);
    lamp->largest_step = largest_step(lamp->clip);
    poise_expressive_destroy(expressive);
    return good;
}

// ---- Reach ---------------------------------------------------------------------------------------------------------------

// A bent arm, from which every direction is open.
static const double ready[ARM_NQ] = {0.1, 0.4, 0.1, -1.2, 0.1, 0.9, 0.1};

static poise_pose random_pose(const poise_model *model, poise_kinematics *kinematics, scene_random *random)
{
    double q[ARM_NQ];
    scene_random_configuration(random, model, q);
    poise_kinematics_update(kinematics, q, NULL);
    return poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "tip"));
}

static poise_goal tip_goal(const poise_model *model, poise_pose target)
{
    int tip = poise_model_find_tool(model, "tip");
    return poise_goal_pose(poise_model_tool_info(model, tip).body, poise_model_tool_info(model, tip).pose, target);
}

static bool reach_all(poise_kinematics *kinematics, poise_solver *solver, demo_arm *arm, demo_tally *t)
{
    static double times[DEMO_REACHES];
    scene_random random = scene_random_make(7);
    progress_start(t->job, t->items, DEMO_REACHES);
    for (int i = 0; i < DEMO_REACHES; ++i) {
        poise_report report;
        poise_error error;
        arm->target[i] = random_pose(arm->model, kinematics, &random);
        poise_goal goal = tip_goal(arm->model, arm->target[i]);
        memcpy(arm->q[i], ready, sizeof ready);
        double start = cpu_seconds_now();
        if (poise_solve(solver, &goal, 1, arm->q[i], &report, &error) != POISE_OK) {
            return fail(t, error.text);
        }
        times[i] = cpu_seconds_now() - start;
        arm->reached[i] = report.outcome == POISE_OUTCOME_REACHED;
        t->solved += arm->reached[i];
        t->outside += !poise_model_within_limits(arm->model, arm->q[i]);
        tally_error(t, report.worst_length, DEMO_REACHES);
        arm->largest_angle = fmax(arm->largest_angle, report.worst_angle);
        progress_show(i + 1);
    }
    progress_end();
    t->count = DEMO_REACHES;
    tally_times(t, times);
    return true;
}

// One pose in several ways: answers from random starts that differ from those before by half a radian somewhere.
static bool reach_in_ways(poise_solver *solver, demo_arm *arm, const demo_tally *t)
{
    scene_random random = scene_random_make(3);
    poise_quat forwards = poise_quat_from_axis_angle(poise_vec3_make(0, 1, 0), 0.5 * PI); // z of the hand along +x
    arm->one = (poise_pose){forwards, poise_vec3_make(0.62, 0, 0.45)};
    poise_goal goal = tip_goal(arm->model, arm->one);
    for (int trial = 0; trial < 200 && arm->ways < DEMO_WAYS; ++trial) {
        double *q = arm->way[arm->ways];
        poise_report report;
        poise_error error;
        scene_random_configuration(&random, arm->model, q);
        if (poise_solve(solver, &goal, 1, q, &report, &error) != POISE_OK) {
            return fail(t, error.text);
        }
        bool is_new = report.outcome == POISE_OUTCOME_REACHED;
        for (int w = 0; w < arm->ways; ++w) {
            double largest = 0;
            for (int k = 0; k < ARM_NQ; ++k) {
                largest = fmax(largest, fabs(q[k] - arm->way[w][k]));
            }
            is_new = is_new && largest > 0.5;
        }
        arm->ways += is_new;
    }
    return true;
}

static bool demo_reach(demo_arm *arm, demo_tally *t)
{
    poise_kinematics *kinematics = NULL;
    poise_solver *solver = NULL;
    poise_solver_options options = poise_solver_options_default();
    options.start = POISE_START_COLD;
    options.restarts = 50;
    bool made = scene_create("arm7", NULL, &arm->model, NULL) == POISE_OK && poise_model_info(arm->model).nq == ARM_NQ &&
                poise_kinematics_create(arm->model, NULL, &kinematics, NULL) == POISE_OK &&
                poise_solver_create(arm->model, &options, NULL, &solver, NULL) == POISE_OK;
    bool good = made ? reach_all(kinematics, solver, arm, t) && reach_in_ways(solver, arm, t) : fail(t, "no memory left");
    poise_solver_destroy(solver);
    poise_kinematics_destroy(kinematics);
    return good;
}

// ---- The pictures of `poise demo` ----------------------------------------------------------------------------------------

static const poise_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

static const char *const ground = "#cfd6dd", *const amber = "#e8a33d", *const red = "#d1495b", *const steel = "#56606c";

enum { CARTWHEEL_POSES = 7, WALK_POSES = 8 };

static poise_vec3 between(poise_vec3 a, poise_vec3 b, double share)
{
    return poise_vec3_make(a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z));
}

// ---- Body ----------------------------------------------------------------------------------------------------------------

// Left, right and middle of the body in tones of their own.
static const char *body_color(const char *name)
{
    return strncmp(name, "left_", 5) == 0 ? "#5aa7a7" : strncmp(name, "right_", 6) == 0 ? "#8e8cc4" : "#6f8296";
}

// A bone is as thick as a cylinder of water of its mass would be, drawn leaner.
static double bone_radius(const poise_model *model, int k, double length)
{
    return fmin(0.7 * sqrt(poise_model_joint_info(model, k).given->mass / (1000 * PI * fmax(length, 0.06))), 0.07);
}

static double distance(poise_vec3 a, poise_vec3 b)
{
    return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

// A bone from each joint to the joints on it; where there are none, to the far side of the centre of mass.
static void draw_body(picture *p, const poise_model *model, const poise_kinematics *kinematics)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        const char *name = poise_model_joint_info(model, k).body, *color = body_color(name);
        poise_vec3 from = poise_kinematics_body_pose(kinematics, k).position;
        poise_vec3 center = poise_kinematics_point(kinematics, k, poise_model_joint_info(model, k).given->mass_center);
        int end = k + poise_model_joint_info(model, k).subtree;
        for (int child = k + 1; child < end; ++child) {
            if (poise_model_joint_info(model, child).parent == k) {
                poise_vec3 to = poise_kinematics_body_pose(kinematics, child).position;
                double radius = bone_radius(model, k, distance(from, to));
                picture_limb(p, from, radius, to, 0.6 * radius, color);
            }
        }
        if (strcmp(name, "head") == 0) {
            picture_limb(p, between(from, center, 0.8), 0.08, between(from, center, 1.4), 0.085, color);
        } else if (end == k + 1) {
            double radius = bone_radius(model, k, distance(from, center));
            picture_limb(p, from, radius, between(from, center, 1.6), 0.6 * radius, color);
        }
    }
}

static void draw_markers(picture *p, const demo_clip *c, int frame)
{
    const poise_markers *seen = c->r.made->markers, *truth = c->clean->markers;
    picture_next_figure(p);
    for (int i = 0; i < seen->count; ++i) {
        size_t at = (size_t)frame * (size_t)seen->count + (size_t)i;
        if (!poise_markers_seen(seen, frame, i)) {
            picture_ring(p, truth->position[at], 2.6, PALE_INK);
        } else if (distance(seen->position[at], truth->position[at]) > 0.05) { // far beyond the noise
            picture_dot(p, seen->position[at], 4, red);
        } else {
            picture_dot(p, seen->position[at], 2.8, amber);
        }
    }
    picture_next_figure(p);
}

// Where the body of `frame` is along x.
static double travel(const demo_clip *c, int frame)
{
    return c->r.made->clip->q[(size_t)frame * (size_t)c->r.made->clip->nq];
}

static void draw_frame(picture *p, poise_kinematics *kinematics, const demo_clip *c, int frame)
{
    poise_kinematics_update(kinematics, c->r.made->clip->q + (size_t)frame * (size_t)c->r.made->clip->nq, NULL);
    draw_body(p, c->r.made->model, kinematics);
    draw_markers(p, c, frame);
}

static void write_time(picture *p, double x, double y, int frame, double rate)
{
    char text[32];
    snprintf(text, sizeof text, "%.2f s", frame / rate);
    picture_text(p, x, y, 12, PICTURE_MIDDLE, PALE_INK, text);
}

// The way there, which is the first half, at equal distances: the pelvis is where it has gone that share of the way.
static void draw_cartwheel(picture *p, poise_kinematics *kinematics, const demo_clip *c)
{
    picture_view view = picture_look(poise_vec3_make(0, 0.12, 1), Y);
    int half = c->r.made->clip->frames / 2;
    double far = travel(c, half);
    view.scale = 150;
    view.x = 600 - view.scale * 0.5 * far;
    view.y = 395;
    picture_set_view(p, &view);
    picture_page_line(p, 30, view.y, 1170, view.y, 1.5, ground);
    for (int i = 0, frame = 0; i < CARTWHEEL_POSES; ++i) {
        double share = (double)i / (CARTWHEEL_POSES - 1);
        while (frame < half && travel(c, frame) < share * far) {
            ++frame;
        }
        draw_frame(p, kinematics, c, frame);
        write_time(p, view.x + view.scale * travel(c, frame), view.y + 24, frame, c->r.made->markers->rate);
    }
}

// One stride on the spot, pose beside pose, from the right and a little from the front.
static void draw_walk(picture *p, poise_kinematics *kinematics, const demo_clip *c)
{
    picture_view view = picture_look(poise_vec3_make(-1, 0.12, 0.3), Y);
    view.scale = 150;
    view.y = 735;
    picture_page_line(p, 30, view.y, 1170, view.y, 1.5, ground);
    for (int i = 0; i < WALK_POSES; ++i) {
        int frame = i * (c->r.made->clip->frames - 1) / (WALK_POSES - 1);
        view.x = 100 + 1000.0 * i / (WALK_POSES - 1);
        picture_set_view(p, &view);
        draw_frame(p, kinematics, c, frame);
        write_time(p, view.x, view.y + 24, frame, c->r.made->markers->rate);
    }
}

static bool draw_tracking(const demo_clip *cartwheel, const demo_clip *walk, const char *path)
{
    poise_kinematics *kinematics;
    picture *p = begin_picture(1200, 815, "Track: a body of 58 degrees of freedom follows 41 markers",
                               "A cartwheel and a stride, from recordings with noise, gaps and swapped labels.",
                               cartwheel->r.made->model, &kinematics);
    draw_cartwheel(p, kinematics, cartwheel);
    draw_walk(p, kinematics, walk);
    picture_page_dot(p, 40, 791, 2.8, amber);
    picture_text(p, 50, 795, 12, PICTURE_LEFT, PALE_INK, "marker, 3 mm noise");
    picture_page_ring(p, 190, 791, 2.6, PALE_INK);
    picture_text(p, 200, 795, 12, PICTURE_LEFT, PALE_INK, "missing: where it would be");
    picture_page_dot(p, 390, 791, 4, red);
    picture_text(p, 400, 795, 12, PICTURE_LEFT, PALE_INK, "label on the wrong knee");
    return save_picture(p, kinematics, path);
}

// ---- Lamp ----------------------------------------------------------------------------------------------------------------

enum { LAMPS = 8, COLUMNS = 4 };

static const char *const tones[LAMPS] = {"#4f6d94", "#5b8aa6", "#6aa5a8", "#86b596",
                                         "#b3b878", "#d3a96a", "#cf8b6f", "#a9748c"};

// The beam that falls from the shade on the target.
static void draw_beam(picture *p, poise_vec3 light, poise_vec3 target)
{
    picture_cone(p, between(light, target, 0.01), 0.05, target, 0.028, "#f3c14b55");
    picture_disc(p, target, Y, 0.03, "#f6cf74");
}

static void draw_lamp_pose(picture *p, const poise_model *model, const poise_kinematics *kinematics, poise_vec3 target,
                           const char *color)
{
    const poise_vec3 bottom = {0, 0, 0}, top = {0, 0.02, 0}, pivot = {0, 0.07, 0};
    poise_vec3 at[7];
    for (int k = 0; k < 6; ++k) {
        at[k] = poise_kinematics_body_pose(kinematics, k).position;
    }
    at[6] = poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "light")).position;
    picture_cone(p, bottom, 0.09, top, 0.085, steel);
    picture_cone(p, top, 0.085, between(top, pivot, 0.01), 0.085, "#687483");
    picture_limb(p, top, 0.02, pivot, 0.016, steel);
    picture_limb(p, at[1], 0.013, at[2], 0.011, color);
    picture_limb(p, at[2], 0.015, at[3], 0.010, color);
    picture_limb(p, at[3], 0.013, at[5], 0.013, color);
    picture_cone(p, at[5], 0.022, at[6], 0.058, color);
    picture_cone(p, at[6], 0.05, between(at[6], target, 0.02), 0.05, "#fdf0d0");
    draw_beam(p, at[6], target);
}

// Pose beside pose, each with the whole circle.
static bool draw_lamp(const demo_lamp *lamp, const char *path)
{
    poise_kinematics *kinematics;
    picture *p = begin_picture(1200, 645, "Aim: a lamp lights its way round a circle and holds a posture",
                               "Eight of 360 steps. The light meets its target exactly; the posture decides all the rest.",
                               lamp->model, &kinematics);
    for (int i = 0; i < LAMPS; ++i) {
        int step = i * DEMO_STEPS / LAMPS;
        char angle[32];
        picture_view view = picture_look(poise_vec3_make(-0.75, 0.5, 0.43), Y);
        view.scale = 350;
        view.x = 78 + 290 * (i % COLUMNS);
        view.y = 245 + 265 * (i / COLUMNS);
        picture_set_view(p, &view);
        picture_next_figure(p);
        picture_disc(p, lamp->center, Y, lamp->radius, "#f5f3ee");
        picture_circle(p, lamp->center, Y, lamp->radius, 1.5, ground);
        poise_kinematics_update(kinematics, lamp->clip->q + step * LAMP_NQ, NULL);
        draw_lamp_pose(p, lamp->model, kinematics, lamp->target[step], tones[i]);
        snprintf(angle, sizeof angle, "%d degrees", step);
        double x, y;
        picture_project(p, lamp->center, &x, &y);
        picture_text(p, x, y + 78, 12, PICTURE_MIDDLE, PALE_INK, angle);
    }
    return save_picture(p, kinematics, path);
}

// ---- Arm -----------------------------------------------------------------------------------------------------------------

static void draw_triad(picture *p, poise_pose pose)
{
    static const char *const colors[3] = {"#d1495b", "#5a9e6f", "#4c6fa5"};
    const poise_vec3 axes[3] = {X, Y, Z};
    for (int i = 0; i < 3; ++i) {
        poise_vec3 d = axes[i], end = {0.09 * d.x, 0.09 * d.y, 0.09 * d.z};
        picture_line(p, PICTURE_SCENE, pose.position, poise_pose_transform(pose, end), 2.5, colors[i], NULL);
    }
}

static void draw_arm_pose(picture *p, const poise_model *model, const poise_kinematics *kinematics, const char *color)
{
    static const double radius[ARM_NQ + 1] = {0.042, 0.04, 0.037, 0.034, 0.031, 0.027, 0.023, 0.014};
    poise_vec3 from = poise_kinematics_body_pose(kinematics, 1).position; // what is below stands still
    for (int k = 2; k <= ARM_NQ; ++k) {
        poise_vec3 to = k < ARM_NQ ? poise_kinematics_body_pose(kinematics, k).position
                                   : poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "tip")).position;
        picture_limb(p, from, radius[k - 1], to, radius[k], color);
        from = to;
    }
}

static void draw_arm_base(picture *p)
{
    poise_vec3 floor = {0, 0, 0}, plate = {0, 0, 0.02}, top = {0, 0, 0.27};
    picture_disc(p, floor, Z, 0.6, "#f5f3ee");
    picture_circle(p, floor, Z, 0.6, 1.5, ground);
    picture_cone(p, floor, 0.1, plate, 0.1, steel);
    picture_cone(p, plate, 0.06, top, 0.045, steel);
}

// Stays the whole arm above the desk?
static bool is_clear(const poise_kinematics *kinematics, const poise_model *model)
{
    double lowest = poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "tip")).position.z;
    for (int k = 0; k < ARM_NQ; ++k) {
        lowest = fmin(lowest, poise_kinematics_body_pose(kinematics, k).position.z);
    }
    return lowest > 0.1;
}

// Is the hand far enough from those of the arms drawn before?
static bool is_apart(const demo_arm *r, int i, const int *chosen, int count)
{
    bool apart = true;
    for (int k = 0; k < count; ++k) {
        apart = apart && distance(r->target[i].position, r->target[chosen[k]].position) > 0.45;
    }
    return apart;
}

static void draw_some_reaches(picture *p, poise_kinematics *kinematics, const demo_arm *r)
{
    int chosen[DEMO_WAYS];
    draw_arm_base(p);
    for (int i = 0, count = 0; i < DEMO_REACHES && count < DEMO_WAYS; ++i) {
        poise_kinematics_update(kinematics, r->q[i], NULL);
        if (r->reached[i] && is_clear(kinematics, r->model) && is_apart(r, i, chosen, count)) {
            draw_arm_pose(p, r->model, kinematics, tones[count]);
            draw_triad(p, r->target[i]);
            chosen[count++] = i;
        }
    }
}

static void draw_ways(picture *p, poise_kinematics *kinematics, const demo_arm *r)
{
    draw_arm_base(p);
    for (int w = 0; w < r->ways; ++w) {
        poise_kinematics_update(kinematics, r->way[w], NULL);
        draw_arm_pose(p, r->model, kinematics, tones[w]);
    }
    draw_triad(p, r->one);
}

static bool draw_arm(const demo_arm *arm, const char *path)
{
    poise_kinematics *kinematics;
    picture *p = begin_picture(1100, 640, "Reach: an arm of seven joints puts its hand at a pose",
                               "Position and rotation, within limits; the triads are the targets.", arm->model, &kinematics);
    picture_view view = picture_look(poise_vec3_make(0.5, -0.9, 0.42), Z);
    view.scale = 350;
    view.x = 290;
    view.y = 495;
    picture_set_view(p, &view);
    draw_some_reaches(p, kinematics, arm);
    picture_text(p, view.x, 615, 13, PICTURE_MIDDLE, PALE_INK, "six of a thousand poses");
    view.x = 800;
    view.scale = 390;
    view.y = 498;
    picture_set_view(p, &view);
    draw_ways(p, kinematics, arm);
    picture_text(p, view.x, 615, 13, PICTURE_MIDDLE, PALE_INK, "one pose in six ways");
    return save_picture(p, kinematics, path);
}

// ---- poise demo: the main jobs on the tool's own scenes ------------------------------------------------------------------

#define NOISE 0.003 // metres, the deviation of the markers along each axis: scene_recording_noisy

static demo_clip cartwheel, walk;
static demo_lamp lamp;
static demo_arm arm;

enum { CARTWHEEL = 0, WALK, AIM, REACH, JOBS };

static const char *const files[] = {"cartwheel.bvh", "cartwheel.html", "walk.bvh", "lamp.json",
                                    "track.svg",     "aim.svg",        "reach.svg"};
enum { FILES = sizeof files / sizeof files[0] };

// ---- Files ---------------------------------------------------------------------------------------------------------------

// BVH carries no limits and masses; nobody misses them here, so that nothing is said of it.
static bool write_motion(const poise_file *file, poise_format format, const char *path)
{
    void *bytes;
    size_t size;
    int warnings = 0;
    poise_error error = {0};
    if (poise_write(file, format, NULL, &bytes, &size, NULL, &warnings, &error) != POISE_OK) {
        complain("%s: %s", path, error.text);
        return false;
    }
    bool works = file_write(path, bytes, size);
    poise_bytes_release(NULL, bytes);
    return works;
}

static bool write_clip(const demo_clip *c, const char *path)
{
    const poise_recording_result *made = c->r.made;
    poise_file file = {.model = (poise_model *)made->model, .clip = made->clip, .scale = made->scale, .title = c->motion};
    return write_motion(&file, POISE_FORMAT_BVH, path);
}

static bool write_lamp(const char *path)
{
    poise_file file = {.model = lamp.model, .clip = lamp.clip, .scale = {.metres = 1, .up = POISE_UP_Y}, .title = "lamp"};
    return write_motion(&file, POISE_FORMAT_JSON, path);
}

static bool write_all(const char *folder, const arguments *args)
{
    char path[FILES][PATH_MAX];
    for (int i = 0; i < FILES; ++i) {
        if (!path_join(path[i], sizeof path[i], folder, files[i])) {
            return false;
        }
    }
    return write_clip(&cartwheel, path[0]) && report_write(&cartwheel.r, path[1], args) && write_clip(&walk, path[2]) &&
           write_lamp(path[3]) && draw_tracking(&cartwheel, &walk, path[4]) && draw_lamp(&lamp, path[5]) &&
           draw_arm(&arm, path[6]);
}

// ---- What comes of it ----------------------------------------------------------------------------------------------------

// What is promised: everything solved within limits; the body nearer to the truth than the markers are (their noise is
// sqrt(8/pi) NOISE long on average) and no marker lost by a hand's breadth; the lamp's light on its target, moving on
// without a jump; the arm in six ways. Says what is not so.
static int broken_promises(const demo_tally *t)
{
    int broken = 0;
    for (int i = 0; i < JOBS; ++i) {
        if (t[i].solved < t[i].count || t[i].outside > 0) {
            complain("demo: %s: %d of %d solved, %d outside limits", t[i].job, t[i].solved, t[i].count, t[i].outside);
            broken += 1;
        }
    }
    for (int i = 0; i < 2; ++i) {
        if (!(t[i].mean < sqrt(8 / PI) * NOISE && t[i].most < 0.08)) {
            complain("demo: %s: errors of %.1f mm, %.1f mm at most", t[i].job, 1e3 * t[i].mean, 1e3 * t[i].most);
            broken += 1;
        }
    }
    if (!(lamp.largest_step * DEGREES < 5) || arm.ways < DEMO_WAYS) {
        complain("demo: the lamp jumps by %.1f degrees, or the arm knows only %d ways", lamp.largest_step * DEGREES,
                 arm.ways);
        broken += 1;
    }
    return broken;
}

static void print_people(const demo_tally *tallies, const char *folder, double seconds)
{
    int answers = 0, outside = 0;
    printf("%sPoise %s%s, four jobs on its own scenes\n\n", style_code(STYLE_BOLD), poise_version(),
           style_code(STYLE_PLAIN));
    table *t = table_create("job\t>solved\t\t>mean error\t>largest\t\t>mean time\t>p99");
    for (int i = 0; i < JOBS; ++i) {
        const demo_tally *job = &tallies[i];
        answers += job->count;
        outside += job->outside;
        table_row(t, "%s\t%d/%d\t%s\t%.3g\t%.3g\t%s\t%.0f us\t%.0f us", job->job, job->solved, job->count, job->items,
                  job->mean * job->per_unit, job->most * job->per_unit, job->unit, 1e6 * job->mean_time, 1e6 * job->p99);
    }
    table_end(t, stdout);
    const poise_track_summary *a = &cartwheel.r.made->summary, *b = &walk.r.made->summary;
    printf("\ntrack   a body of 58 degrees of freedom follows 41 markers with %.0f mm of noise;\n"
           "        gaps in %d of %d frames, knees swapped in %d; errors against the truth\n",
           NOISE * 1e3, a->gaps + b->gaps, tallies[CARTWHEEL].count + tallies[WALK].count, a->outliers + b->outliers);
    printf("aim     a lamp faces targets on a circle and holds a posture: at the hardest\n"
           "        target its joints are %.0f degrees from the posture on average; they move\n"
           "        by at most %.2f degrees a step\n",
           lamp.largest_bend * DEGREES, lamp.largest_step * DEGREES);
    printf("reach   an arm of 7 joints, position and rotation; %.0e degrees off at most\n", arm.largest_angle * DEGREES);
    printf("limits  broken in %d of %d answers\n", outside, answers);
    printf("\nwrote in %.1f s, to %s/:\n", seconds, folder);
    for (int i = 0; i < FILES; ++i) {
        printf("%s%s", i == 0 ? "  " : " ", files[i]);
    }
    printf("\n");
}

static bool print_machine(const demo_tally *tallies, const char *folder, int broken)
{
    json_node *jobs = json_new(JSON_ARRAY), *names = json_new(JSON_ARRAY);
    for (int i = 0; i < JOBS; ++i) {
        const demo_tally *t = &tallies[i];
        json_append(jobs, json_make("{s:s, s:i, s:i, s:i, s:{s:f, s:f, s:s}, s:{s:f, s:f}}", "job", t->job, "count",
                                    t->count, "solved", t->solved, "outside_limits", t->outside, "error", "mean",
                                    t->mean * t->per_unit, "max", t->most * t->per_unit, "unit", t->unit, "us", "mean",
                                    1e6 * t->mean_time, "p99", 1e6 * t->p99));
    }
    for (int i = 0; i < FILES; ++i) {
        json_append(names, json_from_text(files[i]));
    }
    return json_print(json_make("{s:s, s:o, s:o, s:o, s:b}", "version", poise_version(), "jobs", jobs, "folder",
                                json_from_text(folder), "files", names, "as_promised", broken == 0));
}

static void release(void)
{
    demo_release(&cartwheel);
    demo_release(&walk);
    poise_clip_destroy(lamp.clip);
    poise_model_destroy(lamp.model);
    poise_model_destroy(arm.model);
}

static app_exit run(const arguments *args)
{
    demo_tally tallies[JOBS] = {
        {.job = "track cartwheel", .items = "frames", .unit = "mm", .per_unit = 1e3},
        {.job = "track walk", .items = "frames", .unit = "mm", .per_unit = 1e3},
        {.job = "aim lamp", .items = "steps", .unit = "deg", .per_unit = DEGREES},
        {.job = "reach arm7", .items = "poses", .unit = "um", .per_unit = 1e6},
    };
    const char *folder = option_text(args, "output", "demo-output");
    double start = seconds_now();
    bool works = folder_make(folder) && demo_track("cartwheel", &cartwheel, &tallies[CARTWHEEL]) &&
                 demo_track("walk", &walk, &tallies[WALK]) && demo_aim(&lamp, &tallies[AIM]) &&
                 demo_reach(&arm, &tallies[REACH]) && write_all(folder, args);
    app_exit status = APP_BAD;
    if (works) {
        int broken = broken_promises(tallies);
        status = broken > 0 ? APP_MISSED : APP_DONE;
        if (arguments_json(args)) {
            status = print_machine(tallies, folder, broken) ? status : APP_BAD;
        } else {
            print_people(tallies, folder, seconds_now() - start);
        }
    }
    release();
    return status;
}

static const app_option options[] = {
    {"output", 'o', OPTION_FILE, "FOLDER", .help = "output folder (demo-output)"},
    {0},
};

static const app_example examples[] = {
    {"All jobs; pictures and motions go to demo-output", "poise demo"},
    {0},
};

const app_command cmd_demo = {
    .name = "demo",
    .synopsis = "",
    .least = 0,
    .most = 0,
    .summary = "run the main jobs on built-in scenes, with pictures",
    .description =
        "Tracks two noisy recordings with gaps, aims an expressive lamp round a circle while it holds a posture, and "
        "reaches a thousand poses with an arm. Prints accuracy and speed, and writes the motions, a report on the "
        "tracking and a picture of each job.\n\n"
        "The exit status is 1 if any result is not as promised; the output names it.",
    .options = options,
    .examples = examples,
    .run = run,
};
