/* SPDX-License-Identifier: Apache-2.0 */
/* Values of keys that are read often; see hot.h. */
#include "store/hot.h"

#include "base/mem.h"

#include <assert.h>

static uint64_t hash_of(struct str key)
{
    return str_hash(key, 0);
}

static struct hot_slot *slot_of(struct hot *h, uint64_t hash)
{
    return &h->slots[hash % HOT_SLOTS];
}

static bool is_kept(const struct hot_slot *slot, struct str key)
{
    return slot->kv.key.p && str_eq(slot->kv.key, key);
}

static void clear(struct hot *h, struct hot_slot *slot)
{
    if (!slot->kv.key.p)
        return;
    assert(h->n > 0);
    free((char *)slot->kv.key.p);
    slot->kv = (struct store_kv){ 0 };
    h->n--;
}

const struct store_kv *hot_find(struct hot *h, struct str key)
{
    if (h->n == 0)
        return NULL;
    uint64_t hash = hash_of(key);
    struct hot_slot *slot = slot_of(h, hash);
    if (!is_kept(slot, key))
        return NULL;
    slot->asked = hash; /* another key must be read twice again before it enters */
    return &slot->kv;
}

void hot_note(struct hot *h, const struct store_kv *kv)
{
    if (kv->key.n + kv->value.n > HOT_MAX_BYTES)
        return;
    uint64_t hash = hash_of(kv->key);
    struct hot_slot *slot = slot_of(h, hash);
    if (slot->asked != hash) {
        slot->asked = hash;
        return;
    }
    clear(h, slot);
    char *p = xalloc(kv->key.n + kv->value.n + 1);
    memcpy(p, kv->key.p, kv->key.n);
    if (kv->value.n)
        memcpy(p + kv->key.n, kv->value.p, kv->value.n);
    slot->kv = *kv;
    slot->kv.key.p = p;
    slot->kv.value.p = p + kv->key.n;
    h->n++;
    assert(h->n <= HOT_SLOTS);
}

void hot_forget(struct hot *h, struct str key)
{
    if (h->n == 0)
        return;
    struct hot_slot *slot = slot_of(h, hash_of(key));
    if (is_kept(slot, key))
        clear(h, slot);
}

void hot_reset(struct hot *h)
{
    for (size_t i = 0; i < HOT_SLOTS; i++)
        clear(h, &h->slots[i]);
    assert(h->n == 0);
    *h = (struct hot){ 0 };
}
