/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a container, from the order to make it until nothing of it is left. Every callback
 * moves the box or tells the worker; what the worker does not want any more only ends.
 */
#include "base/clock.h"
#include "base/sys.h"
#include "fn/worker/oci_impl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CRUN_LOG_MAX = 64 << 10,
    CRUN_MAX_MS = 30000, /* one run of it; then it is killed */
    GROUP_PAUSE_MS = 10, /* for what ends in a control group, */
    GROUP_TRIES = 500,   /* so many times */
    STRAY_RANGE = 64     /* process ids after crun's own in which its child is looked for */
};

/*
 *     IMAGE -> NETWORK -> QUEUED -> STARTING -> PROBING -> READY -> ENDING -> CLEANING -> (free)
 *
 * IMAGE waits for what the container is made of, NETWORK waits for one, QUEUED for a process slot,
 * STARTING for crun run, PROBING for readiness, ENDING for the end of the container after a signal,
 * CLEANING for crun delete. Whoever fails or is deleted goes to ENDING if there is a container,
 * else to CLEANING.
 */
static const struct sm_state box_table[] = {
    [BOX_IMAGE] = { "image", EDGE(BOX_NETWORK) | EDGE(BOX_CLEANING) },
    [BOX_NETWORK] = { "network", EDGE(BOX_QUEUED) | EDGE(BOX_CLEANING) },
    [BOX_QUEUED] = { "queued", EDGE(BOX_STARTING) | EDGE(BOX_CLEANING) },
    [BOX_STARTING] = { "starting", EDGE(BOX_PROBING) | EDGE(BOX_ENDING) | EDGE(BOX_CLEANING) },
    [BOX_PROBING] = { "probing", EDGE(BOX_READY) | EDGE(BOX_ENDING) | EDGE(BOX_CLEANING) },
    [BOX_READY] = { "ready", EDGE(BOX_ENDING) | EDGE(BOX_CLEANING) },
    [BOX_ENDING] = { "ending", EDGE(BOX_CLEANING) },
    [BOX_CLEANING] = { "cleaning", 0 },
};

static void start_crun(struct box *b);
static void finish(struct box *b);

static void move(struct box *b, enum box_at to)
{
    sm_move(&b->sm, to);
}

uint32_t box_lap_us(struct box *b)
{
    uint64_t now = clock_mono_ns(), us = (now - b->at_ns) / 1000;
    b->at_ns = now;
    return (uint32_t)MIN(us, (uint64_t)UINT32_MAX);
}

/* ---------------------------------------------------------------- before it */

struct box *box_new(struct oci *o, uint64_t id, const struct runtime_revision *of)
{
    struct box *b = xnew(struct box);
    b->o = o;
    b->id = id;
    (void)snprintf(b->name, sizeof b->name, "s%llu", (unsigned long long)id);
    (void)snprintf(b->group, sizeof b->group, "%s-%s", strrchr(o->run, '-') + 1, b->name);
    b->dir = xasprintf("%s/%s", o->run, b->name);
    sm_init(&b->sm, box_table, BOX_IMAGE);
    b->of = (struct runtime_revision){ .namespace = xstrdup(of->namespace),
                                       .function = xstrdup(of->function),
                                       .uid = xstrdup(of->uid),
                                       .revision = of->revision };
    b->begun_ns = b->at_ns = clock_mono_ns();
    dormouse__fn__v1__breakdown__init(&b->took);
    map_put(&o->boxes, box_key(&id), b);
    o->n_owed++;
    return b;
}

void box_has_image(struct box *b)
{
    move(b, BOX_NETWORK);
}

/* ---------------------------------------------------------------- its log */

static void log_host(struct box *b, enum log_level level, const char *text)
{
    struct fn_log_line line = {
        .level = level, .message = str_of(text), .sandbox = b->id, .stream = "host"
    };
    fn_log_add(b->o->logs, &b->of, &line);
}

static void on_out_line(void *arg, struct str text)
{
    struct box *b = arg;
    fn_log_output(b->o->logs, &b->of, b->id, STR(""), "stdout", text);
}

static void on_err_line(void *arg, struct str text)
{
    struct box *b = arg;
    fn_log_output(b->o->logs, &b->of, b->id, STR(""), "stderr", text);
}

/* ---------------------------------------------------------------- telling the worker */

