// Poise for a host that passes numbers and addresses: the TypeScript side of the package (web/src).
//
// The host calls functions of the library under their own names (web/CMakeLists.txt lists them), as C does on this target: a
// struct that goes in by value is its address, one that comes back is an address in front of the arguments. It reads and
// writes structs in place, by layouts that are made from the headers (schema/generate.py) and held against the compiler's.
// Here is what the library has no function for.
#ifndef WEB_GLUE_GLUE_H
#define WEB_GLUE_GLUE_H

#include <poise/edit.h>
#include <poise/expressive.h>
#include <poise/io.h>
#include <poise/poise.h>
#include <poise/recordings.h>
#include <poise/retarget.h>
#include <poise/track.h>

// Callable by the host, under the function's own name. These have no prototypes: nothing here calls them.
#define WEB_EXPORT(name) __attribute__((export_name(#name), used)) name

// Called here, provided by the host.
#define WEB_IMPORT(name) __attribute__((import_module("poise"), import_name(#name)))

#endif
