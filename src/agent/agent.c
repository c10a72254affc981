/* SPDX-License-Identifier: Apache-2.0 */
/* The node agent as a whole: start, the Pods of the node, recovery, stop. */
#include "agent/agent_impl.h"
#include "agent/cluster_dns.h"
#include "agent/evict.h"
#include "agent/exec.h"
#include "agent/image_gc.h"
#include "agent/log/podlog_jobs.h"
#include "agent/logs.h"
#include "agent/mirror.h"
#include "agent/network/node_route.h"
#include "agent/pause.h"
#include "agent/pod/admission.h"
#include "agent/proxy/service_proxy.h"
#include "agent/pull.h"
#include "agent/routes.h"
#include "agent/run_dirs.h"
#include "agent/run_record.h"
#include "agent/shutdown.h"
#include "agent/token.h"
#include "agent/users.h"
#include "base/clock.h"
#include "base/sys.h"
#include "client/event_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* ---------------------------------------------------------------- objects of pods */

static void end_reading(struct defer *d)
{
    struct agent *a = container_of(d, struct agent, read_end);
    arena_fini(&a->reading);
}

const struct json *agent_objects_read(struct agent *a, const struct agent_object *o)
{
    defer_start(a->loop, &a->read_end, end_reading);
    return agent_object_read(o, &a->reading);
}

static const struct json *get_object(void *arg, enum pod_object_kind kind, struct str namespace,
                                     struct str name)
{
    struct agent *a = arg;
    const struct agent_object *o = agent_objects_find(
        a->objects, kind == POD_OBJECT_SECRET ? AGENT_SECRET : AGENT_CONFIG_MAP, namespace, name);
    return o ? agent_objects_read(a, o) : NULL;
}

struct pod_objects agent_objects_table(struct agent *a)
{
    return (struct pod_objects){ .get = get_object, .arg = a };
}

static void on_object_changed(void *arg, const struct agent_object *o)
{
    struct agent *a = arg;
    map_each (e, &a->pods) {
        struct agent_pod *p = e->value;
        bool uses = false;
        vec_each (one, &p->objects)
            uses |= *one == o;
        if (!uses)
            continue;
        agent_prepare_update(p);
        agent_prepare_look(p);
        pod_life_poke(&p->life);
        agent_pod_look(p);
    }
}

static void on_services(void *arg)
{
    struct agent *a = arg;
    map_each (e, &a->pods)
        agent_prepare_look(e->value);
}

/* ---------------------------------------------------------------- what an earlier process left */

/* Runs without a pod wait in agent.left for the first list of Pods. */
static void *on_found(void *arg, struct container *c, const struct container_left *left)
{
    struct agent *a = arg;
    struct str pod = json_get_str(left->note, "pod"), name = json_get_str(left->note, "container");
    if (pod.n && json_bool(json_getc(left->note, "pause")))
        return agent_pause_find(a, c, left);
    if (!pod.n || !name.n)
        return NULL;
    struct agent_run *r = agent_run_find(a, c, left);
    list_push_back(&a->left, &r->node);
    return r;
}

static void claim_runs(struct agent_pod *p, const struct json *status)
{
    list_each_safe (node, &p->agent->left) {
        struct agent_run *r = list_entry(node, struct agent_run, node);
        if (str_is(str_of(r->pod_uid), p->uid))
            agent_run_claim(r, p, status);
    }
}

static void drop_unclaimed(struct agent *a)
{
    list_each (node, &a->left)
        agent_run_drop(list_entry(node, struct agent_run, node));
    agent_pause_drop_unclaimed(a);
}

static int64_t time_of(const struct json *o, const char *key)
{
    int64_t us;
    return rfc3339_parse(json_get_str(o, key), &us) < 0 ? 0 : us / 1000;
}

/* How it ended, if that was reported. */
static struct pod_container_end lost_end(const struct json *status)
{
    const struct json *state = json_getc(status, "state");
    const struct json *ended = json_getc(state, "terminated");
    struct pod_container_end e = { .exit_code = 255, .reason = "Unknown" };
    if (!ended && !json_getc(state, "running"))
        ended = json_path(status, "lastState", "terminated", NULL);
    struct str message = json_get_str(ended, "message"), id = json_get_str(status, "containerID");
    if (ended) {
        e.exit_code = (int)json_int_or(json_getc(ended, "exitCode"), 255);
        (void)snprintf(e.reason, sizeof e.reason, STR_FMT, STR_ARG(json_get_str(ended, "reason")));
        e.message = message.n ? str_dup(message) : NULL;
        e.started_ms = time_of(ended, "startedAt");
        e.finished_ms = time_of(ended, "finishedAt");
    }
    e.id = str_dup(id);
    return e;
}

