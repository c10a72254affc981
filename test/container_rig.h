/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers as pods have them, for tests: a host, a root file system with test/oci/program.c as
 * /program, and what each container reported. Where the machine cannot have containers, rig_open()
 * is false and the test is skipped.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "container/program.h"
#include "container/root.h"
#include "container/spec.h"
#include "io/process.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>

#define RIG_KIND "testpod"

enum { RIG_WORDS_MAX = 16 };

struct rig {
    struct loop loop;
    char dir[64];
    char *root, *run;
    struct container_host *host;
    struct container_machine machine;
    bool closed;
};

struct rig_container {
    int started, ended, removed, r, status;
    bool ran_out;
    char text[300];
    struct container_usage usage; /* at the end */
    int64_t wall_started_ms, wall_ended_ms;
    struct buf out, err_out; /* lines */
    struct buf bytes;        /* of both, as they came */
    int rooms;
    struct container *c;
};

#define UNTIL(r, cond)                                                                             \
    while (!(cond))                                                                                \
    (void)loop_turn(&(r)->loop, true)

static void rig_on_started(void *arg, int r, const struct err *err)
{
    struct rig_container *t = arg;
    t->started++;
    t->r = r;
    (void)snprintf(t->text, sizeof t->text, "%s", r < 0 ? err_text(err) : "");
}

static void rig_on_ended(void *arg, const struct container_end *end)
{
    struct rig_container *t = arg;
    t->ended++;
    t->status = end->status;
    t->ran_out = end->ran_out;
    t->usage = end->usage;
    t->wall_started_ms = end->wall_started_ms;
    t->wall_ended_ms = end->wall_ended_ms;
    (void)snprintf(t->text, sizeof t->text, "%s", end->text);
}

static void rig_on_removed(void *arg)
{
    ((struct rig_container *)arg)->removed++;
}

static void rig_on_line(void *arg, enum container_stream stream, struct str line, bool has_more)
{
    struct rig_container *t = arg;
    struct buf *to = stream == CONTAINER_STDOUT ? &t->out : &t->err_out;
    (void)buf_add_str(to, line);
    (void)buf_add_char(to, '\n');
}

static void rig_on_output(void *arg, enum container_stream stream, struct str bytes)
{
    struct rig_container *t = arg;
    (void)buf_add_str(&t->bytes, bytes);
}

static void rig_on_room(void *arg)
{
    ((struct rig_container *)arg)->rooms++;
}

static const struct container_events rig_events = { .on_started = rig_on_started,
                                                    .on_ended = rig_on_ended,
                                                    .on_removed = rig_on_removed,
                                                    .on_line = rig_on_line,
                                                    .on_output = rig_on_output,
                                                    .on_room = rig_on_room };

static void rig_copy(const char *from, const char *to)
{
    scoped(buf_fini_scoped) struct buf bytes = BUF_INIT((size_t)64 << 20);
    CHECK_OK(sys_read_file(AT_FDCWD, from, &bytes, NULL));
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, to, O_WRONLY | O_CREAT, 0755);
    CHECK_OK(fd);
    CHECK_OK(sys_write_all(fd, bytes.p, bytes.n));
    CHECK_OK(fchmod(fd, 0755));
}

