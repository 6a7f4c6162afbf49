#include "hessian_study.h"

#include <poise/io.h>
#include <poise/papers.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CM_PER_UNIT (2.5189 / 0.45)
#define CM_PER_MM   ((double)0.1f) // the scale of the C3D, single precision, by which the authors' program multiplies

static const struct {
    const char *label, *bone;
} places[HDM05_MARKERS] = {
    {"LFHD", "head"},     {"RFHD", "head"},      {"LBHD", "head"},      {"RBHD", "head"},      {"C7", "lowerneck"},
    {"T10", "lowerback"}, {"CLAV", "thorax"},    {"STRN", "upperback"}, {"RBAC", "upperback"}, {"LSHO", "lclavicle"},
    {"LUPA", "lhumerus"}, {"LELB", "lhumerus"},  {"LFRM", "lradius"},   {"LWRA", "lwrist"},    {"LWRB", "lwrist"},
    {"LFIN", "lfingers"}, {"RSHO", "rclavicle"}, {"RUPA", "rhumerus"},  {"RELB", "rhumerus"},  {"RFRM", "rradius"},
    {"RWRA", "rwrist"},   {"RWRB", "rwrist"},    {"RFIN", "rfingers"},  {"LFWT", "root"},      {"RFWT", "root"},
    {"LBWT", "root"},     {"RBWT", "root"},      {"LTHI", "lfemur"},    {"LKNE", "lfemur"},    {"LSHN", "ltibia"},
    {"LANK", "lfoot"},    {"LHEE", "lfoot"},     {"LTOE", "ltoes"},     {"LMT5", "ltoes"},     {"RTHI", "rfemur"},
    {"RKNE", "rfemur"},   {"RSHN", "rtibia"},    {"RANK", "rfoot"},     {"RHEE", "rfoot"},     {"RTOE", "rtoes"},
    {"RMT5", "rtoes"},
};

// ---- Reading -------------------------------------------------------------------------------------------------------------

// Say why there is no task. Always false.
static bool fail(hdm05_task *task, poise_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    task->error.status = status;
    vsnprintf(task->error.text, sizeof task->error.text, format, arguments);
    va_end(arguments);
    return false;
}

void hdm05_free(hdm05_task *task)
{
    poise_kinematics_destroy(task->kinematics);
    poise_model_destroy(task->model);
    free(task->amc);
    free(task->target);
    free(task->own);
    free(task->locked);
    *task = (hdm05_task){.frames = 0};
}

// Free all but the reason.
static void free_but_error(hdm05_task *task)
{
    poise_error error = task->error;
    hdm05_free(task);
    task->error = error;
}

static void *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *bytes = calloc((size_t)(length > 0 ? length : 0) + 1, 1);
    *size = bytes ? fread(bytes, 1, length > 0 ? (size_t)length : 0, file) : 0;
    fclose(file);
    return bytes;
}

// The bytes of a file, with a 0 after the last.
static char *load_text(const char *folder, const char *name, const char *extension)
{
    char path[1024];
    size_t size;
    snprintf(path, sizeof path, "%s/%s%s", folder, name, extension);
    return load(path, &size);
}

// NULL, with the reason in task->error, when it cannot be read.
static poise_file *read_one(hdm05_task *task, const char *folder, const char *name, const char *extension,
                            const poise_model *model)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, extension);
    size_t size;
    void *bytes = load(path, &size);
    if (!bytes) {
        fail(task, POISE_ERROR_NOT_FOUND, "%.200s: cannot be read", path);
        return NULL;
    }
    poise_read_options options = {0};
    options.name = path;
    options.model = model;
    poise_error error;
    poise_file *file = NULL;
    poise_status status = poise_read(bytes, size, &options, NULL, &file, &error);
    if (status != POISE_OK) {
        fail(task, status, "%.80s:%d: %.150s", path, error.line, error.text);
    }
    free(bytes);
    return file;
}

