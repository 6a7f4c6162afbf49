// BVH: the rows of numbers.
//
// A row is a line. Where the first line does not hold one number for each channel, numbers are taken one after the other,
// wherever lines end. What is no finite number, or missing from a row, keeps the value of the frame before.
#include "io/bvh/bvh.h"

#include <string.h>

#define DEFAULT_FRAME_TIME (1.0 / 30.0) // seconds, where the file gives none that can be used

// ---- The header ----------------------------------------------------------------------------------------------------------

// The number after the colon, or after the word where there is none; false: none.
static bool value_after(pz_word line, size_t word, double *value)
{
    const char *end = line.text + line.length;
    const char *at = memchr(line.text, ':', line.length);
    at = at ? at + 1 : line.text + word;
    while (at < end && (*at == ' ' || *at == '\t')) {
        ++at;
    }
    return pz_number_read(at, end, value) != at && *value - *value == 0.0;
}

static void take_frames(bvh *file, pz_word line, int number, bvh_motion *motion)
{
    double value;
    if (!value_after(line, 6, &value) || value < 0 || value > INT32_MAX || value != (double)(int)value) {
        pz_input_warn(file->input, number, "Frames: has no count; the rows are counted instead");
        return;
    }
    motion->frames = (int)value;
}

static void take_frame_time(bvh *file, pz_word line, int number, bvh_motion *motion)
{
    double value;
    if (!value_after(line, 10, &value) || value <= 0) {
        pz_input_warn(file->input, number, "Frame Time: must be followed by seconds above 0; 1/30 assumed");
        return;
    }
    if (value > 1) {
        pz_input_warn(file->input, number, "a frame time of %g seconds; is that a rate, or in milliseconds?", value);
    }
    motion->frame_time = value;
}

static bool starts_like(pz_word line, const char *text)
{
    size_t length = strlen(text);
    return line.length >= length && pz_word_is_like((pz_word){line.text, length}, text);
}

bool pz_bvh_motion_header(bvh *file, bvh_motion *motion)
{
    *motion = (bvh_motion){.frames = -1, .frame_time = 0.0};
    pz_word word, line;
    if (!pz_scan_word(&file->scan, &word)) {
        pz_input_warn(file->input, file->scan.line, "no MOTION");
        return false;
    }
    motion->rows = file->scan; // the word was MOTION, or the hierarchy would not have ended
    pz_scan scan = file->scan;
    for (;;) {
        pz_scan next = scan;
        if (!pz_scan_word(&next, &word)) {
            break;
        }
        next.at = word.text;
        int number = next.line;
        pz_scan_line(&next, &line);
        if (starts_like(line, "Frame Time")) {
            take_frame_time(file, line, number, motion);
        } else if (starts_like(line, "Frames")) {
            take_frames(file, line, number, motion);
        } else {
            break;
        }
        motion->rows = scan = next;
    }
    if (motion->frame_time == 0.0) {
        motion->frame_time = DEFAULT_FRAME_TIME;
    }
    return true;
}

// ---- Rows ----------------------------------------------------------------------------------------------------------------

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_end(char c)
{
    return c == '\n' || c == '\r';
}

double *pz_bvh_first_frame(bvh *file, const bvh_motion *motion)
{
    double *first = pz_pool_take(&file->input->pool, file->channel_count, sizeof *first);
    pz_scan scan = motion->rows;
    for (size_t c = 0; first && c < file->channel_count; ++c) {
        pz_word word;
        first[c] = 0.0;
        if (pz_scan_word(&scan, &word)) {
            pz_word_number(word, &first[c]);
        }
    }
    return first;
}

enum { BAD_CELLS, SHORT_ROWS, LONG_ROWS, CAUSES };

// How a file's rows are read.
typedef struct row_reader {
    bvh *file;
    pz_scan scan;
    bool by_line; // a row ends with its line
    pz_cause causes[CAUSES];
} row_reader;

// A cell that is no plain number: passed over, with a warning, its value stays as it is.
static void pass_bad_cell(row_reader *r)
{
    pz_word word;
    pz_scan_word_in_line(&r->scan, &word);
    if (pz_is_among_first(&r->causes[BAD_CELLS])) {
        char text[PZ_SAID_SIZE];
        word.length = word.length < 23 ? word.length : 23;
        pz_input_warn(r->file->input, r->scan.line, "\"%s\" is not a finite number; the value of the previous frame is kept",
                      pz_word_said(word, text));
    }
}

