// The golden hash of this build.
#include "golden.h"
#include "golden_value.h"
#include "support/test_main.h"

TEST(results_have_the_same_bits_as_everywhere)
{
    golden_result all = golden_all();
    if (all.hash != GOLDEN_VALUE) {
        for (int part = 0; part < golden_part_count(); ++part) {
            printf("%s: %016llx\n", golden_part_name(part), (unsigned long long)golden_part(part).hash);
        }
    }
    ck_assert_msg(all.hash == GOLDEN_VALUE, "%016llx", (unsigned long long)all.hash);
}

TEST(every_number_that_is_hashed_is_finite_and_every_call_works)
{
    for (int part = 0; part < golden_part_count(); ++part) {
        golden_result r = golden_part(part);
        ck_assert_msg(r.troubles == 0, "%s: %ld", golden_part_name(part), r.troubles);
        ck_assert_int_gt(r.numbers, 1000);
    }
}

TEST(a_second_run_gives_the_same_hash)
{
    ck_assert_uint_eq(golden_all().hash, golden_all().hash);
}
