/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/container: real containers of crun, and what is left of them when crun, the process that made
 * them, or the place for their files fails. Where the machine cannot have any, every test that
 * needs one is skipped, saying why.
 *
 * The program also plays an owner that is killed: `test_container --hold DIR`.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/json.h"
#include "container/cgroup.h"
#include "container/program.h"
#include "container/root.h"
#include "container/spec.h"
#include "io/process.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define KIND "test"

/* ---------------------------------------------------------------- an owner */

struct reported {
    int started, ended, removed, r, status;
    char text[300];
    struct buf out, err_out;
    struct container *c;
    const char *late_pipe; /* on_line() prints there until the container has ended, then stops it */
    int n_late_stops;
};

struct rig {
    struct loop loop;
    char dir[64];
    char *root, *run;
    struct container_host *host;
    struct reported found; /* the one that was found again */
    char note[100];
    int n_found;
    bool closed;
};

static void on_started(void *arg, int r, const struct err *err)
{
    struct reported *t = arg;
    t->started++;
    t->r = r;
    (void)snprintf(t->text, sizeof t->text, "%s", r < 0 ? err_text(err) : "");
}

static void on_ended(void *arg, const struct container_end *end)
{
    struct reported *t = arg;
    CHECK_INT(t->removed, 0);
    t->ended++;
    t->status = end->status;
    (void)snprintf(t->text, sizeof t->text, "%s", end->text);
}

static void on_removed(void *arg)
{
    ((struct reported *)arg)->removed++;
}

/* As the container would. */
static void print(const char *pipe)
{
    int fd = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, "word\n", 5));
    (void)close(fd);
}

static void on_line(void *arg, enum container_stream stream, struct str line, bool has_more)
{
    struct reported *t = arg;
    (void)has_more;
    struct buf *to = stream == CONTAINER_STDOUT ? &t->out : &t->err_out;
    (void)buf_add_str(to, line);
    (void)buf_add_char(to, '\n');
    if (t->late_pipe && container_pid(t->c)) {
        print(t->late_pipe);
    } else if (t->late_pipe) {
        t->n_late_stops++;
        container_stop(t->c, 0);
        container_stop(t->c, 1000);
    }
}

static const struct container_events events = {
    .on_started = on_started, .on_ended = on_ended, .on_removed = on_removed, .on_line = on_line
};

static void reported_init(struct reported *t)
{
    *t = (struct reported){ .out = BUF_INIT(1 << 20), .err_out = BUF_INIT(1 << 20) };
}

static void reported_fini(struct reported *t)
{
    buf_fini(&t->out);
    buf_fini(&t->err_out);
}

static void copy_file(const char *from, const char *to)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT((size_t)64 << 20);
    CHECK_OK(sys_read_file(AT_FDCWD, from, &bytes, NULL));
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, to, O_WRONLY | O_CREAT, 0755);
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, bytes.p, bytes.n));
    CHECK_OK(fchmod(fd, 0755));
}

static void make_root(const char *root)
{
    scoped(free_scoped) char *program = xasprintf("%s/guest", root);
    static const char *const points[] = { "/proc", "/dev", "/sys" };
    unsigned left = CONTAINER_ROOT_LOOKUPS_MAX;
    CHECK_OK(sys_mkdir_all(root, 0755, NULL));
    scoped(fd_scoped) int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    for (size_t i = 0; i < ARRAY_LEN(points); i++)
        container_root_make_point(fd, points[i], false, &left);
    copy_file(OCI_GUEST, program);
}

static int open_host(struct rig *r, struct err *err)
{
    const struct container_host_opts o = { .loop = &r->loop,
                                           .kind = KIND,
                                           .data_dir = r->dir,
                                           .program = getenv("OCI_PROGRAM"),
                                           .n_networks = 2 };
    r->closed = false;
    return container_host_new(&o, &r->host, err);
}

static void on_closed(void *arg)
{
    ((struct rig *)arg)->closed = true;
}

static void close_host(struct rig *r)
{
    container_host_close(r->host, on_closed, r);
    while (!r->closed)
        (void)loop_turn(&r->loop, true);
}

static void rig_fini(struct rig *r)
{
    scoped(free_scoped) char *command = xasprintf("rm -rf '%s'", r->dir);
    while (loop_turn(&r->loop, false))
        ;
    loop_fini(&r->loop);
    CHECK_INT(system(command), 0);
    CHECK(access(r->run, F_OK) < 0);
    free(r->root);
    free(r->run);
    reported_fini(&r->found);
}

static void rig_init(struct rig *r, const char *dir)
{
    *r = (struct rig){ 0 };
    (void)snprintf(r->dir, sizeof r->dir, "%s", dir);
    r->root = xasprintf("%s/rootfs", dir);
    r->run = container_host_run_dir(KIND, dir);
    reported_init(&r->found);
    make_root(r->root);
    CHECK_OK(loop_init(&r->loop, NULL));
}

