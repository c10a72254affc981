/* SPDX-License-Identifier: Apache-2.0 */
#include "image/mirror_store.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/sys.h"
#include "codec/json.h"
#include "image/layer_rights.h"
#include "image/mirror_files.h"
#include "image/start_list.h"
#include "oci/refactored.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define TYPE_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define TYPE_INDEX    "application/vnd.oci.image.index.v1+json"
#define TYPE_CONFIG   "application/vnd.oci.image.config.v1+json"
#define TYPE_TAR      "application/vnd.oci.image.layer.v1.tar"
#define TYPE_BYTES    "application/octet-stream"

struct made {
    struct list node;
    struct oci_digest digest;
    char *text;
    size_t n;
};

struct mirror {
    struct oci_store *store;
    pthread_mutex_t mutex; /* of what follows */
    struct list made;      /* the last made is the first */
    size_t n_made;
    struct list kept; /* struct mirror_store_kept, the first due is the first */
    size_t n_kept;
    struct list answers; /* struct mirror_store_kept likewise, by the request */
    size_t n_answers;
    uint64_t n_answer_bytes;
};

/* A blob, or the text of a configuration, that a client is likely to ask for next. */
struct mirror_store_kept {
    struct list node;
    struct oci_digest digest;
    int fd; /* -1: a tar or a text */
    struct oci_store_tar *tar;
    char *text;
    size_t n;
    uint64_t until_ms;
};

struct mirror *mirror_new(struct oci_store *store)
{
    struct mirror *m = xnew(struct mirror);
    m->store = store;
    list_init(&m->made);
    list_init(&m->kept);
    list_init(&m->answers);
    (void)pthread_mutex_init(&m->mutex, NULL);
    return m;
}

static void made_free(struct made *k)
{
    list_remove(&k->node);
    free(k->text);
    free(k);
}

void mirror_free(struct mirror *m)
{
    if (!m)
        return;
    list_each_safe (node, &m->made)
        made_free(list_entry(node, struct made, node));
    (void)mirror_sweep(m, UINT64_MAX);
    (void)pthread_mutex_destroy(&m->mutex);
    free(m);
}

void mirror_found_fini(struct mirror_found *f)
{
    buf_fini(&f->body);
    if (f->fd >= 0)
        (void)close(f->fd);
    f->fd = -1;
    oci_store_tar_unref(f->tar);
    f->tar = NULL;
}

ssize_t mirror_found_read(const struct mirror_found *f, char *to, size_t n, uint64_t offset)
{
    return f->tar ? oci_store_tar_read(f->tar, to, n, offset, NULL)
                  : sys_pread_full(f->fd, to, n, offset);
}

static void set_type(struct mirror_found *f, struct str type)
{
    size_t n = MIN(type.n, (size_t)MIRROR_TYPE_MAX);
    memcpy(f->media_type, type.p, n);
    f->media_type[n] = '\0';
}

static int set_body(struct mirror_found *f, struct str text, struct str type,
                    const struct oci_digest *digest, struct err *err)
{
    if (buf_add_str(&f->body, text) < 0)
        return err_set(err, E_LIMIT, "the document is too large");
    f->size = text.n;
    f->digest = *digest;
    f->has_digest = true;
    set_type(f, type);
    return 0;
}

/* ---- manifests made here ---- */

static void keep_made(struct mirror *m, const struct oci_digest *digest, struct str text)
{
    (void)pthread_mutex_lock(&m->mutex);
    list_each_safe (node, &m->made) {
        struct made *k = list_entry(node, struct made, node);
        if (oci_digest_equal(&k->digest, digest)) {
            made_free(k);
            m->n_made--;
        }
    }
    if (m->n_made == MIRROR_MADE_MAX) {
        made_free(list_entry(m->made.prev, struct made, node));
        m->n_made--;
    }
    struct made *k = xnew(struct made);
    *k = (struct made){ .digest = *digest, .text = str_dup(text), .n = text.n };
    list_push_front(&m->made, &k->node);
    m->n_made++;
    (void)pthread_mutex_unlock(&m->mutex);
}

