// What users say and read: methods, units, axes, verdicts.
#include "words.h"
#include "command.h"
#include "system/system.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool method_by_name(const char *name, poise_method *method)
{
    char names[512] = "";
    for (int i = 0; i < POISE_METHOD_COUNT; ++i) {
        const char *own = poise_method_name((poise_method)i);
        if (strcmp(own, name) == 0 || (i == POISE_METHOD_NEWTON && strcmp(name, "newton_projected") == 0)) {
            *method = (poise_method)i;
            return true;
        }
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? " " : "", own);
    }
    complain("no method is called \"%s\"; there are %s", name, names);
    return false;
}

// ---- Units and axes in words ---------------------------------------------------------------------------------------------

const char *up_name(poise_up up)
{
    static const char *const names[] = {NULL, "x", "y", "z"};
    return names[up];
}

poise_up up_by_name(const char *name)
{
    char axis = name ? name[0] : '\0';
    return axis == 'x' ? POISE_UP_X : axis == 'y' ? POISE_UP_Y : axis == 'z' ? POISE_UP_Z : POISE_UP_UNKNOWN;
}

const char *unit_name(double metres, char text[32])
{
    const char *name = poise_unit_name(metres);
    if (!name) {
        snprintf(text, 32, "units of %.4g m", metres);
    }
    return name ? name : text;
}

bool is_no_person(const poise_figure *figure, double metres)
{
    double tall = figure->height * metres;
    return figure->is_named && figure->metres > 0 && figure->metres != metres && (tall > 8 || tall < 0.2);
}

// ---- Verdicts ------------------------------------------------------------------------------------------------------------

// ---- Options -------------------------------------------------------------------------------------------------------------

poise_verdict_level verdict_level_by_name(const char *name)
{
    return name[0] == 'g' ? POISE_VERDICT_GOOD : name[0] == 'd' ? POISE_VERDICT_DOUBTFUL : POISE_VERDICT_FAILED;
}

// The help of --threshold, which lists what the command's verdict rests on: "WHAT is miss (0.010,0.015), far (0.024) ...".
static const char *help_of_thresholds(const arguments *args)
{
    const app_option *option = arguments_command(args)->options;
    while (strcmp(option->name, "threshold") != 0) {
        ++option;
    }
    return option->help;
}

static bool is_listed(const char *help, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(help, name); at; at = strstr(at + 1, name)) {
        if (at > help && at[-1] == ' ' && strncmp(at + length, " (", 2) == 0) {
            return true;
        }
    }
    return false;
}

// "miss=0.02" or "miss=0.02,0.03". False after one line on standard error.
static bool read_threshold(const char *help, const char *text, poise_thresholds *thresholds)
{
    const char *equals = strchr(text, '=');
    char name[32] = "", known[512] = "", hint[96], *end = NULL;
    if (equals && (size_t)(equals - text) < sizeof name) {
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        double doubtful = strtod(equals + 1, &end), failed = -1;
        bool works = end > equals + 1;
        if (works && *end == ',') {
            const char *second = end + 1;
            failed = strtod(second, &end);
            works = end > second;
        }
        if (works && *end == '\0' && is_listed(help, name) &&
            poise_thresholds_set(thresholds, name, doubtful, failed, NULL) == POISE_OK) {
            return true;
        }
    }
    for (int i = 0; i < POISE_FINDING_KIND_COUNT; ++i) {
        poise_thresholds scratch = *thresholds;
        const char *what = poise_finding_name((poise_finding_kind)i);
        size_t used = strlen(known);
        if (is_listed(help, what) && poise_thresholds_set(&scratch, what, 0, -1, NULL) == POISE_OK) {
            snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? " " : "", what);
        }
    }
    complain("--threshold \"%s\" is not WHAT=NUMBER or WHAT=NUMBER,NUMBER with WHAT one of: %s%s", text, known,
             is_listed(help, name) ? "" : did_you_mean(known, name, hint, sizeof hint));
    return false;
}

bool verdict_read_thresholds(const arguments *args, poise_thresholds *thresholds)
{
    bool works = true;
    const char *text;
    for (int i = 0; works && (text = option_text_at(args, "threshold", i)) != NULL; ++i) {
        works = read_threshold(help_of_thresholds(args), text, thresholds);
    }
    return works;
}

#define FAILED " (failed)" // after a finding

enum { MOST_ALIKE = 5 }; // findings that differ in name and number only

// ---- For people ----------------------------------------------------------------------------------------------------------

