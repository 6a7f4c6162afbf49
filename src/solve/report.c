// How a solve ended, in words, and where its report is written: here and nowhere else.
#include "solve/solver_state.h"

static const struct {
    const char *name, *text;
} whys[POISE_WHY_COUNT] = {
    [POISE_WHY_NONE] = {"none", ""},
    [POISE_WHY_REACHED] = {"reached", "every goal is met"},
    [POISE_WHY_CLOSEST] = {"closest", "no direction within the limits comes closer"},
    [POISE_WHY_PULLED] = {"pulled", "soft goals pull as well, and no direction within the limits lowers the sum"},
    [POISE_WHY_HELD] = {"held", "every goal is met but the soft ones, which come as near as they can"},
    [POISE_WHY_CONSTRAINED] = {"constrained", "no direction within limits and constraints comes closer"},
    [POISE_WHY_CONSTRAINED_PULLED] = {"constrained_pulled",
                                      "soft goals pull as well, and no direction within limits and constraints lowers the "
                                      "sum"},
    [POISE_WHY_LEVELS] = {"levels", "no level comes closer without disturbing one above"},
    [POISE_WHY_STALLED] = {"stalled", "steps no longer change the cost"},
    [POISE_WHY_LIMITS] = {"limits", "in reach but for the limits of joints, and no way within them was found"},
    [POISE_WHY_BESIDE] = {"beside", "so near the goal that a way to it may have been missed"},
    [POISE_WHY_REFUTED] = {"refuted", "no small step comes closer, but a longer one does"},
    [POISE_WHY_REACHING] = {"reaching", "reaching no longer comes closer"},
    [POISE_WHY_MOVED_INSIDE] = {"moved_inside", "the method left the limits; its answer was moved back inside"},
    [POISE_WHY_OVERFLOW] = {"overflow", "the cost at the start is too large to represent"},
    [POISE_WHY_BELOW_ZERO] = {"below_zero",
                              "the energy of a CALLBACK goal is below 0, where nothing is met or closest: add a "
                              "constant to it"},
    [POISE_WHY_BUDGET] = {"budget", "the iterations were used up"},
    [POISE_WHY_NO_ITERATIONS] = {"no_iterations", "no iterations were allowed"},
    [POISE_WHY_STEP] = {"step", "one step on the way"},
    [POISE_WHY_INFEASIBLE] = {"infeasible", "no configuration was found that holds every constraint"},
};

const char *poise_why_name(poise_why why)
{
    return (unsigned)why < POISE_WHY_COUNT ? whys[why].name : "unknown";
}

const char *poise_why_text(poise_why why)
{
    return (unsigned)why < POISE_WHY_COUNT ? whys[why].text : "";
}

const char *poise_outcome_name(poise_outcome outcome)
{
    static const char *const names[POISE_OUTCOME_COUNT] = {"reached", "closest", "stalled", "budget", "infeasible"};
    return (unsigned)outcome < POISE_OUTCOME_COUNT ? names[outcome] : "unknown";
}

bool pz_outcome_is_worse(poise_outcome a, poise_outcome b)
{
    static const int rank[POISE_OUTCOME_COUNT] = {[POISE_OUTCOME_REACHED] = 0,
                                                  [POISE_OUTCOME_CLOSEST] = 1,
                                                  [POISE_OUTCOME_STALLED] = 2,
                                                  [POISE_OUTCOME_BUDGET] = 3,
                                                  [POISE_OUTCOME_INFEASIBLE] = 4};
    return rank[a] > rank[b];
}

void pz_report_hand_out(const poise_solver *solver, poise_report *report)
{
    if (report) {
        *report = solver->report;
        report->reason = poise_why_text(report->why);
    }
}
