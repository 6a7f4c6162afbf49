// Several people in one recording, told apart by what stands before their markers' names.
#include <poise/motion.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "motion/markers.h"
#include "motion/plain_name.h"

#include <string.h>

#define WHOLE  12 // markers that are seen: fewer are a prop or a part of a body
#define SHARED 8  // names that two subjects have in common, where an underscore separates

// ---- Names ---------------------------------------------------------------------------------------------------------------

// "L", "right" and the like, which are no people.
static bool is_side(const char *text, size_t length)
{
    static const char *const sides[] = {"l", "r", "left", "right"};
    for (int i = 0; i < 4; ++i) {
        size_t k = 0;
        while (k < length && sides[i][k] && (text[k] | 0x20) == sides[i][k]) {
            ++k;
        }
        if (k == length && !sides[i][k]) {
            return true;
        }
    }
    return false;
}

// Do two names differ by nothing but an L and an R at their end, as "ML" and "MR" do? They are the sides of one person.
static bool are_sides(const char *a, const char *b)
{
    size_t length = strlen(a), last = length - 1;
    return length > 0 && length == strlen(b) && memcmp(a, b, last) == 0 && is_side(a + last, 1) && is_side(b + last, 1);
}

// Characters of a label before its separator; 0: it has no subject.
static size_t subject_length(const char *label, char separator)
{
    const char *at = separator == ':' ? strrchr(label, ':') : strchr(label, separator);
    size_t length = at ? (size_t)(at - label) : 0;
    bool is_name = at && (separator == ':' || (is_letter(at[1]) && !is_side(label, length)));
    return is_name && length < sizeof((poise_subject *)NULL)->name ? length : 0;
}

static bool has_subject(const char *label, char separator, const char *name)
{
    size_t length = strlen(name);
    return subject_length(label, separator) == length && memcmp(label, name, length) == 0;
}

// ---- Who is there --------------------------------------------------------------------------------------------------------

// Is the marker there in a tenth of the frames or more?
static bool is_seen(const poise_markers *markers, int marker)
{
    int seen = 0;
    for (int f = 0; f < markers->frames; ++f) {
        seen += poise_markers_seen(markers, f, marker);
    }
    return seen > 0 && 10 * (int64_t)seen >= markers->frames;
}

// How many subjects there are; the first `capacity` go to `subjects`.
static int list(const poise_markers *markers, char separator, poise_subject *subjects, int capacity)
{
    int count = 0;
    for (int i = 0; i < markers->count; ++i) {
        size_t length = subject_length(markers->label[i], separator);
        bool is_new = length > 0;
        for (int k = 0; k < i && is_new; ++k) {
            is_new = subject_length(markers->label[k], separator) != length ||
                     memcmp(markers->label[k], markers->label[i], length) != 0;
        }
        if (is_new && count < capacity) {
            poise_subject *s = &subjects[count];
            *s = (poise_subject){.markers = 0};
            memcpy(s->name, markers->label[i], length);
            for (int k = i; k < markers->count; ++k) {
                bool is_own = has_subject(markers->label[k], separator, s->name);
                s->markers += is_own;
                s->seen += is_own && is_seen(markers, k);
            }
            s->is_whole = s->seen >= WHOLE;
        }
        count += is_new;
    }
    return count;
}

// Names that both have after the separator.
static int shared_names(const poise_markers *markers, char separator, const char *a, const char *b)
{
    int shared = 0;
    for (int i = 0; i < markers->count; ++i) {
        for (int k = 0; k < markers->count && has_subject(markers->label[i], separator, a); ++k) {
            shared += has_subject(markers->label[k], separator, b) &&
                      strcmp(markers->label[i] + strlen(a), markers->label[k] + strlen(b)) == 0;
        }
    }
    return shared;
}

enum { MOST_SUBJECTS = 32 };

// The separator of this recording: a colon where some label has one, an underscore where that makes people of it.
static char separator_of(const poise_markers *markers)
{
    poise_subject found[MOST_SUBJECTS];
    if (list(markers, ':', NULL, 0) > 0) {
        return ':';
    }
    int count = list(markers, '_', found, MOST_SUBJECTS);
    for (int i = 1; i < count && i < MOST_SUBJECTS; ++i) {
        const char *a = found[0].name, *b = found[i].name;
        if (!are_sides(a, b) && shared_names(markers, '_', a, b) >= SHARED) {
            return '_';
        }
    }
    return ':';
}

