// Poise: files. From bytes to models, clips and markers, and back. Library poise_io, beside the core.
//
//   poise_read_options options = {.name = "walk.bvh"};
//   poise_read(bytes, size, &options, NULL, &file, &error);      // file->model, file->clip, file->markers
//   poise_write(file, POISE_FORMAT_BVH, NULL, &bytes, &size, NULL, NULL, &error);
//
// Everything works on memory: the caller opens files. Any number of threads may read and write at once. Reading takes
// time and memory in proportion to the input, whatever the bytes, and gives either a whole file or an error with a line
// (of a text) or byte (of a binary) and a fix. What a file holds and Poise cannot carry is a warning, with its line.
// Numbers are read and written exactly: a file that Poise wrote reads back to the same bits, in every locale.
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
#include <poise/recordings.h>

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
POISE_API const char *poise_format_name(poise_format format);

// The format of these bytes, by their beginning and, where that says nothing, by the extension of `name` (may be NULL).
POISE_API poise_format poise_format_detect(const void *bytes, size_t size, const char *name);

// Something odd that did not keep the file from being read.
typedef struct poise_warning {
    int line;                         // 1-based; 0: no line
    char text[POISE_ERROR_TEXT_SIZE]; // what is odd, one line
} poise_warning;

// What position channels of a BVH joint mean: dialects differ.
typedef enum poise_bvh_positions {
    POISE_BVH_DECIDE = 0, // by the data, with a warning where it makes a difference
    POISE_BVH_REPLACE,    // they replace OFFSET
    POISE_BVH_ADD         // they add to OFFSET
} poise_bvh_positions;

// Hand out the bytes of another file that this one names (glTF buffers, MJCF includes, meshes), valid until the read
// returns. Names are as in the file, such as "package://panda/meshes/hand.stl".
typedef poise_status (*poise_load)(void *user, const char *name, const void **bytes, size_t *size);

// Where such a file may be, as ROS, Gazebo and MuJoCo mean it: `number` counts the places from 0, the likeliest first, and
// the first one that is a file is meant. `folder` is that of the file that holds the name ("" for the current one).
// "package://arm/meshes/a.stl" and "model://arm/meshes/a.stl" are looked for as arm/meshes/a.stl and as meshes/a.stl in the
// folder, then in the eight above it; any other name has one place. False: there are no more, or `path` is too short.
POISE_API bool poise_named_file(const char *folder, const char *name, int number, char *path, size_t size);

// Factors of a body along its own axes.
typedef struct poise_body_scale {
    const char *body;   // its name
    poise_vec3 factors; // along x, y and z
    double mass;        // that its mass is multiplied by; 0: as it is
} poise_body_scale;

