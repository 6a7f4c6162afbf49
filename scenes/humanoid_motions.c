// Motions of the humanoid as closed formulas of time.
//
// Curves run through keys, at rest in each, along 6 u^5 - 15 u^4 + 10 u^3 from one to the next: positions, velocities and
// accelerations are continuous. Legs that stand are placed on their footing, everything else is given in angles.
#include "figure.h"

#include <math.h>
#include <string.h>

// ---- Curves --------------------------------------------------------------------------------------------------------------

// From 0 to 1 as u goes from 0 to 1, at rest at both ends.
static double ease(double u)
{
    u = u < 0.0 ? 0.0 : u > 1.0 ? 1.0 : u;
    return u * u * u * (10.0 + u * (6.0 * u - 15.0));
}

typedef struct key {
    double at, value;
} key;

// The value at c of the curve through the keys, which begin at or before 0 and end at or after 1, by rising `at`.
static double curve(const key *keys, double c)
{
    while (keys[1].at < c) {
        keys += 1;
    }
    double u = (c - keys[0].at) / (keys[1].at - keys[0].at);
    return keys[0].value + (keys[1].value - keys[0].value) * ease(u);
}

// max(x, 0), rounded off at 0, never below either.
static double positive(double x)
{
    const double round = 0.03;
    return 0.5 * (x + sqrt(x * x + round * round));
}

static double mix(double a, double b, double share)
{
    return a + (b - a) * share;
}

static void set(figure *f, bone b, double a0, double a1, double a2)
{
    f->angle[b][0] = deg(a0);
    f->angle[b][1] = deg(a1);
    f->angle[b][2] = deg(a2);
}

// The height of the ball of a foot whose heel (lift < 0) or toes touch the floor.
static double ball_height(double lift)
{
    double sine, cosine;
    poise_sincos(lift, &sine, &cosine);
    bone_frame ball = scene_bone_frame(LEFT_TOES);
    return (SCENE_ANKLE_HEIGHT + ball.offset.y) + (SCENE_FOOT_LENGTH + SCENE_HEEL_LENGTH) * positive(-sine);
}

static void make_fist(figure *f, side s, double share)
{
    set(f, sided(LEFT_INDEX, s), 85 * share, 0, 0);
    set(f, sided(LEFT_FINGERS, s), 85 * share, 0, 0);
    set(f, sided(LEFT_THUMB, s), 30 * share, 35 * share, 0);
}

// ---- Walk ----------------------------------------------------------------------------------------------------------------

static const double STRIDE = 1.2; // metres over two steps
static const double STANCE = 0.6; // share of the cycle that a foot is on the floor

// A foot at the share c of its own cycle, which begins as its heel comes down. On the floor it moves with the treadmill;
// then it overtakes by a stride.
static footing walking_foot(side s, double c)
{
    static const key lift[] = {{0, -16}, {0.1, 0}, {0.33, 0}, {0.62, 56}, {0.9, -17}, {1, -16}};
    static const key clearance[] = {{0, 0}, {0.58, 0}, {0.72, 0.045}, {0.99, 0}, {1, 0}};
    footing where = {.lift = deg(curve(lift, c)), .twist = deg(5)};
    double overtaken = ease((c - STANCE) / (1.0 - STANCE));
    double z = 0.375 + STRIDE * (overtaken - c);
    where.ball = vec(s == LEFT ? 0.085 : -0.085, ball_height(where.lift) + curve(clearance, c), z);
    return where;
}

