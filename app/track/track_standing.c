// Following a recording: a static trial first, which tells where markers sit and how long bones are.
#include "track_parts.h"

#include "cli/terminal.h"

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
    poise_recording_problem trial = poise_recording_trial(&r->problem, r->standing->markers, scale);
    if (poise_track_recording(&trial, NULL, &r->stood, &error) != POISE_OK) {
        complain("%s: %s", name, error.text);
        return false;
    }
    poise_recording_stand(&r->problem, r->stood);
    note_standing(r);
    return true;
}
