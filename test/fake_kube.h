/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kubernetes API in memory, and the SDK's platform on top of it, so that whole operators run in a
 * unit test: no sockets, no waiting, the same order every time.
 *
 * It does what operators rely on: versions, uids, conflicts, merge patches, finalizers, label
 * selectors of the form key=value, watches. It knows nothing of kinds.
 */
#pragma once

#include "dm/host.h"
#include "dm/kube.h"
#include "test.h"

#define FAKE_OBJECTS 64
#define FAKE_WATCHES 16
#define FAKE_EVENTS  512
#define FAKE_TURNS   5000 /* more deliveries than this for one change are a loop */

struct fake_object {
    char res[32], ns[64], name[64];
    char *json; /* NULL: the slot is free */
};

struct fake_watch {
    uint64_t id;
    char res[32], ns[64], key[64], value[64];
};

struct fake_event {
    uint64_t id;
    int status; /* a head, when not 0 */
    bool end;
    char *text;
};

static struct fake_kube {
    struct fake_object objects[FAKE_OBJECTS];
    struct fake_watch watches[FAKE_WATCHES];
    size_t n_watches;
    struct fake_event events[FAKE_EVENTS]; /* a ring */
    size_t first, n_events;
    uint64_t next_id, version, now_ms;
    uint64_t last_delay_ms;
    unsigned n_requests, n_writes; /* of the operator */
    int fail_next_write;           /* status to answer the operator's next write with; 0: none */
} fake;

/* ---- small helpers over the SDK's JSON ---- */

static struct dm_json fake_json(const char *s)
{
    struct dm_json v = dm_json_parse(s, strlen(s));
    CHECK(v.p != NULL);
    return v;
}

static char *fake_take(struct dm_text *t)
{
    CHECK(t->p != NULL);
    return t->p;
}

/* RFC 7396 */
static void fake_merge(struct dm_json old, struct dm_json patch, struct dm_text *out)
{
    if (dm_json_kind(patch) != DM_JSON_OBJECT) {
        dm_jw_raw(out, patch);
        return;
    }
    struct dm_arena a = { 0 };
    dm_jw_open(out, '{');
    for (struct dm_json_iter it = dm_json_iter(old); it.object && dm_json_next(&it);) {
        struct dm_json p = dm_json_member(patch, dm_json_string(it.key, &a));
        if (dm_json_kind(p) == DM_JSON_NULL)
            continue;
        dm_jw_raw(out, it.key);
        dm_text_char(out, ':');
        if (p.p)
            fake_merge(it.value, p, out);
        else
            dm_jw_raw(out, it.value);
    }
    for (struct dm_json_iter it = dm_json_iter(patch); dm_json_next(&it);) {
        if (dm_json_member(old, dm_json_string(it.key, &a)).p ||
            dm_json_kind(it.value) == DM_JSON_NULL)
            continue;
        dm_jw_raw(out, it.key);
        dm_text_char(out, ':');
        fake_merge((struct dm_json){ 0 }, it.value, out);
    }
    dm_jw_close(out, '}');
    dm_arena_fini(&a);
}

static void fake_push(struct fake_event e)
{
    CHECK(fake.n_events < FAKE_EVENTS);
    fake.events[(fake.first + fake.n_events++) % FAKE_EVENTS] = e;
}

__attribute__((format(printf, 1, 2))) static char *fake_text(const char *fmt, ...)
{
    struct dm_text t = { 0 };
    va_list ap;
    va_start(ap, fmt);
    dm_vtextf(&t, fmt, ap);
    va_end(ap);
    return fake_take(&t);
}

static bool fake_matches(const struct fake_watch *w, const struct fake_object *o, const char *json)
{
    if (strcmp(w->res, o->res) != 0 || (*w->ns && strcmp(w->ns, o->ns) != 0))
        return false;
    return !*w->key || dm_json_is(dm_label(fake_json(json), w->key), w->value);
}

