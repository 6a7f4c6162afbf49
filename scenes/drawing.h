// Drawing whole skeletons of any kind into a picture.
#ifndef SCENES_DRAWING_H
#define SCENES_DRAWING_H

#include <scenes/picture.h>

#include <poise/constraint.h>

// The box that holds a skeleton in some configurations. Start with drawing_box_empty().
typedef struct drawing_box {
    poise_vec3 least, most;
} drawing_box;

drawing_box drawing_box_empty(void);
void drawing_box_add(drawing_box *box, poise_vec3 point);

// The origins of all bodies and tools, in the present configuration.
void drawing_box_add_skeleton(drawing_box *box, const poise_model *model, const poise_kinematics *kinematics);

// The same as a view sees it: x to the right on the page, y up, in units of the model and from its origin.
void drawing_box_add_seen(drawing_box *box, const picture_view *view, const poise_model *model,
                          const poise_kinematics *kinematics);

// A view of the box from in front, a little from the left and from above, that fills the given place on the page: x, y is
// its middle. `up` is the upward axis, y or z.
picture_view drawing_view(const drawing_box *box, poise_vec3 up, double x, double y, double width, double height);

// Place and scale a view of any direction so that the box fills a part of the page as drawing_view does.
void drawing_fit_view(picture_view *view, const drawing_box *box, double x, double y, double width, double height);

// The upward axis of a model whose file says nothing of it: y where most of the skeleton lies along y, else z.
poise_vec3 drawing_guess_up(const poise_model *model);

// A bone from each body to those on it and to its tools, a person's head as one, and a dot for each joint that moves.
// `thickness` is a bone's radius in pixels.
void drawing_skeleton(picture *p, const poise_model *model, const poise_kinematics *kinematics, double thickness,
                      const char *bone, const char *joint);

// A grid of lines on the ground below the box, at the height `ground` along `up`, and what it covers.
drawing_box drawing_footprint(const drawing_box *box, poise_vec3 up, double ground);
void drawing_ground(picture *p, const drawing_box *box, poise_vec3 up, double ground, const char *color);

// A shape of the world as wires, and the room it takes: none for a half-space, of which the part about the box is drawn.
void drawing_box_add_obstacle(drawing_box *box, const poise_shape *shape);
void drawing_obstacle(picture *p, const poise_shape *shape, const drawing_box *box, const char *color);

#endif
