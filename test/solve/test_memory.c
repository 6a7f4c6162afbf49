// Memory: allocations that fail, memory handed in, no allocation where none is promised, one model in two threads.
#include "goal/objective.h"
#include "support/allocations.h"
#include "support/meter.h"
#include "support/random_goals.h"
#include "support/skeleton.h"

#include <pthread.h>

#define JOINTS 50 // with the rows of a table to follow: every list of the builder grows, before and within the table

// What is made of one description: everything that allocates.
typedef struct works {
    poise_builder *builder;
    poise_model *model;
    poise_kinematics *kinematics;
    poise_objective *objective;
    int failures; // calls that reported a lack of memory
} works;

// A call came back: on a lack of memory it says so, leaves *made alone, and is worth another try.
static bool must_try_again(works *w, poise_status status, const poise_error *error, bool made)
{
    ck_assert(status == POISE_OK || status == POISE_ERROR_MEMORY);
    if (status == POISE_OK) {
        return false;
    }
    ck_assert(!made);
    if (error) {
        ck_assert_int_eq(error->status, POISE_ERROR_MEMORY);
        ck_assert_msg(strstr(error->text, "out of memory") != NULL, "%s", error->text);
    }
    w->failures += 1;
    return true;
}

// Try the call until it works; give up after the second failure, when memory is gone for good.
#define TRY(call, error, made)                                                                                              \
    while (must_try_again(w, call, error, made)) {                                                                          \
        if (w->failures > 1) {                                                                                              \
            return;                                                                                                         \
        }                                                                                                                   \
    }

static void add_everything(works *w)
{
    scene_random random = scene_random_make(1);
    poise_error error;
    char name[24], parent[24];
    for (int i = 0; i < JOINTS; ++i) {
        poise_joint joint = random_joint(&random, (poise_joint_type)(i % POISE_JOINT_TYPE_COUNT));
        snprintf(name, sizeof name, "joint%d", i);
        snprintf(parent, sizeof parent, "joint%d", i == 0 ? 0 : scene_random_index(&random, i));
        joint.name = name;
        joint.parent = i == 0 ? NULL : parent;
        TRY(poise_builder_add_joint(w->builder, &joint, &error), &error, false)
        poise_tool tool = {name, name, {scene_random_rotation(&random), {0.1, 0.2, 0.3}}};
        TRY(poise_builder_add_tool(w->builder, &tool, &error), &error, false)
    }
    poise_dh_row rows[40];
    for (int i = 0; i < 40; ++i) {
        rows[i] = (poise_dh_row){.a = 0.1, .alpha = 0.2, .d = 0.3, .theta = i, .lower = -1, .upper = 1};
    }
    TRY(poise_builder_add_dh(w->builder, "arm", "joint7", POISE_DH_CLASSIC, rows, 40, &error), &error, false)
}

static void make_everything(works *w, const poise_allocator *allocator)
{
    poise_error error;
    TRY(poise_builder_create(allocator, &w->builder, NULL), NULL, w->builder)
    add_everything(w);
    if (w->failures > 1) {
        return;
    }
    TRY(poise_model_create(w->builder, allocator, &w->model, &error), &error, w->model)
    TRY(poise_kinematics_create(w->model, allocator, &w->kinematics, NULL), NULL, w->kinematics)
    TRY(poise_objective_create(w->model, 2, allocator, &w->objective, NULL), NULL, w->objective)
}

static void destroy_everything(works *w)
{
    poise_objective_destroy(w->objective);
    poise_kinematics_destroy(w->kinematics);
    poise_model_destroy(w->model);
    poise_builder_destroy(w->builder);
}

