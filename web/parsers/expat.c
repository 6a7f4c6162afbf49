// XML 1.0 (fifth edition), without validation, as events.
//
// One pass over the text with a stack of open elements; nothing recurses. A document type is read up to its declarations,
// which the caller refuses, so that the only entities are the five of XML and character references.
#include "expat.h"

#include "characters.h"

#include <stdint.h>
#include <string.h>

// A piece of the text.
typedef struct piece {
    const char *at;
    size_t length;
} piece;

struct XML_ParserStruct {
    XML_Memory_Handling_Suite memory;
    void *user;
    XML_StartElementHandler start;
    XML_EndElementHandler end;
    XML_StartDoctypeDeclHandler document_type;
    enum XML_Error error;
    bool is_stopped;
    bool skips_entities; // the document type names a file, which might declare them
    bool has_type;       // a document type was there
    bool has_root;
    char *converted;         // the text as UTF-8, where it came as something else
    const char *text, *stop; // the whole
    const char *at;          // what comes next
    const char *event;       // place of the present event or the error
    const char *counted;     // up to here lines were counted
    XML_Size line, column;   // at `counted`
    piece *open;             // names of open elements
    size_t depth, open_room;
    char *buffer; // texts of one element, zero-terminated
    size_t used, room;
    size_t *offsets; // of names and values of attributes in the buffer
    size_t offset_count, offset_room;
    const char **attributes; // the same as addresses, for the handler
    size_t attribute_room;
};

// ---- Life ----------------------------------------------------------------------------------------------------------------

XML_Parser XML_ParserCreate_MM(const XML_Char *encoding, const XML_Memory_Handling_Suite *memory, const XML_Char *separator)
{
    (void)encoding;
    (void)separator;
    XML_Parser p = memory->malloc_fcn(sizeof *p);
    if (p) {
        *p = (struct XML_ParserStruct){.memory = *memory};
    }
    return p;
}

void XML_ParserFree(XML_Parser p)
{
    void *all[] = {p->converted, p->open, p->buffer, p->offsets, (void *)p->attributes, p};
    void (*release)(void *) = p->memory.free_fcn;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        release(all[i]);
    }
}

void XML_SetUserData(XML_Parser p, void *user)
{
    p->user = user;
}

void XML_SetElementHandler(XML_Parser p, XML_StartElementHandler start, XML_EndElementHandler end)
{
    p->start = start;
    p->end = end;
}

void XML_SetStartDoctypeDeclHandler(XML_Parser p, XML_StartDoctypeDeclHandler start)
{
    p->document_type = start;
}

enum XML_Status XML_StopParser(XML_Parser p, XML_Bool resumable)
{
    (void)resumable;
    p->is_stopped = true;
    return XML_STATUS_OK;
}

enum XML_Error XML_GetErrorCode(XML_Parser p)
{
    return p->error;
}

// ---- Places --------------------------------------------------------------------------------------------------------------

// Events come in the order of the text, so that lines are counted once.
static void count_lines(XML_Parser p)
{
    for (; p->counted < p->event; ++p->counted) {
        char c = *p->counted;
        if (c == '\n' || (c == '\r' && (p->counted + 1 == p->stop || p->counted[1] != '\n'))) {
            p->line += 1;
            p->column = 0;
        } else {
            p->column += ((unsigned char)c & 0xc0) != 0x80 && c != '\r';
        }
    }
}

XML_Size XML_GetCurrentLineNumber(XML_Parser p)
{
    count_lines(p);
    return p->line + 1;
}

XML_Size XML_GetCurrentColumnNumber(XML_Parser p)
{
    count_lines(p);
    return p->column;
}

// Always false.
static bool fail(XML_Parser p, enum XML_Error code, const char *place)
{
    p->error = code;
    p->event = place;
    return false;
}

// ---- Memory --------------------------------------------------------------------------------------------------------------

// Room for `count` elements in an array that has room for *room.
static bool reserve(XML_Parser p, void **array, size_t *room, size_t count, size_t element)
{
    if (count <= *room) {
        return true;
    }
    size_t larger = 2 * count + 64;
    void *moved = larger < SIZE_MAX / element / 2 ? p->memory.realloc_fcn(*array, larger * element) : NULL;
    if (!moved) {
        return fail(p, XML_ERROR_NO_MEMORY, p->event);
    }
    *array = moved;
    *room = larger;
    return true;
}

static bool put(XML_Parser p, const char *text, size_t length)
{
    void *buffer = p->buffer;
    if (!reserve(p, &buffer, &p->room, p->used + length, 1)) {
        return false;
    }
    p->buffer = buffer;
    memcpy(p->buffer + p->used, text, length);
    p->used += length;
    return true;
}

