// What `poise track` says: a table for people, JSON for machines.
#ifndef APP_TRACK_PRINT_H
#define APP_TRACK_PRINT_H

#include "cli/command.h"
#include "cli/json.h"
#include "track_parts.h"

void track_print(const track_result *r, FILE *stream);

// How sure the angles of each joint are: [name, median over frames of the standard deviation, in degrees, of its least sure
// angle], null where markers do not determine it.
json_node *track_sureness_as_json(const track_result *r);

// Curves of joint angles as clinicians name them: {name, step, values}; none for a skeleton that is not human.
json_node *track_angles_as_json(const track_result *r);

json_node *track_as_json(const track_result *r, const char *out, const char *report);

// A page about it: everything in one file, nothing from the network. False after one line on standard error. The command
// line is shown as the arguments say.
bool report_write(const track_result *r, const char *name, const arguments *args);

// Was this kept in every frame? Only where it was asked for (track_run.c).
json_node *track_kept_as_json(const track_result *r, poise_kept_sort which);

#endif
