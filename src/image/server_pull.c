/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pull-through. A pull runs on a thread of its own and posts to the loop when there is news:
 * its documents are known, a layer is there, it has ended. The requests that wait for it look again
 * then. Documents are answered from the pull itself, since the store has the name and the manifest
 * only once every layer is there.
 */
#include "image/server_int.h"

#include "base/clock.h"
#include "base/log.h"
#include "image/layer_child.h"
#include "image/layer_rights.h"
#include "image/layer_show.h"
#include "io/thread_job.h"
#include "oci/pull.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum { CHECKED_MAX = 4096 };

struct pulled_document {
    struct oci_digest digest;
    char *text;
    size_t n;
    char media_type[MIRROR_TYPE_MAX + 1];
};

enum pull_state { PULL_WAITING, PULL_RUNNING, PULL_ENDED };

static const struct sm_state pull_table[] = {
    [PULL_WAITING] = { "waiting", EDGE(PULL_RUNNING) | EDGE(PULL_ENDED) }, /* ended: no thread */
    [PULL_RUNNING] = { "running", EDGE(PULL_ENDED) },
    [PULL_ENDED] = { "ended", 0 }, /* freed when no request waits for it */
};

struct image_pull {
    struct list node;
    struct image_server *s;
    char *name;       /* "docker.io/library/redis:7", also with a digest in the place of the tag */
    char *repository; /* "docker.io/library/redis" */
    bool is_refresh;  /* the store has the image, perhaps an older one */
    bool has_failed;  /* the last pull of that name */
    struct sm sm;     /* enum pull_state */
    bool is_outdated; /* the tag was replaced meanwhile: which image the pull found is not known */
    atomic_bool stop;
    struct list waiting; /* struct image_server_serving.waiting */
    struct oci_origin origin;
    struct layer_show show;
    struct post news;
    struct thread_job job;
    pthread_mutex_t mutex; /* of what follows, until it has ended */
    bool is_posted;
    uint64_t n_bytes, ms;                   /* received from the registry */
    struct oci_digest pulled;               /* its manifest; zeroed: it failed */
    struct pulled_document index, manifest; /* text NULL: not known, or there is none */
    bool lacks_blobs; /* the store will not have the blobs that the manifest names */
    int r;
    struct err err;
};

/* ---- on the thread of the pull ---- */

static void on_news(struct post *post);

static void reply(struct image_pull *p)
{
    (void)pthread_mutex_lock(&p->mutex);
    bool post = !p->is_posted;
    p->is_posted = true;
    (void)pthread_mutex_unlock(&p->mutex);
    if (post) {
        p->news.run = on_news;
        loop_post(p->s->loop, &p->news);
    }
}

static void keep_document(struct pulled_document *d, const struct oci_digest *digest,
                          struct str text, struct str type, const char *otherwise)
{
    if (text.n == 0)
        return;
    if (type.n == 0 || type.n > MIRROR_TYPE_MAX)
        type = str_of(otherwise);
    *d = (struct pulled_document){ .digest = *digest, .text = str_dup(text), .n = text.n };
    memcpy(d->media_type, type.p, type.n);
}

/*
 * A layer has one blob here. Where another one of the same layer is kept already, or the image
 * names two, what is asked for by the manifest would not be found.
 */
static bool will_have_blobs(struct oci_store *s, const struct oci_image *image)
{
    struct map named = { 0 };
    bool all = true;
    for (size_t i = 0; all && i < image->manifest.n_layers; i++) {
        uint64_t size;
        struct oci_digest kept;
        const struct oci_digest *d = &image->config.diff_ids[i];
        const struct oci_digest *blob = &image->manifest.layers[i].digest;
        const struct oci_digest *other =
            map_put(&named, str_n(d->bytes, sizeof d->bytes), (void *)blob);
        all = (!other || oci_digest_equal(other, blob)) &&
              (oci_store_layer_blob(s, d, &kept, &size, NULL) < 0 || oci_digest_equal(&kept, blob));
    }
    map_fini(&named);
    return all;
}

