// Triangles of COLLADA files (.dae).
//
//   <asset><unit meter="0.01"/>                             of all lengths; <up_axis> is left aside: robots' files have z up
//                                                           whatever it says, and so do the programs that show them
//   <source id="P"><float_array> x y z x y z ...            points, the <accessor>'s stride apart
//   <vertices id="V"><input semantic="POSITION" source="#P"/>
//   <triangles> <polylist> <polygons> <trifans> <tristrips>
//     <input semantic="VERTEX" source="#V" offset="0"/>     and others: a corner is one index for each offset
//     <vcount> 3 4 ... <p> 0 0 1 2 ...                      corners of each polygon, and the indices
//   <visual_scene><node>                                    <matrix>, <translate>, <rotate>, <scale> in order, then
//     <instance_geometry url="#G"/> <instance_node url="#N"/> <node> ...
#include "base/names.h"
#include "io/mesh/mesh.h"
#include "io/xml.h"
#include "math/mat3.h"
#include "math/quat.h"

#include <limits.h>
#include <string.h>

#define INSTANCES_MOST 10000 // of geometries and nodes, in one file
#define NESTED_MOST    16    // instances of nodes within each other
#define WORK_PER_BYTE  100   // what a file may cost: one unit for each element looked at,
#define CORNER_COSTS   25    // and so many for each point and corner. Without instances there are at most 2 in a byte

typedef struct affine {
    mat3 A;
    vec3 t;
} affine;

typedef struct collada {
    pz_input *input;
    const pz_xml_node *root;
    pz_corners *corners;
    const pz_xml_node **with_id; // those elements,
    pz_names ids;                // and where to find them there
    int instances;
    size_t left; // of what the file may cost
    const char *why;
} collada;

static affine combine(affine a, affine b)
{
    return (affine){m3_mul(&a.A, &b.A), v3_add(m3_apply(&a.A, b.t), a.t)};
}

// ---- References and numbers ----------------------------------------------------------------------------------------------

static const char *id_at(const void *owner, int position)
{
    return pz_xml_get(((const collada *)owner)->with_id[position], "id");
}

// List the elements that have an id; of those with the same one the first counts. False: out of memory.
static bool list_ids(collada *c)
{
    size_t count = 0, capacity = 0;
    for (const pz_xml_node *node = c->root; node; node = pz_xml_after(node, c->root, false)) {
        count += pz_xml_get(node, "id") != NULL;
    }
    c->with_id = pz_pool_take(&c->input->pool, count, sizeof(const pz_xml_node *));
    if (!c->with_id || !pz_pool_names(&c->input->pool, count, &c->ids)) {
        return false;
    }
    for (const pz_xml_node *node = c->root; node; node = pz_xml_after(node, c->root, false)) {
        const char *id = pz_xml_get(node, "id");
        if (id && pz_names_find(&c->ids, id, id_at, c) < 0) {
            c->with_id[capacity] = node;
            pz_names_add(&c->ids, id, (int)capacity++);
        }
    }
    return true;
}

// The element with the id of "#id"; NULL: none, or of another name.
static const pz_xml_node *find(const collada *c, const char *url, const char *name)
{
    int position = url && url[0] == '#' ? pz_names_find(&c->ids, url + 1, id_at, c) : -1;
    return position >= 0 && pz_xml_is(c->with_id[position], name) ? c->with_id[position] : NULL;
}

// Instances multiply what is in a file. False, with c->why: it has cost too much for its size.
static bool spend(collada *c, size_t cost)
{
    if (cost > c->left) {
        c->why = "the COLLADA file repeats its geometry too often for its size";
        return false;
    }
    c->left -= cost;
    return true;
}

static pz_scan text_of(const pz_xml_node *node)
{
    const char *text = node && node->text ? node->text : "";
    return pz_scan_over(text, strlen(text));
}

