/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers outlive a process that was killed. What each of them is stands in its state.json,
 * written once its program runs; a process that starts takes over those that still run, and
 * removes the rest.
 */
#include "base/log.h"
#include "base/sys.h"
#include "codec/json.h"
#include "container/container_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { STATE_MAX = CONTAINER_NOTE_MAX + 4096 };

/* Whole or not at all for a process that reads it. RUN does not outlive the machine: no fsync(). */
static int replace_file(const char *path, struct str text, struct err *err)
{
    scoped(free_scoped) char *new = xasprintf("%s.new", path);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, new, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int r = fd < 0 ? fd : sys_write_all(fd, text.p, text.n);
    if (r >= 0 && rename(new, path) < 0)
        r = -errno;
    return r < 0 ? err_sys(err, r, "write '%s'", path) : 0;
}

void container_write_state(const struct container *c)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(STATE_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/state.json", c->dir);
    struct process_facts facts = { 0 };
    struct err err = { 0 };
    (void)process_facts(c->pid, &facts);
    (void)buf_printf(&text,
                     "{\"pid\":%d,\"ticks\":%llu,\"address\":%u,\"signal\":%d,\"note\":%s}\n",
                     c->pid, (unsigned long long)facts.start_ticks, container_address(c),
                     c->stop_signal, c->note ? c->note : "null");
    if (replace_file(path, buf_str(&text), &err) < 0)
        log_warn("container will be removed if this process is killed", "name=%s error=\"%s\"",
                 c->name, err_text(&err));
}

static bool adopt(struct container *c, const struct json *state)
{
    uint64_t ticks = (uint64_t)json_int_or(json_getc(state, "ticks"), 0);
    int pid = (int)json_int_or(json_getc(state, "pid"), 0);
    uint32_t address = (uint32_t)json_int_or(json_getc(state, "address"), 0);
    int64_t signal = json_int_or(json_getc(state, "signal"), SIGTERM);
    c->stop_signal = signal > 0 && signal < NSIG ? (int)signal : SIGTERM;
    if (pid <= 1 || ticks == 0 || container_adopt(c, pid, ticks, NULL) < 0)
        return false;
    return address == 0 ||
           container_network_adopt(c->h->networks, pid, address, &c->network, NULL) == 0;
}

struct adopt_recovery {
    void *(*on_found)(void *arg, struct container *c, const struct container_left *left);
    const struct container_events *events;
    void *arg;
};

void container_set_events(struct container *c, const struct container_events *events)
{
    c->events = events;
}

static void recover_one(struct container_host *h, const char *name,
                        const struct adopt_recovery *how)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(STATE_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/%s/state.json", h->run, name);
    struct arena a = { 0 };
    struct json *state = NULL;
    if (sys_read_file(AT_FDCWD, path, &text, NULL) < 0 ||
        json_parse(&a, buf_str(&text), NULL, &state, NULL) < 0)
        state = NULL;
    scoped(free_scoped) char *pod = container_files_pod(h, name);
    struct container *c = container_new(h, name, pod);
    const struct json *note = json_getc(state, "note");
    struct container_left left = { .note = note && json_is(note, JSON_OBJECT) ? note : NULL,
                                   .is_adopted = state && adopt(c, state) };
    if (left.is_adopted) {
        log_info("container adopted", "name=%s", c->name);
    } else {
        log_info("container of an earlier process is removed", "name=%s", c->name);
        container_drop(c);
    }
    c->arg = how->on_found(how->arg, c, &left);
    if (!c->arg)
        c->events = NULL;
    else if (!c->events)
        c->events = how->events;
    if (left.is_adopted && !c->arg)
        container_stop(c, 0);
    arena_fini(&a);
}

void container_host_recover(struct container_host *h,
                            void *(*on_found)(void *arg, struct container *c,
                                              const struct container_left *left),
                            const struct container_events *events, void *arg)
{
    const struct adopt_recovery how = { on_found, events, arg };
    struct err err = { 0 };
    DIR *dir = opendir(h->run);
    struct dirent *e;
    if (dir)
        container_crun_kill_all(h);
    while (dir && (e = readdir(dir))) {
        if (e->d_name[0] == '.' || strcmp(e->d_name, "crun") == 0 ||
            strlen(e->d_name) >= CONTAINER_NAME_MAX)
            continue;
        if (container_host_set_up(h, &err) < 0) {
            log_warn("containers of an earlier process are left alone", "error=\"%s\"",
                     err_text(&err));
            break;
        }
        recover_one(h, e->d_name, &how);
    }
    if (dir)
        (void)closedir(dir);
}
