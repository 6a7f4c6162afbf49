// Our parsers beside expat and jansson, over one document: for tests and fuzzing.
#ifndef TEST_ORACLES_H
#define TEST_ORACLES_H

#include <stddef.h>

typedef enum verdict {
    VERDICT_SAME, // the same content, or refused by both, in the same line
    VERDICT_OURS, // as we mean it, and the library does not: docs/decisions/0020-parsers.md lists the cases
    VERDICT_DIFFERENT
} verdict;

#define REASON_SIZE 512

verdict xml_against_expat(const void *bytes, size_t size, char reason[REASON_SIZE]);
verdict json_against_jansson(const void *bytes, size_t size, char reason[REASON_SIZE]);

#endif
