/* SPDX-License-Identifier: Apache-2.0 */
#include "node/lazy_roots.h"

#include "base/boot.h"
#include "base/list.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/tree_remove.h"
#include "codec/digest.h"
#include "codec/json.h"
#include "container/cgroup.h"
#include "image/lazy_child.h"
#include "image/root.h"
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_DIGITS = 16,
    REQUEST_MAX = 60 << 10, /* bytes, which a pipe takes at once */
};

extern char **environ; /* the child inherits proxy settings from it */

struct lazy_root {
    struct lazy_roots *s;
    struct list node;
    char *path;               /* DIR/<name> */
    char *dir;                /* path/<manifest>/files; NULL: not mounted */
    char *reference, *tenant; /* NULL: of an earlier process */
    char *config;
    size_t n_words;
    char *why; /* that was reported last; NULL: none */
    enum lazy_child_at at;
    bool is_asked, is_used;
    int input;               /* a pipe to it, open while it is held; -1: none */
    struct process *process; /* NULL: it has ended */
    uv_fs_event_t events;
    bool has_events;
    struct defer look; /* at its status */
    void (*on_started)(void *arg, int r, const char *why);
    void *arg;
};

struct lazy_roots {
    struct lazy_roots_opts opts;
    struct list all;
    size_t n; /* in `all` */
    struct timer adopt;
    char *distrusted[LAZY_ROOTS_DISTRUSTED_MAX];
    size_t n_distrusted; /* ever; the oldest is replaced */
    struct container_cgroups cgroups;
    char group[CONTAINER_CGROUP_NAME_MAX];
};

/* ---------------------------------------------------------------- removing */

struct lazy_root_removal {
    struct job job;
    char *path, *dir;
};

