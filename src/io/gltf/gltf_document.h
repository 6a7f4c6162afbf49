// A glTF document while it is written.
#ifndef PZ_IO_GLTF_DOCUMENT_H
#define PZ_IO_GLTF_DOCUMENT_H

#include "io/gltf/gltf.h"

// What a file held that was read, kept to be written again (gltf_carried.c).
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

// What is being written.
typedef struct pz_gltf_writing {
    const poise_file *file;
    const poise_model *model;
    const pz_gltf_rest *rest; // NULL: nothing is carried
    pz_json_writer writer;
    pz_output binary;   // the buffer
    double metres;      // for a unit of length
    poise_up up;        // of the model's world
    double start;       // of the animation, seconds
    bool *moves;        // 2 x joints: does the clip change the translation, the rotation of the node?
    int channels;       // of the animation
    int first_accessor; // of the animation's; its views begin likewise
    int first_view;     //
    size_t first_byte;  // of its numbers
    poise_status status;
} pz_gltf_writing;

// The local transform of joint k at the configuration q, in metres, with y upwards by a cyclic change of axes.
poise_pose pz_gltf_node_transform(const pz_gltf_writing *doc, int k, const double *q);

// The channels and samplers of the clip, members of its animation; its accessors and views, elements of those lists; the
// buffer.
void pz_gltf_put_channels(pz_gltf_writing *doc);
void pz_gltf_put_samplers(pz_gltf_writing *doc);
void pz_gltf_put_accessors(pz_gltf_writing *doc);
void pz_gltf_put_views(pz_gltf_writing *doc);
void pz_gltf_put_buffer(pz_gltf_writing *doc, bool embed);
void pz_gltf_put_extras(pz_gltf_writing *doc);

// Keep what the document holds beside skeleton and clip, which are read; nothing where there is nothing.
poise_status pz_gltf_carry(pz_gltf *gltf, const char *text, size_t size);

// What is carried and fits the model; NULL: nothing.
const pz_gltf_rest *pz_gltf_rest_of(const poise_file *file);

// Is the clip, bit for bit, the one that was read?
bool pz_gltf_is_same_motion(const pz_gltf_rest *rest, const poise_clip *clip);

// The document that was read, with the clip and the rest transforms of now. Numbers of the clip are in doc->binary.
poise_status pz_gltf_put_carried(pz_gltf_writing *doc, pz_pool *pool, const double *neutral, bool embed);

#endif
