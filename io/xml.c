// XML 1.0 (fifth edition), without validation: a text of any encoding, the parser that makes a tree of elements of it, and
// questions to that tree.
//
// One pass over the text; the stack of open elements is the tree itself, and nothing recurses. Text between elements is
// checked, and the first piece in an element kept. The only entities are the five of XML and character references, so that
// nothing expands.
#include "io/xml.h"

#include "base/text.h"

#include <limits.h>
#include <string.h>

// ---- The tree: asking ----------------------------------------------------------------------------------------------------

pz_xml_node *pz_xml_after(const pz_xml_node *node, const pz_xml_node *top, bool skip)
{
    if (node->first && !skip) {
        return node->first;
    }
    while (node != top && !node->next) {
        node = node->parent;
    }
    return node == top ? NULL : node->next;
}

bool pz_xml_is(const pz_xml_node *node, const char *name)
{
    return strcmp(node->name, name) == 0;
}

const pz_xml_node *pz_xml_child(const pz_xml_node *node, const char *name)
{
    for (const pz_xml_node *child = node->first; child; child = child->next) {
        if (pz_xml_is(child, name)) {
            return child;
        }
    }
    return NULL;
}

const char *pz_xml_get(const pz_xml_node *node, const char *attribute)
{
    for (const char **a = node->attributes; *a; a += 2) {
        if (strcmp(a[0], attribute) == 0) {
            return a[1];
        }
    }
    return NULL;
}

const char *pz_xml_child_text(const pz_xml_node *node, const char *name)
{
    const pz_xml_node *child = node ? pz_xml_child(node, name) : NULL;
    return child ? child->text : NULL;
}

bool pz_xml_is_among(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0) {
        ++list;
    }
    return *list != NULL;
}

// ---- Numbers -------------------------------------------------------------------------------------------------------------

// How many numbers there are in a text, of which the first `most` are kept; -1: something else than numbers.
static int read_numbers(const char *value, pz_xml_numbers_kind kind, int most, double *values)
{
    pz_scan scan = pz_scan_over(value, strlen(value));
    pz_word word;
    int count = 0;
    while (count <= most && pz_scan_word(&scan, &word)) {
        const char *end = word.text + word.length;
        double x;
        bool is_number = pz_number_read(word.text, end, &x) == end && x == x;
        if (!is_number || (kind == PZ_XML_FINITE && x - x != 0.0)) {
            return -1;
        }
        if (count < most) {
            values[count] = x;
        }
        ++count;
    }
    return count;
}

poise_status pz_xml_numbers_of(pz_input *input, const pz_xml_node *node, const char *attribute, const char *value,
                               pz_xml_numbers_kind kind, int least, int most, double *values, int *count)
{
    *count = 0;
    if (!value) {
        return POISE_OK;
    }
    const char *dollar = strchr(value, '$');
    if (dollar && dollar[1] == '{') {
        return pz_xml_fail(input, node, POISE_ERROR_FORMAT,
                           "%s of <%s> is a xacro expression: run xacro on the file first; it is \"%s\"", attribute,
                           node->name, value);
    }
    double read[16];
    int found = read_numbers(value, kind, most, read);
    if (found < least || found > most) {
        return pz_xml_fail(input, node, POISE_ERROR_FORMAT, "%s of <%s> must be %s%d%s, not \"%s\"", attribute, node->name,
                           least < most ? "up to " : "", most, most == 1 ? " finite number" : " finite numbers", value);
    }
    memcpy(values, read, (size_t)found * sizeof *values);
    *count = found;
    return POISE_OK;
}

poise_status pz_xml_numbers(pz_input *input, const pz_xml_node *node, const char *attribute, pz_xml_numbers_kind kind,
                            int least, int most, double *values, int *count)
{
    return pz_xml_numbers_of(input, node, attribute, pz_xml_get(node, attribute), kind, least, most, values, count);
}