/* Of a process that was killed. Containers that run keep the file systems. */
static void work_remove(struct job *j)
{
    static const char *const points[] = { "rootfs", "state/data", "state/lower" };
    const struct lazy_root_removal *m = container_of(j, struct lazy_root_removal, job);
    struct err err = { 0 };
    for (size_t i = 0; m->dir && i < ARRAY_LEN(points); i++) {
        scoped(free_scoped) char *at = xasprintf("%s/%s", m->dir, points[i]);
        while (umount2(at, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
            continue;
    }
    scoped(free_scoped) char *state = xasprintf("%s/state", m->dir ? m->dir : m->path);
    scoped(free_scoped) char *root = xasprintf("%s/rootfs", m->dir ? m->dir : m->path);
    int r = root_umount(state, root, LAZY_CHILD_LOCK_MS, &err);
    r = r == -ENOENT ? 0 : r;
    r = r < 0 ? r : tree_remove(AT_FDCWD, m->path, &err);
    if (r < 0 && r != -ENOENT)
        log_warn("files of a lazy mount stay", "path=\"%s\" error=\"%s\"", m->path, err_text(&err));
}

static void done_remove(struct job *j, int r)
{
    struct lazy_root_removal *m = container_of(j, struct lazy_root_removal, job);
    free(m->path);
    free(m->dir);
    free(m);
}

static void remove_files(struct lazy_root *r)
{
    struct lazy_root_removal *m = xnew(struct lazy_root_removal);
    *m = (struct lazy_root_removal){ .job = { .work = work_remove, .done = done_remove },
                                     .path = xstrdup(r->path),
                                     .dir = r->dir ? xstrdup(r->dir) : NULL };
    int code = job_start(r->s->opts.loop, &m->job);
    assert(code == 0);
    (void)code;
}

static void free_root(struct lazy_root *r)
{
    free(r->path);
    free(r->dir);
    free(r->reference);
    free(r->tenant);
    free(r->config);
    free(r->why);
    free(r);
}

static void on_events_closed(uv_handle_t *h)
{
    free_root(h->data);
}

static void close_input(struct lazy_root *r)
{
    if (r->input >= 0)
        (void)close(r->input);
    r->input = -1;
}

/* Its memory goes when the loop knows it no more. */
static void forget(struct lazy_root *r)
{
    struct lazy_roots *s = r->s;
    list_remove(&r->node);
    s->n--;
    close_input(r);
    defer_cancel(&r->look);
    if (r->process)
        process_release(take_ptr(&r->process));
    if (r->has_events)
        uv_close((uv_handle_t *)&r->events, on_events_closed);
    else
        free_root(r);
}

/* ---------------------------------------------------------------- its status */

static void distrust(struct lazy_roots *s, const char *reference)
{
    char **to = &s->distrusted[s->n_distrusted++ % LAZY_ROOTS_DISTRUSTED_MAX];
    free(*to);
    *to = xstrdup(reference);
}

static bool is_distrusted(const struct lazy_roots *s, struct str reference)
{
    for (size_t i = 0; i < ARRAY_LEN(s->distrusted); i++)
        if (s->distrusted[i] && str_is(reference, s->distrusted[i]))
            return true;
    return false;
}

static void note_place(struct lazy_root *r, const struct lazy_child_status *status)
{
    if (r->dir || !status->place.n)
        return;
    r->dir = xasprintf("%s/" STR_FMT, r->path, STR_ARG(status->place));
    r->config = str_dup(status->config);
    r->n_words = status->n_program;
}

static void report(struct lazy_root *r, enum lazy_root_news news, const char *why)
{
    r->s->opts.on_news(r->s->opts.arg, r, news, why);
}

/* It was started, or not: then it is no more after the call. */
static void end_start(struct lazy_root *r, int code, const char *why)
{
    void (*on_started)(void *, int, const char *) = r->on_started;
    void *arg = r->arg;
    r->on_started = NULL;
    if (code < 0) {
        remove_files(r);
        forget(r);
    }
    on_started(arg, code, why);
}

static void report_missing(struct lazy_root *r, const struct lazy_child_status *status)
{
    scoped(free_scoped) char *why = status->why.n ? str_dup(status->why) : NULL;
    if (!why || (r->why && strcmp(r->why, why) == 0))
        return;
    free(r->why);
    r->why = xstrdup(why);
    scoped(free_scoped) char *text = xasprintf("%" PRIu64 " of %" PRIu64 " bytes are here: %s",
                                               status->done_bytes, status->all_bytes, why);
    report(r, LAZY_ROOT_MISSING, text);
}

/* What the containers of a mount have to know. It may be dropped within. */
static void follow_status(struct lazy_root *r, const struct lazy_child_status *status)
{
    scoped(free_scoped) char *why = str_dup(status->why);
    bool is_new = status->at != r->at;
    r->at = status->at;
    if (r->at == LAZY_CHILD_MOUNTED)
        report_missing(r, status);
    else if (is_new && r->at == LAZY_CHILD_WHOLE)
        report(r, LAZY_ROOT_WHOLE, "");
    else if (is_new && r->at == LAZY_CHILD_BROKEN)
        report(r, LAZY_ROOT_BROKEN, why);
}

static void take_status(struct lazy_root *r, const struct lazy_child_status *status)
{
    scoped(free_scoped) char *why = str_dup(status->why);
    note_place(r, status);
    if (status->at == LAZY_CHILD_BROKEN && r->reference && status->code == E_DIGEST)
        distrust(r->s, r->reference);
    if (!r->on_started) {
        follow_status(r, status);
        return;
    }
    if (status->is_asked && !r->is_asked) {
        r->is_asked = true;
        report(r, LAZY_ROOT_ASKED, "");
    }
    if (status->at == LAZY_CHILD_REFUSED || status->at == LAZY_CHILD_BROKEN) {
        end_start(r, status->code < 0 ? status->code : -EIO, why);
    } else if (status->at != LAZY_CHILD_ASKING) {
        r->at = LAZY_CHILD_MOUNTED;
        end_start(r, 0, "");
        follow_status(r, status); /* it may be whole by now */
    }
}

static void look(struct defer *d)
{
    struct lazy_root *r = container_of(d, struct lazy_root, look);
    struct arena a = { 0 };
    struct lazy_child_status status = { 0 };
    bool has_status = lazy_child_status_read(r->path, &a, &status, NULL) >= 0;
    bool has_ended = !r->process;
    if (has_ended && (!has_status || status.at == LAZY_CHILD_ASKING ||
                      status.at == LAZY_CHILD_MOUNTED || status.at == LAZY_CHILD_WHOLE)) {
        status.at = LAZY_CHILD_BROKEN;
        status.why = STR("the process that fetches and serves its files has ended");
        has_status = true;
    }
    bool is_over = has_ended && !r->is_used && !r->on_started;
    if (is_over) {
        struct lazy_roots *s = r->s;
        note_place(r, &status);
        remove_files(r);
        forget(r);
        if (s->n == 0 && s->cgroups.kind != CONTAINER_CGROUPS_NONE)
            (void)container_cgroup_remove(&s->cgroups, s->group);
    } else if (has_status) {
        take_status(r, &status);
    }
    arena_fini(&a);
}

static void look_later(struct lazy_root *r)
{
    defer_start(r->s->opts.loop, &r->look, look);
}

static void on_file_event(uv_fs_event_t *h, const char *name, int events, int status)
{
    look_later(h->data);
}

static void on_exit_of(struct process *p, int status, void *arg)
{
    struct lazy_root *r = arg;
    (void)p, (void)status;
    r->process = NULL;
    look_later(r);
}

/* ---------------------------------------------------------------- starting */

static struct lazy_root *add_root(struct lazy_roots *s, const char *name)
{
    struct lazy_root *r = xnew(struct lazy_root);
    r->s = s;
    r->path = xasprintf("%s/%s", s->opts.dir, name);
    r->input = -1;
    list_push_back(&s->all, &r->node);
    s->n++;
    return r;
}

static int watch_status(struct lazy_root *r, struct err *err)
{
    (void)uv_fs_event_init(&r->s->opts.loop->uv, &r->events);
    r->events.data = r;
    r->has_events = true;
    int code = uv_fs_event_start(&r->events, on_file_event, r->path, 0);
    uv_unref((uv_handle_t *)&r->events);
    return code < 0 ? err_sys(err, code, "watch directory '%s'", r->path) : 0;
}

/* In a session of its own, and with nothing that its caller's end closes. */
static int spawn(const struct lazy_roots *s, int input, int *ret_pid, struct err *err)
{
    const char *program = s->opts.program ? s->opts.program : "/proc/self/exe";
    char name[] = "dormouse", word[] = LAZY_CHILD_WORD;
    char *argv[] = { name, word, NULL };
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t actions;
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int r = -posix_spawn(ret_pid, program, &actions, &attr, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attr);
    return r < 0 ? err_sys(err, r, "start the process that mounts an image") : 0;
}

static int send_request(const struct lazy_root *r, const char *get, struct err *err)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a), *wanted;
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(REQUEST_MAX);
    json_set_str(&a, v, "store", str_of(r->s->opts.store));
    json_set_str(&a, v, "dir", str_of(r->path));
    int code = json_parse(&a, str_of(get), NULL, &wanted, err);
    if (code >= 0)
        json_setc(&a, v, "get", wanted);
    code = code < 0 ? code : json_write(&line, v);
    (void)buf_add_char(&line, '\n');
    arena_fini(&a);
    if (code < 0 || !buf_ok(&line))
        return err_set(err, E_LIMIT, "the request for the image is too long");
    code = sys_write_all(r->input, line.p, line.n);
    return code < 0 ? err_sys(err, code, "ask for the image") : 0;
}

