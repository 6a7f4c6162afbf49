// poise fk: forward kinematics, where every body is.
#include "avoid.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "commands/commands.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    const char *name;
    poise_file *file;
    const poise_model *model;
    double *q;
    char posture[PATH_MAX]; // what q is, in words
    poise_kinematics *kinematics;
} job;

// ---- The configuration ---------------------------------------------------------------------------------------------------

// Coordinates as numbers on the command line; angles in degrees where the user says so.
static bool numbers_as_q(const job *j, const char *text, bool degrees)
{
    size_t size = strlen(text) + sizeof " deg";
    char *whole = needed(malloc(size));
    snprintf(whole, size, "%s%s", text, degrees ? " deg" : "");
    int nq = poise_model_info(j->model).nq, count = posture_numbers(j->model, whole, j->q);
    free(whole);
    if (count < 0) {
        complain("--posture \"%s\": contains something that is not a number", text);
    } else if (count != nq) {
        complain("--posture has %d numbers; %s takes %d (\"poise info %s\" lists the joints)", count, j->name, nq, j->name);
    }
    return count == nq;
}

// A frame of the motion that the file itself holds.
static bool own_frame(const job *j, int frame)
{
    const poise_clip *clip = j->file->clip;
    if (!clip) {
        complain("%s: holds no motion to take frame %d from; give one with --motion FILE", j->name, frame);
        return false;
    }
    if (frame >= clip->frames) {
        complain("%s: has no frame %d, only 0 to %d", j->name, frame, clip->frames - 1);
        return false;
    }
    memcpy(j->q, clip->q + (size_t)frame * (size_t)clip->nq, sizeof *j->q * (size_t)clip->nq);
    return true;
}

static bool choose_q(job *j, const arguments *args)
{
    const char *posture = option_text(args, "posture", NULL);
    const char *motion = option_text(args, "motion", NULL);
    bool has_frame = option_given(args, "frame");
    int frame = option_count(args, "frame", 0);
    if (posture && (motion || has_frame)) {
        complain("fk: give --posture, or --motion with --frame, not both");
        return false;
    }
    if (option_given(args, "srdf") && !posture) {
        complain("fk: --srdf has postures for --posture: add it");
        return false;
    }
    bool is_numbers = posture && posture[0] && strchr("+-.0123456789", posture[0]) && strcmp(posture, "-") != 0;
    if (option_given(args, "degrees") && !is_numbers) {
        complain("fk: --degrees says what the numbers of --posture are: give some");
        return false;
    }
    if (is_numbers) {
        snprintf(j->posture, sizeof j->posture, "the numbers given");
        return numbers_as_q(j, posture, option_given(args, "degrees"));
    }
    if (motion) {
        char place[PATH_MAX];
        snprintf(place, sizeof place, "%s@%d", motion, frame);
        snprintf(j->posture, sizeof j->posture, "frame %d of %s", frame, motion);
        return load_posture(j->file, place, j->q);
    }
    if (has_frame) {
        snprintf(j->posture, sizeof j->posture, "frame %d", frame);
        return own_frame(j, frame);
    }
    posture = posture ? posture : "neutral";
    snprintf(j->posture, sizeof j->posture, "posture %s", posture);
    return load_posture(j->file, posture, j->q);
}

// ---- Printing ------------------------------------------------------------------------------------------------------------

static void print_pose_row(table *t, const char *name, const char *other, poise_pose pose)
{
    poise_vec3 p = pose.position, turn = poise_quat_to_roll_pitch_yaw(pose.rotation);
    double n[6] = {p.x, p.y, p.z, turn.x * DEGREES_PER_RADIAN, turn.y * DEGREES_PER_RADIAN, turn.z * DEGREES_PER_RADIAN};
    for (int i = 0; i < 6; ++i) {
        n[i] = fabs(n[i]) < (i < 3 ? 5e-7 : 5e-4) ? 0 : n[i]; // what rounds to zero has no sign
    }
    table_row(t, "%s\t%s\t%.6f\t%.6f\t%.6f\t%.3f\t%.3f\t%.3f", name, other, n[0], n[1], n[2], n[3], n[4], n[5]);
}

static void print_people(const job *j)
{
    const poise_model *model = j->model;
    printf("%s: %s\n\n", j->name, j->posture);
    table *t = table_create("body\tparent\t>x\t>y\t>z\t>roll\t>pitch\t>yaw");
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        int parent = poise_model_joint_info(model, k).parent;
        print_pose_row(t, poise_model_joint_info(model, k).body,
                       parent < 0 ? "-" : poise_model_joint_info(model, parent).body,
                       poise_kinematics_body_pose(j->kinematics, k));
    }
    table_end(t, stdout);
    if (poise_model_info(model).tools > 0) {
        putchar('\n');
        t = table_create("tool\ton body\t>x\t>y\t>z\t>roll\t>pitch\t>yaw");
        for (int i = 0; i < poise_model_info(model).tools; ++i) {
            print_pose_row(t, poise_model_tool_info(model, i).name,
                           poise_model_joint_info(model, poise_model_tool_info(model, i).body).body,
                           poise_kinematics_tool_pose(j->kinematics, i));
        }
        table_end(t, stdout);
    }
    double metres = j->file->scale.metres;
    if (metres > 0) {
        printf("\nplaces in units of %g m, angles in degrees\n", metres);
    } else {
        printf("\nplaces in the units of the file, angles in degrees\n");
    }
}

