// Throughput against batch size, drawn from the JSON that `poise bench --save` writes.
#include "draw_report.h"

#include "cli/command.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "papers/reproduce/plot.h"

#include <string.h>

enum { MOST_CURVES = 8, MOST_POINTS = 32 };

typedef struct curve {
    const char *method;
    int count;
    double batch[MOST_POINTS], rate[MOST_POINTS]; // problems in a call; solves a second
} curve;

typedef struct curves {
    curve all[MOST_CURVES];
    int count;
    const char *robot;  // and the batch, after a comma
    const char *device; // and more about it, after a comma; NULL: none
} curves;

static curve *find_curve(curves *c, const char *method)
{
    for (int i = 0; i < c->count; ++i) {
        if (strcmp(c->all[i].method, method) == 0) {
            return &c->all[i];
        }
    }
    if (c->count == MOST_CURVES) {
        return NULL;
    }
    c->all[c->count].method = method;
    return &c->all[c->count++];
}

static void take_row(curves *c, const json_node *row)
{
    const char *of = json_text_of(json_get(row, "table"));
    const char *robot = json_text_of(json_get(row, "case"));
    const char *method = json_text_of(json_get(row, "method"));
    double batch = json_number_of(json_get(row, "batch"));
    double millions = json_number_of(json_get(row, "millions_per_second"));
    if (!of || strcmp(of, "sizes") != 0 || !robot || !method || !(batch > 0.0) || !(millions > 0.0)) {
        return;
    }
    curve *to = find_curve(c, method);
    if (to && to->count < MOST_POINTS) {
        to->batch[to->count] = batch;
        to->rate[to->count++] = 1e6 * millions;
        c->robot = robot;
    }
}

static void take_curves(curves *c, const json_node *report)
{
    const json_node *suites = json_get(report, "suites");
    for (const json_node *suite = suites ? suites->first : NULL; suite; suite = suite->next) {
        const json_node *rows = json_get(suite, "rows"), *notes = json_get(suite, "notes");
        for (const json_node *row = rows ? rows->first : NULL; row; row = row->next) {
            int before = c->count;
            take_row(c, row);
            if (c->count > before) {
                c->device = json_text_of(notes ? notes->first : NULL);
            }
        }
    }
}

static plot *draw(const curves *c, const char *subtitle)
{
    static const char *const colors[MOST_CURVES] = {PLOT_GREY, PLOT_GREEN,  PLOT_BLUE,  PLOT_RED,
                                                    PLOT_SKY,  PLOT_ORANGE, PLOT_BLACK, PLOT_PURPLE};
    plot *p = plot_create("Solves a second against the number of targets in a call", subtitle,
                          "Drawn by poise bench --draw.", 1, 1, 560.0, 320.0);
    plot_panel(p, 0, 0,
               &(plot_panel_options){.x = {.label = "targets in a call", .is_log = true},
                                     .y = {.label = "solves a second", .is_log = true}});
    for (int i = 0; i < c->count; ++i) {
        const curve *from = &c->all[i];
        plot_style look = {.color = colors[i], .width = 2.0, .size = 6.0};
        plot_line(p, look, from->batch, from->rate, from->count, from->method);
        plot_points(p, look, from->batch, from->rate, from->count, NULL);
    }
    return p;
}

static bool save(plot *p, const char *out)
{
    text_file file;
    text_open(&file);
    need(p && plot_write(p, file.stream));
    plot_destroy(p);
    return text_close(&file, out);
}

static bool draw_file(const char *name, const char *out)
{
    file_bytes file;
    poise_error error;
    size_t place;
    curves c = {.count = 0};
    char subtitle[512];
    if (!file_read(name, &file)) {
        return false;
    }
    json_node *report = json_read(file.bytes, file.size, &error, &place);
    file_release(&file);
    if (report) {
        take_curves(&c, report);
    }
    bool works = c.count > 0;
    if (!report) {
        complain("%s: line %d: %s", name, error.line, error.text);
    } else if (!works) {
        complain("%s: no rows of throughput against batch size; poise bench gpu-arms --save FILE has some", name);
    } else {
        const char *machine = json_text_of(json_get(report, "machine"));
        const char *device = c.device ? c.device : "";
        snprintf(subtitle, sizeof subtitle, "%.*s; %s, %d cores; %.*s", (int)strcspn(c.robot, ","), c.robot,
                 machine ? machine : "", (int)json_number_of(json_get(report, "cores")), (int)strcspn(device, ",."), device);
        works = save(draw(&c, subtitle), out);
    }
    json_release(report);
    return works;
}

static app_exit run(const arguments *args)
{
    if (!option_given(args, "output") || arguments_count(args) > 0) {
        complain("bench: --draw goes with -o alone: poise bench --draw REPORT.json -o FILE.svg");
        return APP_BAD;
    }
    return draw_file(option_text(args, "draw", NULL), option_text(args, "output", NULL)) ? APP_DONE : APP_BAD;
}

int draw_report(int count, char **words)
{
    return (int)app_run_with(&cmd_bench, run, count, words);
}
