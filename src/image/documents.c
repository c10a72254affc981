/* SPDX-License-Identifier: Apache-2.0 */
#include "image/documents.h"

#include "codec/json.h"

#include <stdio.h>

#define CONFIG_TYPE   "application/vnd.oci.image.config.v1+json"
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define LAYER_TYPE    "application/vnd.oci.image.layer.v1.tar+gzip"

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

static void replace_diff_ids(struct arena *a, struct json *doc,
                             const struct image_document_layer *layers, size_t n)
{
    struct json *rootfs = json_obj(a, doc, "rootfs"), *ids = json_new_array(a);
    for (size_t i = 0; i < n; i++) {
        char text[OCI_DIGEST_TEXT_SIZE];
        oci_digest_format(&layers[i].blob->diff_id, text);
        json_add(ids, json_new_cstr(a, text));
    }
    json_set_str(a, rootfs, "type", STR("layers"));
    json_setc(a, rootfs, "diff_ids", ids);
}

static void extend_history(struct arena *a, struct json *doc,
                           const struct image_document_layer *layers, size_t n)
{
    struct json *history = json_getc(doc, "history");
    if (!json_is(history, JSON_ARRAY)) {
        history = json_new_array(a);
        json_setc(a, doc, "history", history);
    }
    json_each (step, history)
        if (json_is(step, JSON_OBJECT))
            json_set_bool(a, step, "empty_layer", true);
    for (size_t i = 0; i < n; i++) {
        struct json *step = json_new_object(a);
        json_set_str(a, step, "created_by", STR("dormouse image refactor"));
        json_set_str(a, step, "comment",
                     is_shared(&layers[i]) ? STR("shared by images") : STR("of this image"));
        json_add(history, step);
    }
}

int image_config_rewrite(struct str source, const struct image_document_layer *layers, size_t n,
                         struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    struct json *doc;
    int r = json_parse(&a, source, NULL, &doc, err);
    if (r >= 0 && !json_is(doc, JSON_OBJECT))
        r = err_set(err, E_PARSE, "it is no JSON object");
    if (r >= 0) {
        replace_diff_ids(&a, doc, layers, n);
        extend_history(&a, doc, layers, n);
        r = write_document(doc, to, err);
    }
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "configuration") : 0;
}

static struct json *layer_json(struct arena *a, const struct image_document_layer *l)
{
    struct json *v = json_new_object(a), *annotations = json_obj(a, v, "annotations");
    json_set_str(a, v, "mediaType", STR(LAYER_TYPE));
    set_digest(a, v, "digest", &l->blob->digest);
    json_set_int(a, v, "size", (int64_t)l->blob->size);
    json_set_str(a, annotations, IMAGE_ANNOTATION "kind",
                 is_shared(l) ? STR("shared") : STR("unique"));
    set_number(a, annotations, IMAGE_ANNOTATION "sharers", l->n_sharers);
    set_number(a, annotations, IMAGE_ANNOTATION "files", l->blob->n_files);
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

int image_manifest_write(const struct oci_image *source, const struct oci_digest *config,
                         uint64_t config_size, const struct image_document_layer *layers, size_t n,
                         struct str plan, struct buf *to, struct err *err)
{
    struct arena a = { 0 };
    struct json *doc = json_new_object(&a), *list = json_new_array(&a);
    struct json *c = json_obj(&a, doc, "config"), *annotations = json_obj(&a, doc, "annotations");
    json_set_int(&a, doc, "schemaVersion", 2);
    json_set_str(&a, doc, "mediaType", STR(MANIFEST_TYPE));
    json_set_str(&a, c, "mediaType", STR(CONFIG_TYPE));
    set_digest(&a, c, "digest", config);
    json_set_int(&a, c, "size", (int64_t)config_size);
    for (size_t i = 0; i < n; i++)
        json_add(list, layer_json(&a, &layers[i]));
    json_setc(&a, doc, "layers", list);
    if (source->manifest_text.n)
        set_subject(&a, doc, source);
    set_digest(&a, annotations, IMAGE_ANNOTATION "source", &source->digest);
    json_set_str(&a, annotations, IMAGE_ANNOTATION "plan", plan);
    int r = write_document(doc, to, err);
    arena_fini(&a);
    return r;
}
