// A document as text, one line for each start and end of an element, by our parser and by expat.
#include "oracles.h"

#include "io/xml.h"

#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct story {
    char *text;
    size_t size, room;
    XML_Parser parser;
    int lines_before, depth;
    bool has_declarations, has_file, is_deep;
} story;

static void add(story *s, const char *text)
{
    size_t length = strlen(text);
    if (s->size + length + 1 > s->room) {
        s->room = 2 * (s->size + length) + 1024;
        s->text = realloc(s->text, s->room);
    }
    memcpy(s->text + s->size, text, length + 1);
    s->size += length;
}

static void add_start(story *s, const char *name, const char *const *attributes, int line)
{
    char number[16];
    snprintf(number, sizeof number, "%d <", line);
    add(s, number);
    add(s, name);
    for (; *attributes; attributes += 2) {
        add(s, " ");
        add(s, attributes[0]);
        add(s, "=\"");
        add(s, attributes[1]);
        add(s, "\"");
    }
    add(s, ">\n");
}

static void tell_tree(story *s, const pz_xml_node *root)
{
    for (const pz_xml_node *node = root; node;) {
        add_start(s, node->name, node->attributes, node->line);
        const pz_xml_node *next = pz_xml_after(node, root, false);
        const pz_xml_node *up = next ? next->parent : root->parent;
        for (const pz_xml_node *n = node; n != up; n = n->parent) {
            add(s, "</>\n");
        }
        node = next;
    }
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    story *s = user;
    s->is_deep = s->is_deep || ++s->depth > PZ_XML_DEPTH;
    add_start(s, name, (const char *const *)attributes, (int)XML_GetCurrentLineNumber(s->parser) + s->lines_before);
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    story *s = user;
    (void)name;
    s->depth -= 1;
    add(s, "</>\n");
}

static void XMLCALL on_type(void *user, const XML_Char *name, const XML_Char *system, const XML_Char *public, int has_own)
{
    story *s = user;
    (void)name;
    s->has_declarations = s->has_declarations || has_own;
    s->has_file = system || public;
}

// White space in front of the declaration is left out, as our parser does.
static void skip_space(const char **text, size_t *size, story *s)
{
    while (*size > 0 && strchr(" \t\r\n", **text) && **text) {
        s->lines_before += **text == '\n' || (**text == '\r' && (*size < 2 || (*text)[1] != '\n'));
        *text += 1;
        *size -= 1;
    }
}

// UTF-16, and that with the high byte first, by the first two bytes.
static bool is_wide(const char *text, size_t size)
{
    return size > 1 && (text[0] == '\0' || text[1] == '\0' || (unsigned char)text[0] >= 0xFE);
}

static bool is_big(const char *text)
{
    return text[0] == '\0' || (unsigned char)text[0] == 0xFE;
}

// Is half a surrogate pair there? expat takes whatever comes behind the first half of one as the second.
static bool has_half_pair(const char *text, size_t size, bool big)
{
    bool is_open = false;
    for (size_t i = big ? 0 : 1; i < size; i += 2) {
        unsigned char high = (unsigned char)text[i];
        bool is_second = high >= 0xDC && high <= 0xDF;
        if (is_open != is_second) {
            return true;
        }
        is_open = high >= 0xD8 && high <= 0xDB;
    }
    return is_open;
}

