// Lines from standard input or from datagrams, in bounded memory.
#include "commands/stream.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "commands/commands.h"
#include "system/sockets.h"
#include "system/system.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 16, ROOM = STREAM_LONGEST_LINE + CHUNK + 1 };

struct line_source {
    int descriptor, port; // port -1: standard input
    bool ended, skipping; // nothing more comes; the rest of a line that is too long is being left out
    socket_peer sender;
    bool has_sender;
    int64_t number;
    size_t begin, searched, end; // of what is in the buffer; no line ends before `searched`
    char buffer[ROOM];
};

static bool open_port(line_source *s, const char *host, int port)
{
    bool is_address;
    s->descriptor = socket_open_datagrams(host, port, &s->port, &is_address);
    if (!is_address) {
        complain("--address %s: is not an address such as 127.0.0.1, or 0.0.0.0 for all interfaces", host);
        return false;
    }
    if (s->descriptor < 0) {
        complain("port %d on %s cannot be used: %s", port, host, socket_trouble());
    }
    return s->descriptor >= 0;
}

line_source *lines_open(const char *host, int port)
{
    line_source *s = needed(malloc(sizeof *s));
    memset(s, 0, offsetof(line_source, buffer));
    s->descriptor = STDIN_FILENO;
    s->port = -1;
    if (port >= 0 && !open_port(s, host, port)) {
        lines_close(s);
        return NULL;
    }
    return s;
}

void lines_close(line_source *source)
{
    if (source && source->port >= 0) {
        socket_close(source->descriptor);
    }
    free(source);
}

int lines_port(const line_source *source)
{
    return source->port;
}

void lines_reply(const line_source *source, const char *text, size_t size)
{
    if (source->has_sender) { // a datagram that cannot be sent is lost, as datagrams are
        socket_send_to(source->descriptor, text, size, &source->sender);
    }
}

static long receive(line_source *s)
{
    long got = socket_receive_from(s->descriptor, s->buffer + s->end, CHUNK, &s->sender);
    if (got < 0) {
        return -1;
    }
    s->has_sender = true;
    if (got == 0 || s->buffer[s->end + (size_t)got - 1] != '\n') {
        s->buffer[s->end + (size_t)got++] = '\n'; // a line never goes on in the next datagram
    }
    return got;
}

// Read what is there into the buffer, which has room for a chunk; false when nothing is there.
static bool fill(line_source *s, bool wait)
{
    bool datagrams = s->port >= 0;
    if (s->ended || !(datagrams ? socket_wait(s->descriptor, wait ? -1 : 0) : system_input_is_ready(wait))) {
        return false;
    }
    long got = datagrams ? receive(s) : (long)read(s->descriptor, s->buffer + s->end, CHUNK);
    if (got < 0) {
        s->ended = s->port < 0 && errno != EINTR && errno != EAGAIN;
        return false;
    }
    s->ended = s->port < 0 && got == 0;
    s->end += (size_t)got;
    return got > 0;
}

// A whole line in the buffer. One that is too long is reported when its end has come; what came of it before is gone.
static line_state take(line_source *s, const char **text, size_t *size)
{
    char *stop = memchr(s->buffer + s->searched, '\n', s->end - s->searched);
    size_t length = (size_t)((stop ? stop : s->buffer + s->end) - (s->buffer + s->begin));
    bool last = !stop && s->ended && (length > 0 || s->skipping);
    bool too_long = s->skipping || length > STREAM_LONGEST_LINE;
    if (!stop && !last) {
        s->skipping = too_long;
        s->begin = too_long ? s->end : s->begin;
        s->searched = s->end;
        return LINE_NONE;
    }
    *text = s->buffer + s->begin;
    *size = length;
    s->begin = s->searched = last ? s->end : (size_t)(stop + 1 - s->buffer);
    s->skipping = false;
    s->number += 1;
    return too_long ? LINE_TOO_LONG : LINE_READY;
}

line_state lines_next(line_source *source, bool wait, const char **text, size_t *size, int64_t *number)
{
    for (;;) {
        line_state state = take(source, text, size);
        *number = source->number;
        if (state != LINE_NONE) {
            return state;
        }
        if (source->ended) {
            return LINE_END;
        }
        if (source->begin > 0) { // a line's beginning stays, at most as long as a line may be
            memmove(source->buffer, source->buffer + source->begin, source->end - source->begin);
            source->end -= source->begin;
            source->searched -= source->begin;
            source->begin = 0;
        }
        if (!fill(source, wait) && !source->ended) {
            return LINE_NONE;
        }
    }
}

// ---- What lines ask for --------------------------------------------------------------------------------------------------

enum { OWN_GOALS = 2 + AIM_MOST_HOLDS }; // aim, position, holds

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
    aim_target target;
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

static bool read_aim(const char *name, aim_kind kind, const json_node *value, change *c, char *wrong)
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
    aim_kind kind;
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
    poise_goal holds[AIM_MOST_HOLDS];
    poise_kinematics_update(task->kinematics, c->posture ? c->q : task->posture, NULL);
    int asked = count, held = aim_hold_goals(&task->holds, task->kinematics, holds);
    for (int i = 0; i < held; ++i) {
        if (!is_about(goals, asked, holds[i].body)) {
            goals[count++] = holds[i];
        }
    }
    return count;
}

// Refuse a goal with a number that is too large, by the member that has it: the goals are those of aim, position and goals, in
// this order (list_goals).
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

bool task_apply(stream_task *task, json_node *object, char *wrong)
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

void task_init(stream_task *task, const poise_file *file, const aim_end *end, const aim_holds *holds, const double *posture)
{
    size_t size = (size_t)poise_model_info(file->model).nq * sizeof *posture;
    *task = (stream_task){.file = file, .model = file->model, .end = *end, .holds = *holds};
    task->posture = memcpy(needed(malloc(size + 1)), posture, size);
    task->first_posture = memcpy(needed(malloc(size + 1)), posture, size);
    need(poise_kinematics_create(file->model, NULL, &task->kinematics, NULL) == POISE_OK);
    task->goal_count = list_goals(task, &(change){0}, task->goals);
}

void task_set_posture(stream_task *task, const double *posture)
{
    memcpy(task->posture, posture, (size_t)poise_model_info(task->model).nq * sizeof *posture);
    task->goal_count = list_goals(task, &(change){0}, task->goals);
}

void task_release(stream_task *task)
{
    free(task->posture);
    free(task->first_posture);
    free(task->servo_scale);
    free(task->servo_offset);
    poise_goal_list_destroy(task->listed);
    poise_file_destroy(task->goal_file);
    poise_kinematics_destroy(task->kinematics);
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
     .help = "how late a line with a time may arrive, in "
             "seconds (0.25)"},
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
