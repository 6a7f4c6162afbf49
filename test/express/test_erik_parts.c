// The parts of ERIK: chains, the model of a joint, measures, descents.
#include "support/erik_chains.h"
#include "support/test_main.h"

#include "papers/erik/erik.h"
#include "scenes/scenes.h"

#define DEGREE (PZ_PI / 180.0)

// ---- Latitude ------------------------------------------------------------------------------------------------------------

// A link with axis R and segment S, y before it, without limits.
static pz_link link_of(vec3 R, vec3 S)
{
    poise_builder *builder;
    poise_model *model;
    poise_joint joint = poise_joint_default();
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    joint.type = POISE_JOINT_REVOLUTE;
    joint.name = "first";
    joint.axis = v3(0, 1, 0);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    joint.name = "second";
    joint.parent = "first";
    joint.axis = R;
    joint.offset.position = v3(0, 1, 0);
    ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    poise_erik_options options = poise_erik_options_default();
    pz_link links[2];
    pz_chain chain = {.count = 2, .links = links};
    options.tip.position = S;
    ck_assert_int_eq(pz_chain_measure(model, &options, NULL), 2);
    pz_chain_build(model, &options, &chain);
    poise_model_destroy(model);
    return links[1];
}

static vec3 segment_at(const pz_link *link, double angle)
{
    return pz_rotate_about(link->R, sin(angle), cos(angle), link->S);
}

static double hemisphere_of(const pz_link *link, vec3 t)
{
    return v3_dot(t, v3_cross(link->R, v3(0, 1, 0)));
}

// The table of the paper: latitudes of one hemisphere over the angle, in steps.
typedef struct lalut {
    int count;
    double latitude[4096], angle[4096];
} lalut;

static lalut lalut_make(const pz_link *link, double step, double sign)
{
    lalut table = {.count = 0};
    for (double a = 0.0; a <= PZ_PI + 1e-9; a += step) {
        vec3 u = segment_at(link, link->theta0 + sign * a);
        table.latitude[table.count] = 0.5 * (u.y + 1.0);
        table.angle[table.count++] = link->theta0 + sign * a;
    }
    return table;
}

// Linear in the latitude between two entries; latitudes fall along the table.
static double lalut_query(const lalut *table, double latitude)
{
    if (latitude >= table->latitude[0]) {
        return table->angle[0];
    }
    for (int i = 1; i < table->count; ++i) {
        if (latitude >= table->latitude[i]) {
            double share = (latitude - table->latitude[i]) / (table->latitude[i - 1] - table->latitude[i]);
            return table->angle[i] + share * (table->angle[i - 1] - table->angle[i]);
        }
    }
    return table->angle[table->count - 1];
}

static vec3 random_axis(scene_random *random, int round)
{
    static const vec3 plain[4] = {{1, 0, 0}, {0, 0, 1}, {-1, 0, 0}, {0, 0, -1}};
    return round < 4 ? plain[round] : scene_random_direction(random);
}

// The latitude is a cosine of the angle from theta0, scaled. Between two entries a step d apart a line through a cosine is
// off by at most d^2/8 in the cosine, that is d^2/(8 sin x) in the angle, and by less than d/4 where that is no bound, at
// the poles.
TEST(closed_form_latitude_matches_the_table)
{
    scene_random random = scene_random_make(1);
    for (int round = 0; round < 40; ++round) {
        vec3 R = random_axis(&random, round), S = round < 20 ? v3(0, 1, 0) : scene_random_direction(&random);
        pz_link link = link_of(R, S);
        for (int fine = 0; fine < 2; ++fine) {
            double step = fine ? 0.1 * DEGREE : DEGREE;
            lalut tables[2] = {lalut_make(&link, step, 1.0), lalut_make(&link, step, -1.0)};
            for (int i = 0; i < 300; ++i) {
                vec3 t = scene_random_direction(&random);
                double angle[2];
                pz_latitude_angles(&link, t, angle);
                bool is_negative = hemisphere_of(&link, t) < 0.0;
                double looked_up = lalut_query(&tables[is_negative], 0.5 * (t.y + 1.0));
                double x = fabs(angle[0] - link.theta0), away = sin(x) > 5 * step ? step * step / 6.0 / sin(x) : 0.3 * step;
                ck_assert_msg(fabs(looked_up - angle[0]) <= away + 1e-9, "axis (%g %g %g): %g in the table, %g", R.x, R.y,
                              R.z, looked_up, angle[0]);
            }
        }
    }
}

