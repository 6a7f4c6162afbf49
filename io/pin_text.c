// Pins in words: a goal, and when it holds. Lists of them come from words and from JSON.
//
//   [KIND] BODY TARGET [OPTIONS] [from TIME to TIME] [until TIME] [fade IN [OUT]]
//   [KIND] BODY where it is | on its path ...
//   [KIND] BODY [OPTIONS] key TIME TARGET key TIME TARGET ...
//
// The words of time are taken out first; what is left is a goal (goal_text.c).
#include "io/goal_text.h"

#include "base/arena.h"
#include "io/json.h"

#include <string.h>

// A pin that is being read: its words, and what of them is the goal's.
typedef struct pin_reader {
    const poise_goal_words *words;
    const poise_clip *clip; // NULL: there are no frames to count in
    pz_pool *kept;          // of the list
    char **word;            // of the pin
    int count;
    char **goal_word; // room for count + 8
    int *place;       // likewise
    int number;       // of the pin, from 1
    poise_error *error;
} pin_reader;

// ---- Words ---------------------------------------------------------------------------------------------------------------

static const char *word_at(const pin_reader *r, int i)
{
    return i < r->count ? r->word[i] : "";
}

static bool is(const pin_reader *r, int i, const char *word)
{
    return strcmp(word_at(r, i), word) == 0;
}

static bool fail(pin_reader *r, int index, const char *format, const char *what)
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
static int time_at(const pin_reader *r, int i, double *number, bool *frames)
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
static bool take_time(pin_reader *r, int *i, double *seconds)
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
static bool is_range(const pin_reader *r, int i)
{
    double number;
    bool frames;
    int words = is(r, i, "from") ? time_at(r, i + 1, &number, &frames) : 0;
    return words > 0 && !pz_reader_is_number(word_at(r, i + 1 + words), &number);
}

static bool take_range(pin_reader *r, int *i, poise_pin *pin)
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

static bool take_fade(pin_reader *r, int *i, poise_pin *pin)
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

static void put(pin_reader *r, goal_words *g, char *word, int place)
{
    r->goal_word[g->count] = word;
    r->place[g->count++] = place;
}

// Take the words of time out.
static bool sort_words(pin_reader *r, poise_pin *pin, goal_words *g, int *first_key, int *keys)
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
static void add_kind(pin_reader *r, goal_words *g, const poise_pin *pin)
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
static void insert_target(pin_reader *r, goal_words *g, const char *const *word, int count, int place)
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

static poise_status read_goal(pin_reader *r, const goal_words *g, poise_goal *goal)
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
static poise_status read_from_clip(pin_reader *r, goal_words *g, poise_pin *pin)
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
static poise_status read_keys(pin_reader *r, const goal_words *g, int first, int count, poise_pin *pin)
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

// Read all words of a pin. FORMAT or MEMORY, with the reason in r->error.
static poise_status pin_read(pin_reader *r, poise_pin *pin)
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

// ---- Lists ---------------------------------------------------------------------------------------------------------------

typedef struct list {
    poise_pin_list open; // what the caller sees
    pz_word_list own;
} list;

poise_status poise_pin_list_create(const poise_allocator *allocator, poise_pin_list **made, poise_error *error)
{
    list *l = made ? pz_allocate(allocator, sizeof *l) : NULL;
    if (!l) {
        return made ? pz_word_list_no_memory(error) : pz_error_set(error, POISE_ERROR_ARGUMENT, "list must not be NULL");
    }
    l->open = (poise_pin_list){.count = 0};
    pz_word_list_open(&l->own, allocator, "pin", sizeof(poise_pin));
    *made = &l->open;
    return POISE_OK;
}

void poise_pin_list_destroy(poise_pin_list *pins)
{
    if (pins) {
        pz_word_list_close(&((list *)pins)->own, pins);
    }
}

static poise_status read_pin(void *user, char **word, int count, int number, void *pin)
{
    pin_reader *r = user;
    r->word = word;
    r->count = count;
    r->number = number;
    return pin_read(r, pin);
}

poise_status poise_pin_list_parse(poise_pin_list *pins, const poise_goal_words *words, const poise_clip *clip,
                                  const char *text, poise_error *error)
{
    if (!pins || !words || !words->model || !text) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, words, model and text must not be NULL");
    }
    list *l = (list *)pins;
    size_t most = PZ_WORD_LIST_MOST(strlen(text)) + 10; // a kind, and a pose that the clip gives
    pz_pool scratch = {.allocator = l->own.pool.allocator};
    pin_reader r = {.words = words, .clip = clip, .kept = &l->own.pool, .error = error};
    r.goal_word = pz_pool_take(&scratch, most, sizeof *r.goal_word);
    r.place = pz_pool_take(&scratch, most, sizeof *r.place);
    poise_status status =
        r.goal_word && r.place ? pz_word_list_parse(&l->own, text, read_pin, &r, error) : pz_word_list_no_memory(error);
    l->open = (poise_pin_list){.count = l->own.count, .pins = l->own.entries, .texts = l->own.texts};
    pz_pool_release(&scratch);
    return status;
}

// ---- JSON: every pin becomes its words -----------------------------------------------------------------------------------

enum { MOST_WORDS = 4096 };

typedef struct sentence {
    char text[MOST_WORDS];
    size_t length;
    bool is_full;
} sentence;