static int give_image(void *arg, const struct oci_platform *platform, struct oci_image *ret,
                      struct err *err)
{
    struct image_pull *p = arg;
    struct oci_image image;
    int r = p->origin.image(p->origin.arg, platform, &image, err);
    if (r < 0)
        return r;
    bool lacks_blobs = !will_have_blobs(p->s->opts.store, &image);
    (void)pthread_mutex_lock(&p->mutex);
    p->lacks_blobs = lacks_blobs;
    keep_document(&p->manifest, &image.digest, image.manifest_text, image.manifest_type,
                  "application/vnd.oci.image.manifest.v1+json");
    bool is_list = str_find(image.index_text, STR("docker.distribution.manifest.list")) >= 0;
    keep_document(&p->index, &image.index, image.index_text, STR_NULL,
                  is_list ? "application/vnd.docker.distribution.manifest.list.v2+json"
                          : "application/vnd.oci.image.index.v1+json");
    (void)pthread_mutex_unlock(&p->mutex);
    *ret = image;
    return 0;
}

struct stoppable {
    struct image_pull *p;
    oci_blob_sink sink;
    void *arg;
};

static int on_bytes(void *arg, struct str bytes, struct err *err)
{
    struct stoppable *t = arg;
    if (atomic_load(&t->p->stop))
        return err_set(err, -ECANCELED, "the server ends");
    return t->sink(t->arg, bytes, err);
}

static int give_blob(void *arg, const struct oci_descriptor *d, uint64_t offset, oci_blob_sink sink,
                     void *sink_arg, struct err *err)
{
    struct image_pull *p = arg;
    struct stoppable t = { p, sink, sink_arg };
    return p->origin.blob(p->origin.arg, d, offset, on_bytes, &t, err);
}

static void on_progress(void *arg, const struct oci_pull_layer *layers, size_t n,
                        const struct oci_pull_layer *changed)
{
    struct image_pull *p = arg;
    if (changed && changed->state == OCI_PULL_DONE)
        layer_rights_give(p->s->opts.store, &changed->diff_id, STR(""));
    if (!changed || changed->state >= OCI_PULL_PRESENT)
        reply(p);
}

/* Layers of the upstream are for all clients. */
static int on_image(void *arg, const struct oci_image *image, struct err *err)
{
    struct image_pull *p = arg;
    (void)err;
    layer_show_image(&p->show, image);
    layer_rights_give_documents(p->s->opts.store, image, STR(""));
    return 0;
}

/* Layers that were pulled for a tenant become public if the registry gives them to the server. */
static int on_layers(void *arg, const struct oci_pull_layer *layers, size_t n, struct err *err)
{
    struct image_pull *p = arg;
    return layer_show_layers(&p->show, layers, n, err);
}

static int run_pull(struct image_pull *p, struct err *err)
{
    struct oci_pull_result result;
    scoped(free_scoped) char *reference = xasprintf("docker://%s", p->name);
    struct oci_pull_opts opts = { .name = str_of(p->name),
                                  .platform = p->s->opts.platform,
                                  .reading = &layer_child_reading,
                                  .needs_blobs = true, /* clients get the registry's manifest */
                                  .on_image = on_image,
                                  .on_layers = on_layers,
                                  .on_progress = on_progress,
                                  .arg = p };
    int r = oci_origin_open(str_of(reference), &p->s->opts.registry, &p->origin, err);
    if (r < 0)
        return r;
    opts.origin = p->origin;
    opts.origin.image = give_image;
    opts.origin.blob = give_blob;
    opts.origin.arg = p;
    opts.origin.parts = NULL; /* clients wait for blobs */
    p->show = (struct layer_show){ .s = p->s->opts.store,
                                   .reference = reference,
                                   .registry = &p->s->opts.registry,
                                   .platform = p->s->opts.platform,
                                   .tenant = STR(""),
                                   .stop = &p->stop };
    uint64_t began_ms = clock_mono_ms();
    r = oci_pull(p->s->opts.store, &opts, &result, err);
    layer_show_fini(&p->show);
    p->n_bytes = r < 0 ? 0 : result.n_bytes;
    if (r >= 0)
        p->pulled = result.manifest;
    p->ms = clock_mono_ms() - began_ms;
    oci_origin_close(&p->origin);
    return r;
}

static void pull(struct thread_job *job)
{
    struct image_pull *p = container_of(job, struct image_pull, job);
    p->r = run_pull(p, &p->err);
}

/* ---- on the loop ---- */

static void pull_free(struct image_pull *p)
{
    list_remove(&p->node);
    assert(p->s->n_pulls > 0 && list_is_empty(&p->waiting));
    p->s->n_pulls--;
    (void)pthread_mutex_destroy(&p->mutex);
    free(p->index.text);
    free(p->manifest.text);
    free(p->repository);
    free(p->name);
    free(p);
}

static void start_waiting(struct image_server *s);

