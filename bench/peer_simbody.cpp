#include "peer_simbody.h"

#include <Simbody.h>

#include <exception>
#include <memory>
#include <vector>

struct peer_simbody {
    SimTK::MultibodySystem system;
    SimTK::SimbodyMatterSubsystem matter;
    SimTK::State state;
    std::vector<SimTK::MobilizedBodyIndex> bodies;
    std::unique_ptr<SimTK::Assembler> assembler;
    SimTK::Markers *markers; // the assembler's
    int marker_count;

    peer_simbody() : matter(system), markers(nullptr), marker_count(0)
    {
    }
};

static SimTK::Vec3 vec_of(const poise_vec3 &v)
{
    return SimTK::Vec3(v.x, v.y, v.z);
}

static bool add_body(peer_simbody *peer, const poise_model *model, int k)
{
    using namespace SimTK;
    poise_joint joint = *poise_model_joint_info(model, k).given;
    const poise_quat &r = joint.offset.rotation;
    int parent = poise_model_joint_info(model, k).parent;
    MobilizedBody &above =
        parent < 0 ? (MobilizedBody &)peer->matter.updGround() : peer->matter.updMobilizedBody(peer->bodies[(size_t)parent]);
    Body::Rigid body(MassProperties(1, Vec3(0), Inertia(1)));
    SimTK::Rotation offset(SimTK::Quaternion(r.w, r.x, r.y, r.z));
    Vec3 origin = vec_of(joint.offset.position);
    if (joint.type == POISE_JOINT_FREE_EXPMAP) {
        peer->bodies.push_back(MobilizedBody::Free(above, Transform(offset, origin), body, Transform()));
    } else if (joint.type == POISE_JOINT_BALL_EXPMAP || joint.type == POISE_JOINT_SWING_TWIST) {
        peer->bodies.push_back(MobilizedBody::Ball(above, Transform(offset, origin), body, Transform()));
    } else if (joint.type == POISE_JOINT_REVOLUTE) {
        SimTK::Rotation axis(UnitVec3(vec_of(joint.axis)), ZAxis); // a pin turns about its z
        peer->bodies.push_back(MobilizedBody::Pin(above, Transform(offset * axis, origin), body, Transform(axis)));
    } else if (joint.type == POISE_JOINT_UNIVERSAL) {
        SimTK::Rotation axes(UnitVec3(vec_of(joint.axis)), XAxis, vec_of(joint.axis2), YAxis); // about its x, then y
        peer->bodies.push_back(MobilizedBody::Universal(above, Transform(offset * axes, origin), body, Transform(axes)));
    } else {
        return false;
    }
    return true;
}

peer_simbody *peer_simbody_create(const poise_model *model, const scene_marker *markers, int count, double accuracy)
{
    std::unique_ptr<peer_simbody> peer(new peer_simbody);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        if (!add_body(peer.get(), model, k)) {
            return nullptr;
        }
    }
    peer->state = peer->system.realizeTopology();
    peer->system.realizeModel(peer->state);
    peer->assembler.reset(new SimTK::Assembler(peer->system));
    peer->assembler->setAccuracy(accuracy);
    peer->markers = new SimTK::Markers();
    peer->marker_count = count;
    for (int i = 0; i < count; ++i) {
        peer->markers->addMarker(peer->bodies[(size_t)markers[i].body], vec_of(markers[i].local), 1);
    }
    peer->assembler->adoptAssemblyGoal(peer->markers);
    peer->assembler->initialize(peer->state);
    return peer.release();
}

void peer_simbody_destroy(peer_simbody *peer)
{
    delete peer;
}

void peer_simbody_observe(peer_simbody *peer, const poise_vec3 *seen)
{
    for (int i = 0; i < peer->marker_count; ++i) {
        peer->markers->moveOneObservation(SimTK::Markers::ObservationIx(i), vec_of(seen[i]));
    }
}

// A frame that does not reach the accuracy throws; what it did reach stays, and the errors show it.
int peer_simbody_solve(peer_simbody *peer, bool cold)
{
    int before = peer->assembler->getNumGoalEvals();
    try {
        if (cold) {
            peer->assembler->assemble();
        } else {
            peer->assembler->track();
        }
    } catch (const std::exception &) {
    }
    return peer->assembler->getNumGoalEvals() - before;
}

void peer_simbody_points(const peer_simbody *peer, poise_vec3 *points)
{
    for (int i = 0; i < peer->marker_count; ++i) {
        SimTK::Vec3 x = peer->markers->findCurrentMarkerLocation(SimTK::Markers::MarkerIx(i));
        points[i] = poise_vec3_make(x[0], x[1], x[2]);
    }
}
