// Goals in words.
#include "goal_language.h"

#include "cli/parse_text.h"
#include "goal_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HALF_TURN 3.14159265358979323846

enum { MOST_WORDS = 4096 }; // a posture has a word for each coordinate

// ---- Kinds ---------------------------------------------------------------------------------------------------------------

static bool read_point(reader *r, poise_goal *goal)
{
    reader_skip(r, "to");
    return reader_vector(r, "the target", &goal->target.position);
}

static bool read_direction(reader *r, poise_goal *goal)
{
    if (!reader_skip(r, "along")) {
        reader_skip(r, "to");
    }
    return reader_direction(r, "the direction", &goal->direction);
}

static bool read_orientation(reader *r, poise_goal *goal)
{
    reader_skip(r, "to");
    return reader_rotation(r, &goal->target.rotation);
}

static bool read_pose(reader *r, poise_goal *goal)
{
    return read_point(r, goal) && reader_rotation(r, &goal->target.rotation);
}

// A word that must stand here.
static bool need(reader *r, const char *word, const char *form)
{
    if (reader_skip(r, word)) {
        return true;
    }
    const char *there = reader_peek(r);
    return reader_fail(r, r->next, "%s%s%s, but \"%s\" comes here: %s", there ? "\"" : "the goal ends", there ? there : "",
                       there ? "\"" : "", word, form);
}

static bool read_plane(reader *r, poise_goal *goal)
{
    static const char form[] = "plane BODY through X Y Z normal X Y Z";
    return need(r, "through", form) && reader_vector(r, "through", &goal->target.position) && need(r, "normal", form) &&
           reader_direction(r, "normal", &goal->direction);
}

static bool read_line(reader *r, poise_goal *goal)
{
    static const char form[] = "line BODY through X Y Z along X Y Z";
    return need(r, "through", form) && reader_vector(r, "through", &goal->target.position) && need(r, "along", form) &&
           reader_direction(r, "along", &goal->direction);
}

static bool read_distance(reader *r, poise_goal *goal)
{
    return reader_numbers(r, "the distance", &goal->distance, 1) && need(r, "from", "distance BODY D from X Y Z") &&
           reader_vector(r, "from", &goal->target.position);
}

// Without a rotation only the place counts.
static bool read_relative(reader *r, poise_goal *goal)
{
    poise_pose frame;
    if (!need(r, "to", "relative BODY to BODY X Y Z") || !reader_body(r, &goal->body2, &frame) ||
        !reader_vector(r, "the place", &goal->target.position)) {
        return false;
    }
    goal->rotation_weight = 0;
    if (reader_has_rotation(r)) {
        goal->rotation_weight = 1;
        if (!reader_rotation(r, &goal->target.rotation)) {
            return false;
        }
    }
    goal->target = poise_pose_multiply(frame, goal->target);
    return true;
}

// Room for nq numbers that the list keeps; NULL when there is no memory.
static double *keep_numbers(reader *r)
{
    goal_list *list = r->list;
    double **more = realloc(list->numbers, sizeof *more * (size_t)(list->number_count + 1));
    if (!more) {
        return NULL;
    }
    list->numbers = more;
    double *q = malloc(sizeof *q * ((size_t)poise_model_nq(r->context->model) + 1));
    if (q) {
        list->numbers[list->number_count++] = q;
    }
    return q;
}

static bool read_stay(reader *r, poise_goal *goal)
{
    double *q = keep_numbers(r);
    if (!q) {
        return reader_fail(r, 0, "no memory left");
    }
    poise_model_neutral(r->context->model, q);
    if (r->context->start) {
        memcpy(q, r->context->start, sizeof *q * (size_t)poise_model_nq(r->context->model));
    }
    goal->q = q;
    return true;
}

