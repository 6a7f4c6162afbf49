// Goals in words: every kind means the goal of the library that it names, and what is not understood is pointed at.
#include "support/goal_facts.h"

#include <poise/io.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "support/io_check.h"

#define DEGREE (3.14159265358979323846 / 180)

static poise_model *arm, *body;
static double start[64];

// Before the tests begin.
__attribute__((constructor)) static void make_models(void)
{
    scene_create("arm6", NULL, &arm, NULL);
    scene_create("humanoid", NULL, &body, NULL);
}

static bool give_posture(const void *user, const char *name, double *q, poise_error *error)
{
    if (strcmp(name, "bent") != 0) {
        snprintf(error->text, sizeof error->text, "there is no %s", name);
        return false;
    }
    for (int i = 0; i < poise_model_info(user).nq; ++i) {
        q[i] = 0.1 * i;
    }
    return true;
}

static poise_goal_words words_of(const poise_model *model)
{
    return (poise_goal_words){.model = model, .q_start = start, .posture = give_posture, .user = model};
}

static poise_goal_list *make_list(void)
{
    poise_goal_list *list;
    ck_assert_int_eq(poise_goal_list_create(NULL, &list, NULL), POISE_OK);
    return list;
}

// The only goal of a text; its numbers are kept until the next one.
static poise_goal parse(const poise_model *model, const char *text)
{
    static poise_goal_list *list;
    poise_error error = {.text = ""};
    poise_goal_words words = words_of(model);
    poise_goal_list_destroy(list);
    list = make_list();
    poise_status status = poise_goal_list_parse(list, &words, text, &error);
    ck_assert_msg(status == POISE_OK && list->count == 1, "%s: %s", text, error.text);
    ck_assert_str_eq(list->texts[0], text);
    return list->goals[0];
}

static void refuse(const char *text, const char *why)
{
    poise_goal_list *list = make_list();
    poise_error error = {.text = ""};
    poise_goal_words words = words_of(arm);
    ck_assert_msg(poise_goal_list_parse(list, &words, text, &error) == POISE_ERROR_FORMAT, "%s: was taken", text);
    ck_assert_msg(strstr(error.text, why) != NULL, "%s: said \"%s\", not \"%s\"", text, error.text, why);
    poise_goal_list_destroy(list);
}

// Two goals that the solvers cannot tell apart.
static void check_same(const poise_goal *a, const poise_goal *b)
{
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_int_eq(a->body, b->body);
    ck_assert_int_eq(a->body2, b->body2);
    ck_assert_int_eq(a->priority, b->priority);
    ck_assert_int_eq(a->loss, b->loss);
    ck_assert(a->weight == b->weight && a->rotation_weight == b->rotation_weight && a->distance == b->distance);
    ck_assert(memcmp(&a->local, &b->local, sizeof a->local) == 0);
    ck_assert(memcmp(&a->target, &b->target, sizeof a->target) == 0);
    ck_assert(memcmp(&a->axis, &b->axis, sizeof a->axis) == 0);
    ck_assert(memcmp(&a->direction, &b->direction, sizeof a->direction) == 0);
    ck_assert(memcmp(&a->tolerance, &b->tolerance, sizeof a->tolerance) == 0);
}