// Room for poses, targets and places of task->frames frames.
static bool make_room(hdm05_task *task)
{
    size_t frames = (size_t)task->frames;
    task->amc = calloc(frames * (size_t)task->nq + 1, sizeof *task->amc);
    task->target = calloc(frames * HDM05_MARKERS + 1, sizeof *task->target);
    task->own = calloc(frames * HDM05_MARKERS + 1, sizeof *task->own);
    return (task->amc && task->target && task->own) || fail(task, POISE_ERROR_MEMORY, "out of memory");
}

// What follows from task->model.
static bool set_sizes(hdm05_task *task)
{
    task->nq = poise_model_info(task->model).nq;
    task->nv = poise_model_info(task->model).nv;
    task->locked = calloc((size_t)task->nv, sizeof *task->locked);
    return task->locked && poise_kinematics_create(task->model, NULL, &task->kinematics, NULL) == POISE_OK;
}

// The length of the direction that an ASF gives a bone, a unit vector of six digits; 1 of the root, which has none.
static double direction_length(const char *asf, const char *bone)
{
    char word[64];
    int used = 0;
    bool is_here = false;
    for (const char *at = asf; sscanf(at, "%63s%n", word, &used) == 1; at += used) {
        double x, y, z;
        if (strcmp(word, "name") == 0 && sscanf(at + used, "%63s", word) == 1) {
            is_here = strcmp(word, bone) == 0;
        } else if (is_here && strcmp(word, "direction") == 0 && sscanf(at + used, "%lf %lf %lf", &x, &y, &z) == 3) {
            return sqrt(x * x + y * y + z * z);
        }
    }
    return 1.0;
}

// The skeleton in cm, its bones as long as the ASF says: directions are normalised, as in the authors' program.
static bool set_model(hdm05_task *task, const poise_model *read, const char *asf)
{
    int joints = poise_model_info(read).joints;
    double *scale = malloc((size_t)joints * sizeof *scale);
    for (int k = 0; scale && k < joints; ++k) {
        int parent = poise_model_joint_info(read, k).parent;
        const char *bone = parent >= 0 ? poise_model_joint_info(read, parent).body : "";
        scale[k] = CM_PER_UNIT / direction_length(asf, bone);
    }
    poise_status status = scale ? poise_model_rescale(read, scale, NULL, &task->model, NULL) : POISE_ERROR_MEMORY;
    free(scale);
    if (status != POISE_OK || !set_sizes(task)) {
        return fail(task, POISE_ERROR_MEMORY, "the skeleton cannot be scaled");
    }
    for (int k = 0; k < joints; ++k) {
        int first = poise_model_joint_info(task->model, k).v, count = poise_model_joint_info(task->model, k).nv;
        for (int i = 0; i < count; ++i) {
            task->locked[first + i] = strstr(poise_model_joint_info(task->model, k).body, "thumb") != NULL;
        }
    }
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        snprintf(task->label[i], sizeof task->label[i], "%s", places[i].label);
        task->body[i] = poise_model_find_body(task->model, places[i].bone);
        if (task->body[i] == POISE_NONE) {
            return fail(task, POISE_ERROR_NOT_FOUND, "the skeleton has no bone \"%s\"", places[i].bone);
        }
    }
    return true;
}

static void set_poses(hdm05_task *task, const poise_clip *clip)
{
    memcpy(task->amc, clip->q, (size_t)clip->frames * (size_t)task->nq * sizeof *task->amc);
    for (int f = 0; f < clip->frames; ++f) {
        double *q = task->amc + (size_t)f * (size_t)task->nq;
        for (int i = 0; i < 3; ++i) {
            q[i] *= CM_PER_UNIT;
        }
        for (int i = 0; i < task->nq; ++i) {
            q[i] = task->locked[i] ? 0.0 : q[i];
        }
    }
}

static bool set_markers(hdm05_task *task, const poise_markers *markers)
{
    if (markers->frames < task->frames) {
        return fail(task, POISE_ERROR_ARGUMENT, "%d frames of markers for %d of motion", markers->frames, task->frames);
    }
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        int m = poise_markers_find(markers, places[i].label);
        if (m == POISE_NONE) {
            return fail(task, POISE_ERROR_NOT_FOUND, "there is no marker \"%s\"", places[i].label);
        }
        for (int f = 0; f < task->frames; ++f) {
            poise_vec3 p = markers->position[(size_t)f * (size_t)markers->count + (size_t)m];
            task->target[(size_t)f * HDM05_MARKERS + (size_t)i] =
                poise_vec3_make(CM_PER_MM * p.y, CM_PER_MM * p.z, CM_PER_MM * p.x);
        }
    }
    return true;
}

