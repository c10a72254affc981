/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding, decoding, sending and receiving; see proto.h. */
#include "wasm/proto.h"

#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAME_BODY_IN_FD = 1 };
enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

/* ---- encoding ---- */

static void put_str(struct buf *b, struct str s)
{
    (void)buf_add_le32(b, (uint32_t)s.n);
    (void)buf_add_str(b, s);
}

void proto_begin(struct buf *b)
{
    static const char frame[PROTO_FRAME_BYTES];
    buf_reset(b);
    (void)buf_add(b, frame, sizeof frame);
}

static void store_le(char *p, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (char)(v >> (8 * i));
}

/* The body is complete: fill in the frame. */
static void finish(struct buf *b, enum proto_kind kind)
{
    if (!buf_ok(b))
        return;
    size_t body = b->n - PROTO_FRAME_BYTES;
    store_le(b->p, kind, 4);
    store_le(b->p + 4, b->n > PROTO_MESSAGE_MAX ? FRAME_BODY_IN_FD : 0, 4);
    store_le(b->p + 8, body, 8);
}

void proto_put_hello(struct buf *b, const struct proto_hello *m)
{
    (void)buf_add_le32(b, m->version);
    put_str(b, m->engine);
    (void)buf_add_le32(b, m->in_force);
    (void)buf_add_le32(b, m->refused);
    finish(b, PROTO_HELLO);
}

void proto_put_module(struct buf *b, const struct proto_module *m)
{
    (void)buf_add_le32(b, m->id);
    (void)buf_add_u8(b, m->has_memory);
    (void)buf_add_u8(b, m->has_start);
    (void)buf_add_u8(b, m->is_dissolvable);
    (void)buf_add_le64(b, m->image_lo);
    (void)buf_add_le64(b, m->image_hi);
    put_str(b, m->globals);
    finish(b, PROTO_MODULE);
}

void proto_put_slot(struct buf *b, enum proto_kind kind, uint32_t slot)
{
    assert(kind == PROTO_DROP || kind == PROTO_FORGET);
    (void)buf_add_le32(b, slot);
    finish(b, kind);
}

void proto_put_run(struct buf *b, const struct proto_run *m)
{
    assert(m->n_deliveries <= PROTO_DELIVERIES_MAX);
    (void)buf_add_le32(b, m->slot);
    (void)buf_add_le32(b, m->incarnation);
    (void)buf_add_le64(b, m->guest);
    (void)buf_add_le64(b, m->seq);
    (void)buf_add_le32(b, m->flags);
    (void)buf_add_le32(b, m->module);
    (void)buf_add_le32(b, m->abi);
    (void)buf_add_le32(b, m->activation_ms);
    (void)buf_add_le64(b, m->memory_max_bytes);
    (void)buf_add_le32(b, m->ops_room);
    (void)buf_add_le64(b, m->next_id);
    (void)buf_add_le64(b, m->clock_offset_ns);
    (void)buf_add_le64(b, m->skipped_ms);
    (void)buf_add_le64(b, m->swap_room_bytes);
    (void)buf_add_le32(b, m->memory_pages);
    put_str(b, m->globals);
    put_str(b, m->setup);
    put_str(b, m->identity);
    (void)buf_add_le32(b, m->template_slot);
    (void)buf_add_le32(b, m->credit);
    (void)buf_add_le64(b, m->response_max);
    (void)buf_add_le32(b, m->n_deliveries);
    for (uint32_t i = 0; i < m->n_deliveries; i++) {
        (void)buf_add_le64(b, m->deliveries[i].id);
        (void)buf_add_le32(b, m->deliveries[i].flags);
        put_str(b, m->deliveries[i].payload);
    }
    finish(b, PROTO_RUN);
}

void proto_add_log(struct buf *b, const struct proto_log *log)
{
    (void)buf_add_u8(b, (uint8_t)log->fd);
    put_str(b, log->line);
}

void proto_add_op(struct buf *b, const struct proto_op *op)
{
    (void)buf_add_u8(b, (uint8_t)op->kind);
    (void)buf_add_u8(b, op->stream);
    (void)buf_add_le64(b, op->id);
    (void)buf_add_le64(b, op->delay_ms);
    put_str(b, op->payload);
}

