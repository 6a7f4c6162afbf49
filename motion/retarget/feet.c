// Feet: where the soles are, and how they are planted: one place for each contact, and the way from one to the next.
//
// Shapes tell best where a sole is: it is what lies lowest of them in the rest pose, its heel and toe the ends of that.
// Without shapes heel and toe are guessed from the toes' bodies or the length of the leg.
//
// A step is a run of frames in which heel or toe rests. Its place is the mean of where the source's foot is while both rest
// (or, where they never do, while either does), with the sole flat on the ground. Turns first: where both rest the foot has
// the turn of the place; elsewhere it turns as the source's does, and what it differed by at a contact's end fades away.
// Then places: where heel or toe rests, that point is held; elsewhere the difference at the end of one contact goes over
// into that at the beginning of the next. Last, a sole that would be below the ground, or scrape over it on
// its way, is lifted.
#include "motion/retarget/retarget_work.h"

#include <poise/retarget.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/verdict.h"
#include "num/real.h"
#include "num/rotation.h"
#include "num/trig.h"

#define SOLE_SHARE   0.08  // of the leg: height of an ankle above its sole, where nothing tells
#define LENGTH_SHARE 0.16  // of the leg: from ankle to ball, likewise
#define HEEL_SHARE   0.4   // of that, behind the ankle
#define SOLE_BAND    0.015 // of the leg: what is higher above the lowest point of the foot is not of its sole
#define STEEPEST     1.45  // radians: soles are tilted by less

#define FADE       0.3  // seconds in which a difference fades, if the next contact is not sooner
#define GRIP       0.15 // seconds in which a foot comes to be held, and is released
#define SWING      1.0  // seconds: a foot that is not held for longer is not on its way to the next contact,
#define CLEAR      0.03 // of the leg: how far its sole is above the ground on that way
#define TILT       0.6  // radians: beyond it a sole is not flat on the ground, and beyond twice that not on it
#define DRIFT      0.08 // of the leg: farther from its place in a step a foot is not at rest
#define PIVOT      0.3  // radians: nor is one that is turned farther than that from its turn in the middle of the step
#define EDGE_PIVOT 0.45 // the same while it rests on an edge

// ---- Shapes --------------------------------------------------------------------------------------------------------------

// The body that moves a body: itself, or the one that it is fixed to.
static int carrier_of(const poise_model *model, int body, int foot)
{
    while (body > foot && poise_model_joint_info(model, body).nv == 0) {
        body = poise_model_joint_info(model, body).parent;
    }
    return body;
}

// Corners of the hulls of a foot, and of what hangs from it.
static void collect_corners(const pz_actor *a, const poise_hull *hulls, int count, pz_foot *foot)
{
    foot->corners = 0;
    for (int i = 0; i < count && hulls && foot->corner; ++i) {
        const poise_hull *h = &hulls[i];
        if (h->body < 0 || !pz_is_below(a->model, foot->body, h->body)) {
            continue;
        }
        int carrier = carrier_of(a->model, h->body, foot->body);
        poise_pose carried = poise_pose_multiply(poise_pose_inverse(a->pose[carrier]), a->pose[h->body]);
        for (int corner = 0; corner < h->corner_count; ++corner) {
            foot->corner[foot->corners++] = (pz_sole_point){
                .body = carrier, .at = poise_pose_transform(carried, h->corners[corner]), .radius = h->radius};
        }
    }
}

// Does a shape hang from the foot by joints of its own?
static bool hangs(const pz_foot *foot, const pz_sole_point *p)
{
    return p->body != foot->body;
}

// What the sole covers in the rest pose: its height, and from the ankle to the front and to the left.
typedef struct extent {
    double lowest, back, front, right, left;
    double heel_radius, toe_radius;
    bool is_known;
} extent;

static vec3 from_ankle(const pz_actor *a, const pz_sole_point *p, vec3 ankle)
{
    return v3_sub(poise_pose_transform(a->pose[p->body], p->at), ankle);
}

