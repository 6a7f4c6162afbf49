// poise retarget: a motion on another skeleton: the markers of a source, pictures, words, a page, then the command.
#include "cli/command.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "commands/commands.h"
#include "page/page.h"
#include <poise/recordings.h>
#include <poise/retarget.h>

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { RETARGET_FINDINGS = 64 };

#define RETARGET_ACTOR "scene:humanoid" // follows markers, where no other skeleton is named

// A motion and what it became.
typedef struct retarget_job {
    const char *motion_name, *model_name;
    const char *actor_name;
    poise_file *motion, *skeleton; // the skeleton of an AMC or MOT, or that follows markers; NULL: the motion's file has it
    poise_recording_result *tracked; // NULL: the source is no recording of markers
    poise_file *target;
    const poise_model *from;
    poise_clip *source; // frames wanted; the motion's own where all are
    bool owns_source;
    poise_retarget_task task;
    poise_role_map map;
    double *velocity; // nv; NULL: no limits
    double metres;    // the target's unit, as its file says or as its figure tells; 0: unknown
    // made
    poise_clip *clip;
    unsigned char *contacts; // by frame
    poise_retarget_outcome outcome;
    poise_thresholds thresholds;
    poise_verdict verdict;
    poise_finding findings[RETARGET_FINDINGS];
    double seconds; // processor time
} retarget_job;

// The frames of a recording depend on each other as one would expect of a person: all are solved at once, on bones of the
// person's size.
static poise_recording_problem problem_of(const retarget_job *j)
{
    poise_recording_problem p = poise_recording_of_files(j->skeleton, j->motion);
    p.whole = true;
    p.fit = POISE_FIT_UNIFORM;
    return p;
}

// Make a motion of the markers that the source holds, and its skeleton the source's. False after one line on standard error.
static bool retarget_track_markers(retarget_job *j, const char *model_name)
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

// What speaks against that motion, into the verdict.
static void retarget_judge_track(retarget_job *j)
{
    const poise_recording_result *r = j->tracked;
    if (r) {
        poise_verdict_join(&j->verdict, j->findings, RETARGET_FINDINGS, &r->verdict, r->findings, r->verdict.count);
        j->verdict.count = j->verdict.count < RETARGET_FINDINGS ? j->verdict.count : RETARGET_FINDINGS;
    }
}

static void retarget_print_track(const retarget_job *j, FILE *stream)
{
    const poise_recording_result *r = j->tracked;
    double times = r->scale.metres > 0 ? 1000 * r->scale.metres : 1;
    fprintf(stream, "  tracked     %d marker%s, mean error %.1f %s, by %s%s\n", r->placement_count,
            r->placement_count == 1 ? "" : "s", times * r->summary.mean, r->scale.metres > 0 ? "mm" : "units", j->actor_name,
            r->fitted ? " in the person's size" : "");
}

// ---- The picture ---------------------------------------------------------------------------------------------------------
//
// The picture of poise retarget: poses of the motion on the left, the same of the other skeleton on the right, at one scale
// and from one side.

static const char *const from_bones[] = {"#d5dde5", "#56748f"}, *const to_bones[] = {"#f5dfb8", "#d18a1f"};

enum { POSES = 3, WIDTH = 760, HEIGHT = 440, TOP = 90, BOTTOM = 40, SIDES = 36, TINY = 4 };

typedef struct pane {
    const poise_model *model;
    const poise_clip *clip;
    poise_kinematics *kinematics;
    drawing_box box;  // in space
    drawing_box seen; // on the page
    poise_vec3 up;
    double metres;
    picture_view view;
} pane;

// Poses from an eighth of the clip to seven eighths of it; the one in the middle is the last to be drawn.
static void pose(pane *a, int i)
{
    static const double share[POSES] = {0.125, 0.875, 0.5};
    int frame = (int)(share[i] * (a->clip->frames - 1));
    poise_kinematics_update(a->kinematics, a->clip->q + (size_t)frame * (size_t)a->clip->nq, NULL);
}

static pane pane_of(const poise_model *model, const poise_clip *clip, poise_up up, double metres,
                    poise_kinematics *kinematics, double x)
{
    pane a = {.model = model, .clip = clip, .kinematics = kinematics, .box = drawing_box_empty()};
    poise_figure figure;
    bool has_figure = poise_model_figure(model, &figure, NULL) == POISE_OK;
    a.up = up == POISE_UP_Y   ? poise_vec3_make(0, 1, 0)
           : up == POISE_UP_Z ? poise_vec3_make(0, 0, 1)
                              : drawing_guess_up(model);
    a.metres = metres > 0 ? metres : has_figure ? figure.metres : 1;
    for (int i = 0; i < POSES; ++i) {
        pose(&a, i);
        drawing_box_add_skeleton(&a.box, model, kinematics);
    }
    a.view = drawing_view(&a.box, a.up, x, 0, 1, 1);
    return a;
}

static double ground_of(const pane *a)
{
    return a->up.y > 0.5 ? a->box.least.y : a->box.least.z;
}

