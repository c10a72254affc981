/* SPDX-License-Identifier: Apache-2.0 */
/* A layer from the records of a process that a hostile layer took over: what becomes a layer has an
 * index that can be read again. */
#include "fuzz.h"

#include "image/layer_wire.h"
#include "oci/layer_gather.h"
#include "oci/layer_index.h"

enum { MAX_BYTES = 1 << 20 };

static void check_index(const struct oci_layer *layer)
{
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(16 << 20);
    scoped(oci_layer_free_scoped) struct oci_layer *again = NULL;
    FUZZ_CHECK(oci_layer_index_write(layer, &b, &err) == 0);
    FUZZ_CHECK(oci_layer_index_read(buf_str(&b), &again, &err) == 0);
    FUZZ_CHECK(again->entries.n == layer->entries.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scoped(layer_gather_free_scoped) struct layer_gather *g = layer_gather_new();
    scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
    struct layer_wire_in in = { .ops = &layer_gather_ops, .arg = g, .max_bytes = MAX_BYTES };
    ptrdiff_t n = layer_wire_add(&in, str_n(data, size), NULL);
    FUZZ_CHECK(n <= (ptrdiff_t)size);
    if (n >= 0 && in.is_over && layer_gather_end(g, &in.facts, &layer, NULL) == 0)
        check_index(layer);
    return 0;
}
