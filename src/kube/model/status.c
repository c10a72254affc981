/* SPDX-License-Identifier: Apache-2.0 */
/* Status objects; see status.h. */
#include "kube/model/status.h"

#include <errno.h>
#include <inttypes.h>

int status_code(const struct json *status)
{
    return (int)json_int_or(json_getc(status, "code"), 500);
}

struct str status_message(const struct json *status)
{
    return json_get_str(status, "message");
}

struct str status_reason(const struct json *status)
{
    return json_get_str(status, "reason");
}

/* The details of a Status about its object; empty members are left out. */
struct details {
    struct str name, group, kind, uid;
    const struct field_errors *causes;
    struct str cause_text; /* a single cause that is only a message */
    int retry_after_s;
};

static void set_unless_empty(struct arena *a, struct json *obj, const char *key, struct str s)
{
    if (s.n)
        json_set_str(a, obj, key, s);
}

static struct json *causes_json(struct arena *a, const struct field_errors *errs)
{
    struct json *causes = json_new_array(a);
    for (const struct field_error *e = errs->first; e; e = e->next) {
        struct json *c = json_new_object(a);
        json_set_str(a, c, "reason", str_of(field_error_reason(e->type)));
        json_set_str(a, c, "message", e->body);
        set_unless_empty(a, c, "field", e->field);
        json_add(causes, c);
    }
    return causes;
}

static struct json *details_json(struct arena *a, const struct details *d)
{
    struct json *o = json_new_object(a);
    set_unless_empty(a, o, "name", d->name);
    set_unless_empty(a, o, "group", d->group);
    set_unless_empty(a, o, "kind", d->kind);
    set_unless_empty(a, o, "uid", d->uid);
    if (d->causes && d->causes->n)
        json_setc(a, o, "causes", causes_json(a, d->causes));
    if (d->cause_text.n) {
        struct json *list = json_new_array(a), *c = json_new_object(a);
        json_set_str(a, c, "message", d->cause_text);
        json_add(list, c);
        json_setc(a, o, "causes", list);
    }
    if (d->retry_after_s)
        json_set_int(a, o, "retryAfterSeconds", d->retry_after_s);
    return o;
}

static struct json *status_of(struct arena *a, const char *status, int code, const char *reason,
                              struct str message, const struct details *d)
{
    struct json *s = json_new_object(a);
    json_set_str(a, s, "kind", STR("Status"));
    json_set_str(a, s, "apiVersion", STR("v1"));
    json_setc(a, s, "metadata", json_new_object(a));
    json_set_str(a, s, "status", str_of(status));
    set_unless_empty(a, s, "message", message);
    set_unless_empty(a, s, "reason", str_of(reason));
    if (d)
        json_setc(a, s, "details", details_json(a, d));
    if (code)
        json_set_int(a, s, "code", code);
    return s;
}

struct json *status_new(struct arena *a, int code, const char *reason, struct str message)
{
    return status_of(a, code < 400 ? "Success" : "Failure", code, reason, message, NULL);
}

/* A failure about one object: details have group, kind (the resource) and name. */
static struct json *about(struct arena *a, int code, const char *reason, struct str message,
                          struct str group, struct str resource, struct str name)
{
    struct details d = { .name = name, .group = group, .kind = resource };
    return status_of(a, "Failure", code, reason, message, &d);
}

static const char *qualified(struct arena *a, struct str group, struct str resource)
{
    if (group.n == 0)
        return str_dup_arena(a, resource);
    return arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(resource), STR_ARG(group));
}

static const char *quoted(struct arena *a, struct str s)
{
    struct buf b = BUF_INIT(64 * 1024);
    field_go_quote(&b, s);
    char *out = str_dup_arena(a, buf_str(&b));
    buf_fini(&b);
    return out;
}

/* `configmaps "x"` */
static const char *named(struct arena *a, struct str group, struct str resource, struct str name)
{
    return arena_printf(a, "%s %s", qualified(a, group, resource), quoted(a, name));
}

struct json *status_deleted(struct arena *a, struct str group, struct str resource, struct str name,
                            struct str uid)
{
    struct details d = { .name = name, .group = group, .kind = resource, .uid = uid };
    return status_of(a, "Success", 0, "", STR(""), &d);
}

struct json *status_not_found(struct arena *a, struct str group, struct str resource,
                              struct str name)
{
    const char *m = arena_printf(a, "%s not found", named(a, group, resource, name));
    return about(a, 404, "NotFound", str_of(m), group, resource, name);
}

