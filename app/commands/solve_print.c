// What poise solve prints.
#include "cli/files.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "solve_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_rotation(const poise_goal *goal)
{
    return (goal->kind == POISE_GOAL_POSE || goal->kind == POISE_GOAL_RELATIVE) && goal->rotation_weight > 0;
}

bool solve_goal_is_met(const solve_job *job, int goal)
{
    return poise_solver_goal_is_met(job->solver, goal);
}

// ---- For people ----------------------------------------------------------------------------------------------------------

// "0.00123 m", "12.3 degrees"; what is below a billionth is called 0.
static void print_error(char *text, size_t size, const solve_job *job, int goal)
{
    poise_goal_error e = poise_solver_goal_error(job->solver, goal);
    double error = e.unit == POISE_UNIT_ANGLE ? e.error * DEGREES_PER_RADIAN : e.error;
    const char *unit = e.unit == POISE_UNIT_ANGLE ? " degrees" : e.unit == POISE_UNIT_LENGTH ? job->length_unit : "";
    int used = snprintf(text, size, "%.3g%s%s", error < 1e-9 ? 0 : error, *unit && *unit != ' ' ? " " : "", unit);
    if (has_rotation(&job->list->goals[goal]) && used > 0 && (size_t)used < size) {
        double angle = e.rotation_error * DEGREES_PER_RADIAN;
        snprintf(text + used, size - (size_t)used, ", %.3g degrees", angle < 1e-9 ? 0 : angle);
    }
}

// A goal in `room` columns: if it is longer, its numbers with four digits; if it still is, its beginning.
static void print_goal(char *text, size_t size, const char *goal, int room)
{
    bool fits = text_columns(goal) <= room;
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = goal; *at && used + 1 < size;) {
        size_t word = strcspn(at, " ,;"), between = strspn(at + word, " ,;");
        char *end;
        double number = strtod(at, &end);
        if (!fits && word > 6 && end == at + word) {
            used += (size_t)snprintf(text + used, size - used, "%.4g%.*s", number, (int)between, at + word);
        } else {
            used += (size_t)snprintf(text + used, size - used, "%.*s", (int)(word + between), at);
        }
        at += word + between;
    }
    if (text_columns(text) > room) {
        memcpy(text + text_bytes(text, room - 2), "..", 3);
    }
}

static const char *verdict(const solve_job *job, int goal)
{
    return goal_is_soft(&job->list->goals[goal]) ? "soft" : solve_goal_is_met(job, goal) ? "met" : "missed";
}

static void print_goals(const solve_job *job)
{
    enum { WIDE = 80, LEAST = 24 };
    char error[96], goal[1024];
    int errors = 5, verdicts = 0; // columns; "error" is above them
    for (int i = 0; i < job->list->count; ++i) {
        print_error(error, sizeof error, job, i);
        errors = text_columns(error) > errors ? text_columns(error) : errors;
        verdicts = text_columns(verdict(job, i)) > verdicts ? text_columns(verdict(job, i)) : verdicts;
    }
    int room = WIDE - 2 - errors - 2 - verdicts;
    table *t = table_create("goal\t>error\t");
    for (int i = 0; i < job->list->count; ++i) {
        print_error(error, sizeof error, job, i);
        print_goal(goal, sizeof goal, job->list->texts[i], room > LEAST ? room : LEAST);
        table_row(t, "%s\t%s\t%s", goal, error, verdict(job, i));
    }
    table_end(t, stdout);
}

// To as many places as values have, so that a value at its bound is seen to be there.
static void print_bound(char *text, size_t size, poise_unit unit, double bound)
{
    double value = value_for_people(unit, bound);
    bool has_places = fabs(value) < 1e15;
    int used = snprintf(text, size, has_places ? "%.4f" : isfinite(value) ? "%.6g" : "-", fabs(value) < 5e-5 ? 0 : value);
    while (has_places && used > 1 && strchr("0.", text[used - 1])) { // 150.0000 is 150
        bool is_point = text[used - 1] == '.';
        text[--used] = '\0';
        if (is_point) {
            break;
        }
    }
}

