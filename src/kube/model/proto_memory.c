/* SPDX-License-Identifier: Apache-2.0 */
/* See proto_memory.h. */
#include "kube/model/proto_memory.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

enum {
    SLOTS = 64,       /* a Pod has some 30 fields worth keeping */
    WORTH_BYTES = 40, /* shorter text is transcoded as fast as copied */
    TRIES = 4,        /* misses in a row after which a place ... */
    PAUSE = 16        /* ... is tried only once in this many times */
};

struct proto_memory_slot {
    struct proto_place at;
    char *p; /* the text, followed by the bytes */
    uint32_t text_n, bytes_n, cap, misses;
};

struct proto_memory {
    struct proto_memory_slot slots[SLOTS];
    size_t bytes; /* of all slots */
};

struct proto_memory *proto_memory_new(void)
{
    return xnew(struct proto_memory);
}

void proto_memory_free(struct proto_memory *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(m->slots[i].p);
    free(m);
}

static struct proto_memory_slot *slot_of(struct proto_memory *m, struct proto_place at)
{
    uint64_t hash = ((uintptr_t)at.field + at.item) * UINT64_C(0x9e3779b97f4a7c15);
    return &m->slots[hash >> 58];
}
_Static_assert(SLOTS == 1 << (64 - 58), "the top bits of the hash choose the slot");

bool proto_memory_find(struct proto_memory *m, struct proto_place at, struct str text,
                       size_t *ret_text_n, struct str *ret_bytes)
{
    struct proto_memory_slot *s = slot_of(m, at);
    if (s->at.field != at.field || s->at.item != at.item || s->text_n == 0 || text.n < s->text_n ||
        memcmp(text.p, s->p, s->text_n) != 0)
        return false;
    s->misses = 0;
    *ret_text_n = s->text_n;
    *ret_bytes = str_n(s->p + s->text_n, s->bytes_n);
    return true;
}

/* Makes room for n bytes within the limits. */
static bool make_room(struct proto_memory *m, struct proto_memory_slot *s, size_t n)
{
    if (n <= s->cap)
        return true;
    if (n > PROTO_MEMORY_VALUE_MAX_BYTES || m->bytes - s->cap + n > PROTO_MEMORY_MAX_BYTES)
        return false;
    char *p = mem_try(n);
    if (!p)
        return false;
    free(s->p);
    m->bytes += n - s->cap;
    s->p = p;
    s->cap = (uint32_t)n;
    assert(m->bytes <= PROTO_MEMORY_MAX_BYTES);
    return true;
}

void proto_memory_keep(struct proto_memory *m, struct proto_place at, struct str text,
                       struct str bytes)
{
    struct proto_memory_slot *s = slot_of(m, at);
    s->misses++;
    if (text.n < WORTH_BYTES || (s->misses > TRIES && s->misses % PAUSE))
        return;
    s->text_n = 0;
    if (!make_room(m, s, text.n + bytes.n))
        return;
    assert(text.n + bytes.n <= s->cap);
    memcpy(s->p, text.p, text.n);
    memcpy(s->p + text.n, bytes.p, bytes.n);
    s->at = at;
    s->text_n = (uint32_t)text.n;
    s->bytes_n = (uint32_t)bytes.n;
}