static bool find_made(struct mirror *m, const struct oci_digest *digest, struct mirror_found *f)
{
    bool found = false;
    (void)pthread_mutex_lock(&m->mutex);
    list_each (node, &m->made) {
        struct made *k = list_entry(node, struct made, node);
        if (!oci_digest_equal(&k->digest, digest))
            continue;
        found = set_body(f, str_n(k->text, k->n), STR(TYPE_MANIFEST), digest, NULL) >= 0;
        break;
    }
    (void)pthread_mutex_unlock(&m->mutex);
    return found;
}

static void add_descriptor(struct arena *a, struct json *v, const char *type,
                           const struct oci_digest *d, uint64_t size)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(d, text);
    json_set_str(a, v, "mediaType", str_of(type));
    json_set_str(a, v, "digest", str_of(text));
    json_set_int(a, v, "size", (int64_t)size);
}

/* What a tenant's credentials brought is not for all. */
static bool may_have(struct mirror *m, const struct oci_digest *d, bool is_entitled)
{
    return is_entitled || layer_rights_is_public(m->store, d);
}

/* The size of a layer's tar; -ENOENT: it is not here, or only its blob is, or it is private. */
static int tar_size(struct mirror *m, const struct oci_digest *diff_id, uint64_t *ret)
{
    int r =
        may_have(m, diff_id, false) ? oci_store_tar_bytes(m->store, diff_id, ret, NULL) : -ENOENT;
    return r == -ENODATA ? -ENOENT : r;
}

static int make_manifest(struct mirror *m, struct arena *a, const struct oci_manifest *doc,
                         const struct oci_config *c, struct mirror_found *f, struct err *err)
{
    struct oci_digest digest;
    struct json *v = json_new_object(a), *layers = json_new_array(a);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(MIRROR_BODY_MAX);
    json_set_int(a, v, "schemaVersion", 2);
    json_set_str(a, v, "mediaType", STR(TYPE_MANIFEST));
    add_descriptor(a, json_obj(a, v, "config"), TYPE_CONFIG, &doc->config.digest, doc->config.size);
    for (size_t i = 0; i < c->n_diff_ids; i++) {
        uint64_t n;
        int r = tar_size(m, &c->diff_ids[i], &n);
        if (r < 0)
            return r == -ENOENT ? err_set(err, r, "layers of the image are missing")
                                : err_sys(err, r, "layer");
        struct json *l = json_new_object(a);
        add_descriptor(a, l, TYPE_TAR, &c->diff_ids[i], n);
        json_add(layers, l);
    }
    json_setc(a, v, "layers", layers);
    if (json_write(&text, v) < 0)
        return err_set(err, E_LIMIT, "the manifest is too large");
    sha256_of(buf_str(&text), digest.bytes);
    keep_made(m, &digest, buf_str(&text));
    return set_body(f, buf_str(&text), STR(TYPE_MANIFEST), &digest, err);
}

/* ---- what belongs to a manifest that was served ---- */

static void kept_free(struct mirror *m, struct mirror_store_kept *k)
{
    list_remove(&k->node);
    m->n_kept--;
    if (k->fd >= 0)
        (void)close(k->fd);
    oci_store_tar_unref(k->tar);
    free(k->text);
    free(k);
}

static void answer_free(struct mirror *m, struct mirror_store_kept *k)
{
    list_remove(&k->node);
    m->n_answers--;
    m->n_answer_bytes -= k->n;
    (void)close(k->fd);
    free(k);
}

