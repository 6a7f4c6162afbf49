// Names of bodies and markers as people read them.
#ifndef PZ_MOTION_PLAIN_NAME_H
#define PZ_MOTION_PLAIN_NAME_H

#include "base/text.h"

#include <stddef.h>
#include <string.h>

#define PZ_NAME_LONGEST 64 // characters of a name that are looked at

typedef struct pz_plain_name {
    char text[PZ_NAME_LONGEST];
    size_t length;
} pz_plain_name;

// Letters and digits in lower case, without the subject before a colon: "mixamorig:Left_Arm" is "leftarm".
static inline pz_plain_name pz_plain_name_of(const char *text)
{
    const char *colon = strrchr(text, ':');
    pz_plain_name n = {.length = 0};
    for (const char *c = colon ? colon + 1 : text; *c && n.length + 1 < PZ_NAME_LONGEST; ++c) {
        char lower = to_lower(*c);
        if (is_lower(lower) || is_digit(lower)) {
            n.text[n.length++] = lower;
        }
    }
    return n;
}

#endif
