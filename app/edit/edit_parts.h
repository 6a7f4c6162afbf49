// What the parts of poise edit share.
#ifndef APP_EDIT_PARTS_H
#define APP_EDIT_PARTS_H

#include "cli/command.h"

#include <poise/io.h>
#include <poise/poise.h>

enum { EDIT_FINDINGS = 64 };

typedef struct edit_job {
    const char *input;
    poise_file *file;              // with the model and the clip that is edited
    poise_file *skeleton;          // NULL: where the model came from
    poise_clip *before;            // as it was when pins and feet began: what the picture shows
    double metres;                 // of a unit of length; 0: not known
    poise_mirror_report mirror;    // --mirror
    poise_clip_travel travel;      // --loop: from one repetition to the next
    poise_feet_report feet_before; // --clean-feet: as they were,
    poise_feet_report feet_after;  // and as they are
    int foot_pins;                 // contacts that are pinned; the last of the results
    poise_pin_list *pins;          // NULL: none
    poise_pin_result *results;     // of each
    poise_pin_report report;       // of all
    poise_thresholds thresholds;   // --threshold
    poise_verdict verdict;         // on pins and feet; there are none without results
    poise_finding findings[EDIT_FINDINGS];
    bool sees_overlaps; // the skeleton has shapes
} edit_job;

// Print what was done, and the files that were written; NULL: none. False when standard output is broken.
bool edit_print_text(const edit_job *job, const char *const files[], int count);
bool edit_print_json(const edit_job *job, const char *output);

// Did the mirror miss: a body by its rotation, or by its place?
bool edit_mirror_is_off(const edit_job *job);

// The axis that points up: by the file, by the figure in the clip, or by the neutral pose.
poise_up edit_up(const edit_job *job);

// Draw the path of the bodies that were edited, before and after.
bool edit_save_picture(const edit_job *job, const char *name);

// A page that plays both, with the pins over time.
bool edit_save_page(const edit_job *job, const char *name, const arguments *args);

#endif
