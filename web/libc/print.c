// Names with numbers in them, for the scenes.
#include <stdio.h>

#include <stdarg.h>
#include <string.h>

typedef struct sink {
    char *text;
    size_t size, used;
} sink;

static void put(sink *s, const char *text, size_t length)
{
    for (size_t i = 0; i < length; ++i, ++s->used) {
        if (s->used + 1 < s->size) {
            s->text[s->used] = text[i];
        }
    }
}

static void put_integer(sink *s, int value)
{
    char digits[12];
    size_t at = sizeof digits;
    unsigned rest = value < 0 ? 0u - (unsigned)value : (unsigned)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    put(s, digits + at, sizeof digits - at);
}

// One directive; what is not known is left out.
static void put_next(sink *s, char directive, va_list *list)
{
    if (directive == 's') {
        const char *text = va_arg(*list, const char *);
        put(s, text, strlen(text));
    } else if (directive == 'd') {
        put_integer(s, va_arg(*list, int));
    } else if (directive == 'c') {
        char c = (char)va_arg(*list, int);
        put(s, &c, 1);
    } else if (directive == '%') {
        put(s, "%", 1);
    }
}

int snprintf(char *restrict text, size_t size, const char *restrict format, ...)
{
    sink s = {text, size, 0};
    va_list list;
    va_start(list, format);
    for (const char *at = format; *at; ++at) {
        if (*at == '%' && at[1]) {
            put_next(&s, *++at, &list);
        } else {
            put(&s, at, 1);
        }
    }
    va_end(list);
    if (size > 0) {
        text[s.used < size ? s.used : size - 1] = '\0';
    }
    return (int)s.used;
}
