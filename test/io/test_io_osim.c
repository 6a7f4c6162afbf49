// OSIM: models of OpenSim against what OpenSim and Simbody make of them.
#include "io/opensim.h"
#include "num/real.h"
#include "num/vector.h"
#include "support/io_check.h"
#include "support/osim_facts.h"
#include "support/skeleton.h"

#include <ctype.h>
#include <math.h>

#define DATA "osim/"

static poise_file *read_model(const char *path)
{
    return io_read_data(path, POISE_FORMAT_UNKNOWN, NULL);
}

// ---- Forward kinematics at two poses -------------------------------------------------------------------------------------

// The text between <tag> and </tag> behind `at`, before `end`; NULL: none.
static const char *element(const char *at, const char *end, const char *tag)
{
    char open[32];
    snprintf(open, sizeof open, "<%s>", tag);
    const char *found = strstr(at, open);
    return found && found < end ? found + strlen(open) : NULL;
}

// Every coordinate that is not locked at lo + 0.6 (hi - lo), its range cut to +-1.5.
static void pose_for_test(const char *text, const poise_model *model, double *q)
{
    for (const char *at = strstr(text, "<Coordinate "); at; at = strstr(at + 1, "<Coordinate ")) {
        const char *end = strstr(at, "</Coordinate>");
        char name[128] = "";
        if (!end || sscanf(at, "<Coordinate name=\"%127[^\"]\"", name) != 1) {
            continue;
        }
        int k = poise_model_find_joint(model, name);
        const char *range = element(at, end, "range"), *locked = element(at, end, "locked");
        double lo = 0, hi = 0;
        bool has_range = range && sscanf(range, "%lf %lf", &lo, &hi) == 2;
        while (locked && isspace((unsigned char)*locked)) {
            ++locked;
        }
        if (k < 0 || poise_model_joint_info(model, k).nq != 1 || !has_range || (locked && strncmp(locked, "true", 4) == 0)) {
            continue;
        }
        lo = fmax(lo, -1.5), hi = fmin(hi, 1.5);
        if (lo <= hi) {
            q[poise_model_joint_info(model, k).q] = lo + 0.6 * (hi - lo);
        }
    }
}

// "body (x, y, z) O(a, b, c); body ..." with nine decimals.
static int check_bodies(const char *line, const figure *f, const char *what)
{
    int checked = 0;
    for (const char *at = line; at; at = strchr(at, ';'), at = at ? at + 1 : NULL) {
        char name[64];
        double p[3], a[3];
        if (sscanf(at, " %63s (%lf, %lf, %lf) O(%lf, %lf, %lf)", name, &p[0], &p[1], &p[2], &a[0], &a[1], &a[2]) != 7) {
            break;
        }
        int body = poise_model_find_body(f->model, name);
        ck_assert_msg(body >= 0, "%s: no body %s", what, name);
        poise_pose pose = poise_kinematics_body_pose(f->kin, body);
        poise_quat turn = poise_pose_identity().rotation;
        for (int i = 0; i < 3; ++i) {
            poise_vec3 axis = {i == 0, i == 1, i == 2};
            turn = poise_quat_multiply(turn, poise_quat_from_axis_angle(axis, a[i]));
        }
        double off = v3_norm(v3_sub(pose.position, v3(p[0], p[1], p[2])));
        double angle = poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(turn), pose.rotation));
        ck_assert_msg(off <= 1.5e-9 && angle <= 4e-9, "%s: %s off by %.3g m, %.3g rad", what, name, off, angle);
        checked += 1;
    }
    return checked;
}

TEST_ROWS(bodies_of_every_model_are_where_opensim_has_them, TEST_COUNT(osim_facts))
{
    const char *path = osim_facts[test_row].path;
    io_bytes bytes = io_load(path);
    poise_file *file = read_model(path);
    figure f = figure_of(file->model);
    memcpy(f.q, file->postures[0].q, (size_t)f.nq * sizeof *f.q);
    update(&f);
    ck_assert_int_gt(check_bodies(osim_facts[test_row].at_default, &f, path), 0);
    pose_for_test((const char *)bytes.bytes, file->model, f.q);
    update(&f);
    ck_assert_int_gt(check_bodies(osim_facts[test_row].at_test, &f, path), 0);
}

// ---- OpenSim's own output ------------------------------------------------------------------------------------------------

// Column of that name in a STO file, and its numbers row by row.
typedef struct table {
    const char *names, *rows;
} table;

static table table_of(const char *text)
{
    const char *names = strstr(text, "endheader");
    names = strchr(names, '\n') + 1;
    return (table){names, strchr(names, '\n') + 1};
}