void box_address(const struct box *b, char to[OCI_ADDRESS_MAX])
{
    struct in_addr in = { htonl(b->network->address) };
    char plain[INET_ADDRSTRLEN];
    (void)inet_ntop(AF_INET, &in, plain, sizeof plain);
    (void)snprintf(to, OCI_ADDRESS_MAX, "%s:%u", plain, b->port);
}

static void tell_created(struct box *b)
{
    char address[OCI_ADDRESS_MAX];
    box_address(b, address);
    b->took.total = (uint32_t)((clock_mono_ns() - b->begun_ns) / 1000);
    b->is_told = true;
    b->o->base.events->on_created(b->o->base.events_arg, b->id, 0, address, &b->took, NULL);
}

/* It is no more, as far as the worker is concerned. */
static void tell_lost(struct box *b, int r, const char *text)
{
    struct err err = { 0 };
    log_host(b, LOG_ERROR, text);
    b->is_wanted = false;
    if (b->is_told) {
        b->o->base.events->on_gone(b->o->base.events_arg, b->id, text);
        return;
    }
    b->is_told = true;
    b->took.total = (uint32_t)((clock_mono_ns() - b->begun_ns) / 1000);
    (void)err_set(&err, r, "%s", text);
    b->o->base.events->on_created(b->o->base.events_arg, b->id, r, NULL, &b->took, &err);
}

/* ---------------------------------------------------------------- ending */

static void on_grace(struct timer *t)
{
    struct box *b = container_of(t, struct box, grace);
    if (b->init)
        process_signal(b->init, SIGKILL);
}

/* The container is to end, if there is one. */
void box_end(struct box *b)
{
    probe_stop(take_ptr(&b->probe));
    if (!b->init) {
        box_clean(b);
        return;
    }
    move(b, BOX_ENDING);
    process_signal(b->init, b->grace_ms ? SIGTERM : SIGKILL);
    if (b->grace_ms)
        timer_start(b->o->loop, &b->grace, b->grace_ms, on_grace);
}

void box_fail(struct box *b, int r, const char *text)
{
    if (b->is_wanted)
        tell_lost(b, r, text);
    b->grace_ms = 0;
    box_end(b);
}

static void how_it_ended(struct box *b, int status, char *text, size_t n)
{
    const char *last = container_output_last(b->err_out);
    bool ran_out = container_cgroup_ran_out(&b->o->cgroups, b->group);
    if (!last[0])
        last = container_output_last(b->out);
    if (status == PROCESS_UNKNOWN)
        (void)snprintf(text, n, "the container has ended");
    else if (status < 0)
        (void)snprintf(text, n, "the container was killed by signal %d%s", -status,
                       ran_out ? " (out of memory)" : "");
    else
        (void)snprintf(text, n, "the container has ended with status %d%s", status,
                       ran_out ? " (out of memory)" : "");
    size_t used = strlen(text);
    if (last[0] && used < n)
        (void)snprintf(text + used, n - used, "; it said: %s", last);
}

static void reap_stray(struct box *b);

static void on_init_exit(struct process *p, int status, void *arg)
{
    struct box *b = arg;
    char text[240];
    reap_stray(b);
    b->init = NULL;
    timer_stop(b->o->loop, &b->grace);
    probe_stop(take_ptr(&b->probe));
    container_output_drain(b->out); /* its last words are in the log before ours */
    container_output_drain(b->err_out);
    if (b->is_wanted) {
        how_it_ended(b, status, text, sizeof text);
        tell_lost(b, -EPIPE, text);
    }
    box_clean(b);
}

/* ---------------------------------------------------------------- crun */

static void on_crun_late(struct timer *t)
{
    struct box *b = container_of(t, struct box, late);
    log_warn("crun does not come to an end", "name=%s", b->name);
    process_signal(b->crun, SIGKILL);
}

static int spawn_crun(struct box *b, const char *const *words, int out, int err_out,
                      process_exit_cb on_exit, struct err *err)
{
    struct oci *o = b->o;
    scoped(free_scoped) char *root = xasprintf("%s/crun", o->run);
    scoped(free_scoped) char *log = xasprintf("%s/log", b->dir);
    static const char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
    const char *argv[20] = { o->copy, "--root", root, "--log", log };
    size_t n = 5;
    if (!o->is_runc)
        argv[n++] = o->cgroups.kind ? "--cgroup-manager=cgroupfs" : "--cgroup-manager=disabled";
    for (; *words; words++)
        argv[n++] = *words;
    struct process_opts opts = { .argv = argv,
                                 .env = env,
                                 .mount_ns = o->mount_ns,
                                 .in = o->null_fd,
                                 .out = out,
                                 .err_out = err_out,
                                 .on_exit = on_exit,
                                 .arg = b };
    int r = process_spawn(o->loop, &opts, &b->crun, err);
    if (r == 0)
        timer_start(o->loop, &b->late, CRUN_MAX_MS, on_crun_late);
    return r;
}