static void restore_lost_list(struct agent_pod *p, const struct json *list)
{
    struct pod_now now = agent_now(p->agent);
    json_each (s, list) {
        size_t i = pod_life_find(&p->life, json_get_str(s, "name"));
        if (i == SIZE_MAX || !json_get_str(s, "containerID").n)
            continue;
        struct pod_container_end e = lost_end(s);
        pod_life_restore_lost(&p->life, i, (uint32_t)json_int_or(json_getc(s, "restartCount"), 0),
                              &e, &now);
    }
}

/* Its containers ran, and nothing of them is left: the machine has started again. */
static void restore_lost(struct agent_pod *p, const struct json *status)
{
    restore_lost_list(p, json_getc(status, "initContainerStatuses"));
    restore_lost_list(p, json_getc(status, "containerStatuses"));
    restore_lost_list(p, json_getc(status, "ephemeralContainerStatuses"));
}

static bool is_over(const struct json *status)
{
    struct str phase = json_get_str(status, "phase");
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

static void restore(struct agent_pod *p, const struct json *object)
{
    const struct json *status = json_getc(object, "status");
    if (is_over(status)) {
        p->is_finished_before = true;
        pod_life_restore_finished(&p->life);
        return;
    }
    bool has_record = agent_run_record_exists(p);
    if (has_record && agent_prepare_adopt(p))
        pod_life_restore_prepared(&p->life);
    claim_runs(p, status);
    if (has_record)
        (void)agent_run_record_restore(p);
    else if (list_is_empty(&p->runs))
        restore_lost(p, status);
}

/* ---------------------------------------------------------------- groups of pods that are gone */

/* A pod that had ended before is not torn down: what an earlier process has left of it goes as that
 * of pods that are gone. */
static bool has_rest(const struct agent *a, struct str uid)
{
    const struct agent_pod *p = map_get(&a->pods, uid);
    return p && !p->is_finished_before;
}

struct group_sweep {
    struct agent *a;
    const char *parent; /* "", "burstable", "besteffort" */
    bool is_busy;
    VEC(char *) names; /* the directory is read before anything in it is removed */
};

static void on_group(void *arg, const char *name)
{
    struct group_sweep *s = arg;
    struct str uid = str_of(name);
    if (str_has_prefix(uid, STR("pod")) && !has_rest(s->a, str_slice(uid, 3, uid.n)))
        vec_push(&s->names, xasprintf("%s%s%s", s->parent, s->parent[0] ? "/" : "", name));
}

static void sweep_groups(struct timer *t)
{
    static const char *const parents[] = { "", "burstable", "besteffort" };
    struct agent *a = container_of(t, struct agent, groups_timer);
    struct group_sweep s = { .a = a };
    for (size_t i = 0; i < ARRAY_LEN(parents); i++) {
        s.parent = parents[i];
        container_pod_group_each(a->containers, s.parent, on_group, &s);
    }
    vec_each (name, &s.names) {
        s.is_busy |= container_pod_group_remove(a->containers, *name) == -EBUSY;
        free(*name);
    }
    vec_fini(&s.names);
    if (s.is_busy)
        timer_start(a->loop, &a->groups_timer, AGENT_GROUPS_MS, sweep_groups);
}

/* ---------------------------------------------------------------- Pods */

static int read_pod(const struct json *object, struct arena **ret_arena, struct pod_spec **ret,
                    struct err *err)
{
    struct arena *arena = xnew(struct arena);
    arena->max_bytes = POD_ARENA_MAX;
    arena->block_bytes = 1024;
    struct pod_spec *spec = arena_new(arena, struct pod_spec);
    int r = pod_spec_read(arena, object, spec, err);
    if (r >= 0 && !volume_uid_is_valid(spec->uid))
        r = err_set(err, E_INVALID, "metadata.uid is no UID");
    if (r < 0) {
        arena_fini(arena);
        free(arena);
        return r;
    }
    *ret_arena = arena;
    *ret = spec;
    return 0;
}

static void refuse(struct agent_pod *p, const char *reason, const char *message)
{
    const struct pod_now now = agent_now(p->agent);
    agent_event(p, NULL, true, reason, "%s", message);
    pod_life_refuse(&p->life, reason, message, &now);
}

/* Once, before it has begun; as kubelet at its admission. */
static void admit(struct agent_pod *p, const struct json *object)
{
    struct agent *a = p->agent;
    struct pod_admission_used used = { 0 };
    struct pod_refusal no;
    bool is_new = pod_at(&p->life) == POD_PREPARING && !p->spec->deletion.n &&
                  !json_path(object, "status", "startTime", NULL);
    if (!is_new || p->spec->is_mirror)
        return;
    if (a->shutdown) {
        refuse(p, "NodeShutdown", "Pod was rejected as the node is shutting down.");
        return;
    }
    if (!pod_admission_profiles(object, &no) ||
        !pod_admission_sysctls(p->spec, a->sysctls, a->n_sysctls, &no)) {
        refuse(p, no.reason, no.message);
        return;
    }
    if (!a->node)
        return;
    map_each (e, &a->pods) {
        const struct agent_pod *other = e->value;
        if (other != p && pod_at(&other->life) < POD_TEARING_DOWN)
            pod_admission_add(&used, other->spec);
    }
    if (pod_admission_check(object, p->spec, a->node, &used, AGENT_PODS_MAX, &no))
        return;
    refuse(p, no.reason, no.message);
}

static struct agent_pod *add_pod(struct agent *a, struct pod_spec *spec, struct arena *arena,
                                 const struct json *object)
{
    struct agent_pod *p = agent_pod_new(a, spec, arena, object);
    agent_dns_look(a);
    restore(p, object);
    admit(p, object);
    agent_pod_check_deletion(p);
    agent_pod_look(p);
    if (a->on_pods)
        a->on_pods(a->arg, a->pods.n);
    return p;
}

/* Pods that were deleted while nothing was heard of it, and whose name has a new one. */
static void end_others(struct agent *a, const struct pod_spec *spec)
{
    map_each (e, &a->pods) {
        struct agent_pod *p = e->value;
        if (!p->static_text && str_is(spec->name, p->name) && str_is(spec->namespace, p->namespace))
            agent_pod_gone(p, 0);
    }
}

static void on_pod(void *arg, const struct json *object)
{
    struct agent *a = arg;
    struct arena *arena;
    struct pod_spec *spec;
    struct err err = { 0 };
    if (read_pod(object, &arena, &spec, &err) < 0) {
        log_warn("a Pod cannot be read", "error=\"%s\"", err_text(&err));
        return;
    }
    if (spec->is_mirror) {
        agent_mirror_seen(a, spec);
        arena_fini(arena);
        free(arena);
        return;
    }
    struct agent_pod *p = map_get(&a->pods, spec->uid);
    if (p)
        agent_pod_set_spec(p, spec, arena, object);
    if (p)
        return;
    end_others(a, spec);
    (void)add_pod(a, spec, arena, object);
}

void agent_add_static(struct agent *a, const struct json *object)
{
    struct arena *arena;
    struct pod_spec *spec;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    size_t n;
    if (json_write(&text, object) < 0 || read_pod(object, &arena, &spec, &err) < 0) {
        log_warn("a static pod cannot be read", "error=\"%s\"", err_text(&err));
        return;
    }
    struct agent_pod *p = add_pod(a, spec, arena, object);
    p->static_text = buf_take(&text, &n);
}

static void on_pod_deleted(void *arg, struct str namespace, struct str name)
{
    struct agent *a = arg;
    agent_mirror_deleted(a, namespace, name);
    map_each (e, &a->pods) {
        struct agent_pod *p = e->value;
        if (p->static_text || !str_is(namespace, p->namespace) || !str_is(name, p->name))
            continue;
        agent_pod_gone(p, 0);
    }
}

void agent_check_synced(struct agent *a)
{
    if (a->is_synced || !a->are_pods_known || (a->static_source && !a->are_static_known))
        return;
    a->is_synced = true;
    drop_unclaimed(a);
    agent_run_record_sweep(a);
    agent_logs_sweep(a);
    agent_users_sweep(a);
    timer_start(a->loop, &a->groups_timer, 0, sweep_groups);
    pod_networks_collect(a->networks, NULL, NULL);
    agent_remove_orphans(a);
    agent_image_gc_start(a->image_gc);
    if (a->on_synced)
        a->on_synced(a->arg);
}

static void on_synced(void *arg)
{
    struct agent *a = arg;
    a->are_pods_known = true;
    agent_check_synced(a);
}

static const struct reflector_ops watch_ops = {
    .on_object = on_pod,
    .on_deleted = on_pod_deleted,
    .on_synced = on_synced,
};

static int follow_pods(struct agent *a, struct err *err)
{
    scoped(free_scoped) char *selector = xasprintf("spec.nodeName=%s", a->node_name);
    const struct reflector_opts opts = {
        .loop = a->loop,
        .transport = a->transport,
        .hub = a->hub,
        .identity = a->identity,
        .key = { .group_version = STR("v1"),
                 .plural = STR("pods"),
                 .field_selector = str_of(selector),
                 .identity = a->identity },
        .streams = true,
        .ops = &watch_ops,
        .arg = a,
    };
    return reflector_start(&opts, &a->watch, err);
}

/* ---------------------------------------------------------------- directories of pods that are
 * gone */

/* Also while runs of it are still being removed. */
static bool is_known(void *arg, struct str uid)
{
    const struct agent *a = arg;
    list_each (node, &a->left) {
        if (str_is(uid, list_entry(node, struct agent_run, node)->pod_uid))
            return true;
    }
    return has_rest(a, uid);
}

static void on_orphans_timer(struct timer *t)
{
    agent_remove_orphans(container_of(t, struct agent, orphans_timer));
}

static void on_orphans(void *arg, size_t n, const struct err *err)
{
    struct agent *a = arg;
    a->removes_orphans = false;
    if (n > 0)
        log_info("directories of pods that are gone were removed", "n=%zu", n);
    if (a->is_stopping)
        agent_part_stopped(a);
    if (!err->code || a->is_stopping)
        return;
    log_warn("directories of pods that are gone stay", "error=\"%s\"", err_text(err));
    timer_start(a->loop, &a->orphans_timer, AGENT_ORPHANS_MS, on_orphans_timer);
}

void agent_remove_orphans(struct agent *a)
{
    struct err err = { 0 };
    if (a->is_stopping)
        return;
    if (a->removes_orphans)
        timer_start(a->loop, &a->orphans_timer, AGENT_ORPHANS_SOON_MS, on_orphans_timer);
    else
        a->removes_orphans = volume_orphans_start(a->volumes, is_known, on_orphans, a, &err) == 0;
}

/* ---------------------------------------------------------------- commands for probes */

static int start_exec(void *arg, void *container, const struct str *command, size_t n,
                      uint64_t timeout_ms,
                      void (*done)(void *done_arg, int r, int status, struct str output),
                      void *done_arg, void **ret, struct err *err)
{
    struct agent_exec *e;
    int r = agent_exec_capture(container, command, n, done, done_arg, &e, err);
    if (r == 0)
        *ret = e;
    return r;
}

static void cancel_exec(void *arg, void *running)
{
    agent_exec_stop(running);
}

static const struct probe_exec exec_of_probes = { .start = start_exec, .cancel = cancel_exec };

/* ---------------------------------------------------------------- addresses of pods */

static void use_cidrs(struct agent *a)
{
    a->are_cidrs_known = true;
    timer_stop(a->loop, &a->cidrs_timer);
    agent_dns_look(a);
    map_each (e, &a->pods)
        agent_prepare_look(e->value);
}

static void on_no_cidrs(struct timer *t)
{
    log_warn("the node has no podCIDRs", "used=10.88.0.0/16");
    use_cidrs(container_of(t, struct agent, cidrs_timer));
}

int agent_set_pod_cidrs(struct agent *a, const struct str *cidrs, size_t n,
                        const struct str *cluster, size_t n_cluster, struct err *err)
{
    int r = pod_networks_set_cidrs(a->networks, cidrs, n, cluster, n_cluster, err);
    if (r == 0 && !a->are_cidrs_known)
        use_cidrs(a);
    else
        agent_dns_look(a);
    return r;
}

/* ---------------------------------------------------------------- start */

static void copy_addresses(struct agent *a, const struct agent_opts *opts)
{
    a->addresses = xnew_n(char *, opts->n_addresses + 1);
    a->address_views = xnew_n(struct str, opts->n_addresses + 1);
    a->n_addresses = opts->n_addresses;
    for (size_t i = 0; i < opts->n_addresses; i++) {
        a->addresses[i] = xstrdup(opts->addresses[i]);
        a->address_views[i] = str_of(a->addresses[i]);
    }
}

static uint64_t read_pid_max(void)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64);
    uint64_t n;
    if (sys_read_file(AT_FDCWD, "/proc/sys/kernel/pid_max", &text, NULL) < 0 ||
        parse_u64(str_trim(buf_str(&text)), 1, INT32_MAX, &n) < 0)
        return 32768;
    return n;
}

