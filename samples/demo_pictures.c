// The pictures of the demonstration.
#include "demo.h"
#include "picture.h"

#include <math.h>
#include <string.h>

static const poise_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

static const char *const ink = "#2f3b4a", *const pale_ink = "#7b8794", *const ground = "#cfd6dd", *const amber = "#e8a33d",
                         *const red = "#d1495b", *const steel = "#56606c";

enum { CARTWHEEL_POSES = 7, WALK_POSES = 9 };

static poise_vec3 between(poise_vec3 a, poise_vec3 b, double share)
{
    return poise_vec3_make(a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z));
}

// A page with its title, and kinematics for what will be drawn on it; NULL when there is no memory.
static picture *begin(int width, int height, const char *title, const char *caption, const poise_model *model,
                      poise_kinematics **kinematics)
{
    picture *p = picture_create(width, height);
    if (!p || poise_kinematics_create(model, NULL, kinematics) != POISE_OK) {
        picture_destroy(p);
        return NULL;
    }
    picture_text(p, 30, 40, 20, PICTURE_LEFT, ink, title);
    picture_text(p, 30, 62, 13, PICTURE_LEFT, pale_ink, caption);
    return p;
}

static bool save(picture *p, poise_kinematics *kinematics, const char *folder, const char *name)
{
    output out;
    bool good = p && picture_is_whole(p);
    if (!good) {
        fprintf(stderr, "demo: no memory for the picture %s\n", name);
    } else if ((good = output_open(&out, folder, name))) {
        picture_write(p, out.file);
        good = output_close(&out);
    }
    picture_destroy(p);
    poise_kinematics_destroy(kinematics);
    return good;
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
    return fmin(0.7 * sqrt(poise_model_joint(model, k).mass / (1000 * PI * fmax(length, 0.06))), 0.07);
}