// A rounding in the cosine is amplified by 1/sin at the poles: 1e-8 there, less elsewhere.
TEST(latitude_angles_have_the_latitude_and_the_hemisphere)
{
    scene_random random = scene_random_make(2);
    for (int round = 0; round < 200; ++round) {
        pz_link link = link_of(scene_random_direction(&random), scene_random_direction(&random));
        for (int i = 0; i < 100; ++i) {
            vec3 t = scene_random_direction(&random);
            double angle[2], reachable = clamp(t.y, link.A - link.h, link.A + link.h);
            pz_latitude_angles(&link, t, angle);
            vec3 same = segment_at(&link, angle[0]), other = segment_at(&link, angle[1]);
            ck_assert_double_eq_tol(same.y, reachable, 1e-14);
            ck_assert_double_eq_tol(other.y, reachable, 1e-14);
            double sign = hemisphere_of(&link, t) < 0.0 ? -1.0 : 1.0;
            ck_assert(sign * hemisphere_of(&link, same) >= -1e-14);
            ck_assert(sign * hemisphere_of(&link, other) <= 1e-14);
        }
    }
}

// At the poles acos would lose half of the digits.
TEST(latitude_keeps_its_digits_where_a_joint_is_straight)
{
    pz_link link = link_of(v3(1, 0, 0), v3(0, 1, 0));
    const double angles[] = {1e-3, 1e-6, 1e-9, 1e-12, 0.0};
    for (size_t i = 0; i < TEST_COUNT(angles); ++i) {
        double found[2];
        pz_latitude_angles(&link, segment_at(&link, angles[i]), found);
        ck_assert_double_eq_tol(found[0], angles[i], 4e-16 * angles[i] + 1e-30);
        pz_latitude_angles(&link, segment_at(&link, PZ_PI - angles[i]), found);
        ck_assert_double_eq_tol(found[0], PZ_PI - angles[i], 1e-15);
    }
}

// ---- Limits --------------------------------------------------------------------------------------------------------------

static bool same_turn(double a, double b, double period)
{
    return fabs(remainder(a - b, period)) <= 1e-12 * (1.0 + fabs(a));
}

TEST(limited_angles_are_within_the_limits_and_equal_where_they_can_be)
{
    scene_random random = scene_random_make(3);
    for (int round = 0; round < 20000; ++round) {
        double lower = scene_random_range(&random, -4.0, 4.0), upper = lower + scene_random_range(&random, 0.0, 7.0);
        pz_link link = {.lower = lower, .upper = upper, .center = 0.5 * (lower + upper)};
        double angle = scene_random_range(&random, -20.0, 20.0);
        double swing = pz_limit_angle(&link, angle), twist = pz_limit_twist(&link, angle, true);
        double whole = pz_limit_twist(&link, angle, false), end = pz_limit_end_twist(&link, angle, true);
        double inside = pz_avoid_edge(&link, angle, 0.02);
        ck_assert(swing >= lower && swing <= upper && twist >= lower && twist <= upper && end >= lower && end <= upper);
        ck_assert(whole >= lower && whole <= upper && inside >= fmin(lower, angle) && inside <= fmax(upper, angle));
        ck_assert(inside >= lower && inside <= upper);
        // a turn of the angle fits into 2 pi of limits, half a turn into pi
        if (upper - lower >= PZ_TWO_PI) {
            ck_assert(same_turn(swing, angle, PZ_TWO_PI) && same_turn(whole, angle, PZ_TWO_PI));
        }
        if (upper - lower >= PZ_PI) {
            ck_assert(same_turn(twist, angle, PZ_PI) && same_turn(end, angle, PZ_PI));
        }
    }
}

TEST(angles_at_a_limit_move_in_by_the_disturbance)
{
    pz_link link = {.lower = -1.0, .upper = 2.0, .center = 0.5};
    ck_assert_double_eq_tol(pz_avoid_edge(&link, -1.0, 0.02), -0.98, 1e-15);
    ck_assert_double_eq_tol(pz_avoid_edge(&link, 2.0, 0.02), 1.98, 1e-15);
    ck_assert_double_eq_tol(pz_avoid_edge(&link, 2.7, 0.02), 1.98, 1e-15);
    ck_assert_double_eq(pz_avoid_edge(&link, 1.99, 0.02), 1.99);
    pz_link narrow = {.lower = 0.0, .upper = 0.01, .center = 0.005};
    ck_assert_double_eq(pz_avoid_edge(&narrow, 0.0, 0.02), 0.005);
    pz_link fixed = {.lower = 0.3, .upper = 0.3, .center = 0.3};
    ck_assert_double_eq(pz_avoid_edge(&fixed, 0.3, 0.02), 0.3);
}

