// The pictures of `poise demo`.
#include "demo.h"

#include "cli/save_picture.h"

#include <math.h>
#include <string.h>

static const poise_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

static const char *const ground = "#cfd6dd", *const amber = "#e8a33d", *const red = "#d1495b", *const steel = "#56606c";

enum { CARTWHEEL_POSES = 7, WALK_POSES = 8 };

static poise_vec3 between(poise_vec3 a, poise_vec3 b, double share)
{
    return poise_vec3_make(a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z));
}

// ---- Body ----------------------------------------------------------------------------------------------------------------

// Left, right and middle of the body in tones of their own.
static const char *body_color(const char *name)
{
    return strncmp(name, "left_", 5) == 0 ? "#5aa7a7" : strncmp(name, "right_", 6) == 0 ? "#8e8cc4" : "#6f8296";
}

// A bone is as thick as a cylinder of water of its mass would be, drawn leaner.
static double bone_radius(const poise_model *model, int k, double length)
{
    return fmin(0.7 * sqrt(poise_model_joint_info(model, k).given->mass / (1000 * PI * fmax(length, 0.06))), 0.07);
}

static double distance(poise_vec3 a, poise_vec3 b)
{
    return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

// A bone from each joint to the joints on it; where there are none, to the far side of the centre of mass.
static void draw_body(picture *p, const poise_model *model, const poise_kinematics *kinematics)
{
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        const char *name = poise_model_joint_info(model, k).body, *color = body_color(name);
        poise_vec3 from = poise_kinematics_body_pose(kinematics, k).position;
        poise_vec3 center = poise_kinematics_point(kinematics, k, poise_model_joint_info(model, k).given->mass_center);
        int end = k + poise_model_joint_info(model, k).subtree;
        for (int child = k + 1; child < end; ++child) {
            if (poise_model_joint_info(model, child).parent == k) {
                poise_vec3 to = poise_kinematics_body_pose(kinematics, child).position;
                double radius = bone_radius(model, k, distance(from, to));
                picture_limb(p, from, radius, to, 0.6 * radius, color);
            }
        }
        if (strcmp(name, "head") == 0) {
            picture_limb(p, between(from, center, 0.8), 0.08, between(from, center, 1.4), 0.085, color);
        } else if (end == k + 1) {
            double radius = bone_radius(model, k, distance(from, center));
            picture_limb(p, from, radius, between(from, center, 1.6), 0.6 * radius, color);
        }
    }
}

static void draw_markers(picture *p, const demo_clip *c, int frame)
{
    const poise_markers *seen = c->r.made->markers, *truth = c->clean->markers;
    picture_next_figure(p);
    for (int i = 0; i < seen->count; ++i) {
        size_t at = (size_t)frame * (size_t)seen->count + (size_t)i;
        if (!poise_markers_seen(seen, frame, i)) {
            picture_ring(p, truth->position[at], 2.6, PALE_INK);
        } else if (distance(seen->position[at], truth->position[at]) > 0.05) { // far beyond the noise
            picture_dot(p, seen->position[at], 4, red);
        } else {
            picture_dot(p, seen->position[at], 2.8, amber);
        }
    }
    picture_next_figure(p);
}

// Where the body of `frame` is along x.
static double travel(const demo_clip *c, int frame)
{
    return c->r.made->clip->q[(size_t)frame * (size_t)c->r.made->clip->nq];
}

static void draw_frame(picture *p, poise_kinematics *kinematics, const demo_clip *c, int frame)
{
    poise_kinematics_update(kinematics, c->r.made->clip->q + (size_t)frame * (size_t)c->r.made->clip->nq, NULL);
    draw_body(p, c->r.made->model, kinematics);
    draw_markers(p, c, frame);
}

static void write_time(picture *p, double x, double y, int frame, double rate)
{
    char text[32];
    snprintf(text, sizeof text, "%.2f s", frame / rate);
    picture_text(p, x, y, 12, PICTURE_MIDDLE, PALE_INK, text);
}

// The way there, which is the first half, at equal distances: the pelvis is where it has gone that share of the way.
static void draw_cartwheel(picture *p, poise_kinematics *kinematics, const demo_clip *c)
{
    picture_view view = picture_look(poise_vec3_make(0, 0.12, 1), Y);
    int half = c->r.made->clip->frames / 2;
    double far = travel(c, half);
    view.scale = 150;
    view.x = 600 - view.scale * 0.5 * far;
    view.y = 395;
    picture_set_view(p, &view);
    picture_page_line(p, 30, view.y, 1170, view.y, 1.5, ground);
    for (int i = 0, frame = 0; i < CARTWHEEL_POSES; ++i) {
        double share = (double)i / (CARTWHEEL_POSES - 1);
        while (frame < half && travel(c, frame) < share * far) {
            ++frame;
        }
        draw_frame(p, kinematics, c, frame);
        write_time(p, view.x + view.scale * travel(c, frame), view.y + 24, frame, c->r.made->markers->rate);
    }
}

