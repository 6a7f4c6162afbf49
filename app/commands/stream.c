// poise stream: goals in, joint angles out, in real time: what lines ask for, the loop, then the command.
//
// Everything that comes out depends on the lines and on the ticks at which they were taken, never on the clock itself. A
// record holds both, so that it replays to the same bytes.
#include "cli/files.h"
#include "cli/json.h"
#include "cli/latency.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "commands/commands.h"
#include "commands/facing.h"
#include "system/system.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STREAM_MOST_GOALS = 64, STREAM_MOST_COUPLED = 8 };

// What is to be done until another line says otherwise.
typedef struct stream_task {
    const poise_file *file; // the model's
    const poise_model *model;
    aim_end end;
    aim_holds holds;
    poise_kinematics *kinematics;       // scratch
    double *posture, *first_posture;    // nq
    double *servo_scale, *servo_offset; // nq: what a motor calls an angle is scale * angle + offset; NULL: the angle
    bool only_aims;                     // it takes no other goals than "aim": ERIK's
    bool has_aim, has_position, stops;
    poise_aim_target aim;
    poise_vec3 position;
    poise_goal_list *listed; // of the member "goals": those in words ...
    poise_file *goal_file;   // ... and the others; NULL: none
    poise_goal goals[STREAM_MOST_GOALS];
    int goal_count; // all, with the two above
} stream_task;

typedef struct stream_options {
    double rate, solve_rate;  // Hz
    double duration;          // seconds; infinity: until it ends by itself
    double settle;            // seconds that it may take to come to rest after the last line
    double late;              // seconds by which a line may be late
    bool replay;              // a virtual clock
    bool ordinary, erik;      // the ordinary solver, or ERIK, instead of the expressive one
    bool steps;               // the ordinary solver, by a control step a tick instead of answers and the filter
    bool json, reply;         // figures as JSON; lines out go to the sender of datagrams, too
    bool with_posture;        // lines out hold the posture, too
    FILE *record;             // NULL: none
    const poise_clip *motion; // an animation whose poses are the posture to hold; NULL: none
    bool repeats;             // it begins again when it has ended
    poise_expressive_mode mode;
    double gain, posture_weight;
} stream_options;

typedef struct stream_figures {
    int64_t ticks, sent, missed, lines, bad, solves, failed;
    bool closed;             // standard output takes no more lines
    int trouble;             // errno, where that is not because its reader has left; 0: none
    latency output, solving; // from the tick to the line that left; in the solver
} stream_figures;

// ---- What lines ask for --------------------------------------------------------------------------------------------------

enum { OWN_GOALS = 2 + POISE_AIM_MOST_HELD }; // aim, position, holds

// No length, angle or weight is meant beyond this. Far beyond it squares overflow, and what is out of reach would look met.
#define LARGEST 1e100