// By half turns every angle comes within a quarter of one from the centre, on either side of it.
TEST(a_symmetric_end_twists_by_no_more_than_a_quarter_turn_from_its_centre)
{
    for (int i = -100; i <= 100; ++i) {
        double angle = 0.1 * i + 0.03;
        pz_link link = {.lower = -1.5, .upper = 2.5, .center = 0.5};
        double end = pz_limit_end_twist(&link, angle, true);
        ck_assert_msg(fabs(end - link.center) <= PZ_HALF_PI + 1e-12, "%g became %g", angle, end);
    }
}

// ---- Twists --------------------------------------------------------------------------------------------------------------

static mat3 frame_of(poise_quat q)
{
    return quat_matrix(q);
}

TEST(twist_between_frames_is_yaw_plus_roll)
{
    scene_random random = scene_random_make(4);
    for (int i = 0; i < 2000; ++i) {
        double yaw = scene_random_range(&random, -3.0, 3.0), pitch = scene_random_range(&random, -3.0, 3.0);
        double roll = scene_random_range(&random, -3.0, 3.0);
        poise_quat from = scene_random_rotation(&random);
        poise_quat turn = poise_quat_multiply(poise_quat_from_axis_angle(v3(0, 1, 0), yaw),
                                              poise_quat_from_axis_angle(v3(1, 0, 0), pitch));
        turn = poise_quat_multiply(turn, poise_quat_from_axis_angle(v3(0, 1, 0), roll));
        mat3 a = frame_of(from), b = frame_of(poise_quat_multiply(from, turn));
        ck_assert_msg(same_turn(pz_twist_between(&a, &b), yaw + roll, PZ_TWO_PI), "%g %g %g", yaw, pitch, roll);
    }
}

// Where the y axes agree the twist is the whole of the difference.
TEST(twist_to_a_frame_that_is_turned_about_y_is_that_turn)
{
    scene_random random = scene_random_make(5);
    for (int i = 0; i < 2000; ++i) {
        double turn = scene_random_range(&random, -3.1, 3.1);
        poise_quat from = scene_random_rotation(&random);
        mat3 a = frame_of(from), b = frame_of(poise_quat_multiply(from, poise_quat_from_axis_angle(v3(0, 1, 0), turn)));
        ck_assert_double_eq_tol(pz_twist_to(&a, &b), turn, 1e-14);
    }
}

// The axis of the two that lies farther across the twist's own axis decides, whatever the tilt between the frames.
TEST(twist_goes_by_the_axis_that_is_farther_across)
{
    scene_random random = scene_random_make(10);
    for (int i = 0; i < 2000; ++i) {
        mat3 from = frame_of(scene_random_rotation(&random)), to = frame_of(scene_random_rotation(&random));
        bool by_x = fabs(v3_dot(to.x, from.y)) < fabs(v3_dot(to.z, from.y));
        vec3 own = by_x ? from.x : from.z, other = by_x ? to.x : to.z;
        vec3 across = v3_sub(other, v3_scale(from.y, v3_dot(other, from.y)));
        double size = acos(clamp(v3_dot(own, v3_normalize(across)), -1.0, 1.0));
        double expected = v3_dot(from.y, v3_cross(own, across)) < 0.0 ? -size : size;
        ck_assert_double_eq_tol(pz_twist_to(&from, &to), expected, 1e-7); // acos loses half of the digits at its ends
    }
}

// ---- Chains --------------------------------------------------------------------------------------------------------------

static rig rig_of_chain(poise_model *model)
{
    poise_erik_options options = chain_options(model);
    return rig_of(model, &options);
}

static vec3 point_of(const rig *r, int position)
{
    return position < poise_erik_joints(r->erik).count
               ? poise_kinematics_body_pose(r->kinematics, poise_erik_joints(r->erik).links[position].index).position
               : poise_kinematics_point(r->kinematics, r->options.body, r->options.tip.position);
}

