// Recordings with known truth, whole and broken.
//
// A person is the humanoid with bones of other lengths, who stands a little differently and moves as a scene does, on the
// spot or over ground. Markers sit where anatomy has them, give or take what people who attach them differ by, move with the
// skin and are seen with noise.
#include "broken_recordings.h"

#include <scenes/random.h>
#include <scenes/scenes.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 240, MOST_MARKERS = 64, MOST_NQ = 128 };

#define RATE  100.0
#define PI    3.14159265358979323846
#define SHARE 0.1 // of the frames

#define MOST_ANGLE  5.0   // degrees, and
#define MOST_CENTRE 0.030 // metres: more is wrong

// ---- People --------------------------------------------------------------------------------------------------------------

typedef struct marker_set {
    const char *name;
    const char *labels; // with a space between; NULL: the humanoid's own
} marker_set;

#define GAIT_LEGS "LASI RASI LPSI RPSI LTHI RTHI LKNE RKNE LTIB RTIB LANK RANK LHEE RHEE LTOE RTOE "
#define GAIT_TOP                                                                                                            \
    "LFHD RFHD LBHD RBHD C7 T10 CLAV STRN RBAK LSHO RSHO LUPA RUPA LELB RELB LFRM RFRM LWRA RWRA LWRB RWRB LFIN RFIN "

static const marker_set sets[] = {
    {"gait and arms", GAIT_LEGS GAIT_TOP},
    {"gait, arms, medial ones", GAIT_LEGS GAIT_TOP "LKNEM RKNEM LANKM RANKM LELBM RELBM LMT5 RMT5 "},
    {"legs", GAIT_LEGS},
    {"OpenSim's",
     "R.ASIS L.ASIS R.PSIS L.PSIS R.Thigh.Front L.Thigh.Front R.Thigh.Upper L.Thigh.Upper R.Thigh.Rear L.Thigh.Rear "
     "R.Knee.Lat L.Knee.Lat R.Knee.Med L.Knee.Med R.Shank.Upper L.Shank.Upper R.Shank.Front L.Shank.Front R.Shank.Rear "
     "L.Shank.Rear R.Ankle.Lat L.Ankle.Lat R.Ankle.Med L.Ankle.Med R.Heel L.Heel R.Midfoot.Sup L.Midfoot.Sup R.Toe.Lat "
     "L.Toe.Lat R.Toe.Med L.Toe.Med R.Acromium L.Acromium Top.Head R.Bicep L.Bicep R.Elbow L.Elbow R.Wrist.Lat L.Wrist.Lat "
     "R.Wrist.Med L.Wrist.Med Sternum C7"},
    {"joints", "LHJC RHJC LKJC RKJC LAJC RAJC LHEE RHEE LTOE RTOE LSJC RSJC LEJC REJC LWJC RWJC C7 CLAV LASI RASI SACR"},
    {"the humanoid's own", NULL},
};

enum { SETS = sizeof sets / sizeof sets[0] };

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

// Bones of a person: all by one factor, each by a few per cent more, both sides alike.
static poise_model *make_person(double factor, bool is_exact, scene_random *random)
{
    poise_model *humanoid, *person = NULL;
    double scale[MOST_NQ];
    if (scene_create("humanoid", NULL, &humanoid, NULL) != POISE_OK) {
        return NULL;
    }
    for (int k = 0; k < poise_model_info(humanoid).joints; ++k) {
        const char *body = poise_model_joint_info(humanoid, k).body;
        double own = is_exact ? 1.0 : factor * (1.0 + 0.03 * fmax(-2.0, fmin(2.0, scene_random_normal(random))));
        char twin[64];
        snprintf(twin, sizeof twin, "left_%s", strncmp(body, "right_", 6) == 0 ? body + 6 : body);
        int other = strncmp(body, "right_", 6) == 0 ? poise_model_find_body(humanoid, twin) : POISE_NONE;
        scale[k] = other >= 0 ? scale[other] : own;
    }
    poise_model_rescale(humanoid, scale, NULL, &person, NULL);
    poise_model_destroy(humanoid);
    return person;
}

// The index in q of the root's position along x.
static int root_at(const poise_model *model)
{
    int at = 0;
    while (poise_model_coordinate(model, at).unit != POISE_UNIT_LENGTH) {
        ++at;
    }
    return at;
}

// Over ground, the body moves as fast as the lower foot would slide.
static void let_travel(broken_take *t)
{
    const char *feet[2] = {"left_foot", "right_foot"};
    poise_kinematics *kin;
    double speed = 0.0, before[2] = {0.0, 0.0};
    int count = 0, nq = t->motion->nq, root = root_at(t->person);
    poise_kinematics_create(t->person, NULL, &kin, NULL);
    for (int f = 0; f < t->motion->frames; ++f) {
        poise_vec3 p[2];
        poise_kinematics_update(kin, t->motion->q + (size_t)f * (size_t)nq, NULL);
        for (int i = 0; i < 2; ++i) {
            p[i] = poise_kinematics_body_pose(kin, poise_model_find_body(t->person, feet[i])).position;
        }
        int low = p[1].y < p[0].y;
        speed += f > 0 ? before[low] - p[low].z : 0.0;
        count += f > 0;
        before[0] = p[0].z;
        before[1] = p[1].z;
    }
    poise_kinematics_destroy(kin);
    for (int f = 0; f < t->motion->frames; ++f) {
        t->motion->q[(size_t)f * (size_t)nq + (size_t)root + 2] += f * speed / count;
    }
}

static void move(broken_take *t, double factor, double tempo, bool is_exact, bool travels, scene_random *random)
{
    poise_model *humanoid;
    double habit[MOST_NQ] = {0};
    int nq = poise_model_info(t->person).nq, root = root_at(t->person);
    scene_create("humanoid", NULL, &humanoid, NULL);
    poise_clip_create(FRAMES, nq, 1.0 / RATE, NULL, &t->motion, NULL);
    for (int i = 0; i < nq; ++i) {
        habit[i] = is_exact || i < 6 ? 0.0 : 0.03 * fmax(-2.0, fmin(2.0, scene_random_normal(random)));
    }
    double begin = scene_random_uniform(random) * scene_motion_duration(t->moves);
    for (int f = 0; f < FRAMES; ++f) {
        double *q = t->motion->q + (size_t)f * (size_t)nq;
        int moved;
        scene_motion_pose(humanoid, t->moves, begin + f * tempo / RATE, q);
        for (int i = 0; i < nq; ++i) {
            q[i] += habit[i];
        }
        poise_model_clamp(t->person, q, &moved, NULL);
        const poise_joint *given = poise_model_joint_info(t->person, 0).given;
        q[root] *= factor;
        q[root + 1] = factor * (given->offset.position.y + q[root + 1]) - given->offset.position.y;
        q[root + 2] *= factor;
    }
    poise_model_destroy(humanoid);
    if (travels) {
        let_travel(t);
    }
}

