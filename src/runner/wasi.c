/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WASI preview 1 for guests that may do nothing but compute: clocks, randomness, arguments,
 * environment, output to the log. Everything else fails with the errno that toolchains expect.
 * Nothing here reaches a file or the network.
 *
 * wasi_unstable, the version before, has other layouts in fd_filestat_get and poll_oneoff; both
 * are here because G1 modules may import it.
 */
#include "runner/function.h"

#include "base/clock.h"
#include "base/sys.h"
#include "wasm/wasi_refused.h"

#include <time.h>

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

enum {
    FILETYPE_CHARACTER_DEVICE = 2,
    FILETYPE_STREAM = 6,
    RIGHT_FD_READ = 1 << 1,
    RIGHT_FD_WRITE = 1 << 6
};
enum { EVENT_CLOCK = 0, EVENT_FD_WRITE = 2, SUBSCRIPTION_ABSTIME = 1 };

enum {
    RANDOM_MAX = 64 << 10, /* bytes for one call */
    OUTPUT_MAX = 1 << 20,  /* bytes of log that one call takes; the guest sees a short write */
    IOVECS_MAX = 1024,
    POLL_MAX = 1024 /* subscriptions in one call */
};

#define WASI(name)                                                                                 \
    static wasm_trap_t *wasi_##name(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,   \
                                    size_t n)
#define U32(i)    ((uint32_t)v[i].i32)
#define RETURN(e) return v[0].i32 = (e), NULL

static wasm_trap_t *fault(struct instance *in, const char *name)
{
    return instance_fail(in, "%s: pointer outside of its memory", name);
}

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

static bool put_u32(struct instance *in, uint32_t at, uint32_t value)
{
    uint8_t *p = instance_range(in, at, 4);
    if (p)
        put_le(p, value, 4);
    return p != NULL;
}

/* ---- arguments and environment ---- */

static wasm_trap_t *sizes(struct instance *in, uint32_t count, struct str strings,
                          wasmtime_val_raw_t *v)
{
    if (!put_u32(in, U32(0), count) || !put_u32(in, U32(1), (uint32_t)strings.n))
        return fault(in, "sizes_get");
    RETURN(WASI_SUCCESS);
}

static wasm_trap_t *strings_get(struct instance *in, uint32_t count, struct str strings,
                                wasmtime_val_raw_t *v)
{
    uint32_t list_at = U32(0), bytes_at = U32(1);
    uint8_t *list = instance_range(in, list_at, 4 * (uint64_t)count);
    uint8_t *bytes = instance_range(in, bytes_at, strings.n);
    if (!list || !bytes)
        return fault(in, "strings_get");
    for (size_t i = 0, start = 0; i < strings.n; i++) {
        if (strings.p[i])
            continue;
        put_le(list, bytes_at + start, 4);
        list += 4;
        start = i + 1;
    }
    if (strings.n)
        memcpy(bytes, strings.p, strings.n);
    RETURN(WASI_SUCCESS);
}

WASI(args_sizes_get)
{
    struct instance *in = instance_of(caller);
    return sizes(in, in->setup.n_args, in->setup.args, v);
}

WASI(args_get)
{
    struct instance *in = instance_of(caller);
    return strings_get(in, in->setup.n_args, in->setup.args, v);
}

WASI(environ_sizes_get)
{
    struct instance *in = instance_of(caller);
    return sizes(in, in->setup.n_env, in->setup.env, v);
}

WASI(environ_get)
{
    struct instance *in = instance_of(caller);
    return strings_get(in, in->setup.n_env, in->setup.env, v);
}

/* ---- clocks, randomness ---- */

