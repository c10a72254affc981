/* SPDX-License-Identifier: Apache-2.0 */
/* Priority and fairness: who gets the next seat, who waits, who is refused. */
#include "api/flow.h"
#include "test.h"

enum { TICKETS = 4096 };

static struct loop loop;
static struct flows flows;
static struct asked {
    struct flow_ticket t;
    unsigned runs, refusals;
} asked[TICKETS];
static size_t n_asked;

static void on_run(struct flow_ticket *t)
{
    container_of(t, struct asked, t)->runs++;
}

static void on_refuse(struct flow_ticket *t)
{
    container_of(t, struct asked, t)->refusals++;
}

static void begin(void)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
    flows_init(&flows, &loop, on_run, on_refuse);
    memset(asked, 0, sizeof asked);
    n_asked = 0;
}

static void end(void)
{
    for (size_t i = 0; i < n_asked; i++)
        flow_leave(&flows, &asked[i].t);
    CHECK(list_is_empty(&flows.waiting));
    flows_fini(&flows);
    loop_run(&loop);
    loop_fini(&loop);
}

static enum flow_answer ask(const struct flow_question *q)
{
    CHECK(n_asked < TICKETS);
    return flow_enter(&flows, &asked[n_asked++].t, q);
}

static const struct str accounts[] = { { "system:serviceaccounts", 22 },
                                       { "system:authenticated", 20 } };
static const struct str people[] = { { "system:authenticated", 20 } };
static const struct str masters[] = { { "system:masters", 14 }, { "system:authenticated", 20 } };
static const struct str nodes[] = { { "system:nodes", 12 }, { "system:authenticated", 20 } };

static struct flow_question by(const char *user, const struct str *groups, size_t n)
{
    return (struct flow_question){ .user = str_of(user),
                                   .groups = groups,
                                   .n_groups = n,
                                   .verb = STR("get"),
                                   .resource = STR("pods") };
}

static struct flow_question person(const char *user)
{
    return by(user, people, 1);
}

/* Until nobody gets a seat at once. */
static size_t fill(const struct flow_question *q)
{
    size_t n = 0;
    while (ask(q) == FLOW_RUN)
        n++;
    return n;
}

static const char *schema_of(struct flow_question q)
{
    CHECK(ask(&q) == FLOW_RUN);
    return flow_schema_name(&asked[n_asked - 1].t);
}

TEST(requests_belong_where_upstream_puts_them)
{
    begin();
    struct flow_question lease = by("system:serviceaccount:a:b", accounts, 2);
    lease.group = STR("coordination.k8s.io");
    lease.resource = STR("leases");
    lease.verb = STR("list");
    CHECK(strcmp(schema_of(lease), "service-accounts") == 0);
    lease.verb = STR("update");
    CHECK(strcmp(schema_of(lease), "workload-leader-election") == 0);
    struct flow_question node = by("system:node:n", nodes, 2), probe = person("x");
    CHECK(strcmp(schema_of(node), "system-nodes") == 0);
    node.resource = STR("nodes");
    node.subresource = STR("status");
    CHECK(strcmp(schema_of(node), "system-node-high") == 0);
    CHECK(strcmp(schema_of(person("x")), "global-default") == 0);
    CHECK(strcmp(schema_of(by("admin", masters, 2)), "exempt") == 0);
    CHECK(strcmp(schema_of(by("x", NULL, 0)), "catch-all") == 0);
    CHECK(strcmp(schema_of(by("system:kube-scheduler", people, 1)), "kube-scheduler") == 0);
    probe.resource = STR("");
    probe.path = STR("/readyz");
    CHECK(strcmp(schema_of(probe), "probes") == 0);
    end();
}

TEST(users_differ_after_a_nul)
{
    begin();
    struct flow_question b = person(""), c = person("");
    b.user = str_n("a\0b", 3);
    c.user = str_n("a\0c", 3);
    CHECK_INT(ask(&b), FLOW_RUN);
    CHECK_INT(ask(&c), FLOW_RUN);
    CHECK_INT(flows.known.n, 2);
    flow_leave(&flows, &asked[0].t);
    CHECK_INT(flows.known.n, 1);
    flow_leave(&flows, &asked[1].t);
    CHECK_INT(flows.known.n, 0);
    end();
}

TEST(who_is_exempt_never_waits)
{
    begin();
    const struct flow_question q = by("admin", masters, 2);
    for (int i = 0; i < 2000; i++)
        CHECK_INT(ask(&q), FLOW_RUN);
    end();
}

TEST(a_level_lends_but_keeps_what_others_were_promised)
{
    begin();
    const struct flow_question q = person("a"), w = by("system:serviceaccount:a:b", accounts, 2);
    size_t n = fill(&q);
    CHECK(n > 49 && n < 400); /* more than its own, less than all */
    CHECK(ask(&w) == FLOW_RUN);
    end();
}

TEST(a_list_takes_more_seats)
{
    begin();
    struct flow_question q = person("a");
    size_t n = fill(&q);
    end();
    begin();
    q.verb = STR("list");
    size_t lists = fill(&q);
    CHECK(lists >= n / FLOW_LIST_SEATS && lists <= n / FLOW_LIST_SEATS + 1);
    end();
}

TEST(a_seat_goes_to_the_flow_that_has_the_fewest)
{
    begin();
    const struct flow_question greedy = person("greedy"), modest = person("modest");
    (void)fill(&greedy);
    while (ask(&greedy) == FLOW_WAIT)
        ;
    CHECK_INT(flows.level[FLOW_GLOBAL_DEFAULT].waiting, FLOW_QUEUE_MAX);
    size_t at = n_asked;
    CHECK_INT(ask(&modest), FLOW_WAIT);
    CHECK_INT(ask(&modest), FLOW_WAIT);
    flow_leave(&flows, &asked[0].t);
    flow_leave(&flows, &asked[1].t);
    CHECK_INT(asked[at].runs, 0); /* not from within a call */
    (void)loop_turn(&loop, false);
    CHECK_INT(asked[at].runs + asked[at + 1].runs, 2);
    end();
}