// Where the markers of a set sit on this person.
static int attach(const broken_take *t, const char *labels, bool is_exact, char *text, size_t size, poise_placement *places,
                  scene_random *random)
{
    static scene_marker own[MOST_MARKERS]; // whose names the placements use
    if (!labels) {
        int count = scene_markers("humanoid", own, MOST_MARKERS);
        for (int i = 0; i < count; ++i) {
            places[i] = (poise_placement){own[i].name, own[i].body, own[i].local, 1.0};
        }
        return count;
    }
    const char *names[MOST_MARKERS];
    int count = 0;
    snprintf(text, size, "%s", labels);
    for (char *word = strtok(text, " "); word && count < MOST_MARKERS; word = strtok(NULL, " ")) {
        names[count++] = word;
    }
    poise_markers *empty;
    poise_place_prior priors[MOST_MARKERS];
    poise_places_report report;
    poise_markers_create(1, count, RATE, names, NULL, &empty, NULL);
    if (poise_places_by_name(t->person, empty, NULL, places, priors, MOST_MARKERS, &report, NULL) != POISE_OK) {
        report.placed = 0;
    }
    for (int i = 0; i < report.placed; ++i) {
        for (int k = 0; k < count; ++k) { // labels that outlive `empty`
            places[i].label = strcmp(places[i].label, names[k]) == 0 ? names[k] : places[i].label;
        }
        poise_vec3 off = {scene_random_normal(random), scene_random_normal(random), scene_random_normal(random)};
        poise_vec3 a = priors[i].axis;
        double along = off.x * a.x + off.y * a.y + off.z * a.z, s = is_exact ? 0.0 : 0.4;
        double *local = &places[i].local.x;
        const double parts[3] = {off.x, off.y, off.z}, axis[3] = {a.x, a.y, a.z};
        for (int c = 0; c < 3; ++c) {
            local[c] += s * (priors[i].across * (parts[c] - along * axis[c]) + priors[i].along * along * axis[c]);
        }
    }
    poise_markers_destroy(empty);
    return report.placed;
}

// Skin that moves slowly and cameras that see with noise.
static void make_real(poise_markers *m, double skin, double noise, scene_random *random)
{
    for (int i = 0; i < m->count; ++i) {
        poise_vec3 way = scene_random_direction(random);
        double rate = scene_random_range(random, 0.7, 2.0), phase = scene_random_range(random, 0, 2 * PI);
        for (int f = 0; f < m->frames; ++f) {
            poise_vec3 *p = &m->position[(size_t)f * (size_t)m->count + (size_t)i];
            double s = skin * sin(phase + 2 * PI * rate * f / m->rate);
            p->x += s * way.x + noise * scene_random_normal(random);
            p->y += s * way.y + noise * scene_random_normal(random);
            p->z += s * way.z + noise * scene_random_normal(random);
        }
    }
}

static void turn_points(poise_vec3 *p, size_t count, double angle, double x, double z)
{
    double c = cos(angle), s = sin(angle);
    for (size_t i = 0; i < count; ++i) {
        p[i] = (poise_vec3){c * p[i].x + s * p[i].z + x, p[i].y, -s * p[i].x + c * p[i].z + z};
    }
}

static void free_parts(broken_take *t)
{
    poise_model_destroy(t->person);
    poise_clip_destroy(t->motion);
    poise_markers_destroy(t->markers);
    free(t->angles);
    free(t->centres);
    free(t->places);
}

void broken_take_free(broken_take *take)
{
    if (take) {
        free_parts(take);
        free(take);
    }
}

static void find_truth(broken_take *t)
{
    poise_placement centres[BROKEN_CENTRES];
    poise_markers *points;
    size_t frames = (size_t)t->motion->frames;
    t->angles = malloc(frames * POISE_ANGLE_COUNT * sizeof *t->angles);
    t->centres = malloc(frames * BROKEN_CENTRES * sizeof *t->centres);
    poise_joint_angles(t->person, t->motion, NULL, t->angles, NULL);
    poise_joint_centres(t->person, NULL, centres, BROKEN_CENTRES);
    poise_markers_from_clip(t->person, t->motion, (poise_scale){1.0, POISE_UP_Y}, centres, BROKEN_CENTRES, NULL, &points,
                            NULL);
    memcpy(t->centres, points->position, frames * BROKEN_CENTRES * sizeof *t->centres);
    poise_markers_destroy(points);
}

// A person of this seed who is recorded. `sibling`: another person of the same motion, set and place.
static broken_take *record(uint64_t seed, uint64_t sibling)
{
    static const char *const motions[] = {"walk", "walk", "walk", "kick", "punch", "walk", "cartwheel", "walk"};
    static char text[4096]; // labels until the recording has its own
    scene_random random = scene_random_make(seed * 7919 + 17), own = scene_random_make(sibling * 104729 + 31);
    broken_take *t = calloc(1, sizeof *t);
    const marker_set *set = &sets[scene_random_index(&random, SETS)];
    bool is_exact = set->labels == NULL;
    double factor = is_exact ? 1.0 : scene_random_range(&own, 1.0, 2.1) / 1.75;
    t->set = set->name;
    t->seed = seed;
    t->stature = 1.75 * factor;
    t->moves = motions[scene_random_index(&random, (int)(sizeof motions / sizeof motions[0]))];
    bool travels = scene_random_uniform(&random) < 0.6 && strcmp(t->moves, "walk") == 0;
    double tempo = scene_random_range(&random, 0.85, 1.1) / sqrt(factor);
    t->person = make_person(factor, is_exact, &own);
    move(t, factor, tempo, is_exact, travels, &random);
    poise_placement places[MOST_MARKERS];
    int count = attach(t, set->labels, is_exact, text, sizeof text, places, &own);
    t->places = malloc(sizeof places);
    memcpy(t->places, places, sizeof places);
    poise_markers_from_clip(t->person, t->motion, (poise_scale){1.0, POISE_UP_Y}, places, count, NULL, &t->markers, NULL);
    make_real(t->markers, (is_exact ? 0.001 : 0.003) * factor, 0.0005, &own);
    find_truth(t);
    double angle = t->heading = scene_random_range(&random, 0, 2 * PI), x = scene_random_range(&random, -2, 2), z = -1.0;
    turn_points(t->markers->position, (size_t)t->markers->frames * (size_t)t->markers->count, angle, x, z);
    turn_points(t->centres, (size_t)t->motion->frames * BROKEN_CENTRES, angle, x, z);
    return t;
}

// ---- Damage --------------------------------------------------------------------------------------------------------------

typedef struct damage {
    broken_take *take;
    poise_markers *m;
    uint64_t seed;
    scene_random *random;
} damage;

typedef struct damage_kind {
    const char *name;
    bool (*damage)(damage *d); // false: does not apply
    bool is_harmless;
    bool has_false_times;
} damage_kind;

static poise_vec3 *at(const damage *d, int frame, int marker)
{
    return &d->m->position[(size_t)frame * (size_t)d->m->count + (size_t)marker];
}

static int any_marker(damage *d)
{
    return scene_random_index(d->random, d->m->count);
}

