// What the command aim found: tables, JSON, motions, pictures.
#ifndef APP_AIM_PRINT_H
#define APP_AIM_PRINT_H

#include "aim/aim_target.h"

// What was asked for, and the answers.
typedef struct aim_job {
    const char *file_name, *posture_name, *method;
    const poise_file *file;
    const poise_model *model; // of the file
    aim_end end;
    aim_settings settings;
    bool is_path;
    aim_path path;
    double *posture;     // nq
    double *q;           // path.count x nq
    aim_result *results; // path.count
    bool *jumped;        // path.count
} aim_job;

bool aim_print_text(const aim_job *job);
bool aim_print_json(const aim_job *job);

// The answers as frames, `rate` for each second.
bool aim_save_motion(const aim_job *job, const char *name, double rate);
bool aim_save_picture(const aim_job *job, const char *name);

// One row for each method. `reason`: why the method does not serve this skeleton; NULL: it does, and the job holds answers.
typedef struct aim_comparison aim_comparison;
aim_comparison *aim_comparison_create(const aim_job *job, bool json);
void aim_comparison_add(aim_comparison *comparison, const aim_job *job, const char *method, const char *reason);
bool aim_comparison_end(aim_comparison *comparison); // prints it, and releases it

#endif
