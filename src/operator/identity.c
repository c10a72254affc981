/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities of operators; see identity.h.
 *
 * An identity has at most one call to the API under way. If its last reference is released
 * meanwhile, the struct stays (`gone`) until on_end() has run, which writes to it.
 */
#include "operator/identity.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/slab.h"
#include "codec/json.h"

#include <errno.h>
#include <stdio.h>

enum identity_at { AT_UNKNOWN, AT_ASKING, AT_CREATING, AT_FETCHING, AT_READY, AT_FAILED };

/* The current token of the account. */
struct identity_token {
    /*
     * Loop times at which to renew it and at which it expires; and the wall-clock time of its
     * expiry, since the loop's clock may stop while the machine is suspended.
     */
    uint64_t renew_ms, ends_ms;
    int64_t ends_wall_ms;
    bool used; /* used since it was fetched */
    char text[];
};

/* The request to the API that is under way. */
struct identity_asking {
    struct exchange *call;
    int status; /* of the response */
    struct buf in;
};

/* Kept small, since there are thousands. The texts of requests are composed for each request. */
struct identity {
    struct identities *ids;
    unsigned refs, failures;
    struct identity_asking *asking; /* NULL: no request is under way */
    struct err *err;                /* the reason of the failure; NULL: none */
    char *uid;                      /* of the account; NULL: unknown */
    struct identity_token *token;   /* TOKEN; NULL: none */
    struct list due;                /* on ids->due, until due_ms */
    uint64_t due_ms;
    struct list waits, listeners;
    struct list change; /* on ids->changes while a notification is due */
    uint32_t group_at, owner_at, owner_uid_at;
    uint8_t at; /* enum identity_at */
    bool create;
    bool gone;   /* no references; a request is under way */
    char text[]; /* user, its namespace's group, owner, owner's uid: each ends with a NUL */
};

struct identities {
    struct identities_opts opts;
    struct map map; /* "namespace:account", from the user's name */
    struct list due, changes;
    struct timer timer; /* for the earliest of due */
    struct defer notify;
    size_t calls;
    bool closed;
    uint64_t token_requests, created;
};

static void step(struct identity *id);
static void arm(struct identities *ids);

/* ---------------------------------------------------------------- freeing */

static void free_identities(struct identities *ids)
{
    map_fini(&ids->map);
    free(ids);
}

static const char user_prefix[] = "system:serviceaccount:",
                  group_prefix[] = "system:serviceaccounts:";

static const char *user_of(const struct identity *id)
{
    return id->text;
}

static const char *group_of(const struct identity *id)
{
    return id->text + id->group_at;
}

static const char *namespace_of(const struct identity *id)
{
    return group_of(id) + sizeof group_prefix - 1;
}

static const char *account_of(const struct identity *id)
{
    return user_of(id) + sizeof user_prefix - 1 + strlen(namespace_of(id)) + 1;
}

static const char *owner_of(const struct identity *id)
{
    return id->text + id->owner_at;
}

static const char *owner_uid_of(const struct identity *id)
{
    return id->text + id->owner_uid_at;
}

static struct str key_of(const struct identity *id)
{
    return str_of(user_of(id) + sizeof user_prefix - 1);
}

static void forget_token(struct identity *id)
{
    if (id->token)
        explicit_bzero(id->token->text, strlen(id->token->text));
    free(take_ptr(&id->token));
}

static void free_identity(struct identity *id)
{
    forget_token(id);
    assert(!id->asking);
    slab_free(id->uid);
    free(id->err);
    slab_free(id);
}

/* ---------------------------------------------------------------- notifications */

static void on_notify(struct defer *d)
{
    struct identities *ids = container_of(d, struct identities, notify);
    struct list *node, *waiting;
    struct list round;
    list_move_all(&ids->changes, &round);
    while ((node = list_pop_front(&round))) {
        struct identity *id = list_entry(node, struct identity, change);
        struct err why = id->err ? *id->err : (struct err){ 0 };
        int r = id->at == AT_FAILED ? why.code : 0;
        struct list waits;
        identity_ref(id); /* callbacks may release it */
        list_move_all(&id->waits, &waits);
        while ((waiting = list_pop_front(&waits))) {
            struct identity_wait *w = list_entry(waiting, struct identity_wait, node);
            w->run(w, r, &why);
        }
        list_each_safe (l, &id->listeners) {
            struct identity_listener *listener = list_entry(l, struct identity_listener, node);
            listener->run(listener);
        }
        identity_unref(id);
    }
}

