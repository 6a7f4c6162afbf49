// Motions for the suite "files": BVH and AMC of some minutes of a whole body, with numbers as recordings have them.
#include "files_task.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 12000000 // or fewer in a quick run
#define BONES 30

typedef struct text {
    char *bytes;
    size_t size;
} text;

static size_t size_of(const bench *b)
{
    return b->is_quick ? BYTES / 40 : BYTES;
}

static text new_text(void)
{
    text t = {malloc(BYTES + 100000), 0};
    if (!t.bytes) {
        abort();
    }
    return t;
}

static void add(text *t, const char *format, int i, double x, double y, double z)
{
    t->size += (size_t)snprintf(t->bytes + t->size, 200, format, i, x, y, z);
}

// An angle in degrees that goes slowly.
static double angle(int frame, int bone, int axis)
{
    double s, c;
    poise_sincos(0.01 * frame + 1.7 * bone + 0.6 * axis, &s, &c);
    return 40.0 * s + 3.0 * c * axis;
}

static void add_bvh(const bench *b)
{
    text t = new_text();
    add(&t, "HIERARCHY\nROOT j%d\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n",
        0, 0, 0, 0);
    for (int i = 1; i <= BONES; ++i) {
        add(&t, "JOINT j%d\n{\nOFFSET %.4f %.4f %.4f\nCHANNELS 3 Zrotation Yrotation Xrotation\n", i, 0.1, 1.2345, 0.3);
    }
    for (int i = 0; i <= BONES; ++i) {
        add(&t, "}\n", 0, 0, 0, 0);
    }
    size_t head = t.size;
    add(&t, "MOTION\nFrames: %9d\nFrame Time: 0.0083333\n", 0, 0, 0, 0);
    int frames = 0;
    for (; t.size < size_of(b); ++frames) {
        for (int i = 0; i <= BONES + 1; ++i) {
            t.size += (size_t)snprintf(t.bytes + t.size, 100, "%.4f %.4f %.4f ", angle(frames, i, 2), angle(frames, i, 1),
                                       angle(frames, i, 0));
        }
        t.bytes[t.size++] = '\n';
    }
    char count[32];
    snprintf(count, sizeof count, "MOTION\nFrames: %9d", frames);
    memcpy(t.bytes + head, count, strlen(count));
    files_row(b, "BVH, 4 decimals", POISE_FORMAT_BVH, NULL, t.bytes, t.size);
    free(t.bytes);
}

static poise_file *make_skeleton(void)
{
    text t = new_text();
    add(&t, ":units\nlength 0.45\nangle deg\n:root\norder TX TY TZ RX RY RZ\naxis XYZ\n:bonedata\n", 0, 0, 0, 0);
    for (int i = 1; i <= BONES; ++i) {
        add(&t, "begin\nname bone%d\ndirection 0 1 0\nlength 1\naxis 0 0 20 XYZ\ndof rx ry rz\nend\n", i, 0, 0, 0);
    }
    add(&t, ":hierarchy\n", 0, 0, 0, 0);
    for (int i = 1; i <= BONES; ++i) {
        add(&t, "root bone%d\n", i, 0, 0, 0);
    }
    poise_file *file = NULL;
    if (poise_read(t.bytes, t.size, NULL, NULL, &file, NULL) != POISE_OK) {
        abort();
    }
    free(t.bytes);
    return file;
}

static void add_amc(const bench *b)
{
    poise_file *skeleton = make_skeleton();
    text t = new_text();
    add(&t, ":FULLY-SPECIFIED\n:DEGREES\n", 0, 0, 0, 0);
    for (int frame = 0; t.size < size_of(b); ++frame) {
        add(&t, "%d\nroot %g %g %g 1 2 3\n", frame + 1, angle(frame, 0, 0), angle(frame, 0, 1), angle(frame, 0, 2));
        for (int i = 1; i <= BONES; ++i) {
            add(&t, "bone%d %g %g %g\n", i, angle(frame, i, 0), angle(frame, i, 1), angle(frame, i, 2));
        }
    }
    files_row(b, "AMC, 6 digits", POISE_FORMAT_AMC, skeleton->model, t.bytes, t.size);
    free(t.bytes);
    poise_file_destroy(skeleton);
}

void files_add_motions(const bench *b)
{
    add_bvh(b);
    add_amc(b);
}