// Shapes of the foot itself tell where it begins and ends; those of toes do only if it has none.
static extent extent_of(const pz_actor *a, const pz_foot *foot, vec3 ankle, vec3 forward)
{
    double lowest = INFINITY, own = INFINITY;
    for (int i = 0; i < foot->corners; ++i) {
        double height = v3_dot(from_ankle(a, &foot->corner[i], ankle), a->up) - foot->corner[i].radius;
        lowest = min2(lowest, height);
        own = hangs(foot, &foot->corner[i]) ? own : min2(own, height);
    }
    bool has_own = own < INFINITY;
    extent e = {.lowest = lowest, .back = INFINITY, .front = -INFINITY, .right = INFINITY, .left = -INFINITY};
    double highest = (has_own ? own : lowest) + SOLE_BAND * a->leg;
    for (int i = 0; i < foot->corners; ++i) {
        const pz_sole_point *p = &foot->corner[i];
        vec3 at = from_ankle(a, p, ankle);
        if (v3_dot(at, a->up) - p->radius <= highest && !(has_own && hangs(foot, p))) {
            double along = v3_dot(at, forward), across = v3_dot(at, v3_cross(a->up, forward));
            e.heel_radius = along < e.back ? p->radius : e.heel_radius;
            e.toe_radius = along > e.front ? p->radius : e.toe_radius;
            e.back = min2(e.back, along);
            e.front = max2(e.front, along);
            e.right = min2(e.right, across);
            e.left = max2(e.left, across);
            e.is_known = true;
        }
    }
    return e;
}

static void add_sole_point(pz_foot *foot, const pz_sole_point *p)
{
    bool is_there = foot->soles == PZ_SOLE_MOST;
    for (int i = 0; i < foot->soles && !is_there; ++i) {
        const pz_sole_point *s = &foot->sole[i];
        is_there = s->body == p->body && s->radius == p->radius && v3_norm(v3_sub(s->at, p->at)) == 0;
    }
    if (!is_there) {
        foot->sole[foot->soles++] = *p;
    }
}

// Corners of one body that are lowest for some tilt of the foot: it is tilted to eight sides, by more and more.
static void choose_sole_points(const pz_actor *a, pz_foot *foot, int body, vec3 forward)
{
    enum { SIDES = 8, TILTS = 4 };
    vec3 left = v3_cross(a->up, forward);
    for (int k = 0; k < SIDES * TILTS; ++k) {
        int tilts = k / SIDES + 1;
        double tilt = STEEPEST * tilts / TILTS, side = PZ_TWO_PI * (k % SIDES + 0.5) / SIDES, s, c, sine, cosine;
        pz_sincos(tilt, &s, &c);
        pz_sincos(side, &sine, &cosine);
        vec3 level = v3_add(v3_scale(forward, cosine), v3_scale(left, sine));
        vec3 down = v3_mad(v3_scale(level, s), -c, a->up);
        const pz_sole_point *lowest = NULL;
        double depth = -INFINITY;
        for (int i = 0; i < foot->corners; ++i) {
            const pz_sole_point *p = &foot->corner[i];
            double here = p->body == body ? v3_dot(poise_pose_transform(a->pose[body], p->at), down) + p->radius : -INFINITY;
            lowest = here > depth ? p : lowest;
            depth = max2(depth, here);
        }
        if (lowest) {
            add_sole_point(foot, lowest);
        }
    }
}

// A height that is given moves the shapes to it.
static void move_corners(const pz_actor *a, pz_foot *foot, double by)
{
    for (int i = 0; i < foot->corners; ++i) {
        pz_sole_point *p = &foot->corner[i];
        p->at = v3_add(p->at, quat_rotate(quat_conj(a->pose[p->body].rotation), v3_scale(a->up, by)));
    }
}

// ---- Soles ---------------------------------------------------------------------------------------------------------------

// Is the end of the foot's bone one of toes, not the centre of its mass?
static bool ends_in_toes(const pz_actor *a, int role)
{
    bool has_tool = false;
    for (int i = 0; i < poise_model_info(a->model).tools && !has_tool; ++i) {
        poise_tool_info tool = poise_model_tool_info(a->model, i);
        has_tool = tool.body == a->roles.body[role] && v3_norm(tool.pose.position) > 0;
    }
    return pz_plays(a, role + 1) || has_tool || poise_model_joint_info(a->model, a->roles.body[role]).subtree > 1;
}

