/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of sandboxes: a record of 40 bytes for each, found by its id, linked by revision.
 * Strings are stored once, with the workers that they belong to.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

enum sandbox_state {
    SANDBOX_FREE,
    SANDBOX_CREATING,
    SANDBOX_READY,
    SANDBOX_DRAINING,
    SANDBOX_DELETING
};

enum {
    SANDBOX_BY_WORKER = 1, /* its address is the worker's */
    SANDBOX_HAS_TEXT = 2,  /* its address is in the table's map, else worker's host and port */
    SANDBOX_RECOVERED = 4, /* made in an earlier term */
};

struct plane_sandbox {
    uint64_t id;
    uint32_t function, revision;
    uint32_t next, prev; /* slots of the same revision; TABLE_NONE */
    /*
     * CREATING: time of the decision in us; READY: since when, in ms; DRAINING: index in
     * plane.draining. Low 32 bits.
     */
    uint32_t at;
    uint32_t memory_kib; /* of the namespace's quota */
    uint16_t worker, port;
    uint8_t state, flags;
};

#define TABLE_NONE UINT32_MAX

struct sandbox_table {
    struct plane_sandbox *at;
    uint32_t n, cap;     /* slots in use or free; room */
    uint32_t free_first; /* linked by next */
    uint32_t n_used;
    uint32_t *index; /* slot + 1 by hash of id, linear probing; 0: free */
    uint32_t index_cap;
    struct map addresses; /* by the bytes of the id: char * */
};

void table_init(struct sandbox_table *t);
void table_fini(struct sandbox_table *t);
/* A slot with this id, otherwise zeroed. */
uint32_t table_add(struct sandbox_table *t, uint64_t id);
void table_del(struct sandbox_table *t, uint32_t slot);
/* TABLE_NONE: not found. */
uint32_t table_find(const struct sandbox_table *t, uint64_t id);
/* text: copied; NULL: remove it. */
void table_set_address(struct sandbox_table *t, uint32_t slot, const char *text);
const char *table_address(const struct sandbox_table *t, uint32_t slot);
