/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a container, from container_start() until all of it is removed. Every callback
 * advances it or notifies the caller; a container that the caller has stopped only ends.
 */
#include "container/container.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "codec/json.h"
#include "container/container_impl.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    GROUP_PAUSE_MS = 10,  /* for what ends in a control group, */
    GROUP_TRIES = 500,    /* so many times */
    DELETE_TRIES = 3,     /* of a crun delete that was killed */
    COLLECT_PAUSE_MS = 2, /* until a keeper has written how the program ended, */
    COLLECT_TRIES = 1000, /* so many times */
    KEEPER_END_MS = 1000, /* after all else has ended */
    LEFT_PAUSE_MS = 10,   /* between two looks at what a crun that was killed has left, */
    LEFT_LOOKS = 100      /* of which there are so many: what is left may fork for ever */
};

/*
 *     NETWORK -> QUEUED -> STARTING -> RUNNING -> ENDING -> CLEANING -> (freed)
 *
 * NETWORK waits for one, QUEUED for a process slot, STARTING for crun run, ENDING for the end of
 * the program after a signal, CLEANING for crun delete and for what crun has left. A container that
 * fails or is stopped moves to ENDING if its program runs, else to CLEANING.
 */
static const struct sm_state container_table[] = {
    [CONTAINER_NETWORK] = { "network", EDGE(CONTAINER_QUEUED) | EDGE(CONTAINER_CLEANING) },
    [CONTAINER_QUEUED] = { "queued", EDGE(CONTAINER_STARTING) | EDGE(CONTAINER_CLEANING) },
    [CONTAINER_STARTING] = { "starting", EDGE(CONTAINER_RUNNING) | EDGE(CONTAINER_CLEANING) },
    [CONTAINER_RUNNING] = { "running", EDGE(CONTAINER_ENDING) | EDGE(CONTAINER_CLEANING) },
    [CONTAINER_ENDING] = { "ending", EDGE(CONTAINER_CLEANING) },
    [CONTAINER_CLEANING] = { "cleaning", 0 },
};

static void clean(struct container *c);
static void delete (struct container *c);
static void finish(struct container *c);

static uint32_t lap_us(struct container *c)
{
    uint64_t now = clock_mono_ns(), us = (now - c->at_ns) / 1000;
    c->at_ns = now;
    return (uint32_t)MIN(us, (uint64_t)UINT32_MAX);
}

static bool is_up(const struct container *c)
{
    return c->sm.at == CONTAINER_RUNNING || c->sm.at == CONTAINER_ENDING;
}

/* ---- what a caller may ask ---- */

const char *container_name(const struct container *c)
{
    return c->name;
}

uint32_t container_address(const struct container *c)
{
    return c->network ? c->network->address : 0;
}

struct container_timings container_timings(const struct container *c)
{
    return c->took;
}

int container_pid(const struct container *c)
{
    return c->init ? c->pid : 0;
}

void container_limit_cpu(struct container *c, uint64_t cpu_milli)
{
    container_cgroup_limit_cpu(&c->h->cgroups, c->group, cpu_milli);
}

int container_limit(struct container *c, const struct container_limits *limits, struct err *err)
{
    return container_cgroup_limit(&c->h->cgroups, c->group, limits, err);
}

int container_usage(const struct container *c, struct container_usage *ret)
{
    return container_cgroup_usage(&c->h->cgroups, c->group, ret);
}

int64_t container_wall_started_ms(const struct container *c)
{
    return c->wall_started_ms;
}

/* ---- telling the caller ---- */

static void report_started(struct container *c, int r, const struct err *err)
{
    c->is_reported = true;
    if (c->events && c->events->on_started)
        c->events->on_started(c->arg, r, err);
}

/* It could not be started. */
static void fail(struct container *c, int r, const char *text)
{
    struct err err = { 0 };
    (void)err_set(&err, r, "%s", text);
    clean(c);
    if (!c->is_stopped)
        report_started(c, r, &err);
}

