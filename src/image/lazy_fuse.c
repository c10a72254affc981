/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_fuse.h"

#include "base/mem.h"
#include "base/vec.h"
#include "image/lazy_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Numbers of inodes: the root, then the directories "00" to "ff", then the files. */
enum { FIRST_DIR = LAZY_WIRE_ROOT + 1, N_DIRS = 256, FIRST_FILE = FIRST_DIR + N_DIRS };
/* If pages have more than 4 KiB, the mount limits reads (mount_fuse()). */
enum { FOREVER_S = 1 << 30, MINOR_MIN = 23, PAGES_MAX = LAZY_FUSE_READ_MAX / 4096 };

enum lazy_fuse_state { STATE_AWAY, STATE_ASKED, STATE_HERE };

struct lazy_fuse_content {
    uint64_t at;
    uint32_t source;
    uint8_t state;
};

struct lazy_fuse_waiting {
    uint64_t unique, until_ms;
    uint32_t file;
    int error; /* then */
};

struct lazy_fuse {
    const struct lazy_fuse_file *files;
    struct lazy_fuse_content *contents;
    size_t n;
    uint64_t open_ms;
    const struct lazy_fuse_ops *ops;
    VEC(struct lazy_fuse_waiting) waiting;
    char *data; /* LAZY_FUSE_READ_MAX */
    bool is_orphan;
};

struct lazy_fuse *lazy_fuse_new(const struct lazy_fuse_file *files, size_t n, uint64_t open_ms,
                                const struct lazy_fuse_ops *ops)
{
    struct lazy_fuse *f = xnew(struct lazy_fuse);
    f->files = files;
    f->n = n;
    f->open_ms = open_ms;
    f->ops = ops;
    f->contents = xnew_n(struct lazy_fuse_content, n + 1);
    f->data = xalloc(LAZY_FUSE_READ_MAX);
    return f;
}

void lazy_fuse_free(struct lazy_fuse *f)
{
    if (!f)
        return;
    vec_fini(&f->waiting);
    free(f->contents);
    free(f->data);
    free(f);
}

/* ---- answers ---- */

static void reply(struct lazy_fuse *f, uint64_t unique, int error, const void *p, size_t n)
{
    const struct lazy_wire_answer head = { .len = (uint32_t)(sizeof head + n),
                                           .error = -error,
                                           .unique = unique };
    f->ops->reply(f->ops->arg, str_n((const char *)&head, sizeof head), str_n(p, n));
}

static void reply_error(struct lazy_fuse *f, uint64_t unique, int error)
{
    reply(f, unique, error, NULL, 0);
}

static struct lazy_wire_attr attr_of(const struct lazy_fuse *f, uint64_t node)
{
    bool is_file = node >= FIRST_FILE;
    uint64_t size = is_file ? f->files[node - FIRST_FILE].size : 0;
    return (struct lazy_wire_attr){ .ino = node,
                                    .size = size,
                                    .blocks = size / 512 + (size % 512 != 0),
                                    .mode = is_file ? S_IFREG | 0444 : S_IFDIR | 0555,
                                    .nlink = is_file ? 1 : 2,
                                    .blksize = 4096 };
}

static bool has_node(const struct lazy_fuse *f, uint64_t node)
{
    return node >= LAZY_WIRE_ROOT && node - LAZY_WIRE_ROOT < 1 + N_DIRS + f->n;
}

/* NULL: the node is none of a file. */
static struct lazy_fuse_content *content_of(struct lazy_fuse *f, uint64_t node)
{
    return has_node(f, node) && node >= FIRST_FILE ? &f->contents[node - FIRST_FILE] : NULL;
}

/* ---- names ---- */

static uint64_t find_file(const struct lazy_fuse *f, uint64_t dir, struct str name)
{
    uint8_t digest[SHA256_BYTES];
    if (!hex_parse(name, digest, sizeof digest) || digest[0] != dir - FIRST_DIR)
        return 0;
    for (size_t lo = 0, hi = f->n; lo < hi;) {
        size_t at = lo + (hi - lo) / 2;
        int c = memcmp(f->files[at].digest, digest, sizeof digest);
        if (c == 0)
            return FIRST_FILE + at;
        if (c < 0)
            lo = at + 1;
        else
            hi = at;
    }
    return 0;
}

/* 0: there is no such name. */
static uint64_t find(const struct lazy_fuse *f, uint64_t dir, struct str name)
{
    uint8_t first;
    if (dir != LAZY_WIRE_ROOT)
        return dir < FIRST_FILE ? find_file(f, dir, name) : 0;
    return hex_parse(name, &first, 1) ? FIRST_DIR + (uint64_t)first : 0;
}

