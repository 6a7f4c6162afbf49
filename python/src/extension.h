// The Python extension _poise: what its files share. python/poise/ makes a package of it.
//
// Built on the stable ABI of Python 3.9, so that one binary serves every later version. Numbers come and go as numpy arrays
// of float64 by the buffer protocol, without numpy's own headers.
#ifndef POISE_PYTHON_EXTENSION_H
#define POISE_PYTHON_EXTENSION_H

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <poise/poise.h>

#include "arrays.h"

#pragma GCC diagnostic ignored "-Wpedantic" // the slots of a type hold functions as void *

// ---- Exceptions ----------------------------------------------------------------------------------------------------------

// poise.Error, a ValueError with the attributes `status`, `line` and `column`.
extern PyObject *error_type;

// Raise what a call of the library refused with; MemoryError for want of memory. Returns NULL.
PyObject *raise_refusal(const poise_error *error);

// ---- Options by name -----------------------------------------------------------------------------------------------------

// A member of a struct: of options a keyword, of a report an attribute.
typedef struct option {
    const char *name;
    enum { OPTION_NUMBER, OPTION_INTEGER, OPTION_SEED, OPTION_FLAG, OPTION_CHOICE, OPTION_TEXT } type;
    size_t offset;
    poise_type names;                 // CHOICE: of which type the values are, unless there is
    const char *(*choice)(int value); // their names, NULL beyond the last
    const char *text;                 // for people
} option;

// All members of a struct that Python has, with those of groups within it; made from the headers (schema/generate.py).
typedef struct table {
    const option *rows;
    int count;
} table;
extern const table solver_options_table, erik_options_table, expressive_options_table, filter_joint_table,
    track_problem_table, recording_problem_table, step_options_table, goal_table, report_table, erik_report_table,
    expressive_report_table, retarget_outcome_table, overlap_table, pin_report_table, track_summary_table,
    calibration_report_table, scale_match_table, places_report_table, figure_table, retarget_report_table,
    sequence_report_table;

// The row of this name; NULL: there is none.
const option *table_find(const table *members, const char *name);

// Set the member that `name` means. False, with an exception, where there is none or the value does not fit; `what` names
// the call for the message.
bool option_set(void *options, const table *members, const char *what, PyObject *name, PyObject *value);

// The value of a member. NULL with an exception.
PyObject *member_get(const void *object, const option *row);

// All members as a dictionary. NULL with an exception.
PyObject *members_out(const table *members, const void *object);

// Is it what people call the start of a solve, which is called q here? Then a TypeError says so.
bool start_is_misnamed(const char *name, const char *what);

// Warn, as the command does, of configurations that look like degrees, and of goals out of reach that look like millimetres.
// False where the warning is an exception.
bool ask_for_degrees(const poise_model *model, const char *what, const double *q, Py_ssize_t rows);
bool ask_for_millimetres(const poise_model *model, const poise_goal *goals, int count, const double *q);

// Set a member for every keyword; NULL: none.
bool options_set(void *options, const table *members, const char *what, PyObject *keywords);

// The attributes of objects that hold a struct at `base`: its members, and `own`, which come before members of their name. For
// good; NULL with an exception.
PyGetSetDef *attributes_of(const table *members, size_t base, const PyGetSetDef *own);

// A type of tuples: its first items are `first`, pairs of a name and a text, up to a NULL; the rest of the struct's members are
// attributes. Of the first, "reached" is no member, and a member may be called is_... in the struct.
PyTypeObject *report_type_add(PyObject *module, const char *name, const char *text, const char *const first[][2],
                              const table *members);
PyObject *report_row(PyTypeObject *type, const char *const first[][2], const table *members, const void *report,
                     bool reached);

// Do both ask for the same?
bool solver_options_equal(const poise_solver_options *a, const poise_solver_options *b, int nv);

// ---- Types ---------------------------------------------------------------------------------------------------------------

