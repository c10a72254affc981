/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layer_delta.h"

#include <assert.h>
#include <string.h>

static const char MAGIC[8] = { 'D', 'M', 'L', 'D', 'E', 'L', 'T', 'A' };

int oci_layer_delta_write(const struct oci_layer_delta *d, struct buf *to, struct err *err)
{
    assert(d->n <= OCI_LAYER_DELTA_PARCELS_MAX);
    (void)buf_add(to, MAGIC, sizeof MAGIC);
    (void)buf_add_le32(to, OCI_LAYER_DELTA_VERSION);
    (void)buf_add_le32(to, (uint32_t)d->n);
    (void)buf_add_le64(to, d->tree.n);
    for (size_t i = 0; i < d->n; i++) {
        (void)buf_add_le64(to, d->parcels[i].request.n);
        (void)buf_add_le64(to, d->parcels[i].answer.n);
    }
    (void)buf_add_str(to, d->tree);
    for (size_t i = 0; i < d->n; i++) {
        (void)buf_add_str(to, d->parcels[i].request);
        (void)buf_add_str(to, d->parcels[i].answer);
    }
    return buf_ok(to) ? 0 : err_sys(err, to->failed, "delta of a layer");
}

int oci_layer_delta_read(struct str bytes, struct oci_layer_delta *ret, struct err *err)
{
    uint64_t lengths[2 * OCI_LAYER_DELTA_PARCELS_MAX];
    struct rd r = rd_init(bytes.p, bytes.n);
    struct str magic = rd_str(&r, sizeof MAGIC);
    uint32_t version = rd_le32(&r), n = rd_le32(&r);
    uint64_t n_tree = rd_le64(&r);
    if (!rd_ok(&r) || memcmp(magic.p, MAGIC, sizeof MAGIC) != 0)
        return err_set(err, E_PARSE, "delta of a layer: wrong magic number");
    if (version != OCI_LAYER_DELTA_VERSION)
        return err_set(err, E_VERSION, "delta of a layer of version %u", version);
    if (n > OCI_LAYER_DELTA_PARCELS_MAX)
        return err_set(err, E_LIMIT, "delta of a layer: more than %d parcels",
                       OCI_LAYER_DELTA_PARCELS_MAX);
    for (size_t i = 0; i < 2 * (size_t)n; i++)
        lengths[i] = rd_le64(&r);
    ret->tree = rd_str(&r, n_tree);
    ret->n = n;
    for (size_t i = 0; i < n; i++) {
        ret->parcels[i].request = rd_str(&r, lengths[2 * i]);
        ret->parcels[i].answer = rd_str(&r, lengths[2 * i + 1]);
    }
    return rd_ok(&r) && rd_left(&r) == 0
               ? 0
               : err_set(err, E_PARSE, "delta of a layer: it has another length");
}
