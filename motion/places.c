// A person in a recording or a skeleton, by names alone: where each marker sits, which way up, how tall, and how sure that
// is.
//
// The table says where markers of usual names sit on a person. Its lines:
//
//   set TITLE [if LABEL...] [on BODY...]     the rows below hold where the recording has all these labels and the skeleton
//                                            all these bodies
//   NAME... PART FROM ALONG FORWARD OUTWARD DEVIATION DEVIATION
//   stiff NAME NAME
//
// The first row that names a label counts. Names have no side; a label's is found in it: RKNE, R.Knee, Knee_R, KneeRight.
// What all labels begin with, such as a subject without a colon, may be omitted: "S1_LASI". A name that ends in # stands for
// any number there.
//
// Offsets and deviations are thousandths of the stature that the legs tell, with the marker's radius and the flesh under it.
// Rows of the Vicon skeletons (ASF) were measured on recordings with a published motion; the others are from the marker sets
// of OpenSim's models and from textbooks of anatomy.
#include "motion/places.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "motion/plain_name.h"
#include "num/real.h"

#include <poise/motion.h>
#include <poise/track.h>

#include <math.h>

// ---- The table -----------------------------------------------------------------------------------------------------------

// Names, part of the body and from where along it; along, forward, outward; deviations along and across.
#define ROW(names, part, offset, deviations) names " " part " " offset " " deviations "\n"

enum { MARKER_SETS = 4, STIFF_SET = 3 }; // sections, and the one of the stiff pairs

