/* SPDX-License-Identifier: Apache-2.0 */
/* fn/worker: the role, driven by a control plane that the test plays, with fake sandboxes. */
#include "base/sys.h"
#include "base/vec.h"
#include "fn/worker/fake.h"
#include "fn/worker/logs.h"
#include "fn/worker/simulate.h"
#include "fn/worker/worker.h"
#include "fn/worker/worker_http.h"
#include "io/tls.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>

typedef Dormouse__Fn__V1__WorkerReport report;
typedef Dormouse__Fn__V1__WorkerOrder order;

struct rig {
    struct fn_dialer dialer;
    struct loop loop;
    struct worker *w;
    struct fn_stream *s; /* our end of the newest stream */
    char address[64];    /* of the last dial */
    unsigned dials, ends;
    report *hello;
    VEC(report *) all; /* of the newest stream, without the hello */
    bool stopped;
    uint64_t term;
};

static void on_report(void *arg, const ProtobufCMessage *m)
{
    struct rig *r = arg;
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = xalloc(n + 1);
    (void)protobuf_c_message_pack(m, bytes);
    report *copy = dormouse__fn__v1__worker_report__unpack(NULL, n, bytes);
    free(bytes);
    if (copy->hello) {
        if (r->hello)
            dormouse__fn__v1__worker_report__free_unpacked(r->hello, NULL);
        r->hello = copy;
        return;
    }
    vec_push(&r->all, copy);
}

static void on_end(void *arg, int code, const struct err *err)
{
    struct rig *r = arg;
    r->ends++;
    fn_stream_close(take_ptr(&r->s));
}

static const struct fn_stream_ops ops = { .on_message = on_report, .on_end = on_end };

static void forget_reports(struct rig *r)
{
    vec_each (m, &r->all)
        dormouse__fn__v1__worker_report__free_unpacked(*m, NULL);
    r->all.n = 0;
}

static struct fn_stream *dial(struct fn_dialer *d, const ProtobufCMessageDescriptor *in,
                              const char *address)
{
    struct rig *r = container_of(d, struct rig, dialer);
    struct fn_stream *theirs;
    fn_stream_close(r->s);
    forget_reports(r);
    fn_stream_pair(&r->loop, in, &dormouse__fn__v1__worker_report__descriptor, &theirs, &r->s);
    fn_stream_set(r->s, &ops, r);
    (void)snprintf(r->address, sizeof r->address, "%s", address);
    r->dials++;
    return theirs;
}

static const struct fn_dialer_ops dialer_ops = { .dial = dial };

static void turns(struct rig *r)
{
    for (int i = 0; i < 20; i++)
        (void)loop_turn(&r->loop, false);
}

static void rig_init_with(struct rig *r, struct guest_logs *logs)
{
    *r = (struct rig){ .dialer.ops = &dialer_ops, .term = 5 };
    CHECK_OK(loop_init(&r->loop, NULL));
    struct worker_label label = { "zone", "a" };
    struct worker_opts o = { .loop = &r->loop,
                             .name = "w-0",
                             .incarnation = 3,
                             .dialer = &r->dialer,
                             .address = "127.0.0.1:99",
                             .cpu_milli = 2000,
                             .memory_bytes = 1 << 30,
                             .labels = &label,
                             .n_labels = 1,
                             .n_runtimes = 1,
                             .logs = logs,
                             .is_simulated = true };
    o.runtimes[0] = fake_runtime_new(&r->loop, 0, 1);
    CHECK_OK(worker_start(&o, &r->w, NULL));
    turns(r);
}

static void rig_init(struct rig *r)
{
    rig_init_with(r, NULL);
}

static void on_stopped(void *arg)
{
    ((struct rig *)arg)->stopped = true;
}

static void rig_fini(struct rig *r)
{
    worker_stop(r->w, 0, on_stopped, r);
    for (int i = 0; i < 100 && !r->stopped; i++)
        turns(r);
    CHECK(r->stopped);
    turns(r);
    fn_stream_close(r->s);
    forget_reports(r);
    vec_fini(&r->all);
    if (r->hello)
        dormouse__fn__v1__worker_report__free_unpacked(r->hello, NULL);
    turns(r);
    loop_fini(&r->loop);
}

static void send_order(struct rig *r, const order *m)
{
    fn_stream_send(r->s, &m->base);
    turns(r);
}

static void send_welcome(struct rig *r, uint64_t term, uint32_t lease_ms)
{
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__Welcome w = DORMOUSE__FN__V1__WELCOME__INIT;
    w.term = term;
    w.leader = (char *)(uintptr_t) "cp-0";
    w.lease_ms = lease_ms;
    m.welcome = &w;
    send_order(r, &m);
}

static void send_function(struct rig *r, uint32_t number, const char *uid, const char *spec)
{
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__Function f = DORMOUSE__FN__V1__FUNCTION__INIT, *fs[] = { &f };
    Dormouse__Fn__V1__Revision v = DORMOUSE__FN__V1__REVISION__INIT, *vs[] = { &v };
    f.function = number;
    f.uid = (char *)(uintptr_t)uid;
    f.namespace_ = (char *)(uintptr_t) "default";
    f.name = (char *)(uintptr_t) "hello";
    v.revision = 1;
    v.spec.data = (uint8_t *)(uintptr_t)spec;
    v.spec.len = strlen(spec);
    f.revisions = vs;
    f.n_revisions = 1;
    m.functions = fs;
    m.n_functions = 1;
    send_order(r, &m);
}

#define FAKE_SPEC "{\"fake\":{\"createMilliseconds\":40}}"

static void queue_create(struct rig *r, uint64_t id, uint32_t function)
{
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__Create c = DORMOUSE__FN__V1__CREATE__INIT, *cs[] = { &c };
    c.sandbox = id;
    c.function = function;
    c.revision = 1;
    m.creates = cs;
    m.n_creates = 1;
    fn_stream_send(r->s, &m.base);
}

static void send_create(struct rig *r, uint64_t id, uint32_t function)
{
    queue_create(r, id, function);
    turns(r);
}

static void send_delete(struct rig *r, uint64_t id)
{
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__Delete d = DORMOUSE__FN__V1__DELETE__INIT, *ds[] = { &d };
    d.sandbox = id;
    m.deletes = ds;
    m.n_deletes = 1;
    send_order(r, &m);
}