/* Let those that wait look again; they may leave the list meanwhile, never join it. */
static void wake_all(struct image_pull *p)
{
    list_each_safe (node, &p->waiting) {
        struct image_server_serving *g = list_entry(node, struct image_server_serving, waiting);
        if (g->sm.at == IMAGE_SERVER_SERVING_WAITING)
            image_server_find(g);
        else if (g->sm.at == IMAGE_SERVER_SERVING_FINDING)
            image_server_serving_move(g, IMAGE_SERVER_SERVING_FINDING_AGAIN);
    }
}

static void on_news(struct post *post)
{
    struct image_pull *p = container_of(post, struct image_pull, news);
    (void)pthread_mutex_lock(&p->mutex);
    p->is_posted = false;
    (void)pthread_mutex_unlock(&p->mutex);
    wake_all(p);
}

/* A tag that was compared with the registry's. */
struct checked_tag {
    uint64_t at_ms;
    bool is_due;                /* at the next request */
    bool has_failed;            /* the pull */
    struct oci_digest manifest; /* which the registry's names; zeroed: it did not say */
};

static void note_checked(const struct image_pull *p)
{
    struct image_server *s = p->s;
    if (s->checked.n >= CHECKED_MAX) {
        map_each (e, &s->checked)
            free(e->value);
        map_fini(&s->checked);
        s->checked = (struct map){ 0 };
    }
    struct checked_tag *c = xnew(struct checked_tag);
    *c = (struct checked_tag){ .at_ms = loop_now_ms(s->loop),
                               .is_due = p->is_outdated,
                               .has_failed = p->r < 0,
                               .manifest = p->pulled };
    free(map_put(&s->checked, str_of(p->name), c));
}

static void note_registry(const struct image_pull *p)
{
    struct str host, rest;
    if (!str_cut(str_of(p->repository), '/', &host, &rest))
        return;
    scoped(free_scoped) char *text = str_dup(host);
    image_server_probe_registry(p->s, text);
}

static void end_pull(struct image_pull *p)
{
    struct image_server *s = p->s;
    char text[LOG_QUOTE_MAX];
    int64_t wall_s = clock_wall_ms() / 1000;
    sm_move(&p->sm, PULL_ENDED);
    if (p->r >= 0) {
        note_registry(p);
        s->n_pulled++;
        node_state_measure(&s->rates, &s->rates.registry_bps, p->n_bytes, p->ms, wall_s);
        node_state_measure(&s->rates, &s->rates.downlink_bps, p->n_bytes, p->ms, wall_s);
        log_info("image pulled", "name=%s", p->name);
    } else {
        s->n_failed++;
        log_warn("image not pulled", "name=%s reason=\"%s\"", p->name,
                 log_quote(text, str_of(err_text(&p->err))));
    }
    if (p->r >= 0 || p->is_refresh)
        note_checked(p);
    image_server_state_changed(s);
    list_remove(&p->node); /* a request that looks again starts another */
    list_init(&p->node);
    wake_all(p);
    if (list_is_empty(&p->waiting))
        pull_free(p);
    start_waiting(s);
    image_server_finish_close(s);
}

static void on_pulled(struct thread_job *job)
{
    struct image_pull *p = container_of(job, struct image_pull, job);
    assert(p->sm.at == PULL_RUNNING && p->s->n_running > 0);
    p->s->n_running--;
    end_pull(p);
}

static void start_thread(struct image_pull *p)
{
    p->job = (struct thread_job){ .work = pull, .done = on_pulled };
    p->r = thread_job_start(p->s->loop, &p->job, &p->err);
    if (p->r < 0)
        return;
    sm_move(&p->sm, PULL_RUNNING);
    assert(p->s->n_running < IMAGE_SERVER_PULLS_MAX);
    p->s->n_running++;
}

static void start_waiting(struct image_server *s)
{
    list_each_safe (node, &s->pulls) {
        struct image_pull *p = list_entry(node, struct image_pull, node);
        if (p->sm.at != PULL_WAITING || s->n_running >= IMAGE_SERVER_PULLS_MAX ||
            image_closing_has_begun(&s->closing))
            continue;
        start_thread(p);
        if (p->sm.at == PULL_RUNNING)
            continue;
        end_pull(p);
        return; /* it went on from here */
    }
}

/* ---- which one ---- */

static bool is_upstream(const struct image_server *s, const char *host)
{
    for (size_t i = 0; i < s->opts.n_upstreams; i++)
        if (strcmp(s->upstreams[i], host) == 0)
            return true;
    return false;
}

