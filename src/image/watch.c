/* SPDX-License-Identifier: Apache-2.0 */
#include "image/watch.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/sys.h"
#include "base/vec.h"
#include "codec/json.h"
#include "image/lease.h"
#include "oci/remote_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum { SILENT_MAX = 3 }; /* requests in a row that get no answer: their host is away */

/* A repository with its connection. */
struct image_watch_repository {
    struct oci_reference ref;
    struct oci_remote *remote;
};

struct image_watch_note {
    char *key, *text;
};

struct image_watch {
    struct image_watch_opts opts;
    VEC(struct image_watch_repository) repositories; /* the oldest first */
    VEC(struct image_watched) images;                /* sorted by name */
    VEC(struct image_watch_note) notes;              /* the oldest first */
};

struct image_watch_wanted {
    const char *name, *tag;
};

/* A check: the names to read, and their results. */
struct image_watch_look {
    struct image_watch *w;
    struct arena memory;
    VEC(struct image_watch_wanted) wanted;
    struct map unknown; /* "HOST/REPOSITORY" whose tags could not be read */
    struct map away;    /* hosts that cannot be reached */
    unsigned n_silent;  /* requests in a row without an answer */
    VEC(struct image_watched) next;
    struct map names, used; /* of `next`: its names, and its layers */
    int n_news;
    bool is_silent; /* news could not be reported: no more of them in this look */
};

static void watched_fini(struct image_watched *i)
{
    free(i->name);
    free((char *)i->family);
    free(i->layers);
}

static void notes_fini(struct image_watch *w)
{
    for (size_t i = 0; i < w->notes.n; i++) {
        free(w->notes.p[i].key);
        free(w->notes.p[i].text);
    }
    vec_fini(&w->notes);
}

void image_watch_close(struct image_watch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->images.n; i++)
        watched_fini(&w->images.p[i]);
    for (size_t i = 0; i < w->repositories.n; i++)
        oci_remote_free(w->repositories.p[i].remote);
    notes_fini(w);
    vec_fini(&w->images);
    vec_fini(&w->repositories);
    free(w);
}

const struct image_watched *image_watch_images(const struct image_watch *w, size_t *ret_n)
{
    *ret_n = w->images.n;
    return w->images.p;
}

/* ---- the state ---- */

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct image_watched *)x)->name, ((const struct image_watched *)y)->name);
}

static char *family_of(const char *name)
{
    struct str s = str_of(name);
    if (str_has_prefix(s, STR("docker://")))
        s = str_slice(s, 9, s.n);
    while (s.n && s.p[s.n - 1] != ':' && s.p[s.n - 1] != '/')
        s.n--;
    return str_dup(str_slice(s, 0, s.n ? s.n - 1 : 0));
}

static int read_image(struct image_watch *w, const struct json *v, struct err *err)
{
    struct image_watched i = { .name = str_dup(json_get_str(v, "name")) };
    int r = oci_digest_parse(json_get_str(v, "digest"), &i.digest, err);
    const struct json *layers = json_getc(v, "layers");
    i.family = family_of(i.name);
    i.unreadable_wall_s = json_int_or(json_getc(v, "unreadableAt"), 0);
    i.layers = xnew_n(struct oci_digest, layers ? layers->n : 0);
    json_each (d, layers)
        r = r < 0 ? r : oci_digest_parse(json_str(d), &i.layers[i.n_layers++], err);
    vec_push(&w->images, i);
    return r;
}

static int read_state(struct image_watch *w, struct str text, struct err *err)
{
    struct arena a = { 0 };
    struct json *doc;
    int r = json_parse(&a, text, NULL, &doc, err);
    json_each (v, r < 0 ? NULL : json_getc(doc, "images"))
        r = r < 0 ? r : read_image(w, v, err);
    json_each (v, r < 0 ? NULL : json_getc(doc, "notes")) {
        struct image_watch_note n = { str_dup(v->key), str_dup(json_str(v)) };
        vec_push(&w->notes, n);
    }
    arena_fini(&a);
    if (w->images.n)
        qsort(w->images.p, w->images.n, sizeof *w->images.p, by_name);
    return r < 0 ? err_set(err, E_CORRUPT, "the state is damaged; remove it to begin again") : 0;
}

