// The demonstration: Poise does its main jobs on its own scenes, says how well, and draws what it did.
//
//   track   a human body follows 41 noisy markers; some are missing, two are swapped for a while
//   aim     a lamp lights its way round a circle on the desk and holds a posture
//   reach   an arm puts its hand at a thousand random poses
//
//   demo [FOLDER]      FOLDER (demo-output) gets the tracked motions as CSV and a picture of each job
//
// Exit status 0 when every job went as expected, else 1.
#include "demo.h"

#include <scenes/random.h>

#include <math.h>
#include <string.h>

// ---- Track ---------------------------------------------------------------------------------------------------------------

#define RATE      100.0 // frames per second
#define NOISE     0.003 // metres, the deviation along each axis
#define GAPS      0.1   // share of the markers that is missing
#define GAP       10    // frames that a gap lasts
#define SWAP_FROM 0.30  // of the clip: when the labels of the knees change places, and change back
#define SWAP_TO   0.45

typedef struct actor {
    poise_model *model;
    poise_kinematics *kinematics;
    scene_marker markers[MARKERS];
    double pull[BODY_NQ]; // weights of the pull to the last frame: 0 for the root, which travels, else 1
} actor;

static void place_markers(const actor *a, poise_vec3 *points)
{
    for (int i = 0; i < MARKERS; ++i) {
        points[i] = poise_kinematics_point(a->kinematics, a->markers[i].body, a->markers[i].local);
    }
}

static int find_marker(const actor *a, const char *name)
{
    int i = 0;
    while (i < MARKERS - 1 && strcmp(a->markers[i].name, name) != 0) {
        ++i;
    }
    return i;
}

// Two labels change places, with whatever is under them.
static void swap_labels(clip *c, int frame, int i, int k)
{
    poise_vec3 seen = c->seen[frame][i];
    sight was = c->sight[frame][i];
    c->seen[frame][i] = c->seen[frame][k];
    c->seen[frame][k] = seen;
    c->sight[frame][i] = c->sight[frame][k] == MISSING ? MISSING : SWAPPED;
    c->sight[frame][k] = was == MISSING ? MISSING : SWAPPED;
}

static poise_vec3 with_noise(poise_vec3 p, scene_random *random)
{
    p.x += NOISE * scene_random_normal(random);
    p.y += NOISE * scene_random_normal(random);
    p.z += NOISE * scene_random_normal(random);
    return p;
}

// Film some periods of a motion: the true places of the markers, then noise, gaps and the swap.
static bool film(clip *c, const char *motion, int periods, const actor *a)
{
    scene_random random = scene_random_make(41);
    int gap[MARKERS] = {0}; // frames that are left of it
    int knee = find_marker(a, "left_knee"), other_knee = find_marker(a, "right_knee");
    c->motion = motion;
    c->frames = (int)(periods * scene_motion_duration(motion) * RATE + 0.5);
    for (int f = 0; f < c->frames; ++f) {
        double q[BODY_NQ];
        if (scene_motion_pose(a->model, motion, f / RATE, q) || poise_kinematics_update(a->kinematics, q)) {
            return false;
        }
        place_markers(a, c->truth[f]);
        for (int i = 0; i < MARKERS; ++i) {
            c->seen[f][i] = with_noise(c->truth[f][i], &random);
            bool begins = scene_random_uniform(&random) < GAPS / (1 - GAPS) / GAP;
            gap[i] = gap[i] > 0 ? gap[i] - 1 : begins ? GAP : 0;
            c->sight[f][i] = gap[i] > 0 ? MISSING : SEEN;
        }
        if (f >= SWAP_FROM * c->frames && f < SWAP_TO * c->frames) {
            swap_labels(c, f, knee, other_knee);
        }
    }
    return true;
}

// The goals of one frame: the markers that are there, and a small pull to the last frame, which holds still what no marker
// moves. A marker that is several loss scales off lets go, so swapped labels do no harm; but not in the first frame, which
// begins far off.
static int frame_goals(const clip *c, const actor *a, int frame, poise_goal *goals)
{
    const double loss_scale = 0.05, pull = 3e-3; // metres; square metres per square radian
    int count = 0;
    for (int i = 0; i < MARKERS; ++i) {
        if (c->sight[frame][i] != MISSING) {
            goals[count] = poise_goal_position(a->markers[i].body, a->markers[i].local, c->seen[frame][i]);
            goals[count].loss = frame > 0 ? POISE_LOSS_GEMAN_MCCLURE : POISE_LOSS_NONE;
            goals[count++].loss_scale = loss_scale;
        }
    }
    if (frame > 0) {
        goals[count] = poise_goal_smoothness(c->q[frame - 1], NULL, pull);
        goals[count++].q_weights = a->pull;
    }
    return count;
}

