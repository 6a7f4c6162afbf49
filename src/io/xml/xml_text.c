#include "io/xml/xml_text.h"

#include "base/letters.h"

#include <string.h>

// ---- Places --------------------------------------------------------------------------------------------------------------

bool pz_xml_is_next(const pz_xml_text *text, const char *what)
{
    size_t length = strlen(what);
    return (size_t)(text->end - text->at) >= length && memcmp(text->at, what, length) == 0;
}

bool pz_xml_skip_space(pz_xml_text *text)
{
    const char *from = text->at;
    while (text->at < text->end && pz_xml_is_space(*text->at)) {
        text->at += 1;
    }
    return text->at > from;
}

// Lines end with LF, CR LF or CR.
static bool ends_line(const pz_xml_text *text, const char *c)
{
    return *c == '\n' || (*c == '\r' && (c + 1 == text->end || c[1] != '\n'));
}

int pz_xml_line(pz_xml_text *text, const char *place)
{
    for (; text->counted < place; ++text->counted) {
        text->line += ends_line(text, text->counted);
    }
    return text->line;
}

poise_status pz_xml_fail_at(pz_xml_text *text, const char *place, const char *format, ...)
{
    poise_error said = {.line = 0};
    va_list arguments;
    va_start(arguments, format);
    pz_error_set_list(&said, POISE_OK, format, arguments);
    va_end(arguments);
    int column = 1;
    for (const char *c = place; c > text->begin && !ends_line(text, c - 1); --c) {
        column += ((unsigned char)c[-1] & 0xC0) != 0x80 && c[-1] != '\r';
    }
    pz_xml_node here = {.file = text->file, .line = pz_xml_line(text, place)};
    pz_xml_fail(text->input, &here, POISE_ERROR_FORMAT, "%s", said.text);
    if (text->input->error) {
        text->input->error->column = column;
    }
    return POISE_ERROR_FORMAT;
}

// ---- The declaration -----------------------------------------------------------------------------------------------------

typedef enum encoding { ENCODING_UTF8, ENCODING_LATIN, ENCODING_WIDE, ENCODING_UNKNOWN } encoding;

// One attribute of the declaration, in the order of these names.
typedef enum part { PART_VERSION, PART_ENCODING, PART_STANDALONE, PART_COUNT } part;

// Is it this word, whatever the case of its letters? `word` has capitals.
static bool is_word(const char *at, size_t length, const char *word)
{
    if (strlen(word) != length) {
        return false;
    }
    for (size_t i = 0; i < length; ++i) {
        char c = to_upper(at[i]);
        if (c != word[i]) {
            return false;
        }
    }
    return true;
}

