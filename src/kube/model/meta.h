/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Object metadata: reading, system fields, and upstream's rules for names, labels and other fields.
 */
#pragma once

#include "kube/model/field.h"

struct str meta_name(const struct json *obj);
struct str meta_namespace(const struct json *obj);
struct str meta_uid(const struct json *obj);
struct str meta_resource_version(const struct json *obj);
/* metadata, created when absent. */
struct json *meta_of(struct arena *a, struct json *obj);
bool meta_is_deleting(const struct json *obj); /* deletionTimestamp is set */
bool meta_has_finalizers(const struct json *obj);
void meta_set_resource_version(struct arena *a, struct json *obj, uint64_t rev);
/*
 * Sets kind and apiVersion of an item, as its list implies them: items of a PodList have neither.
 */
void meta_name_item(struct arena *a, const struct json *list, struct json *item);

/*
 * Five random characters after a prefix that is cut to fit, from upstream's alphabet. random: given
 * by the caller.
 */
enum { META_GENERATED_MAX_BYTES = 63, META_GENERATED_SUFFIX = 5 };
struct str meta_generate_name(struct arena *a, struct str prefix, uint64_t random);

/* ---- rules for strings: upstream's error texts (static); n == 0: valid ---- */
struct meta_problems {
    const char *text[4];
    size_t n;
};
typedef struct meta_problems (*meta_rule)(struct str s);
struct meta_problems meta_check_dns1123_label(struct str s);
struct meta_problems meta_check_dns1123_subdomain(struct str s);
struct meta_problems meta_check_dns1035_label(struct str s);
struct meta_problems meta_check_path_segment(struct str s);
struct meta_problems meta_check_qualified_name(struct str s); /* label keys, finalizers */
struct meta_problems meta_check_label_value(struct str s);
struct meta_problems meta_check_config_key(struct str s); /* keys of ConfigMaps and Secrets */

enum { META_ANNOTATIONS_MAX_BYTES = 256 * 1024 };

/*
 * Rules for every object's metadata; reports below "metadata". own_rule: an additional rule for a
 * name that is set; may be NULL.
 */
void meta_validate(const struct json *obj, bool namespaced, meta_rule rule,
                   void (*own_rule)(const struct json *obj, struct field_errors *errs),
                   struct field_errors *errs);
/* Additional rules for an update: immutable fields. */
void meta_validate_update(const struct json *obj, const struct json *old,
                          struct field_errors *errs);
/* Additional rule for built-in kinds: finalizers are qualified or upstream's own. */
void meta_validate_finalizer_names(const struct json *obj, struct field_errors *errs);
void meta_validate_labels(const struct json *labels, const struct fpath *at,
                          struct field_errors *errs);
void meta_validate_annotations(const struct json *annotations, const struct fpath *at,
                               struct field_errors *errs);