static poise_vec3 add(poise_vec3 a, poise_vec3 b, double t)
{
    return (poise_vec3){a.x + t * b.x, a.y + t * b.y, a.z + t * b.z};
}

static const poise_vec3 gap = {NAN, NAN, NAN};

// The marker on the other side; -1: none.
static int twin_of(const damage *d, int marker)
{
    const char *label = d->m->label[marker];
    char other[64];
    for (int i = 0; i < d->m->count; ++i) {
        const char *candidate = d->m->label[i];
        snprintf(other, sizeof other, "%s", label);
        char *side = NULL;
        if (strncmp(label, "left_", 5) == 0) {
            snprintf(other, sizeof other, "right_%s", label + 5);
            side = other;
        } else if (label[0] == 'L' && strcmp(label, "L") != 0) {
            other[0] = 'R';
            side = other;
        }
        if (side && strcmp(candidate, other) == 0) {
            return i;
        }
    }
    return -1;
}

static bool is_of_leg(const char *label)
{
    static const char *const parts[] = {"THI",   "KNE",   "TIB",   "ANK",     "HEE", "TOE",   "MT5", "Thigh", "Knee",
                                        "Shank", "Ankle", "Heel",  "Midfoot", "Toe", "HJC",   "KJC", "AJC",   "thigh",
                                        "knee",  "shin",  "ankle", "heel",    "toe", "shank", "foot"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        if (strstr(label, parts[i])) {
            return true;
        }
    }
    return false;
}

static void swap_points(damage *d, int a, int b, int first, int end)
{
    for (int f = first; f < end; ++f) {
        poise_vec3 kept = *at(d, f, a);
        *at(d, f, a) = *at(d, f, b);
        *at(d, f, b) = kept;
    }
}

// Markers near one, in the first frame: its body, more or less.
static int neighbours(const damage *d, int marker, double within, int list[MOST_MARKERS])
{
    int count = 0;
    poise_vec3 p = *at(d, 0, marker);
    for (int i = 0; i < d->m->count; ++i) {
        poise_vec3 off = add(*at(d, 0, i), p, -1.0);
        if (sqrt(off.x * off.x + off.y * off.y + off.z * off.z) < within * d->take->stature) {
            list[count++] = i;
        }
    }
    return count;
}

static void every_point(damage *d, poise_vec3 (*change)(poise_vec3 p, double how), double how, int first, int end)
{
    for (int f = first; f < end; ++f) {
        for (int i = 0; i < d->m->count; ++i) {
            *at(d, f, i) = change(*at(d, f, i), how);
        }
    }
}

// Fewer frames: `kept` of them, from[] where each comes from; or other markers.
static void replace(damage *d, poise_markers *made)
{
    made->scale = d->m->scale;
    poise_markers_destroy(d->m);
    d->take->markers = d->m = made;
}

static void take_frames(damage *d, const int *from, int frames)
{
    poise_markers *made;
    poise_markers_create(frames, d->m->count, d->m->rate, d->m->label, NULL, &made, NULL);
    for (int f = 0; f < frames; ++f) {
        memcpy(made->position + (size_t)f * (size_t)made->count, at(d, from[f], 0),
               (size_t)made->count * sizeof *made->position);
    }
    replace(d, made);
}

static void add_marker(damage *d, const char *label, poise_markers **more)
{
    const char *labels[MOST_MARKERS + 8];
    for (int i = 0; i < d->m->count; ++i) {
        labels[i] = d->m->label[i];
    }
    labels[d->m->count] = label;
    poise_markers_create(d->m->frames, d->m->count + 1, d->m->rate, labels, NULL, more, NULL);
    for (int f = 0; f < d->m->frames; ++f) {
        memcpy((*more)->position + (size_t)f * (size_t)(*more)->count, at(d, f, 0),
               (size_t)d->m->count * sizeof *d->m->position);
    }
}

// -- harmless

static bool nothing(damage *d)
{
    return d->m != NULL;
}

static bool millimetres_z_up(damage *d)
{
    return poise_markers_rescale(d->m, (poise_scale){0.001, POISE_UP_Z}, NULL) == POISE_OK;
}

static bool unknown_scale(damage *d)
{
    millimetres_z_up(d);
    d->m->scale = (poise_scale){0, POISE_UP_UNKNOWN};
    return true;
}

static bool short_gaps(damage *d)
{
    for (int i = 0; i < d->m->count; ++i) {
        int first = scene_random_index(d->random, FRAMES - 8);
        for (int f = first; f < first + 8; ++f) {
            *at(d, f, i) = gap;
        }
    }
    return true;
}

static bool some_noise(damage *d)
{
    make_real(d->m, 0, 0.002, d->random);
    return true;
}

static bool few_spikes(damage *d)
{
    for (int i = 0; i < 6; ++i) {
        int marker = any_marker(d), frame = scene_random_index(d->random, FRAMES);
        double length = scene_random_range(d->random, 0.3, 1.0);
        poise_vec3 *p = at(d, frame, marker);
        *p = add(*p, scene_random_direction(d->random), length);
    }
    return true;
}

static bool props(damage *d)
{
    for (int i = 0; i < 3; ++i) {
        poise_markers *made;
        char label[16];
        snprintf(label, sizeof label, i == 0 ? "box" : "*%d", i);
        add_marker(d, label, &made);
        for (int f = 0; f < made->frames; ++f) {
            made->position[(size_t)f * (size_t)made->count + (size_t)made->count - 1] =
                (poise_vec3){1.5, 0.4 + 0.1 * i, 1.0 + 0.2 * i};
        }
        replace(d, made);
    }
    return true;
}

static bool subject(damage *d)
{
    const char *labels[MOST_MARKERS];
    static char text[MOST_MARKERS][48];
    for (int i = 0; i < d->m->count; ++i) {
        snprintf(text[i], sizeof text[i], "Anna:%s", d->m->label[i]);
        labels[i] = text[i];
    }
    poise_markers *made;
    poise_markers_create(d->m->frames, d->m->count, d->m->rate, labels, NULL, &made, NULL);
    memcpy(made->position, d->m->position, (size_t)(FRAMES * d->m->count) * sizeof *made->position);
    replace(d, made);
    return true;
}

static bool doubled_frame(damage *d)
{
    int f = 1 + scene_random_index(d->random, FRAMES - 1);
    for (int i = 0; i < d->m->count; ++i) {
        *at(d, f, i) = *at(d, f - 1, i);
    }
    return true;
}

// -- names

static bool swapped_pair(damage *d)
{
    int near[MOST_MARKERS], a = any_marker(d), count = neighbours(d, a, 0.12, near),
                            b = near[scene_random_index(d->random, count)];
    swap_points(d, a, b, 0, FRAMES);
    return a != b;
}

static bool swapped_sides(damage *d)
{
    int a = any_marker(d), b = twin_of(d, a);
    if (b >= 0) {
        swap_points(d, a, b, 0, FRAMES);
    }
    return b >= 0;
}