uint64_t mirror_sweep(struct mirror *m, uint64_t now_ms)
{
    uint64_t next = UINT64_MAX;
    (void)pthread_mutex_lock(&m->mutex);
    list_each_safe (node, &m->kept) {
        struct mirror_store_kept *k = list_entry(node, struct mirror_store_kept, node);
        if (k->until_ms > now_ms) {
            next = k->until_ms;
            break;
        }
        kept_free(m, k);
    }
    list_each_safe (node, &m->answers) {
        struct mirror_store_kept *k = list_entry(node, struct mirror_store_kept, node);
        if (k->until_ms > now_ms) {
            next = MIN(next, k->until_ms);
            break;
        }
        answer_free(m, k);
    }
    (void)pthread_mutex_unlock(&m->mutex);
    return next;
}

/* With the mutex held. */
static struct mirror_store_kept *find_in(const struct list *l, const struct oci_digest *d)
{
    list_each (node, l)
        if (oci_digest_equal(&list_entry(node, struct mirror_store_kept, node)->digest, d))
            return list_entry(node, struct mirror_store_kept, node);
    return NULL;
}

/* Something open, or a text. k: taken. */
static void keep(struct mirror *m, const struct mirror_store_kept *from)
{
    struct mirror_store_kept *k = xnew(struct mirror_store_kept);
    const struct oci_digest *d = &from->digest;
    *k = *from;
    k->until_ms = clock_mono_ms() + MIRROR_KEEP_MS;
    (void)pthread_mutex_lock(&m->mutex);
    struct mirror_store_kept *old = find_in(&m->kept, d);
    if (old)
        kept_free(m, old);
    else if (m->n_kept == MIRROR_KEPT_MAX)
        kept_free(m, list_first(&m->kept, struct mirror_store_kept, node));
    list_push_back(&m->kept, &k->node);
    m->n_kept++;
    (void)pthread_mutex_unlock(&m->mutex);
}

/* ---- blobs ---- */

/* A file, or the tar of a layer whose files are objects. */
struct opened {
    int fd; /* -1: the tar */
    struct oci_store_tar *tar;
};

static void opened_fini(struct opened *o)
{
    fd_scoped(&o->fd);
    oci_store_tar_unref(o->tar);
}

static int open_kept(struct mirror *m, const struct oci_digest *d, struct opened *ret)
{
    struct opened o = { .fd = -1 };
    (void)pthread_mutex_lock(&m->mutex);
    struct mirror_store_kept *k = find_in(&m->kept, d);
    if (k && k->fd >= 0)
        o.fd = fcntl(k->fd, F_DUPFD_CLOEXEC, 0);
    else if (k && k->tar)
        o.tar = oci_store_tar_ref(k->tar);
    (void)pthread_mutex_unlock(&m->mutex);
    if (o.fd < 0 && !o.tar)
        return -ENOENT;
    *ret = o;
    return 0;
}

static bool find_kept_text(struct mirror *m, const struct oci_digest *d, struct mirror_found *f)
{
    (void)pthread_mutex_lock(&m->mutex);
    struct mirror_store_kept *k = find_in(&m->kept, d);
    bool found = k && k->text && set_body(f, str_n(k->text, k->n), STR(TYPE_BYTES), d, NULL) >= 0;
    (void)pthread_mutex_unlock(&m->mutex);
    return found;
}

static int open_tar(struct mirror *m, const struct oci_digest *diff_id, struct opened *ret)
{
    struct opened o = { .fd = oci_store_layer_fd(m->store, diff_id, NULL) };
    int r = o.fd == -ENODATA ? open_kept(m, diff_id, &o) : MIN(o.fd, 0);
    if (r == -ENOENT && o.fd == -ENODATA) {
        o.fd = -1;
        r = oci_store_tar_open(m->store, diff_id, &o.tar, NULL);
    }
    if (r >= 0)
        *ret = o;
    return r == -ENODATA ? -ENOENT : r;
}

