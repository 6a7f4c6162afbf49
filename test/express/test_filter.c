// The motion filter: what its output's own differences say.
#include "support/test_main.h"

#include <poise/filter.h>
#include <scenes/random.h>

#include "num/trig.h"

#include <math.h>
#include <string.h>

#define SLACK 1e-9 // of a limit

typedef struct history {
    double dt;
    double x[4]; // newest first
    int count;
    double v, a, j; // largest differences
} history;

static void record(history *h, double x)
{
    for (int i = 3; i > 0; --i) {
        h->x[i] = h->x[i - 1];
    }
    h->x[0] = x;
    h->count += 1;
    const double *y = h->x;
    if (h->count >= 2) {
        h->v = fmax(h->v, fabs(y[0] - y[1]) / h->dt);
    }
    if (h->count >= 3) {
        h->a = fmax(h->a, fabs(y[0] - 2 * y[1] + y[2]) / (h->dt * h->dt));
    }
    if (h->count >= 4) {
        h->j = fmax(h->j, fabs(y[0] - 3 * y[1] + 3 * y[2] - y[3]) / (h->dt * h->dt * h->dt));
    }
}

// Rounding of positions near 1 in a third difference.
static double rounding(double dt, int order)
{
    return 64 * 2.3e-16 / pow(dt, order);
}

static poise_filter *make(poise_filter_joint joint)
{
    poise_filter *filter;
    ck_assert_int_eq(poise_filter_create(NULL, &joint, 1, NULL, &filter, NULL), POISE_OK);
    return filter;
}

TEST(exponentials_agree_with_the_c_library)
{
    for (int i = -7000; i <= 7000; ++i) {
        double x = i / 10.01;
        ck_assert_double_eq_tol(pz_exp(x) / exp(x), 1.0, 1e-13);
        double y = exp(x / 2);
        ck_assert_double_eq_tol(pz_log(y), log(y), 1e-13 * fmax(1.0, fabs(log(y))));
    }
    ck_assert_double_eq_tol(pz_power(3.0, 0.3), pow(3.0, 0.3), 1e-15);
    ck_assert_double_eq(pz_power(0.0, 0.5), 0.0);
}

TEST(differences_of_the_output_obey_every_limit)
{
    static const double rates[] = {60.0, 1000.0};
    scene_random random = scene_random_make(1);
    for (int trial = 0; trial < 200; ++trial) {
        poise_filter_joint joint = poise_filter_joint_default();
        joint.lower = -scene_random_range(&random, 0.0, 2.0);
        joint.upper = scene_random_range(&random, 0.0, 2.0);
        joint.velocity = scene_random_range(&random, 0.1, 5.0);
        joint.acceleration = scene_random_range(&random, 0.5, 30.0);
        joint.jerk = scene_random_range(&random, 1.0, 500.0);
        joint.smoothness = trial % 3 == 0 ? 0.0 : scene_random_uniform(&random);
        joint.responsiveness = 0.9 * scene_random_uniform(&random);
        joint.soft = trial % 4 == 0 ? scene_random_range(&random, 0.5, 5.0) : 0.0;
        poise_filter *filter = make(joint);
        history h = {.dt = 1.0 / rates[trial % 2]};
        double s = 0.0, x = 0.0;
        for (int i = 0; i < 3000; ++i) {
            if (scene_random_uniform(&random) < 0.02) {
                s = scene_random_range(&random, -3.0, 3.0); // beyond the limits, too
            }
            ck_assert_int_eq(poise_filter_step(filter, &s, h.dt, &x, NULL), POISE_OK);
            ck_assert_double_ge(x, joint.lower);
            ck_assert_double_le(x, joint.upper);
            record(&h, x);
        }
        ck_assert_double_le(h.v, joint.velocity * (1 + SLACK) + rounding(h.dt, 1));
        ck_assert_double_le(h.a, joint.acceleration * (1 + SLACK) + rounding(h.dt, 2));
        ck_assert_double_le(h.j, joint.jerk * (1 + SLACK) + rounding(h.dt, 3));
        poise_filter_destroy(filter);
    }
}

