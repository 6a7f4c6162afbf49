// Meshes of collision geometry: triangles from STL, OBJ and COLLADA, the convex hulls of geometry, and the shapes that cover
// a mesh.
#include "io/mesh.h"

#include "base/text.h"
#include "io/xml.h"
#include "num/vector.h"

#include <limits.h>
#include <string.h>

#define COVER_MOST     8    // shapes of one mesh
#define HULL_MOST      512  // corners of its hull
#define HULL_TOLERANCE 2e-4 // of its size: how far it may stick out of that

// The cover of a mesh that was read before: a robot has its motors, fingers and legs several times.
typedef struct pz_cover {
    const char *name;
    poise_vec3 scale;
    const char *why;                // there is none; NULL: there is
    poise_shape shapes[COVER_MOST]; // in the frame of the mesh
    int count;
    const poise_vec3 *corners; // of its hull, likewise
    int corner_count;
    struct pz_cover *next;
} pz_cover;

// Corners of triangles, three each, in the input's pool.
typedef struct corner_list {
    poise_vec3 *at;
    size_t count, capacity;
} corner_list;

// ---- Triangles from files ------------------------------------------------------------------------------------------------
//
//   STL, bytes   80 bytes, a count, and for each triangle a normal, three corners (float, little-endian) and 2 bytes
//   STL, text    solid ... facet normal x y z  outer loop  vertex x y z (3 times)  endloop  endfacet ... endsolid
//   OBJ          v x y z          a corner
//                f 1 2 3 4        a face of three corners or more, counted from 1, from the end where negative; 1/2/3: only
//                                 the first number is a corner

#define STL_HEAD     84
#define STL_TRIANGLE 50

static bool corners_add(pz_input *input, corner_list *list, poise_vec3 corner)
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

static poise_status read_stl_bytes(pz_input *input, const unsigned char *bytes, size_t size, corner_list *list)
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

static poise_status read_stl_text(pz_input *input, pz_scan scan, corner_list *list, const char **why)
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
        if (!corners_add(input, list, p)) {
            return pz_input_no_memory(input);
        }
    }
    return POISE_OK;
}

// ---- OBJ -----------------------------------------------------------------------------------------------------------------

// The corner that "12/3/4" or "-1" stands for; false: there is none.
static bool find_corner(pz_word word, const corner_list *points, poise_vec3 *corner)
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
static poise_status add_face(pz_input *input, pz_scan *scan, const corner_list *points, corner_list *list, const char **why)
{
    poise_vec3 first = {0, 0, 0}, before = {0, 0, 0}, corner = {0, 0, 0};
    pz_word word;
    for (int i = 0; pz_scan_word(scan, &word); ++i) {
        if (!find_corner(word, points, &corner)) {
            *why = "a face of the OBJ file refers to a missing vertex";
            return POISE_OK;
        }
        if (i >= 2 &&
            !(corners_add(input, list, first) && corners_add(input, list, before) && corners_add(input, list, corner))) {
            return pz_input_no_memory(input);
        }
        first = i == 0 ? corner : first;
        before = corner;
    }
    return POISE_OK;
}

static poise_status read_obj(pz_input *input, pz_scan scan, corner_list *list, const char **why)
{
    corner_list points = {0};
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
        } else if (pz_word_is(word, "v") && !corners_add(input, &points, p)) {
            status = pz_input_no_memory(input);
        }
    }
    return status;
}

// ---- COLLADA -------------------------------------------------------------------------------------------------------------
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
    corner_list *corners;
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
static bool add_corner(collada *c, corner_list *to, vec3 corner)
{
    return spend(c, CORNER_COSTS) && corners_add(c->input, to, corner);
}

