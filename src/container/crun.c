/* SPDX-License-Identifier: Apache-2.0 */
/* The program that makes and removes containers, and what it leaves when it is killed. */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "container/container_impl.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CRUN_LOG_MAX = 64 << 10,
    STRAY_RANGE = 64,       /* process ids after crun's own in which its child is looked for */
    CMDLINE_MAX = 64 << 10, /* of a process */
    KILL_SCANS = 20,        /* of all processes, for those of an earlier owner */
};

static void on_crun_late(struct timer *t)
{
    struct container *c = container_of(t, struct container, late);
    log_warn("crun does not come to an end", "name=%s", c->name);
    process_signal(c->crun, SIGKILL);
}

int container_crun_start(struct container_host *h, const struct container_crun_opts *o,
                         struct process **ret, struct err *err)
{
    scoped(free_scoped) char *root = xasprintf("%s/crun", h->run);
    static const char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
    const char *argv[20] = { h->copy, "--root", root, "--log", o->log };
    size_t n = 5;
    if (!h->is_runc)
        argv[n++] = h->cgroups.kind ? "--cgroup-manager=cgroupfs" : "--cgroup-manager=disabled";
    for (const char *const *word = o->words; *word; word++)
        argv[n++] = *word;
    assert(n < ARRAY_LEN(argv));
    struct process_opts opts = { .argv = argv,
                                 .env = env,
                                 .mount_ns = h->mount_ns,
                                 .in = o->in,
                                 .out = o->out,
                                 .err_out = o->err_out,
                                 .has_session = h->is_runc,
                                 .on_exit = o->on_exit,
                                 .arg = o->arg };
    return process_spawn(h->loop, &opts, ret, err);
}

int container_crun_spawn(struct container *c, const char *const *words, int in, int out,
                         int err_out, process_exit_cb on_exit, struct err *err)
{
    scoped(free_scoped) char *log = xasprintf("%s/log", c->dir);
    const struct container_crun_opts o = { .words = words,
                                           .log = log,
                                           .in = in,
                                           .out = out,
                                           .err_out = err_out,
                                           .on_exit = on_exit,
                                           .arg = c };
    int r = container_crun_start(c->h, &o, &c->crun, err);
    if (r == 0)
        timer_start(c->h->loop, &c->late, CONTAINER_CRUN_MAX_MS, on_crun_late);
    return r;
}

/* ---- what it says ---- */

/* The last line of its log, without its kind and time. */
static struct str last_line(struct str log)
{
    struct str left = str_trim(log), line = left;
    while (str_cut(left, '\n', &line, &left))
        ;
    ptrdiff_t at = str_find(line, STR("Z: "));
    return at >= 0 ? str_slice(line, (size_t)at + 3, line.n) : line;
}

void container_crun_error_text(const struct container *c, int status, char text[CONTAINER_TEXT_MAX])
{
    static const char what[] = "the container cannot be started";
    scoped(buf_fini_scoped) struct buf log = BUF_INIT(CRUN_LOG_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/log", c->dir);
    (void)sys_read_file(AT_FDCWD, path, &log, NULL);
    struct str line = last_line(buf_str(&log));
    container_output_drain(c->err_out);
    if (!line.n) /* no room for a log */
        line = str_of(container_output_last(c->err_out));
    line = str_slice(line, 0, CONTAINER_TEXT_MAX);
    if (status < 0)
        (void)snprintf(text, CONTAINER_TEXT_MAX, "%s: crun was killed by signal %d", what, -status);
    else if (line.n)
        (void)snprintf(text, CONTAINER_TEXT_MAX, "%s: " STR_FMT, what, STR_ARG(line));
    else
        (void)snprintf(text, CONTAINER_TEXT_MAX, "%s: crun has ended with status %d", what, status);
}

void container_crun_reap(struct container *c)
{
    for (int i = 1; c->crun_pid && i <= STRAY_RANGE; i++)
        if (process_reap_stray(c->crun_pid + i, NULL)) {
            c->crun_pid = 0;
            return;
        }
    if (c->crun_pid && process_reap_any_stray()) /* many processes began at that time */
        c->crun_pid = 0;
}

/* ---- what it leaves ---- */

bool container_crun_has_record(const struct container *c)
{
    scoped(free_scoped) char *path = xasprintf("%s/crun/%s", c->h->run, c->name);
    return access(path, F_OK) == 0;
}

/* Runs `each` for every process of the machine. */
static void each_process(void (*each)(void *arg, int pid), void *arg)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    uint64_t pid;
    while (dir && (e = readdir(dir)))
        if (parse_u64(str_of(e->d_name), 2, INT32_MAX, &pid) == 0)
            each(arg, (int)pid);
    if (dir)
        (void)closedir(dir);
}

/* A crun of this host, by its words: "--root" and the directory of its state, each with its NUL. */
static bool is_crun(const struct container_host *h, int pid, struct buf *words)
{
    scoped(buf_fini_scoped) struct buf ours = BUF_INIT(4096);
    char path[64];
    (void)buf_add(&ours, "--root", sizeof "--root");
    (void)buf_printf(&ours, "%s/crun", h->run);
    (void)buf_add_char(&ours, '\0');
    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    buf_reset(words);
    return sys_read_file(AT_FDCWD, path, words, NULL) == 0 &&
           str_find(buf_str(words), buf_str(&ours)) >= 0;
}