// From rest to rest over a long way: jerk, acceleration, speed all at their limits for a while.
TEST(a_long_way_takes_the_least_time_there_is)
{
    poise_filter_joint joint = poise_filter_joint_default();
    poise_filter *filter = make(joint);
    double V = joint.velocity, A = joint.acceleration, J = joint.jerk, way = 3.0, s = way, x = 0.0;
    double least = way / V + V / A + A / J; // three trapezes over each other
    double dt = 1e-3, t = 0.0;
    while (fabs(x - way) > 1e-12 && t < 10.0) {
        poise_filter_step(filter, &s, dt, &x, NULL);
        t += dt;
        ck_assert_double_le(x, way + 1e-12);
    }
    ck_assert_double_eq_tol(t, least, 2 * dt);
    poise_filter_step(filter, &s, dt, &x, NULL);
    double left = -1;
    poise_filter_state(NULL, NULL, NULL, NULL, &left);
    ck_assert_double_eq(left, -1);
    poise_filter_state(filter, NULL, NULL, NULL, &left);
    ck_assert_double_eq(left, 0.0);
    poise_filter_destroy(filter);
}

// In the first moments only the jerk acts, x = J t^3/6: eased by k = 1 - smoothness (1 - responsiveness), J is k^2 as large.
// Later the acceleration is k times as large.
TEST(smoothness_eases_the_jerk_by_its_square_and_the_acceleration_by_itself)
{
    for (int i = 0; i < 12; ++i) {
        poise_filter_joint joint = poise_filter_joint_default();
        joint.smoothness = 0.3 * (i % 4);
        joint.responsiveness = 0.4 * (i / 4);
        poise_filter *filter = make(joint);
        double k = 1.0 - joint.smoothness * (1.0 - joint.responsiveness), s = 50.0, x = 0.0, a = 0.0;
        ck_assert_int_eq(poise_filter_step(filter, &s, 1e-3, &x, NULL), POISE_OK);
        ck_assert_double_eq_tol(x, joint.jerk * k * k * 1e-9 / 6, 1e-15);
        for (int step = (int)(1e3 * joint.acceleration / (k * joint.jerk)) + 5; step > 0;
             --step) { // the jerk has done its part
            poise_filter_step(filter, &s, 1e-3, &x, NULL);
        }
        poise_filter_state(filter, NULL, NULL, &a, NULL);
        ck_assert_double_eq_tol(a, k * joint.acceleration, 1e-9);
        poise_filter_destroy(filter);
    }
}

TEST(every_shape_settles_without_passing_the_set_point)
{
    for (int k = 0; k < 20; ++k) {
        poise_filter_joint joint = poise_filter_joint_default();
        joint.smoothness = k / 20.0;
        joint.responsiveness = (k * 7 % 20) / 21.0;
        poise_filter *filter = make(joint);
        double s = 1.0, x = 0.0, most = 0.0;
        for (int i = 0; i < 600; ++i) { // ten seconds
            poise_filter_step(filter, &s, 1.0 / 60.0, &x, NULL);
            most = fmax(most, x);
        }
        ck_assert_double_eq_tol(x, 1.0, 1e-3);
        ck_assert_double_le(most, 1.0 + 1e-12);
        poise_filter_destroy(filter);
    }
}

TEST(smoothness_slows_and_responsiveness_makes_up_for_it)
{
    double time[3]; // until the last hundredth of the way
    static const double shape[3][2] = {{0.0, 0.0}, {0.7, 0.0}, {0.7, 0.9}};
    for (int k = 0; k < 3; ++k) {
        poise_filter_joint joint = poise_filter_joint_default();
        joint.smoothness = shape[k][0];
        joint.responsiveness = shape[k][1];
        poise_filter *filter = make(joint);
        double s = 1.0, x = 0.0;
        for (time[k] = 0.0; x < 0.99 && time[k] < 60.0; time[k] += 0.01) {
            poise_filter_step(filter, &s, 0.01, &x, NULL);
        }
        poise_filter_destroy(filter);
    }
    ck_assert_double_gt(time[1], 1.3 * time[0]);
    ck_assert_double_lt(time[2], 0.8 * time[1]);
}

