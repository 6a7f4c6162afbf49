// Poise for a host that passes numbers and addresses: the TypeScript side of the package (web/src).
//
// Every function here takes and returns numbers and addresses only. A struct of the library goes over as a row: its members
// as doubles, one after the other, in the order of the struct, an address as its number. The host writes and reads rows as
// a Float64Array, so that no layout of a struct is known in two places. A pose is seven numbers: position, then quaternion
// x y z w.
//
// A function that can fail returns a poise_status, or an address that is 0 when it failed; the reason is then in the one
// error of the module (web_error).
#ifndef WEB_GLUE_GLUE_H
#define WEB_GLUE_GLUE_H

#include <poise/expressive.h>
#include <poise/io.h>
#include <poise/poise.h>
#include <poise/track.h>

// Callable by the host, under the function's own name. These have no prototypes: nothing here calls them.
#define WEB_EXPORT(name) __attribute__((export_name(#name), used)) name

// Called here, provided by the host.
#define WEB_IMPORT(name) __attribute__((import_module("poise"), import_name(#name)))

// ---- Errors (memory.c) ---------------------------------------------------------------------------------------------------

// The error that the next failing call fills; cleared.
poise_error *web_error_clear(void);

// Keep a status for which the library has no text. Returns it.
poise_status web_fail(poise_status status, const char *text);

// Zeroed; NULL, with an error, where memory is short. Given back with web_release.
void *web_take(size_t count, size_t size);
void web_release(void *memory);

// ---- Rows ----------------------------------------------------------------------------------------------------------------

// A cursor over a row.
typedef struct web_row {
    double *at;
} web_row;

static inline double web_get(web_row *row)
{
    return *row->at++;
}

static inline int web_get_int(web_row *row)
{
    return (int)*row->at++;
}

static inline bool web_get_bool(web_row *row)
{
    return *row->at++ != 0.0;
}

static inline void *web_get_address(web_row *row)
{
    return (void *)(uintptr_t)*row->at++;
}

static inline poise_vec3 web_get_vec3(web_row *row)
{
    double *v = row->at;
    row->at += 3;
    return (poise_vec3){v[0], v[1], v[2]};
}

static inline poise_quat web_get_quat(web_row *row)
{
    double *v = row->at;
    row->at += 4;
    return (poise_quat){v[0], v[1], v[2], v[3]};
}

static inline poise_pose web_get_pose(web_row *row)
{
    poise_vec3 position = web_get_vec3(row);
    return (poise_pose){.rotation = web_get_quat(row), .position = position};
}

static inline void web_put(web_row *row, double value)
{
    *row->at++ = value;
}

static inline void web_put_address(web_row *row, const void *address)
{
    *row->at++ = (double)(uintptr_t)address;
}

static inline void web_put_vec3(web_row *row, poise_vec3 v)
{
    web_put(row, v.x);
    web_put(row, v.y);
    web_put(row, v.z);
}

static inline void web_put_quat(web_row *row, poise_quat q)
{
    web_put(row, q.x);
    web_put(row, q.y);
    web_put(row, q.z);
    web_put(row, q.w);
}

static inline void web_put_pose(web_row *row, poise_pose pose)
{
    web_put_vec3(row, pose.position);
    web_put_quat(row, pose.rotation);
}

// The options of a solver, which those of trackers and calibrations hold (solve.c).
poise_solver_options web_get_solver_options(web_row *row);
void web_put_solver_options(web_row *row, const poise_solver_options *options);

#endif
