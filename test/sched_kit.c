/* SPDX-License-Identifier: Apache-2.0 */
/* See sched_kit.h. */
#include "sched_kit.h"

#include "test.h"

static uint64_t now_ms(void *arg)
{
    return 1000;
}
static int64_t wall_ms(void *arg)
{
    return ((struct kit *)arg)->wall_ms;
}
static uint64_t no_random(void *arg)
{
    return 0;
}

void kit_init(struct kit *k)
{
    *k = (struct kit){ .words = intern_table_new(), .wall_ms = 1790000000000 };
    k->cache = sched_cache_new(k->words);
    k->profile.framework = (struct sched_framework){ .profile = &k->profile,
                                                     .words = k->words,
                                                     .cache = k->cache,
                                                     .now_ms = now_ms,
                                                     .wall_ms = wall_ms,
                                                     .random = no_random,
                                                     .arg = k };
}

static void drop_plugin(struct kit *k)
{
    if (k->plugin && k->plugin->ops->destroy)
        k->plugin->ops->destroy(k->plugin);
    else
        free(k->plugin);
    k->plugin = NULL;
}

void kit_fini(struct kit *k)
{
    drop_plugin(k);
    for (size_t i = 0; i < k->n_kept; i++)
        sched_object_unref(k->words, k->kept[i]);
    sched_cache_free(k->cache);
    intern_table_free(k->words);
    arena_fini(&k->arena);
}

/* ---- objects ---- */

static struct json *parse(struct kit *k, struct str text)
{
    struct str copy = str_copy_arena(&k->arena, text);
    for (size_t i = 0; i < copy.n; i++)
        if (copy.p[i] == '\'')
            ((char *)copy.p)[i] = '"';
    struct json *ret;
    struct err err = { 0 };
    if (json_parse(&k->arena, copy, NULL, &ret, &err) < 0)
        TEST_FAIL("%s in " STR_FMT, err_text(&err), STR_ARG(copy));
    return ret;
}

