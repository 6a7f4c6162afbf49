// Methods of a solver by the names that users give.
#include "words.h"
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

// ---- Units and axes in words ---------------------------------------------------------------------------------------------

const char *up_name(poise_up up)
{
    static const char *const names[] = {NULL, "x", "y", "z"};
    return names[up];
}

poise_up up_by_name(const char *name)
{
    char axis = name ? name[0] : '\0';
    return axis == 'x' ? POISE_UP_X : axis == 'y' ? POISE_UP_Y : axis == 'z' ? POISE_UP_Z : POISE_UP_UNKNOWN;
}

const char *unit_name(double metres, char text[32])
{
    const char *name = poise_unit_name(metres);
    if (!name) {
        snprintf(text, 32, "units of %.4g m", metres);
    }
    return name ? name : text;
}

bool is_no_person(const poise_figure *figure, double metres)
{
    double tall = figure->height * metres;
    return figure->is_named && figure->metres > 0 && figure->metres != metres && (tall > 8 || tall < 0.2);
}
