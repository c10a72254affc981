/* SPDX-License-Identifier: Apache-2.0 */
/* A Pod object by field tables. Tables stand before those that use them. */
#include "agent/pod/spec.h"

#include "codec/bind.h"

/* ---------------------------------------------------------------- single values */

static const struct bind_field text_field = { .kind = BIND_KIND_STR };

/* A string, or a number as its text: quantities. */
static int read_scalar(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    if (v->type != JSON_NUMBER)
        return bind_read_value(b, &text_field, v, to);
    *(struct str *)to = str_copy_arena(b->arena, v->s);
    return 0;
}

static int read_port_ref(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    struct pod_port_ref *p = to;
    int64_t number = 0;
    if (v->type == JSON_STRING)
        return bind_read_value(b, &text_field, v, &p->name);
    if (json_int(v, &number) < 0 || number < 0 || number > UINT16_MAX)
        return BIND_FAIL(b, "must be a name or the number of a port");
    p->number = (int32_t)number;
    return 0;
}

/* A boolean that may be missing: 0 or 1. */
static int read_choice(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    if (v->type == JSON_NULL)
        return 0;
    if (!json_is_bool(v))
        return BIND_FAIL(b, "must be true or false");
    *(int8_t *)to = json_bool(v);
    return 0;
}
#define SPEC_CHOICE(key, type, member)                                                             \
    BIND_CUSTOM(key, type, member, read_choice, .size = 0 + BIND_IS_(type, member, int8_t))
#define SPEC_SCALAR(key, type, member)                                                             \
    BIND_CUSTOM(key, type, member, read_scalar, .size = 0 + BIND_IS_(type, member, struct str))

/* A tree that outlives the document. */
static int read_tree(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    *(const struct json **)to = json_clone(b->arena, v);
    return 0;
}

/* ---------------------------------------------------------------- lists of small structs */

static const struct bind_field quantity_item = { .kind = BIND_KIND_CUSTOM,
                                                 .read = read_scalar,
                                                 .at = offsetof(struct pod_quantity, text) };
#define SPEC_QUANTITIES(key_, type, member, n)                                                     \
    BIND_FIELD_(key_, MAP, type, member, BIND_COUNT_(type, member, n),                             \
                .key_at = offsetof(struct pod_quantity, name), .item = &quantity_item,             \
                .max = POD_LIST_MAX)
#define SPEC_PAIRS(key, type, member, n)                                                           \
    BIND_STR_MAP(key, type, member, n, struct pod_pair, name, value, POD_LIST_MAX)
#define SPEC_STRS(key, type, member, n) BIND_STRS(key, type, member, n, POD_LIST_MAX)
#define SPEC_LIST(key, type, member, n, table)                                                     \
    BIND_OBJECTS(key, type, member, n, table, POD_LIST_MAX)

static const struct bind_field pair_fields[] = {
    BIND_STR("name", struct pod_pair, name),
    BIND_STR("value", struct pod_pair, value),
};
static const struct bind_table pair_table =
    BIND_TABLE(pair_fields, .size = sizeof(struct pod_pair));

static const struct bind_field resize_fields[] = {
    BIND_STR("resourceName", struct pod_pair, name),
    BIND_STR("restartPolicy", struct pod_pair, value),
};
static const struct bind_table resize_table =
    BIND_TABLE(resize_fields, .size = sizeof(struct pod_pair));

static const struct bind_field resources_fields[] = {
    SPEC_QUANTITIES("limits", struct pod_resources, limits, n_limits),
    SPEC_QUANTITIES("requests", struct pod_resources, requests, n_requests),
};
static const struct bind_table resources_table = BIND_TABLE(resources_fields);

/* ---------------------------------------------------------------- volumes */

static const struct bind_field item_field_ref[] = {
    BIND_STR("fieldPath", struct pod_key_item, field_path),
};
static const struct bind_table item_field_ref_table = BIND_TABLE(item_field_ref);
static const struct bind_field item_resource_ref[] = {
    BIND_STR("containerName", struct pod_key_item, resource_container),
    BIND_STR("resource", struct pod_key_item, resource),
    SPEC_SCALAR("divisor", struct pod_key_item, resource_divisor),
};
static const struct bind_table item_resource_ref_table = BIND_TABLE(item_resource_ref);
static const struct bind_field item_fields[] = {
    BIND_STR("key", struct pod_key_item, key),
    BIND_STR("path", struct pod_key_item, path),
    BIND_INT("mode", struct pod_key_item, mode, .min = 0, .max = 0777),
    BIND_INLINE("fieldRef", &item_field_ref_table),
    BIND_INLINE("resourceFieldRef", &item_resource_ref_table),
};
static const struct pod_key_item item_preset = { .mode = -1 };
static const struct bind_table item_table =
    BIND_TABLE(item_fields, .size = sizeof(struct pod_key_item), .preset = &item_preset);

