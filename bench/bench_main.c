// poise-bench: speed and accuracy of Poise. `poise-bench --help` lists suites and options.
#include "cli/data_files.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "cli/threads.h"
#include "draw_report.h"
#include "suite.h"

#include <poise/base.h>

#include <stdlib.h>
#include <string.h>

// Suites of a CUDA device are of folder cuda/; a program without it names them and says why they do not run.
#ifdef POISE_HAS_CUDA
#define ON_DEVICE(suite) suite
#else
#define ON_DEVICE(suite) skip_device
static void skip_device(const bench *b)
{
    report_skip(b->report, "this build has no CUDA: configure with -DPOISE_BUILD_CUDA=ON");
}
#endif

static const bench_suite suites[] = {
    {"kinematics", "forward kinematics and Jacobians of arms", "forward", suite_kinematics},
    {"derivatives", "exact gradients and Hessians, and how their cost grows", "hessian markers growth answers",
     suite_derivatives},
    {"methods", "every method on the same whole-body problems", "warm noise cold limits", suite_methods},
    {"scaling", "one step of the solver against the size of the skeleton", "steps", suite_scaling},
    {"arms", "robot arms, 6D pose, thousands of random targets", "mid rand near far restarts million", suite_arms},
    {"arm-batches", "the same by the thousand: lanes and threads", "mid rand near sizes", suite_arm_batches},
    {"tips", "robots with several tips: two arms, humanoids, hands", "restarts one near limits", suite_tips},
    {"constraints", "no collisions, closed loops, balance: what holds", "arms bodies moving loops standing",
     suite_constraints},
    {"markers", "a whole body that follows 41 markers", "clean noise", suite_markers},
    {"marker-batches", "frames on their own by the thousand: lanes and threads", "clean noise cold", suite_marker_batches},
    {"hdm05", "a recorded motion, all methods and starts", "warm amc batch made cold limits fixed", suite_hdm05},
    {"fits", "calibration of a skeleton, tracking of corrupted recordings", "calibration tracking", suite_fits},
    {"files", "reading and writing of motion files", "formats", suite_files},
    {"erik", "ERIK's own evaluation on skeletons A to G", "iterations errors", suite_erik},
    {"expressive", "ERIK beside its successor: samples and paths", "wide narrow", suite_expressive},
    {"warps", "an animation warped at 1000 Hz through the motion filter", "ticks", suite_warps},
    {"steps", "control steps within limits, at 1000 Hz", "poses", suite_steps},
    {"sequences", "whole clips at once, beside filters", "motions", suite_sequences},
    {"gpu-arms", "arm poses on a CUDA device", "batches beyond sizes", ON_DEVICE(suite_gpu_arms)},
    {"gpu-apart", "arm poses without collisions on a CUDA device", "arms", ON_DEVICE(suite_gpu_apart)},
    {"gpu-markers", "whole bodies with markers on a CUDA device", "cold warm noise noise-warm",
     ON_DEVICE(suite_gpu_markers)},
    {"gpu-clips", "clips of markers on a CUDA device, frame after frame", "clips", ON_DEVICE(suite_gpu_clips)},
    {"gpu-tips", "robots with several tips on a CUDA device", "tips", ON_DEVICE(suite_gpu_tips)},
};

#define DEVICE_SUITES "gpu" // stands for all whose name begins so

#define SUITES ((int)(sizeof suites / sizeof suites[0]))

static const struct {
    const char *name, *package;
    bool is_built;
} peers[] = {
#ifdef POISE_HAS_KDL
    {"Orocos KDL", "liborocos-kdl-dev", true},
#else
    {"Orocos KDL", "liborocos-kdl-dev", false},
#endif
#ifdef POISE_HAS_SIMBODY
    {"Simbody", "libsimbody-dev", true},
#else
    {"Simbody", "libsimbody-dev", false},
#endif
    {"textbook Levenberg-Marquardt", NULL, true},
    {"two-task damped least squares", NULL, true},
};

// ---- Options -------------------------------------------------------------------------------------------------------------

typedef enum option_kind { FLAG, NUMBER, TEXT } option_kind;

