// Triangles of STL and OBJ files; those of COLLADA are in collada.c.
//
//   STL, bytes   80 bytes, a count, and for each triangle a normal, three corners (float, little-endian) and 2 bytes
//   STL, text    solid ... facet normal x y z  outer loop  vertex x y z (3 times)  endloop  endfacet ... endsolid
//   OBJ          v x y z          a corner
//                f 1 2 3 4        a face of three corners or more, counted from 1, from the end where negative; 1/2/3: only
//                                 the first number is a corner
#include "io/mesh/mesh.h"

#include "math/vec3.h"

#include <string.h>

#define STL_HEAD     84
#define STL_TRIANGLE 50

bool pz_corners_add(pz_input *input, pz_corners *list, poise_vec3 corner)
{
    poise_vec3 *grown = pz_pool_grow(&input->pool, list->at, list->count, &list->capacity, sizeof *grown);
    if (grown) {
        list->at = grown;
        list->at[list->count++] = corner;
    }
    return grown != NULL;
}

// ---- STL -----------------------------------------------------------------------------------------------------------------

static uint32_t little_endian(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static double float_at(const unsigned char *at)
{
    uint32_t bits = little_endian(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static bool is_stl_bytes(const unsigned char *bytes, size_t size)
{
    return size >= STL_HEAD && (size - STL_HEAD) / STL_TRIANGLE == little_endian(bytes + 80) &&
           (size - STL_HEAD) / STL_TRIANGLE > 0;
}

static poise_status read_stl_bytes(pz_input *input, const unsigned char *bytes, size_t size, pz_corners *list)
{
    size_t triangles = (size - STL_HEAD) / STL_TRIANGLE;
    list->at = pz_pool_take(&input->pool, 3 * triangles, sizeof *list->at);
    if (!list->at) {
        return pz_input_no_memory(input);
    }
    for (size_t t = 0; t < triangles; ++t) {
        for (size_t k = 0; k < 3; ++k) {
            const unsigned char *at = bytes + STL_HEAD + t * STL_TRIANGLE + 12 * (k + 1);
            list->at[list->count++] = v3(float_at(at), float_at(at + 4), float_at(at + 8));
        }
    }
    return POISE_OK;
}

static bool scan_point(pz_scan *scan, poise_vec3 *p)
{
    return pz_scan_number(scan, &p->x) && pz_scan_number(scan, &p->y) && pz_scan_number(scan, &p->z);
}

static poise_status read_stl_text(pz_input *input, pz_scan scan, pz_corners *list, const char **why)
{
    pz_word word;
    while (pz_scan_word(&scan, &word)) {
        poise_vec3 p;
        if (!pz_word_is_like(word, "vertex")) {
            continue;
        }
        if (!scan_point(&scan, &p)) {
            *why = "a vertex of the STL file does not have three numbers";
            return POISE_OK;
        }
        if (!pz_corners_add(input, list, p)) {
            return pz_input_no_memory(input);
        }
    }
    return POISE_OK;
}

// ---- OBJ -----------------------------------------------------------------------------------------------------------------

// The corner that "12/3/4" or "-1" stands for; false: there is none.
static bool find_corner(pz_word word, const pz_corners *points, poise_vec3 *corner)
{
    size_t length = 0;
    int index = 0;
    while (length < word.length && word.text[length] != '/') {
        length += 1;
    }
    if (!pz_word_integer((pz_word){word.text, length}, &index)) {
        return false;
    }
    long long count = (long long)points->count, at = index < 0 ? count + index : index - 1;
    if (at < 0 || at >= count) {
        return false;
    }
    *corner = points->at[at];
    return true;
}

// A face as a fan of triangles around its first corner.
static poise_status add_face(pz_input *input, pz_scan *scan, const pz_corners *points, pz_corners *list, const char **why)
{
    poise_vec3 first = {0, 0, 0}, before = {0, 0, 0}, corner;
    pz_word word;
    for (int i = 0; pz_scan_word(scan, &word); ++i) {
        if (!find_corner(word, points, &corner)) {
            *why = "a face of the OBJ file refers to a missing vertex";
            return POISE_OK;
        }
        if (i >= 2 && !(pz_corners_add(input, list, first) && pz_corners_add(input, list, before) &&
                        pz_corners_add(input, list, corner))) {
            return pz_input_no_memory(input);
        }
        first = i == 0 ? corner : first;
        before = corner;
    }
    return POISE_OK;
}

static poise_status read_obj(pz_input *input, pz_scan scan, pz_corners *list, const char **why)
{
    pz_corners points = {0};
    pz_word line, word;
    poise_status status = POISE_OK;
    while (status == POISE_OK && !*why && pz_scan_line(&scan, &line)) {
        pz_scan inner = pz_scan_over(line.text, line.length);
        poise_vec3 p;
        if (!pz_scan_word(&inner, &word)) {
            continue;
        }
        if (pz_word_is(word, "f")) {
            status = add_face(input, &inner, &points, list, why);
        } else if (pz_word_is(word, "v") && !scan_point(&inner, &p)) {
            *why = "a vertex of the OBJ file does not have three numbers";
        } else if (pz_word_is(word, "v") && !pz_corners_add(input, &points, p)) {
            status = pz_input_no_memory(input);
        }
    }
    return status;
}

// ---- All -----------------------------------------------------------------------------------------------------------------

poise_status pz_mesh_read(pz_input *input, const void *bytes, size_t size, pz_corners *corners, const char **why)
{
    poise_status status;
    pz_scan scan = pz_scan_over(bytes, size), start = scan;
    pz_word word = {"", 0};
    pz_scan_word(&start, &word);
    *why = NULL;
    *corners = (pz_corners){0};
    if (is_stl_bytes(bytes, size)) {
        status = read_stl_bytes(input, bytes, size, corners);
    } else if (pz_word_is_like(word, "solid")) {
        status = read_stl_text(input, scan, corners, why);
    } else if (word.length > 0 && word.text[0] == '<') {
        status = pz_collada_read(input, bytes, size, corners, why);
    } else {
        status = read_obj(input, scan, corners, why);
    }
    if (status == POISE_OK && !*why && corners->count < 3) {
        *why = "it is not an STL, OBJ or COLLADA file with triangles";
    }
    return status;
}
