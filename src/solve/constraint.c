// Constraints: names, what must be sound in them, and what they say about a point: rows, numbers that must be 0 or at least
// 0, with their first and second derivatives (constrained.h has the formulas).
#include "solve/constrained.h"

#include "base/error.h"
#include "goal/goal.h"

#include <string.h>

#define SPREAD   0.01 // added to the diagonal of N, as a share of 1/D, where two slides are nearly parallel: bounded there
#define PARALLEL 0.09 // sin^2 of the angle below which they are
#define UPRIGHT  0.1  // least cos of half the angle that a hinge's rows divide by

// ---- Sizes ---------------------------------------------------------------------------------------------------------------

static int rows_of_pairs(const poise_constraint *c)
{
    int rows = 0;
    for (int i = 0; i < c->pair_count; ++i) {
        rows += pz_contact_count(&c->shapes[c->pairs[i].a], &c->shapes[c->pairs[i].b]);
    }
    return rows;
}

static int rows_of(const poise_constraint *c)
{
    switch (c->kind) {
    case POISE_CONSTRAINT_CLEARANCE:
        return rows_of_pairs(c);
    case POISE_CONSTRAINT_CONNECT:
        return 3;
    case POISE_CONSTRAINT_WELD:
        return 6;
    case POISE_CONSTRAINT_HINGE:
        return 5;
    case POISE_CONSTRAINT_BALANCE:
        return c->corner_count;
    default:
        return 2;
    }
}

void poise_constraints_size(const poise_constraint *constraints, int count, poise_constraint_options *options)
{
    if (!options || (count > 0 && !constraints)) {
        return;
    }
    int rows = count > 0, shapes = 0; // one at least: shapes without a pair to watch are held, too
    for (int i = 0; i < count; ++i) {
        rows += rows_of(&constraints[i]);
        shapes += constraints[i].shape_count;
    }
    options->rows = rows > options->rows ? rows : options->rows;
    options->shapes = shapes > options->shapes ? shapes : options->shapes;
}

void pz_constraints_lay_out(pz_constraints *c, const poise_model *model, const poise_constraint_options *options,
                            pz_arena *arena)
{
    c->row_capacity = options->rows;
    c->shape_capacity = options->shapes;
    c->unit = model->unit;
    c->closure = options->closure_tolerance;
    c->placed = (pz_placed *)pz_arena_take(arena, (size_t)options->shapes, sizeof *c->placed);
    c->columns = (double *)pz_arena_take(arena, 15 * (size_t)model->nv, sizeof *c->columns);
}

// ---- Checks --------------------------------------------------------------------------------------------------------------

static bool is_unit(quat r)
{
    return fabs(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w - 1.0) <= 1e-6;
}

static bool is_body(const poise_model *model, int body)
{
    return body == POISE_WORLD || (body >= 0 && body < model->joint_count);
}

static poise_status refuse(poise_error *error, const char *rule)
{
    return pz_error_set(error, POISE_ERROR_ARGUMENT, "%s", rule);
}

static poise_status check_clearance(const poise_constraint *c, const poise_model *model, poise_error *error)
{
    if (c->shape_count < 0 || c->pair_count < 0 || (c->shape_count > 0 && !c->shapes) || (c->pair_count > 0 && !c->pairs)) {
        return refuse(error, "shapes and pairs must not be NULL, and counts must be >= 0");
    }
    if (!(c->margin >= 0 && is_finite(c->margin))) {
        return refuse(error, "margin must be finite and >= 0");
    }
    for (int i = 0; c->margins && i < c->pair_count; ++i) {
        if (!(c->margins[i] >= 0 && is_finite(c->margins[i]))) {
            return refuse(error, "margins must be finite and >= 0");
        }
    }
    for (int i = 0; i < c->shape_count; ++i) {
        poise_error why = {.text = ""};
        if (poise_shape_check(&c->shapes[i], model, &why) != POISE_OK) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "shape %d%s", i, strchr(why.text, ':'));
        }
    }
    for (int i = 0; i < c->pair_count; ++i) {
        poise_pair pair = c->pairs[i];
        if (pair.a < 0 || pair.b < 0 || pair.a >= c->shape_count || pair.b >= c->shape_count || pair.a == pair.b) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "pair %d: both must be shapes of the constraint, not the same",
                                i);
        }
        if (c->shapes[pair.a].kind == POISE_SHAPE_HALF_SPACE && c->shapes[pair.b].kind == POISE_SHAPE_HALF_SPACE) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "pair %d: two half-spaces have no distance", i);
        }
    }
    return POISE_OK;
}

