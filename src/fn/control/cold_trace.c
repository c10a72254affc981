/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of creations; see cold_trace.h. */
#include "fn/control/cold_trace.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

struct cold_trace {
    struct loop *loop;
    int fd;
    struct buf lines;
    struct timer flush;
    uint64_t lost; /* lines that were dropped or could not be written */
};

static void flush(struct cold_trace *t)
{
    timer_stop(t->loop, &t->flush);
    if (t->lines.n && sys_write_all(t->fd, t->lines.p, t->lines.n) < 0 && t->lost++ == 0)
        log_warn("trace of cold starts cannot be written", "file=cold_start_trace.csv");
    buf_fini(&t->lines);
    buf_init(&t->lines, COLD_TRACE_BUFFER_BYTES);
}

static void on_flush(struct timer *timer)
{
    flush(container_of(timer, struct cold_trace, flush));
}

int cold_trace_open(struct loop *loop, const char *dir, struct cold_trace **ret, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/cold_start_trace.csv", dir);
    int r = sys_mkdir_all(dir, 0700, err);
    if (r < 0)
        return r;
    int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", path);
    struct cold_trace *t = xnew(struct cold_trace);
    *t = (struct cold_trace){ .loop = loop, .fd = fd };
    buf_init(&t->lines, COLD_TRACE_BUFFER_BYTES);
    if (lseek(fd, 0, SEEK_END) == 0)
        buf_add_cstr(&t->lines,
                     "time,service_name,container_id,success,image_fetch,sandbox_create,"
                     "sandbox_start,network_setup,iptables,readiness_probe,"
                     "data_plane_propagation,snapshot_creation,configure_monitoring,find_snapshot,"
                     "db,other_worker_node\n");
    *ret = t;
    return 0;
}

void cold_trace_close(struct cold_trace *t)
{
    if (!t)
        return;
    flush(t);
    buf_fini(&t->lines);
    (void)close(t->fd);
    free(t);
}

void cold_trace_add(struct cold_trace *t, const struct plane_created *c)
{
    static const Dormouse__Fn__V1__Breakdown none = DORMOUSE__FN__V1__BREAKDOWN__INIT;
    const Dormouse__Fn__V1__Breakdown *b = c->breakdown ? c->breakdown : &none;
    uint64_t parts = (uint64_t)b->image_fetch + b->sandbox_create + b->sandbox_start +
                     b->network_setup + b->readiness_probe + b->snapshot_creation +
                     b->find_snapshot;
    /* Endpoints travel with the answer and nothing is written to a database: both columns are 0. */
    bool is_default = str_is(c->namespace, "default"); /* its functions have plain names */
    buf_printf(&t->lines,
               "%" PRId64 "," STR_FMT "%s" STR_FMT ",%" PRIx64
               ",%s,%u,%u,%u,%u,0,%u,0,%u,0,%u,0,%" PRIu64 "\n",
               clock_wall_us() * 1000, STR_ARG(c->name), is_default ? "" : ".",
               STR_ARG(is_default ? STR("") : c->namespace), c->sandbox, c->ok ? "true" : "false",
               b->image_fetch, b->sandbox_create, b->sandbox_start, b->network_setup,
               b->readiness_probe, b->snapshot_creation, b->find_snapshot,
               c->decided_us > parts ? c->decided_us - parts : 0);
    if (t->lines.n > COLD_TRACE_BUFFER_BYTES / 2)
        flush(t);
    else if (!timer_is_armed(&t->flush))
        timer_start(t->loop, &t->flush, COLD_TRACE_FLUSH_MS, on_flush);
}
