// Poise: file formats. Converts bytes to models, clips and markers, and back. A separate library, poise_io.
//
//   poise_read_options options = {.name = "walk.bvh"};
//   poise_read(bytes, size, &options, NULL, &file, &error);      // file->model, file->clip, file->markers
//   poise_write(file, POISE_FORMAT_BVH, NULL, &bytes, &size, NULL, NULL, &error);
//
// Everything works on memory; the caller does the file I/O. Any number of threads may read and write at once. Reading takes
// time and memory proportional to the input, whatever the bytes, and gives either a whole file or an error that names the
// line (text) or byte (binary) and the fix. Content that Poise cannot represent gives a warning, with its line. Numbers are
// read and written exactly: a file that Poise wrote reads back to the same bits, in every locale.
//
// | format     | read                      | write                                       |
// |------------|---------------------------|---------------------------------------------|
// | URDF       | model, shapes             |                                             |
// | MJCF       | model, shapes, loops      |                                             |
// | BVH        | model, clip               | model, clip                                 |
// | ASF        | model                     | model                                       |
// | AMC        | clip, given the ASF model | clip                                        |
// | C3D        | markers; carries the rest | markers (Intel, float), and the rest        |
// | TRC        | markers                   | markers                                     |
// | MOT        | clip, given the model     | clip                                        |
// | OSIM       | model, placements, posture|                                             |
// | GLTF, GLB  | model, clip; likewise     | model, clip, and the rest                   |
// | DH         | model                     | model, where it is a chain of 1-DoF joints  |
// | JSON       | everything                | everything                                  |
// | SRDF       | excluded pairs, postures, |                                             |
// |            | given the URDF model      |                                             |
#ifndef POISE_IO_H
#define POISE_IO_H

#include <poise/constraint.h>
#include <poise/edit.h>
#include <poise/hull.h>
#include <poise/recordings.h>
#include <poise/retarget.h>