// Where expat refuses and we do not: is it one of the cases that are meant?
static bool is_lenient(const story *s, enum XML_Error code, const char *text, size_t size, const poise_file *file)
{
    size_t place = (size_t)XML_GetCurrentByteIndex(s->parser), low = place;
    bool wide = is_wide(text, size), big = wide && is_big(text);
    low += big;
    bool is_foreign = low < size && (unsigned char)text[low] >= 0x80;
    is_foreign = is_foreign || (wide && place + 1 < size && text[big ? place : place + 1] != '\0');
    for (int i = 0; i < file->warning_count; ++i) { // said to the user
        const char *warning = file->warnings[i].text;
        if (strstr(warning, "not all of the file is UTF-8") || strstr(warning, "zero bytes") ||
            strstr(warning, "declaration is malformed") || strstr(warning, "declaration is not at the start")) {
            return true;
        }
    }
    bool is_half = wide && (size % 2 == 1 || has_half_pair(text, size, big));
    bool ends_with_cr = size > 1 && (text[size - 1] == '\r' || text[size - 2] == '\r');
    return is_half || ends_with_cr       // expat's line is not the last one
           || is_foreign                 // names with any letter; bytes beyond US-ASCII
           || code == XML_ERROR_PUBLICID // its characters say nothing to us
           || (code == XML_ERROR_UNDEFINED_ENTITY && s->has_file);
}

verdict xml_against_expat(const void *bytes, size_t size, char reason[REASON_SIZE])
{
    poise_file file = {.format = POISE_FORMAT_URDF};
    poise_error error = {.text = ""};
    pz_input input = {.file = &file, .error = &error};
    pz_xml_node *root = NULL;
    poise_status status = pz_xml_parse(&input, bytes, size, NULL, &root);
    story ours = {0}, theirs = {0};
    tell_tree(&ours, root);
    add(&ours, "");
    add(&theirs, "");
    const char *text = bytes;
    size_t rest = size;
    skip_space(&text, &rest, &theirs);
    bool is_marked = rest >= 3 && (memcmp(text, "\xEF\xBB\xBF", 3) == 0 || memcmp(text, "\xFF\xFE", 2) == 0 ||
                                   memcmp(text, "\xFE\xFF", 2) == 0);
    if (is_marked) { // a byte order mark comes first, or is none
        text = bytes;
        rest = size;
        theirs.lines_before = 0;
    }
    theirs.parser = XML_ParserCreate(NULL);
    XML_SetUserData(theirs.parser, &theirs);
    XML_SetElementHandler(theirs.parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(theirs.parser, on_type);
    bool works = XML_Parse(theirs.parser, text, (int)rest, XML_TRUE) == XML_STATUS_OK;
    enum XML_Error code = XML_GetErrorCode(theirs.parser);
    int line = (int)XML_GetCurrentLineNumber(theirs.parser) + theirs.lines_before;
    snprintf(reason, REASON_SIZE, "ours: %d, line %d: %.150s; expat: %s, line %d", (int)status, error.line, error.text,
             XML_ErrorString(code), line);
    verdict v = VERDICT_DIFFERENT;
    if (theirs.has_declarations || theirs.is_deep) {
        v = status == POISE_ERROR_FORMAT ? VERDICT_OURS : VERDICT_DIFFERENT;
    } else if (status == POISE_OK && works) {
        v = strcmp(ours.text, theirs.text) == 0 ? VERDICT_SAME : VERDICT_DIFFERENT;
    } else if (status == POISE_ERROR_FORMAT && !works) {
        // expat looks at references last, and takes quoted text before and after the root as one token
        bool is_outside = theirs.size == 0 || strstr(error.text, "after document element");
        bool is_earlier =
            strstr(error.text, "entity") || strstr(error.text, "character number") || (error.line < line && is_outside);
        bool is_meant = is_earlier || is_lenient(&theirs, code, text, rest, &file);
        v = error.line == line ? VERDICT_SAME : is_meant ? VERDICT_OURS : VERDICT_DIFFERENT;
    } else if (status == POISE_OK && is_lenient(&theirs, code, text, rest, &file)) {
        v = VERDICT_OURS;
    } else if (works && is_wide(text, rest) && has_half_pair(text, rest, is_big(text))) {
        v = VERDICT_OURS; // we refuse it
    }
    XML_ParserFree(theirs.parser);
    pz_pool_release(&input.pool);
    free(ours.text);
    free(theirs.text);
    return v;
}
