/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest of ABI v1 that does what its activations say: words, separated by spaces.
 *
 *   get:X list:X config:X   cache_get and so on with the query X
 *   api:X                   api_request with the head X and the body "body"
 *   log:X event:X enqueue:X metric:X print:X    post or print X
 *   posts:N logs:N big:N    N events, N log lines, one event of N bytes
 *   result                  read what the last call left, and add it to the message
 *   value                   add the last call's value to the message
 *   fail:X                  add X to the message
 *   spin:N spin             burn N rounds, or for ever
 *   wild:CALL               CALL with a range that is not there
 *   range:CALL/KIND         CALL with a range of this kind, see ranges[]
 *   recursion               call itself without end, and the host on each level
 *   million                 each call that is answered at once, a million times
 *   calls polls             log, or wait for a clock, for ever
 *   newlines                print all of its memory, full of line ends, 1,024 times at once
 *   regrow:X                cache_get, then grow and read the result to the new end
 *   declare trap exit       do that
 *   touch:N                 write to N pages
 *   hog                     take all the memory there is, and write to all of it
 *   return:N                at the end; default 0
 *
 * The message goes to fail_message() at the end. SETUP in the environment: none, twice, refuse (go
 * on although the declaration was refused), spin (for ever), early (an API request before the first
 * activation), fail, code, exit, wildmetric, or one of the words above; otherwise it declares and
 * follows what comes back. INIT: a word for _initialize.
 */
#define V1_OWN_EXPORTS
#include "probe.h"

#define BEYOND ((const char *)0xfffffff0u)

static char message[4096];
static uint32_t message_n;
static int64_t value;
static volatile uint32_t sink;
static volatile char pages[512][4096];

static void add(const char *p, uint32_t n)
{
    for (uint32_t i = 0; i < n && message_n < sizeof(message); i++)
        message[message_n++] = p[i];
}

static void add_number(int64_t v)
{
    char digits[21];
    uint32_t i = sizeof(digits);
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        digits[--i] = (char)('0' + left % 10);
    while (left /= 10);
    if (v < 0)
        digits[--i] = '-';
    add(digits + i, (uint32_t)sizeof(digits) - i);
}

static void add_result(void)
{
    char part[7]; /* in several reads */
    for (uint32_t n; (n = v1_result_read(part, sizeof(part)));)
        add(part, n);
}

static int64_t number(const char *p, uint32_t n)
{
    bool negative = n && *p == '-';
    int64_t v = 0;
    for (uint32_t i = negative; i < n; i++)
        v = v * 10 + (p[i] - '0');
    return negative ? -v : v;
}

static void spin(int64_t rounds)
{
    for (int64_t i = 0; rounds < 0 || i < rounds; i++)
        sink++;
}

static void hog(void)
{
    while (__builtin_wasm_memory_grow(0, 16) != (__SIZE_TYPE__)-1)
        ;
    uint32_t end = (uint32_t)__builtin_wasm_memory_size(0) << 16;
    for (uint32_t at = 1 << 22; at < end; at += 4096)
        (*(volatile uint32_t *)(uintptr_t)at)++;
}

static bool is(const char *word, uint32_t n, const char *name)
{
    uint32_t i = 0;
    while (i < n && name[i] && word[i] == name[i])
        i++;
    return i == n && !name[i];
}

static void wild(const char *name, uint32_t n)
{
    if (is(name, n, "get"))
        value = v1_cache_get(BEYOND, 17);
    else if (is(name, n, "api_head"))
        value = v1_api_request(BEYOND, 17, "", 0);
    else if (is(name, n, "api_body"))
        value = v1_api_request("GET /", 5, (const char *)0x10000000, 1);
    else if (is(name, n, "read"))
        value = v1_result_read((void *)(uintptr_t)0xfffffff0u, 0xffffffffu);
    else if (is(name, n, "message"))
        v1_fail_message(BEYOND, 100);
    else if (is(name, n, "log"))
        v1_log(1, BEYOND, 100, "", 0);
    else if (is(name, n, "kv"))
        v1_log(1, "x", 1, BEYOND, 100);
    else if (is(name, n, "level"))
        v1_log(4, "x", 1, "", 0);
    else if (is(name, n, "event"))
        v1_event(BEYOND, 100);
    else if (is(name, n, "metric"))
        v1_metric(0, BEYOND, 100, 0);
    else if (is(name, n, "empty")) /* may point anywhere */
        value = v1_cache_get(BEYOND, 0);
    else if (is(name, n, "large_head"))
        value = v1_api_request((const char *)0, (16 << 10) + 1, "", 0);
    else if (is(name, n, "large_query"))
        value = v1_config_get((const char *)0, (16 << 10) + 1);
}

#define MEMORY_END ((uint32_t)(__builtin_wasm_memory_size(0) << 16))

