// Agreement with MuJoCo: the same file and the same joint values give the same poses of all bodies and sites, the same
// limits, the same couplings. Files are made up at random; two are real.
#include "support/io_check.h"

#include "scenes/random.h"

#include <math.h>
#include <mujoco/mujoco.h>

#define BODIES 12
#define FILES  200

// The sum of some hundred roundings of numbers below 30, twice.
#define SAME 1e-12

// ---- Files at random -----------------------------------------------------------------------------------------------------

static double number(scene_random *random)
{
    return scene_random_range(random, -1, 1);
}

static void put_pose(io_text *out, scene_random *random)
{
    double a[7];
    for (int i = 0; i < 7; ++i) {
        a[i] = number(random);
    }
    io_put(out, " pos='%.17g %.17g %.17g'", a[4], a[5], a[6]);
    switch (scene_random_index(random, 6)) {
    case 0:
        io_put(out, " quat='%.17g %.17g %.17g %.17g'", a[0], a[1], a[2], a[3]);
        break;
    case 1:
        io_put(out, " axisangle='%.17g %.17g %.17g %.17g'", a[0], a[1], a[2], a[3]);
        break;
    case 2:
        io_put(out, " euler='%.17g %.17g %.17g'", 90 * a[0], 90 * a[1], 90 * a[2]);
        break;
    case 3:
        io_put(out, " xyaxes='%.17g %.17g %.17g %.17g %.17g %.17g'", a[0], a[1], a[2], a[3], a[4], a[5]);
        break;
    case 4:
        io_put(out, " zaxis='%.17g %.17g %.17g'", a[0], a[1], a[2]);
        break;
    default:
        break;
    }
}

static void put_joint(io_text *out, scene_random *random, int joint)
{
    const char *const classes[] = {"", " class='main'", " class='one'", " class='two'"};
    double low = number(random);
    io_put(out, "<joint name='j%d'%s", joint, classes[scene_random_index(random, 4)]);
    if (scene_random_index(random, 3) > 0) {
        io_put(out, " axis='%.17g %.17g %.17g'", number(random), number(random), number(random));
    }
    if (scene_random_index(random, 2)) {
        io_put(out, " pos='%.17g %.17g %.17g'", number(random), number(random), number(random));
    }
    if (scene_random_index(random, 2)) {
        io_put(out, " ref='%.17g' range='%.17g %.17g' limited='true'", low + 0.5, low, low + 1);
    }
    if (scene_random_index(random, 3) == 0) {
        io_put(out, " type='slide'");
    }
    io_put(out, "/>");
}

static void put_body(io_text *out, scene_random *random, int body, bool on_world, int *joints)
{
    const char *const classes[] = {"", " childclass='one'", " childclass='two'"};
    io_put(out, "<body name='b%d'%s", body, classes[scene_random_index(random, 3)]);
    put_pose(out, random);
    io_put(out, "><geom size='.1'/><site name='s%d'", body);
    put_pose(out, random);
    io_put(out, "/><site name='f%d' type='capsule' size='.1' fromto='%.17g 0 %.17g %.17g .5 .25'/>\n", body, number(random),
           number(random), number(random));
    int kind = scene_random_index(random, 6);
    if (kind == 0 && on_world) {
        io_put(out, "<freejoint name='j%d'/>", (*joints)++);
    } else if (kind == 1) {
        io_put(out, "<joint type='ball' name='j%d' pos='0 .5 .25' limited='false'/>", (*joints)++);
    } else {
        for (int i = 0; i < kind - 2; ++i) {
            put_joint(out, random, (*joints)++);
        }
    }
}

// Each body is put into the one before, or some levels above.
static char *write_file(scene_random *random)
{
    static const char *const sequences[] = {"xyz", "zyx", "XYZ", "yXz", "ZxY", "xyx"};
    io_text out = {0};
    io_put(&out, "<mujoco model='random'><compiler eulerseq='%s' angle='%s'/>\n", sequences[scene_random_index(random, 6)],
           scene_random_index(random, 2) ? "degree" : "radian");
    io_put(&out,
           "<default><joint axis='0 1 .5'/><default class='one'><joint pos='.1 .2 .3' axis='1 0 0'/><site quat='1 1 0 0'/>"
           "<default class='two'><joint type='slide' ref='.25'/></default></default></default>\n<worldbody>");
    int depth = 0, joints = 0;
    for (int i = 0; i < BODIES; ++i) {
        int up = scene_random_index(random, 3) == 0 ? scene_random_index(random, depth + 1) : 0;
        for (; up > 0; --up, --depth) {
            io_put(&out, "</body>");
        }
        put_body(&out, random, i, depth == 0, &joints);
        ++depth;
    }
    for (; depth > 0; --depth) {
        io_put(&out, "</body>");
    }
    io_put(&out, "</worldbody></mujoco>");
    return out.text;
}

// ---- Comparing -----------------------------------------------------------------------------------------------------------

static poise_pose pose_from(const mjtNum *p, const mjtNum *q)
{
    return (poise_pose){{q[1], q[2], q[3], q[0]}, {p[0], p[1], p[2]}};
}

