// poise solve: goals for a skeleton, and the angles that meet them: the goals, the picture, the words, then the command.
#include "cli/command.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "commands/avoid.h"
#include "commands/commands.h"

#include <poise/verdict.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Is it a soft goal, which pulls on the answer and is never met exactly (POSTURE, SMOOTHNESS)?
static inline bool goal_is_soft(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
}

// One pose of --path, and how it went.
typedef struct solve_path_row {
    int line;   // of the file
    char *goal; // in words
    bool is_met, holds;
    double error, rotation_error;
    double step; // the largest of a coordinate from the row before, in radians or length units,
    int step_of; // and of which degree of freedom
} solve_path_row;

typedef struct solve_path {
    const char *name; // of the file; NULL: no path
    solve_path_row *rows;
    int count;
    double factor;    // of its lengths, by --path-unit
    double nearest;   // of its points, from the origin
    int turned;       // rows in which a hinge turns by more than half a turn
    poise_clip *clip; // the answers
    double rate;      // poses a second, as --rate says; 0: it does not, and speeds are not judged
    double step[2];   // of --step: how far a joint may turn, radians, and slide, metres, from pose to pose
    poise_verdict verdict;
    poise_finding *findings; // a pose has one at most, the path three more
} solve_path;

typedef struct solve_job {
    const char *name;
    poise_file *file;      // with the model
    poise_file *goal_file; // --goals in JSON; NULL: none
    const poise_model *model;
    poise_goal_list *list;
    double *start, *q; // nq numbers
    bool *locked;      // nv flags
    poise_solver_options options;
    poise_solver *solver;
    poise_report report;
    bool reached;       // every goal that is not soft is met, and what is to keep apart does
    avoided avoided;    // shapes of --avoid and --obstacle, and loops
    more_postures srdf; // its pairs and postures
    double *solutions;  // of --all, solution_count x nq
    int solution_count, solutions_asked;
    int solutions_dropped;   // that break a constraint
    bool has_more_solutions; // than were asked for
    bool blockers_sought;    // goals were missed within constraints, and it was asked why
    unsigned blockers;       // bits of poise_blocker
    poise_trace *trace;      // NULL: not wanted
    const char *length_unit; // "m", or "units"
    solve_path path;         // of --path
} solve_job;

// ---- Reading a path ------------------------------------------------------------------------------------------------------

#define DEFAULT_RATE 100.0 // poses a second of what is written

enum { MOST_COLUMNS = 7 };

static const char *const column_names[] = {"x", "y", "z", "qx", "qy", "qz", "qw", "roll", "pitch", "yaw"};
enum { KNOWN_COLUMNS = 10, FIRST_QUATERNION = 3, FIRST_ANGLE = 7 };

// What each column of the file holds, by its place in `column_names`.
typedef struct path_layout {
    int column[MOST_COLUMNS], count;
} path_layout;

// Without a line of names: x y z, x y z and roll pitch yaw in degrees, or x y z and a quaternion, w last.
static bool default_layout(int count, path_layout *layout)
{
    int second = count == 6 ? FIRST_ANGLE : FIRST_QUATERNION;
    layout->count = count;
    for (int i = 0; i < count && i < MOST_COLUMNS; ++i) {
        layout->column[i] = i < 3 ? i : second + i - 3;
    }
    return count == 3 || count == 6 || count == 7;
}

static int find_column(const char *word, size_t length)
{
    for (int i = 0; i < KNOWN_COLUMNS; ++i) {
        if (strlen(column_names[i]) == length && strncmp(column_names[i], word, length) == 0) {
            return i;
        }
    }
    return POISE_NONE;
}

// A line of names, in any order: all of x y z, and all or none of a kind of rotation.
static bool named_layout(const char *text, path_layout *layout)
{
    unsigned seen = 0;
    const unsigned place = 0x007, quaternion = 0x078, angles = 0x380;
    layout->count = 0;
    for (const char *at = text + strspn(text, " ,"); *at; at += strspn(at, " ,")) {
        size_t length = strcspn(at, " ,");
        int found = find_column(at, length);
        if (found == POISE_NONE || seen & 1u << found || layout->count == MOST_COLUMNS) {
            return false;
        }
        seen |= 1u << found;
        layout->column[layout->count++] = found;
        at += length;
    }
    return seen == place || seen == (place | quaternion) || seen == (place | angles);
}

// One line as a goal in words.
static void describe_row(const path_layout *layout, const double *numbers, const char *tip, char *text, size_t size)
{
    double x[KNOWN_COLUMNS] = {0};
    bool turns = layout->count > 3, has_angles = false;
    for (int i = 0; i < layout->count; ++i) {
        x[layout->column[i]] = numbers[i];
        has_angles = has_angles || layout->column[i] >= FIRST_ANGLE;
    }
    int used = snprintf(text, size, "%s \"%s\" %.17g %.17g %.17g", turns ? "pose" : "position", tip, x[0], x[1], x[2]);
    if (has_angles) {
        snprintf(text + used, size - (size_t)used, " rpy %.17g %.17g %.17g deg", x[7], x[8], x[9]);
    } else if (turns) {
        snprintf(text + used, size - (size_t)used, " quaternion %.17g %.17g %.17g %.17g", x[3], x[4], x[5], x[6]);
    }
}

// A line without its remark, semicolons and tabs as commas.
static void clean_line(char *text)
{
    text[strcspn(text, "#\r")] = '\0';
    for (char *at = text; *at; ++at) {
        *at = strchr(";\t", *at) ? ',' : *at;
    }
}

static bool add_row(solve_path *path, const char *tip, const path_layout *layout, double *numbers, int line)
{
    char text[512];
    double square = 0;
    for (int i = 0; i < layout->count; ++i) {
        bool is_place = layout->column[i] < FIRST_QUATERNION;
        numbers[i] *= is_place ? path->factor : 1;
        square += is_place ? numbers[i] * numbers[i] : 0;
    }
    path->nearest = path->count == 0 ? sqrt(square) : fmin(path->nearest, sqrt(square));
    describe_row(layout, numbers, tip, text, sizeof text);
    path->rows = needed(realloc(path->rows, (size_t)(path->count + 1) * sizeof *path->rows));
    path->rows[path->count++] = (solve_path_row){.line = line, .goal = needed_copy(text, strlen(text))};
    return true;
}

// Name the first word of a line that is no number.
static void complain_of_word(const char *name, int line, char *text)
{
    for (char *at = text + strspn(text, " ,"); *at; at += strspn(at, " ,")) {
        size_t length = strcspn(at, " ,");
        char after = at[length];
        double value;
        at[length] = '\0';
        if (!parse_number(at, &value)) {
            complain("%s:%d: \"%s\" is not a number", name, line, at);
            return;
        }
        at += length;
        *at = after;
    }
    complain("%s:%d: more than %d numbers", name, line, MOST_COLUMNS);
}

static bool read_line(solve_path *path, const char *tip, path_layout *layout, char *text, int line)
{
    double numbers[MOST_COLUMNS];
    clean_line(text);
    int count = parse_numbers(text, numbers, MOST_COLUMNS);
    if (count == 0) {
        return true;
    }
    if (count < 0 && layout->count == 0 && path->count == 0) {
        if (!named_layout(text, layout)) {
            complain("%s:%d: columns are x,y,z, with qx,qy,qz,qw or roll,pitch,yaw (degrees) where it is a pose", path->name,
                     line);
            return false;
        }
        return true;
    }
    if (layout->count == 0 && !default_layout(count, layout)) {
        complain(
            "%s:%d: a line has 3 numbers (a place), 6 (with roll, pitch, yaw in degrees) or 7 (with a quaternion, w last)",
            path->name, line);
        return false;
    }
    if (count != layout->count) {
        if (count < 0) {
            complain_of_word(path->name, line, text);
        } else {
            complain("%s:%d: %d numbers, where lines before have %d", path->name, line, count, layout->count);
        }
        return false;
    }
    return add_row(path, tip, layout, numbers, line);
}

// The tool of the path: --tip, or the only tool of the model.
static const char *tip_of(const solve_job *job, const arguments *args)
{
    const char *tip = option_text(args, "body", NULL);
    if (!tip && poise_model_info(job->model).tools == 1) {
        tip = poise_model_tool_info(job->model, 0).name;
    }
    if (!tip) {
        complain("solve: --path needs --body NAME, the body or tool that follows it");
    }
    return tip;
}

// The unit of --path-unit as a factor of the model's.
static bool read_unit(const solve_job *job, const arguments *args, double *factor)
{
    const char *unit = option_text(args, "path-unit", NULL);
    double metres = job->file->scale.metres > 0 ? job->file->scale.metres : 1;
    *factor = 1;
    if (unit && !parse_unit(unit, factor)) {
        complain("--path-unit \"%s\": one of m cm mm in ft, or metres per unit", unit);
        return false;
    }
    *factor /= unit ? metres : 1;
    return true;
}

// How far a tip may be from the origin at most: the lengths on the way to it; infinite where something slides or floats.
static double reach_of(const poise_model *model, const char *tip)
{
    poise_pose local = poise_pose_identity();
    int body = poise_model_find_part(model, tip, &local, NULL);
    poise_vec3 p = local.position;
    double reach = sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
    for (; body >= 0; body = poise_model_joint_info(model, body).parent) {
        poise_joint_info info = poise_model_joint_info(model, body);
        p = info.given->offset.position;
        bool turns = info.type == POISE_JOINT_REVOLUTE || info.type == POISE_JOINT_FIXED;
        reach += turns ? sqrt(p.x * p.x + p.y * p.y + p.z * p.z) : INFINITY;
    }
    return reach;
}

// Points that all lie far beyond the arm's reach, and within it a thousand times nearer.
static void ask_for_unit(const solve_job *job, const char *tip, const arguments *args)
{
    const double far = 10, near = 1.5, thousand = 1000;
    double reach = reach_of(job->model, tip), nearest = job->path.nearest;
    if (!option_given(args, "path-unit") && nearest > far * reach && nearest < near * reach * thousand) {
        warn("%s: its points lie %.3g %s away and more, and \"%s\" reaches %.3g: millimetres? --path-unit mm",
             job->path.name, nearest, job->length_unit, tip, reach);
    }
}

// "7" or "7,0.02": degrees, and metres of a slide.
static bool read_step(const arguments *args, double step[2])
{
    poise_thresholds usual = poise_thresholds_default();
    const char *text = option_text(args, "step", "");
    double numbers[2];
    int count = parse_numbers(text, numbers, 2);
    step[0] = count > 0 ? numbers[0] / DEGREES_PER_RADIAN : usual.doubtful[POISE_FINDING_LEAPT];
    step[1] = count > 1 ? numbers[1] : usual.doubtful[POISE_FINDING_SLID];
    bool works = option_given(args, "step") ? count > 0 && step[0] > 0 && step[1] > 0 : true;
    if (!works) {
        complain("--step \"%s\": one or two numbers above 0: degrees of a hinge and metres of a slide, such as 7,0.02",
                 text);
    }
    return works;
}

