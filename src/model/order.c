#include "model/order.h"

#include "base/error.h"

void pz_order_layout(pz_order *order, size_t n, pz_arena *arena)
{
    order->parent = pz_arena_take(arena, n, sizeof(int));
    order->mimic = pz_arena_take(arena, n, sizeof(int));
    order->first_child = pz_arena_take(arena, n, sizeof(int));
    order->next_sibling = pz_arena_take(arena, n, sizeof(int));
    order->entry = pz_arena_take(arena, n, sizeof(int));
    order->joint = pz_arena_take(arena, n, sizeof(int));
}

static const char *text_at(const poise_builder *builder, size_t text)
{
    return builder->text + text;
}

static poise_status resolve_parents(const poise_builder *builder, pz_order *order, poise_error *error)
{
    for (int e = 0; e < builder->joint_count; ++e) {
        const pz_joint_entry *entry = &builder->joints[e];
        order->parent[e] = POISE_WORLD;
        if (entry->parent == PZ_NO_TEXT) {
            continue;
        }
        const char *parent = text_at(builder, entry->parent);
        order->parent[e] = pz_names_find(&builder->body_names, parent, pz_builder_body_name_at, builder);
        if (order->parent[e] < 0) {
            return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": there is no body \"%s\" to be its parent",
                                text_at(builder, entry->name), parent);
        }
    }
    return POISE_OK;
}

// Follow each mimic to a joint with a coordinate of its own. A walk longer than the list is a cycle.
static poise_status resolve_mimics(const poise_builder *builder, pz_order *order, poise_error *error)
{
    for (int e = 0; e < builder->joint_count; ++e) {
        const pz_joint_entry *entry = &builder->joints[e];
        const char *name = text_at(builder, entry->name);
        order->mimic[e] = POISE_WORLD;
        if (entry->mimic == PZ_NO_TEXT) {
            continue;
        }
        const char *leader = text_at(builder, entry->mimic);
        int f = pz_names_find(&builder->joint_names, leader, pz_builder_joint_name_at, builder);
        if (f < 0) {
            return pz_error_set(error, POISE_ERROR_MODEL, "joint \"%s\": there is no joint \"%s\" to mimic", name, leader);
        }
        poise_joint_type type = builder->joints[f].joint.type;
        if (type != POISE_JOINT_REVOLUTE && type != POISE_JOINT_PRISMATIC && type != POISE_JOINT_CURVE) {
            return pz_error_set(error, POISE_ERROR_MODEL,
                                "joint \"%s\": it can mimic a revolute, prismatic or curve joint, not \"%s\"", name, leader);
        }
        if (builder->joints[f].mimic != PZ_NO_TEXT) {
            return pz_error_set(error, POISE_ERROR_MODEL,
                                "joint \"%s\": \"%s\" is itself a mimic joint; name the joint it follows", name, leader);
        }
        order->mimic[e] = f;
    }
    return POISE_OK;
}

// Lists of children, built backwards so that they come out in the order of addition. Returns the first root; roots are
// linked as siblings.
static int link_children(const poise_builder *builder, pz_order *order)
{
    int first_root = -1;
    for (int e = 0; e < builder->joint_count; ++e) {
        order->first_child[e] = -1;
        order->joint[e] = -1;
    }
    for (int e = builder->joint_count - 1; e >= 0; --e) {
        int *head = order->parent[e] == POISE_WORLD ? &first_root : &order->first_child[order->parent[e]];
        order->next_sibling[e] = *head;
        *head = e;
    }
    return first_root;
}

// Depth-first numbering without recursion: down to the first child, else to the next sibling of the nearest one that has
// any.
static int number(pz_order *order, int first_root)
{
    int count = 0;
    int e = first_root;
    while (e >= 0) {
        order->joint[e] = count;
        order->entry[count] = e;
        count += 1;
        if (order->first_child[e] >= 0) {
            e = order->first_child[e];
            continue;
        }
        while (e >= 0 && order->next_sibling[e] < 0) {
            e = order->parent[e];
        }
        e = e >= 0 ? order->next_sibling[e] : -1;
    }
    return count;
}

// Name one cycle: from any joint that no root reaches, n steps towards the root must end on it.
static poise_status report_cycle(const poise_builder *builder, const pz_order *order, poise_error *error)
{
    int e = 0;
    while (order->joint[e] >= 0) {
        e += 1;
    }
    for (int step = 0; step < builder->joint_count; ++step) {
        e = order->parent[e];
    }
    return pz_error_set(error, POISE_ERROR_MODEL,
                        "joint \"%s\": its parents form a cycle through \"%s\"; one of them must be attached to the world",
                        text_at(builder, builder->joints[e].name), text_at(builder, builder->joints[order->parent[e]].body));
}

poise_status pz_order_find(const poise_builder *builder, pz_order *order, poise_error *error)
{
    poise_status status = resolve_parents(builder, order, error);
    if (status == POISE_OK) {
        status = resolve_mimics(builder, order, error);
    }
    if (status != POISE_OK) {
        return status;
    }
    int count = number(order, link_children(builder, order));
    return count == builder->joint_count ? POISE_OK : report_cycle(builder, order, error);
}
