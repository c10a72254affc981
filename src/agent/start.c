/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of containers. A start takes these steps, each of which may fail:
 *
 *     environment -> root file system (job) -> mounts of volumes (jobs) -> configuration -> runtime
 *
 * Once the runtime has it, the container's own events lead on.
 */
#include "agent/agent_impl.h"
#include "agent/config.h"
#include "agent/etc_files.h"
#include "agent/hook.h"
#include "agent/log/podlog_writer.h"
#include "agent/logs.h"
#include "agent/pause.h"
#include "agent/root_fs.h"
#include "agent/run_record.h"
#include "agent/termination.h"
#include "agent/users.h"
#include "base/clock.h"
#include "base/sys.h"
#include "codec/digest.h"
#include "container/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECCOMP_MAX = 1 << 20 }; /* bytes of a profile */

/* What a start needs until the runtime has the container. */
struct agent_starting {
    struct agent_run *run;
    struct arena arena;
    struct pod_environment env;
    struct container_user user;
    bool has_user;
    bool waits_for_mounts; /* their callback still comes */
    struct volume_mount *mounts;
    size_t n_mounts;
};

/* The container has ended; what it printed last is being written. */
struct agent_ending {
    struct agent_run *run;
    struct container_end end; /* without its text */
    struct timer late;
    bool is_removed; /* meanwhile: agent_run.c is NULL */
};

/* ---------------------------------------------------------------- records */

void agent_run_id(const struct agent_pod *p, struct str container, uint32_t restarts,
                  char ret[AGENT_ID_SIZE])
{
    uint8_t sum[SHA256_BYTES];
    scoped(free_scoped) char *text =
        xasprintf("%s/" STR_FMT "/%u", p->uid, STR_ARG(container), restarts);
    sha256_of(str_of(text), sum);
    for (unsigned i = 0; i < (AGENT_ID_SIZE - 1) / 2; i++)
        (void)snprintf(ret + 2 * i, 3, "%02x", sum[i]);
}

static struct agent_run *new_run(struct agent_pod *p, const char *container, uint32_t restarts)
{
    struct agent_run *r = xnew(struct agent_run);
    r->agent = p->agent;
    r->pod = p;
    r->pod_uid = xstrdup(p->uid);
    r->container_name = xstrdup(container);
    r->restarts = restarts;
    r->dir = xasprintf("%s/containers/%s-%u", p->dir, container, restarts);
    agent_run_id(p, str_of(container), restarts, r->id);
    list_init(&r->attached);
    list_push_back(&p->runs, &r->node);
    return r;
}

/* NULL: the life cycle does not count this run. */
static struct agent_container *owner_of(const struct agent_run *r)
{
    if (!r->pod)
        return NULL;
    struct agent_container *c = agent_pod_container(r->pod, str_of(r->container_name));
    return c && c->run == r ? c : NULL;
}

static size_t index_of(const struct agent_run *r)
{
    return pod_life_find(&r->pod->life, str_of(r->container_name));
}

static void free_starting(struct agent_run *r)
{
    struct agent_starting *s = take_ptr(&r->starting);
    if (!s)
        return;
    if (s->waits_for_mounts) {
        s->run = NULL; /* freed by the callback */
        return;
    }
    arena_fini(&s->arena);
    free(s);
}

static void forget_ending(struct agent_run *r)
{
    struct agent_ending *e = take_ptr(&r->ending);
    if (!e)
        return;
    timer_stop(r->agent->loop, &e->late);
    free(e);
}

/* The life cycle does not count this run any more. */
static void let_go(struct agent_run *r)
{
    struct agent_container *c = owner_of(r);
    if (!c)
        return;
    if (c->hook)
        agent_hook_cancel(c->hook);
    c->run = NULL;
}

void agent_run_free(struct agent_run *r)
{
    free_starting(r);
    forget_ending(r);
    agent_attach_end(r, 0);
    defer_cancel(&r->look);
    if (r->mounting)
        agent_root_fs_forget(r->mounting);
    if (r->probes)
        container_probes_close(r->probes);
    podlog_writer_close(r->log);
    if (r->image && r->agent->is_stopping && r->c)
        r->agent->images.ops->leave(r->agent->images.arg, r->image);
    else if (r->image)
        r->agent->images.ops->put(r->agent->images.arg, r->image);
    let_go(r);
    list_remove(&r->node);
    pod_container_end_fini(&r->end);
    free(r->pod_uid);
    free(r->container_name);
    free(r->image_name);
    free(r->image_id);
    free(r->dir);
    free(r);
}

