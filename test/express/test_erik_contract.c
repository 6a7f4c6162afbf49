// What ERIK refuses, and what it promises about memory and bits.
#include "papers/erik/erik.h"
#include "papers/plain/two_task.h"
#include "support/allocations.h"
#include "support/erik_chains.h"

#include <stdint.h>

#define PI 3.14159265358979323846

// ---- Refusals ------------------------------------------------------------------------------------------------------------

static void check_refused(const poise_model *model, const poise_erik_options *options, poise_status expected,
                          const char *word)
{
    poise_erik *erik = NULL;
    poise_error error = {0};
    poise_status status = poise_erik_create(model, options, NULL, &erik, &error);
    ck_assert_msg(status == expected && error.status == expected, "%s: %s", poise_status_name(status), error.text);
    ck_assert_msg(strstr(error.text, word) != NULL, "\"%s\" does not mention \"%s\"", error.text, word);
    ck_assert_ptr_null(erik);
    ck_assert_uint_eq(pz_erik_size(model, options), 0);
    ck_assert_int_eq(poise_erik_create(model, options, NULL, &erik, NULL), expected);
}

TEST(chains_that_are_not_of_hinges_are_refused_by_name)
{
    poise_erik_options options = poise_erik_options_default();
    const struct {
        const char *scene, *word;
    } cases[] = {{"scara", "prismatic"}, {"gantry", "prismatic"}, {"humanoid", "is "}, {"hand", "mimic joint"}};
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_model *model = scene(cases[i].scene);
        check_refused(model, &options, POISE_ERROR_UNSUPPORTED, cases[i].word);
    }
    poise_builder *builder;
    poise_model *fixed;
    poise_joint joint = poise_joint_default();
    joint.name = "stone";
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &fixed, NULL), POISE_OK);
    check_refused(fixed, &options, POISE_ERROR_UNSUPPORTED, "no joint");
    poise_builder_destroy(builder);
    poise_model_destroy(fixed);
}

TEST(options_that_make_no_sense_are_refused_by_name)
{
    poise_model *model = scene("erik-c");
    const poise_erik_options good = scene_options(model);
    for (int i = 0; i < 16; ++i) {
        static const char *const words[] = {"orientation_weight",
                                            "posture_weight",
                                            "threshold",
                                            "aggravation",
                                            "max_iterations",
                                            "max_sweeps",
                                            "precision",
                                            "stall",
                                            "disturbance",
                                            "window",
                                            "window",
                                            "tolerance",
                                            "restarts",
                                            "tip",
                                            "tip",
                                            "body"};
        poise_erik_options o = good;
        double *const numbers[] = {
            &o.orientation_weight, &o.posture_weight, &o.threshold,   &o.aggravation, NULL, NULL,
            &o.precision,          &o.stall,          &o.disturbance, NULL,           NULL, &o.tolerance};
        if (i < 12 && numbers[i]) {
            *numbers[i] = NAN;
            check_refused(model, &o, POISE_ERROR_ARGUMENT, words[i]);
            *numbers[i] = INFINITY;
            check_refused(model, &o, POISE_ERROR_ARGUMENT, words[i]);
            *numbers[i] = -1.0;
        }
        o.max_iterations = i == 4 ? 0 : o.max_iterations;
        o.max_sweeps = i == 5 ? 0 : o.max_sweeps;
        o.window = i == 9 ? 1 : i == 10 ? 65 : o.window;
        o.restarts = i == 12 ? -1 : o.restarts;
        o.tip.position.y = i == 13 ? NAN : o.tip.position.y;
        o.tip.rotation = i == 14 ? (poise_quat){0, 0, 0, 0} : o.tip.rotation;
        o.body = i == 15 ? 5 : o.body;
        check_refused(model, &o, POISE_ERROR_ARGUMENT, words[i]);
    }
    check_refused(NULL, &good, POISE_ERROR_ARGUMENT, "NULL");
    check_refused(model, NULL, POISE_ERROR_ARGUMENT, "NULL");
}