// The corners of the ground, as they are seen.
static void add_ground(pane *a)
{
    drawing_box foot = drawing_footprint(&a->box, a->up, ground_of(a));
    for (int corner = 0; corner < 8; ++corner) {
        poise_vec3 c = poise_vec3_make(corner & 1 ? foot.most.x : foot.least.x, corner & 2 ? foot.most.y : foot.least.y,
                                       corner & 4 ? foot.most.z : foot.least.z);
        poise_vec3 r = a->view.right, u = a->view.up;
        drawing_box_add(&a->seen, poise_vec3_make(r.x * c.x + r.y * c.y + r.z * c.z, u.x * c.x + u.y * c.y + u.z * c.z, 0));
    }
}

// The scale at which all poses and the ground have room.
static double room(pane *a)
{
    a->seen = drawing_box_empty();
    add_ground(a);
    for (int i = 0; i < POSES; ++i) {
        pose(a, i);
        drawing_box_add_seen(&a->seen, &a->view, a->model, a->kinematics);
    }
    double wide = a->seen.most.x - a->seen.least.x, high = a->seen.most.y - a->seen.least.y;
    return fmin((WIDTH / 2.0 - SIDES) / fmax(wide, 1e-12), (HEIGHT - TOP - BOTTOM) / fmax(high, 1e-12));
}

// See a figure from the side that another is seen from; `turn` leads from this one's world to that of the other.
static void look_alike(pane *a, const pane *other, poise_quat turn)
{
    poise_quat back = {-turn.x, -turn.y, -turn.z, turn.w};
    a->view.right = poise_quat_rotate(back, other->view.right);
    a->view.up = poise_quat_rotate(back, other->view.up);
    a->view.toward = poise_quat_rotate(back, other->view.toward);
}

// Both reach down to one line of the page.
static void draw(picture *p, pane *a, double pixels, const char *const bones[2])
{
    a->view.scale = pixels * a->metres;
    a->view.center = poise_vec3_make(0, 0, 0);
    a->view.x -= 0.5 * a->view.scale * (a->seen.least.x + a->seen.most.x);
    a->view.y = HEIGHT - BOTTOM + a->view.scale * a->seen.least.y;
    picture_set_view(p, &a->view);
    drawing_ground(p, &a->box, a->up, ground_of(a), "#e3e8ed");
    for (int i = 0; i < POSES; ++i) {
        bool is_last = i == POSES - 1;
        pose(a, i);
        picture_next_figure(p);
        drawing_skeleton(p, a->model, a->kinematics, is_last ? 4 : 3, bones[is_last], is_last ? "#ffffff" : bones[0]);
    }
}

// A picture of the same. False after one line on standard error.
static bool retarget_picture(const retarget_job *j, const char *name)
{
    poise_kinematics *of_source, *of_target;
    poise_file *source = j->skeleton ? j->skeleton : j->motion;
    picture *p = begin_picture(WIDTH, HEIGHT, "One motion, two skeletons", "left: as recorded; right: as retargeted",
                               j->from, &of_source);
    if (poise_kinematics_create(j->target->model, NULL, &of_target, NULL) != POISE_OK) {
        of_target = NULL;
    }
    bool works = of_target != NULL;
    if (works) {
        pane a = pane_of(j->from, j->source, j->outcome.from_up, source->scale.metres, of_source, 0.25 * WIDTH);
        pane b = pane_of(j->target->model, j->clip, j->outcome.to_up, j->target->scale.metres, of_target, 0.75 * WIDTH);
        look_alike(&a, &b, j->outcome.axes);
        double of_a = room(&a) / a.metres, of_b = room(&b) / b.metres, pixels = fmin(of_a, of_b);
        bool is_tiny = fmax(of_a, of_b) > TINY * pixels; // a hand beside a person has a scale of its own
        draw(p, &a, is_tiny ? of_a : pixels, from_bones);
        draw(p, &b, is_tiny ? of_b : pixels, to_bones);
    }
    poise_kinematics_destroy(of_target);
    return save_picture(p, of_source, name) && works;
}

// ---- What `poise retarget` says: a table for people, JSON for machines ---------------------------------------------------

// ---- For people ----------------------------------------------------------------------------------------------------------

static const char *body_name(const poise_model *model, int body)
{
    return body >= 0 ? poise_model_joint_info(model, body).body : "-";
}

static void print_roles(const retarget_job *j, FILE *stream)
{
    table *t = table_create("role\tmotion\tskeleton\t>confidence");
    int fingers = 0;
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        const poise_role_pair *p = &j->map.role[role];
        bool is_finger =
            (role - POISE_ROLE_LEFT) % POISE_ROLE_SIDE >= POISE_ROLE_THUMB - POISE_ROLE_LEFT && role >= POISE_ROLE_LEFT;
        if (is_finger) {
            fingers += p->from >= 0 && p->to >= 0;
        } else if (p->from >= 0 || p->to >= 0) {
            table_row(t, "%s\t%s\t%s\t%.1f", poise_role_name(role), body_name(j->from, p->from),
                      body_name(j->target->model, p->to), p->confidence);
        }
    }
    if (fingers > 0) {
        table_row(t, "fingers\t%d\t%d\t", fingers, fingers);
    }
    table_end(t, stream);
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