static const struct {
    const char *name, *value;
    option_kind kind;
    const char *help;
} options[] = {
    {"--peers", NULL, FLAG, "also run the baselines that are built in"},
    {"--quick", NULL, FLAG, "run in seconds: to see that it works, not to quote"},
    {"--json", NULL, FLAG, "JSON instead of tables"},
    {"--markdown", NULL, FLAG, "Markdown instead of tables"},
    {"--save", "FILE", TEXT, "also write the results as JSON"},
    {"--draw", "FILE", TEXT, "run nothing: draw saved JSON of gpu-arms, as SVG to -o FILE"},
    {"--list", NULL, FLAG, "list the suites and their tables"},
    {"--help", NULL, FLAG, "print this help"},
    {"--version", NULL, FLAG, "print the version"},
    {"--tables", "A,B", TEXT, "only these tables of the suites"},
    {"--rounds", "N", NUMBER, "number of runs; the fastest counts"},
    {"--threads", "N", NUMBER, "arm-batches, marker-batches, erik, gpu-*: threads"},
    {"--targets", "N", NUMBER, "arms, arm-batches, tips, constraints, gpu-*: targets"},
    {"--peer-targets", "N", NUMBER, "arms: targets of slower baselines"},
    {"--clips", "N", NUMBER, "gpu-clips: clips per call"},
    {"--frames", "N", NUMBER, "methods, markers, marker-batches, gpu-markers: frames"},
    {"--takes", "N", NUMBER, "marker-batches: copies of the motion, each with its noise"},
    {"--data", "FOLDER", TEXT, "files of others (docs/data.md); default: POISE_DATA"},
    {"--take", "NAME", TEXT, "hdm05, fits: one of the recordings"},
    {"--every", "K", NUMBER, "hdm05, fits: every K-th frame of amc, limits, calibration"},
    {"--samples", "N", NUMBER, "erik, expressive: samples of each skeleton"},
    {"--skeletons", "ABC", TEXT, "erik, expressive: skeletons"},
    {"--aggravation", "X", TEXT, "erik, expressive: growth of the weights along the chain"},
    {"--paths", "N", NUMBER, "expressive: paths of 360 steps"},
    {"--full", NULL, FLAG, "erik: every posture and orientation, 288 million samples"},
    {"--angles", "yxz", TEXT, "erik: order of the orientations' angles, or yxy"},
    {"--two-task", "N", NUMBER, "erik: samples of damped least squares with two tasks"},
    {"--progress", "FILE", TEXT, "erik: keep finished parts and resume from them"},
    {"--csv", "FOLDER", TEXT, "erik: write the numbers and histograms"},
    {"--seconds", "N", NUMBER, "warps, steps: length of the run"},
};

#define OPTIONS ((int)(sizeof options / sizeof options[0]))

struct bench_values {
    const char *text[OPTIONS]; // NULL: not given
    bool is_chosen[SUITES];
};