static struct json *image_json(struct arena *a, const struct image_watched *i)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct json *v = json_new_object(a), *layers = json_new_array(a);
    json_set_str(a, v, "name", str_of(i->name));
    oci_digest_format(&i->digest, text);
    json_set_str(a, v, "digest", str_of(text));
    for (size_t k = 0; k < i->n_layers; k++) {
        oci_digest_format(&i->layers[k], text);
        json_add(layers, json_new_cstr(a, text));
    }
    json_setc(a, v, "layers", layers);
    if (i->unreadable_wall_s)
        json_set_int(a, v, "unreadableAt", i->unreadable_wall_s);
    return v;
}

static int save(const struct image_watch *w, struct err *err)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGE_WATCH_STATE_MAX);
    struct json *doc = json_new_object(&a), *images = json_new_array(&a);
    struct json *notes = json_obj(&a, doc, "notes");
    for (size_t i = 0; i < w->images.n; i++)
        json_add(images, image_json(&a, &w->images.p[i]));
    for (size_t i = 0; i < w->notes.n; i++)
        json_set_str(&a, notes, w->notes.p[i].key, str_of(w->notes.p[i].text));
    json_setc(&a, doc, "images", images);
    int r = json_write(&text, doc);
    r = r < 0 ? err_set(err, r, "the state is too large")
              : sys_write_file_atomic(AT_FDCWD, w->opts.state_file, buf_str(&text), 0600, err);
    arena_fini(&a);
    return r;
}

int image_watch_open(const struct image_watch_opts *opts, struct image_watch **ret, struct err *err)
{
    struct err why = { 0 };
    scoped(image_watch_close_scoped) struct image_watch *w = xnew(struct image_watch);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGE_WATCH_STATE_MAX);
    w->opts = *opts;
    int r = sys_read_file(AT_FDCWD, opts->state_file, &text, &why);
    if (r >= 0)
        r = read_state(w, buf_str(&text), &why);
    if (r < 0 && r != -ENOENT)
        return err_set(err, r, "'%s': %s", opts->state_file, err_text(&why));
    *ret = take_ptr(&w);
    return 0;
}

int image_watch_set_unreadable(struct image_watch *w, const char *const *names, size_t n,
                               int64_t wall_s, struct err *err)
{
    for (size_t k = 0; k < n; k++) {
        const struct image_watched key = { .name = (char *)names[k] };
        struct image_watched *i =
            w->images.n ? bsearch(&key, w->images.p, w->images.n, sizeof key, by_name) : NULL;
        if (i)
            i->unreadable_wall_s = wall_s;
    }
    return n ? save(w, err) : 0;
}

/* ---- notes ---- */

const char *image_watch_note(const struct image_watch *w, const char *key)
{
    for (size_t i = 0; i < w->notes.n; i++)
        if (strcmp(w->notes.p[i].key, key) == 0)
            return w->notes.p[i].text;
    return "";
}

int image_watch_set_note(struct image_watch *w, const char *key, const char *text, struct err *err)
{
    struct image_watch_note fresh = { xstrdup(key), xstrdup(text) };
    size_t i = 0;
    while (i < w->notes.n && strcmp(w->notes.p[i].key, key) != 0)
        i++;
    if (i == w->notes.n && w->notes.n >= IMAGE_WATCH_NOTES_MAX)
        i = 0; /* the oldest */
    if (i < w->notes.n) {
        free(w->notes.p[i].key);
        free(w->notes.p[i].text);
        vec_remove(&w->notes, i);
    }
    vec_push(&w->notes, fresh);
    return save(w, err);
}

/* ---- listing images ---- */

/* *ret is valid until the next call. */
static int open_repository(struct image_watch *w, const struct oci_reference *ref,
                           struct image_watch_repository **ret, struct err *err)
{
    for (size_t i = 0; i < w->repositories.n; i++) {
        struct image_watch_repository *known = &w->repositories.p[i];
        if (strcmp(known->ref.host, ref->host) == 0 &&
            strcmp(known->ref.repository, ref->repository) == 0) {
            *ret = known;
            return 0;
        }
    }
    struct image_watch_repository fresh = { .ref = *ref };
    int r = oci_remote_open(ref, w->opts.registry, &fresh.remote, err);
    if (r < 0)
        return r;
    if (w->repositories.n == IMAGE_WATCH_CONNECTIONS_MAX) {
        oci_remote_free(w->repositories.p[0].remote);
        vec_remove(&w->repositories, 0);
    }
    vec_push(&w->repositories, fresh);
    *ret = &w->repositories.p[w->repositories.n - 1];
    return 0;
}

