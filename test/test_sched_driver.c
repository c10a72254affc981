/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler on its thread against the embedded API, as its own user under RBAC. */
#include "api_fixture.h"
#include "base/clock.h"
#include "sched/driver/driver.h"

struct setup {
    struct fixture f;
    struct watch_hub *hub;
    struct arena arena;
    struct sched_config config;
    struct kube_identity identity;
    struct sched_driver *driver;
    bool ready, stopped, failed, closed, reloaded, explained, later, was_read;
    int r;
    size_t inbox_max_bytes;
    char text[4096];
};

static void on_driver_ready(void *arg)
{
    ((struct setup *)arg)->ready = true;
}
static void on_driver_failed(void *arg, const struct err *err)
{
    ((struct setup *)arg)->failed = true;
}
static void on_driver_stopped(void *arg)
{
    ((struct setup *)arg)->stopped = true;
}
static void on_hub_closed(void *arg)
{
    ((struct setup *)arg)->closed = true;
}

static void turn_until(struct setup *s, const bool *what)
{
    while (!*what)
        (void)loop_turn(&s->f.loop, true);
}

static const struct sched_config *config_later(void *arg)
{
    struct setup *s = arg;
    s->was_read = true;
    return &s->config;
}

static void driver_start(struct setup *s, bool eager)
{
    struct err err = { 0 };
    struct sched_driver_opts opts = {
        .loop = &s->f.loop,
        .transport = api_transport(s->f.api),
        .hub = s->hub,
        .identity = &s->identity,
        .config = s->later ? NULL : &s->config,
        .config_later = config_later,
        .id = "test",
        .eager = eager,
        .seed = 1,
        .inbox_max_bytes = s->inbox_max_bytes,
        .on_ready = on_driver_ready,
        .on_failed = on_driver_failed,
        .arg = s,
    };
    s->ready = s->stopped = false;
    if (sched_driver_start(&opts, &s->driver, &err) < 0)
        TEST_FAIL("%s", err.text);
}

static void driver_up(struct setup *s, bool eager)
{
    driver_start(s, eager);
    turn_until(s, &s->ready);
}

static void driver_down(struct setup *s)
{
    loop_hold(&s->f.loop);
    sched_driver_stop(s->driver, on_driver_stopped, s);
    turn_until(s, &s->stopped);
    loop_release(&s->f.loop);
}

static void read_config(struct setup *s, const char *text, struct sched_config *ret)
{
    struct err err = { 0 };
    struct buf warnings = BUF_INIT(65536);
    if (sched_config_read(&s->arena, str_of(text), ret, &warnings, &err) < 0)
        TEST_FAIL("%s", err.text);
    ret->leader.on = false;
    buf_fini(&warnings);
}

static void setup_init(struct setup *s, bool eager)
{
    *s = (struct setup){ .f.rbac = true, .identity.user = STR("system:kube-scheduler") };
    fixture_init(&s->f);
    struct watch_hub_opts hub = { .transport = api_transport(s->f.api) };
    CHECK_OK(watch_hub_new(&s->f.loop, &hub, &s->hub, NULL));
    read_config(s, "", &s->config);
    driver_up(s, eager);
}

static void setup_fini(struct setup *s)
{
    if (s->driver)
        driver_down(s);
    watch_hub_close(s->hub, on_hub_closed, s);
    turn_until(s, &s->closed);
    fixture_fini(&s->f);
    arena_fini(&s->arena);
}

static void make_node(struct setup *s, const char *name, const char *cpu)
{
    char body[512];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\"},\"status\":{\"allocatable\":{\"cpu\":\"%s\","
                   "\"memory\":\"8Gi\",\"pods\":\"110\"}}}",
                   name, cpu);
    (void)want(&s->f, 201, "POST", "/api/v1/nodes", body);
}

static void make_pod(struct setup *s, const char *name, const char *cpu)
{
    char body[512];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"containers\":[{\"name\":\"c\","
                   "\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}",
                   name, cpu);
    (void)want(&s->f, 201, "POST", "/api/v1/namespaces/default/pods", body);
}

static struct json *pod(struct setup *s, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s", name);
    return want(&s->f, 200, "GET", path, NULL);
}

static struct str node_of(struct setup *s, const char *name)
{
    return json_get_str(json_getc(pod(s, name), "spec"), "nodeName");
}

/* Asking turns the loop, too, and all may have happened in it: nothing to wait for then. */
static void wait_bound(struct setup *s, const char *name)
{
    while (node_of(s, name).n == 0)
        (void)loop_turn(&s->f.loop, false);
}

static struct json *condition(struct setup *s, const char *name)
{
    json_each (c, json_path(pod(s, name), "status", "conditions", NULL))
        if (str_is(json_get_str(c, "type"), "PodScheduled"))
            return c;
    return NULL;
}

static struct json *event(struct setup *s, const char *reason)
{
    struct json *list =
        want(&s->f, 200, "GET", "/apis/events.k8s.io/v1/namespaces/default/events", NULL);
    json_each (e, json_getc(list, "items"))
        if (str_is(json_get_str(e, "reason"), reason))
            return e;
    return NULL;
}