// The file of --path, as rows of goals. False after one line on standard error.
static bool solve_read_path(solve_job *job, const arguments *args)
{
    solve_path *path = &job->path;
    const char *tip = tip_of(job, args);
    const char *name = option_text(args, "path", "");
    file_bytes bytes;
    if (!tip || !read_step(args, path->step) || !read_unit(job, args, &path->factor) || !file_read(name, &bytes)) {
        return false;
    }
    path->rate = option_number(args, "rate", 0);
    path->name = strcmp(name, "-") == 0 ? "standard input" : name;
    path_layout layout = {0};
    const char *at = bytes.bytes, *end = at + bytes.size;
    bool works = true;
    for (int line = 1; works && at < end; ++line) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        char *text = needed_copy(at, size);
        works = read_line(path, tip, &layout, text, line);
        free(text);
        at += size + 1;
    }
    file_release(&bytes);
    if (works && path->count == 0) {
        complain("%s: holds no poses; a line of numbers for each: x, y, z and qx, qy, qz, qw", path->name);
    }
    if (works && path->count > 0) {
        ask_for_unit(job, tip, args);
    }
    return works && path->count > 0;
}

static void solve_release_path(solve_path *path)
{
    for (int i = 0; i < path->count; ++i) {
        free(path->rows[i].goal);
    }
    free(path->rows);
    free(path->findings);
    poise_clip_destroy(path->clip);
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

// A posture by its name in the file, or from another file; poise_goal_words.posture.
static bool find_posture(const void *user, const char *name, double *q, poise_error *error)
{
    const poise_file *file = user;
    complain_to(error->text, sizeof error->text);
    bool works = load_posture(file, name, q);
    complain_to(NULL, 0);
    return works;
}

static bool add_words(solve_job *job, const char *text, poise_error *error)
{
    poise_goal_words words = {.model = job->model, .q_start = job->start, .posture = find_posture, .user = job->file};
    return poise_goal_list_parse(job->list, &words, text, error) == POISE_OK;
}

// Goals that a file in JSON holds; the list points into it.
static bool add_from_json(solve_job *job, const char *name, const poise_file *file)
{
    for (int i = 0; i < file->goal_count; ++i) {
        char text[256];
        poise_goal_describe(&file->goals[i], job->model, text, sizeof text);
        need(poise_goal_list_add(job->list, &file->goals[i], text, NULL) == POISE_OK);
    }
    if (file->goal_count == 0) {
        complain("%s: holds no goals; it needs a list \"goals\" of objects with a \"kind\"", name);
    }
    return file->goal_count > 0;
}

// Goals in words, one or more on a line; what follows a '#' is a remark.
static bool add_from_text(solve_job *job, const char *name, const file_bytes *bytes)
{
    const char *at = bytes->bytes, *end = at + bytes->size;
    int before = job->list->count;
    for (int line = 1; at < end; ++line) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        char *text = needed_copy(at, size);
        poise_error error;
        text[strcspn(text, "#")] = '\0';
        bool works = text[strspn(text, " \t\r;")] == '\0' || add_words(job, text, &error);
        free(text);
        if (!works) {
            complain("%s:%d: %s", name, line, error.text);
            return false;
        }
        at += size + 1;
    }
    if (job->list->count == before) {
        complain("%s: holds no goals; \"poise help goals\" says how to write them", name);
    }
    return job->list->count > before;
}

static bool add_from_file(solve_job *job, const char *name)
{
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".json") == 0) {
        load_options how = {.model = job->model};
        job->goal_file = load_file(name, &how);
        return job->goal_file && add_from_json(job, name, job->goal_file);
    }
    file_bytes bytes;
    if (!file_read(name, &bytes)) {
        return false;
    }
    bool works = add_from_text(job, strcmp(name, "-") == 0 ? "standard input" : name, &bytes);
    file_release(&bytes);
    return works;
}

// The first pose of a path stands behind the other goals, where those after it follow.
static bool add_first_of_path(solve_job *job)
{
    poise_error error;
    bool works = add_words(job, job->path.rows[0].goal, &error);
    if (!works) {
        complain("%s:%d: %s", job->path.name, job->path.rows[0].line, error.text);
    }
    return works;
}

// Goal i becomes what these words, of a line of --path, say. False after one line on standard error.
static bool solve_set_goal(solve_job *job, int goal, const char *text, int line)
{
    poise_goal_words words = {.model = job->model, .q_start = job->start};
    poise_goal_list *one = NULL;
    poise_error error;
    need(poise_goal_list_create(NULL, &one, NULL) == POISE_OK);
    bool works = poise_goal_list_parse(one, &words, text, &error) == POISE_OK;
    if (works) {
        job->list->goals[goal] = one->goals[0]; // a place or a pose, which points to nothing
    } else {
        complain("%s:%d: %s", job->path.name, line, error.text);
    }
    poise_goal_list_destroy(one);
    return works;
}

// The first tool, or the last body of a model without tools.
static const char *name_of_end(const poise_model *model)
{
    poise_model_summary size = poise_model_info(model);
    return size.tools > 0 ? poise_model_tool_info(model, 0).name : poise_model_joint_info(model, size.joints - 1).body;
}

// All goals of the command line, of --goals, or of the model's own file. False after one line on standard error.
static bool solve_collect_goals(solve_job *job, const arguments *args)
{
    const char *text, *file = option_text(args, "goals", NULL);
    need(poise_goal_list_create(NULL, &job->list, NULL) == POISE_OK);
    for (int i = 0; (text = option_text_at(args, "goal", i)); ++i) {
        poise_error error;
        if (!add_words(job, text, &error)) {
            complain("%s", error.text);
            return false;
        }
    }
    if (file && !add_from_file(job, file)) {
        return false;
    }
    if (option_given(args, "path")) {
        return solve_read_path(job, args) && add_first_of_path(job);
    }
    if (job->list->count > 0) {
        return true;
    }
    if (job->file->goal_count > 0) {
        return add_from_json(job, job->name, job->file);
    }
    complain("solve: no goals; give some, such as --goal \"position %s 0.4 0.1 0.3\" (\"poise help goals\")",
             name_of_end(job->model));
    return false;
}

// Is goal i met? A soft goal always is.
static bool solve_goal_is_met(const solve_job *job, int goal)
{
    return poise_solver_goal_is_met(job->solver, goal);
}

// The joint that has this degree of freedom.
static poise_joint_info solve_joint_of_dof(const poise_model *model, int dof)
{
    int k = 0;
    while (poise_model_joint_info(model, k).v + poise_model_joint_info(model, k).nv <= dof) {
        ++k;
    }
    return poise_model_joint_info(model, k);
}

// ---- What keeps goals from being met, and how near shapes come -----------------------------------------------------------

// Two bodies of a pair, and how far apart they are.
typedef struct solve_close_bodies {
    char a[128], b[128];
    double distance;
} solve_close_bodies;

// Bodies with less than `room` to spare at the answer, the nearest first, each two once. Returns how many; free *list.
static int solve_find_close(const solve_job *job, double room, solve_close_bodies **list)
{
    const poise_constraint *apart = &job->avoided.constraints[0];
    poise_close_pair *close = needed(calloc((size_t)apart->pair_count + 1, sizeof *close));
    poise_kinematics *kinematics = NULL;
    int found = 0, count = 0;
    *list = needed(calloc((size_t)apart->pair_count + 1, sizeof **list));
    need(poise_kinematics_create(job->model, NULL, &kinematics, NULL) == POISE_OK);
    poise_kinematics_update(kinematics, job->q, NULL);
    need(poise_pairs_close(kinematics, apart, room, close, apart->pair_count, &found, NULL) == POISE_OK);
    for (int i = 0; i < found; ++i) {
        solve_close_bodies *seen = *list, *last = *list + count;
        last->distance = close[i].nearest.distance;
        avoid_name_pair(&job->avoided, close[i].pair, last->a, last->b);
        while (seen < last && (strcmp(seen->a, last->a) != 0 || strcmp(seen->b, last->b) != 0)) {
            ++seen;
        }
        count += seen == last;
    }
    poise_kinematics_destroy(kinematics);
    free(close);
    return count;
}

// Which of these kinds keep the goals from being met, solved for from the same start?
static unsigned find_blockers(const solve_job *job, unsigned sought)
{
    unsigned found = 0;
    poise_error error;
    if (poise_solve_blockers(job->solver, job->list->goals, job->list->count, job->avoided.constraints, job->avoided.count,
                             job->start, sought, NULL, &found, &error) != POISE_OK) {
        found = 0;
    }
    return found;
}

// Which constraints keep a job that was not reached from its goals.
static void solve_find_blockers(solve_job *job)
{
    if (job->reached || job->options.method != POISE_METHOD_AUTO) {
        return;
    }
    if (job->avoided.count > 0) {
        job->blockers = find_blockers(job, POISE_BLOCKED_BY_SHAPES | POISE_BLOCKED_BY_BALANCE | POISE_BLOCKED_BY_LOOPS |
                                               POISE_BLOCKED_BY_LIMITS | POISE_BLOCKED_TOGETHER);
        job->blockers_sought = true;
    } else if (job->report.active_limits > 0) { // where limits alone can block and do not, there is nothing to say
        job->blockers = find_blockers(job, POISE_BLOCKED_BY_LIMITS);
        job->blockers_sought = job->blockers != 0;
    }
}

// ---- For people ----------------------------------------------------------------------------------------------------------

// "hand and body, hand and obstacle 1 (box)": pairs without room at the answer; "shapes" where they are named already.
static void add_touching_pairs(const solve_job *job, FILE *stream)
{
    enum { SHOWN = 3 };
    const double touches = 1e-5;
    solve_close_bodies *list;
    int count = solve_find_close(job, touches, &list);
    bool names_them = job->report.holds && count > 0;
    for (int i = 0; names_them && i < count && i < SHOWN; ++i) {
        fprintf(stream, "%s%s and %s", i == 0 ? "" : ", ", list[i].a, list[i].b);
    }
    fputs(!names_them ? "shapes" : count > SHOWN ? " and more" : "", stream);
    free(list);
}

static void add_blocker(const solve_job *job, unsigned kind, FILE *stream)
{
    int item = 0;
    switch (kind) {
    case POISE_BLOCKED_BY_SHAPES:
        fputs(" If ", stream);
        add_touching_pairs(job, stream);
        fputs(" could overlap", stream);
        break;
    case POISE_BLOCKED_BY_BALANCE:
        poise_solver_constraint_room(job->solver, job->avoided.first_loop - 1, &item);
        fprintf(stream, " Without the balance (side %d of its polygon)", item + 1);
        break;
    case POISE_BLOCKED_BY_LOOPS:
        fputs(" If loops could open", stream);
        break;
    default:
        fputs(" Without the joint limits", stream);
    }
    fputs(", the goals would be met.", stream);
}

// The joints from a body to the root, and those that they follow.
static void mark_chain(const poise_model *model, int body, bool *moves)
{
    while (body != POISE_WORLD) {
        poise_joint_info joint = poise_model_joint_info(model, body);
        moves[joint.mimic == POISE_NONE ? body : joint.mimic] = true;
        body = joint.parent;
    }
}

// Joints that move a goal that is missed; all of them for a centre of mass, or if loops pass motions on.
static bool *find_movers(const solve_job *job)
{
    int joints = poise_model_info(job->model).joints;
    bool *moves = needed(calloc((size_t)joints, sizeof *moves)), all = job->avoided.first_loop < job->avoided.count;
    for (int i = 0; i < job->list->count; ++i) {
        const poise_goal *goal = &job->list->goals[i];
        if (!solve_goal_is_met(job, i) && goal->kind == POISE_GOAL_CENTER_OF_MASS) {
            all = true;
        } else if (!solve_goal_is_met(job, i)) {
            mark_chain(job->model, goal->body, moves);
            mark_chain(job->model, goal->kind == POISE_GOAL_RELATIVE ? goal->body2 : POISE_WORLD, moves);
        }
    }
    for (int k = 0; all && k < joints; ++k) {
        moves[k] = true;
    }
    return moves;
}

