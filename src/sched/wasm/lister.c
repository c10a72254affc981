/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and nodes of a scheduler's cache as plugins see them; see lister.h. */
#include "sched/wasm/lister.h"

#include "base/log.h"
#include "sched/wasm/payload.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* The message of a pod or node, or why there is none. */
struct shown {
    struct sched_encoded head;
    struct wobject *object; /* NULL: it cannot be encoded */
    int r;
    char *why; /* the error's text, or NULL */
};

void wlister_init(struct wlister *s)
{
    *s = (struct wlister){ .node_list = BUF_INIT(UINT32_MAX), .answer = BUF_INIT(UINT32_MAX) };
}

void wlister_fini(struct wlister *s)
{
    buf_fini(&s->node_list);
    buf_fini(&s->answer);
}

void wlister_changed(struct wlister *s, const struct sched_event *event)
{
    if (event->before && !event->after && event->before->kind == SCHED_NODE)
        s->n_nodes_gone++;
}

/* ---- one object ---- */

static void shown_end(struct sched_encoded *encoded)
{
    struct shown *shown = container_of(encoded, struct shown, head);
    wobject_unref(shown->object);
    free(shown->why);
    free(shown);
}

static struct sched_encoded *shown_clone(struct sched_encoded *encoded, struct str node)
{
    const struct shown *shown = container_of(encoded, struct shown, head);
    struct shown *c = xnew(struct shown);
    *c = (struct shown){ .head = shown->head, .r = shown->r };
    c->why = shown->why ? xstrdup(shown->why) : NULL;
    if (shown->object)
        c->object = node.n ? wobject_on_node(shown->object, node) : wobject_ref(shown->object);
    return &c->head;
}

struct sched_encoded *wlister_encode(enum sched_kind kind, const struct json *json)
{
    assert(kind == SCHED_POD || kind == SCHED_NODE);
    struct shown *shown = xnew(struct shown);
    shown->head = (struct sched_encoded){ shown_end, shown_clone };
    struct arena a = { 0 };
    struct err err = { 0 };
    /* Encoding normalizes the tree, which is the caller's. */
    shown->r = wobject_get(NULL, kind == SCHED_POD ? WOBJECT_POD : WOBJECT_NODE, &a,
                           json_copy(&a, json), &shown->object, &err);
    if (shown->r < 0)
        shown->why = xstrdup(err_text(&err));
    arena_fini(&a);
    return &shown->head;
}

/* ret: borrowed. */
static int show(const struct sched_encoded *encoded, struct wobject **ret, struct err *err)
{
    if (!encoded)
        return err_set(err, E_INVALID, "the object is older than the plugin");
    const struct shown *shown = container_of(encoded, struct shown, head);
    if (shown->r < 0)
        return err_set(err, shown->r, "%s", shown->why);
    *ret = shown->object;
    return 0;
}

int wlister_pod(const struct sched_pod *pod, struct wobject **ret, struct err *err)
{
    int r = show(pod->encoded, ret, err);
    if (r == 0)
        wobject_ref(*ret);
    return r;
}

int wlister_object(const struct sched_object *o, struct wobject **ret, struct err *err)
{
    if (o->kind == SCHED_POD)
        return wlister_pod(sched_pod_of(o), ret, err);
    int r = show(sched_node_of(o)->encoded, ret, err);
    if (r == 0)
        wobject_ref(*ret);
    return r;
}

/* "": it cannot be encoded; the error is logged. */
static struct str bytes_of(const struct sched_encoded *encoded, struct str name)
{
    struct wobject *o;
    struct err err = { 0 };
    if (show(encoded, &o, &err) == 0)
        return o->bytes;
    log_warn("an object cannot be shown to plugins", "name=" STR_FMT " reason=\"%s\"",
             STR_ARG(name), err_text(&err));
    return STR("");
}

static struct str node_bytes(const struct sched_node *node)
{
    return bytes_of(node->encoded, node->o.name);
}

static const struct sched_node_info *find(const struct wlister *s, struct str name)
{
    if (!s->framework)
        return NULL;
    const struct intern *word = intern_find(s->framework->words, name);
    return word ? sched_cache_node(s->framework->cache, word) : NULL;
}