// Same joints, and the same poses to the last bit.
static void assert_same(const works *a, const works *b)
{
    int count = poise_model_info(a->model).joints;
    ck_assert_int_eq(poise_model_info(b->model).joints, count);
    ck_assert_int_eq(poise_model_info(b->model).tools, poise_model_info(a->model).tools);
    scene_random random = scene_random_make(2);
    double q[FIGURE_NUMBERS * 4];
    ck_assert_int_le(poise_model_info(a->model).nq, FIGURE_NUMBERS * 4);
    scene_random_configuration(&random, a->model, q);
    ck_assert_int_eq(poise_kinematics_update(a->kinematics, q, NULL), POISE_OK);
    ck_assert_int_eq(poise_kinematics_update(b->kinematics, q, NULL), POISE_OK);
    for (int k = 0; k < count; ++k) {
        poise_pose one = poise_kinematics_body_pose(a->kinematics, k), two = poise_kinematics_body_pose(b->kinematics, k);
        ck_assert_mem_eq(&one, &two, sizeof one);
        ck_assert_str_eq(poise_model_joint_info(a->model, k).name, poise_model_joint_info(b->model, k).name);
        ck_assert_int_eq(poise_model_find_body(b->model, poise_model_joint_info(a->model, k).body), k);
    }
    for (int t = 0; t < poise_model_info(a->model).tools; ++t) {
        poise_pose one = poise_kinematics_tool_pose(a->kinematics, t), two = poise_kinematics_tool_pose(b->kinematics, t);
        ck_assert_mem_eq(&one, &two, sizeof one);
    }
}

static int requests_of_everything(works *w, meter *m)
{
    poise_allocator allocator = {meter_allocate, meter_release, m};
    make_everything(w, &allocator);
    ck_assert_int_eq(w->failures, 0);
    return m->requests;
}

TEST(a_failed_request_is_reported_and_the_next_try_gives_the_same_model)
{
    meter whole = {0};
    works reference = {0};
    int requests = requests_of_everything(&reference, &whole);
    ck_assert_int_gt(requests, 20);
    for (int n = 1; n <= requests; ++n) {
        meter m = {.fail_from = n, .fail_to = n};
        poise_allocator allocator = {meter_allocate, meter_release, &m};
        works w = {0};
        make_everything(&w, &allocator);
        ck_assert_msg(w.failures == 1, "request %d: %d failures", n, w.failures);
        assert_same(&reference, &w);
        destroy_everything(&w);
        ck_assert_msg(m.live == 0, "request %d: %d blocks leaked", n, m.live);
    }
    destroy_everything(&reference);
    ck_assert_int_eq(whole.live, 0);
}

TEST(nothing_leaks_when_memory_is_gone_for_good)
{
    meter whole = {0};
    works reference = {0};
    int requests = requests_of_everything(&reference, &whole);
    destroy_everything(&reference);
    for (int n = 1; n <= requests; ++n) {
        meter m = {.fail_from = n, .fail_to = 1 << 30};
        poise_allocator allocator = {meter_allocate, meter_release, &m};
        works w = {0};
        make_everything(&w, &allocator);
        ck_assert_int_eq(w.failures, 2);
        ck_assert_ptr_null(w.objective);
        destroy_everything(&w);
        ck_assert_msg(m.live == 0, "request %d: %d blocks leaked", n, m.live);
    }
}

TEST(a_model_kinematics_and_objective_are_one_allocation_each)
{
    meter m = {0};
    poise_allocator allocator = {meter_allocate, meter_release, &m};
    scene_random random = scene_random_make(3);
    poise_builder *builder = random_builder(&random, 10, RANDOM_PLAIN);
    works w = {.builder = builder};
    ck_assert_int_eq(poise_model_create(builder, &allocator, &w.model, NULL), POISE_OK);
    ck_assert_int_eq(m.live, 1); // what ordering took is back
    ck_assert_int_eq(poise_kinematics_create(w.model, &allocator, &w.kinematics, NULL), POISE_OK);
    ck_assert_int_eq(m.live, 2);
    ck_assert_int_eq(poise_objective_create(w.model, 3, &allocator, &w.objective, NULL), POISE_OK);
    ck_assert_int_eq(m.live, 3);
    destroy_everything(&w);
    ck_assert_int_eq(m.live, 0);
}

TEST(a_refused_description_leaks_nothing)
{
    meter m = {0};
    poise_allocator allocator = {meter_allocate, meter_release, &m};
    poise_builder *builder;
    ck_assert_int_eq(poise_builder_create(&allocator, &builder, NULL), POISE_OK);
    add_plain(builder, "a", NULL, POISE_JOINT_REVOLUTE);
    poise_joint joint = joint_of("b", "a", POISE_JOINT_REVOLUTE);
    joint.mimic = "a";
    joint.lower[0] = joint.upper[0] = 1;
    joint.mimic_multiplier = 0;
    add(builder, &joint);
    int live = m.live;
    poise_model *model = NULL;
    ck_assert_int_eq(poise_model_create(builder, &allocator, &model, NULL), POISE_ERROR_MODEL); // after its own allocation
    ck_assert_int_eq(m.live, live);
    poise_builder_destroy(builder);
    ck_assert_int_eq(m.live, 0);
}