// "posture NAME", or a number for each coordinate.
static bool read_posture(reader *r, poise_goal *goal)
{
    int nq = poise_model_nq(r->context->model);
    double *q = keep_numbers(r), number;
    const char *word = reader_peek(r);
    if (!q || !word) {
        return reader_fail(r, q ? r->next : 0, q ? "a posture is needed: a name, or %d numbers" : "no memory left", nq);
    }
    goal->q = q;
    if (parse_number(word, &number)) {
        return reader_numbers(r, "the posture", q, nq);
    }
    if (strcmp(word, "neutral") == 0) {
        poise_model_neutral(r->context->model, q);
    } else {
        char why[READER_ERROR] = "";
        if (!r->context->posture || !r->context->posture(r->context->user, word, q, why, sizeof why)) {
            return why[0] ? reader_fail(r, r->next, "%s", why)
                          : reader_fail(r, r->next, "no posture is called \"%s\"", word);
        }
    }
    r->next += 1;
    return true;
}

// Which options a kind takes.
enum { TAKES_AT = 1, TAKES_AXIS = 2, TAKES_TURN = 4, TAKES_BAND = 8, TAKES_TURN_BAND = 16, TAKES_LOSS = 32 };

typedef struct kind_row {
    const char *name;
    poise_goal_kind kind;
    bool has_body;
    int takes;
    bool (*read)(reader *r, poise_goal *goal);
} kind_row;

static const kind_row kinds[] = {
    {"position", POISE_GOAL_POSITION, true, TAKES_AT | TAKES_BAND | TAKES_LOSS, read_point},
    {"direction", POISE_GOAL_DIRECTION, true, TAKES_AXIS, read_direction},
    {"orientation", POISE_GOAL_ORIENTATION, true, TAKES_TURN_BAND, read_orientation},
    {"pose", POISE_GOAL_POSE, true, TAKES_AT | TAKES_TURN | TAKES_BAND | TAKES_TURN_BAND, read_pose},
    {"aim", POISE_GOAL_AIM, true, TAKES_AT | TAKES_AXIS, read_point},
    {"plane", POISE_GOAL_PLANE, true, TAKES_AT | TAKES_LOSS, read_plane},
    {"line", POISE_GOAL_LINE, true, TAKES_AT | TAKES_LOSS, read_line},
    {"distance", POISE_GOAL_DISTANCE, true, TAKES_AT | TAKES_LOSS, read_distance},
    {"relative", POISE_GOAL_RELATIVE, true, TAKES_AT | TAKES_TURN, read_relative},
    {"balance", POISE_GOAL_CENTER_OF_MASS, false, 0, read_point},
    {"center_of_mass", POISE_GOAL_CENTER_OF_MASS, false, 0, read_point},
    {"posture", POISE_GOAL_POSTURE, false, 0, read_posture},
    {"stay", POISE_GOAL_SMOOTHNESS, false, 0, read_stay},
    {"smoothness", POISE_GOAL_SMOOTHNESS, false, 0, read_stay},
};

enum { KINDS = (int)(sizeof kinds / sizeof kinds[0]) };

static const char *kind_name(const void *user, int index)
{
    (void)user;
    return kinds[index].name;
}

static const kind_row *take_kind(reader *r)
{
    const char *word = reader_peek(r);
    for (int i = 0; i < KINDS; ++i) {
        if (reader_skip(r, kinds[i].name)) {
            return &kinds[i];
        }
    }
    const char *near = poise_nearest_name(word, kind_name, NULL, KINDS);
    reader_fail(r, r->next, "there is no goal \"%s\"; %s%s%s", word,
                near ? "did you mean \"" : "\"poise help goals\" lists them", near ? near : "", near ? "\"?" : "");
    return NULL;
}

// ---- Options -------------------------------------------------------------------------------------------------------------

static bool read_weight(reader *r, poise_goal *goal)
{
    int at = r->next;
    return reader_numbers(r, "weight", &goal->weight, 1) &&
           (goal->weight >= 0 || reader_fail(r, at, "a weight is not negative"));
}

static bool read_rotation_weight(reader *r, poise_goal *goal)
{
    int at = r->next;
    return reader_numbers(r, "rotation-weight", &goal->rotation_weight, 1) &&
           (goal->rotation_weight >= 0 || reader_fail(r, at, "a weight is not negative"));
}

