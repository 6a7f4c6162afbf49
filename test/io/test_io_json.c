// The Poise JSON format: document_json comes back with the same bits, every mistake gets a line and a fix.
#include "documents.h"
#include "support/goal_facts.h"
#include "support/io_check.h"
#include "support/random_goals.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#define JSON POISE_FORMAT_JSON

TEST(a_file_with_everything_reads_as_written_down)
{
    poise_file *file = io_read_text(document_json, JSON, NULL);
    ck_assert_int_eq(file->warning_count, 0);
    ck_assert_str_eq(file->title, "arm \"\xC3\xA9\"");
    ck_assert_int_eq(file->scale.up, POISE_UP_Z);
    ck_assert(file->scale.metres == 0.01);
    ck_assert_int_eq(poise_model_info(file->model).nq, 11);
    poise_joint elbow = *poise_model_joint_info(file->model, 1).given;
    ck_assert_str_eq(elbow.body, "arm");
    ck_assert(elbow.axis.y == 0.6 && elbow.axis.z == 0.8 && elbow.lower[0] == -1.5 && elbow.upper[0] == 2);
    poise_joint wrist = *poise_model_joint_info(file->model, 2).given;
    ck_assert(wrist.lower[0] == -INFINITY && wrist.upper[1] == INFINITY && wrist.upper[2] == 1 && wrist.swing[1] == 0.75);
    ck_assert(wrist.mass_center.z == 1e-300);
    ck_assert(poise_model_joint_info(file->model, 3).given->mimic_multiplier == -0.1);
    ck_assert(signbit(poise_model_tool_info(file->model, 0).pose.position.y));
    ck_assert_int_eq(file->clip->frames, 2);
    ck_assert(file->clip->q[21] == 5e-324 && file->clip->start_time == -1);
    ck_assert(!poise_markers_seen(file->markers, 0, 1) && poise_markers_seen(file->markers, 1, 1));
    ck_assert(signbit(file->markers->position[3].z) && file->markers->residual[3] == 0.125f);
    ck_assert(file->markers->residual[1] != file->markers->residual[1]);
    ck_assert_int_eq(file->posture_count, 2);
    ck_assert_str_eq(file->postures[1].name, "bent");
    ck_assert(file->postures[1].q[7] == 1);
    ck_assert_int_eq(file->goal_count, 3);
    ck_assert_int_eq(file->goals[0].body, 3);
    ck_assert(file->goals[0].local.position.x == 0.1 && file->goals[0].tolerance.y == INFINITY);
    ck_assert(file->goals[1].q_weights[9] == 0 && !file->goals[1].q_before);
    ck_assert(file->goals[2].axis.z == 1);
    ck_assert_int_eq(file->placement_count, 2);
    ck_assert(file->placements[0].weight == 2 && file->placements[1].local.x != file->placements[1].local.x);
    io_round_trip(file, JSON, 0);
}

// Numbers that are easily lost: of every size, with both signs of zero.
static double hard_number(scene_random *random)
{
    static const double few[] = {0.0, -0.0, 5e-324, -2.2250738585072014e-308, 0.1, 1e22, 9007199254740993.0, 1e-5, 123456.7};
    double pick = scene_random_uniform(random);
    return pick < 0.2 ? few[(int)(pick * 5 * 8.99)] : scene_random_range(random, -1, 1) * ldexp(1, (int)(pick * 200) - 100);
}

