/* SPDX-License-Identifier: Apache-2.0 */
/* The host, and the life of one pod's volumes. */
#include "agent/volume/mount.h"
#include "agent/volume/volume_impl.h"
#include "base/backoff.h"
#include "base/log.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---------------------------------------------------------------- host */

bool volume_uid_is_valid(struct str uid)
{
    for (size_t i = 0; i < uid.n; i++) {
        char c = uid.p[i];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_plain && c != '-')
            return false;
    }
    return uid.n > 0 && uid.n <= 128;
}

int volume_host_new(const struct volume_host_options *o, struct volume_host **ret, struct err *err)
{
    const char *root = o->root ? o->root : VOLUME_ROOT_DEFAULT;
    int r = sys_mkdir_all(root, 0750, err);
    if (r < 0)
        return r;
    /* The table of mounts has real paths; so have all paths that containers get. */
    char *real = realpath(root, NULL);
    if (!real)
        return err_sys(err, -errno, "find '%s'", root);
    struct volume_host *h = xnew(struct volume_host);
    *h = (struct volume_host){ .loop = o->loop,
                               .root = xstrdup(real),
                               .objects = o->objects,
                               .supply = o->supply,
                               .supply_arg = o->supply_arg,
                               .without_mounts = o->without_mounts };
    free(real);
    *ret = h;
    return 0;
}

void volume_host_free(struct volume_host *h)
{
    if (!h)
        return;
    assert(h->pods.n == 0 && h->n_operations == 0);
    map_fini(&h->pods);
    free(h->root);
    free(h);
}

void volume_host_stop_removing(struct volume_host *h)
{
    map_each (e, &h->pods) {
        struct volume_pod *p = e->value;
        if (p->at == VOLUME_POD_ENDING) {
            p->end = VOLUME_POD_KEEP;
            volume_pod_step_soon(p);
        }
    }
}

struct str volume_host_dir(const struct volume_host *h, struct arena *a, struct str uid)
{
    assert(volume_uid_is_valid(uid));
    return str_of(arena_printf(a, "%s/" STR_FMT, h->root, STR_ARG(uid)));
}

int volume_dir_remove(const char *root, const char *uid, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", root, uid);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, root, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", root);
    int r = volume_mount_end_below(path, err);
    return r < 0 ? r : volume_tree_remove(fd, uid, err);
}

/* ---------------------------------------------------------------- start and update */

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '/' || s.p[i] == '\0')
            return false;
    }
    return s.n > 0 && s.n <= 128 && s.p[0] != '.';
}

static int check_pod(const struct volume_host *h, const struct pod_spec *spec, struct err *err)
{
    if (!volume_uid_is_valid(spec->uid))
        return err_set(err, E_INVALID, "pod UID '" STR_FMT "' is not valid", STR_ARG(spec->uid));
    if (map_has(&h->pods, spec->uid))
        return err_set(err, -EEXIST, "the volumes of pod '" STR_FMT "' are in use",
                       STR_ARG(spec->uid));
    for (size_t i = 0; i < spec->n_volumes; i++) {
        if (!is_name(spec->volumes[i].name))
            return err_set(err, E_INVALID, "volume name '" STR_FMT "' is not valid",
                           STR_ARG(spec->volumes[i].name));
    }
    return 0;
}

static void init_slot(struct volume_pod *p, struct volume_slot *s, const struct pod_volume *v)
{
    const char *dir = volume_kind_dir(v->kind);
    *s = (struct volume_slot){ .v = v, .name = str_dup(v->name), .is_made = dir != NULL };
    if (dir)
        s->source = xasprintf("%s/volumes/%s/%s", p->dir, dir, s->name);
    s->is_read_only = v->sources != NULL || v->kind == POD_VOLUME_IMAGE;
    volume_tickets_init(p, s);
}

