// Written by tools/check_golden.sh --update.
#ifndef POISE_TEST_GOLDEN_VALUE_H
#define POISE_TEST_GOLDEN_VALUE_H

#define GOLDEN_VALUE UINT64_C(0xfd5122b39bafacd6)

#endif
