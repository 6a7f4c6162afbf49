// Erleben & Andrews 2019, definiteness and condition of the exact Hessian: what they say of it without an experiment
// (sections 4, 6.3, 6.7 and Appendix A), by parameterisation of ball joints.
//
// The skeleton of a study is rebuilt with its ball joints in another chart, a pose is converted, and the eigenvalues of the
// exact Hessian of all markers are found there.
#include "reproduce.h"

#include <poise/papers.h>
#include <scenes/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI  3.14159265358979323846
#define ILL 1e5

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

// ---- Parameterisations ---------------------------------------------------------------------------------------------------

// The rotation that takes z to a direction.
static poise_quat turn_z_to(poise_vec3 d)
{
    double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    if (!(length > 0.0) || d.z <= -0.999999 * length) {
        return length > 0.0 ? (poise_quat){1, 0, 0, 0} : (poise_quat){0, 0, 0, 1};
    }
    double w = sqrt(0.5 * (1.0 + d.z / length)), s = 0.5 / (w * length);
    return (poise_quat){-d.y * s, d.x * s, 0, w};
}

// Where the limb of joint k goes: to its first child; along z where it has none.
static poise_vec3 limb_of(const poise_model *model, int k)
{
    for (int c = k + 1; c < poise_model_info(model).joints; ++c) {
        if (poise_model_joint_info(model, c).parent == k) {
            poise_vec3 p = poise_model_joint_info(model, c).given->offset.position;
            return p.x != 0.0 || p.y != 0.0 || p.z != 0.0 ? p : poise_vec3_make(0, 0, 1);
        }
    }
    return poise_vec3_make(0, 0, 1);
}

static poise_joint_type type_in(definiteness_chart chart, poise_joint_type type)
{
    static const poise_joint_type balls[CHARTS] = {POISE_JOINT_BALL_EULER, POISE_JOINT_SWING_TWIST, POISE_JOINT_BALL_EXPMAP,
                                                   POISE_JOINT_BALL_QUATERNION};
    static const poise_joint_type roots[CHARTS] = {POISE_JOINT_FREE_EULER, POISE_JOINT_FREE_EXPMAP, POISE_JOINT_FREE_EXPMAP,
                                                   POISE_JOINT_FREE};
    return type == POISE_JOINT_BALL_EULER ? balls[chart] : type == POISE_JOINT_FREE_EULER ? roots[chart] : type;
}

// The same skeleton without limits, its ball joints in another chart. NULL without memory.
static poise_model *model_in(const poise_model *model, definiteness_chart chart)
{
    poise_builder *builder = NULL;
    poise_model *made = NULL;
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    for (int k = 0; k < poise_model_info(model).joints && status == POISE_OK; ++k) {
        poise_joint joint = *poise_model_joint_info(model, k).given, none = poise_joint_default();
        memcpy(joint.lower, none.lower, sizeof joint.lower);
        memcpy(joint.upper, none.upper, sizeof joint.upper);
        joint.type = type_in(chart, joint.type);
        if (joint.type == POISE_JOINT_SWING_TWIST) {
            joint.axes = turn_z_to(limb_of(model, k));
        }
        status = poise_builder_add_joint(builder, &joint, NULL);
    }
    if (status == POISE_OK) {
        poise_model_create(builder, NULL, &made, NULL);
    }
    poise_builder_destroy(builder);
    return made;
}

static poise_quat conjugate(poise_quat q)
{
    return (poise_quat){-q.x, -q.y, -q.z, q.w};
}

// Swing and twist of a rotation: M = exp(a x + b y) R_z(twist).
static void swing_and_twist(poise_quat M, double *q)
{
    double length = sqrt(M.z * M.z + M.w * M.w);
    poise_quat twist = length > 0.0 ? (poise_quat){0, 0, M.z / length, M.w / length} : (poise_quat){0, 0, 0, 1};
    poise_vec3 v = poise_expmap_from_quat(poise_quat_multiply(M, conjugate(twist)));
    q[0] = v.x;
    q[1] = v.y;
    q[2] = 2.0 * atan2(twist.z, twist.w);
}

