// poise warp: an animation whose end faces something.
#include "aim/aim_target.h"
#include "aim/smooth.h"
#include "cli/json.h"
#include "cli/latency.h"
#include "cli/load.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "commands/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES DEGREES_PER_RADIAN

typedef struct warp {
    const poise_model *model;
    double metres;    // for each unit of its lengths; 0: unknown
    poise_clip *clip; // what is played, at the rate of the output
    poise_clip *out;
    aim_end end;
    aim_path path;
    aim_settings settings;
    smoother *smoother;
    aim_solver *solver;
} warp;

typedef struct warp_figures {
    int reached, jumps, violations;
    int kept;                                            // frames that face the target after the filter, too
    double answer, largest_answer, shown, largest_shown; // degrees left, of what was solved and of what comes out
    double fastest;                                      // rad/s, or length units
    char fastest_joint[96];
    latency time;
} warp_figures;

// ---- The job -------------------------------------------------------------------------------------------------------------

static bool is_quaternion(const poise_model *model, int i)
{
    return poise_model_coordinate(model, i).unit == POISE_UNIT_NONE;
}

static void run_frame(warp *w, int frame, double *answer, warp_figures *f)
{
    size_t nq = (size_t)w->clip->nq;
    const double *posture = w->clip->q + (size_t)frame * nq;
    double *q = w->out->q + (size_t)frame * nq, share = w->clip->frames > 1 ? (double)frame / (w->clip->frames - 1) : 0;
    aim_target target = aim_path_at(&w->path, share);
    aim_result r;
    double begin = cpu_seconds_now();
    bool solved = aim_solve(w->solver, &target, posture, frame > 0, answer, &r);
    if (frame == 0) {
        smoother_reset(w->smoother, answer);
    }
    smoother_step(w->smoother, answer, w->clip->frame_time, q);
    latency_add(&f->time, cpu_seconds_now() - begin);
    double shown = aim_angle(w->solver, &target, q) * DEGREES;
    f->reached += solved && r.faces;
    f->kept += sqrt(2) * sin(shown / DEGREES / 4) <= w->settings.erik.threshold;
    f->violations += !poise_model_within_limits(w->model, q);
    f->answer += r.angle * DEGREES / w->clip->frames;
    f->largest_answer = fmax(f->largest_answer, r.angle * DEGREES);
    f->shown += shown / w->clip->frames;
    f->largest_shown = fmax(f->largest_shown, shown);
    for (size_t i = 0; frame > 0 && i < nq; ++i) {
        double speed = fabs(q[i] - q[(ptrdiff_t)i - (ptrdiff_t)nq]) / w->clip->frame_time;
        if (speed > f->fastest && !is_quaternion(w->model, (int)i)) {
            f->fastest = speed;
            coordinate_label(w->model, (int)i, f->fastest_joint, sizeof f->fastest_joint);
        }
    }
}

static void run_frames(warp *w, warp_figures *f)
{
    size_t nq = (size_t)w->clip->nq;
    double *answer = needed(calloc(nq + 1, sizeof *answer)), *before = needed(calloc(nq + 1, sizeof *before));
    progress_start("warping", "frames", w->clip->frames);
    for (int i = 0; i < w->clip->frames; ++i) {
        memcpy(before, answer, nq * sizeof *before);
        run_frame(w, i, answer, f);
        f->jumps += i > 0 && aim_has_jumped(w->model, before, answer);
        progress_show(i + 1);
    }
    progress_end();
    free(answer);
    free(before);
}

// ---- Printing ------------------------------------------------------------------------------------------------------------

static bool is_missed(const warp *w, const warp_figures *f)
{
    return f->reached < w->clip->frames || f->kept < w->clip->frames;
}

// Every frame faces the target; or what keeps some from it.
static void print_verdict(const warp *w, const warp_figures *f)
{
    int frames = w->clip->frames, lost = f->reached - f->kept;
    printf("  verdict      %s%s%s", style_code(is_missed(w, f) ? STYLE_BAD : STYLE_GOOD),
           is_missed(w, f) ? "missed" : "reached", style_code(STYLE_PLAIN));
    if (f->reached < frames) {
        printf(": %d frame%s cannot face the target", frames - f->reached, frames - f->reached == 1 ? "" : "s");
    } else if (lost > 0) {
        printf(": the filter is too slow for %d frame%s; raise its limits, -f", lost, lost == 1 ? "" : "s");
    }
    printf("\n");
}