/* False: this machine cannot have containers. */
static bool rig_open(struct rig *r)
{
    static char why[300];
    char dir[] = "/tmp/test-container-XXXXXX";
    struct err err = { 0 };
    CHECK(mkdtemp(dir));
    rig_init(r, dir);
    int code = open_host(r, &err);
    bool is_open = code >= 0;
    code = code < 0 ? code : container_host_set_up(r->host, &err);
    if (code >= 0)
        return true;
    CHECK_INT(code, E_UNSUPPORTED);
    if (is_open)
        close_host(r);
    rig_fini(r);
    (void)snprintf(why, sizeof why, "no containers here: %s", err_text(&err));
    test_skipped = why;
    return false;
}

static void rig_close(struct rig *r)
{
    close_host(r);
    rig_fini(r);
}

/* What a container of the tests has that others have not. */
struct extra {
    const char *uts, *network;
    int stop_signal;
    const char *note;
};

static void write_config(struct rig *r, const char *first, const char *second,
                         const struct extra *extra, struct buf *to)
{
    static const struct container_user user = { .uid = 1000, .gid = 1000 };
    const struct str words[] = { STR("/guest"), str_of(first), str_of(second) };
    const struct container_strings args = { words, first ? 3 : 1 };
    const struct container_machine machine = container_host_machine(r->host);
    const struct container_mount file = { .kind = CONTAINER_MOUNT_FILE, .where = STR("/key") };
    const struct container_spec s = { .process = { .user = &user, .args = &args, .n_args = 1 },
                                      .root = r->root,
                                      .host_name = "test",
                                      .mounts = &file,
                                      .n_mounts = 1,
                                      .network = CONTAINER_SPEC_HOLE,
                                      .uts = extra->uts,
                                      .machine = &machine,
                                      .limits = { .memory_bytes = 64 << 20, .pids = 20 } };
    CHECK_OK(container_spec_write(&s, to, NULL));
}

static int begin_with(struct rig *r, const char *name, struct reported *t, const char *first,
                      const char *second, const struct extra *extra, struct err *err)
{
    scoped(buf_fini_scoped) struct buf config = BUF_INIT(CONTAINER_CONFIG_MAX);
    static const struct str key = { "secret", 6 };
    reported_init(t);
    write_config(r, first, second, extra, &config);
    const struct container_opts o = { .name = name,
                                      .config = buf_str(&config),
                                      .uid = 1000,
                                      .gid = 1000,
                                      .files = &key,
                                      .n_files = 1,
                                      .network = extra->network,
                                      .note =
                                          str_of(extra->note ? extra->note : "{\"mine\":\"yes\"}"),
                                      .stop_signal = extra->stop_signal,
                                      .events = &events,
                                      .arg = t };
    int code = container_start(r->host, &o, &t->c, err);
    CHECK_INT(t->started, 0); /* nothing is told inside the call */
    return code;
}

static int begin_as(struct rig *r, const char *name, struct reported *t, const char *first,
                    const char *second, struct err *err)
{
    const struct extra none = { 0 };
    return begin_with(r, name, t, first, second, &none, err);
}

#define UNTIL(r, cond)                                                                             \
    while (!(cond))                                                                                \
    (void)loop_turn(&(r)->loop, true)

/* ---------------------------------------------------------------- what is left */

static bool has_group(const struct rig *r, const char *name)
{
    static const char *const parents[] = { "/sys/fs/cgroup/dormouse-" KIND,
                                           "/sys/fs/cgroup/memory/dormouse-" KIND,
                                           "/sys/fs/cgroup/pids/dormouse-" KIND };
    for (size_t i = 0; i < ARRAY_LEN(parents); i++) {
        scoped(free_scoped) char *path =
            xasprintf("%s/%s-%s", parents[i], strrchr(r->run, '-') + 1, name);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static bool exists(const struct rig *r, const char *what, const char *name)
{
    scoped(free_scoped) char *path = xasprintf("%s/%s%s", r->run, what, name);
    return access(path, F_OK) == 0;
}

/* A process of this run directory whose words have `what`; crun and what it forked. 0: none. */
static int find_crun(const struct rig *r, const char *what)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    uint64_t pid;
    int found = 0;
    CHECK(dir);
    while (!found && (e = readdir(dir))) {
        scoped(buf_fini_scoped) struct buf words = BUF_INIT(64 << 10);
        char path[300];
        (void)snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
        if (parse_u64(str_of(e->d_name), 2, INT32_MAX, &pid) == 0 &&
            sys_read_file(AT_FDCWD, path, &words, NULL) == 0 &&
            str_find(buf_str(&words), str_of(r->run)) >= 0 &&
            str_find(buf_str(&words), str_of(what)) >= 0)
            found = (int)pid;
    }
    (void)closedir(dir);
    return found;
}

/* A process whose program lies in our root file system: of a container. 0: none. */
static int find_guest(const struct rig *r)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    struct stat guest, st;
    int found = 0;
    scoped(free_scoped) char *program = xasprintf("%s/guest", r->root);
    CHECK(dir && stat(program, &guest) == 0);
    while (!found && (e = readdir(dir))) {
        uint64_t pid;
        char path[300];
        (void)snprintf(path, sizeof path, "/proc/%s/exe", e->d_name);
        if (parse_u64(str_of(e->d_name), 2, INT32_MAX, &pid) == 0 && stat(path, &st) == 0 &&
            st.st_ino == guest.st_ino && st.st_dev == guest.st_dev)
            found = (int)pid;
    }
    (void)closedir(dir);
    return found;
}

