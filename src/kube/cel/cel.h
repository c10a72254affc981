/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Common Expression Language, as Kubernetes uses it in the rules of CustomResourceDefinitions
 * and admission policies.
 *
 * An expression is parsed into a tree in an arena and evaluated by walking the tree; types are
 * determined during evaluation. Nothing outlives the arena. The parser expands macros (has, all,
 * exists, exists_one, map, filter, and those for optionals and two variables). The functions are
 * those of the standard and of Kubernetes' libraries: strings, lists, regular expressions, sets,
 * URLs, quantities, IP addresses, CIDRs, formats, optionals.
 *
 * A cost bounds the evaluation: one for each step, more for steps that read or make long values.
 */
#pragma once

#include "kube/model/quantity.h"
#include "kube/model/schema.h"

enum {
    CEL_MAX_BYTES = 100000,    /* of an expression */
    CEL_MAX_DEPTH = 250,       /* of its tree */
    CEL_COST_MAX = 1000000,    /* of one evaluation, as upstream's limit per call */
    CEL_MEMORY_MAX = 16 << 20, /* bytes that one evaluation may take from its arena */
    CEL_STEPS_PER_COST = 2     /* steps of the arena's work, see base/budget.h */
};

/* Upstream's name of the type, for messages. */
#define CEL_TYPES(X)                                                                               \
    X(CEL_NULL, "null_type")                                                                       \
    X(CEL_BOOL, "bool")                                                                            \
    X(CEL_INT, "int")                                                                              \
    X(CEL_UINT, "uint")                                                                            \
    X(CEL_DOUBLE, "double")                                                                        \
    X(CEL_STRING, "string")                                                                        \
    X(CEL_BYTES, "bytes")                                                                          \
    X(CEL_LIST, "list")                                                                            \
    X(CEL_MAP, "map")                                                                              \
    X(CEL_DURATION, "google.protobuf.Duration")                                                    \
    X(CEL_TIMESTAMP, "google.protobuf.Timestamp")                                                  \
    X(CEL_TYPE, "type")                                                                            \
    X(CEL_OPTIONAL, "optional_type")                                                               \
    X(CEL_QUANTITY, "kubernetes.Quantity")                                                         \
    X(CEL_URL, "kubernetes.URL")                                                                   \
    X(CEL_IP, "net.IP")                                                                            \
    X(CEL_CIDR, "net.CIDR")                                                                        \
    X(CEL_SEMVER, "kubernetes.Semver")                                                             \
    X(CEL_FORMAT, "kubernetes.NamedFormat")                                                        \
    X(CEL_ACCESS, "kubernetes.authorization.Authorizer")

enum cel_type {
#define CEL_TYPE_ENUM(name, text) name,
    CEL_TYPES(CEL_TYPE_ENUM)
#undef CEL_TYPE_ENUM
        CEL_JSON /* not converted yet: cel_resolve() */
};

struct cel_pair;
struct cel_address {
    uint8_t bytes[16];
    uint8_t n_bytes; /* 4 or 16 */
    uint8_t prefix;  /* of a CIDR */
};

struct cel_semver {
    uint64_t parts[3];
    struct str pre; /* "rc.1", or "" */
};

/* An authorization check under construction, and its answer. */
enum cel_access_kind {
    ACCESS_AUTHORIZER,
    ACCESS_PATH,
    ACCESS_GROUP,
    ACCESS_RESOURCE,
    ACCESS_DECISION
};
struct cel_access {
    enum cel_access_kind kind;
    const struct cel_authorizer *by;
    struct str account_ns, account; /* "": the user of the request */
    struct str path, group, resource, subresource, ns, name;
    struct str selector; /* rules set none */
    bool allowed;
};
struct cel_authorizer {
    bool (*allows)(void *arg, const struct cel_access *access, bool is_path, struct str verb);
    void *arg;
    const struct cel_access *request; /* authorizer.requestResource; NULL: not available */
};

struct cel_value {
    uint8_t type;      /* enum cel_type */
    uint8_t list_type; /* CEL_LIST: enum schema_list_type; sets and maps compare without order */
    uint32_t n;        /* of a list or map */
    const struct schema *schema; /* schema of the value, or NULL */
    union {
        bool b;
        int64_t i; /* also nanoseconds of a duration; enum cel_type of a type */
        uint64_t u;
        double d;
        struct str s; /* string, bytes, URL, name of a format */
        const struct cel_value *list;
        const struct cel_pair *pairs;
        const struct cel_value *held; /* value of an optional; NULL: none */
        const struct json *json;      /* CEL_JSON */
        const struct quantity *quantity;
        const struct cel_address *address;
        const struct cel_semver *semver;
        const struct cel_access *access;
        struct {
            int64_t at_s; /* seconds since 1970 */
            uint32_t nano;
        } time;
    };
};

struct cel_pair {
    struct cel_value key, value;
};

/* A variable that an expression can use. */
struct cel_var {
    struct str name;
    struct cel_value value;
    const struct cel_var *next; /* of the enclosing scope, or NULL */
};

struct cel_expr;

/* An error in an expression, in the arena: "ERROR: <input>:1:6: ...", with the position marked. */
struct cel_flaw {
    const char *text;
};

/* Errors: E_PARSE. *ret lies in the arena; the text must live as long as the arena. */
int cel_parse(struct arena *a, struct str text, const struct cel_expr **ret,
              struct cel_flaw *ret_flaw);
/* The expression reads this variable. */
bool cel_uses(const struct cel_expr *e, struct str name);

struct cel_run {
    struct arena *a;
    uint64_t cost; /* so far */
    uint64_t cost_max;
    unsigned depth;
    struct err err;
};

/*
 * Errors: E_INVALID: "no such key: x" and the like; E_LIMIT: the cost limit, or the arena's
 * remaining work, is exceeded. The text is in run->err.
 */
int cel_eval(struct cel_run *run, const struct cel_expr *e, const struct cel_var *vars,
             struct cel_value *ret);

/* Makes an optional; held NULL: without a value. Copied into the arena. */
struct cel_value cel_optional(struct arena *a, const struct cel_value *held);
/* by: kept as long as the value. */
struct cel_value cel_authorizer(struct arena *a, const struct cel_authorizer *by);
/* JSON as typed by the schema; json NULL gives null. */
struct cel_value cel_from_json(const struct json *v, const struct schema *s);
const char *cel_type_name(enum cel_type t);
