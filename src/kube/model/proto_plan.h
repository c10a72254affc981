/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans for encoding the objects of a built-in type: derived once from the schema for
 * proto_transcode.c. A plan is made when an object of its type is first transcoded and lives as
 * long as the process, as the schema does: some 60 bytes for a field, 25 KiB for all of a Pod.
 *
 * Fields are in the order of the struct, which most text has too; `rank` is the position of a field
 * in its message. Main loop only.
 */
#pragma once

#include "kube/model/builtin.h"
#include "kube/model/proto_wire.h"

#include <string.h>

/* The expected JSON of a value, where proto_transcode.c has special code for it. */
enum proto_step {
    PROTO_STEP_OTHER,
    PROTO_STEP_STRING,
    PROTO_STEP_BOOL,
    PROTO_STEP_INT,
    PROTO_STEP_TIME,
    PROTO_STEP_QUANTITY,
    PROTO_STEP_MESSAGE, /* an object with a plan of its own */
    PROTO_STEP_TEXT     /* a message that has JSON text as its bytes */
};

enum { PROTO_NO_FIELD = BUILTIN_NO_FIELD, PROTO_TAG_MAX_BYTES = 3 };

struct proto_plan_field {
    uint64_t head, mask; /* the first bytes of `"name":`, and which of eight count */
    const struct schema_field *field;
    const struct schema *value; /* of the field; for an array or map, of its items */
    struct proto_plan *plan;    /* of the value; NULL until proto_plan_of_value() */
    uint8_t rank;               /* PROTO_NO_FIELD: not in protobuf */
    uint8_t step;               /* enum proto_step, of the value */
    uint8_t shape;              /* SCHEMA_ARRAY, SCHEMA_MAP, or 0: a single value */
    uint8_t follower;           /* field that followed it last time: a guess */
    uint8_t tag_n;
    char tag[PROTO_TAG_MAX_BYTES + 1]; /* of the field; for the special steps only */
};

struct proto_plan {
    uint8_t n_fields, n_ranks;
    uint8_t revision;     /* rank of resourceVersion, PROTO_NO_FIELD: none */
    bool has_embedded;    /* some fields lie in messages of embedded structs */
    uint8_t length_bytes; /* that the last message's length took: a guess */
    uint8_t first;        /* field that an object began with last time: a guess */
    /*
     * The bytes for fields that the object lacks, one after the other: those of the ranks
     * from..to-1 are zero_at[from] .. zero_at[to]. WIRE_SPILL_BYTES more follow them.
     */
    const char *zeroes;
    const uint16_t *zero_at;
    const uint8_t *field_of_rank;
    const uint8_t *run_end; /* by rank: the next rank that lies in another message, or n_ranks */
    struct proto_plan_field fields[];
};

/* NULL: not an object of a built-in type. */
struct proto_plan *proto_plan_of(const struct schema *s);
/* Of f->value, which is an object. */
static inline struct proto_plan *proto_plan_of_value(struct proto_plan_field *f)
{
    if (!f->plan)
        f->plan = proto_plan_of(f->value);
    return f->plan;
}
/* Memory of all plans so far. */
size_t proto_plan_bytes(void);