TEST(random_models_goals_and_clips_come_back_with_the_same_bits)
{
    scene_random random = scene_random_make(20261115);
    for (int round = 0; round < 40; ++round) {
        poise_model *model = random_model(&random, 1 + round, RANDOM_LIMITS | RANDOM_MIMICS | RANDOM_FOREST | RANDOM_CURVES);
        random_goals goals;
        random_goals_make(&random, model, &goals);
        int nq = poise_model_info(model).nq;
        poise_clip *clip = NULL;
        ck_assert_int_eq(poise_clip_create(3, nq, 1.0 / 3.0, NULL, &clip, NULL), POISE_OK);
        for (int f = 0; f < 3; ++f) {
            poise_model_neutral(model, clip->q + f * nq);
        }
        for (int i = 0; i < 3 * nq; ++i) {
            clip->q[i] += hard_number(&random);
        }
        poise_markers *markers = NULL;
        ck_assert_int_eq(poise_markers_create(2, 3, 59.94, NULL, NULL, &markers, NULL), POISE_OK);
        for (int i = 0; i < 5; ++i) {
            markers->position[i] = (poise_vec3){hard_number(&random), hard_number(&random), hard_number(&random)};
        }
        poise_posture posture = {"p", clip->q};
        // the callback cannot be in a file, nor a goal that does not suit the model: a centre of mass without mass
        poise_goal kept[RANDOM_GOALS];
        int count = 0;
        for (int i = 0; i < RANDOM_GOALS; ++i) {
            bool suits = poise_goal_check(&goals.goals[i], model, NULL) == POISE_OK;
            if (suits && goals.goals[i].kind != POISE_GOAL_CALLBACK) {
                kept[count++] = goals.goals[i];
            }
        }
        poise_file file = {.model = model,
                           .clip = clip,
                           .markers = markers,
                           .goals = kept,
                           .goal_count = count,
                           .postures = &posture,
                           .posture_count = 1,
                           .scale = {1.0 / 3.0, POISE_UP_X}};
        ck_assert_int_ge(count, RANDOM_GOALS - 2);
        io_round_trip(&file, JSON, 0);
        poise_markers_destroy(markers);
        poise_clip_destroy(clip);
        poise_model_destroy(model);
    }
}

TEST(every_level_of_a_file_is_indented_by_two)
{
    poise_file *file = io_read_text(document_json, JSON, NULL);
    io_bytes text = io_write(file, JSON, 0);
    int depth = 0;
    ck_assert_int_eq(text.bytes[0], '{');
    for (size_t i = 0; i < text.size; ++i) {
        int c = text.bytes[i];
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        if (c == '\n' && i + 1 < text.size) {
            size_t spaces = strspn((const char *)text.bytes + i + 1, " ");
            int first = text.bytes[i + 1 + spaces];
            int inner = first == '}' || first == ']' ? depth - 1 : depth;
            ck_assert_msg(spaces == 2 * (size_t)inner, "%zu spaces in depth %d", spaces, inner);
        }
    }
}

TEST(a_callback_goal_is_left_out_with_a_warning)
{
    poise_error error = {.text = ""};
    poise_file *file = io_read_text(document_json, JSON, NULL);
    poise_goal goal = poise_goal_callback(0, goal_spring, NULL);
    poise_file given = {.model = file->model, .goals = &goal, .goal_count = 1};
    poise_warning warnings[4];
    int count = 4;
    void *bytes = NULL;
    size_t size = 0;
    ck_assert_int_eq(poise_write(&given, JSON, NULL, &bytes, &size, warnings, &count, &error), POISE_OK);
    ck_assert_int_eq(count, 1);
    ck_assert(strstr(warnings[0].text, "function"));
    ck_assert(strstr(bytes, "\"goals\": []"));
    poise_bytes_release(NULL, bytes);
    count = 0, warnings[0].text[0] = '\0'; // one without room is counted
    ck_assert_int_eq(poise_write(&given, JSON, NULL, &bytes, &size, warnings, &count, &error), POISE_OK);
    ck_assert(count == 1 && warnings[0].text[0] == '\0');
    poise_bytes_release(NULL, bytes);
}

