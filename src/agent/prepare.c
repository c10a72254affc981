/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pod has besides its containers: directories, a control group, a network, volumes, the
 * ConfigMaps and Secrets that it names, /etc/hosts and /etc/resolv.conf. Made together, and removed
 * together once no run of a container is left.
 */
#include "agent/agent_impl.h"
#include "agent/config.h"
#include "agent/etc_files.h"
#include "agent/image_volumes.h"
#include "agent/ipc.h"
#include "agent/logs.h"
#include "agent/pause.h"
#include "agent/pod/resources.h"
#include "agent/pull.h"
#include "agent/run_record.h"
#include "agent/users.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROUP_RETRY_MS = 100 };

/* In pod.prepare, set by agent_pod_new(). */
const struct sm_state agent_prepare_table[] = {
    [AGENT_PREPARE_NONE] = { "none", EDGE(AGENT_PREPARE_WAITS) | EDGE(AGENT_PREPARE_REMOVING) |
                                         EDGE(AGENT_PREPARE_DONE) /* adopted */ },
    [AGENT_PREPARE_WAITS] = { "waits", EDGE(AGENT_PREPARE_DONE) | EDGE(AGENT_PREPARE_NONE) |
                                           EDGE(AGENT_PREPARE_REMOVING) },
    [AGENT_PREPARE_DONE] = { "done", EDGE(AGENT_PREPARE_REMOVING) },
    [AGENT_PREPARE_REMOVING] = { "removing", EDGE(AGENT_PREPARE_NONE) },
};

/* ---------------------------------------------------------------- objects */

static void follow(struct agent_pod *p, enum agent_object_kind kind, struct str name)
{
    bool has_namespace = kind != AGENT_VOLUME && kind != AGENT_RUNTIME_CLASS;
    struct str namespace = has_namespace ? p->spec->namespace : STR("");
    struct agent_object *o;
    struct err err = { 0 };
    if (!name.n)
        return;
    vec_each (known, &p->objects) {
        if (agent_object_is(*known, kind, namespace, name))
            return;
    }
    if (agent_objects_get(p->agent->objects, kind, namespace, name, &o, &err) < 0)
        log_warn("an object of a pod is not watched", "pod=%s/%s name=" STR_FMT " error=\"%s\"",
                 p->namespace, p->name, STR_ARG(name), err_text(&err));
    else
        vec_push(&p->objects, o);
}

static void follow_container(struct agent_pod *p, const struct pod_container *c)
{
    for (size_t i = 0; i < c->n_env; i++) {
        follow(p, AGENT_CONFIG_MAP, c->env[i].config_map);
        follow(p, AGENT_SECRET, c->env[i].secret);
    }
    for (size_t i = 0; i < c->n_env_from; i++) {
        follow(p, AGENT_CONFIG_MAP, c->env_from[i].config_map);
        follow(p, AGENT_SECRET, c->env_from[i].secret);
    }
}

/* The volume that is bound to a claim, once the claim is known. */
static void follow_claim(struct agent_pod *p, struct str name)
{
    struct arena a = { 0 };
    follow(p, AGENT_CLAIM, name);
    const struct agent_object *o =
        agent_objects_find(p->agent->objects, AGENT_CLAIM, p->spec->namespace, name);
    const struct json *claim = o ? agent_object_read(o, &a) : NULL;
    follow(p, AGENT_VOLUME, json_get_str(json_getc(claim, "spec"), "volumeName"));
    arena_fini(&a);
}

static void follow_volume(struct agent_pod *p, const struct pod_volume *v)
{
    if (v->kind == POD_VOLUME_CLAIM)
        follow_claim(p, v->claim);
    if (v->kind == POD_VOLUME_EPHEMERAL) {
        scoped(free_scoped) char *name = xasprintf("%s-" STR_FMT, p->name, STR_ARG(v->name));
        follow_claim(p, str_of(name));
    }
    for (size_t i = 0; i < v->n_sources; i++) {
        if (v->sources[i].kind == POD_PROJECTED_CONFIG_MAP)
            follow(p, AGENT_CONFIG_MAP, v->sources[i].name);
        else if (v->sources[i].kind == POD_PROJECTED_SECRET)
            follow(p, AGENT_SECRET, v->sources[i].name);
    }
}

