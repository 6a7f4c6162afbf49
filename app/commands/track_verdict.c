// Following a recording: how far the result can be trusted.
#include "track_parts.h"

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
    problem.thresholds = request->thresholds;
    if (r->from_motion) { // another skeleton's joints are not where this one's are, however well it follows
        problem.thresholds.doubtful[POISE_FINDING_MISS] = problem.thresholds.failed[POISE_FINDING_MISS] = INFINITY;
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

bool track_write_deviations(const track_result *r, const char *name)
{
    poise_track_problem track = track_problem_of(r);
    size_t count = (size_t)r->clip->frames * (size_t)poise_model_info(r->model).nv;
    double *deviation = calloc(count + 1, sizeof *deviation);
    poise_error error = {0};
    if (!deviation) {
        return no_memory();
    }
    bool works = poise_track_uncertainty(&track, r->clip, r->frames, 0, NULL, deviation, NULL, &error) == POISE_OK;
    if (works) {
        text_file file;
        text_open(&file);
        print_rows(file.stream, r, deviation);
        works = text_close(&file, name);
    } else {
        complain("%s: %s", r->source_name, error.text);
    }
    free(deviation);
    return works;
}
