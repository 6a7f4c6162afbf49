// Events from expat.
//
// Expat's memory functions take no pointer of the user's, so what the parser itself needs comes from malloc, not from the
// caller's allocator (docs/decisions/0011-expat-and-jansson.md). All of it is released before pz_xml_parse returns.
#include "io/xml/xml_tree.h"

#include "base/arena.h"

#include <expat.h>
#include <limits.h>
#include <string.h>

typedef struct feed {
    XML_Parser parser;
    pz_xml_tree tree;
    poise_status status; // of the events
    int lines_before;    // cut off before what the parser sees
} feed;

static int line_of(const feed *f)
{
    XML_Size line = XML_GetCurrentLineNumber(f->parser);
    return line > (XML_Size)(INT_MAX - f->lines_before) ? INT_MAX : (int)line + f->lines_before;
}

static void stop(feed *f, poise_status status)
{
    f->status = status;
    XML_StopParser(f->parser, XML_FALSE);
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    feed *f = user;
    if (f->status != POISE_OK) {
        return; // the end of an empty element follows its start even after a stop
    }
    poise_status status = pz_xml_start(&f->tree, name, (const char *const *)attributes, line_of(f));
    if (status != POISE_OK) {
        stop(f, status);
    }
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
    feed *f = user;
    (void)name; // expat has matched it
    if (f->status == POISE_OK) {
        f->status = pz_xml_end(&f->tree);
    }
}

static void XMLCALL on_document_type(void *user, const XML_Char *name, const XML_Char *system_id, const XML_Char *public_id,
                                     int has_internal_subset)
{
    feed *f = user;
    (void)name;
    pz_xml_node here = {.file = f->tree.file, .line = line_of(f)};
    if (has_internal_subset) {
        stop(f, pz_xml_fail(f->tree.input, &here, POISE_ERROR_FORMAT,
                            "declarations in <!DOCTYPE> (entities, default values) are not read: remove them"));
    } else if (system_id || public_id) {
        pz_xml_warn(f->tree.input, NULL, &here, "the document type that <!DOCTYPE> names is not read");
    }
}

// What expat says, with the element that is still open where that is the reason.
static poise_status report(feed *f, enum XML_Error code)
{
    pz_input *input = f->tree.input;
    if (code == XML_ERROR_ABORTED) {
        return f->status;
    }
    if (code == XML_ERROR_NO_MEMORY) {
        return pz_input_no_memory(input);
    }
    pz_xml_node here = {.file = f->tree.file, .line = line_of(f)};
    const pz_xml_node *open = f->tree.open;
    if (open && (code == XML_ERROR_TAG_MISMATCH || code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN)) {
        pz_xml_fail(input, &here, POISE_ERROR_FORMAT, "XML: %s: <%s> of line %d is not closed", XML_ErrorString(code),
                    open->name, open->line);
    } else {
        pz_xml_fail(input, &here, POISE_ERROR_FORMAT, "XML: %s: fix this place or write the file anew",
                    XML_ErrorString(code));
    }
    if (input->error) {
        XML_Size column = XML_GetCurrentColumnNumber(f->parser);
        input->error->column = column < INT_MAX ? (int)column + 1 : 0;
    }
    return POISE_ERROR_FORMAT;
}

// Memory for expat: malloc's, by way of pz_allocate, which the library has for all memory. That knows no realloc, so a block
// keeps its size in front.
typedef struct block {
    size_t size;
    max_align_t bytes[];
} block;

static void *take(size_t size)
{
    block *fresh = size < SIZE_MAX - sizeof *fresh ? pz_allocate(NULL, sizeof *fresh + size) : NULL;
    if (!fresh) {
        return NULL;
    }
    fresh->size = size;
    return fresh->bytes;
}

static void give_back(void *memory)
{
    if (memory) {
        pz_release(NULL, (unsigned char *)memory - offsetof(block, bytes));
    }
}

