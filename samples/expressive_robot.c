// The pipeline of Ribeiro & Paiva 2019 (Fig. 1): an animation, ERIK, the motion filter, motors.
//
//   animation   poses at 30 frames a second, here made by a sine; an animator's file comes from poise_read
//   ERIK        holds the pose of the moment while the end looks at a person who walks by; 50 solves a second, each from the
//               solution before
//   filter      joints within limits of velocity, acceleration and jerk; 500 steps a second
//   motors      numbers of a servo: 512 is straight, 195 steps for a radian, every second motor the other way round
//
// The two rates are not tied to each other: where a solve comes late the filter goes on. Prints what a few ticks send, and
// exits with 0 when no limit was broken and the end looked where it should.
#include <poise/poise.h>
#include <scenes/scenes.h> // built-in robots of this repository, not installed; your own comes from a file (poise/io.h)

#include <math.h>
#include <stdio.h>

enum { JOINTS = 5, RATE = 500, SOLVE_EVERY = 10, SECONDS = 6 };

// Skeleton C bows and straightens.
static void animate(double t, double *posture)
{
    double bow = 0.5 + 0.3 * sin(2.0 * t);
    const double pose[JOINTS] = {0, bow, 0.6 * bow, 0.1 * sin(t), 0};
    for (int i = 0; i < JOINTS; ++i) {
        posture[i] = pose[i];
    }
}

// Where the end, which points along y, should look: at somebody who walks from one side to the other.
static poise_quat look(double t)
{
    poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(0, 1, 0), -1.0 + 2.0 * t / SECONDS);
    return poise_quat_multiply(turn, poise_quat_from_axis_angle(poise_vec3_make(1, 0, 0), 1.3));
}

static int motor_steps(int joint, double angle)
{
    return (int)lround(512 + (joint % 2 ? -195 : 195) * angle);
}

static int run(poise_erik *erik, poise_filter *filter, double velocity)
{
    double posture[JOINTS], answer[JOINTS] = {0}, q[JOINTS] = {0}, last[JOINTS] = {0}, fastest = 0;
    int solves = 0, reached = 0;
    for (int tick = 0; tick < RATE * SECONDS; ++tick) {
        double t = (double)tick / RATE;
        if (tick % SOLVE_EVERY == 0) {
            poise_erik_report report;
            animate(t, posture);
            if (poise_erik_solve(erik, posture, look(t), answer, &report, NULL) != POISE_OK) {
                return 1;
            }
            solves += 1;
            reached += report.outcome == POISE_OUTCOME_REACHED;
        }
        poise_filter_step(filter, answer, 1.0 / RATE, q, NULL);
        for (int i = 0; i < JOINTS; ++i) {
            fastest = fmax(fastest, fabs(q[i] - last[i]) * RATE);
            last[i] = q[i];
        }
        if (tick % RATE == 0) {
            printf("%3.0f s  motors", t);
            for (int i = 0; i < JOINTS; ++i) {
                printf(" %4d", motor_steps(i, q[i]));
            }
            printf("\n");
        }
    }
    printf("%d solves, %d within the threshold; fastest joint %.2f rad/s of %.2f\n", solves, reached, fastest, velocity);
    return reached == solves && fastest <= velocity * (1 + 1e-9) ? 0 : 1;
}

int main(void)
{
    poise_model *model = NULL;
    poise_erik *erik = NULL;
    poise_filter *filter = NULL;
    poise_filter_joint joints[JOINTS];
    poise_erik_options options = poise_erik_options_default();
    options.warm = true; // from the previous solution
    for (int i = 0; i < JOINTS; ++i) {
        joints[i] = poise_filter_joint_default();
        joints[i].smoothness = 0.2; // a calm character
    }
    int status = 1;
    if (scene_create("erik-c", NULL, &model, NULL) == POISE_OK &&
        poise_erik_create(model, &options, NULL, &erik, NULL) == POISE_OK &&
        poise_filter_create(model, joints, poise_model_info(model).joints, NULL, &filter, NULL) == POISE_OK) {
        status = run(erik, filter, joints[0].velocity);
    }
    poise_filter_destroy(filter);
    poise_erik_destroy(erik);
    poise_model_destroy(model);
    return status;
}