/* A compressed blob, or the tar of a layer. -ENOENT: there is none that the client may have. */
static int open_blob(struct mirror *m, const struct oci_digest *d, bool is_entitled,
                     struct opened *ret)
{
    struct oci_digest diff_id;
    struct opened o = { .fd = -1 };
    int r = oci_store_layer_of_blob(m->store, d, &diff_id, NULL);
    if (r >= 0)
        r = may_have(m, &diff_id, is_entitled) ? MIN(o.fd = oci_store_blob_fd(m->store, d, NULL), 0)
                                               : -ENOENT;
    else if (r == -ENOENT && may_have(m, d, is_entitled))
        r = open_tar(m, d, &o);
    if (r == -ENOENT) /* it was public and was removed since */
        return open_kept(m, d, ret);
    if (r >= 0)
        *ret = o;
    return r;
}

static void keep_parts(struct mirror *m, struct arena *a, struct str manifest)
{
    struct str text;
    struct oci_manifest doc;
    if (oci_manifest_parse(a, manifest, &doc, NULL) < 0)
        return;
    struct mirror_store_kept k = { .digest = doc.config.digest, .fd = -1 };
    if (may_have(m, &k.digest, false) &&
        oci_store_document(m->store, &k.digest, a, &text, NULL) >= 0) {
        k.text = str_dup(text);
        k.n = text.n;
        keep(m, &k);
    }
    for (size_t i = 0; i < MIN(doc.n_layers, (size_t)MIRROR_KEPT_MAX); i++) {
        struct opened o;
        const struct oci_digest *d = &doc.layers[i].digest;
        if (open_blob(m, d, false, &o) >= 0)
            keep(m, &(struct mirror_store_kept){ .digest = *d, .fd = o.fd, .tar = o.tar });
    }
}

/* 0, or -ENOENT: one is missing. */
static int has_blobs(struct mirror *m, const struct oci_manifest *doc, struct err *err)
{
    for (size_t i = 0; i < doc->n_layers; i++) {
        struct opened o;
        int r = open_blob(m, &doc->layers[i].digest, false, &o);
        if (r == -ENOENT)
            return err_set(err, r, "the store does not have the blobs of this image's layers");
        if (r < 0)
            return err_sys(err, r, "blob");
        opened_fini(&o);
    }
    return 0;
}

/* A document that all may have. */
static int get_document(struct mirror *m, struct arena *a, const struct oci_digest *d,
                        struct str *ret, struct err *err)
{
    if (!may_have(m, d, false))
        return err_set(err, -ENOENT, "the store has no such document");
    return oci_store_document(m->store, d, a, ret, err);
}

static int find_blob(struct mirror *m, const struct mirror_request *q, struct mirror_found *f,
                     struct err *err)
{
    struct stat st;
    struct str text;
    struct opened o;
    struct arena a = { 0 };
    int r = open_blob(m, &q->digest, q->is_entitled, &o);
    if (r >= 0) {
        f->fd = o.fd;
        f->tar = o.tar;
        if (!f->tar && fstat(f->fd, &st) < 0)
            return err_sys(err, -errno, "blob");
        f->size = f->tar ? oci_store_tar_size(f->tar) : (uint64_t)st.st_size;
        f->digest = q->digest;
        f->has_digest = true;
        set_type(f, STR(TYPE_BYTES));
        return 0;
    }
    if (r != -ENOENT)
        return err_sys(err, r, "blob");
    r = get_document(m, &a, &q->digest, &text, err);
    if (r >= 0)
        r = set_body(f, text, STR(TYPE_BYTES), &q->digest, err);
    else if (find_kept_text(m, &q->digest, f))
        r = 0;
    else if (r == -ENOENT)
        r = err_set(err, r, "the store has no such blob");
    arena_fini(&a);
    return r;
}

/* ---- manifests ---- */

static struct str type_of(struct arena *a, struct str text, enum oci_document kind)
{
    struct json *v;
    struct str type = STR_NULL;
    if (json_parse(a, text, NULL, &v, NULL) >= 0)
        type = json_get_str(v, "mediaType");
    if (type.n && type.n <= MIRROR_TYPE_MAX)
        return type;
    return kind == OCI_DOCUMENT_INDEX ? STR(TYPE_INDEX) : STR(TYPE_MANIFEST);
}

