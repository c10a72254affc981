/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each reading gives the whole directory; what it asks for is compared with what runs. Of files
 * with the same pod the first by name counts.
 */
#include "agent/static/source.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "codec/digest.h"
#include "kube/model/meta.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

struct static_file { /* as read */
    char *name;
    char *text;
    size_t n;
    struct err err; /* it cannot be read */
};

struct static_pod { /* of a file, by its last good content */
    char *file;
    uint8_t digest[SHA256_BYTES]; /* of the last content, good or bad */
    char *key;                    /* NAMESPACE/NAME; NULL: there was no good one */
    char *uid;
    struct arena arena;
    struct json *pod;
    bool is_running, is_seen;
};

struct static_source {
    struct loop *loop;
    char *dir, *node;
    const struct kube_resource *pods;
    const struct static_events *events;
    void *arg;
    int fd; /* inotify */
    uv_poll_t poll;
    struct job job;
    VEC(struct static_file) files; /* of the job */
    struct err read_err;           /* of the job: the directory itself */
    struct map by_file;            /* name -> struct static_pod */
    bool is_reading, is_dirty, is_synced;
    bool is_closing, is_poll_closed;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---------------------------------------------------------------- the job */

static void read_file(int dir_fd, struct static_file *f)
{
    struct buf text = BUF_INIT(STATIC_MANIFEST_MAX + 1);
    int r = sys_read_file(dir_fd, f->name, &text, &f->err);
    if (r >= 0)
        f->text = buf_take(&text, &f->n);
    buf_fini(&text);
}

static bool is_wanted(int dir_fd, const char *name)
{
    struct stat st;
    return name[0] != '.' && fstatat(dir_fd, name, &st, 0) == 0 && S_ISREG(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct static_file *)a)->name, ((const struct static_file *)b)->name);
}

static void on_work(struct job *j)
{
    struct static_source *s = container_of(j, struct static_source, job);
    DIR *dir = opendir(s->dir);
    if (!dir) {
        (void)err_sys(&s->read_err, -errno, "read '%s'", s->dir);
        return;
    }
    for (const struct dirent *e; (e = readdir(dir));) {
        if (is_wanted(dirfd(dir), e->d_name))
            vec_push(&s->files, ((struct static_file){ .name = xstrdup(e->d_name) }));
    }
    if (s->files.n)
        qsort(s->files.p, s->files.n, sizeof *s->files.p, by_name);
    for (size_t i = 0; i < s->files.n && i < STATIC_FILES_MAX; i++)
        read_file(dirfd(dir), &s->files.p[i]);
    (void)closedir(dir);
}

static void free_files(struct static_source *s)
{
    vec_each (f, &s->files) {
        free(f->name);
        free(f->text);
    }
    vec_fini(&s->files);
    s->read_err = (struct err){ 0 };
}

/* ---------------------------------------------------------------- files to pods */

static void pod_free(struct static_pod *p)
{
    arena_fini(&p->arena);
    free(p->file);
    free(p->key);
    free(p->uid);
    free(p);
}

static void report_bad(const struct static_source *s, const char *file, const struct err *err)
{
    log_warn("file of a static pod is bad, ignoring", "file=\"%s/%s\" reason=\"%s\"", s->dir, file,
             err_text(err));
}

static struct static_pod *get_pod(struct static_source *s, const char *file)
{
    struct static_pod *p = map_get(&s->by_file, str_of(file));
    if (p)
        return p;
    p = xnew(struct static_pod);
    p->file = xstrdup(file);
    (void)map_put(&s->by_file, str_of(file), p);
    return p;
}

static void stop_pod(struct static_source *s, struct static_pod *p)
{
    if (p->is_running)
        s->events->gone(s->arg, str_of(p->uid));
    p->is_running = false;
}

static void take_pod(struct static_source *s, struct static_pod *p, struct arena *a,
                     struct json *pod)
{
    struct str uid = json_str(json_path(pod, "metadata", "uid", NULL));
    if (p->uid && !str_is(uid, p->uid))
        stop_pod(s, p);
    arena_fini(&p->arena);
    free(p->uid);
    free(p->key);
    p->arena = *a;
    *a = (struct arena){ 0 };
    p->pod = pod;
    p->uid = str_dup(uid);
    p->key = xasprintf(STR_FMT "/" STR_FMT, STR_ARG(meta_namespace(pod)), STR_ARG(meta_name(pod)));
}

