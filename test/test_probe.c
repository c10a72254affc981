/* SPDX-License-Identifier: Apache-2.0 */
/* agent/probe: thresholds, times and gates on a virtual clock, with commands that answer as the
 * test says; then each method against a server on this loop. */
#include "agent/probe/probe.h"

#include "agent/probe/probe_tally.h"
#include "base/buf.h"
#include "base/mem.h"
#include "io/grpc.h"
#include "io/http.h"
#include "io/tls.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>

static struct loop loop;

/* ---------------------------------------------------------------- tallies */

static const struct probe_rules readiness_rules = {
    .kind = PROBE_READINESS, .success_threshold = 2, .failure_threshold = 3, .period_ms = 10000
};

TEST(readiness_changes_after_its_thresholds)
{
    struct probe_tally t;
    probe_tally_init(&t, PROBE_READINESS);
    CHECK(!t.value);
    CHECK(!probe_tally_add(&t, &readiness_rules, PROBE_SUCCESS));
    CHECK(!probe_tally_add(&t, &readiness_rules, PROBE_FAILURE)); /* the row begins again */
    CHECK(!probe_tally_add(&t, &readiness_rules, PROBE_SUCCESS));
    CHECK(!probe_tally_add(&t, &readiness_rules, PROBE_UNKNOWN)); /* counts neither way */
    CHECK(probe_tally_add(&t, &readiness_rules, PROBE_WARNING));
    CHECK(t.value);
    CHECK(!probe_tally_add(&t, &readiness_rules, PROBE_FAILURE));
    CHECK(!probe_tally_add(&t, &readiness_rules, PROBE_FAILURE));
    CHECK(t.value);
    CHECK(probe_tally_add(&t, &readiness_rules, PROBE_FAILURE));
    CHECK(!t.value && !t.is_over);
}

TEST(liveness_is_true_until_it_fails_and_then_over)
{
    struct probe_rules rules = {
        .kind = PROBE_LIVENESS, .success_threshold = 1, .failure_threshold = 2, .period_ms = 1000
    };
    struct probe_tally t;
    probe_tally_init(&t, PROBE_LIVENESS);
    CHECK(t.value);
    CHECK(!probe_tally_add(&t, &rules, PROBE_FAILURE));
    CHECK(probe_tally_add(&t, &rules, PROBE_FAILURE));
    CHECK(!t.value && t.is_over);
    CHECK(!probe_tally_add(&t, &rules, PROBE_SUCCESS));
    CHECK(!t.value);
}

TEST(successes_move_to_multiples_of_the_period_and_failures_stay_in_time)
{
    struct probe_tally t;
    uint64_t due = 3210;
    probe_tally_init(&t, PROBE_READINESS);
    t.was_true = true;
    (void)probe_tally_add(&t, &readiness_rules, PROBE_SUCCESS);
    for (int i = 0; i < 10; i++) {
        uint64_t next = probe_next_ms(&t, &readiness_rules, due, due + 5);
        CHECK(next >= due + 10000 && next <= due + 11000);
        due = next;
    }
    CHECK_INT(due % 10000, 0);
    CHECK_INT(probe_next_ms(&t, &readiness_rules, due, due + 5), due + 10000);
    (void)probe_tally_add(&t, &readiness_rules, PROBE_FAILURE);
    CHECK_INT(probe_next_ms(&t, &readiness_rules, 777, 800), 10777);
    CHECK_INT(probe_next_ms(&t, &readiness_rules, 777, 20000), 20000); /* it took too long */
}

TEST(a_container_that_was_never_ready_is_asked_sooner)
{
    struct probe_rules rules = readiness_rules;
    struct probe_tally t;
    rules.is_cheap = true;
    probe_tally_init(&t, PROBE_READINESS);
    (void)probe_tally_add(&t, &rules, PROBE_FAILURE);
    CHECK(probe_tally_reports(&t, &rules, 0));
    uint64_t now = 0, n = 0;
    while (probe_next_ms(&t, &rules, now, now) < now + rules.period_ms) {
        now += (uint64_t)PROBE_EARLY_MS << n;
        n++;
        CHECK_INT(probe_tally_reports(&t, &rules, now), now >= rules.period_ms);
    }
    CHECK_INT(n, 7); /* 100 ms to 6.4 s */
}

/* ---------------------------------------------------------------- commands of the test */

