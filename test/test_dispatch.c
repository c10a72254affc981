/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher with guests that the tests play themselves, on a clock that they move. */
#include "base/vec.h"
#include "operator/v1/dispatch.h"
#include "test.h"

#include <errno.h>

enum { MS = 1000, SECOND = 1000000, INSTANCES = 4 };

static struct loop loop;
static struct dispatch *all;
static uint64_t clock_us;

static uint64_t get_clock(void)
{
    return clock_us;
}

/* One operator and what its guests were asked, oldest first. */
struct asked {
    unsigned instance;
    uint64_t token;
    char *payload;
};

struct player {
    struct dispatch_operator *o;
    VEC(struct asked) asked;
    size_t n_answered; /* asked[n_answered] is the oldest without an answer */
    uint64_t cpu_us[DISPATCH_INSTANCES_MAX], cost_us; /* cost: added at each activation */
    unsigned n_started, n_ended, next_object, list_at, list_to, n_anew, most_waiting;
    int activate_result;
    bool lacks_object; /* the last activation */
    struct dispatch_result last_result;
    char last_message[64];
    unsigned n_results;
    bool is_drained;
};

static int play_object(void *arg, unsigned controller, struct work_key key, struct buf *to)
{
    if (str_is(key.name, "gone"))
        return -ENOENT;
    if (str_is(key.name, "large")) {
        for (int i = 0; i <= DISPATCH_OBJECT_MAX_BYTES; i++)
            (void)buf_add_char(to, ' ');
        return 0;
    }
    if (str_is(key.name, "unread")) {
        (void)buf_add_str(to, STR("{\"half\":"));
        return -EAGAIN;
    }
    return buf_add_str(to, STR("{}"));
}

static int play_activate(void *arg, unsigned instance, uint64_t token, struct str payload,
                         bool lacks_object, struct err *err)
{
    struct player *p = arg;
    p->lacks_object = lacks_object;
    if (p->activate_result < 0)
        return err_set(err, p->activate_result, "not now");
    struct asked a = { instance, token, str_dup(payload) };
    vec_push(&p->asked, a);
    return 0;
}

static int play_start(void *arg, unsigned instance, struct err *err)
{
    struct player *p = arg;
    p->n_started++;
    return 0;
}

static void play_end(void *arg, unsigned instance)
{
    struct player *p = arg;
    p->n_ended++;
}

static bool play_refill(void *arg, unsigned controller, bool is_new, size_t room)
{
    struct player *p = arg;
    if (is_new) {
        p->list_at = 0;
        p->n_anew++;
    }
    for (; room > 0 && p->list_at < p->list_to; room--) {
        char name[32];
        (void)snprintf(name, sizeof name, "listed-%u", p->list_at++);
        (void)dispatch_add(p->o, controller, (struct work_key){ STR("ns"), str_of(name) },
                           WORK_INITIAL, WORK_LOW, NULL);
    }
    p->most_waiting =
        MAX(p->most_waiting, (unsigned)work_queue_depth(dispatch_queue(p->o, controller)));
    return p->list_at < p->list_to;
}

static uint64_t play_cpu(void *arg, unsigned instance)
{
    struct player *p = arg;
    return p->cpu_us[instance];
}

static void play_result(void *arg, const struct dispatch_result *result)
{
    struct player *p = arg;
    p->last_result = *result;
    (void)snprintf(p->last_message, sizeof p->last_message, STR_FMT, STR_ARG(result->message));
    p->n_results++;
}

static const struct dispatch_ops play_ops = {
    .object = play_object,
    .activate = play_activate,
    .instance_start = play_start,
    .instance_end = play_end,
    .refill = play_refill,
    .cpu_us = play_cpu,
    .on_result = play_result,
};

static void begin_all(void)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    clock_us = 1000 * (uint64_t)SECOND;
    all = dispatch_new(&loop, &(struct dispatch_opts){ .runners = 1, .now_us = get_clock });
}

static void turn(void)
{
    for (int i = 0; i < 50 && !list_is_empty(&loop.deferred); i++)
        (void)loop_turn(&loop, false);
}

static void end_all(void)
{
    dispatch_free(all);
    (void)loop_turn(&loop, false);
    loop_fini(&loop);
}

