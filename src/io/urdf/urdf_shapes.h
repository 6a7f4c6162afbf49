// Collision shapes of URDF links.
#ifndef PZ_IO_URDF_SHAPES_H
#define PZ_IO_URDF_SHAPES_H

#include "io/xml.h"

// Reads the pose of an <origin>.
typedef poise_status (*pz_urdf_pose)(void *user, const pz_xml_node *node, poise_pose *pose);

// The shapes of all links into the input's file, whose model is there.
poise_status pz_urdf_read_shapes(pz_input *input, const pz_xml_node *robot, pz_urdf_pose read_pose, void *user);

#endif