struct fake_command {
    struct defer turn;
    void (*done)(void *arg, int r, int status, struct str output);
    void *arg;
    int r, status;
    bool never_ends;
};

struct world {
    struct probers *probers;
    struct container_probes *c;
    int r, status;   /* of the next commands */
    bool never_ends; /* until they are cancelled */
    unsigned n_run, n_running, most_running, n_cancelled;
    uint64_t last_ms;
    unsigned n_reports;
    struct probe_report last;
    char message[256];
    bool closes; /* close the container in on_result() */
};

static void on_command(struct defer *d)
{
    struct fake_command *f = container_of(d, struct fake_command, turn);
    f->done(f->arg, f->r, f->status, STR("output"));
    free(f);
}

static int fake_start(void *arg, void *container, const struct str *command, size_t n,
                      uint64_t timeout_ms,
                      void (*done)(void *done_arg, int r, int status, struct str output),
                      void *done_arg, void **ret, struct err *err)
{
    struct world *w = arg;
    struct fake_command *f = xnew(struct fake_command);
    *f = (struct fake_command){ .done = done, .arg = done_arg, .r = w->r, .status = w->status };
    w->n_run++;
    w->last_ms = loop_now_ms(&loop);
    f->never_ends = w->never_ends;
    w->n_running += w->never_ends;
    w->most_running = MAX(w->most_running, w->n_running);
    if (!w->never_ends)
        defer_start(&loop, &f->turn, on_command);
    *ret = f;
    return 0;
}

static void fake_cancel(void *arg, void *running)
{
    struct world *w = arg;
    struct fake_command *f = running;
    w->n_cancelled++;
    w->n_running -= f->never_ends;
    f->r = -ECANCELED;
    defer_start(&loop, &f->turn, on_command);
}

static struct world world;
static const struct probe_exec fake_exec = { fake_start, fake_cancel, &world };

static void on_result(void *arg, const struct probe_report *report)
{
    struct world *w = arg;
    w->n_reports++;
    w->last = *report;
    (void)snprintf(w->message, sizeof w->message, STR_FMT, STR_ARG(report->message));
    if (w->closes)
        container_probes_close(take_ptr(&w->c));
}

static void begin(void)
{
    CHECK_OK(loop_init(&loop, NULL));
    world = (struct world){ 0 };
    world.probers =
        probers_new(&(struct probers_opts){ .loop = &loop, .exec = &fake_exec, .seed = 7 });
}

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

static void finish(void)
{
    bool is_closed = false;
    if (world.c)
        container_probes_close(world.c);
    probers_close(world.probers, on_closed, &is_closed);
    while (!is_closed)
        (void)loop_turn(&loop, true);
    while (loop_turn(&loop, false))
        ;
    loop_fini(&loop);
}

/* Everything that is due until then. */
static void pass(uint64_t ms)
{
    uint64_t end = loop_now_ms(&loop) + ms;
    for (;;) {
        while (!loop_is_idle(&loop))
            (void)loop_turn(&loop, false);
        uint64_t next = loop_next_timer_ms(&loop), now = loop_now_ms(&loop);
        if (next > end)
            break;
        if (next > now)
            loop_skip(&loop, next - now);
        (void)loop_turn(&loop, false);
    }
    if (end > loop_now_ms(&loop))
        loop_skip(&loop, end - loop_now_ms(&loop));
}

static const struct str command[] = { { "check", 5 } };
static const struct probe_spec command_spec = { .method = PROBE_EXEC,
                                                .period_s = 10,
                                                .timeout_s = 1,
                                                .success_threshold = 1,
                                                .failure_threshold = 3,
                                                .grace_s = -1,
                                                .command = command,
                                                .n_command = 1 };

static struct container_probes_opts opts_of(const struct probe_spec *liveness,
                                            const struct probe_spec *readiness,
                                            const struct probe_spec *startup)
{
    return (struct container_probes_opts){
        .specs = { [PROBE_LIVENESS] = liveness,
                   [PROBE_READINESS] = readiness,
                   [PROBE_STARTUP] = startup },
        .address = STR("127.0.0.1"),
        .started_ms = loop_now_ms(&loop),
        .on_result = on_result,
        .arg = &world,
    };
}

static void start(const struct container_probes_opts *o)
{
    world.c = container_probes_start(world.probers, o);
    CHECK_INT(world.n_reports, 0);
}

