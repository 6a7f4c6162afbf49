// Written by tools/check_golden.sh --update.
#ifndef POISE_TEST_GOLDEN_VALUE_H
#define POISE_TEST_GOLDEN_VALUE_H

#define GOLDEN_VALUE UINT64_C(0x46ec885229a6613c)

#endif