// Joints at a limit that move a missed goal.
static void solve_add_limits(const solve_job *job, FILE *stream)
{
    enum { SHOWN = 6 };
    bool *moves = find_movers(job);
    int count = 0;
    for (int i = 0; i < poise_model_info(job->model).nq; ++i) {
        int k = poise_model_coordinate(job->model, i).joint;
        if (moves[k] && poise_solver_active_limit(job->solver, i) != 0 && ++count <= SHOWN) {
            fprintf(stream, "%s%s", count == 1 ? " At a limit: " : ", ", poise_model_joint_info(job->model, k).name);
        }
    }
    fputs(count == 0 ? "" : count > SHOWN ? ", and more." : ".", stream);
    free(moves);
}

// What is said of the constraints that keep the job from its goals.
static void solve_add_blockers(const solve_job *job, FILE *stream)
{
    if (!job->blockers_sought) {
        return;
    }
    if (job->blockers == 0) {
        fputs(" Without limits and constraints the goals were not met either.", stream);
    } else if (job->blockers == POISE_BLOCKED_TOGETHER) {
        fputs(" Several kinds of limits and constraints block: only without all of them would the goals be met.", stream);
    }
    for (unsigned kind = POISE_BLOCKED_BY_SHAPES; kind <= POISE_BLOCKED_BY_LIMITS; kind <<= 1) {
        if (job->blockers & kind) {
            add_blocker(job, kind, stream);
        }
    }
}

// ---- Soft goals ----------------------------------------------------------------------------------------------------------

// Do soft goals keep the others from being met?
static void solve_add_pull(const solve_job *job, FILE *stream)
{
    int count = 0;
    for (int i = 0; i < job->list->count; ++i) {
        count += goal_is_soft(&job->list->goals[i]);
    }
    if (count == 0 || count == job->list->count || !job->report.holds) {
        return;
    }
    fprintf(stream, " Without the soft goal%s (", count == 1 ? "" : "s");
    for (int i = 0, said = 0; i < job->list->count; ++i) {
        if (goal_is_soft(&job->list->goals[i])) {
            fprintf(stream, "%s%s", said++ > 0 ? ", " : "", job->list->texts[i]);
        }
    }
    fputs(find_blockers(job, POISE_BLOCKED_BY_SOFT_GOALS) ? ") the others would be met: less weight comes closer."
                                                          : ") the others were not met either.",
          stream);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

static json_node *solve_blockers_as_json(const solve_job *job)
{
    json_node *list = json_new(JSON_ARRAY);
    for (unsigned kind = POISE_BLOCKED_BY_SHAPES; kind <= POISE_BLOCKED_TOGETHER; kind <<= 1) {
        if (job->blockers & kind) {
            json_append(list, json_from_text(poise_blocker_name((poise_blocker)kind)));
        }
    }
    return list;
}

// ---- What poise solve says about shapes and loops ------------------------------------------------------------------------

// The pair that has the least room, by name: its distance, and how far apart it must be.
static double nearest_pair(const solve_job *job, char a[128], char b[128], double *margin)
{
    int item = 0;
    double room = poise_solver_constraint_room(job->solver, 0, &item);
    *margin = 0;
    if (job->avoided.constraints[0].pair_count > 0) {
        avoid_name_pair(&job->avoided, item, a, b);
        *margin = avoid_margin(&job->avoided, item);
    }
    return room + *margin;
}

static void print_still(const solve_job *job)
{
    json_node *list = avoid_still_as_json(&job->avoided);
    for (const json_node *pair = list->first; pair; pair = pair->next) {
        char line[400];
        snprintf(line, sizeof line, "not watched: %s and %s overlap by %.4g %s as covered; neither can move",
                 json_text_of(json_get(pair, "a")), json_text_of(json_get(pair, "b")),
                 -json_number_of(json_get(pair, "distance")), job->length_unit);
        print_wrapped(stdout, line, 0, 80);
    }
    json_release(list);
}

static void print_shapes(const solve_job *job)
{
    char a[128] = "", b[128] = "", touching[1000];
    const poise_constraint *apart = &job->avoided.constraints[0];
    double margin, distance = nearest_pair(job, a, b, &margin);
    printf("\n%d shape%s, %d pair%s watched", apart->shape_count, apart->shape_count == 1 ? "" : "s", apart->pair_count,
           apart->pair_count == 1 ? "" : "s");
    if (job->file->shapes_skipped > 0) {
        printf("; %d more, as meshes, could not be read", job->file->shapes_skipped);
    }
    avoid_describe_touching(&job->avoided, touching, sizeof touching);
    putchar('\n');
    if (touching[0]) {
        char whole[sizeof touching + 16];
        snprintf(whole, sizeof whole, "left out: %s", touching);
        print_wrapped(stdout, whole, 0, 80);
    }
    print_still(job);
    if (apart->pair_count == 0 || distance > DBL_MAX / 2) {
        return;
    }
    if (distance >= 0) {
        printf("nearest%s: %s and %s, %.4g %s apart", job->solution_count > 1 ? ", in answer 1" : "", a, b, distance,
               job->length_unit);
        if (distance < margin) {
            printf(", %.2g less than the margin", margin - distance);
        }
        putchar('\n');
    } else {
        printf("in the way: %s and %s overlap by %.4g %s\n", a, b, -distance, job->length_unit);
    }
}

// Does constraint i hold in the answer?
static bool holds(const solve_job *job, int i)
{
    poise_kinematics *kinematics = NULL;
    need(poise_kinematics_create(job->model, NULL, &kinematics, NULL) == POISE_OK);
    need(poise_kinematics_update(kinematics, job->q, NULL) == POISE_OK);
    bool does = poise_constraint_holds(kinematics, &job->avoided.constraints[i], job->options.constraints.closure_tolerance);
    poise_kinematics_destroy(kinematics);
    return does;
}

static void print_loops(const solve_job *job)
{
    int first = job->avoided.first_loop, worst = first;
    double most = 0;
    for (int i = first; i < job->avoided.count; ++i) {
        double open = -poise_solver_constraint_room(job->solver, i, NULL);
        worst = open > most ? i : worst;
        most = open > most ? open : most;
    }
    char name[300];
    avoid_name(&job->avoided, worst, 0, name, sizeof name);
    if (!holds(job, worst)) {
        printf("%sopen: %s, by %.3g\n", first ? "" : "\n", name, most);
    } else {
        int count = job->avoided.count - first;
        printf("%s%d loop%s closed, to %.1g\n", first ? "" : "\n", count, count > 1 ? "s" : "", most);
    }
}

static void print_balance(const solve_job *job)
{
    double room = poise_solver_constraint_room(job->solver, job->avoided.first_loop - 1, NULL);
    printf("%sbalance: the centre of mass is %.4g %s %s the polygon\n", job->avoided.has_shapes ? "" : "\n", fabs(room),
           job->length_unit, room >= 0 ? "inside" : "outside");
}

// What is said about shapes, balance and loops.
static void solve_print_shapes(const solve_job *job)
{
    if (job->avoided.has_shapes) {
        print_shapes(job);
    }
    if (job->avoided.polygon) {
        print_balance(job);
    }
    if (job->avoided.count > job->avoided.first_loop) {
        print_loops(job);
    }
}

// 0 only where every goal is met and all that was to keep apart was watched.
static app_exit solve_exit(const solve_job *job)
{
    return job->reached && avoid_checks_all(&job->avoided) && job->path.verdict.level == POISE_VERDICT_GOOD ? APP_DONE
                                                                                                            : APP_MISSED;
}

// What was not checked of the shapes, and why.
static void solve_print_unchecked(const solve_job *job)
{
    if (avoid_checks_all(&job->avoided)) {
        return;
    }
    text_file text;
    text_open(&text);
    int missing = job->file->shapes_skipped, pairs = job->avoided.constraints[0].pair_count;
    if (pairs == 0) {
        fputs("Nothing was checked: no two shapes that can meet are left.", text.stream);
    } else {
        fputs("Not all was checked.", text.stream);
    }
    if (missing > 0) {
        fprintf(text.stream,
                " %d collision mesh%s could not be read: STL, OBJ and COLLADA files are looked for beside the model's file "
                "and in the folders above it.",
                missing, missing == 1 ? "" : "es");
    }
    fputs(pairs > 0                     ? " --allow-missing continues without them."
          : job->avoided.neighbours > 1 ? " A smaller --neighbours watches more pairs."
                                        : " --obstacle adds what stands around.",
          text.stream);
    text_print(&text);
}

// ---- Pairs in the way ----------------------------------------------------------------------------------------------------

static void add_close(const solve_job *job, FILE *stream)
{
    enum { SHOWN = 5 };
    solve_close_bodies *list;
    int count = solve_find_close(job, 0, &list);
    double margin = job->avoided.constraints[0].margin;
    bool has_own = false, has_obstacle = false; // two bodies of the model; one that overlaps with an obstacle
    bool lacks_margin = false;                  // two bodies of the model that are apart, and not by the margin
    for (int i = 0; i < count; ++i) {
        bool is_own = strncmp(list[i].a, "obstacle ", 9) != 0 && strncmp(list[i].b, "obstacle ", 9) != 0;
        has_own = has_own || is_own;
        lacks_margin = lacks_margin || (is_own && list[i].distance >= 0);
        has_obstacle = has_obstacle || (!is_own && list[i].distance < 0);
        if (i < SHOWN) {
            bool overlap = list[i].distance < 0;
            fprintf(stream, "%s%s and %s, %s%.4g %s%s", i == 0 ? " In the way here: " : "; ", list[i].a, list[i].b,
                    overlap ? "which overlap by " : "", fabs(list[i].distance), job->length_unit, overlap ? "" : " apart");
        }
    }
    if (count > SHOWN) {
        fprintf(stream, "; and %d more", count - SHOWN);
    }
    fputs(count > 0 ? "." : "", stream);
    if (has_own) {
        fprintf(stream, " Bodies that touch by design are left alone by --neighbours %d or --srdf FILE.",
                job->avoided.neighbours + 1);
    }
    if (has_obstacle) {
        fputs(" An obstacle that a body never leaves, as a floor under a base, has to be moved by as much.", stream);
    }
    if (margin > 0) {
        fprintf(stream, " A --margin below %.4g %s asks for less%s.", margin, job->length_unit,
                lacks_margin && !job->avoided.margins ? ", and --self-margin 0 for none between bodies of the model" : "");
    }
    free(list);
}

// Why nothing was found that keeps the shapes apart: the pairs in the way and what may help.
static void solve_add_blocking(const solve_job *job, FILE *stream)
{
    const avoided *a = &job->avoided;
    bool has_loops = a->count > a->first_loop;
    if (!a->has_shapes && !a->polygon) {
        fputs("No pose was found that closes the loops; this one is the least open that was tried.", stream);
        return;
    }
    if (!a->has_shapes) {
        fprintf(stream, "No pose was found that keeps its balance%s, whether it meets the goals or not.",
                has_loops ? " and closes the loops" : "");
        return;
    }
    fprintf(stream, "No pose was found that keeps the shapes apart%s%s%s, whether it meets the goals or not.",
            a->constraints[0].margin > 0 || a->margins ? " by the margin" : "", a->polygon ? ", keeps its balance" : "",
            has_loops ? " and closes the loops" : "");
    add_close(job, stream);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

static json_node *close_as_json(const solve_job *job)
{
    solve_close_bodies *list;
    int count = solve_find_close(job, 0, &list);
    json_node *made = json_new(JSON_ARRAY);
    for (int i = 0; i < count; ++i) {
        json_append(made, json_make("{s:o, s:o, s:o}", "a", json_from_text(list[i].a), "b", json_from_text(list[i].b),
                                    "distance", json_from_number(list[i].distance)));
    }
    free(list);
    return made;
}

static json_node *solve_shapes_as_json(const solve_job *job)
{
    char a[128] = "", b[128] = "";
    const poise_constraint *apart = &job->avoided.constraints[0];
    double margin, distance = nearest_pair(job, a, b, &margin);
    bool is_checked = apart->pair_count > 0 && distance < DBL_MAX / 2;
    json_node *o = json_make("{s:o, s:b, s:i, s:i, s:i, s:o, s:o}", "holds",
                             is_checked ? json_from_bool(job->report.holds) : json_new(JSON_NULL), "checks_all",
                             is_checked && job->file->shapes_skipped == 0, "shapes", apart->shape_count, "pairs",
                             apart->pair_count, "meshes_not_read", job->file->shapes_skipped, "margin",
                             json_from_number(apart->margin), "clearance", json_from_number(is_checked ? distance : NAN));
    json_set(o, "pairs_left_out", json_from_integer(job->avoided.touching->pair_count));
    json_set(o, "always_touch", avoid_touching_as_json(&job->avoided));
    json_set(o, "cannot_move", avoid_still_as_json(&job->avoided));
    json_set(o, "nearest",
             is_checked ? json_make("{s:o, s:o}", "a", json_from_text(a), "b", json_from_text(b)) : json_new(JSON_NULL));
    if (job->avoided.margins) {
        json_set(o, "margin_of_nearest", json_from_number(margin));
    }
    json_set(o, "blocks", json_from_bool(job->report.blocking != POISE_NONE));
    json_set(o, "in_the_way", close_as_json(job));
    return o;
}

static json_node *solve_balance_as_json(const solve_job *job)
{
    double room = poise_solver_constraint_room(job->solver, job->avoided.first_loop - 1, NULL);
    return json_make("{s:b, s:o}", "holds", room >= 0, "room", json_from_number(room));
}

static json_node *solve_loops_as_json(const solve_job *job)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = job->avoided.first_loop; i < job->avoided.count; ++i) {
        char name[300];
        avoid_name(&job->avoided, i, 0, name, sizeof name);
        double open = -poise_solver_constraint_room(job->solver, i, NULL);
        json_append(list, json_make("{s:o, s:o, s:b}", "loop", json_from_text(name), "error", json_from_number(open),
                                    "closed", holds(job, i)));
    }
    return list;
}

