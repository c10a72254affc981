/* SPDX-License-Identifier: Apache-2.0 */
/* What `dormouse image serve` gives besides what registries do (image/mirror_files.h). */
#include "oci/remote_int.h"

#include "oci/file_parcel.h"
#include "oci/tree_manifest.h"

bool oci_remote_has_files(const struct oci_remote *m)
{
    return m->has_files;
}

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    int r = buf_add_str(arg, bytes);
    return r < 0 ? err_sys(err, r, "an answer of the registry") : 0;
}

int oci_remote_tree(struct oci_remote *m, const struct oci_digest *diff_id, struct buf *to,
                    struct err *err)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct remote_answer a;
    oci_digest_format(diff_id, text);
    scoped(free_scoped) char *target =
        xasprintf("/v2/%s/_dormouse/trees/%s", m->ref.repository, text);
    struct oci_request_opts opts = { .method = "GET",
                                     .target = target,
                                     .sink = add_to_buf,
                                     .sink_arg = to,
                                     .size = OCI_TREE_MANIFEST_MAX,
                                     .is_at_most = true,
                                     .once = true };
    int r = remote_request(m, &opts, &a, err);
    remote_answer_fini(&a);
    return r;
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
