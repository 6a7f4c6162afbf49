// The table of marker places.
//
//   set TITLE [if LABEL...] [on BODY...]     the rows below hold where the recording has all these labels and the skeleton
//                                            all these bodies
//   NAME... PART FROM ALONG FORWARD OUTWARD DEVIATION DEVIATION
//   stiff NAME NAME
//
// The first row that names a label counts. Names have no side; a label's is found in it: RKNE, R.Knee, Knee_R, KneeRight.
// What all labels begin with, such as a subject without a colon, may be omitted: "S1_LASI". A name that ends in # stands for
// any number there.
#include "motion/marker_table.h"

#include "base/error.h"
#include "base/text.h"
#include "motion/plain_name.h"
#include "num/real.h"

#define CLUSTER 45.0 // thousandths of the stature: places that deviate by more are those of clusters

enum { MOST_WORDS = 40, NUMBERS = 6, LINE_LONGEST = 512, READINGS = 8, FEW_LABELS = 8 };

typedef struct word {
    const char *text;
    size_t length;
} word;

typedef struct line {
    word words[MOST_WORDS];
    int count;
} line;

// A label without its side.
typedef struct reading {
    pz_plain_name name;
    pz_side side;
} reading;

// ---- Lines ---------------------------------------------------------------------------------------------------------------

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// The words of the line at *text, which moves on to the next one; a comment has none. count is -1 for too many.
static line next_line(const char **text)
{
    line l; // its words are set as they come
    l.count = 0;
    const char *c = *text;
    while (*c && *c != '\n' && *c != '#') {
        const char *begin = c;
        while (*c && *c != '\n' && !is_blank(*c)) {
            ++c;
        }
        if (c > begin && l.count >= 0) {
            l.words[l.count] = (word){begin, (size_t)(c - begin)};
            l.count = l.count + 1 < MOST_WORDS ? l.count + 1 : -1;
        }
        c += is_blank(*c);
    }
    while (*c && *c != '\n') {
        ++c;
    }
    *text = *c ? c + 1 : c;
    return l;
}

static bool word_is(word w, const char *text)
{
    return w.length == strlen(text) && memcmp(w.text, text, w.length) == 0;
}

static bool read_number(word w, double *value)
{
    char copy[32], *end;
    if (w.length == 0 || w.length >= sizeof copy) {
        return false;
    }
    memcpy(copy, w.text, w.length);
    copy[w.length] = '\0';
    double sign = copy[0] == '-' ? -1.0 : 1.0, number = 0.0, digit = 1.0;
    for (end = copy + (copy[0] == '-'); is_digit(*end); ++end) {
        number = 10.0 * number + (*end - '0');
    }
    if (*end == '.') {
        for (++end; is_digit(*end); ++end) {
            digit *= 10.0;
            number = 10.0 * number + (*end - '0');
        }
    }
    *value = sign * number / digit;
    return *end == '\0';
}

// The numbers and the part at the end of a row; false when it is none.
static bool read_row(const line *l, pz_marker_row *row)
{
    double n[NUMBERS];
    int names = l->count - NUMBERS - 1;
    bool works = names >= 1 && pz_part_by_name(l->words[names].text, l->words[names].length, &row->part);
    for (int i = 0; i < NUMBERS && works; ++i) {
        works = read_number(l->words[names + 1 + i], &n[i]);
    }
    if (!works || !(n[4] > 0) || !(n[5] > 0)) {
        return false;
    }
    row->from = n[0];
    for (int i = 0; i < 3; ++i) {
        row->offset[i] = n[1 + i];
    }
    row->along = n[4];
    row->across = n[5];
    return true;
}

poise_status pz_marker_table_check(const char *text, poise_error *error)
{
    for (int number = 1; text && *text; ++number) {
        line l = next_line(&text);
        pz_marker_row row;
        bool is_set = l.count > 0 && word_is(l.words[0], "set"), is_stiff = l.count > 0 && word_is(l.words[0], "stiff");
        if (l.count == 0 || is_set || (is_stiff && l.count == 3) || (!is_stiff && read_row(&l, &row))) {
            continue;
        }
        return pz_error_set(error, POISE_ERROR_FORMAT,
                            "line %d of the marker table: expected \"NAME... PART FROM ALONG FORWARD OUTWARD DEVIATION "
                            "DEVIATION\", \"set ...\" or \"stiff NAME NAME\"; see poise help markers",
                            number);
    }
    return POISE_OK;
}

