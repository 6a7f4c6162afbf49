// Goals in words: kinds, their options, and back.
#include "io/goals/goal_words.h"

#include "math/scalar.h"

#include <string.h>

// ---- Kinds ---------------------------------------------------------------------------------------------------------------

static bool read_point(pz_reader *r, poise_goal *goal)
{
    pz_reader_skip(r, "to");
    return pz_reader_vector(r, "the target", &goal->target.position);
}

static bool read_direction(pz_reader *r, poise_goal *goal)
{
    if (!pz_reader_skip(r, "along")) {
        pz_reader_skip(r, "to");
    }
    return pz_reader_direction(r, "the direction", &goal->direction);
}

static bool read_orientation(pz_reader *r, poise_goal *goal)
{
    pz_reader_skip(r, "to");
    return pz_reader_rotation(r, &goal->target.rotation);
}

static bool read_pose(pz_reader *r, poise_goal *goal)
{
    return read_point(r, goal) && pz_reader_rotation(r, &goal->target.rotation);
}

// A word that must stand here.
static bool need(pz_reader *r, const char *word, const char *form)
{
    if (pz_reader_skip(r, word)) {
        return true;
    }
    const char *there = pz_reader_peek(r);
    return pz_reader_fail(r, r->next, "%s%s%s, but \"%s\" comes here: %s", there ? "\"" : "the goal ends",
                          there ? there : "", there ? "\"" : "", word, form);
}

static bool read_plane(pz_reader *r, poise_goal *goal)
{
    static const char form[] = "plane BODY through X Y Z normal X Y Z";
    return need(r, "through", form) && pz_reader_vector(r, "through", &goal->target.position) && need(r, "normal", form) &&
           pz_reader_direction(r, "normal", &goal->direction);
}

static bool read_line(pz_reader *r, poise_goal *goal)
{
    static const char form[] = "line BODY through X Y Z along X Y Z";
    return need(r, "through", form) && pz_reader_vector(r, "through", &goal->target.position) && need(r, "along", form) &&
           pz_reader_direction(r, "along", &goal->direction);
}

static bool read_distance(pz_reader *r, poise_goal *goal)
{
    return pz_reader_numbers(r, "the distance", &goal->distance, 1) && need(r, "from", "distance BODY D from X Y Z") &&
           pz_reader_vector(r, "from", &goal->target.position);
}