static const struct bind_field keys_fields[] = {
    /* of ConfigMap, Secret, downward API */
    BIND_STR("name", struct pod_projected, name),
    BIND_STR("secretName", struct pod_projected, name),
    SPEC_LIST("items", struct pod_projected, items, n_items, &item_table),
    BIND_BOOL("optional", struct pod_projected, is_optional),
};
static const struct bind_table keys_table = BIND_TABLE(keys_fields);
static const struct bind_field token_fields[] = {
    BIND_STR("audience", struct pod_projected, audience),
    BIND_INT("expirationSeconds", struct pod_projected, expiration_s, .min = 1, .max = INT64_MAX),
    BIND_STR("path", struct pod_projected, path),
};
static const struct bind_table token_table = BIND_TABLE(token_fields);

#define SPEC_KIND(function, type, enumerator)                                                      \
    static int function(struct bind *b, const struct json *v, void *at)                            \
    {                                                                                              \
        ((type *)at)->kind = enumerator;                                                           \
        return 0;                                                                                  \
    }
SPEC_KIND(is_config_map, struct pod_projected, POD_PROJECTED_CONFIG_MAP)
SPEC_KIND(is_secret, struct pod_projected, POD_PROJECTED_SECRET)
SPEC_KIND(is_downward_api, struct pod_projected, POD_PROJECTED_DOWNWARD_API)
SPEC_KIND(is_token, struct pod_projected, POD_PROJECTED_TOKEN)
SPEC_KIND(is_trust_bundle, struct pod_projected, POD_PROJECTED_TRUST_BUNDLE)
SPEC_KIND(is_certificate, struct pod_projected, POD_PROJECTED_CERTIFICATE)

static const struct bind_table none_table = { 0 };
static const struct bind_field source_fields[] = {
    BIND_INLINE("configMap", &keys_table, .check = is_config_map),
    BIND_INLINE("secret", &keys_table, .check = is_secret),
    BIND_INLINE("downwardAPI", &keys_table, .check = is_downward_api),
    BIND_INLINE("serviceAccountToken", &token_table, .check = is_token),
    BIND_INLINE("clusterTrustBundle", &none_table, .check = is_trust_bundle),
    BIND_INLINE("podCertificate", &none_table, .check = is_certificate),
};
static const struct pod_projected source_preset = { .expiration_s = 3600 };
static const struct bind_table source_table =
    BIND_TABLE(source_fields, .size = sizeof(struct pod_projected), .preset = &source_preset);

SPEC_KIND(is_empty_dir, struct pod_volume, POD_VOLUME_EMPTY_DIR)
SPEC_KIND(is_host_path, struct pod_volume, POD_VOLUME_HOST_PATH)
SPEC_KIND(is_projected, struct pod_volume, POD_VOLUME_PROJECTED)
SPEC_KIND(is_claim, struct pod_volume, POD_VOLUME_CLAIM)
SPEC_KIND(is_image, struct pod_volume, POD_VOLUME_IMAGE)
SPEC_KIND(is_ephemeral, struct pod_volume, POD_VOLUME_EPHEMERAL)

static const struct bind_field default_mode_field =
    BIND_INT("defaultMode", struct pod_volume, default_mode, .min = 0, .max = 0777);