static void rig_make_root(struct rig *r)
{
    static const char *const points[] = { "/proc", "/dev", "/sys", "/mnt", "/data", "/etc" };
    scoped(free_scoped) char *program = xasprintf("%s/program", r->root);
    unsigned left = CONTAINER_ROOT_LOOKUPS_MAX;
    CHECK_OK(sys_mkdir_all(r->root, 0755, NULL));
    scoped(fd_scoped) int fd = open(r->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    for (size_t i = 0; i < ARRAY_LEN(points); i++)
        container_root_make_point(fd, points[i], false, &left);
    rig_copy(OCI_PROGRAM_FILE, program);
}

static int rig_open_host(struct rig *r, struct err *err)
{
    const struct container_host_opts o = { .loop = &r->loop,
                                           .kind = RIG_KIND,
                                           .data_dir = r->dir,
                                           .program = getenv("OCI_PROGRAM"),
                                           .n_networks = 1 };
    r->closed = false;
    return container_host_new(&o, &r->host, err);
}

static void rig_on_closed(void *arg)
{
    ((struct rig *)arg)->closed = true;
}

static void rig_close_host(struct rig *r)
{
    container_host_close(r->host, rig_on_closed, r);
    UNTIL(r, r->closed);
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
}

static void rig_init(struct rig *r, const char *dir)
{
    *r = (struct rig){ 0 };
    (void)snprintf(r->dir, sizeof r->dir, "%s", dir);
    r->root = xasprintf("%s/rootfs", dir);
    r->run = container_host_run_dir(RIG_KIND, dir);
    CHECK_OK(chmod(dir, 0755)); /* for users of containers */
    rig_make_root(r);
    CHECK_OK(loop_init(&r->loop, NULL));
}

static bool rig_open(struct rig *r)
{
    static char why[300];
    char dir[] = "/tmp/test-pod-XXXXXX";
    struct err err = { 0 };
    CHECK(mkdtemp(dir));
    rig_init(r, dir);
    int code = rig_open_host(r, &err);
    bool is_open = code >= 0;
    code = code < 0 ? code : container_host_set_up(r->host, &err);
    if (code >= 0) {
        r->machine = container_host_machine(r->host);
        return true;
    }
    CHECK_INT(code, E_UNSUPPORTED);
    if (is_open)
        rig_close_host(r);
    rig_fini(r);
    (void)snprintf(why, sizeof why, "no containers here: %s", err_text(&err));
    test_skipped = why;
    return false;
}

static void rig_close(struct rig *r)
{
    rig_close_host(r);
    rig_fini(r);
}

/* "/program" and the words of `commands`, separated by one space each. */
static struct container_strings rig_words(const char *commands, struct str words[RIG_WORDS_MAX])
{
    struct container_strings all = { words, 1 };
    struct str left = str_of(commands);
    words[0] = STR("/program");
    while (left.n) {
        CHECK(all.n < RIG_WORDS_MAX);
        (void)str_cut(left, ' ', &words[all.n], &left);
        all.n++;
    }
    return all;
}

static const struct container_user rig_root_user;

static void rig_prepare(struct rig_container *t)
{
    *t = (struct rig_container){ .out = BUF_INIT(1 << 20),
                                 .err_out = BUF_INIT(1 << 20),
                                 .bytes = BUF_INIT(1 << 20) };
}

/* What a test does not set in `spec` and `opts` is as for a plain container that runs the
 * commands. */
static int rig_start(struct rig *r, struct rig_container *t, const char *name, const char *commands,
                     struct container_spec spec, struct container_opts opts, struct err *err)
{
    scoped(buf_fini_scoped) struct buf config = BUF_INIT(CONTAINER_CONFIG_MAX);
    struct str words[RIG_WORDS_MAX];
    const struct container_strings args = rig_words(commands, words);
    rig_prepare(t);
    if (!spec.process.user)
        spec.process.user = &rig_root_user;
    spec.process.args = &args;
    spec.process.n_args = 1;
    spec.root = r->root;
    spec.host_name = "test";
    spec.network = spec.network ? spec.network : CONTAINER_SPEC_HOLE;
    spec.machine = &r->machine;
    int code = container_spec_write(&spec, &config, err);
    if (code < 0)
        return code;
    opts.name = name;
    opts.config = buf_str(&config);
    opts.events = &rig_events;
    opts.arg = t;
    return container_start(r->host, &opts, &t->c, err);
}

static void rig_forget(struct rig_container *t)
{
    buf_fini(&t->out);
    buf_fini(&t->err_out);
    buf_fini(&t->bytes);
}

/* Run it to its end; what it printed is in t. */
static void __attribute__((unused))
rig_run(struct rig *r, struct rig_container *t, const char *commands, struct container_spec spec)
{
    struct err err = { 0 };
    if (rig_start(r, t, "one", commands, spec, (struct container_opts){ 0 }, &err) < 0)
        TEST_FAIL("%s: %s", commands, err_text(&err));
    UNTIL(r, t->removed);
    if (t->r < 0)
        TEST_FAIL("%s: %s", commands, t->text);
}

/* One that waits, and runs when this returns. */
static void __attribute__((unused))
rig_run_waiting(struct rig *r, struct rig_container *t, const char *name,
                struct container_spec spec, struct container_opts opts)
{
    CHECK_OK(rig_start(r, t, name, "say ready wait", spec, opts, NULL));
    UNTIL(r, t->started && (t->r < 0 || t->out.n));
    CHECK_STR(str_of(t->text), "");
}

static void __attribute__((unused)) rig_stop(struct rig *r, struct rig_container *t)
{
    container_stop(t->c, 0);
    UNTIL(r, t->removed);
    rig_forget(t);
}
