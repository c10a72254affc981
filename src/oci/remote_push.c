/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads (distribution-spec 1.1, "Pushing Blobs"). A blob that fits into a chunk is sent with one
 * PUT; a larger one in chunks, each kept in memory until the registry has it: after a broken
 * connection the client asks the registry for its offset, and sends the rest again.
 */
#include "oci/remote_int.h"

#include "base/backoff.h"
#include "codec/json.h"

#include <errno.h>
#include <stdio.h>

enum { STATUS_CREATED = 201, STATUS_ACCEPTED = 202, STATUS_NOT_FOUND = 404, STATUS_RANGE = 416 };

struct upload {
    struct oci_remote *m;
    const struct oci_descriptor *d;
    char *location; /* URL for the next part */
    uint64_t at;    /* bytes that the registry has, before the chunk */
    size_t fill;    /* of the chunk */
    bool is_chunked;
};

/* ---- steps ---- */

static void on_pause(struct timer *t)
{
    (void)t; /* the turn ends */
}

/* Before something is tried again. */
static void pause_before(struct oci_remote *m, unsigned attempt)
{
    struct timer t = { 0 };
    uint64_t ms = backoff_wait(m->reg->opts.backoff_ms, m->reg->opts.backoff_ms << 5, attempt);
    timer_start(&m->loop, &t, ms, on_pause);
    while (timer_is_armed(&t))
        (void)loop_turn(&m->loop, true);
}

/* What may be another time. */
static bool is_passing(int r)
{
    return r == -EAGAIN || r == -ECONNRESET || r == -ETIMEDOUT || r == -EPIPE || r == -ECONNREFUSED;
}

static int take_location(struct upload *u, const struct remote_answer *a, struct err *err)
{
    struct str location = headers_get(&a->headers, "location");
    if (location.n == 0)
        return err_set(err, E_PARSE, "the registry names no location for the upload");
    free(u->location);
    u->location = str_dup(location);
    return 0;
}

static int has_blob(struct oci_remote *m, const struct oci_digest *d, struct err *err)
{
    struct oci_request *q;
    struct remote_answer a = { .body = BUF_INIT(OCI_DOCUMENT_MAX), .err = err };
    int r = remote_wait(m, &a,
                        oci_registry_has_blob(m->reg, m->ref.repository, d, remote_scope(m),
                                              remote_on_answer, &a, &q, err));
    bool has = a.status == 200;
    remote_answer_fini(&a);
    return r < 0 ? r : has;
}

/* Allocate a chunk of at least the minimum size of the registry. */
static int make_chunk(struct upload *u, const struct remote_answer *a, struct err *err)
{
    struct oci_remote *m = u->m;
    uint64_t least = 0;
    (void)parse_u64(headers_get(&a->headers, "oci-chunk-min-length"), 0, UINT64_MAX, &least);
    if (least > OCI_REMOTE_CHUNK_MAX_BYTES)
        return err_set(err, E_UNSUPPORTED, "the registry requires chunks of %llu bytes",
                       (unsigned long long)least);
    size_t want = MAX((size_t)least, (size_t)OCI_REMOTE_CHUNK_BYTES);
    if (want <= m->chunk_bytes)
        return 0;
    free(m->chunk);
    m->chunk = mem_try(want);
    m->chunk_bytes = m->chunk ? want : 0;
    return m->chunk ? 0 : err_set(err, -ENOMEM, "upload");
}

/* 1: another repository's blob was mounted; 0: an upload is open. */
static int begin(struct upload *u, const char *mount_from, struct err *err)
{
    struct oci_remote *m = u->m;
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct remote_answer a;
    oci_digest_format(&u->d->digest, digest);
    scoped(free_scoped) char *scope = NULL, *target = NULL;
    if (mount_from) {
        scope = xasprintf("%s repository:%s:pull", m->push_scope, mount_from);
        target = xasprintf("/v2/%s/blobs/uploads/?mount=%s&from=%s", m->ref.repository, digest,
                           mount_from);
    } else {
        target = xasprintf("/v2/%s/blobs/uploads/", m->ref.repository);
    }
    struct oci_request_opts opts = { .method = "POST", .target = target, .scope = scope };
    int r = remote_request(m, &opts, &a, err);
    if (r >= 0 && a.status == STATUS_CREATED && mount_from) {
        r = 1;
    } else if (r >= 0 && a.status == STATUS_ACCEPTED) {
        r = take_location(u, &a, err);
        r = r < 0 ? r : make_chunk(u, &a, err);
    } else if (r >= 0) {
        r = err_set(err, -EPROTO, "the registry answers %d to an upload", a.status);
    }
    remote_answer_fini(&a);
    return r;
}

