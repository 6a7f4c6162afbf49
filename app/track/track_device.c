// The device of `poise track --device`.
#include "track_device.h"

#include "cli/programs.h"
#include "cli/terminal.h"

#include <pthread.h>
#include <string.h>

static const track_device *joined;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

const track_device *track_device_now(void)
{
    return joined;
}

void track_device_join(const track_device *device)
{
    joined = device;
}

void track_turn_take(void)
{
    pthread_mutex_lock(&turn);
}

void track_turn_leave(void)
{
    pthread_mutex_unlock(&turn);
}

bool track_device_find(const arguments *args, const track_device **found)
{
    *found = NULL;
    if (strcmp(option_text(args, "device", "cpu"), "cpu") == 0) {
        return true;
    }
    if (option_given(args, "sensors")) {
        complain("track: --sensors are followed on the processors alone; leave --device out");
        return false;
    }
    if (!joined) {
        become_device_program(args, "track");
        return false;
    }
    *found = joined;
    return joined->begin();
}

// ---- A recording ---------------------------------------------------------------------------------------------------------

static poise_status open_body(track_on_device *on, const poise_track_plan *plan, poise_error *error)
{
    poise_error why = {.status = POISE_OK};
    track_device_leave(on);
    on->body = on->device->open(plan, &why);
    if (!on->body) {
        snprintf(on->why, sizeof on->why, "%s", why.text);
        if (error) {
            *error = why;
        }
    }
    return on->body ? POISE_OK : why.status;
}

poise_status track_device_ahead(void *user, const poise_track_plan *plan, poise_track_stretch *stretches, int count,
                                poise_error *error)
{
    track_on_device *on = user;
    FILE *mine = messages_to(NULL);
    track_turn_leave();
    poise_status status = plan->round == 0 ? open_body(on, plan, error) : POISE_OK;
    status = status == POISE_OK ? on->device->solve(on->body, plan, stretches, count, error) : status;
    track_turn_take();
    messages_to(mine);
    return status;
}

void track_device_leave(track_on_device *on)
{
    if (on->body) {
        on->device->close(on->body);
        on->body = NULL;
    }
}
