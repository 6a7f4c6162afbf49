// A page about a recording that was followed: the template track_page.html with data put into it.
#include "cli/command.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "cli/verdict_text.h"
#include "page/page.h"
#include "track_print.h"

#include <poise/edit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// track_page.html, ended by a zero; made by cmake/embed.cmake when the program is built
extern const unsigned char track_page_text[];

enum { MOST_POINTS = 4000, MOST_FLAGGED = 500, PLAYBACK_BYTES = 2000000 };

// ---- Curves --------------------------------------------------------------------------------------------------------------

// One point for each `step` frames: the largest of them, and all their flags. NaN: nobody is there in any of them.
static json_node *series_as_json(const track_result *r, double per)
{
    int frames = r->made->markers->frames, step = (frames + MOST_POINTS - 1) / MOST_POINTS,
        count = (frames + step - 1) / step;
    size_t n = (size_t)count;
    float *curves = calloc(3 * n, sizeof *curves);
    unsigned char *flags = calloc(n, 1);
    for (size_t i = 0; curves && i < 2 * n; ++i) {
        curves[i] = NAN;
    }
    for (int f = 0; curves && flags && f < frames; ++f) {
        const poise_track_frame *t = &r->made->frames[f];
        int i = f / step;
        if (!track_is_away(r, f)) {
            curves[i] = fmaxf(curves[i], (float)(t->rms * per));
            curves[count + i] = fmaxf(curves[count + i], (float)(t->worst * per));
        }
        curves[2 * count + i] = fmaxf(curves[2 * count + i], (float)t->iterations);
        flags[i] |= (unsigned char)(t->flags & ~(track_is_away(r, f) ? POISE_TRACK_HELD | POISE_TRACK_GAPS : 0));
    }
    json_node *o = json_make("{s:i, s:o, s:o, s:o, s:o}", "step", step, "rms", page_packed(curves, 4 * n), "worst",
                             page_packed(curves ? curves + n : NULL, 4 * n), "iterations",
                             page_packed(curves ? curves + 2 * n : NULL, 4 * n), "flags", page_packed(flags, n));
    free(curves);
    free(flags);
    return o;
}

// ---- Playback ------------------------------------------------------------------------------------------------------------

// Points of every pose, one after another: bodies, tools and ends, markers as seen, markers as found. An end is the middle
// of the markers of a body from which nothing hangs, such as OpenSim's torso: without it the drawing would have none.
typedef struct playback {
    int step, poses, bodies, tools, ends, markers, points;
    poise_placement *end;  // by end: body and place
    poise_vec3 *at;        // poses x points; not finite: not seen
    unsigned char *states; // poses x markers: 0 not seen, 1 seen, 2 ignored
} playback;

static bool has_more(const poise_model *model, int body)
{
    bool found = false;
    for (int k = 0; k < poise_model_info(model).joints && !found; ++k) {
        found = poise_model_joint_info(model, k).parent == body;
    }
    for (int k = 0; k < poise_model_info(model).tools && !found; ++k) {
        found = poise_model_tool_info(model, k).body == body;
    }
    return found;
}

static bool find_ends(const track_result *r, playback *p)
{
    p->end = calloc((size_t)p->bodies + 1, sizeof *p->end);
    for (int k = 0; k < p->bodies && p->end; ++k) {
        poise_placement end = {.body = k};
        for (int i = 0; i < r->made->placement_count; ++i) {
            const poise_placement *m = &r->made->placements[i];
            if (m->body == k) {
                end.local = (poise_vec3){end.local.x + m->local.x, end.local.y + m->local.y, end.local.z + m->local.z};
                end.weight += 1;
            }
        }
        if (end.weight > 0 && !has_more(r->made->model, k)) {
            poise_vec3 *x = &end.local;
            *x = (poise_vec3){x->x / end.weight, x->y / end.weight, x->z / end.weight};
            p->end[p->ends++] = end;
        }
    }
    return p->end != NULL;
}

static void play_pose(const track_result *r, const poise_kinematics *kinematics, int frame, const playback *p, int pose)
{
    poise_vec3 *at = p->at + (size_t)pose * (size_t)p->points;
    unsigned char *state = p->states + (size_t)pose * (size_t)p->markers;
    for (int k = 0; k < p->bodies; ++k) {
        at[k] = poise_kinematics_body_pose(kinematics, k).position;
    }
    for (int k = 0; k < p->tools; ++k) {
        at[p->bodies + k] = poise_kinematics_tool_pose(kinematics, k).position;
    }
    for (int k = 0; k < p->ends; ++k) {
        at[p->bodies + p->tools + k] = poise_kinematics_point(kinematics, p->end[k].body, p->end[k].local);
    }
    poise_vec3 *seen = at + p->bodies + p->tools + p->ends, *found = seen + p->markers;
    for (int i = 0; i < p->markers; ++i) {
        found[i] = poise_kinematics_point(kinematics, r->made->placements[i].body, r->made->placements[i].local);
        double distance = r->made->distances[(size_t)frame * (size_t)p->markers + (size_t)i];
        seen[i] = found[i];
        if (!isnan(distance)) {
            int marker = poise_markers_find(r->made->markers, r->made->placements[i].label);
            seen[i] = r->made->markers->position[(size_t)frame * (size_t)r->made->markers->count + (size_t)marker];
            state[i] = poise_track_lets_go(&r->made->frames[frame], distance) ? 2 : 1;
        }
    }
}

