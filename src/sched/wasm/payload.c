/* SPDX-License-Identifier: Apache-2.0 */
/* The small formats of the plugin ABI; see payload.h. */
#include "sched/wasm/payload.h"

#include "base/vec.h"
#include "codec/json.h"

#include <stdio.h>
#include <stdlib.h>

size_t payload_names(struct arena *a, struct str bytes, bool keep_empty, const struct str **ret)
{
    struct str name, rest;
    size_t n = 0;
    for (struct str at = bytes; str_cut(at, '\0', &name, &rest); at = rest)
        n += keep_empty || name.n;
    *ret = NULL;
    if (n == 0)
        return 0;
    struct str *names = arena_new_n(a, struct str, n);
    n = 0;
    for (struct str at = bytes; str_cut(at, '\0', &name, &rest); at = rest)
        if (keep_empty || name.n)
            names[n++] = name;
    *ret = names;
    return n;
}

/* ---- cluster events ---- */

static const char *const resources[] = { "Pod",
                                         "Node",
                                         "PersistentVolume",
                                         "PersistentVolumeClaim",
                                         "PodSchedulingContext",
                                         "ResourceClaim",
                                         "storage.k8s.io/StorageClass",
                                         "storage.k8s.io/CSINode",
                                         "storage.k8s.io/CSIDriver",
                                         "storage.k8s.io/CSIStorageCapacity",
                                         "*" };

enum { GUEST_ALL = 63, GUEST_UPDATE = 60, EVENT_BYTES = 8 };

static uint32_t actions_of(uint32_t mask)
{
    return mask == GUEST_ALL      ? PAYLOAD_ACTIONS_ALL
           : mask == GUEST_UPDATE ? PAYLOAD_ACTIONS_UPDATE
                                  : mask;
}

size_t payload_events(struct arena *a, struct str bytes, const struct wplugin_cluster_event **ret)
{
    size_t n = bytes.n / EVENT_BYTES;
    struct rd r = rd_init(bytes.p, bytes.n);
    struct wplugin_cluster_event *events = arena_new_n(a, struct wplugin_cluster_event, n + 1);
    for (size_t i = 0; i < n; i++) {
        uint32_t resource = rd_le32(&r);
        events[i].actions = actions_of(rd_le32(&r));
        events[i].resource = str_of(resource < ARRAY_LEN(resources)
                                        ? resources[resource]
                                        : arena_printf(a, "EventResource(%u)", resource));
    }
    *ret = events;
    return n;
}

size_t payload_default_events(const struct wplugin_cluster_event **ret)
{
#define ALL_OF(name)                                                                               \
    {                                                                                              \
        { name, sizeof name - 1 }, PAYLOAD_ACTIONS_ALL                                             \
    }
    static const struct wplugin_cluster_event events[] = {
        ALL_OF("Pod"),
        ALL_OF("Node"),
        ALL_OF("storage.k8s.io/CSINode"),
        ALL_OF("PersistentVolume"),
        ALL_OF("PersistentVolumeClaim"),
        ALL_OF("storage.k8s.io/StorageClass"),
    };
#undef ALL_OF
    *ret = events;
    return ARRAY_LEN(events);
}

/* ---- JSON ---- */

/* Go's encoder also escapes characters special in HTML; they do not occur outside of strings. */
void payload_add_json_string(struct buf *to, struct str s)
{
    size_t from = to->n;
    if (json_write_str(to, s) < 0)
        return;
    size_t n = 0;
    for (size_t i = from; i < to->n; i++)
        n += to->p[i] == '<' || to->p[i] == '>' || to->p[i] == '&';
    char *room;
    if (n == 0 || buf_reserve(to, 5 * n, &room) < 0)
        return;
    char *p = to->p;
    size_t at = to->n + 5 * n;
    for (size_t i = to->n; i-- > from;) {
        char c = p[i];
        if (c != '<' && c != '>' && c != '&') {
            p[--at] = c;
            continue;
        }
        at -= 6;
        memcpy(p + at, "\\u00", 4);
        memcpy(p + at + 4, c == '<' ? "3c" : c == '>' ? "3e" : "26", 2);
    }
    buf_advance(to, 5 * n);
}