static void send_adopt(struct rig *r, uint64_t id, uint32_t function)
{
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__Adopt a = DORMOUSE__FN__V1__ADOPT__INIT, *as[] = { &a };
    a.sandbox = id;
    a.function = function;
    m.adopts = as;
    m.n_adopts = 1;
    send_order(r, &m);
}

static void skip(struct rig *r, uint64_t ms)
{
    loop_skip(&r->loop, ms);
    turns(r);
}

/* The control plane goes, and the worker dials anew. */
static void lose(struct rig *r)
{
    fn_stream_close(take_ptr(&r->s));
    turns(r);
    skip(r, WORKER_RECONNECT_MAX_MS);
}

static const Dormouse__Fn__V1__Created *find_created(struct rig *r, uint64_t id, int *n)
{
    const Dormouse__Fn__V1__Created *found = NULL;
    *n = 0;
    vec_each (m, &r->all)
        for (size_t i = 0; i < (*m)->n_created; i++)
            if ((*m)->created[i]->sandbox == id) {
                found = (*m)->created[i];
                ++*n;
            }
    return found;
}

static const Dormouse__Fn__V1__Gone *find_gone(struct rig *r, uint64_t id)
{
    vec_each (m, &r->all)
        for (size_t i = 0; i < (*m)->n_gone; i++)
            if ((*m)->gone[i]->sandbox == id)
                return (*m)->gone[i];
    return NULL;
}

static void make_ready(struct rig *r, uint64_t id)
{
    send_welcome(r, r->term, 0);
    send_function(r, 1, "u-1", FAKE_SPEC);
    send_create(r, id, 1);
    skip(r, 40);
}

/* ---------------------------------------------------------------- the stream */

TEST(a_hello_says_who_it_is_and_what_it_offers)
{
    struct rig r;
    rig_init(&r);
    CHECK(r.hello);
    const Dormouse__Fn__V1__WorkerHello *h = r.hello->hello;
    CHECK_STR(str_of(h->name), "w-0");
    CHECK_INT(h->incarnation, 3);
    CHECK_STR(str_of(h->address), "127.0.0.1:99");
    CHECK_INT(h->cpu_milli, 2000);
    CHECK_INT(h->n_labels, 1);
    CHECK_STR(str_of(h->labels[0]->value), "a");
    CHECK_INT(h->n_runtimes, 1);
    CHECK_STR(str_of(h->runtimes[0]), "fake");
    CHECK_INT(h->n_sandboxes, 0);
    CHECK(r.hello->load);
    rig_fini(&r);
}

TEST(a_sandbox_is_created_called_for_and_deleted)
{
    struct rig r;
    int n;
    rig_init(&r);
    send_welcome(&r, 5, 0);
    send_function(&r, 1, "u-1", FAKE_SPEC);
    send_create(&r, 77, 1);
    CHECK(!find_created(&r, 77, &n));
    skip(&r, 40);
    const Dormouse__Fn__V1__Created *c = find_created(&r, 77, &n);
    CHECK(c && n == 1 && !c->error[0] && c->by_worker);
    CHECK_STR(str_of(c->address), "127.0.0.1:99");
    CHECK(c->breakdown && c->breakdown->total >= 40000);
    send_delete(&r, 77);
    CHECK(find_gone(&r, 77));
    CHECK_STR(str_of(find_gone(&r, 77)->reason), "");
    rig_fini(&r);
}

TEST(a_create_that_comes_again_makes_no_second_sandbox_and_is_answered)
{
    struct rig r;
    struct worker_counts counts;
    int n;
    rig_init(&r);
    send_welcome(&r, 5, 0);
    send_function(&r, 1, "u-1", FAKE_SPEC);
    send_create(&r, 77, 1);
    send_create(&r, 77, 1); /* while it is being created: one answer will do for both */
    skip(&r, 40);
    CHECK(find_created(&r, 77, &n) && n == 1);
    send_create(&r, 77, 1);
    CHECK(find_created(&r, 77, &n) && n == 2);
    worker_count(r.w, &counts);
    CHECK_INT(counts.ready, 1);
    CHECK_INT(counts.created, 1);
    rig_fini(&r);
}

TEST(deleting_what_is_not_there_is_answered_as_deleted)
{
    struct rig r;
    rig_init(&r);
    send_welcome(&r, 5, 0);
    send_delete(&r, 4711);
    CHECK(find_gone(&r, 4711));
    rig_fini(&r);
}

TEST(a_sandbox_deleted_while_it_is_created_is_gone_and_never_ready)
{
    struct rig r;
    int n;
    rig_init(&r);
    send_welcome(&r, 5, 0);
    send_function(&r, 1, "u-1", FAKE_SPEC);
    send_create(&r, 77, 1);
    send_delete(&r, 77);
    skip(&r, 100);
    CHECK(!find_created(&r, 77, &n));
    CHECK(find_gone(&r, 77));
    rig_fini(&r);
}

TEST(what_cannot_be_created_says_why_and_whether_for_good)
{
    struct rig r;
    int n;
    rig_init(&r);
    send_welcome(&r, 5, 0);
    send_create(&r, 1, 9);
    const Dormouse__Fn__V1__Created *c = find_created(&r, 1, &n);
    CHECK(c && strstr(c->error, "does not know") && !c->is_permanent);
    send_function(&r, 2, "u-2", "{\"image\":{\"bundle\":\"/b\"}}");
    send_create(&r, 2, 2);
    c = find_created(&r, 2, &n);
    CHECK(c && strstr(c->error, "no runtime 'oci'") && !c->is_permanent);
    send_function(&r, 3, "u-3", "{\"module\":7,\"fake\":{}}");
    send_create(&r, 3, 3);
    c = find_created(&r, 3, &n);
    CHECK(c && c->error[0] && c->is_permanent);
    rig_fini(&r);
}

TEST(what_happens_in_one_turn_is_one_report)
{
    struct rig r;
    rig_init(&r);
    send_welcome(&r, 5, 0);
    send_function(&r, 1, "u-1", "{\"fake\":{}}");
    forget_reports(&r);
    for (uint64_t i = 1; i <= 500; i++)
        queue_create(&r, i, 1);
    skip(&r, 1);
    size_t n = 0;
    vec_each (m, &r.all)
        n += (*m)->n_created;
    CHECK_INT(n, 500);
    CHECK(r.all.n <= 4); /* a stream hands over 256 messages in a turn */
    rig_fini(&r);
}

