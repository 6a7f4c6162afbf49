// A small web server for the studio: loopback only, files of a table only.
//
// Everything it can send is known when it starts: the files of one folder, by the paths they have in it, and single files
// that are added under paths of their own. A request names an entry of that table exactly or gets 404, so no path leads out
// of it. Requests that name another host are refused, so that no page of the web can reach the server through a name of its
// own that leads to this machine.
#ifndef POISE_COMMANDS_SERVER_H
#define POISE_COMMANDS_SERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct server server;

server *server_create(void);
void server_destroy(server *s);

// All files of a folder and those below it, as "/name". False after one line on standard error.
bool server_add_folder(server *s, const char *folder);

// One file, under `path` ("/file/walk.bvh"). It is read again for each request. NULL: it is known that there is none,
// and the answer is 204, of which a browser does not complain.
void server_add_file(server *s, const char *path, const char *file);

// Is there an answer for this path?
bool server_knows(const server *s, const char *path);

// A WebSocket at `path`, for pages of this server alone: `serve` has the connection and the key of the request until it
// returns.
void server_set_socket(server *s, const char *path, void (*serve)(void *user, int connection, const char *key), void *user);

// Listen on 127.0.0.1 and this port; 0 for one that is free. Returns the port; 0 after one line on standard error.
int server_listen(server *s, int port);

// Answer until *stop is not 0 (a signal handler sets it; waiting ends with the signal).
void server_run(server *s, const volatile sig_atomic_t *stop);

// ---- WebSockets (RFC 6455), the server's side: the handshake, and frames of text -----------------------------------------

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
