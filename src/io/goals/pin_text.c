// Pins in words: a goal, and when it holds.
//
//   [KIND] BODY TARGET [OPTIONS] [from TIME to TIME] [until TIME] [fade IN [OUT]]
//   [KIND] BODY where it is | on its path ...
//   [KIND] BODY [OPTIONS] key TIME TARGET key TIME TARGET ...
//
// The words of time are taken out first; what is left is a goal (goal_text.c).
#include "io/goals/pin_words.h"

#include <string.h>

// ---- Words ---------------------------------------------------------------------------------------------------------------

static const char *word_at(const pz_pin_reader *r, int i)
{
    return i < r->count ? r->word[i] : "";
}

static bool is(const pz_pin_reader *r, int i, const char *word)
{
    return strcmp(word_at(r, i), word) == 0;
}

static bool fail(pz_pin_reader *r, int index, const char *format, const char *what)
{
    poise_error why;
    pz_error_set(&why, POISE_ERROR_FORMAT, format, what);
    pz_error_set(r->error, POISE_ERROR_FORMAT, "pin %d, word %d: %s", r->number, index + 1, why.text);
    return false;
}

static bool is_unit(const char *word, bool *frames)
{
    static const char *const units[] = {"s", "sec", "seconds", "f", "frame", "frames"};
    for (int i = 0; i < 6; ++i) {
        if (strcmp(word, units[i]) == 0) {
            *frames = i >= 3;
            return true;
        }
    }
    return false;
}

// A number with its unit in the same word or the next: "2", "2 s", "2s", "240f". How many words it takes; 0: it is none.
static int time_at(const pz_pin_reader *r, int i, double *number, bool *frames)
{
    const char *word = word_at(r, i);
    size_t length = strlen(word);
    *frames = false;
    if (length > 1 && (word[length - 1] == 's' || word[length - 1] == 'f') &&
        pz_word_number((pz_word){word, length - 1}, number)) {
        *frames = word[length - 1] == 'f';
        return 1;
    }
    if (length == 0 || !pz_reader_is_number(word, number)) {
        return 0;
    }
    return is_unit(word_at(r, i + 1), frames) ? 2 : 1;
}

// Step over a time, in seconds of the clip.
static bool take_time(pz_pin_reader *r, int *i, double *seconds)
{
    bool frames;
    int words = time_at(r, *i, seconds, &frames);
    if (words == 0) {
        return fail(r, *i, "a time is needed here, such as 2 s or 240f, not \"%s\"", word_at(r, *i));
    }
    if (frames && !r->clip) {
        return fail(r, *i, "%s", "frame numbers need a clip; give seconds");
    }
    *seconds = frames ? r->clip->start_time + *seconds * r->clip->frame_time : *seconds;
    *i += words;
    return true;
}

// "from 2 s to 3 s", and not the "from X Y Z" of a distance: after the time something else than a number comes.
static bool is_range(const pz_pin_reader *r, int i)
{
    double number;
    bool frames;
    int words = is(r, i, "from") ? time_at(r, i + 1, &number, &frames) : 0;
    return words > 0 && !pz_reader_is_number(word_at(r, i + 1 + words), &number);
}

static bool take_range(pz_pin_reader *r, int *i, poise_pin *pin)
{
    if (is(r, *i, "from")) {
        *i += 1;
        if (!take_time(r, i, &pin->from)) {
            return false;
        }
        if (!is(r, *i, "to") && !is(r, *i, "until")) {
            return true;
        }
    }
    *i += 1;
    return take_time(r, i, &pin->to);
}