TEST(reports_are_numbered_from_the_hello_on)
{
    struct rig r;
    rig_init(&r);
    make_ready(&r, 1);
    send_delete(&r, 1);
    CHECK_INT(r.hello->seq, 1);
    for (size_t i = 0; i < r.all.n; i++)
        CHECK_INT(r.all.p[i]->seq, i + 2);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- terms */

TEST(an_earlier_term_is_refused_and_changes_nothing)
{
    struct rig r;
    struct worker_counts counts;
    rig_init(&r);
    make_ready(&r, 1);
    lose(&r);
    CHECK_INT(r.dials, 2);
    CHECK_INT(r.hello->hello->highest_term, 5);
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT; /* the deposed leader deletes it at once */
    Dormouse__Fn__V1__Welcome w = DORMOUSE__FN__V1__WELCOME__INIT;
    Dormouse__Fn__V1__Delete d = DORMOUSE__FN__V1__DELETE__INIT, *ds[] = { &d };
    w.term = 4;
    d.sandbox = 1;
    m.welcome = &w;
    m.deletes = ds;
    m.n_deletes = 1;
    send_order(&r, &m);
    worker_count(r.w, &counts);
    CHECK_INT(counts.refused, 1);
    CHECK_INT(counts.ready, 1);
    CHECK_INT(counts.term, 5);
    skip(&r, 1000);
    CHECK_INT(r.dials, 3);
    rig_fini(&r);
}

TEST(orders_without_a_welcome_end_the_stream)
{
    struct rig r;
    struct worker_counts counts;
    rig_init(&r);
    send_create(&r, 1, 1);
    CHECK_INT(r.ends, 1);
    worker_count(r.w, &counts);
    CHECK(!counts.is_welcome);
    rig_fini(&r);
}

TEST(a_redirect_is_followed)
{
    struct rig r;
    rig_init(&r);
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__Redirect to = DORMOUSE__FN__V1__REDIRECT__INIT;
    to.address = (char *)(uintptr_t) "10.0.0.7:9";
    m.redirect = &to;
    send_order(&r, &m);
    skip(&r, 20);
    CHECK_INT(r.dials, 2);
    CHECK_STR(str_of(r.address), "10.0.0.7:9");
    rig_fini(&r);
}

TEST(who_gets_no_welcome_dials_again_and_waits_longer_each_time)
{
    struct rig r;
    rig_init(&r);
    skip(&r, WORKER_WELCOME_MS);
    skip(&r, 20);
    CHECK_INT(r.dials, 2);
    uint64_t last = 0;
    for (int i = 0; i < 8; i++) {
        fn_stream_close(take_ptr(&r.s));
        turns(&r);
        last = loop_next_timer_ms(&r.loop) - loop_now_ms(&r.loop);
        CHECK(last <= WORKER_RECONNECT_MAX_MS);
        skip(&r, WORKER_RECONNECT_MAX_MS);
    }
    CHECK(last >= WORKER_RECONNECT_MAX_MS / 2);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- lost control planes */

TEST(sandboxes_live_on_without_a_control_plane_and_the_next_hello_tells_them)
{
    struct rig r;
    struct worker_counts counts;
    rig_init(&r);
    make_ready(&r, 1);
    send_create(&r, 2, 1);
    lose(&r);
    worker_count(r.w, &counts);
    CHECK_INT(counts.ready, 2);
    CHECK_INT(r.hello->hello->n_sandboxes, 2);
    for (int i = 0; i < 2; i++) {
        const Dormouse__Fn__V1__Existing *x = r.hello->hello->sandboxes[i];
        CHECK_STR(str_of(x->function_uid), "u-1");
        CHECK_INT(x->revision, 1);
        CHECK(x->by_worker == x->is_ready);
    }
    rig_fini(&r);
}

TEST(what_is_not_adopted_is_removed_in_time_and_what_is_adopted_stays)
{
    struct rig r;
    struct worker_counts counts;
    rig_init(&r);
    make_ready(&r, 1);
    send_create(&r, 2, 1);
    skip(&r, 40);
    lose(&r);
    send_welcome(&r, 6, 0);
    send_adopt(&r, 2, 1);
    skip(&r, WORKER_ORPHAN_MS - 100);
    worker_count(r.w, &counts);
    CHECK_INT(counts.ready, 2);
    skip(&r, 200);
    worker_count(r.w, &counts);
    CHECK_INT(counts.ready, 1);
    CHECK(find_gone(&r, 1));
    CHECK(!find_gone(&r, 2));
    rig_fini(&r);
}

TEST(numbers_of_functions_are_those_of_the_newest_welcome)
{
    struct rig r;
    int n;
    rig_init(&r);
    make_ready(&r, 1);
    lose(&r);
    send_welcome(&r, 6, 0);
    send_create(&r, 3, 1); /* 1 was a number of the term before */
    CHECK(find_created(&r, 3, &n)->error[0]);
    send_function(&r, 8, "u-1", FAKE_SPEC);
    send_create(&r, 4, 8);
    skip(&r, 40);
    CHECK(!find_created(&r, 4, &n)->error[0]);
    rig_fini(&r);
}

TEST(the_log_of_a_deleted_function_goes)
{
    struct rig r;
    char dir[] = "/tmp/test-fn-worker-XXXXXX";
    CHECK(mkdtemp(dir));
    struct guest_logs *logs = guest_logs_new(dir);
    rig_init_with(&r, logs);
    make_ready(&r, 1);
    struct runtime_revision rev = { .namespace = "default", .function = "hello", .revision = 1 };
    fn_log_output(logs, &rev, 1, STR(""), "stdout", STR("a line"));
    scoped(free_scoped) char *path = guest_log_path(dir, "default", "hello", false);
    CHECK_OK(access(path, F_OK));
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    uint32_t gone[] = { 1 };
    m.functions_gone = gone;
    m.n_functions_gone = 1;
    send_order(&r, &m);
    CHECK(access(path, F_OK) < 0);
    rig_fini(&r);
    guest_logs_free(logs);
    *strrchr(path, '/') = '\0';
    (void)rmdir(path);
    (void)rmdir(dir);
}

static void send_rest(struct rig *r, uint32_t function, bool is_deleted)
{
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__Function f = DORMOUSE__FN__V1__FUNCTION__INIT, *fs[] = { &f };
    f.namespace_ = (char *)(uintptr_t) "default";
    f.name = (char *)(uintptr_t) "hello";
    if (is_deleted) {
        m.functions_deleted = fs;
        m.n_functions_deleted = 1;
    } else {
        m.functions_resting = &function;
        m.n_functions_resting = 1;
    }
    send_order(r, &m);
}

static uint32_t revisions_of(struct rig *r)
{
    struct worker_counts n;
    worker_count(r->w, &n);
    return n.revisions;
}

TEST(what_rests_is_forgotten_but_for_its_log_and_told_again)
{
    struct rig r;
    int n;
    char dir[] = "/tmp/test-fn-worker-XXXXXX";
    CHECK(mkdtemp(dir));
    struct guest_logs *logs = guest_logs_new(dir);
    rig_init_with(&r, logs);
    make_ready(&r, 1);
    struct runtime_revision rev = { .namespace = "default", .function = "hello", .revision = 1 };
    fn_log_output(logs, &rev, 1, STR(""), "stdout", STR("a line"));
    scoped(free_scoped) char *path = guest_log_path(dir, "default", "hello", false);
    send_rest(&r, 1, false);
    CHECK_INT(revisions_of(&r), 1); /* its sandbox has not gone */
    send_delete(&r, 1);
    skip(&r, 40);
    CHECK_INT(revisions_of(&r), 0);
    send_function(&r, 1, "u-1", FAKE_SPEC);
    send_create(&r, 2, 1);
    skip(&r, 40);
    CHECK(!find_created(&r, 2, &n)->error[0]);
    send_delete(&r, 2);
    skip(&r, 40);
    CHECK_INT(revisions_of(&r), 1);
    send_rest(&r, 1, false);
    CHECK_INT(revisions_of(&r), 0);
    CHECK_OK(access(path, F_OK));
    send_rest(&r, 1, true);
    CHECK(access(path, F_OK) < 0);
    rig_fini(&r);
    guest_logs_free(logs);
    *strrchr(path, '/') = '\0';
    (void)rmdir(path);
    (void)rmdir(dir);
}

/* ---------------------------------------------------------------- leases */

TEST(a_lease_is_kept_by_reports_four_times_as_often_and_rests_without_one)
{
    struct rig r;
    rig_init(&r);
    send_welcome(&r, 5, 2000);
    forget_reports(&r);
    for (int i = 0; i < 80; i++)
        skip(&r, 50);
    CHECK(r.all.n >= 7 && r.all.n <= 9);
    CHECK(r.all.p[0]->load);
    forget_reports(&r);
    send_welcome(&r, 6, 0);
    skip(&r, WORKER_ORPHAN_MS);
    forget_reports(&r);
    CHECK_INT(loop_next_timer_ms(&r.loop), UINT64_MAX);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- calls */

struct answer {
    struct exchange *x;
    int status, ends, r;
    char reason[40];
    struct buf body;
    bool trailer;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct answer *)arg)->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    (void)buf_add_str(&((struct answer *)arg)->body, chunk);
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    ((struct answer *)arg)->trailer = str_is(headers_get(trailers, "x-fake-trailer"), "t");
}

static void on_call_end(void *arg, int r, const struct err *err)
{
    struct answer *a = arg;
    a->ends++;
    a->r = r;
    (void)snprintf(a->reason, sizeof a->reason, "%s", exchange_reason(a->x));
}

static const struct exchange_events call_events = {
    .on_head = on_head, .on_data = on_data, .on_trailers = on_trailers, .on_end = on_call_end
};

static struct exchange *call(struct rig *r, uint64_t id, const char *name, const char *value,
                             const char *body, struct answer *a)
{
    struct headers h = { 0 };
    *a = (struct answer){ 0 };
    buf_init(&a->body, 1 << 20);
    if (name)
        CHECK_OK(headers_addc(&h, name, value));
    struct invoke_request req = { .sandbox = id,
                                  .method = STR("POST"),
                                  .target = STR("/"),
                                  .headers = &h,
                                  .has_body = body[0] != 0,
                                  .body = str_of(body),
                                  .body_is_whole = true };
    CHECK_OK(invoke_start(worker_invoker(r->w), &req, &call_events, a, &a->x, NULL));
    headers_fini(&h);
    CHECK_INT(a->ends, 0);
    return a->x;
}

TEST(a_fake_sandbox_echoes_and_does_as_it_is_asked)
{
    struct rig r;
    struct answer a;
    rig_init(&r);
    make_ready(&r, 1);
    (void)call(&r, 1, NULL, NULL, "hello", &a);
    turns(&r);
    CHECK_INT(a.status, 200);
    CHECK_STR(buf_str(&a.body), "hello");
    CHECK_INT(a.ends, 1);
    CHECK_INT(a.r, 0);
    buf_fini(&a.body);
    (void)call(&r, 1, "x-fake-status", "418", "", &a);
    turns(&r);
    CHECK_INT(a.status, 418);
    buf_fini(&a.body);
    (void)call(&r, 1, "x-fake-bytes", "100000", "ignored", &a);
    turns(&r);
    CHECK_INT(a.body.n, 100000);
    buf_fini(&a.body);
    (void)call(&r, 1, "x-fake-trailer", "t", "", &a);
    turns(&r);
    CHECK(a.trailer);
    buf_fini(&a.body);
    (void)call(&r, 1, "x-fake-end", "trap", "", &a);
    turns(&r);
    CHECK_INT(a.r, E_TRAP);
    CHECK_STR(str_of(a.reason), "GuestTrapped");
    buf_fini(&a.body);
    (void)call(&r, 1, "x-fake-sleep-ms", "5000", "", &a);
    turns(&r);
    CHECK_INT(a.ends, 0);
    skip(&r, 5000);
    CHECK_INT(a.ends, 1);
    buf_fini(&a.body);
    rig_fini(&r);
}

TEST(a_call_can_be_cancelled_paused_and_fed_later)
{
    struct rig r;
    struct answer a;
    rig_init(&r);
    make_ready(&r, 1);
    (void)call(&r, 1, "x-fake-sleep-ms", "100000", "", &a);
    turns(&r);
    exchange_cancel(a.x);
    CHECK_INT(a.ends, 0);
    turns(&r);
    CHECK_INT(a.r, -ECANCELED);
    buf_fini(&a.body);
    (void)call(&r, 1, "x-fake-bytes", "900000", "", &a);
    exchange_pause(a.x);
    turns(&r);
    CHECK_INT(a.body.n, 0);
    exchange_resume(a.x);
    turns(&r);
    CHECK_INT(a.body.n, 900000);
    CHECK_INT(a.ends, 1);
    buf_fini(&a.body);
    struct invoke_request req = { .sandbox = 1,
                                  .method = STR("POST"),
                                  .target = STR("/"),
                                  .has_body = true,
                                  .body_bytes = UINT64_MAX,
                                  .body = STR("one ") };
    a = (struct answer){ .body = BUF_INIT(1 << 20) };
    CHECK_OK(invoke_start(worker_invoker(r.w), &req, &call_events, &a, &a.x, NULL));
    turns(&r);
    CHECK_STR(buf_str(&a.body), "one ");
    CHECK(exchange_write(a.x, STR("two")));
    turns(&r);
    exchange_end_body(a.x, NULL);
    turns(&r);
    CHECK_STR(buf_str(&a.body), "one two");
    CHECK_INT(a.ends, 1);
    buf_fini(&a.body);
    rig_fini(&r);
}

TEST(a_sandbox_that_dies_is_reported_and_its_calls_end)
{
    struct rig r;
    struct answer a, b;
    rig_init(&r);
    make_ready(&r, 1);
    (void)call(&r, 1, "x-fake-sleep-ms", "100000", "", &a);
    (void)call(&r, 1, "x-fake-end", "die", "", &b);
    turns(&r);
    CHECK_INT(a.r, -ECONNRESET);
    CHECK_INT(b.r, -ECONNRESET);
    CHECK(find_gone(&r, 1) && find_gone(&r, 1)->reason[0]);
    struct invoke_request req = { .sandbox = 1, .method = STR("GET"), .target = STR("/") };
    CHECK_ERR(invoke_start(worker_invoker(r.w), &req, &call_events, &a, &a.x, NULL), -ECONNREFUSED);
    buf_fini(&a.body);
    buf_fini(&b.body);
    rig_fini(&r);
}

TEST(a_stop_says_so_and_waits_for_the_control_plane_to_delete)
{
    struct rig r;
    rig_init(&r);
    make_ready(&r, 1);
    worker_stop(r.w, 10000, on_stopped, &r);
    turns(&r);
    CHECK(r.all.p[r.all.n - 1]->leaving);
    CHECK(!r.stopped);
    int n;
    send_create(&r, 2, 1);
    CHECK(find_created(&r, 2, &n)->error[0]);
    send_delete(&r, 1);
    CHECK(find_gone(&r, 1));
    turns(&r);
    CHECK(r.stopped);
    fn_stream_close(r.s);
    forget_reports(&r);
    vec_fini(&r.all);
    dormouse__fn__v1__worker_report__free_unpacked(r.hello, NULL);
    turns(&r);
    loop_fini(&r.loop);
}

/* ---------------------------------------------------------------- calls by HTTP */

struct http_rig {
    struct rig r;
    struct worker_http *h;
    struct http_client *c;
    bool closed;
};

#define TOKEN "0123456789abcdef"

static void http_rig_init(struct http_rig *r)
{
    rig_init(&r->r);
    make_ready(&r->r, 1);
    struct worker_http_opts o = { .loop = &r->r.loop, .token = TOKEN };
    CHECK_OK(worker_http_start(&o, &r->h, NULL));
    worker_http_serve(r->h, worker_invoker(r->r.w));
    struct http_client_opts c = { .host = "127.0.0.1", .port = worker_http_port(r->h) };
    CHECK_OK(http_client_new(&r->r.loop, &c, &r->c, NULL));
    r->closed = false;
}

static void on_listener_closed(void *arg)
{
    ((struct http_rig *)arg)->closed = true;
}

static void http_rig_fini(struct http_rig *r)
{
    http_client_close(r->c);
    worker_http_close(r->h, 0, on_listener_closed, r);
    while (!r->closed)
        (void)loop_turn(&r->r.loop, true);
    rig_fini(&r->r);
}

struct http_answer {
    int status, ends, r;
    char error[40], reason[40];
    struct buf body;
    bool trailer;
};

static void on_http_head(void *arg, int status, const struct headers *h)
{
    struct http_answer *a = arg;
    struct str error = headers_get(h, "x-dormouse-error"),
               reason = headers_get(h, "x-dormouse-reason");
    a->status = status;
    (void)snprintf(a->error, sizeof a->error, STR_FMT, STR_ARG(error));
    (void)snprintf(a->reason, sizeof a->reason, STR_FMT, STR_ARG(reason));
}

static void on_http_data(void *arg, struct str chunk)
{
    (void)buf_add_str(&((struct http_answer *)arg)->body, chunk);
}

static void on_http_trailers(void *arg, const struct headers *trailers)
{
    ((struct http_answer *)arg)->trailer = str_is(headers_get(trailers, "x-fake-trailer"), "t");
}

static void on_http_end(void *arg, int r, const struct err *err)
{
    struct http_answer *a = arg;
    a->ends++;
    a->r = r;
}

static const struct exchange_events http_events = { .on_head = on_http_head,
                                                    .on_data = on_http_data,
                                                    .on_trailers = on_http_trailers,
                                                    .on_end = on_http_end };

/* fields: pairs, NULL at the end */
static struct exchange *http_start(struct http_rig *r, const char *const *fields, const char *body,
                                   bool streams, struct http_answer *a)
{
    struct headers h = { 0 };
    struct exchange *c;
    *a = (struct http_answer){ .body = BUF_INIT(4 << 20) };
    for (; *fields; fields += 2)
        CHECK_OK(headers_addc(&h, fields[0], fields[1]));
    struct http_call_opts o = { .method = STR("POST"),
                                .target = STR("/a?b"),
                                .headers = &h,
                                .body = str_of(body),
                                .events = &http_events,
                                .arg = a,
                                .streams = streams,
                                .body_n = HTTP_CHUNKED };
    CHECK_OK(http_call_start(r->c, &o, &c, NULL));
    headers_fini(&h);
    return c;
}

static void http_finish(struct http_rig *r, struct http_answer *a)
{
    while (!a->ends)
        (void)loop_turn(&r->r.loop, true);
}

TEST(a_request_by_http_reaches_the_sandbox_and_its_bodies_stream)
{
    static const char *const fields[] = { "x-dormouse-token",
                                          TOKEN,
                                          "x-dormouse-sandbox",
                                          "1",
                                          "x-dormouse-call-id",
                                          "c-1",
                                          "x-fake-trailer",
                                          "t",
                                          NULL };
    struct http_rig r;
    struct http_answer a;
    http_rig_init(&r);
    struct exchange *c = http_start(&r, fields, "one ", true, &a);
    while (a.body.n < 4)
        (void)loop_turn(&r.r.loop, true);
    CHECK_INT(a.status, 200);
    CHECK_INT(a.ends, 0); /* the answer has begun before the request has ended */
    (void)exchange_write(c, STR("two"));
    exchange_end_body(c, NULL);
    http_finish(&r, &a);
    CHECK_INT(a.r, 0);
    CHECK_STR(buf_str(&a.body), "one two");
    CHECK(a.trailer);
    buf_fini(&a.body);
    http_rig_fini(&r);
}

TEST(how_a_call_ended_is_told_by_http_so_that_a_gateway_may_try_elsewhere)
{
    static const struct {
        const char *field, *value, *sandbox, *error, *reason;
    } cases[] = { { "x-fake-end", "trap", "1", "E_TRAP", "GuestTrapped" },
                  { "x-fake-end", "busy", "1", "EBUSY", "NoRoom" },
                  { "x-fake-status", "200", "2", "ECONNREFUSED", "" },
                  { "x-dormouse-timeout-ms", "1", "1", "ETIMEDOUT", "RequestTimeout" } };
    struct http_rig r;
    struct http_answer a;
    http_rig_init(&r);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *const fields[] = { "x-dormouse-token",
                                       TOKEN,
                                       "x-dormouse-sandbox",
                                       cases[i].sandbox,
                                       "x-fake-sleep-ms",
                                       "20",
                                       cases[i].field,
                                       cases[i].value,
                                       NULL };
        (void)http_start(&r, fields, "", false, &a);
        http_finish(&r, &a);
        CHECK_INT(a.status, 502);
        CHECK_STR(str_of(a.error), cases[i].error);
        CHECK_STR(str_of(a.reason), cases[i].reason);
        buf_fini(&a.body);
    }
    http_rig_fini(&r);
}

