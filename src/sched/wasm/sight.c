/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and nodes of a scheduler's cache as plugins see them; see sight.h. */
#include "sched/wasm/sight.h"

#include "base/log.h"
#include "sched/wasm/payload.h"

#include <inttypes.h>
#include <string.h>

void wsight_init(struct wsight *s)
{
    *s = (struct wsight){ .node_list = BUF_INIT(UINT32_MAX) };
}

void wsight_fini(struct wsight *s)
{
    map_each (e, &s->kept)
        wobject_unref(e->value);
    map_fini(&s->kept);
    wobjects_fini(&s->encoded);
    buf_fini(&s->node_list);
}

void wsight_changed(struct wsight *s, const struct sched_event *event)
{
    const struct sched_object *o = event->before ? event->before : event->after;
    if (event->before && !event->after && o->kind == SCHED_NODE)
        s->n_nodes_gone++;
    if (o && (o->kind == SCHED_POD || o->kind == SCHED_NODE))
        wobject_unref(map_del(&s->kept, o->uid));
}

/* ---- one object ---- */

/* node: what spec.nodeName shows, or NULL: what the text has. */
static int encode(struct wsight *s, enum wobject_kind kind, struct str text,
                  const struct word *node, struct wobject **ret, struct err *err)
{
    struct arena a = { 0 };
    struct json *tree;
    struct wobjects *cache = &s->encoded;
    int r = json_parse(&a, text, NULL, &tree, err);
    struct json *spec = r < 0 ? NULL : json_getc(tree, "spec");
    if (node && !json_get_str(spec, "nodeName").n) {
        /* An assumed pod: another content under the same version. */
        json_set_str(&a, spec, "nodeName", word_str(node));
        cache = NULL;
    }
    if (r == 0)
        r = wobject_get(cache, kind, &a, tree, ret, err);
    arena_fini(&a);
    return r;
}

int wsight_pod(struct wsight *s, const struct sched_pod *pod, struct wobject **ret, struct err *err)
{
    return encode(s, WOBJECT_POD, pod->json, pod->node_name, ret, err);
}

/* Kept until the object changes; NULL: it cannot be encoded. */
static struct wobject *keep(struct wsight *s, enum wobject_kind kind, const struct sched_object *o,
                            struct str text, const struct word *node)
{
    struct wobject *known = map_get(&s->kept, o->uid);
    if (known)
        return known;
    struct err err = { 0 };
    if (encode(s, kind, text, node, &known, &err) < 0) {
        log_warn("an object cannot be shown to plugins", "name=" STR_FMT " reason=\"%s\"",
                 STR_ARG(o->name), err_text(&err));
        return NULL;
    }
    (void)map_put(&s->kept, o->uid, known);
    return known;
}

static const struct sched_node_info *find(const struct wsight *s, struct str name)
{
    if (!s->framework)
        return NULL;
    const struct word *word = words_find(s->framework->words, name);
    return word ? sched_cache_node(s->framework->cache, word) : NULL;
}

static struct str node_bytes(struct wsight *s, const struct sched_node *node)
{
    const struct wobject *o = keep(s, WOBJECT_NODE, &node->o, node->json, NULL);
    return o ? o->bytes : STR("");
}

bool wsight_node(struct wsight *s, struct str name, struct str *ret)
{
    const struct sched_node_info *info = find(s, name);
    if (info)
        *ret = node_bytes(s, info->node);
    return info && ret->n;
}

/* ---- lists ---- */

struct str wsight_node_list(struct wsight *s)
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
        wlist_add(&s->node_list, node_bytes(s, nodes[i]->node));
    s->node_list_at = generation;
    return buf_str(&s->node_list);
}

bool wsight_node_pods(struct wsight *s, struct arena *a, struct str node, struct str *ret)
{
    const struct sched_node_info *info = find(s, node);
    if (!info)
        return false;
    scoped(buf_fini_scoped) struct buf list = BUF_INIT(UINT32_MAX);
    wlist_begin(&list);
    for (uint32_t i = 0; i < info->n_pods; i++) {
        const struct sched_pod *pod = info->pods[i];
        const struct wobject *o = keep(s, WOBJECT_POD, &pod->o, pod->json, pod->node_name);
        if (o)
            wlist_add(&list, o->bytes);
    }
    *ret = str_n(arena_strndup(a, list.p, list.n), list.n);
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct sched_image *const *x = a, *const *y = b;
    return strcmp((*x)->name->text, (*y)->name->text);
}

bool wsight_image_states(struct wsight *s, struct arena *a, struct str node, struct str *ret)
{
    const struct sched_node_info *info = find(s, node);
    if (!info)
        return false;
    uint32_t n = info->node->n_images;
    const struct sched_image **sorted = arena_new_n(a, const struct sched_image *, n);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = &info->node->images[i];
    if (n)
        qsort(sorted, n, sizeof *sorted, by_name);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_char(&b, '{');
    for (uint32_t i = 0; i < n; i++) {
        int64_t size = 0;
        uint32_t n_nodes = sched_cache_image_nodes(s->framework->cache, sorted[i]->name, &size);
        if (i && sorted[i]->name == sorted[i - 1]->name)
            continue;
        if (i)
            (void)buf_add_char(&b, ',');
        payload_add_json_string(&b, word_str(sorted[i]->name));
        (void)buf_printf(&b, ":{\"Size\":%" PRId64 ",\"NumNodes\":%" PRIu32 ",\"Nodes\":null}",
                         size, n_nodes);
    }
    (void)buf_add_char(&b, '}');
    *ret = str_n(arena_strndup(a, b.p, b.n), b.n);
    return true;
}

static void add_change(struct buf *to, const struct sched_node_info *info)
{
    (void)buf_add_str(to, word_str(info->node->name));
    (void)buf_add_char(to, 0);
}

struct str wsight_node_changes(struct wsight *s, struct arena *a, uint64_t since)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    const struct sched_cache *cache = s->framework ? s->framework->cache : NULL;
    const struct sched_node_info *newest = cache ? sched_cache_newest(cache) : NULL;
    uint64_t generation = newest ? newest->generation : 0, asked = since >> 8,
             now = generation << 8 | s->n_nodes_gone;
    size_t n = 0;
    const struct sched_node_info *const *nodes = cache ? sched_cache_nodes(cache, &n) : NULL;
    bool is_all = asked == 0 || asked > generation || (uint8_t)since != s->n_nodes_gone;
    (void)buf_add(&b, &now, sizeof now);
    (void)buf_add_u8(&b, is_all);
    if (is_all)
        for (size_t i = 0; i < n; i++)
            add_change(&b, nodes[i]);
    else
        for (const struct sched_node_info *i = newest; i && i->generation > asked; i = i->older)
            if (i->node)
                add_change(&b, i);
    return str_n(arena_strndup(a, b.p, b.n), b.n);
}