static void notify_later(struct identity *id)
{
    if (!list_is_linked(&id->change))
        list_push_back(&id->ids->changes, &id->change);
    defer_start(id->ids->opts.loop, &id->ids->notify, on_notify);
}

/* ---------------------------------------------------------------- one timer */

static void set_due(struct identity *id, uint64_t at_ms)
{
    list_remove(&id->due);
    id->due_ms = at_ms;
    list_push_back(&id->ids->due, &id->due);
    arm(id->ids);
}

static void clear_due(struct identity *id)
{
    list_remove(&id->due);
    arm(id->ids);
}

static void on_timer(struct timer *t)
{
    struct identities *ids = container_of(t, struct identities, timer);
    uint64_t now = loop_now_ms(ids->opts.loop);
    list_each_safe (n, &ids->due) {
        struct identity *id = list_entry(n, struct identity, due);
        if (id->due_ms > now || id->asking)
            continue;
        list_remove(&id->due);
        if (id->at == AT_READY &&
            !(id->token && id->token->used)) { /* the token was not used: let it expire */
            forget_token(id);
            id->at = AT_UNKNOWN;
        } else {
            id->at = id->at == AT_READY ? AT_FETCHING : AT_ASKING;
            step(id);
        }
    }
    arm(ids);
}

/* After a start many identities are due together: each may be up to a second late. */
static void arm(struct identities *ids)
{
    enum { SLACK_MS = 1000 };
    uint64_t now = loop_now_ms(ids->opts.loop), first = UINT64_MAX;
    list_each (n, &ids->due)
        first = MIN(first, list_entry(n, struct identity, due)->due_ms);
    if (first == UINT64_MAX || ids->closed)
        timer_stop(ids->opts.loop, &ids->timer);
    else if (!timer_is_armed(&ids->timer) || ids->timer.due_ms > first + SLACK_MS)
        timer_start(ids->opts.loop, &ids->timer, first > now ? first - now + SLACK_MS / 2 : 0,
                    on_timer);
}

/* ---------------------------------------------------------------- results */

static void become_ready(struct identity *id)
{
    bool mended = id->failures > 0;
    id->at = AT_READY;
    id->failures = 0;
    free(take_ptr(&id->err));
    if (mended)
        log_info("identity works again", "account=%s/%s", namespace_of(id), account_of(id));
    if (mended || !list_is_empty(&id->waits))
        notify_later(id);
}

static void fail(struct identity *id, int code, const char *doing, const char *why)
{
    uint64_t wait = IDENTITY_RETRY_FIRST_MS;
    for (unsigned i = 0; i < id->failures && wait < IDENTITY_RETRY_MAX_MS; i++)
        wait *= 2;
    if (!id->err)
        id->err = xnew(struct err);
    (void)err_set(id->err, code, "%s service account '%s/%s': %s", doing, namespace_of(id),
                  account_of(id), why);
    if (id->failures++ == 0)
        log_warn("identity failed", "account=%s/%s reason=\"%s\"", namespace_of(id), account_of(id),
                 err_text(id->err));
    id->at = AT_FAILED;
    set_due(id, loop_now_ms(id->ids->opts.loop) + MIN(wait, (uint64_t)IDENTITY_RETRY_MAX_MS));
    notify_later(id);
}

/* Fail with the message of a Status response, else with the HTTP status. */
static void fail_by_answer(struct identity *id, int status, const struct json *answer,
                           const char *doing)
{
    char why[160];
    struct str message = json_get_str(answer, "message");
    if (message.n)
        (void)snprintf(why, sizeof why, STR_FMT, STR_ARG(str_slice(message, 0, sizeof why - 1)));
    else
        (void)snprintf(why, sizeof why, "the API answered %d", status);
    fail(id, status == 404 ? -ENOENT : status == 403 ? E_DENIED : -EIO, doing, why);
}