TEST(who_has_no_token_or_names_no_sandbox_is_refused)
{
    static const char *const wrong[] = { "x-dormouse-token", "0123456789abcdeF",
                                         "x-dormouse-sandbox", "1", NULL };
    static const char *const none[] = { "x-dormouse-sandbox", "1", NULL };
    static const char *const nowhere[] = { "x-dormouse-token", TOKEN, NULL };
    struct http_rig r;
    struct http_answer a;
    http_rig_init(&r);
    (void)http_start(&r, wrong, "", false, &a);
    http_finish(&r, &a);
    CHECK_INT(a.status, 401);
    buf_fini(&a.body);
    (void)http_start(&r, none, "", false, &a);
    http_finish(&r, &a);
    CHECK_INT(a.status, 401);
    buf_fini(&a.body);
    (void)http_start(&r, nowhere, "", false, &a);
    http_finish(&r, &a);
    CHECK_INT(a.status, 400);
    buf_fini(&a.body);
    struct worker_http *h;
    struct worker_http_opts open = { .loop = &r.r.loop, .host = "0.0.0.0" };
    CHECK_ERR(worker_http_start(&open, &h, NULL), E_INVALID);
    http_rig_fini(&r);
}

/* A server context and a client context of one CA; the client is of `organisation`. */
static void make_tls(const char *organisation, struct tls_ctx **server, struct tls_ctx **client)
{
    struct buf ca = BUF_INIT(1 << 16), ca_key = BUF_INIT(1 << 16), cert = BUF_INIT(1 << 16),
               key = BUF_INIT(1 << 16), user_cert = BUF_INIT(1 << 16), user_key = BUF_INIT(1 << 16);
    const char *names[] = { "127.0.0.1" };
    struct str group = str_of(organisation);
    struct x509_user user = { .name = STR("g-0"), .groups = &group, .n_groups = 1 };
    CHECK_OK(x509_make_ca("test", &ca, &ca_key, NULL));
    CHECK_OK(x509_make_server(buf_str(&ca), buf_str(&ca_key), "w", names, 1, 1, &cert, &key, NULL));
    CHECK_OK(
        x509_make_client(buf_str(&ca), buf_str(&ca_key), &user, 3600, &user_cert, &user_key, NULL));
    CHECK_OK(tls_ctx_new_server(buf_str(&cert), buf_str(&key), buf_str(&ca), server, NULL));
    CHECK_OK(tls_ctx_new_client(buf_str(&ca), buf_str(&user_cert), buf_str(&user_key), false,
                                client, NULL));
    struct buf *all[] = { &ca, &ca_key, &cert, &key, &user_cert, &user_key };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        buf_fini(all[i]);
}