poise_status pz_xml_text_numbers(pz_input *input, const pz_xml_node *node, int most, double **values, int *count)
{
    const char *text = node->text ? node->text : "";
    size_t room = strlen(text) / 2 + 1; // a number and what separates it
    room = room > (size_t)most ? (size_t)most : room;
    *values = pz_pool_take(&input->pool, room, sizeof **values);
    if (!*values) {
        return pz_input_no_memory(input);
    }
    *count = read_numbers(text, PZ_XML_FINITE, (int)room, *values);
    if (*count < 0 || *count > most) {
        return pz_xml_fail(input, node, POISE_ERROR_FORMAT, "<%s> must hold finite numbers, not \"%s\"", node->name, text);
    }
    return POISE_OK;
}

poise_status pz_xml_exactly(pz_input *input, const pz_xml_node *node, const char *attribute, int count, double *values)
{
    int found;
    return pz_xml_numbers(input, node, attribute, PZ_XML_FINITE, count, count, values, &found);
}

// ---- Errors and warnings -------------------------------------------------------------------------------------------------

poise_status pz_xml_fail(pz_input *input, const pz_xml_node *node, poise_status status, const char *format, ...)
{
    poise_error said = {.line = 0};
    va_list arguments;
    va_start(arguments, format);
    pz_error_set_list(&said, status, format, arguments);
    va_end(arguments);
    if (node->file) {
        return pz_input_fail(input, status, 0, "%s, line %d: %s", node->file, node->line, said.text);
    }
    return pz_input_fail(input, status, node->line, "%s", said.text);
}

void pz_xml_warn(pz_input *input, pz_cause *cause, const pz_xml_node *node, const char *format, ...)
{
    if (cause && !pz_is_among_first(cause)) {
        return;
    }
    poise_error said = {.line = 0};
    va_list arguments;
    va_start(arguments, format);
    pz_error_set_list(&said, POISE_OK, format, arguments);
    va_end(arguments);
    if (node->file) {
        pz_input_warn(input, 0, "%s, line %d: %s", node->file, node->line, said.text);
    } else {
        pz_input_warn(input, node->line, "%s", said.text);
    }
}

// ---- The text: encoding, declaration, places in it -----------------------------------------------------------------------

// A document as UTF-8, and how far it has been read. `at` only moves forward.
typedef struct xml_text {
    pz_input *input;
    const char *file; // its name if it is not the one that `input` stands for, else NULL
    const char *begin, *at, *end;
    const char *counted; // lines are counted up to here
    int line;            // of `counted`
    bool is_declared;    // it has an XML declaration
} xml_text;

static inline bool xml_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// ---- Places --------------------------------------------------------------------------------------------------------------

// Does this text come next?
static bool xml_is_next(const xml_text *text, const char *what)
{
    size_t length = strlen(what);
    return (size_t)(text->end - text->at) >= length && memcmp(text->at, what, length) == 0;
}

// To what is not white space; true when there was some.
static bool xml_skip_space(xml_text *text)
{
    const char *from = text->at;
    while (text->at < text->end && xml_is_space(*text->at)) {
        text->at += 1;
    }
    return text->at > from;
}

// Lines end with LF, CR LF or CR.
static bool ends_line(const xml_text *text, const char *c)
{
    return *c == '\n' || (*c == '\r' && (c + 1 == text->end || c[1] != '\n'));
}

// The line of a place at or behind all places that were asked for before.
static int xml_line(xml_text *text, const char *place)
{
    for (; text->counted < place; ++text->counted) {
        text->line += ends_line(text, text->counted);
    }
    return text->line;
}

// Report that something is wrong at a place: line and column, in characters. Always POISE_ERROR_FORMAT.
static poise_status xml_fail_at(xml_text *text, const char *place, const char *format, ...)
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
    pz_xml_node here = {.file = text->file, .line = xml_line(text, place)};
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
static bool read_attribute(xml_text *text, pz_word *name, pz_word *value)
{
    bool is_separate = xml_skip_space(text);
    name->text = text->at;
    while (text->at < text->end && is_lower(*text->at)) {
        text->at += 1;
    }
    name->length = (size_t)(text->at - name->text);
    xml_skip_space(text);
    if (!is_separate || text->at >= text->end || *text->at++ != '=') {
        return false;
    }
    xml_skip_space(text);
    char quote = text->at < text->end ? *text->at++ : '\0';
    value->text = text->at;
    while (text->at < text->end && is_in_value(*text->at)) {
        text->at += 1;
    }
    value->length = (size_t)(text->at - value->text);
    return (quote == '"' || quote == '\'') && text->at < text->end && *text->at++ == quote;
}

