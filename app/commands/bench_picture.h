// The picture of a saved report of poise-bench.
#ifndef APP_BENCH_PICTURE_H
#define APP_BENCH_PICTURE_H

#include <stdbool.h>

// Throughput against batch size, a line for each method of the tables "sizes" that have both: from the JSON file `report` to
// the SVG file `out` ("-": standard output). False after one line on standard error.
bool draw_bench(const char *report, const char *out);

#endif