TEST(a_certificate_of_the_organisation_is_as_good_as_a_token)
{
    static const char *const fields[] = { "x-dormouse-sandbox", "1", NULL };
    static const char *const organisations[] = { "dormouse:gateways", "others" };
    for (size_t i = 0; i < ARRAY_LEN(organisations); i++) {
        struct http_rig r = { 0 };
        struct tls_ctx *server, *client;
        struct http_answer a;
        make_tls(organisations[i], &server, &client);
        rig_init(&r.r);
        make_ready(&r.r, 1);
        struct worker_http_opts o = { .loop = &r.r.loop,
                                      .tls = server,
                                      .organisation = "dormouse:gateways" };
        CHECK_OK(worker_http_start(&o, &r.h, NULL));
        worker_http_serve(r.h, worker_invoker(r.r.w));
        struct http_client_opts c = { .host = "127.0.0.1",
                                      .port = worker_http_port(r.h),
                                      .tls = client };
        CHECK_OK(http_client_new(&r.r.loop, &c, &r.c, NULL));
        (void)http_start(&r, fields, "", false, &a);
        http_finish(&r, &a);
        CHECK_INT(a.status, i == 0 ? 200 : 401);
        buf_fini(&a.body);
        http_rig_fini(&r);
        tls_ctx_free(server);
        tls_ctx_free(client);
    }
}