static struct json *wait_event(struct setup *s, const char *reason)
{
    struct json *e;
    while (!(e = event(s, reason)))
        (void)loop_turn(&s->f.loop, false);
    return e;
}

TEST(a_pod_wakes_it_and_is_bound)
{
    struct setup s;
    setup_init(&s, false);
    make_node(&s, "n", "4");
    settle(&s.f);
    CHECK(!sched_driver_is_awake(s.driver));
    make_pod(&s, "p", "1");
    wait_bound(&s, "p");
    CHECK_STR(node_of(&s, "p"), "n");
    CHECK(sched_driver_is_awake(s.driver));
    CHECK_STR(json_get_str(condition(&s, "p"), "status"), "True");
    struct json *e = wait_event(&s, "Scheduled");
    CHECK_STR(json_get_str(e, "note"), "Successfully assigned default/p to n");
    CHECK_STR(json_get_str(e, "reportingController"), "default-scheduler");
    setup_fini(&s);
}

TEST(a_pod_without_room_says_why_and_is_bound_when_there_is)
{
    struct setup s;
    setup_init(&s, true);
    make_node(&s, "small", "1");
    make_pod(&s, "p", "2");
    struct json *e = wait_event(&s, "FailedScheduling");
    CHECK_STR(json_get_str(e, "note"),
              "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
              "1 Preemption is not helpful for scheduling.");
    while (!condition(&s, "p"))
        (void)loop_turn(&s.f.loop, true);
    CHECK_STR(json_get_str(condition(&s, "p"), "reason"), "Unschedulable");
    CHECK(str_eq(json_get_str(condition(&s, "p"), "message"), json_get_str(e, "note")));
    make_node(&s, "large", "4");
    wait_bound(&s, "p");
    CHECK_STR(node_of(&s, "p"), "large");
    setup_fini(&s);
}

TEST(many_pods_are_bound_and_none_twice)
{
    enum { PODS = 300, NODES = 10 };
    struct setup s;
    setup_init(&s, false);
    char name[16];
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        make_node(&s, name, "30");
    }
    for (int i = 0; i < PODS; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        make_pod(&s, name, "1");
    }
    unsigned on[NODES] = { 0 };
    for (int i = 0; i < PODS; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        wait_bound(&s, name);
        uint64_t at;
        struct str node = node_of(&s, name);
        CHECK_OK(parse_u64(str_slice(node, 1, node.n), 0, NODES - 1, &at));
        on[at]++;
    }
    for (int i = 0; i < NODES; i++)
        CHECK_INT(on[i], PODS / NODES);
    setup_fini(&s);
}

TEST(what_the_thread_had_no_room_for_is_listed_again)
{
    struct setup s;
    setup_init(&s, true);
    driver_down(&s);
    s.inbox_max_bytes = 1; /* one event at a time, whatever comes meanwhile is left out */
    driver_up(&s, true);
    char name[16];
    make_node(&s, "n", "100");
    for (int i = 0; i < 60; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        make_pod(&s, name, "1");
    }
    for (int i = 0; i < 60; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        wait_bound(&s, name);
    }
    setup_fini(&s);
}

TEST(it_goes_on_where_another_process_ended)
{
    struct setup s;
    setup_init(&s, true);
    make_node(&s, "n", "2");
    make_pod(&s, "p", "1");
    wait_bound(&s, "p");
    driver_down(&s);
    make_pod(&s, "q", "1");
    make_pod(&s, "r", "1");
    driver_up(&s, true);
    wait_bound(&s, "q");
    (void)wait_event(&s, "FailedScheduling"); /* r: both places are taken */
    CHECK_INT(node_of(&s, "r").n, 0);
    setup_fini(&s);
}

TEST(the_configuration_is_read_when_it_wakes)
{
    struct setup s;
    setup_init(&s, true);
    driver_down(&s);
    s.later = true;
    driver_up(&s, false);
    make_node(&s, "n", "4");
    settle(&s.f);
    CHECK(!s.was_read);
    make_pod(&s, "p", "1");
    wait_bound(&s, "p");
    CHECK(s.was_read);
    setup_fini(&s);
}

TEST(requests_are_limited_where_the_configuration_says_so)
{
    enum { PODS = 5, QPS = 20 };
    static const char limited[] = "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                  "kind: KubeSchedulerConfiguration\n"
                                  "clientConnection: {qps: 20, burst: 1}\n";
    struct setup s;
    setup_init(&s, true);
    driver_down(&s);
    read_config(&s, limited, &s.config);
    driver_up(&s, true);
    char name[16];
    make_node(&s, "n", "100");
    uint64_t begin = clock_mono_ms();
    for (int i = 0; i < PODS; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        make_pod(&s, name, "1");
    }
    for (int i = 0; i < PODS; i++) {
        (void)snprintf(name, sizeof name, "p%d", i);
        wait_bound(&s, name);
    }
    CHECK(clock_mono_ms() - begin >= (PODS - 1) * 1000 / QPS);
    setup_fini(&s);
}

