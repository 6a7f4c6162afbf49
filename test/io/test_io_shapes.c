// Shapes, pairs and loops that files hold: MJCF geoms and equalities, SRDF, meshes, and Poise's JSON.
#include "documents.h"
#include "support/io_check.h"

#include <math.h>

#define ARM(inside, more)                                                                                                   \
    "<mujoco><default><geom contype='2'/><default class='seen'><geom contype='0' conaffinity='0'/></default></default>"     \
    "<worldbody><geom type='plane' size='1 1 1'/><body name='a' pos='0 0 1'><joint/>" inside                                \
    "<body name='b' pos='0 0 1' euler='0 0 90'><joint name='j'/><body name='c' pos='1 0 0'><joint/></body></body></body>"   \
    "</worldbody>" more "</mujoco>"

typedef struct geom_case {
    const char *text;
    poise_shape_kind kind;
    double half[3], radius;
    double top[3]; // where z = 1 of its frame is in the body's
} geom_case;

static const geom_case geoms[] = {
    {"<geom size='.1' pos='1 2 3'/>", POISE_SHAPE_CAPSULE, {0, 0, 0}, 0.1, {1, 2, 4}},
    {"<geom type='capsule' size='.1 .5'/>", POISE_SHAPE_CAPSULE, {0, 0, 0.5}, 0.1, {0, 0, 1}},
    {"<geom type='cylinder' size='.1 .5'/>", POISE_SHAPE_CAPSULE, {0, 0, 0.5}, 0.1, {0, 0, 1}},
    {"<geom type='capsule' size='.1' fromto='2 0 0 0 0 0'/>", POISE_SHAPE_CAPSULE, {0, 0, 1}, 0.1, {2, 0, 0}},
    {"<geom type='box' size='1 2 3'/>", POISE_SHAPE_BOX, {1, 2, 3}, 0, {0, 0, 1}},
    {"<geom type='box' size='-1 -2 -3'/>", POISE_SHAPE_BOX, {1, 2, 3}, 0, {0, 0, 1}},
    {"<geom type='box' size='.1' fromto='0 0 0 0 0 2'/>", POISE_SHAPE_BOX, {0.1, 0.1, 1}, 0, {0, 0, 0}},
    {"<geom type='ellipsoid' size='3 2 1'/>", POISE_SHAPE_CAPSULE, {0, 0, 1}, 2, {1, 0, 0}},
    {"<frame pos='0 0 1'><geom type='box' size='1 2 3'/></frame>", POISE_SHAPE_BOX, {1, 2, 3}, 0, {0, 0, 2}},
};

TEST_ROWS(a_geom_becomes_the_shape_that_covers_it, TEST_COUNT(geoms))
{
    const geom_case *c = &geoms[test_row];
    char text[2000];
    snprintf(text, sizeof text, ARM("%s<geom class='seen' size='9'/>", ""), c->text);
    poise_file *file = io_read_text(text, POISE_FORMAT_MJCF, NULL);
    ck_assert_int_eq(file->shape_count, 2); // after the plane
    const poise_shape *shape = &file->shapes[1];
    ck_assert(file->shapes[0].kind == POISE_SHAPE_HALF_SPACE && file->shapes[0].body == POISE_WORLD);
    ck_assert_int_eq(shape->kind, c->kind);
    ck_assert_int_eq(shape->body, poise_model_find_body(file->model, "a"));
    ck_assert(shape->groups == 2 && shape->against == 1);
    ck_assert(fabs(shape->radius - c->radius) < 1e-15);
    io_near(shape->half, c->half, 1e-15, "half");
    io_near(poise_pose_transform(shape->pose, (poise_vec3){0, 0, 1}), c->top, 1e-12, "top");
}

// How far the hull of a geom reaches in a direction of its body; the geom as it is, not what covers it.
static const struct {
    const char *text;
    double along[3], reach;
} hulls[] = {
    {"<geom size='.1' pos='1 2 3'/>", {0, 0, 1}, 3.1},
    {"<geom type='capsule' size='.1 .5'/>", {0, 0, 1}, 0.6},
    {"<geom type='cylinder' size='.1 .5'/>", {0, 0, 1}, 0.5}, // its capsule reaches 0.6
    {"<geom type='cylinder' size='.1 .5'/>", {1, 0, 0}, 0.1},
    {"<geom type='box' size='1 2 3' euler='0 0 90'/>", {1, 0, 0}, 2},
    {"<geom type='ellipsoid' size='3 2 1'/>", {0, 0, 1}, 1}, // its capsule reaches 2
    {"<geom type='ellipsoid' size='3 2 1'/>", {1, 0, 0}, 3},
    {"<frame pos='0 0 1'><geom type='box' size='1 2 3'/></frame>", {0, 0, 1}, 4},
};

static double reach_of(const poise_hull *hull, const double along[3])
{
    double most = -INFINITY;
    for (int i = 0; i < hull->corner_count; ++i) {
        poise_vec3 x = hull->corners[i];
        most = fmax(most, x.x * along[0] + x.y * along[1] + x.z * along[2] + hull->radius);
    }
    return most;
}

TEST_ROWS(a_geom_has_the_hull_that_it_is, TEST_COUNT(hulls))
{
    char text[2000];
    snprintf(text, sizeof text, ARM("%s<geom class='seen' size='9'/>", ""), hulls[test_row].text);
    poise_file *file = io_read_text(text, POISE_FORMAT_MJCF, NULL);
    ck_assert_int_eq(file->hull_count, 1); // the plane stands in the world
    ck_assert_int_eq(file->hulls[0].body, poise_model_find_body(file->model, "a"));
    ck_assert(file->hulls[0].groups == 2 && file->hulls[0].against == 1);
    ck_assert_double_eq_tol(reach_of(&file->hulls[0], hulls[test_row].along), hulls[test_row].reach, 1e-12);
    poise_edit edit = {.scale = {.metres = 0.01}, .assumed = {.metres = 1}};
    ck_assert_int_eq(poise_file_edit(file, &edit, NULL, NULL), POISE_OK);
    ck_assert_double_eq_tol(reach_of(&file->hulls[0], hulls[test_row].along), 100 * hulls[test_row].reach, 1e-9);
}