static bool play(const track_result *r, playback *p)
{
    p->bodies = poise_model_info(r->made->model).joints;
    p->tools = poise_model_info(r->made->model).tools;
    p->markers = r->made->placement_count;
    if (!find_ends(r, p)) {
        return false;
    }
    p->points = p->bodies + p->tools + p->ends + 2 * p->markers;
    int most = PLAYBACK_BYTES / (6 * p->points + p->markers) + 1, frames = r->made->markers->frames;
    p->step = (frames + most - 1) / most;
    p->poses = (frames + p->step - 1) / p->step;
    p->at = calloc((size_t)p->poses * (size_t)p->points, sizeof *p->at);
    p->states = calloc((size_t)p->poses * (size_t)p->markers, 1);
    poise_kinematics *kinematics;
    if (!p->at || !p->states || poise_kinematics_create(r->made->model, NULL, &kinematics, NULL) != POISE_OK) {
        return false;
    }
    for (int i = 0; i < p->poses; ++i) {
        poise_kinematics_update(kinematics, r->made->clip->q + (size_t)(i * p->step) * (size_t)r->made->clip->nq, NULL);
        play_pose(r, kinematics, i * p->step, p, i);
    }
    poise_kinematics_destroy(kinematics);
    return true;
}

// The box that bodies and found markers stay in; what was seen beyond is drawn at its border.
static double box_of(const playback *p, double low[3])
{
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    low[0] = low[1] = low[2] = INFINITY;
    for (int i = 0; i < p->poses; ++i) {
        for (int k = 0; k < p->points - 2 * p->markers; ++k) {
            poise_vec3 v = p->at[(size_t)i * (size_t)p->points + (size_t)k];
            const double x[3] = {v.x, v.y, v.z};
            for (int d = 0; d < 3; ++d) {
                low[d] = fmin(low[d], x[d]);
                high[d] = fmax(high[d], x[d]);
            }
        }
    }
    double span = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]), margin = 0.25 * span + 1e-9;
    for (int d = 0; d < 3; ++d) {
        low[d] -= margin;
    }
    return span + 2 * margin;
}

static uint16_t quantise(double x, double low, double span)
{
    double share = (x - low) / span;
    return (uint16_t)(65534 * (share < 0 ? 0 : share > 1 ? 1 : share) + 0.5);
}

static json_node *points_as_json(const playback *p, const double low[3], double span)
{
    size_t count = (size_t)p->poses * (size_t)p->points;
    uint16_t *words = calloc(3 * count, sizeof *words);
    for (size_t i = 0; words && i < count; ++i) {
        words[3 * i] = quantise(p->at[i].x, low[0], span);
        words[3 * i + 1] = quantise(p->at[i].y, low[1], span);
        words[3 * i + 2] = quantise(p->at[i].z, low[2], span);
    }
    json_node *o = page_packed(words, 6 * count);
    free(words);
    return o;
}

// Does this body only slide through the world, as those of OpenSim's pelvis_tx and pelvis_ty do? They are no bones.
static bool is_slider(const poise_model *model, int body)
{
    while (body >= 0 && poise_model_joint_info(model, body).type == POISE_JOINT_PRISMATIC) {
        body = poise_model_joint_info(model, body).parent;
    }
    return body == POISE_WORLD;
}

// Lines of the drawing: from each body to its parent, from each tool and end to its body.
static json_node *bones_as_json(const poise_model *model, const playback *p)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int k = 0; k < p->bodies; ++k) {
        int parent = poise_model_joint_info(model, k).parent;
        if (parent != POISE_WORLD && !is_slider(model, parent)) {
            json_append(list, json_make("[i, i]", parent, k));
        }
    }
    for (int k = 0; k < p->tools; ++k) {
        json_append(list, json_make("[i, i]", poise_model_tool_info(model, k).body, p->bodies + k));
    }
    for (int k = 0; k < p->ends; ++k) {
        json_append(list, json_make("[i, i]", p->end[k].body, p->bodies + p->tools + k));
    }
    return list;
}