void proto_add_note(struct buf *b, const struct proto_note *note)
{
    (void)buf_add_u8(b, (uint8_t)note->kind);
    (void)buf_add_le32(b, note->number);
    (void)buf_add_le64(b, note->token);
    (void)buf_add_le64(b, (uint64_t)note->value);
    put_str(b, note->head);
    put_str(b, note->body);
}

void proto_put_call(struct buf *b, enum proto_kind kind, const struct proto_call *m,
                    struct str notes)
{
    assert(kind == PROTO_CALL || kind == PROTO_NOTES);
    (void)buf_add_le32(b, m->slot);
    (void)buf_add_le32(b, m->incarnation);
    (void)buf_add_le64(b, m->guest);
    (void)buf_add_le64(b, m->seq);
    (void)buf_add_le64(b, m->id);
    (void)buf_add_le64(b, m->token);
    (void)buf_add_le32(b, m->kind);
    (void)buf_add_le32(b, m->cpu_us);
    (void)buf_add_le64(b, m->clock_offset_ns);
    (void)buf_add_le32(b, m->logs_left_out);
    put_str(b, m->head);
    put_str(b, m->body);
    (void)buf_add_le32(b, m->n_notes);
    (void)buf_add_str(b, notes);
    finish(b, kind);
}

void proto_put_reply(struct buf *b, const struct proto_reply *m)
{
    (void)buf_add_le32(b, m->slot);
    (void)buf_add_le64(b, m->guest);
    (void)buf_add_le64(b, m->id);
    (void)buf_add_le64(b, (uint64_t)m->value);
    put_str(b, m->bytes);
    finish(b, PROTO_REPLY);
}

void proto_put_answer(struct buf *b, const struct proto_answer *m, struct str logs, struct str ops,
                      struct str notes)
{
    (void)buf_add_le32(b, m->slot);
    (void)buf_add_le32(b, m->incarnation);
    (void)buf_add_le64(b, m->guest);
    (void)buf_add_le64(b, m->seq);
    (void)buf_add_le32(b, m->flags);
    (void)buf_add_le32(b, (uint32_t)m->code);
    (void)buf_add_le32(b, m->activations);
    (void)buf_add_le64(b, m->next_id);
    (void)buf_add_le64(b, m->clock_offset_ns);
    (void)buf_add_le32(b, m->memory_pages);
    (void)buf_add_le32(b, m->dirty_pages);
    (void)buf_add_le64(b, m->swap_bytes);
    (void)buf_add_le64(b, m->swap_mtime_ns);
    (void)buf_add_le64(b, m->swap_needs_bytes);
    (void)buf_add_le32(b, m->resume_us);
    (void)buf_add_le32(b, m->suspend_us);
    (void)buf_add_le32(b, m->cpu_us);
    (void)buf_add_le32(b, m->logs_left_out);
    put_str(b, m->text);
    put_str(b, m->globals);
    (void)buf_add_le32(b, m->n_logs);
    (void)buf_add_str(b, logs);
    (void)buf_add_le32(b, m->n_ops);
    (void)buf_add_str(b, ops);
    (void)buf_add_le32(b, m->n_notes);
    (void)buf_add_str(b, notes);
    finish(b, PROTO_ANSWER);
}

/* ---- decoding ---- */

static struct str get_str(struct rd *r, size_t max)
{
    uint32_t n = rd_le32(r);
    if (n > max) {
        r->failed = true;
        return STR_NULL;
    }
    return rd_str(r, n);
}

static bool get_bool(struct rd *r)
{
    uint8_t v = rd_u8(r);
    if (v > 1)
        r->failed = true;
    return v == 1;
}

static uint32_t get_below(struct rd *r, uint32_t max)
{
    uint32_t v = rd_le32(r);
    if (v > max)
        r->failed = true;
    return r->failed ? 0 : v;
}

static int done(const struct rd *r, const char *what, struct err *err)
{
    if (!rd_ok(r) || r->n)
        return err_set(err, E_PARSE, "malformed %s message", what);
    return 0;
}