/* "0-99": 100 bytes; "0-0" means none or one. -1: it is not a range. */
static int64_t range_end(struct str text)
{
    struct str first, last;
    uint64_t n;
    text = str_trim(text);
    if (str_has_prefix(text, STR("bytes=")))
        text = str_slice(text, 6, text.n);
    if (!str_cut(text, '-', &first, &last) || parse_u64(last, 0, INT64_MAX - 1, &n) < 0)
        return -1;
    return n == 0 ? 0 : (int64_t)n + 1;
}

/* Ask how much of the upload is there: bytes of the chunk that the registry has. -ESTALE: the
 * upload is lost. */
static int64_t ask_how_far(struct upload *u, struct err *err)
{
    struct remote_answer a;
    scoped(free_scoped) char *target = xstrdup(u->location);
    struct oci_request_opts opts = { .method = "GET",
                                     .target = target,
                                     .passes = { STATUS_NOT_FOUND } };
    int r = remote_request(u->m, &opts, &a, err);
    int64_t end = r < 0 ? -1 : range_end(headers_get(&a.headers, "range"));
    if (r >= 0 &&
        (a.status == STATUS_NOT_FOUND || end < (int64_t)u->at || end > (int64_t)(u->at + u->fill)))
        r = err_set(err, -ESTALE, "the registry has lost the upload");
    if (r >= 0 && headers_get(&a.headers, "location").n)
        r = take_location(u, &a, err);
    remote_answer_fini(&a);
    return r < 0 ? r : end - (int64_t)u->at;
}

static int patch(struct upload *u, size_t from, struct remote_answer *a, struct err *err)
{
    struct headers h = { 0 };
    scoped(free_scoped) char *target = xstrdup(u->location);
    scoped(free_scoped) char *range = xasprintf("%llu-%llu", (unsigned long long)(u->at + from),
                                                (unsigned long long)(u->at + u->fill - 1));
    (void)headers_addc(&h, "content-type", "application/octet-stream");
    (void)headers_addc(&h, "content-range", range);
    struct oci_request_opts opts = { .method = "PATCH",
                                     .target = target,
                                     .headers = &h,
                                     .body = str_n(u->m->chunk + from, u->fill - from),
                                     .once = true,
                                     .passes = { STATUS_NOT_FOUND, STATUS_RANGE } };
    int r = remote_request(u->m, &opts, a, err);
    headers_fini(&h);
    return r;
}

/* Send the chunk from `from` on. Returns how much of the chunk the registry has now. */
static int64_t send_part(struct upload *u, size_t from, unsigned attempt, struct err *err)
{
    struct remote_answer a;
    int r = patch(u, from, &a, err);
    int status = a.status;
    int64_t end = range_end(headers_get(&a.headers, "range"));
    bool is_taken = r >= 0 && status >= 200 && status < 300;
    if (is_taken)
        r = take_location(u, &a, err);
    remote_answer_fini(&a);
    if (is_taken && r >= 0)
        return end > (int64_t)(u->at + from) && end < (int64_t)(u->at + u->fill)
                   ? end - (int64_t)u->at
                   : (int64_t)u->fill;
    if (r < 0 && !is_passing(r))
        return r;
    pause_before(u->m, attempt);
    return ask_how_far(u, err);
}

static int send_chunk(struct upload *u, struct err *err)
{
    size_t done = 0, most = 0;
    for (unsigned attempt = 0; done < u->fill; attempt++) {
        if (attempt == u->m->reg->opts.attempts)
            return err_set(err, -EAGAIN, "the registry takes no more after byte %llu",
                           (unsigned long long)(u->at + done));
        int64_t n = send_part(u, done, attempt, err);
        if (n < 0)
            return (int)n;
        done = (size_t)n;
        attempt = done > most ? 0 : attempt; /* less and more again is no progress */
        most = MAX(most, done);
    }
    u->at += u->fill;
    u->fill = 0;
    return 0;
}

