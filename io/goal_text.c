// Goals in words: what a few words mean, the kinds and their options, and back; and lists of entries in words.
#include "io/goal_text.h"

#include "base/arena.h"
#include "num/real.h"

#include <string.h>

// ---- Words of one goal ---------------------------------------------------------------------------------------------------

// Say what is wrong with word `index`; always false.
static bool reader_fail(pz_reader *r, int index, const char *format, ...)
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
static bool reader_no_memory(pz_reader *r)
{
    r->status = pz_error_set(r->error, POISE_ERROR_MEMORY, "no memory left");
    return false;
}

bool pz_reader_is_number(const char *text, double *number)
{
    return pz_word_number((pz_word){text, strlen(text)}, number);
}

// The next word; NULL at the end.
static const char *reader_peek(const pz_reader *r)
{
    return r->next < r->count ? r->word[r->next] : NULL;
}

// Step over the next word if it is `word`.
static bool reader_skip(pz_reader *r, const char *word)
{
    const char *next = reader_peek(r);
    bool is_it = next && strcmp(next, word) == 0;
    r->next += is_it;
    return is_it;
}

// Numbers with a meaning: "the target", "a normal".
static bool reader_numbers(pz_reader *r, const char *meaning, double *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        const char *word = reader_peek(r);
        const char *plural = count > 1 ? "s" : "";
        if (!word) {
            return reader_fail(r, r->next, "%s needs %d number%s, but there %s %d", meaning, count, plural,
                               i == 1 ? "is" : "are", i);
        }
        if (!pz_reader_is_number(word, &numbers[i])) {
            return reader_fail(r, r->next, "\"%s\" is not a number; %s needs %d number%s", word, meaning, count, plural);
        }
        r->next += 1;
    }
    return true;
}

static bool reader_vector(pz_reader *r, const char *meaning, poise_vec3 *v)
{
    double n[3];
    if (!reader_numbers(r, meaning, n, 3)) {
        return false;
    }
    *v = poise_vec3_make(n[0], n[1], n[2]);
    return true;
}

// "z", "-x" or three numbers that are not all zero, made unit.
static bool reader_direction(pz_reader *r, const char *meaning, poise_vec3 *v)
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
    double most = max2(fabs(v->x), max2(fabs(v->y), fabs(v->z)));
    if (!(most > 0)) {
        return reader_fail(r, first, "%s has zero length; give three numbers, or one of x y z -x -y -z", meaning);
    }
    poise_vec3 u = poise_vec3_make(v->x / most, v->y / most, v->z / most); // scaled first: squares do not overflow
    double length = sqrt(u.x * u.x + u.y * u.y + u.z * u.z);
    *v = poise_vec3_make(u.x / length, u.y / length, u.z / length);
    return true;
}

// "deg" or "rad" after angles: its size in radians.
static bool reader_angle_unit(pz_reader *r, double *unit)
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
static bool reader_body(pz_reader *r, int *body, poise_pose *local)
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

static bool reader_has_rotation(const pz_reader *r)
{
    const char *word = reader_peek(r);
    return word && (strcmp(word, "rpy") == 0 || strcmp(word, "quaternion") == 0 || strcmp(word, "turn") == 0);
}

// "rpy 0 90 0 deg", "quaternion 0 0 0 1" or "turn z 90 deg".
static bool reader_rotation(pz_reader *r, poise_quat *rotation)
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

static bool read_point(pz_reader *r, poise_goal *goal)
{
    reader_skip(r, "to");
    return reader_vector(r, "the target", &goal->target.position);
}

static bool read_direction(pz_reader *r, poise_goal *goal)
{
    if (!reader_skip(r, "along")) {
        reader_skip(r, "to");
    }
    return reader_direction(r, "the direction", &goal->direction);
}

static bool read_orientation(pz_reader *r, poise_goal *goal)
{
    reader_skip(r, "to");
    return reader_rotation(r, &goal->target.rotation);
}

