// The model: order and lookup of joints, the table of joint types, Denavit-Hartenberg chains. Limits: test_limits.c; what
// the builder refuses: test_builder.c.
#include "model/model.h"
#include "support/skeleton.h"

#include <float.h>
#include <math.h>

#define TREES  60
#define JOINTS 40

static poise_model *tree_of(uint64_t seed, unsigned features)
{
    scene_random random = scene_random_make(seed);
    poise_model *model = own_model(random_model(&random, JOINTS, features));
    return model;
}

// ---- Order ---------------------------------------------------------------------------------------------------------------

// A model of the same joints, added in the order of the list.
static poise_model *rebuilt(const poise_model *model, const int *order)
{
    poise_builder *builder = new_builder();
    for (int i = 0; i < poise_model_info(model).joints; ++i) {
        poise_joint joint = *poise_model_joint_info(model, order[i]).given;
        add(builder, &joint);
    }
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        const char *body = poise_model_joint_info(model, poise_model_tool_info(model, i).body).body;
        poise_tool tool = {poise_model_tool_info(model, i).name, body, poise_model_tool_info(model, i).pose};
        ck_assert_int_eq(poise_builder_add_tool(builder, &tool, NULL), POISE_OK);
    }
    return model_of(builder);
}

static void assert_same_joint(const poise_model *a, const poise_model *b, int k)
{
    ck_assert_str_eq(poise_model_joint_info(a, k).name, poise_model_joint_info(b, k).name);
    ck_assert_str_eq(poise_model_joint_info(a, k).body, poise_model_joint_info(b, k).body);
    ck_assert_int_eq(poise_model_joint_info(a, k).type, poise_model_joint_info(b, k).type);
    ck_assert_int_eq(poise_model_joint_info(a, k).parent, poise_model_joint_info(b, k).parent);
    ck_assert_int_eq(poise_model_joint_info(a, k).subtree, poise_model_joint_info(b, k).subtree);
    ck_assert_int_eq(poise_model_joint_info(a, k).mimic, poise_model_joint_info(b, k).mimic);
    ck_assert_int_eq(poise_model_joint_info(a, k).q, poise_model_joint_info(b, k).q);
    ck_assert_int_eq(poise_model_joint_info(a, k).nq, poise_model_joint_info(b, k).nq);
    ck_assert_int_eq(poise_model_joint_info(a, k).v, poise_model_joint_info(b, k).v);
    ck_assert_int_eq(poise_model_joint_info(a, k).nv, poise_model_joint_info(b, k).nv);
}

