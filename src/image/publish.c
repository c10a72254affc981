/* SPDX-License-Identifier: Apache-2.0 */
#include "image/publish.h"

#include "base/buf.h"
#include "codec/json.h"
#include "image/trees.h"
#include "oci/refactored.h"

#include <stdio.h>

#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"

struct publish_repository {
    struct oci_reference ref;
    struct oci_remote *remote;
    struct map blobs; /* digests that it has */
};

struct publish_target {
    struct publish_repository *to;
    const char *tag; /* to be moved; NULL: none */
    bool is_own;     /* the image was read from there */
    bool is_left;    /* nothing is to do */
    struct oci_source *staged;
    struct oci_image image; /* the new one */
};

struct publisher {
    struct image_refactoring *r;
    const struct image_publish_opts *opts;
    struct publish_repository *repositories;
    size_t n_repositories;
    struct publish_target *targets; /* of the images of the group */
    struct image_published done;
};

/* ---- targets ---- */

static bool is_same_host(const struct oci_reference *a, const struct oci_reference *b)
{
    return strcmp(a->host, b->host) == 0;
}

static bool is_same(const struct oci_reference *a, const struct oci_reference *b)
{
    return is_same_host(a, b) && strcmp(a->repository, b->repository) == 0;
}

/* Where an image was read from; NULL: from no registry. */
static const struct oci_reference *origin_of(const struct publisher *p, size_t image)
{
    struct oci_remote *m = oci_source_remote(p->r->group.members[image].source);
    return m ? oci_remote_reference(m) : NULL;
}

static int open_repository(struct publisher *p, const struct oci_reference *ref,
                           struct publish_repository **ret, struct err *err)
{
    for (size_t i = 0; i < p->n_repositories; i++)
        if (is_same(&p->repositories[i].ref, ref)) {
            *ret = &p->repositories[i];
            return 0;
        }
    struct publish_repository *to = &p->repositories[p->n_repositories];
    *to = (struct publish_repository){ .ref = *ref };
    to->ref.has_digest = false;
    int r = oci_remote_open(&to->ref, p->opts->registry, &to->remote, err);
    if (r < 0)
        return r;
    p->n_repositories++;
    *ret = to;
    return 0;
}

static int choose_tag(const struct publisher *p, size_t image, struct publish_target *t,
                      struct err *err)
{
    const char *reference = p->r->group.members[image].reference;
    const struct oci_reference *origin = origin_of(p, image);
    if (p->opts->into)
        t->tag = p->opts->tags[image];
    else if (origin->has_digest || !origin->tag[0])
        return err_set(err, E_INVALID, "'%s' names no tag that could be replaced", reference);
    else
        t->tag = origin->tag;
    if (!oci_reference_is_tag(str_of(t->tag)))
        return err_set(err, E_INVALID, "'%s' is no tag, for '%s'", t->tag, reference);
    t->is_own = t->is_own && !origin->has_digest && strcmp(t->tag, origin->tag) == 0;
    return 0;
}

static int choose_target(struct publisher *p, size_t image, struct err *err)
{
    struct publish_target *t = &p->targets[image];
    const struct oci_reference *origin = origin_of(p, image);
    if (p->opts->is_update && image == 0) {
        t->is_left = true;
        return 0;
    }
    if (!p->opts->into && !origin)
        return err_set(err, E_INVALID, "'%s' is not from a registry; name a repository for it",
                       p->r->group.members[image].reference);
    int r = open_repository(p, p->opts->into ? p->opts->into : origin, &t->to, err);
    if (r < 0)
        return r;
    t->is_own = origin && is_same(origin, &t->to->ref);
    r = p->opts->is_replacing ? choose_tag(p, image, t, err) : 0;
    if (t->is_own && p->opts->keeps_indexes && p->r->group.members[image].image.index_text.n)
        t->tag = NULL;
    bool is_kept = image_refactoring_keeps(p->r, image);
    t->is_left = is_kept && (t->is_own || !t->tag) && !p->opts->is_update;
    return r;
}

/* Is that a refactored form of the image, of this run or an earlier one? */
static bool is_made_of(const struct publish_target *t, const struct oci_digest *manifest,
                       const struct oci_image *source)
{
    struct arena a = { 0 };
    struct json *doc;
    struct oci_digest found, original;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OCI_DOCUMENT_MAX);
    bool is = oci_remote_manifest(t->to->remote, manifest, &b, &found, NULL) >= 0 &&
              json_parse(&a, buf_str(&b), NULL, &doc, NULL) >= 0 &&
              oci_refactored_source(doc, &original) && oci_digest_equal(&original, &source->digest);
    arena_fini(&a);
    return is;
}

