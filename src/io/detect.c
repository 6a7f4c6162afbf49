// Which format are these bytes? Their beginning says it for all but a few; then the name does.
#include "io/io_core.h"

#include <string.h>

// ---- XML -----------------------------------------------------------------------------------------------------------------

// Past the next `mark`; the end when there is none.
static const char *past(const char *at, const char *end, const char *mark)
{
    size_t length = strlen(mark);
    for (; (size_t)(end - at) >= length; ++at) {
        if (memcmp(at, mark, length) == 0) {
            return at + length;
        }
    }
    return end;
}

static bool starts_with(const char *at, const char *end, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(end - at) >= length && memcmp(at, text, length) == 0;
}

static poise_format detect_xml(const char *at, const char *end)
{
    for (;;) {
        at = past(at, end, "<");
        if (at >= end) {
            return POISE_FORMAT_UNKNOWN;
        }
        if (starts_with(at, end, "!--")) {
            at = past(at + 3, end, "-->");
        } else if (*at == '?' || *at == '!') {
            at = past(at, end, ">");
        } else if (starts_with(at, end, "robot")) {
            bool is_srdf = past(at, end, "<disable_collisions") < end || past(at, end, "<group_state") < end;
            return is_srdf && past(at, end, "<child ") == end ? POISE_FORMAT_SRDF : POISE_FORMAT_URDF;
        } else if (starts_with(at, end, "mujoco")) {
            return POISE_FORMAT_MJCF;
        } else if (starts_with(at, end, "OpenSimDocument")) {
            return POISE_FORMAT_OSIM;
        } else {
            return POISE_FORMAT_UNKNOWN;
        }
    }
}

// ---- JSON ----------------------------------------------------------------------------------------------------------------

// Past the string that begins after the quotation mark before `at`; its text without the marks goes to *text.
static const char *past_string(const char *at, const char *end, pz_word *text)
{
    const char *first = at;
    while (at < end && *at != '"') {
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    }
    *text = (pz_word){first, (size_t)(at - first)};
    return at < end ? at + 1 : end;
}

// By the members of the outermost object.
static poise_format detect_json(const char *at, const char *end)
{
    int depth = 0;
    while (at < end) {
        char c = *at++;
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        if (c == '"') {
            pz_word text;
            at = past_string(at, end, &text);
            if (depth == 1 && pz_word_is(text, "asset")) {
                return POISE_FORMAT_GLTF;
            }
            if (depth == 1 && pz_word_is(text, "poise")) {
                return POISE_FORMAT_JSON;
            }
        }
    }
    return POISE_FORMAT_UNKNOWN;
}

// ---- Text ----------------------------------------------------------------------------------------------------------------

// Words of a table of Denavit-Hartenberg parameters in its first line, between commas, semicolons or white space.
static bool is_dh_header(pz_word line)
{
    unsigned seen = 0;
    for (size_t i = 0; i < line.length;) {
        size_t length = 0;
        while (i + length < line.length && !strchr(",; \t\"", line.text[i + length])) {
            ++length;
        }
        static const char *const names[] = {"a", "alpha", "d", "theta"};
        for (unsigned k = 0; k < 4; ++k) {
            size_t stem = 0; // up to a unit, as in alpha_deg
            while (stem < length && line.text[i + stem] != '_') {
                ++stem;
            }
            seen |= pz_word_is_like((pz_word){line.text + i, stem}, names[k]) ? 1u << k : 0;
        }
        i += length + 1;
    }
    return seen == 15;
}

#define HEADER_LINES 64 // of a MOT file, in which its "endheader" must come

static bool has_end_of_header(pz_scan scan)
{
    pz_word line;
    for (int i = 0; i < HEADER_LINES && pz_scan_line(&scan, &line); ++i) {
        pz_scan inner = pz_scan_over(line.text, line.length);
        pz_word word;
        if (pz_scan_word(&inner, &word) && (pz_word_is_like(word, "endheader") || pz_ends_header_with_commas(word))) {
            return true;
        }
    }
    return false;
}

