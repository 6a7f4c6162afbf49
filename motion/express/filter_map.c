// Every number of a configuration is filtered by itself, but for four kinds:
//
//   a hinge without limits              the nearest of the angles that mean the same, q + 2 pi k
//   a rotation vector without limits    the nearest of the vectors that mean the same, v (1 + 2 pi k / |v|)
//   Euler angles without limits         the nearest of the triples that mean the same: whole turns, and (a + pi, pi - b,
//                                       c + pi), or (a + pi, -b, c + pi) where the first axis comes again
//   a quaternion                        the rotation vector from the pose of the last reset, likewise the nearest
//
// Where a swing is limited by an ellipse, which no filter of single numbers knows, the ellipse comes before the limits of
// velocity, acceleration and jerk.
#include "motion/express/filter_map.h"

#include "base/arena.h"
#include "num/trig.h"
#include "num/vector.h"

typedef enum part_kind {
    PART_PLAIN,  // one number as it is
    PART_TURNS,  // a hinge without limits: one number, and whole turns
    PART_EULER,  // Euler angles without limits: three, and those that mean the same
    PART_VECTOR, // a rotation vector without limits: three, and whole turns
    PART_QUAT    // a quaternion: four numbers become three
} part_kind;

typedef struct part {
    part_kind kind;
    int joint;
    int q, x;                  // where it begins in a configuration, and in what is filtered
    bool is_length, is_proper; // a length; Euler angles whose first axis comes again
} part;

struct pz_filter_map {
    pz_owned owned;
    const poise_model *model;
    int part_count, count; // parts; numbers that are filtered
    double size;           // of the model: the longest way from the root to a leaf; 1 where it has none
    part *parts;
    double *reference;    // nq: the pose of the last reset
    double *setpoint, *x; // count each: the last set-points, scratch
};

// ---- Making --------------------------------------------------------------------------------------------------------------

static bool is_limited(const poise_model *model, int first, int count)
{
    poise_model_summary info = poise_model_info(model);
    for (int i = first; i < first + count; ++i) {
        if (is_finite(info.lower[i]) || is_finite(info.upper[i])) {
            return true;
        }
    }
    return false;
}

static void add_part(pz_filter_map *map, part_kind kind, int joint, int q, int count)
{
    map->parts[map->part_count++] = (part){.kind = kind, .joint = joint, .q = q, .x = map->count};
    map->count += count;
}

static void add_joint(pz_filter_map *map, int joint)
{
    poise_joint_info info = poise_model_joint_info(map->model, joint);
    bool is_euler = info.type == POISE_JOINT_BALL_EULER || info.type == POISE_JOINT_FREE_EULER;
    bool vector = info.type == POISE_JOINT_BALL_EXPMAP || info.type == POISE_JOINT_FREE_EXPMAP;
    bool is_quat = info.type == POISE_JOINT_BALL_QUATERNION || info.type == POISE_JOINT_FREE;
    is_euler = is_euler && info.nq >= 3 && !is_limited(map->model, info.q + info.nq - 3, 3);
    int rotation = vector || is_euler ? info.nq - 3
                   : is_quat          ? info.nq - 4
                                      : info.nq; // where it begins; lengths come before
    rotation = rotation < 0 ? 0 : rotation;
    for (int i = 0; i < rotation; ++i) {
        bool turns = info.type == POISE_JOINT_REVOLUTE && !is_limited(map->model, info.q, 1);
        add_part(map, turns ? PART_TURNS : PART_PLAIN, joint, info.q + i, 1);
        map->parts[map->part_count - 1].is_length = poise_model_coordinate(map->model, info.q + i).unit == POISE_UNIT_LENGTH;
    }
    if (is_euler) {
        add_part(map, PART_EULER, joint, info.q + rotation, 3);
        map->parts[map->part_count - 1].is_proper = info.given->order >= POISE_EULER_XYX;
    } else if (info.nq > 0 && is_quat) {
        add_part(map, PART_QUAT, joint, info.q + rotation, 3);
    } else if (info.nq > 0 && vector && !is_limited(map->model, info.q + rotation, 3)) {
        add_part(map, PART_VECTOR, joint, info.q + rotation, 3);
    } else {
        for (int i = rotation; i < info.nq; ++i) {
            add_part(map, PART_PLAIN, joint, info.q + i, 1);
        }
    }
}

