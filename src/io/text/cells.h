// Lines of cells: between tabs, where cells may be empty, or words between blanks, where they may not.
#ifndef PZ_IO_CELLS_H
#define PZ_IO_CELLS_H

#include "io/io_core.h"

#include <string.h>

typedef struct pz_cells {
    const char *at, *end; // `at` beyond `end`: no cell is left
    char separator;       // ' ': blanks
} pz_cells;

static inline bool pz_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

// The cells of a line: between tabs if it has any.
static inline pz_cells pz_cells_of(pz_word line)
{
    bool has_tabs = line.length > 0 && memchr(line.text, '\t', line.length);
    return (pz_cells){line.text, line.text + line.length, has_tabs ? '\t' : ' '};
}

// Without the blanks around it.
static inline pz_word pz_word_trimmed(const char *at, const char *end)
{
    while (at < end && pz_is_blank(*at)) {
        ++at;
    }
    while (at < end && pz_is_blank(end[-1])) {
        --end;
    }
    return (pz_word){at, (size_t)(end - at)};
}

// The first line of a motion as a table with commas: "time,shoulder,elbow".
static inline bool pz_begins_table(pz_word line)
{
    const char *comma = line.length > 0 ? memchr(line.text, ',', line.length) : NULL;
    return comma && pz_word_is_like(pz_word_trimmed(line.text, comma), "time");
}

// The end of a MOT header as spreadsheets write it: "endheader,,,".
static inline bool pz_ends_header_with_commas(pz_word line)
{
    const size_t length = sizeof "endheader" - 1;
    return line.length > length && line.text[length] == ',' && pz_word_is_like((pz_word){line.text, length}, "endheader");
}

// The next cell, which may be empty between separators other than blanks. False when none is left.
static inline bool pz_cells_next(pz_cells *cells, pz_word *cell)
{
    if (cells->separator == ' ') {
        while (cells->at < cells->end && pz_is_blank(*cells->at)) {
            ++cells->at;
        }
        const char *first = cells->at;
        while (cells->at < cells->end && !pz_is_blank(*cells->at)) {
            ++cells->at;
        }
        *cell = (pz_word){first, (size_t)(cells->at - first)};
        return cell->length > 0;
    }
    if (cells->at > cells->end) {
        return false;
    }
    const char *stop = cells->at < cells->end ? memchr(cells->at, cells->separator, (size_t)(cells->end - cells->at)) : NULL;
    stop = stop ? stop : cells->end;
    *cell = pz_word_trimmed(cells->at, stop);
    cells->at = stop + 1;
    return true;
}

// A copy for a message, zero-terminated and cut to fit.
#define PZ_SAID_SIZE 48
static inline const char *pz_word_said(pz_word word, char text[PZ_SAID_SIZE])
{
    size_t length = word.length < PZ_SAID_SIZE - 1 ? word.length : PZ_SAID_SIZE - 1;
    memcpy(text, word.text, length);
    text[length] = '\0';
    return text;
}

#endif