static void print_joints(const solve_job *job, const double *q)
{
    const poise_model *model = job->model;
    table *t = table_create("joint\t\t>value\t>lower\t>upper\t\t");
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        poise_coordinate c = poise_model_coordinate(model, i);
        poise_joint_info joint = poise_model_joint_info(model, c.joint);
        const char *unit = c.unit == POISE_UNIT_LENGTH ? job->length_unit : c.unit == POISE_UNIT_ANGLE ? "deg" : "";
        char lower[32], upper[32];
        print_bound(lower, sizeof lower, c.unit, poise_model_info(model).lower[i]);
        print_bound(upper, sizeof upper, c.unit, poise_model_info(model).upper[i]);
        int side = poise_solver_active_limit(job->solver, i);
        double value = value_for_people(c.unit, q[i]);
        const char *note = job->locked[joint.v] ? "locked"
                           : side < 0           ? "at its lower limit"
                           : side > 0           ? "at its upper limit"
                                                : "";
        table_row(t, "%s\t%s\t%.4f\t%s\t%s\t%s\t%s", c.place == 0 ? joint.name : "", c.label, fabs(value) < 5e-5 ? 0 : value,
                  lower, upper, unit, note);
    }
    table_end(t, stdout);
}

static void print_trace(const solve_job *job)
{
    table *t = table_create(">iteration\t>cost\t>gradient\t>damping\t>step\tkept\tHessian");
    for (int i = 0; i < job->report.traced; ++i) {
        const poise_trace *r = &job->trace[i];
        table_row(t, "%d\t%.4e\t%.2e\t%.2e\t%.2e\t%s\t%s", i + 1, r->cost, r->gradient, r->damping, r->step,
                  r->accepted ? "yes" : "no", r->exact ? "exact" : "-");
    }
    table_end(t, stdout);
    putchar('\n');
}

// Goals beyond the reach of the whole chain.
static void add_out_of_reach(const solve_job *job, FILE *stream)
{
    poise_kinematics *kinematics = NULL;
    bool is_thousandfold = false; // a goal that would be in reach, were it a thousandth
    if (poise_kinematics_create(job->model, NULL, &kinematics, NULL) != POISE_OK) {
        return; // it is only a remark
    }
    poise_kinematics_update(kinematics, job->q, NULL);
    for (int i = 0; i < job->list->count; ++i) {
        const poise_goal *goal = &job->list->goals[i];
        if ((goal->kind != POISE_GOAL_POSITION && goal->kind != POISE_GOAL_POSE) || solve_goal_is_met(job, i)) {
            continue;
        }
        int first;
        double reach = poise_goal_reach(goal, job->model, &first);
        if (first == POISE_NONE) {
            continue;
        }
        poise_vec3 from = poise_kinematics_body_pose(kinematics, first).position, to = goal->target.position;
        double distance = hypot(hypot(to.x - from.x, to.y - from.y), to.z - from.z);
        if (distance > reach) {
            fprintf(stream, " Goal %d is %.4g %s from %s, and the chain from there is %.4g %s long.", i + 1, distance,
                    job->length_unit, poise_model_joint_info(job->model, first).name, reach, job->length_unit);
            is_thousandfold = is_thousandfold || poise_goal_suspect_millimetres(goal, kinematics, NULL, NULL);
        }
    }
    if (is_thousandfold && job->file->scale.metres == 1) {
        fputs(" Lengths are in metres: are these millimetres?", stream);
    }
    poise_kinematics_destroy(kinematics);
}

// What dropped answers do.
static const char *broken_by_answers(const solve_job *job)
{
    return job->avoided.has_shapes && job->avoided.count == 1 ? "do not keep clear" : "break a constraint";
}

// Why the goals were missed, as far as it can be seen from the answer.
static void print_why(const solve_job *job)
{
    const poise_report *r = &job->report;
    text_file text;
    text_open(&text);
    if (job->solutions_dropped > 0) {
        fprintf(text.stream, "%d answers reach the pose but %s. ", job->solutions_dropped, broken_by_answers(job));
    }
    if (r->holds) {
        fprintf(text.stream, "This is the closest pose that was found: %s.", r->reason);
    } else {
        solve_add_blocking(job, text.stream);
    }
    solve_add_limits(job, text.stream);
    solve_add_blockers(job, text.stream);
    solve_add_pull(job, text.stream);
    add_out_of_reach(job, text.stream);
    if (r->outcome == POISE_OUTCOME_BUDGET) {
        fputs(" More --iterations or --restarts may come closer.", text.stream);
    } else if (job->options.restarts == 0) {
        fputs(" --restarts 50 tries from other poses.", text.stream);
    }
    text_print(&text);
}