// A fact of a retargeting.
static void __attribute__((format(printf, 3, 4))) say(FILE *stream, const char *head, const char *format, ...)
{
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    print_fact(stream, head, text, false);
}

// Hips and feet, in millimetres where the target's unit is known, else as shares of its leg.
static void print_legs(const retarget_job *j, FILE *stream)
{
    const poise_retarget_outcome *o = &j->outcome;
    double times = j->metres > 0 ? 1000 * j->metres : 100 / o->leg;
    const char *unit = j->metres > 0 ? "mm" : "% of the leg";
    const char *how = o->planted ? "planted" : "follow";
    char contact[160] = "no contact found", released[48] = "", tipped[64] = "";
    say(stream, "hips", "mean %.1f %s from their path, largest %.1f", times * o->hips_mean, unit, times * o->hips_worst);
    if (o->contact > 0) {
        snprintf(contact, sizeof contact, "in contact %.0f %%; slip mean %.2f %s/s, largest %.1f (frame %d)",
                 100 * o->contact, times * o->skate_mean, unit, times * o->skate_worst, o->skate_frame);
    }
    if (o->released > 0) {
        snprintf(released, sizeof released, "; released in %d frame%s", o->released, plural(o->released));
    }
    if (o->tipped > 0) {
        snprintf(tipped, sizeof tipped, "; tipped in %d frame%s, by up to %.0f degrees", o->tipped, plural(o->tipped),
                 57.29577951308232 * o->tipped_worst);
    }
    const char *guessed = o->soles_guessed ? "; soles guessed: the feet have no shapes that are read (--sole)" : "";
    if (o->in_place || o->same) { // what they do is no matter of this skeleton
        say(stream, "feet", "%s%s", o->in_place ? "in place, the root cannot move" : "as the motion has them", guessed);
    } else {
        say(stream, "feet", "%s, %s; sunk %.2f %s%s%s%s", how, contact, fmax(times * o->sunk, 0), unit, released, tipped,
            guessed);
    }
    if (o->loose > 0) {
        say(stream, "loose", "%s slides in %d frame%s in which the actor's rests, at up to %.1f %s/s (frame %d)",
            poise_role_name(o->loose_role), o->loose, plural(o->loose), times * o->loose_speed, unit, o->loose_frame);
    }
    say(stream, "travel", "%.0f %s from where it starts", times * o->travel, unit);
    if (o->buried > 0) {
        say(stream, "ground", "%s up to %.1f %s below it (frame %d)",
            poise_model_joint_info(j->task.to, o->buried_body).body, times * o->buried, unit, o->buried_frame);
    }
}

// How far bodies lie inside each other: or that it is not known.
static void print_bodies(const retarget_job *j, FILE *stream)
{
    const poise_retarget_outcome *o = &j->outcome;
    const poise_overlap *b = &o->overlap;
    char skipped[96] = "", most[160] = "no overlap";
    if (j->target->shapes_skipped > 0) {
        snprintf(skipped, sizeof skipped, "; %d shape%s not read, so not checked", j->target->shapes_skipped,
                 plural(j->target->shapes_skipped));
    }
    if (!o->has_bodies) {
        say(stream, "bodies", "overlaps are not checked: the skeleton has no collision shapes%s", skipped);
        return;
    }
    if (b->depth > 0) {
        snprintf(most, sizeof most,
                 "overlap by up to %.1f mm (%s, %s, frame %d), by more than 5 mm in %.1f %% of the frames",
                 1000 * o->metres * b->depth, body_name(j->target->model, b->a), body_name(j->target->model, b->b), b->frame,
                 100.0 * b->frames / fmax(j->clip->frames, 1));
    }
    say(stream, "bodies", "%s; %d pairs watched, %d that touch at rest or always left out%s", most, b->pairs, b->left_out,
        skipped);
    if (b->buried_count > 0) {
        say(stream, "below", "%s up to %.1f mm below the ground (frame %d), more than 5 mm in %.1f %% of the frames",
            body_name(j->target->model, b->buried_body), 1000 * o->metres * b->buried, b->buried_frame,
            100.0 * b->buried_count / fmax(j->clip->frames, 1));
    }
}

static void print_rates(const retarget_job *j, FILE *stream)
{
    const poise_retarget_outcome *o = &j->outcome;
    if (o->fast_joint >= 0) {
        const char *joint = poise_model_joint_info(j->target->model, o->fast_joint).name;
        const char *abrupt = o->abrupt_joint >= 0 ? poise_model_joint_info(j->target->model, o->abrupt_joint).name : "-";
        say(stream, "rates",
            "fastest %s, %.3g rad/s (frame %d), %.0f %% of its limit; accelerated most %s, %.0f rad/s/s (%d)", joint,
            o->fast_speed, o->fast_frame, 100 * o->fast, abrupt, o->acceleration, o->abrupt_frame);
    }
}

