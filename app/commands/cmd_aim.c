// poise aim: hold a posture while the end faces something.
#include "aim/aim_target.h"
#include "aim_print.h"
#include "cli/load.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

// ---- The job -------------------------------------------------------------------------------------------------------------

static bool read_settings(const arguments *args, aim_job *job)
{
    const char *method = option_text(args, "method", "expressive");
    job->settings = aim_settings_default(&job->end, &job->path);
    if (!aim_read_holds(args, job->model, &job->settings.holds)) {
        return false;
    }
    job->settings.method = strcmp(method, "erik") == 0       ? AIM_ERIK
                           : strcmp(method, "two-task") == 0 ? AIM_TWO_TASK
                                                             : AIM_EXPRESSIVE;
    bool shape = strcmp(option_text(args, "mode", "shape"), "shape") == 0;
    job->settings.expressive.mode = shape ? POISE_EXPRESSIVE_SHAPE : POISE_EXPRESSIVE_METRIC;
    job->method = job->settings.method == AIM_EXPRESSIVE ? shape ? "expressive, shape" : "expressive, metric" : method;
    const char *set;
    for (int i = 0; (set = option_text_at(args, "set", i)); ++i) {
        if (!aim_set(&job->settings, set)) {
            return false;
        }
    }
    return true;
}

// Solve the whole path; false when a solve could not be made.
static bool solve_path(aim_job *job, aim_solver *solver)
{
    size_t nq = (size_t)poise_model_info(job->model).nq;
    for (int i = 0; i < job->path.count; ++i) {
        double *q = job->q + (size_t)i * nq;
        if (i > 0) {
            memcpy(q, q - nq, nq * sizeof *q);
        }
        if (!aim_solve(solver, &job->path.targets[i], job->posture, i > 0, q, &job->results[i])) {
            complain("target %d could not be solved: its numbers are too large", i);
            return false;
        }
        job->jumped[i] = i > 0 && aim_has_jumped(job->model, q - nq, q);
    }
    return true;
}

static app_exit status_of(const aim_job *job)
{
    for (int i = 0; i < job->path.count; ++i) {
        if (!job->results[i].faces) {
            return APP_MISSED;
        }
    }
    return APP_DONE;
}

// ERIK and two tasks take orientations, so that they miss places and directions that can be faced: say so.
static void name_better_method(const aim_job *job)
{
    aim_settings settings = job->settings;
    settings.method = AIM_EXPRESSIVE;
    aim_solver *solver =
        job->settings.method != AIM_EXPRESSIVE ? aim_solver_create(job->model, &job->end, &settings, NULL) : NULL;
    double *q = needed(calloc((size_t)poise_model_info(job->model).nq + 1, sizeof *q));
    int missed = 0, reached = 0;
    for (int i = 0; solver && i < job->path.count; ++i) {
        aim_result r;
        if (!job->results[i].faces) {
            missed += 1;
            reached += aim_solve(solver, &job->path.targets[i], job->posture, false, q, &r) && r.faces;
        }
    }
    if (reached > 0 && job->path.count == 1) {
        warn("%s misses this target; --method expressive reaches it", job->method);
    } else if (reached > 0) {
        warn("%s misses %d of %d targets; --method expressive reaches %d of those", job->method, missed, job->path.count,
             reached);
    }
    free(q);
    aim_solver_destroy(solver);
}

// Solve with the method that was asked for, write what was asked for, print.
static app_exit run_one(const arguments *args, aim_job *job)
{
    aim_solver *solver = aim_solver_create(job->model, &job->end, &job->settings, NULL);
    bool works = solver && solve_path(job, solver);
    aim_solver_destroy(solver);
    const char *output = option_text(args, "output", NULL), *picture = option_text(args, "picture", NULL);
    works = works && (!output || aim_save_motion(job, output, option_number(args, "rate", 30)));
    works = works && (!picture || aim_save_picture(job, picture));
    works = works && (arguments_json(args) ? aim_print_json(job) : aim_print_text(job));
    if (works && !arguments_json(args)) {
        print_written((const char *[]){output, picture}, 2, stdout);
    }
    if (works) {
        name_better_method(job);
    }
    return works ? status_of(job) : APP_BAD;
}