/* A volume of one source. */
static int read_one_source(struct bind *b, const struct json *v, struct pod_volume *to,
                           enum pod_volume_kind kind, enum pod_projected_kind source_kind)
{
    struct pod_projected *source = arena_new(b->arena, struct pod_projected);
    *source = source_preset;
    source->kind = source_kind;
    *to = (struct pod_volume){ .name = to->name,
                               .default_mode = to->default_mode,
                               .kind = kind,
                               .sources = source,
                               .n_sources = 1 };
    int r = bind_read(b, &keys_table, v, source);
    const struct json *mode = json_getc(v, "defaultMode");
    if (r == 0 && mode && mode->type != JSON_NULL)
        r = bind_read_value(b, &default_mode_field, mode, &to->default_mode);
    return r;
}
static int read_config_map(struct bind *b, const struct bind_field *f, const struct json *v,
                           void *to)
{
    return read_one_source(b, v, to, POD_VOLUME_CONFIG_MAP, POD_PROJECTED_CONFIG_MAP);
}
static int read_secret(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    return read_one_source(b, v, to, POD_VOLUME_SECRET, POD_PROJECTED_SECRET);
}
static int read_downward_api(struct bind *b, const struct bind_field *f, const struct json *v,
                             void *to)
{
    return read_one_source(b, v, to, POD_VOLUME_DOWNWARD_API, POD_PROJECTED_DOWNWARD_API);
}

static const struct bind_field empty_dir_fields[] = {
    BIND_STR("medium", struct pod_volume, medium),
    SPEC_SCALAR("sizeLimit", struct pod_volume, size_limit),
};
static const struct bind_table empty_dir_table = BIND_TABLE(empty_dir_fields);
static const struct bind_field host_path_fields[] = {
    BIND_STR("path", struct pod_volume, path),
    BIND_STR("type", struct pod_volume, type),
};
static const struct bind_table host_path_table = BIND_TABLE(host_path_fields);
static const struct bind_field projected_fields[] = {
    SPEC_LIST("sources", struct pod_volume, sources, n_sources, &source_table),
    BIND_INT("defaultMode", struct pod_volume, default_mode, .min = 0, .max = 0777),
};
static const struct bind_table projected_table = BIND_TABLE(projected_fields);
static const struct bind_field claim_fields[] = {
    BIND_STR("claimName", struct pod_volume, claim),
    BIND_BOOL("readOnly", struct pod_volume, is_read_only),
};
static const struct bind_table claim_table = BIND_TABLE(claim_fields);
static const struct bind_field image_fields[] = {
    BIND_STR("reference", struct pod_volume, image),
    BIND_STR("pullPolicy", struct pod_volume, pull_policy),
};
static const struct bind_table image_table = BIND_TABLE(image_fields);

/* After all members: which kind of volume it is, also of one that the agent does not have. */
static int check_volume(struct bind *b, const struct json *v, void *at)
{
    struct pod_volume *volume = at;
    json_each (member, v) {
        if (!str_is(member->key, "name") && member->type != JSON_NULL)
            volume->kind_name = str_copy_arena(b->arena, member->key);
    }
    volume->in_memory = str_is(volume->medium, "Memory");
    return 0;
}

static const struct bind_field volume_fields[] = {
    BIND_STR("name", struct pod_volume, name),
    BIND_WHOLE("configMap", read_config_map),
    BIND_WHOLE("secret", read_secret),
    BIND_WHOLE("downwardAPI", read_downward_api),
    BIND_INLINE("emptyDir", &empty_dir_table, .check = is_empty_dir),
    BIND_INLINE("hostPath", &host_path_table, .check = is_host_path),
    BIND_INLINE("projected", &projected_table, .check = is_projected),
    BIND_INLINE("persistentVolumeClaim", &claim_table, .check = is_claim),
    BIND_INLINE("image", &image_table, .check = is_image),
    BIND_INLINE("ephemeral", &none_table, .check = is_ephemeral),
};
static const struct pod_volume volume_preset = { .default_mode = 0644 };
static const struct bind_table volume_table =
    BIND_TABLE(volume_fields, .size = sizeof(struct pod_volume), .preset = &volume_preset,
               .check = check_volume);

static const struct bind_field mount_fields[] = {
    BIND_STR("name", struct pod_mount, name),
    BIND_BOOL("readOnly", struct pod_mount, is_read_only),
    BIND_STR("mountPath", struct pod_mount, path),
    BIND_STR("subPath", struct pod_mount, sub_path),
    BIND_STR("mountPropagation", struct pod_mount, propagation),
    BIND_STR("subPathExpr", struct pod_mount, sub_path_expr),
    BIND_STR("recursiveReadOnly", struct pod_mount, recursive_read_only),
};
static const struct bind_table mount_table =
    BIND_TABLE(mount_fields, .size = sizeof(struct pod_mount));

/* ---------------------------------------------------------------- environment and ports */

