// poise aim and poise warp: hold a posture and face a point, or follow a motion and face one: pictures, words, then the
// commands.
#include "cli/json.h"
#include "cli/latency.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "commands/commands.h"
#include "commands/facing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What was asked for, and the answers.
typedef struct aim_job {
    const char *file_name, *posture_name, *method;
    const poise_file *file;
    const poise_model *model; // of the file
    aim_end end;
    aim_settings settings;
    bool is_path;
    aim_path path;
    double *posture;     // nq
    double *q;           // path.count x nq
    aim_result *results; // path.count
    bool *jumped;        // path.count
} aim_job;

// One row for each method. `reason`: why the method does not serve this skeleton; NULL: it does, and the job holds answers.
typedef struct aim_comparison aim_comparison;
aim_comparison *aim_comparison_create(const aim_job *job, bool json);
void aim_comparison_add(aim_comparison *comparison, const aim_job *job, const char *method, const char *reason);
bool aim_comparison_end(aim_comparison *comparison); // prints it, and releases it

enum { MOST_POSES = 9 };

static const char *const bone = "#56748f", *const old_bone = "#d5dde5", *const joint = "#ffffff", *const amber = "#e8a33d",
                         *const red = "#c8452d";

static const double *answer(const aim_job *job, int i)
{
    return job->q + (size_t)i * (size_t)poise_model_info(job->model).nq;
}

// How many answers of a path are drawn, evenly spread; the last of a closed path is the first again.
static int pose_count(const aim_job *job)
{
    return job->path.count < MOST_POSES ? job->path.count : MOST_POSES;
}

static int pose_index(const aim_job *job, int i)
{
    int n = pose_count(job);
    return n > 1 ? i * (job->path.count - 1) / (n - 1) : 0;
}

// Where the axis should point, from the tip: to the place, along the direction, or as the orientation has it. Unit.
static poise_vec3 asked_direction(const aim_job *job, const poise_aim_target *target, poise_vec3 tip)
{
    poise_vec3 d = target->vector;
    if (target->kind == POISE_AIM_ORIENTATION) {
        poise_quat from_body = poise_quat_conjugate(job->end.tip.rotation);
        return poise_quat_rotate(poise_quat_multiply(target->rotation, from_body), job->end.axis);
    }
    if (target->kind == POISE_AIM_POINT) {
        d = poise_vec3_make(d.x - tip.x, d.y - tip.y, d.z - tip.z);
    }
    double l = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    return l > 0 ? poise_vec3_make(d.x / l, d.y / l, d.z / l) : d;
}

// Where the tip points, in amber; where it should, in red, if it does not.
static void draw_gaze(picture *p, const aim_job *job, const poise_kinematics *kinematics, int index, double far)
{
    const poise_aim_target *target = &job->path.targets[index];
    poise_vec3 tip = poise_kinematics_point(kinematics, job->end.body, job->end.tip.position);
    poise_vec3 axis = poise_kinematics_direction(kinematics, job->end.body, job->end.axis);
    bool misses = !job->results[index].made.faces;
    if (target->kind == POISE_AIM_POINT) {
        poise_vec3 t = target->vector;
        far = sqrt((t.x - tip.x) * (t.x - tip.x) + (t.y - tip.y) * (t.y - tip.y) + (t.z - tip.z) * (t.z - tip.z));
        picture_ring(p, t, 7, misses ? red : amber);
    }
    if (misses) {
        poise_vec3 d = asked_direction(job, target, tip), to = {tip.x + far * d.x, tip.y + far * d.y, tip.z + far * d.z};
        picture_line(p, PICTURE_PAGE, tip, to, 1.5, red, "2 4");
    }
    poise_vec3 to = {tip.x + far * axis.x, tip.y + far * axis.y, tip.z + far * axis.z};
    picture_line(p, PICTURE_PAGE, tip, to, 1.5, amber, "5 4");
}

