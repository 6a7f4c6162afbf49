// A clip in the mirror: what the left did the right does.
//
// With n the normal of the plane between left and right, S = I - 2 n n^T, D the turn of a body from the neutral pose and
// m(b) the body of the other side,
//
//   D'_b = S D_m(b) S        R'_b = D'_b R_b(neutral)        root' = S root
//
// The turn by a rotation vector v becomes that by -S v. Joint values come from a solve for all orientations at once, so that
// every type of joint will do.
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/edit/editor.h"

#include <poise/solve.h>

#include <string.h>

#define MET 1e-7 // radians: what a body may be off by in an answer that is exact

typedef struct job {
    pz_editor editor;
    vec3 normal;
    int root;   // the first body that moves
    quat *rest; // by body: in the neutral pose
    int *other; // by body
} job;

static vec3 mirrored(vec3 v, vec3 n)
{
    return v3_mad(v, -2.0 * v3_dot(v, n), n);
}

static quat mirrored_turn(quat turn, vec3 n)
{
    vec3 v = v3_neg(mirrored(quat_vec(turn), n));
    return (quat){v.x, v.y, v.z, turn.w};
}

// Sides, the plane between them, and the neutral pose.
static poise_status read_model(job *j, const poise_allocator *allocator, int *pairs, poise_error *error)
{
    const poise_model *m = j->editor.model;
    pz_anatomy anatomy;
    poise_status status = pz_anatomy_of(m, allocator, &anatomy);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    *pairs = 0;
    for (int b = 0; b < m->joint_count; ++b) {
        int other = pz_mirror_body(m, b);
        j->other[b] = other >= 0 ? other : b;
        *pairs += other > b;
    }
    if (*pairs == 0 || !(anatomy.stature > 0)) {
        return pz_error_set(error, POISE_ERROR_NOT_FOUND,
                            "the names of bodies tell no left and right of a figure with legs");
    }
    j->normal = anatomy.left;
    poise_model_neutral(m, j->editor.found);
    status = poise_kinematics_update(j->editor.kin, j->editor.found, error);
    for (int b = 0; b < m->joint_count && status == POISE_OK; ++b) {
        j->rest[b] = poise_kinematics_body_pose(j->editor.kin, b).rotation;
    }
    return status;
}

// Where a frame begins: after the one before; the first with left and right exchanged.
static void place_start(job *j, int frame)
{
    pz_editor *e = &j->editor;
    const poise_model *m = e->model;
    double *near = pz_editor_reference(e, frame);
    if (frame > 0) {
        memcpy(near, pz_editor_frame(e, frame - 1), (size_t)m->nq * sizeof *near);
        return;
    }
    for (int b = 0; b < m->joint_count; ++b) {
        const pz_joint *own = &m->joints[b], *other = &m->joints[j->other[b]];
        for (int i = 0; i < own->q_end - own->q_begin && i < other->q_end - other->q_begin; ++i) {
            near[own->q_begin + i] = pz_editor_original(e, 0)[other->q_begin + i];
        }
    }
}

// The largest miss of all goals in an answer: an angle, or a length over the size of the skeleton.
static poise_status measure(job *j, int frame, double *worst, poise_error *error)
{
    pz_editor *e = &j->editor;
    poise_status status = POISE_OK;
    *worst = 0.0;
    for (int g = 0; g < e->goal_count && status == POISE_OK; ++g) {
        poise_goal_error miss = {0};
        status = pz_editor_error(e, &e->goals[g], pz_editor_frame(e, frame), &miss, error);
        *worst = max2(*worst, miss.unit == POISE_UNIT_ANGLE ? miss.error : miss.error / e->size);
    }
    return status;
}

// A skeleton that can do in the mirror what it did has one answer, which the tree solver finds at once. Where it cannot, the
// frame takes the least change.
static poise_status solve_frame(job *j, int frame, double *worst, poise_error *error)
{
    pz_editor *e = &j->editor;
    double *q = pz_editor_frame(e, frame);
    memcpy(q, pz_editor_reference(e, frame), (size_t)e->model->nq * sizeof *q);
    poise_status status = poise_solve(e->search, e->goals, e->goal_count, q, NULL, error);
    status = status == POISE_OK ? measure(j, frame, worst, error) : status;
    if (status == POISE_OK && *worst > MET) {
        status = pz_editor_solve(e, frame, error);
        status = status == POISE_OK ? measure(j, frame, worst, error) : status;
    }
    return status;
}

static poise_status mirror_frame(job *j, int frame, double *worst, poise_error *error)
{
    pz_editor *e = &j->editor;
    poise_status status = pz_editor_begin(e, frame, error);
    for (int b = 0; b < e->model->joint_count && status == POISE_OK; ++b) {
        poise_pose pose = poise_kinematics_body_pose(e->kin, j->other[b]);
        quat turn = quat_mul(pose.rotation, quat_conj(j->rest[j->other[b]]));
        poise_goal goal = poise_goal_orientation(b, quat_normalize(quat_mul(mirrored_turn(turn, j->normal), j->rest[b])));
        pz_editor_add(e, &goal, 1.0);
        if (b == j->root) {
            goal = poise_goal_position(b, v3(0, 0, 0), mirrored(pose.position, j->normal));
            pz_editor_add(e, &goal, 1.0);
        }
    }
    e->last = POISE_NONE;
    place_start(j, frame);
    double own = 0.0;
    status = status == POISE_OK ? solve_frame(j, frame, &own, error) : status;
    *worst = max2(*worst, own);
    return status;
}

static poise_status mirror_all(job *j, const poise_allocator *allocator, poise_mirror_report *report, poise_error *error)
{
    pz_owned owned = {0};
    size_t bodies = (size_t)j->editor.model->joint_count;
    j->rest = pz_owned_take(&owned, allocator, bodies * (sizeof *j->rest + sizeof *j->other));
    j->other = j->rest ? (int *)(j->rest + bodies) : NULL;
    poise_status status =
        j->rest ? read_model(j, allocator, &report->pairs, error) : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    for (int f = 0; f < j->editor.clip->frames && status == POISE_OK; ++f) {
        double before = report->worst_angle;
        status = mirror_frame(j, f, &report->worst_angle, error);
        report->worst_frame = report->worst_angle > before ? f : report->worst_frame;
    }
    pz_owned_release(&owned);
    return status;
}

poise_status poise_clip_mirror(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                               poise_clip **made, poise_mirror_report *report, poise_error *error)
{
    if (!model || !clip || !made || clip->nq != model->nq) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, clip and mirrored must not be NULL, and the clip of this model");
    }
    job j = {.root = 0};
    poise_clip *copy;
    poise_mirror_report found = {.worst_frame = POISE_NONE};
    pz_editor_room room = {.goals = model->joint_count + 1, .rows = 3 * (model->joint_count + 1) + PZ_ROWS_PER_GOAL};
    poise_status status = poise_clip_trim(clip, 0, clip->frames, allocator, &copy, error);
    if (status != POISE_OK) {
        return status;
    }
    while (j.root + 1 < model->joint_count && model->joints[j.root].v_begin == model->joints[j.root].v_end) {
        j.root += 1;
    }
    status = pz_editor_open(model, &room, copy, allocator, &j.editor, error);
    if (status == POISE_OK) {
        status = mirror_all(&j, allocator, &found, error);
        pz_editor_close(&j.editor);
    }
    if (status != POISE_OK) {
        poise_clip_destroy(copy);
        return status;
    }
    *made = copy;
    if (report) {
        *report = found;
    }
    return POISE_OK;
}