static void check_nothing_of(const struct rig *r, const char *name)
{
    CHECK(!exists(r, "", name));
    CHECK(!exists(r, "crun/", name));
    CHECK(!has_group(r, name));
    CHECK_INT(find_crun(r, name), 0);
}

static void check_nothing_left(const struct rig *r, const char *name)
{
    check_nothing_of(r, name);
    CHECK_INT(find_guest(r), 0);
}

/* It has a handler of this signal. */
static bool catches(int pid, int signal)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &text, NULL));
    const char *at = strstr(buf_cstr(&text), "SigCgt:\t");
    CHECK(at && strlen(at) > 24);
    char digit = at[8 + 16 - 1 - (signal - 1) / 4];
    int nibble = digit <= '9' ? digit - '0' : digit - 'a' + 10;
    return nibble >> (signal - 1) % 4 & 1;
}

/* Every child has ended and was waited for, except perhaps the last helper of crun or runc. */
static void check_all_waited_for(void)
{
    int helpers = 0;
    while (waitpid(-1, NULL, 0) > 0)
        helpers++;
    CHECK(errno == ECHILD && helpers <= 1);
}

/* ---------------------------------------------------------------- a life */

TEST(a_container_says_what_it_prints_and_how_it_ended_and_leaves_nothing)
{
    struct rig r;
    struct reported t;
    if (!rig_open(&r))
        return;
    CHECK_OK(begin_as(&r, "one", &t, "--die", "3", NULL));
    CHECK_STR(str_of(container_name(t.c)), "one");
    UNTIL(&r, t.removed);
    CHECK_INT(t.started, 1);
    CHECK_INT(t.r, 0);
    CHECK_INT(t.ended, 1);
    CHECK_INT(t.status, 3);
    CHECK(strstr(t.text, "status 3") && strstr(t.text, "no configuration"));
    CHECK(str_find(buf_str(&t.err_out), STR("no configuration")) >= 0 ||
          str_find(buf_str(&t.out), STR("no configuration")) >= 0);
    check_nothing_left(&r, "one");
    reported_fini(&t);
    rig_close(&r);
}

TEST(a_container_that_runs_has_an_address_and_ends_when_it_is_stopped)
{
    struct rig r;
    struct reported t, other;
    struct err err = { 0 };
    if (!rig_open(&r))
        return;
    CHECK_OK(begin_as(&r, "one", &t, NULL, NULL, NULL));
    CHECK_ERR(begin_as(&r, "one", &other, NULL, NULL, &err), -EEXIST);
    UNTIL(&r, t.started);
    CHECK_STR(str_of(t.text), "");
    CHECK(container_address(t.c) >> 16 == 0x0ad5);
    CHECK(container_timings(t.c).start_us > 0);
    while (!find_guest(&r)) /* crun has let it go, but execve() may be still to come */
        (void)sched_yield();
    CHECK(exists(&r, "one/", "files/0") && has_group(&r, "one"));
    container_stop(t.c, 60000); /* it has a handler for SIGTERM */
    CHECK_INT(t.ended, 0);
    UNTIL(&r, t.removed);
    CHECK_INT(t.ended, 1);
    check_nothing_left(&r, "one");
    reported_fini(&t);
    reported_fini(&other);
    rig_close(&r);
}

TEST(a_container_can_be_stopped_at_any_time_and_tells_nothing_then_but_its_end)
{
    struct rig r;
    if (!rig_open(&r))
        return;
    for (int turns = 0; turns < 24; turns += 2) {
        struct reported t;
        CHECK_OK(begin_as(&r, "one", &t, NULL, NULL, NULL));
        for (int i = 0; i < turns && !t.started; i++)
            (void)loop_turn(&r.loop, false);
        int started = t.started;
        container_stop(t.c, 0);
        container_stop(t.c, 0);
        UNTIL(&r, t.removed);
        CHECK_INT(t.started, started);
        CHECK_INT(t.ended, started);
        check_nothing_left(&r, "one");
        reported_fini(&t);
    }
    rig_close(&r);
}

