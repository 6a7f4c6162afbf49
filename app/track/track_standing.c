// Following a recording: a static trial first, which tells where markers sit and how long bones are.
#include "track_parts.h"

#include "cli/terminal.h"

// The trial as a recording of its own: all of its frames, with what the problem says of the skeleton.
static poise_recording_problem trial_of(const track_result *r, poise_scale said)
{
    poise_recording_problem trial = r->problem;
    trial.markers = r->standing->markers;
    trial.from_scale = said;
    trial.first = 0;
    trial.last = -1;
    trial.rate = 0;
    trial.whole = trial.deviations = false;
    return trial;
}

static void note_standing(track_result *r)
{
    const poise_recording_result *stood = r->stood;
    const char *unit;
    r->made = r->stood; // whose unit is asked for
    double per = track_unit(r, &unit);
    r->made = NULL;
    track_note(r, "%d marker places%s from the static trial, which fits to %.3g %s: %s", stood->placement_count,
               stood->fitted ? " and bones" : "", stood->summary.mean * per, unit, poise_verdict_name(stood->verdict.level));
}

bool track_take_standing(const char *name, poise_scale scale, track_result *r)
{
    load_options options = {.model = r->skeleton->model};
    poise_error error = {0};
    r->standing = load_file(name, &options);
    if (!r->standing) {
        return false;
    }
    if (!r->standing->markers || !r->problem.markers) {
        complain("%s: a static trial has markers, and so has what is followed after it",
                 r->standing->markers ? r->source_name : name);
        return false;
    }
    poise_recording_problem trial = trial_of(r, scale);
    if (poise_track_recording(&trial, NULL, &r->stood, &error) != POISE_OK) {
        complain("%s: %s", name, error.text);
        return false;
    }
    r->problem.standing = r->stood;
    r->problem.model = r->stood->model;
    r->problem.scale = r->stood->scale;
    r->problem.placements = r->stood->placements;
    r->problem.placement_count = r->stood->placement_count;
    r->problem.placements_from = NULL;
    r->problem.only_placements = true;
    r->problem.fit = POISE_FIT_NONE;
    note_standing(r);
    return true;
}
