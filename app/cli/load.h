// Models, motions and markers from files and from the built-in scenes; pictures and tables of joint values into files.
//
// | name                       | what comes                                                                            |
// |----------------------------|---------------------------------------------------------------------------------------|
// | FILE                       | a file of any format that <poise/io.h> reads                                          |
// | -                          | the same from standard input                                                          |
// | scene:SCENE                | a built-in skeleton with its postures and marker places, such as scene:arm7           |
// | scene:SCENE/MOTION         | a motion of it as well, and the markers it makes, such as scene:humanoid/walk         |
// | scene:SCENE/MOTION/noisy   | the markers as a bad day records them: 3 mm of noise, gaps, swaps                     |
#ifndef APP_LOAD_H
#define APP_LOAD_H

#include "command.h"

#include <poise/io.h>
#include <poise/poise.h>
#include <scenes/drawing.h>
#include <scenes/picture.h>

// What else a reader may be told: as poise_read_options, without name and load, which are filled in.
typedef struct load_options {
    const poise_model *model; // the skeleton that an AMC or MOT moves, or an SRDF is about
    bool floating;
    bool ignore_follower_limits;
    int animation;              // of a glTF
    const char *animation_name; // NULL; the same by its name
    bool meshes;                // collision meshes are loaded, too
    bool holds_loops;           // the command holds loops of the model; others say that they do not
    bool quiet;                 // do not print the file's warnings on standard error
} load_options;

// The path of a file that one in `folder` names (poise_named_file). False: there is none.
bool find_named(const char *folder, const char *name, char *path, size_t size);

#define SCENE_PREFIX "scene:"

// NULL, with one line on standard error, when it cannot be read. `options` may be NULL. Release with poise_file_destroy.
poise_file *load_file(const char *name, const load_options *options);

// The same, and the file holds a model.
poise_file *load_model(const char *name, const load_options *options);

// A file together with the skeleton that it moves and does not hold itself (AMC, MOT): from `model_name`, or, for an AMC
// without, from an ASF in its folder that has its own name, or the part of it before some underscore. *skeleton is NULL
// when the file needs none. False after one line on standard error.
bool load_any(const char *name, const char *model_name, const load_options *options, poise_file **file,
              poise_file **skeleton);

// The same, and there is a motion in it, and a model in one of the two.
bool load_motion(const char *name, const char *model_name, const load_options *options, poise_file **motion,
                 poise_file **skeleton);

// The animation that `choice`, a number or a name, asks for; NULL: none is asked for.
void load_animation(const char *choice, load_options *options);

// Is a choice of that kind about a file that has animations? False after one line on standard error.
bool load_can_choose(const char *choice, const poise_file *file, const char *name);

// A motion of the skeleton in `model`, which is called `model_name`. One of another skeleton is refused with the command
// that brings it over. NULL after one line on standard error.
poise_file *load_motion_for(const char *name, const char *animation, const poise_file *model, const char *model_name);

// What a motion out of `file`, read from `path`, is called where it joins others: the animation's own name if the file has
// several, otherwise the name of the file without folder and extension.
void name_of_motion(const poise_file *file, const char *path, char *name, size_t size);

// Extensions of files that save_file writes.
#define WRITTEN_FILES     ".bvh .asf .amc .c3d .trc .mot .sto .gltf .glb .csv .json"
#define WRITTEN_SKELETONS ".bvh .asf .gltf .glb .csv .json" // of these, those that can hold a skeleton
#define WRITTEN_MOTIONS   ".bvh .amc .mot .sto .gltf .glb .csv .json"

// Leave only the markers of one subject in a recording; NULL: all stay. False after one line on standard error.
bool load_subject(const char *name, const char *subject, poise_file *file);

// The format that a file of this name is written in. UNKNOWN, with one line on standard error, when its extension says
// nothing that can be written.
poise_format format_by_name(const char *name);

// Can a motion of the skeleton in `file` be written under that name? Asked before the work begins; file->clip does not
// count. False after one line on standard error that says which formats can hold it.
bool motion_can_be_written(const poise_file *file, const char *name);

// Write the motion of a file by the extension of its name: joint values as a table where that is .csv, which save_file takes
// for a skeleton's. False after one line on standard error.
bool save_motion(const char *name, const poise_file *file);

// Write a file by the extension of its name; warnings of what could not be carried over go to standard error.
bool save_file(const char *name, const poise_file *file);

// Write the skeleton of an AMC beside it, "walk.asf" for "walk.amc", and say so on standard error; under another name where
// that is `input`, which was read. True without doing anything for names that are no AMC's.
bool save_skeleton_of(const char *amc, const poise_file *file, const char *input);

// The named posture of a file, one of its model's built-in ones, "neutral", "FILE", "FILE@FRAME" (a frame of a motion), or
// numbers separated by spaces or commas, with "deg" at the end where angles are in degrees. Fills q (nq numbers); false
// after one line on standard error.
bool load_posture(const poise_file *model, const char *posture, double *q);

// The numbers of a posture: how many there are, of which q takes up to nq; -1: something else is in the text. Radians that
// are degrees by the look of them are warned of.
int posture_numbers(const poise_model *model, const char *text, double *q);

// Postures of a file beside those of the skeleton's own, such as {"poise": 1, "postures": {"nod": [...]}} for a URDF, which
// has none, or the states of an SRDF.
typedef struct more_postures {
    poise_file *file;    // where they come from
    poise_posture *list; // all, the model's first
} more_postures;

// Adds them to `model`, until they are released, which is before `model` is. `name` NULL: none. False after one line on
// standard error.
bool load_more_postures(const char *name, poise_file *model, more_postures *more);

// The same of more->file, which may have none.
void add_more_postures(poise_file *model, more_postures *more);
void release_more_postures(more_postures *more);

// The scene of this name, without the prefix.
poise_file *load_scene(const char *name);

// Index of a body by the name of a body, joint or tool, and the tool's pose in it (identity for a body). POISE_NONE after
// one line on standard error that names the nearest one there is.
int find_body(const poise_model *model, const char *name, poise_pose *local);

// What people call number i of a configuration: "elbow", or "shoulder twist" for a joint of several numbers.
void coordinate_label(const poise_model *model, int i, char *label, size_t size);

// ---- Pictures of skeletons, from an empty page to a file -----------------------------------------------------------------

// Ink that all pictures share.
#define INK      "#2f3b4a"
#define PALE_INK "#7b8794"

// A page with title and caption, and kinematics of the model to draw with.
picture *begin_picture(int width, int height, const char *title, const char *caption, const poise_model *model,
                       poise_kinematics **kinematics);

// The page of a single skeleton: 760 x 640. show_box sets the view so that the box fills it but for `edge` pixels on each
// side, and draws the ground below.
enum { SKELETON_WIDTH = 760, SKELETON_HEIGHT = 640 };
void show_box(picture *p, const poise_file *file, drawing_box *box, double edge);

// Write the picture and release it and its kinematics. False after one line on standard error.
bool save_picture(picture *p, poise_kinematics *kinematics, const char *name);

// ---- Motions as tables of joint values (.csv) ----------------------------------------------------------------------------

// Is this the name of such a table?
bool is_joint_table(const char *name);

// A row for every frame: its time, then all numbers of the configuration with all their digits, in the units of the model
// and radians. Columns are called "joint", or "joint/coordinate" where a joint has several, as in a MOT.
bool save_joint_table(const poise_model *model, const poise_clip *clip, const char *name);

#endif
