/* steady THREADS PAUSE NAME...: looks the names up for ever, as programs in Pods do, with one line for each look-up:
 *
 *     THREAD STARTED TOOK NAME RESULT
 *
 * STARTED is in milliseconds since 1970, TOOK in milliseconds; RESULT is the addresses, with commas, or an error such
 * as EAI_AGAIN. Each thread waits PAUSE milliseconds after a look-up. */

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static char **names;
static int count;
static long pause_ms;

static long long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static const char *error_name(int code) {
    switch (code) {
    case EAI_NONAME: return "EAI_NONAME";
    case -5: return "EAI_NODATA"; /* hidden without _GNU_SOURCE */
    case EAI_AGAIN: return "EAI_AGAIN";
    case EAI_FAIL: return "EAI_FAIL";
    case EAI_SYSTEM: return "EAI_SYSTEM";
    default: return "EAI_OTHER";
    }
}

static void look_up(int thread, const char *name) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list = NULL;
    char line[4096], *end = line, *limit = line + sizeof line - INET6_ADDRSTRLEN - 2;
    long long started = now(CLOCK_REALTIME), begun = now(CLOCK_MONOTONIC);
    int code = getaddrinfo(name, NULL, &hints, &list);
    long long took = now(CLOCK_MONOTONIC) - begun;
    if (code) end = stpcpy(end, error_name(code));
    for (struct addrinfo *each = list; !code && each && end < limit; each = each->ai_next) {
        const void *address = each->ai_family == AF_INET
                                  ? (void *)&((struct sockaddr_in *)each->ai_addr)->sin_addr
                                  : (void *)&((struct sockaddr_in6 *)each->ai_addr)->sin6_addr;
        if (end != line) *end++ = ',';
        inet_ntop(each->ai_family, address, end, INET6_ADDRSTRLEN);
        end += strlen(end);
    }
    *end = 0;
    if (!code) freeaddrinfo(list);
    printf("%d %lld %lld %s %s\n", thread, started, took, name, line);
}

static void *run(void *argument) {
    int thread = (int)(intptr_t)argument;
    struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};
    for (int turn = thread;; turn++) {
        look_up(thread, names[turn % count]);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: steady THREADS PAUSE NAME...\n");
        return 2;
    }
    names = argv + 3;
    count = argc - 3;
    pause_ms = atol(argv[2]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int thread = 1; thread < atoi(argv[1]); thread++) {
        pthread_t other;
        if (pthread_create(&other, NULL, run, (void *)(intptr_t)thread)) return 1;
    }
    run(0);
}
