// A small web server for the studio: loopback only, files of a table only.
//
// Everything it can send is known when it starts: the files of one folder, by the paths they have in it, and single files
// that are added under paths of their own. A request names an entry of that table exactly or gets 404, so no path leads out
// of it. Requests that name another host are refused, so that no page of the web can reach the server through a name of its
// own that leads to this machine.
#ifndef APP_SERVER_H
#define APP_SERVER_H

#include <signal.h>
#include <stdbool.h>

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

#endif