// Which end a point of the sole is nearer to, in the rest pose.
static void find_ends(const pz_actor *a, const pz_foot *foot, vec3 forward, pz_sole_point *points, int count)
{
    vec3 middle = poise_pose_transform(a->pose[foot->body], pz_foot_point(foot, 0));
    for (int i = 0; i < count; ++i) {
        bool is_ahead = v3_dot(from_ankle(a, &points[i], middle), forward) > 0;
        points[i].of = (unsigned char)(is_ahead ? PZ_TOE : PZ_HEEL);
    }
}

static bool has_own_points(const pz_foot *foot)
{
    bool found = false;
    for (int i = 0; i < foot->soles && !found; ++i) {
        found = !hangs(foot, &foot->sole[i]);
    }
    return found;
}

void pz_foot_measure(const pz_actor *a, int offset, const poise_hull *hulls, int hull_count, double sole, pz_foot *foot)
{
    int body = a->roles.body[POISE_ROLE_FOOT + offset], role = POISE_ROLE_FOOT + offset;
    foot->body = body;
    foot->soles = foot->corners = 0;
    if (body < 0 || !a->has_frame || !(a->leg > 0)) {
        foot->body = POISE_NONE;
        return;
    }
    vec3 origin = pz_joint_place(a, role), ahead = a->has_tip[role] ? v3_sub(a->tip[role], origin) : v3(0, 0, 0);
    vec3 flat = v3_mad(ahead, -v3_dot(ahead, a->up), a->up);
    bool has_tip = v3_norm(flat) > 0.25 * LENGTH_SHARE * a->leg && v3_dot(flat, a->forward) > 0;
    bool has_toes = has_tip && ends_in_toes(a, role);
    vec3 forward = has_toes ? v3_normalize(flat) : a->forward;
    collect_corners(a, hulls, hull_count, foot);
    extent e = extent_of(a, foot, origin, forward);
    double drop = has_tip ? -v3_dot(ahead, a->up) : 0.0;
    double height = sole > 0                            ? sole
                    : e.is_known                        ? -e.lowest
                    : drop > 0.25 * SOLE_SHARE * a->leg ? drop * 1.15
                                                        : SOLE_SHARE * a->leg;
    double front = e.is_known ? e.front : has_toes ? v3_norm(flat) : LENGTH_SHARE * a->leg;
    double back = e.is_known ? e.back : -HEEL_SHARE * front, across = e.is_known ? 0.5 * (e.left + e.right) : 0.0;
    poise_pose inverse = poise_pose_inverse(a->pose[body]);
    vec3 below = v3_mad(v3_mad(origin, -height, a->up), across, v3_cross(a->up, forward));
    foot->height = height;
    foot->ankle = a->center[role];
    foot->heel = poise_pose_transform(inverse, v3_mad(below, back, forward));
    foot->toe = poise_pose_transform(inverse, v3_mad(below, front, forward));
    foot->is_guessed = !e.is_known && !has_toes && !(sole > 0);
    foot->has_edges = e.is_known && e.front > e.back;
    foot->across = quat_rotate(inverse.rotation, v3_scale(v3_cross(a->up, forward), e.is_known ? e.left - across : 0.0));
    foot->heel_radius = e.heel_radius;
    foot->toe_radius = e.toe_radius;
    foot->rest = foot->last.rotation = a->pose[body].rotation;
    if (e.is_known) {
        move_corners(a, foot, -height - e.lowest);
        for (int k = body; k < body + poise_model_joint_info(a->model, body).subtree; ++k) {
            choose_sole_points(a, foot, k, forward);
        }
        find_ends(a, foot, forward, foot->corner, foot->corners);
        find_ends(a, foot, forward, foot->sole, foot->soles);
    }
    if (!has_own_points(foot)) {
        add_sole_point(foot, &(pz_sole_point){.body = body, .at = foot->heel, .of = PZ_HEEL});
        add_sole_point(foot, &(pz_sole_point){.body = body, .at = foot->toe, .of = PZ_TOE});
    }
}

double pz_sole_height(const pz_foot *foot, poise_pose pose, vec3 up, unsigned char ends, vec3 *lowest)
{
    double least_height = INFINITY;
    for (int i = 0; i < foot->soles; ++i) {
        const pz_sole_point *p = &foot->sole[i];
        double height = v3_dot(poise_pose_transform(pose, p->at), up) - p->radius;
        if (p->body == foot->body && p->of & ends && height < least_height) {
            least_height = height;
            if (lowest) {
                *lowest = v3_mad(p->at, -p->radius, quat_rotate(quat_conj(pose.rotation), up));
            }
        }
    }
    return least_height;
}