/* Only a file whose content changed is parsed and, if it is bad, reported. */
static void take_file(struct static_source *s, const struct static_file *f)
{
    struct static_pod *p = get_pod(s, f->name);
    uint8_t digest[SHA256_BYTES];
    struct arena a = { 0 };
    struct err err = { 0 };
    struct json *pod;
    p->is_seen = true;
    if (f->err.code) {
        report_bad(s, f->name, &f->err);
        return;
    }
    sha256_of(str_n(f->text, f->n), digest);
    if (memcmp(digest, p->digest, sizeof digest) == 0)
        return;
    memcpy(p->digest, digest, sizeof digest);
    scoped(free_scoped) char *path = xasprintf("%s/%s", s->dir, f->name);
    const struct static_place at = { .pods = s->pods,
                                     .node = str_of(s->node),
                                     .path = str_of(path),
                                     .wall_s = clock_wall_ms() / 1000 };
    if (static_manifest_read(&a, &at, str_n(f->text, f->n), &pod, &err) < 0)
        report_bad(s, f->name, &err);
    else
        take_pod(s, p, &a, pod);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- what runs */

static int by_file_name(const void *a, const void *b)
{
    const struct static_pod *const *x = a, *const *y = b;
    return strcmp((*x)->file, (*y)->file);
}

/* All pods by the names of their files; given, free(). */
static struct static_pod **sorted(const struct static_source *s)
{
    struct static_pod **list = xnew_n(struct static_pod *, s->by_file.n + 1);
    size_t n = 0;
    map_each (e, &s->by_file)
        list[n++] = e->value;
    qsort(list, n, sizeof(*list), by_file_name);
    return list;
}

static void drop_unseen(struct static_source *s)
{
    scoped(free_scoped) struct static_pod **list = sorted(s);
    for (size_t i = 0; list[i]; i++) {
        if (list[i]->is_seen)
            continue;
        stop_pod(s, list[i]);
        (void)map_del(&s->by_file, str_of(list[i]->file));
        pod_free(list[i]);
    }
}

/* Pods that end come before pods that begin: one may take the name or UID of another. */
static void run_pods(struct static_source *s)
{
    scoped(free_scoped) struct static_pod **list = sorted(s);
    struct map keys = { 0 }, uids = { 0 };
    bool *is_first = xnew_n(bool, s->by_file.n + 1);
    for (size_t i = 0; list[i]; i++) {
        struct static_pod *p = list[i];
        is_first[i] = p->key && !map_has(&keys, str_of(p->key)) && !map_has(&uids, str_of(p->uid));
        if (is_first[i]) {
            (void)map_put(&keys, str_of(p->key), p);
            (void)map_put(&uids, str_of(p->uid), p);
        } else if (p->key) {
            log_warn("static pod is in another file already, ignoring", "file=\"%s/%s\" pod=%s",
                     s->dir, p->file, p->key);
            stop_pod(s, p);
        }
    }
    for (size_t i = 0; list[i]; i++) {
        if (!is_first[i] || list[i]->is_running)
            continue;
        list[i]->is_running = true;
        s->events->added(s->arg, list[i]->pod);
    }
    free(is_first);
    map_fini(&keys);
    map_fini(&uids);
}

static void take_files(struct static_source *s)
{
    if (s->read_err.code && s->read_err.code != -ENOENT) {
        log_warn("static pods cannot be read, ignoring", "reason=\"%s\"", err_text(&s->read_err));
        return;
    }
    if (s->files.n > STATIC_FILES_MAX)
        log_warn("too many static pods, ignoring", "dir=\"%s\" files=%zu most=%d", s->dir,
                 s->files.n, STATIC_FILES_MAX);
    map_each (e, &s->by_file)
        ((struct static_pod *)e->value)->is_seen = false;
    for (size_t i = 0; i < s->files.n && i < STATIC_FILES_MAX; i++)
        take_file(s, &s->files.p[i]);
    drop_unseen(s);
    run_pods(s);
}

/* ---------------------------------------------------------------- reading and watching */

static void maybe_free(struct static_source *s)
{
    if (s->is_reading || !s->is_poll_closed)
        return;
    map_each (e, &s->by_file)
        pod_free(e->value);
    map_fini(&s->by_file);
    if (s->closed)
        s->closed(s->closed_arg);
    free(s->dir);
    free(s->node);
    free(s);
}

static void start_reading(struct static_source *s);

static void on_done(struct job *j, int r)
{
    struct static_source *s = container_of(j, struct static_source, job);
    s->is_reading = false;
    if (!s->is_closing)
        take_files(s);
    free_files(s);
    if (!s->is_closing && !s->is_synced) {
        s->is_synced = true;
        if (s->events->synced)
            s->events->synced(s->arg);
    }
    if (s->is_closing)
        maybe_free(s);
    else if (s->is_dirty)
        start_reading(s);
}

static void start_reading(struct static_source *s)
{
    s->is_dirty = s->is_reading;
    if (s->is_reading)
        return;
    s->is_reading = true;
    s->job = (struct job){ .work = on_work, .done = on_done };
    int r = job_start(s->loop, &s->job);
    assert(r == 0); /* libuv refuses only a job without a function */
}

static void on_inotify(uv_poll_t *h, int status, int events)
{
    struct static_source *s = h->data;
    _Alignas(struct inotify_event) char bytes[4096];
    while (read(s->fd, bytes, sizeof bytes) > 0)
        ; /* which file it is does not matter: all are read */
    start_reading(s);
}

int static_source_start(const struct static_source_options *o, struct static_source **ret,
                        struct err *err)
{
    scoped(fd_scoped) int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd < 0)
        return err_sys(err, -errno, "watch '%s'", o->dir);
    if (inotify_add_watch(fd, o->dir,
                          IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                              IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR) < 0)
        return err_sys(err, -errno, "watch '%s'", o->dir);
    struct static_source *s = xnew(struct static_source);
    *s = (struct static_source){ .loop = o->loop,
                                 .dir = xstrdup(o->dir),
                                 .node = xstrdup(o->node),
                                 .pods = o->pods,
                                 .events = o->events,
                                 .arg = o->arg,
                                 .fd = take_fd(&fd) };
    int r = uv_poll_init(&o->loop->uv, &s->poll, s->fd);
    assert(r == 0); /* an inotify descriptor can be polled */
    s->poll.data = s;
    r = uv_poll_start(&s->poll, UV_READABLE, on_inotify);
    assert(r == 0);
    start_reading(s);
    *ret = s;
    return 0;
}

static void on_poll_closed(uv_handle_t *h)
{
    struct static_source *s = h->data;
    (void)close(s->fd);
    s->is_poll_closed = true;
    maybe_free(s);
}

void static_source_close(struct static_source *s, void (*closed)(void *arg), void *arg)
{
    assert(!s->is_closing);
    s->is_closing = true;
    s->closed = closed;
    s->closed_arg = arg;
    uv_close((uv_handle_t *)&s->poll, on_poll_closed);
}