// p and q collide by <pair> alone, and with nothing else: neither do r, which a pair names as well, and p.
TEST(pairs_of_geoms_collide_whatever_their_bits)
{
    poise_file *file =
        io_read_text(ARM("<geom name='p' class='seen' size='.1'/>",
                         "<worldbody><body pos='5 0 0'><joint/><geom name='q' class='seen' size='.1'/></body>"
                         "<body pos='0 5 0'><joint/><geom name='r' class='seen' size='.1'/></body></worldbody>"
                         "<contact><pair geom1='p' geom2='q'/><pair geom1='r' geom2='q'/></contact>"),
                     POISE_FORMAT_MJCF, NULL);
    ck_assert_int_eq(file->shape_count, 4); // with the plane
    poise_pairs_options options = poise_pairs_options_default();
    poise_pair pairs[6];
    int found = 0;
    ck_assert_int_eq(poise_pairs_find(file->model, file->shapes, file->shape_count, &options, NULL, pairs, 6, &found, NULL),
                     POISE_OK);
    ck_assert_int_eq(found, 2);
    for (int i = 0; i < 2; ++i) {
        bool has_q = pairs[i].a == 2 || pairs[i].b == 2;
        ck_assert(has_q && pairs[i].a != 0);
    }
}

TEST(loops_close_where_the_file_draws_the_bodies)
{
    poise_file *file = io_read_text(ARM("", "<equality><connect body1='c' anchor='0 0 2'/><weld body1='a' body2='c'/>"
                                            "<weld body1='a' body2='b' active='false'/></equality>"
                                            "<contact><exclude body1='a' body2='c'/></contact>"),
                                    POISE_FORMAT_MJCF, NULL);
    ck_assert_int_eq(file->loop_count, 2);
    ck_assert_int_eq(file->excluded_count, 1);
    ck_assert_int_eq(file->excluded[0].b, poise_model_find_body(file->model, "c"));
    for (int i = 0; i < 2; ++i) { // at q = 0 they are closed
        const poise_constraint *loop = &file->loops[i];
        poise_pose a = poise_pose_multiply(io_pose(file->model, NULL, i == 0 ? "c" : "a"), loop->local);
        poise_pose b = i == 0 ? loop->target : poise_pose_multiply(io_pose(file->model, NULL, "c"), loop->target);
        ck_assert_int_eq(loop->kind, i == 0 ? POISE_CONSTRAINT_CONNECT : POISE_CONSTRAINT_WELD);
        double there[] = {b.position.x, b.position.y, b.position.z};
        io_near(a.position, there, 1e-12, "loop");
        if (i == 1) {
            io_same_pose("weld", a, b, 1e-12);
        }
    }
    double anchor[] = {0, 1, 4}; // c is at 0 1 2
    io_near(file->loops[0].target.position, anchor, 1e-12, "anchor");
}

static const io_refusal refusals[] = {
    {{ARM("", "\n<equality><connect body1='x' anchor='0 0 0'/></equality>"), 2, "there is no body \"x\""},
     POISE_ERROR_MODEL},
    {{ARM("", "\n<equality><weld site1='x' site2='y'/></equality>"), 2, "there is no site \"x\""}, POISE_ERROR_MODEL},
    {{ARM("", "\n<contact><exclude body1='x' body2='a'/></contact>"), 2, "there is no body \"x\""}, POISE_ERROR_MODEL},
    {{ARM("\n<geom size='x'/>", ""), 2, "size"}, POISE_ERROR_FORMAT},
};

TEST_ROWS(what_is_not_there_is_named, TEST_COUNT(refusals))
{
    io_refusal_holds(&refusals[test_row], POISE_FORMAT_MJCF);
}

TEST(an_srdf_gives_pairs_and_postures)
{
    poise_model *model = io_read_text(document_json, POISE_FORMAT_JSON, NULL)->model;
    poise_file *file = io_read_text(document_srdf, POISE_FORMAT_SRDF, model);
    ck_assert_int_eq(file->excluded_count, 1);
    ck_assert_int_eq(file->excluded[0].b, poise_model_find_body(model, "arm"));
    ck_assert_int_eq(file->posture_count, 1);
    ck_assert_str_eq(file->postures[0].name, "home");
    ck_assert(file->postures[0].q[7] == 1.5);
    io_check_warned(file, 4, "no joint \"nothing\"");
    io_check_warned(file, 6, "no link \"elsewhere\"");
    io_refused_text(document_srdf, POISE_FORMAT_SRDF, NULL, 0, "give it as model");
    io_refused_text(
        "<robot><disable_collisions link1='arm' link2='l1'/>\n<disable_collisions link1='l2' link2='l3'/></robot>",
        POISE_FORMAT_SRDF, model, 1, "1 of the 4 links");
}