// clang-format off
static const char *const marker_sets[MARKER_SETS] = {
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
    "set epicondyles of the knee beside an elbow if REpiLat RELB\n"
    ROW("EpiLat",                          "thigh 0.98",    "0 -2 40",     "13 12")
    ROW("EpiMed",                          "thigh 0.99",    "0 -4 -29",    "13 12")
    "\n"
    // arms that hang: lateral is where the little finger is, which anatomy calls medial
    "set markers of OpenSim's gait models if R.Thigh.Upper R.Shank.Upper\n"
    ROW("WristLat",                        "wrist 0.98",    "0 -22 10",    "13 13")
    ROW("WristMed",                        "wrist 0.98",    "0 24 8",      "13 13")
    "\n"
    "set sides of the head, trochanters, elbows and wrists, each lateral and medial, if LLEE LMEE LLW\n"
    ROW("FHEAD",                           "head 0",        "70 62 0",     "30 20")
    ROW("HEAD",                            "head 0",        "45 0 44",     "30 20")
    ROW("THEAD",                           "head 0",        "114 0 0",     "30 20")
    ROW("GTRO",                            "pelvis 0",      "-6 -6 42",    "22 20")
    ROW("LEE",                             "upperarm 0.97", "0 -4 24",     "14 13")
    ROW("MEE",                             "upperarm 0.98", "0 2 -22",     "14 13")
    ROW("MW",                              "wrist 0.98",    "0 24 8",      "13 13")
    ROW("LW",                              "wrist 0.98",    "0 -22 10",    "13 13")
    "\n"
    "set epicondyles of the elbow and both sides of the wrist if RLEP RMEP RUL\n"
    ROW("LEP",                             "upperarm 0.97", "0 -4 24",     "14 13")
    ROW("MEP",                             "upperarm 0.98", "0 2 -22",     "14 13")
    ROW("UL",                              "wrist 0.98",    "0 -22 10",    "13 13")
    "\n"
    "set both ends of the clavicles if LCLAV RCLAV\n"
    ROW("CLAV",                            "thorax 0",      "4 44 14",     "25 18")
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
                                           "thorax 0",      "-80 -62 0",   "40 18")
    // 49 recordings of 42 people: from 8 to 160 below the shoulders, most at 120
    ROW("T10 TV10 BackMid",                "thorax 0",      "-115 -60 0",  "42 18")
    ROW("CLAV Clavicle JN IJ SuprasternalNotch Notch SternumTop ChestTop MAN Manubrium SJN",
                                           "thorax 0",      "4 42 0",      "25 15")
    ROW("STER STERN Sternum Chest ChestMid",
                                           "thorax 0",      "-42 66 0",    "32 18")
    ROW("Sternum Clavicle",                "thorax 0",      "4 44 14",     "25 18")
    ROW("STRN PX XYPH XIPH XIP XP SXS Xiphoid SternumLow",
                                           "thorax 0",      "-75 70 0",    "30 18")
    // 46 recordings of 40 people: from 0 to 85 below the shoulders
    ROW("BAC BAK BACK ScapOffset",         "thorax 0",      "-38 -56 60",  "42 22")
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
    ROW("UA# AR# ARM# UPA# UARM# UAOL UUPA MUPA DUPA UP#",
                                           "upperarm 0.5",  "0 0 18",      "100 45")
    ROW("ELB Elbow ElbowLat ElbowOut LatElbow ELBLat LElbow LEL LatEpi EpiLat LateralEpicondyle COU COUD EL HLE "
        "CUBL ElbowLateral ELL",
                                           "upperarm 0.97", "0 -4 24",     "14 13")
    ROW("MElbow MELB ElbowMed ElbowIn MedElbow MEL ELBM ELBMed COUDInt EpiMed MedialEpicondyle HME EM IEL CUBM "
        "ElbowMedial ELM",
                                           "upperarm 0.98", "0 2 -22",     "14 13")
    ROW("Olecrane Olecranon OLE UOA",      "upperarm 1",    "6 -20 0",     "14 14")
    ROW("EJC ElbowCenter",                 "upperarm 1",    "0 0 0",       "9 9")
    ROW("FRM FRA FA FARM Forearm FAsuperior",
                                           "forearm 0.45",  "0 0 20",      "60 30")
    ROW("FA# FRA# FARM# FRM# Forearm# LA# LAOL FR#",
                                           "forearm 0.5",   "0 0 16",      "100 45")
    ROW("WRA WristLat WristIn WristThumb RadialStyloid RSP RS LWrist RAD FAradius WRT MAINInt WristRadius WRR "
        "IWR WristRad WRL",
                                           "wrist 0.98",    "0 24 8",      "13 13")
    ROW("WRB WristMed WristOut WristPinky UlnarStyloid USP US MWrist ULN FAulna WRP MAIN WristUlna WRU UHE OWR WristUln WRM",
                                           "wrist 0.98",    "0 -22 10",    "13 13")
    ROW("WRI WRIST WJC WristTop WR",       "wrist 0.98",    "0 0 10",      "14 14")
    "# hand\n"
    ROW("FIN HandOut HAND HM2 HandMid MAI",    "hand 1",        "8 2 14",      "22 16")
    ROW("MC2 MCP2 HandIn HM1 IN IHAND",    "hand 0.9",      "0 16 10",     "20 16")
    ROW("MC5 MCP5 HM6 HM5 PN OHAND",       "hand 0.9",      "0 -20 8",     "20 16")
    ROW("MC3 MCP3",                        "hand 0.95",     "0 4 12",      "20 16")
    ROW("MCP1 MC1 Thumb",                  "hand 0.5",      "0 28 4",      "22 20")
    ROW("Glove# HND# HA# Hand#",                 "hand 0.6",      "0 0 8",       "60 40")
    ROW("NAG NAR",                         "hand 0.6",      "0 0 8",       "60 40")
    "\n",
    "set any skeleton: pelvis, legs\n"
    "# pelvis\n"
    ROW("ASI ASIS EAS IAS WaistFront FrontWaist EIAS",
                                           "pelvis 0",      "50 36 22",    "18 13")
    ROW("PSI PSIS EPS IPS WaistBack BackWaist EIPS",
                                           "pelvis 0",      "56 -68 -28",  "18 13")
    ROW("FWT",                             "pelvis 0",      "66 38 28",    "24 18")
    ROW("BWT",                             "pelvis 0",      "68 -72 -8",   "24 20")
    ROW("SACR SACRUM SAC VSacral Sacral VSAC VSacrum SacralMid MPSI S2 PSI PSIS",
                                           "pelvis 0",      "56 -72 0",    "20 14")
    ROW("ILC ILI IliacCrest Crest ILCR IC MWT Crete",
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
    ROW("KNE Knee KneeLat LatKnee KneeOut LFC CL LCON LEK FLE KNEL KNELat KneeOuter LKNE LFemCon LFEP LKN KneeLateral "
        "LateralKnee LatCon KnJntLn",
                                           "thigh 0.98",    "0 -4 35",     "13 12")
    ROW("MKnee KneeMed MedKnee KneeIn MFC CM MCON MEK FME KNM KNEM KNEMed KneeInner MKNE MFemCon MFEP MKN KneeMedial "
        "MedialKnee KNI MedCon",
                                           "thigh 0.98",    "0 0 -33",     "13 12")
    ROW("KJC KneeCenter",                  "thigh 1",       "0 0 0",       "9 9")
    ROW("Patella PAT SupPat",              "thigh 0.97",    "0 34 0",      "16 14")
    "# shank\n"
    ROW("TT TTC TTUB TubTib TibialTuberosity TTB TibTubercle TTA",
                                           "shank 0.12",    "0 30 4",      "16 14")
    ROW("FH HF HFB FibulaHead FAX HeadFibula FIB Fibula",
                                           "shank 0.06",    "0 -14 34",    "16 14")
    ROW("ShankUpper",                      "shank 0.155",   "0 -10 43",    "48 26")
    ROW("ShankFront",                      "shank 0.255",   "0 28 15",     "48 26")
    ROW("ShankRear",                       "shank 0.30",    "0 -10 48",    "48 26")
    ROW("AntTib TIAP TIAD",                "shank 0.45",    "0 35 25",     "60 40")
    ROW("PostTib",                         "shank 0.45",    "0 -15 45",    "60 40")
    ROW("DistalShank",                     "shank 0.75",    "0 12 8",      "60 40")
    ROW("TIB SHN SK SHA SHANK Tibia Shin UTIB TILAT ShankAntSup MidShank",
                                           "shank 0.48",    "0 -6 38",     "60 32")
    ROW("SK# SH# TB# TIB# SHANK# SHA# SHAOL LEG# Shin#",
                                           "shank 0.5",     "0 0 38",      "100 50")
    ROW("ANK Ankle AnkleLat LatAnkle AnkleOut LM ML LMAL FAL LAM ANKL ANKLat LANK LMalleolus LMALL AnkleOuter "
        "LAK AnkleLateral LateralAnkle LatMal LMA MALL",
                                           "shank 1",       "0 -2 30",     "11 11")
    ROW("MAnkle AnkleMed MedAnkle AnkleIn MM MMAL TAM MED ANKM ANKMed MANK MMalleolus MMALL AnkleInner MAK "
        "MedialAnkle AnkleMedial MedMal MMA MALM",
                                           "shank 0.98",    "0 6 -22",     "11 11")
    ROW("AJC AnkleCenter",                 "shank 1",       "0 0 0",       "9 9")
    "# foot\n"
    ROW("HEE HEL Heel CAL CALC CA FCC HEEL Calcaneus HeelBack Calca",
                                           "foot 0",        "-42 -30 0",   "18 14")
    ROW("HeelLat LCAL LCALC CAL2 PosteriorFoot",
                                           "foot 0",        "-12 -30 18",  "22 16")
    ROW("HeelMed MCAL MCALC ST STL CAL3",  "foot 0",        "-12 -28 -18", "22 16")
    ROW("NAV Navicular",                   "foot 0",        "34 -24 -20",  "20 15")
    ROW("MidfootSup MidFoot FOOTS D2MT FootS MFS CUN",
                                           "foot 0",        "50 -8 -10",   "28 20")
    ROW("MidfootLat CUB MFL LateralFoot LatFoot FootLateral FootLat",
                                           "foot 0",        "42 -22 38",   "28 22")
    ROW("TOE MT2 2MT SM2 2Meta MT23 ToeBase FM2 Forefoot",
                                           "foot 1",        "2 12 2",      "20 15")
    ROW("MT1 1MT FM1 1Meta ToeMed ToeIn D1M MTH1 MTP1 BigToeBase P1MT FootMedial FootMed",
                                           "foot 1",        "4 8 -18",     "20 15")
    ROW("MT5 5MT FM5 5Meta ToeLat ToeOut D5M MTH5 MTP5 M5 Meta5 VMH LittleToeBase P5MT",
                                           "foot 1",        "-10 2 34",    "20 15")
    ROW("HAL ToeTip Toe1 BigToe HLX HX TTIP HALL Hallux",
                                           "foot 1",        "40 6 -4",     "24 18")
    ROW("SmallToe LittleToe",              "foot 1",        "15 0 30",     "24 18")
    ROW("FT# FO# FOOT# FTC# FOO",          "foot 0",        "45 -18 10",   "80 45")
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
    return section >= 0 && section < MARKER_SETS ? marker_sets[section] : NULL;
}

