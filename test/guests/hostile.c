/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything a guest can do to its host, one at a time.
 *
 * Environment: MODE says what, AT says when: "start" (default) or "wake" (in the first wake-up, of
 * a timer of 1 ms). In every mode the host and all other guests go on as if nothing had happened;
 * what the host does with this guest stands in the table, "fails" meaning: a clear status that
 * names the reason, and a restart with back-off.
 *
 *   MODE       what it does                                        expected of the host
 *   loop       never returns                                       ended by the time limit, fails
 *   memory     grows its memory until that is refused, then for    the limit holds; memory.grow
 * gives -1; ever asks again                                     ended by the time limit, fails grow
 * grows until refused, touches it all, prints         the limit holds; the guest lives on "probe
 * pages N", returns recursion  calls itself without end                            stack overflow
 * trap, fails trap       unreachable                                         fails exit
 * proc_exit(EXIT_CODE, default 0)                     0 in _start or run: the instance lives on and
 * its operations complete; otherwise fails garbage    requests with bytes that are no HttpRequest
 * trap of this guest, fails; never a panic wild       one call (FN=name below) with pointers beyond
 * the call traps (fails) or returns an error: its memory then "probe survived N" is printed busy
 * wakes itself for ever with timers of 0 ms           rate is the host's affair; no starvation
 *   flood      prints BYTES bytes (default 16 MiB) in long lines   output is limited and says so;
 * guest lives partial    prints BYTES bytes without any newline              the same; the buffer
 * is bounded timers     starts COUNT timers (default 100000) of one hour    a named limit per
 * guest; fails beyond it requests   starts COUNT requests at once (default 100000)      a named
 * limit per guest; fails beyond it ids        prints the ids of three operations 1, 2, 3: 0 is the
 * timer that every mode starts first
 *   newlines   prints all of its memory 1024 times in one call     the call is short; lives on
 *   allocate   its allocate() lies as FN says (see there)          fails, or lives on
 */
#define PROBE_OWN_ALLOCATE
#include "probe.h"

static const char *const beyond = (const char *)0xfffffff0u; /* 16 bytes below 4 GiB */

static void grow_until_refused(void)
{
    while (__builtin_wasm_memory_grow(0, 16) != (size_t)-1)
        continue;
}

static void touch_everything(void)
{
    uintptr_t end = __builtin_wasm_memory_size(0) * 65536;
    for (uintptr_t at = (uintptr_t)&__heap_base; at < end; at += 4096)
        *(volatile unsigned char *)at = 1;
}

static volatile int sink;

/* Without a frame in linear memory, so that the engine's own stack ends first. */
__attribute__((noinline)) static int recurse(int depth)
{
    if (depth < 0)
        return 0;
    int deeper = recurse(depth + 1);
    sink = deeper;
    return 3 * deeper + depth;
}

static void spin(void)
{
    for (;;)
        sink++;
}

