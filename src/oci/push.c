/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/push.h"

#include "base/buf.h"
#include "base/map.h"
#include "codec/json.h"

enum { DEPTH_MAX = 4, DOCUMENTS_MEMORY_MAX = 1 << 30 };

struct push {
    struct oci_source *from;
    struct oci_remote *to;
    const struct oci_push_opts *opts;
    const char *mount_from; /* a repository of the same registry; NULL: none */
    struct map done;        /* digests of blobs */
    struct map documents;   /* digests of manifests and indexes below the root */
    struct arena arena;
    struct oci_push_result result;
};

/* ---- blobs ---- */

struct copy {
    struct push *p;
    const struct oci_descriptor *read, *d; /* as the source names it, and as it is pushed */
    oci_blob_sink sink;
    void *sink_arg;
    uint64_t n;
};

static void report(struct push *p, const struct oci_push_news *news)
{
    if (p->opts->news)
        p->opts->news(p->opts->arg, news);
}

static int on_copied(void *arg, struct str bytes, struct err *err)
{
    struct copy *c = arg;
    c->n += bytes.n;
    int r = c->sink(c->sink_arg, bytes, err);
    report(c->p, &(struct oci_push_news){ .blob = c->d, .n_bytes = c->n });
    return r;
}

static int write_blob(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    struct copy *c = arg;
    c->sink = sink;
    c->sink_arg = sink_arg;
    c->n = 0;
    return oci_source_blob(c->p->from, c->read, on_copied, c, err);
}

static void count(struct push *p, const struct oci_descriptor *d, enum oci_pushed how)
{
    p->result.n_uploaded += how == OCI_PUSHED_UPLOADED;
    p->result.n_mounted += how == OCI_PUSHED_MOUNTED;
    p->result.n_existed += how == OCI_PUSHED_EXISTED;
    p->result.n_bytes += how == OCI_PUSHED_UPLOADED ? d->size : 0;
    report(p,
           &(struct oci_push_news){ .blob = d, .is_done = true, .n_bytes = d->size, .how = how });
}

/* `read` names in the source what is pushed as `d`. */
static int push_blob(struct push *p, const struct oci_descriptor *read,
                     const struct oci_descriptor *d, struct err *err)
{
    enum oci_pushed how;
    struct copy c = { .p = p, .read = read, .d = d };
    struct str key = str_n(d->digest.bytes, sizeof d->digest.bytes);
    if (map_put(&p->done, key, p))
        return 0;
    report(p, &(struct oci_push_news){ .blob = d });
    int r = oci_remote_push_blob(p->to, d, p->mount_from, write_blob, &c, &how, err);
    if (r >= 0)
        count(p, d, how);
    return r;
}

/* Layers that their makers do not let others distribute stay where their URLs say. */
static bool is_foreign(const struct oci_descriptor *d)
{
    return str_find(d->media_type, STR("nondistributable")) >= 0 ||
           str_find(d->media_type, STR(".foreign.")) >= 0;
}

static int push_blobs(struct push *p, const struct oci_manifest *m, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < m->n_layers && r >= 0; i++)
        if (!is_foreign(&m->layers[i]))
            r = push_blob(p, &m->layers[i], &m->layers[i], err);
    return r < 0 ? r : push_blob(p, &m->config, &m->config, err);
}

/* ---- documents ---- */

static int put(struct push *p, struct str text, enum oci_document kind, bool is_root,
               struct err *err)
{
    struct json *doc;
    int r = json_parse(&p->arena, text, NULL, &doc, err);
    if (r < 0)
        return r;
    struct str type = json_get_str(doc, "mediaType");
    if (type.n == 0)
        type = kind == OCI_DOCUMENT_INDEX ? STR("application/vnd.oci.image.index.v1+json")
                                          : STR("application/vnd.oci.image.manifest.v1+json");
    if (is_root)
        sha256_of(text, p->result.digest.bytes);
    return oci_remote_push_manifest(p->to, is_root ? oci_remote_reference(p->to)->tag : NULL, type,
                                    text, err);
}

static int push_manifest(struct push *p, struct str text, bool is_root, struct err *err)
{
    struct oci_manifest m;
    int r = oci_manifest_parse(&p->arena, text, &m, err);
    r = r < 0 ? r : push_blobs(p, &m, err);
    return r < 0 ? r : put(p, text, OCI_DOCUMENT_MANIFEST, is_root, err);
}

static int push_child(struct push *p, const struct oci_descriptor *d, unsigned depth,
                      struct err *err);

/* A manifest, or an index with all below it. */
static int push_document(struct push *p, struct str text, unsigned depth, struct err *err)
{
    enum oci_document kind;
    struct oci_index index;
    int r = oci_document_kind(&p->arena, text, &kind, err);
    if (r < 0)
        return r;
    if (kind == OCI_DOCUMENT_MANIFEST)
        return push_manifest(p, text, depth == 0, err);
    if (depth == DEPTH_MAX)
        return err_set(err, E_PARSE, "indexes are nested too deeply");
    r = oci_index_parse(&p->arena, text, &index, err);
    for (size_t i = 0; r >= 0 && i < index.n; i++)
        r = push_child(p, &index.manifests[i], depth, err);
    return r < 0 ? r : put(p, text, OCI_DOCUMENT_INDEX, depth == 0, err);
}

/* Once for each digest: four small indexes can name one another more often than any disk holds. */
static int push_child(struct push *p, const struct oci_descriptor *d, unsigned depth,
                      struct err *err)
{
    struct str text;
    if (map_put(&p->documents, str_n(d->digest.bytes, sizeof d->digest.bytes), p))
        return 0;
    if (p->documents.n > OCI_PUSH_DOCUMENTS_MAX || arena_is_full(&p->arena))
        return err_set(err, E_LIMIT, "the image has more than %d manifests, or too large ones",
                       OCI_PUSH_DOCUMENTS_MAX);
    int r = oci_source_document(p->from, d, &text, err);
    return r < 0 ? r : push_document(p, text, depth + 1, err);
}