// <?xml version="1.0" encoding="..." standalone="..."?>, the last two optional; false when it is malformed.
static bool read_declaration(xml_text *text, pz_word *encoding_name)
{
    static const char *const names[PART_COUNT] = {"VERSION", "ENCODING", "STANDALONE"};
    text->at += 5;
    for (int next = PART_VERSION;;) {
        const char *before = text->at;
        xml_skip_space(text);
        if (xml_is_next(text, "?>")) {
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

static bool starts_declaration(const xml_text *text)
{
    return xml_is_next(text, "<?xml") && text->end - text->at > 5 && xml_is_space(text->at[5]);
}

// A typing error in the declaration says nothing about the rest: it is passed over.
static poise_status skip_malformed(xml_text *text, const char *from)
{
    enum { FAR = 1024 }; // "?>" is near or nowhere
    text->at = from;
    while (text->at - from < FAR && text->at < text->end && !xml_is_next(text, "?>")) {
        text->at += 1;
    }
    if (!xml_is_next(text, "?>")) {
        return xml_fail_at(text, from, "the XML declaration does not end: close it with ?>");
    }
    pz_xml_node here = {.file = text->file, .line = xml_line(text, from)};
    pz_xml_warn(text->input, NULL, &here, "the XML declaration is malformed; the file is read as UTF-8");
    text->at += 2;
    const char *behind = text->at;
    xml_skip_space(text);
    if (starts_declaration(text)) {
        return xml_fail_at(text, text->at, "there are two XML declarations: remove one");
    }
    text->at = behind;
    return POISE_OK;
}

// Pass over the declaration. What it says about the encoding must be true.
static poise_status skip_declaration(xml_text *text, bool is_wide)
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
        return xml_fail_at(text, name.text, "XML: unknown encoding: save the file as UTF-8");
    }
    if ((declared == ENCODING_WIDE) != is_wide) {
        return xml_fail_at(text, name.text, "XML: the declared encoding is not that of the file: correct it");
    }
    return POISE_OK;
}

// ---- Encodings -----------------------------------------------------------------------------------------------------------

static bool make_room(xml_text *text, size_t size, char **to)
{
    *to = pz_pool_take(&text->input->pool, size, 1);
    return *to != NULL;
}

static void replace(xml_text *text, const char *begin, const char *end)
{
    text->begin = text->at = text->counted = begin;
    text->end = end;
    text->line = 1;
}

// UTF-16: two bytes become three at most.
static bool convert_wide(xml_text *text, bool is_big)
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
static bool convert_latin(xml_text *text, bool keeps_utf8)
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
static void trim_end(xml_text *text)
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

static bool declares_latin(xml_text text)
{
    pz_word name = {NULL, 0};
    xml_skip_space(&text);
    return starts_declaration(&text) && read_declaration(&text, &name) && encoding_named(name) == ENCODING_LATIN;
}

// What is not UTF-16.
static bool convert_bytes(xml_text *text)
{
    if (declares_latin(*text)) {
        return convert_latin(text, false);
    }
    const char *strange = pz_utf8_check(text->begin, text->end);
    if (strange == text->end) {
        return true;
    }
    pz_xml_node here = {.file = text->file, .line = xml_line(text, strange)};
    pz_xml_warn(text->input, NULL, &here, "not all of the file is UTF-8: ISO-8859-1 assumed for the other bytes");
    return convert_latin(text, true);
}

// Make UTF-8 of the bytes and read the declaration, if there is one: `at` is behind it.
//
// Encodings: UTF-8, UTF-16, ISO-8859-1, US-ASCII. Bytes that are not UTF-8, where the document does not declare another
// encoding, are taken as ISO-8859-1, with a warning. A half of a surrogate pair alone becomes U+FFFF, which no document may
// hold.
static poise_status xml_open(xml_text *text, const void *bytes, size_t size)
{
    replace(text, bytes, (const char *)bytes + size);
    bool is_little = size >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "<\0", 2) == 0);
    bool is_big = size >= 2 && (memcmp(bytes, "\xFE\xFF", 2) == 0 || memcmp(bytes, "\0<", 2) == 0);
    bool is_wide = is_little || is_big;
    if (xml_is_next(text, "\xEF\xBB\xBF")) {
        replace(text, text->at + 3, text->end);
    }
    if (!(is_wide ? convert_wide(text, is_big) : convert_bytes(text))) {
        return pz_input_no_memory(text->input);
    }
    trim_end(text);
    xml_skip_space(text);
    text->is_declared = starts_declaration(text);
    return text->is_declared ? skip_declaration(text, is_wide) : POISE_OK;
}

