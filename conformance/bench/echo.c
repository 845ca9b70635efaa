/* The least that a DNS server can do: recvmmsg, touch the header, sendmmsg. One thread, one socket, 127.0.0.1.
 *
 *     echo PORT           sends each query back as its own reply: what the kernel and the loopback allow
 *     echo PORT answer    an upstream: adds an A record (192.0.2.1, TTL 300) to a query of type A, nothing to others
 *
 * Runs until it is ended. Knows of DNS only the header, one question, and whether an OPT record follows.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BATCH = 64, SIZE = 4096, HEADER = 12, RECEIVE = 4 << 20 };

static unsigned char buffers[BATCH][SIZE];
static struct mmsghdr messages[BATCH];
static struct iovec vectors[BATCH];
static struct sockaddr_in peers[BATCH];

static const unsigned char RECORD[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1}; /* RFC 1035, 4.1.3 */
static const unsigned char OPT[] = {0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0};                      /* RFC 6891, 6.1.2 */

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void prepare(void) {
    for (int i = 0; i < BATCH; i++) {
        vectors[i] = (struct iovec){buffers[i], SIZE};
        messages[i].msg_hdr = (struct msghdr){.msg_name = &peers[i], .msg_namelen = sizeof peers[i],
                                              .msg_iov = &vectors[i], .msg_iovlen = 1};
    }
}

/* The reply to a query of `length` octets, in its place; its length. */
static size_t answer(unsigned char *packet, size_t length) {
    int edns = packet[11] != 0;
    size_t end = HEADER;
    packet[2] |= 0x80; /* QR */
    packet[3] |= 0x80; /* RA */
    while (end < length && packet[end]) end += packet[end] + 1;
    end += 5; /* root label, type, class */
    if (end > length || end + sizeof RECORD + sizeof OPT > SIZE) return length;
    packet[7] = packet[end - 3] == 1; /* ANCOUNT: type A has one */
    if (packet[7]) memcpy(packet + end, RECORD, sizeof RECORD), end += sizeof RECORD;
    if (edns) memcpy(packet + end, OPT, sizeof OPT), end += sizeof OPT;
    packet[11] = (unsigned char)edns;
    return end;
}

static int listening(int port) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int size = RECEIVE, fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0) die("socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    if (bind(fd, (struct sockaddr *)&here, sizeof here)) die("bind");
    return fd;
}

int main(int count, char **words) {
    if (count < 2) return fprintf(stderr, "echo PORT [answer]\n"), 2;
    int fd = listening(atoi(words[1])), answers = count > 2;
    for (;;) {
        prepare();
        int got = recvmmsg(fd, messages, BATCH, MSG_WAITFORONE, NULL);
        for (int i = 0; i < got; i++) {
            size_t length = messages[i].msg_len;
            buffers[i][2] |= 0x80;
            vectors[i].iov_len = answers && length > HEADER ? answer(buffers[i], length) : length;
        }
        for (int sent = 0; sent < got;) {
            int now = sendmmsg(fd, messages + sent, (unsigned)(got - sent), 0);
            sent += now > 0 ? now : 1; /* one that cannot be sent is lost */
        }
    }
}