#define CLUSTER 45.0 // thousandths of the stature: places that deviate by more are those of clusters

enum { MOST_WORDS = 40, NUMBERS = 6, READINGS = 8, FEW_LABELS = 8 };

typedef struct word {
    const char *text;
    size_t length;
} word;

typedef struct line {
    word words[MOST_WORDS];
    int count;
} line;

// A label without its side.
typedef struct reading {
    pz_plain_name name;
    pz_side side;
} reading;

// ---- Lines ---------------------------------------------------------------------------------------------------------------

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// The words of the line at *text, which moves on to the next one; a comment has none. count is -1 for too many.
static line next_line(const char **text)
{
    line l; // its words are set as they come
    l.count = 0;
    const char *c = *text;
    while (*c && *c != '\n' && *c != '#') {
        const char *begin = c;
        while (*c && *c != '\n' && !is_blank(*c)) {
            ++c;
        }
        if (c > begin && l.count >= 0) {
            l.words[l.count] = (word){begin, (size_t)(c - begin)};
            l.count = l.count + 1 < MOST_WORDS ? l.count + 1 : -1;
        }
        c += is_blank(*c);
    }
    while (*c && *c != '\n') {
        ++c;
    }
    *text = *c ? c + 1 : c;
    return l;
}

static bool word_is(word w, const char *text)
{
    return w.length == strlen(text) && memcmp(w.text, text, w.length) == 0;
}

static bool read_number(word w, double *value)
{
    char copy[32], *end;
    if (w.length == 0 || w.length >= sizeof copy) {
        return false;
    }
    memcpy(copy, w.text, w.length);
    copy[w.length] = '\0';
    double sign = copy[0] == '-' ? -1.0 : 1.0, number = 0.0, digit = 1.0;
    for (end = copy + (copy[0] == '-'); is_digit(*end); ++end) {
        number = 10.0 * number + (*end - '0');
    }
    if (*end == '.') {
        for (++end; is_digit(*end); ++end) {
            digit *= 10.0;
            number = 10.0 * number + (*end - '0');
        }
    }
    *value = sign * number / digit;
    return *end == '\0';
}

// The numbers and the part at the end of a row; false when it is none.
static bool read_row(const line *l, pz_marker_row *row)
{
    double n[NUMBERS];
    int names = l->count - NUMBERS - 1;
    bool works = names >= 1 && pz_part_by_name(l->words[names].text, l->words[names].length, &row->part);
    for (int i = 0; i < NUMBERS && works; ++i) {
        works = read_number(l->words[names + 1 + i], &n[i]);
    }
    if (!works || !(n[4] > 0) || !(n[5] > 0)) {
        return false;
    }
    row->from = n[0];
    for (int i = 0; i < 3; ++i) {
        row->offset[i] = n[1 + i];
    }
    row->along = n[4];
    row->across = n[5];
    return true;
}

// What is wrong with a table: POISE_ERROR_FORMAT with the line in `error`.
static poise_status check_table(const char *text, poise_error *error)
{
    for (int number = 1; text && *text; ++number) {
        line l = next_line(&text);
        pz_marker_row row;
        bool is_set = l.count > 0 && word_is(l.words[0], "set"), is_stiff = l.count > 0 && word_is(l.words[0], "stiff");
        if (l.count == 0 || is_set || (is_stiff && l.count == 3) || (!is_stiff && read_row(&l, &row))) {
            continue;
        }
        return pz_error_set(error, POISE_ERROR_FORMAT,
                            "line %d of the marker table: expected \"NAME... PART FROM ALONG FORWARD OUTWARD DEVIATION "
                            "DEVIATION\", \"set ...\" or \"stiff NAME NAME\"; see poise help markers",
                            number);
    }
    return POISE_OK;
}

// ---- Labels --------------------------------------------------------------------------------------------------------------

// Does a new word begin at c, which is not the first character of its text?
static bool is_boundary(const char *c)
{
    bool now = is_upper(*c) || is_lower(*c), before = is_upper(c[-1]) || is_lower(c[-1]);
    bool is_side = (*c == 'l' || *c == 'r') && c[1] == '\0' && is_upper(c[-1]); // "ASISr"
    return (is_upper(*c) && is_lower(c[-1])) || now != before || is_side;
}

static pz_side side_of_word(const char *text, size_t length)
{
    pz_plain_name n = {.length = 0};
    for (size_t i = 0; i < length && n.length < 8; ++i) {
        n.text[n.length++] = is_upper(text[i]) ? (char)(text[i] - 'A' + 'a') : text[i];
    }
    bool has_cross = n.length == 2 && n.text[1] == 'x'; // "LxKnee", and in Italian "sx", "dx"
    bool left = (n.length == 1 && n.text[0] == 'l') || (n.length == 4 && memcmp(n.text, "left", 4) == 0) ||
                (has_cross && (n.text[0] == 'l' || n.text[0] == 's'));
    bool right = (n.length == 1 && n.text[0] == 'r') || (n.length == 5 && memcmp(n.text, "right", 5) == 0) ||
                 (has_cross && (n.text[0] == 'r' || n.text[0] == 'd'));
    return left ? PZ_LEFT : right ? PZ_RIGHT : PZ_MIDDLE;
}

// Words that say nothing of the place.
static bool is_filler(const char *text, size_t length)
{
    return (length == 5 && memcmp(text, "study", 5) == 0) || (length == 6 && memcmp(text, "marker", 6) == 0);
}

