// A list of jobs in a file.
#include "track_jobs.h"

#include "files.h"
#include "terminal.h"

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
        complain("%s:%d: a job is MODEL MARKERS OUT, parted by blanks (by tabs where names hold blanks)", name, number);
        return false;
    }
    list->job[list->count++] = (struct track_line){number, words[0], words[1], words[2]};
    return true;
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
    list->text = malloc(file.size + 1);
    list->job = calloc(lines, sizeof *list->job);
    bool works = list->text && list->job;
    if (works) {
        memcpy(list->text, file.bytes, file.size);
        list->text[file.size] = '\0';
    } else {
        complain("no memory left");
    }
    file_release(&file);
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
    return works;
}

void track_list_release(track_list *list)
{
    free(list->text);
    free(list->job);
    *list = (track_list){0};
}
