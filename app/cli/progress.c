// The progress bar.
#include "terminal.h"

#include <inttypes.h>
#include <stdio.h>

enum { CELLS = 24 };
#define REDRAW 0.1 // seconds between two drawings of the bar

static struct {
    const char *job, *items;
    int64_t total;
    double start, drawn; // seconds; drawn < 0: there is no bar
    bool active;
} bar;

void progress_start(const char *job, const char *items, int64_t total)
{
    bar.job = job;
    bar.items = items;
    bar.total = total;
    bar.start = seconds_now();
    bar.drawn = -1;
    bar.active = total > 0 && is_terminal(stderr);
}

// 12345 as "12.3 k": rates go over many powers of ten.
static void print_rate(double rate)
{
    static const char *const unit[] = {"", " k", " M", " G"};
    int power = 0;
    while (rate >= 1000 && power < 3) {
        rate /= 1000;
        power += 1;
    }
    fprintf(stderr, "%.3g%s", rate, unit[power]);
}

void progress_show(int64_t done)
{
    double now = bar.active ? seconds_now() : 0;
    if (!bar.active || (bar.drawn >= 0 && now - bar.drawn < REDRAW)) {
        return;
    }
    bar.drawn = now;
    double elapsed = now - bar.start, share = (double)done / (double)bar.total;
    int cells = (int)(CELLS * share);
    fprintf(stderr, "\r\033[K%s ", bar.job);
    for (int i = 0; i < CELLS; ++i) {
        fputs(i < cells ? "#" : ".", stderr);
    }
    fprintf(stderr, " %3.0f %%  ", 100 * share);
    if (elapsed > 0.2 && done > 0) {
        double left = elapsed * (1 - share) / share;
        print_rate((double)done / elapsed);
        fprintf(stderr, " %s/s, %d:%02d left", bar.items, (int)left / 60, (int)left % 60);
    }
    fflush(stderr);
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