static void *change(void *memory, size_t size)
{
    void *larger = take(size);
    if (larger && memory) {
        size_t old = ((block *)(void *)((unsigned char *)memory - offsetof(block, bytes)))->size;
        memcpy(larger, memory, old < size ? old : size);
        give_back(memory);
    }
    return larger;
}

// One run over the whole text. *code is expat's answer.
static poise_status run(feed *f, const char *text, size_t size, enum XML_Error *code)
{
    static const XML_Memory_Handling_Suite memory = {take, change, give_back};
    *code = XML_ERROR_NONE;
    f->parser = XML_ParserCreate_MM(NULL, &memory, NULL);
    if (!f->parser) {
        return pz_input_no_memory(f->tree.input);
    }
    XML_SetUserData(f->parser, f);
    XML_SetElementHandler(f->parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(f->parser, on_document_type);
    poise_status status = POISE_OK;
    if (XML_Parse(f->parser, text, (int)size, XML_TRUE) != XML_STATUS_OK) {
        *code = XML_GetErrorCode(f->parser);
        status = *code == XML_ERROR_XML_DECL ? POISE_ERROR_FORMAT : report(f, *code);
    }
    status = f->status != POISE_OK ? f->status : status;
    XML_ParserFree(f->parser);
    return status;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_one_byte_text(const char *text, size_t size)
{
    return size >= 2 && text[0] != '\0' && text[1] != '\0' && (unsigned char)text[0] < 0xfe;
}

static int lines_in(const char *from, const char *to)
{
    int lines = 0;
    for (const char *c = from; c < to; ++c) {
        lines += *c == '\n' || (*c == '\r' && (c + 1 == to || c[1] != '\n'));
    }
    return lines;
}

// White space before, zeros behind.
static void trim(feed *f, const char **text, size_t *size)
{
    if (!is_one_byte_text(*text, *size)) {
        return;
    }
    const char *first = *text, *end = first + *size;
    while (first < end && is_space(*first)) {
        ++first;
    }
    f->lines_before = lines_in(*text, first);
    const char *last = end;
    while (last > first && last[-1] == '\0') {
        --last;
    }
    if (last < end) {
        pz_xml_node here = {.file = f->tree.file};
        pz_xml_warn(f->tree.input, NULL, &here, "the file ends with zero bytes, which are left out");
    }
    *text = first;
    *size = (size_t)(last - first);
}

// Where the XML declaration ends, or NULL: "?>" is near or nowhere.
static const char *behind_declaration(const char *text, size_t size)
{
    size_t near = size < 1024 ? size : 1024;
    for (size_t i = 0; i + 1 < near; ++i) {
        if (text[i] == '?' && text[i + 1] == '>') {
            return text + i + 2;
        }
    }
    return NULL;
}

poise_status pz_xml_parse(pz_input *input, const void *bytes, size_t size, const char *file, pz_xml_node **root)
{
    feed f = {.tree = {.input = input, .file = file}};
    pz_xml_node here = {.file = file, .line = 1};
    if (size > INT_MAX) {
        return pz_xml_fail(input, &here, POISE_ERROR_UNSUPPORTED, "an XML file of more than 2 GB is not read: split it");
    }
    const char *text = bytes;
    trim(&f, &text, &size);
    enum XML_Error code;
    poise_status status = run(&f, text, size, &code);
    if (code == XML_ERROR_XML_DECL) { // a typing error in <?xml version="1.0"?> says nothing about the rest
        here.line += f.lines_before;
        const char *rest = behind_declaration(text, size);
        if (!rest) {
            return pz_xml_fail(input, &here, POISE_ERROR_FORMAT, "the XML declaration does not end: close it with ?>");
        }
        pz_xml_warn(input, NULL, &here, "the XML declaration is malformed; the file is read as UTF-8");
        f.lines_before += lines_in(text, rest);
        status = run(&f, rest, size - (size_t)(rest - text), &code);
        if (code == XML_ERROR_XML_DECL) {
            status = pz_xml_fail(input, &here, POISE_ERROR_FORMAT, "there are two XML declarations: remove one");
        }
    }
    if (status == POISE_OK) {
        *root = f.tree.root;
    }
    return status;
}