// Coordinates of joint k of `made` for its rotation R and place in the joint's frame.
static void coordinates_of(const poise_joint *joint, poise_quat R, poise_vec3 place, double *q)
{
    poise_quat M = poise_quat_multiply(poise_quat_multiply(conjugate(joint->axes), R), joint->axes);
    poise_vec3 v = poise_expmap_from_quat(M);
    bool is_root = joint->type == POISE_JOINT_FREE || joint->type == POISE_JOINT_FREE_EXPMAP;
    if (is_root) {
        q[0] = place.x;
        q[1] = place.y;
        q[2] = place.z;
        q += 3;
    }
    if (joint->type == POISE_JOINT_SWING_TWIST) {
        swing_and_twist(M, q);
    } else if (joint->type == POISE_JOINT_FREE || joint->type == POISE_JOINT_BALL_QUATERNION) {
        q[0] = M.x;
        q[1] = M.y;
        q[2] = M.z;
        q[3] = M.w;
    } else {
        q[0] = v.x;
        q[1] = v.y;
        q[2] = v.z;
    }
}

// The pose q of `model`, whose kinematics are given, in the coordinates of `made`.
static void convert(const poise_model *model, poise_kinematics *kinematics, const double *q, const poise_model *made,
                    double *out)
{
    poise_kinematics_update(kinematics, q, NULL);
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint joint = *poise_model_joint_info(made, k).given;
        poise_joint_info from = poise_model_joint_info(model, k), to = poise_model_joint_info(made, k);
        if (joint.type == from.type) {
            memcpy(out + to.q, q + from.q, (size_t)to.nq * sizeof *out);
            continue;
        }
        poise_pose parent = from.parent >= 0 ? poise_kinematics_body_pose(kinematics, from.parent) : poise_pose_identity();
        poise_pose frame = poise_pose_multiply(parent, joint.offset);
        poise_pose moved = poise_pose_multiply(poise_pose_inverse(frame), poise_kinematics_body_pose(kinematics, k));
        coordinates_of(&joint, moved.rotation, moved.position, out + to.q);
    }
}

// ---- Eigenvalues ---------------------------------------------------------------------------------------------------------

typedef struct workspace {
    const hessian_study *study;
    poise_model *model; // in the chart
    poise_kinematics *kinematics;
    poise_objective *objective;
    poise_goal goals[HDM05_MARKERS + 2];
    double *numbers, *q, *euler, *H, *w, *rest; // one allocation
    bool *is_out;                               // nv: left out of the eigenvalues
    double *conditions;
    int nv;
} workspace;

static void clear(workspace *d)
{
    poise_objective_destroy(d->objective);
    poise_kinematics_destroy(d->kinematics);
    poise_model_destroy(d->model);
    free(d->numbers);
    free(d->is_out);
    free(d->conditions);
}

static bool set_up(const hessian_study *study, definiteness_chart chart, int most, workspace *d)
{
    size_t n = (size_t)study->task.nq + 64; // quaternions have a number more
    *d = (workspace){.study = study, .model = model_in(study->task.model, chart)};
    d->numbers = calloc(4 * n + n * n, sizeof *d->numbers);
    d->is_out = calloc(n, sizeof *d->is_out);
    d->conditions = calloc((size_t)most + 1, sizeof *d->conditions);
    if (!d->model || !d->numbers || !d->is_out || !d->conditions ||
        poise_kinematics_create(study->task.model, NULL, &d->kinematics, NULL) != POISE_OK ||
        poise_objective_create(d->model, 0, NULL, &d->objective, NULL) != POISE_OK) {
        clear(d);
        return false;
    }
    d->q = d->numbers;
    d->euler = d->q + n;
    d->w = d->euler + n;
    d->rest = d->w + n;
    d->H = d->rest + n;
    d->nv = poise_model_info(d->model).nv;
    for (int k = 0; k < poise_model_info(d->model).joints; ++k) { // what the study keeps fixed: the thumbs
        poise_joint_info from = poise_model_joint_info(study->task.model, k), to = poise_model_joint_info(d->model, k);
        for (int i = 0; i < to.nv; ++i) {
            d->is_out[to.v + i] = from.nv > 0 && study->task.locked[from.v];
        }
    }
    return true;
}

