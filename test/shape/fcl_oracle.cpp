#include "fcl_oracle.h"

#include <fcl/fcl.h>

namespace
{

// The core: a radius is taken off afterwards, so that round boxes, which FCL does not have, are covered.
std::shared_ptr<fcl::CollisionGeometryd> core_of(const poise_shape &shape)
{
    if (shape.kind == POISE_SHAPE_BOX) {
        return std::make_shared<fcl::Boxd>(2 * shape.half.x, 2 * shape.half.y, 2 * shape.half.z);
    }
    return std::make_shared<fcl::Capsuled>(shape.radius, 2 * shape.half.z);
}

fcl::Transform3d place_of(const poise_kinematics *kinematics, const poise_shape &shape)
{
    poise_pose body = shape.body == POISE_WORLD ? poise_pose_identity() : poise_kinematics_body_pose(kinematics, shape.body);
    poise_pose pose = poise_pose_multiply(body, shape.pose);
    fcl::Transform3d place = fcl::Transform3d::Identity();
    place.linear() = fcl::Quaterniond(pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z).toRotationMatrix();
    place.translation() = fcl::Vector3d(pose.position.x, pose.position.y, pose.position.z);
    return place;
}

} // namespace

double fcl_distance_of(const poise_kinematics *kinematics, const poise_shape *a, const poise_shape *b)
{
    fcl::CollisionObjectd first(core_of(*a), place_of(kinematics, *a)), second(core_of(*b), place_of(kinematics, *b));
    fcl::DistanceRequestd request; // without depths, whose search fails an assertion of its own now and then
    fcl::DistanceResultd result;
    request.distance_tolerance = 1e-10;
    double distance = fcl::distance(&first, &second, request, result);
    return distance - (a->kind == POISE_SHAPE_BOX ? a->radius : 0) - (b->kind == POISE_SHAPE_BOX ? b->radius : 0);
}
