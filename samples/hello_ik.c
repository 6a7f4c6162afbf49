// Hello, inverse kinematics: a seven-joint arm puts its hand on a point.
//
// Needs the installed library alone: cc hello_ik.c $(pkg-config --cflags --libs poise)
#include <poise/poise.h>

#include <stdio.h>

#define RIGHT 1.5707963267948966 // a right angle

int main(void)
{
    // built like a human arm: shoulder, elbow and wrist, with a turn along the axis between them
    static const poise_dh_row rows[7] = {
        {.alpha = -RIGHT, .d = 0.36, .lower = -2.9, .upper = 2.9},
        {.alpha = RIGHT, .lower = -2, .upper = 2},
        {.alpha = RIGHT, .d = 0.42, .lower = -2.9, .upper = 2.9},
        {.alpha = -RIGHT, .lower = -2, .upper = 2},
        {.alpha = -RIGHT, .d = 0.4, .lower = -2.9, .upper = 2.9},
        {.alpha = RIGHT, .lower = -2, .upper = 2},
        {.d = 0.13, .lower = -3, .upper = 3},
    };
    poise_builder *builder;
    poise_model *arm;
    poise_solver *solver;
    poise_solver_options options = poise_solver_options_default();
    if (poise_builder_create(NULL, &builder, NULL) ||
        poise_builder_add_dh(builder, "arm", NULL, POISE_DH_CLASSIC, rows, 7, NULL) ||
        poise_model_create(builder, NULL, &arm, NULL) || poise_solver_create(arm, &options, NULL, &solver, NULL)) {
        return 1;
    }
    poise_goal goal = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(0.4, 0.2, 0.5));
    poise_goal_at_tool(&goal, arm, "armtip", NULL);
    double q[7] = {0.1, 0.4, 0.1, -1.2, 0.1, 0.9, 0.1}; // where to start; then the answer
    poise_report report = {.outcome = POISE_OUTCOME_COUNT};
    poise_solve(solver, &goal, 1, q, &report, NULL);
    printf("%s after %d iterations, %.1e m off; elbow at %.3f rad\n", poise_outcome_name(report.outcome), report.iterations,
           report.worst_length, q[3]);
    poise_solver_destroy(solver);
    poise_model_destroy(arm);
    poise_builder_destroy(builder);
    return report.outcome == POISE_OUTCOME_REACHED ? 0 : 1;
}
