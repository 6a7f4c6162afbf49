// A CLEARANCE as the searches of an arm watch it.
#include "num/trig.h"

#include "arm_world.h"

#include "base/error.h"
#include "model/model.h"
#include "num/vector.h"

#include <stdlib.h>
#include <string.h>

#define STILL   (-1)
#define SAMPLES 1000 // configurations that say which pairs are broken most often

// ---- Links ---------------------------------------------------------------------------------------------------------------

// The link of the chain that carries a body, or STILL. False: another joint moves it.
static bool find_link(const poise_model *model, const pz_arm_chain *chain, int body, int *link)
{
    *link = STILL;
    for (int k = body; k != POISE_WORLD; k = model->joints[k].parent) {
        const pz_joint *own = &model->joints[k];
        if (own->step_begin == own->step_end) {
            continue;
        }
        int q = model->steps[own->step_begin].q;
        for (int i = 0; i < chain->n && own->mimic == POISE_WORLD; ++i) {
            if (chain->q[i] == q) {
                *link = i;
                return true;
            }
        }
        return false;
    }
    return true;
}

// A frame, lengths over L, in that of the first joint.
typedef struct place {
    mat3 R;
    vec3 p;
} place;

static place to_base(const pz_arm_chain *chain, const poise_pose *pose)
{
    mat3 back = m3_transpose(&chain->base), R = quat_matrix(pose->rotation);
    return (place){m3_mul(&back, &R), v3_scale(m3_apply(&back, v3_sub(pose->position, chain->base_at)), 1.0 / chain->unit)};
}

// The frame of a link at q, from where capsules along its axes are put.
static place link_frame(const pz_arm_chain *chain, const double *q, int link)
{
    const pz_world_capsule axes[3] = {
        {link, {.along = {1, 0, 0}}}, {link, {.along = {0, 1, 0}}}, {link, {.along = {0, 0, 1}}}};
    pz_segment placed[3];
    world_place(axes, 3, chain, q, placed);
    return (place){{placed[0].along, placed[1].along, placed[2].along}, placed[0].center};
}

// ---- Making one ----------------------------------------------------------------------------------------------------------

typedef struct making {
    const poise_model *model;
    const pz_cuda_task *task;
    const poise_constraint *apart;
    pz_arm_world *world;
    poise_kinematics *kinematics; // at q
    double *q;                    // of the model
    double own[PZ_ARM_MOST];      // of the chain
    int *link, *place;            // of each shape: its link, and where it is among capsules or obstacles
    poise_error *error;
} making;

static poise_status refuse(const making *m, int shape, const char *why)
{
    int body = m->apart->shapes[shape].body;
    const char *name = body == POISE_WORLD ? "world" : poise_model_joint_info(m->model, body).body;
    return pz_error_set(m->error, POISE_ERROR_UNSUPPORTED, "shape %d on '%s': %s", shape, name, why);
}

static poise_status add_capsule(making *m, int shape)
{
    const poise_shape *s = &m->apart->shapes[shape];
    pz_arm_world *world = m->world;
    if (s->kind != POISE_SHAPE_CAPSULE) {
        return refuse(m, shape, "links of an arm have capsules and spheres on the device");
    }
    if (world->capsule_count == PZ_WORLD_CAPSULES) {
        return refuse(m, shape, "more shapes on links than the 64 that the device has room for");
    }
    poise_pose body = poise_kinematics_body_pose(m->kinematics, s->body), pose = poise_pose_multiply(body, s->pose);
    place at = to_base(&m->task->chain, &pose), frame = link_frame(&m->task->chain, m->own, m->link[shape]);
    m->place[shape] = world->capsule_count;
    world->capsule[world->capsule_count++] =
        (pz_world_capsule){m->link[shape],
                           {.center = m3_apply_transposed(&frame.R, v3_sub(at.p, frame.p)),
                            .along = v3_normalize(m3_apply_transposed(&frame.R, at.R.z)),
                            .half = s->half.z / m->task->chain.unit}};
    return POISE_OK;
}

static poise_status add_obstacle(making *m, int shape)
{
    const poise_shape *s = &m->apart->shapes[shape];
    pz_arm_world *world = m->world;
    if (world->obstacle_count == PZ_WORLD_OBSTACLES) {
        return refuse(m, shape, "more shapes that stand still than the 256 that the device has room for");
    }
    poise_pose body = s->body == POISE_WORLD ? poise_pose_identity() : poise_kinematics_body_pose(m->kinematics, s->body);
    poise_pose pose = poise_pose_multiply(body, s->pose);
    place at = to_base(&m->task->chain, &pose);
    m->place[shape] = world->obstacle_count;
    world->obstacle[world->obstacle_count++] =
        (pz_world_obstacle){s->kind, at.p, v3_scale(s->half, 1.0 / m->task->chain.unit), at.R};
    return POISE_OK;
}

// Which shapes are watched; the rest may be whatever it is.
static void mark_watched(const making *m)
{
    for (int i = 0; i < m->apart->shape_count; ++i) {
        m->place[i] = -1;
    }
    for (int k = 0; k < m->apart->pair_count; ++k) {
        m->place[m->apart->pairs[k].a] = m->place[m->apart->pairs[k].b] = 0;
    }
}

