/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers of pods' images. An image is looked up when the first pod with it arrives, and again
 * when a pod arrives more than a minute later; pods wait only for the first lookup. Lookups leave
 * through struct sched_api, so its owner decides which registry to ask and caches answers by
 * digest.
 *
 *     unknown --ask--> asked --answer, or wait_ms--> settled --a pod after a minute--> asked
 *                      (pods wait)                   (no pod waits)
 */
#include "sched/core/internal.h"

#include <errno.h>

/* A lookup and its answer. */
struct known_image {
    struct list node; /* of by_use */
    struct sched *s;
    char *key; /* image, with namespace and secrets only if there are secrets */
    size_t n_key;
    char *layers; /* NULL: unknown */
    size_t n_layers;
    bool is_asked, is_settled;
    uint64_t asked_ms;
};

void known_images_init(struct known_images *m)
{
    list_init(&m->by_use);
    m->by_key.borrows_keys = true;
}

static size_t size_of(const struct known_image *k)
{
    return sizeof *k + k->n_key + k->n_layers;
}

static void forget(struct known_images *m, struct known_image *k)
{
    assert(m->bytes >= size_of(k) && k != m->settling);
    map_del(&m->by_key, str_n(k->key, k->n_key));
    list_remove(&k->node);
    m->bytes -= size_of(k);
    free(k->key);
    free(k->layers);
    free(k);
}

void known_images_fini(struct sched *s)
{
    struct known_images *m = &s->images;
    list_each_safe (node, &m->by_use) {
        struct known_image *k = list_entry(node, struct known_image, node);
        assert(!k->is_asked);
        forget(m, k);
    }
    map_fini(&m->by_key);
}

/* Images under lookup stay; there are few of them. */
static void make_room(struct known_images *m)
{
    list_each_safe (node, &m->by_use) {
        struct known_image *k = list_entry(node, struct known_image, node);
        if (m->by_key.n < IMAGES_MAX && m->bytes < IMAGES_MAX_BYTES)
            return;
        if (!k->is_asked && k != m->settling)
            forget(m, k);
    }
}

/* ---- asking ---- */

static void on_settled(struct known_image *k)
{
    struct sched *s = k->s;
    struct sched_event event = { .resource = SCHED_ON_IMAGE_LAYERS, .actions = SCHED_UPDATE };
    k->is_settled = true;
    if (s->is_ending)
        return;
    assert(!s->images.settling);
    s->images.settling = k;
    sched_queue_event(s->queue, &event, s->now_ms);
    s->images.settling = NULL;
}

static void on_waited(void *arg)
{
    on_settled(arg);
}

static void complain(struct known_image *k, const struct err *err)
{
    uint64_t skipped;
    struct str rest = str_n(k->key, k->n_key), image;
    char why[LOG_QUOTE_MAX], quoted[LOG_QUOTE_MAX];
    if (!log_rate_ok(&k->s->images.complaints, COMPLAIN_MS, &skipped))
        return;
    (void)str_cut(rest, '\n', &image, &rest);
    (void)str_cut(rest, '\n', &image, &rest);
    log_info("layers of an image are not known, pods are placed without",
             "image=\"%s\" reason=\"%s\" skipped=%llu", log_quote(quoted, image),
             log_quote(why, str_of(err_text(err))), (unsigned long long)skipped);
}

static void on_layers(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct known_image *k = arg;
    struct sched *s = k->s;
    struct known_images *m = &s->images;
    bool is_new = !k->is_settled;
    (void)status;
    assert(k->is_asked && m->n_asked > 0);
    k->is_asked = false;
    m->n_asked--;
    sched_cancel_after(s, on_waited, k);
    if (r >= 0 && !str_eq(body, str_n(k->layers, k->n_layers))) {
        is_new = true;
        m->bytes -= k->n_layers;
        free(k->layers);
        k->layers = str_dup(body);
        k->n_layers = body.n;
        m->bytes += k->n_layers;
    }
    if (r < 0 && !s->is_ending)
        complain(k, err); /* an earlier answer stays */
    if (is_new)
        on_settled(k);
}

