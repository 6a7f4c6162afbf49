// What people see: errors, colours, wrapped text; and the end of a program that has no memory left.
#include "terminal.h"
#include "command.h"
#include "system/system.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Memory that a program cannot go on without --------------------------------------------------------------------------

void need(bool has_memory)
{
    if (!has_memory) {
        complain_to(NULL, 0);
        messages_to(NULL);
        complain("no memory left");
        exit(APP_BAD);
    }
}

void *needed(void *memory)
{
    need(memory != NULL);
    return memory;
}

char *needed_copy(const void *bytes, size_t size)
{
    char *copy = needed(malloc(size + 1));
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

// ---- What people see -----------------------------------------------------------------------------------------------------

// ---- Messages ------------------------------------------------------------------------------------------------------------

static FILE *messages; // NULL: standard error

FILE *messages_to(FILE *stream)
{
    FILE *before = messages;
    messages = stream;
    return before;
}

static void print_message(const char *before, const char *format, va_list values)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, values);
    text_make_printable(text);
    if (!messages) {
        progress_erase();
    }
    print_line(messages ? messages : stderr, 2, "%s%s", before, text);
}

static char *captured; // NULL: complaints are printed
static size_t captured_size;

void complain_to(char *text, size_t size)
{
    captured = text;
    captured_size = size;
}

void complain(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (captured) {
        vsnprintf(captured, captured_size, format, values);
        text_make_printable(captured);
    } else {
        print_message("poise: ", format, values);
    }
    va_end(values);
}

void warn(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_message("poise: warning: ", format, values);
    va_end(values);
}

// ---- Terminal ------------------------------------------------------------------------------------------------------------

static bool is_told;
static bool told[2]; // standard output, standard error

void terminals_are(bool output, bool error)
{
    is_told = true;
    told[0] = output;
    told[1] = error;
}

bool is_terminal(FILE *stream)
{
    const char *kind = getenv("TERM");
    bool is_one = is_told ? told[stream == stderr] : system_is_terminal(stream);
    return is_one && kind && strcmp(kind, "dumb") != 0;
}

int terminal_columns(FILE *stream)
{
    int columns = system_terminal_columns(stream);
    return columns > 0 ? columns : 80;
}

const char *style_code(text_style s)
{
    static const char *const code[] = {"\033[0m", "\033[1m", "\033[90m", "\033[32m", "\033[31m", "\033[36m", "\033[33m"};
    const char *none = getenv("NO_COLOR");
    return is_terminal(stdout) && !(none && none[0]) ? code[s] : "";
}

double seconds_now(void)
{
    return 1e-9 * (double)system_nanoseconds();
}

static double began;

void seconds_begin(void)
{
    began = seconds_now();
}

double seconds_of_process(void)
{
    return seconds_now() - began;
}

// ---- Text ----------------------------------------------------------------------------------------------------------------

void text_make_printable(char *text)
{
    for (; *text; ++text) {
        if ((unsigned char)*text < 32 || *text == 127) {
            *text = '?';
        }
    }
}

