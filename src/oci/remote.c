/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/remote_int.h"

#include "base/clock.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>

enum { CA_FILE_MAX = 4 << 20, TICK_MS = 500 };

/* ---- waiting ---- */

void remote_answer_fini(struct remote_answer *a)
{
    headers_fini(&a->headers);
    buf_fini(&a->body);
}

const char *remote_scope(const struct oci_remote *m)
{
    return m->pushes ? m->push_scope : m->pull_scope;
}

void remote_on_answer(void *arg, int r, const struct oci_answer *answer, const struct err *err)
{
    struct remote_answer *a = arg;
    a->is_done = true;
    a->r = r;
    a->status = answer->status;
    (void)headers_copy(&a->headers, answer->headers);
    (void)buf_add_str(&a->body, answer->body);
    if (r < 0 && a->err)
        *a->err = *err;
}

void oci_remote_until(struct oci_remote *m, uint64_t until_ms, const atomic_bool *stop)
{
    m->until_ms = until_ms;
    m->stop = stop;
}

static void on_remote_tick(struct timer *t)
{
    (void)t; /* it wakes the loop */
}

/* 0: continue, and check again later; else the reason to end. */
static int look_at_clock(struct oci_remote *m)
{
    uint64_t now = clock_mono_ms();
    if (m->stop && atomic_load(m->stop))
        return -ECANCELED;
    if (m->until_ms && now >= m->until_ms)
        return -ETIMEDOUT;
    uint64_t left = m->until_ms ? m->until_ms - now : UINT64_MAX;
    if (m->until_ms || m->stop)
        timer_start(&m->loop, &m->tick, MIN(left, (uint64_t)TICK_MS), on_remote_tick);
    return 0;
}

int remote_wait(struct oci_remote *m, struct remote_answer *a, int r)
{
    int over = 0;
    if (r < 0)
        return r;
    while (!a->is_done) {
        if (over == 0 && (over = look_at_clock(m)) < 0)
            list_each (n, &m->reg->requests)
                oci_request_cancel(container_of(n, struct oci_request, node));
        (void)loop_turn(&m->loop, true);
    }
    timer_stop(&m->loop, &m->tick);
    if (a->r == -ECANCELED && over < 0)
        return err_sys(a->err, over, "registry '%s'", m->ref.host);
    return a->r;
}

static void answer_init(struct remote_answer *a, struct err *err)
{
    *a = (struct remote_answer){ .body = BUF_INIT(OCI_DOCUMENT_MAX), .err = err };
}

int remote_request(struct oci_remote *m, struct oci_request_opts *opts, struct remote_answer *a,
                   struct err *err)
{
    struct oci_request *q;
    answer_init(a, err);
    opts->cb = remote_on_answer;
    opts->arg = a;
    if (!opts->scope)
        opts->scope = remote_scope(m);
    return remote_wait(m, a, oci_request_start(m->reg, opts, &q, err));
}

/* ---- opening ---- */

/* A remote without its client. */
static int new_remote(const struct oci_reference *ref, struct oci_remote **ret, struct err *err)
{
    struct oci_remote *m = xnew(struct oci_remote);
    int r = loop_init(&m->loop, err);
    if (r < 0) {
        free(m);
        return r;
    }
    m->ref = *ref;
    m->pull_scope = oci_registry_scope(ref->repository, false);
    m->push_scope = oci_registry_scope(ref->repository, true);
    *ret = m;
    return 0;
}

int oci_remote_registry(const struct oci_reference *ref, const struct oci_remote_opts *opts,
                        struct loop *loop, struct oci_registry **ret, struct err *err)
{
    static const struct oci_remote_opts defaults;
    scoped(buf_fini_scoped) struct buf ca = BUF_INIT(CA_FILE_MAX);
    struct oci_login login = { 0 };
    opts = opts ? opts : &defaults;
    int r = opts->ca_file ? sys_read_file(AT_FDCWD, opts->ca_file, &ca, err) : 0;
    if (r >= 0 && opts->login)
        oci_login_copy(&login, opts->login);
    else if (r >= 0)
        r = oci_login_find(ref, &login, err);
    if (r < 0)
        return r;
    const struct oci_registry_opts registry = {
        .loop = loop,
        .host = ref->host,
        .plain_http = opts->plain_http,
        .allows_private = opts->allows_private,
        .ca_pem = buf_str(&ca),
        .login = login,
        .no_login = opts->no_login,
        .no_address = opts->no_address,
        .attempts = opts->attempts,
        .stall_ms = opts->stall_ms,
        .backoff_ms = opts->backoff_ms,
        .note = opts->note,
        .may_connect = opts->may_connect,
        .arg = opts->arg,
    };
    r = oci_registry_new(&registry, ret, err);
    oci_login_fini(&login);
    return r;
}

int oci_remote_open(const struct oci_reference *ref, const struct oci_remote_opts *opts,
                    struct oci_remote **ret, struct err *err)
{
    scoped(oci_remote_free_scoped) struct oci_remote *m = NULL;
    int r = new_remote(ref, &m, err);
    r = r < 0 ? r : oci_remote_registry(ref, opts, &m->loop, &m->reg, err);
    if (r >= 0 && opts)
        m->stop = m->opened_stop = opts->stop;
    if (r >= 0)
        *ret = take_ptr(&m);
    return r;
}

