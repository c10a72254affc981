/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods with volumes in a world where much goes wrong: news comes late, requests fail before or
 * after they were carried out, volumes cannot be made, pods go, the scheduler is killed. A pod is
 * bound only where its bound volume is; and when the trouble ends, every pod gets its node.
 *
 * The API is this test: objects with versions, a watch that lags, and the controller of volumes.
 */
#include "sched/core/scheduler.h"
#include "test.h"

#include "base/vec.h"

enum { NODES = 4, CLAIMS = 10, PODS = 14, VOLUMES_MAX = 200, NONE = -1 };
enum { CALM_ROUNDS = 3000, TROUBLE_ROUNDS = 400 };

struct volume {
    unsigned rv;
    int node, claim;
};
struct claim {
    unsigned rv;
    bool is_made, is_bound;
    int selected, volume;
};
struct pod {
    unsigned rv, life; /* life: how many of this name there were */
    bool is_there;
    int node, claim;
};
struct news {
    enum sched_kind kind;
    char *text; /* NULL: it is gone */
    char name[16];
};
struct request {
    char *method, *target, *body;
    sched_api_done done;
    void *arg;
};

struct world {
    struct sched_api api;
    struct sched_config config;
    struct arena arena;
    struct sched *s;
    uint64_t now_ms;
    unsigned rv;
    bool is_calm;
    unsigned bindings, kills;
    struct volume volumes[VOLUMES_MAX];
    int n_volumes;
    struct claim claims[CLAIMS];
    struct pod pods[PODS];
    VEC(struct news) news;
    VEC(struct request) requests;
};

static bool chance(const struct world *w, unsigned percent)
{
    return !w->is_calm && test_random_below(100) < percent;
}

/* ---- objects, as an API tells them ---- */

static char *text_of(const struct world *w, enum sched_kind kind, int i)
{
    const struct volume *v = &w->volumes[i];
    const struct claim *c = &w->claims[i % CLAIMS];
    const struct pod *p = &w->pods[i % PODS];
    switch ((int)kind) {
    case SCHED_PV: {
        char ref[128] = "";
        if (v->claim != NONE)
            (void)snprintf(ref, sizeof(ref),
                           "\"claimRef\":{\"namespace\":\"d\",\"name\":\"c%d\",\"uid\":\"uc%d\"},",
                           v->claim, v->claim);
        return xasprintf(
            "{\"metadata\":{\"name\":\"v%d\",\"resourceVersion\":\"%u\"},\"spec\":{%s"
            "\"storageClassName\":\"local\",\"accessModes\":[\"ReadWriteOnce\"],\"capacity\":{"
            "\"storage\":\"1Gi\"},\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
            "\"matchExpressions\":[{\"key\":\"host\",\"operator\":\"In\",\"values\":[\"n%d\"]}]}"
            "]}}},\"status\":{\"phase\":\"Available\"}}",
            i, v->rv, ref, v->node);
    }
    case SCHED_PVC: {
        char selected[80] = "", volume[32] = "";
        if (c->selected != NONE)
            (void)snprintf(selected, sizeof(selected),
                           "\"volume.kubernetes.io/selected-node\":\"n%d\",", c->selected);
        if (c->volume != NONE)
            (void)snprintf(volume, sizeof(volume), "\"volumeName\":\"v%d\",", c->volume);
        return xasprintf("{\"metadata\":{\"namespace\":\"d\",\"name\":\"c%d\",\"uid\":\"uc%d\","
                         "\"resourceVersion\":\"%u\",\"annotations\":{%s%s\"x\":\"y\"}},\"spec\":{"
                         "%s\"storageClassName\":\"%s\",\"accessModes\":[\"ReadWriteOnce\"],"
                         "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}",
                         i, i, c->rv, selected,
                         c->is_bound ? "\"pv.kubernetes.io/bind-completed\":\"yes\"," : "", volume,
                         c->is_made ? "made" : "local");
    }
    case SCHED_POD: {
        char node[32] = "";
        if (p->node != NONE)
            (void)snprintf(node, sizeof(node), "\"nodeName\":\"n%d\",", p->node);
        return xasprintf("{\"metadata\":{\"namespace\":\"d\",\"name\":\"p%d\",\"uid\":\"up%d-%u\","
                         "\"resourceVersion\":\"%u\"},\"spec\":{%s\"schedulerName\":"
                         "\"default-scheduler\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
                         "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":"
                         "\"c%d\"}}]},\"status\":{\"phase\":\"Pending\"}}",
                         i, i, p->life, p->rv, node, p->claim);
    }
    default:
        return NULL;
    }
}

