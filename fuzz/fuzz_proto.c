/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between main and runners: the first byte chooses the kind. What decodes must encode to
 * the same bytes again. */
#include "fuzz.h"

#include "wasm/proto.h"

static void check_same(struct buf *b, struct str body)
{
    FUZZ_CHECK(buf_ok(b));
    FUZZ_CHECK(str_eq(str_slice(buf_str(b), PROTO_FRAME_BYTES, b->n), body));
}

static void copy_notes(struct rd r, uint32_t n, struct buf *to)
{
    for (uint32_t i = 0; i < n; i++) {
        struct proto_note note;
        proto_next_note(&r, &note);
        FUZZ_CHECK(rd_ok(&r));
        proto_add_note(to, &note);
    }
}

static void try_call(struct str body, enum proto_kind kind, struct buf *b)
{
    struct proto_call call;
    if (proto_get_call(body, &call, NULL) < 0)
        return;
    struct buf notes = BUF_INIT(PROTO_BODY_MAX);
    copy_notes(call.notes, call.n_notes, &notes);
    proto_put_call(b, kind, &call, buf_str(&notes));
    check_same(b, body);
    buf_fini(&notes);
}

static void try_answer(struct str body, struct buf *b)
{
    struct proto_answer a;
    if (proto_get_answer(body, &a, NULL) < 0)
        return;
    struct buf logs = BUF_INIT(PROTO_BODY_MAX), ops = BUF_INIT(PROTO_BODY_MAX),
               notes = BUF_INIT(PROTO_BODY_MAX);
    struct rd r = a.logs;
    for (uint32_t i = 0; i < a.n_logs; i++) {
        struct proto_log log;
        proto_next_log(&r, &log);
        FUZZ_CHECK(rd_ok(&r));
        proto_add_log(&logs, &log);
    }
    r = a.ops;
    for (uint32_t i = 0; i < a.n_ops; i++) {
        struct proto_op op;
        proto_next_op(&r, &op);
        FUZZ_CHECK(rd_ok(&r));
        proto_add_op(&ops, &op);
    }
    copy_notes(a.notes, a.n_notes, &notes);
    proto_put_answer(b, &a, buf_str(&logs), buf_str(&ops), buf_str(&notes));
    check_same(b, body);
    buf_fini(&notes);
    buf_fini(&logs);
    buf_fini(&ops);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct proto_run run;
    struct proto_hello hello;
    struct proto_module module;
    struct proto_slot slot;
    struct proto_reply reply;
    struct proto_setup setup;
    if (n == 0)
        return 0;
    struct str body = str_n(data + 1, n - 1);
    struct buf b = BUF_INIT(PROTO_FRAME_BYTES + PROTO_BODY_MAX);
    proto_begin(&b);
    unsigned kind = data[0] % (PROTO_REPLY + 1);
    switch (kind) {
    case PROTO_HELLO:
        if (proto_get_hello(body, &hello, NULL) == 0) {
            proto_put_hello(&b, &hello);
            check_same(&b, body);
        }
        break;
    case PROTO_MODULE:
        if (proto_get_module(body, &module, NULL) == 0) {
            proto_put_module(&b, &module);
            check_same(&b, body);
        }
        break;
    case PROTO_FORGET:
    case PROTO_DROP:
        if (proto_get_slot(body, &slot, NULL) == 0) {
            proto_put_slot(&b, (enum proto_kind)kind, slot.slot);
            check_same(&b, body);
        }
        break;
    case PROTO_RUN:
        if (proto_get_run(body, &run, NULL) == 0) {
            proto_put_run(&b, &run);
            check_same(&b, body);
        }
        break;
    case PROTO_ANSWER:
        try_answer(body, &b);
        break;
    case PROTO_CALL:
    case PROTO_NOTES:
        try_call(body, (enum proto_kind)kind, &b);
        break;
    case PROTO_REPLY:
        if (proto_get_reply(body, &reply, NULL) == 0) {
            proto_put_reply(&b, &reply);
            check_same(&b, body);
        }
        break;
    default:
        if (proto_get_setup(body, &setup) == 0)
            FUZZ_CHECK(setup.args.n + setup.env.n + 16 == body.n);
        break;
    }
    buf_fini(&b);
    return 0;
}
