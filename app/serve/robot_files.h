// The files that a robot's file names: meshes with their materials and pictures, and included files, found on disk as
// ROS and MuJoCo mean them.
#ifndef APP_ROBOT_FILES_H
#define APP_ROBOT_FILES_H

#include "server.h"

// Offer what `file` (URDF, MJCF) names under `prefix`/NAME, where NAME is the path in the file without its scheme and
// without "." and "..", and what those name in turn. They are looked for where poise_named_file (io.h) says. What is not
// found is known as missing; what is neither a mesh, a picture nor XML is left out.
void robot_files_add(server *s, const char *file, const char *prefix);

#endif
