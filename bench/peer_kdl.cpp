#include "peer_kdl.h"

#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainiksolverpos_lma.hpp>
#include <kdl/chainiksolverpos_nr_jl.hpp>
#include <kdl/chainiksolvervel_pinv.hpp>
#include <kdl/chainiksolvervel_wdls.hpp>
#include <kdl/chainjnttojacsolver.hpp>

#include <algorithm>
#include <memory>
#include <vector>

struct peer_kdl {
    KDL::Chain chain;
    std::unique_ptr<KDL::ChainFkSolverPos_recursive> forward;
    std::unique_ptr<KDL::ChainJntToJacSolver> jacobian;
    KDL::JntArray q;
    KDL::Jacobian J;
    std::unique_ptr<KDL::ChainIkSolverPos_LMA> lma;
    std::unique_ptr<KDL::ChainIkSolverVel_pinv> velocity;
    std::unique_ptr<KDL::ChainIkSolverPos_NR_JL> nr_jl;
    std::unique_ptr<KDL::ChainIkSolverVel_wdls> damped;
    KDL::JntArray answer;
};

static KDL::Frame frame_of(const poise_pose &pose)
{
    const poise_quat &r = pose.rotation;
    const poise_vec3 &p = pose.position;
    return KDL::Frame(KDL::Rotation::Quaternion(r.x, r.y, r.z, r.w), KDL::Vector(p.x, p.y, p.z));
}

peer_kdl *peer_kdl_create(const poise_model *model, int body, poise_pose tip)
{
    peer_kdl *peer = new peer_kdl;
    std::vector<int> path;
    for (int k = body; k != POISE_WORLD; k = poise_model_joint_info(model, k).parent) {
        path.insert(path.begin(), k);
    }
    for (int k : path) {
        poise_joint joint = *poise_model_joint_info(model, k).given;
        KDL::Frame offset = frame_of(joint.offset);
        KDL::Vector axis = offset.M * KDL::Vector(joint.axis.x, joint.axis.y, joint.axis.z);
        KDL::Joint::JointType type = joint.type == POISE_JOINT_PRISMATIC ? KDL::Joint::TransAxis : KDL::Joint::RotAxis;
        KDL::Frame end = k == body ? offset * frame_of(tip) : offset;
        KDL::Joint moving(joint.name, offset.p, axis, type);
        KDL::Joint still(joint.name, KDL::Joint::None);
        peer->chain.addSegment(KDL::Segment(joint.name, joint.type == POISE_JOINT_FIXED ? still : moving, end));
    }
    peer->forward = std::make_unique<KDL::ChainFkSolverPos_recursive>(peer->chain);
    peer->jacobian = std::make_unique<KDL::ChainJntToJacSolver>(peer->chain);
    peer->q.resize(peer->chain.getNrOfJoints());
    peer->J.resize(peer->chain.getNrOfJoints());
    return peer;
}

void peer_kdl_destroy(peer_kdl *peer)
{
    delete peer;
}

static void load(peer_kdl *peer, const double *q)
{
    for (unsigned i = 0; i < peer->q.rows(); ++i) {
        peer->q(i) = q[i];
    }
}

void peer_kdl_forward(peer_kdl *peer, const double *q, double rotation[9], double position[3])
{
    load(peer, q);
    KDL::Frame frame;
    peer->forward->JntToCart(peer->q, frame);
    for (int i = 0; i < 9; ++i) {
        rotation[i] = frame.M.data[i];
    }
    for (int i = 0; i < 3; ++i) {
        position[i] = frame.p[i];
    }
}

void peer_kdl_jacobian(peer_kdl *peer, const double *q, double *J)
{
    load(peer, q);
    peer->jacobian->JntToJac(peer->q, peer->J);
    unsigned n = peer->J.columns();
    for (unsigned r = 0; r < 6; ++r) {
        for (unsigned i = 0; i < n; ++i) {
            J[r * n + i] = peer->J(r, i);
        }
    }
}

void peer_kdl_use_inverse(peer_kdl *peer, const poise_model *model, double tolerance)
{
    unsigned n = peer->chain.getNrOfJoints();
    KDL::JntArray lower(n), upper(n);
    for (unsigned i = 0; i < n; ++i) { // as large as a joint without limits may be
        lower(i) = std::max(poise_model_info(model).lower[i], -1e9);
        upper(i) = std::min(poise_model_info(model).upper[i], 1e9);
    }
    Eigen::Matrix<double, 6, 1> weights = Eigen::Matrix<double, 6, 1>::Ones();
    peer->answer.resize(n);
    peer->lma = std::make_unique<KDL::ChainIkSolverPos_LMA>(peer->chain, weights, tolerance, 500, 1e-15);
    peer->velocity = std::make_unique<KDL::ChainIkSolverVel_pinv>(peer->chain);
    peer->nr_jl = std::make_unique<KDL::ChainIkSolverPos_NR_JL>(peer->chain, lower, upper, *peer->forward, *peer->velocity,
                                                                100, tolerance);
}

bool peer_kdl_inverse(peer_kdl *peer, peer_kdl_method method, const double *seed, const double rotation[9],
                      const double position[3], double *q)
{
    load(peer, seed);
    const double *r = rotation;
    KDL::Frame target(KDL::Rotation(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]),
                      KDL::Vector(position[0], position[1], position[2]));
    int code = method == PEER_KDL_LMA ? peer->lma->CartToJnt(peer->q, target, peer->answer)
                                      : peer->nr_jl->CartToJnt(peer->q, target, peer->answer);
    for (unsigned i = 0; i < peer->answer.rows(); ++i) {
        q[i] = peer->answer(i);
    }
    return code >= 0;
}

void peer_kdl_step(peer_kdl *peer, const double *q, poise_pose target, double dt, double *v)
{
    if (!peer->damped) {
        peer->damped = std::make_unique<KDL::ChainIkSolverVel_wdls>(peer->chain);
        peer->damped->setLambda(0.01);
        peer->answer.resize(peer->chain.getNrOfJoints());
    }
    load(peer, q);
    KDL::Frame at;
    peer->forward->JntToCart(peer->q, at);
    peer->damped->CartToJnt(peer->q, KDL::diff(at, frame_of(target), dt), peer->answer);
    for (unsigned i = 0; i < peer->answer.rows(); ++i) {
        v[i] = peer->answer(i);
    }
}