// ---- The parser ----------------------------------------------------------------------------------------------------------

// An attribute as it stands in the text.
typedef struct attribute {
    pz_word name, value;
    bool is_plain; // the value has no references and no white space but blanks
} attribute;

typedef struct parser {
    xml_text text;
    pz_xml_node *root, *open; // the element that is being read; NULL before the root and behind it
    int depth;
    bool has_type;         // a document type was there
    bool skips_entities;   // it names a file, which might declare them
    attribute *attributes; // of one tag
    size_t attribute_count, attribute_room;
    poise_status status;
} parser;

// ---- Failures: always false ----------------------------------------------------------------------------------------------

static bool fail(parser *p, const char *place, const char *what)
{
    p->status = xml_fail_at(&p->text, place, "XML: %s: fix the file here, or export it again", what);
    return false;
}

// The element that is still open is the likely reason.
static bool fail_open(parser *p, const char *place, const char *what)
{
    if (!p->open) {
        return fail(p, place, what);
    }
    p->status = xml_fail_at(&p->text, place, "XML: %s: <%s> of line %d is not closed", what, p->open->name, p->open->line);
    return false;
}

static bool fail_token(parser *p, const char *place)
{
    return fail(p, place, "not well-formed (invalid token)");
}

static bool fail_unclosed(parser *p, const char *token)
{
    return fail_open(p, token, "unclosed token");
}

static bool fail_memory(parser *p)
{
    p->status = pz_input_no_memory(p->text.input);
    return false;
}

// ---- Characters ----------------------------------------------------------------------------------------------------------

// Of the letters beyond ASCII all may stand in names.
static bool starts_name(char c)
{
    return is_letter(c) || c == '_' || c == ':' || (unsigned char)c >= 0x80;
}

static bool is_in_name(char c)
{
    return starts_name(c) || is_digit(c) || c == '-' || c == '.';
}

// May a document hold this character?
static bool is_allowed(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0xD800) || (c >= 0xE000 && c < 0xFFFE) ||
           (c >= 0x10000 && c <= 0x10FFFF);
}

// The same for the character at a place of the text, which is valid UTF-8: not a control character, U+FFFE or U+FFFF.
static bool is_allowed_at(const char *at)
{
    const unsigned char *s = (const unsigned char *)at;
    return s[0] < 0x20 ? xml_is_space(*at) : s[0] != 0xEF || s[1] != 0xBF || s[2] < 0xBE;
}

static uint32_t entity_named(pz_word name)
{
    static const struct {
        const char *name;
        char value;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (pz_word_is(name, known[i].name)) {
            return (uint32_t)known[i].value;
        }
    }
    return 0;
}

// ---- Pieces of syntax. `token` is where the tag, comment ... begins that they are part of --------------------------------

static bool read_name(parser *p, const char *token, pz_word *name)
{
    xml_text *t = &p->text;
    name->text = t->at;
    if (t->at < t->end && !starts_name(*t->at)) {
        return fail_token(p, t->at);
    }
    while (t->at < t->end && is_in_name(*t->at)) {
        if (!is_allowed_at(t->at)) {
            return fail_token(p, t->at);
        }
        t->at += 1;
    }
    name->length = (size_t)(t->at - name->text);
    return t->at < t->end || fail_unclosed(p, token);
}

