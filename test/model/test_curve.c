// Functions of one coordinate: exact where they must be, smooth where they promise it, refused where they make no sense.
#include "model/model.h"
#include "support/skeleton.h"

static pz_function packed(const poise_function *f, double *room)
{
    poise_error error = {0};
    ck_assert_msg(pz_function_check(f, "a", "f", &error) == POISE_OK, "%s", error.text);
    return pz_function_pack(f, room);
}

static double cubic(double x)
{
    return 0.3 + x * (-0.7 + x * (0.4 + 0.2 * x));
}

// The cubics through the first and last four points give its end conditions, so a spline through points of a cubic is it.
TEST(a_spline_through_points_of_a_cubic_is_that_cubic)
{
    double x[] = {-2.0, -1.3, -0.1, 0.4, 1.7, 2.2}, y[6], room[64];
    for (int i = 0; i < 6; ++i) {
        y[i] = cubic(x[i]);
    }
    for (int count = 4; count <= 6; ++count) {
        pz_function f = packed(&(poise_function){POISE_FUNCTION_SPLINE, count, x, y}, room);
        for (double at = x[0]; at < x[count - 1]; at += 0.01) {
            pz_jet2 jet = pz_function_at(&f, at);
            ck_assert_double_eq_tol(jet.f, cubic(at), 1e-14);
            ck_assert_double_eq_tol(jet.d1, -0.7 + at * (0.8 + 0.6 * at), 1e-13);
            ck_assert_double_eq_tol(jet.d2, 0.8 + 1.2 * at, 1e-12);
        }
    }
}

// By the equations of curve.c in plain Gaussian elimination, in Python: the knee of Gait2354, tibia_r, x over its angle.
TEST(a_spline_of_a_knee_has_the_values_of_a_plain_solution)
{
    static const double x[] = {-2.0944,   -1.74533, -1.39626, -1.0472,  -0.698132, -0.349066,
                               -0.174533, 0.197344, 0.337395, 0.490178, 1.52146,   2.0944};
    static const double y[] = {-0.0032, 0.00179,   0.00411,   0.0041,    0.00212,   -0.001,
                               -0.0031, -0.005227, -0.005435, -0.005574, -0.005435, -0.00525};
    static const struct {
        double x, f, d1, d2;
    } facts[] = {{-2.0, -0.001566334322758203, 0.016157778306186192, -0.02407057111380078},
                 {-1.2, 0.004383123108905307, -0.0004303551064617018, -0.018596693923793876},
                 {-0.25, -0.0022190229055652987, -0.012347894177867885, 0.009768917621599045},
                 {0.0, -0.004499856517536013, -0.005646884209557035, 0.023767834422454972},
                 {0.4, -0.005498848678993553, -0.0009449806419355711, 0.002426356967906915},
                 {1.0, -0.005665277796453385, 0.00024593994403928466, 0.0012139744790588824},
                 {1.9, -0.005275789118426045, 0.0002623934440038452, -0.0011654374878846709}};
    double room[64];
    pz_function f = packed(&(poise_function){POISE_FUNCTION_SPLINE, 12, x, y}, room);
    for (size_t i = 0; i < TEST_COUNT(facts); ++i) {
        pz_jet2 jet = pz_function_at(&f, facts[i].x);
        ck_assert_double_eq_tol(jet.f, facts[i].f, 1e-16);
        ck_assert_double_eq_tol(jet.d1, facts[i].d1, 1e-15);
        ck_assert_double_eq_tol(jet.d2, facts[i].d2, 1e-14);
    }
}

TEST(splines_go_on_as_straight_lines_and_meet_their_points)
{
    const poise_function *f = &random_curves[0].value[3];
    double room[64];
    pz_function at = packed(f, room);
    for (int i = 0; i < f->count; ++i) {
        ck_assert_double_eq_tol(pz_function_at(&at, f->x[i]).f, f->y[i], 1e-16);
        double left = pz_function_at(&at, f->x[i] - 1e-9).d1, right = pz_function_at(&at, f->x[i] + 1e-9).d1;
        ck_assert_double_eq_tol(left, right, 1e-7);
    }
    pz_jet2 before = pz_function_at(&at, f->x[0] - 2.0), first = pz_function_at(&at, f->x[0]);
    pz_jet2 behind = pz_function_at(&at, f->x[4] + 3.0), last = pz_function_at(&at, f->x[4]);
    ck_assert_double_eq_tol(before.f, first.f - 2.0 * first.d1, 1e-15);
    ck_assert_double_eq_tol(behind.f, last.f + 3.0 * last.d1, 1e-15);
    ck_assert(before.d2 == 0.0 && behind.d2 == 0.0);
}