/* With n controllers named "c0", "c1"; its first instance is ready and nothing holds it. */
static void play(struct player *p, const char *name, unsigned n, unsigned instances)
{
    static const char *const names[] = { "c0", "c1", "c2" };
    struct dispatch_controller_opts opts[3] = { 0 };
    for (unsigned i = 0; i < n; i++)
        opts[i] = (struct dispatch_controller_opts){ .name = names[i], .concurrency = instances };
    *p = (struct player){ 0 };
    p->o = dispatch_operator_new(all, name, &play_ops, p);
    CHECK_OK(dispatch_declare(p->o, opts, n, instances, NULL));
    dispatch_instance_ready(p->o, 0);
    dispatch_release(p->o, DISPATCH_HOLD_START);
}

static void unplay(struct player *p)
{
    dispatch_operator_free(p->o);
    vec_each (a, &p->asked)
        free(a->payload);
    vec_fini(&p->asked);
}

static void add(struct player *p, unsigned controller, const char *name, enum work_reason reason,
                enum work_priority priority)
{
    CHECK_OK(dispatch_add(p->o, controller, (struct work_key){ STR("ns"), str_of(name) }, reason,
                          priority, NULL));
}

/* The oldest unanswered activation is about this key, or configuration. */
static struct asked *asked(struct player *p, const char *name)
{
    turn();
    CHECK(p->n_answered < p->asked.n);
    struct asked *a = &p->asked.p[p->n_answered];
    char part[80];
    (void)snprintf(part, sizeof part, "\"name\":\"%s\"", name);
    if (!strstr(a->payload, part))
        TEST_FAIL("asked %s, not about %s", a->payload, name);
    return a;
}

static void answer(struct player *p, int64_t value)
{
    CHECK(p->n_answered < p->asked.n);
    struct asked *a = &p->asked.p[p->n_answered++];
    p->cpu_us[a->instance] += p->cost_us;
    dispatch_activated(p->o, a->instance, a->token, value, STR("said so"));
}

static void nothing_asked(struct player *p)
{
    turn();
    CHECK_INT(p->asked.n, p->n_answered);
}

/* Whatever wakes the host lets timers run that are due. */
static void pass(struct player *p, uint64_t us)
{
    clock_us += us;
    dispatch_release(p->o, DISPATCH_HOLD_STOP);
    turn();
}

TEST(an_activation_says_what_and_why)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 1);
    add(&p, 0, "web", WORK_UPDATE, WORK_NORMAL);
    add(&p, 0, "web", WORK_OWNED, WORK_NORMAL);
    CHECK_STR(str_of(asked(&p, "web")->payload),
              "{\"type\":\"reconcile\",\"controller\":\"c0\",\"namespace\":\"ns\",\"name\":\"web\","
              "\"reasons\":[\"update\",\"owned\"],\"attempt\":0,\"object\":{}}");
    answer(&p, 0);
    add(&p, 0, "gone", WORK_DELETE, WORK_NORMAL);
    CHECK(strstr(asked(&p, "gone")->payload, "\"reasons\":[\"delete\"],\"attempt\":0,"
                                             "\"object\":null}"));
    answer(&p, 0);
    add(&p, 0, "large", WORK_CREATE, WORK_NORMAL);
    CHECK(strstr(asked(&p, "large")->payload, "\"attempt\":0}"));
    CHECK(!p.lacks_object);
    answer(&p, 0);
    add(&p, 0, "unread", WORK_CREATE, WORK_NORMAL);
    CHECK(strstr(asked(&p, "unread")->payload, "\"attempt\":0}"));
    CHECK(p.lacks_object);
    answer(&p, 0);
    CHECK_OK(dispatch_add(p.o, 0, (struct work_key){ STR(""), STR("a\"b:c") }, WORK_CREATE,
                          WORK_NORMAL, NULL));
    turn();
    CHECK(strstr(p.asked.p[4].payload, "\"namespace\":\"\",\"name\":\"a\\\"b:c\""));
    unplay(&p);
    end_all();
}

