/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembles the API server: the order in which parts start, the order of the admission stages, and
 * the functions that the core and its libraries need of each other. No other file includes all of
 * them.
 */
#include "api/admit/admit.h"
#include "api/auth/auth.h"
#include "api/auth/authn.h"
#include "api/auth/authz.h"
#include "api/controllers/controllers.h"
#include "api/usage/usage_serve.h"

static const struct api_needs needs = { .authenticate = authn_step,
                                        .impersonate = impersonate_step,
                                        .authorize = authz_step,
                                        .take_credentials = authn_take,
                                        .serve = auth_serve,
                                        .serve_measured = usage_serve,
                                        .openid_document = auth_openid_document,
                                        .openid_keys = auth_openid_keys,
                                        .schema_revision = controllers_schema_revision,
                                        .find_stored = controllers_find_stored,
                                        .has_indices = controllers_have_indices };

/* At each point of the chain the stages run in this order. */
static void register_stages(struct api *api)
{
    struct admission_chain *c = api->chain;
    controllers_register_first(c);
    auth_register_first(c);
    admit_register(api->admit, c);
    auth_register_last(c);
    controllers_register_last(c);
}

int api_new(const struct api_opts *opts, struct api **ret, struct err *err)
{
    struct api *api = api_core_new(opts, &needs);
    controllers_init(api, opts);
    controllers_add_first(api->controllers);
    admit_init(api, &(struct admit_needs){ .has_quota = controllers_have_quota, .arg = api });
    int r = auth_init(api, opts, err);
    if (r < 0) {
        free(api->admit);
        api_core_free(api);
        return r;
    }
    controllers_add_rest(api->controllers);
    admit_add_part(api->admit);
    usage_add_part(api);
    register_stages(api);
    *ret = api;
    return 0;
}
