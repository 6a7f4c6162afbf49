// Markers by name: every spelling of a label, tables of one's own, places that follow the body.
#include "motion/named_figures.h"
#include "motion/places.h"
#include "support/own.h"
#include "support/test_main.h"

#include <poise/track.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

static poise_model *humanoid(void)
{
    poise_model *model = NULL;
    ck_assert_int_eq(scene_create("humanoid", NULL, &model, NULL), POISE_OK);
    return own_model(model);
}

static poise_markers *labelled(const char *const *labels, int count)
{
    poise_markers *markers = NULL;
    ck_assert_int_eq(poise_markers_create(1, count, 100.0, labels, NULL, &markers, NULL), POISE_OK);
    return markers;
}

// ---- Labels --------------------------------------------------------------------------------------------------------------

static const struct {
    const char *label, *body; // NULL: no place
} spellings[] = {
    {"RKNE", "right_thigh"},
    {"R.Knee", "right_thigh"},
    {"Right_Knee", "right_thigh"},
    {"KneeR", "right_thigh"},
    {"knee_r", "right_thigh"},
    {"RightKnee", "right_thigh"},
    {"rightknee", "right_thigh"},
    {"kneeright", "right_thigh"},
    {"leftknee", "left_thigh"},
    {"kneeleft", "left_thigh"},
    {"Anna:RKNE", "right_thigh"},
    {"R Knee Lat", "right_thigh"},
    {"r_knee_study", "right_thigh"}, // OpenCap
    {"r_mankle_study", "right_shin"},
    {"r_shoulder_study", "right_clavicle"},
    {"ASISr", "pelvis"},
    {"HEELl", "left_foot"},
    {"HEEL", NULL}, // whose?
    {"XIPH", "thorax"},
    {"RKNE_med", "right_thigh"},
    {"LANK_lat", "left_shin"},
    {"L_HEEL", "left_foot"},
    {"L_calc_study", "left_foot"},
    {"C7_study", "thorax"},
    {"r.ASIS_study", "pelvis"},
    {"LASI", "pelvis"}, // Plug-in Gait
    {"SACR", "pelvis"},
    {"T10", "thorax"},
    {"CLAV", "thorax"},
    {"LSHO", "left_clavicle"},
    {"RWRA", "right_radius"},
    {"LFIN", "left_hand"},
    {"LBHD", "head"},
    {"RTIB", "right_shin"},
    {"RHEE", "right_foot"},
    {"LTH3", "left_thigh"}, // clusters
    {"RSK1", "right_shin"},
    {"ArmL1", "left_upper_arm"},
    {"ForearmR2", "right_ulna"},
    {"PV1", "pelvis"},
    {"RLFC", "right_thigh"}, // Calibrated Anatomical System Technique and OpenSim
    {"LMMAL", "left_shin"},
    {"RHJC", "pelvis"},
    {"R.Thigh.Front", "right_thigh"}, // gait2354
    {"L.Midfoot.Sup", "left_foot"},
    {"R.Acromium", "right_clavicle"},
    {"Top.Head", "head"},
    {"V.Sacral", "pelvis"},
    {"LateralEpicondyleL", "left_upper_arm"},
    {"R_EpiLat", "right_upper_arm"},
    {"EpiMed_L", "left_upper_arm"},
    {"RUUPA", "right_upper_arm"}, // a cluster
    {"LDUPA", "left_upper_arm"},
    {"LFOO", "left_foot"},
    {"R_FootLateral", "right_foot"},
    {"RFAradius", "right_radius"},
    {"L_wrist_radius", "left_radius"}, // OpenCap's laboratory
    {"R_wrist_ulna", "right_radius"},
    {"R_humerus", "right_upper_arm"},
    {"L_Sternum", "thorax"},
    {"r_shank_antsup", "right_shin"},
    {"RWR", "right_radius"}, // sprinters
    {"LARM", "left_upper_arm"},
    {"RTHAP", "right_thigh"},
    {"LTILAT", "left_shin"},
    {"RP5MT", "right_foot"},
    {"RSH", NULL}, // a shoulder or a shank
    {"LMKN", "left_thigh"},
    {"RLAK", "right_shin"},
    {"R.TibTubercle", "right_shin"},
    {"R.Clavicle", "thorax"},
    {"RxShould", "right_clavicle"}, // sides with an x
    {"LxLatCon", "left_thigh"},
    {"LatMalDx", "right_shin"},
    {"Knee_sx", "left_thigh"},
    {"Psis", "pelvis"}, // of both sides
    {"LTH", "left_thigh"},
    {"RSK", "right_shin"},
    {"ARIEL", "head"}, // Vicon's 53
    {"LOWR", "left_radius"},
    {"LIWR", "left_radius"},
    {"LIHAND", "left_hand"},
    {"RHEL", "right_foot"},
    {"L_UHE", "left_radius"}, // Van Sint Jan's landmarks
    {"R_TTC", "right_shin"},
    {"SXS", "thorax"},
    {"LMALM", "left_shin"},
    {"RCUBL", "right_upper_arm"},
    {"R_MTP5", "right_foot"},
    {"RMELB", "right_upper_arm"}, // throwers
    {"l_knjntln", "left_thigh"},
    {"r_tubtib", "right_shin"},
    {"th12", "pelvis"},
    {"HEEL", NULL}, // of which side?
    {"LHipAngles", NULL},
    {"LFEO", NULL},
    {"*12", NULL},
    {"Probe1", NULL},
    {"", NULL},
};

