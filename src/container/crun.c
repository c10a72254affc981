/* SPDX-License-Identifier: Apache-2.0 */
/* The program that makes and removes containers, and what it leaves when it is killed. */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "container/container_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CRUN_LOG_MAX = 64 << 10,
    STRAY_RANGE = 64,       /* process ids after crun's own in which its child is looked for */
    CMDLINE_MAX = 64 << 10, /* of a process */
    REAP_PAUSE_MAX_MS = 1000,
    CHILDREN_MAX = 1 << 20, /* bytes of a list of children */
    KILL_SCANS = 20,        /* of all processes, for those of an earlier owner */
};

void container_crun_on_late(struct timer *t)
{
    struct container *c = container_of(t, struct container, late);
    log_warn("crun does not come to an end", "name=%s", c->name);
    process_signal(c->crun ? c->crun : c->keeper, SIGKILL); /* the runtime ends with its keeper */
}

void container_crun_argv(const struct container_host *h, const char *const *words, const char *log,
                         const char **argv, char **root)
{
    *root = xasprintf("%s/crun", h->run);
    const char *const first[] = { h->copy, "--root", *root, "--log", log };
    size_t n = ARRAY_LEN(first);
    memcpy(argv, first, sizeof first);
    if (!h->is_runc)
        argv[n++] = h->cgroups.kind ? "--cgroup-manager=cgroupfs" : "--cgroup-manager=disabled";
    for (; *words && n < CONTAINER_CRUN_WORDS_MAX - 1; words++)
        argv[n++] = *words;
    assert(!*words);
    argv[n] = NULL;
}

