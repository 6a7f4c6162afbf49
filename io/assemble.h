// From described joints to the model: what the readers of robot descriptions share.
#ifndef PZ_IO_ASSEMBLE_H
#define PZ_IO_ASSEMBLE_H

#include "io/xml.h"

#include "base/text.h"

// A joint, the element that describes it, and the one it follows.
typedef struct pz_part {
    poise_joint joint; // names in the input's pool; `mimic` is left NULL, its multiplier and offset are set
    const pz_xml_node *node;
    int leader; // position of the part it mimics, or -1
} pz_part;

typedef struct pz_named_frame {
    poise_tool tool;
    const pz_xml_node *node;
} pz_named_frame;

// Resolve which joints mimic which, build the model and put it into the input's file. A joint that mimics a mimic is made to
// follow the joint at the end of that chain. Limits of a follower that leave its leader no value are dropped with a warning.
poise_status pz_assemble(pz_input *input, pz_part *parts, int part_count, const pz_named_frame *frames, int frame_count);

// ---- Names ---------------------------------------------------------------------------------------------------------------

// A set of names, which only grows.
typedef struct pz_name_set {
    pz_names names;
    const char **list;
    int count;
    int next; // number that the next made-up name tries
} pz_name_set;

// Room for `most` names; false: out of memory.
bool pz_name_set_make(pz_pool *pool, size_t most, pz_name_set *set);

// The position in the list, or -1.
int pz_name_set_find(const pz_name_set *set, const char *name);

// Add a name at the end of the list; false, and nothing is added, if it is there already.
bool pz_name_set_add(pz_name_set *set, const char *name);

// `base` itself or, where that is taken, base.2, base.3 and so on; added to the set. NULL: out of memory. All bases of a set
// share one count, so that many names take time in proportion to their number.
const char *pz_name_set_new(pz_pool *pool, pz_name_set *set, const char *base);

// The rotation that takes z to `axis` (any length but 0) the shortest way; about x for -z.
poise_quat pz_quat_from_z(poise_vec3 axis);

#endif
