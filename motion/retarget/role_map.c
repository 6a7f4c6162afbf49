// A map of roles as a text.
#include <poise/retarget.h>

#include "base/error.h"
#include "motion/retarget/roles.h"

#include <string.h>

enum { WORD_LONGEST = 256 };

// ---- Writing -------------------------------------------------------------------------------------------------------------

typedef struct writer {
    char *text;
    size_t size, used;
} writer;

static void put(writer *w, const char *part, size_t length)
{
    for (size_t i = 0; i < length; ++i, ++w->used) {
        if (w->used + 1 < w->size) {
            w->text[w->used] = part[i];
        }
    }
}

// A word, in quotes where it has blanks, and blanks up to a column.
static void put_word(writer *w, const char *word, size_t width)
{
    bool quoted = strchr(word, ' ') || strchr(word, '\t') || strchr(word, '#');
    size_t before = w->used;
    put(w, "\"", quoted ? 1 : 0);
    put(w, word, strlen(word));
    put(w, "\"", quoted ? 1 : 0);
    do {
        put(w, " ", 1);
    } while (w->used - before < width);
}

static const char *body_name(const poise_model *model, int body)
{
    return body >= 0 ? poise_model_joint_info(model, body).body : "-";
}

size_t poise_role_map_write(const poise_role_map *map, const poise_model *from, const poise_model *to, char *text,
                            size_t size)
{
    writer w = {.text = text, .size = size};
    size_t widths[2] = {8, 8};
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        size_t a = strlen(body_name(from, map->role[role].from)) + 4, b = strlen(body_name(to, map->role[role].to)) + 4;
        widths[0] = a > widths[0] ? a : widths[0];
        widths[1] = b > widths[1] ? b : widths[1];
    }
    put(&w, "# role            ", 18);
    put_word(&w, "source", widths[0]);
    put_word(&w, "target", widths[1]);
    put(&w, "confidence\n", 11);
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        const poise_role_pair *p = &map->role[role];
        if (p->from >= 0 || p->to >= 0) {
            int tenths = (int)(p->confidence * 10.0 + 0.5);
            char digits[] = {(char)('0' + tenths / 10), '.', (char)('0' + tenths % 10), '\n'};
            put_word(&w, poise_role_name(role), 18);
            put_word(&w, body_name(from, p->from), widths[0]);
            put_word(&w, body_name(to, p->to), widths[1]);
            put(&w, digits, sizeof digits);
        }
    }
    if (size > 0) {
        text[w.used < size ? w.used : size - 1] = '\0';
    }
    return w.used;
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

// The next word of a line, which ends at its end or a #. False: there is none.
static bool next_word(const char **text, char *word)
{
    const char *c = *text;
    size_t length = 0;
    while (*c == ' ' || *c == '\t' || *c == '\r') {
        ++c;
    }
    char end = *c == '"' ? '"' : ' ';
    if (*c == '\0' || *c == '\n' || *c == '#') {
        *text = c;
        return false;
    }
    c += end == '"';
    for (; *c && *c != '\n' && *c != '\r' && *c != end && !(end == ' ' && *c == '\t'); ++c) {
        if (length + 1 < WORD_LONGEST) {
            word[length++] = *c;
        }
    }
    word[length] = '\0';
    *text = c + (end == '"' && *c == '"');
    return true;
}

static poise_status fail_at(poise_error *error, int line, poise_status status)
{
    if (error) {
        error->line = line;
    }
    return status;
}

// One body of a line: "-" is none.
static poise_status read_body(const char **text, const poise_model *model, const char *which, int *body, poise_error *error)
{
    char word[WORD_LONGEST];
    poise_error why;
    *body = POISE_NONE;
    if (!next_word(text, word)) {
        return pz_error_set(error, POISE_ERROR_FORMAT, "a line is ROLE SOURCE TARGET; the %s is missing", which);
    }
    if (strcmp(word, "-") != 0 && (*body = poise_model_find_part(model, word, NULL, &why)) < 0) {
        return pz_error_set(error, POISE_ERROR_FORMAT, "%s: %s", which, why.text);
    }
    return POISE_OK;
}

// Refuse a role that has a line already, and a body that plays another one.
static poise_status check_new(const poise_role_map *map, int role, const poise_role_pair *pair, const poise_model *from,
                              const poise_model *to, poise_error *error)
{
    const poise_role_pair *old = &map->role[role];
    if (old->confidence > 0.0) {
        return pz_error_set(error, POISE_ERROR_FORMAT, "role %s has a line already: %s %s", poise_role_name(role),
                            body_name(from, old->from), body_name(to, old->to));
    }
    for (int other = 0; other < POISE_ROLE_COUNT; ++other) {
        const poise_role_pair *p = &map->role[other];
        bool is_source = pair->from >= 0 && p->from == pair->from;
        if (is_source || (pair->to >= 0 && p->to == pair->to)) {
            return pz_error_set(error, POISE_ERROR_FORMAT, "%s: \"%s\" is both %s and %s; a body has one role",
                                is_source ? "source" : "target",
                                is_source ? body_name(from, pair->from) : body_name(to, pair->to), poise_role_name(other),
                                poise_role_name(role));
        }
    }
    return POISE_OK;
}

poise_status poise_role_map_read(const char *text, const poise_model *from, const poise_model *to, poise_role_map *map,
                                 poise_error *error)
{
    if (!text || !from || !to || !map) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "text, models and map must not be NULL");
    }
    poise_role_map made;
    for (int role = 0; role < POISE_ROLE_COUNT; ++role) {
        made.role[role] = (poise_role_pair){.from = POISE_NONE, .to = POISE_NONE};
    }
    for (int line = 1; *text; ++line) {
        char word[WORD_LONGEST];
        if (next_word(&text, word)) {
            int role = pz_role_called(word);
            if (role < 0) {
                return fail_at(error, line,
                               pz_error_set(error, POISE_ERROR_FORMAT,
                                            "\"%s\" is not a role; roles are pelvis, chest, head, clavicle.left, ...",
                                            word));
            }
            poise_role_pair pair = {.confidence = 1.0};
            poise_status status = read_body(&text, from, "source", &pair.from, error);
            status = status == POISE_OK ? read_body(&text, to, "target", &pair.to, error) : status;
            status = status == POISE_OK ? check_new(&made, role, &pair, from, to, error) : status;
            if (status != POISE_OK) {
                return fail_at(error, line, status);
            }
            made.role[role] = pair;
        }
        while (*text && *text != '\n') {
            ++text;
        }
        text += *text == '\n';
    }
    *map = made;
    return POISE_OK;
}