TEST(a_state_places_a_free_base_by_the_names_it_goes_by)
{
    poise_model *model = io_read_text(document_json, POISE_FORMAT_JSON, NULL)->model;
    ck_assert_int_eq(poise_model_joint_info(model, 0).type, POISE_JOINT_FREE);
    poise_file *file =
        io_read_text("<robot><virtual_joint name='floats' type='floating' parent_frame='world' child_link='base'/>"
                     "<group_state name='a'><joint name='root_joint' value='1 2 3 0 0 0 1'/></group_state>"
                     "<group_state name='b'><joint name='floats' value='4 5 6 0 3 0 4'/></group_state></robot>",
                     POISE_FORMAT_SRDF, model);
    ck_assert_int_eq(file->warning_count, 0);
    ck_assert(file->postures[0].q[0] == 1 && file->postures[0].q[2] == 3 && file->postures[0].q[6] == 1);
    ck_assert_double_eq_tol(file->postures[1].q[1], 5, 0);
    ck_assert_double_eq_tol(file->postures[1].q[4], 0.6, 1e-15);
    io_refused_text("<robot><group_state name='a'>\n<joint name='root_joint' value='1 2 3 0 0 0 0'/></group_state></robot>",
                    POISE_FORMAT_SRDF, model, 2, "is 0 0 0 0");
    io_refused_text("<robot><group_state name='a'>\n<joint name='root_joint' value='1 2 3'/></group_state></robot>",
                    POISE_FORMAT_SRDF, model, 2, "7");
}

// ---- Meshes --------------------------------------------------------------------------------------------------------------

// A bar along x with a hook of the same thickness up at its end, as an OBJ of two boxes.
static void put_box(io_text *out, const double low[3], const double high[3], int first)
{
    for (int i = 0; i < 8; ++i) {
        io_put(out, "v %g %g %g\n", i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]);
    }
    static const int faces[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1}, {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    for (int f = 0; f < 6; ++f) {
        io_put(out, "f %d/1/1 %d %d//2 %d\n", first + faces[f][0], first + faces[f][1], first + faces[f][2],
               first + faces[f][3]);
    }
}

static char *hook(void)
{
    io_text out = {0};
    put_box(&out, (double[]){0, 0, 0}, (double[]){1, 0.1, 0.1}, 1);
    put_box(&out, (double[]){0.9, 0, 0}, (double[]){1, 0.1, 1}, 9);
    test_own(free, out.text);
    return out.text;
}

// The same bar alone, as bytes of STL: three corners are enough to place it.
static io_bytes stl(void)
{
    static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 0.5f, 0};
    io_bytes made = {calloc(1, 84 + 50), 84 + 50};
    made.bytes[80] = 1;
    memcpy(made.bytes + 84 + 12, corners, sizeof corners);
    test_own(free, made.bytes);
    return made;
}

static poise_status hand_out(void *user, const char *name, const void **bytes, size_t *size)
{
    (void)user;
    if (strcmp(name, "package://bot/bar.stl") == 0) {
        io_bytes made = stl();
        *bytes = made.bytes, *size = made.size;
        return POISE_OK;
    }
    *bytes = hook();
    *size = strlen(*bytes);
    return strcmp(name, "parts/hook.obj") == 0 || strcmp(name, "hook.obj") == 0 ? POISE_OK : POISE_ERROR_NOT_FOUND;
}

static double outside(const poise_shape *shape, poise_vec3 x)
{
    poise_vec3 p = poise_pose_transform(poise_pose_inverse(shape->pose), x);
    double d[3] = {fmax(0, fabs(p.x) - shape->half.x), fmax(0, fabs(p.y) - shape->half.y),
                   fmax(0, fabs(p.z) - shape->half.z)};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - shape->radius;
}

static double least_outside(const poise_file *file, double x, double y, double z)
{
    double least = INFINITY;
    for (int i = 0; i < file->shape_count; ++i) {
        least = fmin(least, outside(&file->shapes[i], (poise_vec3){x, y, z}));
    }
    return least;
}

TEST(a_mesh_is_covered_and_little_else)
{
    poise_read_options options = io_options(POISE_FORMAT_MJCF, NULL);
    options.load = hand_out, options.meshes = true;
    poise_file *file = io_read_with("<mujoco><compiler meshdir='parts'/><asset><mesh file='hook.obj'/></asset><worldbody>"
                                    "<body><geom type='mesh' mesh='hook'/></body></worldbody></mujoco>",
                                    &options);
    ck_assert_int_ge(file->shape_count, 2);
    for (int i = 0; i <= 1000; ++i) { // points of the surface and within
        double t = i / 1000.0;
        for (int k = 0; k < 4; ++k) {
            double u = k & 1 ? 0.1 : 0, w = k & 2 ? 0.1 : 0;
            ck_assert_double_le(least_outside(file, t, u, w), 0);
            ck_assert_double_le(least_outside(file, 0.9 + u, w, t), 0);
        }
    }
    ck_assert_double_ge(least_outside(file, 0.3, 0, 0.6), 0.1); // what the hook leaves open
}

// The hook is 1 long as its file has it.
static const struct {
    const char *defaults, *mesh;
    double length;
} scaled[] = {
    {"", "<mesh file='hook.obj'/>", 1},
    {"", "<mesh file='hook.obj' scale='2 2 2'/>", 2},
    {"<default><mesh scale='2 2 2'/></default>", "<mesh file='hook.obj'/>", 2},
    {"<default class='all'><mesh scale='2 2 2'/></default>", "<mesh name='hook' file='hook.obj'/>", 2},
    {"<default><mesh scale='2 2 2'/></default>", "<mesh file='hook.obj' scale='3 3 3'/>", 3},
    {"<default><default class='h'><mesh scale='2 2 2'/></default></default>", "<mesh class='h' file='hook.obj'/>", 2},
    {"<default><default class='h'><mesh scale='2 2 2'/></default></default>", "<mesh file='hook.obj'/>", 1},
    {"<default><mesh scale='2 2 2'/><default class='h'><mesh maxhullvert='8'/></default></default>",
     "<mesh class='h' file='hook.obj'/>", 2},
    {"<default><mesh scale='2 2 2'/><default class='h'><mesh scale='3 3 3'/></default></default>",
     "<mesh class='h' file='hook.obj'/>", 3},
};