// Rotations along the chain are products of up to 30 matrices.
TEST(frames_of_a_chain_are_those_of_its_model)
{
    scene_random random = scene_random_make(6);
    for (int round = 0; round < 100; ++round) {
        rig r = rig_of_chain(chain_make(&random, round % 4 ? CHAIN_GENERAL : CHAIN_STRAIGHT, 1 + round % CHAIN_MOST));
        double q[CHAIN_MOST] = {0};
        scene_random_configuration(&random, r.model, q);
        pz_chain_set(&r.erik->chain, q, &r.erik->now);
        mat3 end = m3_mul(&r.erik->now.Q[r.nq], &r.erik->chain.E), expected = frame_of(end_rotation(&r, q));
        ck_assert(v3_norm(v3_sub(end.x, expected.x)) + v3_norm(v3_sub(end.y, expected.y)) <= 1e-13);
        for (int k = 0; k < r.nq; ++k) {
            vec3 segment = v3_normalize(v3_sub(point_of(&r, k + 1), point_of(&r, k)));
            ck_assert(v3_norm(v3_sub(r.erik->now.Q[k + 1].y, segment)) <= 1e-13);
            ck_assert(k == 0 || fabs(pz_bend(&r.erik->chain.links[k], r.erik->now.sine[k], r.erik->now.cosine[k]) -
                                     v3_dot(r.erik->now.Q[k].y, r.erik->now.Q[k + 1].y)) <= 1e-13);
        }
    }
}

TEST(skeletons_of_the_paper_are_straight_chains_with_twisters_where_they_turn_about_y)
{
    rig r = rig_of_scene("erik-g"); // Y X Z X Y X Z Y
    const bool is_twister[8] = {true, false, false, false, true, false, false, true};
    ck_assert_int_eq(r.nq, 8);
    for (int k = 0; k < 8; ++k) {
        ck_assert_int_eq(poise_erik_joints(r.erik).links[k].is_twister, is_twister[k]);
        ck_assert_int_eq(poise_erik_joints(r.erik).links[k].index, k);
        ck_assert(r.erik->chain.links[k].C_is_identity && r.erik->chain.links[k].S.y == 1.0);
        ck_assert_int_ne(r.erik->chain.links[k].axis, PZ_AXIS_ANY);
    }
    ck_assert(poise_erik_joints(NULL).count == 0 && poise_erik_joints(NULL).links == NULL);
}

// Up to four hinges "j0", "j1", .. without limits, segments along y.
static poise_model *hinges_about(const vec3 *axes, int count)
{
    static const char *const names[] = {"j0", "j1", "j2", "j3"};
    poise_builder *builder;
    poise_model *model = NULL;
    ck_assert_int_eq(poise_builder_create(NULL, &builder, NULL), POISE_OK);
    for (int i = 0; i < count; ++i) {
        poise_joint joint = poise_joint_default();
        joint.name = names[i];
        joint.parent = i > 0 ? names[i - 1] : NULL;
        joint.type = POISE_JOINT_REVOLUTE;
        joint.axis = axes[i];
        joint.offset.position = v3(0, i > 0 ? 0.3 : 0.0, 0);
        ck_assert_int_eq(poise_builder_add_joint(builder, &joint, NULL), POISE_OK);
    }
    poise_tool tip = {"tip", names[count - 1], (poise_pose){{0, 0, 0, 1}, {0, 0.2, 0}}};
    ck_assert_int_eq(poise_builder_add_tool(builder, &tip, NULL), POISE_OK);
    ck_assert_int_eq(poise_model_create(builder, NULL, &model, NULL), POISE_OK);
    poise_builder_destroy(builder);
    return own_model(model);
}

// ---- Measures ------------------------------------------------------------------------------------------------------------

static poise_erik_report measure(rig *r, const double *posture, poise_quat target, const double *q)
{
    poise_erik_report report;
    ck_assert_int_eq(poise_erik_measure(r->erik, posture, target, q, &report, NULL), POISE_OK);
    return report;
}

// sqrt(2) sin(phi/4), and by half a roll at most a quarter turn of roll is seen.
TEST(orientation_error_has_its_hand_values)
{
    rig r = rig_of_scene("erik-c");
    double q[5] = {0.1, 0.4, -0.7, 0.3, 0.2};
    poise_quat end = end_rotation(&r, q);
    const double angles[] = {0.0, 1e-9, 1e-3, 0.3, 1.2, 1.5};
    for (size_t i = 0; i < TEST_COUNT(angles); ++i) {
        for (int k = 0; k < 3; ++k) {
            poise_quat turn = poise_quat_from_axis_angle(v3(k == 0, k == 1, k == 2), angles[i]);
            poise_erik_report report = measure(&r, q, poise_quat_multiply(end, turn), q);
            ck_assert_double_eq_tol(report.orientation, sqrt(2.0) * sin(angles[i] / 4), 1e-15);
            ck_assert_double_eq_tol(report.angle, angles[i], 1e-15 + 1e-14 * angles[i]);
            ck_assert_double_eq_tol(report.error, report.orientation, 1e-16);
            // half a roll more: the same end, seen from its other side
            turn = poise_quat_multiply(poise_quat_from_axis_angle(v3(0, 1, 0), PZ_PI), turn);
            report = measure(&r, q, poise_quat_multiply(end, turn), q);
            ck_assert_double_eq_tol(report.angle, angles[i], 1e-15 + 1e-14 * angles[i]);
        }
    }
    // without symmetry half a roll is the largest error there is, sqrt(2) sin(pi/4)
    r.options.symmetric_endpoint = false;
    r = rig_of(r.model, &r.options);
    poise_quat half = poise_quat_multiply(end, poise_quat_from_axis_angle(v3(0, 1, 0), PZ_PI));
    ck_assert_double_eq_tol(measure(&r, q, half, q).orientation, 1.0, 1e-15);
    ck_assert_double_eq_tol(measure(&r, q, half, q).angle, PZ_PI, 1e-15);
}