// A label whose side is a word of its own: "R.Knee", "Knee_Left", "KneeR". False when it has none, or two.
static bool read_words(const char *label, reading *r)
{
    const char *colon = strrchr(label, ':'), *c = colon ? colon + 1 : label;
    int sides = 0;
    *r = (reading){.side = PZ_MIDDLE};
    while (*c) {
        const char *begin = c;
        do {
            ++c;
        } while (*c && !is_boundary(c));
        size_t length = (size_t)(c - begin);
        pz_side side = side_of_word(begin, length);
        if (side != PZ_MIDDLE) {
            r->side = side;
            sides += 1;
        } else if (!is_filler(begin, length)) {
            for (size_t i = 0; i < length && r->name.length + 1 < PZ_NAME_LONGEST; ++i) {
                char lower = is_upper(begin[i]) ? (char)(begin[i] - 'A' + 'a') : begin[i];
                if (is_lower(lower) || is_digit(lower)) {
                    r->name.text[r->name.length++] = lower;
                }
            }
        }
    }
    return sides == 1 && r->name.length > 0;
}

// Take a side off the beginning or end of a name.
static bool take_side(const pz_plain_name *name, const char *text, pz_side side, bool at_end, reading *r)
{
    size_t length = strlen(text);
    if (name->length <= length || memcmp(name->text + (at_end ? name->length - length : 0), text, length) != 0) {
        return false;
    }
    r->side = side;
    r->name.length = name->length - length;
    memcpy(r->name.text, name->text + (at_end ? 0 : length), r->name.length);
    return true;
}

// All ways to read a label, the likeliest first; returns how many.
static int read_label(const char *label, reading readings[READINGS])
{
    int count = read_words(label, &readings[0]);
    reading whole;
    read_words(label, &whole); // without fillers
    pz_plain_name plain = whole.side == PZ_MIDDLE ? whole.name : pz_plain_name_of(label);
    readings[count++] = (reading){plain, PZ_MIDDLE};
    count += take_side(&plain, "left", PZ_LEFT, false, &readings[count]);
    count += take_side(&plain, "right", PZ_RIGHT, false, &readings[count]);
    count += take_side(&plain, "left", PZ_LEFT, true, &readings[count]);
    count += take_side(&plain, "right", PZ_RIGHT, true, &readings[count]);
    count += take_side(&plain, "l", PZ_LEFT, false, &readings[count]);
    count += take_side(&plain, "r", PZ_RIGHT, false, &readings[count]);
    return count;
}

// How much all labels have in common at their beginning: a subject, or the side of a recording of one. Points that were not
// labelled do not count; 0 where there are too few to tell.
static size_t common_start(const poise_markers *markers)
{
    const char *first = NULL;
    size_t length = 0;
    int count = 0;
    for (int i = 0; markers && i < markers->count; ++i) {
        const char *label = markers->label[i];
        if (!is_upper(*label) && !is_lower(*label)) {
            continue;
        }
        length = first ? length : strlen(label);
        first = first ? first : label;
        count += 1;
        for (size_t k = 0; k < length; ++k) {
            length = label[k] == first[k] ? length : k;
        }
    }
    return count < FEW_LABELS ? 0 : length;
}

// The ways to read a label of a recording, those without what all its labels begin with last.
static int read_among(const pz_marker_table *t, const char *label, reading readings[2 * READINGS])
{
    int count = read_label(label, readings);
    size_t common = common_start(t->markers);
    return common > 0 && strlen(label) > common ? count + read_label(label + common, readings + count) : count;
}

// Is the name that of a word of the table, without case and punctuation? # stands for digits.
static bool is_named(const pz_plain_name *name, word w)
{
    size_t i = 0;
    for (size_t k = 0; k < w.length; ++k) {
        char lower = is_upper(w.text[k]) ? (char)(w.text[k] - 'A' + 'a') : w.text[k];
        if (lower == '#') {
            size_t digits = 0;
            for (; i < name->length && is_digit(name->text[i]); ++i) {
                digits += 1;
            }
            return digits > 0 && i == name->length;
        }
        if (!is_lower(lower) && !is_digit(lower)) {
            continue;
        }
        if (i == name->length || name->text[i++] != lower) {
            return false;
        }
    }
    return i == name->length;
}

// ---- Looking up ----------------------------------------------------------------------------------------------------------

static bool has_label(const poise_markers *markers, word w)
{
    for (int i = 0; markers && i < markers->count; ++i) {
        pz_plain_name n = pz_plain_name_of(markers->label[i]);
        if (is_named(&n, w)) {
            return true;
        }
    }
    return false;
}

// Do the rows below this line "set" hold?
static bool set_holds(const pz_marker_table *t, const line *l)
{
    char mode = 0;
    for (int i = 1; i < l->count; ++i) {
        word w = l->words[i];
        if (word_is(w, "if") || word_is(w, "on")) {
            mode = w.text[0];
        } else if ((mode == 'i' && !has_label(t->markers, w)) ||
                   (mode == 'o' && !(t->model && pz_model_has_body(t->model, w.text, w.length)))) {
            return false;
        }
    }
    return true;
}

// Parts of the middle have a side where the row lies beside it.
static bool row_has_side(const pz_marker_row *row)
{
    return pz_part_has_sides(row->part) || row->offset[2] != 0.0;
}

// Do the words before the part name the reading?
static bool line_names(const line *l, const reading *r)
{
    for (int i = 0; i < l->count - NUMBERS - 1; ++i) {
        if (is_named(&r->name, l->words[i])) {
            return true;
        }
    }
    return false;
}

// May a marker of this side have this row?
static bool row_serves(const pz_marker_row *row, pz_side side)
{
    // a row at the hips serves the middle and, at its hip, either side; so does a cluster anywhere on the trunk
    bool may_have_either = row->part == PZ_PELVIS || (!pz_part_has_sides(row->part) && row->across >= CLUSTER);
    return row_has_side(row) == (side != PZ_MIDDLE) || (may_have_either && !row_has_side(row));
}

// The first row of the likeliest of the first *count readings; *count becomes the number of that reading.
static void find_in(const pz_marker_table *t, const char *text, const reading *readings, int *count, pz_marker_row *row)
{
    line set = {.count = 0};
    while (text && *text && *count > 0) {
        line l = next_line(&text);
        if (l.count > 0 && word_is(l.words[0], "set")) {
            set = l;
            continue;
        }
        for (int k = 0; k < *count; ++k) {
            pz_marker_row found;
            if (line_names(&l, &readings[k]) && read_row(&l, &found) && row_serves(&found, readings[k].side) &&
                set_holds(t, &set)) {
                *row = found;
                row->side = readings[k].side;
                *count = k;
            }
        }
    }
}

