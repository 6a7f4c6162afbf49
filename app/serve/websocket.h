// WebSockets (RFC 6455), the server's side: the handshake, and frames of text.
#ifndef APP_WEBSOCKET_H
#define APP_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>

enum { WEBSOCKET_MOST = 65536 }; // bytes of a message that comes in

// Answer the request with the key of its header. False when the connection is gone.
bool websocket_accept(int connection, const char *key);

// One message of text.
bool websocket_send(int connection, const char *text, size_t size);

typedef enum websocket_state { WEBSOCKET_NONE = 0, WEBSOCKET_TEXT, WEBSOCKET_CLOSED } websocket_state;

// What has come in so far of a connection.
typedef struct websocket_input {
    unsigned char bytes[WEBSOCKET_MOST + 16];
    size_t size;
    char text[WEBSOCKET_MOST + 1]; // the last message
    size_t text_size;
} websocket_input;

// Wait up to `milliseconds` for a message. NONE: there is none yet. CLOSED: there will be none, because the other side
// closed, broke the rules, or sent more than WEBSOCKET_MOST at once. Pings are answered on the way.
websocket_state websocket_next(int connection, int milliseconds, websocket_input *input);

#endif