static int on_bytes(void *arg, struct str bytes, struct err *err)
{
    struct upload *u = arg;
    if (bytes.n > u->d->size - u->at - u->fill)
        return err_set(err, E_DIGEST, "the blob has more than the %llu bytes of its descriptor",
                       (unsigned long long)u->d->size);
    while (bytes.n) {
        size_t n = MIN(bytes.n, u->m->chunk_bytes - u->fill);
        memcpy(u->m->chunk + u->fill, bytes.p, n);
        u->fill += n;
        bytes = str_slice(bytes, n, bytes.n);
        if (u->fill < u->m->chunk_bytes || u->at + u->fill == u->d->size)
            continue;
        u->is_chunked = true;
        int r = send_chunk(u, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* The PUT that ends it, with all bytes where there was no chunk before. */
static int finish(struct upload *u, struct err *err)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct headers h = { 0 };
    struct remote_answer a;
    oci_digest_format(&u->d->digest, digest);
    scoped(free_scoped) char *target =
        xasprintf("%s%cdigest=%s", u->location, strchr(u->location, '?') ? '&' : '?', digest);
    (void)headers_addc(&h, "content-type", "application/octet-stream");
    struct oci_request_opts opts = { .method = "PUT",
                                     .target = target,
                                     .headers = &h,
                                     .body = str_n(u->m->chunk, u->fill),
                                     .once = true,
                                     .passes = { STATUS_NOT_FOUND, STATUS_RANGE } };
    int r = remote_request(u->m, &opts, &a, err);
    int status = a.status;
    headers_fini(&h);
    remote_answer_fini(&a);
    if (r >= 0 && status < 400)
        return 0;
    if (r < 0 && !is_passing(r))
        return r;
    r = has_blob(u->m, &u->d->digest, err); /* it may have been taken all the same */
    if (r < 0)
        return r;
    return r ? 0 : err_set(err, -ESTALE, "the registry has lost the upload");
}

static int upload_once(struct upload *u, oci_blob_writer writer, void *arg, struct err *err)
{
    u->at = u->fill = 0;
    u->is_chunked = false;
    int r = writer(arg, on_bytes, u, err);
    if (r >= 0 && u->at + u->fill != u->d->size)
        r = err_set(err, E_DIGEST, "the blob has %llu bytes, its descriptor says %llu",
                    (unsigned long long)(u->at + u->fill), (unsigned long long)u->d->size);
    if (r >= 0 && u->is_chunked && u->fill)
        r = send_chunk(u, err);
    return r < 0 ? r : finish(u, err);
}

/* ---- blobs ---- */

static int upload(struct oci_remote *m, const struct oci_descriptor *d, const char *mount_from,
                  oci_blob_writer writer, void *arg, enum oci_pushed *ret, struct err *err)
{
    struct upload u = { .m = m, .d = d };
    int r = -ESTALE;
    for (unsigned i = 0; i < OCI_REMOTE_UPLOADS && r == -ESTALE; i++) {
        if (i)
            pause_before(m, i);
        r = begin(&u, mount_from, err);
        if (mount_from && (r == E_DENIED || r == -ENOENT || r == -EPROTO))
            r = begin(&u, NULL, err); /* that it cannot be mounted is no reason to fail */
        *ret = r > 0 ? OCI_PUSHED_MOUNTED : OCI_PUSHED_UPLOADED;
        r = r == 0 ? upload_once(&u, writer, arg, err) : r;
    }
    free(u.location);
    return r < 0 ? r : 0;
}

int oci_remote_push_blob(struct oci_remote *m, const struct oci_descriptor *d,
                         const char *mount_from, oci_blob_writer writer, void *arg,
                         enum oci_pushed *ret, struct err *err)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    enum oci_pushed how = OCI_PUSHED_EXISTED;
    m->pushes = true;
    oci_digest_format(&d->digest, digest);
    int r = has_blob(m, &d->digest, err);
    if (r == 0)
        r = upload(m, d, mount_from, writer, arg, &how, err);
    if (r < 0)
        return err_ctx(err, r, "blob %.12s", digest + sizeof "sha256:" - 1);
    *ret = how;
    return 0;
}

/* ---- manifests ---- */

/* GET what may not be there. Returns whether it is. */
static int get_optional(struct oci_remote *m, const char *target, struct buf *to, struct err *err)
{
    struct remote_answer a;
    struct headers h = { 0 };
    (void)headers_addc(&h, "accept", "application/vnd.oci.image.index.v1+json");
    struct oci_request_opts opts = {
        .method = "GET", .target = target, .headers = &h, .passes = { STATUS_NOT_FOUND }
    };
    int r = remote_request(m, &opts, &a, err);
    bool is_there = a.status == 200;
    if (r >= 0 && is_there && buf_add_str(to, buf_str(&a.body)) < 0)
        r = err_set(err, -EMSGSIZE, "the index of referrers is too large");
    headers_fini(&h);
    remote_answer_fini(&a);
    return r < 0 ? r : is_there;
}

/* "sha256-<hex>" */
static void fallback_tag(const struct oci_digest *d, char ret[OCI_DIGEST_TEXT_SIZE])
{
    oci_digest_format(d, ret);
    ret[sizeof "sha256" - 1] = '-';
}

static int by_tag(struct oci_remote *m, const struct oci_digest *subject, struct buf *to,
                  struct err *err)
{
    char tag[OCI_DIGEST_TEXT_SIZE];
    fallback_tag(subject, tag);
    scoped(free_scoped) char *target = xasprintf("/v2/%s/manifests/%s", m->ref.repository, tag);
    return get_optional(m, target, to, err);
}

static const char EMPTY_INDEX[] = "{\"schemaVersion\":2,\"mediaType\":"
                                  "\"application/vnd.oci.image.index.v1+json\",\"manifests\":[]}";

int oci_remote_referrers(struct oci_remote *m, const struct oci_digest *subject, struct buf *to,
                         struct err *err)
{
    char digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(subject, digest);
    scoped(free_scoped) char *target = xasprintf("/v2/%s/referrers/%s", m->ref.repository, digest);
    int r = get_optional(m, target, to, err);
    r = r == 0 ? by_tag(m, subject, to, err) : r;
    if (r == 0)
        (void)buf_add_cstr(to, EMPTY_INDEX);
    return r < 0 ? r : 0;
}

static int put(struct oci_remote *m, const char *name, struct str media_type, struct str text,
               bool *ret_knows_subject, struct err *err)
{
    struct oci_request *q;
    struct remote_answer a = { .body = BUF_INIT(OCI_DOCUMENT_MAX), .err = err };
    int r = remote_wait(m, &a,
                        oci_registry_put_manifest(m->reg, m->ref.repository, name, media_type, text,
                                                  remote_scope(m), remote_on_answer, &a, &q, err));
    *ret_knows_subject = headers_get(&a.headers, "oci-subject").n > 0;
    remote_answer_fini(&a);
    return r;
}

/* The descriptor of a manifest in the index of its subject's referrers. */
static struct json *referrer(struct arena *a, const struct json *doc, struct str media_type,
                             struct str text)
{
    struct oci_digest d;
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct json *v = json_new_object(a), *annotations = json_getc(doc, "annotations");
    struct str type = json_get_str(doc, "artifactType");
    sha256_of(text, d.bytes);
    oci_digest_format(&d, digest);
    if (type.n == 0)
        type = json_get_str(json_getc(doc, "config"), "mediaType");
    json_set_str(a, v, "mediaType", media_type);
    json_set_str(a, v, "digest", str_of(digest));
    json_set_int(a, v, "size", (int64_t)text.n);
    if (type.n)
        json_set_str(a, v, "artifactType", type);
    if (annotations)
        json_setc(a, v, "annotations", json_clone(a, annotations));
    return v;
}

static int note_referrer(struct oci_remote *m, struct arena *a, const struct json *doc,
                         const struct oci_digest *subject, struct str media_type, struct str text,
                         struct err *err)
{
    char tag[OCI_DIGEST_TEXT_SIZE];
    bool unused;
    scoped(buf_fini_scoped) struct buf old = BUF_INIT(OCI_DOCUMENT_MAX);
    scoped(buf_fini_scoped) struct buf made = BUF_INIT(OCI_DOCUMENT_MAX);
    struct json *index;
    int r = by_tag(m, subject, &old, err);
    if (r < 0)
        return r;
    r = json_parse(a, r ? buf_str(&old) : str_of(EMPTY_INDEX), NULL, &index, err);
    struct json *list = r < 0 ? NULL : json_getc(index, "manifests");
    if (r >= 0 && !json_is(list, JSON_ARRAY))
        r = err_set(err, E_PARSE, "the index of referrers has no list");
    if (r < 0)
        return r;
    struct json *v = referrer(a, doc, media_type, text);
    json_each (e, list)
        if (str_eq(json_get_str(e, "digest"), json_get_str(v, "digest")))
            return 0;
    json_add(list, v);
    fallback_tag(subject, tag);
    r = json_write(&made, index);
    return r < 0 ? err_set(err, r, "the index of referrers is too large")
                 : put(m, tag, STR("application/vnd.oci.image.index.v1+json"), buf_str(&made),
                       &unused, err);
}

int oci_remote_push_manifest(struct oci_remote *m, const char *name, struct str media_type,
                             struct str text, struct err *err)
{
    struct oci_digest digest, subject;
    char own[OCI_DIGEST_TEXT_SIZE];
    struct arena a = { .max_bytes = OCI_DOCUMENT_MAX * 16 };
    struct json *doc;
    bool knows_subject = false;
    m->pushes = true;
    sha256_of(text, digest.bytes);
    oci_digest_format(&digest, own);
    int r = put(m, name ? name : own, media_type, text, &knows_subject, err);
    if (r >= 0 && !knows_subject && json_parse(&a, text, NULL, &doc, NULL) >= 0 &&
        oci_digest_parse(json_get_str(json_getc(doc, "subject"), "digest"), &subject, NULL) == 0) {
        r = note_referrer(m, &a, doc, &subject, media_type, text, err);
        r = r < 0 ? err_ctx(err, r, "referrers") : r;
    }
    arena_fini(&a);
    return r < 0 ? r : 0;
}
