// poise solve --path: poses one after the other, each from the last answer: reading them, following, judging, printing.
#include "cli/command.h"
#include "cli/files.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "cli/verdict_text.h"
#include "cli/words.h"
#include "commands/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The row with the largest step of a joint: radians and lengths alike.
static const solve_path_row *longest_step(const solve_path *path)
{
    const solve_path_row *longest = &path->rows[0];
    for (int i = 1; i < path->count; ++i) {
        longest = path->rows[i].step > longest->step ? &path->rows[i] : longest;
    }
    return longest;
}

static int count_met(const solve_path *path)
{
    int met = 0;
    for (int i = 0; i < path->count; ++i) {
        met += path->rows[i].is_met;
    }
    return met;
}

static void print_missed(const solve_job *job)
{
    enum { SHOWN = 8 };
    const solve_path *path = &job->path;
    int missed = 0;
    table *t = table_create(">line\t>off by\t>degrees\t");
    for (int i = 0; i < path->count; ++i) {
        const solve_path_row *row = &path->rows[i];
        if (!row->is_met && ++missed <= SHOWN) {
            table_row(t, "%d\t%.3g %s\t%.3g\t%s", row->line, row->error, job->length_unit,
                      row->rotation_error * DEGREES_PER_RADIAN, row->holds ? "" : "and constraints do not hold");
        }
    }
    putchar('\n');
    table_end(t, stdout);
    if (missed > SHOWN) {
        printf("and %d more, which --json prints\n", missed - SHOWN);
    }
}

void solve_print_path(const solve_job *job)
{
    const solve_path *path = &job->path;
    int met = count_met(path);
    printf("%s: %s%d of %d poses reached%s, each from the one before\n", path->name,
           style_code(met == path->count ? STYLE_GOOD : STYLE_BAD), met, path->count, style_code(STYLE_PLAIN));
    if (met < path->count) {
        print_missed(job);
    }
    if (path->count > 1) {
        const solve_path_row *row = longest_step(path);
        poise_joint_info joint = solve_joint_of_dof(job->model, row->step_of);
        bool is_angle = poise_model_coordinate(job->model, joint.q).unit != POISE_UNIT_LENGTH;
        printf("\nlargest step of a joint: %s, %.3g %s, to line %d\n", joint.name,
               is_angle ? row->step * DEGREES_PER_RADIAN : row->step, is_angle ? "degrees" : job->length_unit, row->line);
    }
    putchar('\n');
    verdict_print(&path->verdict, path->findings, stdout);
    if (path->verdict.worst[POISE_FINDING_LEAPT] > path->step[0] ||
        path->verdict.worst[POISE_FINDING_SLID] > path->step[1]) {
        print_fact(stdout, "",
                   "the arm takes another of its answers, or a joint has come to its limit: try another --posture, "
                   "or poses that lie closer together",
                   false);
    }
    solve_print_unchecked(job);
}

app_exit solve_print_path_machine(const solve_job *job)
{
    const solve_path *path = &job->path;
    int nq = poise_model_info(job->model).nq;
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < path->count; ++i) {
        const solve_path_row *row = &path->rows[i];
        json_append(list, json_make("{s:i, s:b, s:b, s:o, s:o, s:o, s:o}", "line", row->line, "met", row->is_met, "holds",
                                    row->holds, "error", json_from_number(row->error), "rotation_error",
                                    json_from_number(row->rotation_error), "step", json_from_number(row->step), "q",
                                    json_from_numbers(path->clip->q + (size_t)i * (size_t)nq, nq)));
    }
    json_node *o =
        json_make("{s:o, s:o, s:b, s:i, s:i, s:i, s:o, s:o, s:o}", "file", json_from_text(job->name), "path",
                  json_from_text(path->name), "reached", job->reached, "poses", path->count, "met", count_met(path),
                  "turned", path->turned, "verdict", verdict_as_json(&path->verdict, path->findings, VERDICT_OF_PATH),
                  "coordinates", json_from_coordinates(job->model), "frames", list);
    return json_print(o) ? solve_exit(job) : APP_BAD;
}

// ---- poise solve --path: a list of poses of a tool, each solved from the answer before -----------------------------------

// ---- Reading -------------------------------------------------------------------------------------------------------------

#define USUAL_RATE 100.0 // poses a second of what is written

enum { MOST_COLUMNS = 7 };

static const char *const columns[] = {"x", "y", "z", "qx", "qy", "qz", "qw", "roll", "pitch", "yaw"};
enum { KNOWN_COLUMNS = 10, FIRST_QUATERNION = 3, FIRST_ANGLE = 7 };

// What each column of the file holds, by its place in `columns`.
typedef struct path_layout {
    int column[MOST_COLUMNS], count;
} path_layout;

