/* SPDX-License-Identifier: Apache-2.0 */
/* Authentication; see authn.h. */
#include "api/auth/authn.h"

#include "api/auth/auth.h"
#include "api/auth/tokens.h"
#include "base/log.h"
#include "codec/digest.h"
#include "io/tls.h"

/* ------------------------------------------------------------------ certificates */

/* Every authenticated user is a member of this group. */
static const struct str *with_authenticated(struct arena *a, const struct str *groups, size_t n,
                                            size_t *ret_n)
{
    struct str *all = arena_new_n(a, struct str, n + 1);
    bool member = false;
    *ret_n = 0;
    for (size_t i = 0; i < n; i++) {
        all[(*ret_n)++] = groups[i];
        member = member || str_is(groups[i], "system:authenticated");
    }
    if (!member)
        all[(*ret_n)++] = STR("system:authenticated");
    return all;
}

static bool by_certificate(struct request *rq)
{
    struct arena *a = &rq->arena;
    const struct tls_peer *cert = rq->cert;
    if (cert && cert->why)
        log_debug("client certificate not believed", "peer=" STR_FMT " reason=\"%s\"",
                  STR_ARG(rq->peer), cert->why);
    if (!cert || cert->why || cert->common_name.n == 0)
        return false;
    char hex[SHA256_HEX_SIZE];
    hex_format(cert->sha256, sizeof cert->sha256, hex);
    struct str *value = arena_new(a, struct str);
    *value = str_of(arena_printf(a, "X509SHA256=%s", hex));
    struct kube_extra *extra = arena_new(a, struct kube_extra);
    *extra = (struct kube_extra){ .key = STR("authentication.kubernetes.io/credential-id"),
                                  .values = value,
                                  .n = 1 };
    rq->identity =
        (struct kube_identity){ .user = cert->common_name, .extra = extra, .n_extra = 1 };
    rq->identity.groups = with_authenticated(a, cert->orgs, cert->n_orgs, &rq->identity.n_groups);
    return true;
}

/* ------------------------------------------------------------------ tokens */

struct bearer {
    struct token_check check;
    struct request *rq;
};

/* The token after "Bearer "; "" for other schemes. */
static struct str bearer_token(struct str authorization)
{
    struct str scheme, token;
    (void)str_cut(str_trim(authorization), ' ', &scheme, &token);
    token = str_trim(token);
    return str_ieq(scheme, STR("bearer")) && str_find_char(token, ' ') < 0 ? token : STR("");
}

static struct json *judge(struct request *rq, const struct token_check *c)
{
    if (!c->good)
        return status_unauthorized(&rq->arena);
    rq->identity = c->identity;
    rq->token_keys = c->keys; /* the check lives as long as the request */
    rq->n_token_keys = c->n_keys;
    return NULL;
}

static void on_checked(struct token_check *c)
{
    struct request *rq = container_of(c, struct bearer, check)->rq;
    if (!request_idle(rq))
        request_continue(rq, judge(rq, c));
}

static struct json *by_token(struct request *rq)
{
    struct bearer *b = arena_new(&rq->arena, struct bearer);
    *b = (struct bearer){ .check = { .tokens = rq->api->auth->tokens,
                                     .a = &rq->arena,
                                     .token = bearer_token(rq->authorization),
                                     .done = on_checked },
                          .rq = rq };
    if (token_check(&b->check))
        return judge(rq, &b->check);
    request_busy(rq);
    request_wait(rq);
    return NULL;
}

/* ------------------------------------------------------------------ the step of a request */

void authn_take(struct request *rq, const struct headers *headers)
{
    rq->authorization = str_copy_arena(&rq->arena, headers_get(headers, "authorization"));
    rq->wants_to_be = impersonate_parse(&rq->arena, headers);
}

/*
 * A client that sends a token or an invalid certificate claims an identity, so it is not anonymous.
 */
static bool is_anonymous(const struct request *rq)
{
    return rq->api->auth->with_anonymous && !(rq->cert && rq->cert->why) &&
           bearer_token(rq->authorization).n == 0;
}

struct json *authn_step(struct request *rq)
{
    static const struct str group = { "system:unauthenticated", 22 };
    if (rq->in_process || by_certificate(rq))
        return NULL;
    if (!is_anonymous(rq))
        return by_token(rq);
    rq->identity =
        (struct kube_identity){ .user = STR("system:anonymous"), .groups = &group, .n_groups = 1 };
    return NULL;
}
