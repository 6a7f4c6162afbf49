// Documents made at random, the same in every run, with every element and member that a reader knows.
#ifndef FUZZ_SEED_DOCUMENTS_H
#define FUZZ_SEED_DOCUMENTS_H

#define SEED_DOCUMENT 4096 // bytes at most: as long as the fuzzer's own inputs (tools/fuzz.sh)

// Writes one into `text`, of SEED_DOCUMENT bytes.
typedef void (*seed_document)(int number, char *text);

void seed_osim(int number, char *text);       // OpenSim, of both ages
void seed_json(int number, char *text);       // our own format
void seed_json_plain(int number, char *text); // JSON of any kind
void seed_goals(int number, char *text);      // goals in words, for the model of fuzz_goals.c

#endif
