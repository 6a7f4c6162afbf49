// Following a recording: how far the result can be trusted.
#include "track_print.h"

#include "cli/degrees.h"
#include "cli/terminal.h"
#include "cli/whole_files.h"

#include <math.h>
#include <stdlib.h>

static bool no_memory(void)
{
    complain("no memory left");
    return false;
}

poise_track_problem track_problem_of(const track_result *r)
{
    poise_track_problem problem = poise_track_problem_default();
    problem.model = r->model;
    problem.placements = r->placements;
    problem.placement_count = r->placement_count;
    problem.markers = r->markers;
    return problem;
}

bool track_judge(const track_request *request, track_result *r)
{
    poise_track_problem track = track_problem_of(r);
    poise_verdict_problem problem = poise_verdict_problem_default();
    problem.track = &track;
    problem.clip = r->clip;
    problem.frames = r->frames;
    problem.priors = r->priors;
    problem.calibration = r->calibrated ? &r->calibration : NULL;
    problem.places = r->named > 0 ? &r->anatomy : NULL;
    problem.before = r->fitted ? r->skeleton->model : NULL;
    problem.absent = (const char *const *)r->absent;
    problem.absent_count = r->absent_count;
    problem.thresholds = request->thresholds;
    if (r->from_motion) { // another skeleton's joints are not where this one's are, however well it follows
        problem.thresholds.doubtful[POISE_FINDING_GIVEN] = problem.thresholds.failed[POISE_FINDING_GIVEN] = INFINITY;
        problem.thresholds.doubtful[POISE_FINDING_FAR] = problem.thresholds.failed[POISE_FINDING_FAR] = INFINITY;
    }
    poise_error error = {0};
    int capacity = 0;
    for (int pass = 0; pass < 2; ++pass) { // how many there are, then all of them
        poise_status status = poise_verdict_find(&problem, NULL, &r->verdict, r->findings, capacity, &error);
        if (status != POISE_OK) {
            complain("%s: %s", r->source_name, error.text);
            return false;
        }
        capacity = r->verdict.count;
        if (pass == 0 && !(r->findings = calloc((size_t)capacity + 1, sizeof *r->findings))) {
            return no_memory();
        }
    }
    return true;
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
    int joints = poise_model_info(r->model).joints, nv = poise_model_info(r->model).nv;
    fprintf(stream, "frame,time");
    for (int k = 0; k < joints; ++k) {
        for (int i = 0; i < poise_model_joint_info(r->model, k).nv; ++i) {
            print_dof(stream, r->model, k, i);
        }
    }
    for (int f = 0; f < r->clip->frames; ++f) {
        fprintf(stream, "\n%d,%.6g", r->first + f, (r->first + f) / r->markers->rate);
        for (int k = 0; k < joints; ++k) {
            poise_joint_info info = poise_model_joint_info(r->model, k);
            for (int i = 0; i < info.nv; ++i) {
                double d = deviation[(size_t)f * (size_t)nv + (size_t)(info.v + i)];
                if (isfinite(d)) {
                    fprintf(stream, ",%.4g", for_people(r->model, k, i, d));
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
    poise_track_problem track = track_problem_of(r);
    size_t count = (size_t)r->clip->frames * (size_t)poise_model_info(r->model).nv;
    double *deviation = calloc(count + 1, sizeof *deviation);
    poise_error error = {0};
    if (!deviation) {
        no_memory();
    } else if (poise_track_uncertainty(&track, r->clip, r->frames, 0, NULL, deviation, NULL, &error) != POISE_OK) {
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
    int frames = r->clip->frames, nv = poise_model_info(r->model).nv;
    double *deviation = deviations_of(r), *worst = calloc((size_t)frames + 1, sizeof *worst);
    json_node *list = json_new(JSON_ARRAY);
    for (int k = 0; deviation && worst && k < poise_model_info(r->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(r->model, k);
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
