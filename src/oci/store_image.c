/* SPDX-License-Identifier: Apache-2.0 */
/* Documents, names of images, leases. */
#include "oci/store_int.h"

#include "base/buf.h"
#include "base/clock.h"
#include "codec/json.h"
#include "oci/reference.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEX_DIGITS_MIN = 12 };

/* ---- documents ---- */

int oci_store_document_put(struct oci_store *s, const struct oci_digest *d, struct str text,
                           struct err *err)
{
    struct oci_digest is;
    struct stat st;
    struct store_path path = store_path_of("meta/documents", d, NULL);
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    if (text.n > OCI_DOCUMENT_MAX)
        return err_set(err, E_LIMIT, "a document has more than %d bytes", OCI_DOCUMENT_MAX);
    sha256_of(text, is.bytes);
    if (!oci_digest_equal(&is, d))
        return err_set(err, E_DIGEST, "a document is not what its digest says");
    /* One that is there is replaced, should it be damaged; the same bytes cost a read only. */
    struct arena a = { 0 };
    struct str old;
    r = fstatat(s->fd, path.p, &st, 0) == 0 ? oci_store_document(s, d, &a, &old, NULL) : -ENOENT;
    arena_fini(&a);
    return r >= 0 ? 0 : store_put_new(s, path.p, text, err);
}

bool oci_store_document_has(struct oci_store *s, const struct oci_digest *d)
{
    return faccessat(s->fd, store_path_of("meta/documents", d, NULL).p, F_OK, 0) == 0;
}

int oci_store_document(struct oci_store *s, const struct oci_digest *d, struct arena *a,
                       struct str *ret, struct err *err)
{
    struct oci_digest is;
    struct store_path path = store_path_of("meta/documents", d, NULL);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_DOCUMENT_MAX);
    int r = sys_read_file(s->fd, path.p, &b, err);
    if (r < 0)
        return r == -EMSGSIZE ? err_set(err, E_CORRUPT, "document '%s' is damaged", path.p) : r;
    sha256_of(buf_str(&b), is.bytes);
    if (!oci_digest_equal(&is, d))
        return err_set(err, E_CORRUPT, "document '%s' is damaged", path.p);
    *ret = str_copy_arena(a, buf_str(&b));
    return 0;
}

int oci_store_image_load(struct oci_store *s, const struct oci_digest *manifest, struct arena *a,
                         struct oci_manifest *ret_manifest, struct oci_config *ret_config,
                         struct err *err)
{
    struct str text;
    struct oci_manifest m;
    struct oci_config c;
    int r = oci_store_document(s, manifest, a, &text, err);
    r = r < 0 ? r : oci_manifest_parse(a, text, &m, err);
    r = r < 0 ? r : oci_store_document(s, &m.config.digest, a, &text, err);
    r = r < 0 ? r : oci_config_parse(a, text, &c, err);
    if (r < 0)
        return r;
    if (c.n_diff_ids != m.n_layers)
        return err_set(err, E_PARSE, "the manifest has %zu layers, its configuration %zu",
                       m.n_layers, c.n_diff_ids);
    *ret_manifest = m;
    *ret_config = c;
    return 0;
}

int oci_store_image_missing(struct oci_store *s, const struct oci_digest *manifest, size_t *ret,
                            struct err *err)
{
    struct arena a = { 0 };
    struct oci_manifest m;
    struct oci_config c;
    int r = oci_store_image_load(s, manifest, &a, &m, &c, err);
    size_t n = 0;
    for (size_t i = 0; r >= 0 && i < c.n_diff_ids; i++)
        n += !oci_store_layer_has(s, &c.diff_ids[i]);
    arena_fini(&a);
    if (r >= 0)
        *ret = n;
    return r;
}

void oci_store_image_touch(struct oci_store *s, const struct oci_config *config)
{
    struct map seen = { 0 };
    for (size_t i = 0; i < config->n_diff_ids; i++)
        if (!map_put(&seen, store_key(&config->diff_ids[i]), s) &&
            oci_store_layer_has(s, &config->diff_ids[i]))
            oci_store_layer_touch(s, &config->diff_ids[i]);
    map_fini(&seen);
}

/* An image whose parts are held, so that gc and eviction leave them until a reference is written.
 */
struct whole {
    struct oci_digest manifest;
    struct oci_manifest m;
    struct oci_config c;
    struct arena a;
};