// Skeleton C bends at its joints 2, 3 and 4, which weigh 1 : a : a^2.
TEST(posture_error_has_its_hand_values)
{
    rig r = rig_of_scene("erik-c");
    const double q[5] = {0.5, 0.3, 0.0, -1.0, 0.9}, posture[5] = {0.0, -0.3, PZ_HALF_PI, 0.2, 0.0};
    const double aggravations[] = {0.5, 1.0, 1.5, 2.0, 1e200, 1e-200};
    double bends[3] = {0.0, 0.5, 0.5 * fabs(cos(1.0) - cos(0.2))};
    for (size_t i = 0; i < TEST_COUNT(aggravations); ++i) {
        double a = aggravations[i];
        r.options.aggravation = a;
        r = rig_of(r.model, &r.options);
        poise_erik_report report = measure(&r, posture, end_rotation(&r, q), q);
        double expected = a > 1e100    ? bends[2]
                          : a < 1e-100 ? bends[0]
                                       : (bends[0] + a * bends[1] + a * a * bends[2]) / (1 + a + a * a);
        ck_assert_double_eq_tol(report.posture, expected, 1e-15);
        ck_assert_double_eq_tol(report.error, report.orientation + 0.2 * expected, 1e-15);
    }
}

// A first link that swings bends from where its segment is at rest.
TEST(the_bend_of_the_first_link_counts)
{
    rig r = rig_of_chain(hinges_about((vec3[]){{1, 0, 0}, {1, 0, 0}}, 2));
    const double q[2] = {0.3, 0.5}, posture[2] = {0, 0}, a = r.options.aggravation;
    double expected = (0.5 * (1 - cos(0.3)) + a * 0.5 * (1 - cos(0.5))) / (1 + a);
    ck_assert_double_eq_tol(measure(&r, posture, end_rotation(&r, q), q).posture, expected, 1e-15);
}

TEST(weights_sum_up_to_one_and_what_lies_behind_a_chain_is_left_alone)
{
    rig r = rig_of_chain(hinges_about((vec3[]){{1, 0, 0}, {1, 0, 0}}, 2));
    pz_link links[3] = {[2] = {.weight = 7.0}};
    pz_chain chain = {.count = 2, .links = links};
    pz_chain_build(r.model, &r.options, &chain);
    ck_assert_double_eq_tol(links[0].weight + links[1].weight, 1.0, 1e-15);
    ck_assert_double_eq(links[2].weight, 7.0);
}

// The equations as they are printed: quaternions for (20), positions for (21), with the segments made unit. Chains whose
// segments all have a length.
static void check_measures(const char *name)
{
    scene_random random = scene_random_make(7);
    rig r = rig_of_scene(name);
    for (int round = 0; round < 500; ++round) {
        double q[8], posture[8], weights = 0.0, sum = 0.0, power = 1.0;
        vec3 u[2][8];
        scene_random_configuration(&random, r.model, q);
        scene_random_configuration(&random, r.model, posture);
        poise_quat tau = scene_random_rotation(&random), end = end_rotation(&r, q);
        poise_erik_report report = measure(&r, posture, tau, q);
        for (int side = 0; side < 2; ++side) {
            end_rotation(&r, side ? posture : q);
            for (int k = 0; k < r.nq; ++k) {
                u[side][k] = v3_normalize(v3_sub(point_of(&r, k + 1), point_of(&r, k)));
            }
        }
        for (int k = 1; k < r.nq; ++k) {
            if (!poise_erik_joints(r.erik).links[k].is_twister) {
                double bend = v3_dot(u[0][k - 1], u[0][k]), wanted = v3_dot(u[1][k - 1], u[1][k]);
                sum += power * fabs((1 - (1 + wanted) / 2) - (1 - (1 + bend) / 2));
                weights += power;
                power *= r.options.aggravation;
            }
        }
        poise_quat twin = poise_quat_multiply(end, poise_quat_from_axis_angle(v3(0, 1, 0), PZ_PI));
        double z = 2.0;
        for (int i = 0; i < 4; ++i) {
            poise_quat w = i < 2 ? end : twin;
            double s = i % 2 ? -1.0 : 1.0, x = tau.x - s * w.x, y = tau.y - s * w.y, v = tau.z - s * w.z,
                   c = tau.w - s * w.w;
            z = fmin(z, sqrt((x * x + y * y + v * v + c * c) / 2.0));
        }
        ck_assert_double_eq_tol(report.posture, sum / weights, 1e-14);
        ck_assert_double_eq_tol(report.orientation, z, 1e-14);
    }
}