static void follow_objects(struct agent_pod *p)
{
    const struct pod_container *c;
    for (size_t i = 0; (c = pod_spec_at(p->spec, i)); i++)
        follow_container(p, c);
    for (size_t i = 0; i < p->spec->n_volumes; i++)
        follow_volume(p, &p->spec->volumes[i]);
    for (size_t i = 0; i < p->spec->n_pull_secrets; i++)
        follow(p, AGENT_SECRET, p->spec->pull_secrets[i]);
    follow(p, AGENT_RUNTIME_CLASS, p->spec->runtime_class);
}

/* The handlers crun and runc mean the one of them that this machine has. */
static int check_runtime(const struct agent_pod *p, struct err *err)
{
    struct str name = p->spec->runtime_class;
    if (!name.n)
        return 0;
    const struct agent_object *o =
        agent_objects_find(p->agent->objects, AGENT_RUNTIME_CLASS, STR(""), name);
    const struct json *class = o ? agent_objects_read(p->agent, o) : NULL;
    if (!class)
        return err_set(err, -ENOENT, "RuntimeClass \"" STR_FMT "\" not found", STR_ARG(name));
    struct str handler = json_get_str(class, "handler");
    if (!str_is(handler, "crun") && !str_is(handler, "runc"))
        return err_set(err, E_UNSUPPORTED, "no runtime for \"" STR_FMT "\" is configured",
                       STR_ARG(handler));
    return 0;
}

/* A static pod runs without the API, then without variables of Services; as with kubelet. */
static bool are_objects_known(const struct agent_pod *p)
{
    for (size_t i = 0; i < p->objects.n; i++) {
        if (!agent_object_is_known(p->objects.p[i]))
            return false;
    }
    return p->static_text || agent_services_is_synced(p->agent->services);
}

static bool are_objects_fresh(const struct agent_pod *p)
{
    for (size_t i = 0; i < p->objects.n; i++) {
        if (!agent_object_is_fresh(p->objects.p[i]))
            return false;
    }
    return are_objects_known(p);
}

static void drop_objects(struct agent_pod *p)
{
    vec_each (o, &p->objects)
        agent_object_put(*o);
    vec_fini(&p->objects);
}

/* ---------------------------------------------------------------- group and directories */

static int make_group(struct agent_pod *p, struct err *err)
{
    struct pod_cgroup g;
    int r = pod_cgroup_of_pod(p->spec, &g, err);
    if (r < 0 || p->is_group_made)
        return r;
    struct container_limits limits = agent_config_limits(&g);
    limits.pids = p->agent->pod_pids;
    r = container_pod_group_make(p->agent->containers, p->group, &limits, err);
    p->is_group_made = r == 0;
    return r;
}

static int make_dir(const char *path, mode_t mode, struct err *err)
{
    if (mkdir(path, mode) < 0 && errno != EEXIST)
        return err_sys(err, -errno, "mkdir %s", path);
    return 0;
}

static int make_dirs(struct agent_pod *p, struct err *err)
{
    scoped(free_scoped) char *containers = xasprintf("%s/containers", p->dir);
    scoped(free_scoped) char *etc = xasprintf("%s/etc", p->dir);
    int r = make_dir(p->dir, 0750, err);
    r = r < 0 ? r : make_dir(containers, 0750, err);
    r = r < 0 ? r : make_dir(etc, 0755, err);
    return r < 0 ? r : agent_logs_make(p, err);
}

/* ---------------------------------------------------------------- network */

static void set_facts(struct agent_pod *p)
{
    size_t n = 0;
    const char *const *ips = p->network ? pod_network_ips(p->network, &n) : NULL;
    struct agent *a = p->agent;
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(p->ip_texts[i], sizeof p->ip_texts[i], "%s", ips[i]);
        p->ips[i] = str_of(p->ip_texts[i]);
    }
    p->facts = (struct pod_facts){ .host_ips = a->address_views,
                                   .n_host_ips = a->n_addresses,
                                   .pod_ips = p->network ? p->ips : a->address_views,
                                   .n_pod_ips = p->network ? n : a->n_addresses,
                                   .allocatable = a->allocatable };
    p->has_network = true;
}

