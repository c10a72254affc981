/* SPDX-License-Identifier: Apache-2.0 */
/* The option that deletes unreadable objects; see unsafe_delete.h. */
#include "api/unsafe_delete.h"

#include "api/permission.h"

#define UNSAFE      "ignoreStoreReadErrorWithClusterBreakingPotential"
#define UNSAFE_VERB "unsafe-delete-ignore-read-errors"

bool unsafe_delete_wanted(struct request *rq, const struct json *body)
{
    struct str text = route_query(&rq->route, UNSAFE);
    if (body)
        return json_bool(json_getc(body, UNSAFE));
    return str_is(text, "true") || str_is(text, "1");
}

struct json *unsafe_delete_refuse(struct request *rq, struct str group, struct str kind,
                                  struct str name, const char *why)
{
    struct field_errors errs = field_errors_init(&rq->arena);
    struct fpath at = fpath_child(NULL, STR(UNSAFE));
    field_error(&errs, FIELD_INVALID, &at, json_new_bool(&rq->arena, true), "%s", why);
    return status_invalid(&rq->arena, group, kind, name, &errs);
}

struct json *unsafe_delete_check(struct request *rq, bool dry_run, const struct json *body)
{
    static const char *const others[] = { "propagationPolicy", "orphanDependents",
                                          "gracePeriodSeconds", "preconditions" };
    struct arena *a = &rq->arena;
    struct field_errors errs = field_errors_init(a);
    struct fpath at = fpath_child(NULL, STR(UNSAFE));
    const struct json *yes = json_new_bool(a, true);
    if (dry_run)
        field_error(&errs, FIELD_INVALID, &at, yes, "cannot be set together with .dryRun");
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        bool is_set =
            body ? json_getc(body, others[i]) && !json_is(json_getc(body, others[i]), JSON_NULL)
                 : route_query(&rq->route, others[i]).n > 0;
        if (is_set)
            field_error(&errs, FIELD_INVALID, &at, yes, "cannot be set together with .%s",
                        others[i]);
    }
    return errs.n ? status_invalid(a, STR("meta.k8s.io"), STR("DeleteOptions"), STR(""), &errs)
                  : NULL;
}

struct json *unsafe_delete_may(struct request *rq)
{
    const struct api *api = rq->api;
    scoped(buf_fini_scoped) struct buf reason = BUF_INIT(BUF_MAX_DEFAULT);
    struct api_attributes at = permission_attributes(rq);
    at.verb = STR(UNSAFE_VERB);
    if (!api->authorize || api->authorize(api->authorize_arg, &at, &reason))
        return NULL;
    const char *why =
        arena_printf(&rq->arena, "not permitted to do \"" UNSAFE_VERB "\", reason: " STR_FMT,
                     STR_ARG(buf_str(&reason)));
    return status_forbidden(&rq->arena, rq->route.group, rq->route.resource, rq->route.name,
                            str_of(why));
}
