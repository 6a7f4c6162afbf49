// The motion filter: time-optimal motion to rest under limits of velocity, acceleration and jerk, planned anew each step.
//
// A plan has a speed w to go at: first from (v, a) to (w, 0), then, if there is room, on at w, then from (w, 0) to rest.
// Each change of speed takes a jerk of +-J and an acceleration up to A:
//
//   to go from v, a to w > v + a|a|/2J (the speed that is left when the acceleration fades), the acceleration rises to
//   p = min(A, sqrt(J (w - v) + a^2/2)), stays, and falls to 0; and mirrored for a smaller w.
//
// The way of a plan without its middle part grows with w, so the w that ends at the set-point is found by bisection in
// [-V, V], or is the bound, with a middle part.
//
// Why limits hold: positions come from a function of time with |x'| <= V, |x''| <= A, |x'''| <= J, and a difference quotient
// is a mean of the derivative. A plan that would leave the range is not followed: by the plan of the step before, the joint
// can still turn back in time with all its effort.
#include <poise/filter.h>

#include "base/arena.h"
#include "base/error.h"
#include "motion/express/filter_map.h"
#include "motion/express/nutty_filter.h"
#include "num/real.h"
#include "num/trig.h"

#include <float.h>

#define SOFTEST  0.05 // least share of the speed near the ends of the range
#define HALVINGS 60   // of the interval of w: to the last bit
#define AT_REST  1e-13
#define PIECES   7 // of a plan

// Constant jerk for some time.
typedef struct piece {
    double jerk, time;
} piece;

typedef struct state {
    double x, v, a;
} state;

typedef struct joint {
    poise_filter_joint limits;
    state at;
    double setpoint;
    double left; // seconds of the plan
} joint;

struct poise_filter {
    poise_allocator allocator;
    bool has_allocator;
    pz_filter_map *map; // NULL: numbers, not configurations of a model
    int count;
    joint joints[];
};

// ---- Plans ---------------------------------------------------------------------------------------------------------------

static state after(state s, double jerk, double t)
{
    return (state){
        .x = s.x + t * (s.v + t * (s.a / 2.0 + t * jerk / 6.0)), .v = s.v + t * (s.a + t * jerk / 2.0), .a = s.a + t * jerk};
}

// Three pieces that bring the speed v with acceleration a to w, at acceleration 0.
static void change_speed(const poise_filter_joint *l, double v, double a, double w, piece out[3])
{
    double side = w >= v + a * fabs(a) / (2.0 * l->jerk) ? 1.0 : -1.0;
    double rise = side * (w - v), own = side * a;
    double peak = min2(l->acceleration, sqrt(max2(l->jerk * rise + own * own / 2.0, 0.0)));
    double covered = peak * peak / l->jerk - own * own / (2.0 * l->jerk);
    out[0] = (piece){side * l->jerk, max2((peak - own) / l->jerk, 0.0)};
    out[1] = (piece){0.0, peak > 0 ? max2((rise - covered) / peak, 0.0) : 0.0};
    out[2] = (piece){-side * l->jerk, peak / l->jerk};
}

// Where a plan with speed w and no middle part ends.
static double end_of(const poise_filter_joint *l, state s, double w)
{
    piece pieces[3];
    change_speed(l, s.v, s.a, w, pieces);
    for (int i = 0; i < 3; ++i) {
        s = after(s, pieces[i].jerk, pieces[i].time);
    }
    change_speed(l, w, 0.0, 0.0, pieces);
    s.v = w;
    s.a = 0.0;
    for (int i = 0; i < 3; ++i) {
        s = after(s, pieces[i].jerk, pieces[i].time);
    }
    return s.x;
}

