/* SPDX-License-Identifier: Apache-2.0 */
/* Log files of operators and functions; see guest_log.h. */
#include "guest/guest_log.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One open descriptor: consecutive lines mostly belong to the same operator. */
struct guest_logs {
    char *dir;
    char *open_path; /* NULL: none */
    int fd;
    uint64_t size; /* of the open file */
    uint64_t lost; /* lines lost since the last successful write */
};

struct guest_logs *guest_logs_new(const char *dir)
{
    struct guest_logs *logs = xnew(struct guest_logs);
    logs->dir = xstrdup(dir);
    logs->fd = -1;
    return logs;
}

static void close_file(struct guest_logs *logs)
{
    if (logs->fd >= 0)
        (void)close(logs->fd);
    logs->fd = -1;
    free(take_ptr(&logs->open_path));
}

void guest_logs_free(struct guest_logs *logs)
{
    if (!logs)
        return;
    close_file(logs);
    free(logs->dir);
    free(logs);
}

bool guest_log_allows(struct token_bucket *lines, uint32_t per_s, uint32_t burst)
{
    uint64_t cost_us = 1000000 / per_s;
    return token_bucket_take(lines, burst * cost_us, cost_us, clock_mono_ms() * 1000);
}

/* ---- names ---- */

static void add_escaped(struct buf *to, const char *name)
{
    for (const char *p = name; *p; p++) {
        bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                        (*p >= '0' && *p <= '9') || *p == '-' || *p == '_' ||
                        (*p == '.' && p != name);
        if (is_plain)
            (void)buf_add_char(to, *p);
        else
            (void)buf_printf(to, "%%%02X", (unsigned char)*p);
    }
}

char *guest_log_path(const char *dir, const char *namespace, const char *name, bool old)
{
    scoped(buf_fini_scoped) struct buf path = BUF_INIT(64 << 10);
    (void)buf_printf(&path, "%s/", dir);
    add_escaped(&path, namespace[0] ? namespace : "_");
    (void)buf_add_char(&path, '/');
    add_escaped(&path, name);
    (void)buf_add_cstr(&path, old ? ".log.1" : ".log");
    return xstrdup(buf_cstr(&path));
}

const char *guest_log_level_name(enum log_level level)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    return names[level];
}

/* ---- writing ---- */

static void make_parent(const char *path)
{
    scoped(free_scoped) char *dir = xstrdup(path);
    struct err ignored;
    *strrchr(dir, '/') = '\0';
    (void)sys_mkdir_all(dir, 0700, &ignored); /* opening the file will return the error */
}

/* A failed write or a killed process may have left an incomplete line at the end. */
static int end_torn_line(struct guest_logs *logs)
{
    char last = '\n';
    if (logs->size && sys_pread_full(logs->fd, &last, 1, logs->size - 1) != 1)
        return -EIO;
    if (last == '\n')
        return 0;
    int r = sys_write_all(logs->fd, "\n", 1);
    logs->size += r == 0;
    return r;
}

static int open_file(struct guest_logs *logs, const char *namespace, const char *name)
{
    scoped(free_scoped) char *path = guest_log_path(logs->dir, namespace, name, false);
    if (logs->open_path && strcmp(path, logs->open_path) == 0)
        return 0;
    close_file(logs);
    const int flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW;
    int fd = sys_openat(AT_FDCWD, path, flags, 0600);
    if (fd == -ENOENT) {
        make_parent(path);
        fd = sys_openat(AT_FDCWD, path, flags, 0600);
    }
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return fd < 0 ? fd : -errno;
    logs->fd = fd;
    logs->size = (uint64_t)st.st_size;
    logs->open_path = take_ptr(&path);
    return end_torn_line(logs);
}

static void rotate(struct guest_logs *logs, const char *namespace, const char *name)
{
    scoped(free_scoped) char *old = guest_log_path(logs->dir, namespace, name, true);
    (void)sys_renameat(AT_FDCWD, logs->open_path, AT_FDCWD, old);
    close_file(logs);
}

static void add_member(struct buf *to, const char *key, struct str value)
{
    if (value.n == 0)
        return;
    (void)buf_printf(to, ",\"%s\":", key);
    (void)json_write_str(to, value);
}

static void add_number(struct buf *to, const char *key, uint64_t n)
{
    if (n)
        (void)buf_printf(to, ",\"%s\":%llu", key, (unsigned long long)n);
}

static void add_fields(struct buf *to, struct str fields)
{
    struct arena arena = { 0 };
    struct json *parsed;
    struct err ignored;
    if (fields.n == 0)
        return;
    bool is_object =
        json_parse(&arena, fields, NULL, &parsed, &ignored) == 0 && json_is(parsed, JSON_OBJECT);
    (void)buf_add_cstr(to, ",\"fields\":");
    if (is_object)
        (void)json_write(to, parsed);
    else
        (void)json_write_str(to, fields);
    arena_fini(&arena);
}

static void add_time(struct buf *to)
{
    char text[RFC3339_MAX];
    rfc3339_format_us(clock_wall_us(), text);
    (void)buf_printf(to, "{\"time\":\"%s\"", text);
}

void guest_log_add(struct guest_logs *logs, const char *namespace, const char *name,
                   const struct guest_log_line *line)
{
    if (!logs)
        return;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT((size_t)8 * GUEST_LOG_LINE_MAX);
    add_time(&text);
    add_member(&text, "level", str_of(guest_log_level_name(line->level)));
    (void)buf_add_cstr(&text, ",\"message\":");
    (void)json_write_str(&text, str_slice(line->message, 0, GUEST_LOG_LINE_MAX));
    add_member(&text, "controller", line->controller);
    add_member(&text, "key", line->key);
    add_member(&text, "reconcile", line->reconcile);
    add_number(&text, "revision", line->revision);
    add_number(&text, "sandbox", line->sandbox);
    add_member(&text, "call", line->call);
    add_member(&text, "stream", line->stream);
    if (line->fields.n <= GUEST_LOG_LINE_MAX)
        add_fields(&text, line->fields);
    if (logs->lost)
        (void)buf_printf(&text, ",\"lostLines\":%llu", (unsigned long long)logs->lost);
    (void)buf_add_cstr(&text, "}\n");

    int r = buf_ok(&text) ? open_file(logs, namespace, name) : -ENOMEM;
    if (r == 0 && logs->size + text.n > GUEST_LOG_FILE_MAX) {
        rotate(logs, namespace, name);
        r = open_file(logs, namespace, name);
    }
    if (r == 0)
        r = sys_write_all(logs->fd, text.p, text.n);
    if (r < 0) {
        static struct log_rate rate;
        uint64_t skipped;
        logs->lost++;
        if (log_rate_ok(&rate, 60000, &skipped))
            log_warn("lines of operators are lost", "dir=%s error=\"%s\"", logs->dir,
                     err_strerror(r));
        close_file(logs); /* an incomplete line may be in the file: end_torn_line() */
        return;
    }
    logs->size += text.n;
    logs->lost = 0;
}

void guest_log_remove(struct guest_logs *logs, const char *namespace, const char *name)
{
    if (!logs)
        return;
    close_file(logs);
    for (int old = 0; old < 2; old++) {
        scoped(free_scoped) char *path = guest_log_path(logs->dir, namespace, name, old);
        (void)unlink(path);
    }
}
