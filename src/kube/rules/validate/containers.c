/* SPDX-License-Identifier: Apache-2.0 */
/* Containers of a pod: ports, environment, mounts, probes, resources. */
#include "kube/rules/validate/check.h"

#include <inttypes.h>

/* ---- references to fields and resources ---- */

WORDS(env_fields, WORD("metadata.name"), WORD("metadata.namespace"), WORD("metadata.uid"),
      WORD("spec.nodeName"), WORD("spec.serviceAccountName"), WORD("status.hostIP"),
      WORD("status.hostIPs"), WORD("status.podIP"), WORD("status.podIPs"));
/* What the API knows by name; fewer can be used. */
WORDS(known_fields, WORD("metadata.annotations"), WORD("metadata.labels"), WORD("metadata.name"),
      WORD("metadata.namespace"), WORD("metadata.uid"), WORD("spec.nodeName"),
      WORD("spec.restartPolicy"), WORD("spec.serviceAccountName"), WORD("spec.schedulerName"),
      WORD("status.phase"), WORD("status.hostIP"), WORD("status.hostIPs"), WORD("status.podIP"),
      WORD("status.podIPs"));
WORDS(container_fields, WORD("limits.cpu"), WORD("limits.ephemeral-storage"), WORD("limits.memory"),
      WORD("requests.cpu"), WORD("requests.ephemeral-storage"), WORD("requests.memory"));

/* metadata.labels['x'] to its two parts. */
static bool split_subscript(struct str text, struct str *path, struct str *subscript)
{
    ptrdiff_t open = str_find(text, STR("['"));
    if (open <= 0 || !str_has_suffix(text, STR("']")) || (size_t)open + 4 > text.n)
        return false;
    *path = str_slice(text, 0, (size_t)open);
    *subscript = str_slice(text, (size_t)open + 2, text.n - 2);
    return true;
}

static const char *conversion_error(const struct spot *s, struct str version, struct str field)
{
    struct str path, subscript;
    if (!str_is(version, "v1"))
        return say_text(s, "unsupported pod version: " STR_FMT, STR_ARG(version));
    if (split_subscript(field, &path, &subscript))
        return str_is(path, "metadata.annotations") || str_is(path, "metadata.labels")
                   ? NULL
                   : say_text(s, "field label does not support subscript: " STR_FMT,
                              STR_ARG(field));
    return words_has(&known_fields, field) || str_is(field, "spec.host")
               ? NULL
               : say_text(s, "field label not supported: " STR_FMT, STR_ARG(field));
}

void field_reference(const struct spot *s, const struct words *fields)
{
    MEMBER(version, s, "apiVersion");
    MEMBER(field, s, "fieldPath");
    struct str path = spot_text(&field), subscript;
    if (spot_text(&version).n == 0) {
        say_required(&version, "");
        return;
    }
    if (path.n == 0) {
        say_required(&field, "");
        return;
    }
    const char *wrong = conversion_error(s, spot_text(&version), path);
    if (wrong) {
        say_invalid_text(&field, say_text(s, "error converting fieldPath: %s", wrong));
    } else if (split_subscript(path, &path, &subscript)) {
        if (str_is(path, "metadata.annotations"))
            subscript = str_lower_arena(s->errs->a, subscript);
        say_problems(s, subscript, meta_check_qualified_name(subscript));
    } else if (!words_has(fields, path) && !str_is(path, "spec.host")) {
        say_unsupported(&field, fields);
    }
}

#define SIZES "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"

static void divisor(const struct spot *s, struct str resource)
{
    WORDS(for_cpu, WORD("1m"), WORD("1"));
    WORDS(for_bytes, WORD("1"), WORD("1k"), WORD("1M"), WORD("1G"), WORD("1T"), WORD("1P"),
          WORD("1E"), WORD("1Ki"), WORD("1Mi"), WORD("1Gi"), WORD("1Ti"), WORD("1Pi"), WORD("1Ei"));
    struct quantity q;
    if (!spot_quantity(s, &q) || q.nano == 0)
        return;
    bool cpu = str_has_suffix(resource, STR("s.cpu")), bytes = words_has(&for_bytes, spot_text(s));
    const char *kind = str_has_suffix(resource, STR("s.memory")) ? "memory"
                       : str_has_suffix(resource, STR("s.ephemeral-storage"))
                           ? "local ephemeral storage"
                       : str_has_prefix(resource, STR("limits.hugepages-")) ||
                               str_has_prefix(resource, STR("requests.hugepages-"))
                           ? "hugepages"
                           : NULL;
    if (cpu && !words_has(&for_cpu, spot_text(s)))
        say_invalid_str(s, resource,
                        "only divisor's values 1m and 1 are supported with the cpu resource");
    if (kind && !bytes)
        say_invalid_str(
            s, resource,
            say_text(s, "only divisor's values " SIZES " are supported with the %s resource",
                     kind));
}

