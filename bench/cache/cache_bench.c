/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object cache as a client of a server that has objects:
 *
 *     cache-bench fill KUBECONFIG pods|configmaps N          makes them
 *     cache-bench hold KUBECONFIG pods|configmaps full|metadata|facts SUBSCRIBERS
 *     cache-bench pack KUBECONFIG pods|configmaps N          ways to hold their JSON
 *
 * hold prints one line: proportional set size of this process before and after, what the cache says
 * of itself, and the time of a get and of a list of 500. facts is what is held beside an embedded
 * API.
 */
#include "packings.h"

#include "base/clock.h"
#include "base/vec.h"
#include "client/http_transport.h"
#include "client/object_cache.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

enum { FILL_AT_ONCE = 64, QUIET_MS = 4000, READS = 2000 };

struct bench {
    struct loop loop;
    struct http_transport *transport;
    struct watch_hub *hub;
    struct object_cache *cache;
    const char *kind;
    struct object_sub **subs;
    size_t n_subs, synced, reported;
    /* fill */
    size_t wanted, started, ended, refused;
    bool owners;            /* they are what is being made */
    char (*owner_uids)[40]; /* of what has been made */
    /* reads */
    VEC(char *) names;
    struct buf texts;
    size_t reads;
    bool read_done;
    struct str token;
    char token_text[1024];
};

static void die(const char *what, const struct err *err)
{
    (void)fprintf(stderr, "error: %s: %s\n", what, err ? err_text(err) : "failed");
    exit(1);
}

static size_t pss_kib(void)
{
    char text[4096];
    int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text);
    (void)close(fd);
    struct str s = str_n(text, n > 0 ? (size_t)n : 0);
    ptrdiff_t at = str_find(s, STR("\nPss:"));
    uint64_t kib = 0;
    struct str head, tail = str_trim(str_slice(s, (size_t)at + 5, s.n));
    (void)str_cut(tail, ' ', &head, &tail);
    (void)parse_u64(head, 0, UINT64_MAX, &kib);
    return kib;
}

static void on_pass(struct timer *t)
{
}

static void pass(struct bench *b, uint64_t ms)
{
    struct timer t = { 0 };
    timer_start(&b->loop, &t, ms, on_pass);
    while (timer_is_armed(&t))
        (void)loop_turn(&b->loop, true);
}

/* ---------------------------------------------------------------- objects */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static void put_hex(struct buf *to, uint64_t *state, size_t digits)
{
    for (; digits >= 16; digits -= 16)
        buf_printf(to, "%016" PRIx64, next_random(state));
}

/*
 * A pod as a Deployment makes them: ten of a ReplicaSet (here a ControllerRevision, which no
 * controller fills), which share labels, owner and a checksum; an address, an id of its own. Some 2
 * KiB as JSON with what the server adds.
 */
static void put_pod(struct bench *b, struct buf *to, size_t i)
{
    uint64_t own = i + 1, set = i / 10 + 1000000007;
    uint64_t set_hash = next_random(&set) >> 28;
    size_t app = i / 100;
    buf_printf(
        to,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"shop-%zu-%09" PRIx64
        "-%05" PRIx64 "\",\"labels\":{\"app.kubernetes.io/name\":\"shop-%zu\","
        "\"app.kubernetes.io/part-of\":\"shop\",\"pod-template-hash\":\"%09" PRIx64
        "\"},\"annotations\":{\"checksum/config\":\"",
        app, set_hash, next_random(&own) >> 44, app, set_hash);
    put_hex(to, &set, 64);
    buf_printf(to, "\",\"cni.example.com/address\":\"10.%u.%u.%u/32\",\"cni.example.com/id\":\"",
               (unsigned)(i >> 16), (unsigned)(i >> 8) & 255, (unsigned)i & 255);
    put_hex(to, &own, 64);
    buf_printf(to,
               "\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
               "\"ControllerRevision\",\"name\":\"owner-%zu\",\"uid\":\"%s\",\"controller\":true,"
               "\"blockOwnerDeletion\":true}]},",
               i / 10, b->owner_uids[i / 10]);
    buf_printf(to,
               "\"spec\":{\"automountServiceAccountToken\":false,\"containers\":[{\"name\":"
               "\"web\",\"image\":\"registry.example.com/shop/web:1.4.%zu\","
               "\"args\":[\"--listen=:8080\"],\"env\":[",
               app % 20);
    for (unsigned k = 0; k < 6; k++)
        buf_printf(to, "%s{\"name\":\"SETTING_%u\",\"value\":\"value-%zu-%u\"}", k ? "," : "", k,
                   app, k);
    buf_add_cstr(to,
                 "],\"ports\":[{\"containerPort\":8080}],\"livenessProbe\":{\"httpGet\":{\"path\":"
                 "\"/healthz\",\"port\":8080},\"periodSeconds\":10},\"readinessProbe\":"
                 "{\"httpGet\":{\"path\":\"/healthz\",\"port\":8080},\"periodSeconds\":10},"
                 "\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"64Mi\"},\"limits\":"
                 "{\"memory\":\"128Mi\"}},\"volumeMounts\":[{\"name\":\"cache\",\"mountPath\":"
                 "\"/cache\"}]}],\"volumes\":[{\"name\":\"cache\",\"emptyDir\":{}}]}}");
}