// The body that a marker without a place moves with; NULL: it moves with none.
static const char *carrier_of(const poise_verdict *verdict, const poise_finding *findings, const char *marker)
{
    for (int i = 0; i < verdict->count; ++i) {
        if (findings[i].kind == POISE_FINDING_UNPLACED && strcmp(findings[i].name, marker) == 0) {
            return findings[i].other;
        }
    }
    return NULL;
}

// Names of one kind of finding, separated by commas, with what is known of them.
static void print_names(const poise_verdict *verdict, const poise_finding *findings, poise_finding_kind kind,
                        const char *head, FILE *stream)
{
    memory_stream names;
    int count = 0;
    bool is_deviation = kind == POISE_FINDING_VAGUE || kind == POISE_FINDING_BLURRED;
    need(system_memory_open(&names));
    for (int i = 0; i < verdict->count; ++i) {
        const poise_finding *f = &findings[i];
        if (f->kind != kind || (is_deviation && f->level != POISE_VERDICT_GOOD)) {
            continue;
        }
        const char *name = f->name ? f->name : "";
        const char *carrier = kind == POISE_FINDING_LEFT_OUT ? carrier_of(verdict, findings, name) : NULL;
        fprintf(names.stream, "%s%s", count++ > 0 ? ", " : "", name);
        if (carrier) {
            fprintf(names.stream, " (moves with %s)", carrier);
        } else if (kind == POISE_FINDING_VAGUE) {
            fprintf(names.stream, " %.0f", DEGREES_PER_RADIAN * f->value);
        } else if (kind == POISE_FINDING_BLURRED) {
            fprintf(names.stream, " %.1f", 100 * f->value);
        }
    }
    if (kind == POISE_FINDING_VAGUE) {
        fputs(" degrees (standard deviation)", names.stream);
    } else if (kind == POISE_FINDING_BLURRED) {
        fputs(" % of the stature (standard deviation)", names.stream);
    }
    need(system_memory_close(&names));
    if (count > 0) {
        text_make_printable(names.text);
        print_fact(stream, head, names.text, true);
    }
    free(names.text);
}

// Is it printed as a line of its own?
static bool is_reason(const poise_finding *f)
{
    bool is_told = f->kind == POISE_FINDING_UNMATCHED || f->kind == POISE_FINDING_APART || f->kind == POISE_FINDING_HIDDEN;
    return is_told || f->level != POISE_VERDICT_GOOD;
}

// How many findings from `first` to `end` read like `f` but for the name and the number?
static int count_like(const poise_finding *f, const poise_finding *findings, int first, int end)
{
    int count = 0;
    for (int i = first; i < end; ++i) {
        count += findings[i].kind == f->kind && findings[i].level == f->level;
    }
    return count;
}

// The finding of this index; of many that are alike the first few, then how many others there are.
static void print_reason(const poise_verdict *verdict, const poise_finding *findings, int index, FILE *stream)
{
    const poise_finding *f = &findings[index];
    char text[256];
    int before = count_like(f, findings, 0, index), after = count_like(f, findings, index + 1, verdict->count);
    if (before < MOST_ALIKE || before + after == MOST_ALIKE) {
        poise_finding_describe(f, text, sizeof text - sizeof FAILED);
        text_make_printable(text);
        print_fact(stream, "", strcat(text, f->level == POISE_VERDICT_FAILED ? FAILED : ""), false);
    } else if (before == MOST_ALIKE) {
        snprintf(text, sizeof text, "and %d others likewise (--json lists them)", after + 1);
        print_fact(stream, "", text, false);
    }
}

void verdict_print(const poise_verdict *verdict, const poise_finding *findings, FILE *stream)
{
    static const text_style styles[] = {STYLE_GOOD, STYLE_DOUBT, STYLE_BAD};
    bool is_styled = stream == stdout;
    fprintf(stream, "  verdict     %s%s%s\n", is_styled ? style_code(styles[verdict->level]) : "",
            poise_verdict_name(verdict->level), is_styled ? style_code(STYLE_PLAIN) : "");
    for (int i = 0; i < verdict->count; ++i) {
        if (is_reason(&findings[i])) {
            print_reason(verdict, findings, i, stream);
        }
    }
    print_names(verdict, findings, POISE_FINDING_JOINT, "unobserved", stream);
    print_names(verdict, findings, POISE_FINDING_LEFT_OUT, "left out", stream);
    print_names(verdict, findings, POISE_FINDING_VAGUE, "accurate to", stream);
    print_names(verdict, findings, POISE_FINDING_BLURRED, "centres to", stream);
}