// A skeleton, with solvers, kinematics and a sensitivity that calls on it have made and left for the next.
typedef struct model_object {
    PyObject ob_base;
    poise_model *model;
    poise_model_summary info;
    struct idle_solver *solvers; // a list
    struct idle_engine *engine;  // on a device; NULL: none
    poise_kinematics *kinematics;
    bool kinematics_busy;
    poise_sensitivity *sensitivity; // of pose_gradients; NULL: none, or a call has it
    poise_file contents;            // the model, with the shapes, excluded pairs and loops of its file
    poise_file *file;               // that owns those; NULL: there are none
    poise_constraint *watched;      // shapes and pairs of the last call that kept some apart; NULL: none did
    int watched_neighbours;         // that its pairs were found with
    poise_pair *excluded;           // those of its file, and those of exclude(); NULL: there were no others
    PyObject *source;               // path of its file; NULL: none
} model_object;

// A model, which the object then owns.
PyObject *model_wrap(poise_model *model);

// The model of a file, which the object then owns, as a whole where it holds shapes or loops, and *file is NULL then.
PyObject *model_wrap_file(poise_file **file);

// The model of a Python object, or NULL with a TypeError.
model_object *model_of(PyObject *object);

// nv flags for a list of joints' names, NULL for none; what *locked was before is released. PyMem_Free releases them, also
// where this is false, with an exception.
bool locked_take(const bool **locked, const model_object *model, PyObject *names);

// A body by name (of a body, joint or tool) or index. False with an exception. *local is the tool's frame.
bool model_body(const model_object *model, PyObject *name, int *body, poise_pose *local);

// A model of one body that moves and has mass, kept for good: what is refused for it is refused for all. NULL with an
// exception.
const poise_model *any_model(void);

// A function of Python's that is a goal.
typedef struct goal_function {
    PyObject *call;
    PyObject *raised[3]; // what it raised during a solve: type, value, traceback
} goal_function;

// What the library calls (poise_goal_function), on any thread; `user` is the goal_function.
bool goal_function_ask(void *user, const poise_pose *pose, poise_body_energy *out);

// Has it raised something? Then that is the exception now.
bool goal_function_failed(goal_function *function);

// Goals of one call, ready for the library. Hold them until the call is over.
typedef struct goal_array {
    poise_goal *goals;
    int count;
    poise_goal few[4];
    poise_goal_list *words; // where they came as text
    PyObject *held;         // the goals of Python
    PyObject *looked_at;    // list of what they point into, which stays even if a goal gets other numbers meanwhile; or NULL
} goal_array;

// `goals` is a Goal, a sequence of them, or a text in the goal language. False with an exception.
bool goals_take(goal_array *array, const model_object *model, PyObject *goals);
void goals_release(goal_array *array);

// Has the function of a goal raised something? Then that is the exception now.
bool goals_failed(const goal_array *array);

// Release them at the end of a call: its result, or NULL where the function of a goal has raised something.
PyObject *goals_finish(goal_array *array, PyObject *result);

// How many of them tie bodies together.
int goals_coupled(const goal_array *array);

// Which constraints a call asks for. Borrowed.
typedef struct constraint_call {
    PyObject *obstacles, *constraints; // sequences; NULL: none
    bool avoid, loops, has_margin, has_self_margin, has_neighbours, allow_missing;
    double margin, self_margin;
    int neighbours;
} constraint_call;

// Constraints of one call: the clearance, the loops of the model, the caller's own. Hold them until the call is over.
typedef struct constraint_array {
    poise_constraint *list;
    int count, first_own;
    poise_shape *shapes;
    poise_pair *pairs;
    double *margins;
    bool has_clearance;
} constraint_array;

// False with an exception.
bool constraints_take(constraint_array *array, model_object *model, const constraint_call *call);
void constraints_release(constraint_array *array);

// Take a keyword about constraints. False: it is none; an exception may be set either way.
bool constraints_keyword(constraint_call *call, const char *name, PyObject *value);

// One method holds constraints. False with an exception.
bool constraints_fit_method(const constraint_array *array, poise_method method);

// What is in the way (poise_report), by name; NULL: nothing, or an exception.
PyObject *constraints_name(const constraint_array *array, const model_object *model, int blocking, int item);

// The nearest shapes, a tuple, and what is in the way, by name; NULL: none. False with an exception.
bool constraints_report(const constraint_array *array, const model_object *model, poise_solver *solver,
                        const poise_report *report, PyObject **nearest, PyObject **blocking);

// Warn that a call leaves the loops of a model open. False where the warning is an exception.
bool loops_are_left_open(const model_object *model, const char *call);

// With loops, which the call does not hold and is not told to leave out: true, with an exception.
bool loops_are_refused(const model_object *model, bool loops, const char *call);

