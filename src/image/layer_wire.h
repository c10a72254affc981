/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of a layer (layer_parse.h) as records in a pipe, from the confined process that parses
 * it to the process that writes files. Both are the same program on the same machine; the receiver
 * checks all records, because the sender has read hostile bytes.
 *
 * A record is its kind and the length of what follows, u32 each in the machine's byte order, then
 * at most LAYER_WIRE_MAX bytes. The last record is the end, with the facts, or an error.
 */
#pragma once

#include "oci/layer_parse.h"

enum {
    LAYER_WIRE_MAX = 192 << 10, /* an entry with all its extended attributes */
    LAYER_WIRE_BUFFER = 256 << 10,
};

/* ---- writing: pure except for write() on `fd` ---- */

struct layer_wire_out {
    int fd;
    size_t n;
    char buffer[LAYER_WIRE_BUFFER];
};

/* The ops of a layer that writes to a struct layer_wire_out, with the raw tar or with content. */
extern const struct layer_ops layer_wire_ops, layer_wire_raw_ops;
/* The last record: the facts, or with r < 0 the error; then everything is written. */
int layer_wire_end(struct layer_wire_out *o, int r, const struct layer_facts *facts,
                   const struct err *why);

/* ---- reading ---- */

struct layer_wire_in {
    const struct layer_ops *ops;
    void *arg;
    uint64_t max_bytes;       /* of the tar, and of the content that its entries announce */
    bool is_over;             /* the last record was received */
    struct layer_facts facts; /* then set */
    uint64_t left;            /* bytes of content that the last entry still has */
    uint64_t n_entries;
    uint64_t n_raw, n_data, n_content; /* bytes so far: of the tar, of data(), announced */
};

/*
 * Deliver the records at the start of `bytes`. Returns the number of consumed bytes, fewer than all
 * if the last record is incomplete. Errors: E_PARSE (the sender violates the format), the error
 * that the sender reports, the errors of the ops.
 */
ptrdiff_t layer_wire_add(struct layer_wire_in *in, struct str bytes, struct err *err);
