/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spec of a Function (dormouse.dev/v1alpha1), parsed, checked beyond its schema, with every
 * default filled in. The schema is crd.json, the page for users docs/functions.md. All roles parse
 * the same bytes with this.
 *
 * Times are in ms, memory in bytes, CPU in thousandths of a core, unless a name says otherwise.
 */
#pragma once

#include "base/mem.h"
#include "codec/json.h"
#include "container/images.h"

enum fn_runtime { FN_WASM, FN_OCI, FN_FAKE };
enum fn_protocol { FN_HTTP1, FN_H2C, FN_GRPC };
enum fn_abi { FN_ABI_AUTO, FN_ABI_COMMAND, FN_ABI_REACTOR };
enum fn_balance { FN_FIRST_FREE, FN_P2C, FN_ROUND_ROBIN, FN_LEAST_IN_FLIGHT, FN_RANDOM };
enum fn_scale_policy {
    FN_SCALE_KPA,
    FN_SCALE_DIRIGENT,
    FN_SCALE_MU,
    FN_SCALE_ESCARGOT,
    FN_SCALE_HYBRID
};
enum fn_metric { FN_METRIC_CONCURRENCY, FN_METRIC_RPS };

enum {
    FN_NAME_MAX = 63,
    FN_HOST_MAX = 253,
    FN_SPEC_MAX_BYTES = 256 << 10,
    FN_ARGS_MAX = 256,
    FN_ENV_MAX = 256,
    FN_ENV_MAX_BYTES = 64 << 10, /* resolved, together */
    FN_SECRETS_MAX = 16,
    FN_PULL_SECRETS_MAX = 8,
    FN_NODE_SELECTOR_MAX = 1024,
    FN_HOSTS_MAX = 16, /* and paths */
    FN_TRAFFIC_MAX = 16,
    FN_TRIGGERS_MAX = 32,
    FN_RETRY_ON_MAX = 64,
    FN_REVISIONS_MAX = 20, /* kept; the oldest without traffic are deleted */
    FN_BODY_MAX_DEFAULT = 16 << 20,
    FN_REQUEST_MS_DEFAULT = 300000,
    FN_REQUEST_MS_MAX = 3600000,
    FN_QUEUE_MS_DEFAULT = 60000,
    FN_QUEUE_MAX_DEFAULT = 1000, /* requests waiting for a sandbox */
    FN_QUEUE_MAX = 100000,
    FN_GRACE_MS_DEFAULT = 10000, /* SIGTERM to SIGKILL */
    FN_MEMORY_DEFAULT = 64 << 20,
    FN_CPU_DEFAULT = 100,
    FN_LIGHT_MEMORY = 1 << 20, /* reserved for a sandbox that uses no memory while it is idle */
    FN_LIGHT_CPU = 0
};

struct fn_name_value {
    struct str name, value;
};
/* Exactly one of value and (object, key). */
struct fn_env {
    struct str name, value;
    bool is_secret; /* of a Secret, else of a ConfigMap; only with object */
    struct str object, key;
    bool is_optional;
};
struct fn_secret_file { /* each key of the Secret is a file below path */
    struct str secret, path;
};
struct fn_traffic {
    uint32_t revision;        /* 0: the latest that is ready */
    uint32_t percent;         /* all entries without header and with percent: 100 together */
    struct str tag;           /* TAG.NAME.NAMESPACE as host, and field x-dormouse-tag; "": none */
    struct str header, value; /* requests with this field use this entry; "": none */
};

enum fn_trigger_kind { FN_TRIGGER_CRON, FN_TRIGGER_EVENT, FN_TRIGGER_WATCH };
struct fn_trigger {
    enum fn_trigger_kind kind;
    struct str name;            /* unique in the function */
    struct str path;            /* of the request made; "/" */
    struct str cron, time_zone; /* CRON: five fields or @hourly etc.; "": UTC */
    struct str body;            /* CRON: of the request */
    struct str type, source;    /* EVENT: exact, or with a trailing '*'; "": any */
    struct str api_version, kind_name, namespace, label_selector; /* WATCH */
    bool on_added, on_modified, on_deleted;
};

struct fn_async {
    uint32_t attempts;        /* 3 */
    uint64_t backoff_ms;      /* 1000; doubles, with jitter */
    uint64_t backoff_max_ms;  /* 300000 */
    uint64_t age_max_ms;      /* 6 h */
    uint64_t result_ttl_ms;   /* 1 h */
    const uint16_t *retry_on; /* statuses; default 429 and 500..599 as n == 0 */
    size_t n_retry_on;
    struct str dead_letter_function; /* "name" or "namespace/name"; "": none */
    struct str dead_letter_url;
};