struct json *status_no_resource(struct arena *a)
{
    struct details d = { 0 };
    return status_of(a, "Failure", 404, "NotFound",
                     STR("the server could not find the requested resource"), &d);
}

struct json *status_already_exists(struct arena *a, struct str group, struct str resource,
                                   struct str name)
{
    const char *m = arena_printf(a, "%s already exists", named(a, group, resource, name));
    return about(a, 409, "AlreadyExists", str_of(m), group, resource, name);
}

struct json *status_generate_name_conflict(struct arena *a, struct str group, struct str resource,
                                           struct str name)
{
    const char *m = arena_printf(a,
                                 "%s already exists, the server was not able to generate a unique "
                                 "name for the object",
                                 named(a, group, resource, name));
    struct details d = { .name = name, .group = group, .kind = resource, .retry_after_s = 1 };
    return status_of(a, "Failure", 409, "AlreadyExists", str_of(m), &d);
}

struct json *status_conflict(struct arena *a, struct str group, struct str resource,
                             struct str name, const char *why)
{
    const char *m = arena_printf(a, "Operation cannot be fulfilled on %s: %s",
                                 named(a, group, resource, name), why);
    return about(a, 409, "Conflict", str_of(m), group, resource, name);
}

struct json *status_modified(struct arena *a, struct str group, struct str resource,
                             struct str name)
{
    return status_conflict(a, group, resource, name,
                           "the object has been modified; please apply your changes to the latest "
                           "version and try again");
}

struct json *status_invalid(struct arena *a, struct str group, struct str kind, struct str name,
                            const struct field_errors *errs)
{
    const char *who = named(a, group, kind, name);
    struct str m = str_of(arena_printf(a, "%s is invalid", who));
    if (errs && errs->n)
        m = str_of(
            arena_printf(a, "%s is invalid: " STR_FMT, who, STR_ARG(field_errors_text(errs))));
    struct details d = { .name = name, .group = group, .kind = kind, .causes = errs };
    return status_of(a, "Failure", 422, "Invalid", m, &d);
}

struct json *status_bad_request(struct arena *a, struct str message)
{
    return status_new(a, 400, "BadRequest", message);
}

struct json *status_unauthorized(struct arena *a)
{
    return status_new(a, 401, "Unauthorized", STR("Unauthorized"));
}

struct json *status_forbidden(struct arena *a, struct str group, struct str resource,
                              struct str name, struct str why)
{
    const char *m;
    if (resource.n == 0)
        m = arena_printf(a, "forbidden: " STR_FMT, STR_ARG(why));
    else if (name.n == 0)
        m = arena_printf(a, "%s is forbidden: " STR_FMT, qualified(a, group, resource),
                         STR_ARG(why));
    else
        m = arena_printf(a, "%s is forbidden: " STR_FMT, named(a, group, resource, name),
                         STR_ARG(why));
    return about(a, 403, "Forbidden", str_of(m), group, resource, name);
}

struct json *status_expired(struct arena *a, struct str message)
{
    return status_new(a, 410, "Expired", message);
}

struct json *status_too_old(struct arena *a, uint64_t wanted, uint64_t oldest)
{
    return status_expired(
        a, str_of(arena_printf(a, "too old resource version: %" PRIu64 " (%" PRIu64 ")", wanted,
                               oldest)));
}

