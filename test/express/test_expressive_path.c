// The successor of ERIK along paths that the limits of a root do not let it follow.
#include "support/own.h"

#include <poise/expressive.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180.0)
#define MOST   8

// A scene with one of its postures, the end that its tool marks, and a solver that goes by strides.
typedef struct setup {
    poise_model *model;
    int body, nq;
    poise_vec3 axis; // that the end faces with
    double posture[MOST];
    poise_expressive_options options;
    poise_expressive *expressive;
} setup;

static setup set_up(const char *scene, const char *posture, poise_expressive_mode mode, double stride)
{
    setup s = {.options = poise_expressive_options_default()};
    bool is_lamp = strcmp(scene, "lamp") == 0;
    ck_assert_int_eq(scene_create(scene, NULL, &s.model, NULL), POISE_OK);
    own_model(s.model);
    poise_tool_info tool = poise_model_tool_info(s.model, poise_model_find_tool(s.model, is_lamp ? "light" : "tip"));
    s.nq = poise_model_info(s.model).nq;
    s.options.symmetric_endpoint = true;
    s.body = s.options.body = tool.body;
    s.options.tip = tool.pose;
    s.options.mode = mode;
    s.options.stride = stride;
    s.axis = is_lamp ? poise_vec3_make(0, 0, 1) : poise_vec3_make(0, 1, 0);
    ck_assert_int_eq(poise_expressive_create(s.model, &s.options, NULL, &s.expressive, NULL), POISE_OK);
    own_expressive(s.expressive);
    ck_assert_int_eq(scene_posture(s.model, scene, posture, s.posture), POISE_OK);
    return s;
}

// Face a place of the circle about the vertical, 40 degrees from it: the goal is met and the limits hold.
static poise_expressive_report face(const setup *s, double degrees, double *q)
{
    double a = degrees * DEGREE, tilt = 40 * DEGREE;
    poise_vec3 to = {sin(tilt) * sin(a), cos(tilt), sin(tilt) * cos(a)};
    poise_goal goal = poise_goal_direction(s->body, s->axis, to);
    poise_expressive_report r;
    ck_assert_int_eq(poise_expressive_solve(s->expressive, &goal, 1, s->posture, q, &r, NULL), POISE_OK);
    ck_assert_double_le(r.worst_angle, 1e-6);
    ck_assert(poise_model_within_limits(s->model, q));
    return r;
}

// The longest move of a joint, all the way round.
static double longest_move(const setup *s, int steps)
{
    double q[MOST], last[MOST], longest = 0.0;
    memcpy(q, s->posture, sizeof q);
    for (int i = 0; i <= steps; ++i) {
        memcpy(last, q, sizeof q);
        face(s, i * 360.0 / steps, q);
        for (int k = 0; k < s->nq && i > 0; ++k) {
            longest = fmax(longest, fabs(q[k] - last[k]));
        }
    }
    return longest;
}

TEST(a_circle_beyond_the_limits_of_the_root_is_followed_without_a_jump)
{
    static const char *const scenes[][2] = {{"erik-c", "bow"}, {"erik-c", "s-curve"}, {"erik-d", "bow"},   {"erik-e", "bow"},
                                            {"erik-f", "bow"}, {"erik-g", "bow"},     {"lamp", "curious"}, {"lamp", "shy"}};
    setup at_once = set_up("erik-g", "bow", POISE_EXPRESSIVE_SHAPE, 0.0);
    ck_assert_double_lt(longest_move(&at_once, 120), 10 * DEGREE);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i) {
        for (int mode = 0; mode < POISE_EXPRESSIVE_MODE_COUNT; ++mode) {
            setup s = set_up(scenes[i][0], scenes[i][1], (poise_expressive_mode)mode, 0.1);
            for (int steps = 120; steps <= 360; steps += 240) {
                double longest = longest_move(&s, steps);
                ck_assert_msg(longest < 10 * DEGREE, "%s, %s, mode %d, %d steps: %g degrees", scenes[i][0], scenes[i][1],
                              mode, steps, longest / DEGREE);
            }
        }
    }
}

// A target that stops while the answer is being left: the better answer is reached, not approached for ever.
TEST(a_better_answer_is_reached_by_strides)
{
    setup s = set_up("erik-c", "bow", POISE_EXPRESSIVE_SHAPE, 0.1);
    double q[MOST];
    int degrees = 0, calls = 0;
    poise_expressive_report r = {0};
    memcpy(q, s.posture, sizeof q);
    for (; !r.is_on_the_way && degrees < 360; ++degrees) {
        r = face(&s, degrees, q);
    }
    ck_assert_int_gt(degrees, 90); // the root's limit
    ck_assert_int_lt(degrees, 270);
    double error = r.error;
    for (; r.is_on_the_way && calls < 360; ++calls) {
        r = face(&s, degrees, q);
    }
    ck_assert_int_lt(calls, 90);
    ck_assert_double_lt(r.error, error - 0.5 * s.options.gain);
}
