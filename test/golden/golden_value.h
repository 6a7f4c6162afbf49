// Written by tools/check_bits.sh update.
#ifndef TEST_GOLDEN_VALUE_H
#define TEST_GOLDEN_VALUE_H

#define GOLDEN_VALUE UINT64_C(0x2ce4460072f28379)

#endif