/* ---------------------------------------------------------------- the end of a run */

static void on_root_removed(void *arg)
{
    struct agent_run *r = arg;
    struct agent *a = r->agent;
    struct agent_pod *p = r->pod;
    agent_run_free(r);
    if (!p && a->is_stopping)
        agent_part_stopped(a);
    else if (!p && a->is_synced)
        agent_remove_orphans(a);
    if (!p)
        return;
    if (p->is_leaving) {
        agent_pod_left(p);
        return;
    }
    agent_start_look(p);
    if (p->prepare.at == AGENT_PREPARE_REMOVING)
        agent_tear_down(p);
    agent_pod_look(p);
}

/* The container is gone, or never was. */
static void remove_rest(struct agent_run *r)
{
    free_starting(r);
    r->is_removing = true;
    if (r->probes)
        container_probes_close(take_ptr(&r->probes));
    podlog_writer_close(take_ptr(&r->log));
    scoped(free_scoped) char *place = agent_users_root(r->agent, r->id);
    agent_root_fs_remove(r->agent->loop, r->dir, place, on_root_removed, r);
}

static void fail_start(struct agent_run *r, const char *reason, const struct err *err)
{
    struct agent_pod *p = r->pod;
    struct pod_now now = agent_now(p->agent);
    size_t i = index_of(r);
    agent_event(p, r->container_name, true, "Failed", "Error: %s", err_text(err));
    let_go(r);
    if (i != SIZE_MAX)
        pod_life_started(&p->life, i, err->code, reason, err_text(err), NULL, &now);
    remove_rest(r);
    agent_pod_look(p);
}

/* ---------------------------------------------------------------- events of the container */

static void on_probe(void *arg, const struct probe_report *report)
{
    struct agent_run *r = arg;
    struct agent_pod *p = r->pod;
    static const enum pod_probe_kind kinds[] = { [PROBE_LIVENESS] = POD_PROBE_LIVENESS,
                                                 [PROBE_READINESS] = POD_PROBE_READINESS,
                                                 [PROBE_STARTUP] = POD_PROBE_STARTUP };
    struct pod_now now = agent_now(p->agent);
    size_t i = index_of(r);
    if (report->outcome == PROBE_FAILURE || report->outcome == PROBE_UNKNOWN)
        agent_event(p, r->container_name, true, "Unhealthy", "%s probe %s: " STR_FMT,
                    probe_kind_name(report->kind),
                    report->outcome == PROBE_FAILURE ? "failed" : "errored",
                    STR_ARG(report->message));
    if (report->must_end)
        agent_event(p, r->container_name, false, "Killing",
                    "Container %s failed %s probe, will be restarted", r->container_name,
                    report->kind == PROBE_STARTUP ? "startup" : "liveness");
    if (i != SIZE_MAX && (report->has_changed || report->must_end) &&
        pod_life_probed(&p->life, i, kinds[report->kind], report->value, &now))
        agent_pod_look(p);
}

static uint16_t port_of(const struct pod_container *c, const struct pod_port_ref *ref)
{
    if (!ref->name.n)
        return (uint16_t)ref->number;
    for (size_t i = 0; i < c->n_ports; i++) {
        if (str_eq(c->ports[i].name, ref->name))
            return (uint16_t)c->ports[i].container_port;
    }
    return 0;
}