// Eigenvalues of the exact Hessian at q over the coordinates that are not left out, into the sums.
static bool add_eigenvalues(workspace *d, int goals, const double *q, definiteness_sums *sums)
{
    int n = d->nv, m = 0;
    if (poise_objective_set_goals(d->objective, d->goals, goals, NULL) != POISE_OK ||
        poise_objective_evaluate(d->objective, q, POISE_LEVEL_HESSIAN, NULL) != POISE_OK ||
        poise_objective_hessian(d->objective, POISE_HESSIAN_EXACT, d->H, NULL) != POISE_OK) {
        return false;
    }
    for (int i = 0; i < n; ++i) {
        m += !d->is_out[i];
    }
    for (int i = 0, row = 0; i < n; ++i) {
        for (int j = 0, column = 0; j < n && !d->is_out[i]; ++j) {
            if (!d->is_out[j]) {
                d->H[(size_t)row * (size_t)m + (size_t)column++] = d->H[(size_t)i * (size_t)n + (size_t)j];
            }
        }
        row += !d->is_out[i];
    }
    symmetric_eigenvalues(m, d->H, d->w);
    double largest = fmax(fabs(d->w[0]), fabs(d->w[m - 1])), smallest = INFINITY;
    int negative = 0;
    for (int i = 0; i < m; ++i) {
        negative += d->w[i] < -1e-12 * largest;
        smallest = fabs(d->w[i]) < smallest ? fabs(d->w[i]) : smallest;
    }
    double condition = largest / fmax(smallest, 1e-16 * largest);
    d->conditions[sums->frames] = condition;
    sums->frames += 1;
    sums->indefinite += negative > 0 && d->w[m - 1] > 1e-12 * largest;
    sums->negative += negative;
    sums->ill += condition > ILL;
    sums->worst = fmax(sums->worst, condition);
    return true;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_median(const workspace *d, definiteness_sums *sums)
{
    qsort(d->conditions, (size_t)sums->frames, sizeof *d->conditions, compare);
    sums->condition = sums->frames > 0 ? d->conditions[sums->frames / 2] : NAN;
}

// ---- Along a recording ---------------------------------------------------------------------------------------------------

// The state of a frame, in Euler angles.
static void take_state(const workspace *d, definiteness_state state, int frame, double *q)
{
    const hdm05_task *task = &d->study->task;
    scene_random random = scene_random_make((uint64_t)frame + 1);
    if (state == STATE_ZERO) {
        hdm05_zero(task, frame, q);
        return;
    }
    memcpy(q, hdm05_pose(task, frame - 1), (size_t)task->nq * sizeof *q);
    for (int k = 1; k < poise_model_info(task->model).joints && state != STATE_BEFORE; ++k) {
        poise_joint joint = *poise_model_joint_info(d->study->limited, k).given;
        poise_joint_info info = poise_model_joint_info(task->model, k);
        for (int i = 0; i < info.nq; ++i) {
            double lower = state == STATE_RANDOM ? -PI : joint.lower[i], upper = state == STATE_RANDOM ? PI : joint.upper[i];
            q[info.q + i] = task->locked[info.v + i] ? 0.0 : scene_random_range(&random, lower, upper);
        }
    }
}

bool definiteness_along(const hessian_study *study, const definiteness_case *what, int every, definiteness_sums *sums)
{
    workspace d;
    const hdm05_task *task = &study->task;
    *sums = (definiteness_sums){.frames = 0};
    if (!set_up(study, what->chart, task->frames / every + 1, &d)) {
        return false;
    }
    bool works = true;
    for (int f = 1; f < task->frames && works; f += every) {
        int goals = HDM05_MARKERS;
        hdm05_goals(task, f, HDM05_OWN_PLACES, d.goals);
        take_state(&d, what->state, f, d.euler);
        convert(task->model, d.kinematics, d.euler, d.model, d.q);
        poise_model_neutral(d.model, d.rest);
        if (what->prior > 0.0) {
            d.goals[goals++] = poise_goal_posture(d.rest, what->prior);
        }
        if (what->smoothness > 0.0) {
            convert(task->model, d.kinematics, hdm05_pose(task, f - 1), d.model, d.rest);
            d.goals[goals++] = poise_goal_smoothness(d.rest, NULL, what->smoothness);
        }
        works = add_eigenvalues(&d, goals, d.q, sums);
    }
    take_median(&d, sums);
    clear(&d);
    return works;
}

// ---- Along the path of a solver ------------------------------------------------------------------------------------------

bool definiteness_of_path(const hessian_study *study, bool has_limits, int every, int iterations, definiteness_sums *sums)
{
    workspace d;
    const hdm05_task *task = &study->task;
    const poise_model *model = has_limits ? study->limited : task->model;
    *sums = (definiteness_sums){.frames = 0};
    if (!set_up(study, CHART_EULER, (task->frames / every + 1) * (iterations + 1), &d)) {
        return false;
    }
    bool works = true;
    for (int i = 0; i < (task->frames - 1) / every * (iterations + 1) && works;
         ++i) { // each iterate by a run that ends there
        int frame = 1 + i / (iterations + 1) * every;
        poise_solver_options options = poise_solver_options_default();
        poise_solver *solver = NULL;
        options.method = POISE_METHOD_TRUST_REGION;
        options.engine = poise_papers_engine(options.method);
        options.use_limits = has_limits;
        options.max_iterations = i % (iterations + 1);
        options.damping = 0.1;
        options.cost_tolerance = HDM05_FTOL;
        options.position_tolerance = 0.0;
        options.locked = task->locked;
        hdm05_goals(task, frame, HDM05_OWN_PLACES, d.goals);
        hdm05_zero(task, frame, d.euler);
        works = poise_solver_create(model, &options, NULL, &solver, NULL) == POISE_OK &&
                poise_solve(solver, d.goals, HDM05_MARKERS, d.euler, NULL, NULL) == POISE_OK;
        for (int k = 0; k < d.nv && works; ++k) {
            d.is_out[k] = task->locked[k] || (has_limits && poise_solver_active_limit(solver, k) != 0);
        }
        poise_solver_destroy(solver);
        works = works && add_eigenvalues(&d, HDM05_MARKERS, d.euler, sums);
    }
    take_median(&d, sums);
    clear(&d);
    return works;
}

// ---- Gimbal lock ---------------------------------------------------------------------------------------------------------

// One ball joint, order ZYX.
static poise_model *make_ball(void)
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_joint joint = poise_joint_default();
    joint.name = "shoulder";
    joint.type = POISE_JOINT_BALL_EULER;
    joint.order = POISE_EULER_ZYX;
    if (poise_builder_create(NULL, &builder, NULL) == POISE_OK &&
        poise_builder_add_joint(builder, &joint, NULL) == POISE_OK) {
        poise_model_create(builder, NULL, &model, NULL);
    }
    poise_builder_destroy(builder);
    return model;
}