static void draw(picture *p, const aim_job *job, poise_kinematics *kinematics)
{
    drawing_box box = drawing_box_empty();
    poise_kinematics_update(kinematics, job->posture, NULL);
    drawing_box_add_skeleton(&box, job->model, kinematics);
    for (int i = 0; i < pose_count(job); ++i) {
        const poise_aim_target *target = &job->path.targets[pose_index(job, i)];
        poise_kinematics_update(kinematics, answer(job, pose_index(job, i)), NULL);
        drawing_box_add_skeleton(&box, job->model, kinematics);
        if (target->kind == POISE_AIM_POINT) {
            drawing_box_add(&box, target->vector);
        }
    }
    show_box(p, job->file, &box, 80);
    double far = 0.15 * fmax(box.most.x - box.least.x, fmax(box.most.y - box.least.y, box.most.z - box.least.z));
    poise_kinematics_update(kinematics, job->posture, NULL);
    drawing_skeleton(p, job->model, kinematics, 5, old_bone, old_bone);
    for (int i = 0; i < pose_count(job); ++i) {
        picture_next_figure(p);
        poise_kinematics_update(kinematics, answer(job, pose_index(job, i)), NULL);
        drawing_skeleton(p, job->model, kinematics, job->is_path ? 5 : 7, bone, joint);
        draw_gaze(p, job, kinematics, pose_index(job, i), far);
    }
}

static bool aim_save_picture(const aim_job *job, const char *name)
{
    poise_kinematics *kinematics;
    char caption[160];
    double largest = 0;
    int missed = 0;
    for (int i = 0; i < job->path.count; ++i) {
        largest = fmax(largest, job->results[i].made.angle);
        missed += !job->results[i].made.faces;
    }
    snprintf(caption, sizeof caption, "%s, %d target%s, %.3f degrees left at most; pale: the posture%s", job->method,
             job->path.count, job->path.count == 1 ? "" : "s", largest * DEGREES_PER_RADIAN,
             missed > 0 ? "; red: asked for and missed" : "");
    picture *p = begin_picture(SKELETON_WIDTH, SKELETON_HEIGHT, "Holding a posture, facing a target", caption, job->model,
                               &kinematics);
    draw(p, job, kinematics);
    return save_picture(p, kinematics, name);
}

// ---- What the command aim found: tables, JSON, motions -------------------------------------------------------------------

#define DEGREES DEGREES_PER_RADIAN

// Means and worst of the steps of a path.
typedef struct summary {
    int reached, within, jumps, violations, worst;
    double angle, largest_angle, orientation, posture, error, largest_error, shape, iterations;
    latency time;
} summary;

static summary sum_up(const aim_job *job)
{
    summary s = {0};
    double n = job->path.count;
    for (int i = 0; i < job->path.count; ++i) {
        const aim_result *r = &job->results[i];
        s.reached += r->made.faces;
        s.within += r->made.within;
        s.jumps += job->jumped[i];
        s.violations += !r->made.limits_hold;
        s.worst = r->made.error > job->results[s.worst].made.error ? i : s.worst;
        s.angle += r->made.angle / n;
        s.orientation += r->made.orientation / n;
        s.posture += r->made.posture / n;
        s.error += r->made.error / n;
        s.shape += r->made.shape / n;
        s.iterations += r->made.iterations / n;
        s.largest_angle = fmax(s.largest_angle, r->made.angle);
        s.largest_error = fmax(s.largest_error, r->made.error);
        latency_add(&s.time, r->seconds);
    }
    return s;
}

// ---- Text ----------------------------------------------------------------------------------------------------------------

static void describe_target(const poise_aim_target *t, char *text, size_t size)
{
    static const char *const names[] = {"orientation", "direction", "point"};
    if (t->kind == POISE_AIM_ORIENTATION) {
        snprintf(text, size, "orientation %.4g %.4g %.4g %.4g", t->rotation.x, t->rotation.y, t->rotation.z, t->rotation.w);
    } else {
        snprintf(text, size, "%s %.4g %.4g %.4g", names[t->kind], t->vector.x, t->vector.y, t->vector.z);
    }
}

// "scene:lamp: light faces direction 1 0 1, holding curious"
static void print_title(const aim_job *job)
{
    char target[96];
    describe_target(job->path.targets, target, sizeof target);
    if (job->is_path) {
        snprintf(target, sizeof target, "%d targets", job->path.count);
    }
    printf("%s: %s faces %s, holding %s\n", job->file_name, job->end.name, target, job->posture_name);
}

