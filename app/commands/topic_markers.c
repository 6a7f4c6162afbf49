// poise help markers
#include "commands.h"

const app_topic topic_markers = {
    .name = "markers",
    .summary = "how markers are placed on a skeleton by name",
    .text =
        "poise track places markers on the bodies of a human skeleton by their labels, with a table of the common sets: "
        "Plug-in Gait and its variants, Helen Hayes, CAST and clusters, OpenSim, OpenCap, OpenPose, HDM05, CMU and "
        "others. \"poise info markers:\" prints it. Calibration starts from these positions and stays near them.\n\n"
        "Case, punctuation and the subject's name are ignored, and the side may stand anywhere in a label: RKNE, R.Knee, "
        "Knee_R, RightKnee and Anna:RKNE are the same.\n\n"
        "--labels FILE adds your own table; its rows take precedence over the built-in ones. A row is one or more names "
        "without a side, then\n\n"
        "  PART FROM  ALONG FORWARD OUTWARD  DEVIATION DEVIATION\n\n"
        "  PART       head thorax pelvis clavicle upperarm forearm wrist hand thigh\n"
        "             shank foot; wrist is the end of the forearm at the hand\n"
        "  FROM       where on the bone the offset starts: 0 its origin, 1 its end.\n"
        "             The thorax starts between the shoulders, the pelvis at the\n"
        "             hip of the label's side, or between the hips\n"
        "  ALONG ...  offset in thousandths of the stature: head, trunk and\n"
        "             clavicle upward, forward, outward; limbs along the bone,\n"
        "             forward, outward; the foot forward, upward, outward\n"
        "  DEVIATION  expected deviation along the first axis, and across it\n\n"
        "\"KNE Knee thigh 0.98 0 -4 35 13 12\" puts RKNE and L.Knee on the thigh near its end, 35 thousandths of the "
        "stature outward. A name that ends in # matches any number there: TH#.\n\n"
        "\"set TITLE if LABEL... on BODY...\" restricts the rows below it to recordings that have all these labels and "
        "skeletons that have all these bodies. \"stiff NAME NAME\" says that two markers of one side keep their distance "
        "(one name twice: those of both sides), which tells the size of the person. A # at the start of a word begins a "
        "comment.\n",
};
