/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WASI preview 1; see wasi.h.
 *
 * wasi_unstable, the previous version, has other layouts in fd_filestat_get and poll_oneoff. This
 * file has both, because G1 modules may import it.
 */
#include "wasm/wasi.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "wasm/abi.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    FILETYPE_CHARACTER_DEVICE = 2,
    FILETYPE_STREAM = 6,
    RIGHT_FD_READ = 1 << 1,
    RIGHT_FD_WRITE = 1 << 6,
    EVENT_CLOCK = 0,
    EVENT_FD_WRITE = 2,
    EVENT_BYTES = 32,
    SUBSCRIPTION_ABSTIME = 1
};

#define WASI(name) ENGINE_FUNC(wasi_##name)
#define U32(i)     ENGINE_U32(i)
#define RETURN(e)  return v[0].i32 = (e), NULL

static struct wasi_ctx *ctx_of(wasmtime_caller_t *caller)
{
    return wasmtime_context_get_data(wasmtime_caller_context(caller));
}

/* The result of a call with a pointer outside the guest's memory. */
static wasm_trap_t *fault(struct wasi_ctx *c, const void *env, wasmtime_val_raw_t *v)
{
    const struct engine_func *row = env;
    char text[64];
    if (!c->grants->pointers_trap)
        RETURN(WASI_FAULT);
    (void)snprintf(text, sizeof text, "%s: pointer outside of its memory", row->name);
    return c->grants->fail(c, row, text);
}

static bool put(struct wasi_ctx *c, uint32_t at, uint64_t value, unsigned bytes)
{
    uint8_t *p = wasi_range(c, at, bytes);
    if (p)
        engine_put_le(p, value, bytes);
    return p != NULL;
}

/* ---- arguments and environment ---- */

static wasm_trap_t *sizes_get(struct wasi_ctx *c, const void *env, const struct wasi_strings *s,
                              wasmtime_val_raw_t *v)
{
    if (!put(c, U32(0), s->n, 4) || !put(c, U32(1), s->bytes.n, 4))
        return fault(c, env, v);
    RETURN(WASI_SUCCESS);
}

static wasm_trap_t *strings_get(struct wasi_ctx *c, const void *env, const struct wasi_strings *s,
                                wasmtime_val_raw_t *v)
{
    uint32_t bytes_at = U32(1), n_left = s->n;
    uint8_t *list = wasi_range(c, U32(0), 4 * (uint64_t)s->n);
    uint8_t *bytes = wasi_range(c, bytes_at, s->bytes.n);
    if (!list || !bytes)
        return fault(c, env, v);
    for (size_t i = 0, start = 0; i < s->bytes.n && n_left; i++) {
        if (s->bytes.p[i])
            continue;
        engine_put_le(list, bytes_at + start, 4);
        list += 4;
        start = i + 1;
        n_left--;
    }
    assert(n_left == 0); /* n strings, each with its NUL */
    if (s->bytes.n)
        memcpy(bytes, s->bytes.p, s->bytes.n);
    RETURN(WASI_SUCCESS);
}

WASI(args_sizes_get)
{
    struct wasi_ctx *c = ctx_of(caller);
    return sizes_get(c, env, &c->args, v);
}

WASI(args_get)
{
    struct wasi_ctx *c = ctx_of(caller);
    return strings_get(c, env, &c->args, v);
}

WASI(environ_sizes_get)
{
    struct wasi_ctx *c = ctx_of(caller);
    return sizes_get(c, env, &c->env, v);
}

WASI(environ_get)
{
    struct wasi_ctx *c = ctx_of(caller);
    return strings_get(c, env, &c->env, v);
}

/* ---- clocks, randomness ---- */

