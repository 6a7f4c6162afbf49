// What the files of the reference share. See reference.c.
#ifndef WEB_TEST_REFERENCE_H
#define WEB_TEST_REFERENCE_H

#include <poise/expressive.h>
#include <poise/io.h>
#include <poise/poise.h>
#include <poise/track.h>

#include "scenes/scenes.h"

#define NUMBERS 128 // coordinates that a scene here has at most
#define GOALS   64

// A new line that begins with "scene/what".
void put_name(const char *scene, const char *what);
void put(double x);
void put_all(const double *x, int count);
void put_pose(poise_pose pose);

// A configuration (nq numbers) within the limits, by a seed.
void pattern(const poise_model *model, int seed, double *q);

void put_objectives(void);
void put_solves(void);
void put_tracking(void);
void put_expression(void);
void put_files(void);

#endif
