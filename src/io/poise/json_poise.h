// The Poise JSON format: what its readers and writers share.
//
//   { "poise": 1, "title": "...", "scale": {"metres": 1, "up": "z"},
//     "model": {"joints": [...], "tools": [...]},
//     "clip": {"frame_time": 0.01, "start_time": 0, "q": [[...], ...]},
//     "markers": {"rate": 100, "first_frame": 1, "scale": {...}, "labels": [...],
//                 "positions": [[[x, y, z], null, ...], ...], "residuals": [[...], ...]},
//     "postures": {"name": [...]},
//     "goals": [{"kind": "position", "body": "hand", "target": {"position": [x, y, z]}, ...}],
//     "placements": [{"label": "LFHD", "body": "head", "local": [x, y, z], "weight": 1}],
//     "shapes": [{"kind": "capsule", "body": "hand", "half": [0, 0, 0.1], "radius": 0.05}, ...],
//     "excluded": [["hand", "arm"], ...],
//     "loops": [{"kind": "connect", "body": "rod", "body2": "crank", "local": {...}, "target": {...}}] }
//
// Members have the names and meanings of the fields of the structs they stand for, bodies and joints are given by name.
// What is left out has its default. A limit or tolerance of null is infinite, a marker of null was not seen. Angles are
// radians, quaternions x y z w. Shapes, pairs and loops without a body, or with null for it, are of the world: a file of
// shapes alone describes obstacles. Every number reads back to the same bits.
#ifndef PZ_IO_JSON_POISE_H
#define PZ_IO_JSON_POISE_H

#include "io/json.h"
#include "io/skeleton.h"

// Version of the format.
#define PZ_JSON_VERSION 1

#define PZ_COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Numbers of which null stands for `missing`.
poise_status pz_json_numbers_or(const pz_item *item, double *values, size_t count, double missing);

// A direction or quaternion that is unit to 1e-6 as it is, another one made unit; zero fails.
poise_status pz_json_unit_of(const pz_item *object, const char *key, double *values, size_t count);

// position and rotation, members of `object`.
poise_status pz_json_pose_of(const pz_item *object, poise_pose *pose);
void pz_json_put_pose(pz_json_writer *writer, poise_pose pose); // members, where they are not the identity's

// A whole number of `count` that a list of names gives.
poise_status pz_json_choice_of(const pz_item *object, const char *key, const char *(*name)(int), int count, int *value);

// A body by its name.
poise_status pz_json_body(const pz_item *item, const poise_model *model, int *body);

// One entry of an array, read into its place.
typedef poise_status (*pz_json_entry)(const pz_item *item, const poise_model *model, void *entry);

// The array `key` of `root`, whose entries of `size` bytes speak of a model, kept with the file. NULL where it is missing or
// empty, or cannot be read, as *status then says; what failed before is left alone.
void *pz_json_entries(const pz_item *root, const char *key, const poise_model *model, pz_json_entry read, size_t size,
                      int *count, poise_status *status);

// Fails without a model.
poise_status pz_json_need_model(const pz_item *item, const poise_model *model);

bool pz_same_numbers(const double *a, const double *b, size_t count); // bit for bit

// json_model.c
poise_status pz_json_read_model(const pz_item *item, poise_model **model);
void pz_json_put_model(pz_json_writer *writer, const poise_model *model);

// json_curve.c: the members "curve" of a joint and "function" of its mimic, whose numbers go to the pool of the input.
//
//   "curve": {"turns": [{"axis": [0, 0, 1], "polynomial": [1, 0]}],
//             "slides": [{"axis": [1, 0, 0], "spline": [[x, y], ...]}]}
//   "function": {"lines": [[x, y], ...]}
//
// Of turns and slides there are up to three, null for one without a function.
poise_status pz_json_curve(const pz_item *joint_item, poise_joint *joint);
poise_status pz_json_mimic_function(const pz_item *mimic_item, poise_joint *joint);
void pz_json_put_curve(pz_json_writer *writer, const poise_curve *curve);
void pz_json_put_function(pz_json_writer *writer, const char *key, const poise_function *function, const poise_vec3 *axis);

// json_goals.c
poise_status pz_json_goal(const pz_item *item, const poise_model *model, void *goal); // an entry
void pz_json_put_goals(pz_json_writer *writer, const poise_file *file, const poise_model *model);

// json_shapes.c: entries of the members shapes, excluded and loops
poise_status pz_json_shape(const pz_item *item, const poise_model *model, void *shape);
poise_status pz_json_excluded(const pz_item *item, const poise_model *model, void *pair);
poise_status pz_json_loop(const pz_item *item, const poise_model *model, void *loop);
poise_status pz_json_check_bounds(const poise_file *file, pz_output *output); // before they are written
void pz_json_put_bounds(pz_json_writer *writer, const poise_file *file);

#endif
