/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the containers of the benchmark run, static and small:
 *
 *   program idle             waits for SIGTERM without ever waking up
 *   program true             ends at once
 *   program print N          prints N lines as fast as it can (0: until it is ended) and writes to
 *                            /dev/termination-log how many microseconds that took
 */
#include "base/str.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void on_term(int signal)
{
    (void)signal;
    _exit(0);
}

static double now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int print_lines(uint64_t n)
{
    double began = now_us();
    for (uint64_t i = 0; n == 0 || i < n; i++)
        printf("line %012llu of a program that prints as fast as it can, and does nothing else\n",
               (unsigned long long)i);
    if (fflush(stdout) != 0)
        return 1;
    double us = now_us() - began;
    FILE *f = fopen("/dev/termination-log", "w");
    if (!f)
        return 1;
    fprintf(f, "%.0f", us);
    return fclose(f) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "idle";
    struct sigaction term = { .sa_handler = on_term };
    (void)sigaction(SIGTERM, &term, NULL);
    if (strcmp(mode, "true") == 0)
        return 0;
    uint64_t n = 0;
    if (strcmp(mode, "print") == 0 && argc > 2 &&
        parse_u64(str_of(argv[2]), 0, 1000000000, &n) >= 0)
        return print_lines(n);
    for (;;)
        pause();
}
