// What people see: errors, colours, tables, progress; and the end of a program that has no memory left.
//
// Results go to standard output, everything else to standard error. Colours and progress appear on a terminal only, and
// colours not where NO_COLOR is set to anything (https://no-color.org).
#ifndef APP_TERMINAL_H
#define APP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// One line on standard error, "poise: ..." with a newline; on a terminal it goes on below itself (print_line). Control
// characters of what is printed are shown as '?'.
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Until called with NULL, complaints go to `text` instead, which keeps the last one: for callers that report them in their
// own words.
void complain_to(char *text, size_t size);

// Complaints and warnings go to `stream` from now on; NULL: to standard error, as at first. Returns the stream before.
FILE *messages_to(FILE *stream);

// The same as "poise: warning: ...".
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Is the stream a terminal that understands control sequences? Its width in columns (80 where it is none).
bool is_terminal(FILE *stream);
int terminal_columns(FILE *stream);

// For a program whose output passes through another: whether standard output and standard error end at a terminal.
void terminals_are(bool output, bool error);

typedef enum text_style {
    STYLE_PLAIN = 0,
    STYLE_BOLD,
    STYLE_FAINT,
    STYLE_GOOD,
    STYLE_BAD,
    STYLE_NOTE,
    STYLE_DOUBT
} text_style;

// The control sequence for a style where colours are wanted on standard output, else "".
const char *style_code(text_style s);

// Names come from files: turn what would move the cursor into '?'.
void text_make_printable(char *text);

// Columns that a text takes on a terminal (UTF-8).
int text_columns(const char *text);

// Bytes of the start of a text that takes so many columns.
size_t text_bytes(const char *text, int columns);

// Print paragraphs, words wrapped at `columns`, each line after `indent` spaces. Lines that begin with a space are kept.
void print_wrapped(FILE *stream, const char *text, int indent, int columns);

// Print a line that goes on below itself, `indent` spaces in, where a terminal is too narrow. In a file or a pipe it stays
// one line, for grep.
void print_line(FILE *stream, int indent, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Print a fact: two spaces, `head`, and from column 14 on `text`, wrapped at the terminal's width, or at 100. In a file or
// a pipe a sentence stays in one line, for grep; what `is_list` goes on after 80 columns there, too.
void print_fact(FILE *stream, const char *head, const char *text, bool is_list);

// An empty line and the names of files that were written; those that are NULL or "-" were not.
void print_written(const char *const files[], int count, FILE *stream);

// ---- Tables --------------------------------------------------------------------------------------------------------------

// A table whose columns are as wide as they need to be. `head` holds the columns' names separated by tabs, with a '>' before
// those that are flush right: "joint\ttype\t>lower\t>upper"; names that are all empty are not printed. Control characters
// in cells are shown as '?'. On a terminal that is too narrow columns move together, a last column that is flush left goes
// on below itself, and the longest names are shortened in their middle.
typedef struct table table;
table *table_create(const char *head);
void table_row(table *t, const char *format, ...) __attribute__((format(printf, 2, 3))); // cells separated by tabs
void table_end(table *t, FILE *stream);                                                  // print it and release it

// ---- Progress ------------------------------------------------------------------------------------------------------------

// A bar with rate and time left, on standard error where that is a terminal; nothing otherwise. One at a time, from one
// thread at a time; progress_show may be called as often as you like. `job` and `items` are kept, not copied; without items
// there is neither a rate nor a time left.
void progress_start(const char *job, const char *items, int64_t total);
void progress_resume(int64_t done); // so many were done in an earlier run: the rate goes by those of this one
void progress_show(int64_t done);
void progress_what(const char *what); // what is done right now, behind the bar; drawn at once
void progress_end(void);              // the bar is gone
void progress_erase(void);            // until it is shown again

// What an interrupt (Ctrl-C) leaves on standard error from now on: whole lines that say what was kept and how to go on.
// NULL: nothing. Call it as often as what is kept changes, from one thread at a time.
void interrupt_words(const char *format, ...) __attribute__((format(printf, 1, 2)));
void interrupt_say(void); // for the signal handler

// Seconds since some moment in the past; never goes back.
double seconds_now(void);

// Seconds since the process began; app_run calls the first of the two.
void seconds_begin(void);
double seconds_of_process(void);

// ---- Memory that a program cannot go on without --------------------------------------------------------------------------

// What malloc and similar calls returned. Where that is NULL the program ends, with one line on standard error, exit status
// 2.
void *needed(void *memory);

// A copy of so many bytes, ended by a zero.
char *needed_copy(const void *bytes, size_t size);

// The same for calls of the library that fail for lack of memory only.
void need(bool has_memory);

#endif
