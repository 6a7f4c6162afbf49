#include "resume.h"

#include <stdlib.h>
#include <string.h>

#define LINE 32768 // a line has five histograms of a hundred counts

static void write_statistics(FILE *file, const evaluate_statistics *s)
{
    fprintf(file, " %lld %a %a %a %a %a", (long long)s->count, s->mean, s->squares, s->least, s->most, s->width);
    for (int i = 0; i <= EVALUATE_BINS; ++i) {
        fprintf(file, " %lld", (long long)s->bins[i]);
    }
}

void evaluate_progress_write(FILE *file, int part, const evaluate_results *results)
{
    fprintf(file, "part %d %lld %lld %lld %lld", part, (long long)results->reached, (long long)results->aimed,
            (long long)results->violations, (long long)results->left_out);
    write_statistics(file, &results->error);
    write_statistics(file, &results->orientation);
    write_statistics(file, &results->posture);
    write_statistics(file, &results->iterations);
    write_statistics(file, &results->time);
    fprintf(file, " end\n");
    fflush(file);
}

// Words of a line, one after the other; false when there is none left that is a number.
static bool next_integer(char **rest, int64_t *value)
{
    char *end;
    *value = strtoll(*rest, &end, 10);
    bool is_number = end != *rest;
    *rest = end;
    return is_number;
}

static bool next_number(char **rest, double *value)
{
    char *end;
    *value = strtod(*rest, &end);
    bool is_number = end != *rest;
    *rest = end;
    return is_number;
}

static bool read_statistics(char **rest, evaluate_statistics *s)
{
    bool is_whole = next_integer(rest, &s->count) && next_number(rest, &s->mean) && next_number(rest, &s->squares) &&
                    next_number(rest, &s->least) && next_number(rest, &s->most) && next_number(rest, &s->width);
    for (int i = 0; i <= EVALUATE_BINS && is_whole; ++i) {
        is_whole = next_integer(rest, &s->bins[i]);
    }
    return is_whole;
}

static bool read_part(char *line, int64_t *part, evaluate_results *r)
{
    if (strncmp(line, "part ", 5) != 0) {
        return false;
    }
    char *rest = line + 5;
    return next_integer(&rest, part) && next_integer(&rest, &r->reached) && next_integer(&rest, &r->aimed) &&
           next_integer(&rest, &r->violations) && next_integer(&rest, &r->left_out) && read_statistics(&rest, &r->error) &&
           read_statistics(&rest, &r->orientation) && read_statistics(&rest, &r->posture) &&
           read_statistics(&rest, &r->iterations) && read_statistics(&rest, &r->time) && strcmp(rest, " end\n") == 0;
}

int evaluate_progress_read(const char *path, const char *name, int count, evaluate_results *results, bool *done)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        return 0;
    }
    char *line = malloc(LINE);
    int found = 0;
    if (line && fgets(line, LINE, file)) {
        line[strcspn(line, "\n")] = '\0';
        found = strcmp(line, name) == 0 ? 0 : -1;
        int64_t part;
        evaluate_results r;
        while (found >= 0 && fgets(line, LINE, file)) {
            if (read_part(line, &part, &r) && part >= 0 && part < count && !done[part]) {
                results[part] = r;
                done[part] = true;
                found += 1;
            }
        }
    }
    free(line);
    fclose(file);
    return found;
}

FILE *evaluate_progress_append(const char *path, const char *name)
{
    FILE *file = fopen(path, "a+");
    if (file) {
        fseek(file, 0, SEEK_END);
        // after a line that was cut off a new one begins
        fprintf(file, ftell(file) == 0 ? "%s\n" : "\n", name);
        fflush(file);
    }
    return file;
}