void resource_reference(const struct spot *s, bool is_volume)
{
    MEMBER(container, s, "containerName");
    MEMBER(resource, s, "resource");
    MEMBER(by, s, "divisor");
    struct str name = spot_text(&resource);
    if (is_volume && spot_text(&container).n == 0)
        say_required(&container, "");
    else if (name.n == 0)
        say_required(&resource, "");
    else if (!words_has(&container_fields, name) &&
             !str_has_prefix(name, STR("limits.hugepages-")) &&
             !str_has_prefix(name, STR("requests.hugepages-")))
        say_unsupported(&resource, &container_fields);
    divisor(&by, name);
}

/* ---- environment ---- */

static void key_reference(const struct spot *s)
{
    MEMBER(name, s, "name");
    MEMBER(key, s, "key");
    must_subdomain(&name, NULL);
    if (spot_text(&key).n == 0)
        say_required(&key, "");
    else
        say_problems(&key, spot_text(&key), meta_check_config_key(spot_text(&key)));
}

static void file_reference(const struct spot *s)
{
    static const struct member_check members[] = { { "key", need, NULL },
                                                   { "volumeName", need, NULL },
                                                   { "path", need, NULL },
                                                   { "path", a_path_below, NULL } };
    CHECK_MEMBERS(s, members);
}

static void env_source(const struct spot *s, struct str value)
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
        field_reference(&field, &env_fields);
    if (resource.v)
        resource_reference(&resource, false);
    if (config.v)
        key_reference(&config);
    if (secret.v)
        key_reference(&secret);
    if (file.v)
        file_reference(&file);
    if (n == 0)
        say_invalid_str(s, STR(""),
                        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                        "`secretKeyRef` or `fileKeyRef`");
    else if (value.n)
        say_invalid_str(s, STR(""), "may not be specified when `value` is not empty");
    else if (n > 1)
        say_invalid_str(s, STR(""), "may not have more than one field specified at a time");
}

static void env_var(const struct spot *s, const void *unused)
{
    MEMBER(name, s, "name");
    MEMBER(from, s, "valueFrom");
    need(&name, NULL);
    if (spot_text(&name).n)
        say_problems(&name, spot_text(&name), check_env_name(spot_text(&name)));
    env_source(&from, member_text(s, "value"));
}

static void env_from(const struct spot *list, const void *unused)
{
    spot_each (s, i, list) {
        MEMBER(prefix, &s, "prefix");
        MEMBER(config, &s, "configMapRef");
        MEMBER(secret, &s, "secretRef");
        MEMBER(config_name, &config, "name");
        MEMBER(secret_name, &secret, "name");
        if (spot_text(&prefix).n)
            say_problems(&prefix, spot_text(&prefix), check_env_name(spot_text(&prefix)));
        if (config.v)
            need_subdomain(&config_name, NULL);
        if (secret.v)
            need_subdomain(&secret_name, NULL);
        if (!config.v && !secret.v)
            say_invalid_str(list, STR(""), "must specify one of: `configMapRef` or `secretRef`");
        else if (config.v && secret.v)
            say_invalid_str(list, STR(""), "may not have more than one field specified at a time");
    }
}

/* ---- ports ---- */

WORDS(protocols, WORD("SCTP"), WORD("TCP"), WORD("UDP"));