static bool read_pose(pz_reader *r, poise_goal *goal)
{
    return read_point(r, goal) && reader_rotation(r, &goal->target.rotation);
}

// A word that must stand here.
static bool need(pz_reader *r, const char *word, const char *form)
{
    if (reader_skip(r, word)) {
        return true;
    }
    const char *there = reader_peek(r);
    return reader_fail(r, r->next, "%s%s%s, but \"%s\" comes here: %s", there ? "\"" : "the goal ends", there ? there : "",
                       there ? "\"" : "", word, form);
}

static bool read_plane(pz_reader *r, poise_goal *goal)
{
    static const char form[] = "plane BODY through X Y Z normal X Y Z";
    return need(r, "through", form) && reader_vector(r, "through", &goal->target.position) && need(r, "normal", form) &&
           reader_direction(r, "normal", &goal->direction);
}

static bool read_line(pz_reader *r, poise_goal *goal)
{
    static const char form[] = "line BODY through X Y Z along X Y Z";
    return need(r, "through", form) && reader_vector(r, "through", &goal->target.position) && need(r, "along", form) &&
           reader_direction(r, "along", &goal->direction);
}

static bool read_distance(pz_reader *r, poise_goal *goal)
{
    return reader_numbers(r, "the distance", &goal->distance, 1) && need(r, "from", "distance BODY D from X Y Z") &&
           reader_vector(r, "from", &goal->target.position);
}

// Without a rotation only the place counts.
static bool read_relative(pz_reader *r, poise_goal *goal)
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
static double *keep_numbers(pz_reader *r)
{
    return pz_pool_take(r->kept, (size_t)poise_model_info(r->words->model).nq, sizeof(double));
}

static bool read_stay(pz_reader *r, poise_goal *goal)
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
static bool read_posture(pz_reader *r, poise_goal *goal)
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
    if (pz_reader_is_number(word, &number)) {
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
    bool (*read)(pz_reader *r, poise_goal *goal);
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

bool pz_goal_is_kind(const char *word)
{
    for (int i = 0; i < KINDS; ++i) {
        if (strcmp(kinds[i].name, word) == 0) {
            return true;
        }
    }
    return false;
}

static const kind_row *take_kind(pz_reader *r)
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

static bool read_weight(pz_reader *r, poise_goal *goal)
{
    int at = r->next;
    return reader_numbers(r, "weight", &goal->weight, 1) &&
           (goal->weight >= 0 || reader_fail(r, at, "a weight must not be negative"));
}

static bool read_rotation_weight(pz_reader *r, poise_goal *goal)
{
    int at = r->next;
    return reader_numbers(r, "rotation-weight", &goal->rotation_weight, 1) &&
           (goal->rotation_weight >= 0 || reader_fail(r, at, "a weight must not be negative"));
}

static bool read_priority(pz_reader *r, poise_goal *goal)
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
static bool read_at(pz_reader *r, poise_goal *goal)
{
    poise_vec3 point;
    if (!reader_vector(r, "at", &point)) {
        return false;
    }
    goal->local.position = poise_pose_transform(goal->local, point);
    return true;
}

static bool read_axis(pz_reader *r, poise_goal *goal)
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
    return strcmp(word, "free") == 0 || pz_reader_is_number(word, bound);
}

// One bound for all three axes, or one for each.
static bool take_band(pz_reader *r, poise_vec3 *band)
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

static bool read_tolerance(pz_reader *r, poise_goal *goal)
{
    return take_band(r, &goal->tolerance);
}

// The band of an angle a is 2 sin(a/2), as goals measure rotations.
static double angle_band(double angle)
{
    double sine, cosine;
    poise_sincos(min2(angle, PZ_PI) / 2, &sine, &cosine);
    return angle < PZ_PI ? 2 * sine : (double)INFINITY;
}

