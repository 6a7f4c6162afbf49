// Printing JSON.
#include "json_output.h"

#include "system/system.h"
#include "terminal.h"

#include <stdlib.h>
#include <string.h>

static void put_text(FILE *stream, const char *text)
{
    putc('"', stream);
    for (const char *c = text; *c; ++c) {
        static const char special[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
        const char *at = strchr(special, *c);
        if (at) {
            fprintf(stream, "\\%c", names[at - special]);
        } else if ((unsigned char)*c < 0x20) {
            fprintf(stream, "\\u%04X", (unsigned)*c);
        } else {
            putc(*c, stream);
        }
    }
    putc('"', stream);
}

int json_number_text(char text[JSON_NUMBER_SIZE], double number, int most)
{
    int size = 0, digits = most < 15 ? most : 15; // that many a double always has
    do {
        size = snprintf(text, JSON_NUMBER_SIZE, "%.*g", digits, number);
    } while (++digits <= most && strtod(text, NULL) != number);
    return size;
}

// Always with a point or an exponent; that without a plus and leading zeros.
static void put_real(FILE *stream, double number, int digits)
{
    char text[JSON_NUMBER_SIZE];
    json_number_text(text, number, digits);
    char *exponent = strchr(text, 'e');
    if (!exponent) {
        fprintf(stream, "%s%s", text, strchr(text, '.') ? "" : ".0");
        return;
    }
    *exponent = '\0';
    fprintf(stream, "%se%d", text, atoi(exponent + 1));
}

static void put_leaf(FILE *stream, const json_node *value, int digits)
{
    static const char *const words[] = {"null", "false", "true"};
    if (value->kind == JSON_TEXT) {
        put_text(stream, value->text);
    } else if (value->kind == JSON_REAL) {
        put_real(stream, value->number, digits);
    } else if (value->kind == JSON_INTEGER) {
        fprintf(stream, "%lld", value->integer);
    } else {
        fputs(words[value->kind], stream);
    }
}

static bool has_lines(const json_node *list, json_layout layout, int depth)
{
    bool has_rows = list->kind == JSON_OBJECT || json_is(list->first, JSON_OBJECT);
    return list->count > 0 && (layout == JSON_INDENTED || (layout == JSON_ROWS && has_rows && depth < 2));
}

static void put(FILE *stream, const json_node *value, json_layout layout, int depth, int digits)
{
    if (value->kind != JSON_ARRAY && value->kind != JSON_OBJECT) {
        put_leaf(stream, value, digits);
        return;
    }
    bool in_lines = has_lines(value, layout, depth);
    int step = layout == JSON_INDENTED ? 2 : 1;
    json_layout inner = layout == JSON_ROWS && !in_lines ? JSON_LINE : layout;
    putc(value->kind == JSON_ARRAY ? '[' : '{', stream);
    for (const json_node *child = value->first; child; child = child->next) {
        if (in_lines) {
            fprintf(stream, "\n%*s", step * (depth + 1), "");
        }
        if (child->key) {
            put_text(stream, child->key);
            fputs(layout == JSON_TIGHT ? ":" : ": ", stream);
        }
        put(stream, child, inner, depth + 1, digits);
        if (child->next) {
            fputs(in_lines || layout == JSON_TIGHT ? "," : ", ", stream);
        }
    }
    if (in_lines) {
        fprintf(stream, "\n%*s", step * depth, "");
    }
    putc(value->kind == JSON_ARRAY ? ']' : '}', stream);
}

bool json_write(FILE *stream, const json_node *value, json_layout layout, int digits)
{
    if (value) {
        put(stream, value, layout, 0, digits);
    }
    return value && !ferror(stream);
}

char *json_to_text(const json_node *value, int digits)
{
    memory_stream memory;
    if (!value || !system_memory_open(&memory)) {
        return NULL;
    }
    bool works = json_write(memory.stream, value, JSON_TIGHT, digits);
    if (!system_memory_close(&memory) || !works) {
        free(memory.text);
        return NULL;
    }
    return memory.text;
}

static bool finish(FILE *stream, json_node *value, json_layout layout)
{
    bool works = json_write(stream, value, layout, JSON_DIGITS);
    if (!value) {
        complain("JSON could not be printed: out of memory");
    }
    putc('\n', stream);
    json_release(value);
    return works;
}

bool json_print(json_node *value)
{
    return finish(stdout, value, JSON_ROWS);
}

bool json_write_line(FILE *stream, json_node *value)
{
    return finish(stream, value, JSON_TIGHT);
}

bool json_print_line(json_node *value)
{
    return json_write_line(stdout, value);
}
