// Numbers of the native library, for the tests of the wasm build to hold theirs against, bit for bit.
//
//   web_reference            one line for each computation: its name, then its numbers as the bits of doubles, in hex
//   web_reference FILE       reads each of the documents in FILE (a 32-bit length, low byte first, then its bytes) and says
//                            for each: status, line, column and text of the error, or a hash of what it holds as JSON
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
    for (int i = 0; i < poise_model_nq(model); ++i) {
        q[i] += ((i * 7 + seed * 3) % 11 - 5) / 10.0;
    }
    poise_model_clamp(model, q, NULL);
}

static void put_kinematics(const char *scene)
{
    poise_model *model = NULL;
    poise_kinematics *kinematics = NULL;
    static double q[NUMBERS], matrix[6 * NUMBERS];
    if (scene_create(scene, NULL, &model, NULL) != POISE_OK ||
        poise_kinematics_create(model, NULL, &kinematics) != POISE_OK) {
        return;
    }
    int bodies = poise_model_joint_count(model), nv = poise_model_nv(model);
    pattern(model, 1, q);
    poise_kinematics_update(kinematics, q);
    put_name(scene, "poses");
    for (int body = 0; body < bodies; ++body) {
        put_pose(poise_kinematics_body_pose(kinematics, body));
    }
    put_name(scene, "jacobian");
    poise_kinematics_frame_jacobian(kinematics, bodies - 1, poise_vec3_make(0.1, 0.2, 0.3), matrix);
    put_all(matrix, 6 * nv);
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
}

// A document of a file: what the reader makes of it.
static void put_document(const unsigned char *bytes, size_t size)
{
    poise_read_options options = poise_read_options_default();
    poise_file *file = NULL;
    poise_error error = {.status = POISE_OK};
    if (poise_read(bytes, size, &options, NULL, &file, &error) != POISE_OK) {
        printf("%s %d %d %s\n", poise_status_name(error.status), error.line, error.column, error.text);
        return;
    }
    void *text = NULL;
    size_t length = 0;
    uint64_t hash = UINT64_C(14695981039346656037);
    if (poise_write(file, POISE_FORMAT_JSON, NULL, &text, &length, NULL, NULL, NULL) == POISE_OK) {
        for (size_t i = 0; i < length; ++i) {
            hash = (hash ^ ((unsigned char *)text)[i]) * UINT64_C(1099511628211);
        }
    }
    printf("ok %s %d %016" PRIx64 "\n", poise_format_name(file->format), file->warning_count, hash);
    poise_bytes_release(NULL, text);
    poise_file_destroy(file);
}

static int put_documents(const char *name)
{
    static unsigned char bytes[1 << 20];
    FILE *in = fopen(name, "rb");
    if (!in) {
        return 1;
    }
    unsigned char length[4];
    while (fread(length, 1, 4, in) == 4) {
        size_t size = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16;
        if (size > sizeof bytes || fread(bytes, 1, size, in) != size) {
            fclose(in);
            return 1;
        }
        put_document(bytes, size);
    }
    fclose(in);
    return 0;
}

int main(int count, char **arguments)
{
    if (count > 1) {
        return put_documents(arguments[1]);
    }
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
