/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of BREAK's scorers; see break_inputs.h. */
#include "sched/plugins/break_inputs.h"

#include "base/sys.h"

#include <math.h>

/* ---- arguments ---- */

int break_reading(const struct json *args, bool has_intended, enum place_break_reading *ret,
                  struct err *err)
{
    struct str text = json_get_str(args, "reading");
    if (text.n == 0 || str_is(text, "norm"))
        *ret = PLACE_BREAK_NORM;
    else if (str_is(text, "paper"))
        *ret = PLACE_BREAK_PAPER;
    else if (has_intended && str_is(text, "intended"))
        *ret = PLACE_BREAK_INTENDED;
    else
        return err_set(err, E_INVALID,
                       "reading: Unsupported value: \"" STR_FMT "\": supported values: %s",
                       STR_ARG(text),
                       has_intended ? "\"intended\", \"norm\", \"paper\"" : "\"norm\", \"paper\"");
    return 0;
}

int64_t break_points(double p, double max, bool is_old)
{
    double points = round(p / max * SCHED_SCORE_MAX / (is_old ? 2 : 1));
    return (int64_t)MIN(MAX(points, 0), SCHED_SCORE_MAX);
}

bool break_is_old(const struct sched_framework *f, int64_t told_ms, int64_t limit_ms)
{
    int64_t now_ms = f->wall_ms(f->arg);
    return told_ms < now_ms - limit_ms || told_ms > now_ms + SCHED_NODE_STATE_SKEW_MS;
}

int break_images_read(const struct json *args, struct break_images *ret, struct err *err)
{
    struct str text = json_get_str(args, "layers");
    const struct json *wait = json_getc(args, "waitMilliseconds");
    int64_t wait_ms = BREAK_WAIT_MS;
    bool is_annotation = str_is(text, "annotation");
    if (text.n && !is_annotation && !str_is(text, "registry"))
        return err_set(err, E_INVALID,
                       "layers: Unsupported value: \"" STR_FMT
                       "\": supported values: \"annotation\", \"registry\"",
                       STR_ARG(text));
    if (wait && (json_int(wait, &wait_ms) < 0 || wait_ms < 0 || wait_ms > BREAK_WAIT_MAX_MS))
        return err_set(err, E_INVALID,
                       "waitMilliseconds: Invalid value: not in valid range [0, %d]",
                       BREAK_WAIT_MAX_MS);
    *ret = (struct break_images){ .asks = !is_annotation, .wait_ms = (uint64_t)wait_ms };
    return 0;
}

SCHED_STATUS_CONST(waits, SCHED_PENDING, "waiting for the registries of its images");

const struct sched_status *break_images_gate(const struct break_images *im, struct sched_plugin *p,
                                             const struct sched_pod *pod)
{
    const struct sched_framework *f = p->framework;
    if (!im->asks || !f->images || f->images->is_settled(f->images_arg, pod, im->wait_ms))
        return NULL;
    return &waits;
}