TEST(a_client_that_reads_slowly_or_leaves_holds_nothing_up)
{
    static const char *const big[] = {
        "x-dormouse-token", TOKEN, "x-dormouse-sandbox", "1", "x-fake-bytes", "3000000", NULL
    };
    static const char *const slow[] = {
        "x-dormouse-token", TOKEN, "x-dormouse-sandbox", "1", "x-fake-sleep-ms", "100000", NULL
    };
    struct http_rig r;
    struct http_answer a;
    struct worker_counts n;
    http_rig_init(&r);
    struct exchange *c = http_start(&r, big, "", false, &a);
    while (!a.body.n)
        (void)loop_turn(&r.r.loop, true);
    exchange_pause(c);
    turns(&r.r);
    exchange_resume(c);
    http_finish(&r, &a);
    CHECK_INT(a.body.n, 3000000);
    buf_fini(&a.body);
    c = http_start(&r, slow, "", false, &a);
    do {
        (void)loop_turn(&r.r.loop, true);
        worker_count(r.r.w, &n);
    } while (!n.running);
    exchange_cancel(c);
    http_finish(&r, &a);
    CHECK_INT(a.r, -ECANCELED);
    do {
        (void)loop_turn(&r.r.loop, true);
        worker_count(r.r.w, &n);
    } while (n.running);
    buf_fini(&a.body);
    http_rig_fini(&r);
}

