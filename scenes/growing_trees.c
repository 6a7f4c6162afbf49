// The families tree-<N> and chain-<N>, for measuring how cost grows with size.
//
// A tree of n joints begins with a branch of up to six joints in a row; the others are shared out to two trees of equal
// size (the first gets the odd one) that grow from the branch's end. So a tree of 62 is 21 joints deep and one of 2000 is
// 50, like limbs that fork. The axes are x, y, z in turn along every path. Joints are numbered, and indexed, in depth-first
// order.
#include "scene_builder.h"

#include <math.h>
#include <stdio.h>

enum { BRANCH = 6 };

static const double LINK = 0.1; // metres, along +y; at a fork the second branch starts along +x

// What the walk over a tree meets, joint after joint.
typedef struct visitor {
    void (*visit)(struct visitor *visitor, int index, int parent, int depth, bool leaf);
    scene_builder *scene;  // when building
    scene_marker *markers; // when collecting markers
    int capacity, count;
} visitor;

// Walk a tree of `size` joints whose first one has the index `first`. Recursion goes as deep as there are forks on a path:
// at most 18 for a million joints.
static void walk(visitor *v, int size, int first, int parent, int depth)
{
    int row = size < BRANCH ? size : BRANCH;
    for (int i = 0; i < row; ++i) {
        v->visit(v, first + i, i ? first + i - 1 : parent, depth + i, i == size - 1);
    }
    int rest = size - row;
    int left = rest - rest / 2;
    if (left > 0) {
        walk(v, left, first + row, first + row - 1, depth + row);
    }
    if (rest - left > 0) {
        walk(v, rest - left, first + row + left, first + row - 1, depth + row);
    }
}

// The chain is the tree without forks.
static void walk_family(visitor *v, const char *name)
{
    int size;
    if (scene_family_number(name, "tree-", &size)) {
        walk(v, size, 0, POISE_WORLD, 0);
    } else if (scene_family_number(name, "chain-", &size)) {
        for (int i = 0; i < size; ++i) {
            v->visit(v, i, i - 1, i, i == size - 1);
        }
    }
}

static void add_hinge(visitor *v, int index, int parent, int depth, bool leaf)
{
    static const poise_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    (void)leaf;
    char name[16], parent_name[16];
    snprintf(name, sizeof name, "j%d", index);
    snprintf(parent_name, sizeof parent_name, "j%d", parent);
    bool second_branch = parent != POISE_WORLD && index != parent + 1;
    poise_pose offset = parent == POISE_WORLD ? at(0, 0, 0) : second_branch ? at(LINK, 0, 0) : at(0, LINK, 0);
    poise_joint joint =
        scene_hinge(name, parent == POISE_WORLD ? NULL : parent_name, offset, axes[depth % 3], -INFINITY, INFINITY);
    scene_add_joint(v->scene, &joint);
}

static void add_marker(visitor *v, int index, int parent, int depth, bool leaf)
{
    (void)parent, (void)depth;
    if (!leaf) {
        return;
    }
    if (v->count < v->capacity) {
        scene_marker *marker = &v->markers[v->count];
        snprintf(marker->name, sizeof marker->name, "end%d", v->count + 1);
        marker->body = index;
        marker->local = vec(0.3 * LINK, LINK, 0.2 * LINK); // off the last axis, whichever it is
    }
    v->count += 1;
}

void scene_build_family(scene_builder *scene, const char *name)
{
    visitor v = {.visit = add_hinge, .scene = scene};
    walk_family(&v, name);
}

int scene_family_markers(const char *scene, scene_marker *markers, int capacity)
{
    visitor v = {.visit = add_marker, .markers = markers, .capacity = capacity};
    walk_family(&v, scene);
    return v.count;
}