static const struct bind_field env_field_ref[] = {
    BIND_STR("fieldPath", struct pod_env, field_path),
};
static const struct bind_table env_field_ref_table = BIND_TABLE(env_field_ref);
static const struct bind_field env_resource_ref[] = {
    BIND_STR("containerName", struct pod_env, resource_container),
    BIND_STR("resource", struct pod_env, resource),
    SPEC_SCALAR("divisor", struct pod_env, resource_divisor),
};
static const struct bind_table env_resource_ref_table = BIND_TABLE(env_resource_ref);
static const struct bind_field env_config_map_ref[] = {
    BIND_STR("name", struct pod_env, config_map),
    BIND_STR("key", struct pod_env, key),
    BIND_BOOL("optional", struct pod_env, is_optional),
};
static const struct bind_table env_config_map_ref_table = BIND_TABLE(env_config_map_ref);
static const struct bind_field env_secret_ref[] = {
    BIND_STR("name", struct pod_env, secret),
    BIND_STR("key", struct pod_env, key),
    BIND_BOOL("optional", struct pod_env, is_optional),
};
static const struct bind_table env_secret_ref_table = BIND_TABLE(env_secret_ref);
static const struct bind_field env_source_fields[] = {
    BIND_INLINE("fieldRef", &env_field_ref_table),
    BIND_INLINE("resourceFieldRef", &env_resource_ref_table),
    BIND_INLINE("configMapKeyRef", &env_config_map_ref_table),
    BIND_INLINE("secretKeyRef", &env_secret_ref_table),
};
static const struct bind_table env_source_table = BIND_TABLE(env_source_fields);

static int has_value_from(struct bind *b, const struct json *v, void *at)
{
    ((struct pod_env *)at)->has_value_from = true;
    return 0;
}
static const struct bind_field env_fields[] = {
    BIND_STR("name", struct pod_env, name),
    BIND_STR("value", struct pod_env, value),
    BIND_INLINE("valueFrom", &env_source_table, .check = has_value_from),
};
static const struct bind_table env_table = BIND_TABLE(env_fields, .size = sizeof(struct pod_env));

static const struct bind_field from_config_map[] = {
    BIND_STR("name", struct pod_env_from, config_map),
    BIND_BOOL("optional", struct pod_env_from, is_optional),
};
static const struct bind_table from_config_map_table = BIND_TABLE(from_config_map);
static const struct bind_field from_secret[] = {
    BIND_STR("name", struct pod_env_from, secret),
    BIND_BOOL("optional", struct pod_env_from, is_optional),
};
static const struct bind_table from_secret_table = BIND_TABLE(from_secret);
static const struct bind_field env_from_fields[] = {
    BIND_STR("prefix", struct pod_env_from, prefix),
    BIND_INLINE("configMapRef", &from_config_map_table),
    BIND_INLINE("secretRef", &from_secret_table),
};
static const struct bind_table env_from_table =
    BIND_TABLE(env_from_fields, .size = sizeof(struct pod_env_from));

static const struct bind_field port_fields[] = {
    BIND_STR("name", struct pod_port, name),
    BIND_INT("hostPort", struct pod_port, host_port, .min = 0, .max = UINT16_MAX),
    BIND_INT("containerPort", struct pod_port, container_port, .min = 0, .max = UINT16_MAX),
    BIND_STR("protocol", struct pod_port, protocol),
    BIND_STR("hostIP", struct pod_port, host_ip),
};
static const struct bind_table port_table =
    BIND_TABLE(port_fields, .size = sizeof(struct pod_port));

/* ---------------------------------------------------------------- handlers and probes */

SPEC_KIND(is_exec, struct pod_action, POD_ACTION_EXEC)
SPEC_KIND(is_http, struct pod_action, POD_ACTION_HTTP)
SPEC_KIND(is_tcp, struct pod_action, POD_ACTION_TCP)
SPEC_KIND(is_grpc, struct pod_action, POD_ACTION_GRPC)
SPEC_KIND(is_sleep, struct pod_action, POD_ACTION_SLEEP)

