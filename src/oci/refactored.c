/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/refactored.h"

#include "base/buf.h"
#include "base/clock.h"
#include "codec/json.h"
#include "oci/reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool oci_refactored_may(struct str reference)
{
    struct oci_reference ref;
    const char *off = getenv(OCI_REFACTORED_OFF);
    if (off && off[0] && strcmp(off, "0") != 0)
        return false;
    return str_has_prefix(reference, STR("docker://")) &&
           oci_reference_parse(str_slice(reference, 9, reference.n), &ref, NULL) >= 0 &&
           !ref.has_digest;
}

/* ---- the link ---- */

bool oci_refactored_source(const struct json *manifest, struct oci_digest *ret)
{
    const struct json *annotations = json_getc(manifest, "annotations");
    struct str config = json_get_str(json_getc(manifest, "config"), "digest");
    return config.n && str_eq(json_get_str(annotations, OCI_REFACTORED_CONFIG), config) &&
           oci_digest_parse(json_get_str(annotations, OCI_REFACTORED_SOURCE), ret, NULL) >= 0;
}

static int check_manifest(struct arena *a, const struct oci_image *image,
                          const struct oci_digest *original, struct err *err)
{
    struct json *doc;
    struct oci_digest source, subject;
    int r = json_parse(a, image->manifest_text, NULL, &doc, err);
    if (r < 0)
        return r;
    if (oci_refactored_source(doc, &source) && oci_digest_equal(&source, original) &&
        oci_digest_parse(json_get_str(json_getc(doc, "subject"), "digest"), &subject, NULL) >= 0 &&
        oci_digest_equal(&subject, original))
        return 0;
    return err_set(err, E_INVALID, "its manifest is of another image, or made from one");
}

/* Everything but layers and history. */
static int constant_part(struct arena *a, struct str config, struct json **ret, struct err *err)
{
    int r = json_parse(a, config, NULL, ret, err);
    if (r < 0)
        return r;
    if (!json_is(*ret, JSON_OBJECT))
        return err_set(err, E_PARSE, "the configuration is no JSON object");
    json_setc(a, *ret, "rootfs", json_new_object(a));
    json_setc(a, *ret, "history", json_new_object(a));
    return 0;
}

int oci_refactored_check(const struct oci_image *image, const struct oci_image *original,
                         struct err *err)
{
    struct arena a = { 0 };
    struct json *own, *theirs;
    int r = check_manifest(&a, image, &original->digest, err);
    r = r < 0 ? r : constant_part(&a, image->config_text, &own, err);
    r = r < 0 ? r : constant_part(&a, original->config_text, &theirs, err);
    if (r >= 0 && !json_equal(own, theirs))
        r = err_set(err, E_INVALID, "its configuration differs in more than layers and history");
    if (r >= 0 &&
        (image->manifest.n_layers == 0 || image->manifest.n_layers != image->config.n_diff_ids))
        r = err_set(err, E_INVALID, "its documents do not agree on the layers");
    arena_fini(&a);
    return r;
}

/* ---- finding it ---- */

struct listed {
    struct oci_digest digest;
    int64_t newest_us;
};

static void add_listed(struct listed *all, size_t *n, const struct listed *one)
{
    size_t at = 0;
    while (at < *n && all[at].newest_us > one->newest_us)
        at++;
    if (at == OCI_REFACTORED_TRIES)
        return;
    *n = MIN(*n + 1, (size_t)OCI_REFACTORED_TRIES);
    memmove(&all[at + 1], &all[at], (*n - 1 - at) * sizeof *all);
    all[at] = *one;
}

int oci_refactored_list(struct str index, const struct oci_digest *original,
                        struct oci_digest ret[OCI_REFACTORED_TRIES], size_t *ret_n, struct err *err)
{
    struct arena a = { .max_bytes = 16 * OCI_DOCUMENT_MAX };
    struct listed all[OCI_REFACTORED_TRIES];
    struct json *doc;
    size_t n = 0;
    int r = json_parse(&a, index, NULL, &doc, err);
    json_each (m, r < 0 ? NULL : json_getc(doc, "manifests")) {
        const struct json *annotations = json_getc(m, "annotations");
        struct str source = json_get_str(annotations, OCI_REFACTORED_SOURCE);
        struct oci_digest of;
        struct listed one = { .newest_us = INT64_MIN };
        (void)rfc3339_parse(json_get_str(annotations, OCI_REFACTORED_NEWEST), &one.newest_us);
        if (oci_digest_parse(source, &of, NULL) >= 0 && oci_digest_equal(&of, original) &&
            oci_digest_parse(json_get_str(m, "digest"), &one.digest, NULL) >= 0)
            add_listed(all, &n, &one);
    }
    arena_fini(&a);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        ret[i] = all[i].digest;
    *ret_n = n;
    return 0;
}

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    int r = buf_add_str(arg, bytes);
    return r < 0 ? err_sys(err, r, "configuration") : 0;
}

static int read_config(struct arena *a, const struct oci_origin *o, const struct oci_descriptor *d,
                       struct str *ret, struct err *err)
{
    struct oci_digest found;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    int r = o->blob(o->arg, d, 0, add_to_buf, &text, err);
    if (r < 0)
        return r;
    sha256_of(buf_str(&text), found.bytes);
    if (!oci_digest_equal(&found, &d->digest))
        return err_set(err, E_DIGEST, "the configuration is not what its digest says");
    *ret = str_copy_arena(a, buf_str(&text));
    return 0;
}

static int read_image(struct arena *a, const struct oci_origin *o, const struct oci_digest *digest,
                      struct oci_image *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    *ret = (struct oci_image){ .digest = *digest,
                               .manifest_type = STR("application/vnd.oci.image.manifest.v1+json") };
    int r = o->parts->manifest(o->arg, digest, &text, err);
    ret->manifest_text = str_copy_arena(a, buf_str(&text));
    r = r < 0 ? r : oci_manifest_parse(a, ret->manifest_text, &ret->manifest, err);
    r = r < 0 ? r : read_config(a, o, &ret->manifest.config, &ret->config_text, err);
    return r < 0 ? r : oci_config_parse(a, ret->config_text, &ret->config, err);
}

int oci_refactored_find(struct arena *a, const struct oci_origin *origin,
                        const struct oci_image *original, struct oci_image *ret, struct err *err)
{
    size_t n = 0;
    struct oci_digest at[OCI_REFACTORED_TRIES];
    scoped(buf_fini_scoped) struct buf index = BUF_INIT(OCI_DOCUMENT_MAX);
    int r = origin->parts->referrers(origin->arg, &original->digest, &index, err);
    r = r < 0 ? r : oci_refactored_list(buf_str(&index), &original->digest, at, &n, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        r = read_image(a, origin, &at[i], ret, err);
        r = r < 0 ? r : oci_refactored_check(ret, original, err);
        if (r >= 0)
            return 0;
    }
    return err_set(err, -ENOENT, "no refactored form of the image is attached to it");
}
