/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/run_record.h"

#include "agent/agent_impl.h"
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { RECORD_MAX = 4 << 20 };

static char *path_of(const struct agent_pod *p)
{
    return xasprintf("%s/%s.json", p->agent->records_dir, p->uid);
}

static struct json *make_end(struct arena *a, const struct pod_container_life *c)
{
    const struct pod_container_end *e = c->has_ended ? &c->end : &c->last;
    struct json *o = json_new_object(a);
    json_set_int(a, o, "restarts", c->restarts);
    if (!c->has_ended && !c->has_last)
        return o;
    json_set_bool(a, o, "ended", c->has_ended);
    json_set_int(a, o, "exitCode", e->exit_code);
    json_setc(a, o, "reason", json_new_cstr(a, e->reason));
    if (e->message)
        json_setc(a, o, "message", json_new_cstr(a, e->message));
    json_set_int(a, o, "startedMs", e->started_ms);
    json_set_int(a, o, "finishedMs", e->finished_ms);
    if (e->id)
        json_setc(a, o, "id", json_new_cstr(a, e->id));
    return o;
}

/* Without fsync: a crash of the machine ends the containers, too. */
static int replace(const struct agent_pod *p, struct str text, struct err *err)
{
    scoped(free_scoped) char *path = path_of(p);
    scoped(free_scoped) char *new_path = xasprintf("%s/.%s.json", p->agent->records_dir, p->uid);
    int r = sys_openat(AT_FDCWD, new_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (r < 0)
        return err_sys(err, r, "create '%s'", new_path);
    scoped(fd_scoped) int fd = r;
    r = sys_write_all(fd, text.p, text.n);
    if (r >= 0)
        r = sys_renameat(AT_FDCWD, new_path, AT_FDCWD, path);
    return r < 0 ? err_sys(err, r, "write '%s'", path) : 0;
}

void agent_run_record_write(const struct agent_pod *p)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(RECORD_MAX);
    struct err err = { 0 };
    struct json *o = json_new_object(&a), *list = json_obj(&a, o, "containers");
    for (size_t i = 0; i < p->life.n; i++)
        json_set(&a, list, p->life.containers[i].name, make_end(&a, &p->life.containers[i]));
    (void)json_write(&text, o);
    arena_fini(&a);
    if (replace(p, buf_str(&text), &err) < 0)
        log_warn("the record of a pod was not written", "pod=%s/%s error=\"%s\"", p->namespace,
                 p->name, err_text(&err));
}

bool agent_run_record_exists(const struct agent_pod *p)
{
    scoped(free_scoped) char *path = path_of(p);
    return access(path, F_OK) == 0;
}

void agent_run_record_remove(const struct agent_pod *p)
{
    scoped(free_scoped) char *path = path_of(p);
    (void)unlink(path);
}

static void restore_one(struct agent_pod *p, const struct json *o, size_t i)
{
    struct pod_now now = agent_now(p->agent);
    struct str message = json_get_str(o, "message"), id = json_get_str(o, "id");
    struct pod_container_end e = {
        .exit_code = (int)json_int_or(json_getc(o, "exitCode"), 137),
        .message = message.n ? str_dup(message) : NULL,
        .started_ms = json_int_or(json_getc(o, "startedMs"), 0),
        .finished_ms = json_int_or(json_getc(o, "finishedMs"), 0),
        .id = id.n ? str_dup(id) : NULL,
    };
    (void)snprintf(e.reason, sizeof e.reason, STR_FMT, STR_ARG(json_get_str(o, "reason")));
    pod_life_restore_ended(&p->life, i, (uint32_t)json_int_or(json_getc(o, "restarts"), 0), &e,
                           &now);
}

/* Recorded as ended, or as one that ran: then nobody saw how it ended. */
static void restore_from(struct agent_pod *p, const struct json *list)
{
    for (size_t i = 0; i < p->life.n; i++) {
        const struct pod_container_life *c = &p->life.containers[i];
        const struct json *o = json_get(list, c->name);
        if (pod_container_at(c) != POD_CONTAINER_WAITING || !o)
            continue;
        if (json_bool(json_getc(o, "ended")))
            restore_one(p, o, i);
    }
}

bool agent_run_record_restore(struct agent_pod *p)
{
    struct arena a = { .max_bytes = 4 * RECORD_MAX };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(RECORD_MAX);
    scoped(free_scoped) char *path = path_of(p);
    struct err err = { 0 };
    struct json *o = NULL;
    bool ok = sys_read_file(AT_FDCWD, path, &text, &err) >= 0 &&
              json_parse(&a, buf_str(&text), NULL, &o, &err) >= 0;
    if (ok)
        restore_from(p, json_getc(o, "containers"));
    arena_fini(&a);
    return ok;
}

void agent_run_record_sweep(const struct agent *a)
{
    DIR *d = opendir(a->records_dir);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        struct str name = str_of(e->d_name), uid = str_slice(name, 0, name.n > 5 ? name.n - 5 : 0);
        if (str_has_suffix(name, STR(".json")) && !map_has(&a->pods, uid))
            (void)unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        (void)closedir(d);
}
