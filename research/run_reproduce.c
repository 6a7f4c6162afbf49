// `poise reproduce` from its arguments to its exit status: which experiments, on what data.
#include "run_reproduce.h"

#include "cli/data_files.h"
#include "cli/memory.h"
#include "cli/programs.h"
#include "cli/ranks_seam.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "reproduce.h"

#include <stdlib.h>
#include <string.h>

static const experiment *const lists[] = {hessian_experiments, erik_experiments, picture_experiments};
enum { LISTS = sizeof lists / sizeof lists[0] };

// Experiment number `index` over all lists; NULL beyond the last.
static const experiment *experiment_at(int index)
{
    for (int i = 0; i < LISTS; ++i) {
        for (const experiment *e = lists[i]; e->name; ++e) {
            if (index-- == 0) {
                return e;
            }
        }
    }
    return NULL;
}

static const char *experiment_name(const void *user, int index)
{
    (void)user;
    return experiment_at(index)->name;
}

static int experiment_count(void)
{
    int count = 0;
    while (experiment_at(count)) {
        count += 1;
    }
    return count;
}

static const experiment *find_experiment(const char *name)
{
    const experiment *e;
    for (int i = 0; (e = experiment_at(i)); ++i) {
        if (strcmp(e->name, name) == 0) {
            return e;
        }
    }
    const char *near = poise_nearest_name(name, experiment_name, NULL, experiment_count());
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
    const experiment *e;
    for (int i = 0; (e = experiment_at(i)); ++i) {
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
        return e->run(r, e);
    }
    if (e->is_shared) {
        e->run(r, e);
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
    int count = is_all ? experiment_count() : arguments_count(args), word_count;
    for (int i = at; i < count && used < sizeof r->again; ++i) {
        used += (size_t)snprintf(r->again + used, sizeof r->again - used, " %s",
                                 at == 0 && is_all ? "all"
                                 : is_all          ? experiment_at(i)->name
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
        interrupt_words("poise: reproduce: stopped in %s, which begins anew next time.\nWhat was finished before is in %s. "
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
    int count = is_all ? experiment_count() : arguments_count(args);
    for (int i = 0; i < count && !is_all; ++i) {
        works = works && find_experiment(arguments_at(args, i)) != NULL;
    }
    works = ranks_current()->agree(works && find_data(args, r) && folder_make(r->out));
    r->results = json ? json_new(JSON_ARRAY) : NULL;
    for (int i = 0; i < count && works; ++i) {
        write_again(args, i, is_all, r);
        works = run_experiment(r, is_all ? experiment_at(i) : find_experiment(arguments_at(args, i)), json);
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
