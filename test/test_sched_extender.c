/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extenders: what their answers mean, and what becomes of a request. The other side is a thread
 * that answers each connection from a script.
 */
#include "base/clock.h"
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
    struct buf seen; /* the last request */
};

static void read_request(int fd, struct buf *seen)
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
                return;
        }
        ssize_t n = read(fd, piece, sizeof piece);
        if (n <= 0)
            return;
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
        read_request(fd, &s->seen);
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
    *s = (struct server){ .replies = replies, .n = n, .seen = BUF_INIT(1 << 20) };
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(s->fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(s->fd, 8) == 0);
    CHECK(getsockname(s->fd, (struct sockaddr *)&at, &size) == 0 && pipe(s->quit) == 0);
    s->port = ntohs(at.sin_port);
    CHECK(pthread_create(&s->thread, NULL, serve, s) == 0);
}

static void server_stop(struct server *s)
{
    CHECK(write(s->quit[1], "q", 1) == 1);
    CHECK(pthread_join(s->thread, NULL) == 0);
    close(s->fd);
    close(s->quit[0]);
    close(s->quit[1]);
    buf_fini(&s->seen);
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
    CHECK(pthread_join(s.thread, NULL) == 0);
    CHECK(str_has_prefix(buf_str(&s.seen), STR("POST /base/filter HTTP/1.1\r\n")));
    CHECK(str_find(buf_str(&s.seen), STR("content-type: application/json\r\n")) >= 0);
    CHECK(str_has_suffix(buf_str(&s.seen), STR("{\"Pod\":null}")));
    close(s.fd);
    close(s.quit[0]);
    close(s.quit[1]);
    buf_fini(&s.seen);
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

TEST_MAIN