static poise_status check_balance(const poise_constraint *c, const poise_model *model, poise_error *error)
{
    if (!(model->total_mass > 0)) {
        return refuse(error, "the model has no mass");
    }
    if (c->corner_count < 3 || !c->polygon) {
        return refuse(error, "polygon must have at least 3 corners");
    }
    if (!(c->margin >= 0 && is_finite(c->margin)) || !v3_is_finite(c->axis) || v3_norm(c->axis) == 0) {
        return refuse(error, "margin must be finite and >= 0, and axis must not be 0");
    }
    for (int i = 0; i < c->corner_count; ++i) {
        vec3 a = c->polygon[i], b = c->polygon[(i + 1) % c->corner_count], d = c->polygon[(i + 2) % c->corner_count];
        if (!v3_is_finite(a) || !(v3_dot(c->axis, v3_cross(v3_sub(b, a), v3_sub(d, b))) > 0)) {
            return refuse(error, "polygon must be convex and go counter-clockwise about axis");
        }
    }
    return POISE_OK;
}

static poise_status check_ends(const poise_constraint *c, const poise_model *model, poise_error *error)
{
    if (!is_body(model, c->body) || !is_body(model, c->body2) || c->body == c->body2) {
        return refuse(error, "body and body2 must be two of the model's; one may be POISE_WORLD");
    }
    bool is_sound = v3_is_finite(c->local.position) && v3_is_finite(c->target.position) && is_unit(c->local.rotation) &&
                    is_unit(c->target.rotation);
    if (!is_sound) {
        return refuse(error, "local and target must be finite, with unit quaternions");
    }
    bool is_between = c->kind == POISE_CONSTRAINT_DISTANCE || c->kind == POISE_CONSTRAINT_PLANE;
    if (is_between && (!(c->lower <= c->upper) || (!is_finite(c->lower) && !is_finite(c->upper)))) {
        return refuse(error, "lower must be <= upper, and one of them finite");
    }
    if (c->kind == POISE_CONSTRAINT_DISTANCE && is_finite(c->upper) && c->upper <= 0) {
        return refuse(error, "upper must be > 0: for a distance of 0 use CONNECT");
    }
    return POISE_OK;
}

poise_status poise_constraint_check(const poise_constraint *constraint, const poise_model *model, poise_error *error)
{
    if (!constraint || !model) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "constraint and model must not be NULL");
    }
    if ((unsigned)constraint->kind >= POISE_CONSTRAINT_KIND_COUNT) {
        return refuse(error, "kind must be one of poise_constraint_kind");
    }
    if (constraint->kind == POISE_CONSTRAINT_CLEARANCE) {
        return check_clearance(constraint, model, error);
    }
    if (constraint->shape_count != 0) {
        return refuse(error, "only CLEARANCE has shapes");
    }
    return constraint->kind == POISE_CONSTRAINT_BALANCE ? check_balance(constraint, model, error)
                                                        : check_ends(constraint, model, error);
}

poise_status pz_constraints_check(const pz_constraints *c, const poise_model *model, const poise_constraint *constraints,
                                  int count, poise_error *error)
{
    if (count < 0 || (count > 0 && !constraints)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "constraints must not be NULL");
    }
    for (int i = 0; i < count; ++i) {
        poise_error why = {.text = ""};
        poise_status status = poise_constraint_check(&constraints[i], model, &why);
        if (status != POISE_OK) {
            return pz_error_set(error, status, "constraint %d (%s): %s", i, poise_constraint_kind_name(constraints[i].kind),
                                why.text);
        }
    }
    poise_constraint_options needed = {0};
    poise_constraints_size(constraints, count, &needed);
    if (needed.rows > c->row_capacity || needed.shapes > c->shape_capacity) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "the constraints have %d rows and %d shapes, but the solver was created for %d and %d: raise "
                            "options.constraints (poise_constraints_size)",
                            needed.rows, needed.shapes, c->row_capacity, c->shape_capacity);
    }
    return POISE_OK;
}