static void look_up(struct lazy_fuse *f, const struct lazy_wire_request *h, struct str body)
{
    struct str name = body.n ? str_n(body.p, strnlen(body.p, body.n)) : body;
    uint64_t node = find(f, h->node, name);
    if (!node) {
        reply_error(f, h->unique, ENOENT);
        return;
    }
    const struct lazy_wire_entry out = { .node = node,
                                         .entry_valid_s = FOREVER_S,
                                         .attr_valid_s = FOREVER_S,
                                         .attr = attr_of(f, node) };
    reply(f, h->unique, 0, &out, sizeof out);
}

static void give_attr(struct lazy_fuse *f, const struct lazy_wire_request *h)
{
    const struct lazy_wire_attrs out = { .valid_s = FOREVER_S, .attr = attr_of(f, h->node) };
    reply(f, h->unique, 0, &out, sizeof out);
}

/* ---- opening ---- */

static void reply_open(struct lazy_fuse *f, uint64_t unique)
{
    const struct lazy_wire_opened out = { .flags = LAZY_WIRE_KEEP_CACHE };
    reply(f, unique, 0, &out, sizeof out);
}

static void ask(struct lazy_fuse *f, uint32_t file)
{
    struct lazy_fuse_content *c = &f->contents[file];
    if (c->state == STATE_AWAY && f->ops->want(f->ops->arg, file))
        c->state = STATE_ASKED;
}

static void open_file(struct lazy_fuse *f, const struct lazy_wire_request *h, struct str body,
                      uint64_t now_ms)
{
    struct lazy_wire_open in;
    struct lazy_fuse_content *c = content_of(f, h->node);
    if (!c || body.n < sizeof in) {
        reply_error(f, h->unique, c ? EINVAL : EISDIR);
        return;
    }
    memcpy(&in, body.p, sizeof in);
    if ((in.flags & O_ACCMODE) != O_RDONLY) {
        reply_error(f, h->unique, EROFS);
        return;
    }
    if (c->state == STATE_HERE) {
        reply_open(f, h->unique);
        return;
    }
    if (f->is_orphan || f->waiting.n == LAZY_FUSE_WAITING_MAX) {
        reply_error(f, h->unique, EIO);
        return;
    }
    struct lazy_fuse_waiting w = { .unique = h->unique,
                                   .until_ms = now_ms + f->open_ms,
                                   .file = (uint32_t)(h->node - FIRST_FILE),
                                   .error = EIO };
    vec_push(&f->waiting, w);
    ask(f, w.file);
}

/* The opens of a file, or of all (UINT32_MAX), end so; 0: it is open. */
static void end_waiting(struct lazy_fuse *f, uint32_t file, int error)
{
    size_t n = 0;
    for (size_t i = 0; i < f->waiting.n; i++) {
        const struct lazy_fuse_waiting w = f->waiting.p[i];
        if (file != UINT32_MAX && w.file != file)
            f->waiting.p[n++] = w;
        else if (error)
            reply_error(f, w.unique, error);
        else
            reply_open(f, w.unique);
    }
    f->waiting.n = n;
}

/* A program that waits in an open got a signal, which may end it. */
static void interrupt(struct lazy_fuse *f, struct str body, uint64_t now_ms)
{
    struct lazy_wire_interrupt in;
    if (body.n < sizeof in)
        return;
    memcpy(&in, body.p, sizeof in);
    vec_each (w, &f->waiting) {
        if (w->unique != in.unique)
            continue;
        w->error = EINTR;
        w->until_ms = MIN(w->until_ms, now_ms + LAZY_FUSE_INTERRUPTED_MS);
    }
}

/* ---- reading ---- */

static void read_file(struct lazy_fuse *f, const struct lazy_wire_request *h, struct str body)
{
    struct lazy_wire_read in;
    const struct lazy_fuse_content *c = content_of(f, h->node);
    if (!c || body.n < sizeof in || c->state != STATE_HERE) {
        reply_error(f, h->unique, EIO);
        return;
    }
    memcpy(&in, body.p, sizeof in);
    uint64_t size = f->files[h->node - FIRST_FILE].size;
    size_t n = in.offset >= size ? 0 : (size_t)MIN(size - in.offset, (uint64_t)in.size);
    if (n > LAZY_FUSE_READ_MAX) { /* the kernel treats a short answer as the end, and adds zeros */
        reply_error(f, h->unique, EIO);
        return;
    }
    int r = n ? f->ops->read(f->ops->arg, c->source, c->at + in.offset, f->data, n) : 0;
    if (r < 0)
        reply_error(f, h->unique, -r);
    else
        reply(f, h->unique, 0, f->data, n);
}

/* ---- the rest ---- */

