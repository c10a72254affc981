/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WASI preview 1 for plugins: arguments, output, clocks, randomness. Nothing reaches a file, the
 * environment or the network; all 46 names link.
 *
 * Deterministic plugins get clocks that advance by a millisecond at each reading, from the
 * beginning of 2022 (realtime) and from zero, and the same random numbers in each instance.
 */
#include "sched/wasm/internal.h"

#include "base/sys.h"
#include "wasm/abi.h"
#include "wasm/wasi_refused.h"

#include <time.h>

enum wasi_errno {
    WASI_SUCCESS = 0,
    WASI_BADF = 8,
    WASI_FAULT = 21,
    WASI_INVAL = 28,
    WASI_NOSYS = 52,
    WASI_NOTSUP = 58,
    WASI_SPIPE = 70
};

enum { FILETYPE_CHARACTER_DEVICE = 2, RIGHT_FD_READ = 1 << 1, RIGHT_FD_WRITE = 1 << 6 };
enum { RANDOM_MAX = 64 << 10, IOVECS_MAX = 1024, POLL_MAX = 1024 };
enum { EVENT_CLOCK = 0, EVENT_FD_WRITE = 2, SUBSCRIPTION_BYTES = 48, EVENT_BYTES = 32 };

#define DETERMINISTIC_EPOCH_MS UINT64_C(1640995200000) /* 2022-01-01T00:00:00Z */

#define WASI(name)                                                                                 \
    static wasm_trap_t *wasi_##name(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,   \
                                    size_t n)
#define U32(i)    ((uint32_t)v[i].i32)
#define RETURN(e) return v[0].i32 = (e), NULL