static bool take_fade(pz_pin_reader *r, int *i, poise_pin *pin)
{
    double number;
    bool frames;
    *i += 1;
    for (int k = 0; k < 2; ++k) {
        int words = time_at(r, *i, &number, &frames);
        if (words == 0 && k == 1) {
            pin->fade_out = pin->fade_in;
            return true;
        }
        if (words == 0 || number < 0 || (frames && !r->clip)) {
            return fail(r, *i, "a fade is a time >= 0, such as 0.2 s, not \"%s\"", word_at(r, *i));
        }
        *(k == 0 ? &pin->fade_in : &pin->fade_out) = frames ? number * r->clip->frame_time : number;
        *i += words;
    }
    return true;
}

// ---- The goal ------------------------------------------------------------------------------------------------------------

typedef struct goal_words {
    int count;  // words of the goal
    int target; // where its target's go
} goal_words;

static void put(pz_pin_reader *r, goal_words *g, char *word, int place)
{
    r->goal_word[g->count] = word;
    r->place[g->count++] = place;
}

// Take the words of time out.
static bool sort_words(pz_pin_reader *r, poise_pin *pin, goal_words *g, int *first_key, int *keys)
{
    *first_key = r->count;
    for (int i = 0; i < r->count;) {
        if (is_range(r, i) || is(r, i, "until")) {
            if (!take_range(r, &i, pin)) {
                return false;
            }
        } else if (is(r, i, "fade")) {
            if (!take_fade(r, &i, pin)) {
                return false;
            }
        } else if (is(r, i, "where") && is(r, i + 1, "it") && is(r, i + 2, "is")) {
            pin->target = POISE_PIN_HERE;
            g->target = i;
            i += 3;
        } else if (is(r, i, "on") && is(r, i + 1, "its") && is(r, i + 2, "path")) {
            pin->target = POISE_PIN_PATH;
            g->target = i;
            i += 3;
        } else if (is(r, i, "key")) {
            double time;
            *first_key = *keys == 0 ? i : *first_key;
            *keys += 1;
            i += 1;
            if (!take_time(r, &i, &time)) {
                return false;
            }
            while (i < r->count && !is(r, i, "key") && !is(r, i, "fade") && !is_range(r, i)) {
                i += 1; // of its target
            }
        } else {
            put(r, g, r->word[i], i);
            i += 1;
        }
    }
    return true;
}

// A kind in front, where the words have none.
static void add_kind(pz_pin_reader *r, goal_words *g, const poise_pin *pin)
{
    if (g->count == 0 || pz_goal_is_kind(r->goal_word[0])) {
        return;
    }
    bool turns = pin->target != POISE_PIN_GIVEN;
    for (int i = 0; i < r->count; ++i) {
        turns = turns || is(r, i, "rpy") || is(r, i, "quaternion") || is(r, i, "turn");
    }
    memmove(r->goal_word + 1, r->goal_word, (size_t)g->count * sizeof *r->goal_word);
    memmove(r->place + 1, r->place, (size_t)g->count * sizeof *r->place);
    r->goal_word[0] = (char *)(turns ? "pose" : "position"); // words are not written to from here on
    r->place[0] = 0;
    g->count += 1;
}

// Put words in after kind and body, where a target stands.
static void insert_target(pz_pin_reader *r, goal_words *g, const char *const *word, int count, int place)
{
    int at = g->count < 2 ? g->count : 2;
    memmove(r->goal_word + at + count, r->goal_word + at, (size_t)(g->count - at) * sizeof *r->goal_word);
    memmove(r->place + at + count, r->place + at, (size_t)(g->count - at) * sizeof *r->place);
    for (int i = 0; i < count; ++i) {
        r->goal_word[at + i] = (char *)word[i];
        r->place[at + i] = place + i;
    }
    g->count += count;
}

static poise_status read_goal(pz_pin_reader *r, const goal_words *g, poise_goal *goal)
{
    pz_reader reader = {.words = r->words,
                        .kept = r->kept,
                        .word = r->goal_word,
                        .count = g->count,
                        .number = r->number,
                        .noun = "pin",
                        .place = r->place,
                        .error = r->error};
    r->place[g->count] = r->count; // a word that is missing
    return pz_goal_read(&reader, goal) ? POISE_OK : reader.status;
}

