// The command line: what is read, what is refused and how that is said.
#include "support/test_main.h"

#include <app/cli/command.h>
#include <app/cli/terminal.h>
#include <app/cli/words.h>
#include <app/system/system.h>
#include <stdio.h>
#include <string.h>

static const app_option options[] = {
    {.name = "all", .letter = 'a', .help = "a flag"},
    {.name = "text", .letter = 't', .kind = OPTION_TEXT, .value = "TEXT", .help = "text"},
    {.name = "file", .kind = OPTION_FILE, .value = "FILE", .help = "a file"},
    {.name = "number", .letter = 'n', .kind = OPTION_NUMBER, .value = "X", .lowest = -2, .highest = 2, .help = "a number"},
    {.name = "count", .kind = OPTION_COUNT, .value = "N", .help = "a count"},
    {.name = "choice", .kind = OPTION_CHOICE, .value = "C", .choices = "red green", .help = "a choice"},
    {.name = "goal", .letter = 'g', .kind = OPTION_TEXT, .value = "G", .repeats = true, .help = "many"},
    {0},
};

static const app_command command = {
    .name = "try", .synopsis = "ONE [TWO]", .least = 1, .most = 2, .summary = "", .description = "", .options = options};

static char said[1024];

// The words of one command line, parted by '|'.
static arguments *parse(const char *line)
{
    static char text[1024];
    char *words[32];
    int count = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *at = text; at && *line; ++count) {
        words[count] = at;
        at = strchr(at, '|');
        if (at) {
            *at++ = '\0';
        }
    }
    said[0] = '\0';
    complain_to(said, sizeof said);
    arguments *args = arguments_parse(&command, count, words);
    complain_to(NULL, 0);
    return args;
}

static void refuse(const char *line, const char *why)
{
    arguments *args = parse(line);
    ck_assert_msg(!args, "%s: was taken", line);
    ck_assert_msg(strstr(said, why) != NULL, "%s: said \"%s\", not \"%s\"", line, said, why);
}

TEST(options_are_read_in_every_form_that_help_shows)
{
    arguments *args = parse("one|--all|--text=a b|-n|-1.5|--count|7|--choice|green|--file|-|-ga b|--goal|c|two");
    ck_assert_msg(args != NULL, "%s", said);
    ck_assert_int_eq(arguments_count(args), 2);
    ck_assert_str_eq(arguments_at(args, 0), "one");
    ck_assert_str_eq(arguments_at(args, 1), "two");
    ck_assert_ptr_null(arguments_at(args, 2));
    ck_assert(option_given(args, "all") && !option_given(args, "json") && !option_given(args, "help"));
    ck_assert_str_eq(option_text(args, "text", "x"), "a b");
    ck_assert_str_eq(option_text(args, "file", "x"), "-");
    ck_assert_str_eq(option_text(args, "choice", "x"), "green");
    ck_assert(option_number(args, "number", 9) == -1.5);
    ck_assert_int_eq(option_count(args, "count", 9), 7);
    ck_assert_str_eq(option_text_at(args, "goal", 0), "a b");
    ck_assert_str_eq(option_text_at(args, "goal", 1), "c");
    ck_assert_ptr_null(option_text_at(args, "goal", 2));
    arguments_destroy(args);
}

TEST(what_is_not_given_has_its_default)
{
    arguments *args = parse("one");
    ck_assert(args && !option_given(args, "all") && !arguments_json(args));
    ck_assert_str_eq(option_text(args, "text", "x"), "x");
    ck_assert(option_number(args, "number", 9) == 9);
    ck_assert_int_eq(option_count(args, "count", 9), 9);
    ck_assert_ptr_null(option_text_at(args, "goal", 0));
    arguments_destroy(args);
}

TEST(negative_numbers_and_what_follows_two_dashes_are_no_options)
{
    arguments *args = parse("--text|-1 2 3|--|--all|-x");
    ck_assert_msg(args != NULL, "%s", said);
    ck_assert_str_eq(option_text(args, "text", ""), "-1 2 3");
    ck_assert(!option_given(args, "all"));
    ck_assert_str_eq(arguments_at(args, 0), "--all");
    ck_assert_str_eq(arguments_at(args, 1), "-x");
    arguments_destroy(args);
    args = parse("-.5");
    ck_assert(args != NULL);
    ck_assert_str_eq(arguments_at(args, 0), "-.5");
    arguments_destroy(args);
}