void agent_probe_spec(struct arena *a, const struct pod_container *c, const struct pod_probe *from,
                      struct probe_spec *to)
{
    static const enum probe_method methods[] = { [POD_ACTION_EXEC] = PROBE_EXEC,
                                                 [POD_ACTION_HTTP] = PROBE_HTTP,
                                                 [POD_ACTION_TCP] = PROBE_TCP,
                                                 [POD_ACTION_GRPC] = PROBE_GRPC };
    const struct pod_action *action = &from->action;
    struct probe_header *headers = arena_new_n(a, struct probe_header, action->n_headers + 1);
    for (size_t i = 0; i < action->n_headers; i++)
        headers[i] = (struct probe_header){ action->headers[i].name, action->headers[i].value };
    *to = (struct probe_spec){ .method = methods[action->kind],
                               .initial_delay_s = (uint32_t)from->initial_delay_s,
                               .period_s = (uint32_t)from->period_s,
                               .timeout_s = (uint32_t)from->timeout_s,
                               .success_threshold = (uint32_t)from->success_threshold,
                               .failure_threshold = (uint32_t)from->failure_threshold,
                               .grace_s = from->termination_grace_s,
                               .command = action->command,
                               .n_command = action->n_command,
                               .host = action->host,
                               .port = port_of(c, &action->port),
                               .is_https = str_ieq(action->scheme, STR("HTTPS")),
                               .path = action->path,
                               .headers = headers,
                               .n_headers = action->n_headers,
                               .service = action->service };
}

static void start_probes(struct agent_run *r, const struct pod_container_life *life,
                         bool is_adopted)
{
    const struct pod_container *c = life->spec;
    struct agent_pod *p = r->pod;
    struct arena a = { 0 };
    struct probe_spec specs[PROBE_KINDS];
    const struct pod_probe *const from[PROBE_KINDS] = { [PROBE_LIVENESS] = c->liveness,
                                                        [PROBE_READINESS] = c->readiness,
                                                        [PROBE_STARTUP] = c->startup };
    struct container_probes_opts opts = {
        .address = p->facts.n_pod_ips ? p->facts.pod_ips[0] : STR(""),
        .container = r,
        .started_ms = loop_now_ms(p->agent->loop),
        .is_adopted = is_adopted,
        .was_ready = is_adopted && life->is_ready,
        .was_started = is_adopted && life->is_started,
        .on_result = on_probe,
        .arg = r,
    };
    if (!c->liveness && !c->readiness && !c->startup)
        return;
    for (unsigned i = 0; i < PROBE_KINDS; i++) {
        if (!from[i] || from[i]->action.kind == POD_ACTION_NONE)
            continue;
        agent_probe_spec(&a, c, from[i], &specs[i]);
        opts.specs[i] = &specs[i];
    }
    r->probes = container_probes_start(p->agent->probers, &opts);
    arena_fini(&a);
}

void agent_run_probe(struct agent_run *r, size_t i, bool is_adopted)
{
    const struct pod_container_life *life = &r->pod->life.containers[i];
    if (!r->probes && pod_container_is_probed(life))
        start_probes(r, life, is_adopted);
    else if (r->probes && !pod_container_runs(life))
        container_probes_close(take_ptr(&r->probes));
    else if (r->probes && !pod_container_is_probed(life))
        container_probes_end_liveness(r->probes); /* it is being stopped */
}

static void on_started(void *arg, int code, const struct err *err)
{
    struct agent_run *r = arg;
    struct agent_pod *p = r->pod;
    struct pod_now now = agent_now(p->agent);
    size_t i = index_of(r);
    scoped(free_scoped) char *id = xasprintf("dormouse://%s", r->id);
    free_starting(r);
    if (i == SIZE_MAX || !owner_of(r))
        return;
    if (code < 0) {
        agent_event(p, r->container_name, true, "Failed", "Error: %s", err_text(err));
        let_go(r);
        pod_life_started(&p->life, i, code, "StartError", err_text(err), id, &now);
    } else {
        r->is_running = true;
        pod_life_started(&p->life, i, 0, NULL, NULL, id, &now);
        agent_event(p, r->container_name, false, "Started", "Started container %s",
                    r->container_name);
    }
    agent_run_record_write(p);
    agent_pod_look(p);
}

/* What it has printed is in its log. */
static void report_end(struct agent_run *r, const struct container_end *end)
{
    struct agent_pod *p = r->pod;
    struct pod_now now = agent_now(r->agent);
    struct pod_container_end e = { 0 };
    if (!p) {
        agent_termination_read(r, NULL, end, &r->end);
        r->has_end = true;
        return;
    }
    size_t i = index_of(r);
    if (i == SIZE_MAX || !owner_of(r))
        return;
    agent_termination_read(r, p->life.containers[i].spec, end, &e);
    let_go(r);
    pod_life_ended(&p->life, i, &e, &now);
    agent_run_record_write(p);
    agent_pod_look(p);
}