bool definiteness_gimbal(definiteness_chart chart, double angle, double *ratio)
{
    static const poise_vec3 places[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    poise_model *ball = make_ball(), *model = ball ? model_in(ball, chart) : NULL;
    poise_kinematics *kinematics = NULL;
    poise_objective *objective = NULL;
    poise_goal goals[3];
    double euler[3] = {0.3, angle, 0.3}, q[4], H[9], w[3];
    bool works = model && poise_kinematics_create(ball, NULL, &kinematics, NULL) == POISE_OK &&
                 poise_objective_create(model, 0, NULL, &objective, NULL) == POISE_OK;
    if (works) {
        convert(ball, kinematics, euler, model, q);
        for (int i = 0; i < 3; ++i) {
            goals[i] = poise_goal_position(0, places[i], poise_kinematics_point(kinematics, 0, places[i]));
        }
        works = poise_objective_set_goals(objective, goals, 3, NULL) == POISE_OK &&
                poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL) == POISE_OK &&
                poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL) == POISE_OK;
    }
    if (works) {
        symmetric_eigenvalues(3, H, w);
        *ratio = w[0] / w[2];
    }
    poise_objective_destroy(objective);
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
    poise_model_destroy(ball);
    return works;
}

// ---- The experiment: along a motion --------------------------------------------------------------------------------------

