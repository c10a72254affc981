/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts of resources, and the quantities from which they are read. */
#include "kube/model/quantity.h"
#include "sched/object/pack.h"

void sched_amounts_fini(struct intern_table *w, struct sched_amounts *a)
{
    sched_walk_amounts(&(struct sched_walk){ .mode = SCHED_WALK_UNREF, .words = w }, a);
    free(a->scalars);
    *a = (struct sched_amounts){ 0 };
}

int64_t sched_amounts_scalar(const struct sched_amounts *a, const struct intern *name)
{
    for (uint32_t i = 0; i < a->n_scalars; i++)
        if (a->scalars[i].name == name)
            return a->scalars[i].value;
    return 0;
}

static int compare_scalars(const void *a, const void *b)
{
    const struct sched_scalar *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

void sched_amounts_sort(struct sched_amounts *a)
{
    if (a->n_scalars > 1)
        qsort(a->scalars, a->n_scalars, sizeof(*a->scalars), compare_scalars);
}

bool sched_is_scalar(struct str r)
{
    if (str_has_prefix(r, STR("hugepages-")) || str_has_prefix(r, STR("attachable-volumes-")))
        return true;
    if (str_find_char(r, '/') < 0)
        return false;
    /* "requests.DOMAIN/NAME" is a name used by quotas. */
    return str_find(r, STR("kubernetes.io/")) >= 0 || !str_has_prefix(r, STR("requests."));
}

struct str sched_quantity_text(const struct json *v)
{
    return json_is(v, JSON_STRING) || json_is(v, JSON_NUMBER) ? v->s : STR("");
}

/* The common form: up to 12 digits, and a suffix of at most two letters. 0: another form. */
static __int128 plain_nano(struct str s)
{
    enum { MAX_DIGITS = 12 };
    uint64_t v = 0;
    size_t i = 0;
    while (i < s.n && i < MAX_DIGITS && s.p[i] >= '0' && s.p[i] <= '9')
        v = v * 10 + (uint64_t)(s.p[i++] - '0');
    if (i == 0)
        return 0;
    const int64_t nano = 1000000000;
    if (i == s.n)
        return (__int128)v * nano;
    bool binary = s.n == i + 2 && s.p[i + 1] == 'i';
    if (!binary && s.n != i + 1)
        return 0;
    switch (s.p[i]) {
    case 'm':
        return binary ? 0 : (__int128)v * (nano / 1000);
    case 'k':
        return binary ? 0 : (__int128)v * nano * 1000;
    case 'K':
        return binary ? (__int128)v * nano * 1024 : 0;
    case 'M':
        return (__int128)v * nano * (binary ? 1 << 20 : 1000000);
    case 'G':
        return v < 1000000000 ? (__int128)v * nano * (binary ? 1 << 30 : 1000000000) : 0;
    }
    return 0;
}

int sched_quantity_nano(struct str text, __int128 *ret, struct err *err)
{
    __int128 nano = plain_nano(text);
    if (nano == 0) {
        struct quantity q;
        int r = quantity_parse(text, &q, err);
        if (r < 0)
            return r;
        nano = q.nano;
    }
    *ret = nano;
    return 0;
}
