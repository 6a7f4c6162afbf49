// <contact><pair>: two geoms that collide whatever their contype and conaffinity say.
//
// Each first geom of pairs gets a bit that no geom of the file has, among what it is; its partners get the bit among what
// they are kept apart from. Pairs with a partner that has its bit already share that one.
#include "io/mjcf/mjcf.h"

#include <string.h>

static uint32_t free_bit(uint32_t *used)
{
    for (uint32_t bit = UINT32_C(1) << 31; bit != 0; bit >>= 1) {
        if (!(*used & bit)) {
            *used |= bit;
            return bit;
        }
    }
    return 0;
}

static void add_pair(pz_mjcf *m, const pz_xml_node *node, uint32_t *used, pz_mjcf_pairs *pairs)
{
    const char *name[2] = {pz_xml_get(node, "geom1"), pz_xml_get(node, "geom2")};
    int at[2];
    for (int i = 0; i < 2; ++i) {
        if (!name[i]) {
            return; // MuJoCo asks for both
        }
        pz_name_set_add(&pairs->names, name[i]);
        at[i] = pz_name_set_find(&pairs->names, name[i]);
    }
    int first = pairs->groups[at[0]] == 0 && pairs->groups[at[1]] != 0 ? 1 : 0;
    uint32_t *own = &pairs->groups[at[first]];
    *own = *own ? *own : free_bit(used);
    if (*own == 0) {
        pz_xml_warn(m->input, &m->causes[MJCF_NO_SHAPE], node, "\"%s\" and \"%s\" are not watched: there are too many pairs",
                    name[0], name[1]);
    }
    pairs->against[at[1 - first]] |= *own;
}

poise_status pz_mjcf_read_pairs(pz_mjcf *m, uint32_t used, pz_mjcf_pairs *pairs)
{
    size_t most = 0;
    const pz_xml_node *node = NULL;
    while ((node = pz_mjcf_next_in(m, "contact", "pair", node))) {
        most += 2;
    }
    pairs->groups = pz_pool_take(&m->input->pool, most, sizeof *pairs->groups);
    pairs->against = pz_pool_take(&m->input->pool, most, sizeof *pairs->against);
    if (!pairs->groups || !pairs->against || !pz_name_set_make(&m->input->pool, most, &pairs->names)) {
        return pz_input_no_memory(m->input);
    }
    memset(pairs->groups, 0, most * sizeof *pairs->groups);
    memset(pairs->against, 0, most * sizeof *pairs->against);
    while ((node = pz_mjcf_next_in(m, "contact", "pair", node))) {
        add_pair(m, node, &used, pairs);
    }
    return POISE_OK;
}