// All methods on the same targets, side by side.
static app_exit run_all(const arguments *args, aim_job *job)
{
    static const struct {
        const char *name;
        aim_method method;
        poise_expressive_mode mode;
        int steps;
    } methods[] = {{"expressive metric", AIM_EXPRESSIVE, POISE_EXPRESSIVE_METRIC, 0},
                   {"expressive shape", AIM_EXPRESSIVE, POISE_EXPRESSIVE_SHAPE, 0},
                   {"erik", AIM_ERIK, 0, 0},
                   {"two-task 100", AIM_TWO_TASK, 0, 100},
                   {"two-task 200", AIM_TWO_TASK, 0, 200},
                   {"two-task 400", AIM_TWO_TASK, 0, 400}};
    enum { METHODS = sizeof methods / sizeof methods[0] };
    bool works = true;
    aim_comparison *comparison = aim_comparison_create(job, arguments_json(args));
    for (int i = 0; i < METHODS && works; ++i) {
        char reason[POISE_ERROR_TEXT_SIZE] = "";
        aim_settings settings = job->settings;
        settings.method = methods[i].method;
        settings.expressive.mode = methods[i].mode;
        settings.two_task.max_iterations = methods[i].steps > 0 ? methods[i].steps : settings.two_task.max_iterations;
        aim_solver *solver = aim_solver_create(job->model, &job->end, &settings, reason);
        works = !solver || solve_path(job, solver);
        if (works) {
            aim_comparison_add(comparison, job, methods[i].name, solver ? NULL : reason);
        }
        aim_solver_destroy(solver);
    }
    return works && aim_comparison_end(comparison) ? APP_DONE : APP_BAD;
}

static void get_memory(aim_job *job)
{
    size_t nq = (size_t)poise_model_info(job->model).nq, n = (size_t)job->path.count;
    job->posture = needed(calloc(nq + 1, sizeof *job->posture));
    job->q = needed(calloc(n * nq + 1, sizeof *job->q));
    job->results = needed(calloc(n, sizeof *job->results));
    job->jumped = needed(calloc(n, sizeof *job->jumped));
}

static app_exit run(const arguments *args)
{
    static const aim_option facing[3] = {{"orientation", AIM_ORIENTATION}, {"direction", AIM_DIRECTION}, {"at", AIM_POINT}};
    aim_job job = {.file_name = arguments_at(args, 0), .posture_name = option_text(args, "posture", "neutral")};
    poise_file *file = load_model(job.file_name, NULL);
    app_exit status = APP_BAD;
    if (!file) {
        return status;
    }
    if (option_given(args, "compare") && (option_given(args, "output") || option_given(args, "picture"))) {
        complain("--compare prints a table of all methods; -o and --picture need one --method");
        poise_file_destroy(file);
        return status;
    }
    job.file = file;
    job.model = file->model;
    more_postures more = {0};
    const char *output = option_text(args, "output", NULL);
    if ((!output || motion_can_be_written(file, output)) &&
        load_more_postures(option_text(args, "postures", NULL), file, &more) &&
        aim_find_end(file->model, option_text(args, "body", NULL), option_text(args, "axis", NULL), &job.end) &&
        aim_read_path(args, facing, file, &job.path) && read_settings(args, &job)) {
        get_memory(&job);
        job.is_path = option_given(args, "path");
        if (aim_load_posture(file, &job.end, job.posture_name, job.posture)) {
            status = option_given(args, "compare") ? run_all(args, &job) : run_one(args, &job);
        }
    }
    free(job.path.targets);
    free(job.posture);
    free(job.q);
    free(job.results);
    free(job.jumped);
    release_more_postures(&more);
    poise_file_destroy(file);
    return status;
}

// ---- The command ---------------------------------------------------------------------------------------------------------

