// Positions, cost, Jacobian, gradient and Hessian against the reference numbers of the exact-Hessian paper's own data: plain
// and Poise, each from the same skeleton described in its own way.
#include "goal/objective.h"
#include "papers/plain/plain.h"
#include "support/hdm05_reference.h"
#include "support/test_main.h"

#include <poise/poise.h>

#include <math.h>
#include <string.h>

#define N       HDM05_DOFS
#define MARKERS HDM05_MARKERS
#define ROWS    (3 * MARKERS)

// How exactly the reference can be met. Its numbers are printed to 15 digits: half a unit there is at most 5e-15 of the
// number, and the state x that goes in is rounded like that. So an angle below 1 is off by up to 5e-16, which moves a marker
// 150 cm away by 8e-14 cm, and a chain of 25 angles moves it by up to 2e-12 cm. Arithmetic adds less. The errors of
// different markers have either sign, so over all markers they add like a random walk.
#define PRINTED 1e-14 // relative; twice half a unit
#define DIGITS  5e-12 // relative; what the file has to 12 digits only
#define SHIFT   2e-12 // cm, of a marker
#define TURN    2e-14 // of an entry of a rotation: 25 angles, and 25 products
#define REACH   250.0 // cm, from any axis to any marker

static hdm05 *data;
static plain_ik *plain;
static poise_model *model;
static poise_objective *objective;

// Everything an engine says about one x, in the order of x.
typedef struct evaluation {
    double position[3 * HDM05_BONES];
    double rotation[9 * HDM05_BONES];
    double f;
    double distance[MARKERS];
    double g[N];
    double J[ROWS * N];
    double H[N * N];
    double JtJ[N * N];
} evaluation;

typedef void (*engine)(const double *x, const poise_vec3 *tool, const poise_vec3 *target, evaluation *out);

static evaluation now; // too large for the stack

// ---- The two descriptions -------------------------------------------------------------------------------------------

static poise_vec3 axis_of(const hdm05_bone *bone, int i)
{
    int column = bone->letter[i];
    return (poise_vec3){bone->axes[column], bone->axes[3 + column], bone->axes[6 + column]};
}

static plain_ik *describe_to_plain(void)
{
    plain_bone bones[HDM05_BONES];
    plain_effector effectors[MARKERS];
    for (int b = 0; b < HDM05_BONES; ++b) {
        const hdm05_bone *bone = &data->bones[b];
        bones[b] = plain_bone_fixed(bone->parent, bone->position);
        if (b == 0) {
            plain_bone_add_translation(&bones[b]);
        }
        for (int i = 0; i < bone->angle_count; ++i) {
            plain_bone_add(&bones[b], PLAIN_REVOLUTE, axis_of(bone, i)); // C R(e) C^-1 turns about C e
        }
    }
    for (int m = 0; m < MARKERS; ++m) {
        effectors[m] = (plain_effector){.bone = data->marker_bone[m], .weight = 1.0};
    }
    return plain_create(bones, HDM05_BONES, effectors, MARKERS);
}

static poise_joint joint_of(const hdm05_bone *bone)
{
    poise_joint joint = poise_joint_default();
    joint.name = bone->name;
    joint.parent = bone->parent < 0 ? NULL : data->bones[bone->parent].name;
    joint.offset.position = bone->position;
    joint.axes = poise_quat_from_matrix(bone->axes);
    joint.order = POISE_EULER_ZYX;
    joint.axis = bone->angle_count > 0 ? axis_of(bone, 0) : joint.axis;
    joint.axis2 = bone->angle_count > 1 ? axis_of(bone, 1) : joint.axis2;
    static const poise_joint_type type[4] = {POISE_JOINT_FIXED, POISE_JOINT_REVOLUTE, POISE_JOINT_UNIVERSAL,
                                             POISE_JOINT_BALL_EULER};
    joint.type = bone->parent < 0 ? POISE_JOINT_FREE_EULER : type[bone->angle_count];
    return joint;
}

