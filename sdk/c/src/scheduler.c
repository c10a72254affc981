/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduler plugins in C; see dormouse_scheduler.h. */
#include "dormouse_scheduler.h"

#include <stdlib.h>
#include <string.h>

#define IMPORT(module, name)     __attribute__((import_module(module), import_name(name)))
#define GETTER(module, name, fn) IMPORT(module, name) extern uint32_t fn(void *buf, uint32_t limit);

GETTER("k8s.io/scheduler", "get_config", host_config)
GETTER("k8s.io/scheduler", "currentPod", host_pod)
GETTER("k8s.io/scheduler", "targetPod", host_target_pod)
GETTER("k8s.io/scheduler", "currentNodeName", host_node_name)
GETTER("k8s.io/scheduler", "filteredNodeList", host_filtered)
GETTER("k8s.io/scheduler", "nodeToStatusMap", host_statuses)
GETTER("k8s.io/scheduler", "nodeScoreList", host_scores)
GETTER("k8s.io/api", "nodeList", host_node_list)
GETTER("dormouse_scheduler", "event", host_event)
IMPORT("k8s.io/api", "node")
extern uint32_t host_node(const char *name, size_t name_n, void *buf, uint32_t limit);
IMPORT("dormouse_scheduler", "nodePods")
extern uint32_t host_node_pods(const char *name, size_t name_n, void *buf, uint32_t limit);

IMPORT("dormouse_scheduler", "nodeField")
extern uint32_t host_node_field(const char *name, size_t name_n, const void *path, size_t path_n,
                                const char *key, size_t key_n, void *buf, uint32_t limit);
IMPORT("dormouse_scheduler", "podField")
extern uint32_t host_pod_field(const void *path, size_t path_n, const char *key, size_t key_n,
                               void *buf, uint32_t limit);

#define PUSHER(name, fn) IMPORT("k8s.io/scheduler", name) extern void fn(const void *p, size_t n);
PUSHER("result.status_reason", host_reason)
PUSHER("result.node_names", host_names)
PUSHER("result.nominated_node_name", host_nominated)
PUSHER("result.normalized_score_list", host_normalized)
PUSHER("result.cluster_events", host_events)
IMPORT("k8s.io/klog", "log")
extern void host_log(int32_t severity, const char *text, size_t n);

/* ---- what was got in this attempt ---- */

struct block {
    struct block *next;
};
static struct block *blocks;

static void *keep(size_t n)
{
    struct block *b = malloc(sizeof *b + n + 1);
    if (!b)
        abort();
    b->next = blocks;
    blocks = b;
    ((char *)(b + 1))[n] = 0;
    return b + 1;
}

static void forget(void)
{
    while (blocks) {
        struct block *b = blocks;
        blocks = b->next;
        free(b);
    }
}

__attribute__((weak)) int32_t ds_prefilter(void)
{
    return DS_SUCCESS;
}

__attribute__((export_name("prefilter"))) int32_t ds_begin(void);
int32_t ds_begin(void)
{
    forget();
    return ds_prefilter();
}

/* A value does not change during a hook, so it may be asked for twice. */
static struct ds_str get(uint32_t (*host)(void *buf, uint32_t limit))
{
    uint32_t n = host(NULL, 0);
    if (n == 0)
        return (struct ds_str){ 0 };
    char *p = keep(n);
    (void)host(p, n);
    return (struct ds_str){ p, n };
}

static struct ds_str get_of(uint32_t (*host)(const char *name, size_t name_n, void *buf,
                                             uint32_t limit),
                            struct ds_str name)
{
    uint32_t n = host(name.p, name.n, NULL, 0);
    if (n == 0)
        return (struct ds_str){ 0 };
    char *p = keep(n);
    (void)host(name.p, name.n, p, n);
    return (struct ds_str){ p, n };
}

struct ds_str ds_config(void)
{
    return get(host_config);
}

struct ds_str ds_pod(void)
{
    return get(host_pod);
}

struct ds_str ds_target_pod(void)
{
    return get(host_target_pod);
}

struct ds_str ds_node_name(void)
{
    return get(host_node_name);
}

struct ds_str ds_node(struct ds_str name)
{
    return get_of(host_node, name);
}

struct ds_str ds_node_list(void)
{
    return get(host_node_list);
}

struct ds_str ds_node_pods(struct ds_str name)
{
    return get_of(host_node_pods, name);
}

/* A field is small, mostly: the first try has room for it. */
enum { FIELD_TRY = 128 };
#define ABSENT UINT32_MAX

static struct ds_str kept(const char *p, uint32_t n)
{
    char *copy = keep(n);
    memcpy(copy, p, n);
    return (struct ds_str){ copy, n };
}

struct ds_str ds_node_field(struct ds_str name, const char *path, const char *key)
{
    char room[FIELD_TRY];
    size_t path_n = strlen(path), key_n = key ? strlen(key) : 0;
    uint32_t n = host_node_field(name.p, name.n, path, path_n, key, key_n, room, sizeof room);
    if (n == ABSENT)
        return (struct ds_str){ 0 };
    if (n <= sizeof room)
        return kept(room, n);
    char *p = keep(n);
    (void)host_node_field(name.p, name.n, path, path_n, key, key_n, p, n);
    return (struct ds_str){ p, n };
}

