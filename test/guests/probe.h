/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw access to the ABIs for modules that test a host: no SDK in between, no heap, nothing hidden.
 * Compiled with -DG1, -DG2, -DV1 or -DPLUGIN (the start of a scheduler plugin). In V1 a delay is a read that parks its guest, the probe wakes
 * with the payload of an activation, and what the reads left goes into v1_sum.
 *
 * A probe defines probe_start() and probe_wake(). Lines it prints begin with "probe ".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <wasi/api.h>

#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#define EXPORT(name)         __attribute__((export_name(name), used))

#ifdef V1
#define V1_IMPORT(name) IMPORT("dormouse_v1", name)
V1_IMPORT("declare") int32_t v1_declare(const void *p, uint32_t n);
V1_IMPORT("result_size") uint32_t v1_result_size(void);
V1_IMPORT("result_read") uint32_t v1_result_read(void *p, uint32_t n);
V1_IMPORT("fail_message") void v1_fail_message(const void *p, uint32_t n);
V1_IMPORT("log")
void v1_log(uint32_t level, const void *p, uint32_t n, const void *kv, uint32_t kv_n);
V1_IMPORT("api_request")
int64_t v1_api_request(const void *head, uint32_t head_n, const void *body, uint32_t body_n);
V1_IMPORT("cache_get") int64_t v1_cache_get(const void *p, uint32_t n);
V1_IMPORT("cache_list") int64_t v1_cache_list(const void *p, uint32_t n);
V1_IMPORT("config_get") int64_t v1_config_get(const void *p, uint32_t n);
V1_IMPORT("enqueue") void v1_enqueue(const void *p, uint32_t n);
V1_IMPORT("event") void v1_event(const void *p, uint32_t n);
V1_IMPORT("metric")
void v1_metric(uint32_t index, const void *labels, uint32_t n, uint64_t value_bits);
static uint64_t v1_sum;
static bool v1_is_set_up;
static inline uint64_t abi_delay(uint64_t ms)
{
    static unsigned char part[64];
    if (!v1_is_set_up)
        return 0;
    v1_sum += (uint64_t)v1_cache_get("{}", 2);
    for (uint32_t n; (n = v1_result_read(part, sizeof(part)));)
        for (uint32_t i = 0; i < n; i++)
            v1_sum = (v1_sum ^ part[i]) * 1099511628211u;
    return ms;
}
#elif defined(PLUGIN)
static inline uint64_t abi_delay(uint64_t ms)
{
    return ms;
}
#else
IMPORT("delay-abi", "delay") uint64_t abi_delay(uint64_t ms);
#endif
#ifdef G1
IMPORT("http-proxy-abi", "request") uint64_t abi_request(const void *p, uint32_t n);
IMPORT("kube-watch-abi", "watch") uint64_t abi_watch(const void *p, uint32_t n);
#endif
#ifdef G2
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

#ifndef PLUGIN
/*
 * Wake-up payloads go to the end of the memory, which grows when one is larger than the room there;
 * each overwrites the one before.
 */
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
#endif

#if !defined(V1) && !defined(PLUGIN) && !defined(PROBE_OWN_ALLOCATE)
EXPORT("allocate") void *allocate(uint32_t n);
void *allocate(uint32_t n)
{
    return probe_buffer(n);
}
#endif

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
#endif

#ifdef V1
#ifndef V1_OWN_EXPORTS
EXPORT("dormouse_v1_setup") int32_t v1_setup(void);
int32_t v1_setup(void)
{
    static const char declaration[] = "{\"abi\":1,\"controllers\":[]}";
    int32_t r = v1_declare(declaration, sizeof(declaration) - 1);
    probe_start();
    v1_is_set_up = true;
    return r;
}
EXPORT("dormouse_v1_activate") int64_t v1_activate(uint32_t n);
int64_t v1_activate(uint32_t n)
{
    unsigned char *p = probe_buffer(n);
    (void)v1_result_read(p, n);
    (void)abi_delay(1);
    probe_wake(v1_sum, n == 0, n ? p : 0, n);
    return (int64_t)(v1_sum % 1000);
}
#endif
#endif

#ifdef PLUGIN
EXPORT("_start") void _start(void);
void _start(void)
{
    probe_start();
}
EXPORT("filter") int32_t filter(void);
int32_t filter(void)
{
    return 0;
}
#endif

#ifdef G2
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
#if !defined(V1) && !defined(PLUGIN)
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
#endif