/* What sandboxes depend on: specs that differ here are different revisions. */
struct fn_template {
    enum fn_runtime runtime;
    /* WASM: one origin (modules/module_source.h) */
    struct str file, config_map, key, url, sha256;
    enum fn_abi abi;
    bool reuse;               /* memory is kept between requests */
    struct str image;         /* OCI: a reference, or */
    struct str bundle;        /* a directory with config.json and rootfs */
    enum container_pull pull; /* with image */
    struct str *pull_secrets; /* Secrets with credentials for its registry */
    size_t n_pull_secrets;
    struct str *command; /* OCI: replaces the program and its arguments; none: those of the image */
    size_t n_command;
    uint64_t fake_create_ms; /* FAKE: duration of a creation, */
    uint64_t fake_work_ms;   /* and of a request that does not set its own */
    struct str *args;
    size_t n_args;
    struct fn_env *env;
    size_t n_env;
    struct fn_secret_file *secrets;
    size_t n_secrets;
    uint16_t port; /* OCI: where it listens inside; 8080; passed as $PORT */
    enum fn_protocol protocol;
    struct fn_name_value *node_selector;
    size_t n_node_selector;
    uint64_t cpu_milli, memory; /* limits of a sandbox; see fn_reserved_memory() */
    bool has_cpu_limit; /* OCI: the spec has cpu_milli; otherwise the default is reserved, and only
                           a weight */
    uint64_t pids_max;  /* OCI */
    struct str readiness_path; /* OCI: 200..399 means ready; "": ready when the port accepts */
    uint64_t readiness_ms;     /* from start to ready at most; 30000 */
};

struct fn_scale {
    enum fn_scale_policy policy;
    enum fn_metric metric;
    uint32_t target; /* soft: requests (or requests per second) of one sandbox; 0: limit, or 100
                        without one */
    uint32_t utilization; /* percent of the target; 70 */
    uint32_t min, max;    /* 0 and none (UINT32_MAX) */
    uint32_t initial;     /* right after a new revision; 0 */
    uint32_t activation;  /* the first creation makes this many; 1 */
    uint64_t stable_ms;   /* 60000 */
    uint32_t panic_window_percent, panic_threshold_percent; /* 10, 200 */
    uint32_t up_rate_percent, down_rate_percent;            /* 100000 (1000 times), 200 */
    uint64_t down_delay_ms;                                 /* 0 */
    uint64_t idle_ms; /* the last sandbox is kept for this time after the last request; 0: the
                         policy's */
    int64_t burst;    /* target burst capacity; -1: always through the queue's owner; 0 */
};

struct fn_spec {
    struct fn_template t;
    uint32_t concurrency; /* hard limit of requests in one sandbox; 0: none */
    uint64_t request_ms;  /* in the sandbox */
    uint64_t grace_ms;    /* OCI: SIGTERM to SIGKILL */
    struct fn_scale scale;
    enum fn_balance balance;
    uint32_t queue_max;
    uint64_t queue_ms;
    uint64_t idle_ms;          /* of a connection during a request, in either direction; 0: none */
    uint64_t body_max;         /* bytes */
    uint64_t response_max;     /* bytes; 0: none */
    struct str *hosts, *paths; /* besides NAME.NAMESPACE and /fn/NAMESPACE/NAME */
    size_t n_hosts, n_paths;
    struct fn_traffic *traffic; /* none: all to the latest */
    size_t n_traffic;
    struct fn_async async;
    struct fn_trigger *triggers;
    size_t n_triggers;
    bool is_public; /* may be called without a token where the namespace requires one */
};

/* The CustomResourceDefinitions of functions, JSON, one list. */
struct str fn_crds(void);

/*
 * `spec`: the spec of a Function. Strings lie in the arena or in `spec`.
 * Errors: E_INVALID with the field's path and what is wrong.
 */
int fn_spec_read(struct arena *a, const struct json *spec, struct fn_spec *ret, struct err *err);
/* The template alone, as Revision.spec has it. */
int fn_template_read(struct arena *a, const struct json *spec, struct fn_template *ret,
                     struct err *err);
/*
 * What placement reserves for one sandbox: for a container its limit; for a Wasm module, which has
 * neither memory nor threads between requests, at most FN_LIGHT_MEMORY. CPU: cpu_milli, by default
 * FN_LIGHT_CPU where there is no container.
 */
uint64_t fn_reserved_memory(const struct fn_template *t);
/*
 * The members of a spec that make up the template, in canonical order: equal text means equal
 * revision.
 */
void fn_template_json(const struct json *spec, struct buf *to);
