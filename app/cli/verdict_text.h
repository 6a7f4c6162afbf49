// Verdicts of `poise track`, `poise scale`, `poise retarget`, `poise edit` and `poise solve --path`: their options, and how they are told.
#ifndef APP_VERDICT_TEXT_H
#define APP_VERDICT_TEXT_H

#include "command.h"
#include "json.h"

#include <poise/verdict.h>

#include <stdio.h>

// --accept: the worst verdict of exit status 0.
poise_verdict_level verdict_level_by_name(const char *name);

// --threshold WHAT=N[,N], all of them. False after one line on standard error.
bool verdict_read_thresholds(const arguments *args, poise_thresholds *thresholds);

typedef enum verdict_subject {
    VERDICT_OF_TRACK,
    VERDICT_OF_RETARGETING,
    VERDICT_OF_BARE_RETARGETING, // of a skeleton without shapes: overlaps are null
    VERDICT_OF_PATH,
    VERDICT_OF_EDIT,
    VERDICT_OF_BARE_EDIT
} verdict_subject;

void verdict_print(const poise_verdict *verdict, const poise_finding *findings, FILE *stream);
json_node *verdict_as_json(const poise_verdict *verdict, const poise_finding *findings, verdict_subject subject);

#endif
