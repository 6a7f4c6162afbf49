// What may be found about a track: names, thresholds, sentences, and a list that keeps the worst first.
#include "motion/findings.h"

#include "base/error.h"
#include "math/scalar.h"

#include <stdint.h>
#include <string.h>

#define NEVER 1e300

// In sentences @ is the name, & the other one, ~ the value times `times` with so many decimals, < and > the first and last
// frame, ^ the distance in percent.
static const struct {
    const char *name;
    double doubtful, failed;
    const char *text;
    double times;
    int decimals;
} kinds[POISE_FINDING_KIND_COUNT] = {
    [POISE_FINDING_MISS] = {"miss", 0.010, 0.015, "markers are ~ % of the stature from their calibrated positions (rms)",
                            100, 2},
    [POISE_FINDING_GIVEN] = {"given", 0.012, 0.024, "markers are ~ % of the stature from their given positions (rms)", 100,
                             2},
    [POISE_FINDING_FAR] = {"far", 0.024, NEVER, "@ is ~ % of the stature from its given position, on average", 100, 1},
    [POISE_FINDING_PLACES] = {"places", 0.7, 1.0,
                              "taken together, markers sit far from their usual places: rms ~ of what is common for one", 1,
                              2},
    [POISE_FINDING_MOVED] = {"moved", 1.2, 2.5, "@ sits ~ times as far from its usual place on the body as is common", 1, 2},
    [POISE_FINDING_UNEQUAL] = {"unequal", 0.027, 0.048,
                               "@ and its counterpart on the other side differ by ~ % of the stature", 100, 1},
    [POISE_FINDING_SWAPPED] = {"swapped", 9, NEVER, "@ and & seem to have each other's names", 1, 0},
    [POISE_FINDING_SIZE] = {"size", 1.25, 1.6, "person and skeleton differ in size by a factor of ~", 1, 2},
    [POISE_FINDING_STRETCHED] = {"stretched", 1.15, 1.35, "the bone to @ was scaled by a factor of ~ relative to the others",
                                 1, 2},
    [POISE_FINDING_SIDES] = {"sides", 1.1, 1.25, "@ and & are scaled differently, by a factor of ~", 1, 2},
    [POISE_FINDING_UNSEEN] = {"unseen", 0.55, 0.75, "markers do not determine ~ % of the degrees of freedom above them", 100,
                              0},
    [POISE_FINDING_BARE] = {"bare", 0.6, 0.9, "~ % of the body carries no marker", 100, 0},
    [POISE_FINDING_HELD] = {"held", 0, 0.5, "~ % of the frames could not be trusted and hold the last good pose", 100, 1},
    [POISE_FINDING_LET_GO] = {"let_go", 0.2, NEVER, "@ contradicts the other markers in ~ % of the frames", 100, 0},
    [POISE_FINDING_LOST] = {"lost", 0.2, NEVER,
                            "@ has lost its markers for ~ s, frames < to >: they are up to ^ % of the stature away", 1, 2},
    [POISE_FINDING_HIDDEN] = {"hidden", 0.5, NEVER,
                              "markers tell nothing of @ for ~ s, frames < to >: its motion there is a guess", 1, 2},
    [POISE_FINDING_BLOCKED] = {"blocked", 0.045, NEVER,
                               "@ stays at a limit in frames < to > while a marker beyond it is ~ % of the stature off; "
                               "without limits (--no-limits) it is ^ % off",
                               100, 0},
    [POISE_FINDING_SNAPPED] = {"snapped", 0.8, NEVER, "@ turns by ~ degrees from frame < to >, and not so before or after",
                               57.29577951308232, 0},
    [POISE_FINDING_TRADED] =
        {"traded", 0, NEVER,
         "@ and & leap to each other's place in frame < (~ times in all): their names are swapped for a "
         "while",
         1, 0},
    [POISE_FINDING_ASTRAY] = {"astray", 0.12, NEVER,
                              "@ has an unknown name, moves with & and is ~ % of the stature from the skeleton", 100, 0},
    [POISE_FINDING_FOREIGN] = {"foreign", 0.75, NEVER,
                               "~ % of the markers with common names are of body parts that the skeleton lacks", 100, 0},
    [POISE_FINDING_LYING] = {"lying", 0, NEVER,
                             "the head is along x, seen from the feet, so x is taken to point up, which is rare: if the "
                             "person lies, say which axis points up (--source-up)",
                             1, 0},
    [POISE_FINDING_TURNED] = {"turned", 0.2, 0.5, "sensors are ~ degrees from the orientations of their bodies (rms)",
                              57.29577951308232, 1},
    [POISE_FINDING_ABSENT] = {"absent", 0, NEVER, "the setup asks for @, which the model or the recording lacks", 1, 0},
    [POISE_FINDING_JOINT] = {"joint", NEVER, NEVER, "markers do not determine @", 1, 0},
    [POISE_FINDING_LEFT_OUT] = {"left_out", NEVER, NEVER, "@ was left out: its position on the skeleton is unknown", 1, 0},
    [POISE_FINDING_UNMATCHED] = {"unmatched", 0, 1, "& has no @, so it is not followed", 1, 0},
    [POISE_FINDING_POSE] = {"pose", 0, NEVER, "@ has no upright pose, so the rest direction of its limbs is a guess", 1, 0},
    [POISE_FINDING_BONES] = {"bones", 0.2, 0.6, "bones point ~ degrees away from those they follow, on average",
                             57.29577951308232, 1},
    [POISE_FINDING_HIPS] = {"hips", 0.08, 0.3, "the hips are ~ % of the leg length from their path, on average", 100, 1},
    [POISE_FINDING_SKATE] = {"skate", 0.02, 0.3, "planted feet slip by ~ % of the leg length per second, on average", 100,
                             1},
    [POISE_FINDING_SUNK] = {"sunk", 0.0025, 0.06, "a sole is ~ % of the leg length below the ground", 100, 2},
    [POISE_FINDING_JUMPED] = {"jumped", 0, 0.1, "~ % of the frames jump: @ turns far more than what it follows", 100, 2},
    [POISE_FINDING_LATE] = {"late", 0.05, 0.5,
                            "limits of velocity or acceleration hold the motion back in ~ % of the frames, most of all @; "
                            "a slower motion can be followed (poise edit --speed)",
                            100, 1},
    [POISE_FINDING_LIMB] = {"limb", 0.5, 1.2, "@ points ~ degrees away from what it follows, on average", 57.29577951308232,
                            1},
    [POISE_FINDING_REVERSED] = {"reversed", 0, NEVER,
                                "the feet of @ point backwards: its left and right may have each other's names", 1, 0},
    [POISE_FINDING_SLIPPED] = {"slipped", 0.3, 3, "a planted foot slips by ~ % of the leg length per second in one frame",
                               100, 0},
    [POISE_FINDING_RELEASED] = {"released", 0.1, NEVER,
                                "feet are not planted in ~ % of the frames, where the hips could not have followed", 100, 1},
    [POISE_FINDING_APART] = {"apart", NEVER, NEVER,
                             "the first frame is a pose of its own, such as a T-pose, far from all that follow; leave it "
                             "out (--first)",
                             1, 0},
    [POISE_FINDING_TIPPED] = {"tipped", 0.05, NEVER,
                              "a sole is tilted in ~ % of the frames, where the actor stands flat on it", 100, 1},
    [POISE_FINDING_BURIED] = {"buried", 0.03, NEVER, "@ is ~ % of the leg length below the ground", 100, 1},
    [POISE_FINDING_FIXED] = {"fixed", 0, NEVER, "@ is not followed: its joints in & are fixed", 1, 0},
    [POISE_FINDING_UNPLANTED] =
        {"unplanted", 0.3, NEVER,
         "no foot rests long enough to be planted, though one is near the ground in ~ % of the frames: a walk on the "
         "spot, perhaps",
         100, 0},
    [POISE_FINDING_ASIDE] = {"aside", 0.1, NEVER,
                             "@ points more than 45 degrees away from what it follows in ~ % of the frames", 100, 0},
};

