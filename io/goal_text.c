// Goals and pins in words: what a few words mean, the kinds and their options, and back; lists of entries in words; and
// pins, goals with the time when they hold.
#include "io/json.h"

#include "base/arena.h"
#include "num/vector.h"

#include <string.h>

// ---- Words of one goal ---------------------------------------------------------------------------------------------------

// The words of one goal, and where reading stands.
typedef struct goal_reader {
    const poise_goal_words *words;
    pz_pool *kept; // of the list: what goals point to
    char **word;
    int count, next;
    int number;          // of the goal, from 1
    const char *noun;    // NULL: "goal"; what messages call it
    const int *place;    // NULL: of each word, which one of the text it is
    poise_status status; // why reading failed
    poise_error *error;
} goal_reader;

// Say what is wrong with word `index`; always false.
static bool reader_fail(goal_reader *r, int index, const char *format, ...)
{
    poise_error why;
    va_list values;
    va_start(values, format);
    pz_error_set_list(&why, POISE_ERROR_FORMAT, format, values);
    va_end(values);
    r->status = pz_error_set(r->error, POISE_ERROR_FORMAT, "%s %d, word %d: %s", r->noun ? r->noun : "goal", r->number,
                             (r->place ? r->place[index] : index) + 1, why.text);
    return false;
}

// The same of memory; always false.
static bool reader_no_memory(goal_reader *r)
{
    r->status = pz_error_set(r->error, POISE_ERROR_MEMORY, "no memory left");
    return false;
}

// Is the text, all of it, a finite number?
static bool is_number(const char *text, double *number)
{
    return pz_word_number((pz_word){text, strlen(text)}, number);
}

// The next word; NULL at the end.
static const char *reader_peek(const goal_reader *r)
{
    return r->next < r->count ? r->word[r->next] : NULL;
}

// Step over the next word if it is `word`.
static bool reader_skip(goal_reader *r, const char *word)
{
    const char *next = reader_peek(r);
    bool is_it = next && strcmp(next, word) == 0;
    r->next += is_it;
    return is_it;
}

// Numbers with a meaning: "the target", "a normal".
static bool reader_numbers(goal_reader *r, const char *meaning, double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        const char *word = reader_peek(r);
        const char *plural = count > 1 ? "s" : "";
        if (!word) {
            return reader_fail(r, r->next, "%s needs %d number%s, but there %s %d", meaning, count, plural,
                               i == 1 ? "is" : "are", i);
        }
        if (!is_number(word, &numbers[i])) {
            return reader_fail(r, r->next, "\"%s\" is not a number; %s needs %d number%s", word, meaning, count, plural);
        }
        r->next += 1;
    }
    return true;
}

static bool reader_vector(goal_reader *r, const char *meaning, poise_vec3 *v)
{
    double n[3];
    if (!reader_numbers(r, meaning, n, 3)) {
        return false;
    }
    *v = poise_vec3_make(n[0], n[1], n[2]);
    return true;
}

// "z", "-x" or three numbers that are not all zero, made unit.
static bool reader_direction(goal_reader *r, const char *meaning, poise_vec3 *v)
{
    static const char *const name[] = {"x", "y", "z", "-x", "-y", "-z"};
    for (int i = 0; i < 6; ++i) {
        if (reader_skip(r, name[i]) ||
            (i < 3 && reader_peek(r) && reader_peek(r)[0] == '+' && strcmp(reader_peek(r) + 1, name[i]) == 0 && r->next++)) {
            double sign = i < 3 ? 1 : -1;
            *v = poise_vec3_make(i % 3 == 0 ? sign : 0, i % 3 == 1 ? sign : 0, i % 3 == 2 ? sign : 0);
            return true;
        }
    }
    int first = r->next;
    if (!reader_vector(r, meaning, v)) {
        return false;
    }
    if (!(max2(fabs(v->x), max2(fabs(v->y), fabs(v->z))) > 0)) {
        return reader_fail(r, first, "%s has zero length; give three numbers, or one of x y z -x -y -z", meaning);
    }
    *v = v3_normalize(*v);
    return true;
}