static const struct bind_field exec_fields[] = {
    SPEC_STRS("command", struct pod_action, command, n_command),
};
static const struct bind_table exec_table = BIND_TABLE(exec_fields);
static const struct bind_field http_fields[] = {
    BIND_STR("path", struct pod_action, path),
    BIND_CUSTOM("port", struct pod_action, port, read_port_ref),
    BIND_STR("host", struct pod_action, host),
    BIND_STR("scheme", struct pod_action, scheme),
    SPEC_LIST("httpHeaders", struct pod_action, headers, n_headers, &pair_table),
};
static const struct bind_table http_table = BIND_TABLE(http_fields);
static const struct bind_field tcp_fields[] = {
    BIND_CUSTOM("port", struct pod_action, port, read_port_ref),
    BIND_STR("host", struct pod_action, host),
};
static const struct bind_table tcp_table = BIND_TABLE(tcp_fields);
static const struct bind_field grpc_fields[] = {
    BIND_CUSTOM("port", struct pod_action, port, read_port_ref),
    BIND_STR("service", struct pod_action, service),
};
static const struct bind_table grpc_table = BIND_TABLE(grpc_fields);
static const struct bind_field sleep_fields[] = {
    BIND_INT("seconds", struct pod_action, sleep_s),
};
static const struct bind_table sleep_table = BIND_TABLE(sleep_fields);

#define SPEC_ACTIONS                                                                               \
    BIND_INLINE("exec", &exec_table, .check = is_exec),                                            \
        BIND_INLINE("httpGet", &http_table, .check = is_http),                                     \
        BIND_INLINE("tcpSocket", &tcp_table, .check = is_tcp)
static const struct bind_field action_fields[] = {
    SPEC_ACTIONS,
    BIND_INLINE("sleep", &sleep_table, .check = is_sleep),
};
static const struct bind_table action_table = BIND_TABLE(action_fields);
static const struct bind_field probe_action_fields[] = {
    SPEC_ACTIONS,
    BIND_INLINE("grpc", &grpc_table, .check = is_grpc),
};
static const struct bind_table probe_action_table = BIND_TABLE(probe_action_fields);

/* The action's members are those of the probe itself. */
static int check_probe(struct bind *b, const struct json *v, void *at)
{
    return bind_read(b, &probe_action_table, v, &((struct pod_probe *)at)->action);
}
static const struct bind_field probe_fields[] = {
    BIND_INT("initialDelaySeconds", struct pod_probe, initial_delay_s, .min = 0, .max = INT32_MAX),
    BIND_INT("timeoutSeconds", struct pod_probe, timeout_s, .min = 1, .max = INT32_MAX),
    BIND_INT("periodSeconds", struct pod_probe, period_s, .min = 1, .max = INT32_MAX),
    BIND_INT("successThreshold", struct pod_probe, success_threshold, .min = 1, .max = INT32_MAX),
    BIND_INT("failureThreshold", struct pod_probe, failure_threshold, .min = 1, .max = INT32_MAX),
    BIND_INT("terminationGracePeriodSeconds", struct pod_probe, termination_grace_s),
};
static const struct pod_probe probe_preset = { .timeout_s = 1,
                                               .period_s = 10,
                                               .success_threshold = 1,
                                               .failure_threshold = 3,
                                               .termination_grace_s = -1 };
static const struct bind_table probe_table = BIND_TABLE(
    probe_fields, .size = sizeof(struct pod_probe), .preset = &probe_preset, .check = check_probe);

/* ---------------------------------------------------------------- security */

static const struct bind_field seccomp_fields[] = {
    BIND_STR("type", struct pod_seccomp, type),
    BIND_STR("localhostProfile", struct pod_seccomp, profile),
};
static const struct bind_table seccomp_table = BIND_TABLE(seccomp_fields);
static const struct bind_field capabilities_fields[] = {
    SPEC_STRS("add", struct pod_security, cap_add, n_cap_add),
    SPEC_STRS("drop", struct pod_security, cap_drop, n_cap_drop),
};
static const struct bind_table capabilities_table = BIND_TABLE(capabilities_fields);
static const struct bind_field group_item = { .kind = BIND_KIND_INT,
                                              .size = sizeof(int64_t),
                                              .max = INT32_MAX };
