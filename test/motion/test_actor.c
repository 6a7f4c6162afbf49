// A skeleton as retargeting sees it: which way is up, where a collarbone is, and whether there is a head.
#include "motion/anatomy.h"
#include "motion/named_figures.h"
#include "motion/retarget/actor.h"
#include "support/test_main.h"

#include <poise/edit.h>

// Arms on a pole tell nothing: up is y. A figure stands on its feet, whichever axis its file has for that.
TEST(up_is_where_the_head_of_a_figure_is_and_y_where_nothing_tells)
{
    static const struct {
        bool has_legs;
        poise_vec3 to_head, up;
    } rows[] = {{false, {0, 0.6, 0}, {0, 1, 0}},  {false, {0, -0.6, 0}, {0, 1, 0}}, {true, {0, 0.6, 0}, {0, 1, 0}},
                {true, {0, -0.6, 0}, {0, -1, 0}}, {true, {0, 0, 0.6}, {0, 0, 1}},   {true, {-0.6, 0, 0}, {-1, 0, 0}}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_vec3 h = rows[i].to_head;
        poise_builder *b;
        poise_model *model;
        pz_actor actor;
        ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
        add_joint(b, "Hips", NULL, 0, 0, 0);
        add_joint(b, "Chest", "Hips", 0.5 * h.x, 0.5 * h.y, 0.5 * h.z);
        add_joint(b, "Head", "Chest", 0.5 * h.x, 0.5 * h.y, 0.5 * h.z);
        for (int side = 0; side < 2; ++side) {
            static const char *const names[2][5] = {{"LeftArm", "LeftForeArm", "LeftUpLeg", "LeftLeg", "LeftFoot"},
                                                    {"RightArm", "RightForeArm", "RightUpLeg", "RightLeg", "RightFoot"}};
            double x = side == 0 ? 0.2 : -0.2;
            add_joint(b, names[side][0], "Chest", x, x, x);
            add_joint(b, names[side][1], names[side][0], x, x, x);
            for (int k = 2; k < 5 && rows[i].has_legs; ++k) {
                add_joint(b, names[side][k], k == 2 ? "Hips" : names[side][k - 1], -0.5 * h.x, -0.5 * h.y, -0.5 * h.z);
            }
        }
        ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
        ck_assert_int_eq(pz_actor_open(model, NULL, POISE_UP_UNKNOWN, NULL, NULL, &actor), POISE_OK);
        ck_assert_double_eq(v3_norm(v3_sub(actor.up, rows[i].up)), 0);
        pz_actor_close(&actor, NULL);
        double q[64];
        poise_clip clip = {.frames = 1, .nq = poise_model_info(model).nq, .frame_time = 0.01, .q = q};
        poise_up axis = h.x != 0 ? POISE_UP_X : h.y != 0 ? POISE_UP_Y : POISE_UP_Z;
        ck_assert_int_le(clip.nq, 64);
        poise_model_neutral(model, q);
        ck_assert_int_eq(poise_clip_up(model, &clip), rows[i].has_legs ? axis : POISE_UP_UNKNOWN);
        ck_assert_int_eq(pz_actor_open(model, NULL, POISE_UP_Z, NULL, NULL, &actor), POISE_OK); // it was said
        ck_assert_double_eq(v3_norm(v3_sub(actor.up, v3(0, 0, 1))), 0);
        pz_actor_close(&actor, NULL);
        poise_model_destroy(model);
        poise_builder_destroy(b);
    }
}

// A model of a shoulder may begin with its collarbone, and have a shoulder blade between that and the arm.
TEST(a_collarbone_may_be_the_root)
{
    poise_builder *b;
    poise_model *model;
    pz_anatomy anatomy;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    add_joint(b, "clavicle_l", NULL, 0, 0, 0);
    add_joint(b, "scapula_l", "clavicle_l", 0.1, 0, 0);
    add_joint(b, "humerus_l", "scapula_l", 0.1, 0, 0);
    add_joint(b, "radius_l", "humerus_l", 0.3, 0, 0);
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    ck_assert_int_eq(pz_anatomy_of(model, NULL, &anatomy), POISE_OK);
    ck_assert_int_eq(anatomy.part[PZ_UPPER_ARM][PZ_LEFT].body, 2);
    ck_assert_int_eq(anatomy.part[PZ_CLAVICLE][PZ_LEFT].body, 0);
    poise_model_destroy(model);
    poise_builder_destroy(b);
}

// What the arms hang from is no head. A body above it is, whatever its name.
TEST(a_trunk_that_ends_at_the_arms_has_no_head)
{
    static const struct {
        int above;
        bool has_head;
    } rows[] = {{0, false}, {1, true}, {2, false}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        static const char *const names[] = {"LeftUpLeg",  "LeftLeg",  "LeftFoot",  "LeftArm",  "LeftForeArm",
                                            "RightUpLeg", "RightLeg", "RightFoot", "RightArm", "RightForeArm"};
        poise_builder *b;
        poise_model *model;
        pz_actor actor;
        ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
        add_joint(b, "Hips", NULL, 0, 1, 0);
        add_joint(b, "Trunk", "Hips", 0, 0.3, 0);
        for (int k = 0; k < 10; ++k) {
            bool is_arm = k % 5 >= 3, is_first = k % 5 == 0 || k % 5 == 3;
            double x = is_first || is_arm ? (k < 5 ? 0.2 : -0.2) : 0;
            add_joint(b, names[k], is_first ? (is_arm ? "Trunk" : "Hips") : names[k - 1], x, is_arm || is_first ? 0 : -0.4,
                      0);
        }
        for (int k = 0; k < rows[i].above; ++k) {
            add_joint(b, k == 0 ? "Bulb" : "Lamp", "Trunk", 0, 0.2, 0.1 * k);
        }
        ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
        ck_assert_int_eq(pz_actor_open(model, NULL, POISE_UP_Y, NULL, NULL, &actor), POISE_OK);
        ck_assert_int_eq(actor.roles.body[POISE_ROLE_HEAD],
                         rows[i].has_head ? poise_model_find_body(model, "Bulb") : POISE_NONE);
        pz_actor_close(&actor, NULL);
        poise_model_destroy(model);
        poise_builder_destroy(b);
    }
}
