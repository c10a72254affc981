/* SPDX-License-Identifier: Apache-2.0 */
#include "image/mirror.h"

#include "base/mem.h"
#include "codec/url.h"

#include <errno.h>
#include <stdio.h>

enum { NAME_MAX_BYTES = 1024 };

/* ---- the target ---- */

static int copy_text(struct str s, char *to, size_t size, const char *what, struct err *err)
{
    if (s.n >= size)
        return err_set(err, E_INVALID, "the %s is too long", what);
    memcpy(to, s.p ? s.p : "", s.n);
    to[s.n] = '\0';
    return 0;
}

/*
 * "registry.example_5000", or with another "_" at the end, as containerd names directories of
 * hosts: a host with its port for clients whose references have no ":" in a path. Names of
 * repositories without a registry never begin with a part that has dots (oci/reference.h).
 */
static bool take_host_and_port(struct str s, struct str *ret_host, struct str *ret_port)
{
    uint64_t port;
    struct str end = str_has_suffix(s, STR("_")) ? str_slice(s, 0, s.n - 1) : s;
    return str_cut(end, '_', ret_host, ret_port) &&
           (str_find_char(*ret_host, '.') >= 0 || str_is(*ret_host, "localhost")) &&
           parse_u64(*ret_port, 1, 65535, &port) >= 0;
}

/* The segments between "v2" and the requested part of the repository. */
static int read_repository(const struct url_target *t, size_t n, struct mirror_request *q,
                           struct err *err)
{
    struct str host, port;
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(OCI_REPOSITORY_MAX);
    for (size_t i = 1; i < n; i++) {
        if (i > 1)
            (void)buf_add_char(&name, '/');
        if (i == 1 && n > 2 && take_host_and_port(t->segments[1], &host, &port))
            (void)buf_printf(&name, STR_FMT ":" STR_FMT, STR_ARG(host), STR_ARG(port));
        else
            (void)buf_add_str(&name, t->segments[i]);
    }
    /* A host in front may have a port, which no name of a repository has. */
    struct str first, rest;
    bool has_rest = str_cut(buf_str(&name), '/', &first, &rest);
    bool has_host = has_rest && (str_find_char(first, '.') >= 0 || str_find_char(first, ':') >= 0);
    if (!has_host)
        rest = buf_str(&name);
    if (!buf_ok(&name) || n < 2 || memchr(name.p, '\0', name.n) ||
        !oci_reference_is_repository(rest))
        return err_set(err, E_INVALID, "not the name of a repository");
    return copy_text(buf_str(&name), q->repository, sizeof q->repository, "name", err);
}

static int read_reference(struct str text, struct mirror_request *q, struct err *err)
{
    if (str_find_char(text, ':') >= 0)
        return oci_digest_parse(text, &q->digest, err);
    if (!oci_reference_is_tag(text))
        return err_set(err, E_INVALID, "neither a tag nor a digest");
    return copy_text(text, q->tag, sizeof q->tag, "tag", err);
}

/* "docker.io", "localhost:5000": what a reference may begin with. */
static bool is_host(struct str s)
{
    struct oci_reference ref;
    char text[OCI_REFERENCE_HOST_MAX + 8];
    if (s.n == 0 || s.n > OCI_REFERENCE_HOST_MAX || str_find_char(s, '/') >= 0)
        return false;
    (void)snprintf(text, sizeof text, STR_FMT "/a/b", STR_ARG(s));
    return oci_reference_parse(str_of(text), &ref, NULL) >= 0 && str_is(s, ref.host);
}

static int read_query(const struct url_target *t, struct mirror_request *q, struct err *err)
{
    struct str ns = url_query_get(t, "ns"), n = url_query_get(t, "n");
    struct str last = url_query_get(t, "last");
    if (ns.n && !is_host(ns))
        return err_set(err, E_INVALID, "ns is not the host of a registry");
    int r = copy_text(ns, q->host, sizeof q->host, "ns", err);
    /* A client that has the host in the path may say it here as well (override_path). */
    if (r >= 0 && ns.n && str_has_prefix(str_of(q->repository), ns) && q->repository[ns.n] == '/')
        memmove(q->repository, q->repository + ns.n + 1, strlen(q->repository + ns.n));
    if (r < 0 || q->kind != MIRROR_TAGS)
        return r;
    if (n.n && parse_u64(n, 0, UINT32_MAX, &q->n) < 0)
        return err_set(err, E_INVALID, "n is not a number");
    if (last.n && !oci_reference_is_tag(last))
        return err_set(err, E_INVALID, "last is not a tag");
    return copy_text(last, q->last, sizeof q->last, "tag", err);
}