/* The last thing crun has said, which begins with the words of its kind and time. */
static void read_crun_log(const struct box *b, char *text, size_t n)
{
    scoped(buf_fini_scoped) struct buf all = BUF_INIT(CRUN_LOG_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/log", b->dir);
    struct err ignored;
    (void)sys_read_file(AT_FDCWD, path, &all, &ignored);
    struct str left = str_trim(buf_str(&all)), line = left;
    while (str_cut(left, '\n', &line, &left))
        ;
    ptrdiff_t at = str_find(line, STR("Z: "));
    if (at >= 0)
        line = str_slice(line, (size_t)at + 3, line.n);
    (void)snprintf(text, n, "the container cannot be started: " STR_FMT,
                   STR_ARG(str_slice(line, 0, n)));
}

static void next_start(struct oci *o)
{
    while (o->n_starting < OCI_STARTS_MAX && !list_is_empty(&o->queue)) {
        struct box *b = list_entry(list_pop_front(&o->queue), struct box, queued);
        start_crun(b);
    }
}

static void on_probed(void *arg, int r, const struct err *err)
{
    struct box *b = arg;
    b->probe = NULL;
    reap_stray(b);
    b->took.readiness_probe = box_lap_us(b);
    if (r < 0) {
        box_fail(b, r, err_text(err));
        return;
    }
    move(b, BOX_READY);
    if (b->cpu_milli)
        container_cgroup_limit_cpu(&b->o->cgroups, b->group, b->cpu_milli);
    tell_created(b);
}

static void begin_probe(struct box *b)
{
    struct err err = { 0 };
    struct probe_opts o = { .address = b->network->address,
                            .port = b->port,
                            .path = str_of(b->path),
                            .limit_ms = b->ready_ms,
                            .done = on_probed,
                            .arg = b };
    move(b, BOX_PROBING);
    int r = probe_start(b->o->loop, &o, &b->probe, &err);
    if (r < 0)
        box_fail(b, r, err_text(&err));
}

static int read_pid(const struct box *b)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64);
    scoped(free_scoped) char *path = xasprintf("%s/pid", b->dir);
    struct err ignored;
    uint64_t pid;
    if (sys_read_file(AT_FDCWD, path, &text, &ignored) < 0 ||
        parse_u64(str_trim(buf_str(&text)), 2, INT_MAX, &pid) < 0)
        return -ESRCH;
    return (int)pid;
}

/*
 * crun run --detach forks twice: the container is made by a grandchild of its, which ends behind it
 * and is left to us, as the subreaper. By then its id is not known any more, only that it was given
 * soon after crun's.
 */
static void reap_stray(struct box *b)
{
    for (int i = 1; b->crun_pid && i <= STRAY_RANGE; i++)
        if (process_reap_stray(b->crun_pid + i)) {
            b->crun_pid = 0;
            return;
        }
    if (b->crun_pid && process_reap_any_stray()) /* many processes began at that time */
        b->crun_pid = 0;
}

static void on_crun_run(struct process *p, int status, void *arg)
{
    struct box *b = arg;
    struct err err = { 0 };
    char text[240];
    b->crun = NULL;
    timer_stop(b->o->loop, &b->late);
    b->o->n_starting--;
    b->took.sandbox_start = box_lap_us(b);
    reap_stray(b);
    b->pid = status == 0 ? read_pid(b) : -ESRCH;
    int r = b->pid < 0 ? b->pid
                       : process_watch(b->o->loop, b->pid, true, on_init_exit, b, &b->init, &err);
    if (r < 0) {
        read_crun_log(b, text, sizeof text);
        box_fail(b, status == 0 ? r : -EIO, text);
    } else if (!b->is_wanted) {
        box_end(b); /* deleted meanwhile */
    } else {
        box_write_state(b);
        begin_probe(b);
    }
    next_start(b->o);
}

/*
 * A pipe with a name: the container holds both ends of it, so that it can go on printing while no
 * worker reads.
 */
