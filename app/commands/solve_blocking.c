// What keeps poise solve from its goals, in words.
#include "cli/memory.h"
#include "cli/terminal.h"
#include "solve_parts.h"

#include <stdlib.h>

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