int container_crun_start(struct container_host *h, const struct container_crun_opts *o,
                         struct process **ret, struct err *err)
{
    scoped(free_scoped) char *root = NULL;
    static const char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
    const char *argv[CONTAINER_CRUN_WORDS_MAX];
    container_crun_argv(h, o->words, o->log, argv, &root);
    struct process_opts opts = { .argv = argv,
                                 .env = env,
                                 .covered = h->hides_cgroup2 ? "/sys/fs/cgroup/unified" : NULL,
                                 .covered_in = "/sys/fs/cgroup",
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
        timer_start(c->h->loop, &c->late, CONTAINER_CRUN_MAX_MS, container_crun_on_late);
    return r;
}

/* ---- what it says ---- */

struct str container_crun_last_line(struct str log)
{
    struct str left = str_trim(log), line = left;
    while (str_cut(left, '\n', &line, &left))
        ;
    ptrdiff_t at = str_find(line, STR("Z: "));
    return at >= 0 ? str_slice(line, (size_t)at + 3, line.n) : line;
}

/* crun and runc describe errors of the system in their own words. */
int container_crun_error_code(struct str line)
{
    static const struct {
        struct str words;
        int code;
    } known[] = {
        { STR("not found in $PATH"), -ENOENT }, { STR("o such file or directory"), -ENOENT },
        { STR("ermission denied"), -EACCES },   { STR("ormat error"), -ENOEXEC },
        { STR("ot a directory"), -ENOENT },     { STR("peration not permitted"), -EACCES },
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_find(line, known[i].words) >= 0)
            return known[i].code;
    return -EIO;
}

void container_crun_error_text(const struct container *c, int status, char text[CONTAINER_TEXT_MAX])
{
    static const char what[] = "the container cannot be started";
    scoped(buf_fini_scoped) struct buf log = BUF_INIT(CRUN_LOG_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/log", c->dir);
    (void)sys_read_file(AT_FDCWD, path, &log, NULL);
    struct str line = container_crun_last_line(buf_str(&log));
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

/* The first process of a container, one that was started in it, or the runtime for one of them. */
static bool is_known(const struct container_host *h, int pid)
{
    map_each (e, &h->containers) {
        const struct container *c = e->value;
        if (c->pid == pid || (c->crun && process_pid(c->crun) == pid) ||
            container_execs_have(c, pid))
            return true;
    }
    return false;
}

struct reaping {
    const struct container_host *h;
    bool found;
};

/* A child of crun, by its name, that has ended. One whose execve() failed has the name, too, and is
 * waited for elsewhere. */
static bool reap_one(const struct container_host *h, int pid)
{
    const char *program = strrchr(h->copy, '/') + 1;
    struct process_facts f;
    return process_facts(pid, &f) == 0 && process_is_program(&f, program) && !is_known(h, pid) &&
           process_reap_stray(pid, program); /* crun exec: in a session of its own */
}

static void reap_next(void *arg, int pid)
{
    struct reaping *r = arg;
    r->found |= reap_one(r->h, pid);
}

/* The kernel may lack the list of children: then all processes are looked at. */
static bool reap_any(const struct container_host *h)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(CHILDREN_MAX);
    struct reaping r = { .h = h };
    char path[64];
    uint64_t pid;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    if (sys_read_file(AT_FDCWD, path, &text, NULL) < 0)
        each_process(reap_next, &r);
    struct str left = str_trim(buf_str(&text)), word;
    while (left.n) {
        (void)str_cut(left, ' ', &word, &left);
        if (parse_u64(word, 2, INT32_MAX, &pid) >= 0)
            reap_next(&r, (int)pid);
    }
    return r.found;
}

static void on_reap_again(struct timer *t)
{
    struct container_host *h = container_of(t, struct container_host, reap);
    (void)reap_any(h);
    h->reap_ms *= 2;
    if (h->reap_ms <= REAP_PAUSE_MAX_MS)
        timer_start(h->loop, &h->reap, h->reap_ms, on_reap_again);
}

void container_crun_reap_later(struct container_host *h)
{
    h->reap_ms = 1;
    timer_start(h->loop, &h->reap, h->reap_ms, on_reap_again);
}

bool container_crun_reap_child(const struct container_host *h, int crun_pid)
{
    for (int i = 1; i <= STRAY_RANGE; i++)
        if (reap_one(h, crun_pid + i))
            return true;
    return reap_any(h); /* many processes began at that time */
}

void container_crun_reap(struct container *c)
{
    if (c->crun_pid && container_crun_reap_child(c->h, c->crun_pid))
        c->crun_pid = 0;
}

/* ---- what it leaves ---- */

bool container_crun_has_record(const struct container *c)
{
    scoped(free_scoped) char *path = xasprintf("%s/crun/%s", c->h->run, c->name);
    return access(path, F_OK) == 0;
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
    bool (*is_first)(void *arg, int pid);
    void *arg;
    size_t n;
};

static bool is_crun_to_kill(void *arg, int pid)
{
    const struct killing *k = arg;
    scoped(buf_fini_scoped) struct buf words = BUF_INIT(CMDLINE_MAX);
    return is_crun(k->h, pid, &words) && !k->is_first(k->arg, pid);
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
void container_crun_kill_all(const struct container_host *h, bool (*is_first)(void *arg, int pid),
                             void *arg)
{
    for (int i = 0; i < KILL_SCANS; i++) {
        struct killing k = { .h = h, .is_first = is_first, .arg = arg };
        each_process(kill_if_crun, &k);
        if (k.n == 0)
            return;
    }
}

/* By its program and its file. */
static bool is_keeper(void *arg, int pid)
{
    const struct container *c = arg;
    scoped(buf_fini_scoped) struct buf words = BUF_INIT(CMDLINE_MAX), file = BUF_INIT(4096);
    char path[64], program[64] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (readlink(path, program, sizeof program - 1) < 0 ||
        !strstr(program, "memfd:dormouse-keeper"))
        return false;
    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    (void)buf_printf(&file, "%s/exit", c->dir);
    (void)buf_add_char(&file, '\0');
    return sys_read_file(AT_FDCWD, path, &words, NULL) == 0 &&
           str_find(buf_str(&words), buf_str(&file)) >= 0;
}

static void kill_if_keeper(void *arg, int pid)
{
    (void)process_kill_if(pid, is_keeper, arg);
}

void container_crun_kill_keeper(const struct container *c)
{
    each_process(kill_if_keeper, (void *)(uintptr_t)c);
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
    if (l->c->has_keeper && !l->c->keeper && is_keeper(l->c, pid))
        *ret_is_crun = true; /* what it had forked to become the runtime */
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
    bool will_be_ours = !l->c->has_keeper && (is_crun_itself || !is_in_network(l, facts.parent));
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

/* ---- what a crun exec leaves ---- */

struct holders {
    struct container *c;
    struct stat pipe, pid_ns; /* st_ino 0: not only of containers */
    process_exit_cb on_exit;
    void *arg;
    size_t *n_left;
    size_t n;
};

static bool is_holder(const struct holders *h, int pid)
{
    return pid != getpid() &&
           (has(pid, "fd/0", &h->pipe) || has(pid, "fd/1", &h->pipe) || has(pid, "fd/2", &h->pipe));
}

/* Also one that has ended and whose pipes are closed. */
static bool is_stray(const struct holders *h, int pid, const struct process_facts *f)
{
    return f->parent == getpid() && h->pid_ns.st_ino && has(pid, "ns/pid", &h->pid_ns) &&
           !is_known(h->c->h, pid);
}

static void end_if_holder(void *arg, int pid)
{
    struct holders *h = arg;
    struct process_facts facts;
    struct process *p;
    if (process_facts(pid, &facts) < 0 || !(is_holder(h, pid) || is_stray(h, pid, &facts)))
        return;
    h->n++;
    if (process_watch(h->c->h->loop, pid, facts.start_ticks, !is_holder(h, facts.parent),
                      h->on_exit, h->arg, &p, NULL) < 0)
        return; /* it has ended meanwhile */
    ++*h->n_left;
    process_signal(p, SIGKILL);
}

bool container_crun_end_holders(struct container *c, int pipe, process_exit_cb on_exit, void *arg,
                                size_t *n_left)
{
    struct holders h = { .c = c, .on_exit = on_exit, .arg = arg, .n_left = n_left };
    struct stat ours;
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/pid", c->pid);
    if (fstat(pipe, &h.pipe) < 0)
        return true;
    if (!c->init || stat(path, &h.pid_ns) < 0 || stat("/proc/self/ns/pid", &ours) < 0 ||
        ours.st_ino == h.pid_ns.st_ino)
        h.pid_ns.st_ino = 0;
    each_process(end_if_holder, &h);
    return h.n == 0;
}
