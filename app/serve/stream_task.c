// What lines ask for.
#include "stream.h"

#include "cli/memory.h"
#include "cli/terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_GOALS = 2 + AIM_MOST_HOLDS }; // aim, position, holds

// No length, angle or weight is meant beyond this. Far beyond it squares overflow, and what is out of reach would look met.
#define LARGEST 1e100

static bool refuse(char *wrong, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(char *wrong, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(wrong, POISE_ERROR_TEXT_SIZE, format, values);
    va_end(values);
    text_make_printable(wrong);
    return false;
}

// ---- Members -------------------------------------------------------------------------------------------------------------

// What a line changes, until all of it is found to be sound.
typedef struct change {
    bool aim, position, posture, goals; // is there such a member?
    bool has_aim, has_position, stops;
    aim_target target;
    poise_vec3 place;
    const double *q;         // the posture, or ...
    double *numbers;         // ... as a list, to be freed
    poise_goal_list *listed; // goals in words
    poise_file *file;        // goals as objects
} change;

// Up to `capacity` numbers of a list; -1 when it is none, or something in it is not a finite number.
static int read_numbers(const json_node *list, double *numbers, int capacity)
{
    int count = 0;
    if (!json_is(list, JSON_ARRAY)) {
        return -1;
    }
    for (const json_node *n = list->first; n; n = n->next, ++count) {
        if (!json_is_number(n)) {
            return -1;
        }
        if (count < capacity) {
            numbers[count] = n->number;
        }
    }
    return count;
}

static bool read_aim(const char *name, aim_kind kind, const json_node *value, change *c, char *wrong)
{
    double numbers[4];
    if (c->aim) {
        return refuse(wrong, "only one of aim, direction and orientation fits into a line");
    }
    c->aim = true;
    c->has_aim = !json_is(value, JSON_NULL);
    if (!c->has_aim) {
        return true;
    }
    int count = read_numbers(value, numbers, 4);
    const char *reason = count < 0 ? "is not a list of numbers" : aim_make_target(kind, numbers, count, &c->target);
    return !reason || refuse(wrong, "%s: %s", name, reason);
}

static bool read_position(const json_node *value, change *c, char *wrong)
{
    double n[3];
    c->position = true;
    c->has_position = !json_is(value, JSON_NULL);
    if (c->has_position && read_numbers(value, n, 3) != 3) {
        return refuse(wrong, "position: is not a list of three numbers");
    }
    c->place = c->has_position ? poise_vec3_make(n[0], n[1], n[2]) : poise_vec3_make(0, 0, 0);
    return true;
}

static bool read_posture(const stream_task *task, const json_node *value, change *c, char *wrong)
{
    int nq = poise_model_info(task->model).nq, count;
    const char *name = json_text_of(value);
    c->posture = true;
    c->q = json_is(value, JSON_NULL) ? task->first_posture : NULL;
    for (int i = 0; name && i < task->file->posture_count; ++i) {
        c->q = strcmp(task->file->postures[i].name, name) == 0 ? task->file->postures[i].q : c->q;
    }
    if (c->q) {
        return true;
    }
    bool neutral = name && strcmp(name, "neutral") == 0;
    if (name && !neutral) {
        return refuse(wrong, "posture: none is called \"%.80s\"", name);
    }
    c->numbers = malloc((size_t)nq * sizeof *c->numbers + 1);
    if (!c->numbers) {
        return refuse(wrong, "no memory left");
    }
    c->q = c->numbers;
    if (neutral) {
        poise_model_neutral(task->model, c->numbers);
        return true;
    }
    count = read_numbers(value, c->numbers, nq);
    if (count != nq) {
        return refuse(wrong, "posture: is neither a name nor a list of %d numbers", nq);
    }
    for (int i = 0; i < nq; ++i) {
        if (!(fabs(c->numbers[i]) <= LARGEST)) {
            return refuse(wrong, "posture: number %d, %g, is beyond %g", i + 1, c->numbers[i], LARGEST);
        }
    }
    for (int i = 0; i < nq && task->servo_scale; ++i) {
        c->numbers[i] = (c->numbers[i] - task->servo_offset[i]) / task->servo_scale[i];
    }
    bool sound = poise_kinematics_update(task->kinematics, c->numbers, NULL) == POISE_OK;
    return sound || refuse(wrong, "posture: a quaternion in it is zero");
}

static bool posture_by_name(const void *user, const char *name, double *q, poise_error *error)
{
    const poise_file *file = user;
    for (int i = 0; i < file->posture_count; ++i) {
        if (strcmp(file->postures[i].name, name) == 0) {
            memcpy(q, file->postures[i].q, (size_t)poise_model_info(file->model).nq * sizeof *q);
            return true;
        }
    }
    snprintf(error->text, sizeof error->text, "no posture is called \"%.80s\"", name);
    return false;
}

// Goals as objects, which go, in the language of files: they are read as a file that holds nothing else.
static bool read_objects(const stream_task *task, json_node *objects, change *c, char *wrong)
{
    json_node *root = json_make("{s:i, s:o}", "poise", 1, "goals", objects);
    char *text = json_to_text(root, JSON_DIGITS);
    poise_read_options options = {0};
    poise_error error = {0};
    options.format = POISE_FORMAT_JSON;
    options.model = task->model;
    bool works = text && poise_read(text, strlen(text), &options, NULL, &c->file, &error) == POISE_OK;
    if (!works) {
        c->file = NULL;
        refuse(wrong, "goals: %s", error.text[0] ? error.text : "no memory left");
    } else if (c->file->warning_count > 0) {
        works = refuse(wrong, "goals: %s", c->file->warnings[0].text);
    }
    free(text);
    json_release(root);
    return works;
}

static bool read_goals(const stream_task *task, const json_node *value, change *c, char *wrong)
{
    poise_goal_words words = {
        .model = task->model, .q_start = task->first_posture, .posture = posture_by_name, .user = task->file};
    bool works = true;
    c->goals = true;
    if (json_is(value, JSON_NULL)) {
        return true;
    }
    if (!json_is(value, JSON_ARRAY)) {
        return refuse(wrong, "goals: is not a list");
    }
    need(poise_goal_list_create(NULL, &c->listed, NULL) == POISE_OK);
    json_node *objects = json_new(JSON_ARRAY);
    int i = 0;
    for (const json_node *item = value->first; item && works; item = item->next, ++i) {
        const char *text = json_text_of(item);
        poise_error reason;
        if (json_is(item, JSON_OBJECT)) {
            json_append(objects, json_copy(item));
        } else if (!text || poise_goal_list_parse(c->listed, &words, text, &reason) != POISE_OK) {
            works = refuse(wrong, "goals: item %d: %s", i, text ? reason.text : "is neither a string nor an object");
        }
    }
    if (works && json_count(objects) > 0) {
        works = read_objects(task, objects, c, wrong);
    } else {
        json_release(objects);
    }
    if (works && c->listed->count + (c->file ? c->file->goal_count : 0) > STREAM_MOST_GOALS - OWN_GOALS) {
        works = refuse(wrong, "goals: more than %d", STREAM_MOST_GOALS - OWN_GOALS);
    }
    return works;
}

static bool read_member(const stream_task *task, const char *name, const json_node *value, change *c, char *wrong)
{
    static const char *const clock[] = {"t", "tick", "line"};
    aim_kind kind;
    for (int i = 0; i < 3; ++i) {
        if (strcmp(name, clock[i]) == 0) {
            return true;
        }
    }
    if (strcmp(name, "position") == 0) {
        return read_position(value, c, wrong);
    }
    if (strcmp(name, "posture") == 0) {
        return read_posture(task, value, c, wrong);
    }
    if (strcmp(name, "goals") == 0) {
        return read_goals(task, value, c, wrong);
    }
    if (strcmp(name, "stop") == 0) {
        c->stops = json_is(value, JSON_TRUE);
        return c->stops || json_is(value, JSON_FALSE) || refuse(wrong, "stop: is neither true nor false");
    }
    if (aim_kind_by_name(name, strlen(name), &kind)) {
        return read_aim(name, kind, value, c, wrong);
    }
    return refuse(wrong,
                  "no member is called \"%.40s\"; there are aim, direction, orientation, position, posture, goals, t, "
                  "tick, line, stop",
                  name);
}

// ---- Applying ------------------------------------------------------------------------------------------------------------

static bool is_about(const poise_goal *goals, int count, int body)
{
    for (int i = 0; i < count; ++i) {
        if (goals[i].body == body && goals[i].kind != POISE_GOAL_POSTURE && goals[i].kind != POISE_GOAL_SMOOTHNESS &&
            goals[i].kind != POISE_GOAL_CENTER_OF_MASS) {
            return true;
        }
    }
    return false;
}

// The goals that there are when the change is made. A body that a goal is about is not held beside it.
static int list_goals(const stream_task *task, const change *c, poise_goal *goals)
{
    int count = 0;
    bool has_aim = c->aim ? c->has_aim : task->has_aim, has_position = c->position ? c->has_position : task->has_position;
    const poise_goal_list *listed = c->goals ? c->listed : task->listed;
    const poise_file *file = c->goals ? c->file : task->goal_file;
    if (has_aim) {
        goals[count++] = aim_goal(&task->end, c->aim ? &c->target : &task->aim);
    }
    if (has_position) {
        goals[count++] =
            poise_goal_position(task->end.body, task->end.tip.position, c->position ? c->place : task->position);
    }
    for (int i = 0; listed && i < listed->count; ++i) {
        goals[count++] = listed->goals[i];
    }
    for (int i = 0; file && i < file->goal_count; ++i) {
        goals[count++] = file->goals[i];
    }
    poise_goal holds[AIM_MOST_HOLDS];
    poise_kinematics_update(task->kinematics, c->posture ? c->q : task->posture, NULL);
    int asked = count, held = aim_hold_goals(&task->holds, task->kinematics, holds);
    for (int i = 0; i < held; ++i) {
        if (!is_about(goals, asked, holds[i].body)) {
            goals[count++] = holds[i];
        }
    }
    return count;
}

// Refuse a goal with a number that is too large, by the member that has it: the goals are those of aim, position and goals, in
// this order (list_goals).
static bool is_in_range(const stream_task *task, const change *c, const poise_goal *goals, int i, char *wrong)
{
    bool has_aim = c->aim ? c->has_aim : task->has_aim, has_position = c->position ? c->has_position : task->has_position;
    const poise_goal *g = &goals[i];
    poise_vec3 at = g->target.position, local = g->local.position;
    double numbers[] = {at.x, at.y, at.z, local.x, local.y, local.z, g->distance, g->weight, g->rotation_weight};
    int listed = i - has_aim - has_position;
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; ++k) {
        if (!(fabs(numbers[k]) <= LARGEST)) {
            return listed < 0
                       ? refuse(wrong, "%s: %g is beyond %g", i == 0 && has_aim ? "aim" : "position", numbers[k], LARGEST)
                       : refuse(wrong, "goals: goal %d: %g is beyond %g", listed + 1, numbers[k], LARGEST);
        }
    }
    return true;
}

