/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities of operators; see identity.h.
 *
 * At most one call to the API is under way for an identity. Whoever let go of the last reference
 * while one is leaves the record to it (gone), so that on_end() has somewhere to write.
 */
#include "operator/identity.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "codec/json.h"

#include <errno.h>
#include <stdio.h>

enum { KEY_MAX = 600 };

enum at { AT_UNKNOWN, AT_ASKING, AT_CREATING, AT_FETCHING, AT_READY, AT_FAILED };

struct identity {
    struct identities *ids;
    unsigned refs;
    char *namespace, *account, *owner, *owner_uid;
    bool create;
    bool gone; /* no references; a call is under way */
    enum at at;
    struct kube_call *call;
    int status;      /* of its answer */
    struct buf in;   /* of its answer */
    struct err *err; /* why it failed; NULL: it has not */
    unsigned failures;
    /* How requests speak. */
    char *user, *namespace_group, *uid, *token;
    struct str groups[3];
    struct kube_identity who;
    /* TOKEN: loop time to renew at and of its end; wall time of its end, for clocks that stood
     * still while the machine slept. */
    uint64_t renew_ms, ends_ms;
    int64_t ends_wall_ms;
    bool used;       /* since the token came */
    struct list due; /* on ids->due, until due_ms */
    uint64_t due_ms;
    struct list waits, listeners, told; /* told: on ids->told, or on nothing */
};

struct identities {
    struct identities_opts opts;
    struct map map; /* "namespace/account" */
    struct list due, told;
    struct timer timer; /* for the earliest of due */
    struct defer tell;
    size_t calls;
    bool closed;
    uint64_t token_requests, created;
};

static void step(struct identity *id);
static void arm(struct identities *ids);

/* ---------------------------------------------------------------- ends of things */

static void free_identities(struct identities *ids)
{
    map_fini(&ids->map);
    free(ids);
}

static void forget_token(struct identity *id)
{
    if (id->token)
        explicit_bzero(id->token, strlen(id->token));
    free(take_ptr(&id->token));
    id->who.token = STR("");
}

static void free_identity(struct identity *id)
{
    forget_token(id);
    free(id->namespace);
    free(id->account);
    free(id->owner);
    free(id->owner_uid);
    free(id->user);
    free(id->namespace_group);
    free(id->uid);
    buf_fini(&id->in);
    free(id->err);
    free(id);
}

/* ---------------------------------------------------------------- telling */

static void on_tell(struct defer *d)
{
    struct identities *ids = container_of(d, struct identities, tell);
    struct list *node, *waiting;
    struct list round;
    list_move_all(&ids->told, &round);
    while ((node = list_pop_front(&round))) {
        struct identity *id = list_entry(node, struct identity, told);
        struct err why = id->err ? *id->err : (struct err){ 0 };
        int r = id->at == AT_FAILED ? why.code : 0;
        struct list waits;
        identity_ref(id); /* its users may let go of it meanwhile */
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

static void tell(struct identity *id)
{
    if (!list_is_linked(&id->told))
        list_push_back(&id->ids->told, &id->told);
    defer_start(id->ids->opts.loop, &id->ids->tell, on_tell);
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
        if (id->due_ms > now || id->call)
            continue;
        list_remove(&id->due);
        if (id->at == AT_READY && !id->used) { /* nobody needs it: let it end */
            forget_token(id);
            id->at = AT_UNKNOWN;
        } else {
            id->at = id->at == AT_READY ? AT_FETCHING : AT_ASKING;
            step(id);
        }
    }
    arm(ids);
}

/* Many identities come due together after a start: a second is no matter to any of them. */
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
        log_info("identity works again", "account=%s/%s", id->namespace, id->account);
    if (mended || !list_is_empty(&id->waits))
        tell(id);
}

static void fail(struct identity *id, int code, const char *doing, const char *why)
{
    uint64_t wait = IDENTITY_RETRY_FIRST_MS;
    for (unsigned i = 0; i < id->failures && wait < IDENTITY_RETRY_MAX_MS; i++)
        wait *= 2;
    if (!id->err)
        id->err = xnew(struct err);
    (void)err_set(id->err, code, "%s service account '%s/%s': %s", doing, id->namespace,
                  id->account, why);
    if (id->failures++ == 0)
        log_warn("identity failed", "account=%s/%s reason=\"%s\"", id->namespace, id->account,
                 err_text(id->err));
    id->at = AT_FAILED;
    set_due(id, loop_now_ms(id->ids->opts.loop) + MIN(wait, (uint64_t)IDENTITY_RETRY_MAX_MS));
    tell(id);
}

