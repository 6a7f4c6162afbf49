// Arm poses without collisions as the device finds them, on the host: runs without a device. Answers are judged by searches
// along shapes that share no code with it (support/constraint_check.h).
#include "cuda_test_arms.h"
#include "lib/arm_fast.h"
#include "lib/arm_world.h"
#include "num/trig.h"

#include <limits.h>
#include <string.h>

static const char *no_fused(void)
{
    return pz_cpu_is_fused() ? NULL : "this processor has no fused multiply-add";
}

typedef struct stand {
    fixture f;
    test_world w;
    pz_cuda_task task;
    pz_fast_chain fast;
    pz_arm_world *world;
    const pz_fast_chain *has_fast;
    poise_kinematics *kinematics;
} stand;

static void open_stand(const char *scene, int count, stand *s)
{
    poise_solver_options options = solver_options();
    poise_error error = {.text = ""};
    s->f = make(scene, count, 0, 31);
    make_world(&s->f, &s->w);
    ck_assert_int_eq(pz_cuda_task_make(s->f.model, &s->f.goal, &options, &s->task, NULL), POISE_OK);
    s->task.fast_last = PZ_FAST_MORE - 1;
    s->has_fast = pz_fast_chain_make(&s->task, &s->fast) ? &s->fast : NULL;
    s->world = malloc(sizeof *s->world);
    ck_assert(s->world != NULL);
    poise_status status = pz_arm_world_make(s->f.model, &s->task, &s->w.apart, s->world, &error);
    ck_assert_msg(status == POISE_OK, "%s: %s", scene, error.text);
    ck_assert_int_eq(poise_kinematics_create(s->f.model, NULL, &s->kinematics, NULL), POISE_OK);
    begin(&s->f);
}

static void close_stand(stand *s)
{
    poise_kinematics_destroy(s->kinematics);
    free(s->world);
    release(&s->f);
}

static bool solve(stand *s, const pz_arm_world *world, int i, int patience)
{
    return pz_cuda_host_solve(&s->task, s->has_fast, world, &s->f.targets[i], patience, s->f.q + i * s->f.nq,
                              &s->f.answers[i]);
}

static const char *const scenes[] = {"arm6", "arm7", "lamp", "scara"};
#define SCENES (int)(sizeof scenes / sizeof scenes[0])

// ---- Room ----------------------------------------------------------------------------------------------------------------

TEST(room_is_that_of_the_nearest_pair)
{
    for (int k = 0; k < SCENES; ++k) {
        stand s;
        open_stand(scenes[k], 300, &s);
        int free_ones = 0;
        for (int i = 0; i < s.f.count; ++i) {
            double q[PZ_ARM_MOST];
            for (int j = 0; j < s.task.chain.n; ++j) {
                q[j] = s.f.starts[i * s.f.nq + s.task.chain.q[j]];
            }
            pz_world_room room = world_room(s.world, &s.task.chain, q, true);
            pz_world_room quick = world_room(s.world, &s.task.chain, q, false);
            double clearance = -check_constraints(s.f.model, &s.w.apart, 1, s.f.starts + i * s.f.nq).clearance;
            ck_assert(room.watch >= 0 && quick.watch >= 0);
            ck_assert(clearance < 0 ? room.room < 0 : fabs(s.task.chain.unit * room.room - clearance) <= 1e-9);
            ck_assert(world_is_clear(quick) == world_is_clear(room) && (!world_is_clear(room) || quick.room == room.room));
            free_ones += world_is_clear(room);
        }
        ck_assert_msg(free_ones > 10 && free_ones < 290, "%s: %d of 300 are free", scenes[k], free_ones);
        close_stand(&s);
    }
}

// ---- Answers -------------------------------------------------------------------------------------------------------------

TEST_IF(targets_with_a_free_way_are_reached_without_collisions, no_fused)
{
    for (int k = 0; k < SCENES; ++k) {
        stand s;
        int reached = 0;
        open_stand(scenes[k], k < 2 ? 1000 : 100, &s);
        draw_free(&s.f, &s.w, 1e-3, 32);
        for (int i = 0; i < s.f.count; ++i) {
            ck_assert(solve(&s, s.world, i, INT_MAX));
            reached += judge_apart(&s.f, &s.w, s.kinematics, i);
        }
        ck_assert_msg(reached >= s.f.count - s.f.count / 200, "%s: %d of %d", scenes[k], reached, s.f.count);
        close_stand(&s);
    }
}

