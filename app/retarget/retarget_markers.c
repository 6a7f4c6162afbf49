// A recording of markers as the source: a skeleton follows it first, as `poise track` does.
#include "retarget_parts.h"

#include "cli/terminal.h"

// The frames of a recording depend on each other as one would expect of a person: all are solved at once, on bones of the
// person's size.
static poise_recording_problem problem_of(const retarget_job *j)
{
    poise_recording_problem p = poise_recording_of_files(j->skeleton, j->motion);
    p.whole = true;
    p.fit = POISE_FIT_UNIFORM;
    return p;
}

bool retarget_track_markers(retarget_job *j, const char *model_name)
{
    poise_error error = {0};
    if (!j->skeleton) {
        j->skeleton = load_model(model_name ? model_name : RETARGET_ACTOR, NULL);
    }
    if (!j->skeleton) {
        return false;
    }
    poise_recording_problem problem = problem_of(j);
    if (poise_track_recording(&problem, NULL, &j->tracked, &error) != POISE_OK) {
        complain("%s: %s; see poise help track for what to say of a recording, then retarget its output", j->motion_name,
                 error.text);
        return false;
    }
    j->motion->clip = j->tracked->clip;
    j->tracked->clip = NULL; // the file's from now on
    j->skeleton->scale = j->tracked->scale;
    j->from = j->tracked->model;
    return true;
}

void retarget_judge_track(retarget_job *j)
{
    const poise_recording_result *r = j->tracked;
    if (r) {
        poise_verdict_join(&j->verdict, j->findings, RETARGET_FINDINGS, &r->verdict, r->findings, r->verdict.count);
        j->verdict.count = j->verdict.count < RETARGET_FINDINGS ? j->verdict.count : RETARGET_FINDINGS;
    }
}

void retarget_print_track(const retarget_job *j, FILE *stream)
{
    const poise_recording_result *r = j->tracked;
    double times = r->scale.metres > 0 ? 1000 * r->scale.metres : 1;
    fprintf(stream, "  tracked     %d marker%s, mean error %.1f %s, by %s%s\n", r->placement_count,
            r->placement_count == 1 ? "" : "s", times * r->summary.mean, r->scale.metres > 0 ? "mm" : "units", j->actor_name,
            r->fitted ? " in the person's size" : "");
}