static json_node *play_as_json(const track_result *r)
{
    playback p = {0};
    double low[3], span;
    json_node *o = NULL;
    if (play(r, &p)) {
        json_node *names = json_new(JSON_ARRAY);
        for (int k = 0; k < p.bodies; ++k) {
            json_append(names, json_from_text(poise_model_joint_info(r->made->model, k).body));
        }
        for (int k = 0; k < p.tools; ++k) {
            json_append(names, json_from_text(poise_model_tool_info(r->made->model, k).name));
        }
        for (int k = 0; k < p.ends; ++k) {
            json_append(names, json_from_text(poise_model_joint_info(r->made->model, p.end[k].body).body));
        }
        span = box_of(&p, low);
        o = json_make("{s:i, s:i, s:i, s:o, s:o, s:o, s:f, s:o, s:o}", "step", p.step, "poses", p.poses, "markers",
                      p.markers, "names", names, "bones", bones_as_json(r->made->model, &p), "low",
                      json_from_numbers(low, 3), "span", span, "points", points_as_json(&p, low, span), "states",
                      page_packed(p.states, (size_t)p.poses * (size_t)p.markers));
    }
    free(p.at);
    free(p.end);
    free(p.states);
    return o;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

static bool is_flagged(const track_result *r, int frame)
{
    int flags = r->made->frames[frame].flags & ~POISE_TRACK_GAPS;
    return !track_is_away(r, frame) && (frame > 0 ? flags != 0 : (flags & ~POISE_TRACK_RESTARTED) != 0);
}

// Frames one after another that are flagged for the same reason.
typedef struct flagged_run {
    int first, last;
    bool is_bad; // held, or a jump
    double rms;  // largest
    char reason[128];
} flagged_run;

// The next run at or after `frame`; false when there is none.
static bool next_run(const track_result *r, int frame, flagged_run *run)
{
    int frames = r->made->markers->frames;
    while (frame < frames && !is_flagged(r, frame)) {
        ++frame;
    }
    if (frame == frames) {
        return false;
    }
    *run = (flagged_run){.first = frame, .is_bad = r->made->frames[frame].flags & (POISE_TRACK_HELD | POISE_TRACK_JUMP)};
    track_reason(r, frame, run->reason, sizeof run->reason);
    char reason[sizeof run->reason];
    do {
        run->rms = fmax(run->rms, r->made->frames[frame].rms);
        run->last = frame++;
        if (frame < frames && is_flagged(r, frame)) {
            track_reason(r, frame, reason, sizeof reason);
        } else {
            reason[0] = '\0';
        }
    } while (strcmp(reason, run->reason) == 0);
    return true;
}

// Where there are too many runs, those with held frames and jumps come first.
static json_node *flagged_as_json(const track_result *r, double per, int *frames, int *runs)
{
    flagged_run run;
    int bad = 0;
    *frames = *runs = 0;
    for (int f = 0; next_run(r, f, &run); f = run.last + 1) {
        *frames += run.last - run.first + 1;
        *runs += 1;
        bad += run.is_bad;
    }
    int others = bad < MOST_FLAGGED ? MOST_FLAGGED - bad : 0, room = MOST_FLAGGED;
    json_node *list = json_new(JSON_ARRAY);
    for (int f = 0; next_run(r, f, &run) && room > 0; f = run.last + 1) {
        if (run.is_bad || others > 0) {
            json_append(list, json_make("[i, i, f, s]", r->made->first + run.first, r->made->first + run.last, run.rms * per,
                                        run.reason));
            others -= !run.is_bad;
            room -= 1;
        }
    }
    return list;
}

static json_node *markers_as_json(const track_result *r, double per)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < r->made->placement_count; ++i) {
        const poise_marker_error *m = &r->made->by_marker[i];
        json_append(list, json_make("{s:o, s:o, s:f, s:f, s:i, s:i, s:i}", "name",
                                    json_from_text(r->made->placements[i].label), "body",
                                    json_from_text(poise_model_joint_info(r->made->model, r->made->placements[i].body).body),
                                    "mean", m->mean * per, "most", m->worst * per, "worst_frame",
                                    r->made->first + m->worst_frame, "seen", m->seen, "let_go", m->let_go));
    }
    return list;
}

static json_node *summary_as_json(const track_result *r, double per)
{
    return json_make("{s:f, s:f, s:o, s:i, s:i, s:i, s:f, s:i, s:f, s:f}", "mean", r->made->summary.mean * per, "most",
                     r->made->summary.worst * per, "most_marker",
                     json_from_text(r->made->placements[r->made->summary.worst_marker].label), "most_frame",
                     r->made->first + r->made->summary.worst_frame, "held", r->made->summary.held, "outliers",
                     r->made->summary.outliers, "iterations", r->made->summary.mean_iterations, "most_iterations",
                     r->made->summary.most_iterations, "us", 1e6 * r->mean_time, "p99", 1e6 * r->p99);
}

