/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of operators and functions; see log_files.h. */
#include "cmd/log_files.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/json.h"
#include "guest/guest_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one line ---- */

static void add_pair(struct buf *to, const char *key, struct str value)
{
    if (value.n == 0)
        return;
    (void)buf_printf(to, " %s=", key);
    cmd_add_safe(to, value);
}

static void add_number(struct buf *to, const char *key, const struct json *line)
{
    const struct json *n = json_getc(line, key);
    if (json_is(n, JSON_NUMBER))
        (void)buf_printf(to, " %s=" STR_FMT, key, STR_ARG(n->s));
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

/* A guest that prints lines instead of records may put the level into the line: use that one. */
static void take_level(struct str *message, struct str *level)
{
    static const char *const levels[] = { "debug", "info", "warn", "error" };
    struct str word, rest;
    (void)str_cut(*message, ' ', &word, &rest);
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (rest.n && str_is(word, levels[i])) {
            *level = word;
            *message = str_trim(rest);
            return;
        }
}

static void print_text(const struct json *line)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT((size_t)8 * GUEST_LOG_LINE_MAX);
    struct str message = json_get_str(line, "message"), level = json_get_str(line, "level");
    take_level(&message, &level);
    cmd_add_safe(&text, json_get_str(line, "time"));
    (void)buf_printf(&text, " %-5.*s ", STR_ARG(level));
    cmd_add_safe(&text, message);
    add_pair(&text, "controller", json_get_str(line, "controller"));
    add_pair(&text, "key", json_get_str(line, "key"));
    add_pair(&text, "reconcile", json_get_str(line, "reconcile"));
    add_number(&text, "revision", line);
    add_number(&text, "sandbox", line);
    add_pair(&text, "call", json_get_str(line, "call"));
    add_pair(&text, "stream", json_get_str(line, "stream"));
    add_fields(&text, json_getc(line, "fields"));
    if (json_getc(line, "lostLines"))
        (void)buf_printf(&text, " (%lld lines before this one were lost)",
                         (long long)json_int_or(json_getc(line, "lostLines"), 0));
    (void)puts(buf_cstr(&text));
}

static bool is_wanted(const struct log_files *l, const struct json *line, int64_t after_us)
{
    int64_t at;
    const struct json *v = l->where_key ? json_getc(line, l->where_key) : NULL;
    if (l->where_key &&
        !(v && v->type >= JSON_NUMBER && v->type <= JSON_STRING && str_is(v->s, l->where_value)))
        return false;
    return !l->since_ms || (rfc3339_parse(json_get_str(line, "time"), &at) == 0 && at >= after_us);
}

static void print_line(const struct log_files *l, struct str line, int64_t after_us)
{
    struct arena arena = { 0 };
    struct json *v;
    struct err ignored;
    if (json_parse(&arena, line, NULL, &v, &ignored) == 0 && is_wanted(l, v, after_us)) {
        if (l->json)
            (void)printf(STR_FMT "\n", STR_ARG(line));
        else
            print_text(v);
    }
    arena_fini(&arena);
}

/* ---- what is there ---- */

struct log_files_source {
    const struct log_files *l;
    char *path, *dir; /* the file and where it lies */
    int fd;           /* -1: not there (yet) */
    struct buf rest;  /* the beginning of a line */
    int64_t after_us;
};

static void print_new(struct log_files_source *s)
{
    char chunk[16384];
    ssize_t n;
    while (s->fd >= 0 && (n = read(s->fd, chunk, sizeof chunk)) > 0) {
        struct str left = str_n(chunk, (size_t)n), line;
        while (str_find_char(left, '\n') >= 0) {
            (void)str_cut(left, '\n', &line, &left);
            (void)buf_add(&s->rest, line.p, line.n);
            print_line(s->l, buf_str(&s->rest), s->after_us);
            buf_reset(&s->rest);
        }
        (void)buf_add(&s->rest, left.p, left.n);
    }
    (void)fflush(stdout);
}

/* The newest `tail` lines, or all. */
static void print_kept(struct log_files_source *s, const char *old)
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
    size_t end = all.n;
    while (end && all.p[end - 1] != '\n')
        end--;
    (void)buf_add(&s->rest, all.p + end, all.n - end);
    size_t begin = end;
    for (uint64_t lines = 0; begin && !(s->l->tail && lines == s->l->tail); lines++)
        do
            begin--;
        while (begin && all.p[begin - 1] != '\n');
    struct str left = str_slice(all, begin, end);
    while (str_cut(left, '\n', &line, &left))
        print_line(s->l, line, s->after_us);
    (void)fflush(stdout);
}

/* ---- what comes ---- */

static void open_source(struct log_files_source *s)
{
    if (s->fd >= 0)
        (void)close(s->fd);
    buf_reset(&s->rest);
    s->fd = sys_openat(AT_FDCWD, s->path, O_RDONLY, 0);
}

static bool was_replaced(const struct log_files_source *s)
{
    struct stat open_one, now;
    if (s->fd < 0)
        return access(s->path, R_OK) == 0;
    return fstat(s->fd, &open_one) == 0 && stat(s->path, &now) == 0 &&
           open_one.st_ino != now.st_ino;
}

static int follow_source(struct log_files_source *s, struct err *err)
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

/* ---- all of it ---- */

static int show(struct log_files_source *s, const char *old)
{
    const struct log_files *l = s->l;
    struct err err = { 0 };
    open_source(s);
    if (s->fd < 0 && !l->follow)
        return cmd_failf(CMD_FAILED, "%s", l->missing);
    print_kept(s, old);
    if (l->follow && (sys_mkdir_all(s->dir, 0700, &err) < 0 || follow_source(s, &err) < 0))
        return cmd_fail(CMD_FAILED, &err);
    return CMD_OK;
}

int log_files_print(const struct log_files *l)
{
    scoped(free_scoped) char *path = guest_log_path(l->dir, l->namespace, l->name, false);
    scoped(free_scoped) char *old = guest_log_path(l->dir, l->namespace, l->name, true);
    scoped(free_scoped) char *parent = xstrdup(path);
    *strrchr(parent, '/') = '\0';
    struct log_files_source s = { .l = l, .path = path, .dir = parent, .fd = -1 };
    s.after_us = clock_wall_us() - (int64_t)l->since_ms * 1000;
    buf_init(&s.rest, (size_t)8 * GUEST_LOG_LINE_MAX);
    int status = show(&s, old);
    if (s.fd >= 0)
        (void)close(s.fd);
    buf_fini(&s.rest);
    return status;
}
