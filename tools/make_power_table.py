#!/usr/bin/env python3
"""Write src/io/text/power_table.h: the leading 128 bits of the powers of ten that reading and writing doubles needs.

    tools/make_power_table.py > src/io/text/power_table.h
"""
FIRST, LAST = -342, 350  # 10^-342 times 19 digits is below every double; 10^350 times a double gives 18 digits or more


def leading_bits(q):
    """floor of 10^q 2^(127 - floor(log2 10^q)): the top bit is set."""
    power = 10 ** abs(q)
    if q >= 0:
        shift = 128 - power.bit_length()
        return power << shift if shift >= 0 else power >> -shift
    shift = power.bit_length() + 127
    bits = (1 << shift) // power
    return bits if bits < 1 << 128 else bits >> 1


print("""// Written by tools/make_power_table.py.
//
// Row q - PZ_POWER_FIRST: the leading 128 bits of 10^q, cut off, high half first. Exact for 0 <= q <= 55, as 5^55 < 2^128.
#ifndef PZ_IO_POWER_TABLE_H
#define PZ_IO_POWER_TABLE_H

#include <stdint.h>
""")
print(f"#define PZ_POWER_FIRST (-{-FIRST})")
print(f"#define PZ_POWER_LAST  {LAST}\n")
print("static const uint64_t power_table[PZ_POWER_LAST - PZ_POWER_FIRST + 1][2] = {")
for q in range(FIRST, LAST + 1):
    bits = leading_bits(q)
    assert bits.bit_length() == 128
    print(f"    {{0x{bits >> 64:016x}, 0x{bits & (2 ** 64 - 1):016x}}},")
print("""};

#endif""")