TEST(a_payload_takes_the_object_that_was_read_for_it)
{
    struct str payload = STR("{\"type\":\"reconcile\"}");
    scoped(buf_fini_scoped) struct buf to = BUF_INIT(1 << 20);
    dispatch_add_object(payload, STR("{\"a\":1}"), &to);
    CHECK_STR(buf_str(&to), "{\"type\":\"reconcile\",\"object\":{\"a\":1}}");
    buf_reset(&to);
    dispatch_add_object(payload, STR(""), &to);
    CHECK_STR(buf_str(&to), "{\"type\":\"reconcile\",\"object\":null}");
    buf_reset(&to);
    scoped(free_scoped) char *large = xalloc(DISPATCH_OBJECT_MAX_BYTES + 1);
    memset(large, ' ', DISPATCH_OBJECT_MAX_BYTES + 1);
    dispatch_add_object(payload, str_n(large, DISPATCH_OBJECT_MAX_BYTES + 1), &to);
    CHECK_STR(buf_str(&to), "{\"type\":\"reconcile\"}");
}

TEST(results_say_what_becomes_of_a_key)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 1);
    add(&p, 0, "web", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "web");
    answer(&p, 0);
    CHECK_INT(p.last_result.end, WORK_DONE);
    CHECK_INT(dispatch_next_due_ms(p.o), WORK_NEVER);
    nothing_asked(&p);

    add(&p, 0, "web", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "web");
    answer(&p, 1500);
    CHECK_INT(p.last_result.end, WORK_AGAIN);
    CHECK_INT(p.last_result.delay_ms, 1500);
    CHECK_INT(dispatch_next_due_ms(p.o), clock_us / 1000 + 1500);
    pass(&p, 1499 * MS);
    nothing_asked(&p);
    pass(&p, 1 * MS);
    CHECK(strstr(asked(&p, "web")->payload, "[\"requeue\"],\"attempt\":0"));

    answer(&p, -1);
    CHECK_INT(p.last_result.end, WORK_FAILED);
    CHECK_INT(p.last_result.delay_ms, 5);
    CHECK_STR(str_of(p.last_message), "said so");
    pass(&p, 5 * MS);
    CHECK(strstr(asked(&p, "web")->payload, "[\"retry\"],\"attempt\":1"));
    answer(&p, -1);
    CHECK_INT(p.last_result.delay_ms, 10);
    pass(&p, 10 * MS);
    CHECK(strstr(asked(&p, "web")->payload, "[\"retry\"],\"attempt\":2"));

    answer(&p, -2);
    CHECK_INT(p.last_result.end, WORK_REFUSED);
    CHECK_INT(dispatch_next_due_ms(p.o), WORK_NEVER);
    pass(&p, 2000 * (uint64_t)SECOND);
    nothing_asked(&p);
    struct dispatch_view view;
    dispatch_get_view(p.o, &view);
    CHECK_INT(view.activations, 5);
    CHECK_INT(view.failures, 3);
    CHECK_STR(str_of(view.last->key), "ns/web");
    unplay(&p);
    end_all();
}

TEST(an_answer_with_an_old_token_is_nobodys)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 1);
    add(&p, 0, "web", WORK_CREATE, WORK_NORMAL);
    uint64_t token = asked(&p, "web")->token;
    dispatch_activated(p.o, 0, token - 1, 0, STR(""));
    dispatch_activated(p.o, 7, token, 0, STR(""));
    CHECK_INT(p.n_results, 0);
    answer(&p, 0);
    dispatch_activated(p.o, 0, token, 0, STR(""));
    CHECK_INT(p.n_results, 1);
    unplay(&p);
    end_all();
}

TEST(a_trap_counts_as_a_failure_and_a_stop_as_nothing)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 1);
    add(&p, 0, "web", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "web");
    struct err why = { 0 };
    (void)err_set(&why, E_TRAP, "unreachable");
    dispatch_instance_gone(p.o, 0, &why);
    p.n_answered++;
    CHECK(p.last_result.trapped);
    CHECK_STR(str_of(p.last_message), "unreachable");
    pass(&p, 5 * MS);
    nothing_asked(&p); /* the guest is not back */
    dispatch_instance_ready(p.o, 0);
    CHECK(strstr(asked(&p, "web")->payload, "[\"retry\"],\"attempt\":1"));

    dispatch_instance_gone(p.o, 0, NULL);
    p.n_answered++;
    CHECK_INT(p.n_results, 1);
    dispatch_instance_ready(p.o, 0);
    CHECK(strstr(asked(&p, "web")->payload, "[\"retry\"],\"attempt\":1"));
    answer(&p, 0);
    unplay(&p);
    end_all();
}

