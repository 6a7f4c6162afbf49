#include "bench_report.h"

#include "cli/json.h"

#include <poise/base.h>

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 80 // of a terminal
#define FIGURES 6  // of a number in JSON
#define WORDS   48
#define NOTES   16

typedef struct row {
    char of[WORDS], method[WORDS];
    double value[REPORT_MOST_COLUMNS];
    bool is_same; // the answer of the first row of its case
} row;

struct bench_report {
    report_style style;
    json_node *json, *suite; // suite: the current one
    const report_table *table;
    const report_race *race; // NULL: none
    int given;               // columns that rows come with
    row *rows;
    int row_count, room;
    char *notes[NOTES]; // of the current table
    int note_count;
    double begin; // of the suite
    bool is_broken;
};

// ---- Words ---------------------------------------------------------------------------------------------------------------

// A paragraph; lines after the first are indented.
static void print_wrapped(const char *text, int indent)
{
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > COLUMNS) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > 0) {
            printf(" ");
            column += 1;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_words(const bench_report *r, const char *text, int indent)
{
    if (r->style == REPORT_TABLES) {
        print_wrapped(text, indent);
    } else if (r->style == REPORT_MARKDOWN) {
        printf("%s\n", text);
    }
}

static char *format_words(const char *format, va_list arguments)
{
    char *text = bench_take(1024, 1);
    vsnprintf(text, 1024, format, arguments);
    return text;
}

static void remember(json_node *object, const char *key, const char *text)
{
    json_node *list = json_get(object, key);
    if (!list) {
        list = json_new(JSON_ARRAY);
        json_set(object, key, list);
    }
    json_append(list, json_from_text(text));
}

// ---- Cells ---------------------------------------------------------------------------------------------------------------

typedef struct cell {
    char text[WORDS];
} cell;

static cell format_number(const report_column *column, double value)
{
    cell c;
    if (isnan(value)) {
        snprintf(c.text, sizeof c.text, "-");
    } else if (column->form == REPORT_FIGURES) {
        snprintf(c.text, sizeof c.text, "%.3g", value);
    } else if (column->form == REPORT_TIMES || column->form == REPORT_RATIO) {
        snprintf(c.text, sizeof c.text, "%.*fx", value < 100.0 ? column->digits : 0, value);
    } else if (column->form == REPORT_YES) {
        snprintf(c.text, sizeof c.text, value != 0.0 ? "yes" : "NO");
    } else {
        snprintf(c.text, sizeof c.text, "%.*f", fabs(value) < 1000.0 ? column->digits : 0, value);
    }
    return c;
}

// Column -2 is the case, -1 the method.
static cell cell_of(const bench_report *r, int i, int column)
{
    cell c;
    if (column < 0) {
        snprintf(c.text, sizeof c.text, "%s", column == -2 ? r->rows[i].of : r->rows[i].method);
        return c;
    }
    return format_number(&r->table->columns[column], r->rows[i].value[column]);
}

// Upper or lower word of a column's head; heads of one word stand below.
static cell head_of(const bench_report *r, int column, bool is_upper)
{
    const char *head = column == -2 ? r->table->of : column == -1 ? "method" : r->table->columns[column].head;
    const char *space = column < 0 ? NULL : strchr(head, ' ');
    cell c = {.text = ""};
    if (is_upper && space) {
        snprintf(c.text, sizeof c.text, "%.*s", (int)(space - head), head);
    } else if (!is_upper) {
        snprintf(c.text, sizeof c.text, "%s", space ? space + 1 : head);
    }
    return c;
}

static int largest(int a, size_t b)
{
    return a > (int)b ? a : (int)b;
}

static int width_of(const bench_report *r, int column)
{
    int width = largest(0, strlen(head_of(r, column, true).text));
    width = largest(width, strlen(head_of(r, column, false).text));
    for (int i = 0; i < r->row_count; ++i) {
        width = largest(width, strlen(cell_of(r, i, column).text));
    }
    return width;
}

// Is there a method besides "poise"?
static bool has_methods(const bench_report *r)
{
    for (int i = 0; i < r->row_count; ++i) {
        if (strcmp(r->rows[i].method, "poise") != 0) {
            return true;
        }
    }
    return false;
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

typedef struct layout {
    int width[REPORT_MOST_COLUMNS + 2]; // of column k - 2; 0: left out
    int gap;
} layout;

static int total_width(const report_table *t, const layout *l)
{
    int sum = -l->gap;
    for (int k = 0; k < t->count + 2; ++k) {
        sum += l->width[k] ? l->width[k] + l->gap : 0;
    }
    return sum;
}

// Two spaces between columns, or one, or one without details from the last on: the first that fits.
static layout plan_layout(const bench_report *r)
{
    layout l = {.gap = 2};
    for (int k = -2; k < r->table->count; ++k) {
        l.width[k + 2] = k == -1 && !has_methods(r) ? 0 : width_of(r, k);
    }
    if (total_width(r->table, &l) > COLUMNS) {
        l.gap = 1;
    }
    for (int k = r->table->count - 1; k >= 0 && total_width(r->table, &l) > COLUMNS; --k) {
        if (r->table->columns[k].is_detail) {
            l.width[k + 2] = 0;
        }
    }
    return l;
}

static bool has_upper_heads(const bench_report *r, const layout *l)
{
    for (int k = 0; k < r->table->count; ++k) {
        if (l->width[k + 2] > 0 && strchr(r->table->columns[k].head, ' ')) {
            return true;
        }
    }
    return false;
}

// Case, method, and columns `from` to `to`; row -2 and -1 are the words of the head.
static void print_line(const bench_report *r, const layout *l, int i, int from, int to)
{
    char line[512];
    int at = 0;
    for (int k = -2; k < to; k = k == -1 ? from : k + 1) {
        int width = l->width[k + 2];
        if (width == 0) {
            continue;
        }
        cell c = i < 0 ? head_of(r, k, i == -2) : cell_of(r, i, k);
        at +=
            snprintf(line + at, sizeof line - (size_t)at, "%*s%*s", at > 0 ? l->gap : 0, "", k < 0 ? -width : width, c.text);
    }
    while (at > 0 && line[at - 1] == ' ') {
        at -= 1;
    }
    printf("%.*s\n", at, line);
}

// What does not fit beside case and method goes into a second block below.
static void print_blocks(const bench_report *r)
{
    layout l = plan_layout(r);
    int first = l.width[0] + (l.width[1] ? l.gap + l.width[1] : 0);
    for (int from = 0; from < r->table->count;) {
        int to = from, sum = first;
        while (to < r->table->count && (to == from || sum + l.gap + l.width[to + 2] <= COLUMNS)) {
            sum += l.width[to + 2] ? l.gap + l.width[to + 2] : 0;
            to += 1;
        }
        printf("%s", from > 0 ? "\n" : "");
        for (int i = has_upper_heads(r, &l) ? -2 : -1; i < r->row_count; ++i) {
            print_line(r, &l, i, from, to);
        }
        from = to;
    }
}

static void print_markdown(const bench_report *r)
{
    bool methods = has_methods(r);
    printf("| %s |%s", r->table->of, methods ? " method |" : "");
    for (int k = 0; k < r->table->count; ++k) {
        printf(" %s |", r->table->columns[k].head);
    }
    printf("\n|---|%s", methods ? "---|" : "");
    for (int k = 0; k < r->table->count; ++k) {
        printf("---:|");
    }
    printf("\n");
    for (int i = 0; i < r->row_count; ++i) {
        for (int k = -2; k < r->table->count; ++k) {
            if (k != -1 || methods) {
                printf("%s %s |", k == -2 ? "|" : "", cell_of(r, i, k).text);
            }
        }
        printf("\n");
    }
}

static json_node *json_of(const report_column *column, double value)
{
    return column->form == REPORT_YES ? json_from_bool(value != 0.0) : json_from_number(value);
}

static void keep_rows(bench_report *r)
{
    json_node *rows = json_get(r->suite, "rows");
    for (int i = 0; i < r->row_count; ++i) {
        const row *from = &r->rows[i];
        json_node *to = json_make("{s:s, s:s, s:s}", "table", r->table->name, "case", from->of, "method", from->method);
        if (r->race) {
            json_set(to, "same_answer", json_from_bool(from->is_same));
        }
        for (int k = 0; k < r->table->count; ++k) {
            if (isfinite(from->value[k])) {
                json_set(to, r->table->columns[k].key, json_of(&r->table->columns[k], from->value[k]));
            }
        }
        json_append(rows, to);
    }
}

static void take_note(bench_report *r, char *text)
{
    if (r->note_count < NOTES) {
        r->notes[r->note_count++] = text;
    } else {
        free(text);
    }
}

// "no ratio, for want of the same answer: KDL LMA (panda, pr2)", method by method.
static void note_other_answers(bench_report *r)
{
    for (int i = 0; r->race && i < r->row_count; ++i) {
        const char *method = r->rows[i].method;
        bool is_known = false;
        for (int k = 0; k < i; ++k) {
            is_known = is_known || (!r->rows[k].is_same && strcmp(r->rows[k].method, method) == 0);
        }
        if (r->rows[i].is_same || is_known) {
            continue;
        }
        char *text = bench_take(1024, 1);
        int at = snprintf(text, 1024, "%s does not get there (", method);
        for (int k = i; k < r->row_count; ++k) {
            if (!r->rows[k].is_same && strcmp(r->rows[k].method, method) == 0 && at < 900) {
                at += snprintf(text + at, 1024 - (size_t)at, "%s%s", k > i ? ", " : "", r->rows[k].of);
            }
        }
        snprintf(text + at, 1024 - (size_t)at, "): no ratio");
        remember(r->suite, "notes", text);
        take_note(r, text);
    }
}

static void end_table(bench_report *r)
{
    if (!r->table) {
        return;
    }
    keep_rows(r);
    note_other_answers(r);
    if (r->style != REPORT_JSON) {
        printf("\n");
        print_words(r, r->table->title, 0);
        printf("\n");
        if (r->style == REPORT_TABLES) {
            print_blocks(r);
        } else {
            print_markdown(r);
        }
    }
    for (int i = 0; i < r->note_count; ++i) {
        if (r->style == REPORT_MARKDOWN) {
            printf("\n");
        }
        print_words(r, r->notes[i], 0);
        free(r->notes[i]);
    }
    fflush(stdout);
    r->table = NULL;
    r->row_count = r->note_count = 0;
}

static int find_column(const report_table *t, const char *key)
{
    for (int k = 0; k < t->count; ++k) {
        if (strcmp(t->columns[k].key, key) == 0) {
            return k;
        }
    }
    bench_fail("table %s: there is no column %s", t->name, key);
}

static int count_ratios(const report_table *t)
{
    int count = 0;
    for (int k = 0; k < t->count; ++k) {
        count += t->columns[k].form == REPORT_RATIO;
    }
    return count;
}

void report_begin_table(bench_report *r, const report_table *table)
{
    end_table(r);
    r->table = table;
    r->race = NULL;
    r->given = table->count;
    if (count_ratios(table) > 0) {
        bench_fail("table %s: ratios without a race", table->name);
    }
}

void report_begin_race(bench_report *r, const report_table *table, const report_race *race)
{
    end_table(r);
    r->table = table;
    r->race = race;
    r->given = table->count - count_ratios(table);
}

// Does the row have the answer of the first?
static bool is_same_answer(const bench_report *r, const row *first, const row *now)
{
    int k = find_column(r->table, r->race->answer);
    double bar = first->value[k], found = now->value[k];
    return now == first ||
           (r->race->error > 0.0 ? found <= fmax(REPORT_ABOVE * bar, r->race->error) : found >= REPORT_SHARE * bar);
}

static void add_ratios(const bench_report *r, row *now)
{
    const row *first = r->rows;
    while (strcmp(first->of, now->of) != 0) {
        ++first;
    }
    if (now != first && strcmp(first->method, now->method) == 0) {
        bench_fail("table %s: %s of %s races twice, so that others stand beside the wrong one", r->table->name, now->method,
                   now->of);
    }
    now->is_same = is_same_answer(r, first, now);
    for (int k = 0, ratio = 0; k < r->table->count; ++k) {
        if (r->table->columns[k].form == REPORT_RATIO) {
            int time = find_column(r->table, r->race->times[ratio++]);
            now->value[k] = now->is_same ? now->value[time] / first->value[time] : NAN;
        }
    }
}

void report_row(bench_report *r, const char *of, const char *method, int count, const double *values)
{
    if (!r->table || count != r->given) {
        bench_fail("a row of %d values for a table of %d columns", count, r->table ? r->given : 0);
    }
    if (r->row_count == r->room) {
        r->room = r->room ? 2 * r->room : 64;
        r->rows = realloc(r->rows, (size_t)r->room * sizeof *r->rows);
        if (!r->rows) {
            bench_fail("out of memory");
        }
    }
    row *to = &r->rows[r->row_count++];
    snprintf(to->of, sizeof to->of, "%s", of);
    snprintf(to->method, sizeof to->method, "%s", method);
    for (int k = 0; k < r->table->count; ++k) {
        to->value[k] = r->table->columns[k].form == REPORT_RATIO ? NAN : *values++;
    }
    if (r->race) {
        add_ratios(r, to);
    }
}

// ---- Suites --------------------------------------------------------------------------------------------------------------

void report_begin_suite(bench_report *r, const char *name, const char *summary)
{
    r->suite = json_make("{s:s, s:s, s:[]}", "name", name, "summary", summary, "rows");
    json_append(json_get(r->json, "suites"), r->suite);
    r->begin = bench_wall();
    if (r->style == REPORT_MARKDOWN) {
        printf("\n### %c%s\n\n%c%s.\n", toupper((unsigned char)name[0]), name + 1, toupper((unsigned char)summary[0]),
               summary + 1);
    } else if (r->style == REPORT_TABLES) {
        printf("\n%s: %s\n", name, summary);
    }
}

void report_end_suite(bench_report *r)
{
    end_table(r);
    json_set(r->suite, "seconds", json_from_number((bench_wall() - r->begin) * 1e-9));
    r->suite = NULL;
}

void report_note(bench_report *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_words(format, arguments);
    va_end(arguments);
    remember(r->suite, "notes", text);
    if (r->table && r->note_count < NOTES) {
        r->notes[r->note_count++] = text;
        return;
    }
    if (r->style == REPORT_MARKDOWN) {
        printf("\n");
    }
    print_words(r, text, 0);
    free(text);
}

void report_skip(bench_report *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_words(format, arguments);
    va_end(arguments);
    json_set(r->suite, "skipped", json_from_text(text));
    if (r->style != REPORT_JSON) {
        printf("%sSkipped: ", r->style == REPORT_MARKDOWN ? "\n" : "");
        print_words(r, text, 0);
    }
    free(text);
}

void report_promise(bench_report *r, bool is_held, const char *format, ...)
{
    if (is_held) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    char *text = format_words(format, arguments);
    va_end(arguments);
    r->is_broken = true;
    remember(r->suite, "broken", text);
    if (r->table && r->note_count < NOTES) {
        char *line = bench_take(1100, 1);
        snprintf(line, 1100, "BROKEN PROMISE: %s", text);
        r->notes[r->note_count++] = line;
    }
    free(text);
}

// ---- The report ----------------------------------------------------------------------------------------------------------

bench_report *report_create(report_style style, const bench_machine *m)
{
    bench_report *r = bench_take(1, sizeof *r);
    r->style = style;
    r->json = json_make("{s:s, s:i, s:s, s:s, s:s, s:s, s:[], s:[]}", "machine", m->processor, "cores", m->cores, "compiler",
                        m->compiler, "flags", m->flags, "version", poise_version(), "date", m->date, "peers", "suites");
    char text[640];
    if (style != REPORT_JSON) {
        snprintf(text, sizeof text, "%s, %d cores; %s%s%s; Poise %s; %s", m->processor, m->cores, m->compiler,
                 m->flags[0] ? ", " : "", m->flags, poise_version(), m->date);
        print_words(r, text, 0);
    }
    return r;
}

void report_peer(bench_report *r, const char *name, const char *package, bool is_built, bool is_asked)
{
    json_append(json_get(r->json, "peers"), json_make("{s:s, s:b, s:b, s:s}", "name", name, "built", is_built, "run",
                                                      is_built && is_asked, "package", package));
    if (is_asked && !is_built && r->style != REPORT_JSON) {
        char text[256];
        snprintf(text, sizeof text, "Without %s, which is not built in: apt-get install %s, then build again.", name,
                 package);
        printf("%s", r->style == REPORT_MARKDOWN ? "\n" : "");
        print_words(r, text, 0);
    }
}

bool report_finish(bench_report *r, const char *path)
{
    if (r->style == REPORT_JSON) {
        json_write(stdout, r->json, JSON_INDENTED, FIGURES);
        printf("\n");
    }
    FILE *file = path ? fopen(path, "w") : NULL;
    bool works = !path || (file && json_write(file, r->json, JSON_INDENTED, FIGURES));
    if ((file && fclose(file) != 0) || !works) {
        bench_fail("cannot write %s", path);
    }
    bool is_held = !r->is_broken;
    json_release(r->json);
    free(r->rows);
    free(r);
    return is_held;
}