static bool refuse(char *wrong, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(char *wrong, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(wrong, POISE_ERROR_TEXT_SIZE, format, values);
    va_end(values);
    text_make_printable(wrong);
    return false;
}

// ---- Members -------------------------------------------------------------------------------------------------------------

// What a line changes, until all of it is found to be sound.
typedef struct change {
    bool aim, position, posture, goals; // is there such a member?
    bool has_aim, has_position, stops;
    poise_aim_target target;
    poise_vec3 place;
    const double *q;         // the posture, or ...
    double *numbers;         // ... as a list, to be freed
    poise_goal_list *listed; // goals in words
    poise_file *file;        // goals as objects
} change;

// Up to `capacity` numbers of a list; -1 when it is none, or something in it is not a finite number.
static int read_numbers(const json_node *list, double *numbers, int capacity)
{
    int count = 0;
    if (!json_is(list, JSON_ARRAY)) {
        return -1;
    }
    for (const json_node *n = list->first; n; n = n->next, ++count) {
        if (!json_is_number(n)) {
            return -1;
        }
        if (count < capacity) {
            numbers[count] = n->number;
        }
    }
    return count;
}

static bool read_aim(const char *name, poise_aim_kind kind, const json_node *value, change *c, char *wrong)
{
    double numbers[4];
    if (c->aim) {
        return refuse(wrong, "only one of aim, direction and orientation fits into a line");
    }
    c->aim = true;
    c->has_aim = !json_is(value, JSON_NULL);
    if (!c->has_aim) {
        return true;
    }
    int count = read_numbers(value, numbers, 4);
    const char *reason = count < 0 ? "is not a list of numbers" : aim_make_target(kind, numbers, count, &c->target);
    return !reason || refuse(wrong, "%s: %s", name, reason);
}

static bool read_position(const json_node *value, change *c, char *wrong)
{
    double n[3];
    c->position = true;
    c->has_position = !json_is(value, JSON_NULL);
    if (c->has_position && read_numbers(value, n, 3) != 3) {
        return refuse(wrong, "position: is not a list of three numbers");
    }
    c->place = c->has_position ? poise_vec3_make(n[0], n[1], n[2]) : poise_vec3_make(0, 0, 0);
    return true;
}

static bool read_posture(const stream_task *task, const json_node *value, change *c, char *wrong)
{
    int nq = poise_model_info(task->model).nq, count;
    const char *name = json_text_of(value);
    c->posture = true;
    c->q = json_is(value, JSON_NULL) ? task->first_posture : NULL;
    for (int i = 0; name && i < task->file->posture_count; ++i) {
        c->q = strcmp(task->file->postures[i].name, name) == 0 ? task->file->postures[i].q : c->q;
    }
    if (c->q) {
        return true;
    }
    bool neutral = name && strcmp(name, "neutral") == 0;
    if (name && !neutral) {
        return refuse(wrong, "posture: none is called \"%.80s\"", name);
    }
    c->numbers = malloc((size_t)nq * sizeof *c->numbers + 1);
    if (!c->numbers) {
        return refuse(wrong, "no memory left");
    }
    c->q = c->numbers;
    if (neutral) {
        poise_model_neutral(task->model, c->numbers);
        return true;
    }
    count = read_numbers(value, c->numbers, nq);
    if (count != nq) {
        return refuse(wrong, "posture: is neither a name nor a list of %d numbers", nq);
    }
    for (int i = 0; i < nq; ++i) {
        if (!(fabs(c->numbers[i]) <= LARGEST)) {
            return refuse(wrong, "posture: number %d, %g, is beyond %g", i + 1, c->numbers[i], LARGEST);
        }
    }
    for (int i = 0; i < nq && task->servo_scale; ++i) {
        c->numbers[i] = (c->numbers[i] - task->servo_offset[i]) / task->servo_scale[i];
    }
    bool sound = poise_kinematics_update(task->kinematics, c->numbers, NULL) == POISE_OK;
    return sound || refuse(wrong, "posture: a quaternion in it is zero");
}

static bool posture_by_name(const void *user, const char *name, double *q, poise_error *error)
{
    const poise_file *file = user;
    for (int i = 0; i < file->posture_count; ++i) {
        if (strcmp(file->postures[i].name, name) == 0) {
            memcpy(q, file->postures[i].q, (size_t)poise_model_info(file->model).nq * sizeof *q);
            return true;
        }
    }
    snprintf(error->text, sizeof error->text, "no posture is called \"%.80s\"", name);
    return false;
}

// Goals as objects, which go, in the language of files: they are read as a file that holds nothing else.
static bool read_objects(const stream_task *task, json_node *objects, change *c, char *wrong)
{
    json_node *root = json_make("{s:i, s:o}", "poise", 1, "goals", objects);
    char *text = json_to_text(root, JSON_DIGITS);
    poise_read_options options = {0};
    poise_error error = {0};
    options.format = POISE_FORMAT_JSON;
    options.model = task->model;
    bool works = text && poise_read(text, strlen(text), &options, NULL, &c->file, &error) == POISE_OK;
    if (!works) {
        c->file = NULL;
        refuse(wrong, "goals: %s", error.text[0] ? error.text : "no memory left");
    } else if (c->file->warning_count > 0) {
        works = refuse(wrong, "goals: %s", c->file->warnings[0].text);
    }
    free(text);
    json_release(root);
    return works;
}

static bool read_goals(const stream_task *task, const json_node *value, change *c, char *wrong)
{
    poise_goal_words words = {
        .model = task->model, .q_start = task->first_posture, .posture = posture_by_name, .user = task->file};
    bool works = true;
    c->goals = true;
    if (json_is(value, JSON_NULL)) {
        return true;
    }
    if (!json_is(value, JSON_ARRAY)) {
        return refuse(wrong, "goals: is not a list");
    }
    need(poise_goal_list_create(NULL, &c->listed, NULL) == POISE_OK);
    json_node *objects = json_new(JSON_ARRAY);
    int i = 0;
    for (const json_node *item = value->first; item && works; item = item->next, ++i) {
        const char *text = json_text_of(item);
        poise_error reason;
        if (json_is(item, JSON_OBJECT)) {
            json_append(objects, json_copy(item));
        } else if (!text || poise_goal_list_parse(c->listed, &words, text, &reason) != POISE_OK) {
            works = refuse(wrong, "goals: item %d: %s", i, text ? reason.text : "is neither a string nor an object");
        }
    }
    if (works && json_count(objects) > 0) {
        works = read_objects(task, objects, c, wrong);
    } else {
        json_release(objects);
    }
    if (works && c->listed->count + (c->file ? c->file->goal_count : 0) > STREAM_MOST_GOALS - OWN_GOALS) {
        works = refuse(wrong, "goals: more than %d", STREAM_MOST_GOALS - OWN_GOALS);
    }
    return works;
}

static bool read_member(const stream_task *task, const char *name, const json_node *value, change *c, char *wrong)
{
    static const char *const clock[] = {"t", "tick", "line"};
    poise_aim_kind kind;
    for (int i = 0; i < 3; ++i) {
        if (strcmp(name, clock[i]) == 0) {
            return true;
        }
    }
    if (strcmp(name, "position") == 0) {
        return read_position(value, c, wrong);
    }
    if (strcmp(name, "posture") == 0) {
        return read_posture(task, value, c, wrong);
    }
    if (strcmp(name, "goals") == 0) {
        return read_goals(task, value, c, wrong);
    }
    if (strcmp(name, "stop") == 0) {
        c->stops = json_is(value, JSON_TRUE);
        return c->stops || json_is(value, JSON_FALSE) || refuse(wrong, "stop: is neither true nor false");
    }
    if (aim_kind_by_name(name, strlen(name), &kind)) {
        return read_aim(name, kind, value, c, wrong);
    }
    return refuse(wrong,
                  "no member is called \"%.40s\"; there are aim, direction, orientation, position, posture, goals, t, "
                  "tick, line, stop",
                  name);
}

// ---- Applying ------------------------------------------------------------------------------------------------------------

static bool is_about(const poise_goal *goals, int count, int body)
{
    for (int i = 0; i < count; ++i) {
        if (goals[i].body == body && goals[i].kind != POISE_GOAL_POSTURE && goals[i].kind != POISE_GOAL_SMOOTHNESS &&
            goals[i].kind != POISE_GOAL_CENTER_OF_MASS) {
            return true;
        }
    }
    return false;
}

// The goals that there are when the change is made. A body that a goal is about is not held beside it.
static int list_goals(const stream_task *task, const change *c, poise_goal *goals)
{
    int count = 0;
    bool has_aim = c->aim ? c->has_aim : task->has_aim, has_position = c->position ? c->has_position : task->has_position;
    const poise_goal_list *listed = c->goals ? c->listed : task->listed;
    const poise_file *file = c->goals ? c->file : task->goal_file;
    if (has_aim) {
        goals[count++] = aim_goal(&task->end, c->aim ? &c->target : &task->aim);
    }
    if (has_position) {
        goals[count++] =
            poise_goal_position(task->end.body, task->end.tip.position, c->position ? c->place : task->position);
    }
    for (int i = 0; listed && i < listed->count; ++i) {
        goals[count++] = listed->goals[i];
    }
    for (int i = 0; file && i < file->goal_count; ++i) {
        goals[count++] = file->goals[i];
    }
    poise_goal holds[POISE_AIM_MOST_HELD];
    poise_kinematics_update(task->kinematics, c->posture ? c->q : task->posture, NULL);
    int asked = count, held = aim_hold_goals(&task->holds, task->kinematics, holds);
    for (int i = 0; i < held; ++i) {
        if (!is_about(goals, asked, holds[i].body)) {
            goals[count++] = holds[i];
        }
    }
    return count;
}

// Refuse a goal with a number that is too large, by the member that has it: the goals are those of aim, position and goals,
// in this order (list_goals).
static bool is_in_range(const stream_task *task, const change *c, const poise_goal *goals, int i, char *wrong)
{
    bool has_aim = c->aim ? c->has_aim : task->has_aim, has_position = c->position ? c->has_position : task->has_position;
    const poise_goal *g = &goals[i];
    poise_vec3 at = g->target.position, local = g->local.position;
    double numbers[] = {at.x, at.y, at.z, local.x, local.y, local.z, g->distance, g->weight, g->rotation_weight};
    int listed = i - has_aim - has_position;
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; ++k) {
        if (!(fabs(numbers[k]) <= LARGEST)) {
            return listed < 0
                       ? refuse(wrong, "%s: %g is beyond %g", i == 0 && has_aim ? "aim" : "position", numbers[k], LARGEST)
                       : refuse(wrong, "goals: goal %d: %g is beyond %g", listed + 1, numbers[k], LARGEST);
        }
    }
    for (int k = 0; g->q && k < poise_model_info(task->model).nq; ++k) { // of a posture
        if (!(fabs(g->q[k]) <= LARGEST)) {
            return refuse(wrong, "goals: goal %d: %g is beyond %g", listed + 1, g->q[k], LARGEST);
        }
    }
    return true;
}