TEST_ROWS(labels_find_their_bodies_however_they_are_spelt, TEST_COUNT(spellings))
{
    const poise_model *model = humanoid();
    poise_markers *markers = labelled(&spellings[test_row].label, 1);
    poise_placement placement;
    poise_place_prior prior;
    poise_places_report report;
    ck_assert_int_eq(poise_places_by_name(model, markers, NULL, &placement, &prior, 1, &report, NULL), POISE_OK);
    ck_assert_msg(report.placed == (spellings[test_row].body != NULL), "%s", spellings[test_row].label);
    if (report.placed == 1) {
        const char *body = poise_model_joint_info(model, placement.body).body;
        ck_assert_msg(strcmp(body, spellings[test_row].body) == 0, "%s on %s", spellings[test_row].label, body);
        ck_assert(isfinite(placement.local.x) && placement.local.x == prior.place.x && prior.along > 0 && prior.across > 0);
    }
    poise_markers_destroy(markers);
}

TEST(what_all_labels_begin_with_may_be_left_away)
{
    static const char *const labels[] = {"LRFHD",  "LLFHD",  "LCLAV",  "LCV7", "LR_IAS", "LL_IAS",
                                         "LR_FLE", "LL_FLE", "LR-SK1", "*12",  "LLUA1"}; // one person, "L" before all
    static const char *const bodies[] = {"head",   "head",        "thorax",     "thorax",     "pelvis",
                                         "pelvis", "right_thigh", "left_thigh", "right_shin", "left_upper_arm"};
    const poise_model *model = humanoid();
    poise_placement placements[TEST_COUNT(labels)];
    poise_places_report report;
    poise_markers *markers = labelled(labels, TEST_COUNT(labels));
    ck_assert_int_eq(poise_places_by_name(model, markers, NULL, placements, NULL, TEST_COUNT(labels), &report, NULL),
                     POISE_OK);
    ck_assert_int_eq(report.placed, TEST_COUNT(bodies));
    for (int i = 0; i < report.placed; ++i) {
        ck_assert_str_eq(poise_model_joint_info(model, placements[i].body).body, bodies[i]);
    }
    poise_markers_destroy(markers);
}

