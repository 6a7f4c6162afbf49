// Ribeiro & Paiva 2019, section 4: the evaluation on skeletons A to G, and its Tables 8 and 9.
//
// A part is a stretch of samples; parts are run on all threads and put together in their order, so that the numbers do not
// depend on the number of threads or processes. In a full run the results of every part go to a file at once, one file for
// each process, and a run that was stopped goes on from there to the same bytes, with however many processes.
#include "reproduce_erik.h"

#include "cli/memory.h"
#include "cli/ranks_seam.h"
#include "cli/terminal.h"
#include "system/system.h"

#include <research/resume.h>

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ORIENTATION_FINEST 12
#define BASELINE_SHARE     50 // baselines are slower by that much
#define POSTURES_PER_PART  50
#define SAMPLES_PER_PART   2500
#define SEED               2019

typedef struct part {
    const erik_row *row;
    int index; // of the row
    evaluate_stretch samples;
} part;

const char *const erik_colors[EVALUATE_SKELETONS] = {PLOT_GREY, PLOT_RED,  PLOT_ORANGE, PLOT_GREEN,
                                                     PLOT_SKY,  PLOT_BLUE, PLOT_PURPLE};

typedef struct work {
    part *parts;
    int count;
    evaluate_results *results;
    bool *done;   // in this run or an earlier one
    bool *mine;   // done by this process
    int before;   // how many were done in an earlier run
    int kept;     // those, and what this process has done since
    FILE *file;   // may be NULL
    bool is_kept; // all that was done is in the file
    const reproduce *r;
    pthread_mutex_t lock;
} work;

// ---- Problems ------------------------------------------------------------------------------------------------------------

void erik_run_destroy(struct erik_run *run)
{
    for (int i = 0; run && i < EVALUATE_SKELETONS; ++i) {
        evaluate_problem_destroy(run->problems[i]);
    }
    free(run);
}

static void name_rows(erik_run *run)
{
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        erik_row *row = &run->rows[i];
        row->problem = i;
        row->printed = &run->problems[i]->skeleton->printed;
        row->run = (evaluate_run){.solver = EVALUATE_ERIK, .now = reproduce_now};
        snprintf(row->name, sizeof row->name, "%c", run->problems[i]->skeleton->letter);
    }
    for (int i = ERIK_TWO_TASK; i < ERIK_ROWS; ++i) {
        erik_row *row = &run->rows[i];
        bool has_posture = i < ERIK_NO_POSTURE, as_printed = i >= ERIK_AS_PRINTED && has_posture;
        int most = has_posture ? 100 << ((i - ERIK_TWO_TASK) % 3) : 100;
        double filter = 3.0 * run->problems[ERIK_C]->options.threshold; // the paper's
        row->problem = ERIK_C;
        row->printed = has_posture ? evaluate_printed_two_task(most) : NULL;
        row->run = (evaluate_run){.solver = has_posture ? EVALUATE_TWO_TASK : EVALUATE_TWO_TASK_NO_POSTURE,
                                  .max_iterations = most,
                                  .correct_flip = true,
                                  .as_printed = as_printed,
                                  .filter = filter,
                                  .now = reproduce_now};
        snprintf(row->name, sizeof row->name, "DLS%d%s", most, !has_posture ? "_nopost" : as_printed ? " printed" : "");
    }
}

erik_run *erik_make_run(const poise_erik_options *options)
{
    erik_run *run = needed(calloc(1, sizeof *run));
    for (int i = 0; i < EVALUATE_SKELETONS; ++i) {
        need(evaluate_problem_create(i, options, EVALUATE_YXZ, ORIENTATION_FINEST, &run->problems[i]) == POISE_OK);
    }
    name_rows(run);
    return run;
}

const erik_run *erik_problems(reproduce *r)
{
    poise_erik_options options = poise_erik_options_default();
    r->erik = r->erik ? r->erik : erik_make_run(&options);
    return r->erik;
}

// ---- Parts ---------------------------------------------------------------------------------------------------------------

// Skeleton A misses by much more than the others: its bins are wider.
static evaluate_results empty_results(const evaluate_problem *problem)
{
    evaluate_results results = evaluate_results_make();
    if (problem->skeleton->letter == 'A') {
        results.error = results.orientation = results.posture = evaluate_statistics_make(0.8);
    }
    return results;
}

static bool solve_samples(const part *p, evaluate_results *results)
{
    const evaluate_problem *problem = p->samples.problem;
    int64_t count = evaluate_stretch_count(&p->samples);
    poise_erik *erik;
    double q[EVALUATE_MOST_DIMENSIONS + 2];
    if (poise_erik_create(problem->model, &problem->options, NULL, &erik, NULL) != POISE_OK) {
        return false;
    }
    for (int64_t i = 0; i < count; ++i) {
        int64_t posture, orientation;
        evaluate_stretch_at(&p->samples, i, &posture, &orientation);
        evaluate_sample(problem, &p->row->run, erik, posture, orientation, q, results);
    }
    poise_erik_destroy(erik);
    return true;
}

