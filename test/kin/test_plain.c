// The plain reference implementation against central differences, and the second derivatives by name: each pair of joint
// kinds, above and below, across branches, at the moving root, within one ball joint.
#include "kin/plain_random.h"
#include "papers/plain/plain.h"
#include "support/test_main.h"

#include <math.h>
#include <string.h>

#define BONES     12
#define EFFECTORS 5
#define DOFS      (BONES * PLAIN_DOF_MAX)
#define ROWS      (3 * EFFECTORS)

// Fourth-order central differences. With the step h, values of size s and derivatives of size s (turns: every derivative of
// a circle is as large as the circle), the error is s (h^4 / 30 + 1.5 epsilon / h) = s (3e-14 + 3e-13). Sums over a few
// dozen terms raise the second part by up to that factor.
#define STEP      1e-3
#define TOLERANCE 2e-11

static void random_vector_of(int n, double size, double *x)
{
    for (int i = 0; i < n; ++i) {
        x[i] = size * uniform();
    }
}

// Columns from Gram and Schmidt.
static void random_rotation(double R[9])
{
    poise_vec3 a = random_vector(), b = random_vector();
    double la = sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
    a = (poise_vec3){a.x / la, a.y / la, a.z / la};
    double ab = a.x * b.x + a.y * b.y + a.z * b.z;
    b = (poise_vec3){b.x - ab * a.x, b.y - ab * a.y, b.z - ab * a.z};
    double lb = sqrt(b.x * b.x + b.y * b.y + b.z * b.z);
    b = (poise_vec3){b.x / lb, b.y / lb, b.z / lb};
    double columns[9] = {a.x, b.x, a.y * b.z - a.z * b.y, a.y, b.y, a.z * b.x - a.x * b.z, a.z, b.z, a.x * b.y - a.y * b.x};
    memcpy(R, columns, sizeof columns);
}

// A bone at a random place with the degrees of freedom that `shape` picks: none, one hinge, one slider, hinge and slider,
// slider and hinge, two hinges, or a ball joint.
static plain_bone random_bone(int parent, int shape)
{
    plain_bone bone = plain_bone_fixed(parent, random_vector());
    random_rotation(bone.rotation);
    double axes[9];
    random_rotation(axes);
    switch (shape) {
    case 0:
        break;
    case 6:
        plain_bone_add_euler(&bone, (poise_euler_order)below(POISE_EULER_ORDER_COUNT), axes);
        break;
    default:
        if (shape == 1 || shape == 3 || shape == 5) {
            plain_bone_add(&bone, PLAIN_REVOLUTE, random_vector());
        }
        if (shape >= 2 && shape <= 4) {
            plain_bone_add(&bone, PLAIN_PRISMATIC, random_vector());
        }
        if (shape >= 4) {
            plain_bone_add(&bone, PLAIN_REVOLUTE, random_vector());
        }
    }
    return bone;
}

static plain_effector random_effector(int bone)
{
    return (plain_effector){bone, random_vector(), random_vector(), 1.5 + uniform()};
}

// A tree of all shapes with a moving root; effectors on random bones, the root and inner ones among them.
static plain_ik *random_tree(void)
{
    plain_bone bones[BONES];
    plain_effector effectors[EFFECTORS];
    bones[0] = plain_bone_fixed(PLAIN_WORLD, random_vector());
    plain_bone_add_translation(&bones[0]);
    plain_bone_add_euler(&bones[0], (poise_euler_order)below(POISE_EULER_ORDER_COUNT), NULL);
    for (int k = 1; k < BONES; ++k) {
        bones[k] = random_bone(below(k), below(7));
    }
    for (int c = 0; c < EFFECTORS; ++c) {
        effectors[c] = random_effector(c == 0 ? 0 : below(BONES));
    }
    return plain_create(bones, BONES, effectors, EFFECTORS);
}

