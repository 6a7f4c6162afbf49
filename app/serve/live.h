// A stream that runs, for browsers: its lines come on standard input and go to every page; what pages send goes to the port
// that the stream's first line names.
#ifndef APP_LIVE_H
#define APP_LIVE_H

typedef struct live live;

// Begins to read. Lasts as long as the program.
live *live_start(void);

// Serve a page, whose request had this key, until it leaves.
void live_serve(void *l, int connection, const char *key);

#endif
