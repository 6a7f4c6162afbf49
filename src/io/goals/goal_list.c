// Lists of goals, and the words they come from.
#include "base/arena.h"
#include "io/goals/goal_words.h"
#include "io/goals/word_list.h"

typedef struct list {
    poise_goal_list open; // what the caller sees
    pz_word_list own;
} list;

poise_status poise_goal_list_create(const poise_allocator *allocator, poise_goal_list **made, poise_error *error)
{
    list *l = made ? pz_allocate(allocator, sizeof *l) : NULL;
    if (!l) {
        return made ? pz_word_list_no_memory(error) : pz_error_set(error, POISE_ERROR_ARGUMENT, "list must not be NULL");
    }
    l->open = (poise_goal_list){.count = 0};
    pz_word_list_open(&l->own, allocator, "goal", sizeof(poise_goal));
    *made = &l->open;
    return POISE_OK;
}

void poise_goal_list_destroy(poise_goal_list *goals)
{
    if (goals) {
        pz_word_list_close(&((list *)goals)->own, goals);
    }
}

static poise_status show(list *l, poise_status status)
{
    l->open = (poise_goal_list){.count = l->own.count, .goals = l->own.entries, .texts = l->own.texts};
    return status;
}

poise_status poise_goal_list_add(poise_goal_list *goals, const poise_goal *goal, const char *text, poise_error *error)
{
    if (!goals || !goal || !text) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, goal and text must not be NULL");
    }
    list *l = (list *)goals;
    return show(l, pz_word_list_add(&l->own, goal, text, error));
}

static poise_status read_goal(void *user, char **word, int count, int number, void *goal)
{
    pz_reader *r = user;
    r->word = word;
    r->count = count;
    r->number = number;
    r->next = 0;
    return pz_goal_read(r, goal) ? POISE_OK : r->status;
}

poise_status poise_goal_list_parse(poise_goal_list *goals, const poise_goal_words *words, const char *text,
                                   poise_error *error)
{
    if (!goals || !words || !words->model || !text) {
        return pz_error_set(error, POISE_ERROR_ARGUMENT, "list, words, model and text must not be NULL");
    }
    list *l = (list *)goals;
    pz_reader r = {.words = words, .kept = &l->own.pool, .error = error};
    return show(l, pz_word_list_parse(&l->own, text, read_goal, &r, error));
}