TEST(what_cannot_be_written_is_refused_with_a_reason)
{
    poise_error error = {.text = ""};
    poise_file *file = io_read_text(document_json, JSON, NULL);
    void *bytes = NULL;
    size_t size = 0;
    double q[11] = {0};
    poise_posture zero = {"zero quaternion", q};
    poise_goal goal = poise_goal_position(99, poise_vec3_make(0, 0, 0), poise_vec3_make(0, 0, 0));
    poise_placement nowhere = {"A", 99, {0, 0, 0}, 1};
    poise_clip infinite = *file->clip;
    infinite.q = q;
    infinite.frames = 1;
    q[3] = INFINITY;
    poise_markers far_off = {.frames = 1, .count = 2, .rate = 100, .label = (const char *[]){"A", "B"}};
    far_off.position = (poise_vec3[]){{0, INFINITY, 0}, {0, 0, 0}};
    poise_clip narrow = *file->clip;
    narrow.nq = 10;
    poise_clip still = *file->clip;
    still.frame_time = 0;
    struct {
        poise_file file;
        const char *words;
    } cases[] = {
        {{.goals = &goal, .goal_count = 1}, "the file has none"},
        {{.model = file->model, .goals = &goal, .goal_count = 1}, "body 99 does not exist"},
        {{.model = file->model, .postures = &zero, .posture_count = 1}, "posture 0"},
        {{.model = file->model, .placements = &nowhere, .placement_count = 1}, "placement 0"},
        {{.model = file->model, .clip = &infinite}, "not finite"},
        {{.model = file->model, .clip = &narrow}, "10 coordinates"},
        {{.clip = &still}, "frame_time"},
        {{.markers = &far_off}, "frame of the markers 0: a position is infinite"},
        {{.scale = {NAN, POISE_UP_X}}, "metres"},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        error.text[0] = '\0';
        ck_assert_int_eq(poise_write(&cases[i].file, JSON, NULL, &bytes, &size, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
        ck_assert_msg(strstr(error.text, cases[i].words) != NULL, "%s", error.text);
    }
}

#define MODEL(joint) "{\"poise\": 1, \"model\": {\"joints\": [\n{\"name\": \"a\"},\n{\"name\": \"b\"" joint "}]}}"
#define AFTER(part)  "{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"a\", \"type\": \"ball_quaternion\"}]},\n" part "}"

static const io_case mistakes[] = {
    {"", 1, "not JSON"},
    {"{\"poise\": 1,\n\"model\" 3}", 2, "not JSON: ':' expected"},
    {"{\"poise\": 1,\n\"title\": \"a\",\n\"title\": \"b\"}", 3, "duplicate object key"},
    {"{\"poise\": 1e999}", 1, "real number overflow"},
    {"{\"poise\": 1} {", 1, "end of file expected"},
    {"[]", 1, "an array instead of an object"},
    {"{}", 1, "poise: missing; a Poise file begins"},
    {"{\"poise\": 2}", 1, "poise: version 2; only version 1"},
    {"{\"poise\": 1.5}", 1, "whole number"},
    {"{\"poise\": 1, \"title\": 3}", 1, "title: a number instead of a text"},
    {"{\"poise\": 1,\n\"scale\": {\n\"metres\": -1}}", 3, "scale.metres: -1 metres"},
    {"{\"poise\": 1, \"scale\": {\"up\": \"w\"}}", 1, "scale.up: \"w\" is not one of unknown, x, y, z"},
    {"{\"poise\": 1, \"model\": []}", 1, "model: an array"},
    {"{\"poise\": 1, \"model\": {}}", 1, "model.joints: missing; give an array"},
    {"{\"poise\": 1, \"model\": {\"joints\": [3]}}", 1, "model.joints[0]: a number instead of an object"},
    {"{\"poise\": 1, \"model\": {\"joints\": [{}]}}", 1, "model.joints[0].name: missing"},
    {MODEL(", \"type\": \"hinge\""), 3, "model.joints[1].type: \"hinge\" is not one of fixed, revolute"},
    {MODEL(",\n\"type\": \"revolute\", \"axis\": [0, 0, 0]"), 4,
     "model.joints[1].axis: zero length; give a direction such as [0, 0, 1]"},
    {MODEL(", \"type\": \"curve\", \"curve\": {\"turns\": [{\"axis\": [0, 0, 1], \"sine\": [1]}]}"), 3,
     "no function: give it a polynomial, a spline or lines"},
    {MODEL(", \"rotation\": [0, 0, 0, 0]"), 3, "rotation: zero length; give a quaternion"},
    {MODEL(", \"axis\": [0, 0]"), 3, "axis: 2 values instead of 3"},
    {MODEL(", \"axis\": [0, 0, \"z\"]"), 3, "axis[2]: a text instead of a number"},
    {MODEL(", \"type\": \"revolute\", \"lower\": [1.2], \"upper\": [0.4]"), 3, "lower limit 1.2 is above upper limit 0.4"},
    {MODEL(", \"type\": \"planar\", \"lower\": [1]"), 3, "lower: 1 values instead of 3"},
    {MODEL(", \"type\": \"planar\", \"lower\": 1"), 3, "lower: a number instead of an array"},
    {MODEL(", \"mimic\": \"a\""), 3, "mimic: a text instead of an object"},
    {MODEL(", \"mimic\": {}"), 3, "mimic.joint: missing"},
    {MODEL(", \"parent\": \"c\""), 1, "model: "},
    {MODEL("}, {\"name\": \"a\""), 3, "\"a\""},
    {MODEL(", \"order\": \"xxx\""), 3, "order: \"xxx\" is not one of xyz"},
    {AFTER("\"clip\": {\"q\": []}"), 2, "clip.frame_time: missing"},
    {AFTER("\"clip\": {\"frame_time\": 0, \"q\": []}"), 2, "clip.frame_time: 0 instead of a number above 0"},
    {AFTER("\"clip\": {\"frame_time\": 1, \"q\": [[0, 0, 0, 1],\n[0, 0, 0]]}"), 3, "clip.q[1]: 3 values"},
    {AFTER("\"clip\": {\"frame_time\": 1, \"q\": [[0, 0, 0, null]]}"), 2, "clip.q[0][3]: missing"},
    {AFTER("\"clip\": {\"frame_time\": 1, \"q\": [[0, 0, 0, 0]]}"), 2, "clip.q[0]: a quaternion is zero"},
    {AFTER("\"markers\": {\"rate\": 1, \"labels\": [\"A\", 3], \"positions\": []}"), 2, "markers.labels[1]"},
    {AFTER("\"markers\": {\"rate\": 1, \"labels\": [\"A\"], \"positions\": [[]]}"), 2, "markers.positions[0]: 0 values"},
    {AFTER("\"markers\": {\"rate\": 1, \"labels\": [\"A\"], \"positions\": [[[1, 2]]]}"), 2, "positions[0][0]: 2 values"},
    {AFTER("\"markers\": {\"rate\": 1, \"labels\": [\"A\"], \"positions\": [[null]], \"residuals\": [[1e300]]}"), 2,
     "residuals[0][0]: 1e+300 is too large"},
    {AFTER("\"postures\": {\"rest\": [1]}"), 2, "postures.rest: 1 values instead of 4"},
    {"{\"poise\": 1, \"postures\": {\"rest\": [1]}}", 1, "postures without a model"},
    {"{\"poise\": 1, \"goals\": []}", 1, "goals without a model"},
    {"{\"poise\": 1, \"placements\": []}", 1, "placements without a model"},
    {AFTER("\"goals\": [{\"kind\": \"pull\"}]"), 2, "goals[0].kind: \"pull\" is not one of position"},
    {AFTER("\"goals\": [{}]"), 2, "goals[0].kind: missing"},
    {AFTER("\"goals\": [{\"kind\": \"callback\", \"body\": \"a\"}]"), 2, "a file cannot hold a function"},
    {AFTER("\"goals\": [{\"kind\": \"position\"}]"), 2, "goals[0].body: missing"},
    {AFTER("\"goals\": [{\"kind\": \"position\", \"body\": \"hand\"}]"), 2, "the model has no body \"hand\""},
    {AFTER("\"goals\": [{\"kind\": \"position\", \"tool\": \"tip\"}]"), 2, "the model has no tool \"tip\""},
    {AFTER("\"goals\": [{\"kind\": \"position\", \"body\": \"a\", \"weight\": -1}]"), 2, "goals[0]: position goal"},
    {AFTER("\"goals\": [{\"kind\": \"posture\", \"q\": [0]}]"), 2, "goals[0].q: 1 values instead of 4"},
    {AFTER("\"goals\": [{\"kind\": \"position\", \"body\": \"a\", \"loss\": \"l1\"}]"), 2,
     "\"l1\" is not one of none, huber"},
    {AFTER("\"goals\": [{\"kind\": \"position\", \"body\": \"a\", \"priority\": 0.5}]"), 2, "goals[0].priority: 0.5"},
    {AFTER("\"placements\": [{\"body\": \"a\"}]"), 2, "placements[0].label: missing"},
    {AFTER("\"placements\": [{\"label\": \"L\", \"body\": \"b\"}]"), 2, "placements[0].body: the model has no body"},
    {AFTER("\"placements\": [{\"label\": \"L\", \"body\": \"a\", \"weight\": -1}]"), 2, "a weight must not be negative"},
};

TEST_ROWS(every_mistake_has_its_line_its_place_and_a_fix, TEST_COUNT(mistakes))
{
    io_case_refused(&mistakes[test_row], JSON, NULL);
}

TEST(a_syntax_error_has_a_column)
{
    poise_error error = {.text = ""};
    poise_read_options options = io_options(JSON, NULL);
    poise_file *file = NULL;
    ck_assert_int_eq(poise_read("{\"poise\": 1,\n  oops}", 20, &options, NULL, &file, &error), POISE_ERROR_FORMAT);
    ck_assert_int_eq(error.line, 2);
    ck_assert_int_eq(error.column, 6);
}

// A goal that is well written and makes no sense is a mistake of the file, at a place, like any other.
TEST(a_goal_that_makes_no_sense_is_a_mistake_of_the_file)
{
    static const char text[] = "{\"poise\": 1, \"model\": {\"joints\": [{\"name\": \"a\", \"type\": \"revolute\"}]},\n"
                               "\"goals\": [{\"kind\": \"position\", \"body\": \"a\",\n \"weight\": -1}]}";
    poise_error error = {.text = ""};
    poise_read_options options = io_options(JSON, NULL);
    poise_file *file = NULL;
    ck_assert_int_eq(poise_read(text, sizeof text - 1, &options, NULL, &file, &error), POISE_ERROR_FORMAT);
    ck_assert_int_eq(error.line, 2);
    ck_assert_msg(strstr(error.text, "goals[0]") && strstr(error.text, "weight"), "%s", error.text);
}

TEST(unknown_keys_are_warned_of_with_their_place_a_few_by_name)
{
    io_warned_text("{\"poise\": 1,\n\"colour\": 3}", JSON, 2, "colour: unknown key");
    io_warned_text(MODEL(",\n\"limit\": [1, 2]"), JSON, 4, "model.joints[1].limit: unknown key");
    io_warned_text(AFTER("\"goals\": [{\"kind\": \"position\", \"body\": \"a\", \"target\": {\"x\": 1}}]"), JSON, 2,
                   "goals[0].target.x: unknown key");
    io_warned_text("\xEF\xBB\xBF{\"poise\": 1}", JSON, 1, "byte order mark");
    char text[4096] = "{\"poise\": 1";
    for (int i = 0; i < 100; ++i) {
        snprintf(text + strlen(text), 32, ", \"k%d\": 0", i);
    }
    strcat(text, "}");
    io_warned_text(text, JSON, 0, "and 92 more unknown keys");
}

TEST(values_nested_too_deep_are_refused_and_do_not_eat_the_stack)
{
    size_t depth = 1000000;
    char *text = malloc(depth + 1);
    memset(text, '[', depth);
    text[100] = '\n';
    text[depth] = '\0';
    io_refused_text(text, JSON, NULL, 2, "nested deeper than 128");
    free(text);
    char allowed[400] = "{\"poise\": 1, \"x\": ";
    for (int i = 0; i < 127; ++i) {
        strcat(allowed, "[");
    }
    for (int i = 0; i < 127; ++i) {
        strcat(allowed, "]");
    }
    strcat(allowed, "}");
    io_warned_text(allowed, JSON, 1, "x: unknown key");
}

TEST(a_name_that_is_not_utf8_is_written_as_latin1)
{
    poise_error error = {.text = ""};
    poise_file file = {.title = "K\xE4ptn \"\\\n\x7F \xC3\xA4 \xE2\x82\xAC \xED\xA0\x80"};
    poise_warning warnings[2];
    int count = 2;
    void *bytes = NULL;
    size_t size = 0;
    ck_assert_int_eq(poise_write(&file, JSON, NULL, &bytes, &size, warnings, &count, &error), POISE_OK);
    ck_assert_int_eq(count, 1);
    poise_file *again = io_read_text(bytes, JSON, NULL);
    ck_assert_str_eq(again->title, "K\xC3\xA4ptn \"\\\n\x7F \xC3\xA4 \xE2\x82\xAC \xC3\xAD\xC2\xA0\xC2\x80");
    poise_bytes_release(NULL, bytes);
}

// Only where a locale with another decimal point is installed does this say anything; elsewhere it runs with the C locale.
TEST(numbers_do_not_depend_on_the_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "C"};
    const char *set = NULL;
    for (size_t i = 0; i < TEST_COUNT(names) && !set; ++i) {
        set = setlocale(LC_ALL, names[i]);
    }
    poise_file *file = io_read_text(document_json, JSON, NULL);
    ck_assert_msg(file->scale.metres == 0.01, "%s", set);
    io_round_trip(file, JSON, 0);
    printf("numbers read and written with the locale %s, decimal point \"%s\"\n", set, localeconv()->decimal_point);
    setlocale(LC_ALL, "C");
}
