// XML for the readers of XML formats: a document becomes a tree of elements, which has functions to ask it for names and
// numbers. Of the text in an element the first piece that is not white space is kept, up to a tag or comment behind it.
//
// All memory comes from the input's pool: at most some 30 bytes for each byte of the document.
#ifndef PZ_IO_XML_H
#define PZ_IO_XML_H

#include "io/io_core.h"

// Elements nested deeper than this are refused. Nothing here recurses; the bound keeps what others build on it safe, too.
#define PZ_XML_DEPTH 10000

typedef struct pz_xml_node {
    const char *name;
    const char **attributes; // name, value, name, value, ..., NULL
    const char *text;        // in it, without white space at its ends; NULL: none
    const char *file;        // that it comes from; NULL: the one that is being read
    int line;
    int mark; // for the reader's own use; 0 at first
    struct pz_xml_node *parent, *first, *last, *next;
} pz_xml_node;

// ---- Parsing -------------------------------------------------------------------------------------------------------------

// Read a document. `file` is its name if it is not the one that `input` stands for, else NULL.
//
// Lenient where real files need it: white space before the XML declaration; all letters beyond ASCII in names; with a
// warning a malformed declaration, bytes that are not UTF-8 (taken as ISO-8859-1), and zeros behind the end. Strict
// elsewhere.
//
// A document type that declares things of its own (entities, default values) is refused: a few lines of those can stand
// for gigabytes, and no file that is read here needs them.
poise_status pz_xml_parse(pz_input *input, const void *bytes, size_t size, const char *file, pz_xml_node **root);

// ---- Asking --------------------------------------------------------------------------------------------------------------

// Pre-order, without recursion: the element after `node` within the subtree of `top`; NULL at its end. `skip` leaves out
// what is inside `node`.
pz_xml_node *pz_xml_after(const pz_xml_node *node, const pz_xml_node *top, bool skip);

bool pz_xml_is(const pz_xml_node *node, const char *name);

// The first child of that name, or NULL.
const pz_xml_node *pz_xml_child(const pz_xml_node *node, const char *name);

// The value of an attribute, or NULL.
const char *pz_xml_get(const pz_xml_node *node, const char *attribute);

// The text of the first child of that name; NULL without the child or a text.
const char *pz_xml_child_text(const pz_xml_node *node, const char *name);

// Is the name one of a list that ends with NULL?
bool pz_xml_is_among(const char *name, const char *const *list);

// Numbers of an attribute, separated by white space. *count is how many there are, 0 without the attribute, which leaves
// `values` alone; else from `least` to `most`, or it is an error. Finite, but for PZ_XML_INFINITE.
typedef enum pz_xml_numbers_kind { PZ_XML_FINITE, PZ_XML_INFINITE } pz_xml_numbers_kind;
poise_status pz_xml_numbers(pz_input *input, const pz_xml_node *node, const char *attribute, pz_xml_numbers_kind kind,
                            int least, int most, double *values, int *count);

// As many as `count`, or none.
poise_status pz_xml_exactly(pz_input *input, const pz_xml_node *node, const char *attribute, int count, double *values);

// All the numbers of an element's text, at most `most`, in the input's pool.
poise_status pz_xml_text_numbers(pz_input *input, const pz_xml_node *node, int most, double **values, int *count);

// The same from a text that is the value of some attribute.
poise_status pz_xml_numbers_of(pz_input *input, const pz_xml_node *node, const char *attribute, const char *value,
                               pz_xml_numbers_kind kind, int least, int most, double *values, int *count);

// ---- Errors and warnings -------------------------------------------------------------------------------------------------

// With the line of the node, and the name of its file if that is another one.
poise_status pz_xml_fail(pz_input *input, const pz_xml_node *node, poise_status status, const char *format, ...)
    PZ_PRINTF(4, 5);

// `cause` may be NULL: always said.
void pz_xml_warn(pz_input *input, pz_cause *cause, const pz_xml_node *node, const char *format, ...) PZ_PRINTF(4, 5);

#endif