static void fake_notify(const struct fake_object *o, const char *old, const char *new)
{
    for (size_t i = 0; i < fake.n_watches; i++) {
        const struct fake_watch *w = &fake.watches[i];
        bool had = old && fake_matches(w, o, old), has = new &&fake_matches(w, o, new);
        if (!had && !has)
            continue;
        const char *type = !had ? "ADDED" : has ? "MODIFIED" : "DELETED";
        fake_push((struct fake_event){
            .id = w->id,
            .text = fake_text("{\"type\":\"%s\",\"object\":%s}\n", type, has ? new : old) });
    }
}

/* ---- the API ---- */

struct fake_path {
    char res[32], ns[64], name[64], sub[32], query[256];
};

/* "/api/v1/..." or "/apis/group/version/...", with "namespaces/ns" before a resource in one. */
static struct fake_path fake_parse(const char *path)
{
    char parts[8][64] = { "" };
    struct fake_path p = { 0 };
    size_t n = 0, len = strcspn(path, "?");
    if (path[len])
        (void)snprintf(p.query, sizeof(p.query), "%s", path + len + 1);
    for (size_t i = 1; i < len && n < 8; n++) {
        size_t m = strcspn(path + i, "/?");
        (void)snprintf(parts[n], sizeof(parts[n]), "%.*s", (int)m, path + i);
        i += m + 1;
    }
    size_t at = strcmp(parts[0], "api") == 0 ? 2 : 3;
    if (strcmp(parts[at], "namespaces") == 0 && n > at + 2) {
        (void)snprintf(p.ns, sizeof(p.ns), "%s", parts[at + 1]);
        at += 2;
    }
    (void)snprintf(p.res, sizeof(p.res), "%.31s", parts[at]);
    (void)snprintf(p.name, sizeof(p.name), "%s", at + 1 < 8 ? parts[at + 1] : "");
    (void)snprintf(p.sub, sizeof(p.sub), "%.31s", at + 2 < 8 ? parts[at + 2] : "");
    return p;
}

static struct fake_object *fake_find(const char *res, const char *ns, const char *name)
{
    for (size_t i = 0; i < FAKE_OBJECTS; i++) {
        struct fake_object *o = &fake.objects[i];
        if (o->json && strcmp(o->res, res) == 0 && strcmp(o->ns, ns) == 0 &&
            strcmp(o->name, name) == 0)
            return o;
    }
    return NULL;
}

/* The newest state of an object; "null" when there is none. */
static struct dm_json fake_get(const char *res, const char *ns, const char *name)
{
    const struct fake_object *o = fake_find(res, ns, name);
    return fake_json(o ? o->json : "null");
}

static void fake_selector(struct fake_watch *w, const char *query)
{
    const char *s = strstr(query, "labelSelector=");
    if (!s)
        return;
    char text[128] = "";
    size_t n = 0;
    for (s += 14; *s && *s != '&' && n < sizeof(text) - 1; s++) {
        if (*s == '%') { /* %2F and %3D are all that selectors here need */
            text[n++] = s[2] == 'F' ? '/' : '=';
            s += 2;
        } else {
            text[n++] = *s;
        }
    }
    char *eq = strchr(text, '=');
    CHECK(eq != NULL);
    (void)snprintf(w->key, sizeof(w->key), "%.*s", (int)(eq - text), text);
    (void)snprintf(w->value, sizeof(w->value), "%.63s", eq + 1);
}

static char *fake_list(const struct fake_path *p)
{
    struct fake_watch like = { 0 };
    struct dm_text t = { 0 };
    (void)snprintf(like.res, sizeof(like.res), "%s", p->res);
    (void)snprintf(like.ns, sizeof(like.ns), "%s", p->ns);
    fake_selector(&like, p->query);
    dm_textf(&t, "{\"metadata\":{\"resourceVersion\":\"%llu\"},\"items\":[",
             (unsigned long long)fake.version);
    for (size_t i = 0; i < FAKE_OBJECTS; i++) {
        struct fake_object *o = &fake.objects[i];
        if (o->json && fake_matches(&like, o, o->json))
            dm_jw_raw(&t, fake_json(o->json));
    }
    dm_textf(&t, "]}");
    return fake_take(&t);
}

