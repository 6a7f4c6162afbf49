// Corners that triangles share, found by a table of those seen.
#include "shape/mesh_marks.h"

#include "base/arena.h"

#include <string.h>

// Mixes the bits of the coordinates (the constants of FNV and of Fibonacci hashing).
static size_t place_of(const vec3 *corner, size_t mask)
{
    uint64_t bits[3], hash = 0xcbf29ce484222325u;
    memcpy(bits, corner, sizeof bits);
    for (int i = 0; i < 3; ++i) {
        hash = (hash ^ bits[i] ^ bits[i] >> 32) * 0x9e3779b97f4a7c15u;
    }
    return (size_t)(hash >> 32) & mask;
}

// `table` has mask + 1 places, at least twice as many as corners; what it holds is an index plus 1.
static void mark_fresh(const vec3 *corners, size_t triangles, unsigned char *fresh, uint32_t *table, size_t mask)
{
    for (size_t i = 0; i < 3 * triangles; ++i) {
        size_t at = place_of(&corners[i], mask);
        while (table[at] != 0 && memcmp(&corners[table[at] - 1], &corners[i], sizeof *corners) != 0) {
            at = (at + 1) & mask;
        }
        if (table[at] == 0) {
            table[at] = (uint32_t)(i + 1);
            fresh[i / 3] |= (unsigned char)(1u << i % 3);
        }
    }
}

pz_mesh_marks pz_mesh_marks_make(const vec3 *corners, size_t triangles)
{
    pz_mesh_marks marks = {NULL, NULL};
    if (triangles > UINT32_MAX / 12) {
        return marks;
    }
    size_t places = 1;
    while (places < 6 * triangles) {
        places *= 2;
    }
    unsigned char *bytes = pz_allocate(NULL, 2 * triangles);
    uint32_t *table = pz_allocate(NULL, places * sizeof *table);
    if (bytes && table) {
        memset(bytes, 0, triangles);
        memset(bytes + triangles, 1, triangles);
        memset(table, 0, places * sizeof *table);
        mark_fresh(corners, triangles, bytes, table, places - 1);
        marks = (pz_mesh_marks){bytes, bytes + triangles};
    } else {
        pz_release(NULL, bytes);
    }
    pz_release(NULL, table);
    return marks;
}

void pz_mesh_marks_release(pz_mesh_marks *marks)
{
    pz_release(NULL, marks->fresh);
    *marks = (pz_mesh_marks){NULL, NULL};
}