static poise_format detect_text(pz_scan scan)
{
    pz_scan start = scan;
    pz_word line = {scan.at, 0}, word = {scan.at, 0};
    while (word.length == 0 || word.text[0] == '#') { // skip empty lines and comments
        if (!pz_scan_line(&scan, &line)) {
            return POISE_FORMAT_UNKNOWN;
        }
        pz_scan inner = {.at = line.text, .end = line.text + line.length, .line = 1};
        pz_scan_word(&inner, &word);
    }
    static const struct {
        const char *word;
        poise_format format;
    } beginnings[] = {
        {"HIERARCHY", POISE_FORMAT_BVH}, {":version", POISE_FORMAT_ASF},       {":name", POISE_FORMAT_ASF},
        {":units", POISE_FORMAT_ASF},    {":documentation", POISE_FORMAT_ASF}, {":root", POISE_FORMAT_ASF},
        {":bonedata", POISE_FORMAT_ASF}, {":hierarchy", POISE_FORMAT_ASF},     {":fully-specified", POISE_FORMAT_AMC},
        {":degrees", POISE_FORMAT_AMC},  {":radians", POISE_FORMAT_AMC},       {"PathFileType", POISE_FORMAT_TRC},
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; ++i) {
        if (pz_word_is_like(word, beginnings[i].word)) {
            return beginnings[i].format;
        }
    }
    if (is_dh_header(line)) {
        return POISE_FORMAT_DH;
    }
    return pz_begins_table(line) || has_end_of_header(start) ? POISE_FORMAT_MOT : POISE_FORMAT_UNKNOWN;
}

// ---- All -----------------------------------------------------------------------------------------------------------------

// A C3D begins with the number of its first parameter block and the letter P. A text may have that letter second, too, but
// not after a control character other than tab and the ends of lines, nor with a zero in its first 512 bytes, where a C3D
// header is nearly nothing else.
static bool is_c3d(const unsigned char *bytes, size_t size)
{
    bool begins = size >= 2 && bytes[1] == 0x50 && bytes[0] > 0;
    bool is_text = begins && (bytes[0] >= 0x20 || strchr("\t\n\v\f\r", bytes[0]));
    return begins && (!is_text || memchr(bytes, 0, size < 512 ? size : 512));
}

static poise_format detect_content(const void *bytes, size_t size)
{
    if (is_c3d(bytes, size)) {
        return POISE_FORMAT_C3D;
    }
    if (size >= 4 && memcmp(bytes, "glTF", 4) == 0) {
        return POISE_FORMAT_GLB;
    }
    pz_scan scan = pz_scan_over(bytes, size);
    pz_scan start = scan;
    pz_word word;
    if (!pz_scan_word(&scan, &word)) {
        return POISE_FORMAT_UNKNOWN;
    }
    switch (word.text[0]) {
    case '<':
        return detect_xml(word.text, scan.end);
    case '{':
        return detect_json(word.text, scan.end);
    default:
        return detect_text(start);
    }
}

static poise_format detect_name(const char *name)
{
    const char *dot = name ? strrchr(name, '.') : NULL;
    if (!dot) {
        return POISE_FORMAT_UNKNOWN;
    }
    pz_word extension = {dot, strlen(dot)};
    for (int f = POISE_FORMAT_UNKNOWN + 1; f < POISE_FORMAT_COUNT; ++f) {
        if (pz_word_is_like(extension, pz_format_row_of((poise_format)f)->extension)) {
            return (poise_format)f;
        }
    }
    return pz_word_is_like(extension, ".sto") ? POISE_FORMAT_MOT : POISE_FORMAT_UNKNOWN;
}

poise_format poise_format_detect(const void *bytes, size_t size, const char *name)
{
    poise_format format = bytes && size > 0 ? detect_content(bytes, size) : POISE_FORMAT_UNKNOWN;
    bool is_open = format == POISE_FORMAT_UNKNOWN && !(bytes && pz_is_foreign(bytes, size, NULL));
    return is_open ? detect_name(name) : format;
}
