// `poise track --device cuda` without a device: the program poise-cuda, with the work of the device's threads done by the
// host (body_on_host.h), which gives their bits.
#include "app/cuda_device.h"
#include "body_on_host.h"

#include "cli/files.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <poise/cuda.h>

#include <stdlib.h>
#include <string.h>

// ---- The calls of cuda.h that tracking makes -----------------------------------------------------------------------------

struct poise_cuda {
    body_tables tables;
};

poise_status poise_cuda_create(const poise_model *model, const poise_goal *goals, int goal_count,
                               const poise_cuda_options *options, poise_cuda **cuda, poise_error *error)
{
    const char *why;
    bool only_clips;
    if (!pz_body_serves(model, goals, goal_count, &options->solver, &only_clips, &why)) {
        *error = (poise_error){.status = POISE_ERROR_UNSUPPORTED};
        snprintf(error->text, sizeof error->text, "the device does not serve %s", why);
        return POISE_ERROR_UNSUPPORTED;
    }
    *cuda = calloc(1, sizeof **cuda);
    return *cuda ? pz_body_tables_make(model, goals, goal_count, &options->solver, &(*cuda)->tables) : POISE_ERROR_MEMORY;
}

void poise_cuda_destroy(poise_cuda *cuda)
{
    pz_body_tables_free(&cuda->tables);
    free(cuda);
}

poise_status poise_cuda_solve_clips(poise_cuda *cuda, poise_cuda_clip *clips, int count, poise_error *error)
{
    (void)error;
    body_work work = {.state = calloc((size_t)cuda->tables.task.at.size, sizeof(double))}; // clips need nothing else
    for (int i = 0; i < count && work.state; ++i) {
        pz_cuda_tree_batch batch = {.targets = clips[i].targets,
                                    .weights = clips[i].weights,
                                    .q = clips[i].q,
                                    .answers = clips[i].answers,
                                    .count = clips[i].frames};
        int begin[2] = {0, clips[i].frames};
        body_clips_on_host(&cuda->tables.task, &batch, &work,
                           &(body_clips){.begin = begin, .calm = &clips[i].calm, .count = 1});
    }
    free(work.state);
    return work.state ? POISE_OK : POISE_ERROR_MEMORY;
}

// ---- The program ---------------------------------------------------------------------------------------------------------

bool cuda_device_begin(void)
{
    return true;
}

const char *cuda_device_name(void)
{
    return "host";
}

int main(int count, char **words)
{
    track_device_join(&cuda_track_device);
    app_exit status = count > 1 && strcmp(words[1], "track") == 0 ? app_run(&cmd_track, count - 2, words + 2) : APP_BAD;
    return files_flush_output() ? (int)status : APP_BAD;
}
