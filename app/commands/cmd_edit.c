// poise edit: goals over time, and other changes to a motion.
#include "cli/files.h"
#include "cli/load.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "cli/verdict_text.h"
#include "cli/words.h"
#include "commands/commands.h"
#include "edit/edit_parts.h"

#include <math.h>
#include <stdlib.h>

// ---- Pins ----------------------------------------------------------------------------------------------------------------

// A posture by its name in the file, or from another file; poise_goal_words.posture.
static bool find_posture(const void *user, const char *name, double *q, poise_error *error)
{
    complain_to(error->text, sizeof error->text);
    bool works = load_posture(user, name, q);
    complain_to(NULL, 0);
    return works;
}

static poise_goal_words words_of(const edit_job *job)
{
    return (poise_goal_words){.model = job->file->model, .posture = find_posture, .user = job->file};
}

static bool add_text(edit_job *job, const char *text)
{
    poise_error error;
    poise_goal_words words = words_of(job);
    bool works = poise_pin_list_parse(job->pins, &words, job->file->clip, text, &error) == POISE_OK;
    if (!works) {
        complain("--pin: %s", error.text);
    }
    return works;
}

static bool add_document(edit_job *job, const char *name)
{
    file_bytes bytes;
    poise_error error;
    poise_goal_words words = words_of(job);
    if (!file_read(name, &bytes)) {
        return false;
    }
    bool works = poise_pin_list_read(job->pins, &words, job->file->clip, bytes.bytes, bytes.size, &error) == POISE_OK;
    if (!works) {
        complain("%s: %s", name, error.text);
    }
    file_release(&bytes);
    return works;
}

static bool read_pins(const arguments *args, edit_job *job)
{
    bool works = true;
    need(poise_pin_list_create(NULL, &job->pins, NULL) == POISE_OK);
    for (int i = 0; works && option_text_at(args, "pins", i); ++i) {
        works = add_document(job, option_text_at(args, "pins", i));
    }
    for (int i = 0; works && option_text_at(args, "pin", i); ++i) {
        works = add_text(job, option_text_at(args, "pin", i));
    }
    for (int i = 0; works && option_text_at(args, "keep", i); ++i) {
        char text[512];
        snprintf(text, sizeof text, "pose '%s' on its path", option_text_at(args, "keep", i));
        works = add_text(job, text);
    }
    return works;
}

// Degrees of freedom of the joints that --hold names.
static bool read_held(const arguments *args, const edit_job *job, bool *locked)
{
    const poise_model *model = job->file->model;
    for (int i = 0; option_text_at(args, "lock", i); ++i) {
        int body = find_body(model, option_text_at(args, "lock", i), NULL);
        if (body < 0) {
            return false;
        }
        poise_joint_info info = poise_model_joint_info(model, body);
        for (int k = 0; k < info.nv; ++k) {
            locked[info.v + k] = true;
        }
    }
    return true;
}

// The pins of the user and, after them, one for each contact of the feet.
static poise_pin *all_pins(const arguments *args, edit_job *job)
{
    poise_error error;
    poise_feet_report *feet = &job->feet_before;
    const poise_clip *clip = job->file->clip;
    bool cleans = option_given(args, "clean-feet");
    if (cleans && poise_feet_pins(job->file->model, clip, NULL, NULL, 0, feet, &error) != POISE_OK) {
        complain("%s: %s", job->input, error.text);
        return NULL;
    }
    job->foot_pins = feet->contacts;
    if (cleans && feet->contacts == 0) {
        complain("%s: no foot rests on the ground long enough, by height and speed; pin feet by hand: --pin \"BODY where it "
                 "is from ... to ...\"",
                 job->input);
        return NULL;
    }
    poise_pin *pins = needed(calloc((size_t)(job->pins->count + job->foot_pins) + 1, sizeof *pins));
    for (int i = 0; i < job->pins->count; ++i) {
        pins[i] = job->pins->pins[i];
    }
    if (cleans) {
        need(poise_feet_pins(job->file->model, clip, NULL, pins + job->pins->count, job->foot_pins, feet, NULL) == POISE_OK);
    }
    return pins;
}

