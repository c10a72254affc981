/* SPDX-License-Identifier: Apache-2.0 */
/* What the containers of a revision are made of: its bundle, or its image once it is ready. */
#include "base/sys.h"
#include "container/root.h"
#include "fn/worker/oci_impl.h"

#include <fcntl.h>
#include <unistd.h>

struct oci_plan {
    struct oci *o;
    const struct runtime_revision *r;
    enum { PLAN_WAITS, PLAN_READY, PLAN_FAILED } at;
    struct buf config;           /* with holes */
    struct oci_config_made made; /* READY */
    int code;                    /* FAILED */
    struct err err;
    struct container_image *image; /* READY: NULL with a bundle */
    struct container_image_call call;
    struct list waiting; /* WAITS: boxes */
};

/* ---------------------------------------------------------------- files of this machine */

static bool is_below(const char *dir, const char *path)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || dir[n - 1] == '/');
}

/* An author of a Function may name a bundle, but no other file of this machine. Given. */
static char *find_file(const struct oci *o, struct str name, const char *what, struct err *err)
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
                  "the %s '" STR_FMT "' is not below a directory of bundles of this worker%s", what,
                  STR_ARG(name), o->bundle_dirs.n ? "" : " (--bundles; there is none)");
    return NULL;
}

/* "oci:DIR[:NAME]" with the real path of DIR; a reference to a registry as it is. Given. */
static char *find_reference(const struct oci *o, struct str reference, struct err *err)
{
    static const char *const kinds[] = { "oci:", "oci-archive:", "docker-archive:" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct str path, name;
        if (!str_has_prefix(reference, str_of(kinds[i])))
            continue;
        path = str_slice(reference, strlen(kinds[i]), reference.n);
        bool has_name = str_cut(path, ':', &path, &name);
        scoped(free_scoped) char *real = find_file(o, path, "image", err);
        return real
                   ? xasprintf("%s%s%s" STR_FMT, kinds[i], real, has_name ? ":" : "", STR_ARG(name))
                   : NULL;
    }
    if (str_has_prefix(reference, STR("store:"))) {
        (void)err_set(err, E_INVALID, "image '" STR_FMT "': no function may name a store",
                      STR_ARG(reference));
        return NULL;
    }
    return str_dup(reference);
}

/* ---------------------------------------------------------------- mount points */