/* A document; if it is a manifest, the store must have its layers as it describes them. */
static int find_document(struct mirror *m, struct arena *a, const struct oci_digest *d,
                         struct mirror_found *f, struct err *err)
{
    struct str text;
    struct oci_manifest doc;
    enum oci_document kind;
    int r = get_document(m, a, d, &text, err);
    r = r < 0 ? r : oci_document_kind(a, text, &kind, err);
    if (r == E_PARSE || r == E_UNSUPPORTED) /* a configuration */
        return err_set(err, -ENOENT, "the store has no such manifest");
    if (r >= 0 && kind == OCI_DOCUMENT_MANIFEST)
        r = oci_manifest_parse(a, text, &doc, err);
    if (r >= 0 && kind == OCI_DOCUMENT_MANIFEST)
        r = has_blobs(m, &doc, err);
    return r < 0 ? r : set_body(f, text, type_of(a, text, kind), d, err);
}

static int get_image(struct mirror *m, struct arena *a, const struct mirror_request *q,
                     struct oci_store_image *ret, struct err *err)
{
    const char *as_asked =
        arena_printf(a, "%s%s%s:%s", q->host, q->host[0] ? "/" : "", q->repository, q->tag);
    int r = oci_store_image_get(m->store, str_of(as_asked), a, ret, err);
    if (r != -ENOENT)
        return r;
    scoped(free_scoped) char *name = mirror_request_name(q, q->tag);
    if (!name)
        return r;
    return oci_store_image_get(m->store, str_copy_arena(a, str_of(name)), a, ret, err);
}

static bool is_refactored(struct mirror *m, struct arena *a, const struct oci_digest *manifest)
{
    struct str text;
    struct json *doc;
    struct oci_digest original;
    return oci_store_document(m->store, manifest, a, &text, NULL) >= 0 &&
           json_parse(a, text, NULL, &doc, NULL) >= 0 && oci_refactored_source(doc, &original);
}

static int find_tag(struct mirror *m, struct arena *a, const struct mirror_request *q,
                    bool accepts_index, struct mirror_found *f, struct err *err)
{
    struct oci_store_image image;
    struct oci_manifest doc;
    struct oci_config config;
    static const struct oci_digest none;
    int r = get_image(m, a, q, &image, err);
    r = r < 0 ? r : oci_store_image_load(m->store, &image.manifest, a, &doc, &config, err);
    if (r < 0)
        return r;
    if (!may_have(m, &image.manifest, false) || !may_have(m, &doc.config.digest, false))
        return err_set(err, -ENOENT, "the store has no such image");
    f->stored = image.manifest;
    f->is_refactored = is_refactored(m, a, &image.manifest);
    struct err why = { 0 };
    r = has_blobs(m, &doc, &why);
    if (r == -ENOENT)
        return make_manifest(m, a, &doc, &config, f, err);
    if (r < 0)
        return err_set(err, r, "%s", err_text(&why));
    if (accepts_index && !oci_digest_equal(&image.index, &none)) {
        r = find_document(m, a, &image.index, f, &why);
        if (r >= 0 || (r != -ENOENT && r != E_CORRUPT))
            return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
    }
    return find_document(m, a, &image.manifest, f, err);
}

static int find_manifest(struct mirror *m, const struct mirror_request *q, bool accepts_index,
                         struct mirror_found *f, struct err *err)
{
    struct arena a = { 0 };
    int r;
    if (q->tag[0])
        r = find_tag(m, &a, q, accepts_index, f, err);
    else
        r = find_made(m, &q->digest, f) ? 0 : find_document(m, &a, &q->digest, f, err);
    if (r >= 0 && strcmp(f->media_type, TYPE_INDEX) != 0)
        keep_parts(m, &a, buf_str(&f->body));
    arena_fini(&a);
    return r == -ENOENT && err && !err->text[0] ? err_set(err, r, "no such manifest") : r;
}