// Up to `most` numbers of a text; returns how many.
static int numbers_of(const pz_xml_node *node, double *values, int most)
{
    pz_scan scan = text_of(node);
    int count = 0;
    while (count < most && pz_scan_number(&scan, &values[count])) {
        count += 1;
    }
    return count;
}

static int integer_of(const pz_xml_node *node, const char *attribute, int otherwise)
{
    const char *text = pz_xml_get(node, attribute);
    int value;
    return text && pz_word_integer((pz_word){text, strlen(text)}, &value) && value >= 0 ? value : otherwise;
}

static const pz_xml_node *find_input(const pz_xml_node *node, const char *semantic)
{
    for (const pz_xml_node *input = node->first; input; input = input->next) {
        const char *is = pz_xml_is(input, "input") ? pz_xml_get(input, "semantic") : NULL;
        if (is && strcmp(is, semantic) == 0) {
            return input;
        }
    }
    return NULL;
}

// ---- Meshes --------------------------------------------------------------------------------------------------------------

// A point, or a corner of a triangle. False: out of memory, or with c->why.
static bool add_corner(collada *c, pz_corners *to, vec3 corner)
{
    return spend(c, CORNER_COSTS) && pz_corners_add(c->input, to, corner);
}

// The points of a source, placed. False: out of memory, or with c->why.
static bool read_points(collada *c, const pz_xml_node *source, affine place, pz_corners *points)
{
    const pz_xml_node *common = source ? pz_xml_child(source, "technique_common") : NULL;
    const pz_xml_node *accessor = common ? pz_xml_child(common, "accessor") : NULL;
    int stride = accessor ? integer_of(accessor, "stride", 3) : 3;
    pz_scan scan = text_of(source ? pz_xml_child(source, "float_array") : NULL);
    vec3 x;
    while (pz_scan_number(&scan, &x.x) && pz_scan_number(&scan, &x.y) && pz_scan_number(&scan, &x.z)) {
        double beside;
        for (int i = 3; i < stride && pz_scan_number(&scan, &beside); ++i) {
        }
        if (!add_corner(c, points, v3_add(m3_apply(&place.A, x), place.t))) {
            return false;
        }
    }
    return true;
}

// How the corners of a primitive make triangles.
typedef struct outline {
    int stride, offset; // of the index among those of a corner
    bool is_strip;      // each corner makes a triangle with the two before it; else with the first and the one before it
} outline;

// The next corner of <p>; false at its end, or with c->why.
static bool next_corner(collada *c, pz_scan *scan, const outline *o, const pz_corners *points, vec3 *corner)
{
    pz_word word;
    for (int i = 0; i < o->stride; ++i) {
        int index = -1;
        if (!pz_scan_word(scan, &word)) {
            return false;
        }
        if (i != o->offset) {
            continue;
        }
        if (!pz_word_integer(word, &index) || index < 0 || (size_t)index >= points->count) {
            c->why = "a face of the COLLADA file refers to a missing vertex";
            return false;
        }
        *corner = points->at[index];
    }
    return true;
}

// One polygon, of at most `most` corners. False: out of memory, or with c->why.
static bool add_polygon(collada *c, pz_scan *scan, const outline *o, const pz_corners *points, int most)
{
    vec3 first = {0, 0, 0}, before = {0, 0, 0}, corner;
    for (int i = 0; i < most && next_corner(c, scan, o, points, &corner); ++i) {
        if (i >= 2 &&
            !(add_corner(c, c->corners, first) && add_corner(c, c->corners, before) && add_corner(c, c->corners, corner))) {
            return false;
        }
        first = i == 0 ? corner : o->is_strip && i >= 2 ? before : first;
        before = corner;
    }
    return true;
}

