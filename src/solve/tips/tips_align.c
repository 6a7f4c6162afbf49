// A free root laid onto the targets of its tips.
//
// The rotation B and the shift b = tm - B xm that bring points x nearest to t and directions d to u,
//
//   sum |B x + b - t|^2/L^2 + 1/2 sum |B d - u|^2 least:  tr(B S) largest,  S = sum (x - xm)(t - tm)^T/L^2 + 1/2 sum d u^T
//
// xm, tm the means over the points (Horn 1987, as in restarts.c). The columns of a POSE goal's frame are directions, so that
// one of them is enough. What they leave open is settled by a light pull towards where the root is.
#include "solve/geometric/geometric.h"
#include "solve/tips/tips.h"

typedef struct cloud {
    int points;
    vec3 x, t; // means
    mat3 S;
} cloud;

static bool is_point(const poise_goal *goal)
{
    return (goal->kind == POISE_GOAL_POSITION || goal->kind == POISE_GOAL_POSE) && goal->weight > 0;
}

static void add_directions(const poise_kinematics *kin, const poise_goal *goal, mat3 *S)
{
    if (goal->kind == POISE_GOAL_DIRECTION) {
        pz_add_pair(S, 0.5, pz_kin_direction(kin, goal->body, goal->axis), goal->direction);
    }
    bool turns = goal->kind == POISE_GOAL_ORIENTATION || (goal->kind == POISE_GOAL_POSE && goal->rotation_weight > 0);
    if (turns) {
        mat3 R = pz_kin_rotation(kin, goal->body), L = quat_matrix(goal->local.rotation);
        mat3 d = m3_mul(&R, &L), u = quat_matrix(goal->target.rotation);
        pz_add_pair(S, 0.5, d.x, u.x);
        pz_add_pair(S, 0.5, d.y, u.y);
        pz_add_pair(S, 0.5, d.z, u.z);
    }
}

static cloud cloud_of(const poise_solver *s, const poise_kinematics *kin, double unit)
{
    cloud c = {.S = {{PZ_TIPS_STAY, 0, 0}, {0, PZ_TIPS_STAY, 0}, {0, 0, PZ_TIPS_STAY}}};
    for (int i = 0; i < s->goal_count; ++i) {
        if (is_point(&s->goals[i])) {
            c.points += 1;
            c.x = v3_add(c.x, pz_kin_point(kin, s->goals[i].body, s->goals[i].local.position));
            c.t = v3_add(c.t, pz_goal_target(kin, &s->goals[i]));
        }
    }
    double share = c.points > 0 ? 1.0 / c.points : 0.0;
    c.x = v3_scale(c.x, share);
    c.t = v3_scale(c.t, share);
    for (int i = 0; i < s->goal_count; ++i) {
        const poise_goal *goal = &s->goals[i];
        if (is_point(goal)) {
            pz_add_pair(&c.S, 1.0 / (unit * unit), v3_sub(pz_kin_point(kin, goal->body, goal->local.position), c.x),
                        v3_sub(pz_goal_target(kin, goal), c.t));
        }
        add_directions(kin, goal, &c.S);
    }
    return c;
}

bool pz_tips_align(const poise_solver *s, const poise_kinematics *kin, double unit, double *q)
{
    quat turn;
    if (!pz_has_free_root(s)) {
        return false;
    }
    cloud c = cloud_of(s, kin, unit);
    turn = pz_best_quat(&c.S, 4, &turn) ? turn : (quat){0, 0, 0, 1};
    return pz_put_root(s, kin, turn, c.x, c.t, q);
}
