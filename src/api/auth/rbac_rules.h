/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy rules of RBAC in a compact form, and upstream's decisions on them: whether a rule allows a
 * request, and whether some rules cover others. Pure.
 *
 * A compiled list of rules is one run of bytes without pointers:
 *
 *     rules:  rule...
 *     rule:   u32 size of what follows, then five lists: verbs, groups, resources, names, urls
 *     list:   varint count, then strings
 *     string: varint length, bytes
 *
 * Only rbac_rules_compile() makes such bytes; they never come from outside.
 */
#pragma once

#include "base/buf.h"
#include "codec/json.h"

enum rbac_rule_list { RBAC_VERBS, RBAC_GROUPS, RBAC_RESOURCES, RBAC_NAMES, RBAC_URLS, RBAC_LISTS };

struct rbac_rules {
    const uint8_t *p;
    size_t n;
};

/* Append the compiled form of the `rules` array of a Role; NULL and null have no rules. */
int rbac_rules_compile(struct buf *to, const struct json *array);

/* ---- reading ---- */

struct rbac_rule {
    struct rbac_rules list[RBAC_LISTS]; /* each a list as above */
};
/* Read the next rule and advance `at`; false at the end. */
bool rbac_rule_next(struct rbac_rules *at, struct rbac_rule *ret);
/* Read the next string of a list. */
bool rbac_rule_string(struct rbac_rules *list_left, struct str *ret);
/* Start reading a list: returns the count, sets the cursor for rbac_rule_string(). */
size_t rbac_rule_list(const struct rbac_rule *rule, enum rbac_rule_list which,
                      struct rbac_rules *ret_left);
size_t rbac_rule_count(const struct rbac_rule *rule, enum rbac_rule_list which);
/* The non-empty members as JSON arrays of strings, for rules reviews. */
struct json *rbac_rule_to_json(struct arena *a, const struct rbac_rule *rule);

/* ---- deciding ---- */

struct rbac_rule_request {
    struct str verb, group, resource, subresource, name;
    struct str path; /* of a non-resource request */
    bool is_path;
};
bool rbac_rule_allows(const struct rbac_rule *rule, const struct rbac_rule_request *rq);

/* One element of a rule's product: one verb, one group, one resource, ... */
struct rbac_rule_atom {
    struct str verb, group, resource, name, url;
    bool has_name, is_url;
};
/*
 * Check that each atom of `wanted` is covered by one of the `n` rules. missing: called for each
 * atom that is not, in order. Returns true if all are covered.
 *
 * A rule that no single one of the `n` covers is expanded into atoms. Lists whose product exceeds
 * RBAC_ATOMS_MAX count as not covered from there on, and so does the rest when `budget` (NULL:
 * BUDGET_MAX_STEPS) is used up, at one step per comparison of strings. In that case the result can
 * be false without a call of missing().
 */
enum { RBAC_ATOMS_MAX = 1 << 16 };
bool rbac_rules_cover(const struct rbac_rule *owned, size_t n, struct rbac_rules wanted,
                      struct budget *budget,
                      void (*missing)(void *arg, const struct rbac_rule_atom *atom), void *arg);

/*
 * Collects what is missing, in upstream's words: one line for each group and resource with its
 * verbs together: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`; sorted.
 */
struct rbac_gaps {
    struct arena *a;
    struct rbac_gap *first, *last;
    size_t n;
};
enum { RBAC_GAPS_MAX = 256 }; /* further ones are dropped */
void rbac_gaps_add(void *gaps,
                   const struct rbac_rule_atom *atom); /* a callback for rbac_rules_cover() */
void rbac_gaps_write(const struct rbac_gaps *gaps, struct buf *to);
