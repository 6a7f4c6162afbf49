// poise retarget: a motion on another skeleton.
#include "cli/files.h"
#include "cli/load.h"
#include "cli/terminal.h"
#include "cli/verdict_text.h"
#include "cli/words.h"
#include "commands/commands.h"
#include "retarget_parts.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Reading -------------------------------------------------------------------------------------------------------------

static bool load_source(retarget_job *j, const arguments *args)
{
    const char *actor = option_text(args, "source-model", NULL);
    const char *animation = option_text(args, "animation", NULL);
    load_options how = {0};
    load_animation(animation, &how);
    if (!load_any(j->motion_name, actor, &how, &j->motion, &j->skeleton) ||
        !load_can_choose(animation, j->motion, j->motion_name)) {
        return false;
    }
    j->actor_name = actor ? actor : RETARGET_ACTOR;
    if (!j->motion->clip) {
        if (j->motion->markers) {
            return retarget_track_markers(j, actor);
        }
        complain("%s: holds no motion; a motion comes from BVH, AMC, MOT, glTF or JSON, markers from C3D or TRC",
                 j->motion_name);
        return false;
    }
    j->from = j->motion->model ? j->motion->model : j->skeleton ? j->skeleton->model : NULL;
    if (!j->from) {
        complain("%s: holds no skeleton; give its file with --source-model", j->motion_name);
        return false;
    }
    return true;
}

static bool choose_frames(retarget_job *j, const arguments *args)
{
    poise_clip *clip = j->motion->clip;
    int first = option_count(args, "first", 0), last = option_count(args, "last", clip->frames - 1);
    double rate = option_number(args, "rate", 0);
    if (clip->frames == 0 || first >= clip->frames) {
        complain("%s: has %d frames, so --first %d is beyond its end", j->motion_name, clip->frames, first);
        return false;
    }
    if (first > last) {
        complain("retarget: --first %d is after --last %d", first, last);
        return false;
    }
    if (last >= clip->frames) {
        warn("%s: has %d frames; --last %d stops at %d", j->motion_name, clip->frames, last, clip->frames - 1);
        last = clip->frames - 1;
    }
    j->source = clip;
    if (first > 0 || last < clip->frames - 1) {
        if (poise_clip_trim(clip, first, last - first + 1, NULL, &j->source, NULL) != POISE_OK) {
            complain("no memory left");
            return false;
        }
        j->owns_source = true;
    }
    if (rate > 0 && fabs(rate * clip->frame_time - 1) > 1e-9) {
        poise_clip *other;
        if (poise_clip_resample(j->source, j->from, 1 / rate, NULL, &other, NULL) != POISE_OK) {
            complain("no memory left");
            return false;
        }
        if (j->owns_source) {
            poise_clip_destroy(j->source);
        }
        j->source = other;
        j->owns_source = true;
    }
    return true;
}

static bool load_target(retarget_job *j, const arguments *args)
{
    load_options options = {.floating = !option_given(args, "fixed"), .meshes = true};
    j->target = load_model(j->model_name, &options);
    if (j->target) {
        poise_scale *scale = &j->target->scale;
        scale->metres = scale->metres > 0 ? scale->metres : option_number(args, "unit", 0);
        poise_figure figure = {.metres = 0};
        poise_model_figure(j->target->model, &figure, NULL);
        j->metres = j->target->scale.metres > 0 ? j->target->scale.metres : figure.metres;
    }
    return j->target != NULL;
}

// What the file says of its joints, and one velocity for all but a free root.
static bool limit_velocity(retarget_job *j, const arguments *args)
{
    if (option_given(args, "no-limits")) {
        return true;
    }
    j->velocity = calloc((size_t)poise_model_info(j->target->model).nv + 1, sizeof *j->velocity);
    if (!j->velocity) {
        complain("no memory left");
        return false;
    }
    if (!poise_retarget_velocities(j->target->model, option_number(args, "velocity", INFINITY), j->velocity)) {
        free(j->velocity);
        j->velocity = NULL;
    }
    return true;
}