/* text: CONTAINER_TEXT_MAX bytes. */
static void describe_end(const struct container *c, struct container_end *end, char *text)
{
    const char *memory = end->ran_out ? " (out of memory)" : "";
    const char *last = container_output_last(c->err_out);
    if (!last[0])
        last = container_output_last(c->out);
    if (end->status == PROCESS_UNKNOWN)
        (void)snprintf(text, CONTAINER_TEXT_MAX, "the container has ended");
    else if (end->status < 0)
        (void)snprintf(text, CONTAINER_TEXT_MAX, "the container was killed by signal %d%s",
                       -end->status, memory);
    else
        (void)snprintf(text, CONTAINER_TEXT_MAX, "the container has ended with status %d%s",
                       end->status, memory);
    size_t used = strlen(text);
    if (last[0])
        (void)snprintf(text + used, CONTAINER_TEXT_MAX - used, "; it said: %s", last);
    end->text = text;
}

/* ---- its program ---- */

static void on_grace(struct timer *t)
{
    struct container *c = container_of(t, struct container, grace);
    if (c->init)
        process_signal(c->init, SIGKILL);
}

static void end(struct container *c)
{
    sm_move(&c->sm, CONTAINER_ENDING);
    if (!c->init) /* it has ended: its last output is delivered, in on_init_exit() */
        return;
    process_signal(c->init, c->grace_ms ? c->stop_signal : SIGKILL);
    if (c->grace_ms)
        timer_start(c->h->loop, &c->grace, c->grace_ms, on_grace);
}

/* status, c->wall_ended_ms: known as well as they can be. */
static void program_ended(struct container *c, int status)
{
    char text[CONTAINER_TEXT_MAX];
    struct container_end end = { .status = status,
                                 .ran_out = container_cgroup_ran_out(&c->h->cgroups, c->group),
                                 .wall_started_ms = c->wall_started_ms,
                                 .wall_ended_ms = c->wall_ended_ms };
    (void)container_usage(c, &end.usage);
    container_streams_drain(c);
    describe_end(c, &end, text);
    clean(c); /* the last line without an end comes before the news */
    if (c->is_reported && c->events && c->events->on_ended)
        c->events->on_ended(c->arg, &end);
}

static void collect(struct container *c);

static void on_collect_pause(struct timer *t)
{
    collect(container_of(t, struct container, late));
}

/*
 * Its program has ended: the keeper writes how, and then waits to be killed. Without a keeper, c->
 * end_status is what the kernel told this process.
 */
static void collect(struct container *c)
{
    scoped(free_scoped) char *path = xasprintf("%s/exit", c->dir);
    int status;
    uint64_t wall_ms;
    bool is_known = container_keeper_read_exit(path, &status, &wall_ms) >= 0;
    c->is_collecting = true;
    if (is_known) {
        c->end_status = status;
        c->wall_ended_ms = (int64_t)wall_ms;
    } else if (c->keeper && c->collect_tries++ < COLLECT_TRIES) {
        timer_start(c->h->loop, &c->late, COLLECT_PAUSE_MS, on_collect_pause);
        return;
    }
    if (c->keeper)
        process_signal(c->keeper, SIGKILL); /* on_keeper_exit() */
    else
        program_ended(c, c->end_status);
}

static void on_init_exit(struct process *p, int status, void *arg)
{
    struct container *c = arg;
    (void)p;
    container_crun_reap(c);
    c->init = NULL;
    c->end_status = status;
    c->wall_ended_ms = clock_wall_ms();
    timer_stop(c->h->loop, &c->grace);
    if (c->h->is_leaving)
        return; /* the next process asks the keeper */
    if (c->has_keeper)
        collect(c);
    else
        program_ended(c, status);
}

/* ---- making it ---- */

static void start(struct container *c);

static void next_start(struct container_host *h)
{
    while (h->n_starting < CONTAINER_STARTS_MAX && !list_is_empty(&h->queue))
        start(list_entry(list_pop_front(&h->queue), struct container, queued));
}

