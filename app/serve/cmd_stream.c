// poise stream: goals in, joint angles out, in real time.
#include "cli/json_output.h"
#include "cli/load.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "cli/whole_files.h"
#include "commands/commands.h"
#include "stream.h"
#include "system/system.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