// All shapes that are watched, link by link.
static poise_status add_shapes(making *m)
{
    poise_status status = POISE_OK;
    mark_watched(m);
    for (int i = 0; i < m->apart->shape_count; ++i) {
        if (m->place[i] >= 0 && !find_link(m->model, &m->task->chain, m->apart->shapes[i].body, &m->link[i])) {
            return refuse(m, i, "a joint that is none of the arm's moves it");
        }
    }
    for (int link = STILL; link < m->task->chain.n; ++link) {
        for (int i = 0; i < m->apart->shape_count && status == POISE_OK; ++i) {
            if (m->place[i] >= 0 && m->link[i] == link) {
                status = link == STILL ? add_obstacle(m, i) : add_capsule(m, i);
            }
        }
    }
    return status;
}

static poise_status add_watches(making *m)
{
    const poise_constraint *c = m->apart;
    pz_arm_world *world = m->world;
    if (c->pair_count > PZ_WORLD_WATCHES) {
        return pz_error_set(m->error, POISE_ERROR_UNSUPPORTED, "%d pairs: the device has room for %d", c->pair_count,
                            PZ_WORLD_WATCHES);
    }
    for (int k = 0; k < c->pair_count; ++k) {
        int a = c->pairs[k].a, b = c->pairs[k].b;
        if (m->link[a] == STILL) { // the capsule comes first
            a = c->pairs[k].b, b = c->pairs[k].a;
        }
        if (m->link[a] == STILL) {
            return refuse(m, a, "the arm moves neither this shape nor its partner");
        }
        double margin = c->margins ? c->margins[k] : c->margin;
        double apart = (c->shapes[a].radius + c->shapes[b].radius + margin) / m->task->chain.unit;
        int other = m->link[b] == STILL ? m->place[b] : -1 - m->place[b];
        world->watch[world->watch_count++] = (pz_world_watch){m->place[a], other, k, apart, margin};
    }
    return POISE_OK;
}

// ---- Their order ---------------------------------------------------------------------------------------------------------

typedef struct counted {
    pz_world_watch watch;
    int broken;
} counted;

static int compare(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    return x->broken != y->broken ? (x->broken < y->broken) - (x->broken > y->broken)
                                  : (x->watch.pair > y->watch.pair) - (x->watch.pair < y->watch.pair);
}

// Those that are broken most often where restarts begin come first.
static poise_status put_in_order(making *m)
{
    pz_arm_world *world = m->world;
    counted *all = malloc((size_t)world->watch_count * sizeof *all + 1);
    if (!all) {
        return pz_error_set(m->error, POISE_ERROR_MEMORY, "out of memory");
    }
    for (int k = 0; k < world->watch_count; ++k) {
        all[k] = (counted){world->watch[k], 0};
    }
    for (int i = 1; i <= SAMPLES; ++i) {
        double q[PZ_ARM_MOST];
        pz_segment placed[PZ_WORLD_CAPSULES];
        arm_restart(&m->task->chain, i, q);
        world_place(world->capsule, world->capsule_count, &m->task->chain, q, placed);
        for (int k = 0; k < world->watch_count; ++k) {
            const pz_world_watch *watch = &world->watch[k];
            all[k].broken += world_gap(world, watch, placed, watch->apart) < watch->apart;
        }
    }
    qsort(all, (size_t)world->watch_count, sizeof *all, compare);
    for (int k = 0; k < world->watch_count; ++k) {
        world->watch[k] = all[k].watch;
    }
    free(all);
    return POISE_OK;
}

// ---- The call ------------------------------------------------------------------------------------------------------------

static poise_status make(making *m)
{
    poise_status status = poise_kinematics_create(m->model, NULL, &m->kinematics, m->error);
    if (status != POISE_OK) {
        return status;
    }
    poise_model_neutral(m->model, m->q);
    poise_kinematics_update(m->kinematics, m->q, NULL);
    for (int i = 0; i < m->task->chain.n; ++i) {
        m->own[i] = m->q[m->task->chain.q[i]];
    }
    status = add_shapes(m);
    status = status ? status : add_watches(m);
    status = status ? status : put_in_order(m);
    poise_kinematics_destroy(m->kinematics);
    return status;
}

poise_status pz_arm_world_make(const poise_model *model, const pz_cuda_task *task, const poise_constraint *apart,
                               pz_arm_world *world, poise_error *error)
{
    poise_status status = poise_constraint_check(apart, model, error);
    if (status != POISE_OK) {
        return status;
    }
    if (apart->kind != POISE_CONSTRAINT_CLEARANCE) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "the device keeps a CLEARANCE, not a %s",
                            poise_constraint_kind_name(apart->kind));
    }
    size_t shapes = (size_t)apart->shape_count;
    making m = {.model = model, .task = task, .apart = apart, .world = world, .error = error};
    memset(world, 0, sizeof *world);
    m.link = malloc(2 * shapes * sizeof *m.link + 1);
    m.q = malloc((size_t)model->nq * sizeof *m.q + 1);
    if (m.link && m.q) {
        m.place = m.link + shapes;
        status = make(&m);
    } else {
        status = pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    free(m.link);
    free(m.q);
    return status;
}
