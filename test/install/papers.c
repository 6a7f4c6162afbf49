// A user's program with a method of the literature and one of its own, against the installed libraries: a slide to its target.
#include <poise/papers.h>
#include <poise/poise.h>
#include <stdio.h>

static void *lay_out(const poise_method_run *run, poise_method_memory *memory)
{
    return run->call->take(memory, (size_t)run->nq, sizeof(double));
}

// Steepest descent with a fixed length, the example of <poise/method.h>.
static poise_outcome descend(poise_method_run *run)
{
    const poise_method_calls *call = run->call;
    double *q = run->scratch;
    poise_outcome outcome;
    while (!call->is_done(run, true, &outcome)) {
        for (int i = 0; i < run->nv; ++i) {
            run->step[i] = -0.5 * run->projected[i];
        }
        call->step_within(run, run->at.q, run->step, q);
        bool is_lower = call->evaluate(run, q, POISE_LEVEL_HESSIAN) < run->at.cost;
        if (is_lower) {
            call->accept(run);
        }
        bool more = call->count(run, 0.5, 0.0, is_lower, false);
        if (!is_lower) {
            return call->stuck(run, false);
        }
        if (!more) {
            return POISE_OUTCOME_BUDGET;
        }
    }
    return outcome;
}

static bool solves(const poise_model *model, const poise_method_engine *engine, poise_method method)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = method;
    options.engine = engine;
    poise_solver *solver = NULL;
    poise_error error;
    if (poise_solver_create(model, &options, NULL, &solver, &error) != POISE_OK) {
        printf("%s\n", error.text);
        return false;
    }
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0.3, 0, 0));
    poise_report report;
    double q[1] = {0};
    bool is_reached = poise_solve(solver, &goal, 1, q, &report, NULL) == POISE_OK && report.outcome == POISE_OUTCOME_REACHED;
    printf("%s: %s after %d iterations at %g\n", engine ? engine->name : "none", poise_outcome_name(report.outcome),
           report.iterations, q[0]);
    poise_solver_destroy(solver);
    return is_reached && q[0] > 0.299 && q[0] < 0.301;
}

int main(void)
{
    static const poise_method_engine mine = {.name = "mine", .lay_out = lay_out, .run = descend};
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_joint joint = poise_joint_default();
    joint.name = "slide";
    joint.type = POISE_JOINT_PRISMATIC;
    joint.axis = poise_vec3_make(1, 0, 0);
    bool is_right = poise_builder_create(NULL, &builder, NULL) == POISE_OK &&
                    poise_builder_add_joint(builder, &joint, NULL) == POISE_OK &&
                    poise_model_create(builder, NULL, &model, NULL) == POISE_OK &&
                    solves(model, poise_papers_engine(POISE_METHOD_LBFGS), POISE_METHOD_LBFGS) &&
                    solves(model, &mine, POISE_METHOD_AUTO) && !solves(model, NULL, POISE_METHOD_LBFGS);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
    return is_right ? 0 : 1;
}