static void retarget_print(const retarget_job *j, const char *out, FILE *stream)
{
    const poise_retarget_outcome *o = &j->outcome;
    print_line(stream, 2, "%s onto %s: %d frame%s, %.0f a second", j->motion_name, j->model_name, j->clip->frames,
               plural(j->clip->frames), j->clip->frames / fmax(j->seconds, 1e-9));
    if (j->tracked) {
        retarget_print_track(j, stream);
    }
    say(stream, "followed", "%d roles, %d bodies; lengths times %.4g%s", o->roles, o->bodies, o->factor,
        o->same ? ", the same proportions" : "");
    char worst[64] = "";
    if (o->bone_role >= 0) {
        snprintf(worst, sizeof worst, " (%s, frame %d)", poise_role_name(o->bone_role), o->bone_frame);
    }
    say(stream, "bones", "mean %.2f degrees from those they follow, largest %.1f%s", DEGREES_PER_RADIAN * o->bone_mean,
        DEGREES_PER_RADIAN * o->bone_worst, worst);
    if (o->leg > 0) {
        print_legs(j, stream);
    }
    char jump[128] = "", velocity[80] = "";
    if (o->jumps > 0) {
        snprintf(jump, sizeof jump, " (%s, frame %d)", body_name(j->target->model, o->jump_body), o->jump_frame);
    }
    if (j->velocity) {
        snprintf(velocity, sizeof velocity, "; velocity %.3g of its limit, %d frame%s late", o->velocity, o->late,
                 plural(o->late));
    }
    say(stream, "limits", "%d frame%s outside; fastest turn %.1f degrees a frame, %d jump%s%s%s", o->outside,
        plural(o->outside), DEGREES_PER_RADIAN * o->turn_most, o->jumps, plural(o->jumps), jump, velocity);
    print_rates(j, stream);
    print_bodies(j, stream);
    verdict_print(&j->verdict, j->findings, stream);
    if (out) {
        fprintf(stream, "  written     %s\n", out);
    }
    fputc('\n', stream);
    print_roles(j, stream);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

static json_node *roles_as_json(const retarget_job *j)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        const poise_role_pair *p = &j->map.role[role];
        if (p->from >= 0 || p->to >= 0) {
            json_append(
                list, json_make("{s:s, s:o, s:o, s:f}", "role", poise_role_name(role), "motion",
                                p->from >= 0 ? json_from_text(body_name(j->from, p->from)) : json_new(JSON_NULL), "skeleton",
                                p->to >= 0 ? json_from_text(body_name(j->target->model, p->to)) : json_new(JSON_NULL),
                                "confidence", p->confidence));
        }
    }
    return list;
}

// How far bodies lie inside each other and below the ground, lengths in units of the skeleton; null: not checked.
static json_node *bodies_as_json(const retarget_job *j)
{
    const poise_retarget_outcome *o = &j->outcome;
    const poise_overlap *b = &o->overlap;
    if (!o->has_bodies) {
        return json_new(JSON_NULL);
    }
    return json_make("{s:i, s:i, s:i, s:i, s:f, s:o, s:i, s:f, s:i, s:i}", "pairs", b->pairs, "left_out", b->left_out,
                     "frames", b->frames, "pierced_frames", b->pierced, "depth", b->depth, "worst",
                     b->a >= 0 ? json_make("[s, s]", body_name(j->target->model, b->a), body_name(j->target->model, b->b))
                               : json_new(JSON_NULL),
                     "frame", b->frame, "below_ground", b->buried, "below_ground_frames", b->buried_count, "shapes_not_read",
                     j->target->shapes_skipped);
}

// Rows about what was not measured are null: overlaps without shapes, feet and hips without legs or of the same proportions.
static json_node *verdict_of(const retarget_job *j)
{
    const poise_retarget_outcome *o = &j->outcome;
    static const poise_finding_kind of_feet[] = {POISE_FINDING_UNPLANTED, POISE_FINDING_RELEASED, POISE_FINDING_TIPPED,
                                                 POISE_FINDING_LOOSE,     POISE_FINDING_SCUFFED,  POISE_FINDING_HOVERING,
                                                 POISE_FINDING_SKATE,     POISE_FINDING_SLIPPED,  POISE_FINDING_SUNK,
                                                 POISE_FINDING_HIPS,      POISE_FINDING_LURCHED};
    enum { FEET = 9, ALL = sizeof of_feet / sizeof *of_feet, PLANTED = 3 };
    json_node *made =
        verdict_as_json(&j->verdict, j->findings, o->has_bodies ? VERDICT_OF_RETARGETING : VERDICT_OF_BARE_RETARGETING);
    json_node *values = made ? json_get(made, "values") : NULL;
    bool has_legs = o->leg > 0, moves = has_legs && !o->in_place;
    for (int i = 0; i < ALL && values; ++i) {
        bool is_known = i < PLANTED ? moves && o->planted : i < FEET ? moves && !o->same : has_legs;
        if (!is_known) {
            json_set(values, poise_finding_name(of_feet[i]), json_new(JSON_NULL));
        }
    }
    if (values && !o->has_bodies) {
        json_set(values, poise_finding_name(POISE_FINDING_BURIED), json_new(JSON_NULL));
    }
    if (values && o->upright == 0) {
        json_set(values, poise_finding_name(POISE_FINDING_OVERTURNED), json_new(JSON_NULL));
    }
    return made;
}

