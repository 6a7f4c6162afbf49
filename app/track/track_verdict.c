// Following a recording: how far the result can be trusted, and what clinicians read of it.
#include "track_print.h"

#include "cli/files.h"
#include "cli/terminal.h"
#include "cli/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory(void)
{
    complain("no memory left");
    return false;
}

// ---- Deviations ----------------------------------------------------------------------------------------------------------

// "knee", "hip.twist": a degree of freedom by its joint's name.
static void print_dof(FILE *stream, const poise_model *model, int joint, int i)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    const char *part = info.nq == info.nv ? poise_joint_coordinate(info.given, i).name : NULL;
    if (part && part[0]) {
        fprintf(stream, ",%s.%s", info.name, part);
    } else if (info.nv > 1) {
        fprintf(stream, ",%s.%d", info.name, i + 1);
    } else {
        fprintf(stream, ",%s", info.name);
    }
}

// Degrees for angles; length units as they are.
static double for_people(const poise_model *model, int joint, int i, double deviation)
{
    poise_joint_info info = poise_model_joint_info(model, joint);
    poise_unit unit = info.nq == info.nv ? poise_joint_coordinate(info.given, i).unit : POISE_UNIT_ANGLE;
    return value_for_people(unit, deviation);
}

static void print_rows(FILE *stream, const track_result *r, const double *deviation)
{
    int joints = poise_model_info(r->made->model).joints, nv = poise_model_info(r->made->model).nv;
    fprintf(stream, "frame,time");
    for (int k = 0; k < joints; ++k) {
        for (int i = 0; i < poise_model_joint_info(r->made->model, k).nv; ++i) {
            print_dof(stream, r->made->model, k, i);
        }
    }
    for (int f = 0; f < r->made->clip->frames; ++f) {
        fprintf(stream, "\n%d,%.6g", r->made->first + f, (r->made->first + f) / r->made->markers->rate);
        for (int k = 0; k < joints; ++k) {
            poise_joint_info info = poise_model_joint_info(r->made->model, k);
            for (int i = 0; i < info.nv; ++i) {
                double d = deviation[(size_t)f * (size_t)nv + (size_t)(info.v + i)];
                if (isfinite(d)) {
                    fprintf(stream, ",%.4g", for_people(r->made->model, k, i, d));
                } else {
                    fputc(',', stream); // not determined
                }
            }
        }
    }
    fputc('\n', stream);
}

// Deviations of all frames; NULL after one line on standard error.
static double *deviations_of(const track_result *r)
{
    poise_track_problem track = poise_track_problem_default();
    track.model = r->made->model;
    track.placements = r->made->placements;
    track.placement_count = r->made->placement_count;
    track.markers = r->made->markers;
    size_t count = (size_t)r->made->clip->frames * (size_t)poise_model_info(r->made->model).nv;
    double *deviation = calloc(count + 1, sizeof *deviation);
    poise_error error = {0};
    if (!deviation) {
        no_memory();
    } else if (poise_track_uncertainty(&track, r->made->clip, r->made->frames, 0, NULL, deviation, NULL, &error) !=
               POISE_OK) {
        complain("%s: %s", r->source_name, error.text);
        free(deviation);
        deviation = NULL;
    }
    return deviation;
}