// d y / d q_i of the values that `read` takes from ik, by fourth-order central differences.
static void difference(plain_ik *ik, const double *q, int i, void (*read)(const plain_ik *, double *), int size, double *d)
{
    static const double weight[4] = {1.0, -8.0, 8.0, -1.0};
    static const double place[4] = {-2.0, -1.0, 1.0, 2.0};
    double moved[DOFS], y[ROWS * DOFS];
    memset(d, 0, (size_t)size * sizeof *d);
    memcpy(moved, q, (size_t)ik->dof_count * sizeof *q);
    for (int s = 0; s < 4; ++s) {
        moved[i] = q[i] + place[s] * STEP;
        plain_update(ik, moved);
        read(ik, y);
        for (int v = 0; v < size; ++v) {
            d[v] += weight[s] * y[v] / (12.0 * STEP);
        }
    }
    plain_update(ik, q);
}

static void read_effectors(const plain_ik *ik, double *y)
{
    memcpy(y, ik->e, (size_t)ik->effector_count * sizeof *ik->e);
}

static void read_cost(const plain_ik *ik, double *y)
{
    *y = plain_cost(ik);
}

static void read_gradient(const plain_ik *ik, double *y)
{
    double J[ROWS * DOFS];
    plain_jacobian(ik, J);
    plain_gradient(ik, J, y);
}

static double largest(const double *x, int size)
{
    double m = 0.0;
    for (int i = 0; i < size; ++i) {
        m = fmax(m, fabs(x[i]));
    }
    return m;
}

static void assert_same(const double *x, const double *y, int size, double tolerance, const char *what)
{
    for (int i = 0; i < size; ++i) {
        ck_assert_msg(fabs(x[i] - y[i]) <= tolerance, "%s: entry %d is %.17g, not %.17g", what, i, x[i], y[i]);
    }
}

static void assert_jacobian(plain_ik *ik, const double *q, const char *what)
{
    int n = ik->dof_count, rows = 3 * ik->effector_count;
    double J[ROWS * DOFS], column[ROWS], d[ROWS];
    plain_update(ik, q);
    plain_jacobian(ik, J);
    double size = 1.0 + largest(&ik->e[0].x, rows);
    for (int i = 0; i < n; ++i) {
        difference(ik, q, i, read_effectors, rows, d);
        for (int row = 0; row < rows; ++row) {
            column[row] = J[row * n + i];
        }
        assert_same(column, d, rows, TOLERANCE * size, what);
    }
}

static void assert_hessian(plain_ik *ik, const double *q, const char *what)
{
    int n = ik->dof_count;
    double J[ROWS * DOFS], H[DOFS * DOFS], d[DOFS];
    plain_update(ik, q);
    plain_jacobian(ik, J);
    plain_hessian(ik, J, H);
    double size = 1.0 + largest(H, n * n);
    for (int i = 0; i < n; ++i) {
        difference(ik, q, i, read_gradient, n, d);
        assert_same(H + i * n, d, n, TOLERANCE * size, what);
    }
}

// ---- Known answer ---------------------------------------------------------------------------------------------------

