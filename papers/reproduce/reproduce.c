// `poise reproduce`: the list of experiments, the command from its arguments to its exit status, and what experiments share:
// notes, takes, threads, sheets.
#include "reproduce.h"

#include "cli/data_files.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "system/system.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// ---- Sheets --------------------------------------------------------------------------------------------------------------

enum { MOST_COLUMNS = 24 };

typedef struct cell {
    char *text;
    double number;
} cell;

struct sheet {
    const sheet_column *columns;
    int width, count, room; // count: cells
    cell *cells;
};

sheet *sheet_create(const sheet_column *columns)
{
    sheet *s = needed(calloc(1, sizeof *s));
    s->columns = columns;
    while (columns[s->width].key && s->width < MOST_COLUMNS) {
        s->width += 1;
    }
    return s;
}

void sheet_destroy(sheet *s)
{
    for (int i = 0; i < s->count; ++i) {
        free(s->cells[i].text);
    }
    free(s->cells);
    free(s);
}

static void add(sheet *s, char *text, double number)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->cells = needed(realloc(s->cells, (size_t)s->room * sizeof *s->cells));
    }
    s->cells[s->count++] = (cell){text, number};
}

void sheet_text(sheet *s, const char *text)
{
    add(s, needed(strdup(text)), NAN);
}

void sheet_number(sheet *s, double number)
{
    add(s, NULL, number);
}

int sheet_rows(const sheet *s)
{
    return s->count / s->width;
}

static bool sheet_has_times(const sheet *s)
{
    bool has_times = false;
    for (int i = 0; i < s->width; ++i) {
        has_times = has_times || s->columns[i].is_time;
    }
    return has_times;
}

static const cell *cell_at(const sheet *s, int row, int column)
{
    return &s->cells[row * s->width + column];
}

// A cell as a terminal shows it.
static void show_cell(const sheet *s, int row, int column, char *text, size_t size)
{
    const cell *c = cell_at(s, row, column);
    if (c->text) {
        snprintf(text, size, "%s", c->text);
    } else if (!isfinite(c->number) || !s->columns[column].format) {
        snprintf(text, size, "%s", "-");
    } else {
// the formats are those of the tables of this program
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, size, s->columns[column].format, c->number);
#pragma GCC diagnostic pop
    }
}

// A table with aligned columns on standard output.
static void sheet_print(const sheet *s)
{
    char line[1024] = "", text[256];
    size_t used = 0;
    for (int i = 0; i < s->width; ++i) {
        if (s->columns[i].head) {
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s%s", used ? "\t" : "",
                                     s->columns[i].format ? ">" : "", s->columns[i].head);
        }
    }
    table *t = table_create(line);
    for (int row = 0; row < sheet_rows(s); ++row) {
        used = 0;
        for (int i = 0; i < s->width; ++i) {
            if (s->columns[i].head && used < sizeof line) {
                show_cell(s, row, i, text, sizeof text);
                bool is_first = used == 0 && i == 0;
                used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", is_first ? "" : "\t", text);
            }
        }
        table_row(t, "%s", line);
    }
    table_end(t, stdout);
}

static bool is_wanted(const sheet_column *c, bool times)
{
    return !c->format || c->is_time == times;
}

// In quotes where it holds a comma or a quote, which is then doubled (RFC 4180).
static void write_text(FILE *stream, const char *text)
{
    bool is_quoted = strpbrk(text, ",\"\n") != NULL;
    fputs(is_quoted ? "\"" : "", stream);
    for (const char *c = text; *c; ++c) {
        fputs(*c == '"' ? "\"" : "", stream);
        fputc(*c, stream);
    }
    fputs(is_quoted ? "\"" : "", stream);
}

// With a line of keys. `times` chooses the texts and times instead of the texts and other numbers.
static void sheet_write(const sheet *s, FILE *stream, bool times)
{
    const char *comma = "";
    for (int i = 0; i < s->width; ++i) {
        if (is_wanted(&s->columns[i], times)) {
            fprintf(stream, "%s%s", comma, s->columns[i].key);
            comma = ",";
        }
    }
    fputc('\n', stream);
    for (int row = 0; row < sheet_rows(s); ++row) {
        comma = "";
        for (int i = 0; i < s->width; ++i) {
            const cell *c = cell_at(s, row, i);
            if (!is_wanted(&s->columns[i], times)) {
                continue;
            }
            fputs(comma, stream);
            comma = ",";
            if (c->text) {
                write_text(stream, c->text);
            } else if (isfinite(c->number)) {
                fprintf(stream, "%.9g", c->number);
            }
        }
        fputc('\n', stream);
    }
}

