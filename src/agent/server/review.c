/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews by the API server; see access.h. */
#include "agent/server/access.h"
#include "client/ask.h"

#include <errno.h>

enum { GROUPS_MAX = 1024, EXTRA_MAX = 64, VALUES_MAX = 64 };

struct review_sender {
    struct agent_reviewer base;
    struct transport *transport;
};

struct agent_review {
    struct client_ask *ask;
    agent_token_cb on_token; /* one of them */
    agent_allowed_cb on_allowed;
    void *arg;
};

/* ------------------------------------------------------------------ answers */

static struct str *read_strings(struct arena *a, const struct json *list, size_t most,
                                size_t *ret_n)
{
    size_t n = 0;
    struct str *p = arena_new_n(a, struct str, most);
    json_each (item, list)
        if (n < most && json_is(item, JSON_STRING))
            p[n++] = json_str(item);
    *ret_n = n;
    return p;
}

static void read_extra(struct arena *a, const struct json *extra, struct kube_identity *who)
{
    struct kube_extra *p = arena_new_n(a, struct kube_extra, EXTRA_MAX);
    size_t n = 0;
    json_each (item, extra) {
        if (n == EXTRA_MAX)
            break;
        p[n].key = item->key;
        p[n].values = read_strings(a, item, VALUES_MAX, &p[n].n);
        n++;
    }
    who->extra = p;
    who->n_extra = n;
}

/* Lives while the callback runs. */
static const struct kube_identity *read_user(struct arena *a, const struct json *status)
{
    const struct json *user = json_getc(status, "user");
    struct str name = json_get_str(user, "username");
    if (!json_bool(json_getc(status, "authenticated")) || name.n == 0)
        return NULL;
    struct kube_identity *who = arena_new(a, struct kube_identity);
    who->user = name;
    who->uid = json_get_str(user, "uid");
    who->groups = read_strings(a, json_getc(user, "groups"), GROUPS_MAX, &who->n_groups);
    read_extra(a, json_getc(user, "extra"), who);
    return who;
}

static int check_answer(int status, const struct json *json, const struct err *cause,
                        struct err *err)
{
    if (status == 0)
        return err_set(err, cause->code < 0 ? cause->code : -EIO, "%s", err_text(cause));
    if (status < 200 || status > 299)
        return err_set(err, E_DENIED, "the API server answered %d: " STR_FMT, status,
                       STR_ARG(str_slice(json_get_str(json, "message"), 0, 200)));
    return json_is(json_getc(json, "status"), JSON_OBJECT)
               ? 0
               : err_set(err, E_PARSE, "the API server answered without a status");
}

static void on_answer(void *arg, int status, struct str body, const struct json *json,
                      const struct err *cause)
{
    struct agent_review v = *(struct agent_review *)arg;
    struct err err = { 0 };
    struct arena a = { 0 };
    free(arg);
    int r = check_answer(status, json, cause, &err);
    const struct json *result = json_getc(json, "status");
    if (v.on_token)
        v.on_token(v.arg, r, r < 0 ? NULL : read_user(&a, result), &err);
    else
        v.on_allowed(v.arg, r, r >= 0 && json_bool(json_getc(result, "allowed")), &err);
    arena_fini(&a);
}

/* ------------------------------------------------------------------ questions */

static int send_review(struct agent_reviewer *r, const char *target, const struct json *body,
                       const struct agent_review *v, struct agent_review **ret, struct err *err)
{
    struct review_sender *s = container_of(r, struct review_sender, base);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    scoped(free_scoped) struct agent_review *kept = xnew(struct agent_review);
    *kept = *v;
    if (json_write(&text, body) < 0)
        return err_set(err, E_LIMIT, "the review is too large");
    const struct ask_request rq = { .method = "POST",
                                    .target = str_of(target),
                                    .content_type = "application/json",
                                    .body = buf_str(&text) };
    int code = ask_start(s->transport, NULL, &rq, on_answer, kept, &kept->ask, err);
    if (code < 0)
        return code;
    *ret = take_ptr(&kept);
    return 0;
}

static struct json *review_new(struct arena *a, const char *version, const char *kind,
                               struct json **ret_spec)
{
    struct json *v = json_new_object(a);
    json_set_str(a, v, "apiVersion", str_of(version));
    json_set_str(a, v, "kind", str_of(kind));
    *ret_spec = json_obj(a, v, "spec");
    return v;
}

static int review_token(struct agent_reviewer *r, struct str token, agent_token_cb done, void *arg,
                        struct agent_review **ret, struct err *err)
{
    struct arena a = { 0 };
    struct json *spec;
    const struct agent_review v = { .on_token = done, .arg = arg };
    const struct json *body = review_new(&a, "authentication.k8s.io/v1", "TokenReview", &spec);
    json_set_str(&a, spec, "token", token);
    int code = send_review(r, "/apis/authentication.k8s.io/v1/tokenreviews", body, &v, ret, err);
    arena_fini(&a);
    return code;
}

static struct json *strings_new(struct arena *a, const struct str *p, size_t n)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < n; i++)
        json_add(list, json_new_str(a, p[i]));
    return list;
}

static void add_user(struct arena *a, struct json *spec, const struct kube_identity *who)
{
    json_set_str(a, spec, "user", who->user);
    if (who->uid.n)
        json_set_str(a, spec, "uid", who->uid);
    json_setc(a, spec, "groups", strings_new(a, who->groups, who->n_groups));
    for (size_t i = 0; i < who->n_extra; i++)
        json_set(a, json_obj(a, spec, "extra"), who->extra[i].key,
                 strings_new(a, who->extra[i].values, who->extra[i].n));
}

static int review_access(struct agent_reviewer *r, const struct kube_identity *who,
                         const struct agent_attributes *what, agent_allowed_cb done, void *arg,
                         struct agent_review **ret, struct err *err)
{
    struct arena a = { 0 };
    struct json *spec;
    const struct agent_review v = { .on_allowed = done, .arg = arg };
    const struct json *body =
        review_new(&a, "authorization.k8s.io/v1", "SubjectAccessReview", &spec);
    struct json *attributes = json_obj(&a, spec, "resourceAttributes");
    json_set_str(&a, attributes, "verb", what->verb);
    json_set_str(&a, attributes, "version", STR("v1"));
    json_set_str(&a, attributes, "resource", STR("nodes"));
    json_set_str(&a, attributes, "subresource", what->subresource);
    json_set_str(&a, attributes, "name", what->node);
    add_user(&a, spec, who);
    int code =
        send_review(r, "/apis/authorization.k8s.io/v1/subjectaccessreviews", body, &v, ret, err);
    arena_fini(&a);
    return code;
}

static void cancel_review(struct agent_reviewer *r, struct agent_review *review)
{
    ask_cancel(review->ask);
    free(review);
}

struct agent_reviewer *agent_reviewer_new(struct transport *transport)
{
    struct review_sender *s = xnew(struct review_sender);
    *s = (struct review_sender){
        .base = { .token = review_token, .access = review_access, .cancel = cancel_review },
        .transport = transport
    };
    return &s->base;
}

void agent_reviewer_free(struct agent_reviewer *r)
{
    if (r)
        free(container_of(r, struct review_sender, base));
}
