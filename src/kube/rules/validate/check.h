/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of this directory; validate.h is the interface to others.
 *
 * Checks take a value with its path (value.h) and report into its list of errors (report.h), so
 * most of a kind's validation is tables: member, check, argument. Checks run in the order in which
 * upstream runs them, because errors are shown in that order.
 *
 * Users choose the length of lists and maps, so no check may compare each element with each other.
 */
#pragma once

#include "base/map.h"
#include "kube/rules/validate/report.h"

/* ---- checks ---- */

typedef void (*validate_fn)(const struct validate_value *s, const void *arg);
struct validate_member {
    const char *name;
    validate_fn check; /* called for absent members too */
    const void *arg;
};
void validate_members(const struct validate_value *s, const struct validate_member *checks,
                      size_t n);
#define VALIDATE_MEMBERS(s, table) validate_members((s), (table), ARRAY_LEN(table))

bool validate_enum_has(const struct validate_enum *w, struct str s);

void validate_required(const struct validate_value *s, const void *detail); /* empty: required */
void validate_enum(const struct validate_value *s, const void *words);      /* empty: required */
void validate_enum_strict(const struct validate_value *s,
                          const void *words); /* empty: unsupported */
void validate_enum_if_set(const struct validate_value *s, const void *words);  /* may be absent */
void validate_nonnegative(const struct validate_value *s, const void *unused); /* may be absent */
struct validate_range {
    int64_t min, max;
};
void validate_range(const struct validate_value *s, const void *range); /* absent is 0 */
void validate_range_if_set(const struct validate_value *s, const void *range);
void validate_port(const struct validate_value *s, const void *unused);
void validate_port_or_name(const struct validate_value *s, const void *unused);
void validate_file_mode(const struct validate_value *s, const void *unused); /* absent is allowed */
/* Rules for strings; those with _if_set skip empty ones. */
void validate_label_if_set(const struct validate_value *s, const void *unused);
void validate_subdomain_if_set(const struct validate_value *s, const void *unused);
void validate_qualified_name_if_set(const struct validate_value *s, const void *unused);
void validate_label(const struct validate_value *s, const void *unused);
void validate_subdomain(const struct validate_value *s, const void *unused);
void validate_qualified_name(const struct validate_value *s, const void *unused);
void validate_required_label(const struct validate_value *s,
                             const void *unused); /* required, and a label */
void validate_required_subdomain(const struct validate_value *s, const void *unused);
void validate_required_path_segment(const struct validate_value *s, const void *unused);
void validate_labels(const struct validate_value *s, const void *unused);
/* Checks every element of a list: arg is a validate_fn in a struct each. */
struct validate_each {
    validate_fn check;
    const void *arg;
};
void validate_each(const struct validate_value *s, const void *arg);

/* "field is immutable" if the member differs. */
void validate_immutable(const struct validate_value *now, const struct json *old);
/* Counters of a status may not be negative; those of `bounded` not above status.replicas. */
void validate_status_counters(const struct validate_value *status, const char *const *names,
                              size_t n);
void validate_not_above(const struct validate_value *status, const char *name, const char *limit,
                        const char *detail);
void validate_not_decremented(const struct validate_value *status, const struct json *old,
                              const char *name);

/* ---- volumes.c ---- */

void validate_csi_driver_name(const struct validate_value *s, const void *unused); /* required */

/* ---- batch.c ---- */

void validate_domain_prefixed_path(const struct validate_value *s, const void *unused);

/* ---- names.c: rules for strings that meta.h does not have ---- */

struct meta_problems names_check_port(struct str s);
struct meta_problems names_check_env(struct str s);
struct meta_problems names_check_http_header(struct str s);
struct meta_problems names_check_percent(struct str s);
struct meta_problems names_check_search_domain(struct str s);
struct meta_problems names_check_wildcard_domain(struct str s);
bool names_is_sysctl(struct str s);
void validate_path_below(const struct validate_value *s,
                         const void *unused); /* relative, no ".." */
void validate_path_unreserved(const struct validate_value *s,
                              const void *unused); /* likewise, not beginning with ".." */
void validate_path_no_backsteps(const struct validate_value *s, const void *unused);

struct validate_ip {
    bool is_v6, is_mapped, has_leading_zeros;
    uint8_t bytes[16]; /* the first 4 of an IPv4 address; of a mapped one too */
};
bool validate_ip_parse(struct str s, struct validate_ip *ret);
void validate_ip(const struct validate_value *s, const void *unused);
void validate_ordinary_ip(const struct validate_value *s,
                          const void *unused); /* not loopback, link-local, ... */