static double distance(poise_vec3 a, poise_vec3 b)
{
    return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

// A bone from each joint to the joints on it; where there are none, to the far side of the centre of mass.
static void draw_body(picture *p, const poise_model *model, const poise_kinematics *kinematics)
{
    for (int k = 0; k < poise_model_joint_count(model); ++k) {
        const char *name = poise_model_body_name(model, k), *color = body_color(name);
        poise_vec3 from = poise_kinematics_body_pose(kinematics, k).position;
        poise_vec3 center = poise_kinematics_point(kinematics, k, poise_model_joint(model, k).mass_center);
        int end = k + poise_model_subtree(model, k);
        for (int child = k + 1; child < end; ++child) {
            if (poise_model_parent(model, child) == k) {
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

static void draw_markers(picture *p, const clip *c, int frame)
{
    picture_next_figure(p);
    for (int i = 0; i < MARKERS; ++i) {
        switch (c->sight[frame][i]) {
        case SEEN:
            picture_dot(p, c->seen[frame][i], 2.8, amber);
            break;
        case SWAPPED:
            picture_dot(p, c->seen[frame][i], 4, red);
            break;
        default:
            picture_ring(p, c->truth[frame][i], 2.6, pale_ink);
        }
    }
    picture_next_figure(p);
}

static void draw_frame(picture *p, const poise_model *model, poise_kinematics *kinematics, const clip *c, int frame)
{
    poise_kinematics_update(kinematics, c->q[frame]);
    draw_body(p, model, kinematics);
    draw_markers(p, c, frame);
}

static void write_time(picture *p, double x, double y, int frame)
{
    char text[32];
    snprintf(text, sizeof text, "%.2f s", frame / 100.0);
    picture_text(p, x, y, 12, PICTURE_MIDDLE, pale_ink, text);
}

// The way there, which is the first half, at equal distances: the pelvis is where it has gone that share of the way.
static void draw_cartwheel(picture *p, const poise_model *model, poise_kinematics *kinematics, const clip *c)
{
    picture_view view = picture_look(poise_vec3_make(0, 0.12, 1), Y);
    double far = c->q[c->frames / 2][0];
    view.scale = 150;
    view.x = 600 - view.scale * 0.5 * far;
    view.y = 395;
    picture_set_view(p, &view);
    picture_page_line(p, 30, view.y, 1170, view.y, 1.5, ground);
    for (int i = 0, frame = 0; i < CARTWHEEL_POSES; ++i) {
        double share = (double)i / (CARTWHEEL_POSES - 1);
        while (frame < c->frames / 2 && c->q[frame][0] < share * far) {
            ++frame;
        }
        draw_frame(p, model, kinematics, c, frame);
        write_time(p, view.x + view.scale * c->q[frame][0], view.y + 24, frame);
    }
}

// One stride on the spot, pose beside pose, from the right and a little from the front.
static void draw_walk(picture *p, const poise_model *model, poise_kinematics *kinematics, const clip *c)
{
    int stride = (int)(scene_motion_duration(c->motion) * 100 + 0.5), first = c->frames / 3;
    picture_view view = picture_look(poise_vec3_make(-1, 0.12, 0.3), Y);
    view.scale = 150;
    view.y = 735;
    picture_page_line(p, 30, view.y, 1170, view.y, 1.5, ground);
    for (int i = 0; i < WALK_POSES; ++i) {
        int frame = first + i * stride / (WALK_POSES - 1);
        view.x = 100 + 1000.0 * i / (WALK_POSES - 1);
        picture_set_view(p, &view);
        draw_frame(p, model, kinematics, c, frame);
        write_time(p, view.x, view.y + 24, frame);
    }
}

bool draw_tracking(const poise_model *body, const clip *cartwheel, const clip *walk, const char *folder, const char *name)
{
    poise_kinematics *kinematics = NULL;
    picture *p = begin(1200, 815, "Track: a body of 58 degrees of freedom follows 41 markers",
                       "A cartwheel and a stride, each frame solved from the one before.", body, &kinematics);
    if (p) {
        draw_cartwheel(p, body, kinematics, cartwheel);
        draw_walk(p, body, kinematics, walk);
        picture_page_dot(p, 40, 791, 2.8, amber);
        picture_text(p, 50, 795, 12, PICTURE_LEFT, pale_ink, "marker, 3 mm noise");
        picture_page_ring(p, 190, 791, 2.6, pale_ink);
        picture_text(p, 200, 795, 12, PICTURE_LEFT, pale_ink, "missing: where it would be");
        picture_page_dot(p, 390, 791, 4, red);
        picture_text(p, 400, 795, 12, PICTURE_LEFT, pale_ink, "label on the wrong knee");
    }
    return save(p, kinematics, folder, name);
}

// ---- Lamp ----------------------------------------------------------------------------------------------------------------

enum { LAMPS = 8 };

static const char *const tones[LAMPS] = {"#4f6d94", "#5b8aa6", "#6aa5a8", "#86b596",
                                         "#b3b878", "#d3a96a", "#cf8b6f", "#a9748c"};

static void draw_lamp_pose(picture *p, const poise_model *model, const poise_kinematics *kinematics, poise_vec3 target,
                           const char *color)
{
    poise_vec3 at[7];
    for (int k = 0; k < 6; ++k) {
        at[k] = poise_kinematics_body_pose(kinematics, k).position;
    }
    at[6] = poise_kinematics_tool_pose(kinematics, poise_model_find_tool(model, "light")).position;
    picture_limb(p, at[1], 0.012, at[2], 0.010, color);
    picture_limb(p, at[2], 0.014, at[3], 0.009, color);
    picture_limb(p, at[3], 0.012, at[5], 0.012, color);
    picture_cone(p, at[5], 0.022, at[6], 0.058, color);
    picture_cone(p, at[6], 0.05, between(at[6], target, 0.02), 0.05, "#fbe3b5");
    picture_line(p, PICTURE_SCENE, between(at[6], target, 0.04), target, 1.3, amber, "1 4");
    picture_dot(p, target, 5, color);
}

bool draw_lamp(const poise_model *lamp, const lamp_path *path, const char *folder, const char *name)
{
    const poise_vec3 bottom = {0, 0, 0}, top = {0, 0.02, 0}, pivot = {0, 0.07, 0};
    poise_kinematics *kinematics = NULL;
    picture *p = begin(900, 640, "Aim: a lamp lights its way round a circle and holds a posture",
                       "Eight of 360 steps; the aim comes first, the posture decides the rest.", lamp, &kinematics);
    if (p) {
        picture_view view = picture_look(poise_vec3_make(-0.9, 0.45, 0.25), Y);
        view.scale = 720;
        view.x = 255;
        view.y = 455;
        picture_set_view(p, &view);
        picture_disc(p, path->center, Y, path->radius, "#f5f3ee");
        picture_circle(p, path->center, Y, path->radius, 1.5, ground);
        picture_cone(p, bottom, 0.09, top, 0.085, steel);
        picture_limb(p, top, 0.02, pivot, 0.016, steel);
        for (int i = 0; i < LAMPS; ++i) {
            int step = i * STEPS / LAMPS;
            poise_kinematics_update(kinematics, path->q[step]);
            draw_lamp_pose(p, lamp, kinematics, path->target[step], tones[i]);
        }
    }
    return save(p, kinematics, folder, name);
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
static bool is_apart(const arm_reaches *r, int i, const int *chosen, int count)
{
    bool apart = true;
    for (int k = 0; k < count; ++k) {
        apart = apart && distance(r->target[i].position, r->target[chosen[k]].position) > 0.45;
    }
    return apart;
}

static void draw_some_reaches(picture *p, const poise_model *arm, poise_kinematics *kinematics, const arm_reaches *r)
{
    int chosen[WAYS];
    draw_arm_base(p);
    for (int i = 0, count = 0; i < REACHES && count < WAYS; ++i) {
        poise_kinematics_update(kinematics, r->q[i]);
        if (r->reached[i] && is_clear(kinematics, arm) && is_apart(r, i, chosen, count)) {
            draw_arm_pose(p, arm, kinematics, tones[count]);
            draw_triad(p, r->target[i]);
            chosen[count++] = i;
        }
    }
}

static void draw_ways(picture *p, const poise_model *arm, poise_kinematics *kinematics, const arm_reaches *r)
{
    draw_arm_base(p);
    for (int w = 0; w < r->ways; ++w) {
        poise_kinematics_update(kinematics, r->way[w]);
        draw_arm_pose(p, arm, kinematics, tones[w]);
    }
    draw_triad(p, r->one);
}

bool draw_arm(const poise_model *arm, const arm_reaches *reaches, const char *folder, const char *name)
{
    poise_kinematics *kinematics = NULL;
    picture *p = begin(1100, 640, "Reach: an arm of seven joints puts its hand at a pose",
                       "Position and rotation, within limits; the triads are the targets.", arm, &kinematics);
    if (p) {
        picture_view view = picture_look(poise_vec3_make(0.5, -0.9, 0.42), Z);
        view.scale = 350;
        view.x = 290;
        view.y = 495;
        picture_set_view(p, &view);
        draw_some_reaches(p, arm, kinematics, reaches);
        picture_text(p, view.x, 615, 13, PICTURE_MIDDLE, pale_ink, "six of a thousand poses");
        view.x = 810;
        picture_set_view(p, &view);
        draw_ways(p, arm, kinematics, reaches);
        picture_text(p, view.x, 615, 13, PICTURE_MIDDLE, pale_ink, "one pose in six ways");
    }
    return save(p, kinematics, folder, name);
}