TEST(measures_agree_with_the_equations_over_positions_and_quaternions)
{
    check_measures("erik-d");
    check_measures("erik-g"); // a twister between swings, which does not count
}

// ---- Descents ------------------------------------------------------------------------------------------------------------

static double miss_of(const poise_erik *erik, const pz_chain_pose *pose)
{
    return 0.5 * (1.0 - v3_dot(pose->Q[erik->chain.count].y, erik->t.y));
}

// Without limits B to G can face any direction.
TEST(bwcd_turns_a_posture_to_any_direction)
{
    const char *const names[] = {"erik-b", "erik-c", "erik-d", "erik-e", "erik-f", "erik-g"};
    for (size_t s = 0; s < TEST_COUNT(names); ++s) {
        scene_random random = scene_random_make(8);
        rig r = rig_of_scene(names[s]);
        int missed = 0;
        for (int round = 0; round < 500; ++round) {
            double q[8];
            scene_random_configuration(&random, r.model, q);
            ck_assert(pz_erik_take(r.erik, q, scene_random_rotation(&random)));
            pz_chain_set(&r.erik->chain, q, &r.erik->warped);
            pz_bwcd_posture(r.erik, &r.erik->warped);
            missed += miss_of(r.erik, &r.erik->warped) > r.options.precision;
            // angles and frames belong together
            pz_chain_set(&r.erik->chain, r.erik->warped.theta, &r.erik->now);
            ck_assert(v3_norm(v3_sub(r.erik->now.Q[r.nq].y, r.erik->warped.Q[r.nq].y)) <= 1e-13);
        }
        ck_assert_msg(missed <= 5, "%s: %d of 500", names[s], missed);
    }
}

// General chains have no twisters, which turn by half a turn more than asked for: every joint goes to the nearest that it
// may.
TEST(descents_within_limits_keep_them_and_never_end_farther_off)
{
    scene_random random = scene_random_make(9);
    for (int round = 0; round < 1000; ++round) {
        bool is_general = round % 2;
        rig r = rig_of_chain(chain_make(&random, is_general ? CHAIN_GENERAL : CHAIN_STRAIGHT, 2 + round % 7));
        pz_chain_pose *now = &r.erik->now;
        double q[CHAIN_MOST];
        scene_random_configuration(&random, r.model, q);
        r.erik->options.avoid_edges = !is_general;
        for (int way = 0; way < 2; ++way) {
            ck_assert(pz_erik_take(r.erik, q, scene_random_rotation(&random)));
            pz_chain_set(&r.erik->chain, q, now);
            double before = miss_of(r.erik, now);
            if (way == 0) {
                pz_bwcd_solution(r.erik, now, NULL);
            } else {
                pz_ccd_solution(r.erik, now);
            }
            ck_assert(poise_model_within_limits(r.model, now->theta));
            ck_assert_msg(!is_general || miss_of(r.erik, now) <= before + 1e-14, "from %g to %g", before,
                          miss_of(r.erik, now));
        }
    }
}

// A sweep depends on nothing but the pose that it begins with, so that two runs of one sweep are one run of two, up to
// rounding of the frames, which a run sets up anew.
TEST(a_descent_takes_as_many_sweeps_as_it_may)
{
    scene_random random = scene_random_make(10);
    for (int round = 0; round < 100; ++round) {
        rig r = rig_of_chain(chain_make(&random, CHAIN_GENERAL, 4));
        pz_chain_pose *now = &r.erik->now;
        double q[CHAIN_MOST], twice[CHAIN_MOST];
        scene_random_configuration(&random, r.model, q);
        ck_assert(pz_erik_take(r.erik, q, scene_random_rotation(&random)));
        r.erik->options.stall = 0.0;
        r.erik->options.precision = 0.0;
        r.erik->options.max_sweeps = 1;
        pz_chain_set(&r.erik->chain, q, now);
        pz_ccd_solution(r.erik, now);
        pz_ccd_solution(r.erik, now);
        memcpy(twice, now->theta, (size_t)r.nq * sizeof *twice);
        r.erik->options.max_sweeps = 2;
        pz_chain_set(&r.erik->chain, q, now);
        pz_ccd_solution(r.erik, now);
        for (int k = 0; k < r.nq; ++k) {
            ck_assert_double_eq_tol(now->theta[k], twice[k], 1e-12);
        }
    }
}

