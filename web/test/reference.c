// Numbers of the native library, for the tests of the wasm build to hold theirs against, bit for bit.
// One line for each computation: its name, then its numbers as the bits of doubles, in hex.
#include "reference.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void put_name(const char *scene, const char *what)
{
    printf("\n%s/%s", scene, what);
}

void put(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    printf(" %016" PRIx64, bits);
}

void put_all(const double *x, int count)
{
    for (int i = 0; i < count; ++i) {
        put(x[i]);
    }
}

void put_pose(poise_pose pose)
{
    put_all((const double[]){pose.position.x, pose.position.y, pose.position.z, pose.rotation.x, pose.rotation.y,
                             pose.rotation.z, pose.rotation.w},
            7);
}

// A configuration that is no special one, within the limits.
void pattern(const poise_model *model, int seed, double *q)
{
    poise_model_neutral(model, q);
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        q[i] += ((i * 7 + seed * 3) % 11 - 5) / 10.0;
    }
    poise_model_clamp(model, q, NULL, NULL);
}

static void put_kinematics(const char *scene)
{
    poise_model *model = NULL;
    poise_kinematics *kinematics = NULL;
    static double q[NUMBERS], matrix[6 * NUMBERS];
    if (scene_create(scene, NULL, &model, NULL) != POISE_OK ||
        poise_kinematics_create(model, NULL, &kinematics, NULL) != POISE_OK) {
        return;
    }
    int bodies = poise_model_info(model).joints, nv = poise_model_info(model).nv;
    pattern(model, 1, q);
    poise_kinematics_update(kinematics, q, NULL);
    put_name(scene, "poses");
    for (int body = 0; body < bodies; ++body) {
        put_pose(poise_kinematics_body_pose(kinematics, body));
    }
    put_name(scene, "jacobian");
    poise_kinematics_jacobian(kinematics, bodies - 1, poise_vec3_make(0.1, 0.2, 0.3), matrix, matrix + 3 * nv, NULL);
    put_all(matrix, 6 * nv);
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
}

int main(void)
{
    for (int scene = 0; scene < scene_count(); ++scene) {
        put_kinematics(scene_name(scene));
    }
    put_objectives();
    put_solves();
    put_tracking();
    put_expression();
    put_files();
    printf("\n");
    return 0;
}