static const app_option options[] = {
    {"posture", 'p', OPTION_TEXT, "POSTURE", .alias = "from q",
     .help = "posture to hold: a name, FILE@FRAME of a motion, numbers in radians (\"0 -90 90 deg\": in degrees), or "
             "points:x,y,z,... (\"neutral\")"},
    AIM_OPTION_POSTURES,
    {"orientation", 0, OPTION_TEXT, "X,Y,Z,W",
     .help = "target orientation of the tip: a quaternion, or roll, pitch and yaw in degrees"},
    {"direction", 0, OPTION_TEXT, "X,Y,Z", .help = "target direction of the tip"},
    {"at", 0, OPTION_TEXT, "X,Y,Z", .help = "point the tip should face"},
    {"path", 0, OPTION_FILE, "FILE",
     .help = "a sequence of targets from a file, or \"circle\", or \"circle:TILT\", TILT degrees from the vertical (60)"},
    {"steps", 0, OPTION_COUNT, "N", .lowest = 1, .highest = 1000000, .help = "number of steps of a circle (120)"},
    {"method", 0, OPTION_CHOICE, "METHOD", .choices = "expressive erik two-task", .help = "solver (expressive)"},
    {"mode", 0, OPTION_CHOICE, "MODE", .choices = "metric shape",
     .help = "what expressive preserves: metric, how far joints bend; shape, also which way (shape)"},
    {"set", 0, OPTION_TEXT, "NAME=VALUE", .repeats = true, .help = "set an option of the method, see above"},
    AIM_OPTION_BODY,
    AIM_OPTION_AXIS,
    AIM_OPTION_HOLD,
    {"compare", .help = "compare all methods on the same targets"},
    {"output", 'o', OPTION_OUTPUT, "FILE", .choices = WRITTEN_FILES, .help = "write the answers as a motion"},
    {"rate", 0, OPTION_NUMBER, "HZ", .lowest = 1e-3, .highest = 1e6, .help = "path steps per second of that motion (30)"},
    {"picture", 0, OPTION_OUTPUT, "FILE.svg", .choices = ".svg", .help = "draw the posture and the answer"},
    {0},
};

static const app_example examples[] = {
    {"A curious lamp looks to the side", "poise aim scene:lamp --posture curious --direction 1,0,1"},
    {"At a point, with the paper's measure", "poise aim scene:lamp -p shy --at 0.4,0.1,0.3 --mode metric"},
    {"Around a circle, as a motion", "poise aim scene:lamp -p curious --path circle:100 -o circle.json"},
    {"Your own path ...", "printf '%s\\n' direction 0,0,1 1,0,1 1,0,0 > look.csv"},
    {"... from direction to direction", "poise aim scene:lamp --path look.csv"},
    {"Compare all methods", "poise aim scene:erik-g -p bow --orientation 0.5,0,0,0.8 --compare"},
    {"A posture taken from a motion", "poise aim scene:lamp -p circle.json@30 --direction 0,0,1 --json"},
    {0},
};

const app_command cmd_aim = {
    .name = "aim",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "hold a posture while facing a target (expressive IK)",
    .description =
        "Finds joint values within the limits for which the tip faces a direction or a point, or has an orientation, with "
        "the least change of a posture. Methods: expressive, for any skeleton, continuing from the previous answer along "
        "a path, with two measures of shape; erik (Ribeiro & Paiva 2019), for chains of hinges; two-task, the damped "
        "least squares that paper compares with. The last two take orientations only and may miss a point within reach. "
        "Along a path erik continues from its previous answer (warm), two-task solves each target on its own.\n\n"
        "The combined error is the paper's: orientation_weight (1) times sqrt(2) sin(angle / 4), plus posture_weight "
        "(0.2) times the weighted mean change of the cosines of the bends. A target is reached if the first part is "
        "within the threshold (0.04, or 6.5 degrees); the exit status is 1 if one is not.\n\n"
        "A posture may be drawn: points: followed by the positions of the chain's joints and the tip, root first, at any "
        "scale. Posture names come from the skeleton's file or, for a URDF, from --postures.\n\n"
        "A file of targets has one per line: three numbers are a direction, four an orientation (x y z w). A word before "
        "them, or on a line above, says what they are: direction, orientation or at. JSON: a list of lists of numbers, or "
        "of objects such as {\"at\": [1, 0, 0]}.\n\n"
        "Settings of all methods, with defaults:\n"
        "  orientation_weight=1 posture_weight=0.2 threshold=0.04\n"
        "  aggravation=1.46 (how much more each bend counts than the one before)\n"
        "  symmetric_endpoint=off (on: an orientation may be rolled by half a turn)\n"
        "of expressive:\n"
        "  max_iterations=25 searches=4 gain=0.02 stride=0.1\n"
        "  inertia=0.05 exact=on length_scale=1 use_erik=off\n"
        "of erik:\n"
        "  max_iterations=13 max_sweeps=20 precision=4.8e-4 stall=1e-6\n"
        "  disturbance=0.046 window=4 tolerance=1e-9 avoid_edges=on\n"
        "  offset_trick=on ccd_trick=on warm=on gain=0.02\n"
        "  exact_orientation=off restarts=30\n"
        "of two-task:\n"
        "  max_iterations=100 use_posture=on correct_flip=on\n"
        "  flip_as_printed=off longest_step=0.3 error_clamp=0.5\n",
    .options = options,
    .examples = examples,
    .run = run,
};