// An array of objects.
static json_node *sheet_json(const sheet *s)
{
    json_node *rows = json_new(JSON_ARRAY);
    for (int row = 0; row < sheet_rows(s); ++row) {
        json_node *object = json_new(JSON_OBJECT);
        for (int i = 0; i < s->width; ++i) {
            const cell *c = cell_at(s, row, i);
            json_set(object, s->columns[i].key, c->text ? json_from_text(c->text) : json_from_number(c->number));
        }
        json_append(rows, object);
    }
    return rows;
}

// ---- The list ------------------------------------------------------------------------------------------------------------

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

// In the order in which they are listed and, by "all", made.
static const experiment *const experiments[] = {
    &hessian_table3,  &hessian_table4, &hessian_times,        &hessian_fig2,
    &hessian_fig3,    &hessian_fig4,   &hessian_fig5,         &hessian_fig6,
    &hessian_fig7,    &hessian_fig8,   &hessian_definiteness, &hessian_fig_a9,
    &hessian_fig_a10, &erik_table8,    &erik_table9,          &erik_fig7,
    &erik_fig8,       &erik_fig9,      &erik_fig10,           &erik_fig11,
    &erik_fig12,      &erik_fig13,     &erik_aggravation,     &erik_fit,
    &notes_2d,
};
enum { EXPERIMENTS = COUNT(experiments) };

static const char *experiment_name(const void *user, int index)
{
    (void)user;
    return experiments[index]->name;
}

static const experiment *find_experiment(const char *name)
{
    for (int i = 0; i < EXPERIMENTS; ++i) {
        if (strcmp(experiments[i]->name, name) == 0) {
            return experiments[i];
        }
    }
    const char *near = poise_nearest_name(name, experiment_name, NULL, EXPERIMENTS);
    if (near) {
        complain("there is no experiment \"%s\"; did you mean \"%s\"?", name, near);
    } else {
        complain("there is no experiment \"%s\"; \"poise reproduce\" lists them", name);
    }
    return NULL;
}

static app_exit list_experiments(bool json)
{
    json_node *list = json ? json_new(JSON_ARRAY) : NULL;
    table *t = json ? NULL : table_create("name\twhat\tfrom");
    for (int i = 0; i < EXPERIMENTS; ++i) {
        const experiment *e = experiments[i];
        if (json) {
            json_append(list, json_make("{s:s, s:s, s:s, s:b}", "name", e->name, "title", e->title, "source", e->source,
                                        "uses_data", e->uses_data));
        } else {
            const char *number = strrchr(e->source, ',');
            table_row(t, "%s\t%s\t%s", e->name, e->title, number ? number + 2 : "");
        }
    }
    if (json) {
        return json_print(json_make("{s:o}", "experiments", list)) ? APP_DONE : APP_BAD;
    }
    table_end(t, stdout);
    printf("\n\"poise reproduce NAME...\" makes some of them, \"poise reproduce all\" all of them.\n");
    return APP_DONE;
}

// ---- Running -------------------------------------------------------------------------------------------------------------

// Rank 0 says whether an experiment worked: it gets what the other ranks have found.
static bool run_mine(reproduce *r, const experiment *e)
{
    if (rank_leads()) {
        return e->run(r);
    }
    if (e->is_shared) {
        e->run(r);
    }
    return true;
}

// Does a shell take the word as it is?
static bool is_plain(const char *word)
{
    return *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%")] == '\0';
}

static bool is_name(const arguments *args, const char *word)
{
    for (int i = 0; i < arguments_count(args); ++i) {
        if (arguments_at(args, i) == word) {
            return true;
        }
    }
    return false;
}

// The command that goes on at experiment `at` of those that were asked for: the names from there on, then the options.
static void write_again(const arguments *args, int at, bool is_all, reproduce *r)
{
    size_t used = (size_t)snprintf(r->again, sizeof r->again, "poise%s reproduce", ranks_are_unset() ? "" : "-mpi");
    int count = is_all ? EXPERIMENTS : arguments_count(args), word_count;
    for (int i = at; i < count && used < sizeof r->again; ++i) {
        used += (size_t)snprintf(r->again + used, sizeof r->again - used, " %s",
                                 at == 0 && is_all ? "all"
                                 : is_all          ? experiments[i]->name
                                                   : arguments_at(args, i));
        i = at == 0 && is_all ? count : i;
    }
    char *const *words = arguments_words(args, &word_count);
    for (int i = 0; i < word_count && used < sizeof r->again; ++i) {
        if (!is_name(args, words[i]) && strcmp(words[i], "--") != 0) {
            const char *quote = is_plain(words[i]) ? "" : "'";
            used += (size_t)snprintf(r->again + used, sizeof r->again - used, " %s%s%s", quote, words[i], quote);
        }
    }
}

