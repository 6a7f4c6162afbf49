// The text of an XML document: its encoding and its declaration.
#ifndef PZ_IO_XML_TEXT_H
#define PZ_IO_XML_TEXT_H

#include "io/xml/xml_tree.h"

// A document as UTF-8, and how far it has been read. `at` only moves forward.
typedef struct pz_xml_text {
    pz_input *input;
    const char *file; // its name if it is not the one that `input` stands for, else NULL
    const char *begin, *at, *end;
    const char *counted; // lines are counted up to here
    int line;            // of `counted`
    bool is_declared;    // it has an XML declaration
} pz_xml_text;

static inline bool pz_xml_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Does this text come next?
bool pz_xml_is_next(const pz_xml_text *text, const char *what);

// To what is not white space; true when there was some.
bool pz_xml_skip_space(pz_xml_text *text);

// The line of a place at or behind all places that were asked for before.
int pz_xml_line(pz_xml_text *text, const char *place);

// Report that something is wrong at a place: line and column, in characters. Always POISE_ERROR_FORMAT.
poise_status pz_xml_fail_at(pz_xml_text *text, const char *place, const char *format, ...) PZ_PRINTF(3, 4);

// Make UTF-8 of the bytes and read the declaration, if there is one: `at` is behind it.
//
// Encodings: UTF-8, UTF-16, ISO-8859-1, US-ASCII. Bytes that are not UTF-8, where the document does not declare another
// encoding, are taken as ISO-8859-1, with a warning. A half of a surrogate pair alone becomes U+FFFF, which no document may
// hold.
poise_status pz_xml_open(pz_xml_text *text, const void *bytes, size_t size);

#endif
