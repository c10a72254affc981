/* SPDX-License-Identifier: Apache-2.0 */
#include "image/layer_rights.h"

#include "base/sys.h"
#include "base/tree_remove.h"
#include "codec/digest.h"
#include "oci/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { TENANT_HASH_BYTES = 16 };

#define DIR_NAME "tenants"

struct paths {
    char layer[SHA256_HEX_SIZE];
    char tenant[SHA256_HEX_SIZE + 2 * TENANT_HASH_BYTES + 1]; /* "<layer>/<tenant>" */
};

static struct paths paths_of(const struct oci_digest *diff_id, struct str tenant)
{
    struct paths p;
    uint8_t hash[SHA256_BYTES];
    char hex[2 * TENANT_HASH_BYTES + 1];
    hex_format(diff_id->bytes, sizeof diff_id->bytes, p.layer);
    sha256_of(tenant, hash);
    hex_format(hash, TENANT_HASH_BYTES, hex);
    (void)snprintf(p.tenant, sizeof p.tenant, "%s/%s", p.layer, hex);
    return p;
}

/* The directory of all of them; -ENOENT: nothing is private. */
static int open_all(const struct oci_store *s)
{
    scoped(free_scoped) char *path = xasprintf("%s/" DIR_NAME, oci_store_root(s));
    return sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

static int hide_one(int all, const struct oci_digest *d, struct err *err)
{
    struct paths p = paths_of(d, STR(""));
    int r = sys_mkdirat(all, p.layer, 0700);
    return r < 0 && r != -EEXIST ? err_sys(err, r, "make '" DIR_NAME "/%s'", p.layer) : 0;
}

/* The documents of an image. *ret_n: how many of them it has. */
static void list_documents(const struct oci_image *image, const struct oci_digest *ret[3],
                           size_t *ret_n)
{
    size_t n = 0;
    ret[n++] = &image->manifest.config.digest;
    if (image->manifest_text.n)
        ret[n++] = &image->digest;
    if (image->index_text.n)
        ret[n++] = &image->index;
    *ret_n = n;
}

int layer_rights_hide(struct oci_store *s, const struct oci_image *image, struct err *err)
{
    const struct oci_digest *documents[3];
    size_t n;
    scoped(free_scoped) char *path = xasprintf("%s/" DIR_NAME, oci_store_root(s));
    int r = sys_mkdir_all(path, 0700, err);
    scoped(fd_scoped) int all = r < 0 ? -1 : open_all(s);
    if (r < 0 || all < 0)
        return r < 0 ? r : err_sys(err, all, "open '%s'", path);
    list_documents(image, documents, &n);
    for (size_t i = 0; i < image->config.n_diff_ids && r >= 0; i++)
        if (!oci_store_layer_has(s, &image->config.diff_ids[i]))
            r = hide_one(all, &image->config.diff_ids[i], err);
    for (size_t i = 0; i < n && r >= 0; i++)
        if (!oci_store_document_has(s, documents[i]))
            r = hide_one(all, documents[i], err);
    if (r < 0)
        return r;
    r = sys_fsync(all); /* a layer is synced before it is visible: this too */
    return r < 0 ? err_sys(err, r, "sync '%s'", path) : 0;
}

bool layer_rights_has(struct oci_store *s, const struct oci_digest *diff_id, struct str tenant)
{
    scoped(fd_scoped) int all = open_all(s);
    struct paths p = paths_of(diff_id, tenant);
    if (all == -ENOENT)
        return true;
    return all >= 0 && ((faccessat(all, p.layer, F_OK, 0) < 0 && errno == ENOENT) ||
                        (tenant.n && faccessat(all, p.tenant, F_OK, 0) == 0));
}

bool layer_rights_is_public(struct oci_store *s, const struct oci_digest *diff_id)
{
    return layer_rights_has(s, diff_id, STR(""));
}

void layer_rights_give(struct oci_store *s, const struct oci_digest *diff_id, struct str tenant)
{
    scoped(fd_scoped) int all = open_all(s);
    struct paths p = paths_of(diff_id, tenant);
    if (all < 0)
        return;
    if (!tenant.n) {
        (void)tree_remove(all, p.layer, NULL);
        return;
    }
    int fd = sys_openat(all, p.tenant, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
    if (fd >= 0) /* else the layer is not private */
        (void)close(fd);
}

void layer_rights_give_documents(struct oci_store *s, const struct oci_image *image,
                                 struct str tenant)
{
    const struct oci_digest *documents[3];
    size_t n;
    list_documents(image, documents, &n);
    for (size_t i = 0; i < n; i++)
        if (!layer_rights_has(s, documents[i], tenant))
            layer_rights_give(s, documents[i], tenant);
}

void layer_rights_tidy(struct oci_store *s)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(fd_scoped) int all = open_all(s);
    if (all < 0 || tree_names_read(all, &names, NULL) < 0)
        return;
    vec_each (name, &names.all) {
        struct oci_digest d;
        if (!hex_parse(str_of(*name), d.bytes, sizeof d.bytes) ||
            (!oci_store_layer_has(s, &d) && !oci_store_document_has(s, &d)))
            (void)tree_remove(all, *name, NULL);
    }
}