static void whole_each(struct oci_store *s, const struct whole *w,
                       void (*f)(struct oci_store *s, const struct oci_digest *d))
{
    f(s, &w->manifest);
    f(s, &w->m.config.digest);
    for (size_t i = 0; i < w->c.n_diff_ids; i++)
        f(s, &w->c.diff_ids[i]);
}

static void whole_release(struct oci_store *s, struct whole *w)
{
    whole_each(s, w, oci_store_release);
    arena_fini(&w->a);
}

/* On success whole_release(). */
static int whole_hold(struct oci_store *s, const struct oci_digest *manifest, struct whole *w,
                      struct err *err)
{
    size_t n = 0;
    *w = (struct whole){ .manifest = *manifest };
    int r = oci_store_image_load(s, manifest, &w->a, &w->m, &w->c, err);
    if (r < 0) {
        arena_fini(&w->a);
        return r;
    }
    whole_each(s, w, oci_store_hold);
    r = oci_store_image_missing(s, manifest, &n, err);
    if (r >= 0 && n)
        r = err_set(err, -ENOENT, "the image is not whole: %zu of its layers %s missing", n,
                    n == 1 ? "is" : "are");
    if (r < 0)
        whole_release(s, w);
    return r;
}

/* ---- records: small JSON objects in files that are named by the hash of a text ---- */

static struct store_path record_path(const char *dir, struct str key)
{
    struct oci_digest d;
    sha256_of(key, d.bytes);
    return store_path_of(dir, &d, NULL);
}

static int put_record(struct oci_store *s, const char *dir, struct str key, const struct json *v,
                      bool is_synced, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(STORE_RECORD_MAX);
    int r = json_write(&b, v);
    r = r < 0 ? r : buf_add_char(&b, '\n');
    if (r < 0)
        return err_sys(err, r, "record");
    struct store_path path = record_path(dir, key);
    r = is_synced ? store_put_file(s, path.p, buf_str(&b), err)
                  : store_put_new(s, path.p, buf_str(&b), err);
    (void)pthread_mutex_lock(&s->mutex);
    s->n_references++; /* after a failed sync as well: it may be there */
    (void)pthread_mutex_unlock(&s->mutex);
    return r;
}

/* The record in dir/file; its member `key` has to be what the file is named by. */
static int read_record(struct oci_store *s, const char *dir, const char *file, const char *key,
                       struct arena *a, struct json **ret, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", dir, file);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(STORE_RECORD_MAX);
    struct json *v = NULL;
    int r = sys_read_file(s->fd, path, &b, err);
    if (r < 0 && r != -EMSGSIZE)
        return r;
    if (r >= 0)
        r = json_parse(a, str_copy_arena(a, buf_str(&b)), NULL, &v, NULL);
    if (r < 0 || strcmp(record_path(dir, json_get_str(v, key)).p, path) != 0)
        return err_set(err, E_CORRUPT, "'%s' is damaged", path);
    *ret = v;
    return 0;
}

static void set_digest(struct arena *a, struct json *v, const char *key, const struct oci_digest *d)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    static const struct oci_digest none;
    if (oci_digest_equal(d, &none))
        return;
    oci_digest_format(d, text);
    json_set_str(a, v, key, str_of(text));
}

/* ---- names ---- */

static int check_name(struct str name, struct err *err)
{
    if (name.n == 0 || name.n > OCI_STORE_NAME_MAX || !str_is_utf8(name))
        return err_set(err, E_INVALID, "the name of an image has 1 to %d bytes of UTF-8",
                       OCI_STORE_NAME_MAX);
    for (size_t i = 0; i < name.n; i++)
        if ((uint8_t)name.p[i] <= ' ' || name.p[i] == 0x7f)
            return err_set(err, E_INVALID, "the name of an image has no blanks");
    return 0;
}

/* With the mutex of names held. */
static int put_image(struct oci_store *s, const struct oci_store_image *image, struct err *err)
{
    struct whole w;
    int r = store_must_write(s, err);
    r = r < 0 ? r : check_name(image->name, err);
    r = r < 0 ? r : whole_hold(s, &image->manifest, &w, err);
    if (r < 0)
        return r;
    struct json *v = json_new_object(&w.a);
    json_set_str(&w.a, v, "name", image->name);
    set_digest(&w.a, v, "manifest", &image->manifest);
    set_digest(&w.a, v, "index", &image->index);
    json_set_str(&w.a, v, "platform", image->platform);
    json_set_int(&w.a, v, "pulledAt", image->pulled_wall_s);
    json_set_bool(&w.a, v, "pinned", image->is_pinned);
    r = s->opts.is_not_durable ? 0 : store_sync_layers(s, err);
    r = r < 0 ? r : put_record(s, "refs", image->name, v, false, err);
    whole_release(s, &w);
    return r;
}