static void trouble(struct image_watch *w, const char *name, const struct err *err)
{
    if (w->opts.trouble)
        w->opts.trouble(w->opts.arg, name, err);
}

static bool must_stop(const struct image_watch_look *l)
{
    return l->w->opts.must_stop && l->w->opts.must_stop(l->w->opts.arg);
}

/* No answer, in contrast to a refusal: other images of the host need not be tried now. A time-out
 * may concern a single repository, whose list of tags takes too long. */
static void note_answer(struct image_watch_look *l, const char *host, int r)
{
    bool is_silent = r == -ECONNRESET || r == -ETIMEDOUT || r == -EPIPE;
    bool is_unreachable =
        r == -ECONNREFUSED || r == -EHOSTUNREACH || r == -ENETUNREACH || r == E_TLS;
    l->n_silent = is_silent ? l->n_silent + 1 : 0;
    if (!is_unreachable && l->n_silent < SILENT_MAX)
        return;
    l->n_silent = 0;
    (void)map_put(&l->away, str_of(host), l);
}

static bool is_away(const struct image_watch_look *l, const char *host)
{
    return map_has(&l->away, str_of(host));
}

/* Tags that are no images: of referrers where a registry has no API for them, and the lease. */
static bool is_image_tag(const char *tag)
{
    struct str s = str_of(tag);
    return strcmp(tag, IMAGE_LEASE_TAG) != 0 &&
           !(str_has_prefix(s, STR("sha256-")) && s.n == 7 + 2 * SHA256_BYTES) &&
           oci_reference_is_tag(s);
}

static int want(struct image_watch_look *l, const struct oci_reference *ref, const char *tag,
                struct err *err)
{
    struct image_watch_wanted one = { .tag = str_dup_arena(&l->memory, str_of(tag)) };
    if (l->wanted.n >= IMAGE_WATCH_MAX)
        return err_set(err, E_LIMIT, "more than %d images", IMAGE_WATCH_MAX);
    one.name = arena_printf(&l->memory, "docker://%s/%s:%s", ref->host, ref->repository, tag);
    vec_push(&l->wanted, one);
    return 0;
}

static bool is_known(const struct image_watch *w, const char *family)
{
    for (size_t i = 0; i < w->images.n; i++)
        if (strcmp(w->images.p[i].family, family) == 0)
            return true;
    return false;
}

/* All tags of a repository. A registry that does not list them leaves its images as they were.
 * is_named: the user named it, so that it is trouble if it does not exist; a repository whose
 * images were deleted is news. */
static int want_repository(struct image_watch_look *l, const struct oci_reference *ref,
                           bool is_named, struct err *err)
{
    struct image_watch_repository *in;
    struct oci_remote_names tags = { 0 };
    struct err why = { 0 };
    const char *family = arena_printf(&l->memory, "%s/%s", ref->host, ref->repository);
    if (must_stop(l))
        return err_set(err, -ECANCELED, "ended by a signal");
    if (is_away(l, ref->host)) {
        (void)map_put(&l->unknown, str_of(family), l);
        return 0;
    }
    int r = open_repository(l->w, ref, &in, &why);
    r = r < 0 ? r : oci_remote_tags(in->remote, &l->memory, &tags, &why);
    if (r >= 0 && tags.n > IMAGE_WATCH_MAX - l->wanted.n)
        r = err_set(&why, E_LIMIT, "more than %d images are watched with those of this repository",
                    IMAGE_WATCH_MAX);
    note_answer(l, ref->host, r);
    if (r == -ENOENT && is_named && !is_known(l->w, family))
        trouble(l->w, family, &why);
    if (r < 0 && r != -ENOENT) {
        trouble(l->w, family, &why);
        (void)map_put(&l->unknown, str_of(family), l);
        return 0;
    }
    r = 0;
    for (size_t i = 0; r >= 0 && i < tags.n; i++)
        r = is_image_tag(tags.p[i]) ? want(l, ref, tags.p[i], err) : 0;
    return r;
}