static int read_resource(const struct url_target *t, struct mirror_request *q, struct err *err)
{
    size_t n = t->n_segments;
    struct str kind = n > 3 ? t->segments[n - 2] : STR(""), last = n ? t->segments[n - 1] : kind;
    if (n == 1) {
        q->kind = MIRROR_ROOT;
        return 0;
    }
    if (str_is(kind, "manifests")) {
        q->kind = MIRROR_MANIFEST;
        int r = read_reference(last, q, err);
        return r < 0 ? r : read_repository(t, n - 2, q, err);
    }
    if (str_is(kind, "blobs") || str_is(kind, "referrers")) {
        q->kind = str_is(kind, "blobs") ? MIRROR_BLOB : MIRROR_REFERRERS;
        int r = oci_digest_parse(last, &q->digest, err);
        return r < 0 ? r : read_repository(t, n - 2, q, err);
    }
    bool is_ours = n > 4 && str_is(t->segments[n - 3], "_dormouse");
    if (is_ours && (str_is(kind, "trees") || str_is(kind, "starts"))) {
        q->kind = str_is(kind, "trees") ? MIRROR_TREE : MIRROR_START;
        int r = oci_digest_parse(last, &q->digest, err);
        return r < 0 ? r : read_repository(t, n - 3, q, err);
    }
    if (str_is(kind, "_dormouse") && str_is(last, "files")) {
        q->kind = MIRROR_FILES;
        return read_repository(t, n - 2, q, err);
    }
    if (str_is(kind, "tags") && str_is(last, "list")) {
        q->kind = MIRROR_TAGS;
        return read_repository(t, n - 2, q, err);
    }
    return err_set(err, -ENOENT, "no such resource");
}

int mirror_request_parse(struct str target, struct mirror_request *ret, struct err *err)
{
    struct arena a = { .max_bytes = 256 << 10 };
    struct url_target *t = arena_new(&a, struct url_target);
    struct mirror_request q = { .n = UINT64_MAX };
    int r = url_parse(&a, target, t, err);
    if (r >= 0 && (t->n_segments == 0 || !str_is(t->segments[0], "v2")))
        r = err_set(err, -ENOENT, "no such resource");
    r = r < 0 ? r : read_resource(t, &q, err);
    r = r < 0 ? r : read_query(t, &q, err);
    arena_fini(&a);
    if (r >= 0)
        *ret = q;
    return r < 0 ? r : 0;
}

char *mirror_request_name(const struct mirror_request *q, const char *tag)
{
    struct oci_reference ref;
    char text[NAME_MAX_BYTES];
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(NAME_MAX_BYTES);
    (void)snprintf(text, sizeof text, "%s%s%s:%s", q->host, q->host[0] ? "/" : "", q->repository,
                   tag[0] ? tag : "latest");
    if (oci_reference_parse(str_of(text), &ref, NULL) < 0)
        return NULL;
    if (!tag[0])
        return xasprintf("%s/%s", ref.host, ref.repository);
    oci_reference_format(&ref, &whole);
    return str_dup(buf_str(&whole));
}

/* ---- ranges ---- */

/* One range of the list. MIRROR_WHOLE: the field is not to be understood. */
static enum mirror_range read_range(struct str text, uint64_t size, uint64_t *ret_from,
                                    uint64_t *ret_to)
{
    struct str from, to;
    uint64_t first = 0, last = 0;
    if (!str_cut(str_trim(text), '-', &from, &to))
        return MIRROR_WHOLE;
    if (from.n == 0) { /* the last so many */
        if (parse_u64(to, 0, UINT64_MAX, &last) < 0)
            return MIRROR_WHOLE;
        if (last == 0 || size == 0)
            return MIRROR_NO_PART;
        *ret_from = size - MIN(last, size);
        *ret_to = size;
        return MIRROR_PARTS;
    }
    if (parse_u64(from, 0, UINT64_MAX, &first) < 0 ||
        (to.n && (parse_u64(to, 0, UINT64_MAX, &last) < 0 || last < first)))
        return MIRROR_WHOLE;
    if (first >= size)
        return MIRROR_NO_PART;
    *ret_from = first;
    *ret_to = to.n && last < size ? last + 1 : size;
    return MIRROR_PARTS;
}

enum mirror_range mirror_ranges_of(struct str range, struct str if_range, struct str etag,
                                   uint64_t size, struct mirror_ranges *ret)
{
    struct str unit, one;
    struct mirror_ranges g = { .n = 0 };
    if (range.n == 0 || (if_range.n && !str_eq(str_trim(if_range), etag)))
        return MIRROR_WHOLE;
    if (!str_cut(range, '=', &unit, &range) || !str_ieq(str_trim(unit), STR("bytes")))
        return MIRROR_WHOLE;
    for (bool more = true; more;) {
        uint64_t from, to;
        more = str_cut(range, ',', &one, &range);
        enum mirror_range r = read_range(one, size, &from, &to);
        if (r == MIRROR_NO_PART)
            continue;
        bool is_apart = g.n == 0 || from >= g.at[g.n - 1].to;
        if (r == MIRROR_WHOLE || g.n == MIRROR_RANGES_MAX || !is_apart)
            return MIRROR_WHOLE;
        g.at[g.n].from = from;
        g.at[g.n++].to = to;
    }
    if (g.n == 0)
        return MIRROR_NO_PART;
    *ret = g;
    return MIRROR_PARTS;
}

bool mirror_etag_matches(struct str if_none_match, struct str etag)
{
    struct str rest = if_none_match, one;
    bool more = rest.n > 0;
    while (more) {
        more = str_cut(rest, ',', &one, &rest);
        one = str_trim(one);
        if (str_has_prefix(one, STR("W/")))
            one = str_slice(one, 2, one.n);
        if (str_eq(one, etag) || str_is(one, "*"))
            return true;
    }
    return false;
}
