// The parts of the command stream: lines that come in, what they ask for, lines that go out.
#ifndef APP_STREAM_H
#define APP_STREAM_H

#include "aim/aim_target.h"
#include "aim/smooth.h"
#include "cli/json.h"
#include "cli/latency.h"

#include <stdint.h>
#include <stdio.h>

// ---- Lines in: stream_lines.c --------------------------------------------------------------------------------------------

enum { STREAM_LONGEST_LINE = 1 << 20 };

typedef struct line_source line_source;

// From standard input, or, with a port of 0 (any) or above, from datagrams to the address `host`. NULL after one line on
// standard error.
line_source *lines_open(const char *host, int port);
void lines_close(line_source *source); // NULL is allowed

int lines_port(const line_source *source); // that was bound; -1: standard input

typedef enum line_state { LINE_NONE = 0, LINE_READY, LINE_TOO_LONG, LINE_END } line_state;

// The next line, without its end, valid until the next call. NONE: none is there yet (never with `wait`). TOO_LONG: there
// was one beyond the limit, which is gone. END: there are no more. Every line counts in *number, from 1.
line_state lines_next(line_source *source, bool wait, const char **text, size_t *size, int64_t *number);

// Send a line to whoever sent the last datagram.
void lines_reply(const line_source *source, const char *text, size_t size);

// ---- What they ask for: stream_task.c ------------------------------------------------------------------------------------

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
    aim_target aim;
    poise_vec3 position;
    poise_goal_list *listed; // of the member "goals": those in words ...
    poise_file *goal_file;   // ... and the others; NULL: none
    poise_goal goals[STREAM_MOST_GOALS];
    int goal_count; // all, with the two above
} stream_task;

void task_init(stream_task *task, const poise_file *file, const aim_end *end, const aim_holds *holds, const double *posture);
void task_release(stream_task *task);

// Hold another posture from now on (nq numbers).
void task_set_posture(stream_task *task, const double *posture);

// Do what the members of the object say, all of it or, when something is wrong, nothing: then false, and `wrong` (of
// POISE_ERROR_TEXT_SIZE) says what. Members that concern the clock are left to the caller.
bool task_apply(stream_task *task, json_node *object, char *wrong);

// ---- The loop: stream_loop.c ---------------------------------------------------------------------------------------------

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

// Run until the end. False after one line on standard error.
bool stream_run(stream_task *task, line_source *source, smoother *filter, const stream_options *options,
                stream_figures *figures);

#endif