static encoding encoding_named(pz_word name)
{
    static const struct {
        const char *name;
        encoding is;
    } known[] = {{"UTF-8", ENCODING_UTF8},  {"US-ASCII", ENCODING_LATIN}, {"ISO-8859-1", ENCODING_LATIN},
                 {"UTF-16", ENCODING_WIDE}, {"UTF-16LE", ENCODING_WIDE},  {"UTF-16BE", ENCODING_WIDE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (is_word(name.text, name.length, known[i].name)) {
            return known[i].is;
        }
    }
    return ENCODING_UNKNOWN;
}

static bool is_in_value(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
}

// name="value" with white space in front.
static bool read_attribute(pz_xml_text *text, pz_word *name, pz_word *value)
{
    bool is_separate = pz_xml_skip_space(text);
    name->text = text->at;
    while (text->at < text->end && is_lower(*text->at)) {
        text->at += 1;
    }
    name->length = (size_t)(text->at - name->text);
    pz_xml_skip_space(text);
    if (!is_separate || text->at >= text->end || *text->at++ != '=') {
        return false;
    }
    pz_xml_skip_space(text);
    char quote = text->at < text->end ? *text->at++ : '\0';
    value->text = text->at;
    while (text->at < text->end && is_in_value(*text->at)) {
        text->at += 1;
    }
    value->length = (size_t)(text->at - value->text);
    return (quote == '"' || quote == '\'') && text->at < text->end && *text->at++ == quote;
}

// <?xml version="1.0" encoding="..." standalone="..."?>, the last two optional; false when it is malformed.
static bool read_declaration(pz_xml_text *text, pz_word *encoding_name)
{
    static const char *const names[PART_COUNT] = {"VERSION", "ENCODING", "STANDALONE"};
    text->at += 5;
    for (int next = PART_VERSION;;) {
        const char *before = text->at;
        pz_xml_skip_space(text);
        if (pz_xml_is_next(text, "?>")) {
            text->at += 2;
            return next > PART_VERSION;
        }
        text->at = before;
        pz_word name, value;
        if (!read_attribute(text, &name, &value)) {
            return false;
        }
        while (next < PART_COUNT && !is_word(name.text, name.length, names[next])) {
            next = next == PART_VERSION ? PART_COUNT : next + 1; // the version must be there
        }
        bool is_answer = pz_word_is(value, "yes") || pz_word_is(value, "no");
        if (next == PART_COUNT || (next == PART_STANDALONE && !is_answer)) {
            return false;
        }
        if (next == PART_ENCODING) {
            *encoding_name = value;
        }
        next += 1;
    }
}

static bool starts_declaration(const pz_xml_text *text)
{
    return pz_xml_is_next(text, "<?xml") && text->end - text->at > 5 && pz_xml_is_space(text->at[5]);
}

// A typing error in the declaration says nothing about the rest: it is passed over.
static poise_status skip_malformed(pz_xml_text *text, const char *from)
{
    enum { FAR = 1024 }; // "?>" is near or nowhere
    text->at = from;
    while (text->at - from < FAR && text->at < text->end && !pz_xml_is_next(text, "?>")) {
        text->at += 1;
    }
    if (!pz_xml_is_next(text, "?>")) {
        return pz_xml_fail_at(text, from, "the XML declaration does not end: close it with ?>");
    }
    pz_xml_node here = {.file = text->file, .line = pz_xml_line(text, from)};
    pz_xml_warn(text->input, NULL, &here, "the XML declaration is malformed; the file is read as UTF-8");
    text->at += 2;
    const char *behind = text->at;
    pz_xml_skip_space(text);
    if (starts_declaration(text)) {
        return pz_xml_fail_at(text, text->at, "there are two XML declarations: remove one");
    }
    text->at = behind;
    return POISE_OK;
}

// Pass over the declaration. What it says about the encoding must be true.
static poise_status skip_declaration(pz_xml_text *text, bool is_wide)
{
    const char *from = text->at;
    pz_word name = {NULL, 0};
    if (!read_declaration(text, &name)) {
        return skip_malformed(text, from);
    }
    if (!name.text) {
        return POISE_OK;
    }
    encoding declared = encoding_named(name);
    if (declared == ENCODING_UNKNOWN) {
        return pz_xml_fail_at(text, name.text, "XML: unknown encoding: save the file as UTF-8");
    }
    if ((declared == ENCODING_WIDE) != is_wide) {
        return pz_xml_fail_at(text, name.text, "XML: the declared encoding is not that of the file: correct it");
    }
    return POISE_OK;
}

// ---- Encodings -----------------------------------------------------------------------------------------------------------

static bool make_room(pz_xml_text *text, size_t size, char **to)
{
    *to = pz_pool_take(&text->input->pool, size, 1);
    return *to != NULL;
}

static void replace(pz_xml_text *text, const char *begin, const char *end)
{
    text->begin = text->at = text->counted = begin;
    text->end = end;
    text->line = 1;
}

// UTF-16: two bytes become three at most.
static bool convert_wide(pz_xml_text *text, bool is_big)
{
    const unsigned char *from = (const unsigned char *)text->at, *end = (const unsigned char *)text->end;
    size_t size = (size_t)(end - from);
    char *to, *at;
    if (!make_room(text, size + size / 2 + 8, &to)) {
        return false;
    }
    at = to;
    uint32_t high = 0; // the first half of a pair
    for (; end - from >= 2; from += 2) {
        uint32_t unit = is_big ? (uint32_t)from[0] << 8 | from[1] : (uint32_t)from[1] << 8 | from[0];
        bool is_low = unit >= 0xDC00 && unit < 0xE000;
        if (is_low && high != 0) {
            at += pz_utf8_put(at, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00));
            high = 0;
            continue;
        }
        if (high != 0 || is_low) { // a half alone
            at += pz_utf8_put(at, 0xFFFF);
        }
        high = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
        if (high == 0 && !is_low && !(at == to && unit == 0xFEFF)) {
            at += pz_utf8_put(at, unit);
        }
    }
    if (high != 0 || from < end) {
        at += pz_utf8_put(at, 0xFFFF);
    }
    replace(text, to, at);
    return true;
}

