// C3D: what a file says of itself, and its numbers.
//
// A file is made of blocks of 512 bytes, counted from 1: a header, a parameter section, data. Numbers are stored in one of
// three ways, which the fourth byte of the parameter section names:
//
//   Intel   integers and IEEE 754 singles, lowest byte first
//   DEC     integers lowest byte first; VAX F floating point, its two halves each lowest byte first, the high half first
//   MIPS    integers and IEEE 754 singles, highest byte first
//
// A frame holds four words for each point (x, y, z, and a word of residual and cameras, negative where the point was not
// seen) and then the analog samples. Words are 16-bit integers, or singles where the scale is negative (the C3D user guide,
// Motion Lab Systems).
#ifndef PZ_IO_C3D_H
#define PZ_IO_C3D_H

#include "base/cpu.h"
#include "io/io_core.h"

#include <string.h>

#define PZ_C3D_BLOCK 512

typedef enum pz_c3d_order { PZ_C3D_INTEL = 84, PZ_C3D_DEC, PZ_C3D_MIPS } pz_c3d_order;

// A group or a parameter, as it stands in the file.
typedef struct pz_c3d_record {
    int group;       // its number
    bool is_group;   //
    pz_word name;    //
    pz_word comment; // its description
    int type, dimensions;
    const unsigned char *dimension, *values; // of a parameter
    size_t count;                            // of values
} pz_c3d_record;

typedef struct pz_c3d {
    pz_c3d_order order;
    bool is_float;
    int points;
    int first_frame;
    int64_t frames;            // as the file says; the data may end before
    double rate;               // frames per second
    double scale;              // of integers, and of residuals; negative in files of singles
    int analog;                // words per frame
    int analog_samples;        // per channel and frame
    int parameter_block;       // where the parameters begin
    int data_block;            // where the data begins
    int group_count;           // groups of parameters
    int parameter_count;       // parameters
    int label_count;           // of POINT:LABELS, LABELS2, ...; may differ from points
    pz_word *label;            // label_count, without the blanks behind
    pz_word unit;              // of lengths
    double metres;             // per unit; 0: unknown
    poise_up up;               // by POINT:Y_SCREEN
    pz_c3d_record *records;    // all of them
    size_t record_count;       //
    const unsigned char *data; // of the first frame
    size_t stride;             // bytes per frame
} pz_c3d;

// What a file holds beside its points, ready to be written: groups in the order of the file, numbers in Intel's order.
typedef struct pz_c3d_rest {
    pz_c3d_record *records; // copies; parameters come after their group
    size_t record_count;
    int points;                // of the recording: what is said of each goes with them
    unsigned char events[214]; // of the header: bytes 298 to 511
    const float *rotation;     // 17 numbers for each segment, sample and frame; NULL: none
    int rotation_stride;       // numbers in a frame
    double factor;             // that lengths were multiplied by since
    int turns;                 // of the axes: x to y, y to z, z to x
} pz_c3d_rest;

// A name of a group and one of a parameter: does it have them?
const pz_c3d_record *pz_c3d_find(const pz_c3d_record *records, size_t count, const char *group, const char *name);

// Value i of a parameter as a number; 0 where it has none.
double pz_c3d_number(const pz_c3d_record *record, pz_c3d_order order, size_t i);

// Text i of a parameter, without the blanks behind; empty where it has none.
pz_word pz_c3d_text(const pz_c3d_record *record, size_t i);

// Bytes of a value of this type; 0: there is no such type.
int pz_c3d_value_size(int type);

// Read header and parameters. Labels live in the input's pool.
poise_status pz_c3d_describe(pz_input *input, pz_c3d *c3d);

PZ_INLINE uint32_t c3d_bits16(pz_c3d_order order, const unsigned char *b)
{
    return order == PZ_C3D_MIPS ? (uint32_t)b[0] << 8 | b[1] : (uint32_t)b[1] << 8 | b[0];
}

PZ_INLINE int c3d_integer(pz_c3d_order order, const unsigned char *b)
{
    return (int16_t)(uint16_t)c3d_bits16(order, b);
}

// The four bytes of a single, in the order of an IEEE 754 single: sign, exponent, fraction from the top.
PZ_INLINE uint32_t c3d_bits32(pz_c3d_order order, const unsigned char *b)
{
    if (order == PZ_C3D_INTEL) {
        return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    }
    if (order == PZ_C3D_MIPS) {
        return (uint32_t)b[3] | (uint32_t)b[2] << 8 | (uint32_t)b[1] << 16 | (uint32_t)b[0] << 24;
    }
    return (uint32_t)b[2] | (uint32_t)b[3] << 8 | (uint32_t)b[0] << 16 | (uint32_t)b[1] << 24;
}

// A single. VAX F: (-1)^s 0.1f 2^(e - 128) with the same fields as IEEE, e = 0 is 0 (with s = 1 it is not a number); a
// double of exponent e - 129 + 1023 and the same fraction holds it exactly.
PZ_INLINE double c3d_real(pz_c3d_order order, const unsigned char *b)
{
    uint32_t bits = c3d_bits32(order, b);
    if (order == PZ_C3D_DEC) {
        uint64_t sign = bits >> 31, exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
        uint64_t nan = (uint64_t)0x7ff8 << 48;
        uint64_t wide = exponent == 0 ? (sign ? nan : 0) : sign << 63 | (exponent + 894) << 52 | fraction << 29;
        double value;
        memcpy(&value, &wide, sizeof value);
        return value;
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

// Read a file (c3d_read.c).
poise_status pz_c3d_read(pz_input *input);

#endif