// Where the markers of each frame sit in the bones of its AMC pose, and the means.
static void find_places(hdm05_task *task)
{
    for (int f = 0; f < task->frames; ++f) {
        poise_kinematics_update(task->kinematics, hdm05_pose(task, f), NULL);
        for (int i = 0; i < HDM05_MARKERS; ++i) {
            size_t at = (size_t)f * HDM05_MARKERS + (size_t)i;
            poise_pose inverse = poise_pose_inverse(poise_kinematics_body_pose(task->kinematics, task->body[i]));
            poise_vec3 l = poise_pose_transform(inverse, task->target[at]);
            task->own[at] = l;
            task->mean[i].x += l.x / task->frames;
            task->mean[i].y += l.y / task->frames;
            task->mean[i].z += l.z / task->frames;
        }
    }
}

bool hdm05_read(const char *folder, const char *skeleton, const char *take, hdm05_task *task)
{
    *task = (hdm05_task){.is_recording = true, .has_flips = strstr(take, "dg_03-05_02") != NULL};
    poise_file *asf = read_one(task, folder, skeleton, ".asf", NULL);
    char *text = asf ? load_text(folder, skeleton, ".asf") : NULL;
    bool works = text && set_model(task, asf->model, text);
    free(text);
    poise_file *amc = works ? read_one(task, folder, take, ".amc", asf->model) : NULL;
    poise_file *c3d = amc ? read_one(task, folder, take, ".c3d", NULL) : NULL;
    works = works && amc && c3d;
    if (works && !(amc->clip && c3d->markers)) {
        works = fail(task, POISE_ERROR_ARGUMENT, "%.200s: no motion or no markers", take);
    }
    if (works) {
        task->frames = amc->clip->frames;
        task->frame_time = amc->clip->frame_time;
        works = make_room(task);
    }
    if (works) {
        set_poses(task, amc->clip);
        works = set_markers(task, c3d->markers);
    }
    poise_file_destroy(asf);
    poise_file_destroy(amc);
    poise_file_destroy(c3d);
    if (works) {
        find_places(task);
    } else {
        free_but_error(task);
    }
    return works;
}

// ---- The stand-in --------------------------------------------------------------------------------------------------------

#define STAND_IN_SCENE "humanoid-euler"
#define STAND_IN_RATE  120.0
#define CM_PER_METRE   100.0

static poise_vec3 in_cm(poise_vec3 p)
{
    return poise_vec3_make(CM_PER_METRE * p.x, CM_PER_METRE * p.y, CM_PER_METRE * p.z);
}

// The humanoid in cm, without limits and masses.
static poise_status make_humanoid(const poise_model *humanoid, poise_model **model, poise_error *error)
{
    poise_builder *builder = NULL;
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    for (int k = 0; k < poise_model_info(humanoid).joints && status == POISE_OK; ++k) {
        poise_joint joint = *poise_model_joint_info(humanoid, k).given, none = poise_joint_default();
        joint.offset.position = in_cm(joint.offset.position);
        memcpy(joint.lower, none.lower, sizeof joint.lower);
        memcpy(joint.upper, none.upper, sizeof joint.upper);
        joint.mass = 0.0;
        status = poise_builder_add_joint(builder, &joint, error);
    }
    status = status == POISE_OK ? poise_model_create(builder, NULL, model, error) : status;
    poise_builder_destroy(builder);
    return status;
}

static void fill_frames(hdm05_task *task, const poise_model *humanoid, const char *motion)
{
    for (int f = 0; f < task->frames; ++f) {
        double *q = task->amc + (size_t)f * (size_t)task->nq;
        scene_motion_pose(humanoid, motion, f * task->frame_time, q);
        for (int i = 0; i < 3; ++i) {
            q[i] *= CM_PER_METRE;
        }
        poise_kinematics_update(task->kinematics, q, NULL);
        for (int i = 0; i < HDM05_MARKERS; ++i) {
            size_t at = (size_t)f * HDM05_MARKERS + (size_t)i;
            task->own[at] = task->mean[i];
            task->target[at] = poise_kinematics_point(task->kinematics, task->body[i], task->mean[i]);
        }
    }
}