TEST_ROWS(a_mesh_has_the_scale_of_its_class, TEST_COUNT(scaled))
{
    char text[600];
    poise_read_options options = io_options(POISE_FORMAT_MJCF, NULL);
    options.load = hand_out, options.meshes = true;
    snprintf(text, sizeof text,
             "<mujoco><compiler meshdir='parts'/>%s<asset>%s</asset><worldbody><body><geom type='mesh' mesh='hook'/></body>"
             "</worldbody></mujoco>",
             scaled[test_row].defaults, scaled[test_row].mesh);
    poise_file *file = io_read_with(text, &options);
    double length = scaled[test_row].length;
    ck_assert_double_le(least_outside(file, length, 0, 0), 0);
    ck_assert_double_ge(least_outside(file, length + 0.5, 0, 0), 0.2);
}

static int hooks_handed_out;

static poise_status count_hooks(void *user, const char *name, const void **bytes, size_t *size)
{
    hooks_handed_out += strstr(name, "hook.obj") != NULL;
    return hand_out(user, name, bytes, size);
}

TEST(a_mesh_that_comes_again_is_read_and_covered_once_at_each_scale)
{
    poise_read_options options = io_options(POISE_FORMAT_MJCF, NULL);
    options.load = count_hooks, options.meshes = true;
    hooks_handed_out = 0;
    poise_file *file = io_read_with(
        "<mujoco><compiler meshdir='parts/'/><asset><mesh file='hook.obj'/><mesh name='long' file='hook.obj' scale='2 2 2'/>"
        "</asset><worldbody><body name='a'><geom type='mesh' mesh='hook'/><body name='b' pos='0 0 5'><joint/>"
        "<geom type='mesh' mesh='hook' pos='0 3 0'/><geom type='mesh' mesh='long'/></body></body></worldbody></mujoco>",
        &options);
    ck_assert_int_eq(hooks_handed_out, 2);
    int each = file->shape_count / 3;
    ck_assert_int_eq(3 * each, file->shape_count);
    for (int i = 0; i < each; ++i) {
        const poise_shape *first = &file->shapes[i], *again = &file->shapes[each + i];
        ck_assert(first->body != again->body && again->kind == first->kind && again->radius == first->radius);
        ck_assert_double_eq_tol(again->pose.position.y, first->pose.position.y + 3, 1e-15);
        ck_assert_double_eq_tol(file->shapes[2 * each + i].half.z, 2 * first->half.z, 1e-12);
    }
}

static poise_file *hooks(const char *scale, const char *inside)
{
    poise_read_options options = io_options(POISE_FORMAT_MJCF, NULL);
    char text[400];
    options.load = hand_out, options.meshes = true;
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh file='hook.obj'/><mesh name='long' file='hook.obj' scale='%s'/></asset><worldbody><body>"
             "%s</body></worldbody></mujoco>",
             scale, inside);
    return io_read_with(text, &options);
}

TEST_ROWS(a_mesh_that_is_stretched_along_one_axis_does_not_stand_for_the_plain_one, 3)
{
    static const char *const scales[] = {"2 1 1", "1 2 1", "1 1 2"};
    poise_file *stretched = hooks(scales[test_row], "<geom type='mesh' mesh='long'/>");
    poise_file *plain = hooks(scales[test_row], "<geom type='mesh' mesh='hook'/>");
    poise_file *both = hooks(scales[test_row], "<geom type='mesh' mesh='long'/><geom type='mesh' mesh='hook'/>");
    ck_assert_int_eq(both->shape_count, stretched->shape_count + plain->shape_count);
    for (int i = 0; i < both->shape_count; ++i) {
        int of_plain = i - stretched->shape_count;
        const poise_shape *alone = of_plain < 0 ? &stretched->shapes[i] : &plain->shapes[of_plain], *is = &both->shapes[i];
        ck_assert(is->half.x == alone->half.x && is->half.y == alone->half.y && is->half.z == alone->half.z);
        ck_assert(is->pose.position.x == alone->pose.position.x && is->pose.position.y == alone->pose.position.y);
    }
}

TEST(a_mesh_of_no_class_is_refused)
{
    poise_read_options options = io_options(POISE_FORMAT_MJCF, NULL);
    options.load = hand_out, options.meshes = true;
    static const char text[] =
        "<mujoco><asset>\n<mesh class='h' file='hook.obj'/></asset><worldbody><body><geom type='mesh' "
        "mesh='hook'/></body></worldbody></mujoco>";
    io_refused(text, sizeof text - 1, &options, 2, "no default class \"h\"");
}

TEST(a_link_has_the_shape_of_its_mesh_at_its_scale)
{
    static const char text[] = "<robot><link name='a'><collision><geometry><mesh filename='package://bot/bar.stl' "
                               "scale='2 2 2'/></geometry></collision></link><link name='b'>\n<collision><geometry>"
                               "<mesh filename='none.dae'/></geometry></collision></link><joint name='j' type='fixed'>"
                               "<parent link='a'/><child link='b'/></joint></robot>";
    poise_read_options options = io_options(POISE_FORMAT_URDF, NULL);
    options.load = hand_out, options.meshes = true;
    poise_file *file = io_read_with(text, &options);
    ck_assert_int_ge(file->shape_count, 1);
    ck_assert_int_eq(file->shapes_skipped, 1);
    io_check_warned(file, 2, "none.dae");
    ck_assert_double_le(least_outside(file, 2, 0, 0), 0);
    ck_assert_double_le(least_outside(file, 0, 1, 0), 0);
    options.meshes = false;
    file = io_read_with(text, &options);
    ck_assert(file->shape_count == 0 && file->shapes_skipped == 2 && file->warning_count == 0);
}

