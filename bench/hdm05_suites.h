// What the suites over the recordings of HDM05 share.
#ifndef BENCH_HDM05_SUITES_H
#define BENCH_HDM05_SUITES_H

#include "suite.h"

#include <papers/reproduce/hessian_study.h>

// The take that the options ask for. False, with the suite skipped, where it is not there.
bool hdm05_suite_read(const bench *b, hdm05_task *task);

#endif