// Without a line of names: x y z, x y z and roll pitch yaw in degrees, or x y z and a quaternion, w last.
static bool usual_layout(int count, path_layout *layout)
{
    int second = count == 6 ? FIRST_ANGLE : FIRST_QUATERNION;
    layout->count = count;
    for (int i = 0; i < count && i < MOST_COLUMNS; ++i) {
        layout->column[i] = i < 3 ? i : second + i - 3;
    }
    return count == 3 || count == 6 || count == 7;
}

static int find_column(const char *word, size_t length)
{
    for (int i = 0; i < KNOWN_COLUMNS; ++i) {
        if (strlen(columns[i]) == length && strncmp(columns[i], word, length) == 0) {
            return i;
        }
    }
    return POISE_NONE;
}

// A line of names, in any order: all of x y z, and all or none of a kind of rotation.
static bool named_layout(const char *text, path_layout *layout)
{
    unsigned seen = 0;
    const unsigned place = 0x007, quaternion = 0x078, angles = 0x380;
    layout->count = 0;
    for (const char *at = text + strspn(text, " ,"); *at; at += strspn(at, " ,")) {
        size_t length = strcspn(at, " ,");
        int found = find_column(at, length);
        if (found == POISE_NONE || seen & 1u << found || layout->count == MOST_COLUMNS) {
            return false;
        }
        seen |= 1u << found;
        layout->column[layout->count++] = found;
        at += length;
    }
    return seen == place || seen == (place | quaternion) || seen == (place | angles);
}

// One line as a goal in words.
static void describe_row(const path_layout *layout, const double *numbers, const char *tip, char *text, size_t size)
{
    double x[KNOWN_COLUMNS] = {0};
    bool turns = layout->count > 3, has_angles = false;
    for (int i = 0; i < layout->count; ++i) {
        x[layout->column[i]] = numbers[i];
        has_angles = has_angles || layout->column[i] >= FIRST_ANGLE;
    }
    int used = snprintf(text, size, "%s \"%s\" %.17g %.17g %.17g", turns ? "pose" : "position", tip, x[0], x[1], x[2]);
    if (has_angles) {
        snprintf(text + used, size - (size_t)used, " rpy %.17g %.17g %.17g deg", x[7], x[8], x[9]);
    } else if (turns) {
        snprintf(text + used, size - (size_t)used, " quaternion %.17g %.17g %.17g %.17g", x[3], x[4], x[5], x[6]);
    }
}

// A line without its remark, semicolons and tabs as commas.
static void clean_line(char *text)
{
    text[strcspn(text, "#\r")] = '\0';
    for (char *at = text; *at; ++at) {
        *at = strchr(";\t", *at) ? ',' : *at;
    }
}

static bool add_row(solve_path *path, const char *tip, const path_layout *layout, double *numbers, int line)
{
    char text[512];
    double square = 0;
    for (int i = 0; i < layout->count; ++i) {
        bool is_place = layout->column[i] < FIRST_QUATERNION;
        numbers[i] *= is_place ? path->factor : 1;
        square += is_place ? numbers[i] * numbers[i] : 0;
    }
    path->nearest = path->count == 0 ? sqrt(square) : fmin(path->nearest, sqrt(square));
    describe_row(layout, numbers, tip, text, sizeof text);
    path->rows = needed(realloc(path->rows, (size_t)(path->count + 1) * sizeof *path->rows));
    path->rows[path->count++] = (solve_path_row){.line = line, .goal = needed_copy(text, strlen(text))};
    return true;
}

// Name the first word of a line that is no number.
static void complain_of_word(const char *name, int line, char *text)
{
    for (char *at = text + strspn(text, " ,"); *at; at += strspn(at, " ,")) {
        size_t length = strcspn(at, " ,");
        char after = at[length];
        double value;
        at[length] = '\0';
        if (!parse_number(at, &value)) {
            complain("%s:%d: \"%s\" is not a number", name, line, at);
            return;
        }
        at += length;
        *at = after;
    }
    complain("%s:%d: more than %d numbers", name, line, MOST_COLUMNS);
}

static bool read_line(solve_path *path, const char *tip, path_layout *layout, char *text, int line)
{
    double numbers[MOST_COLUMNS];
    clean_line(text);
    int count = parse_numbers(text, numbers, MOST_COLUMNS);
    if (count == 0) {
        return true;
    }
    if (count < 0 && layout->count == 0 && path->count == 0) {
        if (!named_layout(text, layout)) {
            complain("%s:%d: columns are x,y,z, with qx,qy,qz,qw or roll,pitch,yaw (degrees) where it is a pose", path->name,
                     line);
            return false;
        }
        return true;
    }
    if (layout->count == 0 && !usual_layout(count, layout)) {
        complain(
            "%s:%d: a line has 3 numbers (a place), 6 (with roll, pitch, yaw in degrees) or 7 (with a quaternion, w last)",
            path->name, line);
        return false;
    }
    if (count != layout->count) {
        if (count < 0) {
            complain_of_word(path->name, line, text);
        } else {
            complain("%s:%d: %d numbers, where lines before have %d", path->name, line, count, layout->count);
        }
        return false;
    }
    return add_row(path, tip, layout, numbers, line);
}

