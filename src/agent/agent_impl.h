/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the agent share: agent.c follows the Pods, worker.c carries out the steps of
 * one pod, prepare.c its directories, network and volumes, start.c starts a container (config.c
 * writes its configuration), report.c writes the status, record.c keeps what the next process
 * needs, events.c writes Events.
 */
#pragma once

#include "agent/agent.h"
#include "agent/network/network.h"
#include "agent/objects.h"
#include "agent/pod/env.h"
#include "agent/pod/life.h"
#include "agent/pod/status.h"
#include "agent/probe/probe.h"
#include "agent/services.h"
#include "agent/volume/volume.h"
#include "base/map.h"
#include "base/vec.h"
#include "client/ask.h"
#include "client/reflector.h"
#include "container/container.h"

#include <netinet/in.h>

enum {
    AGENT_PATH_MAX = 4096,
    AGENT_ID_SIZE = 33,          /* of a run: 32 hexadecimal digits and a NUL */
    AGENT_REPORT_RETRY_MS = 1000 /* first; doubles up to a minute */
};

struct agent_cpu_sample { /* zeroed: none */
    uint64_t at_ns, cpu_ns;
};

struct agent {
    struct loop *loop;
    struct transport *transport;
    struct watch_hub *hub;
    const struct kube_identity *identity;
    struct container_images images;
    char *node_name, *node_uid, *pods_dir, *logs_dir, *log_dir, *run_dir, *records_dir,
        *containers_dir, *roots_dir, *pause_dir, *seccomp_dir, *runtime;
    struct container_host *containers;
    struct podlog_jobs *log_jobs;
    struct pod_networks *networks;
    struct probers *probers;
    struct agent_objects *objects;
    struct agent_services *services;
    struct service_proxy *proxy; /* NULL: another program's task */
    struct agent_dns *dns;       /* agent/cluster_dns.h */
    struct volume_host *volumes;
    struct arena reading; /* objects that were parsed in this turn, for volumes and environments */
    struct defer read_end;
    struct pod_amounts allocatable;
    uint64_t memory_bytes;          /* of the machine */
    int oom_adj_min;                /* of oom_score_adj, as far as this process may set it */
    uint64_t pod_pids;              /* processes and threads of a pod at most */
    struct agent_cpu_sample sample; /* when somebody last asked, as in runs and pods */
    struct reflector *watch;
    struct reflector *nodes; /* agent/routes.h; so is the next member */
    struct node_routes *routes;
    struct static_source *static_source; /* agent/mirror.h; NULL: none */
    struct kube_registry *rules;         /* of static pods */
    bool are_static_known, are_pods_known;
    struct event_recorder *events;
    struct map pods;  /* uid -> struct agent_pod */
    struct list left; /* runs of an earlier process whose pod is not known yet; likewise */
    struct list left_pauses;
    char **addresses;
    struct str *address_views;
    size_t n_addresses;
    bool is_synced, is_stopping;
    bool are_cidrs_known; /* the node's podCIDRs, or no longer waited for */
    struct timer cidrs_timer;
    struct agent_evict *evict;       /* agent/evict.h */
    struct agent_image_gc *image_gc; /* agent/image_gc.h */
    struct agent_shutdown *shutdown; /* agent/shutdown.h; NULL: the machine goes on */
    char *image_dir;                 /* NULL: not watched */
    struct agent_gc gc;
    struct arena node_arena; /* of node: what admission needs of it; NULL: not known */
    struct json *node;
    unsigned n_measures;  /* of storage, that run */
    bool removes_orphans; /* directories of pods that are gone */
    struct timer orphans_timer;
    struct agent_sweep *sweep; /* agent/run_dirs.h; NULL: none is under way */
    int owner_fd;              /* likewise: the lock of run_dir, or -1 */
    struct timer groups_timer; /* to look again for groups of pods that are gone */
    unsigned n_stopping;       /* parts that have not stopped */
    struct defer stop;
    void (*on_synced)(void *arg);
    void (*on_pods)(void *arg, size_t n_pods);
    const char *const *sysctls;
    size_t n_sysctls;
    void (*on_images)(void *arg);
    void (*on_reclaimed)(void *arg);
    void (*on_node_event)(void *arg, const char *reason, const char *message);
    void *arg;
    void (*done)(void *arg);
    void *done_arg;
};

struct agent_pod;
struct agent_container;