// Without a rotation only the place counts.
static bool read_relative(pz_reader *r, poise_goal *goal)
{
    poise_pose frame;
    if (!need(r, "to", "relative BODY to BODY X Y Z") || !pz_reader_body(r, &goal->body2, &frame) ||
        !pz_reader_vector(r, "the place", &goal->target.position)) {
        return false;
    }
    goal->rotation_weight = 0;
    if (pz_reader_has_rotation(r)) {
        goal->rotation_weight = 1;
        if (!pz_reader_rotation(r, &goal->target.rotation)) {
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
        return pz_reader_no_memory(r);
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
    const char *word = pz_reader_peek(r);
    if (!word) {
        return pz_reader_fail(r, r->next, "a posture is needed: a name, or %d numbers", nq);
    }
    if (!q) {
        return pz_reader_no_memory(r);
    }
    goal->q = q;
    if (pz_reader_is_number(word, &number)) {
        return pz_reader_numbers(r, "the posture", q, nq);
    }
    if (strcmp(word, "neutral") == 0) {
        poise_model_neutral(r->words->model, q);
    } else {
        poise_error why = {.text = ""};
        if (!r->words->posture || !r->words->posture(r->words->user, word, q, &why)) {
            return why.text[0] ? pz_reader_fail(r, r->next, "%s", why.text)
                               : pz_reader_fail(r, r->next, "no posture is called \"%s\"", word);
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
    const char *word = pz_reader_peek(r);
    for (int i = 0; i < KINDS; ++i) {
        if (pz_reader_skip(r, kinds[i].name)) {
            return &kinds[i];
        }
    }
    const char *near = poise_nearest_name(word, kind_name, NULL, KINDS);
    pz_reader_fail(r, r->next, "there is no goal \"%s\"; %s%s%s", word,
                   near ? "did you mean \"" : "\"poise help goals\" lists them", near ? near : "", near ? "\"?" : "");
    return NULL;
}

// ---- Options -------------------------------------------------------------------------------------------------------------

static bool read_weight(pz_reader *r, poise_goal *goal)
{
    int at = r->next;
    return pz_reader_numbers(r, "weight", &goal->weight, 1) &&
           (goal->weight >= 0 || pz_reader_fail(r, at, "a weight must not be negative"));
}

static bool read_rotation_weight(pz_reader *r, poise_goal *goal)
{
    int at = r->next;
    return pz_reader_numbers(r, "rotation-weight", &goal->rotation_weight, 1) &&
           (goal->rotation_weight >= 0 || pz_reader_fail(r, at, "a weight must not be negative"));
}

static bool read_priority(pz_reader *r, poise_goal *goal)
{
    double number = 0;
    int at = r->next;
    if (!pz_reader_numbers(r, "priority", &number, 1)) {
        return false;
    }
    if (!(number >= 0 && number <= 1000) || number != (int)number) {
        return pz_reader_fail(r, at, "a priority is a whole number from 0 (first) to 1000");
    }
    goal->priority = (int)number;
    return true;
}

// Points and directions are given in the frame that the goal names, which is a tool's or the body's.
static bool read_at(pz_reader *r, poise_goal *goal)
{
    poise_vec3 point;
    if (!pz_reader_vector(r, "at", &point)) {
        return false;
    }
    goal->local.position = poise_pose_transform(goal->local, point);
    return true;
}

static bool read_axis(pz_reader *r, poise_goal *goal)
{
    poise_vec3 axis;
    if (!pz_reader_direction(r, "axis", &axis)) {
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
    while (count < 3 && pz_reader_peek(r) && is_bound(pz_reader_peek(r), &n[count])) {
        if (!(n[count] >= 0)) {
            return pz_reader_fail(r, r->next, "a tolerance must not be negative");
        }
        r->next += 1;
        count += 1;
    }
    if (count != 1 && count != 3) {
        return pz_reader_fail(r, at, "a tolerance is one number, or three for x y z; \"free\" for an unbounded axis");
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
    if (!take_band(r, band) || !pz_reader_angle_unit(r, &unit)) {
        return false;
    }
    *band = poise_vec3_make(angle_band(band->x * unit), angle_band(band->y * unit), angle_band(band->z * unit));
    return true;
}

static bool read_loss(pz_reader *r, poise_goal *goal, poise_loss loss, const char *name)
{
    int at = r->next;
    goal->loss = loss;
    return pz_reader_numbers(r, name, &goal->loss_scale, 1) &&
           (goal->loss_scale > 0 || pz_reader_fail(r, at, "%s needs a length > 0", name));
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
    const char *word = pz_reader_peek(r);
    for (int i = 0; i < OPTIONS; ++i) {
        if (!pz_reader_skip(r, options[i].name)) {
            continue;
        }
        if (options[i].of != 0 && !(options[i].of & kind->takes)) {
            return pz_reader_fail(r, r->next - 1, "a \"%s\" goal has no %s", kind->name, word);
        }
        if (*seen & 1u << i) {
            return pz_reader_fail(r, r->next - 1, "%s is given twice", word);
        }
        *seen |= 1u << i;
        return options[i].read(r, goal);
    }
    double number;
    if (pz_reader_is_number(word, &number)) {
        return pz_reader_fail(r, r->next, "%s is one number too many", word);
    }
    const char *near = poise_nearest_name(word, option_name, NULL, OPTIONS);
    return pz_reader_fail(r, r->next, "\"%s\" is not an option of a goal; %s%s%s", word,
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
        if (!pz_reader_body(r, &goal->body, &goal->local)) {
            return false;
        }
        goal->axis = poise_quat_rotate(goal->local.rotation, goal->axis);
    }
    if (!kind->read(r, goal)) {
        return false;
    }
    unsigned seen = 0;
    while (pz_reader_peek(r)) {
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