static void print_joints(const aim_job *job)
{
    table *t = table_create("joint\t>posture\t>answer\t>change\tlimit");
    const double *lower = poise_model_info(job->model).lower, *upper = poise_model_info(job->model).upper;
    for (int i = 0; i < poise_model_info(job->model).nq; ++i) {
        char name[96];
        poise_unit unit = poise_model_coordinate(job->model, i).unit;
        coordinate_label(job->model, i, name, sizeof name);
        double p = value_for_people(unit, job->posture[i]), q = value_for_people(unit, job->q[i]);
        table_row(t, "%s\t%.2f\t%.2f\t%+.2f\t%s", name, p, q, q - p,
                  job->q[i] <= lower[i]   ? "at the lower"
                  : job->q[i] >= upper[i] ? "at the upper"
                                          : "");
    }
    table_end(t, stdout);
}

static void print_errors(const aim_result *r)
{
    printf("  off target   %.4f degrees (error %.4f)\n", r->made.angle * DEGREES, r->made.orientation);
    printf("  posture      error %.4f", r->made.posture);
    if (isfinite(r->made.shape)) {
        printf(", bends turned by %.2f degrees on average", r->made.shape * DEGREES);
    }
    printf("\n  combined     %.4f\n", r->made.error);
}

static void print_path(const aim_job *job)
{
    summary s = sum_up(job);
    printf("  reached      %d of %d targets\n", s.reached, job->path.count);
    printf("  off target   %.4f degrees mean, %.4f largest\n", s.angle * DEGREES, s.largest_angle * DEGREES);
    printf("  posture      error %.4f mean", s.posture);
    if (isfinite(s.shape)) {
        printf(", bends turned by %.2f degrees on average", s.shape * DEGREES);
    }
    printf("\n  combined     %.4f mean, %.4f largest, at step %d\n", s.error, s.largest_error, s.worst);
    printf("  jumps        %d of %d steps move a joint by more than 20 degrees\n", s.jumps, job->path.count - 1);
    printf("  limits       %s\n", s.violations > 0 ? "BROKEN" : "hold everywhere");
    printf("  time         %.0f us a step at the median, %.0f us p99\n", latency_quantile(&s.time, 0.5) * 1e6,
           latency_quantile(&s.time, 0.99) * 1e6);
}

static bool aim_print_text(const aim_job *job)
{
    const aim_result *r = job->results;
    print_title(job);
    printf("  method       %s\n", job->method);
    if (job->is_path) {
        print_path(job);
        return true;
    }
    printf("  outcome      %s%s%s\n", style_code(r->made.faces ? STYLE_GOOD : STYLE_BAD), r->outcome,
           style_code(STYLE_PLAIN));
    print_errors(r);
    printf("\n");
    print_joints(job);
    return true;
}

// ---- JSON ----------------------------------------------------------------------------------------------------------------

static json_node *target_as_json(const poise_aim_target *t)
{
    static const char *const names[] = {"orientation", "direction", "at"};
    return json_make("{s:o}", names[t->kind],
                     t->kind == POISE_AIM_ORIENTATION ? json_from_quat(t->rotation) : json_from_vec3(t->vector));
}

// A configuration and the model that it is of.
typedef struct configuration {
    const poise_model *model;
    const double *q;
} configuration;

static int side_of_limit(const void *user, int i)
{
    const configuration *c = user;
    return c->q[i] <= poise_model_info(c->model).lower[i] ? -1 : c->q[i] >= poise_model_info(c->model).upper[i];
}

static void put_result(json_node *o, const aim_job *job, int i)
{
    const aim_result *r = &job->results[i];
    int nq = poise_model_info(job->model).nq;
    configuration c = {job->model, job->q + (size_t)i * (size_t)nq};
    json_set(o, "target", target_as_json(&job->path.targets[i]));
    json_set(o, "outcome", json_from_text(r->outcome));
    json_set(o, "within_threshold", json_from_bool(r->made.within));
    json_set(o, "iterations", json_from_integer(r->made.iterations));
    json_set(o, "q", json_from_numbers(c.q, nq));
    json_set(o, "angle", json_from_number(r->made.angle));
    json_set(o, "orientation_error", json_from_number(r->made.orientation));
    json_set(o, "posture_error", json_from_number(r->made.posture));
    json_set(o, "combined_error", json_from_number(r->made.error));
    json_set(o, "shape", json_from_number(r->made.shape));
    json_set(o, "active_limits", json_from_limits(job->model, side_of_limit, &c));
    json_set(o, "limits_hold", json_from_bool(r->made.limits_hold));
}

