// Gradient descent for a planar arm, the simplest inverse kinematics there is.
//
//   energy     E(q) = 1/2 |p(q) - target|^2,        p the tip of the arm
//   gradient   dE/dq_j = (p - target) . dp/dq_j
//
// In the plane dp/dq_j has a closed form: turning joint j moves p on a circle round p_j, so dp/dq_j = R(pi/2) (p - p_j).
// The program compares it with the Jacobian of the library, then descends to within 1e-6 of the target (exit status 0).
#include <poise/poise.h>

#include <math.h>
#include <stdio.h>

enum { LINKS = 5 };

static const poise_vec3 tip = {1, 0, 0}, target = {1.5, 2.5, 0}; // the tip in the last link's frame

// An arm of unit links along +x that turn about +z, which is the default axis.
static poise_status make_arm(poise_builder *builder, poise_model **model)
{
    static const char *const names[LINKS] = {"link1", "link2", "link3", "link4", "link5"};
    for (int i = 0; i < LINKS; ++i) {
        poise_joint joint = poise_joint_default();
        joint.type = POISE_JOINT_REVOLUTE;
        joint.name = names[i];
        joint.parent = i > 0 ? names[i - 1] : NULL;
        joint.offset = (poise_pose){{0, 0, 0, 1}, {i > 0 ? 1 : 0, 0, 0}};
        poise_builder_add_joint(builder, &joint, NULL);
    }
    return poise_model_create(builder, NULL, model, NULL);
}

// E and its gradient at q; J is 3 x LINKS, row-major.
static double energy(poise_kinematics *arm, const double *q, double *gradient)
{
    double J[3 * LINKS];
    poise_kinematics_update(arm, q, NULL);
    poise_kinematics_jacobian(arm, LINKS - 1, tip, J, NULL, NULL);
    poise_vec3 p = poise_kinematics_point(arm, LINKS - 1, tip);
    double x = p.x - target.x, y = p.y - target.y;
    for (int j = 0; j < LINKS; ++j) {
        gradient[j] = x * J[j] + y * J[LINKS + j];
    }
    return 0.5 * (x * x + y * y);
}

// The largest difference between the Jacobian and R(pi/2) (p - p_j), where R(pi/2) (x, y) = (-y, x).
static double closed_form_error(const poise_kinematics *arm)
{
    double J[3 * LINKS], worst = 0;
    poise_kinematics_jacobian(arm, LINKS - 1, tip, J, NULL, NULL);
    poise_vec3 p = poise_kinematics_point(arm, LINKS - 1, tip);
    for (int j = 0; j < LINKS; ++j) {
        poise_vec3 center = poise_kinematics_body_pose(arm, j).position;
        worst = fmax(worst, fmax(fabs(J[j] + (p.y - center.y)), fabs(J[LINKS + j] - (p.x - center.x))));
    }
    return worst;
}

int main(void)
{
    poise_builder *builder = NULL;
    poise_model *model = NULL;
    poise_kinematics *arm = NULL;
    if (poise_builder_create(NULL, &builder, NULL) || make_arm(builder, &model) ||
        poise_kinematics_create(model, NULL, &arm, NULL)) {
        return 1;
    }
    double q[LINKS] = {0.3, 0.2, 0.1, 0.1, 0.1}, next[LINKS], gradient[LINKS], next_gradient[LINKS], step = 1;
    double E = energy(arm, q, gradient);
    printf("Jacobian against the closed form: largest difference %.1e\n\niteration    energy     distance   step\n",
           closed_form_error(arm));

    for (int k = 1; sqrt(2 * E) > 1e-6 && k <= 1000; ++k) {
        double slope = 0, next_E;
        for (int j = 0; j < LINKS; ++j) {
            slope += gradient[j] * gradient[j];
        }
        // twice the last step, then half as long until the energy falls by at least a third of what the slope promises
        step *= 4;
        do {
            step /= 2;
            for (int j = 0; j < LINKS; ++j) {
                next[j] = q[j] - step * gradient[j];
            }
            next_E = energy(arm, next, next_gradient);
        } while (next_E > E - step * slope / 3);
        E = next_E;
        for (int j = 0; j < LINKS; ++j) {
            q[j] = next[j];
            gradient[j] = next_gradient[j];
        }
        if (k % 5 == 0 || sqrt(2 * E) <= 1e-6) {
            printf("%9d  %.3e  %.3e  %5.3f\n", k, E, sqrt(2 * E), step);
        }
    }
    poise_kinematics_destroy(arm);
    poise_model_destroy(model);
    poise_builder_destroy(builder);
    return sqrt(2 * E) <= 1e-6 ? 0 : 1;
}