// &#123; or &#x7b;, from behind the #.
static bool read_character_number(parser *p, const char *token, const char *from, uint32_t *value)
{
    xml_text *t = &p->text;
    bool is_hex = t->at < t->end && *t->at == 'x';
    uint32_t base = is_hex ? 16 : 10;
    t->at += is_hex;
    const char *first = t->at;
    for (*value = 0; t->at < t->end && *t->at != ';'; t->at += 1) {
        uint32_t digit = (uint32_t)hex_digit(*t->at); // -1 is larger than all
        if (digit >= base) {
            return fail_token(p, t->at);
        }
        *value = *value > 0x10FFFF ? *value : *value * base + digit;
    }
    if (t->at >= t->end) {
        return fail_unclosed(p, token);
    }
    if (t->at == first) {
        return fail_token(p, t->at);
    }
    t->at += 1;
    return is_allowed(*value) || fail(p, from, "reference to invalid character number");
}

// From the &. *value is 0 for an entity that the file of the document type may declare.
static bool read_reference(parser *p, const char *token, uint32_t *value)
{
    xml_text *t = &p->text;
    const char *from = t->at++;
    if (t->at < t->end && *t->at == '#') {
        t->at += 1;
        return read_character_number(p, token, from, value);
    }
    pz_word name;
    if (!read_name(p, token, &name)) {
        return false;
    }
    if (*t->at != ';') {
        return fail_token(p, t->at);
    }
    t->at += 1;
    *value = entity_named(name);
    return *value != 0 || p->skips_entities || fail(p, token, "undefined entity");
}

// From behind the beginning of a token to behind its end.
static bool skip_to(parser *p, const char *token, const char *end)
{
    xml_text *t = &p->text;
    while (!xml_is_next(t, end)) {
        if (t->at >= t->end) {
            return fail_unclosed(p, token);
        }
        if (!is_allowed_at(t->at)) {
            return fail_token(p, t->at);
        }
        t->at += 1;
    }
    t->at += strlen(end);
    return true;
}

// White space, then one of the characters.
static bool skip_to_one_of(parser *p, const char *token, const char *characters)
{
    xml_skip_space(&p->text);
    if (p->text.at >= p->text.end) {
        return fail_unclosed(p, token);
    }
    char c = *p->text.at;
    return (c != '\0' && strchr(characters, c)) || fail_token(p, p->text.at);
}

// ---- Attributes ----------------------------------------------------------------------------------------------------------

// A value between quotes, checked.
static bool scan_value(parser *p, const char *token, attribute *a)
{
    xml_text *t = &p->text;
    char quote = *t->at++;
    a->value.text = t->at;
    a->is_plain = true;
    while (t->at < t->end && *t->at != quote) {
        char c = *t->at;
        if (c == '<' || !is_allowed_at(t->at)) {
            return fail_token(p, t->at);
        }
        a->is_plain = a->is_plain && c != '&' && (unsigned char)c >= 0x20;
        uint32_t value;
        if (c != '&') {
            t->at += 1;
        } else if (!read_reference(p, token, &value)) {
            return false;
        }
    }
    if (t->at >= t->end) {
        return fail_unclosed(p, token);
    }
    a->value.length = (size_t)(t->at - a->value.text);
    t->at += 1;
    return true;
}

// name="value"
static bool scan_attribute(parser *p, const char *token)
{
    attribute *all = pz_pool_grow(&p->text.input->pool, p->attributes, p->attribute_count, &p->attribute_room, sizeof *all);
    if (!all) {
        return fail_memory(p);
    }
    p->attributes = all;
    attribute *a = &all[p->attribute_count++];
    if (!read_name(p, token, &a->name) || !skip_to_one_of(p, token, "=")) {
        return false;
    }
    p->text.at += 1;
    return skip_to_one_of(p, token, "\"'") && scan_value(p, token, a);
}

// A checked value with references replaced and white space made blanks, which is never longer. Returns the end.
static char *decode(parser *p, const attribute *a, char *to)
{
    if (a->is_plain) {
        memcpy(to, a->value.text, a->value.length);
        return to + a->value.length;
    }
    xml_text *t = &p->text;
    const char *behind = t->at, *end = a->value.text + a->value.length;
    for (t->at = a->value.text; t->at < end;) {
        uint32_t value;
        if (*t->at == '&') {
            if (read_reference(p, t->at, &value) && value != 0) {
                to += pz_utf8_put(to, value);
            }
        } else if (xml_is_space(*t->at)) {
            *to++ = ' ';
            t->at += xml_is_next(t, "\r\n") ? 2 : 1;
        } else {
            *to++ = *t->at++;
        }
    }
    t->at = behind;
    return to;
}