// The left heel comes down at c = 0, the right one at 0.5. s1 and c1 go round once, s2 and c2 once for every step.
static void walk(figure *f, double c)
{
    double s1, c1, s2, c2;
    poise_sincos(2.0 * SCENE_PI * c, &s1, &c1);
    poise_sincos(4.0 * SCENE_PI * c - deg(35), &s2, &c2);

    // lowest soon after a heel comes down; over the standing foot, left at c = 0.3
    f->position = vec(0.02 * s1, -0.032 - 0.012 * c2, 0);
    f->heading = deg(-5) * c1; // the hip of the leading leg comes forward
    f->roll = deg(2.5) * s1;
    f->pitch = deg(2);
    set(f, LUMBAR, 2, -2 * s1, 4 * c1);
    set(f, THORAX, 3, -1.5 * s1, 7 * c1);
    set(f, NECK, 0, 0, -3 * c1);
    set(f, HEAD, -3, 0.5 * s1, -3 * c1);

    for (int i = 0; i < 2; ++i) {
        side s = (side)i;
        double forward = s == LEFT ? -c1 : c1; // arms swing against the legs
        set(f, sided(LEFT_CLAVICLE, s), -2, 3 * forward, 0);
        set(f, sided(LEFT_UPPER_ARM, s), -78, 2 + 22 * forward, 8);
        set(f, sided(LEFT_ULNA, s), 20 + 11 * forward, 0, 0);
        set(f, sided(LEFT_RADIUS, s), 15, 0, 0);
        set(f, sided(LEFT_HAND, s), 5, 0, 0);
        make_fist(f, s, 0.3);
        double own = c + 0.5 * i;
        footing foot = walking_foot(s, own < 1.0 ? own : own - 1.0);
        foot.twist -= s == LEFT ? f->heading : -f->heading; // the pelvis turns above it
        scene_figure_stand(f, s, foot);
    }
}

// ---- Guard, punch, kick --------------------------------------------------------------------------------------------------

// How far a figure has gone into a move from its guard.
typedef struct effort {
    double strike; // 0 in the guard, 1 fist at its farthest; below 0 while winding up
    double shift;  // pelvis moved forward and up, metres
    double rise;
    double turn; // degrees that the pelvis turns to the left
    double heel; // degrees that the right heel is lifted beyond the guard
} effort;

// Left foot and hand in front, the body turned to the right, fists before the chin.
static void guard(figure *f, effort e)
{
    double strike = e.strike;
    f->position = vec(-0.02, -0.085 + e.rise, 0.0 + e.shift);
    f->heading = deg(-40 + e.turn);
    f->pitch = deg(4);
    set(f, LUMBAR, 6, 0, 9 * strike);
    set(f, THORAX, 8, 0, 20 * strike);
    set(f, NECK, 4, 0, 20 - 0.5 * e.turn - 14 * strike);
    set(f, HEAD, 0, 0, 18 - 0.5 * e.turn - 12 * strike);

    set(f, LEFT_CLAVICLE, 4, 8, 0);
    set(f, LEFT_UPPER_ARM, -58, 40, 22);
    set(f, LEFT_ULNA, 118, 0, 0);
    set(f, LEFT_RADIUS, -15, 0, 0);
    set(f, LEFT_HAND, 0, 0, 0);
    set(f, RIGHT_CLAVICLE, mix(4, 8, strike), mix(2, 24, strike), 0);
    set(f, RIGHT_UPPER_ARM, mix(-62, 23, strike), mix(28, 66, strike), mix(22, 15, strike));
    set(f, RIGHT_ULNA, mix(130, 8, strike), 0, 0);
    set(f, RIGHT_RADIUS, mix(-15, 20, strike), 0, 0);
    set(f, RIGHT_HAND, 0, 0, 0);
    make_fist(f, LEFT, 1);
    make_fist(f, RIGHT, 1);

    footing left = {.lift = 0, .heading = deg(-10), .twist = deg(25)};
    left.ball = vec(0.08, ball_height(0), 0.34);
    footing right = {.lift = deg(14 + e.heel), .heading = deg(-40 + 0.6 * e.turn), .twist = deg(5)};
    right.ball = vec(-0.2, ball_height(right.lift), -0.14);
    scene_figure_stand(f, LEFT, left);
    scene_figure_stand(f, RIGHT, right);
}

