/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extenders: what their answers mean, what becomes of a request, and what a scheduler makes of
 * both. The other side is a thread that answers each request from a script.
 */
#include "base/vec.h"
#include "sched/core/scheduler.h"
#include "sched/extender/answer.h"
#include "sched/extender/post.h"
#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>

/* ---- answers ---- */

TEST(a_filter_answers_with_names_or_nodes)
{
    struct arena a = { 0 };
    struct extender_filtered f;
    struct err err = { 0 };
    CHECK_OK(
        extender_read_filtered(&a,
                               STR("{\"NodeNames\":[\"a\",\"b\"],\"FailedNodes\":{\"c\":\"no\"},"
                                   "\"FailedAndUnresolvableNodes\":{\"d\":\"never\"}}"),
                               true, &f, &err));
    CHECK(f.has_nodes && str_is(f.error, ""));
    CHECK_INT(f.n_nodes, 2);
    CHECK(str_is(f.nodes[1], "b"));
    CHECK(f.n_failed == 1 && str_is(f.failed[0].node, "c") && str_is(f.failed[0].message, "no"));
    CHECK(f.n_unresolvable == 1 && str_is(f.unresolvable[0].node, "d"));
    /* Whole nodes; names are for who asked with names. */
    CHECK_OK(extender_read_filtered(
        &a, STR("{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"a\"}}]},\"NodeNames\":[\"z\"]}"),
        false, &f, &err));
    CHECK(f.n_nodes == 1 && str_is(f.nodes[0], "a"));
    /* In any case of letters, as Go's decoder. */
    CHECK_OK(
        extender_read_filtered(&a, STR("{\"nodenames\":[],\"error\":\"busy\"}"), true, &f, &err));
    CHECK(f.has_nodes && f.n_nodes == 0 && str_is(f.error, "busy"));
    /* Nothing said: no node is left. */
    CHECK_OK(extender_read_filtered(&a, STR("{}"), true, &f, &err));
    CHECK(!f.has_nodes && f.n_nodes == 0);
    arena_fini(&a);
}

TEST(a_filter_that_answers_nonsense_is_told_so)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        { "", "EOF" },
        { "[]", "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult" },
        { "\"x\"", "json: cannot unmarshal string into Go value of type v1.ExtenderFilterResult" },
        { "{\"NodeNames\":\"a\"}", "json: cannot unmarshal string into Go struct field "
                                   "ExtenderFilterResult.NodeNames of type []string" },
        { "{\"NodeNames\":[1]}", "json: cannot unmarshal number into Go struct field "
                                 "ExtenderFilterResult.NodeNames of type string" },
        { "{\"FailedNodes\":[]}", "json: cannot unmarshal array into Go struct field "
                                  "ExtenderFilterResult.FailedNodes of type v1.FailedNodesMap" },
        { "{\"Error\":{}}", "json: cannot unmarshal object into Go struct field "
                            "ExtenderFilterResult.Error of type string" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct extender_filtered f;
        struct err err = { 0 };
        CHECK(extender_read_filtered(&a, str_of(rows[i].text), true, &f, &err) < 0);
        CHECK_STR(str_of(err.text), rows[i].error);
    }
    struct extender_filtered f;
    CHECK_ERR(extender_read_filtered(&a, STR("<html>"), true, &f, NULL), E_PARSE);
    arena_fini(&a);
}

