// poise demo: the main jobs on the tool's own scenes.
#include "cli/json_output.h"
#include "cli/terminal.h"
#include "cli/whole_files.h"
#include "commands.h"
#include "demo.h"
#include "track/track_print.h"

#include <limits.h>
#include <math.h>

#define NOISE 0.003 // metres, the deviation of the markers along each axis: scene_recording_noisy

static demo_clip cartwheel, walk;
static demo_lamp lamp;
static demo_arm arm;

enum { CARTWHEEL = 0, WALK, AIM, REACH, JOBS };

static const char *const files[] = {"cartwheel.bvh", "cartwheel.html", "walk.bvh", "lamp.json",
                                    "track.svg",     "aim.svg",        "reach.svg"};
enum { FILES = sizeof files / sizeof files[0] };

// ---- Files ---------------------------------------------------------------------------------------------------------------

// BVH carries no limits and masses; nobody misses them here, so that nothing is said of it.
static bool write_motion(const poise_file *file, poise_format format, const char *path)
{
    void *bytes;
    size_t size;
    int warnings = 0;
    poise_error error = {0};
    if (poise_write(file, format, NULL, &bytes, &size, NULL, &warnings, &error) != POISE_OK) {
        complain("%s: %s", path, error.text);
        return false;
    }
    bool works = file_write(path, bytes, size);
    poise_bytes_release(NULL, bytes);
    return works;
}

static bool write_clip(const demo_clip *c, const char *path)
{
    const poise_recording_result *made = c->r.made;
    poise_file file = {.model = (poise_model *)made->model, .clip = made->clip, .scale = made->scale, .title = c->motion};
    return write_motion(&file, POISE_FORMAT_BVH, path);
}

static bool write_lamp(const char *path)
{
    poise_file file = {.model = lamp.model, .clip = lamp.clip, .scale = {.metres = 1, .up = POISE_UP_Y}, .title = "lamp"};
    return write_motion(&file, POISE_FORMAT_JSON, path);
}

static bool write_all(const char *folder, const arguments *args)
{
    char path[FILES][PATH_MAX];
    for (int i = 0; i < FILES; ++i) {
        if (!path_join(path[i], sizeof path[i], folder, files[i])) {
            return false;
        }
    }
    return write_clip(&cartwheel, path[0]) && report_write(&cartwheel.r, path[1], args) && write_clip(&walk, path[2]) &&
           write_lamp(path[3]) && draw_tracking(&cartwheel, &walk, path[4]) && draw_lamp(&lamp, path[5]) &&
           draw_arm(&arm, path[6]);
}

// ---- What comes of it ----------------------------------------------------------------------------------------------------

// What is promised: everything solved within limits; the body nearer to the truth than the markers are (their noise is
// sqrt(8/pi) NOISE long on average) and no marker lost by a hand's breadth; the lamp's light on its target, moving on
// without a jump; the arm in six ways. Says what is not so.
static int broken_promises(const demo_tally *t)
{
    int broken = 0;
    for (int i = 0; i < JOBS; ++i) {
        if (t[i].solved < t[i].count || t[i].outside > 0) {
            complain("demo: %s: %d of %d solved, %d outside limits", t[i].job, t[i].solved, t[i].count, t[i].outside);
            broken += 1;
        }
    }
    for (int i = 0; i < 2; ++i) {
        if (!(t[i].mean < sqrt(8 / PI) * NOISE && t[i].most < 0.08)) {
            complain("demo: %s: errors of %.1f mm, %.1f mm at most", t[i].job, 1e3 * t[i].mean, 1e3 * t[i].most);
            broken += 1;
        }
    }
    if (!(lamp.largest_step * DEGREES < 5) || arm.ways < DEMO_WAYS) {
        complain("demo: the lamp jumps by %.1f degrees, or the arm knows only %d ways", lamp.largest_step * DEGREES,
                 arm.ways);
        broken += 1;
    }
    return broken;
}