static json_node *retarget_as_json(const retarget_job *j, const char *out)
{
    const poise_retarget_outcome *o = &j->outcome;
    json_node *made =
        json_make("{s:o, s:o, s:o, s:i, s:f, s:i, s:i, s:f, s:b, s:b, s:f, s:f}", "motion", json_from_text(j->motion_name),
                  "model", json_from_text(j->model_name), "output", out ? json_from_text(out) : json_new(JSON_NULL),
                  "frames", j->clip->frames, "frame_time", j->clip->frame_time, "roles_followed", o->roles,
                  "bodies_followed", o->bodies, "factor", o->factor, "same_proportions", (int)o->same, "planted",
                  (int)o->planted, "leg", o->leg, "frames_per_second", j->clip->frames / fmax(j->seconds, 1e-9));
    json_node *more = json_make(
        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:i, s:f, s:f, s:f, s:b, s:f, s:i, s:b, s:i, s:f, s:i, s:o, "
        "s:o}",
        "bone_mean", o->bone_mean, "bone_worst", o->bone_worst, "turn_mean", o->turn_mean, "turn_worst", o->turn_worst,
        "hips_mean", o->hips_mean, "hips_worst", o->hips_worst, "contact", o->contact, "skate_mean", o->skate_mean,
        "skate_worst", o->skate_worst, "released", o->released, "tipped", o->tipped, "tipped_worst", o->tipped_worst, "sunk",
        fmax(o->sunk, 0), "buried", o->buried, "soles_guessed", (int)o->soles_guessed, "turn_most", o->turn_most, "jumps",
        o->jumps, "starts_apart", (int)o->starts_apart, "outside", o->outside, "velocity", o->velocity, "late", o->late,
        "verdict", verdict_of(j), "roles", roles_as_json(j));
    json_node *checked =
        json_make("{s:f, s:f, s:i, s:f, s:f, s:o}", "fastest", o->fast_speed, "fastest_share", o->fast, "loose", o->loose,
                  "acceleration", o->acceleration, "travel", o->travel, "overlaps", bodies_as_json(j));
    if (made && more && checked) {
        json_merge(made, more);
        json_merge(made, checked);
    }
    return made;
}

// ---- A page about a motion that was retargeted: both figures side by side, contacts, the numbers -------------------------

static json_node *figure_of(const retarget_job *j, bool is_target, int step)
{
    int body[POISE_ROLE_COUNT];
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        body[role] = is_target ? j->map.role[role].to : j->map.role[role].from;
    }
    return is_target ? page_figure(j->target->model, j->clip, body, j->outcome.to_up, page_name(j->model_name), step)
                     : page_figure(j->from, j->source, body, j->outcome.from_up, page_name(j->motion_name), step);
}

// A page with both figures side by side. False after one line on standard error.
static bool retarget_page(const retarget_job *j, const char *name, const arguments *args)
{
    int frames = j->clip->frames;
    int step = page_step(frames, poise_model_info(j->from).joints + poise_model_info(j->target->model).joints);
    json_node *data = retarget_as_json(j, NULL);
    json_set(data, "motion", json_from_text(page_name(j->motion_name)));
    json_set(data, "model", json_from_text(page_name(j->model_name)));
    json_set(data, "metres", json_from_number(j->metres));
    json_set(data, "contacts", page_packed(j->contacts, (size_t)frames));
    json_set(data, "source", figure_of(j, false, step));
    json_set(data, "target", figure_of(j, true, step));
    return page_write_pair(data, args, frames, step, name);
}

// ---- poise retarget: a motion on another skeleton ------------------------------------------------------------------------

// ---- Reading -------------------------------------------------------------------------------------------------------------

static bool load_source(retarget_job *j, const arguments *args)
{
    const char *actor = option_text(args, "source-model", NULL);
    const char *animation = option_text(args, "animation", NULL);
    load_options how = {0};
    load_animation(animation, &how);
    if (!load_any(j->motion_name, actor, &how, &j->motion, &j->skeleton) ||
        !load_can_choose(animation, j->motion, j->motion_name)) {
        return false;
    }
    j->actor_name = actor ? actor : RETARGET_ACTOR;
    if (!j->motion->clip) {
        if (j->motion->markers) {
            return retarget_track_markers(j, actor);
        }
        complain("%s: holds no motion; a motion comes from BVH, AMC, MOT, glTF or JSON, markers from C3D or TRC",
                 j->motion_name);
        return false;
    }
    j->from = j->motion->model ? j->motion->model : j->skeleton ? j->skeleton->model : NULL;
    if (!j->from) {
        complain("%s: holds no skeleton; give its file with --source-model", j->motion_name);
        return false;
    }
    return true;
}