// The speed to go at, at most `most`, and the time to stay at it.
static double choose_speed(const poise_filter_joint *l, state s, double setpoint, double most, double *stay)
{
    *stay = 0.0;
    double low = -most, high = most;
    double room_above = setpoint - end_of(l, s, high), room_below = setpoint - end_of(l, s, low);
    if (room_above >= 0) {
        *stay = room_above / most;
        return high;
    }
    if (room_below <= 0) {
        *stay = room_below / low;
        return low;
    }
    for (int i = 0; i < HALVINGS; ++i) {
        double middle = 0.5 * (low + high);
        bool is_beyond = end_of(l, s, middle) > setpoint;
        high = is_beyond ? middle : high;
        low = is_beyond ? low : middle;
    }
    return fabs(low) < fabs(high) ? low : high;
}

// ---- Shape ---------------------------------------------------------------------------------------------------------------

// The speed to aim at: less towards the nearer end of the range, by 1 - |u|^(2 soft) with u in [-1, 1] from its middle.
static double speed_limit(const joint *j)
{
    const poise_filter_joint *l = &j->limits;
    double half = 0.5 * (l->upper - l->lower), u = (j->at.x - 0.5 * (l->lower + l->upper)) / half;
    bool goes_outwards = u * (j->setpoint - j->at.x) > 0;
    if (l->soft > 0 && is_finite(half) && half > 0 && goes_outwards) {
        return l->velocity * max2(1.0 - pz_power(fabs(u), 2.0 * l->soft), SOFTEST);
    }
    return l->velocity;
}

// Acceleration and jerk to plan with. Smoothness sigma and responsiveness rho (Ribeiro & Paiva 2019, section 3.7) ease the
// motion by k = 1 - sigma (1 - rho): accelerations by k, jerks by k^2, as in slower time. (The paper's eq. 23 scales the
// speed instead, by a function that closes near the set-point: inside the loop that is a drag, which begins too late for a
// heavy joint and never ends.)
static poise_filter_joint eased(const poise_filter_joint *limits)
{
    poise_filter_joint l = *limits;
    double k = 1.0 - l.smoothness * (1.0 - l.responsiveness);
    l.acceleration *= k;
    l.jerk *= k * k;
    return l;
}

// ---- Steps ---------------------------------------------------------------------------------------------------------------

// Go at w, stay for a while, come to rest.
static void make_plan(const poise_filter_joint *l, state s, double w, double stay, piece plan[PIECES])
{
    change_speed(l, s.v, s.a, w, plan);
    plan[3] = (piece){0.0, stay};
    change_speed(l, w, 0.0, 0.0, plan + 4);
}

static void plan_to(const joint *j, const poise_filter_joint *l, piece plan[PIECES])
{
    double stay, w = choose_speed(l, j->at, j->setpoint, speed_limit(j), &stay);
    make_plan(l, j->at, w, stay, plan);
}

// Widen [*low, *high] by where a piece turns: v + a t + jerk t^2/2 = 0 within its time.
static void add_turns(state s, piece p, double *low, double *high)
{
    double half = 0.5 * p.jerk, root = s.a * s.a - 4.0 * half * s.v;
    if (root < 0) {
        return;
    }
    double q = -0.5 * (s.a + (s.a < 0 ? -sqrt(root) : sqrt(root))); // the roots are q/half and v/q, without cancellation
    const double times[2] = {half != 0 ? q / half : -1.0, q != 0 ? s.v / q : -1.0};
    for (int i = 0; i < 2; ++i) {
        if (times[i] > 0 && times[i] < p.time) {
            double x = after(s, p.jerk, times[i]).x;
            *low = min2(*low, x);
            *high = max2(*high, x);
        }
    }
}

// Does the plan stay within the range and, if `strictly`, on this side of the set-point?
static bool stays_inside(const joint *j, const piece plan[PIECES], bool strictly)
{
    state s = j->at;
    double low = s.x, high = s.x;
    for (int i = 0; i < PIECES; ++i) {
        add_turns(s, plan[i], &low, &high);
        s = after(s, plan[i].jerk, plan[i].time);
    }
    double least = j->limits.lower, most = j->limits.upper;
    if (strictly) {
        least = j->at.x > j->setpoint ? j->setpoint : least;
        most = j->at.x < j->setpoint ? j->setpoint : most;
    }
    double slack = AT_REST * max2(1.0, fabs(j->setpoint));
    return low >= least - slack && high <= most + slack;
}

