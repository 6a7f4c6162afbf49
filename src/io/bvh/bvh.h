// What reading and writing BVH share.
#ifndef PZ_IO_BVH_H
#define PZ_IO_BVH_H

#include "io/io_core.h"

// What a column of the motion holds: a position along, or a rotation about, axis 0, 1, 2.
typedef enum bvh_kind { BVH_POSITION, BVH_ROTATION, BVH_IGNORED } bvh_kind;

typedef struct bvh_channel {
    bvh_kind kind;
    int axis;
    int joint; // that it belongs to
} bvh_channel;

typedef struct bvh_joint {
    const char *name;
    int line;
    int parent; // -1: none
    int children;
    double offset[3];
    bool has_offset, has_channels;
    int sites;
    bool is_folded;     // its offset went to its only child (a joint "x.offset" above "x")
    bool is_settled;    // its offset does not depend on what position channels mean
    int first_channel;  // of the file's
    int channel_count;  // columns
    int position_count; // of them
    int rotation_count;
} bvh_joint;

typedef struct bvh_site {
    int joint;
    int number; // among the sites of its joint, from 1
    double offset[3];
} bvh_site;

// A file while it is read.
typedef struct bvh {
    pz_input *input;
    pz_scan scan;
    bvh_joint *joints;
    size_t joint_count, joint_capacity;
    bvh_channel *channels;
    size_t channel_count, channel_capacity;
    bvh_site *sites;
    size_t site_count, site_capacity;
    int *target;   // by column: where it goes in q, -1: nowhere
    double *shift; // by column: what is taken off its values, the offset that a position holds
} bvh;

// The hierarchy into bvh (bvh_read.c) and from there into input->file->model and bvh->target (bvh_model.c). `first`: the
// first frame by column, NULL when there is none.
poise_status pz_bvh_model(bvh *file, const double *first);

// The rows after "Frame Time:" (bvh_motion.c).
typedef struct bvh_motion {
    int frames; // as announced
    double frame_time;
    pz_scan rows; // where they begin
} bvh_motion;

// Read "Frames:" and "Frame Time:". False: there is no motion.
bool pz_bvh_motion_header(bvh *file, bvh_motion *motion);

// Values of the first frame by column, zeros where there is none; NULL when out of memory.
double *pz_bvh_first_frame(bvh *file, const bvh_motion *motion);

// All rows into input->file->clip.
poise_status pz_bvh_rows(bvh *file, const bvh_motion *motion);

// A joint that only holds the offset of its child, for a child with position channels: its name ends with this.
#define BVH_OFFSET_SUFFIX ".offset"

// From this share of the offsets on (bvh_model.c), the positions of the first frame hold them without a doubt.
#define BVH_CLEAR  0.75
#define BVH_LIKELY 0.5 // from here on they are taken to

#endif