// The longest way from the root to a joint, along the offsets at rest.
static double size_of(const poise_model *model)
{
    double longest = 0.0;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        double way = 0.0;
        for (int i = k; i != POISE_WORLD; i = poise_model_joint_info(model, i).parent) {
            way += v3_norm(poise_model_joint_info(model, i).given->offset.position);
        }
        longest = max2(longest, way);
    }
    return longest > 0.0 ? longest : 1.0;
}

static pz_filter_map *lay_out(pz_arena *arena, size_t nq)
{
    pz_filter_map *map = pz_arena_take(arena, 1, sizeof *map);
    part *parts = pz_arena_take(arena, nq, sizeof *parts);
    double *numbers[3];
    for (int i = 0; i < 3; ++i) {
        numbers[i] = pz_arena_take(arena, nq, sizeof *numbers[i]);
    }
    if (map) {
        *map = (pz_filter_map){.parts = parts, .reference = numbers[0], .setpoint = numbers[1], .x = numbers[2]};
    }
    return map;
}

pz_filter_map *pz_filter_map_create(const poise_model *model, const poise_allocator *allocator)
{
    poise_model_summary info = poise_model_info(model);
    pz_arena count = pz_arena_counting();
    lay_out(&count, (size_t)info.nq);
    pz_owned owned = {0};
    void *memory = pz_owned_take(&owned, allocator, pz_arena_bytes(&count));
    if (!memory) {
        return NULL;
    }
    pz_arena arena = pz_arena_over(memory, pz_arena_bytes(&count));
    pz_filter_map *map = lay_out(&arena, (size_t)info.nq);
    map->owned = owned;
    map->model = model;
    for (int k = 0; k < info.joints; ++k) {
        add_joint(map, k);
    }
    map->size = size_of(model);
    poise_model_neutral(model, map->reference);
    pz_filter_map_reset(map, map->reference);
    return map;
}

void pz_filter_map_destroy(pz_filter_map *map)
{
    if (map) {
        pz_owned owned = map->owned;
        pz_owned_release(&owned);
    }
}

int pz_filter_map_count(const pz_filter_map *map)
{
    return map->count;
}

int pz_filter_map_joint_count(const pz_filter_map *map)
{
    return poise_model_info(map->model).joints;
}

static const part *part_of(const pz_filter_map *map, int i)
{
    int k = 0;
    while (k + 1 < map->part_count && map->parts[k + 1].x <= i) {
        k += 1;
    }
    return &map->parts[k];
}

int pz_filter_map_number(const pz_filter_map *map, int i, const poise_filter_joint *joint, poise_filter_joint *number)
{
    poise_model_summary info = poise_model_info(map->model);
    const part *p = part_of(map, i);
    double unit = p->is_length ? joint->length_unit > 0.0 ? joint->length_unit : map->size : 1.0;
    *number = *joint;
    number->lower = p->kind == PART_PLAIN ? info.lower[p->q] : -INFINITY;
    number->upper = p->kind == PART_PLAIN ? info.upper[p->q] : INFINITY;
    number->velocity *= unit;
    number->acceleration *= unit;
    number->jerk *= unit;
    return p->joint;
}

void pz_filter_map_joints(const pz_filter_map *map, const poise_filter_joint *joints, poise_filter_joint *numbers)
{
    poise_filter_joint usual = poise_filter_joint_default();
    for (int i = 0; i < map->count; ++i) {
        pz_filter_map_number(map, i, joints ? &joints[part_of(map, i)->joint] : &usual, &numbers[i]);
    }
}

double *pz_filter_map_scratch(pz_filter_map *map)
{
    return map->x;
}

// ---- Configurations to numbers and back ----------------------------------------------------------------------------------

// The rotation vector of a quaternion of any sign, up to pi long.
static void quat_log(quat q, double *v)
{
    double sign = q.w < 0 ? -1 : 1, s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double scale = s > 1e-12 ? sign * 2 * pz_atan2(s, sign * q.w) / s : sign * 2;
    v[0] = scale * q.x;
    v[1] = scale * q.y;
    v[2] = scale * q.z;
}

