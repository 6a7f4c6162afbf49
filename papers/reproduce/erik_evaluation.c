#include "erik_evaluation.h"

#include <papers/plain/two_task.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Tables 8 and 9.
static const evaluate_skeleton skeletons[EVALUATE_SKELETONS] = {
    {'A',
     "erik-a",
     10,
     {.postures = 33,
      .samples = 251097,
      .iterations = 4.14,
      .iterations_deviation = 2.17,
      .iterations_most = 7,
      .milliseconds = 45,
      .least_milliseconds = 6,
      .most_milliseconds = 126,
      .milliseconds_deviation = 28}},
    {'B',
     "erik-b",
     10,
     {.postures = 377,
      .samples = 2868593,
      .iterations = 3.42,
      .iterations_deviation = 2.19,
      .iterations_most = 10,
      .milliseconds = 45,
      .least_milliseconds = 8,
      .most_milliseconds = 189,
      .milliseconds_deviation = 30}},
    {'C',
     "erik-c",
     10,
     {.postures = 3789,
      .samples = 28830501,
      .iterations = 2.31,
      .iterations_deviation = 2.08,
      .iterations_most = 12,
      .milliseconds = 37,
      .least_milliseconds = 6,
      .most_milliseconds = 1165,
      .milliseconds_deviation = 36,
      .error = 0.026614,
      .error_deviation = 0.021258,
      .orientation = 0.005819,
      .orientation_deviation = 0.009977,
      .posture = 0.020795,
      .posture_deviation = 0.021520}},
    {'D',
     "erik-d",
     10,
     {.postures = 3789,
      .samples = 28830501,
      .iterations = 2.02,
      .iterations_deviation = 1.67,
      .iterations_most = 13,
      .milliseconds = 36,
      .least_milliseconds = 10,
      .most_milliseconds = 458,
      .milliseconds_deviation = 30}},
    {'E',
     "erik-e",
     10,
     {.postures = 3789,
      .samples = 28830501,
      .iterations = 1.93,
      .iterations_deviation = 1.78,
      .iterations_most = 12,
      .milliseconds = 28,
      .least_milliseconds = 6,
      .most_milliseconds = 225,
      .milliseconds_deviation = 27}},
    {'F',
     "erik-f",
     7,
     {.postures = 8305,
      .samples = 63192745,
      .iterations = 1.61,
      .iterations_deviation = 1.46,
      .iterations_most = 13,
      .milliseconds = 35,
      .least_milliseconds = 13,
      .most_milliseconds = 368,
      .milliseconds_deviation = 35}},
    {'G',
     "erik-g",
     4,
     {.postures = 19657,
      .samples = 149570113,
      .iterations = 1.35,
      .iterations_deviation = 1.02,
      .iterations_most = 11,
      .milliseconds = 74,
      .least_milliseconds = 22,
      .most_milliseconds = 759,
      .milliseconds_deviation = 63}},
};

static const struct {
    int max_iterations;
    evaluate_printed printed;
} two_tasks[] = {
    {100,
     {.postures = 3789,
      .samples = 20561499,
      .iterations = 63,
      .iterations_deviation = 43.6,
      .iterations_most = 100,
      .milliseconds = 167,
      .least_milliseconds = 1.60,
      .most_milliseconds = 2112,
      .milliseconds_deviation = 121,
      .error = 0.087067,
      .error_deviation = 0.086930,
      .orientation = 0.052744,
      .orientation_deviation = 0.085997,
      .posture = 0.034323,
      .posture_deviation = 0.020593}},
    {200,
     {.postures = 3789,
      .samples = 20561499,
      .iterations = 120,
      .iterations_deviation = 92.8,
      .iterations_most = 200,
      .milliseconds = 298,
      .least_milliseconds = 1.57,
      .most_milliseconds = 3822,
      .milliseconds_deviation = 240,
      .error = 0.086973,
      .error_deviation = 0.086897,
      .orientation = 0.052652,
      .orientation_deviation = 0.085980,
      .posture = 0.034321,
      .posture_deviation = 0.020591}},
    {400,
     {.postures = 3789,
      .samples = 20561499,
      .iterations = 234,
      .iterations_deviation = 191.6,
      .iterations_most = 400,
      .milliseconds = 678,
      .least_milliseconds = 1.55,
      .most_milliseconds = 7520,
      .milliseconds_deviation = 570,
      .error = 0.086831,
      .error_deviation = 0.086581,
      .orientation = 0.052523,
      .orientation_deviation = 0.085669,
      .posture = 0.034308,
      .posture_deviation = 0.020579}},
};