static void put_map(struct bench *b, struct buf *to, size_t i)
{
    uint64_t own = i + 7;
    buf_printf(
        to,
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"settings-%zu\","
        "\"labels\":{\"app\":\"shop-%zu\"}},\"data\":{\"host\":\"db-%zu.example.com\","
        "\"token\":\"",
        i, i / 10, i % 100);
    put_hex(to, &own, 32);
    buf_add_cstr(to, "\",\"mode\":\"production\"}}");
}

/* ---------------------------------------------------------------- fill */

struct create {
    struct bench *b;
    size_t i;
    struct buf answer;
};

static void start_create(struct bench *b);

static void on_status(void *arg, int status, const struct headers *headers)
{
    struct create *c = arg;
    c->b->refused += status != 201;
}

static void on_chunk(void *arg, struct str chunk)
{
    struct create *c = arg;
    if (c->b->owners)
        buf_add_str(&c->answer, chunk);
}

static void note_uid(struct create *c)
{
    struct arena a = { 0 };
    struct json *v;
    if (json_parse(&a, buf_str(&c->answer), NULL, &v, NULL) < 0)
        die("answer", NULL);
    (void)snprintf(c->b->owner_uids[c->i], sizeof c->b->owner_uids[0], STR_FMT,
                   STR_ARG(json_get_str(json_getc(v, "metadata"), "uid")));
    arena_fini(&a);
}

static void on_created(void *arg, int r, const struct err *err)
{
    struct create *c = arg;
    struct bench *b = c->b;
    if (r < 0)
        die("create", err);
    if (b->owners)
        note_uid(c);
    buf_fini(&c->answer);
    free(c);
    b->ended++;
    if (b->started < b->wanted)
        start_create(b);
}

static const struct exchange_events create_events = { .on_head = on_status,
                                                      .on_data = on_chunk,
                                                      .on_end = on_created };

static void put_owner(struct bench *b, struct buf *to, size_t i)
{
    buf_printf(to, "{\"metadata\":{\"name\":\"owner-%zu\"},\"data\":{\"a\":1},\"revision\":1}", i);
}

static void start_create(struct bench *b)
{
    struct buf body = BUF_INIT(1 << 20);
    struct headers h = { 0 };
    struct err err = { 0 };
    struct exchange *call;
    struct create *c = xnew(struct create);
    *c = (struct create){ .b = b, .i = b->started++, .answer = BUF_INIT(1 << 20) };
    bool pods = str_is(str_of(b->kind), "pods");
    (b->owners ? put_owner : pods ? put_pod : put_map)(b, &body, c->i);
    (void)headers_addc(&h, "content-type", "application/json");
    char target[128];
    (void)snprintf(target, sizeof target, "%s/namespaces/default/%s",
                   b->owners ? "/apis/apps/v1" : "/api/v1",
                   b->owners ? "controllerrevisions" : b->kind);
    struct kube_request req = {
        .method = STR("POST"), .target = str_of(target), .headers = &h, .body = buf_str(&body)
    };
    if (transport_start(http_transport_base(b->transport), &req, &create_events, c, &call, &err) <
        0)
        die("create", &err);
    headers_fini(&h);
    buf_fini(&body);
}

