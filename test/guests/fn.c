/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function that does what the path of its request says, without an SDK in between. Built as a
 * reactor (-DREACTOR, with INIT also initialised), or as a command (-DCOMMAND).
 *
 *     /hello /count /echo /head /big/N /drip/N /none /log /json /secret/NAME
 *     /poke/N /peek    a mark in N pages, of the stack and of other memory; how many there are
 *     /env             the environment: NAME=VALUE and a line's end, each
 *     /grow /late      a mark in memory that has grown; in a global and behind a function pointer
 *     /slow            answers in two parts, with some 20 ms of work between
 *     /trap /wild /deep /spin /hog /greedy /exit/N /return/N   end badly
 *     reactor: /gush/N  N bytes of an answer, flushed after every 16 KiB
 *     reactor: /badhead /badname /twice /early /trailers /flush /length/N
 *     reactor: /t.T/Echo    of gRPC: every message comes back, as it comes
 *     command: /raw/TEXT   prints TEXT and nothing else ('+': a line's end)
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <wasi/api.h>

#define EXPORT(name)         __attribute__((export_name(name), used))
#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

#define MARK "the mark of another request"

static char head[8192];
static uint32_t head_n;
static char path[1024];
static char piece[16384];
static uint32_t count;
static uint64_t late_global = 7;
static char big[1 << 20];

static uint32_t put_number(char *to, int64_t v)
{
    char digits[21];
    uint32_t i = sizeof digits, n = 0;
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        digits[--i] = (char)('0' + left % 10);
    while (left /= 10);
    if (v < 0)
        to[n++] = '-';
    memcpy(to + n, digits + i, sizeof digits - i);
    return n + (uint32_t)sizeof digits - i;
}

static int64_t number(const char *p)
{
    int64_t v = 0;
    while (*p >= '0' && *p <= '9')
        v = v * 10 + (*p++ - '0');
    return v;
}

static bool is(const char *name)
{
    return strcmp(path, name) == 0;
}

static const char *after(const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(path, prefix, n) == 0 ? path + n : NULL;
}

#ifdef REACTOR
#define FN(name) IMPORT("dormouse_http_v1", name)
FN("request_head") int32_t fn_request_head(void *p, uint32_t n);
FN("body_read") int32_t fn_body_read(void *p, uint32_t n);
FN("respond") int32_t fn_respond(int32_t status, const void *p, uint32_t n);
FN("body_write") int32_t fn_body_write(const void *p, uint32_t n);
FN("flush") int32_t fn_flush(void);
FN("trailers") int32_t fn_trailers(const void *p, uint32_t n);
FN("secret_get") int32_t fn_secret_get(const void *name, uint32_t name_n, void *p, uint32_t n);
FN("log") void fn_log(uint32_t level, const void *p, uint32_t n);

static int32_t begin(int32_t status)
{
    static const char fields[] = "content-type: text/plain\nx-one: 1\n";
    return fn_respond(status, fields, sizeof fields - 1);
}
static int32_t put(const void *p, uint32_t n)
{
    return fn_body_write(p, n);
}
static int32_t get(void *p, uint32_t n)
{
    return fn_body_read(p, n);
}
#else
static int32_t put(const void *p, uint32_t n)
{
    __wasi_ciovec_t v = { p, n };
    __wasi_size_t written;
    return -(int32_t)__wasi_fd_write(1, &v, 1, &written);
}
static int32_t get(void *p, uint32_t n)
{
    __wasi_iovec_t v = { p, n };
    __wasi_size_t got;
    __wasi_errno_t e = __wasi_fd_read(0, &v, 1, &got);
    return e ? -(int32_t)e : (int32_t)got;
}
static int32_t begin(int32_t status)
{
    static char line[] = "Status: 000 Well\r\nContent-Type: text/plain\r\nX-One: 1\r\n\r\n";
    for (int32_t i = 10; i >= 8; i--, status /= 10)
        line[i] = (char)('0' + status % 10);
    return put(line, sizeof line - 1);
}
#endif

static int32_t say(const char *text)
{
    int32_t r = begin(200);
    return r < 0 ? r : put(text, (uint32_t)strlen(text));
}

static void say_number(int64_t v)
{
    char text[24];
    uint32_t n = put_number(text, v);
    (void)begin(200);
    (void)put(text, n);
}

static void echo(void)
{
    int32_t n;
    (void)begin(200);
    while ((n = get(piece, sizeof piece)) > 0)
        if (put(piece, (uint32_t)n) < 0)
            return;
}

static void poke(int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        char *at = i < 3 ? (char *)(uintptr_t)(4096 * (i + 1)) : big + i * 7919 % 255 * 4096;
        memcpy(at, MARK, sizeof MARK);
    }
    say_number(n);
}