// ---- The picture of poise solve ------------------------------------------------------------------------------------------

static const char *const bone = "#56748f", *const old_bone = "#d5dde5", *const joint_ink = "#ffffff", *const red = "#d1495b",
                         *const green = "#3c9d6b", *const brown = "#b08d57";

static bool has_point(const poise_goal *goal)
{
    switch (goal->kind) {
    case POISE_GOAL_POSITION:
    case POISE_GOAL_POSE:
    case POISE_GOAL_AIM:
    case POISE_GOAL_PLANE:
    case POISE_GOAL_LINE:
    case POISE_GOAL_DISTANCE:
    case POISE_GOAL_CENTER_OF_MASS:
        return true;
    default:
        return false;
    }
}

// A ring where the goal is, and a dashed line to it from the point that should go there.
static void draw_goal(picture *p, const solve_job *job, const poise_kinematics *kinematics, int index)
{
    const poise_goal *goal = &job->list->goals[index];
    if (!has_point(goal)) {
        return;
    }
    const char *color = solve_goal_is_met(job, index) ? green : red;
    poise_vec3 from = poise_kinematics_point(kinematics, goal->body, goal->local.position);
    if (goal->kind == POISE_GOAL_CENTER_OF_MASS) {
        poise_kinematics_mass_center(kinematics, &from, NULL);
    }
    picture_ring(p, goal->target.position, 8, color);
    picture_line(p, PICTURE_PAGE, from, goal->target.position, 1.2, color, "5 4");
}

// Obstacle number i, of the file or of --obstacle; NULL: there are fewer.
static const poise_shape *obstacle(const solve_job *job, int i)
{
    const poise_constraint *apart = job->avoided.clearance;
    for (int k = 0; apart && k < apart->shape_count; ++k) {
        if (apart->shapes[k].body == POISE_WORLD && i-- == 0) {
            return &apart->shapes[k];
        }
    }
    return NULL;
}

static void draw(picture *p, const solve_job *job, poise_kinematics *kinematics)
{
    drawing_box box = drawing_box_empty();
    const poise_shape *shape;
    const double *poses[] = {job->start, job->q};
    for (int i = 0; i < 2; ++i) {
        poise_kinematics_update(kinematics, poses[i], NULL);
        drawing_box_add_skeleton(&box, job->model, kinematics);
    }
    for (int i = 0; i < job->list->count; ++i) {
        if (has_point(&job->list->goals[i])) {
            drawing_box_add(&box, job->list->goals[i].target.position);
        }
    }
    for (int i = 0; (shape = obstacle(job, i)); ++i) {
        drawing_box_add_obstacle(&box, shape);
    }
    show_box(p, job->file, &box, 60);
    poise_kinematics_update(kinematics, job->start, NULL);
    drawing_skeleton(p, job->model, kinematics, 5, old_bone, old_bone);
    picture_next_figure(p);
    poise_kinematics_update(kinematics, job->q, NULL);
    for (int i = 0; (shape = obstacle(job, i)); ++i) {
        drawing_obstacle(p, shape, &box, brown);
    }
    drawing_skeleton(p, job->model, kinematics, 7, bone, joint_ink);
    for (int i = 0; i < job->list->count; ++i) {
        draw_goal(p, job, kinematics, i);
    }
}

// The skeleton at the start and at the answer, and the goals, as SVG. False after one line on standard error.
static bool solve_save_picture(const solve_job *job, const char *name)
{
    poise_kinematics *kinematics;
    char caption[160];
    int missed = 0;
    for (int i = 0; i < job->list->count; ++i) {
        missed += !solve_goal_is_met(job, i);
    }
    snprintf(caption, sizeof caption, "%d goal%s, %d missed; pale: the start; rings: where goals are%s", job->list->count,
             job->list->count == 1 ? "" : "s", missed, obstacle(job, 0) ? "; brown: obstacles" : "");
    picture *p = begin_picture(SKELETON_WIDTH, SKELETON_HEIGHT, job->reached ? "Reached" : "The closest pose", caption,
                               job->model, &kinematics);
    draw(p, job, kinematics);
    return save_picture(p, kinematics, name);
}

// ---- What poise solve prints ---------------------------------------------------------------------------------------------

static bool has_rotation(const poise_goal *goal)
{
    return (goal->kind == POISE_GOAL_POSE || goal->kind == POISE_GOAL_RELATIVE) && goal->rotation_weight > 0;
}

// ---- For people ----------------------------------------------------------------------------------------------------------

// "0.00123 m", "12.3 degrees"; what is below a billionth is called 0.
static void print_error(char *text, size_t size, const solve_job *job, int goal)
{
    poise_goal_error e = poise_solver_goal_error(job->solver, goal);
    double error = e.unit == POISE_UNIT_ANGLE ? e.error * DEGREES_PER_RADIAN : e.error;
    const char *unit = e.unit == POISE_UNIT_ANGLE ? " degrees" : e.unit == POISE_UNIT_LENGTH ? job->length_unit : "";
    int used = snprintf(text, size, "%.3g%s%s", error < 1e-9 ? 0 : error, *unit && *unit != ' ' ? " " : "", unit);
    if (has_rotation(&job->list->goals[goal]) && used > 0 && (size_t)used < size) {
        double angle = e.rotation_error * DEGREES_PER_RADIAN;
        snprintf(text + used, size - (size_t)used, ", %.3g degrees", angle < 1e-9 ? 0 : angle);
    }
}

// A goal in `room` columns: if it is longer, its numbers with four digits; if it still is, its beginning.
static void print_goal(char *text, size_t size, const char *goal, int room)
{
    bool fits = text_columns(goal) <= room;
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = goal; *at && used + 1 < size;) {
        size_t word = strcspn(at, " ,;"), between = strspn(at + word, " ,;");
        char *end;
        double number = strtod(at, &end);
        if (!fits && word > 6 && end == at + word) {
            used += (size_t)snprintf(text + used, size - used, "%.4g%.*s", number, (int)between, at + word);
        } else {
            used += (size_t)snprintf(text + used, size - used, "%.*s", (int)(word + between), at);
        }
        at += word + between;
    }
    if (text_columns(text) > room) {
        memcpy(text + text_bytes(text, room - 2), "..", 3);
    }
}

static const char *verdict(const solve_job *job, int goal)
{
    return goal_is_soft(&job->list->goals[goal]) ? "soft" : solve_goal_is_met(job, goal) ? "met" : "missed";
}

static void print_goals(const solve_job *job)
{
    enum { WIDE = 80, LEAST = 24 };
    char error[96], goal[1024];
    int errors = 5, verdicts = 0; // columns; "error" is above them
    for (int i = 0; i < job->list->count; ++i) {
        print_error(error, sizeof error, job, i);
        errors = text_columns(error) > errors ? text_columns(error) : errors;
        verdicts = text_columns(verdict(job, i)) > verdicts ? text_columns(verdict(job, i)) : verdicts;
    }
    int room = WIDE - 2 - errors - 2 - verdicts;
    table *t = table_create("goal\t>error\t");
    for (int i = 0; i < job->list->count; ++i) {
        print_error(error, sizeof error, job, i);
        print_goal(goal, sizeof goal, job->list->texts[i], room > LEAST ? room : LEAST);
        table_row(t, "%s\t%s\t%s", goal, error, verdict(job, i));
    }
    table_end(t, stdout);
}

// To as many places as values have, so that a value at its bound is seen to be there.
static void print_bound(char *text, size_t size, poise_unit unit, double bound)
{
    double value = value_for_people(unit, bound);
    bool has_places = fabs(value) < 1e15;
    int used = snprintf(text, size, has_places ? "%.4f" : isfinite(value) ? "%.6g" : "-", fabs(value) < 5e-5 ? 0 : value);
    while (has_places && used > 1 && strchr("0.", text[used - 1])) { // 150.0000 is 150
        bool is_point = text[used - 1] == '.';
        text[--used] = '\0';
        if (is_point) {
            break;
        }
    }
}

static void print_joints(const solve_job *job, const double *q)
{
    const poise_model *model = job->model;
    table *t = table_create("joint\t\t>value\t>lower\t>upper\t\t");
    for (int i = 0; i < poise_model_info(model).nq; ++i) {
        poise_coordinate c = poise_model_coordinate(model, i);
        poise_joint_info joint = poise_model_joint_info(model, c.joint);
        const char *unit = c.unit == POISE_UNIT_LENGTH ? job->length_unit : c.unit == POISE_UNIT_ANGLE ? "deg" : "";
        char lower[32], upper[32];
        print_bound(lower, sizeof lower, c.unit, poise_model_info(model).lower[i]);
        print_bound(upper, sizeof upper, c.unit, poise_model_info(model).upper[i]);
        int side = poise_solver_active_limit(job->solver, i);
        double value = value_for_people(c.unit, q[i]);
        const char *note = job->locked[joint.v] ? "locked"
                           : side < 0           ? "at its lower limit"
                           : side > 0           ? "at its upper limit"
                                                : "";
        table_row(t, "%s\t%s\t%.4f\t%s\t%s\t%s\t%s", c.place == 0 ? joint.name : "", c.label, fabs(value) < 5e-5 ? 0 : value,
                  lower, upper, unit, note);
    }
    table_end(t, stdout);
}