/* A service manager that ends what is in the group of this process leaves it alone. */
static void join_group(struct lazy_roots *s, int pid)
{
    if (s->cgroups.kind == CONTAINER_CGROUPS_NONE &&
        container_cgroups_find("/dormouse-lazy", &s->cgroups, NULL) < 0)
        return;
    container_cgroup_join(&s->cgroups, s->group, pid);
}

static int start_process(struct lazy_root *r, const char *get, struct err *err)
{
    int ends[2], pid = -1;
    if (mkdir(r->path, 0700) < 0)
        return err_sys(err, -errno, "mkdir '%s'", r->path);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    scoped(fd_scoped) int theirs = ends[0];
    r->input = ends[1];
    int code = watch_status(r, err);
    code = code < 0 ? code : spawn(r->s, theirs, &pid, err);
    if (code < 0)
        return code;
    join_group(r->s, pid);
    code = process_watch(r->s->opts.loop, pid, 0, true, on_exit_of, r, &r->process, err);
    return code < 0 ? code : send_request(r, get, err);
}

static size_t count_of(const struct lazy_roots *s, struct str tenant)
{
    size_t n = 0;
    list_each (node, &s->all) {
        const struct lazy_root *r = list_entry(node, struct lazy_root, node);
        n += r->tenant && str_is(tenant, r->tenant);
    }
    return n;
}

static int may_start(const struct lazy_roots *s, const struct lazy_root_want *want, struct err *err)
{
    if (is_distrusted(s, want->reference))
        return err_set(err, E_DENIED, "its registry has sent wrong files before");
    if (s->n >= LAZY_ROOTS_MAX || count_of(s, want->tenant) >= LAZY_ROOTS_OF_TENANT_MAX)
        return err_set(err, E_LIMIT, "%zu images are mounted lazily", s->n);
    return sys_mkdir_all(s->opts.dir, 0700, err);
}

