// Retargeting a clip: roles, paths of hips and feet, and the solve.
#include <poise/retarget.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/retarget/retarget_work.h"

#include <string.h>

enum { LEAST_BODIES = 3 };

poise_retarget_task poise_retarget_task_default(void)
{
    return (poise_retarget_task){.ground = NAN, .use_limits = true};
}

bool poise_retarget_velocities(const poise_model *to, double all, double *velocity)
{
    bool has_any = false;
    for (int k = 0; k < poise_model_info(to).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(to, k);
        bool is_root = joint.nv == 6 && joint.parent == POISE_WORLD;
        double own = joint.given->velocity > 0.0 ? joint.given->velocity : INFINITY;
        for (int i = joint.v; i < joint.v + joint.nv; ++i) {
            velocity[i] = is_root ? INFINITY : min2(own, all);
            has_any = has_any || velocity[i] < INFINITY;
        }
    }
    return has_any;
}

static poise_status check_task(const poise_retarget_task *task, poise_error *error)
{
    if (!task || !task->from || !task->clip || !task->to) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "from, clip and to must not be NULL");
    }
    if (task->clip->nq != poise_model_info(task->from).nq ||
        (task->from_clip && task->from_clip->nq != poise_model_info(task->from).nq) ||
        (task->to_clip && task->to_clip->nq != poise_model_info(task->to).nq)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "a clip must be of its skeleton");
    }
    if (task->hull_count < 0 || (task->hull_count > 0 && !task->hulls) || task->shape_count < 0 ||
        (task->shape_count > 0 && !task->shapes) || task->excluded_count < 0 ||
        (task->excluded_count > 0 && !task->excluded)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "hulls, shapes and excluded pairs must not be NULL where they count");
    }
    for (int i = 0; i < task->hull_count; ++i) {
        const poise_hull *h = &task->hulls[i];
        if (!h->corners || h->corner_count <= 0 || h->body >= poise_model_info(task->to).joints) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "hull %d has no corners, or no body of the skeleton", i);
        }
    }
    for (int i = 0; i < poise_model_info(task->to).nv && task->velocity; ++i) {
        if (!(task->velocity[i] > 0)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "velocity[%d] must be > 0", i);
        }
    }
    return POISE_OK;
}

// ---- Roles ---------------------------------------------------------------------------------------------------------------

static void roles_of_map(const poise_role_map *map, bool is_target, pz_roles *roles)
{
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        roles->body[role] = is_target ? map->role[role].to : map->role[role].from;
        roles->confidence[role] = map->role[role].confidence;
    }
}

// A hand whose names do not say which it is follows the only one that moves.
static bool is_other_hand(const pz_roles *from, const pz_roles *to)
{
    int left = POISE_ROLE_INDEX, right = POISE_ROLE_INDEX + POISE_ROLE_SIDE;
    return pz_is_hand(to) && !to->has_side && from->body[right] < 0 && from->body[left] >= 0;
}

static poise_status open_actors(const poise_retarget_task *task, const poise_allocator *allocator, pz_actor *from,
                                pz_actor *to)
{
    pz_roles roles;
    if (task->map) {
        roles_of_map(task->map, false, &roles);
    }
    const poise_clip *shown = task->from_clip ? task->from_clip : task->clip;
    poise_status status = pz_actor_open(task->from, shown, task->from_up, task->map ? &roles : NULL, allocator, from);
    if (task->map) {
        roles_of_map(task->map, true, &roles);
    }
    if (status == POISE_OK) {
        status = pz_actor_open(task->to, task->to_clip, task->to_up, task->map ? &roles : NULL, allocator, to);
    }
    if (status == POISE_OK && !task->map && is_other_hand(&from->roles, &to->roles)) {
        roles = to->roles;
        pz_hand_other_side(&roles);
        pz_actor_close(to, allocator);
        status = pz_actor_open(task->to, task->to_clip, task->to_up, &roles, allocator, to);
    }
    return status;
}