// Several people in one file: say whose motion is taken. A figure is a root with at least half as many bodies as that one.
static void warn_of_others(const retarget_job *j)
{
    int taken = j->map.role[POISE_ROLE_PELVIS].from, figures = 0;
    while (taken >= 0 && poise_model_joint_info(j->from, taken).parent >= 0) {
        taken = poise_model_joint_info(j->from, taken).parent;
    }
    int size = taken >= 0 ? poise_model_joint_info(j->from, taken).subtree : 0;
    for (int k = 0; k < poise_model_info(j->from).joints && size > 1; k += poise_model_joint_info(j->from, k).subtree) {
        figures += 2 * poise_model_joint_info(j->from, k).subtree >= size;
    }
    if (figures > 1) {
        warn("%s holds %d figures: the motion of \"%s\" is used; for another one, edit its bodies into a map (--write-map, "
             "--map)",
             j->motion_name, figures, poise_model_joint_info(j->from, taken).body);
    }
}

static bool find_map(retarget_job *j, const arguments *args)
{
    const char *name = option_text(args, "map", NULL);
    file_bytes file = {.bytes = NULL};
    poise_error error = {0};
    bool works = true;
    if (!name) {
        works = poise_roles_match(&j->task, NULL, &j->map, &error) == POISE_OK;
        if (!works) {
            complain("%s", error.text);
        } else {
            warn_of_others(j);
        }
    } else if (!file_read(name, &file)) {
        works = false;
    } else if (poise_role_map_read(file.bytes, j->from, j->target->model, &j->map, &error) != POISE_OK) {
        complain("%s:%d: %s", name, error.line, error.text);
        works = false;
    }
    file_release(&file);
    j->task.map = &j->map;
    return works;
}

static bool write_map(const retarget_job *j, const char *name)
{
    enum { ROOM = 64 * 1024 };
    static char text[ROOM];
    text_file out;
    poise_role_map_write(&j->map, j->from, j->target->model, text, sizeof text);
    text_open(&out);
    fputs(text, out.stream);
    return text_close(&out, name);
}

static poise_feet feet_by_name(const char *name)
{
    return strcmp(name, "follow") == 0 ? POISE_FEET_FOLLOW : strcmp(name, "plant") == 0 ? POISE_FEET_PLANT : POISE_FEET_AUTO;
}

static void fill_task(retarget_job *j, const arguments *args)
{
    const poise_file *holder = j->motion->model ? j->motion : j->skeleton;
    poise_up from = up_by_name(option_text(args, "source-up", "")), to = up_by_name(option_text(args, "up", ""));
    j->task = poise_retarget_of_files(j->motion, j->target);
    j->task.from = j->from;
    j->task.clip = j->source;
    j->task.from_up = from != POISE_UP_UNKNOWN ? from : holder->scale.up;
    j->task.to_up = to != POISE_UP_UNKNOWN ? to : j->task.to_up;
    j->task.sole = option_number(args, "sole", 0) / (j->metres > 0 ? j->metres : 1);
    j->task.ground = option_number(args, "ground", NAN);
    j->task.feet = feet_by_name(option_text(args, "feet", "auto"));
    j->task.velocity = j->velocity;
    j->task.use_limits = !option_given(args, "no-limits");
}

// ---- The work ------------------------------------------------------------------------------------------------------------

static bool retarget(retarget_job *j)
{
    poise_error error = {0};
    double start = cpu_seconds_now();
    j->contacts = calloc((size_t)j->source->frames + 1, 1);
    if (!j->contacts) {
        complain("no memory left");
        return false;
    }
    if (poise_retarget(&j->task, NULL, &j->clip, j->contacts, &j->outcome, &error) != POISE_OK) {
        complain("%s onto %s: %s", j->motion_name, j->model_name, error.text);
        return false;
    }
    j->seconds = cpu_seconds_now() - start;
    bool works = poise_retarget_judge(&j->task, &j->outcome, &j->thresholds, &j->verdict, j->findings, RETARGET_FINDINGS,
                                      NULL) == POISE_OK;
    retarget_judge_track(j);
    return works;
}

static poise_file as_file(const retarget_job *j)
{
    poise_file file = *j->target;
    file.clip = j->clip;
    file.markers = NULL;
    file.goals = NULL;
    file.goal_count = 0;
    return file;
}