// ---- Offsets that go over into each other --------------------------------------------------------------------------------

// 0 to 1 with zero first and second derivatives at both ends.
static double ease(double x)
{
    x = clamp(x, 0.0, 1.0);
    return x * x * x * (10.0 + x * (6.0 * x - 15.0));
}

// Between frames `first` and `last`, where offset[] is known (-1 and frames: not there), fill those in between.
static void bridge(poise_vec3 *offset, int first, int last, const pz_ground *g)
{
    vec3 none = v3(0, 0, 0), a = first >= 0 ? offset[first] : none, b = last < g->frames ? offset[last] : none;
    double gap = (last - first) * g->frame_time;
    bool is_short = first >= 0 && last < g->frames && gap < 2 * FADE;
    for (int f = first + 1; f < last; ++f) {
        double since = (f - first) * g->frame_time, until = (last - f) * g->frame_time;
        offset[f] = is_short ? v3_mad(a, ease(since / gap), v3_sub(b, a))
                             : v3_add(v3_scale(a, 1.0 - ease(since / FADE)), v3_scale(b, 1.0 - ease(until / FADE)));
    }
}

// Fill the frames in which `bits` do not all rest (or, with `any`, in which none does).
static void bridge_all(const pz_foot *foot, poise_vec3 *offset, bool any, const pz_ground *g)
{
    int last = -1;
    for (int f = 0; f <= g->frames; ++f) {
        bool is_held = f < g->frames && (any ? foot->contact[f] != 0 : foot->contact[f] == (PZ_HEEL | PZ_TOE));
        if (is_held || f == g->frames) {
            bridge(offset, last, f, g);
            last = f;
        }
    }
}

double pz_foot_firmness(const pz_foot *foot, const pz_ground *g, unsigned char bit, int frame)
{
    int reach = (int)(GRIP / g->frame_time), nearest = reach + 1;
    for (int f = frame > reach ? frame - reach : 0; f <= frame + reach && f < g->frames; ++f) {
        int away = f < frame ? frame - f : f - frame;
        nearest = foot->contact[f] & bit ? least(nearest, away) : nearest;
    }
    return 1.0 - ease((double)nearest / (reach + 1));
}

// ---- The place of a step -------------------------------------------------------------------------------------------------

// The turn standing, turned about up as the foot is.
static quat flat_turn(const pz_foot *foot, quat turn, vec3 up)
{
    quat moved = quat_mul(turn, quat_conj(foot->rest));
    double along = v3_dot(quat_vec(moved), up);
    quat about = quat_normalize((quat){along * up.x, along * up.y, along * up.z, moved.w});
    return v3_norm(quat_vec(about)) > 0 || about.w != 0 ? quat_mul(about, foot->rest) : foot->rest;
}

typedef struct step {
    int first, last; // frames; last is the one after
    bool has_flat;   // heel and toe rest together somewhere
} step;

static bool counts(const pz_foot *foot, const step *s, int f)
{
    return !s->has_flat || foot->contact[f] == (PZ_HEEL | PZ_TOE);
}

