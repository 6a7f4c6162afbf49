// Results in rows: printed as a table for people, written as CSV, or given as JSON.
//
// A sheet has columns that are declared once. Rows are filled cell by cell, in order; a number that is not finite is an
// empty cell. Times of this machine are kept apart, so that a CSV is the same whenever and wherever it is written.
#ifndef RESEARCH_RESULT_TABLE_H
#define RESEARCH_RESULT_TABLE_H

#include "cli/json_output.h"

#include <stdio.h>

typedef struct sheet_column {
    const char *key;    // in CSV and JSON; NULL ends the list
    const char *head;   // on a terminal; NULL: not shown there
    const char *format; // of a number on a terminal, "%.2f"; NULL: the column holds text
    bool is_time;       // not for the CSV
} sheet_column;

typedef struct sheet sheet;

// The columns must stay valid. NULL without memory, which the other calls accept.
sheet *sheet_create(const sheet_column *columns);
void sheet_destroy(sheet *s);

void sheet_text(sheet *s, const char *text); // copied
void sheet_number(sheet *s, double number);

int sheet_rows(const sheet *s);
bool sheet_has_times(const sheet *s);

// A table with aligned columns on standard output.
void sheet_print(const sheet *s);

// With a line of keys. `times` chooses the texts and times instead of the texts and other numbers.
void sheet_write(const sheet *s, FILE *stream, bool times);

// An array of objects.
json_node *sheet_json(const sheet *s);

#endif