static void put_le(uint8_t *p, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_le(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static enum wasi_errno put(struct winstance *in, uint32_t at, uint64_t value, unsigned bytes)
{
    uint8_t *p = winstance_range(in, at, bytes);
    if (!p)
        return WASI_FAULT;
    put_le(p, value, bytes);
    return WASI_SUCCESS;
}

/* ---- arguments, no environment ---- */

WASI(args_sizes_get)
{
    struct winstance *in = winstance_of(caller);
    const struct wplugin_config *c = &in->plugin->config;
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->n_args; i++)
        bytes += c->args[i].n + 1;
    enum wasi_errno e = put(in, U32(0), c->n_args, 4);
    RETURN(e ? e : put(in, U32(1), bytes, 4));
}

WASI(args_get)
{
    struct winstance *in = winstance_of(caller);
    const struct wplugin_config *c = &in->plugin->config;
    uint32_t list = U32(0), at = U32(1);
    for (size_t i = 0; i < c->n_args; i++) {
        struct str arg = c->args[i];
        uint8_t *to = winstance_range(in, at, arg.n + 1);
        if (!to || put(in, list, at, 4) || at + (uint64_t)arg.n + 1 > UINT32_MAX)
            RETURN(WASI_FAULT);
        memcpy(to, arg.n ? arg.p : "", arg.n);
        to[arg.n] = 0;
        at += (uint32_t)arg.n + 1;
        list += 4;
    }
    RETURN(WASI_SUCCESS);
}

WASI(environ_sizes_get)
{
    struct winstance *in = winstance_of(caller);
    enum wasi_errno e = put(in, U32(0), 0, 4);
    RETURN(e ? e : put(in, U32(1), 0, 4));
}

WASI(environ_get)
{
    RETURN(WASI_SUCCESS);
}

/* ---- clocks, randomness ---- */

static uint64_t read_clock(struct winstance *in, uint32_t id)
{
    struct timespec ts;
    if (in->plugin->config.deterministic) {
        uint64_t ms = in->clock_ms++ + (id == 0 ? DETERMINISTIC_EPOCH_MS : 0);
        return ms * 1000000 + in->skipped_ns;
    }
    (void)clock_gettime(id == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec +
           (id == 0 ? 0 : in->skipped_ns);
}

WASI(clock_time_get)
{
    struct winstance *in = winstance_of(caller);
    if (U32(0) > 1)
        RETURN(WASI_INVAL);
    RETURN(put(in, U32(2), read_clock(in, U32(0)), 8));
}

WASI(clock_res_get)
{
    struct winstance *in = winstance_of(caller);
    if (U32(0) > 1)
        RETURN(WASI_INVAL);
    RETURN(put(in, U32(1), in->plugin->config.deterministic ? 1000000 : 1, 8));
}

WASI(random_get)
{
    struct winstance *in = winstance_of(caller);
    uint32_t len = U32(1);
    uint8_t *p = winstance_range(in, U32(0), len);
    if (!p)
        RETURN(WASI_FAULT);
    if (len > RANDOM_MAX)
        RETURN(WASI_INVAL);
    if (!in->plugin->config.deterministic)
        sys_random(p, len);
    else
        for (uint32_t i = 0; i < len; i++)
            p[i] = (uint8_t)rng_next(&in->rng);
    RETURN(WASI_SUCCESS);
}

/* ---- output ---- */

/* The count goes to memory last: guests may have it lie over their list. */
WASI(fd_write)
{
    struct winstance *in = winstance_of(caller);
    uint32_t at = U32(1), n_iovecs = U32(2), at_written = U32(3);
    uint64_t written = 0;
    if (U32(0) != 1 && U32(0) != 2)
        RETURN(WASI_BADF);
    if (n_iovecs > IOVECS_MAX)
        RETURN(WASI_INVAL);
    const uint8_t *iovecs = winstance_range(in, at, 8 * (uint64_t)n_iovecs);
    if (!iovecs)
        RETURN(WASI_FAULT);
    for (uint32_t i = 0; i < n_iovecs; i++) {
        uint32_t len = (uint32_t)get_le(iovecs + 8 * i + 4, 4);
        const uint8_t *p = winstance_range(in, (uint32_t)get_le(iovecs + 8 * i, 4), len);
        if (!p)
            RETURN(WASI_FAULT);
        /* The head is kept; a guest that prints more does not notice. */
        (void)buf_add(&in->output, p, MIN((size_t)len, WPLUGIN_OUTPUT_MAX_BYTES - in->output.n));
        written += len;
    }
    RETURN(written > UINT32_MAX ? WASI_INVAL : put(in, at_written, written, 4));
}

/* ---- the three open descriptors ---- */

WASI(fd_read)
{
    if (U32(0) != 0)
        RETURN(WASI_BADF);
    RETURN(put(winstance_of(caller), U32(3), 0, 4)); /* the end */
}

WASI(fd_close)
{
    RETURN(U32(0) <= 2 ? WASI_SUCCESS : WASI_BADF);
}

WASI(fd_fdstat_get)
{
    if (U32(0) > 2)
        RETURN(WASI_BADF);
    uint8_t *p = winstance_range(winstance_of(caller), U32(1), 24);
    if (!p)
        RETURN(WASI_FAULT);
    memset(p, 0, 24);
    p[0] = FILETYPE_CHARACTER_DEVICE;
    put_le(p + 8, U32(0) == 0 ? RIGHT_FD_READ : RIGHT_FD_WRITE, 8);
    RETURN(WASI_SUCCESS);
}

WASI(fd_fdstat_set_flags)
{
    /* Success would send Go's output through poll_oneoff. */
    RETURN(U32(0) <= 2 ? WASI_NOTSUP : WASI_BADF);
}

WASI(fd_filestat_get)
{
    if (U32(0) > 2)
        RETURN(WASI_BADF);
    uint8_t *p = winstance_range(winstance_of(caller), U32(1), 64);
    if (!p)
        RETURN(WASI_FAULT);
    memset(p, 0, 64);
    p[16] = FILETYPE_CHARACTER_DEVICE;
    RETURN(WASI_SUCCESS);
}

WASI(fd_seek)
{
    RETURN(U32(0) <= 2 ? WASI_SPIPE : WASI_BADF);
}

WASI(fd_tell)
{
    RETURN(U32(0) <= 2 ? WASI_SPIPE : WASI_BADF);
}

/* ---- waiting: never ---- */

static void answer(struct winstance *in, const uint8_t *sub, uint8_t *event)
{
    uint16_t e = WASI_SUCCESS;
    memset(event, 0, EVENT_BYTES);
    memcpy(event, sub, 8); /* userdata */
    event[10] = sub[8];
    if (sub[8] != EVENT_CLOCK) {
        e = WASI_BADF;
    } else {
        uint64_t ns = get_le(sub + 24, 8), now = 0;
        bool is_absolute = sub[40] & 1;
        if (is_absolute)
            now = read_clock(in, (uint32_t)get_le(sub + 16, 4));
        ns = ns > now ? ns - now : 0;
        /* The time is over at once, on the guest's clock. */
        if (__builtin_add_overflow(in->skipped_ns, ns, &in->skipped_ns))
            in->skipped_ns = UINT64_MAX / 2;
    }
    put_le(event + 8, e, 2);
}

WASI(poll_oneoff)
{
    struct winstance *in = winstance_of(caller);
    uint32_t n_subs = U32(2);
    if (n_subs == 0 || n_subs > POLL_MAX)
        RETURN(WASI_INVAL);
    const uint8_t *subs = winstance_range(in, U32(0), (uint64_t)SUBSCRIPTION_BYTES * n_subs);
    uint8_t *events = winstance_range(in, U32(1), (uint64_t)EVENT_BYTES * n_subs);
    if (!subs || !events || put(in, U32(3), 0, 4))
        RETURN(WASI_FAULT);
    for (uint32_t i = 0; i < n_subs; i++) {
        uint8_t sub[SUBSCRIPTION_BYTES]; /* the guest may let the two overlap */
        memcpy(sub, subs + (size_t)SUBSCRIPTION_BYTES * i, sizeof sub);
        if (sub[8] > EVENT_FD_WRITE)
            RETURN(WASI_INVAL);
        answer(in, sub, events + (size_t)EVENT_BYTES * i);
    }
    RETURN(put(in, U32(3), n_subs, 4));
}

WASI(sched_yield)
{
    RETURN(WASI_SUCCESS);
}

/* ---- the end ---- */

WASI(proc_exit)
{
    struct winstance *in = winstance_of(caller);
    int32_t code = v[0].i32;
    wasm_trap_t *trap = winstance_fail(in, env, "exit");
    in->has_exited = true;
    in->exit_code = code;
    return trap;
}

WASI(proc_raise)
{
    RETURN(WASI_NOSYS);
}

/* ---- what is not granted ---- */

static wasm_trap_t *bad_descriptor(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,
                                   size_t n)
{
    RETURN(WASI_BADF);
}

const struct import_row wplugin_wasi[] = {
#define ROW(name, sig) { WASI_MODULE, #name, sig, wasi_##name, -1 },
    WASI_IMPORTS(ROW)
#undef ROW
};
const size_t wplugin_n_wasi = ARRAY_LEN(wplugin_wasi);
