// A user's program: the one of the README, against the installed library. Fails when the arm does not reach its point.
#include <poise/poise.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts(poise_version());
        return 0;
    }
    poise_builder *builder;
    poise_builder_create(NULL, &builder, NULL);
    poise_dh_row rows[2] = {{.a = 0.4, .lower = -3, .upper = 3}, {.a = 0.3, .lower = -2, .upper = 2}};
    poise_builder_add_dh(builder, "arm", NULL, POISE_DH_CLASSIC, rows, 2, NULL);
    poise_model *arm;
    poise_model_create(builder, NULL, &arm, NULL);

    poise_solver *solver;
    poise_solver_options options = poise_solver_options_default();
    poise_solver_create(arm, &options, NULL, &solver, NULL);
    int hand = poise_model_find_body(arm, "arm2");
    poise_goal reach = poise_goal_position(hand, poise_vec3_make(0.3, 0, 0), poise_vec3_make(0.5, 0.3, 0));
    double q[2] = {0.1, 0.1};
    poise_report report;
    poise_solve(solver, &reach, 1, q, &report, NULL); // q: the angles; report.outcome: was it reached?

    printf("Poise %s: %s in %d iterations\n", poise_version(), poise_outcome_name(report.outcome), report.iterations);
    poise_solver_destroy(solver);
    poise_model_destroy(arm);
    poise_builder_destroy(builder);
    return report.outcome == POISE_OUTCOME_REACHED ? 0 : 1;
}
