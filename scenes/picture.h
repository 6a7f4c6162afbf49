// Pictures of skeletons as SVG: solids in space, seen from far away (parallel projection), painted from back to front.
//
// A picture collects shapes and is written at the end. Places in space are in metres and go through the view that is set;
// places on the page are in pixels from the top left. Colours are given as SVG takes them. A shape that there is no memory
// for is left out, and picture_is_whole says so.
#ifndef SCENES_PICTURE_H
#define SCENES_PICTURE_H

#include <poise/math.h>

#include <stdio.h>

typedef struct picture picture;

// What is painted over what: shapes of a later layer lie on top. Within a figure of SCENE the nearer one does, else the
// later one.
typedef enum picture_layer { PICTURE_FLOOR = 0, PICTURE_SCENE, PICTURE_PAGE, PICTURE_LAYER_COUNT } picture_layer;

// From where the scene is seen, and where on the page it is.
typedef struct picture_view {
    poise_vec3 right, up, toward; // unit, orthogonal: the page's directions in space; `toward` points to the viewer
    poise_vec3 center;            // this point of space lies ...
    double x, y;                  // ... here on the page
    double scale;                 // pixels per metre
} picture_view;

typedef enum picture_anchor { PICTURE_LEFT = 0, PICTURE_MIDDLE, PICTURE_RIGHT } picture_anchor;

// A blank white page, in pixels; NULL when there is no memory.
picture *picture_create(int width, int height);
void picture_destroy(picture *p); // NULL is allowed

// A view from the direction `toward` with `up` pointing up on the page as far as it can; center, x, y are 0 and scale is 1.
picture_view picture_look(poise_vec3 toward, poise_vec3 up);
void picture_set_view(picture *p, const picture_view *view);

// Where a point of space lies on the page.
void picture_project(const picture *p, poise_vec3 point, double *x, double *y);

// From here on another figure, whose solids lie on top of the ones before, however near.
void picture_next_figure(picture *p);

// ---- In space ------------------------------------------------------------------------------------------------------------

// Two balls and all between them: a limb.
void picture_limb(picture *p, poise_vec3 a, double radius_a, poise_vec3 b, double radius_b, const char *color);

// Two discs across the line from a to b and all between them: a cylinder, a lampshade.
void picture_cone(picture *p, poise_vec3 a, double radius_a, poise_vec3 b, double radius_b, const char *color);

// A disc across `normal`, on the floor's layer.
void picture_disc(picture *p, poise_vec3 center, poise_vec3 normal, double radius, const char *color);

// A closed circle line across `normal`, on the floor's layer; width in pixels.
void picture_circle(picture *p, poise_vec3 center, poise_vec3 normal, double radius, double width, const char *color);

// A straight line, width in pixels; `dashes` as SVG takes them ("4 3"), NULL for none.
void picture_line(picture *p, picture_layer layer, poise_vec3 a, poise_vec3 b, double width, const char *color,
                  const char *dashes);

// A mark of a radius in pixels, filled or hollow.
void picture_dot(picture *p, poise_vec3 point, double radius, const char *color);
void picture_ring(picture *p, poise_vec3 point, double radius, const char *color);

// ---- On the page ---------------------------------------------------------------------------------------------------------

// One line of text; `text` may not hold the characters < > &.
void picture_text(picture *p, double x, double y, double size, picture_anchor anchor, const char *color, const char *text);

void picture_page_line(picture *p, double x1, double y1, double x2, double y2, double width, const char *color);
void picture_page_dot(picture *p, double x, double y, double radius, const char *color);
void picture_page_ring(picture *p, double x, double y, double radius, const char *color);

// Is every shape in it?
bool picture_is_whole(const picture *p);

// Write the picture. The stream's errors are the caller's to ask for.
void picture_write(picture *p, FILE *file);

#endif
