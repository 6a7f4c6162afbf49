// A device that a program brings along to solve the frames of recordings: poise has none, poise-cuda has one.
#ifndef APP_TRACK_DEVICE_H
#define APP_TRACK_DEVICE_H

#include "cli/command.h"

#include <poise/track.h>

typedef struct track_device {
    // Is it there? False after one line on standard error.
    bool (*begin)(void);

    // What it is called, after begin.
    const char *(*name)(void);

    // A skeleton with its markers, made for the stretches of a recording; NULL, with a reason in `error`: UNSUPPORTED, it
    // does not serve these. Any thread may ask.
    void *(*open)(const poise_track_plan *plan, poise_error *error);
    poise_status (*solve)(void *body, const poise_track_plan *plan, poise_track_stretch *stretches, int count,
                          poise_error *error);
    void (*close)(void *body); // NULL is allowed
} track_device;

// The device that the program has; NULL: none.
const track_device *track_device_now(void);
void track_device_join(const track_device *device);

// What --device asks for: NULL for the processors. Where the program has no device it becomes the one that has. False after
// one line on standard error.
bool track_device_find(const arguments *args, const track_device **found);

// A recording on the device.
typedef struct track_on_device {
    const track_device *device;
    void *body;
    char why[256]; // it is not served; "" if it is
} track_on_device;

// poise_track_problem.ahead; `user` is a track_on_device. Close it with track_device_leave.
poise_status track_device_ahead(void *user, const poise_track_plan *plan, poise_track_stretch *stretches, int count,
                                poise_error *error);
void track_device_leave(track_on_device *on);

// Jobs side by side: one at a time works here, between these two, and lets others have their turn while the device works for
// it.
void track_turn_take(void);
void track_turn_leave(void);

#endif