int proto_get_hello(struct str body, struct proto_hello *ret, struct err *err)
{
    struct rd r = rd_init(body.p, body.n);
    struct proto_hello m = { .version = rd_le32(&r) };
    m.engine = get_str(&r, 255);
    m.in_force = rd_le32(&r);
    m.refused = rd_le32(&r);
    int status = done(&r, "HELLO", err);
    if (status == 0)
        *ret = m;
    return status;
}

int proto_get_module(struct str body, struct proto_module *ret, struct err *err)
{
    struct rd r = rd_init(body.p, body.n);
    struct proto_module m = { .id = rd_le32(&r) };
    m.has_memory = get_bool(&r);
    m.has_start = get_bool(&r);
    m.is_dissolvable = get_bool(&r);
    m.image_lo = rd_le64(&r);
    m.image_hi = rd_le64(&r);
    m.globals = get_str(&r, MODULE_GLOBALS_MAX);
    int status = done(&r, "MODULE", err);
    if (status == 0)
        *ret = m;
    return status;
}

int proto_get_slot(struct str body, struct proto_slot *ret, struct err *err)
{
    struct rd r = rd_init(body.p, body.n);
    struct proto_slot m = { .slot = rd_le32(&r) };
    int status = done(&r, "DROP", err);
    if (status == 0)
        *ret = m;
    return status;
}

int proto_get_run(struct str body, struct proto_run *ret, struct err *err)
{
    struct rd r = rd_init(body.p, body.n);
    ret->slot = rd_le32(&r);
    ret->incarnation = rd_le32(&r);
    ret->guest = rd_le64(&r);
    ret->seq = rd_le64(&r);
    ret->flags = get_below(&r, RUN_FLAGS);
    ret->module = rd_le32(&r);
    ret->abi = (enum guest_abi)get_below(&r, GUEST_ABI_COUNT - 1);
    ret->activation_ms = rd_le32(&r);
    ret->memory_max_bytes = rd_le64(&r);
    ret->ops_room = rd_le32(&r);
    ret->next_id = rd_le64(&r);
    ret->clock_offset_ns = rd_le64(&r);
    ret->skipped_ms = rd_le64(&r);
    ret->swap_room_bytes = rd_le64(&r);
    ret->memory_pages = get_below(&r, MODULE_PAGES_MAX);
    ret->globals = get_str(&r, PROTO_GLOBALS_MAX);
    ret->setup = get_str(&r, PROTO_SETUP_MAX);
    ret->identity = get_str(&r, PROTO_TEXT_MAX);
    ret->template_slot = rd_le32(&r);
    ret->credit = rd_le32(&r);
    ret->response_max = rd_le64(&r);
    ret->n_deliveries = get_below(&r, PROTO_DELIVERIES_MAX);
    for (uint32_t i = 0; i < ret->n_deliveries; i++) {
        ret->deliveries[i].id = rd_le64(&r);
        ret->deliveries[i].flags = get_below(&r, DELIVERY_FLAGS);
        ret->deliveries[i].payload = get_str(&r, PROTO_BODY_MAX);
    }
    return done(&r, "RUN", err);
}

void proto_next_log(struct rd *r, struct proto_log *ret)
{
    ret->fd = rd_u8(r);
    if (ret->fd != 1 && ret->fd != 2)
        r->failed = true;
    ret->line = get_str(r, PROTO_LOG_LINE_MAX);
}

void proto_next_op(struct rd *r, struct proto_op *ret)
{
    ret->kind = rd_u8(r);
    if (ret->kind > 2)
        r->failed = true;
    ret->stream = get_bool(r);
    ret->id = rd_le64(r);
    ret->delay_ms = rd_le64(r);
    ret->payload = get_str(r, PROTO_OPS_BYTES_MAX);
}

static size_t note_head_max(uint32_t kind)
{
    switch (kind) {
    case NOTE_FN_DATA:
        return GUEST_FN_PIECE_MAX;
    case NOTE_FN_HEAD:
    case NOTE_FN_TRAILERS:
        return GUEST_FN_HEAD_MAX;
    default:
        return GUEST_V1_EVENT_MAX;
    }
}

