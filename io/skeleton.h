// What the formats of skeletons share: joints by their public description, the tips of bones, and what every writer checks.
#ifndef PZ_IO_SKELETON_H
#define PZ_IO_SKELETON_H

#include "base/text.h"
#include "io/xml.h"
#include "num/vector.h"

// ---- Joints by their public description ----------------------------------------------------------------------------------

// "xyz" for POISE_EULER_XYZ; the order must be one of the enumeration.
const char *pz_euler_name(int order);

// The order of turns about these axes (0, 1, 2), outermost first; false when one comes twice in a row.
bool pz_euler_find(const int axis[3], poise_euler_order *order);

// Angles a, b, c of R = Ri(a) Rj(b) Rk(c), row-major, about the axes i, j, k = first, first + 1, first + 2 (mod 3). `angle`
// holds the last ones: of the triples that give R the next to them is taken, so that a motion goes on without jumps.
void pz_euler_next(const double R[9], int first, double angle[3]);

// What configurations of a model must be: found once, so that checking one takes time for its numbers only, and not for all
// the joints that have none.
typedef struct pz_configurations {
    int nq;
    int *quaternions; // where they begin in q; in the pool
    int count;
} pz_configurations;

bool pz_configurations_of(const poise_model *model, pz_pool *pool, pz_configurations *out); // false: out of memory

// Are all nq numbers finite, and no quaternion zero?
bool pz_is_configuration(const pz_configurations *of, const double *q);

// ---- Tips of bones, and writing ------------------------------------------------------------------------------------------

// The tools of a model that are tips of their bodies, that is, called "<body>.tip" with or without a number, in the order of
// the model.
typedef struct pz_tips {
    int *first; // by body: a tool, -1: none
    int *next;  // by tool: the next tip of the same body, -1: none
    int others; // tools that are no tips, or are turned against their body
} pz_tips;

// False when out of memory.
bool pz_tips_find(pz_pool *pool, const poise_model *model, pz_tips *tips);

// A name in one line, without control characters, without spaces at its ends, and without the characters of `bad`: '_'
// stands for those.
void pz_put_name(pz_output *output, const char *name, const char *bad);

// There is a model, and the clip, if any, moves it.
poise_status pz_check_model(const poise_file *file, pz_output *output, const char *format);

// All numbers of a frame are finite.
poise_status pz_check_finite(pz_output *output, const poise_clip *clip, int frame);

// Warn of what neither BVH nor ASF can hold, and of as many coordinates whose limits are lost.
void pz_warn_of_losses(const poise_file *file, pz_output *output, const char *format, const pz_tips *tips, int limits);

// ---- From described joints to the model: what the readers of robot descriptions share ------------------------------------

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
