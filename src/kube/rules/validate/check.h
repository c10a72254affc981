/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this directory share; validate.h is what others see.
 *
 * A spot is a value and where it stands. Checks take a spot and report into its list, so most of a
 * kind's validation is tables: member, check, argument. Checks run in the order in which upstream
 * runs them, because errors are shown in that order.
 *
 * A user decides how long lists and maps are: nothing here may compare each with each.
 */
#pragma once

#include "base/map.h"
#include "kube/model/meta.h"
#include "kube/model/quantity.h"

struct spot {
    struct fpath at;
    bool is_root;         /* `at` is not used: the path is empty */
    const struct json *v; /* NULL when absent or null */
    struct field_errors *errs;
};

/* Spots hold the address of their parent: keep it alive and in place. */
struct spot spot_root(const struct json *obj, struct field_errors *errs);
struct spot spot_member(const struct spot *up, const char *name);
struct spot spot_key(const struct spot *up, const struct json *member); /* of a map: "[key]" */
struct spot spot_item(const struct spot *up, const struct json *item, size_t index);
/* A path that is not where the value is; upstream has some. */
struct spot spot_named(const struct spot *up, const char *name, const struct json *v);
static inline const struct fpath *spot_path(const struct spot *s)
{
    return s->is_root ? NULL : &s->at;
}
#define MEMBER(name, up, key) struct spot name = spot_member((up), (key))
/* for (struct spot item : list) with `i` counting. */
#define spot_each(item, i, list)                                                                   \
    for (size_t i = 0, item##_once = 1; item##_once; item##_once = 0)                              \
        for (const struct json *item##_v = json_first((list)->v); item##_v;                        \
             item##_v = item##_v->next, i++)                                                       \
            for (struct spot item = spot_item((list), item##_v, i), *item##_p = &item; item##_p;   \
                 item##_p = NULL)

/* ---- values ---- */

struct str spot_text(const struct spot *s); /* "" unless a string */
int64_t spot_number(const struct spot *s);  /* 0 unless an integer */
size_t spot_count(const struct spot *s);    /* elements or members */
bool spot_is(const struct spot *s, const char *text);
struct str member_text(const struct spot *s, const char *name);
int64_t member_number(const struct spot *s, const char *name);
bool member_true(const struct spot *s, const char *name);
bool member_set(const struct spot *s, const char *name);
/* A quantity; false if there is none. */
bool spot_quantity(const struct spot *s, struct quantity *ret);
bool json_same(const struct json *a, const struct json *b); /* NULL and JSON null are equal */
size_t errors_of(const struct field_errors *errs);          /* reported so far */
/* A map with its keys in order, as Go prints maps. */
struct json *sorted_map(struct arena *a, const struct json *map);

/*
 * The value as upstream prints its internal struct: `Key=key/"" TimeAdded=timeAdded/null` lists
 * Go's name, the member, and what stands for an absent one.
 */
struct json *go_struct(struct arena *a, const struct json *v, const char *layout);

/* ---- complaints ---- */

void say_required(const struct spot *s, const char *detail);
void say_forbidden(const struct spot *s, const char *detail);
void say_invalid(const struct spot *s, const char *detail); /* shows the value, null if absent */
void say_invalid_text(const struct spot *s, const char *detail);   /* a string, "" if absent */
void say_invalid_number(const struct spot *s, const char *detail); /* 0 if absent */
void say_invalid_value(const struct spot *s, const struct json *shown, const char *detail);
void say_invalid_str(const struct spot *s, struct str shown, const char *detail);
void say_duplicate(const struct spot *s);
void say_duplicate_str(const struct spot *s, struct str shown);
void say_not_found(const struct spot *s);
void say_too_long(const struct spot *s, int max_bytes);
void say_too_many(const struct spot *s, int max);
void say_problems(const struct spot *s, struct str shown, struct meta_problems p);
/* printf into the arena of the list */
#define say_text(s, ...) arena_printf((s)->errs->a, __VA_ARGS__)

/* ---- checks ---- */

typedef void (*check_fn)(const struct spot *s, const void *arg);
struct member_check {
    const char *name;
    check_fn check; /* called for absent members as well */
    const void *arg;
};
void check_members(const struct spot *s, const struct member_check *checks, size_t n);
#define CHECK_MEMBERS(s, table) check_members((s), (table), ARRAY_LEN(table))

struct words {
    const struct str *p;
    size_t n;
};
#define WORD(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
/* WORDS(name, WORD("a"), WORD("b")); in the order in which upstream lists them. */
#define WORDS(name, ...)                                                                           \
    static const struct str name##_list[] = { __VA_ARGS__ };                                       \
    static const struct words name = { name##_list, ARRAY_LEN(name##_list) }
bool words_has(const struct words *w, struct str s);
void say_unsupported(const struct spot *s, const struct words *w);

void need(const struct spot *s, const void *detail);           /* empty: required */
void one_of(const struct spot *s, const void *words);          /* empty: required */
void one_of_strictly(const struct spot *s, const void *words); /* empty: unsupported */
void one_of_or_none(const struct spot *s, const void *words);  /* absent is fine */
void not_negative(const struct spot *s, const void *unused);   /* absent is fine */
struct range {
    int64_t min, max;
};
void in_range(const struct spot *s, const void *range); /* absent is 0 */
void in_range_if_set(const struct spot *s, const void *range);
void a_port(const struct spot *s, const void *unused);
void a_port_or_name(const struct spot *s, const void *unused);
void a_file_mode(const struct spot *s, const void *unused); /* absent is fine */
/* Rules for strings; a_x leaves empty ones alone, must_x does not. */
void a_label(const struct spot *s, const void *unused);
void a_subdomain(const struct spot *s, const void *unused);
void a_qualified_name(const struct spot *s, const void *unused);
void must_label(const struct spot *s, const void *unused);
void must_subdomain(const struct spot *s, const void *unused);
void must_qualified_name(const struct spot *s, const void *unused);
void need_label(const struct spot *s, const void *unused); /* required, and a label */
void need_subdomain(const struct spot *s, const void *unused);
void need_path_segment(const struct spot *s, const void *unused);
void labels(const struct spot *s, const void *unused);
/* Every element of a list: arg is a check_fn in a struct each. */
struct each {
    check_fn check;
    const void *arg;
};
void each(const struct spot *s, const void *arg);

/* "field is immutable" if the member differs. */
void immutable(const struct spot *now, const struct json *old);
/* Counters of a status may not be negative; those of `bounded` not above status.replicas. */
void status_counters(const struct spot *status, const char *const *names, size_t n);
void not_above(const struct spot *status, const char *name, const char *limit, const char *detail);
void not_decremented(const struct spot *status, const struct json *old, const char *name);

/* ---- volumes.c ---- */

void csi_driver_name(const struct spot *s, const void *unused); /* required */

/* ---- batch.c ---- */

void a_domain_prefixed_path(const struct spot *s, const void *unused);

/* ---- names.c: rules for strings that meta.h does not have ---- */

struct meta_problems check_port_name(struct str s);
struct meta_problems check_env_name(struct str s);
struct meta_problems check_http_header(struct str s);
struct meta_problems check_percent(struct str s);
struct meta_problems check_search_domain(struct str s);
struct meta_problems check_wildcard_domain(struct str s);
bool is_sysctl_name(struct str s);
void a_path_below(const struct spot *s, const void *unused);      /* relative, no ".." */
void a_path_unreserved(const struct spot *s, const void *unused); /* and does not begin with ".." */
void a_path_no_backsteps(const struct spot *s, const void *unused);

struct ip {
    bool is_v6, is_mapped, has_leading_zeros;
    uint8_t bytes[16]; /* the first 4 of an IPv4 address; of a mapped one too */
};
bool ip_parse(struct str s, struct ip *ret);
void must_ip(const struct spot *s, const void *unused);
void must_ordinary_ip(const struct spot *s, const void *unused); /* not loopback, link-local, ... */
struct cidr {
    struct ip ip;
    unsigned bits;
};
bool cidr_parse(struct str s, struct cidr *ret);
bool cidr_has(const struct cidr *c, const struct ip *ip);
void must_cidr(const struct spot *s, struct str text);
/* Two addresses of different families; false if one is no address. */
bool is_dual_stack(const struct json *list, const char *member, bool cidrs);

/* ---- selectors.c ---- */

void label_selector(const struct spot *s, const void *unused); /* absent is fine */
void node_selector(const struct spot *s, const void *unused);
void affinity(const struct spot *s, const void *unused);
void tolerations(const struct spot *s, const void *unused);
void taint_effect(const struct spot *s, bool may_be_empty);
void topology_spread(const struct spot *s, const void *unused);
/* A selector with its maps in order, as Go prints it. */
struct json *shown_selector(struct arena *a, const struct json *selector);
enum selector_fit { SELECTOR_BROKEN, SELECTOR_MISSES, SELECTOR_FITS };
/* Does it select these labels? An empty selector fits all, an absent one none. */
enum selector_fit selector_fit(struct arena *a, const struct json *selector,
                               const struct json *labels);

/* ---- resources.c ---- */

enum resource_use { RESOURCE_CONTAINER, RESOURCE_POD, RESOURCE_QUOTA, RESOURCE_ANY };
void resource_name(const struct spot *s, struct str name, enum resource_use use);
void resource_value(const struct spot *s, struct str name);
/* ResourceRequirements; claims: names in spec.resourceClaims or NULL. */
void resource_requirements(const struct spot *s, enum resource_use use, const struct map *claims);
void resource_limits(const struct spot *list, enum resource_use use); /* one list by itself */
bool is_native_resource(struct str name);
bool is_overcommit_allowed(struct str name);

/* ---- volumes.c ---- */

/*
 * The volumes of a pod, by name, for those that mount them: only faultless ones are in the map.
 * pod_name: "" in templates; is_pod: not a template.
 */
void pod_volumes(const struct spot *list, struct str pod_name, bool is_pod, struct map *ret);
void persistent_volume_sources(const struct spot *spec, bool has_affinity, struct str name);
void claim_spec(const struct spot *s);
void check_access_modes(const struct spot *s);

/* ---- security.c ---- */

void container_security(const struct spot *s, bool host_users);
void pod_security(const struct spot *spec);

/* ---- containers.c ---- */

struct pod_context {
    struct map volumes;      /* name to struct json of the volume */
    struct map claims;       /* names of spec.resourceClaims */
    const struct json *spec; /* of the pod */
    bool host_users;
    bool is_pod;
};
/* fieldRef and resourceFieldRef; is_volume: of a file, which must name the container. */
void field_reference(const struct spot *s, const struct words *fields);
void resource_reference(const struct spot *s, bool is_volume);
void pod_containers(const struct spot *spec, const struct pod_context *pod);
void image_without_blanks(const struct spot *container);
/* Calls fn for containers of all three lists, with their paths. */
void containers_visit(const struct spot *spec, void (*fn)(const struct spot *c, void *arg),
                      void *arg);

/* ---- pod.c, pod_update.c ---- */

#define MIRROR_POD       "kubernetes.io/config.mirror"
#define APP_ARMOR_PREFIX "container.apparmor.security.beta.kubernetes.io/"

void pod_spec(const struct spot *s, struct str pod_name, bool is_pod);
void whole_pod(const struct spot *root);
void pod_update(const struct spot *root, const struct json *old);
void pod_status_update(const struct spot *root, const struct json *old);
/* PodTemplateSpec */
void pod_template(const struct spot *s);
void pod_annotations(const struct spot *s, const struct spot *spec);
void annotations(const struct spot *s, const void *unused);

/* ---- internal.c, internal_types.c, unified.c ---- */

struct go_type {
    const char *name, *members;
};
const struct go_type *go_type_find(struct str name);
/* A value of a type such as "PodSpec" as upstream has it in memory. v: NULL for an empty one. */
struct json *go_internal(struct arena *a, const struct json *v, struct str type);
/* Where two of them differ. */
const char *go_diff(struct arena *a, const struct json *old, const struct json *now,
                    const char *type);
const char *unified_diff(struct arena *arena, struct str old, struct str now);

/* ---- networking.c, services.c ---- */

void load_balancer_status(const struct spot *s);

/* ---- workloads.c ---- */

void int_or_percent(const struct spot *s);
void at_most_100_percent(const struct spot *s);