static void on_explained(void *arg, int r, struct str text, const struct err *err)
{
    struct setup *s = arg;
    s->explained = true;
    s->r = r;
    (void)snprintf(s->text, sizeof s->text, STR_FMT, STR_ARG(text));
}

static void explain(struct setup *s, const char *name)
{
    s->explained = false;
    sched_driver_explain(s->driver, STR("default"), str_of(name), on_explained, s);
    loop_hold(&s->f.loop);
    turn_until(s, &s->explained);
    loop_release(&s->f.loop);
}

TEST(it_explains_and_counts)
{
    struct setup s;
    setup_init(&s, false);
    explain(&s, "p");
    CHECK_INT(s.r, -EAGAIN);
    make_node(&s, "n", "1");
    make_pod(&s, "p", "2");
    (void)wait_event(&s, "FailedScheduling");
    explain(&s, "p");
    CHECK_INT(s.r, 0);
    CHECK(str_find(str_of(s.text), STR("Insufficient cpu")) > 0);
    explain(&s, "nobody");
    CHECK_INT(s.r, -ENOENT);
    struct buf out = BUF_INIT(1 << 20);
    while (out.n == 0)
        sched_driver_metrics(s.driver, &out);
    CHECK(str_find(buf_str(&out), STR("scheduler_schedule_attempts_total")) >= 0);
    buf_fini(&out);
    setup_fini(&s);
}

static void on_reloaded(void *arg, int r, const struct err *err)
{
    struct setup *s = arg;
    s->reloaded = true;
    s->r = r;
}

TEST(another_configuration_takes_over)
{
    static const char named[] = "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                "kind: KubeSchedulerConfiguration\n"
                                "profiles: [{schedulerName: default-scheduler}, "
                                "{schedulerName: second}]\n";
    struct setup s;
    setup_init(&s, true);
    struct sched_config next;
    read_config(&s, named, &next);
    sched_driver_reload(s.driver, &next, on_reloaded, &s);
    loop_hold(&s.f.loop);
    turn_until(&s, &s.reloaded);
    loop_release(&s.f.loop);
    CHECK_INT(s.r, 0);
    make_node(&s, "n", "4");
    (void)want(&s.f, 201, "POST", "/api/v1/namespaces/default/pods",
               "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"schedulerName\":\"second\","
               "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
    wait_bound(&s, "p");
    setup_fini(&s);
}

/* From the start of its thread until it knows all objects: each state can be left. */
TEST(a_start_can_be_stopped_after_any_turn)
{
    struct setup s;
    setup_init(&s, false);
    driver_down(&s);
    make_node(&s, "n", "4");
    make_pod(&s, "p", "8");
    for (unsigned turns = 0;; turns += 1 + turns / 8) {
        driver_start(&s, true);
        for (unsigned i = 0; i < turns && !s.ready; i++)
            (void)loop_turn(&s.f.loop, true);
        bool was_ready = s.ready;
        driver_down(&s);
        if (was_ready)
            break;
    }
    s.driver = NULL;
    setup_fini(&s);
}

/* A configuration with an extender has pods and nodes listed again, and no pod is tried before
 * that: the reload may come while they are being listed for the first time. */
TEST(a_reload_that_lists_again_may_come_after_any_turn)
{
    static const char text[] = "apiVersion: kubescheduler.config.k8s.io/v1\n"
                               "kind: KubeSchedulerConfiguration\n"
                               "extenders: [{urlPrefix: 'http://127.0.0.1:1', filterVerb: f, "
                               "weight: 1, ignorable: true}]\n";
    struct setup s;
    setup_init(&s, false);
    driver_down(&s);
    make_node(&s, "n", "64");
    struct sched_config with;
    read_config(&s, text, &with);
    bool was_ready = false;
    for (unsigned turns = 0; !was_ready; turns += 1 + turns / 4) {
        char name[16];
        s.reloaded = false;
        driver_start(&s, true);
        for (unsigned i = 0; i < turns && !s.ready; i++)
            (void)loop_turn(&s.f.loop, true);
        was_ready = s.ready;
        sched_driver_reload(s.driver, &with, on_reloaded, &s);
        turn_until(&s, &s.reloaded);
        CHECK_INT(s.r, 0);
        (void)snprintf(name, sizeof name, "p%u", turns);
        make_pod(&s, name, "1m");
        wait_bound(&s, name);
        driver_down(&s);
    }
    s.driver = NULL;
    setup_fini(&s);
}

TEST(one_that_cannot_work_can_only_be_stopped)
{
    static const char text[] = "apiVersion: kubescheduler.config.k8s.io/v1\n"
                               "kind: KubeSchedulerConfiguration\n"
                               "extenders: [{urlPrefix: 'https://127.0.0.1:1', filterVerb: f, "
                               "weight: 1, enableHTTPS: true, tlsConfig: {caFile: /no/file}}]\n";
    struct setup s;
    setup_init(&s, false);
    driver_down(&s);
    read_config(&s, text, &s.config);
    driver_start(&s, true);
    turn_until(&s, &s.failed);
    CHECK(!s.ready);
    explain(&s, "p");
    CHECK_INT(s.r, -EAGAIN);
    setup_fini(&s);
}

TEST_MAIN