/* Its pod has to know how it ended: agent_run_claim() or agent_run_drop() removes it then. */
static void remove_unless_unknown(struct agent_run *r)
{
    if (r->pod || !r->has_end || r->is_stopped)
        remove_rest(r);
}

void agent_run_end_now(struct agent_run *r)
{
    if (!r->ending)
        return;
    struct container_end end = r->ending->end;
    bool is_removed = r->ending->is_removed;
    forget_ending(r);
    report_end(r, &end);
    if (is_removed)
        remove_unless_unknown(r);
}

static void on_log_written(void *arg)
{
    agent_run_end_now(arg);
}

static void on_log_late(struct timer *t)
{
    struct agent_run *r = container_of(t, struct agent_ending, late)->run;
    log_warn("a container's end is reported before its log is written", "log=%s",
             podlog_writer_path(r->log));
    agent_run_end_now(r);
}

static void on_ended(void *arg, const struct container_end *end)
{
    struct agent_run *r = arg;
    agent_attach_end(r, end->status);
    if (!r->log || !podlog_writer_flush(r->log, on_log_written, r)) {
        report_end(r, end);
        return;
    }
    r->ending = xnew(struct agent_ending);
    r->ending->run = r;
    r->ending->end = *end;
    r->ending->end.text = NULL;
    timer_start(r->agent->loop, &r->ending->late, AGENT_LOG_END_MS, on_log_late);
}

/* Stopped before it ran: nothing else has said that it ended. */
static void report_unstarted(struct agent_run *r)
{
    struct pod_now now = agent_now(r->agent);
    struct pod_container_end e = { .exit_code = 137 };
    if (!owner_of(r))
        return;
    size_t i = index_of(r);
    let_go(r);
    if (i == SIZE_MAX)
        return;
    pod_life_ended(&r->pod->life, i, &e, &now);
    agent_pod_look(r->pod);
}

static void on_removed(void *arg)
{
    struct agent_run *r = arg;
    r->c = NULL;
    if (r->ending) {
        r->ending->is_removed = true;
        return;
    }
    report_unstarted(r);
    remove_unless_unknown(r);
}

static void on_line(void *arg, enum container_stream stream, struct str line, bool has_more)
{
    struct agent_run *r = arg;
    if (r->log)
        podlog_writer_add(r->log, stream == CONTAINER_STDOUT ? PODLOG_STDOUT : PODLOG_STDERR, line,
                          has_more);
}

static void on_log_full(void *arg, bool is_full)
{
    const struct agent_run *r = arg;
    if (r->c)
        container_pause_output(r->c, is_full);
}

static void on_output(void *arg, enum container_stream stream, struct str bytes)
{
    agent_attach_output(arg, stream, bytes);
}

static void on_room(void *arg)
{
    agent_attach_room(arg);
}

const struct container_events agent_run_events = {
    .on_started = on_started,
    .on_ended = on_ended,
    .on_removed = on_removed,
    .on_line = on_line,
    .on_output = on_output,
    .on_room = on_room,
};

/* ---------------------------------------------------------------- start: the runtime */

static int open_writer(struct agent_run *r, const char *path, struct err *err)
{
    const struct podlog_writer_opts opts = { .loop = r->agent->loop,
                                             .jobs = r->agent->log_jobs,
                                             .path = path,
                                             .on_full = on_log_full,
                                             .arg = r };
    return podlog_writer_open(&opts, &r->log, err);
}

static int open_log(struct agent_run *r, struct err *err)
{
    scoped(free_scoped) char *path =
        xasprintf("%s/%s/%u.log", r->pod->log_dir, r->container_name, r->restarts);
    agent_logs_drop_old(r->pod, r->container_name, r->restarts);
    return open_writer(r, path, err);
}

