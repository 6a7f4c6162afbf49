// Changes to files: the figure stays where it is when its joints, units, axes, rate or frames change.
#include "support/test_main.h"

#include <app/cli/load.h>

#include <math.h>
#include <string.h>

static bool edited(poise_file *file, poise_edit edit, poise_error *error)
{
    return poise_file_edit(file, &edit, NULL, error) == POISE_OK;
}

// Where every body is, in every frame.
typedef struct places {
    int frames, bodies;
    poise_pose *pose;
} places;

static places places_of(const poise_file *file)
{
    places p = {.frames = file->clip->frames, .bodies = poise_model_info(file->model).joints};
    poise_kinematics *kinematics = NULL;
    p.pose = calloc((size_t)(p.frames * p.bodies), sizeof *p.pose);
    ck_assert(p.pose && poise_kinematics_create(file->model, NULL, &kinematics, NULL) == POISE_OK);
    for (int f = 0; f < p.frames; ++f) {
        ck_assert_int_eq(poise_kinematics_update(kinematics, file->clip->q + f * file->clip->nq, NULL), POISE_OK);
        for (int k = 0; k < p.bodies; ++k) {
            p.pose[f * p.bodies + k] = poise_kinematics_body_pose(kinematics, k);
        }
    }
    poise_kinematics_destroy(kinematics);
    return p;
}

static double distance(poise_vec3 a, poise_vec3 b)
{
    return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

// The largest difference of place and of angle between `a`, scaled and turned, and `b`.
static void compare(const places *a, const places *b, double factor, poise_quat turn, double *place, double *angle)
{
    ck_assert_int_eq(a->frames, b->frames);
    ck_assert_int_eq(a->bodies, b->bodies);
    *place = *angle = 0;
    for (int i = 0; i < a->frames * a->bodies; ++i) {
        poise_vec3 p = poise_quat_rotate(turn, a->pose[i].position);
        p = poise_vec3_make(p.x * factor, p.y * factor, p.z * factor);
        poise_quat r = poise_quat_multiply(turn, a->pose[i].rotation);
        *place = fmax(*place, distance(p, b->pose[i].position));
        *angle = fmax(*angle, poise_quat_angle(poise_quat_multiply(poise_quat_conjugate(r), b->pose[i].rotation)));
    }
}

TEST(bodies_stay_where_they_are_when_joints_become_euler_angles)
{
    static const char *const scenes[] = {"humanoid/cartwheel", "humanoid-quaternion/kick"};
    for (size_t i = 0; i < TEST_COUNT(scenes); ++i) {
        poise_file *file = load_scene(scenes[i]);
        ck_assert(file != NULL);
        places before = places_of(file);
        int count = 0;
        const poise_edit edit = {.euler = true};
        ck_assert_int_eq(poise_file_edit(file, &edit, &count, NULL), POISE_OK);
        ck_assert_int_gt(count, 5);
        places after = places_of(file);
        double place, angle;
        compare(&before, &after, 1, poise_pose_identity().rotation, &place, &angle);
        ck_assert_double_le(place, 1e-12); // 12 joints deep, bones below a metre, angles good to 1e-14 away from b = pi/2
        ck_assert_double_le(angle, 1e-12);
        ck_assert(poise_file_edit(file, &edit, &count, NULL) == POISE_OK && count == 0);
        free(before.pose);
        free(after.pose);
        poise_file_destroy(file);
    }
}

// A cartwheel goes once around and back: angles follow, and never leap by the turn that one rotation could be written with.
TEST(euler_angles_go_on_without_leaps)
{
    poise_file *file = load_scene("humanoid/cartwheel");
    ck_assert(file && edited(file, (poise_edit){.euler = true}, NULL));
    for (int f = 1; f < file->clip->frames; ++f) {
        const double *q = file->clip->q + f * file->clip->nq;
        for (int i = 0; i < file->clip->nq; ++i) {
            ck_assert_msg(fabs(q[i] - q[i - file->clip->nq]) < 2, "frame %d, number %d: %g after %g", f, i, q[i],
                          q[i - file->clip->nq]);
        }
    }
    poise_file_destroy(file);
}

TEST(other_units_and_another_axis_move_the_figure_as_a_whole)
{
    poise_file *file = load_scene("humanoid/walk");
    ck_assert(file != NULL);
    places before = places_of(file);
    poise_vec3 marker = file->markers->position[0], local = file->placements[0].local;
    poise_scale wanted = {.metres = 0.01, .up = POISE_UP_Z};
    ck_assert(edited(file, (poise_edit){.scale = wanted}, NULL));
    places after = places_of(file);
    double place, angle;
    compare(&before, &after, 100, (poise_quat){0.5, 0.5, 0.5, 0.5}, &place, &angle);
    ck_assert_double_le(place, 1e-11); // 200 units, some roundings each
    ck_assert_double_le(angle, 1e-13);
    poise_vec3 cycled = {100 * marker.z, 100 * marker.x, 100 * marker.y};
    ck_assert_double_le(distance(cycled, file->markers->position[0]), 1e-11);
    ck_assert_double_le(distance(poise_vec3_make(100 * local.x, 100 * local.y, 100 * local.z), file->placements[0].local),
                        1e-11);
    ck_assert(file->scale.metres == 0.01 && file->scale.up == POISE_UP_Z);
    free(before.pose);
    free(after.pose);
    poise_file_destroy(file);
}

TEST(slides_their_limits_and_followers_go_with_the_unit)
{
    poise_file *file = load_scene("scara");
    ck_assert(file != NULL);
    poise_scale wanted = {.metres = 0.001};
    int lift = poise_model_find_joint(file->model, "lift");
    int i = poise_model_joint_info(file->model, lift).q;
    double lower = poise_model_info(file->model).lower[i];
    ck_assert(edited(file, (poise_edit){.scale = wanted}, NULL));
    ck_assert_double_eq_tol(poise_model_info(file->model).lower[i], 1000 * lower, 1e-12);
    poise_coordinate c = poise_model_coordinate(file->model, i);
    ck_assert(c.joint == lift && c.place == 0 && c.unit == POISE_UNIT_LENGTH);
    poise_file_destroy(file);
}

TEST(every_number_of_a_configuration_finds_its_joint)
{
    static const char *const scenes[] = {"hand", "humanoid", "humanoid-quaternion", "gantry"};
    for (size_t s = 0; s < TEST_COUNT(scenes); ++s) {
        poise_file *file = load_scene(scenes[s]);
        for (int k = 0; k < poise_model_info(file->model).joints; ++k) {
            int first = poise_model_joint_info(file->model, k).q, count = poise_model_joint_info(file->model, k).nq;
            for (int i = 0; i < count; ++i) {
                poise_coordinate c = poise_model_coordinate(file->model, first + i);
                ck_assert(c.joint == k && c.place == i);
                ck_assert_str_eq(c.name, poise_joint_coordinate(poise_model_joint_info(file->model, k).given, i).name);
            }
        }
        ck_assert_int_eq(poise_model_coordinate(file->model, poise_model_info(file->model).nq).joint, POISE_NONE);
        poise_file_destroy(file);
    }
}

TEST(frames_that_are_not_there_and_scales_that_are_not_known_are_refused)
{
    poise_error error;
    poise_file *file = load_scene("humanoid/walk");
    ck_assert(!edited(file, (poise_edit){.count = file->clip->frames + 1}, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "has frames 0 to 131, so frame 132 is beyond its end"));
    ck_assert(!edited(file, (poise_edit){.first = 50, .count = -30}, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "frames 50 to 20"));
    ck_assert(!edited(file, (poise_edit){.rate = NAN}, &error));
    file->scale = file->markers->scale = (poise_scale){0};
    ck_assert(!edited(file, (poise_edit){.scale = {.metres = 0.01}}, &error) && error.status == POISE_ERROR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "unit"));
    ck_assert(!edited(file, (poise_edit){.scale = {.up = POISE_UP_Z}}, &error) && error.status == POISE_ERROR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.text, "axis"));
    ck_assert(edited(file, (poise_edit){0}, &error));
    ck_assert(edited(file, (poise_edit){.first = 10, .count = 11}, &error));
    ck_assert(file->clip->frames == 11 && file->markers->frames == 11);
    ck_assert(edited(file, (poise_edit){.rate = 12}, &error) && file->clip->frames == 2 && file->markers->frames == 2);
    poise_file_destroy(file);
}

