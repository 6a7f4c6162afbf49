// What people see: errors, colours, wrapped text.
#include "terminal.h"

#include "system/system.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

const char *style_code(style s)
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
