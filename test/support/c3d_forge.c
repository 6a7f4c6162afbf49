#include "c3d_forge.h"

#include <string.h>

void forge_16(forge *f, size_t at, unsigned value)
{
    f->bytes[at] = (unsigned char)(f->order == PZ_C3D_MIPS ? value >> 8 : value & 0xff);
    f->bytes[at + 1] = (unsigned char)(f->order == PZ_C3D_MIPS ? value & 0xff : value >> 8);
}

static void forge_single(forge *f, size_t at, float value)
{
    if (f->order == PZ_C3D_DEC) {
        value *= 4.0f; // VAX F counts its exponent from 129
    }
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    unsigned char b[4] = {(unsigned char)bits, (unsigned char)(bits >> 8), (unsigned char)(bits >> 16),
                          (unsigned char)(bits >> 24)};
    static const int place[3][4] = {{0, 1, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    for (int i = 0; i < 4; ++i) {
        f->bytes[at + (size_t)i] = b[place[f->order - PZ_C3D_INTEL][i]];
    }
}

static void forge_record(forge *f, int id, bool is_locked, const char *name, int type, int dimensions,
                         const unsigned char *dimension, const void *values, size_t size, const char *description)
{
    size_t length = strlen(name), said = strlen(description);
    f->bytes[f->size] = (unsigned char)(is_locked ? -(int)length : (int)length);
    f->bytes[f->size + 1] = (unsigned char)id;
    memcpy(f->bytes + f->size + 2, name, length);
    size_t way = f->size + 2 + length;
    f->size = way + 2;
    if (id > 0) {
        f->bytes[f->size++] = (unsigned char)type;
        f->bytes[f->size++] = (unsigned char)dimensions;
        for (int i = 0; i < dimensions; ++i) {
            f->bytes[f->size++] = dimension[i];
        }
        memcpy(f->bytes + f->size, values, size);
        f->size += size;
    }
    f->bytes[f->size++] = (unsigned char)said;
    memcpy(f->bytes + f->size, description, said);
    f->size += said;
    forge_16(f, way, (unsigned)(f->size - way));
}

recipe forge_recipe(void)
{
    return (recipe){.order = PZ_C3D_INTEL, .is_float = true, .parameter_block = 2, .unit = "mm", .labels = 3, .last = 8};
}

float forge_coordinate(int frame, int point, int axis)
{
    return (float)(frame * 100 + point * 10 + axis) - 37.0f;
}

static void forge_data(forge *f, const recipe *r)
{
    size_t word = r->is_float ? 4 : 2;
    for (int frame = 0; frame < 4; ++frame) {
        for (int point = 0; point < 3; ++point) {
            for (int axis = 0; axis < 4; ++axis, f->size += word) {
                bool is_gap = frame == 1 && point == 2;
                float value = axis < 3 ? forge_coordinate(frame, point, axis) : is_gap ? -1.0f : (float)(0x500 + point);
                if (r->is_float) {
                    forge_single(f, f->size, value);
                } else {
                    forge_16(f, f->size, (unsigned)(int)(axis < 3 ? 2 * value : value) & 0xffff); // scale one half
                }
            }
        }
        for (int i = 0; i < r->channels * r->samples; ++i, f->size += word) {
            if (r->is_float) {
                forge_single(f, f->size, 1e6f);
            } else {
                forge_16(f, f->size, 12345);
            }
        }
    }
}

static void forge_labels(forge *f, int labels)
{
    static const unsigned char dimension[] = {6, 3}, one[] = {6, 1}, four[] = {6, 4};
    if (labels == 2) {
        forge_record(f, 7, false, "LABELS2", -1, 2, one, "s:two ", 6, "");
        forge_record(f, 7, false, "LABELS", -1, 2, one, "s:one ", 6, "labels");
    } else if (labels > 0) {
        forge_record(f, 7, true, "LABELS", -1, 2, labels == 3 ? dimension : four, "s:one s:two three\0extra ",
                     (size_t)(6 * labels), "labels");
    }
}

forge forge_file(recipe r)
{
    forge f = {.order = r.order};
    size_t start = (size_t)(r.parameter_block - 1) * PZ_C3D_BLOCK;
    unsigned char bytes[4];
    f.size = start + 4;
    f.bytes[start + 3] = (unsigned char)r.order;
    // parameters before their group, ids that are not in order, names in small letters
    if (r.unit) {
        unsigned char length = (unsigned char)strlen(r.unit);
        forge_record(&f, 7, true, "units", -1, 1, &length, r.unit, length, "");
    }
    forge_record(&f, -7, true, "POINT", 0, 0, NULL, NULL, 0, "three-dimensional points");
    forge_labels(&f, r.labels);
    if (r.screen) {
        unsigned char two = 2;
        forge_record(&f, 7, false, "Y_SCREEN", -1, 1, &two, r.screen, 2, "");
    }
    if (r.trial_last > 0) {
        unsigned char two = 2;
        forge t = {.order = r.order};
        forge_record(&f, -12, false, "TRIAL", 0, 0, NULL, NULL, 0, "");
        forge_16(&t, 0, r.trial_first & 0xffff), forge_16(&t, 2, r.trial_first >> 16);
        forge_record(&f, 12, false, "ACTUAL_START_FIELD", 2, 1, &two, t.bytes, 4, "");
        forge_16(&t, 0, r.trial_last & 0xffff), forge_16(&t, 2, r.trial_last >> 16);
        forge_record(&f, 12, false, "ACTUAL_END_FIELD", 2, 1, &two, t.bytes, 4, "");
    }
    if (r.long_frames > 0) {
        forge t = {.order = r.order};
        forge_single(&t, 0, r.long_frames);
        memcpy(bytes, t.bytes, 4);
        forge_record(&f, 7, false, "LONG_FRAMES", 4, 0, NULL, bytes, 4, "");
    }
    f.size = (f.size / PZ_C3D_BLOCK + 1) * PZ_C3D_BLOCK;
    unsigned data_block = (unsigned)(f.size / PZ_C3D_BLOCK) + 1;
    f.bytes[start + 2] = (unsigned char)(data_block - (unsigned)r.parameter_block);
    f.bytes[0] = (unsigned char)r.parameter_block;
    f.bytes[1] = 0x50;
    forge_16(&f, 2, 3);
    forge_16(&f, 4, (unsigned)(r.channels * r.samples));
    forge_16(&f, 6, 5);
    forge_16(&f, 8, r.last);
    forge_single(&f, 12, r.is_float ? -0.5f : 0.5f);
    forge_16(&f, 16, data_block);
    forge_16(&f, 18, (unsigned)r.samples);
    forge_single(&f, 20, 120.0f);
    forge_data(&f, &r);
    return f;
}
