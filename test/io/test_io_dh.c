// Denavit-Hartenberg tables: dialects, agreement with the builder's own, chains of any geometry there and back.
#include "scenes/scenes.h"
#include "support/io_check.h"
#include "support/skeleton.h"

#include <math.h>

#define PI 3.14159265358979323846

// ---- Where the tip is ----------------------------------------------------------------------------------------------------

static poise_pose tip_pose(const poise_model *model, const char *tool, const double *q)
{
    poise_kinematics *k = NULL;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &k, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(k, q, NULL), POISE_OK);
    int found = poise_model_find_tool(model, tool);
    poise_pose pose = found >= 0 ? poise_kinematics_tool_pose(k, found)
                                 : poise_kinematics_body_pose(k, poise_model_info(model).joints - 1);
    poise_kinematics_destroy(k);
    return pose;
}

// The larger of the distance and the angle between two tips.
static double apart(poise_pose a, poise_pose b)
{
    poise_pose d = poise_pose_multiply(poise_pose_inverse(a), b);
    double distance = sqrt(d.position.x * d.position.x + d.position.y * d.position.y + d.position.z * d.position.z);
    return fmax(distance, poise_quat_angle(d.rotation));
}

// Both chains carry their tips alike, at the neutral and at random configurations.
static void check_same_motion(const poise_model *a, const char *a_tip, const poise_model *b, const char *b_tip,
                              double tolerance)
{
    ck_assert_int_eq(poise_model_info(a).nq, poise_model_info(b).nq);
    scene_random random = scene_random_make(11);
    double q[FIGURE_NUMBERS] = {0};
    for (int trial = 0; trial < 20; ++trial) {
        double off = apart(tip_pose(a, a_tip, q), tip_pose(b, b_tip, q));
        ck_assert_msg(off <= tolerance, "tips are %g apart at configuration %d", off, trial);
        for (int i = 0; i < poise_model_info(a).nq; ++i) {
            q[i] = scene_random_range(&random, -PI, PI);
        }
    }
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

static const poise_dh_row arm[] = {
    {.a = 0.1, .alpha = PI / 2, .d = 0.4, .theta = 0, .lower = -PI, .upper = PI},
    {.a = -0.5, .alpha = 0, .d = 0, .theta = -PI / 2, .lower = -1.5, .upper = 1.5},
    {.a = 0, .alpha = -PI / 2, .d = 0.2, .theta = 0.3, .prismatic = true, .lower = 0, .upper = 0.25},
    {.a = 0.05, .alpha = 0.7, .d = -0.1, .theta = PI, .lower = -INFINITY, .upper = INFINITY},
};

static poise_model *built(poise_dh_convention convention)
{
    poise_builder *builder = new_builder();
    ck_assert_int_eq(poise_builder_add_dh(builder, "joint", NULL, convention, arm, 4, NULL), POISE_OK);
    return model_of(builder);
}

#define ARM_ROWS                                                                                                            \
    "revolute,0.1,90,0.4,0,-180,180\nr,-0.5,0,0,-90,-85.94366926962348,85.94366926962348\n"                                 \
    "prismatic,0,-90,0.2,17.188733853924695,0,0.25\nR,0.05,40.10704565915762,-0.1,180,,\n"

TEST(tables_give_the_chain_that_the_builder_makes_of_their_numbers)
{
    static const struct {
        poise_dh_convention convention;
        const char *text;
    } rows[] = {
        {POISE_DH_CLASSIC, "# convention: classic\ntype,a,alpha_deg,d,theta_deg,lower,upper\n" ARM_ROWS},
        {POISE_DH_MODIFIED, "# convention: modified\ntype,a,alpha_deg,d,theta_deg,lower,upper\n" ARM_ROWS},
        {POISE_DH_MODIFIED,
         "\xef\xbb\xbf# my arm\n\nconvention,Craig\ntype,a,alpha [deg],d,theta (deg),lower,upper\n" ARM_ROWS},
        {POISE_DH_CLASSIC,
         "convention = classic\r\nupper\tlower\ttheta\td\talpha\ta\tkind\r\npi\t-pi\t0\t0.4\tpi/2\t0.1\tr\r\n"
         "1.5\t-1.5\t-pi/2\t0\t0\t-0.5\tR\r\n0.25\t0\t0.3\t0.2\t-pi/2\t0\tP\r\n"
         "-\t\t2*pi/2\t-0.1\t0.7\t0.05\thinge\r\n"},
        {POISE_DH_CLASSIC, "# convention: classic\nlower;upper;a;alpha;d;theta;joint_type\n-pi;pi;0.1;pi/2;0.4;;0\n"
                           "-1.5;1.5;-0.5;0;0;-pi/2;0\n0;0.25;0;-pi/2;0.2;0.3;1\n;;0.05;0.7;-0.1;pi;\n# the end\n"},
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_file *file = io_read_text(rows[i].text, POISE_FORMAT_DH, NULL);
        ck_assert_msg(file->warning_count == 0, "table %zu: %s", i, file->warnings ? file->warnings[0].text : "");
        poise_model *expected = built(rows[i].convention);
        ck_assert_int_eq(poise_model_info(file->model).joints, 4);
        for (int k = 0; k < 4; ++k) {
            poise_joint a = *poise_model_joint_info(file->model, k).given, b = *poise_model_joint_info(expected, k).given;
            ck_assert_str_eq(a.name, b.name);
            ck_assert(a.type == b.type);
            ck_assert_double_eq_tol(k == 3 ? 0 : a.lower[0], k == 3 ? 0 : b.lower[0], 1e-15);
            ck_assert_double_eq_tol(k == 3 ? 0 : a.upper[0], k == 3 ? 0 : b.upper[0], 1e-15);
        }
        ck_assert(poise_model_info(file->model).lower[3] == -INFINITY && poise_model_info(file->model).upper[3] == INFINITY);
        check_same_motion(file->model, "joint4.tip", expected, "jointtip", 1e-14); // angles of an ulp or two
    }
}

TEST(names_units_fixed_rows_and_symbols_are_read)
{
    const char *text = "# convention: classic\nname,type,a_mm,alpha_deg,d_mm,theta_deg,colour\n,fixed,0,0,100,0,red\n"
                       "base,r,0,90,50,q1,blue\nslide,p,0,0,d2,90,\n,f,10,0,0,0,\n";
    poise_file *file = io_read_text(text, POISE_FORMAT_UNKNOWN, NULL);
    ck_assert_int_eq(file->format, POISE_FORMAT_DH);
    ck_assert_double_eq(file->scale.metres, 0.001);
    ck_assert(io_warned(file, 2, "column \"colour\""));
    ck_assert_int_eq(file->warning_count, 1);
    ck_assert_int_eq(poise_model_find_joint(file->model, "base"), 0);
    ck_assert_int_eq(poise_model_find_joint(file->model, "slide"), 1);
    poise_pose tip = tip_pose(file->model, "slide.tip", (double[]){0.0, 30.0});
    // up 150, then z turns to -y: slide 30 along it; theta 90 turns x to z: 10 up
    ck_assert_double_eq_tol(tip.position.x, 0.0, 1e-12);
    ck_assert_double_eq_tol(tip.position.y, -30.0, 1e-12);
    ck_assert_double_eq_tol(tip.position.z, 160.0, 1e-12);
    file = io_read_text("a,alpha,d,theta\n1,0,0,0\n", POISE_FORMAT_UNKNOWN, NULL);
    ck_assert(io_warned(file, 1, "classic assumed"));
}

static const io_case mistakes[] = {
    {"", 1, "no line of column names"},
    {"# convention: classic\n", 2, "no line of column names"},
    {"a,alpha,d,theta\n", 2, "the table has no joint"},
    {"type,a,alpha,d,theta\nfixed,1,2,3,4\n", 3, "the table has no joint"},
    {"a,alpha,theta\n1,2,3\n", 1, "no column \"d\""},
    {"a,alpha,d,theta,a\n1,2,3,4,5\n", 1, "column \"a\" appears twice"},
    {"a_furlong,alpha,d,theta\n1,2,3,4\n", 1, "\"furlong\" is not a unit of length"},
    {"a_mm,alpha,d_m,theta\n1,2,3,4\n", 1, "or differs from the previous one"},
    {"a,alpha_mm,d,theta\n1,2,3,4\n", 1, "\"mm\" is not a unit; use deg or rad"},
    {"a,alpha,d,theta\n\n1,2,3,4\n1,x,3,4\n", 4, "column \"alpha\": \"x\" is not a number"},
    {"a,alpha,d,theta\n1,pi/0,3,4\n", 2, "\"pi/0\" is not a number"},
    {"a,alpha,d,theta\n1,nan,3,4\n", 2, "\"nan\" is not a number"},
    {"a,alpha,d,theta\ninf,0,3,4\n", 2, "\"inf\" is not a number"},
    {"a,alpha,d,theta\n1,,3,4\n", 2, "column \"alpha\" is empty"},
    {"a,alpha,d,theta\n1,5\n", 2, "column \"d\" is empty"},
    {"a,alpha,d,theta\n1,2,3,4,5\n", 2, "a decimal comma?"},
    {"type,a,alpha,d,theta\nball,1,2,3,4\n", 2, "\"ball\" is not a joint type"},
    {"name,a,alpha,d,theta\nx,1,2,3,4\nx,1,2,3,4\n", 3, "x"},
    {"a,alpha,d,theta,lower,upper\n1,2,3,4,5,-5\n", 2, "lower limit"},
    {"type,a,alpha,d,theta\nf,1e308,0,0,0\nf,1e308,0,0,0\n", 3, "the lengths are too large"},
};

TEST_ROWS(errors_name_the_line_and_what_is_expected, TEST_COUNT(mistakes))
{
    io_case_refused(&mistakes[test_row], POISE_FORMAT_DH, NULL);
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

// Write a model, read it back, compare the motion of the tips.
static void check_there_and_back(const poise_model *model, const char *tip, double tolerance, const char *part)
{
    poise_file file = {.model = (poise_model *)model, .scale = {0.001, POISE_UP_UNKNOWN}};
    io_bytes bytes = io_write(&file, POISE_FORMAT_DH, -1);
    ck_assert_msg(strstr((char *)bytes.bytes, part) != NULL, "%s", (char *)bytes.bytes);
    poise_file *back = io_read(bytes.bytes, bytes.size, POISE_FORMAT_UNKNOWN, NULL);
    ck_assert_int_eq(back->format, POISE_FORMAT_DH);
    ck_assert_double_eq(back->scale.metres, 0.001);
    ck_assert_int_eq(back->warning_count, 0);
    char name[128];
    snprintf(name, sizeof name, "%s.tip",
             poise_model_joint_info(back->model, poise_model_info(back->model).joints - 1).body);
    check_same_motion(model, tip, back->model, name, tolerance);
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        ck_assert_double_eq(poise_model_info(model).lower[i], poise_model_info(back->model).lower[i]);
        ck_assert_double_eq(poise_model_info(model).upper[i], poise_model_info(back->model).upper[i]);
    }
}

TEST(tables_come_back_as_they_were)
{
    static const char *const tables[] = {
        // an arm of six joints: the base turns about the vertical, shoulder, elbow and wrist are parallel
        ("# convention: classic\nname,type,a_m,alpha_deg,d_m,theta_deg,lower_deg,upper_deg\n"
         "j1,revolute,0,90,0.1625,0,-360,360\nj2,revolute,-0.425,0,0,0,-360,360\nj3,revolute,-0.3922,0,0,0,-180,180\n"
         "j4,revolute,0,90,0.1333,0,,\nj5,revolute,0,-90,0.0997,0,,\nj6,revolute,0,0,0.0996,0,,\n"),
        // an arm of seven joints, modified, with a flange
        ("# convention: modified\nname,type,a_m,alpha_deg,d_m,theta_deg,lower_deg,upper_deg\n"
         "j1,revolute,0,0,0.333,0,-166,166\nj2,revolute,0,-90,0,0,-101,101\nj3,revolute,0,90,0.316,0,-166,166\n"
         "j4,revolute,0.0825,90,0,0,-176,-4\nj5,revolute,-0.0825,-90,0.384,0,-166,166\nj6,revolute,0,90,0,0,-1,215\n"
         "j7,revolute,0.088,90,0.107,0,-166,166\n"),
        // turn, turn, slide
        ("# convention: classic\nname,type,a_m,alpha_deg,d_m,theta_deg,lower_deg,upper_deg\n"
         "a,revolute,0.35,0,0.4,0,-170,170\nb,revolute,0.25,180,0,0,-145,145\nc,prismatic,0,0,0,0,0,0.2\n"),
    };
    for (size_t i = 0; i < TEST_COUNT(tables); ++i) {
        poise_file *file = io_read_text(tables[i], POISE_FORMAT_DH, NULL);
        io_bytes bytes = io_write(file, POISE_FORMAT_DH, 0);
        if (i == 0 || i == 2) { // the very text; an arm in modified form may be told in classic form as well
            ck_assert_str_eq((char *)bytes.bytes, tables[i]);
        }
        poise_file *back = io_read(bytes.bytes, bytes.size, POISE_FORMAT_DH, NULL);
        const char *tip = i == 0 ? "j6.tip" : i == 1 ? "j7.tip" : "c.tip";
        check_same_motion(file->model, tip, back->model, tip, 1e-14);
    }
}

// Six steps of about 1e-15 each, over lengths of a few units; q up to pi.
#define AGREEMENT 1e-13

TEST(chains_of_any_geometry_keep_the_motion_of_their_tip)
{
    scene_random random = scene_random_make(5);
    for (int trial = 0; trial < 300; ++trial) {
        poise_builder *builder = new_builder();
        int count = 1 + scene_random_index(&random, 7);
        char name[16], before[16] = "";
        for (int k = 0; k < count; ++k) {
            snprintf(name, sizeof name, "j%d", k);
            static const poise_joint_type types[] = {POISE_JOINT_REVOLUTE, POISE_JOINT_PRISMATIC, POISE_JOINT_FIXED};
            poise_joint joint = joint_of(name, k > 0 ? before : NULL, types[k == 0 ? 0 : scene_random_index(&random, 3)]);
            // every third chain is at general places; the others have axes along x, y, z at distances that are often 0
            bool is_general = trial % 3 == 0;
            static const poise_vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, -1}, {-1, 0, 0}};
            joint.axis = is_general ? scene_random_direction(&random) : axes[scene_random_index(&random, 5)];
            if (is_general) {
                joint.offset = (poise_pose){scene_random_rotation(&random), random_vector(&random, 1.0)};
            } else {
                joint.offset.position =
                    (poise_vec3){0.5 * scene_random_index(&random, 3), 0.25 * scene_random_index(&random, 2),
                                 -0.1 * scene_random_index(&random, 4)};
                joint.offset.rotation = poise_quat_from_axis_angle(axes[scene_random_index(&random, 3)],
                                                                   PI / 2 * scene_random_index(&random, 4));
            }
            if (k % 2 == 0 && joint.type != POISE_JOINT_FIXED) {
                joint.lower[0] = -1.25, joint.upper[0] = 0.3;
            }
            add(builder, &joint);
            snprintf(before, sizeof before, "%s", name);
        }
        poise_tool tool = {"gripper", before, {scene_random_rotation(&random), random_vector(&random, 0.5)}};
        if (trial % 2 == 0) {
            ck_assert_int_eq(poise_builder_add_tool(builder, &tool, NULL), POISE_OK);
        }
        poise_model *model = model_of(builder);
        // general axes that happen to be close to parallel make long normals; 1e-9 covers all of these chains
        check_there_and_back(model, "gripper", trial % 3 == 0 ? 1e-9 : AGREEMENT * 10, "# convention: ");
    }
}

