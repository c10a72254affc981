/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a layer from a process that a hostile layer took over: no path that leaves the root,
 * no content beyond what the entry said. */
#include "fuzz.h"

#include "image/layer_wire.h"

struct check {
    uint64_t left;
};

static int on_entry(void *arg, const struct oci_entry *e, struct err *err)
{
    struct check *c = arg;
    char room[TAR_PATH_MAX];
    struct str again;
    (void)err;
    FUZZ_CHECK(tar_normalize(e->path, room, &again, NULL) == 0 && str_eq(e->path, again));
    if (e->type == TAR_HARDLINK)
        FUZZ_CHECK(tar_normalize(e->link, room, &again, NULL) == 0 && str_eq(e->link, again));
    FUZZ_CHECK(oci_layer_is_entry_path(e->path));
    for (uint32_t i = 0; i < e->n_xattrs; i++)
        FUZZ_CHECK(!oci_layer_drops_xattr(e->xattrs[i].name));
    FUZZ_CHECK(e->link.n < TAR_PATH_MAX && e->mode <= 07777);
    c->left = e->type == TAR_FILE ? e->size : 0;
    return 0;
}

static int on_hole(void *arg, uint64_t n, struct err *err)
{
    struct check *c = arg;
    (void)err;
    FUZZ_CHECK(n <= c->left);
    c->left -= n;
    return 0;
}

static int on_data(void *arg, struct str bytes, struct err *err)
{
    return on_hole(arg, bytes.n, err);
}

static int on_whiteout(void *arg, const struct oci_whiteout *w, struct err *err)
{
    char room[TAR_PATH_MAX];
    struct str again;
    (void)arg, (void)err;
    FUZZ_CHECK(tar_normalize(w->path, room, &again, NULL) == 0 && str_eq(w->path, again));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct layer_ops ops = { on_entry, on_data, on_hole, on_whiteout, NULL };
    struct check c = { 0 };
    struct layer_wire_in in = { .ops = &ops, .arg = &c, .max_bytes = 1 << 16 };
    ptrdiff_t n = layer_wire_add(&in, str_n(data, size), NULL);
    FUZZ_CHECK(n <= (ptrdiff_t)size);
    return 0;
}
