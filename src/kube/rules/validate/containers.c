/* SPDX-License-Identifier: Apache-2.0 */
/* Containers of a pod: ports, environment, mounts, probes, resources. */
#include "kube/rules/validate/check.h"

#include <inttypes.h>

/* Generated from text/containers.txt. */
#include "kube/rules/containers_rules.h"

/* ---- references to fields and resources ---- */

/* Splits metadata.labels['x'] into its two parts. */
static bool split_subscript(struct str text, struct str *path, struct str *subscript)
{
    ptrdiff_t open = str_find(text, STR("['"));
    if (open <= 0 || !str_has_suffix(text, STR("']")) || (size_t)open + 4 > text.n)
        return false;
    *path = str_slice(text, 0, (size_t)open);
    *subscript = str_slice(text, (size_t)open + 2, text.n - 2);
    return true;
}

static const char *conversion_error(const struct validate_value *s, struct str version,
                                    struct str field)
{
    struct str path, subscript;
    if (!str_is(version, "v1"))
        return report_text(s, "unsupported pod version: " STR_FMT, STR_ARG(version));
    if (split_subscript(field, &path, &subscript))
        return str_is(path, "metadata.annotations") || str_is(path, "metadata.labels")
                   ? NULL
                   : report_text(s, "field label does not support subscript: " STR_FMT,
                                 STR_ARG(field));
    return validate_enum_has(&enum_known_fields, field) || str_is(field, "spec.host")
               ? NULL
               : report_text(s, "field label not supported: " STR_FMT, STR_ARG(field));
}

void validate_field_reference(const struct validate_value *s, const struct validate_enum *fields)
{
    MEMBER(version, s, "apiVersion");
    MEMBER(field, s, "fieldPath");
    struct str path = value_text(&field), subscript;
    if (value_text(&version).n == 0) {
        report_required(&version, "");
        return;
    }
    if (path.n == 0) {
        report_required(&field, "");
        return;
    }
    const char *wrong = conversion_error(s, value_text(&version), path);
    if (wrong) {
        report_invalid_text(&field, report_text(s, "error converting fieldPath: %s", wrong));
    } else if (split_subscript(path, &path, &subscript)) {
        if (str_is(path, "metadata.annotations"))
            subscript = str_lower_arena(s->errs->a, subscript);
        report_problems(s, subscript, meta_check_qualified_name(subscript));
    } else if (!validate_enum_has(fields, path) && !str_is(path, "spec.host")) {
        report_not_supported(&field, fields);
    }
}

#define SIZES "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"

static void divisor(const struct validate_value *s, struct str resource)
{
    struct quantity q;
    if (!value_quantity(s, &q) || q.nano == 0)
        return;
    bool cpu = str_has_suffix(resource, STR("s.cpu")),
         bytes = validate_enum_has(&enum_divisor_for_bytes, value_text(s));
    const char *kind = str_has_suffix(resource, STR("s.memory")) ? "memory"
                       : str_has_suffix(resource, STR("s.ephemeral-storage"))
                           ? "local ephemeral storage"
                       : str_has_prefix(resource, STR("limits.hugepages-")) ||
                               str_has_prefix(resource, STR("requests.hugepages-"))
                           ? "hugepages"
                           : NULL;
    if (cpu && !validate_enum_has(&enum_divisor_for_cpu, value_text(s)))
        report_invalid_str(s, resource,
                           "only divisor's values 1m and 1 are supported with the cpu resource");
    if (kind && !bytes)
        report_invalid_str(
            s, resource,
            report_text(s, "only divisor's values " SIZES " are supported with the %s resource",
                        kind));
}

void validate_resource_reference(const struct validate_value *s, bool is_volume)
{
    MEMBER(container, s, "containerName");
    MEMBER(resource, s, "resource");
    MEMBER(by, s, "divisor");
    struct str name = value_text(&resource);
    if (is_volume && value_text(&container).n == 0)
        report_required(&container, "");
    else if (name.n == 0)
        report_required(&resource, "");
    else if (!validate_enum_has(&enum_container_fields, name) &&
             !str_has_prefix(name, STR("limits.hugepages-")) &&
             !str_has_prefix(name, STR("requests.hugepages-")))
        report_not_supported(&resource, &enum_container_fields);
    divisor(&by, name);
}

