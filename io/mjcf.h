// What the parts of the MJCF reader share.
#ifndef PZ_IO_MJCF_H
#define PZ_IO_MJCF_H

#include "io/assemble.h"

// ---- Settings: what an element says, and the default classes say for it --------------------------------------------------

enum {
    MJCF_QUAT,
    MJCF_AXISANGLE,
    MJCF_XYAXES,
    MJCF_ZAXIS,
    MJCF_EULER,
    MJCF_ORIENTATIONS, // the ones before are ways to say the same thing
    MJCF_POS = MJCF_ORIENTATIONS,
    MJCF_FROMTO,
    MJCF_TYPE,
    MJCF_AXIS,
    MJCF_RANGE,
    MJCF_LIMITED,
    MJCF_REF,
    MJCF_SIZE,
    MJCF_CONTYPE,
    MJCF_CONAFFINITY,
    MJCF_MESH,
    MJCF_MASS,
    MJCF_DENSITY,
    MJCF_SCALE,
    MJCF_SETTING_COUNT
};

// Values as text; NULL: not said.
typedef struct pz_mjcf_settings {
    const char *value[MJCF_SETTING_COUNT];
} pz_mjcf_settings;

typedef struct pz_mjcf_class {
    pz_mjcf_settings joint, site, geom, mesh; // with what it inherits
} pz_mjcf_class;

typedef struct pz_mjcf_compiler {
    bool is_radian;
    bool has_autolimits;
    char eulerseq[4];
    const char *mesh_folder; // "" or NULL: beside the file
} pz_mjcf_compiler;

// ---- What the file holds, in its order -----------------------------------------------------------------------------------

// Where elements stand: a body, or a frame within it.
typedef struct pz_mjcf_place {
    int body;         // or POISE_WORLD
    poise_pose frame; // in the body
    int class_of;     // default class of what is inside
} pz_mjcf_place;

typedef struct pz_mjcf_body {
    const char *name;
    pz_xml_node *node;
    int parent;                  // body, or POISE_WORLD
    poise_pose pose;             // in the parent body
    int first_joint, last_joint; // -1: none
    double mass;
    poise_vec3 mass_center;
    bool has_inertial, has_geom, has_mesh_with_mass;
} pz_mjcf_body;

typedef enum pz_mjcf_joint_type { MJCF_HINGE, MJCF_SLIDE, MJCF_BALL, MJCF_FREE } pz_mjcf_joint_type;

typedef struct pz_mjcf_joint {
    const char *name; // NULL: none
    const pz_xml_node *node;
    pz_mjcf_joint_type type;
    poise_vec3 anchor, axis; // in the body
    double ref;              // value of q at which the body stands where the file draws it
    double lower, upper;
    bool has_polynomials; // joints that follow it by one
    int part;             // that it became
    int next;             // of the same body, or -1
} pz_mjcf_joint;

enum {
    MJCF_NOT_LOADED,
    MJCF_UNKNOWN,
    MJCF_NOT_READ,
    MJCF_REPLICATE,
    MJCF_MOCAP,
    MJCF_WORLD_SITE,
    MJCF_BALL_RANGE,
    MJCF_NOT_LIMITED,
    MJCF_EQUALITY,
    MJCF_NO_MASS,
    MJCF_NO_SHAPE,
    MJCF_KEY,
    MJCF_CAUSE_COUNT
};

typedef struct pz_mjcf {
    pz_input *input;
    pz_xml_node *root;
    pz_mjcf_compiler compiler;
    pz_mjcf_class *classes;
    int *class_of_name;    // by position in class_names
    pz_mjcf_place *places; // by the mark of an element that holds others
    pz_mjcf_body *bodies;
    pz_mjcf_joint *joints;
    int *joint_of_name; // by position in joint_names, for the names that the file gives
    pz_named_frame *sites;
    pz_part *parts;
    pz_name_set class_names, body_names, joint_names, site_names;
    int class_count, place_count, body_count, joint_count, named_joint_count, site_count, part_count;
    pz_cause causes[MJCF_CAUSE_COUNT];
} pz_mjcf;

// The class that an attribute names.
poise_status pz_mjcf_class_named(pz_mjcf *m, const pz_xml_node *node, const char *attribute, int *class_of);

// What `node` says, over what `base` (may be NULL) says.
pz_mjcf_settings pz_mjcf_settings_of(const pz_mjcf_settings *base, const pz_xml_node *node);

// `count` numbers of a setting; values stay as they are where it is not said.
poise_status pz_mjcf_setting_numbers(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, int which,
                                     int count, double *values);
poise_status pz_mjcf_pose(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_settings *settings, poise_pose *pose);

// Weigh the geoms of bodies that have no <inertial> (mjcf_geoms.c).
poise_status pz_mjcf_weigh(pz_mjcf *m);

// What needs the model: shapes of geoms and the pairs of <exclude> (mjcf_geoms.c).
poise_status pz_mjcf_read_geoms(pz_mjcf *m);
poise_status pz_mjcf_read_excludes(pz_mjcf *m);

// The body of the model that an attribute names; POISE_WORLD for "world", or where the attribute is missing.
poise_status pz_mjcf_body_named(pz_mjcf *m, const pz_xml_node *node, const char *attribute, int *body);

// Elements `name` within the sections `section` of the root, one after the other; NULL at the end. `name` NULL: all.
const pz_xml_node *pz_mjcf_next_in(const pz_mjcf *m, const char *section, const char *name, const pz_xml_node *after);

#endif