static bool relabelled(damage *d, bool legs_only, int first, int end)
{
    for (int a = 0; a < d->m->count; ++a) {
        int b = twin_of(d, a);
        if (b >= 0 && (!legs_only || is_of_leg(d->m->label[a]))) {
            swap_points(d, a, b, first, end);
        }
    }
    return true;
}

static bool left_is_right(damage *d)
{
    return relabelled(d, false, 0, FRAMES);
}

static bool left_leg_is_right(damage *d)
{
    return relabelled(d, true, 0, FRAMES);
}

static bool sides_for_a_while(damage *d)
{
    return relabelled(d, true, FRAMES / 3, FRAMES / 3 + 60);
}

static bool swapped_for_a_while(damage *d)
{
    int near[MOST_MARKERS], a = any_marker(d), count = neighbours(d, a, 0.15, near),
                            b = near[scene_random_index(d->random, count)];
    swap_points(d, a, b, FRAMES / 3, FRAMES / 3 + 80);
    return a != b;
}

static bool rotated_names(damage *d)
{
    int near[MOST_MARKERS], a = any_marker(d), count = neighbours(d, a, 0.2, near);
    for (int i = 1; i < count; ++i) {
        swap_points(d, near[0], near[i], 0, FRAMES);
    }
    return count > 2;
}

static bool two_people(damage *d)
{
    broken_take *other = record(d->seed, d->seed + 1000);
    bool works = other->markers->count == d->m->count;
    for (int i = 0; i < d->m->count && works; ++i) {
        for (int f = 0; f < FRAMES && scene_random_uniform(d->random) < 2; ++f) {
            if (twin_of(d, i) >= 0) {
                int late = (f + 50) % FRAMES;
                *at(d, f, i) = add(other->markers->position[(size_t)late * (size_t)d->m->count + (size_t)i],
                                   (poise_vec3){0.3, 0, 0.1}, 1.0);
            }
        }
    }
    broken_take_free(other);
    return works;
}

static bool same_point_twice(damage *d)
{
    int near[MOST_MARKERS], a = any_marker(d), count = neighbours(d, a, 0.3, near),
                            b = near[scene_random_index(d->random, count)];
    for (int f = 0; f < FRAMES; ++f) {
        *at(d, f, a) = *at(d, f, b);
    }
    return a != b;
}

// -- places

static void displace(damage *d, int marker, double by, int first)
{
    // in the frame of its neighbours, or else the marker would not move with the body
    int near[MOST_MARKERS], count = neighbours(d, marker, 0.25, near), a = -1, b = -1;
    for (int i = 0; i < count; ++i) {
        a = near[i] != marker && a < 0 ? near[i] : a;
        b = near[i] != marker && near[i] != a ? near[i] : b;
    }
    poise_vec3 mix = scene_random_direction(d->random);
    for (int f = first; f < FRAMES && a >= 0 && b >= 0; ++f) {
        poise_vec3 x = add(*at(d, f, a), *at(d, f, marker), -1.0), y = add(*at(d, f, b), *at(d, f, marker), -1.0);
        double n = sqrt(x.x * x.x + x.y * x.y + x.z * x.z);
        x = (poise_vec3){x.x / n, x.y / n, x.z / n};
        y = add(y, x, -(x.x * y.x + x.y * y.y + x.z * y.z));
        n = sqrt(y.x * y.x + y.y * y.y + y.z * y.z) + 1e-9;
        y = (poise_vec3){y.x / n, y.y / n, y.z / n};
        poise_vec3 z = {x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z, x.x * y.y - x.y * y.x};
        poise_vec3 p = add(add(add(*at(d, f, marker), x, by * mix.x), y, by * mix.y), z, by * mix.z);
        *at(d, f, marker) = p;
    }
}

static bool displaced(damage *d)
{
    displace(d, any_marker(d), 0.04, 0);
    return true;
}

static bool displaced_more(damage *d)
{
    displace(d, any_marker(d), 0.08, 0);
    return true;
}

static bool slipped_marker(damage *d)
{
    displace(d, any_marker(d), 0.05, FRAMES / 2);
    return true;
}

static void shift_near(damage *d, double by, int first)
{
    int near[MOST_MARKERS], a = any_marker(d), count = neighbours(d, a, 0.12, near), other = -1;
    for (int i = 0; i < d->m->count; ++i) {
        bool is_near = false;
        for (int k = 0; k < count; ++k) {
            is_near = is_near || near[k] == i;
        }
        other = is_near || other >= 0 ? other : i;
    }
    for (int f = first; f < FRAMES && other >= 0; ++f) { // towards a marker of another body
        poise_vec3 way = add(*at(d, f, other), *at(d, f, a), -1.0);
        double n = sqrt(way.x * way.x + way.y * way.y + way.z * way.z);
        for (int k = 0; k < count; ++k) {
            *at(d, f, near[k]) = add(*at(d, f, near[k]), way, by / n);
        }
    }
}

static bool slipped_cluster(damage *d)
{
    shift_near(d, 0.03, FRAMES / 2);
    return true;
}

static bool slipped_cluster_more(damage *d)
{
    shift_near(d, 0.06, FRAMES / 2);
    return true;
}

static bool drifting_half(damage *d)
{
    poise_vec3 way = scene_random_direction(d->random);
    for (int i = 0; i < d->m->count; i += 2) {
        for (int f = 0; f < FRAMES; ++f) {
            *at(d, f, i) = add(*at(d, f, i), way, 0.08 * f / FRAMES);
        }
    }
    return true;
}

// -- clusters: markers of one body that are moved on it

// Where a marker is moved to on its body, in metres of the body's frame, when `share` of the movement is done.
typedef poise_vec3 (*marker_move)(const damage *d, const poise_placement *place, poise_vec3 way, double share);

// Move the markers of one body, or two that mirror each other (`twin`), all of them or those that `chosen` says.
static void move_on_body(damage *d, const bool *chosen, poise_vec3 way, marker_move step, double (*share)(double time))
{
    const broken_take *t = d->take;
    double c = cos(t->heading), s = sin(t->heading);
    poise_kinematics *kin;
    poise_kinematics_create(t->person, NULL, &kin, NULL);
    for (int f = 0; f < FRAMES; ++f) {
        poise_kinematics_update(kin, t->motion->q + (size_t)f * (size_t)t->motion->nq, NULL);
        for (int i = 0; i < d->m->count; ++i) {
            if (chosen[i]) {
                poise_vec3 by = step(d, &t->places[i], way, share((double)f / (FRAMES - 1)));
                by = poise_quat_rotate(poise_kinematics_body_pose(kin, t->places[i].body).rotation, by);
                *at(d, f, i) = add(*at(d, f, i), (poise_vec3){c * by.x + s * by.z, by.y, -s * by.x + c * by.z}, 1.0);
            }
        }
    }
    poise_kinematics_destroy(kin);
}

static double at_once(double time)
{
    return time >= 0.0;
}

static double slowly(double time)
{
    return time;
}