/* ---- environment ---- */

static void key_reference(const struct validate_value *s)
{
    MEMBER(name, s, "name");
    MEMBER(key, s, "key");
    validate_subdomain(&name, NULL);
    if (value_text(&key).n == 0)
        report_required(&key, "");
    else
        report_problems(&key, value_text(&key), meta_check_config_key(value_text(&key)));
}

static void file_reference(const struct validate_value *s)
{
    VALIDATE_MEMBERS(s, rules_file_reference);
}

static void env_source(const struct validate_value *s, struct str value)
{
    MEMBER(field, s, "fieldRef");
    MEMBER(resource, s, "resourceFieldRef");
    MEMBER(config, s, "configMapKeyRef");
    MEMBER(secret, s, "secretKeyRef");
    MEMBER(file, s, "fileKeyRef");
    int n = !!field.v + !!resource.v + !!config.v + !!secret.v + !!file.v;
    if (!s->v)
        return;
    if (field.v)
        validate_field_reference(&field, &enum_env_fields);
    if (resource.v)
        validate_resource_reference(&resource, false);
    if (config.v)
        key_reference(&config);
    if (secret.v)
        key_reference(&secret);
    if (file.v)
        file_reference(&file);
    if (n == 0)
        report_invalid_str(
            s, STR(""),
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
            "`secretKeyRef` or `fileKeyRef`");
    else if (value.n)
        report_invalid_str(s, STR(""), "may not be specified when `value` is not empty");
    else if (n > 1)
        report_invalid_str(s, STR(""), "may not have more than one field specified at a time");
}

static void env_var(const struct validate_value *s, const void *unused)
{
    MEMBER(name, s, "name");
    MEMBER(from, s, "valueFrom");
    validate_required(&name, NULL);
    if (value_text(&name).n)
        report_problems(&name, value_text(&name), names_check_env(value_text(&name)));
    env_source(&from, value_member_text(s, "value"));
}

static void env_from(const struct validate_value *list, const void *unused)
{
    value_each (s, i, list) {
        MEMBER(prefix, &s, "prefix");
        MEMBER(config, &s, "configMapRef");
        MEMBER(secret, &s, "secretRef");
        MEMBER(config_name, &config, "name");
        MEMBER(secret_name, &secret, "name");
        if (value_text(&prefix).n)
            report_problems(&prefix, value_text(&prefix), names_check_env(value_text(&prefix)));
        if (config.v)
            validate_required_subdomain(&config_name, NULL);
        if (secret.v)
            validate_required_subdomain(&secret_name, NULL);
        if (!config.v && !secret.v)
            report_invalid_str(list, STR(""), "must specify one of: `configMapRef` or `secretRef`");
        else if (config.v && secret.v)
            report_invalid_str(list, STR(""),
                               "may not have more than one field specified at a time");
    }
}

/* ---- ports ---- */

static void container_ports(const struct validate_value *list, const void *unused)
{
    struct map names = { 0 };
    value_each (port, i, list) {
        MEMBER(name, &port, "name");
        MEMBER(number, &port, "containerPort");
        MEMBER(host, &port, "hostPort");
        MEMBER(protocol, &port, "protocol");
        struct meta_problems p = names_check_port(value_text(&name));
        if (value_text(&name).n && p.n)
            report_problems(&name, value_text(&name), p);
        else if (value_text(&name).n && map_put(&names, value_text(&name), &names))
            report_duplicate_str(&name, value_text(&name));
        if (value_number(&number) == 0)
            report_required(&number, "");
        else
            validate_port(&number, NULL);
        if (value_number(&host) != 0)
            validate_port(&host, NULL);
        validate_enum(&protocol, &enum_protocols);
    }
    map_fini(&names);
}

static void host_ports_once(const struct validate_value *container, struct map *used)
{
    MEMBER(ports, container, "ports");
    value_each (port, i, &ports) {
        MEMBER(host, &port, "hostPort");
        if (value_number(&host) == 0)
            continue;
        struct str id = str_of(report_text(
            &host, STR_FMT "/" STR_FMT "/%" PRId64, STR_ARG(value_member_text(&port, "protocol")),
            STR_ARG(value_member_text(&port, "hostIP")), value_number(&host)));
        if (map_put(used, id, used))
            report_duplicate_str(&host, id);
    }
}