// A capsule whose cylinder two spheres round off, one beside its axis, and one that sticks out.
TEST(spheres_within_a_cylinder_s_capsule_are_left_out)
{
    poise_file *file = io_read_text(
        "<robot><link name='a'>"
        "<collision><geometry><cylinder radius='0.2' length='1'/></geometry></collision>"
        "<collision><origin xyz='0 0 0.5'/><geometry><sphere radius='0.2'/></geometry></collision>"
        "<collision><origin xyz='0.05 0 -0.5'/><geometry><sphere radius='0.1'/></geometry></collision>"
        "<collision><origin xyz='0.15 0 0'/><geometry><sphere radius='0.1'/></geometry></collision></link></robot>",
        POISE_FORMAT_URDF, NULL);
    ck_assert(file->shape_count == 2 && file->shapes[0].half.z == 0.5 && file->shapes[1].pose.position.x == 0.15);
}

TEST(one_shape_is_watched_against_one_obstacle)
{
    poise_file *file = io_read_text(
        "<robot><link name='a'/><link name='b'><collision><geometry><sphere radius='0.1'/></geometry></collision></link>"
        "<joint name='j' type='prismatic'><parent link='a'/><child link='b'/><limit lower='0' upper='1'/></joint></robot>",
        POISE_FORMAT_URDF, NULL);
    poise_shape wall = poise_shape_half_space(POISE_WORLD, (poise_vec3){-1, 0, 0}, (poise_vec3){1, 0, 0});
    poise_constraint *clearance = NULL;
    poise_error error = {0};
    ck_assert_msg(!poise_file_clearance(file, &wall, 1, NULL, NULL, &clearance, &error), "%s", error.text);
    test_own(free, clearance);
    ck_assert(clearance->shape_count == 2 && clearance->pair_count == 1);
}

// What a loop closes touches where it does, however many loops there are.
TEST(bodies_that_a_loop_joins_are_not_watched_against_each_other)
{
    static const char body[] = "<body name='%c' pos='%d 0 0'><joint/><geom type='sphere' size='0.1'/></body>";
    char text[1000], bodies[3][200];
    for (int i = 0; i < 3; ++i) {
        snprintf(bodies[i], sizeof bodies[i], body, 'a' + i, i);
    }
    for (int loops = 0; loops < 3; ++loops) {
        snprintf(text, sizeof text, "<mujoco><worldbody>%s%s%s</worldbody><equality>%s%s</equality></mujoco>", bodies[0],
                 bodies[1], bodies[2], loops > 0 ? "<connect body1='a' body2='b' anchor='0.5 0 0'/>" : "",
                 loops > 1 ? "<connect body1='b' body2='c' anchor='0.5 0 0'/>" : "");
        poise_constraint *clearance = NULL;
        ck_assert_int_eq(
            poise_file_clearance(io_read_text(text, POISE_FORMAT_MJCF, NULL), NULL, 0, NULL, NULL, &clearance, NULL),
            POISE_OK);
        test_own(free, clearance);
        ck_assert_int_eq(clearance->pair_count, 3 - loops);
    }
}

// URDF gives a box by its sides, along each axis by itself; Poise has halves of them.
TEST(a_box_is_as_large_as_its_sides)
{
    poise_file *file =
        io_read_text("<robot><link name='a'><collision><geometry><box size='0.2 0.4 0.6'/></geometry></collision>"
                     "</link></robot>",
                     POISE_FORMAT_URDF, NULL);
    ck_assert(file->shape_count == 1 && file->shapes[0].kind == POISE_SHAPE_BOX);
    io_near(file->shapes[0].half, (double[]){0.1, 0.2, 0.3}, 1e-15, "half");
}

// A floor alone has nothing to keep clear of it, nor has it with a wall; with something that a body carries it has.
TEST(shapes_of_the_world_need_one_that_a_body_carries)
{
    poise_file *file = io_read_text("<mujoco><worldbody><geom type='plane' size='1 1 1'/><geom type='sphere' size='0.1'/>"
                                    "<body><joint type='slide'/></body></worldbody></mujoco>",
                                    POISE_FORMAT_MJCF, NULL);
    poise_shape more[] = {poise_shape_half_space(POISE_WORLD, (poise_vec3){-1, 0, 0}, (poise_vec3){1, 0, 0}),
                          poise_shape_capsule(0, (poise_vec3){0, 0, 0}, (poise_vec3){0, 0, 1}, 0.1)};
    poise_constraint *clearance = NULL;
    ck_assert_int_eq(file->shape_count, 2);
    ck_assert_int_eq(poise_file_clearance(file, more, 0, NULL, NULL, &clearance, NULL), POISE_ERROR_NOT_FOUND);
    ck_assert_int_eq(poise_file_clearance(file, more, 1, NULL, NULL, &clearance, NULL), POISE_ERROR_NOT_FOUND);
    ck_assert_int_eq(poise_file_clearance(file, more, 2, NULL, NULL, &clearance, NULL), POISE_OK);
    test_own(free, clearance);
}