TEST(order_within_a_flow_is_kept)
{
    begin();
    const struct flow_question q = person("a");
    size_t first = fill(&q); /* its last one waits */
    CHECK_INT(ask(&q), FLOW_WAIT);
    flow_leave(&flows, &asked[0].t);
    (void)loop_turn(&loop, false);
    CHECK_INT(asked[first].runs, 1);
    CHECK_INT(asked[first + 1].runs, 0);
    end();
}

static unsigned count_refusals(size_t n)
{
    unsigned refused = 0;
    for (size_t i = 0; i < n; i++)
        refused += asked[i].refusals;
    return refused;
}

TEST(a_newcomer_takes_the_place_of_the_longest_queue)
{
    begin();
    char name[32];
    (void)fill(&(struct flow_question){
        .user = STR("u"), .groups = people, .n_groups = 1, .resource = STR("pods") });
    for (int u = 0; flows.level[FLOW_GLOBAL_DEFAULT].waiting < FLOW_LEVEL_QUEUE_MAX; u++) {
        (void)snprintf(name, sizeof name, "user-%d", u);
        const struct flow_question q = person(name);
        for (int i = 0; i < FLOW_QUEUE_MAX; i++)
            (void)ask(&q);
    }
    const struct flow_question q = person("new");
    size_t at = n_asked;
    CHECK_INT(ask(&q), FLOW_WAIT);
    CHECK_INT(flows.level[FLOW_GLOBAL_DEFAULT].waiting, FLOW_LEVEL_QUEUE_MAX);
    CHECK_INT(count_refusals(at), 0); /* not from within the call */
    (void)loop_turn(&loop, false);
    CHECK_INT(count_refusals(at), 1);
    end();
}

TEST(who_leaves_before_it_hears_of_its_refusal_is_not_called)
{
    begin();
    char name[32];
    (void)fill(&(struct flow_question){
        .user = STR("u"), .groups = people, .n_groups = 1, .resource = STR("pods") });
    for (int u = 0; flows.level[FLOW_GLOBAL_DEFAULT].waiting < FLOW_LEVEL_QUEUE_MAX; u++) {
        (void)snprintf(name, sizeof name, "user-%d", u);
        const struct flow_question q = person(name);
        for (int i = 0; i < FLOW_QUEUE_MAX; i++)
            (void)ask(&q);
    }
    const struct flow_question q = person("new");
    size_t at = n_asked, left = 0;
    CHECK_INT(ask(&q), FLOW_WAIT);
    while (left < at && (asked[left].t.schema || !list_is_linked(&asked[left].t.node)))
        left++;
    CHECK(left < at);
    flow_leave(&flows, &asked[left].t);
    (void)loop_turn(&loop, false);
    CHECK_INT(count_refusals(at), 0);
    end();
}

TEST(who_leaves_the_queue_is_not_called)
{
    begin();
    const struct flow_question q = person("a");
    size_t first = fill(&q);
    CHECK(timer_is_armed(&flows.timer));
    flow_leave(&flows, &asked[first].t);
    CHECK(!timer_is_armed(&flows.timer));
    flow_leave(&flows, &asked[0].t);
    (void)loop_turn(&loop, false);
    CHECK_INT(asked[first].runs + asked[first].refusals, 0);
    end();
}

/* The clock is the loop's; the waiting time is made to have begun earlier. */
TEST(who_waits_too_long_is_refused)
{
    begin();
    const struct flow_question q = person("a");
    size_t first = fill(&q);
    asked[first].t.since_ms = 0;
    flows.timer.run(&flows.timer);
    if (!asked[first].refusals) /* a machine that has just started */
        test_skipped = "the clock is too young";
    else
        CHECK(!asked[first].t.schema);
    end();
}

TEST(catch_all_does_not_queue)
{
    begin();
    const struct flow_question q = by("x", NULL, 0);
    while (ask(&q) == FLOW_RUN)
        ;
    CHECK(list_is_empty(&flows.waiting));
    end();
}

/* Whatever happens: the books balance, nobody is forgotten while there are seats. */
TEST(random_coming_and_going_balances)
{
    begin();
    n_asked = TICKETS;
    for (int i = 0; i < 60000; i++) {
        struct asked *a = &asked[test_random_below(TICKETS)];
        char name[16];
        (void)snprintf(name, sizeof name, "u%d", (int)test_random_below(5));
        struct flow_question q = person(name);
        if (test_random_below(3) == 0)
            q = by(name, accounts, 2);
        if (test_random_below(3) == 0)
            q.verb = STR("list");
        if (a->t.schema)
            flow_leave(&flows, &a->t);
        else
            (void)flow_enter(&flows, &a->t, &q);
        if (test_random_below(20) == 0)
            (void)loop_turn(&loop, false);
    }
    unsigned in_use = 0, waiting = 0;
    for (size_t i = 0; i < TICKETS; i++) {
        waiting += asked[i].t.waiting;
        in_use += asked[i].t.schema && !asked[i].t.waiting ? asked[i].t.seats : 0;
    }
    CHECK_INT(in_use, flows.in_use);
    unsigned n_waiting = 0;
    for (size_t l = 0; l < FLOW_LEVELS; l++)
        n_waiting += flows.level[l].waiting;
    CHECK_INT(waiting, n_waiting);
    end();
}

TEST_MAIN
