// A recording becomes a motion with a verdict in one call.
#include "motion/recorded_walk.h"
#include "support/skeleton.h"

#include <poise/io.h>
#include <scenes/random.h>

#include <math.h>
#include <string.h>

enum { FRAMES = 24 };

static take *record(void)
{
    static take t;
    record_walk(&t, "humanoid", (poise_scale){1.0, POISE_UP_Y}, FRAMES, 60);
    return &t;
}

static poise_recording_problem problem_of(const take *t)
{
    poise_recording_problem problem = poise_recording_problem_default();
    problem.model = t->model;
    problem.scale = (poise_scale){1.0, POISE_UP_Y};
    problem.markers = t->markers;
    problem.placements = t->placements;
    problem.placement_count = t->count;
    return problem;
}

static poise_recording_result *follow(const poise_recording_problem *problem)
{
    poise_recording_result *result = NULL;
    poise_error error = {0};
    ck_assert_msg(poise_track_recording(problem, NULL, &result, &error) == POISE_OK, "%s", error.text);
    return result;
}

// The largest distance of a body's origin from where the truth has it, frames from `first` on, metres.
static double joints_off(const take *t, const poise_recording_result *r, int first)
{
    poise_kinematics *a, *b;
    double worst = 0;
    ck_assert_int_eq(poise_kinematics_create(t->model, NULL, &a, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_create(r->model, NULL, &b, NULL), POISE_OK);
    for (int f = 0; f < r->clip->frames; ++f) {
        ck_assert_int_eq(poise_kinematics_update(a, t->clip->q + (first + f) * t->clip->nq, NULL), POISE_OK);
        ck_assert_int_eq(poise_kinematics_update(b, r->clip->q + f * r->clip->nq, NULL), POISE_OK);
        for (int k = 0; k < poise_model_info(t->model).joints; ++k) {
            poise_vec3 x = poise_kinematics_body_pose(a, k).position, y = poise_kinematics_body_pose(b, k).position;
            worst = fmax(worst, hypot(hypot(x.x - y.x, x.y - y.y), x.z - y.z));
        }
    }
    poise_kinematics_destroy(a);
    poise_kinematics_destroy(b);
    return worst;
}

// The elbow of an arm of which one marker on the hand is seen may be anywhere around the line to the shoulder, and the wrist too.
TEST(a_joint_centre_that_markers_do_not_tell_is_empty)
{
    take *t = record();
    scene_random random = scene_random_make(9);
    for (int k = 0; k < FRAMES * t->count; ++k) {
        const char *label = t->markers->label[k % t->count];
        bool is_arm = strcmp(label, "left_upper_arm") == 0 || strcmp(label, "left_elbow") == 0 ||
                      strstr(label, "left_wrist_") || strstr(label, "left_thumb") || strstr(label, "left_index") ||
                      strstr(label, "left_finger");
        poise_vec3 p = t->markers->position[k];
        t->markers->position[k] =
            is_arm ? (poise_vec3){NAN, NAN, NAN}
                   : (poise_vec3){p.x + 0.002 * scene_random_normal(&random), p.y + 0.002 * scene_random_normal(&random),
                                  p.z + 0.002 * scene_random_normal(&random)};
    }
    poise_markers_rescale(t->markers, (poise_scale){0.001, POISE_UP_Z}, NULL);
    poise_recording_problem problem = problem_of(t);
    poise_recording_result *r = follow(&problem);
    poise_markers *centres = NULL;
    ck_assert_int_eq(poise_recording_centres(r, NULL, &centres, NULL), POISE_OK);
    ck_assert(centres->count == 12 && centres->scale.metres == 0.001 && centres->scale.up == POISE_UP_Z);
    for (int i = 0; i < centres->count; ++i) {
        bool is_open = strcmp(centres->label[i], "LEJC") == 0 || strcmp(centres->label[i], "LWJC") == 0;
        for (int f = 0; f < FRAMES; ++f) {
            ck_assert_msg(poise_markers_seen(centres, f, i) == !is_open, "%s in frame %d", centres->label[i], f);
        }
        bool is_told = false;
        for (int k = 0; k < r->verdict.count; ++k) {
            const poise_finding *f = &r->findings[k];
            is_told = is_told || (f->kind == POISE_FINDING_BLURRED && strcmp(f->name, centres->label[i]) == 0);
        }
        ck_assert_msg(is_told == is_open, "%s", centres->label[i]);
    }
    int knee = poise_markers_find(centres, "RKJC"), marker = poise_markers_find(t->markers, "right_knee");
    poise_vec3 a = centres->position[knee], b = t->markers->position[marker];
    double apart = hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
    ck_assert_msg(apart > 20 && apart < 90, "%g mm from the marker to the centre", apart);
    ck_assert_int_eq(poise_recording_centres(r, NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
    poise_markers_destroy(centres);
    poise_recording_destroy(r);
    forget(t);
}

// ---- What comes of it ----------------------------------------------------------------------------------------------------

TEST(exact_markers_give_the_motion_and_a_good_verdict)
{
    take *t = record();
    poise_recording_problem problem = problem_of(t);
    problem.first = 3;
    problem.deviations = true;
    poise_recording_result *r = follow(&problem);
    ck_assert_int_eq(r->clip->frames, FRAMES - 3);
    ck_assert(r->first == 3 && !r->calibrated && !r->fitted && r->model == t->model);
    ck_assert_int_eq(r->verdict.level, POISE_VERDICT_GOOD);
    ck_assert_double_le(r->summary.worst, 1e-3);
    ck_assert_double_le(joints_off(t, r, 3), 0.01);
    for (int i = 0; i < r->placement_count; ++i) { // labels are the result's own
        ck_assert(r->placements[i].label != t->placements[i].label);
        ck_assert_str_eq(r->placements[i].label, t->placements[i].label);
    }
    size_t numbers = (size_t)r->clip->frames * (size_t)poise_model_info(t->model).nv;
    for (size_t i = 0; i < numbers; ++i) {
        ck_assert(r->deviation[i] > 0);
    }
    poise_recording_destroy(r);
    forget(t);
}

// Angles are given where something is known of them: not of a forearm without markers, nor of what no joint turns, nor of
// a foot that a noisy marker on its toes hardly tells, nor in frames in which nobody is there.
TEST(angles_are_given_where_they_are_known)
{
    take *t = record();
    enum { AWAY = 5 };
    scene_random random = scene_random_make(3);
    for (int k = 0; k < FRAMES * t->markers->count; ++k) {
        const char *label = t->markers->label[k % t->markers->count];
        bool is_arm = strstr(label, "right_wrist") || strstr(label, "right_hand") || strstr(label, "right_thumb") ||
                      strstr(label, "right_index") || strstr(label, "right_finger");
        bool is_heel = strcmp(label, "left_heel") == 0;
        poise_vec3 *p = &t->markers->position[k];
        *p = k / t->markers->count < AWAY || is_arm || is_heel
                 ? (poise_vec3){NAN, NAN, NAN}
                 : (poise_vec3){p->x + 0.012 * scene_random_normal(&random), p->y + 0.012 * scene_random_normal(&random),
                                p->z + 0.012 * scene_random_normal(&random)};
    }
    poise_recording_problem problem = problem_of(t);
    poise_recording_result *r = follow(&problem);
    double *angles = calloc(FRAMES * POISE_ANGLE_COUNT, sizeof *angles);
    ck_assert_int_eq(poise_recording_angles(r, NULL, angles, NULL), POISE_OK);
    static const struct {
        const char *name;
        bool is_known;
    } cells[] = {{"knee_flexion_r", true},      {"hip_rotation_r", true},    {"hip_flexion_l", true},
                 {"ankle_inversion_l", false},  {"elbow_flexion_r", false},  {"elbow_pronation_r", false},
                 {"elbow_flexion_l", true},     {"knee_adduction_r", false}, {"trunk_flexion", true},
                 {"shoulder_elevation_r", true}};
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        for (int k = 0; k < (int)TEST_COUNT(cells); ++k) {
            if (strcmp(poise_angle_name(i), cells[k].name) == 0) {
                for (int f = 0; f < FRAMES; ++f) {
                    bool is_known = !isnan(angles[f * POISE_ANGLE_COUNT + i]);
                    ck_assert_msg(is_known == (f >= AWAY && cells[k].is_known), "%s in frame %d", cells[k].name, f);
                }
            }
        }
    }
    poise_error error;
    ck_assert_int_eq(poise_recording_angles(r, NULL, NULL, &error), POISE_ERROR_ARGUMENT);
    free(angles);
    poise_recording_destroy(r);
    forget(t);
}

// The places of a recording come from a static trial in which a marker was elsewhere: the recording itself shows nothing.
TEST(what_speaks_against_a_static_trial_speaks_against_what_rests_on_it)
{
    take *t = record();
    poise_recording_problem problem = problem_of(t);
    int knee = poise_markers_find(t->markers, "left_knee");
    for (int f = 0; f < FRAMES; ++f) {
        t->markers->position[f * t->markers->count + knee].z += 0.15;
    }
    poise_recording_result *trial = follow(&problem);
    ck_assert_int_eq(trial->verdict.level, POISE_VERDICT_DOUBTFUL);
    for (int f = 0; f < FRAMES; ++f) {
        t->markers->position[f * t->markers->count + knee].z -= 0.15;
    }
    for (int has_trial = 0; has_trial < 2; ++has_trial) {
        problem.standing = has_trial ? trial : NULL;
        poise_recording_result *r = follow(&problem);
        ck_assert_int_eq(r->verdict.level, has_trial ? POISE_VERDICT_DOUBTFUL : POISE_VERDICT_GOOD);
        int of_trial = 0;
        for (int i = 0; i < r->verdict.count; ++i) {
            char text[256];
            poise_finding_describe(&r->findings[i], text, sizeof text);
            ck_assert_int_eq(strncmp(text, "in the static trial, ", 21) == 0, r->findings[i].in_trial);
            of_trial += r->findings[i].in_trial && strcmp(r->findings[i].name, "left_knee") == 0;
        }
        ck_assert_int_eq(of_trial > 0, has_trial);
        poise_recording_destroy(r);
    }
    poise_recording_destroy(trial);
    forget(t);
}

// All frames of the trial tell where markers sit; what follows has them there, to the bit, whatever its own frames would say.
TEST(a_recording_stands_on_its_static_trial)
{
    take *t = record();
    poise_recording_problem problem = problem_of(t);
    problem.placements = NULL, problem.placement_count = 0; // by name
    problem.first = 3, problem.last = 9, problem.rate = 30, problem.whole = problem.deviations = true;
    poise_recording_problem trial = poise_recording_trial(&problem, t->markers, (poise_scale){1.0, POISE_UP_Y});
    ck_assert(trial.first == 0 && trial.last == -1 && trial.rate == 0 && !trial.whole && !trial.deviations);
    ck_assert(trial.markers == t->markers && trial.from_scale.up == POISE_UP_Y && trial.model == problem.model);
    poise_recording_result *stood = follow(&trial);
    ck_assert_int_eq(stood->clip->frames, FRAMES);
    poise_recording_stand(&problem, stood);
    ck_assert(problem.standing == stood && problem.model == stood->model && problem.fit == POISE_FIT_NONE);
    problem.whole = problem.deviations = false, problem.rate = 0;
    poise_recording_result *r = follow(&problem);
    ck_assert(r->clip->frames == 7 && !r->calibrated && !r->fitted && r->placement_count == stood->placement_count);
    for (int i = 0; i < r->placement_count; ++i) {
        const poise_placement *is = &r->placements[i], *was = &stood->placements[i];
        ck_assert(is->body == was->body && memcmp(&is->local, &was->local, sizeof is->local) == 0);
    }
    poise_recording_destroy(r);
    poise_recording_destroy(stood);
    forget(t);
}

// Millimetres, z up, and nothing said of either.
TEST(units_and_axes_are_found_and_said_and_the_recording_stays_as_it_was)
{
    take *t = record();
    ck_assert_int_eq(poise_markers_rescale(t->markers, (poise_scale){0.001, POISE_UP_Z}, NULL), POISE_OK);
    t->markers->scale = (poise_scale){0, POISE_UP_UNKNOWN};
    poise_vec3 before = t->markers->position[0];
    poise_recording_problem problem = problem_of(t);
    poise_recording_result *r = follow(&problem);
    ck_assert(r->match.markers_unknown && r->match.up_by_figure && r->match.from.up == POISE_UP_Z);
    ck_assert_double_eq(r->match.from.metres, 0.001);
    ck_assert(memcmp(&before, &t->markers->position[0], sizeof before) == 0 && t->markers->scale.metres == 0);
    ck_assert_int_eq(r->verdict.level, POISE_VERDICT_GOOD);
    ck_assert_double_le(r->summary.worst, 1e-3);
    poise_recording_destroy(r);
    forget(t);
}

// The same motion, of a person who stands along x, or lies. A recording that states the axis leaves no doubt.
TEST(x_as_the_upward_axis_is_doubtful_where_nothing_states_it)
{
    for (int says = 0; says < 2; ++says) {
        take *t = record();
        ck_assert_int_eq(poise_markers_rescale(t->markers, (poise_scale){1.0, POISE_UP_X}, NULL), POISE_OK);
        t->markers->scale.up = says ? POISE_UP_X : POISE_UP_UNKNOWN;
        poise_recording_problem problem = problem_of(t);
        poise_recording_result *r = follow(&problem);
        ck_assert(r->match.from.up == POISE_UP_X);
        ck_assert_int_eq(r->verdict.level, says ? POISE_VERDICT_GOOD : POISE_VERDICT_DOUBTFUL);
        ck_assert_double_eq(r->verdict.worst[POISE_FINDING_LYING], says ? 0 : 1);
        poise_recording_destroy(r);
        forget(t);
    }
}

// A room that leans by 45 degrees, of which no file says where up is.
TEST(an_upward_axis_that_nothing_tells_is_doubtful)
{
    for (int says = 0; says < 2; ++says) {
        take *t = record();
        for (int i = 0; i < FRAMES * t->count; ++i) {
            poise_vec3 p = t->markers->position[i];
            t->markers->position[i] = (poise_vec3){p.x, (p.y - p.z) / sqrt(2.0), (p.y + p.z) / sqrt(2.0)};
        }
        t->markers->scale.up = says ? POISE_UP_Y : POISE_UP_UNKNOWN;
        poise_recording_problem problem = problem_of(t);
        poise_recording_result *r = follow(&problem);
        ck_assert_double_eq(r->verdict.worst[POISE_FINDING_LYING], says ? 0 : 2);
        for (int i = 0; i < r->verdict.count && !says; ++i) {
            char text[256];
            poise_finding_describe(&r->findings[i], text, sizeof text);
            ck_assert(r->findings[i].kind != POISE_FINDING_LYING || strstr(text, "y is taken"));
        }
        poise_recording_destroy(r);
        forget(t);
    }
}

static bool is_one_of(int body, const char *const *bodies, const poise_model *model)
{
    bool is = false;
    for (int i = 0; bodies[i]; ++i) {
        is = is || body == poise_model_find_body(model, bodies[i]);
    }
    return is;
}

// Legs without hips, and a trunk without legs, tell up where nothing states it.
TEST_ROWS(half_a_person_tells_which_way_is_up, 2)
{
    static const char *const parts[2][8] = {
        {"left_thigh", "left_shin", "left_foot", "left_toes", "right_thigh", "right_shin", "right_foot", "right_toes"},
        {"pelvis", "lumbar", "thorax", "head"}};
    const char *bodies[9] = {0};
    memcpy(bodies, parts[test_row], sizeof parts[0]);
    static const char *const hips[] = {"LPSI", "RPSI", "LASI", "RASI"};
    take *t = record();
    for (int i = 0; i < 4; ++i) { // the humanoid's own names of them tell programs nothing
        t->placements[i].label = t->markers->label[i] = hips[i];
    }
    for (int i = 0; i < FRAMES * t->count; ++i) {
        bool is_kept = is_one_of(t->placements[i % t->count].body, bodies, t->model);
        t->markers->position[i] = is_kept ? t->markers->position[i] : (poise_vec3){NAN, NAN, NAN};
    }
    ck_assert_int_eq(poise_markers_rescale(t->markers, (poise_scale){1.0, POISE_UP_Z}, NULL), POISE_OK);
    t->markers->scale.up = POISE_UP_UNKNOWN;
    poise_recording_problem problem = problem_of(t);
    poise_recording_result *r = follow(&problem);
    ck_assert(r->match.up_by_figure && r->match.from.up == POISE_UP_Z);
    ck_assert_double_eq(r->verdict.worst[POISE_FINDING_LYING], 0);
    poise_recording_destroy(r);
    forget(t);
}

TEST(markers_without_places_are_placed_by_name_and_calibrated)
{
    take *t = record();
    poise_recording_problem problem = problem_of(t);
    problem.placement_count = 0;
    poise_recording_result *r = follow(&problem);
    ck_assert(r->calibrated && r->named == r->placement_count && r->named > 20 && r->priors);
    ck_assert_double_le(joints_off(t, r, 0), 0.06);
    ck_assert_int_ne(r->verdict.level, POISE_VERDICT_FAILED);
    poise_recording_destroy(r);
    forget(t);
}

// A skeleton with places of another set of markers, where only those of the knees have the names of this recording, for
// markers that sit elsewhere.
// A given place that nobody measured is free, beside others that are held where they were measured or where names have them.
TEST(a_given_place_without_numbers_is_free)
{
    enum { FREE = 3 };
    take *t = record();
    poise_recording_problem problem = problem_of(t);
    problem.placement_count = t->count - 5;
    t->placements[FREE].local = (poise_vec3){NAN, NAN, NAN};
    poise_recording_result *r = follow(&problem);
    ck_assert(r->calibrated && r->named > 0 && r->given_seen == t->count - 5);
    for (int i = 0; i < r->placement_count; ++i) {
        bool is_free = r->priors[i].along == 0 && r->priors[i].across == 0;
        ck_assert_msg(is_free == (i == FREE), "%s", r->placements[i].label);
    }
    poise_recording_destroy(r);
    forget(t);
}

TEST(places_of_another_marker_set_give_way_to_those_by_name)
{
    take *t = record();
    poise_recording_problem problem = problem_of(t);
    for (int i = 0; i < t->count; ++i) {
        bool is_common = strstr(t->placements[i].label, "knee") != NULL;
        t->placements[i].label = is_common ? t->placements[i].label : "elsewhere";
        t->placements[i].local.y += 0.3;
    }
    poise_recording_result *r = follow(&problem);
    ck_assert(r->given == t->count && r->given_seen == 0 && r->named > 20);
    ck_assert_double_le(joints_off(t, r, 0), 0.06);
    poise_recording_destroy(r);
    forget(t);
}

// The left knee's marker under the right one's name, and the other way round.
TEST(swapped_names_are_not_good_and_the_findings_say_so)
{
    take *t = record();
    int left = poise_markers_find(t->markers, "left_knee"), right = poise_markers_find(t->markers, "right_knee");
    ck_assert(left >= 0 && right >= 0);
    const char *label = t->markers->label[left];
    t->markers->label[left] = t->markers->label[right];
    t->markers->label[right] = label;
    poise_recording_problem problem = problem_of(t);
    problem.placement_count = 0;
    poise_recording_result *r = follow(&problem);
    ck_assert_int_ne(r->verdict.level, POISE_VERDICT_GOOD);
    ck_assert_int_gt(r->verdict.count, 0);
    char text[200];
    poise_finding_describe(&r->findings[0], text, sizeof text);
    ck_assert_int_gt((int)strlen(text), 10);
    poise_recording_destroy(r);
    forget(t);
}

TEST(a_motion_of_another_skeleton_is_followed_by_its_bodies)
{
    take *t = record();
    poise_model *other;
    ck_assert_int_eq(scene_create("humanoid-euler", NULL, &other, NULL), POISE_OK);
    poise_recording_problem problem = problem_of(t);
    problem.model = other;
    problem.markers = NULL;
    problem.placement_count = 0;
    problem.from = t->model;
    problem.clip = t->clip;
    problem.from_scale = problem.scale;
    poise_recording_result *r = follow(&problem);
    ck_assert(r->from_motion && r->retarget.points > 20);
    ck_assert_double_le(joints_off(t, r, 0), 0.05);
    ck_assert_int_eq(r->verdict.level, POISE_VERDICT_GOOD);
    ck_assert(r->verdict.worst[POISE_FINDING_BONES] > 0 && r->verdict.worst[POISE_FINDING_BONES] < 0.05);
    ck_assert_double_eq(r->verdict.worst[POISE_FINDING_GIVEN], 0); // places of another skeleton's joints say little
    poise_recording_destroy(r);
    poise_clip pose = *t->clip; // one frame is a motion, too
    pose.frames = 1;
    problem.clip = &pose, problem.last = 0;
    r = follow(&problem);
    ck_assert(r->verdict.worst[POISE_FINDING_BONES] > 0 && r->verdict.worst[POISE_FINDING_BONES] < 0.05);
    poise_recording_destroy(r);
    poise_model_destroy(other);
    forget(t);
}

// A thigh that hangs at the world, turns about an axis and has a body at its end, with another one on it.
static poise_model *leg_about(poise_vec3 axis, const char *end)
{
    poise_builder *builder = new_builder();
    poise_joint hip = joint_of("left_thigh", NULL, POISE_JOINT_REVOLUTE),
                knee = joint_of(end, "left_thigh", POISE_JOINT_FIXED);
    hip.axis = axis;
    knee.offset.position.y = -0.4;
    add(builder, &hip);
    add(builder, &knee);
    add_plain(builder, "button", end, POISE_JOINT_FIXED);
    return model_of(builder);
}

// A thigh points elsewhere than the one that it follows, about an axis that it does not turn about, by as much as that one
// turns. Of a thigh with something else at its end nothing is known. Labels are those of the frames that were chosen.
TEST(a_bone_that_cannot_follow_is_off_by_as_much_as_the_other_turns)
{
    static const char *const ends[] = {"left_shin", "flag"};
    enum { FIRST = 2, LAST = 5 };
    poise_clip *clip;
    ck_assert_int_eq(poise_clip_create(FRAMES, 1, 0.01, NULL, &clip, NULL), POISE_OK);
    own_clip(clip);
    for (int f = 0; f < FRAMES; ++f) {
        clip->q[f] = 0.4;
    }
    for (int i = 0; i < 2; ++i) {
        poise_recording_problem problem = poise_recording_problem_default();
        problem.from = leg_about((poise_vec3){0, 0, 1}, ends[i]), problem.model = leg_about((poise_vec3){1, 0, 0}, ends[i]);
        problem.clip = clip, problem.first = FIRST, problem.last = LAST;
        problem.scale = problem.from_scale = (poise_scale){1.0, POISE_UP_Y};
        poise_recording_result *r = follow(&problem);
        ck_assert_int_eq(r->clip->frames, LAST - FIRST + 1);
        ck_assert_double_eq_tol(r->verdict.worst[POISE_FINDING_BONES], i == 0 ? 0.4 : 0, 1e-6);
        for (int k = 0; k < r->placement_count; ++k) {
            ck_assert_ptr_eq(r->placements[k].label, r->markers->label[k]);
        }
        poise_recording_destroy(r);
    }
}

// Between the steps a caller may drop places and change weights; the steps together are one call.
TEST(the_two_steps_are_the_one_call)
{
    take *t = record();
    poise_recording_problem problem = problem_of(t);
    poise_recording_result *once = follow(&problem), *twice = NULL;
    ck_assert_int_eq(poise_recording_match(&problem, NULL, &twice, NULL), POISE_OK);
    ck_assert(!twice->clip && twice->placement_count == t->count);
    ck_assert_int_eq(poise_recording_follow(&problem, twice, NULL), POISE_OK);
    size_t size = (size_t)once->clip->frames * (size_t)once->clip->nq * sizeof(double);
    ck_assert_mem_eq(once->clip->q, twice->clip->q, size);
    ck_assert_int_eq(poise_recording_follow(&problem, twice, NULL), POISE_ERROR_ARGUMENT);
    poise_recording_destroy(once);
    poise_recording_destroy(twice);
    forget(t);
}

// ---- What is refused -----------------------------------------------------------------------------------------------------

static void no_frames(poise_recording_problem *p)
{
    p->first = FRAMES;
}

static void no_place(poise_recording_problem *p)
{
    p->only_placements = true;
    p->placement_count = 0;
}

static void no_such_subject(poise_recording_problem *p)
{
    p->subject = "Anna";
}

static void nothing_to_follow(poise_recording_problem *p)
{
    p->markers = NULL;
}

static void bad_labels(poise_recording_problem *p)
{
    p->labels = "LKNE nowhere at all";
}

static void places_unknown(poise_recording_problem *p)
{
    p->placement_count = 0;
    p->fit = POISE_FIT_NONE;
}

static void first_place_unknown(poise_recording_problem *p)
{
    static poise_placement places[64];
    ck_assert(p->placement_count > 0 && p->placement_count <= (int)TEST_COUNT(places));
    memcpy(places, p->placements, (size_t)p->placement_count * sizeof *places);
    places[0].local.y = NAN;
    p->placements = places;
    p->only_placements = true;
    p->fit = POISE_FIT_NONE;
}

static void no_calibration_frames(poise_recording_problem *p)
{
    p->calibration_frames = 0;
}

static void negative_first(poise_recording_problem *p)
{
    p->first = -1;
}

static void no_pairs(poise_recording_problem *p)
{
    p->pair_count = 1;
}

static const struct {
    const char *name;
    void (*spoil)(poise_recording_problem *p);
    poise_status status;
    const char *says;
} refusals[] = {
    {"frames", no_frames, POISE_ERROR_ARGUMENT, "has frames 0 to 23"},
    {"no place", no_place, POISE_ERROR_NOT_FOUND, "none of the 0 placed markers"},
    {"subject", no_such_subject, POISE_ERROR_NOT_FOUND, "Anna"},
    {"nothing", nothing_to_follow, POISE_ERROR_ARGUMENT, "markers"},
    {"labels", bad_labels, POISE_ERROR_FORMAT, ""},
    {"unknown places", places_unknown, POISE_ERROR_UNSUPPORTED, "are unknown"},
    {"first place", first_place_unknown, POISE_ERROR_UNSUPPORTED, "are unknown"},
    {"calibration", no_calibration_frames, POISE_ERROR_ARGUMENT, "calibration_frames"},
    {"first frame", negative_first, POISE_ERROR_ARGUMENT, "negative"},
    {"pairs", no_pairs, POISE_ERROR_ARGUMENT, ""},
};

TEST_ROWS(what_cannot_be_done_is_refused_with_the_reason, TEST_COUNT(refusals))
{
    take *t = record();
    poise_recording_problem problem = problem_of(t);
    poise_recording_result *result = NULL;
    poise_error error = {.text = ""};
    refusals[test_row].spoil(&problem);
    ck_assert_int_eq(poise_track_recording(&problem, NULL, &result, &error), refusals[test_row].status);
    ck_assert_ptr_null(result);
    ck_assert_msg(error.text[0] && strstr(error.text, refusals[test_row].says), "%s: %s", refusals[test_row].name,
                  error.text);
    forget(t);
}
