/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preloaded library that shifts the wall clock of the tests: SHIFTED_CLOCK_S seconds are added to
 * whatever a program reads, and the number in the file SHIFTED_CLOCK_FILE (8 bytes, this machine's
 * order), which a test changes while the program runs: a jump. The monotonic clock and the times of
 * files stay as they are. A program that does not ask libc for the time, as those in Go do not,
 * sees the clock of the machine.
 *
 * libfaketime is not used: its version of Debian 12 makes clock_nanosleep() fail once the monotonic
 * clock is left alone.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static time_t shift_s;
static const volatile int64_t *jump_s; /* NULL: none */

static const volatile int64_t *map_jump(const char *path)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *jump_s, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        (void)close(fd);
    return p == MAP_FAILED ? NULL : p;
}

/* Before any thread or sandbox: afterwards looking a symbol up may no longer be possible. */
__attribute__((constructor)) static void find(void)
{
    const char *shift = getenv("SHIFTED_CLOCK_S");
    shift_s = shift ? (time_t)strtod(shift, NULL) : 0;
    jump_s = map_jump(getenv("SHIFTED_CLOCK_FILE"));
    real_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

static bool is_wall(clockid_t id)
{
    return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI;
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
    if (!real_clock_gettime)
        find(); /* another library's constructor came first */
    int r = real_clock_gettime(id, ret);
    if (r == 0 && is_wall(id))
        ret->tv_sec += shift_s + (jump_s ? *jump_s : 0);
    return r;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret = (struct timeval){ .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
    return 0;
}

time_t time(time_t *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *ret, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, ret) == 0 ? base : 0;
}