// The polygons of <triangles>, <polylist> and the like. False: out of memory, or with c->why.
static bool add_primitive(collada *c, const pz_xml_node *primitive, const pz_corners *points)
{
    outline o = {.is_strip = pz_xml_is(primitive, "tristrips")};
    const pz_xml_node *vertex = find_input(primitive, "VERTEX");
    o.offset = integer_of(vertex, "offset", 0);
    for (const pz_xml_node *input = primitive->first; input; input = input->next) {
        int offset = pz_xml_is(input, "input") ? integer_of(input, "offset", 0) : 0;
        o.stride = offset >= o.stride && offset < INT_MAX ? offset + 1 : o.stride;
    }
    bool is_list = pz_xml_is(primitive, "polylist"), is_each = pz_xml_is(primitive, "triangles");
    pz_scan counts = text_of(pz_xml_child(primitive, "vcount"));
    for (const pz_xml_node *p = primitive->first; p; p = p->next) {
        pz_scan scan = text_of(pz_xml_is(p, "p") ? p : NULL);
        while (!c->why && pz_scan_skip(&scan)) {
            int most = is_each ? 3 : INT_MAX;
            pz_word word;
            if (is_list && (!pz_scan_word(&counts, &word) || !pz_word_integer(word, &most) || most < 1)) {
                c->why = "a <polylist> of the COLLADA file has no <vcount> for each polygon";
                return true;
            }
            if (!add_polygon(c, &scan, &o, points, most)) {
                return false;
            }
        }
    }
    return true;
}

// False: out of memory, or with c->why.
static bool add_geometry(collada *c, const pz_xml_node *geometry, affine place)
{
    static const char *const primitives[] = {"triangles", "polylist", "polygons", "trifans", "tristrips", NULL};
    const pz_xml_node *mesh = geometry ? pz_xml_child(geometry, "mesh") : NULL, *read = NULL;
    pz_corners points = {0}; // of the source that was read last: primitives mostly share one
    for (const pz_xml_node *node = mesh ? mesh->first : NULL; node && !c->why && spend(c, 1); node = node->next) {
        const pz_xml_node *vertex = pz_xml_is_among(node->name, primitives) ? find_input(node, "VERTEX") : NULL;
        const pz_xml_node *vertices = vertex ? find(c, pz_xml_get(vertex, "source"), "vertices") : NULL;
        const pz_xml_node *position = vertices ? find_input(vertices, "POSITION") : NULL;
        if (!position) {
            continue;
        }
        const pz_xml_node *source = find(c, pz_xml_get(position, "source"), "source");
        if (!read || source != read) {
            points = (pz_corners){0};
            read = source;
            if (!read_points(c, source, place, &points)) {
                return false;
            }
        }
        if (!add_primitive(c, node, &points)) {
            return false;
        }
    }
    return true;
}

// ---- Nodes ---------------------------------------------------------------------------------------------------------------

// What a node does to what is in it.
static affine place_of(collada *c, const pz_xml_node *node)
{
    affine all = {m3_identity(), {0, 0, 0}};
    for (const pz_xml_node *part = node->first; part && spend(c, 1); part = part->next) {
        affine one = {m3_identity(), {0, 0, 0}};
        double x[16];
        if (pz_xml_is(part, "matrix") && numbers_of(part, x, 16) == 16) {
            one = (affine){{{x[0], x[4], x[8]}, {x[1], x[5], x[9]}, {x[2], x[6], x[10]}}, {x[3], x[7], x[11]}};
        } else if (pz_xml_is(part, "translate") && numbers_of(part, x, 3) == 3) {
            one.t = v3(x[0], x[1], x[2]);
        } else if (pz_xml_is(part, "scale") && numbers_of(part, x, 3) == 3) {
            one.A = (mat3){{x[0], 0, 0}, {0, x[1], 0}, {0, 0, x[2]}};
        } else if (pz_xml_is(part, "rotate") && numbers_of(part, x, 4) == 4) {
            one.A = quat_matrix(poise_quat_from_axis_angle(v3(x[0], x[1], x[2]), x[3] * PZ_RADIANS_PER_DEGREE));
        }
        all = combine(all, one);
    }
    return all;
}