// The document of a COLLADA file around its primitives and its scene. Points: the corners of the unit square, 0 to 3.
#define COLLADA_WITH(unit, primitives, scene)                                                                               \
    "<?xml version='1.0'?><COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'><asset>" unit       \
    "<up_axis>Y_UP</up_axis></asset><library_geometries><geometry id='G'><mesh><source id='P'><float_array id='A' "         \
    "count='12'>"                                                                                                           \
    "0 0 0 1 0 0\n1 1 0 0 1 0</float_array><technique_common><accessor source='#A' count='4' "                              \
    "stride='3'/></technique_common>"                                                                                       \
    "</source><source id='N'><float_array>0 0 1</float_array></source><vertices id='V'><input semantic='POSITION' "         \
    "source='#P'/></vertices>" primitives "</mesh></geometry></library_geometries>" scene "</COLLADA>"
#define SCENE(nodes)                                                                                                        \
    "<library_visual_scenes><visual_scene id='S'>" nodes                                                                    \
    "</visual_scene></library_visual_scenes><scene><instance_visual_scene "                                                 \
    "url='#S'/></scene>"
#define CORNERS  "<input semantic='NORMAL' source='#N' offset='1'/><input semantic='VERTEX' source='#V' offset='0'/>"
#define PLAIN    "<input semantic='VERTEX' source='#V' offset='0'/>"
#define SHOWN    "<instance_geometry url='#G'/>"
#define ONE_NODE SCENE("<node>" SHOWN "</node>")
#define HALF     "<triangles>" CORNERS "<p>0 0 1 0 2 0</p></triangles>"

#define ZERO                                                                                                                \
    {                                                                                                                       \
        0, 0, 0                                                                                                             \
    }

// What covers `inside` and not `outside`; or why there is nothing.
static const struct {
    const char *text;
    poise_vec3 inside, outside;
    const char *why;
} collada[] = {
    {COLLADA_WITH("", HALF, ONE_NODE), {1, 1, 0}, {0, 1, 0}, NULL},
    {COLLADA_WITH("<unit name='cm' meter='0.01'/>", HALF, ONE_NODE), {0.01, 0.01, 0}, {0.1, 0.1, 0}, NULL},
    {COLLADA_WITH("", "<polylist>" CORNERS "<vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist>", ONE_NODE),
     {0, 1, 0},
     {0, 1, 0.2},
     NULL},
    {COLLADA_WITH("", "<triangles>" PLAIN "<p>0 1 2 0 2 3</p></triangles>", ONE_NODE), {0, 1, 0}, {0, 1, 0.2}, NULL},
    {COLLADA_WITH("", "<polygons>" PLAIN "<p>0 1 2</p><p>0 2 3</p></polygons>", ONE_NODE), {0, 1, 0}, {0, 1, 0.2}, NULL},
    {COLLADA_WITH("", "<trifans>" PLAIN "<p>0 1 2 3</p></trifans>", ONE_NODE), {0, 1, 0}, {0, 1, 0.2}, NULL},
    {COLLADA_WITH("", "<tristrips>" PLAIN "<p>1 2 0 3</p></tristrips>", ONE_NODE), {0, 1, 0}, {0, 1, 0.2}, NULL},
    {COLLADA_WITH("", HALF,
                  SCENE("<node><translate>0 0 5</translate><node><rotate>0 0 1 90</rotate><scale>2 2 2</scale>" SHOWN
                        "</node></node>")),
     {-2, 2, 5},
     {2, 2, 5},
     NULL},
    {COLLADA_WITH("", HALF, SCENE("<node><matrix>1 0 0 3  0 1 0 0  0 0 1 0  0 0 0 1</matrix>" SHOWN "</node>")),
     {4, 1, 0},
     {0, 0, 0},
     NULL},
    {COLLADA_WITH("", HALF,
                  "<library_nodes><node id='L'><translate>0 0 1</translate>" SHOWN
                  "</node></library_nodes>" SCENE("<node><translate>3 0 0</translate><instance_node url='#L'/></node>")),
     {4, 1, 1},
     {1, 1, 0},
     NULL},
    {COLLADA_WITH("", "<triangles>" PLAIN "<p>0 1 9</p></triangles>", ONE_NODE), ZERO, ZERO, "missing vertex"},
    {COLLADA_WITH("", "<polylist>" PLAIN "<p>0 1 2</p></polylist>", ONE_NODE), ZERO, ZERO, "vcount"},
    {COLLADA_WITH("", "<lines>" PLAIN "<p>0 1</p></lines>", ONE_NODE), ZERO, ZERO, "with triangles"},
    {COLLADA_WITH("", HALF, SCENE("<node id='L'><instance_node url='#L'/></node>")), ZERO, ZERO, "nested too deeply"},
    {"<COLLADA><asset>", ZERO, ZERO, "XML is broken"},
    {"<svg/>", ZERO, ZERO, "not COLLADA"},
};

static poise_status hand_out_text(void *user, const char *name, const void **bytes, size_t *size)
{
    (void)name;
    *bytes = user, *size = strlen(user);
    return POISE_OK;
}

TEST_ROWS(a_collada_mesh_is_covered, TEST_COUNT(collada))
{
    static const char robot[] =
        "<robot><link name='a'><collision><geometry><mesh filename='part.dae'/></geometry></collision>"
        "</link></robot>";
    poise_read_options options = io_options(POISE_FORMAT_URDF, NULL);
    options.load = hand_out_text, options.meshes = true;
    options.user = (void *)(uintptr_t)collada[test_row].text; // only read
    poise_file *file = io_read_with(robot, &options);
    poise_vec3 in = collada[test_row].inside, out = collada[test_row].outside;
    if (collada[test_row].why) {
        ck_assert_int_eq(file->shapes_skipped, 1);
        io_check_warned(file, 1, collada[test_row].why);
        return;
    }
    ck_assert_int_eq(file->shapes_skipped, 0);
    ck_assert_double_le(least_outside(file, in.x, in.y, in.z), 1e-9);
    ck_assert_double_ge(least_outside(file, out.x, out.y, out.z), 0.05);
}

