/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an identity may see; see object_cache_impl.h.
 *
 * All subscriptions of an identity to the same place share one verdict. It is obtained by access
 * reviews, for "list" and then "watch": SubjectAccessReviews as the cache's own identity, which
 * need no credential of the subscription's identity; if the cache may not create those,
 * SelfSubjectAccessReviews as the subscription's identity; if the API has no reviews, a list of one
 * object. A verdict that cannot be obtained counts as no answer: subscriptions wait, and ask again
 * with back-off.
 *
 *     UNKNOWN -> list? -> watch? -> YES | NO -> (old) UNKNOWN ...
 */
#include "client/object_cache_impl.h"

#include "base/log.h"
#include "base/slab.h"

enum { ANSWER_MAX_BYTES = 256 << 10, ASK_RETRY_FIRST_MS = 500, ASK_RETRY_MAX_MS = 30000 };

enum way { BY_SUBJECT_REVIEW, BY_SELF_REVIEW, BY_LISTING };
enum object_cache_view_question { MAY_LIST, MAY_WATCH };
static const char *const verbs[] = { "list", "watch" };

/*
 * Small, since thousands of them are idle. The identity and the place are stored in the key only,
 * and decoded from there when needed.
 */
struct cache_verdict {
    struct object_cache *cache;
    struct object_cache_view_asking *asking; /* NULL: no request is running */
    struct err *denied;                      /* the reason; NULL unless denied */
    struct list waiters;                     /* object_sub.verdict_node */
    uint64_t at_ms;                          /* of the answer */
    unsigned refs;
    bool known, allowed;
    uint8_t way; /* enum way */
    uint32_t key_n;
    char key[]; /* of cache->verdicts */
};

/* Exists from the first request until the decision. */
struct object_cache_view_asking {
    struct cache_verdict *verdict;
    enum object_cache_view_question question;
    struct exchange *call;
    int status;
    struct buf answer;
    struct timer retry;
    unsigned failures;
};

/* The decoded key; its texts point into the key. */
struct subject {
    struct arena lists;
    struct kube_identity identity;
    struct object_cache_scope scope;
};

static void ask(struct cache_verdict *v);

/* ---------------------------------------------------------------- keys */

/* A length takes one byte, or five. */
enum { LONG_TEXT = 255 };

static void add_count(struct buf *to, size_t n)
{
    (void)buf_add_u8(to, (uint8_t)MIN(n, (size_t)LONG_TEXT));
    if (n >= LONG_TEXT)
        (void)buf_add_le32(to, (uint32_t)n);
}

static size_t read_count(struct rd *r)
{
    uint8_t n = rd_u8(r);
    return n < LONG_TEXT ? n : rd_le32(r);
}

static void add_part(struct buf *to, struct str s)
{
    add_count(to, s.n);
    (void)buf_add_str(to, s);
}

static struct str read_part(struct rd *r)
{
    return rd_str(r, read_count(r));
}

static void write_key(const struct kube_identity *id, const struct object_cache_scope *s,
                      struct buf *to)
{
    const struct str parts[] = { id->user,  id->uid,      s->group_version,
                                 s->plural, s->namespace, s->name };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        add_part(to, parts[i]);
    add_count(to, id->n_groups);
    for (size_t i = 0; i < id->n_groups; i++)
        add_part(to, id->groups[i]);
    add_count(to, id->n_extra);
    for (size_t i = 0; i < id->n_extra; i++) {
        add_part(to, id->extra[i].key);
        add_count(to, id->extra[i].n);
        for (size_t k = 0; k < id->extra[i].n; k++)
            add_part(to, id->extra[i].values[k]);
    }
}

static struct str *read_parts(struct rd *r, struct arena *a, size_t n)
{
    struct str *parts = arena_new_n(a, struct str, n + 1);
    for (size_t i = 0; i < n; i++)
        parts[i] = read_part(r);
    return parts;
}