static const struct bind_field security_fields[] = {
    /* of pods and of containers */
    BIND_INT("runAsUser", struct pod_security, run_as_user, .min = 0, .max = INT32_MAX),
    BIND_INT("runAsGroup", struct pod_security, run_as_group, .min = 0, .max = INT32_MAX),
    SPEC_CHOICE("runAsNonRoot", struct pod_security, run_as_non_root),
    SPEC_CHOICE("privileged", struct pod_security, privileged),
    SPEC_CHOICE("readOnlyRootFilesystem", struct pod_security, read_only_root),
    SPEC_CHOICE("allowPrivilegeEscalation", struct pod_security, allow_escalation),
    BIND_STR("procMount", struct pod_security, proc_mount),
    BIND_INLINE("capabilities", &capabilities_table),
    BIND_OBJECT("seccompProfile", struct pod_security, seccomp, &seccomp_table),
    BIND_ARRAY("supplementalGroups", struct pod_security, groups, n_groups, &group_item,
               POD_LIST_MAX),
    BIND_STR("supplementalGroupsPolicy", struct pod_security, supplemental_groups_policy),
    BIND_INT("fsGroup", struct pod_security, fs_group, .min = 0, .max = INT32_MAX),
    BIND_STR("fsGroupChangePolicy", struct pod_security, fs_group_change_policy),
    SPEC_LIST("sysctls", struct pod_security, sysctls, n_sysctls, &pair_table),
};
static const struct bind_table security_table = BIND_TABLE(security_fields);

#define SPEC_SECURITY_PRESET                                                                       \
    {                                                                                              \
        .run_as_user = -1, .run_as_group = -1, .fs_group = -1, .run_as_non_root = -1,              \
        .privileged = -1, .read_only_root = -1, .allow_escalation = -1                             \
    }

/* ---------------------------------------------------------------- containers */

static const struct bind_field lifecycle_fields[] = {
    BIND_OBJECT("postStart", struct pod_container, post_start, &action_table),
    BIND_OBJECT("preStop", struct pod_container, pre_stop, &action_table),
    BIND_STR("stopSignal", struct pod_container, stop_signal),
};
static const struct bind_table lifecycle_table = BIND_TABLE(lifecycle_fields);
static const struct bind_field container_fields[] = {
    BIND_STR("name", struct pod_container, name),
    BIND_STR("image", struct pod_container, image),
    SPEC_STRS("command", struct pod_container, command, n_command),
    SPEC_STRS("args", struct pod_container, args, n_args),
    BIND_STR("workingDir", struct pod_container, working_dir),
    SPEC_LIST("ports", struct pod_container, ports, n_ports, &port_table),
    SPEC_LIST("envFrom", struct pod_container, env_from, n_env_from, &env_from_table),
    SPEC_LIST("env", struct pod_container, env, n_env, &env_table),
    BIND_OBJECT("resources", struct pod_container, resources, &resources_table),
    SPEC_LIST("resizePolicy", struct pod_container, resize_policy, n_resize_policy, &resize_table),
    BIND_STR("restartPolicy", struct pod_container, restart_policy),
    BIND_CUSTOM("restartPolicyRules", struct pod_container, restart_rules, read_tree),
    SPEC_LIST("volumeMounts", struct pod_container, mounts, n_mounts, &mount_table),
    BIND_POINTER("livenessProbe", struct pod_container, liveness, &probe_table),
    BIND_POINTER("readinessProbe", struct pod_container, readiness, &probe_table),
    BIND_POINTER("startupProbe", struct pod_container, startup, &probe_table),
    BIND_INLINE("lifecycle", &lifecycle_table),
    BIND_STR("terminationMessagePath", struct pod_container, termination_path),
    BIND_STR("terminationMessagePolicy", struct pod_container, termination_policy),
    BIND_STR("imagePullPolicy", struct pod_container, pull_policy),
    BIND_OBJECT("securityContext", struct pod_container, security, &security_table),
    BIND_BOOL("stdin", struct pod_container, has_stdin),
    BIND_BOOL("stdinOnce", struct pod_container, stdin_once),
    BIND_BOOL("tty", struct pod_container, has_tty),
    BIND_STR("targetContainerName", struct pod_container, target),
};
/* What the server defaults. */
static const struct pod_container container_preset = {
    .termination_path = { "/dev/termination-log", 20 },
    .termination_policy = { "File", 4 },
    .security = SPEC_SECURITY_PRESET,
};

/* Block devices only count: the agent refuses containers that have some. */
static int check_container(struct bind *b, const struct json *v, void *at)
{
    const struct json *devices = json_getc(v, "volumeDevices");
    ((struct pod_container *)at)->n_devices = json_is(devices, JSON_ARRAY) ? devices->n : 0;
    return 0;
}
static const struct bind_table container_table =
    BIND_TABLE(container_fields, .size = sizeof(struct pod_container), .preset = &container_preset,
               .check = check_container);