static void say(sentence *s, const char *word)
{
    size_t length = strlen(word);
    s->is_full = s->is_full || s->length + length + 2 > sizeof s->text;
    if (!s->is_full) {
        memcpy(s->text + s->length, word, length);
        memcpy(s->text + s->length + length, " ", 2);
        s->length += length + 1;
    }
}

static void say_number(sentence *s, double number)
{
    char text[PZ_NUMBER_SIZE];
    pz_number_write(number, text);
    say(s, text);
}

// The member as a time after `word`; a member that is not there says nothing.
static poise_status say_time(const pz_item *object, const char *key, const char *word, sentence *s)
{
    pz_item item = pz_json_get(object, key);
    double number;
    poise_status status = item.value ? pz_json_number(&item, &number) : POISE_OK;
    if (item.value && status == POISE_OK) {
        say(s, word);
        say_number(s, number);
    }
    return status;
}

static poise_status say_target(const pz_item *key, sentence *s)
{
    pz_item target = pz_json_get(key, "target");
    const char *text;
    poise_status status = POISE_OK;
    if (pz_json_length(&target) == 0) {
        status = pz_json_string(&target, &text);
        say(s, status == POISE_OK ? text : "");
        return status;
    }
    for (size_t i = 0; i < pz_json_length(&target) && status == POISE_OK; ++i) {
        pz_item item = pz_json_at(&target, i);
        double number = 0;
        status = pz_json_number(&item, &number);
        say_number(s, number);
    }
    return status;
}

// A misspelt member would be left out quietly.
static poise_status check_members(const pz_item *object, const char *const *known, int count)
{
    poise_status status = pz_json_need_object(object);
    for (int i = 0; status == POISE_OK && i < pz_json_member_count(object); ++i) {
        pz_item member = pz_json_member(object, i);
        bool is_known = false;
        for (int k = 0; k < count && !is_known; ++k) {
            is_known = strcmp(member.key, known[k]) == 0;
        }
        if (!is_known) {
            status = pz_json_fail(&member, POISE_ERROR_FORMAT,
                                  "a pin has goal, from, to, fade, fade_out and keys, a key "
                                  "time and target; this is not one of them");
        }
    }
    return status;
}

static poise_status say_pin(const pz_item *pin, sentence *s)
{
    static const char *const known[] = {"goal", "from", "to", "fade", "fade_out", "keys"};
    static const char *const key_known[] = {"time", "target"};
    const char *goal = "";
    pz_item text = pz_json_get(pin, "goal"), keys = pz_json_get(pin, "keys");
    poise_status status = check_members(pin, known, 6);
    status = status == POISE_OK ? pz_json_string(&text, &goal) : status;
    say(s, goal);
    for (size_t i = 0; i < pz_json_length(&keys) && status == POISE_OK; ++i) {
        pz_item key = pz_json_at(&keys, i);
        status = check_members(&key, key_known, 2);
        status = status == POISE_OK ? say_time(&key, "time", "key", s) : status;
        status = status == POISE_OK ? say_target(&key, s) : status;
    }
    status = status == POISE_OK ? say_time(pin, "from", "from", s) : status;
    status = status == POISE_OK ? say_time(pin, "to", pz_json_get(pin, "from").value ? "to" : "until", s) : status;
    status = status == POISE_OK ? say_time(pin, "fade", "fade", s) : status;
    status = status == POISE_OK ? say_time(pin, "fade_out", pz_json_get(pin, "fade").value ? "" : "fade 0.25", s) : status;
    if (status == POISE_OK && s->is_full) {
        status =
            pz_json_fail(pin, POISE_ERROR_FORMAT, "the pin is longer than %d characters; split it into several", MOST_WORDS);
    }
    return status;
}

static poise_status read_pins(poise_pin_list *list_open, const poise_goal_words *words, const poise_clip *clip,
                              const pz_item *pins)
{
    poise_status status = pz_json_need_array(pins);
    for (size_t i = 0; i < pz_json_length(pins) && status == POISE_OK; ++i) {
        sentence s = {.length = 0};
        poise_error error = {.text = ""};
        pz_item pin = pz_json_at(pins, i);
        status = say_pin(&pin, &s);
        if (status == POISE_OK) {
            status = poise_pin_list_parse(list_open, words, clip, s.text, &error);
            status = status == POISE_OK ? status : pz_json_fail_as(&pin, status, &error);
        }
    }
    return status;
}

poise_status poise_pin_list_read(poise_pin_list *pins, const poise_goal_words *words, const poise_clip *clip,
                                 const void *bytes, size_t size, poise_error *error)
{
    if (!pins || !words || !words->model || (!bytes && size > 0)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, words, model and bytes must not be NULL");
    }
    poise_read_options options = {0};
    poise_file file = {0};
    const poise_allocator *allocator = ((list *)pins)->own.pool.allocator;
    pz_input input = {.bytes = bytes,
                      .size = size,
                      .options = &options,
                      .allocator = allocator,
                      .pool = {.allocator = allocator},
                      .kept = {.allocator = allocator},
                      .file = &file,
                      .error = error};
    pz_json json;
    poise_status status = pz_json_load(&input, bytes, size, 0, &json);
    if (status == POISE_OK) {
        pz_item root = pz_json_root(&json), list_item = pz_json_get(&root, "pins");
        status = read_pins(pins, words, clip, &list_item);
        pz_json_release(&json);
    }
    pz_pool_release(&input.kept);
    pz_pool_release(&input.pool);
    return status;
}