/* "host/repository" without tag: all of them. */
static bool names_tag(struct str word)
{
    while (word.n && word.p[word.n - 1] != ':' && word.p[word.n - 1] != '/')
        word.n--;
    return word.n && word.p[word.n - 1] == ':';
}

static int parse_name(const char *text, struct oci_reference *ret, bool *ret_names_tag,
                      struct err *err)
{
    struct str word = str_of(text);
    if (str_has_prefix(word, STR("docker://")))
        word = str_slice(word, 9, word.n);
    int r = oci_reference_parse(word, ret, err);
    if (r < 0)
        return err_ctx(err, r, "'%s'", text);
    if (ret->has_digest)
        return err_set(err, E_INVALID, "'%s' names a digest, which never changes", text);
    *ret_names_tag = names_tag(word);
    return 0;
}

/* A reference to any repository of the registry. */
static int parse_host(const char *host, struct oci_reference *ret, struct err *err)
{
    scoped(free_scoped) char *any = xasprintf("%s/any", host);
    if (host[0] && !strchr(host, '/') && oci_reference_parse(str_of(any), ret, NULL) >= 0 &&
        (strcmp(ret->repository, "any") == 0 || strcmp(ret->repository, "library/any") == 0))
        return 0;
    return err_set(err, E_INVALID, "'%s' is no HOST or HOST:PORT of a registry", host);
}

int image_watch_check_names(const char *const *names, size_t n, const char *registry_host,
                            struct err *err)
{
    struct oci_reference ref;
    bool is_tag;
    int r = registry_host ? parse_host(registry_host, &ref, err) : 0;
    for (size_t i = 0; r >= 0 && i < n; i++)
        r = parse_name(names[i], &ref, &is_tag, err);
    return r;
}

static int want_name(struct image_watch_look *l, const char *text, struct err *err)
{
    struct oci_reference ref;
    bool is_tag;
    int r = parse_name(text, &ref, &is_tag, err);
    if (r < 0)
        return r;
    return is_tag ? want(l, &ref, ref.tag, err) : want_repository(l, &ref, true, err);
}

static int want_registry(struct image_watch_look *l, const char *host, struct err *err)
{
    struct oci_reference ref;
    struct image_watch_repository *in;
    struct oci_remote_names names = { 0 };
    int r = parse_host(host, &ref, err);
    r = r < 0 ? r : open_repository(l->w, &ref, &in, err);
    r = r < 0 ? r : oci_remote_catalog(in->remote, &l->memory, &names, err);
    for (size_t i = 0; r >= 0 && i < names.n; i++) {
        if (!oci_reference_is_repository(str_of(names.p[i])))
            continue;
        (void)snprintf(ref.repository, sizeof ref.repository, "%s", names.p[i]);
        r = want_repository(l, &ref, false, err);
    }
    return r;
}

static int by_wanted_name(const void *x, const void *y)
{
    return strcmp(((const struct image_watch_wanted *)x)->name,
                  ((const struct image_watch_wanted *)y)->name);
}

static int want_all(struct image_watch_look *l, struct err *err)
{
    const struct image_watch_opts *o = &l->w->opts;
    int r = 0;
    size_t n = 0;
    for (size_t i = 0; r >= 0 && i < o->n_names; i++)
        r = want_name(l, o->names[i], err);
    if (r >= 0 && o->registry_host)
        r = want_registry(l, o->registry_host, err);
    if (l->wanted.n)
        qsort(l->wanted.p, l->wanted.n, sizeof *l->wanted.p, by_wanted_name);
    for (size_t i = 0; i < l->wanted.n; i++)
        if (n == 0 || strcmp(l->wanted.p[n - 1].name, l->wanted.p[i].name) != 0)
            l->wanted.p[n++] = l->wanted.p[i];
    l->wanted.n = n;
    return r;
}

/* ---- manifests of moved images ---- */

static const struct image_watched *find(const struct image_watch *w, const char *name)
{
    const struct image_watched key = { .name = (char *)name };
    return w->images.n ? bsearch(&key, w->images.p, w->images.n, sizeof key, by_name) : NULL;
}

/* A permanent error: this is not an image, or not one for this platform. */
static bool is_no_image(int r)
{
    return r == E_PARSE || r == E_UNSUPPORTED || r == E_LIMIT || r == E_INVALID || r == -ENOENT;
}