// A goal whose target comes from the clip: any will do in the words.
static poise_status read_from_clip(pz_pin_reader *r, goal_words *g, poise_pin *pin)
{
    static const char *const place[] = {"0", "0", "0", "quaternion", "0", "0", "0", "1"}, *const along[] = {"z"};
    const char *kind = g->count > 0 ? r->goal_word[0] : "";
    bool is_pose = strcmp(kind, "pose") == 0, is_turn = strcmp(kind, "orientation") == 0;
    if (is_pose || is_turn || strcmp(kind, "position") == 0) {
        insert_target(r, g, place + (is_turn ? 3 : 0), is_pose ? 8 : is_turn ? 5 : 3, g->target);
    } else if (strcmp(kind, "direction") == 0) {
        insert_target(r, g, along, 1, g->target);
    } else if (strcmp(kind, "posture") == 0) {
        pin->goal = poise_goal_default(POISE_GOAL_POSTURE);
        return POISE_OK;
    } else {
        fail(r, g->target,
             "\"%s\" cannot be taken from the clip; only position, pose, orientation, direction and posture can", kind);
        return POISE_ERROR_FORMAT;
    }
    return read_goal(r, g, &pin->goal);
}

// Every key is the goal with a target of its own.
static poise_status read_keys(pz_pin_reader *r, const goal_words *g, int first, int count, poise_pin *pin)
{
    size_t words = (size_t)g->count;
    poise_pin_key *keys = pz_pool_take(r->kept, (size_t)count, sizeof *keys);
    char **word = pz_pool_take(r->kept, words, sizeof *word);
    int *place = pz_pool_take(r->kept, words, sizeof *place), i = first;
    if (!keys || !word || !place) {
        return pz_error_set(r->error, POISE_ERROR_MEMORY, "no memory left");
    }
    memcpy(word, r->goal_word, words * sizeof *word);
    memcpy(place, r->place, words * sizeof *place);
    for (int k = 0; k < count; ++k) {
        goal_words own = *g;
        while (!is(r, i, "key")) {
            i += 1;
        }
        i += 1;
        if (!take_time(r, &i, &keys[k].time)) {
            return POISE_ERROR_FORMAT;
        }
        int end = i;
        while (end < r->count && !is(r, end, "key") && !is(r, end, "fade") && !is_range(r, end)) {
            end += 1;
        }
        memcpy(r->goal_word, word, words * sizeof *word);
        memcpy(r->place, place, words * sizeof *place);
        insert_target(r, &own, (const char *const *)(r->word + i), end - i, i);
        poise_status status = read_goal(r, &own, &keys[k].goal);
        if (status != POISE_OK) {
            return status;
        }
        if (k > 0 && !(keys[k].time > keys[k - 1].time)) {
            fail(r, i - 1, "%s", "keys must be in order of time");
            return POISE_ERROR_FORMAT;
        }
    }
    pin->keys = keys;
    pin->key_count = count;
    pin->goal = keys[0].goal;
    return POISE_OK;
}

poise_status pz_pin_read(pz_pin_reader *r, poise_pin *pin)
{
    goal_words g = {0};
    int first_key, keys = 0;
    *pin = poise_pin_default();
    if (!sort_words(r, pin, &g, &first_key, &keys)) {
        return POISE_ERROR_FORMAT;
    }
    add_kind(r, &g, pin);
    if (keys > 0) {
        return read_keys(r, &g, first_key, keys, pin);
    }
    if (pin->from > pin->to) {
        return pz_error_set(r->error, POISE_ERROR_FORMAT, "pin %d: ends (%g s) before it begins (%g s)", r->number, pin->to,
                            pin->from);
    }
    return pin->target == POISE_PIN_GIVEN ? read_goal(r, &g, &pin->goal) : read_from_clip(r, &g, pin);
}