_Static_assert(sizeof((scene_marker *)0)->name == sizeof((hdm05_task *)0)->label[0], "names of markers");

// One period of a motion of scenes.h, such as "walk". False, with the reason in task->error, on failure.
static bool hdm05_make(const char *motion, hdm05_task *task)
{
    scene_marker markers[HDM05_MARKERS];
    poise_model *humanoid = NULL;
    *task = (hdm05_task){.frame_time = 1.0 / STAND_IN_RATE};
    task->frames = (int)(scene_motion_duration(motion) * STAND_IN_RATE + 0.5);
    if (task->frames == 0) {
        return fail(task, POISE_ERROR_NOT_FOUND, "the humanoid has no motion \"%.200s\"", motion);
    }
    poise_status status = scene_create(STAND_IN_SCENE, NULL, &humanoid, &task->error);
    status = status == POISE_OK ? make_humanoid(humanoid, &task->model, &task->error) : status;
    bool works = status == POISE_OK && scene_markers(STAND_IN_SCENE, markers, HDM05_MARKERS) == HDM05_MARKERS &&
                 set_sizes(task) && make_room(task);
    for (int i = 0; works && i < HDM05_MARKERS; ++i) {
        memcpy(task->label[i], markers[i].name, sizeof task->label[i]);
        task->body[i] = markers[i].body;
        task->mean[i] = in_cm(markers[i].local);
    }
    if (works) {
        fill_frames(task, humanoid, motion);
    } else {
        fail(task, status, "the humanoid cannot be made");
        free_but_error(task);
    }
    poise_model_destroy(humanoid);
    return works;
}

// ---- Problems ------------------------------------------------------------------------------------------------------------

void hdm05_goals(const hdm05_task *task, int frame, hdm05_kind kind, poise_goal *goals)
{
    if (kind == HDM05_MADE_MARKERS) {
        poise_kinematics_update(task->kinematics, hdm05_pose(task, frame), NULL);
    }
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        size_t at = (size_t)frame * HDM05_MARKERS + (size_t)i;
        poise_vec3 local = kind == HDM05_OWN_PLACES ? task->own[at] : task->mean[i], target = task->target[at];
        if (kind == HDM05_MADE_MARKERS) {
            target = poise_kinematics_point(task->kinematics, task->body[i], local);
        }
        goals[i] = poise_goal_position(task->body[i], local, target);
    }
}

void hdm05_zero(const hdm05_task *task, int frame, double *q)
{
    memset(q, 0, (size_t)task->nq * sizeof *q);
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        poise_vec3 t = task->target[(size_t)frame * HDM05_MARKERS + (size_t)i];
        q[0] += t.x / HDM05_MARKERS;
        q[1] += t.y / HDM05_MARKERS;
        q[2] += t.z / HDM05_MARKERS;
    }
}

// ---- Studies -------------------------------------------------------------------------------------------------------------

static void find_range(const hdm05_task *task, int i, bool is_free, double *lower, double *upper)
{
    double least = INFINITY, most = -INFINITY;
    for (int f = 0; f < task->frames; ++f) {
        least = fmin(least, hdm05_pose(task, f)[i]);
        most = fmax(most, hdm05_pose(task, f)[i]);
    }
    *lower = is_free ? -INFINITY : least - 0.05 * fabs(least);
    *upper = is_free ? INFINITY : most + 0.05 * fabs(most);
}

// Joints keep their order, and with it their coordinates.
static poise_model *make_limited(const hdm05_task *task)
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_status status = poise_builder_create(NULL, &builder, NULL);
    for (int k = 0; k < poise_model_info(task->model).joints && status == POISE_OK; ++k) {
        poise_joint joint = *poise_model_joint_info(task->model, k).given;
        int first = poise_model_joint_info(task->model, k).q, count = poise_model_joint_info(task->model, k).nq;
        for (int i = 0; i < count; ++i) {
            find_range(task, first + i, joint.parent == NULL, &joint.lower[i], &joint.upper[i]);
        }
        status = poise_builder_add_joint(builder, &joint, NULL);
    }
    if (status == POISE_OK) {
        poise_model_create(builder, NULL, &model, NULL);
    }
    poise_builder_destroy(builder);
    return model;
}

