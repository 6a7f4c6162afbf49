// What poise solve says about shapes and loops.
#include "solve_parts.h"

#include <float.h>
#include <stdio.h>

// The pair that is nearest, by name.
static double nearest_pair(const solve_job *job, char a[128], char b[128])
{
    int item = 0;
    double room = poise_solver_constraint_room(job->solver, 0, &item);
    if (job->avoided.constraints[0].pair_count > 0) {
        avoid_name_pair(&job->avoided, item, a, b);
    }
    return room + job->avoided.constraints[0].margin;
}

static void print_shapes(const solve_job *job)
{
    char a[128] = "", b[128] = "";
    const poise_constraint *apart = &job->avoided.constraints[0];
    double distance = nearest_pair(job, a, b);
    printf("\n%d shapes, %d pairs watched", apart->shape_count, apart->pair_count);
    if (job->file->shapes_skipped > 0) {
        printf("; %d more, as meshes, could not be read", job->file->shapes_skipped);
    }
    if (apart->pair_count == 0 || distance > DBL_MAX / 2) {
        putchar('\n');
    } else if (distance >= 0) {
        printf("\nnearest: %s and %s, %.4g %s apart%s\n", a, b, distance, job->length_unit,
               distance < apart->margin ? ", less than the margin" : "");
    } else {
        printf("\nin the way: %s and %s overlap by %.4g %s\n", a, b, -distance, job->length_unit);
    }
}

static void print_loops(const solve_job *job)
{
    int first = job->avoided.has_shapes, worst = first;
    double most = 0;
    for (int i = first; i < job->avoided.count; ++i) {
        double open = -poise_solver_constraint_room(job->solver, i, NULL);
        worst = open > most ? i : worst;
        most = open > most ? open : most;
    }
    char name[300];
    avoid_name(&job->avoided, worst, 0, name, sizeof name);
    if (most > job->options.constraints.closure_tolerance) {
        printf("%sopen: %s, by %.3g\n", first ? "" : "\n", name, most);
    } else {
        int count = job->avoided.count - first;
        printf("%s%d loop%s closed, to %.1g\n", first ? "" : "\n", count, count > 1 ? "s" : "", most);
    }
}

void solve_print_shapes(const solve_job *job)
{
    if (job->avoided.has_shapes) {
        print_shapes(job);
    }
    if (job->avoided.count > job->avoided.has_shapes) {
        print_loops(job);
    }
}

json_node *solve_shapes_as_json(const solve_job *job)
{
    char a[128] = "", b[128] = "";
    const poise_constraint *apart = &job->avoided.constraints[0];
    double distance = nearest_pair(job, a, b);
    json_node *o = json_make("{s:b, s:i, s:i, s:i, s:o, s:o}", "holds", job->report.holds, "shapes", apart->shape_count,
                             "pairs", apart->pair_count, "meshes_not_read", job->file->shapes_skipped, "margin",
                             json_from_number(apart->margin), "clearance", json_from_number(distance));
    json_set(o, "nearest", json_make("{s:o, s:o}", "a", json_from_text(a), "b", json_from_text(b)));
    json_set(o, "blocks", json_from_bool(job->report.blocking != POISE_NONE));
    return o;
}

json_node *solve_loops_as_json(const solve_job *job)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = job->avoided.has_shapes; i < job->avoided.count; ++i) {
        char name[300];
        avoid_name(&job->avoided, i, 0, name, sizeof name);
        double open = -poise_solver_constraint_room(job->solver, i, NULL);
        json_append(list, json_make("{s:o, s:o, s:b}", "loop", json_from_text(name), "error", json_from_number(open),
                                    "closed", open <= job->options.constraints.closure_tolerance));
    }
    return list;
}
