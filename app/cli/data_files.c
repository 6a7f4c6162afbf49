// The data folder: is what is asked for there, and is it what tools/data.tsv lists?
#include "data_files.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- SHA-256 (FIPS 180-4) ------------------------------------------------------------------------------------------------

typedef struct sha256 {
    uint32_t h[8];
    unsigned char block[64];
    uint64_t size; // bytes so far
} sha256;

static const sha256 sha256_start = {
    .h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};

static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void sha256_mix(sha256 *s)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; ++i) {
        const unsigned char *b = s->block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (int i = 16; i < 64; ++i) {
        uint32_t a = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(v, s->h, sizeof v);
    for (int i = 0; i < 64; ++i) {
        uint32_t e = turned(v[4], 6) ^ turned(v[4], 11) ^ turned(v[4], 25), choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t a = turned(v[0], 2) ^ turned(v[0], 13) ^ turned(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t add = v[7] + e + choice + sha256_k[i] + w[i];
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += add;
        v[0] = add + a + majority;
    }
    for (int i = 0; i < 8; ++i) {
        s->h[i] += v[i];
    }
}

static void sha256_add(sha256 *s, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        s->block[s->size++ % 64] = bytes[i];
        if (s->size % 64 == 0) {
            sha256_mix(s);
        }
    }
}

static void sha256_end(sha256 *s, char hex[65])
{
    uint64_t bits = 8 * s->size;
    unsigned char length[8];
    for (int i = 0; i < 8; ++i) {
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    }
    sha256_add(s, (const unsigned char *)"\x80", 1);
    while (s->size % 64 != 56) {
        sha256_add(s, (const unsigned char *)"", 1);
    }
    sha256_add(s, length, 8);
    for (int i = 0; i < 8; ++i) {
        snprintf(hex + 8 * i, 9, "%08x", (unsigned)s->h[i]);
    }
}

// False: it cannot be read.
static bool sha256_of_file(const char *path, char hex[65])
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return false;
    }
    sha256 s = sha256_start;
    unsigned char bytes[16384];
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;) {
        sha256_add(&s, bytes, got);
    }
    bool works = !ferror(file);
    fclose(file);
    sha256_end(&s, hex);
    return works;
}

// ---- The table -----------------------------------------------------------------------------------------------------------

extern const unsigned char data_table[]; // tools/data.tsv

enum { COLUMNS = 6, NAME = 0, REPOSITORY = 1, SHA = 4, WIDEST = 200 };

typedef struct row {
    char column[COLUMNS][WIDEST];
} row;

// The next row at *text, which moves on; false at the end.
static bool next_row(const char **text, row *r)
{
    while (**text == '#') {
        *text += strcspn(*text, "\n") + 1;
    }
    for (int i = 0; i < COLUMNS && **text; ++i) {
        int length = (int)strcspn(*text, "\t\n");
        snprintf(r->column[i], WIDEST, "%.*s", length, *text);
        *text += length;
        if (**text == '\n' || **text == '\t') {
            bool is_last = *(*text)++ == '\n';
            if (is_last) {
                return true;
            }
        }
    }
    return false;
}

// Is it the file `what`, or in the folder `what`?
static bool is_of(const row *r, const char *what, size_t length)
{
    char after = strncmp(r->column[NAME], what, length) == 0 ? r->column[NAME][length] : 'x';
    return after == '\0' || after == '/';
}

const char *data_listed(const char *folder, int number)
{
    static row r;
    for (const char *text = (const char *)data_table; next_row(&text, &r);) {
        if (is_of(&r, folder, strlen(folder)) && number-- == 0) {
            return r.column[NAME];
        }
    }
    return NULL;
}

// ---- The folder ----------------------------------------------------------------------------------------------------------

// Is the file of a row there, and is it that? Otherwise `found` says so.
static bool check_row(const char *folder, const row *r, data_files *found)
{
    char path[1024], hex[65];
    snprintf(path, sizeof path, "%s/%s", folder, r->column[NAME]);
    if (!sha256_of_file(path, hex)) {
        found->state = DATA_MISSING;
        snprintf(found->line, sizeof found->line,
                 strcmp(r->column[REPOSITORY], "-") == 0 ? "%s is not there; docs/data.md says how it was made"
                                                         : "%s is not there; \"tools/data.sh fetch FOLDER\" gets it",
                 path);
    } else if (strcmp(hex, r->column[SHA]) != 0) {
        found->state = DATA_WRONG;
        snprintf(found->line, sizeof found->line,
                 "%s is another file than tools/data.tsv lists: its sha256 is %.12s..., not %.12s...", path, hex,
                 r->column[SHA]);
    }
    return found->state == DATA_HERE;
}

data_files data_find(const char *folder, const char *what)
{
    data_files found = {.state = DATA_HERE};
    folder = folder ? folder : getenv("POISE_DATA");
    if (!folder || !folder[0]) {
        found.state = DATA_MISSING;
        snprintf(found.line, sizeof found.line,
                 "no data folder; \"tools/data.sh fetch FOLDER\" makes one, POISE_DATA=FOLDER names it");
        return found;
    }
    struct stat place;
    if (stat(folder, &place) != 0 || !S_ISDIR(place.st_mode)) {
        found.state = DATA_WRONG;
        snprintf(found.line, sizeof found.line,
                 "%s: there is no such folder of data; \"tools/data.sh fetch FOLDER\" makes one", folder);
        return found;
    }
    for (size_t length = strcspn(what, " "); length > 0; what += length, what += *what == ' ', length = strcspn(what, " ")) {
        if (!found.path[0]) {
            snprintf(found.path, sizeof found.path, "%s/%.*s", folder, (int)length, what);
        }
        bool is_listed = false;
        row r;
        for (const char *text = (const char *)data_table; next_row(&text, &r);) {
            if (is_of(&r, what, length)) {
                is_listed = true;
                if (!check_row(folder, &r, &found)) {
                    return found;
                }
            }
        }
        if (!is_listed) {
            found.state = DATA_WRONG;
            snprintf(found.line, sizeof found.line, "tools/data.tsv does not list %.*s", (int)length, what);
            return found;
        }
    }
    return found;
}