static void commit(stream_task *task, change *c)
{
    if (c->aim) {
        task->has_aim = c->has_aim;
        task->aim = c->target;
    }
    if (c->position) {
        task->has_position = c->has_position;
        task->position = c->place;
    }
    if (c->posture) {
        memmove(task->posture, c->q, (size_t)poise_model_info(task->model).nq * sizeof *task->posture);
    }
    if (c->goals) {
        poise_goal_list *listed = task->listed;
        poise_file *file = task->goal_file;
        task->listed = c->listed;
        task->goal_file = c->file;
        c->listed = listed; // the old ones, to be released
        c->file = file;
    }
    task->stops = task->stops || c->stops;
}

// Do what the members of the object say, all of it or, when something is wrong, nothing: then false, and `wrong` (of
// POISE_ERROR_TEXT_SIZE) says what. Members that concern the clock are left to the caller.
static bool task_apply(stream_task *task, json_node *object, char *wrong)
{
    change c = {0};
    bool sound = true;
    for (const json_node *m = object->first; m && sound; m = m->next) {
        sound = read_member(task, m->key, m, &c, wrong);
    }
    if (sound && task->only_aims && ((c.position && c.has_position) || (c.goals && (c.listed || c.file)))) {
        sound = refuse(wrong, "erik faces a place, a direction or an orientation, and nothing else; "
                              "leave --method out for other goals");
    }
    poise_goal goals[STREAM_MOST_GOALS];
    int count = sound ? list_goals(task, &c, goals) : 0;
    int coupled = 0;
    for (int i = 0; i < count && sound; ++i) {
        poise_error error = {0};
        coupled += goals[i].kind == POISE_GOAL_RELATIVE || goals[i].kind == POISE_GOAL_CENTER_OF_MASS;
        sound = poise_goal_check(&goals[i], task->model, &error) == POISE_OK || refuse(wrong, "%s", error.text);
        sound = sound && is_in_range(task, &c, goals, i, wrong);
    }
    if (sound && coupled > STREAM_MOST_COUPLED) {
        sound = refuse(wrong, "%d goals tie bodies together (relative, balance); at most %d at a time", coupled,
                       STREAM_MOST_COUPLED);
    }
    if (sound) {
        commit(task, &c);
        memcpy(task->goals, goals, sizeof goals);
        task->goal_count = count;
    }
    free(c.numbers);
    poise_goal_list_destroy(c.listed);
    poise_file_destroy(c.file);
    return sound;
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

static void task_init(stream_task *task, const poise_file *file, const aim_end *end, const aim_holds *holds,
                      const double *posture)
{
    size_t size = (size_t)poise_model_info(file->model).nq * sizeof *posture;
    *task = (stream_task){.file = file, .model = file->model, .end = *end, .holds = *holds};
    task->posture = memcpy(needed(malloc(size + 1)), posture, size);
    task->first_posture = memcpy(needed(malloc(size + 1)), posture, size);
    need(poise_kinematics_create(file->model, NULL, &task->kinematics, NULL) == POISE_OK);
    task->goal_count = list_goals(task, &(change){0}, task->goals);
}

// Hold another posture from now on (nq numbers).
static void task_set_posture(stream_task *task, const double *posture)
{
    memcpy(task->posture, posture, (size_t)poise_model_info(task->model).nq * sizeof *posture);
    task->goal_count = list_goals(task, &(change){0}, task->goals);
}

static void task_release(stream_task *task)
{
    free(task->posture);
    free(task->first_posture);
    free(task->servo_scale);
    free(task->servo_offset);
    poise_goal_list_destroy(task->listed);
    poise_file_destroy(task->goal_file);
    poise_kinematics_destroy(task->kinematics);
}

// ---- The loop ------------------------------------------------------------------------------------------------------------

#define FASTEST 4.0 // radians a second: strides of the answers, where few of them are made in a second

enum { MOST_LINES_A_TICK = 64 };

static const double most_ticks = 9007199254740992.0; // 2^53: counts up to here are exact as doubles

typedef struct loop {
    stream_task *task;
    line_source *source;
    smoother *smoother;
    const stream_options *options;
    stream_figures *figures;
    poise_expressive *expressive;
    poise_solver *solver; // or this one
    poise_aim *aim;       // or ERIK's
    poise_error why;      // the last solve failed
    double *answer, *before, *q;
    double *v, *velocity, *acceleration; // nv: of control steps, and their limits
    double angle, length;                // what the answer leaves of its goals
    int64_t tick, line;                  // now; the last line in force
    int64_t solved;                      // ticks of the solver's own rate that have been
    int64_t start;                       // of the clock, nanoseconds
    json_node *waiting;                  // a line for a later tick
    int64_t waiting_number;
    bool told;           // that the goals in force cannot be solved for
    bool no_more, calm;  // no lines are left; the last solve left the answer where it was
    int64_t last_change; // tick of the last line that was taken
    bool closed;         // what goes out reaches nobody
    bool motion_ended;   // the animation stands at its last frame
    char *out;           // room for a line of angles
} loop;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

// ---- Lines out -----------------------------------------------------------------------------------------------------------

static void send_line(loop *l, const char *text, size_t size)
{
    size_t done = 0;
    while (!l->closed && done < size) {
        ssize_t put = write(STDOUT_FILENO, text + done, (unsigned)(size - done));
        done += put > 0 ? (size_t)put : 0;
        if (put < 0 && errno != EINTR) {
            l->closed = true;
            l->figures->trouble = errno == EPIPE || system_reader_is_gone() ? 0 : errno;
        }
    }
    if (l->options->reply) {
        lines_reply(l->source, text, size);
    }
}

static void send_json(loop *l, json_node *value)
{
    char *text = json_to_text(value, JSON_DIGITS);
    size_t size = text ? strlen(text) : 0;
    if (text) {
        text[size] = '\n'; // in place of its end
        send_line(l, text, size + 1);
    }
    free(text);
    json_release(value);
}

static size_t print_number(char *text, double number)
{
    return (size_t)json_number_text(text, number, JSON_DIGITS);
}

// ,"name":[...] with what the motors call these angles.
static char *print_angles(char *c, const stream_task *t, const char *name, const double *q)
{
    c += sprintf(c, ",\"%s\":[", name);
    for (int i = 0; i < poise_model_info(t->model).nq; ++i) {
        *c = ',';
        c += i > 0;
        c += print_number(c, t->servo_scale ? t->servo_scale[i] * q[i] + t->servo_offset[i] : q[i]);
    }
    return c + sprintf(c, "]");
}

static void send_angles(loop *l)
{
    char *c = l->out;
    c += sprintf(c, "{\"tick\":%lld,\"t\":", (long long)l->tick);
    c += print_number(c, (double)l->tick / l->options->rate);
    c += sprintf(c, ",\"line\":%lld", (long long)l->line);
    c = print_angles(c, l->task, "q", l->q);
    c = l->options->with_posture ? print_angles(c, l->task, "posture", l->task->posture) : c;
    c += sprintf(c, ",\"angle\":");
    c += print_number(c, l->angle);
    c += sprintf(c, ",\"length\":");
    c += print_number(c, l->length);
    c += sprintf(c, "}\n");
    send_line(l, l->out, (size_t)(c - l->out));
    l->figures->sent += 1;
}

// A line that stands in a record: when it was taken, as which line, and what it said.
static void record(const loop *l, json_node *object, int64_t number)
{
    if (!l->options->record) {
        return;
    }
    json_node *copy = json_make("{s:I, s:I}", "tick", (long long)l->tick, "line", (long long)number);
    for (const json_node *m = object->first; m; m = m->next) {
        if (strcmp(m->key, "t") != 0 && strcmp(m->key, "tick") != 0 && strcmp(m->key, "line") != 0) {
            json_set(copy, m->key, json_copy(m));
        }
    }
    json_write(l->options->record, copy, JSON_TIGHT, JSON_DIGITS);
    fputc('\n', l->options->record);
    json_release(copy);
}

// Answer a line that is not used. In a record it stands with its answer, since its text may be anything.
static void answer_bad(loop *l, const char *wrong, int64_t number)
{
    json_node *bad = json_make("{s:s}", "bad", wrong);
    record(l, bad, number);
    l->figures->bad += 1;
    send_json(l, json_make("{s:s, s:I}", "error", wrong, "line", (long long)number));
    json_release(bad);
}

// ---- Lines in ------------------------------------------------------------------------------------------------------------

// The tick that a line is for: the first one not before its time `t`. The present one where it says nothing; -1 when what it
// says is no time.
static int64_t tick_of(const loop *l, json_node *object)
{
    json_node *tick = json_get(object, "tick"), *t = json_get(object, "t");
    const double rounding = 1e-6; // of a tick: t may be printed with few digits
    double wanted = tick ? json_number_of(tick) : ceil(json_number_of(t) * l->options->rate - rounding);
    if (!tick && !t) {
        return l->tick;
    }
    bool number = json_is_number(tick ? tick : t);
    return number && wanted > -1 && wanted < most_ticks ? (int64_t)wanted : -1;
}

// The numbers of this tick: what the filter makes of the answer, or the step itself.
static void move_on(loop *l)
{
    if (l->options->steps) {
        memcpy(l->q, l->answer, (size_t)poise_model_info(l->task->model).nq * sizeof *l->q);
    } else {
        smoother_step(l->smoother, l->answer, 1 / l->options->rate, l->q);
    }
}

// Ticks that the clock passed over: the filter goes on, nothing is solved or sent.
static void skip(loop *l, int64_t count)
{
    json_node *object = json_make("{s:I}", "skip", (long long)count);
    record(l, object, 0);
    json_release(object);
    for (int64_t i = 0; i < count && !interrupted; ++i) {
        move_on(l);
    }
    l->tick += count;
    l->figures->missed += count;
}

// What only a record says; true when the line was one of those.
static bool take_from_record(loop *l, json_node *object, int64_t number)
{
    const char *bad = json_text_of(json_get(object, "bad"));
    json_node *count = json_get(object, "skip");
    if (!l->options->replay || (!bad && !json_is(count, JSON_INTEGER))) {
        return false;
    }
    if (bad) {
        answer_bad(l, bad, number);
    } else if (count->integer > 0 && count->number + (double)l->tick < most_ticks) {
        skip(l, count->integer);
    }
    return true;
}

static void take_object(loop *l, json_node *object, int64_t number)
{
    char wrong[POISE_ERROR_TEXT_SIZE] = "";
    if (take_from_record(l, object, number)) {
        return;
    }
    if (!task_apply(l->task, object, wrong)) {
        answer_bad(l, wrong, number);
        return;
    }
    record(l, object, number);
    l->line = number;
    l->last_change = l->tick;
    l->calm = l->told = false;
}

// One line of text: an object whose tick has come, one for a later tick (which waits), or something wrong.
static void take_text(loop *l, const char *text, size_t size, int64_t number)
{
    poise_error error;
    size_t place;
    char wrong[POISE_ERROR_TEXT_SIZE];
    if (strspn(text, " \t\r") >= size) {
        return;
    }
    l->figures->lines += 1;
    json_node *object = json_read(text, size, &error, &place);
    if (!object) {
        snprintf(wrong, sizeof wrong, "not JSON: %.100s, at character %d", error.text, (int)place);
        text_make_printable(wrong);
        answer_bad(l, wrong, number);
        return;
    }
    json_node *given = json_get(object, "line");
    if (l->options->replay && json_is(given, JSON_INTEGER)) {
        number = given->integer;
    }
    int64_t tick = json_is(object, JSON_OBJECT) ? tick_of(l, object) : l->tick;
    double late = (double)(l->tick - tick) / l->options->rate;
    if (!json_is(object, JSON_OBJECT)) {
        answer_bad(l, "not an object such as {\"aim\":[1,0,0]}", number);
    } else if (tick < 0) {
        answer_bad(l, "t: is not a time in seconds from the start", number);
    } else if (late > l->options->late) {
        snprintf(wrong, sizeof wrong, "late by %.3f s, not used", late);
        answer_bad(l, wrong, number);
    } else if (tick > l->tick) {
        l->waiting = object;
        l->waiting_number = number;
        return;
    } else {
        take_object(l, object, number);
    }
    json_release(object);
}

// All lines for this tick that have come, up to a number that leaves time for the rest; others come next time.
static void take_lines(loop *l)
{
    bool wait = l->options->replay;
    for (int i = 0; i < MOST_LINES_A_TICK || wait; ++i) {
        const char *text;
        size_t size;
        int64_t number;
        if (l->waiting && tick_of(l, l->waiting) > l->tick) {
            return;
        }
        if (l->waiting) {
            json_node *object = l->waiting;
            l->waiting = NULL;
            take_object(l, object, l->waiting_number);
            json_release(object);
            continue;
        }
        if (l->no_more || l->task->stops || interrupted || l->closed) {
            return;
        }
        switch (lines_next(l->source, wait, &text, &size, &number)) {
        case LINE_READY:
            take_text(l, text, size, number);
            break;
        case LINE_TOO_LONG:
            l->figures->lines += 1;
            answer_bad(l, "longer than 1048576 bytes", number);
            break;
        case LINE_END:
            l->no_more = true;
            l->last_change = l->tick;
            return;
        default:
            return;
        }
    }
}

// ---- Solving -------------------------------------------------------------------------------------------------------------

// ERIK faces one target; without one the posture is the answer.
static poise_status solve_by_erik(loop *l)
{
    stream_task *task = l->task;
    aim_result result = {0};
    if (!task->has_aim) {
        memcpy(l->answer, task->posture, (size_t)poise_model_info(task->model).nq * sizeof *l->answer);
        poise_model_clamp(task->model, l->answer, NULL, NULL);
    } else if (!aim_solve(l->aim, &task->aim, task->posture, true, l->answer, &result)) {
        snprintf(l->why.text, sizeof l->why.text, "its numbers are too large");
        return POISE_ERROR_ARGUMENT;
    }
    l->angle = result.made.angle;
    l->length = 0;
    return POISE_OK;
}

static poise_status solve_once(loop *l)
{
    stream_task *task = l->task;
    if (l->aim) {
        return solve_by_erik(l);
    }
    if (l->expressive) {
        poise_expressive_report report;
        poise_status status =
            poise_expressive_solve(l->expressive, task->goals, task->goal_count, task->posture, l->answer, &report, &l->why);
        l->angle = status == POISE_OK ? report.worst_angle : l->angle;
        l->length = status == POISE_OK ? report.worst_length : l->length;
        return status;
    }
    poise_goal goals[STREAM_MOST_GOALS + 1];
    memcpy(goals, task->goals, sizeof task->goals);
    goals[task->goal_count] = poise_goal_posture(task->posture, l->options->posture_weight);
    poise_step_options limits = {.velocity = l->velocity, .acceleration = l->acceleration, .gain = 1};
    poise_status status = l->options->steps ? poise_step(l->solver, goals, task->goal_count + 1, 1 / l->options->rate,
                                                         &limits, l->answer, l->v, NULL, &l->why)
                                            : poise_solve(l->solver, goals, task->goal_count + 1, l->answer, NULL, &l->why);
    if (status == POISE_OK && !l->options->steps && task->goal_count > 0) { // what the posture keeps the goals from is small
        status = poise_solve(l->solver, goals, task->goal_count, l->answer, NULL, &l->why);
    }
    l->angle = l->length = 0;
    for (int i = 0; i < task->goal_count && status == POISE_OK; ++i) {
        poise_goal_error e = poise_solver_goal_error(l->solver, i);
        l->angle = fmax(l->angle, e.unit == POISE_UNIT_ANGLE ? e.error : e.rotation_error);
        l->length = fmax(l->length, e.unit == POISE_UNIT_LENGTH ? e.error : 0);
    }
    return status;
}

// Goals that are sound one by one may be more than the solver takes together. Said once; the last answer stays.
static void tell_failure(loop *l)
{
    const char *reason = l->why.text[0] ? l->why.text : "these goals cannot be solved for together";
    send_json(l, json_make("{s:s, s:I}", "error", reason, "line", (long long)l->line));
    l->told = true;
}

// The animation's pose at this tick is the posture to hold.
static void play_motion(loop *l)
{
    const poise_clip *clip = l->options->motion;
    if (!clip) {
        return;
    }
    double last = (clip->frames - 1) * clip->frame_time, t = (double)l->tick / l->options->rate;
    t = l->options->repeats && last > 0 ? t - last * floor(t / last) : fmin(t, last);
    if (poise_clip_sample(clip, l->task->model, t, l->before, NULL) == POISE_OK) {
        task_set_posture(l->task, l->before);
    }
    l->motion_ended = !l->options->repeats && t >= last;
}

// At the first tick, and whenever the solver's own clock has gone on.
static void solve_when_due(loop *l)
{
    const double still = 1e-5; // radians or length units: less than what a motor resolves
    int64_t due = (int64_t)floor((double)l->tick * (l->options->solve_rate / l->options->rate)) + 1;
    size_t nq = (size_t)poise_model_info(l->task->model).nq;
    if (due <= l->solved) {
        return;
    }
    l->solved = due;
    play_motion(l);
    memcpy(l->before, l->answer, nq * sizeof *l->before);
    double begin = seconds_now();
    bool works = solve_once(l) == POISE_OK;
    latency_add(&l->figures->solving, seconds_now() - begin);
    l->figures->solves += 1;
    l->figures->failed += !works;
    if (!works && !l->told) {
        tell_failure(l);
    }
    l->calm = true;
    for (size_t i = 0; i < nq; ++i) {
        l->calm = l->calm && fabs(l->answer[i] - l->before[i]) <= still;
    }
}

// ---- Clock ---------------------------------------------------------------------------------------------------------------

// From the start, so that ticks do not drift.
static int64_t time_of_tick(const loop *l, int64_t tick)
{
    return l->start + (int64_t)((double)tick * (1e9 / l->options->rate));
}

// Wait for the tick. Those whose time has passed altogether are left out; what follows them is as late as the first of them.
static void wait_for_tick(loop *l)
{
    if (l->options->replay) {
        return;
    }
    system_sleep_until(time_of_tick(l, l->tick), &interrupted);
    int64_t now = system_nanoseconds(), missed = 0;
    while (now >= time_of_tick(l, l->tick + missed + 1)) {
        latency_add(&l->figures->output, 1e-9 * (double)(now - time_of_tick(l, l->tick + missed)));
        missed += 1;
    }
    if (missed > 0) {
        skip(l, missed);
    }
}

static bool is_over(const loop *l)
{
    const stream_options *o = l->options;
    double t = (double)l->tick / o->rate, ended = (double)l->last_change / o->rate;
    if (interrupted || l->closed || l->task->stops || (double)l->tick >= most_ticks) {
        return true;
    }
    if (isfinite(o->duration)) {
        return t >= o->duration;
    }
    bool rests = l->calm && (o->steps || smoother_rests(l->smoother));
    return l->no_more && (!o->motion || l->motion_ended) && !l->waiting && (rests || t - ended > o->settle);
}

// ---- The whole -----------------------------------------------------------------------------------------------------------

static void run_tick(loop *l)
{
    take_lines(l);
    if (l->task->stops || interrupted || l->closed) {
        return;
    }
    solve_when_due(l);
    move_on(l);
    send_angles(l);
    if (!l->options->replay) {
        latency_add(&l->figures->output, 1e-9 * (double)(system_nanoseconds() - time_of_tick(l, l->tick)));
    }
    l->tick += 1;
}

static json_node *numbers_of(const double *numbers, int count)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < count; ++i) {
        json_append(list, json_from_number(numbers[i]));
    }
    return list;
}