static void print_trace(const solve_job *job)
{
    table *t = table_create(">iteration\t>cost\t>gradient\t>damping\t>step\tkept\tHessian");
    for (int i = 0; i < job->report.traced; ++i) {
        const poise_trace *r = &job->trace[i];
        table_row(t, "%d\t%.4e\t%.2e\t%.2e\t%.2e\t%s\t%s", i + 1, r->cost, r->gradient, r->damping, r->step,
                  r->accepted ? "yes" : "no", r->exact ? "exact" : "-");
    }
    table_end(t, stdout);
    putchar('\n');
}

// Goals beyond the reach of the whole chain.
static void add_out_of_reach(const solve_job *job, FILE *stream)
{
    poise_kinematics *kinematics = NULL;
    bool is_thousandfold = false; // a goal that would be in reach, were it a thousandth
    if (poise_kinematics_create(job->model, NULL, &kinematics, NULL) != POISE_OK) {
        return; // it is only a remark
    }
    poise_kinematics_update(kinematics, job->q, NULL);
    for (int i = 0; i < job->list->count; ++i) {
        const poise_goal *goal = &job->list->goals[i];
        if ((goal->kind != POISE_GOAL_POSITION && goal->kind != POISE_GOAL_POSE) || solve_goal_is_met(job, i)) {
            continue;
        }
        int first;
        double reach = poise_goal_reach(goal, job->model, &first);
        if (first == POISE_NONE) {
            continue;
        }
        poise_vec3 from = poise_kinematics_body_pose(kinematics, first).position, to = goal->target.position;
        double distance = hypot(hypot(to.x - from.x, to.y - from.y), to.z - from.z);
        if (distance > reach) {
            fprintf(stream, " Goal %d is %.4g %s from %s, and the chain from there is %.4g %s long.", i + 1, distance,
                    job->length_unit, poise_model_joint_info(job->model, first).name, reach, job->length_unit);
            is_thousandfold = is_thousandfold || poise_goal_suspect_millimetres(goal, kinematics, NULL, NULL);
        }
    }
    if (is_thousandfold && job->file->scale.metres == 1) {
        fputs(" Lengths are in metres: are these millimetres?", stream);
    }
    poise_kinematics_destroy(kinematics);
}

// What dropped answers do.
static const char *broken_by_answers(const solve_job *job)
{
    return job->avoided.has_shapes && job->avoided.count == 1 ? "do not keep clear" : "break a constraint";
}

// Why the goals were missed, as far as it can be seen from the answer.
static void print_why(const solve_job *job)
{
    const poise_report *r = &job->report;
    text_file text;
    text_open(&text);
    if (job->solutions_dropped > 0) {
        fprintf(text.stream, "%d answers reach the pose but %s. ", job->solutions_dropped, broken_by_answers(job));
    }
    if (r->holds) {
        fprintf(text.stream, "This is the closest pose that was found: %s.", r->reason);
    } else {
        solve_add_blocking(job, text.stream);
    }
    solve_add_limits(job, text.stream);
    solve_add_blockers(job, text.stream);
    solve_add_pull(job, text.stream);
    add_out_of_reach(job, text.stream);
    if (r->outcome == POISE_OUTCOME_BUDGET) {
        fputs(" More --iterations or --restarts may come closer.", text.stream);
    } else if (job->options.restarts == 0) {
        fputs(" --restarts 50 tries from other poses.", text.stream);
    }
    text_print(&text);
}

// Degrees of freedom that move the goal's body and are not locked.
static int count_movers(const solve_job *job)
{
    int count = 0;
    for (int k = job->list->goals[0].body; k != POISE_WORLD;) {
        poise_joint_info info = poise_model_joint_info(job->model, k);
        for (int i = 0; i < info.nv; ++i) {
            count += !job->locked[info.v + i];
        }
        k = info.parent;
    }
    return count;
}

// A number of restarts to try next: ten times as many, as far as the option goes.
static int more_restarts(int restarts)
{
    const int least = 100, most = 1000000;
    return restarts < least ? least : restarts < most / 10 ? 10 * restarts : most;
}

// How many answers stand side by side in 80 columns; tables below each other have as many, or one less.
static int solutions_abreast(const solve_job *job, int shown)
{
    enum { NUMBER = 10 };
    int names = 5, fit;
    for (int k = 0; k < poise_model_info(job->model).joints; ++k) {
        int columns = text_columns(poise_model_joint_info(job->model, k).name);
        names = columns > names && poise_model_joint_info(job->model, k).nq > 0 ? columns : names;
    }
    fit = names <= 80 - NUMBER ? (80 - names) / NUMBER : 1;
    int tables = (shown + fit - 1) / fit;
    return (shown + tables - 1) / tables;
}

// The answers from `first` up to `end`, as columns of a table.
static void print_some_solutions(const solve_job *job, int first, int end)
{
    int nq = poise_model_info(job->model).nq;
    char head[128] = "joint";
    for (int s = first, used = 5; s < end; ++s) {
        used += snprintf(head + used, sizeof head - (size_t)used, "\t>%d", s + 1);
    }
    table *t = table_create(head);
    for (int i = 0; i < nq; ++i) {
        poise_coordinate c = poise_model_coordinate(job->model, i);
        char row[256];
        size_t used = 0;
        for (int s = first; s < end; ++s) {
            double value = value_for_people(c.unit, job->solutions[s * nq + i]);
            used += (size_t)snprintf(row + used, sizeof row - used, "\t%.3f", fabs(value) < 5e-4 ? 0 : value);
        }
        table_row(t, "%s%s%s%s", poise_model_joint_info(job->model, c.joint).name, c.label[0] ? " " : "", c.label, row);
    }
    putchar('\n');
    table_end(t, stdout);
}

static void print_solutions(const solve_job *job)
{
    enum { SHOWN = 8 };
    int shown = job->solution_count < SHOWN ? job->solution_count : SHOWN, abreast = solutions_abreast(job, shown);
    printf("\n%d answer%s, nearest to the start first (degrees and length units)\n", job->solution_count,
           job->solution_count == 1 ? "" : "s");
    for (int i = 0; i < shown; i += abreast) {
        print_some_solutions(job, i, i + abreast < shown ? i + abreast : shown);
    }
    if (shown < job->solution_count) {
        printf("and %d more, which --json prints\n", job->solution_count - shown);
    }
    if (job->solutions_dropped > 0) {
        printf("\n%d more reach the pose but %s.\n", job->solutions_dropped, broken_by_answers(job));
    }
    if (count_movers(job) > 6) {
        printf("\n%d joints move the goal and a pose fixes 6 of them: every answer is one of\n"
               "endlessly many beside it. --lock JOINT leaves single ones.\n",
               count_movers(job));
    } else if (job->has_more_solutions) {
        printf("\nStopped at the %d that --all asked for; there are more.\n", job->solutions_asked);
    } else {
        printf("\n%d found from %d starts; --restarts %d searches further.\n", job->solution_count,
               job->options.restarts + 1, more_restarts(job->options.restarts));
    }
}

static void solve_print_people(const solve_job *job)
{
    const poise_report *r = &job->report;
    if (job->trace) {
        print_trace(job);
    }
    bool is_long = text_columns(job->name) > 36; // the rest of the line takes up to 44 columns
    printf("%s:%s%s%s%s after %d iteration%s", job->name, is_long ? "\n" : " ",
           style_code(job->reached ? STYLE_GOOD : STYLE_BAD), job->reached ? "reached" : "not reached",
           style_code(STYLE_PLAIN), r->iterations, r->iterations == 1 ? "" : "s");
    if (r->restarts > 0) {
        printf(" from %d starts", r->restarts + 1);
    }
    printf(", method %s\n\n", poise_method_name(job->options.method));
    print_goals(job);
    if (job->solutions && job->solution_count > 0) {
        print_solutions(job);
        solve_print_shapes(job);
        solve_print_unchecked(job);
        return;
    }
    putchar('\n');
    print_joints(job, job->q);
    solve_print_shapes(job);
    if (!job->reached) {
        print_why(job);
    }
    solve_print_unchecked(job);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

static json_node *goals_as_json(const solve_job *job)
{
    static const char *const units[] = {
        [POISE_UNIT_LENGTH] = "length", [POISE_UNIT_ANGLE] = "radian", [POISE_UNIT_NONE] = "number"};
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < job->list->count; ++i) {
        const poise_goal *goal = &job->list->goals[i];
        poise_goal_error e = poise_solver_goal_error(job->solver, i);
        bool soft = goal_is_soft(goal);
        json_node *o = json_make("{s:o, s:s, s:o, s:s, s:o}", "goal", json_from_text(job->list->texts[i]), "kind",
                                 poise_goal_kind_name(goal->kind), "error", json_from_number(e.error), "unit", units[e.unit],
                                 "met", soft ? json_new(JSON_NULL) : json_from_bool(solve_goal_is_met(job, i)));
        if (has_rotation(goal)) {
            json_set(o, "rotation_error", json_from_number(e.rotation_error));
        }
        json_append(list, o);
    }
    return list;
}

static int side_of_limit(const void *solver, int i)
{
    return poise_solver_active_limit(solver, i);
}

static json_node *trace_as_json(const solve_job *job)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < job->report.traced; ++i) {
        const poise_trace *r = &job->trace[i];
        json_append(list, json_make("{s:o, s:o, s:o, s:o, s:b, s:b}", "cost", json_from_number(r->cost), "gradient",
                                    json_from_number(r->gradient), "damping", json_from_number(r->damping), "step",
                                    json_from_number(r->step), "accepted", r->accepted, "exact", r->exact));
    }
    return list;
}

static app_exit solve_print_machine(const solve_job *job)
{
    const poise_report *r = &job->report;
    int nq = poise_model_info(job->model).nq;
    double metres = job->file->scale.metres;
    json_node *o =
        json_make("{s:o, s:s, s:b, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "file", json_from_text(job->name),
                  "outcome", poise_outcome_name(r->outcome), "reached", job->reached, "reason", r->reason, "method",
                  poise_method_name(job->options.method), "iterations", r->iterations, "evaluations", r->evaluations,
                  "restarts", r->restarts, "start_cost", json_from_number(r->start_cost), "cost", json_from_number(r->cost),
                  "metres_per_unit", json_from_number(metres > 0 ? metres : NAN), "q", json_from_numbers(job->q, nq));
    json_set(o, "coordinates", json_from_coordinates(job->model));
    json_set(o, "goals", goals_as_json(job));
    json_set(o, "active_limits", json_from_limits(job->model, side_of_limit, job->solver));
    if (job->avoided.has_shapes) {
        json_set(o, "avoid", solve_shapes_as_json(job));
    }
    if (job->avoided.polygon) {
        json_set(o, "balance", solve_balance_as_json(job));
    }
    if (job->avoided.count > job->avoided.first_loop) {
        json_set(o, "loops", solve_loops_as_json(job));
    }
    if (job->blockers_sought) {
        json_set(o, "blocked_by", solve_blockers_as_json(job));
    }
    if (job->trace) {
        json_set(o, "trace", trace_as_json(job));
    }
    if (job->solutions) {
        json_node *list = json_new(JSON_ARRAY);
        for (int s = 0; s < job->solution_count; ++s) {
            json_append(list, json_make("{s:o}", "q", json_from_numbers(job->solutions + (size_t)s * (size_t)nq, nq)));
        }
        json_set(o, "solutions", list);
        if (job->avoided.count > 0) {
            json_set(o, "solutions_dropped", json_from_integer(job->solutions_dropped));
        }
        json_set(o, "more_solutions", job->has_more_solutions ? json_from_bool(true) : json_new(JSON_NULL));
    }
    return json_print(o) ? solve_exit(job) : APP_BAD;
}

