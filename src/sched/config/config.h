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
    int32_t weight;   /* never 0: 1 where none is configured */
    bool is_explicit; /* named at this extension point itself, not through multiPoint */
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
    SCHED_CONFIG_MAX_BYTES = 1 << 20,  /* of the text: what a ConfigMap holds */
    SCHED_CONFIG_MAX_PROFILES = 64,    /* each has plugins of its own */
    SCHED_CONFIG_MAX_EXTENDERS = 64,   /* all are asked, one after the other */
    SCHED_CONFIG_MAX_PLUGINS = 256,    /* in one set */
    SCHED_CONFIG_MAX_RESOURCES = 1024, /* in one list of resources or arguments */
};

struct sched_config_profile {
    struct str scheduler_name;
    int32_t percentage; /* percentageOfNodesToScore; 0: adaptive */
    /*
     * What is enabled at each extension point (by enum sched_point), in the order of the calls,
     * after defaults, multiPoint and disabled sets. A name at a point that its plugin does not have
     * is left out for those of multiPoint, and an error where is_explicit: the builder of the
     * profile checks, since only it knows Wasm plugins. A name may be there twice; the builder
     * refuses it in upstream's words.
     */
    struct sched_config_set at[SCHED_CONFIG_POINTS];
    struct sched_config_set multi_point; /* enabled there, defaults among them */
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
    bool limits_requests; /* qps stands in the text: upstream's default of 50 limits nobody */
    double qps;
    int64_t burst;
    const struct json *tree; /* what was read, for Wasm plugins (wplugin_find()) */
};

/*
 * Everything lives in the arena. text: YAML or JSON; "": the defaults. warnings: a line for each
 * field that is known and not supported here, with its path. Errors: E_INVALID: what is wrong and
 * where (line and column where the text does not parse; else the path of the field and upstream's
 * words).
 */
int sched_config_read(struct arena *a, struct str text, struct sched_config *ret,
                      struct buf *warnings, struct err *err);