/* Without CAP_SYS_RESOURCE, as in some containers, nobody may be made less likely to be killed when
 * memory runs out than this process is. */
static int read_oom_adj_min(void)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64);
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
    int64_t n;
    if (syscall(SYS_capget, &head, data) == 0 &&
        (data[CAP_TO_INDEX(CAP_SYS_RESOURCE)].effective & CAP_TO_MASK(CAP_SYS_RESOURCE)))
        return -1000;
    if (sys_read_file(AT_FDCWD, "/proc/self/oom_score_adj", &text, NULL) < 0 ||
        parse_i64(str_trim(buf_str(&text)), -1000, 1000, &n) < 0)
        return 0;
    return (int)n;
}

static void read_machine(struct agent *a)
{
    struct sysinfo info;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    (void)sysinfo(&info);
    a->oom_adj_min = read_oom_adj_min();
    a->pod_pids = MIN(read_pid_max() / 4, (uint64_t)AGENT_POD_PIDS);
    a->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
    a->allocatable = (struct pod_amounts){ .cpu_milli = n * 1000,
                                           .memory_bytes = (int64_t)a->memory_bytes,
                                           .ephemeral_bytes = POD_AMOUNT_NONE };
}

/* Of pods, so that their packets pass to other nodes in whatever way. */
static uint32_t pods_mtu(const struct agent *a)
{
    return a->n_addresses ? node_route_pod_mtu(a->address_views[0]) : 0;
}