/* One run of a container, from its start until nothing is left of it. */
struct agent_run {
    struct list node; /* of pod.runs, or of agent.left */
    struct agent *agent;
    struct agent_pod *pod; /* NULL: of an earlier process, not claimed yet */
    char *pod_uid, *container_name;
    uint32_t restarts;
    char id[AGENT_ID_SIZE]; /* its name at the container host */
    struct container *c;    /* NULL: not started yet, or it was removed */
    struct container_image *image;
    char *dir; /* pods/UID/containers/NAME-RESTARTS, with its root file system */
    struct agent_starting *starting; /* until the runtime has it; NULL: none */
    struct agent_root_fs *mounting;  /* a job; NULL: none */
    struct container_probes *probes;
    struct podlog_writer *log;
    struct agent_ending *ending; /* it has ended, and waits for its log; NULL: not so */
    bool is_running, is_stopped;
    bool is_removing; /* a job removes its files, and frees it */
    bool is_waiting;  /* for its directory, which an earlier try has still, and for its pod */
    struct defer look;
    struct agent_cpu_sample sample;
    struct list attached; /* clients of kubectl attach: answer_exec.c */
    /* Of an earlier process. */
    char *image_name, *image_id;
    int64_t started_ms;
    bool was_adopted, has_end;
    struct pod_container_end end; /* it ended before its pod was known */
};

/* What a container of the spec has beside its life cycle. */
struct agent_container {
    struct list node; /* of pod.containers */
    struct agent_pod *pod;
    char *name;
    struct container_image_call call;
    bool is_pulling;
    char *early; /* the image that was asked for before the life cycle asks; NULL: none */
    struct container_image *image; /* pulled, for the next start */
    struct agent_run *run;         /* the current one; NULL: none */
    struct agent_hook *hook;       /* that runs; NULL: none */
    uint64_t pull_began_ms;
    size_t pull_skip; /* pull Secrets whose credentials were refused */
};

enum agent_prepare_at {
    AGENT_PREPARE_NONE,
    AGENT_PREPARE_WAITS, /* for its network, objects and volumes */
    AGENT_PREPARE_DONE,
    AGENT_PREPARE_REMOVING, /* waits for its runs, then removes the rest */
};

enum agent_ipc_at { AGENT_IPC_NONE, AGENT_IPC_MAKING, AGENT_IPC_MADE };
enum agent_users_at { AGENT_USERS_NONE, AGENT_USERS_MAKING, AGENT_USERS_MADE };

struct agent_pod {
    struct agent *agent;
    char *uid, *namespace, *name;
    struct arena *arena; /* of spec */
    struct pod_spec *spec;
    struct pod_life life;
    struct pod_conditions conditions;
    struct arena status_arena;
    struct json *object_status; /* as the object has it; in status_arena; NULL: none */
    struct list containers, runs;
    struct defer turn;
    struct timer timer;

    struct sm prepare; /* enum agent_prepare_at */
    char *dir, *log_dir, *group;
    struct pod_network *network;  /* NULL: none, or that of the host */
    bool has_network;             /* it is ready, or that of the host */
    struct volume_pod *volumes;   /* NULL: none */
    enum agent_ipc_at ipc_at;     /* agent/ipc.h */
    enum agent_users_at users_at; /* agent/users.h; so is the next member */
    uint32_t users_base;          /* 0: the users of the machine */
    struct agent_pause *pause;    /* agent/pause.h; NULL: none */
    unsigned n_leaving;           /* parts that are being removed */
    struct timer group_timer;
    bool is_group_made;
    struct agent_cpu_sample sample;
    VEC(struct agent_object *) objects;
    struct list image_volumes; /* agent/image_volumes.h */
    /* Copies: the status has them also after the network has gone. */
    char ip_texts[POD_NETWORK_IPS_MAX][INET6_ADDRSTRLEN];
    struct str ips[POD_NETWORK_IPS_MAX];
    struct pod_facts facts;
    char mount_problem[256]; /* of the last event FailedMount */

    char *static_text; /* of a static pod: its object as JSON; NULL: it is of the API */
    char *mirror_uid;  /* of its mirror; NULL: there is none */
    bool has_storage_limit;
    struct timer storage_timer; /* agent/evict.h */
    struct client_ask *ask;     /* a status, or a deletion, that is being sent */
    bool is_status_dirty, is_deleting;
    char *sent; /* the last status that the server took; NULL: none */
    size_t sent_n;
    char *sending;
    size_t sending_n;
    struct timer report_timer;
    struct timer pending_timer; /* changes of a pod that is Pending are collected */
    uint64_t report_backoff_ms;
    bool is_held;            /* a pod of the same name still ends: it goes first */
    bool is_leaving;         /* the agent stops, and waits for what is being removed here */
    bool is_finished_before; /* it had ended when the agent saw it first: its status stays */
};

/* ---- worker.c ---- */

/* spec and arena are taken. */
struct agent_pod *agent_pod_new(struct agent *a, struct pod_spec *spec, struct arena *arena,
                                const struct json *object);
void agent_pod_set_spec(struct agent_pod *p, struct pod_spec *spec, struct arena *arena,
                        const struct json *object);
