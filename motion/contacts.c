// When a point of a moving figure rests on the ground, by its height and speed; and feet that stay where they stand: a pin
// for every contact of a foot with the ground.
//
// A foot stands on its ball: the body, or the tip, that the foot carries, else on its own origin. While that rests
// it is pinned at the mean of its places. The foot may roll over it; heights stay as they are, on stairs too.
#include "motion/contacts.h"

#include <poise/edit.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/retarget/actor.h"
#include "num/real.h"

#define LEG          0.85 // metres: of the person that the next two are for; they grow with the leg
#define REST_SPEED   0.4  // metres a second: slower is at rest
#define REST_HEIGHT  0.05 // metres above the lowest: lower is on the ground
#define FLOOR_WINDOW 0.75 // seconds before and after in which a foot stands somewhere
#define FLOOR_DRIFT  0.1  // of the leg: what a floor may drift by; feet that are higher are in the air
#define CLOSE_GAP    0.05 // seconds: shorter gaps in a contact are closed
#define LEAST_REST   0.06 // seconds: shorter contacts are none
#define LOW_SHARE    0.05

double pz_low_height(const pz_walk *walk, const poise_vec3 *place)
{
    const int frames = walk->frames;
    const vec3 up = walk->up;
    double lower = INFINITY, upper = -INFINITY;
    for (int f = 0; f < frames; ++f) {
        lower = min2(lower, v3_dot(place[f], up));
        upper = max2(upper, v3_dot(place[f], up));
    }
    for (int i = 0; i < 60 && upper > lower; ++i) {
        double middle = 0.5 * (lower + upper);
        int below = 0;
        for (int f = 0; f < frames; ++f) {
            below += v3_dot(place[f], up) <= middle;
        }
        if (below >= LOW_SHARE * frames) {
            upper = middle;
        } else {
            lower = middle;
        }
    }
    return upper;
}

// Runs of frames with, or without, a bit that are shorter than `least` frames change over; those at the ends do not.
static void drop_short(unsigned char *contact, int frames, unsigned char bit, bool is_set, double least_frames)
{
    for (int first = 0, end; first < frames; first = end) {
        end = first;
        while (end < frames && !(contact[end] & bit) == !(contact[first] & bit)) {
            ++end;
        }
        bool is_inside = first > 0 && end < frames;
        if (!(contact[first] & bit) == !is_set && is_inside && end - first < least_frames) {
            for (int f = first; f < end; ++f) {
                contact[f] ^= bit;
            }
        }
    }
}

void pz_floor_find(const pz_walk *walk, const poise_vec3 *const ankle[2], double low, double *scratch, double *floor)
{
    const int frames = walk->frames, window = (int)(FLOOR_WINDOW / walk->frame_time) + 1;
    for (int f = 0; f < frames; ++f) {
        double least_height = INFINITY;
        for (int i = f > window ? f - window : 0; i <= f + window && i < frames; ++i) {
            least_height = min2(least_height, min2(v3_dot(ankle[0][i], walk->up), v3_dot(ankle[1][i], walk->up)));
        }
        double drift = least_height - low;
        scratch[f] = fabs(drift) < FLOOR_DRIFT * walk->leg ? drift : 0.0;
    }
    for (int f = 0; f < frames; ++f) {
        double sum = 0.0;
        int count = 0;
        for (int i = f > window ? f - window : 0; i <= f + window && i < frames; ++i, ++count) {
            sum += scratch[i];
        }
        floor[f] = low + sum / count;
    }
}

void pz_contacts_find(const pz_walk *walk, const poise_vec3 *place, const double *floor, double above, unsigned char bit,
                      unsigned char *contact)
{
    double size = walk->leg / LEG, limit = above + REST_HEIGHT * size;
    for (int f = 0; f < walk->frames; ++f) {
        int before = f > 0 ? f - 1 : f, after = f + 1 < walk->frames ? f + 1 : f;
        double time = (after - before) * walk->frame_time;
        double speed = time > 0 ? v3_norm(v3_sub(place[after], place[before])) / time : 0.0;
        if (v3_dot(place[f], walk->up) < limit + (floor ? floor[f] : 0.0) && speed < REST_SPEED * size) {
            contact[f] |= bit;
        }
    }
    drop_short(contact, walk->frames, bit, false, CLOSE_GAP / walk->frame_time);
    drop_short(contact, walk->frames, bit, true, LEAST_REST / walk->frame_time);
}

