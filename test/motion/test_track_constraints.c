// Tracking within constraints.
#include "motion/tracked_take.h"
#include "support/constraint_check.h"

#include <poise/verdict.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Every limb's end stays above a floor that the recording goes through by 3 cm, also where nothing is seen.
TEST(every_frame_holds_what_it_must)
{
    enum { MOST = 16 };
    take *t = record("walk", 300);
    poise_constraint given[MOST];
    poise_kinematics *kin;
    poise_kinematics_create(t->model, NULL, &kin, NULL);
    int joints = poise_model_info(t->model).joints, count = 0;
    double lowest = INFINITY;
    for (int k = 0; k < joints && count < MOST; ++k) {
        bool is_leaf = true;
        for (int i = 0; i < joints; ++i) {
            is_leaf = is_leaf && poise_model_joint_info(t->model, i).parent != k;
        }
        if (is_leaf) {
            given[count] = poise_constraint_default(POISE_CONSTRAINT_PLANE);
            given[count].body = k, given[count].body2 = POISE_WORLD, given[count].upper = INFINITY;
            given[count++].target.rotation = poise_quat_from_axis_angle((poise_vec3){1, 0, 0}, -1.5707963267948966);
        }
    }
    for (int f = 0; f < t->frames; ++f) {
        poise_kinematics_update(kin, t->truth->q + (size_t)f * (size_t)t->nq, NULL);
        for (int i = 0; i < count; ++i) {
            lowest = fmin(lowest, poise_kinematics_body_pose(kin, given[i].body).position.y);
        }
    }
    for (int i = 0; i < count; ++i) {
        given[i].target.position.y = lowest + 0.03;
    }
    for (int f = 100; f < 108; ++f) {
        for (int m = 0; m < MARKERS; ++m) {
            lose(t, f, m);
        }
    }
    poise_track_problem problem = problem_of(t);
    problem.constraints = given, problem.constraint_count = count, problem.chunk = 100;
    track(t, NULL);
    int broken_without = 0;
    for (int f = 0; f < t->frames; ++f) {
        broken_without += check_constraints(t->model, given, count, t->found->q + (size_t)f * (size_t)t->nq).loop > 0;
    }
    ck_assert_int_gt(broken_without, 20);
    track(t, &problem);
    for (int f = 0; f < t->frames; ++f) {
        broken b = check_constraints(t->model, given, count, t->found->q + (size_t)f * (size_t)t->nq);
        ck_assert_msg(b.loop <= 0 && b.limit <= 0, "frame %d: through the floor by %g", f, b.loop);
        ck_assert_int_ne(t->report[f].outcome, POISE_OUTCOME_INFEASIBLE);
    }
    ck_assert_double_le(worst_error(t, 0, 90), 0.06);
    // the judge says the same: of the answer nothing, of the motion as it was recorded the frames that go through
    poise_kept_problem kept_problem = poise_kept_problem_default();
    kept_problem.model = t->model, kept_problem.clip = t->found, kept_problem.constraints = given;
    kept_problem.constraint_count = count;
    poise_kept kept;
    unsigned char *bits = calloc((size_t)t->frames + 1, 1);
    ck_assert_int_eq(poise_kept_measure(&kept_problem, NULL, &kept, bits, NULL), POISE_OK);
    ck_assert(kept.broken == 0 && kept.worst[POISE_KEPT_LOOPS].frame >= 0);
    ck_assert(isinf(kept.worst[POISE_KEPT_BALANCE].room) && kept.worst[POISE_KEPT_BALANCE].frame == POISE_NONE);
    kept_problem.clip = t->truth;
    ck_assert_int_eq(poise_kept_measure(&kept_problem, NULL, &kept, bits, NULL), POISE_OK);
    int flagged = 0, expected = 0;
    for (int f = 0; f < t->frames; ++f) {
        flagged += bits[f] == 1U << POISE_KEPT_LOOPS;
        expected += check_constraints(t->model, given, count, t->truth->q + (size_t)f * (size_t)t->nq).loop > 1e-9;
    }
    ck_assert(flagged == expected && kept.broken == flagged && kept.worst[POISE_KEPT_LOOPS].broken == flagged &&
              flagged > 20);
    ck_assert_double_eq_tol(kept.worst[POISE_KEPT_LOOPS].room, -0.03, 1e-6);
    poise_thresholds thresholds = poise_thresholds_default();
    poise_verdict verdict = {.count = 0};
    poise_finding finding;
    char text[200];
    poise_kept_judge(&kept_problem, &kept, &thresholds, &verdict, &finding, 1);
    ck_assert(verdict.level == POISE_VERDICT_DOUBTFUL && verdict.count == 1 && finding.kind == POISE_FINDING_LOOPS);
    poise_finding_describe(&finding, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "and the world is open in"));
    ck_assert_str_eq(poise_kept_name(POISE_KEPT_CLEARANCE), "clearance");
    ck_assert_str_eq(poise_kept_name(POISE_KEPT_SORTS), "unknown");
    free(bits);
    given[0].body = 9999;
    ck_assert_int_eq(poise_kept_measure(&kept_problem, NULL, &kept, NULL, NULL), POISE_ERROR_ARGUMENT);
    poise_clip *none;
    ck_assert_int_eq(poise_track(&problem, NULL, &none, NULL, NULL), POISE_ERROR_ARGUMENT);
    poise_kinematics_destroy(kin);
    forget(t);
}