bool hessian_study_create(const char *folder, const char *name, hessian_study *study)
{
    char take[96], skeleton[16];
    snprintf(take, sizeof take, "HDM_%.64s_120", name);
    snprintf(skeleton, sizeof skeleton, "HDM_%.2s", name); // the actor
    study->limited = NULL;
    snprintf(study->name, sizeof study->name, "%s", name);
    if (!(folder ? hdm05_read(folder, skeleton, take, &study->task) : hdm05_make(name, &study->task))) {
        return false;
    }
    study->limited = make_limited(&study->task);
    if (!study->limited) {
        hdm05_free(&study->task);
        snprintf(study->task.error.text, sizeof study->task.error.text, "%.64s: no model with limits", name);
        return false;
    }
    return true;
}

void hessian_study_destroy(hessian_study *study)
{
    poise_model_destroy(study->limited);
    hdm05_free(&study->task);
    study->limited = NULL;
}

// ---- Solvers -------------------------------------------------------------------------------------------------------------

hessian_run hessian_run_default(poise_method method, int max_iterations)
{
    return (hessian_run){.method = method,
                         .max_iterations = max_iterations,
                         .tolerance = HDM05_FTOL,
                         .band = 24,
                         .cg_tolerance = 0.1,
                         .cg_iterations = 58 * 58};
}

// What a solve of one thread needs.
typedef struct workspace {
    const hessian_study *study;
    const hessian_run *run;
    poise_solver *solver;       // NULL: a solver of the paper, over
    poise_objective *objective; // this
    poise_trace *trace;
    double *history; // f of the paper's solvers
    double *q;
    poise_goal goals[HDM05_MARKERS]; // of the last solve, which errors of goals are asked of afterwards
} workspace;

static void clear(workspace *d)
{
    poise_solver_destroy(d->solver);
    poise_objective_destroy(d->objective);
    free(d->trace);
    free(d->history);
    free(d->q);
}

static poise_solver_options make_options(const workspace *d)
{
    poise_solver_options options = poise_solver_options_default();
    options.method = d->run->method;
    options.engine = poise_papers_engine(options.method);
    options.max_iterations = d->run->max_iterations;
    options.use_limits = d->run->has_limits;
    options.start = d->run->is_cold ? POISE_START_COLD : POISE_START_WARM;
    options.cost_tolerance = d->run->tolerance;
    options.gradient_tolerance = 1e-12; // the authors stop by f alone
    options.position_tolerance = 0.0;
    options.coupled_goals = 0;
    options.restarts = d->run->restarts;
    options.damping = d->run->damping;
    options.trust_region.band = d->run->band;
    options.trust_region.cg_tolerance = d->run->cg_tolerance;
    options.trust_region.cg_iterations = d->run->cg_iterations;
    options.trust_region.nearest = d->run->nearest;
    options.locked = d->study->task.locked;
    options.trace = d->trace;
    options.trace_capacity = d->run->max_iterations;
    return options;
}

static bool set_up(const hessian_study *study, const hessian_run *run, workspace *d)
{
    *d = (workspace){.study = study, .run = run};
    d->trace = calloc((size_t)run->max_iterations + 1, sizeof *d->trace);
    d->history = calloc((size_t)run->max_iterations + 1, sizeof *d->history);
    d->q = calloc((size_t)study->task.nq + 1, sizeof *d->q);
    poise_solver_options options = make_options(d);
    const poise_model *model = run->has_limits ? study->limited : study->task.model;
    bool works = d->trace && d->history && d->q;
    if (works && run->paper != PAPER_NONE) {
        works = !run->has_limits && poise_objective_create(model, 0, NULL, &d->objective, NULL) == POISE_OK;
    } else if (works) {
        works = poise_solver_create(model, &options, NULL, &d->solver, NULL) == POISE_OK;
    }
    if (!works) {
        clear(d);
    }
    return works;
}

