// The soles of feet: where they are.
//
// Shapes tell best: the sole is what lies lowest of them in the rest pose, its heel and toe the ends of that. Without shapes
// heel and toe are guessed from the toes' bodies or the length of the leg.
#include "motion/retarget/feet.h"

#include "num/real.h"
#include "num/trig.h"

#define SOLE_SHARE   0.08  // of the leg: height of an ankle above its sole, where nothing tells
#define LENGTH_SHARE 0.16  // of the leg: from ankle to ball, likewise
#define HEEL_SHARE   0.4   // of that, behind the ankle
#define SOLE_BAND    0.015 // of the leg: what is higher above the lowest point of the foot is not of its sole
#define STEEPEST     1.45  // radians: soles are tilted by less

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
