/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host functions of the operator ABIs G1 and G2 (those of v1 are in v1.c): each starts an
 * operation and returns its id at once. Arguments are copied before the function returns; main
 * learns of the operation when the activation has ended.
 */
#include "runner/worker.h"

#include "codec/bincode.h"

enum { OP_REQUEST, OP_DELAY, OP_WATCH }; /* struct guest_op */

/* Payloads of one operation; the sum over one activation is bounded by PROTO_OPS_BYTES_MAX. */
enum { PAYLOAD_MAX = 16 << 20 };

/* Main decodes the payload again; it is checked here so that the guest fails at the faulty call. */
static int check_payload(uint32_t kind, struct str payload, struct err *err)
{
    struct bincode_request request = { 0 };
    struct bincode_watch watch;
    if (kind == OP_WATCH)
        return bincode_watch_decode(payload, &watch, err);
    int r = bincode_request_decode(payload, &request, err);
    bincode_request_fini(&request);
    return r;
}

static wasm_trap_t *start_op(struct instance *in, struct proto_op *op, uint64_t at, uint64_t n,
                             wasmtime_val_raw_t *v)
{
    struct runner_outcome *o = &in->worker->outcome;
    if (n > PAYLOAD_MAX || o->ops.n + n > PROTO_OPS_BYTES_MAX)
        return instance_fail(in, "the payloads of its operations are too large");
    if (in->ops_room == 0)
        return instance_fail(in, "too many operations outstanding");
    const void *p = wasi_range(&in->wasi, (uint32_t)at, n);
    if (!p)
        return instance_fail(in, "the payload of an operation is not in its memory");
    op->payload = str_n(p, n);
    struct err err = { 0 };
    if (op->kind != OP_DELAY && check_payload(op->kind, op->payload, &err) < 0)
        return instance_fail(in, "malformed operation: %s", err_text(&err));
    op->id = in->next_id;
    proto_add_op(&o->ops, op);
    if (!buf_ok(&o->ops))
        return instance_fail(in, "no memory for its operations");
    o->n_ops++;
    in->ops_room--;
    in->next_id++;
    v[0].i64 = (int64_t)op->id;
    return NULL;
}

ENGINE_FUNC(abi_g1_request)
{
    struct proto_op op = { .kind = OP_REQUEST };
    return start_op(instance_of(caller), &op, (uint32_t)v[0].i32, (uint32_t)v[1].i32, v);
}

ENGINE_FUNC(abi_g1_watch)
{
    struct proto_op op = { .kind = OP_WATCH, .stream = true };
    return start_op(instance_of(caller), &op, (uint32_t)v[0].i32, (uint32_t)v[1].i32, v);
}

ENGINE_FUNC(abi_g2_request)
{
    struct proto_op op = { .kind = OP_REQUEST, .stream = v[2].i32 != 0 };
    return start_op(instance_of(caller), &op, (uint32_t)v[0].i32, (uint32_t)v[1].i32, v);
}

ENGINE_FUNC(abi_delay)
{
    struct proto_op op = { .kind = OP_DELAY, .delay_ms = (uint64_t)v[0].i64 };
    return start_op(instance_of(caller), &op, 0, 0, v);
}

/* ---- linking ---- */

int abi_define(wasmtime_linker_t *linker, enum guest_abi abi, struct err *err)
{
    static const struct {
        enum guest_abi abi;
        struct engine_func func;
    } rows[] = {
#define ROW(abi, module, name, sig, fn) { abi, { module, name, sig, fn } },
        ABI_IMPORTS(ROW)
#undef ROW
    };
    int status = wasi_define(linker, false, err);
    if (status == 0 && abi == GUEST_ABI_V1)
        return v1_define(linker, err);
    if (status == 0 && abi == GUEST_ABI_HTTP)
        return runner_define_function(linker, err);
    if (status == 0 && abi == GUEST_ABI_G1)
        status = wasi_define(linker, true, err);
    for (size_t i = 0; i < ARRAY_LEN(rows) && status == 0; i++)
        if (rows[i].abi == abi)
            status = engine_define(linker, &rows[i].func, 1, err);
    return status;
}
