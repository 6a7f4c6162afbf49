// One POSE goal on an arm, several problems side by side.
//
// A lane holds one search. When it ends, its problem takes up the one solver there is, as poise_solve would have it at this
// point: another search, then the lane gets a new start; or the report, then the lane gets the next problem. All lanes of a
// pass are on the same chain; problems for other frames wait for a pass of their own.
#include "base/cpu.h"
#include "batch/batch.h"
#include "solve/arm_kernel.h"

#define LEAST_JOINTS 6 // shorter chains take another step (solve/arm_kernel.h)
#define FEW          4 // a share of the lanes: with fewer busy than one in so many, one after another is faster

typedef struct lane {
    poise_problem *problem;
    pz_call call; // of the problem, in the solver
    pz_arm_call search;
} lane;

typedef struct engine {
    lane lanes[PZ_ARM_LANES_MOST];
    int width;
    unsigned busy; // bits of the lanes that hold a search
    const pz_arm_kernel *kernel;
    void *state; // of the kernel
    poise_solver *solver;
    const pz_arm_chain *chain;      // of the pass
    int most;                       // iterations of a search
    poise_problem *queue[PZ_PIECE]; // of the piece, those of the pass first
    int next, queued;               // of the pass
} engine;

// ---- Which problems ------------------------------------------------------------------------------------------------------

// Hinges on the way to joint k; -1 when there are other joints.
static int count_hinges(const poise_model *model, int k)
{
    int hinges = 0;
    for (; k != POISE_WORLD; k = model->joints[k].parent) {
        const pz_joint *joint = &model->joints[k];
        int steps = joint->step_end - joint->step_begin;
        if (steps > 1 ||
            (steps == 1 && (joint->mimic != POISE_WORLD || !pz_step_is_turn(model->steps[joint->step_begin].kind)))) {
            return -1;
        }
        hinges += steps;
    }
    return hinges;
}

static bool has_chain(const poise_model *model)
{
    for (int k = 0; k < model->joint_count; ++k) {
        int hinges = count_hinges(model, k);
        if (hinges >= LEAST_JOINTS && hinges <= PZ_ARM_MOST) {
            return true;
        }
    }
    return false;
}

// The widest registers that the processor has and the caller wants.
static int arm_lane_count(const poise_model *model, const poise_batch_options *options)
{
    int wanted = options->lanes == 0 ? PZ_ARM_LANES_MOST : options->lanes;
    int lanes = pz_cpu_lanes(wanted);
    bool fits = options->solver.method == POISE_METHOD_AUTO && !options->solver.engine &&
                pz_arm_options_fit(&options->solver) && !options->solver.arm.seed_table && has_chain(model);
    return fits ? lanes : 1;
}

static void *arm_lay_out(poise_solver *solver, const poise_batch_options *options, const poise_model *model, int lanes,
                         pz_arena *arena)
{
    const pz_arm_kernel *kernel = lanes == 8 ? &pz_arm_kernel_8 : lanes == 4 ? &pz_arm_kernel_4 : &pz_arm_kernel_2;
    engine *e = pz_arena_take(arena, 1, sizeof *e);
    void *state = pz_arena_take(arena, 1, kernel->size);
    double *starts = pz_arena_take(arena, (size_t)lanes * (size_t)model->nq, sizeof *starts);
    if (e && state && starts) {
        memset(e, 0, sizeof *e);
        memset(state, 0, kernel->size);
        e->solver = solver;
        e->width = lanes;
        e->kernel = kernel;
        e->state = state;
        e->most = pz_arm_search_most(options->solver.max_iterations);
        for (int l = 0; l < lanes; ++l) {
            e->lanes[l].call.problem.q_start = starts + l * model->nq;
        }
    }
    return e;
}

