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

// What a geom weighs, and where its middle is in the body.
static poise_status weigh(pz_mjcf *m, const pz_xml_node *node, const pz_mjcf_place *place, double *mass, vec3 *middle)
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
    *mass = density * volume_of(type, size);
    *middle = poise_pose_transform(place->frame, pose.position);
    return status == POISE_OK ? pz_mjcf_setting_numbers(m, node, &settings, MJCF_MASS, 1, mass) : status;
}

// Bodies that nothing weighs: meshes, as a rule.
static void warn_of_weightless(pz_mjcf *m)
{
    const pz_mjcf_body *first = NULL;
    int count = 0;
    for (int b = 0; b < m->body_count; ++b) {
        const pz_mjcf_body *body = &m->bodies[b];
        if (body->has_geom && !body->has_inertial && body->mass == 0) {
            first = first ? first : body;
            ++count;
        }
    }
    if (count == 1) {
        pz_xml_warn(m->input, NULL, first->node,
                    "body \"%s\" has no mass: it has no <inertial>, and masses of meshes are not computed", first->name);
    } else if (first) {
        pz_xml_warn(m->input, NULL, first->node,
                    "body \"%s\" and %d more have no mass: they have no <inertial>, and masses of meshes are not computed",
                    first->name, count - 1);
    }
}

poise_status pz_mjcf_weigh(pz_mjcf *m)
{
    const pz_xml_node *geom = NULL;
    poise_status status = POISE_OK;
    while (status == POISE_OK && (geom = pz_mjcf_next_geom(m, geom))) {
        const pz_mjcf_place *place = &m->places[geom->parent->mark];
        double mass = 0.0;
        vec3 middle = v3(0, 0, 0);
        if (place->body == POISE_WORLD || m->bodies[place->body].has_inertial) {
            continue;
        }
        pz_mjcf_body *body = &m->bodies[place->body];
        body->has_geom = true;
        status = weigh(m, geom, place, &mass, &middle);
        if (status == POISE_OK && mass > 0.0) {
            body->mass += mass; // the centre moves towards the geom by its share
            body->mass_center = v3_add(body->mass_center, v3_scale(v3_sub(middle, body->mass_center), mass / body->mass));
        }
    }
    warn_of_weightless(m);
    return status;
}