// The first of these that stays inside: with eased limits and not past the set-point; with full limits; with all effort away
// from the end of the range that it comes too near, which the plan of the last step has left possible.
static void choose_plan(const joint *j, piece plan[PIECES])
{
    poise_filter_joint l = eased(&j->limits);
    double faded = j->at.v + j->at.a * fabs(j->at.a) / (2.0 * l.jerk);
    bool is_calm = fabs(j->at.a) <= l.acceleration && fabs(faded) <= l.velocity;
    if (is_calm) {
        plan_to(j, &l, plan);
        if (stays_inside(j, plan, true)) {
            return;
        }
    }
    plan_to(j, &j->limits, plan);
    if (!stays_inside(j, plan, false)) {
        make_plan(&j->limits, j->at, j->at.v < 0 ? j->limits.velocity : -j->limits.velocity, 0.0, plan);
    }
}

// By eq. 23, or at once.
static void go_otherwise(joint *j, double dt)
{
    state *s = &j->at;
    if (j->limits.mode == POISE_FILTER_NUTTY) {
        pz_nutty_step(&j->limits, j->setpoint, dt, &s->x, &s->v, &s->a);
    } else {
        *s = (state){.x = j->setpoint};
    }
    j->left = s->x == j->setpoint ? 0.0 : dt;
}

static void go_by_plan(joint *j, double dt)
{
    piece plan[PIECES];
    choose_plan(j, plan);
    j->left = 0.0;
    double rest = dt;
    for (int i = 0; i < PIECES; ++i) {
        double t = min2(plan[i].time, rest);
        j->at = after(j->at, plan[i].jerk, t);
        j->left += plan[i].time;
        rest -= t;
    }
    j->left = rest > 0 ? 0.0 : j->left - dt;
    if (rest > 0 && fabs(j->at.x - j->setpoint) <= AT_REST * max2(1.0, fabs(j->setpoint))) {
        j->at.v = j->at.a = 0.0; // the plan has ended: what rounding left of speed is none
    }
}

static void go_on(joint *j, double dt)
{
    const poise_filter_joint *l = &j->limits;
    double before = j->at.x;
    if (l->mode != POISE_FILTER_TIME_OPTIMAL) {
        go_otherwise(j, dt);
    } else {
        go_by_plan(j, dt);
    }
    if (!is_finite(j->at.x) || !is_finite(j->at.v) || !is_finite(j->at.a) || !is_finite(j->left)) {
        j->at = (state){.x = before}; // squares of the numbers overflow, and there is no plan: it stays
        j->left = before == j->setpoint ? 0.0 : DBL_MAX;
    }
    if (l->mode == POISE_FILTER_TIME_OPTIMAL) {
        j->at.v = clamp(j->at.v, -l->velocity, l->velocity);
        j->at.a = clamp(j->at.a, -l->acceleration, l->acceleration);
        j->at.x = clamp(j->at.x, l->lower, l->upper);
    }
}

poise_status poise_filter_step(poise_filter *filter, const double *setpoints, double dt, double *x, poise_error *error)
{
    if (!filter || !setpoints || !x) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter, setpoints and x must not be NULL");
    }
    if (!(dt > 0) || !is_finite(dt)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "dt is %g: it must be finite and > 0", dt);
    }
    double *q = x;
    if (filter->map) {
        setpoints = pz_filter_map_in(filter->map, setpoints);
        x = pz_filter_map_scratch(filter->map);
    }
    for (int i = 0; i < filter->count; ++i) {
        joint *j = &filter->joints[i];
        if (is_finite(setpoints[i])) {
            j->setpoint = clamp(setpoints[i], j->limits.lower, j->limits.upper);
        }
        go_on(j, dt);
        x[i] = j->at.x;
    }
    if (filter->map) {
        pz_filter_map_out(filter->map, x, q);
    }
    return POISE_OK;
}

