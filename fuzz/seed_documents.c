#include "seed_documents.h"

#include <scenes/random.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- Text by chance ------------------------------------------------------------------------------------------------------

typedef struct seed_text {
    char *text;
    size_t used;
    scene_random random;
} seed_text;

static seed_text begin(int number, uint64_t kind, char *text)
{
    text[0] = '\0';
    return (seed_text){text, 0, scene_random_make(kind * 100000 + (uint64_t)number)};
}

// What does not fit is cut: readers meet that, too.
__attribute__((format(printf, 2, 3))) static void put(seed_text *s, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    int length = vsnprintf(s->text + s->used, SEED_DOCUMENT - s->used, format, words);
    va_end(words);
    s->used += (size_t)length < SEED_DOCUMENT - s->used ? (size_t)length : SEED_DOCUMENT - s->used - 1;
}

static int below(seed_text *s, int count)
{
    return scene_random_index(&s->random, count);
}

static bool sometimes(seed_text *s)
{
    return below(s, 3) == 0;
}

#define ANY_OF(s, list) ((list)[below(s, (int)(sizeof(list) / sizeof((list)[0])))])

// A number, now and then an odd one.
static const char *number_of(seed_text *s)
{
    static const char *const odd[] = {
        "0", "-0", "1", "-1", "1e300", "-1e300", "5e-324", "1e999", "3.14159265358979", "0.1e1", "2147483648"};
    static char texts[8][32];
    static int next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%.3g", scene_random_range(&s->random, -2.0, 2.0));
    return below(s, 150) == 0 ? ANY_OF(s, odd) : text;
}

// One that most often is above 0, for lengths and weights.
static const char *positive(seed_text *s)
{
    static const char *const some[] = {"0.01", "0.25", "1", "2.5", "1e3", "0.5"};
    return below(s, 60) == 0 ? number_of(s) : ANY_OF(s, some);
}

static void put_numbers(seed_text *s, int count, const char *between)
{
    for (int i = 0; i < count; ++i) {
        put(s, "%s%s", i > 0 ? between : "", number_of(s));
    }
}

// ---- OpenSim -------------------------------------------------------------------------------------------------------------

static void put_vector(seed_text *s, const char *element)
{
    put(s, "<%s>", element);
    put_numbers(s, below(s, 400) == 0 ? 2 : 3, " ");
    put(s, "</%s>", element);
}

static void put_function(seed_text *s, const char *name, int depth)
{
    static const char *const curves[] = {"SimmSpline", "NaturalCubicSpline", "natCubicSpline", "PiecewiseLinearFunction"};
    static const char *const polynomials[] = {"LinearFunction", "PolynomialFunction"};
    const char *kind = ANY_OF(s, curves);
    switch (below(s, depth < 2 ? 4 : 3)) {
    case 0:
        put(s, "<Constant name=\"%s\"><value>%s</value></Constant>", name, number_of(s));
        break;
    case 1:
        kind = ANY_OF(s, polynomials);
        put(s, "<%s name=\"%s\"><coefficients>", kind, name);
        put_numbers(s, 1 + below(s, 5), " ");
        put(s, "</coefficients></%s>", kind);
        break;
    case 2:
        put(s, "<%s name=\"%s\"><x>", kind, name);
        for (int i = 0; i < 5; ++i) {
            put(s, "%g ", i + 0.5 * below(s, 3));
        }
        put(s, "</x><y>");
        put_numbers(s, below(s, 9) == 0 ? 4 : 5, " ");
        put(s, "</y></%s>", kind);
        break;
    default:
        put(s, "<MultiplierFunction name=\"%s\"><function>", name);
        put_function(s, "inner", depth + 1);
        put(s, "</function><scale>%s</scale></MultiplierFunction>", number_of(s));
        break;
    }
}

static void put_coordinate(seed_text *s, int body, int index)
{
    put(s, "<Coordinate name=\"q%d_%d\">", body, index);
    if (sometimes(s)) {
        put(s, "<default_value>%s</default_value>", number_of(s));
    }
    if (sometimes(s)) {
        put(s, "<range>%s %s</range><clamped>%s</clamped>", number_of(s), number_of(s), sometimes(s) ? "false" : "true");
    }
    if (below(s, 6) == 0) {
        put(s, "<locked>true</locked>");
    }
    put(s, "</Coordinate>");
}