// How fast what was pinned slips now.
static void measure_feet(edit_job *job, const poise_pin *pins)
{
    poise_kinematics *kinematics;
    const poise_clip *clip = job->file->clip;
    need(poise_kinematics_create(job->file->model, NULL, &kinematics, NULL) == POISE_OK);
    job->feet_after = job->feet_before;
    job->feet_after.skate_mean = job->feet_after.skate_worst = 0;
    for (int i = 0; i < job->foot_pins; ++i) {
        const poise_pin_result *r = &job->results[job->pins->count + i];
        const poise_goal *goal = &pins[job->pins->count + i].goal;
        poise_vec3 last = {0};
        for (int f = r->held_first; f <= r->held_last; ++f) {
            poise_kinematics_update(kinematics, clip->q + (size_t)f * (size_t)clip->nq, NULL);
            poise_vec3 now = poise_kinematics_point(kinematics, goal->body, goal->local.position);
            double x = now.x - last.x, y = now.y - last.y, z = now.z - last.z;
            double speed = f > r->held_first ? sqrt(x * x + y * y + z * z) / clip->frame_time : 0;
            job->feet_after.skate_mean += speed / job->feet_after.frames;
            job->feet_after.skate_worst = fmax(job->feet_after.skate_worst, speed);
            last = now;
        }
    }
    poise_kinematics_destroy(kinematics);
}

// The shapes of the skeleton: of the file itself, or of the one that the skeleton came from.
static poise_overlap_problem overlap_of(const edit_job *job)
{
    poise_overlap_problem overlap = poise_overlap_problem_default();
    bool has_own = job->file->hull_count > 0 || job->file->shape_count > 0 || !job->skeleton;
    const poise_file *file = has_own ? job->file : job->skeleton;
    overlap.hulls = file->hulls;
    overlap.hull_count = file->hull_count;
    overlap.shapes = file->shapes;
    overlap.shape_count = file->shape_count;
    overlap.excluded = file->excluded;
    overlap.excluded_count = file->excluded_count;
    overlap.metres = job->metres > 0 ? job->metres : 1;
    return overlap;
}

// Of the same file.
static int unread_of(const edit_job *job)
{
    bool is_own = job->file->hull_count + job->file->shape_count + job->file->shapes_skipped > 0 || !job->skeleton;
    return is_own ? job->file->shapes_skipped : job->skeleton->shapes_skipped;
}

static bool judge(edit_job *job, const poise_pin *pins, int count)
{
    poise_overlap_problem overlap = overlap_of(job);
    poise_edit_problem problem = poise_edit_problem_default();
    poise_error error;
    problem.model = job->file->model;
    problem.before = job->before;
    problem.after = job->file->clip;
    problem.pins = pins;
    problem.pin_count = count;
    problem.results = job->results;
    problem.report = &job->report;
    problem.overlap = &overlap;
    problem.unread = unread_of(job);
    problem.metres = job->metres;
    problem.thresholds = job->thresholds;
    job->sees_overlaps = overlap.hull_count > 0 || overlap.shape_count > 0;
    if (poise_edit_judge(&problem, NULL, &job->verdict, job->findings, EDIT_FINDINGS, &error) != POISE_OK) {
        complain("%s: %s", job->input, error.text);
        return false;
    }
    job->verdict.count = job->verdict.count < EDIT_FINDINGS ? job->verdict.count : EDIT_FINDINGS;
    return true;
}

