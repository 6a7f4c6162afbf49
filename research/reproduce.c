// What the experiments share: takes, threads, and how they say what they found.
#include "reproduce.h"

#include "cli/memory.h"
#include "cli/ranks_seam.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "system/system.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 80

double reproduce_now(void)
{
    return (double)system_thread_nanoseconds();
}

// ---- Saying --------------------------------------------------------------------------------------------------------------

void reproduce_note(reproduce *r, const char *format, ...)
{
    char text[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (r->result) {
        json_append(json_get(r->result, "notes"), json_from_text(text));
    } else {
        print_wrapped(stdout, text, 0, COLUMNS);
    }
}

// Close a file NAME`suffix``extension` in the output folder and remember it.
static bool close_file(reproduce *r, text_file *file, const char *suffix, const char *extension)
{
    char name[128], path[1024];
    snprintf(name, sizeof name, "%s%s%s", r->now->name, suffix, extension);
    if (!path_join(path, sizeof path, r->out, name)) {
        complain("%s: the name is too long", r->out);
        fclose(file->stream);
        free(file->text);
        return false;
    }
    size_t used = strlen(r->files);
    snprintf(r->files + used, sizeof r->files - used, "%s%s", used ? " " : "", name);
    if (r->result) {
        json_append(json_get(r->result, "files"), json_from_text(path));
    }
    return text_close(file, path);
}

static bool write_sheet(reproduce *r, const sheet *s, const char *suffix, bool times)
{
    text_file file;
    text_open(&file);
    sheet_write(s, file.stream, times);
    return close_file(r, &file, suffix, times ? "-times.csv" : ".csv");
}

bool reproduce_data(reproduce *r, sheet *s, const char *suffix)
{
    bool works = write_sheet(r, s, suffix, false) && (!sheet_has_times(s) || write_sheet(r, s, suffix, true));
    sheet_destroy(s);
    return works;
}

bool reproduce_sheet(reproduce *r, sheet *s, const char *title, const char *suffix)
{
    if (r->result) {
        json_node *rows = sheet_json(s);
        json_append(json_get(r->result, "tables"), json_make("{s:s, s:o}", "title", title, "rows", rows));
    } else {
        printf("\n");
        if (title) {
            print_wrapped(stdout, title, 0, COLUMNS);
        }
        sheet_print(s);
    }
    if (suffix) {
        return reproduce_data(r, s, suffix);
    }
    sheet_destroy(s);
    return true;
}

bool reproduce_plot(reproduce *r, plot *p, const char *suffix)
{
    text_file file;
    text_open(&file);
    need(p && plot_write(p, file.stream));
    plot_destroy(p);
    return close_file(r, &file, suffix, ".svg");
}

const char *reproduce_foot(const reproduce *r)
{
    return r->foot;
}

// ---- Takes ---------------------------------------------------------------------------------------------------------------

const char *reproduce_no_take(const reproduce *r)
{
    return r->data[0] ? "The data folder has no such take."
                      : "Takes of HDM05 come by \"tools/data.sh fetch FOLDER\" and --data FOLDER.";
}

bool reproduce_has_take(const reproduce *r, const char *name)
{
    char path[1024], file_name[96];
    snprintf(file_name, sizeof file_name, "HDM_%.64s_120.c3d", name);
    FILE *file = r->data[0] && path_join(path, sizeof path, r->data, file_name) ? fopen(path, "rb") : NULL;
    if (file) {
        fclose(file);
    }
    return file != NULL;
}

const hessian_study *reproduce_take(reproduce *r, const char *name)
{
    bool is_motion = strchr(name, '_') == NULL;
    for (int i = 0; i < r->take_count; ++i) {
        if (strcmp(r->takes[i].name, name) == 0) {
            return &r->takes[i];
        }
    }
    if (r->take_count == REPRODUCE_TAKES) {
        complain("%s: no room for one more take", name);
        return NULL;
    }
    hessian_study *study = &r->takes[r->take_count];
    if (!hessian_study_create(is_motion ? NULL : r->data, name, study)) {
        complain("%s", study->task.error.text);
        return NULL;
    }
    r->take_count += 1;
    return study;
}

// ---- Threads -------------------------------------------------------------------------------------------------------------

typedef struct jobs {
    reproduce_job job;
    void *work;
    int count;
    atomic_int done, failed;
    atomic_flag is_told; // a thread is at the bar
    int told;            // the most that the bar has shown
} jobs;

// So many are done. Whoever finds another thread at the bar leaves it to that one.
static void tell_done(jobs *j, int done)
{
    if (!atomic_flag_test_and_set(&j->is_told)) {
        j->told = done > j->told ? done : j->told;
        progress_show(j->told);
        atomic_flag_clear(&j->is_told);
    }
}

static void run_job(void *work, int piece, int worker)
{
    jobs *j = work;
    (void)worker;
    if (!j->job(j->work, piece)) {
        atomic_fetch_add(&j->failed, 1);
    }
    tell_done(j, atomic_fetch_add(&j->done, 1) + 1);
}

static bool all_worked(const reproduce *r, const jobs *j)
{
    int failed = atomic_load(&j->failed);
    if (failed > 0) {
        complain("%s: %d of %d runs failed", r->now->name, failed, j->count);
    }
    return failed == 0;
}

bool reproduce_jobs(const reproduce *r, int count, reproduce_job job, void *work)
{
    jobs j = {.job = job, .work = work, .count = count, .is_told = ATOMIC_FLAG_INIT};
    int threads = r->threads;
    progress_start(r->now->name, "runs", count);
    progress_show(0);
    threads_run(&threads, count, run_job, &j);
    progress_end();
    return all_worked(r, &j);
}

// The piece of a worker is all that it can get.
static void run_shared_jobs(void *work, int piece, int worker)
{
    jobs *j = work;
    (void)piece;
    (void)worker;
    for (;;) {
        int index = atomic_load(&j->failed) > 0 ? j->count : ranks_current()->next();
        if (index >= j->count) {
            return;
        }
        if (!j->job(j->work, index)) {
            atomic_fetch_add(&j->failed, 1);
        }
        int done = atomic_fetch_add(&j->done, 1) + 1; // here; of all ranks those before `index` are done or at work
        if (rank_leads()) {
            tell_done(j, done > index ? done : index);
        }
    }
}

bool reproduce_shared_jobs(const reproduce *r, int count, int before, reproduce_job job, void *work)
{
    jobs j = {.job = job, .work = work, .count = count, .is_told = ATOMIC_FLAG_INIT};
    int threads = r->threads;
    ranks_current()->start();
    if (rank_leads()) {
        progress_start(r->now->name, "runs", count);
        progress_resume(before);
    }
    threads_run(&threads, threads, run_shared_jobs, &j);
    bool works = ranks_current()->agree(all_worked(r, &j));
    progress_end();
    return works;
}