/* Registries also have charts, signatures and modules; their layers are no tar archives. */
static bool is_layer(const struct oci_descriptor *d)
{
    return str_find(d->media_type, STR(".tar")) >= 0 || d->media_type.n == 0;
}

static int check_layers(const struct oci_manifest *m, struct err *err)
{
    if (m->n_layers == 0 || m->n_layers > IMAGE_WATCH_LAYERS_MAX)
        return err_set(err, E_UNSUPPORTED, "%zu layers", m->n_layers);
    for (size_t k = 0; k < m->n_layers; k++)
        if (!is_layer(&m->layers[k]))
            return err_set(err, E_UNSUPPORTED, "it is no image: a layer of type '" STR_FMT "'",
                           STR_ARG(str_slice(m->layers[k].media_type, 0, 100)));
    return 0;
}

/* The layers of the image that the tag names now. Errors: E_UNSUPPORTED: it names none. */
static int read_layers(struct image_watch *w, struct image_watched *i, struct err *err)
{
    scoped(oci_source_free_scoped) struct oci_source *source = NULL;
    struct oci_image image;
    struct oci_descriptor root;
    struct str text;
    char digest[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&i->digest, digest);
    scoped(free_scoped) char *reference = xasprintf("docker://%s@%s", i->family, digest);
    int r = oci_source_open_with(str_of(reference), w->opts.registry, &source, err);
    r = r < 0 ? r : oci_source_image(source, w->opts.platform, &image, err);
    r = r < 0 ? r : check_layers(&image.manifest, err);
    if (r < 0 && source && is_no_image(r)) /* or the registry is inconsistent */
        return oci_source_root(source, &root, &text, NULL) >= 0 ? E_UNSUPPORTED : -EAGAIN;
    if (r < 0)
        return r;
    i->n_layers = image.manifest.n_layers;
    i->layers = xnew_n(struct oci_digest, i->n_layers);
    for (size_t k = 0; k < i->n_layers; k++)
        i->layers[k] = image.manifest.layers[k].digest;
    return 0;
}

static void keep(struct image_watch_look *l, const struct image_watched *old)
{
    struct image_watched same = *old;
    same.name = xstrdup(old->name);
    same.family = xstrdup(old->family);
    same.layers = xnew_n(struct oci_digest, old->n_layers);
    same.has_moved = false;
    if (old->n_layers)
        memcpy(same.layers, old->layers, old->n_layers * sizeof *old->layers);
    vec_push(&l->next, same);
}

static void ask(struct image_watch_look *l, const struct image_watch_wanted *one)
{
    struct image_watch *w = l->w;
    struct oci_reference ref;
    struct image_watch_repository *in;
    struct err why = { 0 };
    const struct image_watched *old = find(w, one->name);
    struct image_watched now = { .name = xstrdup(one->name), .has_moved = true };
    now.family = family_of(one->name);
    int r = oci_reference_parse(str_of(one->name + strlen("docker://")), &ref, &why);
    if (r >= 0 && is_away(l, ref.host)) {
        watched_fini(&now);
        if (old)
            keep(l, old);
        return;
    }
    r = r < 0 ? r : open_repository(w, &ref, &in, &why);
    r = r < 0 ? r
              : oci_remote_tag_moved(in->remote, one->tag, old ? &old->digest : NULL, &now.digest,
                                     &why);
    if (r > 0) {
        int status = read_layers(w, &now, &why);
        if (status == E_UNSUPPORTED && w->opts.ignored)
            w->opts.ignored(w->opts.arg, one->name, &why);
        r = status < 0 && status != E_UNSUPPORTED ? status : 1;
    }
    note_answer(l, ref.host, r);
    if (r > 0) {
        vec_push(&l->next, now);
        return;
    }
    watched_fini(&now);
    if (r < 0 && (r != -ENOENT || !old))
        trouble(w, one->name, &why);
    if (old && r != -ENOENT)
        keep(l, old);
}

/* ---- news ---- */

/* Changes that are undone later still count: that a layer is dead is reported rather too late. */
static void note_next(struct image_watch_look *l)
{
    for (size_t i = 0; i < l->next.n; i++) {
        const struct image_watched *n = &l->next.p[i];
        (void)map_put(&l->names, str_of(n->name), l);
        for (size_t k = 0; k < n->n_layers; k++)
            (void)map_put(&l->used, str_n(n->layers[k].bytes, SHA256_BYTES), l);
    }
}