/* The runtime has ended. */
static void on_run(struct container *c, int status)
{
    struct err err = { 0 };
    char text[CONTAINER_TEXT_MAX];
    timer_stop(c->h->loop, &c->late);
    assert(c->h->n_starting > 0);
    c->h->n_starting--;
    c->took.start_us = lap_us(c);
    container_crun_reap(c);
    scoped(free_scoped) char *pid_file = xasprintf("%s/pid", c->dir);
    c->pid = status == 0 ? container_files_read_pid(pid_file) : -ESRCH;
    int r = c->pid < 0 ? c->pid
                       : process_watch(c->h->loop, c->pid, 0, !c->has_keeper, on_init_exit, c,
                                       &c->init, &err);
    bool has_ended = c->has_keeper && c->keeper && c->pid > 0 && r == -ESRCH;
    c->was_cut = r < 0 && !has_ended; /* it, or a process that it had forked, may be killed */
    struct container_host *h = c->h;
    if (c->was_cut) {
        container_crun_error_text(c, status, text);
        fail(c, status == 0 ? r : -EIO, text);
    } else {
        sm_move(&c->sm, CONTAINER_RUNNING);
        c->wall_started_ms = clock_wall_ms();
        if (c->is_stopped) {
            end(c);
        } else {
            container_write_state(c);
            report_started(c, 0, NULL);
        }
        if (h->is_leaving)
            container_leave(c);
        else if (has_ended) /* its keeper has waited for it */
            collect(c);
    }
    next_start(h);
}

static void on_crun_run(struct process *p, int status, void *arg)
{
    struct container *c = arg;
    (void)p;
    c->crun = NULL;
    on_run(c, status);
}

static void on_keeper_runtime(void *arg, int status, int terminal)
{
    struct container *c = arg;
    container_keeper_close(take_ptr(&c->wait_keeper));
    container_streams_terminal(c, terminal);
    on_run(c, status);
}

static void on_keeper_exit(struct process *p, int status, void *arg)
{
    struct container *c = arg;
    (void)p;
    c->keeper = NULL;
    if (c->h->is_leaving && is_up(c))
        return;           /* the next process reads what it has written */
    if (c->wait_keeper) { /* the runtime has ended with it */
        container_keeper_close(take_ptr(&c->wait_keeper));
        on_run(c, status < 0 ? status : -SIGKILL);
    } else if (c->is_collecting && c->sm.at != CONTAINER_CLEANING) {
        timer_stop(c->h->loop, &c->late);
        program_ended(c, c->end_status);
    } else if (c->sm.at == CONTAINER_CLEANING) {
        container_changed(c);
    } else {
        log_warn("keeper of a container was killed", "name=%s", c->name);
    }
}

/* Its arguments: keeper_program.c. In the arena. */
static const char **keeper_words(struct container *c, const char *const *words, struct arena *a)
{
    static const char *const modes[] = {
        [CONTAINER_INPUT_NONE] = "r", [CONTAINER_INPUT_OPEN] = "w", [CONTAINER_INPUT_ONCE] = "r"
    };
    static const char *const ways[2][2] = { { "--", "-u" }, { "t-", "tu" } };
    const struct container_host *h = c->h;
    char group[CONTAINER_CGROUP_NAME_MAX];
    scoped(free_scoped) char *root = NULL;
    const char *log = arena_printf(a, "%s/log", c->dir);
    const char *plain[CONTAINER_CRUN_WORDS_MAX];
    const char **argv = arena_new_n(a, const char *, CONTAINER_CRUN_WORDS_MAX + 10);
    size_t n = 0;
    argv[n++] = arena_printf(a, "/proc/self/fd/%d", h->keeper_fd);
    argv[n++] = arena_printf(a, "%s/pid", c->dir);
    argv[n++] = arena_printf(a, "%s/exit", c->dir);
    argv[n++] = c->input ? arena_printf(a, "%s/in", c->dir) : "/dev/null";
    argv[n++] = c->has_users && !c->input ? "e" : modes[c->input];
    argv[n++] = ways[c->has_terminal][h->hides_cgroup2];
    container_host_keepers(h, group);
    scoped(free_scoped) char *hierarchies = container_cgroup_make_everywhere(&h->cgroups, group);
    argv[n++] = h->cgroups.kind ? arena_printf(a, "%s/%s", h->cgroups.parent, group) : "";
    argv[n++] = arena_printf(a, "%s", hierarchies);
    argv[n++] = h->is_runc ? h->copy : arena_printf(a, "/proc/%d/fd/%d", (int)getpid(), h->copy_fd);
    container_crun_argv(h, words, log, plain, &root);
    for (size_t i = 1; plain[i]; i++)
        argv[n++] = arena_printf(a, "+%s", plain[i]);
    argv[n] = NULL;
    return argv;
}

