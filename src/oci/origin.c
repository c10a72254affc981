/* SPDX-License-Identifier: Apache-2.0 */
/* A source as an origin of pulls. */
#include "oci/pull.h"
#include "oci/refactored.h"

static int give_image(void *arg, const struct oci_platform *platform, struct oci_image *ret,
                      struct err *err)
{
    return oci_source_image(arg, platform, ret, err);
}

static int give_blob(void *arg, const struct oci_descriptor *d, uint64_t offset, oci_blob_sink sink,
                     void *sink_arg, struct err *err)
{
    return oci_source_blob_from(arg, d, offset, sink, sink_arg, err);
}

static bool has_files(void *arg)
{
    return oci_remote_has_files(oci_source_remote(arg));
}

static int give_tree(void *arg, const struct oci_digest *diff_id, struct buf *to, struct err *err)
{
    struct oci_remote *m;
    int r = oci_source_remote_of_thread(arg, &m, err);
    return r < 0 ? r : oci_remote_tree(m, diff_id, to, err);
}

static int give_parcel(void *arg, struct str request, struct buf *to, struct err *err)
{
    struct oci_remote *m;
    int r = oci_source_remote_of_thread(arg, &m, err);
    return r < 0 ? r : oci_remote_parcel(m, request, to, err);
}

static int give_range(void *arg, const struct oci_descriptor *d, uint64_t from, uint64_t to,
                      oci_blob_sink sink, void *sink_arg, struct err *err)
{
    struct oci_remote *m;
    int r = oci_source_remote_of_thread(arg, &m, err);
    return r < 0 ? r : oci_remote_blob_part(m, d, from, to, sink, sink_arg, err);
}

static int give_ranges(void *arg, const struct oci_descriptor *d, const struct oci_range *ranges,
                       size_t n, oci_ranges_sink sink, void *sink_arg, struct err *err)
{
    struct oci_remote *m;
    int r = oci_source_remote_of_thread(arg, &m, err);
    return r < 0 ? r : oci_remote_blob_ranges(m, d, ranges, n, sink, sink_arg, err);
}

static int give_referrers(void *arg, const struct oci_digest *subject, struct buf *to,
                          struct err *err)
{
    struct oci_remote *m;
    int r = oci_source_remote_of_thread(arg, &m, err);
    return r < 0 ? r : oci_remote_referrers(m, subject, to, err);
}

static int give_manifest(void *arg, const struct oci_digest *digest, struct buf *to,
                         struct err *err)
{
    struct oci_remote *m;
    struct oci_digest found;
    int r = oci_source_remote_of_thread(arg, &m, err);
    return r < 0 ? r : oci_remote_manifest(m, digest, to, &found, err);
}

static const struct oci_origin_parts parts = {
    .has_files = has_files,
    .tree = give_tree,
    .parcel = give_parcel,
    .range = give_range,
    .ranges = give_ranges,
    .referrers = give_referrers,
    .manifest = give_manifest,
};

int oci_origin_open(struct str reference, const struct oci_remote_opts *registry,
                    struct oci_origin *ret, struct err *err)
{
    struct oci_source *source;
    int r = oci_source_open_with(reference, registry, &source, err);
    if (r < 0)
        return r;
    *ret = (struct oci_origin){
        .image = give_image,
        .blob = give_blob,
        .parts = oci_source_remote(source) ? &parts : NULL,
        .arg = source,
        .is_remote = oci_source_remote(source) != NULL,
        .may_be_other = oci_refactored_may(reference),
        .has_no_blobs = oci_source_names_layers_by_diff_id(source),
    };
    return 0;
}

void oci_origin_close(struct oci_origin *origin)
{
    oci_source_free(origin->arg);
    *origin = (struct oci_origin){ 0 };
}