/* The complete reference of the request, in an allowed registry; false: none. */
static bool upstream_reference(const struct image_server_serving *g, struct oci_reference *ret)
{
    scoped(free_scoped) char *name = mirror_request_name(&g->q, g->q.tag);
    if (!name || oci_reference_parse(str_of(name), ret, NULL) < 0 || !is_upstream(g->s, ret->host))
        return false;
    if (!g->q.tag[0]) {
        ret->tag[0] = '\0';
        ret->has_digest = true;
        ret->digest = g->q.digest;
    }
    return true;
}

static struct image_pull *find_pull(struct image_server *s, const char *name,
                                    const char *repository)
{
    list_each (node, &s->pulls) {
        struct image_pull *p = list_entry(node, struct image_pull, node);
        if (name ? strcmp(p->name, name) == 0 : strcmp(p->repository, repository) == 0)
            return p;
    }
    return NULL;
}

static struct image_pull *new_pull(struct image_server *s, const char *name, const char *repository,
                                   bool is_refresh)
{
    const struct checked_tag *c = map_get(&s->checked, str_of(name));
    struct image_pull *p = xnew(struct image_pull);
    *p = (struct image_pull){ .s = s,
                              .name = xstrdup(name),
                              .repository = xstrdup(repository),
                              .is_refresh = is_refresh,
                              .has_failed = is_refresh && c && c->has_failed };
    sm_init(&p->sm, pull_table, PULL_WAITING);
    list_init(&p->waiting);
    (void)pthread_mutex_init(&p->mutex, NULL);
    list_push_back(&s->pulls, &p->node);
    s->n_pulls++;
    image_server_prefetch_stop(s);
    return p;
}

/* ---- requests ---- */

void image_server_unwait(struct image_server_serving *g)
{
    struct image_pull *p = g->pull;
    if (!list_is_linked(&g->waiting))
        return;
    list_remove(&g->waiting);
    g->pull = NULL;
    if (p->sm.at == PULL_ENDED && list_is_empty(&p->waiting))
        pull_free(p);
}

/*
 * A document of the pull answers the request. Not where its blobs might not follow: then the store
 * answers, when the pull has ended, by what it has.
 */
static bool take_document(struct image_server_serving *g, struct image_pull *p)
{
    struct pulled_document *d = NULL;
    if (g->q.kind != MIRROR_MANIFEST)
        return false;
    (void)pthread_mutex_lock(&p->mutex);
    if (p->lacks_blobs || (p->has_failed && (p->sm.at != PULL_ENDED || p->r < 0)))
        d = NULL;
    else if (g->q.tag[0])
        d = g->accepts_index && p->index.text ? &p->index : &p->manifest;
    else if (oci_digest_equal(&p->index.digest, &g->q.digest))
        d = &p->index;
    else if (oci_digest_equal(&p->manifest.digest, &g->q.digest))
        d = &p->manifest;
    bool found = d && d->text;
    if (found) {
        mirror_found_fini(&g->found);
        g->found = (struct mirror_found){ .body = BUF_INIT(MIRROR_BODY_MAX),
                                          .fd = -1,
                                          .size = d->n,
                                          .digest = d->digest,
                                          .has_digest = true };
        memcpy(g->found.media_type, d->media_type, sizeof d->media_type);
        (void)buf_add(&g->found.body, d->text, d->n);
        g->r = 0;
    }
    (void)pthread_mutex_unlock(&p->mutex);
    return found;
}

/* It waited, and has looked again. */
static bool goes_on_waiting(struct image_server_serving *g, int r)
{
    struct image_pull *p = g->pull;
    bool found = take_document(g, p) || (r >= 0 && !(p->is_refresh && g->q.tag[0]));
    if (!found && p->sm.at != PULL_ENDED) {
        image_server_serving_move(g, IMAGE_SERVER_SERVING_WAITING);
        return true;
    }
    g->pull_r = !found && r < 0 && p->r < 0 && p->r != -ENOENT ? p->r : 0;
    if (g->pull_r)
        (void)err_set(&g->err, r, "%s", err_text(&p->err));
    image_server_unwait(g);
    return false;
}

static void wait_for(struct image_server_serving *g, struct image_pull *p)
{
    g->pull = p;
    list_push_back(&p->waiting, &g->waiting);
    image_server_serving_move(g, IMAGE_SERVER_SERVING_WAITING);
}

/* A refactored form that a command put there since is not what the registry's tag names. Where the
 * registry did not say, what is here is served for a while, whatever it is. */
