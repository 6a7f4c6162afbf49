// Sockets of this machine: a listener and its connections, and datagrams. sockets_posix.c and sockets_windows.c.
#ifndef APP_SOCKETS_H
#define APP_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Why the last call failed, in words.
const char *socket_trouble(void);

// Listen on a port of 127.0.0.1, which no other machine can reach; 0: any that is free. -1 on failure; *bound is the port.
int socket_listen(int port, int waiting, int *bound);

// A connection, when one comes within so many milliseconds; -1: none. Its reads and writes give up after `patience` seconds.
int socket_accept(int listener, int milliseconds, int patience);

// Take datagrams that come to an address such as "127.0.0.1"; false in *is_address when it is none.
int socket_open_datagrams(const char *address, int port, int *bound, bool *is_address);

// Send one to a port of this machine; one that cannot be sent is lost, as datagrams are.
void socket_send_datagram(int port, const void *bytes, size_t size);

bool socket_wait(int s, int milliseconds); // is there something to read within that time? negative: without end

// All bytes, or false.
bool socket_send(int s, const void *bytes, size_t size);

// Up to `size` bytes: how many came; 0 at the end, -1 on failure.
long socket_receive(int s, void *bytes, size_t size);

// Who sent a datagram.
typedef struct socket_peer {
    uint32_t address;
    uint16_t port; // both as the network has them
} socket_peer;
long socket_receive_from(int s, void *bytes, size_t size, socket_peer *from); // -1: none is there
void socket_send_to(int s, const void *bytes, size_t size, const socket_peer *to);

void socket_end(int s); // nothing more will be sent
void socket_close(int s);

#endif