static void take_account(struct identity *id, const struct json *account)
{
    struct str uid = json_get_str(json_getc(account, "metadata"), "uid");
    slab_free(id->uid);
    id->uid = slab_strndup(uid.p, uid.n);
    if (id->ids->opts.mode == IDENTITY_TOKEN) {
        id->at = AT_FETCHING;
        step(id);
    } else {
        become_ready(id);
    }
}

static void set_token(struct identity *id, const struct json *request)
{
    enum { LEAST_LIFE_S = 60 }; /* of any token: avoids fetching one for each request */
    struct str token = json_get_str(json_getc(request, "status"), "token");
    int64_t life_s =
        json_int_or(json_path(request, "spec", "expirationSeconds", NULL), IDENTITY_TOKEN_SECONDS);
    uint64_t now = loop_now_ms(id->ids->opts.loop);
    if (token.n == 0) {
        fail(id, E_PARSE, "token of", "the answer has no token");
        return;
    }
    uint64_t life_ms = (uint64_t)MIN(MAX(life_s, LEAST_LIFE_S), (int64_t)86400) * 1000;
    forget_token(id);
    struct identity_token *t = xalloc(sizeof *t + token.n + 1);
    memcpy(t->text, token.p, token.n);
    t->renew_ms = now + life_ms / 100 * IDENTITY_RENEW_PERCENT;
    t->ends_ms = now + life_ms;
    t->ends_wall_ms = clock_wall_ms() + (int64_t)life_ms;
    id->token = t;
    id->ids->token_requests++;
    set_due(id, t->renew_ms);
    become_ready(id);
}

static void on_answer(struct identity *id, int status, const struct json *answer)
{
    bool good = status >= 200 && status < 300;
    switch ((enum identity_at)id->at) {
    case AT_ASKING:
        if (good) {
            take_account(id, answer);
        } else if (status == 404 && id->create) {
            id->at = AT_CREATING;
            step(id);
        } else {
            fail_by_answer(id, status, answer, "look up");
        }
        return;
    case AT_CREATING:
        if (good) {
            id->ids->created++;
            log_info("service account made", "account=%s/%s", namespace_of(id), account_of(id));
            take_account(id, answer);
        } else if (status == 409) { /* another client has created it */
            id->at = AT_ASKING;
            step(id);
        } else {
            fail_by_answer(id, status, answer, "make");
        }
        return;
    case AT_FETCHING:
        if (good) {
            set_token(id, answer);
        } else if (status == 404 && id->create && id->failures == 0) {
            id->failures++; /* the account was deleted: create it at once the first time */
            id->at = AT_ASKING;
            step(id);
        } else {
            fail_by_answer(id, status, answer, "token of");
        }
        return;
    case AT_UNKNOWN:
    case AT_READY:
    case AT_FAILED:
        return;
    }
}

/* ---------------------------------------------------------------- calls */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct identity *id = arg;
    id->asking->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct identity *id = arg;
    struct identity_asking *a = id->asking;
    if (buf_add_str(&a->in, chunk) < 0 && a->call && !id->gone)
        exchange_cancel(a->call);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct identity *id = arg;
    struct identities *ids = id->ids;
    struct arena a = { .max_bytes = (size_t)IDENTITY_ANSWER_MAX_BYTES * 8 };
    struct json *answer = NULL;
    scoped(free_scoped) struct identity_asking *asked = take_ptr(&id->asking);
    struct buf in = asked->in;
    ids->calls--;
    if (id->gone) {
        free_identity(id);
    } else if (!buf_ok(&in)) {
        fail(id, E_LIMIT, "look up", "the answer is too large");
    } else if (r < 0) {
        fail(id, r, "look up", err ? err_text(err) : err_strerror(r));
    } else {
        (void)json_parse(&a, buf_str(&in), NULL, &answer, NULL);
        on_answer(id, asked->status, answer);
    }
    arena_fini(&a);
    buf_fini(&in);
    if (ids->closed && ids->calls == 0)
        free_identities(ids);
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void write_account(struct buf *to, const struct identity *id)
{
    buf_printf(to,
               "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":\"%s\","
               "\"namespace\":\"%s\",\"labels\":{\"app.kubernetes.io/managed-by\":\"dormouse\"}",
               account_of(id), namespace_of(id));
    if (owner_uid_of(id)[0])
        buf_printf(to,
                   ",\"ownerReferences\":[{\"apiVersion\":\"dormouse.dev/v1alpha1\","
                   "\"kind\":\"Operator\",\"name\":\"%s\",\"uid\":\"%s\"}]",
                   owner_of(id), owner_uid_of(id));
    buf_add_cstr(to, "}}");
}

