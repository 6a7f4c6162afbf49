// poise-reproduce: tables and figures of the papers. `poise reproduce` runs this program with its own words.
#include "cli/files.h"
#include "reproduce.h"

#include <poise/base.h>

#include <stdio.h>
#include <string.h>

int main(int count, char **words)
{
    system_begin();
    files_clean_up_on_signals();
    app_exit status = APP_DONE;
    if (count == 2 && strcmp(words[1], "--version") == 0) {
        printf("poise-reproduce %s\n", poise_version());
    } else {
        status = run_reproduce(count - 1, words + 1);
    }
    return files_flush_output() ? (int)status : APP_BAD;
}