// One stride on the spot, pose beside pose, from the right and a little from the front.
static void draw_walk(picture *p, poise_kinematics *kinematics, const demo_clip *c)
{
    picture_view view = picture_look(poise_vec3_make(-1, 0.12, 0.3), Y);
    view.scale = 150;
    view.y = 735;
    picture_page_line(p, 30, view.y, 1170, view.y, 1.5, ground);
    for (int i = 0; i < WALK_POSES; ++i) {
        int frame = i * (c->r.made->clip->frames - 1) / (WALK_POSES - 1);
        view.x = 100 + 1000.0 * i / (WALK_POSES - 1);
        picture_set_view(p, &view);
        draw_frame(p, kinematics, c, frame);
        write_time(p, view.x, view.y + 24, frame, c->r.made->markers->rate);
    }
}

bool draw_tracking(const demo_clip *cartwheel, const demo_clip *walk, const char *path)
{
    poise_kinematics *kinematics;
    picture *p = begin_picture(1200, 815, "Track: a body of 58 degrees of freedom follows 41 markers",
                               "A cartwheel and a stride, from recordings with noise, gaps and swapped labels.",
                               cartwheel->r.made->model, &kinematics);
    draw_cartwheel(p, kinematics, cartwheel);
    draw_walk(p, kinematics, walk);
    picture_page_dot(p, 40, 791, 2.8, amber);
    picture_text(p, 50, 795, 12, PICTURE_LEFT, PALE_INK, "marker, 3 mm noise");
    picture_page_ring(p, 190, 791, 2.6, PALE_INK);
    picture_text(p, 200, 795, 12, PICTURE_LEFT, PALE_INK, "missing: where it would be");
    picture_page_dot(p, 390, 791, 4, red);
    picture_text(p, 400, 795, 12, PICTURE_LEFT, PALE_INK, "label on the wrong knee");
    return save_picture(p, kinematics, path);
}

// ---- Lamp ----------------------------------------------------------------------------------------------------------------

enum { LAMPS = 8, COLUMNS = 4 };

static const char *const tones[LAMPS] = {"#4f6d94", "#5b8aa6", "#6aa5a8", "#86b596",
                                         "#b3b878", "#d3a96a", "#cf8b6f", "#a9748c"};

// The beam that falls from the shade on the target.
static void draw_beam(picture *p, poise_vec3 light, poise_vec3 target)
{
    picture_cone(p, between(light, target, 0.01), 0.05, target, 0.028, "#f3c14b55");
    picture_disc(p, target, Y, 0.03, "#f6cf74");
}

static void draw_lamp_pose(picture *p, const poise_model *model, const poise_kinematics *kinematics, poise_vec3 target,
                           const char *color)
{
    const poise_vec3 bottom = {0, 0, 0}, top = {0, 0.02, 0}, pivot = {0, 0.07, 0};
    poise_vec3 at[7];
    for (int k = 0; k < 6; ++k) {
        at[k] = poise_kinematics_body_pose(kinematics, k).position;
    }
    at[6] = poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "light")).position;
    picture_cone(p, bottom, 0.09, top, 0.085, steel);
    picture_cone(p, top, 0.085, between(top, pivot, 0.01), 0.085, "#687483");
    picture_limb(p, top, 0.02, pivot, 0.016, steel);
    picture_limb(p, at[1], 0.013, at[2], 0.011, color);
    picture_limb(p, at[2], 0.015, at[3], 0.010, color);
    picture_limb(p, at[3], 0.013, at[5], 0.013, color);
    picture_cone(p, at[5], 0.022, at[6], 0.058, color);
    picture_cone(p, at[6], 0.05, between(at[6], target, 0.02), 0.05, "#fdf0d0");
    draw_beam(p, at[6], target);
}

// Pose beside pose, each with the whole circle.
bool draw_lamp(const demo_lamp *lamp, const char *path)
{
    poise_kinematics *kinematics;
    picture *p = begin_picture(1200, 645, "Aim: a lamp lights its way round a circle and holds a posture",
                               "Eight of 360 steps. The light meets its target exactly; the posture decides all the rest.",
                               lamp->model, &kinematics);
    for (int i = 0; i < LAMPS; ++i) {
        int step = i * DEMO_STEPS / LAMPS;
        char angle[32];
        picture_view view = picture_look(poise_vec3_make(-0.75, 0.5, 0.43), Y);
        view.scale = 350;
        view.x = 78 + 290 * (i % COLUMNS);
        view.y = 245 + 265 * (i / COLUMNS);
        picture_set_view(p, &view);
        picture_next_figure(p);
        picture_disc(p, lamp->center, Y, lamp->radius, "#f5f3ee");
        picture_circle(p, lamp->center, Y, lamp->radius, 1.5, ground);
        poise_kinematics_update(kinematics, lamp->clip->q + step * LAMP_NQ, NULL);
        draw_lamp_pose(p, lamp->model, kinematics, lamp->target[step], tones[i]);
        snprintf(angle, sizeof angle, "%d degrees", step);
        double x, y;
        picture_project(p, lamp->center, &x, &y);
        picture_text(p, x, y + 78, 12, PICTURE_MIDDLE, PALE_INK, angle);
    }
    return save_picture(p, kinematics, path);
}

