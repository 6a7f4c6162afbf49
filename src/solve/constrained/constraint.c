// Constraints: names, what they need, what must be sound in them.
#include "base/error.h"
#include "solve/constrained/rows.h"

#include <string.h>

const char *poise_constraint_kind_name(poise_constraint_kind kind)
{
    static const char *const names[] = {"clearance", "connect", "weld", "hinge", "distance", "plane", "balance"};
    return (unsigned)kind < POISE_CONSTRAINT_KIND_COUNT ? names[kind] : "unknown";
}

poise_constraint poise_constraint_default(poise_constraint_kind kind)
{
    return (poise_constraint){.kind = kind,
                              .body2 = POISE_WORLD,
                              .local = poise_pose_identity(),
                              .target = poise_pose_identity(),
                              .axis = {0, 0, 1}};
}

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