static void read_key(const struct cache_verdict *v, struct subject *ret)
{
    struct rd r = rd_init(v->key, v->key_n);
    struct kube_identity *id = &ret->identity;
    struct object_cache_scope *s = &ret->scope;
    *ret = (struct subject){ 0 };
    struct str *const parts[] = { &id->user,  &id->uid,      &s->group_version,
                                  &s->plural, &s->namespace, &s->name };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        *parts[i] = read_part(&r);
    id->n_groups = read_count(&r);
    id->groups = read_parts(&r, &ret->lists, id->n_groups);
    id->n_extra = read_count(&r);
    struct kube_extra *extra = arena_new_n(&ret->lists, struct kube_extra, id->n_extra + 1);
    for (size_t i = 0; i < id->n_extra; i++) {
        extra[i].key = read_part(&r);
        extra[i].n = read_count(&r);
        extra[i].values = read_parts(&r, &ret->lists, extra[i].n);
    }
    id->extra = extra;
    assert(rd_ok(&r) && rd_left(&r) == 0);
}

static void subject_fini(struct subject *s)
{
    arena_fini(&s->lists);
}

const struct kube_identity *cache_verdict_identity(const struct cache_verdict *v, struct arena *a)
{
    struct subject who;
    read_key(v, &who);
    struct kube_identity *copy = kube_identity_copy(a, &who.identity);
    subject_fini(&who);
    return copy;
}

/* ---------------------------------------------------------------- sharing */

struct cache_verdict *cache_verdict_ref(struct object_cache *c, const struct kube_identity *id,
                                        const struct object_cache_scope *scope)
{
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(BUF_MAX_DEFAULT);
    write_key(id, scope, &key);
    struct cache_verdict *v = map_get(&c->verdicts, buf_str(&key));
    if (v) {
        v->refs++;
        return v;
    }
    v = slab_alloc(sizeof *v + key.n);
    v->cache = c;
    v->refs = 1;
    v->key_n = (uint32_t)key.n;
    memcpy(v->key, key.p, key.n);
    list_init(&v->waiters);
    (void)map_put(&c->verdicts, str_n(v->key, v->key_n), v);
    return v;
}

static void end_asking(struct cache_verdict *v)
{
    struct object_cache_view_asking *a = take_ptr(&v->asking);
    if (!a)
        return;
    timer_stop(v->cache->opts.loop, &a->retry);
    buf_fini(&a->answer);
    free(a);
}

static void free_verdict(struct cache_verdict *v)
{
    assert(v->refs == 0);
    end_asking(v);
    free(v->denied);
    slab_free(v);
}

void cache_verdict_unref(struct cache_verdict *v)
{
    if (!v)
        return;
    assert(v->refs > 0);
    if (--v->refs > 0)
        return;
    struct object_cache *c = v->cache;
    assert(list_is_empty(&v->waiters));
    (void)map_del(&c->verdicts, str_n(v->key, v->key_n));
    if (v->asking && v->asking->call)
        exchange_cancel(v->asking->call); /* the call's end frees it */
    else
        free_verdict(v);
}

/* ---------------------------------------------------------------- answers */

bool cache_verdict_allows(const struct cache_verdict *v)
{
    return v->known && v->allowed &&
           loop_now_ms(v->cache->opts.loop) - v->at_ms < v->cache->opts.verdict_ms;
}

const struct err *cache_verdict_err(const struct cache_verdict *v)
{
    static const struct err none;
    return v->denied ? v->denied : &none;
}

static bool is_fresh_no(const struct cache_verdict *v)
{
    return v->known && !v->allowed &&
           loop_now_ms(v->cache->opts.loop) - v->at_ms < v->cache->opts.denied_ms;
}

void cache_verdict_forget_denial(struct cache_verdict *v)
{
    if (v->known && !v->allowed)
        v->known = false;
}

static void wake_waiters(struct cache_verdict *v)
{
    struct list *node;
    while ((node = list_pop_front(&v->waiters)))
        object_sub_schedule(list_entry(node, struct object_sub, verdict_node));
}

static void decide(struct cache_verdict *v, bool allowed, struct str reason)
{
    assert(v->asking && !v->asking->call);
    v->known = true;
    v->allowed = allowed;
    v->at_ms = loop_now_ms(v->cache->opts.loop);
    free(take_ptr(&v->denied));
    if (!allowed) {
        struct subject of;
        read_key(v, &of);
        v->denied = xnew(struct err);
        (void)err_set(v->denied, E_DENIED,
                      "'" STR_FMT "' may not list and watch '" STR_FMT "' in %s" STR_FMT
                      "%s" STR_FMT,
                      STR_ARG(of.identity.user), STR_ARG(of.scope.plural),
                      of.scope.namespace.n ? "namespace " : "all namespaces",
                      STR_ARG(of.scope.namespace), reason.n ? ": " : "", STR_ARG(reason));
        subject_fini(&of);
    }
    end_asking(v); /* no request for a while; `reason` was in the answer */
    wake_waiters(v);
}

