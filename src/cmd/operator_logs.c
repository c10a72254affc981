/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse operator logs: what an operator of a server on this machine has logged.
 *
 * Reads the files of wasm/guest_log.h, so that it works while the server is down, and follows
 * them by inotify.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cmd/operator_args.h"
#include "codec/json.h"
#include "wasm/guest_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static struct operator_args args;
static uint64_t tail, since_ms;
static bool follow;

static const struct cmd_opt opts[] = {
    OPERATOR_ARGS_OPTS(args),
    { "follow", 'f', NULL, "go on with new lines as they come", CMD_FLAG, &follow, 0, 0 },
    { "tail", 0, "LINES", "only so many of the newest lines (all)", CMD_U64, &tail, 1, UINT32_MAX },
    { "since", 0, "TIME", "only lines younger than this: 90s, 5m, 1h (all)", CMD_DURATION,
      &since_ms, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *operator_logs_opts(void)
{
    return opts;
}

/* ---- one line ---- */

static void add_pair(struct buf *to, const char *key, struct str value)
{
    if (value.n == 0)
        return;
    (void)buf_printf(to, " %s=", key);
    cmd_add_safe(to, value);
}

static void add_fields(struct buf *to, const struct json *fields)
{
    json_each (f, fields) {
        (void)buf_add_char(to, ' ');
        cmd_add_safe(to, f->key);
        (void)buf_add_char(to, '=');
        if (json_is(f, JSON_STRING))
            cmd_add_safe(to, json_str(f));
        else
            (void)json_write(to, f);
    }
}

static void print_text(const struct json *line)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT((size_t)8 * GUEST_LOG_LINE_MAX);
    cmd_add_safe(&text, json_get_str(line, "time"));
    (void)buf_printf(&text, " %-5.*s ", STR_ARG(json_get_str(line, "level")));
    cmd_add_safe(&text, json_get_str(line, "message"));
    add_pair(&text, "controller", json_get_str(line, "controller"));
    add_pair(&text, "key", json_get_str(line, "key"));
    add_pair(&text, "reconcile", json_get_str(line, "reconcile"));
    add_fields(&text, json_getc(line, "fields"));
    if (json_getc(line, "lostLines"))
        (void)buf_printf(&text, " (%lld lines before this one were lost)",
                         (long long)json_int_or(json_getc(line, "lostLines"), 0));
    (void)puts(buf_cstr(&text));
}

static bool is_young(const struct json *line, int64_t after_us)
{
    int64_t at;
    return !since_ms || (rfc3339_parse(json_get_str(line, "time"), &at) == 0 && at >= after_us);
}

static void print_line(struct str line, int64_t after_us)
{
    struct arena arena = { 0 };
    struct json *v;
    struct err ignored;
    if (json_parse(&arena, line, NULL, &v, &ignored) == 0 && is_young(v, after_us)) {
        if (args.json)
            (void)printf(STR_FMT "\n", STR_ARG(line));
        else
            print_text(v);
    }
    arena_fini(&arena);
}

/* ---- what is there ---- */

struct source {
    char *path, *dir; /* the file and where it lies */
    int fd;           /* -1: not there (yet) */
    struct buf rest;  /* the beginning of a line */
    int64_t after_us;
};

static void print_new(struct source *s)
{
    char chunk[16384];
    ssize_t n;
    while (s->fd >= 0 && (n = read(s->fd, chunk, sizeof chunk)) > 0) {
        struct str left = str_n(chunk, (size_t)n), line;
        while (str_find_char(left, '\n') >= 0) {
            (void)str_cut(left, '\n', &line, &left);
            (void)buf_add(&s->rest, line.p, line.n);
            print_line(buf_str(&s->rest), s->after_us);
            buf_reset(&s->rest);
        }
        (void)buf_add(&s->rest, left.p, left.n);
    }
    (void)fflush(stdout);
}

/* The newest `tail` lines, or all. */
static void print_kept(struct source *s, const char *old)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT((size_t)4 * GUEST_LOG_FILE_MAX);
    struct err ignored;
    (void)sys_read_file(AT_FDCWD, old, &text, &ignored);
    if (s->fd >= 0) {
        char chunk[16384];
        ssize_t n;
        while ((n = read(s->fd, chunk, sizeof chunk)) > 0)
            (void)buf_add(&text, chunk, (size_t)n);
    }
    struct str all = buf_str(&text), line;
    size_t end = all.n, begin = all.n;
    while (end && all.p[end - 1] != '\n')
        end--;
    (void)buf_add(&s->rest, all.p + end, all.n - end);
    begin = end;
    for (uint64_t lines = 0; begin && !(tail && lines == tail); lines++)
        do
            begin--;
        while (begin && all.p[begin - 1] != '\n');
    struct str left = str_slice(all, begin, end);
    while (str_cut(left, '\n', &line, &left))
        print_line(line, s->after_us);
    (void)fflush(stdout);
}