// A rotation and a position from a (4, 4) matrix, or 7 numbers: x y z, then the quaternion x y z w.
bool pose_take(PyObject *object, const char *what, poise_pose *pose);
bool pose_from_numbers(const double *numbers, int count, const char *what, poise_pose *pose);

// Poses of a batch: is the shape (N, 4, 4) or (N, 7)? False with an exception. One of them, of 16 or 7 numbers, or a place
// of 3, unchecked.
#define NO_POSE "the matrix is not a pose (a rotation to 1e-3, last row 0 0 0 1)"
bool poses_have_shape(const numbers *targets);
poise_pose pose_of(const double *numbers, int size);

// Add the types and functions of a file to the module. False with an exception.
bool arrays_ready(void);
bool errors_add(PyObject *module);
bool goals_add(PyObject *module);
bool model_add(PyObject *module);
bool reports_add(PyObject *module);
bool batch_add(PyObject *module);
bool device_add(PyObject *module);
bool sensitivity_add(PyObject *module);
bool files_add(PyObject *module);
bool constraints_add(PyObject *module);
bool express_add(PyObject *module);
bool live_add(PyObject *module);
bool recordings_add(PyObject *module);
bool motions_add(PyObject *module);
bool opensim_add(PyObject *module);

// Clips and markers travel as tuples (files.c). NULL with an exception. A NULL goes out as None.
PyObject *array_of(const double *values, int axes, const Py_ssize_t *shape);
PyObject *clip_out(const poise_clip *clip);
PyObject *markers_out(const poise_markers *markers);
// Of a whole file; *owner is NULL where the model has taken it.
PyObject *file_out(poise_file **owner, const poise_model *read_for);
poise_clip *clip_in(PyObject *given, const model_object *model);
poise_markers *markers_in(PyObject *given);

// A new reference, to None for NULL.
PyObject *or_none(PyObject *object);

// Make a heap type and add it to the module. NULL with an exception.
PyObject *type_add(PyObject *module, PyType_Spec *spec);

// Likewise, of tuples whose items have names.
PyTypeObject *row_type_add(PyObject *module, PyStructSequence_Desc *description);

// For types that functions make: a tp_new that says so.
PyObject *new_refused(PyTypeObject *type, PyObject *arguments, PyObject *keywords);

// Release an object of a heap type, once what it owns is gone.
void object_release(PyObject *self);

// The methods of Model that other files hold.
PyObject *model_exclude(PyObject *self, PyObject *pairs);
PyObject *model_solve(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *model_solve_all(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *model_blockers(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *model_solve_batch(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *model_fk(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *model_jacobian(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *model_tensor(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *model_center_of_mass(PyObject *self, PyObject *q);
PyObject *model_center_of_mass_jacobian(PyObject *self, PyObject *q);
PyObject *model_mass(PyObject *self, void *closure);
PyObject *model_evaluate(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *model_sensitivity(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *model_pose_gradients(PyObject *self, PyObject *arguments);
PyObject *model_goal_gradients(PyObject *self, PyObject *arguments);
void model_release_solvers(model_object *model);
void model_release_engine(model_object *model);

// Poses of one body in the memory of a CUDA device: solve_batch for targets that are there. Borrowed.
typedef struct device_call {
    PyObject *targets, *start, *out; // arrays; start and out may be NULL
    int body;
    poise_pose local;
    const poise_solver_options *solver;
    bool has_restarts; // the caller chose them
    bool marks;        // problems that are refused
} device_call;

// Is it an array in the memory of a CUDA device? Anything else, and any failure to say so, is not.
bool device_holds(PyObject *object);
PyObject *device_solve(model_object *model, const device_call *call);

// A report of one solve; `reached`: all goals are met but those that only pull; `errors` has one entry per goal and may be
// NULL.
PyObject *report_wrap(const poise_report *report, bool reached, const poise_goal_error *errors, int count);

// What constraints_report found, which the report then owns.
void report_set_names(PyObject *report, PyObject *nearest, PyObject *blocking);

// Thresholds from a tuple of (kind, doubtful, failed); failed < 0: as it is by default. False with an exception.
bool thresholds_take(poise_thresholds *thresholds, PyObject *given);

// Findings of a verdict as a list of rows: name, level, who, beside whom, value, text.
PyObject *findings_out(const poise_finding *findings, int count);

#endif