static void namespace_of(int pid, const char *kind, char to[64])
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kind);
    ssize_t n = readlink(path, to, 63);
    CHECK(n > 0);
    to[n] = '\0';
}

TEST(containers_of_a_pod_live_in_the_same_namespaces)
{
    struct rig r;
    struct reported one, two;
    char uts[64], network[64], a[64], b[64];
    if (!rig_open(&r))
        return;
    CHECK_OK(begin_as(&r, "one", &one, NULL, NULL, NULL));
    CHECK_INT(container_pid(one.c), 0);
    UNTIL(&r, one.started);
    int pid = container_pid(one.c);
    CHECK(pid > 1);
    (void)snprintf(uts, sizeof uts, "/proc/%d/ns/uts", pid);
    (void)snprintf(network, sizeof network, "/proc/%d/ns/net", pid);
    const struct extra shared = { .uts = uts, .network = network };
    CHECK_OK(begin_with(&r, "two", &two, "--late", "60000", &shared, NULL));
    UNTIL(&r, two.started);
    CHECK_STR(str_of(two.text), "");
    CHECK_INT(container_address(two.c), 0);
    static const char *const kinds[] = { "uts", "net", "ipc", "pid", "mnt" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        namespace_of(pid, kinds[i], a);
        namespace_of(container_pid(two.c), kinds[i], b);
        CHECK_INT(strcmp(a, b) == 0, i < 2);
    }
    container_stop(two.c, 0);
    UNTIL(&r, two.removed);
    CHECK_INT(container_pid(one.c), pid); /* it lives on */
    CHECK_INT(kill(pid, 0), 0);
    check_nothing_of(&r, "two");
    container_stop(one.c, 0);
    UNTIL(&r, one.removed);
    check_nothing_left(&r, "one");
    reported_fini(&one);
    reported_fini(&two);
    rig_close(&r);
}

TEST(a_later_stop_shortens_the_grace_and_never_lengthens_it)
{
    struct rig r;
    struct reported t;
    const struct extra ignored = { .stop_signal = SIGWINCH }; /* which its program does not mind */
    if (!rig_open(&r))
        return;
    CHECK_OK(begin_with(&r, "one", &t, NULL, NULL, &ignored, NULL));
    UNTIL(&r, t.started);
    container_stop(t.c, 3600 * 1000);
    container_stop(t.c, 1000 * 1000);
    container_stop(t.c, 3600 * 1000);
    CHECK_INT(t.ended, 0);
    loop_skip(&r.loop, 1000 * 1000);
    UNTIL(&r, t.removed);
    CHECK_INT(t.status, -SIGKILL);
    reported_fini(&t);
    CHECK_OK(begin_with(&r, "one", &t, NULL, NULL, &ignored, NULL));
    container_stop(t.c, 1);
    container_stop(t.c, 3600 * 1000); /* also before it runs */
    UNTIL(&r, t.removed);
    reported_fini(&t);
    const struct extra bad = { .stop_signal = 1000 };
    CHECK_ERR(begin_with(&r, "one", &t, NULL, NULL, &bad, NULL), E_INVALID);
    reported_fini(&t);
    rig_close(&r);
}

TEST(a_container_can_be_stopped_while_its_last_words_are_told)
{
    struct rig r;
    struct reported t;
    struct process_facts f;
    if (!rig_open(&r))
        return;
    scoped(free_scoped) char *out = xasprintf("%s/one/out", r.run);
    CHECK_OK(begin_as(&r, "one", &t, "--late", "60000", NULL));
    UNTIL(&r, t.started);
    int pid = container_pid(t.c);
    CHECK_OK(kill(pid, SIGKILL));
    do
        CHECK_OK(process_facts(pid, &f));
    while (f.state != 'Z');
    t.late_pipe = out;
    print(out);
    UNTIL(&r, t.removed);
    CHECK(t.n_late_stops > 0);
    CHECK_INT(t.ended, 1);
    CHECK_INT(t.status, -SIGKILL);
    check_nothing_left(&r, "one");
    reported_fini(&t);
    rig_close(&r);
}

TEST(a_container_ends_by_the_signal_that_it_asks_for)
{
    struct rig r;
    struct reported t;
    const struct extra usr1 = { .stop_signal = SIGUSR1 };
    if (!rig_open(&r))
        return;
    CHECK_OK(begin_with(&r, "one", &t, NULL, NULL, &usr1, NULL));
    UNTIL(&r, t.started);
    while (!catches(container_pid(t.c), SIGUSR1))
        (void)sched_yield();
    container_stop(t.c, 3600 * 1000);
    UNTIL(&r, t.removed);
    CHECK_INT(t.status, 7); /* what its handler says */
    reported_fini(&t);
    rig_close(&r);
}