// Cells up to the end of the row into `row`; returns how many there were.
static size_t read_cells(row_reader *r, double *row)
{
    const bvh_channel *channels = r->file->channels;
    const int *target = r->file->target;
    const double *shift = r->file->shift;
    size_t count = r->file->channel_count, c = 0;
    const char *end = r->scan.end;
    while (c < count) {
        const char *at = r->scan.at;
        while (at < end && is_space(*at)) {
            ++at;
        }
        r->scan.at = at;
        if (at >= end || is_end(*at)) {
            pz_word word;
            if (r->by_line || !pz_scan_word(&r->scan, &word)) {
                break;
            }
            at = r->scan.at = word.text;
        }
        double value;
        const char *after = channels[c].kind == BVH_ROTATION ? pz_number_read_scaled(at, end, PZ_RADIANS_PER_DEGREE, &value)
                                                             : pz_number_read(at, end, &value);
        if (after == at || (after < end && !is_space(*after) && !is_end(*after)) || value - value != 0.0) {
            pass_bad_cell(r);
        } else {
            r->scan.at = after;
            if (target[c] >= 0) {
                row[target[c]] = value - shift[c];
            }
        }
        ++c;
    }
    return c;
}

// To the first cell of the next row; false at the end.
static bool next_row(row_reader *r)
{
    pz_word word;
    pz_scan next = r->scan;
    if (!pz_scan_word(&next, &word)) {
        return false;
    }
    next.at = word.text;
    r->scan = next;
    return true;
}

// One row. False: it was left out, because it ends with the text or has less than half of its cells.
static bool read_row(row_reader *r, double *row)
{
    size_t count = r->file->channel_count;
    size_t cells = read_cells(r, row);
    pz_word rest;
    if (cells < count) {
        bool is_kept = r->scan.at < r->scan.end && 2 * cells >= count;
        if (pz_is_among_first(&r->causes[SHORT_ROWS])) {
            pz_input_warn(r->file->input, r->scan.line, "a row of %d numbers instead of %d; %s", (int)cells, (int)count,
                          is_kept ? "the rest keep the values of the previous frame" : "left out");
        }
        return is_kept;
    }
    if (r->by_line && pz_scan_word_in_line(&r->scan, &rest)) {
        if (pz_is_among_first(&r->causes[LONG_ROWS])) {
            pz_input_warn(r->file->input, r->scan.line, "a row of more than %d numbers; the rest are ignored", (int)count);
        }
        pz_scan_line(&r->scan, &rest);
    }
    return true;
}

// Does the first line hold a number for each channel?
static bool first_line_is_a_row(const bvh *file, const bvh_motion *motion)
{
    pz_scan scan = motion->rows;
    pz_word word;
    size_t cells = pz_scan_word(&scan, &word) ? 1 : 0;
    while (cells > 0 && cells <= file->channel_count && pz_scan_word_in_line(&scan, &word)) {
        ++cells;
    }
    return cells == file->channel_count;
}

static void warn_of_counts(row_reader *r, const bvh_motion *motion, int frames)
{
    pz_input *input = r->file->input;
    pz_causes_close(input, r->causes, CAUSES);
    if (motion->frames >= 0 && frames < motion->frames) {
        pz_input_warn(input, r->scan.line, "Frames: says %d, but there are %d", motion->frames, frames);
    } else if (motion->frames >= 0 && next_row(r)) {
        pz_input_warn(input, r->scan.line, "Frames: says %d, but there are more; the rest are ignored", motion->frames);
    }
}

// Frames that the rest of the text can hold at most: a row has half of its cells or more, each of two bytes or more.
static int frames_at_most(const bvh *file, const bvh_motion *motion)
{
    size_t rows = (size_t)(motion->rows.end - motion->rows.at) / file->channel_count + 1;
    int announced = motion->frames >= 0 ? motion->frames : INT32_MAX;
    return rows < (size_t)announced ? (int)rows : announced;
}

poise_status pz_bvh_rows(bvh *file, const bvh_motion *motion)
{
    pz_input *input = file->input;
    row_reader r = {.file = file,
                    .scan = motion->rows,
                    .by_line = first_line_is_a_row(file, motion),
                    .causes = {[BAD_CELLS].what = "cells that are not finite numbers",
                               [SHORT_ROWS].what = "rows that are too short",
                               [LONG_ROWS].what = "rows that are too long"}};
    if (!r.by_line && motion->frames > 0) {
        pz_input_warn(input, r.scan.line, "the first line does not hold %d numbers; rows are read across lines",
                      (int)file->channel_count);
    }
    int most = frames_at_most(file, motion), nq = poise_model_info(input->file->model).nq, frames = 0;
    if (nq == 0) {
        return POISE_OK; // nothing moves
    }
    poise_clip *clip;
    poise_status status = poise_clip_create(most, nq, motion->frame_time, input->allocator, &clip, NULL);
    if (status != POISE_OK) {
        return pz_input_no_memory(input);
    }
    while (frames < most && next_row(&r)) {
        double *row = clip->q + (size_t)frames * (size_t)nq;
        if (frames > 0) {
            memcpy(row, row - nq, (size_t)nq * sizeof *row);
        }
        frames += read_row(&r, row) ? 1 : 0;
    }
    warn_of_counts(&r, motion, frames);
    if (frames == 0) {
        poise_clip_destroy(clip);
        return POISE_OK;
    }
    return pz_input_keep_clip(input, clip, frames);
}