/* ---- mounts ---- */

static void mount_propagation(const struct validate_value *s,
                              const struct validate_value *container)
{
    MEMBER(security, container, "securityContext");
    validate_enum_if_set(s, &enum_mount_propagation_modes);
    if (value_is(s, "Bidirectional") && !value_member_bool(&security, "privileged"))
        report_forbidden(
            s, "Bidirectional mount propagation is available only to privileged containers");
}

static void recursive_read_only(const struct validate_value *s, const struct validate_value *mount)
{
    struct str propagation = value_member_text(mount, "mountPropagation");
    validate_enum_if_set(s, &enum_recursive_read_only_modes);
    if (!value_is(s, "Enabled") && !value_is(s, "IfPossible"))
        return;
    if (!value_member_bool(mount, "readOnly"))
        report_forbidden(s, "may only be specified when readOnly is true");
    if (propagation.n && !str_is(propagation, "None"))
        report_forbidden(s, "may only be specified when mountPropagation is None or not specified");
}

/* Upstream reports these members under the list, without the index of the mount. */
static void mount_paths(const struct validate_value *mount, const struct validate_value *list,
                        const struct validate_value *container)
{
    MEMBER(expr, mount, "subPathExpr");
    struct validate_value path_at = value_named(list, "subPath", json_getc(mount->v, "subPath"));
    struct validate_value expr_at = value_named(list, "subPathExpr", expr.v);
    struct validate_value propagation =
        value_named(list, "mountPropagation", json_getc(mount->v, "mountPropagation"));
    struct validate_value recursive =
        value_named(list, "recursiveReadOnly", json_getc(mount->v, "recursiveReadOnly"));
    if (value_text(&path_at).n)
        validate_path_below(&path_at, NULL);
    if (value_text(&expr).n) {
        if (value_text(&path_at).n)
            report_invalid_text(&expr, "subPathExpr and subPath are mutually exclusive");
        validate_path_below(&expr_at, NULL);
    }
    mount_propagation(&propagation, container);
    recursive_read_only(&recursive, mount);
}

static void names_and_paths(const struct validate_value *list, const char *path, struct map *names,
                            struct map *paths)
{
    json_each (item, list->v) {
        (void)map_put(names, json_get_str(item, "name"), item);
        (void)map_put(paths, json_get_str(item, path), item);
    }
}

static void image_mount(const struct validate_value *mount)
{
    static const char *const parts[] = { "subPath", "subPathExpr" };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        MEMBER(part, mount, parts[i]);
        if (value_text(&part).n)
            report_invalid_text(&part, "not allowed in image volume sources");
    }
}

static void volume_mounts(const struct validate_value *container, const struct pod_context *pod)
{
    struct map seen = { 0 }, device_names = { 0 }, device_paths = { 0 };
    MEMBER(list, container, "volumeMounts");
    MEMBER(devices, container, "volumeDevices");
    names_and_paths(&devices, "devicePath", &device_names, &device_paths);
    value_each (mount, i, &list) {
        MEMBER(name, &mount, "name");
        MEMBER(path, &mount, "mountPath");
        const struct json *volume = map_get(&pod->volumes, value_text(&name));
        validate_required(&name, NULL);
        if (!volume)
            report_not_found(&name);
        validate_required(&path, NULL);
        if (map_put(&seen, value_text(&path), &seen))
            report_invalid_text(&path, "must be unique");
        if (map_has(&device_names, value_text(&name)))
            report_invalid_text(&name, "must not already exist in volumeDevices");
        if (map_has(&device_paths, value_text(&path)))
            report_invalid_text(&path, "must not already exist as a path in volumeDevices");
        if (json_is(json_getc(volume, "image"), JSON_OBJECT))
            image_mount(&mount);
        mount_paths(&mount, &list, container);
    }
    map_fini(&seen);
    map_fini(&device_names);
    map_fini(&device_paths);
}