static int column_of(const table *t, const char *name)
{
    size_t length = strlen(name);
    int column = 0;
    for (const char *at = t->names; *at != '\n'; at += *at == '\t' ? 1 : 0) {
        size_t cell = strcspn(at, "\t\r\n");
        if (cell == length && memcmp(at, name, length) == 0) {
            return column;
        }
        at += cell;
        column += 1;
        if (*at != '\t') {
            break;
        }
    }
    return -1;
}

static double cell_of(const table *t, int row, int column)
{
    const char *at = t->rows;
    while (row-- > 0) {
        at = strchr(at, '\n') + 1;
    }
    while (column-- > 0) {
        at += strcspn(at, "\t\n") + 1;
    }
    return strtod(at, NULL);
}

static double largest_shift(const figure *f, const table *bodies, int row)
{
    double largest = 0.0;
    for (int k = 0; k < poise_model_info(f->model).joints; ++k) {
        const char *name = poise_model_joint_info(f->model, k).body;
        char column[80];
        snprintf(column, sizeof column, "%s_X", name);
        int first = column_of(bodies, column);
        if (first < 0 || strcmp(name, "torso") == 0) {
            continue;
        }
        poise_vec3 at = poise_kinematics_point(f->kin, k, poise_model_joint_info(f->model, k).given->mass_center);
        vec3 there = v3(cell_of(bodies, row, first), cell_of(bodies, row, first + 1), cell_of(bodies, row, first + 2));
        largest = fmax(largest, v3_norm(v3_sub(at, there)));
    }
    return largest;
}

// Angles are degrees.
TEST_DATA(mass_centres_move_as_in_opensims_body_kinematics, "osim/gait2354")
{
    poise_file *file = read_model(DATA "gait2354/subject01_simbody_adjusted.osim");
    io_bytes angles = io_load(DATA "gait2354/subject01_walk1_Kinematics_q.sto");
    io_bytes output = io_load(DATA "gait2354/subject01_walk1_BodyKinematics_pos_global.sto");
    table q = table_of((const char *)angles.bytes), bodies = table_of((const char *)output.bytes);
    figure f = figure_of(file->model);
    for (int row = 0; row < 29; ++row) {
        for (int k = 0; k < poise_model_info(f.model).joints; ++k) {
            poise_joint_info info = poise_model_joint_info(f.model, k);
            int column = column_of(&q, info.name);
            if (info.nq == 1) {
                ck_assert_msg(column > 0, "%s", info.name);
                double value = cell_of(&q, row, column);
                f.q[info.q] = info.type == POISE_JOINT_PRISMATIC ? value : value * 0.017453292519943295;
            }
        }
        update(&f);
        double off = largest_shift(&f, &bodies, row);
        ck_assert_msg(off <= 3e-7, "row %d: %g mm", row, 1000 * off);
    }
}

// ---- Units of coordinates -----------------------------------------------------------------------------------------------

#define AXIS(name, coordinate, axis, function)                                                                              \
    "<TransformAxis name='" name "'><coordinates>" coordinate "</coordinates><axis>" axis "</axis>" function                \
    "</TransformAxis>"
#define LINE   "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
#define SQUARE "<PolynomialFunction><coefficients>0.02 0.1 0</coefficients></PolynomialFunction>"

// A knee that slides and spins as it bends, with an adduction between its axes: bending is an angle all the same.
static const char screwing_knee[] =
    "<OpenSimDocument Version='30000'><Model name='leg'><BodySet><objects><Body name='ground'/>"
    "<Body name='tibia'><Joint><CustomJoint name='knee'><parent_body>ground</parent_body><CoordinateSet><objects>"
    "<Coordinate name='bend'><range>0 2.5</range><clamped>true</clamped></Coordinate>"
    "<Coordinate name='adduction'><range>-1 1</range></Coordinate></objects></CoordinateSet><SpatialTransform>" //
    AXIS("rotation1", "bend", "1 0 0", LINE) AXIS("rotation2", "adduction", "0 0 1", LINE)                      //
    AXIS("rotation3", "bend", "0 1 0", SQUARE) AXIS("translation1", "bend", "1 0 0", SQUARE)                    //
    AXIS("translation2", "", "0 1 0", "<Constant><value>0</value></Constant>")                                  //
    AXIS("translation3", "", "0 0 1",
         "<Constant><value>0</value></Constant>") "</SpatialTransform></CustomJoint></Joint></Body></objects></BodySet></"
                                                  "Model></OpenSimDocument>";