// A solver of the paper, with a report and a trace of what the experiments look at.
static poise_status solve_as_paper(workspace *d, poise_report *report)
{
    paper_problem problem = {.objective = d->objective,
                             .n = d->study->task.nq,
                             .locked = d->study->task.locked,
                             .max_iterations = d->run->max_iterations,
                             .tolerance = d->run->tolerance};
    paper_result result;
    if (poise_objective_set_goals(d->objective, d->goals, HDM05_MARKERS, NULL) != POISE_OK ||
        !paper_solve(d->run->paper, &problem, d->q, d->history, &result) ||
        poise_objective_evaluate(d->objective, d->q, POISE_LEVEL_COST, NULL) != POISE_OK) {
        return POISE_ERROR_NUMERIC;
    }
    for (int k = 0; k < result.iterations; ++k) {
        d->trace[k] = (poise_trace){.cost = d->history[k + 1]};
    }
    *report = (poise_report){.iterations = result.iterations,
                             .evaluations = result.evaluations,
                             .traced = result.iterations,
                             .start_cost = d->history[0],
                             .cost = result.f};
    return POISE_OK;
}

// Solve a frame from d->q. Returns nanoseconds; negative on failure.
static double solve(workspace *d, poise_solver *solver, int frame, poise_report *report)
{
    hdm05_goals(&d->study->task, frame, HDM05_OWN_PLACES, d->goals);
    double before = d->run->now ? d->run->now() : 0.0;
    poise_status status =
        solver ? poise_solve(solver, d->goals, HDM05_MARKERS, d->q, report, NULL) : solve_as_paper(d, report);
    if (status != POISE_OK) {
        return -1.0;
    }
    return d->run->now ? d->run->now() - before : 0.0;
}

// The distance of a marker after the last solve.
static double distance(workspace *d, int marker)
{
    return d->solver ? poise_solver_goal_error(d->solver, marker).error
                     : poise_objective_goal_error(d->objective, marker).error;
}

static void start_at(const workspace *d, int frame, bool from_zero)
{
    const hdm05_task *task = &d->study->task;
    if (from_zero) {
        hdm05_zero(task, frame, d->q);
    } else {
        memcpy(d->q, hdm05_pose(task, frame > 0 ? frame - 1 : 0), (size_t)task->nq * sizeof *d->q);
    }
}

// ---- Experiments ---------------------------------------------------------------------------------------------------------

bool hessian_curve(const hessian_study *study, const hessian_run *run, int frame, bool from_zero, double *f, int *count)
{
    workspace d;
    poise_report report;
    if (!set_up(study, run, &d)) {
        return false;
    }
    start_at(&d, frame, from_zero);
    bool works = solve(&d, d.solver, frame, &report) >= 0.0;
    if (works) {
        f[0] = report.start_cost;
        for (int k = 0; k < report.traced; ++k) {
            f[k + 1] = d.trace[k].cost;
        }
        *count = report.traced + 1;
    }
    clear(&d);
    return works;
}

static bool add_frame(workspace *d, int frame, hessian_sums *sums)
{
    poise_report report;
    double time = solve(d, d->solver, frame, &report);
    if (time < 0.0) {
        return false;
    }
    double error = sqrt(2.0 * report.cost);
    bool is_before = !d->study->task.has_flips || hdm05_is_before_flip(frame);
    sums->time += time;
    sums->frames += 1;
    sums->before += is_before;
    sums->below += report.cost <= HDM05_FTOL;
    sums->error += error;
    sums->before_error += is_before ? error : 0.0;
    sums->iterations += report.iterations;
    sums->evaluations += report.evaluations;
    for (int i = 0; i < HDM05_MARKERS; ++i) {
        sums->distances += distance(d, i);
    }
    return true;
}

bool hessian_frames(const hessian_study *study, const hessian_run *run, int every, hessian_sums *sums)
{
    workspace d;
    *sums = (hessian_sums){.frames = 0};
    if (!set_up(study, run, &d)) {
        return false;
    }
    bool works = true;
    for (int f = 1; f < study->task.frames && works; f += every) {
        start_at(&d, f, false);
        works = add_frame(&d, f, sums);
    }
    clear(&d);
    return works;
}