int poise_markers_subjects(const poise_markers *markers, poise_subject *subjects, int capacity)
{
    return markers ? list(markers, separator_of(markers), subjects, subjects ? capacity : 0) : 0;
}

// ---- One of them ---------------------------------------------------------------------------------------------------------

static poise_status take(const poise_markers *markers, const char *name, const poise_allocator *allocator,
                         poise_markers **part, poise_error *error)
{
    char separator = separator_of(markers);
    int *from = pz_allocate(allocator, ((size_t)markers->count + 1) * sizeof *from), count = 0;
    const char **label = pz_allocate(allocator, ((size_t)markers->count + 1) * sizeof *label);
    poise_status status = from && label ? POISE_OK : POISE_ERROR_MEMORY;
    for (int i = 0; i < markers->count && status == POISE_OK; ++i) {
        if (has_subject(markers->label[i], separator, name)) {
            label[count] = markers->label[i] + strlen(name) + 1;
            from[count++] = i;
        }
    }
    poise_markers *made = NULL;
    status = status == POISE_OK ? poise_markers_create(markers->frames, count, markers->rate, label, allocator, &made, NULL)
                                : status;
    if (status == POISE_OK) {
        made->first_frame = markers->first_frame;
        made->start_time = markers->start_time;
        made->scale = markers->scale;
        made->residual = markers->residual ? pz_markers_room(made) : NULL;
        for (int f = 0; f < markers->frames; ++f) {
            for (int i = 0; i < count; ++i) {
                size_t to = (size_t)f * (size_t)count + (size_t)i, at = (size_t)f * (size_t)markers->count + (size_t)from[i];
                made->position[to] = markers->position[at];
                if (made->residual) {
                    made->residual[to] = markers->residual[at];
                }
            }
        }
        *part = made;
    }
    pz_release(allocator, from);
    pz_release(allocator, label);
    return status == POISE_OK ? status : pz_error_set(error, status, "out of memory");
}

// "Anna, Ben, ..."
static void join(const poise_subject *subjects, int count, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < count; ++i) {
        const char *comma = i > 0 ? ", " : "";
        size_t length = strlen(comma) + strlen(subjects[i].name);
        if (used + length + 6 > size) {
            memcpy(text + used, ", ...", 6);
            return;
        }
        memcpy(text + used, comma, strlen(comma));
        memcpy(text + used + strlen(comma), subjects[i].name, strlen(subjects[i].name) + 1);
        used += length;
    }
}

poise_status poise_markers_select(const poise_markers *markers, const char *subject, const poise_allocator *allocator,
                                  poise_markers **part, poise_error *error)
{
    if (!markers || !part) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "markers and part must not be NULL");
    }
    poise_subject found[MOST_SUBJECTS];
    char names[160] = "";
    int count = poise_markers_subjects(markers, found, MOST_SUBJECTS), whole = 0, chosen = -1;
    int kept = count < MOST_SUBJECTS ? count : MOST_SUBJECTS;
    for (int i = 0; i < kept; ++i) {
        whole += found[i].is_whole;
        bool is_it = subject ? strcmp(found[i].name, subject) == 0 : found[i].is_whole;
        chosen = is_it ? i : chosen;
    }
    for (int i = 0; i < kept && subject && chosen < 0; ++i) { // in whatever case
        pz_plain_name a = pz_plain_name_of(found[i].name), b = pz_plain_name_of(subject);
        chosen = a.length == b.length && memcmp(a.text, b.text, a.length) == 0 ? i : chosen;
    }
    join(found, kept, names, sizeof names);
    if (subject && chosen < 0) {
        return count > 0
                   ? pz_error_set(error, POISE_ERROR_NOT_FOUND, "no subject is called \"%s\"; there are: %s", subject, names)
                   : pz_error_set(error, POISE_ERROR_NOT_FOUND, "no subject is called \"%s\": the labels name no subjects",
                                  subject);
    }
    if (!subject && (count < 2 || whole == 0)) { // all of it is one
        *part = NULL;
        return POISE_OK;
    }
    if (!subject && whole > 1) {
        return pz_error_set(error, POISE_ERROR_UNSUPPORTED, "holds several subjects: %s; choose one", names);
    }
    return take(markers, found[chosen].name, allocator, part, error);
}