enum sched_hint break_images_hint(const struct break_images *im, struct sched_plugin *p,
                                  const struct sched_pod *pod)
{
    const struct sched_framework *f = p->framework;
    bool helps = im->asks && f->images && f->images->concerns(f->images_arg, pod) &&
                 f->images->is_settled(f->images_arg, pod, im->wait_ms);
    return helps ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

/* ---- nodes ---- */

static void keep_node(struct break_states *s, struct intern **slot, struct intern *node)
{
    if (*slot == node)
        return;
    intern_unref(s->words, *slot);
    *slot = node ? intern_ref(node) : NULL;
}

static void kept_reset(struct break_states *s, struct break_kept *k)
{
    for (uint32_t i = 0; i < k->cap; i++)
        keep_node(s, &k->slots[i].node, NULL);
}

void break_states_init(struct break_states *s, struct intern_table *words)
{
    *s = (struct break_states){ .words = words, .seed = sys_random_u64() };
}

void break_states_fini(struct break_states *s)
{
    for (uint32_t i = 0; i < s->cap; i++)
        keep_node(s, &s->slots[i].node, NULL);
    free(s->slots);
    for (size_t i = 0; i < BREAK_KEPT_SETS; i++) {
        kept_reset(s, &s->kept[i]);
        free(s->kept[i].slots);
    }
    *s = (struct break_states){ .words = s->words, .seed = s->seed };
}

static void reserve(struct break_states *s, uint32_t n)
{
    if (n <= s->cap)
        return;
    s->slots = xrealloc(s->slots, n * sizeof *s->slots);
    memset(s->slots + s->cap, 0, (n - s->cap) * sizeof *s->slots);
    s->cap = n;
}

const struct sched_node_image_state *break_state(struct break_states *s,
                                                 const struct sched_cache *cache,
                                                 const struct sched_node_info *node)
{
    reserve(s, MAX(node->index + 1, sched_cache_nodes_end(cache)));
    struct break_state_slot *slot = &s->slots[node->index];
    uint64_t generation = sched_cache_kind_generation(cache, SCHED_NODE_IMAGE_STATE);
    if (slot->node != node->node->name || slot->generation != generation) {
        keep_node(s, &slot->node, node->node->name);
        slot->state =
            sched_cache_get(cache, SCHED_NODE_IMAGE_STATE, STR(""), intern_str(slot->node));
        slot->generation = generation;
    }
    return slot->state;
}

/* ---- layers ---- */

/* Malformed entries are left out: a missing layer only changes a score. */
static bool read_layer(struct str text, uint64_t *ret_prefix, int64_t *ret_size,
                       int64_t *ret_unpacked)
{
    struct str id, amounts, size, unpacked;
    if (!str_cut(str_trim(text), '=', &id, &amounts))
        return false;
    bool has_unpacked = str_cut(amounts, '/', &size, &unpacked);
    if (sched_layer_prefix(str_trim(id), ret_prefix, NULL) < 0 ||
        parse_i64(str_trim(size), 0, INT64_MAX / PLACE_BREAK_LAYERS_MAX, ret_size) < 0)
        return false;
    *ret_unpacked = *ret_size;
    return !has_unpacked ||
           parse_i64(str_trim(unpacked), 0, INT64_MAX / PLACE_BREAK_LAYERS_MAX, ret_unpacked) >= 0;
}

static bool is_among(const uint64_t *prefixes, uint32_t n, uint64_t prefix)
{
    for (uint32_t i = 0; i < n; i++)
        if (prefixes[i] == prefix)
            return true;
    return false;
}

static void read_layers(struct arena *a, struct str text, struct break_layers *l)
{
    uint64_t *prefixes = arena_new_n(a, uint64_t, PLACE_BREAK_LAYERS_MAX);
    struct str one;
    l->prefix = prefixes;
    for (bool more = text.n > 0; more && l->n < PLACE_BREAK_LAYERS_MAX;) {
        uint64_t prefix;
        int64_t size, unpacked;
        more = str_cut(text, ',', &one, &text);
        if (!read_layer(one, &prefix, &size, &unpacked) || is_among(prefixes, l->n, prefix))
            continue;
        prefixes[l->n] = prefix;
        l->size[l->n] = size;
        l->unpacked[l->n++] = unpacked;
        l->total += size;
    }
}

static void take_images(const struct sched_cycle *cycle, struct break_layers *l)
{
    const struct sched_pod *pod = cycle->pod;
    const struct intern **images =
        arena_new_n(cycle->arena, const struct intern *, PLACE_BREAK_LAYERS_MAX);
    l->image = images;
    for (uint32_t i = 0; i < pod->n_images && l->n < PLACE_BREAK_LAYERS_MAX; i++) {
        int64_t size = 0;
        uint32_t k = 0;
        while (k < l->n && images[k] != pod->images[i])
            k++;
        if (k < l->n ||
            sched_cache_image_nodes(cycle->framework->cache, pod->images[i], &size) == 0)
            continue;
        images[l->n] = pod->images[i];
        l->size[l->n] = l->unpacked[l->n] = size;
        l->n++;
        l->total += size;
    }
}

static struct str text_of(const struct break_images *im, const struct sched_cycle *cycle)
{
    const struct sched_framework *f = cycle->framework;
    if (cycle->pod->image_layers)
        return intern_str(cycle->pod->image_layers);
    return im->asks && f->images ? f->images->layers(f->images_arg, cycle->pod, cycle->arena)
                                 : STR("");
}

const struct break_layers *break_layers_of(const struct break_states *s,
                                           const struct break_images *im,
                                           const struct sched_cycle *cycle)
{
    struct break_layers *l = arena_new(cycle->arena, struct break_layers);
    struct str text = text_of(im, cycle);
    l->size = arena_new_n(cycle->arena, int64_t, PLACE_BREAK_LAYERS_MAX);
    l->unpacked = arena_new_n(cycle->arena, int64_t, PLACE_BREAK_LAYERS_MAX);
    if (cycle->pod->image_layers || text.n) {
        l->hash = str_hash(text, s->seed);
        read_layers(cycle->arena, text, l);
    } else {
        take_images(cycle, l);
    }
    return l;
}

struct break_set_id break_set_id(const struct break_layers *l)
{
    return (struct break_set_id){ .hash = l->hash, .n = l->n, .total = l->total };
}

bool break_set_is(const struct break_set_id *a, const struct break_set_id *b)
{
    return a->hash == b->hash && a->n == b->n && a->total == b->total;
}

static void look(const struct break_layers *l, const struct sched_node *node,
                 const struct sched_node_image_state *state, struct place_break_set *ret)
{
    *ret = (struct place_break_set){ 0 };
    for (uint32_t i = 0; i < l->n; i++) {
        bool has = l->prefix ? state && sched_node_image_state_has(state, l->prefix[i])
                             : sched_node_has_image(node, l->image[i]);
        if (has)
            place_break_put(ret, i);
    }
}

/* The cached set for these layers; replaces the least recently used one. */
static struct break_kept *kept_of(struct break_states *s, const struct break_layers *l)
{
    const struct break_set_id set = break_set_id(l);
    struct break_kept *k = &s->kept[0];
    bool is_same = false;
    for (size_t i = 0; i < BREAK_KEPT_SETS; i++) {
        is_same = s->kept[i].used && break_set_is(&s->kept[i].set, &set);
        if (is_same) {
            k = &s->kept[i];
            break;
        }
        if (s->kept[i].used < k->used)
            k = &s->kept[i];
    }
    k->used = ++s->n_used;
    if (!is_same) {
        kept_reset(s, k);
        k->set = set;
    }
    return k;
}

void break_present(struct break_states *s, const struct sched_cycle *cycle,
                   const struct break_layers *l, const struct sched_node_info *node,
                   const struct sched_node_image_state *state, struct place_break_set *ret)
{
    const struct sched_cache *cache = cycle->framework->cache;
    if (!l->prefix || !state || state->layers_generation == 0) {
        look(l, node->node, state, ret);
        return;
    }
    struct break_kept *k = kept_of(s, l);
    uint32_t end = MAX(node->index + 1, sched_cache_nodes_end(cache));
    if (k->cap < end) {
        k->slots = xrealloc(k->slots, end * sizeof *k->slots);
        memset(k->slots + k->cap, 0, (end - k->cap) * sizeof *k->slots);
        k->cap = end;
    }
    struct break_kept_slot *slot = &k->slots[node->index];
    if (slot->node != node->node->name || slot->generation != state->layers_generation) {
        keep_node(s, &slot->node, node->node->name);
        slot->generation = state->layers_generation;
        look(l, node->node, state, &slot->present);
    }
    *ret = slot->present;
}
