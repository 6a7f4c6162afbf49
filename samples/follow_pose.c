// A control loop: a seven-joint arm follows a pose that moves on a figure of eight, one step of poise_step a millisecond.
//
// The hand starts elsewhere: it goes to the path as fast as velocities and accelerations allow, joins it, and stays on it.
// Prints where it is every tenth of a second, and how long a step takes; exits with 0 when it ends on the path.
#include <poise/poise.h>
#include <scenes/scenes.h> // built-in robots of this repository, not installed; your own comes from a file (poise/io.h)

#include <math.h>
#include <stdio.h>
#include <time.h>

#define JOINTS 7
#define RATE   1000

static poise_pose target_at(double t)
{
    poise_vec3 place = {0.45 + 0.08 * sin(2.0 * t), 0.2 * sin(t), 0.5};
    return (poise_pose){poise_quat_from_axis_angle(poise_vec3_make(0, 1, 0), 2.2 + 0.2 * sin(t)), place};
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    poise_model *arm;
    poise_solver *solver;
    poise_solver_options options = poise_solver_options_default();
    if (scene_create("arm7", NULL, &arm, NULL) || poise_solver_create(arm, &options, NULL, &solver, NULL)) {
        return 1;
    }
    double q[JOINTS] = {0.1, 0.4, 0.1, -1.2, 0.1, 0.9, 0.1}, v[JOINTS] = {0}, velocity[JOINTS], acceleration[JOINTS];
    for (int i = 0; i < JOINTS; ++i) {
        velocity[i] = 2.0;
        acceleration[i] = 15.0;
    }
    poise_step_options limits = poise_step_options_default();
    limits.velocity = velocity;
    limits.acceleration = acceleration;
    poise_report report = {.worst_length = 1};
    double longest = 0, sum = 0;
    int ticks = 3 * RATE;
    for (int n = 0; n <= ticks; ++n) {
        poise_goal goal = poise_goal_pose(0, poise_pose_identity(), target_at((double)n / RATE));
        poise_goal_at_tool(&goal, arm, "tip", NULL);
        double begin = seconds();
        poise_step(solver, &goal, 1, 1.0 / RATE, &limits, q, v, &report, NULL);
        double took = seconds() - begin;
        sum += took;
        longest = took > longest ? took : longest;
        // here the robot would be sent q, or v, and the loop would wait for the next millisecond
        if (n % (RATE / 10) == 0) {
            printf("%.1f s  %7.2f mm off, elbow %6.3f rad at %6.3f rad/s\n", (double)n / RATE, 1e3 * report.worst_length,
                   q[3], v[3]);
        }
    }
    printf("a step takes %.1f us, the longest %.0f us\n", 1e6 * sum / (ticks + 1), 1e6 * longest);
    poise_solver_destroy(solver);
    poise_model_destroy(arm);
    return report.worst_length < 1e-3 ? 0 : 1;
}
