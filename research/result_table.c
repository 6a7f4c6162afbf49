#include "result_table.h"

#include "cli/memory.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

bool sheet_has_times(const sheet *s)
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

void sheet_print(const sheet *s)
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

void sheet_write(const sheet *s, FILE *stream, bool times)
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

json_node *sheet_json(const sheet *s)
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