static int spawn_keeper(struct container *c, const char *const *words, int out, int err_out,
                        struct err *err)
{
    static const char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
    struct container_host *h = c->h;
    scoped(fd_scoped) int control = -1;
    struct arena a = { 0 };
    int r = container_keeper_listen(h->loop, on_keeper_runtime, c, &c->wait_keeper, &control, err);
    const struct process_opts opts = { .argv = keeper_words(c, words, &a),
                                       .env = env,
                                       .in = control,
                                       .out = out,
                                       .err_out = err_out,
                                       .on_exit = on_keeper_exit,
                                       .arg = c };
    r = r < 0 ? r : process_spawn(h->loop, &opts, &c->keeper, err);
    arena_fini(&a);
    if (r < 0) {
        container_keeper_close(take_ptr(&c->wait_keeper));
        return r;
    }
    timer_start(h->loop, &c->late, CONTAINER_CRUN_MAX_MS, container_crun_on_late);
    return 0;
}

static int run(struct container *c, struct err *err)
{
    scoped(fd_scoped) int out = -1, err_out = -1;
    struct container_host *h = c->h;
    scoped(free_scoped) char *pid_file = xasprintf("%s/pid", c->dir);
    int r = container_streams_open(c, &out, &err_out, err);
    if (r < 0)
        return r;
    const char *words[16] = { "run",        "--detach", "--no-new-keyring", "--bundle", c->dir,
                              "--pid-file", pid_file };
    size_t n = 7;
    if (c->has_terminal) {
        words[n++] = "--console-socket";
        words[n++] = container_console_path(&c->console);
    }
    words[n++] = c->name;
    if (c->has_keeper)
        r = spawn_keeper(c, words, c->has_terminal ? c->console.fd : out,
                         c->has_terminal ? h->null_fd : err_out, err);
    else
        r = container_crun_spawn(c, words, c->has_users ? h->empty_fd : h->null_fd, out, err_out,
                                 on_crun_run, err);
    if (r < 0)
        return r;
    c->was_made = true;
    c->crun_pid = c->has_keeper ? 0 : process_pid(c->crun);
    return 0;
}

static void start(struct container *c)
{
    struct err err = { 0 };
    sm_move(&c->sm, CONTAINER_STARTING);
    int r = run(c, &err);
    if (r < 0)
        fail(c, r, err_text(&err));
    else
        c->h->n_starting++;
}

/* It has its network. */
static void queue(struct container *c)
{
    struct err err = { 0 };
    c->took.network_us = lap_us(c);
    int r = container_files_write_config(c, &err);
    c->took.files_us += lap_us(c);
    free(take_ptr(&c->config));
    if (r < 0) {
        fail(c, r, err_text(&err));
        return;
    }
    sm_move(&c->sm, CONTAINER_QUEUED);
    list_push_back(&c->h->queue, &c->queued);
    next_start(c->h);
}

static void on_network_turn(struct defer *d)
{
    queue(container_of(d, struct container, turn));
}

static void on_network(struct container_network_wait *w, struct container_network *n,
                       const struct err *err)
{
    struct container *c = container_of(w, struct container, wait);
    c->network = n;
    if (n)
        queue(c);
    else
        fail(c, err->code, err_text(err));
}

static void find_network(struct container *c)
{
    if (!c->own_network)
        c->network = container_network_get(c->h->networks);
    if (c->own_network || c->network) {
        defer_start(c->h->loop, &c->turn, on_network_turn);
        return;
    }
    c->wait.run = on_network;
    container_network_wait(c->h->networks, &c->wait);
}

/* ---- beginning ---- */