static void container_ports(const struct spot *list, const void *unused)
{
    struct map names = { 0 };
    spot_each (port, i, list) {
        MEMBER(name, &port, "name");
        MEMBER(number, &port, "containerPort");
        MEMBER(host, &port, "hostPort");
        MEMBER(protocol, &port, "protocol");
        struct meta_problems p = check_port_name(spot_text(&name));
        if (spot_text(&name).n && p.n)
            say_problems(&name, spot_text(&name), p);
        else if (spot_text(&name).n && map_put(&names, spot_text(&name), &names))
            say_duplicate_str(&name, spot_text(&name));
        if (spot_number(&number) == 0)
            say_required(&number, "");
        else
            a_port(&number, NULL);
        if (spot_number(&host) != 0)
            a_port(&host, NULL);
        one_of(&protocol, &protocols);
    }
    map_fini(&names);
}

static void host_ports_once(const struct spot *container, struct map *used)
{
    MEMBER(ports, container, "ports");
    spot_each (port, i, &ports) {
        MEMBER(host, &port, "hostPort");
        if (spot_number(&host) == 0)
            continue;
        struct str id = str_of(say_text(&host, STR_FMT "/" STR_FMT "/%" PRId64,
                                        STR_ARG(member_text(&port, "protocol")),
                                        STR_ARG(member_text(&port, "hostIP")), spot_number(&host)));
        if (map_put(used, id, used))
            say_duplicate_str(&host, id);
    }
}

/* ---- mounts ---- */

static void mount_propagation(const struct spot *s, const struct spot *container)
{
    WORDS(modes, WORD("Bidirectional"), WORD("HostToContainer"), WORD("None"));
    MEMBER(security, container, "securityContext");
    one_of_or_none(s, &modes);
    if (spot_is(s, "Bidirectional") && !member_true(&security, "privileged"))
        say_forbidden(s,
                      "Bidirectional mount propagation is available only to privileged containers");
}

static void recursive_read_only(const struct spot *s, const struct spot *mount)
{
    WORDS(modes, WORD("Disabled"), WORD("Enabled"), WORD("IfPossible"));
    struct str propagation = member_text(mount, "mountPropagation");
    one_of_or_none(s, &modes);
    if (!spot_is(s, "Enabled") && !spot_is(s, "IfPossible"))
        return;
    if (!member_true(mount, "readOnly"))
        say_forbidden(s, "may only be specified when readOnly is true");
    if (propagation.n && !str_is(propagation, "None"))
        say_forbidden(s, "may only be specified when mountPropagation is None or not specified");
}

/* Upstream reports what is in these under the list, without the index of the mount. */
static void mount_paths(const struct spot *mount, const struct spot *list,
                        const struct spot *container)
{
    MEMBER(expr, mount, "subPathExpr");
    struct spot path_at = spot_named(list, "subPath", json_getc(mount->v, "subPath"));
    struct spot expr_at = spot_named(list, "subPathExpr", expr.v);
    struct spot propagation =
        spot_named(list, "mountPropagation", json_getc(mount->v, "mountPropagation"));
    struct spot recursive =
        spot_named(list, "recursiveReadOnly", json_getc(mount->v, "recursiveReadOnly"));
    if (spot_text(&path_at).n)
        a_path_below(&path_at, NULL);
    if (spot_text(&expr).n) {
        if (spot_text(&path_at).n)
            say_invalid_text(&expr, "subPathExpr and subPath are mutually exclusive");
        a_path_below(&expr_at, NULL);
    }
    mount_propagation(&propagation, container);
    recursive_read_only(&recursive, mount);
}

static void names_and_paths(const struct spot *list, const char *path, struct map *names,
                            struct map *paths)
{
    json_each (item, list->v) {
        (void)map_put(names, json_get_str(item, "name"), item);
        (void)map_put(paths, json_get_str(item, path), item);
    }
}

static void image_mount(const struct spot *mount)
{
    static const char *const parts[] = { "subPath", "subPathExpr" };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        MEMBER(part, mount, parts[i]);
        if (spot_text(&part).n)
            say_invalid_text(&part, "not allowed in image volume sources");
    }
}