static void tell(struct world *w, enum sched_kind kind, int i, bool is_gone)
{
    static const char prefixes[SCHED_KIND_COUNT] = {
        [SCHED_PV] = 'v', [SCHED_PVC] = 'c', [SCHED_POD] = 'p'
    };
    struct news n = { .kind = kind, .text = is_gone ? NULL : text_of(w, kind, i) };
    (void)snprintf(n.name, sizeof(n.name), "%c%d", prefixes[kind], i);
    vec_push(&w->news, n);
}

static void put_text(struct world *w, enum sched_kind kind, const char *text)
{
    struct arena a = { 0 };
    struct json *json;
    struct err err = { 0 };
    if (json_parse(&a, str_of(text), NULL, &json, &err) < 0 ||
        sched_put(w->s, kind, json, w->now_ms, &err) < 0)
        TEST_FAIL("%s: %s", text, err_text(&err));
    arena_fini(&a);
}

static void hear(struct world *w)
{
    struct news n = w->news.p[0];
    vec_remove(&w->news, 0);
    if (n.text)
        put_text(w, n.kind, n.text);
    else
        sched_del(w->s, n.kind, n.kind == SCHED_PV ? STR("") : STR("d"), str_of(n.name), w->now_ms);
    free(n.text);
}

/* ---- the controller of volumes ---- */

static int add_volume(struct world *w, int node, int claim)
{
    CHECK(w->n_volumes < VOLUMES_MAX);
    int i = w->n_volumes++;
    w->volumes[i] = (struct volume){ .rv = ++w->rv, .node = node, .claim = claim };
    tell(w, SCHED_PV, i, false);
    return i;
}

static void bind_claim(struct world *w, int claim, int volume)
{
    struct claim *c = &w->claims[claim];
    c->volume = volume;
    c->is_bound = true;
    c->rv = ++w->rv;
    tell(w, SCHED_PVC, claim, false);
}

/* A volume that names a claim is bound to it, or, where the claim has another one, let go. */
static void control_volume(struct world *w, int i)
{
    struct volume *v = &w->volumes[i];
    if (v->claim == NONE || w->claims[v->claim].volume == i)
        return;
    if (w->claims[v->claim].volume == NONE) {
        bind_claim(w, v->claim, i);
        return;
    }
    v->claim = NONE;
    v->rv = ++w->rv;
    tell(w, SCHED_PV, i, false);
}

static void control_claim(struct world *w, int i)
{
    struct claim *c = &w->claims[i];
    if (!c->is_made || c->selected == NONE || c->is_bound)
        return;
    if (chance(w, 30)) { /* it cannot be made there */
        c->selected = NONE;
        c->rv = ++w->rv;
        tell(w, SCHED_PVC, i, false);
        return;
    }
    bind_claim(w, i, add_volume(w, c->selected, i));
}

/* ---- requests ---- */

static void on_call(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                    void *arg)
{
    struct world *w = container_of(api, struct world, api);
    struct request r = { .method = xstrdup(rq->method),
                         .target = str_dup(rq->target),
                         .body = str_dup(rq->body),
                         .done = done,
                         .arg = arg };
    vec_push(&w->requests, r);
}

/* The number behind a prefix: 7 of ".../pods/p7/binding" by "/pods/p"; NONE: it has no such. */
static int number_behind(const char *target, const char *prefix)
{
    const char *at = strstr(target, prefix);
    uint64_t n = 0;
    if (!at)
        return NONE;
    struct str digits = { at + strlen(prefix), 0 };
    while (digits.p[digits.n] >= '0' && digits.p[digits.n] <= '9')
        digits.n++;
    CHECK_OK(parse_u64(digits, 0, 1000, &n));
    return (int)n;
}

static unsigned version_in(const struct json *body)
{
    uint64_t rv = 0;
    CHECK_OK(parse_u64(json_str(json_path(body, "metadata", "resourceVersion", NULL)), 1,
                       UINT32_MAX, &rv));
    return (unsigned)rv;
}

/* A pod goes where its volume is, and its volume is bound. */
static int carry_out_binding(struct world *w, int i, const struct json *body)
{
    struct pod *p = &w->pods[i];
    char uid[32];
    (void)snprintf(uid, sizeof(uid), "up%d-%u", i, p->life);
    if (!p->is_there || !str_is(json_str(json_path(body, "metadata", "uid", NULL)), uid))
        return 404;
    if (p->node != NONE)
        return 409;
    const struct claim *c = &w->claims[p->claim];
    struct str node = json_str(json_path(body, "target", "name", NULL));
    p->node = number_behind(node.p, "n");
    CHECK(c->is_bound && c->volume != NONE);
    CHECK_INT(p->node, w->volumes[c->volume].node);
    p->rv = ++w->rv;
    w->bindings++;
    tell(w, SCHED_POD, i, false);
    return 201;
}

