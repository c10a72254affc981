/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs in containers of tests: an HTTP/1.1 server of one file, static, on $PORT.
 *
 *     /            its arguments, and K_SERVICE
 *     /env/NAME    a variable of its environment
 *     /read/PATH   a file
 *     /write/PATH  404 where it cannot be written
 *     /status      /proc/self/status
 *     /try         which system calls work that should not, a word each
 *     /memory/MIB  touches so much memory
 *     /forks/N     starts processes that wait, says how many it got
 *     /spin/MS     computes so long, says how long that took
 *     /say/TEXT    prints it, plain and as JSON
 *     /exit/N      ends
 *     /dial/A.B.C.D/PORT   says what connect() says
 *
 * Argument --late MS: listens only then. --die N: ends with N instead. --try: says what /try says,
 * and ends. SIGUSR1 ends it with 7.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char out[65536];

static long number(const char *s)
{
    long n = 0;
    for (; *s >= '0' && *s <= '9'; s++)
        n = n * 10 + (*s - '0');
    return n;
}

static long now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void add(const char *text)
{
    size_t n = strlen(out);
    (void)snprintf(out + n, sizeof out - n, "%s", text);
}

static int slurp(const char *path)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, out, sizeof out - 1);
    if (fd >= 0)
        (void)close(fd);
    out[n < 0 ? 0 : n] = '\0';
    return n < 0 ? 404 : 200;
}

static int spill(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    (void)snprintf(out, sizeof out, "%s", fd < 0 ? strerror(errno) : "written");
    if (fd >= 0)
        (void)close(fd);
    return fd < 0 ? 404 : 200;
}

static void try_what_is_forbidden(void)
{
    out[0] = '\0';
    if (unshare(CLONE_NEWUSER) == 0)
        add("unshare ");
    if (mount("none", "/tmp", "tmpfs", 0, NULL) == 0)
        add("mount ");
    if (socket(40 /* AF_VSOCK */, SOCK_STREAM, 0) >= 0 || errno != EPERM)
        add("vsock ");
    if (syscall(SYS_socket, (1L << 32) + 40, SOCK_STREAM, 0) >= 0 || errno != EPERM)
        add("vsock-64 "); /* the kernel drops the upper half */
    if (syscall(SYS_bpf, 0, NULL, 0) >= 0 || errno == EINVAL || errno == EFAULT)
        add("bpf ");
    if (syscall(SYS_io_uring_setup, 1, NULL) >= 0 || errno == EFAULT)
        add("io_uring ");
    if (sethostname("x", 1) == 0)
        add("sethostname ");
    if (socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0)
        add("rawsocket ");
    if (kill(-1, 0) < 0 && errno == EPERM)
        add("kill ");
}

static void eat(long mib)
{
    volatile char *p = malloc((size_t)mib << 20);
    for (size_t i = 0; p && i < (size_t)mib << 20; i += 4096)
        p[i] = 1;
    (void)snprintf(out, sizeof out, "%s", p ? "eaten" : "refused");
}

static void forks(long n)
{
    long got = 0;
    for (long i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            (void)pause();
            _exit(0);
        }
        got += pid > 0;
    }
    (void)snprintf(out, sizeof out, "%ld", got);
}

/* CPU time, not wall time: what a limit of the CPU stretches. */
static void spin(long ms)
{
    long from = now_ms();
    clock_t until = clock() + ms * (CLOCKS_PER_SEC / 1000);
    while (clock() < until)
        ;
    (void)snprintf(out, sizeof out, "%ld", now_ms() - from);
}

static void dial(char *address)
{
    char *port = strchr(address, '/');
    struct sockaddr_in to = { .sin_family = AF_INET };
    if (port)
        *port++ = '\0';
    (void)inet_pton(AF_INET, address, &to.sin_addr);
    to.sin_port = htons((unsigned short)number(port ? port : "0"));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int r = connect(fd, (struct sockaddr *)&to, sizeof to);
    (void)snprintf(out, sizeof out, "%s", r < 0 ? strerror(errno) : "connected");
    (void)close(fd);
}

