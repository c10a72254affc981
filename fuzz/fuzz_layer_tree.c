/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of layers as registries give them: what is taken is written as it was, and adds up. */
#include "fuzz.h"

#include "base/mem.h"
#include "oci/layer_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct oci_layer_tree t;
    struct str in = str_n(data, size);
    struct buf again = BUF_INIT(size + 64);
    uint64_t packed = 0, raw = 0;
    if (oci_layer_tree_read(in, &t, NULL) < 0)
        return 0;
    scoped(free_scoped) struct oci_member *members = xnew_n(struct oci_member, t.n_members + 1);
    for (size_t i = 0; i < t.n_members; i++) {
        members[i] = oci_layer_tree_member(&t, i);
        FUZZ_CHECK(members[i].packed > 0);
        packed += members[i].packed;
        raw += members[i].raw;
    }
    FUZZ_CHECK(packed == t.packed && raw == t.raw);
    FUZZ_CHECK(oci_layer_tree_write(members, t.n_members, t.tree, &again, NULL) >= 0);
    FUZZ_CHECK(str_eq(buf_str(&again), in));
    buf_fini(&again);
    return 0;
}
