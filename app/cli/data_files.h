// Files of others: recordings, robots, models. The repository holds none of them. They come from one folder, which --data or
// the environment's POISE_DATA names; tools/data.tsv lists what is in it, docs/data.md says how to get it.
#ifndef CLI_DATA_FILES_H
#define CLI_DATA_FILES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum data_state {
    DATA_HERE,    // all of it, byte for byte as listed
    DATA_MISSING, // no folder is named, or a file of it is not there
    DATA_WRONG,   // the folder that is named is none, or a file has the name, but not the bytes
} data_state;

typedef struct data_files {
    data_state state;
    char path[1024]; // of what was asked for; the first where that is a list
    char line[1400]; // where it is not here: what is missing or wrong, and what to do about it
} data_files;

// `what` is a file ("urdf/panda.urdf"), a folder ("hdm05", all that is listed of it) or several with a space between them.
// `folder` is what --data says; NULL: it was not given, and POISE_DATA counts.
data_files data_find(const char *folder, const char *what);

// The files that are listed below a folder such as "bvh", by number; NULL beyond the last. Valid until the next call.
const char *data_listed(const char *folder, int number);

#endif