// Instances multiply what a file holds: 18 kB would become 750,000 corners.
TEST(a_collada_mesh_of_many_instances_is_no_larger_than_its_file_allows)
{
    enum { TRIANGLES = 500, INSTANCES = 500, ROOM = 20000 };
    char *text = malloc(ROOM);
    test_own(free, text);
    int size =
        snprintf(text, ROOM,
                 "<COLLADA><geometry id='G'><mesh><source id='P'><float_array>0 0 0 1 0 0 0 1 0</float_array></source>"
                 "<vertices id='V'><input semantic='POSITION' source='#P'/></vertices><triangles>" PLAIN "<p>");
    for (int i = 0; i < TRIANGLES; ++i) {
        size += snprintf(text + size, ROOM - (size_t)size, "0 1 2 ");
    }
    size += snprintf(text + size, ROOM - (size_t)size,
                     "</p></triangles></mesh></geometry><library_visual_scenes><visual_scene><node>");
    for (int i = 0; i < INSTANCES; ++i) {
        size += snprintf(text + size, ROOM - (size_t)size, SHOWN);
    }
    size += snprintf(text + size, ROOM - (size_t)size, "</node></visual_scene></library_visual_scenes></COLLADA>");
    poise_read_options options = io_options(POISE_FORMAT_URDF, NULL);
    options.load = hand_out_text, options.meshes = true;
    options.user = text;
    poise_file *file = io_read_with(
        "<robot><link name='a'><collision><geometry><mesh filename='part.dae'/></geometry></collision></link></robot>",
        &options);
    ck_assert_int_eq(file->shapes_skipped, 1);
    io_check_warned(file, 1, "repeats its geometry too often");
}

static int loads;

static poise_status count_loads(void *user, const char *name, const void **bytes, size_t *size)
{
    loads += 1;
    return hand_out_text(user, name, bytes, size);
}

// A mesh is read once, whatever came of it, and covered at so many scales.
TEST(a_mesh_that_is_named_often_is_not_read_as_often)
{
    enum { NAMED = 100, ROOM = 20000 };
    char text[ROOM];
    for (int row = 0; row < 2; ++row) {
        int size = snprintf(text, ROOM, "<robot><link name='a'>");
        for (int i = 1; i <= NAMED; ++i) {
            size += snprintf(text + size, ROOM - (size_t)size,
                             "<collision><geometry><mesh filename='part.obj' scale='1 1 %d'/></geometry></collision>",
                             row == 1 ? i : 1);
        }
        snprintf(text + size, ROOM - (size_t)size, "</link></robot>");
        poise_read_options options = io_options(POISE_FORMAT_URDF, NULL);
        options.load = count_loads, options.meshes = true;
        options.user = row == 1 ? "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" : "v 0 0 0\nf 1 2 3\n";
        loads = 0;
        poise_file *file = io_read_with(text, &options);
        ck_assert_int_eq(loads, row == 1 ? 64 : 1);
        ck_assert_int_eq(file->shapes_skipped, row == 1 ? NAMED - 64 : NAMED);
    }
}

// A cube with a dent, and a point within: eight corners are left, at the scale and in the place of the link.
TEST(a_mesh_has_the_hull_of_its_vertices)
{
    poise_read_options options = io_options(POISE_FORMAT_URDF, NULL);
    options.load = count_loads, options.meshes = true;
    options.user = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\nv .5 .5 .5\nv .5 .5 1\n"
                   "f 1 2 4 3\nf 5 6 10\nf 6 8 10\nf 8 7 9\nf 7 5 9\nf 1 2 6 5\nf 3 4 8 7\n";
    poise_file *file = io_read_with("<robot name='r'><link name='a'><collision><origin xyz='0 0 5'/><geometry>"
                                    "<mesh filename='a.obj' scale='1 2 3'/></geometry></collision></link></robot>",
                                    &options);
    ck_assert_int_eq(file->hull_count, 1);
    ck_assert_int_eq(file->hulls[0].corner_count, 8);
    ck_assert_double_eq_tol(reach_of(&file->hulls[0], (const double[]){0, 0, 1}), 8, 1e-12);
    ck_assert_double_eq_tol(reach_of(&file->hulls[0], (const double[]){0, 1, 0}), 2, 1e-12);
}

// A mesh without extent is none: by its vertices, or by its scale.
TEST_ROWS(a_mesh_in_one_place_has_no_shape, 2)
{
    static const char *const meshes[] = {"v 1 2 3\nv 1 2 3\nv 1 2 3\nf 1 2 3\n", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"};
    poise_read_options options = io_options(POISE_FORMAT_URDF, NULL);
    options.load = count_loads, options.meshes = true;
    options.user = (void *)meshes[test_row];
    poise_file *file = io_read_with(
        test_row == 0 ? "<robot name='r'><link name='a'><collision><geometry><mesh filename='a.obj'/></geometry>"
                        "</collision></link></robot>"
                      : "<robot name='r'><link name='a'><collision><geometry><mesh filename='a.obj' "
                        "scale='0 0 0'/></geometry></collision></link></robot>",
        &options);
    ck_assert_int_eq(file->shapes_skipped, 1);
    ck_assert_int_eq(file->hull_count + file->shape_count, 0);
    io_check_warned(file, 1, "in one place");
}

TEST(a_bad_mesh_is_refused_in_words)
{
    poise_vec3 corners[3] = {{0, 0, 0}, {1, 0, 0}, {0, NAN, 0}};
    poise_shape shapes[8];
    int count;
    poise_error error;
    ck_assert_int_eq(poise_shapes_fit(0, corners, 1, shapes, 8, &count, &error), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.text, "corner 2"));
    ck_assert_int_eq(poise_shapes_fit(0, corners, 0, shapes, 8, &count, &error), POISE_ERROR_ARGUMENT);
    corners[2] = corners[1];
    ck_assert_int_eq(poise_shapes_fit(0, corners, 1, shapes, 8, &count, &error), POISE_OK); // a line
    ck_assert_int_ge(count, 1);
}