static void create(struct bench *b, size_t n)
{
    b->wanted = n;
    b->started = b->ended = 0;
    for (size_t i = 0; i < FILL_AT_ONCE && i < n; i++)
        start_create(b);
    while (b->ended < n)
        (void)loop_turn(&b->loop, true);
    if (b->refused)
        die("create: some were refused", NULL);
}

static void fill(struct bench *b, size_t n)
{
    size_t n_owners = n / 10 + 1;
    if (str_is(str_of(b->kind), "pods")) {
        b->owner_uids = xalloc_n(sizeof *b->owner_uids, n_owners);
        b->owners = true;
        create(b, n_owners);
        b->owners = false;
    }
    create(b, n);
}

/* ---------------------------------------------------------------- hold */

static void on_event(void *arg, enum object_event type, const struct cached_object *now,
                     const struct cached_object *before, bool initial)
{
    struct bench *b = arg;
    b->reported++;
}

static void on_synced(void *arg, uint64_t rv)
{
    struct bench *b = arg;
    b->synced++;
}

static void on_error(void *arg, int r, const struct err *err)
{
    die("watch", err);
}

static const struct object_sub_ops sub_ops = { .on_event = on_event,
                                               .on_synced = on_synced,
                                               .on_error = on_error };

static void subscribe(struct bench *b, size_t n, bool metadata)
{
    struct err err = { 0 };
    b->subs = xrealloc(b->subs, (b->n_subs + n) * sizeof *b->subs);
    struct object_sub_opts opts = { .group_version = STR("v1"),
                                    .plural = str_of(b->kind),
                                    .namespace = STR("default"),
                                    .metadata_only = metadata,
                                    .ops = &sub_ops,
                                    .arg = b };
    for (size_t i = 0; i < n; i++)
        if (object_cache_subscribe(b->cache, &opts, &b->subs[b->n_subs++], &err) < 0)
            die("subscribe", &err);
    while (b->synced < b->n_subs)
        (void)loop_turn(&b->loop, true);
}

static void on_read(void *arg, int r, const struct object_result *res, const struct err *err)
{
    struct bench *b = arg;
    b->read_done = true;
    if (r < 0)
        die("read", err);
    size_t n = MIN(res->continue_from.n, sizeof b->token_text);
    if (n)
        memcpy(b->token_text, res->continue_from.p, n);
    b->token = str_n(b->token_text, n);
    b->reads += res->n;
    for (size_t i = 0; b->wanted && i < res->n; i++) {
        buf_add_str(&b->texts, res->items[i]);
        buf_add_char(&b->texts, '\n');
    }
}

static void read_once(struct bench *b, bool list, const struct object_query *q)
{
    struct object_read *read;
    struct err err = { 0 };
    b->read_done = false;
    if ((list ? object_sub_list : object_sub_get)(b->subs[0], q, on_read, b, &read, &err) < 0)
        die("read", &err);
    while (!b->read_done)
        (void)loop_turn(&b->loop, false);
}

static bool add_name(void *arg, const struct cached_object *o)
{
    struct bench *b = arg;
    vec_push(&b->names, str_dup(cached_object_name(o)));
    return b->names.n < READS;
}