// What the nodes from `node` up to `top` do.
static affine place_below(collada *c, const pz_xml_node *node, const pz_xml_node *top, affine place)
{
    affine inside = {m3_identity(), {0, 0, 0}};
    for (const pz_xml_node *at = node; spend(c, 1); at = at->parent) {
        if (pz_xml_is(at, "node")) {
            inside = combine(place_of(c, at), inside);
        }
        if (at == top) {
            break;
        }
    }
    return combine(place, inside);
}

// All geometry below `top`, a <visual_scene> or a <node>. False: out of memory, or with c->why.
static bool add_nodes(collada *c, const pz_xml_node *top, affine place, int depth)
{
    const pz_xml_node *known = NULL;
    affine there = place;
    for (const pz_xml_node *node = top; node && !c->why && spend(c, 1); node = pz_xml_after(node, top, false)) {
        bool is_geometry = pz_xml_is(node, "instance_geometry"), is_node = pz_xml_is(node, "instance_node");
        if (!is_geometry && !is_node) {
            continue;
        }
        if (++c->instances > INSTANCES_MOST || depth > NESTED_MOST) {
            c->why = "the COLLADA file is nested too deeply";
            return true;
        }
        there = node->parent == known ? there : place_below(c, node->parent, top, place);
        known = node->parent;
        const char *url = pz_xml_get(node, "url");
        const pz_xml_node *other = is_node ? find(c, url, "node") : NULL;
        if (is_geometry ? !add_geometry(c, find(c, url, "geometry"), there)
                        : other && !add_nodes(c, other, there, depth + 1)) {
            return false;
        }
    }
    return true;
}

static affine unit_of(const pz_xml_node *root)
{
    const pz_xml_node *asset = pz_xml_child(root, "asset"), *unit = asset ? pz_xml_child(asset, "unit") : NULL;
    const char *text = unit ? pz_xml_get(unit, "meter") : NULL;
    double metres = 1;
    bool is_known = text && pz_word_number((pz_word){text, strlen(text)}, &metres) && metres > 0;
    double m = is_known ? metres : 1;
    return (affine){{{m, 0, 0}, {0, m, 0}, {0, 0, m}}, {0, 0, 0}};
}

// The file's XML; NULL, with c->why, where it has none. Errors in it are those of the mesh, and not of the robot.
static poise_status parse(collada *c, const void *bytes, size_t size)
{
    pz_input *input = c->input;
    poise_error *said = input->error, own;
    pz_xml_node *root = NULL;
    input->error = &own;
    poise_status status = pz_xml_parse(input, bytes, size, "the mesh", &root);
    input->error = said;
    if (status == POISE_ERROR_MEMORY) {
        return pz_input_no_memory(input);
    }
    c->root = root;
    c->why = status != POISE_OK ? "its XML is broken" : !pz_xml_is(c->root, "COLLADA") ? "it is XML but not COLLADA" : NULL;
    return POISE_OK;
}

poise_status pz_collada_read(pz_input *input, const void *bytes, size_t size, pz_corners *corners, const char **why)
{
    collada c = {.input = input, .corners = corners, .left = size < SIZE_MAX / WORK_PER_BYTE ? WORK_PER_BYTE * size : size};
    poise_status status = parse(&c, bytes, size);
    if (status == POISE_OK && !c.why && !list_ids(&c)) {
        return pz_input_no_memory(input);
    }
    if (status == POISE_OK && !c.why) {
        const pz_xml_node *scene = pz_xml_child(c.root, "scene"), *library = pz_xml_child(c.root, "library_visual_scenes");
        const pz_xml_node *shown = scene ? pz_xml_child(scene, "instance_visual_scene") : NULL;
        const pz_xml_node *top = shown ? find(&c, pz_xml_get(shown, "url"), "visual_scene") : NULL;
        top = top ? top : library ? pz_xml_child(library, "visual_scene") : NULL;
        if (top && !add_nodes(&c, top, unit_of(c.root), 0) && !c.why) {
            status = pz_input_no_memory(input);
        }
    }
    *why = c.why;
    return status;
}