TEST(lines_and_polynomials_are_what_they_say)
{
    static const double x[] = {-1, 0, 2}, y[] = {3, 1, 2}, c[] = {2, -3, 0.5, 1};
    double room[64];
    pz_function lines = packed(&(poise_function){POISE_FUNCTION_LINES, 3, x, y}, room);
    ck_assert_double_eq(pz_function_at(&lines, -2).f, 5);
    ck_assert_double_eq(pz_function_at(&lines, -0.5).f, 2);
    ck_assert_double_eq(pz_function_at(&lines, 1).f, 1.5);
    ck_assert_double_eq(pz_function_at(&lines, 4).f, 3);
    ck_assert_double_eq(pz_function_at(&lines, 4).d1, 0.5);
    pz_function cubic_function = packed(&(poise_function){POISE_FUNCTION_POLYNOMIAL, 4, NULL, c}, room);
    pz_jet2 at = pz_function_at(&cubic_function, 2);
    ck_assert(at.f == 6 && at.d1 == 12.5 && at.d2 == 18);
}

#define REFUSES(name, words, ...)                                                                                           \
    TEST(name)                                                                                                              \
    {                                                                                                                       \
        poise_joint joint = joint_of("knee", NULL, POISE_JOINT_CURVE);                                                      \
        poise_curve curve = random_curves[0];                                                                               \
        poise_error error = {0};                                                                                            \
        joint.curve = &curve;                                                                                               \
        __VA_ARGS__;                                                                                                        \
        ck_assert_int_eq(poise_builder_add_joint(new_builder(), &joint, &error), POISE_ERROR_MODEL);                        \
        ck_assert_msg(strstr(error.text, words), "%s", error.text);                                                         \
    }

static const poise_function backwards = {POISE_FUNCTION_SPLINE, 2, (const double[]){1, 1}, (const double[]){0, 1}};
static const poise_function lonely = {POISE_FUNCTION_LINES, 1, (const double[]){1}, (const double[]){0}};

REFUSES(a_curve_joint_without_a_curve_is_refused, "give it a curve", joint.curve = NULL)
REFUSES(a_curve_on_another_joint_is_refused, "only curve joints", joint.type = POISE_JOINT_REVOLUTE)
REFUSES(points_that_do_not_grow_are_refused, "x must increase", curve.value[1] = backwards)
REFUSES(a_single_point_is_refused, "two points", curve.value[1] = lonely)
REFUSES(an_axis_of_no_length_is_refused, "is zero", curve.axis[0] = v3(0, 0, 0))
REFUSES(a_function_without_a_leader_is_refused, "without a joint", joint.mimic_function = &curve.value[0])
REFUSES(limits_of_a_follower_by_function_are_refused, "cannot have limits",
        (joint.mimic = "a", joint.mimic_function = &curve.value[0], joint.lower[0] = -1))
REFUSES(a_multiplier_beside_a_function_is_refused, "not both",
        (joint.mimic = "a", joint.mimic_function = &curve.value[0], joint.mimic_multiplier = 2))

// A coordinate that slides by itself is a length, one that turns by itself an angle, whatever else it moves.
TEST(the_unit_of_a_curve_is_that_of_what_it_moves_by_itself)
{
    static double itself[] = {1, 0}, twice[] = {2, 0};
    static const struct {
        int plain;
        poise_unit unit;
    } rows[] = {
        {0, POISE_UNIT_ANGLE}, {2, POISE_UNIT_ANGLE}, {3, POISE_UNIT_LENGTH}, {5, POISE_UNIT_LENGTH}, {6, POISE_UNIT_NONE}};
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_curve curve = {0};
        for (int k = 0; k < 6; ++k) {
            curve.value[k] =
                (poise_function){.kind = POISE_FUNCTION_POLYNOMIAL, .count = 2, .y = k == rows[i].plain ? itself : twice};
        }
        poise_joint joint = poise_joint_default();
        joint.type = POISE_JOINT_CURVE;
        joint.curve = &curve;
        ck_assert_int_eq(poise_joint_coordinate(&joint, 0).unit, rows[i].unit);
    }
}