static void commit(stream_task *task, change *c)
{
    if (c->aim) {
        task->has_aim = c->has_aim;
        task->aim = c->target;
    }
    if (c->position) {
        task->has_position = c->has_position;
        task->position = c->place;
    }
    if (c->posture) {
        memmove(task->posture, c->q, (size_t)poise_model_info(task->model).nq * sizeof *task->posture);
    }
    if (c->goals) {
        poise_goal_list *listed = task->listed;
        poise_file *file = task->goal_file;
        task->listed = c->listed;
        task->goal_file = c->file;
        c->listed = listed; // the old ones, to be released
        c->file = file;
    }
    task->stops = task->stops || c->stops;
}

bool task_apply(stream_task *task, json_node *object, char *wrong)
{
    change c = {0};
    bool sound = true;
    for (const json_node *m = object->first; m && sound; m = m->next) {
        sound = read_member(task, m->key, m, &c, wrong);
    }
    if (sound && task->only_aims && ((c.position && c.has_position) || (c.goals && (c.listed || c.file)))) {
        sound = refuse(wrong, "erik faces a place, a direction or an orientation, and nothing else; "
                              "leave --method out for other goals");
    }
    poise_goal goals[STREAM_MOST_GOALS];
    int count = sound ? list_goals(task, &c, goals) : 0;
    int coupled = 0;
    for (int i = 0; i < count && sound; ++i) {
        poise_error error = {0};
        coupled += goals[i].kind == POISE_GOAL_RELATIVE || goals[i].kind == POISE_GOAL_CENTER_OF_MASS;
        sound = poise_goal_check(&goals[i], task->model, &error) == POISE_OK || refuse(wrong, "%s", error.text);
        sound = sound && is_in_range(task, &c, goals, i, wrong);
    }
    if (sound && coupled > STREAM_MOST_COUPLED) {
        sound = refuse(wrong, "%d goals tie bodies together (relative, balance); at most %d at a time", coupled,
                       STREAM_MOST_COUPLED);
    }
    if (sound) {
        commit(task, &c);
        memcpy(task->goals, goals, sizeof goals);
        task->goal_count = count;
    }
    free(c.numbers);
    poise_goal_list_destroy(c.listed);
    poise_file_destroy(c.file);
    return sound;
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

void task_init(stream_task *task, const poise_file *file, const aim_end *end, const aim_holds *holds, const double *posture)
{
    size_t size = (size_t)poise_model_info(file->model).nq * sizeof *posture;
    *task = (stream_task){.file = file, .model = file->model, .end = *end, .holds = *holds};
    task->posture = memcpy(needed(malloc(size + 1)), posture, size);
    task->first_posture = memcpy(needed(malloc(size + 1)), posture, size);
    need(poise_kinematics_create(file->model, NULL, &task->kinematics, NULL) == POISE_OK);
    task->goal_count = list_goals(task, &(change){0}, task->goals);
}

void task_set_posture(stream_task *task, const double *posture)
{
    memcpy(task->posture, posture, (size_t)poise_model_info(task->model).nq * sizeof *posture);
    task->goal_count = list_goals(task, &(change){0}, task->goals);
}

void task_release(stream_task *task)
{
    free(task->posture);
    free(task->first_posture);
    free(task->servo_scale);
    free(task->servo_offset);
    poise_goal_list_destroy(task->listed);
    poise_file_destroy(task->goal_file);
    poise_kinematics_destroy(task->kinematics);
}
