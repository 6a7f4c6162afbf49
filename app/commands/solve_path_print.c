// What poise solve --path prints.
#include "cli/terminal.h"
#include "cli/verdict_text.h"
#include "cli/words.h"
#include "solve_parts.h"

#include <stdio.h>

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