const evaluate_skeleton *evaluate_skeleton_at(int index)
{
    return index >= 0 && index < EVALUATE_SKELETONS ? &skeletons[index] : NULL;
}

const evaluate_printed *evaluate_printed_two_task(int max_iterations)
{
    for (size_t i = 0; i < sizeof two_tasks / sizeof two_tasks[0]; ++i) {
        if (two_tasks[i].max_iterations == max_iterations) {
            return &two_tasks[i].printed;
        }
    }
    return NULL;
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

// The joints that postures differ in, and the scene's own end.
static poise_status find_joints(evaluate_problem *p)
{
    int tip = poise_model_find_tool(p->model, "tip");
    poise_erik *erik;
    p->options.body = poise_model_tool_info(p->model, tip).body;
    p->options.tip = poise_model_tool_info(p->model, tip).pose;
    poise_status status = poise_erik_create(p->model, &p->options, NULL, &erik, NULL);
    if (status != POISE_OK) {
        return status;
    }
    int n = poise_erik_joints(erik).count;
    for (int i = 0; i < n && p->swept < EVALUATE_MOST_DIMENSIONS; ++i) {
        bool is_at_end = i == 0 || i == n - 1;
        if (!(is_at_end && poise_erik_joints(erik).links[i].is_twister)) {
            p->joints[p->swept++] = poise_model_joint_info(p->model, poise_erik_joints(erik).links[i].index).q;
        }
    }
    poise_erik_destroy(erik);
    return POISE_OK;
}

static bool make_orientations(evaluate_problem *p, int finest)
{
    size_t count = (size_t)evaluate_grid_count(3, finest);
    unsigned char *points = malloc(count * 4), *denominators = points ? points + count * 3 : NULL;
    p->orientations = malloc(count * sizeof *p->orientations);
    if (!points || !p->orientations) {
        free(points);
        return false;
    }
    evaluate_grid_points(3, finest, points, denominators);
    for (size_t i = 0; i < count; ++i) {
        p->orientations[i] = evaluate_orientation(p->angles, points + 3 * i, denominators[i]);
    }
    p->orientation_count = (int64_t)count;
    free(points);
    return true;
}

static bool make_postures(evaluate_problem *p)
{
    size_t count = (size_t)evaluate_grid_count(p->swept, p->skeleton->finest), d = (size_t)p->swept;
    p->postures = malloc(count * d);
    p->posture_denominators = malloc(count);
    if (!p->postures || !p->posture_denominators) {
        return false;
    }
    evaluate_grid_points(p->swept, p->skeleton->finest, p->postures, p->posture_denominators);
    p->posture_count = (int64_t)count;
    return true;
}

poise_status evaluate_problem_create(int skeleton, const poise_erik_options *options, evaluate_angles angles,
                                     int orientation_finest, evaluate_problem **problem)
{
    const evaluate_skeleton *s = evaluate_skeleton_at(skeleton);
    if (!s || !options || orientation_finest < 1 || orientation_finest > 255 || !problem) {
        return POISE_ERROR_ARGUMENT;
    }
    evaluate_problem *p = calloc(1, sizeof *p);
    if (!p) {
        return POISE_ERROR_MEMORY;
    }
    p->skeleton = s;
    p->options = *options;
    p->angles = angles;
    poise_status status = scene_create(s->scene, NULL, &p->model, NULL);
    status = status == POISE_OK ? find_joints(p) : status;
    if (status == POISE_OK && !(make_postures(p) && make_orientations(p, orientation_finest))) {
        status = POISE_ERROR_MEMORY;
    }
    if (status != POISE_OK) {
        evaluate_problem_destroy(p);
        return status;
    }
    *problem = p;
    return POISE_OK;
}

void evaluate_problem_destroy(evaluate_problem *problem)
{
    if (problem) {
        poise_model_destroy(problem->model);
        free(problem->postures);
        free(problem->posture_denominators);
        free(problem->orientations);
        free(problem);
    }
}

void evaluate_posture(const evaluate_problem *problem, int64_t index, double *q)
{
    const unsigned char *point = problem->postures + index * problem->swept;
    const double *lower = poise_model_info(problem->model).lower, *upper = poise_model_info(problem->model).upper;
    int denominator = problem->posture_denominators[index];
    poise_model_neutral(problem->model, q);
    for (int i = 0; i < problem->swept; ++i) {
        int j = problem->joints[i];
        // the bounds themselves come out exactly
        q[j] = (lower[j] * (denominator - point[i]) + upper[j] * point[i]) / denominator;
    }
}

// ---- Runs ----------------------------------------------------------------------------------------------------------------

evaluate_results evaluate_results_make(void)
{
    return (evaluate_results){.error = evaluate_statistics_make(0.2),
                              .orientation = evaluate_statistics_make(0.2),
                              .posture = evaluate_statistics_make(0.2),
                              .iterations = evaluate_statistics_make(100.0),
                              .time = evaluate_statistics_make(100.0)};
}

void evaluate_results_merge(evaluate_results *results, const evaluate_results *other)
{
    evaluate_statistics_merge(&results->error, &other->error);
    evaluate_statistics_merge(&results->orientation, &other->orientation);
    evaluate_statistics_merge(&results->posture, &other->posture);
    evaluate_statistics_merge(&results->iterations, &other->iterations);
    evaluate_statistics_merge(&results->time, &other->time);
    results->reached += other->reached;
    results->aimed += other->aimed;
    results->violations += other->violations;
    results->left_out += other->left_out;
}

static void solve(const evaluate_run *run, evaluate_solver solver, poise_erik *erik, const double *posture,
                  poise_quat target, double *q, poise_erik_report *report)
{
    if (solver == EVALUATE_ERIK) {
        poise_erik_solve(erik, posture, target, q, report, NULL);
        return;
    }
    two_task_options options = two_task_options_default();
    options.max_iterations = run->max_iterations;
    options.correct_flip = run->correct_flip;
    options.flip_as_printed = run->as_printed;
    options.use_posture = solver == EVALUATE_TWO_TASK;
    two_task_solve(erik, &options, posture, target, q, report);
}

// Add a sample that was solved: what is said of its answer q, and its time in microseconds.
static void evaluate_add(const evaluate_problem *problem, const poise_erik_report *report, const double *q, double time,
                         evaluate_results *results)
{
    evaluate_statistics_add(&results->error, report->error);
    evaluate_statistics_add(&results->orientation, report->orientation);
    evaluate_statistics_add(&results->posture, problem->options.posture_weight * report->posture);
    evaluate_statistics_add(&results->iterations, report->iterations);
    evaluate_statistics_add(&results->time, time);
    results->reached += report->error <= problem->options.threshold;
    results->aimed += report->orientation <= problem->options.threshold;
    results->violations += !poise_model_within_limits(problem->model, q);
}

void evaluate_sample(const evaluate_problem *problem, const evaluate_run *run, poise_erik *erik, int64_t posture,
                     int64_t orientation, double *q, evaluate_results *results)
{
    double psi[EVALUATE_MOST_DIMENSIONS + 2];
    poise_quat target = problem->orientations[orientation];
    poise_erik_report report;
    evaluate_posture(problem, posture, psi);
    memcpy(q, psi, (size_t)poise_model_info(problem->model).nq * sizeof *q);
    if (run->filter > 0.0) {
        evaluate_run first = *run;
        first.max_iterations = 100; // the filter is that of the shortest run
        solve(&first, EVALUATE_TWO_TASK_NO_POSTURE, erik, psi, target, q, &report);
        if (report.orientation > run->filter) {
            results->left_out += 1;
            return;
        }
    }
    double begin = run->now ? run->now() : 0.0;
    solve(run, run->solver, erik, psi, target, q, &report);
    double time = run->now ? run->now() - begin : 0.0;
    evaluate_add(problem, &report, q, time * 1e-3, results);
}

// The finaliser of splitmix64 (Steele, Lea & Flood 2014).
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void evaluate_draw(const evaluate_problem *problem, uint64_t seed, int64_t index, int64_t *posture, int64_t *orientation)
{
    uint64_t bits = mix(seed * 0x9e3779b97f4a7c15u + (uint64_t)index + 1);
    *posture = index % problem->posture_count;
    *orientation = (int64_t)(bits % (uint64_t)problem->orientation_count);
}

int64_t evaluate_range_count(const evaluate_range *range)
{
    return (range->to - range->from) * (range->is_whole ? range->problem->orientation_count : 1);
}

void evaluate_range_at(const evaluate_range *range, int64_t index, int64_t *posture, int64_t *orientation)
{
    if (range->is_whole) {
        *posture = range->from + index / range->problem->orientation_count;
        *orientation = index % range->problem->orientation_count;
    } else {
        evaluate_draw(range->problem, range->seed, (range->from + index) * range->stride, posture, orientation);
    }
}

// ---- Sets of postures and orientations -----------------------------------------------------------------------------------

#define PI 3.14159265358979323846

static int common_divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// The Moebius function.
static int moebius(int n)
{
    int sign = 1;
    for (int p = 2; p <= n; ++p) {
        if (n % p == 0) {
            n /= p;
            if (n % p == 0) {
                return 0;
            }
            sign = -sign;
        }
    }
    return sign;
}

int64_t evaluate_grid_count(int dimensions, int finest)
{
    int64_t count = 0;
    for (int q = 1; q <= finest; ++q) {
        for (int g = 1; g <= q; ++g) {
            if (q % g != 0) {
                continue;
            }
            int64_t points = 1;
            for (int i = 0; i < dimensions; ++i) {
                points *= q / g + 1;
            }
            count += moebius(g) * points;
        }
    }
    return count;
}

// A point of the grid q is in a coarser one when its numerators and q share a divisor.
static bool is_new(const unsigned char *point, int dimensions, int q)
{
    int divisor = q;
    for (int i = 0; i < dimensions; ++i) {
        divisor = common_divisor(divisor, point[i]);
    }
    return divisor == 1;
}

// The next point of the grid q as the digits of a number; false after the last.
static bool advance(unsigned char *point, int dimensions, int q)
{
    for (int i = dimensions - 1; i >= 0; --i) {
        if (point[i] < q) {
            point[i] = (unsigned char)(point[i] + 1);
            return true;
        }
        point[i] = 0;
    }
    return false;
}

void evaluate_grid_points(int dimensions, int finest, unsigned char *points, unsigned char *denominators)
{
    for (int q = 1; q <= finest; ++q) {
        unsigned char point[EVALUATE_MOST_DIMENSIONS] = {0};
        do {
            if (is_new(point, dimensions, q)) {
                for (int i = 0; i < dimensions; ++i) {
                    *points++ = point[i];
                }
                *denominators++ = (unsigned char)q;
            }
        } while (advance(point, dimensions, q));
    }
}

poise_quat evaluate_orientation(evaluate_angles angles, const unsigned char point[3], int denominator)
{
    double a[3];
    for (int i = 0; i < 3; ++i) {
        a[i] = PI * (2.0 * point[i] / denominator - 1.0);
    }
    poise_quat yaw = poise_quat_from_axis_angle(poise_vec3_make(0, 1, 0), a[0]);
    poise_quat pitch = poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), a[1]);
    poise_vec3 roll_axis = angles == EVALUATE_YXZ ? poise_vec3_make(0, 0, 1) : poise_vec3_make(0, 1, 0);
    poise_quat roll = poise_quat_from_axis_angle(roll_axis, a[2]);
    return poise_quat_multiply(poise_quat_multiply(yaw, pitch), roll);
}

