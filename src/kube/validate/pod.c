/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and the templates of pods. */
#include "kube/validate/check.h"
#include "kube/validate/validate.h"

#include <inttypes.h>

#define APP_ARMOR_PREFIX "container.apparmor.security.beta.kubernetes.io/"
#define SECCOMP_PREFIX   "container.seccomp.security.alpha.kubernetes.io/"
#define SECCOMP_POD      "seccomp.security.alpha.kubernetes.io/pod"
#define MIRROR_POD       "kubernetes.io/config.mirror"
#define DELETION_COST    "controller.kubernetes.io/pod-deletion-cost"

/* ---- annotations ---- */

void annotations(const struct spot *s, const void *unused)
{
    meta_validate_annotations(s->v, spot_path(s), s->errs);
}

static void seccomp_annotation(const struct spot *map, const struct json *annotation)
{
    struct str profile = json_str(annotation), local;
    struct spot at = spot_named(map, str_dup_arena(map->errs->a, annotation->key), annotation);
    if (str_is(profile, "runtime/default") || str_is(profile, "docker/default") ||
        str_is(profile, "unconfined"))
        return;
    if (!str_has_prefix(profile, STR("localhost/"))) {
        say_invalid_text(&at, "must be a valid seccomp profile");
        return;
    }
    local = str_slice(profile, sizeof "localhost/" - 1, profile.n);
    at.v = json_new_str(map->errs->a, local);
    a_path_below(&at, NULL);
}

static void app_armor_annotation(const struct spot *at, const struct map *containers)
{
    struct str name = str_slice(at->at.name, sizeof APP_ARMOR_PREFIX - 1, at->at.name.n);
    struct str profile = spot_text(at);
    if (!map_has(containers, name))
        say_invalid_str(at, name, "container not found");
    if (profile.n == 0 || str_is(profile, "runtime/default") || str_is(profile, "unconfined") ||
        str_has_prefix(profile, STR("localhost/")))
        return;
    struct buf b = BUF_INIT(16 * 1024);
    (void)buf_add_cstr(&b, "invalid AppArmor profile name: ");
    go_quote(&b, profile);
    say_invalid_text(at, buf_cstr(&b));
    buf_fini(&b);
}

static void put_name(const struct spot *container, void *names)
{
    (void)map_put(names, member_text(container, "name"), names);
}

static bool is_deletion_cost(struct str s)
{
    int64_t n;
    return parse_i64(s, INT32_MIN, INT32_MAX, &n) == 0 &&
           (s.p[0] == '-' || s.p[0] != '0' || s.n == 1);
}

/* Annotations with a meaning for the pod. */
void pod_annotations(const struct spot *s, const struct spot *spec)
{
    struct map containers = { 0 };
    containers_visit(spec, put_name, &containers);
    json_each (an, s->v) {
        struct spot at = spot_key(s, an);
        if (str_is(an->key, MIRROR_POD) && member_text(spec, "nodeName").n == 0)
            say_invalid_text(&at, "must set spec.nodeName if mirror pod annotation is set");
        if (str_is(an->key, DELETION_COST) && !is_deletion_cost(json_str(an)))
            say_invalid_text(&at, "must be a 32bit integer");
        if (str_is(an->key, SECCOMP_POD) || str_has_prefix(an->key, STR(SECCOMP_PREFIX)))
            seccomp_annotation(s, an);
        if (str_has_prefix(an->key, STR(APP_ARMOR_PREFIX)))
            app_armor_annotation(&at, &containers);
    }
    map_fini(&containers);
}

static bool is_fixed_annotation(struct str key)
{
    return str_is(key, MIRROR_POD) || str_has_prefix(key, STR(APP_ARMOR_PREFIX));
}

static const char *fixed_annotation_name(struct str key, bool update)
{
    if (str_is(key, MIRROR_POD))
        return update ? "may not remove or update mirror pod annotation"
                      : "may not add mirror pod annotation";
    return update ? "may not remove or update AppArmor annotations"
                  : "may not add AppArmor annotations";
}

static void fixed_annotations(const struct spot *s, const struct json *old)
{
    struct map now = { 0 }, before = { 0 };
    json_each (an, s->v)
        if (is_fixed_annotation(an->key))
            (void)map_put(&now, an->key, an);
    json_each (an, old) {
        if (!is_fixed_annotation(an->key))
            continue;
        struct spot at = spot_key(s, an);
        if (!json_same(map_get(&now, an->key), an))
            say_forbidden(&at, fixed_annotation_name(an->key, true));
        (void)map_put(&before, an->key, an);
    }
    json_each (an, s->v) {
        struct spot at = spot_key(s, an);
        if (is_fixed_annotation(an->key) && !map_has(&before, an->key))
            say_forbidden(&at, fixed_annotation_name(an->key, false));
    }
    map_fini(&now);
    map_fini(&before);
}

