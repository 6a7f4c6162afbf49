// Questions to a tree of elements.
#include "io/xml/xml_tree.h"

#include <string.h>

// ---- Asking --------------------------------------------------------------------------------------------------------------

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