static json_node *summary_as_json(const aim_job *job)
{
    summary s = sum_up(job);
    return json_make("{s:i, s:i, s:i, s:i, s:i, s:{s:o, s:o}, s:o, s:o, s:{s:o, s:o}, s:o, s:{s:o}, s:o}", "steps",
                     job->path.count, "reached", s.reached, "within_threshold", s.within, "jumps", s.jumps,
                     "limit_violations", s.violations, "angle", "mean", json_from_number(s.angle), "max",
                     json_from_number(s.largest_angle), "orientation_error", json_from_number(s.orientation),
                     "posture_error", json_from_number(s.posture), "combined_error", "mean", json_from_number(s.error),
                     "max", json_from_number(s.largest_error), "shape", json_from_number(s.shape), "iterations", "mean",
                     json_from_number(s.iterations), "us_per_step", json_from_times(&s.time));
}

static json_node *begin_json(const aim_job *job)
{
    return json_make("{s:o, s:o, s:o}", "model", json_from_text(job->file_name), "end", json_from_text(job->end.name),
                     "posture", json_from_numbers(job->posture, poise_model_info(job->model).nq));
}

static bool aim_print_json(const aim_job *job)
{
    json_node *o = begin_json(job);
    json_set(o, "method", json_from_text(job->method));
    if (!job->is_path) {
        put_result(o, job, 0);
        return json_print(o);
    }
    json_node *sums = summary_as_json(job), *steps = json_new(JSON_ARRAY);
    for (int i = 0; i < job->path.count; ++i) {
        json_node *step = json_new(JSON_OBJECT);
        put_result(step, job, i);
        json_set(step, "jump", json_from_bool(job->jumped[i]));
        json_append(steps, step);
    }
    json_set(sums, "steps", steps);
    json_set(sums, "frames", json_from_integer(job->path.count));
    json_merge(o, sums);
    return json_print(o);
}

// ---- Comparison ----------------------------------------------------------------------------------------------------------

struct aim_comparison {
    bool warned;
    table *table;           // for people, or
    json_node *root, *list; // for machines
};

aim_comparison *aim_comparison_create(const aim_job *job, bool json)
{
    aim_comparison *c = needed(calloc(1, sizeof *c));
    if (json) {
        c->root = begin_json(job);
        c->list = json_new(JSON_ARRAY);
        return c;
    }
    print_title(job);
    putchar('\n');
    c->table = table_create(job->is_path ? "method\t>faced\t>degrees\t>posture\t>combined\t>shape\t>jumps\t>steps\t>us"
                                         : "method\toutcome\t>degrees\t>posture\t>combined\t>shape\t>steps\t>us");
    return c;
}

static void add_row(table *t, const aim_job *job, const summary *s, const char *method)
{
    char shape[32] = "-", reached[32], jumps[16] = "";
    if (isfinite(s->shape)) {
        snprintf(shape, sizeof shape, "%.2f", s->shape * DEGREES);
    }
    snprintf(reached, sizeof reached, "%d", s->reached);
    if (job->is_path) {
        snprintf(jumps, sizeof jumps, "%d\t", s->jumps);
    }
    table_row(t, "%s\t%s\t%.4f\t%.4f\t%.4f\t%s\t%s%.0f\t%.0f", method, job->is_path ? reached : job->results->outcome,
              s->angle * DEGREES, s->posture, s->error, shape, jumps, s->iterations, latency_mean(&s->time) * 1e6);
}

void aim_comparison_add(aim_comparison *c, const aim_job *job, const char *method, const char *reason)
{
    summary s = reason ? (summary){0} : sum_up(job);
    if (c->list) {
        json_node *row = reason ? json_make("{s:s}", "reason", reason) : summary_as_json(job);
        json_set(row, "method", json_from_text(method));
        json_append(c->list, row);
    } else if (reason) {
        table_row(c->table, "%s\tnot here", method);
        if (!c->warned) {
            warn("%s: %s", method, reason); // the others of the paper have the same one
        }
        c->warned = true;
    } else {
        add_row(c->table, job, &s, method);
    }
}

bool aim_comparison_end(aim_comparison *c)
{
    bool works = true;
    if (c->list) {
        json_set(c->root, "methods", c->list);
        works = json_print(c->root);
    } else {
        table_end(c->table, stdout);
        printf(
            "\ndegrees: off target; combined: that as an error, and 0.2 of the posture's;\nshape: mean turn of the bends, "
            "degrees; steps of expressive: evaluations\n");
    }
    free(c);
    return works;
}

