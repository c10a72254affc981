/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes the Secrets that hold a token of a ServiceAccount after the account was deleted. Their
 * tokens are invalid from that moment on (tokens.c reads the account), so this only tidies up:
 * Secrets beyond the limit, or left by a crash, stay.
 */
#include "api/controllers/controllers.h"
#include "api/identity.h"
#include "api/inner.h"
#include "base/log.h"

#include <assert.h>

enum {
    SECRETS_ACCOUNTS_MAX = 64, /* accounts whose Secrets are being searched */
    SECRETS_PAGE_ROWS = 32
};

#define ACCOUNT_UID "kubernetes.io/service-account.uid"

struct account_secrets {
    struct api *api;
    size_t n; /* searches that run */
    bool stopped;
};

/* The search for the Secrets of one account. */
struct account_secrets_search {
    struct account_secrets *s;
    char *ns, *account, *uid;
    struct buf after;
    size_t n_calls;
    bool more;
};

static void search_next(struct account_secrets_search *q);

static void search_end(struct account_secrets_search *q)
{
    struct account_secrets *s = q->s;
    assert(q->n_calls == 0);
    free(q->ns);
    free(q->account);
    free(q->uid);
    buf_fini(&q->after);
    free(q);
    assert(s->n > 0);
    s->n--;
    api_part_idle(s->api);
}

static void page_end(struct account_secrets_search *q)
{
    if (q->n_calls > 0)
        return;
    if (q->more && !q->s->stopped)
        search_next(q);
    else
        search_end(q);
}

static void on_deleted(void *arg, int r, struct str body)
{
    struct account_secrets_search *q = arg;
    (void)body;
    if (r != 200 && r != 404 && r != 409 && !q->s->stopped)
        log_warn("a secret of an account that is gone stays", "namespace=%s account=%s", q->ns,
                 q->account);
    assert(q->n_calls > 0);
    q->n_calls--;
    page_end(q);
}

static void delete (struct account_secrets_search *q, struct arena *a, const struct json *secret)
{
    const struct inner_request req = {
        .method = "DELETE",
        .target = str_of(arena_printf(a, "/api/v1/namespaces/%s/secrets/" STR_FMT, q->ns,
                                      STR_ARG(meta_name(secret)))),
        .content_type = "application/json",
        .body = str_of(arena_printf(a,
                                    "{\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":"
                                    "\"" STR_FMT "\"}}",
                                    STR_ARG(meta_uid(secret))))
    };
    if (inner_call(q->s->api, &req, on_deleted, q) >= 0)
        q->n_calls++;
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct account_secrets_search *q = arg;
    struct arena a = { 0 };
    (void)err;
    q->more = r >= 0 && page->more;
    for (size_t i = 0; r >= 0 && i < page->n && !q->s->stopped; i++) {
        struct json *secret;
        arena_reset(&a);
        if (str_find(page->kv[i].value, STR(ACCOUNT_UID)) < 0 ||
            json_parse(&a, page->kv[i].value, NULL, &secret, NULL) < 0)
            continue;
        const struct json *notes = json_path(secret, "metadata", "annotations", NULL);
        if (str_is(identity_of_secret(secret), q->account) &&
            str_is(json_get_str(notes, ACCOUNT_UID), q->uid))
            delete (q, &a, secret);
    }
    buf_reset(&q->after);
    if (q->more)
        (void)buf_add_str(&q->after, page->kv[page->n - 1].key);
    arena_fini(&a);
    page_end(q);
}

static void search_next(struct account_secrets_search *q)
{
    struct arena a = { 0 };
    const struct store_range range = { .prefix =
                                           str_of(arena_printf(&a, "/registry/secrets/%s/", q->ns)),
                                       .after = buf_str(&q->after),
                                       .limit = SECRETS_PAGE_ROWS,
                                       .skip_damaged = true };
    if (store_range(q->s->api->store, &range, on_page, q, NULL) < 0)
        search_end(q);
    arena_fini(&a);
}

void account_secrets_written(struct account_secrets *s, const struct written *w)
{
    if (!s || s->stopped || w->obj || w->res->group.n || !str_is(w->res->plural, "serviceaccounts"))
        return;
    if (s->n >= SECRETS_ACCOUNTS_MAX)
        return;
    struct account_secrets_search *q = xnew(struct account_secrets_search);
    *q = (struct account_secrets_search){ .s = s,
                                          .ns = str_dup(meta_namespace(w->old)),
                                          .account = str_dup(w->name),
                                          .uid = str_dup(meta_uid(w->old)),
                                          .after = BUF_INIT(STORE_KEY_MAX_BYTES) };
    s->n++;
    search_next(q);
}

struct account_secrets *account_secrets_start(struct api *api)
{
    struct account_secrets *s = xnew(struct account_secrets);
    *s = (struct account_secrets){ .api = api };
    return s;
}

void account_secrets_stop(struct account_secrets *s)
{
    if (s)
        s->stopped = true;
}

bool account_secrets_is_busy(const struct account_secrets *s)
{
    return s && s->n > 0;
}

void account_secrets_free(struct account_secrets *s)
{
    assert(!account_secrets_is_busy(s));
    free(s);
}