// ---- Positions -----------------------------------------------------------------------------------------------------------

// A twister at the end turns about its own segment: positions say nothing about it, and it stays where the fit began, at
// zero or another multiple of 2^-14.
TEST(a_joint_that_no_position_can_tell_stays_where_the_fit_began)
{
    scene_random random = scene_random_make(13);
    for (int round = 0; round < 100; ++round) {
        rig r = rig_of_chain(chain_make(&random, CHAIN_STRAIGHT, 3 + round % 4));
        poise_erik *e = r.erik;
        double q[CHAIN_MOST], posture[CHAIN_MOST], misfit;
        vec3 positions[CHAIN_MOST + 1] = {{0, 0, 0}};
        for (int k = 0; k < r.nq; ++k) {
            q[k] = scene_random_range(&random, -0.2, 0.2);
        }
        pz_chain_set(&e->chain, q, &e->now);
        for (int k = 0; k < r.nq; ++k) {
            positions[k + 1] = v3_add(positions[k], e->now.Q[k + 1].y);
        }
        ck_assert_int_eq(poise_erik_posture_from_positions(e, positions, r.nq + 1, posture, &misfit, NULL), POISE_OK);
        ck_assert_double_le(misfit, 1e-6);
        ck_assert_double_eq(posture[r.nq - 1], ldexp(rint(ldexp(posture[r.nq - 1], 14)), -14));
    }
}

// ---- Phases --------------------------------------------------------------------------------------------------------------

static double frame_distance(const mat3 *a, const mat3 *b)
{
    return v3_norm(v3_sub(a->x, b->x)) + v3_norm(v3_sub(a->y, b->y)) + v3_norm(v3_sub(a->z, b->z));
}

// The posture warped, and as a candidate as it is.
static void begin_phases(poise_erik *e, const double *q)
{
    pz_chain_set(&e->chain, q, &e->warped);
    pz_chain_set(&e->chain, q, &e->now);
    pz_bwcd_posture(e, &e->warped);
    e->is_empty = false;
}

// Forward, every joint is put where its angle leads to the joint after it; backward, the root is back in its place.
TEST(phases_leave_chains_within_limits)
{
    scene_random random = scene_random_make(11);
    for (int round = 0; round < 500; ++round) {
        rig r = rig_of_chain(chain_make(&random, round % 2 ? CHAIN_GENERAL : CHAIN_STRAIGHT, 2 + round % 9));
        poise_erik *e = r.erik;
        double q[CHAIN_MOST];
        scene_random_configuration(&random, r.model, q);
        ck_assert(pz_erik_take(e, q, scene_random_rotation(&random)));
        begin_phases(e, q);
        pz_forward_phase(e);
        ck_assert(poise_model_within_limits(r.model, e->now.theta));
        for (int k = 0; k < r.nq; ++k) {
            mat3 next = pz_turn(&e->chain.links[k], &e->forward[k], e->now.sine[k], e->now.cosine[k]);
            ck_assert_double_le(frame_distance(&next, &e->forward[k + 1]), 1e-13);
        }
        ck_assert_double_le(v3_norm(v3_sub(e->forward[r.nq - 1].y, e->warped.Q[r.nq - 1].y)), 1e-12);
        pz_backward_phase(e);
        ck_assert(poise_model_within_limits(r.model, e->now.theta));
        ck_assert_double_le(frame_distance(&e->now.Q[0], &e->chain.base), 0.0);
        for (int k = 0; k < r.nq; ++k) {
            mat3 next = pz_turn(&e->chain.links[k], &e->now.Q[k], e->now.sine[k], e->now.cosine[k]);
            ck_assert_double_le(frame_distance(&next, &e->now.Q[k + 1]), 1e-13);
        }
    }
}