static const char *name_at(const void *owner, int position)
{
    const pz_xml_node *node = owner;
    return node->attributes[2 * position];
}

enum { FEW = 8 }; // names that are compared each with each

// The first attribute whose name another one before it has; -1: none; -2: no memory.
static int find_repeated(parser *p, const pz_xml_node *node)
{
    pz_names names = {.capacity = 0};
    int count = (int)p->attribute_count;
    if (count > FEW && !pz_pool_names(&p->text.input->pool, (size_t)count, &names)) {
        return -2;
    }
    for (int i = 0; i < count; ++i) {
        const char *name = name_at(node, i);
        for (int k = 0; k < i && count <= FEW; ++k) {
            if (strcmp(name_at(node, k), name) == 0) {
                return i;
            }
        }
        if (count > FEW) {
            if (pz_names_find(&names, name, name_at, node) >= 0) {
                return i;
            }
            pz_names_add(&names, name, i);
        }
    }
    return -1;
}

// ---- Elements ------------------------------------------------------------------------------------------------------------

static char *copy_word(char **at, pz_word word)
{
    char *start = memcpy(*at, word.text, word.length);
    start[word.length] = '\0';
    *at = start + word.length + 1;
    return start;
}

// One piece of memory: the node, its list of attributes, and their texts.
static pz_xml_node *make_node(parser *p, pz_word name)
{
    size_t count = p->attribute_count, size = name.length + 1;
    for (size_t i = 0; i < count; ++i) {
        size += p->attributes[i].name.length + p->attributes[i].value.length + 2;
    }
    pz_xml_node *node = pz_pool_take(&p->text.input->pool, 1, sizeof *node + (2 * count + 1) * sizeof(char *) + size);
    if (!node) {
        return NULL;
    }
    *node = (pz_xml_node){.attributes = (const char **)(void *)(node + 1), .file = p->text.file, .parent = p->open};
    char *at = (char *)(node->attributes + 2 * count + 1);
    node->name = copy_word(&at, name);
    for (size_t i = 0; i < count; ++i) {
        node->attributes[2 * i] = copy_word(&at, p->attributes[i].name);
        node->attributes[2 * i + 1] = at;
        at = decode(p, &p->attributes[i], at);
        *at++ = '\0';
    }
    node->attributes[2 * count] = NULL;
    return node;
}

static bool add_element(parser *p, const char *token, pz_word name)
{
    if (p->depth >= PZ_XML_DEPTH) {
        p->status =
            xml_fail_at(&p->text, token, "elements are nested more than %d deep; is this the right file?", PZ_XML_DEPTH);
        return false;
    }
    pz_xml_node *node = make_node(p, name);
    int repeated = node ? find_repeated(p, node) : -2;
    if (repeated >= 0) {
        return fail(p, p->attributes[repeated].name.text, "duplicate attribute");
    }
    if (repeated < -1) {
        return fail_memory(p);
    }
    node->line = xml_line(&p->text, token);
    if (!p->open) {
        p->root = node;
    } else if (p->open->last) {
        p->open->last = p->open->last->next = node;
    } else {
        p->open->first = p->open->last = node;
    }
    p->open = node;
    p->depth += 1;
    return true;
}

static void close_element(parser *p)
{
    p->open = p->open->parent;
    p->depth -= 1;
}

