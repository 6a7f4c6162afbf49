#include "io/text/length_units.h"

typedef struct unit {
    const char *name; // the short one
    const char *stem; // what the long name begins with, in every spelling; files cut it after as few as four letters
    double metres;
} unit;

static const unit units[] = {
    {"mm", "mil", 0.001}, {"m", "met", 1.0},    {"cm", "cen", 0.01},     {"in", "inc", 0.0254}, {"ft", "fe", 0.3048},
    {"dm", "dec", 0.1},   {"km", "kil", 1000.}, {"um", "mic", 0.000001}, {"ft", "foo", 0.3048}, {"yd", "yar", 0.9144},
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

double pz_unit_metres(pz_word name)
{
    for (size_t i = 0; i < UNIT_COUNT; ++i) {
        pz_word start = {name.text, 0};
        while (start.length < name.length && units[i].stem[start.length] != '\0') {
            ++start.length;
        }
        if (pz_word_is_like(name, units[i].name) || pz_word_is_like(start, units[i].stem)) {
            return units[i].metres;
        }
    }
    return 0.0;
}

const char *pz_unit_name(double metres)
{
    for (size_t i = 0; i < UNIT_COUNT; ++i) {
        if (units[i].metres == metres) {
            return units[i].name;
        }
    }
    return NULL;
}
