/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime `oci`; see oci.h. A box is a sandbox from the order to create it until nothing of it
 * is left; what its container may do is made in oci_config.c, its network in oci_network.c.
 */
#include "fn/worker/oci.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/sm.h"
#include "base/sys.h"
#include "base/vec.h"
#include "codec/json.h"
#include "fn/worker/logs.h"
#include "fn/worker/oci_cgroup.h"
#include "fn/worker/oci_config.h"
#include "fn/worker/oci_network.h"
#include "fn/worker/oci_output.h"
#include "fn/worker/probe.h"
#include "fn/worker/process.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CONFIG_TEXT_MAX = 4 << 20,
    STATE_MAX = 64 << 10,
    CRUN_LOG_MAX = 64 << 10,
    ADDRESS_MAX = 32,
    NAME_MAX_BYTES = 32,
    PROGRAM_MAX = 64 << 20
};

struct oci {
    struct runtime base;
    struct loop *loop;
    struct guest_logs *logs;
    char *run;     /* RUN */
    char *program; /* crun's path */
    char *copy;    /* its sealed copy in memory, "/proc/self/fd/N"; runc: as program */
    int copy_fd;
    bool is_runc, no_limits;
    char *subnet;
    VEC(char *) bundle_dirs; /* real paths */
    uint32_t n_networks;
    enum { OCI_NEW, OCI_SET_UP, OCI_BROKEN } at; /* what containers need is made with the first */
    struct err broken;
    char *filter; /* seccomp program, base64 */
    enum oci_cgroups cgroups;
    int mount_ns; /* in which crun runs; -1: ours */
    int null_fd;
    struct oci_networks *networks;
    struct map boxes;  /* 8 bytes -> struct box */
    struct list queue; /* boxes that wait for one of OCI_STARTS_MAX */
    uint32_t n_starting;
    size_t n_owed; /* boxes and farewells */
    void (*done)(void *arg);
    void *done_arg;
    struct defer closing;
};

/* What all sandboxes of a revision share. */
struct plan {
    struct buf config; /* with holes */
    struct oci_user user;
    int r; /* it cannot be run: err */
    struct err err;
};

enum box_at {
    BOX_NETWORK,
    BOX_QUEUED,
    BOX_STARTING,
    BOX_PROBING,
    BOX_READY,
    BOX_ENDING,
    BOX_CLEANING
};

/*
 *     NETWORK -> QUEUED -> STARTING -> PROBING -> READY -> ENDING -> CLEANING -> (free)
 *
 * NETWORK waits for one, QUEUED for a process slot, STARTING for crun run, PROBING for readiness,
 * ENDING for the end of the container after a signal, CLEANING for crun delete. Whoever fails or is
 * deleted goes to ENDING if there is a container, else to CLEANING.
 */
static const struct sm_state box_table[] = {
    [BOX_NETWORK] = { "network", EDGE(BOX_QUEUED) | EDGE(BOX_CLEANING) },
    [BOX_QUEUED] = { "queued", EDGE(BOX_STARTING) | EDGE(BOX_CLEANING) },
    [BOX_STARTING] = { "starting", EDGE(BOX_PROBING) | EDGE(BOX_ENDING) | EDGE(BOX_CLEANING) },
    [BOX_PROBING] = { "probing", EDGE(BOX_READY) | EDGE(BOX_ENDING) | EDGE(BOX_CLEANING) },
    [BOX_READY] = { "ready", EDGE(BOX_ENDING) | EDGE(BOX_CLEANING) },
    [BOX_ENDING] = { "ending", EDGE(BOX_CLEANING) },
    [BOX_CLEANING] = { "cleaning", 0 },
};

struct box {
    struct oci *o;
    uint64_t id;
    char name[NAME_MAX_BYTES]; /* s<ID> */
    char *dir;
    struct sm sm;
    struct list queued;
    struct runtime_revision of; /* copies of its names; nothing else of it is used later */
    uint64_t cpu_milli, ready_ms;
    uint16_t port;
    char *path; /* of the probe */
    char *config;
    size_t config_n;
    struct oci_user user;

