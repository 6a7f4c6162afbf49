// Points at 0 0 0, which many programs write where a marker was not seen.
#include "io/io_core.h"

#include <math.h>

static poise_vec3 point(const poise_markers *markers, int frame, int marker)
{
    return markers->position[(size_t)frame * (size_t)markers->count + (size_t)marker];
}

static bool is_zero(poise_vec3 p)
{
    return p.x == 0 && p.y == 0 && p.z == 0;
}

static double length_of(poise_vec3 v)
{
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

// The longest way that a marker goes from one frame to the next where it is not at 0 0 0.
static double longest_step(const poise_markers *markers, int marker)
{
    double longest = 0;
    for (int f = 1; f < markers->frames; ++f) {
        poise_vec3 a = point(markers, f - 1, marker), b = point(markers, f, marker);
        double step = is_zero(a) || is_zero(b) ? 0 : length_of((poise_vec3){b.x - a.x, b.y - a.y, b.z - a.z});
        longest = step > longest ? step : longest; // not for gaps, which are not numbers
    }
    return longest;
}

// Does a marker that makes such steps come to 0 0 0 in frames [first, end), or leave it, on its way? Otherwise it jumps
// there, or never was anywhere else.
static bool passes_zero(const poise_markers *markers, int marker, int first, int end, double longest)
{
    double before = first > 0 ? length_of(point(markers, first - 1, marker)) : INFINITY;
    double after = end < markers->frames ? length_of(point(markers, end, marker)) : INFINITY;
    return before <= longest || after <= longest;
}

// Is any point of the recording at 0 0 0? In the order of memory: most recordings have none, and end here.
static bool any_zero(const poise_markers *markers)
{
    size_t points = (size_t)markers->frames * (size_t)markers->count;
    for (size_t i = 0; i < points; ++i) {
        if (is_zero(markers->position[i])) {
            return true;
        }
    }
    return false;
}

// Frames of one marker that became gaps.
static int open_gaps(poise_markers *markers, int marker)
{
    double longest = longest_step(markers, marker);
    int opened = 0;
    for (int first = 0, end; first < markers->frames; first = end) {
        end = first + 1;
        if (!is_zero(point(markers, first, marker))) {
            continue;
        }
        while (end < markers->frames && is_zero(point(markers, end, marker))) {
            ++end;
        }
        if (passes_zero(markers, marker, first, end, longest)) {
            continue;
        }
        for (int f = first; f < end; ++f) {
            size_t at = (size_t)f * (size_t)markers->count + (size_t)marker;
            markers->position[at] = (poise_vec3){NAN, NAN, NAN};
            if (markers->residual) {
                markers->residual[at] = -1.0f;
            }
        }
        opened += end - first;
    }
    return opened;
}

void pz_zeros_are_gaps(pz_input *input)
{
    poise_markers *markers = input->file->markers;
    int throughout = 0, in_part = 0, first = -1;
    int64_t points = 0;
    if (!any_zero(markers)) {
        return;
    }
    for (int i = 0; i < markers->count; ++i) {
        int opened = open_gaps(markers, i);
        first = opened > 0 && first < 0 ? i : first;
        throughout += opened > 0 && opened == markers->frames;
        in_part += opened > 0 && opened < markers->frames;
        points += opened;
    }
    if (points > 0) {
        pz_input_warn(input, 0, "%g points at 0 0 0 count as not seen: %d marker%s throughout, %d in some frames (\"%s\"%s)",
                      (double)points, throughout, throughout == 1 ? "" : "s", in_part, markers->label[first],
                      throughout + in_part > 1 ? " and others" : "");
    }
}
