// Status names, version, error text and the arena.
#include "base/arena.h"
#include "base/error.h"
#include "support/test_main.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// Uniform bits (Marsaglia 2003, xorshift64), so that doubles of every exponent come up.
static uint64_t next_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static const char *written(poise_error *error, double x)
{
    pz_error_set(error, POISE_ERROR_ARGUMENT, "%g", x);
    return error->text;
}

TEST(every_status_has_a_name_of_its_own)
{
    for (int a = 0; a < POISE_STATUS_COUNT; ++a) {
        const char *name = poise_status_name((poise_status)a);
        ck_assert_ptr_nonnull(name);
        ck_assert_str_ne(name, "unknown");
        for (int b = 0; b < a; ++b) {
            ck_assert_str_ne(name, poise_status_name((poise_status)b));
        }
    }
}

TEST(a_status_outside_the_enumeration_is_unknown)
{
    ck_assert_str_eq(poise_status_name(POISE_STATUS_COUNT), "unknown");
    ck_assert_str_eq(poise_status_name((poise_status)1000), "unknown");
}

TEST(version_is_that_of_the_header)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%d.%d.%d", POISE_VERSION_MAJOR, POISE_VERSION_MINOR, POISE_VERSION_PATCH);
    ck_assert_str_eq(poise_version(), expected);
}

TEST(error_set_returns_the_status_and_fills_every_member)
{
    poise_error error;
    memset(&error, 0x5a, sizeof error);
    poise_status status = pz_error_set(&error, POISE_ERROR_MODEL,
                                       "joint \"%s\": lower limit %g is above upper limit %g (%d%%)", "elbow", 1.2, 0.4, -7);
    ck_assert_int_eq(status, POISE_ERROR_MODEL);
    ck_assert_int_eq(error.status, POISE_ERROR_MODEL);
    ck_assert_int_eq(error.line, 0);
    ck_assert_int_eq(error.column, 0);
    ck_assert_str_eq(error.text, "joint \"elbow\": lower limit 1.2 is above upper limit 0.4 (-7%)");
}

TEST(error_set_without_an_error_only_returns_the_status)
{
    ck_assert_int_eq(pz_error_set(NULL, POISE_ERROR_NUMERIC, "%s", "text"), POISE_ERROR_NUMERIC);
}

TEST(a_null_string_is_written_as_none)
{
    poise_error error;
    const char *volatile name = NULL; // unknown to the compiler, which would refuse the call below
    pz_error_set(&error, POISE_ERROR_MODEL, "[%s]", name);
    ck_assert_str_eq(error.text, "[(none)]");
}

TEST(integers_are_written_to_both_ends_of_their_range)
{
    poise_error error;
    pz_error_set(&error, POISE_ERROR_ARGUMENT, "%d %d %d %d %u", 0, INT_MIN, INT_MAX, 1000, UINT_MAX);
    char expected[64];
    snprintf(expected, sizeof expected, "0 %d %d 1000 %u", INT_MIN, INT_MAX, UINT_MAX);
    ck_assert_str_eq(error.text, expected);
}

TEST(chosen_doubles_are_written_as_expected)
{
    static const struct {
        double x;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "-0"},
        {1.0, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {1e-4, "0.0001"},
        {9.99999e-5, "9.99999e-05"},
        {999999.0, "999999"},
        {999999.5, "1e+06"},
        {1000000.0, "1e+06"},
        {123456.5, "123456"}, // a tie: to the even digit
        {123457.5, "123458"},
        {1.00000499999999991, "1"},
        {1.00000500000000014, "1.00001"},
        {100.0, "100"},
        {1.25e100, "1.25e+100"},
        {-2.5e-7, "-2.5e-07"},
        {DBL_MAX, "1.79769e+308"},
        {DBL_MIN, "2.22507e-308"},
        {4.9406564584124654e-324, "4.94066e-324"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
    };
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        poise_error error;
        ck_assert_str_eq(written(&error, cases[i].x), cases[i].text);
    }
}

TEST(doubles_are_written_as_the_c_library_writes_them)
{
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 20000; ++i) {
        uint64_t bits = next_bits(&state);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (i % 2 == 1) {
            x = (double)(int64_t)(bits >> 40) / 1024.0; // ordinary sizes, many ties
        }
        if (isnan(x)) {
            continue;
        }
        poise_error error;
        char expected[64];
        snprintf(expected, sizeof expected, "%g", x);
        ck_assert_str_eq(written(&error, x), expected);
    }
}

TEST(a_text_that_fits_to_the_last_byte_is_whole_and_a_longer_one_is_cut)
{
    poise_error error;
    char name[POISE_ERROR_TEXT_SIZE + 100];
    memset(name, 'a', sizeof name);

    name[POISE_ERROR_TEXT_SIZE - 1] = '\0';
    pz_error_set(&error, POISE_ERROR_MODEL, "%s", name);
    ck_assert_str_eq(error.text, name);

    name[POISE_ERROR_TEXT_SIZE - 1] = 'a';
    name[sizeof name - 1] = '\0';
    pz_error_set(&error, POISE_ERROR_MODEL, "%s%g%d", name, 1.5, 3);
    ck_assert_uint_eq(strlen(error.text), POISE_ERROR_TEXT_SIZE - 1);
    ck_assert_int_eq(strncmp(error.text, name, POISE_ERROR_TEXT_SIZE - 1), 0);
}

