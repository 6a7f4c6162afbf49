// Methods of a solver by the names that users give.
#include "method_names.h"

#include "terminal.h"

#include <stdio.h>
#include <string.h>

bool method_by_name(const char *name, poise_method *method)
{
    char names[512] = "";
    for (int i = 0; i < POISE_METHOD_COUNT; ++i) {
        const char *own = poise_method_name((poise_method)i);
        if (strcmp(own, name) == 0 || (i == POISE_METHOD_NEWTON && strcmp(name, "newton_projected") == 0)) {
            *method = (poise_method)i;
            return true;
        }
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? " " : "", own);
    }
    complain("no method is called \"%s\"; there are %s", name, names);
    return false;
}