static const char *const chart_names[CHARTS] = {"Euler angles", "swing, twist", "rotation vector", "quaternion"};
static const char *const state_names[STATES] = {"before", "zero", "random", "in limits"};

typedef struct case_job {
    const hessian_study *take;
    definiteness_case what;
    bool is_path, has_limits;
    int every;
    definiteness_sums sums;
} case_job;

enum { PATH_ITERATES = 20 };

static bool run_case(void *work, int index)
{
    case_job *j = (case_job *)work + index;
    return j->is_path ? definiteness_of_path(j->take, j->has_limits, j->every, PATH_ITERATES, &j->sums)
                      : definiteness_along(j->take, &j->what, j->every, &j->sums);
}

static const sheet_column case_columns[] = {
    {.key = "coordinates", .head = "coordinates"},
    {.key = "where", .head = "where"},
    {.key = "added", .head = "added"},
    {.key = "hessians", .head = NULL, .format = "%.0f"},
    {.key = "indefinite_percent", .head = "indef. %", .format = "%.1f"},
    {.key = "negative", .head = "negative", .format = "%.1f"},
    {.key = "median_condition", .head = "condition", .format = "%.1e"},
    {.key = "ill_percent", .head = "> 1e5 %", .format = "%.1f"},
    {0},
};

static void add_row(sheet *s, const char *coordinates, const char *where, const char *added, const definiteness_sums *sums)
{
    sheet_text(s, coordinates);
    sheet_text(s, where);
    sheet_text(s, added);
    sheet_number(s, sums->frames);
    sheet_number(s, sums->frames > 0 ? 100.0 * sums->indefinite / sums->frames : NAN);
    sheet_number(s, sums->frames > 0 ? sums->negative / sums->frames : NAN);
    sheet_number(s, sums->condition);
    sheet_number(s, sums->frames > 0 ? 100.0 * sums->ill / sums->frames : NAN);
}

// Parameterisations, without and with what can be added to the objective, then weights, then limits.
static int list_cases(const hessian_study *take, int every, case_job *jobs)
{
    static const definiteness_case charted[] = {{.state = STATE_BEFORE},
                                                {.state = STATE_BEFORE, .prior = 1e4},
                                                {.state = STATE_BEFORE, .smoothness = 1e4},
                                                {.state = STATE_ZERO}};
    static const definiteness_case further[] = {{.state = STATE_BEFORE, .prior = 1e2},
                                                {.state = STATE_ZERO, .prior = 1e4},
                                                {.state = STATE_RANDOM},
                                                {.state = STATE_IN_LIMITS}};
    int most = (take->task.frames - 1) / 3, path_every = 10 * every < most ? 10 * every : most, count = 0;
    for (int i = 0; i < COUNT(charted) * CHARTS; ++i) {
        jobs[count] = (case_job){.take = take, .every = every, .what = charted[i / CHARTS]};
        jobs[count++].what.chart = (definiteness_chart)(i % CHARTS);
    }
    for (int i = 0; i < COUNT(further); ++i) {
        jobs[count++] = (case_job){.take = take, .every = every, .what = further[i]};
    }
    for (int i = 0; i < 2; ++i) {
        jobs[count++] = (case_job){.take = take, .every = path_every, .is_path = true, .has_limits = i == 1};
    }
    return count;
}

enum { MOST_CASES = 64 };

static bool print_cases(reproduce *r, const case_job *jobs, int count)
{
    sheet *s = sheet_create(case_columns);
    for (int i = 0; i < count; ++i) {
        const definiteness_case *what = &jobs[i].what;
        char added[64] = "";
        if (what->prior > 0.0 || what->smoothness > 0.0) {
            snprintf(added, sizeof added, "%s 1e%.0f", what->prior > 0.0 ? "prior" : "smooth",
                     log10(what->prior + what->smoothness));
        }
        add_row(s, chart_names[what->chart], jobs[i].is_path ? "path" : state_names[what->state],
                jobs[i].is_path ? jobs[i].has_limits ? "limits" : "no limits" : added, &jobs[i].sums);
    }
    return reproduce_sheet(r, s, NULL, "");
}

// ---- The experiment: gimbal lock -----------------------------------------------------------------------------------------