TEST(a_container_without_probes_is_started_and_ready)
{
    begin();
    struct container_probes_opts o = opts_of(NULL, NULL, NULL);
    start(&o);
    CHECK(container_probes_is_started(world.c) && container_probes_is_ready(world.c));
    finish();
}

TEST(readiness_is_false_until_the_first_success)
{
    begin();
    struct container_probes_opts o = opts_of(NULL, &command_spec, NULL);
    start(&o);
    CHECK(!container_probes_is_ready(world.c));
    pass(0);
    CHECK_INT(world.n_run, 1); /* at once */
    CHECK(container_probes_is_ready(world.c));
    CHECK(world.last.has_changed && world.last.value && world.last.kind == PROBE_READINESS);
    pass(60000);
    CHECK(world.n_run >= 6 && world.n_run <= 7);
    CHECK_INT(world.n_reports, 1); /* nothing new to say */
    world.status = 1;
    pass(11000);
    CHECK(container_probes_is_ready(world.c));
    CHECK(world.last.outcome == PROBE_FAILURE && !world.last.has_changed);
    CHECK_STR(str_of(world.message), "output");
    pass(20000); /* the third, and perhaps the fourth: the period is that of the machine's clock */
    CHECK(!container_probes_is_ready(world.c) && !world.last.value && !world.last.must_end);
    finish();
}

TEST(the_initial_delay_counts_from_the_start_of_the_container)
{
    begin();
    struct probe_spec spec = command_spec;
    spec.initial_delay_s = 30;
    loop_skip(&loop, 100000);
    struct container_probes_opts o = opts_of(NULL, &spec, NULL);
    o.started_ms -= 20000;
    start(&o);
    pass(9999);
    CHECK_INT(world.n_run, 0);
    pass(1);
    CHECK_INT(world.n_run, 1);
    finish();
}

TEST(a_failed_liveness_probe_ends_the_container_and_no_other_runs)
{
    begin();
    struct probe_spec spec = command_spec;
    spec.grace_s = 5;
    world.status = 1;
    struct container_probes_opts o = opts_of(&spec, NULL, NULL);
    start(&o);
    pass(19999);
    CHECK_INT(world.n_run, 2);
    CHECK(!world.last.must_end && world.last.value);
    pass(1);
    CHECK_INT(world.n_run, 3);
    CHECK(world.last.must_end && world.last.has_changed && !world.last.value);
    CHECK_INT(world.last.grace_s, 5);
    pass(100000);
    CHECK_INT(world.n_run, 3);
    CHECK(container_probes_is_ready(world.c)); /* liveness says nothing about readiness */
    finish();
}

TEST(liveness_and_readiness_wait_for_startup)
{
    begin();
    struct probe_spec spec = command_spec;
    spec.failure_threshold = 30;
    world.status = 1;
    struct container_probes_opts o = opts_of(&command_spec, &command_spec, &spec);
    start(&o);
    pass(95000);
    CHECK_INT(world.n_run, 10);
    CHECK(!container_probes_is_started(world.c) && !container_probes_is_ready(world.c));
    world.status = 0;
    pass(5000);
    CHECK_INT(world.n_run, 13); /* startup, then both others at once */
    CHECK(container_probes_is_started(world.c) && container_probes_is_ready(world.c));
    pass(60000);
    CHECK(world.n_run >= 13 + 10 && world.n_run <= 13 + 12); /* startup is over */
    finish();
}

TEST(a_container_that_does_not_start_is_ended)
{
    begin();
    world.status = 1;
    struct container_probes_opts o = opts_of(NULL, &command_spec, &command_spec);
    start(&o);
    pass(100000);
    CHECK_INT(world.n_run, 3);
    CHECK(world.last.must_end && world.last.kind == PROBE_STARTUP);
    finish();
}

TEST(a_command_that_does_not_end_is_cancelled_and_fails)
{
    begin();
    world.never_ends = true;
    struct container_probes_opts o = opts_of(NULL, &command_spec, NULL);
    start(&o);
    pass(999);
    CHECK_INT(world.n_cancelled, 0);
    pass(1);
    CHECK_INT(world.n_cancelled, 1);
    CHECK(world.last.outcome == PROBE_FAILURE);
    CHECK(strstr(world.message, "timed out"));
    finish();
}