// "deg" or "rad" after angles: its size in radians.
static bool reader_angle_unit(goal_reader *r, double *unit)
{
    if (reader_skip(r, "deg") || reader_skip(r, "degrees")) {
        *unit = PZ_RADIANS_PER_DEGREE;
        return true;
    }
    if (reader_skip(r, "rad") || reader_skip(r, "radians")) {
        *unit = 1;
        return true;
    }
    return reader_fail(r, r->next, "write deg or rad after the angles");
}

// ---- Bodies and rotations ------------------------------------------------------------------------------------------------

// A body by the name of a body, joint or tool; `local` is the tool's frame in it.
static bool reader_body(goal_reader *r, int *body, poise_pose *local)
{
    const char *name = reader_peek(r);
    poise_error why;
    if (!name) {
        return reader_fail(r, r->next, "the name of a body or tool is missing");
    }
    *body = poise_model_find_part(r->words->model, name, local, &why);
    if (*body < 0) {
        return reader_fail(r, r->next, "%s", why.text);
    }
    r->next += 1;
    return true;
}

static bool reader_has_rotation(const goal_reader *r)
{
    const char *word = reader_peek(r);
    return word && (strcmp(word, "rpy") == 0 || strcmp(word, "quaternion") == 0 || strcmp(word, "turn") == 0);
}

// "rpy 0 90 0 deg", "quaternion 0 0 0 1" or "turn z 90 deg".
static bool reader_rotation(goal_reader *r, poise_quat *rotation)
{
    double n[4] = {0}, unit = 1;
    poise_vec3 axis;
    if (reader_skip(r, "rpy")) {
        if (!reader_numbers(r, "rpy (roll, pitch, yaw)", n, 3) || !reader_angle_unit(r, &unit)) {
            return false;
        }
        *rotation = poise_quat_from_roll_pitch_yaw(n[0] * unit, n[1] * unit, n[2] * unit);
        return true;
    }
    if (reader_skip(r, "turn")) {
        if (!reader_direction(r, "the axis of turn", &axis) || !reader_numbers(r, "turn (an angle)", n, 1) ||
            !reader_angle_unit(r, &unit)) {
            return false;
        }
        *rotation = poise_quat_from_axis_angle(axis, n[0] * unit);
        return true;
    }
    int first = r->next;
    if (!reader_skip(r, "quaternion")) {
        return reader_fail(r, first, "a rotation is needed: rpy R P Y deg, turn AXIS ANGLE deg, or quaternion X Y Z W");
    }
    if (!reader_numbers(r, "quaternion (x y z w)", n, 4)) {
        return false;
    }
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]);
    if (!(length > 1e-9 && length < 1e9)) { // any rotation can be written with numbers near 1
        return reader_fail(r, first, "the quaternion is zero or not finite");
    }
    *rotation = (poise_quat){n[0] / length, n[1] / length, n[2] / length, n[3] / length};
    return true;
}

// ---- Kinds ---------------------------------------------------------------------------------------------------------------

static bool read_point(goal_reader *r, poise_goal *goal)
{
    reader_skip(r, "to");
    return reader_vector(r, "the target", &goal->target.position);
}

static bool read_direction(goal_reader *r, poise_goal *goal)
{
    if (!reader_skip(r, "along")) {
        reader_skip(r, "to");
    }
    return reader_direction(r, "the direction", &goal->direction);
}

static bool read_orientation(goal_reader *r, poise_goal *goal)
{
    reader_skip(r, "to");
    return reader_rotation(r, &goal->target.rotation);
}

static bool read_pose(goal_reader *r, poise_goal *goal)
{
    return read_point(r, goal) && reader_rotation(r, &goal->target.rotation);
}

// A word that must stand here.
static bool need(goal_reader *r, const char *word, const char *form)
{
    if (reader_skip(r, word)) {
        return true;
    }
    const char *there = reader_peek(r);
    return reader_fail(r, r->next, "%s%s%s, but \"%s\" comes here: %s", there ? "\"" : "the goal ends", there ? there : "",
                       there ? "\"" : "", word, form);
}