// ---- Rows at a point -----------------------------------------------------------------------------------------------------

// Is a sum of rows still to be made? Where each goes.
typedef struct sink {
    pz_constraints *c;
    const poise_kinematics *kin;
    pz_constraint_rows *rows; // NULL: only asked whether all hold, or for the least room
    double farthest;          // room beyond which rows of pairs do not matter
    bool stops;               // at the first row that does not hold
    bool holds;
    double closure;
    double room; // least so far; errors count with a minus
    int item;
    double clearance;        // least distance of a pair so far; -INFINITY: not wanted
    pz_constraint_row spare; // scratch
} sink;

// Room for the next row: rows are large, and are made where they stay.
static pz_constraint_row *next_row(sink *s)
{
    return s->rows && s->rows->count < s->c->row_capacity ? &s->rows->row[s->rows->count] : &s->spare;
}

static void add_row(sink *s, const pz_constraint_row *row)
{
    double lacks = row->is_equality ? fabs(row->room) : max2(0.0, -row->room);
    double room = row->is_equality ? -fabs(row->room) : row->room;
    if (room < s->room) {
        s->room = room;
        s->item = row->item;
    }
    s->holds = s->holds && pz_constraint_holds(row, s->closure);
    if (row != &s->spare) {
        s->rows->count += 1;
        s->rows->worst = max2(s->rows->worst, lacks);
        s->rows->broken += row->is_equality ? lacks : max2(0.0, -pz_constraint_value(row));
    }
}

// ---- Kinds ---------------------------------------------------------------------------------------------------------------

static double margin_of(const poise_constraint *given, int pair)
{
    return given->margins ? given->margins[pair] : given->margin;
}

// Is a pair that is at least so far apart of no interest?
static bool is_far(const sink *s, double bound, double margin, double per_length)
{
    double room = (bound - margin) * per_length;
    return (room > s->farthest || (!s->rows && room > s->room)) && bound > s->clearance;
}

// `placed`: all shapes; NULL: each is placed when its pair comes.
static void add_pairs(sink *s, int index, const pz_placed *placed)
{
    const poise_constraint *given = &s->c->constraint[index];
    double per_length = 1.0 / s->c->unit;
    pz_placed own[2];
    for (int i = 0; i < given->pair_count && (s->holds || !s->stops); ++i) {
        const pz_placed *a = placed ? &placed[given->pairs[i].a] : &own[0];
        const pz_placed *b = placed ? &placed[given->pairs[i].b] : &own[1];
        if (!placed) {
            own[0] = pz_place(s->kin, &given->shapes[given->pairs[i].a]);
            own[1] = pz_place(s->kin, &given->shapes[given->pairs[i].b]);
        }
        double margin = margin_of(given, i);
        bool are_boxes = a->kind == POISE_SHAPE_BOX && b->kind == POISE_SHAPE_BOX;
        if (is_far(s, pz_distance_bound(a, b), margin, per_length) ||
            (are_boxes && is_far(s, pz_boxes_bound(a, b), margin, per_length))) {
            continue;
        }
        pz_contact contacts[PZ_MOST_CONTACTS];
        int count = pz_contacts(a, b, contacts);
        for (int k = 0; k < count; ++k) {
            s->clearance = min2(s->clearance, contacts[k].distance);
            double room = (contacts[k].distance - margin) * per_length;
            if (room > s->farthest) {
                continue;
            }
            pz_constraint_row *row = next_row(s);
            *row = (pz_constraint_row){.form = PZ_ROW_POINTS,
                                       .constraint = index,
                                       .item = i,
                                       .part = k,
                                       .room = room,
                                       .slope = per_length,
                                       .body_a = a->body,
                                       .body_b = b->body,
                                       .contact = contacts[k]};
            add_row(s, row);
        }
    }
}

static pz_constraint_row *begin_row(sink *s, int index, pz_constraint_form form, int item)
{
    const poise_constraint *given = &s->c->constraint[index];
    pz_constraint_row *row = next_row(s);
    *row = (pz_constraint_row){.form = form,
                               .constraint = index,
                               .item = item,
                               .slope = form == PZ_ROW_TURN ? 1.0 : 1.0 / s->c->unit,
                               .body_a = given->body,
                               .body_b = given->body2};
    return row;
}