TEST(an_activation_that_cannot_begin_costs_nothing_but_the_instance)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 1);
    p.activate_result = -ESTALE;
    add(&p, 0, "web", WORK_CREATE, WORK_NORMAL);
    turn();
    pass(&p, 2 * (uint64_t)SECOND);
    p.activate_result = -EBUSY;
    dispatch_instance_ready(p.o, 0);
    turn();
    p.activate_result = 0;
    nothing_asked(&p);
    pass(&p, 1 * (uint64_t)SECOND);
    CHECK(strstr(asked(&p, "web")->payload, "[\"create\"],\"attempt\":0"));
    unplay(&p);
    end_all();
}

static void on_drained(void *arg)
{
    struct player *p = arg;
    p->is_drained = true;
}

TEST(a_held_operator_hands_out_nothing_and_loses_nothing)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 1);
    add(&p, 0, "a", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "a");
    add(&p, 0, "b", WORK_CREATE, WORK_NORMAL);
    dispatch_hold(p.o, DISPATCH_HOLD_PAUSED);
    dispatch_hold(p.o, DISPATCH_HOLD_LEADER);
    dispatch_on_drained(p.o, on_drained, &p);
    turn();
    CHECK(!p.is_drained);
    answer(&p, 0);
    CHECK(!p.is_drained);
    turn();
    CHECK(p.is_drained);
    nothing_asked(&p);
    dispatch_release(p.o, DISPATCH_HOLD_PAUSED);
    nothing_asked(&p);
    dispatch_release(p.o, DISPATCH_HOLD_LEADER);
    (void)asked(&p, "b");
    answer(&p, 0);
    /* One that is at rest is drained on the next turn. */
    p.is_drained = false;
    dispatch_on_drained(p.o, on_drained, &p);
    CHECK(!p.is_drained);
    turn();
    CHECK(p.is_drained);
    unplay(&p);
    end_all();
}

TEST(a_controller_that_is_held_does_not_hold_the_others)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 2, 1);
    dispatch_hold_controller(p.o, 0, true);
    add(&p, 0, "a", WORK_CREATE, WORK_NORMAL);
    add(&p, 1, "b", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "b");
    answer(&p, 0);
    nothing_asked(&p);
    dispatch_hold_controller(p.o, 0, false);
    (void)asked(&p, "a");
    unplay(&p);
    end_all();
}

TEST(keys_survive_the_replacement_of_a_guest)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 2, 1);
    dispatch_hold(p.o, DISPATCH_HOLD_REPLACE);
    add(&p, 0, "old", WORK_CREATE, WORK_NORMAL);
    add(&p, 1, "kept", WORK_CREATE, WORK_NORMAL);
    CHECK_OK(dispatch_add_after(p.o, 1, (struct work_key){ STR("ns"), STR("later") }, WORK_ENQUEUE,
                                WORK_NORMAL, 50, NULL));
    dispatch_instance_gone(p.o, 0, NULL);
    struct dispatch_controller_opts opts[] = { { .name = "new" }, { .name = "c1" } };
    CHECK_OK(dispatch_declare(p.o, opts, 2, 2, NULL));
    dispatch_release(p.o, DISPATCH_HOLD_REPLACE);
    nothing_asked(&p);
    dispatch_instance_ready(p.o, 0);
    CHECK(strstr(asked(&p, "kept")->payload, "\"controller\":\"c1\""));
    answer(&p, 0);
    nothing_asked(&p);
    pass(&p, 60 * MS);
    (void)asked(&p, "later");
    answer(&p, 0);
    CHECK_INT(dispatch_declare(p.o, opts, 2, 0, NULL), E_LIMIT);
    unplay(&p);
    end_all();
}

TEST(urgent_work_of_any_controller_comes_first_and_equals_take_turns)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 2, 1);
    dispatch_hold(p.o, DISPATCH_HOLD_SYNC);
    add(&p, 0, "l1", WORK_INITIAL, WORK_LOW);
    add(&p, 0, "n1", WORK_UPDATE, WORK_NORMAL);
    add(&p, 0, "n2", WORK_UPDATE, WORK_NORMAL);
    add(&p, 1, "n3", WORK_UPDATE, WORK_NORMAL);
    add(&p, 1, "h1", WORK_ENQUEUE, WORK_HIGH);
    dispatch_release(p.o, DISPATCH_HOLD_SYNC);
    static const char *const order[] = { "h1", "n1", "n3", "n2", "l1" };
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        (void)asked(&p, order[i]);
        answer(&p, 0);
    }
    unplay(&p);
    end_all();
}