// Degrees of freedom that move the goal's body and are not locked.
static int count_movers(const solve_job *job)
{
    int count = 0;
    for (int k = job->list->goals[0].body; k != POISE_WORLD;) {
        poise_joint_info info = poise_model_joint_info(job->model, k);
        for (int i = 0; i < info.nv; ++i) {
            count += !job->locked[info.v + i];
        }
        k = info.parent;
    }
    return count;
}

// A number of restarts to try next: ten times as many, as far as the option goes.
static int more_restarts(int restarts)
{
    const int least = 100, most = 1000000;
    return restarts < least ? least : restarts < most / 10 ? 10 * restarts : most;
}

// How many answers stand side by side in 80 columns; tables below each other have as many, or one less.
static int solutions_abreast(const solve_job *job, int shown)
{
    enum { NUMBER = 10 };
    int names = 5, fit;
    for (int k = 0; k < poise_model_info(job->model).joints; ++k) {
        int columns = text_columns(poise_model_joint_info(job->model, k).name);
        names = columns > names && poise_model_joint_info(job->model, k).nq > 0 ? columns : names;
    }
    fit = names <= 80 - NUMBER ? (80 - names) / NUMBER : 1;
    int tables = (shown + fit - 1) / fit;
    return (shown + tables - 1) / tables;
}

// The answers from `first` up to `end`, as columns of a table.
static void print_some_solutions(const solve_job *job, int first, int end)
{
    int nq = poise_model_info(job->model).nq;
    char head[128] = "joint";
    for (int s = first, used = 5; s < end; ++s) {
        used += snprintf(head + used, sizeof head - (size_t)used, "\t>%d", s + 1);
    }
    table *t = table_create(head);
    for (int i = 0; i < nq; ++i) {
        poise_coordinate c = poise_model_coordinate(job->model, i);
        char row[256];
        size_t used = 0;
        for (int s = first; s < end; ++s) {
            double value = value_for_people(c.unit, job->solutions[s * nq + i]);
            used += (size_t)snprintf(row + used, sizeof row - used, "\t%.3f", fabs(value) < 5e-4 ? 0 : value);
        }
        table_row(t, "%s%s%s%s", poise_model_joint_info(job->model, c.joint).name, c.label[0] ? " " : "", c.label, row);
    }
    putchar('\n');
    table_end(t, stdout);
}

static void print_solutions(const solve_job *job)
{
    enum { SHOWN = 8 };
    int shown = job->solution_count < SHOWN ? job->solution_count : SHOWN, abreast = solutions_abreast(job, shown);
    printf("\n%d answer%s, nearest to the start first (degrees and length units)\n", job->solution_count,
           job->solution_count == 1 ? "" : "s");
    for (int i = 0; i < shown; i += abreast) {
        print_some_solutions(job, i, i + abreast < shown ? i + abreast : shown);
    }
    if (shown < job->solution_count) {
        printf("and %d more, which --json prints\n", job->solution_count - shown);
    }
    if (job->solutions_dropped > 0) {
        printf("\n%d more reach the pose but %s.\n", job->solutions_dropped, broken_by_answers(job));
    }
    if (count_movers(job) > 6) {
        printf("\n%d joints move the goal and a pose fixes 6 of them: every answer is one of\n"
               "endlessly many beside it. --lock JOINT leaves single ones.\n",
               count_movers(job));
    } else if (job->has_more_solutions) {
        printf("\nStopped at the %d that --all asked for; there are more.\n", job->solutions_asked);
    } else {
        printf("\n%d found from %d starts; --restarts %d searches further.\n", job->solution_count,
               job->options.restarts + 1, more_restarts(job->options.restarts));
    }
}

