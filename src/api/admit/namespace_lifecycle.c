/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NamespaceLifecycle: an object is created only if its namespace exists and is not being deleted,
 * up to the transaction. The transaction compares the namespace's revision, which namespace_table.h
 * knows in most cases; otherwise the namespace is read.
 */
#include "api/admit/admit.h"

enum { NAMESPACE_MAX_ATTEMPTS = 16 };

struct lifecycle {
    struct str key;
    uint64_t rev;
};

static bool is_wanted(void *self, const struct admission *ad)
{
    (void)self;
    return ad->rq->res->namespaced;
}

static struct json *refuse_terminating(struct admission *ad)
{
    struct request *rq = ad->rq;
    struct arena *a = &rq->arena;
    struct json *no =
        status_forbidden(a, rq->route.group, rq->route.resource, meta_name(ad->input),
                         str_of(arena_printf(a,
                                             "unable to create new content in namespace " STR_FMT
                                             " because it is being terminated",
                                             STR_ARG(rq->route.ns))));
    struct json *cause = json_new_object(a), *causes = json_new_array(a);
    json_set_str(a, cause, "reason", STR("NamespaceTerminating"));
    json_set_str(a, cause, "message",
                 str_of(arena_printf(a, "namespace " STR_FMT " is being terminated",
                                     STR_ARG(rq->route.ns))));
    json_set_str(a, cause, "field", STR("metadata.namespace"));
    json_add(causes, cause);
    json_setc(a, json_obj(a, no, "details"), "causes", causes);
    return no;
}

struct namespace_reading {
    struct admission *ad;
    struct lifecycle *life;
};

static void on_namespace(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                         const struct err *err)
{
    const struct namespace_reading *rd = arg;
    struct admission *ad = rd->ad;
    struct request *rq = ad->rq;
    struct arena *a = &rq->arena;
    struct json *no = NULL, *ns;
    (void)rev;
    if (request_idle(rq))
        return;
    if (r < 0) {
        no = api_error(rq, r, err);
    } else if (!kv) {
        no = status_not_found(a, STR(""), STR("namespaces"), rq->route.ns);
    } else if (json_parse(a, str_copy_arena(a, kv->value), NULL, &ns, NULL) >= 0 &&
               meta_is_deleting(ns)) {
        no = refuse_terminating(ad);
    } else {
        rd->life->rev = kv->mod_rev;
        namespace_table_put(&rq->api->namespace_table, rq->route.ns, kv->mod_rev);
    }
    admission_continue(ad, no);
}

static struct json *lifecycle_read(void *self, struct admission *ad, void *state)
{
    struct lifecycle *life = state;
    struct request *rq = ad->rq;
    struct err err = { 0 };
    (void)self;
    life->key =
        str_of(arena_printf(&rq->arena, "/registry/namespaces/" STR_FMT, STR_ARG(rq->route.ns)));
    /* A dry run has no transaction that compares the revision. */
    life->rev = ad->dry_run ? 0 : namespace_table_find(&rq->api->namespace_table, rq->route.ns);
    if (life->rev)
        return NULL;
    struct namespace_reading *rd = arena_new(&rq->arena, struct namespace_reading);
    *rd = (struct namespace_reading){ .ad = ad, .life = life };
    int r = store_get(rq->api->store, life->key, 0, on_namespace, rd, &err);
    if (r < 0)
        return api_error(rq, r, &err);
    request_busy(rq);
    admission_wait(ad);
    return NULL;
}

static int lifecycle_writes(void *self, struct admission *ad, void *state, struct store_op *ops,
                            size_t *n, struct err *err)
{
    const struct lifecycle *life = state;
    (void)self;
    (void)ad;
    (void)err;
    ops[(*n)++] = (struct store_op){
        .kind = STORE_CHECK, .key = life->key, .cmp = STORE_MOD_REV, .cmp_rev = life->rev
    };
    return 0;
}

/*
 * The namespace was written meanwhile; if it was in the table, by a server that the table does not
 * see.
 */
static struct json *lifecycle_lost(void *self, struct admission *ad, void *state, size_t failed_op)
{
    struct request *rq = ad->rq;
    (void)self;
    (void)state;
    (void)failed_op;
    namespace_table_forget(&rq->api->namespace_table, rq->route.ns);
    return ad->attempt < NAMESPACE_MAX_ATTEMPTS
               ? NULL
               : status_modified(&rq->arena, STR(""), STR("namespaces"), rq->route.ns);
}

static const struct admission_stage in_namespace = { .name = "NamespaceLifecycle",
                                                     .point = ADMISSION_READ,
                                                     .ops = ADMISSION_ON(ADMISSION_CREATE),
                                                     .state_bytes = sizeof(struct lifecycle),
                                                     .wanted = is_wanted,
                                                     .read = lifecycle_read,
                                                     .writes = lifecycle_writes,
                                                     .writes_first = true,
                                                     .lost = lifecycle_lost };

/* ------------------------------------------------------------------ permanent namespaces */

static bool is_namespace(void *self, const struct admission *ad)
{
    (void)self;
    return admission_is_core(ad, "namespaces");
}

static struct json *keep_namespace(void *self, struct admission *ad, void *state)
{
    static const char *const kept[] = { "default", "kube-system", "kube-public" };
    (void)self;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (str_is(ad->name, kept[i]))
            return admission_forbid(ad, "this namespace may not be deleted");
    return NULL;
}

static const struct admission_stage kept_namespaces = { .name = "NamespaceLifecycle (deletion)",
                                                        .point = ADMISSION_TAKEN,
                                                        .ops = ADMISSION_ON(ADMISSION_DELETE),
                                                        .wanted = is_namespace,
                                                        .apply = keep_namespace };

void namespace_lifecycle_register(struct admit *ad, struct admission_chain *c)
{
    admission_register(c, &in_namespace, ad);
    admission_register(c, &kept_namespaces, ad);
}