TEST(a_command_that_cannot_be_run_is_tried_again_and_counts_neither_way)
{
    begin();
    world.r = -ENOENT;
    struct container_probes_opts o = opts_of(&command_spec, NULL, NULL);
    start(&o);
    pass(0);
    CHECK_INT(world.n_run, PROBE_TRIES);
    CHECK(world.last.outcome == PROBE_UNKNOWN);
    pass(100000);
    CHECK(!world.last.must_end && world.last.value);
    finish();
}

TEST(a_container_may_be_closed_when_a_result_comes)
{
    begin();
    world.closes = true;
    world.status = 1;
    struct container_probes_opts o = opts_of(&command_spec, &command_spec, NULL);
    start(&o);
    pass(100000);
    CHECK_INT(world.n_reports, 1);
    CHECK(!world.c);
    finish();
}

TEST(the_end_of_a_pod_ends_liveness_and_not_readiness)
{
    begin();
    struct container_probes_opts o = opts_of(&command_spec, &command_spec, NULL);
    start(&o);
    pass(0);
    CHECK_INT(world.n_run, 2);
    container_probes_end_liveness(world.c);
    world.status = 1;
    pass(40000);
    CHECK(world.n_run >= 5 && world.n_run <= 6);
    CHECK(world.last.kind == PROBE_READINESS && !container_probes_is_ready(world.c));
    finish();
}

TEST(an_adopted_container_keeps_its_values_and_is_not_probed_at_once)
{
    begin();
    struct container_probes_opts o = opts_of(&command_spec, &command_spec, &command_spec);
    o.is_adopted = o.was_ready = o.was_started = true;
    start(&o);
    CHECK(container_probes_is_started(world.c) && container_probes_is_ready(world.c));
    pass(0);
    CHECK_INT(world.n_run, 0);
    pass(10000);
    CHECK_INT(world.n_run, 2);
    finish();
}

TEST(probes_of_many_containers_share_their_wake_ups)
{
    enum { N = 20 };
    struct container_probes *all[N];
    begin();
    for (int i = 0; i < N; i++) {
        struct container_probes_opts o = opts_of(NULL, &command_spec, NULL);
        all[i] = container_probes_start(world.probers, &o);
        pass(431);
    }
    pass(120000);
    world.n_run = 0;
    unsigned n_times = 0;
    for (uint64_t last = 0, end = loop_now_ms(&loop) + 60000; loop_now_ms(&loop) < end;) {
        pass(loop_next_timer_ms(&loop) - loop_now_ms(&loop));
        n_times += world.last_ms != last;
        last = world.last_ms;
    }
    CHECK(n_times <= 7);
    CHECK(world.n_run >= 6 * N);
    for (int i = 0; i < N; i++)
        container_probes_close(all[i]);
    finish();
}

TEST(only_a_bounded_number_of_probes_runs_at_a_time)
{
    enum { N = 2 * PROBES_BUSY };
    struct container_probes *all[N];
    begin();
    world.never_ends = true;
    for (int i = 0; i < N; i++) {
        struct container_probes_opts o = opts_of(NULL, &command_spec, NULL);
        all[i] = container_probes_start(world.probers, &o);
    }
    pass(500);
    CHECK_INT(world.n_run, PROBES_BUSY);
    pass(600);
    CHECK_INT(world.n_run, N);
    CHECK_INT(world.most_running, PROBES_BUSY);
    for (int i = 0; i < N; i++)
        container_probes_close(all[i]);
    finish();
}

/* ---------------------------------------------------------------- servers */

static struct http_server *server;
static struct grpc_server *health;
static struct {
    int status;
    size_t body_n;
    const char *location;
    char seen_host[64], seen_agent[64], seen_target[128], seen_extra[64];
    unsigned n;
    uint64_t health;
} answer;

static void copy_header(const struct http_request *req, const char *name, char to[64])
{
    (void)snprintf(to, 64, STR_FMT, STR_ARG(headers_get(req->headers, name)));
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct headers headers = { 0 };
    if (health && grpc_server_take(health, x, req))
        return;
    answer.n++;
    copy_header(req, "host", answer.seen_host);
    copy_header(req, "user-agent", answer.seen_agent);
    copy_header(req, "x-extra", answer.seen_extra);
    (void)snprintf(answer.seen_target, sizeof answer.seen_target, STR_FMT, STR_ARG(req->target));
    int status = str_is(req->target, "/moved") ? 200 : answer.status;
    if (answer.location && status != 200)
        CHECK_OK(headers_addc(&headers, "location", answer.location));
    char *body = xalloc(answer.body_n + 1);
    memset(body, 'b', answer.body_n);
    http_reply(x, status, &headers, str_n(body, answer.body_n));
    free(body);
    headers_fini(&headers);
}

