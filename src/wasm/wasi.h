/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WASI preview 1 for guests of every ABI: arguments, environment, clocks, randomness, output and,
 * if granted, input. All 46 functions link; one that is not granted fails with the errno that
 * toolchains expect. No function reaches a file or the network.
 *
 * The table struct wasi_grants says what a guest is granted: operators, functions and scheduler
 * plugins each have one. wasi.c is compiled by each program against the engine build that it links.
 * All functions run on the thread that runs the guest.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "wasm/engine_host.h"

#include <string.h>

enum wasi_errno {
    WASI_SUCCESS = 0,
    WASI_BADF = 8,
    WASI_FAULT = 21,
    WASI_FBIG = 22,
    WASI_INVAL = 28,
    WASI_IO = 29,
    WASI_NOSYS = 52,
    WASI_NOTSUP = 58,
    WASI_PIPE = 64,
    WASI_SPIPE = 70
};

enum { WASI_CLOCK_REALTIME, WASI_CLOCK_MONOTONIC, WASI_CLOCK_COUNT };

/* Limits of one call. */
enum {
    WASI_RANDOM_MAX_BYTES = 64 << 10,
    WASI_IOVECS_MAX = 1024,
    WASI_POLL_MAX = 1024 /* subscriptions */
};

struct wasi_ctx;

/* The comments say what NULL means for each function: a default, or that it is not granted. */
struct wasi_grants {
    /* End the guest. Returns the trap for the host function to return. row: of the host
     * function. */
    wasm_trap_t *(*fail)(struct wasi_ctx *c, const struct engine_func *row, const char *text);
    /* A pointer outside the guest's memory ends the guest; else the call returns WASI_FAULT. */
    bool pointers_trap;
    /* Nanoseconds by a clock of WASI_CLOCK_*. NULL: the machine's; the monotonic one is ahead by
     * clock_offset_ns. */
    uint64_t (*clock)(struct wasi_ctx *c, uint32_t id);
    uint64_t clock_resolution_ns;
    /* NULL: the kernel's. */
    void (*random)(struct wasi_ctx *c, uint8_t *to, uint32_t n);
    /*
     * Standard output (fd 1) and error (2). before: bytes that this call has accepted already.
     * Returns the bytes accepted, or a negative wasi_errno; *trap: set when the guest must return
     * at once.
     */
    int64_t (*write)(struct wasi_ctx *c, uint32_t fd, struct str bytes, uint64_t before,
                     wasm_trap_t **trap);
    /*
     * Read up to n bytes of standard input; 0: the end, or none is available and may_wait is false.
     * Errors as for write. NULL: the input is empty. If set, input and output are streams that are
     * always ready, else character devices.
     */
    int64_t (*read)(struct wasi_ctx *c, char *to, uint32_t n, bool may_wait, wasm_trap_t **trap);
};

struct wasi_strings {
    uint32_t n;
    struct str bytes; /* each with its NUL */
};

/*
 * One instance. The data of its store must point to a struct that begins with this one. The owner
 * sets grants, cx, memory, args and env before the guest runs, and may change grants between calls
 * into it.
 */
struct wasi_ctx {
    const struct wasi_grants *grants; /* kept */
    wasmtime_context_t *cx;
    wasmtime_memory_t memory;
    struct wasi_strings args, env; /* kept */
    uint64_t clock_offset_ns;      /* advanced by poll_oneoff instead of waiting */
    bool has_exited;               /* by proc_exit, which ends the call */
    int32_t exit_code;
};

/* [at, at + n) of the guest's memory, or NULL if it is not completely inside. Valid until the guest
 * runs. */
static inline void *wasi_range(const struct wasi_ctx *c, uint32_t at, uint64_t n)
{
    uint64_t size = wasmtime_memory_data_size(c->cx, &c->memory);
    if (n > size || at > size - n)
        return NULL;
    return wasmtime_memory_data(c->cx, &c->memory) + at;
}

/*
 * The arguments v[i] and v[i + 1] of a host function: pointer and length of bytes of the guest's
 * memory, valid until the guest runs. An empty range may be anywhere. false: not in its memory.
 */
static inline bool wasi_bytes(const struct wasi_ctx *c, const wasmtime_val_raw_t *v, unsigned i,
                              struct str *ret)
{
    uint32_t n = ENGINE_U32(i + 1);
    const char *p = n ? wasi_range(c, ENGINE_U32(i), n) : "";
    if (p)
        *ret = str_n(p, n);
    return p != NULL;
}

/* Copy as much as fits to a range from wasi_bytes(). Returns how much. */
static inline size_t wasi_copy_out(struct str to, struct str from)
{
    size_t n = MIN(to.n, from.n);
    if (n)
        memcpy((char *)to.p, from.p, n); /* the guest's memory, writable here */
    return n;
}

/* All 46, of wasi_snapshot_preview1. */
extern const struct engine_func wasi_functions[];
extern const size_t wasi_n_functions;
/* Define them in a linker. is_old: for wasi_unstable, the previous version. Errors: E_INVALID. */
int wasi_define(wasmtime_linker_t *linker, bool is_old, struct err *err);
