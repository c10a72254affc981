/* SPDX-License-Identifier: Apache-2.0 */
/* The life cycle of a pod in virtual time: which steps come in which order, and what the status
 * says. */
#include "agent/pod/life.h"
#include "agent/pod/status.h"
#include "test.h"

static struct arena arena;
static struct pod_spec spec;
static struct pod_life life;
static struct pod_now now;
static struct pod_conditions memory;

static void parse(const char *text, struct pod_spec *ret)
{
    struct json *v;
    struct err err = { 0 };
    struct json *clone = NULL;
    CHECK_OK(json_parse(&arena, str_of(text), NULL, &v, &err));
    clone = json_clone(&arena, v);
    if (pod_spec_read(&arena, clone, ret, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
}

/* members: of the spec. */
static void begin(const char *members)
{
    pod_life_fini(&life);
    arena_fini(&arena);
    now = (struct pod_now){ .ms = 1000000, .unix_ms = 1700000000000 };
    memory = (struct pod_conditions){ 0 };
    parse(arena_printf(&arena, "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{%s}}",
                       members),
          &spec);
    pod_life_init(&life, &spec, 0, &now);
}

static void pass(uint64_t ms)
{
    now.ms += ms;
    now.unix_ms += (int64_t)ms;
}

static struct pod_step next_step(enum pod_step_kind kind)
{
    struct pod_step s = { 0 };
    if (!pod_life_next(&life, &now, &s))
        TEST_FAIL("no step, expected %d", kind);
    if (s.kind != kind)
        TEST_FAIL("step %d, expected %d", s.kind, kind);
    return s;
}

static void none(void)
{
    struct pod_step s;
    if (pod_life_next(&life, &now, &s))
        TEST_FAIL("step %d of %zu, expected none", s.kind, s.i);
}

static void prepare(void)
{
    (void)next_step(POD_STEP_PREPARE);
    none();
    pod_life_prepared(&life, 0, NULL, &now);
}

static void pull(size_t i)
{
    CHECK_INT(next_step(POD_STEP_PULL).i, i);
    pod_life_pulled(&life, i, 0, NULL, NULL, "image", "id", &now);
}

static void start(size_t i)
{
    CHECK_INT(next_step(POD_STEP_START).i, i);
    pod_life_started(&life, i, 0, NULL, NULL, "c", &now);
}

static void run(size_t i)
{
    pull(i);
    start(i);
}

static void end(size_t i, int code)
{
    struct pod_container_end e = { .exit_code = code };
    pod_life_ended(&life, i, &e, &now);
}

static void phase(const char *want)
{
    if (strcmp(pod_life_phase(&life), want))
        TEST_FAIL("phase %s, expected %s", pod_life_phase(&life), want);
}

static struct json *status(void)
{
    struct pod_status_facts facts = { .qos = "BestEffort",
                                      .now_s = now.unix_ms / 1000,
                                      .has_network = true };
    return pod_status_make(&arena, &life, &facts, &memory);
}

static struct json *state(const char *list, size_t i)
{
    struct json *c = json_first(json_getc(status(), list));
    while (i-- > 0)
        c = c->next;
    return c;
}

static struct str waiting_reason(size_t i)
{
    return json_get_str(json_path(state("containerStatuses", i), "state", "waiting", NULL),
                        "reason");
}

static bool is_condition(const char *type, const char *value)
{
    json_each (c, json_getc(status(), "conditions")) {
        if (str_is(json_get_str(c, "type"), type))
            return str_is(json_get_str(c, "status"), value);
    }
    return false;
}

#define ONE "\"containers\":[{\"name\":\"a\",\"image\":\"i\"}]"

TEST(a_container_runs_and_is_started_again_with_growing_pauses)
{
    begin(ONE);
    phase("Pending");
    prepare();
    run(0);
    none();
    phase("Running");
    CHECK(is_condition("Ready", "True"));
    end(0, 1);
    run(0); /* at once */
    CHECK_INT(life.containers[0].restarts, 1);
    for (uint64_t pause = 10000; pause <= 300000;
         pause = pause == 300000 ? 300001 : MIN(2 * pause, 300000)) {
        end(0, 1);
        none();
        CHECK_INT(pod_life_wake_ms(&life), now.ms + pause);
        CHECK(str_is(waiting_reason(0), "CrashLoopBackOff"));
        CHECK(is_condition("Ready", "False"));
        phase("Running");
        pass(pause - 1);
        none();
        pass(1);
        run(0);
    }
    CHECK_INT(life.containers[0].restarts, 7);
    CHECK_INT(json_int_or(json_getc(state("containerStatuses", 0), "restartCount"), -1), 7);
    pass(POD_BACKOFF_FORGET_MS + 1);
    end(0, 1);
    run(0); /* at once again */
}

TEST(a_pod_that_never_restarts_succeeds_or_fails)
{
    begin("\"restartPolicy\":\"Never\"," ONE);
    prepare();
    run(0);
    end(0, 0);
    (void)next_step(POD_STEP_TEAR_DOWN);
    pod_life_torn_down(&life);
    none();
    phase("Succeeded");
    CHECK(is_condition("Initialized", "True") && is_condition("Ready", "False"));
    pod_life_delete(&life, 30000, false, &now);
    (void)next_step(POD_STEP_DELETE);
    pod_life_gone(&life);
    CHECK(pod_at(&life) == POD_GONE);

    begin("\"restartPolicy\":\"OnFailure\"," ONE);
    prepare();
    run(0);
    end(0, 3);
    run(0);
    end(0, 0);
    (void)next_step(POD_STEP_TEAR_DOWN);
    phase("Succeeded");

    begin("\"restartPolicy\":\"Never\"," ONE);
    prepare();
    run(0);
    end(0, 3);
    (void)next_step(POD_STEP_TEAR_DOWN);
    phase("Failed");
}

TEST(init_containers_run_one_after_the_other_before_the_rest)
{
    begin("\"initContainers\":[{\"name\":\"x\"},{\"name\":\"y\"}]," ONE);
    prepare();
    run(0);
    none();
    CHECK(str_is(waiting_reason(0), "PodInitializing"));
    CHECK(is_condition("Initialized", "False"));
    end(0, 1);
    run(0);
    end(0, 0);
    run(1);
    none();
    end(1, 0);
    CHECK(is_condition("Initialized", "True"));
    run(2);
    none();
    phase("Running");
    end(2, 0);
    run(2); /* the init containers do not run again */
}

TEST(an_init_container_that_fails_for_good_ends_the_pod)
{
    begin("\"restartPolicy\":\"Never\",\"initContainers\":[{\"name\":\"x\"}]," ONE);
    prepare();
    run(0);
    end(0, 9);
    (void)next_step(POD_STEP_TEAR_DOWN);
    phase("Failed");
}

TEST(sidecars_start_in_order_and_end_last_in_reverse)
{
    begin("\"restartPolicy\":\"Never\",\"initContainers\":[{\"name\":\"s\",\"restartPolicy\":"
          "\"Always\","
          "\"startupProbe\":{\"tcpSocket\":{\"port\":1}}},{\"name\":\"t\",\"restartPolicy\":"
          "\"Always\"}]," ONE);
    prepare();
    run(0);
    none(); /* until its startup probe succeeds */
    CHECK(pod_life_probed(&life, 0, POD_PROBE_STARTUP, true, &now));
    run(1);
    run(2);
    end(0, 0);
    run(0); /* a sidecar is started again whatever the pod's policy */
    CHECK(pod_life_probed(&life, 0, POD_PROBE_STARTUP, true, &now));
    end(2, 0);
    CHECK_INT(next_step(POD_STEP_STOP).i, 1);
    none();
    end(1, 0);
    CHECK_INT(next_step(POD_STEP_STOP).i, 0);
    none();
    end(0, 0);
    (void)next_step(POD_STEP_TEAR_DOWN);
    phase("Succeeded");
}

TEST(a_main_container_waits_for_the_hook_of_the_one_before)
{
    begin("\"containers\":[{\"name\":\"a\",\"lifecycle\":{\"postStart\":{\"exec\":{\"command\":["
          "\"x\"]}}}},"
          "{\"name\":\"b\"}]");
    prepare();
    pull(0);
    pull(1); /* images come at the same time */
    start(0);
    CHECK_INT(next_step(POD_STEP_POST_START).i, 0);
    none();
    pod_life_hook_ended(&life, 0, 0, &now);
    start(1);
    none();

    /* A hook that fails ends its container; the next one starts. */
    begin("\"containers\":[{\"name\":\"a\",\"lifecycle\":{\"postStart\":{\"exec\":{\"command\":["
          "\"x\"]}}}},"
          "{\"name\":\"b\"}]");
    prepare();
    pull(0);
    pull(1);
    start(0);
    (void)next_step(POD_STEP_POST_START);
    pod_life_hook_ended(&life, 0, -1, &now);
    CHECK_INT(next_step(POD_STEP_STOP).i, 0);
    start(1);
}

TEST(deletion_runs_the_hook_within_the_grace)
{
    begin("\"containers\":[{\"name\":\"a\",\"lifecycle\":{\"preStop\":{\"exec\":{\"command\":["
          "\"x\"]}}}}]");
    prepare();
    run(0);
    pod_life_delete(&life, 30000, false, &now);
    CHECK_INT(next_step(POD_STEP_PRE_STOP).grace_ms, 30000);
    none();
    pass(10000);
    pod_life_hook_ended(&life, 0, 0, &now);
    CHECK_INT(next_step(POD_STEP_STOP).grace_ms, 20000);
    none();
    phase("Running");
    end(0, 143);
    (void)next_step(POD_STEP_TEAR_DOWN);
    pod_life_torn_down(&life);
    (void)next_step(POD_STEP_DELETE);
    none();

    /* A hook without end leaves a container the least grace. */
    begin("\"containers\":[{\"name\":\"a\",\"lifecycle\":{\"preStop\":{\"exec\":{\"command\":["
          "\"x\"]}}}}]");
    prepare();
    run(0);
    pod_life_delete(&life, 30000, false, &now);
    (void)next_step(POD_STEP_PRE_STOP);
    CHECK_INT(pod_life_wake_ms(&life), now.ms + 30000);
    pass(30000);
    CHECK_INT(next_step(POD_STEP_STOP).grace_ms, POD_MIN_GRACE_MS);
    none();
}

TEST(a_second_deletion_can_only_shorten_the_grace)
{
    begin(ONE);
    prepare();
    run(0);
    pod_life_delete(&life, 30000, false, &now);
    CHECK_INT(next_step(POD_STEP_STOP).grace_ms, 30000);
    pod_life_delete(&life, 60000, false, &now);
    none();
    pod_life_delete(&life, 5000, false, &now);
    CHECK_INT(next_step(POD_STEP_STOP).grace_ms, 5000);
    pod_life_delete(&life, 0, true, &now);
    CHECK_INT(next_step(POD_STEP_STOP).grace_ms, POD_MIN_GRACE_MS);
    none();
    end(0, 137);
    (void)next_step(POD_STEP_TEAR_DOWN);
    pod_life_torn_down(&life);
    none(); /* the object is gone already */
    CHECK(pod_at(&life) == POD_GONE);
}

TEST(deletion_before_the_start)
{
    begin(ONE);
    (void)next_step(POD_STEP_PREPARE);
    pod_life_delete(&life, 30000, false, &now);
    (void)next_step(POD_STEP_TEAR_DOWN);
    pod_life_prepared(&life, 0, NULL, &now); /* late */
    pod_life_torn_down(&life);
    (void)next_step(POD_STEP_DELETE);

    begin(ONE);
    prepare();
    pull(0);
    CHECK_INT(next_step(POD_STEP_START).i, 0);
    pod_life_delete(&life, 30000, false, &now);
    CHECK_INT(next_step(POD_STEP_STOP).i, 0);
    end(0, 137);
    (void)next_step(POD_STEP_TEAR_DOWN);
}

TEST(pulls_that_fail_are_tried_again_with_growing_pauses)
{
    begin(ONE);
    prepare();
    (void)next_step(POD_STEP_PULL);
    pod_life_pulled(&life, 0, -1, "ErrImagePull", "no such image", NULL, NULL, &now);
    none();
    CHECK(str_is(waiting_reason(0), "ErrImagePull"));
    pass(10000);
    (void)next_step(POD_STEP_PULL);
    pod_life_pulled(&life, 0, -1, "ErrImagePull", "no such image", NULL, NULL, &now);
    CHECK(str_is(waiting_reason(0), "ImagePullBackOff"));
    CHECK_INT(pod_life_wake_ms(&life), now.ms + 20000);
    phase("Pending");
}

TEST(a_program_that_cannot_start_counts_as_an_end)
{
    begin("\"restartPolicy\":\"Never\"," ONE);
    prepare();
    pull(0);
    (void)next_step(POD_STEP_START);
    pod_life_started(&life, 0, -1, "StartError", "no such file", "c", &now);
    (void)next_step(POD_STEP_TEAR_DOWN);
    phase("Failed");
    const struct json *t = json_path(state("containerStatuses", 0), "state", "terminated", NULL);
    CHECK(str_is(json_get_str(t, "reason"), "StartError"));
    CHECK_INT(json_int_or(json_getc(t, "exitCode"), 0), 128);

    begin(ONE);
    prepare();
    pull(0);
    (void)next_step(POD_STEP_START);
    pod_life_started(&life, 0, -1, "CreateContainerConfigError", "configmap \"x\" not found", NULL,
                     &now);
    none();
    CHECK(str_is(waiting_reason(0), "CreateContainerConfigError"));
    pod_life_poke(&life);
    run(0);
    CHECK_INT(life.containers[0].restarts, 0);
}

TEST(probes_decide_on_readiness_and_restarts)
{
    begin("\"terminationGracePeriodSeconds\":7,\"containers\":[{\"name\":\"a\",\"readinessProbe\":{"
          "\"tcpSocket\":{\"port\":1}},\"livenessProbe\":{\"tcpSocket\":{\"port\":1}}}]");
    prepare();
    run(0);
    CHECK(is_condition("Ready", "False"));
    CHECK(pod_life_probed(&life, 0, POD_PROBE_READINESS, true, &now));
    CHECK(!pod_life_probed(&life, 0, POD_PROBE_READINESS, true, &now));
    CHECK(is_condition("Ready", "True"));
    CHECK(pod_life_probed(&life, 0, POD_PROBE_LIVENESS, false, &now));
    CHECK_INT(next_step(POD_STEP_STOP).grace_ms, 7000);
    CHECK(is_condition("Ready", "True")); /* it still serves, as far as its probe knows */
    CHECK(!pod_life_probed(&life, 0, POD_PROBE_LIVENESS, false, &now));
    CHECK(pod_life_probed(&life, 0, POD_PROBE_READINESS, false, &now));
    CHECK(is_condition("Ready", "False"));
    end(0, 137);
    run(0);
    CHECK(is_condition("Ready", "False"));
}

TEST(a_container_that_is_deleted_is_ready_until_its_end)
{
    begin(ONE);
    prepare();
    run(0);
    none();
    pod_life_delete(&life, 30000, false, &now);
    (void)next_step(POD_STEP_STOP);
    CHECK(is_condition("Ready", "True"));
    end(0, 0);
    (void)next_step(POD_STEP_TEAR_DOWN);
    CHECK(is_condition("Ready", "False"));
}

TEST(a_deadline_ends_the_pod)
{
    begin("\"activeDeadlineSeconds\":60," ONE);
    prepare();
    run(0);
    none();
    CHECK_INT(pod_life_wake_ms(&life), now.ms + 60000);
    pass(60000);
    (void)next_step(POD_STEP_STOP);
    end(0, 0);
    (void)next_step(POD_STEP_TEAR_DOWN);
    phase("Failed");
    CHECK(str_is(json_get_str(status(), "reason"), "DeadlineExceeded"));
}

TEST(a_jump_of_the_wall_clock_ends_no_pod)
{
    begin("\"activeDeadlineSeconds\":60," ONE);
    prepare();
    run(0);
    none();
    now.unix_ms += 86400000;
    pod_life_set_spec(&life, &spec, &now);
    none();
    CHECK_INT(pod_life_wake_ms(&life), now.ms + 60000);
}

TEST(an_evicted_pod_has_failed)
{
    begin(ONE);
    prepare();
    run(0);
    pod_life_evict(&life, "Evicted", "The node was low on resource: memory.", 0, &now);
    (void)next_step(POD_STEP_STOP);
    end(0, 0);
    (void)next_step(POD_STEP_TEAR_DOWN);
    phase("Failed");
    CHECK(is_condition("DisruptionTarget", "True"));
}

TEST(a_refused_pod_has_failed)
{
    begin(ONE);
    pod_life_refuse(&life, "OutOfcpu", "no room", &now);
    (void)next_step(POD_STEP_TEAR_DOWN);
    phase("Failed");
    pod_life_torn_down(&life);
    none();
    CHECK(str_is(json_get_str(status(), "reason"), "OutOfcpu"));
    CHECK(str_is(json_get_str(status(), "message"), "Pod was rejected: no room"));
    CHECK(!is_condition("DisruptionTarget", "True"));
}

TEST(a_changed_image_replaces_the_container)
{
    static struct pod_spec other;
    begin(ONE);
    prepare();
    run(0);
    parse("{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{\"containers\":[{\"name\":\"a\","
          "\"image\":"
          "\"j\"}],\"ephemeralContainers\":[{\"name\":\"e\",\"image\":\"k\"}]}}",
          &other);
    pod_life_set_spec(&life, &other, &now);
    CHECK_INT(next_step(POD_STEP_STOP).i, 0);
    run(1);
    end(0, 143);
    run(0);
    CHECK_INT(life.containers[0].restarts, 1);
    end(1, 1); /* an ephemeral container ends for good */
    none();
}

static void change_image(struct pod_spec *to, const char *image)
{
    parse(arena_printf(&arena,
                       "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{"
                       "\"containers\":[{\"name\":\"a\",\"image\":\"%s\"}]}}",
                       image),
          to);
    pod_life_set_spec(&life, to, &now);
}

TEST(a_changed_image_ends_pauses_and_pulls_of_the_one_before)
{
    static struct pod_spec second, third;
    begin(ONE);
    prepare();
    CHECK_INT(next_step(POD_STEP_PULL).i, 0);
    pod_life_pulled(&life, 0, -1, "ErrImagePull", "no", NULL, NULL, &now);
    none();
    change_image(&second, "j");
    CHECK_INT(next_step(POD_STEP_PULL).i, 0);
    change_image(&third, "k");
    run(0);
    CHECK_INT(life.containers[0].restarts, 0);
    none();
}

TEST(an_ephemeral_container_waits_for_no_other)
{
    begin("\"initContainers\":[{\"name\":\"x\"}],\"containers\":[{\"name\":\"a\"}],"
          "\"ephemeralContainers\":[{\"name\":\"e\"}]");
    prepare();
    run(2);
    run(0);
    none(); /* the init container runs */
    end(2, 0);
    none();
    end(0, 0);
    run(1);
    phase("Running");
}

TEST(after_a_start_of_the_machine_init_containers_run_again)
{
    begin("\"initContainers\":[{\"name\":\"x\"}],\"containers\":[{\"name\":\"a\"}]");
    struct pod_container_end e = { .exit_code = 0 };
    pod_life_restore_lost(&life, 0, 0, &e, &now);
    e = (struct pod_container_end){ .exit_code = 255, .reason = "Unknown" };
    pod_life_restore_lost(&life, 1, 3, &e, &now);
    prepare();
    run(0);
    none();
    end(0, 0);
    run(1);
    CHECK_INT(life.containers[0].restarts, 1);
    CHECK_INT(life.containers[1].restarts, 4);
    phase("Running");
}

TEST(a_restart_of_the_agent_takes_over)
{
    begin("\"initContainers\":[{\"name\":\"x\"}],\"containers\":[{\"name\":\"a\",\"image\":\"i\"},"
          "{\"name\":\"b\",\"image\":\"i\"}]");
    struct pod_container_end e = { .exit_code = 0 };
    pod_life_restore_prepared(&life);
    pod_life_restore_ended(&life, 0, 0, &e, &now);
    pod_life_restore_running(&life, 1, 4, 5, "c", "i", "d");
    e = (struct pod_container_end){ .exit_code = 137 };
    pod_life_restore_ended(&life, 2, 2, &e, &now);
    run(2);
    none();
    CHECK_INT(life.containers[2].restarts, 3);
    CHECK_INT(life.containers[1].restarts, 4);
    phase("Running");
}

/* Whatever comes in any order: states stay within their tables (asserted), at the end nothing runs,
 * and every step that was started is answered once. */
TEST(any_order_of_events_ends)
{
    for (int round = 0; round < 3000; round++) {
        begin("\"restartPolicy\":\"OnFailure\",\"initContainers\":[{\"name\":\"x\"},{\"name\":"
              "\"s\",\"restartPolicy\":"
              "\"Always\"}],\"containers\":[{\"name\":\"a\",\"lifecycle\":{\"preStop\":{\"sleep\":{"
              "\"seconds\":1}},"
              "\"postStart\":{\"sleep\":{\"seconds\":1}}}},{\"name\":\"b\"}]");
        bool is_asked = false, is_torn = false, is_deleted = false;
        for (int turn = 0; turn < 400 && pod_at(&life) != POD_GONE; turn++) {
            struct pod_step s;
            while (pod_life_next(&life, &now, &s)) {
                is_asked |= s.kind == POD_STEP_PREPARE;
                is_torn |= s.kind == POD_STEP_TEAR_DOWN;
                is_deleted |= s.kind == POD_STEP_DELETE;
            }
            if (pod_life_wake_ms(&life) <= now.ms)
                TEST_FAIL("a timer that is due has no step (seed in round %d)", round);
            if (is_asked && test_random() % 2) {
                is_asked = false;
                pod_life_prepared(&life, test_random() % 3 ? 0 : -1, "no", &now);
            }
            size_t i = test_random() % life.n;
            struct pod_container_life *c = &life.containers[i];
            struct pod_container_end e = { .exit_code = (int)(test_random() % 2) };
            switch (pod_container_at(c)) {
            case POD_CONTAINER_PULLING:
                pod_life_pulled(&life, i, test_random() % 4 ? 0 : -1, "ErrImagePull", "no", "i",
                                "i", &now);
                break;
            case POD_CONTAINER_STARTING:
                pod_life_started(&life, i, test_random() % 4 ? 0 : -1,
                                 test_random() % 2 ? "StartError" : "CreateContainerError", "no",
                                 "c", &now);
                break;
            case POD_CONTAINER_POST_START:
            case POD_CONTAINER_PRE_STOP:
                pod_life_hook_ended(&life, i, test_random() % 2 ? 0 : -1, &now);
                break;
            case POD_CONTAINER_RUNNING:
            case POD_CONTAINER_STOPPING:
                if (test_random() % 3 == 0)
                    pod_life_ended(&life, i, &e, &now);
                break;
            default:
                break;
            }
            if (is_torn && test_random() % 2) {
                is_torn = false;
                pod_life_torn_down(&life);
            }
            if (is_deleted) {
                is_deleted = false;
                pod_life_gone(&life);
            }
            if (turn > 100 || test_random() % 50 == 0)
                pod_life_delete(&life, test_random() % 40000, false, &now);
            (void)status();
            pass(test_random() % 4 == 0 ? test_random() % 20000 : 1);
        }
        CHECK(pod_at(&life) == POD_GONE);
        for (size_t i = 0; i < life.n; i++)
            CHECK(!pod_container_runs(&life.containers[i]));
    }
    pod_life_fini(&life);
    arena_fini(&arena);
}

TEST_MAIN