TEST(robots_of_the_scenes_keep_the_motion_of_their_tip)
{
    static const char *const names[] = {"arm6", "arm7", "scara", "gantry"};
    for (size_t i = 0; i < TEST_COUNT(names); ++i) {
        poise_model *model = NULL;
        ck_assert_int_eq(scene_create(names[i], NULL, &model, NULL), POISE_OK);
        const char *tool = poise_model_info(model).tools > 0 ? poise_model_tool_info(model, 0).name : "";
        check_there_and_back(model, tool, AGREEMENT, "# convention: ");
        poise_model_destroy(model);
    }
}

TEST(what_is_no_chain_of_single_joints_is_refused_with_the_reason)
{
    static const struct {
        poise_joint_type type;
        const char *parent, *mimic, *part;
    } rows[] = {
        {POISE_JOINT_REVOLUTE, NULL, NULL, "the model branches here"},
        {POISE_JOINT_BALL_EULER, "a", NULL, "\"b\" is of type"},
        {POISE_JOINT_REVOLUTE, "a", "a", "\"b\" follows \"a\""},
    };
    for (size_t i = 0; i < TEST_COUNT(rows); ++i) {
        poise_builder *builder = new_builder();
        add_plain(builder, "a", NULL, POISE_JOINT_REVOLUTE);
        poise_joint joint = joint_of("b", rows[i].parent, rows[i].type);
        joint.mimic = rows[i].mimic;
        joint.offset.position = (poise_vec3){1, 2, 3};
        add(builder, &joint);
        poise_model *model = model_of(builder);
        io_write_refused(&(poise_file){.model = model}, POISE_FORMAT_DH, rows[i].part);
    }
    poise_builder *builder = new_builder();
    add_plain(builder, "a", NULL, POISE_JOINT_FIXED);
    poise_model *model = model_of(builder);
    io_write_refused(&(poise_file){.model = model}, POISE_FORMAT_DH, "no joint that moves");
    io_write_refused(&(poise_file){0}, POISE_FORMAT_DH, "there is none");
}