static void send_greeting(loop *l)
{
    json_node *o = json_make("{s:f, s:f, s:s, s:o}", "rate", l->options->rate, "solve_rate", l->options->solve_rate, "end",
                             l->task->end.name, "coordinates", json_from_coordinates(l->task->model));
    if (lines_port(l->source) >= 0) {
        json_set(o, "port", json_from_integer(lines_port(l->source)));
    }
    if (l->task->servo_scale) {
        int nq = poise_model_info(l->task->model).nq;
        json_set(o, "servo",
                 json_make("{s:o, s:o}", "scale", numbers_of(l->task->servo_scale, nq), "offset",
                           numbers_of(l->task->servo_offset, nq)));
    }
    send_json(l, o);
}

static bool create_solver(loop *l)
{
    poise_error error = {0};
    poise_status status;
    if (l->options->ordinary) {
        poise_solver_options o = poise_solver_options_default();
        o.max_iterations = 50;
        o.coupled_goals = STREAM_MOST_COUPLED;
        status = poise_solver_create(l->task->model, &o, NULL, &l->solver, NULL);
    } else if (l->options->erik) {
        l->task->only_aims = true;
        aim_settings settings = aim_settings_default(&l->task->end, NULL);
        settings.method = AIM_ERIK;
        settings.aim.erik.posture_weight = l->options->posture_weight;
        l->aim = aim_create(l->task->model, l->task->end.name, &settings, NULL);
        return l->aim != NULL;
    } else {
        poise_expressive_options o = poise_expressive_options_default();
        o.mode = l->options->mode;
        o.body = l->task->end.body;
        o.tip = l->task->end.tip;
        o.gain = l->options->gain;
        o.stride = fmax(poise_aim_options_default().expressive.stride, FASTEST / l->options->solve_rate);
        o.posture_weight = l->options->posture_weight;
        o.max_goals = STREAM_MOST_GOALS;
        o.coupled_goals = STREAM_MOST_COUPLED;
        status = poise_expressive_create(l->task->model, &o, NULL, &l->expressive, &error);
    }
    if (status != POISE_OK) {
        complain("stream: %s", error.text[0] ? error.text : poise_status_name(status));
    }
    return status == POISE_OK;
}