static void put_transform(seed_text *s, int body, int coordinates, bool is_old)
{
    static const char *const axes[] = {"rotation1",    "rotation2",    "rotation3",
                                       "translation1", "translation2", "translation3"};
    bool is_wrapped = is_old && sometimes(s);
    put(s, "<SpatialTransform>%s", is_wrapped ? "<objects>" : "");
    for (int i = 0; i < 6; ++i) {
        if (below(s, 3) > 0) {
            put(s, "<TransformAxis name=\"%s\">", axes[i]);
            if (below(s, 4) > 0) {
                put(s, "<%s>q%d_%d</%s>", is_old ? "coordinate" : "coordinates", body, below(s, coordinates),
                    is_old ? "coordinate" : "coordinates");
            }
            put_vector(s, "axis");
            if (sometimes(s)) {
                put(s, "<is_rotation>%s</is_rotation>", i < 3 ? "true" : "false");
            }
            if (is_old) {
                put(s, "<function>");
            }
            put_function(s, "function", 0);
            put(s, "%s</TransformAxis>", is_old ? "</function>" : "");
        }
    }
    put(s, "%s</SpatialTransform>", is_wrapped ? "</objects>" : "");
}

static const char *const joint_kinds[] = {"PinJoint",    "WeldJoint",   "SliderJoint",   "UniversalJoint",
                                          "BallJoint",   "GimbalJoint", "FreeJoint",     "PlanarJoint",
                                          "CustomJoint", "CustomJoint", "EllipsoidJoint"};

static void put_parts_of_joint(seed_text *s, const char *kind, int body, bool is_old)
{
    int coordinates = 1 + below(s, 3);
    put(s, is_old ? "<CoordinateSet><objects>" : "<coordinates>");
    for (int i = 0; i < coordinates; ++i) {
        put_coordinate(s, body, i);
    }
    put(s, is_old ? "</objects></CoordinateSet>" : "</coordinates>");
    if (strcmp(kind, "CustomJoint") == 0) {
        put_transform(s, body, coordinates, is_old);
    }
    if (below(s, 8) == 0) {
        put(s, "<reverse>true</reverse>");
    }
}

static void put_old_body(seed_text *s, int body)
{
    const char *kind = joint_kinds[below(s, below(s, 40) == 0 ? 11 : 10)];
    put(s, "<Body name=\"b%d\"><mass>%d</mass>", body, below(s, 9));
    put_vector(s, "mass_center");
    put(s, "<Joint><%s name=\"j%d\"><parent_body>", kind, body);
    put(s, body == 0 || sometimes(s) ? "ground" : "b%d", body > 0 ? below(s, body) : 0);
    put(s, "</parent_body>");
    put_vector(s, "location_in_parent");
    put_vector(s, "orientation_in_parent");
    put_vector(s, "location");
    put_vector(s, "orientation");
    put_parts_of_joint(s, kind, body, true);
    put(s, "</%s></Joint></Body>", kind);
}

