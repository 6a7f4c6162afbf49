#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL // macOS has an option of the socket instead
#define MSG_NOSIGNAL 0
#endif

const char *socket_trouble(void)
{
    return strerror(errno);
}

// No child inherits it, and no signal comes when the other side has left.
static int prepared(int s)
{
    if (s >= 0) {
        fcntl(s, F_SETFD, FD_CLOEXEC);
#ifdef SO_NOSIGPIPE
        setsockopt(s, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
    }
    return s;
}

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

// Bind; the socket is closed when that fails.
static bool bind_to(int s, struct sockaddr_in address, int *bound)
{
    socklen_t size = sizeof address;
    if (bind(s, (struct sockaddr *)&address, size) != 0 || getsockname(s, (struct sockaddr *)&address, &size) != 0) {
        return false;
    }
    *bound = ntohs(address.sin_port);
    return true;
}

int socket_listen(int port, int waiting, int *bound)
{
    int s = prepared(socket(AF_INET, SOCK_STREAM, 0));
    if (s < 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) != 0 ||
        !bind_to(s, loopback(port), bound) || listen(s, waiting) != 0) {
        socket_close(s);
        return -1;
    }
    return s;
}

int socket_accept(int listener, int milliseconds, int patience)
{
    int s = socket_wait(listener, milliseconds) ? prepared(accept(listener, NULL, NULL)) : -1;
    if (s >= 0) {
        struct timeval limit = {.tv_sec = patience};
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }
    return s;
}

int socket_open_datagrams(const char *address, int port, int *bound, bool *is_address)
{
    struct sockaddr_in at = loopback(port);
    *is_address = inet_pton(AF_INET, address, &at.sin_addr) == 1;
    int s = *is_address ? prepared(socket(AF_INET, SOCK_DGRAM, 0)) : -1;
    if (s >= 0 && (fcntl(s, F_SETFL, O_NONBLOCK) != 0 || !bind_to(s, at, bound))) {
        socket_close(s);
        return -1;
    }
    return s;
}

void socket_send_datagram(int port, const void *bytes, size_t size)
{
    int s = prepared(socket(AF_INET, SOCK_DGRAM, 0));
    if (s >= 0) {
        struct sockaddr_in to = loopback(port);
        sendto(s, bytes, size, MSG_NOSIGNAL, (const struct sockaddr *)&to, sizeof to);
        socket_close(s);
    }
}

bool socket_wait(int s, int milliseconds)
{
    struct pollfd ready = {.fd = s, .events = POLLIN};
    return poll(&ready, 1, milliseconds) > 0;
}

bool socket_send(int s, const void *bytes, size_t size)
{
    for (const char *from = bytes; size > 0;) {
        ssize_t put = send(s, from, size, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        from += put;
        size -= (size_t)put;
    }
    return true;
}

long socket_receive(int s, void *bytes, size_t size)
{
    ssize_t got;
    do {
        got = recv(s, bytes, size, 0);
    } while (got < 0 && errno == EINTR);
    return (long)got;
}

long socket_receive_from(int s, void *bytes, size_t size, socket_peer *from)
{
    struct sockaddr_in sender;
    socklen_t length = sizeof sender;
    ssize_t got = recvfrom(s, bytes, size, 0, (struct sockaddr *)&sender, &length);
    if (got >= 0) {
        *from = (socket_peer){.address = sender.sin_addr.s_addr, .port = sender.sin_port};
    }
    return (long)got;
}

void socket_send_to(int s, const void *bytes, size_t size, const socket_peer *to)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = to->port, .sin_addr.s_addr = to->address};
    sendto(s, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&address, sizeof address);
}

void socket_end(int s)
{
    shutdown(s, SHUT_WR);
}

void socket_close(int s)
{
    int before = errno;
    if (s >= 0) {
        close(s);
    }
    errno = before;
}