bool pz_marker_table_find(const pz_marker_table *table, const char *label, pz_marker_row *row)
{
    reading readings[2 * READINGS];
    int count = read_among(table, label, readings), best = count;
    find_in(table, table->own, readings, &best, row);
    bool is_own = best < count;
    for (int i = 0; i < MARKER_SETS && !is_own; ++i) {
        find_in(table, marker_sets[i], readings, &best, row);
    }
    return best < count;
}

// Are the two the names of this line "stiff": of one side, or of both where it has one name twice?
static bool are_stiff(const line *l, const reading *a, const reading *b)
{
    bool is_one =
        l->words[1].length == l->words[2].length && memcmp(l->words[1].text, l->words[2].text, l->words[1].length) == 0;
    return a->side != PZ_MIDDLE && b->side != PZ_MIDDLE && (a->side == b->side) != is_one &&
           is_named(&a->name, l->words[1]) && is_named(&b->name, l->words[2]);
}

static bool stiff_in(const char *text, const reading *a, int na, const reading *b, int nb)
{
    while (text && *text) {
        line l = next_line(&text);
        for (int k = 0; k < na * nb && l.count == 3 && word_is(l.words[0], "stiff"); ++k) {
            if (are_stiff(&l, &a[k / nb], &b[k % nb])) {
                return true;
            }
        }
    }
    return false;
}

bool pz_marker_table_stiff(const pz_marker_table *table, const char *a, const char *b)
{
    reading ra[2 * READINGS], rb[2 * READINGS];
    int na = read_among(table, a, ra), nb = read_among(table, b, rb);
    return stiff_in(table->own, ra, na, rb, nb) || stiff_in(marker_sets[STIFF_SET], ra, na, rb, nb);
}

bool pz_labels_mirror(const char *a, const char *b)
{
    reading ra[READINGS], rb[READINGS];
    int na = read_label(a, ra), nb = read_label(b, rb);
    for (int i = 0; i < na * nb; ++i) {
        const reading *x = &ra[i / nb], *y = &rb[i % nb];
        if (x->side + y->side == PZ_LEFT + PZ_RIGHT && x->side != y->side && x->side != PZ_MIDDLE && y->side != PZ_MIDDLE &&
            x->name.length == y->name.length && memcmp(x->name.text, y->name.text, x->name.length) == 0) {
            return true;
        }
    }
    return false;
}

// One of four labels LFEO, LFEA, LFEL, LFEP?
static bool is_frame(const poise_markers *markers, const char *label)
{
    static const char ends[] = "OALP";
    char other[PZ_NAME_LONGEST];
    size_t length = strlen(label);
    if (length < 2 || length >= sizeof other || !strchr(ends, label[length - 1])) {
        return false;
    }
    memcpy(other, label, length + 1);
    bool is_whole = true;
    for (int i = 0; i < 4 && is_whole; ++i) {
        other[length - 1] = ends[i];
        is_whole = poise_markers_find(markers, other) >= 0;
    }
    return is_whole;
}

bool pz_label_is_computed(const poise_markers *markers, const char *label)
{
    static const char *const words[] = {"angle", "force", "moment", "power", "centreofmass", "centerofmass"};
    pz_plain_name plain = pz_plain_name_of(label);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        size_t length = strlen(words[i]);
        for (size_t k = 0; k + length <= plain.length; ++k) {
            if (memcmp(plain.text + k, words[i], length) == 0) {
                return true;
            }
        }
    }
    return is_frame(markers, label);
}

#define FIGURE_LOOKS 50  // frames examined
#define CLEAR        1.5 // times as far along one axis as along others: that one is up

// What is as large as a person, in metres: from toes to the head or shoulders, to the hips, from these to the head, and markers
// without a name.
#define WHOLE 1.65
#define LOWER 1.0
#define UPPER 0.7

// ---- Up ------------------------------------------------------------------------------------------------------------------

// How high a part is when a person stands: 2 head and shoulders, 1 hips, 0 feet; -1 does not tell.
static int pz_height_of(pz_part part)
{
    return part == PZ_HEAD || part == PZ_THORAX || part == PZ_CLAVICLE ? 2
           : part == PZ_PELVIS                                         ? 1
           : part == PZ_FOOT || part == PZ_SHANK                       ? 0
                                                                       : -1;
}

static int look(const poise_markers *markers, int i)
{
    int looks = markers->frames < FIGURE_LOOKS ? markers->frames : FIGURE_LOOKS;
    return i < looks ? (int)((int64_t)i * markers->frames / looks) : -1;
}

