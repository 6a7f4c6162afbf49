#include "support/constraint_check.h"

#include "support/shape_check.h"

#include <math.h>
#include <stdlib.h>

static poise_pose world_of(const poise_kinematics *kin, int body, poise_pose local)
{
    return body == POISE_WORLD ? local : poise_pose_multiply(poise_kinematics_body_pose(kin, body), local);
}

static double apart(poise_vec3 a, poise_vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static double dot(poise_vec3 a, poise_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static double outside(double x, double lower, double upper)
{
    return fmax(lower - x, x - upper);
}

// How far a loop is open; a band: how far outside.
static double loop_error(const poise_kinematics *kin, const poise_constraint *c)
{
    poise_pose a = world_of(kin, c->body, c->local), b = world_of(kin, c->body2, c->target);
    poise_vec3 z = {0, 0, 1}, za = poise_quat_rotate(a.rotation, z), zb = poise_quat_rotate(b.rotation, z);
    double point = apart(a.position, b.position);
    switch (c->kind) {
    case POISE_CONSTRAINT_CONNECT:
        return point;
    case POISE_CONSTRAINT_WELD:
        return fmax(point, poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(b.rotation), a.rotation)));
    case POISE_CONSTRAINT_HINGE:
        return fmax(point, apart(za, zb));
    case POISE_CONSTRAINT_DISTANCE:
        return outside(point, c->lower, c->upper);
    default: {
        poise_vec3 off = {a.position.x - b.position.x, a.position.y - b.position.y, a.position.z - b.position.z};
        return outside(dot(off, zb), c->lower, c->upper);
    }
    }
}

// How far the centre of mass, added up here, is outside; lengths of sides divide.
static double side_error(const poise_model *model, const poise_kinematics *kin, const poise_constraint *c)
{
    poise_vec3 sum = {0, 0, 0};
    double mass = 0, worst = -INFINITY;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        const poise_joint *joint = poise_model_joint_info(model, k).given;
        poise_vec3 x = poise_kinematics_point(kin, k, joint->mass_center);
        mass += joint->mass;
        sum = poise_vec3_make(sum.x + joint->mass * x.x, sum.y + joint->mass * x.y, sum.z + joint->mass * x.z);
    }
    for (int i = 0; i < c->corner_count; ++i) {
        poise_vec3 p = c->polygon[i], q = c->polygon[(i + 1) % c->corner_count];
        poise_vec3 along = {q.x - p.x, q.y - p.y, q.z - p.z}, up = c->axis;
        poise_vec3 inwards = {up.y * along.z - up.z * along.y, up.z * along.x - up.x * along.z,
                              up.x * along.y - up.y * along.x};
        poise_vec3 off = {sum.x / mass - p.x, sum.y / mass - p.y, sum.z / mass - p.z};
        worst = fmax(worst, c->margin - dot(inwards, off) / sqrt(dot(inwards, inwards)));
    }
    return worst;
}

static double limit_error(const poise_model *model, const double *q)
{
    poise_model_summary info = poise_model_info(model);
    double worst = -INFINITY;
    for (int i = 0; i < info.nq; ++i) {
        worst = fmax(worst, outside(q[i], info.lower[i], info.upper[i]));
    }
    return worst;
}

broken check_constraints(const poise_model *model, const poise_constraint *constraints, int count, const double *q)
{
    broken b = {-INFINITY, -INFINITY, -INFINITY, limit_error(model, q)};
    poise_kinematics *kin;
    if (poise_kinematics_create(model, NULL, &kin, NULL) != POISE_OK || poise_kinematics_update(kin, q, NULL) != POISE_OK) {
        abort();
    }
    for (int i = 0; i < count; ++i) {
        const poise_constraint *c = &constraints[i];
        for (int k = 0; k < c->pair_count; ++k) {
            double d = checked_distance(kin, &c->shapes[c->pairs[k].a], &c->shapes[c->pairs[k].b]);
            b.clearance = fmax(b.clearance, (c->margins ? c->margins[k] : c->margin) - d);
        }
        if (c->kind == POISE_CONSTRAINT_BALANCE) {
            b.side = fmax(b.side, side_error(model, kin, c));
        } else if (c->kind != POISE_CONSTRAINT_CLEARANCE) {
            b.loop = fmax(b.loop, loop_error(kin, c));
        }
    }
    poise_kinematics_destroy(kin);
    return b;
}