struct ds_str ds_pod_field(const char *path, const char *key)
{
    size_t path_n = strlen(path), key_n = key ? strlen(key) : 0;
    uint32_t n = host_pod_field(path, path_n, key, key_n, NULL, 0);
    if (n == ABSENT)
        return (struct ds_str){ 0 };
    char *p = keep(n);
    (void)host_pod_field(path, path_n, key, key_n, p, n);
    return (struct ds_str){ p, n };
}

static int64_t number_of(uint32_t n, uint64_t value, int64_t otherwise)
{
    return n == sizeof value ? (int64_t)value : otherwise;
}

int64_t ds_node_number(struct ds_str name, const char *path, int64_t otherwise)
{
    uint64_t value;
    uint32_t n = host_node_field(name.p, name.n, path, strlen(path), NULL, 0, &value, sizeof value);
    return number_of(n, value, otherwise);
}

struct ds_str ds_filtered_nodes(void)
{
    return get(host_filtered);
}

struct ds_str ds_statuses(void)
{
    return get(host_statuses);
}

struct ds_str ds_scores(void)
{
    return get(host_scores);
}

struct ds_str ds_event(void)
{
    return get(host_event);
}

/* ---- messages ---- */

bool ds_is(struct ds_str s, const char *text)
{
    size_t n = strlen(text);
    return s.n == n && (n == 0 || memcmp(s.p, text, n) == 0);
}

static bool take_number(struct ds_str *at, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at->n; shift += 7) {
        uint8_t byte = (uint8_t)*at->p++;
        at->n--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return true;
        }
    }
    return false;
}

enum { WIRE_NUMBER = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* The next field; bytes for WIRE_BYTES, else the number. */
static bool take_field(struct ds_str *at, uint32_t *ret_number, struct ds_str *ret,
                       uint64_t *ret_value)
{
    uint64_t tag, n = 0;
    if (!take_number(at, &tag))
        return false;
    *ret_number = (uint32_t)(tag >> 3);
    *ret = (struct ds_str){ 0 };
    *ret_value = 0;
    switch (tag & 7) {
    case WIRE_NUMBER:
        return take_number(at, ret_value);
    case WIRE_BYTES:
        if (!take_number(at, &n))
            return false;
        break;
    case WIRE_FIXED64:
        n = 8;
        break;
    case WIRE_FIXED32:
        n = 4;
        break;
    default:
        return false;
    }
    if (n > at->n)
        return false;
    *ret = (struct ds_str){ at->p, (size_t)n };
    at->p += n;
    at->n -= (size_t)n;
    return true;
}

bool ds_next(struct ds_str *at, uint32_t number, struct ds_str *ret)
{
    uint32_t found;
    uint64_t value;
    while (take_field(at, &found, ret, &value))
        if (found == number && ret->p)
            return true;
    return false;
}

struct ds_str ds_field(struct ds_str message, uint32_t number)
{
    struct ds_str found;
    return ds_next(&message, number, &found) ? found : (struct ds_str){ 0 };
}

int64_t ds_number(struct ds_str message, uint32_t number, int64_t otherwise)
{
    uint32_t found;
    uint64_t value;
    struct ds_str bytes;
    while (take_field(&message, &found, &bytes, &value))
        if (found == number && !bytes.p)
            return (int64_t)value;
    return otherwise;
}

enum { OBJECT_METADATA = 1, METADATA_NAME = 1, METADATA_LABELS = 11, ENTRY_KEY = 1, ENTRY_VALUE };

struct ds_str ds_name(struct ds_str object)
{
    return ds_field(ds_field(object, OBJECT_METADATA), METADATA_NAME);
}

struct ds_str ds_label(struct ds_str object, const char *key)
{
    struct ds_str at = ds_field(object, OBJECT_METADATA), entry;
    while (ds_next(&at, METADATA_LABELS, &entry))
        if (ds_is(ds_field(entry, ENTRY_KEY), key))
            return ds_field(entry, ENTRY_VALUE);
    return (struct ds_str){ 0 };
}

size_t ds_count(struct ds_str list)
{
    struct ds_str item;
    size_t n = 0;
    while (ds_next(&list, DS_ITEMS, &item))
        n++;
    return n;
}

/* ---- results ---- */

void ds_reason(struct ds_str reason)
{
    host_reason(reason.p, reason.n);
}

int32_t ds_refuse(enum ds_code code, const char *reason)
{
    host_reason(reason, strlen(reason));
    return code;
}

void ds_node_names(struct ds_str names)
{
    host_names(names.p, names.n);
}

/* The number in the upper half, the code in the lower one. */
static int64_t pack(uint32_t high, uint32_t low)
{
    return (int64_t)((uint64_t)high << 32 | low);
}

int64_t ds_score(int32_t score)
{
    return pack((uint32_t)score, DS_SUCCESS);
}

int64_t ds_score_error(const char *reason)
{
    return pack(0, (uint32_t)ds_refuse(DS_ERROR, reason));
}

int64_t ds_nominate(enum ds_code code, struct ds_str node)
{
    enum { NO_OP, OVERRIDE };
    host_nominated(node.p, node.n);
    return pack(node.n ? OVERRIDE : NO_OP, code);
}

int64_t ds_permit(enum ds_code code, uint32_t timeout_ms)
{
    return pack(code, timeout_ms);
}

void ds_normalized(struct ds_str json)
{
    host_normalized(json.p, json.n);
}

void ds_events(const uint32_t (*events)[2], size_t n)
{
    host_events(events, n * sizeof events[0]);
}

void ds_log(const char *text)
{
    host_log(0, text, strlen(text));
}

void ds_log_error(const char *text)
{
    host_log(2, text, strlen(text));
}
