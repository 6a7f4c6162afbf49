// Models, kinematics, objectives, solvers, batches and expressive motion: the calls that take memory.
#include "faults.h"

#include <poise/papers.h>
#include <stdio.h>

static poise_status batch_create(const poise_allocator *a, poise_error *e)
{
    poise_batch *made = UNTOUCHED;
    poise_batch_options options = poise_batch_options_default();
    options.workers = 3;
    poise_status status = poise_batch_create(stage.model, &options, a, &made, e);
    FINISH(status, made, poise_batch_destroy);
}

static poise_status erik_create(const poise_allocator *a, poise_error *e)
{
    poise_erik *made = UNTOUCHED;
    poise_erik_options options = poise_erik_options_default();
    poise_status status = poise_erik_create(stage.arm, &options, a, &made, e);
    FINISH(status, made, poise_erik_destroy);
}

static poise_status expressive_create(const poise_allocator *a, poise_error *e)
{
    poise_expressive *made = UNTOUCHED;
    poise_expressive_options options = poise_expressive_options_default();
    options.use_erik = true;
    poise_status status = poise_expressive_create(stage.arm, &options, a, &made, e);
    FINISH(status, made, poise_expressive_destroy);
}

static poise_status aim_create(const poise_allocator *a, poise_error *e)
{
    poise_aim *made = UNTOUCHED;
    poise_aim_options options = poise_aim_options_default();
    poise_status status = poise_aim_create(stage.arm, &options, a, &made, e);
    FINISH(status, made, poise_aim_destroy);
}

static poise_status filter_create(const poise_allocator *a, poise_error *e)
{
    poise_filter_joint joint = poise_filter_joint_default();
    for (int with_model = 0; with_model < 2; ++with_model) {
        poise_filter *made = UNTOUCHED;
        poise_status status = with_model ? poise_filter_create(stage.model, NULL, 0, a, &made, e)
                                         : poise_filter_create(NULL, &joint, 1, a, &made, e);
        if (status != POISE_OK || with_model) {
            FINISH(status, made, poise_filter_destroy);
        }
        poise_filter_destroy(made);
    }
    return POISE_OK;
}

MAKES(kinematics_create, poise_kinematics, poise_kinematics_destroy, poise_kinematics_create(stage.model, a, &made, e))

MAKES(objective_create, poise_objective, poise_objective_destroy, poise_objective_create(stage.model, 2, a, &made, e))

MAKES(sensitivity_create, poise_sensitivity, poise_sensitivity_destroy,
      poise_sensitivity_create(stage.model, 2, a, &made, e))

static poise_status solver_create(const poise_allocator *a, poise_error *e)
{
    poise_solver_options options = poise_solver_options_default();
    for (int m = 0; m < POISE_METHOD_COUNT; ++m) { // each has scratch memory of its own
        poise_solver *made = UNTOUCHED;
        options.method = (poise_method)m;
        options.engine = poise_papers_engine(options.method);
        poise_status status = poise_solver_create(stage.model, &options, a, &made, e);
        if (status != POISE_OK) {
            ck_assert_ptr_eq(made, UNTOUCHED);
            return status;
        }
        poise_solver_destroy(made);
    }
    return POISE_OK;
}

// A builder takes memory with every joint, tool and table.
static poise_status add_all(poise_builder *builder, poise_error *e)
{
    poise_status status = POISE_OK;
    char name[16];
    for (int i = 0; i < 40 && status == POISE_OK; ++i) {
        poise_joint joint = *poise_model_joint_info(stage.model, 1).given;
        snprintf(name, sizeof name, "j%d", i);
        joint.name = joint.body = name;
        joint.parent = i == 0 ? NULL : "j0";
        status = poise_builder_add_joint(builder, &joint, e);
        poise_tool tool = {name, name, poise_pose_identity()};
        status = status == POISE_OK ? poise_builder_add_tool(builder, &tool, e) : status;
    }
    poise_dh_row rows[6];
    for (int i = 0; i < 6; ++i) {
        rows[i] = (poise_dh_row){.a = 0.1, .lower = -1, .upper = 1};
    }
    return status == POISE_OK ? poise_builder_add_dh(builder, "dh", "j3", POISE_DH_CLASSIC, rows, 6, e) : status;
}

