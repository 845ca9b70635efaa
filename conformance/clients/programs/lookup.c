/* lookup NAME A|AAAA|both|SRV: what the C library's resolver finds, as one line of JSON:
 * {"found": [...]} or {"error": "EAI_NONAME"}. SRV goes through res_search, which searches in glibc alone. */

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static int fail(const char *error) {
    printf("{\"error\": \"%s\"}\n", error);
    return 0;
}

static const char *gai_name(int code) {
    switch (code) {
    case EAI_NONAME: return "EAI_NONAME";
    case EAI_AGAIN: return "EAI_AGAIN";
    case EAI_FAIL: return "EAI_FAIL";
#ifdef EAI_NODATA
    case EAI_NODATA: return "EAI_NODATA";
#else
    case -5: return "EAI_NODATA"; /* musl 1.2.4 and later; hidden without _GNU_SOURCE */
#endif
    case EAI_SYSTEM: return "EAI_SYSTEM";
    default: return gai_strerror(code);
    }
}

static int family(const char *want) {
    return !strcmp(want, "A") ? AF_INET : !strcmp(want, "AAAA") ? AF_INET6 : AF_UNSPEC;
}

static int addresses(const char *name, const char *want) {
    struct addrinfo hints = {.ai_family = family(want), .ai_socktype = SOCK_STREAM}, *list;
    int code = getaddrinfo(name, NULL, &hints, &list);
    if (code) return fail(gai_name(code));
    printf("{\"found\": [");
    for (struct addrinfo *each = list; each; each = each->ai_next) {
        char text[INET6_ADDRSTRLEN];
        const void *address = each->ai_family == AF_INET
                                  ? (void *)&((struct sockaddr_in *)each->ai_addr)->sin_addr
                                  : (void *)&((struct sockaddr_in6 *)each->ai_addr)->sin6_addr;
        printf("%s\"%s\"", each == list ? "" : ", ", inet_ntop(each->ai_family, address, text, sizeof text));
    }
    printf("]}\n");
    return 0;
}

#ifdef __GLIBC__
static const char *herror_name(void) {
    switch (h_errno) {
    case HOST_NOT_FOUND: return "HOST_NOT_FOUND";
    case NO_DATA: return "NO_DATA";
    case TRY_AGAIN: return "TRY_AGAIN";
    default: return "NO_RECOVERY";
    }
}

static int targets(const char *name) {
    static unsigned char reply[65536];
    int length = res_search(name, C_IN, T_SRV, reply, sizeof reply), printed = 0;
    ns_msg message;
    ns_rr record;
    if (length < 0) return fail(herror_name());
    if (ns_initparse(reply, length, &message)) return fail("unreadable reply");
    printf("{\"found\": [");
    for (int index = 0; index < ns_msg_count(message, ns_s_an); index++) {
        char target[NS_MAXDNAME];
        if (ns_parserr(&message, ns_s_an, index, &record) || ns_rr_type(record) != ns_t_srv) continue;
        if (dn_expand(reply, reply + length, ns_rr_rdata(record) + 6, target, sizeof target) < 0) continue;
        printf("%s\"%s\"", printed++ ? ", " : "", target);
    }
    printf("]}\n");
    return 0;
}
#else
static int targets(const char *name) {
    (void)name;
    return fail("this library does not search for SRV");
}
#endif

int main(int count, char **words) {
    if (count != 3) return 2;
    return strcmp(words[2], "SRV") ? addresses(words[1], words[2]) : targets(words[1]);
}
