/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and pod templates. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <inttypes.h>

/* Generated from text/pod.txt. */
#include "kube/rules/pod_rules.h"

#define SECCOMP_PREFIX "container.seccomp.security.alpha.kubernetes.io/"
#define SECCOMP_POD    "seccomp.security.alpha.kubernetes.io/pod"
#define DELETION_COST  "controller.kubernetes.io/pod-deletion-cost"

/* ---- annotations ---- */

void validate_annotations(const struct validate_value *s, const void *unused)
{
    meta_validate_annotations(s->v, value_path(s), s->errs);
}

static void seccomp_annotation(const struct validate_value *map, const struct json *annotation)
{
    struct str profile = json_str(annotation), local;
    struct validate_value at =
        value_named(map, str_dup_arena(map->errs->a, annotation->key), annotation);
    if (str_is(profile, "runtime/default") || str_is(profile, "docker/default") ||
        str_is(profile, "unconfined"))
        return;
    if (!str_has_prefix(profile, STR("localhost/"))) {
        report_invalid_text(&at, "must be a valid seccomp profile");
        return;
    }
    local = str_slice(profile, sizeof "localhost/" - 1, profile.n);
    at.v = json_new_str(map->errs->a, local);
    validate_path_below(&at, NULL);
}

static void app_armor_annotation(const struct validate_value *at, const struct map *containers)
{
    struct str name = str_slice(at->at.name, sizeof APP_ARMOR_PREFIX - 1, at->at.name.n);
    struct str profile = value_text(at);
    if (!map_has(containers, name))
        report_invalid_str(at, name, "container not found");
    if (profile.n == 0 || str_is(profile, "runtime/default") || str_is(profile, "unconfined") ||
        str_has_prefix(profile, STR("localhost/")))
        return;
    struct buf b = BUF_INIT(16 * 1024);
    (void)buf_add_cstr(&b, "invalid AppArmor profile name: ");
    field_go_quote(&b, profile);
    report_invalid_text(at, buf_cstr(&b));
    buf_fini(&b);
}

static void put_name(const struct validate_value *container, void *names)
{
    (void)map_put(names, value_member_text(container, "name"), names);
}

static bool is_deletion_cost(struct str s)
{
    int64_t n;
    return parse_i64(s, INT32_MIN, INT32_MAX, &n) == 0 && (s.p[0] != '0' || s.n == 1);
}

/* Annotations that have a meaning for the pod. */
void pod_annotations(const struct validate_value *s, const struct validate_value *spec)
{
    struct map containers = { 0 };
    containers_visit(spec, put_name, &containers);
    json_each (an, s->v) {
        struct validate_value at = value_key(s, an);
        if (str_is(an->key, MIRROR_POD) && value_member_text(spec, "nodeName").n == 0)
            report_invalid_text(&at, "must set spec.nodeName if mirror pod annotation is set");
        if (str_is(an->key, DELETION_COST) && !is_deletion_cost(json_str(an)))
            report_invalid_text(&at, "must be a 32bit integer");
        if (str_is(an->key, SECCOMP_POD) || str_has_prefix(an->key, STR(SECCOMP_PREFIX)))
            seccomp_annotation(s, an);
        if (str_has_prefix(an->key, STR(APP_ARMOR_PREFIX)))
            app_armor_annotation(&at, &containers);
    }
    map_fini(&containers);
}

/* ---- the network of a pod ---- */

static void dns_searches(const struct validate_value *list)
{
    enum { SEARCHES_MAX = 32, SEARCH_CHARS_MAX = 2048 };
    size_t total = 0;
    json_each (item, list->v)
        total += json_str(item).n + (item->next ? 1 : 0);
    if (value_count(list) > SEARCHES_MAX)
        report_invalid(list, "must not have more than 32 search paths");
    if (total > SEARCH_CHARS_MAX)
        report_invalid(list, "must not have more than 2048 characters (including spaces) in the "
                             "search list");
    value_each (item, i, list) {
        struct str domain = value_text(&item);
        if (str_is(domain, "."))
            continue;
        if (str_has_suffix(domain, STR(".")))
            domain = str_slice(domain, 0, domain.n - 1);
        report_problems(&item, domain, names_check_search_domain(domain));
    }
}

