/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every function of WASI preview 1 and prints "probe NAME RESULT", for the functions that
 * work with what they gave. The declarations are our own, by core signature, so that all 46 are
 * there. Compiled with -DOLD for wasi_unstable, with -DPLUGIN as a scheduler plugin.
 *
 * At each wake-up: "probe mono_forward 1" as long as the monotonic clock does not go back.
 */
#include "probe.h"

#ifdef OLD
#define WASI "wasi_unstable"
#else
#define WASI "wasi_snapshot_preview1"
#endif
#define W(name, ...) IMPORT(WASI, #name) uint32_t w_##name(__VA_ARGS__);

typedef uint32_t i;
typedef uint64_t I;

W(args_get, i, i)
W(args_sizes_get, i, i)
W(environ_get, i, i)
W(environ_sizes_get, i, i)
W(clock_res_get, i, i)
W(clock_time_get, i, I, i)
W(fd_advise, i, I, I, i) W(fd_allocate, i, I, I) W(fd_close, i) W(fd_datasync, i)
    W(fd_fdstat_get, i, i) W(fd_fdstat_set_flags, i, i) W(fd_fdstat_set_rights, i, I, I)
        W(fd_filestat_get, i, i) W(fd_filestat_set_size, i, I) W(fd_filestat_set_times, i, I, I, i)
            W(fd_pread, i, i, i, I, i) W(fd_prestat_get, i, i) W(fd_prestat_dir_name, i, i, i)
                W(fd_pwrite, i, i, i, I, i) W(fd_read, i, i, i, i) W(fd_readdir, i, i, i, I, i)
                    W(fd_renumber, i, i) W(fd_seek, i, I, i, i) W(fd_sync, i) W(fd_tell, i, i)
                        W(fd_write, i, i, i, i) W(path_create_directory, i, i,
                                                  i) W(path_filestat_get, i, i, i, i, i)
                            W(path_filestat_set_times, i, i, i, i, I, I,
                              i) W(path_link, i, i, i, i, i, i,
                                   i) W(path_open, i, i, i, i, i, I, I, i, i)
                                W(path_readlink, i, i, i, i, i, i) W(path_remove_directory, i, i, i)
                                    W(path_rename, i, i, i, i, i, i) W(path_symlink, i, i, i, i, i)
                                        W(path_unlink_file, i, i, i) W(poll_oneoff, i, i, i, i)
                                            W(proc_raise, i) W(sched_yield, void)
                                                W(random_get, i, i) W(sock_accept, i, i, i)
                                                    W(sock_recv, i, i, i, i, i, i)
                                                        W(sock_send, i, i, i, i, i) W(sock_shutdown,
                                                                                      i, i)
                                                            IMPORT(WASI,
                                                                   "proc_exit") void w_proc_exit(i);

static unsigned char memory[512];
#define AT             ((uint32_t)(uintptr_t)memory)
#define SAY(name, ...) probe_say(#name, w_##name(__VA_ARGS__))

static uint64_t get(uint32_t at, uint32_t n)
{
    uint64_t v = 0;
    for (uint32_t k = 0; k < n; k++)
        v |= (uint64_t)memory[at + k] << (8 * k);
    return v;
}

static void put(uint32_t at, uint32_t n, uint64_t v)
{
    for (uint32_t k = 0; k < n; k++)
        memory[at + k] = (unsigned char)(v >> (8 * k));
}

static void clear(unsigned char with)
{
    for (uint32_t k = 0; k < sizeof memory; k++)
        memory[k] = with;
}

static uint64_t mono(void)
{
    (void)w_clock_time_get(1, 1, AT);
    return get(0, 8);
}

static void not_granted(void)
{
    SAY(fd_advise, 3, 0, 0, 0);
    SAY(fd_allocate, 3, 0, 0);
    SAY(fd_datasync, 3);
    SAY(fd_fdstat_set_rights, 1, 0, 0);
    SAY(fd_filestat_set_size, 1, 0);
    SAY(fd_filestat_set_times, 1, 0, 0, 0);
    SAY(fd_pread, 0, AT, 1, 0, AT);
    SAY(fd_prestat_get, 3, AT);
    SAY(fd_prestat_dir_name, 3, AT, 1);
    SAY(fd_pwrite, 1, AT, 1, 0, AT);
    SAY(fd_readdir, 3, AT, 10, 0, AT);
    SAY(fd_renumber, 1, 2);
    SAY(fd_sync, 1);
    SAY(path_create_directory, 3, AT, 1);
    SAY(path_filestat_get, 3, 0, AT, 1, AT);
    SAY(path_filestat_set_times, 3, 0, AT, 1, 0, 0, 0);
    SAY(path_link, 3, 0, AT, 1, 3, AT, 1);
    SAY(path_open, 3, 0, AT, 1, 0, 0, 0, 0, AT);
    SAY(path_readlink, 3, AT, 1, AT, 1, AT);
    SAY(path_remove_directory, 3, AT, 1);
    SAY(path_rename, 3, AT, 1, 3, AT, 1);
    SAY(path_symlink, AT, 1, 3, AT, 1);
    SAY(path_unlink_file, 3, AT, 1);
    SAY(sock_accept, 3, 0, AT);
    SAY(sock_recv, 3, AT, 1, 0, AT, AT);
    SAY(sock_send, 3, AT, 1, 0, AT);
    SAY(sock_shutdown, 3, 0);
}