static void on_check(struct grpc_stream *st, struct str message)
{
    char reply[2] = { 1 << 3, (char)answer.health };
    (void)snprintf(answer.seen_extra, sizeof answer.seen_extra, "%.*s",
                   message.n > 2 ? (int)message.n - 2 : 0, message.p + 2);
    if (answer.health == 9)
        grpc_stream_end(st, GRPC_INTERNAL, "broken", NULL);
    else
        grpc_stream_reply(st, str_n(reply, sizeof reply));
}

static void on_health(struct grpc_stream *st, void *arg)
{
    static const struct grpc_stream_ops ops = { .on_message = on_check };
    grpc_stream_set(st, &ops, NULL);
}

static void serve(struct tls_ctx *tls, bool http2)
{
    struct err err = { 0 };
    struct http_server_opts o = {
        .host = "127.0.0.1", .tls = tls, .http2 = http2, .on_request = on_request
    };
    memset(&answer, 0, sizeof answer);
    answer.status = 200;
    answer.health = 1;
    if (http_server_start(&loop, &o, &server, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
}

static void stop_serving(void)
{
    bool is_closed = false;
    http_server_close(server, 0, on_closed, &is_closed);
    while (!is_closed)
        (void)loop_turn(&loop, true);
    server = NULL;
}

/* One container with this readiness probe, until its first report. */
static void probe_once(const struct probe_spec *spec)
{
    struct container_probes_opts o = opts_of(spec, NULL, NULL);
    struct probe_spec once = *spec;
    once.period_s = 1000;
    once.timeout_s = 5;
    once.success_threshold = 1;
    once.failure_threshold = 1;
    once.grace_s = -1;
    o.specs[PROBE_LIVENESS] = NULL;
    o.specs[PROBE_STARTUP] = &once;
    world.n_reports = 0;
    start(&o);
    while (!world.n_reports)
        (void)loop_turn(&loop, true);
    container_probes_close(take_ptr(&world.c));
}

#define OUTCOME(want) CHECK_INT(world.last.outcome, want)

TEST(http_statuses_below_400_are_a_success)
{
    begin();
    serve(NULL, false);
    const struct probe_header headers[] = { { STR("Host"), STR("name.example") },
                                            { STR("X-Extra"), STR("more") } };
    struct probe_spec spec = { .method = PROBE_HTTP,
                               .port = http_server_port(server),
                               .path = STR("/healthz?full=1") };
    probe_once(&spec);
    OUTCOME(PROBE_SUCCESS);
    CHECK_STR(str_of(answer.seen_target), "/healthz?full=1");
    CHECK(strncmp(answer.seen_host, "127.0.0.1:", 10) == 0);
    CHECK(strncmp(answer.seen_agent, "kube-probe/", 11) == 0);
    spec.headers = headers;
    spec.n_headers = 2;
    spec.path = STR("");
    answer.body_n = 3 * PROBE_BODY_MAX; /* more than is read */
    probe_once(&spec);
    OUTCOME(PROBE_SUCCESS);
    CHECK_STR(str_of(answer.seen_host), "name.example");
    CHECK_STR(str_of(answer.seen_extra), "more");
    CHECK_STR(str_of(answer.seen_target), "/");
    answer.status = 503;
    probe_once(&spec);
    OUTCOME(PROBE_FAILURE);
    CHECK_STR(str_of(world.message), "HTTP probe failed with statuscode: 503");
    stop_serving();
    probe_once(&spec); /* nobody listens */
    OUTCOME(PROBE_FAILURE);
    CHECK(strstr(world.message, "Connection refused"));
    finish();
}

TEST(redirects_to_the_same_host_are_followed)
{
    begin();
    serve(NULL, false);
    struct probe_spec spec = { .method = PROBE_HTTP, .port = http_server_port(server) };
    answer.status = 302;
    answer.location = "/moved";
    probe_once(&spec);
    OUTCOME(PROBE_SUCCESS);
    CHECK_INT(answer.n, 2);
    answer.location = "http://other.example/";
    probe_once(&spec);
    OUTCOME(PROBE_WARNING);
    CHECK(strstr(world.message, "Probe terminated redirects"));
    answer.location = NULL;
    probe_once(&spec);
    OUTCOME(PROBE_WARNING);
    answer.location = "/again";
    answer.n = 0;
    probe_once(&spec);
    OUTCOME(PROBE_FAILURE);
    CHECK_INT(answer.n, PROBE_REDIRECTS_MAX);
    CHECK(strstr(world.message, "stopped after 10 redirects"));
    stop_serving();
    finish();
}

TEST(https_probes_do_not_verify_certificates)
{
    struct buf ca = BUF_INIT(65536), ca_key = BUF_INIT(65536), cert = BUF_INIT(65536),
               key = BUF_INIT(65536);
    const char *const names[] = { "elsewhere.example" };
    struct tls_ctx *tls = NULL;
    begin();
    CHECK_OK(x509_make_ca("test", &ca, &ca_key, NULL));
    CHECK_OK(x509_make_server(buf_str(&ca), buf_str(&ca_key), "x", names, 1, 1, &cert, &key, NULL));
    CHECK_OK(tls_ctx_new_server(buf_str(&cert), buf_str(&key), STR_NULL, &tls, NULL));
    serve(tls, false);
    struct probe_spec spec = { .method = PROBE_HTTP,
                               .is_https = true,
                               .port = http_server_port(server) };
    probe_once(&spec);
    OUTCOME(PROBE_SUCCESS);
    stop_serving();
    finish();
    tls_ctx_free(tls);
    buf_fini(&ca);
    buf_fini(&ca_key);
    buf_fini(&cert);
    buf_fini(&key);
}

TEST(a_tcp_connection_is_a_success)
{
    begin();
    serve(NULL, false);
    struct probe_spec spec = { .method = PROBE_TCP, .port = http_server_port(server) };
    probe_once(&spec);
    OUTCOME(PROBE_SUCCESS);
    spec.host = STR("localhost");
    probe_once(&spec);
    OUTCOME(PROBE_SUCCESS);
    stop_serving();
    spec.host = STR("");
    probe_once(&spec);
    OUTCOME(PROBE_FAILURE);
    CHECK(strstr(world.message, "dial tcp 127.0.0.1:") && strstr(world.message, "refused"));
    finish();
}

TEST(the_grpc_health_service_decides)
{
    begin();
    health = grpc_server_new(&loop);
    grpc_server_add(health, "/grpc.health.v1.Health/Check", 0, on_health, NULL);
    serve(NULL, true);
    struct probe_spec spec = { .method = PROBE_GRPC,
                               .port = http_server_port(server),
                               .service = STR("storage") };
    probe_once(&spec);
    OUTCOME(PROBE_SUCCESS);
    CHECK_STR(str_of(answer.seen_extra), "storage");
    answer.health = 2;
    spec.service = STR("");
    probe_once(&spec);
    OUTCOME(PROBE_FAILURE);
    CHECK_STR(str_of(world.message), "service unhealthy (responded with \"NOT_SERVING\")");
    answer.health = 9;
    probe_once(&spec);
    OUTCOME(PROBE_FAILURE);
    CHECK(strstr(world.message, "INTERNAL") && strstr(world.message, "broken"));
    stop_serving();
    probe_once(&spec);
    OUTCOME(PROBE_FAILURE);
    CHECK(strstr(world.message, "failed to connect service at"));
    grpc_server_free(health);
    health = NULL;
    finish();
}

TEST(a_server_that_does_not_answer_fails_after_the_timeout)
{
    struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t n = sizeof addr;
    const enum probe_method methods[] = { PROBE_HTTP, PROBE_GRPC };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_OK(fd);
    CHECK_OK(bind(fd, (struct sockaddr *)&addr, n));
    CHECK_OK(listen(fd, 8));
    CHECK_OK(getsockname(fd, (struct sockaddr *)&addr, &n));
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        begin();
        struct probe_spec spec = command_spec;
        spec.method = methods[i];
        spec.port = ntohs(addr.sin_port);
        struct container_probes_opts o = opts_of(&spec, NULL, NULL);
        start(&o);
        pass(999);
        CHECK_INT(world.n_reports, 0);
        pass(10);
        CHECK_INT(world.n_reports, 1);
        OUTCOME(PROBE_FAILURE);
        CHECK(strstr(world.message, "within 1s"));
        finish();
    }
    (void)close(fd);
}

TEST_MAIN
