// When a point of a moving figure rests on the ground: by its height and speed.
#include "motion/contacts.h"

#include "math/scalar.h"

#define LEG         0.85 // metres: of the person that the next two are for; they grow with the leg
#define REST_SPEED  0.4  // metres a second: slower is at rest
#define REST_HEIGHT 0.05 // metres above the lowest: lower is on the ground
#define CLOSE_GAP   0.05 // seconds: shorter gaps in a contact are closed
#define LEAST_REST  0.06 // seconds: shorter contacts are none
#define LOW_SHARE   0.05

double pz_low_height(const poise_vec3 *place, int frames, vec3 up)
{
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

void pz_contacts_find(const poise_vec3 *place, int frames, double frame_time, vec3 up, double leg, unsigned char bit,
                      unsigned char *contact)
{
    double size = leg / LEG, limit = pz_low_height(place, frames, up) + REST_HEIGHT * size;
    for (int f = 0; f < frames; ++f) {
        int before = f > 0 ? f - 1 : f, after = f + 1 < frames ? f + 1 : f;
        double time = (after - before) * frame_time;
        double speed = time > 0 ? v3_norm(v3_sub(place[after], place[before])) / time : 0.0;
        if (v3_dot(place[f], up) < limit && speed < REST_SPEED * size) {
            contact[f] |= bit;
        }
    }
    drop_short(contact, frames, bit, false, CLOSE_GAP / frame_time);
    drop_short(contact, frames, bit, true, LEAST_REST / frame_time);
}