static void put_new_joint(seed_text *s, int body)
{
    const char *kind = joint_kinds[below(s, below(s, 40) == 0 ? 11 : 10)];
    const char *before = sometimes(s) ? "connectors" : "";
    put(s, "<%s name=\"j%d\">", kind, body);
    if (before[0]) {
        put(s,
            "<connectors><Connector_PhysicalFrame_ "
            "name=\"parent_frame\"><connectee_name>ground</connectee_name></Connector_PhysicalFrame_>"
            "<Connector_PhysicalFrame_ "
            "name=\"child_frame\"><connectee_name>b%d</connectee_name></Connector_PhysicalFrame_></connectors>",
            body);
    } else {
        bool has_frame = sometimes(s);
        const char *tail = sometimes(s) ? "_connectee_name" : "";
        put(s, "<socket_parent_frame%s>", tail);
        put(s, has_frame ? "f%d" : body == 0 ? "/ground" : "/bodyset/b%d", has_frame || body == 0 ? body : below(s, body));
        put(s, "</socket_parent_frame%s><socket_child_frame%s>b%d</socket_child_frame%s>", tail, tail, body, tail);
        if (has_frame) {
            static const char *const frames[] = {"PhysicalOffsetFrame", "OffsetFrame", "StationDefinedFrame"};
            const char *frame = frames[below(s, below(s, 20) == 0 ? 3 : 2)];
            put(s, "<frames><%s name=\"f%d\"><socket_parent>", frame, body);
            put(s, body == 0 ? "/ground" : "/bodyset/b%d", body > 0 ? below(s, body) : 0);
            put(s, "</socket_parent>");
            put_vector(s, "translation");
            put_vector(s, "orientation");
            put(s, "</%s></frames>", frame);
        }
    }
    put_parts_of_joint(s, kind, body, false);
    put(s, "</%s>", kind);
}

static void put_marker(seed_text *s, int marker, int bodies, bool is_old)
{
    put(s, "<Marker name=\"m%d\">", marker);
    put(s, is_old ? "<body>b%d</body>" : "<socket_parent_frame>/bodyset/b%d</socket_parent_frame>",
        below(s, 40) == 0 ? bodies : below(s, bodies));
    put_vector(s, "location");
    put(s, "</Marker>");
}

static void put_coupler(seed_text *s, int bodies)
{
    const char *flag = sometimes(s) ? "isEnforced" : "isDisabled";
    put(s, "<ConstraintSet><objects><CoordinateCouplerConstraint name=\"c\"><%s>false</%s><coupled_coordinates_function>",
        flag, flag);
    put_function(s, "f", 0);
    put(s,
        "</coupled_coordinates_function><independent_coordinate_names>q%d_0</independent_coordinate_names>"
        "<dependent_coordinate_name>q%d_0</dependent_coordinate_name><scale_factor>%s</scale_factor>"
        "</CoordinateCouplerConstraint><PointConstraint/></objects></ConstraintSet>",
        bodies - 1, below(s, bodies), number_of(s));
}

void seed_osim(int number, char *text)
{
    static const char *const skipped[] = {"ForceSet", "ControllerSet", "ProbeSet", "ContactGeometrySet", "defaults"};
    static const char *const units[] = {"meters", "millimeters", "furlongs", "m"};
    seed_text s = begin(number, 1, text);
    bool is_old = number % 3 == 0;
    int bodies = 1 + below(&s, 3);
    put(&s, "<OpenSimDocument Version=\"%d\"><Model name=\"m\"><length_units>%s</length_units>", is_old ? 10905 : 40000,
        ANY_OF(&s, units));
    if (sometimes(&s)) {
        const char *name = ANY_OF(&s, skipped);
        put(&s, "<%s><objects><Body name=\"b0\"/></objects></%s>", name, name);
    }
    put(&s, "<BodySet><objects>%s", is_old ? "<Body name=\"ground\"><Joint/></Body>" : "");
    for (int i = 0; i < bodies; ++i) {
        if (is_old) {
            put_old_body(&s, i);
        } else {
            put(&s, "<Body name=\"b%d\"><mass>%d</mass>", i, below(&s, 9));
            put_vector(&s, "mass_center");
            put(&s, "%s</Body>", sometimes(&s) ? "<attached_geometry/><WrapObjectSet/><VisibleObject/>" : "");
        }
    }
    put(&s, "</objects>%s</BodySet>", sometimes(&s) ? "<groups/>" : "");
    if (!is_old) {
        put(&s, "<JointSet><objects>");
        for (int i = 0; i < bodies; ++i) {
            put_new_joint(&s, i);
        }
        put(&s, "</objects></JointSet>");
    }
    if (sometimes(&s)) {
        put_coupler(&s, bodies);
    }
    put(&s, "<MarkerSet><objects>");
    for (int i = below(&s, 3); i > 0; --i) {
        put_marker(&s, i, bodies, is_old);
    }
    put(&s, "</objects></MarkerSet></Model></OpenSimDocument>");
}