// One frame: q from the frame before to this one, and how far its markers are from the truth.
static bool track_frame(clip *c, const actor *a, int frame, poise_solver *solver, double *q, tally *t)
{
    poise_goal goals[MARKERS + 1];
    poise_report report;
    poise_vec3 found[MARKERS];
    int count = frame_goals(c, a, frame, goals);
    if (!tally_solve(t, a->model, solver, goals, count, q, &report) || poise_kinematics_update(a->kinematics, q)) {
        return false;
    }
    memcpy(c->q[frame], q, sizeof c->q[frame]);
    place_markers(a, found);
    for (int i = 0; i < MARKERS; ++i) {
        poise_vec3 p = found[i], truth = c->truth[frame][i];
        tally_error(t, hypot(hypot(p.x - truth.x, p.y - truth.y), p.z - truth.z));
    }
    return true;
}

// Every frame from the one before, the first from a T.
static bool track(clip *c, const actor *a, tally *t)
{
    poise_solver_options options = poise_solver_options_default();
    options.gradient_tolerance = 1e-4; // moves markers by far less than the noise does
    poise_solver *warm = NULL, *cold = NULL;
    bool good = poise_solver_create(a->model, &options, NULL, &warm) == POISE_OK;
    options.start = POISE_START_COLD;
    good = good && poise_solver_create(a->model, &options, NULL, &cold) == POISE_OK;
    progress bar = progress_start(t->job, t->items, c->frames);
    double q[BODY_NQ];
    poise_model_neutral(a->model, q);
    for (int f = 0; f < c->frames && good; ++f) {
        good = track_frame(c, a, f, f > 0 ? warm : cold, q, t);
        progress_show(&bar, f + 1);
    }
    poise_solver_destroy(cold);
    poise_solver_destroy(warm);
    return good;
}

static bool actor_create(actor *a)
{
    for (int i = 6; i < BODY_NQ; ++i) {
        a->pull[i] = 1;
    }
    return scene_create("humanoid", NULL, &a->model, NULL) == POISE_OK && poise_model_nq(a->model) == BODY_NQ &&
           scene_markers("humanoid", a->markers, MARKERS) == MARKERS &&
           poise_kinematics_create(a->model, NULL, &a->kinematics) == POISE_OK;
}

// Time, then q: a column per coordinate, called like its joint, numbered where the joint has several.
static bool save_motion(const poise_model *model, const clip *c, const char *folder, const char *name)
{
    output out;
    if (!output_open(&out, folder, name)) {
        return false;
    }
    fprintf(out.file, "time");
    for (int k = 0; k < poise_model_joint_count(model); ++k) {
        int count;
        poise_model_joint_q(model, k, &count);
        for (int i = 0; i < count; ++i) {
            fprintf(out.file, count > 1 ? ",%s.%d" : ",%s", poise_model_joint_name(model, k), i + 1);
        }
    }
    for (int f = 0; f < c->frames; ++f) {
        fprintf(out.file, "\n%.2f", f / RATE);
        for (int i = 0; i < BODY_NQ; ++i) {
            fprintf(out.file, ",%.9g", c->q[f][i]);
        }
    }
    fprintf(out.file, "\n");
    return output_close(&out);
}

static bool run_tracking(clip *cartwheel, clip *walk, tally tallies[2], const char *folder)
{
    actor a = {0};
    bool good = actor_create(&a) && film(cartwheel, "cartwheel", 1, &a) && film(walk, "walk", 5, &a) &&
                track(cartwheel, &a, &tallies[0]) && track(walk, &a, &tallies[1]) &&
                save_motion(a.model, cartwheel, folder, "cartwheel.csv") && save_motion(a.model, walk, folder, "walk.csv") &&
                draw_tracking(a.model, cartwheel, walk, folder, "track.svg");
    poise_kinematics_destroy(a.kinematics);
    poise_model_destroy(a.model);
    return good;
}

// ---- Aim -----------------------------------------------------------------------------------------------------------------

