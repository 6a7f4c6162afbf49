#include "constrained_task.h"

#include "../bench.h"

#include <math.h>
#include <stdlib.h>

#define SPARE 1e-3 // of targets, beyond the margin
#define DRAWS 100000

void constrained_close(constrained_task *task)
{
    tips_close(&task->tips);
    free(task->shapes);
    free(task->pairs);
    free(task->posture);
    free(task->weights);
}

void constrained_take_shapes(constrained_task *task, int capacity)
{
    task->shapes = bench_take((size_t)capacity, sizeof *task->shapes);
    task->pairs = bench_take(CONSTRAINED_PAIRS, sizeof *task->pairs);
}

void constrained_add_shape(constrained_task *task, poise_shape shape)
{
    task->shapes[task->shape_count++] = shape;
}

void constrained_add_links(constrained_task *task, double radius)
{
    const poise_model *model = task->tips.model;
    for (int k = 0; k < poise_model_info(model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(model, k);
        poise_vec3 to = joint.given->offset.position;
        double length = sqrt(to.x * to.x + to.y * to.y + to.z * to.z);
        if (joint.parent != POISE_WORLD && length >= 0.08) {
            constrained_add_shape(
                task, poise_shape_capsule(joint.parent, poise_vec3_make(0, 0, 0), to, fmin(radius, 0.4 * length)));
        }
    }
}

void constrained_keep_apart(constrained_task *task, double margin, int neighbours, const poise_pair *excluded, int count)
{
    poise_pairs_options options = poise_pairs_options_default();
    options.neighbours = neighbours;
    options.excluded = excluded;
    options.excluded_count = count;
    poise_constraint *apart = constrained_add(task, POISE_CONSTRAINT_CLEARANCE);
    poise_error error = {.text = ""};
    int found = 0;
    if (poise_pairs_find(task->tips.model, task->shapes, task->shape_count, &options, NULL, task->pairs, CONSTRAINED_PAIRS,
                         &found, &error) != POISE_OK ||
        found > CONSTRAINED_PAIRS) {
        bench_fail("%s: %d pairs: %s", task->tips.row->name, found, error.text);
    }
    apart->shapes = task->shapes;
    apart->shape_count = task->shape_count;
    apart->pairs = task->pairs;
    apart->pair_count = found;
    apart->margin = margin;
}

poise_constraint *constrained_add(constrained_task *task, poise_constraint_kind kind)
{
    poise_constraint *made = &task->given[task->count++];
    *made = poise_constraint_default(kind);
    return made;
}

int constrained_body(const constrained_task *task, const char *name)
{
    int body = poise_model_find_body(task->tips.model, name);
    if (body < 0) {
        bench_fail("%s: no body %s", task->tips.row->name, name);
    }
    return body;
}

// ---- Targets -------------------------------------------------------------------------------------------------------------

static bool is_free(const constrained_task *task)
{
    for (int i = 0; i < task->count; ++i) {
        const poise_constraint *c = &task->given[i];
        for (int k = 0; k < c->pair_count; ++k) {
            poise_nearest nearest;
            const poise_shape *a = &c->shapes[c->pairs[k].a], *b = &c->shapes[c->pairs[k].b];
            if (poise_distance(task->tips.kinematics, a, b, &nearest, NULL) != POISE_OK ||
                nearest.distance < c->margin + SPARE) {
                return false;
            }
        }
    }
    return true;
}

void constrained_draw_free(constrained_task *task, int frame, scene_random *random)
{
    (void)frame;
    int draws = 0;
    do { // where the targets come from is left in the kinematics
        tips_draw(&task->tips, TIPS_UNIFORM, TIPS_MIDDLE, random);
    } while (++draws < DRAWS && !is_free(task));
    if (draws == DRAWS) {
        bench_fail("%s: no room", task->tips.row->name);
    }
    task->goal_count = task->tips.count;
    for (int i = 0; i < task->goal_count; ++i) {
        task->goals[i] = task->tips.goals[i];
    }
}