static int carry_out_volume(struct world *w, int i, const struct json *body)
{
    struct volume *v = &w->volumes[i];
    const struct json *claim = json_path(body, "spec", "claimRef", "name", NULL);
    if (version_in(body) != v->rv)
        return 409;
    if (!claim)
        return 200;
    v->claim = number_behind(json_str(claim).p, "c");
    v->rv = ++w->rv;
    tell(w, SCHED_PV, i, false);
    return 200;
}

static int carry_out_claim(struct world *w, int i, const struct json *body)
{
    struct claim *c = &w->claims[i];
    struct str node = json_str(
        json_path(body, "metadata", "annotations", "volume.kubernetes.io/selected-node", NULL));
    if (version_in(body) != c->rv)
        return 409;
    c->selected = number_behind(node.p, "n");
    c->rv = ++w->rv;
    tell(w, SCHED_PVC, i, false);
    return 200;
}

/* ret_rv: of what was written. */
static int carry_out(struct world *w, const struct request *r, unsigned *ret_rv)
{
    struct arena a = { 0 };
    struct json *body;
    int status = strcmp(r->method, "POST") == 0 ? 201 : 200;
    int volume = number_behind(r->target, "/persistentvolumes/v");
    int claim = number_behind(r->target, "/persistentvolumeclaims/c");
    int pod = strstr(r->target, "/binding") ? number_behind(r->target, "/pods/p") : NONE;
    CHECK_OK(json_parse(&a, str_of(*r->body ? r->body : "{}"), NULL, &body, NULL));
    if (volume != NONE)
        status = carry_out_volume(w, volume, body);
    else if (claim != NONE)
        status = carry_out_claim(w, claim, body);
    else if (pod != NONE)
        status = carry_out_binding(w, pod, body);
    *ret_rv = volume != NONE ? w->volumes[volume].rv : claim != NONE ? w->claims[claim].rv : 0;
    arena_fini(&a);
    return status;
}

static void request_fini(struct request *r)
{
    free(r->method);
    free(r->target);
    free(r->body);
}

static void answer_one(struct world *w)
{
    size_t at = w->is_calm ? 0 : test_random_below(w->requests.n);
    struct request r = w->requests.p[at];
    vec_remove(&w->requests, at);
    unsigned rv = 0;
    bool is_lost = chance(w, 10), is_refused = chance(w, 10);
    int status = is_refused ? 500 : chance(w, 90) || w->is_calm ? carry_out(w, &r, &rv) : 0;
    char body[256];
    (void)snprintf(body, sizeof(body),
                   status < 300 ? "{\"metadata\":{\"resourceVersion\":\"%u\"}}"
                                : "{\"kind\":\"Status\",\"message\":\"status of %u\"}",
                   rv);
    struct err err = { 0 };
    if (is_lost || status == 0)
        r.done(r.arg, err_sys(&err, -ECONNRESET, "read"), 0, STR(""), &err);
    else
        r.done(r.arg, 0, status, str_of(body), NULL);
    request_fini(&r);
}

/* ---- the world ---- */

static void put_all(struct world *w)
{
    static const char *const classes[][2] = { { "made", "csi.example.com" },
                                              { "local", "kubernetes.io/no-provisioner" } };
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        scoped(free_scoped) char *text =
            xasprintf("{\"metadata\":{\"name\":\"%s\"},\"provisioner\":\"%s\","
                      "\"volumeBindingMode\":\"WaitForFirstConsumer\"}",
                      classes[i][0], classes[i][1]);
        put_text(w, SCHED_STORAGE_CLASS, text);
    }
    for (int i = 0; i < NODES; i++) {
        scoped(free_scoped) char *text =
            xasprintf("{\"metadata\":{\"name\":\"n%d\",\"uid\":\"un%d\",\"labels\":{\"host\":"
                      "\"n%d\"}},\"status\":{\"allocatable\":{\"pods\":\"110\"}}}",
                      i, i, i);
        put_text(w, SCHED_NODE, text);
    }
    for (int i = 0; i < w->n_volumes; i++)
        tell(w, SCHED_PV, i, false);
    for (int i = 0; i < CLAIMS; i++)
        tell(w, SCHED_PVC, i, false);
    for (int i = 0; i < PODS; i++) {
        if (w->pods[i].is_there)
            tell(w, SCHED_POD, i, false);
    }
    while (w->news.n > 0)
        hear(w);
}

static int64_t on_wall(void *arg)
{
    return INT64_C(1700000000000) + (int64_t)((const struct world *)arg)->now_ms;
}

static void start(struct world *w)
{
    struct sched_opts opts = { .config = &w->config,
                               .api = &w->api,
                               .seed = test_random() | 1,
                               .wall_ms = on_wall,
                               .arg = w };
    CHECK_OK(sched_new(&opts, &w->s, NULL));
    put_all(w);
    sched_synced(w->s);
    sched_lead(w->s, true);
}