/* Deletion, if the object says so. */
void agent_pod_check_deletion(struct agent_pod *p);
/* The object does not exist any more. */
void agent_pod_gone(struct agent_pod *p, uint64_t grace_ms);
/* Look for the next step soon. */
void agent_pod_look(struct agent_pod *p);
/* Free it without ending its containers: the process ends. */
void agent_pod_leave(struct agent_pod *p);
/* Something that a pod which is_leaving waited for has ended. */
void agent_pod_left(struct agent_pod *p);
struct pod_now agent_now(const struct agent *a);
struct agent_container *agent_pod_container(struct agent_pod *p, struct str name);
/* Index in the life cycle; SIZE_MAX: it is not there any more. */
size_t agent_container_index(const struct agent_container *c);

/* ---- agent.c ---- */

void agent_remove_orphans(struct agent *a);
void agent_add_static(struct agent *a, const struct json *object);
/* Pods of the API and static ones: once all are known, what nobody knows is removed. */
void agent_check_synced(struct agent *a);
/* One of agent.n_stopping. */
void agent_part_stopped(struct agent *a);

/* ConfigMaps and Secrets for volumes and environments; parsed until the end of the turn. */
struct pod_objects agent_objects_table(struct agent *a);
/* The object until the end of the turn; NULL: it does not exist. */
const struct json *agent_objects_read(struct agent *a, const struct agent_object *o);

/* ---- prepare.c ---- */

extern const struct sm_state agent_prepare_table[];

void agent_prepare(struct agent_pod *p);
/* Something that it waits for may be there. */
void agent_prepare_look(struct agent_pod *p);
void agent_tear_down(struct agent_pod *p);
/* Take over the network of the pod and what else stands; false: there is none. */
bool agent_prepare_adopt(struct agent_pod *p);
/* Make what could not be made when it was taken over; fine when nothing is missing. */
int agent_prepare_complete(struct agent_pod *p, struct err *err);
/* The object or the spec has changed. */
void agent_prepare_update(struct agent_pod *p);
void agent_prepare_leave(struct agent_pod *p);
/* One of pod.n_leaving. */
void agent_prepare_part_removed(struct agent_pod *p);
/* Volumes are ready, and the server has answered for all objects: also after it was taken over. */
bool agent_prepare_is_settled(const struct agent_pod *p);

/* ---- start.c ---- */

void agent_start_container(struct agent_pod *p, size_t i);
/* What runs that have not begun wait for may be there. */
void agent_start_look(struct agent_pod *p);
void agent_run_stop(struct agent_run *r, uint64_t grace_ms);
/* Take over what an earlier process started. */
struct agent_run *agent_run_find(struct agent *a, struct container *c,
                                 const struct container_left *left);
/* Its pod is known, and its last status: the life cycle gets what the run is or how it ended. */
void agent_run_claim(struct agent_run *r, struct agent_pod *p, const struct json *status);
/* No pod has it: end it, and remove it. */
void agent_run_drop(struct agent_run *r);
/* A probe of the container, or a hook as a single attempt: a list in the arena, and strings of the
 * pod's spec, which a change of the pod frees. */
void agent_probe_spec(struct arena *a, const struct pod_container *c, const struct pod_probe *from,
                      struct probe_spec *to);
/* Start or end its probes, as the life cycle of container i says. */
void agent_run_probe(struct agent_run *r, size_t i, bool is_adopted);
/* If its container has ended and its log is still being written: without waiting for that. */
void agent_run_end_now(struct agent_run *r);
void agent_run_free(struct agent_run *r);
extern const struct container_events agent_run_events;
/* Of the run of a container. */
void agent_run_id(const struct agent_pod *p, struct str container, uint32_t restarts,
                  char ret[AGENT_ID_SIZE]);

/* ---- answer_stats.c ---- */

struct agent_stats_cpu;
struct agent_stats_memory;
/* Of the machine. */
void agent_node_usage(struct agent *a, int64_t now_us, struct agent_stats_cpu *cpu,
                      struct agent_stats_memory *memory);

/* ---- answer_exec.c ---- */

void agent_attach_output(struct agent_run *r, enum container_stream stream, struct str bytes);
void agent_attach_room(struct agent_run *r);
/* The run has ended: status as in container_end. All clients are gone then. */
void agent_attach_end(struct agent_run *r, int status);

/* ---- report.c ---- */

void agent_report(struct agent_pod *p);
/* The object's status, which another writer may have changed: then it is sent again. */
void agent_report_seen(struct agent_pod *p, const struct json *status);
void agent_report_delete(struct agent_pod *p);
void agent_report_cancel(struct agent_pod *p);
/* As it would be reported now. */
struct json *agent_report_status(struct agent_pod *p, struct arena *a);

/* ---- events.c ---- */

struct event_recorder *agent_events_new(struct agent *a);
void agent_event(struct agent_pod *p, const char *container, bool is_warning, const char *reason,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