static double distance2(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// Of the vectors of one rotation, v (1 + 2 pi k / |v|), the one nearest to `near`: k by the projection of `near` on v.
static void unwrap(double *v, const double *near)
{
    double l = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(l > 1e-9)) {
        return; // the direction of a turn is lost here, and the zero is as good as any
    }
    double along = (v[0] * near[0] + v[1] * near[1] + v[2] * near[2]) / l;
    double turns = round_down((along - l) / PZ_TWO_PI + 0.5);
    double scale = 1 + PZ_TWO_PI * turns / l, other[3] = {v[0] * scale, v[1] * scale, v[2] * scale};
    if (turns != 0 && distance2(other, near) < distance2(v, near)) {
        memcpy(v, other, sizeof other);
    }
}

// Of the Euler angles of one rotation those nearest to `near`.
static void unwrap_euler(const part *p, double *v, const double *near)
{
    double other[3] = {v[0] + PZ_PI, p->is_proper ? -v[1] : PZ_PI - v[1], v[2] + PZ_PI};
    for (int i = 0; i < 3; ++i) {
        v[i] = turn_near(v[i], near[i]);
        other[i] = turn_near(other[i], near[i]);
    }
    if (distance2(other, near) < distance2(v, near)) {
        memcpy(v, other, sizeof other);
    }
}

static quat quat_at(const double *q)
{
    return (quat){q[0], q[1], q[2], q[3]};
}

const double *pz_filter_map_in(pz_filter_map *map, const double *q)
{
    if (!all_finite(q, (size_t)poise_model_info(map->model).nq)) {
        return map->setpoint;
    }
    for (int k = 0; k < map->part_count; ++k) {
        const part *p = &map->parts[k];
        double last[3], *to = map->setpoint + p->x;
        switch (p->kind) {
        case PART_PLAIN:
            to[0] = q[p->q];
            break;
        case PART_TURNS:
            to[0] = turn_near(q[p->q], to[0]);
            break;
        case PART_EULER:
            memcpy(last, to, sizeof last);
            memcpy(to, q + p->q, sizeof last);
            unwrap_euler(p, to, last);
            break;
        default:
            memcpy(last, to, sizeof last);
            if (p->kind == PART_VECTOR) {
                memcpy(to, q + p->q, sizeof last);
            } else {
                quat_log(quat_mul(quat_conj(quat_at(map->reference + p->q)), quat_at(q + p->q)), to);
            }
            unwrap(to, last);
        }
    }
    return map->setpoint;
}

const double *pz_filter_map_reset(pz_filter_map *map, const double *q)
{
    size_t size = (size_t)poise_model_info(map->model).nq * sizeof *q;
    memcpy(map->x, q, size);
    if (poise_model_clamp(map->model, map->x, NULL, NULL) != POISE_OK) {
        return NULL;
    }
    memcpy(map->reference, map->x, size);
    memset(map->setpoint, 0, (size_t)map->count * sizeof *map->setpoint);
    return pz_filter_map_in(map, map->reference);
}

void pz_filter_map_out(const pz_filter_map *map, const double *x, double *q)
{
    for (int k = 0; k < map->part_count; ++k) {
        const part *p = &map->parts[k];
        const double *from = x + p->x;
        if (p->kind == PART_QUAT) {
            vec3 v = {from[0], from[1], from[2]};
            double angle = v3_norm(v); // where it overflows there is no turn
            quat turn = poise_quat_from_axis_angle(v, is_finite(angle) ? angle : 0.0);
            quat r = quat_mul(quat_at(map->reference + p->q), turn);
            memcpy(q + p->q, (double[]){r.x, r.y, r.z, r.w}, 4 * sizeof *q);
        } else {
            memcpy(q + p->q, from, (p->kind == PART_VECTOR || p->kind == PART_EULER ? 3 : 1) * sizeof *q);
        }
    }
    if (!poise_model_within_limits(map->model, q)) {
        poise_model_clamp(map->model, q, NULL, NULL); // swing ellipses
    }
}