static int start_mechanisms(struct agent *a, const struct agent_opts *opts, struct err *err)
{
    const struct container_host_opts host = { .loop = a->loop,
                                              .kind = "pod",
                                              .data_dir = opts->data_dir,
                                              .program = opts->runtime,
                                              .output_rate = AGENT_OUTPUT_RATE };
    scoped(free_scoped) char *networks_dir = xasprintf("%s/network", a->run_dir);
    const struct pod_networks_opts networks = { .loop = a->loop,
                                                .state_dir = networks_dir,
                                                .config_dir = opts->cni_config_dir,
                                                .mtu = pods_mtu(a) };
    const struct probers_opts probers = { .loop = a->loop,
                                          .exec = &exec_of_probes,
                                          .seed = sys_random_u64() };
    const struct volume_host_options volumes = { .loop = a->loop,
                                                 .root = a->pods_dir,
                                                 .objects = agent_objects_table(a),
                                                 .supply = &agent_volume_supply,
                                                 .supply_arg = a };
    int r = container_host_new(&host, &a->containers, err);
    r = r < 0 ? r : container_host_set_up(a->containers, err); /* says that it needs root */
    r = r < 0 ? r : agent_run_dir_claim(a->run_dir, opts->data_dir, &a->owner_fd, err);
    r = r < 0 ? r : sys_mkdir_all(a->records_dir, 0700, err);
    r = r < 0 ? r : sys_mkdir_all(a->log_dir, 0755, err);
    r = r < 0 ? r : sys_mkdir_all(a->logs_dir, 0700, err);
    r = r < 0 ? r : agent_pause_set_up(a, err);
    r = r < 0 ? r : pod_networks_new(&networks, NULL, 0, &a->networks, err);
    r = r < 0 ? r : volume_host_new(&volumes, &a->volumes, err);
    if (r < 0)
        return r;
    a->probers = probers_new(&probers);
    container_host_recover(a->containers, on_found, &agent_run_events, a);
    return 0;
}

