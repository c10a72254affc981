/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layer_tree.h"

#include <assert.h>

enum { MEMBER_BYTES = 8 };

#define MAGIC "DMLTREE1"

int oci_layer_tree_write(const struct oci_member *members, size_t n, struct str tree,
                         struct buf *to, struct err *err)
{
    if (n > OCI_MEMBERS_MAX)
        return err_set(err, E_LIMIT, "tree of a layer: more than %d members", OCI_MEMBERS_MAX);
    (void)buf_add_str(to, STR(MAGIC));
    (void)buf_add_le64(to, n);
    for (size_t i = 0; i < n; i++) {
        (void)buf_add_le32(to, members[i].packed);
        (void)buf_add_le32(to, members[i].raw);
    }
    int r = buf_add_str(to, tree);
    return r < 0 ? err_sys(err, r, "tree of a layer") : 0;
}

struct oci_member oci_layer_tree_member(const struct oci_layer_tree *t, size_t i)
{
    assert(i < t->n_members);
    struct rd r = rd_init(t->members.p + i * MEMBER_BYTES, MEMBER_BYTES);
    struct oci_member m = { .packed = rd_le32(&r) };
    m.raw = rd_le32(&r);
    return m;
}

int oci_layer_tree_read(struct str bytes, struct oci_layer_tree *ret, struct err *err)
{
    struct rd r = rd_init(bytes.p, bytes.n);
    struct oci_layer_tree t = { 0 };
    struct str magic = rd_str(&r, strlen(MAGIC));
    uint64_t n = rd_le64(&r);
    if (!rd_ok(&r) || !str_is(magic, MAGIC))
        return err_set(err, E_PARSE, "tree of a layer: wrong magic number");
    if (n > OCI_MEMBERS_MAX)
        return err_set(err, E_LIMIT, "tree of a layer: more than %d members", OCI_MEMBERS_MAX);
    t.members = rd_str(&r, (size_t)n * MEMBER_BYTES);
    if (!rd_ok(&r))
        return err_set(err, E_PARSE, "tree of a layer: it is cut short");
    t.n_members = (size_t)n;
    for (size_t i = 0; i < t.n_members; i++) {
        struct oci_member m = oci_layer_tree_member(&t, i);
        if (m.packed == 0)
            return err_set(err, E_PARSE, "tree of a layer: a member has no bytes");
        t.packed += m.packed;
        t.raw += m.raw;
    }
    t.tree = rd_str(&r, rd_left(&r));
    *ret = t;
    return 0;
}