static void ask(struct known_image *k)
{
    struct sched *s = k->s;
    struct sched_api_request rq = { .is_image = true, .target = str_n(k->key, k->n_key) };
    assert(!k->is_asked && s->images.n_asked < IMAGES_ASKED_MAX);
    k->is_asked = true;
    k->asked_ms = s->now_ms;
    s->images.n_asked++;
    sched_call(s, &rq, on_layers, k);
}

/* ---- finding ---- */

static struct str key_of_image(const struct sched_pod *pod, uint32_t i, struct buf *space)
{
    struct str secrets = pod->pull_secrets ? intern_str(pod->pull_secrets) : STR("");
    buf_reset(space);
    (void)buf_printf(space, STR_FMT "\n" STR_FMT "\n" STR_FMT,
                     STR_ARG(secrets.n ? pod->o.namespace : STR("")),
                     STR_ARG(intern_str(pod->images[i])), STR_ARG(secrets));
    return buf_str(space);
}

static bool is_askable(const struct sched_pod *pod, uint32_t i)
{
    struct str image = intern_str(pod->images[i]);
    return image.n > 0 && image.n <= IMAGES_NAME_MAX_BYTES && str_find_char(image, '\n') < 0;
}

/* NULL: too many lookups are under way. */
static struct known_image *add(struct sched *s, struct str key, uint64_t wait_ms)
{
    struct known_images *m = &s->images;
    if (m->n_asked >= IMAGES_ASKED_MAX)
        return NULL;
    make_room(m);
    struct known_image *k = xnew(struct known_image);
    k->s = s;
    k->key = str_dup(key);
    k->n_key = key.n;
    (void)map_put(&m->by_key, str_n(k->key, k->n_key), k);
    list_push_back(&m->by_use, &k->node);
    m->bytes += size_of(k);
    if (wait_ms)
        sched_after(s, wait_ms, on_waited, k);
    else
        k->is_settled = true;
    ask(k);
    return k;
}

static struct known_image *find(struct sched *s, struct str key)
{
    struct known_image *k = map_get(&s->images.by_key, key);
    if (k) {
        list_remove(&k->node);
        list_push_back(&s->images.by_use, &k->node);
    }
    return k;
}

/* ---- what plugins call ---- */

static bool is_settled(void *arg, const struct sched_pod *pod, uint64_t wait_ms)
{
    struct sched *s = arg;
    bool all = true;
    scoped(buf_fini_scoped) struct buf space = BUF_INIT(BUF_MAX_DEFAULT);
    for (uint32_t i = 0; i < pod->n_images && !pod->image_layers && !s->is_ending; i++) {
        struct str key = key_of_image(pod, i, &space);
        if (!is_askable(pod, i))
            continue;
        struct known_image *k = find(s, key);
        if (!k)
            k = add(s, key, wait_ms);
        else if (!k->is_asked && s->now_ms - k->asked_ms >= IMAGES_FRESH_MS &&
                 s->images.n_asked < IMAGES_ASKED_MAX)
            ask(k);
        all &= !k || k->is_settled;
    }
    return all;
}

static bool concerns(void *arg, const struct sched_pod *pod)
{
    const struct sched *s = arg;
    const struct known_image *settling = s->images.settling;
    scoped(buf_fini_scoped) struct buf space = BUF_INIT(BUF_MAX_DEFAULT);
    for (uint32_t i = 0; i < pod->n_images && settling && !pod->image_layers; i++)
        if (str_eq(key_of_image(pod, i, &space), str_n(settling->key, settling->n_key)))
            return true;
    return false;
}

static struct str layers(void *arg, const struct sched_pod *pod, struct arena *a)
{
    struct sched *s = arg;
    scoped(buf_fini_scoped) struct buf space = BUF_INIT(BUF_MAX_DEFAULT);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    for (uint32_t i = 0; i < pod->n_images; i++) {
        const struct known_image *k = find(s, key_of_image(pod, i, &space));
        if (!k || !k->n_layers)
            continue;
        if (text.n)
            (void)buf_add_char(&text, ',');
        (void)buf_add(&text, k->layers, k->n_layers);
    }
    return str_copy_arena(a, buf_str(&text));
}

const struct sched_image_ops known_images_ops = {
    .is_settled = is_settled,
    .concerns = concerns,
    .layers = layers,
};