// As in the URDF files of arms: a frame fixed to the base, two to the flange, and right angles of few digits.
TEST(an_arm_with_fixed_frames_beside_it_keeps_the_motion_of_its_tip)
{
    poise_builder *builder = new_builder();
    add_plain(builder, "foot", NULL, POISE_JOINT_FIXED);
    poise_joint marker = joint_of("marker", "foot", POISE_JOINT_FIXED), a = joint_of("a", "foot", POISE_JOINT_REVOLUTE);
    poise_joint b = joint_of("b", "a", POISE_JOINT_REVOLUTE), flange = joint_of("flange", "b", POISE_JOINT_FIXED);
    poise_joint tip = joint_of("tip", "b", POISE_JOINT_FIXED);
    const double tilt = 3e-9;
    marker.offset.position = (poise_vec3){7, 8, 9};
    b.axis = (poise_vec3){sin(tilt), 0, cos(tilt)};
    b.offset.position = (poise_vec3){0.4, 0.1, 0.2};
    flange.offset.position = (poise_vec3){-5, 4, 3};
    tip.offset = (poise_pose){{0.6, 0, 0, 0.8}, {0.3, -0.1, 0.2}};
    add(builder, &marker), add(builder, &a), add(builder, &b), add(builder, &flange), add(builder, &tip);
    poise_model *model = model_of(builder);
    check_there_and_back(model, "tip", 2 * tilt, "# convention: ");
    io_write_warns(&(poise_file){.model = model}, POISE_FORMAT_DH, "the tip is \"tip\"; 2 other bodies");
    io_write_warns(&(poise_file){.model = model}, POISE_FORMAT_DH, "rad from parallel");
}

TEST(what_a_table_cannot_hold_is_told)
{
    poise_builder *builder = new_builder();
    poise_joint joint = joint_of("turn, left", NULL, POISE_JOINT_REVOLUTE);
    joint.body = "arm";
    joint.mass = 2.0;
    add(builder, &joint);
    poise_tool tip = {"arm.tip", "arm", {{0.6, 0, 0, 0.8}, {0.1, 0.2, 0.3}}}, other = {"eye", "arm", poise_pose_identity()};
    ck_assert_int_eq(poise_builder_add_tool(builder, &other, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_tool(builder, &tip, NULL), POISE_OK);
    poise_model *model = model_of(builder);
    poise_file file = {.model = model, .scale = {0.123, POISE_UP_UNKNOWN}};
    static const char *const parts[] = {
        "a comma or line break", "1 tools other than the tip", "no masses", "bodies take the names of their joints",
        "0.123 metres",          "rows of type fixed"};
    for (size_t i = 0; i < TEST_COUNT(parts); ++i) {
        io_write_warns(&file, POISE_FORMAT_DH, parts[i]);
    }
    ck_assert_int_gt(io_writes_without_memory(&file, POISE_FORMAT_DH), 0);
}