static bool is_claim(const struct json *volume)
{
    return json_is(json_getc(volume, "persistentVolumeClaim"), JSON_OBJECT) ||
           json_is(json_getc(volume, "ephemeral"), JSON_OBJECT);
}

static bool has_backsteps(struct str path)
{
    struct str part;
    for (bool more = true; more;) {
        more = str_cut(path, '/', &part, &path);
        if (str_is(part, ".."))
            return true;
    }
    return false;
}

static void volume_devices(const struct validate_value *container, const struct pod_context *pod)
{
    struct map names = { 0 }, paths = { 0 }, mount_names = { 0 }, mounted = { 0 };
    MEMBER(list, container, "volumeDevices");
    MEMBER(mounts, container, "volumeMounts");
    names_and_paths(&mounts, "mountPath", &mount_names, &mounted);
    value_each (device, i, &list) {
        MEMBER(name, &device, "name");
        MEMBER(path, &device, "devicePath");
        const struct json *volume = map_get(&pod->volumes, value_text(&name));
        validate_required(&name, NULL);
        if (map_has(&names, value_text(&name)))
            report_invalid_text(&name, "must be unique");
        if (volume && !is_claim(volume))
            report_invalid_text(&name,
                                "can only use volume source type of PersistentVolumeClaim or "
                                "Ephemeral for block mode");
        if (!volume)
            report_not_found(&name);
        validate_required(&path, NULL);
        if (map_has(&paths, value_text(&path)))
            report_invalid_text(&path, "must be unique");
        if (has_backsteps(value_text(&path)))
            report_invalid_text(&path, "can not contain backsteps ('..')");
        else
            (void)map_put(&paths, value_text(&path), &paths);
        if (map_has(&mount_names, value_text(&name)))
            report_invalid_text(&name, "must not already exist in volumeMounts");
        if (map_has(&mounted, value_text(&path)))
            report_invalid_text(&path, "must not already exist as a path in volumeMounts");
        if (value_text(&name).n)
            (void)map_put(&names, value_text(&name), &names);
    }
    map_fini(&names);
    map_fini(&paths);
    map_fini(&mount_names);
    map_fini(&mounted);
}

/* ---- handlers and probes ---- */

static void exec_action(const struct validate_value *s)
{
    MEMBER(command, s, "command");
    validate_required(&command, NULL);
}

static void http_action(const struct validate_value *s)
{
    MEMBER(headers, s, "httpHeaders");
    VALIDATE_MEMBERS(s, rules_http_action);
    json_each (header, headers.v)
        report_problems(&headers, json_get_str(header, "name"),
                        names_check_http_header(json_get_str(header, "name")));
}

static void port_action(const struct validate_value *s)
{
    MEMBER(port, s, "port");
    validate_port_or_name(&port, NULL);
}

static void sleep_action(const struct validate_value *s, const struct json *grace_period)
{
    MEMBER(seconds, s, "seconds");
    int64_t grace = json_int_or(grace_period, 0);
    if (json_is(grace_period, JSON_NUMBER) &&
        (value_number(&seconds) < 0 || value_number(&seconds) > grace)) {
        struct validate_value at = *s;
        at.v = seconds.v;
        report_invalid_number(&at, report_text(s,
                                               "must be non-negative and less than "
                                               "terminationGracePeriodSeconds (%" PRId64 ")",
                                               grace));
    }
}

/* Requires exactly one of several actions. */
static void handler(const struct validate_value *s, const struct json *grace_period, bool is_probe)
{
    static const struct {
        const char *name;
        void (*check)(const struct validate_value *s);
        bool in_probes, in_lifecycle;
    } actions[] = { { "exec", exec_action, true, true },
                    { "httpGet", http_action, true, true },
                    { "tcpSocket", port_action, true, true },
                    { "grpc", port_action, true, false },
                    { "sleep", NULL, false, true } };
    bool have_one = false;
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        MEMBER(action, s, actions[i].name);
        if (!action.v || !(is_probe ? actions[i].in_probes : actions[i].in_lifecycle))
            continue;
        if (have_one)
            report_forbidden(&action, "may not specify more than 1 handler type");
        else if (actions[i].check)
            actions[i].check(&action);
        else
            sleep_action(&action, grace_period);
        have_one = true;
    }
    if (!have_one)
        report_required(s, "must specify a handler type");
}

