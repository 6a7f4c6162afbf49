#!/usr/bin/env python3
"""Print the table in io/number.c: the powers of five from which reading and writing doubles makes powers of ten."""
FIRST, LAST = -342, 350  # 10^-342 times 19 digits is below every double; 10^350 times a double gives 18 digits or more
STEP = 28  # 5^27 has 63 bits


def leading_bits(q, count):
    """floor of 10^q 2^(count - 1 - floor(log2 10^q)): the top bit is set."""
    power = 10 ** abs(q)
    if q >= 0:
        shift = count - power.bit_length()
        return power << shift if shift >= 0 else power >> -shift
    shift = power.bit_length() + count - 1
    bits = (1 << shift) // power
    return bits if bits < 1 << count else bits >> 1


def from_tables(q):
    """As pz_power10 does it: 192 bits times 64, of which the leading 128 are kept."""
    base, rest = q // STEP * STEP, q % STEP
    product = leading_bits(base, 192) * 5 ** rest
    return product >> (product.bit_length() - 128)


def words(bits, count):
    return ", ".join(f"0x{bits >> 64 * i & (2 ** 64 - 1):016x}" for i in reversed(range(count)))


assert all(from_tables(q) == leading_bits(q, 128) for q in range(FIRST, LAST + 1))
bases = range(FIRST // STEP, LAST // STEP + 1)
print(f"""#define PZ_POWER_FIRST (-{-FIRST})
#define PZ_POWER_LAST  {LAST}
#define PZ_POWER_STEP  {STEP}
#define PZ_POWER_BASES {-bases[0]} // below 10^0

// 5^r, shifted up until its top bit is set
static const uint64_t small_fives[PZ_POWER_STEP] = {{""")
print(",\n".join(f"    {words(leading_bits(r, 64), 1)}" for r in range(STEP)))
print("""};

// Row k + PZ_POWER_BASES: the leading 192 bits of 10^(k PZ_POWER_STEP), cut off. With them the leading 128 bits of all
// powers come out right, which the program that writes this checks.
static const uint64_t base_powers[][3] = {""")
for k in bases:
    print(f"    {{{words(leading_bits(STEP * k, 192), 3)}}},")
print("""};""")