static bool is_used(const struct image_watch_look *l, const struct oci_digest *layer)
{
    return map_has(&l->used, str_n(layer->bytes, SHA256_BYTES));
}

static int report(struct image_watch_look *l, enum image_news_kind kind,
                  const struct image_watched *old, const struct image_watched *new, struct err *err)
{
    size_t n = 0;
    const char *name = new ? new->name : old->name;
    struct image_news news = { kind, name, old ? &old->digest : NULL, new ? &new->digest : NULL,
                               NULL, 0 };
    scoped(free_scoped) struct oci_digest *dead =
        xnew_n(struct oci_digest, old ? old->n_layers : 0);
    for (size_t k = 0; old && k < old->n_layers; k++)
        if (!is_used(l, &old->layers[k]))
            dead[n++] = old->layers[k];
    news.dead = dead;
    news.n_dead = n;
    l->n_news++;
    return l->w->opts.news ? l->w->opts.news(l->w->opts.news_arg, &news, err) : 0;
}

/*
 * News that could not be reported stay, and are found again by the next look. The receiver is then
 * not tried again in this look: each attempt may take long, and a file may have received the news.
 */
static void take_back(struct image_watch_look *l, const struct image_watched *old,
                      struct image_watched *new, const struct err *err)
{
    if (!l->is_silent)
        trouble(l->w, new ? new->name : old->name, err);
    l->is_silent = true;
    if (new) {
        watched_fini(new);
        vec_remove(&l->next, (size_t)(new - l->next.p));
    }
    if (old)
        keep(l, old);
}

static void report_all(struct image_watch_look *l)
{
    struct image_watch *w = l->w;
    note_next(l);
    for (size_t i = 0; i < l->next.n; i++) {
        struct err why = { 0 };
        struct image_watched *new = &l->next.p[i];
        const struct image_watched *old = find(w, new->name);
        if (!new->has_moved)
            continue;
        if ((l->is_silent && old) ||
            report(l, old ? IMAGE_NEWS_MOVED : IMAGE_NEWS_APPEARED, old, new, &why) < 0) {
            take_back(l, old, new, &why);
            i--;
        }
    }
    for (size_t i = 0; i < w->images.n; i++) {
        struct err why = { 0 };
        const struct image_watched *old = &w->images.p[i];
        if (map_has(&l->names, str_of(old->name)))
            continue;
        if (map_has(&l->unknown, str_of(old->family)))
            keep(l, old);
        else if (l->is_silent || report(l, IMAGE_NEWS_GONE, old, NULL, &why) < 0)
            take_back(l, old, NULL, &why);
    }
}

static void swap_images(struct image_watch_look *l)
{
    struct image_watch *w = l->w;
    if (l->next.n)
        qsort(l->next.p, l->next.n, sizeof *l->next.p, by_name);
    for (size_t i = 0; i < w->images.n; i++)
        watched_fini(&w->images.p[i]);
    w->images.n = 0;
    for (size_t i = 0; i < l->next.n; i++)
        vec_push(&w->images, l->next.p[i]);
    l->next.n = 0;
}

static void look_fini(struct image_watch_look *l)
{
    for (size_t i = 0; i < l->next.n; i++)
        watched_fini(&l->next.p[i]);
    vec_fini(&l->wanted);
    vec_fini(&l->next);
    map_fini(&l->unknown);
    map_fini(&l->away);
    map_fini(&l->names);
    map_fini(&l->used);
    arena_fini(&l->memory);
}

int image_watch_look(struct image_watch *w, struct err *err)
{
    struct image_watch_look l = { .w = w };
    int r = want_all(&l, err);
    for (size_t i = 0; r >= 0 && i < l.wanted.n; i++)
        if (must_stop(&l))
            r = err_set(err, -ECANCELED, "ended by a signal");
        else
            ask(&l, &l.wanted.p[i]);
    if (r >= 0) {
        report_all(&l);
        swap_images(&l);
        r = l.n_news ? save(w, err) : 0;
    }
    look_fini(&l);
    return r < 0 ? r : l.n_news;
}