bool hessian_listed(const hessian_study *study, const hessian_run *run, const int *frames, int count, hessian_sums *sums)
{
    workspace d;
    *sums = (hessian_sums){.frames = 0};
    if (!set_up(study, run, &d)) {
        return false;
    }
    bool works = true;
    for (int i = 0; i < count && works; ++i) {
        works = frames[i] <= study->task.frames;
        start_at(&d, frames[i] - 1, false);
        works = works && add_frame(&d, frames[i] - 1, sums);
    }
    clear(&d);
    return works;
}

// The first frame from far off.
static bool start_cold(workspace *d, hessian_sums *sums)
{
    poise_solver_options options = make_options(d);
    poise_solver *cold;
    poise_report report;
    options.start = POISE_START_COLD;
    options.max_iterations = 200;
    options.restarts = 20;
    options.trace_capacity = 0;
    if (poise_solver_create(d->study->task.model, &options, NULL, &cold, NULL) != POISE_OK) {
        return false;
    }
    double time = solve(d, cold, 0, &report);
    sums->time += time;
    poise_solver_destroy(cold);
    return time >= 0.0;
}

bool hessian_sequence(const hessian_study *study, const hessian_run *run, hessian_first first, int pieces, int frames,
                      hessian_sums *sums)
{
    workspace d;
    *sums = (hessian_sums){.frames = 0};
    if (!set_up(study, run, &d)) {
        return false;
    }
    start_at(&d, 0, first != HESSIAN_FROM_POSE);
    bool works = first != HESSIAN_COLD || start_cold(&d, sums);
    frames = frames < study->task.frames ? frames : study->task.frames;
    for (int i = 0; i < frames && works; ++i) {
        int piece = (int)((int64_t)i * pieces / frames), begin = (int)(((int64_t)piece * frames + pieces - 1) / pieces);
        int spread = (int)((int64_t)piece * study->task.frames / pieces);
        if (piece > 0 && i == begin) {
            start_at(&d, spread, false);
        }
        works = add_frame(&d, pieces > 1 ? spread + i - begin : i, sums);
    }
    clear(&d);
    return works;
}

// ---- Two links -----------------------------------------------------------------------------------------------------------

// The eigenvalues of [a b; b c] are (a + c)/2 -+ sqrt(((a - c)/2)^2 + b^2).
static bool measure_at(poise_objective *objective, const double *q, poise_definiteness *kind, double *f, double *smaller,
                       double *larger)
{
    double H[4], work[8];
    if (poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL) != POISE_OK ||
        poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL) != POISE_OK ||
        poise_objective_definiteness(objective, POISE_HESSIAN_EXACT, 1e-12, work, kind, NULL) != POISE_OK) {
        return false;
    }
    double middle = 0.5 * (H[0] + H[3]), half = 0.5 * (H[0] - H[3]), radius = sqrt(half * half + H[1] * H[1]);
    *f = poise_objective_value(objective).cost;
    *smaller = middle - radius;
    *larger = middle + radius;
    return true;
}

bool hessian_map(double goal_x, int size, poise_definiteness *kind, double *f, double *smaller, double *larger)
{
    const double pi = 3.14159265358979323846;
    poise_model *model = NULL;
    poise_objective *objective = NULL;
    poise_goal goal = poise_goal_position(1, poise_vec3_make(1, 0, 0), poise_vec3_make(goal_x, 0, 0));
    bool works = scene_create("twolink", NULL, &model, NULL) == POISE_OK &&
                 poise_objective_create(model, 0, NULL, &objective, NULL) == POISE_OK &&
                 poise_objective_set_goals(objective, &goal, 1, NULL) == POISE_OK;
    for (int i = 0; i < size * size && works; ++i) {
        double step = 2.0 * pi / (size - 1), q[2] = {-pi + step * (i / size), -pi + step * (i % size)};
        works = measure_at(objective, q, &kind[i], &f[i], &smaller[i], &larger[i]);
    }
    poise_objective_destroy(objective);
    poise_model_destroy(model);
    return works;
}
