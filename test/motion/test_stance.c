// How high a figure stands: its soles against the ground of its rest pose.
#include "support/own.h"
#include "support/test_main.h"

#include <poise/retarget.h>
#include <scenes/scenes.h>

#include <math.h>

typedef struct standing {
    poise_model *model;
    poise_stance *stance;
    poise_kinematics *kin;
    double q[256];
} standing;

static poise_model *scene(const char *name)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create(name, NULL, &model, NULL), POISE_OK);
    return own_model(model);
}

static standing stand(void)
{
    standing s = {.model = scene("humanoid")};
    poise_model_neutral(s.model, s.q);
    ck_assert_int_eq(poise_stance_create(s.model, NULL, POISE_UP_UNKNOWN, NULL, 0, NULL, &s.stance, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(s.model, NULL, &s.kin, NULL), POISE_OK);
    return s;
}

static void leave(standing *s)
{
    poise_kinematics_destroy(s->kin);
    poise_stance_destroy(s->stance);
}

// The root moved up along y, all else at rest.
static double lifted(standing *s, double by)
{
    s->q[1] += by;
    ck_assert_int_eq(poise_kinematics_update(s->kin, s->q, NULL), POISE_OK);
    s->q[1] -= by;
    return poise_stance_height(s->stance, s->kin);
}

TEST(a_figure_that_leaves_the_ground_is_found_and_one_that_stands_is_not)
{
    standing s = stand();
    static const struct {
        double by;
        poise_verdict_level level;
        poise_finding_kind kind;
    } rows[] = {{0, POISE_VERDICT_GOOD, 0},
                {0.01, POISE_VERDICT_GOOD, 0},
                {0.2, POISE_VERDICT_DOUBTFUL, POISE_FINDING_AFLOAT},
                {-0.01, POISE_VERDICT_DOUBTFUL, POISE_FINDING_SUNK},
                {-0.2, POISE_VERDICT_FAILED, POISE_FINDING_SUNK}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_verdict verdict;
        poise_finding finding;
        double height = lifted(&s, rows[i].by);
        ck_assert_double_eq_tol(height, rows[i].by, 1e-12);
        ck_assert_int_eq(poise_stance_judge(s.stance, height, NULL, &verdict, &finding, 1, NULL), POISE_OK);
        ck_assert_int_eq(verdict.level, rows[i].level);
        ck_assert_int_eq(verdict.count, rows[i].level != POISE_VERDICT_GOOD);
        ck_assert(verdict.count == 0 || (finding.kind == rows[i].kind && finding.value > fabs(rows[i].by)));
    }
    leave(&s);
}

// One foot is enough to stand on.
TEST(a_leg_may_be_lifted)
{
    standing s = stand();
    int knee = poise_model_find_joint(s.model, "left_knee");
    ck_assert_int_ge(knee, 0);
    s.q[poise_model_joint_info(s.model, knee).q] += 1.0;
    ck_assert_double_eq_tol(lifted(&s, 0), 0, 1e-12);
    leave(&s);
}

// The ground is below the rest pose that was given.
TEST(a_rest_pose_of_ones_own_has_its_own_ground)
{
    standing s = stand();
    poise_stance *higher = NULL;
    s.q[1] += 0.5;
    ck_assert_int_eq(poise_stance_create(s.model, s.q, POISE_UP_Y, NULL, 0, NULL, &higher, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(s.kin, s.q, NULL), POISE_OK);
    ck_assert_double_eq_tol(poise_stance_height(higher, s.kin), 0, 1e-12);
    ck_assert_double_eq_tol(poise_stance_height(s.stance, s.kin), 0.5, 1e-12);
    poise_stance_destroy(higher);
    leave(&s);
}

TEST(who_does_not_stand_or_cannot_leave_has_no_stance)
{
    poise_stance *none = NULL;
    poise_error error;
    ck_assert_int_eq(poise_stance_create(scene("arm7"), NULL, POISE_UP_UNKNOWN, NULL, 0, NULL, &none, &error),
                     POISE_ERROR_NOT_FOUND);
    ck_assert_int_eq(poise_stance_create(NULL, NULL, POISE_UP_UNKNOWN, NULL, 0, NULL, &none, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(none);
}
