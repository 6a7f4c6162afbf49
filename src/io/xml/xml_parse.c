// XML 1.0 (fifth edition), without validation, to a tree of elements.
//
// One pass over the text; the stack of open elements is the tree itself, and nothing recurses. Text between elements is
// checked, and the first piece in an element kept. The only entities are the five of XML and character references, so that
// nothing expands.
#include "io/xml/xml_text.h"

#include "base/letters.h"
#include "base/names.h"

#include <limits.h>
#include <string.h>

// An attribute as it stands in the text.
typedef struct attribute {
    pz_word name, value;
    bool is_plain; // the value has no references and no white space but blanks
} attribute;

typedef struct parser {
    pz_xml_text text;
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
    p->status = pz_xml_fail_at(&p->text, place, "XML: %s: fix the file here, or export it again", what);
    return false;
}

// The element that is still open is the likely reason.
static bool fail_open(parser *p, const char *place, const char *what)
{
    if (!p->open) {
        return fail(p, place, what);
    }
    p->status =
        pz_xml_fail_at(&p->text, place, "XML: %s: <%s> of line %d is not closed", what, p->open->name, p->open->line);
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
    return s[0] < 0x20 ? pz_xml_is_space(*at) : s[0] != 0xEF || s[1] != 0xBF || s[2] < 0xBE;
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
    pz_xml_text *t = &p->text;
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
    pz_xml_text *t = &p->text;
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
    pz_xml_text *t = &p->text;
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
    pz_xml_text *t = &p->text;
    while (!pz_xml_is_next(t, end)) {
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
    pz_xml_skip_space(&p->text);
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
    pz_xml_text *t = &p->text;
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
    pz_xml_text *t = &p->text;
    const char *behind = t->at, *end = a->value.text + a->value.length;
    for (t->at = a->value.text; t->at < end;) {
        uint32_t value;
        if (*t->at == '&') {
            if (read_reference(p, t->at, &value) && value != 0) {
                to += pz_utf8_put(to, value);
            }
        } else if (pz_xml_is_space(*t->at)) {
            *to++ = ' ';
            t->at += pz_xml_is_next(t, "\r\n") ? 2 : 1;
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

static char *put_word(char **at, pz_word word)
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
    node->name = put_word(&at, name);
    for (size_t i = 0; i < count; ++i) {
        node->attributes[2 * i] = put_word(&at, p->attributes[i].name);
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
            pz_xml_fail_at(&p->text, token, "elements are nested more than %d deep; is this the right file?", PZ_XML_DEPTH);
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
    node->line = pz_xml_line(&p->text, token);
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
    pz_xml_text *t = &p->text;
    const char *token = t->at++;
    pz_word name;
    p->attribute_count = 0;
    if (!read_name(p, token, &name)) {
        return false;
    }
    while (true) {
        bool is_separate = pz_xml_skip_space(t);
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
    pz_xml_text *t = &p->text;
    const char *token = t->at;
    t->at += 2;
    pz_word target;
    if (!read_name(p, token, &target)) {
        return false;
    }
    bool is_declaration = pz_word_is(target, "xml");
    if ((!is_declaration && pz_word_is_like(target, "xml")) || (!pz_xml_is_next(t, "?>") && !pz_xml_is_space(*t->at))) {
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
    pz_xml_node here = {.file = t->file, .line = pz_xml_line(t, token)}; // a comment above it, as in some OpenSim files
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
    while (from < end && pz_xml_is_space(*from)) {
        from += 1;
    }
    while (from < end && pz_xml_is_space(end[-1])) {
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
    pz_xml_text *t = &p->text;
    const char *from = t->at;
    while (t->at < t->end && *t->at != '<') {
        uint32_t value;
        if (*t->at == '&') {
            if (!read_reference(p, t->at, &value)) {
                return false;
            }
            continue;
        }
        if (!is_allowed_at(t->at) || (*t->at == ']' && pz_xml_is_next(t, "]]>"))) {
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
    pz_xml_text *t = &p->text;
    const char *token = t->at;
    t->at += 9;
    pz_word name;
    if (p->has_type || !pz_xml_skip_space(t)) {
        return fail(p, token, "syntax error");
    }
    if (!read_name(p, token, &name)) {
        return false;
    }
    pz_xml_skip_space(t);
    bool is_public = pz_xml_is_next(t, "PUBLIC"), is_system = pz_xml_is_next(t, "SYSTEM");
    if (is_public || is_system) {
        t->at += 6;
        if ((is_public && !skip_literal(p, token)) || !skip_literal(p, token)) {
            return false;
        }
        pz_xml_skip_space(t);
    }
    if (t->at >= t->end) {
        return fail_open(p, t->end, "no element found");
    }
    pz_xml_node here = {.file = t->file, .line = pz_xml_line(t, t->at)};
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
    pz_xml_text *t = &p->text;
    if (pz_xml_is_next(t, "<!--")) {
        return skip_comment(p);
    }
    if (pz_xml_is_next(t, "<?")) {
        return skip_instruction(p);
    }
    if (p->root) {
        return fail(p, t->at, "junk after document element");
    }
    if (pz_xml_is_next(t, "<!DOCTYPE")) {
        return skip_document_type(p);
    }
    if (*t->at != '<') {
        return fail(p, t->at, "syntax error");
    }
    return pz_xml_is_next(t, "<!") || pz_xml_is_next(t, "</") ? fail_token(p, t->at + 1) : read_start(p);
}

static bool read_inside(parser *p)
{
    pz_xml_text *t = &p->text;
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
    if (pz_xml_is_next(t, "<!--")) {
        return skip_comment(p);
    }
    if (pz_xml_is_next(t, "<![CDATA[")) {
        return skip_raw_text(p);
    }
    return t->end - t->at > 2 ? fail_token(p, t->at + 2) : fail_unclosed(p, t->at);
}

static bool read_document(parser *p)
{
    while (true) {
        if (!p->open) {
            pz_xml_skip_space(&p->text);
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
    p.status = pz_xml_open(&p.text, bytes, size);
    if (p.status == POISE_OK && read_document(&p)) {
        *root = p.root;
    }
    return p.status;
}