// The points of a source, placed. False: out of memory, or with c->why.
static bool read_points(collada *c, const pz_xml_node *source, affine place, corner_list *points)
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
static bool next_corner(collada *c, pz_scan *scan, const outline *o, const corner_list *points, vec3 *corner)
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
static bool add_polygon(collada *c, pz_scan *scan, const outline *o, const corner_list *points, int most)
{
    vec3 first = {0, 0, 0}, before = {0, 0, 0}, corner = {0, 0, 0};
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
static bool add_primitive(collada *c, const pz_xml_node *primitive, const corner_list *points)
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
    corner_list points = {0}; // of the source that was read last: primitives mostly share one
    for (const pz_xml_node *node = mesh ? mesh->first : NULL; node && !c->why && spend(c, 1); node = node->next) {
        const pz_xml_node *vertex = pz_xml_is_among(node->name, primitives) ? find_input(node, "VERTEX") : NULL;
        const pz_xml_node *vertices = vertex ? find(c, pz_xml_get(vertex, "source"), "vertices") : NULL;
        const pz_xml_node *position = vertices ? find_input(vertices, "POSITION") : NULL;
        if (!position) {
            continue;
        }
        const pz_xml_node *source = find(c, pz_xml_get(position, "source"), "source");
        if (!read || source != read) {
            points = (corner_list){0};
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

static poise_status collada_read(pz_input *input, const void *bytes, size_t size, corner_list *corners, const char **why)
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

// ---- Any of them ---------------------------------------------------------------------------------------------------------

// The triangles of STL in bytes or text, OBJ and COLLADA. *why: what is wrong with the mesh;
// NULL: nothing. The status is that of the read: a bad mesh is no error.
static poise_status mesh_read(pz_input *input, const void *bytes, size_t size, corner_list *corners, const char **why)
{
    poise_status status;
    pz_scan scan = pz_scan_over(bytes, size), start = scan;
    pz_word word = {"", 0};
    pz_scan_word(&start, &word);
    *why = NULL;
    *corners = (corner_list){0};
    if (is_stl_bytes(bytes, size)) {
        status = read_stl_bytes(input, bytes, size, corners);
    } else if (pz_word_is_like(word, "solid")) {
        status = read_stl_text(input, scan, corners, why);
    } else if (word.length > 0 && word.text[0] == '<') {
        status = collada_read(input, bytes, size, corners, why);
    } else {
        status = read_obj(input, scan, corners, why);
    }
    if (status == POISE_OK && !*why && corners->count < 3) {
        *why = "it is not an STL, OBJ or COLLADA file with triangles";
    }
    return status;
}

// ---- Convex hulls --------------------------------------------------------------------------------------------------------
//
// Convex hulls of collision geometry, exactly as it is: what a simulator collides. A cylinder and an ellipsoid become
// polyhedra whose corners lie on them.

#define TURN  6.283185307179586
#define SIDES 32 // of a cylinder: 0.5 % of its radius within it
#define RINGS 12 // of an ellipsoid

// `corners` are in the frame that like->pose has on its body.
static bool add_hull(pz_input *input, pz_shape_list *list, const poise_shape *like, const poise_vec3 *corners, int count,
                     double radius)
{
    if (like->body < 0) {
        return true; // it stands in the world
    }
    poise_hull *grown = pz_pool_grow(&input->kept, list->hulls, list->hull_count, &list->hull_capacity, sizeof *grown);
    poise_vec3 *own = pz_pool_take(&input->kept, (size_t)count, sizeof *own);
    if (!grown || !own) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        own[i] = poise_pose_transform(like->pose, corners[i]);
    }
    list->hulls = grown;
    list->hulls[list->hull_count++] = (poise_hull){.body = like->body,
                                                   .corners = own,
                                                   .corner_count = count,
                                                   .radius = radius,
                                                   .groups = like->groups,
                                                   .against = like->against};
    return true;
}

bool pz_hulls_add_shape(pz_input *input, pz_shape_list *list, const poise_shape *shape)
{
    poise_vec3 corners[POISE_HULL_OF_SHAPE];
    poise_hull hull;
    poise_shape plain = *shape;
    plain.pose = poise_pose_identity();
    return poise_hull_of_shape(&plain, corners, &hull, NULL) != POISE_OK ||
           add_hull(input, list, shape, corners, hull.corner_count, shape->radius);
}

bool pz_hulls_add_cylinder(pz_input *input, pz_shape_list *list, const poise_shape *like)
{
    poise_vec3 corners[2 * SIDES];
    for (int i = 0; i < SIDES; ++i) {
        double sine, cosine;
        poise_sincos(TURN * i / SIDES, &sine, &cosine);
        corners[2 * i] = v3(like->radius * cosine, like->radius * sine, like->half.z);
        corners[2 * i + 1] = v3(like->radius * cosine, like->radius * sine, -like->half.z);
    }
    return add_hull(input, list, like, corners, 2 * SIDES, 0);
}

bool pz_hulls_add_ellipsoid(pz_input *input, pz_shape_list *list, const poise_shape *like, const double half[3])
{
    poise_vec3 corners[(RINGS - 1) * SIDES + 2];
    int count = 0;
    corners[count++] = v3(0, 0, half[2]);
    corners[count++] = v3(0, 0, -half[2]);
    for (int i = 1; i < RINGS; ++i) {
        double out, up, sine, cosine;
        poise_sincos(0.5 * TURN * i / RINGS, &out, &up);
        for (int k = 0; k < SIDES; ++k) {
            poise_sincos(TURN * k / SIDES, &sine, &cosine);
            corners[count++] = v3(half[0] * out * cosine, half[1] * out * sine, half[2] * up);
        }
    }
    return add_hull(input, list, like, corners, count, 0);
}

static bool hulls_add_mesh(pz_input *input, pz_shape_list *list, const poise_shape *like, const pz_cover *cover)
{
    return add_hull(input, list, like, cover->corners, cover->corner_count, 0);
}

// The hull of the triangles of a mesh, in the frame of that.
static bool hulls_reduce(pz_input *input, const corner_list *corners, pz_cover *made)
{
    poise_vec3 room[HULL_MOST];
    double size = 0;
    for (size_t i = 1; i < corners->count; ++i) {
        double apart = v3_norm(v3_sub(corners->at[i], corners->at[0]));
        size = apart > size ? apart : size;
    }
    if (poise_hull_reduce(corners->at, corners->count, HULL_TOLERANCE * size, room, HULL_MOST, &made->corner_count, NULL,
                          NULL) != POISE_OK) {
        made->corner_count = 0;
        return true;
    }
    poise_vec3 *own = pz_pool_take(&input->pool, (size_t)made->corner_count, sizeof *own);
    for (int i = 0; i < made->corner_count && own; ++i) {
        own[i] = room[i];
    }
    made->corners = own;
    return own != NULL;
}

// ---- Covers: from the name of a mesh to the shapes that cover it ---------------------------------------------------------

#define SCALES_MOST 64 // of one mesh, each of which is covered on its own

bool pz_shape_list_add(pz_input *input, pz_shape_list *list, const poise_shape *shape)
{
    poise_shape *grown = pz_pool_grow(&input->kept, list->shapes, list->count, &list->capacity, sizeof *grown);
    if (grown) {
        list->shapes = grown;
        list->shapes[list->count++] = *shape;
    }
    return grown != NULL;
}

void pz_shape_list_keep(pz_input *input, const pz_shape_list *list)
{
    input->file->shapes = list->count > 0 ? list->shapes : NULL;
    input->file->shape_count = (int)list->count;
    input->file->hulls = list->hull_count > 0 ? list->hulls : NULL;
    input->file->hull_count = (int)list->hull_count;
}

// The shapes of a cover, placed as `like` says.
static poise_status add_cover(pz_input *input, const pz_cover *cover, const poise_shape *like, pz_shape_list *list)
{
    for (int i = 0; i < cover->count; ++i) {
        poise_shape shape = cover->shapes[i];
        shape.body = like->body;
        shape.pose = poise_pose_multiply(like->pose, shape.pose);
        shape.groups = like->groups;
        shape.against = like->against;
        if (!pz_shape_list_add(input, list, &shape)) {
            return pz_input_no_memory(input);
        }
    }
    return hulls_add_mesh(input, list, like, cover) ? POISE_OK : pz_input_no_memory(input);
}

// The cover of a mesh at a scale, or NULL; *scales: how many of the mesh there are.
static const pz_cover *find_cover(const pz_shape_list *list, const char *name, poise_vec3 scale, int *scales)
{
    *scales = 0;
    for (const pz_cover *c = list->covers; c; c = c->next) {
        if (strcmp(c->name, name) == 0) {
            if (c->scale.x == scale.x && c->scale.y == scale.y && c->scale.z == scale.z) {
                return c;
            }
            *scales += 1;
        }
    }
    return NULL;
}

// Read the mesh and cover it, into *made. *is_loaded: there were bytes to read.
static poise_status make_cover(pz_input *input, poise_vec3 scale, pz_cover *made, bool *is_loaded, const char **why)
{
    const void *bytes = NULL;
    size_t size = 0;
    corner_list corners;
    *why = "mesh files are not loaded: set options.meshes and options.load";
    if (!input->options->meshes || !input->options->load) {
        return POISE_OK;
    }
    if (input->options->load(input->options->user, made->name, &bytes, &size) != POISE_OK) {
        *why = "its file was not found";
        return POISE_OK;
    }
    *is_loaded = true;
    poise_status status = mesh_read(input, bytes, size, &corners, why);
    if (status != POISE_OK || *why) {
        return status;
    }
    bool is_point = true;
    for (size_t i = 0; i < corners.count; ++i) {
        poise_vec3 *at = &corners.at[i], first = corners.at[0];
        *at = v3(at->x * scale.x, at->y * scale.y, at->z * scale.z);
        is_point = is_point && at->x == first.x && at->y == first.y && at->z == first.z;
    }
    if (is_point) {
        *why = "all its vertices are in one place";
    } else if (poise_shapes_fit(0, corners.at, corners.count / 3, made->shapes, COVER_MOST, &made->count, NULL) !=
               POISE_OK) {
        *why = "its vertices are not finite, or too far away";
    }
    return *why || hulls_reduce(input, &corners, made) ? POISE_OK : pz_input_no_memory(input);
}

poise_status pz_mesh_cover(pz_input *input, const char *name, poise_vec3 scale, const poise_shape *like, pz_shape_list *list,
                           const char **why)
{
    int scales;
    const pz_cover *known = find_cover(list, name, scale, &scales);
    *why = known ? known->why : scales >= SCALES_MOST ? "it is there at more than 64 scales" : NULL;
    if (*why) {
        return POISE_OK;
    }
    if (known) {
        return add_cover(input, known, like, list);
    }
    pz_cover *made = pz_pool_take(&input->pool, 1, sizeof *made);
    char *copy = pz_pool_copy(&input->pool, name, strlen(name));
    if (!made || !copy) {
        return pz_input_no_memory(input);
    }
    *made = (pz_cover){.name = copy, .scale = scale};
    bool is_loaded = false;
    poise_status status = make_cover(input, scale, made, &is_loaded, why);
    if (is_loaded) { // it is read once, whether it can be covered or not
        made->why = *why;
        made->next = list->covers;
        list->covers = made;
    }
    return status != POISE_OK || *why ? status : add_cover(input, made, like, list);
}
