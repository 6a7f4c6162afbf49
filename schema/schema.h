// What schema.c, which is made from the public headers, tells of the types: their defaults and the names of their values.
#ifndef PZ_SCHEMA_SCHEMA_H
#define PZ_SCHEMA_SCHEMA_H

#include <poise/base.h>

// A value of an enum.
typedef struct pz_value {
    int value;
    const char *name;
} pz_value;

// A struct with a default, or an enum with names.
typedef struct pz_type {
    const void *given; // the default; NULL: an enum
    size_t size;
    const pz_value *values; // in the order of the header, from the least
    int count;
} pz_type;

extern const pz_type pz_types[POISE_TYPE_COUNT];

#endif