TEST(names_that_lead_elsewhere_are_refused)
{
    static const char *const bad[] = {
        "",
        ".",
        "..",
        "crun",
        "a/b",
        "a b",
        "0123456789012345678901234567890123456789012345678901234567890123"
    };
    struct rig r;
    struct reported t;
    if (!rig_open(&r))
        return;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_ERR(begin_as(&r, bad[i], &t, NULL, NULL, NULL), E_INVALID);
        reported_fini(&t);
    }
    rig_close(&r);
}

TEST(a_note_that_could_not_be_read_again_is_refused)
{
    static const char *const bad[] = { "[]", "{", "1", "{}{}", "{},\"pid\":1", "{\"a\":1}x" };
    struct rig r;
    struct reported t;
    if (!rig_open(&r))
        return;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct extra extra = { .note = bad[i] };
        CHECK_ERR(begin_with(&r, "one", &t, NULL, NULL, &extra, NULL), E_INVALID);
        reported_fini(&t);
        check_nothing_left(&r, "one");
    }
    scoped(buf_fini_scoped) struct buf deep = BUF_INIT(64 << 10);
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        (void)buf_add_cstr(&deep, "{\"a\":");
    (void)buf_add_cstr(&deep, "1");
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        (void)buf_add_char(&deep, '}');
    const struct extra extra = { .note = buf_cstr(&deep) };
    CHECK_ERR(begin_with(&r, "one", &t, NULL, NULL, &extra, NULL), E_INVALID);
    reported_fini(&t);
    rig_close(&r);
}

/* ---------------------------------------------------------------- crun is killed */

/* Kill a crun of "one" after a while, which differs from try to try. False: it was faster. */
static bool kill_crun(struct rig *r, struct reported *t, const char *word, unsigned wait)
{
    int pid;
    while ((pid = find_crun(r, word)) == 0) {
        if (t->started || t->removed)
            return false;
        (void)loop_turn(&r->loop, false);
    }
    for (unsigned i = 0; i < wait; i++)
        (void)sched_yield();
    return kill(pid, SIGKILL) == 0;
}

TEST(a_crun_that_is_killed_at_any_moment_leaves_nothing)
{
    enum { TRIES = 40, STEP = 400 };
    struct rig r;
    unsigned n_killed = 0, n_reports = 0;
    if (!rig_open(&r))
        return;
    for (unsigned i = 0; i < TRIES; i++) {
        struct reported t;
        CHECK_OK(begin_as(&r, "one", &t, NULL, NULL, NULL));
        bool was_hit = kill_crun(&r, &t, "--detach", i * STEP);
        UNTIL(&r, t.started);
        CHECK(t.r == 0 || was_hit);
        if (t.r < 0) {
            n_killed++;
            CHECK_INT(t.ended, 0);
            CHECK(t.text[0]);
            n_reports +=
                strstr(t.text, "killed by signal 9") != NULL; /* else a child of it was hit */
        } else {
            container_stop(t.c, 0);
        }
        UNTIL(&r, t.removed);
        check_nothing_left(&r, "one");
        reported_fini(&t);
    }
    (void)printf("# crun killed %u of %d times before it was done\n", n_killed, TRIES);
    CHECK(n_killed > 0 && n_reports > 0);
    rig_close(&r);
    check_all_waited_for();
}

TEST(a_crun_that_is_killed_while_it_cleans_up_is_started_again)
{
    enum { TRIES = 10, STEP = 300 };
    struct rig r;
    if (!rig_open(&r))
        return;
    for (unsigned i = 0; i < TRIES; i++) {
        struct reported t;
        CHECK_OK(begin_as(&r, "one", &t, NULL, NULL, NULL));
        UNTIL(&r, t.started);
        CHECK_INT(t.r, 0);
        t.started = 0;
        container_stop(t.c, 0);
        (void)kill_crun(&r, &t, "delete", i * STEP);
        UNTIL(&r, t.removed);
        check_nothing_left(&r, "one");
        reported_fini(&t);
    }
    rig_close(&r);
}

/* The file name by which crun's copy is run: the number of its descriptor. */
static void name_of_copy(char to[16])
{
    for (int fd = 3; fd < 1000; fd++) {
        char path[64], target[64] = "";
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, "memfd:crun")) {
            (void)snprintf(to, 16, "%d", fd);
            return;
        }
    }
    (void)snprintf(to, 16, "runc");
}

static void __attribute__((noinline, noreturn)) hide_words_and_wait(int ready, volatile char *deep)
{
    const uintptr_t page = 4096, from = (uintptr_t)program_invocation_name & ~(page - 1);
    deep[0] = 'r';
    (void)munmap((void *)from, page * 2); // NOLINT: its words, which lie above this stack frame
    (void)!write(ready, (const char *)deep, 1);
    for (;;)
        (void)pause();
}