static poise_model *describe_to_poise(void)
{
    poise_builder *builder = NULL;
    poise_model *made = NULL;
    poise_error error = {.text = "out of memory"};
    bool good = poise_builder_create(NULL, &builder, NULL) == POISE_OK;
    for (int b = 0; b < HDM05_BONES && good; ++b) {
        poise_joint joint = joint_of(&data->bones[b]);
        good = poise_builder_add_joint(builder, &joint, &error) == POISE_OK;
    }
    if (!good || poise_model_create(builder, NULL, &made, &error) != POISE_OK) {
        printf("%s\n", error.text);
    }
    poise_builder_destroy(builder);
    return made;
}

// ---- The two engines ------------------------------------------------------------------------------------------------

static void to_own_order(const double *x, double *q)
{
    for (int i = 0; i < N; ++i) {
        q[i] = x[data->x_of[i]];
    }
}

// A has `rows` rows of N columns in the engine's order.
static void columns_to_x(const double *A, int rows, double *out)
{
    for (int row = 0; row < rows; ++row) {
        for (int i = 0; i < N; ++i) {
            out[row * N + data->x_of[i]] = A[row * N + i];
        }
    }
}

static void matrix_to_x(const double *A, double *out)
{
    for (int row = 0; row < N; ++row) {
        columns_to_x(A + row * N, 1, out + data->x_of[row] * N);
    }
}

static void use_plain(const double *x, const poise_vec3 *tool, const poise_vec3 *target, evaluation *out)
{
    static double J[ROWS * N], H[N * N];
    double q[N], g[N];
    for (int m = 0; m < MARKERS; ++m) {
        plain->effectors[m].tool = tool[m];
        plain->effectors[m].goal = target[m];
    }
    to_own_order(x, q);
    plain_update(plain, q);
    memcpy(out->position, plain->position, sizeof out->position);
    memcpy(out->rotation, plain->rotation, sizeof out->rotation);
    out->f = plain_cost(plain);
    for (int m = 0; m < MARKERS; ++m) {
        poise_vec3 r = plain->r[m];
        out->distance[m] = sqrt(r.x * r.x + r.y * r.y + r.z * r.z);
    }
    plain_jacobian(plain, J);
    columns_to_x(J, ROWS, out->J);
    plain_gradient(plain, J, g);
    columns_to_x(g, 1, out->g);
    plain_hessian(plain, J, H);
    matrix_to_x(H, out->H);
    plain_gauss_newton(plain, J, H);
    matrix_to_x(H, out->JtJ);
}

static void use_poise(const double *x, const poise_vec3 *tool, const poise_vec3 *target, evaluation *out)
{
    static double J[ROWS * N], H[N * N];
    poise_goal goals[MARKERS];
    double q[N];
    for (int m = 0; m < MARKERS; ++m) {
        goals[m] = poise_goal_position(data->marker_bone[m], tool[m], target[m]);
    }
    to_own_order(x, q);
    ck_assert_int_eq(poise_objective_set_goals(objective, goals, MARKERS, NULL), POISE_OK);
    ck_assert_int_eq(poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
    const poise_kinematics *kinematics = (&objective->kin);
    for (int b = 0; b < HDM05_BONES; ++b) {
        poise_kinematics_body_frame(kinematics, b, out->rotation + 9 * b, out->position + 3 * b);
    }
    out->f = poise_objective_value(objective).cost;
    for (int m = 0; m < MARKERS; ++m) {
        out->distance[m] = poise_objective_goal_error(objective, m).error;
        ck_assert_int_eq(poise_kinematics_jacobian(kinematics, data->marker_bone[m], tool[m], J + 3 * m * N, NULL, NULL),
                         POISE_OK);
    }
    columns_to_x(J, ROWS, out->J);
    columns_to_x(poise_objective_value(objective).gradient, 1, out->g);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL), POISE_OK);
    matrix_to_x(H, out->H);
    ck_assert_int_eq(poise_objective_hessian(objective, POISE_HESSIAN_GAUSS_NEWTON, H, NULL), POISE_OK);
    matrix_to_x(H, out->JtJ);
}

// ---- Comparing ------------------------------------------------------------------------------------------------------

