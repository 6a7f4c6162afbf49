// poise_init and poise_name, over the tables of schema.c.
#include "schema/schema.h"

#include <string.h>

void poise_init(poise_type type, void *object, size_t size)
{
    const pz_type *t = (unsigned)type < POISE_TYPE_COUNT ? &pz_types[type] : NULL;
    size_t known = t && t->given ? t->size : 0, taken = known < size ? known : size;
    if (taken > 0) {
        memcpy(object, t->given, taken);
    }
    memset((char *)object + taken, 0, size - taken);
}

const char *poise_name(poise_type type, int value)
{
    const pz_type *t = (unsigned)type < POISE_TYPE_COUNT ? &pz_types[type] : NULL;
    int count = t ? t->count : 0;
    if (value >= 0 && value < count && t->values[value].value == value) {
        return t->values[value].name;
    }
    for (int i = 0; i < count; ++i) {
        if (t->values[i].value == value) {
            return t->values[i].name;
        }
    }
    return "unknown";
}
