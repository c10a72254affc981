/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/delta_artifact.h"

#include "codec/json.h"

#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"

static void set_digest(struct arena *a, struct json *v, const char *key, const struct oci_digest *d)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(d, text);
    json_set_str(a, v, key, str_of(text));
}

static struct json *descriptor(struct arena *a, struct str type, const struct oci_digest *d,
                               uint64_t size)
{
    struct json *v = json_new_object(a);
    json_set_str(a, v, "mediaType", type);
    set_digest(a, v, "digest", d);
    json_set_int(a, v, "size", (int64_t)size);
    return v;
}

/* With commas between them. */
static int list_digests(const struct oci_digest *all, size_t n, struct buf *to)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    for (size_t i = 0; i < n; i++) {
        oci_digest_format(&all[i], text);
        (void)buf_printf(to, "%s%s", i ? "," : "", text);
    }
    return to->failed;
}

int oci_delta_artifact_write(const struct oci_delta_artifact *d, const struct oci_image *subject,
                             struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    struct oci_digest empty;
    struct json *doc = json_new_object(&a), *layers = json_new_array(&a);
    struct str type = subject->manifest_type.n ? subject->manifest_type : STR(MANIFEST_TYPE);
    scoped(buf_fini_scoped) struct buf from = BUF_INIT(OCI_LAYERS_MAX * OCI_DIGEST_TEXT_SIZE);
    int r = list_digests(d->from, d->n_from, &from);
    sha256_of(STR(OCI_EMPTY_TEXT), empty.bytes);
    json_set_int(&a, doc, "schemaVersion", 2);
    json_set_str(&a, doc, "mediaType", STR(MANIFEST_TYPE));
    json_set_str(&a, doc, "artifactType",
                 d->is_trees ? STR(OCI_TREES_ARTIFACT_TYPE) : STR(OCI_DELTA_ARTIFACT_TYPE));
    json_setc(&a, doc, "config",
              descriptor(&a, STR(OCI_EMPTY_TYPE), &empty, strlen(OCI_EMPTY_TEXT)));
    json_setc(&a, doc, "subject", descriptor(&a, type, &subject->digest, subject->manifest_text.n));
    if (!d->is_trees)
        json_set_str(&a, json_obj(&a, doc, "annotations"), OCI_DELTA_FROM, buf_str(&from));
    for (size_t i = 0; i < d->n_layers; i++) {
        const struct oci_delta_blob *l = &d->layers[i];
        struct str kind = d->is_trees ? STR(OCI_LAYER_TREE_TYPE) : STR(OCI_LAYER_DELTA_TYPE);
        struct json *v = descriptor(&a, kind, &l->blob.digest, l->blob.size);
        set_digest(&a, json_obj(&a, v, "annotations"), d->is_trees ? OCI_TREE_OF : OCI_DELTA_OF,
                   &l->of);
        json_add(layers, v);
    }
    json_setc(&a, doc, "layers", layers);
    r = r < 0 ? r : json_write_sorted(to, doc);
    arena_fini(&a);
    return r < 0 ? err_sys(err, r, "manifest of deltas") : 0;
}

/* ---- reading ---- */

static bool read_blob(const struct json *v, bool is_trees, struct oci_delta_blob *ret)
{
    int64_t size;
    struct str of =
        json_get_str(json_getc(v, "annotations"), is_trees ? OCI_TREE_OF : OCI_DELTA_OF);
    if (!str_is(json_get_str(v, "mediaType"),
                is_trees ? OCI_LAYER_TREE_TYPE : OCI_LAYER_DELTA_TYPE) ||
        oci_digest_parse(of, &ret->of, NULL) < 0 ||
        oci_digest_parse(json_get_str(v, "digest"), &ret->blob.digest, NULL) < 0 ||
        json_int(json_getc(v, "size"), &size) < 0 || size <= 0)
        return false;
    ret->blob.size = (uint64_t)size;
    return true;
}

int oci_delta_artifact_read(struct arena *a, struct str text, struct oci_delta_artifact *ret,
                            struct err *err)
{
    struct json *doc;
    int r = json_parse(a, text, NULL, &doc, err);
    if (r < 0)
        return err_ctx(err, r, "manifest of deltas");
    struct str type = json_get_str(doc, "artifactType");
    bool is_trees = str_is(type, OCI_TREES_ARTIFACT_TYPE);
    if (!is_trees && !str_is(type, OCI_DELTA_ARTIFACT_TYPE))
        return err_set(err, E_PARSE, "not a manifest of deltas or trees");
    struct oci_delta_blob *layers = arena_new_n(a, struct oci_delta_blob, OCI_LAYERS_MAX);
    size_t n = 0;
    json_each (v, json_getc(doc, "layers")) {
        if (n == OCI_LAYERS_MAX)
            return err_set(err, E_LIMIT, "manifest of deltas: more than %d layers", OCI_LAYERS_MAX);
        layers[n] = (struct oci_delta_blob){ 0 };
        n += read_blob(v, is_trees, &layers[n]);
    }
    *ret = (struct oci_delta_artifact){ .is_trees = is_trees, .layers = layers, .n_layers = n };
    return 0;
}

/* Whether these are digests. In the arena are those of deltas that are taken alone: an index has
 * room for many others. */
static bool read_from(struct arena *a, struct str text, struct oci_delta_referrer *ret)
{
    struct oci_digest all[OCI_LAYERS_MAX];
    size_t n = 0;
    while (text.n) {
        struct str one;
        (void)str_cut(text, ',', &one, &text);
        if (n == OCI_LAYERS_MAX || oci_digest_parse(one, &all[n++], NULL) < 0)
            return false;
    }
    if (n == 0)
        return false;
    struct oci_digest *kept = arena_new_n(a, struct oci_digest, n);
    memcpy(kept, all, n * sizeof *all);
    ret->from = kept;
    ret->n_from = n;
    return true;
}

int oci_delta_referrers(struct arena *a, struct str index, struct oci_delta_referrer **ret,
                        size_t *ret_n, struct err *err)
{
    struct json *doc;
    size_t n = 0;
    int r = json_parse(a, index, NULL, &doc, err);
    if (r < 0)
        return err_ctx(err, r, "index of referrers");
    *ret = arena_new_n(a, struct oci_delta_referrer, OCI_DELTA_REFERRERS_MAX);
    json_each (v, json_getc(doc, "manifests")) {
        struct oci_delta_referrer *to = &(*ret)[n];
        struct str type = json_get_str(v, "artifactType");
        if (n == OCI_DELTA_REFERRERS_MAX)
            break;
        *to = (struct oci_delta_referrer){ .is_trees = str_is(type, OCI_TREES_ARTIFACT_TYPE) };
        if ((to->is_trees || str_is(type, OCI_DELTA_ARTIFACT_TYPE)) &&
            oci_digest_parse(json_get_str(v, "digest"), &to->manifest, NULL) >= 0 &&
            (to->is_trees ||
             read_from(a, json_get_str(json_getc(v, "annotations"), OCI_DELTA_FROM), to)))
            n++;
    }
    *ret_n = n;
    return 0;
}