// A slide along the own x, in a frame turned by 90 degrees about z: along the world's y. Then a hinge one unit further on,
// 90 degrees about z: half a turn in the world.
TEST(frame_is_parent_times_offset_times_motion)
{
    plain_bone bones[2] = {plain_bone_fixed(PLAIN_WORLD, (poise_vec3){1, 2, 3}), plain_bone_fixed(0, (poise_vec3){1, 0, 0})};
    double quarter[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1}, half[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
    double q[2] = {0.5, acos(0.0)}, place[6] = {1, 2.5, 3, 1, 3.5, 3}, tip[3] = {0, 3.5, 3};
    memcpy(bones[0].rotation, quarter, sizeof quarter);
    plain_bone_add(&bones[0], PLAIN_PRISMATIC, (poise_vec3){2, 0, 0});
    plain_bone_add(&bones[1], PLAIN_REVOLUTE, (poise_vec3){0, 0, 3});
    plain_effector effector = {1, {1, 0, 0}, {0, 3.5, 5}, 3.0};
    plain_ik *ik = plain_create(bones, 2, &effector, 1);
    plain_update(ik, q);
    assert_same(ik->rotation, quarter, 9, 1e-15, "rotation of the slider");
    assert_same(ik->rotation + 9, half, 9, 1e-15, "rotation of the hinge");
    assert_same(&ik->position[0].x, place, 6, 1e-15, "positions");
    assert_same(&ik->e[0].x, tip, 3, 1e-15, "tip");
    ck_assert_double_eq_tol(plain_cost(ik), 6.0, 1e-15); // 3/2 * 2^2
    plain_destroy(ik);
}

// ---- Everything at once ---------------------------------------------------------------------------------------------

TEST(jacobian_matches_central_differences_of_effectors)
{
    state = 1;
    for (int trial = 0; trial < 20; ++trial) {
        double q[DOFS];
        plain_ik *ik = random_tree();
        random_vector_of(ik->dof_count, 3.0, q);
        assert_jacobian(ik, q, "jacobian");
        plain_destroy(ik);
    }
}

TEST(gradient_matches_central_differences_of_cost)
{
    state = 2;
    for (int trial = 0; trial < 20; ++trial) {
        double q[DOFS], J[ROWS * DOFS], g[DOFS], d;
        plain_ik *ik = random_tree();
        random_vector_of(ik->dof_count, 3.0, q);
        plain_update(ik, q);
        plain_jacobian(ik, J);
        plain_gradient(ik, J, g);
        double size = 1.0 + plain_cost(ik) + largest(g, ik->dof_count);
        for (int i = 0; i < ik->dof_count; ++i) {
            difference(ik, q, i, read_cost, 1, &d);
            assert_same(&g[i], &d, 1, TOLERANCE * size, "gradient");
        }
        plain_destroy(ik);
    }
}

TEST(hessian_matches_central_differences_of_gradient)
{
    state = 3;
    for (int trial = 0; trial < 20; ++trial) {
        double q[DOFS];
        plain_ik *ik = random_tree();
        random_vector_of(ik->dof_count, 3.0, q);
        assert_hessian(ik, q, "hessian");
        plain_destroy(ik);
    }
}

TEST(hessian_is_gauss_newton_minus_tensors_times_residuals)
{
    state = 4;
    double q[DOFS], J[ROWS * DOFS], H[DOFS * DOFS], G[DOFS * DOFS];
    static double K[3 * DOFS * DOFS];
    plain_ik *ik = random_tree();
    int n = ik->dof_count;
    random_vector_of(n, 3.0, q);
    plain_update(ik, q);
    plain_jacobian(ik, J);
    plain_hessian(ik, J, H);
    plain_gauss_newton(ik, J, G);
    for (int c = 0; c < ik->effector_count; ++c) {
        plain_tensor(ik, J, c, K);
        const double *r = &ik->r[c].x;
        for (int ij = 0; ij < n * n; ++ij) {
            for (int row = 0; row < 3; ++row) {
                G[ij] -= ik->effectors[c].weight * K[row * n * n + ij] * r[row];
            }
        }
    }
    // the same sums in another order: a few dozen roundings
    assert_same(H, G, n * n, 1e-14 * (1.0 + largest(H, n * n)), "hessian");
    plain_destroy(ik);
}

// The Gauss-Newton matrix against the product of the dense J with itself, zeros included.
TEST(gauss_newton_is_the_weighted_product_of_the_jacobian_with_itself)
{
    state = 5;
    double q[DOFS], J[ROWS * DOFS], G[DOFS * DOFS], dense[DOFS * DOFS];
    plain_ik *ik = random_tree();
    int n = ik->dof_count;
    random_vector_of(n, 3.0, q);
    plain_update(ik, q);
    plain_jacobian(ik, J);
    plain_gauss_newton(ik, J, G);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            double sum = 0.0;
            for (int row = 0; row < 3 * ik->effector_count; ++row) {
                sum += ik->effectors[row / 3].weight * J[row * n + i] * J[row * n + j];
            }
            dense[i * n + j] = sum;
        }
    }
    assert_same(G, dense, n * n, 1e-14 * (1.0 + largest(G, n * n)), "gauss-newton");
    plain_destroy(ik);
}

// ---- Table 2 by name ------------------------------------------------------------------------------------------------

