// The progress bar, and the last words of a job that is stopped.
//
// A line is "job ######.......  25 %  12.3 k items/s, 1:05 left", not wider than the terminal: the words behind the bar stay
// whole, the bar gets what room there is, and last of all the name of the job is cut.
#include "terminal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    char behind[160], rate[32], left[32];
    int size = snprintf(behind, sizeof behind, " %3.0f %%", 100 * share);
    if (bar.items && elapsed > 0.2 && here > 0) {
        put_rate(rate, sizeof rate, (double)here / elapsed);
        put_time(left, sizeof left, elapsed * (double)(bar.total - bar.done) / (double)here);
        size += snprintf(behind + size, sizeof behind - (size_t)size, "  %s %s/s, %s left", rate, bar.items, left);
    }
    if (bar.what[0]) {
        snprintf(behind + size, sizeof behind - (size_t)size, "  %s", bar.what);
    }
    int room = terminal_columns(stderr) - 1, job = text_columns(bar.job), words = text_columns(behind);
    int cells = room - job - 1 - words;
    cells = cells > CELLS ? CELLS : cells < FEWEST_CELLS ? FEWEST_CELLS : cells;
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