// ---- Pins of feet --------------------------------------------------------------------------------------------------------

#define DRIFT     0.05 // of the leg: a ball that is farther from where it rested has stepped on
#define STEP_TIME 0.08 // seconds on either side of such a step that belong to no contact
#define SHIFT     0.2  // legs a second: how fast a fade may move a ball on the mean
#define ROLL      0.25 // legs a second: a ball that is faster than this from end to end of a contact rolls off

// The ball of a foot, in its frame.
static vec3 ball_of(const poise_model *model, int foot)
{
    for (int k = foot + 1; k < foot + poise_model_joint_info(model, foot).subtree; ++k) {
        poise_joint_info info = poise_model_joint_info(model, k);
        if (info.parent == foot && v3_norm(info.given->offset.position) > 0.0) {
            return info.given->offset.position;
        }
    }
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        if (poise_model_tool_info(model, i).body == foot) {
            return poise_model_tool_info(model, i).pose.position;
        }
    }
    return v3(0, 0, 0);
}

// The pin of a contact over frames [first, end). What is far from its mean place takes longer to come there.
static poise_pin pin_of(const poise_clip *clip, int foot, vec3 ball, const poise_vec3 *place, int first, int end, double leg)
{
    poise_pin pin = poise_pin_default();
    vec3 sum = v3(0, 0, 0);
    for (int f = first; f < end; ++f) {
        sum = v3_add(sum, place[f]);
    }
    vec3 mean = v3_scale(sum, 1.0 / (end - first));
    pin.goal = poise_goal_position(foot, ball, mean);
    pin.from = clip->start_time + first * clip->frame_time;
    pin.to = clip->start_time + (end - 1) * clip->frame_time;
    pin.fade_in = max2(POISE_FEET_FADE, v3_norm(v3_sub(place[first], mean)) / (SHIFT * leg));
    pin.fade_out = max2(POISE_FEET_FADE, v3_norm(v3_sub(place[end - 1], mean)) / (SHIFT * leg));
    pin.target = POISE_PIN_SHIFT;
    return pin;
}

// How fast a point slips along the ground from frame to frame.
static void measure(const poise_clip *clip, vec3 up, const poise_vec3 *place, int first, int end, poise_feet_report *r)
{
    for (int f = first + 1; f < end; ++f) {
        vec3 way = v3_sub(place[f], place[f - 1]);
        double speed = v3_norm(v3_mad(way, -v3_dot(way, up), up)) / clip->frame_time;
        r->skate_mean += speed;
        r->skate_worst = max2(r->skate_worst, speed);
    }
    r->frames += end - first - 1;
    r->contacts += 1;
}

// Which way is up: the clip tells, for the neutral configuration of a file need not stand (all bones of LAFAN1's lie along
// one axis).
static vec3 up_in(const poise_model *model, const poise_clip *clip, vec3 neutral)
{
    poise_up up = poise_clip_up(model, clip);
    return up == POISE_UP_UNKNOWN ? neutral : v3(up == POISE_UP_X, up == POISE_UP_Y, up == POISE_UP_Z);
}

typedef struct work {
    pz_anatomy anatomy;
    poise_kinematics *kin;
    poise_vec3 *place;      // by frame
    unsigned char *contact; // by frame
} work;

static poise_status read_foot(work *w, const poise_clip *clip, int foot, vec3 ball, poise_error *error)
{
    poise_status status = POISE_OK;
    for (int f = 0; f < clip->frames && status == POISE_OK; ++f) {
        status = poise_kinematics_update(w->kin, clip->q + (size_t)f * (size_t)clip->nq, error);
        w->place[f] = status == POISE_OK ? poise_kinematics_point(w->kin, foot, ball) : v3(0, 0, 0);
    }
    for (int f = 0; f < clip->frames; ++f) {
        w->contact[f] = 0;
    }
    if (status == POISE_OK) {
        pz_walk walk = {clip->frames, clip->frame_time, w->anatomy.up, PZ_LEG_SHARE * w->anatomy.stature};
        pz_contacts_find(&walk, w->place, NULL, pz_low_height(&walk, w->place), 1, w->contact);
    }
    return status;
}