TEST(each_kind_is_the_goal_of_its_constructor)
{
    int elbow = poise_model_find_body(arm, "elbow"), wrist = poise_model_find_body(arm, "wrist");
    poise_vec3 o = {0, 0, 0}, p = {0.1, 0.2, 0.3}, z = {0, 0, 1}, x = {1, 0, 0};
    poise_pose frame = {.rotation = poise_quat_from_roll_pitch_yaw(0, 90 * DEGREE, 0), .position = p};
    struct {
        const char *text;
        poise_goal goal;
    } cases[] = {
        {"position elbow 0.1 0.2 0.3", poise_goal_position(elbow, o, p)},
        {"position elbow to 0.1, 0.2, 0.3 at 0 0 1", poise_goal_position(elbow, z, p)},
        {"direction elbow along 1 0 0", poise_goal_direction(elbow, z, x)},
        {"direction elbow to z axis x", poise_goal_direction(elbow, x, z)},
        {"aim elbow to 0.1 0.2 0.3 axis 2 0 0 at 0 0 1", poise_goal_aim(elbow, z, x, p)},
        {"plane elbow through 0.1 0.2 0.3 normal +z", poise_goal_plane(elbow, o, p, z)},
        {"line elbow through 0.1 0.2 0.3 along x at 1 0 0", poise_goal_line(elbow, x, p, x)},
        {"distance elbow 0.5 from 0.1 0.2 0.3", poise_goal_distance(elbow, o, p, 0.5)},
        {"orientation elbow rpy 0 90 0 deg", poise_goal_orientation(elbow, frame.rotation)},
        {"pose elbow 0.1 0.2 0.3 rpy 0 90 0 deg", poise_goal_pose(elbow, poise_pose_identity(), frame)},
        {"relative elbow to wrist 0.1 0.2 0.3 rpy 0 90 0 deg",
         poise_goal_relative(elbow, poise_pose_identity(), wrist, frame)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        poise_goal goal = parse(arm, cases[i].text);
        check_same(&goal, &cases[i].goal);
    }
    poise_goal balance = parse(body, "balance 0.1 0.2 0.3"), mass = poise_goal_center_of_mass(p);
    check_same(&balance, &mass);
}

// Every kind, with every option that it takes, from words through a file and back to the same bits; options that it does not
// take are refused, and so is a kind that has no words.
TEST_ROWS(every_kind_goes_through_words_and_files, POISE_GOAL_KIND_COUNT)
{
    const goal_facts *facts = &goal_rows[test_row];
    const poise_model *model = test_row == POISE_GOAL_CENTER_OF_MASS ? body : arm;
    const struct {
        const char *words;
        bool is_taken;
    } options[] = {
        {"", true},
        {" weight 2.5 priority 3", true},
        {" huber 0.5", facts->takes_loss},
        {" geman-mcclure 0.25", facts->takes_loss},
        {" tolerance 0.1 free 0.5", facts->takes_band},
        {" rotation-tolerance 5 free 10 deg", facts->takes_rotation_band},
    };
    for (size_t i = 0; i < TEST_COUNT(options) && facts->words; ++i) {
        char text[256];
        poise_error error = {.text = ""};
        poise_goal_words words = words_of(model);
        snprintf(text, sizeof text, "%s%s", facts->words, options[i].words);
        poise_goal_list *list = make_list();
        poise_status status = poise_goal_list_parse(list, &words, text, &error);
        ck_assert_msg((status == POISE_OK) == options[i].is_taken, "%s: %s", text, error.text);
        if (status == POISE_OK) {
            ck_assert_int_eq(list->goals[0].kind, test_row);
            poise_file file = {
                .model = (poise_model *)model, .goals = list->goals, .goal_count = 1, .scale = {1.0, POISE_UP_Y}};
            io_round_trip(&file, POISE_FORMAT_JSON, 0);
        }
        poise_goal_list_destroy(list);
    }
}

TEST(options_set_their_members)
{
    poise_goal g = parse(arm, "position elbow 1 2 3 weight 2.5 priority 3 tolerance 0.1 free 0 geman-mcclure 0.5");
    ck_assert(g.weight == 2.5 && g.priority == 3 && g.loss == POISE_LOSS_GEMAN_MCCLURE && g.loss_scale == 0.5);
    ck_assert(g.tolerance.x == 0.1 && isinf(g.tolerance.y) && g.tolerance.z == 0);
    g = parse(arm, "position elbow 1 2 3 huber 0.25 tolerance 0.5");
    ck_assert(g.loss == POISE_LOSS_HUBER && g.loss_scale == 0.25 && g.tolerance.y == 0.5);
    g = parse(arm, "pose elbow 1 2 3 turn z 1 rad rotation-weight 0.5 rotation-tolerance 60 free 0 deg");
    ck_assert(g.rotation_weight == 0.5 && isinf(g.rotation_tolerance.y) && g.rotation_tolerance.z == 0);
    ck_assert_double_eq_tol(g.rotation_tolerance.x, 1, 1e-15); // 2 sin(60 / 2 degrees), one rounding each
}

TEST(three_ways_to_write_a_rotation_agree)
{
    poise_quat a = parse(arm, "orientation elbow rpy 0 0 90 deg").target.rotation;
    poise_quat b = parse(arm, "orientation elbow turn 0 0 5 1.5707963267948966 rad").target.rotation;
    poise_quat c = parse(arm, "orientation elbow quaternion 0 0 2 2").target.rotation;
    double most = fmax(fabs(a.z - b.z) + fabs(a.w - b.w), fabs(a.z - c.z) + fabs(a.w - c.w));
    ck_assert_double_le(most, 4 * 2.3e-16); // two numbers near 0.7, each to an ulp or two
    ck_assert(a.x == 0 && b.x == 0 && c.y == 0);
    poise_quat d = parse(arm, "orientation elbow quaternion 2 4 5 6").target.rotation; // whose length is 9
    ck_assert(d.x == 2.0 / 9 && d.y == 4.0 / 9 && d.z == 5.0 / 9 && d.w == 6.0 / 9);
}

// The tool's frame stands for the body's: its point, and axes turned with it.
TEST(a_tool_is_a_frame_of_its_own)
{
    int tool = poise_model_find_tool(arm, "tip");
    poise_pose frame = poise_model_tool_info(arm, tool).pose;
    poise_goal g = parse(arm, "position tip 1 2 3 at 0 0 0.5");
    poise_vec3 point = poise_pose_transform(frame, poise_vec3_make(0, 0, 0.5));
    ck_assert_int_eq(g.body, poise_model_tool_info(arm, tool).body);
    ck_assert(memcmp(&g.local.position, &point, sizeof point) == 0);
    poise_vec3 z = poise_quat_rotate(frame.rotation, poise_vec3_make(0, 0, 1));
    g = parse(arm, "aim tip to 1 2 3");
    ck_assert(memcmp(&g.axis, &z, sizeof z) == 0);
}

TEST(soft_goals_hold_numbers_of_their_own)
{
    start[0] = 0.75;
    poise_goal g = parse(arm, "stay weight 0.5");
    ck_assert(g.kind == POISE_GOAL_SMOOTHNESS && g.q && g.q != start && g.q[0] == 0.75);
    g = parse(arm, "posture neutral");
    ck_assert(g.kind == POISE_GOAL_POSTURE && g.q[0] == 0);
    g = parse(arm, "posture bent");
    ck_assert(g.q[5] == 0.5);
    g = parse(arm, "posture 1 2 3 4 5 -6 weight 0.1");
    ck_assert(g.q[5] == -6 && g.weight == 0.1);
}

TEST(semicolons_separate_goals_and_quotes_keep_spaces)
{
    poise_goal_list *list = make_list();
    poise_error error;
    poise_goal_words words = words_of(arm);
    const char *two = " position 'elbow' 1 2 3 ;; aim \"elbow\" to 0 0 1; ";
    ck_assert_int_eq(poise_goal_list_parse(list, &words, two, &error), POISE_OK);
    ck_assert_int_eq(list->count, 2);
    ck_assert_str_eq(list->texts[0], "position 'elbow' 1 2 3");
    ck_assert_str_eq(list->texts[1], "aim \"elbow\" to 0 0 1");
    ck_assert_int_eq(poise_goal_list_parse(list, &words, "stay", &error), POISE_OK);
    ck_assert_int_eq(list->count, 3);
    ck_assert_int_eq(poise_goal_list_parse(list, &words, "stay; stay now", &error), POISE_ERROR_FORMAT);
    ck_assert_str_eq(error.text, "goal 5, word 2: \"now\" is not an option of a goal; \"poise help goals\" lists them");
    ck_assert_int_eq(list->count, 4);
    poise_goal_list_destroy(list);
}

// More goals than a list begins with room for; one that was added keeps its text.
TEST(a_list_grows_and_takes_goals_from_elsewhere)
{
    poise_goal_list *list = make_list();
    poise_goal_words words = {.model = arm};
    poise_goal mine = poise_goal_position(1, (poise_vec3){0, 0, 0}, (poise_vec3){1, 2, 3});
    for (int i = 0; i < 50; ++i) {
        ck_assert_int_eq(poise_goal_list_parse(list, &words, "posture 1 2 3 4 5 6", NULL), POISE_OK);
        ck_assert_int_eq(poise_goal_list_add(list, &mine, " mine ", NULL), POISE_OK);
    }
    ck_assert_int_eq(list->count, 100);
    ck_assert(list->goals[98].q[5] == 6 && list->goals[1].target.position.z == 3);
    ck_assert_str_eq(list->texts[99], "mine");
    ck_assert_int_eq(poise_goal_list_parse(NULL, &words, "stay", NULL), POISE_ERROR_ARGUMENT);
    poise_goal_list_destroy(list);
    poise_goal_list_destroy(NULL);
}

TEST(what_is_not_understood_is_pointed_at)
{
    refuse("", "goal 1: is empty");
    refuse(" ; ; ", "goal 1: is empty");
    refuse("postion elbow 1 2 3", "word 1: there is no goal \"postion\"; did you mean \"position\"?");
    refuse("position elbwo 1 2 3", "word 2: no body, joint or tool is called \"elbwo\"; did you mean \"elbow\"?");
    refuse("position elbow 1 2", "word 5: the target needs 3 numbers, but there are 2");
    refuse("position elbow 1 inf 2", "word 4: \"inf\" is not a number");
    refuse("position elbow 1 2 3 4", "word 6: 4 is one number too many");
    refuse("position elbow 1 2 3 wieght 2", "did you mean \"weight\"?");
    refuse("position elbow 1 2 3 weight", "word 7: weight needs 1 number, but there are 0");
    refuse("position elbow 1 2 3 weight 2 weight 3", "word 8: weight is given twice");
    refuse("position elbow 1 2 3 axis z", "word 6: a \"position\" goal has no axis");
    refuse("position elbow 1 2 3 tolerance -1", "word 7: a tolerance must not be negative");
    refuse("position elbow 1 2 3 huber 0", "word 7: huber needs a length > 0");
    refuse("pose elbow 1 2 3 rpy 0 0 0", "word 10: write deg or rad");
    refuse("direction elbow along 0 0 0", "word 4: the direction has zero length");
    refuse("orientation elbow quaternion 0 0 0 1e-200", "zero or not finite");
    refuse("relative elbow 1 2 3", "relative BODY to BODY");
    refuse("posture folded", "word 2: there is no folded");
    refuse("balance 0 0 1", "no mass");
    refuse("position 'elbow 1 2 3", "a quote is not closed");
}

// A goal from a file, told in the words that a user would write.
TEST(a_description_reads_back_as_the_goal)
{
    const char *texts[] = {"position elbow 0.1 0.2 0.3", "position tip 0.1 0.2 0.3"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        char text[256];
        poise_goal g = parse(arm, texts[i]);
        poise_goal_describe(&g, arm, text, sizeof text);
        ck_assert_str_eq(text, texts[i]);
    }
}

// Any bytes: an answer or a reason, and nothing leaks or breaks.
TEST(words_in_any_order_do_no_harm)
{
    static const char *const words[] = {"position", "elbow",  "1",         "to",      "rpy",      "deg", "tip",
                                        ";",        "weight", "'",         "posture", "relative", "-x",  "at",
                                        "",         "free",   "tolerance", "1e999",   "stay",     "\x80"};
    enum { WORDS = sizeof words / sizeof words[0], ROUNDS = 20000 };
    uint64_t state = 1;
    poise_goal_words language = words_of(arm);
    int taken = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        char text[256] = "";
        poise_error error = {.text = ""};
        for (int i = 0; i <= round % 8; ++i) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            strcat(strcat(text, words[(state >> 33) % WORDS]), " ");
        }
        poise_goal_list *list = make_list();
        bool works = poise_goal_list_parse(list, &language, text, &error) == POISE_OK;
        ck_assert_msg(works == !error.text[0], "%s", text);
        taken += works;
        poise_goal_list_destroy(list);
    }
    ck_assert_int_gt(taken, 0);
}

// ---- Pin text -----------------------------------------------------------------------------------------------------------
//
// Pins in words and in JSON: what is said is what is meant, and what is not understood is pointed at.

static poise_clip clip = {.frames = 500, .frame_time = 0.01, .start_time = 1};

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