/* ---- the network of a pod ---- */

static void dns_searches(const struct spot *list)
{
    enum { SEARCHES_MAX = 32, SEARCH_CHARS_MAX = 2048 };
    size_t total = 0;
    json_each (item, list->v)
        total += json_str(item).n + (item->next ? 1 : 0);
    if (spot_count(list) > SEARCHES_MAX)
        say_invalid(list, "must not have more than 32 search paths");
    if (total > SEARCH_CHARS_MAX)
        say_invalid(list, "must not have more than 2048 characters (including spaces) in the "
                          "search list");
    spot_each (item, i, list) {
        struct str domain = spot_text(&item);
        if (str_is(domain, "."))
            continue;
        if (str_has_suffix(domain, STR(".")))
            domain = str_slice(domain, 0, domain.n - 1);
        say_problems(&item, domain, check_search_domain(domain));
    }
}

static void dns_config(const struct spot *s, struct str policy)
{
    enum { NAMESERVERS_MAX = 3 };
    MEMBER(servers, s, "nameservers");
    MEMBER(searches, s, "searches");
    MEMBER(options, s, "options");
    if (str_is(policy, "None") && !s->v) {
        say_required(s, "must provide `dnsConfig` when `dnsPolicy` is None");
        return;
    }
    if (str_is(policy, "None") && spot_count(&servers) == 0) {
        say_required(&servers, "must provide at least one DNS nameserver when `dnsPolicy` is None");
        return;
    }
    if (spot_count(&servers) > NAMESERVERS_MAX)
        say_invalid(&servers, "must not have more than 3 nameservers");
    spot_each (server, i, &servers)
        must_ip(&server, NULL);
    dns_searches(&searches);
    spot_each (option, i, &options)
        if (member_text(&option, "name").n == 0)
            say_required(&option, "must not be empty");
}

static void host_alias(const struct spot *s, const void *unused)
{
    static const struct each names = { must_subdomain, NULL };
    static const struct member_check members[] = { { "ip", must_ip, NULL },
                                                   { "hostnames", each, &names } };
    CHECK_MEMBERS(s, members);
}