// x = y, along the axes of the world.
static void add_point(sink *s, int index, const pz_ends *at)
{
    static const vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    vec3 off = v3_sub(at->x, at->y);
    for (int k = 0; k < 3; ++k) {
        pz_constraint_row *row = begin_row(s, index, PZ_ROW_POINTS, k);
        row->is_equality = true;
        row->contact.a = at->x;
        row->contact.b = at->y;
        row->contact.normal = unit[k];
        row->room = row->slope * v3_dot(unit[k], off);
        add_row(s, row);
    }
}

// h = 2 vec(quaternion from the axes c to d): 2 sin of half the angle, 0 only where they agree.
static void add_rotation(sink *s, int index, const pz_ends *at)
{
    mat3 back = m3_transpose(&at->c), turn = m3_mul(&back, &at->d);
    quat off = quat_from_matrix(&turn);
    mat3 A = pz_rotation_gradients(off, &at->c);
    const vec3 torque[3] = {A.x, A.y, A.z};
    const double h[3] = {2.0 * off.x, 2.0 * off.y, 2.0 * off.z};
    for (int k = 0; k < 3; ++k) {
        pz_constraint_row *row = begin_row(s, index, PZ_ROW_TURN, 3 + k);
        row->is_equality = true;
        row->torque = torque[k];
        row->room = h[k];
        add_row(s, row);
    }
}

// The z axes agree: h = (c_x . d_z)/w and (c_y . d_z)/w, w = cos of half the angle between them, so that opposite axes are
// not taken for agreeing ones. With m = c_z . d_z, w = sqrt((1 + m)/2) and dw = dm/(4 w). The length of (h1, h2) is 2 sin of
// half the angle; near opposite axes it is taken from there, and the direction is anybody's guess where they are opposite.
static void add_axis(sink *s, int index, const pz_ends *at)
{
    const vec3 side[2] = {at->c.x, at->c.y};
    double m = v3_dot(at->c.z, at->d.z), cosine = sqrt(max2(0.0, 0.5 * (1.0 + m))), w = max2(cosine, UPRIGHT);
    double across = v3_norm(v3(v3_dot(side[0], at->d.z), v3_dot(side[1], at->d.z), 0.0));
    for (int k = 0; k < 2; ++k) {
        pz_constraint_row *row = begin_row(s, index, PZ_ROW_TURN, 3 + k);
        double p = v3_dot(side[k], at->d.z), share = across > PZ_CORES_MEET ? p / across : k == 0;
        row->is_equality = true;
        row->room = cosine < UPRIGHT ? share * sqrt(2.0 * (1.0 - m)) : p / w;
        row->torque = v3_combine(1.0 / w, v3_cross(at->d.z, side[k]), -p / (4.0 * w * w * w), v3_cross(at->d.z, at->c.z));
        row->u = v3_scale(side[k], 1.0 / w);
        row->v = at->c.z;
        add_row(s, row);
    }
}

// lower <= value <= upper, an equality where they are the same; `row` has the derivative of the value.
static void add_between(sink *s, int index, pz_constraint_row *row, double value)
{
    const poise_constraint *given = &s->c->constraint[index];
    if (given->lower == given->upper) {
        row->is_equality = true;
        row->room = row->slope * (value - given->lower);
        add_row(s, row);
        return;
    }
    pz_contact contact = row->contact;
    if (is_finite(given->lower)) {
        row->room = row->slope * (value - given->lower);
        add_row(s, row);
    }
    if (is_finite(given->upper)) {
        row = begin_row(s, index, PZ_ROW_POINTS, 0);
        row->contact = contact;
        row->slope = -row->slope;
        row->part = 1;
        row->room = row->slope * (value - given->upper);
        add_row(s, row);
    }
}

static void add_distance(sink *s, int index, const pz_ends *at)
{
    pz_constraint_row *row = begin_row(s, index, PZ_ROW_POINTS, 0);
    vec3 apart = v3_sub(at->x, at->y);
    double D = v3_norm(apart);
    bool is_smooth = D > PZ_CORES_MEET * s->kin->model->unit;
    row->contact.a = at->x;
    row->contact.b = at->y;
    row->contact.gap = D;
    row->contact.is_smooth = is_smooth;
    row->contact.normal = is_smooth ? v3_scale(apart, 1.0 / D) : v3(0, 0, 1);
    add_between(s, index, row, D);
}