TEST(epicondyles_are_the_knee_s_where_the_elbow_has_another_name)
{
    static const char *const labels[] = {"RLEPI", "RELB", "RSH"};
    const poise_model *model = humanoid();
    poise_placement placements[3];
    poise_places_report report;
    poise_markers *markers = labelled(labels, 3);
    ck_assert_int_eq(poise_places_by_name(model, markers, NULL, placements, NULL, 3, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.placed, 3);
    ck_assert_str_eq(poise_model_joint_info(model, placements[0].body).body, "right_thigh");
    ck_assert_str_eq(poise_model_joint_info(model, placements[2].body).body, "right_clavicle");
    poise_markers_destroy(markers);
}

// Names that mean something else in their sets than elsewhere.
static const struct {
    const char *labels[3], *body; // that of the first
} of_sets[] = {
    {{"RTH", "RIN", "RPN"}, "right_hand"},   {{"LEpiMed", "REpiLat", "RELB"}, "left_thigh"},
    {{"LHIP", "ARIEL", "LFSH"}, "pelvis"}, // not all of them
    {{"RM3", "RLEP", "RRSP"}, "right_hand"}, {{"RLEP", "RM3", "RRSP"}, "right_upper_arm"},
};

TEST_ROWS(names_of_a_set_mean_what_they_mean_there, TEST_COUNT(of_sets))
{
    const poise_model *model = humanoid();
    poise_placement placements[3];
    poise_markers *markers = labelled((const char *const *)of_sets[test_row].labels, 3);
    ck_assert_int_eq(poise_places_by_name(model, markers, NULL, placements, NULL, 3, NULL, NULL), POISE_OK);
    ck_assert_str_eq(poise_model_joint_info(model, placements[0].body).body, of_sets[test_row].body);
    poise_markers_destroy(markers);
}

TEST(keypoints_are_joints_where_the_recording_has_them_all)
{
    static const char *const labels[] = {"RKnee", "Nose", "LHip", "RHip"};
    const poise_model *model = humanoid();
    poise_placement placements[4];
    for (int all = 0; all < 2; ++all) {
        poise_markers *markers = labelled(labels, all ? 4 : 1);
        ck_assert_int_eq(poise_places_by_name(model, markers, NULL, placements, NULL, 4, NULL, NULL), POISE_OK);
        ck_assert(all ? fabs(placements[0].local.x) < 1e-9 : placements[0].local.x < -0.03); // on the joint, or outside it
        poise_markers_destroy(markers);
    }
}

// ---- Tables --------------------------------------------------------------------------------------------------------------

TEST(a_table_of_ones_own_goes_before_the_built_in_one)
{
    static const char *const labels[] = {"RKNE", "Hat", "R-Gadget7"};
    static const char table[] = "# mine\n"
                                "KNE thigh 0.5 0 0 0 10 10\n"
                                "set hats if Hat on pelvis\n"
                                "Hat head 0 200 0 0 30 20 # high\r\n"
                                "set others if Scarf\n"
                                "Gadget# hand 1 0 0 0 5 5\n"
                                "set *\n"
                                "Gadget# foot 0 0 0 0 5 5\n";
    const poise_model *model = humanoid();
    poise_markers *markers = labelled(labels, 3);
    poise_placement placements[3];
    poise_places_report report;
    ck_assert_int_eq(poise_places_by_name(model, markers, table, placements, NULL, 3, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.placed, 3);
    ck_assert_double_eq_tol(placements[0].local.y, -0.2125, 1e-9); // half way down a thigh of 0.425 m
    ck_assert_double_eq_tol(placements[1].local.y, 0.2 * report.stature, 1e-9);
    ck_assert_str_eq(poise_model_joint_info(model, placements[2].body).body, "right_foot");
    poise_markers_destroy(markers);
}

static const char *const wrong_tables[] = {"\nKNE thigh 0.5 0 0 0 10\n",   "\nKNE thugh 0.5 0 0 0 10 10\n",
                                           "\nthigh 0.5 0 0 0 10 10\n",    "\nKNE thigh 0.5 0 0 x 10 10\n",
                                           "\nKNE thigh 0.5 0 0 0 0 10\n", "\nstiff KNE\n"};

TEST_ROWS(a_table_that_makes_no_sense_is_refused_with_its_line, TEST_COUNT(wrong_tables))
{
    static const char *const labels[] = {"RKNE"};
    poise_markers *markers = labelled(labels, 1);
    poise_error error;
    ck_assert_int_eq(poise_places_by_name(humanoid(), markers, wrong_tables[test_row], NULL, NULL, 0, NULL, &error),
                     POISE_ERROR_FORMAT);
    ck_assert_msg(strstr(error.text, "line 2"), "%s", error.text);
    poise_markers_destroy(markers);
}

TEST(every_line_of_the_built_in_table_makes_sense)
{
    static const char *const labels[] = {"x"};
    poise_markers *markers = labelled(labels, 1);
    poise_error error = {.text = ""};
    int sections = 0;
    for (const char *text; (text = poise_marker_sets(sections)) != NULL; ++sections) {
        ck_assert_msg(poise_places_by_name(humanoid(), markers, text, NULL, NULL, 0, NULL, &error) == POISE_OK, "%s",
                      error.text);
    }
    ck_assert_int_ge(sections, 2);
    poise_markers_destroy(markers);
}

TEST(markers_on_a_pelvic_frame_sit_beside_the_person)
{
    static const char *const labels[] = {"L.PSIS", "L.Sac.Wand", "R.Sac.Wand"};
    poise_placement skin[3], frame[3];
    for (int count = 1; count <= 3; count += 2) { // without and with its wands
        poise_markers *markers = labelled(labels, count);
        ck_assert_int_eq(poise_places_by_name(humanoid(), markers, NULL, count == 1 ? skin : frame, NULL, 3, NULL, NULL),
                         POISE_OK);
        poise_markers_destroy(markers);
    }
    poise_vec3 apart = {frame[0].local.x - skin[0].local.x, frame[0].local.y - skin[0].local.y,
                        frame[0].local.z - skin[0].local.z};
    ck_assert_double_gt(sqrt(apart.x * apart.x + apart.y * apart.y + apart.z * apart.z), 0.1);
}

// ---- Size and upright ----------------------------------------------------------------------------------------------------

// A person of 1.7 m in a unit, head along +-`up`.
static poise_markers *person(poise_up up, double sign, double metres)
{
    static const char *const labels[] = {"LFHD", "RFHD", "C7", "LASI", "RASI", "LKNE", "RKNE", "LANK", "RANK", "LTOE"};
    static const double heights[] = {1.66, 1.66, 1.45, 1.0, 1.0, 0.5, 0.5, 0.1, 0.1, 0.0};
    poise_markers *markers = labelled(labels, 10);
    for (int i = 0; i < 10; ++i) {
        double h = sign * heights[i] / metres, side = (labels[i][0] == 'L' ? 0.12 : -0.12) / metres;
        markers->position[i] = up == POISE_UP_X   ? (poise_vec3){h, side, 0}
                               : up == POISE_UP_Y ? (poise_vec3){0, h, side}
                                                  : (poise_vec3){side, 0, h};
    }
    return markers;
}

TEST(a_figure_tells_its_unit_and_which_way_is_up)
{
    static const double units[] = {1, 0.01, 0.001, 0.0254, 0.0254 / 0.45};
    for (int up = POISE_UP_X; up <= POISE_UP_Z; ++up) {
        for (int i = 0; i < 5; ++i) {
            for (int sign = -1; sign <= 1; sign += 2) {
                poise_markers *markers = person((poise_up)up, sign, units[i]);
                poise_figure f;
                ck_assert_int_eq(poise_markers_figure(markers, &f, NULL), POISE_OK);
                ck_assert(f.is_named && (int)f.up == up && f.is_upside_down == (sign < 0) && f.metres == units[i]);
                ck_assert_double_eq_tol(f.height * units[i], 1.66, 1e-12);
                poise_markers_destroy(markers);
            }
        }
    }
    poise_figure f;
    ck_assert_int_eq(poise_model_figure(humanoid(), &f, NULL), POISE_OK);
    ck_assert(f.is_named && f.up == POISE_UP_Y && !f.is_upside_down && f.metres == 1);
    ck_assert_int_eq(poise_markers_figure(NULL, &f, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_model_figure(NULL, &f, NULL), POISE_ERROR_ARGUMENT);
}

// The navicular and the sustentaculum tali of the Oxford foot model: across the foot from the fifth toe.
TEST(markers_of_the_inner_foot_are_placed_there)
{
    static const char *const labels[] = {"LMT5", "LNAV", "LSTL", "RMT5", "RNAV", "RSTL"};
    poise_markers *markers = labelled(labels, 6);
    poise_placement places[6];
    poise_places_report report;
    ck_assert_int_eq(poise_places_by_name(humanoid(), markers, NULL, places, NULL, 6, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.placed, 6);
    for (int i = 0; i < 6; ++i) { // x points to the left
        bool is_left = (labels[i][0] == 'L') == (i % 3 == 0);
        ck_assert_msg(is_left ? places[i].local.x > 0.01 : places[i].local.x < -0.01, "%s: %g", labels[i],
                      places[i].local.x);
    }
    poise_markers_destroy(markers);
}

TEST(markers_without_names_that_reach_as_far_every_way_are_as_high_as_their_longest_reach)
{
    static const char *const labels[] = {"u", "v"};
    for (int k = 0; k < 3; ++k) {
        poise_markers *markers = labelled(labels, 2);
        markers->position[0] = (poise_vec3){0, 0, 0};
        markers->position[1] = (poise_vec3){k == 0 ? 1.1 : 1.0, k == 1 ? 1.1 : 1.0, k == 2 ? 1.1 : 1.0};
        poise_figure f;
        ck_assert_int_eq(poise_markers_figure(markers, &f, NULL), POISE_OK);
        ck_assert(!f.is_named && f.up == POISE_UP_UNKNOWN);
        ck_assert_double_eq(f.height, 1.1);
        poise_markers_destroy(markers);
    }
}

TEST(a_skeleton_without_a_unit_is_a_person_where_few_markers_tell_a_size)
{
    static const char *const labels[] = {"RTH1", "RTH2", "RSK1", "RSK2", "RFT1"}; // clusters on a leg, in millimetres
    poise_markers *markers = labelled(labels, 5);
    for (int i = 0; i < 5; ++i) {
        markers->position[i] = (poise_vec3){60.0 * (i % 2), 800.0 - 180.0 * i, 100.0};
    }
    markers->scale = (poise_scale){0.001, POISE_UP_Y};
    poise_scale scale = {0.0, POISE_UP_UNKNOWN};
    poise_scale_match match;
    ck_assert_int_eq(poise_markers_match(markers, humanoid(), &scale, &match, NULL), POISE_OK);
    ck_assert(scale.metres == 1 && match.model_unknown && match.by_size);
    ck_assert_double_eq_tol(markers->position[0].y, 0.8, 1e-12);
    poise_markers_destroy(markers);
}

TEST(who_stands_upside_down_is_turned_over)
{
    for (int up = POISE_UP_X; up <= POISE_UP_Z; ++up) {
        for (int says = 0; says < 2; ++says) { // the axis, or nothing
            poise_markers *markers = person((poise_up)up, -1, 0.001);
            markers->scale = (poise_scale){0.001, says ? (poise_up)up : POISE_UP_UNKNOWN};
            poise_scale scale = {1.0, POISE_UP_Y};
            poise_scale_match match;
            ck_assert_int_eq(poise_markers_match(markers, humanoid(), &scale, &match, NULL), POISE_OK);
            ck_assert(match.turned_over && match.up_by_figure == !says && (int)match.from.up == up);
            ck_assert_double_eq_tol(markers->position[0].y, 1.66, 1e-12);
            poise_markers_destroy(markers);
        }
    }
}

TEST(size_and_upward_axis_are_told_by_the_markers)
{
    static const char *const labels[] = {"LASI", "RASI", "LPSI", "RPSI", "LKNE", "LANK", "RKNE", "RANK", "C7", "CLAV"};
    enum { COUNT = sizeof labels / sizeof labels[0] };
    const poise_model *model = humanoid();
    poise_markers *markers = labelled(labels, COUNT);
    poise_placement placements[COUNT];
    ck_assert_int_eq(poise_places_by_name(model, markers, NULL, placements, NULL, COUNT, NULL, NULL), POISE_OK);
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    for (int i = 0; i < COUNT; ++i) {
        poise_vec3 p = poise_kinematics_point(kin, placements[i].body, placements[i].local);
        markers->position[i] = (poise_vec3){1.1 * p.z + 5, 1.1 * p.x, 1.1 * p.y}; // z up, 10 % larger
    }
    poise_places_report report;
    ck_assert_int_eq(poise_places_by_name(model, markers, NULL, NULL, NULL, 0, &report, NULL), POISE_OK);
    ck_assert_double_eq_tol(report.size, 1.1, 1e-9);
    ck_assert_int_ge(report.pairs, 6);
    ck_assert(report.up == POISE_UP_Z && report.model_up == POISE_UP_Y);
    ck_assert_double_eq_tol(report.stature, 0.84 / 0.491, 1e-9);
    poise_kinematics_destroy(kin);
    poise_markers_destroy(markers);
}

// Angles, forces, moments and powers that a laboratory's program writes among the markers, wherever the word stands.
TEST(what_was_computed_is_no_marker)
{
    static const char *const computed[] = {"Angles_knee", "LKneeAngles", "RGroundReactionForce", "LHipMoment",
                                           "RAnklePower"};
    for (size_t i = 0; i < TEST_COUNT(computed); ++i) {
        ck_assert_msg(pz_label_is_computed(NULL, computed[i]), "%s", computed[i]);
    }
    ck_assert(!pz_label_is_computed(NULL, "LKNE") && !pz_label_is_computed(NULL, "ang"));
}

// Feet without toes: where their ball is grows with the figure.
TEST(places_on_feet_grow_with_the_figure)
{
    static const named left = {"LeftUpLeg", "LeftLeg", "LeftFoot", "LeftArm", "LeftForeArm", "LeftHand"};
    static const named right = {"RightUpLeg", "RightLeg", "RightFoot", "RightArm", "RightForeArm", "RightHand"};
    const char *labels[] = {"LTOE"};
    poise_model *one = own_model(figure(&left, &right)), *two;
    poise_markers *markers = own_markers(labelled(labels, 1));
    double twice[32];
    poise_placement small, large;
    poise_place_prior priors[2];
    poise_places_report report;
    for (int k = 0; k < 32; ++k) {
        twice[k] = 2;
    }
    ck_assert_int_eq(poise_model_rescale(one, twice, NULL, &two, NULL), POISE_OK);
    own_model(two);
    ck_assert_int_eq(poise_places_by_name(one, markers, NULL, &small, &priors[0], 1, &report, NULL), POISE_OK);
    ck_assert_int_eq(poise_places_by_name(two, markers, NULL, &large, &priors[1], 1, &report, NULL), POISE_OK);
    ck_assert_int_eq(report.placed, 1);
    ck_assert_double_gt(small.local.z, 0.05);
    ck_assert_double_eq_tol(large.local.z, 2 * small.local.z, 1e-12);
}
