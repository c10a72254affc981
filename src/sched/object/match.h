/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels and selectors, with interned strings: label selectors (metav1.LabelSelector), node
 * selectors (v1.NodeSelector with matchFields), taints and tolerations. Pure.
 */
#pragma once

#include "sched/object/object.h"

struct sched_label {
    struct intern *key, *value;
};
struct sched_labels {
    struct sched_label *p; /* by the address of key */
    uint32_t n;
};
int sched_labels_read(struct intern_table *w, const struct json *labels, struct sched_labels *ret,
                      struct err *err);
void sched_labels_fini(struct intern_table *w, struct sched_labels *labels);
/* NULL: no label has that key. */
struct intern *sched_label_get(const struct sched_labels *labels, const struct intern *key);
bool sched_labels_equal(const struct sched_labels *a, const struct sched_labels *b);

enum sched_selector_op {
    SCHED_IN,
    SCHED_NOT_IN,
    SCHED_EXISTS,
    SCHED_NOT_EXISTS,
    SCHED_GREATER,
    SCHED_LESS
};
struct sched_requirement {
    struct intern *key;
    enum sched_selector_op op;
    struct intern **values; /* by their text */
    uint32_t n_values;
    bool is_equality; /* of IN: from matchLabels, printed as "key=value" */
    int64_t bound;    /* of GREATER and LESS */
};
/* All requirements must hold. n == 0 and !nothing matches everything. */
struct sched_selector {
    struct sched_requirement *p;
    uint32_t n;
    bool nothing; /* an absent LabelSelector */
};
/* metav1.LabelSelector; NULL or JSON null gives `nothing`, {} matches everything. */
int sched_selector_read(struct intern_table *w, const struct json *json, struct sched_selector *ret,
                        struct err *err);
/* {key: value...}, as in a Service or a nodeSelector. */
int sched_selector_read_map(struct intern_table *w, const struct json *json,
                            struct sched_selector *ret, struct err *err);
void sched_selector_fini(struct intern_table *w, struct sched_selector *s);
bool sched_selector_matches(const struct sched_selector *s, const struct sched_labels *labels);
/* As upstream prints it: "a=b,c in (d,e)". */
void sched_selector_text(const struct sched_selector *s, struct buf *out);

/*
 * One term of a v1.NodeSelector. A term that is empty or has an invalid requirement matches
 * nothing.
 */
struct sched_node_term {
    struct sched_selector labels;
    struct sched_requirement *fields; /* only metadata.name is supported */
    uint32_t n_fields;
    bool matches_nothing;
    int32_t weight; /* of a preferred one */
};
struct sched_node_terms {
    struct sched_node_term *p;
    uint32_t n;
};
int sched_node_terms_read(struct intern_table *w, const struct json *terms,
                          struct sched_node_terms *ret, struct err *err);
void sched_node_terms_fini(struct intern_table *w, struct sched_node_terms *terms);
struct sched_node;
bool sched_node_term_matches(const struct sched_node_term *t, const struct sched_node *node);
/* Does any term match? false without terms. */
bool sched_node_terms_match(const struct sched_node_terms *terms, const struct sched_node *node);

enum sched_taint_effect { SCHED_NO_SCHEDULE, SCHED_PREFER_NO_SCHEDULE, SCHED_NO_EXECUTE };
struct sched_taint {
    struct intern *key, *value; /* value NULL: "" */
    enum sched_taint_effect effect;
};
struct sched_toleration {
    struct intern *key;   /* NULL, with EXISTS: every key */
    struct intern *value; /* NULL: "" */
    enum {
        SCHED_TOLERATES_EQUAL,
        SCHED_TOLERATES_EXISTS,
        SCHED_TOLERATES_LT,
        SCHED_TOLERATES_GT
    } op;
    bool all_effects;
    enum sched_taint_effect effect;
};
bool sched_tolerates(const struct sched_toleration *tolerations, uint32_t n,
                     const struct sched_taint *taint);