/* ---------------------------------------------------------------- the pod */

static const struct bind_field metadata_fields[] = {
    BIND_STR("name", struct pod_spec, name, .flags = BIND_REQUIRED),
    BIND_STR("namespace", struct pod_spec, namespace),
    BIND_STR("uid", struct pod_spec, uid),
    BIND_STR("resourceVersion", struct pod_spec, resource_version),
    BIND_INT("generation", struct pod_spec, generation),
    BIND_STR("creationTimestamp", struct pod_spec, created),
    BIND_STR("deletionTimestamp", struct pod_spec, deletion),
    BIND_INT("deletionGracePeriodSeconds", struct pod_spec, deletion_grace_s),
    SPEC_PAIRS("labels", struct pod_spec, labels, n_labels),
    SPEC_PAIRS("annotations", struct pod_spec, annotations, n_annotations),
};
static const struct bind_table metadata_table = BIND_TABLE(metadata_fields);

static const struct bind_field alias_fields[] = {
    BIND_STR("ip", struct pod_host_alias, ip),
    SPEC_STRS("hostnames", struct pod_host_alias, names, n_names),
};
static const struct bind_table alias_table =
    BIND_TABLE(alias_fields, .size = sizeof(struct pod_host_alias));

static const struct bind_field dns_fields[] = {
    SPEC_STRS("nameservers", struct pod_dns_config, servers, n_servers),
    SPEC_STRS("searches", struct pod_dns_config, searches, n_searches),
    SPEC_LIST("options", struct pod_dns_config, options, n_options, &pair_table),
};
static const struct bind_table dns_table = BIND_TABLE(dns_fields);

/* {"name": ...}, {"conditionType": ...}: elements of one string. */
static const struct bind_field name_only_fields[] = {
    { .name = { "name", 4 }, .kind = BIND_KIND_STR },
};
static const struct bind_table name_only_table =
    BIND_TABLE(name_only_fields, .size = sizeof(struct str));
static const struct bind_field gate_fields[] = {
    { .name = { "conditionType", 13 }, .kind = BIND_KIND_STR },
};
static const struct bind_table gate_table = BIND_TABLE(gate_fields, .size = sizeof(struct str));
static const struct bind_field os_fields[] = {
    BIND_STR("name", struct pod_spec, os),
};
static const struct bind_table os_table = BIND_TABLE(os_fields);

#define SPEC_CONTAINERS(key, member, n)                                                            \
    BIND_OBJECTS(key, struct pod_spec, member, n, &container_table, POD_CONTAINERS_MAX)
static const struct bind_field spec_fields[] = {
    BIND_OBJECTS("volumes", struct pod_spec, volumes, n_volumes, &volume_table, POD_VOLUMES_MAX),
    SPEC_CONTAINERS("initContainers", init, n_init),
    SPEC_CONTAINERS("containers", main, n_main),
    SPEC_CONTAINERS("ephemeralContainers", ephemeral, n_ephemeral),
    BIND_STR("restartPolicy", struct pod_spec, restart_policy),
    BIND_INT("terminationGracePeriodSeconds", struct pod_spec, grace_s),
    BIND_INT("activeDeadlineSeconds", struct pod_spec, deadline_s),
    BIND_STR("dnsPolicy", struct pod_spec, dns_policy),
    BIND_STR("serviceAccountName", struct pod_spec, service_account),
    BIND_STR("nodeName", struct pod_spec, node),
    BIND_BOOL("hostNetwork", struct pod_spec, host_network),
    BIND_BOOL("hostPID", struct pod_spec, host_pid),
    BIND_BOOL("hostIPC", struct pod_spec, host_ipc),
    BIND_BOOL("shareProcessNamespace", struct pod_spec, shares_processes),
    BIND_OBJECT("securityContext", struct pod_spec, security, &security_table),
    SPEC_LIST("imagePullSecrets", struct pod_spec, pull_secrets, n_pull_secrets, &name_only_table),
    BIND_STR("hostname", struct pod_spec, hostname),
    BIND_STR("subdomain", struct pod_spec, subdomain),
    SPEC_LIST("hostAliases", struct pod_spec, aliases, n_aliases, &alias_table),
    BIND_STR("priorityClassName", struct pod_spec, priority_class),
    BIND_INT("priority", struct pod_spec, priority),
    BIND_OBJECT("dnsConfig", struct pod_spec, dns, &dns_table),
    SPEC_LIST("readinessGates", struct pod_spec, readiness_gates, n_readiness_gates, &gate_table),
    BIND_STR("runtimeClassName", struct pod_spec, runtime_class),
    BIND_BOOL("enableServiceLinks", struct pod_spec, service_links),
    SPEC_QUANTITIES("overhead", struct pod_spec, overhead, n_overhead),
    BIND_BOOL("setHostnameAsFQDN", struct pod_spec, set_hostname_as_fqdn),
    BIND_INLINE("os", &os_table),
    SPEC_CHOICE("hostUsers", struct pod_spec, host_users),
    BIND_OBJECT("resources", struct pod_spec, resources, &resources_table),
    BIND_STR("hostnameOverride", struct pod_spec, hostname_override),
};
static const struct bind_table spec_table = BIND_TABLE(spec_fields);