// Light from `light` towards each point of the circle in turn, near the posture `rest`.
static bool aim_round(const poise_model *model, poise_solver *solver, lamp_path *path, tally *t)
{
    const double hold = 1e-4; // weight of the posture: it gives way to the aim, and decides among all that aim well
    int light = poise_model_find_tool(model, "light"), shade = poise_model_tool_body(model, light);
    double rest[LAMP_NQ], q[LAMP_NQ];
    if (scene_posture(model, "lamp", "curious", rest) != POISE_OK) {
        return false;
    }
    memcpy(q, rest, sizeof q);
    progress bar = progress_start(t->job, t->items, STEPS);
    for (int i = 0; i < STEPS; ++i) {
        double angle = 2 * PI * i / STEPS;
        path->target[i] = poise_vec3_make(path->center.x + path->radius * sin(angle), path->center.y,
                                          path->center.z + path->radius * cos(angle));
        poise_vec3 along = poise_vec3_make(0, 1, 0);
        poise_goal goals[2] = {poise_goal_aim(shade, poise_model_tool_pose(model, light).position, along, path->target[i]),
                               poise_goal_posture(rest, hold)};
        poise_report report;
        if (!tally_solve(t, model, solver, goals, 2, q, &report)) {
            return false;
        }
        tally_error(t, poise_solver_goal_error(solver, 0).error);
        memcpy(path->q[i], q, sizeof q);
        progress_show(&bar, i + 1);
    }
    return true;
}

static double largest_step(const lamp_path *path)
{
    double largest = 0;
    for (int i = 0; i < STEPS; ++i) {
        for (int k = 0; k < LAMP_NQ; ++k) {
            largest = fmax(largest, fabs(path->q[(i + 1) % STEPS][k] - path->q[i][k]));
        }
    }
    return largest;
}

static bool run_aim(lamp_path *path, tally *t, const char *folder)
{
    poise_model *model = NULL;
    poise_solver *solver = NULL;
    poise_solver_options options = poise_solver_options_default();
    options.gradient_tolerance = 1e-6;
    path->center = poise_vec3_make(0, 0, 0.42);
    path->radius = 0.3;
    bool good = scene_create("lamp", NULL, &model, NULL) == POISE_OK && poise_model_nq(model) == LAMP_NQ &&
                poise_solver_create(model, &options, NULL, &solver) == POISE_OK && aim_round(model, solver, path, t);
    path->largest_step = largest_step(path);
    good = good && draw_lamp(model, path, folder, "aim.svg");
    poise_solver_destroy(solver);
    poise_model_destroy(model);
    return good;
}

// ---- Reach ---------------------------------------------------------------------------------------------------------------

// A bent arm, from which every direction is open.
static const double ready[ARM_NQ] = {0.1, 0.4, 0.1, -1.2, 0.1, 0.9, 0.1};

static bool random_pose(const poise_model *model, poise_kinematics *kinematics, scene_random *random, poise_pose *pose)
{
    double q[ARM_NQ];
    scene_random_configuration(random, model, q);
    bool good = poise_kinematics_update(kinematics, q) == POISE_OK;
    *pose = poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "tip"));
    return good;
}

static poise_goal tip_goal(const poise_model *model, poise_pose target)
{
    int tip = poise_model_find_tool(model, "tip");
    return poise_goal_pose(poise_model_tool_body(model, tip), poise_model_tool_pose(model, tip), target);
}

static bool reach_all(const poise_model *model, poise_kinematics *kinematics, poise_solver *solver, arm_reaches *r, tally *t)
{
    scene_random random = scene_random_make(7);
    progress bar = progress_start(t->job, t->items, REACHES);
    for (int i = 0; i < REACHES; ++i) {
        poise_report report;
        if (!random_pose(model, kinematics, &random, &r->target[i])) {
            return false;
        }
        poise_goal goal = tip_goal(model, r->target[i]);
        memcpy(r->q[i], ready, sizeof ready);
        if (!tally_solve(t, model, solver, &goal, 1, r->q[i], &report)) {
            return false;
        }
        r->reached[i] = report.outcome == POISE_OUTCOME_REACHED;
        tally_error(t, report.worst_length);
        r->largest_angle = fmax(r->largest_angle, report.worst_angle);
        progress_show(&bar, i + 1);
    }
    return true;
}

// One pose in several ways: answers from random starts that differ from those before by half a radian somewhere.
static bool reach_in_ways(const poise_model *model, poise_solver *solver, arm_reaches *r)
{
    scene_random random = scene_random_make(3);
    poise_quat forwards = poise_quat_from_axis_angle(poise_vec3_make(0, 1, 0), 0.5 * PI); // z of the hand along +x
    r->one = (poise_pose){forwards, poise_vec3_make(0.62, 0, 0.45)};
    poise_goal goal = tip_goal(model, r->one);
    for (int trial = 0; trial < 200 && r->ways < WAYS; ++trial) {
        double *q = r->way[r->ways];
        poise_report report;
        scene_random_configuration(&random, model, q);
        if (poise_solve(solver, &goal, 1, q, &report) != POISE_OK) {
            return false;
        }
        bool is_new = report.outcome == POISE_OUTCOME_REACHED;
        for (int w = 0; w < r->ways; ++w) {
            double largest = 0;
            for (int k = 0; k < ARM_NQ; ++k) {
                largest = fmax(largest, fabs(q[k] - r->way[w][k]));
            }
            is_new = is_new && largest > 0.5;
        }
        r->ways += is_new;
    }
    return true;
}

