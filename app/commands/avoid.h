// What an answer must keep to beside limits: shapes that keep apart, balance, and loops of the model. For solve and track.
#ifndef APP_AVOID_H
#define APP_AVOID_H

#include "cli/command.h"
#include "cli/json.h"
#include "cli/load.h"

// The options of a command that avoids things, for its table.
#define AVOID_OPTIONS                                                                                                       \
    {"avoid", .help = "keep the collision shapes of the model's file apart, and clear of obstacles; URDF, MJCF, JSON"},     \
        {"obstacle",                                                                                                        \
         0,                                                                                                                 \
         OPTION_TEXT,                                                                                                       \
         "SHAPE",                                                                                                           \
         .repeats = true,                                                                                                   \
         .help = "keep clear of \"box X Y Z SX SY SZ\" (its centre and full sides), \"sphere X Y Z R\", \"capsule X Y Z "   \
                 "X Y Z R\" (both ends of its axis), \"floor HEIGHT\", or the shapes of a FILE.json; implies --avoid"},     \
        {"srdf", 0, OPTION_FILE, "FILE",                                                                                    \
         .help = "MoveIt's SRDF: pairs of links that may touch, and postures for --posture"},                               \
        {"margin", 0, OPTION_NUMBER, "D", .highest = 1e9, .help = "least distance between shapes; the default is 0"},       \
        {"self-margin",  0,                                                                                                 \
         OPTION_NUMBER,  "D",                                                                                               \
         .highest = 1e9, .help = "least distance between shapes of the model itself; the default is --margin"},             \
        {"balance", 0, OPTION_TEXT, "POLYGON",                                                                              \
         .help = "keep the centre of mass above \"X Y X Y X Y ...\", corners on the ground (X Z where y is up)"},           \
        {"allow-missing", .help = "continue if collision meshes cannot be read"},                                           \
    {                                                                                                                       \
        "neighbours", 0, OPTION_COUNT, "N",                                                                                 \
            .highest = 100, .help = "ignore collisions between bodies at most N joints apart; the default is 1"             \
    }

// Whose constraints the options above are about.
typedef struct avoid_asked {
    const char *command, *name; // of the command and of the model, for messages
    const poise_file *file;     // of the model
    const poise_file *srdf;     // NULL: none
    poise_up up;                // upward axis of the model
    double unit;                // of lengths in the options, in the model's
    const poise_shape *floor;   // NULL: none; the last obstacle
} avoid_asked;

typedef struct avoided {
    const poise_file *file;        // of the model
    poise_shape *obstacles;        // of --obstacle; NULL: none
    int obstacle_count;            // of those
    poise_constraint *clearance;   // of the file's shapes, then the obstacles; NULL: not asked for
    poise_constraint *touching;    // the pairs that it leaves out because they touch in most poses; NULL: not asked for
    double *margins;               // of its pairs; NULL: one for all
    poise_vec3 *polygon;           // of --balance; NULL: none
    poise_constraint *constraints; // the clearance, if there are shapes, the polygon, if there is one, the model's loops
    int count;                     // of those
    bool has_shapes;               // constraint 0 is the clearance
    int first_loop;                // where loops begin; the polygon is before it
    bool allows_missing;           // meshes that were not read are no fault
    int neighbours;                // bodies with at most so many joints in between may touch
} avoided;

// The file of --srdf, if there is one, whose states become postures of the model; `quiet` leaves out its warnings. False
// after one line on standard error; release it, before the model, all the same.
bool avoid_load_srdf(poise_file *model, const arguments *args, bool quiet, more_postures *srdf);

// Are the obstacles that are given in words understood? False after one line on standard error.
bool avoid_check_obstacles(const avoid_asked *asked, const arguments *args);

// Are options about shapes given where shapes are? `has_shapes` where others than those of the options are asked for. False
// after one line on standard error.
bool avoid_check_use(const arguments *args, const char *command, bool has_shapes);

// Fill it from the options above and the model's file. False after one line on standard error; release it all the same.
bool avoid_collect(avoided *a, const avoid_asked *asked, const arguments *args);
void avoid_release(avoided *a);

// Collision shapes of the model that were to be watched and could not be read; 1 where no pair at all is watched.
int avoid_unwatched(const avoided *a);

// Is every collision shape of the model looked after, as far as that was asked for? Not so where no pair is watched, or
// where meshes were not read.
bool avoid_checks_all(const avoided *a);

// What a constraint is called, with an item of it: "hand and obstacle 1 (box)", "the loop of rod and crank".
void avoid_name(const avoided *a, int constraint, int item, char *text, size_t size);

// How far apart a watched pair must be.
double avoid_margin(const avoided *a, int pair);

// "3 pairs of shapes that touch in most poses, on hand and palm, ...", each two bodies once; "" where no pair is left out.
void avoid_describe_touching(const avoided *a, char *text, size_t size);

// The same bodies, for machines.
json_node *avoid_touching_as_json(const avoided *a);

// Obstacles that overlap with a body which cannot move, such as the base of an arm: no pose parts them, so they are not
// watched. "a", "b", "distance".
json_node *avoid_still_as_json(const avoided *a);

// The two shapes of a watched pair.
void avoid_name_pair(const avoided *a, int pair, char first[128], char second[128]);

#endif
