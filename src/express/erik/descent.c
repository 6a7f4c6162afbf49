// BWCD and CCD as ERIK uses them: one joint at a time turns the direction of the end towards that of the target (Ribeiro &
// Paiva 2019, Alg. 19 to 22).
//
// Joint k, with the world axis r, takes the angle from the end's direction e to the target's d, both seen along r. What a
// turn does to e is known without the frames below: rot(r, turn) e.
#include "express/erik/erik_state.h"

// How descents treat limits.
typedef enum bounds {
    BOUNDS_NONE,   // the posture has none
    BOUNDS_CYCLE,  // within; twisters may be half a turn off
    BOUNDS_NEAREST // within, at the nearer one where an angle is outside
} bounds;

// An angle less the whole steps in it: from -step/2 to step/2.
static double angle_between_turns(double angle, double step)
{
    double steps = angle / step;
    return fabs(steps) < 1e15 ? angle - step * (double)(int64_t)(steps < 0.0 ? steps - 0.5 : steps + 0.5) : 0.0;
}

// (1 - cos of the angle between them)/2
static double miss(vec3 e, vec3 d)
{
    return 0.5 * (1.0 - v3_dot(e, d));
}

// Of the angles that do the same at the end, each `step` from the next: those within the limits before the others, and of
// them the one nearest to `near`.
static double twist_near(const pz_link *link, double angle, double step, double near)
{
    double nearest = near + angle_between_turns(angle - near, step), best = clamp(nearest, link->lower, link->upper);
    double least = fabs(best - nearest);
    for (int side = -1; side <= 1; side += 2) {
        double other = nearest + side * step, held = clamp(other, link->lower, link->upper);
        if (fabs(held - other) < least) {
            least = fabs(held - other);
            best = held;
        }
    }
    return best;
}

// Twist of the last joint towards t; nothing where it is not a twister.
static void twist_end(const poise_erik *erik, pz_chain_pose *pose, const double *near)
{
    int k = erik->chain.count - 1;
    const pz_link *link = &erik->chain.links[k];
    if (link->kind != PZ_LINK_TWISTER) {
        return;
    }
    bool half_turns = erik->options.symmetric_endpoint;
    double angle = pose->theta[k] + link->sign * pz_twist_to(&pose->Q[k + 1], &erik->t);
    pz_set_angle(pose, k,
                 near ? twist_near(link, angle, half_turns ? PZ_PI : PZ_TWO_PI, near[k])
                      : pz_limit_end_twist(link, angle, half_turns));
    pz_chain_forward(&erik->chain, k, pose);
}

static double limited(const poise_erik *erik, int k, double angle, bounds how)
{
    const pz_link *link = &erik->chain.links[k];
    if (how == BOUNDS_NONE) {
        return angle;
    }
    if (how == BOUNDS_NEAREST) {
        return clamp(angle, link->lower, link->upper);
    }
    if (link->kind == PZ_LINK_TWISTER) {
        return pz_limit_twist(link, angle, k < erik->chain.count - 1 || erik->options.symmetric_endpoint);
    }
    return pz_limit_angle(link, angle);
}

// Turn joint k to `angle` and take the end's direction along: the sine and cosine of the turn come from those of the
// angles.
static void move_joint(pz_chain_pose *pose, int k, double angle, vec3 r, vec3 *e)
{
    double s = pose->sine[k], c = pose->cosine[k];
    pz_set_angle(pose, k, angle);
    double turn_s = pose->sine[k] * c - pose->cosine[k] * s, turn_c = pose->cosine[k] * c + pose->sine[k] * s;
    *e = pz_rotate_about(r, turn_s, turn_c, *e);
}

// One sweep from the root; true when the end points at the target. Frames are right afterwards.
static bool sweep_from_root(const poise_erik *erik, pz_chain_pose *pose, bounds how)
{
    const pz_chain *chain = &erik->chain;
    vec3 e = pose->Q[chain->count].y, d = erik->t.y;
    int first = chain->count; // joint that moved
    for (int k = 0; k < chain->count; ++k) {
        if (miss(e, d) <= erik->options.precision) {
            pz_chain_forward(chain, k, pose);
            return true;
        }
        const pz_link *link = &chain->links[k];
        vec3 r = pz_link_axis(link, &pose->Q[k]);
        double turn;
        if (pz_angle_about(r, e, d, &turn)) {
            move_joint(pose, k, limited(erik, k, pose->theta[k] + turn, how), r, &e);
            first = k < first ? k : first;
        }
        if (k >= first) {
            pose->Q[k + 1] = pz_turn(link, &pose->Q[k], pose->sine[k], pose->cosine[k]);
        }
    }
    return miss(pose->Q[chain->count].y, d) <= erik->options.precision;
}

void pz_bwcd_posture(const poise_erik *erik, pz_chain_pose *pose)
{
    for (int i = 0; i < erik->options.max_sweeps; ++i) {
        if (sweep_from_root(erik, pose, BOUNDS_NONE)) {
            return;
        }
    }
}

// Limits can hold the end where it is: a sweep that moves nothing will not be followed by one that does.
void pz_bwcd_solution(const poise_erik *erik, pz_chain_pose *pose, const double *near)
{
    for (int i = 0; i < erik->options.max_sweeps; ++i) {
        if (sweep_from_root(erik, pose, near ? BOUNDS_NEAREST : BOUNDS_CYCLE)) {
            break;
        }
    }
    twist_end(erik, pose, near);
}

// One sweep from the end: the axes of the joints above are not changed by those below.
static bool sweep_from_end(const poise_erik *erik, pz_chain_pose *pose, double *missed)
{
    const pz_chain *chain = &erik->chain;
    const poise_erik_options *o = &erik->options;
    vec3 e = pose->Q[chain->count].y, d = erik->t.y;
    bool is_done = false;
    for (int k = chain->count - 1; k >= 0 && !is_done; --k) {
        const pz_link *link = &chain->links[k];
        vec3 r = pz_link_axis(link, &pose->Q[k]);
        double turn;
        if (miss(e, d) > o->precision && pz_angle_about(r, e, d, &turn)) {
            double angle = limited(erik, k, pose->theta[k] + turn, BOUNDS_CYCLE);
            move_joint(pose, k, o->avoid_edges ? pz_avoid_edge(link, angle, o->disturbance) : angle, r, &e);
        }
        is_done = miss(e, d) <= o->precision;
    }
    pz_chain_forward(chain, 0, pose);
    *missed = miss(pose->Q[chain->count].y, d);
    return is_done;
}

void pz_ccd_solution(const poise_erik *erik, pz_chain_pose *pose)
{
    double last = 2.0, missed = 2.0;
    for (int i = 0; i < erik->options.max_sweeps; ++i) {
        if (sweep_from_end(erik, pose, &missed) || fabs(last - missed) <= erik->options.stall) {
            break;
        }
        last = missed;
    }
    twist_end(erik, pose, NULL);
}