int oci_store_image_put(struct oci_store *s, const struct oci_store_image *image, struct err *err)
{
    (void)pthread_mutex_lock(&s->names);
    int r = put_image(s, image, err);
    (void)pthread_mutex_unlock(&s->names);
    return r;
}

int store_read_image(struct oci_store *s, const char *file, struct arena *a,
                     struct oci_store_image *ret, struct err *err)
{
    struct json *v;
    struct oci_store_image image = { 0 };
    int r = read_record(s, "refs", file, "name", a, &v, err);
    if (r < 0)
        return r;
    struct str index = json_get_str(v, "index");
    image.name = json_get_str(v, "name");
    image.platform = json_get_str(v, "platform");
    image.pulled_wall_s = json_int_or(json_getc(v, "pulledAt"), 0);
    image.is_pinned = json_bool(json_getc(v, "pinned"));
    if (oci_digest_parse(json_get_str(v, "manifest"), &image.manifest, NULL) < 0 ||
        (index.n && oci_digest_parse(index, &image.index, NULL) < 0))
        return err_set(err, E_CORRUPT, "'refs/%s' is damaged", file);
    *ret = image;
    return 0;
}

int oci_store_image_get(struct oci_store *s, struct str name, struct arena *a,
                        struct oci_store_image *ret, struct err *err)
{
    struct store_path path = record_path("refs", name);
    struct err why = { 0 };
    int r = store_read_image(s, path.p + strlen("refs/"), a, ret, &why);
    if (r == -ENOENT)
        return err_set(err, r, "the store has no image '" STR_FMT "'", STR_ARG(name));
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}

/* With the mutex of names held. The image of the name; E_CONFLICT: it is not `manifest`. */
static int get_if(struct oci_store *s, struct str name, const struct oci_digest *manifest,
                  struct arena *a, struct oci_store_image *ret, struct err *err)
{
    int r = oci_store_image_get(s, name, a, ret, err);
    if (r >= 0 && manifest && !oci_digest_equal(&ret->manifest, manifest))
        return err_set(err, E_CONFLICT, "the name '" STR_FMT "' stands for another image by now",
                       STR_ARG(name));
    return r;
}

static int remove_image(struct oci_store *s, struct str name, const struct oci_digest *manifest,
                        struct err *err)
{
    struct arena a = { 0 };
    struct oci_store_image is;
    struct store_path path = record_path("refs", name);
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&s->names);
    r = manifest ? get_if(s, name, manifest, &a, &is, err) : 0;
    int removed = r < 0 ? 0 : sys_unlinkat(s->fd, path.p, 0);
    (void)pthread_mutex_unlock(&s->names);
    arena_fini(&a);
    if (r < 0)
        return r;
    if (removed == -ENOENT)
        return err_set(err, -ENOENT, "the store has no image '" STR_FMT "'", STR_ARG(name));
    return removed < 0 ? err_sys(err, removed, "remove '%s'", path.p)
                       : store_sync_dir(s, "refs", err);
}

int oci_store_image_remove(struct oci_store *s, struct str name, struct err *err)
{
    return remove_image(s, name, NULL, err);
}

int oci_store_image_remove_if(struct oci_store *s, struct str name,
                              const struct oci_digest *manifest, struct err *err)
{
    return remove_image(s, name, manifest, err);
}

int oci_store_image_move(struct oci_store *s, const struct oci_store_image *image, struct err *err)
{
    struct arena a = { 0 };
    struct oci_store_image old, as = *image;
    (void)pthread_mutex_lock(&s->names);
    as.is_pinned |= oci_store_image_get(s, image->name, &a, &old, NULL) >= 0 && old.is_pinned;
    int r = put_image(s, &as, err);
    (void)pthread_mutex_unlock(&s->names);
    arena_fini(&a);
    return r;
}

static int pin_image(struct oci_store *s, struct str name, const struct oci_digest *manifest,
                     bool is_pinned, struct err *err)
{
    struct arena a = { 0 };
    struct oci_store_image image;
    (void)pthread_mutex_lock(&s->names);
    int r = get_if(s, name, manifest, &a, &image, err);
    image.is_pinned = is_pinned;
    r = r < 0 ? r : put_image(s, &image, err);
    (void)pthread_mutex_unlock(&s->names);
    arena_fini(&a);
    return r;
}

