// Pictures of skeletons as SVG.
#include "picture.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { CIRCLE = 24, LARGE_CIRCLE = 96 }; // corners: chords miss a circle of 20 and of 300 pixels by 0.2

static const char *const outline = "#fff"; // of solids and dots

typedef struct shape {
    picture_layer layer;
    int figure;
    double depth; // along the view's `toward`; larger is nearer
    int order;    // of drawing
    char *svg;
} shape;

struct picture {
    int width, height;
    picture_view view;
    int figure;
    shape *shapes;
    int count, capacity;
    bool failed;
};

typedef struct page_point {
    double x, y;
} page_point;

static double dot(poise_vec3 a, poise_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static poise_vec3 cross(poise_vec3 a, poise_vec3 b)
{
    return poise_vec3_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static poise_vec3 sum(poise_vec3 a, double s, poise_vec3 b) // a + s b
{
    return poise_vec3_make(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static poise_vec3 unit(poise_vec3 a)
{
    double length = sqrt(dot(a, a));
    return length > 0 ? poise_vec3_make(a.x / length, a.y / length, a.z / length) : poise_vec3_make(0, 0, 1);
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

picture *picture_create(int width, int height)
{
    picture *p = calloc(1, sizeof *p);
    if (p) {
        p->width = width;
        p->height = height;
        p->view = picture_look(poise_vec3_make(0, 0, 1), poise_vec3_make(0, 1, 0));
    }
    return p;
}

void picture_destroy(picture *p)
{
    for (int i = 0; p && i < p->count; ++i) {
        free(p->shapes[i].svg);
    }
    if (p) {
        free(p->shapes);
    }
    free(p);
}

picture_view picture_look(poise_vec3 toward, poise_vec3 up)
{
    picture_view view = {.toward = unit(toward), .scale = 1};
    view.right = unit(cross(up, view.toward));
    view.up = cross(view.toward, view.right);
    return view;
}

void picture_set_view(picture *p, const picture_view *view)
{
    p->view = *view;
}

void picture_project(const picture *p, poise_vec3 point, double *x, double *y)
{
    poise_vec3 d = sum(point, -1, p->view.center);
    *x = p->view.x + p->view.scale * dot(d, p->view.right);
    *y = p->view.y - p->view.scale * dot(d, p->view.up);
}

void picture_next_figure(picture *p)
{
    p->figure += 1;
}

// Keep one shape as its SVG text. Depth is that of the point `at`.
static void add(picture *p, picture_layer layer, poise_vec3 at, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (p->count == p->capacity && !p->failed) {
        int capacity = p->capacity ? 2 * p->capacity : 256;
        shape *shapes = realloc(p->shapes, (size_t)capacity * sizeof *shapes);
        p->failed = !shapes;
        if (shapes) {
            p->shapes = shapes;
            p->capacity = capacity;
        }
    }
    char *svg = malloc((size_t)length + 1);
    if (p->failed || !svg || length < 0 || length >= (int)sizeof text) {
        free(svg);
        p->failed = true;
        return;
    }
    memcpy(svg, text, (size_t)length + 1);
    p->shapes[p->count] =
        (shape){.layer = layer, .figure = p->figure, .depth = dot(at, p->view.toward), .order = p->count, .svg = svg};
    p->count += 1;
}

static page_point on_page(const picture *p, poise_vec3 point)
{
    page_point c;
    picture_project(p, point, &c.x, &c.y);
    return c;
}

// ---- Solids --------------------------------------------------------------------------------------------------------------

// `count` points of the circle round `center` across `normal`, on the page.
static void circle_points(const picture *p, poise_vec3 center, poise_vec3 normal, double radius, int count,
                          page_point *points)
{
    poise_vec3 n = unit(normal);
    poise_vec3 u = unit(cross(n, fabs(n.y) < 0.9 ? poise_vec3_make(0, 1, 0) : poise_vec3_make(1, 0, 0))), v = cross(n, u);
    for (int i = 0; i < count; ++i) {
        double angle = 2 * PI * i / count;
        poise_vec3 at = sum(sum(center, radius * cos(angle), u), radius * sin(angle), v);
        picture_project(p, at, &points[i].x, &points[i].y);
    }
}

static int by_place(const void *a, const void *b)
{
    const page_point *p = a, *q = b;
    return p->x != q->x ? (p->x < q->x ? -1 : 1) : (p->y > q->y) - (p->y < q->y);
}

// The convex hull in place, by Andrew's monotone chain (A. M. Andrew, 1979); `hull` has room for count + 1.
static int convex_hull(page_point *points, int count, page_point *hull)
{
    int n = 0;
    qsort(points, (size_t)count, sizeof *points, by_place);
    for (int pass = 0; pass < 2; ++pass) {
        int begin = n + 1;
        for (int k = 0; k < count; ++k) {
            page_point c = points[pass ? count - 1 - k : k];
            while (n > begin && (hull[n - 1].x - hull[n - 2].x) * (c.y - hull[n - 2].y) <=
                                    (hull[n - 1].y - hull[n - 2].y) * (c.x - hull[n - 2].x)) {
                n -= 1;
            }
            hull[n++] = c;
        }
        n -= 1; // the last point begins the other chain
    }
    return n;
}

static void write_points(const page_point *points, int count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < size; ++i) {
        int n = snprintf(text + used, size - used, "%s%.1f,%.1f", i ? " " : "", points[i].x, points[i].y);
        used += n > 0 ? (size_t)n : 0;
    }
}

static void add_solid(picture *p, poise_vec3 middle, page_point *points, const char *color)
{
    page_point hull[2 * CIRCLE + 2];
    char text[2048];
    write_points(hull, convex_hull(points, 2 * CIRCLE, hull), text, sizeof text);
    add(p, PICTURE_SCENE, middle, "<polygon points=\"%s\" fill=\"%s\"/>", text, color);
}

// The outline of two discs on the page and all between them: two arcs and the two lines that touch both. With the angle
// between the line of centres and the radius to a touching point
//
//   cos(touch) = (radius_a - radius_b) / distance
void picture_limb(picture *p, poise_vec3 a, double radius_a, poise_vec3 b, double radius_b, const char *color)
{
    page_point from = on_page(p, a), to = on_page(p, b);
    double ra = radius_a * p->view.scale, rb = radius_b * p->view.scale, d = hypot(to.x - from.x, to.y - from.y);
    poise_vec3 middle = sum(a, 0.5, sum(b, -1, a));
    if (d <= fabs(ra - rb) + 0.01) { // one disc hides the other
        page_point c = ra > rb ? from : to;
        add(p, PICTURE_SCENE, middle, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>", c.x, c.y, fmax(ra, rb),
            color);
        return;
    }
    double along = atan2(to.y - from.y, to.x - from.x), touch = acos((ra - rb) / d);
    double c1 = cos(along + touch), s1 = sin(along + touch), c2 = cos(along - touch), s2 = sin(along - touch);
    add(p, PICTURE_SCENE, middle,
        "<path d=\"M%.1f %.1fL%.1f %.1fA%.1f %.1f 0 %d 0 %.1f %.1fL%.1f %.1fA%.1f %.1f 0 %d 0 %.1f %.1fZ\" fill=\"%s\"/>",
        from.x + ra * c1, from.y + ra * s1, to.x + rb * c1, to.y + rb * s1, rb, rb, rb > ra, to.x + rb * c2, to.y + rb * s2,
        from.x + ra * c2, from.y + ra * s2, ra, ra, ra > rb, from.x + ra * c1, from.y + ra * s1, color);
}

void picture_cone(picture *p, poise_vec3 a, double radius_a, poise_vec3 b, double radius_b, const char *color)
{
    page_point points[2 * CIRCLE];
    poise_vec3 along = sum(b, -1, a);
    circle_points(p, a, along, radius_a, CIRCLE, points);
    circle_points(p, b, along, radius_b, CIRCLE, points + CIRCLE);
    add_solid(p, sum(a, 0.5, along), points, color);
}

void picture_disc(picture *p, poise_vec3 center, poise_vec3 normal, double radius, const char *color)
{
    page_point points[LARGE_CIRCLE];
    char text[2048];
    circle_points(p, center, normal, radius, LARGE_CIRCLE, points);
    write_points(points, LARGE_CIRCLE, text, sizeof text);
    add(p, PICTURE_FLOOR, center, "<polygon points=\"%s\" fill=\"%s\"/>", text, color);
}

void picture_circle(picture *p, poise_vec3 center, poise_vec3 normal, double radius, double width, const char *color)
{
    page_point points[LARGE_CIRCLE];
    char text[2048];
    circle_points(p, center, normal, radius, LARGE_CIRCLE, points);
    write_points(points, LARGE_CIRCLE, text, sizeof text);
    add(p, PICTURE_FLOOR, center, "<polygon points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"/>", text, color,
        width);
}

// ---- Lines and marks -----------------------------------------------------------------------------------------------------

static void add_line(picture *p, picture_layer layer, poise_vec3 at, page_point a, page_point b, double width,
                     const char *color, const char *dashes)
{
    add(p, layer, at,
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%g\" stroke-linecap=\"round\""
        "%s%s%s/>",
        a.x, a.y, b.x, b.y, color, width, dashes ? " stroke-dasharray=\"" : "", dashes ? dashes : "", dashes ? "\"" : "");
}

static void add_dot(picture *p, picture_layer layer, poise_vec3 at, page_point c, double radius, const char *fill,
                    const char *stroke)
{
    if (layer == PICTURE_SCENE && stroke == outline) {
        add(p, layer, at, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>", c.x, c.y, radius, fill);
        return;
    }
    add(p, layer, at, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1\"/>", c.x, c.y,
        radius, fill, stroke);
}

void picture_line(picture *p, picture_layer layer, poise_vec3 a, poise_vec3 b, double width, const char *color,
                  const char *dashes)
{
    add_line(p, layer, sum(a, 0.5, sum(b, -1, a)), on_page(p, a), on_page(p, b), width, color, dashes);
}

void picture_dot(picture *p, poise_vec3 point, double radius, const char *color)
{
    add_dot(p, PICTURE_SCENE, point, on_page(p, point), radius, color, outline);
}

void picture_ring(picture *p, poise_vec3 point, double radius, const char *color)
{
    add_dot(p, PICTURE_SCENE, point, on_page(p, point), radius, "none", color);
}

void picture_page_line(picture *p, double x1, double y1, double x2, double y2, double width, const char *color)
{
    add_line(p, PICTURE_FLOOR, p->view.center, (page_point){x1, y1}, (page_point){x2, y2}, width, color, NULL);
}

void picture_page_dot(picture *p, double x, double y, double radius, const char *color)
{
    add_dot(p, PICTURE_PAGE, p->view.center, (page_point){x, y}, radius, color, outline);
}

void picture_page_ring(picture *p, double x, double y, double radius, const char *color)
{
    add_dot(p, PICTURE_PAGE, p->view.center, (page_point){x, y}, radius, "none", color);
}

void picture_text(picture *p, double x, double y, double size, picture_anchor anchor, const char *color, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    add(p, PICTURE_PAGE, p->view.center,
        "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%g\" text-anchor=\"%s\" fill=\"%s\">%s</text>", x, y, size, anchors[anchor],
        color, text);
}

// ---- Writing -------------------------------------------------------------------------------------------------------------

static int by_layer_and_depth(const void *a, const void *b)
{
    const shape *s = a, *t = b;
    if (s->layer != t->layer) {
        return s->layer < t->layer ? -1 : 1;
    }
    if (s->layer == PICTURE_SCENE && s->figure != t->figure) {
        return s->figure < t->figure ? -1 : 1;
    }
    if (s->layer == PICTURE_SCENE && s->depth != t->depth) {
        return s->depth < t->depth ? -1 : 1;
    }
    return (s->order > t->order) - (s->order < t->order);
}

bool picture_is_whole(const picture *p)
{
    return !p->failed;
}

void picture_write(picture *p, FILE *file)
{
    if (p->count > 0) {
        qsort(p->shapes, (size_t)p->count, sizeof *p->shapes, by_layer_and_depth);
    }
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
            " font-family=\"Helvetica, Arial, sans-serif\" stroke-linejoin=\"round\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            p->width, p->height, p->width, p->height, p->width, p->height);
    bool in_scene = false; // solids have a thin white line round them, said once for all
    for (int i = 0; i < p->count; ++i) {
        if ((p->shapes[i].layer == PICTURE_SCENE) != in_scene) {
            in_scene = !in_scene;
            fputs(in_scene ? "<g stroke=\"#fff\" stroke-width=\"0.8\">\n" : "</g>\n", file);
        }
        fprintf(file, "%s\n", p->shapes[i].svg);
    }
    fprintf(file, "%s</svg>\n", in_scene ? "</g>\n" : "");
}