static bool create_parts(loop *l)
{
    size_t nq = (size_t)poise_model_info(l->task->model).nq;
    l->answer = needed(calloc(nq + 1, sizeof *l->answer));
    l->before = needed(calloc(nq + 1, sizeof *l->before));
    l->q = needed(calloc(nq + 1, sizeof *l->q));
    l->v = needed(calloc(3 * nq + 1, sizeof *l->v));
    l->velocity = l->v + nq;
    l->acceleration = l->velocity + nq;
    smoother_limits(l->smoother, l->velocity, l->acceleration);
    l->out = needed(malloc((2 * nq + 16) * JSON_NUMBER_SIZE));
    memcpy(l->answer, l->task->posture, nq * sizeof *l->answer);
    poise_model_clamp(l->task->model, l->answer, NULL, NULL);
    memcpy(l->q, l->answer, nq * sizeof *l->q);
    smoother_reset(l->smoother, l->answer);
    return create_solver(l);
}

// Run until the end. False after one line on standard error.
static bool stream_run(stream_task *task, line_source *source, smoother *filter, const stream_options *options,
                       stream_figures *figures)
{
    loop l = {.task = task, .source = source, .smoother = filter, .options = options, .figures = figures};
    bool works = create_parts(&l);
    if (works) {
        system_on_interrupt(on_interrupt);
        system_ignore_closed_pipes();
        send_greeting(&l);
        l.start = system_nanoseconds();
        while (!is_over(&l)) {
            wait_for_tick(&l);
            if (!is_over(&l)) { // ticks that were missed may have been the last
                run_tick(&l);
            }
        }
        json_node *stop = json_make("{s:b}", "stop", 1);
        record(&l, stop, 0);
        json_release(stop);
        figures->ticks = l.tick;
        figures->closed = l.closed;
    }
    poise_expressive_destroy(l.expressive);
    poise_solver_destroy(l.solver);
    poise_aim_destroy(l.aim);
    json_release(l.waiting);
    free(l.answer);
    free(l.before);
    free(l.q);
    free(l.v);
    free(l.out);
    return works;
}