struct validate_cidr {
    struct validate_ip ip;
    unsigned bits;
};
bool validate_cidr_parse(struct str s, struct validate_cidr *ret);
bool validate_cidr_has(const struct validate_cidr *c, const struct validate_ip *ip);
void validate_cidr(const struct validate_value *s, struct str text);
/* The list has two addresses of different families; false if an entry is not an address. */
bool validate_is_dual_stack(const struct json *list, const char *member, bool cidrs);

/* ---- selectors.c ---- */

void validate_label_selector(const struct validate_value *s,
                             const void *unused); /* absent is allowed */
void validate_node_selector(const struct validate_value *s, const void *unused);
void validate_affinity(const struct validate_value *s, const void *unused);
void validate_tolerations(const struct validate_value *s, const void *unused);
void validate_taint_effect(const struct validate_value *s, bool may_be_empty);
void validate_topology_spread(const struct validate_value *s, const void *unused);
/* A selector with its maps in order, as Go prints it. */
struct json *selector_shown(struct arena *a, const struct json *selector);
enum selector_fit { SELECTOR_BROKEN, SELECTOR_MISSES, SELECTOR_FITS };
/* Whether the selector matches these labels. An empty selector matches all, an absent one none. */
enum selector_fit selector_fit(struct arena *a, const struct json *selector,
                               const struct json *labels);

/* ---- resources.c ---- */

enum resource_use { RESOURCE_CONTAINER, RESOURCE_POD, RESOURCE_QUOTA, RESOURCE_ANY };
void resource_name(const struct validate_value *s, struct str name, enum resource_use use);
void resource_value(const struct validate_value *s, struct str name);
/* ResourceRequirements; claims: names in spec.resourceClaims or NULL. */
void resource_requirements(const struct validate_value *s, enum resource_use use,
                           const struct map *claims);
void resource_limits(const struct validate_value *list, enum resource_use use); /* a single list */
bool resource_is_native(struct str name);
bool resource_may_overcommit(struct str name);

/* ---- volumes.c ---- */

/*
 * Validates the volumes of a pod and returns them by name, for those that mount them: only valid
 * ones are in the map. pod_name: "" in templates; is_pod: not a template.
 */
void validate_volumes(const struct validate_value *list, struct str pod_name, bool is_pod,
                      struct map *ret);
void validate_persistent_volume_sources(const struct validate_value *spec, bool has_affinity,
                                        struct str name);
void validate_claim_spec(const struct validate_value *s);
void validate_access_modes(const struct validate_value *s);

/* ---- security.c ---- */

void validate_container_security(const struct validate_value *s, bool host_users);
void validate_pod_security(const struct validate_value *spec);

/* ---- containers.c ---- */

struct pod_context {
    struct map volumes;      /* name to struct json of the volume */
    struct map claims;       /* names of spec.resourceClaims */
    const struct json *spec; /* of the pod */
    bool host_users;
    bool is_pod;
};
/* fieldRef and resourceFieldRef; is_volume: in a file, where containerName is required. */
void validate_field_reference(const struct validate_value *s, const struct validate_enum *fields);
void validate_resource_reference(const struct validate_value *s, bool is_volume);
void validate_containers(const struct validate_value *spec, const struct pod_context *pod);
void validate_image_without_blanks(const struct validate_value *container);
/* Calls fn for containers of all three lists, with their paths. */
void containers_visit(const struct validate_value *spec,
                      void (*fn)(const struct validate_value *c, void *arg), void *arg);

/* ---- pod.c, pod_update.c ---- */

#define MIRROR_POD       "kubernetes.io/config.mirror"
#define APP_ARMOR_PREFIX "container.apparmor.security.beta.kubernetes.io/"

void pod_spec(const struct validate_value *s, struct str pod_name, bool is_pod);
void pod_validate_whole(const struct validate_value *root);
void pod_update(const struct validate_value *root, const struct json *old);
void pod_status_update(const struct validate_value *root, const struct json *old);
/* PodTemplateSpec */
void pod_template(const struct validate_value *s);
void pod_annotations(const struct validate_value *s, const struct validate_value *spec);
void validate_annotations(const struct validate_value *s, const void *unused);

/* ---- internal.c, internal_types.c, unified.c ---- */

struct internal_type {
    const char *name, *members;
};
const struct internal_type *internal_type_find(struct str name);
/* A value of a type such as "PodSpec" in upstream's internal form. v: NULL for an empty one. */
struct json *internal_form(struct arena *a, const struct json *v, struct str type);
/* The difference between two of them. */
const char *internal_diff(struct arena *a, const struct json *old, const struct json *now,
                          const char *type);
const char *unified_diff(struct arena *arena, struct str old, struct str now);

/* ---- networking.c, services.c ---- */

void validate_load_balancer_status(const struct validate_value *s);

/* ---- workloads.c ---- */

void validate_int_or_percent(const struct validate_value *s);
void validate_at_most_100_percent(const struct validate_value *s);
