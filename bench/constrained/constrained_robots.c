// A Franka Emika Panda: its chain by the maker's modified Denavit-Hartenberg table, its skin by the capsules of the maker's
// collision model. Among a table and a post, among six boxes, and with a ball that crosses its way.
#include "constrained_task.h"

#include "../bench.h"

#include <math.h>
#include <stddef.h>

#define PI     3.14159265358979323846
#define SHAPES 32
#define FRAMES 500 // of one crossing of the ball

static const tips_row panda_row = {.name = "Panda", .tips = {"grasp"}};

static poise_model *make_panda(void)
{
    static const poise_dh_row rows[] = {{0, 0, 0.333, 0, false, -2.8973, 2.8973},
                                        {0, -PI / 2, 0, 0, false, -1.7628, 1.7628},
                                        {0, PI / 2, 0.316, 0, false, -2.8973, 2.8973},
                                        {0.0825, PI / 2, 0, 0, false, -3.0718, -0.0698},
                                        {-0.0825, -PI / 2, 0.384, 0, false, -2.8973, 2.8973},
                                        {0, PI / 2, 0, 0, false, -0.0175, 3.7525},
                                        {0.088, PI / 2, 0, 0, false, -2.8973, 2.8973}};
    // an eighth of a turn about the flange, between the fingers
    static const poise_tool grasp = {
        "grasp", "panda_7", {{0, 0, -0.38268343236508977, 0.92387953251128674}, {0, 0, 0.2104}}};
    poise_builder *builder;
    poise_model *model = NULL;
    poise_error error = {.text = ""};
    if (poise_builder_create(NULL, &builder, &error) != POISE_OK ||
        poise_builder_add_dh(builder, "panda_", NULL, POISE_DH_MODIFIED, rows, 7, &error) != POISE_OK ||
        poise_builder_add_tool(builder, &grasp, &error) != POISE_OK ||
        poise_model_create(builder, NULL, &model, &error) != POISE_OK) {
        bench_fail("Panda: %s", error.text);
    }
    poise_builder_destroy(builder);
    return model;
}

// Capsules of the links; those of the hand are on link 7, an eighth of a turn off.
static void add_skin(constrained_task *task)
{
    static const struct {
        int link;
        double from[3], to[3], radius;
    } skin[] = {{0, {-0.09, 0, 0.06}, {-0.06, 0, 0.06}, 0.06},
                {1, {0, 0, -0.333}, {0, 0, -0.05}, 0.06},
                {2, {0, 0, -0.06}, {0, 0, 0.06}, 0.06},
                {3, {0, 0, -0.22}, {0, 0, -0.07}, 0.06},
                {4, {0, 0, -0.06}, {0, 0, 0.06}, 0.06},
                {5, {0, 0, -0.31}, {0, 0, -0.21}, 0.06},
                {5, {0, 0.08, -0.2}, {0, 0.08, -0.06}, 0.025},
                {6, {0, 0, -0.07}, {0, 0, 0.01}, 0.05},
                {7, {0, 0, -0.06}, {0, 0, 0.08}, 0.04},
                {7, {0.055, 0, 0.082}, {0.065, 0, 0.082}, 0.03},
                {7, {-0.0354, -0.0354, 0.147}, {0.0354, 0.0354, 0.147}, 0.04},
                {7, {-0.0354, -0.0354, 0.207}, {0.0354, 0.0354, 0.207}, 0.02}};
    constrained_take_shapes(task, SHAPES);
    for (size_t i = 0; i < sizeof skin / sizeof skin[0]; ++i) {
        poise_vec3 from = {skin[i].from[0], skin[i].from[1], skin[i].from[2]};
        poise_vec3 to = {skin[i].to[0], skin[i].to[1], skin[i].to[2]};
        constrained_add_shape(task, poise_shape_capsule(skin[i].link - 1, from, to, skin[i].radius));
    }
}

static void add_box(constrained_task *task, poise_vec3 at, poise_vec3 half)
{
    constrained_add_shape(task, poise_shape_box(POISE_WORLD, (poise_pose){{0, 0, 0, 1}, at}, half));
}