static void add_plane(sink *s, int index, const pz_ends *at)
{
    pz_constraint_row *row = begin_row(s, index, PZ_ROW_POINTS, 0);
    vec3 n = at->c.z;
    double height = v3_dot(n, v3_sub(at->x, at->y));
    row->contact = (pz_contact){
        .a = at->x, .b = v3_mad(at->x, -height, n), .normal = n, .gap = height, .face = PZ_SIDE_B, .is_smooth = true};
    add_between(s, index, row, height);
}

static void add_balance(sink *s, int index)
{
    const poise_constraint *given = &s->c->constraint[index];
    vec3 center = v3_add(s->kin->origin, pz_kin_mass_center(s->kin)), up = v3_normalize(given->axis);
    for (int k = 0; k < given->corner_count; ++k) {
        vec3 from = given->polygon[k], to = given->polygon[(k + 1) % given->corner_count];
        vec3 inwards = v3_normalize(v3_cross(up, v3_sub(to, from)));
        pz_constraint_row *row = begin_row(s, index, PZ_ROW_MASS, k);
        row->contact.normal = inwards;
        row->room = row->slope * (v3_dot(inwards, v3_sub(center, from)) - given->margin);
        add_row(s, row);
    }
}

static void add_constraint(sink *s, int index, const pz_placed *placed)
{
    const poise_constraint *given = &s->c->constraint[index];
    poise_constraint_kind kind = given->kind;
    if (kind == POISE_CONSTRAINT_CLEARANCE) {
        add_pairs(s, index, placed);
        return;
    }
    if (kind == POISE_CONSTRAINT_BALANCE) {
        add_balance(s, index);
        return;
    }
    pz_ends at = {.x = pz_kin_point(s->kin, given->body, given->local.position),
                  .y = pz_kin_point(s->kin, given->body2, given->target.position)};
    if (kind == POISE_CONSTRAINT_DISTANCE) {
        add_distance(s, index, &at);
        return;
    }
    if (kind != POISE_CONSTRAINT_CONNECT) {
        at.c = pz_axes_on(s->kin, given->body2, given->target.rotation);
    }
    if (kind == POISE_CONSTRAINT_PLANE) {
        add_plane(s, index, &at);
        return;
    }
    add_point(s, index, &at);
    if (kind != POISE_CONSTRAINT_CONNECT) {
        at.d = pz_axes_on(s->kin, given->body, given->local.rotation);
    }
    if (kind == POISE_CONSTRAINT_WELD) {
        add_rotation(s, index, &at);
    } else if (kind == POISE_CONSTRAINT_HINGE) {
        add_axis(s, index, &at);
    }
}

// ---- All of them ---------------------------------------------------------------------------------------------------------

static void add_placed(sink *s, int index)
{
    const poise_constraint *given = &s->c->constraint[index];
    for (int i = 0; i < given->shape_count; ++i) {
        s->c->placed[i] = pz_place(s->kin, &given->shapes[i]);
    }
    add_constraint(s, index, s->c->placed);
}

static void add_all(sink *s)
{
    for (int i = 0; i < s->c->count; ++i) {
        add_placed(s, i);
    }
}

static double evaluate_rows(pz_constraints *c, const poise_kinematics *kin, pz_constraint_rows *rows, double clearance)
{
    rows->count = 0;
    rows->broken = rows->worst = 0.0;
    sink s = {.c = c, .kin = kin, .rows = rows, .farthest = PZ_ROW_NEAR, .room = INFINITY, .clearance = clearance};
    add_all(&s);
    return s.clearance;
}

void pz_constraints_evaluate(pz_constraints *c, const poise_kinematics *kin, pz_constraint_rows *rows)
{
    evaluate_rows(c, kin, rows, -INFINITY);
}

double pz_constraints_survey(pz_constraints *c, const poise_kinematics *kin, pz_constraint_rows *rows)
{
    return evaluate_rows(c, kin, rows, INFINITY);
}