// Same joints at the same places, same limits, and the same poses to the last bit.
static void assert_same_model(const poise_model *a, const poise_model *b)
{
    ck_assert_int_eq(poise_model_info(a).joints, poise_model_info(b).joints);
    ck_assert_int_eq(poise_model_info(a).nq, poise_model_info(b).nq);
    ck_assert_int_eq(poise_model_info(a).nv, poise_model_info(b).nv);
    for (int k = 0; k < poise_model_info(a).joints; ++k) {
        assert_same_joint(a, b, k);
    }
    size_t bytes = (size_t)poise_model_info(a).nq * sizeof(double);
    ck_assert_mem_eq(poise_model_info(a).lower, poise_model_info(b).lower, bytes);
    ck_assert_mem_eq(poise_model_info(a).upper, poise_model_info(b).upper, bytes);
    double q[7 * JOINTS];
    scene_random random = scene_random_make(7);
    scene_random_configuration(&random, a, q);
    poise_kinematics *kin_a, *kin_b;
    ck_assert_int_eq(poise_kinematics_create(a, NULL, &kin_a, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(b, NULL, &kin_b, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin_a, q, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin_b, q, NULL), POISE_OK);
    for (int k = 0; k < poise_model_info(a).joints; ++k) {
        poise_pose pose_a = poise_kinematics_body_pose(kin_a, k), pose_b = poise_kinematics_body_pose(kin_b, k);
        ck_assert_mem_eq(&pose_a, &pose_b, sizeof pose_a);
    }
    poise_kinematics_destroy(kin_a);
    poise_kinematics_destroy(kin_b);
}

static void identity_order(int *order)
{
    for (int i = 0; i < JOINTS; ++i) {
        order[i] = i;
    }
}

static void shuffle(scene_random *random, int *order)
{
    for (int i = JOINTS - 1; i > 0; --i) {
        int j = scene_random_index(random, i + 1), held = order[i];
        order[i] = order[j];
        order[j] = held;
    }
}

// Siblings exchange their places in the list until they come in the order that they have in the model.
static void sort_siblings(const poise_model *model, int *order)
{
    for (int i = 0; i < JOINTS; ++i) {
        for (int j = i + 1; j < JOINTS; ++j) {
            if (poise_model_joint_info(model, order[i]).parent == poise_model_joint_info(model, order[j]).parent &&
                order[i] > order[j]) {
                int held = order[i];
                order[i] = order[j];
                order[j] = held;
            }
        }
    }
}

TEST(joints_added_in_depth_first_order_keep_their_index)
{
    for (uint64_t seed = 0; seed < TREES; ++seed) {
        int order[JOINTS];
        identity_order(order);
        poise_model *model = tree_of(seed, RANDOM_LIMITS | RANDOM_MIMICS | RANDOM_FOREST);
        poise_model *again = rebuilt(model, order);
        assert_same_model(model, again);
    }
}

TEST(joints_added_in_any_order_give_the_same_model_as_sorted)
{
    scene_random random = scene_random_make(1);
    for (uint64_t seed = 0; seed < TREES; ++seed) {
        int order[JOINTS];
        identity_order(order);
        poise_model *model = tree_of(seed, RANDOM_LIMITS | RANDOM_MIMICS | RANDOM_FOREST);
        shuffle(&random, order);
        sort_siblings(model, order);
        poise_model *again = rebuilt(model, order);
        assert_same_model(model, again);
    }
}

TEST(siblings_stand_in_the_order_in_which_they_were_added)
{
    scene_random random = scene_random_make(2);
    for (uint64_t seed = 0; seed < TREES; ++seed) {
        int order[JOINTS], added[JOINTS];
        identity_order(order);
        poise_model *model = tree_of(seed, RANDOM_FOREST);
        shuffle(&random, order);
        poise_model *again = rebuilt(model, order);
        for (int i = 0; i < JOINTS; ++i) {
            added[poise_model_find_joint(again, poise_model_joint_info(model, order[i]).name)] = i;
        }
        for (int i = 0; i < JOINTS; ++i) {
            for (int j = i + 1; j < JOINTS; ++j) {
                ck_assert(poise_model_joint_info(again, i).parent != poise_model_joint_info(again, j).parent ||
                          added[i] < added[j]);
            }
        }
    }
}

// ---- Queries against brute force -----------------------------------------------------------------------------------------

static bool is_above(const poise_model *model, int ancestor, int body)
{
    while (body != POISE_WORLD && body != ancestor) {
        body = poise_model_joint_info(model, body).parent;
    }
    return body == ancestor;
}

TEST(a_subtree_is_the_run_of_indices_below_its_joint)
{
    for (uint64_t seed = 0; seed < TREES; ++seed) {
        poise_model *model = tree_of(seed, RANDOM_FOREST);
        for (int k = 0; k < JOINTS; ++k) {
            int count = 0;
            ck_assert_int_lt(poise_model_joint_info(model, k).parent, k);
            for (int b = 0; b < JOINTS; ++b) {
                bool below = is_above(model, k, b);
                count += below;
                ck_assert_int_eq(below, b >= k && b < k + poise_model_joint_info(model, k).subtree);
            }
            ck_assert_int_eq(count, poise_model_joint_info(model, k).subtree);
        }
    }
}

TEST(ancestor_queries_agree_with_walking_up)
{
    for (uint64_t seed = 0; seed < TREES; ++seed) {
        poise_model *model = tree_of(seed, RANDOM_FOREST);
        for (int b = 0; b < JOINTS; ++b) {
            for (int a = 0; a < JOINTS; ++a) {
                ck_assert_int_eq(pz_model_is_ancestor(model, a, b), is_above(model, a, b));
            }
            ck_assert(pz_model_is_ancestor(model, b, b));
            ck_assert(pz_model_is_ancestor(model, POISE_WORLD, b));
            ck_assert(!pz_model_is_ancestor(model, b, POISE_WORLD));
        }
    }
}

TEST(a_path_leads_from_the_root_to_the_body)
{
    for (uint64_t seed = 0; seed < TREES; ++seed) {
        poise_model *model = tree_of(seed, RANDOM_FOREST);
        for (int b = 0; b < JOINTS; ++b) {
            int path[JOINTS + 1], length = pz_model_path(model, b, path, JOINTS + 1);
            ck_assert_int_eq(path[length - 1], b);
            ck_assert_int_eq(poise_model_joint_info(model, path[0]).parent, POISE_WORLD);
            for (int i = 1; i < length; ++i) {
                ck_assert_int_eq(poise_model_joint_info(model, path[i]).parent, path[i - 1]);
            }
            for (int capacity = 0; capacity <= length; ++capacity) { // a short list gets the part nearest the root
                int part[JOINTS + 1];
                memset(part, 0x55, sizeof part);
                ck_assert_int_eq(pz_model_path(model, b, part, capacity), length);
                ck_assert_mem_eq(part, path, (size_t)capacity * sizeof *path);
                ck_assert_int_eq(part[capacity], 0x55555555);
            }
            ck_assert_int_eq(pz_model_path(model, b, NULL, 0), length);
        }
    }
}

TEST(indices_out_of_range_give_nothing)
{
    poise_model *model = tree_of(3, RANDOM_PLAIN);
    int path[2] = {-7, -7};
    for (int i = 0; i < 4; ++i) {
        int k = (int[]){-1, -2, JOINTS, 1 << 30}[i];
        ck_assert_ptr_null(poise_model_joint_info(model, k).name);
        ck_assert_ptr_null(poise_model_joint_info(model, k).body);
        ck_assert_ptr_null(poise_model_tool_info(model, k).name);
        ck_assert_int_eq(poise_model_joint_info(model, k).type, POISE_JOINT_FIXED);
        ck_assert_int_eq(poise_model_joint_info(model, k).parent, POISE_WORLD);
        ck_assert_int_eq(poise_model_joint_info(model, k).mimic, POISE_NONE);
        ck_assert_int_eq(poise_model_tool_info(model, k).body, POISE_NONE);
        ck_assert_int_eq(poise_model_joint_info(model, k).subtree, 0);
        ck_assert_int_eq(pz_model_path(model, k, path, 2), 0);
        ck_assert_int_eq(poise_model_joint_info(model, k).q, 0);
        ck_assert_int_eq(poise_model_joint_info(model, k).nq, 0);
        ck_assert_int_eq(poise_model_joint_info(model, k).v, 0);
        ck_assert(!pz_model_is_ancestor(model, k == -1 ? -2 : k, 0));
        ck_assert(!pz_model_is_ancestor(model, 0, k));
        ck_assert_ptr_null(poise_model_joint_info(model, k).given);
        ck_assert_double_eq(poise_model_tool_info(model, k).pose.rotation.w, 1.0);
    }
    ck_assert_int_eq(path[0], -7);
}

TEST(a_null_model_is_an_empty_one)
{
    ck_assert_int_eq(poise_model_info(NULL).joints, 0);
    ck_assert_int_eq(poise_model_info(NULL).nq, 0);
    ck_assert_int_eq(poise_model_info(NULL).nv, 0);
    ck_assert_int_eq(poise_model_info(NULL).tools, 0);
    ck_assert_int_eq(poise_model_find_joint(NULL, "a"), POISE_NONE);
    ck_assert_int_eq(poise_model_find_body(NULL, "a"), POISE_NONE);
    ck_assert_int_eq(poise_model_find_tool(NULL, "a"), POISE_NONE);
    ck_assert_ptr_null(poise_model_info(NULL).lower);
    ck_assert_ptr_null(poise_model_info(NULL).upper);
    ck_assert(!poise_model_within_limits(NULL, (double[]){0}));
    ck_assert_int_eq(poise_model_clamp(NULL, (double[]){0}, NULL, NULL), POISE_ERROR_ARGUMENT);
    poise_model_neutral(NULL, NULL);
}

// ---- Names ---------------------------------------------------------------------------------------------------------------

TEST(long_names_fit_into_an_error)
{
    poise_builder *builder = new_builder();
    char name[201];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    add_plain(builder, name, NULL, POISE_JOINT_FIXED);
    poise_model *model = model_of(builder);
    poise_error error;
    ck_assert_int_eq(poise_model_find_part(model, "hand", NULL, &error), POISE_NONE);
    const char *list = strstr(error.text, "there are ");
    ck_assert_ptr_nonnull(list);
    ck_assert_uint_eq(strspn(list + strlen("there are "), "a"), 127);
}

TEST(names_are_copied)
{
    char name[] = "hinge", body[] = "arm", tool_name[] = "tip";
    poise_builder *builder = new_builder();
    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.body = body;
    add(builder, &joint);
    poise_tool tool = {tool_name, body, poise_pose_identity()};
    ck_assert_int_eq(poise_builder_add_tool(builder, &tool, NULL), POISE_OK);
    memset(name, '?', 5);
    memset(body, '?', 3);
    memset(tool_name, '?', 3);
    poise_model *model = model_of(builder);
    ck_assert_str_eq(poise_model_joint_info(model, 0).name, "hinge");
    ck_assert_str_eq(poise_model_joint_info(model, 0).body, "arm");
    ck_assert_str_eq(poise_model_tool_info(model, 0).name, "tip");
    ck_assert_int_eq(poise_model_find_tool(model, "tip"), 0);
}

// ---- The table of joint types --------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    int nq, nv;
} joint_types[POISE_JOINT_TYPE_COUNT] = {
    [POISE_JOINT_FIXED] = {"fixed", 0, 0},
    [POISE_JOINT_REVOLUTE] = {"revolute", 1, 1},
    [POISE_JOINT_PRISMATIC] = {"prismatic", 1, 1},
    [POISE_JOINT_UNIVERSAL] = {"universal", 2, 2},
    [POISE_JOINT_BALL_EULER] = {"ball_euler", 3, 3},
    [POISE_JOINT_BALL_EXPMAP] = {"ball_expmap", 3, 3},
    [POISE_JOINT_BALL_QUATERNION] = {"ball_quaternion", 4, 3},
    [POISE_JOINT_SWING_TWIST] = {"swing_twist", 3, 3},
    [POISE_JOINT_TRANSLATION] = {"translation", 3, 3},
    [POISE_JOINT_PLANAR] = {"planar", 3, 3},
    [POISE_JOINT_FREE] = {"free", 7, 6},
    [POISE_JOINT_FREE_EXPMAP] = {"free_expmap", 6, 6},
    [POISE_JOINT_FREE_EULER] = {"free_euler", 6, 6},
    [POISE_JOINT_CURVE] = {"curve", 1, 1},
};