poise_status poise_roles_match(const poise_retarget_task *task, const poise_allocator *allocator, poise_role_map *map,
                               poise_error *error)
{
    poise_status status = check_task(task, error);
    if (status != POISE_OK || !map) {
        return status != POISE_OK ? status : pz_error_set(error, POISE_ERROR_ARGUMENT, "map must not be NULL");
    }
    poise_retarget_task found = *task;
    pz_actor from = {.model = NULL}, to = {.model = NULL};
    found.map = NULL;
    status = open_actors(&found, allocator, &from, &to);
    for (int role = 0; role < POISE_ROLE_COUNT && status == POISE_OK; ++role) {
        int a = from.roles.body[role], b = to.roles.body[role];
        double sure = min2(from.roles.confidence[role], to.roles.confidence[role]);
        map->role[role] = (poise_role_pair){.from = a, .to = b, .confidence = a >= 0 && b >= 0 ? sure : 0.0};
    }
    pz_actor_close(&to, allocator);
    pz_actor_close(&from, allocator);
    return status == POISE_OK ? status : pz_error_set(error, status, "out of memory");
}

// ---- The call ------------------------------------------------------------------------------------------------------------

// How many corners the hulls have, and how many hulls have to be made of shapes.
static size_t corners_of(const poise_retarget_task *task)
{
    size_t sum = task->hull_count > 0 ? 0 : POISE_HULL_OF_SHAPE * (size_t)task->shape_count;
    for (int i = 0; i < task->hull_count; ++i) {
        sum += (size_t)task->hulls[i].corner_count;
    }
    return sum;
}

static size_t hull_room(const poise_retarget_task *task)
{
    return task->hull_count > 0 ? 0 : (size_t)task->shape_count;
}

static void take_hulls(pz_retarget_work *w, poise_hull *hulls, poise_vec3 *places)
{
    const poise_retarget_task *task = w->task;
    w->hulls = task->hulls, w->hull_count = task->hull_count;
    for (int i = 0; i < task->shape_count && task->hull_count == 0; ++i) {
        poise_vec3 *corners = places + (size_t)w->hull_count * POISE_HULL_OF_SHAPE;
        bool is_hull = poise_hull_of_shape(&task->shapes[i], corners, &hulls[w->hull_count], NULL) == POISE_OK;
        w->hull_count += is_hull;
        w->hulls = hulls;
    }
    for (int i = 0; i < w->hull_count; ++i) {
        const poise_hull *h = &w->hulls[i];
        w->reach[i] = h->radius;
        for (int k = 0; k < h->corner_count; ++k) {
            w->reach[i] = max2(w->reach[i], v3_norm(v3_sub(h->corners[k], h->corners[0])) + h->radius);
        }
    }
}