static void print_text(const char *name, const warp *w, const warp_figures *f)
{
    double budget = w->clip->frame_time * 1e6, p99 = latency_quantile(&f->time, 0.99) * 1e6;
    int frames = w->clip->frames;
    printf("%s: %d frame%s, %.4g per second; %s faces its target\n", name, frames, frames == 1 ? "" : "s",
           1 / w->clip->frame_time, w->end.name);
    print_verdict(w, f);
    printf("  reached      %d of %d frame%s, %d after the filter\n", f->reached, frames, frames == 1 ? "" : "s", f->kept);
    printf("  off target   %.3f degrees mean, %.3f largest, before the filter\n", f->answer, f->largest_answer);
    printf("               %.3f degrees mean, %.3f largest, after it\n", f->shown, f->largest_shown);
    printf("  jumps        %d answers move a joint by more than 20 degrees\n", f->jumps);
    printf("  fastest      %s, %.3f per second, after the filter\n", f->fastest_joint[0] ? f->fastest_joint : "none",
           f->fastest);
    printf("  limits       %d frame%s one\n", f->violations, f->violations == 1 ? " breaks" : "s break");
    printf("  time         %.0f us of CPU a frame (median), %.0f us p99, %.0f us longest\n",
           latency_quantile(&f->time, 0.5) * 1e6, p99, f->time.largest * 1e6);
    printf("  budget       %.0f us a frame: p99 takes %.1f %% of it\n", budget, 100 * p99 / budget);
}

static bool print_json(const char *name, const warp *w, const warp_figures *f)
{
    json_node *angle = json_make("{s:{s:o, s:o}, s:{s:o, s:o}, s:s}", "solved", "mean", json_from_number(f->answer), "max",
                                 json_from_number(f->largest_answer), "filtered", "mean", json_from_number(f->shown), "max",
                                 json_from_number(f->largest_shown), "unit", "degrees");
    return json_print(json_make("{s:o, s:s, s:i, s:o, s:o, s:i, s:i, s:o, s:i, s:i, s:o, s:o, s:o}", "motion",
                                json_from_text(name), "verdict", is_missed(w, f) ? "missed" : "reached", "frames",
                                w->clip->frames, "frame_time", json_from_number(w->clip->frame_time), "end",
                                json_from_text(w->end.name), "reached", f->reached, "reached_filtered", f->kept, "angle",
                                angle, "jumps", f->jumps, "limit_violations", f->violations, "fastest",
                                json_from_number(f->fastest), "budget_us", json_from_number(w->clip->frame_time * 1e6),
                                "us_per_frame", json_from_times(&f->time)));
}

// ---- The command ---------------------------------------------------------------------------------------------------------

static bool make_parts(const arguments *args, const poise_clip *clip, warp *w)
{
    double rate = option_number(args, "rate", 1 / clip->frame_time);
    const char *set;
    w->settings = aim_settings_default(&w->end, &w->path);
    if (!aim_read_holds(args, w->model, &w->settings.holds)) {
        return false;
    }
    w->settings.method = strcmp(option_text(args, "method", "expressive"), "erik") == 0 ? AIM_ERIK : AIM_EXPRESSIVE;
    bool metric = strcmp(option_text(args, "mode", "shape"), "metric") == 0;
    w->settings.expressive.mode = metric ? POISE_EXPRESSIVE_METRIC : POISE_EXPRESSIVE_SHAPE;
    for (int i = 0; (set = option_text_at(args, "set", i)); ++i) {
        if (!aim_set(&w->settings, set)) {
            return false;
        }
    }
    double frame_time = option_given(args, "rate") ? 1 / rate : clip->frame_time;
    need(poise_clip_resample(clip, w->model, frame_time, NULL, &w->clip, NULL) == POISE_OK &&
         poise_clip_create(w->clip->frames, w->clip->nq, w->clip->frame_time, NULL, &w->out, NULL) == POISE_OK);
    w->out->start_time = clip->start_time;
    w->smoother = smoother_create(w->model, w->metres, option_text(args, "filter", NULL));
    w->solver = w->smoother ? aim_solver_create(w->model, &w->end, &w->settings, NULL) : NULL;
    return w->solver != NULL;
}

static void release_parts(warp *w)
{
    aim_solver_destroy(w->solver);
    smoother_destroy(w->smoother);
    poise_clip_destroy(w->clip);
    poise_clip_destroy(w->out);
    free(w->path.targets);
}

static app_exit run_warp(const arguments *args, const poise_file *model, const poise_file *motion)
{
    static const aim_option facing[3] = {{"at", AIM_POINT}, {"direction", AIM_DIRECTION}, {"orientation", AIM_ORIENTATION}};
    warp w = {.model = model->model, .metres = model->scale.metres};
    static warp_figures f; // large
    f = (warp_figures){0};
    app_exit status = APP_BAD;
    const char *output = option_text(args, "output", NULL);
    if ((!output || motion_can_be_written(model, output)) &&
        aim_find_end(w.model, option_text(args, "body", NULL), option_text(args, "axis", NULL), &w.end) &&
        aim_read_path(args, facing, model, &w.path) && make_parts(args, motion->clip, &w)) {
        run_frames(&w, &f);
        char name[128];
        poise_file out = *model;
        name_of_motion(motion, arguments_at(args, 1), name, sizeof name);
        out.motion = name;
        out.clip = w.out;
        out.markers = NULL;
        if (!output || save_motion(output, &out)) {
            status = is_missed(&w, &f) ? APP_MISSED : APP_DONE;
            if (!arguments_json(args)) {
                print_text(arguments_at(args, 1), &w, &f);
                print_written(&output, 1, stdout);
            } else if (!print_json(arguments_at(args, 1), &w, &f)) {
                status = APP_BAD;
            }
        }
    }
    release_parts(&w);
    return status;
}