static void fail(struct agent_pod *p, const char *reason, const struct err *err)
{
    struct pod_now now = agent_now(p->agent);
    agent_event(p, NULL, true, reason, "%s", err_text(err));
    if (p->prepare.at == AGENT_PREPARE_WAITS)
        sm_move(&p->prepare, AGENT_PREPARE_NONE);
    pod_life_prepared(&p->life, err->code, err_text(err), &now);
    agent_pod_look(p);
}

static void on_network(void *arg, int r, const struct err *err)
{
    struct agent_pod *p = arg;
    if (r < 0) {
        pod_network_stop(take_ptr(&p->network), NULL, NULL);
        fail(p, "FailedCreatePodSandBox", err);
        return;
    }
    set_facts(p);
    agent_prepare_look(p);
}

static enum pod_network_protocol protocol_of(struct str s)
{
    return str_is(s, "UDP")    ? POD_NETWORK_UDP
           : str_is(s, "SCTP") ? POD_NETWORK_SCTP
                               : POD_NETWORK_TCP;
}

struct host_ports {
    VEC(struct pod_network_port) all;
};

static void add_host_ports(struct host_ports *to, const struct pod_container *c)
{
    for (size_t i = 0; i < c->n_ports; i++) {
        const struct pod_port *port = &c->ports[i];
        if (port->host_port > 0)
            vec_push(&to->all,
                     ((struct pod_network_port){ .host_port = (uint16_t)port->host_port,
                                                 .container_port = (uint16_t)port->container_port,
                                                 .protocol = protocol_of(port->protocol),
                                                 .host_ip = port->host_ip }));
    }
}

static bool is_waiting_for_users(const struct agent_pod *p)
{
    return agent_users_are_own(p) && p->users_at != AGENT_USERS_MADE;
}

static int start_network(struct agent_pod *p, struct err *err)
{
    struct host_ports ports = { 0 };
    const struct pod_container *c;
    if (p->spec->host_network) {
        set_facts(p);
        return 0;
    }
    if (p->network || !p->agent->are_cidrs_known || is_waiting_for_users(p))
        return 0;
    scoped(free_scoped) char *user = xasprintf("%s/user", p->dir);
    for (size_t i = 0; (c = pod_spec_at(p->spec, i)); i++)
        add_host_ports(&ports, c);
    const struct pod_network_opts opts = { .id = str_of(p->uid),
                                           .namespace = str_of(p->namespace),
                                           .name = str_of(p->name),
                                           .uid = str_of(p->uid),
                                           .ports = ports.all.p,
                                           .n_ports = ports.all.n,
                                           .user = p->users_base ? user : NULL,
                                           .on_ready = on_network,
                                           .arg = p };
    int r = pod_network_start(p->agent->networks, &opts, &p->network, err);
    vec_fini(&ports.all);
    return r;
}

/* ---------------------------------------------------------------- shared namespaces */

/* A namespace was made, or could not be. */
static void go_on(struct agent_pod *p, int r, const struct err *err)
{
    if (p->is_leaving)
        agent_pod_left(p);
    else if (p->prepare.at == AGENT_PREPARE_REMOVING)
        agent_tear_down(p);
    else if (r < 0)
        fail(p, "FailedCreatePodSandBox", err);
    else
        agent_prepare_look(p);
}

static void on_ipc(void *arg, int r, const struct err *err)
{
    struct agent_pod *p = arg;
    p->ipc_at = r < 0 ? AGENT_IPC_NONE : AGENT_IPC_MADE;
    go_on(p, r, err);
}

static void on_users(void *arg, int r, const struct err *err)
{
    struct agent_pod *p = arg;
    p->users_at = r < 0 ? AGENT_USERS_NONE : AGENT_USERS_MADE;
    go_on(p, r, err);
}

/* Namespaces of the pod belong to it: before them. */
static int start_users(struct agent_pod *p, struct err *err)
{
    if (!agent_users_are_own(p) || p->users_at != AGENT_USERS_NONE)
        return 0;
    int r = agent_users_claim(p, err);
    if (r < 0)
        return r;
    p->users_at = AGENT_USERS_MAKING;
    agent_users_make(p->agent->loop, p->dir, p->users_base, on_users, p);
    return 0;
}

