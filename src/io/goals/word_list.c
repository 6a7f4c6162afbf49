// Lists that are read from words.
#include "io/goals/word_list.h"

#include "base/arena.h"

#include <string.h>

static const char blank[] = " \t\r\n";

void pz_word_list_open(pz_word_list *list, const poise_allocator *allocator, const char *noun, size_t size)
{
    *list = (pz_word_list){.noun = noun, .size = size};
    if (allocator) {
        list->allocator = *allocator;
        list->pool.allocator = &list->allocator;
    }
}

void pz_word_list_close(pz_word_list *list, void *block)
{
    poise_allocator allocator = list->allocator;
    bool is_given = list->pool.allocator != NULL;
    pz_pool_release(&list->pool);
    pz_release(is_given ? &allocator : NULL, block);
}

poise_status pz_word_list_no_memory(poise_error *error)
{
    return pz_error_set(error, POISE_ERROR_MEMORY, "no memory left");
}

// Room for one more entry: the place it gets, NULL without memory.
static void *next_entry(pz_word_list *list)
{
    size_t count = (size_t)list->count;
    void *entries = pz_pool_grow(&list->pool, list->entries, count, &list->entry_room, list->size);
    list->entries = entries ? entries : list->entries;
    const char **texts = pz_pool_grow(&list->pool, list->texts, count, &list->text_room, sizeof *texts);
    list->texts = texts ? texts : list->texts;
    return entries && texts ? (unsigned char *)entries + count * list->size : NULL;
}

// The entry in that place is complete: keep its text, without the blanks around it.
static bool take(pz_word_list *list, const char *text, size_t size)
{
    for (; size > 0 && strchr(blank, *text); --size) {
        ++text;
    }
    while (size > 0 && strchr(blank, text[size - 1])) {
        --size;
    }
    const char *copy = pz_pool_copy(&list->pool, text, size);
    if (copy) {
        list->texts[list->count] = copy;
        list->count += 1;
    }
    return copy != NULL;
}

poise_status pz_word_list_add(pz_word_list *list, const void *entry, const char *text, poise_error *error)
{
    void *place = next_entry(list);
    if (place) {
        memcpy(place, entry, list->size);
    }
    return place && take(list, text, strlen(text)) ? POISE_OK : pz_word_list_no_memory(error);
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

// Cut one entry, up to a semicolon, into words in place. Quotes keep spaces inside a word. Returns what follows the
// semicolon, NULL at the end; *count is negative when a quote does not end.
static char *cut(char *text, char **word, int *count)
{
    *count = 0;
    for (;;) {
        text = skip_all(text, " \t\r\n,");
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

typedef struct reading {
    pz_word_list_read read;
    void *user;
    char **word;
    poise_error *error;
} reading;

// `text` is a copy of `source` that is cut up.
static poise_status parse_all(pz_word_list *list, const reading *r, char *text, const char *source)
{
    const char *begin = text;
    while (text) {
        char *here = text;
        int count, number = list->count + 1;
        text = cut(text, r->word, &count);
        if (count < 0) {
            return pz_error_set(r->error, POISE_ERROR_FORMAT, "%s %d: a quote is not closed", list->noun, number);
        }
        if (count == 0) {
            continue; // nothing between two semicolons
        }
        void *entry = next_entry(list);
        poise_status status = entry ? r->read(r->user, r->word, count, number, entry) : pz_word_list_no_memory(r->error);
        const char *from = source + (here - begin);
        if (status == POISE_OK && !take(list, from, text ? (size_t)(text - here) - 1 : strlen(from))) {
            status = pz_word_list_no_memory(r->error);
        }
        if (status != POISE_OK) {
            return status;
        }
    }
    return POISE_OK;
}

poise_status pz_word_list_parse(pz_word_list *list, const char *text, pz_word_list_read read, void *user, poise_error *error)
{
    size_t size = strlen(text);
    int before = list->count;
    pz_pool scratch = {.allocator = list->pool.allocator};
    char *copy = pz_pool_copy(&scratch, text, size);
    reading r = {.read = read, .user = user, .error = error};
    r.word = pz_pool_take(&scratch, PZ_WORD_LIST_MOST(size), sizeof *r.word);
    poise_status status = copy && r.word ? parse_all(list, &r, copy, text) : pz_word_list_no_memory(error);
    if (status == POISE_OK && list->count == before) {
        status = pz_error_set(error, POISE_ERROR_FORMAT, "%s %d: is empty", list->noun, before + 1);
    }
    pz_pool_release(&scratch);
    return status;
}
