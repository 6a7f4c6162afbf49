// OSIM, the models of OpenSim: what stands in a document, before it becomes joints of a model.
//
// A joint places its child by  X_GB = X_GP X_PF X_FM(q) X_BM^-1,  F a frame on the parent, M one on the child, and
//
//   X_FM = translate(f3 u3 + f4 u4 + f5 u5) R(u0, f0) R(u1, f1) R(u2, f2)
//
// with axes u and functions f of at most one coordinate each. Every joint type but a few is brought into that form.
#ifndef PZ_IO_OSIM_H
#define PZ_IO_OSIM_H

#include "io/assemble.h"

#include "math/quat.h"

#define PZ_OSIM_NONE (-2)

typedef struct osim_body {
    const char *name;
    const pz_xml_node *node;
    double mass;
    vec3 mass_center;
    vec3 scale;
    int joint; // that leads to it in the tree, or -1
} osim_body;

// A frame that is fixed in a body, or in another frame.
typedef struct osim_frame {
    const char *name;
    const pz_xml_node *node;
    const pz_xml_node *owner; // joint or body that it stands in, or NULL
    bool is_known;            // false: of a kind that is not read
} osim_frame;

typedef struct osim_coordinate {
    const char *name;
    const pz_xml_node *node;
    double start, lower, upper; // default_value, range
    bool clamped, locked;
    int leader;               // coordinate that it follows, or -1
    bool is_done, is_on_path; // on the way to the end of a chain of followers
    poise_function function;
    int part; // of the model, that has it; -1 before there is one
} osim_coordinate;

typedef struct osim_axis {
    vec3 u;
    int coordinate;   // or -1
    poise_function f; // of the coordinate; none: 0
} osim_axis;

typedef struct osim_joint {
    const char *name;
    const pz_xml_node *node;
    int parent, child; // bodies, or POISE_WORLD
    poise_pose on_parent, on_child;
    osim_axis axes[6]; // turns 0..2, slides 3..5
    int first, count;  // coordinates
    bool is_placed;    // in the tree
} osim_joint;

typedef struct osim {
    pz_input *input;
    const pz_xml_node *document, *model;
    osim_body *bodies;
    osim_frame *frames;
    osim_coordinate *coordinates;
    osim_joint *joints;
    int body_count, frame_count, coordinate_count, joint_count;
    pz_name_set body_names, frame_names, coordinate_names;
    int *frame_of_name; // by position in frame_names: the first of that name
    double unit;        // metres
    pz_part *parts;
    int part_count, part_room;
    pz_name_set part_names, part_bodies;
} osim;

// ---- Reading (osim_read.c, osim_joints.c, osim_functions.c) --------------------------------------------------------------

// Fill o->bodies, frames, coordinates and joints from o->model.
poise_status pz_osim_collect(osim *o);
poise_status pz_osim_joints(osim *o);
poise_status pz_osim_couplers(osim *o);

// Markers of the model, once it is there; of a <MarkerSet> alone, for the model of the options (osim_markers.c).
poise_status pz_osim_markers(osim *o);
poise_status pz_osim_marker_set(osim *o);

// A function that an element holds as a child, or that is the element; `f->count` 0 without one. Numbers are in the pool.
poise_status pz_osim_function_in(osim *o, const pz_xml_node *node, poise_function *f);

// f times s; a x + b of f, f of a x + b. New numbers.
bool pz_osim_function_scale(osim *o, poise_function *f, double s);
bool pz_osim_function_compose(osim *o, const poise_function *outer, const poise_function *inner, poise_function *f);

// a x + b?
bool pz_osim_is_linear(const poise_function *f, double *a, double *b);

// ---- Small things --------------------------------------------------------------------------------------------------------

// Three numbers of a child's text; without it the vector stays.
poise_status pz_osim_vec3(osim *o, const pz_xml_node *node, const char *name, vec3 *v);
poise_status pz_osim_number(osim *o, const pz_xml_node *node, const char *name, double *value);
bool pz_osim_is_true(const pz_xml_node *node, const char *name);
const char *pz_osim_name(const pz_xml_node *node);

// Turns about x, y and z, each about the axes that the one before made.
quat pz_osim_turn(vec3 angles);

// Where a path leads: the body (or POISE_WORLD) and the pose of the frame in it. `at` is the element that says so, `owner`
// the joint or body whose own frames come first.
poise_status pz_osim_resolve(osim *o, const pz_xml_node *at, const pz_xml_node *owner, const char *path, int *body,
                             poise_pose *pose);

// The path behind a socket: <socket_NAME>, or in a list of <connectors>. NULL: none.
const char *pz_osim_socket(const pz_xml_node *node, const char *name);

// Objects of a set: what stands in <objects>, or in the set itself.
const pz_xml_node *pz_osim_objects(const pz_xml_node *node, const char *set);

#endif
