// poise-cuda: commands of poise with a CUDA device. `poise ... --device cuda` becomes this program, so that the others need
// nothing of CUDA.
#include "cuda_device.h"

#include "cli/files.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <cuda_runtime_api.h>
#include <poise/cuda.h>

#include <stdio.h>
#include <string.h>

static const char usage[] =
    " poise track --jobs-from LIST --device cuda [OPTION]...\n"
    "\n"
    "This program belongs to poise, which runs it for commands with --device cuda. Options: \"poise help "
    "track\".\n";

// ---- The device ----------------------------------------------------------------------------------------------------------

static struct cudaDeviceProp device;

bool cuda_device_begin(void)
{
    if (poise_cuda_device_count() == 0) {
        complain("there is no CUDA device, or no driver for it; without --device cuda the processors do the work");
        return false;
    }
    cudaError_t error = cudaGetDeviceProperties(&device, 0);
    if (error != cudaSuccess) {
        complain("the CUDA device: %s", cudaGetErrorString(error));
        return false;
    }
    return true;
}

const char *cuda_device_name(void)
{
    return device.name;
}

// ---- The program ---------------------------------------------------------------------------------------------------------

int main(int count, char **words)
{
    system_begin();
    files_clean_up_on_signals();
    track_device_join(&cuda_track_device);
    app_exit status = APP_DONE;
    const char *name = count > 1 ? words[1] : "";
    if (strcmp(name, "track") == 0) {
        status = app_run(&cmd_track, count - 2, words + 2);
    } else if (strcmp(name, "--version") == 0) {
        printf("poise-cuda %s\n", poise_version());
    } else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_wrapped(stdout, usage, 0, terminal_columns(stdout));
    } else {
        complain("poise-cuda runs \"track\"; see poise-cuda --help");
        status = APP_BAD;
    }
    return files_flush_output() ? (int)status : APP_BAD;
}
