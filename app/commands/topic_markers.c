// poise help markers
#include "commands.h"

const app_topic topic_markers = {
    .name = "markers",
    .summary = "how markers find their places on a skeleton by their names",
    .text =
        "poise track places markers by their labels on the bodies of a human skeleton, with a table of the common sets: "
        "Plug-in Gait and its variants, Helen Hayes, CAST and clusters, OpenSim, OpenCap, OpenPose, HDM05, CMU and others. "
        "\"poise info markers:\" prints it. Calibration starts at these places and stays near them.\n"
        "\n"
        "A label's case, punctuation and subject do not count, and its side may stand anywhere: RKNE, R.Knee, Knee_R, "
        "RightKnee and Anna:RKNE are one name.\n"
        "\n"
        "--labels FILE adds a table of your own, whose rows go before the built-in ones. A row is one or more names without "
        "a side, then\n"
        "\n"
        "  PART FROM  ALONG FORWARD OUTWARD  DEVIATION DEVIATION\n"
        "\n"
        "  PART       head thorax pelvis clavicle upperarm forearm wrist hand thigh\n"
        "             shank foot; wrist is the end of the forearm by the hand\n"
        "  FROM       where on the bone the offset begins: 0 its origin, 1 its end.\n"
        "             The thorax begins between the shoulders, the pelvis at the\n"
        "             hip of the label's side, or between the hips\n"
        "  ALONG ...  the offset in thousandths of the stature: head, trunk and\n"
        "             clavicle upwards, forwards, outwards; limbs along the bone,\n"
        "             forwards, outwards; the foot forwards, upwards, outwards\n"
        "  DEVIATION  how far the place may be off along the first axis, and across\n"
        "\n"
        "\"KNE Knee thigh 0.98 0 -4 35 13 12\" puts RKNE and L.Knee on the thigh near its end, 35 thousandths of the "
        "stature "
        "outwards. A name that ends in # stands for any number there: TH#.\n"
        "\n"
        "\"set TITLE if LABEL... on BODY...\" lets the rows below it hold only where the recording has all these labels and "
        "the skeleton all these bodies. \"stiff NAME NAME\" says that two markers of one side keep their distance, or with "
        "one name twice those of both sides; that tells how large the person is. What follows # at the beginning of a word "
        "is a comment.\n",
};
