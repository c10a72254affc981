/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), read as kube-scheduler reads it:
 * defaults, plugin sets with multiPoint, validation with upstream's texts. Pure.
 */
#pragma once

#include "base/buf.h"
#include "codec/json.h"
#include "kube/model/field.h"

struct sched_config_plugin {
    struct str name;
    int32_t weight;   /* never 0; 1 if not configured */
    bool is_explicit; /* named at this extension point, not through multiPoint */
};
struct sched_config_set {
    const struct sched_config_plugin *p;
    size_t n;
};
struct sched_config_args {
    struct str name;
    const struct json *args; /* with defaults filled in for native plugins */
};
enum {
    SCHED_CONFIG_POINTS = 12,          /* enum sched_point of framework/profile.h */
    SCHED_CONFIG_MAX_BYTES = 1 << 20,  /* of the text; a ConfigMap's limit */
    SCHED_CONFIG_MAX_PROFILES = 64,    /* each has its own plugins */
    SCHED_CONFIG_MAX_EXTENDERS = 64,   /* all are called, one after the other */
    SCHED_CONFIG_MAX_PLUGINS = 256,    /* in one set */
    SCHED_CONFIG_MAX_RESOURCES = 1024, /* in one list of resources or arguments */
};

struct sched_config_profile {
    struct str scheduler_name;
    int32_t percentage; /* percentageOfNodesToScore; 0: adaptive */
    /*
     * What is enabled at each extension point (by enum sched_point), in call order, after defaults,
     * multiPoint and disabled sets. If a plugin does not have an extension point, its name is
     * dropped there if it came from multiPoint, and is an error if is_explicit. The builder of the
     * profile checks this, since only it knows Wasm plugins. A name may occur twice; the builder
     * refuses it with upstream's text.
     */
    struct sched_config_set at[SCHED_CONFIG_POINTS];
    struct sched_config_set multi_point; /* enabled there, including defaults */
    const struct sched_config_args *args;
    size_t n_args;
};
struct sched_config_managed { /* a resource that an extender manages */
    struct str name;
    bool ignored_by_scheduler;
};
struct sched_config_extender {
    struct str url_prefix, filter_verb, preempt_verb, prioritize_verb, bind_verb;
    int64_t weight;
    bool enable_https, node_cache_capable, is_ignorable;
    uint64_t timeout_ms;
    struct str server_name, cert_file, key_file, ca_file, cert_data, key_data,
        ca_data; /* data: PEM */
    bool insecure;
    const struct sched_config_managed *managed;
    size_t n_managed;
};
struct sched_config {
    const struct sched_config_profile *profiles;
    size_t n_profiles;
    const struct sched_config_extender *extenders;
    size_t n_extenders;
    uint64_t backoff_first_ms, backoff_max_ms;
    int32_t percentage;
    struct {
        bool on;
        uint64_t lease_ms, deadline_ms, retry_ms;
        struct str name, namespace;
    } leader;
    struct str kubeconfig;
    bool limits_requests; /* the text sets qps; upstream's default of 50 has no effect */
    double qps;
    int64_t burst;
    const struct json *tree; /* the tree that was read, for Wasm plugins (wplugin_find()) */
};

/*
 * Everything lives in the arena. text: YAML or JSON; "": the defaults. warnings: a line with the
 * path of each field that is known but not supported here. Errors: E_INVALID: what is wrong and
 * where (line and column if the text does not parse; else the path of the field and upstream's
 * text).
 */
int sched_config_read(struct arena *a, struct str text, struct sched_config *ret,
                      struct buf *warnings, struct err *err);