/* A child of ours that looks like a helper of crun which is just ending, as any guest can. */
static pid_t pretend_to_end(void)
{
    char name[16], path[64];
    scoped(buf_fini_scoped) struct buf words = BUF_INIT(64 << 10);
    int ready[2];
    char byte;
    name_of_copy(name);
    CHECK_OK(pipe(ready));
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        volatile char deep[64 << 10];
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)prctl(PR_SET_NAME, name);
        hide_words_and_wait(ready[1], deep);
    }
    CHECK_INT(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &words, NULL));
    CHECK_INT(words.n, 0);
    return pid;
}

static void end_child(pid_t pid)
{
    CHECK_INT(waitpid(pid, NULL, WNOHANG), 0); /* it lives */
    CHECK_OK(kill(pid, SIGKILL));
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

/* One that cannot be started: crun has failed, and what it has left is looked for. */
static void fail_to_start(struct rig *r, const char *name)
{
    struct reported t;
    const struct extra nowhere = { .network = "/no/such/network" };
    CHECK_OK(begin_with(r, name, &t, NULL, NULL, &nowhere, NULL));
    UNTIL(r, t.removed);
    CHECK(t.started == 1 && t.r < 0);
    reported_fini(&t);
}

TEST(a_guest_that_looks_like_a_crun_that_is_ending_delays_nothing)
{
    struct rig r;
    if (!rig_open(&r))
        return;
    pid_t guest = pretend_to_end();
    fail_to_start(&r, "one"); /* it once looked for what is left for ever */
    check_nothing_left(&r, "one");
    end_child(guest);
    rig_close(&r);
}

TEST(a_guest_with_the_words_of_crun_is_left_alone_and_delays_nothing)
{
    struct rig r;
    char name[16];
    int ends[2];
    if (!rig_open(&r))
        return;
    name_of_copy(name);
    if (strcmp(name, "runc") == 0) { /* is known by its words alone */
        rig_close(&r);
        return;
    }
    scoped(free_scoped) char *root = xasprintf("%s/crun", r.run);
    CHECK_OK(pipe2(ends, O_CLOEXEC));
    pid_t guest = fork();
    CHECK(guest >= 0);
    if (guest == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(ends[0], 0);
        (void)execl("/bin/sh", "crun", "-c", "read x; exit", "--root", root, "run", "one", NULL);
        _exit(1);
    }
    while (find_crun(&r, "read x") != guest)
        (void)sched_yield();
    fail_to_start(&r, "one");
    end_child(guest);
    (void)close(ends[0]);
    (void)close(ends[1]);
    check_nothing_left(&r, "one");
    rig_close(&r);
}

/* Of a container: a directory in a hierarchy that all machines with control groups have. */
static char *group_path(const struct rig *r, const char *name)
{
    bool is_v2 = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    return xasprintf("/sys/fs/cgroup%s/dormouse-" KIND "/%s-%s", is_v2 ? "" : "/pids",
                     strrchr(r->run, '-') + 1, name);
}

TEST(a_network_in_which_something_may_live_is_not_used_again)
{
    static const char *const names[] = { "two", "three", "four" };
    const struct extra nowhere = { .uts = "/no/such/namespace" };
    struct rig r;
    struct reported t, others[ARRAY_LEN(names)];
    if (!rig_open(&r))
        return;
    scoped(free_scoped) char *group = group_path(&r, "one");
    scoped(free_scoped) char *inner = xasprintf("%s/stays", group);
    if (!container_host_machine(r.host).cgroup) {
        rig_close(&r);
        return;
    }
    CHECK_OK(mkdir(group, 0755));
    CHECK_OK(mkdir(inner, 0755));
    CHECK_OK(mount(inner, inner, NULL, MS_BIND, NULL)); /* so that it cannot be removed */
    CHECK_OK(begin_with(&r, "one", &t, NULL, NULL, &nowhere, NULL));
    UNTIL(&r, t.started);
    CHECK(t.r < 0);
    uint32_t address = container_address(t.c);
    CHECK(address);
    while (!t.removed) {
        if (!find_crun(&r, "delete"))
            loop_skip(&r.loop, 10);
        (void)loop_turn(&r.loop, false);
    }
    (void)umount2(inner, MNT_DETACH);
    if (access(inner, F_OK) < 0) { /* runc removes it where it does not see the mount */
        reported_fini(&t);
        rig_close(&r);
        return;
    }
    CHECK_OK(rmdir(inner));
    CHECK_OK(rmdir(group));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        CHECK_OK(begin_as(&r, names[i], &others[i], NULL, NULL, NULL));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        UNTIL(&r, others[i].started);
        CHECK_STR(str_of(others[i].text), "");
        CHECK_INT(others[i].r, 0);
        CHECK(container_address(others[i].c) != address);
    }
    rig_close(&r); /* ends them */
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CHECK_INT(others[i].removed, 1);
        reported_fini(&others[i]);
    }
    reported_fini(&t);
}