// In one frame; false when only one height is seen.
static bool upwards_in(const poise_markers *markers, const int *height, int frame, vec3 *difference)
{
    vec3 sum[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    int seen[3] = {0, 0, 0};
    const poise_vec3 *row = markers->position + (size_t)frame * (size_t)markers->count;
    for (int i = 0; i < markers->count; ++i) {
        if (height[i] >= 0 && poise_markers_seen(markers, frame, i)) {
            sum[height[i]] = v3_add(sum[height[i]], row[i]);
            seen[height[i]] += 1;
        }
    }
    int low = seen[0] > 0 ? 0 : 1, high = seen[2] > 0 ? 2 : 1;
    if (low == high || seen[low] == 0 || seen[high] == 0) {
        return false;
    }
    *difference = v3_sub(v3_scale(sum[high], 1.0 / seen[high]), v3_scale(sum[low], 1.0 / seen[low]));
    return true;
}

// From the lowest of the heights that are seen to the highest, summed over some frames; 0 where nothing tells. `height` is
// by marker.
static vec3 pz_upwards(const poise_markers *markers, const int *height)
{
    vec3 sum = v3(0, 0, 0), difference;
    for (int i = 0, frame; (frame = look(markers, i)) >= 0; ++i) {
        if (upwards_in(markers, height, frame, &difference)) {
            sum = v3_add(sum, difference);
        }
    }
    return sum;
}

// The axis that a direction points along, clearly and not backwards.
static poise_up pz_axis_of(vec3 u)
{
    double x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
    return u.x > CLEAR * max2(y, z)   ? POISE_UP_X
           : u.y > CLEAR * max2(x, z) ? POISE_UP_Y
           : u.z > CLEAR * max2(x, y) ? POISE_UP_Z
                                      : POISE_UP_UNKNOWN;
}

// ---- How large -----------------------------------------------------------------------------------------------------------

// The middle over some frames of how far the markers of these heights reach along each axis; `height` NULL: all of them.
static vec3 extent_of(const poise_markers *markers, const int *height)
{
    double reach[3][FIGURE_LOOKS], middle[3] = {0, 0, 0};
    int looks = 0;
    for (int i = 0, frame; (frame = look(markers, i)) >= 0; ++i) {
        vec3 low = v3(INFINITY, INFINITY, INFINITY), high = v3(-INFINITY, -INFINITY, -INFINITY);
        for (int k = 0; k < markers->count; ++k) {
            if ((!height || height[k] >= 0) && poise_markers_seen(markers, frame, k)) {
                vec3 p = markers->position[(size_t)frame * (size_t)markers->count + (size_t)k];
                low = v3(min2(low.x, p.x), min2(low.y, p.y), min2(low.z, p.z));
                high = v3(max2(high.x, p.x), max2(high.y, p.y), max2(high.z, p.z));
            }
        }
        double far[3] = {high.x - low.x, high.y - low.y, high.z - low.z};
        for (int axis = 0; axis < 3 && far[0] >= 0; ++axis) { // sorted as they come
            int at = looks;
            for (; at > 0 && reach[axis][at - 1] > far[axis]; --at) {
                reach[axis][at] = reach[axis][at - 1];
            }
            reach[axis][at] = far[axis];
        }
        looks += far[0] >= 0;
    }
    for (int axis = 0; axis < 3 && looks > 0; ++axis) {
        middle[axis] = reach[axis][looks / 2];
    }
    return v3(middle[0], middle[1], middle[2]);
}

// The unit that makes `height` as large as `metres`, to a factor of 2.5; 0: none. Inches only where it is known what stands
// there, since a child in centimetres is as many as an adult in inches.
static double unit_of(double height, double metres, bool is_known)
{
    static const double units[] = {1.0, 0.01, 0.001, 0.0254, PZ_ACCLAIM_INCH};
    double best = 0.0, least = 2.5;
    for (int i = 0; i < (is_known ? 5 : 3); ++i) {
        double ratio = height * units[i] / metres, off = max2(ratio, 1.0 / ratio);
        if (off < least) {
            least = off;
            best = units[i];
        }
    }
    return best;
}

static double along(vec3 v, poise_up up)
{
    return up == POISE_UP_X ? v.x : up == POISE_UP_Y ? v.y : v.z;
}

static poise_figure figure_of(const poise_markers *markers, const int *height)
{
    bool seen[3] = {false, false, false};
    for (int i = 0; i < markers->count; ++i) {
        if (height[i] >= 0) {
            seen[height[i]] = true;
        }
    }
    poise_figure f = {.is_named = seen[0] + seen[1] + seen[2] >= 2};
    vec3 reach = extent_of(markers, f.is_named ? height : NULL);
    vec3 upwards = f.is_named ? pz_upwards(markers, height) : reach;
    f.up = pz_axis_of(upwards);
    if (f.up == POISE_UP_UNKNOWN) {
        f.up = pz_axis_of(v3_scale(upwards, -1.0));
        f.is_upside_down = f.up != POISE_UP_UNKNOWN;
    }
    f.height = f.up != POISE_UP_UNKNOWN ? along(reach, f.up) : max2(reach.x, max2(reach.y, reach.z));
    double usual = !f.is_named || (seen[0] && seen[2]) ? WHOLE : seen[0] ? LOWER : UPPER;
    f.metres = f.height > 0 ? unit_of(f.height, usual, f.is_named) : 0.0;
    return f;
}

static bool is_there(const poise_markers *markers, int marker)
{
    bool is_seen = false;
    for (int i = 0, frame; !is_seen && (frame = look(markers, i)) >= 0; ++i) {
        is_seen = poise_markers_seen(markers, frame, marker);
    }
    return is_seen;
}

// By their names. Where nothing is seen of hips and what is above them, thighs are above feet.
static void find_heights(const poise_markers *markers, int *height)
{
    pz_marker_table table = {NULL, NULL, markers};
    int highest = -1;
    for (int i = 0; i < markers->count; ++i) {
        pz_marker_row row;
        bool is_known = pz_marker_table_find(&table, markers->label[i], &row) && is_there(markers, i);
        height[i] = is_known ? pz_height_of(row.part) : -1;
        highest = height[i] > highest ? height[i] : highest;
    }
    for (int i = 0; i < markers->count && highest == 0; ++i) {
        pz_marker_row row;
        bool is_thigh = pz_marker_table_find(&table, markers->label[i], &row) && row.part == PZ_THIGH;
        height[i] = is_thigh && is_there(markers, i) ? 1 : height[i];
    }
}

poise_status poise_markers_figure(const poise_markers *markers, poise_figure *figure, poise_error *error)
{
    if (!markers || !figure) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "markers and figure must not be NULL");
    }
    const poise_allocator *allocator = markers->has_allocator ? &markers->allocator : NULL;
    int *height = pz_allocate(allocator, ((size_t)markers->count + 1) * sizeof *height);
    if (!height) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    find_heights(markers, height);
    *figure = figure_of(markers, height);
    pz_release(allocator, height);
    return POISE_OK;
}

poise_status poise_model_figure(const poise_model *model, poise_figure *figure, poise_error *error)
{
    pz_anatomy anatomy;
    if (!model || !figure) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and figure must not be NULL");
    }
    if (pz_anatomy_of(model, NULL, &anatomy) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    poise_figure f = {.is_named = anatomy.stature > 0, .height = anatomy.stature, .up = POISE_UP_UNKNOWN};
    if (f.is_named) {
        f.up = pz_axis_of(anatomy.up);
        f.metres = unit_of(f.height, WHOLE, true);
    }
    *figure = f;
    return POISE_OK;
}

// ---- Places --------------------------------------------------------------------------------------------------------------

#define LOOKS    50   // frames in which distances are measured
#define SURE     25.0 // thousandths of the stature: places that deviate by less tell a size
#define EDGE     0.05 // of the size: distances that differ by more pull no more
#define ROUNDS   50
#define AT_END   0.93   // of a bone: there it turns against the next one
#define SHARE    0.5    // of its deviation in the table: what a place is off by (uncertainty.c)
#define PARTED   0.03   // of a bone's length: what it deviates by from those of a person of this size
#define LEAST    0.08   // of the stature: shorter distances tell no size
#define PARTS_OF 1000.0 // of the stature: a unit of the table