static int make_pipe(const struct box *b, const char *name, bool is_new, int *ret_read,
                     int *ret_write, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", b->dir, name);
    scoped(fd_scoped) int in = -1;
    if (is_new && mkfifo(path, 0600) < 0)
        return err_sys(err, -errno, "make '%s'", path);
    if (is_new && chown(path, b->user.uid, b->user.gid) < 0) /* programs reopen /dev/stderr */
        return err_sys(err, -errno, "give '%s' to the user of the container", path);
    in = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (in < 0)
        return err_sys(err, -errno, "open '%s'", path);
    if (ret_write) {
        *ret_write = open(path, O_RDWR | O_CLOEXEC);
        if (*ret_write < 0)
            return err_sys(err, -errno, "open '%s'", path);
    }
    *ret_read = take_fd(&in);
    return 0;
}

static int read_output(struct box *b, int fd, void (*on_line)(void *, struct str),
                       struct container_output **ret, struct err *err)
{
    int r = container_output_start(b->o->loop, fd, on_line, b, ret, err);
    if (r < 0)
        (void)close(fd);
    return r;
}

static int run_crun(struct box *b, struct err *err)
{
    int out_read = -1, err_read = -1;
    scoped(fd_scoped) int out = -1, err_out = -1;
    scoped(free_scoped) char *pid_file = xasprintf("%s/pid", b->dir);
    int r = make_pipe(b, "out", true, &out_read, &out, err);
    if (r == 0)
        r = read_output(b, out_read, on_out_line, &b->out, err);
    if (r == 0)
        r = make_pipe(b, "err", true, &err_read, &err_out, err);
    if (r == 0)
        r = read_output(b, err_read, on_err_line, &b->err_out, err);
    if (r < 0)
        return r;
    const char *const words[] = { "run",      "--detach", "--no-new-keyring",
                                  "--bundle", b->dir,     "--pid-file",
                                  pid_file,   b->name,    NULL };
    r = spawn_crun(b, words, out, err_out, on_crun_run, err);
    b->crun_pid = r == 0 ? process_pid(b->crun) : 0;
    return r;
}

static void start_crun(struct box *b)
{
    struct err err = { 0 };
    move(b, BOX_STARTING);
    int r = run_crun(b, &err);
    if (r < 0)
        box_fail(b, r, err_text(&err));
    else
        b->o->n_starting++;
}

/* ---------------------------------------------------------------- its directory */

static int write_file(const struct box *b, const char *name, struct str bytes, mode_t mode,
                      struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s", b->dir, name);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, mode);
    int r = fd < 0 ? fd : sys_write_all(fd, bytes.p, bytes.n);
    if (r == 0 && fchown(fd, b->user.uid, b->user.gid) < 0)
        r = -errno;
    return r < 0 ? err_sys(err, r, "write '%s'", path) : 0;
}

static int write_secrets(const struct box *b, const struct runtime_revision *r, struct err *err)
{
    scoped(free_scoped) char *dir = xasprintf("%s/secrets", b->dir);
    if (r->n_secrets == 0)
        return 0;
    if (mkdir(dir, 0700) < 0)
        return err_sys(err, -errno, "make '%s'", dir);
    for (size_t i = 0; i < r->n_secrets; i++) {
        char name[32];
        const ProtobufCBinaryData *d = &r->secrets[i]->content;
        (void)snprintf(name, sizeof name, "secrets/%zu", i);
        int code = write_file(b, name, str_n(d->data, d->len), 0400, err);
        if (code < 0)
            return code;
    }
    return 0;
}

/* The network's descriptor is ours; crun opens it by our process. */
static int write_config(const struct box *b, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(OCI_CONFIG_TEXT_MAX);
    scoped(free_scoped) char *secrets = xasprintf("%s/secrets", b->dir);
    char network[64];
    (void)snprintf(network, sizeof network, "/proc/%d/fd/%d", getpid(), b->network->ns_fd);
    const char *const with[] = {
        [OCI_HOLE_GROUP] = b->group, [OCI_HOLE_NETWORK] = network, [OCI_HOLE_SECRETS] = secrets
    };
    oci_config_fill(str_n(b->config, b->config_n), with, &text);
    return write_file(b, "config.json", buf_str(&text), 0600, err);
}