/* Give `json` the next version, store it in `o` (or drop it when nothing holds it), and tell the
 * watches. */
static char *fake_commit(struct fake_object *o, struct dm_json json)
{
    char *old = o->json, version[32], uid[32];
    (void)snprintf(version, sizeof(version), "\"%llu\"", (unsigned long long)++fake.version);
    (void)snprintf(uid, sizeof(uid), "\"uid-%llu\"", (unsigned long long)fake.version);
    struct dm_json had_uid =
        old ? dm_json_at(fake_json(old), "metadata.uid") : (struct dm_json){ 0 };
    if (had_uid.p)
        (void)snprintf(uid, sizeof(uid), "%.*s", (int)had_uid.n, had_uid.p);
    char ns[80];
    (void)snprintf(ns, sizeof(ns), "\"%s\"", o->ns);
    const struct dm_edit edits[] = {
        { { "metadata", "resourceVersion" }, version },
        { { "metadata", "uid" }, uid },
        { { "metadata", "namespace" }, *o->ns ? ns : NULL },
        { { "metadata", "generation" }, "1" },
    };
    struct dm_text t = { 0 };
    dm_json_edit(json, edits, 4, &t);
    struct dm_json now = fake_json(t.p);
    struct dm_json_iter holders = dm_json_iter(dm_json_at(now, "metadata.finalizers"));
    bool gone = dm_is_deleting(now) && !dm_json_next(&holders);
    o->json = gone ? NULL : fake_text("%s", t.p);
    fake_notify(o, old, o->json);
    dm_free(old);
    return fake_take(&t);
}

static bool fake_is_stale(const struct fake_object *o, struct dm_json body)
{
    struct dm_json want = dm_json_at(body, "metadata.resourceVersion");
    return want.p && !dm_json_is_str(want, dm_meta(fake_json(o->json), "resourceVersion"));
}

static int fake_create(const struct fake_path *p, struct dm_json body, char **ret)
{
    struct dm_arena a = { 0 };
    const char *name = dm_json_string(dm_json_at(body, "metadata.name"), &a);
    struct fake_object *o = fake_find(p->res, p->ns, name);
    bool exists = o != NULL;
    for (size_t i = 0; i < FAKE_OBJECTS && !o; i++)
        if (!fake.objects[i].json)
            o = &fake.objects[i];
    CHECK(o != NULL);
    if (!exists) {
        (void)snprintf(o->res, sizeof(o->res), "%s", p->res);
        (void)snprintf(o->ns, sizeof(o->ns), "%s", p->ns);
        (void)snprintf(o->name, sizeof(o->name), "%.63s", name);
        *ret = fake_commit(o, body);
    }
    dm_arena_fini(&a);
    return exists ? 409 : 201;
}

static int fake_change(struct fake_object *o, const char *method, struct dm_json body, char **ret)
{
    struct dm_text t = { 0 };
    if (strcmp(method, "PUT") == 0) {
        dm_jw_raw(&t, body);
    } else if (strcmp(method, "PATCH") == 0) {
        fake_merge(fake_json(o->json), body, &t);
    } else {
        const struct dm_edit e = { { "metadata", "deletionTimestamp" }, "\"now\"" };
        dm_json_edit(fake_json(o->json), &e, 1, &t);
    }
    *ret = fake_commit(o, fake_json(t.p));
    dm_text_fini(&t);
    return 200;
}