TEST(scores_victims_and_bindings_are_read)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct extender_score *scores;
    struct extender_victims *victims;
    struct str error;
    size_t n;
    CHECK_OK(extender_read_scores(&a, STR("[{\"Host\":\"a\",\"Score\":7},{\"Host\":\"b\"},null]"),
                                  &scores, &n, &err));
    CHECK(n == 3 && scores[0].score == 7 && str_is(scores[1].node, "b") && scores[1].score == 0);
    CHECK_OK(extender_read_scores(&a, STR("null"), &scores, &n, &err));
    CHECK_INT(n, 0);
    CHECK_ERR(extender_read_scores(&a, STR("[{\"Score\":\"7\"}]"), &scores, &n, &err), E_PARSE);
    CHECK_STR(str_of(err.text),
              "json: cannot unmarshal string into Go struct field HostPriority.Score of "
              "type int64");
    CHECK_ERR(extender_read_scores(&a, STR("[{\"Score\":1e30}]"), &scores, &n, &err), E_PARSE);
    CHECK_OK(
        extender_read_victims(&a,
                              STR("{\"NodeNameToMetaVictims\":{\"a\":{\"Pods\":[{\"UID\":\"u\"},"
                                  "{\"UID\":\"v\"}],\"NumPDBViolations\":2},\"b\":null}}"),
                              &victims, &n, &err));
    CHECK(n == 2 && victims[0].n_uids == 2 && victims[0].n_violations == 2);
    CHECK(str_is(victims[0].uids[1], "v") && victims[1].n_uids == 0);
    CHECK_OK(extender_read_victims(&a, STR("{}"), &victims, &n, &err));
    CHECK_INT(n, 0);
    CHECK_OK(extender_read_bound(&a, STR("{\"Error\":\"taken\"}"), &error, &err));
    CHECK(str_is(error, "taken"));
    CHECK_OK(extender_read_bound(&a, STR("{}"), &error, &err));
    CHECK(str_is_empty(error));
    arena_fini(&a);
}

/* ---- requests ---- */

enum { FOREVER = -1 };
struct reply {
    const char *head; /* NULL: not a byte */
    const char *body;
    long long padding; /* blanks after it; FOREVER: says nothing more, and waits */
    bool keeps;        /* the connection; it is closed when `closes` says so */
};
struct server {
    int fd, quit[2];
    uint16_t port;
    pthread_t thread;
    const struct reply *replies;
    size_t n;
    struct buf seen, all; /* the last request; the bodies of all */
    size_t n_seen;
};

/* Where its body begins; 0: there is none. */
static size_t read_request(int fd, struct buf *seen)
{
    char piece[65536];
    buf_reset(seen);
    for (;;) {
        ptrdiff_t head = str_find(buf_str(seen), STR("\r\n\r\n"));
        ptrdiff_t at = str_find(buf_str(seen), STR("content-length: "));
        if (head >= 0 && at >= 0) {
            struct str digits = str_slice(buf_str(seen), (size_t)at + 16, seen->n), line, rest;
            uint64_t length;
            (void)str_cut(digits, '\r', &line, &rest);
            CHECK_OK(parse_u64(line, 0, UINT32_MAX, &length));
            if (seen->n >= (size_t)head + 4 + length)
                return (size_t)head + 4;
        }
        ssize_t n = read(fd, piece, sizeof piece);
        if (n <= 0)
            return 0;
        CHECK_OK(buf_add(seen, piece, (size_t)n));
    }
}

static void write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = send(fd, p, n, MSG_NOSIGNAL);
        if (done <= 0)
            return;
        p += done;
        n -= (size_t)done;
    }
}

static void answer(struct server *s, int fd, const struct reply *reply)
{
    static char blanks[65536];
    memset(blanks, ' ', sizeof blanks);
    if (reply->head)
        write_all(fd, reply->head, strlen(reply->head));
    if (reply->body)
        write_all(fd, reply->body, strlen(reply->body));
    char c;
    if (reply->padding == FOREVER)
        (void)!read(s->quit[0], &c, 1);
    for (long long left = reply->padding; left > 0; left -= (long long)sizeof blanks)
        write_all(fd, blanks, (size_t)MIN(left, (long long)sizeof blanks));
}

