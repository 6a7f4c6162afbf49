// What differs from system to system, behind one set of names. system_posix.c has what Linux and macOS share, system_linux.c
// and system_macos.c what each has alone, system_windows.c everything for Windows. No other source of the program but
// those and sockets.h's calls the system beyond what POSIX and MinGW both have.
#ifndef APP_SYSTEM_H
#define APP_SYSTEM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- The program ---------------------------------------------------------------------------------------------------------

// Once, first of all: standard streams carry bytes as they are, a file beyond the limit of its size fails as one on a full
// disk does.
void system_begin(void);

// A reader of standard output that goes away does not end this program; writing fails from then on.
void system_ignore_closed_pipes(void);

// Writing to standard output has failed: because its reader went away, on a system that does not end the program then?
bool system_reader_is_gone(void);

// The path of this program, folders separated by '/'.
bool system_program_path(char *path, size_t size);

// Become another program, or run it to its end and exit as it did. Returns only when that fails, with errno set.
void system_become(const char *path, char *const *words);

// Show an address in the user's browser; silence where there is no desktop.
void system_show_address(const char *address);

// How many processors the program may use; at least 1.
int system_processors(void);

// Bytes that nobody can guess.
bool system_random(void *bytes, size_t size);

// Does the stream end at a terminal, and how many columns does that have? 0: no terminal, or one that does not say.
bool system_is_terminal(FILE *stream);
int system_terminal_columns(FILE *stream);

// ---- Interrupts and time -------------------------------------------------------------------------------------------------

// Call `handler` when the user interrupts the program, or the system ends it. A read or a sleep that runs then ends.
void system_on_interrupt(void (*handler)(int number));

// End the program by the signal, as if it had not been caught.
void system_die_of(int number);

// Nanoseconds since some moment in the past; never goes back.
int64_t system_nanoseconds(void);

// Nanoseconds of processor time that this thread has used: what work costs, however busy the machine is. On Windows, which
// counts that in steps of 16 milliseconds, of time.
int64_t system_thread_nanoseconds(void);

// Sleep until system_nanoseconds() is `when`, or an interrupt sets *stop.
void system_sleep_until(int64_t when, const volatile sig_atomic_t *stop);

// Timers as precise as they come; with a priority of 1 or above, real-time scheduling as well. False where that is refused,
// with errno set.
bool system_be_prompt(int priority);

// ---- Files ---------------------------------------------------------------------------------------------------------------

bool system_is_separator(char c); // of folders in a path
bool system_is_absolute(const char *path);

typedef enum path_kind { PATH_MISSING, PATH_FILE, PATH_FOLDER, PATH_LINK, PATH_OTHER } path_kind;
path_kind system_path_kind(const char *path, bool follow); // LINK only where links are not followed

// Are both paths of one file that is there?
bool system_same_file(const char *a, const char *b);

// Where a link leads: its length, or -1 when the path is none.
int system_read_link(const char *path, char *target, size_t size);

int system_open(const char *path, bool write); // a descriptor, or -1 with errno set

// Open a new file whose name ends in XXXXXX, which become other letters. An interrupt waits until *made is set.
int system_open_temporary(char *path, volatile sig_atomic_t *made);

// Give a temporary file the rights of the file that it will replace, or of a new one; then put it in that one's place.
bool system_copy_rights(int descriptor, const char *path);
bool system_replace(const char *temporary, const char *path);

bool system_make_folder(const char *path);

// Bytes that have reached the disk.
bool system_flush(FILE *stream);

// Is there something to read on standard input, its end included? With `wait`: once there is.
bool system_input_is_ready(bool wait);

// A stream into memory; *text and *size are valid after system_memory_close, which is false when memory ran out. free() it.
typedef struct memory_stream {
    FILE *stream;
    char *text;
    size_t size;
} memory_stream;
bool system_memory_open(memory_stream *memory);
bool system_memory_close(memory_stream *memory);

#endif
