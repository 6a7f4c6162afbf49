// When a point of a moving figure rests on the ground: by its height and speed.
#include "motion/contacts.h"

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
