/* SPDX-License-Identifier: Apache-2.0 */
#include "image/documents.h"

#include "base/clock.h"
#include "codec/json.h"
#include "oci/chunked_write.h"
#include "oci/refactored.h"

#include <stdio.h>

#define CONFIG_TYPE     "application/vnd.oci.image.config.v1+json"
#define MANIFEST_TYPE   "application/vnd.oci.image.manifest.v1+json"
#define LAYER_TYPE      "application/vnd.oci.image.layer.v1.tar+gzip"
#define ZSTD_LAYER_TYPE "application/vnd.oci.image.layer.v1.tar+zstd"

static void set_digest(struct arena *a, struct json *v, const char *key, const struct oci_digest *d)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(d, text);
    json_set_str(a, v, key, str_of(text));
}

static void set_number(struct arena *a, struct json *v, const char *key, uint64_t n)
{
    json_set_str(a, v, key, str_of(arena_printf(a, "%llu", (unsigned long long)n)));
}

static bool is_shared(const struct image_document_layer *l)
{
    return l->n_sharers > 1;
}

static int write_document(const struct json *doc, struct buf *to, struct err *err)
{
    int r = json_write_sorted(to, doc);
    return r < 0 ? err_sys(err, r, "a document") : 0;
}

static void add_digest(struct arena *a, struct json *list, const struct oci_digest *d)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(d, text);
    json_add(list, json_new_cstr(a, text));
}

static const struct str AUTHOR = { "dormouse image refactor", 23 };

static void add_step(struct arena *a, struct json *history, const char *comment)
{
    struct json *step = json_new_object(a);
    json_set_str(a, step, "created_by", AUTHOR);
    json_set_str(a, step, "comment", str_of(comment));
    json_add(history, step);
}

/* The steps of the original image, which make no layers any more. Those of an earlier refactoring
 * describe layers that no longer exist. */
static struct json *original_steps(struct arena *a, const struct json *history)
{
    struct json *kept = json_new_array(a);
    json_each (step, json_is(history, JSON_ARRAY) ? history : NULL) {
        if (str_eq(json_get_str(step, "created_by"), AUTHOR))
            continue;
        struct json *own = json_clone(a, step);
        if (json_is(own, JSON_OBJECT))
            json_set_bool(a, own, "empty_layer", true);
        json_add(kept, own);
    }
    return kept;
}

/* The configuration without layers: *ids and *history are to be filled. */
static int begin_config(struct arena *a, struct str source, struct json **doc, struct json **ids,
                        struct json **history, struct err *err)
{
    int r = json_parse(a, source, NULL, doc, err);
    if (r < 0)
        return r;
    if (!json_is(*doc, JSON_OBJECT))
        return err_set(err, E_PARSE, "it is no JSON object");
    struct json *rootfs = json_obj(a, *doc, "rootfs");
    *ids = json_new_array(a);
    json_set_str(a, rootfs, "type", STR("layers"));
    json_setc(a, rootfs, "diff_ids", *ids);
    *history = original_steps(a, json_getc(*doc, "history"));
    json_setc(a, *doc, "history", *history);
    return 0;
}

int image_config_rewrite(struct str source, const struct image_document_layer *layers, size_t n,
                         struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    struct json *doc, *ids, *history;
    int r = begin_config(&a, source, &doc, &ids, &history, err);
    for (size_t i = 0; r >= 0 && i < n; i++) {
        add_digest(&a, ids, &layers[i].blob->diff_id);
        add_step(&a, history, is_shared(&layers[i]) ? "shared by images" : "of this image");
    }
    r = r < 0 ? r : write_document(doc, to, err);
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "configuration") : 0;
}

int image_config_append(struct str source, const struct oci_digest *below, size_t n_below,
                        const struct image_layer_blob *delta, struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    struct json *doc, *ids, *history;
    int r = begin_config(&a, source, &doc, &ids, &history, err);
    for (size_t i = 0; r >= 0 && i < n_below; i++) {
        add_digest(&a, ids, &below[i]);
        add_step(&a, history, "of the version before");
    }
    if (r >= 0) {
        add_digest(&a, ids, &delta->diff_id);
        add_step(&a, history, "what is new since the version before");
        r = write_document(doc, to, err);
    }
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "configuration") : 0;
}

/* What containers/storage asks a layer for (oci/chunked_write.h). */
static void set_tail(struct arena *a, struct json *annotations,
                     const struct oci_zstd_chunked_tail *tail)
{
    const struct oci_chunked_place *t = &tail->table, *s = &tail->split;
    struct str table =
        str_of(arena_printf(a, "%llu:%llu:%llu:1", (unsigned long long)t->at,
                            (unsigned long long)t->n, (unsigned long long)t->n_unpacked));
    set_digest(a, annotations, OCI_ZSTD_CHUNKED_DIGEST_ANNOTATION, &tail->digest);
    set_digest(a, annotations, OCI_ZSTD_CHUNKED_DIGEST_ANNOTATION_OLD, &tail->digest);
    json_set_str(a, annotations, OCI_ZSTD_CHUNKED_TABLE_ANNOTATION, table);
    json_set_str(a, annotations, OCI_ZSTD_CHUNKED_TABLE_ANNOTATION_OLD, table);
    json_set_str(a, annotations, OCI_ZSTD_CHUNKED_SPLIT_ANNOTATION,
                 str_of(arena_printf(a, "%llu:%llu:%llu", (unsigned long long)s->at,
                                     (unsigned long long)s->n, (unsigned long long)s->n_unpacked)));
}