// Bytes 10xxxxxx continue a character of UTF-8.
static int columns_of(const char *text, size_t size)
{
    int columns = 0;
    for (size_t i = 0; i < size; ++i) {
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return columns;
}

int text_columns(const char *text)
{
    return columns_of(text, strlen(text));
}

size_t text_bytes(const char *text, int columns)
{
    size_t size = 0;
    for (; text[size] && (columns > 0 || ((unsigned char)text[size] & 0xC0) == 0x80); ++size) {
        columns -= ((unsigned char)text[size + 1] & 0xC0) != 0x80;
    }
    return size;
}

// One line of source text that is to be wrapped together with those before it: `column` is where the cursor stands.
static int print_words(FILE *stream, const char *line, size_t size, int column, int indent, int columns)
{
    for (size_t i = 0; i < size;) {
        size_t length = 0;
        while (i + length < size && line[i + length] != ' ') {
            length += 1;
        }
        int width = columns_of(line + i, length);
        if (column > 0 && column + 1 + width > columns) {
            fputc('\n', stream);
            column = 0;
        }
        if (column == 0) {
            fprintf(stream, "%*s", indent, "");
            column = indent;
        } else {
            fputc(' ', stream);
            column += 1;
        }
        fwrite(line + i, 1, length, stream);
        column += width;
        i += length;
        while (i < size && line[i] == ' ') {
            i += 1;
        }
    }
    return column;
}

void print_wrapped(FILE *stream, const char *text, int indent, int columns)
{
    int column = 0;
    while (*text) {
        size_t size = strcspn(text, "\n");
        if (size == 0 || text[0] == ' ') {
            if (column > 0) {
                fputc('\n', stream);
            }
            column = 0;
            fprintf(stream, "%*s%.*s\n", size > 0 ? indent : 0, "", (int)size, text);
        } else {
            column = print_words(stream, text, size, column, indent, columns);
        }
        text += size + (text[size] == '\n');
    }
    if (column > 0) {
        fputc('\n', stream);
    }
}

void print_line(FILE *stream, int indent, const char *format, ...)
{
    char text[4096];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    bool is_wrapped = system_terminal_columns(stream) > 0 && text_columns(text) > terminal_columns(stream);
    if (is_wrapped) {
        size_t first = strspn(text, " ");
        first += strcspn(text + first, " "); // with the spaces before it
        fwrite(text, 1, first, stream);
        const char *rest = text + first + strspn(text + first, " ");
        print_words(stream, rest, strlen(rest), columns_of(text, first), indent, terminal_columns(stream));
        fputc('\n', stream);
    } else {
        fprintf(stream, "%s\n", text);
    }
}

void print_fact(FILE *stream, const char *head, const char *text, bool is_list)
{
    enum { BESIDE = 14, WIDEST = 100 };
    bool is_wrapped = is_list || system_terminal_columns(stream) > 0;
    int columns = is_wrapped ? terminal_columns(stream) : INT_MAX, column = 2 + text_columns(head);
    fprintf(stream, "  %s%*s", head, BESIDE - 1 - column, ""); // the first word brings a space along
    print_words(stream, text, strlen(text), BESIDE - 1, BESIDE, is_wrapped && columns > WIDEST ? WIDEST : columns);
    fputc('\n', stream);
}

void print_written(const char *const files[], int count, FILE *stream)
{
    const char *before = "\nwrote ";
    for (int i = 0; i < count; ++i) {
        if (files[i] && strcmp(files[i], "-") != 0) {
            fprintf(stream, "%s%s", before, files[i]);
            before = ", ";
        }
    }
    fputs(before[0] == ',' ? "\n" : "", stream);
}

// ---- Tables whose columns are as wide as they need to be -----------------------------------------------------------------

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

// ---- The progress bar, and the last words of a job that is stopped -------------------------------------------------------
//
// A line is "job ######.......  25 %  12.3 k items/s, 1:05 left", not wider than the terminal: the words behind the bar stay
// whole, the bar gets what room there is, and last of all the name of the job is cut.

enum { CELLS = 24, FEWEST_CELLS = 6 };
#define REDRAW 0.1 // seconds between two drawings of the bar

static struct {
    const char *job, *items; // items NULL: they differ so much that neither rate nor time left would be true
    char what[64];           // is done right now; empty: there is nothing to say
    int64_t total, before;   // before: done in an earlier run
    int64_t done;
    double start, drawn; // seconds; drawn < 0: there is no bar
    bool active;
} bar;

void progress_start(const char *job, const char *items, int64_t total)
{
    bar.job = job;
    bar.items = items;
    bar.what[0] = '\0';
    bar.total = total;
    bar.before = bar.done = 0;
    bar.start = seconds_now();
    bar.drawn = -1;
    bar.active = total > 0 && is_terminal(stderr);
}

void progress_resume(int64_t done)
{
    bar.before = done;
    progress_show(done);
}

// 12345 as "12.3 k": rates go over many powers of ten.
static void put_rate(char *text, size_t size, double rate)
{
    static const char *const unit[] = {"", " k", " M", " G"};
    int power = 0;
    while (rate >= 1000 && power < 3) {
        rate /= 1000;
        power += 1;
    }
    snprintf(text, size, "%.3g%s", rate, unit[power]);
}

// "1:05", "2:07:30"
static void put_time(char *text, size_t size, double seconds)
{
    int64_t s = (int64_t)seconds;
    if (s >= 3600) {
        snprintf(text, size, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
    } else {
        snprintf(text, size, "%d:%02d", (int)s / 60, (int)s % 60);
    }
}

static void draw(double now)
{
    double elapsed = now - bar.start, share = (double)bar.done / (double)bar.total;
    int64_t here = bar.done - bar.before; // in this run: what was done before says nothing about the rate
    char behind[160] = "", rate[32], left[32];
    bool has_share = bar.items || bar.total > 1; // one thing of unknown length has none before it is done
    int size = has_share ? snprintf(behind, sizeof behind, " %3.0f %%", 100 * share) : 0;
    if (bar.items && elapsed > 0.2 && here > 0) {
        put_rate(rate, sizeof rate, (double)here / elapsed);
        put_time(left, sizeof left, elapsed * (double)(bar.total - bar.done) / (double)here);
        size += snprintf(behind + size, sizeof behind - (size_t)size, "  %s %s/s, %s left", rate, bar.items, left);
    }
    if (bar.what[0]) {
        snprintf(behind + size, sizeof behind - (size_t)size, "%s%s", has_share ? "  " : "", bar.what);
    }
    int room = terminal_columns(stderr) - 1, job = text_columns(bar.job), words = text_columns(behind);
    int cells = room - job - 1 - words;
    cells = !has_share ? 0 : cells > CELLS ? CELLS : cells < FEWEST_CELLS ? FEWEST_CELLS : cells;
    if (job + 1 + cells + words > room) {
        job = room - 1 - cells - words > 0 ? room - 1 - cells - words : 0;
    }
    fprintf(stderr, "\r\033[K%.*s ", (int)text_bytes(bar.job, job), bar.job);
    for (int i = 0; i < cells; ++i) {
        fputs(i < (int)(cells * share) ? "#" : ".", stderr);
    }
    fprintf(stderr, "%.*s", (int)text_bytes(behind, room - 1 - cells > 0 ? room - 1 - cells : 0), behind);
    fflush(stderr);
    bar.drawn = now;
}

void progress_show(int64_t done)
{
    double now = bar.active ? seconds_now() : 0;
    bar.done = done < bar.before ? bar.before : done > bar.total ? bar.total : done;
    if (bar.active && (bar.drawn < 0 || now - bar.drawn >= REDRAW)) {
        draw(now);
    }
}

void progress_what(const char *what)
{
    snprintf(bar.what, sizeof bar.what, "%s", what);
    text_make_printable(bar.what);
    if (bar.active) {
        draw(seconds_now());
    }
}

void progress_erase(void)
{
    if (bar.active && bar.drawn >= 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    bar.drawn = -1;
}

void progress_end(void)
{
    progress_erase();
    bar.active = false;
}

// ---- Stopped -------------------------------------------------------------------------------------------------------------

// Two texts in turn: an interrupt finds a whole one at any moment. `last` < 0: none.
static char last_words[2][2048];
static volatile sig_atomic_t last = -1;

void interrupt_words(const char *format, ...)
{
    if (!format) {
        last = -1;
        return;
    }
    int next = last == 0;
    va_list values;
    va_start(values, format);
    vsnprintf(last_words[next], sizeof last_words[next], format, values);
    va_end(values);
    last = next;
}

// Nothing but write(2) and memory of our own: a signal handler calls it.
static void put_at_once(const char *text)
{
    size_t size = strlen(text);
    for (ssize_t put = 1; size > 0 && put > 0; text += put, size -= (size_t)put) {
        put = write(STDERR_FILENO, text, (unsigned)size);
        put = put > 0 ? put : 0;
    }
}

void interrupt_say(void)
{
    if (bar.active && bar.drawn >= 0) {
        put_at_once("\r\033[K");
    }
    if (last >= 0) {
        put_at_once(last_words[last]);
    }
}