static bool pin(const arguments *args, edit_job *job)
{
    bool *locked = needed(calloc((size_t)poise_model_info(job->file->model).nv + 1, sizeof *locked));
    poise_pin *pins = read_pins(args, job) && read_held(args, job, locked) ? all_pins(args, job) : NULL;
    int count = pins ? job->pins->count + job->foot_pins : 0;
    bool works = pins != NULL;
    if (count > 0) {
        poise_pin_options options = poise_pin_options_default();
        poise_error error;
        options.locked = locked;
        options.keep_feet = !option_given(args, "free-feet");
        options.metres = job->metres;
        job->results = needed(calloc((size_t)count, sizeof *job->results));
        works = poise_clip_pin(job->file->model, pins, count, &options, job->file->clip, NULL, job->results, &job->report,
                               &error) == POISE_OK;
        if (works) {
            measure_feet(job, pins);
            works = judge(job, pins, count);
        } else {
            complain("%s: %s", job->input, error.text);
        }
    }
    free(pins);
    free(locked);
    return works;
}

// ---- Time ----------------------------------------------------------------------------------------------------------------

static void replace_clip(edit_job *job, poise_clip *clip)
{
    poise_clip_destroy(job->file->clip);
    job->file->clip = clip;
    if (job->file->markers) { // they were recorded with the motion as it was
        warn("%s: its markers are left out because they no longer match the motion", job->input);
        poise_markers_destroy(job->file->markers);
        job->file->markers = NULL;
    }
}

// Left and right exchanged. A skeleton that cannot do in the mirror what it did is said to miss it.
static bool mirror(const arguments *args, edit_job *job)
{
    poise_clip *made;
    poise_error error;
    if (!option_given(args, "mirror")) {
        return true;
    }
    if (poise_clip_mirror(job->file->model, job->file->clip, NULL, &made, &job->mirror, &error) != POISE_OK) {
        complain("%s: %s", job->input, error.text);
        return false;
    }
    replace_clip(job, made);
    return true;
}

// A clip of another person may have the same joints. Its angles go over as they are, so that hands and feet end elsewhere.
static void compare_bones(const edit_job *job, const poise_file *next, const char *name)
{
    const poise_model *a = job->file->model, *b = next->model;
    const double tolerance = 0.01; // of a bone
    double size = 0;
    for (int k = 1; k < poise_model_info(a).joints; ++k) {
        poise_vec3 p = poise_model_joint_info(a, k).given->offset.position;
        size = fmax(size, sqrt(p.x * p.x + p.y * p.y + p.z * p.z));
    }
    bool is_other = false;
    for (int k = 0; b && !is_other && k < poise_model_info(a).joints && k < poise_model_info(b).joints; ++k) {
        poise_joint_info one = poise_model_joint_info(a, k), two = poise_model_joint_info(b, k);
        poise_vec3 p = one.given->offset.position, q = two.given->offset.position;
        double own = sqrt(p.x * p.x + p.y * p.y + p.z * p.z), other = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
        is_other = one.parent >= 0 && fabs(other - own) > tolerance * own + 1e-6 * size;
        if (is_other) {
            warn("%s: its bones have other lengths (that to \"%s\" %.4g, here %.4g), so feet would slip; retarget it first: "
                 "poise retarget %s %s -o motion.bvh",
                 name, one.body, other, own, name, job->input);
        }
    }
}

// Another clip after this one, and a clip that can be repeated.
static bool join(const arguments *args, edit_job *job)
{
    const char *name = option_text(args, "append", NULL);
    poise_error error = {.text = ""};
    poise_clip *made;
    double blend = option_number(args, "blend", 0.3);
    const char *animation = option_text(args, "append-animation", NULL);
    if (animation && !name) {
        complain("edit: --append-animation is about another clip: add --append CLIP");
        return false;
    }
    poise_file *next = name ? load_motion_for(name, animation, job->file, job->input) : NULL;
    bool works = !name || (next && load_can_choose(animation, next, name));
    if (next && works) {
        compare_bones(job, next, name);
        works = poise_clip_append(job->file->model, job->file->clip, next->clip, blend, edit_up(job), NULL, &made, &error) ==
                POISE_OK;
        if (works) {
            replace_clip(job, made);
        }
    }
    if (works && option_given(args, "loop")) {
        double length = job->file->clip->frames * job->file->clip->frame_time;
        works = poise_clip_loop(job->file->model, job->file->clip, blend, edit_up(job), NULL, &made, &error) == POISE_OK;
        if (works) {
            replace_clip(job, made);
            poise_clip_repeated(job->file->model, made, edit_up(job), NULL, &job->travel, NULL);
            if (blend > 0.25 * length) {
                warn("%s: the blend of %g s takes %.0f %% of a clip of %g s; --blend sets a shorter one", job->input, blend,
                     100 * blend / length, length);
            }
        }
    }
    if (!works && error.text[0]) {
        complain("%s: %s", job->input, error.text);
    }
    poise_file_destroy(next);
    return works;
}