struct container *container_new(struct container_host *h, const char *name, const char *pod)
{
    struct container *c = xnew(struct container);
    char group[CONTAINER_CGROUP_NAME_MAX];
    c->h = h;
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    (void)snprintf(group, sizeof group, "%s%s%s", pod ? pod : "", pod ? "/" : "", name);
    container_host_group(h, group, c->group);
    c->dir = xasprintf("%s/%s", h->run, name);
    sm_init(&c->sm, container_table, CONTAINER_NETWORK);
    list_init(&c->execs);
    c->console = CONTAINER_CONSOLE_INIT;
    c->terminal = -1;
    c->stop_signal = SIGTERM;
    c->at_ns = clock_mono_ns();
    map_put(&h->containers, str_of(c->name), c);
    return c;
}

static void container_free(struct container *c)
{
    map_del(&c->h->containers, str_of(c->name));
    free(c->config);
    free(c->note);
    free(c->own_network);
    free(c->dir);
    free(c);
}

/* It can be read back as a member of state.json. */
static bool is_note(struct str note)
{
    const struct json_parse_opts opts = { .max_depth = JSON_MAX_DEPTH - 1 };
    struct arena a = { 0 };
    struct json *v = NULL;
    bool is_object = json_parse(&a, note, &opts, &v, NULL) == 0 && json_is(v, JSON_OBJECT);
    arena_fini(&a);
    return is_object;
}

static int check(const struct container_host *h, const struct container_opts *o, struct err *err)
{
    struct str name = str_of(o->name);
    if (name.n >= CONTAINER_NAME_MAX || str_is(name, "crun") || !container_host_is_word(name))
        return err_set(err, E_INVALID, "'%s' is no name of a container", o->name);
    if (o->pod && !container_host_is_group(str_of(o->pod)))
        return err_set(err, E_INVALID, "'%s' is no name of a group of containers", o->pod);
    if (map_has(&h->containers, name))
        return err_set(err, -EEXIST, "there is a container '%s'", o->name);
    if (o->stop_signal < 0 || o->stop_signal >= NSIG)
        return err_set(err, E_INVALID, "%d is no signal that asks a container to end",
                       o->stop_signal);
    if (o->n_files > CONTAINER_FILES_MAX || o->note.n > CONTAINER_NOTE_MAX)
        return err_set(err, E_LIMIT, "container '%s' has too many files, or too long a note",
                       o->name);
    if (o->note.n && !is_note(o->note))
        return err_set(err, E_INVALID, "the note of container '%s' is no JSON object", o->name);
    return 0;
}

int container_start(struct container_host *h, const struct container_opts *o,
                    struct container **ret, struct err *err)
{
    int r = container_host_set_up(h, err);
    r = r < 0 ? r : check(h, o, err);
    if (r < 0)
        return r;
    assert(!h->done);
    bool has_keeper = o->has_keeper || o->has_terminal || o->input;
    if (has_keeper && h->keeper_fd < 0)
        h->keeper_fd = r = container_keeper_program_open(err);
    if (r < 0 && (o->has_terminal || o->input))
        return r;
    struct container *c = container_new(h, o->name, o->pod);
    c->has_keeper = h->keeper_fd >= 0 && has_keeper;
    c->has_terminal = o->has_terminal;
    c->input = o->input;
    c->uid = o->uid;
    c->gid = o->gid;
    if (o->stop_signal)
        c->stop_signal = o->stop_signal;
    r = container_files_make(c, o, err);
    if (r < 0) {
        container_free(c);
        return r;
    }
    c->events = o->events;
    c->arg = o->arg;
    c->config = xstrndup(o->config.n ? o->config.p : "", o->config.n);
    c->config_n = o->config.n;
    c->has_users = str_find(o->config, STR("{\"type\":\"user\"")) >= 0;
    c->note = o->note.n ? xstrndup(o->note.p, o->note.n) : NULL;
    c->own_network = o->network ? xstrdup(o->network) : NULL;
    c->took.files_us = lap_us(c);
    find_network(c);
    *ret = c;
    return 0;
}

/* Its program has been asked to end. */
static void shorten_grace(struct container *c, uint32_t grace_ms)
{
    struct loop *loop = c->h->loop;
    if (!timer_is_armed(&c->grace) || c->grace.due_ms <= loop_now_ms(loop) + grace_ms)
        return;
    if (grace_ms) {
        timer_start(loop, &c->grace, grace_ms, on_grace);
        return;
    }
    timer_stop(loop, &c->grace);
    process_signal(c->init, SIGKILL);
}