// ---- Motion --------------------------------------------------------------------------------------------------------------

// The answers as frames, `rate` for each second.
static bool aim_save_motion(const aim_job *job, const char *name, double rate)
{
    int nq = poise_model_info(job->model).nq;
    poise_clip *clip = NULL;
    need(poise_clip_create(job->path.count, nq, 1 / rate, NULL, &clip, NULL) == POISE_OK);
    memcpy(clip->q, job->q, (size_t)job->path.count * (size_t)nq * sizeof *clip->q);
    poise_file file = *job->file;
    file.clip = clip;
    file.motion = "aim";
    file.markers = NULL;
    bool works = save_motion(name, &file);
    poise_clip_destroy(clip);
    return works;
}

// ---- poise aim: hold a posture while the end faces something -------------------------------------------------------------

// ---- The job -------------------------------------------------------------------------------------------------------------

static bool read_settings(const arguments *args, aim_job *job)
{
    const char *method = option_text(args, "method", "expressive");
    job->settings = aim_settings_default(&job->end, &job->path);
    aim_holds holds;
    if (!aim_read_holds(args, job->model, &holds)) {
        return false;
    }
    aim_settings_hold(&job->settings, &holds);
    job->settings.method = strcmp(method, "erik") == 0       ? AIM_ERIK
                           : strcmp(method, "two-task") == 0 ? AIM_TWO_TASK
                                                             : AIM_EXPRESSIVE;
    bool shape = strcmp(option_text(args, "mode", "shape"), "shape") == 0;
    job->settings.aim.expressive.mode = shape ? POISE_EXPRESSIVE_SHAPE : POISE_EXPRESSIVE_METRIC;
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
static bool solve_path(aim_job *job, poise_aim *solver)
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
        job->jumped[i] = i > 0 && poise_aim_has_jumped(job->model, q - nq, q);
    }
    return true;
}