// A sink that asks whether rows hold, up to the first that does not.
static sink asking(pz_constraints *c, const poise_kinematics *kin, double closure_tolerance)
{
    return (sink){.c = c,
                  .kin = kin,
                  .farthest = PZ_ROW_SPARE,
                  .stops = true,
                  .holds = true,
                  .closure = closure_tolerance,
                  .room = PZ_ROW_SPARE,
                  .clearance = -INFINITY};
}

bool pz_constraints_hold(pz_constraints *c, const poise_kinematics *kin, double closure_tolerance)
{
    sink s = asking(c, kin, closure_tolerance);
    for (int i = 0; i < c->count && s.holds; ++i) {
        add_placed(&s, i);
    }
    return s.holds;
}

double pz_constraint_room(pz_constraints *c, const poise_kinematics *kin, int constraint, int *item)
{
    pz_constraints as_is = *c;
    as_is.unit = 1.0;
    sink s = {.c = &as_is, .kin = kin, .farthest = INFINITY, .room = INFINITY, .clearance = -INFINITY};
    add_placed(&s, constraint);
    if (item) {
        *item = s.item;
    }
    return s.room;
}

double poise_constraint_room(const poise_kinematics *kinematics, const poise_constraint *constraint, int *item)
{
    if (!kinematics || poise_constraint_check(constraint, kinematics->model, NULL) != POISE_OK) {
        return NAN;
    }
    pz_constraints one = {.constraint = constraint, .count = 1, .unit = 1.0};
    sink s = {.c = &one, .kin = kinematics, .farthest = INFINITY, .room = INFINITY, .clearance = -INFINITY};
    add_constraint(&s, 0, NULL);
    if (item) {
        *item = s.item;
    }
    return s.room;
}

bool poise_constraint_holds(const poise_kinematics *kinematics, const poise_constraint *constraint, double closure_tolerance)
{
    if (!kinematics || poise_constraint_check(constraint, kinematics->model, NULL) != POISE_OK) {
        return false;
    }
    pz_constraints one = {.constraint = constraint, .count = 1, .unit = kinematics->model->unit};
    sink s = asking(&one, kinematics, closure_tolerance);
    add_constraint(&s, 0, NULL);
    return s.holds;
}

void poise_constraints_sift(poise_kinematics *kinematics, const poise_constraint *constraints, int constraint_count,
                            double closure_tolerance, double *configurations, int *count)
{
    size_t nq = (size_t)kinematics->model->nq;
    int kept = 0;
    for (int k = 0; k < *count; ++k) {
        double *q = configurations + (size_t)k * nq;
        bool holds = poise_kinematics_update(kinematics, q, NULL) == POISE_OK;
        for (int i = 0; holds && i < constraint_count; ++i) {
            holds = poise_constraint_holds(kinematics, &constraints[i], closure_tolerance);
        }
        if (holds) {
            memmove(configurations + (size_t)kept++ * nq, q, nq * sizeof *q);
        }
    }
    *count = kept;
}

// ---- First derivatives ---------------------------------------------------------------------------------------------------

void pz_constraint_derivative(const pz_constraints *c, const poise_kinematics *kin, const pz_constraint_row *row, double *J)
{
    int nv = kin->model->nv;
    pz_clear_rows(kin, 1, J);
    if (row->form == PZ_ROW_MASS) {
        vec3 n = v3_scale(row->contact.normal, row->slope);
        pz_kin_mass_center_columns(kin, c->columns);
        for (int i = 0; i < nv; ++i) {
            J[i] = n.x * c->columns[i] + n.y * c->columns[nv + i] + n.z * c->columns[2 * nv + i];
        }
        return;
    }
    if (row->form == PZ_ROW_TURN) {
        vec3 zero = v3(0, 0, 0);
        pz_add_to_row(kin, row->body_a, (wrench){row->torque, zero}, J);
        pz_add_to_row(kin, row->body_b, (wrench){v3_neg(row->torque), zero}, J);
        return;
    }
    vec3 n = v3_scale(row->contact.normal, row->slope);
    pz_add_to_row(kin, row->body_a, (wrench){v3_cross(row->contact.a, n), n}, J);
    pz_add_to_row(kin, row->body_b, (wrench){v3_neg(v3_cross(row->contact.b, n)), v3_neg(n)}, J);
}

// ---- Second derivatives --------------------------------------------------------------------------------------------------

