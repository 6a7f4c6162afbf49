// What `poise retarget` says: a table for people, JSON for machines.
#include "retarget_parts.h"

#include "cli/terminal.h"
#include "cli/verdict_text.h"
#include "cli/words.h"

#include <math.h>
#include <stdarg.h>

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

void retarget_print(const retarget_job *j, const char *out, FILE *stream)
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

json_node *retarget_as_json(const retarget_job *j, const char *out)
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