// All memory of a call, in one piece.
static poise_status take_memory(pz_retarget_work *w, const poise_allocator *allocator, void **memory)
{
    poise_model_summary to = poise_model_info(w->to.model);
    size_t frames = (size_t)w->task->clip->frames, nv = (size_t)to.nv, bodies = (size_t)to.joints;
    size_t corners = corners_of(w->task), own = hull_room(w->task), bytes = 0;
    poise_hull *hulls = NULL;
    poise_vec3 *places = NULL;
    for (int pass = 0; pass < 2; ++pass) {
        pz_arena arena = pass == 0 ? pz_arena_counting() : pz_arena_over(*memory, bytes);
        w->followed.pair = pz_arena_take(&arena, bodies + 1, sizeof *w->followed.pair);
        w->turn = pz_arena_take(&arena, 2 * bodies + 2, sizeof *w->turn);
        w->turned = pz_arena_take(&arena, bodies + 1, sizeof *w->turned);
        w->goals = pz_arena_take(&arena, 3 * bodies + 20 + 2 * PZ_SOLE_MOST, sizeof *w->goals);
        w->posture = pz_arena_take(&arena, nv + 1, sizeof *w->posture);
        w->steady = pz_arena_take(&arena, nv + 1, sizeof *w->steady);
        w->velocity = pz_arena_take(&arena, nv + 1, sizeof *w->velocity);
        w->v = pz_arena_take(&arena, nv + 1, sizeof *w->v);
        w->held = pz_arena_take(&arena, nv + 1, sizeof *w->held);
        w->slow = pz_arena_take(&arena, (size_t)to.nq + 1, sizeof *w->slow);
        w->locked = pz_arena_take(&arena, nv + 1, sizeof *w->locked);
        w->hips = pz_arena_take(&arena, frames + 1, sizeof *w->hips);
        w->strained = pz_arena_take(&arena, frames + 1, sizeof *w->strained);
        w->ground.released = pz_arena_take(&arena, frames + 1, sizeof *w->ground.released);
        w->late = pz_arena_take(&arena, frames + 1, sizeof *w->late);
        w->changed = pz_arena_take(&arena, frames + 1, sizeof *w->changed);
        for (int side = 0; side < 2; ++side) {
            w->foot[side].path = pz_arena_take(&arena, frames + 1, sizeof *w->foot[side].path);
            w->foot[side].contact = pz_arena_take(&arena, frames + 1, sizeof *w->foot[side].contact);
            w->foot[side].flat = pz_arena_take(&arena, frames + 1, sizeof *w->foot[side].flat);
            w->foot[side].rests = pz_arena_take(&arena, frames + 1, sizeof *w->foot[side].rests);
            w->foot[side].corner = pz_arena_take(&arena, corners + 1, sizeof *w->foot[side].corner);
        }
        hulls = pz_arena_take(&arena, own + 1, sizeof *hulls);
        places = pz_arena_take(&arena, own * POISE_HULL_OF_SHAPE + 1, sizeof *places);
        w->reach = pz_arena_take(&arena, own + (size_t)w->task->hull_count + 1, sizeof *w->reach);
        bytes = pz_arena_bytes(&arena);
        if (pass == 0 && !(*memory = pz_allocate(allocator, bytes))) {
            return POISE_ERROR_MEMORY;
        }
    }
    take_hulls(w, hulls, places);
    for (int side = 0; side < 2; ++side) {
        memset(w->foot[side].rests, 0, frames + 1);
        memset(w->foot[side].contact, 0, frames + 1);
        memset(w->foot[side].flat, 0, (frames + 1) * sizeof *w->foot[side].flat);
    }
    memset(w->ground.released, 0, (frames + 1) * sizeof *w->ground.released);
    return POISE_OK;
}

static bool has_legs(const pz_actor *a)
{
    return a->leg > 0 && pz_plays(a, POISE_ROLE_PELVIS) && a->has_frame;
}

static poise_status prepare(pz_retarget_work *w, const poise_allocator *allocator, poise_error *error)
{
    const poise_retarget_task *task = w->task;
    pz_followed_find(&w->from, &w->to, task->feet != POISE_FEET_PLANT, &w->followed);
    if (!w->followed.same && w->followed.count < LEAST_BODIES) {
        return pz_error_set(error, POISE_ERROR_NOT_FOUND,
                            "the skeletons have %d parts in common, by name or by the map, but %d are needed; assign "
                            "bodies to roles in a map (--write-map, --map)",
                            w->followed.count, LEAST_BODIES);
    }
    w->ground = (pz_ground){.up = w->to.up,
                            .leg = w->to.leg,
                            .frames = task->clip->frames,
                            .frame_time = task->clip->frame_time,
                            .released = w->ground.released};
    for (int i = 0; i < poise_model_info(w->to.model).nv && task->velocity; ++i) {
        w->velocity[i] = task->velocity[i] * (1.0 - 1e-9);
    }
    w->velocity = task->velocity ? w->velocity : NULL;
    for (int side = 0; side < 2; ++side) {
        pz_foot_measure(&w->to, side * POISE_ROLE_SIDE, w->hulls, w->hull_count, task->sole, &w->foot[side]);
    }
    if (has_legs(&w->from) && has_legs(&w->to)) {
        poise_status status = pz_retarget_paths(w, allocator, true);
        for (int f = 0; f < 2 * task->clip->frames && w->planted; ++f) {
            pz_foot *foot = &w->foot[f % 2];
            foot->flat[f / 2] = foot->contact[f / 2] == (PZ_HEEL | PZ_TOE);
        }
        return status == POISE_OK ? status : pz_error_set(error, status, "a frame is not finite, or out of memory");
    }
    w->hips = NULL;
    w->foot[0].body = w->foot[1].body = POISE_NONE;
    return POISE_OK;
}