static bool change_time(const arguments *args, edit_job *job)
{
    poise_clip *made;
    poise_error error;
    poise_status status = POISE_OK;
    if (option_given(args, "reverse")) {
        status = poise_clip_reverse(job->file->clip, NULL, &made, &error);
        if (status == POISE_OK) {
            replace_clip(job, made);
        }
    }
    if (status == POISE_OK && option_given(args, "speed")) {
        status = poise_clip_speed(job->file->clip, job->file->model, option_number(args, "speed", 1), NULL, &made, &error);
        if (status == POISE_OK) {
            replace_clip(job, made);
        }
    }
    if (status != POISE_OK) {
        complain("%s: %s", job->input, error.text);
    }
    return status == POISE_OK;
}

// ---- The command ---------------------------------------------------------------------------------------------------------

// An AMC or MOT and its skeleton become one.
static void join_skeleton(edit_job *job)
{
    if (job->skeleton && !job->file->model) {
        job->file->model = job->skeleton->model;
        job->file->scale = job->skeleton->scale;
        job->skeleton->model = NULL;
    }
}

// What the file does not say of its unit and upward axis: as --from-unit and --from-up have it.
static void complete_scale(const arguments *args, edit_job *job)
{
    const char *up = option_text(args, "source-up", NULL);
    poise_scale *scale = &job->file->scale;
    scale->metres = scale->metres > 0 ? scale->metres : option_number(args, "source-unit", 0);
    scale->up = scale->up != POISE_UP_UNKNOWN || !up ? scale->up : up_by_name(up);
}

static void measure_unit(edit_job *job)
{
    poise_figure figure = {.metres = 0};
    poise_model_figure(job->file->model, &figure, NULL);
    job->metres = job->file->scale.metres > 0 ? job->file->scale.metres : figure.metres;
}

static bool write_all(const arguments *args, const edit_job *job)
{
    const char *output = option_text(args, "output", NULL), *picture = option_text(args, "picture", NULL);
    const char *page = option_text(args, "report", NULL);
    bool works = (!output || (save_motion(output, job->file) && save_skeleton_of(output, job->file, job->input))) &&
                 (!picture || edit_save_picture(job, picture)) && (!page || edit_save_page(job, page, args));
    if (works && !output && !picture && !page && !arguments_json(args)) {
        warn("nothing was written; -o FILE keeps the motion");
    }
    return works && (arguments_json(args) ? edit_print_json(job, output)
                                          : edit_print_text(job, (const char *[]){output, picture, page}, 3));
}

static bool has_work(const arguments *args)
{
    static const char *const changes[] = {"pin", "pins", "clean-feet", "mirror", "reverse", "speed", "append", "loop"};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; ++i) {
        if (option_given(args, changes[i])) {
            return true;
        }
    }
    complain("edit: nothing to do; add --pin, --pins, --clean-feet, --mirror, --reverse, --speed, --append or "
             "--loop (\"poise help edit\")");
    return false;
}

// A mirror that is off is a miss whatever the verdict on pins.
static app_exit status_of(const arguments *args, const edit_job *job)
{
    bool is_worse = job->verdict.level > verdict_level_by_name(option_text(args, "accept", "good"));
    return is_worse || edit_mirror_is_off(job) ? APP_MISSED : APP_DONE;
}