// ---- The words of a path -------------------------------------------------------------------------------------------------

// The row with the largest step of a joint: radians and lengths alike.
static const solve_path_row *longest_step(const solve_path *path)
{
    const solve_path_row *longest = &path->rows[0];
    for (int i = 1; i < path->count; ++i) {
        longest = path->rows[i].step > longest->step ? &path->rows[i] : longest;
    }
    return longest;
}

static int count_met(const solve_path *path)
{
    int met = 0;
    for (int i = 0; i < path->count; ++i) {
        met += path->rows[i].is_met;
    }
    return met;
}

static void print_missed(const solve_job *job)
{
    enum { SHOWN = 8 };
    const solve_path *path = &job->path;
    int missed = 0;
    table *t = table_create(">line\t>off by\t>degrees\t");
    for (int i = 0; i < path->count; ++i) {
        const solve_path_row *row = &path->rows[i];
        if (!row->is_met && ++missed <= SHOWN) {
            table_row(t, "%d\t%.3g %s\t%.3g\t%s", row->line, row->error, job->length_unit,
                      row->rotation_error * DEGREES_PER_RADIAN, row->holds ? "" : "and constraints do not hold");
        }
    }
    putchar('\n');
    table_end(t, stdout);
    if (missed > SHOWN) {
        printf("and %d more, which --json prints\n", missed - SHOWN);
    }
}

static void solve_print_path(const solve_job *job)
{
    const solve_path *path = &job->path;
    int met = count_met(path);
    printf("%s: %s%d of %d poses reached%s, each from the one before\n", path->name,
           style_code(met == path->count ? STYLE_GOOD : STYLE_BAD), met, path->count, style_code(STYLE_PLAIN));
    if (met < path->count) {
        print_missed(job);
    }
    if (path->count > 1) {
        const solve_path_row *row = longest_step(path);
        poise_joint_info joint = solve_joint_of_dof(job->model, row->step_of);
        bool is_angle = poise_model_coordinate(job->model, joint.q).unit != POISE_UNIT_LENGTH;
        printf("\nlargest step of a joint: %s, %.3g %s, to line %d\n", joint.name,
               is_angle ? row->step * DEGREES_PER_RADIAN : row->step, is_angle ? "degrees" : job->length_unit, row->line);
    }
    putchar('\n');
    verdict_print(&path->verdict, path->findings, stdout);
    if (path->verdict.worst[POISE_FINDING_LEAPT] > path->step[0] ||
        path->verdict.worst[POISE_FINDING_SLID] > path->step[1]) {
        print_fact(stdout, "",
                   "the arm takes another of its answers, or a joint has come to its limit: try another --posture, "
                   "or poses that lie closer together",
                   false);
    }
    solve_print_unchecked(job);
}

static app_exit solve_print_path_machine(const solve_job *job)
{
    const solve_path *path = &job->path;
    int nq = poise_model_info(job->model).nq;
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < path->count; ++i) {
        const solve_path_row *row = &path->rows[i];
        json_append(list, json_make("{s:i, s:b, s:b, s:o, s:o, s:o, s:o}", "line", row->line, "met", row->is_met, "holds",
                                    row->holds, "error", json_from_number(row->error), "rotation_error",
                                    json_from_number(row->rotation_error), "step", json_from_number(row->step), "q",
                                    json_from_numbers(path->clip->q + (size_t)i * (size_t)nq, nq)));
    }
    json_node *o =
        json_make("{s:o, s:o, s:b, s:i, s:i, s:i, s:o, s:o, s:o}", "file", json_from_text(job->name), "path",
                  json_from_text(path->name), "reached", job->reached, "poses", path->count, "met", count_met(path),
                  "turned", path->turned, "verdict", verdict_as_json(&path->verdict, path->findings, VERDICT_OF_PATH),
                  "coordinates", json_from_coordinates(job->model), "frames", list);
    return json_print(o) ? solve_exit(job) : APP_BAD;
}

// ---- poise solve: one pose that meets goals ------------------------------------------------------------------------------

#define NEAREST_OF                8    // runs of restarts, where a start is given
#define TOLERANCE_WITH_SOFT_GOALS 1e-3 // soft goals keep others from being met exactly

enum { RESTARTS = 30, RESTARTS_OF_ALL = 500, MOST_TRACED = 100000, MOST_ANSWERS = 1000 };

// ---- Setting up ----------------------------------------------------------------------------------------------------------

// Strict priorities are what the method PRIORITY is for.
static bool choose_method(const solve_job *job, const arguments *args, poise_method *method)
{
    const char *name = option_text(args, "method", NULL);
    for (int i = 0; i < job->list->count && !name; ++i) {
        name = job->list->goals[i].priority > 0 ? "priority" : NULL;
    }
    return method_by_name(name ? name : "auto", method);
}

static bool lock_joints(solve_job *job, const arguments *args)
{
    const char *name;
    for (int i = 0; (name = option_text_at(args, "lock", i)); ++i) {
        poise_pose local;
        int joint = poise_model_find_joint(job->model, name), count;
        joint = joint == POISE_NONE ? find_body(job->model, name, &local) : joint;
        if (joint == POISE_NONE) {
            return false;
        }
        int first = poise_model_joint_info(job->model, joint).v;
        count = poise_model_joint_info(job->model, joint).nv;
        for (int k = 0; k < count; ++k) {
            job->locked[first + k] = true;
        }
    }
    return true;
}

static avoid_asked asked_of(const solve_job *job)
{
    return (avoid_asked){"solve", job->name, job->file, job->srdf.file, .up = job->file->scale.up, .unit = 1};
}

static bool set_options(solve_job *job, const arguments *args)
{
    poise_solver_options *o = &job->options;
    *o = poise_solver_options_default();
    o->start = option_given(args, "posture") ? POISE_START_WARM : POISE_START_COLD;
    o->use_limits = !option_given(args, "no-limits") && strcmp(option_text(args, "limits", "on"), "on") == 0;
    o->max_iterations = option_count(args, "iterations", o->max_iterations);
    o->restarts = option_count(args, "restarts", option_given(args, "all") ? RESTARTS_OF_ALL : RESTARTS);
    o->seed = (uint64_t)option_count(args, "seed", 1);
    o->coupled_goals = 0;
    int soft_goals = 0;
    for (int i = 0; i < job->list->count; ++i) {
        poise_goal_kind kind = job->list->goals[i].kind;
        o->coupled_goals += kind == POISE_GOAL_RELATIVE || kind == POISE_GOAL_CENTER_OF_MASS;
        soft_goals += goal_is_soft(&job->list->goals[i]);
    }
    double tolerance = option_number(args, "tolerance", soft_goals > 0 ? TOLERANCE_WITH_SOFT_GOALS : o->position_tolerance);
    o->position_tolerance = o->rotation_tolerance = tolerance;
    o->rows.max_rows = 6 * job->list->count + (soft_goals + 1) * poise_model_info(job->model).nv;
    for (int i = 0; i < poise_model_info(job->model).nv; ++i) {
        o->locked = job->locked[i] ? job->locked : o->locked;
    }
    if (option_given(args, "trace")) {
        double records = ((double)o->max_iterations + 1) * (o->restarts + 1.0);
        o->trace_capacity = records < MOST_TRACED ? (int)records : MOST_TRACED;
        o->trace = job->trace = needed(calloc((size_t)o->trace_capacity, sizeof *job->trace));
    }
    avoid_asked asked = asked_of(job);
    if (!choose_method(job, args, &o->method) || !avoid_collect(&job->avoided, &asked, args)) {
        return false;
    }
    o->engine = poise_papers_engine(o->method);
    bool has_loops_alone = job->avoided.count > 0 && !job->avoided.has_shapes && !job->avoided.polygon;
    if (has_loops_alone && o->method != POISE_METHOD_AUTO) {
        warn("solve: the %d loops of %s are held by the method auto alone, and left open", job->avoided.count, job->name);
        job->avoided.count = 0;
    }
    o->constraints.closure_tolerance = POISE_CLOSURE_OF_FILES;
    poise_constraints_size(job->avoided.constraints, job->avoided.count, &o->constraints);
    return true;
}

// ---- Solving -------------------------------------------------------------------------------------------------------------

static bool is_reached(const solve_job *job)
{
    if (!job->report.holds) {
        return false;
    }
    for (int i = 0; i < job->list->count; ++i) {
        if (!solve_goal_is_met(job, i)) {
            return false;
        }
    }
    return true;
}

// One solve from the start, with these restarts, into q and *report, by a solver that is new in *solver.
static bool try(solve_job *job, int restarts, double *q, poise_solver **solver, poise_report *report)
{
    poise_solver_options options = job->options;
    options.restarts = restarts;
    poise_error error;
    if (poise_solver_create(job->model, &options, NULL, solver, &error) != POISE_OK) {
        complain("solve: %s", error.text);
        return false;
    }
    memcpy(q, job->start, sizeof *q * (size_t)poise_model_info(job->model).nq);
    if (poise_solve_within(*solver, job->list->goals, job->list->count, job->avoided.constraints, job->avoided.count, q,
                           report, &error) != POISE_OK) {
        complain("solve: method %s: %s", poise_method_name(options.method), error.text);
        return false;
    }
    return true;
}

// How far q is from the start, over all joints.
static double way_to(const solve_job *job, const double *q)
{
    int nv = poise_model_info(job->model).nv;
    double *v = needed(calloc((size_t)nv + 1, sizeof *v)), square = 0;
    poise_difference(job->model, job->start, q, v, NULL);
    for (int i = 0; i < nv; ++i) {
        square += v[i] * v[i];
    }
    free(v);
    return sqrt(square);
}

// The answer and solver of another try become the job's.
static void take(solve_job *job, const double *q, poise_solver **solver, const poise_report *report)
{
    poise_solver *other = job->solver;
    job->solver = *solver;
    *solver = other;
    memcpy(job->q, q, sizeof *q * (size_t)poise_model_info(job->model).nq);
    job->report = *report;
    job->reached = is_reached(job);
}

// Where a start is given, the nearest to it of what restarts find.
static bool look_nearer(solve_job *job, double *q)
{
    size_t nq = (size_t)poise_model_info(job->model).nq;
    double *nearest = needed(calloc(nq + 1, sizeof *nearest));
    uint64_t seed = job->options.seed;
    bool works = true;
    for (int i = 1; i < NEAREST_OF && works; ++i) {
        poise_report report = {0}, best = job->report;
        poise_solver *solver = NULL;
        job->options.seed = seed + (uint64_t)i;
        works = try(job, job->options.restarts, q, &solver, &report);
        memcpy(nearest, job->q, nq * sizeof *q);
        if (works) {
            take(job, q, &solver, &report);
        }
        if (works && !(job->reached && way_to(job, job->q) < way_to(job, nearest) * (1 - 1e-6))) {
            take(job, nearest, &solver, &best);
        }
        poise_solver_destroy(solver);
    }
    job->options.seed = seed;
    free(nearest);
    return works;
}

