// Lists of goals, and the words they come from.
#include "io/goals/goal_words.h"

#include "base/arena.h"

#include <string.h>

typedef struct list {
    poise_goal_list open; // what the caller sees
    size_t goal_room, text_room;
    pz_pool pool;
    poise_allocator allocator;
} list;

static poise_status no_memory(poise_error *error)
{
    return pz_error_set(error, POISE_ERROR_MEMORY, "no memory left");
}

poise_status poise_goal_list_create(const poise_allocator *allocator, poise_goal_list **made, poise_error *error)
{
    list *l = made ? pz_allocate(allocator, sizeof *l) : NULL;
    if (!l) {
        return made ? no_memory(error) : pz_error_set(error, POISE_ERROR_ARGUMENT, "list must not be NULL");
    }
    *l = (list){.goal_room = 0};
    if (allocator) {
        l->allocator = *allocator;
        l->pool.allocator = &l->allocator;
    }
    *made = &l->open;
    return POISE_OK;
}

void poise_goal_list_destroy(poise_goal_list *goals)
{
    list *l = (list *)goals;
    if (l) {
        poise_allocator allocator = l->allocator;
        bool is_given = l->pool.allocator != NULL;
        pz_pool_release(&l->pool);
        pz_release(is_given ? &allocator : NULL, l);
    }
}

// Add a goal and a copy of its text, without the blanks around it.
static bool append(list *l, const poise_goal *goal, const char *text, size_t size)
{
    static const char blank[] = " \t\r\n";
    for (; size > 0 && strchr(blank, *text); --size) {
        ++text;
    }
    while (size > 0 && strchr(blank, text[size - 1])) {
        --size;
    }
    size_t count = (size_t)l->open.count;
    poise_goal *goals = pz_pool_grow(&l->pool, l->open.goals, count, &l->goal_room, sizeof *goals);
    l->open.goals = goals ? goals : l->open.goals;
    const char **texts = pz_pool_grow(&l->pool, l->open.texts, count, &l->text_room, sizeof *texts);
    l->open.texts = texts ? texts : l->open.texts;
    const char *copy = pz_pool_copy(&l->pool, text, size);
    if (!goals || !texts || !copy) {
        return false;
    }
    goals[count] = *goal;
    texts[count] = copy;
    l->open.count += 1;
    return true;
}

poise_status poise_goal_list_add(poise_goal_list *goals, const poise_goal *goal, const char *text, poise_error *error)
{
    if (!goals || !goal || !text) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, goal and text must not be NULL");
    }
    return append((list *)goals, goal, text, strlen(text)) ? POISE_OK : no_memory(error);
}

// ---- Reading -------------------------------------------------------------------------------------------------------------

// The first character that is in the set, or the end; the first that is not.
static char *find_any(char *at, const char *set)
{
    while (*at && !strchr(set, *at)) {
        ++at;
    }
    return at;
}

static char *skip_all(char *at, const char *set)
{
    while (*at && strchr(set, *at)) {
        ++at;
    }
    return at;
}

char *pz_goal_cut(char *text, char **word, int *count)
{
    static const char blank[] = " \t\r\n,";
    *count = 0;
    for (;;) {
        text = skip_all(text, blank);
        if (*text == '\0' || *text == ';') {
            bool more = *text == ';';
            *text = '\0';
            return more ? text + 1 : NULL;
        }
        char quote = *text == '"' || *text == '\'' ? *text++ : '\0';
        word[(*count)++] = text;
        text = find_any(text, quote ? (char[]){quote, '\0'} : " \t\r\n,;");
        if (quote && !*text) {
            *count = -1;
            return NULL;
        }
        if (*text == ';') {
            *text = '\0';
            return text + 1;
        }
        if (*text) {
            *text++ = '\0';
        }
    }
}

// `text` is a copy of `source` that is cut up.
static poise_status parse_all(pz_reader *r, list *l, char *text, const char *source)
{
    const char *begin = text;
    while (text) {
        char *here = text;
        r->number = l->open.count + 1;
        text = pz_goal_cut(text, r->word, &r->count);
        r->next = 0;
        if (r->count < 0) {
            return pz_error_set(r->error, POISE_ERROR_FORMAT, "goal %d: a quote does not end", r->number);
        }
        if (r->count == 0) {
            continue; // nothing between two semicolons
        }
        poise_goal goal;
        if (!pz_goal_read(r, &goal)) {
            return r->status;
        }
        const char *from = source + (here - begin);
        if (!append(l, &goal, from, text ? (size_t)(text - here) - 1 : strlen(from))) {
            return no_memory(r->error);
        }
    }
    return POISE_OK;
}

poise_status poise_goal_list_parse(poise_goal_list *goals, const poise_goal_words *words, const char *text,
                                   poise_error *error)
{
    if (!goals || !words || !words->model || !text) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, words, model and text must not be NULL");
    }
    list *l = (list *)goals;
    size_t size = strlen(text);
    int before = goals->count;
    pz_pool scratch = {.allocator = l->pool.allocator};
    pz_reader r = {.words = words, .kept = &l->pool, .error = error};
    char *copy = pz_pool_copy(&scratch, text, size);
    r.word = pz_pool_take(&scratch, size / 2 + 1, sizeof *r.word); // a word has a letter and a blank
    poise_status status = copy && r.word ? parse_all(&r, l, copy, text) : no_memory(error);
    if (status == POISE_OK && goals->count == before) {
        status = pz_error_set(error, POISE_ERROR_FORMAT, "goal %d: there are no words in it", before + 1);
    }
    pz_pool_release(&scratch);
    return status;
}