static int make_termination_log(struct agent_run *r, char **ret, struct err *err)
{
    char *path = *ret = xasprintf("%s/termination-log", r->dir);
    scoped(fd_scoped) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || fchmod(fd, 0666) < 0)
        return err_sys(err, -errno, "create %s", path);
    return 0;
}

/* The namespace of the pod, or of the container that an ephemeral one looks into; NULL: its own. */
static const char *pid_namespace_of(struct agent_starting *s, const struct pod_container *c)
{
    if (s->run->pod->pause)
        return agent_pause_path(s->run->pod, &s->arena);
    struct agent_container *target =
        c->target.n ? agent_pod_container(s->run->pod, c->target) : NULL;
    int pid = target && target->run && target->run->c ? container_pid(target->run->c) : 0;
    return pid ? arena_printf(&s->arena, "/proc/%d/ns/pid", pid) : NULL;
}

/* The profile of seccompProfile Localhost; empty: another type. */
static int read_seccomp(const struct agent_starting *s, const struct pod_container *c,
                        struct buf *to, struct err *err)
{
    const struct agent_pod *p = s->run->pod;
    const struct pod_seccomp *own = &c->security.seccomp, *of_pod = &p->spec->security.seccomp;
    const struct pod_seccomp *used = own->type.n ? own : of_pod;
    if (!str_is(used->type, "Localhost") || c->security.privileged == 1)
        return 0;
    scoped(free_scoped) char *path =
        xasprintf("%s/" STR_FMT, p->agent->seccomp_dir, STR_ARG(used->profile));
    if (str_find(used->profile, STR("..")) >= 0)
        return err_set(err, E_INVALID, "the seccomp profile '%s' is outside of its directory",
                       path);
    int r = sys_read_file(AT_FDCWD, path, to, err);
    return r < 0 ? err_ctx(err, r, "seccomp profile") : 0;
}

static int make_config(struct agent_starting *s, const struct pod_container *c, const char *log,
                       struct buf *to, struct agent_config_made *ret, struct err *err)
{
    struct agent_run *r = s->run;
    struct agent_pod *p = r->pod;
    struct pod_files_hostname name;
    scoped(free_scoped) char *place = p->users_base ? agent_users_root(p->agent, r->id) : NULL;
    const struct container_machine machine = container_host_machine(p->agent->containers);
    scoped(buf_fini_scoped) struct buf seccomp = BUF_INIT(SECCOMP_MAX);
    struct container_devices devices = { 0 };
    int code = agent_etc_hostname(p, &name, err);
    code = code < 0 ? code : read_seccomp(s, c, &seccomp, err);
    if (code >= 0 && c->security.privileged == 1)
        code = container_devices_find("/dev", &devices, err);
    if (code < 0)
        return code;
    const struct agent_config_in in = {
        .pod = p->spec,
        .container = c,
        .facts = &p->facts,
        .env = &s->env,
        .image_config = r->image->config,
        .image_program = r->image->n_program,
        .image_user = s->has_user ? &s->user : NULL,
        .root = place ? place : arena_printf(&s->arena, "%s/root", r->dir),
        .etc = arena_printf(&s->arena, "%s/etc", p->dir),
        .termination_log = log,
        .host_name = name.name,
        .mounts = s->mounts,
        .n_mounts = s->n_mounts,
        .machine = &machine,
        .memory_bytes = p->agent->memory_bytes,
        .oom_adj_min = p->agent->oom_adj_min,
        .seccomp = buf_str(&seccomp),
        .devices = devices.p,
        .n_devices = devices.n,
        .pid = pid_namespace_of(s, c),
        .ipc = p->ipc_at == AGENT_IPC_MADE ? arena_printf(&s->arena, "%s/ipc", p->dir) : NULL,
        .shm = p->ipc_at == AGENT_IPC_MADE ? arena_printf(&s->arena, "%s/shm", p->dir) : NULL,
        .user = agent_users_path(p, &s->arena),
        .users_base = p->users_base,
        .n_users = AGENT_USERS_RANGE,
    };
    code = agent_config_make(&s->arena, &in, to, ret, err);
    container_devices_fini(&devices);
    return code;
}

