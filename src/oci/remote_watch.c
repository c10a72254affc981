/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/remote_watch.h"

#include "base/vec.h"
#include "codec/json.h"
#include "oci/remote_int.h"

#include <errno.h>

enum { STATUS_OK = 200, STATUS_NOT_MODIFIED = 304 };

static const char ACCEPTED[] = "application/vnd.oci.image.index.v1+json, "
                               "application/vnd.oci.image.manifest.v1+json, "
                               "application/vnd.docker.distribution.manifest.list.v2+json, "
                               "application/vnd.docker.distribution.manifest.v2+json";

/* ---- tags ---- */

int oci_remote_tag_moved(struct oci_remote *m, const char *tag, const struct oci_digest *known,
                         struct oci_digest *ret, struct err *err)
{
    char quoted[OCI_DIGEST_TEXT_SIZE + 2];
    struct remote_answer a;
    struct headers h = { 0 };
    struct oci_digest found;
    scoped(free_scoped) char *target = xasprintf("/v2/%s/manifests/%s", m->ref.repository, tag);
    (void)headers_addc(&h, "accept", ACCEPTED);
    if (known) {
        oci_digest_format(known, quoted + 1);
        quoted[0] = quoted[OCI_DIGEST_TEXT_SIZE] = '"';
        quoted[OCI_DIGEST_TEXT_SIZE + 1] = 0;
        (void)headers_addc(&h, "if-none-match", quoted);
    }
    struct oci_request_opts opts = { .method = "HEAD", .target = target, .headers = &h };
    int r = remote_request(m, &opts, &a, err);
    bool is_same = a.status == STATUS_NOT_MODIFIED && known;
    bool has_digest =
        r >= 0 && !is_same &&
        oci_digest_parse(headers_get(&a.headers, "docker-content-digest"), &found, NULL) >= 0;
    headers_fini(&h);
    remote_answer_fini(&a);
    if (r < 0 || is_same)
        return r < 0 ? r : 0;
    if (!has_digest) { /* the header is optional */
        r = oci_remote_tag(m, tag, &found, err);
        if (r <= 0)
            return r < 0 ? r : err_set(err, -ENOENT, "there is no tag '%s'", tag);
    }
    if (known && oci_digest_equal(known, &found))
        return 0;
    *ret = found;
    return 1;
}

/* ---- lists ---- */

struct remote_watch_listing {
    struct arena *a;
    const char *member, *scope;
    VEC(const char *) names;
};

static int take_page(struct remote_watch_listing *l, struct str text, struct err *err)
{
    struct arena parsed = { .max_bytes = OCI_DOCUMENT_MAX * 16 };
    struct json *doc;
    int r = json_parse(&parsed, text, NULL, &doc, err);
    json_each (v, r < 0 ? NULL : json_getc(doc, l->member)) {
        if (l->names.n >= OCI_REMOTE_NAMES_MAX) {
            r = err_set(err, E_LIMIT, "more than %d names", OCI_REMOTE_NAMES_MAX);
            break;
        }
        vec_push(&l->names, str_dup_arena(l->a, json_str(v)));
    }
    arena_fini(&parsed);
    return r;
}

/* "</v2/...>; rel="next"" (RFC 8288). NULL: this was the last page. Given, free(). */
static char *next_page(const struct headers *h)
{
    struct str rest = headers_get(h, "link"), target;
    if (!str_has_prefix(rest, STR("<")) || str_find(rest, STR("next")) < 0)
        return NULL;
    (void)str_cut(str_slice(rest, 1, rest.n), '>', &target, &rest);
    return str_dup(target);
}

static int list(struct oci_remote *m, struct remote_watch_listing *l, const char *first,
                struct err *err)
{
    char *target = xasprintf("%s", first);
    int r = 0;
    for (unsigned page = 0; r >= 0 && target; page++) {
        struct remote_answer a;
        struct oci_request_opts opts = { .method = "GET", .target = target, .scope = l->scope };
        r = page < OCI_REMOTE_PAGES_MAX
                ? remote_request(m, &opts, &a, err)
                : err_set(err, E_LIMIT, "a list of more than %d pages", OCI_REMOTE_PAGES_MAX);
        free(target);
        target = NULL;
        if (page >= OCI_REMOTE_PAGES_MAX)
            break;
        r = r < 0 ? r : take_page(l, buf_str(&a.body), err);
        if (r >= 0)
            target = next_page(&a.headers);
        remote_answer_fini(&a);
    }
    free(target);
    return r;
}

static int list_all(struct oci_remote *m, struct remote_watch_listing *l, const char *first,
                    struct oci_remote_names *ret, struct err *err)
{
    int r = list(m, l, first, err);
    if (r >= 0) {
        ret->n = l->names.n;
        ret->p = arena_new_n(l->a, const char *, ret->n);
        if (ret->n)
            memcpy(ret->p, l->names.p, ret->n * sizeof *ret->p);
    }
    vec_fini(&l->names);
    return r < 0 ? r : 0;
}

int oci_remote_tags(struct oci_remote *m, struct arena *a, struct oci_remote_names *ret,
                    struct err *err)
{
    struct remote_watch_listing l = { .a = a, .member = "tags" };
    scoped(free_scoped) char *target = xasprintf("/v2/%s/tags/list?n=1000", m->ref.repository);
    int r = list_all(m, &l, target, ret, err);
    return r < 0 ? err_ctx(err, r, "tags of '%s'", m->ref.repository) : r;
}

int oci_remote_catalog(struct oci_remote *m, struct arena *a, struct oci_remote_names *ret,
                       struct err *err)
{
    struct remote_watch_listing l = { .a = a,
                                      .member = "repositories",
                                      .scope = "registry:catalog:*" };
    int r = list_all(m, &l, "/v2/_catalog?n=1000", ret, err);
    return r < 0 ? err_ctx(err, r, "repositories of '%s'", m->ref.host) : r;
}

int oci_remote_post(struct oci_remote *m, const char *target, const char *bearer, struct str json,
                    struct err *err)
{
    struct remote_answer a;
    struct headers h = { 0 };
    scoped(free_scoped) char *shown = bearer ? xasprintf("Bearer %s", bearer) : NULL;
    (void)headers_addc(&h, "content-type", "application/json");
    if (shown)
        (void)headers_addc(&h, "authorization", shown);
    struct oci_request_opts opts = {
        .method = "POST", .target = target, .headers = &h, .body = json
    };
    int r = remote_request(m, &opts, &a, err);
    headers_fini(&h);
    remote_answer_fini(&a);
    return r < 0 ? r : 0;
}