TEST(instances_come_when_the_others_are_slow_and_go_when_they_are_idle)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 3);
    add(&p, 0, "a", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "a");
    add(&p, 0, "b", WORK_CREATE, WORK_NORMAL);
    turn();
    CHECK_INT(p.n_started, 0); /* one key waits for a guest that computes: not worth it */
    dispatch_parked(p.o, 0, true);
    turn();
    CHECK_INT(p.n_started, 1);
    dispatch_instance_ready(p.o, 1);
    turn();
    CHECK_INT(p.asked.n, 2);
    CHECK_INT(p.asked.p[1].instance, 1);
    /* Not the same key to both. */
    add(&p, 0, "a", WORK_UPDATE, WORK_NORMAL);
    dispatch_parked(p.o, 1, true);
    turn();
    CHECK_INT(p.asked.n, 2);
    dispatch_parked(p.o, 0, false);
    answer(&p, 0);
    turn();
    CHECK_INT(p.asked.n, 3);
    CHECK_INT(p.asked.p[2].instance, 0);
    answer(&p, 0);
    answer(&p, 0);
    nothing_asked(&p);
    CHECK_INT(p.n_ended, 0);
    pass(&p, 45 * (uint64_t)SECOND);
    CHECK_INT(p.n_ended, 1);
    struct dispatch_view view;
    dispatch_get_view(p.o, &view);
    CHECK_INT(view.instances, 1);
    unplay(&p);
    end_all();
}

TEST(many_keys_call_for_instances_up_to_the_number_declared)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 3);
    char name[16];
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "k%d", i);
        add(&p, 0, name, WORK_CREATE, WORK_NORMAL);
    }
    turn();
    CHECK_INT(p.n_started, 1);
    dispatch_instance_ready(p.o, 1);
    turn();
    CHECK_INT(p.n_started, 2);
    dispatch_instance_ready(p.o, 2);
    turn();
    CHECK_INT(p.asked.n, 3);
    CHECK_INT(p.n_started, 2);
    unplay(&p);
    end_all();
}

TEST(one_operator_does_not_take_every_place)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, DISPATCH_INSTANCES_MAX);
    char name[16];
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "k%u", i);
        add(&p, 0, name, WORK_CREATE, WORK_NORMAL);
    }
    for (unsigned i = 0; i < DISPATCH_INSTANCES_MAX; i++) {
        dispatch_instance_ready(p.o, i);
        turn();
        for (unsigned k = 0; k <= i; k++)
            dispatch_parked(p.o, k, true);
    }
    turn();
    CHECK_INT(p.asked.n, DISPATCH_ACTIVE_PER_OPERATOR);
    unplay(&p);
    end_all();
}

TEST(configurations_are_told_first_and_to_every_instance)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 2);
    add(&p, 0, "a", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "a");
    add(&p, 0, "b", WORK_CREATE, WORK_NORMAL);
    dispatch_parked(p.o, 0, true);
    turn();
    dispatch_hold(p.o, DISPATCH_HOLD_SYNC);
    dispatch_instance_ready(p.o, 1);
    dispatch_config(p.o, 3, "settings");
    dispatch_release(p.o, DISPATCH_HOLD_SYNC);
    turn();
    CHECK_INT(p.asked.n, 2);
    CHECK_STR(str_of(p.asked.p[1].payload), "{\"type\":\"config\",\"name\":\"settings\"}");
    CHECK_INT(p.asked.p[1].instance, 1);
    answer(&p, 0); /* "a" */
    turn();
    CHECK_INT(p.asked.n, 3);
    CHECK(strstr(p.asked.p[2].payload, "settings"));
    CHECK_INT(p.asked.p[2].instance, 0);
    /* A failure is tried again, and "b" does not wait for that. */
    answer(&p, -1);
    CHECK(!p.last_result.controller);
    CHECK_INT(p.last_result.delay_ms, 100);
    (void)asked(&p, "settings");
    answer(&p, 0);
    (void)asked(&p, "b");
    answer(&p, 0);
    nothing_asked(&p);
    pass(&p, 100 * MS);
    CHECK_INT(asked(&p, "settings")->instance, 1);
    answer(&p, 0);
    nothing_asked(&p);
    unplay(&p);
    end_all();
}