static app_exit status_of(const aim_job *job)
{
    for (int i = 0; i < job->path.count; ++i) {
        if (!job->results[i].made.faces) {
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
    poise_aim *solver =
        job->settings.method != AIM_EXPRESSIVE ? aim_create(job->model, job->end.name, &settings, NULL) : NULL;
    double *q = needed(calloc((size_t)poise_model_info(job->model).nq + 1, sizeof *q));
    int missed = 0, reached = 0;
    for (int i = 0; solver && i < job->path.count; ++i) {
        aim_result r;
        if (!job->results[i].made.faces) {
            missed += 1;
            reached += aim_solve(solver, &job->path.targets[i], job->posture, false, q, &r) && r.made.faces;
        }
    }
    if (reached > 0 && job->path.count == 1) {
        warn("%s misses this target; --method expressive reaches it", job->method);
    } else if (reached > 0) {
        warn("%s misses %d of %d targets; --method expressive reaches %d of those", job->method, missed, job->path.count,
             reached);
    }
    free(q);
    poise_aim_destroy(solver);
}

// Solve with the method that was asked for, write what was asked for, print.
static app_exit run_one(const arguments *args, aim_job *job)
{
    poise_aim *solver = aim_create(job->model, job->end.name, &job->settings, NULL);
    bool works = solver && solve_path(job, solver);
    poise_aim_destroy(solver);
    const char *output = option_text(args, "output", NULL), *drawing = option_text(args, "picture", NULL);
    works = works && (!output || aim_save_motion(job, output, option_number(args, "rate", 30)));
    works = works && (!drawing || aim_save_picture(job, drawing));
    works = works && (arguments_json(args) ? aim_print_json(job) : aim_print_text(job));
    if (works && !arguments_json(args)) {
        print_written((const char *[]){output, drawing}, 2, stdout);
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
        settings.aim.expressive.mode = methods[i].mode;
        settings.two_task.max_iterations = methods[i].steps > 0 ? methods[i].steps : settings.two_task.max_iterations;
        poise_aim *solver = aim_create(job->model, job->end.name, &settings, reason);
        works = !solver || solve_path(job, solver);
        if (works) {
            aim_comparison_add(comparison, job, methods[i].name, solver ? NULL : reason);
        }
        poise_aim_destroy(solver);
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
    static const aim_option facing[3] = {
        {"orientation", POISE_AIM_ORIENTATION}, {"direction", POISE_AIM_DIRECTION}, {"at", POISE_AIM_POINT}};
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

// ---- poise warp: an animation whose end faces something ------------------------------------------------------------------

#define CMD_WARP_DEGREES DEGREES_PER_RADIAN

typedef struct warp {
    const poise_model *model;
    double metres;    // for each unit of its lengths; 0: unknown
    poise_clip *clip; // what is played, at the rate of the output
    poise_clip *out;
    aim_end end;
    aim_path path;
    aim_settings settings;
    smoother *smoother;
    poise_aim *solver;
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
    poise_aim_target target = aim_path_at(&w->path, share);
    aim_result r;
    double begin = cpu_seconds_now();
    bool solved = aim_solve(w->solver, &target, posture, frame > 0, answer, &r);
    if (frame == 0) {
        smoother_reset(w->smoother, answer);
    }
    smoother_step(w->smoother, answer, w->clip->frame_time, q);
    latency_add(&f->time, cpu_seconds_now() - begin);
    double shown = poise_aim_angle(w->solver, &target, q) * CMD_WARP_DEGREES;
    f->reached += solved && r.made.faces;
    f->kept += sqrt(2) * sin(shown / CMD_WARP_DEGREES / 4) <= w->settings.aim.erik.threshold;
    f->violations += !poise_model_within_limits(w->model, q);
    f->answer += r.made.angle * CMD_WARP_DEGREES / w->clip->frames;
    f->largest_answer = fmax(f->largest_answer, r.made.angle * CMD_WARP_DEGREES);
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
        f->jumps += i > 0 && poise_aim_has_jumped(w->model, before, answer);
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
    aim_holds holds;
    if (!aim_read_holds(args, w->model, &holds)) {
        return false;
    }
    aim_settings_hold(&w->settings, &holds);
    w->settings.method = strcmp(option_text(args, "method", "expressive"), "erik") == 0 ? AIM_ERIK : AIM_EXPRESSIVE;
    bool metric = strcmp(option_text(args, "mode", "shape"), "metric") == 0;
    w->settings.aim.expressive.mode = metric ? POISE_EXPRESSIVE_METRIC : POISE_EXPRESSIVE_SHAPE;
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
    w->solver = w->smoother ? aim_create(w->model, w->end.name, &w->settings, NULL) : NULL;
    return w->solver != NULL;
}

static void release_parts(warp *w)
{
    poise_aim_destroy(w->solver);
    smoother_destroy(w->smoother);
    poise_clip_destroy(w->clip);
    poise_clip_destroy(w->out);
    free(w->path.targets);
}

static app_exit run_warp(const arguments *args, const poise_file *model, const poise_file *motion)
{
    static const aim_option facing[3] = {
        {"at", POISE_AIM_POINT}, {"direction", POISE_AIM_DIRECTION}, {"orientation", POISE_AIM_ORIENTATION}};
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

static app_exit cmd_warp_run(const arguments *args)
{
    poise_file *model = load_model(arguments_at(args, 0), NULL);
    poise_file *motion = model ? load_motion_for(arguments_at(args, 1), NULL, model, arguments_at(args, 0)) : NULL;
    app_exit status = motion ? run_warp(args, model, motion) : APP_BAD;
    poise_file_destroy(motion);
    poise_file_destroy(model);
    return status;
}

static const app_option cmd_warp_options[] = {
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

static const app_example cmd_warp_examples[] = {
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
        "range. If a skeleton's unit of length is unknown, its size counts as one metre. \"nutty\" is the filter of Ribeiro "
        "& Paiva (eq. 23), which oscillates and creeps; the speed that it reaches falls with the rate, as printed: 1.12 "
        "rad/s at 30 frames a second, 0.14 at 1000, where the limit is 2. \"optimal\" holds the limits and reaches them at "
        "any rate. A free root is not a motor: it is filtered only if named, as in root.velocity=2.\n\n"
        "Prints the remaining angle, jumps, broken limits (there are none) and the time per frame beside the time "
        "available. The exit status is 1 if a frame misses its target, before or after the filter.",
    .options = cmd_warp_options,
    .examples = cmd_warp_examples,
    .run = cmd_warp_run,
};
