// Retargeting: what `poise retarget`, its print-out and its page share.
#ifndef APP_RETARGET_PARTS_H
#define APP_RETARGET_PARTS_H

#include "cli/command.h"
#include "cli/json.h"
#include "cli/load.h"

#include <poise/recordings.h>
#include <poise/retarget.h>

enum { RETARGET_FINDINGS = 64 };

#define RETARGET_ACTOR "scene:humanoid" // follows markers, where no other skeleton is named

// A motion and what it became.
typedef struct retarget_job {
    const char *motion_name, *model_name;
    const char *actor_name;
    poise_file *motion, *skeleton; // the skeleton of an AMC or MOT, or that follows markers; NULL: the motion's file has it
    poise_recording_result *tracked; // NULL: the source is no recording of markers
    poise_file *target;
    const poise_model *from;
    poise_clip *source; // frames wanted; the motion's own where all are
    bool owns_source;
    poise_retarget_task task;
    poise_role_map map;
    double *velocity; // nv; NULL: no limits
    double metres;    // the target's unit, as its file says or as its figure tells; 0: unknown
    // made
    poise_clip *clip;
    unsigned char *contacts; // by frame
    poise_retarget_outcome outcome;
    poise_thresholds thresholds;
    poise_verdict verdict;
    poise_finding findings[RETARGET_FINDINGS];
    double seconds; // processor time
} retarget_job;

// Make a motion of the markers that the source holds, and its skeleton the source's. False after one line on standard error.
bool retarget_track_markers(retarget_job *j, const char *model_name);

// What speaks against that motion, into the verdict.
void retarget_judge_track(retarget_job *j);
void retarget_print_track(const retarget_job *j, FILE *stream);

void retarget_print(const retarget_job *j, const char *out, FILE *stream);
json_node *retarget_as_json(const retarget_job *j, const char *out);

// A page with both figures side by side. False after one line on standard error.
bool retarget_page(const retarget_job *j, const char *name, const arguments *args);

// A picture of the same. False after one line on standard error.
bool retarget_picture(const retarget_job *j, const char *name);

#endif
