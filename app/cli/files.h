// Files as wholes: read one into memory, write one so that it is never seen half-written; and lines as they come. "-" is a
// standard stream.
//
// All print one line on standard error when they fail.
#ifndef APP_WHOLE_FILES_H
#define APP_WHOLE_FILES_H

#include "system/system.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// The bytes of a file, with a zero after the last one that the size does not count.
typedef struct file_bytes {
    void *bytes;
    size_t size;
} file_bytes;

bool file_read(const char *name, file_bytes *file);
void file_release(file_bytes *file);

// Write under a temporary name beside the file, then rename: readers see the old file or the new one, whole. A name that is
// no regular file (a pipe, a device) is written to as it is; a link stays, and what it points to is written. An interrupt
// removes the temporary file.
bool file_write(const char *name, const void *bytes, size_t size);

// Would file_write work, as far as can be seen without writing? False after one line.
bool file_can_be_written(const char *name);

// Are both names of one file that is there?
bool files_are_same(const char *a, const char *b);

// Would file_write put both into one file, there or not, or both into standard output? A device takes any number.
bool files_would_be_same(const char *a, const char *b);

// Make a folder and those above it, as far as they are missing.
bool folder_make(const char *name);

// "folder/name" in `path`; false when it does not fit.
bool path_join(char *path, size_t size, const char *folder, const char *name);

// The part of a name after its last slash.
const char *path_base(const char *name);

// Text that grows in memory and then becomes a file or a paragraph: open, write to the stream, then close or print.
typedef memory_stream text_file; // print to its `stream`
void text_open(text_file *file);
bool text_close(text_file *file, const char *name); // writes as file_write does; releases the text in any case
void text_print(text_file *file);                   // as a paragraph on standard output, after an empty line

// Install what removes temporary files when the program is interrupted.
void files_clean_up_on_signals(void);

// Standard output, all of it, has been written. False, with a line on standard error, when it could not be.
bool files_flush_output(void);

// ---- Lines as they come, in bounded memory -------------------------------------------------------------------------------

enum { STREAM_LONGEST_LINE = 1 << 20 };

typedef struct line_source line_source;

// From standard input, or, with a port of 0 (any) or above, from datagrams to the address `host`. NULL after one line on
// standard error.
line_source *lines_open(const char *host, int port);
void lines_close(line_source *source); // NULL is allowed

int lines_port(const line_source *source); // that was bound; -1: standard input

typedef enum line_state { LINE_NONE = 0, LINE_READY, LINE_TOO_LONG, LINE_END } line_state;

// The next line, without its end, valid until the next call. NONE: none is there yet (never with `wait`). TOO_LONG: there
// was one beyond the limit, which is gone. END: there are no more. Every line counts in *number, from 1.
line_state lines_next(line_source *source, bool wait, const char **text, size_t *size, int64_t *number);

// Send a line to whoever sent the last datagram.
void lines_reply(const line_source *source, const char *text, size_t size);

#endif