static void assert_near(double value, double reference, double tolerance, const char *what, int frame)
{
    ck_assert_msg(fabs(value - reference) <= tolerance, "frame %d: %s is %.15g, not %.15g (tolerance %.2g)", frame, what,
                  value, reference, tolerance);
}

static double norm(const double *x, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

// Read the file and describe its body to both engines, once.
static void open_data(void)
{
    if (!data) {
        data = hdm05_read(test_data(HDM05_FILE));
        ck_assert_ptr_nonnull(data);
        plain = describe_to_plain();
        model = describe_to_poise();
        ck_assert(plain && model && poise_objective_create(model, 0, NULL, &objective, NULL) == POISE_OK);
    }
}

// Call `check` for every state of the file, with the engine's answers at it in `now`.
static void for_each_state(engine evaluate, void (*check)(const hdm05_frame *, const hdm05_state *))
{
    open_data();
    int seen = 0;
    for (int i = 0; i < HDM05_FRAMES; ++i) {
        const hdm05_frame *frame = &data->frames[i];
        const hdm05_state *states[2] = {&frame->previous, &frame->zero};
        for (int s = 0; s < 2; ++s) {
            if (states[s]->given) {
                evaluate(states[s]->x, frame->tool, frame->target, &now);
                check(frame, states[s]);
                ++seen;
            }
        }
    }
    ck_assert_int_eq(seen, 2 * HDM05_FRAMES - 1);
}

static void check_frames(engine evaluate)
{
    open_data();
    for (int i = 0; i < HDM05_FRAMES; ++i) {
        const hdm05_frame *frame = &data->frames[i];
        evaluate(frame->x_amc, frame->tool, frame->target, &now);
        for (int k = 0; k < 3 * HDM05_BONES; ++k) {
            assert_near(now.position[k], frame->position[k], SHIFT, "bone origin", frame->number);
        }
        for (int k = 0; k < 9 * HDM05_BONES; ++k) {
            if (!data->bones[k / 9].left_out) {
                assert_near(now.rotation[k], frame->rotation[k], TURN, "bone rotation", frame->number);
            }
        }
        // tools and targets are made for this pose: what is left is the markers' shift
        assert_near(now.f, 0.0, 0.5 * ROWS * SHIFT * SHIFT, "f at the pose of the motion", frame->number);
    }
}

// df = -r . de summed over markers: |r| times the length of all shifts together
static void check_cost(const hdm05_frame *frame, const hdm05_state *state)
{
    double shift = SHIFT * sqrt(MARKERS), sum = 0.0;
    for (int m = 0; m < MARKERS; ++m) {
        sum += now.distance[m];
    }
    assert_near(now.f, state->f, state->norm_r * shift + PRINTED * state->f, "f", frame->number);
    assert_near(norm(now.distance, MARKERS), state->norm_r, shift + PRINTED * state->norm_r, "|r|", frame->number);
    assert_near(sum, state->sum_marker_dist, SHIFT * MARKERS + PRINTED * sum, "sum of distances", frame->number);
}

// dJ = a shift of the arm and a turn of the axis, entry by entry
static void check_jacobian(const hdm05_frame *frame, const hdm05_state *state)
{
    double error = SHIFT * sqrt(ROWS * N / 2.0); // half of J is zero for good
    assert_near(norm(now.J, ROWS * N), state->J_norm, error, "norm of J", frame->number);
    for (int k = 0; k < ROWS * N && state->has_J; ++k) {
        assert_near(now.J[k], state->J[k], SHIFT + DIGITS * fabs(state->J[k]), "entry of J", frame->number);
    }
}

// dg = J^T dr + dJ^T r
static double gradient_error(const hdm05_state *state)
{
    return SHIFT * (REACH * sqrt(MARKERS) + state->norm_r * sqrt(MARKERS));
}

static void check_gradient(const hdm05_frame *frame, const hdm05_state *state)
{
    double error = gradient_error(state);
    for (int i = 0; i < N; ++i) {
        assert_near(now.g[i], state->grad[i], error + PRINTED * fabs(state->grad[i]), "entry of g", frame->number);
    }
    assert_near(norm(now.g, N), state->grad_norm, error + PRINTED * state->grad_norm, "|g|", frame->number);
}

// dH = J^T dJ + dJ^T J + K dr + dK r, with |K| <= REACH for a unit direction
static double hessian_error(const hdm05_state *state)
{
    return SHIFT * sqrt(MARKERS) * (3.0 * REACH + state->norm_r);
}

static void check_hessian(const hdm05_frame *frame, const hdm05_state *state)
{
    double error = hessian_error(state), trace = 0.0;
    for (int i = 0; i < N; ++i) {
        trace += now.H[i * N + i];
        for (int j = 0; j <= i; ++j) {
            ck_assert(now.H[i * N + j] == now.H[j * N + i]);
            if (state->has_packed) {
                double h = state->packed[i * (i + 1) / 2 + j];
                assert_near(now.H[i * N + j], h, error + DIGITS * fabs(h), "packed entry of H", frame->number);
            }
        }
    }
    for (int k = 0; k < HDM05_ENTRIES; ++k) {
        double h = now.H[data->entry_row[k] * N + data->entry_column[k]];
        assert_near(h, state->entry[k], error + PRINTED * fabs(h), "listed entry of H", frame->number);
    }
    assert_near(trace, state->H_trace, error * sqrt(N) + PRINTED * fabs(trace), "trace of H", frame->number);
    assert_near(norm(now.H, N * N), state->H_norm, error * sqrt(N) + PRINTED * state->H_norm, "norm of H", frame->number);
}

// One rotation of the two-sided Jacobi method (Golub and Van Loan, section 8.5) that makes A_pq zero.
static void rotate_away(double *A, int p, int q)
{
    double apq = A[p * N + q];
    if (fabs(apq) < 1e-300) {
        return;
    }
    double theta = (A[q * N + q] - A[p * N + p]) / (2.0 * apq);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < N; ++k) {
        double kp = A[k * N + p], kq = A[k * N + q];
        A[k * N + p] = c * kp - s * kq;
        A[k * N + q] = s * kp + c * kq;
    }
    for (int k = 0; k < N; ++k) {
        double pk = A[p * N + k], qk = A[q * N + k];
        A[p * N + k] = c * pk - s * qk;
        A[q * N + k] = s * pk + c * qk;
    }
}

