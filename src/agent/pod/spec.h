/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Pod object (core/v1) as the agent needs it: what runs, with which volumes, probes and limits.
 * The API server has validated and defaulted the object; a static pod has gone through the same
 * rules. The reader still bounds every list, since a node does not trust its server with its
 * memory.
 *
 * Strings are copies in the arena; empty means not stated. Pure, any thread.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "codec/json.h"

enum {
    POD_CONTAINERS_MAX = 512, /* of each of the three lists */
    POD_VOLUMES_MAX = 1024,
    POD_LIST_MAX = 4096, /* any other list: environment, ports, items ... */
    POD_ARENA_MAX = 16 << 20
};

/* ---- small parts ---- */

struct pod_pair { /* of labels, annotations, sysctls, options */
    struct str name, value;
};

/* A string or a number: a port by number or by the name of a container's port. */
struct pod_port_ref {
    struct str name; /* empty: number */
    int32_t number;
};

struct pod_key_item { /* of a ConfigMap, a Secret, the downward API */
    struct str key, path;
    struct str field_path; /* downward API: "metadata.labels['app']" */
    struct str resource_container, resource, resource_divisor; /* downward API */
    int32_t mode;                                              /* -1: that of the volume */
};

struct pod_quantity { /* of a resource, as "cpu", "memory", "ephemeral-storage" */
    struct str name;
    struct str text; /* as in the object */
};

struct pod_resources {
    const struct pod_quantity *limits, *requests;
    size_t n_limits, n_requests;
};

enum pod_volume_kind {
    POD_VOLUME_UNKNOWN, /* a kind that the agent does not have */
    POD_VOLUME_EMPTY_DIR,
    POD_VOLUME_HOST_PATH,
    POD_VOLUME_CONFIG_MAP,
    POD_VOLUME_SECRET,
    POD_VOLUME_PROJECTED,
    POD_VOLUME_DOWNWARD_API,
    POD_VOLUME_CLAIM, /* persistentVolumeClaim */
    POD_VOLUME_IMAGE,
    POD_VOLUME_EPHEMERAL /* a claim named POD-VOLUME */
};

enum pod_projected_kind {
    POD_PROJECTED_UNKNOWN,
    POD_PROJECTED_CONFIG_MAP,
    POD_PROJECTED_SECRET,
    POD_PROJECTED_DOWNWARD_API,
    POD_PROJECTED_TOKEN,        /* serviceAccountToken */
    POD_PROJECTED_TRUST_BUNDLE, /* clusterTrustBundle */
    POD_PROJECTED_CERTIFICATE   /* podCertificate */
};

/* A ConfigMap, Secret, downward API or token, as a volume or as a source of a projected one. */
struct pod_projected {
    enum pod_projected_kind kind;
    struct str name; /* of the ConfigMap or Secret */
    bool is_optional;
    const struct pod_key_item *items; /* none: all keys */
    size_t n_items;
    /* Token. */
    struct str audience, path;
    int64_t expiration_s; /* 3600 unless stated */
};

struct pod_volume {
    struct str name;
    enum pod_volume_kind kind;
    struct str kind_name; /* the member that states it: "emptyDir" */
    /* CONFIG_MAP, SECRET, DOWNWARD_API: one source; PROJECTED: its sources. */
    const struct pod_projected *sources;
    size_t n_sources;
    int32_t default_mode; /* 0644 */
    /* EMPTY_DIR */
    bool in_memory;                /* medium Memory */
    struct str medium, size_limit; /* a quantity; empty: none */
    /* HOST_PATH */
    struct str path, type; /* "", "DirectoryOrCreate", ... */
    /* CLAIM */
    struct str claim;
    bool is_read_only;
    /* IMAGE */
    struct str image, pull_policy;
};

struct pod_mount {
    struct str name; /* of the volume */
    struct str path; /* absolute, or below the root */
    struct str sub_path, sub_path_expr;
    struct str propagation; /* "None", "HostToContainer", "Bidirectional" */
    struct str recursive_read_only;
    bool is_read_only;
};

struct pod_env {
    struct str name;
    bool has_value_from;
    struct str value; /* with $(NAME) */
    struct str field_path;
    struct str resource_container, resource, resource_divisor;
    struct str config_map, secret, key; /* one of the first two is empty */
    bool is_optional;
};

struct pod_env_from {
    struct str prefix;
    struct str config_map, secret; /* one is empty */
    bool is_optional;
};

struct pod_port {
    struct str name, protocol, host_ip;
    int32_t container_port, host_port;
};

/* ---- handlers and probes ---- */

enum pod_action_kind {
    POD_ACTION_NONE,
    POD_ACTION_EXEC,
    POD_ACTION_HTTP,
    POD_ACTION_TCP,
    POD_ACTION_GRPC,
    POD_ACTION_SLEEP
};

struct pod_action {
    enum pod_action_kind kind;
    const struct str *command; /* EXEC */
    size_t n_command;
    struct str host, path, scheme, service;
    struct pod_port_ref port;
    const struct pod_pair *headers;
    size_t n_headers;
    int64_t sleep_s;
};

struct pod_probe { /* seconds; defaulted by the server */
    struct pod_action action;
    int32_t initial_delay_s, timeout_s, period_s, success_threshold, failure_threshold;
    int64_t termination_grace_s; /* -1: that of the pod */
};