void pz_constraint_bend_tree(const pz_constraint_row *row, double weight, poise_objective *o)
{
    if (row->form == PZ_ROW_MASS) {
        const poise_model *model = o->kin.model;
        for (int k = 0; k < model->joint_count; ++k) {
            const pz_joint *joint = &model->joints[k];
            if (joint->mass > 0) {
                vec3 x = v3_add(o->kin.p[k], m3_apply(&o->kin.R[k], joint->mass_center));
                vec3 f = v3_scale(row->contact.normal, weight * row->slope * joint->mass / model->total_mass);
                pz_objective_add_curvature(o, k, (wrench){v3_cross(x, f), f}, pz_turn_curvature(x, f));
            }
        }
        return;
    }
    sym3 none = {0};
    if (row->form == PZ_ROW_TURN) {
        vec3 n = v3_scale(row->torque, weight), zero = v3(0, 0, 0);
        pz_objective_add_curvature(o, row->body_a, (wrench){n, zero}, none);
        pz_objective_add_curvature(o, row->body_b, (wrench){v3_neg(n), zero}, none);
        return;
    }
    vec3 a = row->contact.a, b = row->contact.b, f = v3_scale(row->contact.normal, weight * row->slope), back = v3_neg(f);
    pz_objective_add_curvature(o, row->body_a, (wrench){v3_cross(a, f), f}, pz_turn_curvature(a, f));
    pz_objective_add_curvature(o, row->body_b, (wrench){v3_cross(b, back), back}, pz_turn_curvature(b, back));
}

// H += w (x y^T + y x^T)/2
static void add_product(int n, double w, const double *x, const double *y, double *H)
{
    for (int i = 0; i < n; ++i) {
        double a = 0.5 * w * x[i], b = 0.5 * w * y[i];
        if (a == 0 && b == 0) {
            continue;
        }
        double *row = H + (size_t)i * (size_t)n;
        for (int j = 0; j < n; ++j) {
            row[j] += a * y[j] + b * x[j];
        }
    }
}

// Scratch: R = da - db, and the turns w_a and w_b, three rows each, and six rows to combine them in.
typedef struct motions {
    int n;
    double *R[3], *w[2][3], *more[6];
} motions;

static motions motions_of(const pz_constraints *c, const poise_kinematics *kin, const pz_constraint_row *row)
{
    static const vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int n = kin->model->nv;
    motions m = {.n = n};
    pz_clear_rows(kin, 15, c->columns);
    for (int k = 0; k < 3; ++k) {
        vec3 e = unit[k], zero = v3(0, 0, 0);
        m.R[k] = c->columns + k * n;
        m.w[0][k] = c->columns + (3 + k) * n;
        m.w[1][k] = c->columns + (6 + k) * n;
        if (row->form == PZ_ROW_POINTS) {
            pz_add_to_row(kin, row->body_a, (wrench){v3_cross(row->contact.a, e), e}, m.R[k]);
            pz_add_to_row(kin, row->body_b, (wrench){v3_neg(v3_cross(row->contact.b, e)), v3_neg(e)}, m.R[k]);
        }
        pz_add_to_row(kin, row->body_a, (wrench){e, zero}, m.w[0][k]);
        pz_add_to_row(kin, row->body_b, (wrench){e, zero}, m.w[1][k]);
    }
    for (int k = 0; k < 6; ++k) {
        m.more[k] = c->columns + (9 + k) * n;
    }
    return m;
}

// to += s v . rows
static void add_along(const motions *m, double s, vec3 v, double *const rows[3], double *to)
{
    for (int i = 0; i < m->n; ++i) {
        to[i] += s * (v.x * rows[0][i] + v.y * rows[1][i] + v.z * rows[2][i]);
    }
}

// -2 sum (w . R)(n . dw) - D sum (n . dw)^2, n . dw = w_face . (w x n)
static void bend_face(const motions *m, const pz_contact *at, double weight, double *H)
{
    double *const *turn = m->w[at->face == PZ_SIDE_A ? 0 : 1];
    vec3 first = v3_across(at->normal), second = v3_cross(at->normal, first);
    const vec3 axes[2] = {first, second};
    for (int k = 0; k < 2; ++k) {
        double *along = m->more[2 * k], *tilt = m->more[2 * k + 1];
        add_along(m, 1.0, axes[k], m->R, along);
        add_along(m, 1.0, v3_cross(axes[k], at->normal), turn, tilt);
        add_product(m->n, -2.0 * weight, along, tilt, H);
        add_product(m->n, -weight * at->gap, tilt, tilt, H);
    }
}