// Values at random, in MuJoCo's order and ours: both go through the joints by name.
static void random_values(scene_random *random, const mjModel *theirs, mjData *data, const poise_model *model, double *q)
{
    poise_model_neutral(model, q);
    for (int j = 0; j < theirs->njnt; ++j) {
        mjtNum *to = data->qpos + theirs->jnt_qposadr[j];
        int ours = poise_model_find_joint(model, mj_id2name(theirs, mjOBJ_JOINT, j)), count;
        ck_assert_int_ge(ours, 0);
        double *from = q + poise_model_joint_info(model, ours).q;
        count = poise_model_joint_info(model, ours).nq;
        int shift = theirs->jnt_type[j] == mjJNT_FREE ? 3 : 0;
        for (int i = 0; i < count; ++i) {
            from[i] = scene_random_range(random, -2, 2);
        }
        if (theirs->jnt_type[j] == mjJNT_HINGE || theirs->jnt_type[j] == mjJNT_SLIDE) {
            to[0] = from[0];
            continue;
        }
        double *u = from + shift, length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]);
        for (int i = 0; i < 4; ++i) {
            u[i] /= length;
            to[shift + (i + 1) % 4] = u[i]; // w first
        }
        for (int i = 0; i < shift; ++i) {
            to[i] = from[i];
        }
    }
}

static void compare_poses(const mjModel *theirs, const mjData *data, const poise_model *model, const double *q)
{
    for (int b = 1; b < theirs->nbody; ++b) {
        const char *name = mj_id2name(theirs, mjOBJ_BODY, b);
        io_same_pose(name, io_pose(model, q, name), pose_from(data->xpos + 3 * b, data->xquat + 4 * b), SAME);
    }
    for (int s = 0; s < theirs->nsite; ++s) {
        const char *name = mj_id2name(theirs, mjOBJ_SITE, s);
        mjtNum quaternion[4];
        mju_mat2Quat(quaternion, data->site_xmat + 9 * s);
        io_same_pose(name, io_pose(model, q, name), pose_from(data->site_xpos + 3 * s, quaternion), SAME);
    }
}

static void compare_limits(const mjModel *theirs, const poise_model *model)
{
    for (int j = 0; j < theirs->njnt; ++j) {
        poise_joint joint =
            *poise_model_joint_info(model, poise_model_find_joint(model, mj_id2name(theirs, mjOBJ_JOINT, j))).given;
        if (!theirs->jnt_limited[j] || theirs->jnt_type[j] == mjJNT_BALL) {
            ck_assert(isinf(joint.lower[0]) && isinf(joint.upper[0]));
            continue;
        }
        ck_assert_double_eq_tol(joint.lower[0], theirs->jnt_range[2 * j], 1e-15);
        ck_assert_double_eq_tol(joint.upper[0], theirs->jnt_range[2 * j + 1], 1e-15);
    }
}

// A text as a file of MuJoCo's virtual folder, beside others.
static mjModel *load_theirs(const char *const *files)
{
    mjVFS *folder = malloc(sizeof *folder);
    mj_defaultVFS(folder);
    for (const char *const *file = files; *file; file += 2) {
        int length = (int)strlen(file[1]);
        ck_assert_int_eq(mj_makeEmptyFileVFS(folder, file[0], length), 0);
        memcpy(folder->filedata[mj_findFileVFS(folder, file[0])], file[1], (size_t)length);
    }
    char error[1000] = "";
    mjModel *model = mj_loadXML(files[0], folder, error, sizeof error);
    ck_assert_msg(model != NULL, "%s\n%.500s", error, files[1]);
    mj_deleteVFS(folder);
    free(folder);
    return model;
}

static poise_status load_ours(void *user, const char *name, const void **bytes, size_t *size)
{
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    for (const char *const *file = user; *file; file += 2) {
        if (strcmp(file[0], base) == 0) {
            *bytes = file[1];
            *size = strlen(file[1]);
            return POISE_OK;
        }
    }
    return POISE_ERROR_NOT_FOUND;
}

// The first file with the others available, at ten configurations.
static void compare(scene_random *random, const char *const *files)
{
    mjModel *theirs = load_theirs(files);
    mjData *data = mj_makeData(theirs);
    poise_read_options options = io_options(POISE_FORMAT_MJCF, NULL);
    options.load = load_ours;
    options.user = (void *)(uintptr_t)files;
    poise_file *file = io_read_with(files[1], &options);
    ck_assert_int_eq(poise_model_info(file->model).nq, theirs->nq);
    ck_assert_int_eq(poise_model_info(file->model).nv, theirs->nv);
    ck_assert_int_eq(poise_model_info(file->model).tools, theirs->nsite);
    compare_limits(theirs, file->model);
    double *q = malloc(sizeof *q * (size_t)(theirs->nq + 1));
    for (int i = 0; i < 10; ++i) {
        random_values(random, theirs, data, file->model, q);
        mj_kinematics(theirs, data);
        compare_poses(theirs, data, file->model, q);
    }
    free(q);
    mj_deleteData(data);
    mj_deleteModel(theirs);
}

TEST(files_at_random_give_the_poses_of_mujoco)
{
    scene_random random = scene_random_make(1);
    for (int i = 0; i < FILES; ++i) {
        char *text = write_file(&random);
        const char *const files[] = {"model.xml", text, NULL};
        compare(&random, files);
        free(text);
    }
}

TEST_DATA(real_files_give_the_poses_of_mujoco, "mjcf")
{
    scene_random random = scene_random_make(2);
    char *humanoid = (char *)io_load("mjcf/humanoid.xml").bytes, *cmu = (char *)io_load("mjcf/humanoid_CMU.xml").bytes;
    const char *const files[] = {"model.xml", humanoid, NULL};
    const char *const more[] = {"model.xml",
                                cmu,
                                "skybox.xml",
                                "<mujoco><option/></mujoco>",
                                "visual.xml",
                                "<mujoco><option/></mujoco>",
                                "materials.xml",
                                "<mujoco><asset><material name='self'/><material name='grid'/></asset></mujoco>",
                                NULL};
    compare(&random, files);
    compare(&random, more);
}