/* Before the first container: see container/root.h. */
static void make_mount_points(const struct oci_config_made *made, const struct runtime_revision *r)
{
    static const char *const names[] = { "/proc", "/dev", "/sys", "/tmp" };
    scoped(fd_scoped) int root = open(made->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return;
    unsigned left = CONTAINER_ROOT_LOOKUPS_MAX;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        container_root_make_point(root, names[i], false, &left);
    for (size_t at = 0; at < made->dirs.n; at += strlen(made->dirs.p + at) + 1)
        container_root_make_point(root, made->dirs.p + at, false, &left);
    for (size_t i = 0; i < r->n_secrets; i++)
        container_root_make_point(root, r->secrets[i]->path, true, &left);
}

/* ---------------------------------------------------------------- configuration */

static int make_config(struct oci_plan *p, struct str config, const char *dir, size_t n_program)
{
    const struct container_machine machine = container_host_machine(p->o->host);
    struct oci_config_opts opts = {
        .bundle = dir, .n_program = n_program, .machine = &machine, .host_name = p->r->function
    };
    int r = oci_config_make(config, p->r, &opts, &p->config, &p->made, &p->err);
    if (r >= 0)
        make_mount_points(&p->made, p->r);
    return r;
}

static int read_bundle(struct oci_plan *p)
{
    scoped(buf_fini_scoped) struct buf config = BUF_INIT(OCI_CONFIG_MAX);
    scoped(free_scoped) char *real = find_file(p->o, p->r->t->bundle, "bundle", &p->err);
    if (!real)
        return E_INVALID;
    scoped(free_scoped) char *path = xasprintf("%s/config.json", real);
    int r = sys_read_file(AT_FDCWD, path, &config, &p->err);
    if (r < 0)
        return err_ctx(&p->err, E_INVALID, "bundle");
    r = container_host_set_up(p->o->host, &p->err);
    return r < 0 ? r : make_config(p, buf_str(&config), real, 1);
}

static void settle(struct oci_plan *p, int r)
{
    p->code = r;
    p->at = r < 0 ? PLAN_FAILED : PLAN_READY;
}

/* ---------------------------------------------------------------- image */

/* What the plan has is the box's, and its container is made. */
static int take(const struct oci_plan *p, struct box *b, struct err *err)
{
    const struct fn_template *t = p->r->t;
    b->cpu_milli = t->has_cpu_limit ? t->cpu_milli : 0;
    b->ready_ms = t->readiness_ms;
    b->port = t->port;
    b->path = str_dup(t->protocol == FN_HTTP1 ? t->readiness_path : STR(""));
    b->image = p->image;
    if (b->image)
        p->o->images.ops->ref(p->o->images.arg, b->image);
    return oci_box_make(b, p->r, &p->made, buf_str(&p->config), err);
}

static void on_pulling(struct container_image_call *c)
{
    struct oci_plan *p = container_of(c, struct oci_plan, call);
    const struct runtime_events *events = p->o->base.events;
    if (!list_is_empty(&p->waiting) && events->on_pulling)
        events->on_pulling(p->o->base.events_arg,
                           list_entry(p->waiting.next, struct box, queued)->id);
}

/* Permanent is what another attempt cannot change. */
static int image_code(int r)
{
    return r == E_INVALID || r == E_UNSUPPORTED ? r : RUNTIME_IMAGE_FAILED;
}

static void on_image(struct container_image_call *c, int r, struct container_image *image,
                     const struct err *err)
{
    struct oci_plan *p = container_of(c, struct oci_plan, call);
    p->err = (struct err){ 0 };
    if (r >= 0) {
        r = make_config(p, image->config, image->dir, image->n_program);
        if (r < 0)
            p->o->images.ops->put(p->o->images.arg, image);
        else
            p->image = image;
    } else {
        r = err_set(&p->err, image_code(r), "image '" STR_FMT "': %s", STR_ARG(p->r->t->image),
                    err_text(err));
    }
    settle(p, r);
    struct err why = p->err; /* the last box that fails may end the plan */
    struct list boxes;
    list_init(&boxes);
    list_move_all(&p->waiting, &boxes);
    while (!list_is_empty(&boxes)) {
        struct box *b = list_entry(list_pop_front(&boxes), struct box, queued);
        b->took.image_fetch = oci_box_lap_us(b);
        struct err cause = why;
        int code = r < 0 ? r : take(p, b, &cause);
        if (code < 0)
            oci_box_fail(b, code, err_text(&cause));
    }
}

static int ask(struct oci_plan *p)
{
    struct oci *o = p->o;
    struct container_image_want want = { .tenant =
                                             str_of(p->r->tenant ? p->r->tenant : p->r->namespace),
                                         .auths = p->r->auths,
                                         .n_auths = p->r->n_auths,
                                         .policy = p->r->t->pull };
    p->err = (struct err){ 0 };
    if (!o->images.ops)
        return err_set(&p->err, E_UNSUPPORTED, "this worker has no store of images");
    scoped(free_scoped) char *reference = find_reference(o, p->r->t->image, &p->err);
    if (!reference)
        return E_INVALID;
    int r = container_host_set_up(o->host, &p->err);
    want.reference = str_of(reference);
    want.is_listed_only = true;
    if (r < 0)
        return r;
    if (o->images.ops->get(o->images.arg, &want, &p->call, &p->err) < 0)
        return RUNTIME_IMAGE_FAILED;
    p->at = PLAN_WAITS;
    return 0;
}

static void ask_or_fail(struct oci_plan *p)
{
    int r = ask(p);
    if (r < 0)
        settle(p, r);
}

/* ---------------------------------------------------------------- a plan */

struct oci_plan *oci_plan_new(struct oci *o, const struct runtime_revision *r)
{
    struct oci_plan *p = xnew(struct oci_plan);
    p->o = o;
    p->r = r;
    buf_init(&p->config, CONTAINER_CONFIG_MAX);
    list_init(&p->waiting);
    p->call.on_pulling = on_pulling;
    p->call.on_done = on_image;
    if (r->t->bundle.n)
        settle(p, read_bundle(p));
    else
        ask_or_fail(p);
    return p;
}

void oci_plan_free(struct oci_plan *p)
{
    const struct container_images *images = &p->o->images;
    if (p->at == PLAN_WAITS)
        images->ops->cancel(images->arg, &p->call);
    if (p->image)
        images->ops->put(images->arg, p->image);
    assert(list_is_empty(&p->waiting));
    oci_config_made_fini(&p->made);
    buf_fini(&p->config);
    free(p);
}

int oci_plan_give(struct oci_plan *p, struct box *b, struct err *err)
{
    if (p->at == PLAN_FAILED && p->code == RUNTIME_IMAGE_FAILED)
        ask_or_fail(p);
    switch (p->at) {
    case PLAN_FAILED:
        return err_set(err, p->code, "%s", err_text(&p->err));
    case PLAN_WAITS:
        list_push_back(&p->waiting, &b->queued);
        return 0;
    case PLAN_READY:
        break;
    }
    return take(p, b, err);
}