static poise_status builder_create(const poise_allocator *a, poise_error *e)
{
    poise_builder *made = UNTOUCHED;
    poise_status status = poise_builder_create(a, &made, e);
    if (status != POISE_OK) {
        ck_assert_ptr_eq(made, UNTOUCHED);
        return status;
    }
    status = add_all(made, e);
    poise_builder_destroy(made);
    return status;
}

MAKES(model_create, poise_model, poise_model_destroy, poise_model_create(stage.builder, a, &made, e))

static poise_status model_rescale(const poise_allocator *a, poise_error *e)
{
    poise_model *made = UNTOUCHED;
    double scale[NUMBERS];
    for (int k = 0; k < poise_model_info(stage.model).joints; ++k) {
        scale[k] = 1.1;
    }
    poise_status status = poise_model_rescale(stage.model, scale, a, &made, e);
    FINISH(status, made, poise_model_destroy);
}

static poise_status model_with_limits(const poise_allocator *a, poise_error *e)
{
    double lower[NUMBERS], upper[NUMBERS];
    for (int i = 0; i < NUMBERS; ++i) {
        lower[i] = -1.0, upper[i] = 1.0;
    }
    poise_model *made = UNTOUCHED;
    poise_status status = poise_model_with_limits(stage.model, lower, upper, NULL, a, &made, e);
    FINISH(status, made, poise_model_destroy);
}

static poise_status pairs_find(const poise_allocator *a, poise_error *e)
{
    const poise_vec3 origin = {0, 0, 0};
    const poise_shape shapes[] = {poise_shape_capsule(POISE_WORLD, origin, origin, 0.1),
                                  poise_shape_capsule(1, origin, origin, 0.1)};
    poise_pairs_options options = poise_pairs_options_default();
    options.samples = 3;
    poise_pair pairs[1] = {{-7, -7}};
    int found = -7;
    poise_status status = poise_pairs_find(stage.model, shapes, 2, &options, a, pairs, 1, &found, e);
    ck_assert_int_eq(found, status == POISE_OK ? 1 : -7);
    ck_assert_int_eq(pairs[0].a, status == POISE_OK ? 0 : -7);
    ck_assert_int_eq(pairs[0].b, status == POISE_OK ? 1 : -7);
    return status;
}

static poise_status solve_blockers(const poise_allocator *a, poise_error *e)
{
    poise_solver *solver;
    poise_solver_options options = poise_solver_options_default();
    double q[NUMBERS] = {0};
    ck_assert_int_eq(poise_solver_create(stage.arm, &options, NULL, &solver, NULL), POISE_OK);
    poise_goal far = poise_goal_position(0, poise_vec3_make(0, 0, 0), poise_vec3_make(100, 0, 0));
    unsigned blockers = 77;
    poise_status status = poise_solve_blockers(solver, &far, 1, NULL, 0, q, POISE_BLOCKED_BY_LIMITS, a, &blockers, e);
    ck_assert_uint_eq(blockers, status == POISE_OK ? 0 : 77);
    poise_solver_destroy(solver);
    return status;
}

const fault_row solve_faults[] = {
    {"poise_batch_create", batch_create, false},
    {"poise_builder_create", builder_create, false},
    {"poise_erik_create", erik_create, false},
    {"poise_expressive_create", expressive_create, false},
    {"poise_aim_create", aim_create, false},
    {"poise_filter_create", filter_create, false},
    {"poise_kinematics_create", kinematics_create, false},
    {"poise_model_create", model_create, false},
    {"poise_model_rescale", model_rescale, false},
    {"poise_model_with_limits", model_with_limits, false},
    {"poise_objective_create", objective_create, false},
    {"poise_pairs_find", pairs_find, false},
    {"poise_sensitivity_create", sensitivity_create, false},
    {"poise_solve_blockers", solve_blockers, false},
    {"poise_solver_create", solver_create, false},
    {NULL, NULL, false},
};
