/* Open loop: a query leaves when it is due, however late the answers to others are.
 *
 *     pace PORT RATE SECONDS FILE
 *
 * FILE holds queries as in a TCP stream (two octets of length before each); they are asked in turn, again and again.
 * Prints when it started (seconds since 1970) and its priority, and a line for each query. Its fields: microseconds from the start to
 * when it was due; from then to when it left; from when it was due to when its answer reached the socket (by the
 * kernel's time stamp); the rcode. No answer is `- -`.
 * A late answer thus delays nothing, and a query that leaves late counts its delay, too. Runs at `real-time` priority
 * where it may, so that other processes do not hold it up; else at the least `nice` value, or at the `usual` one.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum { IDS = 65536, SIZE = 4096, RECEIVE = 4 << 20 };
static const int64_t SECOND = 1000000000, PATIENCE = 2000000000; /* nanoseconds; PATIENCE: how long the last may take */

struct query { int64_t due, left, answered; int rcode; };

static struct query *queries; /* all of the run; the ID of a query is the low half of its number */
static long asked, answered;
static unsigned char *file;
static size_t file_size, place;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t); /* the clock of the kernel's time stamps */
    return t.tv_sec * SECOND + t.tv_nsec;
}

static void read_file(const char *path) {
    FILE *from = fopen(path, "rb");
    if (!from || fseek(from, 0, SEEK_END)) die(path);
    file_size = (size_t)ftell(from);
    rewind(from);
    file = malloc(file_size);
    if (!file || fread(file, 1, file_size, from) != file_size) die(path);
    fclose(from);
}

static int connected(int port) {
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1, size = RECEIVE, fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (fd < 0) die("socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
    if (connect(fd, (struct sockaddr *)&there, sizeof there)) die("connect");
    return fd;
}

/* A query that the socket does not take is lost: nothing is asked twice. */
static void ask(int fd) {
    size_t length = (size_t)file[place] << 8 | file[place + 1];
    unsigned char *packet = file + place + 2;
    packet[0] = (unsigned char)(asked >> 8);
    packet[1] = (unsigned char)asked;
    send(fd, packet, length, 0);
    queries[asked++].left = now();
    place = place + 2 + length < file_size ? place + 2 + length : 0;
}

static int64_t stamp(struct msghdr *message) {
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    struct timespec t;
    if (!part || part->cmsg_type != SCM_TIMESTAMPNS) return now();
    memcpy(&t, CMSG_DATA(part), sizeof t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static void receive(int fd) {
    unsigned char packet[SIZE], control[256];
    for (;;) {
        struct iovec vector = {packet, sizeof packet};
        struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control,
                                 .msg_controllen = sizeof control};
        if (recvmsg(fd, &message, 0) < 12) return;
        long number = (asked - 1) / IDS * IDS + (packet[0] << 8 | packet[1]);
        if (number >= asked) number -= IDS;
        if (number < 0 || queries[number].answered) continue;
        queries[number].answered = stamp(&message);
        queries[number].rcode = packet[3] & 15;
        answered++;
    }
}

static void wait_for(int fd, int64_t until) {
    int64_t left = until - now();
    if (left <= 0) left = 0;
    struct timespec t = {left / SECOND, left % SECOND};
    struct pollfd socket = {fd, POLLIN, 0};
    ppoll(&socket, 1, &t, NULL);
}

static const char *hurried(void) {
    struct sched_param priority = {.sched_priority = 1};
    if (!sched_setscheduler(0, SCHED_FIFO, &priority)) return "real-time";
    return setpriority(PRIO_PROCESS, 0, -20) ? "usual" : "nice";
}

static void report(int64_t start, const char *priority) {
    printf("%.6f %s\n", (double)start / 1e9, priority);
    for (long i = 0; i < asked; i++) {
        struct query *q = &queries[i];
        printf("%lld %lld ", (long long)(q->due - start) / 1000, (long long)(q->left - q->due) / 1000);
        if (q->answered)
            printf("%lld %d\n", (long long)(q->answered - q->due) / 1000, q->rcode);
        else
            printf("- -\n");
    }
}

int main(int count, char **words) {
    if (count != 5) return fprintf(stderr, "pace PORT RATE SECONDS FILE\n"), 2;
    double rate = atof(words[2]);
    long total = (long)(rate * atof(words[3]));
    int fd = connected(atoi(words[1]));
    read_file(words[4]);
    queries = calloc((size_t)total + 1, sizeof *queries);
    if (!queries) die("calloc");
    const char *priority = hurried();
    prctl(PR_SET_TIMERSLACK, 1);
    int64_t start = now() + SECOND / 100, end = start + (int64_t)((double)total / rate * 1e9) + PATIENCE;
    for (long i = 0; i < total; i++) queries[i].due = start + (int64_t)((double)i / rate * 1e9);
    while (asked < total || (answered < total && now() < end)) {
        while (asked < total && queries[asked].due <= now()) ask(fd);
        receive(fd);
        wait_for(fd, asked < total ? queries[asked].due : end);
    }
    report(start, priority);
    return 0;
}