void proto_next_note(struct rd *r, struct proto_note *ret)
{
    ret->kind = rd_u8(r);
    if (ret->kind >= NOTE_COUNT)
        r->failed = true;
    ret->number = rd_le32(r);
    ret->token = rd_le64(r);
    ret->value = (int64_t)rd_le64(r);
    ret->head = get_str(r, note_head_max(ret->kind));
    ret->body = get_str(r, GUEST_V1_LOG_MAX);
}

static void skip_notes(struct rd *r, uint32_t n)
{
    struct proto_note note;
    for (uint32_t i = 0; i < n && rd_ok(r); i++)
        proto_next_note(r, &note);
}

int proto_get_answer(struct str body, struct proto_answer *ret, struct err *err)
{
    struct rd r = rd_init(body.p, body.n);
    struct proto_answer m = { .slot = rd_le32(&r) };
    m.incarnation = rd_le32(&r);
    m.guest = rd_le64(&r);
    m.seq = rd_le64(&r);
    m.flags = get_below(&r, ANSWER_FLAGS);
    m.code = (int32_t)rd_le32(&r);
    m.activations = get_below(&r, PROTO_DELIVERIES_MAX + 1);
    m.next_id = rd_le64(&r);
    m.clock_offset_ns = rd_le64(&r);
    m.memory_pages = get_below(&r, MODULE_PAGES_MAX);
    m.dirty_pages = get_below(&r, MODULE_PAGES_MAX * (MODULE_PAGE_BYTES / 4096));
    m.swap_bytes = rd_le64(&r);
    m.swap_mtime_ns = rd_le64(&r);
    m.swap_needs_bytes = rd_le64(&r);
    m.resume_us = rd_le32(&r);
    m.suspend_us = rd_le32(&r);
    m.cpu_us = rd_le32(&r);
    m.logs_left_out = rd_le32(&r);
    m.text = get_str(&r, PROTO_TEXT_MAX);
    m.globals = get_str(&r, PROTO_GLOBALS_MAX);
    m.n_logs = get_below(&r, PROTO_LOGS_MAX);
    m.logs = r;
    for (uint32_t i = 0; i < m.n_logs && rd_ok(&r); i++) {
        struct proto_log log;
        proto_next_log(&r, &log);
    }
    m.n_ops = get_below(&r, PROTO_OPS_MAX);
    m.ops = r;
    for (uint32_t i = 0; i < m.n_ops && rd_ok(&r); i++) {
        struct proto_op op;
        proto_next_op(&r, &op);
    }
    m.n_notes = get_below(&r, PROTO_NOTES_MAX);
    m.notes = r;
    skip_notes(&r, m.n_notes);
    int status = done(&r, "ANSWER", err);
    if (status == 0)
        *ret = m;
    return status;
}

int proto_get_call(struct str body, struct proto_call *ret, struct err *err)
{
    struct rd r = rd_init(body.p, body.n);
    struct proto_call m = { .slot = rd_le32(&r) };
    m.incarnation = rd_le32(&r);
    m.guest = rd_le64(&r);
    m.seq = rd_le64(&r);
    m.id = rd_le64(&r);
    m.token = rd_le64(&r);
    m.kind = get_below(&r, PROTO_CALL_SLICE);
    m.cpu_us = rd_le32(&r);
    m.clock_offset_ns = rd_le64(&r);
    m.logs_left_out = rd_le32(&r);
    m.head = get_str(&r, GUEST_V1_DECLARATION_MAX);
    m.body = get_str(&r, GUEST_V1_BODY_MAX);
    m.n_notes = get_below(&r, PROTO_NOTES_MAX);
    m.notes = r;
    skip_notes(&r, m.n_notes);
    int status = done(&r, "CALL", err);
    if (status == 0)
        *ret = m;
    return status;
}

int proto_get_reply(struct str body, struct proto_reply *ret, struct err *err)
{
    struct rd r = rd_init(body.p, body.n);
    struct proto_reply m = { .slot = rd_le32(&r) };
    m.guest = rd_le64(&r);
    m.id = rd_le64(&r);
    m.value = (int64_t)rd_le64(&r);
    m.bytes = get_str(&r, PROTO_BODY_MAX);
    int status = done(&r, "REPLY", err);
    if (status == 0)
        *ret = m;
    return status;
}