struct killing {
    const struct container_host *h;
    size_t n;
};

static bool is_crun_to_kill(void *arg, int pid)
{
    const struct killing *k = arg;
    scoped(buf_fini_scoped) struct buf words = BUF_INIT(CMDLINE_MAX);
    return is_crun(k->h, pid, &words);
}

static void kill_if_crun(void *arg, int pid)
{
    struct killing *k = arg;
    k->n += process_kill_if(pid, is_crun_to_kill, k);
}

/*
 * crun was killed with its process, but not a child that it had detached, which would continue. A
 * child that began after the list of processes was read is in the next list.
 */
void container_crun_kill_all(const struct container_host *h)
{
    for (int i = 0; i < KILL_SCANS; i++) {
        struct killing k = { .h = h };
        each_process(kill_if_crun, &k);
        if (k.n == 0)
            return;
    }
}

struct leavings {
    struct container *c;
    process_exit_cb on_exit;
    struct stat network; /* st_ino 0: others may live in it */
    struct stat copy;    /* of crun; st_ino 0: runc, which is run from its own file */
    bool is_uncertain;   /* whether all were seen */
};

/* what: a file of /proc/PID that leads to it. */
static bool has(int pid, const char *what, const struct stat *it)
{
    char path[64];
    struct stat st;
    (void)snprintf(path, sizeof path, "/proc/%d/%s", pid, what);
    return stat(path, &st) == 0 && st.st_ino == it->st_ino && st.st_dev == it->st_dev;
}

static bool is_in_network(const struct leavings *l, int pid)
{
    return l->network.st_ino && has(pid, "ns/net", &l->network);
}

/*
 * crun, whose last argument is the name of the container, or a process in the container's network.
 * A guest may have the same arguments, and many children with them: it does not run our copy of
 * crun.
 */
static bool is_left(const struct leavings *l, int pid, bool *ret_is_crun)
{
    scoped(buf_fini_scoped) struct buf words = BUF_INIT(CMDLINE_MAX), name = BUF_INIT(256);
    (void)buf_add_char(&name, '\0');
    (void)buf_add(&name, l->c->name, strlen(l->c->name) + 1);
    *ret_is_crun = is_crun(l->c->h, pid, &words) &&
                   str_has_suffix(buf_str(&words), buf_str(&name)) &&
                   (l->c->h->is_runc || has(pid, "exe", &l->copy));
    return *ret_is_crun || is_in_network(l, pid);
}

/*
 * A child of crun that has ended and must be waited for here, or is about to end: its memory was
 * freed, and with it the arguments that identify it. Its children may be missing in the list.
 */
static bool has_just_ended(const struct container_host *h, int pid)
{
    const char *program = strrchr(h->copy, '/') + 1;
    scoped(buf_fini_scoped) struct buf words = BUF_INIT(CMDLINE_MAX);
    struct process_facts f;
    if (process_reap_stray(pid, program))
        return true;
    return !is_crun(h, pid, &words) && words.n == 0 && process_facts(pid, &f) == 0 &&
           f.state != 'Z' && !f.has_memory && f.parent == getpid() &&
           process_is_program(&f, program);
}

/*
 * The same for runc, whose children have other arguments from the start ("runc init"), and end when
 * they detect its end: then they are our children. It has its own session, so that its children are
 * not confused with other children of ours, nor with a runc of another container.
 */
static bool has_just_ended_of_runc(const struct container_host *h, int pid)
{
    const char *program = strrchr(h->copy, '/') + 1;
    struct process_facts f;
    if (process_reap_helper(pid, program))
        return true;
    return process_facts(pid, &f) == 0 && f.state != 'Z' && f.parent == getpid() &&
           f.session != getsid(0) && f.session != pid;
}

static void end_if_left(void *arg, int pid)
{
    struct leavings *l = arg;
    struct process_facts facts;
    struct process *p;
    bool is_crun_itself;
    if (process_facts(pid, &facts) < 0 || !is_left(l, pid, &is_crun_itself)) {
        l->is_uncertain |=
            l->c->h->is_runc ? has_just_ended_of_runc(l->c->h, pid) : has_just_ended(l->c->h, pid);
        return;
    }
    /* A process whose parent runs in the container is waited for there. */
    bool will_be_ours = is_crun_itself || !is_in_network(l, facts.parent);
    if (process_watch(l->c->h->loop, pid, facts.start_ticks, will_be_ours, l->on_exit, l->c, &p,
                      NULL) < 0) {
        l->is_uncertain = true; /* it has ended meanwhile */
        return;
    }
    l->c->n_left++;
    process_signal(p, SIGKILL);
}

enum container_crun_left container_crun_end_left(struct container *c, process_exit_cb on_exit)
{
    struct leavings l = { .c = c, .on_exit = on_exit };
    if (c->network && fstat(c->network->ns_fd, &l.network) < 0)
        l.network.st_ino = 0;
    if (!c->h->is_runc && fstat(c->h->copy_fd, &l.copy) < 0)
        l.copy.st_ino = 0;
    c->crun_pid = 0; /* its child is one of them */
    each_process(end_if_left, &l);
    if (c->n_left > 0)
        return CONTAINER_CRUN_LEFT_ENDING;
    return l.is_uncertain ? CONTAINER_CRUN_LEFT_UNCERTAIN : CONTAINER_CRUN_LEFT_NONE;
}
