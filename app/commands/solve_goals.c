// Where the goals of poise solve come from.
#include "cli/memory.h"
#include "cli/terminal.h"
#include "cli/whole_files.h"
#include "solve_parts.h"

#include <stdlib.h>
#include <string.h>

enum { ERROR_SIZE = 1024 };

// A posture by its name in the file, or from another file; goal_context.posture.
static bool find_posture(const void *user, const char *name, double *q, char *error, size_t size)
{
    const poise_file *file = user;
    complain_to(error, size);
    bool works = load_posture(file, name, q);
    complain_to(NULL, 0);
    return works;
}

static goal_context context_of(const solve_job *job)
{
    return (goal_context){.model = job->model, .start = job->start, .posture = find_posture, .user = job->file};
}

// Goals that a file in JSON holds; the list points into it.
static bool add_from_json(solve_job *job, const char *name, const poise_file *file)
{
    for (int i = 0; i < file->goal_count; ++i) {
        char text[256];
        goal_describe(&file->goals[i], job->model, text, sizeof text);
        need(goals_add(&job->list, &file->goals[i], text));
    }
    if (file->goal_count == 0) {
        complain("%s: holds no goals; they are a list \"goals\" of objects with a \"kind\"", name);
    }
    return file->goal_count > 0;
}

// Goals in words, one or more on a line; what follows a '#' is a remark.
static bool add_from_text(solve_job *job, const char *name, const file_bytes *bytes)
{
    const char *at = bytes->bytes, *end = at + bytes->size;
    goal_context context = context_of(job);
    int before = job->list.count;
    for (int line = 1; at < end; ++line) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        char *text = needed(strndup(at, size)), error[ERROR_SIZE];
        text[strcspn(text, "#")] = '\0';
        bool works = text[strspn(text, " \t\r;")] == '\0' || goals_parse(&job->list, &context, text, error, sizeof error);
        free(text);
        if (!works) {
            complain("%s:%d: %s", name, line, error);
            return false;
        }
        at += size + 1;
    }
    if (job->list.count == before) {
        complain("%s: holds no goals; \"poise help goals\" says how to write them", name);
    }
    return job->list.count > before;
}

static bool add_from_file(solve_job *job, const char *name)
{
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0) {
        load_options how = {.model = job->model};
        job->goal_file = load_file(name, &how);
        return job->goal_file && add_from_json(job, name, job->goal_file);
    }
    file_bytes bytes;
    if (!file_read(name, &bytes)) {
        return false;
    }
    bool works = add_from_text(job, strcmp(name, "-") == 0 ? "standard input" : name, &bytes);
    file_release(&bytes);
    return works;
}

bool solve_collect_goals(solve_job *job, const arguments *args)
{
    const char *text, *file = option_text(args, "goals", NULL);
    goal_context context = context_of(job);
    for (int i = 0; (text = option_text_at(args, "goal", i)); ++i) {
        char error[ERROR_SIZE];
        if (!goals_parse(&job->list, &context, text, error, sizeof error)) {
            complain("%s", error);
            return false;
        }
    }
    if (file && !add_from_file(job, file)) {
        return false;
    }
    if (job->list.count > 0) {
        return true;
    }
    if (job->file->goal_count > 0) {
        return add_from_json(job, job->name, job->file);
    }
    complain("solve: no goals; give some, such as --goal \"position %s 0.4 0.1 0.3\" (\"poise help goals\")",
             poise_model_joint_info(job->model, poise_model_joint_count(job->model) - 1).body);
    return false;
}