// What Ctrl-C says from now on.
static void tell_place(const work *w)
{
    if (rank_leads()) {
        interrupt_words("poise: reproduce: stopped in %s; %d of %d parts are kept in %s.\nTo go on from there:\n  %s\n",
                        w->r->now->name, w->kept, w->count, w->r->out, w->r->again);
    }
}

static bool run_part(void *user, int index)
{
    work *w = user;
    const part *p = &w->parts[index];
    if (w->done[index]) {
        return true;
    }
    evaluate_results results = empty_results(p->samples.problem);
    if (!solve_samples(p, &results)) {
        return false;
    }
    pthread_mutex_lock(&w->lock);
    w->results[index] = results;
    w->done[index] = w->mine[index] = true;
    if (w->file) { // a machine that goes down takes nothing along
        evaluate_progress_write(w->file, index, &results);
        bool is_kept = system_flush(w->file) && !ferror(w->file);
        w->is_kept = is_kept && w->is_kept;
        w->kept += is_kept;
        tell_place(w);
    }
    pthread_mutex_unlock(&w->lock);
    return true;
}

// The parts of rows first to last - 1: all samples where `samples` is 0.
static void cut_into_parts(const erik_run *run, int first, int last, int64_t samples, work *w)
{
    for (int i = first; i < last; ++i) {
        const evaluate_problem *problem = run->problems[run->rows[i].problem];
        bool is_whole = samples == 0;
        int64_t whole = is_whole ? problem->posture_count : samples;
        int64_t size = is_whole ? POSTURES_PER_PART : SAMPLES_PER_PART;
        int count = (int)((whole + size - 1) / size);
        w->parts = needed(realloc(w->parts, (size_t)(w->count + count) * sizeof *w->parts));
        for (int k = 0; k < count; ++k) {
            int64_t from = k * size, to = from + size < whole ? from + size : whole;
            // fewer samples than postures are spread over all postures, which come in order of fineness
            int64_t stride = !is_whole && samples < problem->posture_count ? problem->posture_count / samples : 1;
            w->parts[w->count++] = (part){&run->rows[i], i, {problem, from, to, is_whole, stride, SEED}};
        }
    }
    w->results = needed(calloc((size_t)w->count + 1, sizeof *w->results));
    w->done = needed(calloc((size_t)w->count + 1, sizeof *w->done));
    w->mine = needed(calloc((size_t)w->count + 1, sizeof *w->mine));
}

// "NAME" or "NAME.3": the file of rank 0 or 3.
static bool is_progress(const char *file, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(file, name, length) != 0) {
        return false;
    }
    const char *rank = file + length;
    return !*rank || (rank[0] == '.' && isdigit((unsigned char)rank[1]) && rank[1 + strspn(rank + 1, "0123456789")] == '\0');
}

// What earlier runs have left, in whatever number of files. The number of parts; -1 after one line on standard error.
static int read_progress(const reproduce *r, const char *file_name, const char *name, work *w)
{
    DIR *folder = opendir(r->out);
    int found = 0;
    for (struct dirent *entry; found >= 0 && folder && (entry = readdir(folder));) {
        char path[1024];
        if (!is_progress(entry->d_name, file_name)) {
            continue;
        }
        int more = path_join(path, sizeof path, r->out, entry->d_name)
                       ? evaluate_progress_read(path, name, w->count, w->results, w->done)
                       : -1;
        if (more < 0) {
            complain("%s: belongs to another run; remove it, or choose another folder with -o", path);
        }
        found = more < 0 ? -1 : found + more;
    }
    if (folder) {
        closedir(folder);
    }
    return found;
}

static FILE *append_progress(const reproduce *r, const char *file_name, const char *name)
{
    char path[1024], own[128];
    snprintf(own, sizeof own, rank_leads() ? "%s" : "%s.%d", file_name, ranks_current()->rank);
    FILE *file = path_join(path, sizeof path, r->out, own) ? evaluate_progress_append(path, name) : NULL;
    if (!file) {
        complain("%s: cannot be written", path);
    }
    return file;
}

// Together: rank 0 reads what there is and tells the others what is done; each opens its file for more.
static bool open_progress(const reproduce *r, const char *file_name, int64_t samples, work *w)
{
    char name[256];
    snprintf(name, sizeof name, "poise %s %s, %" PRId64 " samples, parts of %d and %d", poise_version(), file_name, samples,
             POSTURES_PER_PART, SAMPLES_PER_PART);
    int found = rank_leads() ? read_progress(r, file_name, name, w) : 0;
    if (!ranks_current()->agree(found >= 0)) {
        return false;
    }
    ranks_current()->share(w->done, (size_t)w->count * sizeof *w->done);
    w->file = append_progress(r, file_name, name);
    w->is_kept = true;
    w->before = w->kept = found > 0 ? found : 0;
    if (w->file) {
        tell_place(w);
    }
    if (found > 0 && !r->result) {
        printf("Going on: %d of %d parts are there from an earlier run.\n", found, w->count);
    }
    return ranks_current()->agree(w->file != NULL);
}

