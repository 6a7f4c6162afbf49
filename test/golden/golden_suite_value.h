// Written by tools/check_determinism.sh --update.
#ifndef TEST_GOLDEN_SUITE_VALUE_H
#define TEST_GOLDEN_SUITE_VALUE_H

#define GOLDEN_SUITE_SOLVES UINT64_C(0xde5b2efed1e318ad)
#define GOLDEN_SUITE_BATCH  UINT64_C(0xf4ae48728f8b6720)
#define GOLDEN_SUITE_TRACK  UINT64_C(0xc302cefd031854c0)
#define GOLDEN_SUITE_FILES  UINT64_C(0x2aeb0603fa0eb475)

#endif