/* Its own constant is one. */
static void peek(void)
{
    static char mark[sizeof MARK];
    int64_t found = 0;
    uint64_t bytes = (uint64_t)__builtin_wasm_memory_size(0) << 16;
    for (uint32_t i = 0; i < sizeof MARK; i++) /* not to be found where it is put together */
        mark[i] = (char)(MARK[i] ^ 1);
    for (uint64_t at = 8; at + sizeof mark < bytes; at++) {
        const char *p = (const char *)(uintptr_t)at;
        uint32_t i = 0;
        while (i < sizeof mark - 1 && p[i] == (char)(mark[i] ^ 1))
            i++;
        found += i == sizeof mark - 1;
    }
    say_number(found);
}

static int32_t deep(int32_t n)
{
    volatile char frame[512];
    frame[n % 512] = (char)n;
    return n < 0 ? 0 : deep(n + 1) + frame[(n + 1) % 512];
}

static void hog(void)
{
    for (;;) {
        size_t at = __builtin_wasm_memory_grow(0, 16);
        if (at == (size_t)-1)
            __builtin_trap();
        memset((char *)(at << 16), 1, 16 << 16);
    }
}

/* More at once than there is. */
static void greedy(void)
{
    if (__builtin_wasm_memory_grow(0, 1000) == (size_t)-1)
        __builtin_trap();
}

static void say_env(void)
{
    static uint8_t *list[256];
    __wasi_size_t n_env, bytes;
    if (__wasi_environ_sizes_get(&n_env, &bytes) || n_env > 256 || bytes > sizeof piece ||
        __wasi_environ_get(list, (uint8_t *)piece))
        __builtin_trap();
    for (uint32_t i = 0; i < bytes; i++)
        if (!piece[i])
            piece[i] = '\n';
    (void)begin(200);
    (void)put(piece, bytes);
}

static volatile uint32_t sink;