bool poise_filter_rests(const poise_filter *filter)
{
    const double near = 1e-5, slow = 1e-3;
    for (int i = 0; filter && i < filter->count; ++i) {
        const joint *j = &filter->joints[i];
        if (fabs(j->at.x - j->setpoint) > near || fabs(j->at.v) > slow) {
            return false;
        }
    }
    return true;
}

void poise_filter_state(const poise_filter *filter, double *x, double *velocity, double *acceleration, double *time_left)
{
    for (int i = 0; filter && i < filter->count; ++i) {
        const state *s = &filter->joints[i].at;
        if (x) {
            x[i] = s->x;
        }
        if (velocity) {
            velocity[i] = s->v;
        }
        if (acceleration) {
            acceleration[i] = s->a;
        }
        if (time_left) {
            time_left[i] = filter->joints[i].left;
        }
    }
}

// ---- Life ----------------------------------------------------------------------------------------------------------------

poise_filter_joint poise_filter_joint_default(void)
{
    return (poise_filter_joint){.lower = -INFINITY, .upper = INFINITY, .velocity = 2.0, .acceleration = 10.0, .jerk = 100.0};
}

static bool is_rate(double x)
{
    return x > 0 && is_finite(x);
}

// The rule that a joint breaks; NULL: none.
static const char *broken_rule(const poise_filter_joint *l)
{
    const struct {
        bool is_sound;
        const char *rule;
    } checks[] = {
        {l->lower <= l->upper, "lower must not exceed upper"},
        {is_rate(l->velocity), "velocity must be finite and > 0"},
        {is_rate(l->acceleration), "acceleration must be finite and > 0"},
        {is_rate(l->jerk), "jerk must be finite and > 0"},
        {l->smoothness >= 0 && l->smoothness < 1, "smoothness must be in [0, 1)"},
        {l->responsiveness >= 0 && l->responsiveness <= 1, "responsiveness must be in [0, 1]"},
        {l->soft >= 0 && is_finite(l->soft), "soft must be finite and >= 0"},
        {(unsigned)l->mode < POISE_FILTER_MODE_COUNT, "there is no such mode"},
        {l->mode != POISE_FILTER_NUTTY || l->responsiveness < 1, "responsiveness must be below 1 in the nutty mode"},
        {l->length_unit >= 0 && is_finite(l->length_unit), "length_unit must be finite and >= 0"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; ++i) {
        if (!checks[i].is_sound) {
            return checks[i].rule;
        }
    }
    return NULL;
}

static poise_status create_plain(const poise_filter_joint *joints, int count, const poise_allocator *allocator,
                                 poise_filter **filter, poise_error *error)
{
    for (int i = 0; i < count; ++i) {
        const char *rule = broken_rule(&joints[i]);
        if (rule) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter joint %d: %s", i, rule);
        }
    }
    poise_filter *made = pz_allocate(allocator, sizeof *made + (size_t)count * sizeof made->joints[0]);
    if (!made) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    *made = (poise_filter){.has_allocator = allocator != NULL, .count = count};
    if (allocator) {
        made->allocator = *allocator;
    }
    for (int i = 0; i < count; ++i) {
        double start = clamp(0.0, joints[i].lower, joints[i].upper);
        made->joints[i] = (joint){.limits = joints[i], .at = {.x = start}, .setpoint = start};
    }
    *filter = made;
    return POISE_OK;
}

