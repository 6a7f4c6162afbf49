// Where the goals of poise solve come from.
#include "cli/files.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "solve_parts.h"

#include <stdlib.h>
#include <string.h>

// A posture by its name in the file, or from another file; poise_goal_words.posture.
static bool find_posture(const void *user, const char *name, double *q, poise_error *error)
{
    const poise_file *file = user;
    complain_to(error->text, sizeof error->text);
    bool works = load_posture(file, name, q);
    complain_to(NULL, 0);
    return works;
}

static bool add_words(solve_job *job, const char *text, poise_error *error)
{
    poise_goal_words words = {.model = job->model, .q_start = job->start, .posture = find_posture, .user = job->file};
    return poise_goal_list_parse(job->list, &words, text, error) == POISE_OK;
}

// Goals that a file in JSON holds; the list points into it.
static bool add_from_json(solve_job *job, const char *name, const poise_file *file)
{
    for (int i = 0; i < file->goal_count; ++i) {
        char text[256];
        poise_goal_describe(&file->goals[i], job->model, text, sizeof text);
        need(poise_goal_list_add(job->list, &file->goals[i], text, NULL) == POISE_OK);
    }
    if (file->goal_count == 0) {
        complain("%s: holds no goals; it needs a list \"goals\" of objects with a \"kind\"", name);
    }
    return file->goal_count > 0;
}

// Goals in words, one or more on a line; what follows a '#' is a remark.
static bool add_from_text(solve_job *job, const char *name, const file_bytes *bytes)
{
    const char *at = bytes->bytes, *end = at + bytes->size;
    int before = job->list->count;
    for (int line = 1; at < end; ++line) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        char *text = needed_copy(at, size);
        poise_error error;
        text[strcspn(text, "#")] = '\0';
        bool works = text[strspn(text, " \t\r;")] == '\0' || add_words(job, text, &error);
        free(text);
        if (!works) {
            complain("%s:%d: %s", name, line, error.text);
            return false;
        }
        at += size + 1;
    }
    if (job->list->count == before) {
        complain("%s: holds no goals; \"poise help goals\" says how to write them", name);
    }
    return job->list->count > before;
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

// The first pose of a path stands behind the other goals, where those after it follow.
static bool add_first_of_path(solve_job *job)
{
    poise_error error;
    bool works = add_words(job, job->path.rows[0].goal, &error);
    if (!works) {
        complain("%s:%d: %s", job->path.name, job->path.rows[0].line, error.text);
    }
    return works;
}

bool solve_set_goal(solve_job *job, int goal, const char *text, int line)
{
    poise_goal_words words = {.model = job->model, .q_start = job->start};
    poise_goal_list *one = NULL;
    poise_error error;
    need(poise_goal_list_create(NULL, &one, NULL) == POISE_OK);
    bool works = poise_goal_list_parse(one, &words, text, &error) == POISE_OK;
    if (works) {
        job->list->goals[goal] = one->goals[0]; // a place or a pose, which points to nothing
    } else {
        complain("%s:%d: %s", job->path.name, line, error.text);
    }
    poise_goal_list_destroy(one);
    return works;
}

// The first tool, or the last body of a model without tools.
static const char *name_of_end(const poise_model *model)
{
    poise_model_summary size = poise_model_info(model);
    return size.tools > 0 ? poise_model_tool_info(model, 0).name : poise_model_joint_info(model, size.joints - 1).body;
}

bool solve_collect_goals(solve_job *job, const arguments *args)
{
    const char *text, *file = option_text(args, "goals", NULL);
    need(poise_goal_list_create(NULL, &job->list, NULL) == POISE_OK);
    for (int i = 0; (text = option_text_at(args, "goal", i)); ++i) {
        poise_error error;
        if (!add_words(job, text, &error)) {
            complain("%s", error.text);
            return false;
        }
    }
    if (file && !add_from_file(job, file)) {
        return false;
    }
    if (option_given(args, "path")) {
        return solve_read_path(job, args) && add_first_of_path(job);
    }
    if (job->list->count > 0) {
        return true;
    }
    if (job->file->goal_count > 0) {
        return add_from_json(job, job->name, job->file);
    }
    complain("solve: no goals; give some, such as --goal \"position %s 0.4 0.1 0.3\" (\"poise help goals\")",
             name_of_end(job->model));
    return false;
}