TEST(coordinates_follow_one_another_in_the_order_of_joints)
{
    for (uint64_t seed = 0; seed < TREES; ++seed) {
        poise_model *model = tree_of(seed, RANDOM_MIMICS);
        int q = 0, v = 0;
        for (int k = 0; k < JOINTS; ++k) {
            bool own = poise_model_joint_info(model, k).mimic == POISE_NONE;
            int type = (int)poise_model_joint_info(model, k).type;
            ck_assert_int_eq(poise_model_joint_info(model, k).q, q);
            ck_assert_int_eq(poise_model_joint_info(model, k).nq, own ? joint_types[type].nq : 0);
            q += poise_model_joint_info(model, k).nq;
            ck_assert_int_eq(poise_model_joint_info(model, k).v, v);
            ck_assert_int_eq(poise_model_joint_info(model, k).nv, own ? joint_types[type].nv : 0);
            v += poise_model_joint_info(model, k).nv;
        }
        ck_assert_int_eq(poise_model_info(model).nq, q);
        ck_assert_int_eq(poise_model_info(model).nv, v);
    }
}

// A joint comes back as it was given, but for the lengths of its axes and quaternions.
TEST(a_description_comes_back_normalised)
{
    scene_random random = scene_random_make(8);
    poise_builder *builder = new_builder();
    poise_joint given = random_joint(&random, POISE_JOINT_UNIVERSAL);
    given.name = "a";
    given.axis = poise_vec3_make(0, 0, -3);
    given.axis2 = poise_vec3_make(0, 1e-200, 0);
    given.offset.rotation = (poise_quat){0, 4, 0, 3};
    given.lower[1] = -0.5;
    add(builder, &given);
    poise_model *model = model_of(builder);
    poise_joint joint = *poise_model_joint_info(model, 0).given;
    ck_assert_str_eq(joint.name, "a");
    ck_assert_str_eq(joint.body, "a");
    ck_assert_ptr_null(joint.parent);
    ck_assert_ptr_null(joint.mimic);
    ck_assert(joint.axis.x == 0 && joint.axis.y == 0 && joint.axis.z == -1);
    ck_assert(joint.axis2.x == 0 && joint.axis2.y == 1 && joint.axis2.z == 0);
    ck_assert_double_eq_tol(joint.offset.rotation.y, 0.8, DBL_EPSILON);
    ck_assert_double_eq_tol(joint.offset.rotation.w, 0.6, DBL_EPSILON);
    ck_assert_mem_eq(&joint.offset.position, &given.offset.position, sizeof given.offset.position);
    ck_assert_mem_eq(joint.lower, given.lower, sizeof given.lower);
    ck_assert_double_eq(joint.mass, given.mass);
}