// A twister and the swing below it reach every direction that the swing's limits allow, and D's allow all.
TEST(a_swing_below_a_twister_points_where_the_forward_phase_had_it)
{
    scene_random random = scene_random_make(12);
    rig r = rig_of_scene("erik-d");
    poise_erik *e = r.erik;
    for (int round = 0; round < 1000; ++round) {
        double q[5];
        scene_random_configuration(&random, r.model, q);
        ck_assert(pz_erik_take(e, q, scene_random_rotation(&random)));
        begin_phases(e, q);
        // the root of the forward phase is off its place: turn all it left, so that the root has to follow
        pz_forward_phase(e);
        mat3 away = frame_of(scene_random_rotation(&random));
        for (int k = 0; k <= r.nq; ++k) {
            e->forward[k] = m3_mul(&away, &e->forward[k]);
        }
        pz_backward_phase(e);
        ck_assert_double_le(v3_norm(v3_sub(e->now.Q[2].y, e->forward[2].y)), 1e-12);
    }
}

// The last swing has no link after it to be put for: it points where the target does.
TEST(a_last_swing_below_a_twister_points_where_the_target_does)
{
    scene_random random = scene_random_make(16);
    rig r = rig_of_chain(hinges_about((vec3[]){{0, 1, 0}, {1, 0, 0}}, 2));
    for (int round = 0; round < 100; ++round) {
        double q[2];
        scene_random_configuration(&random, r.model, q);
        ck_assert(pz_erik_take(r.erik, q, scene_random_rotation(&random)));
        begin_phases(r.erik, q);
        pz_forward_phase(r.erik);
        pz_backward_phase(r.erik);
        ck_assert_double_le(v3_norm(v3_sub(r.erik->now.Q[2].y, r.erik->t.y)), 1e-12);
    }
}

// A twister, a swing about an axis askew to both, and two more.
static poise_model *askew_chain(scene_random *random)
{
    return hinges_about((vec3[]){{0, 1, 0}, scene_random_direction(random), {1, 0, 0}, {0, 1, 0}}, 4);
}

// Where the swing can have the latitude that is asked for, the twister turns it to the place. The twister turns by less than
// a quarter turn, after which the swing's other side may be nearer: one in a hundred may miss.
TEST(a_twister_turns_the_swing_below_it_whose_axis_is_askew)
{
    scene_random random = scene_random_make(14);
    int met = 0, can = 0;
    for (int round = 0; round < 1000; ++round) {
        rig r = rig_of_chain(askew_chain(&random));
        poise_erik *e = r.erik;
        const pz_link *swing = &e->chain.links[1];
        double q[4], lever = sqrt(swing->B * swing->B + swing->C_sine * swing->C_sine);
        scene_random_configuration(&random, r.model, q);
        ck_assert(pz_erik_take(e, q, scene_random_rotation(&random)));
        begin_phases(e, q);
        pz_forward_phase(e);
        mat3 away = frame_of(scene_random_rotation(&random));
        for (int k = 0; k <= r.nq; ++k) {
            e->forward[k] = m3_mul(&away, &e->forward[k]);
        }
        pz_backward_phase(e);
        bool is_within = fabs(v3_dot(e->chain.base.y, e->forward[2].y) - swing->A) < lever;
        can += is_within;
        met += is_within && v3_norm(v3_sub(e->now.Q[2].y, e->forward[2].y)) <= 1e-9;
    }
    ck_assert_int_gt(can, 500);
    ck_assert_int_ge(100 * met, 99 * can);
}

// The first link has no parent, whatever lies before it in memory: here a twister.
TEST(the_first_link_turns_no_parent)
{
    scene_random random = scene_random_make(15);
    for (int round = 0; round < 100; ++round) {
        rig r = rig_of_chain(chain_make(&random, CHAIN_GENERAL, 4));
        poise_erik *e = r.erik;
        double q[CHAIN_MOST], angles[2][CHAIN_MOST];
        pz_link moved[CHAIN_MOST + 1], *own = e->chain.links;
        memcpy(moved + 1, own, (size_t)r.nq * sizeof *own);
        moved[0] = own[0];
        moved[0].kind = PZ_LINK_TWISTER;
        scene_random_configuration(&random, r.model, q);
        ck_assert(pz_erik_take(e, q, scene_random_rotation(&random)));
        for (int i = 0; i < 2; ++i) {
            e->chain.links = i == 0 ? own : moved + 1;
            begin_phases(e, q);
            pz_forward_phase(e);
            pz_backward_phase(e);
            memcpy(angles[i], e->now.theta, (size_t)r.nq * sizeof(double));
        }
        e->chain.links = own;
        ck_assert_mem_eq(angles[0], angles[1], (size_t)r.nq * sizeof(double));
    }
}