// Mean of the frames that count, and how far the farthest is from it, as a share of what a foot at rest may be.
static poise_pose place_of_step(const pz_foot *foot, const step *s, const pz_ground *g, double *farthest)
{
    vec3 sum = v3(0, 0, 0);
    int count = 0, middle = s->first;
    for (int f = s->first; f < s->last; ++f) {
        if (counts(foot, s, f)) {
            sum = v3_add(sum, poise_pose_transform(foot->path[f], pz_foot_point(foot, foot->contact[f])));
            count += 1;
        }
    }
    vec3 mean = v3_scale(sum, 1.0 / count);
    int seen = 0;
    *farthest = 0.0;
    for (int f = s->first; f < s->last; ++f) {
        if (counts(foot, s, f)) {
            vec3 away = v3_sub(poise_pose_transform(foot->path[f], pz_foot_point(foot, foot->contact[f])), mean);
            *farthest = max2(*farthest, v3_norm(v3_mad(away, -v3_dot(away, g->up), g->up)) / (DRIFT * g->leg));
            middle = 2 * ++seen <= count + 1 ? f : middle;
        }
    }
    poise_pose place = {.rotation = flat_turn(foot, foot->path[middle].rotation, g->up)};
    for (int f = s->first; f < s->last; ++f) {
        bool is_flat = foot->contact[f] == (PZ_HEEL | PZ_TOE);
        if (is_flat || foot->has_edges) {
            quat turned = quat_mul(quat_conj(place.rotation), flat_turn(foot, foot->path[f].rotation, g->up));
            *farthest = max2(*farthest, poise_quat_angle(turned) / (is_flat ? PIVOT : EDGE_PIVOT));
        }
    }
    vec3 point = quat_rotate(place.rotation, pz_foot_point(foot, foot->contact[middle]));
    place.position = v3_sub(mean, point);
    double above = v3_dot(place.position, g->up) + v3_dot(quat_rotate(place.rotation, foot->heel), g->up) - g->height;
    place.position = v3_mad(place.position, -above, g->up);
    return place;
}

static bool next_step(const pz_foot *foot, const pz_ground *g, int from, step *s)
{
    while (from < g->frames && foot->contact[from] == 0) {
        ++from;
    }
    *s = (step){.first = from, .last = from};
    while (s->last < g->frames && foot->contact[s->last] != 0) {
        s->has_flat = s->has_flat || foot->contact[s->last] == (PZ_HEEL | PZ_TOE);
        s->last += 1;
    }
    return s->first < s->last;
}

// Soles that rest are level. What the source's are tilted by while heel and toe rest, mean over the frames, is a difference
// of the rest poses: it is taken out of all frames, turning about the ankle.
static void level_soles(pz_foot *foot, const pz_ground *g)
{
    vec3 sum = v3(0, 0, 0);
    int count = 0;
    for (int f = 0; f < g->frames; ++f) {
        quat turn = foot->path[f].rotation, tilt = quat_mul(quat_conj(turn), flat_turn(foot, turn, g->up));
        if (foot->contact[f] == (PZ_HEEL | PZ_TOE) && poise_quat_angle(tilt) < TILT) {
            sum = v3_add(sum, so3_log(tilt));
            count += 1;
        }
    }
    quat level = so3_exp_quat(v3_scale(sum, count > 0 ? 1.0 / count : 0.0));
    for (int f = 0; f < g->frames && count > 0; ++f) {
        poise_pose *pose = &foot->path[f];
        vec3 ankle = poise_pose_transform(*pose, foot->ankle);
        pose->rotation = quat_normalize(quat_mul(pose->rotation, level));
        pose->position = v3_sub(ankle, quat_rotate(pose->rotation, foot->ankle));
    }
}

// A foot that is tilted does not stand on heel and toe at once, but on the lower of them.
static void drop_tilted(pz_foot *foot, const pz_ground *g)
{
    for (int f = 0; f < g->frames; ++f) {
        quat turn = foot->path[f].rotation;
        double tilt = poise_quat_angle(quat_mul(quat_conj(flat_turn(foot, turn, g->up)), turn));
        double rise = v3_dot(quat_rotate(turn, v3_sub(foot->toe, foot->heel)), g->up);
        if (tilt > TILT) {
            foot->contact[f] &= (unsigned char)(tilt > 2 * TILT ? 0 : rise > 0 ? PZ_HEEL : PZ_TOE);
        }
    }
}

// Contacts in which the foot drifts or pivots are cut in the middle, where it moves fastest, until none does.
static void cut_drifts(pz_foot *foot, const pz_ground *g)
{
    step s;
    int gap = (int)(0.5 * FADE / g->frame_time) + 1;
    for (int from = 0; next_step(foot, g, from, &s);) {
        double farthest;
        place_of_step(foot, &s, g, &farthest);
        int length = s.last - s.first, at = s.first + length / 2;
        double fastest = 0.0;
        for (int f = s.first + length / 4; f + 1 < s.last - length / 4; ++f) {
            poise_pose now = foot->path[f], then = foot->path[f + 1];
            double moved = v3_norm(v3_sub(then.position, now.position)) / (DRIFT * g->leg) +
                           poise_quat_angle(quat_mul(quat_conj(now.rotation), then.rotation)) / PIVOT;
            at = moved > fastest ? f : at;
            fastest = max2(fastest, moved);
        }
        if (farthest > 1.0 && length > 2) {
            for (int f = at - gap / 2; f <= at + gap / 2; ++f) {
                if (f >= s.first && f < s.last) {
                    foot->contact[f] = 0;
                }
            }
            from = s.first;
        } else {
            from = s.last;
        }
    }
}

