// Functions of coordinates: constants, lines, polynomials, SIMM's splines, and multiples of those.
#include "io/opensim/osim.h"

#include <string.h>

#define POINTS_MOST 100000
#define NESTED_MOST 8 // multiples of multiples

static const struct {
    const char *name;
    poise_function_kind kind;
} kinds[] = {
    {"Constant", POISE_FUNCTION_POLYNOMIAL},           {"LinearFunction", POISE_FUNCTION_POLYNOMIAL},
    {"PolynomialFunction", POISE_FUNCTION_POLYNOMIAL}, {"SimmSpline", POISE_FUNCTION_SPLINE},
    {"NaturalCubicSpline", POISE_FUNCTION_SPLINE},     {"natCubicSpline", POISE_FUNCTION_SPLINE},
    {"PiecewiseLinearFunction", POISE_FUNCTION_LINES}, {"MultiplierFunction", POISE_FUNCTION_POLYNOMIAL},
};

static int kind_of(const pz_xml_node *node)
{
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); ++i) {
        if (pz_xml_is(node, kinds[i].name)) {
            return i;
        }
    }
    return -1;
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

static poise_status list_of(osim *o, const pz_xml_node *node, const char *name, double **values, int *count)
{
    const pz_xml_node *child = pz_xml_child(node, name);
    if (!child) {
        return pz_xml_fail(o->input, node, POISE_ERROR_FORMAT, "<%s> has no <%s>", node->name, name);
    }
    return pz_xml_text_numbers(o->input, child, POINTS_MOST, values, count);
}

// Points whose x does not grow are left out, with a word; a single one is a constant.
static poise_status read_points(osim *o, const pz_xml_node *node, poise_function_kind kind, poise_function *f)
{
    double *x, *y;
    int count = 0, others = 0, kept = 0;
    poise_status status = list_of(o, node, "x", &x, &count);
    status = status == POISE_OK ? list_of(o, node, "y", &y, &others) : status;
    if (status != POISE_OK) {
        return status;
    }
    if (count != others || count == 0) {
        return pz_xml_fail(o->input, node, POISE_ERROR_FORMAT, "<%s> has %d x and %d y", node->name, count, others);
    }
    for (int i = 0; i < count; ++i) {
        if (kept == 0 || x[i] > x[kept - 1]) {
            x[kept] = x[i], y[kept] = y[i];
            kept += 1;
        }
    }
    if (kept < count) {
        pz_xml_warn(o->input, NULL, node, "<%s>: %d points whose x does not increase are left out", node->name,
                    count - kept);
    }
    *f = (poise_function){.kind = kept > 1 ? kind : POISE_FUNCTION_POLYNOMIAL, .count = kept, .x = x, .y = y};
    return POISE_OK;
}

static poise_status read_function(osim *o, const pz_xml_node *node, int depth, poise_function *f);

static poise_status read_multiple(osim *o, const pz_xml_node *node, int depth, poise_function *f)
{
    double scale = 1.0;
    poise_status status = pz_osim_number(o, node, "scale", &scale);
    const pz_xml_node *inner = pz_xml_child(node, "function");
    inner = inner && kind_of(inner) < 0 ? inner->first : inner;
    for (inner = inner ? inner : node->first; inner && kind_of(inner) < 0;) {
        inner = inner->next;
    }
    if (status == POISE_OK && inner) {
        status = read_function(o, inner, depth + 1, f);
    }
    return status == POISE_OK && !pz_osim_function_scale(o, f, scale) ? pz_input_no_memory(o->input) : status;
}

static poise_status read_function(osim *o, const pz_xml_node *node, int depth, poise_function *f)
{
    int kind = kind_of(node);
    if (kind < 0 || depth > NESTED_MOST) {
        return pz_xml_fail(o->input, node, POISE_ERROR_UNSUPPORTED,
                           "functions of the kind <%s> are not read: use a SimmSpline or a PolynomialFunction", node->name);
    }
    if (pz_xml_is(node, "MultiplierFunction")) {
        return read_multiple(o, node, depth, f);
    }
    if (kinds[kind].kind != POISE_FUNCTION_POLYNOMIAL) {
        return read_points(o, node, kinds[kind].kind, f);
    }
    double *c;
    int count;
    bool is_constant = pz_xml_is(node, "Constant");
    if (is_constant && !pz_xml_child(node, "value")) {
        static const double zero[] = {0};
        *f = (poise_function){.kind = POISE_FUNCTION_POLYNOMIAL, .count = 1, .y = zero};
        return POISE_OK;
    }
    poise_status status = list_of(o, node, is_constant ? "value" : "coefficients", &c, &count);
    *f = (poise_function){.kind = POISE_FUNCTION_POLYNOMIAL, .count = count, .y = c};
    return status;
}