static int start_proxy(struct agent *a, struct err *err)
{
    /* With the process's own rights; a node of its own has those of dormouse:node-routes. */
    const struct service_proxy_opts proxy = {
        .loop = a->loop, .transport = a->transport, .hub = a->hub, .node = a->node_name
    };
    return service_proxy_start(&proxy, &a->proxy, err);
}

static int start_watches(struct agent *a, const struct agent_opts *opts, struct err *err)
{
    const struct agent_objects_opts objects = { .loop = a->loop,
                                                .transport = a->transport,
                                                .hub = a->hub,
                                                .identity = a->identity,
                                                .on_change = on_object_changed,
                                                .arg = a };
    const struct agent_services_opts services = { .loop = a->loop,
                                                  .transport = a->transport,
                                                  .hub = a->hub,
                                                  .identity = a->identity,
                                                  .on_synced = on_services,
                                                  .arg = a };
    a->objects = agent_objects_new(&objects);
    a->events = agent_events_new(a);
    a->evict = agent_evict_new(a);
    a->image_gc = agent_image_gc_new(a);
    agent_pull_follow(a);
    a->services = agent_services_new(&services);
    int r = agent_dns_new(a, &opts->dns, &a->dns, err);
    r = r < 0 || opts->no_service_proxy ? r : start_proxy(a, err);
    r = r < 0 ? r : agent_routes_start(a, err);
    r = r < 0 || !opts->manifest_dir ? r : agent_mirror_start(a, opts->manifest_dir, err);
    return r < 0 ? r : follow_pods(a, err);
}