bool wlister_node(struct wlister *s, struct str name, struct str *ret)
{
    if (s->at && str_eq(name, intern_str(s->at->name))) {
        *ret = node_bytes(s->at);
        return ret->n > 0;
    }
    const struct sched_node_info *info = find(s, name);
    if (info)
        *ret = node_bytes(info->node);
    return info && ret->n;
}

/* ---- lists ---- */

struct str wlister_node_list(struct wlister *s)
{
    size_t n = 0;
    const struct sched_node_info *const *nodes = NULL;
    uint64_t generation = 1;
    if (s->framework) {
        generation += sched_cache_kind_generation(s->framework->cache, SCHED_NODE);
        nodes = sched_cache_nodes(s->framework->cache, &n);
    }
    if (s->node_list_at == generation)
        return buf_str(&s->node_list);
    buf_reset(&s->node_list);
    wlist_begin(&s->node_list);
    for (size_t i = 0; i < n; i++)
        wlist_add(&s->node_list, node_bytes(nodes[i]->node));
    s->node_list_at = generation;
    return buf_str(&s->node_list);
}

bool wlister_node_pods(struct wlister *s, struct str node, struct str *ret)
{
    const struct sched_node_info *info = find(s, node);
    if (!info)
        return false;
    buf_reset(&s->answer);
    wlist_begin(&s->answer);
    for (uint32_t i = 0; i < info->n_pods; i++) {
        const struct sched_pod *pod = info->pods[i];
        struct str bytes = bytes_of(pod->encoded, pod->o.name);
        if (bytes.n)
            wlist_add(&s->answer, bytes);
    }
    *ret = buf_str(&s->answer);
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct sched_image *const *x = a, *const *y = b;
    return strcmp((*x)->name->text, (*y)->name->text);
}

bool wlister_image_states(struct wlister *s, struct str node, struct str *ret)
{
    const struct sched_node_info *info = find(s, node);
    if (!info)
        return false;
    uint32_t n = info->node->n_images;
    const struct sched_image **sorted = xnew_n(const struct sched_image *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = &info->node->images[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, by_name);
    struct buf *b = &s->answer;
    buf_reset(b);
    (void)buf_add_char(b, '{');
    for (uint32_t i = 0; i < n; i++) {
        int64_t size = 0;
        uint32_t n_nodes = sched_cache_image_nodes(s->framework->cache, sorted[i]->name, &size);
        if (i && sorted[i]->name == sorted[i - 1]->name)
            continue;
        if (i)
            (void)buf_add_char(b, ',');
        payload_add_json_string(b, intern_str(sorted[i]->name));
        (void)buf_printf(b, ":{\"Size\":%" PRId64 ",\"NumNodes\":%" PRIu32 ",\"Nodes\":null}", size,
                         n_nodes);
    }
    (void)buf_add_char(b, '}');
    free(sorted);
    *ret = buf_str(b);
    return true;
}

static void add_change(struct buf *to, const struct sched_node_info *info)
{
    (void)buf_add_str(to, intern_str(info->node->name));
    (void)buf_add_char(to, 0);
}

struct str wlister_node_changes(struct wlister *s, uint64_t since)
{
    struct buf *b = &s->answer;
    const struct sched_cache *cache = s->framework ? s->framework->cache : NULL;
    const struct sched_node_info *newest = cache ? sched_cache_newest(cache) : NULL;
    uint64_t generation = newest ? newest->generation : 0, asked = since >> 16,
             now = generation << 16 | s->n_nodes_gone;
    size_t n = 0;
    const struct sched_node_info *const *nodes = cache ? sched_cache_nodes(cache, &n) : NULL;
    bool is_all = asked == 0 || asked > generation || (uint16_t)since != s->n_nodes_gone;
    buf_reset(b);
    (void)buf_add(b, &now, sizeof now);
    (void)buf_add_u8(b, is_all);
    if (is_all)
        for (size_t i = 0; i < n; i++)
            add_change(b, nodes[i]);
    else
        for (const struct sched_node_info *i = newest; i && i->generation > asked; i = i->older)
            if (i->node)
                add_change(b, i);
    return buf_str(b);
}