static bool load_all(retarget_job *j, const arguments *args)
{
    const char *out = option_text(args, "output", NULL);
    if (!load_source(j, args) || !load_target(j, args)) {
        return false;
    }
    poise_file file = as_file(j);
    if ((out && !motion_can_be_written(&file, out)) || !choose_frames(j, args) || !limit_velocity(j, args)) {
        return false;
    }
    fill_task(j, args);
    j->thresholds = poise_thresholds_default();
    return find_map(j, args) && verdict_read_thresholds(args, &j->thresholds);
}

static bool write_all(retarget_job *j, const arguments *args)
{
    const char *out = option_text(args, "output", NULL);
    const char *page = option_text(args, "report", NULL);
    poise_file file = as_file(j);
    char name[128];
    name_of_motion(j->motion, j->motion_name, name, sizeof name);
    file.motion = name;
    const char *drawn = option_text(args, "picture", NULL);
    return (!page || retarget_page(j, page, args)) && (!drawn || retarget_picture(j, drawn)) &&
           (!out || save_motion(out, &file));
}

static void release(retarget_job *j)
{
    if (j->owns_source) {
        poise_clip_destroy(j->source);
    }
    poise_clip_destroy(j->clip);
    poise_recording_destroy(j->tracked);
    poise_file_destroy(j->motion);
    poise_file_destroy(j->skeleton);
    poise_file_destroy(j->target);
    free(j->velocity);
    free(j->contacts);
}

static app_exit run(const arguments *args)
{
    static retarget_job j; // large
    j = (retarget_job){.motion_name = arguments_at(args, 0), .model_name = arguments_at(args, 1)};
    const char *out = option_text(args, "output", NULL), *map = option_text(args, "write-map", NULL);
    bool to_output = out && strcmp(out, "-") == 0;
    bool works = load_all(&j, args) && (!map || write_map(&j, map)) && retarget(&j) && write_all(&j, args);
    app_exit status = APP_BAD;
    if (works) {
        status = j.verdict.level > verdict_level_by_name(option_text(args, "accept", "good")) ? APP_MISSED : APP_DONE;
        if (arguments_json(args)) {
            status = json_print(retarget_as_json(&j, out)) ? status : APP_BAD;
        } else {
            retarget_print(&j, to_output ? NULL : out, to_output ? stderr : stdout);
        }
    }
    release(&j);
    return status;
}

