/* SPDX-License-Identifier: Apache-2.0 */
/* Where the modules of plugins come from: files. Texts are upstream's. */
#include "sched/wasm/internal.h"

#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct source {
    struct defer defer;
    wsource_cb cb;
    void *arg;
    struct buf wasm, error;
};

static void finish(struct source *s)
{
    s->cb(s->arg, buf_str(&s->wasm), buf_str(&s->error));
    buf_fini(&s->wasm);
    buf_fini(&s->error);
    free(s);
}

static void on_defer(struct defer *d)
{
    finish(container_of(d, struct source, defer));
}

/* As Go says it: "no such file or directory". */
static void add_os_error(struct buf *to, const char *what, const char *path, int e)
{
    scoped(free_scoped) char *text = xstrdup(err_strerror(e));
    if (text[0] >= 'A' && text[0] <= 'Z')
        text[0] = (char)(text[0] - 'A' + 'a');
    (void)buf_printf(to, "%s %s: %s", what, path, text);
}

static void read_file(struct source *s, const char *path)
{
    char *room;
    ssize_t n = 0;
    scoped(fd_scoped) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        add_os_error(&s->error, "open", path, -errno);
        return;
    }
    do {
        int r = buf_reserve(&s->wasm, 64 << 10, &room);
        n = r < 0 ? -1 : read(fd, room, 64 << 10);
        if (n < 0)
            add_os_error(&s->error, "read", path, r < 0 ? r : -errno);
        if (n > 0)
            buf_advance(&s->wasm, (size_t)n);
    } while (n > 0);
}

void wsource_get(struct loop *loop, struct str url, wsource_cb cb, void *arg)
{
    enum { SCHEME_BYTES = 7 }; /* "file://" */
    struct source *s = xnew(struct source);
    struct str scheme, rest;
    s->cb = cb;
    s->arg = arg;
    s->wasm = BUF_INIT(MODULE_WASM_BYTES_MAX);
    s->error = BUF_INIT(16 << 10);
    bool has_scheme = str_cut(url, ':', &scheme, &rest);
    if (!has_scheme) {
        (void)buf_printf(&s->error, "invalid URL: " STR_FMT, STR_ARG(url));
    } else if (str_is(scheme, "file")) {
        scoped(free_scoped) char *path = str_dup(str_slice(url, SCHEME_BYTES, url.n));
        if (url.n < SCHEME_BYTES)
            (void)buf_printf(&s->error, "invalid URL: " STR_FMT, STR_ARG(url));
        else
            read_file(s, path);
    } else {
        (void)buf_printf(&s->error, "unsupported URL scheme: " STR_FMT, STR_ARG(scheme));
    }
    defer_start(loop, &s->defer, on_defer);
}