TEST(numbers_that_are_not_finite_leave_everything_alone)
{
    rig r = rig_of_scene("erik-c");
    const double bad[] = {NAN, INFINITY, -INFINITY};
    const poise_quat target = {0.1, 0.2, 0.3, 0.9};
    for (int i = 0; i < 3 * 15; ++i) {
        double posture[5] = {0.1, 0.2, 0.3, 0.4, 0.5}, q[5] = {0.5, 0.4, 0.3, 0.2, 0.1}, before[5];
        poise_quat t = target;
        int place = i / 3;
        double *const places[] = {&posture[0], &posture[1], &posture[2], &posture[3], &posture[4], &q[0], &q[1], &q[2],
                                  &q[3],       &q[4],       &t.x,        &t.y,        &t.z,        &t.w,  NULL};
        if (places[place]) {
            *places[place] = bad[i % 3];
        } else {
            t = (poise_quat){0, 0, 0, 0};
        }
        memcpy(before, q, sizeof q);
        poise_erik_report report = {.iterations = 77};
        ck_assert_int_eq(poise_erik_solve(r.erik, posture, t, q, &report, NULL), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(two_task_solve(r.erik, NULL, posture, t, q, &report), POISE_ERROR_ARGUMENT);
        ck_assert_int_eq(poise_erik_measure(r.erik, posture, t, q, &report, NULL), POISE_ERROR_ARGUMENT);
        ck_assert(memcmp(before, q, sizeof q) == 0 && report.iterations == 77);
    }
    double posture[5] = {0}, q[5] = {0};
    poise_erik_report report;
    for (int i = 0; i < 4; ++i) { // one number is enough for a rotation
        poise_quat half = {i == 0, i == 1, i == 2, i == 3};
        ck_assert_int_eq(poise_erik_solve(r.erik, posture, half, q, &report, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_erik_solve(NULL, posture, target, q, &report, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_erik_solve(r.erik, NULL, target, q, &report, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_erik_solve(r.erik, posture, target, NULL, &report, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_erik_solve(r.erik, posture, target, q, NULL, NULL), POISE_OK);
    ck_assert_int_eq(poise_erik_measure(r.erik, posture, target, q, NULL, NULL), POISE_ERROR_ARGUMENT);
    two_task_options two = two_task_options_default();
    two.longest_step = 0.0;
    ck_assert_int_eq(two_task_solve(r.erik, &two, posture, target, q, NULL), POISE_ERROR_ARGUMENT);
    two = two_task_options_default();
    two.max_iterations = 0;
    ck_assert_int_eq(two_task_solve(r.erik, &two, posture, target, q, NULL), POISE_ERROR_ARGUMENT);
}

// Huge but finite numbers are answered, and what comes back is finite and within the limits.
TEST(huge_numbers_are_answered)
{
    rig r = rig_of_scene("erik-g");
    const double sizes[] = {1e3, 1e10, 1e150, 1.7e308, 1e-300};
    for (size_t i = 0; i < TEST_COUNT(sizes); ++i) {
        double posture[8], q[8] = {0};
        for (int k = 0; k < 8; ++k) {
            posture[k] = k % 2 ? sizes[i] : -sizes[i];
        }
        poise_quat target = {sizes[i], 0, -sizes[i], 0.5 * sizes[i]};
        poise_erik_report report = solve(&r, posture, target, q);
        ck_assert(isfinite(report.error) && poise_model_within_limits(r.model, q));
    }
}

// ---- Memory and bits -----------------------------------------------------------------------------------------------------

// A hash of the answers to 200 problems.
static uint64_t hash_of(poise_erik *erik, poise_model *model)
{
    scene_random random = scene_random_make(8);
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (int i = 0; i < 200; ++i) {
        double posture[8], q[8] = {0};
        poise_erik_report report;
        scene_random_configuration(&random, model, posture);
        poise_quat target = scene_random_rotation(&random);
        if (i % 4) {
            ck_assert_int_eq(poise_erik_solve(erik, posture, target, q, &report, NULL), POISE_OK);
        } else {
            ck_assert_int_eq(two_task_solve(erik, NULL, posture, target, q, &report), POISE_OK);
        }
        const unsigned char *bytes = (const unsigned char *)q;
        for (size_t k = 0; k < sizeof q; ++k) {
            hash = (hash ^ bytes[k]) * 1099511628211u;
        }
    }
    return hash;
}

TEST(answers_do_not_depend_on_what_was_in_the_memory)
{
    poise_model *model = scene("erik-g");
    poise_erik_options options = scene_options(model);
    options.exact_orientation = true;
    size_t size = pz_erik_size(model, &options);
    unsigned char *memory = malloc(size + 1);
    uint64_t hashes[4];
    ck_assert_ptr_nonnull(memory);
    for (int i = 0; i < 3; ++i) {
        memset(memory, i == 0 ? 0x00 : 0xff, size + 1);
        // any alignment
        poise_erik *erik = pz_erik_init(model, &options, memory + i % 2, size);
        hashes[i] = hash_of(erik, model);
        hashes[3] = hash_of(erik, model); // again, over what the first time left
        ck_assert_uint_eq(hashes[i], hashes[0]);
        ck_assert_uint_eq(hashes[3], hashes[0]);
    }
    poise_erik *erik = NULL;
    poise_error error = {0};
    poise_memory small = {.base = memory, .size = 64};
    poise_allocator own = poise_memory_allocator(&small);
    ck_assert_int_eq(poise_erik_create(model, &options, &own, &erik, &error), POISE_ERROR_MEMORY);
    ck_assert_uint_ge(small.used, size);
    ck_assert_ptr_null(erik);
    free(memory);
}

static void *no_memory(void *user, size_t size)
{
    (void)user;
    (void)size;
    return NULL;
}

static void no_release(void *user, void *memory)
{
    (void)user;
    (void)memory;
}

TEST(solving_allocates_nothing)
{
    poise_model *model = scene("erik-g");
    poise_erik_options options = scene_options(model);
    options.exact_orientation = true;
    rig r = rig_of(model, &options);
    double posture[8] = {0.1, 0.5, -0.4, 0.3, 0.2, 0.7, -0.6, 0.0}, q[8] = {0};
    poise_vec3 positions[9];
    poise_erik_report report;
    positions_of(&r, posture, 1.0, positions);
    // counted between assertions, which allocate
    int before = allocations_so_far();
    poise_status status[3] = {
        poise_erik_solve(r.erik, posture, (poise_quat){0.5, 0.5, -0.5, 0.5}, q, &report, NULL),
        poise_erik_measure(r.erik, posture, (poise_quat){0, 0, 0, 1}, q, &report, NULL),
        poise_erik_posture_from_positions(r.erik, positions, 9, posture, NULL, NULL),
    };
    int after = allocations_so_far();
    ck_assert_int_eq(after, before);
    for (int i = 0; i < 3; ++i) {
        ck_assert_int_eq(status[i], POISE_OK);
    }
    const poise_allocator none = {no_memory, no_release, NULL};
    poise_erik *erik = NULL;
    ck_assert_int_eq(poise_erik_create(model, &options, &none, &erik, NULL), POISE_ERROR_MEMORY);
    ck_assert_ptr_null(erik);
    poise_erik_destroy(NULL);
}

// Joints beside the chain keep their values: the wrist of an arm is not asked when its elbow is the end.
TEST(joints_beside_the_chain_are_left_alone)
{
    poise_model *model = scene("erik-g");
    poise_erik_options options = poise_erik_options_default();
    options.body = 4;
    rig r = rig_of(model, &options);
    ck_assert_int_eq(poise_erik_joints(r.erik).count, 5);
    double posture[8] = {0, 0.4, 0.3, -0.5, 0.1, 0, 0, 0}, q[8] = {9, 9, 9, 9, 9, 1.25, -1.5, 0.75};
    poise_erik_report report = solve(&r, posture, (poise_quat){0.1, 0.2, 0.3, 0.9}, q);
    ck_assert(q[5] == 1.25 && q[6] == -1.5 && q[7] == 0.75);
    ck_assert(fabs(q[0]) <= PI && report.outcome == POISE_OUTCOME_REACHED);
}

// Errors from the first on; NAN around the window: none of it is read.
TEST(errors_that_gain_nothing_are_noticed)
{
    static const struct {
        int window, count;
        double errors[8];
        bool is_stuck;
    } rows[] = {
        {4, 3, {1, 1, 1}, false},                   // too few
        {4, 4, {8, 4, 2, 1}, false},                // they fall
        {4, 4, {1, 1, 1, 1}, true},                 // they stand still
        {4, 4, {1, 2, 3, 4}, true},                 // they rise
        {4, 4, {4, 1, 2, 3.95}, true},              // the newest is as large as the oldest
        {4, 4, {4, 2, 4, 2}, true},                 // every second is the same, and the newest less than the oldest
        {4, 6, {9, 8, 4, 2, 4, 2}, true},           // likewise later
        {4, 4, {4, 2, 3.5, 1}, false},              // every second is not
        {6, 6, {4, 2, 4, 2, 4, 2}, true},           //
        {6, 8, {9, 9, 4, 2, 4, 1.5, 3.5, 1}, false} //
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        double room[16], *ring = room + 4;
        for (int k = 0; k < 16; ++k) {
            room[k] = NAN;
        }
        for (int k = 0; k < rows[i].count; ++k) {
            ring[k % rows[i].window] = rows[i].errors[k];
        }
        ck_assert_msg(pz_erik_is_stuck(ring, rows[i].count, rows[i].window, 0.1) == rows[i].is_stuck, "row %d", (int)i);
    }
}