// A chain of two moving bones with one effector at its end: an upper joint of the one kind, a lower one of the other.
static plain_ik *pair(plain_kind upper, plain_kind lower)
{
    plain_bone bones[3];
    bones[0] = plain_bone_fixed(PLAIN_WORLD, random_vector());
    plain_bone_add(&bones[0], upper, random_vector());
    bones[1] = plain_bone_fixed(0, random_vector()); // a still bone in between must change nothing
    bones[2] = plain_bone_fixed(1, random_vector());
    plain_bone_add(&bones[2], lower, random_vector());
    plain_effector effector = random_effector(2);
    return plain_create(bones, 3, &effector, 1);
}

// K_ij of effector 0 at q by differences of column i along j, for both orders of (0, 1), must be `expected`.
static void assert_pair_tensor(plain_ik *ik, const double *q, poise_vec3 expected)
{
    int n = ik->dof_count;
    double J[6], K[12];
    plain_update(ik, q);
    plain_jacobian(ik, J);
    plain_tensor(ik, J, 0, K);
    for (int order = 0; order < 2; ++order) {
        int i = order, j = 1 - order; // the differentiated column above, then below, the direction of differentiation
        double k[3], d[3] = {0, 0, 0}, moved[2] = {q[0], q[1]}, e[3] = {expected.x, expected.y, expected.z};
        static const double weight[4] = {1.0, -8.0, 8.0, -1.0}, place[4] = {-2.0, -1.0, 1.0, 2.0};
        for (int s = 0; s < 4; ++s) {
            moved[j] = q[j] + place[s] * STEP;
            plain_update(ik, moved);
            plain_jacobian(ik, J);
            for (int row = 0; row < 3; ++row) {
                d[row] += weight[s] * J[row * n + i] / (12.0 * STEP);
            }
        }
        plain_update(ik, q);
        for (int row = 0; row < 3; ++row) {
            k[row] = K[(row * n + i) * n + j];
        }
        assert_same(k, e, 3, 1e-14, "tensor against the formula");
        assert_same(k, d, 3, 4.0 * TOLERANCE, "tensor against differences");
    }
    assert_hessian(ik, q, "hessian of the pair");
}