static bool run_experiment(reproduce *r, const experiment *e, bool json)
{
    r->now = e;
    if (rank_leads()) {
        interrupt_words(
            "poise: reproduce: stopped in %s, which begins anew next time.\nAnything finished before it is in %s. "
            "To go on:\n  %s\n",
            e->name, r->out, r->again);
    }
    r->files[0] = '\0';
    snprintf(r->foot, sizeof r->foot, "After %s. Drawn by poise reproduce %s.", e->source, e->name);
    if (json) {
        r->result = json_make("{s:s, s:s, s:s, s:[], s:[], s:[]}", "name", e->name, "title", e->title, "source", e->source,
                              "notes", "tables", "files");
    } else {
        printf("%s%s: %s%s\n%s\n", style_code(STYLE_BOLD), e->name, e->title, style_code(STYLE_PLAIN), e->source);
    }
    double start = seconds_now();
    bool works = ranks_current()->agree(run_mine(r, e));
    double seconds = seconds_now() - start;
    if (json) {
        json_set(r->result, "seconds", json_from_number(seconds));
        json_append(r->results, r->result);
        r->result = NULL;
    } else if (works) {
        char text[1200];
        snprintf(text, sizeof text, "%.1f s; in %.300s: %s", seconds, r->out, r->files);
        printf("\n%s", style_code(STYLE_FAINT));
        print_wrapped(stdout, text, 0, 80);
        printf("%s\n", style_code(STYLE_PLAIN));
    }
    fflush(stdout);
    return works;
}

// Does the folder have the skeleton of one of the authors' actors?
static bool has_actor(const char *folder)
{
    static const char *const skeletons[] = {"HDM_mm.asf", "HDM_bk.asf", "HDM_dg.asf"};
    FILE *file = NULL;
    char path[1024];
    for (int i = 0; i < 3 && !file; ++i) {
        file = path_join(path, sizeof path, folder, skeletons[i]) ? fopen(path, "rb") : NULL;
    }
    if (file) {
        fclose(file);
    }
    return file != NULL;
}

// The folder of recordings: hdm05 of the data folder, whose listed files must be those that are listed; or, with --data, a
// folder that has recordings of HDM05 itself.
static bool find_data(const arguments *args, reproduce *r)
{
    const char *given = option_text(args, "data", NULL), *name;
    for (int i = 0; (name = data_listed("hdm05", i)); ++i) {
        data_files found = data_find(given, name);
        if (found.state == DATA_WRONG) {
            complain("%s", found.line);
            return false;
        }
    }
    data_files takes = data_find(given, "hdm05");
    const char *folder = given && has_actor(given) ? given : takes.path;
    if (folder[0] && has_actor(folder)) {
        snprintf(r->data, sizeof r->data, "%s", folder);
    } else if (given) {
        complain("%s: has no recordings of HDM05 (hdm05/HDM_dg.asf ...); \"tools/data.sh fetch FOLDER\" gets them", given);
        return false;
    }
    return true;
}

static bool run_all(const arguments *args, reproduce *r)
{
    bool json = arguments_json(args), works = true;
    bool is_all = strcmp(arguments_at(args, 0), "all") == 0;
    int count = is_all ? EXPERIMENTS : arguments_count(args);
    for (int i = 0; i < count && !is_all; ++i) {
        works = works && find_experiment(arguments_at(args, i)) != NULL;
    }
    works = ranks_current()->agree(works && find_data(args, r) && folder_make(r->out));
    r->results = json ? json_new(JSON_ARRAY) : NULL;
    for (int i = 0; i < count && works; ++i) {
        write_again(args, i, is_all, r);
        works = run_experiment(r, is_all ? experiments[i] : find_experiment(arguments_at(args, i)), json);
    }
    interrupt_words(NULL);
    if (json && works) {
        return json_print(json_make("{s:o}", "reproduced", r->results));
    }
    json_release(r->results);
    return works;
}

static app_exit run(const arguments *args)
{
    if (arguments_count(args) == 0) {
        return list_experiments(arguments_json(args));
    }
    reproduce *r = needed(calloc(1, sizeof *r));
    r->out = option_text(args, "output", "reproduce");
    r->is_full = option_given(args, "full");
    r->every = option_count(args, "every", 0);
    r->samples = option_count(args, "samples", 0);
    r->threads = option_count(args, "threads", threads_available());
    bool works = run_all(args, r);
    for (int i = 0; i < r->take_count; ++i) {
        hessian_study_destroy(&r->takes[i]);
    }
    erik_run_destroy(r->erik);
    free(r);
    return works ? APP_DONE : APP_BAD;
}

app_exit run_reproduce(int count, char **words)
{
    return app_run_with(&cmd_reproduce, run, count, words);
}

// ---- What experiments need and say ---------------------------------------------------------------------------------------

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
