/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runner that lies. The end of the path by which it was started says how: hello, garbage,
 * truncated, order, ids, incarnation, slot, silent-exit, memory, more, fd, call; for guests of ABI
 * v1: v1id, v1kind, v1twice, v1result, v1note, v1op; for functions, to each request: fnend,
 * fntoken, fndata, fnhead, fnstatus, fnresult, fntwice, fnearly, fncall, fnid, fnlog; fntemplate.
 */
#include "wasm/proto.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOCKET = 3 };

static void send_or_exit(const struct buf *b, int fd)
{
    if (proto_send(SOCKET, b, fd, NULL) < 0)
        _exit(0);
}

static void answer(const char *trick, const struct proto_run *run, struct buf *out)
{
    struct buf ops = BUF_INIT(4096), logs = BUF_INIT(4096);
    struct proto_answer a = { .slot = run->slot,
                              .incarnation = run->incarnation,
                              .guest = run->guest,
                              .seq = run->seq,
                              .flags = ANSWER_DONE,
                              .activations = 1,
                              .next_id = run->next_id };
    proto_add_log(&logs, &(struct proto_log){ .fd = 1, .line = STR("never to be seen") });
    a.n_logs = 1;
    if (strcmp(trick, "incarnation") == 0)
        a.incarnation++;
    if (strcmp(trick, "more") == 0)
        a.flags |= ANSWER_MORE;
    if (strcmp(trick, "slot") == 0)
        a.slot++;
    if (strcmp(trick, "memory") == 0)
        a.memory_pages = MODULE_PAGES_MAX;
    if (strcmp(trick, "ids") == 0) {
        proto_add_op(&ops, &(struct proto_op){ .kind = 1, .id = run->next_id + 7 });
        a.n_ops = 1;
        a.next_id++;
    }
    proto_begin(out);
    proto_put_answer(out, &a, buf_str(&logs), buf_str(&ops), STR_NULL);
    send_or_exit(out, strcmp(trick, "fd") == 0 ? STDERR_FILENO : -1);
    buf_fini(&ops);
    buf_fini(&logs);
}

/* What no guest of ABI v1 does when it starts. */
static void answer_v1(const char *trick, const struct proto_run *run, struct buf *out)
{
    struct buf notes = BUF_INIT(4096), ops = BUF_INIT(4096);
    struct proto_call call = { .slot = run->slot,
                               .incarnation = run->incarnation,
                               .guest = run->guest,
                               .seq = run->seq,
                               .id = run->next_id + (strcmp(trick, "v1id") == 0),
                               .kind = strcmp(trick, "v1kind") == 0 ? GUEST_CALL_CACHE_GET
                                                                    : GUEST_CALL_DECLARE };
    struct proto_answer a = { .slot = run->slot,
                              .incarnation = run->incarnation,
                              .guest = run->guest,
                              .seq = run->seq,
                              .flags = ANSWER_DONE,
                              .activations = 1,
                              .next_id = run->next_id };
    bool is_call =
        strcmp(trick, "v1id") == 0 || strcmp(trick, "v1kind") == 0 || strcmp(trick, "v1twice") == 0;
    if (strcmp(trick, "v1result") == 0)
        proto_add_note(&notes, &(struct proto_note){ .kind = NOTE_RESULT });
    if (strcmp(trick, "v1note") == 0)
        proto_add_note(&notes, &(struct proto_note){ .kind = GUEST_POST_EVENT, .token = 9 });
    if (strcmp(trick, "v1op") == 0)
        proto_add_op(&ops, &(struct proto_op){ .kind = 1, .id = a.next_id++ });
    a.n_notes = notes.n > 0;
    a.n_ops = ops.n > 0;
    proto_begin(out);
    if (is_call)
        proto_put_call(out, PROTO_CALL, &call, STR_NULL);
    else
        proto_put_answer(out, &a, STR_NULL, buf_str(&ops), buf_str(&notes));
    send_or_exit(out, -1);
    if (strcmp(trick, "v1twice") == 0) {
        call.id++;
        proto_begin(out);
        proto_put_call(out, PROTO_CALL, &call, STR_NULL);
        send_or_exit(out, -1);
    }
    buf_fini(&notes);
    buf_fini(&ops);
}

static void add_end(struct buf *notes, uint64_t token, uint32_t *n)
{
    proto_add_note(notes, &(struct proto_note){ .kind = NOTE_FN_END, .token = token });
    ++*n;
}