// ---- poise stream: goals in, joint angles out, in real time --------------------------------------------------------------

// ---- Figures -------------------------------------------------------------------------------------------------------------

static void print_times(const char *what, const latency *l)
{
    fprintf(stderr, "  %-9s %.0f us at the median, %.0f us p99, %.0f us longest\n", what, latency_quantile(l, 0.5) * 1e6,
            latency_quantile(l, 0.99) * 1e6, l->largest * 1e6);
}

static void print_text(const stream_options *o, const stream_figures *f)
{
    fprintf(stderr, "%lld tick%s at %.6g Hz, %lld missed; %lld line%s, %lld not used; %lld solve%s\n", (long long)f->ticks,
            f->ticks == 1 ? "" : "s", o->rate, (long long)f->missed, (long long)f->lines, f->lines == 1 ? "" : "s",
            (long long)f->bad, (long long)f->solves, f->solves == 1 ? "" : "s");
    if (!o->replay) {
        print_times("latency", &f->output);
    }
    print_times("solving", &f->solving);
}

// Times differ from run to run: a replay, which does not, leaves them out.
static bool print_json(const stream_options *o, const stream_figures *f)
{
    json_node *figures = json_make("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "ticks", (long long)f->ticks, "sent",
                                   (long long)f->sent, "missed", (long long)f->missed, "lines", (long long)f->lines, "bad",
                                   (long long)f->bad, "solves", (long long)f->solves, "failed", (long long)f->failed);
    if (!o->replay) {
        json_set(figures, "latency_us", json_from_times(&f->output));
        json_set(figures, "solve_us", json_from_times(&f->solving));
    }
    return json_print_line(json_make("{s:o}", "figures", figures));
}

// ---- The command ---------------------------------------------------------------------------------------------------------

