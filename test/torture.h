/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture: a whole scenario is run again and again, each time with another of its fallible calls
 * failing, until each of them has failed in each way that fits it.
 *
 * The linker catches the calls (`--wrap`, the list in meson.build): system calls of libc, mem_try()
 * and arena_try(). So the code under test is the production code, which pays nothing, and a call
 * that libuv or SQLite makes, or that somebody forgot to route through base/sys, is caught like any
 * other. sys_fail_nth() stays the tool for one call of one kind in a unit test.
 *
 * A scenario is a function that sets up, calls torture_on(), does its work, calls torture_off() and
 * checks what must hold. It runs in a child process for each failure; a child that aborts, leaks
 * memory (address sanitizer) or a descriptor, or does not end, fails the test, which prints the
 * number, the call, its error and where it was made. TORTURE_CALL and TORTURE_WAY then run that
 * failure alone, in this process, for a debugger.
 *
 * Ways: an error once; the same error for all calls that it fits, until torture_off() or for 1,000
 * calls (a disk that stays full); and disturbances, which a program must not notice: EINTR, and a
 * read or write that moves less than was asked for.
 */
#pragma once

#include <stdbool.h>

/*
 * Run the scenario without a failure to count its calls, then with failures. By default some 120 of
 * them, evenly spread; with TORTURE=all in the environment, all. Prints how many. Aborts the test
 * when one fails. The process must have one thread.
 */
void torture_run(const char *name, void (*scenario)(void));

/* Between these two, calls are counted and may fail, in all threads and in children before exec. */
void torture_on(void);
void torture_off(void);
/*
 * What this thread calls until torture_own(false) belongs to the test: it neither counts nor fails.
 * For callbacks that check or keep what they get.
 */
void torture_own(bool is_own);
/* A call has failed or was disturbed in this run. Stays true after torture_off(). */
bool torture_struck(void);
/* A call has failed with an error. Without one, everything must succeed. */
bool torture_failed(void);
/* The error of a call, as a positive errno value; 0: none has failed. */
int torture_error(void);