static void dns_config(const struct validate_value *s, struct str policy)
{
    enum { NAMESERVERS_MAX = 3 };
    MEMBER(servers, s, "nameservers");
    MEMBER(searches, s, "searches");
    MEMBER(options, s, "options");
    if (str_is(policy, "None") && !s->v) {
        report_required(s, "must provide `dnsConfig` when `dnsPolicy` is None");
        return;
    }
    if (str_is(policy, "None") && value_count(&servers) == 0) {
        report_required(&servers,
                        "must provide at least one DNS nameserver when `dnsPolicy` is None");
        return;
    }
    if (value_count(&servers) > NAMESERVERS_MAX)
        report_invalid(&servers, "must not have more than 3 nameservers");
    value_each (server, i, &servers)
        validate_ip(&server, NULL);
    dns_searches(&searches);
    value_each (option, i, &options)
        if (value_member_text(&option, "name").n == 0)
            report_required(&option, "must not be empty");
}

static void host_alias(const struct validate_value *s, const void *unused)
{
    VALIDATE_MEMBERS(s, rules_host_alias);
}

/* In the host's network the container ports are host ports. */
static void host_network_ports(const struct validate_value *spec, bool is_pod)
{
    MEMBER(containers, spec, "containers");
    if (!value_member_bool(spec, "hostNetwork"))
        return;
    value_each (c, i, &containers) {
        MEMBER(ports, &c, "ports");
        value_each (port, k, &ports) {
            MEMBER(host, &port, "hostPort");
            int64_t number = value_number(&host);
            if ((is_pod || number != 0) && number != value_member_number(&port, "containerPort"))
                report_invalid_number(&host,
                                      "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

static void own_users(const struct validate_value *spec)
{
    static const struct {
        const char *name, *path;
    } shared[] = { { "hostNetwork", "hostNetwork" },
                   { "hostPID", "HostPID" },
                   { "hostIPC", "HostIPC" } };
    if (!json_is(json_getc(spec->v, "hostUsers"), JSON_FALSE))
        return;
    for (size_t i = 0; i < ARRAY_LEN(shared); i++) {
        struct validate_value at =
            value_named(spec, shared[i].path, json_getc(spec->v, shared[i].name));
        if (json_bool(at.v))
            report_forbidden(&at, "when `hostUsers` is false");
    }
}

/* ---- Windows and Linux ---- */

struct host_process {
    const struct json *pod;
    size_t n, n_host;
};

static void host_process_container(const struct validate_value *c, void *arg)
{
    struct host_process *h = arg;
    MEMBER(security, c, "securityContext");
    MEMBER(windows, &security, "windowsOptions");
    MEMBER(own, &windows, "hostProcess");
    h->n++;
    if (own.v && h->pod && json_bool(own.v) != json_bool(h->pod))
        report_invalid(&own, report_text(c,
                                         "pod hostProcess value must be identical if both are "
                                         "specified, was %s",
                                         json_bool(h->pod) ? "true" : "false"));
    h->n_host += json_bool(own.v ? own.v : h->pod);
}

static void host_process(const struct validate_value *spec)
{
    struct host_process h = { .pod = json_path(spec->v, "securityContext", "windowsOptions",
                                               "hostProcess", NULL) };
    MEMBER(network, spec, "hostNetwork");
    h.pod = json_is_bool(h.pod) ? h.pod : NULL;
    containers_visit(spec, host_process_container, &h);
    if (h.n_host && h.n_host != h.n)
        report_invalid_str(spec, STR(""),
                           "If pod contains any hostProcess containers then all "
                           "containers must be HostProcess containers");
    if (h.n_host && !json_bool(network.v))
        report_invalid_value(&network, json_new_bool(spec->errs->a, false),
                             "hostNetwork must be true if pod contains any hostProcess containers");
}

static void forbid(const struct validate_value *s, const char *const *names, size_t n,
                   const char *detail)
{
    for (size_t i = 0; i < n; i++) {
        MEMBER(m, s, names[i]);
        bool set = m.v && m.v->type != JSON_FALSE && (m.v->type != JSON_ARRAY || m.v->n);
        /* For pointer fields, false counts as set. */
        bool pointer = m.v && m.v->type == JSON_FALSE &&
                       !str_has_prefix(str_of(names[i]), STR("hostP")) &&
                       !str_has_prefix(str_of(names[i]), STR("hostI"));
        if (set || pointer)
            report_forbidden(&m, detail);
    }
}

static void linux_container(const struct validate_value *c, void *unused)
{
    static const char *const names[] = { "windowsOptions" };
    MEMBER(security, c, "securityContext");
    forbid(&security, names, 1, "windows options cannot be set for a linux pod");
}

static void windows_container(const struct validate_value *c, void *unused)
{
    static const char *const names[] = { "appArmorProfile",
                                         "seLinuxOptions",
                                         "seccompProfile",
                                         "capabilities",
                                         "readOnlyRootFilesystem",
                                         "privileged",
                                         "allowPrivilegeEscalation",
                                         "procMount",
                                         "runAsUser",
                                         "runAsGroup" };
    MEMBER(security, c, "securityContext");
    forbid(&security, names, ARRAY_LEN(names), "cannot be set for a windows pod");
}

static void windows_pod(const struct validate_value *spec)
{
    static const char refusal[] = "cannot be set for a windows pod";
    static const char *const first[] = { "appArmorProfile", "seLinuxOptions" };
    static const char *const of_spec[] = { "hostUsers", "hostPID", "hostIPC" };
    static const char *const second[] = { "seccompProfile", "fsGroup", "fsGroupChangePolicy",
                                          "sysctls" };
    static const char *const share[] = { "shareProcessNamespace" };
    static const char *const third[] = { "runAsUser", "runAsGroup", "supplementalGroups",
                                         "supplementalGroupsPolicy", "seLinuxChangePolicy" };
    MEMBER(security, spec, "securityContext");
    forbid(&security, first, ARRAY_LEN(first), refusal);
    forbid(spec, of_spec, ARRAY_LEN(of_spec), refusal);
    forbid(&security, second, ARRAY_LEN(second), refusal);
    forbid(spec, share, ARRAY_LEN(share), refusal);
    forbid(&security, third, ARRAY_LEN(third), refusal);
    containers_visit(spec, windows_container, NULL);
}

static void operating_system(const struct validate_value *spec)
{
    static const char *const options[] = { "windowsOptions" };
    MEMBER(os, spec, "os");
    MEMBER(name, &os, "name");
    MEMBER(security, spec, "securityContext");
    struct validate_value at = os;
    at.v = name.v;
    if (!os.v)
        return;
    if (value_text(&name).n == 0) {
        report_required(&name, "cannot be empty");
    } else if (value_is(&name, "windows")) {
        windows_pod(spec);
    } else if (value_is(&name, "linux")) {
        forbid(&security, options, 1, "windows options cannot be set for a linux pod");
        containers_visit(spec, linux_container, NULL);
    } else {
        report_not_supported(&at, &enum_operating_system_systems);
    }
}

/* ---- lists of a pod's spec ---- */

static void resource_claims(const struct validate_value *list, struct map *names)
{
    static const char layout[] = "Name=name/\"\" ResourceClaimName=resourceClaimName/null "
                                 "ResourceClaimTemplateName=resourceClaimTemplateName/null";
    value_each (c, i, list) {
        MEMBER(name, &c, "name");
        MEMBER(claim, &c, "resourceClaimName");
        MEMBER(template, &c, "resourceClaimTemplateName");
        if (value_text(&name).n == 0)
            report_required(&name, "");
        else if (map_put(names, value_text(&name), names))
            report_duplicate_str(&name, value_text(&name));
        else
            validate_label(&name, NULL);
        if (claim.v && template.v)
            report_invalid_value(
                &c, value_go_struct(list->errs->a, c.v, layout),
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` "
                "may be specified");
        if (!claim.v && !template.v)
            report_invalid_value(&c, value_go_struct(list->errs->a, c.v, layout),
                                 "must specify one of: `resourceClaimName`, "
                                 "`resourceClaimTemplateName`");
        if (claim.v)
            validate_subdomain(&claim, NULL);
        if (template.v)
            validate_subdomain(&template, NULL);
    }
}

static void readiness_gate(const struct validate_value *s, const void *unused)
{
    MEMBER(type, s, "conditionType");
    validate_qualified_name(&type, NULL);
}

static void scheduling_gates(const struct validate_value *list, const void *unused)
{
    struct map seen = { 0 };
    value_each (gate, i, list) {
        struct str name = value_member_text(&gate, "name");
        report_problems(&gate, name, meta_check_qualified_name(name));
        if (map_put(&seen, name, &seen))
            report_duplicate_str(&gate, name);
    }
    map_fini(&seen);
}

/* ---- resources of the whole pod ---- */

static struct quantity request_of(const struct json *container, struct str name)
{
    struct quantity q = { 0 };
    const struct json *v = json_get(json_path(container, "resources", "requests", NULL), name);
    if (v)
        (void)quantity_parse(json_str(v), &q, NULL);
    return q;
}

/* The sum of the containers, or the largest init container with the sidecars before it. */
static struct quantity container_requests(const struct json *spec, struct str name)
{
    __int128 together = 0, sidecars = 0, start = 0;
    struct quantity format = { 0 };
    json_each (c, json_getc(spec, "containers")) {
        struct quantity q = request_of(c, name);
        together += q.nano;
        format = q.nano ? q : format;
    }
    json_each (c, json_getc(spec, "initContainers")) {
        struct quantity q = request_of(c, name);
        format = q.nano ? q : format;
        if (str_is(json_get_str(c, "restartPolicy"), "Always")) {
            sidecars += q.nano;
            start = MAX(start, sidecars);
        } else {
            start = MAX(start, sidecars + q.nano);
        }
    }
    format.nano = MAX(together + sidecars, start);
    return format;
}

static void put_requests(const struct json *containers, struct json *names, struct arena *a)
{
    json_each (c, containers)
        json_each (r, json_path(c, "resources", "requests", NULL))
            if (resource_is_native(r->key) && names->n < 64) /* few resources are native to pods */
                json_set(a, names, r->key, json_new_null(a));
}

static void limits_within(const struct validate_value *resources, const struct validate_value *spec)
{
    MEMBER(shown, resources, "containers");
    const struct json *limits = json_getc(resources->v, "limits");
    size_t i = 0;
    json_each (c, json_getc(spec->v, "containers")) {
        struct validate_value container = value_item(&shown, c, i++);
        json_each (limit, json_path(c, "resources", "limits", NULL)) {
            if (!resource_is_native(limit->key))
                continue;
            const struct json *most = json_get(limits, limit->key);
            struct validate_value key = value_key(&container, limit),
                                  at = value_named(&key, "limits", limit);
            struct quantity own, all;
            if (most && value_quantity(&at, &own) &&
                quantity_parse(json_str(most), &all, NULL) == 0 && quantity_cmp(own, all) > 0)
                report_invalid_text(
                    &at, report_text(&at, "must be less than or equal to pod limits of " STR_FMT,
                                     STR_ARG(json_str(most))));
        }
    }
}

static void pod_resources_hold(const struct validate_value *resources,
                               const struct validate_value *spec)
{
    struct arena *a = spec->errs->a;
    struct json *names = json_new_object(a);
    MEMBER(requests, resources, "requests");
    put_requests(json_getc(spec->v, "containers"), names, a);
    put_requests(json_getc(spec->v, "initContainers"), names, a);
    json_each (name, names) {
        struct validate_value at = value_key(&requests, name);
        struct quantity needed = container_requests(spec->v, name->key), own = { 0 };
        at.v = json_get(requests.v, name->key);
        if (value_quantity(&at, &own) && quantity_cmp(needed, own) > 0)
            report_invalid_str(&at, value_text(&at),
                               report_text(&at,
                                           "must be greater than or equal to aggregate container "
                                           "requests of " STR_FMT,
                                           STR_ARG(quantity_text(a, needed))));
    }
    limits_within(resources, spec);
}

static void pod_resources(const struct validate_value *spec)
{
    MEMBER(resources, spec, "resources");
    MEMBER(claims, &resources, "claims");
    if (!resources.v)
        return;
    if (claims.v)
        report_forbidden(&claims, "claims may not be set for Resources at pod-level");
    resource_requirements(&resources, RESOURCE_POD, NULL);
    pod_resources_hold(&resources, spec);
}

/* ---- spec ---- */

static void priority_policy(const struct validate_value *s, const void *unused)
{
    if (s->v)
        validate_enum(s, &enum_priority_policy_policies);
}

static void overhead(const struct validate_value *s, const void *unused)
{
    /* Upstream checks it as limits, and its messages say so. */
    struct validate_value limits = value_named(s, "limits", s->v);
    resource_limits(&limits, RESOURCE_CONTAINER);
}

static void subdomain_if_set(const struct validate_value *s, const void *unused)
{
    if (s->v)
        validate_subdomain(s, NULL);
}

static void pod_spec_lists(const struct validate_value *s, bool is_pod)
{
    MEMBER(place, s, "affinity");
    MEMBER(dns, s, "dnsConfig");
    host_network_ports(s, is_pod);
    VALIDATE_MEMBERS(s, rules_pod_spec_lists_before);
    validate_pod_security(s);
    validate_affinity(&place, NULL);
    dns_config(&dns, value_member_text(s, "dnsPolicy"));
    VALIDATE_MEMBERS(s, rules_pod_spec_lists_after);
    host_process(s);
    own_users(s);
}

void pod_spec(const struct validate_value *s, struct str pod_name, bool is_pod)
{
    struct pod_context pod = { .spec = s->v,
                               .is_pod = is_pod,
                               .host_users = !json_is(json_getc(s->v, "hostUsers"), JSON_FALSE) };
    MEMBER(grace, s, "terminationGracePeriodSeconds");
    MEMBER(volumes, s, "volumes");
    MEMBER(claims, s, "resourceClaims");
    if (!grace.v)
        report_required(&grace, "");
    validate_volumes(&volumes, pod_name, is_pod, &pod.volumes);
    resource_claims(&claims, &pod.claims);
    validate_containers(s, &pod);
    pod_resources(s);
    pod_spec_lists(s, is_pod);
    VALIDATE_MEMBERS(s, rules_pod_spec_rest);
    operating_system(s);
    map_fini(&pod.volumes);
    map_fini(&pod.claims);
}

/* ---- old annotations must match the fields ---- */

struct profile_words {
    const char *prefix; /* of the annotation; the container's name follows it */
    const char *field, *mismatch_type, *mismatch_profile;
};

static const struct profile_words seccomp_words = {
    SECCOMP_PREFIX, "seccompProfile", "seccomp type in annotation and field must match",
    "seccomp profile in annotation and field must match"
};
static const struct profile_words app_armor_words = {
    APP_ARMOR_PREFIX, "appArmorProfile", "apparmor type in annotation and field must match",
    "apparmor profile in annotation and field must match"
};

/* at: path for errors; profile: the container's field, or the pod's if it has none. */
static void profiles_match(const struct validate_value *at, const struct json *profile,
                           struct str annotation, const struct profile_words *w)
{
    MEMBER(type, at, "type");
    MEMBER(local, at, "localhostProfile");
    struct str kind = json_get_str(profile, "type");
    bool same = true;
    if (str_is(kind, "Unconfined"))
        same = str_is(annotation, "unconfined");
    else if (str_is(kind, "RuntimeDefault"))
        same = str_is(annotation, "runtime/default") ||
               (w == &seccomp_words && str_is(annotation, "docker/default"));
    else if (str_is(kind, "Localhost"))
        same = str_has_prefix(annotation, STR("localhost/"));
    if (!same)
        report_forbidden(&type, w->mismatch_type);
    else if (str_is(kind, "Localhost") &&
             !str_eq(str_slice(annotation, sizeof "localhost/" - 1, annotation.n),
                     json_get_str(profile, "localhostProfile")))
        report_forbidden(&local, w->mismatch_profile);
}

struct profile_check {
    const struct map *annotations; /* container name -> its annotation */
    const struct json *of_pod;     /* for containers without their own, or NULL */
    const struct profile_words *words;
};

static void container_profile(const struct validate_value *c, void *arg)
{
    const struct profile_check *p = arg;
    MEMBER(security, c, "securityContext");
    MEMBER(own, &security, p->words->field);
    const struct json *annotation = map_get(p->annotations, value_member_text(c, "name"));
    const struct json *profile = own.v ? own.v : p->of_pod;
    if (annotation && json_is(profile, JSON_OBJECT))
        profiles_match(&own, profile, json_str(annotation), p->words);
}

static void profiles(const struct validate_value *spec, const struct json *annotations,
                     const struct profile_words *w, const struct json *of_pod)
{
    struct map by_container = { 0 };
    struct str prefix = str_of(w->prefix);
    json_each (an, annotations)
        if (str_has_prefix(an->key, prefix))
            (void)map_put(&by_container, str_slice(an->key, prefix.n, an->key.n), an);
    struct profile_check check = { &by_container, of_pod, w };
    if (by_container.n)
        containers_visit(spec, container_profile, &check);
    map_fini(&by_container);
}

static void profiles_like_annotations(const struct validate_value *spec,
                                      const struct json *annotations)
{
    MEMBER(security, spec, "securityContext");
    MEMBER(seccomp, &security, "seccompProfile");
    const struct json *of_pod = json_getc(annotations, SECCOMP_POD);
    if (of_pod && seccomp.v)
        profiles_match(&seccomp, seccomp.v, json_str(of_pod), &seccomp_words);
    profiles(spec, annotations, &seccomp_words, NULL);
    if (!str_is(json_str(json_path(spec->v, "os", "name", NULL)), "windows"))
        profiles(spec, annotations, &app_armor_words, json_getc(security.v, "appArmorProfile"));
}

/* ---- templates ---- */

void pod_template(const struct validate_value *s)
{
    MEMBER(spec, s, "spec");
    MEMBER(ephemeral, &spec, "ephemeralContainers");
    const struct json *metadata = json_getc(s->v, "metadata");
    struct validate_value labels_at = value_named(s, "labels", json_getc(metadata, "labels"));
    struct validate_value annotations_at =
        value_named(s, "annotations", json_getc(metadata, "annotations"));
    validate_labels(&labels_at, NULL);
    validate_annotations(&annotations_at, NULL);
    pod_annotations(&annotations_at, &spec);
    pod_spec(&spec, STR(""), false);
    profiles_like_annotations(&spec, annotations_at.v);
    if (value_count(&ephemeral))
        report_forbidden(&ephemeral, "ephemeral containers not allowed in pod template");
}

/* ---- pods ---- */

/* Rules for pods that do not apply to templates. */
static void only_pods(const struct validate_value *spec)
{
    static const char *const lists[] = { "containers", "initContainers" };
    MEMBER(volumes, spec, "volumes");
    if (value_member_text(spec, "serviceAccountName").n == 0)
        value_each (volume, i, &volumes) {
            MEMBER(projected, &volume, "projected");
            MEMBER(sources, &projected, "sources");
            value_each (source, k, &sources) {
                MEMBER(token, &source, "serviceAccountToken");
                if (token.v)
                    report_forbidden(&token,
                                     "must not be specified when serviceAccountName is not set");
            }
        }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        MEMBER(list, spec, lists[i]);
        value_each (c, k, &list)
            validate_image_without_blanks(&c);
    }
}

static void pod_create(const struct validate_value *spec, const struct json *annotations)
{
    MEMBER(ephemeral, spec, "ephemeralContainers");
    MEMBER(node, spec, "nodeName");
    MEMBER(gates, spec, "schedulingGates");
    if (value_count(&ephemeral))
        report_forbidden(&ephemeral, "cannot be set on create");
    if (value_text(&node).n && value_count(&gates))
        report_forbidden(&node, "cannot be set until all schedulingGates have been cleared");
    profiles_like_annotations(spec, annotations);
}

void pod_validate_whole(const struct validate_value *root)
{
    MEMBER(metadata, root, "metadata");
    MEMBER(annotated, &metadata, "annotations");
    MEMBER(spec, root, "spec");
    pod_annotations(&annotated, &spec);
    pod_spec(&spec, value_member_text(&metadata, "name"), true);
    only_pods(&spec);
}

void validate_pod(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    if (old && !value_same(json_getc(obj, "status"), json_getc(old, "status"))) {
        pod_status_update(&root, old);
        return;
    }
    pod_validate_whole(&root);
    if (old)
        pod_update(&root, old);
    else
        pod_create(&spec, json_path(obj, "metadata", "annotations", NULL));
}

/* ---- subresources ---- */

void validate_pod_ephemeral(const struct json *obj, const struct json *old,
                            struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(list, &spec, "ephemeralContainers");
    struct map now = { 0 };
    pod_validate_whole(&root);
    if (json_path(old, "metadata", "annotations", MIRROR_POD, NULL)) {
        report_forbidden(&root, "static pods do not support ephemeral containers");
        return;
    }
    json_each (c, list.v)
        (void)map_put(&now, json_get_str(c, "name"), c);
    json_each (c, json_path(old, "spec", "ephemeralContainers", NULL)) {
        struct str name = json_get_str(c, "name");
        const struct json *same = map_get(&now, name);
        if (!same)
            report_forbidden(&list, report_text(&list,
                                                "existing ephemeral containers \"" STR_FMT
                                                "\" may not be removed\n",
                                                STR_ARG(name)));
        else if (!json_equal(same, c))
            report_forbidden(
                &list,
                report_text(&list,
                            "existing ephemeral containers \"" STR_FMT "\" may not be changed\n%s",
                            STR_ARG(name), internal_diff(errs->a, c, same, "EphemeralContainer")));
    }
    map_fini(&now);
}

void validate_pod_binding(const struct json *binding, struct field_errors *errs)
{
    struct validate_value root = value_root(binding, errs);
    MEMBER(target, &root, "target");
    MEMBER(kind, &target, "kind");
    MEMBER(name, &target, "name");
    if (value_text(&kind).n && !value_is(&kind, "Node"))
        report_not_supported(&kind, &enum_pod_binding_kinds);
    validate_required(&name, NULL);
}

void validate_pod_template(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(template, &root, "template");
    pod_template(&template);
}