static bool choose_frames(retarget_job *j, const arguments *args)
{
    poise_clip *clip = j->motion->clip;
    int first = option_count(args, "first", 0), last = option_count(args, "last", clip->frames - 1);
    double rate = option_number(args, "rate", 0);
    if (clip->frames == 0 || first >= clip->frames) {
        complain("%s: has %d frames, so --first %d is beyond its end", j->motion_name, clip->frames, first);
        return false;
    }
    if (first > last) {
        complain("retarget: --first %d is after --last %d", first, last);
        return false;
    }
    if (last >= clip->frames) {
        warn("%s: has %d frames; --last %d stops at %d", j->motion_name, clip->frames, last, clip->frames - 1);
        last = clip->frames - 1;
    }
    j->source = clip;
    if (first > 0 || last < clip->frames - 1) {
        if (poise_clip_trim(clip, first, last - first + 1, NULL, &j->source, NULL) != POISE_OK) {
            complain("no memory left");
            return false;
        }
        j->owns_source = true;
    }
    if (rate > 0 && fabs(rate * clip->frame_time - 1) > 1e-9) {
        poise_clip *other;
        if (poise_clip_resample(j->source, j->from, 1 / rate, NULL, &other, NULL) != POISE_OK) {
            complain("no memory left");
            return false;
        }
        if (j->owns_source) {
            poise_clip_destroy(j->source);
        }
        j->source = other;
        j->owns_source = true;
    }
    return true;
}

static bool load_target(retarget_job *j, const arguments *args)
{
    load_options options = {.floating = !option_given(args, "fixed"), .meshes = true};
    j->target = load_model(j->model_name, &options);
    if (j->target) {
        poise_scale *scale = &j->target->scale;
        scale->metres = scale->metres > 0 ? scale->metres : option_number(args, "unit", 0);
        poise_figure figure = {.metres = 0};
        poise_model_figure(j->target->model, &figure, NULL);
        j->metres = j->target->scale.metres > 0 ? j->target->scale.metres : figure.metres;
    }
    return j->target != NULL;
}

// What the file says of its joints, and one velocity for all but a free root.
static bool limit_velocity(retarget_job *j, const arguments *args)
{
    if (option_given(args, "no-limits")) {
        return true;
    }
    j->velocity = calloc((size_t)poise_model_info(j->target->model).nv + 1, sizeof *j->velocity);
    if (!j->velocity) {
        complain("no memory left");
        return false;
    }
    if (!poise_retarget_velocities(j->target->model, option_number(args, "velocity", INFINITY), j->velocity)) {
        free(j->velocity);
        j->velocity = NULL;
    }
    return true;
}

// Several people in one file: say whose motion is taken. A figure is a root with at least half as many bodies as that one.
static void warn_of_others(const retarget_job *j)
{
    int taken = j->map.role[POISE_ROLE_PELVIS].from, figures = 0;
    while (taken >= 0 && poise_model_joint_info(j->from, taken).parent >= 0) {
        taken = poise_model_joint_info(j->from, taken).parent;
    }
    int size = taken >= 0 ? poise_model_joint_info(j->from, taken).subtree : 0;
    for (int k = 0; k < poise_model_info(j->from).joints && size > 1; k += poise_model_joint_info(j->from, k).subtree) {
        figures += 2 * poise_model_joint_info(j->from, k).subtree >= size;
    }
    if (figures > 1) {
        warn("%s holds %d figures: the motion of \"%s\" is used; for another one, edit its bodies into a map (--write-map, "
             "--map)",
             j->motion_name, figures, poise_model_joint_info(j->from, taken).body);
    }
}

static bool find_map(retarget_job *j, const arguments *args)
{
    const char *name = option_text(args, "map", NULL);
    file_bytes file = {.bytes = NULL};
    poise_error error = {0};
    bool works = true;
    if (!name) {
        works = poise_roles_match(&j->task, NULL, &j->map, &error) == POISE_OK;
        if (!works) {
            complain("%s", error.text);
        } else {
            warn_of_others(j);
        }
    } else if (!file_read(name, &file)) {
        works = false;
    } else if (poise_role_map_read(file.bytes, j->from, j->target->model, &j->map, &error) != POISE_OK) {
        complain("%s:%d: %s", name, error.line, error.text);
        works = false;
    }
    file_release(&file);
    j->task.map = &j->map;
    return works;
}

static bool write_map(const retarget_job *j, const char *name)
{
    enum { ROOM = 64 * 1024 };
    static char text[ROOM];
    text_file out;
    poise_role_map_write(&j->map, j->from, j->target->model, text, sizeof text);
    text_open(&out);
    fputs(text, out.stream);
    return text_close(&out, name);
}

static poise_feet feet_by_name(const char *name)
{
    return strcmp(name, "follow") == 0 ? POISE_FEET_FOLLOW : strcmp(name, "plant") == 0 ? POISE_FEET_PLANT : POISE_FEET_AUTO;
}