TEST(a_coordinate_that_turns_by_itself_on_one_axis_is_in_degrees_whatever_its_other_axes_do)
{
    poise_file *file = io_read_text(screwing_knee, POISE_FORMAT_OSIM, NULL);
    poise_file *motion = io_read_text("x\nversion=1\ninDegrees=yes\nendheader\ntime\tbend\tadduction\n0\t60\t10\n",
                                      POISE_FORMAT_MOT, file->model);
    poise_joint_info bend = poise_model_joint_info(file->model, poise_model_find_joint(file->model, "bend"));
    double angle = motion->clip->q[bend.q];
    ck_assert_double_eq_tol(angle, PZ_PI / 3, 1e-15);
    ck_assert_int_eq(bend.given->type, POISE_JOINT_REVOLUTE);
    ck_assert_double_eq(bend.given->upper[0], 2.5);

    figure f = figure_of(file->model);
    memcpy(f.q, motion->clip->q, (size_t)f.nq * sizeof *f.q);
    update(&f);
    poise_pose pose = poise_kinematics_body_pose(f.kin, poise_model_find_body(file->model, "tibia"));
    double other = 0.02 * angle * angle + 0.1 * angle;
    poise_quat turn = poise_quat_from_axis_angle((poise_vec3){1, 0, 0}, angle);
    turn = poise_quat_multiply(turn, poise_quat_from_axis_angle((poise_vec3){0, 0, 1}, PZ_PI / 18));
    turn = poise_quat_multiply(turn, poise_quat_from_axis_angle((poise_vec3){0, 1, 0}, other));
    ck_assert_double_eq_tol(pose.position.x, other, 1e-14);
    ck_assert_double_le(poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(turn), pose.rotation)), 1e-7);

    poise_file both = {.format = POISE_FORMAT_OSIM, .model = file->model, .clip = motion->clip};
    const char *written = (const char *)io_write(&both, POISE_FORMAT_MOT, 0).bytes;
    ck_assert_msg(strstr(written, "\ntime\tbend\tadduction\n0\t60\t10\n"), "%s", written);
}

// ---- Scales and markers --------------------------------------------------------------------------------------------------

// A knee that slides along x by half of its angle, and along z not at all.
static const char sliding_knee[] =
    "<OpenSimDocument Version='30000'><Model name='leg'><BodySet><objects><Body name='ground'/>"
    "<Body name='femur'><Joint><WeldJoint name='hip'><parent_body>ground</parent_body></WeldJoint></Joint></Body>"
    "<Body name='tibia'><Joint><CustomJoint name='knee'><parent_body>femur</parent_body><CoordinateSet><objects>"
    "<Coordinate name='bend'/></objects></CoordinateSet><SpatialTransform>" //
    AXIS("rotation1", "bend", "1 0 0", LINE)
        AXIS("translation1", "bend", "1 0 0", "<LinearFunction><coefficients>0.5 0</coefficients></LinearFunction>")
            AXIS("translation3", "bend", "0 0 1",
                 "<function><Constant/></function>") "</SpatialTransform></CustomJoint></Joint></Body></objects></BodySet></"
                                                     "Model></OpenSimDocument>";

// Files have axes of zeros where nothing moves along them; where something does, that is a mistake.
TEST_ROWS(an_axis_of_zeros_is_a_mistake_where_something_moves_along_it, 2)
{
    static const char *const functions[] = {"", "<Constant><value>0.5</value></Constant>"};
    char text[1000];
    snprintf(text, sizeof text,
             "<OpenSimDocument Version='30000'><Model name='leg'><BodySet><objects><Body name='ground'/><Body name='femur'>"
             "<Joint><CustomJoint name='hip'><parent_body>ground</parent_body><SpatialTransform>" AXIS(
                 "rotation1", "", "0 0 0", "%s") "</SpatialTransform></CustomJoint></Joint></Body></objects></BodySet>"
                                                 "</Model></OpenSimDocument>",
             functions[test_row]);
    poise_file *file = NULL;
    poise_read_options options = io_options(POISE_FORMAT_OSIM, NULL);
    poise_error error = {.text = ""};
    poise_status status = poise_read(text, strlen(text), &options, NULL, &file, &error);
    ck_assert_msg(status == (test_row == 0 ? POISE_OK : POISE_ERROR_MODEL), "%s", error.text);
    ck_assert(test_row == 0 || strstr(error.text, "an axis is zero"));
    poise_file_destroy(file);
}

TEST(a_constant_has_no_slope)
{
    double around[] = {7, 0.25, 7}, slope = NAN, height = NAN;
    poise_function constant = {.kind = POISE_FUNCTION_POLYNOMIAL, .count = 1, .y = around + 1};
    ck_assert(pz_osim_is_linear(&constant, &slope, &height) && slope == 0 && height == 0.25);
}

