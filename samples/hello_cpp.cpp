// Hello from C++: an arm is built or read from a file, its tip put on a point, and what is refused is an exception.
#include <poise/poise.hpp>

#include <cstdio>
#include <cstring>

static poise_joint hinge(const char *name, const char *parent, double length)
{
    poise_joint joint = poise_joint_default();
    joint.name = name;
    joint.parent = parent;
    joint.type = POISE_JOINT_REVOLUTE;
    joint.offset.position.x = length;
    joint.lower[0] = -2.5;
    joint.upper[0] = 2.5;
    return joint;
}

static poise::model planar_arm()
{
    poise_tool tip = {"tip", "wrist", poise_pose_identity()};
    tip.pose.position.x = 0.5;
    return poise::builder()
        .joint(hinge("shoulder", nullptr, 0))
        .joint(hinge("elbow", "shoulder", 1))
        .joint(hinge("wrist", "elbow", 1))
        .tool(tip)
        .build();
}

int main(int count, char **arguments)
{
    try {
        poise::model arm = count > 1 ? poise::load(arguments[1]) : planar_arm();
        poise::solver solver(arm);
        poise::kinematics kinematics(arm);
        const char *tip = count > 2 ? arguments[2] : "tip";
        poise_vec3 target = kinematics.update(arm.neutral()).pose(tip).position;
        target.x -= 0.7;
        target.y += 0.4;
        auto [q, report] = solver.solve({arm.position(tip, target)}, arm.neutral());
        poise_vec3 reached = kinematics.update(q).pose(tip).position;
        std::printf("%s: (%.3f, %.3f, %.3f) after %d iterations\n", poise_outcome_name(report.outcome), reached.x, reached.y,
                    reached.z, report.iterations);
        try {
            arm.position("tpi", target);
            return 1; // it should have been refused
        } catch (const poise::error &refusal) {
            std::printf("refused: %s\n", refusal.what());
            bool is_right = report.outcome == POISE_OUTCOME_REACHED && arm.within_limits(q);
            return is_right && std::strstr(refusal.what(), "tpi") ? 0 : 1;
        }
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