static struct sched_object *read_object(struct kit *k, enum sched_kind kind,
                                        const struct json *json)
{
    struct sched_object *ret;
    struct err err = { 0 };
    if (sched_object_read(k->words, kind, json, false, &ret, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    return ret;
}

__attribute__((format(printf, 2, 0))) static struct json *parse_va(struct kit *k, const char *fmt,
                                                                   va_list ap)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    CHECK_OK(buf_vprintf(&text, fmt, ap));
    return parse(k, buf_str(&text));
}

/* The plugin hears of what it may keep something of. */
static void tell(struct kit *k, enum sched_kind kind, const struct sched_object *before,
                 const struct sched_object *after)
{
    struct sched_event e = { .actions = !before  ? SCHED_ADD
                                        : !after ? SCHED_DELETE
                                                 : SCHED_UPDATE,
                             .before = before,
                             .after = after };
    if (kind != SCHED_NODE && kind != SCHED_NODE_IMAGE_STATE)
        return;
    e.resource = kind == SCHED_NODE ? SCHED_ON_NODE : SCHED_ON_NODE_IMAGE_STATE;
    if (k->plugin && k->plugin->ops->changed)
        k->plugin->ops->changed(k->plugin, &e);
}

static void put(struct kit *k, struct sched_object *o)
{
    struct err err = { 0 };
    struct sched_object *old = NULL;
    if (sched_cache_put(k->cache, o, &old, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    tell(k, o->kind, old, o);
    sched_object_unref(k->words, old);
    sched_object_unref(k->words, o);
}

static struct sched_object *keep(struct kit *k, struct sched_object *o)
{
    CHECK(k->n_kept < ARRAY_LEN(k->kept));
    return k->kept[k->n_kept++] = o;
}

void kit_put(struct kit *k, enum sched_kind kind, const char *json, ...)
{
    va_list ap;
    va_start(ap, json);
    put(k, read_object(k, kind, parse_va(k, json, ap)));
    va_end(ap);
}

void kit_del(struct kit *k, enum sched_kind kind, const char *name)
{
    struct sched_object *old = NULL;
    sched_cache_del(k->cache, kind, STR(""), str_of(name), &old);
    CHECK(old);
    tell(k, kind, old, NULL);
    sched_object_unref(k->words, old);
}

struct sched_object *kit_read(struct kit *k, enum sched_kind kind, const char *json, ...)
{
    va_list ap;
    va_start(ap, json);
    struct sched_object *o = keep(k, read_object(k, kind, parse_va(k, json, ap)));
    va_end(ap);
    return o;
}

const struct sched_pod *kit_pod(struct kit *k, const char *spec, ...)
{
    va_list ap;
    va_start(ap, spec);
    struct json *pod = parse_va(k, spec, ap);
    va_end(ap);
    if (!json_getc(pod, "spec")) { /* the spec alone */
        struct json *outer = json_new_object(&k->arena);
        json_setc(&k->arena, outer, "spec", pod);
        pod = outer;
    }
    struct json *meta = json_obj(&k->arena, pod, "metadata");
    if (!json_getc(meta, "name"))
        json_set_str(&k->arena, meta, "name", STR("p"));
    if (!json_getc(meta, "namespace"))
        json_set_str(&k->arena, meta, "namespace", STR("default"));
    return sched_pod_of(keep(k, read_object(k, SCHED_POD, pod)));
}

void kit_node(struct kit *k, const char *name, const char *allocatable, const char *labels,
              const char *more)
{
    kit_put(k, SCHED_NODE,
            "{'metadata': {'name': '%s', 'labels': {%s}}, 'status': {'allocatable': {'pods': "
            "'110'%s%s}}%s%s}",
            name, labels ? labels : "", *allocatable ? ", " : "", allocatable, more ? ", " : "",
            more ? more : "");
}

/* ---- the plugin ---- */

const char *kit_plugin_error(struct kit *k, const char *name, const char *args)
{
    const struct sched_plugin_ops *ops = sched_native_plugin(str_of(name));
    if (!ops)
        TEST_FAIL("no plugin %s", name);
    drop_plugin(k);
    struct sched_plugin_env env = { .framework = &k->profile.framework,
                                    .name = str_of(ops->name),
                                    .args = args ? parse(k, str_of(args)) : NULL };
    struct err err = { 0 };
    struct sched_plugin *p = NULL;
    if (!ops->create)
        p = xnew(struct sched_plugin);
    else if (ops->create(&env, &p, &err) < 0)
        return arena_printf(&k->arena, "%s", err_text(&err));
    p->ops = ops;
    p->name = env.name;
    p->framework = env.framework;
    k->plugin = k->profile.plugins[0] = p;
    k->profile.n_plugins = 1;
    return "";
}

void kit_plugin(struct kit *k, const char *name, const char *args)
{
    const char *error = kit_plugin_error(k, name, args);
    if (*error)
        TEST_FAIL("%s: %s", name, error);
}

/* ---- verdicts ---- */

static void begin(struct kit *k, const struct sched_pod *pod)
{
    struct sched_cycle *c = k->cycle = arena_new(&k->arena, struct sched_cycle);
    *c = (struct sched_cycle){ .arena = &k->arena, .pod = pod, .framework = &k->profile.framework };
    c->states = arena_new(&k->arena, void *);
}

static void add_status(struct buf *to, struct kit *k, const struct sched_status *s)
{
    struct str message = sched_status_message(&k->arena, s);
    (void)buf_printf(to, "%s%s" STR_FMT, sched_code_name(s->code), message.n > 0 ? ": " : "",
                     STR_ARG(message));
}

static const struct sched_status *run_pre_filter(struct kit *k, const struct sched_pod *pod,
                                                 struct sched_node_set *ret)
{
    begin(k, pod);
    *ret = (struct sched_node_set){ .all = true };
    return k->plugin->ops->pre_filter ? k->plugin->ops->pre_filter(k->plugin, k->cycle, ret) : NULL;
}

const char *kit_pre_filter(struct kit *k, const struct sched_pod *pod)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    struct sched_node_set set;
    const struct sched_status *s = run_pre_filter(k, pod, &set);
    if (s)
        add_status(&text, k, s);
    else
        (void)buf_add_cstr(&text, "Success");
    for (uint32_t i = 0; !set.all && i < set.n; i++)
        (void)buf_printf(&text, "%s" STR_FMT "%s", i ? " " : " [", STR_ARG(set.names[i]),
                         i + 1 == set.n ? "]" : "");
    return arena_strndup(&k->arena, text.p, text.n);
}

static int by_name(const void *a, const void *b)
{
    const struct sched_node_info *const *x = a, *const *y = b;
    return str_cmp(intern_str((*x)->node->name), intern_str((*y)->node->name));
}

static const struct sched_node_info **nodes_by_name(struct kit *k, size_t *ret_n)
{
    const struct sched_node_info *const *nodes = sched_cache_nodes(k->cache, ret_n);
    const struct sched_node_info **ret =
        arena_new_n(&k->arena, const struct sched_node_info *, *ret_n);
    for (size_t i = 0; i < *ret_n; i++)
        ret[i] = nodes[i];
    qsort(ret, *ret_n, sizeof *ret, by_name);
    return ret;
}

static bool is_left(const struct sched_node_set *set, struct str name)
{
    for (uint32_t i = 0; !set->all && i < set->n; i++)
        if (str_eq(set->names[i], name))
            return true;
    return set->all;
}

const char *kit_filter(struct kit *k, const struct sched_pod *pod)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    struct sched_node_set set;
    const struct sched_status *s = run_pre_filter(k, pod, &set);
    if (s && s->code != SCHED_SKIP) {
        add_status(&text, k, s);
        return arena_strndup(&k->arena, text.p, text.n);
    }
    size_t n;
    const struct sched_node_info **nodes = nodes_by_name(k, &n);
    for (size_t i = 0; i < n; i++) {
        struct str name = intern_str(nodes[i]->node->name);
        (void)buf_printf(&text, "%s" STR_FMT ": ", i ? "; " : "", STR_ARG(name));
        const struct sched_status *f = NULL;
        if (!s && k->plugin->ops->filter && is_left(&set, name))
            f = k->plugin->ops->filter(k->plugin, k->cycle, nodes[i]);
        if (f)
            add_status(&text, k, f);
        else
            (void)buf_add_cstr(&text, is_left(&set, name) ? "ok" : "left out");
    }
    return arena_strndup(&k->arena, buf_cstr(&text), text.n);
}

/* only: their names, each after a space; NULL: all. */
static const char *score(struct kit *k, const struct sched_pod *pod, bool normalizes,
                         const char *only)
{
    const struct sched_plugin_ops *ops = k->plugin->ops;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    size_t n;
    const struct sched_node_info **nodes = nodes_by_name(k, &n);
    struct sched_node_set set;
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++)
        if (!only || strstr(only, arena_printf(&k->arena, " %s", nodes[i]->node->name->text)))
            nodes[n_left++] = nodes[i];
    n = n_left;
    (void)run_pre_filter(k, pod, &set);
    const struct sched_status *s =
        ops->pre_score ? ops->pre_score(k->plugin, k->cycle, nodes, n) : NULL;
    int64_t *scores = arena_new_n(&k->arena, int64_t, n);
    if (!s)
        s = ops->score(k->plugin, k->cycle, nodes, n, scores);
    if (!s && normalizes && ops->normalize)
        s = ops->normalize(k->plugin, k->cycle, nodes, n, scores);
    if (s)
        add_status(&text, k, s);
    for (size_t i = 0; !s && i < n; i++)
        (void)buf_printf(&text, "%s%s=%lld", i ? " " : "", nodes[i]->node->name->text,
                         (long long)scores[i]);
    return arena_strndup(&k->arena, buf_cstr(&text), text.n);
}

const char *kit_score(struct kit *k, const struct sched_pod *pod)
{
    return score(k, pod, true, NULL);
}

const char *kit_score_some(struct kit *k, const struct sched_pod *pod, const char *names)
{
    return score(k, pod, true, arena_printf(&k->arena, " %s", names));
}

const char *kit_raw_score(struct kit *k, const struct sched_pod *pod)
{
    return score(k, pod, false, NULL);
}

const char *kit_hint(struct kit *k, const struct sched_pod *pod, const struct sched_event *event)
{
    size_t n = 0;
    const struct sched_event_reg *regs =
        k->plugin->ops->events ? k->plugin->ops->events(k->plugin, &n) : NULL;
    const char *ret = "none";
    for (size_t i = 0; i < n; i++) {
        if (!sched_event_matches(&regs[i], event))
            continue;
        if (!regs[i].hint || regs[i].hint(k->plugin, pod, event) == SCHED_HINT_QUEUE)
            return "queue";
        ret = "skip";
    }
    return ret;
}