// All bytes of ISO-8859-1, or, with `keeps_utf8`, those that do not belong to a character of UTF-8.
static bool convert_latin(pz_xml_text *text, bool keeps_utf8)
{
    const char *from = text->begin, *end = text->end;
    size_t foreign = 0;
    for (const char *c = from; c < end; ++c) {
        foreign += (unsigned char)*c >= 0x80;
    }
    char *to, *at;
    if (!make_room(text, (size_t)(end - from) + foreign, &to)) {
        return false;
    }
    at = to;
    while (from < end) {
        size_t length = keeps_utf8 ? pz_utf8_length(from, end) : 0;
        if (length == 0) {
            at += pz_utf8_put(at, (unsigned char)*from++);
        } else {
            memcpy(at, from, length);
            at += length;
            from += length;
        }
    }
    replace(text, to, at);
    return true;
}

// Zeros behind the end are left out.
static void trim_end(pz_xml_text *text)
{
    const char *end = text->end;
    while (text->end > text->at && text->end[-1] == '\0') {
        text->end -= 1;
    }
    if (text->end < end) {
        pz_xml_node here = {.file = text->file};
        pz_xml_warn(text->input, NULL, &here, "the file ends with zero bytes, which are ignored");
    }
}

static bool declares_latin(pz_xml_text text)
{
    pz_word name = {NULL, 0};
    pz_xml_skip_space(&text);
    return starts_declaration(&text) && read_declaration(&text, &name) && encoding_named(name) == ENCODING_LATIN;
}

// What is not UTF-16.
static bool convert_bytes(pz_xml_text *text)
{
    if (declares_latin(*text)) {
        return convert_latin(text, false);
    }
    const char *strange = pz_utf8_check(text->begin, text->end);
    if (strange == text->end) {
        return true;
    }
    pz_xml_node here = {.file = text->file, .line = pz_xml_line(text, strange)};
    pz_xml_warn(text->input, NULL, &here, "not all of the file is UTF-8: ISO-8859-1 assumed for the other bytes");
    return convert_latin(text, true);
}

poise_status pz_xml_open(pz_xml_text *text, const void *bytes, size_t size)
{
    replace(text, bytes, (const char *)bytes + size);
    bool is_little = size >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "<\0", 2) == 0);
    bool is_big = size >= 2 && (memcmp(bytes, "\xFE\xFF", 2) == 0 || memcmp(bytes, "\0<", 2) == 0);
    bool is_wide = is_little || is_big;
    if (pz_xml_is_next(text, "\xEF\xBB\xBF")) {
        replace(text, text->at + 3, text->end);
    }
    if (!(is_wide ? convert_wide(text, is_big) : convert_bytes(text))) {
        return pz_input_no_memory(text->input);
    }
    trim_end(text);
    pz_xml_skip_space(text);
    text->is_declared = starts_declaration(text);
    return text->is_declared ? skip_declaration(text, is_wide) : POISE_OK;
}