/* The text of a Status answer, else its number. */
static void fail_by_answer(struct identity *id, const struct json *answer, const char *doing)
{
    char why[160];
    struct str message = json_get_str(answer, "message");
    if (message.n)
        (void)snprintf(why, sizeof why, STR_FMT, STR_ARG(str_slice(message, 0, sizeof why - 1)));
    else
        (void)snprintf(why, sizeof why, "the API answered %d", id->status);
    fail(id, id->status == 404 ? -ENOENT : id->status == 403 ? E_DENIED : -EIO, doing, why);
}

static void take_account(struct identity *id, const struct json *account)
{
    free(id->uid);
    id->uid = str_dup(json_get_str(json_getc(account, "metadata"), "uid"));
    id->who.uid = str_of(id->uid);
    if (id->ids->opts.mode == IDENTITY_TOKEN) {
        id->at = AT_FETCHING;
        step(id);
    } else {
        become_ready(id);
    }
}

static void take_token(struct identity *id, const struct json *request)
{
    enum { LEAST_LIFE_S = 60 }; /* whatever is said: not a request for each request */
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
    id->token = str_dup(token);
    id->who.token = str_of(id->token);
    id->renew_ms = now + life_ms / 100 * IDENTITY_RENEW_PERCENT;
    id->ends_ms = now + life_ms;
    id->ends_wall_ms = clock_wall_ms() + (int64_t)life_ms;
    id->used = false;
    id->ids->token_requests++;
    set_due(id, id->renew_ms);
    become_ready(id);
}

