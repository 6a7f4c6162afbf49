// Lists of pins, from words and from JSON.
#include "base/arena.h"
#include "io/goals/pin_words.h"
#include "io/goals/word_list.h"
#include "io/json.h"

#include <string.h>

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
    pz_pin_reader *r = user;
    r->word = word;
    r->count = count;
    r->number = number;
    return pz_pin_read(r, pin);
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
    pz_pin_reader r = {.words = words, .clip = clip, .kept = &l->own.pool, .error = error};
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