// A marker that was placed.
typedef struct placed {
    int marker, body;
    pz_part part;
    bool is_sure;    // its place is known well enough to tell a size
    bool is_at_end;  // of its bone: as far from what is on the next one, however that is turned
    int side;        // pz_side
    double variance; // of that place
    vec3 world;      // in the neutral configuration
    vec3 pull;       // d size/d place
} placed;

typedef struct placing {
    const poise_model *model;
    const poise_markers *markers;
    pz_marker_table table;
    pz_anatomy anatomy;
    poise_kinematics *kin; // at the neutral configuration
    placed *placed;
    int count;
} placing;

static vec3 to_local(const poise_kinematics *kin, int body, vec3 direction)
{
    return poise_quat_rotate(poise_quat_conjugate(poise_kinematics_body_pose(kin, body).rotation), direction);
}

// The place of a row on its part, and how sure it is.
static poise_place_prior prior_of(const placing *p, const pz_segment *part, const pz_marker_row *row, vec3 *world)
{
    double unit = p->anatomy.stature / PARTS_OF;
    vec3 at = v3_mad(part->origin, row->from, v3_sub(part->end, part->origin));
    for (int i = 0; i < 3; ++i) {
        at = v3_mad(at, unit * row->offset[i], part->axis[i]);
    }
    *world = at;
    vec3 origin = poise_kinematics_body_pose(p->kin, part->body).position;
    return (poise_place_prior){.place = to_local(p->kin, part->body, v3_sub(at, origin)),
                               .axis = to_local(p->kin, part->body, part->axis[0]),
                               .outward = to_local(p->kin, part->body, part->axis[2]),
                               .along = unit * row->along,
                               .across = unit * row->across};
}

// Is there an earlier marker of this label?
static bool is_repeated(const poise_markers *markers, int marker)
{
    return poise_markers_find(markers, markers->label[marker]) != marker;
}

static void place_all(placing *p, poise_placement *placements, poise_place_prior *priors, int capacity)
{
    for (int i = 0; i < p->markers->count; ++i) {
        const char *label = p->markers->label[i];
        pz_marker_row row;
        if (!pz_marker_table_find(&p->table, label, &row) || is_repeated(p->markers, i) ||
            pz_label_is_computed(p->markers, label)) {
            continue;
        }
        const pz_segment *part = &p->anatomy.part[row.part][row.side];
        if (part->body < 0) {
            continue;
        }
        placed made = {.marker = i, .body = part->body, .part = row.part, .side = (int)row.side};
        made.is_at_end = row.from >= AT_END;
        poise_place_prior prior = {.place = {NAN, NAN, NAN}};
        if (p->anatomy.stature > 0) {
            prior = prior_of(p, part, &row, &made.world);
            made.is_sure = row.along <= SURE && row.across <= SURE;
            made.variance = prior.along * prior.along + 2.0 * prior.across * prior.across;
        }
        if (p->count < capacity && placements) {
            placements[p->count] = (poise_placement){label, part->body, prior.place, 1.0};
        }
        if (p->count < capacity && priors) {
            priors[p->count] = prior;
        }
        p->placed[p->count++] = made;
    }
}

// ---- Size by places ------------------------------------------------------------------------------------------------------

// A number that counts by its weight.
typedef struct weighted {
    double value, weight;
} weighted;

// The middle one of n > 0 numbers: the least whose weight, with that of those below, is half of all.
static double middle_of(const weighted *x, int n)
{
    double all = 0.0, best = INFINITY;
    for (int i = 0; i < n; ++i) {
        all += x[i].weight;
    }
    for (int i = 0; i < n; ++i) {
        double below = 0.0;
        for (int k = 0; k < n; ++k) {
            below += x[k].value <= x[i].value ? x[k].weight : 0.0;
        }
        best = below >= 0.5 * all ? min2(best, x[i].value) : best;
    }
    return best;
}

// Huber's mean of n > 0 numbers, from a first guess on: one that is `edge` off, or farther, pulls as one that is.
static double robust_mean(const weighted *x, int n, double mean)
{
    double edge = EDGE * mean;
    for (int round = 0; round < ROUNDS; ++round) {
        double sum = 0.0, weights = 0.0;
        for (int i = 0; i < n; ++i) {
            double off = x[i].value - mean, w = x[i].weight * (off > edge ? edge / off : off < -edge ? -edge / off : 1.0);
            sum += w * x[i].value;
            weights += w;
        }
        mean = sum / weights;
    }
    return mean;
}

// The median distance of two markers over some frames; 0 when they are never seen together.
static double distance_of(const poise_markers *m, int a, int b)
{
    weighted seen[LOOKS];
    int count = 0, looks = m->frames < LOOKS ? m->frames : LOOKS;
    for (int i = 0; i < looks; ++i) {
        int frame = (int)((int64_t)i * m->frames / looks);
        if (poise_markers_seen(m, frame, a) && poise_markers_seen(m, frame, b)) {
            const poise_vec3 *row = m->position + (size_t)frame * (size_t)m->count;
            seen[count++] = (weighted){v3_norm(v3_sub(row[a], row[b])), 1.0};
        }
    }
    return count > 0 ? middle_of(seen, count) : 0.0;
}

// Is one at the end of a bone, and the other on the next one?
static bool share_joint(const placed *a, const placed *b)
{
    bool are_next = (a->part == PZ_THIGH && b->part == PZ_SHANK) || (a->part == PZ_SHANK && b->part == PZ_FOOT) ||
                    (a->part == PZ_UPPER_ARM && (b->part == PZ_FOREARM || b->part == PZ_WRIST));
    return are_next && a->is_at_end && a->side == b->side;
}

// Do these two keep their distance, and is it long and sure enough to tell a size?
static bool tells_size(const placing *p, const placed *a, const placed *b)
{
    const char *const *label = p->markers->label;
    return a->is_sure && b->is_sure && v3_norm(v3_sub(a->world, b->world)) >= LEAST * p->anatomy.stature &&
           (a->body == b->body || share_joint(a, b) || share_joint(b, a) ||
            pz_marker_table_stiff(&p->table, label[a->marker], label[b->marker]) ||
            pz_marker_table_stiff(&p->table, label[b->marker], label[a->marker]));
}

