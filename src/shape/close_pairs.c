// Pairs of shapes that are nearer than they may be.
#include <poise/constraint.h>

#include "base/error.h"

// Keep the `capacity` with least room, in order; `count` are there already.
static void insert(poise_close_pair *close, int count, int capacity, const poise_close_pair *found)
{
    int at = count < capacity ? count : capacity - 1;
    if (capacity == 0 || (count >= capacity && close[at].room <= found->room)) {
        return;
    }
    for (; at > 0 && close[at - 1].room > found->room; --at) {
        close[at] = close[at - 1];
    }
    close[at] = *found;
}

poise_status poise_pairs_close(const poise_kinematics *kinematics, const poise_constraint *clearance, double room,
                               poise_close_pair *close, int capacity, int *found, poise_error *error)
{
    if (!kinematics || !clearance || clearance->kind != POISE_CONSTRAINT_CLEARANCE || capacity < 0 ||
        (capacity > 0 && !close) || !found) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "kinematics, a clearance, an array of pairs and found are required");
    }
    *found = 0;
    for (int i = 0; i < clearance->pair_count; ++i) {
        poise_pair pair = clearance->pairs[i];
        if (pair.a < 0 || pair.b < 0 || pair.a >= clearance->shape_count || pair.b >= clearance->shape_count) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "pair %d: shapes are numbered 0 to %d", i,
                                clearance->shape_count - 1);
        }
        poise_close_pair at = {.pair = i};
        poise_status status =
            poise_distance(kinematics, &clearance->shapes[pair.a], &clearance->shapes[pair.b], &at.nearest, error);
        if (status != POISE_OK) {
            return status;
        }
        at.room = at.nearest.distance - (clearance->margins ? clearance->margins[i] : clearance->margin);
        if (at.room < room) {
            insert(close, *found, capacity, &at);
            *found += 1;
        }
    }
    return POISE_OK;
}