static app_exit run(const arguments *args)
{
    edit_job job = {.input = arguments_at(args, 0)};
    app_exit status = APP_BAD;
    const char *animation = option_text(args, "animation", NULL);
    load_options how = {.meshes = true}; // overlaps are looked at
    load_animation(animation, &how);
    if (!has_work(args) ||
        !load_motion(job.input, option_text(args, "source-model", NULL), &how, &job.file, &job.skeleton)) {
        return status;
    }
    join_skeleton(&job);
    complete_scale(args, &job);
    measure_unit(&job);
    const char *output = option_text(args, "output", NULL);
    bool works = load_can_choose(animation, job.file, job.input) && (!output || motion_can_be_written(job.file, output)) &&
                 mirror(args, &job) && change_time(args, &job) && join(args, &job);
    job.thresholds = poise_thresholds_default();
    works = works && verdict_read_thresholds(args, &job.thresholds);
    need(poise_clip_trim(job.file->clip, 0, job.file->clip->frames, NULL, &job.before, NULL) == POISE_OK);
    if (works && pin(args, &job) && write_all(args, &job)) {
        status = status_of(args, &job);
    }
    poise_clip_destroy(job.before);
    poise_pin_list_destroy(job.pins);
    free(job.results);
    poise_file_destroy(job.file);
    poise_file_destroy(job.skeleton);
    return status;
}

static const app_option options[] = {
    {"pin", 'p', OPTION_TEXT, "PIN", .repeats = true,
     .help = "a goal that holds for a while, such as \"hand 1.2 0.3 0.9 from 2 s to 3 s fade 0.2\""},
    {"pins", 0, OPTION_FILE, "FILE.json", .repeats = true, .help = "read pins from a JSON file, see above"},
    {"clean-feet", .help = "stop feet from skating (human skeletons)"},
    {"mirror", .help = "swap left and right, before anything else"},
    {"reverse", .help = "reverse the motion, before pins"},
    {"speed", 0, OPTION_NUMBER, "X", .lowest = 1e-3, .highest = 1e3,
     .help = "play X times as fast at the same frame rate; after --reverse, before pins"},
    {"append", 0, OPTION_FILE, "CLIP", .help = "append another motion of this skeleton, moved to where this one ends"},
    {"append-animation", 0, OPTION_TEXT, "WHICH",
     .help = "glTF: which animation of that clip, by its name or counted from 0"},
    {"loop", .help = "make the clip loop: its end fades into its beginning"},
    {"blend", 0, OPTION_NUMBER, "S", .lowest = 0, .highest = 1e6,
     .help = "length of the fades of --append and --loop, in seconds (0.3)"},
    {"keep", 'k', OPTION_TEXT, "BODY", .repeats = true, .help = "keep this body on its path, whatever is pinned"},
    {"lock", 0, OPTION_TEXT, "JOINT", .alias = "hold", .repeats = true, .help = "lock this joint: no pin moves it"},
    {"free-feet", .help = "let pins move the feet; by default those of a human skeleton stay on their path"},
    {"source-model", 'm', OPTION_FILE, "FILE", .alias = "model", .help = "skeleton of an AMC or MOT file"},
    {"animation", 0, OPTION_TEXT, "WHICH", .help = "glTF: which animation, by its name or counted from 0"},
    {"source-unit", 0, OPTION_UNIT, "UNIT", .alias = "from-unit",
     .help = "unit of length of CLIP, for formats that do not state it, such as BVH"},
    {"source-up", 0, OPTION_CHOICE, "AXIS", .alias = "from-up", .choices = "x y z",
     .help = "upward axis of CLIP, for formats that do not state it"},
    {"output", 'o', OPTION_OUTPUT, "FILE", .choices = WRITTEN_FILES, .help = "write the motion"},
    {"accept", 0, OPTION_CHOICE, "VERDICT", .choices = "good doubtful failed",
     .help = "worst verdict that still exits with 0 (good)"},
    {"threshold", 0, OPTION_TEXT, "WHAT=D[,F]", .repeats = true,
     .help =
         "beyond D the edit is doubtful, beyond F failed; WHAT is unmet (0 of the frames), jolted (0), collar (0.5 rad), "
         "twisted (1 rad), dragged (0.35 rad), bent (0.3 rad), fast (1 times the limit), self (0.02 of the frames) "
         "or pierced (0.02,0.1)"},
    {"report", 0, OPTION_OUTPUT, "R.html", .choices = ".html .htm",
     .help = "write a page that plays the motion before and after, with the pins"},
    {"picture", 0, OPTION_OUTPUT, "FILE.svg", .choices = ".svg",
     .help = "draw the paths of the pinned bodies, before and after"},
    {0},
};