const char *poise_verdict_name(poise_verdict_level level)
{
    static const char *const names[] = {"good", "doubtful", "failed"};
    return (unsigned)level <= POISE_VERDICT_FAILED ? names[level] : "unknown";
}

const char *poise_finding_name(poise_finding_kind kind)
{
    return (unsigned)kind < POISE_FINDING_KIND_COUNT ? kinds[kind].name : "unknown";
}

poise_thresholds poise_thresholds_default(void)
{
    poise_thresholds thresholds;
    for (int i = 0; i < POISE_FINDING_KIND_COUNT; ++i) {
        thresholds.doubtful[i] = kinds[i].doubtful;
        thresholds.failed[i] = kinds[i].failed;
    }
    return thresholds;
}

poise_status poise_thresholds_set(poise_thresholds *thresholds, const char *name, double doubtful, double failed,
                                  poise_error *error)
{
    if (!thresholds || !name) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "thresholds and name must not be NULL");
    }
    for (int i = 0; i < POISE_FINDING_KIND_COUNT; ++i) {
        bool is_weighed = i != POISE_FINDING_JOINT && i != POISE_FINDING_LEFT_OUT;
        if (!is_weighed || strcmp(kinds[i].name, name) != 0) {
            continue;
        }
        if (!(doubtful >= 0)) {
            return pz_error_set(error, POISE_ERROR_ARGUMENT, "the threshold of \"%s\" is negative or not a number", name);
        }
        thresholds->doubtful[i] = doubtful;
        thresholds->failed[i] = max2(doubtful, failed >= 0 ? failed : thresholds->failed[i]);
        return POISE_OK;
    }
    return pz_error_set(error, POISE_ERROR_NOT_FOUND,
                        "no finding with a threshold is called \"%s\"; docs/recordings.md lists them", name);
}