static bool is_fresh(struct image_server *s, const char *name, const struct mirror_found *f)
{
    static const struct oci_digest none;
    const struct checked_tag *c = map_get(&s->checked, str_of(name));
    return c && !c->is_due && loop_now_ms(s->loop) - c->at_ms < IMAGE_SERVER_TAG_MS &&
           (!f->is_refactored || oci_digest_equal(&c->manifest, &none) ||
            oci_digest_equal(&c->manifest, &f->stored));
}

static bool join_or_start(struct image_server_serving *g, int r, const char *name,
                          const char *repository)
{
    struct image_server *s = g->s;
    bool may_start = g->q.kind == MIRROR_MANIFEST;
    struct image_pull *p = find_pull(s, may_start ? name : NULL, repository);
    enum image_server_serving_pulls pulls = IMAGE_SERVER_PULLS_OWN;
    if (!p && may_start && !g->q.tag[0] && g->pulls.at == IMAGE_SERVER_PULLS_NONE) {
        p = find_pull(s, NULL, repository); /* of a tag, which may bring the digest */
        if (p)                              /* if it does not, another pull does */
            pulls = IMAGE_SERVER_PULLS_OTHER;
    }
    sm_move(&g->pulls, pulls);
    if (p) {
        wait_for(g, p);
        if (p->sm.at == PULL_RUNNING)
            image_server_find(g); /* the store may already have it */
        return true;
    }
    if (!may_start)
        return false;
    if (s->n_pulls >= IMAGE_SERVER_PULLS_MAX + IMAGE_SERVER_PULLS_WAITING_MAX) {
        image_server_refuse(g, 503, "TOOMANYREQUESTS", "too many pulls at once");
        return true;
    }
    wait_for(g, new_pull(s, name, repository, r >= 0));
    start_waiting(s);
    return true;
}

bool image_server_replaced(struct image_server *s, const struct oci_reference *ref, bool pulls)
{
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(2048);
    scoped(free_scoped) char *repository = xasprintf("%s/%s", ref->host, ref->repository);
    oci_reference_format(ref, &name);
    struct checked_tag *c = map_get(&s->checked, buf_str(&name));
    if (c)
        c->is_due = true;
    struct image_pull *p = find_pull(s, buf_cstr(&name), NULL);
    if (p && p->sm.at == PULL_RUNNING)
        p->is_outdated = true;
    if (!pulls || !is_upstream(s, ref->host) || ref->has_digest)
        return false;
    (void)new_pull(s, buf_cstr(&name), repository, true);
    start_waiting(s);
    return true;
}

bool image_server_pull(struct image_server_serving *g, int r)
{
    struct image_server *s = g->s;
    struct oci_reference ref;
    bool is_found = r >= 0, is_tag = g->q.kind == MIRROR_MANIFEST && g->q.tag[0];
    if (g->pull) {
        if (goes_on_waiting(g, r))
            return true;
        is_found = g->r >= 0;
        r = g->r;
    }
    if (s->opts.n_upstreams == 0 || image_closing_has_begun(&s->closing) ||
        g->pulls.at == IMAGE_SERVER_PULLS_OWN || (r < 0 && r != -ENOENT) || (is_found && !is_tag) ||
        (g->q.kind != MIRROR_MANIFEST && g->q.kind != MIRROR_BLOB))
        return false;
    if (!is_found && !g->q.host[0] && !upstream_reference(g, &ref)) {
        /* Not the host that a bare name means: the first of those that may be asked. */
        memcpy(g->q.host, s->upstreams[0], strlen(s->upstreams[0]) + 1);
        image_server_find(g);
        return true;
    }
    if (!upstream_reference(g, &ref))
        return false;
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(2048);
    scoped(free_scoped) char *repository = xasprintf("%s/%s", ref.host, ref.repository);
    oci_reference_format(&ref, &name);
    if (is_found && is_fresh(s, buf_cstr(&name), &g->found))
        return false;
    return join_or_start(g, r, buf_cstr(&name), repository);
}

void image_server_pulls_close(struct image_server *s)
{
    list_each_safe (node, &s->pulls) {
        struct image_pull *p = list_entry(node, struct image_pull, node);
        atomic_store(&p->stop, true);
        if (p->sm.at == PULL_WAITING) {
            p->r = err_set(&p->err, -ECANCELED, "the server ends");
            end_pull(p);
            return image_server_pulls_close(s);
        }
    }
}
