// A verdict over a track: the sentences of what may be found, in one table (names and thresholds are the header's); a list
// that keeps the worst first; and the verdict, which asks every measure for what it has found.
#include "motion/verdict.h"

#include "base/arena.h"
#include "base/error.h"
#include "motion/anatomy.h"
#include "motion/places.h"
#include "motion/uncertainty.h"
#include "num/real.h"
#include "num/vector.h"

#include <poise/verdict.h>

#include <stdint.h>
#include <string.h>

// ---- Findings ------------------------------------------------------------------------------------------------------------

#define RADIANS 0.017453292519943295 // a degree

// In sentences @ is the name, & the other one, ~ the value times `times` with so many decimals, < and > the first and last
// frame, ^ the distance times distance_times, mostly in percent.
static const struct {
    const char *text;
    double times;
    int decimals;
} kinds[POISE_FINDING_KIND_COUNT] = {
    [POISE_FINDING_MISS] = {"markers are ~ % of the stature from their calibrated positions (rms)", 100, 2},
    [POISE_FINDING_GIVEN] = {"markers are ~ % of the stature from their given positions (rms)", 100, 2},
    [POISE_FINDING_FAR] = {"@ is ~ % of the stature from its given position, on average", 100, 1},
    // 128 recordings of 60 people: 0.76 at most, but for those whose markers are of other places; `moved` 1.4 in nine of
    // ten; 80 mm on a child of 1 m are 1.38. What a place is off by is in the deviation of angles (uncertainty.c).
    [POISE_FINDING_PLACES] = {"taken together, markers sit far from their usual places: rms ~ of what is common for one", 1,
                              2},
    [POISE_FINDING_MOVED] = {"@ sits ~ times as far from its usual place on the body as is common", 1, 2},
    [POISE_FINDING_UNEQUAL] = {"@ and its counterpart on the other side differ by ~ % of the stature", 100, 1},
    [POISE_FINDING_SWAPPED] = {"@ and & seem to have each other's names", 1, 0},
    [POISE_FINDING_SIZE] = {"person and skeleton differ in size by a factor of ~", 1, 2},
    [POISE_FINDING_STRETCHED] = {"the bone to @ was scaled by a factor of ~ relative to the others", 1, 2},
    [POISE_FINDING_SIDES] = {"@ and & are scaled differently, by a factor of ~", 1, 2},
    [POISE_FINDING_UNSEEN] = {"markers do not determine ~ % of the degrees of freedom above them", 100, 0},
    [POISE_FINDING_BARE] = {"~ % of the body carries no marker", 100, 0},
    [POISE_FINDING_HELD] = {"~ % of the frames could not be trusted and hold the last good pose", 100, 1},
    [POISE_FINDING_LET_GO] = {"@ contradicts the other markers in ~ % of the frames", 100, 0},
    [POISE_FINDING_LOST] = {"@ has lost its markers for ~ s, frames < to >: they are up to ^ % of the stature away", 1, 2},
    [POISE_FINDING_HIDDEN] = {"markers tell nothing of @ for ~ s, frames < to >: its motion there is a guess", 1, 2},
    [POISE_FINDING_BLOCKED] = {"@ stays at a limit in frames < to > while a marker beyond it is ~ % of the stature off; "
                               "without limits (--no-limits) it is ^ % off",
                               100, 0},
    [POISE_FINDING_SNAPPED] = {"@ turns by ~ degrees from frame < to >, and not so before or after", 57.29577951308232, 0},
    [POISE_FINDING_TRADED] =
        {"@ and & leap to each other's place in frame < (~ times in all): their names are swapped for a "
         "while",
         1, 0},
    [POISE_FINDING_ASTRAY] = {"@ has an unknown name, moves with & and is ~ % of the stature from the skeleton", 100, 0},
    [POISE_FINDING_UNPLACED] = {"@ has an unknown name and was left out; it moves with &, and wanders on it by ~ % of the "
                                "stature",
                                100, 1},
    [POISE_FINDING_AT_LIMIT] = {"@ is at a limit of the skeleton in ~ % of the frames, longest from < to >: its angle there "
                                "is the limit's, and its neighbours take up the rest (--no-limits)",
                                100, 0},
    [POISE_FINDING_UNSURE] = {"markers tell @ to ~ degrees only (standard deviation); & would tell more, but has an unknown "
                              "name (--labels)",
                              1 / RADIANS, 0},
    [POISE_FINDING_VAGUE] = {"markers tell @ to ~ degrees (standard deviation, with how they may sit on the body)",
                             1 / RADIANS, 0},
    [POISE_FINDING_BLURRED] =
        {"markers tell the joint centre @ to ~ % of the stature (standard deviation, with how they may "
         "sit on the body)",
         100, 1},
    [POISE_FINDING_FOREIGN] = {"~ % of the markers with common names are of body parts that the skeleton lacks", 100, 0},
    // Of 120 recordings seven have names that two points share, in 40 % of the frames and more; none in fewer.
    [POISE_FINDING_AMBIGUOUS] = {"two markers are called @, and are not at one place in ~ % of the frames: the first one "
                                 "was taken",
                                 100, 0},
    [POISE_FINDING_LYING] = {"the head is along x, seen from the feet, so x is taken to point up, which is rare: if the "
                             "person lies, say which axis points up (--source-up)",
                             1, 0},
    [POISE_FINDING_TURNED] = {"sensors are ~ degrees from the orientations of their bodies (rms)", 57.29577951308232, 1},
    [POISE_FINDING_ABSENT] = {"the setup asks for @, which the model or the recording lacks", 1, 0},
    [POISE_FINDING_FROZEN] = {"@ is where it was, to the last digit, in frames < to >: frames were repeated, or a gap was "
                              "filled with them",
                              1, 0},
    [POISE_FINDING_DOUBLED] = {"each frame comes ~ times, to the last digit, on average: the motion was taken at a lower "
                               "rate than the file's",
                               1, 1},
    // As long as a limb may be hidden: what a marker did in the meantime nobody knows.
    [POISE_FINDING_FILLED] = {"@ follows a straight line at an even pace for ~ s, frames < to >: a gap was filled with it",
                              1, 2},
    [POISE_FINDING_CUT] =
        {"all markers leap by ~ % of the stature from frame < to >: frames are missing, or recordings were "
         "put together",
         100, 1},
    [POISE_FINDING_PUSHED] = {"markers of @ leap together by ~ % of the stature from frame < to >, and stay there: they "
                              "were pushed aside",
                              100, 1},
    // 190 recordings: 0.013 at most, but for two in which it is so; markers that we moved by 50 mm: 0.019 at least.
    [POISE_FINDING_KNOCKED] = {"@ leaps by ^ % of the stature from frame < to >, alone, and sits elsewhere from then on: it "
                               "was knocked off, or another point has its name",
                               100, 1},
    [POISE_FINDING_HASTY] = {"markers accelerate by ~ m/s2 on average, which people do not: is the rate right?", 1, 0},
    [POISE_FINDING_SLOW] = {"a step takes ~ s: is the rate right?", 1, 1},
    [POISE_FINDING_BACKWARDS] = {"the person walks backwards in ~ % of the frames, or the recording does", 100, 0},
    [POISE_FINDING_MIRRORED] = {"in ~ % of the frames the markers are the mirror image of a person: an axis is negated, or "
                                "two are exchanged",
                                100, 0},
    // None in 60 recordings, sprints and drop jumps among them, up to 19 % in a cartwheel that we made; ten times the rate:
    // 40 %.
    [POISE_FINDING_FALLING] = {"hips fall at more than twice the acceleration of gravity in ~ % of the frames: is the rate "
                               "right?",
                               100, 0},
    // 6 degrees at most in 30 recordings of laboratories, 2.5 in sound ones made by us; rooms tilted by 20 degrees: 8 to 21.
    [POISE_FINDING_TILTED] =
        {"hips and soles lean the same way by ~ degrees: is the ground level, and up as it is said to be?", 1 / RADIANS, 0},
    [POISE_FINDING_SKEWED] =
        {"distances that should stay the same change with their direction: one axis is stretched by ~ % "
         "against another",
         100, 1},
    // 98 recordings without leaps and throws: 0.012 at most but for two that drift; 24 of baseball 0.019, which are at
    // limits.
    [POISE_FINDING_DRIFTED] =
        {"@ sits elsewhere in one part of the recording than in another, by ~ % of the stature: it, or "
         "markers of the next body, have slipped",
         100, 1},
    [POISE_FINDING_SHIFTED] =
        {"the distance between @ and & is not the same in all parts of the recording: it changes by ~ % "
         "of the stature",
         100, 1},
    [POISE_FINDING_MISPLACED] = {"@ is ~ % of the stature from the joint that it follows, on average, and most others are "
                                 "not: do the two belong together (--pair)?",
                                 100, 1},
    [POISE_FINDING_JOINT] = {"markers do not determine @", 1, 0},
    [POISE_FINDING_LEFT_OUT] = {"@ was left out: its position on the skeleton is unknown", 1, 0},
    [POISE_FINDING_UNMATCHED] = {"& has no @, so it is not followed", 1, 0},
    [POISE_FINDING_POSE] = {"@ has no upright pose, so the rest direction of its limbs is a guess", 1, 0},
    [POISE_FINDING_BONES] = {"bones point ~ degrees away from those they follow, on average", 57.29577951308232, 1},
    [POISE_FINDING_HIPS] = {"the hips are ~ % of the leg length from their path, on average", 100, 1},
    [POISE_FINDING_SKATE] = {"planted feet slip by ~ % of the leg length per second, on average", 100, 1},
    [POISE_FINDING_SUNK] = {"a sole is ~ % of the leg length below the ground", 100, 2},
    [POISE_FINDING_JUMPED] = {"~ % of the frames jump: @ turns far more than what it follows", 100, 2},
    [POISE_FINDING_LATE] = {"limits of velocity or acceleration hold the motion back in ~ % of the frames, most of all @; "
                            "a slower motion can be followed (poise edit --speed)",
                            100, 1},
    [POISE_FINDING_LIMB] = {"@ points ~ degrees away from what it follows, on average", 57.29577951308232, 1},
    [POISE_FINDING_REVERSED] = {"the feet of @ point backwards: its left and right may have each other's names", 1, 0},
    [POISE_FINDING_SLIPPED] = {"a planted foot slips by ~ % of the leg length per second in one frame", 100, 0},
    [POISE_FINDING_RELEASED] = {"feet are not planted in ~ % of the frames, where the hips could not have followed", 100, 1},
    [POISE_FINDING_APART] = {"the first frame is a pose of its own, such as a T-pose, far from all that follow; leave it "
                             "out (--first)",
                             1, 0},
    [POISE_FINDING_TIPPED] = {"a sole is tilted in ~ % of the frames, where the actor stands flat on it", 100, 1},
    [POISE_FINDING_BURIED] = {"@ is ~ % of the leg length below the ground", 100, 1},
    [POISE_FINDING_FIXED] = {"@ is not followed: its joints in & are fixed", 1, 0},
    [POISE_FINDING_UNPLANTED] =
        {"no foot rests long enough to be planted, though one is near the ground in ~ % of the frames: a walk on the "
         "spot, perhaps",
         100, 0},
    [POISE_FINDING_ASIDE] = {"@ points more than 45 degrees away from what it follows in ~ % of the frames", 100, 0},
    // 7 degrees is CppFlow's bound.
    [POISE_FINDING_LEAPT] = {"@ leaps by ~ degrees from pose < to >, which following the tool does not take",
                             57.29577951308232, 1},
    [POISE_FINDING_SLID] = {"@ leaps by ~ m from pose < to >, which following the tool does not take", 1, 2},
    // Retargets of 21 clips onto G1, T1 and H1 judged by MuJoCo: those that pass for sound have an overlap of 5 mm in no frame,
    // or in single ones; the others in 5 to 90 % of the frames.
    [POISE_FINDING_SELF] = {"@ and & overlap most, by ^ mm in frame <; ~ % of the frames have an overlap of more than 5 mm",
                            100, 1},
    [POISE_FINDING_PIERCED] =
        {"@ and & overlap most, by ^ mm in frame <; ~ % of the frames have an overlap of more than 20 mm", 100, 1},
    [POISE_FINDING_FLOOR] =
        {"~ % of the frames have a body more than 5 mm below the ground, most of all @ by ^ mm in frame <", 100, 1},
    [POISE_FINDING_UNCHECKED] =
        {"~ collision shapes of @ could not be read: overlaps, and what is below the ground, are not "
         "checked",
         1, 0},
    [POISE_FINDING_FAST] = {"@ moves at up to ^ rad/s (frame <), ~ times its limit, which is 20 where the file has none", 1,
                            1},
    [POISE_FINDING_ABRUPT] =
        {"joints accelerate by more than 1000 rad/s/s in ~ % of the frames, most of all @ by ^ in frame <", 100, 1},
    // Of the time that the actor's feet rest: 18 walks of CMU on T1, H1 and Kuavo at most 3.3 % but for four of the 54 (5 to 26);
    // steps 45 to 48 %.
    [POISE_FINDING_LOOSE] =
        {"@ slides most: in ~ % of the time that the actor's feet rest those that follow slide, not planted, as on steps or "
         "in the air",
         100, 1},
    // 18 walks of CMU on T1 and Kuavo: at most 0.8 but for two on Kuavo, half of them 0.4; on H1, whose stiff waist and ankles do
    // let the hips jump by 3 cm and more in a frame, 0.4 to 2.4. Nobody runs at more than 12.4 m/s.
    [POISE_FINDING_LURCHED] = {"the hips move at ^ m/s in frame <, ~ m/s faster than the actor's, or than people do", 1, 1},
    // A handstand or a cartwheel is followed upside down.
    [POISE_FINDING_OVERTURNED] =
        {"the actor is upside down, and was turned upright, in ~ % of the frames: which axis of the "
         "motion points up (--source-up)?",
         100, 0},
    // 34 recordings of CMU, Mixamo and others on five robots that pass for sound otherwise: in half of them no foot scrapes over
    // the ground, in a third for 2 to 13 % of the frames, at up to 4 m/s.
    [POISE_FINDING_SCUFFED] = {"a foot scrapes over the ground in ~ % of the frames, most of all @ at ^ mm/s in frame <",
                               100, 1},
    [POISE_FINDING_HOVERING] = {"nothing is near the ground in ~ % of the frames, longest in frames < to >: longer than in "
                                "a jump",
                                100, 1},
    [POISE_FINDING_UNCLOSED] = {"a loop that the file closes is open by ~ mm, or thousandths of a radian, in frame <: links "
                                "come apart",
                                1000, 1},
    // People who walk or box (CMU 05_02, 07_05, 11_01, and others): the lowest sole is within 5 % of its usual height in 99 % of
    // the frames; those who jump or dance on their toes are beyond.
    [POISE_FINDING_AFLOAT] = {"the lowest sole is ~ % of the leg length above the ground that the figure stands on at rest",
                              100, 1},
    // Hands and feet of 16 recordings and of our own motions moved by 2 to 10 cm where they rest or move slowly: clavicles turn
    // by up to 0.30, limbs twist by 0.37, chests turn by 0.05, elbows and knees leave their bend by 0.26. The bad ones: clavicles
    // twisted by 46 to 77 degrees, a chest turned by 36, elbows bent backwards.
    [POISE_FINDING_UNMET] = {"the pin of @ is out of reach in ~ % of its frames, most in frame <", 100, 1},
    [POISE_FINDING_JOLTED] = {"@ snaps or jolts in frame <, more than before", 1, 0},
    [POISE_FINDING_COLLAR] = {"@ is turned by ~ degrees against the chest, frames < to >", 57.29577951308232, 0},
    [POISE_FINDING_TWISTED] = {"@ is twisted by ~ degrees about its length, frames < to >", 57.29577951308232, 0},
    [POISE_FINDING_DRAGGED] = {"@ is turned by ~ degrees, though no pin holds the trunk, frames < to >", 57.29577951308232,
                               0},
    [POISE_FINDING_BENT] = {"@ bends ~ degrees backwards or sideways, as it did not before, frames < to >",
                            57.29577951308232, 0},
    [POISE_FINDING_CLEARANCE] = {"@ and & are nearer than they may be in ~ % of the frames, most in frame <", 100, 1},
    [POISE_FINDING_BALANCE] = {"the centre of mass leaves its polygon in ~ % of the frames, most in frame <", 100, 1},
    [POISE_FINDING_LOOPS] = {"the loop of @ and & is open in ~ % of the frames, most in frame <", 100, 1},
};