struct json *status_future(struct arena *a, uint64_t wanted, uint64_t current)
{
    const char *m = arena_printf(
        a, "Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64, wanted, current);
    struct json *s = status_new(a, 504, "Timeout", str_of(m));
    struct json *details = json_new_object(a), *causes = json_new_array(a), *c = json_new_object(a);
    json_set_str(a, c, "reason", STR("ResourceVersionTooLarge"));
    json_set_str(a, c, "message", STR("Too large resource version"));
    json_add(causes, c);
    json_setc(a, details, "causes", causes);
    json_set_int(a, details, "retryAfterSeconds", 1);
    (void)json_del(s, STR("code"));
    json_setc(a, s, "details", details);
    json_set_int(a, s, "code", 504);
    return s;
}

struct json *status_too_large(struct arena *a, size_t limit_bytes)
{
    const char *m = arena_printf(a, "Request entity too large: limit is %zu", limit_bytes);
    return status_new(a, 413, "RequestEntityTooLarge", str_of(m));
}

struct json *status_too_much_work(struct arena *a)
{
    const char *what = budget_is_over(a->budget) ? a->budget->over : "working on the object";
    const char *more = budget_is_over(a->budget) ? "time" : "time or memory";
    return status_new(a, 413, "RequestEntityTooLarge",
                      str_of(arena_printf(a,
                                          "Request entity too large: %s takes more %s than one "
                                          "request may",
                                          what, more)));
}

struct json *status_no_method(struct arena *a)
{
    struct details d = { 0 };
    return status_of(a, "Failure", 405, "MethodNotAllowed",
                     STR("the server does not allow this method on the requested resource"), &d);
}

struct json *status_method_not_allowed(struct arena *a, struct str group, struct str resource,
                                       const char *verb)
{
    const char *m = arena_printf(a, "%s is not supported on resources of kind %s", verb,
                                 quoted(a, str_of(qualified(a, group, resource))));
    struct details d = { .group = group, .kind = resource };
    return status_of(a, "Failure", 405, "MethodNotAllowed", str_of(m), &d);
}

struct json *status_not_acceptable(struct arena *a, const char *accepted)
{
    const char *m = arena_printf(a, "only the following media types are accepted: %s", accepted);
    return status_new(a, 406, "NotAcceptable", str_of(m));
}

struct json *status_no_representation(struct arena *a, const char *accepted)
{
    const char *m =
        arena_printf(a, "406: Not Acceptable\n\nAvailable representations: %s", accepted);
    struct details d = { 0 };
    return status_of(a, "Failure", 406, "NotAcceptable", str_of(m), &d);
}

struct json *status_unsupported_media_type(struct arena *a, const char *accepted)
{
    const char *m = arena_printf(
        a, "the body of the request was in an unknown format - accepted media types include: %s",
        accepted);
    return status_new(a, 415, "UnsupportedMediaType", str_of(m));
}

struct json *status_internal(struct arena *a, struct str text)
{
    struct details d = { .cause_text = text };
    const char *m = arena_printf(a, "Internal error occurred: " STR_FMT, STR_ARG(text));
    return status_of(a, "Failure", 500, "InternalError", str_of(m), &d);
}

struct json *status_timeout(struct arena *a, struct str text)
{
    struct details d = { 0 };
    const char *m = arena_printf(a, "Timeout: " STR_FMT, STR_ARG(text));
    return status_of(a, "Failure", 504, "Timeout", str_of(m), &d);
}

struct json *status_too_many_requests(struct arena *a, int retry_after_s)
{
    struct details d = { .retry_after_s = retry_after_s };
    return status_of(a, "Failure", 429, "TooManyRequests",
                     STR("Too many requests, please try again later."), &d);
}

struct json *status_unavailable(struct arena *a, struct str text)
{
    return status_new(a, 503, "ServiceUnavailable", text);
}

struct json *status_from_err(struct arena *a, int code, const struct err *err)
{
    switch (code) {
    case E_PARSE:
    case E_INVALID:
    case E_UNSUPPORTED:
        return status_bad_request(a, str_of(err ? err_text(err) : err_strerror(code)));
    case E_LIMIT:
    case -EMSGSIZE:
        return status_new(a, 413, "RequestEntityTooLarge",
                          str_of(arena_printf(a, "Request entity too large: %s",
                                              err ? err_text(err) : err_strerror(code))));
    case E_CONFLICT:
        return status_new(a, 409, "Conflict",
                          STR("the object has been modified; please apply your "
                              "changes to the latest version and try again"));
    case E_EXPIRED:
        return status_expired(a, STR("The resourceVersion for the provided watch is too old."));
    case E_DENIED:
        return status_forbidden(a, STR(""), STR(""), STR(""), str_of(err_strerror(code)));
    case -EBUSY:
    case -EAGAIN:
        return status_too_many_requests(a, 1);
    case -ETIMEDOUT:
        return status_timeout(a, STR("request did not complete within the allotted timeout"));
    case -ENOSPC:
    case -EDQUOT:
        return status_new(a, 507, "InsufficientStorage",
                          STR("no space left on device: the server cannot store this; delete "
                              "objects that are not needed, or make room on its disk"));
    case E_DIGEST: /* damage that an administrator must repair: the text names the object's key */
        return status_internal(a, str_of(err ? err_text(err) : err_strerror(code)));
    default:
        return status_internal(a, str_of(err_strerror(code)));
    }
}
