/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small programs in containers of tests, static. Commands, one after the other:
 *
 *     say TEXT     prints it, and a line feed; err TEXT: to standard error
 *     cat          copies standard input to standard output, until its end
 *     fill N       prints N bytes
 *     read PATH    prints a file, or why not
 *     write PATH   says "written", or why not
 *     open PATH    opens it for reading: "open", or why not
 *     mount PATH   mounts a tmpfs there: "mounted", or why not
 *     eat MIB      touches so much memory
 *     spin MS      computes so long
 *     size         the size of the terminal, "no terminal" without one
 *     size-is WxH  waits until that is the size of the terminal, and prints it
 *     exit N, kill N (a signal to itself), wait
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

static char bytes[64 << 10];

static long number(const char *s)
{
    long n = 0;
    for (; *s >= '0' && *s <= '9'; s++)
        n = n * 10 + (*s - '0');
    return n;
}

static void put(const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(1, p, n);
        if (w < 0)
            _exit(9);
        p += w;
        n -= (size_t)w;
    }
}

static void say(const char *text)
{
    put(text, strlen(text));
    put("\n", 1);
}

static void copy(int fd)
{
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        put(bytes, (size_t)n);
    if (n < 0)
        say(strerror(errno));
}

static void read_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        say(strerror(errno));
    else
        copy(fd);
}

static void write_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    say(fd < 0 || write(fd, "x", 1) != 1 ? strerror(errno) : "written");
}

static void say_size(void)
{
    struct winsize w;
    if (ioctl(1, TIOCGWINSZ, &w) < 0)
        (void)snprintf(bytes, sizeof bytes, "no terminal");
    else
        (void)snprintf(bytes, sizeof bytes, "%ux%u", w.ws_col, w.ws_row);
    say(bytes);
}

static void wait_for_size(const char *wanted)
{
    sigset_t set;
    int signal_number;
    struct winsize w;
    char now[32] = "";
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGWINCH);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    while (ioctl(1, TIOCGWINSZ, &w) == 0) {
        (void)snprintf(now, sizeof now, "%ux%u", w.ws_col, w.ws_row);
        if (strcmp(now, wanted) == 0)
            break;
        (void)sigwait(&set, &signal_number);
    }
    say(now);
}

static void eat(long mib)
{
    volatile char *p = malloc((size_t)mib << 20);
    for (size_t i = 0; p && i < (size_t)mib << 20; i += 4096)
        p[i] = 1;
    say(p ? "eaten" : "refused");
}

static void spin(long ms)
{
    clock_t until = clock() + ms * (CLOCKS_PER_SEC / 1000);
    while (clock() < until)
        ;
}

static void fill(long n)
{
    memset(bytes, 'x', sizeof bytes);
    for (; n > 0; n -= (long)sizeof bytes)
        put(bytes, n < (long)sizeof bytes ? (size_t)n : sizeof bytes);
}

static void on_usr1(int signal_number)
{
    _exit(7);
}

/* Those without an argument; false: it has one. */
static int run_plain(const char *word)
{
    if (strcmp(word, "cat") == 0)
        copy(0);
    else if (strcmp(word, "size") == 0)
        say_size();
    else if (strcmp(word, "wait") == 0)
        for (;;)
            (void)pause();
    else
        return 0;
    return 1;
}

static void run(const char *word, const char *arg)
{
    if (strcmp(word, "say") == 0)
        say(arg);
    else if (strcmp(word, "err") == 0)
        (void)dprintf(2, "%s\n", arg);
    else if (strcmp(word, "fill") == 0)
        fill(number(arg));
    else if (strcmp(word, "read") == 0)
        read_file(arg);
    else if (strcmp(word, "write") == 0)
        write_file(arg);
    else if (strcmp(word, "open") == 0)
        say(open(arg, O_RDONLY) < 0 ? strerror(errno) : "open");
    else if (strcmp(word, "mount") == 0)
        say(mount("none", arg, "tmpfs", 0, NULL) < 0 ? strerror(errno) : "mounted");
    else if (strcmp(word, "size-is") == 0)
        wait_for_size(arg);
    else if (strcmp(word, "eat") == 0)
        eat(number(arg));
    else if (strcmp(word, "spin") == 0)
        spin(number(arg));
    else if (strcmp(word, "kill") == 0)
        (void)kill(getpid(), (int)number(arg));
    else if (strcmp(word, "exit") == 0)
        _exit((int)number(arg));
}

int main(int argc, char **argv)
{
    (void)signal(SIGUSR1, on_usr1);
    for (int i = 1; i < argc; i++) {
        if (!run_plain(argv[i]) && i + 1 < argc) {
            run(argv[i], argv[i + 1]);
            i++;
        }
    }
    return 0;
}