// ---- Poise JSON ----------------------------------------------------------------------------------------------------------

static void put_list(seed_text *s, const char *key, int count)
{
    put(s, ", \"%s\": [", key);
    put_numbers(s, count, ", ");
    put(s, "]");
}

static void put_curve_function(seed_text *s)
{
    switch (below(s, 3)) {
    case 0:
        put(s, "\"polynomial\": [%s, %s, %s]", number_of(s), number_of(s), number_of(s));
        break;
    case 1:
        put(s, "\"spline\": [[-1, %s], [0, %s], [1, %s]]", number_of(s), number_of(s), number_of(s));
        break;
    default:
        put(s, "\"lines\": [[-1, %s], [0.5, %s]]", number_of(s), number_of(s));
        break;
    }
}

static void put_steps(seed_text *s, const char *key)
{
    put(s, "\"%s\": [", key);
    for (int i = 0, count = 1 + below(s, 3); i < count; ++i) {
        put(s, "%s{\"axis\": [%d, %d, 1], ", i > 0 ? ", " : "", below(s, 2), below(s, 2));
        put_curve_function(s);
        put(s, "}");
    }
    put(s, "]");
}

static const char *put_joint(seed_text *s, int index)
{
    static const char *const types[] = {"fixed",       "revolute",        "prismatic",   "universal",   "ball_euler",
                                        "ball_expmap", "ball_quaternion", "swing_twist", "translation", "planar",
                                        "free",        "free_euler",      "curve",       "none_such"};
    static const char *const orders[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "zyz"};
    const char *type = below(s, 30) == 0 ? types[13] : types[below(s, 13)];
    put(s, "%s{\"name\": \"j%d\", \"type\": \"%s\"", index > 0 ? ", " : "", index, type);
    if (index > 0 && below(s, 8) > 0) {
        put(s, ", \"parent\": \"b%d\"", below(s, index));
    }
    put(s, ", \"body\": \"b%d\"", index);
    if (sometimes(s)) {
        put_list(s, "position", 3);
    }
    if (sometimes(s)) {
        put_list(s, "rotation", 4);
    }
    if (strcmp(type, "revolute") == 0 || strcmp(type, "prismatic") == 0 || strcmp(type, "universal") == 0) {
        put(s, ", \"axis\": [%d, %d, 1]", below(s, 2), below(s, 2));
        if (sometimes(s)) {
            put(s, ", \"lower\": [-%s], \"upper\": %s, \"velocity\": %s", positive(s), positive(s), positive(s));
        }
    }
    if (strcmp(type, "ball_euler") == 0 || strcmp(type, "free_euler") == 0) {
        put(s, ", \"order\": \"%s\"", ANY_OF(s, orders));
    }
    if (strcmp(type, "swing_twist") == 0) {
        put(s, ", \"swing\": [0.%d, %s]", 1 + below(s, 9), positive(s));
        put_list(s, "axes", 4);
        put(s, ", \"lower\": [null, null, -1], \"upper\": [null, null, 1]");
    }
    if (strcmp(type, "curve") == 0) {
        put(s, ", \"curve\": {");
        put_steps(s, "turns");
        put(s, ", ");
        put_steps(s, "slides");
        put(s, "}");
    }
    bool may_follow = strcmp(type, "revolute") == 0 || strcmp(type, "prismatic") == 0 || strcmp(type, "curve") == 0;
    if (index > 0 && below(s, may_follow ? 3 : 40) == 0) {
        put(s, ", \"mimic\": {\"joint\": \"j%d\", ", below(s, index));
        if (sometimes(s)) {
            put(s, "\"function\": {");
            put_curve_function(s);
            put(s, "}}");
        } else {
            put(s, "\"multiplier\": %s, \"offset\": %s}", number_of(s), number_of(s));
        }
    }
    if (sometimes(s)) {
        put(s, ", \"mass\": %d", below(s, 9));
        put_list(s, "mass_center", 3);
    }
    put(s, "}");
    return type;
}

