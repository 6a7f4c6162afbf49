// Poise for C++17: objects that release themselves, vectors, exceptions. Inline, over the C headers, which are the manual.
//
//   poise::model robot = poise::load("panda.urdf");                       // links poise_io
//   poise::solver solver(robot);
//   auto [q, report] = solver.solve({robot.pose("panda_hand", target)}, robot.neutral());
//
// If a call fails, a poise::error with its message is thrown. Missing a goal is not an error: check the report. Threads as
// in C: a model is shared, everything else belongs to one thread at a time. C structs (goals, options, reports) are used
// directly; get() returns the C object of a wrapper for anything that has no method here.
#ifndef POISE_POISE_HPP
#define POISE_POISE_HPP

#include <poise/poise.h>

#include <cstddef>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace poise
{

using numbers = std::vector<double>;

// A failed call: its status, message and place.
class error : public std::runtime_error
{
  public:
    explicit error(const poise_error &e)
        : std::runtime_error((e.line > 0 ? "line " + std::to_string(e.line) + ": " : std::string()) + e.text),
          status(e.status), line(e.line), column(e.column)
    {
    }
    poise_status status;
    int line, column; // of text input; 0: none
};

// Throws on any status but POISE_OK. For calls of the C API: poise::check([&](poise_error *e) { return poise_...(..., e); }).
template <class Call> void check(Call call)
{
    poise_error e = {};
    if (call(&e) != POISE_OK) {
        throw error(e);
    }
}

namespace detail
{
template <class T, void (*destroy)(T *)> struct releases {
    void operator()(T *object) const
    {
        destroy(object);
    }
};
template <class T, void (*destroy)(T *)> using owner = std::unique_ptr<T, releases<T, destroy>>;

inline void need(std::size_t has, int wants, const char *what)
{
    if (has != static_cast<std::size_t>(wants)) {
        throw std::invalid_argument(std::string(what) + ": " + std::to_string(wants) + " numbers are wanted, not " +
                                    std::to_string(has));
    }
}
} // namespace detail

// ---- Skeletons -----------------------------------------------------------------------------------------------------------

// A skeleton, constant; copies share it.
class model
{
  public:
    explicit model(poise_model *owned) : model_(owned, poise_model_destroy), info_(poise_model_info(owned))
    {
    }

    // `owned` with its loops, which a solver holds; `loops` must live as long.
    model(std::shared_ptr<const poise_model> owned, const poise_constraint *loops, int loop_count)
        : model_(std::move(owned)), info_(poise_model_info(model_.get())), loops_(loops), loop_count_(loop_count)
    {
    }

    const poise_model *get() const
    {
        return model_.get();
    }
    const poise_constraint *loops() const
    {
        return loops_;
    }
    int loop_count() const
    {
        return loop_count_;
    }
    int nq() const
    {
        return info_.nq;
    }
    int nv() const
    {
        return info_.nv;
    }
    int joints() const
    {
        return info_.joints;
    }
    const double *lower() const
    {
        return info_.lower;
    }
    const double *upper() const
    {
        return info_.upper;
    }

    numbers neutral() const
    {
        numbers q(static_cast<std::size_t>(nq()));
        poise_model_neutral(get(), q.data());
        return q;
    }

    bool within_limits(const numbers &q) const
    {
        detail::need(q.size(), nq(), "q");
        return poise_model_within_limits(get(), q.data());
    }

    // The body that a name refers to: of a body, a joint or a tool, whose frame goes to *local.
    int body(const std::string &name, poise_pose *local = nullptr) const
    {
        poise_error e = {};
        int found = poise_model_find_part(get(), name.c_str(), local, &e);
        if (found == POISE_NONE) {
            throw error(e);
        }
        return found;
    }

    // Goals on bodies and tools, by name; use the C constructors for the others.
    poise_goal position(const std::string &name, poise_vec3 target) const
    {
        poise_pose local;
        int at = body(name, &local);
        return poise_goal_position(at, local.position, target);
    }
    poise_goal pose(const std::string &name, const poise_pose &target) const
    {
        poise_pose local;
        int at = body(name, &local);
        return poise_goal_pose(at, local, target);
    }
    poise_goal aim(const std::string &name, poise_vec3 axis, poise_vec3 target) const
    {
        poise_pose local;
        int at = body(name, &local);
        return poise_goal_aim(at, local.position, poise_quat_rotate(local.rotation, axis), target);
    }

  private:
    std::shared_ptr<const poise_model> model_;
    poise_model_summary info_;
    const poise_constraint *loops_ = nullptr;
    int loop_count_ = 0;
};

// A skeleton under construction.
class builder
{
  public:
    builder()
    {
        poise_builder *made = nullptr;
        check([&](poise_error *e) { return poise_builder_create(nullptr, &made, e); });
        builder_.reset(made);
    }
    builder &joint(const poise_joint &joint)
    {
        check([&](poise_error *e) { return poise_builder_add_joint(builder_.get(), &joint, e); });
        return *this;
    }
    builder &tool(const poise_tool &tool)
    {
        check([&](poise_error *e) { return poise_builder_add_tool(builder_.get(), &tool, e); });
        return *this;
    }
    model build() const
    {
        poise_model *made = nullptr;
        check([&](poise_error *e) { return poise_model_create(builder_.get(), nullptr, &made, e); });
        return model(made);
    }

  private:
    detail::owner<poise_builder, poise_builder_destroy> builder_;
};

// The skeleton in a file of any format, with its loops. Needs the library poise_io.
inline model load(const std::string &path, bool floating = false)
{
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        throw std::runtime_error(path + ": cannot be opened");
    }
    std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    poise_read_options options = {};
    options.name = path.c_str();
    options.floating = floating;
    poise_file *read = nullptr;
    check([&](poise_error *e) { return poise_read(bytes.data(), bytes.size(), &options, nullptr, &read, e); });
    std::shared_ptr<poise_file> file(read, poise_file_destroy);
    if (!file->model) {
        throw std::runtime_error(path + ": there is no skeleton in this file");
    }
    return model(std::shared_ptr<const poise_model>(file, file->model), file->loops, file->loop_count);
}