static void remove_dir(const struct box *b)
{
    static const char *const names[] = { "config.json", "state.json", "pid", "log", "out", "err" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        scoped(free_scoped) char *path = xasprintf("%s/%s", b->dir, names[i]);
        (void)unlink(path);
    }
    scoped(free_scoped) char *secrets = xasprintf("%s/secrets", b->dir);
    for (size_t i = 0;; i++) { /* as many as write_secrets() made */
        scoped(free_scoped) char *path = xasprintf("%s/%zu", secrets, i);
        if (unlink(path) < 0)
            break;
    }
    (void)rmdir(secrets);
    (void)rmdir(b->dir);
}

void box_queue(struct box *b)
{
    struct err err = { 0 };
    b->took.network_setup = box_lap_us(b);
    int r = write_config(b, &err);
    b->took.sandbox_create += box_lap_us(b);
    free(take_ptr(&b->config));
    if (r < 0) {
        box_fail(b, r, err_text(&err));
        return;
    }
    move(b, BOX_QUEUED);
    list_push_back(&b->o->queue, &b->queued);
    next_start(b->o);
}

static void on_network(struct container_network_wait *w, struct container_network *n,
                       const struct err *err)
{
    struct box *b = container_of(w, struct box, wait);
    b->network = n;
    if (n)
        box_queue(b);
    else
        box_fail(b, err->code, err_text(err));
}

void box_wait_for_network(struct box *b)
{
    b->wait.run = on_network;
    container_network_wait(b->o->networks, &b->wait);
}

int box_make_dir(struct box *b, const struct runtime_revision *r, struct err *err)
{
    if (mkdir(b->dir, 0700) < 0)
        return err_sys(err, -errno, "make '%s'", b->dir);
    return write_secrets(b, r, err);
}

/* ---------------------------------------------------------------- after it */

static void on_crun_delete(struct process *p, int status, void *arg)
{
    struct box *b = arg;
    b->crun = NULL;
    timer_stop(b->o->loop, &b->late);
    finish(b);
}

static void on_finish_turn(struct defer *d)
{
    finish(container_of(d, struct box, turn));
}

/* Nothing of it runs. crun delete takes away its control group and its record. */
void box_clean(struct box *b)
{
    struct err err = { 0 };
    bool had_container = b->sm.at != BOX_IMAGE && b->sm.at != BOX_NETWORK && b->sm.at != BOX_QUEUED;
    list_remove(&b->queued);
    container_network_cancel(&b->wait);
    move(b, BOX_CLEANING);
    container_output_close(take_ptr(&b->out));
    container_output_close(take_ptr(&b->err_out));
    const char *const words[] = { "delete", "--force", b->name, NULL };
    if (had_container &&
        spawn_crun(b, words, b->o->null_fd, b->o->null_fd, on_crun_delete, &err) == 0)
        return;
    if (err.code)
        log_warn("container not cleaned up", "name=%s error=\"%s\"", b->name, err_text(&err));
    defer_start(b->o->loop, &b->turn, on_finish_turn);
}

static void on_group_pause(struct timer *t)
{
    finish(container_of(t, struct box, late));
}

static void finish(struct box *b)
{
    struct oci *o = b->o;
    reap_stray(b);
    if (container_cgroup_remove(&o->cgroups, b->group) < 0 && b->tries++ < GROUP_TRIES) {
        timer_start(o->loop, &b->late, GROUP_PAUSE_MS, on_group_pause);
        return;
    }
    uint64_t id = b->id;
    bool farewell = b->owes_farewell;
    if (b->network)
        container_network_put(o->networks, b->network);
    if (b->image)
        o->images.ops->put(o->images.arg, b->image);
    remove_dir(b);
    map_del(&o->boxes, box_key(&b->id));
    free((char *)(uintptr_t)b->of.namespace);
    free((char *)(uintptr_t)b->of.function);
    free((char *)(uintptr_t)b->of.uid);
    free(b->path);
    free(b->config);
    free(b->dir);
    free(b);
    if (farewell)
        o->base.events->on_destroyed(o->base.events_arg, id);
    oci_give_back(o);
}

/* ---------------------------------------------------------------- one that runs already */

int box_take_over(struct box *b, int pid, struct err *err)
{
    int fd = -1, r = process_watch(b->o->loop, pid, false, on_init_exit, b, &b->init, err);
    if (r < 0)
        return r;
    b->pid = pid;
    if (make_pipe(b, "out", false, &fd, NULL, err) == 0)
        (void)read_output(b, fd, on_out_line, &b->out, err);
    if (make_pipe(b, "err", false, &fd, NULL, err) == 0)
        (void)read_output(b, fd, on_err_line, &b->err_out, err);
    return 0;
}
