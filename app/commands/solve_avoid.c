// poise solve with things to keep apart: what blocks the way to a goal, how near shapes come, what was not watched, in words.
#include "cli/files.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "commands/solve.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Which of these kinds keep the goals from being met, solved for from the same start?
static unsigned find_blockers(const solve_job *job, unsigned sought)
{
    unsigned found = 0;
    poise_error error;
    if (poise_solve_blockers(job->solver, job->list->goals, job->list->count, job->avoided.constraints, job->avoided.count,
                             job->start, sought, NULL, &found, &error) != POISE_OK) {
        found = 0;
    }
    return found;
}

void solve_find_blockers(solve_job *job)
{
    if (job->reached || job->options.method != POISE_METHOD_AUTO) {
        return;
    }
    if (job->avoided.count > 0) {
        job->blockers = find_blockers(job, POISE_BLOCKED_BY_SHAPES | POISE_BLOCKED_BY_BALANCE | POISE_BLOCKED_BY_LOOPS |
                                               POISE_BLOCKED_BY_LIMITS | POISE_BLOCKED_TOGETHER);
        job->blockers_sought = true;
    } else if (job->report.active_limits > 0) { // where limits alone can block and do not, there is nothing to say
        job->blockers = find_blockers(job, POISE_BLOCKED_BY_LIMITS);
        job->blockers_sought = job->blockers != 0;
    }
}

// ---- For people ----------------------------------------------------------------------------------------------------------

// "hand and body, hand and obstacle 1 (box)": pairs without room at the answer; "shapes" where they are named already.
static void add_touching_pairs(const solve_job *job, FILE *stream)
{
    enum { SHOWN = 3 };
    const double touches = 1e-5;
    solve_close_bodies *list;
    int count = solve_find_close(job, touches, &list);
    bool names_them = job->report.holds && count > 0;
    for (int i = 0; names_them && i < count && i < SHOWN; ++i) {
        fprintf(stream, "%s%s and %s", i == 0 ? "" : ", ", list[i].a, list[i].b);
    }
    fputs(!names_them ? "shapes" : count > SHOWN ? " and more" : "", stream);
    free(list);
}

static void add_blocker(const solve_job *job, unsigned kind, FILE *stream)
{
    int item = 0;
    switch (kind) {
    case POISE_BLOCKED_BY_SHAPES:
        fputs(" If ", stream);
        add_touching_pairs(job, stream);
        fputs(" could overlap", stream);
        break;
    case POISE_BLOCKED_BY_BALANCE:
        poise_solver_constraint_room(job->solver, job->avoided.first_loop - 1, &item);
        fprintf(stream, " Without the balance (side %d of its polygon)", item + 1);
        break;
    case POISE_BLOCKED_BY_LOOPS:
        fputs(" If loops could open", stream);
        break;
    default:
        fputs(" Without the joint limits", stream);
    }
    fputs(", the goals would be met.", stream);
}

// The joints from a body to the root, and those that they follow.
static void mark_chain(const poise_model *model, int body, bool *moves)
{
    while (body != POISE_WORLD) {
        poise_joint_info joint = poise_model_joint_info(model, body);
        moves[joint.mimic == POISE_NONE ? body : joint.mimic] = true;
        body = joint.parent;
    }
}

// Joints that move a goal that is missed; all of them for a centre of mass, or if loops pass motions on.
static bool *find_movers(const solve_job *job)
{
    int joints = poise_model_info(job->model).joints;
    bool *moves = needed(calloc((size_t)joints, sizeof *moves)), all = job->avoided.first_loop < job->avoided.count;
    for (int i = 0; i < job->list->count; ++i) {
        const poise_goal *goal = &job->list->goals[i];
        if (!solve_goal_is_met(job, i) && goal->kind == POISE_GOAL_CENTER_OF_MASS) {
            all = true;
        } else if (!solve_goal_is_met(job, i)) {
            mark_chain(job->model, goal->body, moves);
            mark_chain(job->model, goal->kind == POISE_GOAL_RELATIVE ? goal->body2 : POISE_WORLD, moves);
        }
    }
    for (int k = 0; all && k < joints; ++k) {
        moves[k] = true;
    }
    return moves;
}

void solve_add_limits(const solve_job *job, FILE *stream)
{
    enum { SHOWN = 6 };
    bool *moves = find_movers(job);
    int count = 0;
    for (int i = 0; i < poise_model_info(job->model).nq; ++i) {
        int k = poise_model_coordinate(job->model, i).joint;
        if (moves[k] && poise_solver_active_limit(job->solver, i) != 0 && ++count <= SHOWN) {
            fprintf(stream, "%s%s", count == 1 ? " At a limit: " : ", ", poise_model_joint_info(job->model, k).name);
        }
    }
    fputs(count == 0 ? "" : count > SHOWN ? ", and more." : ".", stream);
    free(moves);
}

