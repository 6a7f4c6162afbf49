// What keeps poise solve from its goals: they are solved for again without one kind of constraint at a time.
#include "cli/memory.h"
#include "cli/terminal.h"
#include "solve_parts.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 8 }; // restarts of a solve that is only asked whether it can be done

static const char *const names[SOLVE_BLOCKERS] = {
    [SOLVE_BLOCKED_BY_SHAPES] = "shapes", [SOLVE_BLOCKED_BY_BALANCE] = "balance", [SOLVE_BLOCKED_BY_LOOPS] = "loops",
    [SOLVE_BLOCKED_BY_LIMITS] = "limits", [SOLVE_BLOCKED_TOGETHER] = "together",
};

// Which kind a constraint of the job is of.
static solve_blocker kind_of(const solve_job *job, int constraint)
{
    return constraint >= job->avoided.first_loop                                   ? SOLVE_BLOCKED_BY_LOOPS
           : job->avoided.constraints[constraint].kind == POISE_CONSTRAINT_BALANCE ? SOLVE_BLOCKED_BY_BALANCE
                                                                                   : SOLVE_BLOCKED_BY_SHAPES;
}

// Is every goal met by a solve from the same start without these kinds of constraints (bits)?
static bool is_met_without(const solve_job *job, unsigned left_out)
{
    poise_constraint *kept = needed(calloc((size_t)job->avoided.count + 1, sizeof *kept));
    int count = 0;
    for (int i = 0; i < job->avoided.count; ++i) {
        if (!(left_out & 1u << kind_of(job, i))) {
            kept[count++] = job->avoided.constraints[i];
        }
    }
    solve_job other = *job;
    other.options.use_limits = job->options.use_limits && !(left_out & 1u << SOLVE_BLOCKED_BY_LIMITS);
    other.options.restarts = job->options.restarts < TRIES ? job->options.restarts : TRIES;
    other.options.trace = NULL;
    other.options.trace_capacity = 0;
    double *q = needed(calloc((size_t)poise_model_info(job->model).nq + 1, sizeof *q));
    memcpy(q, job->start, sizeof *q * (size_t)poise_model_info(job->model).nq);
    poise_report report = {0};
    other.solver = NULL;
    bool is_met =
        poise_solver_create(job->model, &other.options, NULL, &other.solver, NULL) == POISE_OK &&
        poise_solve_within(other.solver, job->list->goals, job->list->count, kept, count, q, &report, NULL) == POISE_OK &&
        report.holds;
    for (int i = 0; is_met && i < job->list->count; ++i) {
        is_met = solve_goal_is_met(&other, i);
    }
    poise_solver_destroy(other.solver);
    free(q);
    free(kept);
    return is_met;
}

// Without constraints limits alone can block, if joints are at them; where they do not, there is nothing to say.
static void ask_limits(solve_job *job)
{
    if (job->options.use_limits && job->report.active_limits > 0 && is_met_without(job, 1u << SOLVE_BLOCKED_BY_LIMITS)) {
        job->blockers_sought = true;
        job->blockers = 1u << SOLVE_BLOCKED_BY_LIMITS;
    }
}

void solve_find_blockers(solve_job *job)
{
    unsigned all = 0;
    if (job->reached || job->options.method != POISE_METHOD_AUTO) {
        return;
    }
    if (job->avoided.count == 0) {
        ask_limits(job);
        return;
    }
    job->blockers_sought = true;
    for (int i = 0; i < job->avoided.count; ++i) {
        all |= 1u << kind_of(job, i);
    }
    all |= job->options.use_limits ? 1u << SOLVE_BLOCKED_BY_LIMITS : 0;
    for (solve_blocker k = 0; k < SOLVE_BLOCKED_TOGETHER; ++k) {
        bool is_last_resort = k == SOLVE_BLOCKED_BY_LIMITS; // searched among all pairs, which takes as long as the solve
        if (all & 1u << k && !(is_last_resort && job->blockers) && is_met_without(job, 1u << k)) {
            job->blockers |= 1u << k;
        }
    }
    if (job->blockers == 0 && is_met_without(job, all)) {
        job->blockers = 1u << SOLVE_BLOCKED_TOGETHER;
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

static void add_blocker(const solve_job *job, solve_blocker kind, FILE *stream)
{
    int item = 0;
    switch (kind) {
    case SOLVE_BLOCKED_BY_SHAPES:
        fputs(" If ", stream);
        add_touching_pairs(job, stream);
        fputs(" could overlap", stream);
        break;
    case SOLVE_BLOCKED_BY_BALANCE:
        poise_solver_constraint_room(job->solver, job->avoided.first_loop - 1, &item);
        fprintf(stream, " Without the balance (side %d of its polygon)", item + 1);
        break;
    case SOLVE_BLOCKED_BY_LOOPS:
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
    } else if (job->blockers == 1u << SOLVE_BLOCKED_TOGETHER) {
        fputs(" Several kinds of limits and constraints block: only without all of them would the goals be met.", stream);
    }
    for (solve_blocker k = 0; k < SOLVE_BLOCKED_TOGETHER; ++k) {
        if (job->blockers & 1u << k) {
            add_blocker(job, k, stream);
        }
    }
}

// ---- Soft goals ----------------------------------------------------------------------------------------------------------

// Would the goals be met without the soft ones?
static bool is_met_without_soft(const solve_job *job)
{
    solve_job other = *job;
    poise_goal_list hard = *job->list;
    hard.goals = needed(calloc((size_t)hard.count + 1, sizeof *hard.goals));
    hard.count = 0;
    for (int i = 0; i < job->list->count; ++i) {
        if (!goal_is_soft(&job->list->goals[i])) {
            hard.goals[hard.count++] = job->list->goals[i];
        }
    }
    other.list = &hard;
    bool is_met = hard.count > 0 && is_met_without(&other, 0);
    free(hard.goals);
    return is_met;
}

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
    fputs(is_met_without_soft(job) ? ") the others would be met: less weight comes closer."
                                   : ") the others were not met either.",
          stream);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

json_node *solve_blockers_as_json(const solve_job *job)
{
    json_node *list = json_new(JSON_ARRAY);
    for (solve_blocker k = 0; k < SOLVE_BLOCKERS; ++k) {
        if (job->blockers & 1u << k) {
            json_append(list, json_from_text(names[k]));
        }
    }
    return list;
}