void container_stop(struct container *c, uint32_t grace_ms)
{
    c->grace_ms = c->is_stopped ? MIN(c->grace_ms, grace_ms) : grace_ms;
    c->is_stopped = true;
    switch ((enum container_at)c->sm.at) {
    case CONTAINER_NETWORK:
    case CONTAINER_QUEUED:
        clean(c);
        break;
    case CONTAINER_RUNNING:
        end(c);
        break;
    case CONTAINER_ENDING:
        shorten_grace(c, grace_ms);
        break;
    case CONTAINER_STARTING: /* on_crun_run() ends it */
    case CONTAINER_CLEANING:
        break;
    }
}

/* ---- the process ends before it ---- */

static void release(struct container *c)
{
    struct container_host *h = c->h;
    timer_stop(h->loop, &c->grace);
    timer_stop(h->loop, &c->late);
    if (c->init)
        process_release(take_ptr(&c->init));
    if (c->keeper)
        process_release(take_ptr(&c->keeper));
    container_keeper_close(take_ptr(&c->wait_keeper));
    container_streams_release(c);
    container_free(c);
    container_host_check_closed(h);
}

static void on_leave_turn(struct defer *d)
{
    release(container_of(d, struct container, turn));
}

static void leave_soon(struct container *c)
{
    if (c->n_execs == 0)
        defer_start(c->h->loop, &c->turn, on_leave_turn);
}

void container_leave(struct container *c)
{
    static const struct container_events none;
    c->events = &none;
    if (c->sm.at == CONTAINER_NETWORK || c->sm.at == CONTAINER_QUEUED) {
        clean(c);
        return;
    }
    if (!is_up(c))
        return;                       /* on_run() calls again, or it is being removed */
    assert(!c->network);              /* those of the host end with it */
    timer_stop(c->h->loop, &c->late); /* of collect() */
    container_execs_kill(c);
    container_execs_stop(c);
    leave_soon(c);
}

/* ---- after it ---- */

static void on_finish_turn(struct defer *d)
{
    finish(container_of(d, struct container, turn));
}

static void finish_later(struct container *c)
{
    defer_start(c->h->loop, &c->turn, on_finish_turn);
}

void container_changed(struct container *c)
{
    if (c->h->is_leaving && is_up(c)) {
        leave_soon(c);
        return;
    }
    if (!c->waits || c->n_execs > 0 || c->keeper)
        return;
    c->waits = false;
    timer_stop(c->h->loop, &c->late);
    finish_later(c);
}

static void end_left(struct container *c);

static void on_crun_delete(struct process *p, int status, void *arg)
{
    struct container *c = arg;
    (void)p;
    c->crun = NULL;
    timer_stop(c->h->loop, &c->late);
    if (status >= 0) {
        if (container_crun_has_record(c)) /* its control group ends what runs, if anything does */
            log_warn("container not cleaned up", "name=%s status=%d", c->name, status);
        finish(c);
        return;
    }
    if (++c->delete_tries == DELETE_TRIES) {
        log_warn("container not cleaned up", "name=%s signal=%d", c->name, -status);
        c->was_made = false; /* its record stays */
    }
    end_left(c);
}

/* crun delete takes away its control group and its record. */
static void delete (struct container *c)
{
    struct err err = { 0 };
    const char *const words[] = { "delete", "--force", c->name, NULL };
    if (c->was_made && container_crun_spawn(c, words, c->h->null_fd, c->h->null_fd, c->h->null_fd,
                                            on_crun_delete, &err) == 0)
        return;
    if (err.code)
        log_warn("container not cleaned up", "name=%s error=\"%s\"", c->name, err_text(&err));
    finish_later(c);
}

static void on_left_exit(struct process *p, int status, void *arg)
{
    struct container *c = arg;
    (void)p;
    (void)status;
    if (--c->n_left == 0)
        end_left(c); /* what they forked while they were looked for */
}

static void on_left_pause(struct timer *t)
{
    end_left(container_of(t, struct container, late));
}

