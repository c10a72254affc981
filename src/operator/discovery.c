/* SPDX-License-Identifier: Apache-2.0 */
/* Maps kinds to resource names by discovery; see discovery.h. */
#include "operator/discovery.h"

#include "base/buf.h"
#include "base/map.h"
#include "codec/json.h"

#include <errno.h>

/* The cached result for a kind. */
struct discovery_entry {
    bool namespaced;
    size_t n;
    char plural[];
};

struct discovery_question {
    struct list node; /* in group->questions, or discovery->answered */
    char *kind;
    struct discovery_entry *entry; /* a copy of the answer; NULL: none */
    int r;
    struct err err;
    discovery_cb cb;
    void *arg;
};

struct discovery_group {
    struct discovery *d;
    char *group_version;
    struct map kinds; /* kind -> struct discovery_entry * */
    struct list questions;
    struct exchange *call;
    struct buf body;
    int status;
};

struct discovery {
    struct loop *loop;
    struct transport *transport;
    struct map groups;
    struct list answered;
    struct defer answer;
};

static void on_answer(struct defer *defer)
{
    struct discovery *d = container_of(defer, struct discovery, answer);
    struct list round;
    list_move_all(&d->answered, &round);
    struct list *node;
    while ((node = list_pop_front(&round))) {
        struct discovery_question *q = list_entry(node, struct discovery_question, node);
        struct discovery_kind kind = { 0 };
        if (q->entry)
            kind = (struct discovery_kind){ .plural = str_n(q->entry->plural, q->entry->n),
                                            .namespaced = q->entry->namespaced };
        q->cb(q->arg, q->r, &kind, &q->err);
        free(q->entry);
        free(q->kind);
        free(q);
    }
}

static struct discovery_entry *make_entry(struct str plural, bool namespaced)
{
    struct discovery_entry *e = xalloc(sizeof *e + plural.n);
    e->namespaced = namespaced;
    e->n = plural.n;
    memcpy(e->plural, plural.p, plural.n);
    return e;
}

static void answer(struct discovery *d, struct discovery_question *q, int r,
                   const struct discovery_entry *entry, const struct err *err)
{
    list_remove(&q->node);
    q->r = r;
    if (entry)
        q->entry = make_entry(str_n(entry->plural, entry->n), entry->namespaced);
    if (err)
        q->err = *err;
    list_push_back(&d->answered, &q->node);
    defer_start(d->loop, &d->answer, on_answer);
}

static void forget_kinds(struct discovery_group *g)
{
    map_each (e, &g->kinds)
        free(e->value);
    map_fini(&g->kinds);
}

static void read_list(struct discovery_group *g)
{
    struct arena arena = { .max_bytes = (size_t)DISCOVERY_MAX_BYTES * 16 };
    struct json *list;
    forget_kinds(g);
    if (json_parse(&arena, buf_str(&g->body), NULL, &list, NULL) >= 0) {
        json_each (r, json_getc(list, "resources")) {
            struct str kind = json_get_str(r, "kind"), name = json_get_str(r, "name");
            /* Subresources ("pods/status") repeat kinds. */
            if (kind.n == 0 || name.n == 0 || str_find_char(name, '/') >= 0)
                continue;
            free(map_put(&g->kinds, kind, make_entry(name, json_bool(json_getc(r, "namespaced")))));
        }
    }
    arena_fini(&arena);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct discovery_group *g = arg;
    g->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct discovery_group *g = arg;
    if (buf_add_str(&g->body, chunk) < 0 && g->d && g->call)
        exchange_cancel(g->call);
}

static void free_group(struct discovery_group *g)
{
    forget_kinds(g);
    buf_fini(&g->body);
    free(g->group_version);
    free(g);
}