static void fill_task(retarget_job *j, const arguments *args)
{
    const poise_file *holder = j->motion->model ? j->motion : j->skeleton;
    poise_up from = up_by_name(option_text(args, "source-up", "")), to = up_by_name(option_text(args, "up", ""));
    j->task = poise_retarget_of_files(j->motion, j->target);
    j->task.from = j->from;
    j->task.clip = j->source;
    j->task.from_up = from != POISE_UP_UNKNOWN ? from : holder->scale.up;
    j->task.to_up = to != POISE_UP_UNKNOWN ? to : j->task.to_up;
    j->task.sole = option_number(args, "sole", 0) / (j->metres > 0 ? j->metres : 1);
    j->task.ground = option_number(args, "ground", NAN);
    j->task.feet = feet_by_name(option_text(args, "feet", "auto"));
    j->task.velocity = j->velocity;
    j->task.use_limits = !option_given(args, "no-limits");
}

// ---- The work ------------------------------------------------------------------------------------------------------------

static bool retarget(retarget_job *j)
{
    poise_error error = {0};
    double start = cpu_seconds_now();
    j->contacts = calloc((size_t)j->source->frames + 1, 1);
    if (!j->contacts) {
        complain("no memory left");
        return false;
    }
    if (poise_retarget(&j->task, NULL, &j->clip, j->contacts, &j->outcome, &error) != POISE_OK) {
        complain("%s onto %s: %s", j->motion_name, j->model_name, error.text);
        return false;
    }
    j->seconds = cpu_seconds_now() - start;
    bool works = poise_retarget_judge(&j->task, &j->outcome, &j->thresholds, &j->verdict, j->findings, RETARGET_FINDINGS,
                                      NULL) == POISE_OK;
    retarget_judge_track(j);
    return works;
}

static poise_file as_file(const retarget_job *j)
{
    poise_file file = *j->target;
    file.clip = j->clip;
    file.markers = NULL;
    file.goals = NULL;
    file.goal_count = 0;
    return file;
}

static bool load_all(retarget_job *j, const arguments *args)
{
    const char *out = option_text(args, "output", NULL);
    if (!load_source(j, args) || !load_target(j, args)) {
        return false;
    }
    poise_file file = as_file(j);
    if ((out && !motion_can_be_written(&file, out)) || !choose_frames(j, args) || !limit_velocity(j, args)) {
        return false;
    }
    fill_task(j, args);
    j->thresholds = poise_thresholds_default();
    return find_map(j, args) && verdict_read_thresholds(args, &j->thresholds);
}

static bool write_all(retarget_job *j, const arguments *args)
{
    const char *out = option_text(args, "output", NULL);
    const char *page = option_text(args, "report", NULL);
    poise_file file = as_file(j);
    char name[128];
    name_of_motion(j->motion, j->motion_name, name, sizeof name);
    file.motion = name;
    const char *drawn = option_text(args, "picture", NULL);
    return (!page || retarget_page(j, page, args)) && (!drawn || retarget_picture(j, drawn)) &&
           (!out || save_motion(out, &file));
}

static void release(retarget_job *j)
{
    if (j->owns_source) {
        poise_clip_destroy(j->source);
    }
    poise_clip_destroy(j->clip);
    poise_recording_destroy(j->tracked);
    poise_file_destroy(j->motion);
    poise_file_destroy(j->skeleton);
    poise_file_destroy(j->target);
    free(j->velocity);
    free(j->contacts);
}

static app_exit run(const arguments *args)
{
    static retarget_job j; // large
    j = (retarget_job){.motion_name = arguments_at(args, 0), .model_name = arguments_at(args, 1)};
    const char *out = option_text(args, "output", NULL), *map = option_text(args, "write-map", NULL);
    bool to_output = out && strcmp(out, "-") == 0;
    bool works = load_all(&j, args) && (!map || write_map(&j, map)) && retarget(&j) && write_all(&j, args);
    app_exit status = APP_BAD;
    if (works) {
        status = j.verdict.level > verdict_level_by_name(option_text(args, "accept", "good")) ? APP_MISSED : APP_DONE;
        if (arguments_json(args)) {
            status = json_print(retarget_as_json(&j, out)) ? status : APP_BAD;
        } else {
            retarget_print(&j, to_output ? NULL : out, to_output ? stderr : stdout);
        }
    }
    release(&j);
    return status;
}

