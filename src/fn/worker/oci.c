/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime `oci`; see oci.h. What each file of it does: oci_impl.h. */
#include "base/sys.h"
#include "fn/worker/oci_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static struct oci *of(struct runtime *rt)
{
    return container_of(rt, struct oci, base);
}

/* ---------------------------------------------------------------- the runtime */

static void on_network_turn(struct defer *d)
{
    struct box *b = container_of(d, struct box, turn);
    if (b->is_wanted && b->network) {
        box_queue(b);
        return;
    }
    box_clean(b);
}

/* Told on a later turn, as all that the runtime says. */
struct refusal {
    struct defer turn;
    struct box *b;
    int r;
    char text[240];
};

static void on_refusal(struct defer *d)
{
    struct refusal *f = container_of(d, struct refusal, turn);
    box_fail(f->b, f->r, f->text);
    free(f);
}

static void refuse(struct box *b, int r, const char *text)
{
    struct refusal *f = xnew(struct refusal);
    f->b = b;
    f->r = r;
    (void)snprintf(f->text, sizeof f->text, "%s", text);
    defer_start(b->o->loop, &f->turn, on_refusal);
}

void box_begin(struct box *b, const struct runtime_revision *r)
{
    struct oci *o = b->o;
    struct err err = { 0 };
    box_has_image(b);
    int code = box_make_dir(b, r, &err);
    b->took.sandbox_create = box_lap_us(b);
    if (code < 0) {
        refuse(b, code, err_text(&err));
        return;
    }
    b->network = container_network_take(o->networks);
    if (b->network)
        defer_start(o->loop, &b->turn, on_network_turn);
    else
        box_wait_for_network(b);
}

static void create(struct runtime *rt, uint64_t id, struct runtime_revision *r)
{
    struct oci *o = of(rt);
    struct err err = { 0 };
    struct box *b = box_new(o, id, r);
    b->is_wanted = true;
    if (o->boxes.n > OCI_SANDBOXES_MAX) {
        refuse(b, E_LIMIT, "this worker has as many containers as it can");
        return;
    }
    int code = oci_plan_give(r->data, b, &err);
    if (code < 0)
        refuse(b, code, err_text(&err));
    else if (code > 0)
        box_begin(b, r);
}

struct farewell { /* on_destroyed() for what is not known */
    struct defer turn;
    struct oci *o;
    uint64_t id;
};

static void on_farewell(struct defer *d)
{
    struct farewell *f = container_of(d, struct farewell, turn);
    struct oci *o = f->o;
    uint64_t id = f->id;
    free(f);
    o->base.events->on_destroyed(o->base.events_arg, id);
    oci_give_back(o);
}

static void destroy(struct runtime *rt, uint64_t id, uint32_t grace_ms)
{
    struct oci *o = of(rt);
    struct box *b = map_get(&o->boxes, box_key(&id));
    if (!b) {
        struct farewell *f = xnew(struct farewell);
        f->o = o;
        f->id = id;
        o->n_owed++;
        defer_start(o->loop, &f->turn, on_farewell);
        return;
    }
    b->owes_farewell = true;
    b->is_wanted = false;
    b->grace_ms = grace_ms;
    switch ((enum box_at)b->sm.at) {
    case BOX_IMAGE:
        if (list_is_linked(&b->queued))
            box_clean(b); /* otherwise it is being refused */
        break;
    case BOX_NETWORK:
        if (list_is_linked(&b->wait.node))
            box_clean(b); /* otherwise its turn comes, and finds it unwanted */
        break;
    case BOX_QUEUED:
        box_clean(b);
        break;
    case BOX_PROBING:
    case BOX_READY:
        box_end(b);
        break;
    case BOX_ENDING:
        if (b->init && grace_ms == 0)
            process_signal(b->init, SIGKILL);
        break;
    case BOX_STARTING: /* on_crun_run() sees to it */
    case BOX_CLEANING:
        break;
    }
}

static void prepare(struct runtime *rt, struct runtime_revision *r)
{
    r->data = oci_plan_new(of(rt), r);
}

static void forget(struct runtime *rt, struct runtime_revision *r)
{
    oci_plan_free(r->data);
    r->data = NULL;
}

static void recover(struct runtime *rt)
{
    oci_recover(of(rt));
}

static void free_oci(struct oci *o)
{
    oci_tear_down(o);
    map_fini(&o->boxes);
    vec_each (dir, &o->bundle_dirs)
        free(*dir);
    vec_fini(&o->bundle_dirs);
    free(o->run);
    free(o->program);
    free(o->subnet);
    free(o);
}

static void on_networks_closed(void *arg)
{
    struct oci *o = arg;
    void (*done)(void *) = o->done;
    void *done_arg = o->done_arg;
    free_oci(o);
    done(done_arg);
}

static void on_closing(struct defer *d)
{
    struct oci *o = container_of(d, struct oci, closing);
    if (!o->networks)
        on_networks_closed(o);
    else
        container_networks_close(o->networks, on_networks_closed, o);
}

void oci_give_back(struct oci *o)
{
    if (--o->n_owed == 0 && o->done)
        defer_start(o->loop, &o->closing, on_closing);
}

static void close_runtime(struct runtime *rt, void (*done)(void *arg), void *arg)
{
    struct oci *o = of(rt);
    o->done = done;
    o->done_arg = arg;
    o->n_owed++;
    map_each (e, &o->boxes) /* also those that still have some grace */
        destroy(rt, ((struct box *)e->value)->id, 0);
    oci_give_back(o);
}

static const struct runtime_ops oci_ops = { .name = "oci",
                                            .prepare = prepare,
                                            .forget = forget,
                                            .create = create,
                                            .destroy = destroy,
                                            .recover = recover,
                                            .close = close_runtime };

int oci_runtime_new(const struct oci_opts *opts, struct runtime **ret, struct err *err)
{
    if (geteuid() != 0)
        return err_set(err, E_UNSUPPORTED,
                       "containers need root: network namespaces and control groups are ours to "
                       "make (functions as Wasm modules do not)");
    char *program = oci_find_program(opts->program);
    if (!program)
        return err_set(err, E_UNSUPPORTED, "containers need '%s', which is not installed",
                       opts->program ? opts->program : "crun or runc");
    struct oci *o = xnew(struct oci);
    o->base.ops = &oci_ops;
    o->loop = opts->loop;
    o->logs = opts->logs;
    o->program = program;
    o->is_runc = str_has_prefix(str_of(strrchr(program, '/') + 1), STR("runc"));
    o->no_limits = opts->no_limits;
    o->run = oci_run_of(opts->dir);
    o->subnet = xstrdup(opts->subnet ? opts->subnet : OCI_SUBNET_DEFAULT);
    if (opts->images)
        o->images = *opts->images;
    o->n_networks = opts->n_networks ? opts->n_networks : CONTAINER_NETWORKS_DEFAULT;
    for (size_t i = 0; i < opts->n_bundle_dirs; i++) {
        char *real = realpath(opts->bundle_dirs[i], NULL);
        if (real)
            vec_push(&o->bundle_dirs, real);
        else
            log_warn("no directory of bundles", "dir=\"%s\"", opts->bundle_dirs[i]);
    }
    o->mount_ns = o->null_fd = o->copy_fd = -1;
    list_init(&o->queue);
    *ret = &o->base;
    return 0;
}

int oci_runtime_set_up(struct runtime *rt, struct err *err)
{
    return oci_ensure_set_up(of(rt), err);
}
