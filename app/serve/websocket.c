#include "websocket.h"

#include "system/sockets.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// ---- The handshake: base64(SHA-1(key + GUID)) ----------------------------------------------------------------------------

static uint32_t rotated(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

// One block of 64 bytes (FIPS 180-4, section 6.1).
static void sha1_block(const unsigned char *block, uint32_t h[5])
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 16; ++i) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    }
    for (int i = 16; i < 80; ++i) {
        w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    for (int i = 0; i < 80; ++i) {
        uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                     : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                     : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                              : (b ^ c ^ d) + 0xca62c1d6u;
        uint32_t next = rotated(a, 5) + f + e + w[i];
        e = d;
        d = c;
        c = rotated(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

// Of a text of up to 110 bytes: two blocks at most.
static void sha1(const char *text, unsigned char digest[20])
{
    uint32_t h[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    unsigned char blocks[128] = {0};
    size_t size = strlen(text), count = size < 56 ? 1 : 2;
    memcpy(blocks, text, size);
    blocks[size] = 0x80;
    blocks[64 * count - 2] = (unsigned char)(8 * size >> 8);
    blocks[64 * count - 1] = (unsigned char)(8 * size);
    for (size_t i = 0; i < count; ++i) {
        sha1_block(blocks + 64 * i, h);
    }
    for (int i = 0; i < 20; ++i) {
        digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

// 20 bytes as 28 letters.
static void base64(const unsigned char digest[20], char text[29])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < 7; ++i) {
        uint32_t group = (uint32_t)digest[3 * i] << 16 | (uint32_t)digest[3 * i + 1] << 8;
        group |= i < 6 ? digest[3 * i + 2] : 0;
        for (int k = 0; k < 4; ++k) {
            text[4 * i + k] = letters[group >> (18 - 6 * k) & 63];
        }
    }
    text[27] = '=';
    text[28] = '\0';
}

bool websocket_accept(int connection, const char *key)
{
    char joined[111], head[256], accept[29];
    unsigned char digest[20];
    size_t size = strcspn(key, "\r\n \t");
    if (size > 60) {
        return false;
    }
    snprintf(joined, sizeof joined, "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)size, key);
    sha1(joined, digest);
    base64(digest, accept);
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Accept: %s\r\n\r\n",
                          accept);
    return socket_send(connection, head, (size_t)length);
}

// ---- Frames --------------------------------------------------------------------------------------------------------------

enum { TEXT = 1, CLOSE = 8, PING = 9, PONG = 10, FINAL = 0x80, MASKED = 0x80 };

static bool send_frame(int connection, int kind, const void *bytes, size_t size)
{
    unsigned char head[10] = {(unsigned char)(FINAL | kind)};
    size_t length = 2;
    if (size < 126) {
        head[1] = (unsigned char)size;
    } else if (size < 65536) {
        head[1] = 126;
        head[2] = (unsigned char)(size >> 8);
        head[3] = (unsigned char)size;
        length = 4;
    } else {
        head[1] = 127;
        for (int i = 0; i < 8; ++i) {
            head[2 + i] = (unsigned char)((uint64_t)size >> (56 - 8 * i));
        }
        length = 10;
    }
    return socket_send(connection, head, length) && socket_send(connection, bytes, size);
}

bool websocket_send(int connection, const char *text, size_t size)
{
    return send_frame(connection, TEXT, text, size);
}

// The first frame of what has come in: its kind, and its payload at `text`. -1: not whole yet; -2: against the rules.
static int take_frame(websocket_input *in)
{
    const unsigned char *b = in->bytes;
    if (in->size < 2) {
        return -1;
    }
    size_t size = b[1] & 127u, head = size == 126 ? 4 : 2;
    if (!(b[0] & FINAL) || !(b[1] & MASKED) || size == 127) {
        return -2;
    }
    if (in->size < head + 4) {
        return -1;
    }
    size = size == 126 ? (size_t)b[2] << 8 | b[3] : size;
    if (in->size < head + 4 + size) {
        return -1;
    }
    for (size_t i = 0; i < size; ++i) {
        in->text[i] = (char)(b[head + 4 + i] ^ b[head + i % 4]);
    }
    in->text[size] = '\0';
    in->text_size = size;
    int kind = b[0] & 15;
    in->size -= head + 4 + size;
    memmove(in->bytes, b + head + 4 + size, in->size);
    return kind;
}

websocket_state websocket_next(int connection, int milliseconds, websocket_input *input)
{
    if (socket_wait(connection, milliseconds)) {
        long got = socket_receive(connection, input->bytes + input->size, sizeof input->bytes - input->size);
        if (got <= 0) {
            return WEBSOCKET_CLOSED;
        }
        input->size += (size_t)got;
    }
    for (;;) {
        int kind = take_frame(input);
        if (kind == TEXT) {
            return WEBSOCKET_TEXT;
        }
        if (kind == PING && !send_frame(connection, PONG, input->text, input->text_size)) {
            return WEBSOCKET_CLOSED;
        }
        if (kind == CLOSE || kind == -2 || (kind == -1 && input->size == sizeof input->bytes)) {
            return WEBSOCKET_CLOSED;
        }
        if (kind == -1) {
            return WEBSOCKET_NONE;
        }
    }
}
