// What the readers of OpenSim's documents share: what elements say, and setups, each a document in a pool of its own.
#ifndef PZ_IO_OPENSIM_H
#define PZ_IO_OPENSIM_H

#include <poise/opensim.h>

#include "io/xml.h"
#include "num/vector.h"

// ---- Elements ------------------------------------------------------------------------------------------------------------

// Three numbers of a child's text; without it the vector stays.
poise_status pz_osim_vec3(pz_input *input, const pz_xml_node *node, const char *name, vec3 *v);
poise_status pz_osim_number(pz_input *input, const pz_xml_node *node, const char *name, double *value);
bool pz_osim_is_true(const pz_xml_node *node, const char *name);
const char *pz_osim_name(const pz_xml_node *node);

// Objects of a set: what stands in <objects>, or in the set itself.
const pz_xml_node *pz_osim_objects(const pz_xml_node *node, const char *set);

// A function of a coordinate (osim.c): is it a x + b?
bool pz_osim_is_linear(const poise_function *f, double *a, double *b);

// ---- Setups --------------------------------------------------------------------------------------------------------------

// A document that is being read. `kept` goes over to what is made of it.
typedef struct pz_setup {
    poise_read_options options;
    poise_file file; // takes warnings, which no one reads
    pz_input input;
    pz_xml_node *root;
    bool lacks_memory; // for a text
} pz_setup;

poise_status pz_setup_open(pz_setup *s, const void *bytes, size_t size, const poise_allocator *allocator,
                           poise_error *error);
void pz_setup_close(pz_setup *s, bool keep);

// The first element of that name anywhere in the document; NULL: none.
const pz_xml_node *pz_setup_find(const pz_setup *s, const char *name);

// A copy of a child's text that is kept; NULL without one, or out of memory (then s->lacks_memory). "Unassigned" is none.
const char *pz_setup_text(pz_setup *s, const pz_xml_node *node, const char *name);

// <time_range>; stays without one.
poise_status pz_setup_times(pz_setup *s, const pz_xml_node *node, double *start, double *end);

// The tasks of an <IKTaskSet>; none without one.
poise_status pz_setup_tasks(pz_setup *s, const pz_xml_node *set, poise_ik_task **tasks, int *count);

#endif
