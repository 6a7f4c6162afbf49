// The command `reproduce`, for the programs that have it: poise-reproduce and poise-mpi.
#ifndef RESEARCH_RUN_REPRODUCE_H
#define RESEARCH_RUN_REPRODUCE_H

#include "cli/command.h"

// Run it with the words after its name; --help prints its page.
app_exit run_reproduce(int count, char **words);

#endif
