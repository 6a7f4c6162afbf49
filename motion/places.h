// The table of marker places (places.c), looked up by label.
#ifndef PZ_MOTION_PLACES_H
#define PZ_MOTION_PLACES_H

#include "motion/anatomy.h"

#include <poise/motion.h>

// What a row says of a marker.
typedef struct pz_marker_row {
    pz_part part;
    pz_side side;         // of the label
    double from;          // 0 at the part's origin, 1 at its end
    double offset[3];     // along, forward, outward; thousandths of the stature
    double along, across; // deviations, likewise
} pz_marker_row;

// A table before the built-in one, for one skeleton and recording.
typedef struct pz_marker_table {
    const char *own; // NULL: none
    const poise_model *model;
    const poise_markers *markers;
} pz_marker_table;

// The row of a label; false when no row that holds here names it.
bool pz_marker_table_find(const pz_marker_table *table, const char *label, pz_marker_row *row);

// Is one of these labels the other's on the other side of the body?
bool pz_labels_mirror(const char *a, const char *b);

// Is it no marker, but something that Plug-in Gait computes? One of four labels LFEO, LFEA, LFEL, LFEP, the frame of a
// segment, or angles, forces, moments, powers.
bool pz_label_is_computed(const poise_markers *markers, const char *label);

// Do markers of these two labels keep their distance, by a line "stiff" of the table?
bool pz_marker_table_stiff(const pz_marker_table *table, const char *a, const char *b);

#endif