// Remember where the next text of the buffer begins.
static bool mark(XML_Parser p)
{
    void *offsets = p->offsets;
    if (!reserve(p, &offsets, &p->offset_room, p->offset_count + 1, sizeof *p->offsets)) {
        return false;
    }
    p->offsets = offsets;
    p->offsets[p->offset_count++] = p->used;
    return true;
}

// ---- Pieces of syntax ----------------------------------------------------------------------------------------------------

static bool is_next(XML_Parser p, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(p->stop - p->at) >= length && memcmp(p->at, text, length) == 0;
}

static bool skip_space(XML_Parser p)
{
    const char *from = p->at;
    while (p->at < p->stop && xml_is_space(*p->at)) {
        p->at += 1;
    }
    return p->at > from;
}

// A character that may stand in a document, or a failure: at the end of the text that of the whole token.
static bool skip_character(XML_Parser p, const char *token)
{
    if (p->at >= p->stop) {
        return fail(p, XML_ERROR_UNCLOSED_TOKEN, token);
    }
    size_t length = xml_character(p->at, p->stop);
    if (length == 0) {
        bool is_cut = xml_is_cut(p->at, p->stop);
        return is_cut ? fail(p, XML_ERROR_PARTIAL_CHAR, token) : fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    p->at += length;
    return true;
}

static bool read_name(XML_Parser p, const char *token, piece *name)
{
    name->at = p->at;
    if (p->at < p->stop && !xml_starts_name(*p->at)) {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    while (p->at < p->stop && xml_is_in_name(*p->at)) {
        if (!skip_character(p, token)) {
            return false;
        }
    }
    if (p->at >= p->stop) {
        return fail(p, XML_ERROR_UNCLOSED_TOKEN, token);
    }
    name->length = (size_t)(p->at - name->at);
    return true;
}

static bool is_piece(piece a, const char *text)
{
    return a.length == strlen(text) && memcmp(a.at, text, a.length) == 0;
}

// &#123; or &#x7b;, from behind the #.
static bool read_character_number(XML_Parser p, const char *token, const char *from, uint32_t *value)
{
    bool is_hex = p->at < p->stop && *p->at == 'x';
    p->at += is_hex;
    const char *first = p->at;
    for (*value = 0; p->at < p->stop && *p->at != ';'; ++p->at) {
        int digit = xml_digit(*p->at, is_hex ? 16 : 10);
        if (digit < 0) {
            return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
        }
        *value = *value > 0x10ffff ? *value : *value * (is_hex ? 16 : 10) + (uint32_t)digit;
    }
    if (p->at >= p->stop) {
        return fail(p, XML_ERROR_UNCLOSED_TOKEN, token);
    }
    if (p->at == first) {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    p->at += 1;
    return xml_is_allowed(*value) || fail(p, XML_ERROR_BAD_CHAR_REF, from);
}

// From the &. *value is 0 for an entity that the file of the document type may declare.
static bool read_reference(XML_Parser p, const char *token, uint32_t *value)
{
    const char *from = p->at++;
    if (p->at < p->stop && *p->at == '#') {
        p->at += 1;
        return read_character_number(p, token, from, value);
    }
    piece name;
    if (!read_name(p, token, &name)) {
        return false;
    }
    if (*p->at != ';') {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    p->at += 1;
    *value = xml_entity(name.at, name.length);
    return *value != 0 || p->skips_entities || fail(p, XML_ERROR_UNDEFINED_ENTITY, token);
}

// ---- Elements ------------------------------------------------------------------------------------------------------------

// A value between quotes into the buffer: references replaced, white space made blanks.
static bool read_value(XML_Parser p, const char *token)
{
    char quote = *p->at++;
    while (true) {
        const char *from = p->at;
        if (from < p->stop && *from == quote) {
            p->at += 1;
            return put(p, "", 1);
        }
        if (from < p->stop && *from == '<') {
            return fail(p, XML_ERROR_INVALID_TOKEN, from);
        }
        if (from < p->stop && *from == '&') {
            uint32_t value;
            char text[4];
            if (!read_reference(p, token, &value) || (value != 0 && !put(p, text, xml_put(text, value)))) {
                return false;
            }
        } else if (from < p->stop && xml_is_space(*from)) {
            p->at += is_next(p, "\r\n") ? 2 : 1;
            if (!put(p, " ", 1)) {
                return false;
            }
        } else if (!skip_character(p, token) || !put(p, from, (size_t)(p->at - from))) {
            return false;
        }
    }
}

static bool is_new(XML_Parser p, piece name)
{
    for (size_t i = 1; i + 1 < p->offset_count; i += 2) {
        if (is_piece(name, p->buffer + p->offsets[i])) {
            return false;
        }
    }
    return true;
}

// name="value"
static bool read_attribute(XML_Parser p, const char *token)
{
    piece name;
    if (!read_name(p, token, &name)) {
        return false;
    }
    skip_space(p);
    if (p->at < p->stop && *p->at != '=') {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    p->at += p->at < p->stop;
    skip_space(p);
    if (p->at >= p->stop) {
        return fail(p, XML_ERROR_UNCLOSED_TOKEN, token);
    }
    if (*p->at != '"' && *p->at != '\'') {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    if (!is_new(p, name)) {
        return fail(p, XML_ERROR_DUPLICATE_ATTRIBUTE, name.at);
    }
    return mark(p) && put(p, name.at, name.length) && put(p, "", 1) && mark(p) && read_value(p, token);
}

static bool call_start(XML_Parser p, const char *token)
{
    void *list = (void *)p->attributes;
    if (!reserve(p, &list, &p->attribute_room, p->offset_count, sizeof *p->attributes)) {
        return false;
    }
    p->attributes = list;
    for (size_t i = 1; i < p->offset_count; ++i) {
        p->attributes[i - 1] = p->buffer + p->offsets[i];
    }
    p->attributes[p->offset_count - 1] = NULL;
    p->event = token;
    p->start(p->user, p->buffer, p->attributes);
    return !p->is_stopped || fail(p, XML_ERROR_ABORTED, token);
}

static bool push(XML_Parser p, piece name)
{
    void *open = p->open;
    if (!reserve(p, &open, &p->open_room, p->depth + 1, sizeof *p->open)) {
        return false;
    }
    p->open = open;
    p->open[p->depth++] = name;
    return true;
}

// <name attribute="value" ...> or <name .../>, from the <.
static bool read_start(XML_Parser p)
{
    const char *token = p->at++;
    p->event = token;
    p->used = p->offset_count = 0;
    piece name;
    if (!mark(p) || !read_name(p, token, &name) || !put(p, name.at, name.length) || !put(p, "", 1)) {
        return false;
    }
    while (true) {
        bool has_space = skip_space(p);
        if (p->at >= p->stop) {
            return fail(p, XML_ERROR_UNCLOSED_TOKEN, token);
        }
        if (*p->at == '>' || *p->at == '/') {
            break;
        }
        if (!has_space) {
            return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
        }
        if (!read_attribute(p, token)) {
            return false;
        }
    }
    bool is_empty = *p->at == '/';
    p->at += is_empty;
    if (p->at >= p->stop) {
        return fail(p, XML_ERROR_UNCLOSED_TOKEN, token);
    }
    if (*p->at != '>') {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    p->at += 1;
    p->has_root = true;
    if (!call_start(p, token)) {
        return false;
    }
    if (!is_empty) {
        return push(p, name);
    }
    p->end(p->user, p->buffer);
    return !p->is_stopped || fail(p, XML_ERROR_ABORTED, token);
}

// </name>, from the <.
static bool read_end(XML_Parser p)
{
    const char *token = p->at;
    p->event = token;
    p->at += 2;
    piece name;
    if (!read_name(p, token, &name)) {
        return false;
    }
    skip_space(p);
    if (p->at >= p->stop) {
        return fail(p, XML_ERROR_UNCLOSED_TOKEN, token);
    }
    if (*p->at != '>') {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    piece open = p->open[p->depth - 1];
    if (name.length != open.length || memcmp(name.at, open.at, name.length) != 0) {
        return fail(p, XML_ERROR_TAG_MISMATCH, name.at);
    }
    p->at += 1;
    p->depth -= 1;
    p->used = 0;
    if (!put(p, name.at, name.length) || !put(p, "", 1)) {
        return false;
    }
    p->end(p->user, p->buffer);
    return !p->is_stopped || fail(p, XML_ERROR_ABORTED, token);
}

// ---- What is passed over -------------------------------------------------------------------------------------------------

// From behind the beginning of a token to behind its end.
static bool skip_to(XML_Parser p, const char *token, const char *end, enum XML_Error unclosed)
{
    while (!is_next(p, end)) {
        if (p->at >= p->stop) {
            return fail(p, unclosed, unclosed == XML_ERROR_UNCLOSED_CDATA_SECTION ? p->stop : token);
        }
        if (!skip_character(p, token)) {
            return false;
        }
    }
    p->at += strlen(end);
    return true;
}

// <!-- ... -->: two hyphens end it.
static bool skip_comment(XML_Parser p)
{
    const char *token = p->at;
    p->at += 4;
    if (!skip_to(p, token, "--", XML_ERROR_UNCLOSED_TOKEN)) {
        return false;
    }
    if (p->at >= p->stop) {
        return fail(p, XML_ERROR_UNCLOSED_TOKEN, token);
    }
    if (*p->at != '>') {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    p->at += 1;
    return true;
}

// <?target ...?>
static bool skip_instruction(XML_Parser p)
{
    const char *token = p->at;
    p->at += 2;
    piece target;
    if (!read_name(p, token, &target)) {
        return false;
    }
    if (is_piece(target, "xml")) {
        return fail(p, XML_ERROR_MISPLACED_XML_PI, token);
    }
    if (target.length == 3 && (target.at[0] | 32) == 'x' && (target.at[1] | 32) == 'm' && (target.at[2] | 32) == 'l') {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    if (!is_next(p, "?>") && !xml_is_space(*p->at)) {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    return skip_to(p, token, "?>", XML_ERROR_UNCLOSED_TOKEN);
}

static bool skip_content(XML_Parser p)
{
    const char *token = p->at;
    if (*p->at == '&') {
        uint32_t value;
        return read_reference(p, token, &value);
    }
    if (is_next(p, "]]>")) {
        return fail(p, XML_ERROR_INVALID_TOKEN, p->at + 2);
    }
    return skip_character(p, token);
}

// ---- The document --------------------------------------------------------------------------------------------------------

// A quoted text of a document type into the buffer.
static bool read_literal(XML_Parser p, const char *token)
{
    if (p->at >= p->stop) {
        return fail(p, XML_ERROR_UNCLOSED_TOKEN, token);
    }
    if (*p->at != '"' && *p->at != '\'') {
        return fail(p, XML_ERROR_SYNTAX, p->at);
    }
    char end[2] = {*p->at++, '\0'};
    const char *from = p->at;
    return mark(p) && skip_to(p, token, end, XML_ERROR_UNCLOSED_TOKEN) && put(p, from, (size_t)(p->at - 1 - from)) &&
           put(p, "", 1);
}

// <!DOCTYPE name SYSTEM "file"> up to its end, or to the declarations inside it.
static bool read_document_type(XML_Parser p)
{
    const char *token = p->at;
    p->event = token;
    p->used = p->offset_count = 0;
    p->at += 9;
    piece name;
    if (p->has_type || !skip_space(p)) {
        return fail(p, p->has_type ? XML_ERROR_SYNTAX : XML_ERROR_INVALID_TOKEN, token);
    }
    if (!read_name(p, token, &name) || !mark(p) || !put(p, name.at, name.length) || !put(p, "", 1)) {
        return false;
    }
    skip_space(p);
    bool is_public = is_next(p, "PUBLIC"), is_system = is_next(p, "SYSTEM");
    if (is_public || is_system) {
        p->at += 6;
        skip_space(p);
        if ((is_public && !read_literal(p, token)) || (skip_space(p), !read_literal(p, token))) {
            return false;
        }
        skip_space(p);
    }
    if (p->at >= p->stop) {
        return fail(p, XML_ERROR_NO_ELEMENTS, p->stop);
    }
    if (*p->at != '[' && *p->at != '>') {
        return fail(p, XML_ERROR_SYNTAX, p->at);
    }
    p->has_type = true;
    p->skips_entities = is_public || is_system;
    const char *system_id = p->skips_entities ? p->buffer + p->offsets[p->offset_count - 1] : NULL;
    const char *public_id = is_public ? p->buffer + p->offsets[1] : NULL;
    bool has_declarations = *p->at == '[';
    p->event = p->at;
    p->at += 1;
    if (p->document_type) {
        p->document_type(p->user, p->buffer, system_id, public_id, has_declarations);
    }
    return !p->is_stopped && !has_declarations ? true : fail(p, XML_ERROR_ABORTED, p->event);
}

// Before the root, or behind it.
static bool read_outside(XML_Parser p)
{
    enum XML_Error otherwise = p->has_root ? XML_ERROR_JUNK_AFTER_DOC_ELEMENT : XML_ERROR_SYNTAX;
    if (is_next(p, "<!--")) {
        return skip_comment(p);
    }
    if (is_next(p, "<?")) {
        return skip_instruction(p);
    }
    if (is_next(p, "<!DOCTYPE")) {
        return p->has_root ? fail(p, otherwise, p->at) : read_document_type(p);
    }
    if (*p->at != '<') {
        return xml_character(p->at, p->stop) > 0 && *p->at != '&' ? fail(p, otherwise, p->at)
                                                                  : fail(p, XML_ERROR_INVALID_TOKEN, p->at);
    }
    if (is_next(p, "<!") || is_next(p, "</")) {
        return fail(p, p->has_root ? otherwise : XML_ERROR_INVALID_TOKEN, p->has_root ? p->at : p->at + 1);
    }
    return p->has_root ? fail(p, otherwise, p->at) : read_start(p);
}

static bool read_inside(XML_Parser p)
{
    if (*p->at != '<') {
        return skip_content(p);
    }
    if (is_next(p, "</")) {
        return read_end(p);
    }
    if (is_next(p, "<!--")) {
        return skip_comment(p);
    }
    if (is_next(p, "<![CDATA[")) {
        const char *token = p->at;
        p->at += 9;
        return skip_to(p, token, "]]>", XML_ERROR_UNCLOSED_CDATA_SECTION);
    }
    if (is_next(p, "<?")) {
        return skip_instruction(p);
    }
    if (is_next(p, "<!")) {
        return fail(p, p->stop - p->at > 2 ? XML_ERROR_INVALID_TOKEN : XML_ERROR_UNCLOSED_TOKEN,
                    p->stop - p->at > 2 ? p->at + 2 : p->at);
    }
    return read_start(p);
}

static bool read_document(XML_Parser p)
{
    while (true) {
        if (p->depth == 0) {
            skip_space(p);
        }
        if (p->at >= p->stop) {
            break;
        }
        if (!(p->depth == 0 ? read_outside(p) : read_inside(p))) {
            return false;
        }
    }
    return (p->depth == 0 && p->has_root) || fail(p, XML_ERROR_NO_ELEMENTS, p->stop);
}

// ---- Encodings -----------------------------------------------------------------------------------------------------------

// Replace the text by its conversion; `width` bytes of UTF-8 for each unit are enough.
static bool convert(XML_Parser p, xml_encoding encoding)
{
    size_t size = (size_t)(p->stop - p->at);
    char *converted = size < SIZE_MAX / 4 ? p->memory.malloc_fcn(2 * size + 4) : NULL;
    if (!converted) {
        return fail(p, XML_ERROR_NO_MEMORY, p->at);
    }
    p->converted = converted;
    size = xml_convert(encoding, p->at, size, converted);
    p->text = p->at = p->event = p->counted = converted;
    p->stop = converted + size;
    return true;
}

// The declaration <?xml version="1.0" encoding="..." standalone="..."?>, if there is one.
static bool read_declaration(XML_Parser p, bool is_wide)
{
    if (!is_next(p, "<?xml") || p->stop - p->at < 6 || !xml_is_space(p->at[5])) {
        return true;
    }
    xml_declaration d;
    const char *behind = xml_read_declaration(p->at, p->stop, &d);
    if (!behind) {
        return fail(p, XML_ERROR_XML_DECL, d.wrong);
    }
    p->at = behind;
    if (d.encoding == XML_ENCODING_UNKNOWN) {
        return fail(p, XML_ERROR_UNKNOWN_ENCODING, d.wrong);
    }
    if (is_wide ? d.encoding != XML_ENCODING_NONE && d.encoding != XML_ENCODING_WIDE : d.encoding == XML_ENCODING_WIDE) {
        return fail(p, XML_ERROR_INCORRECT_ENCODING, d.wrong);
    }
    return true;
}

static bool open_text(XML_Parser p)
{
    xml_encoding encoding = xml_detect(p->at, p->stop);
    p->at += encoding == XML_ENCODING_UTF8 && is_next(p, "\xEF\xBB\xBF") ? 3 : 0;
    p->text = p->counted = p->event = p->at;
    bool is_wide = encoding == XML_ENCODING_WIDE || encoding == XML_ENCODING_WIDE_SWAPPED;
    if (is_wide || encoding == XML_ENCODING_LATIN) {
        if (!convert(p, encoding)) {
            return false;
        }
    }
    return read_declaration(p, is_wide);
}

enum XML_Status XML_Parse(XML_Parser p, const char *text, int size, int is_final)
{
    (void)is_final;
    p->text = p->at = p->event = p->counted = text;
    p->stop = text + size;
    return open_text(p) && read_document(p) ? XML_STATUS_OK : XML_STATUS_ERROR;
}