// Start with {0}: the defaults that stand beside the members.
typedef struct poise_read_options {
    poise_format format;                 // UNKNOWN: detect
    const char *name;                    // of the file, for detection and messages; may be NULL
    const poise_model *model;            // the skeleton that an AMC, MOT or SRDF is about; NULL otherwise
    poise_bvh_positions positions;       // DECIDE
    int animation;                       // 0; GLTF, GLB: which of the animations becomes the clip
    const poise_body_scale *body_scales; // NULL; OSIM: factors of bodies, applied as OpenSim's ScaleTool does
    int body_scale_count;                // 0
    bool floating; // false; URDF, MJCF: give the root link a FREE joint instead of fixing it to the world; glTF: the same of
                   // the root of a skin that no animation moves
    bool meshes;   // false; URDF, MJCF: load collision meshes (STL, OBJ) and cover them with shapes, too
    poise_load load; // NULL: files that this one names are not read, with a warning
    void *user;      // handed to load
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

// What a file holds beside all that Poise works with. It goes on to a file of the same kind: analog channels, events, force
// plates and all parameters from C3D to C3D; meshes, skins, materials and other animations from glTF to glTF.
typedef struct poise_carried {
    poise_format format;          // C3D, or GLTF for GLB as well
    const char *text;             // in words: "6 analog channels, 4 events, 2 force plates"
    int channel_count;            // analog
    const poise_channel *channel; // of those
    int samples;                  // of a channel in a frame
    int frames;                   // of `analog`
    const float *analog;          // frames x samples x channels, as stored; NULL: none, or lost when the rate changed
    int event_count;              // how many there are
    const poise_event *event;     // of those
    int force_plates, rotations;  // of C3D: plates, and segments whose poses are recorded
    int meshes, animations;       // of glTF
    void *rest;                   // the file's own
} poise_carried;

// What was in a file. Parts that it does not hold are NULL. To write, fill one of your own; nothing of it is changed.
//
// The tip of a bone (BVH "End Site", ASF bone end, a leaf of glTF) is a tool of the model called "<body>.tip".
//
// Shapes cover what the file describes: a cylinder becomes the capsule around its axis, an ellipsoid likewise, a mesh the
// capsules and boxes that poise_shapes_fit makes of it. MJCF geoms that collide with nothing are left out.
//
// A BVH joint whose channels no type of joint holds is a chain of joints in one place. The last has its name; those above it
// are called "<name>.position" (three positions before one or two rotations), "<name>.x", ".y", ".z" (single positions) and
// "<name>.1", ".2" (rotations with an axis twice in a row).
typedef struct poise_file {
    poise_format format;         // that it was read in
    poise_model *model;          // the skeleton
    poise_clip *clip;            // moves `model`, or the one in the options
    poise_markers *markers;      // the recording
    poise_goal *goals;           // of `model`, or the one in the options; what they point to is the file's, too
    int goal_count;              // of those
    poise_posture *postures;     // likewise
    int posture_count;           // of those
    poise_placement *placements; // likewise; `local` not finite: not known, to be calibrated
    int placement_count;         // of those
    poise_shape *shapes;         // collision shapes of the bodies and, of the world, obstacles; see below
    int shape_count;             // of those
    int shapes_skipped;          // collision shapes that were not read: meshes (options.meshes), height fields
    poise_pair *excluded;        // pairs of bodies, POISE_WORLD among them, that may touch (poise_pairs_options)
    int excluded_count;          // of those
    poise_constraint *loops;     // what closes loops of the model: CONNECT, WELD, HINGE, DISTANCE, PLANE
    int loop_count;              // of those
    poise_scale scale;           // of the model's lengths, the clip's, the goals' and the placements'
    poise_carried *carried;      // what goes on to a file of its kind; NULL: nothing
    const char *title;           // what the file calls itself (a robot's name); NULL: nothing
    poise_warning *warnings;     // what was odd
    int warning_count;           // kept; at most POISE_WARNINGS_MOST
    int warnings_dropped;        // beyond those
} poise_file;

// As many warnings are kept of one file.
#define POISE_WARNINGS_MOST 1000

// Read a whole file. On any status but POISE_OK *file is untouched and `error` (may be NULL) names place and fix. Release
// with poise_file_destroy.
POISE_API poise_status poise_read(const void *bytes, size_t size, const poise_read_options *options,
                                  const poise_allocator *allocator, poise_file **file, poise_error *error);

// Release a file that poise_read made, with all its parts. To keep a part, take it out first: set its pointer to NULL.
POISE_API void poise_file_destroy(poise_file *file); // NULL is allowed

// What poise_file_edit does, in this order. Start with {0}, which changes nothing.
typedef struct poise_edit {
    int first, count;    // keep this many frames from `first` on; count 0: all from there on
    double rate;         // frames per second; 0: as they are
    poise_scale assumed; // what lengths and axes mean where the file itself does not say
    poise_scale scale;   // what they are to mean; 0 and UNKNOWN: as they are
    bool euler; // ball joints and free joints of every kind as Euler angles, for formats that have nothing else. The
                // motion stays; limits of those joints, and the file's postures and goals, are left out.
} poise_edit;

// Change a file that poise_read made, in place: clip, markers, model, goals, postures and placements stay consistent. Where
// *euler_joints is not NULL it says how many joints became Euler angles. UNSUPPORTED: a unit or an upward axis is asked
// for, and neither the file nor `assumed` says what it is now. After any error the file can only be destroyed.
POISE_API poise_status poise_file_edit(poise_file *file, const poise_edit *edit, int *euler_joints, poise_error *error);

// Write. *bytes comes from `allocator` (NULL: malloc) and is released with poise_bytes_release; it ends with a zero that
// *size does not count. `warnings` may be NULL; otherwise it takes up to `*warning_count` of what could not be carried over,
// and *warning_count says how many there are.
POISE_API poise_status poise_write(const poise_file *file, poise_format format, const poise_allocator *allocator,
                                   void **bytes, size_t *size, poise_warning *warnings, int *warning_count,
                                   poise_error *error);
// Release what poise_write made; the same allocator.
POISE_API void poise_bytes_release(const poise_allocator *allocator, void *bytes);

// ---- Recordings ----------------------------------------------------------------------------------------------------------

// What a skeleton's file, which holds a model, and a recording's say of a track (recordings.h): model, scales, marker
// places, and markers to follow or, where there are none, the motion. An OpenSim model gives its default posture, too, and
// its markers are the only ones where any of them was recorded. Points into both, which must outlive the problem.
POISE_API poise_recording_problem poise_recording_of_files(const poise_file *skeleton, const poise_file *recording);

// ---- Constraints of files ------------------------------------------------------------------------------------------------

// Keep the shapes of a file, which holds a model, apart, and clear of obstacles: shapes of your own, on bodies or in the
// world. The pairs to watch are those of poise_pairs_find, without those that the file excludes, and without bodies that its
// loops join; `options` may be NULL. On POISE_OK *clearance is a constraint with copies of all shapes, those of the file
// first, and a margin of 0, in one block of `allocator` (NULL: malloc); release it with poise_bytes_release. Where obstacles
// of the world are elsewhere later its pairs stay the same. NOT_FOUND: no body has a shape; `error` goes on after "the model
// has".
POISE_API poise_status poise_file_clearance(const poise_file *file, const poise_shape *obstacles, int obstacle_count,
                                            const poise_pairs_options *options, const poise_allocator *allocator,
                                            poise_constraint **clearance, poise_error *error);

// The pairs that poise_file_clearance left out because they touch in nearly all configurations (poise_pairs_options.always):
// `clearance` is what it made of the file with these options. On POISE_OK *touching is a copy that holds those pairs
// instead, for poise_constraint_describe to name; release it with poise_bytes_release. It may hold none.
POISE_API poise_status poise_file_touching(const poise_file *file, const poise_constraint *clearance,
                                           const poise_pairs_options *options, const poise_allocator *allocator,
                                           poise_constraint **touching, poise_error *error);

// What a constraint is called, with an item of it (poise_report.blocking_item): "hand and obstacle 1", "the loop of rod and
// crank (connect)", "the height of foot above a plane of the world". Shapes beyond those of the file are obstacles. Cut to
// `size` bytes, the zero at the end included.
POISE_API void poise_constraint_describe(const poise_constraint *constraint, int item, const poise_file *file, char *text,
                                         size_t size);

// The same of one shape of a clearance: the name of its body, "the world", or "obstacle 1".
POISE_API void poise_shape_describe(const poise_constraint *clearance, int shape, const poise_file *file, char *text,
                                    size_t size);

// ---- Goals in words ------------------------------------------------------------------------------------------------------

// What words may refer to. Start with {0} and the model.
typedef struct poise_goal_words {
    const poise_model *model; // whose bodies, joints and tools are named
    const double *q_start;    // NULL, the neutral configuration: where "stay" stays; nq numbers

    // NULL: "neutral" and numbers are all the postures there are. Otherwise the posture of this name, into q (nq numbers).
    // Without an answer it may have put a reason into `error`.
    bool (*posture)(const void *user, const char *name, double *q, poise_error *error);
    const void *user; // handed to it
} poise_goal_words;

// Goals, and the words they came from. Read it as you like; all its memory is the list's own.
typedef struct poise_goal_list {
    int count;          // how many there are
    poise_goal *goals;  // what they point to is the list's, too, but for goals that poise_goal_list_add took
    const char **texts; // of each, as it was written
} poise_goal_list;

// An empty list. All that it will hold comes from `allocator` (NULL: malloc) and goes with it.
POISE_API poise_status poise_goal_list_create(const poise_allocator *allocator, poise_goal_list **list, poise_error *error);
POISE_API void poise_goal_list_destroy(poise_goal_list *list); // NULL is allowed

// Add the goals of a text, separated by semicolons: "position hand 0.4 0.1 0.3 weight 2; aim head to 1 0 1.5". `poise help
// goals` explains the language. FORMAT, with a reason in `error` such as `goal 2, word 3: no body or tool is called "hnad";
// did you mean "hand"?`; the list then has the goals before that one. Goals are counted through the whole list.
POISE_API poise_status poise_goal_list_parse(poise_goal_list *list, const poise_goal_words *words, const char *text,
                                             poise_error *error);

// Add a goal that came from elsewhere, with a copy of `text`; what the goal points to must stay valid.
POISE_API poise_status poise_goal_list_add(poise_goal_list *list, const poise_goal *goal, const char *text,
                                           poise_error *error);

// What a goal is about, in words such as poise_goal_list_parse takes: "position hand 0.4 0.1 0.3". Cut to `size` bytes, the
// zero at the end included.
POISE_API void poise_goal_describe(const poise_goal *goal, const poise_model *model, char *text, size_t size);

// ---- Pins in words -------------------------------------------------------------------------------------------------------

// Pins, and the words they came from. Read it as you like; all its memory is the list's own.
typedef struct poise_pin_list {
    int count;          // how many there are
    poise_pin *pins;    // what they point to is the list's, too
    const char **texts; // of each, as it was written
} poise_pin_list;

// An empty list. All that it will hold comes from `allocator` (NULL: malloc) and goes with it.
POISE_API poise_status poise_pin_list_create(const poise_allocator *allocator, poise_pin_list **list, poise_error *error);
POISE_API void poise_pin_list_destroy(poise_pin_list *list); // NULL is allowed

// Add the pins of a text, separated by semicolons: a goal, as poise_goal_list_parse takes it, and when it holds.
//
//   position hand 1.2 0.3 0.9 from 2 s to 3 s fade 0.2
//   hand 1.2 0.3 0.9 from 240f to 360f                    a place, where no kind is said; f: frames, from 0
//   foot.L where it is from 2 to 3                        stays where it is then: place and rotation
//   position hand on its path                             moves as before, whatever else is pinned
//   hand key 2 s 1.2 0.3 0.9 key 3 s 1.3 0.3 0.9          goes through places, smoothly
//
// `fade IN [OUT]` in seconds, 0.25 without; frames need `clip` (may be NULL). FORMAT, with a reason in `error` such as `pin
// 1, word 2: no body or tool is called "hnad"; did you mean "hand"?`; the list then has the pins before that one.
POISE_API poise_status poise_pin_list_parse(poise_pin_list *list, const poise_goal_words *words, const poise_clip *clip,
                                            const char *text, poise_error *error);

// Add the pins of a JSON document, such as
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