TEST(first_lists_wait_a_few_at_a_time)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 1);
    p.list_to = 5000;
    dispatch_refill(p.o, 0);
    char name[32];
    for (unsigned i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof name, "listed-%u", i);
        (void)asked(&p, name);
        if (i == 700) {
            add(&p, 0, "event", WORK_UPDATE, WORK_NORMAL);
            answer(&p, 0);
            (void)asked(&p, "event");
        }
        answer(&p, 0);
    }
    nothing_asked(&p);
    CHECK(p.most_waiting <= DISPATCH_REFILL);
    CHECK_INT(p.n_anew, 1);
    unplay(&p);
    end_all();
}

TEST(a_full_queue_is_listed_anew_when_there_is_room)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 1);
    char name[32];
    int r = 0;
    unsigned n = 0;
    for (; r >= 0; n++) {
        (void)snprintf(name, sizeof name, "k%u", n);
        r = dispatch_add(p.o, 0, (struct work_key){ STR("ns"), str_of(name) }, WORK_CREATE,
                         WORK_NORMAL, NULL);
    }
    CHECK_INT(r, E_LIMIT);
    CHECK_INT(n, WORK_QUEUE_MAX_KEYS + 1);
    p.list_to = 3;
    for (; n > 1; n--) {
        turn();
        answer(&p, 0);
    }
    CHECK_INT(p.n_anew, 1);
    (void)asked(&p, "listed-0");
    unplay(&p);
    end_all();
}

TEST(one_key_does_not_wait_for_ten_thousand)
{
    begin_all();
    struct player big, small;
    play(&big, "ns/big", 1, 1);
    play(&small, "ns/small", 1, 1);
    char name[16];
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(name, sizeof name, "k%d", i);
        add(&big, 0, name, WORK_CREATE, WORK_NORMAL);
    }
    big.cost_us = small.cost_us = 100;
    for (int i = 0; i < 500; i++) {
        turn();
        answer(&big, 0);
    }
    add(&small, 0, "a", WORK_CREATE, WORK_NORMAL);
    (void)asked(&small, "a");
    unplay(&big);
    unplay(&small);
    end_all();
}

TEST(cpu_time_is_shared_by_weight)
{
    begin_all();
    enum { PLAYERS = 40, ROUNDS = 12000 };
    static struct player ps[PLAYERS];
    char name[24];
    /* More of them than may be busy at once; the first gets three shares, the second is expensive.
     */
    for (int i = 0; i < PLAYERS; i++) {
        (void)snprintf(name, sizeof name, "ns/op%d", i);
        play(&ps[i], name, 1, 1);
        ps[i].cost_us = i == 1 ? 1000 : 100;
        for (int k = 0; k < ROUNDS / 10; k++) {
            (void)snprintf(name, sizeof name, "k%d", k);
            add(&ps[i], 0, name, WORK_CREATE, WORK_NORMAL);
        }
    }
    dispatch_set_weight(ps[0].o, 300);
    for (int n = 0; n < ROUNDS;) {
        turn();
        unsigned busy = 0;
        for (int i = 0; i < PLAYERS; i++)
            busy += ps[i].n_answered < ps[i].asked.n;
        CHECK(busy <= DISPATCH_BUSY_PER_RUNNER);
        for (int i = 0; i < PLAYERS; i++) {
            if (ps[i].n_answered < ps[i].asked.n && test_random_below(3) == 0) {
                answer(&ps[i], 0);
                n++;
            }
        }
    }
    uint64_t usual = ps[2].cpu_us[0];
    for (int i = 2; i < PLAYERS; i++)
        CHECK(ps[i].cpu_us[0] * 10 > usual * 8 && ps[i].cpu_us[0] * 10 < usual * 12);
    CHECK(ps[0].cpu_us[0] * 10 > usual * 20); /* three, but for one activation at a time */
    CHECK(ps[1].cpu_us[0] * 10 < usual * 13);
    for (int i = 0; i < PLAYERS; i++)
        unplay(&ps[i]);
    end_all();
}