static bool run_reach(arm_reaches *r, tally *t, const char *folder)
{
    poise_model *model = NULL;
    poise_kinematics *kinematics = NULL;
    poise_solver *solver = NULL;
    poise_solver_options options = poise_solver_options_default();
    options.start = POISE_START_COLD;
    options.restarts = 50;
    bool good = scene_create("arm7", NULL, &model, NULL) == POISE_OK && poise_model_nq(model) == ARM_NQ &&
                poise_kinematics_create(model, NULL, &kinematics) == POISE_OK &&
                poise_solver_create(model, &options, NULL, &solver) == POISE_OK &&
                reach_all(model, kinematics, solver, r, t) && reach_in_ways(model, solver, r) &&
                draw_arm(model, r, folder, "reach.svg");
    poise_solver_destroy(solver);
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
    return good;
}

// ---- All together --------------------------------------------------------------------------------------------------------

static clip cartwheel, walk;
static lamp_path path;
static arm_reaches reaches;
static tally tallies[4] = {
    {.job = "track cartwheel", .items = "frames", .unit = "mm", .per_unit = 1e3, .accept = POISE_OUTCOME_CLOSEST},
    {.job = "track walk", .items = "frames", .unit = "mm", .per_unit = 1e3, .accept = POISE_OUTCOME_CLOSEST},
    {.job = "aim lamp", .items = "steps", .unit = "deg", .per_unit = DEGREES, .accept = POISE_OUTCOME_CLOSEST},
    {.job = "reach arm7", .items = "poses", .unit = "um", .per_unit = 1e6, .accept = POISE_OUTCOME_REACHED},
};

// What to expect: everything solved within limits; the body nearer to the truth than the markers are (their noise is
// sqrt(8/pi) NOISE long on average) and no marker lost by a hand's breadth; the lamp's light on its target, moving on
// without a jump.
static bool as_expected(void)
{
    bool good = true;
    for (int i = 0; i < 4; ++i) {
        good = good && tallies[i].count > 0 && tallies[i].solved == tallies[i].count && tallies[i].outside == 0;
    }
    for (int i = 0; i < 2; ++i) {
        good = good && tally_mean(&tallies[i]) < sqrt(8 / PI) * NOISE && tallies[i].largest_error < 0.08;
    }
    return good && tally_mean(&tallies[2]) * DEGREES < 0.1 && path.largest_step * DEGREES < 5 && reaches.ways == WAYS;
}

static void print_results(const char *folder)
{
    int solves = 0, outside = 0;
    printf("\n");
    print_head();
    for (int i = 0; i < 4; ++i) {
        solves += tallies[i].count;
        outside += tallies[i].outside;
        print_row(&tallies[i]);
    }
    printf("\nlimits     broken in %d of %d answers\n", outside, solves);
    printf("track      58 degrees of freedom, 41 markers with %.0f mm noise, %.0f %% missing,\n"
           "           knees swapped for %.1f s; errors are against the clean markers\n",
           NOISE * 1e3, GAPS * 1e2, (SWAP_TO - SWAP_FROM) * cartwheel.frames / RATE);
    printf("aim        largest joint step %.2f deg, at %d steps round the circle\n", path.largest_step * DEGREES, STEPS);
    printf("reach      position and rotation; largest rotation error %.1e deg\n", reaches.largest_angle * DEGREES);
    printf("\nwrote %s/: cartwheel.csv walk.csv track.svg aim.svg reach.svg\n", folder);
}

int main(int argc, char **argv)
{
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fprintf(stderr, "usage: demo [FOLDER]    results go to FOLDER, demo-output unless given\n");
        return 1;
    }
    const char *folder = argc == 2 ? argv[1] : "demo-output";
    printf("%sPoise %s%s, inverse kinematics: three jobs on its own scenes\n", style("\033[1m"), poise_version(),
           style("\033[0m"));
    if (!make_folder(folder) || !run_tracking(&cartwheel, &walk, tallies, folder) || !run_aim(&path, &tallies[2], folder) ||
        !run_reach(&reaches, &tallies[3], folder)) {
        return 1;
    }
    print_results(folder);
    if (!as_expected()) {
        printf("%snot as expected%s\n", style("\033[31m"), style("\033[0m"));
        return 1;
    }
    return 0;
}