    struct oci_network *network;
    struct oci_network_wait wait;
    struct process *crun, *init;
    int pid;
    struct probe *probe;
    struct oci_output *out, *err_out;
    struct timer grace;
    struct defer turn; /* finish() without a callback inside a call */

    uint64_t at_ns; /* when the current phase began */
    uint64_t begun_ns;
    Dormouse__Fn__V1__Breakdown took;

    bool is_told;       /* on_created() has been called, one way or the other */
    bool is_wanted;     /* by the worker: neither failed, died nor deleted */
    bool owes_farewell; /* on_destroyed() */
    uint32_t grace_ms;
};

static void start_crun(struct box *b);
static void clean(struct box *b);
static void finish(struct box *b);

static struct oci *of(struct runtime *rt)
{
    return container_of(rt, struct oci, base);
}

static void move(struct box *b, enum box_at to)
{
    sm_move(&b->sm, to);
}

static uint32_t lap_us(struct box *b)
{
    uint64_t now = clock_mono_ns(), us = (now - b->at_ns) / 1000;
    b->at_ns = now;
    return (uint32_t)MIN(us, (uint64_t)UINT32_MAX);
}

static struct str id_key(const uint64_t *id)
{
    return str_n(id, sizeof *id);
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
    struct fn_log_line line = {
        .level = LOG_INFO, .message = text, .sandbox = b->id, .stream = "stdout"
    };
    fn_log_add(b->o->logs, &b->of, &line);
}

static void on_err_line(void *arg, struct str text)
{
    struct box *b = arg;
    struct fn_log_line line = {
        .level = LOG_INFO, .message = text, .sandbox = b->id, .stream = "stderr"
    };
    fn_log_add(b->o->logs, &b->of, &line);
}

/* ---------------------------------------------------------------- telling the worker */