/* For the next process. */
static struct str make_note(struct agent_run *r, struct arena *a)
{
    const struct pod_container_life *c = &r->pod->life.containers[index_of(r)];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(CONTAINER_NOTE_MAX);
    struct json *note = json_new_object(a);
    json_set_str(a, note, "pod", str_of(r->pod->uid));
    json_set_str(a, note, "container", str_of(r->container_name));
    json_set_int(a, note, "restarts", r->restarts);
    json_set_str(a, note, "image", str_of(r->image->dir));
    json_set_str(a, note, "imageName", str_of(c->image ? c->image : ""));
    json_set_str(a, note, "imageID", str_of(c->image_id ? c->image_id : ""));
    json_set_str(a, note, "log", str_of(podlog_writer_path(r->log)));
    json_set_int(a, note, "startedMs", clock_wall_ms());
    (void)json_write(&text, note);
    return str_copy_arena(a, buf_str(&text));
}

static int start_it(struct agent_starting *s, const struct pod_container *c, struct err *err,
                    const char **ret_reason)
{
    struct agent_run *r = s->run;
    struct agent_pod *p = r->pod;
    scoped(buf_fini_scoped) struct buf config = BUF_INIT(CONTAINER_CONFIG_MAX);
    scoped(free_scoped) char *log = NULL;
    struct agent_config_made made;
    int code = make_termination_log(r, &log, err);
    code = code < 0 ? code : make_config(s, c, log, &config, &made, err);
    *ret_reason = "CreateContainerConfigError";
    if (code < 0)
        return code;
    *ret_reason = "CreateContainerError";
    code = open_log(r, err);
    if (code < 0)
        return code;
    const struct container_opts opts = { .name = r->id,
                                         .config = buf_str(&config),
                                         .uid = made.uid,
                                         .gid = made.gid,
                                         .pod = p->group,
                                         .network = p->network ? pod_network_netns(p->network)
                                                               : "/proc/self/ns/net",
                                         .note = make_note(r, &s->arena),
                                         .stop_signal = made.stop_signal,
                                         .has_keeper = true,
                                         .has_terminal = c->has_tty,
                                         .input = c->has_tty || !c->has_stdin ? CONTAINER_INPUT_NONE
                                                  : c->stdin_once             ? CONTAINER_INPUT_ONCE
                                                                  : CONTAINER_INPUT_OPEN,
                                         .events = &agent_run_events,
                                         .arg = r };
    return container_start(p->agent->containers, &opts, &r->c, err);
}

static void start_now(struct agent_starting *s)
{
    struct agent_run *r = s->run;
    size_t i = index_of(r);
    struct err err = { 0 };
    const char *reason = NULL;
    if (r->is_stopped) {
        report_unstarted(r);
        remove_rest(r);
        return;
    }
    if (i == SIZE_MAX || start_it(s, r->pod->life.containers[i].spec, &err, &reason) < 0) {
        fail_start(r, reason ? reason : "CreateContainerError", &err);
        return;
    }
    agent_event(r->pod, r->container_name, false, "Created", "Created container: %s",
                r->container_name);
}

/* ---------------------------------------------------------------- start: files and environment */

static void on_mounts(void *arg, int code, const struct volume_mount *mounts, size_t n,
                      const struct err *err)
{
    struct agent_starting *s = arg;
    s->waits_for_mounts = false;
    if (!s->run) {
        arena_fini(&s->arena);
        free(s);
        return;
    }
    if (code < 0) {
        fail_start(s->run, "CreateContainerConfigError", err);
        return;
    }
    s->mounts = arena_new_n(&s->arena, struct volume_mount, n + 1);
    s->n_mounts = n;
    for (size_t i = 0; i < n; i++) {
        s->mounts[i] = mounts[i];
        s->mounts[i].source = str_copy_arena(&s->arena, mounts[i].source);
        s->mounts[i].target = str_copy_arena(&s->arena, mounts[i].target);
    }
    start_now(s);
}