// ---- The way -------------------------------------------------------------------------------------------------------------

// In each step: what the turn where heel and toe rest differs by from the source's.
static void hold_turns(pz_foot *foot, const pz_ground *g, poise_vec3 *offset)
{
    step s;
    double farthest;
    for (int from = 0; next_step(foot, g, from, &s); from = s.last) {
        poise_pose place = place_of_step(foot, &s, g, &farthest);
        for (int f = s.first; f < s.last; ++f) {
            if (foot->contact[f] == (PZ_HEEL | PZ_TOE)) {
                offset[f] = so3_log(quat_mul(place.rotation, quat_conj(foot->path[f].rotation)));
            }
        }
    }
    bridge_all(foot, offset, false, g);
}

// Of a turn, what is about an axis.
static quat turn_about(quat turn, vec3 axis)
{
    double along = v3_dot(quat_vec(turn), axis);
    quat about = {along * axis.x, along * axis.y, along * axis.z, turn.w};
    bool is_one = along != 0 || turn.w != 0;
    return is_one ? quat_normalize(about) : (quat){0, 0, 0, 1};
}

// A sole that rests on heel or toe alone rests on that edge: it tips about it, away from the ground, and neither rolls nor
// pivots. What that changes fades away after the contact.
static void hold_edges(pz_foot *foot, const pz_ground *g, poise_vec3 *turn, poise_vec3 *change)
{
    step s;
    double farthest;
    for (int from = 0; next_step(foot, g, from, &s); from = s.last) {
        quat flat = place_of_step(foot, &s, g, &farthest).rotation;
        vec3 edge = v3_normalize(v3_cross(g->up, quat_rotate(flat, v3_sub(foot->toe, foot->heel))));
        for (int f = s.first; f < s.last; ++f) {
            quat now = quat_mul(so3_exp_quat(turn[f]), foot->path[f].rotation);
            quat about = turn_about(quat_mul(now, quat_conj(flat)), edge);
            double nose_down = v3_dot(quat_vec(about), edge) * (about.w < 0 ? -1.0 : 1.0);
            bool is_off = foot->contact[f] == PZ_TOE ? nose_down > 0 : foot->contact[f] == PZ_HEEL && nose_down < 0;
            quat tipped = is_off ? quat_mul(about, flat) : flat;
            change[f] = so3_log(quat_mul(tipped, quat_conj(now)));
        }
    }
    bridge_all(foot, change, true, g);
    for (int f = 0; f < g->frames; ++f) {
        turn[f] = so3_log(quat_mul(so3_exp_quat(change[f]), so3_exp_quat(turn[f])));
    }
}

// How far an edge that is round has rolled along the ground, tipped from `flat` to `now`.
static vec3 rolled(const pz_foot *foot, const pz_ground *g, unsigned char contact, quat flat, quat now)
{
    double radius = contact == PZ_HEEL ? foot->heel_radius : contact == PZ_TOE ? foot->toe_radius : 0.0;
    if (!foot->has_edges || radius == 0.0) {
        return v3(0, 0, 0);
    }
    vec3 ahead = v3_normalize(quat_rotate(flat, v3_sub(foot->toe, foot->heel))), edge = v3_cross(g->up, ahead);
    vec3 tipped = so3_log(quat_mul(now, quat_conj(flat))), center = v3_scale(g->up, radius);
    vec3 turned = quat_rotate(quat_mul(now, quat_conj(flat)), center);
    return v3_add(v3_scale(ahead, radius * v3_dot(tipped, edge)), v3_sub(center, turned));
}