static void tell_created(struct box *b)
{
    char address[ADDRESS_MAX];
    struct in_addr in = { htonl(b->network->address) };
    char plain[INET_ADDRSTRLEN];
    (void)inet_ntop(AF_INET, &in, plain, sizeof plain);
    (void)snprintf(address, sizeof address, "%s:%u", plain, b->port);
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
static void end(struct box *b)
{
    probe_stop(take_ptr(&b->probe));
    if (!b->init) {
        clean(b);
        return;
    }
    move(b, BOX_ENDING);
    process_signal(b->init, b->grace_ms ? SIGTERM : SIGKILL);
    if (b->grace_ms)
        timer_start(b->o->loop, &b->grace, b->grace_ms, on_grace);
}

static void fail(struct box *b, int r, const char *text)
{
    if (b->is_wanted)
        tell_lost(b, r, text);
    b->grace_ms = 0;
    end(b);
}

static void how_it_ended(struct box *b, int status, char *text, size_t n)
{
    const char *last = oci_output_last(b->err_out);
    bool ran_out = oci_cgroup_ran_out(b->o->cgroups, b->name);
    if (!last[0])
        last = oci_output_last(b->out);
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

static void on_init_exit(struct process *p, int status, void *arg)
{
    struct box *b = arg;
    char text[240];
    b->init = NULL;
    timer_stop(b->o->loop, &b->grace);
    probe_stop(take_ptr(&b->probe));
    oci_output_drain(b->out); /* its last words are in the log before ours */
    oci_output_drain(b->err_out);
    if (b->is_wanted) {
        how_it_ended(b, status, text, sizeof text);
        tell_lost(b, -EPIPE, text);
    }
    clean(b);
}

/* ---------------------------------------------------------------- crun */

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
        argv[n++] = o->cgroups ? "--cgroup-manager=cgroupfs" : "--cgroup-manager=disabled";
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
    return process_spawn(o->loop, &opts, &b->crun, err);
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
    b->took.readiness_probe = lap_us(b);
    if (r < 0) {
        fail(b, r, err_text(err));
        return;
    }
    move(b, BOX_READY);
    oci_cgroup_limit_cpu(b->o->cgroups, b->name, b->cpu_milli);
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
        fail(b, r, err_text(&err));
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

/* So that a worker that comes after us knows what this is. */
static void write_state(struct box *b)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(STATE_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/state.json", b->dir);
    (void)buf_printf(&text, "{\"sandbox\":%llu,\"uid\":", (unsigned long long)b->id);
    (void)json_write_str(&text, str_of(b->of.uid));
    (void)buf_add_cstr(&text, ",\"namespace\":");
    (void)json_write_str(&text, str_of(b->of.namespace));
    (void)buf_add_cstr(&text, ",\"function\":");
    (void)json_write_str(&text, str_of(b->of.function));
    (void)buf_printf(&text,
                     ",\"revision\":%u,\"address\":%u,\"port\":%u,\"pid\":%d,\"ticks\":%llu}\n",
                     b->of.revision, b->network->address, b->port, b->pid,
                     (unsigned long long)process_start_ticks(b->pid));
    int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return; /* it will be removed instead of adopted */
    (void)sys_write_all(fd, text.p, text.n);
    (void)close(fd);
}

static void on_crun_run(struct process *p, int status, void *arg)
{
    struct box *b = arg;
    struct err err = { 0 };
    char text[240];
    b->crun = NULL;
    b->o->n_starting--;
    b->took.sandbox_start = lap_us(b);
    b->pid = status == 0 ? read_pid(b) : -ESRCH;
    int r =
        b->pid < 0 ? b->pid : process_watch(b->o->loop, b->pid, on_init_exit, b, &b->init, &err);
    if (r < 0) {
        read_crun_log(b, text, sizeof text);
        fail(b, status == 0 ? r : -EIO, text);
    } else if (!b->is_wanted) {
        end(b); /* deleted meanwhile */
    } else {
        write_state(b);
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
    if (is_new)
        (void)chown(path, b->user.uid, b->user.gid); /* programs open /dev/stderr anew */
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
                       struct oci_output **ret, struct err *err)
{
    int r = oci_output_start(b->o->loop, fd, on_line, b, ret, err);
    if (r < 0)
        (void)close(fd);
    return r;
}

static int run_crun(struct box *b, struct err *err)
{
    int out_read, err_read;
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
    return spawn_crun(b, words, out, err_out, on_crun_run, err);
}

static void start_crun(struct box *b)
{
    struct err err = { 0 };
    move(b, BOX_STARTING);
    int r = run_crun(b, &err);
    if (r < 0)
        fail(b, r, err_text(&err));
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
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(CONFIG_TEXT_MAX);
    scoped(free_scoped) char *secrets = xasprintf("%s/secrets", b->dir);
    char network[64];
    (void)snprintf(network, sizeof network, "/proc/%d/fd/%d", getpid(), b->network->ns_fd);
    const char *const with[] = {
        [OCI_HOLE_ID] = b->name, [OCI_HOLE_NETWORK] = network, [OCI_HOLE_SECRETS] = secrets
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
    for (int i = 0; i < FN_SECRETS_MAX * 64; i++) {
        scoped(free_scoped) char *path = xasprintf("%s/%d", secrets, i);
        if (unlink(path) < 0)
            break;
    }
    (void)rmdir(secrets);
    (void)rmdir(b->dir);
}

static void queue_start(struct box *b)
{
    struct err err = { 0 };
    b->took.network_setup = lap_us(b);
    int r = write_config(b, &err);
    b->took.sandbox_create += lap_us(b);
    free(take_ptr(&b->config));
    if (r < 0) {
        fail(b, r, err_text(&err));
        return;
    }
    move(b, BOX_QUEUED);
    list_push_back(&b->o->queue, &b->queued);
    next_start(b->o);
}

static void on_network(struct oci_network_wait *w, struct oci_network *n, const struct err *err)
{
    struct box *b = container_of(w, struct box, wait);
    b->network = n;
    if (n)
        queue_start(b);
    else
        fail(b, err->code, err_text(err));
}

/* ---------------------------------------------------------------- after it */

static void on_crun_delete(struct process *p, int status, void *arg)
{
    struct box *b = arg;
    b->crun = NULL;
    finish(b);
}

static void on_finish_turn(struct defer *d)
{
    finish(container_of(d, struct box, turn));
}

/* Nothing of it runs. crun delete takes away its control group and its record. */
static void clean(struct box *b)
{
    struct err err = { 0 };
    bool had_container = b->sm.at != BOX_NETWORK && b->sm.at != BOX_QUEUED;
    list_remove(&b->queued);
    oci_network_cancel(&b->wait);
    move(b, BOX_CLEANING);
    oci_output_close(take_ptr(&b->out));
    oci_output_close(take_ptr(&b->err_out));
    const char *const words[] = { "delete", "--force", b->name, NULL };
    if (had_container &&
        spawn_crun(b, words, b->o->null_fd, b->o->null_fd, on_crun_delete, &err) == 0)
        return;
    if (err.code)
        log_warn("container not cleaned up", "name=%s error=\"%s\"", b->name, err_text(&err));
    defer_start(b->o->loop, &b->turn, on_finish_turn);
}

static void give_back(struct oci *o);

static void finish(struct box *b)
{
    struct oci *o = b->o;
    uint64_t id = b->id;
    bool farewell = b->owes_farewell;
    if (b->network)
        oci_network_put(o->networks, b->network);
    remove_dir(b);
    map_del(&o->boxes, id_key(&b->id));
    free((char *)(uintptr_t)b->of.namespace);
    free((char *)(uintptr_t)b->of.function);
    free((char *)(uintptr_t)b->of.uid);
    free(b->path);
    free(b->config);
    free(b->dir);
    free(b);
    if (farewell)
        o->base.events->on_destroyed(o->base.events_arg, id);
    give_back(o);
}

/* ---------------------------------------------------------------- the runtime */

static struct box *add_box(struct oci *o, uint64_t id, const char *namespace, const char *function,
                           const char *uid, uint32_t revision)
{
    struct box *b = xnew(struct box);
    b->o = o;
    b->id = id;
    (void)snprintf(b->name, sizeof b->name, "s%llu", (unsigned long long)id);
    b->dir = xasprintf("%s/%s", o->run, b->name);
    sm_init(&b->sm, box_table, BOX_NETWORK);
    b->of = (struct runtime_revision){ .namespace = xstrdup(namespace),
                                       .function = xstrdup(function),
                                       .uid = xstrdup(uid),
                                       .revision = revision };
    b->begun_ns = b->at_ns = clock_mono_ns();
    dormouse__fn__v1__breakdown__init(&b->took);
    map_put(&o->boxes, id_key(&id), b);
    o->n_owed++;
    return b;
}

static void on_network_turn(struct defer *d)
{
    struct box *b = container_of(d, struct box, turn);
    if (b->is_wanted && b->network) {
        queue_start(b);
        return;
    }
    clean(b);
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
    fail(f->b, f->r, f->text);
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
    b->cpu_milli = r->t->cpu_milli;
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
    struct box *b = add_box(o, id, r->namespace, r->function, r->uid, r->revision);
    b->is_wanted = true;
    take_plan(b, r);
    b->wait.run = on_network;
    if (p->r < 0) {
        refuse(b, p->r, err_text(&p->err));
        return;
    }
    if (o->boxes.n > OCI_SANDBOXES_MAX) {
        refuse(b, E_LIMIT, "this worker has as many containers as it can");
        return;
    }
    int code = mkdir(b->dir, 0700) < 0 ? err_sys(&err, -errno, "make '%s'", b->dir)
                                       : write_secrets(b, r, &err);
    b->took.sandbox_create = lap_us(b);
    if (code < 0) {
        refuse(b, code, err_text(&err));
        return;
    }
    b->network = oci_network_take(o->networks);
    if (b->network)
        defer_start(o->loop, &b->turn, on_network_turn);
    else
        oci_network_wait(o->networks, &b->wait);
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
    give_back(o);
}

static void destroy(struct runtime *rt, uint64_t id, uint32_t grace_ms)
{
    struct oci *o = of(rt);
    struct box *b = map_get(&o->boxes, id_key(&id));
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
            clean(b); /* otherwise its turn comes, and finds it unwanted */
        break;
    case BOX_QUEUED:
        clean(b);
        break;
    case BOX_PROBING:
    case BOX_READY:
        end(b);
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

static int ensure_set_up(struct oci *o, struct err *err);

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
    code = ensure_set_up(o, &p->err);
    if (code < 0)
        return code;
    struct oci_config_opts opts = { .bundle = real,
                                    .cgroup = o->cgroups ? OCI_CGROUP : NULL,
                                    .is_cgroup2 = o->cgroups == OCI_CGROUPS_V2,
                                    .counts_swap = oci_cgroups_count_swap(o->cgroups),
                                    .filter = o->filter,
                                    .host_name = r->function };
    return oci_config_make(buf_str(&config), r, &opts, &p->config, &p->user, &p->err);
}

static void prepare(struct runtime *rt, struct runtime_revision *r)
{
    struct plan *p = xnew(struct plan);
    buf_init(&p->config, CONFIG_TEXT_MAX);
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

/* ---------------------------------------------------------------- after a crash */

static bool adopt(struct box *b, const struct json *state)
{
    struct err err = { 0 };
    int fd;
    uint64_t ticks = (uint64_t)json_int_or(json_getc(state, "ticks"), 0);
    b->pid = (int)json_int_or(json_getc(state, "pid"), 0);
    b->port = (uint16_t)json_int_or(json_getc(state, "port"), 0);
    uint32_t address = (uint32_t)json_int_or(json_getc(state, "address"), 0);
    if (b->pid < 2 || !ticks || process_start_ticks(b->pid) != ticks ||
        process_watch(b->o->loop, b->pid, on_init_exit, b, &b->init, &err) < 0)
        return false;
    if (oci_network_adopt(b->o->networks, b->pid, address, &b->network, &err) < 0)
        return false;
    if (make_pipe(b, "out", false, &fd, NULL, &err) == 0)
        (void)read_output(b, fd, on_out_line, &b->out, &err);
    if (make_pipe(b, "err", false, &fd, NULL, &err) == 0)
        (void)read_output(b, fd, on_err_line, &b->err_out, &err);
    return true;
}

static void tell_recovered(struct box *b)
{
    char address[ADDRESS_MAX], plain[INET_ADDRSTRLEN];
    struct in_addr in = { htonl(b->network->address) };
    (void)inet_ntop(AF_INET, &in, plain, sizeof plain);
    (void)snprintf(address, sizeof address, "%s:%u", plain, b->port);
    b->is_told = b->is_wanted = true;
    b->o->base.events->on_recovered(b->o->base.events_arg, b->id, b->of.uid, b->of.revision,
                                    address);
}

static void recover_one(struct oci *o, const char *name)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(STATE_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/%s/state.json", o->run, name);
    struct arena a = { 0 };
    struct json *state = NULL;
    struct err ignored;
    uint64_t id;
    if (parse_u64(str_of(name + 1), 0, UINT64_MAX, &id) < 0)
        return;
    if (sys_read_file(AT_FDCWD, path, &text, &ignored) < 0 ||
        json_parse(&a, buf_str(&text), NULL, &state, &ignored) < 0)
        state = NULL;
    scoped(free_scoped) char *namespace = str_dup(json_get_str(state, "namespace"));
    scoped(free_scoped) char *function = str_dup(json_get_str(state, "function"));
    scoped(free_scoped) char *uid = str_dup(json_get_str(state, "uid"));
    struct box *b = add_box(o, id, namespace, function, uid,
                            (uint32_t)json_int_or(json_getc(state, "revision"), 0));
    b->sm.at = BOX_READY; /* where the process before us had it */
    if (state && adopt(b, state)) {
        log_info("container adopted", "name=%s function=%s/%s", b->name, namespace, function);
        tell_recovered(b);
    } else {
        log_info("container of an earlier process is removed", "name=%s", b->name);
        b->grace_ms = 0;
        end(b);
    }
    arena_fini(&a);
}

static void recover(struct runtime *rt)
{
    struct oci *o = of(rt);
    struct err err = { 0 };
    DIR *dir = opendir(o->run);
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        if (e->d_name[0] != 's')
            continue;
        if (ensure_set_up(o, &err) < 0) {
            log_warn("containers of an earlier process are left alone", "error=\"%s\"",
                     err_text(&err));
            break;
        }
        recover_one(o, e->d_name);
    }
    if (dir)
        (void)closedir(dir);
}

/* ---------------------------------------------------------------- start and close */

/* What is empty: containers that could not be removed keep theirs. */
static void remove_run(const struct oci *o)
{
    scoped(free_scoped) char *crun = xasprintf("%s/crun", o->run);
    (void)rmdir(crun);
    (void)rmdir(o->run);
}

static void free_oci(struct oci *o)
{
    remove_run(o);
    if (o->mount_ns >= 0)
        (void)close(o->mount_ns);
    if (o->null_fd >= 0)
        (void)close(o->null_fd);
    if (o->copy_fd >= 0)
        (void)close(o->copy_fd);
    map_fini(&o->boxes);
    vec_each (dir, &o->bundle_dirs)
        free(*dir);
    vec_fini(&o->bundle_dirs);
    free(o->run);
    free(o->program);
    free(o->copy);
    free(o->filter);
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

static void give_back(struct oci *o)
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
    map_each (e, &o->boxes)
        if (!((struct box *)e->value)->owes_farewell)
            destroy(rt, ((struct box *)e->value)->id, 0);
    give_back(o);
}

static const struct runtime_ops oci_ops = { .name = "oci",
                                            .prepare = prepare,
                                            .forget = forget,
                                            .create = create,
                                            .destroy = destroy,
                                            .recover = recover,
                                            .close = close_runtime };

static char *find_program(const char *wanted)
{
    static const char *const dirs[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                        "/usr/bin",        "/sbin",          "/bin" };
    static const char *const names[] = { "crun", "runc" };
    if (wanted && strchr(wanted, '/'))
        return access(wanted, X_OK) == 0 ? xstrdup(wanted) : NULL;
    for (size_t n = 0; n < (wanted ? 1 : ARRAY_LEN(names)); n++)
        for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
            char *path = xasprintf("%s/%s", dirs[i], wanted ? wanted : names[n]);
            if (access(path, X_OK) == 0)
                return path;
            free(path);
        }
    return NULL;
}

/*
 * A mount namespace like ours (it follows what is mounted later) without the second hierarchy of
 * control groups.
 */
static int make_mount_ns(struct err *err)
{
    int made[2], wait[2];
    char path[64], byte = 1;
    if (pipe2(made, O_CLOEXEC) < 0)
        return err_sys(err, -errno, "pipe");
    if (pipe2(wait, O_CLOEXEC) < 0) {
        int r = -errno;
        (void)close(made[0]);
        (void)close(made[1]);
        return err_sys(err, r, "pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        bool ok = unshare(CLONE_NEWNS) == 0 &&
                  mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
                  umount2("/sys/fs/cgroup/unified", MNT_DETACH) == 0;
        (void)close(wait[1]);
        if (ok && write(made[1], &byte, 1) == 1)
            (void)!read(wait[0], &byte, 1);
        _exit(0);
    }
    (void)close(made[1]);
    (void)close(wait[0]);
    int fd = -1;
    if (pid > 0 && read(made[0], &byte, 1) == 1) {
        (void)snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    (void)close(made[0]);
    (void)close(wait[1]);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
    return fd < 0 ? err_set(err, E_UNSUPPORTED, "containers need a mount namespace of their own")
                  : fd;
}

/* RUN: in memory, one for each data directory. */
static char *run_of(const char *dir)
{
    scoped(free_scoped) char *real = realpath(dir, NULL);
    return xasprintf(
        "/run/dormouse-fn-%016llx",
        (unsigned long long)str_hash(str_of(real ? real : dir), UINT64_C(0x646f726d6f757365)));
}

static int find_cgroups(struct oci *o, struct err *err)
{
    struct err why = { 0 };
    if (oci_cgroups_find(&o->cgroups, &why) == 0)
        return 0;
    if (!o->no_limits || o->is_runc)
        return err_set(err, E_UNSUPPORTED,
                       "%s; containers without limits of CPU, memory and processes have to be "
                       "asked for",
                       err_text(&why));
    log_warn("containers have no limits", "reason=\"%s\"", err_text(&why));
    o->cgroups = OCI_CGROUPS_NONE;
    return 0;
}

/*
 * crun copies itself into sealed memory whenever it starts, so that no container can reach the file
 * by /proc/self/exe and change it (CVE-2019-5736), and then starts again from there. Started from
 * such a copy it does not.
 */
static int copy_program(struct oci *o, struct err *err)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT(PROGRAM_MAX);
    if (o->is_runc) {
        o->copy = xstrdup(o->program);
        return 0;
    }
    int r = sys_read_file(AT_FDCWD, o->program, &bytes, err);
    if (r < 0)
        return r;
    o->copy_fd = sys_memfd("crun");
    if (o->copy_fd < 0 || sys_write_all(o->copy_fd, bytes.p, bytes.n) < 0 ||
        fcntl(o->copy_fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) <
            0)
        return err_sys(err, -errno, "copy '%s' into memory", o->program);
    o->copy = xasprintf("/proc/self/fd/%d", o->copy_fd);
    return 0;
}

static int set_up(struct oci *o, struct err *err)
{
    scoped(free_scoped) char *crun = xasprintf("%s/crun", o->run);
    int r = find_cgroups(o, err);
    if (r == 0)
        r = sys_mkdir_all(crun, 0700, err);
    if (r == 0)
        r = copy_program(o, err);
    if (r == 0 && !o->is_runc)
        r = oci_filter_make(&o->filter, err);
    if (r < 0)
        return r;
    if (oci_cgroups_are_hybrid() && (o->mount_ns = make_mount_ns(err)) < 0)
        return o->mount_ns;
    o->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (o->null_fd < 0)
        return err_sys(err, -errno, "/dev/null");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) /* containers become our children: see how they end */
        return err_sys(err, -errno, "become a subreaper");
    return oci_networks_new(o->loop, o->subnet, o->n_networks, &o->networks, err);
}

/* Nothing is made before the first function that is a container. */
static int ensure_set_up(struct oci *o, struct err *err)
{
    if (o->at == OCI_NEW)
        o->at = set_up(o, &o->broken) < 0 ? OCI_BROKEN : OCI_SET_UP;
    return o->at == OCI_SET_UP
               ? 0
               : err_set(err, E_UNSUPPORTED, "containers on this worker: %s", err_text(&o->broken));
}

int oci_runtime_new(const struct oci_opts *opts, struct runtime **ret, struct err *err)
{
    if (geteuid() != 0)
        return err_set(err, E_UNSUPPORTED,
                       "containers need root: network namespaces and control groups are ours to "
                       "make (functions as Wasm modules do not)");
    char *program = find_program(opts->program);
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
    o->run = run_of(opts->dir);
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
    return ensure_set_up(of(rt), err);
}
