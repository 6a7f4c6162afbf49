// Where the markers of common sets sit: the table, in the format that `poise help markers` explains.
//
// Offsets and deviations are thousandths of the stature that the legs tell, with the marker's radius and the flesh under it.
// Rows of the Vicon skeletons (ASF) were measured on recordings with a published motion; the others are from the marker sets
// of OpenSim's models and from textbooks of anatomy.
#include "motion/marker_table.h"

#include <poise/track.h>

// Names, part of the body and from where along it; along, forward, outward; deviations along and across.
#define ROW(names, part, offset, deviations) names " " part " " offset " " deviations "\n"

// clang-format off
const char *const pz_marker_sets[PZ_MARKER_SETS] = {
    "set skeletons of Vicon's BodyBuilder (HDM05, CMU) on lowerback upperback lowerneck upperneck\n"
    ROW("FHD",                             "head 0",        "80 58 46",    "30 15")
    ROW("BHD",                             "head 0",        "50 -25 40",   "30 15")
    ROW("C7",                              "thorax 0",      "65 -42 0",    "25 12")
    ROW("T10",                             "thorax 0",      "-45 -70 0",   "36 15")
    ROW("CLAV",                            "thorax 0",      "32 56 0",     "25 12")
    ROW("STRN",                            "thorax 0",      "-52 88 0",    "25 15")
    ROW("BAC BAK",                         "thorax 0",      "15 -52 75",   "30 20")
    ROW("SHO",                             "clavicle 1",    "40 0 -18",    "15 12")
    ROW("UPA",                             "upperarm 0.35", "0 -4 16",     "48 24")
    ROW("ELB",                             "upperarm 0.93", "0 -5 28",     "12 12")
    ROW("FRM FRA",                         "forearm 0.40",  "0 0 30",      "48 24")
    ROW("WRA",                             "wrist 0.927",   "0 46 28",     "12 12")
    ROW("WRB",                             "wrist 0.933",   "0 -27 32",    "12 12")
    ROW("FIN",                             "hand 1",        "22 10 22",    "15 12")
    ROW("FWT",                             "pelvis 0",      "78 34 25",    "18 12")
    ROW("BWT",                             "pelvis 0",      "80 -86 5",    "18 18")
    ROW("THI",                             "thigh 0.55",    "0 -14 50",    "48 24")
    ROW("KNE",                             "thigh 0.96",    "0 -20 37",    "12 12")
    ROW("SHN TIB",                         "shank 0.48",    "0 -28 46",    "48 24")
    ROW("ANK",                             "shank 1",       "0 2 28",      "9 9")
    ROW("HEE",                             "foot 0",        "-38 -36 -3",  "15 12")
    ROW("TOE",                             "foot 1",        "28 1 -1",     "15 12")
    ROW("MT5",                             "foot 1",        "14 0 35",     "18 12")
    "\n"
    "set keypoints of OpenPose, HALPE and COCO if Nose LHip RHip\n"
    ROW("Nose",                            "head 0",        "40 60 0",     "20 20")
    ROW("Eye",                             "head 0",        "55 48 18",    "20 20")
    ROW("Ear",                             "head 0",        "40 0 42",     "20 20")
    ROW("Head",                            "head 0",        "114 0 0",     "30 20")
    ROW("Neck",                            "thorax 0",      "20 0 0",      "25 20")
    ROW("Shoulder",                        "clavicle 1",    "0 0 0",       "15 15")
    ROW("Elbow",                           "upperarm 1",    "0 0 0",       "12 12")
    ROW("Wrist",                           "wrist 1",       "0 0 0",       "12 12")
    ROW("Hip",                             "pelvis 0",      "0 0 0",       "18 18")
    ROW("MidHip",                          "pelvis 0",      "0 0 0",       "18 18")
    ROW("Knee",                            "thigh 1",       "0 0 0",       "12 12")
    ROW("Ankle",                           "shank 1",       "0 0 0",       "12 12")
    ROW("BigToe",                          "foot 1",        "30 0 -12",    "20 15")
    ROW("SmallToe",                        "foot 1",        "15 0 30",     "20 15")
    ROW("Heel",                            "foot 0",        "-30 -38 0",   "20 15")
    "\n"
    // markers at the sides of the frame, wands behind it
    "set Codamotion's pelvic frame if LSacWand RSacWand\n"
    ROW("ASIS",                            "pelvis 0",      "50 38 44",    "30 25")
    ROW("PSIS",                            "pelvis 0",      "54 -83 46",   "30 25")
    ROW("SacWand",                         "pelvis 0",      "65 -245 -50", "60 60")
    "\n"
    // the elbow has a name of its own: these are the epicondyles of the knee
    "set sprinters of AddBiomechanics if RLEPI RELB\n"
    ROW("SH",                              "clavicle 1",    "25 -6 -14",   "18 16")
    ROW("LEPI",                            "thigh 0.98",    "0 -2 40",     "13 12")
    ROW("MEPI",                            "thigh 0.99",    "0 -4 -29",    "13 12")
    "\n"
    // arms that hang: lateral is where the little finger is, which anatomy calls medial
    "set markers of OpenSim's gait models if R.Thigh.Upper R.Shank.Upper\n"
    ROW("WristLat",                        "wrist 0.98",    "0 -22 10",    "13 13")
    ROW("WristMed",                        "wrist 0.98",    "0 24 8",      "13 13")
    "\n"
    // wands at wrists and hands, and what is called a hip is on the thigh
    "set Vicon's 53 markers if ARIEL LFSH LBSH\n"
    ROW("WRE",                             "forearm 0.4",   "0 10 20",     "60 40")
    ROW("OWR",                             "wrist 0.98",    "0 -40 10",    "30 40")
    ROW("IWR",                             "wrist 0.98",    "0 40 10",     "30 40")
    ROW("IHAND",                           "hand 0.8",      "0 45 10",     "40 40")
    ROW("OHAND",                           "hand 0.8",      "0 -45 10",    "40 40")
    ROW("HIP",                             "thigh 0.5",     "0 0 50",      "100 40")
    "\n"
    // with fingers; a TH alone is a thigh
    "set thumb, index and little finger if RTH RIN RPN\n"
    ROW("TH",                              "hand 0.5",      "0 28 4",      "22 20")
    "\n"
    "set arms in wheelchairs (Rancho) if RLEP RM3\n"
    ROW("LEP",                             "upperarm 0.97", "0 -4 24",     "14 13")
    ROW("MEP",                             "upperarm 0.98", "0 2 -22",     "14 13")
    ROW("M3",                              "hand 0.95",     "0 4 12",      "20 16")
    ROW("M5",                              "hand 0.9",      "0 -20 8",     "20 16")
    "\n",
    "set any skeleton: head, trunk, arms\n"
    "# head\n"
    ROW("FHD Temple FrontHead HeadFront",  "head 0",        "72 50 42",    "30 18")
    ROW("BHD BackHead HeadBack",           "head 0",        "62 -48 38",   "30 18")
    ROW("TET TETE Ear Tragus HeadSide",    "head 0",        "45 0 44",     "30 20")
    ROW("TopHead HeadTop VTX Vertex Head Crown ARIEL",
                                           "head 0",        "114 0 0",     "30 20")
    ROW("ForeHead FRH Glabella GLAB",      "head 0",        "70 62 0",     "30 20")
    ROW("Occiput BackOfHead OCC",          "head 0",        "60 -55 0",    "30 20")
    ROW("Nose",                            "head 0",        "40 60 0",     "20 20")
    ROW("Cheek Cheec",                     "head 0",        "25 48 32",    "25 20")
    ROW("Chin",                            "head 0",        "5 52 0",      "20 20")
    ROW("Head#",                           "head 0",        "85 0 0",      "60 50")
    "# trunk\n"
    ROW("C7 CV7 SpineTop",                 "thorax 0",      "38 -45 0",    "25 15")
    ROW("T2 TV2 T3 TV3",                      "thorax 0",      "8 -52 0",     "30 18")
    ROW("T8 TV8 T7 T6 MAI MaxKyphosis MaxKif",
                                           "thorax 0",      "-55 -62 0",   "36 18")
    ROW("T10 TV10 BackMid",                "thorax 0",      "-78 -60 0",   "36 18")
    ROW("CLAV JN IJ SuprasternalNotch Notch SternumTop ChestTop MAN Manubrium SJN",
                                           "thorax 0",      "4 42 0",      "25 15")
    ROW("STER STERN Sternum Chest ChestMid",
                                           "thorax 0",      "-42 66 0",    "32 18")
    ROW("Sternum Clavicle",                "thorax 0",      "4 44 14",     "25 18")
    ROW("STRN PX XYPH XIPH XIP XP SXS Xiphoid SternumLow",
                                           "thorax 0",      "-75 70 0",    "30 18")
    ROW("BAC BAK BACK ScapOffset",         "thorax 0",      "-12 -56 60",  "30 22")
    ROW("Scapula# SCA SCAP SIA SRS",       "thorax 0",      "-5 -55 75",   "60 45")
    ROW("TA# TR# TRUNK# THX# Chest# SPINM# SPINMOL",
                                           "thorax 0",      "-30 -20 0",   "90 70")
    ROW("L1 LV1 L3 L5 LV5 T12 TV12 TH12",  "pelvis 0",      "110 -62 0",   "60 30")
    "# shoulder\n"
    ROW("SHO ACR Acromium Acromion Shoulder Should SAE AC AcromionClavicular ShoulderTop Shldr SHL",
                                           "clavicle 1",    "27 -2 -6",    "18 16")
    ROW("ANG AnglAcr AA AI SAA",           "clavicle 1",    "20 -22 2",    "18 16")
    ROW("CLA ClavLat SHF",                 "clavicle 1",    "18 12 -20",   "25 20")
    ROW("ShoulderBack SHB PSH BSH",        "clavicle 1",    "5 -38 -5",    "25 20")
    ROW("ShoulderFront ASH FSH",           "clavicle 1",    "5 34 -5",     "25 20")
    ROW("SJC ShoulderCenter GH",           "clavicle 1",    "0 0 0",       "10 10")
    "# arm\n"
    ROW("UPA UA Bicep Biceps UpperArm UArm UArmHigh PRO ProcDelt DELT Triceps ARM Humerus",
                                           "upperarm 0.45", "0 4 22",      "60 30")
    ROW("UA# AR# ARM# UPA# UARM# UAOL",    "upperarm 0.5",  "0 0 18",      "100 45")
    ROW("ELB Elbow ElbowLat ElbowOut LatElbow ELBLat LElbow LEL LatEpi LateralEpicondyle COU COUD EL HLE CUBL",
                                           "upperarm 0.97", "0 -4 24",     "14 13")
    ROW("MElbow MELB ElbowMed ElbowIn MedElbow MEL ELBM ELBMed COUDInt MedialEpicondyle HME EM IEL CUBM",
                                           "upperarm 0.98", "0 2 -22",     "14 13")
    ROW("Olecrane Olecranon OLE UOA",      "upperarm 1",    "6 -20 0",     "14 14")
    ROW("EJC ElbowCenter",                 "upperarm 1",    "0 0 0",       "9 9")
    ROW("FRM FRA FA FARM Forearm FAsuperior",
                                           "forearm 0.45",  "0 0 20",      "60 30")
    ROW("FA# FRA# FARM# FRM# Forearm# LA# LAOL",
                                           "forearm 0.5",   "0 0 16",      "100 45")
    ROW("WRA WristLat WristIn WristThumb RadialStyloid RSP RS LWrist RAD FAradius WRT MAINInt WristRadius WRR IWR",
                                           "wrist 0.98",    "0 24 8",      "13 13")
    ROW("WRB WristMed WristOut WristPinky UlnarStyloid USP US MWrist ULN FAulna WRP MAIN WristUlna WRU UHE OWR",
                                           "wrist 0.98",    "0 -22 10",    "13 13")
    ROW("WRI WRIST WJC WristTop WR",       "wrist 0.98",    "0 0 10",      "14 14")
    "# hand\n"
    ROW("FIN HandOut HAND HM2 HandMid",    "hand 1",        "8 2 14",      "22 16")
    ROW("MC2 MCP2 HandIn HM1 IN IHAND",    "hand 0.9",      "0 16 10",     "20 16")
    ROW("MC5 MCP5 HM6 HM5 PN OHAND",       "hand 0.9",      "0 -20 8",     "20 16")
    ROW("MC3 MCP3",                        "hand 0.95",     "0 4 12",      "20 16")
    ROW("MCP1 MC1 Thumb",                  "hand 0.5",      "0 28 4",      "22 20")
    ROW("Glove# HND# HA#",                 "hand 0.6",      "0 0 8",       "60 40")
    ROW("NAG NAR",                         "hand 0.6",      "0 0 8",       "60 40")
    "\n",
    "set any skeleton: pelvis, legs\n"
    "# pelvis\n"
    ROW("ASI ASIS EAS IAS WaistFront FrontWaist",
                                           "pelvis 0",      "50 36 22",    "18 13")
    ROW("PSI PSIS EPS IPS WaistBack BackWaist",
                                           "pelvis 0",      "56 -68 -28",  "18 13")
    ROW("FWT",                             "pelvis 0",      "66 38 28",    "24 18")
    ROW("BWT",                             "pelvis 0",      "68 -72 -8",   "24 20")
    ROW("SACR SACRUM SAC VSacral Sacral VSAC VSacrum SacralMid MPSI S2 PSI PSIS",
                                           "pelvis 0",      "56 -72 0",    "20 14")
    ROW("ILC ILI IliacCrest Crest ILCR IC MWT",
                                           "pelvis 0",      "84 0 44",     "22 18")
    ROW("HIP TRO GTR GreaterTrochanter Trochanter FT FTC GT",
                                           "pelvis 0",      "-6 -6 42",    "22 20")
    ROW("HJC HipCenter HJCReg",            "pelvis 0",      "0 0 0",       "9 9")
    ROW("SacWand",                         "pelvis 0",      "66 -120 12",  "60 60")
    ROW("PV# PEL# Hip# Pelvis# SACR# SACROL",
                                           "pelvis 0",      "50 -20 0",    "70 70")
    "# thigh\n"
    ROW("ThighUpper THIUpper",             "thigh 0.50",    "0 14 52",     "48 26")
    ROW("ThighFront THAP THAD",            "thigh 0.62",    "0 60 10",     "48 26")
    ROW("ThighRear",                       "thigh 0.76",    "0 12 47",     "48 26")
    ROW("AntFem",                          "thigh 0.60",    "0 50 30",     "60 40")
    ROW("PostFem",                         "thigh 0.60",    "0 -10 55",    "60 40")
    ROW("THI TH Thigh UTHI THIGHOuter QUAD THLP THLD",
                                           "thigh 0.55",    "0 0 50",      "60 30")
    ROW("TH# THI# THIGH# FE# THL# THOL",   "thigh 0.5",     "0 10 45",     "100 50")
    ROW("KNE Knee KneeLat LatKnee KneeOut LFC CL LCON LEK FLE KNEL KNELat KneeOuter LKNE LFemCon LFEP LKN "
        "LateralKnee LatCon KnJntLn",
                                           "thigh 0.98",    "0 -4 35",     "13 12")
    ROW("MKnee KneeMed MedKnee KneeIn MFC CM MCON MEK FME KNM KNEM KNEMed KneeInner MKNE MFemCon MFEP MKN "
        "MedialKnee KNI MedCon",
                                           "thigh 0.98",    "0 0 -33",     "13 12")
    ROW("KJC KneeCenter",                  "thigh 1",       "0 0 0",       "9 9")
    ROW("Patella PAT SupPat",              "thigh 0.97",    "0 34 0",      "16 14")
    "# shank\n"
    ROW("TT TTC TTUB TubTib TibialTuberosity TTB TibTubercle",
                                           "shank 0.12",    "0 30 4",      "16 14")
    ROW("FH HF HFB FibulaHead FAX HeadFibula FIB",
                                           "shank 0.06",    "0 -14 34",    "16 14")
    ROW("ShankUpper",                      "shank 0.155",   "0 -10 43",    "48 26")
    ROW("ShankFront",                      "shank 0.255",   "0 28 15",     "48 26")
    ROW("ShankRear",                       "shank 0.30",    "0 -10 48",    "48 26")
    ROW("AntTib TIAP TIAD",                "shank 0.45",    "0 35 25",     "60 40")
    ROW("PostTib",                         "shank 0.45",    "0 -15 45",    "60 40")
    ROW("DistalShank",                     "shank 0.75",    "0 12 8",      "60 40")
    ROW("TIB SHN SK SHA SHANK Tibia Shin UTIB TILAT ShankAntSup MidShank",
                                           "shank 0.48",    "0 -6 38",     "60 32")
    ROW("SK# SH# TB# TIB# SHANK# SHA# SHAOL LEG#",
                                           "shank 0.5",     "0 0 38",      "100 50")
    ROW("ANK Ankle AnkleLat LatAnkle AnkleOut LM ML LMAL FAL LAM ANKL ANKLat LANK LMalleolus LMALL AnkleOuter LAK "
        "LateralAnkle LatMal LMA MALL",
                                           "shank 1",       "0 -2 30",     "11 11")
    ROW("MAnkle AnkleMed MedAnkle AnkleIn MM MMAL TAM MED ANKM ANKMed MANK MMalleolus MMALL AnkleInner MAK MedialAnkle "
        "MedMal MMA MALM",
                                           "shank 0.98",    "0 6 -22",     "11 11")
    ROW("AJC AnkleCenter",                 "shank 1",       "0 0 0",       "9 9")
    "# foot\n"
    ROW("HEE HEL Heel CAL CALC CA FCC HEEL Calcaneus HeelBack",
                                           "foot 0",        "-42 -30 0",   "18 14")
    ROW("HeelLat LCAL LCALC STL CAL2 PosteriorFoot",
                                           "foot 0",        "-12 -30 18",  "22 16")
    ROW("HeelMed MCAL MCALC ST CAL3",      "foot 0",        "-12 -28 -18", "22 16")
    ROW("MidfootSup MidFoot FOOTS D2MT FootS MFS CUN",
                                           "foot 0",        "50 -8 -10",   "28 20")
    ROW("MidfootLat NAV CUB MFL LateralFoot LatFoot",
                                           "foot 0",        "42 -22 38",   "28 22")
    ROW("TOE MT2 2MT SM2 2Meta MT23 ToeBase FM2 Forefoot",
                                           "foot 1",        "2 12 2",      "20 15")
    ROW("MT1 1MT FM1 1Meta ToeMed ToeIn D1M MTH1 MTP1 BigToeBase P1MT",
                                           "foot 1",        "4 8 -18",     "20 15")
    ROW("MT5 5MT FM5 5Meta ToeLat ToeOut D5M MTH5 MTP5 M5 Meta5 VMH LittleToeBase P5MT",
                                           "foot 1",        "-10 2 34",    "20 15")
    ROW("HAL ToeTip Toe1 BigToe HLX HX TTIP HALL Hallux",
                                           "foot 1",        "40 6 -4",     "24 18")
    ROW("SmallToe LittleToe",              "foot 1",        "15 0 30",     "24 18")
    ROW("FT# FO# FOOT# FTC#",              "foot 0",        "45 -18 10",   "80 45")
    "\n",
    // marker pairs that keep their distance while the body moves: they tell how large it is
    "stiff KNE ANK\n"
    "stiff Knee Ankle\n"
    "stiff KneeLat AnkleLat\n"
    "stiff LFC LMAL\n"
    "stiff CL ML\n"
    "stiff KJC AJC\n"
    "stiff HJC KJC\n"
    "stiff HJC HJC\n"
    "stiff Hip Knee\n"
    "stiff ELB WRB\n"
    "stiff Elbow Wrist\n"
    "stiff Elbow WristMed\n"
    "stiff SHO SHO\n"
    "stiff ACR ACR\n"
    "stiff Acromium Acromium\n"
    "stiff Shoulder Elbow\n"
    "stiff HEE TOE\n",
};
// clang-format on

const char *poise_marker_sets(int section)
{
    return section >= 0 && section < PZ_MARKER_SETS ? pz_marker_sets[section] : NULL;
}