// ---- Denavit-Hartenberg --------------------------------------------------------------------------------------------------

typedef struct matrix {
    double m[4][4];
} matrix;

static matrix product(matrix a, matrix b)
{
    matrix c = {0};
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            for (int k = 0; k < 4; ++k) {
                c.m[i][j] += a.m[i][k] * b.m[k][j];
            }
        }
    }
    return c;
}

// The matrix of one row as the textbooks print it; Craig 2005, eq. (3.6), for the modified form.
static matrix row_matrix(poise_dh_convention convention, double a, double alpha, double d, double theta)
{
    double st = sin(theta), ct = cos(theta), sa = sin(alpha), ca = cos(alpha);
    if (convention == POISE_DH_CLASSIC) {
        return (matrix){{{ct, -st * ca, st * sa, a * ct}, {st, ct * ca, -ct * sa, a * st}, {0, sa, ca, d}, {0, 0, 0, 1}}};
    }
    return (matrix){{{ct, -st, 0, a}, {st * ca, ct * ca, -sa, -sa * d}, {st * sa, ct * sa, ca, ca * d}, {0, 0, 0, 1}}};
}

#define DH_ROWS 7

// A row adds a rotation and an arm of at most 2 to what is at most 14 long; each matrix product rounds a few times, and sine
// and cosine here and there differ by a unit.
#define DH_BOUND (DH_ROWS * 14 * 16 * DBL_EPSILON)