/* What a crun that was killed has left running; then its record. */
static void end_left(struct container *c)
{
    if (c->left_looks == LEFT_LOOKS) {
        log_warn("processes of a container may be left", "name=%s", c->name);
        delete (c); /* its control group ends them */
        return;
    }
    c->left_looks++;
    switch (container_crun_end_left(c, on_left_exit)) {
    case CONTAINER_CRUN_LEFT_NONE:
        delete (c);
        break;
    case CONTAINER_CRUN_LEFT_ENDING: /* on_left_exit() */
        break;
    case CONTAINER_CRUN_LEFT_UNCERTAIN:
        timer_start(c->h->loop, &c->late, LEFT_PAUSE_MS, on_left_pause);
        break;
    }
}

/* Its program does not run, or was never known. */
static void clean(struct container *c)
{
    list_remove(&c->queued);
    container_network_cancel(&c->wait);
    defer_cancel(&c->turn);
    sm_move(&c->sm, CONTAINER_CLEANING);
    container_execs_kill(c);
    container_streams_close(c);
    if (c->was_cut)
        end_left(c);
    else
        delete (c);
}

static void on_group_pause(struct timer *t)
{
    finish(container_of(t, struct container, late));
}

static void on_keeper_late(struct timer *t)
{
    struct container *c = container_of(t, struct container, late);
    process_signal(c->keeper, SIGKILL);
}

static void finish(struct container *c)
{
    struct container_host *h = c->h;
    bool is_empty = true;
    c->waits = c->n_execs > 0 || c->keeper;
    if (c->waits) {
        container_execs_stop(c);
        if (c->keeper) /* that of a container that was not started ends by itself, after all else */
            timer_start(h->loop, &c->late, KEEPER_END_MS, on_keeper_late);
        return;
    }
    container_crun_reap(c);
    if (container_cgroup_remove(&h->cgroups, c->group) < 0) {
        if (c->group_tries++ < GROUP_TRIES) {
            timer_start(h->loop, &c->late, GROUP_PAUSE_MS, on_group_pause);
            return;
        }
        log_warn("control group not removed", "name=%s", c->group);
        is_empty = false; /* of processes, for all we know */
    }
    const struct container_events *events = c->events;
    void *arg = c->arg;
    if (c->network && is_empty)
        container_network_put(h->networks, c->network);
    else if (c->network)
        container_network_drop(h->networks, c->network);
    container_files_remove(c);
    container_free(c);
    if (events && events->on_removed)
        events->on_removed(arg);
    container_host_check_closed(h);
}

/* ---- one that runs already ---- */

static void on_ended_before(struct defer *d)
{
    collect(container_of(d, struct container, turn));
}

/* Its first process has ended: if its keeper has written how, it is as if that came now. */
static bool has_ended_well(const struct container *c)
{
    scoped(free_scoped) char *path = xasprintf("%s/exit", c->dir);
    return c->keeper || access(path, F_OK) == 0;
}

int container_adopt(struct container *c, const struct container_known *k, struct err *err)
{
    struct loop *loop = c->h->loop;
    c->has_keeper = k->keeper > 0;
    c->has_terminal = k->has_terminal;
    c->input = k->input;
    c->wall_started_ms = k->wall_started_ms;
    c->end_status = PROCESS_UNKNOWN;
    if (c->has_keeper)
        (void)process_watch(loop, k->keeper, k->keeper_ticks, false, on_keeper_exit, c, &c->keeper,
                            err);
    int r = process_watch(loop, k->pid, k->ticks, false, on_init_exit, c, &c->init, err);
    if (r < 0 && !has_ended_well(c))
        return r;
    c->pid = r < 0 ? 0 : k->pid;
    container_streams_adopt(c, k->keeper);
    c->was_made = c->is_reported = true;
    c->sm.at = CONTAINER_RUNNING; /* where the process before us had it */
    if (r < 0) {
        c->wall_ended_ms = clock_wall_ms();
        defer_start(loop, &c->turn, on_ended_before);
    }
    return 0;
}

void container_drop(struct container *c)
{
    c->is_stopped = c->was_made = true;
    c->is_reported = false;
    if (!c->keeper)
        container_crun_kill_keeper(c);
    if (c->init)
        end(c);
    else
        clean(c);
}
