/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube/object_cache: the first line is a path to strip, the rest an object. What the cache holds of
 * it is written back as the same JSON, whole and as metadata alone, but for what nobody can see.
 */
#include "fuzz.h"

#include "client/object_cache_body.h"
#include "client/object_cache_facts.h"
#include "kube/model/jsonpath.h"

#include <stdlib.h>

static struct json *parse(struct arena *a, struct str text)
{
    struct json *v;
    struct err err = { 0 };
    return json_parse(a, text, NULL, &v, &err) >= 0 && json_is(v, JSON_OBJECT) ? v : NULL;
}

/* Members that are not of their type, or empty, mean nothing. */
static void drop_unless(struct json *meta, const char *key, enum json_type type)
{
    const struct json *v = json_getc(meta, key);
    bool empty = v && (type == JSON_STRING ? json_str(v).n == 0 : v->n == 0);
    if (v && (json_is(v, type) ? empty : type == JSON_STRING))
        (void)json_del(meta, str_of(key));
}

/* The object as the cache promises to give it back. */
static void expect(struct arena *a, struct json *v)
{
    struct json *meta = json_getc(v, "metadata");
    uint64_t rv = 0;
    (void)parse_u64(json_get_str(meta, "resourceVersion"), 0, UINT64_MAX, &rv);
    (void)json_del(meta, STR("managedFields"));
    json_set_str(a, meta, "resourceVersion",
                 str_of(arena_printf(a, "%llu", (unsigned long long)rv)));
    drop_unless(meta, "namespace", JSON_STRING);
    drop_unless(meta, "uid", JSON_STRING);
    drop_unless(meta, "labels", JSON_OBJECT);
    drop_unless(meta, "ownerReferences", JSON_ARRAY);
    json_set_str(a, v, "apiVersion", STR("v1"));
    json_set_str(a, v, "kind", STR("Kind"));
}

static struct json *written(struct arena *a, struct cache_body_codec *codec,
                            const struct cached_object *o, bool metadata_only)
{
    struct str plain;
    struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    enum cache_body_form form = o->flags & OBJECT_BODY_PACKED ? BODY_PACKED : BODY_PLAIN;
    if (cache_body_unpack(codec, cached_object_body(o), form, o->plain_n, &plain, NULL) < 0)
        abort();
    cached_object_write(o, plain, STR("v1"), STR("Kind"), metadata_only, &out);
    struct json *v = parse(a, str_copy_arena(a, buf_str(&out)));
    FUZZ_CHECK(v);
    buf_fini(&out);
    return v;
}

static void check_facts(const struct cache_object_maker *m, const struct cached_object *o)
{
    struct str values[OBJECT_CACHE_FIELD_VALUES_MAX];
    uint32_t hashes[UINT8_MAX];
    for (size_t i = 0; i < m->n_fields; i++) {
        size_t n = cached_object_values(m, o, i, values, ARRAY_LEN(values));
        if (n > ARRAY_LEN(values) ||
            cached_object_value_hashes(m, o, i, hashes, ARRAY_LEN(hashes)) < n)
            abort();
        for (size_t k = 0; k < n; k++)
            if (!cached_object_has_value(m, o, i, values[k]))
                abort();
    }
    for (size_t i = 0; i < cached_object_n_owners(o); i++) {
        struct object_owner owner;
        cached_object_owner(o, i, &owner);
    }
    struct cached_object *facts = cached_object_facts(o);
    if (cached_object_labels_hash(facts) != cached_object_labels_hash(o) ||
        !cached_object_same_uid(facts, o))
        abort();
    cached_object_unref(m->interner, facts);
}

static void check_object(struct cache_object_maker *m, struct str text)
{
    struct arena a = { .max_bytes = 64 << 20 };
    struct json *sent = parse(&a, text), *again = parse(&a, text);
    struct cached_object *o;
    if (sent && again && cached_object_make(m, sent, &o, NULL) >= 0) {
        for (size_t i = 0; i < m->n_strip; i++)
            cache_strip_path_apply(&m->strip[i], again);
        expect(&a, again);
        struct json *whole = written(&a, m->codec, o, false);
        FUZZ_CHECK(json_equal(whole, again));
        struct json *meta = written(&a, m->codec, o, true);
        FUZZ_CHECK(meta->n == 3);
        FUZZ_CHECK(json_equal(json_getc(meta, "metadata"), json_getc(whole, "metadata")));
        check_facts(m, o);
        cached_object_unref(m->interner, o);
    }
    arena_fini(&a);
}

static void on_packer_closed(void *arg)
{
}

static void on_dictionary(void *arg)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct loop loop;
    static bool has_loop;
    if (!has_loop && loop_init(&loop, NULL) < 0)
        abort();
    has_loop = true;
    struct str path, text;
    (void)str_cut(str_n(data, size), '\n', &path, &text);
    struct arena a = { 0 };
    struct cache_strip_path strip;
    struct cache_interner interner = { .seed = 1 };
    struct jsonpath *field = NULL;
    (void)jsonpath_parse(&a, STR(".spec.a[*].b"), &field, NULL);
    struct cache_field fields[] = { { .field = { OBJECT_FIELD_PATH, STR("x"), true },
                                      .path = field },
                                    { .field = { OBJECT_FIELD_LABEL, STR("app"), true } },
                                    { .field = { OBJECT_FIELD_ANNOTATION, STR("note"), true } },
                                    { .field = { OBJECT_FIELD_OWNER_UID, STR(""), true } } };
    struct cache_body_packer *packer = cache_body_packer_new(&loop);
    struct cache_object_maker m = { .interner = &interner,
                                    .seed = 1,
                                    .fields = fields,
                                    .n_fields = ARRAY_LEN(fields),
                                    .codec = cache_body_codec_new(packer, on_dictionary, NULL) };
    buf_init(&m.scratch, WATCH_LINE_MAX_BYTES);
    if (cache_strip_path_parse(&a, path, &strip, NULL) >= 0) {
        m.strip = &strip;
        m.n_strip = 1;
    }
    check_object(&m, text);
    buf_fini(&m.scratch);
    cache_body_codec_close(m.codec);
    cache_body_packer_close(packer, on_packer_closed, NULL);
    cache_interner_fini(&interner);
    arena_fini(&a);
    return 0;
}