static void on_ask_again(struct timer *t)
{
    ask(container_of(t, struct object_cache_view_asking, retry)->verdict);
}

/* Callbacks may cancel any subscription, which removes it from the list that it is on. */
static void tell_waiting(struct cache_verdict *v, const struct err *err)
{
    struct list round, *node;
    cache_enter(v->cache);
    list_move_all(&v->waiters, &round);
    while ((node = list_pop_front(&round))) {
        list_push_back(&v->waiters, node);
        object_sub_report(list_entry(node, struct object_sub, verdict_node), -EIO, err);
    }
    cache_leave(v->cache);
}

/* No decision was reached. */
static void ask_later(struct cache_verdict *v, const char *why)
{
    struct object_cache_view_asking *a = v->asking;
    assert(a && !a->call && !timer_is_armed(&a->retry));
    struct subject of;
    struct err err = { 0 };
    read_key(v, &of);
    (void)err_set(&err, -EIO, "cannot find out what '" STR_FMT "' may do: %s",
                  STR_ARG(of.identity.user), why);
    subject_fini(&of);
    uint64_t wait = ASK_RETRY_FIRST_MS;
    for (unsigned i = 0; i < a->failures && wait < ASK_RETRY_MAX_MS; i++)
        wait *= 2;
    a->failures++;
    a->question = MAY_LIST;
    timer_start(v->cache->opts.loop, &a->retry, MIN(wait, (uint64_t)ASK_RETRY_MAX_MS),
                on_ask_again);
    if (a->failures == 2)
        tell_waiting(v, &err);
}

static void take_review(struct cache_verdict *v)
{
    struct arena a = { .max_bytes = (size_t)ANSWER_MAX_BYTES * 16 };
    struct json *review;
    if (json_parse(&a, buf_str(&v->asking->answer), NULL, &review, NULL) < 0) {
        ask_later(v, "the review does not parse");
    } else {
        const struct json *status = json_getc(review, "status");
        bool allowed = json_bool(json_getc(status, "allowed"));
        if (allowed && v->asking->question == MAY_LIST) {
            v->asking->question = MAY_WATCH;
            ask(v);
        } else {
            decide(v, allowed, json_get_str(status, "reason"));
        }
    }
    arena_fini(&a);
}

static void take_answer(struct cache_verdict *v, int r, const struct err *err)
{
    bool is_review = v->way != BY_LISTING;
    int status = v->asking->status;
    if (r < 0) {
        ask_later(v, err_text(err));
    } else if (is_review && (status == 200 || status == 201)) {
        take_review(v);
    } else if (is_review && (status == 403 || status == 404 || status == 405)) {
        v->way++;
        v->asking->question = MAY_LIST;
        ask(v);
    } else if (!is_review && (status == 200 || status == 404)) {
        decide(v, true, STR("")); /* what does not exist (yet) need not be hidden */
    } else if (!is_review && status == 403) {
        decide(v, false, STR("a list is forbidden"));
    } else {
        char why[48];
        (void)snprintf(why, sizeof why, "status %d", status);
        ask_later(v, why);
    }
}