// One solve of the job's goals. False after one line on standard error.
//
// First from the start alone: an answer near it is worth more than a soft goal (goal_is_soft) met a little better. Other
// starts are for goals that are missed; their answer is taken where it is closer.
static bool solve_run(solve_job *job)
{
    if (!try(job, 0, job->q, &job->solver, &job->report)) {
        return false;
    }
    job->reached = is_reached(job);
    if (job->reached || job->options.restarts == 0) {
        return true;
    }
    double *q = needed(calloc((size_t)poise_model_info(job->model).nq + 1, sizeof *q));
    poise_report first = job->report, report = {0};
    poise_solver *solver = NULL;
    bool works = try(job, job->options.restarts, q, &solver, &report);
    bool is_closer = report.cost < first.cost * (1 - 1e-6); // more than rounding
    if (works && (report.holds == first.holds ? is_closer : report.holds)) {
        take(job, q, &solver, &report);
    }
    job->report.iterations = report.iterations;
    job->report.evaluations = report.evaluations;
    job->report.restarts = report.restarts;
    job->report.traced = report.traced;
    poise_solver_destroy(solver);
    if (works && job->reached && job->options.start == POISE_START_WARM && !job->trace) {
        works = look_nearer(job, q);
    }
    free(q);
    return works;
}

// ---- Following a path ----------------------------------------------------------------------------------------------------

// The largest step of a joint from the row before, and which it is.
static void note_step(solve_job *job, solve_path_row *row)
{
    int nv = poise_model_info(job->model).nv;
    double *v = needed(calloc((size_t)nv + 1, sizeof *v));
    bool has_turned = false;
    poise_difference(job->model, job->start, job->q, v, NULL);
    for (int i = 0; i < nv; ++i) {
        if (fabs(v[i]) > row->step) {
            row->step = fabs(v[i]);
            row->step_of = i;
        }
        bool is_hinge = solve_joint_of_dof(job->model, i).type == POISE_JOINT_REVOLUTE;
        has_turned = has_turned || (is_hinge && fabs(v[i]) * DEGREES_PER_RADIAN > 180);
    }
    job->path.turned += has_turned;
    free(v);
}

static bool solve_row(solve_job *job, int i)
{
    solve_path_row *row = &job->path.rows[i];
    int last = job->list->count - 1;
    if (i > 0 && !solve_set_goal(job, last, row->goal, row->line)) {
        return false;
    }
    poise_solver_destroy(job->solver);
    job->solver = NULL;
    if (!solve_run(job)) {
        return false;
    }
    poise_goal_error e = poise_solver_goal_error(job->solver, last);
    row->error = e.error;
    row->rotation_error = job->list->goals[last].kind == POISE_GOAL_POSE ? e.rotation_error : 0;
    row->is_met = job->reached;
    row->holds = job->report.holds;
    return true;
}

// Which joints leap from pose to pose. The last goal is the tool's.
static bool judge_path(solve_job *job)
{
    solve_path *path = &job->path;
    const poise_goal *goal = &job->list->goals[job->list->count - 1];
    poise_path_problem problem = poise_path_problem_default();
    problem.model = job->model, problem.q = path->clip->q, problem.poses = path->count;
    problem.body = goal->body, problem.local = goal->local;
    problem.frame_time = path->rate > 0 ? 1 / path->rate : 0;
    problem.metres = job->file->scale.metres > 0 ? job->file->scale.metres : 1;
    problem.missed = path->count - count_met(path);
    problem.unwatched = avoid_unwatched(&job->avoided);
    static const poise_finding_kind kinds[] = {POISE_FINDING_LEAPT, POISE_FINDING_SLID};
    for (int i = 0; i < 2; ++i) {
        problem.thresholds.doubtful[kinds[i]] = path->step[i];
        problem.thresholds.failed[kinds[i]] = fmax(path->step[i], problem.thresholds.failed[kinds[i]]);
    }
    poise_error error;
    path->findings = needed(calloc((size_t)path->count + 3, sizeof *path->findings));
    if (poise_path_judge(&problem, NULL, &path->verdict, path->findings, path->count + 3, &error) != POISE_OK) {
        complain("solve: %s", error.text);
        return false;
    }
    return true;
}

// Solve the poses of --path one after the other, and judge the path. False after one line on standard error.
static bool solve_follow_path(solve_job *job)
{
    solve_path *path = &job->path;
    size_t nq = (size_t)poise_model_info(job->model).nq;
    double rate = path->rate > 0 ? path->rate : DEFAULT_RATE;
    need(poise_clip_create(path->count, (int)nq, 1 / rate, NULL, &path->clip, NULL) == POISE_OK);
    progress_start("solving", "poses", path->count);
    bool works = true, all_met = true;
    for (int i = 0; works && i < path->count; ++i) {
        works = solve_row(job, i);
        if (works && i > 0) {
            note_step(job, &path->rows[i]);
        }
        all_met = all_met && job->reached;
        memcpy(path->clip->q + (size_t)i * nq, job->q, nq * sizeof *job->q);
        memcpy(job->start, job->q, nq * sizeof *job->q);
        job->options.start = POISE_START_WARM;
        progress_show(i + 1);
    }
    progress_end();
    job->reached = all_met;
    return works && judge_path(job);
}

// ---- All answers ---------------------------------------------------------------------------------------------------------

// Answers from `from` of which each holds the constraints, into the job. False after one line on standard error.
static bool find_answers(solve_job *job, poise_solver *solver, const double *from, int most)
{
    poise_error error;
    if (poise_solve_all(solver, job->list->goals, from, job->solutions, most + 1, &job->solution_count, &job->report,
                        &error) != POISE_OK) {
        complain("solve: --all: %s", error.text);
        return false;
    }
    int found = job->solution_count;
    if (job->avoided.count > 0) {
        poise_kinematics *kinematics = NULL;
        need(poise_kinematics_create(job->model, NULL, &kinematics, NULL) == POISE_OK);
        poise_constraints_sift(kinematics, job->avoided.constraints, job->avoided.count,
                               job->options.constraints.closure_tolerance, job->solutions, &job->solution_count);
        poise_kinematics_destroy(kinematics);
    }
    job->solutions_dropped = found - job->solution_count;
    return true;
}

// The start with the joints that do not move the goal, such as fingers, as the answer has them. False: they are already.
static bool move_others(const solve_job *job, double *from)
{
    const poise_model *model = job->model;
    bool *moves_goal = needed(calloc((size_t)poise_model_info(model).joints + 1, sizeof *moves_goal));
    bool differs = false;
    for (int k = job->list->goals[0].body; k >= 0; k = poise_model_joint_info(model, k).parent) {
        moves_goal[k] = true;
    }
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        for (int i = joint.q; i < joint.q + joint.nq; ++i) {
            from[i] = moves_goal[k] ? job->start[i] : job->q[i];
            differs |= from[i] != job->start[i];
        }
    }
    free(moves_goal);
    return differs;
}

// None of the answers holds, and all have the other joints where the start has them. If these are in each other's way, as
// closed fingers are, a solve says where they are not. False after one line on standard error.
static bool find_with_others_moved(solve_job *job, poise_solver *solver, int most)
{
    double *from = needed(calloc((size_t)poise_model_info(job->model).nq + 1, sizeof *from));
    bool works = solve_run(job);
    poise_report solved = job->report;
    if (works && job->reached && move_others(job, from)) {
        works = find_answers(job, solver, from, most);
    }
    job->report = job->solution_count == 0 ? solved : job->report;
    free(from);
    return works;
}

// The nearest answer that holds the constraints becomes the job's, with what is known of it; where none does, what a solve
// finds, which may lie between the answers of an arm with many, or be the closest pose.
static bool choose_held(solve_job *job, poise_solver *solver, int most)
{
    size_t nq = (size_t)poise_model_info(job->model).nq;
    if (job->solution_count == 0 && !find_with_others_moved(job, solver, most)) {
        return false;
    }
    if (job->solution_count == 0) {
        job->solution_count = job->reached;
        memcpy(job->solutions, job->q, nq * sizeof *job->q);
        return true;
    }
    poise_report found = job->report;
    double *start = job->start;
    poise_solver_destroy(job->solver);
    job->solver = NULL;
    job->start = job->solutions;
    bool works = try(job, 0, job->q, &job->solver, &job->report);
    job->start = start;
    if (!works) {
        return false;
    }
    job->reached = is_reached(job);
    job->report.iterations = found.iterations;
    job->report.evaluations = found.evaluations;
    job->report.restarts = found.restarts;
    return true;
}

// One more than are asked for, to know that there are more; where some will be dropped, as many as there may be.
static bool find_all(solve_job *job, int capacity)
{
    poise_error error;
    bool is_held = job->avoided.count > 0;
    int most = is_held ? MOST_ANSWERS : capacity;
    if (job->list->count != 1) {
        complain("solve: --all takes a single goal, a pose");
        return false;
    }
    poise_solver *solver = NULL;
    if (poise_solver_create(job->model, &job->options, NULL, &solver, &error) != POISE_OK) {
        complain("solve: %s", error.text);
        return false;
    }
    size_t nq = (size_t)poise_model_info(job->model).nq;
    job->solutions = needed(calloc(((size_t)most + 1) * nq + 1, sizeof *job->solutions));
    job->solutions_asked = capacity;
    bool works = find_answers(job, solver, job->start, most) && (!is_held || choose_held(job, solver, most));
    job->has_more_solutions = job->solution_count > capacity;
    job->solution_count = job->has_more_solutions ? capacity : job->solution_count;
    if (is_held || !works) {
        poise_solver_destroy(solver);
        return works;
    }
    job->solver = solver;
    memcpy(job->q, job->solutions, nq * sizeof *job->q); // the nearest, or the closest pose
    job->reached = job->solution_count > 0;
    return true;
}

// ---- Saving --------------------------------------------------------------------------------------------------------------

static bool is_json(const char *name)
{
    return strcmp(name, "-") == 0 || format_by_name(name) == POISE_FORMAT_JSON;
}

// The answer as a motion of one frame and, where the format holds postures, as the posture "solution", with the goals.
static bool save(const solve_job *job, const char *name)
{
    int nq = poise_model_info(job->model).nq, count = job->file->posture_count;
    poise_posture *postures = needed(calloc((size_t)count + 1, sizeof *postures));
    poise_clip *clip = NULL;
    int kept = 0;
    need(poise_clip_create(1, nq, 1, NULL, &clip, NULL) == POISE_OK);
    memcpy(clip->q, job->q, sizeof *job->q * (size_t)nq);
    for (int i = 0; i < count; ++i) {
        if (strcmp(job->file->postures[i].name, "solution") != 0) {
            postures[kept++] = job->file->postures[i];
        }
    }
    postures[kept++] = (poise_posture){.name = "solution", .q = job->q};
    poise_file out = *job->file;
    out.clip = job->path.clip ? job->path.clip : clip;
    out.motion = "solution";
    out.markers = NULL;
    bool json = is_json(name); // others would only warn
    out.postures = json ? postures : NULL;
    out.posture_count = json ? kept : 0;
    out.goals = json ? job->list->goals : NULL;
    out.goal_count = json ? job->list->count : 0;
    out.placements = json ? out.placements : NULL;
    out.placement_count = json ? out.placement_count : 0;
    bool works = save_motion(name, &out);
    poise_clip_destroy(clip);
    free(postures);
    return works;
}