// ---- Labels --------------------------------------------------------------------------------------------------------------

// Does a new word begin at c, which is not the first character of its text?
static bool is_boundary(const char *c)
{
    bool now = is_upper(*c) || is_lower(*c), before = is_upper(c[-1]) || is_lower(c[-1]);
    bool is_side = (*c == 'l' || *c == 'r') && c[1] == '\0' && is_upper(c[-1]); // "ASISr"
    return (is_upper(*c) && is_lower(c[-1])) || now != before || is_side;
}

static pz_side side_of_word(const char *text, size_t length)
{
    pz_plain_name n = {.length = 0};
    for (size_t i = 0; i < length && n.length < 8; ++i) {
        n.text[n.length++] = is_upper(text[i]) ? (char)(text[i] - 'A' + 'a') : text[i];
    }
    bool has_cross = n.length == 2 && n.text[1] == 'x'; // "LxKnee", and in Italian "sx", "dx"
    bool left = (n.length == 1 && n.text[0] == 'l') || (n.length == 4 && memcmp(n.text, "left", 4) == 0) ||
                (has_cross && (n.text[0] == 'l' || n.text[0] == 's'));
    bool right = (n.length == 1 && n.text[0] == 'r') || (n.length == 5 && memcmp(n.text, "right", 5) == 0) ||
                 (has_cross && (n.text[0] == 'r' || n.text[0] == 'd'));
    return left ? PZ_LEFT : right ? PZ_RIGHT : PZ_MIDDLE;
}

// Words that say nothing of the place.
static bool is_filler(const char *text, size_t length)
{
    return (length == 5 && memcmp(text, "study", 5) == 0) || (length == 6 && memcmp(text, "marker", 6) == 0);
}

// A label whose side is a word of its own: "R.Knee", "Knee_Left", "KneeR". False when it has none, or two.
static bool read_words(const char *label, reading *r)
{
    const char *colon = strrchr(label, ':'), *c = colon ? colon + 1 : label;
    int sides = 0;
    *r = (reading){.side = PZ_MIDDLE};
    while (*c) {
        const char *begin = c;
        do {
            ++c;
        } while (*c && !is_boundary(c));
        size_t length = (size_t)(c - begin);
        pz_side side = side_of_word(begin, length);
        if (side != PZ_MIDDLE) {
            r->side = side;
            sides += 1;
        } else if (!is_filler(begin, length)) {
            for (size_t i = 0; i < length && r->name.length + 1 < PZ_NAME_LONGEST; ++i) {
                char lower = is_upper(begin[i]) ? (char)(begin[i] - 'A' + 'a') : begin[i];
                if (is_lower(lower) || is_digit(lower)) {
                    r->name.text[r->name.length++] = lower;
                }
            }
        }
    }
    return sides == 1 && r->name.length > 0;
}

// Take a side off the beginning or end of a name.
static bool take_side(const pz_plain_name *name, const char *text, pz_side side, bool at_end, reading *r)
{
    size_t length = strlen(text);
    if (name->length <= length || memcmp(name->text + (at_end ? name->length - length : 0), text, length) != 0) {
        return false;
    }
    r->side = side;
    r->name.length = name->length - length;
    memcpy(r->name.text, name->text + (at_end ? 0 : length), r->name.length);
    return true;
}

// All ways to read a label, the likeliest first; returns how many.
static int read_label(const char *label, reading readings[READINGS])
{
    int count = read_words(label, &readings[0]);
    reading whole;
    read_words(label, &whole); // without fillers
    pz_plain_name plain = whole.side == PZ_MIDDLE ? whole.name : pz_plain_name_of(label);
    readings[count++] = (reading){plain, PZ_MIDDLE};
    count += take_side(&plain, "left", PZ_LEFT, false, &readings[count]);
    count += take_side(&plain, "right", PZ_RIGHT, false, &readings[count]);
    count += take_side(&plain, "left", PZ_LEFT, true, &readings[count]);
    count += take_side(&plain, "right", PZ_RIGHT, true, &readings[count]);
    count += take_side(&plain, "l", PZ_LEFT, false, &readings[count]);
    count += take_side(&plain, "r", PZ_RIGHT, false, &readings[count]);
    return count;
}