/* ---------------------------------------------------------------- access reviews */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct cache_verdict *v = arg;
    v->asking->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct cache_verdict *v = arg;
    (void)buf_add_str(&v->asking->answer, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct cache_verdict *v = arg;
    struct object_cache *c = v->cache;
    assert(v->asking->call && c->calls > 0);
    v->asking->call = NULL;
    if (v->refs == 0)
        free_verdict(v);
    else
        take_answer(v, r, err);
    cache_call_ended(c);
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void add_text(struct buf *to, const char *before, struct str s)
{
    (void)buf_add_cstr(to, before);
    (void)json_write_str(to, s);
}

/* Service accounts are in groups that their tokens do not name. */
static void write_groups(const struct kube_identity *id, struct buf *to)
{
    static const char account[] = "system:serviceaccount:";
    (void)buf_add_cstr(to, ",\"groups\":[\"system:authenticated\"");
    for (size_t i = 0; i < id->n_groups; i++)
        add_text(to, ",", id->groups[i]);
    if (id->n_groups == 0 && str_has_prefix(id->user, str_of(account))) {
        struct str namespace, name;
        (void)str_cut(str_slice(id->user, sizeof account - 1, id->user.n), ':', &namespace, &name);
        buf_printf(to, ",\"system:serviceaccounts\",\"system:serviceaccounts:" STR_FMT "\"",
                   STR_ARG(namespace));
    }
    (void)buf_add_char(to, ']');
}

/* The subject of the review, as the identity would authenticate. */
static void write_subject(const struct kube_identity *id, struct buf *to)
{
    add_text(to, "\"user\":", id->user);
    if (id->uid.n)
        add_text(to, ",\"uid\":", id->uid);
    write_groups(id, to);
    for (size_t i = 0; i < id->n_extra; i++) {
        add_text(to, i ? "," : ",\"extra\":{", id->extra[i].key);
        for (size_t k = 0; k < id->extra[i].n; k++)
            add_text(to, k ? "," : ":[", id->extra[i].values[k]);
        (void)buf_add_cstr(to, id->extra[i].n ? "]" : ":[]");
    }
    (void)buf_add_cstr(to, id->n_extra ? "}," : ",");
}

static void write_review(const struct cache_verdict *v, const struct subject *of, struct buf *to)
{
    struct str group = STR(""), version = of->scope.group_version;
    if (str_find_char(version, '/') >= 0)
        (void)str_cut(of->scope.group_version, '/', &group, &version);
    const struct {
        const char *key;
        struct str value;
    } members[] = { { "verb", str_of(verbs[v->asking->question]) },
                    { "group", group },
                    { "version", version },
                    { "resource", of->scope.plural },
                    { "namespace", of->scope.namespace },
                    { "name", of->scope.name } };
    bool by_subject = v->way == BY_SUBJECT_REVIEW;
    buf_printf(to, "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"%s\",\"spec\":{",
               by_subject ? "SubjectAccessReview" : "SelfSubjectAccessReview");
    if (by_subject)
        write_subject(&of->identity, to);
    (void)buf_add_cstr(to, "\"resourceAttributes\":{");
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        buf_printf(to, "%s\"%s\":", i ? "," : "", members[i].key);
        (void)json_write_str(to, members[i].value);
    }
    (void)buf_add_cstr(to, "}}}");
}

static void ask(struct cache_verdict *v)
{
    struct object_cache *c = v->cache;
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(64 << 10);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(64 << 10);
    struct headers h = { 0 };
    struct subject of;
    read_key(v, &of);
    struct kube_request req = { .identity = &of.identity, .headers = &h };
    if (v->way == BY_SUBJECT_REVIEW)
        req.identity = c->opts.identity;
    (void)headers_addc(&h, "accept", "application/json");
    if (v->way == BY_LISTING) {
        object_cache_write_path(&of.scope, of.scope.namespace, &target);
        (void)buf_add_cstr(&target, "?limit=1");
        req.method = STR("GET");
    } else {
        buf_printf(&target, "/apis/authorization.k8s.io/v1/%ssubjectaccessreviews",
                   v->way == BY_SELF_REVIEW ? "self" : "");
        write_review(v, &of, &body);
        (void)headers_addc(&h, "content-type", "application/json");
        req.method = STR("POST");
    }
    req.target = buf_str(&target);
    req.body = buf_str(&body);
    assert(!v->asking->call);
    buf_reset(&v->asking->answer);
    v->asking->status = 0;
    struct err err = { 0 };
    int r = transport_start(c->opts.transport, &req, &call_events, v, &v->asking->call, &err);
    headers_fini(&h);
    subject_fini(&of);
    if (r < 0)
        ask_later(v, err_text(&err));
    else
        c->calls++;
}

int cache_verdict_check(struct cache_verdict *v, struct object_sub *waiter)
{
    if (cache_verdict_allows(v))
        return 1;
    if (is_fresh_no(v))
        return E_DENIED;
    if (!list_is_linked(&waiter->verdict_node))
        list_push_back(&v->waiters, &waiter->verdict_node);
    if (!v->asking) {
        v->asking = xnew(struct object_cache_view_asking);
        v->asking->verdict = v;
        buf_init(&v->asking->answer, ANSWER_MAX_BYTES);
        ask(v);
    }
    return 0;
}