static bool shares_ipc(const struct agent_pod *p)
{
    size_t n = p->spec->n_main;
    for (size_t i = 0; i < p->spec->n_init; i++)
        n += p->spec->init[i].is_sidecar;
    return n > 1 && !p->spec->host_ipc;
}

static void start_ipc(struct agent_pod *p)
{
    if (p->ipc_at != AGENT_IPC_NONE || !shares_ipc(p) || is_waiting_for_users(p))
        return;
    p->ipc_at = AGENT_IPC_MAKING;
    agent_ipc_make(p->agent->loop, p->dir, p->users_base != 0, on_ipc, p);
}

/* ---------------------------------------------------------------- volumes */

static void on_volumes(struct volume_pod *v, void *arg)
{
    struct agent_pod *p = arg;
    const struct err *problem = volume_pod_problem(v);
    if (problem->code &&
        strncmp(p->mount_problem, err_text(problem), sizeof p->mount_problem - 1) != 0) {
        (void)snprintf(p->mount_problem, sizeof p->mount_problem, "%s", err_text(problem));
        agent_event(p, NULL, true, "FailedMount", "%s", err_text(problem));
    }
    agent_prepare_look(p);
}

static int start_volumes(struct agent_pod *p, struct err *err)
{
    if (p->volumes)
        return 0;
    return volume_pod_start(p->agent->volumes, p->spec, &p->facts, on_volumes, p, &p->volumes, err);
}

/* ---------------------------------------------------------------- making */

bool agent_prepare_is_settled(const struct agent_pod *p)
{
    return are_objects_known(p) && agent_pause_is_ready(p) &&
           (!p->volumes || volume_pod_at(p->volumes) == VOLUME_POD_READY);
}

/* Volumes may hold addresses, so that they come after the network. */
void agent_prepare_look(struct agent_pod *p)
{
    struct err err = { 0 };
    agent_start_look(p);
    if (p->prepare.at == AGENT_PREPARE_WAITS)
        start_ipc(p);
    if (p->prepare.at == AGENT_PREPARE_WAITS && !p->has_network && start_network(p, &err) < 0) {
        fail(p, "FailedCreatePodSandBox", &err);
        return;
    }
    if (p->prepare.at != AGENT_PREPARE_WAITS || !p->has_network || !are_objects_fresh(p) ||
        p->ipc_at == AGENT_IPC_MAKING || is_waiting_for_users(p))
        return;
    if (check_runtime(p, &err) < 0) {
        fail(p, "FailedCreatePodSandBox", &err);
        return;
    }
    agent_pause_start(p);
    if (start_volumes(p, &err) < 0) {
        fail(p, "FailedMount", &err);
        return;
    }
    if (volume_pod_at(p->volumes) != VOLUME_POD_READY || !agent_pause_is_ready(p))
        return;
    if (agent_etc_files_write(p, &err) < 0) {
        fail(p, "FailedCreatePodSandBox", &err);
        return;
    }
    struct pod_now now = agent_now(p->agent);
    sm_move(&p->prepare, AGENT_PREPARE_DONE);
    pod_life_prepared(&p->life, 0, NULL, &now);
    agent_run_record_write(p); /* from now on the next process takes over what is there */
    agent_pod_look(p);
}

void agent_prepare(struct agent_pod *p)
{
    struct err err = { 0 };
    sm_move(&p->prepare, AGENT_PREPARE_WAITS);
    container_host_expect(p->agent->containers);
    follow_objects(p);
    int r = make_dirs(p, &err);
    r = r < 0 ? r : make_group(p, &err);
    r = r < 0 ? r : start_users(p, &err);
    r = r < 0 ? r : start_network(p, &err);
    if (r >= 0) {
        agent_image_volumes_start(p);
        agent_pull_early(p);
    }
    if (r < 0)
        fail(p, "FailedCreatePodSandBox", &err);
    else
        agent_prepare_look(p);
}

int agent_prepare_complete(struct agent_pod *p, struct err *err)
{
    if (p->prepare.at != AGENT_PREPARE_DONE || p->volumes)
        return 0;
    int r = make_dirs(p, err);
    r = r < 0 ? r : make_group(p, err);
    return r < 0 ? r : start_volumes(p, err);
}