/* Set by take_range(): end is the first byte behind the memory. */
static const char *range_p;
static uint32_t range_n;

static bool take_range(const char *kind, uint32_t n)
{
    const uint32_t end = MEMORY_END;
    const struct {
        const char *name;
        uint32_t at, n;
    } ranges[] = {
        { "last", end - 1, 1 },
        { "over", end - 1, 2 },
        { "behind", end, 1 },
        { "wrap", 0xffffffffu, 2 },
        { "round", 0x80000000u, 1u << 31 },
        { "all", 0, 0xffffffffu },
        { "minus", 1, 0xffffffffu },
    };
    for (uint32_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        if (!is(kind, n, ranges[i].name))
            continue;
        range_p = (const char *)(uintptr_t)ranges[i].at;
        range_n = ranges[i].n;
        return true;
    }
    return false;
}

/* "CALL/KIND" */
static void lie(const char *name, uint32_t n)
{
    uint32_t slash = 0;
    while (slash < n && name[slash] != '/')
        slash++;
    if (slash == n || !take_range(name + slash + 1, n - slash - 1))
        __builtin_trap();
    if (is(name, slash, "declare"))
        value = v1_declare(range_p, range_n);
    else if (is(name, slash, "get"))
        value = v1_cache_get(range_p, range_n);
    else if (is(name, slash, "list"))
        value = v1_cache_list(range_p, range_n);
    else if (is(name, slash, "config"))
        value = v1_config_get(range_p, range_n);
    else if (is(name, slash, "head"))
        value = v1_api_request(range_p, range_n, "", 0);
    else if (is(name, slash, "body"))
        value = v1_api_request("GET /", 5, range_p, range_n);
    else if (is(name, slash, "read"))
        value = v1_result_read((void *)(uintptr_t)range_p, range_n);
    else if (is(name, slash, "message"))
        v1_fail_message(range_p, range_n);
    else if (is(name, slash, "log"))
        v1_log(1, range_p, range_n, "", 0);
    else if (is(name, slash, "pairs"))
        v1_log(1, "x", 1, range_p, range_n);
    else if (is(name, slash, "event"))
        v1_event(range_p, range_n);
    else if (is(name, slash, "enqueue"))
        v1_enqueue(range_p, range_n);
    else if (is(name, slash, "metric"))
        v1_metric(0, range_p, range_n, 0);
    else
        __builtin_trap();
}

/* Without a frame in linear memory, so that the engine's own stack ends first. */
__attribute__((noinline)) static int recurse(int depth)
{
    if (depth < 0)
        return 0;
    v1_fail_message("deep", 4);
    v1_log(1, "deep", 4, "", 0);
    sink += v1_result_size();
    int deeper = recurse(depth + 1);
    sink = (uint32_t)deeper;
    return 3 * deeper + depth;
}

static void call_a_million_times(void)
{
    char c;
    for (uint32_t i = 0; i < 1000000; i++) {
        sink += v1_result_size() + v1_result_read(&c, 0);
        v1_fail_message("", 0);
        v1_log(i % 4, "x", 1, "", 0);
        (void)__wasi_sched_yield();
    }
}

static void poll_clock(void)
{
    const __wasi_subscription_t sub = { .u.tag = __WASI_EVENTTYPE_CLOCK };
    __wasi_event_t event;
    __wasi_size_t count;
    (void)__wasi_poll_oneoff(&sub, &event, 1, &count);
}

static void print_newlines(void)
{
    static __wasi_ciovec_t v[1024];
    __wasi_size_t written;
    const uint32_t at = MEMORY_END;
    while (__builtin_wasm_memory_grow(0, 1) != (__SIZE_TYPE__)-1)
        ;
    __builtin_memset((void *)(uintptr_t)at, '\n', MEMORY_END - at);
    for (uint32_t i = 0; i < 1024; i++)
        v[i] = (__wasi_ciovec_t){ (const uint8_t *)(uintptr_t)at, MEMORY_END - at };
    value = __wasi_fd_write(1, v, 1024, &written);
}

static void read_behind_growth(const char *query, uint32_t n)
{
    value = v1_cache_get(query, n);
    if (__builtin_wasm_memory_grow(0, 1) == (__SIZE_TYPE__)-1)
        __builtin_trap();
    uint32_t count = v1_result_size();
    char *p = (char *)(uintptr_t)(MEMORY_END - count);
    add(p, v1_result_read(p, count));
}

