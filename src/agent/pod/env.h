/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a container, and the expansion of $(NAME) in its command, arguments and sub
 * paths. Pure, any thread.
 */
#pragma once

#include "agent/pod/fields.h"
#include "agent/pod/spec.h"
#include "codec/json.h"

enum {
    POD_ENV_MAX = 65536,            /* variables of one container */
    POD_ENV_BYTES_MAX = 8 << 20,    /* of names and values of one container */
    POD_ENV_EXPANDED_MAX = 1 << 20, /* bytes of one expanded text */
};

/* ---- ConfigMaps and Secrets, for environment and volumes ---- */

enum pod_object_kind { POD_OBJECT_CONFIG_MAP, POD_OBJECT_SECRET };

/*
 * What the composition knows of them: their object as stored. NULL: it does not exist or is not
 * known yet. Borrowed until the caller returns to the loop.
 */
struct pod_objects {
    const struct json *(*get)(void *arg, enum pod_object_kind kind, struct str namespace,
                              struct str name);
    void *arg;
};

/*
 * The value of `key`: text of a ConfigMap's data or decoded bytes of binaryData or of a Secret's
 * data. Returns 1, 0: there is no such key, or E_INVALID: not base64.
 */
int pod_object_value(struct arena *a, const struct json *object, enum pod_object_kind kind,
                     struct str key, struct str *ret, struct err *err);
/* "configmap \"x\" not found", -ENOENT. */
int pod_object_missing(enum pod_object_kind kind, struct str name, struct err *err);

/* ---- Services ---- */

struct pod_service_port {
    struct str name, protocol; /* protocol "TCP" if empty */
    int32_t port;
};
struct pod_service {
    struct str namespace, name;
    struct str cluster_ip; /* services without one, and headless ones, get no variables */
    const struct pod_service_port *ports;
    size_t n_ports;
};

/* ---- the environment ---- */

struct pod_env_input {
    const struct pod_spec *pod;
    const struct pod_container *container;
    const struct pod_facts *facts;
    struct pod_objects objects;
    /*
     * Services of the pod's namespace (used if the pod has enableServiceLinks), and
     * default/kubernetes (always used). Others are ignored.
     */
    const struct pod_service *services;
    size_t n_services;
};

struct pod_environment {
    const struct pod_pair *vars; /* each name once: declared ones first, then those of Services */
    size_t n;
    const struct pod_pair *const *by_name; /* the same, sorted */
    /* Messages of events, reason InvalidEnvironmentVariableNames, type Warning. */
    const struct str *warnings;
    size_t n_warnings;
};

/*
 * Errors, whose texts are those of upstream for the reason CreateContainerConfigError: -ENOENT for
 * an object or a key that is missing and not optional, E_INVALID for a bad reference, E_LIMIT,
 * E_UNSUPPORTED for a source that the agent does not have.
 */
int pod_env_make(struct arena *a, const struct pod_env_input *in, struct pod_environment *ret,
                 struct err *err);

/* NULL: no such variable. */
const struct str *pod_env_get(const struct pod_environment *env, struct str name);

/*
 * $(NAME) becomes the variable's value and stays as it is if there is none; $$ becomes $. Errors:
 * E_LIMIT.
 */
int pod_env_expand(struct arena *a, const struct pod_environment *env, struct str text,
                   struct str *ret, struct err *err);
/* As pod_env_expand(), of a list: command or args. ret: n strings in the arena. */
int pod_env_expand_list(struct arena *a, const struct pod_environment *env, const struct str *texts,
                        size_t n, const struct str **ret, struct err *err);
/* As pod_env_expand(), for subPathExpr: a variable that is missing or empty is E_INVALID. */
int pod_env_expand_strict(struct arena *a, const struct pod_environment *env, struct str text,
                          struct str *ret, struct err *err);
