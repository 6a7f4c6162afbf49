// What the command aim found: tables, JSON, motions.
#include "aim_print.h"

#include "cli/json.h"
#include "cli/latency.h"
#include "cli/load.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "cli/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        s.reached += r->faces;
        s.within += r->within;
        s.jumps += job->jumped[i];
        s.violations += !r->limits_hold;
        s.worst = r->error > job->results[s.worst].error ? i : s.worst;
        s.angle += r->angle / n;
        s.orientation += r->orientation / n;
        s.posture += r->posture / n;
        s.error += r->error / n;
        s.shape += r->shape / n;
        s.iterations += r->iterations / n;
        s.largest_angle = fmax(s.largest_angle, r->angle);
        s.largest_error = fmax(s.largest_error, r->error);
        latency_add(&s.time, r->seconds);
    }
    return s;
}

// ---- Text ----------------------------------------------------------------------------------------------------------------

static void describe_target(const aim_target *t, char *text, size_t size)
{
    static const char *const names[] = {"orientation", "direction", "point"};
    if (t->kind == AIM_ORIENTATION) {
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
    printf("  off target   %.4f degrees (error %.4f)\n", r->angle * DEGREES, r->orientation);
    printf("  posture      error %.4f", r->posture);
    if (isfinite(r->shape)) {
        printf(", bends turned by %.2f degrees on average", r->shape * DEGREES);
    }
    printf("\n  combined     %.4f\n", r->error);
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

bool aim_print_text(const aim_job *job)
{
    const aim_result *r = job->results;
    print_title(job);
    printf("  method       %s\n", job->method);
    if (job->is_path) {
        print_path(job);
        return true;
    }
    printf("  outcome      %s%s%s\n", style_code(r->faces ? STYLE_GOOD : STYLE_BAD), r->outcome, style_code(STYLE_PLAIN));
    print_errors(r);
    printf("\n");
    print_joints(job);
    return true;
}

// ---- JSON ----------------------------------------------------------------------------------------------------------------

static json_node *target_as_json(const aim_target *t)
{
    static const char *const names[] = {"orientation", "direction", "at"};
    return json_make("{s:o}", names[t->kind],
                     t->kind == AIM_ORIENTATION ? json_from_quat(t->rotation) : json_from_vec3(t->vector));
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
    json_set(o, "within_threshold", json_from_bool(r->within));
    json_set(o, "iterations", json_from_integer(r->iterations));
    json_set(o, "q", json_from_numbers(c.q, nq));
    json_set(o, "angle", json_from_number(r->angle));
    json_set(o, "orientation_error", json_from_number(r->orientation));
    json_set(o, "posture_error", json_from_number(r->posture));
    json_set(o, "combined_error", json_from_number(r->error));
    json_set(o, "shape", json_from_number(r->shape));
    json_set(o, "active_limits", json_from_limits(job->model, side_of_limit, &c));
    json_set(o, "limits_hold", json_from_bool(r->limits_hold));
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

bool aim_print_json(const aim_job *job)
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

bool aim_save_motion(const aim_job *job, const char *name, double rate)
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
