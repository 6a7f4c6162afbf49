// Limbs that follow those of another skeleton, joint by joint. A skeleton of other proportions meets few of the points, and
// how far it misses them says little of the motion; where its limbs point is what is seen:
//
//   angle(x_b - x_a, p_b - p_a)      x: the points that were followed, p: the joints of the skeleton, a to b: a limb's bone
#include "motion/verdict/limb_turns.h"

#include "base/error.h"
#include "num/vector.h"

#include <poise/kinematics.h>

static const pz_part bones[][2] = {
    {PZ_UPPER_ARM, PZ_FOREARM}, {PZ_FOREARM, PZ_HAND}, {PZ_THIGH, PZ_SHANK}, {PZ_SHANK, PZ_FOOT}};

// The marker that a body follows, and where it sits on it; POISE_NONE: none.
static int marker_of(const poise_track_problem *track, int body, vec3 *local)
{
    for (int i = 0; body >= 0 && i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        if (p->body == body && p->weight > 0.0 && p->label) {
            *local = p->local;
            return poise_markers_find(track->markers, p->label);
        }
    }
    return POISE_NONE;
}

static double angle_between(vec3 a, vec3 b)
{
    return poise_atan2(v3_norm(v3_cross(a, b)), v3_dot(a, b));
}

// The mean angle of one bone over the frames; negative: it was not followed.
static double turn_of(const poise_verdict_problem *problem, const int body[2], int every, poise_kinematics *kin)
{
    const poise_markers *m = problem->track->markers;
    const poise_clip *clip = problem->clip;
    vec3 local[2];
    int marker[2], count = 0;
    double sum = 0.0;
    for (int i = 0; i < 2; ++i) {
        marker[i] = marker_of(problem->track, body[i], &local[i]);
        if (marker[i] < 0) {
            return -1.0;
        }
    }
    for (int f = 0; f < clip->frames && f < m->frames; f += every) {
        const poise_vec3 *x = m->position + (size_t)f * (size_t)m->count;
        vec3 followed = v3_sub(x[marker[1]], x[marker[0]]);
        bool is_seen = v3_norm(followed) > 0.0 && is_finite(v3_norm(followed));
        if (is_seen && poise_kinematics_update(kin, clip->q + (size_t)f * (size_t)clip->nq, NULL) == POISE_OK) {
            vec3 own =
                v3_sub(poise_kinematics_point(kin, body[1], local[1]), poise_kinematics_point(kin, body[0], local[0]));
            sum += angle_between(followed, own);
            count += 1;
        }
    }
    return count > 0 ? sum / count : -1.0;
}

poise_status pz_weigh_limbs(const poise_verdict_problem *problem, const pz_anatomy *anatomy, int every,
                            const poise_allocator *allocator, pz_findings *found, poise_error *error)
{
    const poise_model *model = problem->track->model;
    poise_kinematics *kin;
    poise_status status = poise_kinematics_create(model, allocator, &kin, error);
    double sum = 0.0;
    int count = 0;
    for (size_t i = 0; status == POISE_OK && i < sizeof bones / sizeof bones[0]; ++i) {
        for (int s = PZ_LEFT; s <= PZ_RIGHT; ++s) {
            int body[2] = {anatomy->part[bones[i][0]][s].body, anatomy->part[bones[i][1]][s].body};
            double turn = turn_of(problem, body, every, kin);
            if (turn >= 0.0) {
                sum += turn;
                count += 1;
                pz_weigh(found, POISE_FINDING_LIMB, poise_model_joint_info(model, body[0]).body, turn, false);
            }
        }
    }
    if (count > 0) {
        pz_weigh(found, POISE_FINDING_BONES, NULL, sum / count, false);
    }
    if (status == POISE_OK) {
        poise_kinematics_destroy(kin);
    }
    return status;
}