static poise_status run(pz_retarget_work *w, const poise_allocator *allocator, unsigned char *contacts, poise_clip **made,
                        poise_retarget_outcome *o, poise_error *error)
{
    void *memory = NULL;
    poise_status status = take_memory(w, allocator, &memory);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    const poise_clip *source = w->task->clip;
    status = prepare(w, allocator, error);
    if (status == POISE_OK) {
        status =
            poise_clip_create(source->frames, poise_model_info(w->to.model).nq, source->frame_time, allocator, made, error);
    }
    if (status == POISE_OK) {
        *o = (poise_retarget_outcome){.roles = w->followed.roles,
                                      .bodies = w->followed.count,
                                      .factor = w->followed.factor,
                                      .leg = w->hips ? w->to.leg : 0.0,
                                      .same = w->followed.same || (w->hips && w->same_shape),
                                      .planted = w->hips && w->planted,
                                      .in_place = w->hips && w->in_place,
                                      .from_up = (poise_up)(POISE_UP_X + w->from.axis),
                                      .to_up = (poise_up)(POISE_UP_X + w->to.axis),
                                      .axes = w->followed.world,
                                      .from_stands = w->from.is_standing,
                                      .to_stands = w->to.is_standing,
                                      .from_reversed = w->from.is_reversed,
                                      .to_reversed = w->to.is_reversed,
                                      .ground = w->ground.height,
                                      .soles_guessed = w->hips && (w->foot[0].is_guessed || w->foot[1].is_guessed),
                                      .late_joint = POISE_NONE,
                                      .jump_body = POISE_NONE,
                                      .buried_body = POISE_NONE,
                                      .bone_role = POISE_NONE,
                                      .limb_role = POISE_NONE,
                                      .aside_role = POISE_NONE,
                                      .fast_joint = POISE_NONE,
                                      .abrupt_joint = POISE_NONE,
                                      .loose_role = POISE_NONE,
                                      .bare_body = POISE_NONE,
                                      .seconds_of_clip = source->frames * source->frame_time};
        (*made)->start_time = source->start_time;
        status = pz_retarget_reach(w, allocator, *made, o, error);
        pz_retarget_contacts(w, contacts);
        status = status == POISE_OK ? pz_retarget_check(w, allocator, *made, o, error) : status;
        if (status != POISE_OK) {
            poise_clip_destroy(*made);
        }
    }
    pz_release(allocator, memory);
    return status;
}

poise_status poise_retarget(const poise_retarget_task *task, const poise_allocator *allocator, poise_clip **clip,
                            unsigned char *contacts, poise_retarget_outcome *outcome, poise_error *error)
{
    poise_status status = check_task(task, error);
    if (status != POISE_OK || !clip) {
        return status != POISE_OK ? status : pz_error_set(error, POISE_ERROR_ARGUMENT, "clip must not be NULL");
    }
    pz_retarget_work w = {.task = task};
    poise_retarget_outcome measured = {.roles = 0};
    poise_clip *made = NULL;
    status = open_actors(task, allocator, &w.from, &w.to);
    status = status == POISE_OK ? run(&w, allocator, contacts, &made, &measured, error)
                                : pz_error_set(error, status, "out of memory, or a pose is not finite");
    if (status == POISE_OK) {
        *clip = made;
        if (outcome) {
            *outcome = measured;
        }
    }
    pz_actor_close(&w.to, allocator);
    pz_actor_close(&w.from, allocator);
    return status;
}
