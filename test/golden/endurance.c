// Endurance: random solves across joint types, goals and methods until a count is reached, a look around those that are
// called closest, then a tracker for some minutes.
//
//   endurance [SOLVES] [THREADS] [TRACKER SECONDS] [CLOSEST] [FIRST SEED]      (10000000 2 600 10000 1)
//
// Every answer must be finite, within the limits and not worse than its start; what is called closest must have nothing
// better nearby; memory must not grow. Prints a table, and exits with a failure where one of these is not so.
#include "golden_threads.h"
#include "random_solves.h"
#include "scenes/random.h"
#include "scenes/scenes.h"

#include <poise/track.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MARKERS 41

static uint64_t first_seed = 1;

// ---- Tracking ------------------------------------------------------------------------------------------------------------

static long frames_tracked, frames_held;

// Walk on, with noise, gaps and swapped markers, for so many seconds of the clock.
static void soak(double seconds)
{
    poise_model *model = NULL;
    poise_tracker *tracker = NULL;
    poise_kinematics *kinematics = NULL;
    scene_marker sites[MARKERS];
    poise_placement placements[MARKERS];
    poise_vec3 seen[MARKERS];
    double truth[256], q[256];
    scene_random random = scene_random_make(first_seed);
    if (scene_create("humanoid", NULL, &model, NULL) != POISE_OK ||
        poise_kinematics_create(model, NULL, &kinematics, NULL) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    scene_markers("humanoid", sites, MARKERS);
    for (int i = 0; i < MARKERS; ++i) {
        placements[i] = (poise_placement){sites[i].name, sites[i].body, sites[i].local, 1.0};
    }
    poise_track_problem task = poise_track_problem_default();
    task.model = model;
    task.placements = placements;
    task.placement_count = MARKERS;
    if (poise_tracker_create(&task, NULL, &tracker, NULL) != POISE_OK) {
        exit(EXIT_FAILURE);
    }
    time_t end = time(NULL) + (time_t)seconds;
    for (long f = 0; f % 100 != 0 || time(NULL) < end; ++f) {
        scene_motion_pose(model, scene_motion_name((int)(f / 500 % scene_motion_count())), 0.01 * (double)f, truth);
        poise_kinematics_update(kinematics, truth, NULL);
        for (int i = 0; i < MARKERS; ++i) {
            seen[i] = poise_kinematics_point(kinematics, placements[i].body, placements[i].local);
            seen[i].x += scene_random_index(&random, 50) == 0 ? NAN : scene_random_range(&random, -0.002, 0.002);
            seen[i].y += scene_random_index(&random, 2000) == 0 ? 1.0 : 0.0;
        }
        poise_track_frame frame;
        poise_tracker_next(tracker, seen, q, &frame, NULL);
        bool is_finite = true;
        for (int i = 0; i < poise_model_info(model).nq; ++i) {
            is_finite = is_finite && isfinite(q[i]);
        }
        random_solves_count(is_finite, poise_model_within_limits(model, q));
        frames_tracked += 1;
        frames_held += (frame.flags & POISE_TRACK_HELD) != 0;
    }
    poise_tracker_destroy(tracker);
    poise_kinematics_destroy(kinematics);
    poise_model_destroy(model);
}

// ---- The run -------------------------------------------------------------------------------------------------------------

// Resident memory in kilobytes.
static long resident(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%ld %ld", &all, &pages) != 2) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int count, char **arguments)
{
    long wanted = count > 1 ? atol(arguments[1]) : 10000000;
    int threads = count > 2 ? atoi(arguments[2]) : 2;
    double seconds = count > 3 ? atof(arguments[3]) : 600.0;
    long closest = count > 4 ? atol(arguments[4]) : 10000;
    first_seed = count > 5 ? strtoull(arguments[5], NULL, 10) : 1;
    if (wanted < 0 || threads < 1 || threads > GOLDEN_THREADS_MOST || seconds < 0 || closest < 0) {
        fprintf(stderr, "usage: endurance [SOLVES] [THREADS] [TRACKER SECONDS] [CLOSEST] [FIRST SEED]\n");
        return EXIT_FAILURE;
    }
    uint64_t seed = random_solves_run(wanted / 10, threads, first_seed);
    long settled = resident(); // by then every kind of model has been there
    seed = random_solves_run(wanted, threads, seed);
    long after = resident();
    seed = random_solves_refute(closest, threads, seed);
    if (seconds > 0) {
        long before = resident();
        soak(seconds);
        printf("%ld frames tracked, %ld held; %ld kB before, %ld kB after\n", frames_tracked, frames_held, before,
               resident());
    }
    bool holds = random_solves_print();
    printf("memory: %ld kB after a tenth of the solves, %ld kB after all; next seed %llu\n", settled, after,
           (unsigned long long)seed);
    bool grows = wanted >= 1000000 && after > settled + 4096; // pages that the heap keeps for a larger model now and then
    return !holds || grows ? EXIT_FAILURE : EXIT_SUCCESS;
}