poise_status poise_thresholds_set(poise_thresholds *thresholds, const char *name, double doubtful, double failed,
                                  poise_error *error)
{
    if (!thresholds || !name) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "thresholds and name must not be NULL");
    }
    for (int i = 0; i < POISE_FINDING_KIND_COUNT; ++i) {
        bool is_weighed = i != POISE_FINDING_JOINT && i != POISE_FINDING_LEFT_OUT;
        if (!is_weighed || strcmp(poise_finding_name((poise_finding_kind)i), name) != 0) {
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

void poise_verdict_join(poise_verdict *verdict, poise_finding *findings, int capacity, const poise_verdict *other,
                        const poise_finding *others, int other_capacity)
{
    pz_findings found = {.list = findings, .capacity = capacity, .verdict = *verdict};
    for (int i = 0; i < other->count && i < other_capacity; ++i) {
        if (others[i].level > POISE_VERDICT_GOOD || others[i].kind == POISE_FINDING_JOINT) {
            keep(&found, others[i]);
        }
    }
    for (int kind = 0; kind < POISE_FINDING_KIND_COUNT; ++kind) {
        found.verdict.worst[kind] = max2(found.verdict.worst[kind], other->worst[kind]);
    }
    found.verdict.level = other->level > found.verdict.level ? other->level : found.verdict.level;
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

// What a distance is written in: millimetres of a depth, radians of a speed, else percent.
static double distance_times(poise_finding_kind kind)
{
    bool is_depth = kind == POISE_FINDING_SELF || kind == POISE_FINDING_PIERCED || kind == POISE_FINDING_FLOOR ||
                    kind == POISE_FINDING_SCUFFED;
    bool is_speed = kind == POISE_FINDING_FAST || kind == POISE_FINDING_ABRUPT || kind == POISE_FINDING_LURCHED;
    return is_depth ? 1000.0 : is_speed ? 1.0 : 100.0;
}

// The sentence. UNCHECKED has three: shapes that were not read, bodies (named by `other`) that have none, and what is not
// watched on a tool path, where nothing is named. UNMET has two: of pins, and of the poses of a path (named by `other`).
// LYING has two: x by the figure, and any axis (the name) that the figure does not tell.
static const char *text_of(const poise_finding *finding)
{
    bool is_bare = finding->kind == POISE_FINDING_UNCHECKED && finding->other;
    bool is_untold = finding->kind == POISE_FINDING_LYING && finding->name;
    bool is_path = finding->other && finding->kind == POISE_FINDING_UNMET;
    bool is_unwatched = !finding->name && !finding->other && finding->kind == POISE_FINDING_UNCHECKED;
    return is_path        ? "~ % of the poses of & are missed"
           : is_unwatched ? "~ collision shapes, or pairs of them, are not watched: overlaps of them are not known"
           : is_bare      ? "~ bodies of the skeleton, such as @, &: overlaps of them are not checked"
           : is_untold    ? "nothing says which axis points up, nor does how the person stands: @ is taken (--source-up)"
                          : kinds[finding->kind].text;
}

void poise_finding_describe(const poise_finding *finding, char *text, size_t size)
{
    size_t used = 0;
    bool known = finding && (unsigned)finding->kind < POISE_FINDING_KIND_COUNT;
    for (const char *c = known && finding->in_trial ? "in the static trial, " : ""; *c && used + 1 < size; ++c) {
        text[used++] = *c;
    }
    for (const char *c = known ? text_of(finding) : ""; *c; ++c) {
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
            write_number(distance_times(finding->kind) * finding->distance, 0, number);
        }
        for (; *part && used + 1 < size; ++part) {
            text[used++] = *part;
        }
    }
    if (text && size > 0) {
        text[used] = '\0';
    }
}

// ---- The verdict: places -------------------------------------------------------------------------------------------------

#define TOLD   0.4   // of a degree of freedom: what markers tell less of is not seen; two joints may share what is
#define SURE   0.020 // of the stature: places that deviate by less are compared from side to side
#define SHORT  1.075 // metres: with the thresholds of size, people are from 0.86, walking infants
#define TALL   1.85  // to 2.31
#define APART  0.003 // of the stature: markers that are nearer are at one place
#define OTHERS 3.0   // times what most joints are off by: one that follows the wrong joint
#define LOOKS  200   // frames, at most, in which joints are looked at

typedef struct judging {
    const poise_verdict_problem *problem;
    const poise_model *model;
    pz_anatomy anatomy;
    double stature;
    double *told;      // by degree of freedom: what markers tell of it (uncertainty.h)
    const char **left; // by body: a marker of unknown name that moves with it, or NULL
    int every;         // examined frame
    pz_findings found;
    poise_track_summary summary;
} judging;

// From where anatomy has placement i to where it is, in deviations along and across the axis, and the distance's components
// along, outward and at right angles to both. False: anatomy says nothing of it.
static bool offset_of(const judging *j, int i, double *z, double parts[3])
{
    const poise_place_prior *prior = j->problem->priors ? &j->problem->priors[i] : NULL;
    double size = j->problem->calibration ? j->problem->calibration->size : 1.0;
    if (!prior || !(prior->along > 0) || !(prior->across > 0) || !(size > 0)) {
        return false;
    }
    vec3 off = v3_sub(j->problem->track->placements[i].local, v3_scale(prior->place, size));
    parts[0] = v3_dot(off, prior->axis);
    parts[1] = v3_dot(off, prior->outward);
    parts[2] = v3_dot(off, v3_cross(prior->axis, prior->outward));
    double along = parts[0] / (size * prior->along), square = v3_dot(off, off) - parts[0] * parts[0];
    double across = max2(square, 0.0) / (size * size * prior->across * prior->across);
    *z = sqrt((along * along + across) / 3.0);
    return true;
}

static bool is_sure(const judging *j, int i)
{
    const poise_place_prior *prior = &j->problem->priors[i];
    return prior->along < SURE * j->stature && prior->across < SURE * j->stature && v3_norm(prior->outward) > 0;
}

// Left against right, mirrored: along and outward are the same, what is at right angles to both changes its sign.
static void compare_sides(judging *j, int i, const double a[3])
{
    const poise_placement *placements = j->problem->track->placements;
    for (int k = 0; k < i; ++k) {
        double z, b[3];
        if (is_sure(j, i) && is_sure(j, k) && pz_labels_mirror(placements[i].label, placements[k].label) &&
            offset_of(j, k, &z, b)) {
            vec3 apart = v3(a[0] - b[0], a[1] - b[1], a[2] + b[2]);
            pz_weigh(&j->found, POISE_FINDING_UNEQUAL, placements[i].label, v3_norm(apart) / j->stature, false);
        }
    }
}

// Where the unit is known, a person may be of any size that people are, from the skeleton's up or down; where it was chosen to
// make the two alike, only their likeness speaks for it.
static void judge_size(judging *j)
{
    const poise_places_report *places = j->problem->places;
    double metres = j->problem->track->markers->scale.metres;
    if (!places || !(places->size > 0)) {
        return;
    }
    double value = max2(places->size, 1.0 / places->size), person = places->stature * places->size * metres;
    if (!j->problem->unit_by_size && metres > 0 && places->stature > 0) {
        value = min2(value, max2(max2(SHORT / person, person / TALL), 1.0));
    }
    pz_weigh(&j->found, POISE_FINDING_SIZE, NULL, value, false);
}

static void judge_places(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    double square = 0.0, z, parts[3];
    int count = 0;
    for (int i = 0; j->problem->priors && i < track->placement_count; ++i) {
        if (track->placements[i].label && offset_of(j, i, &z, parts)) {
            square += z * z;
            count += 1;
            pz_weigh(&j->found, POISE_FINDING_MOVED, track->placements[i].label, z, false);
            compare_sides(j, i, parts);
        }
    }
    if (count > 0) {
        pz_weigh(&j->found, POISE_FINDING_PLACES, NULL, sqrt(square / count), false);
    }
    judge_size(j);
}

// ---- The verdict: bones, joints, markers ---------------------------------------------------------------------------------

static void judge_bones(judging *j)
{
    const poise_model *before = j->problem->before;
    double common = j->problem->calibration ? j->problem->calibration->scale : 1.0;
    int joints = poise_model_info(j->model).joints;
    if (!before || poise_model_info(before).joints != joints) {
        return;
    }
    for (int k = 0; k < joints; ++k) {
        double was = v3_norm(poise_model_joint_info(before, k).given->offset.position);
        double is = v3_norm(poise_model_joint_info(j->model, k).given->offset.position);
        if (was > 0 && is > 0 && poise_model_joint_info(j->model, k).parent != POISE_WORLD) {
            double ratio = is / was / common;
            pz_weigh(&j->found, POISE_FINDING_STRETCHED, poise_model_joint_info(j->model, k).body, max2(ratio, 1.0 / ratio),
                     false);
        }
    }
}

// Does a marker sit on this body, or on one that hangs from it?
static bool carries_marker(const judging *j, int body)
{
    const poise_track_problem *track = j->problem->track;
    int end = body + poise_model_joint_info(j->model, body).subtree;
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_placement *p = &track->placements[i];
        if (p->weight > 0 && p->body >= body && p->body < end && j->summary.markers[i].seen > 0) {
            return true;
        }
    }
    return false;
}

// Joints beyond which there is no marker stay at rest and are no fault; those above markers are to be told by them.
static void judge_joints(judging *j)
{
    double open = 0.0;
    int dofs = 0;
    for (int k = 0; k < poise_model_info(j->model).joints; ++k) {
        poise_joint_info joint = poise_model_joint_info(j->model, k);
        bool is_above = carries_marker(j, k), is_seen = true;
        for (int i = 0; i < joint.nv; ++i) {
            double told = j->told[joint.v + i];
            bool is_held = pz_anatomy_holds(&j->anatomy, j->model, k, i);
            is_seen = is_seen && (told >= TOLD || is_held);
            open += is_above && !is_held ? 1.0 - told : 0.0;
            dofs += is_above && !is_held;
        }
        if (!is_seen) {
            pz_weigh(&j->found, POISE_FINDING_JOINT, joint.name, 1.0, true);
        }
    }
    if (dofs > 0) {
        pz_weigh(&j->found, POISE_FINDING_UNSEEN, NULL, open / dofs, false);
    }
}

// How much of the body is without a marker: of the parts of a person, else of the degrees of freedom.
static void judge_parts(judging *j)
{
    const pz_anatomy *a = &j->anatomy;
    int bare = 0, all = 0;
    for (int p = 0; p < PZ_PART_COUNT && a->stature > 0; ++p) {
        bool is_twice = p == PZ_CLAVICLE || p == PZ_WRIST; // thorax and forearm again
        for (int s = 0; s < 3; ++s) {
            int body = pz_part_has_sides((pz_part)p) == (s != PZ_MIDDLE) && !is_twice ? a->part[p][s].body : POISE_NONE;
            all += body >= 0;
            bare += body >= 0 && !carries_marker(j, body);
        }
    }
    for (int k = 0; k < poise_model_info(j->model).joints && !(a->stature > 0); ++k) {
        all += poise_model_joint_info(j->model, k).nv;
        bare += carries_marker(j, k) ? 0 : poise_model_joint_info(j->model, k).nv;
    }
    if (all > 0) {
        pz_weigh(&j->found, POISE_FINDING_BARE, NULL, (double)bare / all, false);
    }
}

// Markers against places that were given, as OpenSim's are: practice is less than 20 mm in all and 40 mm of one marker for
// an adult (OpenSim documentation, "Simulation with OpenSim - Best Practices"). What a marker of little weight misses by
// tells nothing: it was not to be followed.
static void judge_given(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    double weights = 0.0;
    for (int i = 0; i < track->placement_count; ++i) {
        weights += track->placements[i].weight;
    }
    pz_weigh(&j->found, POISE_FINDING_GIVEN, NULL, j->summary.weighted / j->stature, false);
    for (int i = 0; i < track->placement_count; ++i) {
        if (track->placements[i].weight * track->placement_count >= 0.5 * weights) {
            pz_weigh(&j->found, POISE_FINDING_FAR, track->placements[i].label, j->summary.markers[i].mean / j->stature,
                     false);
        }
    }
}

// Is this the upper end of a limb's bone? Spines are cut into joints in many ways.
static bool is_limb(const judging *j, int body)
{
    static const pz_part limbs[] = {PZ_UPPER_ARM, PZ_FOREARM, PZ_HAND, PZ_THIGH, PZ_SHANK, PZ_FOOT};
    bool is_one = false;
    for (size_t i = 0; i < sizeof limbs / sizeof limbs[0] && j->anatomy.stature > 0; ++i) {
        is_one =
            is_one || j->anatomy.part[limbs[i]][PZ_LEFT].body == body || j->anatomy.part[limbs[i]][PZ_RIGHT].body == body;
    }
    return is_one;
}

// Joints of another skeleton, which one of other proportions misses by a few per cent of the stature throughout; one that is
// off while others are not follows the wrong one.
static void judge_followed(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    for (int i = 0; i < track->placement_count; ++i) {
        double mean = j->summary.markers[i].mean;
        int nearer = 0;
        for (int k = 0; k < track->placement_count; ++k) {
            nearer += OTHERS * j->summary.markers[k].mean < mean;
        }
        if (2 * nearer > track->placement_count && is_limb(j, track->placements[i].body)) {
            const char *name = poise_model_joint_info(j->model, track->placements[i].body).body;
            pz_weigh(&j->found, POISE_FINDING_MISPLACED, name, mean / j->stature, false);
        }
    }
}

static void judge_frames(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    if (j->problem->calibration) {
        pz_weigh(&j->found, POISE_FINDING_MISS, NULL, j->summary.weighted / j->stature, false);
    } else if (!j->problem->from_motion) {
        judge_given(j);
    } else {
        judge_followed(j);
    }
    int there = track->markers->frames - j->summary.before - j->summary.after;
    if (there > 0) {
        pz_weigh(&j->found, POISE_FINDING_HELD, NULL, (double)j->summary.held / there, false);
    }
    for (int i = 0; i < track->placement_count; ++i) {
        const poise_marker_error *m = &j->summary.markers[i];
        if (m->seen > 0) {
            pz_weigh(&j->found, POISE_FINDING_LET_GO, track->placements[i].label, (double)m->let_go / m->seen, false);
        }
    }
}

// Share of the frames in which a later marker of the same name is somewhere else.
static double ambiguity_of(const judging *j, int marker)
{
    const poise_markers *m = j->problem->track->markers;
    int apart = 0;
    for (int f = 0; f < m->frames; ++f) {
        const poise_vec3 *row = m->position + (size_t)f * (size_t)m->count;
        bool is_apart = false;
        for (int k = marker + 1; k < m->count && poise_markers_seen(m, f, marker); ++k) {
            is_apart = is_apart || (poise_markers_seen(m, f, k) && strcmp(m->label[k], m->label[marker]) == 0 &&
                                    v3_norm(v3_sub(row[k], row[marker])) > APART * j->stature);
        }
        apart += is_apart;
    }
    return m->frames > 0 ? (double)apart / m->frames : 0.0;
}

// Markers without a place. Those with common names are of parts that the skeleton lacks.
static void judge_markers(judging *j)
{
    const poise_track_problem *track = j->problem->track;
    const poise_markers *markers = track->markers;
    pz_marker_table table = {.markers = markers};
    int placed = 0, foreign = 0;
    for (int k = 0; k < markers->count; ++k) {
        bool is_placed = false;
        for (int i = 0; i < track->placement_count && !is_placed; ++i) {
            is_placed = track->placements[i].label && poise_markers_find(markers, track->placements[i].label) == k;
        }
        if (is_placed) {
            pz_weigh(&j->found, POISE_FINDING_AMBIGUOUS, markers->label[k], ambiguity_of(j, k), false);
        } else {
            pz_weigh(&j->found, POISE_FINDING_LEFT_OUT, markers->label[k], 1.0, true);
        }
        pz_marker_row row;
        const char *label = markers->label[k];
        placed += is_placed;
        foreign += !is_placed && poise_markers_find(markers, label) == k && !pz_label_is_computed(markers, label) &&
                   pz_marker_table_find(&table, label, &row);
    }
    if (j->problem->places && placed + foreign > 0) {
        pz_weigh(&j->found, POISE_FINDING_FOREIGN, NULL, (double)foreign / (placed + foreign), false);
    }
}

// ---- The verdict: the call -----------------------------------------------------------------------------------------------

// Fill what is judged: distances, what markers tell.
static poise_status prepare(judging *j, const poise_allocator *allocator, poise_error *error)
{
    const poise_verdict_problem *p = j->problem;
    poise_status status = pz_skeleton_size(j->model, allocator, &j->stature);
    status = status == POISE_OK ? pz_anatomy_of(j->model, allocator, &j->anatomy) : status;
    if (status != POISE_OK) {
        return pz_error_set(error, status, "out of memory");
    }
    poise_track_frame *none = NULL;
    if (!p->frames) {
        none = pz_allocate(allocator, ((size_t)p->clip->frames + 1) * sizeof *none);
        for (int f = 0; none && f < p->clip->frames; ++f) {
            none[f] = (poise_track_frame){.flags = 0};
        }
    }
    status = p->frames || none
                 ? poise_track_measure(p->track, p->clip, p->frames ? p->frames : none, allocator, &j->summary, error)
                 : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    pz_release(allocator, none);
    if (status == POISE_OK) {
        status = pz_track_information(p->track, p->clip, p->frames, j->every, allocator, j->told, error);
    }
    return status;
}

// Limbs that go elsewhere for a while: their markers are ignored, not there, out of reach, or confused.
static poise_status judge_limbs(judging *j, const poise_allocator *allocator, poise_error *error)
{
    const poise_verdict_problem *p = j->problem;
    const double *distances = j->summary.distances;
    poise_status status = pz_weigh_lost(p, distances, j->stature, allocator, &j->found, error);
    status = status == POISE_OK ? pz_weigh_hidden(p, &j->summary, allocator, &j->found, error) : status;
    if (p->from_motion || status != POISE_OK) {
        return status;
    }
    double spread[POISE_ANGLE_COUNT];
    status = pz_weigh_unsure(p, &j->summary, j->left, spread, allocator, &j->found, error);
    status = status == POISE_OK ? pz_weigh_at_limit(p, &j->summary, spread, allocator, &j->found, error) : status;
    if (status != POISE_OK) {
        return status;
    }
    status = pz_weigh_blocked(p, distances, j->stature, allocator, &j->found, error);
    status = status == POISE_OK ? pz_weigh_snapped(p, allocator, &j->found, error) : status;
    return status == POISE_OK ? pz_weigh_traded(p, distances, j->stature, allocator, &j->found, error) : status;
}

// Constraints of the track, which it may not have been able to keep.
static poise_status judge_kept(judging *j, const poise_allocator *allocator, poise_error *error)
{
    const poise_track_problem *track = j->problem->track;
    poise_kept_problem problem = {.model = j->model,
                                  .clip = j->problem->clip,
                                  .constraints = track->constraints,
                                  .constraint_count = track->constraint_count,
                                  .closure_tolerance = track->solver.constraints.closure_tolerance};
    poise_kept kept;
    poise_status status =
        track->constraint_count > 0 ? poise_kept_measure(&problem, allocator, &kept, NULL, error) : POISE_OK;
    if (status == POISE_OK && track->constraint_count > 0) {
        poise_kept_judge(&problem, &kept, j->found.thresholds, &j->found.verdict, j->found.list, j->found.capacity);
    }
    return status;
}

// The recording itself, and how the person in it moves.
static poise_status judge_recording(judging *j, const poise_allocator *allocator, poise_error *error)
{
    const poise_verdict_problem *p = j->problem;
    const double *distances = j->summary.distances;
    if (p->from_motion) {
        return POISE_OK;
    }
    poise_status status = pz_weigh_footage(p, distances, j->stature, allocator, &j->found, error);
    status =
        status == POISE_OK ? pz_weigh_rigid(p, distances, &j->anatomy, j->stature, allocator, &j->found, error) : status;
    return status == POISE_OK ? pz_weigh_carriage(p, &j->anatomy, allocator, &j->found, error) : status;
}

poise_status poise_verdict_find(const poise_verdict_problem *problem, const poise_allocator *allocator,
                                poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error)
{
    if (!problem || !problem->track || !problem->track->model || !problem->track->markers || !problem->clip || !verdict ||
        capacity < 0 || (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "track, its model and markers, clip and verdict must not be NULL");
    }
    size_t nv = (size_t)poise_model_info(problem->track->model).nv;
    judging j = {.problem = problem,
                 .model = problem->track->model,
                 .every = problem->clip->frames / LOOKS + 1,
                 .found = {.thresholds = &problem->thresholds, .list = findings, .capacity = capacity}};
    j.told = pz_allocate(allocator, (nv + 1) * sizeof *j.told);
    void *by_marker = pz_allocate(allocator, ((size_t)problem->track->placement_count + 1) * sizeof *j.summary.markers);
    j.summary.markers = by_marker;
    size_t distances = (size_t)problem->clip->frames * (size_t)problem->track->placement_count;
    j.summary.distances = pz_allocate(allocator, (distances + 1) * sizeof *j.summary.distances);
    size_t joints = (size_t)poise_model_info(j.model).joints;
    void *left = pz_allocate(allocator, (joints + 1) * sizeof *j.left);
    j.left = left;
    for (size_t k = 0; left && k < joints; ++k) {
        j.left[k] = NULL;
    }
    poise_status status = j.told && left && by_marker && j.summary.distances
                              ? prepare(&j, allocator, error)
                              : pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    if (status == POISE_OK && problem->priors && problem->calibration) {
        status = pz_weigh_swaps(problem, allocator, &j.found, error);
    }
    if (status == POISE_OK && problem->places) {
        status =
            pz_weigh_astray(problem, j.stature, j.anatomy.part[PZ_HEAD][PZ_MIDDLE].body, j.left, allocator, &j.found, error);
    }
    if (status == POISE_OK && problem->from_motion) {
        status = pz_weigh_limbs(problem, &j.anatomy, j.every, allocator, &j.found, error);
    }
    double *by_frame = j.summary.distances;
    if (status == POISE_OK) {
        status = judge_limbs(&j, allocator, error);
    }
    if (status == POISE_OK) {
        status = judge_recording(&j, allocator, error);
    }
    status = status == POISE_OK ? judge_kept(&j, allocator, error) : status;
    if (status == POISE_OK) {
        judge_places(&j);
        judge_frames(&j);
        judge_bones(&j);
        judge_joints(&j);
        judge_parts(&j);
        judge_markers(&j);
        for (int i = 0; i < problem->absent_count; ++i) {
            pz_weigh(&j.found, POISE_FINDING_ABSENT, problem->absent[i], 1.0, false);
        }
        *verdict = j.found.verdict;
    }
    pz_release(allocator, left);
    pz_release(allocator, by_frame);
    pz_release(allocator, by_marker);
    pz_release(allocator, j.told);
    return status;
}

// ---- A skeleton that was scaled by measurements --------------------------------------------------------------------------

// How far from 1, upwards or downwards; beyond all thresholds for what is no factor.
static double departure(double factor)
{
    return factor > 0.0 ? max2(factor, 1.0 / factor) : 1e9;
}

static bool is_scaled(poise_vec3 f)
{
    return f.x == f.x && f.y == f.y && f.z == f.z;
}

// The middle one of all factors, found by counting those that are not larger; 1 without any.
static double middle_factor(const poise_scaling_problem *p, int bodies)
{
    double middle = 1.0;
    int fewest = -1;
    for (int i = 0; i < 3 * bodies; ++i) {
        double f = v3_get(p->factors[i / 3], i % 3);
        int below = 0, all = 0;
        for (int k = 0; k < 3 * bodies; ++k) {
            double other = v3_get(p->factors[k / 3], k % 3);
            all += is_scaled(p->factors[k / 3]);
            below += other <= f;
        }
        if (is_scaled(p->factors[i / 3]) && 2 * below >= all && (fewest < 0 || below < fewest)) {
            fewest = below;
            middle = f;
        }
    }
    return middle;
}

static void judge_body(pz_findings *found, const poise_scaling_problem *p, int body, double middle)
{
    const char *name = poise_model_joint_info(p->model, body).body;
    int other = pz_mirror_body(p->model, body);
    bool has_twin = other > body && is_scaled(p->factors[other]); // each pair once
    double stretched = 1.0, sides = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        double factor = v3_get(p->factors[body], axis);
        stretched = max2(stretched, departure(factor / middle));
        sides = has_twin ? max2(sides, departure(factor / v3_get(p->factors[other], axis))) : sides;
    }
    pz_weigh(found, POISE_FINDING_STRETCHED, name, stretched, false);
    if (has_twin) {
        pz_weigh_two(found, POISE_FINDING_SIDES, name, poise_model_joint_info(p->model, other).body, sides);
    }
}

