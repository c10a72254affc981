/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/explain/explain.h"

#include "base/vec.h"
#include "codec/json.h"

struct explain_refusal {
    struct str node;
    struct str plugin;
    enum sched_code code;
    struct str *reasons;
    uint32_t n_reasons;
};

/* One plugin's scores, for the nodes in `ranked`. */
struct explain_column {
    struct str plugin;
    int64_t *points;
};

struct explain {
    struct arena arena; /* of the attempt */
    struct str namespace, name, scheduler_name, assigned;
    /* What the pod waits for before it is tried, or (with a node) in its binding; plugin "":
     * nothing. */
    struct str waits_node, waits_plugin, waits_for;
    bool is_over, is_placed;
    struct str node, message;
    enum sched_code code;
    VEC(struct explain_refusal) refused;
    struct str *ranked; /* nodes that were scored */
    size_t n_ranked;
    VEC(struct explain_column) columns;
    struct explain_score *chosen;
    int64_t total;
};

struct explain *explain_new(void)
{
    return xnew(struct explain);
}

void explain_free(struct explain *e)
{
    if (!e)
        return;
    arena_fini(&e->arena);
    vec_fini(&e->refused);
    vec_fini(&e->columns);
    free(e);
}

/* ---- observing ---- */

/* The first report about an attempt starts it. */
static void begin(struct explain *e, const struct sched_pod *pod)
{
    bool is_same =
        !e->is_over && str_eq(e->namespace, pod->o.namespace) && str_eq(e->name, pod->o.name);
    if (is_same)
        return;
    arena_reset(&e->arena);
    e->refused.n = e->columns.n = e->n_ranked = 0;
    e->ranked = NULL;
    e->chosen = NULL;
    e->total = 0;
    e->is_over = e->is_placed = false;
    e->assigned = e->waits_node = e->waits_plugin = STR("");
    e->namespace = str_copy_arena(&e->arena, pod->o.namespace);
    e->name = str_copy_arena(&e->arena, pod->o.name);
    e->scheduler_name = str_copy_arena(&e->arena, pod->scheduler_name);
}

static void on_refused(void *arg, const struct sched_pod *pod, const struct sched_node_info *node,
                       const struct sched_status *status)
{
    struct explain *e = arg;
    begin(e, pod);
    struct explain_refusal r = {
        .node = str_copy_arena(&e->arena, node->node->o.name),
        .plugin = str_copy_arena(&e->arena, status->plugin),
        .code = status->code,
        .reasons = arena_new_n(&e->arena, struct str, status->n_reasons + 1),
        .n_reasons = status->n_reasons,
    };
    for (uint32_t i = 0; i < status->n_reasons; i++)
        r.reasons[i] = str_copy_arena(&e->arena, status->reasons[i]);
    vec_push(&e->refused, r);
}

static void on_waits(void *arg, const struct sched_pod *pod, const struct intern *node,
                     struct str plugin, struct str what)
{
    struct explain *e = arg;
    begin(e, pod);
    e->waits_node = str_copy_arena(&e->arena, intern_str(node));
    e->waits_plugin = str_copy_arena(&e->arena, plugin);
    e->waits_for = str_copy_arena(&e->arena, what);
}

static void on_scored(void *arg, const struct sched_pod *pod, struct str plugin,
                      const struct sched_node_info *const *nodes, size_t n, const int64_t *scores)
{
    struct explain *e = arg;
    begin(e, pod);
    if (!e->ranked) {
        e->ranked = arena_new_n(&e->arena, struct str, n + 1);
        e->n_ranked = n;
        for (size_t i = 0; i < n; i++)
            e->ranked[i] = str_copy_arena(&e->arena, nodes[i]->node->o.name);
    }
    if (n != e->n_ranked)
        return;
    struct explain_column c = { str_copy_arena(&e->arena, plugin),
                                arena_new_n(&e->arena, int64_t, n + 1) };
    for (size_t i = 0; i < n; i++)
        c.points[i] = scores[i];
    vec_push(&e->columns, c);
}

static int64_t total_of(const struct explain *e, size_t i)
{
    int64_t total = 0;
    for (size_t k = 0; k < e->columns.n; k++)
        total += e->columns.p[k].points[i];
    return total;
}

static void note_chosen(struct explain *e)
{
    for (size_t i = 0; i < e->n_ranked; i++) {
        if (!str_eq(e->ranked[i], e->node))
            continue;
        e->chosen = arena_new_n(&e->arena, struct explain_score, e->columns.n + 1);
        for (size_t k = 0; k < e->columns.n; k++)
            e->chosen[k] =
                (struct explain_score){ e->columns.p[k].plugin, e->columns.p[k].points[i] };
        e->total = total_of(e, i);
    }
}