static void strings(void)
{
    SAY(args_sizes_get, AT, AT + 4);
    probe_say("args_count", get(0, 4));
    probe_say("args_bytes", get(4, 4));
    SAY(args_get, AT, AT + 64);
    for (uint32_t k = 0; k < 2; k++) {
        probe_print("probe arg ");
        probe_print((const char *)(uintptr_t)get(4 * k, 4));
        probe_print("\n");
    }
    SAY(environ_sizes_get, AT, AT + 4);
    probe_say("environ_count", get(0, 4));
    SAY(environ_get, AT, AT + 64);
#ifdef PLUGIN
    return; /* plugins have no environment */
#endif
    probe_print("probe environ ");
    probe_print((const char *)(uintptr_t)get(0, 4));
    probe_print("\n");
}

static void descriptors(void)
{
    clear(0xff);
    SAY(fd_fdstat_get, 1, AT);
    probe_say("fdstat_type", get(0, 2));
    probe_say("fdstat_rights", get(8, 8));
    SAY(fd_fdstat_get, 0, AT);
    probe_say("fdstat_rights", get(8, 8));
    SAY(fd_fdstat_get, 3, AT);
    SAY(fd_fdstat_set_flags, 0, 4);
    SAY(fd_fdstat_set_flags, 3, 4);
    clear(0xff);
    SAY(fd_filestat_get, 2, AT);
    probe_say("filestat_type", get(16, 1));
    probe_say("filestat_after_56", get(56, 1));
    probe_say("filestat_after_64", get(64, 1));
    SAY(fd_seek, 1, 0, 0, AT);
    SAY(fd_seek, 3, 0, 0, AT);
    SAY(fd_tell, 0, AT);
    put(0, 4, AT + 64);
    put(4, 4, 10);
    SAY(fd_read, 0, AT, 1, AT + 8);
    probe_say("read", get(8, 4));
    SAY(fd_read, 1, AT, 1, AT + 8);
    SAY(fd_write, 0, AT, 1, AT + 8);
    SAY(fd_write, 3, AT, 1, AT + 8);
    SAY(fd_write, 1, AT, 0, AT + 8);
    SAY(fd_close, 2);
    SAY(fd_close, 3);
}

#ifdef OLD
enum { SIZE = 56, CLOCK = 24, TIMEOUT = 32, FLAGS = 48 };
#else
enum { SIZE = 48, CLOCK = 16, TIMEOUT = 24, FLAGS = 40 };
#endif

static void subscribe(uint32_t at, uint64_t userdata, uint32_t tag, uint32_t clock,
                      uint64_t timeout, uint32_t flags)
{
    put(at, 8, userdata);
    put(at + 8, 1, tag);
    put(at + CLOCK, 4, clock);
    put(at + TIMEOUT, 8, timeout);
    put(at + FLAGS, 2, flags);
}

static void waiting(void)
{
    SAY(poll_oneoff, AT, AT + 256, 0, AT + 500);
    /* Two clocks and a descriptor: the descriptor is there at once. */
    subscribe(0, 11, 0, 1, 5000000000, 0);
    subscribe(SIZE, 12, 0, 1, 6000000000, 0);
    subscribe(2 * SIZE, 13, 1, 0, 0, 0);
    SAY(poll_oneoff, AT, AT + 256, 3, AT + 500);
    probe_say("events", get(500, 4));
    probe_say("event_user", get(256, 8));
    probe_say("event_errno", get(264, 2));
    probe_say("event_type", get(266, 1));
    /* The clocks alone: nobody waits, and the clock has moved. */
    uint64_t before = mono();
    clear(0);
    subscribe(0, 11, 0, 1, 5000000000, 0);
    subscribe(SIZE, 12, 0, 1, 6000000000, 0);
    SAY(poll_oneoff, AT, AT + 256, 2, AT + 500);
    probe_say("events", get(500, 4));
    probe_say("event_user", get(256, 8));
    uint64_t slept = mono() - before;
    probe_say("slept", slept >= 5000000000 && slept < 5900000000);
    /* A deadline that has passed, an unknown clock, an unknown kind. */
    clear(0);
    before = mono();
    subscribe(0, 14, 0, 1, before - 1, 1);
    SAY(poll_oneoff, AT, AT + 256, 1, AT + 500);
    probe_say("slept", mono() - before >= 5000000000);
    clear(0);
    subscribe(0, 15, 0, 9, 0, 0);
    SAY(poll_oneoff, AT, AT + 256, 1, AT + 500);
    probe_say("event_errno", get(264, 2));
    subscribe(0, 15, 7, 0, 0, 0);
    SAY(poll_oneoff, AT, AT + 256, 1, AT + 500);
}

static uint64_t last;

static void check_forward(void)
{
    uint64_t now = mono();
    probe_say("mono_forward", now >= last);
    last = now;
}

void probe_start(void)
{
    not_granted();
    strings();
    descriptors();
    SAY(clock_res_get, 1, AT);
    SAY(clock_res_get, 2, AT);
    SAY(clock_time_get, 0, 1, AT);
    probe_say("wall_year", 1970 + get(0, 8) / 31556952000000000u >= 2024);
    SAY(clock_time_get, 2, 1, AT);
    SAY(sched_yield);
    SAY(proc_raise, 6);
    clear(0);
    SAY(random_get, AT, 64);
    uint64_t any = 0;
    for (uint32_t k = 0; k < 64; k += 8)
        any |= get(k, 8);
    probe_say("random", any != 0);
    waiting();
    check_forward();
#ifdef PLUGIN
    w_proc_exit(1); /* a start that fails has its output in the error */
#else
    (void)abi_delay(1);
    w_proc_exit(0);
#endif
}

void probe_wake(uint64_t id, bool end, const unsigned char *p, uint32_t n)
{
    check_forward();
    (void)abi_delay(1);
}