int oci_store_image_pin(struct oci_store *s, struct str name, bool is_pinned, struct err *err)
{
    return pin_image(s, name, NULL, is_pinned, err);
}

int oci_store_image_pin_if(struct oci_store *s, struct str name, const struct oci_digest *manifest,
                           bool is_pinned, struct err *err)
{
    return pin_image(s, name, manifest, is_pinned, err);
}

struct store_image_images {
    struct oci_store *s;
    struct arena *a;
    VEC(struct oci_store_image) all;
    size_t n_damaged;
};

static int add_image(void *arg, const char *name, struct err *err)
{
    struct store_image_images *l = arg;
    struct oci_store_image image;
    if (l->all.n >= OCI_STORE_IMAGES_MAX)
        return err_set(err, E_LIMIT, "the store has more than %d images", OCI_STORE_IMAGES_MAX);
    int r = store_read_image(l->s, name, l->a, &image, NULL);
    if (r == -ENOENT) /* removed since */
        return 0;
    if (r < 0)
        l->n_damaged++;
    else
        vec_push(&l->all, image);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct oci_store_image *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

int oci_store_images(struct oci_store *s, struct arena *a, struct oci_store_image **ret,
                     size_t *ret_n, size_t *ret_damaged, struct err *err)
{
    struct store_image_images l = { .s = s, .a = a };
    int r = store_each(s, "refs", add_image, &l, err);
    if (r >= 0) {
        *ret_n = l.all.n;
        *ret_damaged = l.n_damaged;
        *ret = arena_new_n(a, struct oci_store_image, l.all.n + 1);
        if (l.all.n) {
            memcpy(*ret, l.all.p, l.all.n * sizeof *l.all.p);
            qsort(*ret, l.all.n, sizeof **ret, by_name);
        }
    }
    vec_fini(&l.all);
    return r < 0 ? r : 0;
}

static bool is_hex(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!memchr("0123456789abcdef", s.p[i], 16))
            return false;
    return s.n >= HEX_DIGITS_MIN;
}

/* Several names may refer to the same manifest; several manifests are ambiguous. */
static int find_by_digest(struct oci_store *s, struct str hex, struct arena *a,
                          struct oci_store_image *ret, struct err *err)
{
    struct oci_store_image *all;
    const struct oci_store_image *found = NULL;
    size_t n, n_damaged;
    int r = oci_store_images(s, a, &all, &n, &n_damaged, err);
    for (size_t i = 0; r >= 0 && i < n; i++) {
        char text[STORE_HEX_SIZE];
        hex_format(all[i].manifest.bytes, SHA256_BYTES, text);
        if (!str_has_prefix(str_of(text), hex))
            continue;
        if (found && !oci_digest_equal(&found->manifest, &all[i].manifest))
            return err_set(err, E_INVALID, "several images begin with '" STR_FMT "'", STR_ARG(hex));
        found = &all[i];
    }
    if (r < 0)
        return r;
    if (!found)
        return err_set(err, -ENOENT, "the store has no image '" STR_FMT "'", STR_ARG(hex));
    *ret = *found;
    return 0;
}

int oci_store_image_find(struct oci_store *s, struct str word, struct arena *a,
                         struct oci_store_image *ret, struct err *err)
{
    struct oci_reference ref;
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(2 * OCI_STORE_NAME_MAX);
    int r = oci_store_image_get(s, word, a, ret, err);
    if (r != -ENOENT)
        return r;
    const char *latest = arena_printf(a, STR_FMT ":latest", STR_ARG(word));
    r = oci_store_image_get(s, str_of(latest), a, ret, NULL);
    if (r == -ENOENT && oci_reference_parse(word, &ref, NULL) >= 0) {
        oci_reference_format(&ref, &whole);
        r = oci_store_image_get(s, buf_str(&whole), a, ret, NULL);
    }
    if (r != -ENOENT)
        return r < 0 ? err_set(err, r, "image '" STR_FMT "' is damaged", STR_ARG(word)) : r;
    struct str hex = word;
    if (str_has_prefix(hex, STR("sha256:")))
        hex = str_slice(hex, strlen("sha256:"), hex.n);
    if (is_hex(hex))
        return find_by_digest(s, hex, a, ret, err);
    return err_set(err, -ENOENT, "the store has no image '" STR_FMT "'", STR_ARG(word));
}