static void on_decided(void *arg, const struct sched_pod *pod, const struct intern *node,
                       const struct sched_status *status)
{
    struct explain *e = arg;
    begin(e, pod);
    e->is_over = true;
    e->assigned = str_copy_arena(&e->arena, intern_str(pod->node_name));
    e->is_placed = node != NULL;
    e->node = str_copy_arena(&e->arena, intern_str(node));
    e->code = sched_code(status);
    e->message = status ? sched_status_message(&e->arena, status) : STR("");
    note_chosen(e);
}

const struct sched_observer explain_observer = {
    .refused = on_refused, .waits = on_waits, .scored = on_scored, .decided = on_decided
};

size_t explain_chosen(const struct explain *e, const struct explain_score **ret, int64_t *ret_total)
{
    *ret = e->chosen;
    *ret_total = e->total;
    return e->chosen ? e->columns.n : 0;
}

/* ---- output ---- */

static void add_member(struct buf *to, const char *key, struct str value)
{
    (void)buf_printf(to, "\"%s\":", key);
    (void)json_write_str(to, value);
}

struct explain_rank {
    size_t i;
    int64_t total;
    struct str name;
};

static int compare_ranks(const void *a, const void *b)
{
    const struct explain_rank *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return str_cmp(x->name, y->name);
}

static void write_ranked(const struct explain *e, struct buf *to, const char **between)
{
    scoped(free_scoped) struct explain_rank *ranks = xnew_n(struct explain_rank, e->n_ranked + 1);
    for (size_t i = 0; i < e->n_ranked; i++)
        ranks[i] = (struct explain_rank){ i, total_of(e, i), e->ranked[i] };
    if (e->n_ranked)
        qsort(ranks, e->n_ranked, sizeof *ranks, compare_ranks);
    for (size_t i = 0; i < e->n_ranked; i++) {
        (void)buf_printf(to, "%s{", *between);
        *between = ",";
        add_member(to, "name", ranks[i].name);
        (void)buf_printf(to, ",\"total\":%lld,\"scores\":{", (long long)ranks[i].total);
        for (size_t k = 0; k < e->columns.n; k++) {
            (void)buf_add_cstr(to, k ? "," : "");
            (void)json_write_str(to, e->columns.p[k].plugin);
            (void)buf_printf(to, ":%lld", (long long)e->columns.p[k].points[ranks[i].i]);
        }
        (void)buf_add_cstr(to, "}}");
    }
}

static void write_refused(const struct explain *e, struct buf *to, const char **between)
{
    for (size_t k = 0; k < e->refused.n; k++) {
        const struct explain_refusal *r = &e->refused.p[k];
        (void)buf_printf(to, "%s{", *between);
        *between = ",";
        add_member(to, "name", r->node);
        (void)buf_add_cstr(to, ",\"refused\":{");
        add_member(to, "plugin", r->plugin);
        (void)buf_add_char(to, ',');
        add_member(to, "code", str_of(sched_code_name(r->code)));
        (void)buf_add_cstr(to, ",\"reasons\":[");
        for (uint32_t i = 0; i < r->n_reasons; i++) {
            (void)buf_add_cstr(to, i ? "," : "");
            (void)json_write_str(to, r->reasons[i]);
        }
        (void)buf_add_cstr(to, "]}}");
    }
}

void explain_write(const struct explain *e, struct buf *to)
{
    const char *between = "";
    (void)buf_add_char(to, '{');
    add_member(to, "namespace", e->namespace);
    (void)buf_add_char(to, ',');
    add_member(to, "name", e->name);
    (void)buf_add_char(to, ',');
    add_member(to, "schedulerName", e->scheduler_name);
    if (e->assigned.n) {
        (void)buf_add_char(to, ',');
        add_member(to, "assigned", e->assigned);
    }
    if (e->waits_plugin.n) {
        (void)buf_add_cstr(to, ",\"waiting\":{");
        add_member(to, "node", e->waits_node);
        (void)buf_add_char(to, ',');
        add_member(to, "plugin", e->waits_plugin);
        (void)buf_add_char(to, ',');
        add_member(to, "for", e->waits_for);
        (void)buf_add_char(to, '}');
    }
    (void)buf_add_cstr(to, ",\"node\":");
    if (e->is_placed)
        (void)json_write_str(to, e->node);
    else
        (void)buf_add_cstr(to, "null");
    (void)buf_add_char(to, ',');
    add_member(to, "code", str_of(sched_code_name(e->code)));
    (void)buf_add_char(to, ',');
    add_member(to, "message", e->message);
    (void)buf_add_cstr(to, ",\"nodes\":[");
    write_ranked(e, to, &between);
    write_refused(e, to, &between);
    (void)buf_add_cstr(to, "]}");
}
