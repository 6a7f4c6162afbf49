// Hello, inverse kinematics: a seven-joint arm puts its hand on a point.
#include <poise/poise.h>
#include <scenes/scenes.h>

#include <stdio.h>

int main(void)
{
    poise_model *arm;
    poise_solver *solver;
    poise_solver_options options = poise_solver_options_default();
    if (scene_create("arm7", NULL, &arm, NULL) || poise_solver_create(arm, &options, NULL, &solver, NULL)) {
        return 1;
    }
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0.4, 0.2, 0.5));
    poise_goal_at_tool(&goal, arm, "tip", NULL);
    double q[7] = {0.1, 0.4, 0.1, -1.2, 0.1, 0.9, 0.1}; // where to start; then the answer
    poise_report report = {.outcome = POISE_OUTCOME_COUNT};
    poise_solve(solver, &goal, 1, q, &report, NULL);
    printf("%s after %d iterations, %.1e m off; elbow at %.3f rad\n", poise_outcome_name(report.outcome), report.iterations,
           report.worst_length, q[3]);
    poise_solver_destroy(solver);
    poise_model_destroy(arm);
    return report.outcome == POISE_OUTCOME_REACHED ? 0 : 1;
}