poise_thresholds poise_scaling_thresholds(void)
{
    poise_thresholds t = poise_thresholds_default();
    t.doubtful[POISE_FINDING_SIZE] = 1.6;
    t.failed[POISE_FINDING_SIZE] = 2.5;
    t.doubtful[POISE_FINDING_STRETCHED] = 1.25;
    t.failed[POISE_FINDING_STRETCHED] = 1.6;
    return t;
}

poise_status poise_scaling_judge(const poise_scaling_problem *problem, const poise_allocator *allocator,
                                 poise_verdict *verdict, poise_finding *findings, int capacity, poise_error *error)
{
    if (!problem || !problem->model || !problem->factors || !verdict || capacity < 0 || (capacity > 0 && !findings)) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "model, factors and verdict must not be NULL");
    }
    pz_findings found = {.thresholds = &problem->thresholds, .list = findings, .capacity = capacity};
    int bodies = poise_model_info(problem->model).joints;
    double middle = middle_factor(problem, bodies), stature;
    if (pz_skeleton_size(problem->model, allocator, &stature) != POISE_OK) {
        return pz_error_set(error, POISE_ERROR_MEMORY, "out of memory");
    }
    pz_weigh(&found, POISE_FINDING_SIZE, NULL, departure(middle), false);
    for (int k = 0; k < bodies; ++k) {
        if (is_scaled(problem->factors[k])) {
            judge_body(&found, problem, k, middle > 0.0 ? middle : 1.0);
        }
    }
    pz_weigh(&found, POISE_FINDING_GIVEN, NULL, stature > 0.0 ? problem->miss / stature : 0.0, false);
    for (int i = 0; i < problem->absent_count; ++i) {
        pz_weigh(&found, POISE_FINDING_ABSENT, problem->absent[i], 1.0, false);
    }
    *verdict = found.verdict;
    return POISE_OK;
}

// ---- Overlaps ------------------------------------------------------------------------------------------------------------

void poise_overlap_judge(const poise_overlap_problem *problem, const poise_overlap *overlap,
                         const poise_thresholds *thresholds, poise_verdict *verdict, poise_finding *findings, int capacity)
{
    poise_thresholds usual = poise_thresholds_default();
    double frames = problem->clip->frames > 0 ? problem->clip->frames : 1;
    poise_finding self = {.kind = POISE_FINDING_SELF,
                          .name = overlap->a >= 0 ? poise_model_joint_info(problem->model, overlap->a).body : "the world",
                          .other = overlap->b >= 0 ? poise_model_joint_info(problem->model, overlap->b).body : "the world",
                          .value = overlap->frames / frames,
                          .first = overlap->frame,
                          .last = overlap->frame,
                          .distance = overlap->depth * problem->metres};
    poise_finding pierced = self;
    pierced.kind = POISE_FINDING_PIERCED;
    pierced.value = overlap->pierced / frames;
    poise_verdict_weigh(thresholds ? thresholds : &usual, self, false, verdict, findings, capacity);
    poise_verdict_weigh(thresholds ? thresholds : &usual, pierced, false, verdict, findings, capacity);
}