int lazy_roots_start(struct lazy_roots *s, const struct lazy_root_want *want,
                     struct lazy_root **ret, struct err *err)
{
    uint8_t bytes[NAME_DIGITS / 2];
    char name[NAME_DIGITS + 1];
    int code = may_start(s, want, err);
    if (code < 0)
        return code;
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return err_set(err, -EIO, "no random numbers");
    hex_format(bytes, sizeof bytes, name);
    struct lazy_root *r = add_root(s, name);
    code = start_process(r, want->get, err);
    if (code < 0) {
        remove_files(r);
        forget(r);
        return code;
    }
    r->reference = str_dup(want->reference);
    r->tenant = str_dup(want->tenant);
    r->is_used = true;
    r->on_started = want->on_started;
    r->arg = want->arg;
    *ret = r;
    return 0;
}

void lazy_root_go_on(struct lazy_root *r)
{
    close_input(r);
}

struct lazy_root *lazy_roots_find(struct lazy_roots *s, struct str reference)
{
    list_each (node, &s->all) {
        struct lazy_root *r = list_entry(node, struct lazy_root, node);
        if (r->at == LAZY_CHILD_MOUNTED && r->is_used && r->reference &&
            str_is(reference, r->reference))
            return r;
    }
    return NULL;
}

void lazy_root_drop(struct lazy_root *r)
{
    r->is_used = false;
    close_input(r);
    if (r->process)
        process_signal(r->process, SIGTERM);
    else
        look_later(r);
}

/* ---------------------------------------------------------------- of an earlier process */

struct lazy_root *lazy_roots_adopt(struct lazy_roots *s, struct str dir)
{
    list_each (node, &s->all) {
        struct lazy_root *r = list_entry(node, struct lazy_root, node);
        if (!r->dir || !str_is(dir, r->dir))
            continue;
        r->is_used = true;
        look_later(r);
        return r;
    }
    return NULL;
}

static void on_adopted(struct timer *t)
{
    struct lazy_roots *s = container_of(t, struct lazy_roots, adopt);
    list_each_safe (node, &s->all) {
        struct lazy_root *r = list_entry(node, struct lazy_root, node);
        if (!r->is_used)
            lazy_root_drop(r);
    }
}

static void find_again(struct lazy_roots *s, const char *name)
{
    struct arena a = { 0 };
    char boot[BOOT_ID_BYTES] = "";
    struct lazy_child_status status = { 0 };
    struct lazy_root *r = add_root(s, name);
    (void)boot_id_read(boot, NULL);
    if (lazy_child_status_read(r->path, &a, &status, NULL) >= 0) {
        note_place(r, &status);
        r->at = status.at == LAZY_CHILD_WHOLE ? LAZY_CHILD_WHOLE : LAZY_CHILD_MOUNTED;
        if (str_is(status.boot, boot) && watch_status(r, NULL) >= 0)
            (void)process_watch(s->opts.loop, status.pid, status.start_ticks, false, on_exit_of, r,
                                &r->process, NULL);
    }
    arena_fini(&a);
}

static void find_all(struct lazy_roots *s)
{
    scoped(tree_names_fini_scoped) struct tree_names names = { 0 };
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, s->opts.dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0 || tree_names_read(fd, &names, NULL) < 0)
        return;
    for (size_t i = 0; i < names.all.n; i++)
        find_again(s, names.all.p[i]);
    if (s->n)
        timer_start(s->opts.loop, &s->adopt, LAZY_ROOTS_ADOPT_MS, on_adopted);
}

struct lazy_roots *lazy_roots_new(const struct lazy_roots_opts *opts)
{
    struct lazy_roots *s = xnew(struct lazy_roots);
    s->opts = *opts;
    (void)snprintf(s->group, sizeof s->group, "files-%016llx",
                   (unsigned long long)str_hash(str_of(opts->dir), 1));
    list_init(&s->all);
    find_all(s);
    return s;
}

void lazy_roots_close(struct lazy_roots *s)
{
    if (!s)
        return;
    timer_stop(s->opts.loop, &s->adopt);
    while (!list_is_empty(&s->all))
        forget(list_first(&s->all, struct lazy_root, node));
    for (size_t i = 0; i < ARRAY_LEN(s->distrusted); i++)
        free(s->distrusted[i]);
    free(s);
}

const char *lazy_root_dir(const struct lazy_root *r)
{
    return r->dir;
}

struct str lazy_root_config(const struct lazy_root *r)
{
    return str_of(r->config ? r->config : "");
}

size_t lazy_root_words(const struct lazy_root *r)
{
    return r->n_words;
}
