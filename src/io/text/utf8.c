#include "io/text/utf8.h"

#include <string.h>

size_t pz_utf8_length(const char *at, const char *end)
{
    const unsigned char *s = (const unsigned char *)at;
    unsigned char c = s[0];
    if (c < 0x80) {
        return 1;
    }
    size_t length = c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (length == 0 || (size_t)(end - at) < length) {
        return 0;
    }
    unsigned char least = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    unsigned char most = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < least || s[1] > most) {
        return 0;
    }
    for (size_t i = 2; i < length; ++i) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

size_t pz_utf8_put(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; --i, c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3F));
    }
    to[0] = (char)((0xF00 >> length & 0xFF) | c);
    return length;
}

const char *pz_utf8_check(const char *at, const char *end)
{
    while (at < end) {
        uint64_t eight;
        if (end - at >= 8 && (memcpy(&eight, at, 8), (eight & 0x8080808080808080u) == 0)) {
            at += 8;
            continue;
        }
        size_t length = pz_utf8_length(at, end);
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return end;
}