// The tip of a body is the tool "<body>.tip", or one that is just called "tip".
static json_node *tip_of(const job *j, int body)
{
    char name[512];
    snprintf(name, sizeof name, "%s.tip", poise_model_joint_info(j->model, body).body);
    int tool = poise_model_find_tool(j->model, name), plain = poise_model_find_tool(j->model, "tip");
    if (tool == POISE_NONE && plain != POISE_NONE && poise_model_tool_info(j->model, plain).body == body) {
        tool = plain;
    }
    return tool == POISE_NONE ? json_new(JSON_NULL)
                              : json_from_vec3(poise_kinematics_tool_pose(j->kinematics, tool).position);
}

static app_exit print_machine(const job *j)
{
    json_node *bodies = json_new(JSON_ARRAY), *tools = json_new(JSON_ARRAY);
    for (int k = 0; k < poise_model_info(j->model).joints; ++k) {
        poise_pose pose = poise_kinematics_body_pose(j->kinematics, k);
        json_append(bodies,
                    json_make("{s:o, s:o, s:o, s:o}", "name", json_from_text(poise_model_joint_info(j->model, k).body),
                              "position", json_from_vec3(pose.position), "rotation", json_from_quat(pose.rotation), "tip",
                              tip_of(j, k)));
    }
    for (int i = 0; i < poise_model_info(j->model).tools; ++i) {
        poise_pose pose = poise_kinematics_tool_pose(j->kinematics, i);
        const char *body = poise_model_joint_info(j->model, poise_model_tool_info(j->model, i).body).body;
        json_append(tools, json_make("{s:o, s:o, s:o, s:o}", "name", json_from_text(poise_model_tool_info(j->model, i).name),
                                     "body", json_from_text(body), "position", json_from_vec3(pose.position), "rotation",
                                     json_from_quat(pose.rotation)));
    }
    double metres = j->file->scale.metres;
    json_node *o = json_make("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "file", json_from_text(j->name), "posture",
                             json_from_text(j->posture), "metres_per_unit", json_from_number(metres > 0 ? metres : NAN), "q",
                             json_from_numbers(j->q, poise_model_info(j->model).nq), "coordinates",
                             json_from_coordinates(j->model), "bodies", bodies, "tools", tools);
    return json_print(o) ? APP_DONE : APP_BAD;
}

// ---- The command ---------------------------------------------------------------------------------------------------------

static app_exit show(job *j, const arguments *args)
{
    need(poise_kinematics_create(j->model, NULL, &j->kinematics, NULL) == POISE_OK);
    app_exit result = APP_DONE;
    if (poise_kinematics_update(j->kinematics, j->q, NULL) != POISE_OK) {
        complain("%s: %s: a quaternion in it is zero", j->name, j->posture);
        result = APP_BAD;
    } else if (arguments_json(args)) {
        result = print_machine(j);
    } else {
        print_people(j);
    }
    poise_kinematics_destroy(j->kinematics);
    return result;
}

static app_exit run(const arguments *args)
{
    job j = {.name = arguments_at(args, 0)};
    load_options how = {.floating = option_given(args, "floating"),
                        .ignore_follower_limits = option_given(args, "ignore-follower-limits")};
    j.file = load_model(j.name, &how);
    if (!j.file) {
        return APP_BAD;
    }
    j.model = j.file->model;
    j.q = needed(calloc((size_t)poise_model_info(j.model).nq + 1, sizeof *j.q));
    more_postures srdf;
    app_exit result = avoid_load_srdf(j.file, args, false, &srdf) && choose_q(&j, args) ? show(&j, args) : APP_BAD;
    release_more_postures(&srdf);
    free(j.q);
    poise_file_destroy(j.file);
    return result;
}

static const app_option options[] = {
    {"posture", 'p', OPTION_TEXT, "POSTURE", .alias = "from q",
     .help =
         "posture: a name from the file, FILE@FRAME, numbers in radians and length units (\"0 -90 90 deg\": in degrees), or "
         "\"neutral\" (the default)"},
    {"degrees", .help = "angles in the numbers of --posture are in degrees"},
    {"srdf", 0, OPTION_FILE, "FILE", .help = "MoveIt's SRDF: postures for --posture"},
    {"motion", 0, OPTION_FILE, "FILE", .help = "a motion of this skeleton"},
    {"frame", 0, OPTION_COUNT, "K", .highest = INT_MAX,
     .help = "frame of --motion, or of MODEL if it is a motion; counted from 0"},
    {"floating", .help = "URDF, MJCF: leave the root free instead of fixing it to the world"},
    {"ignore-follower-limits",
     .help = "URDF, MJCF: limits of a joint that follows another do not narrow those of the other"},
    {0},
};

static const app_example examples[] = {
    {"Where the links of an arm are", "poise fk scene:arm6"},
    {"The same with joints turned", "poise fk scene:arm6 --degrees --posture \"0 30 -45 0 60 0\""},
    {"A frame of a motion", "poise fk scene:humanoid/walk --frame 30"},
    {"Output for a program", "poise fk scene:twolink --posture \"0.5 0.5\" --json"},
    {0},
};

const app_command cmd_fk = {
    .name = "fk",
    .synopsis = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "compute where every body is, for given joint values",
    .description = "Forward kinematics: the world pose of every body and every tool. Rotations are printed as roll, pitch "
                   "and yaw about the fixed axes x, y and z; JSON has quaternions x y z w.",
    .options = options,
    .examples = examples,
    .run = run,
};