// ---- Gathering -----------------------------------------------------------------------------------------------------------

// Keep a finding, after those of its level and before lesser ones.
static void keep(pz_findings *found, poise_finding f)
{
    int at = found->verdict.count < found->capacity ? found->verdict.count : found->capacity;
    while (at > 0 && found->list[at - 1].level < f.level) {
        at -= 1;
        if (at + 1 < found->capacity) {
            found->list[at + 1] = found->list[at];
        }
    }
    if (at < found->capacity) {
        found->list[at] = f;
    }
    found->verdict.count += 1;
    found->verdict.level = f.level > found->verdict.level ? f.level : found->verdict.level;
}

static void weigh(pz_findings *found, poise_finding f, bool always)
{
    const poise_thresholds *t = found->thresholds;
    f.level = f.value > t->failed[f.kind]     ? POISE_VERDICT_FAILED
              : f.value > t->doubtful[f.kind] ? POISE_VERDICT_DOUBTFUL
                                              : POISE_VERDICT_GOOD;
    found->verdict.worst[f.kind] = max2(found->verdict.worst[f.kind], f.value);
    if (f.level != POISE_VERDICT_GOOD || always) {
        keep(found, f);
    }
}

void poise_verdict_weigh(const poise_thresholds *thresholds, poise_finding finding, bool always, poise_verdict *verdict,
                         poise_finding *findings, int capacity)
{
    pz_findings found = {.thresholds = thresholds, .list = findings, .capacity = capacity, .verdict = *verdict};
    weigh(&found, finding, always);
    *verdict = found.verdict;
}

void pz_weigh(pz_findings *found, poise_finding_kind kind, const char *name, double value, bool always)
{
    weigh(found, (poise_finding){.kind = kind, .name = name, .value = value}, always);
}

void pz_weigh_two(pz_findings *found, poise_finding_kind kind, const char *name, const char *other, double value)
{
    weigh(found, (poise_finding){.kind = kind, .name = name, .other = other, .value = value}, false);
}

// ---- In words ------------------------------------------------------------------------------------------------------------

// Digits of a number >= 0 into `text`, at most 24 characters with the zero.
static void write_number(double value, int decimals, char *text)
{
    static const double powers[] = {1, 10, 100};
    double rounded = min2(value, 1e12) * powers[decimals] + 0.5;
    uint64_t digits = (uint64_t)rounded;
    char reversed[24];
    int count = 0;
    do {
        if (count == decimals && decimals > 0) {
            reversed[count++] = '.';
        }
        reversed[count++] = (char)('0' + digits % 10);
        digits /= 10;
    } while (digits > 0 || count < decimals + 1 + (decimals > 0));
    for (int i = 0; i < count; ++i) {
        text[i] = reversed[count - 1 - i];
    }
    text[count] = '\0';
}

void poise_finding_describe(const poise_finding *finding, char *text, size_t size)
{
    size_t used = 0;
    bool known = finding && (unsigned)finding->kind < POISE_FINDING_KIND_COUNT;
    for (const char *c = known ? kinds[finding->kind].text : ""; *c; ++c) {
        char number[24] = "", one[2] = {*c, '\0'};
        const char *part = strchr("~<>^", *c) ? number : one;
        if (*c == '@' || *c == '&') {
            const char *name = *c == '@' ? finding->name : finding->other;
            part = name ? name : "";
        }
        if (*c == '~') {
            write_number(finding->value * kinds[finding->kind].times, kinds[finding->kind].decimals, number);
        } else if (*c == '<' || *c == '>') {
            write_number(*c == '<' ? finding->first : finding->last, 0, number);
        } else if (*c == '^') {
            write_number(100 * finding->distance, 0, number);
        }
        for (; *part && used + 1 < size; ++part) {
            text[used++] = *part;
        }
    }
    if (text && size > 0) {
        text[used] = '\0';
    }
}