static const app_option options[] = {
    {"output", 'o', OPTION_OUTPUT, "OUT", .choices = WRITTEN_FILES,
     .help = "write the motion; .csv has one row of joint values per frame"},
    {"report", 0, OPTION_OUTPUT, "R.html", .choices = ".html .htm",
     .help = "write a page with both figures side by side, contacts and figures"},
    {"picture", 0, OPTION_OUTPUT, "P.svg", .choices = ".svg", .help = "draw poses of both figures side by side"},
    {"map", 0, OPTION_FILE, "FILE", .help = "which body plays which role, in the format of --write-map (found by name)"},
    {"write-map", 0, OPTION_OUTPUT, "FILE", .help = "write the map of bodies to roles, for editing"},
    {"feet", 0, OPTION_CHOICE, "HOW", .choices = "auto follow plant",
     .help = "plant the feet, or let them follow; auto plants unless the proportions are the same"},
    {"sole", 0, OPTION_NUMBER, "H", .lowest = 0, .highest = 100,
     .help = "height of MODEL's ankle above its sole, in metres (from collision shapes, toes, or 8 % of the leg)"},
    {"ground", 0, OPTION_NUMBER, "H", .lowest = -1e9, .highest = 1e9,
     .help = "height of the ground in the motion, in its units (where its feet rest)"},
    {"velocity", 0, OPTION_NUMBER, "V", .lowest = 1e-6, .highest = 1e9,
     .help = "velocity limit of all joints except a free root, rad/s or m/s (a URDF's own limits always hold)"},
    {"no-limits", .help = "ignore joint limits and velocity limits"},
    {"first", 0, OPTION_COUNT, "K", .lowest = 0, .highest = INT_MAX, .help = "first frame, counted from 0 (0)"},
    {"last", 0, OPTION_COUNT, "K", .lowest = 0, .highest = INT_MAX, .help = "last frame (the motion's last)"},
    {"rate", 0, OPTION_NUMBER, "R", .lowest = 1e-3, .highest = 1e6, .help = "resample to R frames per second"},
    {"animation", 0, OPTION_TEXT, "WHICH", .help = "glTF: which animation is the motion, by its name or counted from 0"},
    {"source-model", 0, OPTION_FILE, "FILE",
     .help = "the skeleton that an AMC or MOT moves, or that follows markers (" RETARGET_ACTOR ")"},
    {"source-up", 0, OPTION_CHOICE, "AXIS", .choices = "x y z", .help = "upward axis of the motion"},
    {"unit", 0, OPTION_UNIT, "UNIT", .help = "unit of length of MODEL, for formats that do not state it, such as BVH"},
    {"up", 0, OPTION_CHOICE, "AXIS", .choices = "x y z", .help = "upward axis of MODEL"},
    {"fixed", .help = "URDF, MJCF: fix the root to the world instead of leaving it free"},
    {"accept", 0, OPTION_CHOICE, "VERDICT", .choices = "good doubtful failed",
     .help = "worst verdict that still exits with 0 (good)"},
    {"threshold", 0, OPTION_TEXT, "WHAT=D[,F]", .repeats = true,
     .help = "beyond D the motion is doubtful, beyond F failed; WHAT is unmatched (0,1), pose (0), bones (0.2,0.6 rad), "
             "limb (0.5,1.2 rad), reversed (0), hips (0.08,0.3 of the leg), skate (0.02,0.3 of it a second), sunk "
             "(0.0025,0.06), jumped (0,0.1 of the frames), late (0.05,0.5), slipped (0.3,3 of the leg a second), released "
             "(0.1 of the frames), tipped (0.05), loose (0.05 of the rests), lurched (1 m/s), overturned (0.5 of the "
             "frames), scuffed (0.02), hovering (0.02), unclosed (0.002 m), buried (0.03,0.25 of the leg), floor (0.02 of "
             "the frames), self (0.02), pierced (0.02,0.1), unchecked (0), fast (1, of the limit), abrupt (0.02 of the "
             "frames), fixed (0), unplanted (0.3 of the frames) or aside (0.1 of the frames)"},
    {0},
};

static const app_example examples[] = {
    {"A walk onto a skeleton with different joints", "poise retarget scene:humanoid/walk scene:humanoid-euler -o walk.bvh"},
    {"Write the map of roles, for editing", "poise retarget scene:humanoid/walk scene:humanoid-euler --write-map map.txt"},
    {"Use the edited map", "poise retarget scene:humanoid/walk scene:humanoid-euler --map map.txt -o walk.bvh"},
    {0},
};

const app_command cmd_retarget = {
    .name = "retarget",
    .synopsis = "MOTION MODEL",
    .least = 2,
    .most = 2,
    .summary = "transfer a motion to another character, robot or hand",
    .description =
        "Transfers a motion (BVH, ASF/AMC, MOT, glTF, JSON) to another skeleton. Markers (C3D, TRC) are first tracked "
        "with a human skeleton, all frames at once. Bodies are matched by name and by the tree. Differences between the "
        "rest poses (T, A, arms down) are removed limb by limb, so every bone points where the actor's does, whatever its "
        "length. The path of the hips is scaled by the length of the legs.\n\n"
        "Feet are planted where the actor's heel and toe rest: they do not slip, and no sole goes below the ground. Joint "
        "limits hold exactly, as do velocity limits from a URDF or --velocity; frames that cannot keep up are counted as "
        "late. Skeletons of the same proportions need no planting, and a motion retargeted to its own skeleton comes back "
        "unchanged.\n\n"
        "The verdict says how far to trust the result: unmatched limbs, bones that point elsewhere, feet that slip, "
        "frames that jump. The exit status is 1 unless it is good (--accept).",
    .options = options,
    .examples = examples,
    .run = run,
};