static bool read_plane(goal_reader *r, poise_goal *goal)
{
    static const char form[] = "plane BODY through X Y Z normal X Y Z";
    return need(r, "through", form) && reader_vector(r, "through", &goal->target.position) && need(r, "normal", form) &&
           reader_direction(r, "normal", &goal->direction);
}

static bool read_line(goal_reader *r, poise_goal *goal)
{
    static const char form[] = "line BODY through X Y Z along X Y Z";
    return need(r, "through", form) && reader_vector(r, "through", &goal->target.position) && need(r, "along", form) &&
           reader_direction(r, "along", &goal->direction);
}

static bool read_distance(goal_reader *r, poise_goal *goal)
{
    return reader_numbers(r, "the distance", &goal->distance, 1) && need(r, "from", "distance BODY D from X Y Z") &&
           reader_vector(r, "from", &goal->target.position);
}

// Without a rotation only the place counts.
static bool read_relative(goal_reader *r, poise_goal *goal)
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
static double *keep_numbers(goal_reader *r)
{
    return pz_pool_take(r->kept, (size_t)poise_model_info(r->words->model).nq, sizeof(double));
}

static bool read_stay(goal_reader *r, poise_goal *goal)
{
    double *q = keep_numbers(r);
    if (!q) {
        return reader_no_memory(r);
    }
    poise_model_neutral(r->words->model, q);
    if (r->words->q_start) {
        memcpy(q, r->words->q_start, sizeof *q * (size_t)poise_model_info(r->words->model).nq);
    }
    goal->q = q;
    return true;
}

