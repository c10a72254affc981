/* SPDX-License-Identifier: Apache-2.0 */
/* Authentication and authorization as a part of the server; see auth.h. */
#include "api/auth/auth.h"

#include "api/auth/authz.h"
#include "api/auth/reviews.h"
#include "api/auth/token_request.h"
#include "api/auth/tokens.h"

#include <assert.h>

static void auth_start(void *self, controller_ready_cb ready, void *arg)
{
    struct auth *auth = self;
    struct api *api = auth->api;
    assert(!auth->authz);
    auth->authz = authz_start(api, auth->with_node_routes, ready, arg);
    api->authorize = authz_decide;
    api->authorize_arg = auth->authz;
}

static void auth_stop(void *self)
{
    const struct auth *auth = self;
    authz_stop(auth->authz);
}

static void auth_free(void *self)
{
    struct auth *auth = self;
    authz_free(auth->authz);
    tokens_free(auth->tokens);
    free(auth);
}

static bool auth_is_busy(const void *self)
{
    const struct auth *auth = self;
    return authz_is_busy(auth->authz);
}

static void auth_written(void *self, const struct written *w)
{
    const struct auth *auth = self;
    tokens_written(auth->tokens, w);
}

static const struct api_part_ops part_with_rbac = { .name = "auth",
                                                    .start = auth_start,
                                                    .stop = auth_stop,
                                                    .free = auth_free,
                                                    .is_busy = auth_is_busy,
                                                    .written = auth_written,
                                                    .lost = auth_written };

/* Authentication only: it has nothing to read. */
static const struct api_part_ops part_without_rbac = {
    .name = "auth", .free = auth_free, .written = auth_written, .lost = auth_written
};

int auth_init(struct api *api, const struct api_opts *opts, struct err *err)
{
    struct tokens *tokens = NULL;
    int r = tokens_new(&(struct tokens_opts){ .api = api,
                                              .admin = opts->admin_token,
                                              .file = opts->token_file,
                                              .sa_key = opts->sa_key,
                                              .issuer = opts->sa_issuer },
                       &tokens, err);
    if (r < 0)
        return r;
    api->auth = xnew(struct auth);
    *api->auth = (struct auth){ .api = api,
                                .tokens = tokens,
                                .with_node_routes = opts->node_cidrs.n > 0,
                                .with_anonymous = opts->rbac && opts->anonymous };
    api_add_part(api, opts->rbac ? &part_with_rbac : &part_without_rbac, api->auth);
    return 0;
}

void auth_register_first(struct admission_chain *c)
{
    tokens_register(c);
}

void auth_register_last(struct admission_chain *c)
{
    authz_register(c);
}

bool auth_serve(struct request *rq)
{
    return reviews_serve(rq) || token_request_serve(rq);
}

static struct json *one_string(struct arena *a, struct str s)
{
    struct json *v = json_new_array(a);
    json_add(v, json_new_str(a, s));
    return v;
}

struct json *auth_openid_document(struct request *rq, struct str address)
{
    struct arena *a = &rq->arena;
    const struct tokens *t = rq->api->auth->tokens;
    if (!tokens_can_issue(t))
        return NULL;
    struct json *v = json_new_object(a);
    json_set_str(a, v, "issuer", tokens_issuer(t));
    json_set_str(a, v, "jwks_uri",
                 str_of(arena_printf(a, "https://" STR_FMT "/openid/v1/jwks", STR_ARG(address))));
    json_setc(a, v, "response_types_supported", one_string(a, STR("id_token")));
    json_setc(a, v, "subject_types_supported", one_string(a, STR("public")));
    json_setc(a, v, "id_token_signing_alg_values_supported", one_string(a, tokens_alg(t)));
    return v;
}

struct json *auth_openid_keys(struct request *rq)
{
    const struct tokens *t = rq->api->auth->tokens;
    return tokens_can_issue(t) ? tokens_jwks(&rq->arena, t) : NULL;
}
