// poise help formats
#include "commands.h"

const app_topic topic_formats = {
    .name = "formats",
    .summary = "file formats that can be read and written",
    .text = "A file's format is recognised by its content, or else by its name. Output formats follow the file "
            "extension. \"-\" is standard input or output.\n"
            "\n"
            "  extension    format              read                 write\n"
            "  .urdf        URDF                skeleton             -\n"
            "  .mjcf .xml   MJCF (MuJoCo)       skeleton             -\n"
            "  .bvh         BVH                 skeleton, motion     skeleton, motion\n"
            "  .asf         Acclaim skeleton    skeleton             skeleton\n"
            "  .amc         Acclaim motion      motion of an .asf    motion\n"
            "  .c3d         C3D                 markers              markers\n"
            "  .trc         TRC                 markers              markers\n"
            "  .mot .sto    MOT                 motion of a model    motion\n"
            "  .osim        OpenSim             skeleton, places     -\n"
            "  .gltf .glb   glTF 2.0            skeleton, motion     skeleton, motion\n"
            "  .csv         DH table            skeleton             chains of hinges\n"
            "  .csv         joint values        motion of a model    motion\n"
            "  .json        Poise               everything           everything\n"
            "\n"
            "AMC, MOT and joint values move a skeleton that is in another file: give it with --source-model. An AMC finds "
            "an ASF "
            "of its name beside it. A .csv of a command that makes a motion holds joint values, a row a frame; \"poise "
            "convert\" writes a DH table where there is no motion, or with --body.\n"
            "\n"
            "Poise's own JSON holds skeletons, motions, markers, goals, postures and the places of markers on bodies. "
            "\"poise convert scene:arm7 arm.json\" shows what it looks like.\n",
};
