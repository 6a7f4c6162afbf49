// A user's program: prints the version and turns a vector. Fails when the answer is wrong.
#include <math.h>
#include <poise/poise.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts(poise_version());
        return 0;
    }

    // a quarter turn about z takes x to y
    poise_quat turn = poise_quat_from_axis_angle(poise_vec3_make(0, 0, 1), acos(0.0));
    poise_vec3 v = poise_quat_rotate(turn, poise_vec3_make(1, 0, 0));
    double error = fabs(v.x) + fabs(v.y - 1) + fabs(v.z);
    printf("Poise %s: quarter turn off by %g\n", poise_version(), error);
    return error < 1e-15 ? 0 : 1; // a few roundings of numbers below 1
}