// Targets from configurations that collide: some can be met another way, and none is said to be that is not.
TEST_IF(what_collides_is_never_called_reached, no_fused)
{
    stand s;
    int reached = 0, blocked = 0;
    open_stand("arm7", 200, &s);
    for (int i = 0; i < s.f.count; ++i) {
        ck_assert(solve(&s, s.world, i, INT_MAX));
        reached += judge_apart(&s.f, &s.w, s.kinematics, i);
        blocked += s.f.answers[i].outcome == POISE_OUTCOME_INFEASIBLE;
    }
    ck_assert_msg(reached > 40 && blocked > 10, "%d reached, %d blocked", reached, blocked);
    close_stand(&s);
}

TEST_IF(few_searches_leave_what_they_do_not_settle, no_fused)
{
    stand s;
    int left = 0;
    open_stand("arm7", 300, &s);
    for (int i = 0; i < s.f.count; ++i) {
        double early[MOST_Q], *q = s.f.q + i * s.f.nq;
        size_t size = (size_t)s.f.nq * sizeof *q;
        bool settled = solve(&s, s.world, i, 2);
        memcpy(early, q, size);
        memcpy(q, s.f.starts + i * s.f.nq, size);
        ck_assert(settled || memcmp(early, q, size) == 0);
        if (settled) {
            ck_assert(solve(&s, s.world, i, INT_MAX));
            ck_assert(memcmp(early, q, size) == 0);
        }
        left += !settled;
    }
    ck_assert(left > 10 && left < 290);
    close_stand(&s);
}

TEST_IF(a_world_without_pairs_changes_nothing, no_fused)
{
    stand s;
    open_stand("arm7", 100, &s);
    s.w.apart.pair_count = 0;
    ck_assert_int_eq(pz_arm_world_make(s.f.model, &s.task, &s.w.apart, s.world, NULL), POISE_OK);
    for (int i = 0; i < s.f.count; ++i) {
        double with[MOST_Q], *q = s.f.q + i * s.f.nq;
        size_t size = (size_t)s.f.nq * sizeof *q;
        ck_assert(solve(&s, s.world, i, INT_MAX));
        ck_assert(s.f.answers[i].room == INFINITY && s.f.answers[i].pair == -1);
        memcpy(with, q, size);
        memcpy(q, s.f.starts + i * s.f.nq, size);
        ck_assert(solve(&s, NULL, i, INT_MAX));
        ck_assert(memcmp(with, q, size) == 0);
    }
    close_stand(&s);
}

// ---- What is not served --------------------------------------------------------------------------------------------------

typedef struct refusal {
    const char *words;
    void (*spoil)(test_world *w, const fixture *f);
} refusal;

static void put_box_on_link(test_world *w, const fixture *f)
{
    w->shapes[0] = poise_shape_box(w->shapes[0].body, poise_pose_identity(), poise_vec3_make(0.1, 0.1, 0.1));
    w->pairs[0] = (poise_pair){0, w->apart.shape_count - 1};
    (void)f;
}

static void pair_obstacles(test_world *w, const fixture *f)
{
    w->pairs[3] = (poise_pair){w->apart.shape_count - 1, w->apart.shape_count - 2};
    (void)f;
}

static void ask_for_balance(test_world *w, const fixture *f)
{
    static const poise_vec3 square[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    w->apart = poise_constraint_default(POISE_CONSTRAINT_BALANCE);
    w->apart.polygon = square, w->apart.corner_count = 4;
    (void)f;
}

static void ask_for_a_negative_margin(test_world *w, const fixture *f)
{
    w->apart.margin = -1;
    (void)f;
}

TEST(what_is_not_served_is_named)
{
    static const refusal refusals[] = {{"capsules and spheres", put_box_on_link},
                                       {"moves neither", pair_obstacles},
                                       {"", ask_for_balance},
                                       {"margin", ask_for_a_negative_margin}};
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; ++k) {
        stand s;
        poise_error error = {.text = ""};
        open_stand("arm7", 1, &s);
        refusals[k].spoil(&s.w, &s.f);
        ck_assert_int_ne(pz_arm_world_make(s.f.model, &s.task, &s.w.apart, s.world, &error), POISE_OK);
        ck_assert_msg(strlen(error.text) > 0 && strstr(error.text, refusals[k].words), "%s", error.text);
        close_stand(&s);
    }
}

// A finger beside the arm moves by its own joint.
TEST(a_shape_that_another_joint_moves_is_refused)
{
    stand s;
    poise_error error = {.text = ""};
    poise_goal shorter;
    open_stand("arm7", 1, &s);
    shorter = s.f.goal;
    shorter.body -= 1; // the last joint is none of the arm's
    poise_solver_options options = solver_options();
    ck_assert_int_eq(pz_cuda_task_make(s.f.model, &shorter, &options, &s.task, NULL), POISE_OK);
    ck_assert_int_eq(pz_arm_world_make(s.f.model, &s.task, &s.w.apart, s.world, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "none of the arm's moves it") != NULL, "%s", error.text);
    close_stand(&s);
}