static void check_table(scene_random *random, poise_dh_convention convention)
{
    poise_dh_row rows[DH_ROWS];
    double q[DH_ROWS];
    matrix expected = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    for (int i = 0; i < DH_ROWS; ++i) {
        poise_vec3 r = random_vector(random, 1.0);
        rows[i] = (poise_dh_row){.a = r.x, .alpha = 3 * r.y, .d = r.z, .lower = -2, .upper = 2 + i};
        rows[i].theta = scene_random_range(random, -3, 3);
        rows[i].prismatic = scene_random_index(random, 3) == 0;
        q[i] = scene_random_range(random, -1, 1);
        double d = rows[i].d + (rows[i].prismatic ? q[i] : 0), theta = rows[i].theta + (rows[i].prismatic ? 0 : q[i]);
        expected = product(expected, row_matrix(convention, rows[i].a, rows[i].alpha, d, theta));
    }
    poise_builder *builder = new_builder();
    ck_assert_int_eq(poise_builder_add_dh(builder, "arm", NULL, convention, rows, DH_ROWS, NULL), POISE_OK);
    poise_model *model = model_of(builder);
    ck_assert_str_eq(poise_model_joint_info(model, 0).name, "arm1");
    ck_assert_int_eq(poise_model_find_body(model, "arm7"), 6);
    ck_assert_int_eq(poise_model_find_tool(model, "armtip"), 0);
    ck_assert_double_eq(poise_model_info(model).lower[3], -2.0);
    ck_assert_double_eq(poise_model_info(model).upper[3], 5.0);
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(kin, q, NULL), POISE_OK);
    poise_pose tip = poise_kinematics_tool_pose(kin, 0);
    double R[9], p[3] = {tip.position.x, tip.position.y, tip.position.z};
    poise_quat_to_matrix(tip.rotation, R);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            ck_assert_double_eq_tol(R[3 * i + j], expected.m[i][j], DH_BOUND);
        }
        ck_assert_double_eq_tol(p[i], expected.m[i][3], DH_BOUND);
    }
    poise_kinematics_destroy(kin);
}