// ---- Arm -----------------------------------------------------------------------------------------------------------------

static void draw_triad(picture *p, poise_pose pose)
{
    static const char *const colors[3] = {"#d1495b", "#5a9e6f", "#4c6fa5"};
    const poise_vec3 axes[3] = {X, Y, Z};
    for (int i = 0; i < 3; ++i) {
        poise_vec3 d = axes[i], end = {0.09 * d.x, 0.09 * d.y, 0.09 * d.z};
        picture_line(p, PICTURE_SCENE, pose.position, poise_pose_transform(pose, end), 2.5, colors[i], NULL);
    }
}

static void draw_arm_pose(picture *p, const poise_model *model, const poise_kinematics *kinematics, const char *color)
{
    static const double radius[ARM_NQ + 1] = {0.042, 0.04, 0.037, 0.034, 0.031, 0.027, 0.023, 0.014};
    poise_vec3 from = poise_kinematics_body_pose(kinematics, 1).position; // what is below stands still
    for (int k = 2; k <= ARM_NQ; ++k) {
        poise_vec3 to = k < ARM_NQ ? poise_kinematics_body_pose(kinematics, k).position
                                   : poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "tip")).position;
        picture_limb(p, from, radius[k - 1], to, radius[k], color);
        from = to;
    }
}

static void draw_arm_base(picture *p)
{
    poise_vec3 floor = {0, 0, 0}, plate = {0, 0, 0.02}, top = {0, 0, 0.27};
    picture_disc(p, floor, Z, 0.6, "#f5f3ee");
    picture_circle(p, floor, Z, 0.6, 1.5, ground);
    picture_cone(p, floor, 0.1, plate, 0.1, steel);
    picture_cone(p, plate, 0.06, top, 0.045, steel);
}

// Stays the whole arm above the desk?
static bool is_clear(const poise_kinematics *kinematics, const poise_model *model)
{
    double lowest = poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "tip")).position.z;
    for (int k = 0; k < ARM_NQ; ++k) {
        lowest = fmin(lowest, poise_kinematics_body_pose(kinematics, k).position.z);
    }
    return lowest > 0.1;
}

// Is the hand far enough from those of the arms drawn before?
static bool is_apart(const demo_arm *r, int i, const int *chosen, int count)
{
    bool apart = true;
    for (int k = 0; k < count; ++k) {
        apart = apart && distance(r->target[i].position, r->target[chosen[k]].position) > 0.45;
    }
    return apart;
}

static void draw_some_reaches(picture *p, poise_kinematics *kinematics, const demo_arm *r)
{
    int chosen[DEMO_WAYS];
    draw_arm_base(p);
    for (int i = 0, count = 0; i < DEMO_REACHES && count < DEMO_WAYS; ++i) {
        poise_kinematics_update(kinematics, r->q[i], NULL);
        if (r->reached[i] && is_clear(kinematics, r->model) && is_apart(r, i, chosen, count)) {
            draw_arm_pose(p, r->model, kinematics, tones[count]);
            draw_triad(p, r->target[i]);
            chosen[count++] = i;
        }
    }
}

static void draw_ways(picture *p, poise_kinematics *kinematics, const demo_arm *r)
{
    draw_arm_base(p);
    for (int w = 0; w < r->ways; ++w) {
        poise_kinematics_update(kinematics, r->way[w], NULL);
        draw_arm_pose(p, r->model, kinematics, tones[w]);
    }
    draw_triad(p, r->one);
}

bool draw_arm(const demo_arm *arm, const char *path)
{
    poise_kinematics *kinematics;
    picture *p = begin_picture(1100, 640, "Reach: an arm of seven joints puts its hand at a pose",
                               "Position and rotation, within limits; the triads are the targets.", arm->model, &kinematics);
    picture_view view = picture_look(poise_vec3_make(0.5, -0.9, 0.42), Z);
    view.scale = 350;
    view.x = 290;
    view.y = 495;
    picture_set_view(p, &view);
    draw_some_reaches(p, kinematics, arm);
    picture_text(p, view.x, 615, 13, PICTURE_MIDDLE, PALE_INK, "six of a thousand poses");
    view.x = 800;
    view.scale = 390;
    view.y = 498;
    picture_set_view(p, &view);
    draw_ways(p, kinematics, arm);
    picture_text(p, view.x, 615, 13, PICTURE_MIDDLE, PALE_INK, "one pose in six ways");
    return save_picture(p, kinematics, path);
}