// ---- Statistics ----------------------------------------------------------------------------------------------------------

evaluate_statistics evaluate_statistics_make(double top)
{
    return (evaluate_statistics){.width = top / EVALUATE_BINS, .least = HUGE_VAL, .most = -HUGE_VAL};
}

void evaluate_statistics_add(evaluate_statistics *s, double x)
{
    double from_mean = x - s->mean, place = x / s->width;
    s->count += 1;
    s->mean += from_mean / (double)s->count;
    s->squares += from_mean * (x - s->mean);
    s->least = x < s->least ? x : s->least;
    s->most = x > s->most ? x : s->most;
    s->bins[place < 0.0 ? 0 : place < EVALUATE_BINS ? (int)place : EVALUATE_BINS] += 1;
}

void evaluate_statistics_merge(evaluate_statistics *s, const evaluate_statistics *other)
{
    if (other->count == 0) {
        return;
    }
    double na = (double)s->count, nb = (double)other->count, between = other->mean - s->mean;
    s->count += other->count;
    s->mean += between * (nb / (na + nb));
    s->squares += other->squares + between * between * (na * nb / (na + nb));
    s->least = other->least < s->least ? other->least : s->least;
    s->most = other->most > s->most ? other->most : s->most;
    for (int i = 0; i <= EVALUATE_BINS; ++i) {
        s->bins[i] += other->bins[i];
    }
}