static void volume_mounts(const struct spot *container, const struct pod_context *pod)
{
    struct map seen = { 0 }, device_names = { 0 }, device_paths = { 0 };
    MEMBER(list, container, "volumeMounts");
    MEMBER(devices, container, "volumeDevices");
    names_and_paths(&devices, "devicePath", &device_names, &device_paths);
    spot_each (mount, i, &list) {
        MEMBER(name, &mount, "name");
        MEMBER(path, &mount, "mountPath");
        const struct json *volume = map_get(&pod->volumes, spot_text(&name));
        need(&name, NULL);
        if (!volume)
            say_not_found(&name);
        need(&path, NULL);
        if (map_put(&seen, spot_text(&path), &seen))
            say_invalid_text(&path, "must be unique");
        if (map_has(&device_names, spot_text(&name)))
            say_invalid_text(&name, "must not already exist in volumeDevices");
        if (map_has(&device_paths, spot_text(&path)))
            say_invalid_text(&path, "must not already exist as a path in volumeDevices");
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

static void volume_devices(const struct spot *container, const struct pod_context *pod)
{
    struct map names = { 0 }, paths = { 0 }, mount_names = { 0 }, mounted = { 0 };
    MEMBER(list, container, "volumeDevices");
    MEMBER(mounts, container, "volumeMounts");
    names_and_paths(&mounts, "mountPath", &mount_names, &mounted);
    spot_each (device, i, &list) {
        MEMBER(name, &device, "name");
        MEMBER(path, &device, "devicePath");
        const struct json *volume = map_get(&pod->volumes, spot_text(&name));
        need(&name, NULL);
        if (map_has(&names, spot_text(&name)))
            say_invalid_text(&name, "must be unique");
        if (volume && !is_claim(volume))
            say_invalid_text(&name, "can only use volume source type of PersistentVolumeClaim or "
                                    "Ephemeral for block mode");
        if (!volume)
            say_not_found(&name);
        need(&path, NULL);
        if (map_has(&paths, spot_text(&path)))
            say_invalid_text(&path, "must be unique");
        if (has_backsteps(spot_text(&path)))
            say_invalid_text(&path, "can not contain backsteps ('..')");
        else
            (void)map_put(&paths, spot_text(&path), &paths);
        if (map_has(&mount_names, spot_text(&name)))
            say_invalid_text(&name, "must not already exist in volumeMounts");
        if (map_has(&mounted, spot_text(&path)))
            say_invalid_text(&path, "must not already exist as a path in volumeMounts");
        if (spot_text(&name).n)
            (void)map_put(&names, spot_text(&name), &names);
    }
    map_fini(&names);
    map_fini(&paths);
    map_fini(&mount_names);
    map_fini(&mounted);
}

/* ---- handlers and probes ---- */

static void exec_action(const struct spot *s)
{
    MEMBER(command, s, "command");
    need(&command, NULL);
}

static void http_action(const struct spot *s)
{
    WORDS(schemes, WORD("HTTP"), WORD("HTTPS"));
    static const struct member_check members[] = { { "path", need, NULL },
                                                   { "port", a_port_or_name, NULL },
                                                   { "scheme", one_of_strictly, &schemes } };
    MEMBER(headers, s, "httpHeaders");
    CHECK_MEMBERS(s, members);
    json_each (header, headers.v)
        say_problems(&headers, json_get_str(header, "name"),
                     check_http_header(json_get_str(header, "name")));
}

static void port_action(const struct spot *s)
{
    MEMBER(port, s, "port");
    a_port_or_name(&port, NULL);
}

static void sleep_action(const struct spot *s, const struct json *grace_period)
{
    MEMBER(seconds, s, "seconds");
    int64_t grace = json_int_or(grace_period, 0);
    if (json_is(grace_period, JSON_NUMBER) &&
        (spot_number(&seconds) < 0 || spot_number(&seconds) > grace)) {
        struct spot at = *s;
        at.v = seconds.v;
        say_invalid_number(&at, say_text(s,
                                         "must be non-negative and less than "
                                         "terminationGracePeriodSeconds (%" PRId64 ")",
                                         grace));
    }
}

/* Exactly one of several actions. */
static void handler(const struct spot *s, const struct json *grace_period, bool is_probe)
{
    static const struct {
        const char *name;
        void (*check)(const struct spot *s);
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
            say_forbidden(&action, "may not specify more than 1 handler type");
        else if (actions[i].check)
            actions[i].check(&action);
        else
            sleep_action(&action, grace_period);
        have_one = true;
    }
    if (!have_one)
        say_required(s, "must specify a handler type");
}

enum probe { PROBE_LIVENESS, PROBE_READINESS, PROBE_STARTUP };

static void probe(const struct spot *s, enum probe kind)
{
    static const struct member_check numbers[] = { { "initialDelaySeconds", not_negative, NULL },
                                                   { "timeoutSeconds", not_negative, NULL },
                                                   { "periodSeconds", not_negative, NULL },
                                                   { "successThreshold", not_negative, NULL },
                                                   { "failureThreshold", not_negative, NULL } };
    MEMBER(threshold, s, "successThreshold");
    MEMBER(grace, s, "terminationGracePeriodSeconds");
    if (!s->v)
        return;
    handler(s, NULL, true);
    CHECK_MEMBERS(s, numbers);
    if (grace.v && spot_number(&grace) <= 0)
        say_invalid(&grace, "must be greater than 0");
    if (kind != PROBE_READINESS && spot_number(&threshold) != 1)
        say_invalid_number(&threshold, "must be 1");
    if (kind == PROBE_READINESS && grace.v)
        say_invalid(&grace, "must not be set for readinessProbes");
}

static void lifecycle_and_probes(const struct spot *container, const struct json *grace_period)
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
        probe(&p, (enum probe)i);
    }
}