void solve_add_blockers(const solve_job *job, FILE *stream)
{
    if (!job->blockers_sought) {
        return;
    }
    if (job->blockers == 0) {
        fputs(" Without limits and constraints the goals were not met either.", stream);
    } else if (job->blockers == POISE_BLOCKED_TOGETHER) {
        fputs(" Several kinds of limits and constraints block: only without all of them would the goals be met.", stream);
    }
    for (unsigned kind = POISE_BLOCKED_BY_SHAPES; kind <= POISE_BLOCKED_BY_LIMITS; kind <<= 1) {
        if (job->blockers & kind) {
            add_blocker(job, kind, stream);
        }
    }
}

// ---- Soft goals ----------------------------------------------------------------------------------------------------------

void solve_add_pull(const solve_job *job, FILE *stream)
{
    int count = 0;
    for (int i = 0; i < job->list->count; ++i) {
        count += goal_is_soft(&job->list->goals[i]);
    }
    if (count == 0 || count == job->list->count || !job->report.holds) {
        return;
    }
    fprintf(stream, " Without the soft goal%s (", count == 1 ? "" : "s");
    for (int i = 0, said = 0; i < job->list->count; ++i) {
        if (goal_is_soft(&job->list->goals[i])) {
            fprintf(stream, "%s%s", said++ > 0 ? ", " : "", job->list->texts[i]);
        }
    }
    fputs(find_blockers(job, POISE_BLOCKED_BY_SOFT_GOALS) ? ") the others would be met: less weight comes closer."
                                                          : ") the others were not met either.",
          stream);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

json_node *solve_blockers_as_json(const solve_job *job)
{
    json_node *list = json_new(JSON_ARRAY);
    for (unsigned kind = POISE_BLOCKED_BY_SHAPES; kind <= POISE_BLOCKED_TOGETHER; kind <<= 1) {
        if (job->blockers & kind) {
            json_append(list, json_from_text(poise_blocker_name((poise_blocker)kind)));
        }
    }
    return list;
}

// ---- What poise solve says about shapes and loops ------------------------------------------------------------------------

// The pair that has the least room, by name: its distance, and how far apart it must be.
static double nearest_pair(const solve_job *job, char a[128], char b[128], double *margin)
{
    int item = 0;
    double room = poise_solver_constraint_room(job->solver, 0, &item);
    *margin = 0;
    if (job->avoided.constraints[0].pair_count > 0) {
        avoid_name_pair(&job->avoided, item, a, b);
        *margin = avoid_margin(&job->avoided, item);
    }
    return room + *margin;
}

static void print_still(const solve_job *job)
{
    json_node *list = avoid_still_as_json(&job->avoided);
    for (const json_node *pair = list->first; pair; pair = pair->next) {
        char line[400];
        snprintf(line, sizeof line, "not watched: %s and %s overlap by %.4g %s as covered; neither can move",
                 json_text_of(json_get(pair, "a")), json_text_of(json_get(pair, "b")),
                 -json_number_of(json_get(pair, "distance")), job->length_unit);
        print_wrapped(stdout, line, 0, 80);
    }
    json_release(list);
}

static void print_shapes(const solve_job *job)
{
    char a[128] = "", b[128] = "", touching[1000];
    const poise_constraint *apart = &job->avoided.constraints[0];
    double margin, distance = nearest_pair(job, a, b, &margin);
    printf("\n%d shape%s, %d pair%s watched", apart->shape_count, apart->shape_count == 1 ? "" : "s", apart->pair_count,
           apart->pair_count == 1 ? "" : "s");
    if (job->file->shapes_skipped > 0) {
        printf("; %d more, as meshes, could not be read", job->file->shapes_skipped);
    }
    avoid_describe_touching(&job->avoided, touching, sizeof touching);
    putchar('\n');
    if (touching[0]) {
        char whole[sizeof touching + 16];
        snprintf(whole, sizeof whole, "left out: %s", touching);
        print_wrapped(stdout, whole, 0, 80);
    }
    print_still(job);
    if (apart->pair_count == 0 || distance > DBL_MAX / 2) {
        return;
    }
    if (distance >= 0) {
        printf("nearest%s: %s and %s, %.4g %s apart", job->solution_count > 1 ? ", in answer 1" : "", a, b, distance,
               job->length_unit);
        if (distance < margin) {
            printf(", %.2g less than the margin", margin - distance);
        }
        putchar('\n');
    } else {
        printf("in the way: %s and %s overlap by %.4g %s\n", a, b, -distance, job->length_unit);
    }
}

// Does constraint i hold in the answer?
static bool holds(const solve_job *job, int i)
{
    poise_kinematics *kinematics = NULL;
    need(poise_kinematics_create(job->model, NULL, &kinematics, NULL) == POISE_OK);
    need(poise_kinematics_update(kinematics, job->q, NULL) == POISE_OK);
    bool does = poise_constraint_holds(kinematics, &job->avoided.constraints[i], job->options.constraints.closure_tolerance);
    poise_kinematics_destroy(kinematics);
    return does;
}

static void print_loops(const solve_job *job)
{
    int first = job->avoided.first_loop, worst = first;
    double most = 0;
    for (int i = first; i < job->avoided.count; ++i) {
        double open = -poise_solver_constraint_room(job->solver, i, NULL);
        worst = open > most ? i : worst;
        most = open > most ? open : most;
    }
    char name[300];
    avoid_name(&job->avoided, worst, 0, name, sizeof name);
    if (!holds(job, worst)) {
        printf("%sopen: %s, by %.3g\n", first ? "" : "\n", name, most);
    } else {
        int count = job->avoided.count - first;
        printf("%s%d loop%s closed, to %.1g\n", first ? "" : "\n", count, count > 1 ? "s" : "", most);
    }
}

static void print_balance(const solve_job *job)
{
    double room = poise_solver_constraint_room(job->solver, job->avoided.first_loop - 1, NULL);
    printf("%sbalance: the centre of mass is %.4g %s %s the polygon\n", job->avoided.has_shapes ? "" : "\n", fabs(room),
           job->length_unit, room >= 0 ? "inside" : "outside");
}

void solve_print_shapes(const solve_job *job)
{
    if (job->avoided.has_shapes) {
        print_shapes(job);
    }
    if (job->avoided.polygon) {
        print_balance(job);
    }
    if (job->avoided.count > job->avoided.first_loop) {
        print_loops(job);
    }
}

app_exit solve_exit(const solve_job *job)
{
    return job->reached && avoid_checks_all(&job->avoided) && job->path.verdict.level == POISE_VERDICT_GOOD ? APP_DONE
                                                                                                            : APP_MISSED;
}

void solve_print_unchecked(const solve_job *job)
{
    if (avoid_checks_all(&job->avoided)) {
        return;
    }
    text_file text;
    text_open(&text);
    int missing = job->file->shapes_skipped, pairs = job->avoided.constraints[0].pair_count;
    if (pairs == 0) {
        fputs("Nothing was checked: no two shapes that can meet are left.", text.stream);
    } else {
        fputs("Not all was checked.", text.stream);
    }
    if (missing > 0) {
        fprintf(text.stream,
                " %d collision mesh%s could not be read: STL, OBJ and COLLADA files are looked for beside the model's file "
                "and in the "
                "folders above it.",
                missing, missing == 1 ? "" : "es");
    }
    fputs(pairs > 0                     ? " --allow-missing continues without them."
          : job->avoided.neighbours > 1 ? " A smaller --neighbours watches more pairs."
                                        : " --obstacle adds what stands around.",
          text.stream);
    text_print(&text);
}

// ---- Pairs in the way ----------------------------------------------------------------------------------------------------

int solve_find_close(const solve_job *job, double room, solve_close_bodies **list)
{
    const poise_constraint *apart = &job->avoided.constraints[0];
    poise_close_pair *close = needed(calloc((size_t)apart->pair_count + 1, sizeof *close));
    poise_kinematics *kinematics = NULL;
    int found = 0, count = 0;
    *list = needed(calloc((size_t)apart->pair_count + 1, sizeof **list));
    need(poise_kinematics_create(job->model, NULL, &kinematics, NULL) == POISE_OK);
    poise_kinematics_update(kinematics, job->q, NULL);
    need(poise_pairs_close(kinematics, apart, room, close, apart->pair_count, &found, NULL) == POISE_OK);
    for (int i = 0; i < found; ++i) {
        solve_close_bodies *seen = *list, *last = *list + count;
        last->distance = close[i].nearest.distance;
        avoid_name_pair(&job->avoided, close[i].pair, last->a, last->b);
        while (seen < last && (strcmp(seen->a, last->a) != 0 || strcmp(seen->b, last->b) != 0)) {
            ++seen;
        }
        count += seen == last;
    }
    poise_kinematics_destroy(kinematics);
    free(close);
    return count;
}

static void add_close(const solve_job *job, FILE *stream)
{
    enum { SHOWN = 5 };
    solve_close_bodies *list;
    int count = solve_find_close(job, 0, &list);
    double margin = job->avoided.constraints[0].margin;
    bool has_own = false, has_obstacle = false; // two bodies of the model; one that overlaps with an obstacle
    bool lacks_margin = false;                  // two bodies of the model that are apart, and not by the margin
    for (int i = 0; i < count; ++i) {
        bool is_own = strncmp(list[i].a, "obstacle ", 9) != 0 && strncmp(list[i].b, "obstacle ", 9) != 0;
        has_own = has_own || is_own;
        lacks_margin = lacks_margin || (is_own && list[i].distance >= 0);
        has_obstacle = has_obstacle || (!is_own && list[i].distance < 0);
        if (i < SHOWN) {
            bool overlap = list[i].distance < 0;
            fprintf(stream, "%s%s and %s, %s%.4g %s%s", i == 0 ? " In the way here: " : "; ", list[i].a, list[i].b,
                    overlap ? "which overlap by " : "", fabs(list[i].distance), job->length_unit, overlap ? "" : " apart");
        }
    }
    if (count > SHOWN) {
        fprintf(stream, "; and %d more", count - SHOWN);
    }
    fputs(count > 0 ? "." : "", stream);
    if (has_own) {
        fprintf(stream, " Bodies that touch by design are left alone by --neighbours %d or --srdf FILE.",
                job->avoided.neighbours + 1);
    }
    if (has_obstacle) {
        fputs(" An obstacle that a body never leaves, as a floor under a base, has to be moved by as much.", stream);
    }
    if (margin > 0) {
        fprintf(stream, " A --margin below %.4g %s asks for less%s.", margin, job->length_unit,
                lacks_margin && !job->avoided.margins ? ", and --self-margin 0 for none between bodies of the model" : "");
    }
    free(list);
}

void solve_add_blocking(const solve_job *job, FILE *stream)
{
    const avoided *a = &job->avoided;
    bool has_loops = a->count > a->first_loop;
    if (!a->has_shapes && !a->polygon) {
        fputs("No pose was found that closes the loops; this one is the least open that was tried.", stream);
        return;
    }
    if (!a->has_shapes) {
        fprintf(stream, "No pose was found that keeps its balance%s, whether it meets the goals or not.",
                has_loops ? " and closes the loops" : "");
        return;
    }
    fprintf(stream, "No pose was found that keeps the shapes apart%s%s%s, whether it meets the goals or not.",
            a->constraints[0].margin > 0 || a->margins ? " by the margin" : "", a->polygon ? ", keeps its balance" : "",
            has_loops ? " and closes the loops" : "");
    add_close(job, stream);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

static json_node *close_as_json(const solve_job *job)
{
    solve_close_bodies *list;
    int count = solve_find_close(job, 0, &list);
    json_node *made = json_new(JSON_ARRAY);
    for (int i = 0; i < count; ++i) {
        json_append(made, json_make("{s:o, s:o, s:o}", "a", json_from_text(list[i].a), "b", json_from_text(list[i].b),
                                    "distance", json_from_number(list[i].distance)));
    }
    free(list);
    return made;
}

json_node *solve_shapes_as_json(const solve_job *job)
{
    char a[128] = "", b[128] = "";
    const poise_constraint *apart = &job->avoided.constraints[0];
    double margin, distance = nearest_pair(job, a, b, &margin);
    bool is_checked = apart->pair_count > 0 && distance < DBL_MAX / 2;
    json_node *o = json_make("{s:o, s:b, s:i, s:i, s:i, s:o, s:o}", "holds",
                             is_checked ? json_from_bool(job->report.holds) : json_new(JSON_NULL), "checks_all",
                             is_checked && job->file->shapes_skipped == 0, "shapes", apart->shape_count, "pairs",
                             apart->pair_count, "meshes_not_read", job->file->shapes_skipped, "margin",
                             json_from_number(apart->margin), "clearance", json_from_number(is_checked ? distance : NAN));
    json_set(o, "pairs_left_out", json_from_integer(job->avoided.touching->pair_count));
    json_set(o, "always_touch", avoid_touching_as_json(&job->avoided));
    json_set(o, "cannot_move", avoid_still_as_json(&job->avoided));
    json_set(o, "nearest",
             is_checked ? json_make("{s:o, s:o}", "a", json_from_text(a), "b", json_from_text(b)) : json_new(JSON_NULL));
    if (job->avoided.margins) {
        json_set(o, "margin_of_nearest", json_from_number(margin));
    }
    json_set(o, "blocks", json_from_bool(job->report.blocking != POISE_NONE));
    json_set(o, "in_the_way", close_as_json(job));
    return o;
}

json_node *solve_balance_as_json(const solve_job *job)
{
    double room = poise_solver_constraint_room(job->solver, job->avoided.first_loop - 1, NULL);
    return json_make("{s:b, s:o}", "holds", room >= 0, "room", json_from_number(room));
}

json_node *solve_loops_as_json(const solve_job *job)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = job->avoided.first_loop; i < job->avoided.count; ++i) {
        char name[300];
        avoid_name(&job->avoided, i, 0, name, sizeof name);
        double open = -poise_solver_constraint_room(job->solver, i, NULL);
        json_append(list, json_make("{s:o, s:o, s:b}", "loop", json_from_text(name), "error", json_from_number(open),
                                    "closed", holds(job, i)));
    }
    return list;
}