TEST(parked_activations_leave_room_for_others)
{
    begin_all();
    enum { PLAYERS = DISPATCH_BUSY_PER_RUNNER + 1 };
    struct player ps[PLAYERS];
    for (int i = 0; i < PLAYERS; i++) {
        play(&ps[i], "ns/op", 1, 1);
        add(&ps[i], 0, "a", WORK_CREATE, WORK_NORMAL);
    }
    turn();
    struct player *left = NULL;
    for (int i = 0; i < PLAYERS; i++) {
        if (ps[i].asked.n == 0)
            left = &ps[i];
    }
    CHECK(left);
    dispatch_parked(ps[left == &ps[0]].o, 0, true);
    (void)asked(left, "a");
    for (int i = 0; i < PLAYERS; i++)
        unplay(&ps[i]);
    end_all();
}

TEST(a_requeue_wakes_the_loop_and_an_idle_dispatcher_arms_nothing)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    all = dispatch_new(&loop, &(struct dispatch_opts){ .runners = 1 });
    struct player p;
    play(&p, "ns/op", 1, 1);
    add(&p, 0, "a", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "a");
    answer(&p, 20);
    while (p.asked.n < 2)
        (void)loop_turn(&loop, true);
    answer(&p, 0);
    turn();
    CHECK_INT(loop.timers.n, 0);
    unplay(&p);
    end_all();
}

TEST(metrics_have_controller_runtimes_names)
{
    begin_all();
    struct player p;
    play(&p, "ns/op", 1, 2);
    add(&p, 0, "a", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "a");
    clock_us += 3 * MS;
    answer(&p, -1);
    add(&p, 0, "a", WORK_CREATE, WORK_NORMAL);
    (void)asked(&p, "a");
    clock_us += 30 * MS;
    dispatch_hold(p.o, DISPATCH_HOLD_PAUSED);
    add(&p, 0, "b", WORK_CREATE, WORK_LOW);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    dispatch_metrics(all, &text);
    static const char *const expected[] = {
        "# TYPE workqueue_depth gauge\n",
        "workqueue_depth{name=\"c0\",controller=\"c0\",operator=\"ns/op\",priority=\"-100\"} 1\n",
        "workqueue_adds_total{name=\"c0\",controller=\"c0\",operator=\"ns/op\"} 3\n",
        "workqueue_retries_total{name=\"c0\",controller=\"c0\",operator=\"ns/op\"} 1\n",
        "workqueue_work_duration_seconds_bucket{name=\"c0\",controller=\"c0\",operator=\"ns/op\","
        "le=\"0.001\"} 0\n",
        "workqueue_work_duration_seconds_bucket{name=\"c0\",controller=\"c0\",operator=\"ns/op\","
        "le=\"0.01\"} 1\n",
        "workqueue_unfinished_work_seconds{name=\"c0\",controller=\"c0\",operator=\"ns/op\"} "
        "0.030000\n",
        "controller_runtime_reconcile_total{controller=\"c0\",operator=\"ns/op\",result=\"error\"} "
        "1\n",
        "controller_runtime_reconcile_time_seconds_sum{controller=\"c0\",operator=\"ns/op\"} "
        "0.003000\n",
        "controller_runtime_active_workers{controller=\"c0\",operator=\"ns/op\"} 1\n",
        "controller_runtime_max_concurrent_reconciles{controller=\"c0\",operator=\"ns/op\"} 2\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        if (!strstr(buf_cstr(&text), expected[i]))
            TEST_FAIL("no %s in\n%s", expected[i], buf_cstr(&text));
    }
    unplay(&p);
    end_all();
}

TEST(metrics_of_many_controllers_are_brief)
{
    begin_all();
    enum { N = DISPATCH_METRICS_DETAILED + 1 };
    struct player *ps = xnew_n(struct player, N);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 20);
    for (int i = 0; i < N; i++) {
        play(&ps[i], "ns/op", 1, 1);
        if (i == N - 1) {
            dispatch_metrics(all, &text);
            CHECK(strstr(buf_cstr(&text), "le=\"0.001\""));
            buf_reset(&text);
        }
        add(&ps[i], 0, "a", WORK_CREATE, WORK_NORMAL);
        (void)asked(&ps[i], "a");
        answer(&ps[i], 0);
    }
    dispatch_metrics(all, &text);
    CHECK(buf_ok(&text));
    CHECK(!strstr(buf_cstr(&text), "le=\"0.001\""));
    CHECK(strstr(buf_cstr(&text), "le=\"+Inf\"} 1\n"));
    for (int i = 0; i < N; i++)
        unplay(&ps[i]);
    free(ps);
    end_all();
}

