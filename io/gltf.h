// What the parts of the glTF reader share (glTF 2.0 specification, Khronos Group 2021).
#ifndef PZ_IO_GLTF_H
#define PZ_IO_GLTF_H

#include "io/json.h"
#include "num/vector.h"

typedef struct pz_gltf_node {
    const char *name;        // unique among nodes, in the pool
    int parent;              // node, or POISE_WORLD
    int first_child, next;   // nodes, or POISE_WORLD; next in the parent's list
    int last_child;          // while the list is made
    vec3 translation;        // T R S as in the file
    quat rotation;           // unit
    vec3 scale;              //
    double reach;            // the product of the uniform scales above it
    vec3 carried;            // what all scales above make of its translation
    bool is_bone;            // a joint of a skin, or a bone of a VRM
    bool turns, moves;       // some animation changes its rotation, its translation
    bool is_tool;            // a leaf that stands for a frame on its parent
    int turned_by, moved_by; // the last animation with such a channel, + 1
    int joint;               // in the model
} pz_gltf_node;

// Bytes of one buffer, fetched at first use.
typedef struct pz_gltf_buffer {
    const unsigned char *bytes;
    size_t size;
    bool is_fetched, is_missing;
} pz_gltf_buffer;

// Numbers of one accessor, decoded at first use: count x components.
typedef struct pz_gltf_array {
    double *values; // NULL: in a file that was not handed in
    size_t count;
    int components; // 0: not decoded yet
} pz_gltf_array;

typedef struct pz_gltf {
    pz_input *input;
    pz_json json;
    pz_item root;
    const unsigned char *binary; // the BIN chunk of a GLB, or NULL
    size_t binary_size;
    pz_gltf_node *nodes;
    int *order; // nodes, parents first, depth first
    int node_count;
    pz_gltf_buffer *buffers;
    pz_gltf_array *arrays; // by accessor
    size_t numbers_left;   // that may still be decoded or sampled
    int animation;         // that becomes the clip
} pz_gltf;

// The time and memory that a file may ask for: this many numbers, and this many for each of its bytes. Accessors may
// overlap, share bytes or have none, and two keys may lie a year apart, so that a small file can ask for anything.
#define PZ_GLTF_NUMBERS          (1 << 20)
#define PZ_GLTF_NUMBERS_PER_BYTE 64

// Take `count` numbers out of what is left; `item` is to blame when there are not so many.
poise_status pz_gltf_charge(pz_gltf *gltf, const pz_item *item, double count);

// An index into the array `list` of the document.
poise_status pz_gltf_index(const pz_item *item, const pz_item *list, int *index);

// The numbers of the accessor that `reference` is the index of.
poise_status pz_gltf_accessor(pz_gltf *gltf, const pz_item *reference, int components, pz_gltf_array *array);

// What moves, before the model is made; the clip, after (gltf_clip.c).
poise_status pz_gltf_find_motion(pz_gltf *gltf);
poise_status pz_gltf_read_clip(pz_gltf *gltf);

// What a file held that was read, kept to be written again.
typedef struct pz_gltf_rest {
    const char *text; // the document
    size_t text_size;
    const unsigned char *bytes; // all its buffers, one after the other
    size_t size;
    size_t *base; // by buffer: where it begins there
    int buffer_count;
    int animation;      // that became the clip
    int joints;         // of the model
    int *node;          // by joint
    const char **name;  // by joint
    poise_pose *offset; // by joint: the rest transform, with what scales above make of it
    vec3 *carried;      // by joint: those scales
    vec3 *scale;        // by joint: its own
    uint64_t motion;    // a hash of the clip
    double start, end;  // of the clip, seconds
    bool *is_still;     // by channel of the animation: a scale or weights that stay at the node's
    bool is_whole;      // all buffers were available
} pz_gltf_rest;

// FNV-1a over the bits of a clip; NULL is allowed (gltf_read.c).
uint64_t pz_gltf_motion_hash(const poise_clip *clip);

// Read either form (gltf_read.c).
poise_status pz_gltf_read(pz_input *input);

#endif