bool agent_prepare_adopt(struct agent_pod *p)
{
    struct err err = { 0 };
    if (!p->spec->host_network &&
        pod_network_adopt(p->agent->networks, str_of(p->uid), &p->network, &err) < 0)
        return false;
    set_facts(p);
    agent_pause_claim(p);
    agent_image_volumes_start(p);
    p->ipc_at = shares_ipc(p) ? AGENT_IPC_MADE : AGENT_IPC_NONE;
    if (agent_users_are_own(p) && agent_users_claim(p, &err) == 0)
        p->users_at = AGENT_USERS_MADE;
    follow_objects(p);
    sm_move(&p->prepare, AGENT_PREPARE_DONE);
    if (agent_prepare_complete(p, &err) < 0)
        log_warn("a pod was taken over in part", "pod=%s/%s error=\"%s\"", p->namespace, p->name,
                 err_text(&err));
    agent_pause_start(p);
    return true;
}

void agent_prepare_update(struct agent_pod *p)
{
    if (p->prepare.at == AGENT_PREPARE_WAITS || p->prepare.at == AGENT_PREPARE_DONE)
        follow_objects(p);
    if (p->volumes)
        volume_pod_update(p->volumes, p->spec, &p->facts);
}

/* ---------------------------------------------------------------- removing */

static void check_removed(struct agent_pod *p)
{
    if (p->n_leaving > 0)
        return;
    drop_objects(p);
    agent_image_volumes_drop(p);
    p->has_network = false;
    sm_move(&p->prepare, AGENT_PREPARE_NONE);
    pod_life_torn_down(&p->life);
    agent_pod_look(p);
}

void agent_prepare_part_removed(struct agent_pod *p)
{
    assert(p->n_leaving > 0);
    p->n_leaving--;
    if (p->is_leaving)
        agent_pod_left(p);
    else
        check_removed(p);
}

static void on_network_removed(void *arg, int r, const struct err *err)
{
    struct agent_pod *p = arg;
    if (r < 0)
        agent_event(p, NULL, true, "FailedKillPod", "%s", err_text(err));
    agent_prepare_part_removed(p);
}

static void on_volumes_removed(struct volume_pod *v, void *arg)
{
    agent_prepare_part_removed(arg);
}

static void remove_group(struct timer *t)
{
    struct agent_pod *p = container_of(t, struct agent_pod, group_timer);
    if (container_pod_group_remove(p->agent->containers, p->group) == -EBUSY) {
        timer_start(p->agent->loop, &p->group_timer, GROUP_RETRY_MS, remove_group);
        return;
    }
    p->is_group_made = false;
    agent_prepare_part_removed(p);
}

void agent_tear_down(struct agent_pod *p)
{
    struct err err = { 0 };
    if (p->prepare.at != AGENT_PREPARE_REMOVING)
        sm_move(&p->prepare, AGENT_PREPARE_REMOVING);
    if (!list_is_empty(&p->runs) || p->ipc_at == AGENT_IPC_MAKING ||
        p->users_at == AGENT_USERS_MAKING)
        return; /* the last run, or on_ipc(), calls again */
    assert(p->n_leaving == 0);
    p->n_leaving = 1; /* so that it does not end in between */
    p->n_leaving += agent_pause_stop(p);
    if (p->network) {
        p->n_leaving++;
        pod_network_stop(take_ptr(&p->network), on_network_removed, p);
    }
    if (start_volumes(p, &err) >= 0) { /* with the volumes the pod's directory goes */
        p->n_leaving++;
        volume_pod_close(take_ptr(&p->volumes), VOLUME_POD_REMOVE, on_volumes_removed, p);
    }
    p->n_leaving++; /* an earlier process may have made the group */
    timer_start(p->agent->loop, &p->group_timer, 0, remove_group);
    agent_prepare_part_removed(p);
}

static void on_volumes_left(struct volume_pod *v, void *arg)
{
    struct agent *a = arg;
    agent_part_stopped(a);
}

void agent_prepare_leave(struct agent_pod *p)
{
    timer_stop(p->agent->loop, &p->group_timer);
    if (p->network)
        pod_network_leave(take_ptr(&p->network));
    if (p->volumes) {
        p->agent->n_stopping++;
        volume_pod_close(take_ptr(&p->volumes), VOLUME_POD_KEEP, on_volumes_left, p->agent);
    }
    drop_objects(p);
    agent_image_volumes_drop(p);
}
