// Breaks many recordings and tells how they are judged: broken_recordings [RECORDINGS OF EACH KIND] [FIRST SEED] [KIND].
//
// Exits with 1 where anything that is wrong is good, or more than a twentieth of what is sound is not. With TELL in the environment
// it prints a line for every recording.
#include "broken_recordings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words)
{
    int each = count > 1 ? atoi(words[1]) : 8, first = count > 2 ? atoi(words[2]) : 1;
    int sound = 0, doubted = 0, all_wrong = 0, all_missed = 0;
    bool tells = getenv("TELL") != NULL;
    for (int kind = 0; kind < broken_kind_count(); ++kind) {
        int made = 0, wrong = 0, missed = 0, good = 0;
        if (count > 3 && !strstr(broken_kind_name(kind), words[3])) {
            continue;
        }
        for (int i = 0; i < each; ++i) {
            uint64_t seed = (uint64_t)(first + i) + 1000 * (uint64_t)kind;
            broken_take *take = broken_take_make(kind, seed);
            if (!take) {
                continue;
            }
            broken_answer a = broken_take_judge(take, kind);
            bool is_good = a.level == POISE_VERDICT_GOOD && a.status == POISE_OK;
            made += 1;
            good += is_good;
            wrong += a.is_wrong;
            missed += a.is_wrong && is_good;
            if (tells) {
                printf("    %-22s %5llu %-24s %-9s %.2f m  %-8s%s  %5.1f deg %-22s %5.0f mm (true %.1f %.0f)  %s\n",
                       broken_kind_name(kind), (unsigned long long)seed, take->set, take->moves, take->stature,
                       a.status == POISE_OK ? poise_verdict_name(a.level) : "refused", a.is_wrong ? " WRONG" : "", a.angle,
                       a.which, 1000 * a.centre, a.true_angle, 1000 * a.true_centre, a.reasons);
            }
            broken_take_free(take);
        }
        printf("%-24s %4d  good %4d  wrong %4d  wrong and good %4d\n", broken_kind_name(kind), made, good, wrong, missed);
        fflush(stdout);
        if (broken_kind_is_harmless(kind)) {
            sound += made;
            doubted += made - good;
        }
        all_wrong += wrong;
        all_missed += missed;
    }
    printf("wrong %d, of them good %d; sound %d, of them not good %d\n", all_wrong, all_missed, sound, doubted);
    return all_missed > 0 || 20 * doubted > sound;
}