/*
 * May the tag be moved? It names what was read, or the new image already, or, in a repository that
 * the image is not from, nothing, or what an earlier run made of it.
 */
static int check_tag(const struct publisher *p, size_t image, struct err *err)
{
    const struct publish_target *t = &p->targets[image];
    const struct oci_image *source = &p->r->group.members[image].image;
    const struct oci_digest *read = source->index_text.n ? &source->index : &source->digest;
    struct oci_digest found;
    if (!t->tag || t->is_left)
        return 0;
    int r = oci_remote_tag(t->to->remote, t->tag, &found, err);
    if (r < 0)
        return err_ctx(err, r, "tag '%s' of '%s'", t->tag, t->to->ref.repository);
    if (r == 0 && !t->is_own)
        return 0;
    if (r && p->r->images && oci_digest_equal(&found, &p->r->images[image].digest))
        return 0;
    if (r && !t->is_own && is_made_of(t, &found, source))
        return 0;
    if (r == 0 || !oci_digest_equal(&found, read))
        return err_set(err, E_CONFLICT,
                       "tag '%s' of '%s' does not name the image that was read%s; it is left as "
                       "it is",
                       t->tag, t->to->ref.repository, t->is_own ? " any more" : "");
    if (source->index_text.n)
        return err_set(err, E_UNSUPPORTED,
                       "tag '%s' of '%s' names an index for several platforms, of which "
                       "replacing would leave one; --mode side attaches the image to its source",
                       t->tag, t->to->ref.repository);
    return 0;
}

static int check_tags(const struct publisher *p, struct err *err)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < p->r->group.n; i++)
        r = check_tag(p, i, err);
    return r;
}

static void publisher_fini(struct publisher *p)
{
    for (size_t i = 0; p->targets && i < p->r->group.n; i++)
        oci_source_free(p->targets[i].staged);
    for (size_t i = 0; i < p->n_repositories; i++) {
        oci_remote_free(p->repositories[i].remote);
        map_fini(&p->repositories[i].blobs);
    }
}

static int publisher_init(struct publisher *p, struct image_refactoring *r,
                          const struct image_publish_opts *opts, struct err *err)
{
    *p = (struct publisher){ .r = r, .opts = opts };
    p->repositories = arena_new_n(&r->memory, struct publish_repository, r->group.n);
    p->targets = arena_new_n(&r->memory, struct publish_target, r->group.n);
    int status = 0;
    for (size_t i = 0; status >= 0 && i < r->group.n; i++)
        status = choose_target(p, i, err);
    return status < 0 ? status : check_tags(p, err);
}

int image_refactor_check_targets(struct image_refactoring *r, const struct image_publish_opts *opts,
                                 struct err *err)
{
    struct publisher p;
    int status = publisher_init(&p, r, opts, err);
    publisher_fini(&p);
    return status;
}

/* ---- blobs ---- */

struct publish_sending {
    struct publisher *p;
    struct oci_source *from;
    const struct oci_descriptor *d;
    oci_blob_sink sink;
    void *sink_arg;
    uint64_t n;
};

static void report(struct publisher *p, const struct oci_push_news *news)
{
    if (p->opts->news)
        p->opts->news(p->opts->arg, news);
}

static int on_sent(void *arg, struct str bytes, struct err *err)
{
    struct publish_sending *s = arg;
    s->n += bytes.n;
    int r = s->sink(s->sink_arg, bytes, err);
    report(s->p, &(struct oci_push_news){ .blob = s->d, .n_bytes = s->n });
    return r;
}

static int write_blob(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err)
{
    struct publish_sending *s = arg;
    s->sink = sink;
    s->sink_arg = sink_arg;
    s->n = 0;
    return oci_source_blob(s->from, s->d, on_sent, s, err);
}

static struct str key_of(const struct oci_digest *d)
{
    return str_n(d->bytes, sizeof d->bytes);
}

/* Another repository of the same registry that has the blob; NULL: none is known. */
static const char *where_it_is(const struct publisher *p, const struct publish_repository *to,
                               const struct oci_digest *d)
{
    for (size_t i = 0; i < p->n_repositories; i++) {
        const struct publish_repository *other = &p->repositories[i];
        if (other != to && is_same_host(&other->ref, &to->ref) && map_get(&other->blobs, key_of(d)))
            return other->ref.repository;
    }
    return NULL;
}