/* ---- arguments and environment ---- */

static bool has_char(struct str s, char c)
{
    return s.n && memchr(s.p, c, s.n);
}

int proto_add_setup(struct buf *b, const struct str *args, size_t n_args,
                    const struct guest_env *env, size_t n_env)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n_args; i++) {
        if (has_char(args[i], 0))
            return -EINVAL;
        if (size_add(bytes, args[i].n + 1, &bytes) || bytes > PROTO_SETUP_MAX)
            return -E2BIG;
    }
    size_t env_bytes = 0;
    for (size_t i = 0; i < n_env; i++) {
        if (has_char(env[i].name, 0) || has_char(env[i].name, '=') || has_char(env[i].value, 0))
            return -EINVAL;
        if (size_add(env_bytes, env[i].name.n + env[i].value.n + 2, &env_bytes) ||
            env_bytes > PROTO_SETUP_MAX)
            return -E2BIG;
    }
    if (bytes + env_bytes + 16 > PROTO_SETUP_MAX)
        return -E2BIG;
    (void)buf_add_le32(b, (uint32_t)n_args);
    (void)buf_add_le32(b, (uint32_t)bytes);
    for (size_t i = 0; i < n_args; i++) {
        (void)buf_add_str(b, args[i]);
        (void)buf_add_char(b, 0);
    }
    (void)buf_add_le32(b, (uint32_t)n_env);
    (void)buf_add_le32(b, (uint32_t)env_bytes);
    for (size_t i = 0; i < n_env; i++) {
        (void)buf_add_str(b, env[i].name);
        (void)buf_add_char(b, '=');
        (void)buf_add_str(b, env[i].value);
        (void)buf_add_char(b, 0);
    }
    return buf_ok(b) ? 0 : b->failed;
}

static bool get_strings(struct rd *r, uint32_t *ret_n, struct str *ret)
{
    *ret_n = rd_le32(r);
    *ret = get_str(r, PROTO_SETUP_MAX);
    uint32_t n = 0;
    for (size_t i = 0; i < ret->n; i++)
        n += ret->p[i] == 0;
    return rd_ok(r) && n == *ret_n && (ret->n == 0 || ret->p[ret->n - 1] == 0);
}

int proto_get_setup(struct str setup, struct proto_setup *ret)
{
    struct rd r = rd_init(setup.p, setup.n);
    struct proto_setup s;
    if (!get_strings(&r, &s.n_args, &s.args) || !get_strings(&r, &s.n_env, &s.env) || r.n)
        return E_PARSE;
    *ret = s;
    return 0;
}

/* ---- the socket ---- */

/* Put the body into a sealed memfd. */
static int seal_body(struct str body, struct err *err)
{
    scoped(fd_scoped) int fd = sys_memfd("dormouse-body");
    if (fd < 0)
        return err_sys(err, fd, "create a memfd for a large message");
    int r = sys_write_all(fd, body.p, body.n);
    if (r < 0)
        return err_sys(err, r, "write a large message");
    if (fcntl(fd, F_ADD_SEALS, SEALS) < 0)
        return err_sys(err, -errno, "seal a large message");
    return take_fd(&fd);
}

static int send_packet(int sock, struct str packet, const int *fds, unsigned n_fds, struct err *err)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec iov = { (void *)packet.p, packet.n };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    if (n_fds) {
        memset(&control, 0, sizeof control);
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    }
    for (;;) {
        if (sendmsg(sock, &msg, MSG_NOSIGNAL) >= 0)
            return 0;
        if (errno == EAGAIN || errno == ENOBUFS)
            return -EAGAIN;
        if (errno != EINTR)
            return err_sys(err, -errno, "send a message");
    }
}