bool track_write_deviations(const track_result *r, const char *name)
{
    double *deviation = deviations_of(r);
    if (!deviation) {
        return false;
    }
    text_file file;
    text_open(&file);
    print_rows(file.stream, r, deviation);
    free(deviation);
    return text_close(&file, name);
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

json_node *track_sureness_as_json(const track_result *r)
{
    int frames = r->made->clip->frames, nv = poise_model_info(r->made->model).nv;
    double *deviation = deviations_of(r), *worst = calloc((size_t)frames + 1, sizeof *worst);
    json_node *list = json_new(JSON_ARRAY);
    for (int k = 0; deviation && worst && k < poise_model_info(r->made->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(r->made->model, k);
        int angles = 0;
        for (int f = 0; f < frames; ++f) {
            worst[f] = 0;
        }
        for (int i = 0; i < joint.nv; ++i) {
            bool is_angle = joint.nq != joint.nv || poise_joint_coordinate(joint.given, i).unit == POISE_UNIT_ANGLE;
            for (int f = 0; is_angle && f < frames; ++f) {
                worst[f] = fmax(worst[f], deviation[(size_t)f * (size_t)nv + (size_t)(joint.v + i)]);
            }
            angles += is_angle;
        }
        qsort(worst, (size_t)frames, sizeof *worst, by_size);
        if (angles > 0 && frames > 0) {
            json_append(list, json_make("[o, o]", json_from_text(joint.name),
                                        json_from_number(DEGREES_PER_RADIAN * worst[frames / 2])));
        }
    }
    free(worst);
    free(deviation);
    return list;
}

// ---- Clinicians ----------------------------------------------------------------------------------------------------------

// Angles of all frames, and the same with gaps where nothing is known of them.
typedef struct angle_table {
    double *of_skeleton, *known; // frames x POISE_ANGLE_COUNT
} angle_table;

static void free_angles(angle_table *t)
{
    free(t->of_skeleton);
    free(t->known);
}

// False after one line on standard error.
static bool find_angles(const track_result *r, angle_table *t)
{
    size_t cells = (size_t)r->made->clip->frames * POISE_ANGLE_COUNT + 1;
    poise_error error = {0};
    *t = (angle_table){calloc(cells, sizeof(double)), calloc(cells, sizeof(double))};
    if (!t->of_skeleton || !t->known) {
        free_angles(t);
        return no_memory();
    }
    if (poise_joint_angles(r->made->model, r->made->clip, NULL, t->of_skeleton, &error) != POISE_OK ||
        poise_recording_angles(r->made, NULL, t->known, &error) != POISE_OK) {
        complain("%s: %s", r->model_name, error.text);
        free_angles(t);
        return false;
    }
    return true;
}

// One line on standard error for what is left empty.
static void tell_empty(const char *name, const char *why, const char *names, int count, const char *what)
{
    if (count > 0) {
        warn("%s: %s %s: %d %s %s left empty", name, why, names, count, what, count == 1 ? "is" : "are");
    }
}

// Add `name` to a list of `size` bytes.
static void add_name(const char *name, char *list, size_t size)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

// Does the skeleton have the two segments of this angle? It then has a column, be it empty, as that of a hinge's adduction.
static bool has_angle(const angle_table *t, int i)
{
    const double *three = t->of_skeleton + i - i % 3;
    return !isnan(three[0]) || !isnan(three[1]) || !isnan(three[2]);
}

// Does any frame know it?
static bool is_known(const track_result *r, const angle_table *t, int i)
{
    for (int f = 0; f < r->made->clip->frames; ++f) {
        if (!isnan(t->known[f * POISE_ANGLE_COUNT + i])) {
            return true;
        }
    }
    return false;
}

// A number; where nothing is known, nothing between commas and NaN in a .mot file, which has no other word.
static void put_cell(FILE *stream, double degrees, bool is_mot)
{
    fputc(is_mot ? '\t' : ',', stream);
    if (!isnan(degrees)) {
        fprintf(stream, "%.6f", degrees);
    } else if (is_mot) {
        fputs("NaN", stream);
    }
}

bool track_write_angles(const track_result *r, const char *name)
{
    angle_table t;
    if (!find_angles(r, &t)) {
        return false;
    }
    size_t length = strlen(name);
    bool is_mot = length > 4 && strcmp(name + length - 4, ".mot") == 0;
    char cell = is_mot ? '\t' : ',';
    int columns = 1, empty = 0;
    char untold[400] = "";
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        columns += has_angle(&t, i);
        if (!isnan(t.of_skeleton[i]) && !is_known(r, &t, i)) {
            add_name(poise_angle_name(i), untold, sizeof untold);
            empty += 1;
        }
    }
    text_file file;
    text_open(&file);
    if (is_mot) {
        fprintf(file.stream, "joint angles\nversion=1\nnRows=%d\nnColumns=%d\ninDegrees=yes\nendheader\n",
                r->made->clip->frames, columns);
    }
    fprintf(file.stream, "time");
    for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
        if (has_angle(&t, i)) {
            fprintf(file.stream, "%c%s", cell, poise_angle_name(i));
        }
    }
    for (int f = 0; f < r->made->clip->frames; ++f) {
        fprintf(file.stream, "\n%.9g", r->made->clip->start_time + f * r->made->clip->frame_time);
        for (int i = 0; i < POISE_ANGLE_COUNT; ++i) {
            if (has_angle(&t, i)) {
                put_cell(file.stream, t.known[f * POISE_ANGLE_COUNT + i], is_mot);
            }
        }
    }
    fputc('\n', file.stream);
    free_angles(&t);
    tell_empty(name, "markers do not tell", untold, empty, empty == 1 ? "angle" : "angles");
    return text_close(&file, name);
}

bool track_write_centres(const track_result *r, const char *name)
{
    poise_markers *markers = NULL;
    poise_error error = {0};
    char unknown[200] = "";
    int empty = 0;
    if (poise_recording_centres(r->made, NULL, &markers, &error) != POISE_OK) {
        complain("%s: %s, so there are no joint centres", r->model_name, error.text);
        return false;
    }
    for (int i = 0; i < markers->count; ++i) {
        int frame = 0;
        while (frame < markers->frames && !poise_markers_seen(markers, frame, i)) {
            ++frame;
        }
        if (frame == markers->frames) {
            add_name(markers->label[i], unknown, sizeof unknown);
            empty += 1;
        }
    }
    tell_empty(name, "markers do not tell", unknown, empty, empty == 1 ? "centre" : "centres");
    poise_file file = {.markers = markers, .scale = markers->scale, .title = "joint centres"};
    bool works = save_file(name, &file);
    poise_markers_destroy(markers);
    return works;
}

json_node *track_angles_as_json(const track_result *r)
{
    enum { MOST = 400 }; // points of a curve
    int frames = r->made->clip->frames, step = (frames + MOST - 1) / MOST;
    double *known = calloc((size_t)frames * POISE_ANGLE_COUNT + 1, sizeof *known), curve[MOST];
    json_node *list = json_new(JSON_ARRAY);
    bool is_human = known && poise_recording_angles(r->made, NULL, known, NULL) == POISE_OK;
    for (int i = 0; is_human && i < POISE_ANGLE_COUNT && frames > 0; ++i) {
        int count = 0, told = 0;
        for (int f = 0; f < frames; f += step) {
            curve[count] = known[f * POISE_ANGLE_COUNT + i];
            told += !isnan(curve[count++]);
        }
        if (told > 0) {
            json_append(list, json_make("{s:s, s:i, s:o}", "name", poise_angle_name(i), "step", step, "values",
                                        json_from_numbers(curve, count)));
        }
    }
    free(known);
    return list;
}