/* The monotonic clock never goes back, not even across sleep and restart. */
static uint64_t read_clock(struct wasi_ctx *c, uint32_t id)
{
    struct timespec ts;
    if (c->grants->clock)
        return c->grants->clock(c, id);
    (void)clock_gettime(id == WASI_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, &ts);
    uint64_t ns =
        (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec + clock_skipped_ms() * 1000000;
    return id == WASI_CLOCK_REALTIME ? ns : ns + c->clock_offset_ns;
}

WASI(clock_time_get)
{
    struct wasi_ctx *c = ctx_of(caller);
    uint32_t id = U32(0);
    if (id >= WASI_CLOCK_COUNT)
        RETURN(WASI_INVAL);
    if (!put(c, U32(2), read_clock(c, id), 8))
        return fault(c, env, v);
    RETURN(WASI_SUCCESS);
}

WASI(clock_res_get)
{
    struct wasi_ctx *c = ctx_of(caller);
    if (U32(0) >= WASI_CLOCK_COUNT)
        RETURN(WASI_INVAL);
    if (!put(c, U32(1), c->grants->clock_resolution_ns, 8))
        return fault(c, env, v);
    RETURN(WASI_SUCCESS);
}

WASI(random_get)
{
    struct wasi_ctx *c = ctx_of(caller);
    uint32_t len = U32(1);
    void *p = wasi_range(c, U32(0), len);
    if (!p)
        return fault(c, env, v);
    if (len > WASI_RANDOM_MAX_BYTES)
        RETURN(WASI_INVAL);
    if (c->grants->random)
        c->grants->random(c, p, len);
    else
        sys_random(p, len);
    RETURN(WASI_SUCCESS);
}

/* ---- the three open descriptors ---- */

/* The count is written last, because it may overlap the guest's list. */
WASI(fd_write)
{
    struct wasi_ctx *c = ctx_of(caller);
    uint32_t fd = U32(0), n_iovecs = U32(2), at_written = U32(3);
    if (fd != 1 && fd != 2)
        RETURN(WASI_BADF);
    if (n_iovecs > WASI_IOVECS_MAX)
        RETURN(WASI_INVAL);
    const uint8_t *iovecs = wasi_range(c, U32(1), 8 * (uint64_t)n_iovecs);
    if (!iovecs)
        return fault(c, env, v);
    uint64_t written = 0;
    wasm_trap_t *trap = NULL;
    for (uint32_t i = 0; i < n_iovecs; i++) {
        uint32_t at = (uint32_t)engine_get_le(iovecs + 8 * i, 4);
        uint32_t len = (uint32_t)engine_get_le(iovecs + 8 * i + 4, 4);
        const char *p = wasi_range(c, at, len);
        if (!p)
            return fault(c, env, v);
        int64_t taken = c->grants->write(c, fd, str_n(p, len), written, &trap);
        if (trap)
            return trap;
        if (taken < 0)
            RETURN((int32_t)-taken);
        assert(taken <= len);
        written += (uint64_t)taken;
        if (taken < len)
            break;
    }
    if (written > UINT32_MAX)
        RETURN(WASI_INVAL);
    if (!put(c, at_written, written, 4))
        return fault(c, env, v);
    RETURN(WASI_SUCCESS);
}

WASI(fd_read)
{
    struct wasi_ctx *c = ctx_of(caller);
    uint32_t n_iovecs = U32(2), at_count = U32(3);
    uint64_t total = 0;
    if (U32(0) != 0)
        RETURN(WASI_BADF);
    if (n_iovecs > WASI_IOVECS_MAX)
        RETURN(WASI_INVAL);
    const uint8_t *iovecs = wasi_range(c, U32(1), 8 * (uint64_t)n_iovecs);
    if (!iovecs)
        return fault(c, env, v);
    wasm_trap_t *trap = NULL;
    for (uint32_t i = 0; i < n_iovecs && c->grants->read; i++) {
        uint32_t len = (uint32_t)engine_get_le(iovecs + 8 * i + 4, 4);
        char *p = wasi_range(c, (uint32_t)engine_get_le(iovecs + 8 * i, 4), len);
        if (!p)
            return fault(c, env, v);
        int64_t got = c->grants->read(c, p, len, total == 0, &trap);
        if (trap)
            return trap;
        if (got < 0)
            RETURN((int32_t)-got);
        assert(got <= len);
        total += (uint64_t)got;
        if (got < len)
            break;
    }
    if (total > UINT32_MAX)
        RETURN(WASI_INVAL);
    if (!put(c, at_count, total, 4)) /* 0: the end */
        return fault(c, env, v);
    RETURN(WASI_SUCCESS);
}

static bool is_stream(const struct wasi_ctx *c, uint64_t fd)
{
    return c->grants->read && fd < 2;
}

/* Streams are not reported as character devices, because a library would write to a terminal line
 * by line. */
static uint8_t filetype(const struct wasi_ctx *c, uint32_t fd)
{
    return is_stream(c, fd) ? FILETYPE_STREAM : FILETYPE_CHARACTER_DEVICE;
}

WASI(fd_close)
{
    RETURN(U32(0) <= 2 ? WASI_SUCCESS : WASI_BADF);
}

WASI(fd_fdstat_get)
{
    struct wasi_ctx *c = ctx_of(caller);
    uint32_t fd = U32(0);
    if (fd > 2)
        RETURN(WASI_BADF);
    uint8_t *p = wasi_range(c, U32(1), 24);
    if (!p)
        return fault(c, env, v);
    memset(p, 0, 24);
    p[0] = filetype(c, fd);
    /* No right to seek: wasi-libc then buffers by lines. */
    engine_put_le(p + 8, fd == 0 ? RIGHT_FD_READ : RIGHT_FD_WRITE, 8);
    RETURN(WASI_SUCCESS);
}

WASI(fd_fdstat_set_flags)
{
    /* Go tries to make 0 to 2 non-blocking and ignores the failure; on success it would use
     * poll_oneoff for its output. */
    RETURN(U32(0) <= 2 ? WASI_NOTSUP : WASI_BADF);
}

static wasm_trap_t *filestat(struct wasi_ctx *c, const void *env, wasmtime_val_raw_t *v,
                             uint64_t size)
{
    if (U32(0) > 2)
        RETURN(WASI_BADF);
    uint8_t *p = wasi_range(c, U32(1), size);
    if (!p)
        return fault(c, env, v);
    memset(p, 0, size);
    p[16] = filetype(c, U32(0));
    RETURN(WASI_SUCCESS);
}

WASI(fd_filestat_get)
{
    return filestat(ctx_of(caller), env, v, 64);
}

WASI(fd_filestat_get_old)
{
    return filestat(ctx_of(caller), env, v, 56);
}

WASI(fd_seek)
{
    RETURN(U32(0) <= 2 ? WASI_SPIPE : WASI_BADF);
}

WASI(fd_tell)
{
    RETURN(U32(0) <= 2 ? WASI_SPIPE : WASI_BADF);
}

/* ---- waiting ---- */

struct poll_layout {
    unsigned size, clock, timeout, flags;
};
static const struct poll_layout poll_new = { 48, 16, 24, 40 };
static const struct poll_layout poll_old = { 56, 24, 32, 48 };
enum { SUBSCRIPTION_MAX_BYTES = 56 };

/* Time until a subscription is due; 0 also for an invalid one and for a descriptor. */
static uint64_t wait_ns(struct wasi_ctx *c, const struct poll_layout *l, const uint8_t *sub)
{
    uint32_t id = (uint32_t)engine_get_le(sub + l->clock, 4);
    uint64_t timeout = engine_get_le(sub + l->timeout, 8);
    if (sub[8] != EVENT_CLOCK || id >= WASI_CLOCK_COUNT)
        return 0;
    if (!(engine_get_le(sub + l->flags, 2) & SUBSCRIPTION_ABSTIME))
        return timeout;
    uint64_t now = read_clock(c, id);
    return timeout > now ? timeout - now : 0;
}

/* The errno of its event; `clock` is also the offset of the descriptor. */
static enum wasi_errno event_errno(const struct wasi_ctx *c, const struct poll_layout *l,
                                   const uint8_t *sub)
{
    uint64_t number = engine_get_le(sub + l->clock, 4);
    if (sub[8] == EVENT_CLOCK)
        return number < WASI_CLOCK_COUNT ? WASI_SUCCESS : WASI_INVAL;
    return is_stream(c, number) ? WASI_SUCCESS : WASI_BADF;
}

/*
 * No event from outside can end a wait here, so waiting would only block other guests: the guest's
 * monotonic clock jumps to the earliest deadline instead. The limit on CPU time ends a guest that
 * waits in a loop.
 */
static wasm_trap_t *poll(struct wasi_ctx *c, const void *env, wasmtime_val_raw_t *v,
                         const struct poll_layout *l)
{
    uint32_t n_subs = U32(2), at_count = U32(3), n_events = 0;
    uint64_t wait[WASI_POLL_MAX], earliest = UINT64_MAX;
    if (n_subs == 0 || n_subs > WASI_POLL_MAX)
        RETURN(WASI_INVAL);
    const uint8_t *subs = wasi_range(c, U32(0), (uint64_t)l->size * n_subs);
    uint8_t *events = wasi_range(c, U32(1), (uint64_t)EVENT_BYTES * n_subs);
    if (!subs || !events || !wasi_range(c, at_count, 4))
        return fault(c, env, v);
    for (uint32_t i = 0; i < n_subs; i++) {
        wait[i] = wait_ns(c, l, subs + (size_t)l->size * i);
        earliest = MIN(earliest, wait[i]);
    }
    for (uint32_t i = 0; i < n_subs; i++) {
        uint8_t sub[SUBSCRIPTION_MAX_BYTES], *event = events + (size_t)EVENT_BYTES * n_events;
        memcpy(sub, subs + (size_t)l->size * i, l->size); /* the two may overlap */
        if (sub[8] > EVENT_FD_WRITE)
            RETURN(WASI_INVAL);
        if (wait[i] > earliest)
            continue;
        memset(event, 0, EVENT_BYTES);
        memcpy(event, sub, 8); /* userdata */
        engine_put_le(event + 8, event_errno(c, l, sub), 2);
        event[10] = sub[8];
        n_events++;
    }
    if (__builtin_add_overflow(c->clock_offset_ns, earliest, &c->clock_offset_ns))
        return c->grants->fail(c, env, "waits for ever");
    (void)put(c, at_count, n_events, 4);
    RETURN(WASI_SUCCESS);
}

WASI(poll_oneoff)
{
    return poll(ctx_of(caller), env, v, &poll_new);
}

WASI(poll_oneoff_old)
{
    return poll(ctx_of(caller), env, v, &poll_old);
}

WASI(sched_yield)
{
    RETURN(WASI_SUCCESS);
}

/* ---- the end ---- */

WASI(proc_exit)
{
    struct wasi_ctx *c = ctx_of(caller);
    char text[40];
    c->has_exited = true;
    c->exit_code = v[0].i32;
    (void)snprintf(text, sizeof text, "exit with status %d", c->exit_code);
    return c->grants->fail(c, env, text);
}

WASI(proc_raise)
{
    RETURN(WASI_NOSYS);
}

/* ---- granted to no guest: functions on descriptors that are never open ---- */

/* fd_prestat_get must answer BADF: Go panics, and wasi-libc exits, on any other error. */
static wasm_trap_t *bad_descriptor(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,
                                   size_t n)
{
    RETURN(WASI_BADF);
}

#define wasi_fd_prestat_get          bad_descriptor
#define wasi_fd_prestat_dir_name     bad_descriptor
#define wasi_fd_advise               bad_descriptor
#define wasi_fd_allocate             bad_descriptor
#define wasi_fd_datasync             bad_descriptor
#define wasi_fd_sync                 bad_descriptor
#define wasi_fd_fdstat_set_rights    bad_descriptor
#define wasi_fd_filestat_set_size    bad_descriptor
#define wasi_fd_filestat_set_times   bad_descriptor
#define wasi_fd_pread                bad_descriptor
#define wasi_fd_pwrite               bad_descriptor
#define wasi_fd_readdir              bad_descriptor
#define wasi_fd_renumber             bad_descriptor
#define wasi_path_create_directory   bad_descriptor
#define wasi_path_filestat_get       bad_descriptor
#define wasi_path_filestat_set_times bad_descriptor
#define wasi_path_link               bad_descriptor
#define wasi_path_open               bad_descriptor
#define wasi_path_readlink           bad_descriptor
#define wasi_path_remove_directory   bad_descriptor
#define wasi_path_rename             bad_descriptor
#define wasi_path_symlink            bad_descriptor
#define wasi_path_unlink_file        bad_descriptor
#define wasi_sock_accept             bad_descriptor
#define wasi_sock_recv               bad_descriptor
#define wasi_sock_send               bad_descriptor
#define wasi_sock_shutdown           bad_descriptor

const struct engine_func wasi_functions[] = {
#define ROW(name, sig) { WASI_MODULE, #name, sig, wasi_##name },
    WASI_IMPORTS(ROW)
#undef ROW
};
const size_t wasi_n_functions = ARRAY_LEN(wasi_functions);

static const struct engine_func old_functions[] = {
#define wasi_poll_oneoff     wasi_poll_oneoff_old
#define wasi_fd_filestat_get wasi_fd_filestat_get_old
#define ROW(name, sig)       { WASI_MODULE_OLD, #name, sig, wasi_##name },
    WASI_IMPORTS(ROW)
#undef ROW
#undef wasi_poll_oneoff
#undef wasi_fd_filestat_get
};

int wasi_define(wasmtime_linker_t *linker, bool is_old, struct err *err)
{
    return engine_define(linker, is_old ? old_functions : wasi_functions, wasi_n_functions, err);
}