static const struct agent_gc gc_default = { AGENT_GC_HIGH_PERCENT, AGENT_GC_LOW_PERCENT,
                                            AGENT_GC_MIN_AGE_MS };

int agent_start(const struct agent_opts *opts, struct agent **ret, struct err *err)
{
    struct agent *a = xnew(struct agent);
    *a = (struct agent){ .loop = opts->loop,
                         .transport = opts->transport,
                         .hub = opts->hub,
                         .identity = opts->identity,
                         .images = opts->images,
                         .node_name = xstrdup(opts->node_name),
                         .node_uid = xstrdup(""),
                         .pods_dir = xasprintf("%s/agent/pods", opts->data_dir),
                         .logs_dir = xasprintf("%s/agent/logs", opts->data_dir),
                         .log_dir = xstrdup(opts->log_dir ? opts->log_dir : AGENT_LOG_DIR),
                         .run_dir = container_host_run_dir("agent", opts->data_dir),
                         .sysctls = opts->sysctls,
                         .n_sysctls = opts->n_sysctls,
                         .on_synced = opts->on_synced,
                         .on_pods = opts->on_pods,
                         .on_images = opts->on_images,
                         .on_reclaimed = opts->on_reclaimed,
                         .on_node_event = opts->on_node_event,
                         .gc = opts->gc.high_percent ? opts->gc : gc_default,
                         .owner_fd = -1,
                         .arg = opts->arg };
    a->containers_dir = container_host_run_dir("pod", opts->data_dir);
    a->roots_dir = container_host_run_dir("roots", opts->data_dir);
    a->pause_dir = xasprintf("%s/agent/pause", opts->data_dir);
    a->seccomp_dir = xasprintf("%s/seccomp", opts->data_dir);
    a->image_dir = opts->image_dir ? xstrdup(opts->image_dir) : NULL;
    a->records_dir = xasprintf("%s/pods", a->run_dir);
    a->runtime = xstrdup("dormouse://");
    a->log_jobs = podlog_jobs_new(a->loop);
    list_init(&a->left);
    list_init(&a->left_pauses);
    copy_addresses(a, opts);
    read_machine(a);
    *ret = a;
    timer_start(a->loop, &a->cidrs_timer, AGENT_CIDRS_MS, on_no_cidrs);
    int r = start_mechanisms(a, opts, err);
    r = r < 0 ? r : start_watches(a, opts, err);
    if (r >= 0)
        agent_run_dirs_sweep(a);
    return r;
}

void agent_set_node(struct agent *a, const struct json *node)
{
    struct arena *m = &a->node_arena;
    bool is_first = !a->node_uid[0];
    free(a->node_uid);
    a->node_uid = str_dup(json_str(json_path(node, "metadata", "uid", NULL)));
    arena_reset(m);
    a->node = json_new_object(m);
    struct json *meta = json_obj(m, a->node, "metadata"), *spec = json_obj(m, a->node, "spec"),
                *status = json_obj(m, a->node, "status");
    const struct json *labels = json_path(node, "metadata", "labels", NULL),
                      *taints = json_path(node, "spec", "taints", NULL),
                      *amounts = json_path(node, "status", "allocatable", NULL);
    json_set_str(m, meta, "name", str_of(a->node_name));
    if (labels)
        json_setc(m, meta, "labels", json_clone(m, labels));
    if (taints)
        json_setc(m, spec, "taints", json_clone(m, taints));
    if (amounts)
        json_setc(m, status, "allocatable", json_clone(m, amounts));
    if (a->proxy)
        service_proxy_set_zone(a->proxy, json_get_str(labels, "topology.kubernetes.io/zone"));
    if (is_first)
        agent_mirror_make_all(a);
}