// A slow joint with strong motors goes at the speed it aims at: full speed up to the middle of its range, then
// 1 - u^(2 soft) of it. In a step u changes by 5e-4, and the speed by that times a slope of up to 6.
TEST(a_soft_end_slows_by_its_power_of_the_way_from_the_middle)
{
    for (int soft = 0; soft < 4; ++soft) {
        poise_filter_joint joint = poise_filter_joint_default();
        joint.lower = -0.5, joint.upper = 1.5;
        joint.velocity = 0.05, joint.acceleration = 1e3, joint.jerk = 1e6;
        joint.soft = soft;
        poise_filter *filter = make(joint);
        double s = 2.0, x = 0.0, before = 0.0;
        for (int i = 0; i < 6000 && x < 1.3; ++i) {
            before = x;
            ck_assert_int_eq(poise_filter_step(filter, &s, 0.01, &x, NULL), POISE_OK);
            double u = before - 0.5, expected = soft > 0 && u > 0 ? 1.0 - pow(u, 2.0 * soft) : 1.0;
            if (i > 10) { // it has started
                ck_assert_double_eq_tol((x - before) / (0.01 * joint.velocity), expected, 3e-3);
            }
        }
        ck_assert_double_ge(x, 1.3);
        poise_filter_destroy(filter);
    }
}

