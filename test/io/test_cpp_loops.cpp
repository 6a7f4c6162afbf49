// A mechanism that C++ loads from a file keeps its loops closed (poise/poise.hpp).
#include <poise/poise.hpp>

#include <cstdio>
#include <fstream>

static const char *const four_bar = R"(<mujoco><worldbody>
  <body name="crank"><joint axis="0 1 0"/><body name="rod" pos="0 0 .3"><joint axis="0 1 0"/></body></body>
  <body name="rocker" pos="1 0 -.3"><joint axis="0 1 0"/></body>
</worldbody><equality><connect body1="rod" body2="rocker" anchor="1 0 0"/></equality></mujoco>)";

static bool turns_closed(const poise::model &bar)
{
    poise::solver solver(bar);
    auto [q, report] = solver.solve({bar.position("rod", {0.1, 0, 0.28284271})}, bar.neutral());
    poise::kinematics kinematics(bar);
    kinematics.update(q);
    double open = -poise_constraint_room(kinematics.get(), bar.loops(), nullptr);
    std::printf("%s, open by %g\n", poise_outcome_name(report.outcome), open);
    return report.outcome == POISE_OUTCOME_REACHED && open < 1e-12;
}

int main(int, char **arguments)
{
    std::string path = std::string(arguments[1]) + "/four_bar.xml";
    std::ofstream(path) << four_bar;
    try {
        poise::model bar = poise::load(path);
        return bar.loop_count() == 1 && turns_closed(bar) ? 0 : 1;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
}