static void open_panda(constrained_task *task)
{
    *task = (constrained_task){.count = 0};
    tips_open_model(make_panda(), &panda_row, &task->tips);
    add_skin(task);
}

// The first two links cannot leave what the robot stands on; links 1 and 3 are 26 mm apart always.
static const poise_pair rooted[] = {{0, POISE_WORLD}, {1, POISE_WORLD}, {0, 2}};

static bool open_table(constrained_task *task, const bench *b)
{
    (void)b;
    open_panda(task);
    add_box(task, poise_vec3_make(0.4, 0, -0.1), poise_vec3_make(1, 1, 0.1));
    add_box(task, poise_vec3_make(0.6, 0, 0.75), poise_vec3_make(0.05, 0.05, 0.75));
    constrained_keep_apart(task, 0, 1, rooted, 3);
    return true;
}

static bool open_boxes(constrained_task *task, const bench *b)
{
    static const double boxes[6][6] = {{0.4, 0, -0.1, 1, 1, 0.1},         {0.5, 0, 0.75, 0.06, 0.06, 0.75},
                                       {0.3, 0.45, 0.6, 0.2, 0.12, 0.15}, {0.3, -0.45, 0.3, 0.2, 0.12, 0.3},
                                       {-0.35, 0, 0.45, 0.1, 0.4, 0.45},  {0.1, 0, 0.95, 0.4, 0.5, 0.05}};
    (void)b;
    open_panda(task);
    for (int i = 0; i < 6; ++i) {
        add_box(task, poise_vec3_make(boxes[i][0], boxes[i][1], boxes[i][2]),
                poise_vec3_make(boxes[i][3], boxes[i][4], boxes[i][5]));
    }
    constrained_keep_apart(task, 0.03, 1, rooted, 3);
    return true;
}

// ---- A ball that crosses -------------------------------------------------------------------------------------------------

static bool open_ball(constrained_task *task, const bench *b)
{
    (void)b;
    static const double ready[7] = {0, -0.5, 0, -2.2, 0, 1.8, 0.785};
    open_panda(task);
    constrained_add_shape(task, poise_shape_capsule(POISE_WORLD, poise_vec3_make(9, 0, 0), poise_vec3_make(9, 0, 0), 0.08));
    constrained_keep_apart(task, 0.02, 1, rooted, 3);
    for (int i = 0; i < 7; ++i) {
        task->tips.q[i] = ready[i];
    }
    return true;
}

// The hand goes round; the ball crosses at 0.4 m/s, 100 frames a second, on another way each time.
static void draw_ball(constrained_task *task, int frame, scene_random *random)
{
    double phase = 2 * PI * frame / 400.0, way = -1.0 + 2.0 * (frame % FRAMES) / FRAMES;
    if (frame % FRAMES == 0) {
        task->polygon[0] = poise_vec3_make(scene_random_range(random, 0.45, 0.6), 0, scene_random_range(random, 0.35, 0.6));
    }
    poise_vec3 hand = {0.45 + 0.08 * cos(phase), 0.15 * sin(phase), 0.45 + 0.06 * sin(2 * phase)};
    task->shapes[task->shape_count - 1].pose.position = poise_vec3_make(task->polygon[0].x, way, task->polygon[0].z);
    task->goals[0] = poise_goal_pose(task->tips.bodies[0], task->tips.locals[0], (poise_pose){{1, 0, 0, 0}, hand});
    task->goal_count = 1;
}

const constrained_row constrained_arms[] = {
    {"Panda, table", open_table, constrained_draw_free, POISE_START_COLD, 200, 1e-6, true},
    {"Panda, 6 boxes", open_boxes, constrained_draw_free, POISE_START_COLD, 200, 1e-6, true},
    {.name = NULL}};

const constrained_row constrained_moving[] = {{"Panda, ball", open_ball, draw_ball, POISE_START_WARM, 0, 1e-6, false},
                                              {.name = NULL}};
