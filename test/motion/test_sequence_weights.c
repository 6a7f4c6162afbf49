// How smooth a motion is, from the motion itself.
#include "motion/sequence.h"
#include "support/test_main.h"

#include <scenes/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 4096 };

static const double frame_time = 0.01;

// So many hinges about one axis in one place.
static poise_model *hinges(int count)
{
    poise_builder *b;
    poise_model *model;
    ck_assert_int_eq(poise_builder_create(NULL, &b, NULL), POISE_OK);
    for (int i = 0; i < count; ++i) {
        poise_joint joint = poise_joint_default();
        joint.name = i == 0 ? "first" : "second";
        joint.parent = i == 0 ? NULL : "first";
        joint.type = POISE_JOINT_REVOLUTE;
        ck_assert_int_eq(poise_builder_add_joint(b, &joint, NULL), POISE_OK);
    }
    ck_assert_int_eq(poise_model_create(b, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(b);
    return model;
}

// The acceleration that is estimated of the first hinge in a clip in which each moves as given, solved with the weight W. A
// frame has this information (packed: 00, then 10 and 11).
static double estimate(int count, const double *motion, const double *information, double W)
{
    poise_model *model = hinges(count);
    poise_clip *clip;
    poise_sequence_options options = poise_sequence_options_default();
    pz_sequence s;
    ck_assert_int_eq(poise_clip_create(FRAMES, count, frame_time, NULL, &clip, NULL), POISE_OK);
    ck_assert_int_eq(pz_sequence_create(model, &options, clip, NULL, &s, NULL), POISE_OK);
    for (int k = 0; k < FRAMES * count; ++k) {
        s.q[k] = motion[k / count];
    }
    s.informed = FRAMES;
    for (int e = 0; e < s.entries; ++e) {
        s.information[e] = FRAMES * information[e];
    }
    for (int i = 0; i < s.nv; ++i) {
        s.weight[i] = W;
        s.acceleration[i] = NAN;
    }
    pz_sequence_estimate(&s, 0.0);
    double found = s.acceleration[0];
    pz_sequence_finish(&s, NULL);
    poise_clip_destroy(clip);
    poise_model_destroy(model);
    return found;
}

// The minimum of h |x - y|^2 + W |second differences of x|^2, by elimination in a band of two on either side.
static void smooth(const double *y, double h, double W, double *x)
{
    static double A[FRAMES][3]; // the diagonal and what is to the right of it
    memset(A, 0, sizeof A);
    for (int t = 0; t < FRAMES; ++t) {
        A[t][0] = h;
        x[t] = h * y[t];
    }
    for (int t = 0; t + 2 < FRAMES; ++t) {
        const double d[] = {1, -2, 1};
        for (int i = 0; i < 3; ++i) {
            for (int j = i; j < 3; ++j) {
                A[t + i][j - i] += W * d[i] * d[j];
            }
        }
    }
    for (int t = 0; t < FRAMES; ++t) {
        for (int i = 1; i < 3 && t + i < FRAMES; ++i) {
            double ratio = A[t][i] / A[t][0];
            x[t + i] -= ratio * x[t];
            for (int j = i; j < 3; ++j) {
                A[t + i][j - i] -= ratio * A[t][j];
            }
        }
    }
    for (int t = FRAMES - 1; t >= 0; --t) {
        for (int i = 1; i < 3 && t + i < FRAMES; ++i) {
            x[t] -= A[t][i] * x[t + i];
        }
        x[t] /= A[t][0];
    }
}

// A motion of this acceleration (deviation, per second squared) that was seen with this noise, and solved with the weight
// that both have.
static double *seen_motion(double acceleration, double noise, double h, double *W)
{
    double *y = calloc(FRAMES, sizeof *y), *x = calloc(FRAMES, sizeof *x), place = 0.0, way = 0.0;
    scene_random random = scene_random_make(1);
    double step = acceleration * frame_time * frame_time;
    for (int t = 0; t < FRAMES; ++t) {
        way += step * scene_random_normal(&random);
        place += way;
        y[t] = place + noise / sqrt(h) * scene_random_normal(&random);
    }
    *W = noise / step * (noise / step);
    smooth(y, h, *W, x);
    free(y);
    return x;
}

// However noisy it was seen: the smoother a solve had to make a motion, the more is added to what is left of it.
TEST(an_estimate_finds_the_acceleration_that_a_motion_has)
{
    static const double noises[] = {0.0003, 0.003, 0.03}, informations[] = {1.0, 30.0};
    const double acceleration = 20.0;
    for (size_t k = 0; k < TEST_COUNT(noises) * TEST_COUNT(informations); ++k) {
        double W, h = informations[k % 2], noise = noises[k / 2];
        double *x = seen_motion(acceleration, noise, h, &W), found = estimate(1, x, &h, W);
        ck_assert_msg(fabs(found - acceleration) < 0.05 * acceleration, "noise %g, information %g: %g", noise, h, found);
        free(x);
    }
}

// What hangs on a joint moves freely: of what is seen, only what it cannot explain informs about the joint.
TEST(a_joint_is_informed_by_what_those_below_cannot_explain)
{
    static const double alone[] = {0.5}, with_another[] = {1.5, 2.0, 4.0};
    double W, *x = seen_motion(20.0, 0.01, 1.0, &W);
    double found = estimate(1, x, alone, W), other = estimate(2, x, with_another, W);
    ck_assert_double_gt(found, 0);
    ck_assert_double_eq_tol(other, found, 1e-9 * found);
    free(x);
}

TEST(noise_is_finite_and_not_negative)
{
    static const struct {
        double noise;
        poise_status status;
    } rows[] = {{0.0, POISE_OK},
                {1.0, POISE_OK},
                {-1.0, POISE_ERROR_ARGUMENT},
                {INFINITY, POISE_ERROR_ARGUMENT},
                {NAN, POISE_ERROR_ARGUMENT}};
    poise_model *model = hinges(1);
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_sequence_options options = poise_sequence_options_default();
        options.noise = rows[i].noise;
        ck_assert_int_eq(pz_sequence_check(model, &options, NULL), rows[i].status);
    }
    poise_model_destroy(model);
}