static bool read_priority(reader *r, poise_goal *goal)
{
    double number = 0;
    int at = r->next;
    if (!reader_numbers(r, "priority", &number, 1)) {
        return false;
    }
    if (number < 0 || number > 1000 || number != floor(number)) {
        return reader_fail(r, at, "a priority is a whole number from 0, which is first, to 1000");
    }
    goal->priority = (int)number;
    return true;
}

// Points and directions are given in the frame that the goal names, which is a tool's or the body's.
static bool read_at(reader *r, poise_goal *goal)
{
    poise_vec3 point;
    if (!reader_vector(r, "at", &point)) {
        return false;
    }
    goal->local.position = poise_pose_transform(goal->local, point);
    return true;
}

static bool read_axis(reader *r, poise_goal *goal)
{
    poise_vec3 axis;
    if (!reader_direction(r, "axis", &axis)) {
        return false;
    }
    goal->axis = poise_quat_rotate(goal->local.rotation, axis);
    return true;
}

// One number for all three axes, or one for each; "free" for no bound.
static bool take_band(reader *r, poise_vec3 *band)
{
    double n[3];
    int count = 0, at = r->next;
    while (count < 3 && reader_peek(r) && (strcmp(reader_peek(r), "free") == 0 || parse_number(reader_peek(r), &n[count]))) {
        n[count] = strcmp(reader_peek(r), "free") == 0 ? INFINITY : n[count];
        if (!(n[count] >= 0)) {
            return reader_fail(r, r->next, "a tolerance is not negative");
        }
        r->next += 1;
        count += 1;
    }
    if (count != 1 && count != 3) {
        return reader_fail(r, at, "a tolerance is one number, or three for x y z; \"free\" for an axis without bound");
    }
    *band = count == 1 ? poise_vec3_make(n[0], n[0], n[0]) : poise_vec3_make(n[0], n[1], n[2]);
    return true;
}

static bool read_tolerance(reader *r, poise_goal *goal)
{
    return take_band(r, &goal->tolerance);
}

// The band of an angle a is 2 sin(a/2), as goals measure rotations.
static double angle_band(double angle)
{
    return angle < HALF_TURN ? 2 * sin(angle / 2) : INFINITY;
}

static bool read_rotation_tolerance(reader *r, poise_goal *goal)
{
    poise_vec3 *band = &goal->rotation_tolerance;
    double unit = 1;
    if (!take_band(r, band) || !reader_angle_unit(r, &unit)) {
        return false;
    }
    *band = poise_vec3_make(angle_band(band->x * unit), angle_band(band->y * unit), angle_band(band->z * unit));
    return true;
}

static bool read_loss(reader *r, poise_goal *goal, poise_loss loss, const char *name)
{
    int at = r->next;
    goal->loss = loss;
    return reader_numbers(r, name, &goal->loss_scale, 1) &&
           (goal->loss_scale > 0 || reader_fail(r, at, "%s needs a length > 0", name));
}

static bool read_huber(reader *r, poise_goal *goal)
{
    return read_loss(r, goal, POISE_LOSS_HUBER, "huber");
}

static bool read_geman_mcclure(reader *r, poise_goal *goal)
{
    return read_loss(r, goal, POISE_LOSS_GEMAN_MCCLURE, "geman-mcclure");
}

typedef struct option_row {
    const char *name;
    int of; // the bit in kind_row.takes; 0: of every kind
    bool (*read)(reader *r, poise_goal *goal);
} option_row;

static const option_row options[] = {
    {"weight", 0, read_weight},
    {"priority", 0, read_priority},
    {"at", TAKES_AT, read_at},
    {"axis", TAKES_AXIS, read_axis},
    {"tolerance", TAKES_BAND, read_tolerance},
    {"rotation-weight", TAKES_TURN, read_rotation_weight},
    {"rotation-tolerance", TAKES_TURN_BAND, read_rotation_tolerance},
    {"huber", TAKES_LOSS, read_huber},
    {"geman-mcclure", TAKES_LOSS, read_geman_mcclure},
};