void solve_print_people(const solve_job *job)
{
    const poise_report *r = &job->report;
    if (job->trace) {
        print_trace(job);
    }
    bool is_long = text_columns(job->name) > 36; // the rest of the line takes up to 44 columns
    printf("%s:%s%s%s%s after %d iteration%s", job->name, is_long ? "\n" : " ",
           style_code(job->reached ? STYLE_GOOD : STYLE_BAD), job->reached ? "reached" : "not reached",
           style_code(STYLE_PLAIN), r->iterations, r->iterations == 1 ? "" : "s");
    if (r->restarts > 0) {
        printf(" from %d starts", r->restarts + 1);
    }
    printf(", method %s\n\n", poise_method_name(job->options.method));
    print_goals(job);
    if (job->solutions && job->solution_count > 0) {
        print_solutions(job);
        solve_print_shapes(job);
        solve_print_unchecked(job);
        return;
    }
    putchar('\n');
    print_joints(job, job->q);
    solve_print_shapes(job);
    if (!job->reached) {
        print_why(job);
    }
    solve_print_unchecked(job);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

static json_node *goals_as_json(const solve_job *job)
{
    static const char *const units[] = {
        [POISE_UNIT_LENGTH] = "length", [POISE_UNIT_ANGLE] = "radian", [POISE_UNIT_NONE] = "number"};
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < job->list->count; ++i) {
        const poise_goal *goal = &job->list->goals[i];
        poise_goal_error e = poise_solver_goal_error(job->solver, i);
        bool soft = goal_is_soft(goal);
        json_node *o = json_make("{s:o, s:s, s:o, s:s, s:o}", "goal", json_from_text(job->list->texts[i]), "kind",
                                 poise_goal_kind_name(goal->kind), "error", json_from_number(e.error), "unit", units[e.unit],
                                 "met", soft ? json_new(JSON_NULL) : json_from_bool(solve_goal_is_met(job, i)));
        if (has_rotation(goal)) {
            json_set(o, "rotation_error", json_from_number(e.rotation_error));
        }
        json_append(list, o);
    }
    return list;
}

static int side_of_limit(const void *solver, int i)
{
    return poise_solver_active_limit(solver, i);
}

static json_node *trace_as_json(const solve_job *job)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < job->report.traced; ++i) {
        const poise_trace *r = &job->trace[i];
        json_append(list, json_make("{s:o, s:o, s:o, s:o, s:b, s:b}", "cost", json_from_number(r->cost), "gradient",
                                    json_from_number(r->gradient), "damping", json_from_number(r->damping), "step",
                                    json_from_number(r->step), "accepted", r->accepted, "exact", r->exact));
    }
    return list;
}

app_exit solve_print_machine(const solve_job *job)
{
    const poise_report *r = &job->report;
    int nq = poise_model_info(job->model).nq;
    double metres = job->file->scale.metres;
    json_node *o =
        json_make("{s:o, s:s, s:b, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "file", json_from_text(job->name),
                  "outcome", poise_outcome_name(r->outcome), "reached", job->reached, "reason", r->reason, "method",
                  poise_method_name(job->options.method), "iterations", r->iterations, "evaluations", r->evaluations,
                  "restarts", r->restarts, "start_cost", json_from_number(r->start_cost), "cost", json_from_number(r->cost),
                  "metres_per_unit", json_from_number(metres > 0 ? metres : NAN), "q", json_from_numbers(job->q, nq));
    json_set(o, "coordinates", json_from_coordinates(job->model));
    json_set(o, "goals", goals_as_json(job));
    json_set(o, "active_limits", json_from_limits(job->model, side_of_limit, job->solver));
    if (job->avoided.has_shapes) {
        json_set(o, "avoid", solve_shapes_as_json(job));
    }
    if (job->avoided.polygon) {
        json_set(o, "balance", solve_balance_as_json(job));
    }
    if (job->avoided.count > job->avoided.first_loop) {
        json_set(o, "loops", solve_loops_as_json(job));
    }
    if (job->blockers_sought) {
        json_set(o, "blocked_by", solve_blockers_as_json(job));
    }
    if (job->trace) {
        json_set(o, "trace", trace_as_json(job));
    }
    if (job->solutions) {
        json_node *list = json_new(JSON_ARRAY);
        for (int s = 0; s < job->solution_count; ++s) {
            json_append(list, json_make("{s:o}", "q", json_from_numbers(job->solutions + (size_t)s * (size_t)nq, nq)));
        }
        json_set(o, "solutions", list);
        if (job->avoided.count > 0) {
            json_set(o, "solutions_dropped", json_from_integer(job->solutions_dropped));
        }
        json_set(o, "more_solutions", job->has_more_solutions ? json_from_bool(true) : json_new(JSON_NULL));
    }
    return json_print(o) ? solve_exit(job) : APP_BAD;
}