// The tool of the path: --tip, or the only tool of the model.
static const char *tip_of(const solve_job *job, const arguments *args)
{
    const char *tip = option_text(args, "body", NULL);
    if (!tip && poise_model_info(job->model).tools == 1) {
        tip = poise_model_tool_info(job->model, 0).name;
    }
    if (!tip) {
        complain("solve: --path needs --body NAME, the body or tool that follows it");
    }
    return tip;
}

// The unit of --path-unit as a factor of the model's.
static bool read_unit(const solve_job *job, const arguments *args, double *factor)
{
    const char *unit = option_text(args, "path-unit", NULL);
    double metres = job->file->scale.metres > 0 ? job->file->scale.metres : 1;
    *factor = 1;
    if (unit && !parse_unit(unit, factor)) {
        complain("--path-unit \"%s\": one of m cm mm in ft, or metres per unit", unit);
        return false;
    }
    *factor /= unit ? metres : 1;
    return true;
}

// How far a tip may be from the origin at most: the lengths on the way to it; infinite where something slides or floats.
static double reach_of(const poise_model *model, const char *tip)
{
    poise_pose local = poise_pose_identity();
    int body = poise_model_find_part(model, tip, &local, NULL);
    poise_vec3 p = local.position;
    double reach = sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
    for (; body >= 0; body = poise_model_joint_info(model, body).parent) {
        poise_joint_info info = poise_model_joint_info(model, body);
        p = info.given->offset.position;
        bool turns = info.type == POISE_JOINT_REVOLUTE || info.type == POISE_JOINT_FIXED;
        reach += turns ? sqrt(p.x * p.x + p.y * p.y + p.z * p.z) : INFINITY;
    }
    return reach;
}

// Points that all lie far beyond the arm's reach, and within it a thousand times nearer.
static void ask_for_unit(const solve_job *job, const char *tip, const arguments *args)
{
    const double far = 10, near = 1.5, thousand = 1000;
    double reach = reach_of(job->model, tip), nearest = job->path.nearest;
    if (!option_given(args, "path-unit") && nearest > far * reach && nearest < near * reach * thousand) {
        warn("%s: its points lie %.3g %s away and more, and \"%s\" reaches %.3g: millimetres? --path-unit mm",
             job->path.name, nearest, job->length_unit, tip, reach);
    }
}

// "7" or "7,0.02": degrees, and metres of a slide.
static bool read_step(const arguments *args, double step[2])
{
    poise_thresholds usual = poise_thresholds_default();
    const char *text = option_text(args, "step", "");
    double numbers[2];
    int count = parse_numbers(text, numbers, 2);
    step[0] = count > 0 ? numbers[0] / DEGREES_PER_RADIAN : usual.doubtful[POISE_FINDING_LEAPT];
    step[1] = count > 1 ? numbers[1] : usual.doubtful[POISE_FINDING_SLID];
    bool works = option_given(args, "step") ? count > 0 && step[0] > 0 && step[1] > 0 : true;
    if (!works) {
        complain("--step \"%s\": one or two numbers above 0: degrees of a hinge and metres of a slide, such as 7,0.02",
                 text);
    }
    return works;
}

bool solve_read_path(solve_job *job, const arguments *args)
{
    solve_path *path = &job->path;
    const char *tip = tip_of(job, args);
    const char *name = option_text(args, "path", "");
    file_bytes bytes;
    if (!tip || !read_step(args, path->step) || !read_unit(job, args, &path->factor) || !file_read(name, &bytes)) {
        return false;
    }
    path->rate = option_number(args, "rate", 0);
    path->name = strcmp(name, "-") == 0 ? "standard input" : name;
    path_layout layout = {0};
    const char *at = bytes.bytes, *end = at + bytes.size;
    bool works = true;
    for (int line = 1; works && at < end; ++line) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        char *text = needed_copy(at, size);
        works = read_line(path, tip, &layout, text, line);
        free(text);
        at += size + 1;
    }
    file_release(&bytes);
    if (works && path->count == 0) {
        complain("%s: holds no poses; a line of numbers for each: x, y, z and qx, qy, qz, qw", path->name);
    }
    if (works && path->count > 0) {
        ask_for_unit(job, tip, args);
    }
    return works && path->count > 0;
}

