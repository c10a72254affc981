/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime `oci`; see oci.h. What each file of it does: oci_impl.h. */
#include "base/sys.h"
#include "fn/worker/oci_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* What all sandboxes of a revision share. */
struct plan {
    struct buf config; /* with holes */
    struct oci_user user;
    int r; /* it cannot be run: err */
    struct err err;
};

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

static void take_plan(struct box *b, const struct runtime_revision *r)
{
    const struct plan *p = r->data;
    b->cpu_milli = r->t->has_cpu_limit ? r->t->cpu_milli : 0;
    b->ready_ms = r->t->readiness_ms;
    b->port = r->t->port;
    b->path = str_dup(r->t->protocol == FN_HTTP1 ? r->t->readiness_path : STR(""));
    b->user = p->user;
    b->config = xstrndup(p->config.p ? p->config.p : "", p->config.n);
    b->config_n = p->config.n;
}

static void create(struct runtime *rt, uint64_t id, struct runtime_revision *r)
{
    struct oci *o = of(rt);
    const struct plan *p = r->data;
    struct err err = { 0 };
    struct box *b = box_new(o, id, r);
    b->is_wanted = true;
    take_plan(b, r);
    if (p->r < 0) {
        refuse(b, p->r, err_text(&p->err));
        return;
    }
    if (o->boxes.n > OCI_SANDBOXES_MAX) {
        refuse(b, E_LIMIT, "this worker has as many containers as it can");
        return;
    }
    int code = box_make_dir(b, r, &err);
    b->took.sandbox_create = box_lap_us(b);
    if (code < 0) {
        refuse(b, code, err_text(&err));
        return;
    }
    b->network = oci_network_take(o->networks);
    if (b->network)
        defer_start(o->loop, &b->turn, on_network_turn);
    else
        box_wait_for_network(b);
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

/* ---------------------------------------------------------------- revisions */

static bool is_below(const char *dir, const char *path)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || dir[n - 1] == '/');
}

/* Whoever may write a Function may name a bundle, but not any directory of this machine. */
static char *find_bundle(const struct oci *o, struct str name, struct err *err)
{
    for (size_t i = 0; i < o->bundle_dirs.n; i++) {
        const char *dir = o->bundle_dirs.p[i];
        scoped(free_scoped) char *path = name.n && name.p[0] == '/'
                                             ? str_dup(name)
                                             : xasprintf("%s/" STR_FMT, dir, STR_ARG(name));
        scoped(free_scoped) char *real = realpath(path, NULL);
        if (real && is_below(dir, real))
            return take_ptr(&real);
    }
    (void)err_set(err, E_INVALID,
                  "the bundle '" STR_FMT "' is not below a directory of bundles of this worker%s",
                  STR_ARG(name), o->bundle_dirs.n ? "" : " (--bundles; there is none)");
    return NULL;
}

/*
 * Every container has these mounted. The program that starts a container makes what is missing, and
 * fails where another start on the same root file system is faster: they are there before the
 * first. A root file system that cannot be written is none of our business: that program says so.
 */
static void make_mount_points(const char *root)
{
    static const char *const names[] = { "proc", "dev", "sys", "tmp" };
    scoped(fd_scoped) int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; fd >= 0 && i < ARRAY_LEN(names); i++)
        (void)mkdirat(fd, names[i], 0755);
}

static int make_plan(struct oci *o, const struct runtime_revision *r, struct plan *p)
{
    scoped(buf_fini_scoped) struct buf config = BUF_INIT(OCI_CONFIG_MAX);
    scoped(free_scoped) char *real = find_bundle(o, r->t->bundle, &p->err);
    if (!real)
        return E_INVALID;
    scoped(free_scoped) char *path = xasprintf("%s/config.json", real);
    int code = sys_read_file(AT_FDCWD, path, &config, &p->err);
    if (code < 0)
        return err_ctx(&p->err, E_INVALID, "bundle");
    code = oci_ensure_set_up(o, &p->err);
    if (code < 0)
        return code;
    struct oci_config_opts opts = { .bundle = real,
                                    .cgroup = o->cgroups ? OCI_CGROUP : NULL,
                                    .is_cgroup2 = o->cgroups == OCI_CGROUPS_V2,
                                    .counts_swap = oci_cgroups_count_swap(o->cgroups),
                                    .filter = o->filter,
                                    .host_name = r->function };
    scoped(free_scoped) char *root = NULL;
    code = oci_config_make(buf_str(&config), r, &opts, &p->config, &p->user, &root, &p->err);
    if (code == 0)
        make_mount_points(root);
    return code;
}

static void prepare(struct runtime *rt, struct runtime_revision *r)
{
    struct plan *p = xnew(struct plan);
    buf_init(&p->config, OCI_CONFIG_TEXT_MAX);
    p->r = make_plan(of(rt), r, p);
    r->data = p;
}

static void forget(struct runtime *rt, struct runtime_revision *r)
{
    struct plan *p = r->data;
    buf_fini(&p->config);
    free(p);
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
        oci_networks_close(o->networks, on_networks_closed, o);
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
    o->n_networks = opts->n_networks ? opts->n_networks : OCI_NETWORKS_DEFAULT;
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
