/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building the row of an object, cell by cell, for the `cells` member of a resource. Internal to
 * src/kube/kinds.
 */
#pragma once

#include "codec/json.h"

struct kind_row {
    struct arena *a;
    struct json *cells;
    const struct json *obj;
    int64_t now_s;
};

void row_str(struct kind_row *r, struct str s);
void row_or(struct kind_row *r, struct str s, const char *otherwise); /* for "" */
void row_int(struct kind_row *r, int64_t v);
void row_printf(struct kind_row *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void row_name(struct kind_row *r);
/* Age of the object, or of a timestamp ("<unknown>" when empty). */
void row_age(struct kind_row *r);
void row_since(struct kind_row *r, struct str rfc3339);
/* Two cells: names and images of the containers of a pod spec. */
void row_containers(struct kind_row *r, const struct json *pod_spec);
/* "a=b,c=d", sorted; "<none>" if there are none. */
void row_labels(struct kind_row *r, const struct json *labels);
/* A LabelSelector as text. */
void row_selector(struct kind_row *r, const struct json *selector, const char *when_empty);
/* An integer at `path` ("status.replicas"); 0 when absent. */
int64_t row_num(const struct json *obj, const char *path);
/* Number of elements of an array or object, 0 when absent. */
int64_t row_count(const struct json *list);
/* A string at `path`; "" when absent. */
struct str row_text(const struct json *obj, const char *path);
/* The {type, status} in `conditions` has status True. */
bool row_condition(const struct json *conditions, const char *type);