static int begin(struct lazy_fuse *f, const struct lazy_wire_request *h, struct str body,
                 bool *ret_is_ready, struct err *err)
{
    struct lazy_wire_init in = { 0 };
    memcpy(&in, body.p, MIN(body.n, sizeof in)); /* old kernels send less */
    if (in.major < LAZY_WIRE_MAJOR || (in.major == LAZY_WIRE_MAJOR && in.minor < MINOR_MIN))
        return err_set(err, E_UNSUPPORTED, "the FUSE of this kernel is too old");
    struct lazy_wire_inited out = { .major = LAZY_WIRE_MAJOR,
                                    .minor = LAZY_WIRE_MINOR,
                                    .max_readahead = in.max_readahead,
                                    .flags = in.flags &
                                             (LAZY_WIRE_ASYNC_READ | LAZY_WIRE_PARALLEL_DIROPS |
                                              LAZY_WIRE_MAX_PAGES),
                                    .max_write = 4096,
                                    .time_granularity_ns = 1,
                                    .max_pages = PAGES_MAX };
    reply(f, h->unique, 0, &out, sizeof out);
    *ret_is_ready = true;
    return 0;
}

static int answer(struct lazy_fuse *f, const struct lazy_wire_request *h, struct str body,
                  uint64_t now_ms, bool *ret_is_ready, struct err *err)
{
    const struct lazy_wire_statfs statfs = { .block_bytes = 4096, .name_max = 64 };
    switch (h->opcode) {
    case LAZY_WIRE_INIT:
        return begin(f, h, body, ret_is_ready, err);
    case LAZY_WIRE_LOOKUP:
        look_up(f, h, body);
        break;
    case LAZY_WIRE_GETATTR:
        give_attr(f, h);
        break;
    case LAZY_WIRE_OPEN:
        open_file(f, h, body, now_ms);
        break;
    case LAZY_WIRE_READ:
        read_file(f, h, body);
        break;
    case LAZY_WIRE_RELEASE:
    case LAZY_WIRE_RELEASEDIR:
    case LAZY_WIRE_DESTROY:
        reply_error(f, h->unique, 0);
        break;
    case LAZY_WIRE_STATFS:
        reply(f, h->unique, 0, &statfs, sizeof statfs);
        break;
    case LAZY_WIRE_INTERRUPT:
        interrupt(f, body, now_ms);
        break;
    case LAZY_WIRE_FORGET: /* inodes have no memory of their own; no answer is expected */
    case LAZY_WIRE_BATCH_FORGET:
        break;
    case LAZY_WIRE_OPENDIR:
        reply_error(f, h->unique, EPERM);
        break;
    default: /* the kernel does without */
        reply_error(f, h->unique, ENOSYS);
        break;
    }
    return 0;
}

int lazy_fuse_request(struct lazy_fuse *f, struct str bytes, uint64_t now_ms, bool *ret_is_ready,
                      struct err *err)
{
    struct lazy_wire_request h;
    if (bytes.n < sizeof h)
        return err_set(err, E_PARSE, "a request of the kernel is too short");
    memcpy(&h, bytes.p, sizeof h);
    if (h.len != bytes.n)
        return err_set(err, E_PARSE, "a request of the kernel has another length than it says");
    bool is_about_node = h.opcode == LAZY_WIRE_LOOKUP || h.opcode == LAZY_WIRE_GETATTR;
    if (is_about_node && !has_node(f, h.node)) {
        reply_error(f, h.unique, ESTALE);
        return 0;
    }
    return answer(f, &h, str_slice(bytes, sizeof h, bytes.n), now_ms, ret_is_ready, err);
}

void lazy_fuse_have(struct lazy_fuse *f, uint32_t file, uint32_t source, uint64_t at)
{
    if (file >= f->n)
        return;
    f->contents[file] =
        (struct lazy_fuse_content){ .at = at, .source = source, .state = STATE_HERE };
    end_waiting(f, file, 0);
}

void lazy_fuse_fail(struct lazy_fuse *f, uint32_t file, int error)
{
    if (file >= f->n || f->contents[file].state == STATE_HERE)
        return;
    f->contents[file].state = STATE_AWAY;
    end_waiting(f, file, error > 0 && error < 512 ? error : EIO);
}

void lazy_fuse_orphan(struct lazy_fuse *f)
{
    f->is_orphan = true;
    end_waiting(f, UINT32_MAX, EIO);
}

uint64_t lazy_fuse_sweep(struct lazy_fuse *f, uint64_t now_ms)
{
    uint64_t next = UINT64_MAX;
    size_t n = 0;
    for (size_t i = 0; i < f->waiting.n; i++) {
        const struct lazy_fuse_waiting w = f->waiting.p[i];
        struct lazy_fuse_content *c = &f->contents[w.file];
        if (w.until_ms <= now_ms) {
            if (c->state == STATE_ASKED) /* the next open asks again: that can have been lost */
                c->state = STATE_AWAY;
            reply_error(f, w.unique, w.error);
            continue;
        }
        f->waiting.p[n++] = w;
        ask(f, w.file);
        uint64_t left = w.until_ms - now_ms;
        next =
            MIN(next, c->state == STATE_ASKED ? left : MIN(left, (uint64_t)LAZY_FUSE_ASK_AGAIN_MS));
    }
    f->waiting.n = n;
    return next;
}