// How many coordinates and motions a type has, so that most lists fit.
static int coordinates_of(const char *type)
{
    static const struct {
        const char *name;
        int count;
    } counts[] = {{"fixed", 0},       {"revolute", 1},        {"prismatic", 1},   {"universal", 2},   {"ball_euler", 3},
                  {"ball_expmap", 3}, {"ball_quaternion", 4}, {"swing_twist", 3}, {"translation", 3}, {"planar", 3},
                  {"free", 7},        {"free_euler", 6},      {"curve", 1}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        if (strcmp(counts[i].name, type) == 0) {
            return counts[i].count;
        }
    }
    return 1;
}

static void put_pose(seed_text *s, const char *key)
{
    put(s, ", \"%s\": {\"position\": [", key);
    put_numbers(s, 3, ", ");
    put(s, "]%s}", sometimes(s) ? ", \"rotation\": [0, 0, 0.6, 0.8]" : "");
}

static void put_goal(seed_text *s, int bodies, int nq)
{
    static const char *const kinds[] = {"position", "direction",  "orientation", "pose",     "aim",
                                        "plane",    "line",       "distance",    "relative", "center_of_mass",
                                        "posture",  "smoothness", "function"};
    static const char *const losses[] = {"none", "huber", "geman_mcclure"};
    const char *kind = ANY_OF(s, kinds);
    put(s, "{\"kind\": \"%s\"", kind);
    if (sometimes(s)) {
        put(s, ", \"tool\": \"t\"");
    } else {
        put(s, ", \"body\": \"b%d\"", below(s, bodies));
    }
    if (strcmp(kind, "relative") == 0) {
        put(s, ", \"body2\": \"b%d\"", below(s, bodies));
    }
    if (strcmp(kind, "posture") == 0 || strcmp(kind, "smoothness") == 0) {
        put_list(s, "q", nq);
        if (sometimes(s)) {
            put_list(s, "q_weights", nq);
        }
        if (sometimes(s)) {
            put_list(s, "q_before", nq);
        }
    }
    put_pose(s, "target");
    if (sometimes(s)) {
        put_pose(s, "local");
    }
    if (sometimes(s)) {
        put(s, ", \"priority\": %d, \"weight\": %s, \"rotation_weight\": %s", below(s, 3), positive(s), positive(s));
    }
    if (sometimes(s)) {
        put(s, ", \"loss\": \"%s\", \"loss_scale\": %s", ANY_OF(s, losses), positive(s));
    }
    if (sometimes(s)) {
        put(s, ", \"tolerance\": [0, null, 0.1], \"rotation_tolerance\": [null, 0, %s]", positive(s));
    }
    if (below(s, 2) == 0) {
        put(s, ", \"axis\": [0, 1, %s], \"direction\": [1, 0, %s], \"distance\": %s", number_of(s), number_of(s),
            number_of(s));
    }
    put(s, "}");
}

static void put_recording(seed_text *s)
{
    put(s,
        ", \"markers\": {\"rate\": 120, \"first_frame\": %d, \"scale\": {\"metres\": 0.001, \"up\": \"y\"}, \"labels\": "
        "[\"A\", \"B\"], \"positions\": [",
        below(s, 9));
    for (int f = 0; f < 2; ++f) {
        put(s, "%s[[", f > 0 ? ", " : "");
        put_numbers(s, 3, ", ");
        put(s, "], null]");
    }
    put(s, "], \"residuals\": [[0.5, null], [-1, %s]]}", number_of(s));
}

static void put_shapes(seed_text *s, int bodies)
{
    static const char *const kinds[] = {"capsule", "box", "half_space", "sphere"};
    static const char *const loops[] = {"connect", "weld", "hinge", "distance", "plane", "balance"};
    put(s, ", \"shapes\": [");
    for (int i = 0, count = 1 + below(s, 3); i < count; ++i) {
        put(s, "%s{\"kind\": \"%s\", \"body\": \"b%d\", \"radius\": %s", i > 0 ? ", " : "", ANY_OF(s, kinds),
            below(s, bodies), number_of(s));
        put_list(s, "half", 3);
        put_list(s, "position", 3);
        put(s, ", \"groups\": %d, \"against\": 4294967295}", below(s, 8));
    }
    put(s,
        "], \"excluded\": [[\"b0\", \"b%d\"], [null, \"b0\"]], \"loops\": [{\"kind\": \"%s\", \"body\": \"b0\", \"body2\": "
        "\"b%d\"",
        below(s, bodies), ANY_OF(s, loops), below(s, bodies));
    put_pose(s, "local");
    put_pose(s, "target");
    put(s, ", \"lower\": null, \"upper\": %s}]", number_of(s));
}