static poise_status create_for_model(const poise_model *model, const poise_filter_joint *joints,
                                     const poise_allocator *allocator, poise_filter **filter, poise_error *error)
{
    for (int k = 0; joints && k < poise_model_info(model).joints; ++k) {
        poise_filter_joint free_of_limits = joints[k];
        free_of_limits.lower = free_of_limits.upper = 0; // the model has them
        const char *rule = broken_rule(&free_of_limits);
        if (rule) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "joint \"%s\": %s", poise_model_joint_info(model, k).name,
                                rule);
        }
    }
    pz_filter_map *map = pz_filter_map_create(model, allocator);
    int count = map ? pz_filter_map_count(map) : 0;
    poise_filter_joint *numbers = map ? pz_allocate(allocator, ((size_t)count + 1) * sizeof *numbers) : NULL;
    poise_filter *made = NULL;
    if (!numbers) {
        pz_filter_map_destroy(map);
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_filter_map_joints(map, joints, numbers);
    poise_status status = create_plain(numbers, count, allocator, &made, error);
    pz_release(allocator, numbers);
    if (status != POISE_OK) {
        pz_filter_map_destroy(map);
        return status;
    }
    made->map = map;
    *filter = made;
    return POISE_OK;
}

poise_status poise_filter_create(const poise_model *model, const poise_filter_joint *joints, int count,
                                 const poise_allocator *allocator, poise_filter **filter, poise_error *error)
{
    if (count < 0 || (count > 0 && !joints) || !filter) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT,
                            "filter must not be NULL, and joints must not be NULL if count > 0");
    }
    if (model && count > 0 && count != poise_model_info(model).joints) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "%d joints given for a model that has %d", count,
                            poise_model_info(model).joints);
    }
    return model ? create_for_model(model, count > 0 ? joints : NULL, allocator, filter, error)
                 : create_plain(joints, count, allocator, filter, error);
}

// The state moves into the new limits.
static void set_number(joint *j, const poise_filter_joint *limits)
{
    j->limits = *limits;
    j->setpoint = clamp(j->setpoint, limits->lower, limits->upper);
    j->at.x = clamp(j->at.x, limits->lower, limits->upper);
    j->at.v = clamp(j->at.v, -limits->velocity, limits->velocity);
    j->at.a = clamp(j->at.a, -limits->acceleration, limits->acceleration);
}

poise_status poise_filter_set_joint(poise_filter *filter, int number, const poise_filter_joint *limits, poise_error *error)
{
    if (!filter || !limits) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter and limits must not be NULL");
    }
    int count = filter->map ? pz_filter_map_joint_count(filter->map) : filter->count;
    poise_filter_joint checked = *limits;
    if (filter->map) {
        checked.lower = checked.upper = 0; // the model has them
    }
    const char *rule = number < 0 || number >= count ? "there is no such joint" : broken_rule(&checked);
    if (rule) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter joint %d: %s", number, rule);
    }
    if (!filter->map) {
        set_number(&filter->joints[number], limits);
        return POISE_OK;
    }
    for (int i = 0; i < filter->count; ++i) {
        poise_filter_joint own;
        if (pz_filter_map_number(filter->map, i, limits, &own) == number) {
            set_number(&filter->joints[i], &own);
        }
    }
    return POISE_OK;
}

void poise_filter_destroy(poise_filter *filter)
{
    if (filter) {
        pz_filter_map_destroy(filter->map);
        poise_allocator allocator = filter->allocator;
        pz_release(filter->has_allocator ? &allocator : NULL, filter);
    }
}

poise_status poise_filter_reset(poise_filter *filter, const double *x, poise_error *error)
{
    if (filter && filter->map && x) {
        x = pz_filter_map_reset(filter->map, x);
    }
    if (!filter || !x || !all_finite(x, (size_t)filter->count)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "filter must not be NULL, and x must hold %d finite numbers",
                            filter ? filter->count : 0);
    }
    for (int i = 0; i < filter->count; ++i) {
        joint *j = &filter->joints[i];
        j->setpoint = clamp(x[i], j->limits.lower, j->limits.upper);
        j->at = (state){.x = j->setpoint};
        j->left = 0.0;
    }
    return POISE_OK;
}