static int find_option(const char *name)
{
    for (int i = 0; i < OPTIONS; ++i) {
        if (strcmp(options[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static const char *given(const bench *b, const char *option)
{
    return b->values->text[find_option(option)];
}

const char *bench_text(const bench *b, const char *option, const char *usual)
{
    const char *text = given(b, option);
    return text ? text : usual;
}

int bench_number(const bench *b, const char *option, int usual, int quick)
{
    const char *text = given(b, option);
    return text ? atoi(text) : b->is_quick ? quick : usual;
}

bool bench_flag(const bench *b, const char *option)
{
    return given(b, option) != NULL;
}

int bench_threads(const bench *b)
{
    int cores = threads_available();
    cores = cores > 8 ? 8 : cores;
    return bench_number(b, "--threads", cores, cores);
}

// Is `word` one of the words of `list`, which are apart by spaces or commas?
static bool has_word(const char *list, const char *word, size_t length)
{
    while (*list) {
        size_t next = strcspn(list, " ,");
        if (next == length && strncmp(list, word, length) == 0) {
            return true;
        }
        list += next;
        list += strspn(list, " ,");
    }
    return false;
}

bool bench_asks_for(const bench *b, const char *name)
{
    const char *tables = given(b, "--tables");
    return tables && has_word(tables, name, strlen(name));
}

bool bench_wants(const bench *b, const char *name)
{
    return !given(b, "--tables") || bench_asks_for(b, name);
}

bool bench_takes(const bench *b, poise_method method)
{
    bool is_slow = method == POISE_METHOD_PSEUDO_INVERSE || method == POISE_METHOD_DAMPED_LEAST_SQUARES ||
                   method == POISE_METHOD_SELECTIVELY_DAMPED || method == POISE_METHOD_PRIORITY;
    return !b->is_quick || !is_slow;
}

// What the current suite leaves out for want of a file, and why the first of it.
static struct {
    char names[512], why[1400];
} left_out;

static void leave_out(const char *what, const char *why)
{
    for (const char *at = left_out.names; *at;) { // once each
        size_t length = strcspn(at, ",");
        if (strlen(what) == length && strncmp(at, what, length) == 0) {
            return;
        }
        at += length + strspn(at + length, ", ");
    }
    size_t used = strlen(left_out.names);
    snprintf(left_out.names + used, sizeof left_out.names - used, "%s%s", used ? ", " : "", what);
    if (!used) {
        snprintf(left_out.why, sizeof left_out.why, "%s", why);
    }
}

const char *bench_data(const bench *b, const char *file, const char *what)
{
    static data_files found;
    found = data_find(given(b, "--data"), file);
    if (found.state == DATA_WRONG) {
        bench_fail("%s", found.line);
    }
    if (found.state == DATA_MISSING) {
        leave_out(what, found.line);
    }
    return found.state == DATA_HERE ? found.path : NULL;
}

static void say_left_out(bench_report *r)
{
    if (left_out.names[0]) {
        report_note(r, "Left out: %s; %s.", left_out.names, left_out.why);
    }
    left_out.names[0] = left_out.why[0] = '\0';
}

// ---- Progress ------------------------------------------------------------------------------------------------------------

void bench_progress(const bench *b, const char *what)
{
    char line[64];
    snprintf(line, sizeof line, "suite %d of %d: %s%s%.40s", b->number, b->count, b->suite, *what ? ", " : "", what);
    progress_what(line);
}

// ---- Command line --------------------------------------------------------------------------------------------------------

static void print_suites(FILE *file, bool with_tables)
{
    fprintf(file, "Suites:\n");
    for (int i = 0; i < SUITES; ++i) {
        fprintf(file, "  %-15s %s\n", suites[i].name, suites[i].summary);
        if (with_tables) {
            fprintf(file, "  %-15s tables: %s\n", "", suites[i].tables);
        }
    }
    fprintf(file, "  %-15s all of %s-*\n", DEVICE_SUITES, DEVICE_SUITES);
}

static bool print_suites_as_json(void)
{
    json_node *list = json_new(JSON_ARRAY);
    for (int i = 0; i < SUITES; ++i) {
        json_append(list, json_make("{s:s, s:s, s:s}", "name", suites[i].name, "summary", suites[i].summary, "tables",
                                    suites[i].tables));
    }
    return json_print(json_make("{s:o}", "suites", list));
}

static void print_help(void)
{
    printf("poise bench [SUITE...] [OPTION...]\n\n"
           "Measures speed and accuracy. Runs all suites unless some are named. Times are\n"
           "CPU time of one thread unless a column says otherwise. A ratio is the time of\n"
           "its row over that of Poise's first row of the same case; it stands only beside\n"
           "the same answer: an error at most 1 %% larger (or too small to matter), or 95 %%\n"
           "of the share solved. Tables leave out columns that do not fit; JSON and Markdown\n"
           "have them all.\n\n");
    print_suites(stdout, false);
    printf("\nOptions; those of single suites begin with their names:\n");
    for (int i = 0; i < OPTIONS; ++i) {
        char name[32];
        snprintf(name, sizeof name, "%s%s%s", options[i].name, options[i].value ? " " : "",
                 options[i].value ? options[i].value : "");
        printf("  %-17s %s\n", name, options[i].help);
    }
    printf("\nExit status: 0 done; 1 an answer was not as good as promised; 2 wrong usage.\n");
}

static const char *suite_name(const void *unused, int index)
{
    (void)unused;
    return suites[index].name;
}

static _Noreturn void refuse(const char *what, const char *word)
{
    fprintf(stderr, "poise bench: ");
    fprintf(stderr, what, word);
    fprintf(stderr, "\n");
    print_suites(stderr, false);
    exit(2);
}

static bool is_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    return end != text && *end == '\0' && number >= 1 && number <= 1000000000;
}

static void choose_suite(const char *word, struct bench_values *v)
{
    bool is_device = strcmp(word, DEVICE_SUITES) == 0, is_any = false;
    for (int i = 0; i < SUITES; ++i) {
        if (strcmp(suites[i].name, word) == 0 ||
            (is_device && strncmp(suites[i].name, DEVICE_SUITES "-", strlen(DEVICE_SUITES) + 1) == 0)) {
            v->is_chosen[i] = is_any = true;
        }
    }
    if (!is_any) {
        const char *near = poise_nearest_name(word, suite_name, NULL, SUITES);
        char words[160];
        snprintf(words, sizeof words, "%s%s%s%s", word, near ? "\"; did you mean \"" : "\"", near ? near : "",
                 near ? "\"?" : "");
        refuse("there is no suite \"%s", words);
    }
}

static void read_words(int count, char **words, struct bench_values *v)
{
    bool is_any = false;
    for (int i = 1; i < count; ++i) {
        int option = find_option(words[i]);
        if (words[i][0] != '-') {
            choose_suite(words[i], v);
            is_any = true;
        } else if (option < 0) {
            refuse("there is no option %s; poise bench --help names them", words[i]);
        } else if (options[option].kind == FLAG) {
            v->text[option] = "";
        } else if (i + 1 == count) {
            refuse("%s needs a value", words[i]);
        } else {
            v->text[option] = words[++i];
            if (options[option].kind == NUMBER && !is_number(words[i])) {
                refuse("%s needs a whole number from 1 on", words[i - 1]);
            }
        }
    }
    for (int i = 0; i < SUITES && !is_any; ++i) {
        v->is_chosen[i] = true;
    }
}

// Does the suite have a table that is asked for? `tables` is a list with commas.
static bool has_any(const bench_suite *suite, const char *tables)
{
    for (const char *word = tables; *word;) {
        size_t length = strcspn(word, ",");
        if (has_word(suite->tables, word, length)) {
            return true;
        }
        word += length;
        word += strspn(word, ",");
    }
    return false;
}

// Every table that is asked for must be one of a chosen suite; suites without any of them do not run.
static void check_tables(struct bench_values *v)
{
    const char *tables = v->text[find_option("--tables")];
    for (const char *word = tables; word && *word;) {
        char name[64];
        size_t length = strcspn(word, ",");
        bool is_known = false;
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        for (int i = 0; i < SUITES; ++i) {
            is_known = is_known || (v->is_chosen[i] && has_word(suites[i].tables, name, strlen(name)));
        }
        if (!is_known) {
            refuse("there is no table \"%s\" in these suites; poise bench --list names them", name);
        }
        word += length;
        word += strspn(word, ",");
    }
    for (int i = 0; i < SUITES && tables; ++i) {
        v->is_chosen[i] = v->is_chosen[i] && has_any(&suites[i], tables);
    }
}

// The skeletons of the expressive suites have letters.
static void check_skeletons(const struct bench_values *v)
{
    const char *letters = v->text[find_option("--skeletons")];
    if (letters && (!*letters || letters[strspn(letters, "ABCDEFG")])) {
        refuse("--skeletons %s: they are named A to G", letters);
    }
}

static bench_report *begin_report(const bench *b)
{
    bench_machine machine = bench_machine_now();
    report_style form = bench_flag(b, "--json")       ? REPORT_JSON
                        : bench_flag(b, "--markdown") ? REPORT_MARKDOWN
                                                      : REPORT_TABLES;
    bench_report *r = report_create(form, &machine);
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; ++i) {
        report_peer(r, peers[i].name, peers[i].package, peers[i].is_built, b->with_peers);
    }
    return r;
}

static bool run_suites(bench *b)
{
    for (int i = 0; i < SUITES; ++i) {
        b->count += b->values->is_chosen[i];
    }
    b->report = begin_report(b);
    for (int i = 0; i < SUITES; ++i) {
        if (b->values->is_chosen[i]) {
            b->suite = suites[i].name;
            b->number += 1;
            progress_start("bench", NULL, b->count); // suites differ too much for a rate
            progress_show(b->number - 1);
            bench_progress(b, "");
            report_begin_suite(b->report, suites[i].name, suites[i].summary);
            suites[i].run(b);
            progress_end();
            say_left_out(b->report);
            report_end_suite(b->report);
        }
    }
    return report_finish(b->report, given(b, "--save"));
}

static int run(int count, char **words)
{
    for (int i = 1; i < count; ++i) {
        if (strcmp(words[i], "--draw") == 0) {
            return draw_report(count - 1, words + 1);
        }
    }
    struct bench_values values = {.text = {NULL}};
    read_words(count, words, &values);
    check_tables(&values);
    check_skeletons(&values);
    bench b = {.values = &values};
    if (bench_flag(&b, "--help")) {
        print_help();
        return 0;
    }
    if (bench_flag(&b, "--list") && bench_flag(&b, "--json")) {
        return print_suites_as_json() ? 0 : 2;
    }
    if (bench_flag(&b, "--list")) {
        print_suites(stdout, true);
        return 0;
    }
    if (bench_flag(&b, "--version")) {
        printf("poise-bench %s\n", poise_version());
        return 0;
    }
    b.is_quick = bench_flag(&b, "--quick");
    b.with_peers = bench_flag(&b, "--peers");
    if (b.is_quick) {
        bench_hurry();
    }
    return run_suites(&b) ? 0 : 1;
}

int main(int count, char **words)
{
    int status = run(count, words);
    return files_flush_output() ? status : 2;
}