TEST(help_needs_no_arguments)
{
    arguments *args = parse("--help");
    ck_assert(args && option_given(args, "help"));
    arguments_destroy(args);
}

TEST(wrong_use_is_refused_with_the_reason)
{
    refuse("", "missing argument; usage: poise try ONE [TWO]");
    refuse("a|b|c", "unexpected argument \"c\"");
    refuse("a|--cuont|3", "did you mean --count?");
    refuse("a|--zzzzzzzz", "no option --zzzzzzzz; try");
    refuse("a|-z", "no option -z");
    refuse("a|--count", "--count needs a value: --count N");
    refuse("a|--count|--all", "--count needs a value");
    refuse("a|--count|x", "\"x\" is not a number");
    refuse("a|--count|1.5", "not a whole number");
    refuse("a|--count|1e300", "not a whole number");
    refuse("a|--number|3", "not between -2 and 2");
    refuse("a|--number|nan", "is not a number");
    refuse("a|--number|inf", "is not a number");
    refuse("a|--number|1x", "is not a number");
    refuse("a|--number=", "is not a number");
    refuse("a|--choice|blue", "\"blue\" is not one of: red green");
    refuse("a|--choice|re", "is not one of");
    refuse("a|--choice|red green", "is not one of");
    refuse("a|--all=1", "--all takes no value");
    refuse("a|--all|-a", "--all is given twice");
    refuse("a|-n|1|--number|1", "--number is given twice");
}

TEST(lists_of_numbers_take_spaces_and_commas_and_nothing_else)
{
    double n[3] = {0};
    ck_assert_int_eq(parse_numbers(" 1, -2.5e1,3 4", n, 3), 4);
    ck_assert(n[0] == 1 && n[1] == -25 && n[2] == 3);
    ck_assert_int_eq(parse_numbers("", n, 3), 0);
    ck_assert_int_eq(parse_numbers("1 x", n, 3), -1);
    ck_assert_int_eq(parse_numbers("1 nan", n, 3), -1);
    double number;
    ck_assert(!parse_number("1 ", &number) && !parse_number("", &number) && parse_number("-0x1p3", &number));
}

// ---- Methods -------------------------------------------------------------------------------------------------------------

// The choices of --method are the library's methods, each once, whatever is added there.
TEST(every_method_of_the_library_can_be_chosen)
{
    static const char choices[] = " " METHODS_COMMON " priority ccd bwcd fabrik ";
    int words = 0;
    for (const char *at = choices; (at = strchr(at + 1, ' ')); ++words) {
    }
    ck_assert_int_eq(words, POISE_METHOD_COUNT);
    for (int i = 0; i < POISE_METHOD_COUNT; ++i) {
        poise_method method = POISE_METHOD_COUNT;
        char word[64];
        const char *name = poise_method_name((poise_method)i);
        snprintf(word, sizeof word, " %s ", name);
        ck_assert_msg(strstr(choices, word) != NULL, "%s is no choice", word);
        word[strlen(word) - 1] = '\0';
        ck_assert(method_by_name(word + 1, &method) && (int)method == i);
    }
}

// ---- System -------------------------------------------------------------------------------------------------------------
//
// What the programs ask of the system (app/system), whichever it is.

// The time of a solve is microseconds: each clock must tell one from the next. What it counts in divides all its steps, however
// long another program keeps this one waiting between two looks.
static void check_steps(int64_t (*read_clock)(void))
{
    enum { STEPS = 20 };
    int64_t unit = 0, last = read_clock();
    for (int seen = 0; seen < STEPS;) {
        int64_t now = read_clock();
        ck_assert(now >= last);
        if (now > last) {
            for (int64_t rest = now - last; rest > 0;) { // Euclid's greatest common divisor
                int64_t remainder = unit % rest;
                unit = rest;
                rest = remainder;
            }
            last = now;
            seen += 1;
        }
    }
    ck_assert_int_lt(unit, 20000);
}

TEST(clocks_count_microseconds)
{
    check_steps(system_nanoseconds);
    check_steps(system_thread_nanoseconds);
}
