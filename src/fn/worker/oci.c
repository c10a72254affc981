/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime `oci`; see oci.h. What each file of it does: oci_impl.h. */
#include "base/log.h"
#include "fn/worker/oci_impl.h"

#include <stdlib.h>

static struct oci *of(struct runtime *rt)
{
    return container_of(rt, struct oci, base);
}

/* ---------------------------------------------------------------- the runtime */

static void create(struct runtime *rt, uint64_t id, struct runtime_revision *r)
{
    struct oci *o = of(rt);
    struct err err = { 0 };
    struct box *b = oci_box_new(o, id, r);
    b->is_wanted = true;
    int code = o->boxes.n > OCI_SANDBOXES_MAX
                   ? err_set(&err, E_LIMIT, "this worker has as many containers as it can")
                   : oci_plan_give(r->data, b, &err);
    if (code < 0)
        oci_box_refuse(b, &err);
}

struct oci_farewell { /* on_destroyed() for an unknown sandbox */
    struct defer turn;
    struct oci *o;
    uint64_t id;
};

static void on_farewell(struct defer *d)
{
    struct oci_farewell *f = container_of(d, struct oci_farewell, turn);
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
        struct oci_farewell *f = xnew(struct oci_farewell);
        f->o = o;
        f->id = id;
        o->n_owed++;
        defer_start(o->loop, &f->turn, on_farewell);
        return;
    }
    oci_box_destroy(b, grace_ms);
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
    oci_box_recover_all(of(rt));
}

static void on_host_closed(void *arg)
{
    struct oci *o = arg;
    void (*done)(void *) = o->done;
    void *done_arg = o->done_arg;
    map_fini(&o->boxes);
    vec_each (dir, &o->bundle_dirs)
        free(*dir);
    vec_fini(&o->bundle_dirs);
    free(o);
    done(done_arg);
}

static void on_closing(struct defer *d)
{
    struct oci *o = container_of(d, struct oci, closing);
    container_host_close(o->host, on_host_closed, o);
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
    const struct container_host_opts host = { .loop = opts->loop,
                                              .kind = OCI_KIND,
                                              .data_dir = opts->dir,
                                              .program = opts->program,
                                              .n_networks = opts->n_networks,
                                              .subnet = opts->subnet,
                                              .no_limits = opts->no_limits };
    struct oci *o = xnew(struct oci);
    int r = container_host_new(&host, &o->host, err);
    if (r < 0) {
        free(o);
        return err_ctx(err, r,
                       "runtime for functions that are images (Wasm modules do not need it)");
    }
    o->base.ops = &oci_ops;
    o->loop = opts->loop;
    o->logs = opts->logs;
    if (opts->images)
        o->images = *opts->images;
    for (size_t i = 0; i < opts->n_bundle_dirs; i++) {
        char *real = realpath(opts->bundle_dirs[i], NULL);
        if (real)
            vec_push(&o->bundle_dirs, real);
        else
            log_warn("directory of bundles cannot be used", "dir=\"%s\"", opts->bundle_dirs[i]);
    }
    *ret = &o->base;
    return 0;
}

int oci_runtime_set_up(struct runtime *rt, struct err *err)
{
    return container_host_set_up(of(rt)->host, err);
}