static int32_t handle(void)
{
    const char *rest;
    if (is("/hello")) {
        (void)say("hello");
    } else if (is("/count")) {
        say_number(++count);
    } else if (is("/late")) {
        say_number((int64_t)late_global++);
    } else if (is("/echo")) {
        echo();
    } else if (is("/head")) {
        (void)begin(200);
        (void)put(head, head_n);
    } else if ((rest = after("/big/"))) {
        (void)begin(200);
        memset(big, 'x', sizeof big);
        for (int64_t left = number(rest); left > 0;) {
            uint32_t n = left > (int64_t)sizeof big ? (uint32_t)sizeof big : (uint32_t)left;
            if (put(big, n) < 0)
                return 0;
            left -= n;
        }
    } else if ((rest = after("/drip/"))) {
        (void)begin(200);
        for (int64_t n = number(rest); n > 0; n--)
            (void)put("x", 1);
    } else if (is("/none")) {
        return 0;
    } else if (is("/json")) {
        static const char line[] = "{\"level\":\"warning\",\"msg\":\"structured\",\"n\":1}\n";
        __wasi_ciovec_t v = { (const uint8_t *)line, sizeof line - 1 };
        __wasi_size_t written;
        (void)__wasi_fd_write(2, &v, 1, &written);
        (void)say("logged");
    } else if ((rest = after("/poke/"))) {
        poke(number(rest));
    } else if (is("/env")) {
        say_env();
    } else if (is("/peek")) {
        peek();
    } else if (is("/grow")) {
        size_t at = __builtin_wasm_memory_grow(0, 1);
        memcpy((char *)(at << 16), MARK, sizeof MARK);
        say_number((int64_t)at);
    } else if (is("/trap")) {
        poke(50);
        __builtin_trap();
    } else if (is("/wild")) {
        (void)put((const void *)0xfffffff0u, 64);
    } else if (is("/deep")) {
        sink = (uint32_t)deep(0);
    } else if (is("/slow")) {
        (void)say("before ");
        for (uint32_t i = 0; i < 15000000; i++)
            sink++;
        (void)put("after", 5);
    } else if (is("/spin")) {
        for (;;)
            sink++;
    } else if (is("/hog")) {
        hog();
    } else if (is("/greedy")) {
        greedy();
    } else if ((rest = after("/exit/"))) {
        __wasi_proc_exit((uint32_t)number(rest));
    } else if ((rest = after("/return/"))) {
        return (int32_t)number(rest);
#ifdef REACTOR
    } else if (is("/log")) {
        fn_log(2, "watch out", 9);
        (void)say("logged");
    } else if ((rest = after("/secret/"))) {
        int32_t n = fn_secret_get(rest, (uint32_t)strlen(rest), piece, sizeof piece);
        if (n < 0) {
            say_number(n);
        } else {
            (void)begin(200);
            (void)put(piece, (uint32_t)n);
        }
    } else if (is("/badhead")) {
        int32_t a = fn_respond(200, "no colon\n", 9), b = fn_respond(200, "a: 1", 4),
                c = fn_respond(99, "", 0);
        say_number(a * 100 + b * 10 + c);
    } else if (is("/badname")) {
        (void)fn_respond(200, "a b: 1\n", 7);
    } else if (is("/twice")) {
        (void)begin(200);
        char text[24];
        (void)put(text, put_number(text, begin(200)));
    } else if (is("/early")) {
        say_number(fn_body_write("x", 1));
    } else if (is("/trailers")) {
        (void)say("body");
        (void)fn_trailers("x-sum: 4\n", 9);
        if (fn_body_write("x", 1) != -1 || fn_trailers("", 0) != -1)
            return 1;
    } else if (is("/t.T/Echo")) {
        static const char fields[] = "content-type: application/grpc\n",
                          status[] = "grpc-status: 0\n";
        (void)fn_respond(200, fields, sizeof fields - 1);
        for (int32_t n; (n = get(piece, sizeof piece)) > 0;)
            if (put(piece, (uint32_t)n) < 0 || fn_flush() < 0)
                return 0;
        (void)fn_trailers(status, sizeof status - 1);
    } else if (is("/flush")) {
        (void)say("first");
        (void)fn_flush();
        (void)get(piece, sizeof piece);
        (void)put("second", 6);
    } else if ((rest = after("/gush/"))) {
        (void)begin(200);
        for (int64_t left = number(rest); left > 0; left -= (int64_t)sizeof piece)
            if (put(piece, sizeof piece) < 0 || fn_flush() < 0)
                return 0;
    } else if ((rest = after("/length/"))) {
        char fields[64] = "content-length: ";
        uint32_t n = 16 + put_number(fields + 16, number(rest));
        fields[n++] = '\n';
        (void)fn_respond(200, fields, n);
        (void)fn_body_write("12345", 5);
#else
    } else if (is("/log")) {
        __wasi_ciovec_t v = { (const uint8_t *)"watch out\n", 10 };
        __wasi_size_t written;
        (void)__wasi_fd_write(2, &v, 1, &written);
        (void)say("logged");
    } else if ((rest = after("/raw/"))) {
        for (; *rest; rest++)
            (void)put(*rest == '+' ? "\n" : rest, 1);
#endif
    } else {
        (void)begin(404);
    }
    return 0;
}

/* Into head[], and the path out of it. */
static void find_path(const char *name)
{
    size_t n = strlen(name);
    for (uint32_t i = 0; i + n < head_n; i++) {
        if (memcmp(head + i, name, n) != 0)
            continue;
        uint32_t k = 0;
        for (i += (uint32_t)n; i < head_n && head[i] != '\n' && head[i] && k < sizeof path - 1; i++)
            path[k++] = head[i];
        path[k] = '\0';
        return;
    }
}

#ifdef REACTOR
EXPORT("dormouse_http_v1_handle") int32_t fn_handle(void)
{
    head_n = (uint32_t)fn_request_head(head, sizeof head);
    find_path(":target: ");
    return handle();
}
#ifdef INIT
/* Much is written, so that it is mapped and not copied. */
EXPORT("dormouse_http_v1_init") int32_t fn_init(void)
{
    count = 1000;
    late_global = 8;
    for (uint32_t at = 0; at < 64 * 4096; at += 4096)
        big[at] = (char)(1 + at / 4096);
    size_t at = __builtin_wasm_memory_grow(0, 1);
    memcpy((char *)(at << 16), "grown", 5);
    if (fn_respond(200, "", 0) != -1 || fn_request_head(head, 1) != -1)
        return 1;
    fn_log(1, "initialised", 11);
    return 0;
}
#endif
#else
EXPORT("_start") void start(void)
{
    __wasi_size_t n_env, bytes;
    static uint8_t *list[256];
    if (__wasi_environ_sizes_get(&n_env, &bytes) || n_env > 256 || bytes > sizeof head ||
        __wasi_environ_get(list, (uint8_t *)head))
        __builtin_trap();
    head_n = bytes;
    find_path("REQUEST_URI=");
    for (uint32_t i = 0; i < head_n; i++)
        if (!head[i])
            head[i] = '\n';
    int32_t r = handle();
    if (r)
        __wasi_proc_exit((uint32_t)r);
}
#endif