#ifdef __cplusplus
extern "C" {
#endif

// The formats.
typedef enum poise_format {
    POISE_FORMAT_UNKNOWN = 0,
    POISE_FORMAT_URDF,
    POISE_FORMAT_MJCF,
    POISE_FORMAT_BVH,
    POISE_FORMAT_ASF,
    POISE_FORMAT_AMC,
    POISE_FORMAT_C3D,
    POISE_FORMAT_TRC,
    POISE_FORMAT_MOT,
    POISE_FORMAT_GLTF,
    POISE_FORMAT_GLB,
    POISE_FORMAT_DH,
    POISE_FORMAT_JSON,
    POISE_FORMAT_OSIM,
    POISE_FORMAT_SRDF,
    POISE_FORMAT_COUNT
} poise_format;

// A short lower-case name such as "bvh"; "unknown" outside the enumeration.
static inline const char *poise_format_name(poise_format format)
{
    return poise_name(POISE_TYPE_FORMAT, (int)format);
}

// Detect the format from the first bytes or, if these do not decide, from the extension of `name` (may be NULL).
POISE_API poise_format poise_format_detect(const void *bytes, size_t size, const char *name);

// A problem that did not prevent the file from being read.
typedef struct poise_warning {
    int line;                         // 1-based; 0: no line
    char text[POISE_ERROR_TEXT_SIZE]; // what is wrong, one line
} poise_warning;

// The meaning of a BVH joint's position channels, on which programs differ.
typedef enum poise_bvh_positions {
    POISE_BVH_DECIDE = 0, // by the data, with a warning if it makes a difference
    POISE_BVH_REPLACE,    // they replace OFFSET
    POISE_BVH_ADD         // they add to OFFSET
} poise_bvh_positions;

// Supplies the bytes of another file that this one names (glTF buffers, MJCF includes, meshes), valid until the read
// returns. The name is as written in the file, such as "package://panda/meshes/hand.stl".
typedef poise_status (*poise_load)(void *user, const char *name, const void **bytes, size_t *size);

// Candidate paths of such a file, by the rules of ROS, Gazebo and MuJoCo: call with `number` 0, 1, ..., most likely first,
// and use the first path that exists. `folder` is that of the file that contains the name ("" for the current one).
// "package://arm/meshes/a.stl" and "model://arm/meshes/a.stl" are looked up as arm/meshes/a.stl and as meshes/a.stl in the
// folder, then in the eight above it; any other name has one candidate. False: no more candidates, or `path` is too short.
POISE_API bool poise_named_file(const char *folder, const char *name, int number, char *path, size_t size);

// Scale factors of a body along its own axes.
typedef struct poise_body_scale {
    const char *body;   // its name
    poise_vec3 factors; // along x, y and z
    double mass;        // factor of its mass; 0: unchanged
} poise_body_scale;

// Start with {0}, which gives the defaults beside the members.
typedef struct poise_read_options {
    poise_format format;                 // UNKNOWN: detect
    const char *name;                    // of the file, for detection and messages; may be NULL
    const poise_model *model;            // the skeleton that an AMC, MOT or SRDF refers to; NULL otherwise
    poise_bvh_positions positions;       // DECIDE
    int animation;                       // 0; GLTF, GLB: index of the animation that becomes the clip
    const char *animation_name;          // NULL; the same by its name, whatever `animation` is
    const poise_body_scale *body_scales; // NULL; OSIM: factors of bodies, applied as OpenSim's ScaleTool does
    int body_scale_count;                // 0
    bool floating;                       // false; URDF, MJCF: give the root link a FREE joint instead of fixing it to the
                                         // world; glTF: the same for the root of a skin that no animation moves
    bool ignore_follower_limits; // false; URDF, MJCF, OSIM: limits of a joint that follows another do not narrow those
                                 // of the other. Else both hold, and a warning says where that takes room
    bool meshes;                 // false; URDF, MJCF: load collision meshes (STL, OBJ, COLLADA) and cover them with
                                 // shapes, too
    poise_load load;             // NULL: files named by this one are not read, with a warning
    void *user;                  // handed to load
} poise_read_options;

// One analog channel of a C3D recording.
typedef struct poise_channel {
    const char *label;    // never NULL
    const char *unit;     // never NULL
    double scale, offset; // (sample - offset) * scale is in `unit`
} poise_channel;

// A moment with a name, such as a heel strike.
typedef struct poise_event {
    const char *label;   // "Foot Strike"; never NULL
    const char *context; // "Right"; never NULL
    double time;         // seconds
} poise_event;

// Content that Poise does not interpret but passes on to a file of the same kind: analog channels, events, force plates and
// all parameters from C3D to C3D; meshes, skins, materials and other animations from glTF to glTF.
typedef struct poise_carried {
    poise_format format;          // C3D, or GLTF for GLB as well
    const char *text;             // a summary: "6 analog channels, 4 events, 2 force plates"
    int channel_count;            // analog
    const poise_channel *channel; // channel_count of them
    int samples;                  // of one channel per frame
    int frames;                   // of `analog`
    const float *analog;          // frames x samples x channels, as stored; NULL: none, or dropped by a change of rate
    int event_count;              // how many there are
    const poise_event *event;     // event_count of them
    int force_plates, rotations;  // C3D: force plates, and segments with recorded poses
    int meshes, animations;       // of glTF
    int animation;                // of glTF: the one that became the clip
    const char **animation_name;  // of glTF: `animations` of them, "" where there is none
    void *rest;                   // private
} poise_carried;

// The contents of a file. Missing parts are NULL. To write, fill one of your own; it is not changed.
//
// The tip of a bone (BVH "End Site", ASF bone end, a leaf of glTF) is a tool of the model called "<body>.tip".
//
// Shapes enclose what the file describes: a cylinder or an ellipsoid becomes a capsule around its axis, a mesh the capsules
// and boxes of poise_shapes_fit. MJCF geoms that collide with nothing are left out.
//
// A BVH joint whose channels fit no joint type becomes a chain of joints at one point. The last has its name; those above
// it are called "<name>.position" (three positions before one or two rotations), "<name>.x", ".y", ".z" (single positions)
// and "<name>.1", ".2" (rotations with an axis twice in a row).
typedef struct poise_file {
    poise_format format;              // it was read from
    poise_model *model;               // the skeleton
    poise_clip *clip;                 // moves `model`, or the one in the options
    poise_markers *markers;           // the recording
    poise_goal *goals;                // for `model`, or the one in the options; the file also owns what they point to
    int goal_count;                   // how many
    poise_posture *postures;          // likewise
    int posture_count;                // how many
    poise_placement *placements;      // likewise; a non-finite `local` is unknown, to be calibrated
    int placement_count;              // how many
    poise_shape *shapes;              // collision shapes of the bodies, and obstacles in the world; see above
    int shape_count;                  // how many
    poise_hull *hulls;                // convex hulls of the same geometry on bodies, as it is: to measure overlaps (hull.h)
    int hull_count;                   // how many
    int shapes_skipped;               // number of collision shapes not read: meshes (options.meshes), height fields
    poise_pair *excluded;             // pairs of bodies, possibly POISE_WORLD, that may touch (poise_pairs_options)
    int excluded_count;               // how many
    poise_constraint *loops;          // constraints that close loops of the model: CONNECT, WELD, HINGE, DISTANCE, PLANE
    int loop_count;                   // how many
    poise_scale scale;                // of the lengths in model, clip, goals and placements
    poise_carried *carried;           // content passed on to a file of the same kind; NULL: none
    const char *title;                // the file's name for itself, such as a robot's name; NULL: none
    poise_warning *warnings;          // problems found
    int warning_count;                // number kept; at most POISE_WARNINGS_MOST
    int warnings_dropped;             // number beyond those
    poise_bvh_positions positions[2]; // BVH: how positions of roots, and of other joints, relate to OFFSET; DECIDE: there
                                      // are none
    const char *motion;               // to write: NULL: the clip is the file's own, edited or not; otherwise it is another
                                      // motion of this name, and glTF puts it before the animations that are carried
} poise_file;

// A closure_tolerance (poise_constraint_options) for loops from files, whose numbers have five to eight digits: redundant
// loops agree no better than that. Loops that can close to rounding still do.
#define POISE_CLOSURE_OF_FILES 1e-5

// The largest number of warnings kept for one file.
#define POISE_WARNINGS_MOST 1000

// Read a whole file. On any status but POISE_OK *file is untouched and `error` (may be NULL) names the place and the fix.
// Release with poise_file_destroy.
POISE_API poise_status poise_read(const void *bytes, size_t size, const poise_read_options *options,
                                  const poise_allocator *allocator, poise_file **file, poise_error *error);

// Release a file that poise_read made, with all its parts. To keep a part, take it out first: set its pointer to NULL.
POISE_API void poise_file_destroy(poise_file *file); // NULL is allowed

// What poise_file_edit does, in this order. Start with {0}, which changes nothing.
typedef struct poise_edit {
    int first, count;    // keep `count` frames from `first`; 0: all that follow
    double rate;         // frames per second; 0: unchanged
    poise_scale assumed; // unit and upward axis of the file, if it does not say
    poise_scale scale;   // unit and upward axis to convert to; 0 and UNKNOWN: unchanged
    bool euler;          // convert ball and free joints to Euler angles, for formats that have nothing else. The motion
                         // stays the same; limits of those joints, and the file's postures and goals, are dropped.
} poise_edit;

// Change a file that poise_read made, in place: clip, markers, model, goals, postures and placements stay consistent.
// *euler_joints (may be NULL) is the number of joints converted to Euler angles. UNSUPPORTED: a unit or an upward axis is
// requested, and neither the file nor `assumed` gives the current one. After any error the file can only be destroyed.
POISE_API poise_status poise_file_edit(poise_file *file, const poise_edit *edit, int *euler_joints, poise_error *error);

// Write a file. BVH and ASF do not say which axis points up, and programs take it to be y: a skeleton whose scale.up is
// another axis is turned; UNKNOWN stays as it is. *bytes comes from `allocator` (NULL: malloc); release it with
// poise_bytes_release. It ends with a zero that *size does not count. `warnings` (may be NULL) receives up to *warning_count
// warnings about content that was lost; *warning_count becomes their total number.
POISE_API poise_status poise_write(const poise_file *file, poise_format format, const poise_allocator *allocator,
                                   void **bytes, size_t *size, poise_warning *warnings, int *warning_count,
                                   poise_error *error);
// Release what poise_write made, with the same allocator.
POISE_API void poise_bytes_release(const poise_allocator *allocator, void *bytes);

// What tells which axis points up.
typedef enum poise_up_source {
    POISE_UP_BY_FILE = 0, // the file says so
    POISE_UP_BY_FIGURE,   // the figure in it, as it stands at rest or in most of its motion
    POISE_UP_BY_CUSTOM    // nothing: it is a guess, by the custom of its format or because the skeleton lies flat
} poise_up_source;

// The axis that points up in a file: file->scale.up, or, where the file does not say, the one guess that all programs share.
// UNKNOWN: it does not say and holds no model. `source` may be NULL.
POISE_API poise_up poise_file_up(const poise_file *file, poise_up_source *source);

// ---- Recordings ----------------------------------------------------------------------------------------------------------

// A tracking problem (recordings.h) from the file of a skeleton, which must hold a model, and that of a recording: model,
// scales, marker placements, and the markers to follow or, if there are none, the motion. An OpenSim model also gives its
// default posture, and if any of its markers were recorded only those are used. The problem points into both files, which
// must outlive it.
POISE_API poise_recording_problem poise_recording_of_files(const poise_file *skeleton, const poise_file *recording);

// ---- Retargeting of files ------------------------------------------------------------------------------------------------

// A task (retarget.h) from the file of a motion, with its skeleton, and that of a skeleton that is to follow: models, clips,
// upward axes, and the shapes that tell where the soles are and what goes below the ground. All that files say of a
// retargeting is in it, so that every program that starts from it gets the same motion. The task points into both files,
// which must outlive it. Read robots with poise_read_options.floating.
POISE_API poise_retarget_task poise_retarget_of_files(const poise_file *motion, const poise_file *skeleton);

// ---- Constraints of files ------------------------------------------------------------------------------------------------

// A clearance that keeps the shapes of a file, which must hold a model, clear of each other and of obstacles: shapes of
// your own, on bodies or in the world. Its pairs are those of poise_pairs_find, except those that the file excludes and
// those between bodies that its loops join; `options` may be NULL. On POISE_OK *clearance is a constraint with copies of
// all shapes, those of the file first, and a margin of 0, in one block from `allocator` (NULL: malloc); release it with
// poise_bytes_release. The pairs remain valid when obstacles in the world move. NOT_FOUND: no body has a shape; the text of
// `error` continues "the model has".
POISE_API poise_status poise_file_clearance(const poise_file *file, const poise_shape *obstacles, int obstacle_count,
                                            const poise_pairs_options *options, const poise_allocator *allocator,
                                            poise_constraint **clearance, poise_error *error);

// The pairs that poise_file_clearance left out because they touch in most configurations (poise_pairs_options.always,
// .often). `clearance` is its result for this file and these options. On POISE_OK *touching is a copy with those pairs
// instead, possibly none, which poise_constraint_describe can name; release it with poise_bytes_release.
POISE_API poise_status poise_file_touching(const poise_file *file, const poise_constraint *clearance,
                                           const poise_pairs_options *options, const poise_allocator *allocator,
                                           poise_constraint **touching, poise_error *error);

// Name a constraint and an item of it (poise_report.blocking_item): "hand and obstacle 1 (box)", "the loop of rod and crank
// (connect)", "the height of foot above a plane of the world". Shapes beyond those of the file are obstacles. Truncated to
// `size` bytes, terminating zero included.
POISE_API void poise_constraint_describe(const poise_constraint *constraint, int item, const poise_file *file, char *text,
                                         size_t size);

// Name one shape of a clearance: its body, "the world", or "obstacle 1 (box)".
POISE_API void poise_shape_describe(const poise_constraint *clearance, int shape, const poise_file *file, char *text,
                                    size_t size);

// ---- Goals in words ------------------------------------------------------------------------------------------------------

// What goal texts may refer to. Start with {0} and set the model.
typedef struct poise_goal_words {
    const poise_model *model; // its bodies, joints and tools can be named
    const double *q_start;    // NULL, the neutral configuration: the posture that "stay" means; nq numbers

    // Looks up a posture by name and fills q (nq numbers); returns false, possibly with a reason in `error`, if there is
    // none. NULL: only "neutral" and numbers are postures.
    bool (*posture)(const void *user, const char *name, double *q, poise_error *error);
    const void *user; // passed to it
} poise_goal_words;

// Goals, with the texts they came from. Read the members freely; the list owns its memory.
typedef struct poise_goal_list {
    int count;          // how many there are
    poise_goal *goals;  // the list also owns what they point to, except for those of poise_goal_list_add
    const char **texts; // each as it was written
} poise_goal_list;

// An empty list. Its contents come from `allocator` (NULL: malloc) and are released with it.
POISE_API poise_status poise_goal_list_create(const poise_allocator *allocator, poise_goal_list **list, poise_error *error);
POISE_API void poise_goal_list_destroy(poise_goal_list *list); // NULL is allowed

// Parse goals separated by semicolons and add them: "position hand 0.4 0.1 0.3 weight 2; aim head to 1 0 1.5". `poise help
// goals` explains the language. FORMAT, with a reason in `error` such as `goal 2, word 3: no body, joint or tool is called
// "hnad"; did you mean "hand"?`; the goals before that one have been added. The number counts all goals in the list.
POISE_API poise_status poise_goal_list_parse(poise_goal_list *list, const poise_goal_words *words, const char *text,
                                             poise_error *error);

// Add a goal of your own, with a copy of `text`; what the goal points to must stay valid.
POISE_API poise_status poise_goal_list_add(poise_goal_list *list, const poise_goal *goal, const char *text,
                                           poise_error *error);

// Describe a goal in the language of poise_goal_list_parse: "position hand 0.4 0.1 0.3". Truncated to `size` bytes,
// terminating zero included.
POISE_API void poise_goal_describe(const poise_goal *goal, const poise_model *model, char *text, size_t size);

// ---- Pins in words -------------------------------------------------------------------------------------------------------

// Pins, with the texts they came from. Read the members freely; the list owns its memory.
typedef struct poise_pin_list {
    int count;          // how many there are
    poise_pin *pins;    // the list also owns what they point to
    const char **texts; // each as it was written
} poise_pin_list;

// An empty list. Its contents come from `allocator` (NULL: malloc) and are released with it.
POISE_API poise_status poise_pin_list_create(const poise_allocator *allocator, poise_pin_list **list, poise_error *error);
POISE_API void poise_pin_list_destroy(poise_pin_list *list); // NULL is allowed

// Parse pins separated by semicolons and add them: a goal, as for poise_goal_list_parse, and when it holds.
//
//   position hand 1.2 0.3 0.9 from 2 s to 3 s fade 0.2
//   hand 1.2 0.3 0.9 from 240f to 360f                    a place, where no kind is said; f: frames, from 0
//   foot.L where it is from 2 to 3                        stays where it is then: place and rotation
//   position hand on its path                             moves as before, whatever else is pinned
//   hand key 2 s 1.2 0.3 0.9 key 3 s 1.3 0.3 0.9          goes through places, smoothly
//
// `fade IN [OUT]` is in seconds, by default 0.25; frame numbers need `clip` (may be NULL). FORMAT, with a reason in `error`
// such as `pin 1, word 2: no body, joint or tool is called "hnad"; did you mean "hand"?`; the pins before that one have been
// added.
POISE_API poise_status poise_pin_list_parse(poise_pin_list *list, const poise_goal_words *words, const poise_clip *clip,
                                            const char *text, poise_error *error);

// Read pins from a JSON document and add them:
//
//   {"pins": [{"goal": "position hand 1.2 0.3 0.9", "from": 2, "to": 3, "fade": 0.2, "fade_out": 0.4},
//             {"goal": "foot.L where it is", "from": 2, "to": 3},
//             {"goal": "position hand", "keys": [{"time": 4, "target": [1.2, 0.3, 0.9]},
//                                                {"time": 5, "target": "1.3 0.3 0.9"}]}]}
//
// Times are seconds.
POISE_API poise_status poise_pin_list_read(poise_pin_list *list, const poise_goal_words *words, const poise_clip *clip,
                                           const void *bytes, size_t size, poise_error *error);

#ifdef __cplusplus
}
#endif

#endif
