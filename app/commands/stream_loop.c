// The loop of the command stream: a clock that ticks at a fixed rate, lines in, solves, angles out.
//
// Everything that comes out depends on the lines and on the ticks at which they were taken, never on the clock itself. A
// record holds both, so that it replays to the same bytes.
#include "commands/stream.h"

#include "cli/memory.h"
#include "cli/terminal.h"
#include "system/system.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    aim_solver *aim;      // or ERIK's
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
    l->angle = result.angle;
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
        settings.erik.posture_weight = l->options->posture_weight;
        l->aim = aim_solver_create(l->task->model, &l->task->end, &settings, NULL);
        return l->aim != NULL;
    } else {
        poise_expressive_options o = poise_expressive_options_default();
        o.mode = l->options->mode;
        o.body = l->task->end.body;
        o.tip = l->task->end.tip;
        o.gain = l->options->gain;
        o.stride = fmax(AIM_STRIDE, FASTEST / l->options->solve_rate);
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

bool stream_run(stream_task *task, line_source *source, smoother *filter, const stream_options *options,
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
    aim_solver_destroy(l.aim);
    json_release(l.waiting);
    free(l.answer);
    free(l.before);
    free(l.q);
    free(l.v);
    free(l.out);
    return works;
}