static void send_garbage(void)
{
    unsigned char bytes[64];
    for (uint32_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = 0xff; /* a length of 2^64 - 1 */
    (void)abi_request(bytes, sizeof(bytes));
    probe_say("survived", 0);
}

static uint64_t call_wild(const char *fn)
{
    uint8_t *out = (uint8_t *)(uintptr_t)beyond;
    __wasi_ciovec_t v = { (const uint8_t *)beyond, 0x7fffffff };
    __wasi_size_t n;
    if (probe_equal(fn, "request"))
        return abi_request(beyond, 64);
    if (probe_equal(fn, "request_length"))
        return abi_request(&n, 0xffffffff);
#ifdef G1
    if (probe_equal(fn, "watch"))
        return abi_watch(beyond, 64);
    if (probe_equal(fn, "watch_length"))
        return abi_watch(&n, 0xffffffff);
#endif
    if (probe_equal(fn, "fd_write_buffer"))
        return __wasi_fd_write(1, &v, 1, &n);
    if (probe_equal(fn, "fd_write_vector"))
        return __wasi_fd_write(1, (const __wasi_ciovec_t *)(const void *)beyond, 16, &n);
    if (probe_equal(fn, "fd_write_count"))
        return __wasi_fd_write(1, &v, 0xffffffff, &n);
    if (probe_equal(fn, "fd_write_result"))
        return __wasi_fd_write(1, &(__wasi_ciovec_t){ (const uint8_t *)"x", 1 }, 1,
                               (__wasi_size_t *)(void *)(out + 14));
    if (probe_equal(fn, "clock_time_get"))
        return __wasi_clock_time_get(__WASI_CLOCKID_MONOTONIC, 1,
                                     (__wasi_timestamp_t *)(void *)(out + 12));
    if (probe_equal(fn, "random_get"))
        return __wasi_random_get(out, 64);
    if (probe_equal(fn, "random_get_length"))
        return __wasi_random_get((uint8_t *)&n, 0xfffffff0);
    if (probe_equal(fn, "environ_get"))
        return __wasi_environ_get((uint8_t **)(void *)out, out);
    if (probe_equal(fn, "environ_sizes_get"))
        return __wasi_environ_sizes_get((__wasi_size_t *)(void *)(out + 14), &n);
    if (probe_equal(fn, "args_get"))
        return __wasi_args_get((uint8_t **)(void *)out, out);
    if (probe_equal(fn, "poll_oneoff"))
        return __wasi_poll_oneoff((const __wasi_subscription_t *)(const void *)beyond,
                                  (__wasi_event_t *)(void *)out, 1000, &n);
    if (probe_equal(fn, "fd_prestat_dir_name"))
        return __wasi_fd_prestat_dir_name(3, out, 64);
    if (probe_equal(fn, "path_open"))
        return __wasi_path_open(3, 0, beyond, 0, 0, 0, 0, (__wasi_fd_t *)(void *)(out + 14));
    __builtin_trap(); /* the test asked for a function that is not here */
}

/* MODE allocate: FN says how it lies to the host, which asks it for room. */
EXPORT("allocate") void *allocate(uint32_t n);
void *allocate(uint32_t n)
{
    const char *how = probe_env("FN", "");
    uint32_t end = (uint32_t)__builtin_wasm_memory_size(0) * 65536;
    if (!probe_equal(probe_env("MODE", ""), "allocate"))
        return probe_buffer(n);
    if (probe_equal(how, "null"))
        return (void *)0;
    if (probe_equal(how, "beyond"))
        return (void *)(uintptr_t)beyond;
    if (probe_equal(how, "end"))
        return (void *)(uintptr_t)end;
    if (probe_equal(how, "over"))
        return (void *)(uintptr_t)(end - n + 1);
    if (probe_equal(how, "last"))
        return (void *)(uintptr_t)(end - n);
    if (probe_equal(how, "same")) /* on top of its own environment */
        return (void *)(uintptr_t)how;
    if (probe_equal(how, "grow")) {
        grow_until_refused();
        return (void *)(uintptr_t)(__builtin_wasm_memory_size(0) * 65536 - n);
    }
    if (probe_equal(how, "loop"))
        spin();
    else if (probe_equal(how, "recursion"))
        sink = recurse(0);
    else if (probe_equal(how, "exit"))
        __wasi_proc_exit(0);
    else if (probe_equal(how, "requests"))
        for (;;)
            (void)abi_delay(3600000);
    __builtin_trap();
}

static void print_newlines(void)
{
    static __wasi_ciovec_t v[1024];
    __wasi_size_t written;
    uintptr_t at = __builtin_wasm_memory_size(0) * 65536;
    grow_until_refused();
    uintptr_t end = __builtin_wasm_memory_size(0) * 65536;
    for (uintptr_t p = at; p < end; p++)
        *(volatile char *)p = '\n';
    for (uint32_t i = 0; i < 1024; i++)
        v[i] = (__wasi_ciovec_t){ (const uint8_t *)at, end - at };
    probe_say("newlines", __wasi_fd_write(1, v, 1024, &written));
}

static void flood(uint64_t bytes, bool newlines)
{
    static char line[4096];
    for (uint32_t i = 0; i < sizeof(line); i++)
        line[i] = (char)('a' + i % 26);
    if (newlines)
        line[sizeof(line) - 1] = '\n';
    for (uint64_t done = 0; done < bytes; done += sizeof(line))
        probe_write(line, sizeof(line));
    probe_print("\nprobe printed 1\n");
}

static void act(void)
{
    const char *mode = probe_env("MODE", "");
    if (probe_equal(mode, "loop")) {
        spin();
    } else if (probe_equal(mode, "memory")) {
        for (;;)
            grow_until_refused();
    } else if (probe_equal(mode, "grow")) {
        grow_until_refused();
        touch_everything();
        probe_say("pages", __builtin_wasm_memory_size(0));
    } else if (probe_equal(mode, "recursion")) {
        sink = recurse(0);
    } else if (probe_equal(mode, "trap")) {
        __builtin_trap();
    } else if (probe_equal(mode, "exit")) {
        __wasi_proc_exit((__wasi_exitcode_t)probe_env_number("EXIT_CODE", 0));
    } else if (probe_equal(mode, "garbage")) {
        send_garbage();
    } else if (probe_equal(mode, "wild")) {
        probe_say("survived", call_wild(probe_env("FN", "")));
    } else if (probe_equal(mode, "busy")) {
        (void)abi_delay(0);
    } else if (probe_equal(mode, "flood") || probe_equal(mode, "partial")) {
        flood(probe_env_number("BYTES", 16 << 20), probe_equal(mode, "flood"));
    } else if (probe_equal(mode, "newlines")) {
        print_newlines();
    } else if (probe_equal(mode, "allocate")) {
        return;
    } else if (probe_equal(mode, "timers")) {
        for (uint64_t i = 0; i < probe_env_number("COUNT", 100000); i++)
            (void)abi_delay(3600000);
        probe_say("started", 1);
    } else if (probe_equal(mode, "requests")) {
        for (uint64_t i = 0; i < probe_env_number("COUNT", 100000); i++)
            (void)probe_get("/version");
        probe_say("started", 1);
    } else if (probe_equal(mode, "ids")) {
        probe_say("id", abi_delay(1));
        probe_say("id", probe_get("/version"));
        probe_say("id", abi_delay(1));
    } else {
        probe_print("probe unknown MODE\n");
        __builtin_trap();
    }
}

static uint64_t first_timer;
static bool acted;

void probe_start(void)
{
    bool later = probe_equal(probe_env("AT", "start"), "wake");
    /* Started first in any case: after proc_exit(0) in _start this one must still come. */
    first_timer = abi_delay(1);
    if (!later) {
        acted = true;
        act();
    }
}

void probe_wake(uint64_t id, bool end, const unsigned char *p, uint32_t n)
{
    if (id == first_timer)
        probe_say("woken", id);
    if (acted && probe_equal(probe_env("FN", ""), "again")) /* MODE grow */
        touch_everything();
    if (!acted || probe_equal(probe_env("MODE", ""), "busy")) {
        acted = true;
        act();
    }
}