// ---- For machines --------------------------------------------------------------------------------------------------------

json_node *verdict_as_json(const poise_verdict *verdict, const poise_finding *findings, verdict_subject subject)
{
    json_node *reasons = json_new(JSON_ARRAY), *joints = json_new(JSON_ARRAY), *left = json_new(JSON_ARRAY);
    json_node *values = json_new(JSON_OBJECT);
    static const struct {
        poise_finding_kind first, end;
    } kinds[] = {[VERDICT_OF_TRACK] = {POISE_FINDING_MISS, POISE_FINDING_JOINT},
                 [VERDICT_OF_RETARGETING] = {POISE_FINDING_UNMATCHED, POISE_FINDING_LEAPT},
                 [VERDICT_OF_BARE_RETARGETING] = {POISE_FINDING_UNMATCHED, POISE_FINDING_LEAPT},
                 [VERDICT_OF_PATH] = {POISE_FINDING_LEAPT, POISE_FINDING_SLID + 1},
                 [VERDICT_OF_EDIT] = {POISE_FINDING_UNMET, POISE_FINDING_BENT + 1},
                 [VERDICT_OF_BARE_EDIT] = {POISE_FINDING_UNMET, POISE_FINDING_BENT + 1}};
    static const poise_finding_kind of_edits[] = {POISE_FINDING_FAST, POISE_FINDING_SELF, POISE_FINDING_PIERCED};
    bool is_edit = subject == VERDICT_OF_EDIT || subject == VERDICT_OF_BARE_EDIT;
    bool is_track = subject == VERDICT_OF_TRACK;
    for (int i = (int)kinds[subject].first; i < (int)kinds[subject].end; ++i) {
        if (i == POISE_FINDING_SLID && verdict->worst[i] == 0) { // nothing slides
            continue;
        }
        json_set(values, poise_finding_name((poise_finding_kind)i), json_from_number(verdict->worst[i]));
    }
    if (subject == VERDICT_OF_PATH && verdict->worst[POISE_FINDING_FAST] > 0) { // how long a step takes was said
        json_set(values, poise_finding_name(POISE_FINDING_FAST), json_from_number(verdict->worst[POISE_FINDING_FAST]));
    }
    bool is_bare = subject == VERDICT_OF_BARE_RETARGETING, is_retargeting = subject == VERDICT_OF_RETARGETING || is_bare;
    for (int i = POISE_FINDING_SELF; is_retargeting && i <= POISE_FINDING_UNCLOSED; ++i) {
        bool is_known = i >= POISE_FINDING_UNCHECKED || !is_bare; // without shapes nothing was measured, and that is no 0
        json_set(values, poise_finding_name((poise_finding_kind)i),
                 is_known ? json_from_number(verdict->worst[i]) : json_new(JSON_NULL));
    }
    static const poise_finding_kind of_motions[] = {POISE_FINDING_BONES, POISE_FINDING_LIMB};
    for (int i = 0; is_track && i < 2; ++i) {
        if (verdict->worst[of_motions[i]] > 0) { // another skeleton was followed
            json_set(values, poise_finding_name(of_motions[i]), json_from_number(verdict->worst[of_motions[i]]));
        }
    }
    for (int i = 0; is_edit && i < 3; ++i) { // without shapes nothing is known of overlaps
        bool is_known = subject == VERDICT_OF_EDIT || of_edits[i] == POISE_FINDING_FAST;
        json_set(values, poise_finding_name(of_edits[i]),
                 is_known ? json_from_number(verdict->worst[of_edits[i]]) : json_new(JSON_NULL));
    }
    for (int i = 0; i < verdict->count; ++i) {
        const poise_finding *f = &findings[i];
        char text[256];
        poise_finding_describe(f, text, sizeof text);
        if (f->kind == POISE_FINDING_JOINT || f->kind == POISE_FINDING_LEFT_OUT) {
            json_append(f->kind == POISE_FINDING_JOINT ? joints : left, json_from_text(f->name));
        } else {
            json_append(reasons, json_make("{s:s, s:s, s:o, s:f, s:o}", "what", poise_finding_name(f->kind), "level",
                                           poise_verdict_name(f->level), "name",
                                           f->name ? json_from_text(f->name) : json_new(JSON_NULL), "value", f->value,
                                           "text", json_from_text(text)));
        }
    }
    return json_make("{s:s, s:o, s:o, s:o, s:o}", "level", poise_verdict_name(verdict->level), "reasons", reasons, "values",
                     values, "unobserved", joints, "left_out", left);
}
