/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers outlive a process that was killed. What each of them is stands in its state.json,
 * written once its program runs; a process that starts takes over those that still run, and
 * removes the rest.
 */
#include "base/log.h"
#include "base/sys.h"
#include "base/vec.h"
#include "codec/json.h"
#include "container/container_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    struct process_facts facts = { 0 }, keeper = { 0 };
    struct err err = { 0 };
    (void)process_facts(c->pid, &facts);
    (void)buf_printf(&text, "{\"pid\":%d,\"ticks\":%llu,\"address\":%u,\"signal\":%d,", c->pid,
                     (unsigned long long)facts.start_ticks, container_address(c), c->stop_signal);
    if (c->keeper && process_facts(process_pid(c->keeper), &keeper) == 0)
        (void)buf_printf(&text, "\"keeper\":%d,\"keeperTicks\":%llu,", process_pid(c->keeper),
                         (unsigned long long)keeper.start_ticks);
    (void)buf_printf(&text, "\"started\":%lld,\"terminal\":%s,\"input\":%d,\"note\":%s}\n",
                     (long long)c->wall_started_ms, c->has_terminal ? "true" : "false",
                     (int)c->input, c->note ? c->note : "null");
    if (replace_file(path, buf_str(&text), &err) < 0)
        log_warn("container will be removed if this process is killed", "name=%s error=\"%s\"",
                 c->name, err_text(&err));
}

static int int_of(const struct json *state, const char *name)
{
    int64_t n = json_int_or(json_getc(state, name), 0);
    return n > 0 && n <= INT32_MAX ? (int)n : 0;
}

static bool adopt(struct container *c, const struct json *state)
{
    const struct container_known known = {
        .pid = int_of(state, "pid"),
        .ticks = (uint64_t)json_int_or(json_getc(state, "ticks"), 0),
        .keeper = int_of(state, "keeper"),
        .keeper_ticks = (uint64_t)json_int_or(json_getc(state, "keeperTicks"), 0),
        .wall_started_ms = json_int_or(json_getc(state, "started"), 0),
        .has_terminal = json_bool(json_getc(state, "terminal")),
        .input = MIN((enum container_input)int_of(state, "input"), CONTAINER_INPUT_ONCE)
    };
    uint32_t address = (uint32_t)json_int_or(json_getc(state, "address"), 0);
    int signal = int_of(state, "signal");
    c->stop_signal = signal > 0 && signal < NSIG ? signal : SIGTERM;
    if (known.pid <= 1 || known.ticks == 0 || container_adopt(c, &known, NULL) < 0)
        return false;
    return address == 0 || !c->init ||
           container_network_adopt(c->h->networks, known.pid, address, &c->network, NULL) == 0;
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

/* NULL: there is none that can be read. */
static struct json *read_state(const struct container_host *h, const char *name, struct arena *a)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(STATE_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/%s/state.json", h->run, name);
    struct json *state;
    if (sys_read_file(AT_FDCWD, path, &text, NULL) < 0 ||
        json_parse(a, str_copy_arena(a, buf_str(&text)), NULL, &state, NULL) < 0)
        return NULL;
    return state;
}

static void recover_one(struct container_host *h, const char *name,
                        const struct adopt_recovery *how)
{
    struct arena a = { 0 };
    const struct json *state = read_state(h, name, &a);
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

struct adopt_first {
    int pid;
    uint64_t ticks;
};

struct adopt_names { /* of directories of containers */
    VEC(char *) all;
    VEC(struct adopt_first) first; /* processes, by state.json */
};

static void list_names(const struct container_host *h, struct adopt_names *to)
{
    DIR *dir = opendir(h->run);
    struct dirent *e;
    while (dir && (e = readdir(dir))) {
        if (e->d_name[0] == '.' || strcmp(e->d_name, "crun") == 0 ||
            strlen(e->d_name) >= CONTAINER_NAME_MAX)
            continue;
        struct arena a = { 0 };
        const struct json *state = read_state(h, e->d_name, &a);
        const struct adopt_first first = { int_of(state, "pid"),
                                           (uint64_t)json_int_or(json_getc(state, "ticks"), 0) };
        vec_push(&to->all, xstrdup(e->d_name));
        vec_push(&to->first, first);
        arena_fini(&a);
    }
    if (dir)
        (void)closedir(dir);
}

static bool is_first(void *arg, int pid)
{
    const struct adopt_names *names = arg;
    struct process_facts f;
    for (size_t i = 0; i < names->first.n; i++)
        if (names->first.p[i].pid == pid)
            return process_facts(pid, &f) == 0 && f.start_ticks == names->first.p[i].ticks;
    return false;
}

void container_host_recover(struct container_host *h,
                            void *(*on_found)(void *arg, struct container *c,
                                              const struct container_left *left),
                            const struct container_events *events, void *arg)
{
    const struct adopt_recovery how = { on_found, events, arg };
    struct adopt_names names = { 0 };
    struct err err = { 0 };
    if (access(h->run, F_OK) < 0)
        return;
    list_names(h, &names);
    container_crun_kill_all(h, is_first, &names);
    if (names.all.n && container_host_set_up(h, &err) < 0)
        log_warn("containers of an earlier process are left alone", "error=\"%s\"", err_text(&err));
    for (size_t i = 0; i < names.all.n; i++) {
        if (!err.code)
            recover_one(h, names.all.p[i], &how);
        free(names.all.p[i]);
    }
    vec_fini(&names.all);
    vec_fini(&names.first);
}
