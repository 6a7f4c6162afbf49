// A list of jobs in a file.
#include "track_jobs.h"

#include "cli/files.h"
#include "cli/memory.h"
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>

// Cut a line into at most `most` words in place; returns how many there are, most + 1 for more.
static int cut(char *line, char **words, int most)
{
    const char *blanks = strchr(line, '\t') ? "\t" : " ";
    int count = 0;
    for (char *c = line;;) {
        c += strspn(c, blanks);
        if (!*c) {
            return count;
        }
        if (count == most) {
            return most + 1;
        }
        words[count++] = c;
        c += strcspn(c, blanks);
        if (*c) {
            *c++ = '\0';
        }
    }
}

static bool read_line(const char *name, int number, char *line, track_list *list)
{
    char *words[3];
    int count = cut(line, words, 3);
    if (count == 0 || words[0][0] == '#') {
        return true;
    }
    if (count != 3) {
        complain("%s:%d: a job is MODEL MARKERS OUT, separated by spaces (by tabs if names contain spaces)", name, number);
        return false;
    }
    list->job[list->count++] = (struct track_line){number, words[0], words[1], words[2]};
    return true;
}

static int compare_outs(const void *a, const void *b)
{
    const struct track_line *x = *(struct track_line *const *)a, *y = *(struct track_line *const *)b;
    int order = strcmp(x->out, y->out);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

// Two jobs with one OUT would take turns in writing it, or leave one of them out.
static bool check_outs(const char *name, const track_list *list)
{
    struct track_line **sorted = needed(malloc((size_t)list->count * sizeof *sorted));
    bool works = true;
    for (int i = 0; i < list->count; ++i) {
        sorted[i] = &list->job[i];
    }
    qsort(sorted, (size_t)list->count, sizeof *sorted, compare_outs);
    for (int i = 1; works && i < list->count; ++i) {
        if (strcmp(sorted[i - 1]->out, sorted[i]->out) == 0) {
            complain("%s:%d: line %d has the same OUT, %s", name, sorted[i]->line, sorted[i - 1]->line, sorted[i]->out);
            works = false;
        }
    }
    free(sorted);
    return works;
}

bool track_list_read(const char *name, track_list *list)
{
    *list = (track_list){0};
    file_bytes file;
    if (!file_read(name, &file)) {
        return false;
    }
    size_t lines = 2;
    for (size_t i = 0; i < file.size; ++i) {
        lines += ((const char *)file.bytes)[i] == '\n';
    }
    list->text = memcpy(needed(malloc(file.size + 1)), file.bytes, file.size);
    list->text[file.size] = '\0';
    list->job = needed(calloc(lines, sizeof *list->job));
    file_release(&file);
    bool works = true;
    int number = 1;
    for (char *line = list->text, *end; works && line; line = end, ++number) {
        end = strchr(line, '\n');
        if (end) {
            *end++ = '\0';
        }
        line[strcspn(line, "\r")] = '\0';
        works = read_line(name, number, line, list);
    }
    if (works && list->count == 0) {
        complain("%s: holds no job; a job is a line MODEL MARKERS OUT", name);
        works = false;
    }
    return works && check_outs(name, list);
}

void track_list_release(track_list *list)
{
    free(list->text);
    free(list->job);
    *list = (track_list){0};
}