poise_status pz_osim_function_in(osim *o, const pz_xml_node *node, poise_function *f)
{
    static const char *const others[] = {"coordinates", "coordinate",  "axis",      "is_rotation",     "axis_name",
                                         "isDisabled",  "isEnforced",  "groups",    "scale_factor",    "VisibleObject",
                                         "defaults",    "independent", "dependent", "appliesToBodies", NULL};
    *f = (poise_function){.count = 0};
    for (const pz_xml_node *child = node->first; child; child = child->next) {
        if (pz_xml_is(child, "function") || pz_xml_is(child, "coupled_coordinates_function")) {
            return child->first ? read_function(o, child->first, 0, f) : POISE_OK;
        }
        if (!pz_xml_is_among(child->name, others) && child->first) {
            return read_function(o, child, 0, f);
        }
    }
    return POISE_OK;
}

// ---- Arithmetic ----------------------------------------------------------------------------------------------------------

static double *copied(osim *o, const double *from, int count)
{
    double *to = pz_pool_take(&o->input->pool, (size_t)count, sizeof *to);
    if (to && count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
    return to;
}

bool pz_osim_function_scale(osim *o, poise_function *f, double s)
{
    if (f->count == 0 || s == 1.0) {
        return true;
    }
    double *y = copied(o, f->y, f->count);
    for (int i = 0; y && i < f->count; ++i) {
        y[i] *= s;
    }
    f->y = y;
    return y != NULL;
}

bool pz_osim_is_linear(const poise_function *f, double *a, double *b)
{
    *a = 0.0, *b = 0.0;
    if (f->kind == POISE_FUNCTION_POLYNOMIAL) {
        *a = f->count > 1 ? f->y[f->count - 2] : 0.0;
        *b = f->count > 0 ? f->y[f->count - 1] : 0.0;
        for (int i = 0; i + 2 < f->count; ++i) {
            if (f->y[i] != 0.0) {
                return false;
            }
        }
        return true;
    }
    if (f->count == 2) {
        *a = (f->y[1] - f->y[0]) / (f->x[1] - f->x[0]);
        *b = f->y[0] - *a * f->x[0];
    }
    return f->count == 2;
}

static bool compose_outer_linear(osim *o, double a, double b, const poise_function *inner, poise_function *f)
{
    double *y = copied(o, inner->y, inner->count);
    bool is_polynomial = inner->kind == POISE_FUNCTION_POLYNOMIAL;
    for (int i = 0; y && i < inner->count; ++i) {
        y[i] = a * y[i] + (!is_polynomial || i == inner->count - 1 ? b : 0.0);
    }
    *f = *inner;
    f->y = y;
    return y != NULL;
}

// Points move by x = (x' - b)/a, in the other order where a < 0.
static bool compose_inner_linear(osim *o, const poise_function *outer, double a, double b, poise_function *f)
{
    int n = outer->count;
    double *x = copied(o, outer->x, n), *y = copied(o, outer->y, n);
    for (int i = 0; x && y && i < n; ++i) {
        int from = a > 0 ? i : n - 1 - i;
        x[i] = (outer->x[from] - b) / a;
        y[i] = outer->y[from];
    }
    *f = (poise_function){.kind = outer->kind, .count = n, .x = x, .y = y};
    return x && y;
}

bool pz_osim_function_compose(osim *o, const poise_function *outer, const poise_function *inner, poise_function *f)
{
    double a, b;
    if (pz_osim_is_linear(outer, &a, &b)) {
        return compose_outer_linear(o, a, b, inner, f);
    }
    return outer->kind != POISE_FUNCTION_POLYNOMIAL && pz_osim_is_linear(inner, &a, &b) && a != 0.0 &&
           compose_inner_linear(o, outer, a, b, f);
}