static bool arm_serves(void *scratch, const poise_problem *problem)
{
    (void)scratch;
    return problem->goal_count == 1 && problem->goals && problem->goals->kind == POISE_GOAL_POSE;
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

static void arm_solve_alone(const engine *e, poise_problem *p)
{
    p->status = poise_solve(e->solver, p->goals, p->goal_count, p->q, &p->report, NULL);
}

// Begin the search that the current call wants next.
static void arm_begin_lane(engine *e, int l)
{
    pz_arm_begin_search(e->solver, &e->lanes[l].search);
    e->kernel->begin(e->state, l, e->chain, &e->lanes[l].search.run);
}

// Give the problem to the lane. False: it is solved already, or refused.
static bool arm_load(engine *e, int l, poise_problem *p)
{
    lane *here = &e->lanes[l];
    p->status = pz_solve_begin_call(e->solver, &here->call, p->goals, p->goal_count, p->q, NULL);
    if (p->status != POISE_OK) {
        return false;
    }
    bool fits = pz_arm_prepare(e->solver, e->solver->arm, &here->search);
    const pz_arm_chain *chain = here->search.chain;
    if (!fits || chain->slides || chain->n < LEAST_JOINTS || here->search.target.has_band) {
        arm_solve_alone(e, p);
        return false;
    }
    e->chain = chain;
    here->problem = p;
    e->kernel->aim(e->state, l, chain, &here->search.target, &here->search.run);
    arm_begin_lane(e, l);
    return true;
}

// Bring the problem that is next but one, and the goal and the start of the next one, nearer to the processor.
static void prefetch_next(const engine *e)
{
    if (e->next + 1 < e->queued) {
        const poise_problem *p = e->queue[e->next];
        const char *goal = (const char *)p->goals;
        for (size_t at = 0; at < sizeof *p->goals; at += PZ_ALIGNMENT) {
            PZ_FETCH(goal + at);
        }
        PZ_FETCH(p->q);
        PZ_FETCH(e->queue[e->next + 1]);
    }
}

static void arm_refill(engine *e, int l)
{
    e->busy &= ~(1u << l);
    while (e->next < e->queued) {
        if (arm_load(e, l, e->queue[e->next++])) {
            e->busy |= 1u << l;
            prefetch_next(e);
            return;
        }
    }
}

static int count_bits(unsigned bits)
{
    int count = 0;
    for (; bits; bits &= bits - 1) {
        count += 1;
    }
    return count;
}

static int lowest(unsigned bits)
{
    return __builtin_ctz(bits);
}

// The search in a lane is over: the next one, or the next problem.
static void arm_end_lane(engine *e, int l, bool met)
{
    lane *here = &e->lanes[l];
    poise_solver *solver = e->solver;
    pz_solve_continue(solver, &here->call);
    bool over = pz_arm_end_search(solver, &here->search, met);
    bool alone = e->next == e->queued && count_bits(e->busy) * FEW <= e->width;
    while (!over && alone) {
        pz_arm_begin_search(solver, &here->search);
        over = pz_arm_end_search(solver, &here->search,
                                 pz_arm_search(e->chain, &here->search.target, e->most, &here->search.run));
    }
    if (!over) {
        arm_begin_lane(e, l);
        return;
    }
    pz_arm_conclude(solver, &here->search);
    pz_solve_end(solver, here->problem->q, &here->problem->report);
    arm_refill(e, l);
}

// ---- Passes --------------------------------------------------------------------------------------------------------------

static bool have_one_frame(const poise_goal *a, const poise_goal *b)
{
    return a->body == b->body && memcmp(&a->local, &b->local, sizeof a->local) == 0;
}

// Bring the problems that have the frame of the first to the front; returns how many there are.
static int group_alike(poise_problem **problems, int count)
{
    int alike = 1;
    for (int i = 1; i < count; ++i) {
        poise_problem *p = problems[i];
        if (have_one_frame(problems[0]->goals, p->goals)) {
            problems[i] = problems[alike];
            problems[alike++] = p;
        }
    }
    return alike;
}

// Solve queue[next .. queued).
static void arm_pass(engine *e)
{
    if ((e->queued - e->next) * FEW <= e->width) {
        while (e->next < e->queued) {
            arm_solve_alone(e, e->queue[e->next++]);
        }
        return;
    }
    for (int l = 0; l < e->width; ++l) {
        arm_refill(e, l);
    }
    while (e->busy) {
        pz_arm_stops stops = e->kernel->evaluate(e->state, e->busy, e->chain, e->most);
        unsigned stopped = stops.stopped & e->busy;
        for (unsigned left = stopped; left; left &= left - 1) {
            int l = lowest(left);
            e->kernel->get_end(e->state, l, e->chain, &e->lanes[l].search.run);
        }
        e->kernel->step(e->state, e->busy, e->chain);
        for (unsigned left = stopped; left; left &= left - 1) {
            int l = lowest(left);
            e->kernel->get_numbers(e->state, l, e->chain, &e->lanes[l].search.run);
            arm_end_lane(e, l, stops.met >> l & 1);
        }
    }
}

static void arm_run(void *scratch, poise_problem *const *problems, int count)
{
    engine *e = scratch;
    memcpy(e->queue, problems, (size_t)count * sizeof *problems);
    e->next = 0;
    while (e->next < count) {
        e->queued = e->next + group_alike(e->queue + e->next, count - e->next);
        arm_pass(e);
    }
}

const pz_engine_row pz_arm_engine = {.lanes = arm_lane_count, .lay_out = arm_lay_out, .serves = arm_serves, .run = arm_run};
