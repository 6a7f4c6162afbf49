// Putting a builder's joints into the order of a model.
#ifndef PZ_MODEL_ORDER_H
#define PZ_MODEL_ORDER_H

#include "model/builder.h"

// Scratch for ordering n joints, all arrays of n: entry means position in the builder, joint position in the model.
typedef struct pz_order {
    int *parent;       // by entry: the parent's entry, or POISE_WORLD
    int *mimic;        // by entry: the entry followed, or POISE_WORLD
    int *first_child;  // by entry; links of the tree in the order of addition
    int *next_sibling; // by entry
    int *entry;        // by joint
    int *joint;        // by entry
} pz_order;

void pz_order_layout(pz_order *order, size_t n, pz_arena *arena);

// Resolve the names of parents and mimics, and number the joints depth first, children in the order of addition. Fails on an
// unknown name, on a cycle, and on a mimic that does not end at a joint of one degree of freedom.
poise_status pz_order_find(const poise_builder *builder, pz_order *order, poise_error *error);

#endif