// How much all labels have in common at their beginning: a subject, or the side of a recording of one. Points that were not
// labelled do not count; 0 where there are too few to tell.
static size_t common_start(const poise_markers *markers)
{
    const char *first = NULL;
    size_t length = 0;
    int count = 0;
    for (int i = 0; markers && i < markers->count; ++i) {
        const char *label = markers->label[i];
        if (!is_upper(*label) && !is_lower(*label)) {
            continue;
        }
        length = first ? length : strlen(label);
        first = first ? first : label;
        count += 1;
        for (size_t k = 0; k < length; ++k) {
            length = label[k] == first[k] ? length : k;
        }
    }
    return count < FEW_LABELS ? 0 : length;
}

// The ways to read a label of a recording, those without what all its labels begin with last.
static int read_among(const pz_marker_table *t, const char *label, reading readings[2 * READINGS])
{
    int count = read_label(label, readings);
    size_t common = common_start(t->markers);
    return common > 0 && strlen(label) > common ? count + read_label(label + common, readings + count) : count;
}

// Is the name that of a word of the table, without case and punctuation? # stands for digits.
static bool is_named(const pz_plain_name *name, word w)
{
    size_t i = 0;
    for (size_t k = 0; k < w.length; ++k) {
        char lower = is_upper(w.text[k]) ? (char)(w.text[k] - 'A' + 'a') : w.text[k];
        if (lower == '#') {
            size_t digits = 0;
            for (; i < name->length && is_digit(name->text[i]); ++i) {
                digits += 1;
            }
            return digits > 0 && i == name->length;
        }
        if (!is_lower(lower) && !is_digit(lower)) {
            continue;
        }
        if (i == name->length || name->text[i++] != lower) {
            return false;
        }
    }
    return i == name->length;
}

// ---- Looking up ----------------------------------------------------------------------------------------------------------

static bool has_label(const poise_markers *markers, word w)
{
    for (int i = 0; markers && i < markers->count; ++i) {
        pz_plain_name n = pz_plain_name_of(markers->label[i]);
        if (is_named(&n, w)) {
            return true;
        }
    }
    return false;
}

// Do the rows below this line "set" hold?
static bool set_holds(const pz_marker_table *t, const line *l)
{
    char mode = 0;
    for (int i = 1; i < l->count; ++i) {
        word w = l->words[i];
        if (word_is(w, "if") || word_is(w, "on")) {
            mode = w.text[0];
        } else if ((mode == 'i' && !has_label(t->markers, w)) ||
                   (mode == 'o' && !(t->model && pz_model_has_body(t->model, w.text, w.length)))) {
            return false;
        }
    }
    return true;
}

// Parts of the middle have a side where the row lies beside it.
static bool row_has_side(const pz_marker_row *row)
{
    return pz_part_has_sides(row->part) || row->offset[2] != 0.0;
}

// Do the words before the part name the reading?
static bool line_names(const line *l, const reading *r)
{
    for (int i = 0; i < l->count - NUMBERS - 1; ++i) {
        if (is_named(&r->name, l->words[i])) {
            return true;
        }
    }
    return false;
}

// May a marker of this side have this row?
static bool row_serves(const pz_marker_row *row, pz_side side)
{
    // a row at the hips serves the middle and, at its hip, either side; so does a cluster anywhere on the trunk
    bool may_have_either = row->part == PZ_PELVIS || (!pz_part_has_sides(row->part) && row->across >= CLUSTER);
    return row_has_side(row) == (side != PZ_MIDDLE) || (may_have_either && !row_has_side(row));
}