/* ---- random histories ---- */

enum { CROWD = 6, CROWD_KEYS = 10 };

static struct member {
    struct player p;
    size_t n_seen;
    struct {
        uint64_t added, taken, worked;
        bool is_active;
    } keys[CROWD_KEYS];
    struct {
        bool is_open;
        uint64_t token;
        int key;
    } instances[INSTANCES];
} crowd[CROWD];

/* No key is active twice, no instance has two activations. */
static void look(struct member *m, uint64_t step)
{
    for (; m->n_seen < m->p.asked.n; m->n_seen++) {
        const struct asked *a = &m->p.asked.p[m->n_seen];
        int key = strstr(a->payload, "\"name\":\"k")[9] - '0';
        CHECK(!m->instances[a->instance].is_open && !m->keys[key].is_active);
        m->instances[a->instance].is_open = true;
        m->instances[a->instance].token = a->token;
        m->instances[a->instance].key = key;
        m->keys[key].is_active = true;
        m->keys[key].taken = step;
    }
}

static void finish(struct member *m, unsigned n, bool has_worked)
{
    int key = m->instances[n].key;
    m->instances[n].is_open = false;
    m->keys[key].is_active = false;
    if (has_worked)
        m->keys[key].worked = m->keys[key].taken;
}

static void misfortune(struct member *m, unsigned n)
{
    struct err why = { 0 };
    (void)err_set(&why, E_TRAP, "trap");
    finish(m, n, false);
    dispatch_instance_gone(m->p.o, n, test_random_below(2) ? &why : NULL);
}

static void crowd_step(struct member *m, uint64_t step, bool is_ending)
{
    unsigned n = (unsigned)test_random_below(INSTANCES);
    unsigned k = (unsigned)test_random_below(CROWD_KEYS);
    char name[8];
    (void)snprintf(name, sizeof name, "k%u", k);
    uint64_t what = test_random_below(is_ending ? 7 : 11);
    if (what < 4 && m->instances[n].is_open) {
        bool has_worked = is_ending || test_random_below(2);
        int64_t value = !has_worked ? -1 : test_random_below(2) ? 0 : 40;
        finish(m, n, has_worked);
        dispatch_activated(m->p.o, n, m->instances[n].token, value, STR(""));
    } else if (what == 4) {
        /* A key that has failed many times waits for up to 1,000 s: the end outlasts that. */
        clock_us += test_random_below(is_ending ? 10 * SECOND : 100 * MS);
    } else if (what == 5) {
        dispatch_instance_ready(m->p.o, n % (1 + m->p.n_started % INSTANCES));
    } else if (what == 6 && m->instances[n].is_open) {
        dispatch_parked(m->p.o, n, test_random_below(2));
    } else if (what == 7) {
        dispatch_release(m->p.o, DISPATCH_HOLD_PAUSED);
    } else if (what == 8) {
        m->keys[k].added = step;
        add(&m->p, 0, name, WORK_UPDATE, (enum work_priority)test_random_below(3));
    } else if (what == 9 && m->instances[n].is_open) {
        misfortune(m, n);
    } else if (what == 10 && test_random_below(20) == 0) {
        dispatch_hold(m->p.o, DISPATCH_HOLD_PAUSED);
    }
}

TEST(nothing_is_lost_and_nothing_comes_twice_under_random_histories)
{
    begin_all();
    memset(crowd, 0, sizeof crowd);
    for (int i = 0; i < CROWD; i++)
        play(&crowd[i].p, "ns/op", 1, INSTANCES);
    for (uint64_t step = 1; step < 60000; step++) {
        bool is_ending = step > 50000;
        crowd_step(&crowd[test_random_below(CROWD)], step, is_ending);
        for (int i = 0; i < CROWD && is_ending; i++) {
            dispatch_release(crowd[i].p.o, DISPATCH_HOLD_PAUSED);
            dispatch_instance_ready(crowd[i].p.o, 0);
        }
        turn();
        for (int i = 0; i < CROWD; i++)
            look(&crowd[i], step);
    }
    for (int i = 0; i < CROWD; i++) {
        for (int k = 0; k < CROWD_KEYS; k++)
            CHECK(crowd[i].keys[k].worked >= crowd[i].keys[k].added);
        unplay(&crowd[i].p);
    }
    end_all();
}

TEST_MAIN