// Take the frames around a step out of the contacts: where the ball has left the mean of its places.
static void cut_steps(work *w, const poise_clip *clip)
{
    double far = DRIFT * PZ_LEG_SHARE * w->anatomy.stature;
    int around = (int)(STEP_TIME / clip->frame_time) + 1, count = 0;
    vec3 sum = v3(0, 0, 0);
    for (int f = 0; f < clip->frames; ++f) {
        vec3 mean = count > 0 ? v3_scale(sum, 1.0 / count) : w->place[f];
        bool steps = w->contact[f] && v3_norm(v3_sub(w->place[f], mean)) > far;
        for (int k = f - around; k <= f + around && steps; ++k) {
            if (k >= 0 && k < clip->frames) {
                w->contact[k] = 0;
            }
        }
        count = w->contact[f] ? count + 1 : 0;
        sum = w->contact[f] ? v3_add(sum, w->place[f]) : v3(0, 0, 0);
    }
}

// Does the ball stay over frames [first, end)? One that rolls off, or lands, is as slow for a moment.
static bool rests(const work *w, const poise_clip *clip, int first, int end)
{
    double way = v3_norm(v3_sub(w->place[end - 1], w->place[first])), time = (end - 1 - first) * clip->frame_time;
    return w->contact[first] && end - first > 1 && way <= ROLL * PZ_LEG_SHARE * w->anatomy.stature * time;
}

static poise_status find_all(work *w, const poise_model *model, const poise_clip *clip, poise_pin *pins, int capacity,
                             poise_feet_report *r, poise_error *error)
{
    poise_status status = POISE_OK;
    for (int s = PZ_LEFT; s <= PZ_RIGHT && status == POISE_OK; ++s) {
        int foot = w->anatomy.part[PZ_FOOT][s].body, end;
        vec3 ball = ball_of(model, foot);
        status = read_foot(w, clip, foot, ball, error);
        if (status == POISE_OK) {
            cut_steps(w, clip);
        }
        for (int first = 0; first < clip->frames && status == POISE_OK; first = end) {
            for (end = first; end < clip->frames && w->contact[end] == w->contact[first]; ++end) {
            }
            if (rests(w, clip, first, end)) {
                if (r->contacts < capacity) {
                    pins[r->contacts] = pin_of(clip, foot, ball, w->place, first, end, PZ_LEG_SHARE * w->anatomy.stature);
                }
                measure(clip, w->anatomy.up, w->place, first, end, r);
            }
        }
    }
    r->skate_mean = r->frames > 0 ? r->skate_mean / r->frames : 0.0;
    return status;
}

poise_status poise_feet_pins(const poise_model *model, const poise_clip *clip, const poise_allocator *allocator,
                             poise_pin *pins, int capacity, poise_feet_report *report, poise_error *error)
{
    if (!model || !clip || clip->nq != poise_model_info(model).nq || clip->frames < 0 || capacity < 0 ||
        (capacity > 0 && !pins) || !report) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "model, clip, pins and report must not be NULL, and the clip of this model");
    }
    work w;
    poise_feet_report found = {0};
    pz_owned owned = {0};
    size_t frames = (size_t)clip->frames + 1;
    poise_status status = pz_figure_of(model, allocator, &w.anatomy);
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    if (!(w.anatomy.stature > 0) || w.anatomy.part[PZ_FOOT][PZ_LEFT].body < 0 ||
        w.anatomy.part[PZ_FOOT][PZ_RIGHT].body < 0) {
        return pz_error_set(error, POISE_ERROR_NOT_FOUND,
                            "no legs with feet were recognised by body name; pin the feet by name");
    }
    status = poise_kinematics_create(model, allocator, &w.kin, error);
    if (status != POISE_OK) {
        return status;
    }
    w.anatomy.up = up_in(model, clip, w.anatomy.up);
    w.place = pz_owned_take(&owned, allocator, frames * (sizeof *w.place + 1));
    w.contact = w.place ? (unsigned char *)(w.place + frames) : NULL;
    status = w.place ? find_all(&w, model, clip, pins, capacity, &found, error)
                     : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory for %d frames", clip->frames);
    pz_owned_release(&owned);
    poise_kinematics_destroy(w.kin);
    if (status == POISE_OK) {
        *report = found;
    }
    return status;
}