// <name attribute="value" ...> or <name .../>, from the <.
static bool read_start(parser *p)
{
    xml_text *t = &p->text;
    const char *token = t->at++;
    pz_word name;
    p->attribute_count = 0;
    if (!read_name(p, token, &name)) {
        return false;
    }
    while (true) {
        bool is_separate = xml_skip_space(t);
        if (t->at >= t->end) {
            return fail_unclosed(p, token);
        }
        if (*t->at == '>' || *t->at == '/') {
            break;
        }
        if (!is_separate) {
            return fail_token(p, t->at);
        }
        if (!scan_attribute(p, token)) {
            return false;
        }
    }
    bool is_empty = *t->at == '/';
    t->at += is_empty;
    if (t->at >= t->end) {
        return fail_unclosed(p, token);
    }
    if (*t->at != '>') {
        return fail_token(p, t->at);
    }
    t->at += 1;
    if (!add_element(p, token, name)) {
        return false;
    }
    if (is_empty) {
        close_element(p);
    }
    return true;
}

// </name>, from the <.
static bool read_end(parser *p)
{
    const char *token = p->text.at;
    pz_word name;
    p->text.at += 2;
    if (!read_name(p, token, &name) || !skip_to_one_of(p, token, ">")) {
        return false;
    }
    if (!pz_word_is(name, p->open->name)) {
        return fail_open(p, name.text, "mismatched tag");
    }
    p->text.at += 1;
    close_element(p);
    return true;
}

// ---- What is passed over -------------------------------------------------------------------------------------------------

// <!-- ... -->: two hyphens end it.
static bool skip_comment(parser *p)
{
    const char *token = p->text.at;
    p->text.at += 4;
    if (!skip_to(p, token, "--")) {
        return false;
    }
    if (p->text.at >= p->text.end) {
        return fail_unclosed(p, token);
    }
    if (*p->text.at != '>') {
        return fail_token(p, p->text.at);
    }
    p->text.at += 1;
    return true;
}

// <?target ...?>
static bool skip_instruction(parser *p)
{
    xml_text *t = &p->text;
    const char *token = t->at;
    t->at += 2;
    pz_word target;
    if (!read_name(p, token, &target)) {
        return false;
    }
    bool is_declaration = pz_word_is(target, "xml");
    if ((!is_declaration && pz_word_is_like(target, "xml")) || (!xml_is_next(t, "?>") && !xml_is_space(*t->at))) {
        return fail_token(p, t->at);
    }
    if (!skip_to(p, token, "?>")) {
        return false;
    }
    if (!is_declaration) {
        return true;
    }
    if (p->root || t->is_declared) {
        return fail(p, token, "the XML declaration is not at the start");
    }
    t->is_declared = true;
    pz_xml_node here = {.file = t->file, .line = xml_line(t, token)}; // a comment above it, as in some OpenSim files
    pz_xml_warn(t->input, NULL, &here, "the XML declaration is not at the start; the file is read as UTF-8");
    return true;
}

// <![CDATA[ ... ]]>
static bool skip_raw_text(parser *p)
{
    return skip_to(p, p->text.end, "]]>");
}

// The text that lies before `t->at`, without white space at its ends, if the open element has none yet.
static bool keep_content(parser *p, const char *from)
{
    const char *end = p->text.at;
    while (from < end && xml_is_space(*from)) {
        from += 1;
    }
    while (from < end && xml_is_space(end[-1])) {
        end -= 1;
    }
    if (from == end || p->open->text) {
        return true;
    }
    attribute content = {.value = {from, (size_t)(end - from)}};
    char *copy = pz_pool_take(&p->text.input->pool, content.value.length + 1, 1);
    if (!copy) {
        return fail_memory(p);
    }
    *decode(p, &content, copy) = '\0';
    p->open->text = copy;
    return true;
}

// Text up to the next tag.
static bool read_content(parser *p)
{
    xml_text *t = &p->text;
    const char *from = t->at;
    while (t->at < t->end && *t->at != '<') {
        uint32_t value;
        if (*t->at == '&') {
            if (!read_reference(p, t->at, &value)) {
                return false;
            }
            continue;
        }
        if (!is_allowed_at(t->at) || (*t->at == ']' && xml_is_next(t, "]]>"))) {
            return fail_token(p, *t->at == ']' ? t->at + 2 : t->at);
        }
        t->at += 1;
    }
    return keep_content(p, from);
}

// A quoted text of a document type, with white space in front.
static bool skip_literal(parser *p, const char *token)
{
    const char *from = p->text.at;
    if (!skip_to_one_of(p, token, "\"'")) {
        return false;
    }
    if (p->text.at == from) {
        return fail_token(p, from);
    }
    char quote[2] = {*p->text.at++, '\0'};
    return skip_to(p, token, quote);
}