static double there_and_back(double time)
{
    return sin(PI * time);
}

static poise_vec3 shifted_on(const damage *d, const poise_placement *place, poise_vec3 way, double share)
{
    const char *body = poise_model_joint_info(d->take->person, place->body).body;
    double mirrored = strncmp(body, "right_", 6) == 0 || place->local.x < 0.0 ? -1.0 : 1.0;
    return (poise_vec3){share * mirrored * way.x, share * way.y, share * way.z};
}

// Turned about the bone, which is along y of the humanoid's limbs, by |way| radians.
static poise_vec3 turned_about(const damage *d, const poise_placement *place, poise_vec3 way, double share)
{
    double angle = share * way.y, x = place->local.x, z = place->local.z;
    (void)d;
    return (poise_vec3){cos(angle) * x + sin(angle) * z - x, 0.0, -sin(angle) * x + cos(angle) * z - z};
}

// The markers of one body that has two or more; of limbs alone, and without those at joints, if asked.
static bool choose_body(damage *d, bool of_limbs, bool plates, bool chosen[MOST_MARKERS])
{
    static const char *const limbs[] = {"thigh", "shin", "upper_arm", "forearm", "radius"};
    const broken_take *t = d->take;
    for (int tries = 0, count = 0; tries < 40; ++tries, count = 0) {
        int body = t->places[any_marker(d)].body;
        const char *name = poise_model_joint_info(t->person, body).body;
        bool is_limb = false;
        for (size_t k = 0; k < sizeof limbs / sizeof *limbs; ++k) {
            is_limb = is_limb || strstr(name, limbs[k]);
        }
        for (int i = 0; i < d->m->count; ++i) {
            double along = -t->places[i].local.y / t->stature;
            bool is_plate = along > 0.05 && along < 0.20;
            chosen[i] = t->places[i].body == body && (!plates || is_plate);
            count += chosen[i];
        }
        if (count >= (plates ? 1 : 2) && (is_limb || !of_limbs)) {
            return true;
        }
    }
    return false;
}

static bool move_cluster(damage *d, double (*share)(double time))
{
    bool chosen[MOST_MARKERS];
    poise_vec3 way = scene_random_direction(d->random);
    double by = scene_random_range(d->random, 0.03, 0.04);
    bool works = choose_body(d, false, false, chosen);
    if (works) {
        move_on_body(d, chosen, (poise_vec3){by * way.x, by * way.y, by * way.z}, shifted_on, share);
    }
    return works;
}

static bool drifting_cluster(damage *d)
{
    return move_cluster(d, slowly);
}

static bool swaying_cluster(damage *d)
{
    return move_cluster(d, there_and_back);
}

static bool misplaced_cluster(damage *d)
{
    return move_cluster(d, at_once);
}

static bool turn_cluster(damage *d, bool plates, double (*share)(double time))
{
    bool chosen[MOST_MARKERS];
    double sign = scene_random_uniform(d->random) < 0.5 ? -1.0 : 1.0;
    poise_vec3 way = {0.0, sign * scene_random_range(d->random, 20.0, 30.0) * PI / 180.0, 0.0};
    bool works = choose_body(d, true, plates, chosen);
    if (works) {
        move_on_body(d, chosen, way, turned_about, share);
    }
    return works;
}

static bool turned_plate(damage *d)
{
    return turn_cluster(d, true, at_once);
}

static bool turned_segment(damage *d)
{
    return turn_cluster(d, false, at_once);
}

static bool turning_segment(damage *d)
{
    return turn_cluster(d, false, slowly);
}

// -- sizes by few distances

// Both markers of this name are off by 40 mm, alike; what has none of the words is not there.
static bool move_pair(damage *d, const char *const *names, bool legs_only)
{
    bool chosen[MOST_MARKERS] = {false}, works = false;
    for (int i = 0; i < d->m->count; ++i) {
        for (const char *const *name = names; *name; ++name) {
            chosen[i] = chosen[i] || ends_with(d->m->label[i], *name);
        }
        works = works || chosen[i];
        for (int f = 0; f < FRAMES && legs_only && !chosen[i] && !is_of_leg(d->m->label[i]); ++f) {
            *at(d, f, i) = strstr(d->m->label[i], "ASI") || strstr(d->m->label[i], "SACR") ? *at(d, f, i) : gap;
        }
    }
    poise_vec3 way = scene_random_direction(d->random);
    if (works) {
        move_on_body(d, chosen, (poise_vec3){0.04 * way.x, 0.04 * way.y, 0.04 * way.z}, shifted_on, at_once);
    }
    return works;
}

static const char *const asis[] = {"ASI", ".ASIS", NULL}, *const knees[] = {"KNE", "Knee.Lat", NULL};

static bool both_asis(damage *d)
{
    return move_pair(d, asis, false);
}

static bool both_asis_of_legs(damage *d)
{
    return move_pair(d, asis, true);
}

static bool both_knees_of_legs(damage *d)
{
    return move_pair(d, knees, true);
}

static bool missing_body(damage *d)
{
    int near[MOST_MARKERS], count = neighbours(d, any_marker(d), 0.12, near);
    for (int f = 0; f < FRAMES; ++f) {
        for (int k = 0; k < count; ++k) {
            *at(d, f, near[k]) = gap;
        }
    }
    return true;
}

static bool static_marker(damage *d)
{
    int i = any_marker(d);
    for (int f = 1; f < FRAMES; ++f) {
        *at(d, f, i) = *at(d, 0, i);
    }
    return true;
}

static bool exchanged_axes_of_one(damage *d)
{
    int i = any_marker(d);
    for (int f = 0; f < FRAMES; ++f) {
        poise_vec3 p = *at(d, f, i);
        *at(d, f, i) = (poise_vec3){p.y, p.x, p.z};
    }
    return true;
}

// The first column of this name is off, the second one is not.
static void add_twin(damage *d, double by)
{
    poise_markers *made;
    int i = any_marker(d);
    add_marker(d, d->m->label[i], &made);
    displace(d, i, by, 0);
    for (int f = 0; f < FRAMES; ++f) {
        poise_vec3 *truth = made->position + f * made->count, off = *at(d, f, i);
        truth[made->count - 1] = truth[i];
        truth[i] = off;
    }
    replace(d, made);
}

static bool name_twice(damage *d)
{
    add_twin(d, 0.06);
    return true;
}

static bool name_twice_alike(damage *d)
{
    add_twin(d, 0.0);
    return true;
}

// -- units and axes

static poise_vec3 scaled(poise_vec3 p, double by)
{
    return (poise_vec3){by * p.x, by * p.y, by * p.z};
}

static bool millimetres_as_metres(damage *d)
{
    every_point(d, scaled, 1000, 0, FRAMES);
    return true;
}

static bool metres_as_millimetres(damage *d)
{
    d->m->scale.metres = 0.001;
    return true;
}

static bool inches_as_centimetres(damage *d)
{
    every_point(d, scaled, 1 / 2.54, 0, FRAMES);
    return true;
}