// How sure the size is. It is a mean of ratios, r = |x_a - x_b|/d, whose weights are w/sum w, so that a place that is off
// by e moves it by pull . e. Who attaches markers does the same on both sides: twins are off alike. Each bone has its own
// share of what people's proportions deviate by. Where the ratios disagree by more than that explains, they are all off by
// as much more.
//
//   Var s = (sum (|pull_a| + |pull_twin|)^2 v_a + sum (share of a bone)^2 PARTED^2) max(1, chi^2)
static double size_deviation(const placing *p, double misfit)
{
    double variance = 0.0, bones[PZ_PART_COUNT] = {0};
    for (int i = 0; i < p->count; ++i) {
        const placed *a = &p->placed[i];
        double both = v3_norm(a->pull);
        bool is_second = false;
        for (int k = 0; k < p->count; ++k) {
            if (k != i && pz_labels_mirror(p->markers->label[a->marker], p->markers->label[p->placed[k].marker])) {
                both += v3_norm(p->placed[k].pull);
                is_second = is_second || k < i;
            }
        }
        variance += is_second ? 0.0 : both * both * SHARE * SHARE * a->variance / 3.0;
        bones[a->part] += 0.5 * v3_norm(a->pull) * p->anatomy.stature;
    }
    double all = 0.0, squares = 0.0;
    for (int i = 0; i < PZ_PART_COUNT; ++i) {
        all += bones[i];
        squares += bones[i] * bones[i];
    }
    variance += all > 0.0 ? PARTED * PARTED * squares / (all * all) : 0.0;
    return sqrt(variance * max2(misfit, 1.0));
}

// The size, over pairs of markers that keep their distance, of the recorded distance against that of their places; a pair
// counts by the square of its distance over the deviation of that. From the weighted median on, the mean in which a pair far
// off counts as one at the edge does (Huber's): no single marker moves it far, none makes it leap.
static poise_status size_of(placing *p, const poise_allocator *allocator, poise_places_report *report)
{
    size_t sure = 0;
    for (int i = 0; i < p->count; ++i) {
        sure += p->placed[i].is_sure;
    }
    weighted *ratio = pz_allocate(allocator, (sure * sure / 2 + 1) * sizeof *ratio);
    if (!ratio) {
        return POISE_ERROR_MEMORY;
    }
    double all = 0.0, misfit = 0.0;
    for (int i = 0; i < p->count; ++i) {
        for (int k = 0; k < i; ++k) {
            placed *a = &p->placed[k], *b = &p->placed[i];
            double seen = tells_size(p, a, b) ? distance_of(p->markers, a->marker, b->marker) : 0.0;
            if (seen > 0) {
                vec3 apart = v3_sub(a->world, b->world);
                double nominal = v3_norm(apart), weight = nominal * nominal / (a->variance + b->variance);
                ratio[report->pairs++] = (weighted){seen / nominal, weight};
                a->pull = v3_mad(a->pull, weight / (nominal * nominal), apart);
                b->pull = v3_mad(b->pull, -weight / (nominal * nominal), apart);
                all += weight;
            }
        }
    }
    report->size = report->pairs > 0 ? robust_mean(ratio, report->pairs, middle_of(ratio, report->pairs)) : 0.0;
    for (int i = 0; i < report->pairs; ++i) {
        double off = ratio[i].value / report->size - 1.0;
        misfit += off * off / (SHARE * SHARE / (3.0 * ratio[i].weight) + PARTED * PARTED) / report->pairs;
    }
    for (int i = 0; i < p->count; ++i) {
        p->placed[i].pull = v3_scale(p->placed[i].pull, all > 0.0 ? 1.0 / all : 0.0);
    }
    report->deviation = report->pairs > 0 ? report->size * size_deviation(p, misfit) : 0.0;
    pz_release(allocator, ratio);
    return POISE_OK;
}

// ---- Upwards by places, and the call -------------------------------------------------------------------------------------

// Which way the person stands, by the markers that were placed.
static poise_status up_of(const placing *p, const poise_allocator *allocator, poise_places_report *report)
{
    int *height = pz_allocate(allocator, ((size_t)p->markers->count + 1) * sizeof *height);
    if (!height) {
        return POISE_ERROR_MEMORY;
    }
    for (int i = 0; i < p->markers->count; ++i) {
        height[i] = -1;
    }
    for (int i = 0; i < p->count; ++i) {
        height[p->placed[i].marker] = pz_height_of(p->placed[i].part);
    }
    report->up = pz_axis_of(pz_upwards(p->markers, height));
    pz_release(allocator, height);
    return POISE_OK;
}

poise_status poise_places_by_name(const poise_model *model, const poise_markers *markers, const char *table,
                                  poise_placement *placements, poise_place_prior *priors, int capacity,
                                  poise_places_report *report, poise_error *error)
{
    if (!model || !markers || capacity < 0) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model and markers must not be NULL, capacity not negative");
    }
    poise_status status = check_table(table, error);
    if (status != POISE_OK) {
        return status;
    }
    const poise_allocator *allocator = markers->has_allocator ? &markers->allocator : NULL;
    placing p = {.model = model, .markers = markers, .table = {table, model, markers}};
    size_t count = (size_t)markers->count + 1;
    p.placed = pz_allocate(allocator, count * sizeof *p.placed);
    if (!p.placed || pz_anatomy_of(model, allocator, &p.anatomy) != POISE_OK ||
        poise_kinematics_create(model, allocator, &p.kin, NULL) != POISE_OK) {
        status = POISE_ERROR_MEMORY;
    } else {
        place_all(&p, placements, priors, capacity);
        poise_places_report made = {.placed = p.count, .stature = p.anatomy.stature, .model_up = pz_axis_of(p.anatomy.up)};
        status = up_of(&p, allocator, &made);
        status = status == POISE_OK ? size_of(&p, allocator, &made) : status;
        if (status == POISE_OK && report) {
            *report = made;
        }
        poise_kinematics_destroy(p.kin);
    }
    pz_release(allocator, p.placed);
    return status == POISE_OK ? status : pz_error_set(error, status, "out of memory");
}