double evaluate_statistics_deviation(const evaluate_statistics *s)
{
    return s->count > 0 ? sqrt(s->squares / (double)s->count) : 0.0;
}

// ---- Runs that go on -----------------------------------------------------------------------------------------------------

#define LINE 32768 // a line has five histograms of a hundred counts

static void write_statistics(FILE *file, const evaluate_statistics *s)
{
    fprintf(file, " %lld %a %a %a %a %a", (long long)s->count, s->mean, s->squares, s->least, s->most, s->width);
    for (int i = 0; i <= EVALUATE_BINS; ++i) {
        fprintf(file, " %lld", (long long)s->bins[i]);
    }
}

void evaluate_progress_write(FILE *file, int part, const evaluate_results *results)
{
    fprintf(file, "part %d %lld %lld %lld %lld", part, (long long)results->reached, (long long)results->aimed,
            (long long)results->violations, (long long)results->left_out);
    write_statistics(file, &results->error);
    write_statistics(file, &results->orientation);
    write_statistics(file, &results->posture);
    write_statistics(file, &results->iterations);
    write_statistics(file, &results->time);
    fprintf(file, " end\n");
    fflush(file);
}

// Words of a line, one after the other; false when there is none left that is a number.
static bool next_integer(char **rest, int64_t *value)
{
    char *end;
    *value = strtoll(*rest, &end, 10);
    bool is_number = end != *rest;
    *rest = end;
    return is_number;
}