static const struct bind_field pod_fields[] = {
    BIND_INLINE("metadata", &metadata_table, .flags = BIND_REQUIRED),
    BIND_INLINE("spec", &spec_table, .flags = BIND_REQUIRED),
};
static const struct bind_table pod_table = BIND_TABLE(pod_fields);

/* Lists of containers are written by the binder, and only here after it. */
static void set_kinds(const struct pod_container *list, size_t n, enum pod_container_kind kind)
{
    for (size_t i = 0; i < n; i++) {
        struct pod_container *c = (struct pod_container *)&list[i];
        c->kind = kind;
        c->is_sidecar = kind == POD_CONTAINER_INIT && str_is(c->restart_policy, "Always");
    }
}

int pod_spec_read(struct arena *a, const struct json *pod, struct pod_spec *ret, struct err *err)
{
    struct bind b = { .arena = a, .err = err, .mode = BIND_COPIES | BIND_NULL_NONE };
    *ret = (struct pod_spec){ .deletion_grace_s = -1,
                              .grace_s = 30,
                              .deadline_s = -1,
                              .service_links = true,
                              .host_users = -1,
                              .security = SPEC_SECURITY_PRESET,
                              .restart_policy = STR("Always"),
                              .dns_policy = STR("ClusterFirst") };
    int r = bind_read(&b, &pod_table, pod, ret);
    if (r < 0)
        return r;
    if (arena_is_full(a))
        return err_set(err, E_LIMIT, "the pod has more than %zu bytes", a->max_bytes);
    set_kinds(ret->init, ret->n_init, POD_CONTAINER_INIT);
    set_kinds(ret->main, ret->n_main, POD_CONTAINER_MAIN);
    set_kinds(ret->ephemeral, ret->n_ephemeral, POD_CONTAINER_EPHEMERAL);
    ret->is_mirror =
        pod_pair_value(ret->annotations, ret->n_annotations, STR("kubernetes.io/config.mirror")).n >
        0;
    ret->config_hash =
        pod_pair_value(ret->annotations, ret->n_annotations, STR("kubernetes.io/config.hash"));
    return 0;
}

/* ---------------------------------------------------------------- look-ups */

const struct pod_container *pod_spec_at(const struct pod_spec *p, size_t i)
{
    if (i < p->n_init)
        return &p->init[i];
    i -= p->n_init;
    if (i < p->n_main)
        return &p->main[i];
    i -= p->n_main;
    return i < p->n_ephemeral ? &p->ephemeral[i] : NULL;
}

const struct pod_container *pod_spec_container(const struct pod_spec *p, struct str name)
{
    const struct pod_container *c;
    for (size_t i = 0; (c = pod_spec_at(p, i)); i++) {
        if (str_eq(c->name, name))
            return c;
    }
    return NULL;
}

const struct pod_volume *pod_spec_volume(const struct pod_spec *p, struct str name)
{
    for (size_t i = 0; i < p->n_volumes; i++) {
        if (str_eq(p->volumes[i].name, name))
            return &p->volumes[i];
    }
    return NULL;
}

struct str pod_pair_value(const struct pod_pair *pairs, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++) {
        if (str_eq(pairs[i].name, name))
            return pairs[i].value;
    }
    return STR_NULL;
}