static void print_people(const demo_tally *tallies, const char *folder, double seconds)
{
    int answers = 0, outside = 0;
    printf("%sPoise %s%s, four jobs on its own scenes\n\n", style_code(STYLE_BOLD), poise_version(),
           style_code(STYLE_PLAIN));
    table *t = table_create("job\t>solved\t\t>mean error\t>largest\t\t>mean time\t>p99");
    for (int i = 0; i < JOBS; ++i) {
        const demo_tally *job = &tallies[i];
        answers += job->count;
        outside += job->outside;
        table_row(t, "%s\t%d/%d\t%s\t%.3g\t%.3g\t%s\t%.0f us\t%.0f us", job->job, job->solved, job->count, job->items,
                  job->mean * job->per_unit, job->most * job->per_unit, job->unit, 1e6 * job->mean_time, 1e6 * job->p99);
    }
    table_end(t, stdout);
    const poise_track_summary *a = &cartwheel.r.made->summary, *b = &walk.r.made->summary;
    printf("\ntrack   a body of 58 degrees of freedom follows 41 markers with %.0f mm of noise;\n"
           "        gaps in %d of %d frames, knees swapped in %d; errors against the truth\n",
           NOISE * 1e3, a->gaps + b->gaps, tallies[CARTWHEEL].count + tallies[WALK].count, a->outliers + b->outliers);
    printf("aim     a lamp faces targets on a circle and holds a posture: at the hardest\n"
           "        target its joints are %.0f degrees from the posture on average; they move\n"
           "        by at most %.2f degrees a step\n",
           lamp.largest_bend * DEGREES, lamp.largest_step * DEGREES);
    printf("reach   an arm of 7 joints, position and rotation; %.0e degrees off at most\n", arm.largest_angle * DEGREES);
    printf("limits  broken in %d of %d answers\n", outside, answers);
    printf("\nwrote in %.1f s, to %s/:\n", seconds, folder);
    for (int i = 0; i < FILES; ++i) {
        printf("%s%s", i == 0 ? "  " : " ", files[i]);
    }
    printf("\n");
}

static bool print_machine(const demo_tally *tallies, const char *folder, int broken)
{
    json_node *jobs = json_new(JSON_ARRAY), *names = json_new(JSON_ARRAY);
    for (int i = 0; i < JOBS; ++i) {
        const demo_tally *t = &tallies[i];
        json_append(jobs, json_make("{s:s, s:i, s:i, s:i, s:{s:f, s:f, s:s}, s:{s:f, s:f}}", "job", t->job, "count",
                                    t->count, "solved", t->solved, "outside_limits", t->outside, "error", "mean",
                                    t->mean * t->per_unit, "max", t->most * t->per_unit, "unit", t->unit, "us", "mean",
                                    1e6 * t->mean_time, "p99", 1e6 * t->p99));
    }
    for (int i = 0; i < FILES; ++i) {
        json_append(names, json_from_text(files[i]));
    }
    return json_print(json_make("{s:s, s:o, s:o, s:o, s:b}", "version", poise_version(), "jobs", jobs, "folder",
                                json_from_text(folder), "files", names, "as_promised", broken == 0));
}

static void release(void)
{
    demo_release(&cartwheel);
    demo_release(&walk);
    poise_clip_destroy(lamp.clip);
    poise_model_destroy(lamp.model);
    poise_model_destroy(arm.model);
}

static app_exit run(const arguments *args)
{
    demo_tally tallies[JOBS] = {
        {.job = "track cartwheel", .items = "frames", .unit = "mm", .per_unit = 1e3},
        {.job = "track walk", .items = "frames", .unit = "mm", .per_unit = 1e3},
        {.job = "aim lamp", .items = "steps", .unit = "deg", .per_unit = DEGREES},
        {.job = "reach arm7", .items = "poses", .unit = "um", .per_unit = 1e6},
    };
    const char *folder = option_text(args, "output", "demo-output");
    double start = seconds_now();
    bool works = folder_make(folder) && demo_track("cartwheel", &cartwheel, &tallies[CARTWHEEL]) &&
                 demo_track("walk", &walk, &tallies[WALK]) && demo_aim(&lamp, &tallies[AIM]) &&
                 demo_reach(&arm, &tallies[REACH]) && write_all(folder, args);
    app_exit status = APP_BAD;
    if (works) {
        int broken = broken_promises(tallies);
        status = broken > 0 ? APP_MISSED : APP_DONE;
        if (arguments_json(args)) {
            status = print_machine(tallies, folder, broken) ? status : APP_BAD;
        } else {
            print_people(tallies, folder, seconds_now() - start);
        }
    }
    release();
    return status;
}

static const app_option options[] = {
    {"output", 'o', OPTION_FILE, "FOLDER", .help = "output folder (demo-output)"},
    {0},
};

static const app_example examples[] = {
    {"All jobs; pictures and motions go to demo-output", "poise demo"},
    {0},
};

const app_command cmd_demo = {
    .name = "demo",
    .synopsis = "",
    .least = 0,
    .most = 0,
    .summary = "run the main jobs on built-in scenes, with pictures",
    .description =
        "Tracks two noisy recordings with gaps, aims an expressive lamp round a circle while it holds a posture, and "
        "reaches a thousand poses with an arm. Prints accuracy and speed, and writes the motions, a report on the "
        "tracking and a picture of each job.\n\n"
        "The exit status is 1 if any result is not as promised; the output names it.",
    .options = options,
    .examples = examples,
    .run = run,
};