static app_exit run(const arguments *args)
{
    poise_file *model = load_model(arguments_at(args, 0), NULL);
    poise_file *motion = model ? load_motion_for(arguments_at(args, 1), NULL, model, arguments_at(args, 0)) : NULL;
    app_exit status = motion ? run_warp(args, model, motion) : APP_BAD;
    poise_file_destroy(motion);
    poise_file_destroy(model);
    return status;
}

static const app_option options[] = {
    {"at", 0, OPTION_TEXT, "X,Y,Z", .alias = "aim", .help = "point the tip should face"},
    {"direction", 0, OPTION_TEXT, "X,Y,Z", .help = "target direction of the tip"},
    {"orientation", 0, OPTION_TEXT, "X,Y,Z,W",
     .help = "target orientation of the tip: a quaternion, or roll, pitch and yaw in degrees"},
    {"path", 0, OPTION_FILE, "FILE",
     .help = "a moving target: a sequence from a file, spread over the motion, or \"circle\", or \"circle:TILT\", TILT "
             "degrees from the vertical (60)"},
    {"steps", 0, OPTION_COUNT, "N", .lowest = 1, .highest = 1000000, .help = "number of steps of a circle (120)"},
    {"filter", 'f', OPTION_TEXT, "LIMITS",
     .help =
         "motor limits, such as \"velocity=2 acceleration=10 jerk=100\" (the default), or \"off\"; the word optimal "
         "(the default: in the least time, within the limits at any rate) or nutty (as in the paper: slower the higher the "
         "rate) chooses the filter"},
    {"rate", 'r', OPTION_NUMBER, "HZ", .lowest = 1e-3, .highest = 1e6,
     .help = "frames per second of the output (as the motion)"},
    {"method", 0, OPTION_CHOICE, "METHOD", .choices = "expressive erik",
     .help = "solver, see \"poise help aim\" (expressive)"},
    {"mode", 0, OPTION_CHOICE, "MODE", .choices = "metric shape",
     .help = "what expressive preserves: metric, how far joints bend; shape, also which way (shape)"},
    {"set", 0, OPTION_TEXT, "NAME=VALUE", .repeats = true, .help = "set an option of the method, see \"poise help aim\""},
    AIM_OPTION_BODY,
    AIM_OPTION_AXIS,
    AIM_OPTION_HOLD,
    {"output", 'o', OPTION_OUTPUT, "FILE", .choices = WRITTEN_FILES, .help = "write the motion"},
    {0},
};

static const app_example examples[] = {
    {"Make a motion to start from", "poise aim scene:lamp -p curious --path circle:30 -o circle.json"},
    {"The same gesture, looking at one point", "poise warp scene:lamp circle.json --at 2,0.2,0.3 -o look.json"},
    {"With ERIK in place of its successor",
     "poise warp scene:lamp circle.json --at 2,0.2,0.3 --method erik -f acceleration=20"},
    {"For motors at 1000 Hz",
     "poise warp scene:lamp circle.json --at 2,0.2,0.3 -r 1000 -f velocity=6,acceleration=100,jerk=4000"},
    {"A walk that looks to the side", "poise warp scene:humanoid scene:humanoid/walk -b eyes --axis 0,0,1 --at 2,1.3,5"},
    {0},
};

const app_command cmd_warp = {
    .name = "warp",
    .synopsis = "MODEL MOTION",
    .least = 2,
    .most = 2,
    .summary = "make an animation face a target (expressive IK)",
    .description =
        "Plays a motion and turns every frame so that the tip faces the target, with the least change of the frame's pose "
        "(\"poise help aim\"). Each frame starts from the previous answer. A motion filter then moves the joints there "
        "within limits of velocity, acceleration and jerk, so that a robot can follow; \"off\" disables it.\n\n"
        "LIMITS are words name=number, separated by spaces or commas, for all joints, or JOINT.name=number for one: "
        "velocity (2), acceleration (10) and jerk (100), in radians or metres and seconds; smoothness (0) gives a heavy, "
        "gentle character, responsiveness (0) takes some of that back, soft (0) slows the approach to the ends of the "
        "range. If a skeleton's unit of length is unknown, its size counts as one metre. \"nutty\" is the filter of "
        "Ribeiro & Paiva (eq. 23), which oscillates and creeps; the speed that it reaches falls with the rate, as printed: "
        "1.12 "
        "rad/s at 30 frames a second, 0.14 at 1000, where the limit is 2. \"optimal\" holds the limits and reaches them at "
        "any rate. A free root is not a motor: it is filtered only if named, "
        "as in root.velocity=2.\n\n"
        "Prints the remaining angle, jumps, broken limits (there are none) and the time per frame beside the time "
        "available. The exit status is 1 if a frame misses its target, before or after the filter.",
    .options = options,
    .examples = examples,
    .run = run,
};
