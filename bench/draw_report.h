// poise bench --draw: the picture of a saved report.
#ifndef BENCH_DRAW_REPORT_H
#define BENCH_DRAW_REPORT_H

// Throughput against batch size, a line for each method of the tables "sizes" that have both: from the JSON file after
// --draw to the SVG file after -o ("-": standard output). `words` are those after the program's name. Returns the exit
// status; 2 after one line on standard error.
int draw_report(int count, char **words);

#endif