enum containers_probe { PROBE_LIVENESS, PROBE_READINESS, PROBE_STARTUP };

static void probe(const struct validate_value *s, enum containers_probe kind)
{
    MEMBER(threshold, s, "successThreshold");
    MEMBER(grace, s, "terminationGracePeriodSeconds");
    if (!s->v)
        return;
    handler(s, NULL, true);
    VALIDATE_MEMBERS(s, rules_probe_numbers);
    if (grace.v && value_number(&grace) <= 0)
        report_invalid(&grace, "must be greater than 0");
    if (kind != PROBE_READINESS && value_number(&threshold) != 1)
        report_invalid_number(&threshold, "must be 1");
    if (kind == PROBE_READINESS && grace.v)
        report_invalid(&grace, "must not be set for readinessProbes");
}

static void lifecycle_and_probes(const struct validate_value *container,
                                 const struct json *grace_period)
{
    static const char *const hooks[] = { "postStart", "preStop" };
    static const char *const probes[] = { [PROBE_LIVENESS] = "livenessProbe",
                                          [PROBE_READINESS] = "readinessProbe",
                                          [PROBE_STARTUP] = "startupProbe" };
    MEMBER(lifecycle, container, "lifecycle");
    for (size_t i = 0; i < ARRAY_LEN(hooks); i++) {
        MEMBER(hook, &lifecycle, hooks[i]);
        if (hook.v)
            handler(&hook, grace_period, false);
    }
    for (size_t i = 0; i < ARRAY_LEN(probes); i++) {
        MEMBER(p, container, probes[i]);
        probe(&p, (enum containers_probe)i);
    }
}

/* ---- containers ---- */

