// Memory: blocks with their sizes at both ends, free ones in lists by powers of two, neighbours joined as they come free.
//
// Poise asks for few and large pieces (a model, a solver, a clip are one each), so that nothing here needs to be clever;
// but what is given back must be whole again, however pieces come and go (D. Knuth, The Art of Computer Programming,
// volume 1, section 2.5, boundary tags).
#include <stdlib.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define UNIT  16u    // alignment, and size of a block's head
#define PAGE  65536u // of wasm's memory
#define LISTS 32

typedef struct block {
    size_t size;   // with the head; a multiple of UNIT
    size_t before; // size of the block in front; 0: none
    bool is_free;
    size_t unused; // makes the head UNIT bytes
} block;

// What a free block holds behind its head.
typedef struct links {
    block *next, *previous;
} links;

extern unsigned char __heap_base; // set by the linker

static struct {
    block *lists[LISTS];
    block *end; // head without a block, at the end of the memory; NULL before the first call
    size_t used;
} heap;

static links *links_of(block *b)
{
    return (links *)(void *)(b + 1);
}

static block *after(block *b)
{
    return (block *)(void *)((unsigned char *)b + b->size);
}

static block *before(block *b)
{
    return (block *)(void *)((unsigned char *)b - b->before);
}

static int list_of(size_t size)
{
    return 31 - __builtin_clz((unsigned)size);
}

static void insert(block *b)
{
    block **list = &heap.lists[list_of(b->size)];
    *links_of(b) = (links){*list, NULL};
    if (*list) {
        links_of(*list)->previous = b;
    }
    *list = b;
    b->is_free = true;
}

static void take_out(block *b)
{
    links *l = links_of(b);
    if (l->previous) {
        links_of(l->previous)->next = l->next;
    } else {
        heap.lists[list_of(b->size)] = l->next;
    }
    if (l->next) {
        links_of(l->next)->previous = l->previous;
    }
    b->is_free = false;
}

// Make the block that begins at `b` and ends at `end` one free block, joined with free neighbours.
static void release(block *b)
{
    block *next = after(b);
    if (next->is_free) {
        take_out(next);
        b->size += next->size;
    }
    if (b->before != 0 && before(b)->is_free) {
        block *joined = before(b);
        take_out(joined);
        joined->size += b->size;
        b = joined;
    }
    after(b)->before = b->size;
    insert(b);
}

static bool start(void)
{
    uintptr_t base = ((uintptr_t)&__heap_base + UNIT - 1) / UNIT * UNIT;
    uintptr_t top = __builtin_wasm_memory_size(0) * PAGE;
    if (top < base + 4 * UNIT) {
        if (__builtin_wasm_memory_grow(0, 1) == SIZE_MAX) {
            return false;
        }
        top += PAGE;
    }
    block *first = (block *)base;
    *first = (block){.size = top - base - UNIT};
    heap.end = after(first);
    *heap.end = (block){.before = first->size};
    insert(first);
    return true;
}

// More memory at the end; a free block there grows by it.
static bool grow(size_t size)
{
    size_t pages = (size + UNIT + PAGE - 1) / PAGE;
    if (__builtin_wasm_memory_grow(0, pages) == SIZE_MAX) {
        return false;
    }
    block *fresh = heap.end;
    fresh->size = pages * PAGE;
    heap.end = after(fresh);
    *heap.end = (block){.before = fresh->size};
    release(fresh);
    return true;
}

static block *find(size_t size)
{
    for (int list = list_of(size); list < LISTS; ++list) {
        for (block *b = heap.lists[list]; b; b = links_of(b)->next) {
            if (b->size >= size) {
                return b;
            }
        }
    }
    return NULL;
}

void *malloc(size_t size)
{
    if (size > SIZE_MAX / 2 || (!heap.end && !start())) {
        return NULL;
    }
    size_t whole = UNIT + (size == 0 ? UNIT : (size + UNIT - 1) / UNIT * UNIT);
    block *b = find(whole);
    if (!b) {
        b = grow(whole) ? find(whole) : NULL;
        if (!b) {
            return NULL;
        }
    }
    take_out(b);
    if (b->size - whole >= 2 * UNIT) {
        block *rest = (block *)(void *)((unsigned char *)b + whole);
        *rest = (block){.size = b->size - whole, .before = whole};
        b->size = whole;
        after(rest)->before = rest->size;
        insert(rest);
    }
    heap.used += b->size;
    return b + 1;
}

void free(void *memory)
{
    if (memory) {
        block *b = (block *)memory - 1;
        heap.used -= b->size;
        release(b);
    }
}

void *calloc(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / 2 / size) {
        return NULL;
    }
    void *memory = malloc(count * size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

size_t web_heap_used(void)
{
    return heap.used;
}