// glTF is in metres with y up. What a file does not say of its own unit and axis is taken from the figure in it, and said.
TEST(a_file_that_says_nothing_of_its_size_becomes_a_person_in_gltf)
{
    static const poise_scale scales[] = {
        {1, POISE_UP_Y}, {0.01, POISE_UP_Z}, {0.0254, POISE_UP_X}, {0.0254 / 0.45, POISE_UP_Y}};
    static const char *const said[] = {"metres, y up", "centimetres, z up", "inches, x up", "units of 0.0564444 m, y up"};
    poise_file *original = load_scene("humanoid/walk");
    places before = places_of(original);
    for (int i = 0; i < 4; ++i) {
        poise_file *file = load_scene("humanoid/walk"), *again = NULL;
        ck_assert(edited(file, (poise_edit){.scale = scales[i]}, NULL));
        file->scale = (poise_scale){0};
        void *bytes;
        size_t size;
        poise_warning warnings[4];
        int count = 4;
        ck_assert_int_eq(poise_write(file, POISE_FORMAT_GLB, NULL, &bytes, &size, warnings, &count, NULL), POISE_OK);
        bool is_said = false;
        for (int k = 0; k < count && k < 4; ++k) {
            is_said = is_said || (strstr(warnings[k].text, said[i]) && strstr(warnings[k].text, "from the figure"));
        }
        ck_assert_msg(is_said, "%s: %s", said[i], warnings[0].text);
        ck_assert_int_eq(poise_read(bytes, size, NULL, NULL, &again, NULL), POISE_OK);
        places after = places_of(again);
        double place, angle;
        compare(&before, &after, 1, poise_pose_identity().rotation, &place, &angle);
        ck_assert_msg(place < 1e-5 && angle < 1e-5, "%s: off by %g m and %g rad", said[i], place, angle);
        free(after.pose);
        poise_bytes_release(NULL, bytes);
        poise_file_destroy(again);
        poise_file_destroy(file);
    }
    free(before.pose);
    poise_file_destroy(original);
}