char *oci_store_image_path(struct oci_store *s, const struct oci_digest *manifest)
{
    struct store_path path = store_path_of("images", manifest, NULL);
    return xasprintf("%s/%s", s->root, path.p);
}

int oci_store_image_dir(struct oci_store *s, const struct oci_digest *manifest, char **ret,
                        struct err *err)
{
    struct store_path path = store_path_of("images", manifest, NULL);
    int r = store_must_write(s, err);
    if (r < 0)
        return r;
    r = sys_mkdirat(s->fd, path.p, 0700);
    if (r < 0 && r != -EEXIST)
        return err_sys(err, r, "make '%s'", path.p);
    *ret = oci_store_image_path(s, manifest);
    return 0;
}

/* ---- leases ---- */

int oci_store_lease(struct oci_store *s, struct str id, const struct oci_digest *manifest,
                    bool of_boot, struct err *err)
{
    struct whole w;
    int r = store_must_write(s, err);
    if (r >= 0 && (id.n == 0 || id.n > OCI_STORE_NAME_MAX || !str_is_utf8(id)))
        r = err_set(err, E_INVALID, "the id of a lease has 1 to %d bytes of UTF-8",
                    OCI_STORE_NAME_MAX);
    r = r < 0 ? r : whole_hold(s, manifest, &w, err);
    if (r < 0)
        return r;
    struct json *v = json_new_object(&w.a);
    json_set_str(&w.a, v, "id", id);
    set_digest(&w.a, v, "manifest", manifest);
    if (of_boot)
        json_set_str(&w.a, v, "boot", str_of(s->boot));
    r = of_boot ? 0 : s->opts.is_not_durable ? store_sync_all(s, err) : store_sync_layers(s, err);
    r = r < 0 ? r : put_record(s, "leases", id, v, true, err);
    whole_release(s, &w);
    return r;
}

int oci_store_lease_drop(struct oci_store *s, struct str id, struct err *err)
{
    struct store_path path = record_path("leases", id);
    int r = store_must_write(s, err);
    r = r < 0 ? r : sys_unlinkat(s->fd, path.p, 0);
    return r < 0 ? err_sys(err, r, "lease '" STR_FMT "'", STR_ARG(id))
                 : store_sync_dir(s, "leases", err);
}

int store_read_lease(struct oci_store *s, const char *file, struct arena *a, store_lease_cb each,
                     void *arg, struct err *err)
{
    struct store_lease l = { 0 };
    struct json *v;
    int r = read_record(s, "leases", file, "id", a, &v, err);
    if (r < 0)
        return r;
    struct str boot = json_get_str(v, "boot");
    l.id = json_get_str(v, "id");
    l.is_over = boot.n && !str_is(boot, s->boot);
    if (oci_digest_parse(json_get_str(v, "manifest"), &l.manifest, NULL) < 0)
        return err_set(err, E_CORRUPT, "'leases/%s' is damaged", file);
    return each(arg, file, &l, err);
}

struct leases {
    struct oci_store *s;
    struct arena *a;
    size_t n;
    store_lease_cb each;
    void *arg;
};

static int next_lease(void *arg, const char *name, struct err *err)
{
    struct leases *all = arg;
    if (++all->n > OCI_STORE_LEASES_MAX)
        return err_set(err, E_LIMIT, "the store has more than %d leases", OCI_STORE_LEASES_MAX);
    int r = store_read_lease(all->s, name, all->a, all->each, all->arg, err);
    return r == -ENOENT ? 0 : r;
}

int store_each_lease(struct oci_store *s, struct arena *a, store_lease_cb each, void *arg,
                     struct err *err)
{
    struct leases all = { s, a, 0, each, arg };
    return store_each(s, "leases", next_lease, &all, err);
}

struct lease_walk {
    int (*each)(void *arg, struct str id, const struct oci_digest *manifest, struct err *err);
    void *arg;
};

static int visit_lease(void *arg, const char *file, const struct store_lease *l, struct err *err)
{
    const struct lease_walk *w = arg;
    (void)file;
    return l->is_over ? 0 : w->each(w->arg, l->id, &l->manifest, err);
}

int oci_store_lease_each(struct oci_store *s,
                         int (*each)(void *arg, struct str id, const struct oci_digest *manifest,
                                     struct err *err),
                         void *arg, struct err *err)
{
    struct lease_walk walk = { each, arg };
    struct arena a = { 0 };
    int r = store_each_lease(s, &a, visit_lease, &walk, err);
    arena_fini(&a);
    return r;
}
