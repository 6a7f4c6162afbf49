// Tracking, expressive solving, the filter, and files.
#include "reference.h"

#define FRAMES 24

static poise_placement placements[GOALS];
static scene_marker markers[GOALS];

static int place_markers(void)
{
    int count = scene_markers("humanoid", markers, GOALS);
    for (int i = 0; i < count; ++i) {
        placements[i] = (poise_placement){markers[i].name, markers[i].body, markers[i].local, 1.0};
    }
    return count;
}

static poise_clip *make_walk(const poise_model *model)
{
    poise_clip *clip = NULL;
    int nq = poise_model_info(model).nq;
    if (poise_clip_create(FRAMES, nq, 1.0 / 64.0, NULL, &clip, NULL) == POISE_OK) {
        for (int f = 0; f < FRAMES; ++f) {
            scene_motion_pose(model, "walk", f / 64.0, clip->q + f * nq);
        }
    }
    return clip;
}

void put_tracking(void)
{
    poise_model *model = NULL;
    poise_markers *seen = NULL;
    poise_tracker *tracker = NULL;
    static double q[NUMBERS];
    if (scene_create("humanoid", NULL, &model, NULL) != POISE_OK) {
        return;
    }
    int count = place_markers(), nq = poise_model_info(model).nq;
    poise_clip *clip = make_walk(model);
    poise_track_problem problem = poise_track_problem_default();
    poise_scale scale = {1.0, POISE_UP_Y};
    put_name("humanoid", "tracker");
    put(poise_markers_from_clip(model, clip, scale, placements, count, NULL, &seen, NULL));
    problem.model = model;
    problem.placements = placements;
    problem.placement_count = count;
    problem.markers = seen;
    put(poise_tracker_create(&problem, NULL, &tracker, NULL));
    for (int f = 0; f < FRAMES; ++f) {
        poise_vec3 *frame = seen->position + f * count;
        frame[f % count].x += 0.01 * f;
        poise_track_frame r;
        poise_tracker_next(tracker, frame, q, &r, NULL);
        put_all(q, nq);
        put_all((const double[]){r.iterations, r.seen, r.let_go, r.rms, r.worst, r.turn}, 6);
    }
    poise_clip *tracked = NULL;
    put_name("humanoid", "track");
    put(poise_track(&problem, NULL, &tracked, NULL, NULL));
    put_all(tracked->q, FRAMES * nq);
    poise_clip_destroy(tracked);
    poise_tracker_destroy(tracker);
    poise_markers_destroy(seen);
    poise_clip_destroy(clip);
    poise_model_destroy(model);
}

static void put_erik_report(const poise_erik_report *r)
{
    put_all((const double[]){r->outcome, r->iterations, r->error, r->orientation, r->posture, r->angle, r->active_limits},
            7);
}

static void put_erik(const char *scene)
{
    poise_model *model = NULL;
    poise_erik *erik = NULL;
    poise_expressive *expressive = NULL;
    static double posture[NUMBERS], q[NUMBERS];
    poise_erik_options options = poise_erik_options_default();
    poise_expressive_options other = poise_expressive_options_default();
    if (scene_create(scene, NULL, &model, NULL) != POISE_OK ||
        poise_erik_create(model, &options, NULL, &erik, NULL) != POISE_OK ||
        poise_expressive_create(model, &other, NULL, &expressive, NULL) != POISE_OK) {
        return;
    }
    int nq = poise_model_info(model).nq;
    put_name(scene, "erik");
    for (int i = 0; i < 5; ++i) {
        poise_quat target = poise_quat_from_axis_angle(poise_vec3_make(1, i - 2, 0.5), 0.3 + 0.4 * i);
        poise_erik_report r;
        poise_expressive_report e;
        pattern(model, i, posture);
        poise_model_neutral(model, q);
        poise_erik_solve(erik, posture, target, q, &r, NULL);
        put_all(q, nq);
        put_erik_report(&r);
        poise_goal goal = poise_goal_orientation(poise_model_info(model).joints - 1, target);
        poise_expressive_solve(expressive, &goal, 1, posture, q, &e, NULL);
        put_all(q, nq);
        put_all((const double[]){e.outcome, e.error, e.goal, e.posture, e.worst_angle, e.candidates, e.evaluations}, 7);
    }
    poise_expressive_destroy(expressive);
    poise_erik_destroy(erik);
    poise_model_destroy(model);
}