TEST(what_runs_in_a_control_group_ends_before_the_group_goes)
{
    struct rig r;
    struct container_cgroups g;
    if (!rig_open(&r))
        return;
    if (!container_host_machine(r.host).cgroup) {
        rig_close(&r);
        return;
    }
    scoped(free_scoped) char *group = group_path(&r, "stray");
    scoped(free_scoped) char *procs = xasprintf("%s/cgroup.procs", group);
    scoped(free_scoped) char *name = xasprintf("%s-stray", strrchr(r.run, '-') + 1);
    CHECK_OK(container_cgroups_find("/dormouse-" KIND, &g, NULL));
    CHECK_OK(mkdir(group, 0755));
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        for (;;)
            (void)pause();
    scoped(free_scoped) char *text = xasprintf("%d", (int)pid);
    int fd = open(procs, O_WRONLY | O_CLOEXEC), status = 0;
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, text, strlen(text)));
    (void)close(fd);
    int removed = container_cgroup_remove(&g, name);
    CHECK(removed == 0 || removed == -EBUSY); /* whether it has ended already */
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_OK(container_cgroup_remove(&g, name));
    CHECK(access(group, F_OK) < 0);
    rig_close(&r);
}

TEST(a_runtime_that_does_not_remove_its_record_is_complained_of)
{
    struct rig r;
    struct reported t;
    int pipe_fds[2];
    char text[4096];
    if (!rig_open(&r))
        return;
    close_host(&r);
    scoped(free_scoped) char *program = xasprintf("%s/crun", r.dir);
    scoped(free_scoped) char *record = xasprintf("%s/crun/one", r.run);
    scoped(free_scoped) char *before =
        getenv("OCI_PROGRAM") ? xstrdup(getenv("OCI_PROGRAM")) : NULL;
    copy_file("/bin/false", program);
    CHECK_OK(setenv("OCI_PROGRAM", program, true));
    CHECK_OK(open_host(&r, NULL));
    CHECK_OK(container_host_set_up(r.host, NULL));
    CHECK_OK(before ? setenv("OCI_PROGRAM", before, true) : unsetenv("OCI_PROGRAM"));
    CHECK_OK(begin_as(&r, "one", &t, NULL, NULL, NULL));
    CHECK_OK(mkdir(record, 0700));
    CHECK_OK(pipe(pipe_fds));
    int saved = dup(STDERR_FILENO);
    CHECK_OK(saved);
    CHECK_OK(dup2(pipe_fds[1], STDERR_FILENO));
    UNTIL(&r, t.removed);
    CHECK_OK(dup2(saved, STDERR_FILENO));
    (void)close(pipe_fds[1]);
    ssize_t n = read(pipe_fds[0], text, sizeof text);
    CHECK(n > 0 && str_find(str_n(text, (size_t)n), STR("not cleaned up name=one status=1")) >= 0);
    (void)close(pipe_fds[0]);
    (void)close(saved);
    CHECK(t.r < 0 && strstr(t.text, "status 1"));
    CHECK_OK(rmdir(record));
    reported_fini(&t);
    rig_close(&r);
}

/* ---------------------------------------------------------------- no room */

/* Fill the file system of RUN up to so many pages. */
static int fill(const struct rig *r, size_t left_pages)
{
    static char page[4096];
    scoped(free_scoped) char *path = xasprintf("%s/.filler", r->run);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    off_t n = 0;
    CHECK(fd >= 0);
    while (write(fd, page, sizeof page) == (ssize_t)sizeof page)
        n += (off_t)sizeof page;
    CHECK_INT(errno, ENOSPC);
    CHECK_INT(ftruncate(fd, MAX(n - (off_t)(left_pages * sizeof page), (off_t)0)), 0);
    return fd;
}

TEST(a_disk_that_is_full_at_any_moment_is_an_error_and_leaves_nothing)
{
    enum { PAGES_MAX = 40 };
    struct rig r;
    char dir[] = "/tmp/test-container-XXXXXX";
    struct err err = { 0 };
    int n_at_once = 0, n_later = 0, n_fine = 0;
    if (!rig_open(&r)) /* says why not */
        return;
    rig_close(&r);
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        test_skipped = "no mount namespace";
        return;
    }
    CHECK(mkdtemp(dir));
    rig_init(&r, dir);
    CHECK_OK(sys_mkdir_all(r.run, 0700, NULL));
    CHECK_INT(mount("none", r.run, "tmpfs", 0, "size=512k,mode=700"), 0);
    CHECK_OK(open_host(&r, &err));
    CHECK_OK(container_host_set_up(r.host, &err));
    for (size_t left = 0; left <= PAGES_MAX; left++) {
        struct reported t;
        (void)close(fill(&r, left));
        int code = begin_as(&r, "one", &t, NULL, NULL, &err);
        if (code < 0) {
            CHECK_INT(code, -ENOSPC);
            n_at_once++;
        } else {
            UNTIL(&r, t.started);
            if (t.r < 0)
                n_later++;
            else
                n_fine++;
            CHECK(t.r == 0 || t.text[0]);
            container_stop(t.c, 0);
            UNTIL(&r, t.removed);
        }
        check_nothing_left(&r, "one");
        reported_fini(&t);
    }
    (void)printf("# refused at once %d, could not start %d, ran %d\n", n_at_once, n_later, n_fine);
    CHECK(n_at_once > 0 && n_later > 0 && n_fine > 0);
    scoped(free_scoped) char *filler = xasprintf("%s/.filler", r.run);
    CHECK_OK(unlink(filler));
    close_host(&r);
    CHECK_INT(umount2(r.run, MNT_DETACH), 0);
    CHECK_OK(rmdir(r.run));
    rig_fini(&r);
}