// <!DOCTYPE name SYSTEM "file">. Declarations of its own (entities, default values) are refused: a few lines of those can
// stand for gigabytes.
static bool skip_document_type(parser *p)
{
    xml_text *t = &p->text;
    const char *token = t->at;
    t->at += 9;
    pz_word name;
    if (p->has_type || !xml_skip_space(t)) {
        return fail(p, token, "syntax error");
    }
    if (!read_name(p, token, &name)) {
        return false;
    }
    xml_skip_space(t);
    bool is_public = xml_is_next(t, "PUBLIC"), is_system = xml_is_next(t, "SYSTEM");
    if (is_public || is_system) {
        t->at += 6;
        if ((is_public && !skip_literal(p, token)) || !skip_literal(p, token)) {
            return false;
        }
        xml_skip_space(t);
    }
    if (t->at >= t->end) {
        return fail_open(p, t->end, "no element found");
    }
    pz_xml_node here = {.file = t->file, .line = xml_line(t, t->at)};
    if (*t->at == '[') {
        p->status = pz_xml_fail(t->input, &here, POISE_ERROR_FORMAT,
                                "declarations in <!DOCTYPE> (entities, default values) are not read: remove them");
        return false;
    }
    if (*t->at != '>') {
        return fail(p, t->at, "syntax error");
    }
    t->at += 1;
    p->has_type = true;
    p->skips_entities = is_public || is_system;
    if (p->skips_entities) {
        pz_xml_warn(t->input, NULL, &here, "the document type named by <!DOCTYPE> is not read");
    }
    return true;
}

// ---- The document --------------------------------------------------------------------------------------------------------

// Before the root, or behind it.
static bool read_outside(parser *p)
{
    xml_text *t = &p->text;
    if (xml_is_next(t, "<!--")) {
        return skip_comment(p);
    }
    if (xml_is_next(t, "<?")) {
        return skip_instruction(p);
    }
    if (p->root) {
        return fail(p, t->at, "junk after document element");
    }
    if (xml_is_next(t, "<!DOCTYPE")) {
        return skip_document_type(p);
    }
    if (*t->at != '<') {
        return fail(p, t->at, "syntax error");
    }
    return xml_is_next(t, "<!") || xml_is_next(t, "</") ? fail_token(p, t->at + 1) : read_start(p);
}

static bool read_inside(parser *p)
{
    xml_text *t = &p->text;
    if (*t->at != '<') {
        return read_content(p);
    }
    char next = t->end - t->at > 1 ? t->at[1] : '\0';
    if (next == '/') {
        return read_end(p);
    }
    if (next == '?') {
        return skip_instruction(p);
    }
    if (next != '!') {
        return read_start(p);
    }
    if (xml_is_next(t, "<!--")) {
        return skip_comment(p);
    }
    if (xml_is_next(t, "<![CDATA[")) {
        return skip_raw_text(p);
    }
    return t->end - t->at > 2 ? fail_token(p, t->at + 2) : fail_unclosed(p, t->at);
}

static bool read_document(parser *p)
{
    while (true) {
        if (!p->open) {
            xml_skip_space(&p->text);
        }
        if (p->text.at >= p->text.end) {
            return (p->root && !p->open) || fail_open(p, p->text.end, "no element found");
        }
        if (!(p->open ? read_inside(p) : read_outside(p))) {
            return false;
        }
    }
}

poise_status pz_xml_parse(pz_input *input, const void *bytes, size_t size, const char *file, pz_xml_node **root)
{
    if (size > INT_MAX) {
        pz_xml_node here = {.file = file, .line = 1};
        return pz_xml_fail(input, &here, POISE_ERROR_UNSUPPORTED, "an XML file of more than 2 GB is not read: split it");
    }
    parser p = {.text = {.input = input, .file = file}};
    p.status = xml_open(&p.text, bytes, size);
    if (p.status == POISE_OK && read_document(&p)) {
        *root = p.root;
    }
    return p.status;
}