static bool read_options(const arguments *args, stream_options *o)
{
    const char *method = option_text(args, "method", "expressive");
    bool steps = strcmp(method, "step") == 0, ordinary = steps || strcmp(method, "solve") == 0;
    *o = (stream_options){.rate = option_number(args, "rate", 100),
                          .duration = option_number(args, "duration", INFINITY),
                          .settle = option_number(args, "settle", 10),
                          .late = option_number(args, "late", 0.25),
                          .replay = option_given(args, "replay"),
                          .ordinary = ordinary,
                          .steps = steps,
                          .erik = strcmp(method, "erik") == 0,
                          .json = arguments_json(args),
                          .reply = option_given(args, "reply"),
                          .with_posture = option_given(args, "with-posture"),
                          .gain = option_number(args, "gain", poise_expressive_options_default().gain),
                          .posture_weight = option_number(args, "posture-weight", ordinary ? 1e-4 : 0.2)};
    o->solve_rate = option_number(args, "solve-rate", o->rate);
    bool metric = strcmp(option_text(args, "mode", "shape"), "metric") == 0;
    o->mode = metric ? POISE_EXPRESSIVE_METRIC : POISE_EXPRESSIVE_SHAPE;
    if (o->solve_rate > o->rate) {
        complain("stream: --solve-rate %g is above the rate of the output, %g; it can be as high at most", o->solve_rate,
                 o->rate);
        return false;
    }
    if (o->steps && option_given(args, "solve-rate")) {
        complain("stream: --method step takes one step a tick; leave --solve-rate out");
        return false;
    }
    if (o->replay && option_given(args, "realtime")) {
        complain("stream: --realtime and --replay are two clocks; give one of them");
        return false;
    }
    if (o->replay && option_given(args, "port")) {
        complain("stream: a replay reads standard input; leave --port out");
        return false;
    }
    if (o->reply && !option_given(args, "port")) {
        complain("stream: --reply answers datagrams; it needs --port");
        return false;
    }
    return true;
}

// What a real-time loop asks of the system; without the right to it, it runs as well as it can.
static void ask_for_priority(const arguments *args)
{
    if (!system_be_prompt(option_count(args, "priority", 0))) {
        warn("stream: no real-time priority: %s", strerror(errno));
    }
}

static app_exit run_with(const arguments *args, stream_task *task, const stream_options *o)
{
    static stream_figures figures; // large
    figures = (stream_figures){0};
    line_source *source = lines_open(option_text(args, "address", "127.0.0.1"),
                                     option_given(args, "port") ? option_count(args, "port", 0) : -1);
    smoother *s = source ? smoother_create(task->model, task->file->scale.metres, option_text(args, "filter", NULL)) : NULL;
    bool works = s != NULL;
    if (works) {
        ask_for_priority(args);
        works = stream_run(task, source, s, o, &figures);
    }
    if (works && o->json && !figures.closed) {
        works = print_json(o, &figures);
    } else if (works) {
        print_text(o, &figures);
    }
    if (works && figures.trouble) {
        complain("standard output: cannot be written: %s", strerror(figures.trouble));
        works = false;
    }
    smoother_destroy(s);
    lines_close(source);
    return works ? APP_DONE : APP_BAD;
}

// One "JOINT=SCALE" or "JOINT=SCALE,OFFSET" of --servo.
static bool read_servo(const poise_model *model, const char *text, double *scale, double *offset)
{
    const char *equals = strrchr(text, '=');
    char name[128];
    double numbers[2] = {1, 0};
    if (!equals) {
        complain("--servo %s: is not of the form JOINT=SCALE or JOINT=SCALE,OFFSET, such as %s=-57.3", text, text);
        return false;
    }
    int count = parse_numbers(equals + 1, numbers, 2);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    int joint = poise_model_find_joint(model, name);
    if (joint == POISE_NONE || poise_model_joint_info(model, joint).nq != 1) {
        complain("--servo %s: \"%s\" is not a joint with one coordinate; \"poise info\" lists them", text, name);
        return false;
    }
    if (count < 1 || count > 2 || numbers[0] == 0) {
        complain("--servo %s: \"=\" must be followed by a nonzero scale and optionally an offset", text);
        return false;
    }
    scale[poise_model_joint_info(model, joint).q] = numbers[0];
    offset[poise_model_joint_info(model, joint).q] = count == 2 ? numbers[1] : 0;
    return true;
}

static bool read_servos(const arguments *args, stream_task *task)
{
    size_t nq = (size_t)poise_model_info(task->model).nq;
    const char *text;
    if (!option_given(args, "servo")) {
        return true;
    }
    task->servo_scale = needed(calloc(nq + 1, sizeof *task->servo_scale));
    task->servo_offset = needed(calloc(nq + 1, sizeof *task->servo_offset));
    for (size_t i = 0; i < nq; ++i) {
        task->servo_scale[i] = 1;
    }
    for (int i = 0; (text = option_text_at(args, "servo", i)); ++i) {
        if (!read_servo(task->model, text, task->servo_scale, task->servo_offset)) {
            return false;
        }
    }
    return true;
}

// The animation of --motion; true with *motion NULL where there is none, false after one line on standard error.
static bool load_track(const arguments *args, const poise_file *file, poise_file **motion)
{
    const char *name = option_text(args, "motion", NULL);
    *motion = NULL;
    if (!name) {
        return true;
    }
    *motion = load_motion_for(name, NULL, file, arguments_at(args, 0));
    return *motion != NULL;
}

static app_exit run_model(const arguments *args, const poise_file *file, stream_options *o)
{
    aim_end end;
    aim_holds holds;
    stream_task task;
    poise_file *motion = NULL;
    double *posture = needed(calloc((size_t)poise_model_info(file->model).nq + 1, sizeof *posture));
    const char *record = option_text(args, "record", NULL);
    app_exit status = APP_BAD;
    bool works = aim_find_end(file->model, option_text(args, "body", NULL), option_text(args, "axis", NULL), &end) &&
                 aim_read_holds(args, file->model, &holds) &&
                 aim_load_posture(file, &end, option_text(args, "posture", "neutral"), posture) &&
                 load_track(args, file, &motion);
    if (works && motion) {
        o->motion = motion->clip;
        o->repeats = option_given(args, "loop");
        memcpy(posture, motion->clip->q, (size_t)motion->clip->nq * sizeof *posture);
    }
    if (works && record) {
        o->record = fopen(record, "wb");
        if (!o->record) {
            complain("%s: cannot be written: %s", record, strerror(errno));
            works = false;
        }
    }
    if (works) {
        task_init(&task, file, &end, &holds, posture);
        status = read_servos(args, &task) ? run_with(args, &task, o) : APP_BAD;
        task_release(&task);
    }
    if (o->record && fclose(o->record) != 0) {
        complain("%s: cannot be written: %s", record, strerror(errno));
        status = APP_BAD;
    }
    free(posture);
    poise_file_destroy(motion);
    return status;
}

static app_exit run(const arguments *args)
{
    stream_options o;
    const char *name = arguments_at(args, 0);
    if (strcmp(name, "-") == 0) {
        complain("stream: goals come on standard input; the skeleton must come from a file");
        return APP_BAD;
    }
    poise_file *file = read_options(args, &o) ? load_model(name, NULL) : NULL;
    more_postures more = {0};
    bool works = file && load_more_postures(option_text(args, "postures", NULL), file, &more);
    app_exit status = works ? run_model(args, file, &o) : APP_BAD;
    release_more_postures(&more);
    poise_file_destroy(file);
    return status;
}