static bool read_rotation_tolerance(pz_reader *r, poise_goal *goal)
{
    poise_vec3 *band = &goal->rotation_tolerance;
    double unit = 1;
    if (!take_band(r, band) || !reader_angle_unit(r, &unit)) {
        return false;
    }
    *band = poise_vec3_make(angle_band(band->x * unit), angle_band(band->y * unit), angle_band(band->z * unit));
    return true;
}

static bool read_loss(pz_reader *r, poise_goal *goal, poise_loss loss, const char *name)
{
    int at = r->next;
    goal->loss = loss;
    return reader_numbers(r, name, &goal->loss_scale, 1) &&
           (goal->loss_scale > 0 || reader_fail(r, at, "%s needs a length > 0", name));
}

static bool read_huber(pz_reader *r, poise_goal *goal)
{
    return read_loss(r, goal, POISE_LOSS_HUBER, "huber");
}

static bool read_geman_mcclure(pz_reader *r, poise_goal *goal)
{
    return read_loss(r, goal, POISE_LOSS_GEMAN_MCCLURE, "geman-mcclure");
}

typedef struct option_row {
    const char *name;
    int of; // the bit in kind_row.takes; 0: of every kind
    bool (*read)(pz_reader *r, poise_goal *goal);
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

static bool read_option(pz_reader *r, const kind_row *kind, poise_goal *goal, unsigned *seen)
{
    const char *word = reader_peek(r);
    for (int i = 0; i < OPTIONS; ++i) {
        if (!reader_skip(r, options[i].name)) {
            continue;
        }
        if (options[i].of != 0 && !(options[i].of & kind->takes)) {
            return reader_fail(r, r->next - 1, "a \"%s\" goal has no %s", kind->name, word);
        }
        if (*seen & 1u << i) {
            return reader_fail(r, r->next - 1, "%s is given twice", word);
        }
        *seen |= 1u << i;
        return options[i].read(r, goal);
    }
    double number;
    if (pz_reader_is_number(word, &number)) {
        return reader_fail(r, r->next, "%s is one number too many", word);
    }
    const char *near = poise_nearest_name(word, option_name, NULL, OPTIONS);
    return reader_fail(r, r->next, "\"%s\" is not an option of a goal; %s%s%s", word,
                       near ? "did you mean \"" : "\"poise help goals\" lists them", near ? near : "", near ? "\"?" : "");
}

// ---- Goals ---------------------------------------------------------------------------------------------------------------

bool pz_goal_read(pz_reader *r, poise_goal *goal)
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

static const char blank[] = " \t\r\n";

void pz_word_list_open(pz_word_list *list, const poise_allocator *allocator, const char *noun, size_t size)
{
    *list = (pz_word_list){.noun = noun, .size = size};
    if (allocator) {
        list->allocator = *allocator;
        list->pool.allocator = &list->allocator;
    }
}

void pz_word_list_close(pz_word_list *list, void *block)
{
    poise_allocator allocator = list->allocator;
    bool is_given = list->pool.allocator != NULL;
    pz_pool_release(&list->pool);
    pz_release(is_given ? &allocator : NULL, block);
}

poise_status pz_word_list_no_memory(poise_error *error)
{
    return pz_error_set(error, POISE_ERROR_MEMORY, "no memory left");
}

// Room for one more entry: the place it gets, NULL without memory.
static void *next_entry(pz_word_list *list)
{
    size_t count = (size_t)list->count;
    void *entries = pz_pool_grow(&list->pool, list->entries, count, &list->entry_room, list->size);
    list->entries = entries ? entries : list->entries;
    const char **texts = pz_pool_grow(&list->pool, list->texts, count, &list->text_room, sizeof *texts);
    list->texts = texts ? texts : list->texts;
    return entries && texts ? (unsigned char *)entries + count * list->size : NULL;
}

// The entry in that place is complete: keep its text, without the blanks around it.
static bool take(pz_word_list *list, const char *text, size_t size)
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
static poise_status word_list_add(pz_word_list *list, const void *entry, const char *text, poise_error *error)
{
    void *place = next_entry(list);
    if (place) {
        memcpy(place, entry, list->size);
    }
    return place && take(list, text, strlen(text)) ? POISE_OK : pz_word_list_no_memory(error);
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
    pz_word_list_read read;
    void *user;
    char **word;
    poise_error *error;
} reading;

// `text` is a copy of `source` that is cut up.
static poise_status parse_all(pz_word_list *list, const reading *r, char *text, const char *source)
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
        poise_status status = entry ? r->read(r->user, r->word, count, number, entry) : pz_word_list_no_memory(r->error);
        const char *from = source + (here - begin);
        if (status == POISE_OK && !take(list, from, text ? (size_t)(text - here) - 1 : strlen(from))) {
            status = pz_word_list_no_memory(r->error);
        }
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

poise_status pz_word_list_parse(pz_word_list *list, const char *text, pz_word_list_read read, void *user, poise_error *error)
{
    size_t size = strlen(text);
    int before = list->count;
    pz_pool scratch = {.allocator = list->pool.allocator};
    char *copy = pz_pool_copy(&scratch, text, size);
    reading r = {.read = read, .user = user, .error = error};
    r.word = pz_pool_take(&scratch, PZ_WORD_LIST_MOST(size), sizeof *r.word);
    poise_status status = copy && r.word ? parse_all(list, &r, copy, text) : pz_word_list_no_memory(error);
    if (status == POISE_OK && list->count == before) {
        status = pz_error_set(error, POISE_ERROR_FORMAT, "%s %d: is empty", list->noun, before + 1);
    }
    pz_pool_release(&scratch);
    return status;
}

// ---- Lists of goals ------------------------------------------------------------------------------------------------------

typedef struct list {
    poise_goal_list open; // what the caller sees
    pz_word_list own;
} list;

poise_status poise_goal_list_create(const poise_allocator *allocator, poise_goal_list **made, poise_error *error)
{
    list *l = made ? pz_allocate(allocator, sizeof *l) : NULL;
    if (!l) {
        return made ? pz_word_list_no_memory(error) : pz_error_set(error, POISE_ERROR_ARGUMENT, "list must not be NULL");
    }
    l->open = (poise_goal_list){.count = 0};
    pz_word_list_open(&l->own, allocator, "goal", sizeof(poise_goal));
    *made = &l->open;
    return POISE_OK;
}

void poise_goal_list_destroy(poise_goal_list *goals)
{
    if (goals) {
        pz_word_list_close(&((list *)goals)->own, goals);
    }
}

static poise_status show(list *l, poise_status status)
{
    l->open = (poise_goal_list){.count = l->own.count, .goals = l->own.entries, .texts = l->own.texts};
    return status;
}

poise_status poise_goal_list_add(poise_goal_list *goals, const poise_goal *goal, const char *text, poise_error *error)
{
    if (!goals || !goal || !text) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, goal and text must not be NULL");
    }
    list *l = (list *)goals;
    return show(l, word_list_add(&l->own, goal, text, error));
}

static poise_status read_goal(void *user, char **word, int count, int number, void *goal)
{
    pz_reader *r = user;
    r->word = word;
    r->count = count;
    r->number = number;
    r->next = 0;
    return pz_goal_read(r, goal) ? POISE_OK : r->status;
}

poise_status poise_goal_list_parse(poise_goal_list *goals, const poise_goal_words *words, const char *text,
                                   poise_error *error)
{
    if (!goals || !words || !words->model || !text) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, words, model and text must not be NULL");
    }
    list *l = (list *)goals;
    pz_reader r = {.words = words, .kept = &l->own.pool, .error = error};
    return show(l, pz_word_list_parse(&l->own, text, read_goal, &r, error));
}