static struct json *layer_json(struct arena *a, const struct image_layer_blob *blob,
                               const char *kind, uint32_t n_sharers)
{
    struct json *v = json_new_object(a), *annotations = json_obj(a, v, "annotations");
    json_set_str(a, v, "mediaType",
                 blob->kind == IMAGE_LAYER_ZSTD_CHUNKED ? STR(ZSTD_LAYER_TYPE) : STR(LAYER_TYPE));
    set_digest(a, v, "digest", &blob->digest);
    json_set_int(a, v, "size", (int64_t)blob->size);
    json_set_str(a, annotations, IMAGE_ANNOTATION "kind", str_of(kind));
    set_number(a, annotations, IMAGE_ANNOTATION "sharers", n_sharers);
    set_number(a, annotations, IMAGE_ANNOTATION "files", blob->n_files);
    if (blob->kind == IMAGE_LAYER_ZSTD_CHUNKED)
        set_tail(a, annotations, &blob->tail);
    if (blob->kind == IMAGE_LAYER_ESTARGZ) {
        set_digest(a, annotations, OCI_ESTARGZ_DIGEST_ANNOTATION, &blob->table);
        set_number(a, annotations, OCI_ESTARGZ_TAR_SIZE_ANNOTATION, blob->tar_size);
    }
    return v;
}

static void set_subject(struct arena *a, struct json *doc, const struct oci_image *source)
{
    struct json *subject = json_obj(a, doc, "subject");
    json_set_str(a, subject, "mediaType",
                 source->manifest_type.n ? source->manifest_type : STR(MANIFEST_TYPE));
    set_digest(a, subject, "digest", &source->digest);
    json_set_int(a, subject, "size", (int64_t)source->manifest_text.n);
}

/* An image that was refactored before stays attached to its original. */
static void set_source(struct arena *a, struct json *doc, const struct oci_image *source)
{
    struct json *annotations = json_obj(a, doc, "annotations"), *before = NULL;
    struct oci_digest original, attached;
    (void)json_parse(a, source->manifest_text, NULL, &before, NULL);
    const struct json *subject = json_getc(before, "subject");
    if (!oci_refactored_source(before, &original)) {
        if (source->manifest_text.n)
            set_subject(a, doc, source);
        set_digest(a, annotations, OCI_REFACTORED_SOURCE, &source->digest);
        return;
    }
    if (oci_digest_parse(json_get_str(subject, "digest"), &attached, NULL) >= 0 &&
        oci_digest_equal(&attached, &original))
        json_setc(a, doc, "subject", json_clone(a, subject));
    set_digest(a, annotations, OCI_REFACTORED_SOURCE, &original);
}

/* The parts of a manifest that do not depend on its layers. */
static void set_frame(struct arena *a, struct json *doc, const struct oci_image *source,
                      const struct oci_digest *config, uint64_t config_size, struct str newest)
{
    int64_t wall_us;
    struct json *c = json_obj(a, doc, "config");
    json_set_int(a, doc, "schemaVersion", 2);
    json_set_str(a, doc, "mediaType", STR(MANIFEST_TYPE));
    json_set_str(a, c, "mediaType", STR(CONFIG_TYPE));
    set_digest(a, c, "digest", config);
    json_set_int(a, c, "size", (int64_t)config_size);
    set_source(a, doc, source);
    struct json *annotations = json_obj(a, doc, "annotations");
    set_digest(a, annotations, OCI_REFACTORED_CONFIG, config);
    if (rfc3339_parse(newest, &wall_us) >= 0)
        json_set_str(a, annotations, OCI_REFACTORED_NEWEST, newest);
}

int image_manifest_write(const struct oci_image *source, const struct oci_digest *config,
                         uint64_t config_size, const struct image_document_layer *layers, size_t n,
                         struct str plan, struct str newest, struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    struct json *doc = json_new_object(&a), *list = json_new_array(&a);
    set_frame(&a, doc, source, config, config_size, newest);
    for (size_t i = 0; i < n; i++)
        json_add(list, layer_json(&a, layers[i].blob, is_shared(&layers[i]) ? "shared" : "unique",
                                  layers[i].n_sharers));
    json_setc(&a, doc, "layers", list);
    json_set_str(&a, json_obj(&a, doc, "annotations"), IMAGE_ANNOTATION "plan", plan);
    int r = write_document(doc, to, err);
    arena_fini(&a);
    return r;
}

int image_manifest_append(struct str below, const struct oci_image *source,
                          const struct oci_digest *config, uint64_t config_size,
                          const struct image_layer_blob *delta, struct str newest, struct buf *to,
                          struct err *err)
{
    struct arena a = { 0 };
    struct json *old, *doc = json_new_object(&a);
    int r = json_parse(&a, below, NULL, &old, err);
    if (r >= 0) {
        struct json *list = json_clone(&a, json_getc(old, "layers"));
        struct str plan = json_get_str(json_getc(old, "annotations"), IMAGE_ANNOTATION "plan");
        set_frame(&a, doc, source, config, config_size, newest);
        json_add(list, layer_json(&a, delta, "delta", 1));
        json_setc(&a, doc, "layers", list);
        if (plan.n)
            json_set_str(&a, json_obj(&a, doc, "annotations"), IMAGE_ANNOTATION "plan", plan);
        r = write_document(doc, to, err);
    }
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "manifest") : 0;
}
