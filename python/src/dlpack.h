// DLPack, the way array libraries hand memory to each other: the structs of its versions 0.8 and 1.0 (dmlc/dlpack).
#ifndef POISE_PYTHON_DLPACK_H
#define POISE_PYTHON_DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };            // kinds of devices
enum { DL_INTEGER = 0, DL_UNSIGNED = 1, DL_FLOAT = 2, DL_COMPLEX = 5, DL_BOOL = 6 }; // kinds of numbers

#define DL_READ_ONLY UINT64_C(1)

typedef struct dl_device {
    int32_t kind, number;
} dl_device;

typedef struct dl_type {
    uint8_t kind, bits;
    uint16_t lanes;
} dl_type;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t axes;
    dl_type type;
    int64_t *shape, *strides; // in numbers; strides NULL: C order
    uint64_t byte_offset;
} dl_tensor;

// In a capsule called "dltensor"; who takes it renames the capsule and calls `destroy` when done.
typedef struct dl_managed {
    dl_tensor tensor;
    void *owner;
    void (*destroy)(struct dl_managed *self);
} dl_managed;

// Since version 1.0: in a capsule called "dltensor_versioned".
typedef struct dl_versioned {
    uint32_t major, minor;
    void *owner;
    void (*destroy)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

#endif