TEST(a_cut_never_splits_a_utf8_character)
{
    static const char *const characters[] = {"\xc3\xa9", "\xe9\xaa\xa8", "\xf0\x9f\xa6\xb4"}; // 2, 3 and 4 bytes
    for (size_t k = 0; k < TEST_COUNT(characters); ++k) {
        size_t length = strlen(characters[k]);
        for (size_t before = POISE_ERROR_TEXT_SIZE - 1 - length; before < POISE_ERROR_TEXT_SIZE; ++before) {
            char name[POISE_ERROR_TEXT_SIZE + 8];
            memset(name, 'a', before);
            memcpy(name + before, characters[k], length + 1);
            poise_error error;
            pz_error_set(&error, POISE_ERROR_MODEL, "%s!!!!!!", name);
            bool fits = before + length <= POISE_ERROR_TEXT_SIZE - 1;
            ck_assert_int_eq(strncmp(error.text, name, before < 255 ? before : 255), 0);
            ck_assert_uint_eq(strlen(error.text), fits ? POISE_ERROR_TEXT_SIZE - 1 : before);
        }
    }
}

TEST(control_characters_do_not_reach_the_text)
{
    poise_error error;
    pz_error_set(&error, POISE_ERROR_MODEL, "\"%s\"", "a\nb\tc\x7f");
    ck_assert_str_eq(error.text, "\"a?b?c?\"");
}

TEST(an_error_can_be_wrapped_in_its_own_text)
{
    poise_error error;
    pz_error_set(&error, POISE_ERROR_MODEL, "zero axis");
    pz_error_set(&error, POISE_ERROR_MODEL, "joint \"%s\": %s", "knee", error.text);
    ck_assert_str_eq(error.text, "joint \"knee\": zero axis");
}

// A layout as the library writes them: arrays of different sizes, one of them empty.
static void lay_out(pz_arena *arena, void *taken[4])
{
    taken[0] = pz_arena_take(arena, 3, sizeof(double));
    taken[1] = pz_arena_take(arena, 1, 1);
    taken[2] = pz_arena_take(arena, 0, sizeof(double));
    taken[3] = pz_arena_take(arena, 65, 1);
}

TEST(memory_of_the_counted_size_holds_the_layout_at_every_alignment)
{
    static const size_t size[4] = {24, 1, 0, 65};
    pz_arena count = pz_arena_counting();
    void *none[4];
    lay_out(&count, none);
    size_t bytes = pz_arena_bytes(&count);
    ck_assert_uint_gt(bytes, 0);
    for (int i = 0; i < 4; ++i) {
        ck_assert_ptr_null(none[i]);
    }

    for (size_t shift = 0; shift < PZ_ALIGNMENT; ++shift) {
        unsigned char *memory = malloc(bytes + shift); // of exactly that size, so that a sanitizer sees a byte too many
        pz_arena arena = pz_arena_over(memory + shift, bytes);
        void *taken[4];
        lay_out(&arena, taken);
        ck_assert(!arena.full);
        ck_assert_uint_eq(arena.used, count.used);
        for (int i = 0; i < 4; ++i) {
            ck_assert_ptr_nonnull(taken[i]);
            ck_assert_uint_eq((uintptr_t)taken[i] % PZ_ALIGNMENT, 0);
            memset(taken[i], i, size[i]);
        }
        for (int i = 0; i < 4; ++i) {
            for (size_t k = 0; k < size[i]; ++k) {
                ck_assert_int_eq(((unsigned char *)taken[i])[k], i); // no array overlaps another
            }
        }
        free(memory);
    }
}

TEST(an_arena_that_is_too_small_says_so_and_stays_full)
{
    _Alignas(PZ_ALIGNMENT) unsigned char memory[2 * PZ_ALIGNMENT];
    pz_arena arena = pz_arena_over(memory, sizeof memory);
    ck_assert_ptr_nonnull(pz_arena_take(&arena, PZ_ALIGNMENT, 1));
    ck_assert_ptr_null(pz_arena_take(&arena, PZ_ALIGNMENT + 1, 1));
    ck_assert(arena.full);
    ck_assert_ptr_null(pz_arena_take(&arena, 1, 1)); // it would fit, but the layout has a hole already
    ck_assert_uint_eq(pz_arena_bytes(&arena), 0);
}

TEST(memory_too_small_to_be_aligned_is_full_at_once)
{
    _Alignas(PZ_ALIGNMENT) unsigned char memory[PZ_ALIGNMENT];
    pz_arena arena = pz_arena_over(memory + 1, 10);
    ck_assert(arena.full);
    ck_assert_ptr_null(pz_arena_take(&arena, 1, 1));
}