static void on_root(void *arg, int code, const struct container_user *user, const struct err *err)
{
    struct agent_run *r = arg;
    struct agent_starting *s = r->starting;
    struct err own = { 0 };
    size_t i = index_of(r);
    r->mounting = NULL;
    if (code < 0 || i == SIZE_MAX) {
        fail_start(r, "CreateContainerError", code < 0 ? err : &own);
        return;
    }
    s->user = *user;
    const struct pod_container *c = r->pod->life.containers[i].spec;
    if (c->n_mounts == 0) {
        start_now(s);
        return;
    }
    s->waits_for_mounts = true;
    code = volume_mounts_start(r->pod->volumes, c, &s->env, on_mounts, s, &own);
    if (code < 0) {
        s->waits_for_mounts = false;
        fail_start(r, "CreateContainerConfigError", &own);
    }
}

static int make_env(struct agent_starting *s, const struct pod_container *c, struct err *err)
{
    struct agent_pod *p = s->run->pod;
    struct pod_env_input in = {
        .pod = p->spec, .container = c, .facts = &p->facts, .objects = agent_objects_table(p->agent)
    };
    in.n_services =
        agent_services_list(p->agent->services, &s->arena, str_of(p->namespace), &in.services);
    int r = pod_env_make(&s->arena, &in, &s->env, err);
    for (size_t i = 0; r >= 0 && i < s->env.n_warnings; i++)
        agent_event(p, s->run->container_name, true, "InvalidEnvironmentVariableNames", STR_FMT,
                    STR_ARG(s->env.warnings[i]));
    return r;
}

/* An earlier try, whose files are still being removed. */
static bool is_dir_taken(const struct agent_run *r)
{
    list_each (node, &r->pod->runs) {
        const struct agent_run *other = list_entry(node, struct agent_run, node);
        if (other != r && !strcmp(other->dir, r->dir))
            return true;
    }
    return false;
}

static void begin(struct agent_run *r)
{
    struct agent_starting *s = r->starting;
    struct agent_pod *p = r->pod;
    size_t i = index_of(r);
    struct err err = { 0 };
    r->is_waiting = false;
    if (r->is_stopped || i == SIZE_MAX) {
        start_now(s); /* ends it */
        return;
    }
    const struct pod_container *c = p->life.containers[i].spec;
    if (make_env(s, c, &err) < 0) {
        fail_start(r, "CreateContainerConfigError", &err);
        return;
    }
    scoped(free_scoped) char *place = agent_users_root(p->agent, r->id);
    const char *user = agent_config_user(&s->arena, p->spec, c, &s->has_user);
    const struct agent_root_fs_opts opts = {
        .loop = p->agent->loop,
        .image_root = arena_printf(&s->arena, "%s/rootfs", r->image->dir),
        .dir = r->dir,
        .user = user,
        .finds_user = s->has_user,
        .user_namespace = agent_users_path(p, &s->arena),
        .users_base = p->users_base,
        .place = p->users_base ? place : NULL,
        .done = on_root,
        .arg = r,
    };
    r->mounting = agent_root_fs_make(&opts);
}

static void on_look(struct defer *d)
{
    struct agent_run *r = container_of(d, struct agent_run, look);
    struct err err = { 0 };
    if (r->is_stopped) {
        begin(r);
        return;
    }
    if (is_dir_taken(r))
        return;
    if (agent_prepare_complete(r->pod, &err) < 0) {
        r->is_waiting = false;
        fail_start(r, "CreateContainerConfigError", &err);
    } else if (agent_prepare_is_settled(r->pod)) {
        begin(r);
    }
}

void agent_start_look(struct agent_pod *p)
{
    list_each (node, &p->runs) {
        struct agent_run *r = list_entry(node, struct agent_run, node);
        if (r->is_waiting)
            defer_start(p->agent->loop, &r->look, on_look);
    }
}

void agent_start_container(struct agent_pod *p, size_t i)
{
    const struct pod_container_life *life = &p->life.containers[i];
    struct agent_container *c = agent_pod_container(p, life->name);
    assert(c && c->image && !c->run);
    struct agent_run *r = new_run(p, c->name, life->restarts);
    r->starting = xnew(struct agent_starting);
    r->starting->run = c->run = r;
    r->image = take_ptr(&c->image);
    r->is_waiting = true;
    agent_start_look(p);
}

void agent_run_stop(struct agent_run *r, uint64_t grace_ms)
{
    r->is_stopped = true;
    if (r->is_waiting)
        agent_start_look(r->pod);
    if (r->c)
        container_stop(r->c, (uint32_t)MIN(grace_ms, UINT32_MAX));
}