/* Send the request of the current state. */
static void step(struct identity *id)
{
    struct identities *ids = id->ids;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(16 << 10);
    bool ask = id->at == AT_ASKING, create = id->at == AT_CREATING;
    scoped(free_scoped) char *target = xasprintf(
        "/api/v1/namespaces/%s/serviceaccounts%s%s%s", namespace_of(id), create ? "" : "/",
        create ? "" : account_of(id), id->at == AT_FETCHING ? "/token" : "");
    struct headers h = { 0 };
    struct err err = { 0 };
    if (create)
        write_account(&body, id);
    else if (!ask)
        buf_printf(&body,
                   "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\","
                   "\"spec\":{\"expirationSeconds\":%d}}",
                   IDENTITY_TOKEN_SECONDS);
    (void)headers_addc(&h, "accept", "application/json");
    if (!ask)
        (void)headers_addc(&h, "content-type", "application/json");
    struct kube_request req = { .method = ask ? STR("GET") : STR("POST"),
                                .target = str_of(target),
                                .headers = &h,
                                .body = buf_str(&body) };
    id->asking = xnew(struct identity_asking);
    buf_init(&id->asking->in, IDENTITY_ANSWER_MAX_BYTES);
    int r = transport_start(ids->opts.transport, &req, &call_events, id, &id->asking->call, &err);
    headers_fini(&h);
    if (r >= 0) {
        ids->calls++;
        return;
    }
    free(take_ptr(&id->asking));
    fail(id, r, "look up", err_text(&err));
}

/* ---------------------------------------------------------------- public */

struct identities *identities_new(const struct identities_opts *opts)
{
    struct identities *ids = xnew(struct identities);
    ids->opts = *opts;
    list_init(&ids->due);
    list_init(&ids->changes);
    ids->map.borrows_keys = true;
    return ids;
}

void identities_close(struct identities *ids)
{
    if (!ids)
        return;
    assert(ids->map.n == 0);
    ids->closed = true;
    timer_stop(ids->opts.loop, &ids->timer);
    defer_cancel(&ids->notify);
    if (ids->calls == 0)
        free_identities(ids);
}

static struct identity *new_identity(struct identities *ids, const struct identity_spec *spec)
{
    const char *owner = spec->owner ? spec->owner : "";
    const char *owner_uid = spec->owner_uid ? spec->owner_uid : "";
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_printf(&text, "%s%s:%s%c", user_prefix, spec->namespace, spec->account, 0);
    size_t group_at = text.n;
    (void)buf_printf(&text, "%s%s%c", group_prefix, spec->namespace, 0);
    size_t owner_at = text.n;
    (void)buf_printf(&text, "%s%c%s%c", owner, 0, owner_uid, 0);
    assert(buf_ok(&text)); /* they are copies of texts in one object, so they fit */
    struct identity *id = slab_alloc(sizeof *id + text.n);
    memcpy(id->text, text.p, text.n);
    id->ids = ids;
    id->refs = 1;
    id->group_at = (uint32_t)group_at;
    id->owner_at = (uint32_t)owner_at;
    id->owner_uid_at = (uint32_t)(owner_at + strlen(owner) + 1);
    id->create = spec->create;
    list_init(&id->waits);
    list_init(&id->listeners);
    return id;
}

