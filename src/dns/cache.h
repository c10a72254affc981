/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of other servers, until their TTL ends: also those that say what there is not (RFC 2308).
 * One allocation for each; the one that was used longest ago goes first. Nothing happens between
 * the calls. Pure; times are of the loop.
 */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "dns/message.h"

enum {
    DNS_CACHE_ENTRIES_MAX = 8192,
    DNS_CACHE_BYTES_MAX = 4 << 20 /* of questions and answers */
};

/* Zeroed: empty. */
struct dns_cache {
    struct map by_question;
    struct list used; /* the latest first */
    size_t bytes;
};

struct dns_cached {
    enum dns_rcode rcode;
    struct str message; /* borrowed until the next call that changes the cache */
    uint32_t age_s;
};

void dns_cache_fini(struct dns_cache *c);
/* false: it has no answer that still counts. */
bool dns_cache_get(struct dns_cache *c, const struct dns_question *q, uint64_t now_ms,
                   struct dns_cached *ret);
void dns_cache_put(struct dns_cache *c, const struct dns_question *q, uint64_t now_ms,
                   struct str message, const struct dns_upstream_answer *answer);
/* Bytes that stand for a question as a key; at most DNS_QUESTION_KEY. */
enum { DNS_QUESTION_KEY = DNS_NAME_MAX + 2 };
struct str dns_question_key(const struct dns_question *q, char buf[DNS_QUESTION_KEY]);
