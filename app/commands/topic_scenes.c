// poise help scenes
#include "commands.h"

const app_topic topic_scenes = {
    .name = "scenes",
    .summary = "built-in skeletons and motions",
    .text = "Wherever a command takes a file, it also takes a built-in scene:\n"
            "\n"
            "  scene:arm7                    a skeleton with its postures and marker places\n"
            "  scene:humanoid/walk           a motion of it, and the markers that it makes\n"
            "  scene:humanoid/walk/noisy     the markers with noise, gaps and swapped labels\n"
            "\n"
            "\"poise info scene:\" lists the scenes. The humanoids have the motions walk, punch, kick and cartwheel. "
            "\"poise convert scene:humanoid-euler/walk walk.bvh\" makes a file of one.\n",
};
