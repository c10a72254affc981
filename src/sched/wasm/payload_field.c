/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fields of messages by number, so that a guest need not decode a whole object; payload.h. */
#include "sched/wasm/payload.h"

enum { NUMBER = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct wasm_field {
    uint64_t number;
    unsigned type;
    uint64_t value;   /* of NUMBER */
    struct str bytes; /* of BYTES */
};

static bool take_number(struct str *at, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at->n; shift += 7) {
        uint8_t byte = (uint8_t)at->p[0];
        *at = str_slice(*at, 1, at->n);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return true;
        }
    }
    return false;
}

/* Reads the next field of a message; returns false at its end, or if it is malformed. */
static bool next_field(struct str *at, struct wasm_field *ret)
{
    uint64_t tag, n = 0;
    if (!take_number(at, &tag))
        return false;
    *ret = (struct wasm_field){ .number = tag >> 3, .type = (unsigned)(tag & 7) };
    if (ret->type == NUMBER)
        return take_number(at, &ret->value);
    if (ret->type == FIXED64 || ret->type == FIXED32)
        n = ret->type == FIXED64 ? 8 : 4;
    else if (ret->type != BYTES || !take_number(at, &n))
        return false;
    if (n > at->n)
        return false;
    ret->bytes = str_n(at->p, (size_t)n);
    *at = str_slice(*at, (size_t)n, at->n);
    return true;
}

static bool find(struct str message, uint64_t number, struct wasm_field *ret)
{
    while (next_field(&message, ret))
        if (ret->number == number)
            return true;
    return false;
}

static bool find_entry(struct str message, uint64_t number, struct str key, struct wasm_field *ret)
{
    struct wasm_field entry, name;
    while (next_field(&message, &entry))
        if (entry.number == number && entry.type == BYTES && find(entry.bytes, 1, &name) &&
            name.type == BYTES && str_eq(name.bytes, key))
            return find(entry.bytes, 2, ret);
    return false;
}

bool payload_field_find(struct str message, struct str path, struct str key, uint64_t *number,
                        struct str *ret)
{
    struct wasm_field f = { .type = BYTES, .bytes = message };
    if (path.n == 0)
        return false;
    for (size_t i = 0; i < path.n; i++) {
        bool is_last = i + 1 == path.n;
        uint8_t step = (uint8_t)path.p[i];
        if (f.type != BYTES)
            return false;
        struct str in = f.bytes;
        if (!(is_last && key.n ? find_entry(in, step, key, &f) : find(in, step, &f)))
            return false;
    }
    *ret = f.bytes;
    if (f.type == NUMBER) {
        *number = f.value;
        *ret = str_n(number, sizeof *number);
    }
    return true;
}