static const app_option options[] = {
    {"output", 'o', OPTION_OUTPUT, "OUT", .choices = WRITTEN_FILES,
     .help = "write the motion; .csv has one row of joint values per frame"},
    {"report", 0, OPTION_OUTPUT, "R.html", .choices = ".html .htm",
     .help = "write a page with both figures side by side, contacts and figures"},
    {"picture", 0, OPTION_OUTPUT, "P.svg", .choices = ".svg", .help = "draw poses of both figures side by side"},
    {"map", 0, OPTION_FILE, "FILE", .help = "which body plays which role, in the format of --write-map (found by name)"},
    {"write-map", 0, OPTION_OUTPUT, "FILE", .help = "write the map of bodies to roles, for editing"},
    {"feet", 0, OPTION_CHOICE, "HOW", .choices = "auto follow plant",
     .help = "plant the feet, or let them follow; auto plants unless the proportions are the same"},
    {"sole", 0, OPTION_NUMBER, "H", .lowest = 0, .highest = 100,
     .help = "height of MODEL's ankle above its sole, in metres (from collision shapes, toes, or 8 % of the leg)"},
    {"ground", 0, OPTION_NUMBER, "H", .lowest = -1e9, .highest = 1e9,
     .help = "height of the ground in the motion, in its units (where its feet rest)"},
    {"velocity", 0, OPTION_NUMBER, "V", .lowest = 1e-6, .highest = 1e9,
     .help = "velocity limit of all joints except a free root, rad/s or m/s (a URDF's own limits always hold)"},
    {"no-limits", .help = "ignore joint limits and velocity limits"},
    {"first", 0, OPTION_COUNT, "K", .lowest = 0, .highest = INT_MAX, .help = "first frame, counted from 0 (0)"},
    {"last", 0, OPTION_COUNT, "K", .lowest = 0, .highest = INT_MAX, .help = "last frame (the motion's last)"},
    {"rate", 0, OPTION_NUMBER, "R", .lowest = 1e-3, .highest = 1e6, .help = "resample to R frames per second"},
    {"animation", 0, OPTION_TEXT, "WHICH", .help = "glTF: which animation is the motion, by its name or counted from 0"},
    {"source-model", 0, OPTION_FILE, "FILE",
     .help = "the skeleton that an AMC or MOT moves, or that follows markers (" RETARGET_ACTOR ")"},
    {"source-up", 0, OPTION_CHOICE, "AXIS", .choices = "x y z", .help = "upward axis of the motion"},
    {"unit", 0, OPTION_UNIT, "UNIT", .help = "unit of length of MODEL, for formats that do not state it, such as BVH"},
    {"up", 0, OPTION_CHOICE, "AXIS", .choices = "x y z", .help = "upward axis of MODEL"},
    {"fixed", .help = "URDF, MJCF: fix the root to the world instead of leaving it free"},
    {"accept", 0, OPTION_CHOICE, "VERDICT", .choices = "good doubtful failed",
     .help = "worst verdict that still exits with 0 (good)"},
    {"threshold", 0, OPTION_TEXT, "WHAT=D[,F]", .repeats = true,
     .help =
         "beyond D the motion is doubtful, beyond F failed; WHAT is unmatched (0,1), pose (0), bones (0.2,0.6 rad), limb "
         "(0.5,1.2 rad), reversed (0), hips (0.08,0.3 of the leg), skate (0.02,0.3 of it a second), sunk (0.0025,0.06), "
         "jumped (0,0.1 of the frames), late (0.05,0.5), slipped (0.3,3 of the leg a second), released (0.1 of the "
         "frames), tipped (0.05), loose (0.05 of the rests), lurched (1 m/s), overturned (0.5 of the frames), scuffed "
         "(0.02), hovering (0.02), unclosed (0.002 m), buried "
         "(0.03,0.25 of the leg), floor (0.02 of the frames), self (0.02), "
         "pierced (0.02,0.1), unchecked (0), fast (1, of the limit), abrupt (0.02 of the frames), fixed (0), unplanted "
         "(0.3 of the frames) or aside (0.1 of the frames)"},
    {0},
};

static const app_example examples[] = {
    {"A walk onto a skeleton with different joints", "poise retarget scene:humanoid/walk scene:humanoid-euler -o walk.bvh"},
    {"Write the map of roles, for editing", "poise retarget scene:humanoid/walk scene:humanoid-euler --write-map map.txt"},
    {"Use the edited map", "poise retarget scene:humanoid/walk scene:humanoid-euler --map map.txt -o walk.bvh"},
    {0},
};

const app_command cmd_retarget = {
    .name = "retarget",
    .synopsis = "MOTION MODEL",
    .least = 2,
    .most = 2,
    .summary = "transfer a motion to another character, robot or hand",
    .description =
        "Transfers a motion (BVH, ASF/AMC, MOT, glTF, JSON) to another skeleton. Markers (C3D, TRC) are first tracked "
        "with a human skeleton, all frames at once. Bodies are matched by name and by the tree. Differences between the "
        "rest poses (T, A, arms down) are removed limb by limb, so every bone points where the actor's does, whatever its "
        "length. The path of the hips is scaled by the length of the legs.\n\n"
        "Feet are planted where the actor's heel and toe rest: they do not slip, and no sole goes below the ground. Joint "
        "limits hold exactly, as do velocity limits from a URDF or --velocity; frames that cannot keep up are counted as "
        "late. Skeletons of the same proportions need no planting, and a motion retargeted to its own skeleton comes back "
        "unchanged.\n\n"
        "The verdict says how far to trust the result: unmatched limbs, bones that point elsewhere, feet that slip, "
        "frames that jump. The exit status is 1 unless it is good (--accept).",
    .options = options,
    .examples = examples,
    .run = run,
};