/* ---------------------------------------------------------------- the owner is killed */

static int held(const char *dir)
{
    struct rig r;
    struct reported one, two;
    rig_init(&r, dir);
    if (open_host(&r, NULL) < 0 || container_host_set_up(r.host, NULL) < 0)
        return 1;
    CHECK_OK(begin_as(&r, "one", &one, NULL, NULL, NULL));
    UNTIL(&r, one.started);
    CHECK_STR(str_of(one.text), "");
    CHECK_OK(begin_as(&r, "two", &two, NULL, NULL, NULL)); /* and one that does not run yet */
    (void)!write(3, "r", 1);
    for (;;)
        (void)loop_turn(&r.loop, true);
}

static void hold_and_kill(const char *dir)
{
    int out[2];
    char byte;
    CHECK_OK(pipe(out));
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(out[1], 3);
        (void)execl("/proc/self/exe", "test_container", "--hold", dir, NULL);
        _exit(1);
    }
    (void)close(out[1]);
    CHECK_INT(read(out[0], &byte, 1), 1);
    (void)close(out[0]);
    (void)kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static void *on_found(void *arg, struct container *c, const struct container_left *left)
{
    struct rig *r = arg;
    r->n_found++;
    if (!left->is_adopted)
        return NULL; /* of no interest */
    CHECK_STR(str_of(container_name(c)), "one");
    (void)snprintf(r->note, sizeof r->note, STR_FMT, STR_ARG(json_get_str(left->note, "mine")));
    r->found.c = c;
    return &r->found;
}

TEST(an_owner_that_was_killed_finds_what_runs_and_the_rest_is_removed)
{
    struct rig r;
    if (!rig_open(&r))
        return;
    close_host(&r);
    hold_and_kill(r.dir);
    CHECK(find_guest(&r));
    CHECK_OK(open_host(&r, NULL));
    container_host_recover(r.host, on_found, &events, &r);
    CHECK_INT(r.n_found, 2);
    CHECK_STR(str_of(r.note), "yes");
    CHECK(container_address(r.found.c) >> 16 == 0x0ad5);
    container_stop(r.found.c, 0);
    UNTIL(&r, r.found.removed);
    CHECK_INT(r.found.started, 0);
    CHECK_INT(r.found.ended, 1);
    CHECK(r.found.status == PROCESS_UNKNOWN || r.found.status == -SIGKILL); /* ours by chance */
    close_host(&r); /* waits for the other */
    check_nothing_left(&r, "one");
    check_nothing_left(&r, "two");
    rig_fini(&r);
}

static void *on_found_unwanted(void *arg, struct container *c, const struct container_left *left)
{
    struct rig *r = arg;
    r->n_found += left->is_adopted;
    CHECK(container_pid(c) > 1 || !left->is_adopted);
    return NULL;
}

TEST(what_is_found_and_not_wanted_ends)
{
    struct rig r;
    if (!rig_open(&r))
        return;
    close_host(&r);
    hold_and_kill(r.dir);
    CHECK_OK(open_host(&r, NULL));
    container_host_recover(r.host, on_found_unwanted, &events, &r);
    CHECK_INT(r.n_found, 1);
    while (exists(&r, "", "one") || exists(&r, "", "two"))
        (void)loop_turn(&r.loop, true);
    check_nothing_left(&r, "one");
    check_nothing_left(&r, "two");
    CHECK_INT(r.found.ended + r.found.removed, 0);
    rig_close(&r);
}

TEST(the_runtime_is_found_by_name_and_by_path)
{
    char *path = NULL;
    struct err err = { 0 };
    CHECK_ERR(container_program_find("there-is-none", &path, &err), -ENOENT);
    CHECK(strstr(err.text, "there-is-none"));
    CHECK_ERR(container_program_find("/etc/no/such", &path, &err), -ENOENT);
    CHECK_OK(container_program_find("sh", &path, &err));
    CHECK(path && path[0] == '/');
    CHECK(!container_program_is_crun(path));
    CHECK(container_program_is_crun("/usr/bin/crun") && !container_program_is_crun("/crun/runc"));
    free(path);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--hold") == 0)
        return held(argv[2]);
    return test_main(argc, argv);
}