// "posture NAME", or a number for each coordinate.
static bool read_posture(goal_reader *r, poise_goal *goal)
{
    int nq = poise_model_info(r->words->model).nq;
    double *q = keep_numbers(r), number;
    const char *word = reader_peek(r);
    if (!word) {
        return reader_fail(r, r->next, "a posture is needed: a name, or %d numbers", nq);
    }
    if (!q) {
        return reader_no_memory(r);
    }
    goal->q = q;
    if (is_number(word, &number)) {
        return reader_numbers(r, "the posture", q, nq);
    }
    if (strcmp(word, "neutral") == 0) {
        poise_model_neutral(r->words->model, q);
    } else {
        poise_error why = {.text = ""};
        if (!r->words->posture || !r->words->posture(r->words->user, word, q, &why)) {
            return why.text[0] ? reader_fail(r, r->next, "%s", why.text)
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
    bool (*read)(goal_reader *r, poise_goal *goal);
} kind_row;

static const kind_row kinds[] = {
    {"position", POISE_GOAL_POSITION, true, TAKES_AT | TAKES_BAND | TAKES_LOSS, read_point},
    {"direction", POISE_GOAL_DIRECTION, true, TAKES_AXIS, read_direction},
    {"orientation", POISE_GOAL_ORIENTATION, true, TAKES_TURN_BAND, read_orientation},
    {"pose", POISE_GOAL_POSE, true, TAKES_AT | TAKES_TURN | TAKES_BAND | TAKES_TURN_BAND | TAKES_LOSS, read_pose},
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

// Is there a kind of goal of this name?
static bool is_kind(const char *word)
{
    for (int i = 0; i < KINDS; ++i) {
        if (strcmp(kinds[i].name, word) == 0) {
            return true;
        }
    }
    return false;
}

static const kind_row *parse_kind(goal_reader *r)
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

static bool read_weight(goal_reader *r, poise_goal *goal)
{
    int at = r->next;
    return reader_numbers(r, "weight", &goal->weight, 1) &&
           (goal->weight >= 0 || reader_fail(r, at, "a weight must not be negative"));
}

static bool read_rotation_weight(goal_reader *r, poise_goal *goal)
{
    int at = r->next;
    return reader_numbers(r, "rotation-weight", &goal->rotation_weight, 1) &&
           (goal->rotation_weight >= 0 || reader_fail(r, at, "a weight must not be negative"));
}

static bool read_priority(goal_reader *r, poise_goal *goal)
{
    double number = 0;
    int at = r->next;
    if (!reader_numbers(r, "priority", &number, 1)) {
        return false;
    }
    if (!(number >= 0 && number <= 1000) || number != (int)number) {
        return reader_fail(r, at, "a priority is a whole number from 0 (first) to 1000");
    }
    goal->priority = (int)number;
    return true;
}

// Points and directions are given in the frame that the goal names, which is a tool's or the body's.
static bool read_at(goal_reader *r, poise_goal *goal)
{
    poise_vec3 point;
    if (!reader_vector(r, "at", &point)) {
        return false;
    }
    goal->local.position = poise_pose_transform(goal->local, point);
    return true;
}

static bool read_axis(goal_reader *r, poise_goal *goal)
{
    poise_vec3 axis;
    if (!reader_direction(r, "axis", &axis)) {
        return false;
    }
    goal->axis = poise_quat_rotate(goal->local.rotation, axis);
    return true;
}

// A number, or "free" for no bound.
static bool is_bound(const char *word, double *bound)
{
    *bound = INFINITY;
    return strcmp(word, "free") == 0 || is_number(word, bound);
}

// One bound for all three axes, or one for each.
static bool parse_band(goal_reader *r, poise_vec3 *band)
{
    double n[3];
    int count = 0, at = r->next;
    while (count < 3 && reader_peek(r) && is_bound(reader_peek(r), &n[count])) {
        if (!(n[count] >= 0)) {
            return reader_fail(r, r->next, "a tolerance must not be negative");
        }
        r->next += 1;
        count += 1;
    }
    if (count != 1 && count != 3) {
        return reader_fail(r, at, "a tolerance is one number, or three for x y z; \"free\" for an unbounded axis");
    }
    *band = count == 1 ? poise_vec3_make(n[0], n[0], n[0]) : poise_vec3_make(n[0], n[1], n[2]);
    return true;
}

static bool read_tolerance(goal_reader *r, poise_goal *goal)
{
    return parse_band(r, &goal->tolerance);
}

// The band of an angle a is 2 sin(a/2), as goals measure rotations.
static double angle_band(double angle)
{
    double sine, cosine;
    poise_sincos(min2(angle, PZ_PI) / 2, &sine, &cosine);
    return angle < PZ_PI ? 2 * sine : (double)INFINITY;
}

static bool read_rotation_tolerance(goal_reader *r, poise_goal *goal)
{
    poise_vec3 *band = &goal->rotation_tolerance;
    double unit = 1;
    if (!parse_band(r, band) || !reader_angle_unit(r, &unit)) {
        return false;
    }
    *band = poise_vec3_make(angle_band(band->x * unit), angle_band(band->y * unit), angle_band(band->z * unit));
    return true;
}

static bool read_loss(goal_reader *r, poise_goal *goal, poise_loss loss, const char *name)
{
    int at = r->next;
    goal->loss = loss;
    return reader_numbers(r, name, &goal->loss_scale, 1) &&
           (goal->loss_scale > 0 || reader_fail(r, at, "%s needs a length > 0", name));
}

static bool read_huber(goal_reader *r, poise_goal *goal)
{
    return read_loss(r, goal, POISE_LOSS_HUBER, "huber");
}

static bool read_geman_mcclure(goal_reader *r, poise_goal *goal)
{
    return read_loss(r, goal, POISE_LOSS_GEMAN_MCCLURE, "geman-mcclure");
}

typedef struct option_row {
    const char *name;
    int of; // the bit in kind_row.takes; 0: of every kind
    bool (*read)(goal_reader *r, poise_goal *goal);
} option_row;

static const option_row option_rows[] = {
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

enum { OPTIONS = (int)(sizeof option_rows / sizeof option_rows[0]) };

static const char *option_name(const void *user, int index)
{
    (void)user;
    return option_rows[index].name;
}

static bool read_option(goal_reader *r, const kind_row *kind, poise_goal *goal, unsigned *seen)
{
    const char *word = reader_peek(r);
    for (int i = 0; i < OPTIONS; ++i) {
        if (!reader_skip(r, option_rows[i].name)) {
            continue;
        }
        if (option_rows[i].of != 0 && !(option_rows[i].of & kind->takes)) {
            return reader_fail(r, r->next - 1, "a \"%s\" goal has no %s", kind->name, word);
        }
        if (*seen & 1u << i) {
            return reader_fail(r, r->next - 1, "%s is given twice", word);
        }
        *seen |= 1u << i;
        return option_rows[i].read(r, goal);
    }
    double number;
    if (is_number(word, &number)) {
        return reader_fail(r, r->next, "%s is one number too many", word);
    }
    const char *near = poise_nearest_name(word, option_name, NULL, OPTIONS);
    return reader_fail(r, r->next, "\"%s\" is not an option of a goal; %s%s%s", word,
                       near ? "did you mean \"" : "\"poise help goals\" lists them", near ? near : "", near ? "\"?" : "");
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

// All words of a goal. Whatever returns false has said why.
static bool read_goal_words(goal_reader *r, poise_goal *goal)
{
    const kind_row *kind = parse_kind(r);
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
    if (poise_goal_check(goal, r->words->model, &error) != POISE_OK) {
        r->status =
            pz_error_set(r->error, POISE_ERROR_FORMAT, "%s %d: %s", r->noun ? r->noun : "goal", r->number, error.text);
        return false;
    }
    return true;
}

// ---- Descriptions --------------------------------------------------------------------------------------------------------

// The tool whose frame the goal is about, or the body.
static const char *frame_name(const poise_goal *goal, const poise_model *model)
{
    poise_vec3 p = goal->local.position;
    for (int i = 0; i < poise_model_info(model).tools; ++i) {
        poise_vec3 t = poise_model_tool_info(model, i).pose.position;
        if (poise_model_tool_info(model, i).body == goal->body && t.x == p.x && t.y == p.y && t.z == p.z) {
            return poise_model_tool_info(model, i).name;
        }
    }
    return poise_model_joint_info(model, goal->body).body;
}

void poise_goal_describe(const poise_goal *goal, const poise_model *model, char *text, size_t size)
{
    const char *name = poise_goal_kind_name(goal->kind);
    poise_vec3 t = goal->target.position;
    poise_error shown;
    pz_error_set(&shown, POISE_OK, "%s", name);
    for (int i = 0; i < KINDS; ++i) {
        if (kinds[i].kind == goal->kind) {
            const char *frame = kinds[i].has_body ? frame_name(goal, model) : "";
            const char *body = frame ? frame : "", *space = *body ? " " : "";
            if (kinds[i].read == read_point || kinds[i].read == read_pose) {
                pz_error_set(&shown, POISE_OK, "%s%s%s %g %g %g", name, space, body, t.x, t.y, t.z);
            } else {
                pz_error_set(&shown, POISE_OK, "%s%s%s", name, space, body);
            }
            break;
        }
    }
    size_t length = strlen(shown.text);
    length = length < size ? length : size - 1;
    memcpy(text, shown.text, length);
    text[length] = '\0';
}

// ---- Lists that are read from words --------------------------------------------------------------------------------------

typedef struct word_list {
    int count;
    void *entries;      // of `size` bytes each
    const char **texts; // of each, as it was written
    size_t size, entry_room, text_room;
    const char *noun; // what messages call an entry: "goal"
    pz_pool pool;     // what entries point to
    poise_allocator allocator;
} word_list;

// The most words that a text of so many bytes can have: each has a letter and a blank.
#define WORD_LIST_MOST(size) ((size) / 2 + 1)

// One entry from its words, of which there is at least one. `number` is the entry's, from 1.
typedef poise_status (*word_list_read)(void *user, char **word, int count, int number, void *entry);

static const char blank[] = " \t\r\n";

static void word_list_open(word_list *list, const poise_allocator *allocator, const char *noun, size_t size)
{
    *list = (word_list){.noun = noun, .size = size};
    if (allocator) {
        list->allocator = *allocator;
        list->pool.allocator = &list->allocator;
    }
}

// Release all that the list holds, and the block that it is in.
static void word_list_close(word_list *list, void *block)
{
    poise_allocator allocator = list->allocator;
    bool is_given = list->pool.allocator != NULL;
    pz_pool_release(&list->pool);
    pz_release(is_given ? &allocator : NULL, block);
}

static poise_status word_list_no_memory(poise_error *error)
{
    return pz_error_set(error, POISE_ERROR_MEMORY, "no memory left");
}

// Room for one more entry: the place it gets, NULL without memory.
static void *next_entry(word_list *list)
{
    size_t count = (size_t)list->count;
    void *entries = pz_pool_grow(&list->pool, list->entries, count, &list->entry_room, list->size);
    list->entries = entries ? entries : list->entries;
    const char **texts = pz_pool_grow(&list->pool, list->texts, count, &list->text_room, sizeof *texts);
    list->texts = texts ? texts : list->texts;
    return entries && texts ? (unsigned char *)entries + count * list->size : NULL;
}

// The entry in that place is complete: keep its text, without the blanks around it.
static bool take(word_list *list, const char *text, size_t size)
{
    for (; size > 0 && strchr(blank, *text); --size) {
        ++text;
    }
    while (size > 0 && strchr(blank, text[size - 1])) {
        --size;
    }
    const char *copy = pz_pool_copy(&list->pool, text, size);
    if (copy) {
        list->texts[list->count] = copy;
        list->count += 1;
    }
    return copy != NULL;
}

// Add a copy of an entry, and of its text without the blanks around it.
static poise_status word_list_add(word_list *list, const void *entry, const char *text, poise_error *error)
{
    void *place = next_entry(list);
    if (place) {
        memcpy(place, entry, list->size);
    }
    return place && take(list, text, strlen(text)) ? POISE_OK : word_list_no_memory(error);
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

// The first character that is in the set, or the end; the first that is not.
static char *find_any(char *at, const char *set)
{
    while (*at && !strchr(set, *at)) {
        ++at;
    }
    return at;
}

static char *skip_all(char *at, const char *set)
{
    while (*at && strchr(set, *at)) {
        ++at;
    }
    return at;
}

// Cut one entry, up to a semicolon, into words in place. Quotes keep spaces inside a word. Returns what follows the
// semicolon, NULL at the end; *count is negative when a quote does not end.
static char *cut(char *text, char **word, int *count)
{
    *count = 0;
    for (;;) {
        text = skip_all(text, " \t\r\n,");
        if (*text == '\0' || *text == ';') {
            bool more = *text == ';';
            *text = '\0';
            return more ? text + 1 : NULL;
        }
        char quote = *text == '"' || *text == '\'' ? *text++ : '\0';
        word[(*count)++] = text;
        text = find_any(text, quote ? (char[]){quote, '\0'} : " \t\r\n,;");
        if (quote && !*text) {
            *count = -1;
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

typedef struct reading {
    word_list_read read;
    void *user;
    char **word;
    poise_error *error;
} reading;

// `text` is a copy of `source` that is cut up.
static poise_status parse_all(word_list *list, const reading *r, char *text, const char *source)
{
    const char *begin = text;
    while (text) {
        char *here = text;
        int count, number = list->count + 1;
        text = cut(text, r->word, &count);
        if (count < 0) {
            return pz_error_set(r->error, POISE_ERROR_FORMAT, "%s %d: a quote is not closed", list->noun, number);
        }
        if (count == 0) {
            continue; // nothing between two semicolons
        }
        void *entry = next_entry(list);
        poise_status status = entry ? r->read(r->user, r->word, count, number, entry) : word_list_no_memory(r->error);
        const char *from = source + (here - begin);
        if (status == POISE_OK && !take(list, from, text ? (size_t)(text - here) - 1 : strlen(from))) {
            status = word_list_no_memory(r->error);
        }
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

// Add all entries of a text. Those before one that fails stay.
static poise_status word_list_parse(word_list *list, const char *text, word_list_read read, void *user, poise_error *error)
{
    size_t size = strlen(text);
    int before = list->count;
    pz_pool scratch = {.allocator = list->pool.allocator};
    char *copy = pz_pool_copy(&scratch, text, size);
    reading r = {.read = read, .user = user, .error = error};
    r.word = pz_pool_take(&scratch, WORD_LIST_MOST(size), sizeof *r.word);
    poise_status status = copy && r.word ? parse_all(list, &r, copy, text) : word_list_no_memory(error);
    if (status == POISE_OK && list->count == before) {
        status = pz_error_set(error, POISE_ERROR_FORMAT, "%s %d: is empty", list->noun, before + 1);
    }
    pz_pool_release(&scratch);
    return status;
}

// ---- Lists of goals ------------------------------------------------------------------------------------------------------

typedef struct goal_list {
    poise_goal_list open; // what the caller sees
    word_list own;
} goal_list;

poise_status poise_goal_list_create(const poise_allocator *allocator, poise_goal_list **made, poise_error *error)
{
    goal_list *l = made ? pz_allocate(allocator, sizeof *l) : NULL;
    if (!l) {
        return made ? word_list_no_memory(error) : pz_error_set(error, POISE_ERROR_ARGUMENT, "list must not be NULL");
    }
    l->open = (poise_goal_list){.count = 0};
    word_list_open(&l->own, allocator, "goal", sizeof(poise_goal));
    *made = &l->open;
    return POISE_OK;
}

void poise_goal_list_destroy(poise_goal_list *goals)
{
    if (goals) {
        word_list_close(&((goal_list *)goals)->own, goals);
    }
}

static poise_status show(goal_list *l, poise_status status)
{
    l->open = (poise_goal_list){.count = l->own.count, .goals = l->own.entries, .texts = l->own.texts};
    return status;
}

poise_status poise_goal_list_add(poise_goal_list *goals, const poise_goal *goal, const char *text, poise_error *error)
{
    if (!goals || !goal || !text) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, goal and text must not be NULL");
    }
    goal_list *l = (goal_list *)goals;
    return show(l, word_list_add(&l->own, goal, text, error));
}

static poise_status read_goal_entry(void *user, char **word, int count, int number, void *goal)
{
    goal_reader *r = user;
    r->word = word;
    r->count = count;
    r->number = number;
    r->next = 0;
    return read_goal_words(r, goal) ? POISE_OK : r->status;
}

poise_status poise_goal_list_parse(poise_goal_list *goals, const poise_goal_words *words, const char *text,
                                   poise_error *error)
{
    if (!goals || !words || !words->model || !text) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, words, model and text must not be NULL");
    }
    goal_list *l = (goal_list *)goals;
    goal_reader r = {.words = words, .kept = &l->own.pool, .error = error};
    return show(l, word_list_parse(&l->own, text, read_goal_entry, &r, error));
}

// ---- Pins ----------------------------------------------------------------------------------------------------------------
//
// Pins in words: a goal, and when it holds. Lists of them come from words and from JSON.
//
//   [KIND] BODY TARGET [OPTIONS] [from TIME to TIME] [until TIME] [fade IN [OUT]]
//   [KIND] BODY where it is | on its path ...
//   [KIND] BODY [OPTIONS] key TIME TARGET key TIME TARGET ...
//
// The words of time are taken out first; what is left is a goal.

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

// ---- Pins: words ---------------------------------------------------------------------------------------------------------

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
    if (length == 0 || !is_number(word, number)) {
        return 0;
    }
    return is_unit(word_at(r, i + 1), frames) ? 2 : 1;
}

// Step over a time, in seconds of the clip.
static bool parse_time(pin_reader *r, int *i, double *seconds)
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
    return words > 0 && !is_number(word_at(r, i + 1 + words), &number);
}

static bool parse_range(pin_reader *r, int *i, poise_pin *pin)
{
    if (is(r, *i, "from")) {
        *i += 1;
        if (!parse_time(r, i, &pin->from)) {
            return false;
        }
        if (!is(r, *i, "to") && !is(r, *i, "until")) {
            return true;
        }
    }
    *i += 1;
    return parse_time(r, i, &pin->to);
}

static bool parse_fade(pin_reader *r, int *i, poise_pin *pin)
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

// ---- Pins: the goal ------------------------------------------------------------------------------------------------------

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
            if (!parse_range(r, &i, pin)) {
                return false;
            }
        } else if (is(r, i, "fade")) {
            if (!parse_fade(r, &i, pin)) {
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
            if (!parse_time(r, &i, &time)) {
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
    if (g->count == 0 || is_kind(r->goal_word[0])) {
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

static poise_status read_pin_goal(pin_reader *r, const goal_words *g, poise_goal *goal)
{
    goal_reader reader = {.words = r->words,
                          .kept = r->kept,
                          .word = r->goal_word,
                          .count = g->count,
                          .number = r->number,
                          .noun = "pin",
                          .place = r->place,
                          .error = r->error};
    r->place[g->count] = r->count; // a word that is missing
    return read_goal_words(&reader, goal) ? POISE_OK : reader.status;
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
    return read_pin_goal(r, g, &pin->goal);
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
        if (!parse_time(r, &i, &keys[k].time)) {
            return POISE_ERROR_FORMAT;
        }
        int end = i;
        while (end < r->count && !is(r, end, "key") && !is(r, end, "fade") && !is_range(r, end)) {
            end += 1;
        }
        memcpy(r->goal_word, word, words * sizeof *word);
        memcpy(r->place, place, words * sizeof *place);
        insert_target(r, &own, (const char *const *)(r->word + i), end - i, i);
        poise_status status = read_pin_goal(r, &own, &keys[k].goal);
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
    return pin->target == POISE_PIN_GIVEN ? read_pin_goal(r, &g, &pin->goal) : read_from_clip(r, &g, pin);
}

// ---- Pins: lists ---------------------------------------------------------------------------------------------------------

typedef struct pin_list {
    poise_pin_list open; // what the caller sees
    word_list own;
} pin_list;

poise_status poise_pin_list_create(const poise_allocator *allocator, poise_pin_list **made, poise_error *error)
{
    pin_list *l = made ? pz_allocate(allocator, sizeof *l) : NULL;
    if (!l) {
        return made ? word_list_no_memory(error) : pz_error_set(error, POISE_ERROR_ARGUMENT, "list must not be NULL");
    }
    l->open = (poise_pin_list){.count = 0};
    word_list_open(&l->own, allocator, "pin", sizeof(poise_pin));
    *made = &l->open;
    return POISE_OK;
}

void poise_pin_list_destroy(poise_pin_list *pins)
{
    if (pins) {
        word_list_close(&((pin_list *)pins)->own, pins);
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
    pin_list *l = (pin_list *)pins;
    size_t most = WORD_LIST_MOST(strlen(text)) + 10; // a kind, and a pose that the clip gives
    pz_pool scratch = {.allocator = l->own.pool.allocator};
    pin_reader r = {.words = words, .clip = clip, .kept = &l->own.pool, .error = error};
    r.goal_word = pz_pool_take(&scratch, most, sizeof *r.goal_word);
    r.place = pz_pool_take(&scratch, most, sizeof *r.place);
    poise_status status =
        r.goal_word && r.place ? word_list_parse(&l->own, text, read_pin, &r, error) : word_list_no_memory(error);
    l->open = (poise_pin_list){.count = l->own.count, .pins = l->own.entries, .texts = l->own.texts};
    pz_pool_release(&scratch);
    return status;
}

// ---- Pins in JSON: every pin becomes its words ---------------------------------------------------------------------------

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
    const poise_allocator *allocator = ((pin_list *)pins)->own.pool.allocator;
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