int oci_remote_clone(const struct oci_remote *m, struct oci_remote **ret, struct err *err)
{
    scoped(oci_remote_free_scoped) struct oci_remote *clone = NULL;
    struct oci_registry_opts own = m->reg->opts;
    int r = new_remote(&m->ref, &clone, err);
    if (r < 0)
        return r;
    own.loop = &clone->loop;
    clone->stop = clone->opened_stop = m->opened_stop;
    r = oci_registry_new(&own, &clone->reg, err);
    if (r >= 0)
        *ret = take_ptr(&clone);
    return r;
}

void oci_remote_free(struct oci_remote *m)
{
    if (!m)
        return;
    if (m->reg)
        oci_registry_close(m->reg);
    loop_run(&m->loop); /* connections close */
    loop_fini(&m->loop);
    free(m->pull_scope);
    free(m->push_scope);
    free(m->chunk);
    free(m);
}

const struct oci_reference *oci_remote_reference(const struct oci_remote *m)
{
    return &m->ref;
}

/* ---- manifests ---- */

/* Check that the received document is the requested one, and matches the response headers. */
static int check_manifest(const struct remote_answer *a, const struct oci_digest *wanted,
                          struct oci_digest *ret, struct err *err)
{
    struct oci_digest said;
    struct str header = headers_get(&a->headers, "docker-content-digest");
    sha256_of(buf_str(&a->body), ret->bytes);
    if (wanted && !oci_digest_equal(wanted, ret))
        return err_set(err, E_DIGEST, "the registry's manifest is not the one of its digest");
    if (!wanted && header.n && oci_digest_parse(header, &said, NULL) == 0 &&
        !oci_digest_equal(&said, ret))
        return err_set(err, E_DIGEST, "the registry's manifest is not what the registry says");
    return 0;
}

int oci_remote_manifest(struct oci_remote *m, const struct oci_digest *digest, struct buf *to,
                        struct oci_digest *ret_digest, struct err *err)
{
    struct oci_request *q;
    struct oci_digest found;
    struct remote_answer a;
    answer_init(&a, err);
    if (!digest && m->ref.has_digest)
        digest = &m->ref.digest;
    int r = remote_wait(m, &a,
                        oci_registry_manifest(m->reg, m->ref.repository, m->ref.tag, digest,
                                              remote_scope(m), remote_on_answer, &a, &q, err));
    m->has_files = m->has_files || headers_get(&a.headers, OCI_FILES_HEADER).n;
    r = r < 0 ? r : check_manifest(&a, digest, &found, err);
    if (r >= 0 && (r = buf_add_str(to, buf_str(&a.body))) < 0)
        r = err_set(err, r, "the manifest is too large");
    if (r >= 0)
        *ret_digest = found;
    remote_answer_fini(&a);
    return r;
}

int oci_remote_tag(struct oci_remote *m, const char *tag, struct oci_digest *ret, struct err *err)
{
    struct oci_request *q;
    struct oci_digest found;
    struct remote_answer a;
    struct err why = { 0 }; /* that there is none is no error */
    answer_init(&a, &why);
    int r = remote_wait(m, &a,
                        oci_registry_manifest(m->reg, m->ref.repository, tag, NULL, remote_scope(m),
                                              remote_on_answer, &a, &q, &why));
    bool is_there = r >= 0;
    r = r == -ENOENT ? 0 : r < 0 ? r : check_manifest(&a, NULL, &found, &why);
    remote_answer_fini(&a);
    if (r < 0 && err)
        *err = why;
    if (r >= 0 && is_there)
        *ret = found;
    return r < 0 ? r : is_there;
}

/* ---- blobs ---- */

struct remote_verified {
    struct sha256 *hash;
    oci_blob_sink sink;
    void *arg;
};

static int on_verified(void *arg, struct str bytes, struct err *err)
{
    struct remote_verified *v = arg;
    sha256_add(v->hash, bytes.p, bytes.n);
    return v->sink(v->arg, bytes, err);
}

int oci_remote_blob_from(struct oci_remote *m, const struct oci_descriptor *d, uint64_t from,
                         oci_blob_sink sink, void *arg, struct err *err)
{
    struct oci_request *q;
    struct remote_answer a;
    if (from > d->size)
        return err_set(err, -EINVAL, "a blob is not that long");
    answer_init(&a, err);
    int r = remote_wait(m, &a,
                        oci_registry_blob(m->reg, m->ref.repository, d, from, remote_scope(m), sink,
                                          arg, remote_on_answer, &a, &q, err));
    remote_answer_fini(&a);
    return r;
}

int oci_remote_blob(struct oci_remote *m, const struct oci_descriptor *d, oci_blob_sink sink,
                    void *arg, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    char text[OCI_DIGEST_TEXT_SIZE];
    struct remote_verified v = { .hash = sha256_new(), .sink = sink, .arg = arg };
    int r = oci_remote_blob_from(m, d, 0, on_verified, &v, err);
    sha256_end(v.hash, digest);
    sha256_free(v.hash);
    oci_digest_format(&d->digest, text);
    if (r >= 0 && memcmp(digest, d->digest.bytes, sizeof digest) != 0)
        r = err_set(err, E_DIGEST, "%s sent other bytes than those of %s", m->ref.host, text);
    return r;
}