TEST(bad_numbers_are_refused_or_passed_over)
{
    poise_filter_joint joint = poise_filter_joint_default();
    poise_filter *filter = NULL;
    joint.jerk = 0.0;
    ck_assert_int_eq(poise_filter_create(NULL, &joint, 1, NULL, &filter, NULL), POISE_ERROR_ARGUMENT);
    joint = poise_filter_joint_default();
    joint.lower = 1.0;
    joint.upper = 0.0;
    ck_assert_int_eq(poise_filter_create(NULL, &joint, 1, NULL, &filter, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(filter);
    filter = make(poise_filter_joint_default());
    double s = NAN, x = 5.0;
    ck_assert_int_eq(poise_filter_step(filter, &s, 0.01, &x, NULL), POISE_OK);
    ck_assert_double_eq(x, 0.0);
    ck_assert_int_eq(poise_filter_step(filter, &s, -0.01, &x, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_filter_reset(filter, &s, NULL), POISE_ERROR_ARGUMENT);
    s = 1e300;
    for (int i = 0; i < 100; ++i) {
        ck_assert_int_eq(poise_filter_step(filter, &s, 0.01, &x, NULL), POISE_OK);
        ck_assert(isfinite(x));
    }
    ck_assert_double_le(x, 2.0);
    poise_filter_destroy(filter);
}

// ---- Memory --------------------------------------------------------------------------------------------------------------

// One block with a pattern behind what was asked for.
typedef struct guarded {
    unsigned char block[4096];
    size_t asked;
} guarded;

static void *guard_allocate(void *user, size_t size)
{
    guarded *g = user;
    ck_assert_uint_lt(size, sizeof g->block);
    g->asked = size;
    memset(g->block, 0xA5, sizeof g->block);
    return g->block;
}

static void guard_release(void *user, void *memory)
{
    (void)user;
    (void)memory;
}

TEST(numbers_near_the_largest_stay_finite)
{
    static const double sizes[] = {1.0, 1e100, 1e154, 1e200, 1e300, 1.7e308};
    scene_random random = scene_random_make(8);
    for (int k = 0; k < 3000; ++k) {
        poise_filter_joint joint = poise_filter_joint_default();
        double *of[] = {&joint.velocity, &joint.acceleration, &joint.jerk};
        for (int i = 0; i < 3; ++i) {
            *of[i] = scene_random_range(&random, 0.1, 1.0) * sizes[scene_random_index(&random, 6)];
        }
        joint.mode = (poise_filter_mode)(k % POISE_FILTER_MODE_COUNT);
        joint.smoothness = k % 2 ? 0.5 : 0.0;
        joint.soft = k % 5 ? 0.0 : 2.0;
        joint.upper = k % 3 ? INFINITY : sizes[scene_random_index(&random, 6)];
        joint.lower = k % 3 ? -INFINITY : -joint.upper;
        poise_filter *filter = make(joint);
        for (int i = 0; i < 12; ++i) {
            double setpoint = scene_random_range(&random, -1.0, 1.0) * sizes[scene_random_index(&random, 6)], x, v, a, left;
            ck_assert_int_eq(poise_filter_step(filter, &setpoint, i % 2 ? 0.01 : 1e10, &x, NULL), POISE_OK);
            poise_filter_state(filter, NULL, &v, &a, &left);
            ck_assert_msg(isfinite(x) && isfinite(v) && isfinite(a) && isfinite(left), "%d: %g %g %g %g", k, x, v, a, left);
            ck_assert(x >= joint.lower && x <= joint.upper);
        }
        poise_filter_destroy(filter);
    }
}

TEST(nothing_is_written_behind_the_last_joint)
{
    static _Alignas(64) guarded g;
    poise_allocator allocator = {.allocate = guard_allocate, .release = guard_release, .user = &g};
    poise_filter_joint joints[2] = {poise_filter_joint_default(), poise_filter_joint_default()};
    poise_filter *filter;
    double x[3] = {0.1, 0.2, 0.3}, s[3] = {0.5, -0.5, 0.4};
    ck_assert_int_eq(poise_filter_create(NULL, joints, 2, &allocator, &filter, NULL), POISE_OK);
    ck_assert_int_eq(poise_filter_reset(filter, x, NULL), POISE_OK);
    ck_assert_int_eq(poise_filter_step(filter, s, 0.01, x, NULL), POISE_OK);
    ck_assert_double_eq(x[2], 0.3);
    for (size_t i = g.asked; i < sizeof g.block; ++i) {
        ck_assert_uint_eq(g.block[i], 0xA5);
    }
    poise_filter_destroy(filter);
}

// ---- The paper's own filter ----------------------------------------------------------------------------------------------

// Eq. 23: a unit step is met without passing it by much, within the limit of velocity, and never leaves the range; the
// smoother character takes longer.
TEST(the_nutty_filter_goes_to_its_set_point_as_its_character_says)
{
    const double dt = 0.02, smoothness[] = {0.0, 0.5, 0.8};
    double times[3];
    for (int k = 0; k < 3; ++k) {
        poise_filter_joint joint = poise_filter_joint_default();
        joint.mode = POISE_FILTER_NUTTY;
        joint.smoothness = smoothness[k];
        joint.responsiveness = 0.5;
        joint.lower = -2.0;
        joint.upper = 2.0;
        poise_filter *filter = make(joint);
        double s = 1.0, x = 0.0, last = 0.0, most = 0.0;
        times[k] = INFINITY;
        for (int i = 0; i < 2000; ++i) {
            ck_assert_int_eq(poise_filter_step(filter, &s, dt, &x, NULL), POISE_OK);
            ck_assert_double_le(fabs(x - last) / dt, joint.velocity * (1.0 + 1e-9));
            times[k] = isfinite(times[k]) || x < 0.9 ? times[k] : i * dt;
            most = fmax(most, x);
            last = x;
        }
        ck_assert_double_lt(most, 1.3);
        ck_assert_msg(fabs(x - 1.0) < 0.1, "smoothness %g: ends at %g", smoothness[k], x);
        s = 50.0;
        for (int i = 0; i < 1000; ++i) {
            ck_assert_int_eq(poise_filter_step(filter, &s, dt, &x, NULL), POISE_OK);
            ck_assert_double_le(x, 2.0);
        }
        poise_filter_destroy(filter);
    }
    ck_assert_msg(times[0] <= times[1] && times[1] <= times[2], "%g %g %g s", times[0], times[1], times[2]);
}

// The largest speed on the way to a set-point 1.5 away, with the default limits, within +-pi.
static double fastest_at(poise_filter_mode mode, int rate)
{
    poise_filter_joint joint = poise_filter_joint_default();
    joint.mode = mode;
    joint.lower = -3.14159;
    joint.upper = 3.14159;
    poise_filter *filter = make(joint);
    double s = 1.5, x = 0.0, last = 0.0, fastest = 0.0;
    for (int i = 0; i < 30 * rate; ++i) {
        ck_assert_int_eq(poise_filter_step(filter, &s, 1.0 / rate, &x, NULL), POISE_OK);
        fastest = fmax(fastest, fabs(x - last) * rate);
        last = x;
    }
    ck_assert_double_eq_tol(x, 1.5, 0.01);
    poise_filter_destroy(filter);
    return fastest;
}

// The numbers that filter.h, docs/stream.md and the help of warp give.
TEST(the_nutty_filter_is_slower_at_higher_rates_and_the_default_is_not)
{
    static const struct {
        int rate;
        double nutty;
    } rows[] = {{30, 1.12}, {100, 0.58}, {1000, 0.14}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        ck_assert_double_eq_tol(fastest_at(POISE_FILTER_NUTTY, rows[i].rate), rows[i].nutty, 0.005);
        ck_assert_double_eq_tol(fastest_at(POISE_FILTER_TIME_OPTIMAL, rows[i].rate), 2.0, 1e-9);
    }
}

// One step with limits so wide that they bend nothing, by hand: v = e (1 - |u|^(2 beta)) outwards, e inwards, and the
// command v (tanh(|v| - pi) + 1)/2 is the new velocity.
TEST(the_nutty_filter_slows_down_towards_an_end)
{
    static const struct {
        double set_point, soft, v;
    } rows[] = {{1.5, 0, 5 * 0.75}, {1.5, 1, 5 * 0.75}, {1.5, 2, 5 * 0.9375}, {0.5, 1, -5}, {0.5, 2, -5}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_filter_joint joint = poise_filter_joint_default();
        joint.mode = POISE_FILTER_NUTTY;
        joint.lower = -2.0;
        joint.upper = 2.0;
        joint.velocity = joint.acceleration = joint.jerk = 1e8;
        joint.soft = rows[i].soft;
        poise_filter *filter = make(joint);
        double x = 1.0, v, size = fabs(rows[i].v); // half way from the middle to the end
        ck_assert_int_eq(poise_filter_reset(filter, &x, NULL), POISE_OK);
        ck_assert_int_eq(poise_filter_step(filter, &rows[i].set_point, 0.1, &x, NULL), POISE_OK);
        poise_filter_state(filter, NULL, &v, NULL, NULL);
        ck_assert_double_eq_tol(v, rows[i].v * 0.5 * (tanh(size - acos(-1.0)) + 1.0), 1e-7); // EPS of 1e8
        ck_assert_double_eq_tol(x, 1.0 + 0.1 * v, 1e-12);
        poise_filter_destroy(filter);
    }
}

// Limits, character and mode may change while a joint moves: it goes on from where it is.
TEST(a_joint_may_change_its_manners_on_the_way)
{
    poise_filter_joint joint = poise_filter_joint_default();
    poise_filter *filter = make(joint);
    double s = 10.0, x = 0.0, v, last = 0.0;
    for (int i = 0; i < 3000; ++i) {
        if (i % 100 == 50) {
            joint.mode = i % 300 == 50 ? POISE_FILTER_NUTTY : POISE_FILTER_TIME_OPTIMAL;
            joint.velocity = i % 200 == 50 ? 0.5 : 2.0;
            joint.smoothness = 0.3;
            ck_assert_int_eq(poise_filter_set_joint(filter, 0, &joint, NULL), POISE_OK);
        }
        ck_assert_int_eq(poise_filter_step(filter, &s, 0.01, &x, NULL), POISE_OK);
        poise_filter_state(filter, NULL, &v, NULL, NULL);
        ck_assert_double_le(fabs(x - last), 0.01 * 2.0 * (1.0 + 1e-9));
        ck_assert_double_le(fabs(v), joint.velocity * (1.0 + 1e-9));
        last = x;
    }
    ck_assert_double_gt(x, 9.0);
    joint.mode = POISE_FILTER_OFF;
    ck_assert_int_eq(poise_filter_set_joint(filter, 0, &joint, NULL), POISE_OK);
    s = -3.0;
    ck_assert_int_eq(poise_filter_step(filter, &s, 0.01, &x, NULL), POISE_OK);
    ck_assert_double_eq(x, -3.0);
    ck_assert_int_eq(poise_filter_set_joint(filter, 1, &joint, NULL), POISE_ERROR_ARGUMENT);
    joint.mode = POISE_FILTER_NUTTY;
    joint.responsiveness = 1.0;
    ck_assert_int_eq(poise_filter_set_joint(filter, 0, &joint, NULL), POISE_ERROR_ARGUMENT);
    poise_filter_destroy(filter);
}

// As the header says them.
TEST(defaults_are_those_of_the_header)
{
    poise_filter_joint joint = poise_filter_joint_default();
    ck_assert_double_eq(joint.smoothness, 0.0);
    ck_assert_double_eq(joint.responsiveness, 0.0);
    ck_assert_double_eq(joint.soft, 0.0);
    ck_assert_int_eq(joint.mode, POISE_FILTER_TIME_OPTIMAL);
}