static void count(struct publisher *p, const struct oci_descriptor *d, enum oci_pushed how)
{
    p->done.n_uploaded += how == OCI_PUSHED_UPLOADED;
    p->done.n_mounted += how == OCI_PUSHED_MOUNTED;
    p->done.n_existed += how == OCI_PUSHED_EXISTED;
    p->done.n_bytes += how == OCI_PUSHED_UPLOADED ? d->size : 0;
    report(p,
           &(struct oci_push_news){ .blob = d, .is_done = true, .n_bytes = d->size, .how = how });
}

/* Where the old version of an update was read from, if that is another repository of the same
 * registry. */
static const char *where_below_is(const struct publisher *p, const struct publish_repository *to)
{
    const struct oci_reference *at = origin_of(p, 0);
    return at && is_same_host(at, &to->ref) && !is_same(at, &to->ref) ? at->repository : NULL;
}

/* is_below: it is of the old version of an update. */
static int send_blob(struct publisher *p, size_t image, const struct oci_descriptor *d,
                     bool is_below, struct err *err)
{
    struct publish_target *t = &p->targets[image];
    struct publish_sending s = { .p = p,
                                 .from = is_below ? p->r->group.members[0].source : t->staged,
                                 .d = d };
    enum oci_pushed how;
    if (map_get(&t->to->blobs, key_of(&d->digest)))
        return 0;
    const char *other = is_below ? where_below_is(p, t->to) : where_it_is(p, t->to, &d->digest);
    int r = oci_remote_push_blob(t->to->remote, d, other, write_blob, &s, &how, err);
    if (r < 0)
        return err_ctx(err, r, "'%s'", t->to->ref.repository);
    (void)map_put(&t->to->blobs, key_of(&d->digest), t->to);
    count(p, d, how);
    return 0;
}

/* An image of this program: its source, if it is unchanged, is published like any other image. */
static bool is_new(const struct publisher *p, size_t image)
{
    return !p->targets[image].is_left && !p->r->images[image].is_kept;
}

/* The layers of unchanged images in their repositories, from which others can mount them. */
static void note_kept(struct publisher *p)
{
    for (size_t i = 0; i < p->r->group.n; i++) {
        const struct oci_manifest *m = &p->r->group.members[i].image.manifest;
        struct publish_target *t = &p->targets[i];
        for (size_t k = 0; t->is_own && p->r->images[i].is_kept && k < m->n_layers; k++)
            (void)map_put(&t->to->blobs, key_of(&m->layers[k].digest), t->to);
    }
}

/* Layers that many images need are sent first, so that the next run can use them if this one ends
 * early. */
static int send_layers(struct publisher *p, bool is_shared, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < p->r->group.n; i++) {
        const struct oci_manifest *m = &p->targets[i].image.manifest;
        if (!is_new(p, i))
            continue;
        size_t from = is_shared ? 0 : m->n_layers - 1,
               to = is_shared ? m->n_layers - 1 : m->n_layers;
        for (size_t k = from; r >= 0 && k < to; k++)
            r = send_blob(p, i, &m->layers[k], is_shared && p->opts->is_update, err);
    }
    return r;
}

static int send_configs(struct publisher *p, struct err *err)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < p->r->group.n; i++)
        if (is_new(p, i))
            r = send_blob(p, i, &p->targets[i].image.manifest.config, false, err);
    return r;
}

/* ---- trees ---- */

/* The layer of this run that is the blob; NULL: it is of an older one. */
static const struct image_layer_blob *written_as(const struct publisher *p, size_t image,
                                                 const struct oci_digest *blob)
{
    for (size_t i = 0; p->r->layers && i < p->r->plan.n_layers; i++)
        if (oci_digest_equal(&p->r->layers[i].digest, blob))
            return &p->r->layers[i];
    return oci_digest_equal(&p->r->images[image].top.digest, blob) ? &p->r->images[image].top
                                                                   : NULL;
}

static int send_trees(struct publisher *p, const char *directory, struct err *err)
{
    struct image_trees trees = { 0 };
    int r = 0;
    for (size_t i = 0; r >= 0 && i < p->r->group.n; i++) {
        const struct image_layer_blob *blobs[OCI_LAYERS_MAX] = { NULL };
        const struct publish_target *t = &p->targets[i];
        const struct image_trees_image how = {
            .source = t->staged, .image = &t->image, .blobs = blobs, .directory = directory
        };
        if (!is_new(p, i))
            continue;
        for (size_t k = 0; k < t->image.manifest.n_layers; k++)
            blobs[k] = written_as(p, i, &t->image.manifest.layers[k].digest);
        r = image_trees_push(&trees, &how, t->to->remote, err);
        if (r < 0)
            r = err_ctx(err, r, "'%s'", t->to->ref.repository);
    }
    image_trees_fini(&trees);
    return r;
}