static poise_vec3 cross(poise_vec3 a, poise_vec3 b)
{
    return (poise_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static poise_vec3 arm(const plain_ik *ik, int i)
{
    return (poise_vec3){ik->e[0].x - ik->origin[i].x, ik->e[0].y - ik->origin[i].y, ik->e[0].z - ik->origin[i].z};
}

TEST(hinge_above_hinge_turns_the_lower_column)
{
    state = 6;
    plain_ik *ik = pair(PLAIN_REVOLUTE, PLAIN_REVOLUTE);
    double q[2] = {0.7, -1.9};
    plain_update(ik, q);
    poise_vec3 right = cross(ik->axis[0], cross(ik->axis[1], arm(ik, 1)));
    poise_vec3 other_brackets = cross(cross(ik->axis[0], ik->axis[1]), arm(ik, 1));
    poise_vec3 other_order = cross(ik->axis[1], cross(ik->axis[0], arm(ik, 0)));
    assert_pair_tensor(ik, q, right);
    ck_assert_double_gt(fabs(right.x - other_brackets.x), 1e-3); // the test can tell them apart
    ck_assert_double_gt(fabs(right.x - other_order.x), 1e-3);
    plain_destroy(ik);
}

TEST(hinge_above_slider_turns_the_slider_axis)
{
    state = 7;
    plain_ik *ik = pair(PLAIN_REVOLUTE, PLAIN_PRISMATIC);
    double q[2] = {-0.4, 1.3};
    plain_update(ik, q);
    assert_pair_tensor(ik, q, cross(ik->axis[0], ik->axis[1]));
    plain_destroy(ik);
}

TEST(slider_above_hinge_has_no_second_derivative)
{
    state = 8;
    plain_ik *ik = pair(PLAIN_PRISMATIC, PLAIN_REVOLUTE);
    double q[2] = {1.1, 0.6};
    assert_pair_tensor(ik, q, (poise_vec3){0, 0, 0});
    plain_destroy(ik);
}

TEST(slider_above_slider_has_no_second_derivative)
{
    state = 9;
    plain_ik *ik = pair(PLAIN_PRISMATIC, PLAIN_PRISMATIC);
    double q[2] = {0.3, -2.2};
    assert_pair_tensor(ik, q, (poise_vec3){0, 0, 0});
    plain_destroy(ik);
}

// ---- Branches and inner effectors -----------------------------------------------------------------------------------

// One hinge per bone. Bone 0 carries two arms 1-2 and 3-4 with an effector at each end.
static plain_ik *two_arms(void)
{
    static const int parent[5] = {PLAIN_WORLD, 0, 1, 0, 3};
    plain_bone bones[5];
    for (int k = 0; k < 5; ++k) {
        bones[k] = random_bone(parent[k], 1);
    }
    plain_effector effectors[2] = {random_effector(2), random_effector(4)};
    return plain_create(bones, 5, effectors, 2);
}

TEST(different_branches_have_no_entry)
{
    state = 10;
    plain_ik *ik = two_arms();
    double q[5], J[6 * 5], H[25], K[3 * 25];
    random_vector_of(5, 3.0, q);
    assert_hessian(ik, q, "hessian of two arms");
    plain_jacobian(ik, J);
    plain_hessian(ik, J, H);
    plain_tensor(ik, J, 0, K);
    for (int i = 1; i <= 2; ++i) {
        for (int j = 3; j <= 4; ++j) {
            ck_assert_double_eq(H[5 * i + j], 0.0);
            ck_assert_double_eq(H[5 * j + i], 0.0);
            ck_assert_double_ne(H[5 * i], 0.0); // while the trunk is tied to both
            ck_assert_double_ne(H[5 * j], 0.0);
            for (int row = 0; row < 3; ++row) {
                ck_assert_double_eq(K[25 * row + 5 * i + j], 0.0);
                ck_assert_double_eq(K[25 * row + 5 * j + j], 0.0);
                ck_assert_double_eq(J[5 * row + j], 0.0);
            }
        }
    }
    plain_destroy(ik);
}

// A trunk that forks twice: bones 2, 4 and 5 have no children. With those for effectors the derivatives are right, and every
// chain ends at its leaf.
TEST(leaves_of_a_tree_are_its_end_effectors)
{
    static const int parents[6] = {PLAIN_WORLD, 0, 1, 1, 3, 0}, leaves[3] = {2, 4, 5};
    state = 12;
    plain_bone bones[6];
    plain_effector effectors[6];
    for (int k = 0; k < 6; ++k) {
        bones[k] = random_bone(parents[k], 3);
    }
    ck_assert_int_eq(plain_leaf_effectors(bones, 6, effectors), 3);
    for (int c = 0; c < 3; ++c) {
        ck_assert_int_eq(effectors[c].bone, leaves[c]);
        ck_assert_double_eq(effectors[c].weight, 1.0);
        effectors[c].goal = (poise_vec3){0.3 * c, 1.0, -0.2};
    }
    plain_ik *ik = plain_create(bones, 6, effectors, 3);
    double q[36];
    random_vector_of(ik->dof_count, 3.0, q);
    assert_hessian(ik, q, "hessian of three leaves");
    for (int c = 0; c < 3; ++c) {
        int last = ik->chain[ik->chain_start[c + 1] - 1];
        ck_assert_int_ge(last, ik->first_dof[leaves[c]]);
        ck_assert_int_lt(last, ik->first_dof[leaves[c]] + bones[leaves[c]].dof_count);
    }
    plain_destroy(ik);
}

TEST(effector_on_an_inner_bone_ignores_the_bones_below_it)
{
    state = 11;
    plain_bone bones[4];
    for (int k = 0; k < 4; ++k) {
        bones[k] = random_bone(k - 1, 6);
    }
    plain_effector effector = random_effector(1);
    plain_ik *ik = plain_create(bones, 4, &effector, 1);
    double q[12], J[3 * 12], H[144];
    random_vector_of(12, 3.0, q);
    assert_hessian(ik, q, "hessian of an inner effector");
    plain_jacobian(ik, J);
    plain_hessian(ik, J, H);
    for (int i = 6; i < 12; ++i) {
        for (int j = 0; j < 12; ++j) {
            ck_assert_double_eq(H[12 * i + j], 0.0);
        }
        ck_assert_double_eq(J[i], 0.0);
    }
    ck_assert_double_ne(J[5], 0.0);
    plain_destroy(ik);
}

// ---- The moving root ------------------------------------------------------------------------------------------------

// (35b) put right: the block of the translation is (sum of weights) I, and the coupling block the weighted sum of the
// effectors' rotation columns.
TEST(moving_root_couples_translation_and_rotation)
{
    state = 12;
    plain_ik *ik = random_tree();
    int n = ik->dof_count;
    double q[DOFS], J[ROWS * DOFS], H[DOFS * DOFS], weights = 0.0, coupling = 0.0;
    random_vector_of(n, 3.0, q);
    assert_hessian(ik, q, "hessian of a moving root");
    plain_jacobian(ik, J);
    plain_hessian(ik, J, H);
    for (int c = 0; c < ik->effector_count; ++c) {
        weights += ik->effectors[c].weight;
    }
    for (int row = 0; row < 3; ++row) {
        for (int j = 0; j < 3; ++j) {
            ck_assert_double_eq_tol(H[row * n + j], row == j ? weights : 0.0, 1e-14 * weights);
        }
        for (int j = 3; j < n; ++j) {
            double sum = 0.0;
            for (int c = 0; c < ik->effector_count; ++c) {
                sum += ik->effectors[c].weight * J[(3 * c + row) * n + j];
            }
            ck_assert_double_eq_tol(H[row * n + j], sum, 1e-14 * (1.0 + largest(J, ROWS * n)) * weights);
            coupling = fmax(coupling, fabs(sum));
        }
    }
    ck_assert_double_gt(coupling, 1.0);
    plain_destroy(ik);
}

TEST(moving_root_identity_stands_in_the_rows_of_every_effector)
{
    state = 13;
    static double K[3 * DOFS * DOFS];
    plain_ik *ik = random_tree();
    int n = ik->dof_count;
    double q[DOFS], J[ROWS * DOFS];
    random_vector_of(n, 3.0, q);
    plain_update(ik, q);
    plain_jacobian(ik, J);
    for (int row = 0; row < ROWS; ++row) {
        for (int j = 0; j < 3; ++j) {
            ck_assert_double_eq(J[row * n + j], row % 3 == j ? 1.0 : 0.0);
        }
    }
    plain_tensor(ik, J, 1, K);
    for (int row = 0; row < 3; ++row) {
        ck_assert_double_eq(largest(K + row * n * n, 3 * n), 0.0); // (34)
    }
    plain_destroy(ik);
}

// ---- Ball joints ----------------------------------------------------------------------------------------------------

static const char *const order_name[POISE_EULER_ORDER_COUNT] = {
    [POISE_EULER_XYZ] = "XYZ", [POISE_EULER_XZY] = "XZY", [POISE_EULER_YXZ] = "YXZ", [POISE_EULER_YZX] = "YZX",
    [POISE_EULER_ZXY] = "ZXY", [POISE_EULER_ZYX] = "ZYX", [POISE_EULER_XYX] = "XYX", [POISE_EULER_XZX] = "XZX",
    [POISE_EULER_YXY] = "YXY", [POISE_EULER_YZY] = "YZY", [POISE_EULER_ZXZ] = "ZXZ", [POISE_EULER_ZYZ] = "ZYZ",
};

TEST(ball_joint_block_matches_central_differences_in_every_convention)
{
    state = 14;
    for (int order = 0; order < POISE_EULER_ORDER_COUNT; ++order) {
        double axes[9], q[3] = {0.4, -1.1, 2.3};
        random_rotation(axes);
        plain_bone bone = plain_bone_fixed(PLAIN_WORLD, random_vector());
        random_rotation(bone.rotation);
        plain_bone_add_euler(&bone, (poise_euler_order)order, axes);
        plain_effector effector = random_effector(0);
        plain_ik *ik = plain_create(&bone, 1, &effector, 1);
        assert_jacobian(ik, q, order_name[order]);
        assert_hessian(ik, q, order_name[order]);
        plain_destroy(ik);
    }
}

// The entry that lines 15-18 of Algorithm 4 write above the diagonal: axis of the inner angle, column of the outer one.
TEST(ball_joint_entry_with_inner_axis_and_outer_column_is_wrong)
{
    state = 15;
    for (int order = 0; order < POISE_EULER_ORDER_COUNT; ++order) {
        double q[3] = {0.4, -1.1, 2.3}, J[9], H[9], G[9];
        plain_bone bone = plain_bone_fixed(PLAIN_WORLD, random_vector());
        plain_bone_add_euler(&bone, (poise_euler_order)order, NULL);
        plain_effector effector = {0, {0.5, 0.6, 0.7}, {2.0, 3.0, 4.0}, 1.0};
        plain_ik *ik = plain_create(&bone, 1, &effector, 1);
        plain_update(ik, q);
        plain_jacobian(ik, J);
        plain_hessian(ik, J, H);
        plain_gauss_newton(ik, J, G);
        for (int inner = 1; inner < 3; ++inner) {
            for (int outer = 0; outer < inner; ++outer) {
                poise_vec3 k = cross(ik->axis[inner], (poise_vec3){J[outer], J[3 + outer], J[6 + outer]}), r = ik->r[0];
                double printed = G[3 * outer + inner] - (k.x * r.x + k.y * r.y + k.z * r.z);
                ck_assert_double_gt(fabs(printed - H[3 * outer + inner]), 1e-2);
            }
        }
        plain_destroy(ik);
    }
}

// R = R_A(q0) R_B(q1) R_C(q2), each about a coordinate axis: R maps C's axis c to R_A R_B c, and R^T maps A's axis a to
// R_C^T R_B^T a. Both are checked with the elementary rotations written out.
TEST(ball_joint_rotation_is_the_product_of_its_letters)
{
    for (int order = 0; order < POISE_EULER_ORDER_COUNT; ++order) {
        double q[3] = {0.4, -1.1, 2.3}, R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        for (int s = 0; s < 3; ++s) {
            int a = order_name[order][s] - 'X', b = (a + 1) % 3, c = (a + 2) % 3;
            double E[9] = {0}, product[9] = {0};
            E[4 * a] = 1.0;
            E[4 * b] = E[4 * c] = cos(q[s]);
            E[3 * c + b] = sin(q[s]);
            E[3 * b + c] = -sin(q[s]);
            for (int i = 0; i < 27; ++i) {
                product[3 * (i / 9) + i % 3] += R[3 * (i / 9) + i / 3 % 3] * E[3 * (i / 3 % 3) + i % 3];
            }
            memcpy(R, product, sizeof R);
        }
        plain_bone bone = plain_bone_fixed(PLAIN_WORLD, (poise_vec3){0, 0, 0});
        plain_bone_add_euler(&bone, (poise_euler_order)order, NULL);
        plain_ik *ik = plain_create(&bone, 1, NULL, 0);
        plain_update(ik, q);
        assert_same(ik->rotation, R, 9, 1e-15, order_name[order]);
        plain_destroy(ik);
    }
}

// ---- Descriptions ---------------------------------------------------------------------------------------------------

TEST(description_that_does_not_hold_together_is_refused)
{
    plain_bone good = plain_bone_fixed(PLAIN_WORLD, (poise_vec3){0, 0, 0});
    plain_bone own_parent = plain_bone_fixed(0, (poise_vec3){0, 0, 0});
    plain_bone no_axis = good, too_many = good;
    plain_bone_add(&no_axis, PLAIN_REVOLUTE, (poise_vec3){0, 0, 0});
    plain_bone_add(&no_axis, PLAIN_REVOLUTE, (poise_vec3){0, 0, 1}); // does not heal it
    for (int i = 0; i <= PLAIN_DOF_MAX; ++i) {
        plain_bone_add(&too_many, PLAIN_PRISMATIC, (poise_vec3){0, 0, 1});
    }
    plain_effector nowhere = random_effector(1);
    ck_assert_ptr_null(plain_create(&own_parent, 1, NULL, 0));
    ck_assert_ptr_null(plain_create(&no_axis, 1, NULL, 0));
    ck_assert_ptr_null(plain_create(&too_many, 1, NULL, 0));
    ck_assert_ptr_null(plain_create(&good, 1, &nowhere, 1));
    plain_ik *ik = plain_create(&good, 1, NULL, 0);
    ck_assert_ptr_nonnull(ik);
    plain_destroy(ik);
}