// ---- Memory handed in ----------------------------------------------------------------------------------------------------

// Everything that works on a model, made with one allocator.
typedef struct workers {
    poise_kinematics *kin;
    poise_objective *objective;
    poise_solver *solver;
    poise_batch *batch;
    poise_filter *filter;
} workers;

static poise_status make_workers(const poise_model *model, const poise_allocator *own, workers *w, poise_error *error)
{
    poise_solver_options options = poise_solver_options_default();
    poise_batch_options batch = poise_batch_options_default();
    poise_filter_joint joint = poise_filter_joint_default();
    poise_status statuses[] = {
        poise_kinematics_create(model, own, &w->kin, error),
        poise_objective_create(model, 2, own, &w->objective, error),
        poise_solver_create(model, &options, own, &w->solver, error),
        poise_batch_create(model, &batch, own, &w->batch, error),
        poise_filter_create(NULL, &joint, 1, own, &w->filter, error),
    };
    for (size_t i = 0; i < TEST_COUNT(statuses); ++i) {
        if (statuses[i] != POISE_OK) {
            return statuses[i];
        }
    }
    return POISE_OK;
}

TEST(memory_of_the_exact_size_serves_at_every_alignment)
{
    scene_random random = scene_random_make(4);
    poise_model *model = random_model(&random, 12, RANDOM_PLAIN);
    double q[FIGURE_NUMBERS];
    scene_random_configuration(&random, model, q);
    workers w = {0};
    poise_memory asked = {.base = NULL};
    poise_allocator counting = poise_memory_allocator(&asked);
    ck_assert_int_eq(make_workers(model, &counting, &w, NULL), POISE_ERROR_MEMORY);
    unsigned char *block = malloc(asked.used + 128), *base = block + (64 - (uintptr_t)block % 64);
    for (size_t shift = 0; shift < 64; ++shift) {
        memset(block, 0xa5, asked.used + 128);
        poise_memory memory = {.base = base + shift, .size = asked.used};
        poise_allocator own = poise_memory_allocator(&memory);
        ck_assert_int_eq(make_workers(model, &own, &w, NULL), POISE_OK);
        ck_assert_uint_eq(memory.used, asked.used);
        ck_assert_int_eq(poise_kinematics_update(w.kin, q, NULL), POISE_OK);
        ck_assert_int_eq(poise_objective_evaluate(w.objective, q, POISE_LEVEL_HESSIAN, NULL), POISE_OK);
        ck_assert_int_eq(poise_solve(w.solver, NULL, 0, q, NULL, NULL), POISE_OK);
        ck_assert_int_eq(base[shift + asked.used], 0xa5); // nothing beyond the end, nor before the start
        ck_assert_int_eq((base + shift)[-1], 0xa5);
        poise_kinematics_destroy(w.kin); // allowed, and does nothing
        poise_batch_destroy(w.batch);
    }
    free(block);
    poise_model_destroy(model);
}

TEST(memory_that_is_one_byte_short_is_refused_at_every_alignment)
{
    scene_random random = scene_random_make(5);
    poise_model *model = random_model(&random, 12, RANDOM_PLAIN);
    workers w = {0};
    poise_memory asked = {.base = NULL};
    poise_allocator counting = poise_memory_allocator(&asked);
    ck_assert_int_eq(make_workers(model, &counting, &w, NULL), POISE_ERROR_MEMORY);
    unsigned char *block = malloc(asked.used + 128);
    for (size_t shift = 0; shift < 64; ++shift) {
        poise_memory memory = {.base = block + shift, .size = asked.used - 1};
        poise_allocator own = poise_memory_allocator(&memory);
        poise_error error = {0};
        w.filter = NULL;
        ck_assert_int_eq(make_workers(model, &own, &w, &error), POISE_ERROR_MEMORY);
        ck_assert_ptr_null(w.filter); // the last one made
        ck_assert_ptr_nonnull(strstr(error.text, "out of memory"));
    }
    free(block);
    poise_model_destroy(model);
}

