// Written by tools/check_golden.sh --update.
#ifndef TEST_GOLDEN_VALUE_H
#define TEST_GOLDEN_VALUE_H

#define GOLDEN_VALUE UINT64_C(0xef0d5f8cd29386b3)

#endif