static poise_vec3 stretched_x(poise_vec3 p, double by)
{
    return (poise_vec3){by * p.x, p.y, p.z};
}

static poise_vec3 stretched_y(poise_vec3 p, double by)
{
    return (poise_vec3){p.x, by * p.y, p.z};
}

static bool stretch_across(damage *d)
{
    every_point(d, stretched_x, scene_random_uniform(d->random) < 0.5 ? 1.1 : 0.9, 0, FRAMES);
    return true;
}

static bool stretch_up(damage *d)
{
    every_point(d, stretched_y, scene_random_uniform(d->random) < 0.5 ? 1.1 : 0.9, 0, FRAMES);
    return true;
}

static poise_vec3 mirrored(poise_vec3 p, double which)
{
    return which < 1 ? (poise_vec3){-p.x, p.y, p.z} : which < 2 ? (poise_vec3){p.x, p.y, -p.z} : scaled(p, -1.0);
}

static bool mirror(damage *d)
{
    every_point(d, mirrored, scene_random_range(d->random, 0, 3), 0, FRAMES);
    return true;
}

static poise_vec3 exchanged(poise_vec3 p, double which)
{
    return which < 1 ? (poise_vec3){p.z, p.y, p.x} : which < 2 ? (poise_vec3){p.x, p.z, p.y} : (poise_vec3){p.y, p.x, p.z};
}

static bool exchange_axes(damage *d)
{
    every_point(d, exchanged, scene_random_range(d->random, 0, 3), 0, FRAMES);
    return true;
}

static poise_vec3 tilted(poise_vec3 p, double angle)
{
    return (poise_vec3){p.x, cos(angle) * p.y - sin(angle) * p.z, sin(angle) * p.y + cos(angle) * p.z};
}

static bool tilted_room(damage *d)
{
    every_point(d, tilted, 0.35, 0, FRAMES);
    return true;
}

static poise_vec3 turned(poise_vec3 p, double angle)
{
    return (poise_vec3){cos(angle) * p.x + sin(angle) * p.z, p.y, -sin(angle) * p.x + cos(angle) * p.z};
}

static bool turned_half_way(damage *d)
{
    every_point(d, turned, 1.0, FRAMES / 2, FRAMES);
    return true;
}

// -- frames

static bool too_fast(damage *d)
{
    d->m->rate *= 10;
    return true;
}

// of a walk: what else people do they may do as slowly
static bool too_slow(damage *d)
{
    d->m->rate *= 0.1;
    return strcmp(d->take->moves, "walk") == 0;
}

static void freeze(damage *d, int frames, int marker)
{
    int first = 20 + scene_random_index(d->random, FRAMES - frames - 30);
    for (int f = first; f < first + frames; ++f) {
        for (int i = 0; i < d->m->count; ++i) {
            if (marker < 0 || i == marker) {
                *at(d, f, i) = *at(d, first - 1, i);
            }
        }
    }
}

static bool frozen(damage *d)
{
    freeze(d, 30 + scene_random_index(d->random, 70), -1);
    return true;
}

static bool frozen_briefly(damage *d)
{
    freeze(d, 5 + scene_random_index(d->random, 20), -1);
    return true;
}

static bool frozen_marker(damage *d)
{
    int marker = any_marker(d);
    freeze(d, 5 + scene_random_index(d->random, 95), marker);
    return true;
}

static bool cut(damage *d)
{
    int from[FRAMES], gone = 50, at_frame = 60 + scene_random_index(d->random, 60), count = 0;
    for (int f = 0; f < FRAMES; ++f) {
        from[count] = f;
        count += f < at_frame || f >= at_frame + gone;
    }
    take_frames(d, from, count);
    return true;
}

static bool shuffled_blocks(damage *d)
{
    int from[FRAMES];
    for (int f = 0; f < FRAMES; ++f) {
        int block = f / 40, other = (block * 5 + 2) % 6;
        from[f] = other * 40 + f % 40;
    }
    take_frames(d, from, FRAMES);
    return true;
}

static bool doubled_frames(damage *d)
{
    int from[FRAMES];
    for (int f = 0; f < FRAMES; ++f) {
        from[f] = f / 2 * 2;
    }
    take_frames(d, from, FRAMES);
    return true;
}

static bool exchanged_neighbours(damage *d)
{
    int from[FRAMES];
    for (int f = 0; f < FRAMES; ++f) {
        from[f] = f % 20 == 6 ? f + 1 : f % 20 == 7 ? f - 1 : f;
    }
    take_frames(d, from, FRAMES);
    return true;
}

static bool backwards(damage *d)
{
    int from[FRAMES];
    for (int f = 0; f < FRAMES; ++f) {
        from[f] = FRAMES - 1 - f;
    }
    take_frames(d, from, FRAMES);
    return strcmp(d->take->moves, "walk") == 0; // a kick may be drawn back as well
}

static bool late_half(damage *d)
{
    poise_markers *m = d->m;
    poise_vec3 *kept = malloc((size_t)(FRAMES * m->count) * sizeof *kept);
    memcpy(kept, m->position, (size_t)(FRAMES * m->count) * sizeof *kept);
    for (int f = 10; f < FRAMES; ++f) {
        for (int i = 0; i < m->count; i += 2) {
            *at(d, f, i) = kept[(size_t)(f - 10) * (size_t)m->count + (size_t)i];
        }
    }
    free(kept);
    return true;
}

static bool leap(damage *d)
{
    poise_vec3 way = turned((poise_vec3){1, 0, 0}, scene_random_range(d->random, 0, 6));
    int first = 40 + scene_random_index(d->random, 150);
    for (int f = first; f < first + 10; ++f) {
        for (int i = 0; i < d->m->count; ++i) {
            *at(d, f, i) = add(*at(d, f, i), way, 1.0);
        }
    }
    return true;
}

static bool offset_half_way(damage *d)
{
    poise_vec3 way = scene_random_direction(d->random);
    for (int f = FRAMES / 2; f < FRAMES; ++f) {
        for (int i = 0; i < d->m->count; ++i) {
            *at(d, f, i) = add(*at(d, f, i), way, 0.3);
        }
    }
    return true;
}

// -- noise and gaps

static bool noise_10(damage *d)
{
    make_real(d->m, 0, 0.010, d->random);
    return true;
}

static bool noise_30(damage *d)
{
    make_real(d->m, 0, 0.030, d->random);
    return true;
}

static poise_vec3 rounded(poise_vec3 p, double step)
{
    return (poise_vec3){step * floor(p.x / step + 0.5), step * floor(p.y / step + 0.5), step * floor(p.z / step + 0.5)};
}

static bool coarse_10(damage *d)
{
    every_point(d, rounded, 0.010, 0, FRAMES);
    return true;
}

static bool coarse_50(damage *d)
{
    every_point(d, rounded, 0.050, 0, FRAMES);
    return true;
}