// Eigenvalues of A on its diagonal, in no order. Ten sweeps are three more than any matrix here needs.
static void diagonalise(double *A)
{
    for (int sweep = 0; sweep < 10; ++sweep) {
        for (int p = 0; p < N - 1; ++p) {
            for (int q = p + 1; q < N; ++q) {
                rotate_away(A, p, q);
            }
        }
    }
}

static void check_eigenvalues(const hdm05_frame *frame, const hdm05_state *state)
{
    // eigenvalues move by at most the norm of the change; the file has them to 12 digits
    double error = hessian_error(state) * sqrt(N), low = INFINITY, high = -INFINITY, top = -INFINITY;
    int negative = 0;
    diagonalise(now.H);
    diagonalise(now.JtJ);
    for (int i = 0; i < N; ++i) {
        double value = now.H[i * N + i], squared = now.JtJ[i * N + i];
        low = value < low ? value : low;
        high = value > high ? value : high;
        top = squared > top ? squared : top;
        negative += value < 0.0;
    }
    assert_near(low, state->H_eig_min, error + DIGITS * fabs(low), "least eigenvalue of H", frame->number);
    assert_near(high, state->H_eig_max, error + DIGITS * high, "largest eigenvalue of H", frame->number);
    assert_near(top, state->JtJ_eig_max, error + DIGITS * top, "largest eigenvalue of J^T J", frame->number);
    ck_assert_int_eq(negative, state->H_negative);
}