static void resize_policy(const struct validate_value *list, const struct pod_context *pod)
{
    bool never = str_is(json_get_str(pod->spec, "restartPolicy"), "Never");
    struct map seen = { 0 };
    value_each (item, i, list) {
        struct validate_value resource = *list, policy = *list; /* reported under the list */
        resource.v = json_getc(item.v, "resourceName");
        policy.v = json_getc(item.v, "restartPolicy");
        if (map_put(&seen, value_text(&resource), &seen))
            report_duplicate_str(&item, value_text(&resource));
        validate_enum(&resource, &enum_resize_policy_resources);
        validate_enum(&policy, &enum_resize_policy_policies);
        if (never && !value_is(&policy, "NotRequired"))
            report_invalid_text(&policy, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
    map_fini(&seen);
}

/* Rules for all kinds of containers. */
static void container_common(const struct validate_value *s, const struct pod_context *pod)
{
    MEMBER(pull_policy, s, "imagePullPolicy");
    MEMBER(resources, s, "resources");
    MEMBER(resize, s, "resizePolicy");
    MEMBER(security, s, "securityContext");
    VALIDATE_MEMBERS(s, rules_container_common_first);
    volume_mounts(s, pod);
    volume_devices(s, pod);
    validate_enum(&pull_policy, &enum_container_common_pull_policies);
    resource_requirements(&resources, RESOURCE_CONTAINER, &pod->claims);
    resize_policy(&resize, pod);
    validate_container_security(&security, pod->host_users);
}

static void restart_policy(const struct validate_value *s)
{
    MEMBER(policy, s, "restartPolicy");
    MEMBER(rules, s, "restartPolicyRules");
    if (!policy.v && value_count(&rules))
        report_required(&policy, "must specify restartPolicy when restart rules are used");
    validate_enum_if_set(&policy, &enum_restart_policy_policies);
}

static void name_once(const struct validate_value *container, struct map *names)
{
    MEMBER(name, container, "name");
    if (map_has(names, value_text(&name)))
        report_duplicate_str(&name, value_text(&name));
    else
        (void)map_put(names, value_text(&name), names);
}

static void regular_containers(const struct validate_value *list, const struct pod_context *pod)
{
    struct map names = { 0 }, host_ports = { 0 };
    if (value_count(list) == 0)
        report_required(list, "");
    value_each (c, i, list) {
        container_common(&c, pod);
        name_once(&c, &names);
        lifecycle_and_probes(&c, json_getc(pod->spec, "terminationGracePeriodSeconds"));
        restart_policy(&c);
    }
    value_each (c, i, list)
        host_ports_once(&c, &host_ports);
    map_fini(&names);
    map_fini(&host_ports);
}

static void names_of(const struct json *list, struct map *names)
{
    json_each (c, list)
        (void)map_put(names, json_get_str(c, "name"), c);
}

/* Init containers that run to completion have no hooks and no probes. */
static void no_hooks(const struct validate_value *container)
{
    static const char *const fields[] = { "lifecycle", "livenessProbe", "readinessProbe",
                                          "startupProbe" };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        MEMBER(f, container, fields[i]);
        if (f.v)
            report_forbidden(&f, "may not be set for init containers without restartPolicy=Always");
    }
}

static void init_containers(const struct validate_value *list, const struct pod_context *pod)
{
    struct map names = { 0 };
    names_of(json_getc(pod->spec, "containers"), &names);
    value_each (c, i, list) {
        struct map host_ports = { 0 };
        struct validate_value first =
            value_item(list, c.v, 0); /* upstream reports the ports there */
        container_common(&c, pod);
        restart_policy(&c);
        if (value_member_text(&c, "name").n)
            name_once(&c, &names);
        host_ports_once(&first, &host_ports);
        if (str_is(value_member_text(&c, "restartPolicy"), "Always"))
            lifecycle_and_probes(&c, json_getc(pod->spec, "terminationGracePeriodSeconds"));
        else
            no_hooks(&c);
        map_fini(&host_ports);
    }
    map_fini(&names);
}

static void ephemeral_limits(const struct validate_value *container)
{
    static const char *const fields[] = { "ports",         "resources",     "resizePolicy",
                                          "restartPolicy", "livenessProbe", "readinessProbe",
                                          "startupProbe",  "lifecycle" };
    static const char *const paths[] = { "subPath", "subPathExpr" };
    MEMBER(mounts, container, "volumeMounts");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        MEMBER(f, container, fields[i]);
        if (f.v && (f.v->type < JSON_ARRAY || f.v->n))
            report_forbidden(&f, "cannot be set for an Ephemeral Container");
    }
    value_each (mount, i, &mounts)
        for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
            MEMBER(path, &mount, paths[k]);
            if (value_text(&path).n)
                report_forbidden(&path, "cannot be set for an Ephemeral Container");
        }
}

static void ephemeral_containers(const struct validate_value *list, const struct pod_context *pod)
{
    struct map names = { 0 }, others = { 0 };
    if (value_count(list) == 0)
        return;
    names_of(json_getc(pod->spec, "containers"), &others);
    names_of(json_getc(pod->spec, "initContainers"), &others);
    value_each (c, i, list) {
        MEMBER(name, &c, "name");
        MEMBER(target, &c, "targetContainerName");
        container_common(&c, pod);
        validate_image_without_blanks(&c);
        if (map_has(&others, value_text(&name)))
            report_duplicate_str(&name, value_text(&name));
        else
            name_once(&c, &names);
        if (value_text(&target).n && !map_has(&others, value_text(&target)))
            report_not_found(&target);
        ephemeral_limits(&c);
    }
    map_fini(&names);
    map_fini(&others);
}

void validate_image_without_blanks(const struct validate_value *container)
{
    MEMBER(image, container, "image");
    if (str_trim(value_text(&image)).n != value_text(&image).n)
        report_invalid_text(&image, "must not have leading or trailing whitespace");
}

void validate_containers(const struct validate_value *spec, const struct pod_context *pod)
{
    MEMBER(regular, spec, "containers");
    MEMBER(init, spec, "initContainers");
    MEMBER(ephemeral, spec, "ephemeralContainers");
    regular_containers(&regular, pod);
    init_containers(&init, pod);
    ephemeral_containers(&ephemeral, pod);
}

void containers_visit(const struct validate_value *spec,
                      void (*fn)(const struct validate_value *c, void *arg), void *arg)
{
    static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        MEMBER(list, spec, lists[k]);
        value_each (c, i, &list)
            fn(&c, arg);
    }
}