static bool many_spikes(damage *d)
{
    int i = any_marker(d);
    for (int f = 0; f < FRAMES; ++f) {
        if (scene_random_uniform(d->random) < 0.3) {
            double length = scene_random_range(d->random, 0.03, 0.3);
            *at(d, f, i) = add(*at(d, f, i), scene_random_direction(d->random), length);
        }
    }
    return true;
}

static void gap_near(damage *d, double within, int frames, int how)
{
    int near[MOST_MARKERS], count = neighbours(d, any_marker(d), within, near);
    int first = 20 + scene_random_index(d->random, FRAMES - frames - 30), end = first + frames;
    for (int f = first; f < end; ++f) {
        for (int k = 0; k < count; ++k) {
            poise_vec3 a = *at(d, first - 1, near[k]), b = *at(d, end, near[k]);
            double t = (double)(f - first + 1) / (frames + 1);
            *at(d, f, near[k]) = how == 0 ? gap : how == 1 ? add(a, add(b, a, -1.0), t) : (poise_vec3){0, 0, 0};
        }
    }
}

static bool bursts(damage *d)
{
    gap_near(d, 0.2, 70, 0);
    gap_near(d, 0.2, 70, 0);
    return true;
}

static bool straight_lines(damage *d)
{
    gap_near(d, 0.2, 80, 1);
    return true;
}

static bool zeros(damage *d)
{
    gap_near(d, 0.1, 40, 2);
    return true;
}

static bool zeros_everywhere(damage *d)
{
    gap_near(d, 2.0, 40, 2);
    return true;
}