static void on_end(void *arg, int r, const struct err *cause)
{
    struct discovery_group *g = arg;
    struct err err = cause ? *cause : (struct err){ 0 };
    g->call = NULL;
    if (!g->d) {
        free_group(g);
        return;
    }
    if (!buf_ok(&g->body))
        r = err_set(&err, E_LIMIT, "discovery of '%s' is larger than %d bytes", g->group_version,
                    DISCOVERY_MAX_BYTES);
    else if (r >= 0 && g->status == 404)
        r = err_set(&err, -ENOENT, "the cluster does not serve '%s'", g->group_version);
    else if (r >= 0 && g->status != 200)
        r = err_set(&err, E_UNSUPPORTED, "discovery of '%s' answered %d", g->group_version,
                    g->status);
    if (r >= 0)
        read_list(g);
    while (!list_is_empty(&g->questions)) {
        struct discovery_question *q = list_first(&g->questions, struct discovery_question, node);
        const struct discovery_entry *entry = r < 0 ? NULL : map_get(&g->kinds, str_of(q->kind));
        if (r >= 0 && !entry)
            (void)err_set(&err, -ENOENT, "'%s' has no kind '%s'", g->group_version, q->kind);
        answer(g->d, q, r < 0 ? r : entry ? 0 : -ENOENT, entry, &err);
    }
    buf_fini(&g->body);
    if (g->kinds.n == 0) { /* do not cache empty groups: guests may ask for any number of groups
                              that do not exist */
        (void)map_del(&g->d->groups, str_of(g->group_version));
        free_group(g);
    }
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void ask(struct discovery_group *g)
{
    scoped(free_scoped) char *target =
        xasprintf("/%s/%s", str_find_char(str_of(g->group_version), '/') < 0 ? "api" : "apis",
                  g->group_version);
    struct headers h = { 0 };
    struct err err = { 0 };
    (void)headers_addc(&h, "accept", "application/json");
    struct kube_request req = { .method = STR("GET"), .target = str_of(target), .headers = &h };
    int r = transport_start(g->d->transport, &req, &call_events, g, &g->call, &err);
    headers_fini(&h);
    if (r < 0)
        on_end(g, r, &err);
}

struct discovery *discovery_new(struct loop *loop, struct transport *transport)
{
    struct discovery *d = xnew(struct discovery);
    d->loop = loop;
    d->transport = transport;
    list_init(&d->answered);
    return d;
}

void discovery_free(struct discovery *d)
{
    if (!d)
        return;
    struct err err = { 0 };
    (void)err_set(&err, -ECANCELED, "shutting down");
    map_each (e, &d->groups) {
        struct discovery_group *g = e->value;
        while (!list_is_empty(&g->questions))
            answer(d, list_first(&g->questions, struct discovery_question, node), -ECANCELED, NULL,
                   &err);
        g->d = NULL; /* while a call is under way, on_end() frees it */
        if (g->call)
            exchange_cancel(g->call);
        else
            free_group(g);
    }
    map_fini(&d->groups);
    defer_cancel(&d->answer);
    on_answer(&d->answer);
    free(d);
}

/*
 * "v1" or "group/version". It becomes part of a path that is requested with the host's rights,
 * before any allow list is checked.
 */
static bool is_group_version(struct str s)
{
    struct str part, rest = s;
    unsigned n = 0;
    bool more = true;
    for (; more && n < 3; n++) {
        more = str_cut(rest, '/', &part, &rest);
        if (part.n == 0 || part.n > 253 || part.p[0] == '.' || part.p[0] == '-')
            return false;
        for (size_t i = 0; i < part.n; i++)
            if (!(part.p[i] >= 'a' && part.p[i] <= 'z') &&
                !(part.p[i] >= '0' && part.p[i] <= '9') && part.p[i] != '.' && part.p[i] != '-')
                return false;
    }
    return n <= 2;
}

void discovery_forget(struct discovery *d, struct str group_version)
{
    struct discovery_group *g = map_get(&d->groups, group_version);
    if (!g)
        return;
    forget_kinds(g);
    if (g->call)
        return; /* the cached answer is recent */
    (void)map_del(&d->groups, group_version);
    free_group(g);
}

void discovery_ask(struct discovery *d, struct str group_version, struct str kind, discovery_cb cb,
                   void *arg)
{
    struct discovery_question *q = xnew(struct discovery_question);
    q->kind = str_dup(kind);
    q->cb = cb;
    q->arg = arg;
    if (!is_group_version(group_version)) {
        struct err err = { 0 };
        answer(d, q,
               err_set(&err, -ENOENT, "'" STR_FMT "' is no API version",
                       STR_ARG(str_slice(group_version, 0, 100))),
               NULL, &err);
        return;
    }
    struct discovery_group *g = map_get(&d->groups, group_version);
    if (!g && d->groups.n == DISCOVERY_MAX_GROUPS) {
        struct err err = { 0 };
        answer(d, q, err_set(&err, E_LIMIT, "more than %d API groups", DISCOVERY_MAX_GROUPS), NULL,
               &err);
        return;
    }
    if (!g) {
        g = xnew(struct discovery_group);
        g->d = d;
        g->group_version = str_dup(group_version);
        list_init(&g->questions);
        buf_init(&g->body, DISCOVERY_MAX_BYTES);
        (void)map_put(&d->groups, group_version, g);
    }
    const struct discovery_entry *entry = map_get(&g->kinds, kind);
    if (entry) {
        answer(d, q, 0, entry, NULL);
        return;
    }
    list_push_back(&g->questions, &q->node);
    if (!g->call)
        ask(g);
}
