/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw access to ABIs G1 and G2 for modules that test a host: no SDK in between, no heap, nothing
 * hidden. Compiled with -DG1 or -DG2.
 *
 * A probe defines probe_start() and probe_wake(). Lines it prints begin with "probe ".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <wasi/api.h>

#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define EXPORT(name)         __attribute__((export_name(name), used))

IMPORT("delay-abi", "delay") uint64_t abi_delay(uint64_t ms);
#ifdef G1
IMPORT("http-proxy-abi", "request") uint64_t abi_request(const void *p, uint32_t n);
IMPORT("kube-watch-abi", "watch") uint64_t abi_watch(const void *p, uint32_t n);
#else
IMPORT("http-proxy-abi", "request")
uint64_t abi_request3(const void *p, uint32_t n, uint32_t stream);
static inline uint64_t abi_request(const void *p, uint32_t n)
{
    return abi_request3(p, n, 0);
}
#endif

void probe_start(void);
/* One wake-up. end: nothing comes for this id any more. p is NULL for "no value". */
void probe_wake(uint64_t id, bool end, const unsigned char *p, uint32_t n);

/* ---- exports ---- */

/*
 * Wake-up payloads go to the end of the memory, which grows when one is larger than the room there;
 * each overwrites the one before.
 */
EXPORT("allocate") void *allocate(uint32_t n);
extern unsigned char __heap_base;
static unsigned char *probe_buffer(uint32_t n)
{
    static unsigned char *at;
    static uint32_t room;
    if (!at) {
        at = &__heap_base;
        room = (uint32_t)__builtin_wasm_memory_size(0) * 65536 - (uint32_t)(uintptr_t)at;
    }
    if (n > room) {
        uint32_t pages = (n + 65535) / 65536;
        at = (unsigned char *)(__builtin_wasm_memory_grow(0, pages) * 65536);
        room = pages * 65536;
    }
    return at;
}
void *allocate(uint32_t n)
{
    return probe_buffer(n);
}

#ifdef G1
EXPORT("run") void run(void);
void run(void)
{
    probe_start();
}
EXPORT("wakeup_future") void wakeup_future(uint64_t id, const unsigned char *p, uint32_t n);
void wakeup_future(uint64_t id, const unsigned char *p, uint32_t n)
{
    probe_wake(id, true, p, n);
}
EXPORT("wakeup_stream") void wakeup_stream(uint64_t id, const unsigned char *p, uint32_t n);
void wakeup_stream(uint64_t id, const unsigned char *p, uint32_t n)
{
    probe_wake(id, !p, p, n);
}
#else
EXPORT("_start") void _start(void);
void _start(void)
{
    probe_start();
}
EXPORT("wakeup") void wakeup(uint64_t id, uint32_t finished, const unsigned char *p, uint32_t n);
void wakeup(uint64_t id, uint32_t finished, const unsigned char *p, uint32_t n)
{
    probe_wake(id, finished != 0, p, n);
}
#endif

/* ---- output and environment ---- */

static inline uint32_t probe_length(const char *s)
{
    uint32_t n = 0;
    while (s[n])
        n++;
    return n;
}

static inline bool probe_equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static inline void probe_write(const char *s, uint32_t n)
{
    __wasi_ciovec_t v = { (const uint8_t *)s, n };
    __wasi_size_t written;
    (void)__wasi_fd_write(1, &v, 1, &written);
}

static inline void probe_print(const char *s)
{
    probe_write(s, probe_length(s));
}

static inline void probe_number(uint64_t v)
{
    char digits[20];
    uint32_t i = sizeof(digits);
    do
        digits[--i] = (char)('0' + v % 10);
    while (v /= 10);
    probe_write(digits + i, sizeof(digits) - i);
}

/* "probe <what> <value>\n" */
static inline void probe_say(const char *what, uint64_t value)
{
    probe_print("probe ");
    probe_print(what);
    probe_print(" ");
    probe_number(value);
    probe_print("\n");
}

static inline const char *probe_env(const char *name, const char *otherwise)
{
    static char text[4096], *list[64];
    __wasi_size_t count = 0, bytes = 0;
    if (!list[0]) {
        (void)__wasi_environ_sizes_get(&count, &bytes);
        if (count > 63 || bytes > sizeof(text))
            __builtin_trap();
        (void)__wasi_environ_get((uint8_t **)list, (uint8_t *)text);
    }
    uint32_t n = probe_length(name);
    for (char **e = list; *e; e++) {
        uint32_t i = 0;
        while (i < n && (*e)[i] == name[i])
            i++;
        if (i == n && (*e)[n] == '=')
            return *e + n + 1;
    }
    return otherwise;
}

static inline uint64_t probe_env_number(const char *name, uint64_t otherwise)
{
    const char *s = probe_env(name, "");
    uint64_t v = 0;
    if (!*s)
        return otherwise;
    for (; *s >= '0' && *s <= '9'; s++)
        v = v * 10 + (uint64_t)(*s - '0');
    return v;
}

/* ---- requests ---- */

static inline uint32_t probe_put_str(unsigned char *out, const char *s)
{
    uint32_t n = probe_length(s);
    for (uint32_t i = 0; i < 8; i++)
        out[i] = (unsigned char)((uint64_t)n >> (8 * i));
    for (uint32_t i = 0; i < n; i++)
        out[8 + i] = (unsigned char)s[i];
    return 8 + n;
}

/* GET path, no headers, no body. */
static inline uint64_t probe_get(const char *path)
{
    unsigned char out[512];
    if (probe_length(path) > 400)
        __builtin_trap();
    uint32_t n = probe_put_str(out, "GET");
    n += probe_put_str(out + n, path);
    n += probe_put_str(out + n, ""); /* no headers: the count 0 looks like an empty string */
    n += probe_put_str(out + n, "");
    return abi_request(out, n);
}
