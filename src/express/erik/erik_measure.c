// How far a pose is from its target and from its posture (Ribeiro & Paiva 2019, eq. 19 to 22).
#include "express/erik/erik_state.h"

// u(theta) . P, the cosine of the angle between the segments before and after the joint.
double pz_bend(const pz_link *link, double sine, double cosine)
{
    return link->A + link->B * cosine + link->C_sine * sine;
}

bool pz_erik_take(poise_erik *erik, const double *posture, poise_quat target)
{
    const pz_chain *chain = &erik->chain;
    quat unit = quat_normalize(target);
    if (!quat_is_finite(target) || !(fabs(unit.x) + fabs(unit.y) + fabs(unit.z) + fabs(unit.w) > 0.0)) {
        return false;
    }
    for (int k = 0; k < chain->count; ++k) {
        if (!is_finite(posture[chain->links[k].q])) {
            return false;
        }
    }
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        double sine, cosine;
        erik->psi[k] = posture[link->q];
        pz_sincos(erik->psi[k], &sine, &cosine);
        erik->psi_bend[k] = pz_bend(link, sine, cosine);
    }
    // the end is Q_N E
    mat3 R = quat_matrix(unit), back = m3_transpose(&chain->E);
    erik->tau = m3_mul(&R, &back);
    erik->t = erik->tau;
    return true;
}

// With q = (x, y, z, w) the rotation from the target to the end and phi its angle, |w| = cos(phi/2):
//
//   Z = min |tau -+ omega|/sqrt 2 = sqrt(1 - |w|) = sqrt((x^2 + y^2 + z^2)/(1 + |w|))
//
// the last form keeps its digits. Half a roll about the pointing axis y swaps w and y.
static void measure_orientation(const poise_erik *erik, const mat3 *Q, pz_measure *m)
{
    mat3 back = m3_transpose(&erik->tau), M = m3_mul(&back, Q);
    quat q = quat_from_matrix(&M);
    double w = fabs(q.w), y = fabs(q.y);
    if (erik->options.symmetric_endpoint && y > w) {
        double other = w;
        w = y;
        y = other;
    }
    double rest = q.x * q.x + y * y + q.z * q.z;
    m->orientation = sqrt(rest / (1.0 + w));
    m->angle = 2.0 * pz_atan2(sqrt(rest), w);
}

pz_measure pz_erik_measure(const poise_erik *erik, const pz_chain_pose *pose)
{
    const pz_chain *chain = &erik->chain;
    pz_measure m = {0};
    measure_orientation(erik, &pose->Q[chain->count], &m);
    for (int k = 0; k < chain->count; ++k) {
        const pz_link *link = &chain->links[k];
        if (link->weight > 0.0) {
            double bend = pz_bend(link, pose->sine[k], pose->cosine[k]);
            m.posture += link->weight * (0.5 * fabs(bend - erik->psi_bend[k]));
        }
    }
    m.error = erik->options.orientation_weight * m.orientation + erik->options.posture_weight * m.posture;
    return m;
}