/* ---------------------------------------------------------------- sandboxes with an address */

/* A runtime whose only sandbox is a server of the test. */
struct addressed {
    struct runtime base;
    struct loop *loop;
    char address[32];
    struct defer turn;
    uint64_t id;
    bool created, recovers;
    unsigned prepared;
    void (*done)(void *arg);
    void *arg;
};

static void on_addressed(struct defer *d)
{
    struct addressed *a = container_of(d, struct addressed, turn);
    if (a->done)
        a->done(a->arg);
    else if (!a->created) {
        a->created = true;
        a->base.events->on_created(a->base.events_arg, a->id, 0, a->address, NULL, NULL);
    } else
        a->base.events->on_destroyed(a->base.events_arg, a->id);
}

static void addressed_create(struct runtime *rt, uint64_t id, struct runtime_revision *r)
{
    struct addressed *a = container_of(rt, struct addressed, base);
    a->id = id;
    defer_start(a->loop, &a->turn, on_addressed);
}

static void addressed_destroy(struct runtime *rt, uint64_t id, uint32_t grace_ms)
{
    struct addressed *a = container_of(rt, struct addressed, base);
    defer_start(a->loop, &a->turn, on_addressed);
}

static void addressed_close(struct runtime *rt, void (*done)(void *arg), void *arg)
{
    struct addressed *a = container_of(rt, struct addressed, base);
    a->done = done;
    a->arg = arg;
    defer_start(a->loop, &a->turn, on_addressed);
}

static void addressed_recover(struct runtime *rt)
{
    struct addressed *a = container_of(rt, struct addressed, base);
    if (a->recovers)
        rt->events->on_recovered(rt->events_arg, 1, "u-1", 1, a->address);
}

static void addressed_prepare(struct runtime *rt, struct runtime_revision *r)
{
    container_of(rt, struct addressed, base)->prepared++;
}

static void addressed_forget(struct runtime *rt, struct runtime_revision *r)
{
    container_of(rt, struct addressed, base)->prepared--;
}

static const struct runtime_ops addressed_ops = { .name = "oci",
                                                  .prepare = addressed_prepare,
                                                  .forget = addressed_forget,
                                                  .create = addressed_create,
                                                  .destroy = addressed_destroy,
                                                  .recover = addressed_recover,
                                                  .close = addressed_close };

static void echo_body(struct http_exchange *x, struct str chunk)
{
    (void)http_write(x, chunk);
}

static void echo_body_end(struct http_exchange *x, int r)
{
    http_end(x);
}

static void echo_gone(struct http_exchange *x, int r)
{
}

static const struct http_exchange_ops echo_ops = { .on_body = echo_body,
                                                   .on_body_end = echo_body_end,
                                                   .on_gone = echo_gone };

static void on_echo_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    http_exchange_set(x, &echo_ops, NULL);
    if (str_is(req->target, "/never"))
        return; /* the deadline is to end it */
    CHECK_STR(headers_get(req->headers, "host"), "f.default");
    http_respond(x, 201, NULL, HTTP_CHUNKED);
    http_read_body(x, 1 << 20);
}

TEST(a_sandbox_of_an_earlier_process_is_told_and_learns_its_revision_when_adopted)
{
    struct rig r = { .dialer.ops = &dialer_ops, .term = 5 };
    CHECK_OK(loop_init(&r.loop, NULL));
    struct addressed rt = { .base.ops = &addressed_ops,
                            .loop = &r.loop,
                            .address = "10.0.0.9:80",
                            .id = 1,
                            .created = true,
                            .recovers = true };
    struct worker_opts o = { .loop = &r.loop, .name = "w", .dialer = &r.dialer, .n_runtimes = 1 };
    o.runtimes[0] = &rt.base;
    CHECK_OK(worker_start(&o, &r.w, NULL));
    turns(&r);
    CHECK_INT(r.hello->hello->n_sandboxes, 1);
    const Dormouse__Fn__V1__Existing *x = r.hello->hello->sandboxes[0];
    CHECK(x->is_ready && !x->by_worker);
    CHECK_STR(str_of(x->address), "10.0.0.9:80");
    CHECK_STR(str_of(x->function_uid), "u-1");
    send_welcome(&r, 5, 0);
    send_function(&r, 7, "u-1", "{\"image\":{\"bundle\":\"/b\"}}");
    CHECK_INT(rt.prepared, 0);
    send_adopt(&r, 1, 7);
    CHECK_INT(rt.prepared, 1);
    skip(&r, WORKER_ORPHAN_MS);
    CHECK(!find_gone(&r, 1));
    send_delete(&r, 1);
    CHECK(find_gone(&r, 1));
    rig_fini(&r);
    CHECK_INT(rt.prepared, 0);
}