TEST(a_classic_table_ends_at_the_product_of_its_matrices)
{
    scene_random random = scene_random_make(21);
    for (int i = 0; i < TREES; ++i) {
        check_table(&random, POISE_DH_CLASSIC);
    }
}

TEST(a_modified_table_ends_at_the_product_of_its_matrices)
{
    scene_random random = scene_random_make(22);
    for (int i = 0; i < TREES; ++i) {
        check_table(&random, POISE_DH_MODIFIED);
    }
}

TEST(a_table_hangs_on_its_parent)
{
    poise_builder *builder = new_builder();
    poise_joint base = poise_joint_default();
    base.name = "base";
    base.offset.position = poise_vec3_make(1, 2, 3);
    add(builder, &base);
    poise_dh_row row = {.a = 2, .lower = -INFINITY, .upper = INFINITY};
    ck_assert_int_eq(poise_builder_add_dh(builder, "left", "base", POISE_DH_CLASSIC, &row, 1, NULL), POISE_OK);
    ck_assert_int_eq(poise_builder_add_dh(builder, "right", "base", POISE_DH_MODIFIED, &row, 1, NULL), POISE_OK);
    poise_model *model = model_of(builder);
    poise_kinematics *kin;
    ck_assert_int_eq(poise_kinematics_create(model, NULL, &kin, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_joint_info(model, 1).parent, 0);
    ck_assert_int_eq(poise_model_joint_info(model, 2).parent, 0);
    ck_assert_double_eq(poise_kinematics_body_pose(kin, 1).position.x, 1.0); // classic: a comes after the joint
    ck_assert_double_eq(poise_kinematics_tool_pose(kin, 0).position.x, 3.0);
    ck_assert_double_eq(poise_kinematics_body_pose(kin, 2).position.x, 3.0); // modified: before it
    ck_assert_double_eq(poise_kinematics_tool_pose(kin, 1).position.x, 3.0);
    poise_kinematics_destroy(kin);
}