// Twelve triangles of a box, or a cylinder of 24 sides with its lids, about the origin; z is along it.
static size_t make_solid(bool is_round, poise_vec3 half, poise_vec3 *corners)
{
    size_t count = 0;
    int sides = is_round ? 24 : 4;
    for (int i = 0; i < sides; ++i) {
        poise_vec3 ring[2];
        for (int k = 0; k < 2; ++k) {
            double angle = 6.283185307179586 * ((i + k) % sides + 0.5) / sides, wide = is_round ? 1 : sqrt(2);
            ring[k] = (poise_vec3){wide * half.x * cos(angle), wide * half.y * sin(angle), half.z};
        }
        for (int end = -1; end <= 1; end += 2) {
            poise_vec3 a = ring[0], b = ring[1], other = ring[end < 0];
            a.z = b.z = end * half.z, other.z = -end * half.z;
            poise_vec3 made[] = {a, b, other, a, b, {0, 0, end * half.z}};
            memcpy(corners + count, made, sizeof made);
            count += 6;
        }
    }
    return count / 3;
}

// How far covers reach beyond the bounding box of the solid, of its longest half side.
static const struct {
    bool is_round;
    poise_vec3 half;
    double overhang;
} solids[] = {
    {false, {0.5, 0.3, 0.2}, 1e-6}, {false, {0.5, 0.5, 0.01}, 1e-6}, {false, {0.3, 0.3, 0.3}, 1e-6},
    {true, {0.1, 0.1, 0.1}, 0.2},   {true, {0.06, 0.06, 0.3}, 0.1},
};

TEST_ROWS(a_cover_is_tight, TEST_COUNT(solids))
{
    poise_vec3 corners[24 * 12], h = solids[test_row].half;
    poise_shape shapes[8];
    int count;
    size_t triangles = make_solid(solids[test_row].is_round, h, corners);
    ck_assert_int_eq(poise_shapes_fit(0, corners, triangles, shapes, 8, &count, NULL), POISE_OK);
    poise_file cover = {.shapes = shapes, .shape_count = count};
    for (size_t i = 0; i < 3 * triangles; ++i) {
        ck_assert_double_le(least_outside(&cover, corners[i].x, corners[i].y, corners[i].z), 0);
    }
    double more = solids[test_row].overhang * fmax(h.x, fmax(h.y, h.z));
    for (int i = 0; i < 6 * 441; ++i) { // points of the box that is so much larger
        int face = i % 6;
        double u = (i / 6 % 21 - 10) / 10.0, v = (i / 126 % 21 - 10) / 10.0, side = face % 2 ? 1 : -1;
        double x[3] = {u, v, side};
        poise_vec3 at = {x[face / 2] * (h.x + more), x[(face / 2 + 1) % 3] * (h.y + more),
                         x[(face / 2 + 2) % 3] * (h.z + more)};
        ck_assert_double_gt(least_outside(&cover, at.x, at.y, at.z), 0);
    }
}

// Triangles whose corners lie on a capsule about z, 0.1 thick and 0.4 from its middle to either end.
TEST(a_mesh_of_a_capsule_is_covered_by_that)
{
    enum { RINGS = 13, SIDES = 24 };
    poise_vec3 corners[RINGS * SIDES];
    for (int i = 0; i < RINGS * SIDES; ++i) {
        int ring = i / SIDES;
        double up = 3.141592653589793 * (ring / (RINGS - 1.0) - 0.5), round = 6.283185307179586 * (i % SIDES) / SIDES;
        corners[i] = (poise_vec3){0.1 * cos(up) * cos(round), 0.1 * cos(up) * sin(round),
                                  0.1 * sin(up) + (ring < RINGS / 2 ? -0.3 : 0.3)};
    }
    poise_shape shape;
    int count;
    ck_assert_int_eq(poise_shapes_fit(0, corners, RINGS * SIDES / 3, &shape, 1, &count, NULL), POISE_OK);
    ck_assert_int_eq(shape.kind, POISE_SHAPE_CAPSULE);
    ck_assert_double_eq_tol(shape.radius, 0.1, 0.003);
    ck_assert_double_eq_tol(shape.half.z + shape.radius, 0.4, 0.003);
}

static const io_case bad_json[] = {
    {"{\"poise\": 1,\n\"shapes\": []}", 2, "without a model"},
    {"{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"a\"}]},\n\"shapes\": [{\"kind\": \"ball\"}]}", 2,
     "is not one of"},
    {"{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"a\"}]},\n\"shapes\": [{\"radius\": -1}]}", 2, "radius"},
    {"{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"a\"}]},\n\"shapes\": [{\"groups\": 1.5}]}", 2, "whole number"},
    {"{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"a\"}]},\n\"loops\": [{\"body\": \"b\"}]}", 2, "no body \"b\""},
    {"{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"a\"}]},\n\"loops\": [{\"local\": {\"position\": [1]}, "
     "\"target\": {}}]}",
     2, "loops[0].local.position: 1 values instead of 3"},
    {"{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"a\"}]},\n\"excluded\": [[\"a\"]]}", 2, "excluded"},
};

TEST_ROWS(bad_shapes_and_loops_are_refused, TEST_COUNT(bad_json))
{
    io_case_refused(&bad_json[test_row], POISE_FORMAT_JSON, NULL);
}