/* ---- tags and referrers ---- */

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* The tags of names in this repository, sorted. In the arena. */
static int list_tags(struct mirror *m, struct arena *a, const char *repository, struct str **ret,
                     size_t *ret_n, struct err *err)
{
    struct oci_store_image *all;
    size_t n, n_damaged, at = 0;
    int r = oci_store_images(m->store, a, &all, &n, &n_damaged, err);
    if (r < 0)
        return r;
    struct str *tags = arena_new_n(a, struct str, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct oci_reference ref;
        if (oci_reference_parse(all[i].name, &ref, NULL) < 0 || !ref.tag[0])
            continue;
        if (strcmp(arena_printf(a, "%s/%s", ref.host, ref.repository), repository) == 0)
            tags[at++] = str_copy_arena(a, str_of(ref.tag));
    }
    if (at)
        qsort(tags, at, sizeof *tags, by_text);
    *ret = tags;
    *ret_n = at;
    return 0;
}

static int write_tags(const struct mirror_request *q, struct arena *a, const struct str *tags,
                      size_t n, struct mirror_found *f)
{
    uint64_t left = q->n;
    struct str last = STR("");
    struct json *v = json_new_object(a), *list = json_new_array(a);
    json_set_str(a, v, "name", str_of(q->repository));
    for (size_t i = 0; i < n; i++) {
        if (str_cmp(tags[i], str_of(q->last)) <= 0 || (i && str_eq(tags[i], tags[i - 1])))
            continue;
        if (left-- == 0) {
            memcpy(f->next, last.p, MIN(last.n, (size_t)OCI_TAG_MAX));
            break;
        }
        last = tags[i];
        json_add(list, json_new_str(a, tags[i]));
    }
    json_setc(a, v, "tags", list);
    return json_write(&f->body, v);
}

static int find_tags(struct mirror *m, const struct mirror_request *q, struct mirror_found *f,
                     struct err *err)
{
    struct arena a = { 0 };
    struct str *tags;
    size_t n = 0;
    scoped(free_scoped) char *repository = mirror_request_name(q, "");
    int r = repository ? list_tags(m, &a, repository, &tags, &n, err) : 0;
    if (r >= 0 && n == 0)
        r = err_set(err, -ENOENT, "the store has no image of this repository");
    r = r < 0 ? r : write_tags(q, &a, tags, n, f);
    f->size = f->body.n;
    set_type(f, STR("application/json"));
    arena_fini(&a);
    return r;
}

static int find_referrers(struct mirror_found *f)
{
    set_type(f, STR(TYPE_INDEX));
    (void)buf_add_cstr(&f->body,
                       "{\"schemaVersion\":2,\"mediaType\":\"" TYPE_INDEX "\",\"manifests\":[]}");
    f->size = f->body.n;
    return 0;
}

/* ---- trees and files ---- */

/* Under which the answer is kept: nodes that update one image alike ask for the same. */
static struct oci_digest answer_key(const struct mirror_request *q)
{
    static const char words[] = "answer of dormouse";
    struct oci_digest key;
    struct sha256 *h = sha256_new();
    sha256_add(h, words, sizeof words);
    sha256_add(h, q->kind == MIRROR_TREE ? "t" : "f", 1);
    if (q->kind == MIRROR_TREE)
        sha256_add(h, q->digest.bytes, sizeof q->digest.bytes);
    else
        sha256_add(h, q->body.p, q->body.n);
    sha256_end(h, key.bytes);
    sha256_free(h);
    return key;
}

static int open_answer(struct mirror *m, const struct oci_digest *key, uint64_t *ret_size)
{
    (void)pthread_mutex_lock(&m->mutex);
    struct mirror_store_kept *k = find_in(&m->answers, key);
    int fd = k ? fcntl(k->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd >= 0)
        *ret_size = k->n;
    (void)pthread_mutex_unlock(&m->mutex);
    return fd;
}