/* ---- containers ---- */

static void resize_policy(const struct spot *list, const struct pod_context *pod)
{
    WORDS(resources, WORD("cpu"), WORD("memory"));
    WORDS(policies, WORD("NotRequired"), WORD("RestartContainer"));
    bool never = str_is(json_get_str(pod->spec, "restartPolicy"), "Never");
    struct map seen = { 0 };
    spot_each (item, i, list) {
        struct spot resource = *list, policy = *list; /* reported under the list */
        resource.v = json_getc(item.v, "resourceName");
        policy.v = json_getc(item.v, "restartPolicy");
        if (map_put(&seen, spot_text(&resource), &seen))
            say_duplicate_str(&item, spot_text(&resource));
        one_of(&resource, &resources);
        one_of(&policy, &policies);
        if (never && !spot_is(&policy, "NotRequired"))
            say_invalid_text(&policy, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
    map_fini(&seen);
}

/* What all kinds of containers must obey. */
static void container_common(const struct spot *s, const struct pod_context *pod)
{
    WORDS(message_policies, WORD("File"), WORD("FallbackToLogsOnError"));
    WORDS(pull_policies, WORD("Always"), WORD("IfNotPresent"), WORD("Never"));
    static const struct each env_vars = { env_var, NULL };
    static const struct member_check first[] = {
        { "name", need_label, NULL },
        { "image", need, NULL },
        { "terminationMessagePolicy", one_of, &message_policies },
        { "ports", container_ports, NULL },
        { "env", each, &env_vars },
        { "envFrom", env_from, NULL },
    };
    MEMBER(pull_policy, s, "imagePullPolicy");
    MEMBER(resources, s, "resources");
    MEMBER(resize, s, "resizePolicy");
    MEMBER(security, s, "securityContext");
    CHECK_MEMBERS(s, first);
    volume_mounts(s, pod);
    volume_devices(s, pod);
    one_of(&pull_policy, &pull_policies);
    resource_requirements(&resources, RESOURCE_CONTAINER, &pod->claims);
    resize_policy(&resize, pod);
    container_security(&security, pod->host_users);
}

static void restart_policy(const struct spot *s)
{
    WORDS(policies, WORD("Always"), WORD("Never"), WORD("OnFailure"));
    MEMBER(policy, s, "restartPolicy");
    MEMBER(rules, s, "restartPolicyRules");
    if (!policy.v && spot_count(&rules))
        say_required(&policy, "must specify restartPolicy when restart rules are used");
    one_of_or_none(&policy, &policies);
}

static void name_once(const struct spot *container, struct map *names)
{
    MEMBER(name, container, "name");
    if (map_has(names, spot_text(&name)))
        say_duplicate_str(&name, spot_text(&name));
    else
        (void)map_put(names, spot_text(&name), names);
}

static void regular_containers(const struct spot *list, const struct pod_context *pod)
{
    struct map names = { 0 }, host_ports = { 0 };
    if (spot_count(list) == 0)
        say_required(list, "");
    spot_each (c, i, list) {
        container_common(&c, pod);
        name_once(&c, &names);
        lifecycle_and_probes(&c, json_getc(pod->spec, "terminationGracePeriodSeconds"));
        restart_policy(&c);
    }
    spot_each (c, i, list)
        host_ports_once(&c, &host_ports);
    map_fini(&names);
    map_fini(&host_ports);
}

static void names_of(const struct json *list, struct map *names)
{
    json_each (c, list)
        (void)map_put(names, json_get_str(c, "name"), c);
}

/* Those that run to their end have no hooks and no probes. */
static void no_hooks(const struct spot *container)
{
    static const char *const fields[] = { "lifecycle", "livenessProbe", "readinessProbe",
                                          "startupProbe" };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        MEMBER(f, container, fields[i]);
        if (f.v)
            say_forbidden(&f, "may not be set for init containers without restartPolicy=Always");
    }
}

static void init_containers(const struct spot *list, const struct pod_context *pod)
{
    struct map names = { 0 };
    names_of(json_getc(pod->spec, "containers"), &names);
    spot_each (c, i, list) {
        struct map host_ports = { 0 };
        struct spot first = spot_item(list, c.v, 0); /* where upstream reports its ports */
        container_common(&c, pod);
        restart_policy(&c);
        if (member_text(&c, "name").n)
            name_once(&c, &names);
        host_ports_once(&first, &host_ports);
        if (str_is(member_text(&c, "restartPolicy"), "Always"))
            lifecycle_and_probes(&c, json_getc(pod->spec, "terminationGracePeriodSeconds"));
        else
            no_hooks(&c);
        map_fini(&host_ports);
    }
    map_fini(&names);
}

static void ephemeral_limits(const struct spot *container)
{
    static const char *const fields[] = { "ports",         "resources",     "resizePolicy",
                                          "restartPolicy", "livenessProbe", "readinessProbe",
                                          "startupProbe",  "lifecycle" };
    static const char *const paths[] = { "subPath", "subPathExpr" };
    MEMBER(mounts, container, "volumeMounts");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        MEMBER(f, container, fields[i]);
        if (f.v && (f.v->type < JSON_ARRAY || f.v->n))
            say_forbidden(&f, "cannot be set for an Ephemeral Container");
    }
    spot_each (mount, i, &mounts)
        for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
            MEMBER(path, &mount, paths[k]);
            if (spot_text(&path).n)
                say_forbidden(&path, "cannot be set for an Ephemeral Container");
        }
}