// ---- The command ---------------------------------------------------------------------------------------------------------

static app_exit finish(solve_job *job, const arguments *args)
{
    const char *output = option_text(args, "output", NULL), *drawing = option_text(args, "picture", NULL);
    if (!job->path.name) {
        solve_find_blockers(job);
    }
    if (output && !save(job, output)) {
        return APP_BAD;
    }
    if (drawing && !solve_save_picture(job, drawing)) {
        return APP_BAD;
    }
    if (arguments_json(args)) {
        return job->path.name ? solve_print_path_machine(job) : solve_print_machine(job);
    }
    if (!output || strcmp(output, "-") != 0) {
        (job->path.name ? solve_print_path : solve_print_people)(job);
        print_written((const char *[]){output, drawing}, 2, stdout);
    }
    return solve_exit(job);
}

static bool set_start(solve_job *job, const arguments *args)
{
    size_t nq = (size_t)poise_model_info(job->model).nq, nv = (size_t)poise_model_info(job->model).nv;
    job->start = needed(calloc(nq + 1, sizeof *job->start));
    job->q = needed(calloc(nq + 1, sizeof *job->q));
    job->locked = needed(calloc(nv + 1, sizeof *job->locked));
    if (!load_posture(job->file, option_text(args, "posture", "neutral"), job->start)) {
        return false;
    }
    memcpy(job->q, job->start, nq * sizeof *job->q);
    return true;
}

static void release(solve_job *job)
{
    poise_solver_destroy(job->solver);
    poise_goal_list_destroy(job->list);
    free(job->start);
    free(job->q);
    free(job->locked);
    free(job->solutions);
    solve_release_path(&job->path);
    avoid_release(&job->avoided);
    free(job->trace);
    poise_file_destroy(job->goal_file);
    release_more_postures(&job->srdf);
    poise_file_destroy(job->file);
}

// The model, where to start, the goals and what is locked. False after one line on standard error.
static bool load_words(solve_job *job, const arguments *args, const load_options *how)
{
    job->file = load_model(job->name, how);
    if (!job->file) {
        return false;
    }
    job->model = job->file->model;
    job->length_unit = job->file->scale.metres == 1 ? "m" : "units";
    return avoid_load_srdf(job->file, args, how->quiet, &job->srdf) && set_start(job, args) &&
           solve_collect_goals(job, args) && lock_joints(job, args);
}

// Are all words understood? Asked first where meshes are read, which takes seconds. Standard input is read only once.
static bool check_words(const arguments *args, load_options how)
{
    const char *name = arguments_at(args, 0);
    if (strcmp(name, "-") == 0 || strcmp(option_text(args, "goals", ""), "-") == 0 ||
        strcmp(option_text(args, "path", ""), "-") == 0) {
        return true;
    }
    solve_job job = {.name = name};
    how.meshes = false;
    how.quiet = true;
    bool are_sound = load_words(&job, args, &how);
    if (are_sound) {
        avoid_asked asked = asked_of(&job);
        are_sound = avoid_check_obstacles(&asked, args);
    }
    release(&job);
    return are_sound;
}

// One answer, all of them, or those of a path.
static bool find_answer(solve_job *job, const arguments *args)
{
    return job->path.name              ? solve_follow_path(job)
           : option_given(args, "all") ? find_all(job, option_count(args, "all", 1))
                                       : solve_run(job);
}

// A path excludes what is about one answer.
static bool check_path_use(const arguments *args)
{
    static const char *const others[] = {"all", "trace", "picture"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
        if (option_given(args, "path") && option_given(args, others[i])) {
            complain("solve: --%s is about one pose: leave out --path", others[i]);
            return false;
        }
    }
    static const char *const parts[] = {"body", "rate", "path-unit", "step"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        if (!option_given(args, "path") && option_given(args, parts[i])) {
            complain("solve: --%s is about a path: add --path FILE", parts[i]);
            return false;
        }
    }
    return true;
}

static app_exit run(const arguments *args)
{
    solve_job job = {.name = arguments_at(args, 0)};
    const char *output = option_text(args, "output", "-");
    if (strcmp(output, "-") != 0 && format_by_name(output) == POISE_FORMAT_UNKNOWN) {
        return APP_BAD;
    }
    if (option_given(args, "output") && strcmp(output, "-") == 0 && arguments_json(args)) {
        complain("solve: standard output can take the file or --json, not both");
        return APP_BAD;
    }
    bool avoids = option_given(args, "avoid") || option_given(args, "obstacle");
    if (!avoids && option_given(args, "srdf") && !option_given(args, "posture")) {
        complain("solve: --srdf has pairs for --avoid and postures for --posture: add one of them");
        return APP_BAD;
    }
    if (!check_path_use(args) || !avoid_check_use(args, "solve", false)) {
        return APP_BAD;
    }
    load_options how = {.floating = option_given(args, "floating"),
                        .ignore_follower_limits = option_given(args, "ignore-follower-limits"),
                        .holds_loops = true,
                        .meshes = avoids};
    if (avoids && !check_words(args, how)) {
        return APP_BAD;
    }
    app_exit result = APP_BAD;
    if (load_words(&job, args, &how) && (!option_given(args, "output") || motion_can_be_written(job.file, output))) {
        if (set_options(&job, args) && find_answer(&job, args)) {
            result = finish(&job, args);
        }
    }
    release(&job);
    return result;
}

static const app_option options[] = {
    {"goal", 'g', OPTION_TEXT, "GOAL", .repeats = true, .help = "what the skeleton should do; see \"poise help goals\""},
    {"goals", 0, OPTION_FILE, "FILE", .help = "read goals from a file: one per line, or Poise's JSON (.json)"},
    {"path", 0, OPTION_FILE, "FILE",
     .help = "poses for --body, one per line, each solved from the one before: x,y,z, then qx,qy,qz,qw or roll,pitch,yaw in "
             "degrees (.csv)"},
    {"path-unit", 0, OPTION_TEXT, "UNIT", .help = "unit of the places in --path: m cm mm in ft; the default is the model's"},
    {"body", 'b', OPTION_TEXT, "NAME", .alias = "tip",
     .help = "body or tool that follows --path; the default is the only tool"},
    {"rate", 0, OPTION_NUMBER, "HZ", .lowest = 1e-3, .highest = 1e6,
     .help =
         "poses of --path per second: joints that are then faster than their limits (20 rad/s where the file has none) are "
         "reported; -o writes 100 by default"},
    {"step", 0, OPTION_TEXT, "DEG[,M]",
     .help =
         "how far a joint may turn, in degrees, and slide, in metres, from a pose of --path to the next; the default is "
         "7,0.02. Poses far apart may take longer steps if the arm can follow the straight line between them in such steps"},
    {"posture", 'p', OPTION_TEXT, "POSTURE", .alias = "from q",
     .help = "start: a posture by name, FILE@FRAME, or numbers in radians (\"0 -90 90 deg\": in degrees); the default is "
             "neutral"},
    {"method", 0, OPTION_CHOICE, "METHOD", .choices = METHODS_COMMON " priority ccd bwcd fabrik", .also = "newton_projected",
     .help = "solver; auto is the best of them, the others are for comparison"},
    {"no-limits", .help = "ignore the joint limits"},
    {"limits", 0, OPTION_CHOICE, "on|off", .choices = "on off", .help = "respect the joint limits", .is_old = true},
    {"lock", 0, OPTION_TEXT, "JOINT", .repeats = true, .alias = "hold", .help = "hold this joint at its start value"},
    {"iterations", 0, OPTION_COUNT, "N", .alias = "max-iterations", .highest = INT_MAX,
     .help = "most iterations from each start; the default is 100"},
    {"restarts", 0, OPTION_COUNT, "N", .highest = 1000000,
     .help = "most restarts while goals are missed; the default is 30, with --all 500"},
    {"seed", 0, OPTION_COUNT, "N", .highest = INT_MAX, .help = "seed of the restarts; the default is 1"},
    {"tolerance", 0, OPTION_NUMBER, "T", .highest = 1e9,
     .help = "largest error that counts as met, in length units or radians; the default is 1e-6, or 1e-3 with soft goals"},
    {"all", 0, OPTION_COUNT, "N", .lowest = 1, .highest = MOST_ANSWERS,
     .help = "find up to N different answers (at most 1000) for one pose of an arm, with --avoid those that keep clear; "
             "whole turns of a joint make no other answer"},
    AVOID_OPTIONS,
    {"trace", .help = "print every iteration"},
    {"output", 'o', OPTION_OUTPUT, "FILE", .choices = WRITTEN_FILES,
     .help = "write the answer: as posture \"solution\" of a .json, else as a motion of one frame, or of all of --path"},
    {"picture", 0, OPTION_OUTPUT, "FILE", .choices = ".svg", .help = "draw start, answer, goals and obstacles"},
    {"floating", .help = "URDF, MJCF: leave the root free instead of fixing it to the world"},
    {"ignore-follower-limits",
     .help = "URDF, MJCF: limits of a joint that follows another do not narrow those of the other"},
    {0},
};

static const app_example examples[] = {
    {"Reach a point with an arm", "poise solve scene:arm7 --goal \"position tip 0.4 0.1 0.3\""},
    {"A pose: every answer, and one of them as a file",
     "poise solve scene:arm6 --goal \"pose tip 0.5 0.1 0.4 rpy 0 180 0 deg\" --all 8 -o arm.json"},
    {"The same beside a wall: answers that keep clear of it",
     "poise solve arm.urdf --goal \"pose tool0 0.5 0.1 0.4 rpy 0 180 0 deg\" --all 8 --obstacle \"box 0.8 0 0 0.1 2 2\""},
    {"A body that reaches, looks and moves as little as possible, with a picture",
     "poise solve scene:humanoid --goal \"position left_hand 0.3 1.5 0.4\" --goal \"aim head to 0.3 1.5 0.4\" "
     "--goal \"stay weight 0.001\" --picture reach.svg"},
    {"An arm that avoids a post and itself", "poise solve arm.urdf --goal \"position tool0 0.5 0.2 0.4\" --avoid "
                                             "--obstacle \"box 0.4 0 0.5 0.1 0.1 1\" --margin 0.01"},
    {"A tool path from a table, as a motion", "poise solve arm.urdf --path path.csv --body tool0 -o joints.csv"},
    {"Output for a program", "poise solve scene:twolink --goal \"position tip 1 1 0\" --json"},
    {0},
};

const app_command cmd_solve = {
    .name = "solve",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "find a pose that meets goals within the joint limits",
    .description =
        "Finds joint values that meet all goals, or come as close as the skeleton can. Goals are written in words "
        "(\"poise help goals\"); without any, those in MODEL's file are used.\n\n"
        "The exit status is 0 if every goal is met and 1 if the closest pose misses one; that pose is printed and written "
        "all the same. With --path it is also 1 if a joint leaps from one pose to the next (--step). With --avoid the "
        "status is also 1 if no pose was found that keeps the shapes apart (the output "
        "names the colliding pairs), if there was nothing to check, or if collision meshes could not be read "
        "(--allow-missing continues without them). Loops that the model's file closes (MJCF, JSON) are kept closed. Soft "
        "goals (posture, stay) influence the answer but do not count as missed. Goals with a priority above 0 are solved "
        "level by level, by the method priority.",
    .options = options,
    .examples = examples,
    .run = run,
};