int volume_pod_start(struct volume_host *h, const struct pod_spec *spec,
                     const struct pod_facts *facts, volume_pod_changed_cb cb, void *arg,
                     struct volume_pod **ret, struct err *err)
{
    int r = check_pod(h, spec, err);
    if (r < 0)
        return r;
    struct volume_pod *p = xnew(struct volume_pod);
    *p = (struct volume_pod){ .host = h,
                              .spec = spec,
                              .facts = facts,
                              .uid = str_dup(spec->uid),
                              .changed = cb,
                              .arg = arg,
                              .is_dirty = true };
    p->dir = xasprintf("%s/%s", h->root, p->uid);
    list_init(&p->queue);
    p->n_slots = spec->n_volumes;
    p->slots = xnew_n(struct volume_slot, p->n_slots);
    for (size_t i = 0; i < p->n_slots; i++)
        init_slot(p, &p->slots[i], &spec->volumes[i]);
    (void)map_put(&h->pods, str_of(p->uid), p);
    volume_pod_step_soon(p);
    *ret = p;
    return 0;
}

void volume_pod_update(struct volume_pod *p, const struct pod_spec *spec,
                       const struct pod_facts *facts)
{
    p->spec = spec;
    p->facts = facts;
    for (size_t i = 0; i < p->n_slots; i++)
        p->slots[i].v = pod_spec_volume(spec, str_of(p->slots[i].name));
    p->is_dirty = true;
    volume_pod_step_soon(p);
}

enum volume_pod_state volume_pod_at(const struct volume_pod *p)
{
    return p->at;
}

const struct err *volume_pod_problem(const struct volume_pod *p)
{
    return &p->problem;
}

/* ---------------------------------------------------------------- the next step */

static void on_notify(struct defer *d)
{
    struct volume_pod *p = container_of(d, struct volume_pod, notify);
    if (p->changed)
        p->changed(p, p->arg);
}

static void on_timer(struct timer *t)
{
    struct volume_pod *p = container_of(t, struct volume_pod, timer);
    p->is_dirty = true;
    volume_pod_step_soon(p);
}

static void on_work(struct job *j)
{
    struct volume_work *w = container_of(j, struct volume_work, job);
    w->run(w);
}

static void on_work_done(struct job *j, int r)
{
    struct volume_work *w = container_of(j, struct volume_work, job);
    struct volume_pod *p = w->pod;
    p->running = NULL;
    volume_pod_step_soon(p);
    w->done(w, r == 0);
}

static void start_work(struct volume_pod *p, struct volume_work *w)
{
    assert(!p->running);
    w->pod = p;
    w->job = (struct job){ .work = on_work, .done = on_work_done };
    p->running = w;
    int r = job_start(p->host->loop, &w->job);
    assert(r == 0); /* libuv refuses only a job without a function */
}

/* The state, the problem and the next attempt that follow from those of the volumes. */
static void settle(struct volume_pod *p)
{
    struct volume_host *h = p->host;
    struct err problem = { 0 };
    bool is_ready = p->has_dir;
    uint64_t due = UINT64_MAX, now = loop_now_ms(h->loop);
    for (size_t i = p->n_slots; i > 0; i--) { /* the first problem wins */
        const struct volume_slot *s = &p->slots[i - 1];
        is_ready = is_ready && s->is_ready;
        due = MIN(due, volume_tickets_due_ms(s));
        if (s->problem.code)
            (void)err_set(&problem, s->problem.code,
                          "MountVolume.SetUp failed for volume \"%s\" : %s", s->name,
                          err_text(&s->problem));
    }
    if (p->dir_problem.code)
        problem = p->dir_problem;
    p->is_unsettled = false;
    bool changed =
        strcmp(problem.text, p->problem.text) != 0 || (is_ready && p->at == VOLUME_POD_PREPARING);
    p->failures = problem.code ? p->failures + 1 : 0;
    if (problem.code)
        due =
            MIN(due, now + backoff_wait(VOLUME_RETRY_MIN_MS, VOLUME_RETRY_MAX_MS, p->failures - 1));
    p->problem = problem;
    if (is_ready)
        p->at = VOLUME_POD_READY;
    if (due == UINT64_MAX)
        timer_stop(p->host->loop, &p->timer);
    else
        timer_start(h->loop, &p->timer, due > now ? due - now : 0, on_timer);
    if (changed)
        defer_start(h->loop, &p->notify, on_notify);
}

static void end_step(struct volume_pod *p);