// In each step: where the body is, with its turn and the point that is held, against where the source has it.
static void hold_places(pz_foot *foot, const pz_ground *g, const poise_vec3 *turn, poise_vec3 *offset)
{
    step s;
    double farthest;
    for (int from = 0; next_step(foot, g, from, &s); from = s.last) {
        poise_pose place = place_of_step(foot, &s, g, &farthest);
        for (int f = s.first; f < s.last; ++f) {
            vec3 point = pz_foot_point(foot, foot->contact[f]);
            quat now = quat_mul(so3_exp_quat(turn[f]), foot->path[f].rotation);
            vec3 origin = v3_sub(poise_pose_transform(place, point), quat_rotate(now, point));
            origin = v3_add(origin, rolled(foot, g, foot->contact[f], place.rotation, now));
            offset[f] = v3_sub(origin, foot->path[f].position);
        }
    }
    bridge_all(foot, offset, true, g);
}

// A foot that is held, or rests, though it is not held: it goes over into another place.
static bool stays(const pz_foot *foot, int frame)
{
    return foot->contact[frame] != 0 || foot->rests[frame] != 0;
}

// No sole is below the ground, nor does it scrape over it on the way from where it stays to where it stays next. A foot that
// does not stay for longer is not on its way: it may slide, as on the spot.
static void lift_soles(pz_foot *foot, const pz_ground *g)
{
    int before = -1, after = 0;
    for (int f = 0; f < g->frames; ++f) {
        poise_pose *pose = &foot->path[f];
        before = stays(foot, f) ? f : before;
        for (after = after > f ? after : f; after < g->frames && !stays(foot, after); ++after) {
        }
        double since = before >= 0 ? (f - before) * g->frame_time : GRIP;
        double until = after < g->frames ? (after - f) * g->frame_time : GRIP;
        bool is_on_its_way = (before >= 0 || after < g->frames) && (after - before) * g->frame_time < SWING;
        double clear = is_on_its_way ? CLEAR * g->leg * ease(min2(since, until) / GRIP) : 0.0;
        double sunk = g->height + clear - pz_sole_height(foot, *pose, g->up, PZ_HEEL | PZ_TOE, NULL);
        pose->position = sunk > 0 ? v3_mad(pose->position, sunk, g->up) : pose->position;
    }
}

void pz_foot_plant(pz_foot *foot, const pz_ground *g, poise_vec3 *offset)
{
    poise_vec3 *turn = offset, *move = offset + g->frames;
    level_soles(foot, g);
    for (int f = 0; f < g->frames; ++f) {
        foot->contact[f] = g->released[f] ? 0 : foot->contact[f];
    }
    drop_tilted(foot, g);
    cut_drifts(foot, g);
    hold_turns(foot, g, turn);
    if (foot->has_edges) {
        hold_edges(foot, g, turn, move);
    }
    hold_places(foot, g, turn, move);
    for (int f = 0; f < g->frames; ++f) {
        poise_pose *pose = &foot->path[f];
        pose->rotation = quat_normalize(quat_mul(so3_exp_quat(turn[f]), pose->rotation));
        pose->position = v3_add(pose->position, move[f]);
    }
    lift_soles(foot, g);
}

// ---- How a figure stands -------------------------------------------------------------------------------------------------

// How high a figure stands: its lowest sole against the ground that it stands on at rest.
//
// A figure whose root can move goes to its goals as a whole, and leaves the ground with no goal being missed. The ground is
// where the lowest sole is in the rest pose; soles are those of retargeting (retarget_work.h).

struct poise_stance {
    vec3 up;
    double leg, ground;
    pz_foot foot[2];
    poise_allocator allocator;
    bool has_allocator;
};

static double lowest_sole(const poise_stance *s, const poise_kinematics *kin)
{
    double lowest = INFINITY;
    for (int side = 0; side < 2; ++side) {
        if (s->foot[side].body >= 0) {
            poise_pose pose = poise_kinematics_body_pose(kin, s->foot[side].body);
            lowest = min2(lowest, pz_sole_height(&s->foot[side], pose, s->up, PZ_HEEL | PZ_TOE, NULL));
        }
    }
    return lowest;
}