/* ---------------------------------------------------------------- of an earlier process */

struct agent_run *agent_run_find(struct agent *a, struct container *c,
                                 const struct container_left *left)
{
    const struct json *note = left->note;
    struct agent_run *r = xnew(struct agent_run);
    struct err err = { 0 };
    *r = (struct agent_run){ .agent = a,
                             .pod_uid = str_dup(json_get_str(note, "pod")),
                             .container_name = str_dup(json_get_str(note, "container")),
                             .restarts = (uint32_t)json_int_or(json_getc(note, "restarts"), 0),
                             .image_name = str_dup(json_get_str(note, "imageName")),
                             .image_id = str_dup(json_get_str(note, "imageID")),
                             .started_ms = json_int_or(json_getc(note, "startedMs"), 0),
                             .c = c,
                             .is_running = left->is_adopted,
                             .was_adopted = left->is_adopted };
    list_init(&r->attached);
    (void)snprintf(r->id, sizeof r->id, "%s", container_name(c));
    r->dir = xasprintf("%s/%s/containers/%s-%u", a->pods_dir, r->pod_uid, r->container_name,
                       r->restarts);
    r->image = a->images.ops->adopt(a->images.arg, json_get_str(note, "image"));
    scoped(free_scoped) char *log = str_dup(json_get_str(note, "log"));
    if (left->is_adopted && open_writer(r, log, &err) < 0)
        log_warn("a container has no log", "error=\"%s\"", err_text(&err));
    return r;
}

/* It ended while no process watched it, or before its pod was known. */
static void restore_end(struct agent_run *r, struct agent_pod *p, size_t i)
{
    struct pod_now now = agent_now(p->agent);
    if (!r->has_end) {
        r->end = (struct pod_container_end){ .exit_code = 137,
                                             .reason = "ContainerStatusUnknown",
                                             .started_ms = r->started_ms };
        r->end.message = xstrdup("The container ended while the agent did not run");
    }
    if (!r->end.id)
        r->end.id = xasprintf("dormouse://%s", r->id);
    pod_life_restore_ended(&p->life, i, r->restarts, &r->end, &now);
}

/* What its probes had found, as it was reported. */
static void restore_probed(struct agent_run *r, size_t i, const char *id, const struct json *status)
{
    static const char *const lists[] = { "containerStatuses", "initContainerStatuses" };
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        json_each (s, json_getc(status, lists[k])) {
            if (str_is(json_get_str(s, "containerID"), id))
                pod_life_restore_probed(&r->pod->life, i, json_bool(json_getc(s, "started")),
                                        json_bool(json_getc(s, "ready")));
        }
    }
}

/* It has waited for that. */
static void remove_if_ended(struct agent_run *r)
{
    if (!r->c && !r->ending && !r->is_removing)
        remove_rest(r);
}

void agent_run_claim(struct agent_run *r, struct agent_pod *p, const struct json *status)
{
    size_t i = pod_life_find(&p->life, str_of(r->container_name));
    struct agent_container *c = agent_pod_container(p, str_of(r->container_name));
    list_remove(&r->node);
    list_push_back(&p->runs, &r->node);
    r->pod = p;
    if (i == SIZE_MAX || pod_at(&p->life) != POD_ACTIVE ||
        pod_container_at(&p->life.containers[i]) != POD_CONTAINER_WAITING) {
        if (r->c)
            container_stop(r->c, 0);
    } else if (!r->was_adopted || r->has_end) {
        restore_end(r, p, i);
    } else {
        scoped(free_scoped) char *id = xasprintf("dormouse://%s", r->id);
        c->run = r;
        pod_life_restore_running(&p->life, i, r->restarts, r->started_ms, id, r->image_name,
                                 r->image_id);
        restore_probed(r, i, id, status);
        agent_run_probe(r, i, true);
    }
    remove_if_ended(r);
}

void agent_run_drop(struct agent_run *r)
{
    r->is_stopped = true;
    if (r->c)
        container_stop(r->c, 0);
    else
        remove_if_ended(r);
}