// The problem with a residual: tools held at their means over the motion.
static void check_fixed_tools(engine evaluate)
{
    open_data();
    for (int i = 0; i < HDM05_FRAMES; ++i) {
        const hdm05_frame *frame = &data->frames[i];
        double shift = SHIFT * sqrt(MARKERS), f = frame->fixed_f_at_amc;
        evaluate(frame->x_amc, data->fixed_tool, frame->target, &now);
        assert_near(now.f, f, sqrt(2.0 * f) * shift + PRINTED * f, "f with fixed tools", frame->number);
        if (frame->previous.given) {
            f = frame->fixed_f_at_previous;
            double g = frame->fixed_grad_norm_at_previous;
            evaluate(frame->previous.x, data->fixed_tool, frame->target, &now);
            assert_near(now.f, f, sqrt(2.0 * f) * shift + PRINTED * f, "f with fixed tools", frame->number);
            assert_near(norm(now.g, N), g, shift * (REACH + sqrt(2.0 * f)), "|g| with fixed tools", frame->number);
        }
    }
}

// ---- Tests ----------------------------------------------------------------------------------------------------------

static const engine engines[] = {use_plain, use_poise};

#define EACH_ENGINE(name) TEST_DATA_ROWS(name, TEST_COUNT(engines), HDM05_FILE)

EACH_ENGINE(bone_frames_match_the_reference)
{
    check_frames(engines[test_row]);
}

EACH_ENGINE(cost_matches_the_reference)
{
    for_each_state(engines[test_row], check_cost);
    check_fixed_tools(engines[test_row]);
}

EACH_ENGINE(jacobian_matches_the_reference)
{
    for_each_state(engines[test_row], check_jacobian);
}

EACH_ENGINE(gradient_matches_the_reference)
{
    for_each_state(engines[test_row], check_gradient);
}

EACH_ENGINE(hessian_matches_the_reference)
{
    for_each_state(engines[test_row], check_hessian);
}

EACH_ENGINE(eigenvalues_match_the_reference)
{
    for_each_state(engines[test_row], check_eigenvalues);
}

// The entry (inner, outer) that the published program writes: axis of the inner angle, column of the outer one.
static double published_entry(int inner, int outer)
{
    int own[N];
    for (int i = 0; i < N; ++i) {
        own[data->x_of[i]] = i;
    }
    poise_vec3 a = plain->axis[own[inner]];
    double h = now.JtJ[inner * N + outer];
    for (int m = 0; m < MARKERS; ++m) {
        const double *column = now.J + 3 * m * N + outer;
        poise_vec3 j = {column[0], column[N], column[2 * N]}, r = plain->r[m];
        h -= (a.y * j.z - a.z * j.y) * r.x + (a.z * j.x - a.x * j.z) * r.y + (a.x * j.y - a.y * j.x) * r.z;
    }
    return h;
}

static bool angles_of_one_joint(int i, int j)
{
    return i != j && data->joint_of[i] >= 0 && data->joint_of[i] == data->joint_of[j];
}

static void check_published(const hdm05_frame *frame, const hdm05_state *state)
{
    double error = hessian_error(state);
    for (int k = 0; k < HDM05_ENTRIES; ++k) {
        int row = data->entry_row[k], column = data->entry_column[k];
        double h = now.H[row * N + column];
        if (angles_of_one_joint(row, column)) {
            // within one joint a higher index in x is further out
            double wrong = published_entry(column, row);
            assert_near(wrong, state->mirror[k], error + PRINTED * fabs(wrong), "published entry", frame->number);
            ck_assert_msg(fabs(h - state->mirror[k]) > 10.0 * error, "frame %d: published entry (%d, %d) is right",
                          frame->number, column, row);
        } else {
            assert_near(h, state->mirror[k], error + PRINTED * fabs(h), "mirrored entry of H", frame->number);
        }
    }
    int wrong_entries = 0;
    double asymmetry = 0.0;
    for (int row = 0; row < N; ++row) {
        for (int column = 0; column < row; ++column) {
            if (angles_of_one_joint(row, column)) {
                ++wrong_entries;
                asymmetry = fmax(asymmetry, fabs(now.H[row * N + column] - published_entry(column, row)));
            }
        }
    }
    ck_assert_int_eq(wrong_entries, 39); // eleven joints of three angles, six of two
    assert_near(asymmetry, state->H_asymmetry, error + PRINTED * asymmetry, "largest asymmetry", frame->number);
}

TEST_DATA(published_hessian_is_wrong_exactly_between_two_angles_of_one_joint, HDM05_FILE)
{
    for_each_state(use_plain, check_published);
}
