/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables (meta.k8s.io/v1), which `kubectl get` prints. Columns of built-in kinds are upstream's,
 * those of custom resources come from additionalPrinterColumns.
 */
#pragma once

#include "kube/model/resource.h"

enum table_include { TABLE_INCLUDE_METADATA, TABLE_INCLUDE_NONE, TABLE_INCLUDE_OBJECT };
/* "None", "Metadata", "Object", ""; -EINVAL. */
int table_include_parse(struct str s, enum table_include *ret);

/*
 * An empty table. version "v1" or "v1beta1". columns: include the column definitions (a watch sends
 * them only with its first event). list_meta: the table's metadata, cloned; may be NULL.
 */
struct json *table_new(struct arena *a, const struct kube_resource *res, struct str version,
                       bool columns, const struct json *list_meta);
/* Append the row of one object. */
void table_add_row(struct arena *a, struct json *table, const struct kube_resource *res,
                   const struct json *obj, enum table_include include, struct str version,
                   int64_t now_s);

/* "5d", "3h12m", "<invalid>", "<unknown>": upstream's duration.HumanDuration. */
struct str table_age(struct arena *a, struct str rfc3339, int64_t now_s);
struct str table_duration(struct arena *a, int64_t seconds);

/* Columns of kinds without their own: Name, Age. */
extern const struct kube_column table_default_columns[];
extern const size_t table_n_default_columns;
