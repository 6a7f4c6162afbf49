// Tracking within constraints.
#include "motion/tracked_take.h"
#include "support/constraint_check.h"

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
    given[0].body = 9999;
    poise_clip *none;
    ck_assert_int_eq(poise_track(&problem, NULL, &none, NULL, NULL), POISE_ERROR_ARGUMENT);
    poise_kinematics_destroy(kin);
    forget(t);
}