static void drop_news(struct world *w)
{
    vec_each (n, &w->news)
        free(n->text);
    w->news.n = 0;
}

/* What is under way may have been carried out or not; nobody hears of it. */
static void kill_scheduler(struct world *w)
{
    sched_free(w->s);
    vec_each (r, &w->requests) {
        unsigned rv;
        if (chance(w, 50))
            (void)carry_out(w, r, &rv);
        r->done(r->arg, -ECANCELED, 0, STR(""), NULL);
        request_fini(r);
    }
    w->requests.n = 0;
    drop_news(w);
}

static void change_pod(struct world *w, int i)
{
    struct pod *p = &w->pods[i];
    if (p->is_there) {
        p->is_there = false;
        tell(w, SCHED_POD, i, true);
        return;
    }
    *p = (struct pod){ .rv = ++w->rv,
                       .life = p->life + 1,
                       .is_there = true,
                       .node = NONE,
                       .claim = (int)test_random_below(CLAIMS) };
    tell(w, SCHED_POD, i, false);
}

static void init(struct world *w)
{
    static const char config[] = "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                 "kind: KubeSchedulerConfiguration\n"
                                 "profiles:\n"
                                 "- pluginConfig:\n"
                                 "  - name: VolumeBinding\n"
                                 "    args: {bindTimeoutSeconds: 20}\n";
    *w = (struct world){ .api.call = on_call, .now_ms = 1000 };
    struct buf warnings = BUF_INIT(65536);
    CHECK_OK(sched_config_read(&w->arena, str_of(config), &w->config, &warnings, NULL));
    buf_fini(&warnings);
    for (int i = 0; i < CLAIMS; i++)
        w->claims[i] = (struct claim){
            .rv = ++w->rv, .is_made = i % 3 == 0, .selected = NONE, .volume = NONE
        };
    for (int i = 0; i < CLAIMS; i++) {
        int node = (int)test_random_below(NODES);
        w->volumes[w->n_volumes++] = (struct volume){ .rv = ++w->rv, .node = node, .claim = NONE };
    }
    start(w);
}

static void control(struct world *w, unsigned percent)
{
    for (int i = 0; i < w->n_volumes; i++) {
        if (test_random_below(100) < percent)
            control_volume(w, i);
    }
    for (int i = 0; i < CLAIMS; i++) {
        if (test_random_below(100) < percent)
            control_claim(w, i);
    }
}

static void trouble(struct world *w)
{
    w->now_ms += test_random_below(2000);
    (void)sched_tick(w->s, w->now_ms);
    if (chance(w, 20))
        change_pod(w, (int)test_random_below(PODS));
    for (uint64_t n = test_random_below(4); n > 0 && sched_step(w->s, w->now_ms); n--)
        ;
    for (uint64_t n = test_random_below(6); n > 0 && w->requests.n > 0; n--)
        answer_one(w);
    for (uint64_t n = test_random_below(6); n > 0 && w->news.n > 0; n--)
        hear(w);
    control(w, 10);
    if (chance(w, 1)) {
        kill_scheduler(w);
        start(w);
        w->kills++;
    }
}

static bool all_have_nodes(const struct world *w)
{
    for (int i = 0; i < PODS; i++) {
        if (w->pods[i].is_there && w->pods[i].node == NONE)
            return false;
    }
    return true;
}

static void calm(struct world *w)
{
    w->is_calm = true;
    for (unsigned i = 0; i < CALM_ROUNDS && !all_have_nodes(w); i++) {
        w->now_ms += 500;
        (void)sched_tick(w->s, w->now_ms);
        while (sched_step(w->s, w->now_ms))
            ;
        while (w->requests.n > 0 || w->news.n > 0) {
            if (w->requests.n > 0)
                answer_one(w);
            if (w->news.n > 0)
                hear(w);
        }
        control(w, 100);
    }
    CHECK(all_have_nodes(w));
}

static void fini(struct world *w)
{
    kill_scheduler(w);
    vec_fini(&w->news);
    vec_fini(&w->requests);
    arena_fini(&w->arena);
}

TEST(whatever_goes_wrong_pods_are_where_their_volumes_are)
{
    unsigned bindings = 0, kills = 0;
    for (unsigned round = 0; round < 40; round++) {
        struct world w;
        init(&w);
        for (unsigned i = 0; i < TROUBLE_ROUNDS; i++)
            trouble(&w);
        bindings += w.bindings;
        kills += w.kills;
        calm(&w);
        fini(&w);
    }
    (void)printf("# %u bindings in trouble, %u kills\n", bindings, kills);
    CHECK(bindings > 100 && kills > 10);
}

TEST_MAIN
