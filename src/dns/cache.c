/* SPDX-License-Identifier: Apache-2.0 */
#include "dns/cache.h"

struct cached_answer {
    struct list node;
    uint64_t stored_ms, ends_ms;
    enum dns_rcode rcode;
    uint32_t n_key, n_message;
    char bytes[]; /* key, message */
};

struct str dns_question_key(const struct dns_question *q, char buf[DNS_QUESTION_KEY])
{
    memcpy(buf, q->name.p, q->name.n);
    buf[q->name.n] = (char)(q->type >> 8);
    buf[q->name.n + 1] = (char)q->type;
    return str_n(buf, q->name.n + 2);
}

static size_t bytes_of(const struct cached_answer *e)
{
    return sizeof *e + e->n_key + e->n_message;
}

static void drop(struct dns_cache *c, struct cached_answer *e)
{
    (void)map_del(&c->by_question, str_n(e->bytes, e->n_key));
    list_remove(&e->node);
    c->bytes -= bytes_of(e);
    free(e);
}

void dns_cache_fini(struct dns_cache *c)
{
    while (!list_is_empty(&c->used))
        drop(c, list_first(&c->used, struct cached_answer, node));
    map_fini(&c->by_question);
}

bool dns_cache_get(struct dns_cache *c, const struct dns_question *q, uint64_t now_ms,
                   struct dns_cached *ret)
{
    char key[DNS_QUESTION_KEY];
    struct cached_answer *e = map_get(&c->by_question, dns_question_key(q, key));
    if (!e)
        return false;
    if (now_ms >= e->ends_ms) {
        drop(c, e);
        return false;
    }
    list_remove(&e->node);
    list_push_front(&c->used, &e->node);
    *ret = (struct dns_cached){ .rcode = e->rcode,
                                .message = str_n(e->bytes + e->n_key, e->n_message),
                                .age_s = (uint32_t)((now_ms - e->stored_ms) / 1000) };
    return true;
}

void dns_cache_put(struct dns_cache *c, const struct dns_question *q, uint64_t now_ms,
                   struct str message, const struct dns_upstream_answer *answer)
{
    char buf[DNS_QUESTION_KEY];
    struct str key = dns_question_key(q, buf);
    struct cached_answer *e = map_get(&c->by_question, key);
    if (!c->used.next) {
        list_init(&c->used);
        c->by_question.borrows_keys = true;
    }
    if (e)
        drop(c, e);
    if (answer->ttl_s == 0)
        return;
    e = xalloc(sizeof *e + key.n + message.n);
    e->stored_ms = now_ms;
    e->ends_ms = now_ms + (uint64_t)answer->ttl_s * 1000;
    e->rcode = answer->rcode;
    e->n_key = (uint32_t)key.n;
    e->n_message = (uint32_t)message.n;
    memcpy(e->bytes, key.p, key.n);
    memcpy(e->bytes + key.n, message.p, message.n);
    (void)map_put(&c->by_question, str_n(e->bytes, key.n), e);
    list_push_front(&c->used, &e->node);
    c->bytes += bytes_of(e);
    while (c->bytes > DNS_CACHE_BYTES_MAX || c->by_question.n > DNS_CACHE_ENTRIES_MAX)
        drop(c, list_entry(c->used.prev, struct cached_answer, node));
}
