/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/pull_secrets.h"

#include "base/mem.h"
#include "client/ask.h"
#include "codec/base64.h"

#include <assert.h>
#include <errno.h>

enum { STATUS_OK = 200, STATUS_UNAUTHORIZED = 401, STATUS_FORBIDDEN = 403, STATUS_MISSING = 404 };

int pull_secret_text(struct arena *a, struct str name, struct str type, const struct json *data,
                     struct str *ret, struct err *err)
{
    const struct json *v = json_getc(data, PULL_SECRET_KEY);
    scoped(buf_fini_scoped) struct buf raw = BUF_INIT(PULL_SECRET_MAX_BYTES);
    if (!str_is(type, PULL_SECRET_TYPE))
        return err_set(err, E_INVALID, "Secret '" STR_FMT "' is not of type " PULL_SECRET_TYPE,
                       STR_ARG(name));
    if (!json_is(v, JSON_STRING))
        return err_set(err, E_INVALID, "Secret '" STR_FMT "' has no '" PULL_SECRET_KEY "'",
                       STR_ARG(name));
    if (base64_decode(&raw, json_str(v), BASE64_LENIENT) < 0)
        return err_set(err, E_INVALID,
                       "'" PULL_SECRET_KEY "' of Secret '" STR_FMT
                       "' is no base64 of at most %d bytes",
                       STR_ARG(name), PULL_SECRET_MAX_BYTES);
    *ret = str_copy_arena(a, buf_str(&raw));
    return 0;
}

/* ---- reading them ---- */

struct pull_secret {
    struct pull_secrets *all;
    struct str name; /* in the arena */
    struct client_ask *ask;
};

struct pull_secrets {
    struct transport *transport;
    struct arena arena;
    struct pull_secret at[PULL_SECRETS_MAX];
    struct str texts[PULL_SECRETS_MAX];
    size_t n, n_left;
    int r; /* of the first Secret that could not be read */
    struct err err;
    pull_secrets_cb cb;
    void *arg;
};

static void free_secrets(struct pull_secrets *p)
{
    for (size_t i = 0; i < p->n; i++)
        ask_cancel(p->at[i].ask);
    arena_fini(&p->arena);
    free(p);
}

static int take(struct pull_secrets *p, const struct pull_secret *s, int status,
                const struct json *json, const struct err *why, struct err *err)
{
    switch (status) {
    case STATUS_OK:
        return pull_secret_text(&p->arena, s->name, json_get_str(json, "type"),
                                json_getc(json, "data"), &p->texts[s - p->at], err);
    case STATUS_MISSING:
        return err_set(err, -ENOENT, "there is no Secret '" STR_FMT "'", STR_ARG(s->name));
    case STATUS_UNAUTHORIZED:
    case STATUS_FORBIDDEN:
        return err_set(err, E_DENIED, "this process may not read the Secret '" STR_FMT "'",
                       STR_ARG(s->name));
    default:
        return err_set(err, -EIO, "Secret '" STR_FMT "': %s", STR_ARG(s->name),
                       status ? "the API does not give it" : err_text(why));
    }
}

static void on_secret(void *arg, int status, struct str body, const struct json *json,
                      const struct err *why)
{
    struct pull_secret *s = arg;
    struct pull_secrets *p = s->all;
    struct err err = { 0 };
    s->ask = NULL;
    int r = take(p, s, status, json, why, &err);
    if (r < 0 && p->r >= 0) {
        p->r = r;
        p->err = err;
    }
    if (--p->n_left > 0)
        return;
    p->cb(p->arg, p->r, p->texts, p->n, &p->err);
    free_secrets(p);
}

int pull_secrets_read(struct transport *transport, const char *namespace, const char *names,
                      pull_secrets_cb cb, void *arg, struct pull_secrets **ret, struct err *err)
{
    struct str name, rest = str_of(names);
    struct pull_secrets *p = xnew(struct pull_secrets);
    p->transport = transport;
    p->cb = cb;
    p->arg = arg;
    int r = transport ? 0 : err_set(err, E_UNSUPPORTED, "Secrets need a cluster (--kubeconfig)");
    while (r >= 0 && rest.n && p->n < PULL_SECRETS_MAX) {
        (void)str_cut(rest, ' ', &name, &rest);
        if (!name.n)
            continue;
        struct pull_secret *s = &p->at[p->n];
        *s = (struct pull_secret){ .all = p, .name = str_copy_arena(&p->arena, name) };
        const struct ask_request rq = {
            .method = "GET",
            .target = str_of(arena_printf(&p->arena, "/api/v1/namespaces/%s/secrets/" STR_FMT,
                                          namespace, STR_ARG(name))),
        };
        r = ask_start(transport, NULL, &rq, on_secret, s, &s->ask, err);
        if (r >= 0)
            p->n_left = ++p->n;
    }
    if (r < 0) {
        free_secrets(p);
        return r;
    }
    assert(p->n);
    *ret = p;
    return 0;
}

void pull_secrets_cancel(struct pull_secrets *p)
{
    if (p)
        free_secrets(p);
}