static const app_example examples[] = {
    {"Hold a hand at a point for half a second",
     "poise edit scene:humanoid/walk --pin \"left_hand 0.3 1.05 0.35 from 0.5 s to 1 s fade 0.3\" -o reach.bvh"},
    {"Stop feet from skating", "poise edit scene:humanoid/kick --clean-feet -o clean.bvh"},
    {"Mirrored", "poise edit scene:humanoid/kick --mirror -o left.bvh"},
    {"Repeated once, as a loop", "poise edit scene:humanoid/walk --append scene:humanoid/walk --loop -o loop.bvh"},
    {"At half speed", "poise edit reach.bvh --speed 0.5 -o slow.bvh"},
    {0},
};

const app_command cmd_edit = {
    .name = "edit",
    .synopsis = "CLIP",
    .least = 1,
    .most = 1,
    .summary = "edit a motion: pin hands, stop feet skating, mirror, loop",
    .description =
        "A pin is a goal (\"poise help goals\") with a time range. Between \"from\" and \"to\" it holds to a micrometre; "
        "before and after, it fades in and out smoothly. Frames outside the fades keep every bit. Joints change as little "
        "as possible, within their limits.\n\n"
        "  hand 1.2 0.3 0.9 from 2 s to 3 s fade 0.2    a place; fade 0.2 0.5: in, out\n"
        "  pose hand 1 0 1 rpy 0 90 0 deg from 240f     place and rotation, from a frame\n"
        "  foot.L where it is from 2 to 3               stays where it is at 2 s\n"
        "  head on its path                             moves as before\n"
        "  hand key 2 s 1.2 0.3 0.9 key 3 s 1.3 0.3 1   through places, smoothly\n"
        "  aim head to 1 0 1.5 axis z from 1 to 4       any kind of goal\n\n"
        "Lengths are in the units of the file, as \"poise fk CLIP\" prints them; times are in seconds, or frames with f. "
        "A pin without times holds throughout the clip. Several pins of one body follow one another. The same in a file "
        "for --pins:\n\n"
        "  {\"pins\": [{\"goal\": \"hand 1.2 0.3 0.9\", \"from\": 2, \"to\": 3, \"fade\": 0.2},\n"
        "            {\"goal\": \"hand\", \"keys\": [{\"time\": 4, \"target\": [1.2, 0.3, 0.9]},\n"
        "                                       {\"time\": 5, \"target\": [1.3, 0.3, 1]}]}]}\n\n"
        "--clean-feet detects when the ball of a foot rests on the ground, by height and speed, and pins it there.\n\n"
        "A verdict says what the edit did to the body beyond what was asked for, compared with the motion as it was: pins "
        "out "
        "of reach, joints that snap or are too fast, clavicles and bones of limbs that are twisted, elbows and knees that "
        "bend "
        "backwards, a chest that follows a hand, and bodies that overlap, where the file has shapes. The exit status is 1 "
        "unless it is good (--accept).",
    .options = options,
    .examples = examples,
    .run = run,
};