void seed_json(int number, char *text)
{
    static const char *const ups[] = {"unknown", "x", "y", "z"};
    seed_text s = begin(number, 2, text);
    int bodies = 1 + below(&s, 5), nq = 0;
    put(&s,
        "{\"poise\": 1, \"title\": \"n \\u00e9\\n %d\", \"scale\": {\"metres\": %s, \"up\": \"%s\"}, \"model\": "
        "{\"joints\": [",
        number, positive(&s), ANY_OF(&s, ups));
    for (int i = 0; i < bodies; ++i) {
        nq += coordinates_of(put_joint(&s, i));
    }
    put(&s, "], \"tools\": [{\"name\": \"t\", \"body\": \"b%d\", \"position\": [0, 0, 1]}]}", below(&s, bodies));
    if (sometimes(&s)) {
        put(&s, ", \"clip\": {\"frame_time\": 0.01, \"start_time\": %s, \"q\": [[", number_of(&s));
        put_numbers(&s, nq, ", ");
        put(&s, "], [");
        put_numbers(&s, nq, ", ");
        put(&s, "]]}");
    }
    if (sometimes(&s)) {
        put_recording(&s);
        put(&s, ", \"placements\": [{\"label\": \"A\", \"body\": \"b0\", \"local\": [0.1, 0, 0], \"weight\": %s}]",
            number_of(&s));
    }
    if (sometimes(&s)) {
        put(&s, ", \"postures\": {\"rest\": [");
        put_numbers(&s, nq, ", ");
        put(&s, "]}");
    }
    if (below(&s, 2) == 0) {
        put(&s, ", \"goals\": [");
        for (int i = 0, count = 1 + below(&s, 3); i < count; ++i) {
            put(&s, "%s", i > 0 ? ", " : "");
            put_goal(&s, bodies, nq);
        }
        put(&s, "]");
    }
    if (sometimes(&s)) {
        put_shapes(&s, bodies);
    }
    put(&s, "}");
}

// ---- JSON of any kind ----------------------------------------------------------------------------------------------------

static void put_value(seed_text *s, int depth)
{
    static const char *const atoms[] = {"true",
                                        "false",
                                        "null",
                                        "0",
                                        "-0.0",
                                        "1E+5",
                                        "1e-400",
                                        "12345678901234567890",
                                        "\"\"",
                                        "\"\\ud83d\\ude00\"",
                                        "\"\\u0000\"",
                                        "\"\\ud800\"",
                                        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                        "\"\xc3\xa9\xf0\x9f\x98\x80\"",
                                        "\"\xff\"",
                                        "01",
                                        "1.",
                                        ".5",
                                        "+1",
                                        "nan",
                                        "tru",
                                        "\"a\tb\"",
                                        "'a'",
                                        "[1,]",
                                        "{\"a\":}"};
    static const char *const spaces[] = {"", "", " ", "\n", "\t", "\r\n"};
    int kind = below(s, depth < 6 ? 4 : 2);
    put(s, "%s", ANY_OF(s, spaces));
    if (kind == 0) {
        put(s, "%s", atoms[below(s, below(s, 6) == 0 ? 25 : 14)]);
    } else if (kind == 1) {
        put(s, "%s", number_of(s));
    } else {
        put(s, kind == 2 ? "[" : "{");
        for (int i = 0, count = below(s, 5); i < count; ++i) {
            put(s, "%s", i > 0 ? "," : "");
            if (kind == 3) {
                put(s, "\"k%d\"%s:", below(s, 9), ANY_OF(s, spaces));
            }
            put_value(s, depth + 1);
        }
        put(s, kind == 2 ? "]" : "}");
    }
    put(s, "%s", ANY_OF(s, spaces));
}

