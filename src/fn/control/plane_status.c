/* SPDX-License-Identifier: Apache-2.0 */
/* The status of the plane: metrics, the connected peers, and a check of its books. */
#include "fn/control/plane_impl.h"

#include "codec/json.h"

#include <inttypes.h>

/* ---------------------------------------------------------------- the books */

static uint32_t check_revision(const struct plane *p, const struct control_plane_revision *rev)
{
    uint32_t n[SANDBOX_DELETING + 1] = { 0 }, prev = TABLE_NONE, total = 0;
    for (uint32_t slot = rev->first; slot != TABLE_NONE; slot = p->table.at[slot].next) {
        const struct plane_sandbox *s = &p->table.at[slot];
        assert(s->id && s->function == rev->f->number && s->revision == rev->number);
        assert(s->prev == prev && s->state != SANDBOX_FREE && p->workers.p[s->worker]);
        assert(table_find(&p->table, s->id) == slot);
        n[s->state]++;
        total++;
        prev = slot;
    }
    assert(n[SANDBOX_CREATING] == rev->creating && n[SANDBOX_READY] == rev->ready);
    assert(n[SANDBOX_DRAINING] + n[SANDBOX_DELETING] == rev->draining);
    return total;
}

static void check_load(const struct plane_active *a)
{
    uint32_t running = 0, queued = 0;
    for (size_t i = 0; i < a->shares.n; i++) {
        running += a->shares.p[i].running;
        queued += a->shares.p[i].queued;
    }
    assert(running == a->running && queued == a->queued);
}

void plane_check(const struct plane *p)
{
    uint32_t total = 0, awake = 0, functions = 0, workers = 0, of_workers = 0, of_spaces = 0;
    for (size_t i = 1; i < p->functions.n; i++) {
        const struct control_plane_function *f = p->functions.p[i];
        functions += f && !f->dropped;
        for (uint32_t k = 0; f && k < f->n_revisions; k++) {
            total += check_revision(p, f->revisions[k]);
            awake += f->revisions[k]->active != NULL;
            if (f->revisions[k]->active)
                check_load(f->revisions[k]->active);
        }
    }
    for (size_t i = 0; i < p->workers.n; i++) {
        workers += p->workers.p[i] != NULL;
        of_workers += p->workers.p[i] ? p->workers.p[i]->n_sandboxes : 0;
    }
    map_each (e, &p->namespaces)
        of_spaces += ((struct plane_namespace *)e->value)->sandboxes;
    assert(total == p->table.n_used && total == of_workers && total == of_spaces);
    assert(awake == p->n_awake && functions == p->n_functions && workers == p->n_workers);
}

/* ---------------------------------------------------------------- metrics */

static const char *const phases[] = { "image_fetch",   "sandbox_create",  "sandbox_start",
                                      "network_setup", "readiness_probe", "snapshot_creation",
                                      "find_snapshot", "worker",          "total" };

static void add_one(struct buf *to, const char *name, const char *type, const char *help,
                    uint64_t value)
{
    metric_head(to, name, type, help);
    buf_printf(to, "%s %" PRIu64 "\n", name, value);
}

void plane_metrics(const struct plane *p, struct buf *to)
{
    struct plane_counts n;
    plane_count(p, &n);
    add_one(to, "dormouse_fn_control_leads", "gauge", "1: this control plane leads", p->leads);
    add_one(to, "dormouse_fn_control_term", "gauge", "of the leader", p->term);
    add_one(to, "dormouse_fn_control_functions", "gauge", "that are known", n.functions);
    add_one(to, "dormouse_fn_control_workers", "gauge", "with a stream or a lease", n.workers);
    add_one(to, "dormouse_fn_control_gateways", "gauge", "with a stream or a lease", n.gateways);
    add_one(to, "dormouse_fn_control_revisions_awake", "gauge", "with load or a decision to come",
            n.awake);
    add_one(to, "dormouse_fn_control_endpoints_version", "gauge", "of the endpoints",
            n.endpoints_version);
    buf_printf(to,
               "# HELP dormouse_fn_control_sandboxes by state\n# TYPE "
               "dormouse_fn_control_sandboxes gauge\n"
               "dormouse_fn_control_sandboxes{state=\"creating\"} %u\n"
               "dormouse_fn_control_sandboxes{state=\"ready\"} %u\n"
               "dormouse_fn_control_sandboxes{state=\"going\"} %u\n",
               n.creating, n.ready, n.draining);
    add_one(to, "dormouse_fn_control_sandboxes_created_total", "counter", "that became ready",
            n.created);
    add_one(to, "dormouse_fn_control_sandboxes_failed_total", "counter", "creations that failed",
            n.failed);
    add_one(to, "dormouse_fn_control_sandboxes_died_total", "counter", "lost while wanted", n.died);
    add_one(to, "dormouse_fn_control_sandboxes_deleted_total", "counter", "gone as ordered",
            n.deleted);
    add_one(to, "dormouse_fn_control_orphans_total", "counter",
            "sandboxes that belonged to nothing", n.orphans);
    metric_head(to, "dormouse_fn_cold_start_seconds", "histogram",
                "from the decision to a ready sandbox, and its parts");
    for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
        scoped(free_scoped) char *labels = xasprintf("phase=\"%s\"", phases[i]);
        const struct histogram_text text = { .name = STR("dormouse_fn_cold_start_seconds"),
                                             .labels = str_of(labels) };
        histogram_write(to, &plane_start_kind, &text, histogram_view(&p->start[i]));
    }
}

static void add_peer(struct arena *a, struct json *to, const struct plane_peer *peer)
{
    json_set_str(a, to, "name", str_of(peer->name));
    json_set_str(a, to, "address", str_of(peer->address));
    json_set_int(a, to, "incarnation", (int64_t)peer->incarnation);
    json_set_bool(a, to, "connected", peer->stream != NULL);
}

void plane_json(const struct plane *p, struct buf *to)
{
    struct arena a = { 0 };
    struct json *out = json_new_object(&a), *workers = json_new_array(&a),
                *gateways = json_new_array(&a);
    json_set_bool(&a, out, "leads", p->leads);
    json_set_int(&a, out, "functions", p->n_functions);
    json_set_int(&a, out, "term", (int64_t)p->term);
    json_set_str(&a, out, "leader", str_of(p->leads ? p->opts.name : p->leader));
    for (size_t i = 0; i < p->workers.n; i++) {
        const struct plane_worker *w = p->workers.p[i];
        if (!w)
            continue;
        struct json *one = json_new_object(&a);
        add_peer(&a, one, &w->peer);
        json_set_int(&a, one, "sandboxes", w->n_sandboxes);
        json_set_int(&a, one, "cpuMilliUsed", w->cpu_used);
        json_set_int(&a, one, "memoryUsed", (int64_t)w->memory_used);
        json_set_int(&a, one, "requests", w->running);
        json_add(workers, one);
    }
    for (size_t i = 0; i < PLANE_GATEWAYS_MAX; i++) {
        if (!p->gateways[i])
            continue;
        struct json *one = json_new_object(&a);
        add_peer(&a, one, &p->gateways[i]->peer);
        json_add(gateways, one);
    }
    json_setc(&a, out, "workers", workers);
    json_setc(&a, out, "gateways", gateways);
    (void)json_write(to, out);
    arena_fini(&a);
}
