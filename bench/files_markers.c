// Marker files for the suite "files": C3D in every order and kind of number, TRC.
#include "files_task.h"

#include <stdlib.h>
#include <string.h>

#define POINTS 41
#define BLOCK  512

static poise_markers *dancing_points(int frames)
{
    poise_markers *markers = NULL;
    if (poise_markers_create(frames, POINTS, 120.0, NULL, NULL, &markers, NULL) != POISE_OK) {
        abort();
    }
    markers->scale = (poise_scale){0.001, POISE_UP_Z};
    for (int f = 0; f < frames; ++f) {
        for (int i = 0; i < POINTS; ++i) {
            double s, c;
            poise_sincos(0.01 * f + i, &s, &c);
            if ((f + 37 * i) % 100 != 0) { // one in a hundred is not seen
                markers->position[f * POINTS + i] =
                    (poise_vec3){(double)(float)(900 * s), (double)(float)(900 * c), (double)(float)(40.0 * i)};
            }
        }
    }
    return markers;
}

static void store_16(unsigned char *to, unsigned value, bool is_mips)
{
    to[is_mips] = (unsigned char)(value & 0xff);
    to[!is_mips] = (unsigned char)(value >> 8 & 0xff);
}

// Intel, DEC, MIPS: 84, 85, 86
static void store_single(unsigned char *to, float value, int order)
{
    static const int place[3][4] = {{0, 1, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    uint32_t bits;
    value = order == 85 ? 4.0f * value : value;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; ++i) {
        to[place[order - 84][i]] = (unsigned char)(bits >> 8 * i);
    }
}

// Header, an empty parameter section, points.
static unsigned char *make_c3d(const poise_markers *m, int order, bool is_float, size_t *size)
{
    size_t word = is_float ? 4 : 2, points = (size_t)m->frames * (size_t)m->count;
    *size = 2 * BLOCK + 4 * word * points;
    unsigned char *bytes = calloc(*size, 1);
    if (!bytes) {
        abort();
    }
    bytes[0] = 2, bytes[1] = 0x50;
    bytes[BLOCK + 2] = 1, bytes[BLOCK + 3] = (unsigned char)order;
    store_16(bytes + 2, (unsigned)m->count, order == 86);
    store_16(bytes + 6, 1, order == 86);
    store_16(bytes + 8, (unsigned)m->frames, order == 86);
    store_single(bytes + 12, is_float ? -0.1f : 0.1f, order);
    store_16(bytes + 16, 3, order == 86);
    store_single(bytes + 20, (float)m->rate, order);
    unsigned char *at = bytes + 2 * BLOCK;
    for (size_t i = 0; i < points; ++i) {
        poise_vec3 p = m->position[i];
        bool is_seen = p.x == p.x;
        double word_of[4] = {is_seen ? p.x : 0, is_seen ? p.y : 0, is_seen ? p.z : 0, is_seen ? 3 : -1};
        for (int k = 0; k < 4; ++k, at += word) {
            if (is_float) {
                store_single(at, (float)word_of[k], order);
            } else {
                store_16(at, (unsigned)(int)word_of[k] & 0xffff, order == 86);
            }
        }
    }
    return bytes;
}

void files_add_markers(const bench *b)
{
    poise_markers *markers = dancing_points(b->is_quick ? 200 : 10000);
    static const char *const names[3] = {"Intel", "DEC", "MIPS"};
    for (int kind = 0; kind < 6; ++kind) {
        char what[32];
        size_t size;
        unsigned char *bytes = make_c3d(markers, 84 + kind % 3, kind < 3, &size);
        snprintf(what, sizeof what, "C3D %s %s", names[kind % 3], kind < 3 ? "float" : "integer");
        files_row(b, what, POISE_FORMAT_C3D, NULL, bytes, size);
        free(bytes);
    }
    void *text = NULL;
    size_t size = 0;
    poise_file file = {.markers = markers};
    if (poise_write(&file, POISE_FORMAT_TRC, NULL, &text, &size, NULL, NULL, NULL) != POISE_OK) {
        abort();
    }
    files_row(b, "TRC", POISE_FORMAT_TRC, NULL, text, size);
    poise_bytes_release(NULL, text);
    poise_markers_destroy(markers);
}