static void punch(figure *f, double c)
{
    static const key strike[] = {{0, 0}, {0.2, -0.15}, {0.42, 1}, {0.5, 1}, {0.85, 0}, {1, 0}};
    static const key body[] = {{0, 0}, {0.17, -0.15}, {0.4, 1}, {0.5, 1}, {0.88, 0}, {1, 0}};
    double b = curve(body, c);
    guard(f, (effort){.strike = curve(strike, c), .shift = 0.09 * b, .rise = -0.01 * b, .turn = 30 * b, .heel = 22 * b});
}

// The right knee comes up, the leg snaps out and back, while the body leans away over the left foot.
static void kick(figure *f, double c)
{
    static const key lifted[] = {{0, 0}, {0.06, 0}, {0.33, 1}, {0.6, 1}, {0.92, 0}, {1, 0}};
    static const key hip[] = {{0, 60}, {0.2, 60}, {0.46, 98}, {0.52, 98}, {0.72, 60}, {1, 60}};
    static const key knee[] = {{0, 95}, {0.14, 95}, {0.3, 112}, {0.47, 6}, {0.5, 6}, {0.68, 100}, {1, 95}};
    static const key lean[] = {{0, 0}, {0.08, 0}, {0.46, 1}, {0.54, 1}, {0.92, 0}, {1, 0}};
    double b = curve(lean, c), w = curve(lifted, c);

    guard(f, (effort){.strike = 0, .shift = 0.17 * w, .rise = 0.05 * w, .turn = 32 * b, .heel = 20 * w});
    figure standing = *f;
    f->pitch = deg(mix(4, -18, b));
    f->position.x += 0.06 * w;
    set(f, LUMBAR, mix(6, 10, b), 0, -8 * b);
    set(f, LEFT_UPPER_ARM, -58, mix(40, 25, b), 22);
    set(f, RIGHT_UPPER_ARM, mix(-62, -50, b), mix(28, -15, b), 22);
    set(f, RIGHT_ULNA, mix(130, 75, b), 0, 0);
    footing left = {.lift = 0, .heading = deg(-10), .twist = deg(mix(25, 5, b))};
    left.ball = vec(0.08, ball_height(0), 0.34);
    scene_figure_stand(f, LEFT, left);

    const double free_leg[3][3] = {{curve(hip, c), 4, 0}, {curve(knee, c), 0, 0}, {mix(-5, 10, b), 0, 0}};
    for (int i = 0; i < 3; ++i) {
        int b_i = RIGHT_THIGH + i;
        for (int k = 0; k < 3; ++k) {
            f->angle[b_i][k] = mix(standing.angle[b_i][k], deg(free_leg[i][k]), w);
        }
    }
    f->angle[RIGHT_TOES][0] = mix(standing.angle[RIGHT_TOES][0], deg(25), w);
}

// ---- Cartwheel -----------------------------------------------------------------------------------------------------------

// The height of the pelvis at which the lowest of hands and feet touches the floor, rounded off where support passes from
// one to the next: the 16-norm of the depths d_i below the pelvis is at least the largest, and 2^(1/16) times that where
// two are equal. `both` (0 to 1) takes that factor out again, for standing on two feet.
static double support_height(const figure *f, double both)
{
    static const bone support[4] = {LEFT_FOOT, RIGHT_FOOT, LEFT_HAND, RIGHT_HAND};
    const double root16_of_2 = 1.0442737824274138;
    double pelvis = scene_figure_pose(f, PELVIS).position.y;
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) {
        double out = i % 2 ? -1.0 : 1.0;
        poise_vec3 point = i < 2 ? vec(0, -SCENE_ANKLE_HEIGHT, SCENE_FOOT_LENGTH) : vec(out * 0.07, -0.02, 0);
        double depth = pelvis - poise_pose_transform(scene_figure_pose(f, support[i]), point).y;
        double d = depth > 0.0 ? depth : 0.0;
        for (int k = 0; k < 4; ++k) {
            d *= d;
        }
        sum += d;
    }
    for (int k = 0; k < 4; ++k) {
        sum = sqrt(sum);
    }
    return sum / (1.0 + both * (root16_of_2 - 1.0));
}