enum { OPTIONS = (int)(sizeof options / sizeof options[0]) };

static const char *option_name(const void *user, int index)
{
    (void)user;
    return options[index].name;
}

static bool read_option(reader *r, const kind_row *kind, poise_goal *goal, unsigned *seen)
{
    const char *word = reader_peek(r);
    for (int i = 0; i < OPTIONS; ++i) {
        if (!reader_skip(r, options[i].name)) {
            continue;
        }
        if (options[i].of != 0 && !(options[i].of & kind->takes)) {
            return reader_fail(r, r->next - 1, "a goal \"%s\" has no %s", kind->name, word);
        }
        if (*seen & 1u << i) {
            return reader_fail(r, r->next - 1, "%s is given twice", word);
        }
        *seen |= 1u << i;
        return options[i].read(r, goal);
    }
    double number;
    if (parse_number(word, &number)) {
        return reader_fail(r, r->next, "%s is one number too many", word);
    }
    const char *near = poise_nearest_name(word, option_name, NULL, OPTIONS);
    return reader_fail(r, r->next, "\"%s\" is no option of a goal; %s%s%s", word,
                       near ? "did you mean \"" : "\"poise help goals\" lists them", near ? near : "", near ? "\"?" : "");
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

static bool read_goal(reader *r, poise_goal *goal)
{
    const kind_row *kind = take_kind(r);
    if (!kind) {
        return false;
    }
    *goal = poise_goal_default(kind->kind);
    if (kind->has_body) {
        if (!reader_body(r, &goal->body, &goal->local)) {
            return false;
        }
        goal->axis = poise_quat_rotate(goal->local.rotation, goal->axis);
    }
    if (!kind->read(r, goal)) {
        return false;
    }
    unsigned seen = 0;
    while (reader_peek(r)) {
        if (!read_option(r, kind, goal, &seen)) {
            return false;
        }
    }
    poise_error error = {0};
    if (poise_goal_check(goal, r->context->model, &error) != POISE_OK) {
        snprintf(r->error, r->size, "goal %d: %s", r->number, error.text);
        return false;
    }
    return true;
}

// Cut one goal, up to a semicolon, into words in place. Quotes keep spaces inside a word. Returns what follows the
// semicolon, NULL at the end; *count is -1 when there are too many words, -2 when a quote does not end.
static char *cut(char *text, char **word, int *count)
{
    static const char blank[] = " \t\r\n,";
    *count = 0;
    for (;;) {
        text += strspn(text, blank);
        if (*text == '\0' || *text == ';') {
            bool more = *text == ';';
            *text = '\0';
            return more ? text + 1 : NULL;
        }
        if (*count == MOST_WORDS) {
            *count = -1;
            return NULL;
        }
        char quote = *text == '"' || *text == '\'' ? *text++ : '\0';
        word[(*count)++] = text;
        text += quote ? strcspn(text, (char[]){quote, '\0'}) : strcspn(text, " \t\r\n,;");
        if (quote && !*text) {
            *count = -2;
            return NULL;
        }
        if (*text == ';') {
            *text = '\0';
            return text + 1;
        }
        if (*text) {
            *text++ = '\0';
        }
    }
}

// A copy of the goal as it is written, up to its semicolon, without blanks around it.
static char *copy_source(const char *text, size_t size)
{
    while (size > 0 && strchr(" \t\r\n", *text)) {
        ++text;
        --size;
    }
    while (size > 0 && strchr(" \t\r\n", text[size - 1])) {
        --size;
    }
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

static bool grow(goal_list *list)
{
    if (list->count < list->room) {
        return true;
    }
    int room = list->room > 0 ? 2 * list->room : 8;
    poise_goal *goals = realloc(list->goals, sizeof *goals * (size_t)room);
    list->goals = goals ? goals : list->goals;
    char **texts = realloc(list->texts, sizeof *texts * (size_t)room);
    list->texts = texts ? texts : list->texts;
    list->room = goals && texts ? room : list->room;
    return goals && texts;
}

bool goals_add(goal_list *list, const poise_goal *goal, const char *text)
{
    char *copy = copy_source(text, strlen(text));
    if (!copy || !grow(list)) {
        free(copy);
        return false;
    }
    list->goals[list->count] = *goal;
    list->texts[list->count++] = copy;
    return true;
}

static bool parse_all(reader *r, char *text, const char *source)
{
    const char *begin = text;
    while (text) {
        char *here = text;
        r->number = r->list->count + 1;
        text = cut(text, r->word, &r->count);
        r->next = 0;
        if (r->count < 0) {
            snprintf(r->error, r->size, "goal %d: %s", r->number,
                     r->count == -1 ? "it has too many words" : "a quote does not end");
            return false;
        }
        if (r->count == 0) {
            continue; // nothing between two semicolons
        }
        poise_goal goal;
        if (!read_goal(r, &goal)) {
            return false;
        }
        const char *from = source + (here - begin);
        size_t size = text ? (size_t)(text - here) - 1 : strlen(from);
        char *copy = copy_source(from, size);
        bool added = copy && goals_add(r->list, &goal, copy);
        free(copy);
        if (!added) {
            return reader_fail(r, 0, "no memory left");
        }
    }
    return true;
}

bool goals_parse(goal_list *list, const goal_context *context, const char *text, char *error, size_t size)
{
    reader r = {.context = context, .list = list, .number = list->count + 1, .error = error, .size = size};
    int before = list->count;
    char *copy = copy_source(text, strlen(text));
    r.word = malloc(sizeof *r.word * MOST_WORDS);
    bool works = copy && r.word;
    if (!works) {
        snprintf(error, size, "no memory left");
    } else {
        works = parse_all(&r, copy, text + strspn(text, " \t\r\n"));
    }
    if (works && list->count == before) {
        snprintf(error, size, "goal %d: there are no words in it", before + 1);
        works = false;
    }
    free(copy);
    free(r.word);
    return works;
}

bool goal_is_wish(const poise_goal *goal)
{
    return goal->kind == POISE_GOAL_POSTURE || goal->kind == POISE_GOAL_SMOOTHNESS;
}

// The tool whose frame the goal is about, or the body.
static const char *frame_name(const poise_goal *goal, const poise_model *model)
{
    poise_vec3 p = goal->local.position;
    for (int i = 0; i < poise_model_tool_count(model); ++i) {
        poise_vec3 t = poise_model_tool_info(model, i).pose.position;
        if (poise_model_tool_info(model, i).body == goal->body && t.x == p.x && t.y == p.y && t.z == p.z) {
            return poise_model_tool_info(model, i).name;
        }
    }
    return poise_model_joint_info(model, goal->body).body;
}

void goal_describe(const poise_goal *goal, const poise_model *model, char *text, size_t size)
{
    const char *name = poise_goal_kind_name(goal->kind);
    poise_vec3 t = goal->target.position;
    for (int i = 0; i < KINDS; ++i) {
        if (kinds[i].kind != goal->kind) {
            continue;
        }
        const char *body = kinds[i].has_body ? frame_name(goal, model) : "";
        bool has_point = kinds[i].read == read_point || kinds[i].read == read_pose;
        if (has_point) {
            snprintf(text, size, "%s%s%s %g %g %g", name, *body ? " " : "", body, t.x, t.y, t.z);
        } else {
            snprintf(text, size, "%s%s%s", name, *body ? " " : "", body);
        }
        return;
    }
    snprintf(text, size, "%s", name);
}

void goals_release(goal_list *list)
{
    for (int i = 0; i < list->count; ++i) {
        free(list->texts[i]);
    }
    for (int i = 0; i < list->number_count; ++i) {
        free(list->numbers[i]);
    }
    free(list->goals);
    free(list->texts);
    free(list->numbers);
    *list = (goal_list){0};
}