void solve_release_path(solve_path *path)
{
    for (int i = 0; i < path->count; ++i) {
        free(path->rows[i].goal);
    }
    free(path->rows);
    free(path->findings);
    poise_clip_destroy(path->clip);
}

// ---- Solving -------------------------------------------------------------------------------------------------------------

poise_joint_info solve_joint_of_dof(const poise_model *model, int dof)
{
    int k = 0;
    while (poise_model_joint_info(model, k).v + poise_model_joint_info(model, k).nv <= dof) {
        ++k;
    }
    return poise_model_joint_info(model, k);
}

// The largest step of a joint from the row before, and which it is.
static void note_step(solve_job *job, solve_path_row *row)
{
    int nv = poise_model_info(job->model).nv;
    double *v = needed(calloc((size_t)nv + 1, sizeof *v));
    bool has_turned = false;
    poise_difference(job->model, job->start, job->q, v, NULL);
    for (int i = 0; i < nv; ++i) {
        if (fabs(v[i]) > row->step) {
            row->step = fabs(v[i]);
            row->step_of = i;
        }
        bool is_hinge = solve_joint_of_dof(job->model, i).type == POISE_JOINT_REVOLUTE;
        has_turned = has_turned || (is_hinge && fabs(v[i]) * DEGREES_PER_RADIAN > 180);
    }
    job->path.turned += has_turned;
    free(v);
}

static bool solve_row(solve_job *job, int i)
{
    solve_path_row *row = &job->path.rows[i];
    int last = job->list->count - 1;
    if (i > 0 && !solve_set_goal(job, last, row->goal, row->line)) {
        return false;
    }
    poise_solver_destroy(job->solver);
    job->solver = NULL;
    if (!solve_run(job)) {
        return false;
    }
    poise_goal_error e = poise_solver_goal_error(job->solver, last);
    row->error = e.error;
    row->rotation_error = job->list->goals[last].kind == POISE_GOAL_POSE ? e.rotation_error : 0;
    row->is_met = job->reached;
    row->holds = job->report.holds;
    return true;
}

// Which joints leap from pose to pose. The last goal is the tool's.
static bool judge_path(solve_job *job)
{
    solve_path *path = &job->path;
    const poise_goal *goal = &job->list->goals[job->list->count - 1];
    poise_path_problem problem = poise_path_problem_default();
    problem.model = job->model, problem.q = path->clip->q, problem.poses = path->count;
    problem.body = goal->body, problem.local = goal->local;
    problem.frame_time = path->rate > 0 ? 1 / path->rate : 0;
    problem.metres = job->file->scale.metres > 0 ? job->file->scale.metres : 1;
    static const poise_finding_kind kinds[] = {POISE_FINDING_LEAPT, POISE_FINDING_SLID};
    for (int i = 0; i < 2; ++i) {
        problem.thresholds.doubtful[kinds[i]] = path->step[i];
        problem.thresholds.failed[kinds[i]] = fmax(path->step[i], problem.thresholds.failed[kinds[i]]);
    }
    poise_error error;
    path->findings = needed(calloc((size_t)path->count + 2, sizeof *path->findings));
    if (poise_path_judge(&problem, NULL, &path->verdict, path->findings, path->count + 1, &error) != POISE_OK) {
        complain("solve: %s", error.text);
        return false;
    }
    return true;
}

bool solve_follow_path(solve_job *job)
{
    solve_path *path = &job->path;
    size_t nq = (size_t)poise_model_info(job->model).nq;
    double rate = path->rate > 0 ? path->rate : USUAL_RATE;
    need(poise_clip_create(path->count, (int)nq, 1 / rate, NULL, &path->clip, NULL) == POISE_OK);
    progress_start("solving", "poses", path->count);
    bool works = true, all_met = true;
    for (int i = 0; works && i < path->count; ++i) {
        works = solve_row(job, i);
        if (works && i > 0) {
            note_step(job, &path->rows[i]);
        }
        all_met = all_met && job->reached;
        memcpy(path->clip->q + (size_t)i * nq, job->q, nq * sizeof *job->q);
        memcpy(job->start, job->q, nq * sizeof *job->q);
        job->options.start = POISE_START_WARM;
        progress_show(i + 1);
    }
    progress_end();
    job->reached = all_met;
    works = works && judge_path(job);
    if (!all_met) {
        path->verdict.level = POISE_VERDICT_FAILED;
    } else if (path->verdict.level == POISE_VERDICT_GOOD && !avoid_checks_all(&job->avoided)) {
        path->verdict.level = POISE_VERDICT_DOUBTFUL;
    }
    return works;
}