enum { ANGLES = 46 }; // 0 to 90 degrees

static bool draw_gimbal(reproduce *r, const double ratio[CHARTS][ANGLES])
{
    static const char *const colors[CHARTS] = {PLOT_RED, PLOT_GREEN, PLOT_BLUE, PLOT_PURPLE};
    plot *p = plot_create("Gimbal lock", "One ball joint at its solution: smallest eigenvalue of H over the largest",
                          reproduce_foot(r), 1, 1, 460.0, 240.0);
    plot_panel(p, 0, 0,
               &(plot_panel_options){.x = {.label = "middle Euler angle, degrees", .from = 0.0, .to = 90.0, .step = 15.0},
                                     .y = {.label = "ratio of eigenvalues", .is_log = true, .from = 1e-6, .to = 10.0}});
    for (int c = 0; c < CHARTS; ++c) {
        double x[ANGLES], y[ANGLES];
        for (int i = 0; i < ANGLES; ++i) {
            x[i] = 2.0 * i;
            y[i] = fmax(ratio[c][i], 1e-7);
        }
        plot_line(p, (plot_style){.color = colors[c], .width = 2.0, .is_dashed = c == CHART_SWING_TWIST}, x, y, ANGLES,
                  chart_names[c]);
    }
    return reproduce_plot(r, p, "-gimbal");
}

static bool run_gimbal(reproduce *r)
{
    static const sheet_column columns[] = {{.key = "middle_angle_degrees", .head = "middle angle", .format = "%.0f"},
                                           {.key = "euler", .head = "Euler angles", .format = "%.1e"},
                                           {.key = "swing_twist", .head = "swing and twist", .format = "%.2f"},
                                           {.key = "vector", .head = "rotation vector", .format = "%.2f"},
                                           {.key = "quaternion", .head = "quaternion", .format = "%.2f"},
                                           {0}};
    static double ratio[CHARTS][ANGLES];
    const double degree = 3.14159265358979323846 / 180.0;
    sheet *s = sheet_create(columns);
    bool works = true;
    for (int i = 0; i < ANGLES && works; ++i) {
        for (int c = 0; c < CHARTS && works; ++c) {
            works = definiteness_gimbal((definiteness_chart)c, 2.0 * i * degree, &ratio[c][i]);
        }
        if (i % 10 == 0 || i >= ANGLES - 3) {
            sheet_number(s, 2.0 * i);
            for (int c = 0; c < CHARTS; ++c) {
                sheet_number(s, fmax(ratio[c][i], 0.0)); // rounding
            }
        }
    }
    works =
        reproduce_sheet(r, s, "Gimbal lock: smallest eigenvalue of H over the largest, a ball joint at rest", "-gimbal") &&
        works;
    return works && draw_gimbal(r, (const double(*)[ANGLES])ratio);
}

static bool run_hessian_definiteness(reproduce *r)
{
    scene_take take;
    case_job jobs[MOST_CASES];
    if (!reproduce_scenes(r, PAPER_WORKOUT, 1, &take)) {
        return false;
    }
    int usual = r->is_full ? 1 : take.study->task.is_recording ? 20 : 5;
    int count = list_cases(take.study, r->every > 0 ? r->every : usual, jobs);
    reproduce_note(
        r,
        "Eigenvalues of the exact Hessian in frames of %s, in cm and radians as the authors have it: share that is "
        "indefinite, mean number of negative eigenvalues, median condition number, and share of those above 1e5. "
        "Where: at the pose of the frame before, at zero, at random angles, at random angles within the limits, and "
        "on the path of trust_region from zero, its first %d iterates, over the coordinates that are not at a "
        "limit. Added: a prior towards zero or smoothness, by weight in cm^2/rad^2.",
        take.study->name, PATH_ITERATES);
    return reproduce_jobs(r, count, run_case, jobs) && print_cases(r, jobs, count) && run_gimbal(r);
}

const experiment hessian_definiteness = {.name = "hessian-definiteness",
                                         .title = "Definiteness along a motion",
                                         .source = REPRODUCE_HESSIAN ", section 6.7",
                                         .uses_data = true,
                                         .run = run_hessian_definiteness};
