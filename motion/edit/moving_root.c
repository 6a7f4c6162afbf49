// The body that carries a motion.
#include "motion/edit/moving_root.h"

#include "model/model.h"
#include "num/real.h"

#define STILL 1e-9 // length units, radians: a coordinate that changes by less does not move

// Does one of the coordinates first..end-1 move in a clip?
static bool moves(const poise_clip *clip, int first, int end)
{
    for (int i = first; clip && i < end; ++i) {
        for (int f = 1; f < clip->frames; ++f) {
            if (fabs(clip->q[(size_t)f * (size_t)clip->nq + (size_t)i] - clip->q[i]) > STILL) {
                return true;
            }
        }
    }
    return false;
}

static bool joint_slides(const poise_model *m, int joint, const poise_clip *clip, const poise_clip *other)
{
    int first = m->joints[joint].q_begin, end = least(first + m->joints[joint].slide_count, m->joints[joint].q_end);
    return moves(clip, first, end) || moves(other, first, end);
}

pz_moving_root pz_moving_root_of(const poise_model *m, const poise_clip *clip, const poise_clip *other)
{
    int first = 0;
    while (first < m->joint_count && !moves(clip, m->joints[first].q_begin, m->joints[first].q_end) &&
           !moves(other, m->joints[first].q_begin, m->joints[first].q_end)) {
        ++first;
    }
    bool carries =
        first < m->joint_count && 2 * m->joints[first].subtree > m->joint_count && joint_slides(m, first, clip, other);
    for (int k = carries ? first + m->joints[first].subtree : m->joint_count; k < m->joint_count && carries; ++k) {
        carries = !moves(clip, m->joints[k].q_begin, m->joints[k].q_end) &&
                  !moves(other, m->joints[k].q_begin, m->joints[k].q_end);
    }
    first = carries ? first : 0;
    pz_moving_root root = {first, first};
    int dofs = m->joints[first].v_end - m->joints[first].v_begin;
    while (dofs < 6 && root.last + 1 < m->joint_count && m->joints[root.last + 1].parent == root.last &&
           m->joints[root.last + 1].subtree == m->joints[root.last].subtree - 1) {
        root.last += 1;
        dofs += m->joints[root.last].v_end - m->joints[root.last].v_begin;
    }
    return root;
}