void seed_json_plain(int number, char *text)
{
    seed_text s = begin(number, 3, text);
    put(&s, number % 2 ? "[" : "{\"a\":");
    put_value(&s, 0);
    put(&s, number % 2 ? "]" : "}");
}

// ---- Goals in words ------------------------------------------------------------------------------------------------------

static void put_turn(seed_text *s)
{
    static const char *const axes[] = {"x", "y", "z", "-x", "-y", "-z", "1 1 0"};
    const char *unit = sometimes(s) ? "rad" : "deg";
    switch (below(s, 3)) {
    case 0:
        put(s, " rpy %s %s %s %s", number_of(s), number_of(s), number_of(s), unit);
        break;
    case 1:
        put(s, " turn %s %s %s", ANY_OF(s, axes), number_of(s), unit);
        break;
    default:
        put(s, " quaternion %s %s 0 1", number_of(s), number_of(s));
        break;
    }
}

static void put_options(seed_text *s)
{
    for (int i = below(s, 4); i > 0; --i) {
        switch (below(s, 10)) {
        case 0:
            put(s, " weight %s", number_of(s));
            break;
        case 1:
            put(s, " rotation-weight %s", number_of(s));
            break;
        case 2:
            put(s, " priority %d", below(s, 4));
            break;
        case 3:
            put(s, " at %s %s %s", number_of(s), number_of(s), number_of(s));
            break;
        case 4:
            put(s, " axis %s 0 1", number_of(s));
            break;
        case 5:
            put(s, " tolerance %s", number_of(s));
            break;
        case 6:
            put(s, " tolerance 0.1 free %s", number_of(s));
            break;
        case 7:
            put(s, " rotation-tolerance %s free 5 deg", number_of(s));
            break;
        case 8:
            put(s, " huber %s", number_of(s));
            break;
        default:
            put(s, " geman-mcclure %s", number_of(s));
            break;
        }
    }
}

void seed_goals(int number, char *text)
{
    static const char *const bodies[] = {"base", "arm", "tip", "'left hand'", "\"left hand\"", "nobody"};
    seed_text s = begin(number, 4, text);
    for (int i = 0, count = 1 + below(&s, 4); i < count; ++i) {
        const char *body = bodies[below(&s, below(&s, 9) == 0 ? 6 : 5)], *x = number_of(&s), *y = number_of(&s),
                   *z = number_of(&s);
        put(&s, "%s", i > 0 ? sometimes(&s) ? "\n" : "; " : "");
        switch (below(&s, 13)) {
        case 0:
            put(&s, "position %s %s %s %s", body, x, y, z);
            break;
        case 1:
            put(&s, "direction %s along %s %s %s", body, x, y, z);
            break;
        case 2:
            put(&s, "orientation %s", body), put_turn(&s);
            break;
        case 3:
            put(&s, "pose %s %s %s %s", body, x, y, z), put_turn(&s);
            break;
        case 4:
            put(&s, "aim %s to %s %s %s", body, x, y, z);
            break;
        case 5:
            put(&s, "plane %s through %s %s %s normal 0 %s 1", body, x, y, z, x);
            break;
        case 6:
            put(&s, "line %s through %s %s %s along %s, 1, 0", body, x, y, z, x);
            break;
        case 7:
            put(&s, "distance %s %s from %s %s 0", body, x, y, z);
            break;
        case 8:
            put(&s, "relative %s to %s %s %s %s", body, ANY_OF(&s, bodies), x, y, z), put_turn(&s);
            break;
        case 9:
            put(&s, "%s %s %s %s", sometimes(&s) ? "center_of_mass" : "balance", x, y, z);
            break;
        case 10:
            put(&s, "posture neutral");
            break;
        case 11:
            put(&s, "posture 0 0 %s 1 %s %s", x, y, z);
            break;
        default:
            put(&s, "%s", sometimes(&s) ? "smoothness" : "stay");
            break;
        }
        put_options(&s);
        put(&s, "%s", below(&s, 9) == 0 ? " # a remark\n" : "");
    }
}