/* ret: given, dm_free(). */
static int fake_api(const char *method, const char *path, const char *body_text, char **ret)
{
    struct fake_path p = fake_parse(path);
    struct fake_object *o = fake_find(p.res, p.ns, p.name);
    struct dm_json body = *body_text ? fake_json(body_text) : (struct dm_json){ 0 };
    *ret = NULL;
    int status;
    if (strcmp(method, "GET") == 0 && !*p.name) {
        *ret = fake_list(&p);
        return 200;
    }
    if (strcmp(method, "POST") == 0)
        status = fake_create(&p, body, ret);
    else if (!o)
        status = 404;
    else if (strcmp(method, "GET") == 0)
        status = 200;
    else if (fake_is_stale(o, body))
        status = 409;
    else
        status = fake_change(o, method, body, ret);
    if (!*ret)
        *ret = status == 200 ? fake_text("%s", o->json)
                             : fake_text("{\"kind\":\"Status\",\"code\":%d}", status);
    return status;
}

/* ---- the SDK's platform ---- */

uint64_t dm_host_request(const struct dm_request *r, bool stream)
{
    uint64_t id = fake.next_id++;
    fake.n_requests++;
    if (stream) {
        struct fake_path p = fake_parse(r->path);
        CHECK(fake.n_watches < FAKE_WATCHES);
        struct fake_watch *w = &fake.watches[fake.n_watches++];
        *w = (struct fake_watch){ .id = id };
        (void)snprintf(w->res, sizeof(w->res), "%s", p.res);
        (void)snprintf(w->ns, sizeof(w->ns), "%s", p.ns);
        fake_selector(w, p.query);
        fake_push((struct fake_event){ .id = id, .status = 200 });
        return id;
    }
    char *body = fake_text("%.*s", (int)r->body.n, r->body.n ? r->body.p : ""), *answer;
    bool is_write = strcmp(r->method, "GET") != 0;
    int status = fake.fail_next_write;
    if (is_write && status) {
        fake.fail_next_write = 0;
        answer = fake_text("{\"message\":\"refused by the test\"}");
    } else {
        status = fake_api(r->method, r->path, body, &answer);
    }
    fake.n_writes += is_write && strstr(r->path, "/events") == NULL ? 1 : 0;
    dm_free(body);
    fake_push((struct fake_event){ .id = id, .status = status });
    fake_push((struct fake_event){ .id = id, .end = true, .text = answer });
    return id;
}

uint64_t dm_host_delay(uint64_t ms)
{
    fake.last_delay_ms = ms;
    if (ms < 60000) {
        fake.now_ms += ms;
        fake_push((struct fake_event){ .id = fake.next_id, .end = true });
    }
    return fake.next_id++;
}

bool dm_host_can_watch(void)
{
    return false;
}

uint64_t dm_host_watch(const struct dm_watch_request *w)
{
    abort();
}

uint64_t dm_host_now_ms(void)
{
    return fake.now_ms;
}

uint64_t dm_host_wall_us(void)
{
    return 1700000000123456;
}

uint64_t dm_host_random(void)
{
    return fake.next_id * 2654435761u;
}

void dm_host_write(const char *line, size_t n)
{
    (void)printf("# %.*s", (int)n, line);
}

/* Deliver until nothing is left to deliver. */
static void fake_settle(void)
{
    int turns = 0;
    for (; fake.n_events; turns++) {
        CHECK(turns < FAKE_TURNS);
        struct fake_event e = fake.events[fake.first];
        fake.first = (fake.first + 1) % FAKE_EVENTS;
        fake.n_events--;
        if (e.status)
            dm_on_head(e.id, e.status);
        else if (e.end)
            dm_on_end(e.id, e.text, e.text ? strlen(e.text) : 0);
        else
            dm_on_data(e.id, e.text, strlen(e.text));
        dm_free(e.text);
        dm_settle();
    }
}

/* Somebody else's request, and everything that follows from it. */
static int fake_do(const char *method, const char *path, const char *body)
{
    char *answer;
    int status = fake_api(method, path, body, &answer);
    dm_free(answer);
    fake_settle();
    return status;
}
