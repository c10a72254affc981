/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic rules; see split.h. */
#include "fn/gateway/split.h"

#include <errno.h>

/* Without a common factor with 100: n * stride mod 100 meets every place once. */
static const uint8_t strides[] = { 7, 11, 17, 23, 29, 33, 37, 41, 43, 47, 53, 57, 61, 67, 71, 79 };

static uint32_t place(struct split *s, struct rng *random)
{
    if (s->n == 0) {
        s->offset = (uint8_t)rng_below(random, 100);
        s->stride = strides[rng_below(random, sizeof strides)];
    }
    uint32_t at = (s->offset + s->n * (uint32_t)s->stride) % 100;
    s->n = (uint8_t)((s->n + 1) % 100);
    return at;
}

static bool is_wanted(const struct fn_traffic *t, struct str tag, const struct headers *headers)
{
    if (tag.n)
        return str_eq(t->tag, tag);
    if (!t->header.n || !headers)
        return false;
    for (size_t i = 0; i < headers->n; i++)
        if (str_ieq(headers_name(headers, i), t->header) &&
            str_eq(headers_value(headers, i), t->value))
            return true;
    return false;
}

int split_choose(struct split *s, struct rng *random, const struct fn_spec *spec, struct str tag,
                 const struct headers *headers, uint32_t latest, uint32_t *ret_revision)
{
    const struct fn_traffic *chosen = NULL;
    size_t n_percent = 0;
    for (size_t i = 0; i < spec->n_traffic && !chosen; i++) {
        const struct fn_traffic *t = &spec->traffic[i];
        if (is_wanted(t, tag, headers))
            chosen = t;
        n_percent += !t->header.n && t->percent > 0;
    }
    if (!chosen && tag.n)
        return -ENOENT;
    uint32_t at = !chosen && n_percent > 1 ? place(s, random) : 0, sum = 0;
    for (size_t i = 0; i < spec->n_traffic && !chosen; i++) {
        const struct fn_traffic *t = &spec->traffic[i];
        if (t->header.n)
            continue;
        sum += t->percent;
        if (at < sum)
            chosen = t;
    }
    *ret_revision = chosen && chosen->revision ? chosen->revision : latest;
    return 0;
}
