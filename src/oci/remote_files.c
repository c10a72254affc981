/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of layers: what `dormouse image serve` gives besides what registries do
 * (image/mirror_files.h), and ranges of blobs. */
#include "oci/remote_int.h"

#include "codec/byteranges.h"
#include "oci/file_parcel.h"
#include "oci/tree_manifest.h"

#include <inttypes.h>

bool oci_remote_has_files(const struct oci_remote *m)
{
    return m->has_files;
}

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    int r = buf_add_str(arg, bytes);
    return r < 0 ? err_sys(err, r, "an answer of the registry") : 0;
}

static int get_text(struct oci_remote *m, const char *kind, const struct oci_digest *digest,
                    uint64_t max_bytes, struct buf *to, struct err *err)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct remote_answer a;
    oci_digest_format(digest, text);
    scoped(free_scoped) char *target =
        xasprintf("/v2/%s/_dormouse/%s/%s", m->ref.repository, kind, text);
    struct oci_request_opts opts = { .method = "GET",
                                     .target = target,
                                     .sink = add_to_buf,
                                     .sink_arg = to,
                                     .size = max_bytes,
                                     .is_at_most = true,
                                     .once = true };
    int r = remote_request(m, &opts, &a, err);
    remote_answer_fini(&a);
    return r;
}

int oci_remote_tree(struct oci_remote *m, const struct oci_digest *diff_id, struct buf *to,
                    struct err *err)
{
    return get_text(m, "trees", diff_id, OCI_TREE_MANIFEST_MAX, to, err);
}

int oci_remote_start(struct oci_remote *m, const struct oci_digest *config, struct buf *to,
                     struct err *err)
{
    return get_text(m, "starts", config, MAX(to->max, (size_t)1), to, err);
}

int oci_remote_parcel(struct oci_remote *m, struct str request, struct buf *to, struct err *err)
{
    struct remote_answer a;
    struct headers h = { 0 };
    scoped(free_scoped) char *target = xasprintf("/v2/%s/_dormouse/files", m->ref.repository);
    (void)headers_addc(&h, "content-type", "application/octet-stream");
    struct oci_request_opts opts = { .method = "POST",
                                     .target = target,
                                     .headers = &h,
                                     .body = request,
                                     .sink = add_to_buf,
                                     .sink_arg = to,
                                     .size = OCI_PARCEL_ANSWER_MAX,
                                     .is_at_most = true,
                                     .once = true };
    int r = remote_request(m, &opts, &a, err);
    remote_answer_fini(&a);
    headers_fini(&h);
    return r;
}

int oci_remote_blob_part(struct oci_remote *m, const struct oci_descriptor *d, uint64_t from,
                         uint64_t to, oci_blob_sink sink, void *arg, struct err *err)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct remote_answer a;
    if (from >= to || to > d->size)
        return err_set(err, E_INVALID, "a blob has no such part");
    oci_digest_format(&d->digest, text);
    scoped(free_scoped) char *target = xasprintf("/v2/%s/blobs/%s", m->ref.repository, text);
    struct oci_request_opts opts = { .method = "GET",
                                     .target = target,
                                     .sink = sink,
                                     .sink_arg = arg,
                                     .from = from,
                                     .size = to,
                                     .is_part = true };
    int r = remote_request(m, &opts, &a, err);
    remote_answer_fini(&a);
    return r;
}

/* ---- several ranges in one request ---- */

struct ranges {
    struct byteranges body;
    uint64_t size;
    oci_ranges_sink sink;
    void *arg;
    uint64_t at;
};

static int on_range(void *arg, uint64_t from, uint64_t to, struct err *err)
{
    struct ranges *g = arg;
    (void)to, (void)err;
    g->at = from;
    return 0;
}

static int on_range_bytes(void *arg, struct str bytes, struct err *err)
{
    struct ranges *g = arg;
    uint64_t at = g->at;
    g->at += bytes.n;
    return g->sink(g->arg, at, bytes, err);
}

static int on_ranges_head(void *arg, const struct headers *headers, struct err *err)
{
    static const struct byteranges_ops ops = { on_range, on_range_bytes };
    struct ranges *g = arg;
    return byteranges_init(&g->body, headers_get(headers, "content-type"), g->size, &ops, g, err);
}

static int on_ranges_body(void *arg, struct str bytes, struct err *err)
{
    struct ranges *g = arg;
    return byteranges_add(&g->body, bytes, err);
}

int oci_remote_blob_ranges(struct oci_remote *m, const struct oci_descriptor *d,
                           const struct oci_range *ranges, size_t n, oci_ranges_sink sink,
                           void *arg, struct err *err)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct remote_answer a;
    struct headers h = { 0 };
    struct ranges g = { .size = d->size, .sink = sink, .arg = arg };
    scoped(buf_fini_scoped) struct buf field = BUF_INIT(OCI_RANGES_MAX * 48);
    uint64_t most = 0;
    if (n == 0 || n > OCI_RANGES_MAX)
        return err_set(err, E_LIMIT, "more than %d ranges", OCI_RANGES_MAX);
    for (size_t i = 0; i < n; i++) {
        if (ranges[i].from >= ranges[i].to || ranges[i].to > d->size ||
            (i && ranges[i].from < ranges[i - 1].to))
            return err_set(err, E_INVALID, "a blob has no such ranges");
        (void)buf_printf(&field, "%s%" PRIu64 "-%" PRIu64, i ? "," : "bytes=", ranges[i].from,
                         ranges[i].to - 1);
        most += ranges[i].to - ranges[i].from + BYTERANGES_OVERHEAD_MAX;
    }
    oci_digest_format(&d->digest, text);
    (void)headers_add(&h, STR("range"), buf_str(&field));
    scoped(free_scoped) char *target = xasprintf("/v2/%s/blobs/%s", m->ref.repository, text);
    struct oci_request_opts opts = { .method = "GET",
                                     .target = target,
                                     .headers = &h,
                                     .sink = on_ranges_body,
                                     .sink_arg = &g,
                                     .on_ranges = on_ranges_head,
                                     .size = most + BYTERANGES_OVERHEAD_MAX,
                                     .is_at_most = true,
                                     .once = true };
    int r = remote_request(m, &opts, &a, err);
    r = r < 0 ? r : byteranges_end(&g.body, err);
    remote_answer_fini(&a);
    headers_fini(&h);
    return r;
}