static void *serve(void *arg)
{
    struct server *s = arg;
    int fd = -1;
    for (size_t i = 0; i < s->n; i++) {
        if (fd < 0)
            fd = accept(s->fd, NULL, NULL);
        if (fd < 0)
            break;
        size_t body = read_request(fd, &s->seen);
        if (body > 0) {
            s->n_seen++;
            buf_add_str(&s->all, str_slice(buf_str(&s->seen), body, s->seen.n));
            buf_add_char(&s->all, '\n');
        }
        answer(s, fd, &s->replies[i]);
        if (!s->replies[i].keeps) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static void server_start(struct server *s, const struct reply *replies, size_t n)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof at;
    *s = (struct server){
        .replies = replies, .n = n, .seen = BUF_INIT(1 << 20), .all = BUF_INIT(1 << 20)
    };
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(s->fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(s->fd, 8) == 0);
    CHECK(getsockname(s->fd, (struct sockaddr *)&at, &size) == 0 && pipe(s->quit) == 0);
    s->port = ntohs(at.sin_port);
    CHECK(pthread_create(&s->thread, NULL, serve, s) == 0);
}

/* After this it has seen what it will. */
static void server_end(struct server *s)
{
    CHECK(write(s->quit[1], "q", 1) == 1);
    (void)shutdown(s->fd, SHUT_RDWR); /* who waits for a connection waits no more */
    CHECK(pthread_join(s->thread, NULL) == 0);
}

static void server_fini(struct server *s)
{
    close(s->fd);
    close(s->quit[0]);
    close(s->quit[1]);
    buf_fini(&s->seen);
    buf_fini(&s->all);
}

static void server_stop(struct server *s)
{
    server_end(s);
    server_fini(s);
}

struct client {
    struct loop loop;
    struct sched_config_extender config;
    struct extender_link *link;
    char url[64];
};

static void client_start(struct client *c, uint16_t port, uint64_t timeout_ms)
{
    CHECK_OK(loop_init(&c->loop, NULL));
    snprintf(c->url, sizeof c->url, "http://127.0.0.1:%u/base/", port);
    c->config =
        (struct sched_config_extender){ .url_prefix = str_of(c->url), .timeout_ms = timeout_ms };
    struct err err = { 0 };
    CHECK_OK(extender_link_new(&c->loop, &c->config, &c->link, &err));
}

static void client_stop(struct client *c)
{
    extender_link_free(c->link);
    loop_run(&c->loop);
    loop_fini(&c->loop);
}

/* The answer's text, or the error's; given. */
static char *ask(struct client *c, const char *body)
{
    struct extender_post p = {
        .link = c->link, .verb = STR("filter"), .body = BUF_INIT(1 << 20), .repeats = true
    };
    buf_add_cstr(&p.body, body);
    extender_post_all(&c->loop, &p, 1);
    char *text = p.r < 0 ? xstrdup(err_text(&p.err)) : str_dup(buf_str(&p.answer));
    buf_fini(&p.body);
    buf_fini(&p.answer);
    return text;
}

static void check_asked(const struct reply *reply, uint64_t timeout_ms, const char *want)
{
    struct server s;
    struct client c;
    server_start(&s, reply, 1);
    client_start(&c, s.port, timeout_ms);
    scoped(free_scoped) char *got = ask(&c, "{}");
    scoped(free_scoped) char *expected =
        strstr(want, "%u") ? xasprintf("%.*s%u%s", (int)(strstr(want, "%u") - want), want, s.port,
                                       strstr(want, "%u") + 2)
                           : xstrdup(want);
    CHECK_STR(str_of(got), expected);
    client_stop(&c);
    server_stop(&s);
}

#define HEAD(status, rest) "HTTP/1.1 " status " x\r\nconnection: close\r\n" rest "\r\n"

TEST(what_a_server_does_has_the_words_of_gos_client)
{
    static const struct {
        struct reply reply;
        uint64_t timeout_ms;
        const char *want;
    } rows[] = {
        { { HEAD("200", ""), "{\"a\":1}", 0, false }, 5000, "{\"a\":1}" },
        { { HEAD("500", ""), "oops", 0, false },
          5000,
          "failed filter with extender at URL http://127.0.0.1:%u/base/filter, code 500" },
        { { NULL, NULL, FOREVER, false },
          50,
          "Post \"http://127.0.0.1:%u/base/filter\": context deadline exceeded (Client.Timeout "
          "exceeded while awaiting headers)" },
        { { HEAD("200", "content-length: 10\r\n"), "{", FOREVER, false },
          50,
          "context deadline exceeded (Client.Timeout or context cancellation while reading body)" },
        { { HEAD("200", ""), "{", EXTENDER_ANSWER_MAX_BYTES, false },
          5000,
          "Post \"http://127.0.0.1:%u/base/filter\": the answer is larger than 64 MiB" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_asked(&rows[i].reply, rows[i].timeout_ms, rows[i].want);
}

TEST(nobody_listens)
{
    struct server s;
    struct client c;
    static const struct reply none[1];
    server_start(&s, none, 0);
    client_start(&c, s.port, 5000);
    server_stop(&s);
    scoped(free_scoped) char *got = ask(&c, "{}");
    scoped(free_scoped) char *want = xasprintf("Post \"http://127.0.0.1:%u/base/filter\": dial tcp "
                                               "127.0.0.1:%u: connect: connection refused",
                                               s.port, s.port);
    CHECK_STR(str_of(got), want);
    client_stop(&c);
}

/* The loop stands still between two requests, and the server may close even while one is sent. */
TEST(a_kept_connection_that_was_closed_meanwhile_is_no_error)
{
    static const struct reply replies[] = {
        { "HTTP/1.1 200 x\r\ncontent-length: 1\r\n\r\n", "1", 0, true },
        { "HTTP/1.1 200 x\r\ncontent-length: 1\r\n\r\n", "2", 0, false },
        { "HTTP/1.1 200 x\r\ncontent-length: 1\r\n\r\n", "3", 0, false },
    };
    struct server s;
    struct client c;
    server_start(&s, replies, ARRAY_LEN(replies));
    client_start(&c, s.port, 5000);
    for (int i = 1; i <= 3; i++) {
        scoped(free_scoped) char *got = ask(&c, "{\"Pod\":null}");
        CHECK(got[0] == '0' + i && !got[1]);
    }
    client_stop(&c);
    server_end(&s);
    CHECK(str_has_prefix(buf_str(&s.seen), STR("POST /base/filter HTTP/1.1\r\n")));
    CHECK(str_find(buf_str(&s.seen), STR("content-type: application/json\r\n")) >= 0);
    CHECK_STR(buf_str(&s.all), "{\"Pod\":null}\n{\"Pod\":null}\n{\"Pod\":null}\n");
    server_fini(&s);
}

TEST(a_url_that_is_none_is_refused)
{
    struct sched_config_extender config = { .url_prefix = STR("not a url") };
    struct sched_extenders *x;
    struct err err = { 0 };
    CHECK(sched_extenders_new(&config, 1, &x, &err) < 0);
    CHECK(strstr(err.text, "couldn't build extenders: extender \"not a url\"") == err.text);
    config = (struct sched_config_extender){ .url_prefix = STR("https://127.0.0.1:1/"),
                                             .ca_file = STR("/nowhere/ca.pem") };
    CHECK(sched_extenders_new(&config, 1, &x, &err) < 0);
    CHECK(strstr(err.text, "open /nowhere/ca.pem: "));
}

/* ---- in cycles ---- */

struct answered {
    sched_api_done done;
    void *arg;
};
struct world {
    struct sched_api api;
    struct arena arena;
    struct sched_config config;
    struct server server;
    struct sched_extenders *extenders;
    struct sched *s;
    VEC(struct answered) waiting;
    struct buf log; /* bindings, deletions */
    char *decided;  /* a node's name, or why there is none */
};

static void on_call(struct sched_api *api, const struct sched_api_request *rq, sched_api_done done,
                    void *arg)
{
    struct world *w = container_of(api, struct world, api);
    struct answered a = { done, arg };
    vec_push(&w->waiting, a);
    if (str_has_suffix(rq->target, STR("/binding")) || strcmp(rq->method, "DELETE") == 0)
        buf_printf(&w->log, "%s " STR_FMT "\n", rq->method, STR_ARG(rq->target));
}

static void on_decided(void *arg, const struct sched_pod *pod, const struct intern *node,
                       const struct sched_status *status)
{
    struct world *w = arg;
    free(w->decided);
    w->decided = str_dup(node ? intern_str(node) : status->reasons[0]);
}

static void world_start(struct world *w, const char *extender, const struct reply *replies,
                        size_t n)
{
    static const struct sched_observer observer = { .decided = on_decided };
    *w = (struct world){ .api.call = on_call, .log = BUF_INIT(1 << 16) };
    server_start(&w->server, replies, n);
    char *text = arena_printf(
        &w->arena,
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
        "- schedulerName: default-scheduler\n  plugins:\n    multiPoint:\n      disabled: [{name: "
        "'*'}]\n      enabled: [{name: PrioritySort}, {name: NodeUnschedulable}, {name: "
        "NodeResourcesFit}, {name: DefaultPreemption}, {name: DefaultBinder}]\nextenders:\n"
        "- urlPrefix: http://127.0.0.1:%u/x\n%s",
        w->server.port, extender);
    struct err err = { 0 };
    struct buf warnings = BUF_INIT(65536);
    if (sched_config_read(&w->arena, str_of(text), &w->config, &warnings, &err) < 0)
        TEST_FAIL("%s", err.text);
    buf_fini(&warnings);
    CHECK_OK(sched_extenders_new(w->config.extenders, w->config.n_extenders, &w->extenders, &err));
    struct sched_opts opts = { .config = &w->config,
                               .api = &w->api,
                               .extenders = &sched_extenders_ops,
                               .extenders_arg = w->extenders,
                               .seed = 1,
                               .keeps_json = true,
                               .observer = &observer,
                               .observer_arg = w };
    if (sched_new(&opts, &w->s, &err) < 0)
        TEST_FAIL("%s", err.text);
    sched_synced(w->s);
    sched_lead(w->s, true);
}

static void world_put(struct world *w, enum sched_kind kind, const char *text)
{
    struct arena a = { 0 };
    struct json *json;
    struct err err = { 0 };
    if (json_parse(&a, str_of(text), NULL, &json, &err) < 0 ||
        sched_put(w->s, kind, json, 1000, &err) < 0)
        TEST_FAIL("%s: %s", text, err.text);
    arena_fini(&a);
}

#define NODE(name)                                                                                 \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"" name "\"},\"status\":{\"allocatable\":{"     \
    "\"cpu\":\"1\",\"memory\":\"1Gi\",\"pods\":\"9\"}}}"
#define POD(name, spec, cpu, more)                                                                 \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"default\",\"uid\":\"" name               \
    "-uid\"},\"spec\":{\"schedulerName\":\"default-scheduler\"," spec                              \
    "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"" cpu "\"" more        \
    "}}}]},\"status\":{}}"

static void world_run(struct world *w)
{
    while (sched_step(w->s, 1000) || w->waiting.n > 0) {
        for (size_t i = 0; i < w->waiting.n; i++)
            w->waiting.p[i].done(w->waiting.p[i].arg, 0, 200, STR("{}"), NULL);
        w->waiting.n = 0;
        (void)sched_tick(w->s, 1000);
    }
}

static void world_stop(struct world *w)
{
    sched_free(w->s);
    sched_extenders_free(w->extenders);
    server_fini(&w->server);
    vec_fini(&w->waiting);
    buf_fini(&w->log);
    free(w->decided);
    arena_fini(&w->arena);
}

#define OK(body)                                                                                   \
    {                                                                                              \
        HEAD("200", ""), body, 0, false                                                            \
    }
#define BY_NAME "  nodeCacheCapable: true\n"

/* n1 and n2, and a pod that fits on both. */
static const struct cycle_row {
    const char *what, *extender;
    struct reply replies[2];
    const char *decided; /* how it begins, of ties "n"; %s: the extender's URL */
    const char *asked;   /* a part of what it was sent; NULL: nothing */
} cycle_rows[] = {
    { "names",
      "  filterVerb: f\n" BY_NAME,
      { OK("{\"NodeNames\":[\"n2\"],\"FailedNodes\":{\"n1\":\"no\"}}") },
      "n2",
      "\"Nodes\":null,\"NodeNames\":[\"n1\",\"n2\"]}" },
    { "whole nodes",
      "  filterVerb: f\n",
      { OK("{\"Nodes\":{\"items\":[" NODE("n1") "]}}") },
      "n1",
      ",\"Nodes\":{\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"n1\"" },
    { "the pod",
      "  filterVerb: f\n" BY_NAME,
      { OK("{\"NodeNames\":[\"n2\",\"n2\"]}") },
      "n2",
      "{\"Pod\":{\"metadata\":{\"name\":\"p\"," },
    { "refusals are told",
      "  filterVerb: f\n" BY_NAME,
      { OK("{\"NodeNames\":[],\"FailedNodes\":{\"n1\":\"no\",\"n2\":\"no\",\"n9\":\"no\"},"
           "\"FailedAndUnresolvableNodes\":{\"n2\":\"never\"}}") },
      "0/2 nodes are available: 1 never, 1 no. preemption: 0/2 nodes are available: 1 No "
      "preemption "
      "victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
      "" },
    { "nothing said: no node",
      "  filterVerb: f\n" BY_NAME,
      { OK("{}") },
      "0/2 nodes are available:",
      "" },
    { "a node that it was not asked about",
      "  filterVerb: f\n" BY_NAME,
      { OK("{\"NodeNames\":[\"n1\",\"n9\"]}") },
      "extender \"%s\" claims a filtered node \"n9\" which is not found in the input node list",
      "" },
    { "its own error",
      "  filterVerb: f\n" BY_NAME,
      { OK("{\"NodeNames\":[\"n1\"],\"Error\":\"the database is away\"}") },
      "the database is away",
      "" },
    { "a status",
      "  filterVerb: f\n" BY_NAME,
      { { HEAD("500", ""), "", 0, false } },
      "failed f with extender at URL %s/f, code 500",
      "" },
    { "nonsense", "  filterVerb: f\n" BY_NAME, { OK("<html>") }, "", "" },
    { "no answer",
      "  filterVerb: f\n  httpTimeout: 50ms\n" BY_NAME,
      { { NULL, NULL, FOREVER, false } },
      "Post \"%s/f\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
      "" },
    { "an error that may be ignored",
      "  filterVerb: f\n  ignorable: true\n" BY_NAME,
      { OK("{\"NodeNames\":[],\"Error\":\"the database is away\"}") },
      "n",
      "" },
    { "no answer, which may be ignored",
      "  filterVerb: f\n  httpTimeout: 50ms\n  ignorable: true\n" BY_NAME,
      { { NULL, NULL, FOREVER, false } },
      "n",
      "" },
    { "not for pods that do not ask for its resource",
      "  filterVerb: f\n  managedResources: [{name: example.com/other, ignoredByScheduler: "
      "true}]\n",
      { OK("{}") },
      "n",
      NULL },
    { "for those that do, and nobody else counts it",
      "  filterVerb: f\n  managedResources: [{name: example.com/gpu, ignoredByScheduler: "
      "true}]\n" BY_NAME,
      { OK("{\"NodeNames\":[\"n2\"]}") },
      "n2",
      "example.com/gpu" },
    { "scores",
      "  prioritizeVerb: s\n  weight: 5\n" BY_NAME,
      { OK("[{\"Host\":\"n1\",\"Score\":3},{\"Host\":\"n2\",\"Score\":4},{\"Host\":\"n9\","
           "\"Score\":9}]") },
      "n2",
      "\"NodeNames\":[\"n1\",\"n2\"]" },
    { "scores beyond all bounds",
      "  prioritizeVerb: s\n  weight: 5\n" BY_NAME,
      { OK("[{\"Host\":\"n2\",\"Score\":-9223372036854775808},{\"Host\":\"n1\",\"Score\":"
           "9223372036854775807},{\"Host\":\"n1\",\"Score\":9223372036854775807}]") },
      "n1",
      "" },
    { "scores that fail do not count",
      "  prioritizeVerb: s\n  weight: 5\n" BY_NAME,
      { OK("[{\"Host\":\"n2\",\"Score\":10},{\"Score\":\"x\"}]") },
      "n",
      "" },
};

TEST(what_a_scheduler_makes_of_answers)
{
    for (size_t i = 0; i < ARRAY_LEN(cycle_rows); i++) {
        const struct cycle_row *row = &cycle_rows[i];
        printf("# %s\n", row->what);
        struct world w;
        world_start(&w, row->extender, row->replies, 1);
        world_put(&w, SCHED_NODE, NODE("n1"));
        world_put(&w, SCHED_NODE, NODE("n2"));
        bool has_gpu = row->asked && strstr(row->asked, "gpu");
        world_put(&w, SCHED_POD,
                  has_gpu ? POD("p", "", "100m", ",\"example.com/gpu\":\"1\"")
                          : POD("p", "", "100m", ""));
        world_run(&w);
        server_end(&w.server);
        const char *url = strstr(row->decided, "%s");
        scoped(free_scoped) char *want =
            url ? xasprintf("%.*shttp://127.0.0.1:%u/x%s", (int)(url - row->decided), row->decided,
                            w.server.port, url + 2)
                : xstrdup(row->decided);
        if (strncmp(w.decided, want, strlen(want)) != 0)
            TEST_FAIL("'%s' is not '%s'", w.decided, want);
        CHECK_INT(w.server.n_seen, row->asked ? 1 : 0);
        if (row->asked && str_find(buf_str(&w.server.all), str_of(row->asked)) < 0)
            TEST_FAIL("'%s' is not in '%s'", row->asked, buf_cstr(&w.server.all));
        world_stop(&w);
    }
}

/* Another configuration: other extenders, none, and one that cannot be. */
TEST(extenders_are_replaced)
{
    static const struct reply replies[] = { OK("{\"NodeNames\":[\"n2\"]}") };
    struct world w;
    world_start(&w, "  filterVerb: f\n" BY_NAME, replies, 1);
    world_put(&w, SCHED_NODE, NODE("n1"));
    world_put(&w, SCHED_NODE, NODE("n2"));
    struct sched_config none = w.config;
    none.n_extenders = 0;
    struct sched_extenders *next;
    CHECK_OK(sched_extenders_new(none.extenders, 0, &next, NULL));
    CHECK_OK(sched_reload(w.s, &none, NULL, false, NULL));
    sched_extenders_replace(w.extenders, next);
    world_put(&w, SCHED_POD, POD("p", "", "100m", ""));
    world_run(&w);
    CHECK(w.decided[0] == 'n');
    CHECK_OK(sched_extenders_new(w.config.extenders, 1, &next, NULL));
    CHECK_OK(sched_reload(w.s, &w.config, NULL, true, NULL));
    sched_extenders_replace(w.extenders, next);
    world_put(&w, SCHED_NODE, NODE("n1"));
    world_put(&w, SCHED_NODE, NODE("n2"));
    world_put(&w, SCHED_POD, POD("q", "", "100m", ""));
    world_run(&w);
    CHECK_STR(str_of(w.decided), "n2");
    server_end(&w.server);
    CHECK_INT(w.server.n_seen, 1);
    world_stop(&w);
}

TEST(an_extender_binds)
{
    static const struct {
        const char *what, *ignorable;
        struct reply reply;
        const char *log;
    } rows[] = {
        { "it has", "", OK("{}"), "" },
        { "it has not: the pod is tried again", "", OK("{\"Error\":\"taken\"}"), "" },
        { "it has not, which may be ignored: the next binder",
          "  ignorable: true\n",
          { HEAD("503", ""), "", 0, false },
          "POST /api/v1/namespaces/default/pods/p/binding\n" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        printf("# %s\n", rows[i].what);
        struct world w;
        char extender[64];
        snprintf(extender, sizeof extender, "  bindVerb: b\n%s", rows[i].ignorable);
        world_start(&w, extender, &rows[i].reply, 1);
        world_put(&w, SCHED_NODE, NODE("n1"));
        world_put(&w, SCHED_POD, POD("p", "", "100m", ""));
        world_run(&w);
        server_end(&w.server);
        CHECK_STR(buf_str(&w.server.all), "{\"PodName\":\"p\",\"PodNamespace\":\"default\","
                                          "\"PodUID\":\"p-uid\",\"Node\":\"n1\"}\n");
        CHECK_STR(buf_str(&w.log), rows[i].log);
        struct sched_stats stats;
        sched_stats(w.s, &stats);
        CHECK_INT(stats.errors, i == 1 ? 1 : 0);
        world_stop(&w);
    }
}

/* n1 with a, n2 with b, either of which would have to go for p; b is the better choice. */
TEST(an_extender_changes_a_preemption)
{
    static const struct {
        const char *what, *extender;
        struct reply reply;
        const char *log, *text, *asked;
    } rows[] = {
        { "it agrees", "  preemptVerb: p\n" BY_NAME,
          OK("{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"a-uid\"}]},\"n2\":{\"Pods\":"
             "["
             "{\"UID\":\"b-uid\"}]}}}"),
          "DELETE /api/v1/namespaces/default/pods/b\n", "",
          "\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{\"n" },
        { "it leaves one node", "  preemptVerb: p\n",
          OK("{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"a-uid\"}]}}}"),
          "DELETE /api/v1/namespaces/default/pods/a\n", "",
          "\"n1\":{\"Pods\":[{\"metadata\":{\"name\":\"a\"" },
        { "it counts violations", "  preemptVerb: p\n",
          OK("{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"a-uid\"}]},\"n2\":{\"Pods\":"
             "["
             "{\"UID\":\"b-uid\"}],\"NumPDBViolations\":1}}}"),
          "DELETE /api/v1/namespaces/default/pods/a\n", "", "\"NodeNameToMetaVictims\":null}" },
        { "it leaves none", "  preemptVerb: p\n", OK("{}"), "",
          "preemption: no candidate node for preemption", "" },
        { "a node without victims", "  preemptVerb: p\n",
          OK("{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[]}}}"), "",
          "preemption: expected at least one victim pod on node \"n1\"", "" },
        { "a node that is none", "  preemptVerb: p\n",
          OK("{\"NodeNameToMetaVictims\":{\"n9\":{\"Pods\":[{\"UID\":\"a-uid\"}]}}}"), "",
          "preemption: nodeinfo not found for node name \"n9\"", "" },
        { "a pod that is not there", "  preemptVerb: p\n",
          OK("{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"b-uid\"}]}}}"), "",
          "claims to preempt pod (UID: &{b-uid}) on node: n1, but the pod is not found on that "
          "node",
          "" },
        { "nonsense that may be ignored", "  preemptVerb: p\n  ignorable: true\n", OK("[]"),
          "DELETE /api/v1/namespaces/default/pods/b\n", "", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        printf("# %s\n", rows[i].what);
        struct world w;
        world_start(&w, rows[i].extender, &rows[i].reply, 1);
        world_put(&w, SCHED_NODE, NODE("n1"));
        world_put(&w, SCHED_NODE, NODE("n2"));
        world_put(&w, SCHED_POD, POD("a", "\"nodeName\":\"n1\",\"priority\":2,", "600m", ""));
        world_put(&w, SCHED_POD, POD("b", "\"nodeName\":\"n2\",\"priority\":1,", "600m", ""));
        world_put(&w, SCHED_POD, POD("p", "\"priority\":9,", "600m", ""));
        world_run(&w);
        server_end(&w.server);
        CHECK_STR(buf_str(&w.log), rows[i].log);
        if (!strstr(w.decided, rows[i].text))
            TEST_FAIL("'%s' is not in '%s'", rows[i].text, w.decided);
        if (str_find(buf_str(&w.server.all), str_of(rows[i].asked)) < 0)
            TEST_FAIL("'%s' is not in '%s'", rows[i].asked, buf_cstr(&w.server.all));
        world_stop(&w);
    }
}

TEST_MAIN