/* What no request to a function does. */
static void answer_request(const char *trick, const struct proto_run *run, struct buf *out)
{
    struct buf notes = BUF_INIT(4096);
    uint64_t token = run->deliveries[0].id;
    struct proto_note head = { .kind = NOTE_FN_HEAD, .number = 200, .token = token };
    struct proto_note data = { .kind = NOTE_FN_DATA, .token = token, .head = STR("lie") };
    struct proto_call call = { .slot = run->slot,
                               .incarnation = run->incarnation,
                               .guest = run->guest,
                               .seq = run->seq,
                               .kind = GUEST_CALL_FN_BODY };
    struct proto_answer a = { .slot = run->slot,
                              .incarnation = run->incarnation,
                              .guest = run->guest,
                              .seq = run->seq,
                              .flags = ANSWER_DONE };
    bool is_call = true;
    uint32_t n = 0;
    if (strcmp(trick, "fncall") == 0)
        call.kind = GUEST_CALL_DECLARE;
    else if (strcmp(trick, "fnid") == 0)
        call.id = 5;
    else
        is_call = strcmp(trick, "fnearly") == 0;
    if (strcmp(trick, "fndata") == 0 || strcmp(trick, "fnhead") == 0)
        proto_add_note(&notes, strcmp(trick, "fndata") == 0 ? &data : &head), n++;
    if (strcmp(trick, "fnstatus") == 0)
        head.number = 99;
    if (strcmp(trick, "fnstatus") == 0 || strcmp(trick, "fnhead") == 0)
        proto_add_note(&notes, &head), n++;
    if (strcmp(trick, "fnresult") == 0)
        proto_add_note(&notes, &(struct proto_note){ .kind = NOTE_RESULT, .token = token }), n++;
    if (strcmp(trick, "fnlog") == 0)
        a.n_logs = 1;
    if (strcmp(trick, "fnend") != 0 && strcmp(trick, "fncall") != 0 && strcmp(trick, "fnid") != 0)
        add_end(&notes, token + (strcmp(trick, "fntoken") == 0), &n);
    if (strcmp(trick, "fntwice") == 0)
        add_end(&notes, token, &n);
    struct buf logs = BUF_INIT(64);
    proto_add_log(&logs, &(struct proto_log){ .fd = 1, .line = STR("x") });
    a.n_notes = call.n_notes = n;
    proto_begin(out);
    if (is_call)
        proto_put_call(out, PROTO_CALL, &call, buf_str(&notes));
    else
        proto_put_answer(out, &a, a.n_logs ? buf_str(&logs) : STR_NULL, STR_NULL, buf_str(&notes));
    send_or_exit(out, -1);
    buf_fini(&notes);
    buf_fini(&logs);
}

static void answer_function(const char *trick, const struct proto_run *run, struct buf *out)
{
    if (!(run->flags & RUN_TEMPLATE)) {
        answer_request(trick, run, out);
        return;
    }
    struct proto_answer a = { .slot = run->slot,
                              .incarnation = run->incarnation,
                              .guest = run->guest,
                              .seq = run->seq,
                              .flags = strcmp(trick, "fntemplate") == 0 ? 0 : ANSWER_DONE };
    proto_begin(out);
    proto_put_answer(out, &a, STR_NULL, STR_NULL, STR_NULL);
    send_or_exit(out, -1);
}

int main(void)
{
    const char *path = (const char *)getauxval(AT_EXECFN), *trick = strrchr(path, '/');
    static struct proto_run run;
    struct proto_in in = PROTO_IN_INIT;
    struct buf out = BUF_INIT(PROTO_MESSAGE_MAX);
    for (const char *p = trick; p && *p; p++) /* fake_runner-TRICK */
        if (*p == '-') {
            trick = p + 1;
            break;
        }
    uint32_t version = strcmp(trick, "hello") == 0 ? PROTO_VERSION + 1 : PROTO_VERSION;
    proto_begin(&out);
    proto_put_hello(&out, &(struct proto_hello){ .version = version, .engine = STR("fake") });
    send_or_exit(&out, -1);
    while (proto_recv(SOCKET, 0, &in, NULL) >= 0) {
        if (in.kind != PROTO_RUN)
            continue;
        if (strcmp(trick, "silent-exit") == 0)
            break;
        if (strcmp(trick, "call") == 0 && proto_get_run(in.body, &run, NULL) == 0) {
            proto_begin(&out);
            proto_put_call(&out, PROTO_CALL,
                           &(struct proto_call){ .slot = run.slot,
                                                 .incarnation = run.incarnation,
                                                 .guest = run.guest,
                                                 .seq = run.seq,
                                                 .id = run.next_id },
                           STR_NULL);
            send_or_exit(&out, -1);
        }
        if (strcmp(trick, "garbage") == 0) {
            (void)!send(SOCKET,
                        "\xff\xff\xff\xff"
                        "garbage of more than a frame",
                        32, MSG_NOSIGNAL);
        } else if (strcmp(trick, "truncated") == 0) {
            (void)!send(SOCKET, "\6\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0x", 17, MSG_NOSIGNAL);
        } else if (strcmp(trick, "order") == 0) {
            proto_begin(&out);
            proto_put_slot(&out, PROTO_DROP, 0);
            send_or_exit(&out, -1);
        } else if (strncmp(trick, "fn", 2) == 0) {
            if (proto_get_run(in.body, &run, NULL) == 0)
                answer_function(trick, &run, &out);
        } else if (strncmp(trick, "v1", 2) == 0) {
            if (proto_get_run(in.body, &run, NULL) == 0)
                answer_v1(trick, &run, &out);
        } else if (proto_get_run(in.body, &run, NULL) == 0) {
            answer(trick, &run, &out);
        }
    }
    proto_in_fini(&in);
    buf_fini(&out);
    return 0;
}
