// The masses of bodies that have no <inertial>, by their geoms: volume times density, or what a geom says of itself.
#include "io/mjcf/mjcf.h"

#include "math/scalar.h"
#include "math/vec3.h"

#define WATER 1000.0 // density of a geom that says nothing

// V of half-axes a, b, c; of a capsule both caps are one ball. 0: not known.
static double volume_of(pz_mjcf_geom type, const double *size)
{
    double a = size[0], b = size[1], c = size[2], ball = 4.0 / 3.0 * PZ_PI * a * a * a, tube = 2.0 * PZ_PI * a * a * b;
    switch (type) {
    case MJCF_SPHERE:
        return ball;
    case MJCF_CAPSULE:
        return ball + tube;
    case MJCF_CYLINDER:
        return tube;
    case MJCF_ELLIPSOID:
        return 4.0 / 3.0 * PZ_PI * a * b * c;
    case MJCF_BOX:
        return 8.0 * a * b * c;
    default:
        return 0.0;
    }
}

// What a geom weighs, and where its middle is in the body; of a mesh, only that its mass counts (*is_mesh).
static poise_status weigh(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_place *place, double *mass, vec3 *middle,
                          bool *is_mesh)
{
    int class_of = place->class_of;
    double size[3] = {0, 0, 0}, density = WATER;
    poise_pose pose = poise_pose_identity();
    poise_status status = pz_mjcf_class_named(m, node, "class", &class_of);
    pz_mjcf_settings settings = pz_mjcf_settings_of(&m->classes[class_of].geom, node);
    pz_mjcf_geom type = pz_mjcf_geom_of(&settings);
    status = status == POISE_OK ? pz_mjcf_pose(m, node, &settings, &pose) : status;
    status = status == POISE_OK ? pz_mjcf_geom_size(m, node, &settings, type, size) : status;
    status = status == POISE_OK ? pz_mjcf_setting_numbers(m, node, &settings, MJCF_DENSITY, 1, &density) : status;
    bool is_unknown = type == MJCF_MESH_GEOM || type == MJCF_OTHER_GEOM;
    *mass = density * (is_unknown ? 1.0 : volume_of(type, size));
    *middle = poise_pose_transform(place->frame, pose.position);
    status = status == POISE_OK ? pz_mjcf_setting_numbers(m, node, &settings, MJCF_MASS, 1, mass) : status;
    *is_mesh = is_unknown && *mass > 0.0;
    *mass = is_unknown && !settings.value[MJCF_MASS] ? 0.0 : *mass;
    return status;
}

static bool is_weightless(const pz_mjcf_body *body)
{
    return body->has_geom && !body->has_inertial && body->mass == 0;
}

static bool is_weighed_in_part(const pz_mjcf_body *body)
{
    return body->has_mesh_with_mass && !body->has_inertial && body->mass > 0;
}

// One warning about all bodies that are odd in a way, at the first of them.
static void warn_of(pz_mjcf *m, bool (*is_odd)(const pz_mjcf_body *), const char *one, const char *many)
{
    const pz_mjcf_body *first = NULL;
    int count = 0;
    for (int b = 0; b < m->body_count; ++b) {
        bool odd = is_odd(&m->bodies[b]);
        first = odd && !first ? &m->bodies[b] : first;
        count += odd;
    }
    if (count == 1) {
        pz_xml_warn(m->input, NULL, first->node, "body \"%s\" %s", first->name, one);
    } else if (first) {
        pz_xml_warn(m->input, NULL, first->node, "body \"%s\" and %d more %s", first->name, count - 1, many);
    }
}

poise_status pz_mjcf_weigh(pz_mjcf *m)
{
    const pz_xml_node *geom = NULL;
    poise_status status = POISE_OK;
    while (status == POISE_OK && (geom = pz_mjcf_next_geom(m, geom))) {
        const pz_mjcf_place *place = &m->places[geom->parent->mark];
        double mass = 0.0;
        bool is_mesh = false;
        vec3 middle = v3(0, 0, 0);
        if (place->body == POISE_WORLD || m->bodies[place->body].has_inertial) {
            continue;
        }
        pz_mjcf_body *body = &m->bodies[place->body];
        body->has_geom = true;
        status = weigh(m, geom, place, &mass, &middle, &is_mesh);
        body->has_mesh_with_mass = body->has_mesh_with_mass || is_mesh;
        if (status == POISE_OK && mass > 0.0) {
            body->mass += mass; // the centre moves towards the geom by its share
            body->mass_center = v3_add(body->mass_center, v3_scale(v3_sub(middle, body->mass_center), mass / body->mass));
        }
    }
    warn_of(m, is_weightless, "has no mass: it has no <inertial>, and masses of meshes are not computed",
            "have no mass: they have no <inertial>, and masses of meshes are not computed");
    warn_of(m, is_weighed_in_part,
            "is weighed without the volumes of its meshes, which are not computed: it has no <inertial>",
            "are weighed without the volumes of their meshes, which are not computed: they have no <inertial>");
    return status;
}