size_t agent_pods(const struct agent *a)
{
    return a->pods.n;
}

const char *agent_runtime(const struct agent *a)
{
    return a->runtime;
}

/* ---------------------------------------------------------------- stop */

static void free_agent(void *agent)
{
    struct agent *a = agent;
    void (*done)(void *arg) = a->done;
    void *arg = a->done_arg;
    if (a->volumes)
        volume_host_free(a->volumes);
    if (a->objects)
        agent_objects_free(a->objects);
    if (a->events)
        event_recorder_free(a->events);
    agent_evict_free(a->evict);
    if (a->owner_fd >= 0)
        (void)close(a->owner_fd);
    free(a->image_dir);
    arena_fini(&a->node_arena);
    defer_cancel(&a->read_end);
    arena_fini(&a->reading);
    map_fini(&a->pods);
    for (size_t i = 0; i < a->n_addresses; i++)
        free(a->addresses[i]);
    free(a->addresses);
    free(a->address_views);
    free(a->node_name);
    free(a->node_uid);
    free(a->pods_dir);
    free(a->logs_dir);
    free(a->log_dir);
    free(a->run_dir);
    free(a->records_dir);
    free(a->containers_dir);
    free(a->pause_dir);
    free(a->roots_dir);
    free(a->seccomp_dir);
    free(a->runtime);
    free(a);
    done(arg);
}

void agent_part_stopped(struct agent *a)
{
    assert(a->n_stopping > 0);
    if (--a->n_stopping == 0)
        podlog_jobs_close(a->log_jobs, free_agent, a); /* logs are written */
}

static void on_part_stopped(void *arg)
{
    agent_part_stopped(arg);
}

static void on_stop(struct defer *d)
{
    agent_part_stopped(container_of(d, struct agent, stop));
}

/* Containers go on: the next process takes them over. */
void agent_stop(struct agent *a, void (*done)(void *arg), void *arg)
{
    a->done = done;
    a->done_arg = arg;
    a->is_stopping = true;
    a->images.ops->follow(a->images.arg, NULL, NULL);
    timer_stop(a->loop, &a->cidrs_timer);
    timer_stop(a->loop, &a->groups_timer);
    timer_stop(a->loop, &a->orphans_timer);
    agent_image_gc_free(take_ptr(&a->image_gc));
    agent_shutdown_free(take_ptr(&a->shutdown));
    a->n_stopping = 1;
    if (a->watch)
        reflector_close(take_ptr(&a->watch));
    if (a->static_source)
        agent_mirror_stop(a);
    agent_routes_stop(a);
    if (a->volumes)
        volume_host_stop_removing(a->volumes);
    a->n_stopping += a->removes_orphans + (a->sweep != NULL) + a->n_measures;
    list_each_safe (node, &a->left) {
        struct agent_run *r = list_entry(node, struct agent_run, node);
        if (r->is_removing)
            a->n_stopping++;
        else
            agent_run_free(r);
    }
    agent_pause_leave_unclaimed(a);
    for (struct map_entry *e; (e = map_next(&a->pods, NULL));)
        agent_pod_leave(e->value);
    if (a->services)
        agent_services_free(a->services);
    if (a->proxy) {
        a->n_stopping++;
        service_proxy_close(take_ptr(&a->proxy), on_part_stopped, a);
    }
    agent_dns_stop(a);
    if (a->probers) {
        a->n_stopping++;
        probers_close(a->probers, on_part_stopped, a);
    }
    if (a->networks) {
        a->n_stopping++;
        pod_networks_close(a->networks, on_part_stopped, a);
    }
    if (a->containers) {
        a->n_stopping++;
        container_host_leave(take_ptr(&a->containers), on_part_stopped, a);
    }
    defer_start(a->loop, &a->stop, on_stop);
}
