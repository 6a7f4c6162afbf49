// Names of units of length.
#ifndef PZ_IO_LENGTH_UNITS_H
#define PZ_IO_LENGTH_UNITS_H

#include "io/io_core.h"

// Metres per unit of that name ("mm", "Inches", "mete"), in any case; 0: no such unit.
double pz_unit_metres(pz_word name);

// The short name of a unit of so many metres, or NULL.
const char *pz_unit_name(double metres);

#endif