static void close_work(const reproduce *r, work *w)
{
    if (w->file && !w->is_kept) {
        warn("%s: not all parts could be kept there; a run that is stopped will do some again", r->out);
    }
    if (w->file) {
        fclose(w->file);
    }
    pthread_mutex_destroy(&w->lock);
    free(w->parts);
    free(w->results);
    free(w->done);
    free(w->mine);
}

bool erik_run_rows(reproduce *r, erik_run *run, int first, int last, int64_t samples, const char *file_name)
{
    work w = {.r = r};
    pthread_mutex_init(&w.lock, NULL);
    cut_into_parts(run, first, last, samples, &w);
    bool works = (!r->is_full || open_progress(r, file_name, samples, &w)) &&
                 reproduce_shared_jobs(r, w.count, w.before, run_part, &w);
    if (works) {
        ranks_current()->collect(w.count, w.mine, w.results, sizeof *w.results);
    }
    for (int i = first; i < last && works; ++i) {
        run->rows[i].results = empty_results(run->problems[run->rows[i].problem]);
    }
    for (int i = 0; i < w.count && works; ++i) {
        evaluate_results_merge(&run->rows[w.parts[i].index].results, &w.results[i]);
    }
    close_work(r, &w);
    return works;
}

const erik_run *erik_results(reproduce *r, bool with_baselines)
{
    erik_problems(r);
    erik_run *run = r->erik;
    int64_t samples = r->samples > 0 ? r->samples : r->is_full ? 0 : ERIK_SAMPLES;
    int64_t baselines = samples > 0 ? (samples + BASELINE_SHARE - 1) / BASELINE_SHARE : 0;
    if (!run->has_erik) {
        run->has_erik = erik_run_rows(r, run, ERIK_A, ERIK_TWO_TASK, samples, "erik-evaluation.progress");
    }
    if (run->has_erik && with_baselines && !run->has_baselines) {
        run->has_baselines = erik_run_rows(r, run, ERIK_TWO_TASK, ERIK_ROWS, baselines, "erik-baselines.progress");
    }
    if (!run->has_erik || (with_baselines && !run->has_baselines) || !rank_leads()) {
        return NULL;
    }
    reproduce_note(r,
                   "%s%" PRId64 " sample%s of %s: postures in unions of grids as the paper has them, %" PRId64
                   " orientations R_y R_x R_z (the paper's 7609 are not known), one setting for all.%s",
                   samples > 0 ? "" : "All there are, ", run->rows[ERIK_C].results.error.count,
                   run->rows[ERIK_C].results.error.count == 1 ? "" : "s", samples > 0 ? "each skeleton" : "skeleton C",
                   run->problems[0]->orientation_count, samples > 0 && !r->is_full ? " --full takes them all." : "");
    return run;
}

const experiment erik_experiments[] = {
    {"erik-table8", "Iterations and time of ERIK and DLS", ERIK_SOURCE ", Table 8", false, erik_print_iterations, true},
    {"erik-table9", "Errors of ERIK and DLS on skeleton C", ERIK_SOURCE ", Table 9", false, erik_print_errors, true},
    {"erik-fig7", "Five postures of skeleton C", ERIK_SOURCE ", Fig. 7", false, erik_draw_postures, false},
    {"erik-fig8", "All postures of skeleton C", ERIK_SOURCE ", Fig. 8", false, erik_draw_postures, false},
    {"erik-fig9", "All target orientations", ERIK_SOURCE ", Fig. 9", false, erik_draw_orientations, false},
    {"erik-fig10", "Orientation errors of ERIK and DLS", ERIK_SOURCE ", Fig. 10", false, erik_draw_filter, true},
    {"erik-fig11", "Distributions of the errors, skeletons B to G", ERIK_SOURCE ", Fig. 11", false, erik_draw_normals, true},
    {"erik-fig12", "Histograms of the errors, skeletons A to G", ERIK_SOURCE ", Fig. 12", false, erik_draw_histograms, true},
    {"erik-fig13", "Distributions of the errors of ERIK and DLS", ERIK_SOURCE ", Fig. 13", false, erik_draw_normals, true},
    {"erik-aggravation", "Errors and iterations against the aggravation", ERIK_SOURCE ", eq. 21", false,
     erik_print_aggravation, true},
    {"erik-fit", "The defaults against the printed numbers", ERIK_SOURCE ", Tables 8-9", false, erik_print_fit, true},
    {0},
};
