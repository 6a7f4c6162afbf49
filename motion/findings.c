// What may be found about a track: names, thresholds, sentences, and a list that keeps the worst first.
#include "motion/findings.h"

#include "base/error.h"
#include "num/real.h"

#include <stdint.h>
#include <string.h>

#define NEVER   1e300
#define RADIANS 0.017453292519943295 // a degree

// In sentences @ is the name, & the other one, ~ the value times `times` with so many decimals, < and > the first and last
// frame, ^ the distance times distance_times, mostly in percent.
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
    [POISE_FINDING_UNPLACED] = {"unplaced", 0.02, NEVER,
                                "@ has an unknown name and was left out; it moves with &, and wanders on it by ~ % of the "
                                "stature",
                                100, 1},
    [POISE_FINDING_AT_LIMIT] = {"at_limit", 0.02, NEVER,
                                "@ is at a limit of the skeleton in ~ % of the frames, longest from < to >: its angle there "
                                "is the limit's, and its neighbours take up the rest (--no-limits)",
                                100, 0},
    [POISE_FINDING_UNSURE] = {"unsure", 5 * RADIANS, NEVER,
                              "markers tell @ to ~ degrees only (standard deviation); & would tell more, but has an unknown "
                              "name (--labels)",
                              1 / RADIANS, 0},
    [POISE_FINDING_VAGUE] = {"vague", NEVER, NEVER,
                             "markers tell @ to ~ degrees (standard deviation, with how they may sit on the body)",
                             1 / RADIANS, 0},
    [POISE_FINDING_BLURRED] =
        {"blurred", NEVER, NEVER,
         "markers tell the joint centre @ to ~ % of the stature (standard deviation, with how they may "
         "sit on the body)",
         100, 1},
    [POISE_FINDING_FOREIGN] = {"foreign", 0.75, NEVER,
                               "~ % of the markers with common names are of body parts that the skeleton lacks", 100, 0},
    [POISE_FINDING_LYING] = {"lying", 0, NEVER,
                             "the head is along x, seen from the feet, so x is taken to point up, which is rare: if the "
                             "person lies, say which axis points up (--source-up)",
                             1, 0},
    [POISE_FINDING_TURNED] = {"turned", 0.2, 0.5, "sensors are ~ degrees from the orientations of their bodies (rms)",
                              57.29577951308232, 1},
    [POISE_FINDING_ABSENT] = {"absent", 0, NEVER, "the setup asks for @, which the model or the recording lacks", 1, 0},
    [POISE_FINDING_FROZEN] = {"frozen", 3, NEVER,
                              "@ is where it was, to the last digit, in frames < to >: frames were repeated, or a gap was "
                              "filled with them",
                              1, 0},
    [POISE_FINDING_DOUBLED] = {"doubled", 1.1, NEVER,
                               "each frame comes ~ times, to the last digit, on average: the motion was taken at a lower "
                               "rate than the file's",
                               1, 1},
    // As long as a limb may be hidden: what a marker did in the meantime nobody knows.
    [POISE_FINDING_FILLED] = {"filled", 0.5, NEVER,
                              "@ follows a straight line at an even pace for ~ s, frames < to >: a gap was filled with it",
                              1, 2},
    [POISE_FINDING_CUT] =
        {"cut", 0.004, NEVER,
         "all markers leap by ~ % of the stature from frame < to >: frames are missing, or recordings were "
         "put together",
         100, 1},
    [POISE_FINDING_PUSHED] = {"pushed", 0.0125, NEVER,
                              "markers of @ leap together by ~ % of the stature from frame < to >, and stay there: they "
                              "were pushed aside",
                              100, 1},
    // 190 recordings: 0.013 at most, but for two in which it is so; markers that we moved by 50 mm: 0.019 at least.
    [POISE_FINDING_KNOCKED] = {"knocked", 0.0165, NEVER,
                               "@ leaps by ^ % of the stature from frame < to >, alone, and sits elsewhere from then on: it "
                               "was knocked off, or another point has its name",
                               100, 1},
    [POISE_FINDING_HASTY] = {"hasty", 100, 300,
                             "markers accelerate by ~ m/s2 on average, which people do not: is the rate right?", 1, 0},
    [POISE_FINDING_SLOW] = {"slow", 2.5, NEVER, "a step takes ~ s: is the rate right?", 1, 1},
    [POISE_FINDING_BACKWARDS] = {"backwards", 0.7, NEVER,
                                 "the person walks backwards in ~ % of the frames, or the recording does", 100, 0},
    [POISE_FINDING_MIRRORED] = {"mirrored", 0.5, NEVER,
                                "in ~ % of the frames the markers are the mirror image of a person: an axis is negated, or "
                                "two are exchanged",
                                100, 0},
    // None in 60 recordings, sprints and drop jumps among them, up to 19 % in a cartwheel that we made; ten times the rate: 40 %.
    [POISE_FINDING_FALLING] = {"falling", 0.3, NEVER,
                               "hips fall at more than twice the acceleration of gravity in ~ % of the frames: is the rate "
                               "right?",
                               100, 0},
    // 6 degrees at most in 30 recordings of laboratories, 2.5 in sound ones made by us; rooms tilted by 20 degrees: 8 to 21.
    [POISE_FINDING_TILTED] =
        {"tilted", 10 * RADIANS, NEVER,
         "hips and soles lean the same way by ~ degrees: is the ground level, and up as it is said to be?", 1 / RADIANS, 0},
    [POISE_FINDING_SKEWED] =
        {"skewed", 0.012, NEVER,
         "distances that should stay the same change with their direction: one axis is stretched by ~ % "
         "against another",
         100, 1},
    [POISE_FINDING_SHIFTED] =
        {"shifted", 0.014, NEVER,
         "the distance between @ and & is not the same in all parts of the recording: it changes by ~ % "
         "of the stature",
         100, 1},
    [POISE_FINDING_MISPLACED] = {"misplaced", 0.03, NEVER,
                                 "@ is ~ % of the stature from the joint that it follows, on average, and most others are "
                                 "not: do the two belong together (--pair)?",
                                 100, 1},
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
    [POISE_FINDING_BURIED] = {"buried", 0.03, 0.25, "@ is ~ % of the leg length below the ground", 100, 1},
    [POISE_FINDING_FIXED] = {"fixed", 0, NEVER, "@ is not followed: its joints in & are fixed", 1, 0},
    [POISE_FINDING_UNPLANTED] =
        {"unplanted", 0.3, NEVER,
         "no foot rests long enough to be planted, though one is near the ground in ~ % of the frames: a walk on the "
         "spot, perhaps",
         100, 0},
    [POISE_FINDING_ASIDE] = {"aside", 0.1, NEVER,
                             "@ points more than 45 degrees away from what it follows in ~ % of the frames", 100, 0},
    [POISE_FINDING_LEAPT] = {"leapt", 0.12217304763960307, 0.5235987755982988, // 7 degrees, CppFlow's bound; 30
                             "@ leaps by ~ degrees from pose < to >, which following the tool does not take",
                             57.29577951308232, 1},
    [POISE_FINDING_SLID] = {"slid", 0.02, 0.1, "@ leaps by ~ m from pose < to >, which following the tool does not take", 1,
                            2},
    // Retargets of 21 clips onto G1, T1 and H1 judged by MuJoCo: those that pass for sound have an overlap of 5 mm in no frame,
    // or in single ones; the others in 5 to 90 % of the frames.
    [POISE_FINDING_SELF] = {"self", 0.02, NEVER,
                            "@ and & overlap most, by ^ mm in frame <; ~ % of the frames have an overlap of more than 5 mm",
                            100, 1},
    [POISE_FINDING_PIERCED] =
        {"pierced", 0.02, 0.1,
         "@ and & overlap most, by ^ mm in frame <; ~ % of the frames have an overlap of more than 20 mm", 100, 1},
    [POISE_FINDING_FLOOR] =
        {"floor", 0.02, NEVER,
         "~ % of the frames have a body more than 5 mm below the ground, most of all @ by ^ mm in frame <", 100, 1},
    [POISE_FINDING_UNCHECKED] =
        {"unchecked", 0, NEVER,
         "~ collision shapes of @ could not be read: overlaps, and what is below the ground, are not "
         "checked",
         1, 0},
    [POISE_FINDING_FAST] = {"fast", 1, NEVER,
                            "@ moves at up to ^ rad/s (frame <), ~ times its limit, which is 20 where the file has none", 1,
                            1},
    [POISE_FINDING_ABRUPT] =
        {"abrupt", 0.02, NEVER,
         "joints accelerate by more than 1000 rad/s/s in ~ % of the frames, most of all @ by ^ in frame <", 100, 1},
    // Of the time that the actor's feet rest: 18 walks of CMU on T1, H1 and Kuavo at most 3.3 % but for four of the 54 (5 to 26);
    // steps 45 to 48 %.
    [POISE_FINDING_LOOSE] =
        {"loose", 0.05, NEVER,
         "@ slides most: in ~ % of the time that the actor's feet rest those that follow slide, not planted, as on steps or "
         "in the air",
         100, 1},
    // 18 walks of CMU on T1 and Kuavo: at most 0.8 but for two on Kuavo, half of them 0.4; on H1, whose stiff waist and ankles do
    // let the hips jump by 3 cm and more in a frame, 0.4 to 2.4. Nobody runs at more than 12.4 m/s.
    [POISE_FINDING_LURCHED] = {"lurched", 1, NEVER,
                               "the hips move at ^ m/s in frame <, ~ m/s faster than the actor's, or than people do", 1, 1},
    // A handstand or a cartwheel is followed upside down.
    [POISE_FINDING_OVERTURNED] =
        {"overturned", 0.5, NEVER,
         "the actor is upside down, and was turned upright, in ~ % of the frames: which axis of the "
         "motion points up (--source-up)?",
         100, 0},
    // 34 recordings of CMU, Mixamo and others on five robots that pass for sound otherwise: in half of them no foot scrapes over
    // the ground, in a third for 2 to 13 % of the frames, at up to 4 m/s.
    [POISE_FINDING_SCUFFED] = {"scuffed", 0.02, NEVER,
                               "a foot scrapes over the ground in ~ % of the frames, most of all @ at ^ mm/s in frame <",
                               100, 1},
    [POISE_FINDING_HOVERING] = {"hovering", 0.02, NEVER,
                                "nothing is near the ground in ~ % of the frames, longest in frames < to >: longer than in "
                                "a jump",
                                100, 1},
    [POISE_FINDING_UNCLOSED] = {"unclosed", 0.002, NEVER,
                                "a loop that the file closes is open by ~ mm, or thousandths of a radian, in frame <: links "
                                "come apart",
                                1000, 1},
    // People who walk or box (CMU 05_02, 07_05, 11_01, and others): the lowest sole is within 5 % of its usual height in 99 % of
    // the frames; those who jump or dance on their toes are beyond.
    [POISE_FINDING_AFLOAT] = {"afloat", 0.05, NEVER,
                              "the lowest sole is ~ % of the leg length above the ground that the figure stands on at rest",
                              100, 1},
    // Hands and feet of 16 recordings and of our own motions moved by 2 to 10 cm where they rest or move slowly: clavicles turn
    // by up to 0.30, limbs twist by 0.37, chests turn by 0.05, elbows and knees leave their bend by 0.26. The bad ones: clavicles
    // twisted by 46 to 77 degrees, a chest turned by 36, elbows bent backwards.
    [POISE_FINDING_UNMET] = {"unmet", 0, NEVER, "the pin of @ is out of reach in ~ % of its frames, most in frame <", 100,
                             1},
    [POISE_FINDING_JOLTED] = {"jolted", 0, NEVER, "@ snaps or jolts in frame <, more than before", 1, 0},
    [POISE_FINDING_COLLAR] = {"collar", 0.5, NEVER, "@ is turned by ~ degrees against the chest, frames < to >",
                              57.29577951308232, 0},
    [POISE_FINDING_TWISTED] = {"twisted", 1.0, NEVER, "@ is twisted by ~ degrees about its length, frames < to >",
                               57.29577951308232, 0},
    [POISE_FINDING_DRAGGED] = {"dragged", 0.35, NEVER,
                               "@ is turned by ~ degrees, though no pin holds the trunk, frames < to >", 57.29577951308232,
                               0},
    [POISE_FINDING_BENT] = {"bent", 0.3, NEVER,
                            "@ bends ~ degrees backwards or sideways, as it did not before, frames < to >",
                            57.29577951308232, 0},
    [POISE_FINDING_CLEARANCE] = {"clearance", 0, NEVER,
                                 "@ and & are nearer than they may be in ~ % of the frames, most in frame <", 100, 1},
    [POISE_FINDING_BALANCE] = {"balance", 0, NEVER,
                               "the centre of mass leaves its polygon in ~ % of the frames, most in frame <", 100, 1},
    [POISE_FINDING_LOOPS] = {"loops", 0, NEVER, "the loop of @ and & is open in ~ % of the frames, most in frame <", 100, 1},
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

// The sentence. What is not checked has two: shapes that were not read, and bodies (named by `other`) that have none. So has an
// upward axis that is not said: x by the figure, and any (the name) that the figure does not tell.
static const char *text_of(const poise_finding *finding)
{
    bool is_bare = finding->kind == POISE_FINDING_UNCHECKED && finding->other;
    bool is_untold = finding->kind == POISE_FINDING_LYING && finding->name;
    return is_bare     ? "~ bodies of the skeleton, such as @, &: overlaps of them are not checked"
           : is_untold ? "nothing says which axis points up, nor does how the person stands: @ is taken (--source-up)"
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