TEST(what_a_joint_slides_by_in_part_grows_with_its_parent)
{
    poise_body_scale scale = {"femur", {2, 1, 1}, 0};
    poise_read_options options = io_options(POISE_FORMAT_OSIM, NULL);
    for (int count = 0; count < 2; ++count) {
        options.body_scales = &scale, options.body_scale_count = count;
        poise_file *file = io_read_with(sliding_knee, &options);
        ck_assert_int_eq(poise_model_info(file->model).nq, 1);
        io_near(io_pose(file->model, (double[]){1}, "tibia").position, (double[]){count ? 1 : 0.5, 0, 0}, 1e-14, "tibia");
    }
}

TEST(markers_of_a_set_alone_are_on_bodies_of_the_model)
{
    const poise_file *leg = io_read_text(sliding_knee, POISE_FORMAT_OSIM, NULL);
    poise_file *set = io_read_text(
        "<OpenSimDocument><MarkerSet><objects><Marker name='ANKLE'><socket_parent_frame>/bodyset/tibia</socket_parent_frame>"
        "<location>0 -0.4 0</location></Marker><Marker name='KNEE'><body>femur</body></Marker></objects></MarkerSet>"
        "</OpenSimDocument>",
        POISE_FORMAT_OSIM, leg->model);
    ck_assert(set->placement_count == 2 && set->warning_count == 0);
    ck_assert_int_eq(set->placements[0].body, poise_model_find_body(leg->model, "tibia"));
    ck_assert_double_eq(set->placements[0].local.y, -0.4);
    ck_assert_int_eq(set->placements[1].body, poise_model_find_body(leg->model, "femur"));
}

// Markers and joints keep their places on a body that grows, along each axis by itself.
TEST(what_is_on_a_body_grows_with_it)
{
    poise_body_scale scale = {"femur", {2, 3, 5}, 0};
    poise_read_options options = io_options(POISE_FORMAT_OSIM, NULL);
    options.body_scales = &scale, options.body_scale_count = 1;
    poise_file *file = io_read_with(
        "<OpenSimDocument><Model><BodySet><objects><Body name='ground'/><Body "
        "name='femur'><Joint><WeldJoint><parent_body>ground"
        "</parent_body></WeldJoint></Joint></Body><Body name='tibia'><Joint><WeldJoint><parent_body>femur</parent_body>"
        "<location_in_parent>0.1 0.2 "
        "0.3</location_in_parent></WeldJoint></Joint></Body></objects></BodySet><MarkerSet><objects>"
        "<Marker name='KNEE'><body>femur</body><location>0.1 0.2 0.3</location></Marker></objects></MarkerSet></Model>"
        "</OpenSimDocument>",
        &options);
    ck_assert_int_eq(file->placement_count, 1);
    io_near(file->placements[0].local, (double[]){0.2, 0.6, 1.5}, 1e-14, "KNEE");
    io_near(io_pose(file->model, NULL, "tibia").position, (double[]){0.2, 0.6, 1.5}, 1e-14, "tibia");
}

// ---- Words ---------------------------------------------------------------------------------------------------------------

TEST_DATA(what_is_not_read_is_refused_by_name, "osim/zoo/subject1_abdbonepin.osim")
{
    io_bytes bytes = io_load(DATA "zoo/subject1_abdbonepin.osim");
    poise_file *file = NULL;
    poise_error error = {0};
    ck_assert_int_eq(poise_read(bytes.bytes, bytes.size, NULL, NULL, &file, &error), POISE_ERROR_UNSUPPORTED);
    ck_assert_msg(strstr(error.text, "\"scapulothoracic\" is a ScapulothoracicJoint") && error.line == 530, "%d: %s",
                  error.line, error.text);
}

// Two names in common, such as LASI and RASI, do not make a recording one of the set that an OpenSim model has.
TEST(a_model_s_own_places_hold_alone_where_they_cover_half_of_a_recording)
{
    static const char *const labels[] = {"LASI", "RASI", "LKNE", "RKNE", "LANK", "RANK", "LTOE", "RTOE"};
    poise_placement placements[8];
    poise_markers *markers;
    ck_assert_int_eq(poise_markers_create(1, 8, 100.0, labels, NULL, &markers, NULL), POISE_OK);
    for (int common = 0; common <= 8; ++common) {
        for (int i = 0; i < 8; ++i) {
            placements[i] = (poise_placement){i < common ? labels[i] : "another", 0, {0, 0, 0}, 1.0};
        }
        poise_file skeleton = {.format = POISE_FORMAT_OSIM, .placements = placements, .placement_count = 8};
        poise_file recording = {.format = POISE_FORMAT_TRC, .markers = markers};
        ck_assert_int_eq(poise_recording_of_files(&skeleton, &recording).only_placements, common >= 4);
        skeleton.format = POISE_FORMAT_JSON;
        ck_assert(!poise_recording_of_files(&skeleton, &recording).only_placements);
    }
    poise_markers_destroy(markers);
}
