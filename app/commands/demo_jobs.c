// The jobs of `poise demo`.
#include "demo.h"

#include "cli/latency.h"
#include "cli/terminal.h"

#include <poise/expressive.h>
#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

bool demo_track(const char *motion, demo_clip *c, demo_tally *t)
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

void demo_release(demo_clip *c)
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

bool demo_aim(demo_lamp *lamp, demo_tally *t)
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

bool demo_reach(demo_arm *arm, demo_tally *t)
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