/* Without a network of its own, a pod's ports are those of the host. */
static void host_network_ports(const struct spot *spec, bool is_pod)
{
    MEMBER(containers, spec, "containers");
    if (!member_true(spec, "hostNetwork"))
        return;
    spot_each (c, i, &containers) {
        MEMBER(ports, &c, "ports");
        spot_each (port, k, &ports) {
            MEMBER(host, &port, "hostPort");
            int64_t number = spot_number(&host);
            if ((is_pod || number != 0) && number != member_number(&port, "containerPort"))
                say_invalid_number(&host, "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

static void own_users(const struct spot *spec)
{
    static const struct {
        const char *name, *path;
    } shared[] = { { "hostNetwork", "hostNetwork" },
                   { "hostPID", "HostPID" },
                   { "hostIPC", "HostIPC" } };
    if (!json_is(json_getc(spec->v, "hostUsers"), JSON_FALSE))
        return;
    for (size_t i = 0; i < ARRAY_LEN(shared); i++) {
        struct spot at = spot_named(spec, shared[i].path, json_getc(spec->v, shared[i].name));
        if (json_bool(at.v))
            say_forbidden(&at, "when `hostUsers` is false");
    }
}

/* ---- Windows and Linux ---- */

struct host_process {
    const struct json *pod;
    size_t n, n_host;
};

static void host_process_container(const struct spot *c, void *arg)
{
    struct host_process *h = arg;
    MEMBER(security, c, "securityContext");
    MEMBER(windows, &security, "windowsOptions");
    MEMBER(own, &windows, "hostProcess");
    h->n++;
    if (own.v && h->pod && json_bool(own.v) != json_bool(h->pod))
        say_invalid(&own, say_text(c,
                                   "pod hostProcess value must be identical if both are "
                                   "specified, was %s",
                                   json_bool(h->pod) ? "true" : "false"));
    h->n_host += json_bool(own.v ? own.v : h->pod);
}

static void host_process(const struct spot *spec)
{
    struct host_process h = { .pod = json_path(spec->v, "securityContext", "windowsOptions",
                                               "hostProcess", NULL) };
    MEMBER(network, spec, "hostNetwork");
    h.pod = json_is_bool(h.pod) ? h.pod : NULL;
    containers_visit(spec, host_process_container, &h);
    if (h.n_host && h.n_host != h.n)
        say_invalid_str(spec, STR(""),
                        "If pod contains any hostProcess containers then all "
                        "containers must be HostProcess containers");
    if (h.n_host && !json_bool(network.v))
        say_invalid_value(&network, json_new_bool(spec->errs->a, false),
                          "hostNetwork must be true if pod contains any hostProcess containers");
}

static void forbid(const struct spot *s, const char *const *names, size_t n, const char *detail)
{
    for (size_t i = 0; i < n; i++) {
        MEMBER(m, s, names[i]);
        bool set = m.v && m.v->type != JSON_FALSE && (m.v->type != JSON_ARRAY || m.v->n);
        /* Of the pointers, false counts as well. */
        bool pointer = m.v && m.v->type == JSON_FALSE &&
                       !str_has_prefix(str_of(names[i]), STR("hostP")) &&
                       !str_has_prefix(str_of(names[i]), STR("hostI"));
        if (set || pointer)
            say_forbidden(&m, detail);
    }
}

static void linux_container(const struct spot *c, void *unused)
{
    static const char *const names[] = { "windowsOptions" };
    MEMBER(security, c, "securityContext");
    forbid(&security, names, 1, "windows options cannot be set for a linux pod");
}

static void windows_container(const struct spot *c, void *unused)
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

static void windows_pod(const struct spot *spec)
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

static void operating_system(const struct spot *spec)
{
    WORDS(systems, WORD("linux"), WORD("windows"));
    static const char *const options[] = { "windowsOptions" };
    MEMBER(os, spec, "os");
    MEMBER(name, &os, "name");
    MEMBER(security, spec, "securityContext");
    struct spot at = os;
    at.v = name.v;
    if (!os.v)
        return;
    if (spot_text(&name).n == 0) {
        say_required(&name, "cannot be empty");
    } else if (spot_is(&name, "windows")) {
        windows_pod(spec);
    } else if (spot_is(&name, "linux")) {
        forbid(&security, options, 1, "windows options cannot be set for a linux pod");
        containers_visit(spec, linux_container, NULL);
    } else {
        say_unsupported(&at, &systems);
    }
}

/* ---- lists of a pod's spec ---- */

static void resource_claims(const struct spot *list, struct map *names)
{
    static const char layout[] = "Name=name/\"\" ResourceClaimName=resourceClaimName/null "
                                 "ResourceClaimTemplateName=resourceClaimTemplateName/null";
    spot_each (c, i, list) {
        MEMBER(name, &c, "name");
        MEMBER(claim, &c, "resourceClaimName");
        MEMBER(template, &c, "resourceClaimTemplateName");
        if (spot_text(&name).n == 0)
            say_required(&name, "");
        else if (map_put(names, spot_text(&name), names))
            say_duplicate_str(&name, spot_text(&name));
        else
            must_label(&name, NULL);
        if (claim.v && template.v)
            say_invalid_value(&c, go_struct(list->errs->a, c.v, layout),
                              "at most one of `resourceClaimName` or `resourceClaimTemplateName` "
                              "may be specified");
        if (!claim.v && !template.v)
            say_invalid_value(&c, go_struct(list->errs->a, c.v, layout),
                              "must specify one of: `resourceClaimName`, "
                              "`resourceClaimTemplateName`");
        if (claim.v)
            must_subdomain(&claim, NULL);
        if (template.v)
            must_subdomain(&template, NULL);
    }
}

static void readiness_gate(const struct spot *s, const void *unused)
{
    MEMBER(type, s, "conditionType");
    must_qualified_name(&type, NULL);
}

static void scheduling_gates(const struct spot *list, const void *unused)
{
    struct map seen = { 0 };
    spot_each (gate, i, list) {
        struct str name = member_text(&gate, "name");
        say_problems(&gate, name, meta_check_qualified_name(name));
        if (map_put(&seen, name, &seen))
            say_duplicate_str(&gate, name);
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

/* Containers together, or the greediest one of those that run before them with its sidecars. */
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
            if (is_native_resource(r->key) && names->n < 64) /* only few are of the pod's kind */
                json_set(a, names, r->key, json_new_null(a));
}

static void limits_within(const struct spot *resources, const struct spot *spec)
{
    MEMBER(shown, resources, "containers");
    const struct json *limits = json_getc(resources->v, "limits");
    size_t i = 0;
    json_each (c, json_getc(spec->v, "containers")) {
        struct spot container = spot_item(&shown, c, i++);
        json_each (limit, json_path(c, "resources", "limits", NULL)) {
            if (!is_native_resource(limit->key))
                continue;
            const struct json *most = json_get(limits, limit->key);
            struct spot key = spot_key(&container, limit), at = spot_named(&key, "limits", limit);
            struct quantity own, all;
            if (most && spot_quantity(&at, &own) &&
                quantity_parse(json_str(most), &all, NULL) == 0 && quantity_cmp(own, all) > 0)
                say_invalid_text(
                    &at, say_text(&at, "must be less than or equal to pod limits of " STR_FMT,
                                  STR_ARG(json_str(most))));
        }
    }
}

static void pod_resources_hold(const struct spot *resources, const struct spot *spec)
{
    struct arena *a = spec->errs->a;
    struct json *names = json_new_object(a);
    MEMBER(requests, resources, "requests");
    put_requests(json_getc(spec->v, "containers"), names, a);
    put_requests(json_getc(spec->v, "initContainers"), names, a);
    json_each (name, names) {
        struct spot at = spot_key(&requests, name);
        struct quantity needed = container_requests(spec->v, name->key), own = { 0 };
        at.v = json_get(requests.v, name->key);
        if (spot_quantity(&at, &own) && quantity_cmp(needed, own) > 0)
            say_invalid_str(&at, spot_text(&at),
                            say_text(&at,
                                     "must be greater than or equal to aggregate container "
                                     "requests of " STR_FMT,
                                     STR_ARG(quantity_text(a, needed))));
    }
    limits_within(resources, spec);
}

static void pod_resources(const struct spot *spec)
{
    MEMBER(resources, spec, "resources");
    MEMBER(claims, &resources, "claims");
    if (!resources.v)
        return;
    if (claims.v)
        say_forbidden(&claims, "claims may not be set for Resources at pod-level");
    resource_requirements(&resources, RESOURCE_POD, NULL);
    pod_resources_hold(&resources, spec);
}

/* ---- spec ---- */

static void priority_policy(const struct spot *s, const void *unused)
{
    WORDS(policies, WORD("PreemptLowerPriority"), WORD("Never"));
    if (s->v)
        one_of(s, &policies);
}

static void overhead(const struct spot *s, const void *unused)
{
    /* Upstream checks it as limits, and says so. */
    struct spot limits = spot_named(s, "limits", s->v);
    resource_limits(&limits, RESOURCE_CONTAINER);
}

static void subdomain_if_set(const struct spot *s, const void *unused)
{
    if (s->v)
        must_subdomain(s, NULL);
}

static void pod_spec_lists(const struct spot *s, bool is_pod)
{
    WORDS(restart_policies, WORD("Always"), WORD("OnFailure"), WORD("Never"));
    WORDS(dns_policies, WORD("ClusterFirstWithHostNet"), WORD("ClusterFirst"), WORD("Default"),
          WORD("None"));
    static const struct each gates = { readiness_gate, NULL };
    static const struct member_check before[] = { { "restartPolicy", one_of, &restart_policies },
                                                  { "dnsPolicy", one_of, &dns_policies },
                                                  { "nodeSelector", labels, NULL } };
    static const struct member_check after[] = {
        { "readinessGates", each, &gates },
        { "schedulingGates", scheduling_gates, NULL },
        { "topologySpreadConstraints", topology_spread, NULL },
    };
    MEMBER(place, s, "affinity");
    MEMBER(dns, s, "dnsConfig");
    host_network_ports(s, is_pod);
    CHECK_MEMBERS(s, before);
    pod_security(s);
    affinity(&place, NULL);
    dns_config(&dns, member_text(s, "dnsPolicy"));
    CHECK_MEMBERS(s, after);
    host_process(s);
    own_users(s);
}

void pod_spec(const struct spot *s, struct str pod_name, bool is_pod)
{
    static const struct range deadline = { 1, INT32_MAX };
    static const struct each aliases = { host_alias, NULL };
    static const struct member_check rest[] = {
        { "serviceAccountName", a_subdomain, NULL },
        { "nodeName", a_subdomain, NULL },
        { "activeDeadlineSeconds", in_range_if_set, &deadline },
        { "hostname", a_label, NULL },
        { "subdomain", a_label, NULL },
        { "tolerations", tolerations, NULL },
        { "hostAliases", each, &aliases },
        { "priorityClassName", a_subdomain, NULL },
        { "runtimeClassName", subdomain_if_set, NULL },
        { "preemptionPolicy", priority_policy, NULL },
        { "overhead", overhead, NULL },
    };
    struct pod_context pod = { .spec = s->v,
                               .is_pod = is_pod,
                               .host_users = !json_is(json_getc(s->v, "hostUsers"), JSON_FALSE) };
    MEMBER(grace, s, "terminationGracePeriodSeconds");
    MEMBER(volumes, s, "volumes");
    MEMBER(claims, s, "resourceClaims");
    if (!grace.v)
        say_required(&grace, "");
    pod_volumes(&volumes, pod_name, is_pod, &pod.volumes);
    resource_claims(&claims, &pod.claims);
    pod_containers(s, &pod);
    pod_resources(s);
    pod_spec_lists(s, is_pod);
    CHECK_MEMBERS(s, rest);
    operating_system(s);
    map_fini(&pod.volumes);
    map_fini(&pod.claims);
}

/* ---- annotations of old against fields ---- */

struct profile_words {
    const char *prefix; /* of the annotation; the container's name follows */
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

/* at: where it is reported; profile: the field, which the pod may give instead of the container. */
static void profiles_match(const struct spot *at, const struct json *profile, struct str annotation,
                           const struct profile_words *w)
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
        say_forbidden(&type, w->mismatch_type);
    else if (str_is(kind, "Localhost") &&
             !str_eq(str_slice(annotation, sizeof "localhost/" - 1, annotation.n),
                     json_get_str(profile, "localhostProfile")))
        say_forbidden(&local, w->mismatch_profile);
}

struct profile_check {
    const struct map *annotations; /* name of the container to the annotation */
    const struct json *of_pod;     /* for containers without their own, or NULL */
    const struct profile_words *words;
};

static void container_profile(const struct spot *c, void *arg)
{
    const struct profile_check *p = arg;
    MEMBER(security, c, "securityContext");
    MEMBER(own, &security, p->words->field);
    const struct json *annotation = map_get(p->annotations, member_text(c, "name"));
    const struct json *profile = own.v ? own.v : p->of_pod;
    if (annotation && json_is(profile, JSON_OBJECT))
        profiles_match(&own, profile, json_str(annotation), p->words);
}

static void profiles(const struct spot *spec, const struct json *annotations,
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

static void profiles_like_annotations(const struct spot *spec, const struct json *annotations)
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

void pod_template(const struct spot *s)
{
    MEMBER(spec, s, "spec");
    MEMBER(ephemeral, &spec, "ephemeralContainers");
    const struct json *metadata = json_getc(s->v, "metadata");
    struct spot labels_at = spot_named(s, "labels", json_getc(metadata, "labels"));
    struct spot annotations_at = spot_named(s, "annotations", json_getc(metadata, "annotations"));
    labels(&labels_at, NULL);
    annotations(&annotations_at, NULL);
    pod_annotations(&annotations_at, &spec);
    pod_spec(&spec, STR(""), false);
    profiles_like_annotations(&spec, annotations_at.v);
    if (spot_count(&ephemeral))
        say_forbidden(&ephemeral, "ephemeral containers not allowed in pod template");
}

/* ---- updates of pods ---- */

/* false: lists of different lengths, no point in going on. */
static bool container_images(const struct spot *spec, const char *name, const struct json *old)
{
    MEMBER(list, spec, name);
    const struct json *before = json_getc(old, name);
    if (spot_count(&list) != (json_is(before, JSON_ARRAY) ? before->n : 0)) {
        say_forbidden(&list, "pod updates may not add or remove containers");
        return false;
    }
    spot_each (c, i, &list) {
        MEMBER(image, &c, "image");
        need(&image, NULL);
        image_without_blanks(&c);
    }
    return true;
}

/* A deadline may be set and come nearer. false: stop. */
static bool deadline_update(const struct spot *spec, const struct json *old)
{
    MEMBER(deadline, spec, "activeDeadlineSeconds");
    const struct json *before = json_getc(old, "activeDeadlineSeconds");
    int64_t now = spot_number(&deadline);
    if (deadline.v && (now < 0 || now > INT32_MAX)) {
        say_invalid(&deadline, "must be between 0 and 2147483647, inclusive");
        return false;
    }
    if (deadline.v && json_is(before, JSON_NUMBER) && json_int_or(before, 0) < now) {
        say_invalid(&deadline, "must be less than or equal to previous value");
        return false;
    }
    if (!deadline.v && json_is(before, JSON_NUMBER))
        say_invalid(&deadline, "must not update from a positive integer to nil value");
    return true;
}

/* A toleration without its seconds, as text. */
static struct str toleration_id(struct arena *a, const struct json *t)
{
    static const char *const members[] = { "key", "operator", "value", "effect" };
    struct json *id = json_new_array(a);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        json_add(id, json_new_str(a, json_get_str(t, members[i])));
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)json_write(&b, id);
    struct str text = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return text;
}

static void tolerations_update(const struct spot *spec, const struct json *old)
{
    MEMBER(list, spec, "tolerations");
    struct map now = { 0 };
    bool kept = true;
    json_each (t, list.v)
        (void)map_put(&now, toleration_id(spec->errs->a, t), t);
    json_each (t, json_getc(old, "tolerations"))
        kept = kept && map_has(&now, toleration_id(spec->errs->a, t));
    map_fini(&now);
    if (kept)
        tolerations(&list, NULL);
    else
        say_forbidden(&list,
                      "existing toleration can not be modified except its tolerationSeconds");
}

static void gates_update(const struct spot *spec, const struct json *old)
{
    MEMBER(list, spec, "schedulingGates");
    struct map before = { 0 };
    json_each (gate, json_getc(old, "schedulingGates"))
        (void)map_put(&before, json_get_str(gate, "name"), gate);
    spot_each (gate, i, &list) {
        MEMBER(name, &gate, "name");
        if (!map_has(&before, spot_text(&name)))
            say_forbidden(&name, say_text(&name,
                                          "only deletion is allowed, but found new scheduling gate "
                                          "'" STR_FMT "'",
                                          STR_ARG(spot_text(&name))));
    }
    map_fini(&before);
}

static void take(struct arena *a, struct json *to, const struct json *from, const char *name)
{
    const struct json *v = json_getc(from, name);
    if (v)
        json_setc(a, to, name, json_clone(a, v));
    else
        (void)json_del(to, str_of(name));
}

static void take_images(struct arena *a, struct json *to, const struct json *from, const char *list)
{
    const struct json *old = json_first(json_getc(from, list));
    json_each (c, json_getc(to, list)) {
        if (old)
            take(a, c, old, "image");
        old = old ? old->next : NULL;
    }
}

/* ---- pods that wait at a gate may still be told where to go ---- */

static bool only_adds(const struct json *now, const struct json *old)
{
    const struct json *n = json_first(now);
    json_each (o, old) {
        if (!n || !json_equal(n, o))
            return false;
        n = n->next;
    }
    return true;
}

static bool term_only_adds(const struct json *now, const struct json *old)
{
    const struct json *expressions = json_getc(old, "matchExpressions");
    const struct json *fields = json_getc(old, "matchFields");
    if (!json_first(expressions) && !json_first(fields))
        return !json_first(json_getc(now, "matchExpressions")) &&
               !json_first(json_getc(now, "matchFields"));
    return only_adds(json_getc(now, "matchExpressions"), expressions) &&
           only_adds(json_getc(now, "matchFields"), fields);
}

#define NODE_AFFINITY "affinity", "nodeAffinity"
#define REQUIRED      "requiredDuringSchedulingIgnoredDuringExecution"

static void gated_affinity(const struct spot *spec, const struct json *old)
{
    MEMBER(place, spec, "affinity");
    MEMBER(node, &place, "nodeAffinity");
    MEMBER(required, &node, REQUIRED);
    MEMBER(terms, &required, "nodeSelectorTerms");
    const struct json *before = json_path(old, NODE_AFFINITY, REQUIRED, "nodeSelectorTerms", NULL);
    size_t n_before = json_is(before, JSON_ARRAY) ? before->n : 0;
    if (n_before == 0)
        return;
    if (n_before != spot_count(&terms)) {
        say_invalid(&terms,
                    "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
        return;
    }
    const struct json *o = before->first;
    spot_each (term, i, &terms) {
        if (!term_only_adds(term.v, o))
            say_invalid(&term, "only additions are allowed (no mutations or deletions)");
        o = o->next;
    }
}

static bool selector_only_adds(const struct json *now, const struct json *old)
{
    struct map members = { 0 };
    bool kept = true;
    json_each (m, now)
        (void)map_put(&members, m->key, m);
    json_each (m, old)
        kept = kept && json_same(map_get(&members, m->key), m);
    map_fini(&members);
    return kept;
}

/* What was allowed to change is put back into `same`. */
static void gated_update(const struct spot *spec, const struct json *old, struct json *same)
{
    struct arena *a = spec->errs->a;
    MEMBER(selector, spec, "nodeSelector");
    if (!json_same(selector.v, json_getc(old, "nodeSelector"))) {
        if (!selector_only_adds(selector.v, json_getc(old, "nodeSelector")))
            say_invalid_value(&selector, sorted_map(a, selector.v),
                              "only additions to spec.nodeSelector are allowed (no mutations or "
                              "deletions)");
        take(a, same, old, "nodeSelector");
    }
    const struct json *before = json_path(old, NODE_AFFINITY, NULL);
    if (json_same(json_path(spec->v, NODE_AFFINITY, NULL), before))
        return;
    gated_affinity(spec, old);
    struct json *affinity_now = json_getc(same, "affinity");
    if (before)
        json_setc(a, json_obj(a, same, "affinity"), "nodeAffinity", json_clone(a, before));
    else if (affinity_now)
        (void)json_del(affinity_now, STR("nodeAffinity"));
    if (affinity_now && affinity_now->n == 0 && !json_getc(old, "affinity"))
        (void)json_del(same, STR("affinity"));
}

/* ---- the rest may not change ---- */

static void spec_update(const struct spot *spec, const struct json *old)
{
    struct arena *a = spec->errs->a;
    struct json *same = json_clone(a, spec->v);
    const struct json *grace = json_getc(old, "terminationGracePeriodSeconds");
    take_images(a, same, old, "containers");
    take_images(a, same, old, "initContainers");
    take(a, same, old, "activeDeadlineSeconds");
    take(a, same, old, "schedulingGates");
    take(a, same, old, "tolerations");
    if (json_int_or(grace, 0) < 0 && member_number(spec, "terminationGracePeriodSeconds") == 1)
        take(a, same, old, "terminationGracePeriodSeconds");
    if (json_first(json_getc(old, "schedulingGates")))
        gated_update(spec, old, same);
    if (!json_equal(same, old))
        say_forbidden(spec,
                      say_text(spec,
                               "pod updates may not change fields other than "
                               "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                               "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
                               "existing tolerations),`spec.terminationGracePeriodSeconds` (allow "
                               "it to be set to 1 if it was previously negative)\n%s",
                               go_diff(a, old, same, "PodSpec")));
}

static void pod_update(const struct spot *root, const struct json *old)
{
    MEMBER(metadata, root, "metadata");
    MEMBER(annotated, &metadata, "annotations");
    MEMBER(spec, root, "spec");
    const struct json *old_spec = json_getc(old, "spec");
    fixed_annotations(&annotated, json_path(old, "metadata", "annotations", NULL));
    if (!container_images(&spec, "containers", old_spec) ||
        !container_images(&spec, "initContainers", old_spec) || !deadline_update(&spec, old_spec))
        return;
    tolerations_update(&spec, old_spec);
    gates_update(&spec, old_spec);
    if (!json_same(spec.v, old_spec))
        spec_update(&spec, old_spec);
}

/* ---- status ---- */

static void state_transitions(const struct spot *list, const struct json *old, const char *policy,
                              const struct map *sidecars)
{
    struct map running = { 0 }; /* names of those that are not terminated now */
    size_t i = 0;
    if (strcmp(policy, "Always") == 0)
        return;
    json_each (s, list->v)
        if (!json_is(json_path(s, "state", "terminated", NULL), JSON_OBJECT))
            (void)map_put(&running, json_get_str(s, "name"), s);
    json_each (s, old) {
        struct spot item = spot_item(list, s, i++), state = spot_member(&item, "state");
        const struct json *end = json_getc(state.v, "terminated");
        struct str name = json_get_str(s, "name");
        if (!json_is(end, JSON_OBJECT) || (sidecars && map_has(sidecars, name)) ||
            (json_int_or(json_getc(end, "exitCode"), 0) != 0 && strcmp(policy, "OnFailure") == 0))
            continue;
        if (map_has(&running, name))
            say_forbidden(&state, "may not be transitioned to non-terminated state");
    }
    map_fini(&running);
}

static struct json *shown_addresses(const struct spot *list)
{
    struct json *all = json_new_array(list->errs->a);
    json_each (item, list->v)
        json_add(all, go_struct(list->errs->a, item, "IP=ip/\"\""));
    return all;
}

static void status_addresses(const struct spot *list)
{
    struct map seen = { 0 };
    spot_each (item, i, list) {
        struct spot at = item;
        at.v = json_getc(item.v, "ip");
        must_ip(&at, NULL);
        if (map_put(&seen, spot_text(&at), &seen))
            say_duplicate(&item);
    }
    map_fini(&seen);
    if (spot_count(list) > 1 && (spot_count(list) > 2 || !is_dual_stack(list->v, "ip", false)))
        say_invalid_value(list, shown_addresses(list),
                          "may specify no more than one IP for each IP family");
}

static void host_addresses(const struct spot *status)
{
    MEMBER(list, status, "hostIPs");
    const struct json *first = json_first(list.v);
    if (first && !str_eq(json_get_str(first, "ip"), member_text(status, "hostIP"))) {
        struct spot item = spot_item(&list, first, 0), ip = spot_member(&item, "ip");
        say_invalid_text(&ip, "must be equal to `hostIP`");
    }
    status_addresses(&list);
}

static void conditions(const struct spot *list)
{
    WORDS(of_system, WORD("PodScheduled"), WORD("Ready"), WORD("Initialized"));
    spot_each (c, i, list) {
        MEMBER(seen, &c, "observedGeneration");
        struct spot type = spot_named(&c, "Type", json_getc(c.v, "type"));
        if (spot_number(&seen) < 0)
            say_invalid(&seen, "must be a non-negative integer");
        if (!words_has(&of_system, spot_text(&type)))
            must_qualified_name(&type, NULL);
    }
}

static void status_update(const struct spot *root, const struct json *old)
{
    MEMBER(status, root, "status");
    MEMBER(regular, &status, "containerStatuses");
    MEMBER(init, &status, "initContainerStatuses");
    MEMBER(ephemeral, &status, "ephemeralContainerStatuses");
    MEMBER(listed, &status, "conditions");
    MEMBER(pod_ips, &status, "podIPs");
    MEMBER(qos, &status, "qosClass");
    MEMBER(nominated, &status, "nominatedNodeName");
    const struct json *before = json_getc(old, "status"), *spec = json_getc(old, "spec");
    char *policy = str_dup_arena(root->errs->a, json_get_str(spec, "restartPolicy"));
    struct map sidecars = { 0 };
    json_each (c, json_getc(spec, "initContainers"))
        if (str_is(json_get_str(c, "restartPolicy"), "Always"))
            (void)map_put(&sidecars, json_get_str(c, "name"), c);
    conditions(&listed);
    if (!json_same(nominated.v, json_getc(before, "nominatedNodeName")))
        a_subdomain(&nominated, NULL);
    if (!str_eq(spot_text(&qos), json_get_str(before, "qosClass")))
        say_invalid_text(&qos, "field is immutable");
    state_transitions(&regular, json_getc(before, "containerStatuses"), policy, NULL);
    state_transitions(&init, json_getc(before, "initContainerStatuses"), policy, &sidecars);
    state_transitions(&ephemeral, json_getc(before, "ephemeralContainerStatuses"), "Never", NULL);
    status_addresses(&pod_ips);
    host_addresses(&status);
    map_fini(&sidecars);
}

/* ---- pods ---- */

/* What holds for pods, but not for templates. */
static void only_pods(const struct spot *spec)
{
    static const char *const lists[] = { "containers", "initContainers" };
    MEMBER(volumes, spec, "volumes");
    if (member_text(spec, "serviceAccountName").n == 0)
        spot_each (volume, i, &volumes) {
            MEMBER(projected, &volume, "projected");
            MEMBER(sources, &projected, "sources");
            spot_each (source, k, &sources) {
                MEMBER(token, &source, "serviceAccountToken");
                if (token.v)
                    say_forbidden(&token,
                                  "must not be specified when serviceAccountName is not set");
            }
        }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        MEMBER(list, spec, lists[i]);
        spot_each (c, k, &list)
            image_without_blanks(&c);
    }
}

static void pod_create(const struct spot *spec, const struct json *annotations)
{
    MEMBER(ephemeral, spec, "ephemeralContainers");
    MEMBER(node, spec, "nodeName");
    MEMBER(gates, spec, "schedulingGates");
    if (spot_count(&ephemeral))
        say_forbidden(&ephemeral, "cannot be set on create");
    if (spot_text(&node).n && spot_count(&gates))
        say_forbidden(&node, "cannot be set until all schedulingGates have been cleared");
    profiles_like_annotations(spec, annotations);
}

void whole_pod(const struct spot *root)
{
    MEMBER(metadata, root, "metadata");
    MEMBER(annotated, &metadata, "annotations");
    MEMBER(spec, root, "spec");
    pod_annotations(&annotated, &spec);
    pod_spec(&spec, member_text(&metadata, "name"), true);
    only_pods(&spec);
}

void validate_pod(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    if (old && !json_same(json_getc(obj, "status"), json_getc(old, "status"))) {
        status_update(&root, old);
        return;
    }
    whole_pod(&root);
    if (old)
        pod_update(&root, old);
    else
        pod_create(&spec, json_path(obj, "metadata", "annotations", NULL));
}

/* ---- subresources ---- */

void validate_pod_ephemeral(const struct json *obj, const struct json *old,
                            struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(list, &spec, "ephemeralContainers");
    struct map now = { 0 };
    whole_pod(&root);
    if (json_path(old, "metadata", "annotations", MIRROR_POD, NULL)) {
        say_forbidden(&root, "static pods do not support ephemeral containers");
        return;
    }
    json_each (c, list.v)
        (void)map_put(&now, json_get_str(c, "name"), c);
    json_each (c, json_path(old, "spec", "ephemeralContainers", NULL)) {
        struct str name = json_get_str(c, "name");
        const struct json *same = map_get(&now, name);
        if (!same)
            say_forbidden(&list, say_text(&list,
                                          "existing ephemeral containers \"" STR_FMT
                                          "\" may not be removed\n",
                                          STR_ARG(name)));
        else if (!json_equal(same, c))
            say_forbidden(&list,
                          say_text(&list,
                                   "existing ephemeral containers \"" STR_FMT
                                   "\" may not be changed\n%s",
                                   STR_ARG(name), go_diff(errs->a, c, same, "EphemeralContainer")));
    }
    map_fini(&now);
}

void validate_pod_binding(const struct json *binding, struct field_errors *errs)
{
    WORDS(kinds, WORD("Node"), WORD("<empty>"));
    struct spot root = spot_root(binding, errs);
    MEMBER(target, &root, "target");
    MEMBER(kind, &target, "kind");
    MEMBER(name, &target, "name");
    if (spot_text(&kind).n && !spot_is(&kind, "Node"))
        say_unsupported(&kind, &kinds);
    need(&name, NULL);
}

void validate_pod_template(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(template, &root, "template");
    pod_template(&template);
}