// R^T K R - Y^T N^-1 Y, by a Cholesky factor of N
static void bend_points(const motions *m, const pz_contact *at, double weight, double *H)
{
    vec3 n = at->normal, first = v3_across(n), second = v3_cross(n, first);
    double inverse = 1.0 / at->gap;
    add_along(m, 1.0, first, m->R, m->more[0]);
    add_along(m, 1.0, second, m->R, m->more[1]);
    add_product(m->n, weight * inverse, m->more[0], m->more[0], H);
    add_product(m->n, weight * inverse, m->more[1], m->more[1], H);
    vec3 turned = at->slide_count > 1 ? v3_cross(at->slides[0].along, at->slides[1].along) : v3(1, 0, 0);
    double spread = v3_dot(turned, turned) < PARALLEL ? SPREAD : 0.0;
    vec3 flat[PZ_MOST_SLIDES]; // across n
    double L[PZ_MOST_SLIDES][PZ_MOST_SLIDES];
    for (int p = 0; p < at->slide_count; ++p) {
        double *Y = m->more[2 + p];
        bool on_a = at->slides[p].side == PZ_SIDE_A;
        vec3 z = on_a ? at->slides[p].along : v3_neg(at->slides[p].along);
        flat[p] = v3_mad(z, -v3_dot(z, n), n);
        add_along(m, inverse, flat[p], m->R, Y);
        add_along(m, 1.0, v3_cross(z, n), m->w[on_a ? 0 : 1], Y); // n . (w x z)
        for (int q = 0; q <= p; ++q) {
            double entry = inverse * (v3_dot(flat[p], flat[q]) + (p == q ? spread : 0.0));
            for (int k = 0; k < q; ++k) {
                entry -= L[p][k] * L[q][k];
            }
            L[p][q] = p == q ? sqrt(entry) : entry / L[q][q];
        }
        for (int q = 0; q < p; ++q) { // forward substitution, row by row
            for (int i = 0; i < m->n; ++i) {
                Y[i] -= L[p][q] * m->more[2 + q][i];
            }
        }
        for (int i = 0; i < m->n; ++i) {
            Y[i] /= L[p][p];
        }
        add_product(m->n, -weight, Y, Y, H);
    }
}

// A . (w_a x w_b) + (u . w)(v . w)
static void bend_turn(const motions *m, const pz_constraint_row *row, double weight, double *H)
{
    vec3 A = row->torque, first = v3_across(A), second = v3_cross(v3_normalize(A), first);
    double *a1 = m->more[0], *a2 = m->more[1], *b1 = m->more[2], *b2 = m->more[3], *u = m->more[4], *v = m->more[5];
    add_along(m, 1.0, first, m->w[0], a1);
    add_along(m, 1.0, second, m->w[0], a2);
    add_along(m, 1.0, first, m->w[1], b1);
    add_along(m, 1.0, second, m->w[1], b2);
    double size = v3_norm(A); // first x second is along A
    add_product(m->n, weight * size, a1, b2, H);
    add_product(m->n, -weight * size, a2, b1, H);
    add_along(m, 1.0, row->u, m->w[0], u);
    add_along(m, -1.0, row->u, m->w[1], u);
    add_along(m, 1.0, row->v, m->w[0], v);
    add_along(m, -1.0, row->v, m->w[1], v);
    add_product(m->n, weight, u, v, H);
}

void pz_constraint_bend(const pz_constraints *c, const poise_kinematics *kin, const pz_constraint_row *row, double weight,
                        double *H)
{
    if (row->form == PZ_ROW_MASS || (row->form == PZ_ROW_POINTS && !row->contact.is_smooth)) {
        return;
    }
    motions m = motions_of(c, kin, row);
    if (row->form == PZ_ROW_TURN) {
        bend_turn(&m, row, weight, H);
    } else if (row->contact.face != PZ_SIDE_NONE) {
        bend_face(&m, &row->contact, weight * row->slope, H);
    } else {
        bend_points(&m, &row->contact, weight * row->slope, H);
    }
}
