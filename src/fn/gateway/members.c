/* SPDX-License-Identifier: Apache-2.0 */
/* Members; see members.h. All gateways must agree on the weights, so their seeds are constants. */
#include "fn/gateway/members.h"

#include "base/mem.h"

#include <openssl/crypto.h>

enum { SEED_MEMBER = 1, SEED_KEY = 2 };

static void clear(struct members *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->at[i].name);
        free(m->at[i].address);
    }
    m->n = 0;
    m->self = SIZE_MAX;
}

void members_begin(struct members *m, uint64_t epoch, struct str secret)
{
    clear(m);
    m->epoch = epoch;
    char hex[sizeof m->secret] = "";
    for (size_t i = 0; i < secret.n && i < MEMBERS_SECRET_MAX; i++) {
        hex[2 * i] = "0123456789abcdef"[(uint8_t)secret.p[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[(uint8_t)secret.p[i] & 15];
        hex[2 * i + 2] = 0;
    }
    if (strcmp(hex, m->secret) == 0)
        return;
    memcpy(m->former, m->secret, sizeof m->former);
    memcpy(m->secret, hex, sizeof m->secret);
}

bool members_add(struct members *m, struct str name, struct str address, bool is_self,
                 bool is_leaving)
{
    if (m->n == MEMBERS_MAX)
        return false;
    if (is_self)
        m->self = m->n;
    m->at[m->n++] = (struct gateway_member){ .name = str_dup(name),
                                             .address = str_dup(address),
                                             .hash = str_hash(name, SEED_MEMBER),
                                             .is_leaving = is_leaving };
    return true;
}

bool members_drop_doubted(struct members *m)
{
    size_t n = 0, was = m->n, self = SIZE_MAX;
    for (size_t i = 0; i < was; i++) {
        if (m->at[i].is_doubted) {
            free(m->at[i].name);
            free(m->at[i].address);
            continue;
        }
        if (i == m->self)
            self = n;
        m->at[n++] = m->at[i];
    }
    m->n = n;
    m->self = self;
    return n < was;
}

void members_fini(struct members *m)
{
    clear(m);
    OPENSSL_cleanse(m->secret, sizeof m->secret);
    OPENSSL_cleanse(m->former, sizeof m->former);
}

static uint64_t weight(uint64_t member, uint64_t key)
{
    uint64_t z = member ^ key;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

size_t members_owner(const struct members *m, struct str key, uint64_t now_ms)
{
    uint64_t hash = str_hash(key, SEED_KEY), best_weight = 0;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < m->n; i++) {
        if (m->at[i].is_leaving || m->at[i].suspect_until_ms > now_ms)
            continue;
        uint64_t w = weight(m->at[i].hash, hash);
        /* A tie would be a collision of hashes; names decide, as they do elsewhere. */
        if (best == SIZE_MAX || w > best_weight ||
            (w == best_weight && strcmp(m->at[i].name, m->at[best].name) < 0)) {
            best = i;
            best_weight = w;
        }
    }
    return best;
}

bool members_knows(const struct members *m, struct str secret)
{
    return (m->secret[0] && str_is_secret(secret, m->secret)) ||
           (m->former[0] && str_is_secret(secret, m->former));
}