static bool next_number(char **rest, double *value)
{
    char *end;
    *value = strtod(*rest, &end);
    bool is_number = end != *rest;
    *rest = end;
    return is_number;
}

static bool read_statistics(char **rest, evaluate_statistics *s)
{
    bool is_whole = next_integer(rest, &s->count) && next_number(rest, &s->mean) && next_number(rest, &s->squares) &&
                    next_number(rest, &s->least) && next_number(rest, &s->most) && next_number(rest, &s->width);
    for (int i = 0; i <= EVALUATE_BINS && is_whole; ++i) {
        is_whole = next_integer(rest, &s->bins[i]);
    }
    return is_whole;
}

static bool read_part(char *line, int64_t *part, evaluate_results *r)
{
    if (strncmp(line, "part ", 5) != 0) {
        return false;
    }
    char *rest = line + 5;
    return next_integer(&rest, part) && next_integer(&rest, &r->reached) && next_integer(&rest, &r->aimed) &&
           next_integer(&rest, &r->violations) && next_integer(&rest, &r->left_out) && read_statistics(&rest, &r->error) &&
           read_statistics(&rest, &r->orientation) && read_statistics(&rest, &r->posture) &&
           read_statistics(&rest, &r->iterations) && read_statistics(&rest, &r->time) && strcmp(rest, " end\n") == 0;
}

int evaluate_progress_read(const char *path, const char *name, int count, evaluate_results *results, bool *done)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        return 0;
    }
    char *line = malloc(LINE);
    int found = 0;
    if (line && fgets(line, LINE, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = strcmp(line, name) == 0 ? 0 : -1;
        int64_t part;
        evaluate_results r;
        while (found >= 0 && fgets(line, LINE, file)) {
            if (read_part(line, &part, &r) && part >= 0 && part < count && !done[part]) {
                results[part] = r;
                done[part] = true;
                found += 1;
            }
        }
    }
    free(line);
    fclose(file);
    return found;
}

FILE *evaluate_progress_append(const char *path, const char *name)
{
    FILE *file = fopen(path, "a+");
    if (file) {
        fseek(file, 0, SEEK_END);
        // after a line that was cut off a new one begins
        fprintf(file, ftell(file) == 0 ? "%s\n" : "\n", name);
        fflush(file);
    }
    return file;
}