// ---- Where bodies are ----------------------------------------------------------------------------------------------------

class kinematics
{
  public:
    explicit kinematics(const model &of) : model_(of)
    {
        poise_kinematics *made = nullptr;
        check([&](poise_error *e) { return poise_kinematics_create(model_.get(), nullptr, &made, e); });
        kinematics_.reset(made);
    }
    poise_kinematics *get() const
    {
        return kinematics_.get();
    }

    kinematics &update(const numbers &q)
    {
        detail::need(q.size(), model_.nq(), "q");
        check([&](poise_error *e) { return poise_kinematics_update(get(), q.data(), e); });
        return *this;
    }
    poise_pose pose(const std::string &name) const
    {
        poise_pose local;
        int at = model_.body(name, &local);
        return poise_pose_multiply(poise_kinematics_body_pose(get(), at), local);
    }
    // 6 x nv, row by row: position, then rotation.
    numbers jacobian(const std::string &name) const
    {
        poise_pose local;
        int at = model_.body(name, &local);
        numbers J(static_cast<std::size_t>(6 * model_.nv()));
        check([&](poise_error *e) {
            return poise_kinematics_jacobian(get(), at, local.position, J.data(), J.data() + 3 * model_.nv(), e);
        });
        return J;
    }

  private:
    model model_;
    detail::owner<poise_kinematics, poise_kinematics_destroy> kinematics_;
};

// ---- Solving -------------------------------------------------------------------------------------------------------------

struct answer {
    numbers q;
    poise_report report;
    explicit operator bool() const
    {
        return report.outcome == POISE_OUTCOME_REACHED;
    }
};

class solver
{
  public:
    explicit solver(const model &of, poise_solver_options options = poise_solver_options_default()) : model_(of)
    {
        poise_solver *made = nullptr;
        if (model_.loop_count() > 0) {
            double usual = poise_solver_options_default().constraints.closure_tolerance;
            poise_constraints_size(model_.loops(), model_.loop_count(), &options.constraints);
            if (options.constraints.closure_tolerance == usual) {
                options.constraints.closure_tolerance = POISE_CLOSURE_OF_FILES;
            }
        }
        check([&](poise_error *e) { return poise_solver_create(model_.get(), &options, nullptr, &made, e); });
        solver_.reset(made);
    }
    poise_solver *get() const
    {
        return solver_.get();
    }

    // Solve from q; q is replaced by the answer. Loops of the model are kept closed. Allocates nothing.
    poise_report solve(const poise_goal *goals, int count, numbers &q)
    {
        detail::need(q.size(), model_.nq(), "q");
        poise_report report;
        check([&](poise_error *e) {
            return poise_solve_within(get(), goals, count, model_.loops(), model_.loop_count(), q.data(), &report, e);
        });
        return report;
    }
    answer solve(const std::vector<poise_goal> &goals, numbers start)
    {
        poise_report report = solve(goals.data(), static_cast<int>(goals.size()), start);
        return {std::move(start), report};
    }

  private:
    model model_;
    detail::owner<poise_solver, poise_solver_destroy> solver_;
};

} // namespace poise

#endif