struct identity *identity_of(struct identities *ids, const struct identity_spec *spec)
{
    if (!ids)
        return NULL;
    scoped(free_scoped) char *key = xasprintf("%s:%s", spec->namespace, spec->account);
    struct identity *id = map_get(&ids->map, str_of(key));
    if (id) {
        id->create = id->create || spec->create;
        return identity_ref(id);
    }
    id = new_identity(ids, spec);
    (void)map_put(&ids->map, key_of(id), id);
    return id;
}

struct identity *identities_find(const struct identities *ids, struct str user)
{
    struct str prefix = str_of(user_prefix);
    return str_has_prefix(user, prefix) ? map_get(&ids->map, str_slice(user, prefix.n, user.n))
                                        : NULL;
}

struct identity *identity_ref(struct identity *id)
{
    if (id)
        id->refs++;
    return id;
}

void identity_unref(struct identity *id)
{
    if (!id || --id->refs > 0)
        return;
    assert(list_is_empty(&id->waits) && list_is_empty(&id->listeners));
    (void)map_del(&id->ids->map, key_of(id));
    clear_due(id);
    list_remove(&id->change);
    id->gone = true;
    if (id->asking) /* on_end() frees it */
        exchange_cancel(id->asking->call);
    else
        free_identity(id);
}

static bool is_usable(struct identity *id)
{
    if (id->ids->opts.mode != IDENTITY_TOKEN)
        return id->at == AT_READY;
    return id->token && /* also while it is being renewed, and after a failed renewal */
           loop_now_ms(id->ids->opts.loop) < id->token->ends_ms &&
           clock_wall_ms() < id->token->ends_wall_ms;
}

static void begin(struct identity *id)
{
    clear_due(id);
    id->at = id->uid && id->at != AT_FAILED ? AT_FETCHING : AT_ASKING;
    step(id);
}

static void write_who(const struct identity *id, struct identity_who *ret)
{
    ret->groups[0] = STR("system:serviceaccounts");
    ret->groups[1] = str_of(group_of(id));
    ret->groups[2] = STR("system:authenticated");
    ret->who = (struct kube_identity){ .user = str_of(user_of(id)),
                                       .uid = id->uid ? str_of(id->uid) : STR(""),
                                       .token = id->token ? str_of(id->token->text) : STR(""),
                                       .groups = ret->groups,
                                       .n_groups = ARRAY_LEN(ret->groups) };
}

int identity_get(struct identity *id, struct identity_who *ret, struct identity_wait *w,
                 struct err *err)
{
    if (is_usable(id)) {
        if (id->token)
            id->token->used = true;
        write_who(id, ret);
        return 0;
    }
    if (id->at == AT_FAILED && loop_now_ms(id->ids->opts.loop) < id->due_ms) {
        *err = *id->err;
        return id->err->code;
    }
    if (!list_is_linked(&w->node))
        list_push_back(&id->waits, &w->node);
    if (!id->asking)
        begin(id);
    return -EAGAIN;
}

void identity_prepare(struct identity *id)
{
    if (id->at == AT_UNKNOWN && !id->asking)
        begin(id);
}

void identity_wait_cancel(struct identity_wait *w)
{
    list_remove(&w->node);
}

void identity_reject(struct identity *id)
{
    if (id->ids->opts.mode != IDENTITY_TOKEN)
        return;
    forget_token(id);
    if (id->at != AT_READY)
        return; /* a new one is being fetched, or will be */
    id->at = AT_UNKNOWN;
    clear_due(id);
}

void identity_listen(struct identity *id, struct identity_listener *l)
{
    list_push_back(&id->listeners, &l->node);
}

void identity_unlisten(struct identity_listener *l)
{
    list_remove(&l->node);
}

const char *identity_trouble(const struct identity *id)
{
    return id && id->failures && id->err ? err_text(id->err) : "";
}

const char *identity_user(const struct identity *id)
{
    return user_of(id);
}

void identities_get_stats(const struct identities *ids, struct identities_stats *ret)
{
    *ret = (struct identities_stats){ .identities = ids->map.n,
                                      .token_requests = ids->token_requests,
                                      .created = ids->created };
    map_each (e, &ids->map) {
        const struct identity *id = e->value;
        ret->failed += id->at == AT_FAILED;
        ret->tokens += id->token != NULL;
    }
}