TEST(makers_refuse_what_makes_no_sense)
{
    scene_random random = scene_random_make(6);
    poise_model *model = random_model(&random, 5, RANDOM_PLAIN);
    poise_kinematics *kin = NULL;
    poise_objective *objective = NULL;
    ck_assert_int_eq(poise_kinematics_create(NULL, NULL, &kin, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_kinematics_create(model, NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_create(NULL, 0, NULL, &objective, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_create(model, -1, NULL, &objective, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_int_eq(poise_objective_create(model, 0, NULL, NULL, NULL), POISE_ERROR_ARGUMENT);
    ck_assert_ptr_null(kin);
    ck_assert_ptr_null(objective);
    poise_kinematics_destroy(NULL);
    poise_objective_destroy(NULL);
    poise_model_destroy(model);
}

// ---- No allocation -------------------------------------------------------------------------------------------------------

// Calls of the four functions below while counting; Check allocates too, so only the library is counted.
static int calls;
static bool counting;

static void count_call(void)
{
    if (counting) { // never while threads run
        calls += 1;
    }
}

void *WRAPPED(malloc)(size_t size)
{
    count_call();
    return GENUINE(malloc)(size);
}

void *WRAPPED(calloc)(size_t count, size_t size)
{
    count_call();
    return GENUINE(calloc)(count, size);
}

void *WRAPPED(realloc)(void *memory, size_t size)
{
    count_call();
    return GENUINE(realloc)(memory, size);
}

void WRAPPED(free)(void *memory)
{
    count_call();
    GENUINE(free)(memory);
}

// Room for the answers of every call.
typedef struct answers {
    double *H, *K, *J, *rows, *work;
    double v[FIGURE_NUMBERS], y[FIGURE_NUMBERS], q[FIGURE_NUMBERS];
} answers;

static void use_kinematics(const figure *f, answers *a)
{
    poise_vec3 x = {0.1, 0.2, 0.3}, center;
    double R[9], p[3];
    poise_kinematics_update(f->kin, f->q, NULL);
    poise_kinematics_body_pose(f->kin, 2);
    poise_kinematics_tool_pose(f->kin, 1);
    poise_kinematics_body_frame(f->kin, 2, R, p);
    poise_kinematics_point(f->kin, 2, x);
    poise_kinematics_direction(f->kin, 2, x);
    poise_kinematics_mass_center(f->kin, &center, a->J);
    poise_kinematics_jacobian(f->kin, 2, x, a->J, a->J + 3 * poise_model_info(f->model).nv, NULL);
    poise_kinematics_direction_jacobian(f->kin, 2, x, a->J, NULL);
    poise_kinematics_point_tensor(f->kin, 2, x, a->K, NULL);
    poise_retract(f->model, f->q, a->v, a->q, NULL);
    poise_difference(f->model, f->q, a->q, a->y, NULL);
    pz_kin_reparameterise(f->model, a->q);
    poise_model_clamp(f->model, a->q, NULL, NULL);
    poise_model_within_limits(f->model, a->q);
    poise_model_find_joint(f->model, "j3");
}

// Returns how many calls worked.
static int use_objective(const figure *f, poise_objective *objective, const random_goals *goals, int count, answers *a)
{
    poise_definiteness definiteness;
    int sound = poise_objective_set_goals(objective, goals->goals, count, NULL) == POISE_OK;
    for (int level = POISE_LEVEL_COST; level <= POISE_LEVEL_HESSIAN; ++level) {
        sound += poise_objective_evaluate(objective, f->q, (poise_level)level, NULL) == POISE_OK;
    }
    for (int k = 0; k < 2; ++k) {
        poise_hessian kind = (poise_hessian)k;
        sound += poise_objective_hessian(objective, kind, a->H, NULL) == POISE_OK;
        sound += poise_objective_multiply(objective, kind, a->v, a->y, NULL) == POISE_OK;
        sound += pz_objective_diagonal(objective, kind, a->y) == POISE_OK;
        sound += poise_objective_packed(objective, kind, a->rows, NULL) == POISE_OK;
        sound += poise_objective_definiteness(objective, kind, 1e-9, a->work, &definiteness, NULL) == POISE_OK;
    }
    for (int i = 0; i < count; ++i) {
        poise_objective_goal_error(objective, i);
    }
    return sound;
}

TEST(after_creation_nothing_allocates)
{
    scene_random random = scene_random_make(7);
    figure f = random_figure(&random, 24, RANDOM_LIMITS);
    random_goals *goals = malloc(sizeof *goals);
    random_goals_make(&random, f.model, goals);
    size_t n = (size_t)f.nv;
    answers a = {.H = malloc(n * n * sizeof(double)),
                 .K = malloc(3 * n * n * sizeof(double)),
                 .J = malloc(6 * n * sizeof(double)),
                 .rows = malloc(poise_model_packed_row(f.model, poise_model_info(f.model).nv).begin * sizeof(double)),
                 .work = malloc(n * (n + 2) * sizeof(double))};
    random_step(&random, f.model, 1.0, a.v);
    poise_objective *objective;
    calls = 0;
    counting = true;
    poise_objective_create(f.model, RANDOM_COUPLED, NULL, &objective, NULL);
    counting = false;
    ck_assert_int_eq(calls, 1); // the count works
    calls = 0;
    counting = true;
    use_kinematics(&f, &a);
    int all = use_objective(&f, objective, goals, RANDOM_GOALS, &a);
    int uncoupled = use_objective(&f, objective, goals, RANDOM_GOALS - RANDOM_COUPLED, &a);
    counting = false;
    ck_assert_int_eq(all, 12); // there is no packed form with coupled goals
    ck_assert_int_eq(uncoupled, 14);
    ck_assert_int_eq(calls, 0);
    poise_objective_destroy(objective);
    free(a.H);
    free(a.K);
    free(a.J);
    free(a.rows);
    free(a.work);
    free(goals);
}

// ---- Two threads ---------------------------------------------------------------------------------------------------------

#define ROUNDS 200

// FNV-1a over the bytes of an array.
static uint64_t hash(uint64_t h, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        h = (h ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    }
    return h;
}

typedef struct worker {
    const poise_model *model;
    const poise_goal *goals;
    uint64_t result;
} worker;

// Everything about ROUNDS configurations, hashed; 0 when something fails. No Check in here: it knows one thread.
static void *work(void *argument)
{
    worker *w = argument;
    size_t n = (size_t)poise_model_info(w->model).nv;
    double *H = malloc(n * n * sizeof *H), q[FIGURE_NUMBERS];
    poise_kinematics *kin = NULL;
    poise_objective *objective = NULL;
    bool sound = H && poise_kinematics_create(w->model, NULL, &kin, NULL) == POISE_OK &&
                 poise_objective_create(w->model, RANDOM_COUPLED, NULL, &objective, NULL) == POISE_OK &&
                 poise_objective_set_goals(objective, w->goals, RANDOM_GOALS, NULL) == POISE_OK;
    scene_random random = scene_random_make(99);
    uint64_t h = 14695981039346656037u;
    for (int round = 0; sound && round < ROUNDS; ++round) {
        scene_random_configuration(&random, w->model, q);
        sound = poise_kinematics_update(kin, q, NULL) == POISE_OK &&
                poise_objective_evaluate(objective, q, POISE_LEVEL_HESSIAN, NULL) == POISE_OK &&
                poise_objective_hessian(objective, POISE_HESSIAN_EXACT, H, NULL) == POISE_OK;
        for (int k = 0; sound && k < poise_model_info(w->model).joints; ++k) {
            poise_pose pose = poise_kinematics_body_pose(kin, k);
            h = hash(h, &pose, sizeof pose);
        }
        if (sound) {
            h = hash(h, poise_objective_value(objective).gradient, n * sizeof(double));
            h = hash(h, H, n * n * sizeof(double));
        }
    }
    poise_objective_destroy(objective);
    poise_kinematics_destroy(kin);
    free(H);
    w->result = sound ? h : 0;
    return NULL;
}

TEST(two_threads_over_one_model_get_the_same_bits_as_one)
{
    scene_random random = scene_random_make(8);
    poise_model *model = random_model(&random, 20, RANDOM_LIMITS | RANDOM_MIMICS);
    random_goals *goals = malloc(sizeof *goals);
    random_goals_make(&random, model, goals);
    worker alone = {model, goals->goals, 0}, pair[2] = {alone, alone};
    work(&alone);
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &pair[i]), 0);
    }
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ck_assert_uint_ne(alone.result, 0);
    ck_assert_uint_eq(pair[0].result, alone.result);
    ck_assert_uint_eq(pair[1].result, alone.result);
    free(goals);
    poise_model_destroy(model);
}