static int answer(char *path, int argc, char **argv)
{
    char *rest = strchr(path + 1, '/');
    const char *value;
    rest = rest ? rest + 1 : path + strlen(path);
    if (strncmp(path, "/env/", 5) == 0) {
        value = getenv(rest);
        (void)snprintf(out, sizeof out, "%s", value ? value : "");
        return value ? 200 : 404;
    }
    if (strncmp(path, "/read/", 6) == 0)
        return slurp(rest - 1);
    if (strncmp(path, "/write/", 7) == 0)
        return spill(rest - 1);
    if (strcmp(path, "/status") == 0)
        return slurp("/proc/self/status");
    if (strcmp(path, "/try") == 0)
        try_what_is_forbidden();
    else if (strncmp(path, "/memory/", 8) == 0)
        eat(number(rest));
    else if (strncmp(path, "/forks/", 7) == 0)
        forks(number(rest));
    else if (strncmp(path, "/spin/", 6) == 0)
        spin(number(rest));
    else if (strncmp(path, "/dial/", 6) == 0)
        dial(rest);
    else if (strncmp(path, "/say/", 5) == 0) {
        (void)printf("%s\n", rest);
        (void)printf("{\"level\":\"WARN\",\"msg\":\"told %s\",\"callId\":\"c-9\"}\n", rest);
        (void)fprintf(stderr, "not %s\n", rest);
        (void)snprintf(out, sizeof out, "said");
    } else if (strncmp(path, "/exit/", 6) == 0) {
        (void)fprintf(stderr, "asked to end\n");
        exit((int)number(rest));
    } else {
        value = getenv("K_SERVICE");
        (void)snprintf(out, sizeof out, "%s", value ? value : "");
        for (int i = 1; i < argc; i++) {
            add(" ");
            add(argv[i]);
        }
    }
    return 200;
}

static void serve(int fd, int argc, char **argv)
{
    char head[8192], path[4096], text[256];
    size_t n = 0;
    ssize_t r;
    while (n < sizeof head - 1 && (r = read(fd, head + n, sizeof head - 1 - n)) > 0) {
        n += (size_t)r;
        head[n] = '\0';
        char *end = strstr(head, "\r\n\r\n");
        if (!end)
            continue;
        char *from = strchr(head, ' '), *to = from ? strchr(from + 1, ' ') : NULL;
        if (!to || (size_t)(to - from) > sizeof path)
            return;
        memcpy(path, from + 1, (size_t)(to - from - 1));
        path[to - from - 1] = '\0';
        int status = answer(path, argc, argv);
        int m = snprintf(text, sizeof text, "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n\r\n", status,
                         strlen(out));
        if (write(fd, text, (size_t)m) < 0 || write(fd, out, strlen(out)) < 0)
            return;
        n -= (size_t)(end + 4 - head);
        memmove(head, end + 4, n);
    }
}

static void on_usr1(int s)
{
    (void)s;
    _exit(7);
}

static void on_term(int s)
{
    static const char bye[] = "terminated\n";
    (void)!write(2, bye, sizeof bye - 1);
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *port = getenv("PORT");
    struct sockaddr_in at = { .sin_family = AF_INET };
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    (void)signal(SIGTERM, on_term);
    (void)signal(SIGUSR1, on_usr1);
    (void)signal(SIGCHLD, SIG_IGN);
    if (argc == 2 && strcmp(argv[1], "--try") == 0) {
        try_what_is_forbidden();
        (void)puts(out);
        return 0;
    }
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--late") == 0)
            (void)usleep((useconds_t)number(argv[i + 1]) * 1000);
        if (strcmp(argv[i], "--die") == 0) {
            (void)fprintf(stderr, "no configuration\n");
            return (int)number(argv[i + 1]);
        }
    }
    at.sin_port = htons((unsigned short)number(port ? port : "8080"));
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 128) < 0) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int c = accept(fd, NULL, NULL);
        if (c < 0)
            continue;
        if (fork() == 0) {
            (void)close(fd);
            serve(c, argc, argv);
            _exit(0);
        }
        (void)close(c);
    }
}
