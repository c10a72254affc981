/* SPDX-License-Identifier: Apache-2.0 */
/* The index of dependents; see owners.h. */
#include "api/owners.h"

#include "base/map.h"
#include "kube/model/meta.h"

#include <assert.h>

struct entries {
    struct {
        struct str key;
        bool blocks;
    } at[OWNERS_OPS_MAX];
    size_t n;
};

bool owners_has_finalizer(const struct json *obj, const char *finalizer)
{
    json_each (f, json_path(obj, "metadata", "finalizers", NULL)) {
        if (str_is(json_str(f), finalizer))
            return true;
    }
    return false;
}

bool owners_is_leaving(const struct json *obj)
{
    return obj && meta_is_deleting(obj) &&
           (owners_has_finalizer(obj, FINALIZER_FOREGROUND) ||
            owners_has_finalizer(obj, FINALIZER_ORPHAN));
}

/* A uid as part of a key. Clients may send any text; uids that no object can have may collide. */
static struct str uid_part(struct arena *a, struct str uid)
{
    char *out = str_dup_arena(a, str_slice(uid, 0, MIN(uid.n, OWNERS_UID_MAX)));
    for (char *p = out; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                     (*p >= 'A' && *p <= 'Z') || *p == '-';
        if (!plain)
            *p = '_';
    }
    return str_of(out);
}

/* Two references to one owner make one entry. false: too many. */
static bool add(struct entries *e, struct str key, bool blocks)
{
    for (size_t i = 0; i < e->n; i++) {
        if (str_eq(e->at[i].key, key)) {
            e->at[i].blocks = e->at[i].blocks || blocks;
            return true;
        }
    }
    if (e->n == ARRAY_LEN(e->at))
        return false;
    e->at[e->n].key = key;
    e->at[e->n++].blocks = blocks;
    return true;
}

static bool collect(struct arena *a, struct str key, const struct json *obj, struct entries *ret)
{
    ret->n = 0;
    json_each (ref, json_path(obj, "metadata", "ownerReferences", NULL)) {
        struct str uid = uid_part(a, json_get_str(ref, "uid"));
        const char *entry =
            arena_printf(a, OWNED_PREFIX STR_FMT STR_FMT, STR_ARG(uid), STR_ARG(key));
        if (!add(ret, str_of(entry), json_bool(json_getc(ref, "blockOwnerDeletion"))))
            return false;
    }
    if (!owners_is_leaving(obj))
        return true;
    return add(ret, str_of(arena_printf(a, LEAVING_PREFIX STR_FMT, STR_ARG(key))), false);
}

/* blocks: compare the value, too; NULL: any. */
static bool has(const struct entries *e, struct str key, const bool *blocks)
{
    for (size_t i = 0; i < e->n; i++)
        if (str_eq(e->at[i].key, key))
            return !blocks || e->at[i].blocks == *blocks;
    return false;
}

int owners_ops(struct arena *a, struct str key, const struct json *old, const struct json *obj,
               struct store_op *ops, size_t *n, struct err *err)
{
    struct entries was, is;
    size_t k = 0;
    if (!collect(a, key, old, &was) || !collect(a, key, obj, &is) || was.n + is.n > OWNERS_OPS_MAX)
        return err_set(err, E_LIMIT, "more than %d owner references change at once",
                       OWNERS_OPS_MAX);
    assert(*n + was.n + is.n <= STORE_TXN_MAX_OPS);
    for (size_t i = 0; i < is.n; i++)
        if (!has(&was, is.at[i].key, &is.at[i].blocks))
            ops[*n + k++] = (struct store_op){ .kind = STORE_PUT,
                                               .key = is.at[i].key,
                                               .value = is.at[i].blocks ? STR("b") : STR("-") };
    for (size_t i = 0; i < was.n; i++)
        if (!has(&is, was.at[i].key, NULL))
            ops[*n + k++] = (struct store_op){ .kind = STORE_DELETE, .key = was.at[i].key };
    *n += k;
    return 0;
}

struct str owners_dedup(struct arena *a, struct json *obj)
{
    struct json *refs = json_path(obj, "metadata", "ownerReferences", NULL);
    if (!json_is(refs, JSON_ARRAY) || refs->n < 2)
        return STR("");
    scoped(buf_fini_scoped) struct buf uids = BUF_INIT(1 << 20), text = BUF_INIT(BUF_MAX_DEFAULT);
    struct map seen = { 0 };
    for (struct json *ref = json_take_children(refs), *next; ref; ref = next) {
        next = ref->next;
        buf_reset(&text);
        (void)json_write_sorted(&text, ref);
        if (!map_put(&seen, buf_str(&text), ref)) {
            json_add(refs, ref);
            continue;
        }
        if (uids.n)
            (void)buf_add_char(&uids, ' ');
        (void)buf_add_str(&uids, json_get_str(ref, "uid"));
    }
    map_fini(&seen);
    if (uids.n == 0)
        return STR("");
    return str_of(arena_printf(a,
                               ".metadata.ownerReferences contains duplicate entries; API server "
                               "dedups owner references in 1.20+, and may reject such requests as "
                               "early as 1.24; please fix your requests; duplicate UID(s) "
                               "observed: [" STR_FMT "]",
                               STR_ARG(buf_str(&uids))));
}

struct str owners_prefix(struct arena *a, struct str uid)
{
    return str_of(arena_printf(a, OWNED_PREFIX STR_FMT "/", STR_ARG(uid_part(a, uid))));
}

struct str owners_uid(struct str entry)
{
    struct str rest = str_slice(entry, sizeof OWNED_PREFIX - 1, entry.n);
    ptrdiff_t slash = str_find_char(rest, '/');
    return slash < 0 ? rest : str_slice(rest, 0, (size_t)slash);
}

struct str owners_dependent(struct str entry)
{
    if (str_has_prefix(entry, STR(LEAVING_PREFIX "/")))
        return str_slice(entry, sizeof LEAVING_PREFIX - 1, entry.n);
    return str_slice(entry, sizeof OWNED_PREFIX - 1 + owners_uid(entry).n, entry.n);
}
