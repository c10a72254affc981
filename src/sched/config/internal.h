/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of config/ share: the fields, the check of a tree against them, and the steps from
 * the checked tree to struct sched_config.
 */
#pragma once

#include "codec/yaml.h"
#include "kube/model/field.h"
#include "sched/config/config.h"

#define SCHED_CONFIG_GROUP   "kubescheduler.config.k8s.io"
#define SCHED_CONFIG_VERSION SCHED_CONFIG_GROUP "/v1"

enum config_type {
    CONFIG_STRING,
    CONFIG_BOOL,
    CONFIG_INT32,
    CONFIG_INT64,
    CONFIG_FLOAT32,
    CONFIG_DURATION, /* metav1.Duration */
    CONFIG_BYTES,    /* base64 */
    CONFIG_RAW,      /* any JSON */
    CONFIG_STRUCT,
    CONFIG_STRUCTS, /* a list of structs */
    CONFIG_STRINGS,
    CONFIG_STRING_MAP,
};

struct config_struct;
struct config_field {
    const char *name;
    enum config_type type;
    const char *go; /* upstream's type, for upstream's messages about wrong types; NULL: follows
                       from type */
    const struct config_struct *of;
};
struct config_struct {
    const char *go; /* the struct's name */
    const struct config_field *fields;
    size_t n;
};

extern const struct config_struct config_root;
/* The struct of a native plugin's arguments; NULL: it has none, or is not native. */
const struct config_struct *config_args_of(struct str plugin);

/* `unknown field "a.b"`, and the node for its position. */
struct config_strict {
    struct str text;
    const struct json *node;
};
struct config_decoder {
    struct arena *a;
    const struct yaml_marks *marks;
    bool is_sorted; /* report in the order of keys, as upstream does after reading YAML */
    struct config_strict *strict;
    size_t n_strict, n_more; /* n_more: reports that did not fit */
};
enum { CONFIG_MAX_STRICT = 16 };

/*
 * Checks types, drops nulls in structs, collects unknown fields. `v` is changed in place. Errors:
 * E_INVALID with Go's text and the position.
 */
int config_decode(struct config_decoder *d, const struct config_struct *s, struct json *v,
                  struct err *err);

/* ---- values of checked trees: 0 if absent ---- */
int64_t config_int(const struct json *obj, const char *key);
int64_t config_ns(const struct json *obj, const char *key);

/* ---- arguments of native plugins ---- */
void config_args_default(struct arena *a, struct str plugin, struct json *args);
void config_args_validate(struct str plugin, const struct json *args, const struct fpath *at,
                          struct field_errors *errs);

/* ---- plugin sets ---- */

/* Fills at[] and multi_point. plugins: NULL: the defaults. Errors: E_LIMIT. */
int config_expand(struct arena *a, const struct json *plugins, const struct fpath *at,
                  struct sched_config_profile *ret, struct buf *warnings, struct err *err);
/*
 * The names of the points in a configuration, in the order of enum sched_point; then those that
 * have no effect here, ended by NULL.
 */
extern const char *const config_points[], *const config_other_points[];
bool config_is_default_plugin(struct str name);
/* Upstream has this plugin and we do not: returns why, else NULL. */
const char *config_missing_plugin(struct str name);

void config_validate(struct arena *a, const struct json *root, struct field_errors *errs);

/* Adds the line "PATH: TEXT". */
void config_warn(struct buf *warnings, const struct fpath *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