static const app_option options[] = {
    {"rate", 'r', OPTION_NUMBER, "HZ", .lowest = 0.01, .highest = 100000, .help = "output lines per second (100)"},
    {"solve-rate", 0, OPTION_NUMBER, "HZ", .lowest = 0.01, .highest = 100000, .help = "solves per second (as --rate)"},
    {"posture", 'p', OPTION_TEXT, "POSTURE", .alias = "from q",
     .help = "posture to start from and hold: a name, FILE@FRAME, numbers in radians (\"0 -90 90 deg\": in degrees), or "
             "points:x,y,z,... (\"neutral\")"},
    AIM_OPTION_POSTURES,
    {"motion", 0, OPTION_FILE, "FILE", .help = "animation to play: its pose at each tick is the posture to hold"},
    {"loop", .help = "repeat the animation"},
    {"filter", 'f', OPTION_TEXT, "LIMITS",
     .help =
         "motor limits, such as \"velocity=2 acceleration=10 jerk=100\" (the default), or \"off\"; the word optimal "
         "(the default: in the least time, within the limits at any rate) or nutty (as in the paper: slower the higher the "
         "rate) chooses the filter"},
    {"method", 0, OPTION_CHOICE, "METHOD", .choices = "expressive erik solve step",
     .help = "expressive; erik, for a chain of hinges; solve, the ordinary solver with a slight preference for the "
             "posture; step, one control step per tick within the velocity and acceleration limits of --filter "
             "(expressive)"},
    {"mode", 0, OPTION_CHOICE, "MODE", .choices = "metric shape",
     .help = "what expressive preserves: metric, how far joints bend; shape, also which way (shape)"},
    {"posture-weight", 0, OPTION_NUMBER, "W", .lowest = 0, .highest = 1e6,
     .help = "weight of the posture against the goals (0.2; solve, step: 1e-4)"},
    {"gain", 0, OPTION_NUMBER, "G", .lowest = 0, .highest = 1e6,
     .help = "least improvement for which expressive leaves its previous answer (0.02)"},
    AIM_OPTION_BODY,
    AIM_OPTION_AXIS,
    AIM_OPTION_HOLD,
    {"port", 0, OPTION_COUNT, "N", .lowest = 0, .highest = 65535,
     .help = "read lines from UDP datagrams to this port instead of standard input; 0: any free port"},
    {"address", 0, OPTION_TEXT, "IP",
     .help = "local address to receive datagrams on; 0.0.0.0: all (127.0.0.1, unreachable from other machines)"},
    {"servo", 0, OPTION_TEXT, "JOINT=SCALE[,OFFSET]", .repeats = true,
     .help = "motor units: scale times angle plus offset, in q and in incoming postures"},
    {"with-posture", .help = "add the held posture, as in the animation, to the output lines"},
    {"reply", .help = "also send output lines to the sender of the last datagram"},
    {"realtime", .help = "run by the clock (the default)"},
    {"replay", .help = "run by the times in the input, as fast as possible"},
    {"record", 0, OPTION_OUTPUT, "FILE", .help = "record the input with its times, for --replay"},
    {"duration", 'd', OPTION_NUMBER, "S", .lowest = 0, .highest = 1e9, .help = "stop after this many seconds"},
    {"settle", 0, OPTION_NUMBER, "S", .lowest = 0, .highest = 1e9,
     .help = "after the last line, wait up to this many seconds for the motion to come to rest (10)"},
    {"late", 0, OPTION_NUMBER, "S", .lowest = 0, .highest = 1e9,
     .help = "how late a line with a time may arrive, in seconds (0.25)"},
    {"priority", 0, OPTION_COUNT, "N", .lowest = 1, .highest = 99, .help = "request real-time priority 1 to 99"},
    {0},
};

static const app_example examples[] = {
    {"A lamp looks at a point, at 100 Hz", "echo '{\"aim\":[0.4,0.1,0.3]}' | poise stream scene:lamp -p curious"},
    {"Goals with times ...", "printf '{\"t\":%s,\"aim\":[%s]}\\n' 0 0.4,0.1,0.3 0.5 0,0.1,0.5 > in.jsonl"},
    {"... as fast as possible", "poise stream scene:lamp --replay < in.jsonl"},
    {"Record a run ...", "poise stream scene:lamp -d 1 --record run.jsonl < in.jsonl > out"},
    {"... and play it back to the same bytes", "poise stream scene:lamp --replay < run.jsonl | cmp - out"},
    {"An animation to play ...", "poise aim scene:lamp -p curious --path circle:100 -o circle.json"},
    {"... while looking at a point, with one motor in degrees, reversed",
     "echo '{\"aim\":[2,0.1,0.3]}' | poise stream scene:lamp --motion circle.json --method erik --servo turn=-57.3 -d 1"},
    {"Goals in words", "echo '{\"goals\":[\"position tip 0.4 0.1 0.5\"]}' > arm.jsonl"},
    {"A robot arm, solved at 50 Hz, sent at 500 Hz", "poise stream scene:arm7 -r 500 --solve-rate 50 -d 0.2 < arm.jsonl"},
    {"The same by control steps, within limits",
     "poise stream scene:arm7 -r 500 --method step --filter \"velocity=1 acceleration=5\" -d 0.2 < arm.jsonl"},
    {0},
};

const app_command cmd_stream = {
    .name = "stream",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "solve in real time: goals in, joint angles out, as JSON",
    .description =
        "Reads goals as lines of JSON and writes joint angles as lines of JSON at a fixed rate. A goal holds until "
        "another line changes it. The solver may run at its own rate; a motion filter moves the joints to its answers "
        "within the limits of the motors (\"poise help warp\").\n\n"
        "Input lines, all members optional:\n"
        "  {\"aim\": [x, y, z]}            face a point\n"
        "  {\"direction\": [x, y, z]}      face a direction\n"
        "  {\"orientation\": [x, y, z, w]} take an orientation\n"
        "  {\"position\": [x, y, z]}       bring the tip to a point\n"
        "  {\"posture\": \"NAME\" or [q]}    hold another posture\n"
        "  {\"goals\": [...]}              goals in words or objects\n"
        "  {\"t\": s}                      when, in seconds from the start\n"
        "  {\"stop\": true}                end\n"
        "null removes a goal. A wrong or late line changes nothing and is answered with {\"error\": ..., \"line\": n}.\n\n"
        "Output lines, after a first one with the names of the numbers:\n"
        "  {\"tick\":12,\"t\":0.12,\"line\":1,\"q\":[...],\"angle\":0,\"length\":0}\n"
        "line is the number of the input line in force; angle and length are the errors of the solver's answer.\n\n"
        "Ends when the motion has come to rest after the last line, at an interrupt, or when the reader closes the pipe; "
        "then prints how late lines were sent. See docs/stream.md.",
    .options = options,
    .examples = examples,
    .run = run,
};