// There in the first half and the same way back in the second.
static void cartwheel(figure *f, double c)
{
    static const key star[] = {{0, 0}, {0.04, 0}, {0.26, 1}, {0.76, 1}, {0.97, 0}, {1, 0}};
    static const key over[] = {{0, 0}, {0.16, 0}, {0.88, 1}, {1, 1}};
    static const key hands[] = {{0, 0}, {0.25, 0}, {0.42, 1}, {0.62, 1}, {0.8, 0}, {1, 0}};
    const double rolling_radius = 0.9; // metres: the mean height of the pelvis on the way
    double there = c < 0.5 ? 2.0 * c : 2.0 - 2.0 * c;
    double s = curve(star, there), angle = 2.0 * SCENE_PI * curve(over, there), wrist = curve(hands, there);

    f->roll = -angle;
    set(f, LUMBAR, mix(2, -4, s), 0, 0);
    set(f, THORAX, mix(3, -4, s), 0, 0);
    set(f, HEAD, mix(-2, -20, wrist), 0, 0);
    for (int i = 0; i < 2; ++i) {
        side k = (side)i;
        set(f, sided(LEFT_CLAVICLE, k), mix(-2, 30, s), 0, 0);
        set(f, sided(LEFT_UPPER_ARM, k), mix(-78, 45, s), mix(2, 8, s), -40 * s);
        set(f, sided(LEFT_ULNA, k), mix(15, 3, s), 0, 0);
        set(f, sided(LEFT_RADIUS, k), -50 * s, 0, 0);
        set(f, sided(LEFT_HAND, k), -68 * wrist, 0, 0);
        make_fist(f, k, 0.25 * (1.0 - s) - 0.2 * wrist);
        set(f, sided(LEFT_THIGH, k), 0, mix(2, 42, s), mix(4, 15, s));
        set(f, sided(LEFT_SHIN, k), mix(1, 3, s), 0, 0);
        set(f, sided(LEFT_FOOT, k), mix(1, -25, s), mix(-2, -5, s), 0);
        set(f, sided(LEFT_TOES, k), 25 * s, 0, 0);
    }
    f->position = vec(rolling_radius * angle, 0, 0);
    f->position.y = support_height(f, 1.0 - s) - scene_bone_frame(PELVIS).offset.y;
}

// ---- Table ---------------------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    double duration;                   // seconds
    void (*pose)(figure *f, double c); // c: the share of the period that has passed, 0 <= c < 1
} motions[] = {
    {"walk", 1.1, walk},
    {"punch", 1.3, punch},
    {"kick", 1.6, kick},
    {"cartwheel", 5.6, cartwheel},
};

static const int motion_count = (int)(sizeof motions / sizeof motions[0]);

static int find_motion(const char *name)
{
    for (int i = 0; name && i < motion_count; ++i) {
        if (strcmp(motions[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int scene_motion_count(void)
{
    return motion_count;
}

const char *scene_motion_name(int motion)
{
    return motion >= 0 && motion < motion_count ? motions[motion].name : NULL;
}

double scene_motion_duration(const char *motion)
{
    int m = find_motion(motion);
    return m < 0 ? 0.0 : motions[m].duration;
}

poise_status scene_motion_pose(const poise_model *model, const char *motion, double t, double *q)
{
    if (!model || !motion || !q || !isfinite(t)) {
        return POISE_ERROR_ARGUMENT;
    }
    int m = find_motion(motion);
    if (m < 0) {
        return POISE_ERROR_NOT_FOUND;
    }
    double cycles = t / scene_motion_duration(motion);
    figure f = {0};
    motions[m].pose(&f, cycles - floor(cycles));
    return scene_figure_write(&f, model, q);
}