static void hold(struct bench *b, const char *form, size_t subs)
{
    bool metadata = str_is(str_of(form), "metadata"), facts = str_is(str_of(form), "facts");
    struct err err = { 0 };
    struct object_cache_opts opts = { .loop = &b->loop,
                                      .transport = http_transport_base(b->transport),
                                      .hub = b->hub,
                                      .embedded = facts };
    if (object_cache_new(&opts, &b->cache, &err) < 0)
        die("cache", &err);
    /* Connect, and touch all the code, before the first measurement. */
    const char *kind = b->kind;
    b->kind = "secrets";
    subscribe(b, 1, metadata);
    object_sub_cancel(b->subs[--b->n_subs]);
    b->kind = kind;
    b->synced = 0;
    pass(b, 200);
    (void)malloc_trim(0);
    size_t before = pss_kib();
    uint64_t begin = clock_mono_ns();
    subscribe(b, 1, metadata);
    double synced_ms = (double)(clock_mono_ns() - begin) / 1e6;
    pass(b, QUIET_MS);
    size_t after = pss_kib();
    subscribe(b, subs - 1, metadata);
    pass(b, QUIET_MS);
    size_t shared = pss_kib();
    struct object_cache_stats s;
    object_cache_get_stats(b->cache, &s);
    double get_us = 0, list_us = 0;
    if (!facts) {
        object_sub_each(b->subs[0], STR(""), add_name, b);
        begin = clock_mono_ns();
        for (size_t i = 0; i < b->names.n; i++)
            read_once(b, false,
                      &(struct object_query){ .namespace = STR("default"),
                                              .name = str_of(b->names.p[i]) });
        get_us = (double)(clock_mono_ns() - begin) / 1e3 / (double)b->names.n;
        b->reads = 0;
        begin = clock_mono_ns();
        read_once(b, true, &(struct object_query){ .limit = 500 });
        list_us = (double)(clock_mono_ns() - begin) / 1e3;
    }
    printf("{\"objects\":%zu,\"pss_before_kib\":%zu,\"pss_after_kib\":%zu,\"pss_shared_kib\":%zu,"
           "\"subscribers\":%zu,\"told\":%zu,\"facts_bytes\":%zu,\"body_bytes\":%zu,"
           "\"plain_bytes\":%zu,\"synced_ms\":%.1f,\"get_us\":%.2f,\"list_500_us\":%.1f}\n",
           s.objects, before, after, shared, b->n_subs, b->reported, s.fact_bytes, s.body_bytes,
           s.plain_bytes, synced_ms, get_us, list_us);
}

static void pack(struct bench *b, size_t n)
{
    struct err err = { 0 };
    struct object_cache_opts opts = { .loop = &b->loop,
                                      .transport = http_transport_base(b->transport),
                                      .hub = b->hub };
    if (object_cache_new(&opts, &b->cache, &err) < 0)
        die("cache", &err);
    b->wanted = MIN(n, (size_t)PACKINGS_MAX_OBJECTS);
    subscribe(b, 1, false);
    struct object_query q = { .limit = 500 };
    do {
        q.continue_from = b->token;
        read_once(b, true, &q);
    } while (b->token.n && b->reads < b->wanted);
    struct str *texts = xnew_n(struct str, b->reads), rest = buf_str(&b->texts);
    for (size_t i = 0; i < b->reads; i++)
        (void)str_cut(rest, '\n', &texts[i], &rest);
    packings_measure(texts, b->reads);
    free(texts);
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct err err = { 0 };
    struct kubeconfig *config;
    uint64_t n = 0;
    if (argc < 5 || parse_u64(str_of(argv[argc - 1]), 1, 10000000, &n) < 0) {
        (void)fprintf(stderr, "usage: %s fill|hold|pack KUBECONFIG pods|configmaps [FORM] N\n",
                      argv[0]);
        return 2;
    }
    b.kind = argv[3];
    b.texts = BUF_INIT((size_t)1 << 30);
    if (loop_init(&b.loop, &err) < 0 || kubeconfig_load(argv[2], NULL, &config, &err) < 0 ||
        http_transport_new(&b.loop, config, &b.transport, &err) < 0)
        die("start", &err);
    struct watch_hub_opts hub = { .transport = http_transport_base(b.transport), .widen_at = 8 };
    if (watch_hub_new(&b.loop, &hub, &b.hub, &err) < 0)
        die("start", &err);
    if (str_is(str_of(argv[1]), "fill"))
        fill(&b, n);
    else if (str_is(str_of(argv[1]), "pack"))
        pack(&b, n);
    else
        hold(&b, argv[4], n);
    (void)fflush(stdout);
    _exit(0); /* what is held goes with the process */
}
