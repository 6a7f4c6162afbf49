// poise-mpi: the commands of poise whose work many machines can share, as an MPI program.
#include "ranks.h"

#include <app/cli/files.h>
#include <app/cli/terminal.h>
#include <app/commands/commands.h>
#include <papers/reproduce/reproduce.h>

#include <poise/base.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    " mpirun -n N poise-mpi reproduce NAME... [OPTION]...\n"
    " mpirun -n N poise-mpi track --jobs-from LIST [OPTION]...\n"
    "\n"
    "The commands of poise, shared by N processes on one machine or many: parts of the ERIK evaluation, or jobs of a list. "
    "The answer is that of one process, to the byte. What is finished stays when a run is stopped or a machine goes down; "
    "the same command goes on from there, with as many processes as you like.\n"
    "\n"
    "Options: \"poise help reproduce\" and \"poise help track\". All processes must see the same folders. --threads is for "
    "each process; by default those of one machine share its processors.\n";

// Output goes through the program that started this one, whose own may be a terminal; the ranks cannot tell from theirs.
static bool launcher_has_terminal(int descriptor)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getppid(), descriptor);
    int file = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    bool is_one = file >= 0 && isatty(file);
    if (file >= 0) {
        close(file);
    }
    return is_one;
}

// Lines that end jobs show how far a list has come; a bar for each job would stand in between.
static void find_terminals(const char *command)
{
    bool is_list = strcmp(command, "track") == 0;
    if (ranks_current()->size > 1 || getenv("PMIX_RANK") || getenv("PMI_RANK")) { // not from a shell
        terminals_are(rank_leads() && launcher_has_terminal(STDOUT_FILENO),
                      rank_leads() && !is_list && launcher_has_terminal(STDERR_FILENO));
    }
}

static app_exit run(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "--help";
    find_terminals(name);
    if (strcmp(name, "reproduce") == 0) {
        return run_reproduce(count - 2, words + 2);
    }
    if (strcmp(name, "track") == 0) {
        return app_run(&cmd_track, count - 2, words + 2);
    }
    if (strcmp(name, "--version") == 0) {
        printf("poise-mpi %s\n", poise_version());
        return APP_DONE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_wrapped(stdout, usage, 0, terminal_columns(stdout));
        return count > 1 ? APP_DONE : APP_BAD;
    }
    complain("poise-mpi runs \"reproduce\" and \"track --jobs-from\", not \"%s\"; see poise-mpi --help", name);
    return APP_BAD;
}

int main(int count, char **words)
{
    system_begin();
    files_clean_up_on_signals();
    app_exit status = ranks_start(&count, &words) ? run(count, words) : APP_BAD;
    status = files_flush_output() ? status : APP_BAD;
    ranks_end();
    return (int)status;
}