/* fd: is not taken. */
static void keep_answer(struct mirror *m, const struct oci_digest *key, int fd, uint64_t size)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return;
    struct mirror_store_kept *k = xnew(struct mirror_store_kept);
    *k = (struct mirror_store_kept){
        .digest = *key, .fd = own, .n = size, .until_ms = clock_mono_ms() + MIRROR_KEEP_MS
    };
    (void)pthread_mutex_lock(&m->mutex);
    struct mirror_store_kept *old = find_in(&m->answers, key);
    if (old)
        answer_free(m, old);
    while (m->n_answers && (m->n_answers == MIRROR_ANSWERS_MAX ||
                            m->n_answer_bytes + size > MIRROR_ANSWERS_BYTES_MAX))
        answer_free(m, list_first(&m->answers, struct mirror_store_kept, node));
    list_push_back(&m->answers, &k->node);
    m->n_answers++;
    m->n_answer_bytes += size;
    (void)pthread_mutex_unlock(&m->mutex);
}

static int find_answer(struct mirror *m, const struct mirror_request *q, struct mirror_found *f,
                       struct err *err)
{
    struct oci_digest key = answer_key(q);
    set_type(f, STR(TYPE_BYTES));
    f->fd = open_answer(m, &key, &f->size);
    if (f->fd >= 0)
        return 0;
    int r = q->kind == MIRROR_TREE ? mirror_files_tree(m->store, &q->digest, &f->fd, &f->size, err)
                                   : mirror_files_parcel(m->store, q->body, &f->fd, &f->size, err);
    if (r >= 0)
        keep_answer(m, &key, f->fd, f->size);
    return r;
}

/* ---- starts ---- */

/* Of an image whose configuration and layers are public. */
static int find_start(struct mirror *m, const struct mirror_request *q, struct mirror_found *f,
                      struct err *err)
{
    struct str text;
    struct oci_config config;
    struct arena a = { 0 };
    int r = get_document(m, &a, &q->digest, &text, err);
    if (r >= 0 && oci_config_parse(&a, text, &config, NULL) < 0)
        r = err_set(err, -ENOENT, "the store has no such configuration"); /* but a manifest */
    for (size_t i = 0; r >= 0 && i < config.n_diff_ids; i++)
        if (!layer_rights_is_public(m->store, &config.diff_ids[i]))
            r = err_set(err, -ENOENT, "the store has no such image");
    r = r < 0 ? r : start_list_get(m->store, &q->digest, &f->body, err);
    set_type(f, STR("text/plain"));
    f->size = f->body.n;
    arena_fini(&a);
    return r;
}

int mirror_find(struct mirror *m, const struct mirror_request *q, bool accepts_index,
                struct mirror_found *ret, struct err *err)
{
    struct mirror_found f = { .body = BUF_INIT(MIRROR_BODY_MAX), .fd = -1 };
    int r = 0;
    switch (q->kind) {
    case MIRROR_ROOT:
        (void)buf_add_cstr(&f.body, "{}");
        f.size = f.body.n;
        set_type(&f, STR("application/json"));
        break;
    case MIRROR_MANIFEST:
        r = find_manifest(m, q, accepts_index, &f, err);
        break;
    case MIRROR_BLOB:
        r = find_blob(m, q, &f, err);
        break;
    case MIRROR_TAGS:
        r = find_tags(m, q, &f, err);
        break;
    case MIRROR_REFERRERS:
        r = find_referrers(&f);
        break;
    case MIRROR_START:
        r = find_start(m, q, &f, err);
        break;
    case MIRROR_TREE:
    case MIRROR_FILES:
        r = find_answer(m, q, &f, err);
        break;
    }
    if (r < 0) {
        mirror_found_fini(&f);
        return r;
    }
    *ret = f;
    return 0;
}