TEST(what_alignment_skips_is_not_handed_out)
{
    _Alignas(PZ_ALIGNMENT) unsigned char memory[3 * PZ_ALIGNMENT];
    pz_arena arena = pz_arena_over(memory + 1, 2 * PZ_ALIGNMENT); // ends one byte into the third line
    ck_assert_ptr_eq(pz_arena_take(&arena, PZ_ALIGNMENT, 1), memory + PZ_ALIGNMENT);
    ck_assert_ptr_null(pz_arena_take(&arena, PZ_ALIGNMENT, 1));
}

TEST(a_size_that_overflows_is_refused)
{
    static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8 + 2, SIZE_MAX / 4};
    for (size_t i = 0; i < TEST_COUNT(counts); ++i) {
        pz_arena arena = pz_arena_counting();
        ck_assert_ptr_null(pz_arena_take(&arena, counts[i], 8));
        ck_assert(arena.full);
        ck_assert_uint_eq(pz_arena_bytes(&arena), 0);
    }
}

TEST(sizes_that_overflow_only_together_are_refused)
{
    pz_arena arena = pz_arena_counting();
    for (int i = 0; i < 3; ++i) {
        pz_arena_take(&arena, SIZE_MAX / 2 - PZ_ALIGNMENT, 1);
    }
    ck_assert(arena.full);
    ck_assert_uint_eq(pz_arena_bytes(&arena), 0);
}

typedef struct counter {
    int taken, released;
} counter;

static void *counting_allocate(void *user, size_t size)
{
    ((counter *)user)->taken++;
    return malloc(size);
}

static void counting_release(void *user, void *memory)
{
    ((counter *)user)->released++;
    free(memory);
}

TEST(memory_comes_from_the_allocator_given_and_goes_back_to_it)
{
    counter count = {0, 0};
    poise_allocator allocator = {counting_allocate, counting_release, &count};
    void *memory = pz_allocate(&allocator, 100);
    ck_assert_ptr_nonnull(memory);
    pz_release(&allocator, memory);
    pz_release(&allocator, NULL); // never handed on
    ck_assert_int_eq(count.taken, 1);
    ck_assert_int_eq(count.released, 1);

    memory = pz_allocate(NULL, 100);
    ck_assert_ptr_nonnull(memory);
    pz_release(NULL, memory);
    ck_assert_int_eq(count.taken, 1);
}

static const char *name_at(const void *user, int index)
{
    return ((const char *const *)user)[index];
}

TEST(a_name_with_letters_wrong_is_recognised_and_another_is_not)
{
    static const char *const names[] = {"position", "pose", "posture"};
    static const struct {
        const char *typed, *meant; // NULL: nothing near
    } cases[] = {{"positoin", "position"}, {"psoe", "pose"},         {"posure", "posture"}, {"Pose", "pose"},
                 {"poses", "pose"},        {"position", "position"}, {"direction", NULL},   {"x", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const char *found = poise_nearest_name(cases[i].typed, name_at, names, 3);
        ck_assert_msg(cases[i].meant ? found && strcmp(found, cases[i].meant) == 0 : !found, "%s: %s", cases[i].typed,
                      found ? found : "nothing");
    }
}

TEST(a_name_without_its_prefix_or_the_words_around_it_is_recognised)
{
    static const char *const names[] = {
        "Armature",      "mixamorig:LeftHand", "mixamorig:RightHandThumb1", "mixamorig:RightHand",
        "shoulder_link", "shoulder_pan_joint"};
    static const struct {
        const char *typed, *meant; // NULL: nothing near
    } cases[] = {{"RightHand", "mixamorig:RightHand"},
                 {"RihgtHand", "mixamorig:RightHand"},
                 {"shoulder_pan", "shoulder_pan_joint"},
                 {"pan", "shoulder_pan_joint"},
                 {"pa", NULL},
                 {"Thumb", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const char *found = poise_nearest_name(cases[i].typed, name_at, names, 6);
        ck_assert_msg(cases[i].meant ? found && strcmp(found, cases[i].meant) == 0 : !found, "%s: %s", cases[i].typed,
                      found ? found : "nothing");
    }
}

// Up to 40 letters; beyond that words are far from each other.
TEST(names_are_compared_up_to_forty_letters)
{
    static const char forty[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmn";
    char name[48], typed[48];
    for (int longer = 0; longer < 2; ++longer) {
        snprintf(name, sizeof name, "%s%s", forty, longer ? "o" : "");
        snprintf(typed, sizeof typed, "%s", name);
        typed[7] = '?';
        const char *const names[] = {name};
        ck_assert_int_eq((int)strlen(name), 40 + longer);
        ck_assert_ptr_eq(poise_nearest_name(typed, name_at, names, 1), longer ? NULL : name);
    }
}