static int push_all(struct push *p, struct err *err)
{
    struct oci_descriptor root;
    struct str text;
    int r = oci_source_root(p->from, &root, &text, err);
    return r < 0 ? r : push_document(p, text, 0, err);
}

/* ---- images without a manifest ---- */

struct push_seen {
    struct sha256 *hash;
    uint64_t n;
    char first[4];
};

static int on_seen(void *arg, struct str bytes, struct err *err)
{
    struct push_seen *s = arg;
    (void)err;
    for (size_t i = 0; i < bytes.n && s->n + i < sizeof s->first; i++)
        s->first[s->n + i] = bytes.p[i];
    s->n += bytes.n;
    sha256_add(s->hash, bytes.p, bytes.n);
    return 0;
}

static struct str layer_type(const struct push_seen *s)
{
    if (s->n >= 2 && memcmp(s->first, "\x1f\x8b", 2) == 0)
        return STR("application/vnd.oci.image.layer.v1.tar+gzip");
    if (s->n >= 4 && memcmp(s->first, "\x28\xb5\x2f\xfd", 4) == 0)
        return STR("application/vnd.oci.image.layer.v1.tar+zstd");
    return STR("application/vnd.oci.image.layer.v1.tar");
}

/* The descriptor of a layer's bytes as stored in the archive. */
static int describe(struct push *p, const struct oci_descriptor *read, struct oci_descriptor *ret,
                    struct err *err)
{
    struct push_seen s = { .hash = sha256_new() };
    int r = oci_source_blob(p->from, read, on_seen, &s, err);
    *ret = (struct oci_descriptor){ .media_type = layer_type(&s), .size = s.n };
    sha256_end(s.hash, ret->digest.bytes);
    sha256_free(s.hash);
    return r;
}

static struct json *descriptor_json(struct arena *a, const struct oci_descriptor *d)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct json *v = json_new_object(a);
    oci_digest_format(&d->digest, text);
    json_set_str(a, v, "mediaType", d->media_type);
    json_set_str(a, v, "digest", str_of(text));
    json_set_int(a, v, "size", (int64_t)d->size);
    return v;
}

static int write_text(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    const struct str *text = arg;
    return sink(sink_arg, *text, err);
}

static int push_config(struct push *p, struct str text, struct oci_descriptor *ret, struct err *err)
{
    enum oci_pushed how;
    *ret = (struct oci_descriptor){ .media_type = STR("application/vnd.oci.image.config.v1+json"),
                                    .size = text.n };
    sha256_of(text, ret->digest.bytes);
    int r = oci_remote_push_blob(p->to, ret, NULL, write_text, &text, &how, err);
    if (r >= 0)
        count(p, ret, how);
    return r;
}

static int push_made(struct push *p, const struct oci_image *image, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_DOCUMENT_MAX);
    struct arena *a = &p->arena;
    struct json *doc = json_new_object(a), *layers = json_new_array(a);
    struct oci_descriptor config;
    for (size_t i = 0; i < image->manifest.n_layers; i++) {
        struct oci_descriptor *d = arena_new(a, struct oci_descriptor);
        int r = describe(p, &image->manifest.layers[i], d, err);
        r = r < 0 ? r : push_blob(p, &image->manifest.layers[i], d, err);
        if (r < 0)
            return err_ctx(err, r, "layer %zu", i);
        json_add(layers, descriptor_json(a, d));
    }
    int r = push_config(p, image->config_text, &config, err);
    if (r < 0)
        return r;
    json_set_int(a, doc, "schemaVersion", 2);
    json_set_str(a, doc, "mediaType", STR("application/vnd.oci.image.manifest.v1+json"));
    json_setc(a, doc, "config", descriptor_json(a, &config));
    json_setc(a, doc, "layers", layers);
    r = json_write(&text, doc);
    return r < 0 ? err_set(err, E_LIMIT, "the manifest is too large")
                 : put(p, buf_str(&text), OCI_DOCUMENT_MANIFEST, true, err);
}

/* ---- the whole ---- */

static int push_one(struct push *p, struct err *err)
{
    struct oci_image image;
    int r = oci_source_image(p->from, &p->opts->platform, &image, err);
    if (r < 0)
        return r;
    return image.manifest_text.n ? push_manifest(p, image.manifest_text, true, err)
                                 : push_made(p, &image, err);
}

int oci_push(struct oci_source *from, struct oci_remote *to, const struct oci_push_opts *opts,
             struct oci_push_result *ret, struct err *err)
{
    struct push p = { .from = from, .to = to, .opts = opts };
    p.arena.max_bytes = DOCUMENTS_MEMORY_MAX;
    const struct oci_reference *target = oci_remote_reference(to);
    const struct oci_reference *origin =
        oci_source_remote(from) ? oci_remote_reference(oci_source_remote(from)) : NULL;
    if (target->has_digest)
        return err_set(err, E_INVALID, "an image is pushed under a tag, not under a digest");
    if (origin && strcmp(origin->host, target->host) == 0 &&
        strcmp(origin->repository, target->repository) != 0)
        p.mount_from = origin->repository;
    int r = opts->all ? push_all(&p, err) : push_one(&p, err);
    map_fini(&p.done);
    map_fini(&p.documents);
    arena_fini(&p.arena);
    if (r >= 0)
        *ret = p.result;
    return r;
}