// The soles. False: out of memory.
static bool measure_feet(poise_stance *s, const pz_actor *a, const poise_shape *shapes, int count,
                         const poise_allocator *allocator)
{
    size_t room = (size_t)count + 1;
    poise_hull *hulls = pz_allocate(allocator, room * sizeof *hulls);
    vec3 *places = pz_allocate(allocator, room * POISE_HULL_OF_SHAPE * sizeof *places);
    pz_sole_point *corners = pz_allocate(allocator, room * POISE_HULL_OF_SHAPE * sizeof *corners);
    bool works = hulls && places && corners;
    int made = 0;
    for (int i = 0; i < count && works; ++i) {
        vec3 *own = places + (size_t)made * POISE_HULL_OF_SHAPE;
        made += poise_hull_of_shape(&shapes[i], own, &hulls[made], NULL) == POISE_OK;
    }
    for (int side = 0; side < 2 && works; ++side) {
        s->foot[side].corner = corners;
        pz_foot_measure(a, side * POISE_ROLE_SIDE, hulls, made, 0.0, &s->foot[side]);
        s->foot[side].corner = NULL;
    }
    pz_release(allocator, corners);
    pz_release(allocator, places);
    pz_release(allocator, hulls);
    return works;
}

// Soles, and the ground below them: infinitely high where there is no foot. False: out of memory.
static bool measure(poise_stance *s, pz_actor *a, const double *rest, const poise_shape *shapes, int count,
                    const poise_allocator *allocator)
{
    bool works = measure_feet(s, a, shapes, count, allocator);
    s->up = a->up;
    s->leg = a->leg;
    works = works && poise_kinematics_update(a->kin, rest ? rest : a->rest, NULL) == POISE_OK;
    s->ground = works ? lowest_sole(s, a->kin) : INFINITY;
    return works;
}

poise_status poise_stance_create(const poise_model *model, const double *rest, poise_up up, const poise_shape *shapes,
                                 int shape_count, const poise_allocator *allocator, poise_stance **stance,
                                 poise_error *error)
{
    if (!model || !stance || shape_count < 0 || (shape_count > 0 && !shapes)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and stance must not be NULL, nor shapes that are counted");
    }
    poise_clip pose = {.frames = rest ? 1 : 0, .nq = poise_model_info(model).nq, .frame_time = 1.0, .q = (double *)rest};
    pz_actor actor;
    poise_stance *made = pz_allocate(allocator, sizeof *made);
    poise_status status = pz_actor_open(model, &pose, up, NULL, allocator, &actor);
    bool is_short = !made || status != POISE_OK;
    if (!is_short) {
        *made = (poise_stance){.has_allocator = allocator != NULL};
        made->allocator = allocator ? *allocator : made->allocator;
    }
    bool stands = !is_short && actor.is_standing && actor.leg > 0 && pz_hips_can_move(&actor);
    is_short = is_short || (stands && !measure(made, &actor, rest, shapes, shape_count, allocator));
    pz_actor_close(&actor, allocator);
    if (!is_short && stands && made->ground < INFINITY) {
        *stance = made;
        return POISE_OK;
    }
    pz_release(allocator, made);
    return is_short ? pz_error_set(error, POISE_ERROR_MEMORY, "out of memory")
                    : pz_error_set(error, POISE_ERROR_NOT_FOUND,
                                   "no figure stands in the rest pose on legs that can be moved as a whole");
}

void poise_stance_destroy(poise_stance *stance)
{
    if (stance) {
        poise_allocator allocator = stance->allocator;
        pz_release(stance->has_allocator ? &allocator : NULL, stance);
    }
}

double poise_stance_height(const poise_stance *stance, const poise_kinematics *kinematics)
{
    return lowest_sole(stance, kinematics) - stance->ground;
}

poise_status poise_stance_judge(const poise_stance *stance, double height, const poise_thresholds *thresholds,
                                poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error)
{
    if (!stance || !verdict || capacity < 0 || (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "stance and verdict must not be NULL, nor findings that have room");
    }
    poise_thresholds usual = poise_thresholds_default();
    pz_findings found = {.thresholds = thresholds ? thresholds : &usual, .list = findings, .capacity = capacity};
    pz_weigh(&found, POISE_FINDING_AFLOAT, NULL, max2(height, 0.0) / stance->leg, false);
    pz_weigh(&found, POISE_FINDING_SUNK, NULL, max2(-height, 0.0) / stance->leg, false);
    *verdict = found.verdict;
    return POISE_OK;
}