static const damage_kind kinds[] = {
    {"nothing", nothing, true, false},
    {"nothing, again", nothing, true, false},
    {"mm, z up", millimetres_z_up, true, false},
    {"mm, z up, unsaid", unknown_scale, true, false},
    {"short gaps", short_gaps, true, false},
    {"2 mm of noise", some_noise, true, false},
    {"few spikes", few_spikes, true, false},
    {"props", props, true, false},
    {"subject", subject, true, false},
    {"one frame doubled", doubled_frame, true, false},
    {"names swapped", swapped_pair, false, false},
    {"sides of one swapped", swapped_sides, false, false},
    {"left is right", left_is_right, false, false},
    {"left leg is right", left_leg_is_right, false, false},
    {"legs for a while", sides_for_a_while, false, false},
    {"names for a while", swapped_for_a_while, false, false},
    {"names rotated", rotated_names, false, false},
    {"two people", two_people, false, false},
    {"same point twice", same_point_twice, false, false},
    {"off by 40 mm", displaced, false, false},
    {"off by 80 mm", displaced_more, false, false},
    {"slips 50 mm", slipped_marker, false, false},
    {"cluster slips 30 mm", slipped_cluster, false, false},
    {"cluster slips 60 mm", slipped_cluster_more, false, false},
    {"half drift", drifting_half, false, false},
    {"body without markers", missing_body, false, false},
    {"marker stands still", static_marker, false, false},
    {"axes of one", exchanged_axes_of_one, false, false},
    {"mm as m", millimetres_as_metres, false, false},
    {"m as mm", metres_as_millimetres, false, false},
    {"inches as cm", inches_as_centimetres, false, false},
    {"stretched across", stretch_across, false, false},
    {"stretched up", stretch_up, false, false},
    {"mirrored", mirror, false, false},
    {"axes exchanged", exchange_axes, false, false},
    {"room tilted", tilted_room, false, false},
    {"room turned", turned_half_way, false, false},
    {"rate x 10", too_fast, false, true},
    {"rate x 0.1", too_slow, false, true},
    {"frozen", frozen, false, false},
    {"frozen briefly", frozen_briefly, false, true},
    {"marker frozen", frozen_marker, false, false},
    {"50 frames cut", cut, false, false},
    {"blocks shuffled", shuffled_blocks, false, false},
    {"frames doubled", doubled_frames, false, true},
    {"frames exchanged", exchanged_neighbours, false, true},
    {"backwards", backwards, false, false},
    {"half is late", late_half, false, false},
    {"leap", leap, false, true},
    {"offset half way", offset_half_way, false, false},
    {"10 mm of noise", noise_10, false, false},
    {"30 mm of noise", noise_30, false, false},
    {"10 mm steps", coarse_10, false, false},
    {"50 mm steps", coarse_50, false, false},
    {"many spikes", many_spikes, false, false},
    {"bursts of gaps", bursts, false, false},
    {"straight lines", straight_lines, false, false},
    {"zeros of some", zeros, false, false},
    {"zeros of all", zeros_everywhere, false, false},
    {"name twice", name_twice, false, false},
    {"name twice, alike", name_twice_alike, true, false},
    {"cluster drifts", drifting_cluster, false, false},
    {"cluster sways", swaying_cluster, false, false},
    {"cluster misplaced", misplaced_cluster, false, false},
    {"plate turned", turned_plate, false, false},
    {"segment turned", turned_segment, false, false},
    {"segment turns", turning_segment, false, false},
    {"both ASIS off", both_asis, false, false},
    {"both ASIS off, legs", both_asis_of_legs, false, false},
    {"both knees off, legs", both_knees_of_legs, false, false},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

int broken_kind_count(void)
{
    return KINDS;
}

const char *broken_kind_name(int kind)
{
    return kind >= 0 && kind < KINDS ? kinds[kind].name : NULL;
}

bool broken_kind_is_harmless(int kind)
{
    return kinds[kind].is_harmless;
}

broken_take *broken_take_make(int kind, uint64_t seed)
{
    broken_take *t = record(seed, seed);
    scene_random random = scene_random_make(seed * 31 + 5);
    damage d = {.take = t, .m = t->markers, .seed = seed, .random = &random};
    if (!kinds[kind].damage(&d)) {
        broken_take_free(t);
        return NULL;
    }
    return t;
}

// ---- Judging -------------------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// What more than the share of the frames exceeds.
static double exceeded(double *off, int count, int frames)
{
    qsort(off, (size_t)count, sizeof *off, by_size);
    int at_frame = (int)(SHARE * frames);
    return at_frame < count ? off[at_frame] : 0.0;
}

static bool is_compared(const char *angle)
{
    // headings differ by the room; plane and rotation of an arm that hangs are one
    return strcmp(angle, "pelvis_rotation") != 0 && strstr(angle, "shoulder_plane") == NULL &&
           strstr(angle, "shoulder_rotation") == NULL && !ends_with(angle, "pronation_l") &&
           !ends_with(angle, "pronation_r");
}

// What was made of a recording: its angles, NaN where they are not seen, and centres in metres.
typedef struct outcome {
    int frames;
    double *angles;
    poise_vec3 *centres;
    double stated[POISE_ANGLE_COUNT]; // standard deviations, degrees; 0: none
    double spread[BROKEN_CENTRES];    // the same of centres, metres
} outcome;

static outcome outcome_of(const poise_recording_result *r)
{
    outcome o = {.frames = r->clip->frames};
    size_t frames = (size_t)o.frames;
    o.angles = malloc(frames * POISE_ANGLE_COUNT * sizeof *o.angles);
    o.centres = malloc(frames * BROKEN_CENTRES * sizeof *o.centres);
    poise_recording_angles(r, NULL, o.angles, NULL); // empty where markers do not tell them
    for (size_t i = 0; i < frames * POISE_ANGLE_COUNT; ++i) {
        bool counts = is_compared(poise_angle_name((int)(i % POISE_ANGLE_COUNT)));
        o.angles[i] = counts ? o.angles[i] : (double)NAN;
    }
    poise_placement places[BROKEN_CENTRES];
    poise_markers *made;
    poise_joint_centres(r->model, NULL, places, BROKEN_CENTRES);
    poise_markers_from_clip(r->model, r->clip, (poise_scale){1.0, POISE_UP_Y}, places, BROKEN_CENTRES, NULL, &made, NULL);
    poise_markers *known; // the same with gaps, in the axes of the recording
    poise_recording_centres(r, NULL, &known, NULL);
    for (int k = 0; k < o.frames * BROKEN_CENTRES; ++k) {
        made->position[k] = poise_markers_seen(known, k / BROKEN_CENTRES, k % BROKEN_CENTRES) ? made->position[k] : gap;
    }
    poise_markers_destroy(known);
    memcpy(o.centres, made->position, frames * BROKEN_CENTRES * sizeof *o.centres);
    poise_markers_destroy(made);
    for (int i = 0; i < r->verdict.count; ++i) {
        const poise_finding *f = &r->findings[i];
        for (int c = 0; c < BROKEN_CENTRES && f->kind == POISE_FINDING_BLURRED; ++c) {
            o.spread[c] =
                strcmp(f->name, places[c].label) == 0 ? f->value * r->anatomy.stature * r->calibration.scale : o.spread[c];
        }
        for (int a = 0; a < POISE_ANGLE_COUNT && (f->kind == POISE_FINDING_VAGUE || f->kind == POISE_FINDING_UNSURE); ++a) {
            o.stated[a] = strcmp(f->name, poise_angle_name(a)) == 0 ? fmax(o.stated[a], f->value * 180 / PI) : o.stated[a];
        }
    }
    return o;
}

static void outcome_free(outcome *o)
{
    free(o->angles);
    free(o->centres);
}

// The largest angle and distance that more than the share of the frames exceeds.
static void compare(const outcome *made, const outcome *truth, broken_answer *answer)
{
    int frames = made->frames < truth->frames ? made->frames : truth->frames;
    double *off = malloc(((size_t)frames + 1) * sizeof *off);
    answer->angle = answer->centre = 0.0;
    answer->uncovered = answer->vague_centres = answer->compared = 0;
    answer->which = "";
    for (int a = 0; a < POISE_ANGLE_COUNT; ++a) {
        int count = 0;
        for (int f = 0; f < frames; ++f) {
            size_t i = (size_t)f * POISE_ANGLE_COUNT + (size_t)a;
            double apart = fabs(remainder(made->angles[i] - truth->angles[i], 360.0));
            if (apart == apart) {
                off[count++] = apart;
            }
        }
        double beyond = exceeded(off, count, frames);
        answer->which = beyond > answer->angle ? poise_angle_name(a) : answer->which;
        answer->uncovered += beyond > fmax(MOST_ANGLE, 2 * made->stated[a]);
        answer->compared += count > 0;
        answer->angle = fmax(answer->angle, beyond);
    }
    for (int c = 0; c < BROKEN_CENTRES; ++c) {
        int count = 0;
        for (int f = 0; f < frames; ++f) {
            poise_vec3 a = made->centres[(size_t)f * BROKEN_CENTRES + (size_t)c];
            poise_vec3 b = truth->centres[(size_t)f * BROKEN_CENTRES + (size_t)c];
            double apart = sqrt(pow(a.x - b.x, 2) + pow(a.y - b.y, 2) + pow(a.z - b.z, 2));
            if (apart == apart) {
                off[count++] = apart;
            }
        }
        double beyond = exceeded(off, count, frames);
        answer->vague_centres += beyond > fmax(MOST_CENTRE, 2 * made->spread[c]);
        answer->centre = fmax(answer->centre, beyond);
    }
    free(off);
}

static void list_reasons(const poise_recording_result *r, broken_answer *answer)
{
    size_t used = 0;
    for (int i = 0; i < r->verdict.count; ++i) {
        const poise_finding *f = &r->findings[i];
        if (f->level != POISE_VERDICT_GOOD && used + 60 < sizeof answer->reasons) {
            used += (size_t)snprintf(answer->reasons + used, sizeof answer->reasons - used, "%s %s %.3g; ",
                                     poise_finding_name(f->kind), f->name ? f->name : "", f->value);
        }
    }
}

static poise_status follow(const broken_take *take, const poise_model *humanoid, poise_recording_result **r,
                           poise_error *error)
{
    poise_recording_problem problem = poise_recording_problem_default();
    problem.model = humanoid;
    problem.scale = (poise_scale){1.0, POISE_UP_Y};
    problem.markers = take->markers;
    scene_marker own[MOST_MARKERS];
    poise_placement places[MOST_MARKERS];
    if (strcmp(take->set, sets[SETS - 1].name) == 0) { // which the skeleton's file says
        problem.placement_count = scene_markers("humanoid", own, MOST_MARKERS);
        for (int i = 0; i < problem.placement_count; ++i) {
            places[i] = (poise_placement){own[i].name, own[i].body, own[i].local, 1.0};
        }
        problem.placements = places;
    }
    return poise_track_recording(&problem, NULL, r, error);
}

broken_answer broken_take_judge(const broken_take *take, int kind)
{
    broken_answer answer = {.level = POISE_VERDICT_FAILED, .which = ""};
    poise_model *humanoid;
    scene_create("humanoid", NULL, &humanoid, NULL);
    poise_recording_result *r = NULL, *whole = NULL;
    poise_error error = {0};
    answer.status = follow(take, humanoid, &r, &error);
    if (answer.status == POISE_OK) {
        broken_take *sound = record(take->seed, take->seed);
        outcome made = outcome_of(r), truth = {.frames = FRAMES, .angles = take->angles, .centres = take->centres};
        answer.level = r->verdict.level;
        compare(&made, &truth, &answer);
        answer.true_angle = answer.angle, answer.true_centre = answer.centre;
        answer.truly_uncovered = answer.uncovered;
        if (follow(sound, humanoid, &whole, &error) == POISE_OK) {
            outcome meant = outcome_of(whole);
            compare(&made, &meant, &answer);
            outcome_free(&meant);
        }
        answer.is_wrong = answer.uncovered > 0 || answer.vague_centres > 0 || kinds[kind].has_false_times;
        list_reasons(r, &answer);
        outcome_free(&made);
        poise_recording_destroy(whole);
        broken_take_free(sound);
    } else {
        snprintf(answer.reasons, sizeof answer.reasons, "%s", error.text);
    }
    poise_recording_destroy(r);
    poise_model_destroy(humanoid);
    return answer;
}