// The first row of the likeliest of the first *count readings; *count becomes the number of that reading.
static void find_in(const pz_marker_table *t, const char *text, const reading *readings, int *count, pz_marker_row *row)
{
    line set = {.count = 0};
    while (text && *text && *count > 0) {
        line l = next_line(&text);
        if (l.count > 0 && word_is(l.words[0], "set")) {
            set = l;
            continue;
        }
        for (int k = 0; k < *count; ++k) {
            pz_marker_row found;
            if (line_names(&l, &readings[k]) && read_row(&l, &found) && row_serves(&found, readings[k].side) &&
                set_holds(t, &set)) {
                *row = found;
                row->side = readings[k].side;
                *count = k;
            }
        }
    }
}

bool pz_marker_table_find(const pz_marker_table *table, const char *label, pz_marker_row *row)
{
    reading readings[2 * READINGS];
    int count = read_among(table, label, readings), best = count;
    find_in(table, table->own, readings, &best, row);
    bool is_own = best < count;
    for (int i = 0; i < PZ_MARKER_SETS && !is_own; ++i) {
        find_in(table, pz_marker_sets[i], readings, &best, row);
    }
    return best < count;
}

// Are the two the names of this line "stiff": of one side, or of both where it has one name twice?
static bool are_stiff(const line *l, const reading *a, const reading *b)
{
    bool is_one =
        l->words[1].length == l->words[2].length && memcmp(l->words[1].text, l->words[2].text, l->words[1].length) == 0;
    return a->side != PZ_MIDDLE && b->side != PZ_MIDDLE && (a->side == b->side) != is_one &&
           is_named(&a->name, l->words[1]) && is_named(&b->name, l->words[2]);
}

static bool stiff_in(const char *text, const reading *a, int na, const reading *b, int nb)
{
    while (text && *text) {
        line l = next_line(&text);
        for (int k = 0; k < na * nb && l.count == 3 && word_is(l.words[0], "stiff"); ++k) {
            if (are_stiff(&l, &a[k / nb], &b[k % nb])) {
                return true;
            }
        }
    }
    return false;
}

bool pz_marker_table_stiff(const pz_marker_table *table, const char *a, const char *b)
{
    reading ra[2 * READINGS], rb[2 * READINGS];
    int na = read_among(table, a, ra), nb = read_among(table, b, rb);
    return stiff_in(table->own, ra, na, rb, nb) || stiff_in(pz_marker_sets[PZ_STIFF_SET], ra, na, rb, nb);
}

bool pz_labels_mirror(const char *a, const char *b)
{
    reading ra[READINGS], rb[READINGS];
    int na = read_label(a, ra), nb = read_label(b, rb);
    for (int i = 0; i < na * nb; ++i) {
        const reading *x = &ra[i / nb], *y = &rb[i % nb];
        if (x->side + y->side == PZ_LEFT + PZ_RIGHT && x->side != y->side && x->side != PZ_MIDDLE && y->side != PZ_MIDDLE &&
            x->name.length == y->name.length && memcmp(x->name.text, y->name.text, x->name.length) == 0) {
            return true;
        }
    }
    return false;
}

// One of four labels LFEO, LFEA, LFEL, LFEP?
static bool is_frame(const poise_markers *markers, const char *label)
{
    static const char ends[] = "OALP";
    char other[PZ_NAME_LONGEST];
    size_t length = strlen(label);
    if (length < 2 || length >= sizeof other || !strchr(ends, label[length - 1])) {
        return false;
    }
    memcpy(other, label, length + 1);
    bool is_whole = true;
    for (int i = 0; i < 4 && is_whole; ++i) {
        other[length - 1] = ends[i];
        is_whole = poise_markers_find(markers, other) >= 0;
    }
    return is_whole;
}

bool pz_label_is_computed(const poise_markers *markers, const char *label)
{
    static const char *const words[] = {"angle", "force", "moment", "power", "centreofmass", "centerofmass"};
    pz_plain_name plain = pz_plain_name_of(label);
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        size_t length = strlen(words[i]);
        for (size_t k = 0; k + length <= plain.length; ++k) {
            if (memcmp(plain.text + k, words[i], length) == 0) {
                return true;
            }
        }
    }
    return is_frame(markers, label);
}