static void on_answer(struct identity *id, const struct json *answer)
{
    bool good = id->status >= 200 && id->status < 300;
    switch (id->at) {
    case AT_ASKING:
        if (good) {
            take_account(id, answer);
        } else if (id->status == 404 && id->create) {
            id->at = AT_CREATING;
            step(id);
        } else {
            fail_by_answer(id, answer, "look up");
        }
        return;
    case AT_CREATING:
        if (good) {
            id->ids->created++;
            log_info("service account made", "account=%s/%s", id->namespace, id->account);
            take_account(id, answer);
        } else if (id->status == 409) { /* somebody else was first */
            id->at = AT_ASKING;
            step(id);
        } else {
            fail_by_answer(id, answer, "make");
        }
        return;
    case AT_FETCHING:
        if (good) {
            take_token(id, answer);
        } else if (id->status == 404 && id->create && id->failures == 0) {
            id->failures++; /* the account was deleted; once, then by back-off */
            id->at = AT_ASKING;
            step(id);
        } else {
            fail_by_answer(id, answer, "token of");
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
    id->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct identity *id = arg;
    if (buf_add_str(&id->in, chunk) < 0 && id->call && !id->gone)
        transport_cancel(id->ids->opts.transport, id->call);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct identity *id = arg;
    struct identities *ids = id->ids;
    struct arena a = { .max_bytes = (size_t)IDENTITY_ANSWER_MAX_BYTES * 8 };
    struct json *answer = NULL;
    struct buf in = id->in;
    id->in = (struct buf){ 0 };
    id->call = NULL;
    ids->calls--;
    if (id->gone) {
        free_identity(id);
    } else if (!buf_ok(&in)) {
        fail(id, E_LIMIT, "look up", "the answer is too large");
    } else if (r < 0) {
        fail(id, r, "look up", err ? err_text(err) : err_strerror(r));
    } else {
        (void)json_parse(&a, buf_str(&in), NULL, &answer, NULL);
        on_answer(id, answer);
    }
    arena_fini(&a);
    buf_fini(&in);
    if (ids->closed && ids->calls == 0)
        free_identities(ids);
}

static const struct kube_call_ops call_ops = { .on_head = on_head,
                                               .on_data = on_data,
                                               .on_end = on_end };

static void write_account(struct buf *to, const struct identity *id)
{
    buf_printf(to,
               "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":\"%s\","
               "\"namespace\":\"%s\",\"labels\":{\"app.kubernetes.io/managed-by\":\"dormouse\"}",
               id->account, id->namespace);
    if (id->owner_uid[0])
        buf_printf(to,
                   ",\"ownerReferences\":[{\"apiVersion\":\"dormouse.dev/v1alpha1\","
                   "\"kind\":\"Operator\",\"name\":\"%s\",\"uid\":\"%s\"}]",
                   id->owner, id->owner_uid);
    buf_add_cstr(to, "}}");
}

/* Make the request that the state asks for. */
static void step(struct identity *id)
{
    struct identities *ids = id->ids;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(16 << 10);
    bool ask = id->at == AT_ASKING, create = id->at == AT_CREATING;
    scoped(free_scoped) char *target =
        xasprintf("/api/v1/namespaces/%s/serviceaccounts%s%s%s", id->namespace, create ? "" : "/",
                  create ? "" : id->account, id->at == AT_FETCHING ? "/token" : "");
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
    buf_init(&id->in, IDENTITY_ANSWER_MAX_BYTES);
    id->status = 0;
    int r = transport_start(ids->opts.transport, &req, &call_ops, id, &id->call, &err);
    headers_fini(&h);
    if (r >= 0)
        ids->calls++;
    else
        fail(id, r, "look up", err_text(&err));
}

/* ---------------------------------------------------------------- public */

struct identities *identities_new(const struct identities_opts *opts)
{
    struct identities *ids = xnew(struct identities);
    ids->opts = *opts;
    list_init(&ids->due);
    list_init(&ids->told);
    return ids;
}

void identities_close(struct identities *ids)
{
    if (!ids)
        return;
    assert(ids->map.n == 0);
    ids->closed = true;
    timer_stop(ids->opts.loop, &ids->timer);
    defer_cancel(&ids->tell);
    if (ids->calls == 0)
        free_identities(ids);
}

static struct str make_key(char buf[KEY_MAX], const char *namespace, const char *account)
{
    int n = snprintf(buf, KEY_MAX, "%s/%s", namespace, account);
    return str_n(buf, MIN((size_t)n, (size_t)KEY_MAX - 1));
}

struct identity *identity_of(struct identities *ids, const struct identity_spec *spec)
{
    char buf[KEY_MAX];
    if (!ids)
        return NULL;
    struct str key = make_key(buf, spec->namespace, spec->account);
    struct identity *id = map_get(&ids->map, key);
    if (id) {
        id->create = id->create || spec->create;
        return identity_ref(id);
    }
    id = xnew(struct identity);
    id->ids = ids;
    id->refs = 1;
    id->namespace = xstrdup(spec->namespace);
    id->account = xstrdup(spec->account);
    id->create = spec->create;
    id->owner = xstrdup(spec->owner ? spec->owner : "");
    id->owner_uid = xstrdup(spec->owner_uid ? spec->owner_uid : "");
    id->user = xasprintf("system:serviceaccount:%s:%s", spec->namespace, spec->account);
    id->namespace_group = xasprintf("system:serviceaccounts:%s", spec->namespace);
    id->groups[0] = STR("system:serviceaccounts");
    id->groups[1] = str_of(id->namespace_group);
    id->groups[2] = STR("system:authenticated");
    id->who = (struct kube_identity){ .user = str_of(id->user),
                                      .groups = id->groups,
                                      .n_groups = ARRAY_LEN(id->groups) };
    list_init(&id->waits);
    list_init(&id->listeners);
    (void)map_put(&ids->map, key, id);
    return id;
}

struct identity *identities_find(const struct identities *ids, struct str user)
{
    struct str prefix = STR("system:serviceaccount:"), namespace, account;
    char buf[KEY_MAX];
    if (!str_has_prefix(user, prefix) ||
        !str_cut(str_slice(user, prefix.n, user.n), ':', &namespace, &account))
        return NULL;
    int n = snprintf(buf, sizeof buf, STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(account));
    return map_get(&ids->map, str_n(buf, MIN((size_t)n, sizeof buf - 1)));
}

struct identity *identity_ref(struct identity *id)
{
    if (id)
        id->refs++;
    return id;
}

void identity_unref(struct identity *id)
{
    char buf[KEY_MAX];
    if (!id || --id->refs > 0)
        return;
    assert(list_is_empty(&id->waits) && list_is_empty(&id->listeners));
    (void)map_del(&id->ids->map, make_key(buf, id->namespace, id->account));
    clear_due(id);
    list_remove(&id->told);
    id->gone = true;
    if (id->call) /* on_end() frees */
        transport_cancel(id->ids->opts.transport, id->call);
    else
        free_identity(id);
}

static bool is_usable(struct identity *id)
{
    if (id->ids->opts.mode != IDENTITY_TOKEN)
        return id->at == AT_READY;
    return id->token && /* also while it is being renewed, and when that fails */
           loop_now_ms(id->ids->opts.loop) < id->ends_ms && clock_wall_ms() < id->ends_wall_ms;
}

static void begin(struct identity *id)
{
    clear_due(id);
    id->at = id->uid && id->at != AT_FAILED ? AT_FETCHING : AT_ASKING;
    step(id);
}

int identity_get(struct identity *id, const struct kube_identity **ret, struct identity_wait *w,
                 struct err *err)
{
    if (is_usable(id)) {
        id->used = true;
        *ret = &id->who;
        return 0;
    }
    if (id->at == AT_FAILED && loop_now_ms(id->ids->opts.loop) < id->due_ms) {
        *err = *id->err;
        return id->err->code;
    }
    if (!list_is_linked(&w->node))
        list_push_back(&id->waits, &w->node);
    if (!id->call)
        begin(id);
    return -EAGAIN;
}

void identity_prepare(struct identity *id)
{
    if (id->at == AT_UNKNOWN && !id->call)
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
        return; /* another one is being fetched, or will be */
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
    return id->user;
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
