/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/termination.h"

#include "agent/agent_impl.h"
#include "agent/log/podlog_line.h"
#include "agent/log/podlog_writer.h"
#include "io/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* At most `max` bytes of the end of the file; given. NULL: none. */
static char *read_end(const char *path, size_t max, size_t *ret_n)
{
    scoped(fd_scoped) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return NULL;
    off_t from = st.st_size > (off_t)max ? st.st_size - (off_t)max : 0;
    char *text = xalloc(max + 1);
    ssize_t n = pread(fd, text, max, from);
    if (n <= 0) {
        free(text);
        return NULL;
    }
    *ret_n = (size_t)n;
    return text;
}

/* JSON holds UTF-8 only. */
static char *clean(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\0')
            text[i] = ' ';
    }
    if (!str_is_utf8(str_n(text, n))) {
        for (size_t i = 0; i < n; i++)
            text[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    }
    return text;
}

/* The last lines of the log without their heads. */
static char *read_log(const struct agent_run *r)
{
    enum { RAW_MAX = 4 * AGENT_TERMINATION_LOG_MAX };
    size_t n = 0;
    scoped(free_scoped) char *path = xstrdup(r->log ? podlog_writer_path(r->log) : "");
    scoped(free_scoped) char *raw = read_end(path, RAW_MAX, &n);
    struct buf text = BUF_INIT(RAW_MAX);
    struct str rest = str_n(raw, n), line;
    size_t n_lines = 0;
    while (rest.n > 0) {
        struct podlog_line one;
        if (!str_cut(rest, '\n', &line, &rest))
            break;
        if (podlog_line_parse(line, &one) < 0)
            continue;
        n_lines++;
        (void)buf_add_str(&text, one.text);
        if (!one.is_partial)
            (void)buf_add_char(&text, '\n');
    }
    if (text.n > AGENT_TERMINATION_LOG_MAX)
        buf_consume(&text, text.n - AGENT_TERMINATION_LOG_MAX);
    for (; n_lines > AGENT_TERMINATION_LOG_LINES; n_lines--) {
        ptrdiff_t at = str_find_char(buf_str(&text), '\n');
        if (at < 0)
            break;
        buf_consume(&text, (size_t)at + 1);
    }
    return text.n ? buf_take(&text, &n) : NULL;
}

static char *read_message(const struct agent_run *r, const struct pod_container *c, int exit_code)
{
    scoped(free_scoped) char *path = xasprintf("%s/termination-log", r->dir);
    size_t n = 0;
    char *text = read_end(path, AGENT_TERMINATION_MAX, &n);
    if (!text && c && exit_code != 0 && str_is(c->termination_policy, "FallbackToLogsOnError")) {
        text = read_log(r);
        n = text ? strlen(text) : 0;
    }
    return text ? clean(text, n) : NULL;
}

void agent_termination_read(const struct agent_run *r, const struct pod_container *c,
                            const struct container_end *end, struct pod_container_end *ret)
{
    *ret = (struct pod_container_end){ 0 };
    if (end->status == PROCESS_UNKNOWN) {
        ret->exit_code = 137;
        (void)snprintf(ret->reason, sizeof ret->reason, "ContainerStatusUnknown");
    } else if (end->status < 0) {
        ret->signal = -end->status;
        ret->exit_code = 128 + ret->signal;
    } else {
        ret->exit_code = end->status;
    }
    if (end->ran_out && ret->exit_code != 0)
        (void)snprintf(ret->reason, sizeof ret->reason, "OOMKilled");
    ret->signal = 0; /* kubelet shows 128 + signal alone */
    ret->message = read_message(r, c, ret->exit_code);
}
