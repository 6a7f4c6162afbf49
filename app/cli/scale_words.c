// Units and axes in words.
#include "scale_words.h"

#include <stdio.h>

const char *up_name(poise_up up)
{
    static const char *const names[] = {NULL, "x", "y", "z"};
    return names[up];
}

const char *unit_name(double metres, char text[32])
{
    static const struct {
        double metres;
        const char *name;
    } units[] = {{1, "metres"},          {0.1, "decimetres"}, {0.01, "centimetres"},
                 {0.001, "millimetres"}, {0.0254, "inches"},  {0.3048, "feet"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        if (units[i].metres == metres) {
            return units[i].name;
        }
    }
    snprintf(text, 32, "units of %.4g m", metres);
    return text;
}

bool is_no_person(const poise_figure *figure, double metres)
{
    double tall = figure->height * metres;
    return figure->is_named && figure->metres > 0 && figure->metres != metres && (tall > 8 || tall < 0.2);
}