void payload_add_name_list(struct buf *to, const struct str *names, size_t n)
{
    (void)buf_add_char(to, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            (void)buf_add_char(to, ',');
        payload_add_json_string(to, names[i]);
    }
    (void)buf_add_char(to, ']');
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct wplugin_node_score *)a)->node,
                   ((const struct wplugin_node_score *)b)->node);
}

/* `sorted` may be reordered. */
static void add_object(struct buf *to, struct wplugin_node_score *sorted, size_t n)
{
    if (n)
        qsort(sorted, n, sizeof *sorted, by_name);
    (void)buf_add_char(to, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            (void)buf_add_char(to, ',');
        payload_add_json_string(to, sorted[i].node);
        (void)buf_printf(to, ":%lld", (long long)sorted[i].score);
    }
    (void)buf_add_char(to, '}');
}

void payload_add_statuses(struct arena *a, struct buf *to, const struct wplugin_node_code *at,
                          size_t n)
{
    struct wplugin_node_score *copy = arena_new_n(a, struct wplugin_node_score, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = (struct wplugin_node_score){ at[i].node, at[i].code };
    add_object(to, copy, n);
}

void payload_add_scores(struct arena *a, struct buf *to, const struct wplugin_node_score *at,
                        size_t n)
{
    struct wplugin_node_score *copy = arena_new_n(a, struct wplugin_node_score, n + 1);
    if (n)
        memcpy(copy, at, n * sizeof *at);
    add_object(to, copy, n);
}

/* Parses a flat object. */
static int parse(struct arena *a, struct str text, const char *go_type, struct json **ret,
                 struct err *err)
{
    const struct json_parse_opts opts = { .max_depth = 8 };
    int r = json_parse(a, text, &opts, ret, err);
    if (r < 0)
        return r;
    if ((*ret)->type != JSON_OBJECT && (*ret)->type != JSON_NULL)
        return err_set(err, E_PARSE, "json: cannot unmarshal %s into Go value of type %s",
                       (*ret)->type == JSON_ARRAY    ? "array"
                       : (*ret)->type == JSON_STRING ? "string"
                       : (*ret)->type == JSON_NUMBER ? "number"
                                                     : "bool",
                       go_type);
    return 0;
}

/* Go accepts neither a fraction nor an exponent for an int. */
static int read_int(const struct json *v, int64_t *ret, struct err *err)
{
    if (v->type == JSON_NULL) {
        *ret = 0;
        return 0;
    }
    if (v->type != JSON_NUMBER)
        return err_set(err, E_PARSE, "json: cannot unmarshal %s into Go value of type int",
                       v->type == JSON_STRING   ? "string"
                       : v->type == JSON_ARRAY  ? "array"
                       : v->type == JSON_OBJECT ? "object"
                                                : "bool");
    if (parse_i64(v->s, INT64_MIN, INT64_MAX, ret) < 0)
        return err_set(err, E_PARSE,
                       "json: cannot unmarshal number " STR_FMT " into Go value of type int",
                       STR_ARG(str_slice(v->s, 0, 64)));
    return 0;
}

int payload_read_scores(struct arena *a, struct str json, const struct wplugin_node_score **ret,
                        size_t *ret_n, struct err *err)
{
    struct json *root;
    int r = parse(a, json, "map[string]int", &root, err);
    if (r < 0)
        return r;
    size_t n = 0, count = root->type == JSON_OBJECT ? root->n : 0;
    struct wplugin_node_score *scores = arena_new_n(a, struct wplugin_node_score, count + 1);
    json_each (member, root) {
        scores[n].node = member->key;
        r = read_int(member, &scores[n].score, err);
        if (r < 0)
            return r;
        n++;
    }
    *ret = scores;
    *ret_n = n;
    return 0;
}

static int read_text(const struct json *obj, const char *key, struct str *ret, struct err *err)
{
    const struct json *v = json_getc(obj, key);
    if (v && v->type != JSON_STRING && v->type != JSON_NULL)
        return err_set(err, E_PARSE, "json: cannot unmarshal %s of type string", key);
    *ret = json_str(v);
    return 0;
}

static int read_reference(const struct json *event, const char *key, struct wplugin_reference *ret,
                          struct err *err)
{
    const struct json *v = json_getc(event, key);
    if (v && v->type != JSON_OBJECT && v->type != JSON_NULL)
        return err_set(err, E_PARSE, "json: cannot unmarshal %s of type ObjectReference", key);
    int r = read_text(v, "Kind", &ret->kind, err);
    r = r < 0 ? r : read_text(v, "APIVersion", &ret->api_version, err);
    r = r < 0 ? r : read_text(v, "Name", &ret->name, err);
    r = r < 0 ? r : read_text(v, "Namespace", &ret->namespace, err);
    r = r < 0 ? r : read_text(v, "UID", &ret->uid, err);
    return r < 0 ? r : read_text(v, "ResourceVersion", &ret->resource_version, err);
}

int payload_read_event(struct arena *a, struct str json, struct wplugin_event *ret, struct err *err)
{
    struct json *root;
    int r = parse(a, json, "EventMessage", &root, err);
    r = r < 0 ? r : read_reference(root, "RegardingReference", &ret->regarding, err);
    r = r < 0 ? r : read_reference(root, "RelatedReference", &ret->related, err);
    r = r < 0 ? r : read_text(root, "Eventtype", &ret->type, err);
    r = r < 0 ? r : read_text(root, "Reason", &ret->reason, err);
    r = r < 0 ? r : read_text(root, "Action", &ret->action, err);
    return r < 0 ? r : read_text(root, "Note", &ret->note, err);
}

/* ---- klog ---- */

/* The length of the well-formed UTF-8 sequence at p, or 0. */
static size_t sequence(struct str s)
{
    uint8_t c = (uint8_t)s.p[0];
    size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    return n <= s.n && str_is_utf8(str_n(s.p, n)) ? n : 0;
}

void payload_add_quoted(struct buf *to, struct str s)
{
    static const char plain[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";
    (void)buf_add_char(to, '"');
    while (s.n) {
        char c = s.p[0];
        size_t n = sequence(s);
        const char *special = c ? strchr(plain, c) : NULL;
        if (special)
            (void)buf_printf(to, "\\%c", letters[special - plain]);
        else if (n == 0 || (uint8_t)c < 0x20 || c == 0x7f)
            (void)buf_printf(to, "\\x%02x", (uint8_t)c);
        else if (n == 2 && (uint8_t)c == 0xc2 && (uint8_t)s.p[1] <= 0xa0)
            (void)buf_printf(to, "\\u%04x", (uint8_t)s.p[1]);
        else
            (void)buf_add(to, s.p, n);
        s = str_slice(s, n ? n : 1, s.n);
    }
    (void)buf_add_char(to, '"');
}

void payload_add_pair(struct buf *to, struct str key, struct str value)
{
    struct str line, rest;
    (void)buf_add_char(to, ' ');
    (void)buf_add_str(to, key);
    (void)buf_add_char(to, '=');
    if (str_find_char(value, '\n') < 0) {
        payload_add_quoted(to, value);
        return;
    }
    (void)buf_add_cstr(to, "<\n");
    for (bool more = true; more && value.n; value = rest) {
        more = str_cut(value, '\n', &line, &rest);
        (void)buf_add_char(to, '\t');
        (void)buf_add_str(to, line);
        (void)buf_add_char(to, '\n');
    }
    (void)buf_add_cstr(to, " >");
}
