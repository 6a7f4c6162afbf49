// Pins in words and in JSON: what is said is what is meant, and what is not understood is pointed at.
#include "support/io_check.h"

#include <poise/io.h>
#include <scenes/scenes.h>

#include <math.h>
#include <string.h>

static poise_model *body;
static poise_clip clip = {.frames = 500, .frame_time = 0.01, .start_time = 1};

__attribute__((constructor)) static void make_model(void)
{
    scene_create("humanoid", NULL, &body, NULL);
}

static poise_pin_list *parse_list(const char *text, bool is_json, poise_error *error)
{
    static poise_pin_list *list;
    poise_goal_words words = {.model = body};
    poise_pin_list_destroy(list);
    ck_assert_int_eq(poise_pin_list_create(NULL, &list, NULL), POISE_OK);
    error->text[0] = '\0';
    poise_status status = is_json ? poise_pin_list_read(list, &words, &clip, text, strlen(text), error)
                                  : poise_pin_list_parse(list, &words, &clip, text, error);
    ck_assert_int_eq(status == POISE_OK, error->text[0] == '\0');
    return list;
}

TEST(words_mean_pins)
{
    static const struct {
        const char *text;
        poise_goal_kind kind;
        poise_pin_target target;
        double from, to, fade_in, fade_out;
        int keys;
    } rows[] = {
        {"left_hand 1 2 3 from 2 s to 3 s fade 0.2", POISE_GOAL_POSITION, POISE_PIN_GIVEN, 2, 3, 0.2, 0.2, 0},
        {"position left_hand to 1 2 3 weight 2 from 2s to 3s", POISE_GOAL_POSITION, POISE_PIN_GIVEN, 2, 3, 0.25, 0.25, 0},
        {"left_hand 1 2 3", POISE_GOAL_POSITION, POISE_PIN_GIVEN, -INFINITY, INFINITY, 0.25, 0.25, 0},
        {"left_hand 1 2 3 from 100f to 200 frames fade 10f 0.5", POISE_GOAL_POSITION, POISE_PIN_GIVEN, 2, 3, 0.1, 0.5, 0},
        {"left_hand 1 2 3 rpy 0 90 0 deg from 2", POISE_GOAL_POSE, POISE_PIN_GIVEN, 2, INFINITY, 0.25, 0.25, 0},
        {"left_foot where it is until 3", POISE_GOAL_POSE, POISE_PIN_HERE, -INFINITY, 3, 0.25, 0.25, 0},
        {"position left_foot on its path", POISE_GOAL_POSITION, POISE_PIN_PATH, -INFINITY, INFINITY, 0.25, 0.25, 0},
        {"orientation head where it is from 2 to 3", POISE_GOAL_ORIENTATION, POISE_PIN_HERE, 2, 3, 0.25, 0.25, 0},
        {"distance left_hand 0.5 from 1 2 3 from 2 to 3", POISE_GOAL_DISTANCE, POISE_PIN_GIVEN, 2, 3, 0.25, 0.25, 0},
        {"aim head to 1 0 1.5 axis z from 2 to 3 fade 0", POISE_GOAL_AIM, POISE_PIN_GIVEN, 2, 3, 0, 0, 0},
        {"left_hand key 2 s 1 2 3 key 3 s 4 5 6 fade 1", POISE_GOAL_POSITION, POISE_PIN_GIVEN, -INFINITY, INFINITY, 1, 1, 2},
        {"posture neutral from 2 to 3", POISE_GOAL_POSTURE, POISE_PIN_GIVEN, 2, 3, 0.25, 0.25, 0},
        {"posture where it is from 2 to 3", POISE_GOAL_POSTURE, POISE_PIN_HERE, 2, 3, 0.25, 0.25, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        poise_error error;
        const poise_pin_list *list = parse_list(rows[i].text, false, &error);
        ck_assert_msg(list->count == 1, "%s: %s", rows[i].text, error.text);
        const poise_pin *p = list->pins;
        ck_assert_str_eq(list->texts[0], rows[i].text);
        ck_assert_msg(p->goal.kind == rows[i].kind && p->target == rows[i].target, "%s", rows[i].text);
        ck_assert_msg(p->from == rows[i].from && p->to == rows[i].to && fabs(p->fade_in - rows[i].fade_in) < 1e-15 &&
                          fabs(p->fade_out - rows[i].fade_out) < 1e-15 && p->key_count == rows[i].keys,
                      "%s", rows[i].text);
    }
}

TEST(keys_have_their_targets)
{
    poise_error error;
    const poise_pin_list *list = parse_list("left_hand at 0 0 0.1 key 2 s 1 2 3 key 250f 4 5 6", false, &error);
    ck_assert_msg(list->count == 1, "%s", error.text);
    const poise_pin_key *k = list->pins[0].keys;
    ck_assert(k[0].time == 2 && k[0].goal.target.position.y == 2 && k[0].goal.local.position.z == 0.1);
    ck_assert(fabs(k[1].time - 3.5) < 1e-12 && k[1].goal.target.position.z == 6 && k[1].goal.local.position.z == 0.1);
}

TEST(what_is_wrong_is_pointed_at)
{
    static const struct {
        const char *text, *says;
        bool is_json;
    } rows[] = {
        {"left_hnad 1 2 3", "pin 1, word 1: no body, joint or tool is called \"left_hnad\"; did you mean \"left_hand\"?",
         false},
        {"left_hand 1 2 3; left_hand 1 2 from 2 to 3", "pin 2, word 8: the target needs 3 numbers, but there are 2", false},
        {"left_hand 1 2 3 from 3 to 2", "pin 1: ends (2 s) before it begins (3 s)", false},
        {"left_hand 1 2 3 from 2 to there", "pin 1, word 8: a time is needed here", false},
        {"left_hand 1 2 3 fade -1", "pin 1, word 6: a fade is a time >= 0", false},
        {"left_hand key 2 1 2 3 key 2 1 2 3", "keys must be in order of time", false},
        {"left_hand on 1 2 3", "pin 1, word 2: ", false},
        {"plane left_hand where it is", "\"plane\" cannot be taken from the clip", false},
        {"", "is empty", false},
        {"{\"pins\": [{\"goal\": \"left_hand 1 2 3\", \"form\": 2}]}", "pins[0].form", true},
        {"{\"pins\": [{\"goal\": \"left_hand 1 2\"}]}", "pins[0]: pin 1", true},
        {"{\"pin\": []}", "pins", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        poise_error error;
        parse_list(rows[i].text, rows[i].is_json, &error);
        ck_assert_msg(strstr(error.text, rows[i].says) != NULL, "%s: %s", rows[i].text, error.text);
    }
}

TEST(json_says_the_same)
{
    poise_error error;
    const poise_pin_list *list =
        parse_list("{\"pins\": [{\"goal\": \"left_hand 1 2 3\", \"from\": 2, \"to\": 3, \"fade\": 0.2, \"fade_out\": 0.4},"
                   "{\"goal\": \"left_foot where it is\", \"to\": 3, \"fade_out\": 0.1},"
                   "{\"goal\": \"left_hand\", \"keys\": [{\"time\": 4, \"target\": [1.25, 0.3, 0.9]},"
                   "{\"time\": 5, \"target\": \"1 2 3\"}]}]}",
                   true, &error);
    ck_assert_msg(list->count == 3, "%s", error.text);
    const poise_pin *p = list->pins;
    ck_assert(p[0].from == 2 && p[0].to == 3 && p[0].fade_in == 0.2 && p[0].fade_out == 0.4);
    ck_assert(p[1].target == POISE_PIN_HERE && p[1].to == 3 && p[1].fade_in == 0.25 && p[1].fade_out == 0.1);
    ck_assert(p[2].key_count == 2 && p[2].keys[0].goal.target.position.x == 1.25 && p[2].keys[1].time == 5);
}
