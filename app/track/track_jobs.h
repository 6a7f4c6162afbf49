// A list of jobs in a file, one after another.
#ifndef APP_TRACK_JOBS_H
#define APP_TRACK_JOBS_H

#include <stdbool.h>

// One line of the list: MODEL MARKERS OUT, separated by blanks, or by tabs where the line has any (for names with blanks).
// Empty lines and lines that begin with # are passed over. No two jobs may have the same OUT.
typedef struct track_list {
    struct track_line {
        int line;
        const char *model, *source, *out;
    } * job;
    int count;
    char *text;
} track_list;

// False after one line on standard error that names file and line. Release with track_list_release in any case.
bool track_list_read(const char *name, track_list *list);
void track_list_release(track_list *list);

#endif