static void ephemeral_containers(const struct spot *list, const struct pod_context *pod)
{
    struct map names = { 0 }, others = { 0 };
    if (spot_count(list) == 0)
        return;
    names_of(json_getc(pod->spec, "containers"), &others);
    names_of(json_getc(pod->spec, "initContainers"), &others);
    spot_each (c, i, list) {
        MEMBER(name, &c, "name");
        MEMBER(target, &c, "targetContainerName");
        container_common(&c, pod);
        image_without_blanks(&c);
        if (map_has(&others, spot_text(&name)))
            say_duplicate_str(&name, spot_text(&name));
        else
            name_once(&c, &names);
        if (spot_text(&target).n && !map_has(&others, spot_text(&target)))
            say_not_found(&target);
        ephemeral_limits(&c);
    }
    map_fini(&names);
    map_fini(&others);
}

void image_without_blanks(const struct spot *container)
{
    MEMBER(image, container, "image");
    if (str_trim(spot_text(&image)).n != spot_text(&image).n)
        say_invalid_text(&image, "must not have leading or trailing whitespace");
}

void pod_containers(const struct spot *spec, const struct pod_context *pod)
{
    MEMBER(regular, spec, "containers");
    MEMBER(init, spec, "initContainers");
    MEMBER(ephemeral, spec, "ephemeralContainers");
    regular_containers(&regular, pod);
    init_containers(&init, pod);
    ephemeral_containers(&ephemeral, pod);
}

void containers_visit(const struct spot *spec, void (*fn)(const struct spot *c, void *arg),
                      void *arg)
{
    static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        MEMBER(list, spec, lists[k]);
        spot_each (c, i, &list)
            fn(&c, arg);
    }
}
