// Tables whose columns are as wide as they need to be.
#include "memory.h"
#include "terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 24, GAP = 2, LEAST_WIDTH = 20, LEAST_NAME = 12 };

struct table {
    int columns, rows, room;
    int gap; // between columns
    bool right[MOST_COLUMNS], has_head;
    char *head;
    char **cell; // rows x columns, each its own allocation
};

// Cut `text` at tabs into at most `most` cells in place; returns how many there are.
static int cut(char *text, char **cell, int most)
{
    int count = 0;
    while (count < most) {
        cell[count++] = text;
        text = strchr(text, '\t');
        if (!text) {
            break;
        }
        *text++ = '\0';
    }
    return count;
}

table *table_create(const char *head)
{
    table *t = needed(calloc(1, sizeof *t));
    char *cell[MOST_COLUMNS];
    t->head = needed(strdup(head));
    t->columns = cut(t->head, cell, MOST_COLUMNS);
    t->rows = 1;
    t->room = 16;
    t->cell = needed(calloc((size_t)(t->room * t->columns), sizeof *t->cell));
    for (int i = 0; i < t->columns; ++i) {
        t->right[i] = cell[i][0] == '>';
        t->cell[i] = needed(strdup(cell[i] + t->right[i]));
        t->has_head = t->has_head || t->cell[i][0];
    }
    return t;
}

void table_row(table *t, const char *format, ...)
{
    if (t->rows == t->room) {
        t->room *= 2;
        t->cell = needed(realloc(t->cell, sizeof *t->cell * (size_t)(t->room * t->columns)));
    }
    char text[1024], *cell[MOST_COLUMNS];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    int count = cut(text, cell, t->columns);
    for (int i = 0; i < count; ++i) {
        text_make_printable(cell[i]);
    }
    for (int i = 0; i < t->columns; ++i) {
        t->cell[t->rows * t->columns + i] = needed(strdup(i < count ? cell[i] : ""));
    }
    t->rows += 1;
}

static const char *cell_text(const table *t, int row, int column)
{
    return t->cell[row * t->columns + column];
}

// The last cell of a row on lines of its own width, each after `start` columns; the first stands where the cursor is.
static void print_last(FILE *stream, const char *text, int start, int columns)
{
    int column = start;
    while (*text) {
        size_t size = strcspn(text, " ");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)size, text);
        int width = text_columns(word);
        if (column > start && column + 1 + width > columns) {
            fprintf(stream, "\n%*s", start, "");
            column = start;
        }
        column += fprintf(stream, "%s", column > start ? " " : "") + width;
        fwrite(text, 1, size, stream);
        text += size;
        text += strspn(text, " ");
    }
}

// A text in a column that is too narrow for it: its beginning and its end, with ".." between them.
static void print_cell(FILE *stream, const char *text, int width)
{
    int columns = text_columns(text), end = 3 * (width - 2) / 4; // names differ at their ends
    if (columns <= width) {
        fputs(text, stream);
    } else {
        fprintf(stream, "%.*s..%s", (int)text_bytes(text, width - 2 - end), text, text + text_bytes(text, columns - end));
    }
}

// Make a table fit a terminal of `columns` columns: smaller gaps, then names shortened, the widest first.
static void narrow(table *t, int *width, int columns)
{
    int total = 0, last = t->columns - 1;
    for (int i = 0; i < t->columns; ++i) {
        bool goes_on = i == last && !t->right[i] && width[i] > LEAST_WIDTH;
        total += (goes_on ? LEAST_WIDTH : width[i]) + (i > 0 ? GAP : 0);
    }
    if (total > columns) {
        t->gap = 1;
        total -= last;
    }
    for (; total > columns; --total) {
        int widest = -1;
        for (int i = 0; i < last; ++i) {
            bool is_name = !t->right[i] && width[i] > LEAST_NAME;
            widest = is_name && (widest < 0 || width[i] > width[widest]) ? i : widest;
        }
        if (widest < 0) {
            break;
        }
        width[widest] -= 1;
    }
}

// Cells after each other; on a terminal of `columns` columns (0: none) a last cell that is flush left goes on below itself.
static void print_row(const table *t, FILE *stream, int row, const int *width, int columns)
{
    int pending = 0, start = 0; // spaces that only matter when something follows; where a column begins
    for (int i = 0; i < t->columns; ++i) {
        const char *text = cell_text(t, row, i);
        int space = width[i] > text_columns(text) ? width[i] - text_columns(text) : 0;
        pending += i > 0 ? t->gap : 0;
        pending += t->right[i] ? space : 0;
        start += i > 0 ? width[i - 1] + t->gap : 0;
        if (!text[0]) {
            pending += t->right[i] ? 0 : width[i];
            continue;
        }
        fprintf(stream, "%*s", pending, "");
        if (i + 1 == t->columns && !t->right[i] && start + width[i] > columns && start + LEAST_WIDTH <= columns) {
            print_last(stream, text, start, columns);
        } else {
            print_cell(stream, text, width[i]);
        }
        pending = t->right[i] ? 0 : space;
    }
    fputc('\n', stream);
}

void table_end(table *t, FILE *stream)
{
    int width[MOST_COLUMNS] = {0};
    for (int row = 0; row < t->rows; ++row) {
        for (int i = 0; i < t->columns; ++i) {
            int columns = text_columns(cell_text(t, row, i));
            width[i] = columns > width[i] ? columns : width[i];
        }
    }
    int columns = is_terminal(stream) ? terminal_columns(stream) : 0;
    t->gap = GAP;
    if (columns > 0) {
        narrow(t, width, columns);
    }
    if (t->has_head) {
        fputs(stream == stdout ? style_code(STYLE_BOLD) : "", stream);
        print_row(t, stream, 0, width, columns);
        fputs(stream == stdout ? style_code(STYLE_PLAIN) : "", stream);
    }
    for (int row = 1; row < t->rows; ++row) {
        print_row(t, stream, row, width, columns);
    }
    for (int i = 0; i < t->rows * t->columns; ++i) {
        free(t->cell[i]);
    }
    free(t->cell);
    free(t->head);
    free(t);
}
