// Pages of one file: a template with data put into it.
#include "page.h"

#include "cli/command.h"
#include "cli/memory.h"
#include "cli/whole_files.h"

#include <stdlib.h>
#include <string.h>

// ---- Base64 --------------------------------------------------------------------------------------------------------------

// RFC 4648.
static char *base64(const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    char *text = malloc((size + 2) / 3 * 4 + 1), *t = text;
    if (!text) {
        return NULL;
    }
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        unsigned word =
            (unsigned)b[i] << 16 | (left > 1 ? (unsigned)b[i + 1] << 8 : 0) | (left > 2 ? (unsigned)b[i + 2] : 0);
        *t++ = digits[word >> 18];
        *t++ = digits[word >> 12 & 63];
        *t++ = digits[word >> 6 & 63];
        *t++ = digits[word & 63];
    }
    if (size % 3 > 0) {
        t[-1] = '=';
    }
    if (size % 3 == 1) {
        t[-2] = '=';
    }
    *t = '\0';
    return text;
}

// Numbers of the page are little-endian, as are the machines that this runs on.
json_node *page_packed(const void *bytes, size_t size)
{
    char *text = bytes ? base64(bytes, size) : NULL;
    json_node *value = text ? json_from_text(text) : NULL;
    free(text);
    return value;
}

// ---- The command line ----------------------------------------------------------------------------------------------------

// A word as a shell takes it.
static void print_word(FILE *stream, const char *word)
{
    if (word[0] &&
        strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-") == strlen(word)) {
        fprintf(stream, " %s", word);
        return;
    }
    fputs(" '", stream);
    for (; *word; ++word) {
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, stream);
    }
    fputc('\'', stream);
}

json_node *page_command(const arguments *args)
{
    text_file text;
    text_open(&text);
    const app_command *command = arguments_command(args);
    fprintf(text.stream, "poise %s", command->name);
    for (int i = 0; i < arguments_count(args); ++i) {
        print_word(text.stream, arguments_at(args, i));
    }
    for (const app_option *o = command->options; o->name; ++o) {
        const char *value;
        for (int i = 0; o->kind != OPTION_FLAG && (value = option_text_at(args, o->name, i)) != NULL; ++i) {
            fprintf(text.stream, " --%s", o->name);
            print_word(text.stream, value);
        }
        if (o->kind == OPTION_FLAG && option_given(args, o->name)) {
            fprintf(text.stream, " --%s", o->name);
        }
    }
    json_node *o = fclose(text.stream) == 0 ? json_from_text(text.text) : NULL;
    free(text.text);
    return o;
}

// ---- The page ------------------------------------------------------------------------------------------------------------

// JSON inside a script element: no "<" may stand in it, or a name could end the element.
static void print_data(FILE *stream, const char *data)
{
    for (; *data; ++data) {
        if (*data == '<') {
            fputs("\\u003c", stream);
        } else {
            fputc(*data, stream);
        }
    }
}

// page_head.html, ended by a zero; made by cmake/embed.cmake when the program is built
extern const unsigned char page_head_text[];

bool page_write(const char *page, json_node *data, const char *name)
{
    enum { DIGITS = 6 };
    static const char hole[] = "@POISE_REPORT_DATA@";
    const char *at = strstr(page, hole);
    char *text = json_to_text(data, DIGITS);
    json_release(data);
    text_file file;
    need(text && at);
    text_open(&file);
    fputs((const char *)page_head_text, file.stream);
    fwrite(page, 1, (size_t)(at - page), file.stream);
    print_data(file.stream, text);
    fputs(at + strlen(hole), file.stream);
    free(text);
    return text_close(&file, name);
}