TEST(a_worker_carries_requests_to_sandboxes_with_an_address_of_their_own)
{
    struct rig r = { .dialer.ops = &dialer_ops, .term = 5 };
    struct http_server *server;
    struct answer a;
    int n;
    CHECK_OK(loop_init(&r.loop, NULL));
    struct http_server_opts so = { .host = "127.0.0.1", .on_request = on_echo_request };
    CHECK_OK(http_server_start(&r.loop, &so, &server, NULL));
    struct addressed rt = { .base.ops = &addressed_ops, .loop = &r.loop };
    (void)snprintf(rt.address, sizeof rt.address, "127.0.0.1:%u", http_server_port(server));
    struct worker_opts o = { .loop = &r.loop,
                             .name = "w",
                             .dialer = &r.dialer,
                             .address = "10.0.0.1:99",
                             .n_runtimes = 1,
                             .is_proxy = true };
    o.runtimes[0] = &rt.base;
    CHECK_OK(worker_start(&o, &r.w, NULL));
    turns(&r);
    send_welcome(&r, 5, 0);
    send_function(&r, 1, "u-1", "{\"image\":{\"bundle\":\"/b\"}}");
    send_create(&r, 1, 1);
    CHECK(find_created(&r, 1, &n)->by_worker);
    CHECK_STR(str_of(find_created(&r, 1, &n)->address), "10.0.0.1:99");
    struct invoke_request req = { .sandbox = 1,
                                  .method = STR("POST"),
                                  .target = STR("/"),
                                  .authority = STR("f.default"),
                                  .has_body = true,
                                  .body_bytes = UINT64_MAX,
                                  .body = STR("one ") };
    a = (struct answer){ .body = BUF_INIT(1 << 20) };
    CHECK_OK(invoke_start(worker_invoker(r.w), &req, &call_events, &a, &a.x, NULL));
    while (a.body.n < 4)
        (void)loop_turn(&r.loop, true);
    CHECK_INT(a.status, 201);
    (void)exchange_write(a.x, STR("two"));
    exchange_end_body(a.x, NULL);
    while (!a.ends)
        (void)loop_turn(&r.loop, true);
    CHECK_INT(a.r, 0);
    CHECK_STR(buf_str(&a.body), "one two");
    buf_fini(&a.body);
    req = (struct invoke_request){ .sandbox = 1,
                                   .method = STR("GET"),
                                   .target = STR("/never"),
                                   .deadline_ms = loop_now_ms(&r.loop) + 20 };
    a = (struct answer){ 0 };
    CHECK_OK(invoke_start(worker_invoker(r.w), &req, &call_events, &a, &a.x, NULL));
    while (!a.ends)
        (void)loop_turn(&r.loop, true);
    CHECK_INT(a.r, -ETIMEDOUT);
    CHECK_STR(str_of(a.reason), "RequestTimeout");
    struct http_rig closing = { 0 };
    http_server_close(server, 0, on_listener_closed, &closing);
    while (!closing.closed)
        (void)loop_turn(&r.loop, true);
    req.deadline_ms = 0;
    a = (struct answer){ 0 };
    CHECK_OK(invoke_start(worker_invoker(r.w), &req, &call_events, &a, &a.x, NULL));
    while (!a.ends)
        (void)loop_turn(&r.loop, true);
    CHECK_INT(a.r, -ECONNREFUSED);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- many, and names */

struct crowd {
    struct fn_dialer dialer;
    struct loop *loop;
    struct fn_stream *s[200];
    unsigned n, hellos, synced;
    bool stopped;
};

static void on_crowd_report(void *arg, const ProtobufCMessage *m)
{
    struct crowd *c = arg;
    c->hellos += ((const report *)m)->hello != NULL;
}

static void on_crowd_end(void *arg, int r, const struct err *err)
{
}

static const struct fn_stream_ops crowd_ops = { .on_message = on_crowd_report,
                                                .on_end = on_crowd_end };

static struct fn_stream *crowd_dial(struct fn_dialer *d, const ProtobufCMessageDescriptor *in,
                                    const char *address)
{
    struct crowd *c = container_of(d, struct crowd, dialer);
    struct fn_stream *theirs;
    CHECK(c->n < ARRAY_LEN(c->s));
    fn_stream_pair(c->loop, in, &dormouse__fn__v1__worker_report__descriptor, &theirs, &c->s[c->n]);
    fn_stream_set(c->s[c->n++], &crowd_ops, c);
    return theirs;
}

static void on_crowd_synced(void *arg)
{
    ((struct crowd *)arg)->synced++;
}

static void on_crowd_stopped(void *arg)
{
    ((struct crowd *)arg)->stopped = true;
}

TEST(many_workers_are_simulated_each_with_its_own_stream)
{
    static const struct fn_dialer_ops many = { .dial = crowd_dial };
    struct loop loop;
    struct crowd c = { .dialer.ops = &many, .loop = &loop };
    struct fn_simulation *s;
    struct worker_counts counts;
    CHECK_OK(loop_init(&loop, NULL));
    struct fn_simulation_opts o = { .loop = &loop,
                                    .dialer = &c.dialer,
                                    .n_workers = 100,
                                    .prefix = "w-",
                                    .on_synced = on_crowd_synced,
                                    .arg = &c };
    CHECK_OK(simulate_start(&o, &s, NULL));
    while (c.hellos < 100)
        (void)loop_turn(&loop, false);
    order m = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__Welcome w = DORMOUSE__FN__V1__WELCOME__INIT;
    w.term = 1;
    m.welcome = &w;
    for (unsigned i = 0; i < c.n; i++)
        fn_stream_send(c.s[i], &m.base);
    while (!c.synced)
        (void)loop_turn(&loop, false);
    simulate_count(s, &counts);
    CHECK(counts.is_welcome);
    simulate_stop(s, on_crowd_stopped, &c);
    while (!c.stopped)
        (void)loop_turn(&loop, false);
    for (unsigned i = 0; i < c.n; i++)
        fn_stream_close(c.s[i]);
    (void)loop_turn(&loop, false);
    loop_fini(&loop);
}

TEST(a_node_keeps_its_name_and_counts_its_starts)
{
    char dir[] = "/tmp/test-fn-worker-XXXXXX";
    char *name, *again;
    uint64_t first, second;
    CHECK(mkdtemp(dir));
    CHECK_OK(worker_identity(dir, "", &name, &first, NULL));
    CHECK(name[0]);
    CHECK_INT(first, 1);
    CHECK_OK(worker_identity(dir, "", &again, &second, NULL));
    CHECK_STR(str_of(again), name);
    CHECK_INT(second, 2);
    free(again);
    CHECK_OK(worker_identity(dir, "edge-7", &again, &second, NULL));
    CHECK_STR(str_of(again), "edge-7");
    free(again);
    scoped(free_scoped) char *path = xasprintf("%s/worker.json", dir);
    CHECK_OK(sys_write_file_atomic(AT_FDCWD, path, STR("{}"), 0600, NULL));
    CHECK_ERR(worker_identity(dir, "", &again, &second, NULL), E_CORRUPT);
    (void)unlink(path);
    (void)rmdir(dir);
    free(name);
}

TEST_MAIN