/* false: no such clock. The monotonic one never goes back, also not over sleep and restart. */
static bool read_clock(const struct instance *in, uint32_t id, uint64_t *ret_ns)
{
    struct timespec ts;
    if (id > 1)
        return false;
    (void)clock_gettime(id == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &ts);
    uint64_t ns =
        (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec + clock_skipped_ms() * 1000000;
    *ret_ns = id == 0 ? ns : ns + in->clock_offset_ns;
    return true;
}

WASI(clock_time_get)
{
    struct instance *in = instance_of(caller);
    uint64_t ns;
    if (!read_clock(in, U32(0), &ns))
        RETURN(WASI_INVAL);
    uint8_t *p = instance_range(in, U32(2), 8);
    if (!p)
        return fault(in, "clock_time_get");
    put_le(p, ns, 8);
    RETURN(WASI_SUCCESS);
}

WASI(clock_res_get)
{
    struct instance *in = instance_of(caller);
    if (U32(0) > 1)
        RETURN(WASI_INVAL);
    uint8_t *p = instance_range(in, U32(1), 8);
    if (!p)
        return fault(in, "clock_res_get");
    put_le(p, 1, 8);
    RETURN(WASI_SUCCESS);
}

WASI(random_get)
{
    struct instance *in = instance_of(caller);
    uint32_t len = U32(1);
    void *p = instance_range(in, U32(0), len);
    if (!p)
        return fault(in, "random_get");
    if (len > RANDOM_MAX)
        RETURN(WASI_INVAL);
    sys_random(p, len);
    RETURN(WASI_SUCCESS);
}

/* ---- output ---- */

static void write_line_part(struct instance *in, uint32_t fd, struct str part)
{
    struct buf *line = &in->lines[fd - 1];
    size_t room = PROTO_LOG_LINE_MAX - line->n;
    (void)buf_add_str(line, str_slice(part, 0, room)); /* the rest of a long line is cut */
}

static void write_output(struct instance *in, uint32_t fd, struct str text)
{
    struct str line, rest;
    while (str_cut(text, '\n', &line, &rest)) {
        if (in->lines[fd - 1].n == 0 && line.n <= PROTO_LOG_LINE_MAX) {
            instance_log(in, fd, line);
        } else {
            write_line_part(in, fd, line);
            instance_log(in, fd, buf_str(&in->lines[fd - 1]));
            buf_reset(&in->lines[fd - 1]);
        }
        text = rest;
    }
    write_line_part(in, fd, text);
}

WASI(fd_write)
{
    struct instance *in = instance_of(caller);
    uint32_t fd = U32(0), n_iovecs = U32(2), at_written = U32(3);
    if (fd != 1 && fd != 2)
        RETURN(WASI_BADF);
    if (n_iovecs > IOVECS_MAX)
        RETURN(WASI_INVAL);
    const uint8_t *iovecs = instance_range(in, U32(1), 8 * (uint64_t)n_iovecs);
    if (!iovecs)
        return fault(in, "fd_write");
    bool is_log = fd != 1 || !function_has_body(in);
    uint64_t written = 0;
    wasm_trap_t *trap = NULL;
    for (uint32_t i = 0; i < n_iovecs && (!is_log || written < OUTPUT_MAX); i++) {
        uint32_t at = (uint32_t)get_le(iovecs + 8 * i, 4),
                 len = (uint32_t)get_le(iovecs + 8 * i + 4, 4);
        const char *p = instance_range(in, at, len);
        if (!p)
            return fault(in, "fd_write");
        int32_t e = 0;
        if (is_log)
            len = (uint32_t)MIN(len, OUTPUT_MAX - written);
        if (is_log)
            write_output(in, fd, str_n(p, len));
        else
            e = function_write(in, str_n(p, len), &trap);
        if (trap)
            return trap;
        if (e < 0)
            RETURN(e == GUEST_E_TOO_LARGE ? WASI_FBIG : WASI_PIPE);
        written += len;
    }
    if (written > UINT32_MAX || !put_u32(in, at_written, (uint32_t)written))
        return fault(in, "fd_write");
    RETURN(WASI_SUCCESS);
}

/* ---- the three open descriptors ---- */

WASI(fd_read)
{
    struct instance *in = instance_of(caller);
    uint32_t at_list = U32(1), n_iovecs = U32(2), at_count = U32(3), total = 0;
    if (U32(0) != 0)
        RETURN(WASI_BADF);
    if (n_iovecs > IOVECS_MAX)
        RETURN(WASI_INVAL);
    const uint8_t *iovecs = instance_range(in, at_list, 8 * (uint64_t)n_iovecs);
    if (!iovecs)
        return fault(in, "fd_read");
    wasm_trap_t *trap = NULL;
    for (uint32_t i = 0; i < n_iovecs && function_has_body(in); i++) {
        uint32_t len = (uint32_t)get_le(iovecs + 8 * i + 4, 4);
        char *p = instance_range(in, (uint32_t)get_le(iovecs + 8 * i, 4), len);
        if (!p)
            return fault(in, "fd_read");
        int32_t got = function_read(in, p, len, total == 0, &trap);
        if (trap)
            return trap;
        if (got < 0)
            RETURN(WASI_IO);
        total += (uint32_t)got;
        if ((uint32_t)got < len)
            break;
    }
    if (!put_u32(in, at_count, total)) /* 0: the end */
        return fault(in, "fd_read");
    RETURN(WASI_SUCCESS);
}

/* What a command reads and answers by is no terminal, which a library would write to line by line.
 */
static uint8_t filetype(const struct instance *in, uint32_t fd)
{
    return function_has_body(in) && fd < 2 ? FILETYPE_STREAM : FILETYPE_CHARACTER_DEVICE;
}

WASI(fd_close)
{
    RETURN(U32(0) <= 2 ? WASI_SUCCESS : WASI_BADF);
}

WASI(fd_fdstat_get)
{
    struct instance *in = instance_of(caller);
    if (U32(0) > 2)
        RETURN(WASI_BADF);
    uint8_t *p = instance_range(in, U32(1), 24);
    if (!p)
        return fault(in, "fd_fdstat_get");
    memset(p, 0, 24);
    p[0] = filetype(in, U32(0));
    /* No right to seek: wasi-libc then buffers by lines. */
    put_le(p + 8, U32(0) == 0 ? RIGHT_FD_READ : RIGHT_FD_WRITE, 8);
    RETURN(WASI_SUCCESS);
}

WASI(fd_fdstat_set_flags)
{
    /* Go tries to make 0 to 2 non-blocking and lives with the failure; success would send its
     * output through poll_oneoff. */
    RETURN(U32(0) <= 2 ? WASI_NOTSUP : WASI_BADF);
}

static wasm_trap_t *filestat(struct instance *in, wasmtime_val_raw_t *v, uint64_t size)
{
    if (U32(0) > 2)
        RETURN(WASI_BADF);
    uint8_t *p = instance_range(in, U32(1), size);
    if (!p)
        return fault(in, "fd_filestat_get");
    memset(p, 0, size);
    p[16] = filetype(in, U32(0));
    RETURN(WASI_SUCCESS);
}

WASI(fd_filestat_get)
{
    return filestat(instance_of(caller), v, 64);
}

WASI(fd_filestat_get_old)
{
    return filestat(instance_of(caller), v, 56);
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

/* When a clock subscription is due, from now; false: no such clock. */
static bool clock_wait(const struct instance *in, const struct poll_layout *l, const uint8_t *sub,
                       uint64_t *ret_ns)
{
    uint64_t timeout = get_le(sub + l->timeout, 8), now;
    if (!read_clock(in, (uint32_t)get_le(sub + l->clock, 4), &now))
        return false;
    if (get_le(sub + l->flags, 2) & SUBSCRIPTION_ABSTIME)
        timeout = timeout > now ? timeout - now : 0;
    *ret_ns = timeout;
    return true;
}

static void put_event(uint8_t *event, const uint8_t *sub, enum wasi_errno e)
{
    memset(event, 0, 32);
    memcpy(event, sub, 8); /* userdata */
    put_le(event + 8, e, 2);
    event[10] = sub[8];
}

/*
 * Nothing a guest waits for here can come from outside, so waiting would only block the others: its
 * monotonic clock jumps to the earliest deadline instead. A guest that waits in a loop is ended by
 * the limit on its CPU time.
 */
static wasm_trap_t *poll(struct instance *in, wasmtime_val_raw_t *v, const struct poll_layout *l)
{
    uint32_t at_subs = U32(0), at_events = U32(1), n_subs = U32(2), at_count = U32(3);
    if (n_subs == 0 || n_subs > POLL_MAX)
        RETURN(WASI_INVAL);
    const uint8_t *subs = instance_range(in, at_subs, (uint64_t)l->size * n_subs);
    uint8_t *events = instance_range(in, at_events, 32 * (uint64_t)n_subs);
    if (!subs || !events || !instance_range(in, at_count, 4))
        return fault(in, "poll_oneoff");
    uint64_t earliest = UINT64_MAX, wait;
    for (uint32_t i = 0; i < n_subs; i++) {
        const uint8_t *sub = subs + (uint64_t)l->size * i;
        if (sub[8] != EVENT_CLOCK || !clock_wait(in, l, sub, &wait))
            wait = 0; /* an error, due at once */
        earliest = wait < earliest ? wait : earliest;
    }
    uint32_t n_events = 0;
    for (uint32_t i = 0; i < n_subs; i++) {
        uint8_t sub[56];
        memcpy(sub, subs + (uint64_t)l->size * i, l->size); /* the guest may let the two overlap */
        uint8_t *event = events + 32 * (uint64_t)n_events;
        if (sub[8] > EVENT_FD_WRITE)
            RETURN(WASI_INVAL);
        if (sub[8] != EVENT_CLOCK)
            put_event(event, sub,
                      function_has_body(in) && get_le(sub + l->clock, 4) < 2 ? WASI_SUCCESS
                                                                             : WASI_BADF);
        else if (!clock_wait(in, l, sub, &wait))
            put_event(event, sub, WASI_INVAL);
        else if (wait <= earliest)
            put_event(event, sub, WASI_SUCCESS);
        else
            continue;
        n_events++;
    }
    if (__builtin_add_overflow(in->clock_offset_ns, earliest, &in->clock_offset_ns))
        return instance_fail(in, "waits for ever");
    (void)put_u32(in, at_count, n_events);
    RETURN(WASI_SUCCESS);
}

WASI(poll_oneoff)
{
    return poll(instance_of(caller), v, &poll_new);
}

WASI(poll_oneoff_old)
{
    return poll(instance_of(caller), v, &poll_old);
}

WASI(sched_yield)
{
    RETURN(WASI_SUCCESS);
}

/* ---- the end ---- */

WASI(proc_exit)
{
    struct instance *in = instance_of(caller);
    in->has_exited = true;
    in->exit_code = v[0].i32;
    return instance_fail(in, "exit with status %d", in->exit_code);
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

int wasi_define(wasmtime_linker_t *linker, bool is_old, struct err *err)
{
    static const struct {
        const char *name, *sig;
        wasmtime_func_unchecked_callback_t fn;
    } rows[] = {
#define ROW(name, sig) { #name, sig, wasi_##name },
        WASI_IMPORTS(ROW)
#undef ROW
    };
    const char *module = is_old ? WASI_MODULE_OLD : WASI_MODULE;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        wasmtime_func_unchecked_callback_t fn = rows[i].fn;
        if (is_old && fn == wasi_poll_oneoff)
            fn = wasi_poll_oneoff_old;
        if (is_old && fn == wasi_fd_filestat_get)
            fn = wasi_fd_filestat_get_old;
        int status = runner_define_func(linker, module, rows[i].name, rows[i].sig, fn, err);
        if (status < 0)
            return status;
    }
    return 0;
}