static int64_t act(const char *name, uint32_t n, const char *arg, uint32_t arg_n)
{
    if (is(name, n, "get"))
        value = v1_cache_get(arg, arg_n);
    else if (is(name, n, "list"))
        value = v1_cache_list(arg, arg_n);
    else if (is(name, n, "config"))
        value = v1_config_get(arg, arg_n);
    else if (is(name, n, "api"))
        value = v1_api_request(arg, arg_n, "body", 4);
    else if (is(name, n, "log"))
        v1_log(1, arg, arg_n, "{\"k\":1}", 7);
    else if (is(name, n, "debug"))
        v1_log(0, arg, arg_n, "", 0);
    else if (is(name, n, "event"))
        v1_event(arg, arg_n);
    else if (is(name, n, "enqueue"))
        v1_enqueue(arg, arg_n);
    else if (is(name, n, "metric"))
        v1_metric(3, arg, arg_n, 0x4004000000000000u); /* 2.5 */
    else if (is(name, n, "print"))
        probe_write(arg, arg_n), probe_write("\n", 1);
    else if (is(name, n, "posts"))
        for (int64_t i = number(arg, arg_n); i > 0; i--)
            v1_event("{}", 2);
    else if (is(name, n, "logs"))
        for (int64_t i = number(arg, arg_n); i > 0; i--)
            v1_log(2, "line", 4, "", 0);
    else if (is(name, n, "big"))
        v1_event((const char *)pages, (uint32_t)number(arg, arg_n));
    else if (is(name, n, "result"))
        add_result();
    else if (is(name, n, "size"))
        add_number((int64_t)v1_result_size());
    else if (is(name, n, "value"))
        add_number(value);
    else if (is(name, n, "fail"))
        add(arg, arg_n);
    else if (is(name, n, "spin"))
        spin(arg_n ? number(arg, arg_n) : -1);
    else if (is(name, n, "wild"))
        wild(arg, arg_n);
    else if (is(name, n, "range"))
        lie(arg, arg_n);
    else if (is(name, n, "recursion"))
        sink = (uint32_t)recurse(0);
    else if (is(name, n, "million"))
        call_a_million_times();
    else if (is(name, n, "calls"))
        for (;;)
            v1_log(1, "x", 1, "", 0);
    else if (is(name, n, "polls"))
        for (;;)
            poll_clock();
    else if (is(name, n, "newlines"))
        print_newlines();
    else if (is(name, n, "regrow"))
        read_behind_growth(arg, arg_n);
    else if (is(name, n, "declare"))
        value = v1_declare("{}", 2);
    else if (is(name, n, "trap"))
        __builtin_trap();
    else if (is(name, n, "exit"))
        __wasi_proc_exit(3);
    else if (is(name, n, "touch"))
        for (int64_t i = number(arg, arg_n); i > 0; i--)
            pages[i % 512][i % 4096]++;
    else if (is(name, n, "hog"))
        hog();
    else if (is(name, n, "return"))
        return number(arg, arg_n);
    return 0;
}

static int64_t act_word(const char *p, uint32_t n)
{
    uint32_t colon = 0;
    while (colon < n && p[colon] != ':')
        colon++;
    uint32_t arg = colon < n ? colon + 1 : n;
    return act(p, colon, p + arg, n - arg);
}

EXPORT("_initialize") void initialize(void);
void initialize(void)
{
    const char *how = probe_env("INIT", "");
    (void)act_word(how, probe_length(how));
}

EXPORT("dormouse_v1_activate") int64_t v1_activate(uint32_t n);
int64_t v1_activate(uint32_t n)
{
    const char *p = (const char *)probe_buffer(n);
    if (v1_result_size() != n || v1_result_read((void *)(uintptr_t)p, n) != n)
        return -1000;
    int64_t result = 0;
    message_n = 0;
    for (uint32_t i = 0, start = 0; i <= n; i++) {
        if (i < n && p[i] != ' ')
            continue;
        result += act_word(p + start, i - start);
        start = i + 1;
    }
    v1_fail_message(message, message_n);
    return result;
}

EXPORT("dormouse_v1_setup") int32_t v1_setup(void);
int32_t v1_setup(void)
{
    static const char declaration[] = "{\"abi\":1}";
    const char *how = probe_env("SETUP", "");
    if (probe_equal(how, "none"))
        return 0;
    if (probe_equal(how, "early"))
        (void)v1_api_request("GET /", 5, "", 0);
    else if (probe_equal(how, "wildmetric"))
        v1_metric(0, "", 0, 0);
    else if (probe_equal(how, "exit"))
        __wasi_proc_exit(4);
    else if (!probe_equal(how, "fail"))
        (void)act_word(how, probe_length(how));
    v1_log(1, "setting up", 10, "", 0);
    int32_t r = v1_declare(declaration, sizeof(declaration) - 1);
    if (probe_equal(how, "twice"))
        r = v1_declare(declaration, sizeof(declaration) - 1);
    if (probe_equal(how, "refuse"))
        return 0;
    if (probe_equal(how, "code"))
        return 77;
    if (r != 0 || probe_equal(how, "fail")) {
        message_n = 0;
        add("declared: ", 10);
        add_result();
        v1_fail_message(message, message_n);
        return 1;
    }
    return 0;
}