/* ---- manifests and tags ---- */

static int send_manifest(struct publisher *p, size_t image, const char *tag, struct err *err)
{
    const struct publish_target *t = &p->targets[image];
    int r = oci_remote_push_manifest(t->to->remote, tag, STR(MANIFEST_TYPE), t->image.manifest_text,
                                     err);
    return r < 0 ? err_ctx(err, r, "'%s'", t->to->ref.repository) : r;
}

static int send_manifests(struct publisher *p, struct err *err)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < p->r->group.n; i++)
        if (is_new(p, i))
            r = send_manifest(p, i, NULL, err);
    return r;
}

/* An unchanged image, sent to another repository. */
static int copy_image(struct publisher *p, size_t image, struct err *err)
{
    struct oci_reference ref = p->targets[image].to->ref;
    scoped(oci_remote_free_scoped) struct oci_remote *to = NULL;
    struct oci_push_result res;
    struct oci_push_opts opts = { .platform = *p->r->opts->platform,
                                  .news = p->opts->news,
                                  .arg = p->opts->arg };
    (void)snprintf(ref.tag, sizeof ref.tag, "%s", p->targets[image].tag);
    int r = oci_remote_open(&ref, p->opts->registry, &to, err);
    r = r < 0 ? r : oci_push(p->r->group.members[image].source, to, &opts, &res, err);
    if (r < 0)
        return err_ctx(err, r, "'%s'", ref.repository);
    p->done.n_uploaded += res.n_uploaded;
    p->done.n_mounted += res.n_mounted;
    p->done.n_existed += res.n_existed;
    p->done.n_bytes += res.n_bytes;
    return 0;
}

static int move_tags(struct publisher *p, struct err *err)
{
    for (size_t i = 0; i < p->r->group.n; i++) {
        const struct publish_target *t = &p->targets[i];
        if (!t->tag || t->is_left)
            continue;
        int r = check_tag(p, i, err);
        if (r >= 0)
            r = is_new(p, i) ? send_manifest(p, i, t->tag, err) : copy_image(p, i, err);
        if (r < 0)
            return r;
        p->done.images[i].tag = t->tag;
    }
    return 0;
}

/* ---- the whole ---- */

static int read_staged(struct publisher *p, const struct oci_layout *layout, struct err *err)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < p->r->group.n; i++) {
        struct publish_target *t = &p->targets[i];
        if (!t->to)
            continue;
        scoped(free_scoped) char *name = xasprintf("oci:%s:%zu", oci_layout_staging(layout), i);
        r = oci_source_open(str_of(name), &t->staged, err);
        r = r < 0 ? r : oci_source_image(t->staged, p->r->opts->platform, &t->image, err);
    }
    return r;
}

static void note_images(struct publisher *p)
{
    struct arena *a = &p->r->memory;
    p->done.images = arena_new_n(a, struct image_published_image, p->r->group.n);
    for (size_t i = 0; i < p->r->group.n; i++) {
        p->done.images[i].is_left = p->targets[i].is_left;
        if (!p->targets[i].to)
            continue;
        const struct oci_reference *ref = &p->targets[i].to->ref;
        p->done.images[i].repository = arena_printf(a, "%s/%s", ref->host, ref->repository);
    }
}

int image_refactor_publish(struct image_refactoring *r, const struct oci_layout *layout,
                           const struct image_publish_opts *opts, struct image_published *ret,
                           struct err *err)
{
    struct publisher p;
    int status = publisher_init(&p, r, opts, err);
    status = status < 0 ? status : read_staged(&p, layout, err);
    if (status >= 0) {
        note_images(&p);
        note_kept(&p);
    }
    status = status < 0 ? status : send_layers(&p, true, err);
    status = status < 0 ? status : send_layers(&p, false, err);
    status = status < 0 ? status : send_configs(&p, err);
    status = status < 0 ? status : send_manifests(&p, err);
    status = status < 0 ? status : send_trees(&p, oci_layout_staging(layout), err);
    status = status < 0 ? status : move_tags(&p, err);
    publisher_fini(&p);
    if (status >= 0)
        *ret = p.done;
    return status;
}
