#include "sockets.h"

#include <winsock2.h>
// after winsock2.h
#include <ws2tcpip.h>

// A SOCKET is a handle, and those have 32 bits on every Windows.
#define HANDLE_OF(s) ((SOCKET)(unsigned)(s))

const char *socket_trouble(void)
{
    static _Thread_local char text[256];
    DWORD how = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    DWORD size = FormatMessageA(how, NULL, (DWORD)WSAGetLastError(), 0, text, sizeof text, NULL);
    while (size > 0 && (unsigned char)text[size - 1] <= ' ') {
        text[--size] = '\0';
    }
    return size > 0 ? text : "error of Windows Sockets";
}

static int open_socket(int kind)
{
    WSADATA data;
    WSAStartup(MAKEWORD(2, 2), &data); // as often as one likes
    SOCKET s = WSASocketW(AF_INET, kind, 0, NULL, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    return s == INVALID_SOCKET ? -1 : (int)s;
}

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static bool bind_to(int s, struct sockaddr_in address, int *bound)
{
    int size = sizeof address;
    if (bind(HANDLE_OF(s), (struct sockaddr *)&address, size) != 0 ||
        getsockname(HANDLE_OF(s), (struct sockaddr *)&address, &size) != 0) {
        return false;
    }
    *bound = ntohs(address.sin_port);
    return true;
}

int socket_listen(int port, int waiting, int *bound)
{
    int s = open_socket(SOCK_STREAM);
    if (s < 0 || !bind_to(s, loopback(port), bound) || listen(HANDLE_OF(s), waiting) != 0) {
        socket_close(s);
        return -1;
    }
    return s;
}

int socket_accept(int listener, int milliseconds, int patience)
{
    SOCKET s = socket_wait(listener, milliseconds) ? accept(HANDLE_OF(listener), NULL, NULL) : INVALID_SOCKET;
    if (s == INVALID_SOCKET) {
        return -1;
    }
    DWORD limit = (DWORD)patience * 1000;
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, (const char *)&limit, sizeof limit);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, (const char *)&limit, sizeof limit);
    return (int)s;
}

int socket_open_datagrams(const char *address, int port, int *bound, bool *is_address)
{
    struct sockaddr_in at = loopback(port);
    int s = open_socket(SOCK_DGRAM);
    u_long yes = 1;
    *is_address = inet_pton(AF_INET, address, &at.sin_addr) == 1;
    if (s < 0 || !*is_address || ioctlsocket(HANDLE_OF(s), (long)FIONBIO, &yes) != 0 || !bind_to(s, at, bound)) {
        socket_close(s);
        return -1;
    }
    return s;
}

void socket_send_datagram(int port, const void *bytes, size_t size)
{
    int s = open_socket(SOCK_DGRAM);
    struct sockaddr_in to = loopback(port);
    if (s >= 0) {
        sendto(HANDLE_OF(s), bytes, (int)size, 0, (const struct sockaddr *)&to, sizeof to);
        socket_close(s);
    }
}

bool socket_wait(int s, int milliseconds)
{
    WSAPOLLFD ready = {.fd = HANDLE_OF(s), .events = POLLRDNORM};
    return WSAPoll(&ready, 1, milliseconds) > 0;
}

bool socket_send(int s, const void *bytes, size_t size)
{
    const size_t most = 1 << 30; // the length is an int
    for (const char *from = bytes; size > 0;) {
        int put = send(HANDLE_OF(s), from, (int)(size < most ? size : most), 0);
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
    return recv(HANDLE_OF(s), bytes, (int)size, 0);
}

long socket_receive_from(int s, void *bytes, size_t size, socket_peer *from)
{
    struct sockaddr_in sender;
    int length = sizeof sender;
    int got = recvfrom(HANDLE_OF(s), bytes, (int)size, 0, (struct sockaddr *)&sender, &length);
    if (got >= 0) {
        *from = (socket_peer){.address = sender.sin_addr.s_addr, .port = sender.sin_port};
    }
    return got;
}

void socket_send_to(int s, const void *bytes, size_t size, const socket_peer *to)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = to->port};
    address.sin_addr.s_addr = to->address;
    sendto(HANDLE_OF(s), bytes, (int)size, 0, (const struct sockaddr *)&address, sizeof address);
}

void socket_end(int s)
{
    shutdown(HANDLE_OF(s), SD_SEND);
}

void socket_close(int s)
{
    if (s >= 0) {
        closesocket(HANDLE_OF(s));
    }
}