/* As an orphan, before the pod was known. */
static bool is_being_removed(const struct volume_pod *p)
{
    return p->host->removing && strcmp(p->host->removing, p->uid) == 0;
}

static void on_step(struct defer *d)
{
    struct volume_pod *p = container_of(d, struct volume_pod, step);
    if (p->running || is_being_removed(p)) /* the end of that calls again */
        return;
    if (p->at == VOLUME_POD_ENDING) {
        end_step(p);
        return;
    }
    if (p->is_dirty) {
        p->is_dirty = false;
        struct volume_work *w = volume_prepare_plan(p);
        if (w) {
            start_work(p, w);
            return;
        }
        p->is_unsettled = true;
    }
    if (p->is_unsettled)
        settle(p);
    struct list *next = list_pop_front(&p->queue);
    if (next)
        start_work(p, list_entry(next, struct volume_work, node));
}

void volume_pod_step_soon(struct volume_pod *p)
{
    defer_start(p->host->loop, &p->step, on_step);
}

void volume_pod_enqueue(struct volume_pod *p, struct volume_work *w)
{
    list_push_back(&p->queue, &w->node);
    volume_pod_step_soon(p);
}

/* ---------------------------------------------------------------- the end */

struct pod_removal {
    struct volume_work work;
    char *root, *uid;
    int r;
    struct err err;
};

static void run_removal(struct volume_work *w)
{
    struct pod_removal *m = container_of(w, struct pod_removal, work);
    m->r = volume_dir_remove(m->root, m->uid, &m->err);
}

static void on_removed(struct volume_work *w, bool was_run)
{
    struct pod_removal *m = container_of(w, struct pod_removal, work);
    struct volume_pod *p = w->pod;
    p->is_removed = m->r >= 0;
    if (m->r < 0 && p->end == VOLUME_POD_REMOVE) {
        uint64_t wait = backoff_wait(VOLUME_RETRY_MIN_MS, VOLUME_RETRY_MAX_MS, p->failures++);
        log_warn("volumes of a pod cannot be removed, trying again",
                 "pod=%s wait_ms=%llu reason=\"%s\"", p->uid, (unsigned long long)wait,
                 err_text(&m->err));
        defer_cancel(&p->step);
        timer_start(p->host->loop, &p->timer, wait, on_timer);
    }
    free(m->root);
    free(m->uid);
    free(m);
}

static void free_pod(struct volume_pod *p)
{
    for (size_t i = 0; i < p->n_slots; i++) {
        volume_tickets_free(&p->slots[i]);
        free(p->slots[i].name);
        free(p->slots[i].source);
    }
    free(p->slots);
    free(p->dir);
    free(p->uid);
    free(p);
}

/* Called in its own turn, without work on a thread. */
static void end_step(struct volume_pod *p)
{
    struct list *next;
    while ((next = list_pop_front(&p->queue))) {
        struct volume_work *w = list_entry(next, struct volume_work, node);
        w->done(w, false);
    }
    if (p->end == VOLUME_POD_REMOVE && !p->is_removed) {
        struct pod_removal *m = xnew(struct pod_removal);
        m->root = xstrdup(p->host->root);
        m->uid = xstrdup(p->uid);
        m->work.run = run_removal;
        m->work.done = on_removed;
        start_work(p, &m->work);
        return;
    }
    timer_stop(p->host->loop, &p->timer);
    defer_cancel(&p->step);
    (void)map_del(&p->host->pods, str_of(p->uid));
    if (p->closed)
        p->closed(p, p->closed_arg);
    free_pod(p);
}

void volume_pod_close(struct volume_pod *p, enum volume_pod_end end, volume_pod_closed_cb cb,
                      void *arg)
{
    bool is_first = p->at != VOLUME_POD_ENDING;
    p->end = is_first || end == VOLUME_POD_KEEP ? end : p->end;
    if (is_first) {
        p->at = VOLUME_POD_ENDING;
        p->closed = cb;
        p->closed_arg = arg;
        p->failures = 0;
        timer_stop(p->host->loop, &p->timer);
        defer_cancel(&p->notify);
    }
    volume_pod_step_soon(p);
}