int proto_send(int sock, const struct buf *b, int fd, struct err *err)
{
    if (!buf_ok(b))
        return err_set(err, b->failed, "message too large");
    struct str packet = buf_str(b);
    int fds[2];
    unsigned n_fds = 0;
    scoped(fd_scoped) int body_fd = -1;
    if (packet.n > PROTO_MESSAGE_MAX) {
        if (packet.n - PROTO_FRAME_BYTES > PROTO_BODY_MAX)
            return err_set(err, -EMSGSIZE, "message of %zu bytes is over the limit", packet.n);
        body_fd = seal_body(str_slice(packet, PROTO_FRAME_BYTES, packet.n), err);
        if (body_fd < 0)
            return body_fd;
        fds[n_fds++] = body_fd;
        packet.n = PROTO_FRAME_BYTES;
    }
    if (fd >= 0)
        fds[n_fds++] = fd;
    return send_packet(sock, packet, fds, n_fds, err);
}

static void drop_last(struct proto_in *in)
{
    if (in->fd >= 0)
        (void)close(in->fd);
    in->fd = -1;
    free(in->large);
    in->large = NULL;
    in->body = STR_NULL;
}

void proto_in_fini(struct proto_in *in)
{
    drop_last(in);
    free(in->packet);
    in->packet = NULL;
}

/* Copy a body out of its memfd. A peer that did not seal it could change it later, but not our
 * copy. */
static int read_body(int fd, uint64_t n, char **ret, struct err *err)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) < 0 || (uint64_t)st.st_size != n)
        return err_set(err, E_PARSE, "the body of a message is not a sealed file of its size");
    scoped(free_scoped) char *p = mem_try(n);
    if (!p)
        return err_sys(err, -ENOMEM, "message of %llu bytes", (unsigned long long)n);
    ssize_t got = sys_pread_full(fd, p, n, 0);
    if (got < 0 || (uint64_t)got != n)
        return err_set(err, E_PARSE, "the body of a message cannot be read");
    *ret = take_ptr(&p);
    return 0;
}

/* Take the descriptors out of a received packet; false: more than expected. */
static bool take_fds(struct msghdr *msg, int fds[2], unsigned *ret_n)
{
    unsigned n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count && n < 2; i++)
            memcpy(&fds[n++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
    }
    *ret_n = n;
    return !(msg->msg_flags & (MSG_CTRUNC | MSG_TRUNC));
}

int proto_recv(int sock, int flags, struct proto_in *in, struct err *err)
{
    drop_last(in);
    if (!in->packet)
        in->packet = mem_try(PROTO_MESSAGE_MAX); /* pages that no message fills are never touched */
    if (!in->packet)
        return err_sys(err, -ENOMEM, "receive a message");
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec iov = { in->packet, PROTO_MESSAGE_MAX };
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof control.bytes };
    ssize_t n;
    do
        n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return -EAGAIN;
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return err_set(err, E_EOF, "the peer is gone");
    if (n < 0)
        return err_sys(err, -errno, "receive a message");

    int fds[2] = { -1, -1 };
    unsigned n_fds = 0;
    bool is_whole = take_fds(&msg, fds, &n_fds);
    scoped(fd_scoped) int first = fds[0];
    scoped(fd_scoped) int second = fds[1];
    if (!is_whole || n < PROTO_FRAME_BYTES)
        return err_set(err, E_PARSE, "truncated message");
    struct rd r = rd_init(in->packet, (size_t)n);
    uint32_t kind = rd_le32(&r), frame_flags = rd_le32(&r);
    uint64_t body_n = rd_le64(&r);
    if (kind < PROTO_HELLO || kind > PROTO_REPLY || frame_flags > FRAME_BODY_IN_FD)
        return err_set(err, E_PARSE, "unknown message");
    in->kind = (enum proto_kind)kind;
    if (!(frame_flags & FRAME_BODY_IN_FD)) {
        if (body_n != (size_t)n - PROTO_FRAME_BYTES || n_fds > 1)
            return err_set(err, E_PARSE, "message of the wrong size");
        in->body = str_n(in->packet + PROTO_FRAME_BYTES, (size_t)body_n);
        in->fd = take_fd(&first);
        return 0;
    }
    if (n != PROTO_FRAME_BYTES || n_fds < 1 || body_n > PROTO_BODY_MAX)
        return err_set(err, E_PARSE, "message of the wrong size");
    int status = read_body(first, body_n, &in->large, err);
    if (status < 0)
        return status;
    in->body = str_n(in->large, (size_t)body_n);
    in->fd = take_fd(&second);
    return 0;
}