/* ---- what comes ---- */

static void open_source(struct source *s)
{
    if (s->fd >= 0)
        (void)close(s->fd);
    buf_reset(&s->rest);
    s->fd = sys_openat(AT_FDCWD, s->path, O_RDONLY, 0);
}

static bool was_replaced(const struct source *s)
{
    struct stat open_one, now;
    if (s->fd < 0)
        return access(s->path, R_OK) == 0;
    return fstat(s->fd, &open_one) == 0 && stat(s->path, &now) == 0 &&
           open_one.st_ino != now.st_ino;
}

static int follow_source(struct source *s, struct err *err)
{
    char events[4096];
    int fd = inotify_init1(IN_CLOEXEC);
    if (fd < 0 ||
        inotify_add_watch(fd, s->dir, IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM) < 0)
        return err_sys(err, -errno, "follow '%s'", s->dir);
    do {
        print_new(s);
        if (was_replaced(s)) {
            open_source(s);
            print_new(s);
        }
    } while (!ferror(stdout) && (read(fd, events, sizeof events) > 0 || errno == EINTR));
    return 0;
}

/* ---- the command ---- */

static int show(const char *dir, struct err *err)
{
    scoped(free_scoped) char *logs = xasprintf("%s/logs", dir);
    scoped(free_scoped) char *path = guest_log_path(logs, args.namespace, args.name, false);
    scoped(free_scoped) char *old = guest_log_path(logs, args.namespace, args.name, true);
    scoped(free_scoped) char *parent = xstrdup(path);
    *strrchr(parent, '/') = '\0';
    struct source s = { .path = path, .dir = parent, .fd = -1 };
    s.after_us = clock_wall_us() - (int64_t)since_ms * 1000;
    buf_init(&s.rest, (size_t)8 * GUEST_LOG_LINE_MAX);
    open_source(&s);
    int status = CMD_OK;
    if (s.fd < 0 && !follow)
        status =
            cmd_failf(CMD_FAILED,
                      "operator %s/%s has logged nothing below '%s'; 'dormouse guests' lists the "
                      "operators, --data-dir says where their server keeps its data",
                      args.namespace, args.name, logs);
    else
        print_kept(&s, old);
    if (follow && sys_mkdir_all(parent, 0700, err) < 0)
        status = cmd_fail(CMD_FAILED, err);
    else if (follow && follow_source(&s, err) < 0)
        status = cmd_fail(CMD_FAILED, err);
    if (s.fd >= 0)
        (void)close(s.fd);
    buf_fini(&s.rest);
    return status;
}

static int run(int argc, char **argv)
{
    struct err err = { 0 };
    int r = operator_args_parse(&cmd_operator_logs, opts, argc, argv, &args);
    if (r)
        return r - 1;
    scoped(free_scoped) char *dir = take_ptr(&args.dir);
    return show(dir, &err);
}

const struct cmd cmd_operator_logs = {
    .name = "operator logs",
    .args = "[NAMESPACE/]NAME",
    .doc = "print what an operator has logged",
    .help = "An operator of 'dormouse operator run' has no namespace: '/NAME'. Kept are the newest "
            "1 to "
            "2 MiB of each.\n"
            "\n"
            "  dormouse operator logs -f operators/mirror\n"
            "  dormouse operator logs -n operators mirror --tail 20 -o json\n",
    .run = run,
    .opts = operator_logs_opts,
};