/* ---- security ---- */

struct pod_seccomp {
    struct str type; /* "", "Unconfined", "RuntimeDefault", "Localhost" */
    struct str profile;
};

/* Of the pod, and of a container, whose members win. -1: not stated. */
struct pod_security {
    int64_t run_as_user, run_as_group, fs_group;
    int8_t run_as_non_root, privileged, read_only_root, allow_escalation; /* bools */
    struct str fs_group_change_policy, supplemental_groups_policy, proc_mount;
    const int64_t *groups; /* supplementalGroups */
    size_t n_groups;
    const struct pod_pair *sysctls;
    size_t n_sysctls;
    const struct str *cap_add, *cap_drop; /* without "CAP_", or "ALL" */
    size_t n_cap_add, n_cap_drop;
    struct pod_seccomp seccomp;
};

/* ---- containers ---- */

enum pod_container_kind { POD_CONTAINER_INIT, POD_CONTAINER_MAIN, POD_CONTAINER_EPHEMERAL };

struct pod_container {
    struct str name, image;
    enum pod_container_kind kind;
    bool is_sidecar;                  /* an init container with restartPolicy Always */
    struct str restart_policy;        /* of the container; empty: the pod's */
    const struct json *restart_rules; /* as in the object, in the arena; NULL: none */
    const struct str *command, *args;
    size_t n_command, n_args;
    struct str working_dir;
    const struct pod_port *ports;
    size_t n_ports;
    const struct pod_env *env;
    const struct pod_env_from *env_from;
    size_t n_env, n_env_from;
    struct pod_resources resources;
    const struct pod_pair *resize_policy; /* resource -> "NotRequired", "RestartContainer" */
    size_t n_resize_policy;
    const struct pod_mount *mounts;
    size_t n_mounts, n_devices; /* volumeDevices are counted: the agent has none */
    const struct pod_probe *liveness, *readiness, *startup; /* NULL: none */
    struct pod_action post_start, pre_stop;
    struct str stop_signal;        /* "SIGTERM"; empty: the image's */
    struct str termination_path;   /* /dev/termination-log */
    struct str termination_policy; /* "File", "FallbackToLogsOnError" */
    struct str pull_policy;        /* "Always", "IfNotPresent", "Never" */
    struct pod_security security;
    bool has_stdin, stdin_once, has_tty;
    struct str target; /* of an ephemeral container: the container whose processes it sees */
};

/* ---- the pod ---- */

struct pod_host_alias {
    struct str ip;
    const struct str *names;
    size_t n_names;
};

struct pod_dns_config {
    const struct str *servers, *searches;
    size_t n_servers, n_searches;
    const struct pod_pair *options;
    size_t n_options;
};

struct pod_spec {
    /* metadata */
    struct str namespace, name, uid, resource_version;
    const struct pod_pair *labels, *annotations;
    size_t n_labels, n_annotations;
    int64_t generation;
    struct str created, deletion; /* RFC 3339; deletion empty: it is not being deleted */
    int64_t deletion_grace_s;     /* -1: not stated */
    bool is_mirror;               /* of a static pod: annotation kubernetes.io/config.mirror */
    struct str config_hash;       /* annotation kubernetes.io/config.hash */
    /* spec */
    struct str node;
    const struct pod_container *init, *main, *ephemeral;
    size_t n_init, n_main, n_ephemeral;
    const struct pod_volume *volumes;
    size_t n_volumes;
    struct str restart_policy; /* "Always", "OnFailure", "Never" */
    int64_t grace_s;           /* terminationGracePeriodSeconds */
    int64_t deadline_s;        /* activeDeadlineSeconds; -1: none */
    struct str dns_policy;
    struct pod_dns_config dns;
    struct str service_account, hostname, subdomain, hostname_override;
    bool set_hostname_as_fqdn, host_network, host_pid, host_ipc, shares_processes;
    bool service_links; /* enableServiceLinks; true unless stated */
    int8_t host_users;  /* -1: not stated; 0: a user namespace of its own */
    struct pod_security security;
    const struct str *pull_secrets;
    size_t n_pull_secrets;
    const struct pod_host_alias *aliases;
    size_t n_aliases;
    const struct str *readiness_gates;
    size_t n_readiness_gates;
    int32_t priority;
    struct str priority_class, runtime_class, os;
    struct pod_resources resources; /* of the whole pod */
    const struct pod_quantity *overhead;
    size_t n_overhead;
};

/*
 * Read the Pod `pod`. Errors: E_INVALID and E_LIMIT with the path of the member; E_LIMIT also if
 * the arena (POD_ARENA_MAX, set by the caller) is full.
 */
int pod_spec_read(struct arena *a, const struct json *pod, struct pod_spec *ret, struct err *err);

/* NULL: none of this name. */
const struct pod_container *pod_spec_container(const struct pod_spec *p, struct str name);
const struct pod_volume *pod_spec_volume(const struct pod_spec *p, struct str name);
/* Value of an annotation or label; empty: none. */
struct str pod_pair_value(const struct pod_pair *pairs, size_t n, struct str name);
/* All containers in the order init, main, ephemeral; NULL: no more. */
const struct pod_container *pod_spec_at(const struct pod_spec *p, size_t i);