// Which way is up, for playback, where no file says it: along the axis on which bodies stay nearest to 0 from above, as they
// do on a floor.
static poise_up likely_up(const track_result *r)
{
    if (r->made->scale.up != POISE_UP_UNKNOWN) {
        return r->made->scale.up;
    }
    double below[3] = {0};
    const poise_markers *m = r->made->markers;
    for (int f = 0; f < m->frames; ++f) {
        double low[3] = {INFINITY, INFINITY, INFINITY};
        for (int i = 0; i < m->count; ++i) {
            if (poise_markers_seen(m, f, i)) {
                poise_vec3 v = m->position[(size_t)f * (size_t)m->count + (size_t)i];
                low[0] = fmin(low[0], v.x);
                low[1] = fmin(low[1], v.y);
                low[2] = fmin(low[2], v.z);
            }
        }
        for (int k = 0; k < 3 && isfinite(low[k]); ++k) {
            below[k] += fabs(low[k]);
        }
    }
    int best = below[2] < below[1] ? 2 : 1;
    return below[0] < below[best] ? POISE_UP_X : best == 2 ? POISE_UP_Z : POISE_UP_Y;
}

// When the ball of a foot rests on the ground: [body, first frame, last frame]; none where there are no legs, and while
// nobody is there.
static json_node *contacts_as_json(const track_result *r)
{
    const poise_clip *clip = r->made->clip;
    int before = r->made->summary.before, end = clip->frames - r->made->summary.after;
    poise_feet_report found = {0};
    json_node *list = json_new(JSON_ARRAY);
    poise_pin *pins = NULL;
    if (poise_feet_pins(r->made->model, clip, NULL, NULL, 0, &found, NULL) == POISE_OK && found.contacts > 0) {
        pins = calloc((size_t)found.contacts, sizeof *pins);
    }
    if (pins && poise_feet_pins(r->made->model, clip, NULL, pins, found.contacts, &found, NULL) == POISE_OK) {
        for (int i = 0; i < found.contacts; ++i) {
            int first = (int)((pins[i].from - clip->start_time) / clip->frame_time + 0.5);
            int last = (int)((pins[i].to - clip->start_time) / clip->frame_time + 0.5);
            first = first > before ? first : before;
            last = last < end ? last : end - 1;
            if (first < last) {
                const char *foot = poise_model_joint_info(r->made->model, pins[i].goal.body).body;
                json_append(list,
                            json_make("[o, i, i]", json_from_text(foot), r->made->first + first, r->made->first + last));
            }
        }
    }
    free(pins);
    return list;
}

// ---- The page ------------------------------------------------------------------------------------------------------------

static json_node *data_of(const track_result *r, const arguments *args)
{
    const char *unit;
    double per = track_unit(r, &unit);
    int frames, runs;
    json_node *flagged = flagged_as_json(r, per, &frames, &runs), *notes = json_new(JSON_ARRAY);
    for (int i = 0; i < r->note_count; ++i) {
        json_append(notes, json_from_text(r->note[i]));
    }
    json_node *o =
        json_make("{s:s, s:o, s:o, s:o, s:s, s:s, s:i, s:i, s:i, s:f, s:f, s:i, s:i, s:i, s:b}", "version", poise_version(),
                  "command", page_command(args), "model", json_from_text(r->model_name), "source",
                  json_from_text(r->source_name), "method", poise_method_name(r->problem.track.solver.method), "unit", unit,
                  "frames", r->made->markers->frames, "gaps", r->made->summary.gaps, "first", r->made->first, "rate",
                  r->made->markers->rate, "start", r->made->clip->start_time, "dofs", poise_model_info(r->made->model).nv,
                  "placed", r->made->placement_count, "up", (int)likely_up(r), "from_motion", (int)r->made->from_motion);
    json_node *tables = json_make("{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}", "verdict",
                                  verdict_as_json(&r->made->verdict, r->made->findings, VERDICT_OF_TRACK), "sure",
                                  track_sureness_as_json(r), "notes", notes, "summary", summary_as_json(r, per), "flagged",
                                  flagged, "flagged_frames", frames, "flagged_rows", runs, "markers",
                                  markers_as_json(r, per), "series", series_as_json(r, per), "play", play_as_json(r));
    if (!o || !tables) {
        json_release(o);
        json_release(tables);
        return NULL;
    }
    json_set(tables, "angles", track_angles_as_json(r));
    json_set(tables, "contacts", contacts_as_json(r));
    json_merge(o, tables);
    return o;
}

bool report_write(const track_result *r, const char *name, const arguments *args)
{
    return page_write((const char *)track_page_text, data_of(r, args), name);
}