static void put_filter(void)
{
    poise_filter_joint joints[3] = {poise_filter_joint_default(), poise_filter_joint_default(),
                                    poise_filter_joint_default()};
    joints[1].smoothness = 0.5;
    joints[2].lower = -0.5;
    joints[2].upper = 0.75;
    joints[2].soft = 2;
    poise_filter *filter = NULL;
    double x[3] = {0.1, 0.2, 0.3};
    put_name("filter", "steps");
    put(poise_filter_create(NULL, joints, 3, NULL, &filter, NULL));
    poise_filter_reset(filter, x, NULL);
    for (int i = 0; i < 120; ++i) {
        double to = i < 40 ? 1.0 : i < 80 ? -0.5 : 0.25;
        poise_filter_step(filter, (const double[]){to, to, to}, 1.0 / 64.0, x, NULL);
        put_all(x, 3);
        double left[8];
        poise_filter_state(filter, NULL, NULL, NULL, left);
        put(left[0]);
    }
    poise_filter_destroy(filter);
}

void put_expression(void)
{
    put_erik("erik-c");
    put_erik("erik-g");
    put_erik("lamp");
    put_filter();
}

// What a writer makes of a scene, byte by byte, and what its reader makes of that.
static void put_file(const poise_file *file, poise_format format, const poise_model *model)
{
    void *bytes = NULL;
    size_t size = 0;
    poise_file *again = NULL;
    put_name("file", poise_format_name(format));
    poise_status status = poise_write(file, format, NULL, &bytes, &size, NULL, NULL, NULL);
    put(status);
    if (status != POISE_OK) {
        return;
    }
    put((double)size);
    double sum = 0;
    for (size_t i = 0; i < size; ++i) {
        sum += ((const unsigned char *)bytes)[i] * (double)(i % 1009 + 1);
    }
    put(sum);
    poise_read_options options = {0};
    options.model = model;
    options.format = format;
    put(poise_read(bytes, size, &options, NULL, &again, NULL));
    if (again) {
        put(again->model ? poise_model_info(again->model).nq : -1);
        put(again->warning_count);
        if (again->clip) {
            put_all(again->clip->q, again->clip->frames * again->clip->nq);
        }
        if (again->markers) {
            put_all((const double *)again->markers->position, 3 * again->markers->frames * again->markers->count);
        }
    }
    poise_file_destroy(again);
    poise_bytes_release(NULL, bytes);
}

void put_files(void)
{
    poise_file file = {.scale = {1.0, POISE_UP_Y}};
    if (scene_create("humanoid-euler", NULL, &file.model, NULL) != POISE_OK) {
        return;
    }
    int count = place_markers();
    file.clip = make_walk(file.model);
    poise_markers_from_clip(file.model, file.clip, file.scale, placements, count, NULL, &file.markers, NULL);
    static const poise_format formats[] = {POISE_FORMAT_BVH, POISE_FORMAT_ASF,  POISE_FORMAT_C3D, POISE_FORMAT_TRC,
                                           POISE_FORMAT_MOT, POISE_FORMAT_GLTF, POISE_FORMAT_GLB, POISE_FORMAT_JSON};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        put_file(&file, formats[i], formats[i] == POISE_FORMAT_MOT ? file.model : NULL);
    }
    poise_model_destroy(file.model);
    poise_clip_destroy(file.clip);
    poise_markers_destroy(file.markers);
    file = (poise_file){.scale = {1.0, POISE_UP_Z}};
    if (scene_create("arm6", NULL, &file.model, NULL) == POISE_OK) {
        put_file(&file, POISE_FORMAT_DH, NULL);
    }
    poise_model_destroy(file.model);
}
