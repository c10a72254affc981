/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PodTopologySpread and InterPodAffinity by tables: verdicts, dry runs, scores, hints, defaults.
 *
 * Unless a test says otherwise: nodes a and b in zone 1, x and y in zone 2, each its own host; pods
 * that are there are written as the names of their nodes, "a a x".
 */
#include "sched_kit.h"
#include "test.h"

#include "sched/plugins/tally.h"

#define WITH_KIT(k, plugin, args)                                                                  \
    scoped(kit_fini) struct kit k;                                                                 \
    kit_init(&k);                                                                                  \
    kit_plugin(&k, plugin, args)

static void check_text(const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        TEST_FAIL("%s: \"%s\", expected \"%s\"", what, got, want);
}

static void four_nodes(struct kit *k)
{
    static const char *const names[] = { "a", "b", "x", "y" };
    for (int i = 0; i < 4; i++) {
        char labels[64];
        (void)snprintf(labels, sizeof(labels), "'zone': 'z%d', 'host': '%s'", 1 + i / 2, names[i]);
        kit_node(k, names[i], "", labels, NULL);
    }
}

/* Pods with these labels on the nodes; more: further members of the pod's spec, or of metadata. */
static void pods_with(struct kit *k, const char *nodes, const char *labels, const char *spec,
                      const char *metadata)
{
    static unsigned n;
    struct str rest = str_of(nodes), node;
    while (rest.n > 0) {
        (void)str_cut(rest, ' ', &node, &rest);
        n++;
        kit_put(k, SCHED_POD,
                "{'metadata': {'name': 'p%u', 'uid': 'p%u', 'namespace': 'default', 'labels': "
                "{%s}%s}, 'spec': {'nodeName': '" STR_FMT "'%s%s}}",
                n, n, labels, metadata, STR_ARG(node), *spec ? ", " : "", spec);
    }
}

static void pods(struct kit *k, const char *nodes, const char *labels)
{
    pods_with(k, nodes, labels, "", "");
}

static const struct sched_pod *pod_with(struct kit *k, const char *labels, const char *spec)
{
    return kit_pod(k,
                   "{'metadata': {'name': 'p', 'uid': 'new', 'namespace': 'default', 'labels': "
                   "{%s}}, 'spec': {%s}}",
                   labels, spec);
}

/* Reasons, in full, and the words that stand for them in tables. */
static const struct {
    const char *word, *text;
} reasons[] = {
    { "ok", "ok" },
    { "skew", "Unschedulable: node(s) didn't match pod topology spread constraints" },
    { "label", "UnschedulableAndUnresolvable: node(s) didn't match pod topology spread constraints "
               "(missing required label)" },
    { "affinity", "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules" },
    { "anti", "Unschedulable: node(s) didn't match pod anti-affinity rules" },
    { "existing", "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules" },
};

static const char *word_for(struct str reason)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_is(reason, reasons[i].text))
            return reasons[i].word;
    TEST_FAIL("unknown verdict \"" STR_FMT "\"", STR_ARG(reason));
}

/* "ok skew ..." by name of the node. */
static const char *verdicts(struct kit *k, const struct sched_pod *pod)
{
    struct str rest = str_of(kit_filter(k, pod)), one, name;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(65536);
    while (rest.n > 0) {
        (void)str_cut(rest, ';', &one, &rest);
        (void)str_cut(one, ':', &name, &one);
        (void)buf_printf(&text, "%s%s", text.n ? " " : "", word_for(str_trim(one)));
    }
    return arena_strndup(&k->arena, buf_cstr(&text), text.n);
}

/* ---- PodTopologySpread: filter ---- */

#define EXISTS(key)                                                                                \
    ", 'labelSelector': {'matchExpressions': [{'key': '" key "', 'operator': 'Exists'}]}"
#define HARD(key, skew, more)                                                                      \
    "{'topologyKey': '" key "', 'maxSkew': " #skew ", 'whenUnsatisfiable': 'DoNotSchedule'" more "}"
#define SOFT(key, skew, more)                                                                      \
    "{'topologyKey': '" key "', 'maxSkew': " #skew ", 'whenUnsatisfiable': 'ScheduleAnyway'" more  \
    "}"
#define SPREADS(list) "'topologySpreadConstraints': [" list "]"

struct spread_case {
    const char *name, *foos /* pods labelled foo */, *bars /* labelled bar */,
        *labels /* of the pod */, *spec, *want;
};
static const struct spread_case spread_cases[] = {
    { "nobody is there", "", "", "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))),
      "ok ok ok ok" },
    { "nobody is there, and the pod does not match itself", "", "", "'bar': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo"))), "ok ok ok ok" },
    { "no selector selects nobody", "a a a", "", "'foo': ''", SPREADS(HARD("zone", 1, "")),
      "ok ok ok ok" },
    { "an empty selector counts nobody but the pod itself", "a a a", "", "'foo': ''",
      SPREADS(HARD("zone", 1, ", 'labelSelector': {}")), "ok ok ok ok" },
    { "3/3 by zone", "a a b x y y", "", "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))),
      "ok ok ok ok" },
    { "3/2 by zone", "a a b x y", "", "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))),
      "skew skew ok ok" },
    { "4/2 by zone, 2 allowed", "a a b b x y", "", "'foo': ''",
      SPREADS(HARD("zone", 2, EXISTS("foo"))), "skew skew ok ok" },
    { "3/1 by zone, the pod does not match itself", "a a b x", "", "'bar': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo"))), "skew skew ok ok" },
    { "2/1 by zone, the pod does not match itself", "a a x", "", "'bar': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo"))), "ok ok ok ok" },
    { "other pods do not count", "a x", "a a a b b", "'foo': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo"))), "ok ok ok ok" },
    { "2/1/0/3 by host", "a a b y y y", "", "'foo': ''", SPREADS(HARD("host", 1, EXISTS("foo"))),
      "skew skew ok skew" },
    { "2/1/0/3 by host, 2 allowed", "a a b y y y", "", "'foo': ''",
      SPREADS(HARD("host", 2, EXISTS("foo"))), "skew ok ok skew" },
    { "2/1/0/3 by host, the pod does not match itself", "a a b y y y", "", "'bar': ''",
      SPREADS(HARD("host", 1, EXISTS("foo"))), "skew ok ok skew" },
    { "nodes have no such label", "a", "", "'foo': ''", SPREADS(HARD("rack", 1, EXISTS("foo"))),
      "label label label label" },
    { "two constraints: 3/3 and 2/1/0/3", "a a b y y y", "", "'foo': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo")) "," HARD("host", 1, EXISTS("foo"))),
      "skew skew ok skew" },
    { "two constraints that leave nothing: 3/4 and 2/1/0/4", "a a b y y y y", "", "'foo': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo")) "," HARD("host", 1, EXISTS("foo"))),
      "skew skew skew skew" },
    { "different selectors: 1/0 and 1/0/0/1", "a", "a y", "'foo': '', 'bar': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo")) "," HARD("host", 1, EXISTS("bar"))),
      "skew skew ok skew" },
    { "different selectors: 1/0 and 0/0/1/1", "a", "x y", "'foo': '', 'bar': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo")) "," HARD("host", 1, EXISTS("bar"))),
      "skew skew skew skew" },
    { "different selectors, one of which does not match the pod", "a", "a y", "'bar': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo")) "," HARD("host", 1, EXISTS("bar"))),
      "skew ok ok skew" },
    { "two constraints with one key: 3/4 and 2/1", "a a b x x y y", "a b x", "'foo': '', 'bar': ''",
      SPREADS(HARD("zone", 2, EXISTS("foo")) "," HARD("zone", 1, EXISTS("bar"))),
      "skew skew ok ok" },
    { "soft constraints refuse nobody", "a a a a", "", "'foo': ''",
      SPREADS(SOFT("zone", 1, EXISTS("foo"))), "ok ok ok ok" },
    { "soft ones beside hard ones do not count", "a a b y y y", "", "'foo': ''",
      SPREADS(HARD("zone", 1, EXISTS("foo")) "," SOFT("host", 1, EXISTS("foo"))), "ok ok ok ok" },
    { "fewer domains than wanted: the least is 0", "a a x x", "", "'foo': ''",
      SPREADS(HARD("zone", 2, ", 'minDomains': 3" EXISTS("foo"))), "skew skew skew skew" },
    { "as many domains as wanted", "a a x x", "", "'foo': ''",
      SPREADS(HARD("zone", 2, ", 'minDomains': 2" EXISTS("foo"))), "ok ok ok ok" },
    { "fewer hosts than wanted: 2/2/1/0", "a a b b x", "", "'foo': ''",
      SPREADS(HARD("host", 2, ", 'minDomains': 5" EXISTS("foo"))), "skew skew ok ok" },
    { "nodes that the pod does not select do not count", "b y y", "", "'foo': ''",
      SPREADS(HARD("host", 1, EXISTS("foo"))) ", 'nodeSelector': {'zone': 'z2'}", "ok ok ok skew" },
    { "they do where the policy says so", "b y y", "", "'foo': ''",
      SPREADS(HARD(
          "host", 1,
          ", 'nodeAffinityPolicy': 'Ignore'" EXISTS("foo"))) ", 'nodeSelector': {'zone': 'z2'}",
      "ok skew ok skew" },
    { "a least that only unselected nodes have", "a b x x y y", "", "'foo': ''",
      SPREADS(HARD("host", 1, EXISTS("foo"))) ", 'nodeSelector': {'zone': 'z2'}", "ok ok ok ok" },
    { "a least that the policy keeps", "a b x x y y", "", "'foo': ''",
      SPREADS(HARD(
          "host", 1,
          ", 'nodeAffinityPolicy': 'Ignore'" EXISTS("foo"))) ", 'nodeSelector': {'zone': 'z2'}",
      "ok ok skew skew" },
    { "required node affinity is honored too", "a b x x y y", "", "'foo': ''",
      SPREADS(HARD("host", 1, EXISTS("foo"))) ", 'affinity': {'nodeAffinity': "
                                              "{'requiredDuringSchedulingIgnoredDuringExecution': "
                                              "{'nodeSelectorTerms': [{'matchExpressions': "
                                              "[{'key': 'zone', 'operator': 'NotIn', 'values': "
                                              "['z1']}]}]}}}",
      "ok ok ok ok" },
    { "keys of labels narrow the selector", "a a b x", "", "'foo': 'other'",
      SPREADS(HARD("zone", 1, ", 'matchLabelKeys': ['foo']" EXISTS("foo"))), "ok ok ok ok" },
    { "keys that the pod has not do not", "a a b x", "", "'foo': 'other'",
      SPREADS(HARD("zone", 1, ", 'matchLabelKeys': ['bar']" EXISTS("foo"))), "skew skew ok ok" },
    { "keys of labels with an empty selector", "a a b x", "", "'foo': ''",
      SPREADS(HARD("zone", 1, ", 'matchLabelKeys': ['foo'], 'labelSelector': {}")),
      "skew skew ok ok" },
    { "keys of labels without a selector", "a a b x", "", "'foo': ''",
      SPREADS(HARD("zone", 1, ", 'matchLabelKeys': ['foo']")), "ok ok ok ok" },
};

TEST(pods_are_spread_over_domains)
{
    for (size_t i = 0; i < ARRAY_LEN(spread_cases); i++) {
        const struct spread_case *c = &spread_cases[i];
        WITH_KIT(k, "PodTopologySpread", NULL);
        four_nodes(&k);
        pods(&k, c->foos, "'foo': ''");
        pods(&k, c->bars, "'bar': ''");
        check_text(c->name, verdicts(&k, pod_with(&k, c->labels, c->spec)), c->want);
    }
}

TEST(pods_of_other_namespaces_and_terminating_ones_do_not_count)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    four_nodes(&k);
    const struct sched_pod *pod =
        pod_with(&k, "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))));
    kit_put(&k, SCHED_POD,
            "{'metadata': {'name': 'o', 'uid': 'o', 'namespace': 'other', 'labels': {'foo': ''}}, "
            "'spec': {'nodeName': 'a'}}");
    pods_with(&k, "a b", "'foo': ''", "", ", 'deletionTimestamp': '2026-01-01T00:00:00Z'");
    check_text("none", verdicts(&k, pod), "ok ok ok ok");
    pods(&k, "b", "'foo': ''");
    check_text("one", verdicts(&k, pod), "skew skew ok ok");
}

TEST(a_node_without_one_of_the_labels_does_not_count)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    kit_node(&k, "a", "", "'zone': 'z1', 'host': 'a'", NULL);
    kit_node(&k, "b", "", "'host': 'b'", NULL);
    kit_node(&k, "x", "", "'zone': 'z2', 'host': 'x'", NULL);
    kit_node(&k, "y", "", "'zone': 'z2'", NULL);
    pods(&k, "a b b x", "'foo': ''");
    check_text("zone",
               verdicts(&k, pod_with(&k, "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))))),
               "ok label ok ok");
    pods(&k, "y y", "'foo': ''");
    check_text("zone, with pods on y",
               verdicts(&k, pod_with(&k, "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))))),
               "ok label skew skew");
    /* b and y have not got both, so what is on them counts for neither. */
    check_text("both",
               verdicts(&k, pod_with(&k, "'foo': ''",
                                     SPREADS(HARD("zone", 1, EXISTS("foo")) "," HARD(
                                         "host", 1, EXISTS("foo"))))),
               "ok label ok label");
    /* A value may be empty. */
    kit_node(&k, "b", "", "'zone': '', 'host': 'b'", NULL);
    check_text("empty",
               verdicts(&k, pod_with(&k, "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))))),
               "ok skew skew skew");
}

struct taint_case {
    const char *name, *policy, *tolerations, *want;
};

TEST(tainted_nodes_count_unless_the_policy_honors_taints)
{
    static const struct taint_case cases[] = {
        { "by default", "", "", "skew skew ok" },
        { "ignored", ", 'nodeTaintsPolicy': 'Ignore'", "", "skew skew ok" },
        { "honored", ", 'nodeTaintsPolicy': 'Honor'", "", "ok ok ok" },
        { "honored and tolerated", ", 'nodeTaintsPolicy': 'Honor'",
          ", 'tolerations': [{'key': 'k', 'operator': 'Exists'}]", "skew skew ok" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        WITH_KIT(k, "PodTopologySpread", NULL);
        kit_node(&k, "a", "", "'host': 'a'", NULL);
        kit_node(&k, "b", "", "'host': 'b'", NULL);
        kit_node(&k, "x", "", "'host': 'x'",
                 "'spec': {'taints': [{'key': 'k', 'effect': 'NoSchedule'}]}");
        pods(&k, "a b", "'foo': ''");
        char spec[512];
        (void)snprintf(spec, sizeof(spec), SPREADS(HARD("host", 1, "%s" EXISTS("foo"))) "%s",
                       cases[i].policy, cases[i].tolerations);
        check_text(cases[i].name, verdicts(&k, pod_with(&k, "'foo': ''", spec)), cases[i].want);
    }
    /* A taint that only prefers counts as none. */
    WITH_KIT(k, "PodTopologySpread", NULL);
    kit_node(&k, "a", "", "'host': 'a'", NULL);
    kit_node(&k, "x", "", "'host': 'x'",
             "'spec': {'taints': [{'key': 'k', 'effect': 'PreferNoSchedule'}]}");
    pods(&k, "a", "'foo': ''");
    check_text("prefers",
               verdicts(&k, pod_with(&k, "'foo': ''",
                                     SPREADS(HARD("host", 1,
                                                  ", 'nodeTaintsPolicy': 'Honor'" EXISTS("foo"))))),
               "skew ok");
}

/* Each constraint has policies of its own. */
TEST(policies_of_two_constraints_are_apart)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    kit_node(&k, "a", "", "'zone': 'z1', 'host': 'a', 'disk': 'ssd'", NULL);
    kit_node(&k, "b", "", "'zone': 'z1', 'host': 'b'", NULL);
    kit_node(&k, "x", "", "'zone': 'z2', 'host': 'x', 'disk': 'ssd'", NULL);
    kit_node(&k, "y", "", "'zone': 'z2', 'host': 'y', 'disk': 'ssd'",
             "'spec': {'taints': [{'key': 'k', 'effect': 'NoExecute'}]}");
    pods(&k, "a b y", "'foo': ''");
#define POLICIES(affinity, taints)                                                                 \
    ", 'nodeAffinityPolicy': '" affinity "', 'nodeTaintsPolicy': '" taints "'" EXISTS("foo")
#define TWO(zone, host)                                                                            \
    SPREADS(HARD("zone", 1, zone) "," HARD("host", 1, host)) ", 'nodeSelector': {'disk': 'ssd'}"
    static const struct {
        const char *spec, *want;
    } cases[] = {
        /* zone 1/1, host 1/1/0/1 */
        { TWO(POLICIES("Honor", "Ignore"), POLICIES("Ignore", "Ignore")), "skew skew ok skew" },
        /* zone 1/0, host 1/-/0/1 */
        { TWO(POLICIES("Honor", "Honor"), POLICIES("Honor", "Ignore")), "skew skew ok skew" },
        /* zone 2/1, host 1/-/0/- */
        { TWO(POLICIES("Ignore", "Ignore"), POLICIES("Honor", "Honor")), "skew skew ok ok" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_text(cases[i].spec, verdicts(&k, pod_with(&k, "'foo': ''", cases[i].spec)),
                   cases[i].want);
}

TEST(pods_without_constraints_are_skipped)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    four_nodes(&k);
    check_text("none", kit_pre_filter(&k, pod_with(&k, "'foo': ''", "")), "Skip");
    check_text(
        "soft",
        kit_pre_filter(&k, pod_with(&k, "'foo': ''", SPREADS(SOFT("zone", 1, EXISTS("foo"))))),
        "Skip");
    check_text(
        "hard",
        kit_pre_filter(&k, pod_with(&k, "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))))),
        "Success");
    check_text("score",
               kit_score(&k, pod_with(&k, "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))))),
               "Skip");
}

/* Pods come and go while none is to be placed: neither they nor old counts are held. */
TEST(what_has_gone_is_not_held)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    four_nodes(&k);
    pods(&k, "a", "'foo': ''");
    check_text("a count",
               verdicts(&k, pod_with(&k, "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))))),
               "skew skew ok ok");
    check_text("another cycle", kit_pre_filter(&k, pod_with(&k, "'foo': ''", "")), "Skip");
    const struct census *c = container_of(*sched_cache_derived(k.cache), struct census, derived);
    CHECK(tallies_bytes(c->tallies) > 0);
    for (int i = 0; i < CENSUS_LOG; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "g%d", i);
        kit_put(
            &k, SCHED_POD,
            "{'metadata': {'name': '%s', 'uid': '%s', 'namespace': 'default', 'labels': {'own': "
            "'%s'}}, 'spec': {'nodeName': 'a'}}",
            name, name, name);
        if (i % 1000 == 999)
            for (int j = i - 999; j <= i; j++) {
                (void)snprintf(name, sizeof(name), "g%d", j);
                sched_cache_del(k.cache, SCHED_POD, STR("default"), str_of(name), NULL);
            }
    }
    CHECK(c->labels.n_live < 500);
    CHECK_INT(tallies_bytes(c->tallies), 0);
    check_text("the count again",
               verdicts(&k, pod_with(&k, "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))))),
               "skew skew ok ok");
}

/* ---- dry runs ---- */

static const struct sched_node_info *node(struct kit *k, const char *name)
{
    const struct sched_node_info *n =
        sched_cache_node(k->cache, intern_find(k->words, str_of(name)));
    CHECK(n);
    return n;
}

/* Verdicts of all nodes in the state of a cycle. */
static const char *verdicts_in(struct kit *k, struct sched_cycle *cycle, const char *names)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(65536);
    struct str rest = str_of(names), name;
    while (rest.n > 0) {
        (void)str_cut(rest, ' ', &name, &rest);
        char *copy = arena_strndup(&k->arena, name.p, name.n);
        const struct sched_status *s = k->plugin->ops->filter(k->plugin, cycle, node(k, copy));
        struct str reason = STR("ok");
        if (s)
            reason = str_of(arena_printf(&k->arena, "%s: " STR_FMT, sched_code_name(s->code),
                                         STR_ARG(s->reasons[0])));
        (void)buf_printf(&text, "%s%s", text.n ? " " : "", word_for(reason));
    }
    return arena_strndup(&k->arena, buf_cstr(&text), text.n);
}

static struct sched_cycle *fork_of(struct kit *k)
{
    struct sched_cycle *copy = arena_new(&k->arena, struct sched_cycle);
    *copy = *k->cycle;
    copy->states = arena_new(&k->arena, void *);
    copy->is_dry_run = true;
    copy->states[0] = k->plugin->ops->clone_state(k->plugin, k->cycle, copy);
    return copy;
}

TEST(a_dry_run_counts_what_it_adds_and_removes)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    four_nodes(&k);
    pods(&k, "a a b x", "'foo': ''");
    const struct sched_pod *pod =
        pod_with(&k, "'foo': ''", SPREADS(HARD("zone", 1, EXISTS("foo"))));
    const struct sched_pod *other = pod_with(&k, "'foo': ''", "");
    check_text("before", verdicts(&k, pod), "skew skew ok ok");
    struct sched_cycle *fork = fork_of(&k);
    const struct sched_plugin_ops *ops = k.plugin->ops;

    (void)ops->remove_pod(k.plugin, fork, other, node(&k, "a"));
    check_text("2/1", verdicts_in(&k, fork, "a b x y"), "skew skew ok ok");
    (void)ops->remove_pod(k.plugin, fork, other, node(&k, "b"));
    check_text("1/1", verdicts_in(&k, fork, "a b x y"), "ok ok ok ok");
    (void)ops->add_pod(k.plugin, fork, other, node(&k, "y"));
    check_text("1/2", verdicts_in(&k, fork, "a b x y"), "ok ok skew skew");
    struct sched_cycle *second = fork_of(&k);
    (void)ops->add_pod(k.plugin, second, other, node(&k, "x"));
    (void)ops->add_pod(k.plugin, second, other, node(&k, "x"));
    (void)ops->add_pod(k.plugin, second, other, node(&k, "x"));
    check_text("3/4 in another", verdicts_in(&k, second, "a b x y"), "ok ok skew skew");
    check_text("1/2 still", verdicts_in(&k, fork, "a b x y"), "ok ok skew skew");
    check_text("what was", verdicts_in(&k, k.cycle, "a b x y"), "skew skew ok ok");
    /* Pods that do not match, or are of another namespace, change nothing. */
    (void)ops->add_pod(k.plugin, fork, pod_with(&k, "'bar': ''", ""), node(&k, "a"));
    (void)ops->add_pod(k.plugin, fork,
                       kit_pod(&k, "{'metadata': {'name': 'o', 'namespace': 'other', 'labels': "
                                   "{'foo': ''}}, 'spec': {}}"),
                       node(&k, "a"));
    check_text("nobody else", verdicts_in(&k, fork, "a b x y"), "ok ok skew skew");
}

TEST(a_dry_run_asks_whether_the_node_counts)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    four_nodes(&k);
    pods(&k, "x y", "'foo': ''");
    const struct sched_pod *pod =
        pod_with(&k, "'foo': ''",
                 SPREADS(HARD("host", 1, EXISTS("foo"))) ", 'nodeSelector': {'zone': 'z2'}");
    const struct sched_pod *other = pod_with(&k, "'foo': ''", "");
    check_text("before", verdicts(&k, pod), "ok ok ok ok");
    struct sched_cycle *fork = fork_of(&k);
    (void)k.plugin->ops->add_pod(k.plugin, fork, other, node(&k, "a"));
    (void)k.plugin->ops->add_pod(k.plugin, fork, other, node(&k, "a"));
    check_text("a does not count", verdicts_in(&k, fork, "a b x y"), "ok ok ok ok");
    (void)k.plugin->ops->add_pod(k.plugin, fork, other, node(&k, "x"));
    check_text("x does", verdicts_in(&k, fork, "a b x y"), "ok ok skew ok");
}

/* ---- PodTopologySpread: score ---- */

#define HOST_KEY "kubernetes.io/hostname"
#define ZONE_KEY "topology.kubernetes.io/zone"

static void four_real_nodes(struct kit *k)
{
    static const char *const names[] = { "a", "b", "x", "y" };
    for (int i = 0; i < 4; i++) {
        char labels[128];
        (void)snprintf(labels, sizeof(labels), "'" ZONE_KEY "': 'z%d', '" HOST_KEY "': '%s'",
                       1 + i / 2, names[i]);
        kit_node(k, names[i], "", labels, NULL);
    }
}

static const struct spread_case score_cases[] = {
    { "nobody is there", "", "", "'foo': ''", SPREADS(SOFT(HOST_KEY, 1, EXISTS("foo"))),
      "a=100 b=100 x=100 y=100" },
    { "2/1/0/3 by host", "a a b y y y", "", "'foo': ''", SPREADS(SOFT(HOST_KEY, 1, EXISTS("foo"))),
      "a=20 b=60 x=100 y=0" },
    { "2/1/0/3 by host, 2 allowed", "a a b y y y", "", "'foo': ''",
      SPREADS(SOFT(HOST_KEY, 2, EXISTS("foo"))), "a=33 b=66 x=100 y=16" },
    { "3/1 by zone", "a a b x", "", "'foo': ''", SPREADS(SOFT(ZONE_KEY, 1, EXISTS("foo"))),
      "a=25 b=25 x=100 y=100" },
    { "zone and host: 3/3 and 2/1/0/3", "a a b y y y", "", "'foo': ''",
      SPREADS(SOFT(ZONE_KEY, 1, EXISTS("foo")) "," SOFT(HOST_KEY, 1, EXISTS("foo"))),
      "a=60 b=80 x=100 y=40" },
    { "different selectors", "a a b", "x y", "'foo': '', 'bar': ''",
      SPREADS(SOFT(ZONE_KEY, 1, EXISTS("foo")) "," SOFT(HOST_KEY, 1, EXISTS("bar"))),
      "a=50 b=50 x=100 y=100" },
    { "nodes that the pod does not select do not count by zone", "a b b x", "", "'foo': ''",
      SPREADS(SOFT(ZONE_KEY, 1, EXISTS("foo"))) ", 'nodeSelector': {'" HOST_KEY "': 'a'}",
      "a=0 b=0 x=100 y=100" },
    { "by host all do", "a b b x", "", "'foo': ''",
      SPREADS(SOFT(HOST_KEY, 1, EXISTS("foo"))) ", 'nodeSelector': {'" HOST_KEY "': 'a'}",
      "a=50 b=0 x=50 y=100" },
};

TEST(nodes_are_scored_by_the_pods_of_their_domains)
{
    for (size_t i = 0; i < ARRAY_LEN(score_cases); i++) {
        const struct spread_case *c = &score_cases[i];
        WITH_KIT(k, "PodTopologySpread", NULL);
        four_real_nodes(&k);
        pods(&k, c->foos, "'foo': ''");
        pods(&k, c->bars, "'bar': ''");
        check_text(c->name, kit_score(&k, pod_with(&k, c->labels, c->spec)), c->want);
    }
}

/* log(number of values + 2) for each pod, plus maxSkew - 1. */
TEST(pods_weigh_by_the_logarithm_of_the_domains)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    four_real_nodes(&k);
    pods(&k, "a a a a a a a a a a x", "'foo': ''");
    check_text(
        "two zones: ln 4",
        kit_raw_score(&k, pod_with(&k, "'foo': ''", SPREADS(SOFT(ZONE_KEY, 1, EXISTS("foo"))))),
        "a=14 b=14 x=1 y=1");
    check_text(
        "four hosts: ln 6",
        kit_raw_score(&k, pod_with(&k, "'foo': ''", SPREADS(SOFT(HOST_KEY, 1, EXISTS("foo"))))),
        "a=18 b=0 x=2 y=0");
    check_text(
        "5 allowed",
        kit_raw_score(&k, pod_with(&k, "'foo': ''", SPREADS(SOFT(ZONE_KEY, 5, EXISTS("foo"))))),
        "a=18 b=18 x=5 y=5");
}

TEST(nodes_without_the_labels_score_nothing)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    kit_node(&k, "a", "", "'" ZONE_KEY "': 'z1', '" HOST_KEY "': 'a'", NULL);
    kit_node(&k, "b", "", "'" HOST_KEY "': 'b'", NULL);
    kit_node(&k, "x", "", "'" ZONE_KEY "': 'z2', '" HOST_KEY "': 'x'", NULL);
    pods(&k, "a b b b", "'foo': ''");
    check_text("both wanted",
               kit_score(&k, pod_with(&k, "'foo': ''",
                                      SPREADS(SOFT(ZONE_KEY, 1, EXISTS("foo")) "," SOFT(
                                          HOST_KEY, 1, EXISTS("foo"))))),
               "a=0 b=0 x=100");
}

/* ---- default constraints ---- */

#define SERVICE(name, ns, selector)                                                                \
    "{'metadata': {'name': '" name "', 'namespace': '" ns "'}, 'spec': {'selector': " selector "}" \
    "}"
#define LIST(constraints) "{'defaultingType': 'List', 'defaultConstraints': [" constraints "]}"
#define DEFAULT(key, skew, when)                                                                   \
    "{'topologyKey': '" key "', 'maxSkew': " #skew ", 'whenUnsatisfiable': '" when "'}"

TEST(default_constraints_need_a_service_or_a_controller)
{
    WITH_KIT(k, "PodTopologySpread", LIST(DEFAULT("zone", 1, "DoNotSchedule")));
    four_nodes(&k);
    pods(&k, "a b", "'foo': 'bar'");
    const struct sched_pod *pod = pod_with(&k, "'foo': 'bar', 'baz': 'kar'", "");
    check_text("neither", kit_pre_filter(&k, pod), "Skip");
    kit_put(&k, SCHED_SERVICE, SERVICE("other", "elsewhere", "{'foo': 'bar'}"));
    kit_put(&k, SCHED_SERVICE, SERVICE("no", "default", "{'foo': 'no'}"));
    kit_put(&k, SCHED_SERVICE, SERVICE("null", "default", "null"));
    check_text("services of others", kit_pre_filter(&k, pod), "Skip");
    kit_put(&k, SCHED_SERVICE, SERVICE("yes", "default", "{'foo': 'bar'}"));
    check_text("a service", verdicts(&k, pod), "skew skew ok ok");
    check_text("constraints of its own",
               verdicts(&k, pod_with(&k, "'foo': 'bar'", SPREADS(HARD("zone", 5, EXISTS("foo"))))),
               "ok ok ok ok");
    kit_put(&k, SCHED_SERVICE, SERVICE("too", "default", "{'baz': 'kar'}"));
    check_text("two services: both have to match", verdicts(&k, pod), "ok ok ok ok");
    sched_cache_del(k.cache, SCHED_SERVICE, STR("default"), STR("yes"), NULL);
    sched_cache_del(k.cache, SCHED_SERVICE, STR("default"), STR("too"), NULL);
    check_text("they have gone", kit_pre_filter(&k, pod), "Skip");
}

TEST(default_constraints_of_pods_with_a_controller)
{
    static const struct {
        const char *version, *kind, *selector, *want;
        enum sched_kind is;
    } cases[] = {
        { "v1", "ReplicationController", "{'foo': 'bar'}", "skew skew ok ok",
          SCHED_REPLICATION_CONTROLLER },
        { "apps/v1", "ReplicaSet", "{'matchLabels': {'foo': 'bar'}}", "skew skew ok ok",
          SCHED_REPLICA_SET },
        { "apps/v1", "ReplicaSet",
          "{'matchExpressions': [{'key': 'foo', 'operator': 'In', 'values': ['bar', 'x']}]}",
          "skew skew ok ok", SCHED_REPLICA_SET },
        { "apps/v1", "StatefulSet", "{'matchLabels': {'foo': 'bar'}}", "skew skew ok ok",
          SCHED_STATEFUL_SET },
        { "batch/v1", "ReplicaSet", "{'matchLabels': {'foo': 'bar'}}", "ok ok ok ok",
          SCHED_REPLICA_SET },
        { "apps/v1", "ReplicaSet", "null", "ok ok ok ok", SCHED_REPLICA_SET },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        WITH_KIT(k, "PodTopologySpread", LIST(DEFAULT("zone", 1, "DoNotSchedule")));
        four_nodes(&k);
        pods(&k, "a b", "'foo': 'bar'");
        const struct sched_pod *pod =
            kit_pod(&k,
                    "{'metadata': {'labels': {'foo': 'bar'}, 'ownerReferences': [{'apiVersion': "
                    "'%s', 'kind': '%s', 'name': 'c', 'uid': 'c', 'controller': true}]}, 'spec': "
                    "{}}",
                    cases[i].version, cases[i].kind);
        check_text("without it", kit_pre_filter(&k, pod), "Skip");
        kit_put(&k, cases[i].is,
                "{'metadata': {'name': 'c', 'namespace': 'default'}, 'spec': {'selector': %s}}",
                cases[i].selector);
        check_text(cases[i].kind, verdicts(&k, pod), cases[i].want);
    }
}

TEST(system_defaults_spread_by_host_and_zone)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    four_real_nodes(&k);
    kit_node(&k, "z", "", "'" HOST_KEY "': 'z'", NULL); /* scored all the same */
    kit_put(&k, SCHED_SERVICE, SERVICE("s", "default", "{'foo': 'bar'}"));
    pods(&k, "a a a x z", "'foo': 'bar'");
    const struct sched_pod *pod = pod_with(&k, "'foo': 'bar'", "");
    check_text("hard", kit_pre_filter(&k, pod), "Skip");
    /* hosts: ln 7 each and 2, zones (two and none): ln 5 each and 4 */
    check_text("raw", kit_raw_score(&k, pod), "a=17 b=11 x=10 y=8 z=4");
    check_text("soft", kit_score(&k, pod), "a=23 b=58 x=64 y=76 z=100");
    check_text("nobody selects it", kit_score(&k, pod_with(&k, "'foo': 'x'", "")), "Skip");
}

TEST(no_default_constraints)
{
    WITH_KIT(k, "PodTopologySpread", "{'defaultingType': 'List'}");
    four_real_nodes(&k);
    kit_put(&k, SCHED_SERVICE, SERVICE("s", "default", "{'foo': 'bar'}"));
    check_text("score", kit_score(&k, pod_with(&k, "'foo': 'bar'", "")), "Skip");
    check_text("bad", kit_plugin_error(&k, "PodTopologySpread", LIST(DEFAULT("z", 0, "x"))),
               "defaultConstraints[0]: maxSkew: must be greater than zero");
    kit_plugin(&k, "PodTopologySpread", NULL);
}

/* ---- InterPodAffinity: filter ---- */

#define IN(key, values)                                                                            \
    "{'matchExpressions': [{'key': '" key "', 'operator': 'In', 'values': [" values "]}]}"
#define NOT_IN(key, values)                                                                        \
    "{'matchExpressions': [{'key': '" key "', 'operator': 'NotIn', 'values': [" values "]}]}"
#define TERM(key, selector, more) "{'topologyKey': '" key "', 'labelSelector': " selector more "}"
#define REQUIRED(terms)           "{'requiredDuringSchedulingIgnoredDuringExecution': [" terms "]}"
#define PREFERRED(terms)          "{'preferredDuringSchedulingIgnoredDuringExecution': [" terms "]}"
#define WEIGHT(n, term)           "{'weight': " #n ", 'podAffinityTerm': " term "}"
#define NEAR(terms)               "'affinity': {'podAffinity': " REQUIRED(terms) "}"
#define AWAY(terms)               "'affinity': {'podAntiAffinity': " REQUIRED(terms) "}"
#define BOTH(near, away)                                                                           \
    "'affinity': {'podAffinity': " REQUIRED(near) ", 'podAntiAffinity': " REQUIRED(away) "}"
#define SECURITY "'service': 'securityscan'"

struct affinity_case {
    const char *name, *nodes /* of one pod that is there */, *labels, *spec /* of it */,
        *new_labels, *new_spec, *want;
};
static const struct affinity_case affinity_cases[] = {
    { "no rules, nobody there", "", "", "", "", "", "ok ok ok ok" },
    { "In", "a", SECURITY, "", "", NEAR(TERM("zone", IN("service", "'securityscan', 'v2'"), "")),
      "ok ok affinity affinity" },
    { "NotIn", "a", SECURITY, "", "", NEAR(TERM("zone", NOT_IN("service", "'x', 'v2'"), "")),
      "ok ok affinity affinity" },
    { "by host", "x", SECURITY, "", "", NEAR(TERM("host", IN("service", "'securityscan'"), "")),
      "affinity affinity ok affinity" },
    { "another namespace", "a", SECURITY, "", "",
      NEAR(TERM("zone", IN("service", "'securityscan'"), ", 'namespaces': ['other']")),
      "affinity affinity affinity affinity" },
    { "this namespace among others", "a", SECURITY, "", "",
      NEAR(TERM("zone", IN("service", "'securityscan'"), ", 'namespaces': ['other', 'default']")),
      "ok ok affinity affinity" },
    { "no match", "a", SECURITY, "", "", NEAR(TERM("zone", IN("service", "'antivirus'"), "")),
      "affinity affinity affinity affinity" },
    { "all terms match one pod", "a", SECURITY, "", "",
      NEAR(TERM("zone", IN("service", "'securityscan'"),
                "") "," TERM("zone", NOT_IN("service", "'x'"), "")),
      "ok ok affinity affinity" },
    { "one of the terms does not", "a", SECURITY, "", "",
      NEAR(TERM("zone", IN("service", "'securityscan'"),
                "") "," TERM("zone", NOT_IN("service", "'securityscan'"), "")),
      "affinity affinity affinity affinity" },
    { "terms with different keys", "a", SECURITY, "", "",
      NEAR(TERM("zone", IN("service", "'securityscan'"),
                "") "," TERM("host", IN("service", "'securityscan'"), "")),
      "ok affinity affinity affinity" },
    { "the first of a series", "", "", "", SECURITY,
      NEAR(TERM("zone", IN("service", "'securityscan'"), "")), "ok ok ok ok" },
    { "the second of it", "y", SECURITY, "", SECURITY,
      NEAR(TERM("zone", IN("service", "'securityscan'"), "")), "affinity affinity ok ok" },
    { "the first of a series needs the labels too", "", "", "", SECURITY,
      NEAR(TERM("rack", IN("service", "'securityscan'"), "")),
      "affinity affinity affinity affinity" },
    { "the first of a series matches all its terms or none", "", "", "", SECURITY,
      NEAR(TERM("zone", IN("service", "'securityscan'"), "") "," TERM("zone", IN("service", "'x'"),
                                                                      "")),
      "affinity affinity affinity affinity" },
    { "a pod elsewhere, on nodes without the label, is no series", "a", SECURITY, "", SECURITY,
      NEAR(TERM("rack", IN("service", "'securityscan'"), "")),
      "affinity affinity affinity affinity" },
    { "anti", "a", SECURITY, "", "", AWAY(TERM("zone", IN("service", "'securityscan'"), "")),
      "anti anti ok ok" },
    { "anti by host", "a", SECURITY, "", "",
      AWAY(TERM("host", IN("service", "'securityscan'"), "")), "anti ok ok ok" },
    { "anti by a key that nodes have not", "a", SECURITY, "", "",
      AWAY(TERM("rack", IN("service", "'securityscan'"), "")), "ok ok ok ok" },
    { "anti, no match", "a", SECURITY, "", "", AWAY(TERM("zone", IN("service", "'x'"), "")),
      "ok ok ok ok" },
    { "anti: any of the terms", "a", SECURITY, "", "",
      AWAY(TERM("host", IN("service", "'x'"), "") "," TERM("host", IN("service", "'securityscan'"),
                                                           "")),
      "anti ok ok ok" },
    { "near and away", "a", SECURITY, "", "",
      BOTH(TERM("zone", IN("service", "'securityscan'"), ""),
           TERM("host", IN("service", "'securityscan'"), "")),
      "anti ok affinity affinity" },
    { "away from a pod of another namespace", "a", SECURITY, "", "",
      AWAY(TERM("zone", IN("service", "'securityscan'"), ", 'namespaces': ['other']")),
      "ok ok ok ok" },
    { "who is there wants to be alone", "a", "",
      AWAY(TERM("zone", IN("service", "'securityscan'"), "")), SECURITY, "",
      "existing existing ok ok" },
    { "alone on its host", "a", "", AWAY(TERM("host", IN("service", "'securityscan'"), "")),
      SECURITY, "", "existing ok ok ok" },
    { "alone, but not from this one", "a", "", AWAY(TERM("zone", IN("service", "'x'"), "")),
      SECURITY, "", "ok ok ok ok" },
    { "alone by a key that its node has not", "a", "",
      AWAY(TERM("rack", IN("service", "'securityscan'"), "")), SECURITY, "", "ok ok ok ok" },
    { "alone: any of its terms", "a", "",
      AWAY(TERM("zone", IN("service", "'x'"), "") "," TERM("host", IN("service", "'securityscan'"),
                                                           "")),
      SECURITY, "", "existing ok ok ok" },
    { "both: the pod's own words come first", "a", SECURITY,
      AWAY(TERM("zone", IN("service", "'securityscan'"), "")), SECURITY,
      AWAY(TERM("host", IN("service", "'securityscan'"), "")), "anti existing ok ok" },
    { "near to one that wants to be alone", "a", SECURITY,
      AWAY(TERM("host", IN("service", "'securityscan'"), "")), SECURITY,
      NEAR(TERM("zone", IN("service", "'securityscan'"), "")), "existing ok affinity affinity" },
    { "keys of labels narrow a term", "a", SECURITY ", 'v': '1'", "", SECURITY ", 'v': '2'",
      AWAY(TERM("zone", IN("service", "'securityscan'"), ", 'matchLabelKeys': ['v']")),
      "ok ok ok ok" },
    { "keys of labels that are the same", "a", SECURITY ", 'v': '1'", "", SECURITY ", 'v': '1'",
      AWAY(TERM("zone", IN("service", "'securityscan'"), ", 'matchLabelKeys': ['v']")),
      "anti anti ok ok" },
    { "keys of labels that must differ", "a", SECURITY ", 'v': '1'", "", SECURITY ", 'v': '1'",
      AWAY(TERM("zone", IN("service", "'securityscan'"), ", 'mismatchLabelKeys': ['v']")),
      "ok ok ok ok" },
    { "an empty selector matches all", "a", "", "", "", AWAY(TERM("host", "{}", "")),
      "anti ok ok ok" },
    { "no selector matches none", "a", "", "", "", AWAY(TERM("host", "null", "")), "ok ok ok ok" },
};

TEST(pods_are_near_to_or_away_from_others)
{
    for (size_t i = 0; i < ARRAY_LEN(affinity_cases); i++) {
        const struct affinity_case *c = &affinity_cases[i];
        WITH_KIT(k, "InterPodAffinity", NULL);
        four_nodes(&k);
        pods_with(&k, c->nodes, c->labels, c->spec, "");
        check_text(c->name, verdicts(&k, pod_with(&k, c->new_labels, c->new_spec)), c->want);
    }
}

static void two_namespaces(struct kit *k)
{
    kit_put(k, SCHED_NAMESPACE, "{'metadata': {'name': 'default', 'labels': {'team': 'one'}}}");
    kit_put(k, SCHED_NAMESPACE, "{'metadata': {'name': 'other', 'labels': {'team': 'two'}}}");
    kit_put(k, SCHED_POD,
            "{'metadata': {'name': 'o', 'uid': 'o', 'namespace': 'other', 'labels': {" SECURITY
            "}}, 'spec': {'nodeName': 'a'}}");
}

#define TEAM(name) ", 'namespaceSelector': {'matchLabels': {'team': '" name "'}}"
#define NO_TEAM                                                                                    \
    ", 'namespaceSelector': {'matchExpressions': [{'key': 'team', 'operator': "                    \
    "'DoesNotExist'}]}"

TEST(terms_select_namespaces)
{
    WITH_KIT(k, "InterPodAffinity", NULL);
    four_nodes(&k);
    two_namespaces(&k);
    static const struct {
        const char *more, *near, *away;
    } cases[] = {
        { TEAM("two"), "ok ok affinity affinity", "anti anti ok ok" },
        { TEAM("one"), "affinity affinity affinity affinity", "ok ok ok ok" },
        { ", 'namespaceSelector': {}", "ok ok affinity affinity", "anti anti ok ok" },
        { ", 'namespaceSelector': null", "affinity affinity affinity affinity", "ok ok ok ok" },
        { TEAM("one") ", 'namespaces': ['other']", "ok ok affinity affinity", "anti anti ok ok" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char spec[512];
        (void)snprintf(spec, sizeof(spec),
                       NEAR(TERM("zone", IN("service", "'securityscan'"), "%s")), cases[i].more);
        check_text(spec, verdicts(&k, pod_with(&k, "", spec)), cases[i].near);
        (void)snprintf(spec, sizeof(spec),
                       AWAY(TERM("zone", IN("service", "'securityscan'"), "%s")), cases[i].more);
        check_text(spec, verdicts(&k, pod_with(&k, "", spec)), cases[i].away);
    }
}

/* Unknown namespaces have no labels. A selector of the pod's own that is content with no labels
 * selects all namespaces, as upstream; one of a pod that is there does not. */
TEST(namespaces_that_are_unknown)
{
    WITH_KIT(k, "InterPodAffinity", NULL);
    four_nodes(&k);
    pods_with(&k, "a", SECURITY, AWAY(TERM("host", IN("service", "'securityscan'"), NO_TEAM)), "");
    const struct sched_pod *theirs = pod_with(&k, SECURITY, "");
    const struct sched_pod *own =
        pod_with(&k, "", AWAY(TERM("zone", IN("service", "'securityscan'"), NO_TEAM)));
    const struct sched_pod *team =
        pod_with(&k, "", AWAY(TERM("zone", IN("service", "'securityscan'"), TEAM("x"))));
    check_text("unknown, theirs", verdicts(&k, theirs), "existing ok ok ok");
    check_text("unknown, own", verdicts(&k, own), "anti anti ok ok");
    check_text("unknown, a team", verdicts(&k, team), "ok ok ok ok");
    kit_put(&k, SCHED_NAMESPACE, "{'metadata': {'name': 'default', 'labels': {'team': 'x'}}}");
    check_text("of a team, theirs", verdicts(&k, theirs), "ok ok ok ok");
    check_text("of a team, own", verdicts(&k, own), "anti anti ok ok");
    check_text("of a team, the team", verdicts(&k, team), "anti anti ok ok");
    sched_cache_del(k.cache, SCHED_NAMESPACE, STR(""), STR("default"), NULL);
    check_text("gone, theirs", verdicts(&k, theirs), "existing ok ok ok");
    check_text("gone, a team", verdicts(&k, team), "ok ok ok ok");
}

TEST(pods_that_nobody_minds_are_skipped)
{
    WITH_KIT(k, "InterPodAffinity", NULL);
    four_nodes(&k);
    pods_with(&k, "a", "", AWAY(TERM("zone", IN("service", "'securityscan'"), "")), "");
    check_text("other labels", kit_pre_filter(&k, pod_with(&k, "", "")), "Skip");
    check_text("these labels", kit_pre_filter(&k, pod_with(&k, SECURITY, "")), "Success");
    check_text("own terms",
               kit_pre_filter(&k, pod_with(&k, "", NEAR(TERM("zone", IN("service", "'x'"), "")))),
               "Success");
    check_text("preferences",
               kit_pre_filter(&k, pod_with(&k, "",
                                           "'affinity': {'podAffinity': " PREFERRED(
                                               WEIGHT(5, TERM("zone", "{}", ""))) "}")),
               "Skip");
}

TEST(a_dry_run_knows_pods_it_adds_and_removes)
{
    WITH_KIT(k, "InterPodAffinity", NULL);
    four_nodes(&k);
    pods(&k, "a", SECURITY);
    const struct sched_pod *scan = pod_with(&k, SECURITY, "");
    const struct sched_pod *alone =
        pod_with(&k, "", AWAY(TERM("host", IN("service", "'securityscan'"), "")));
    const struct sched_plugin_ops *ops;

    const struct sched_pod *pod = pod_with(&k, SECURITY,
                                           BOTH(TERM("zone", IN("service", "'securityscan'"), ""),
                                                TERM("host", IN("service", "'x'"), "")));
    check_text("before", verdicts(&k, pod), "ok ok affinity affinity");
    ops = k.plugin->ops;
    struct sched_cycle *fork = fork_of(&k);
    (void)ops->add_pod(k.plugin, fork, scan, node(&k, "x"));
    check_text("one more", verdicts_in(&k, fork, "a b x y"), "ok ok ok ok");
    (void)ops->add_pod(k.plugin, fork, alone, node(&k, "b"));
    check_text("one that wants to be alone", verdicts_in(&k, fork, "a b x y"), "ok existing ok ok");
    (void)ops->add_pod(k.plugin, fork, pod_with(&k, "'service': 'x'", ""), node(&k, "y"));
    check_text("one to be away from", verdicts_in(&k, fork, "a b x y"), "ok existing ok anti");
    (void)ops->remove_pod(k.plugin, fork, scan, node(&k, "a"));
    check_text("one less", verdicts_in(&k, fork, "a b x y"), "affinity affinity ok anti");
    (void)ops->remove_pod(k.plugin, fork, scan, node(&k, "x"));
    check_text("the first of a series again", verdicts_in(&k, fork, "a b x y"),
               "ok existing ok anti");
    check_text("what was", verdicts_in(&k, k.cycle, "a b x y"), "ok ok affinity affinity");
}

/* ---- many labels that no node has ---- */

enum { MANY = 2000 };

/* before, then MANY times `one` with %d for the number, then after. */
static const char *many(struct kit *k, const char *before, const char *one, const char *after)
{
    struct buf text = BUF_INIT(1 << 20);
    (void)buf_add_cstr(&text, before);
    for (int i = 0; i < MANY; i++) {
        struct str head = str_of(one), tail = str_of(one);
        ptrdiff_t at = str_find(head, STR("%d"));
        CHECK(at >= 0);
        (void)buf_add_cstr(&text, i ? "," : "");
        (void)buf_add_str(&text, str_slice(head, 0, (size_t)at));
        (void)buf_printf(&text, "%d", i);
        (void)buf_add_str(&text, str_slice(tail, (size_t)at + 2, tail.n));
    }
    (void)buf_add_cstr(&text, after);
    const char *ret = arena_strndup(&k->arena, buf_cstr(&text), text.n);
    buf_fini(&text);
    return ret;
}

TEST(labels_that_no_node_has_cost_no_counts)
{
    static const char required[] = "{'requiredDuringSchedulingIgnoredDuringExecution': [";
    const char *term = TERM("k%d", "{}", "");
    {
        WITH_KIT(k, "PodTopologySpread", NULL);
        four_nodes(&k);
        pods(&k, "a a", "'foo': ''");
        const char *spec =
            many(&k, "'topologySpreadConstraints': [" HARD("zone", 1, EXISTS("foo")) ",",
                 HARD("k%d", 1, EXISTS("foo")), "]");
        check_text("spread", verdicts(&k, pod_with(&k, "'foo': ''", spec)),
                   "label label label label");
        spec = many(&k, "'topologySpreadConstraints': [", SOFT("k%d", 1, EXISTS("foo")), "]");
        check_text("soft", kit_score(&k, pod_with(&k, "'foo': ''", spec)), "a=0 b=0 x=0 y=0");
        const struct census *c =
            container_of(*sched_cache_derived(k.cache), struct census, derived);
        CHECK_INT(tallies_bytes(c->tallies), 0);
        kit_node(&k, "a", "", "'zone': 'z1', 'k0': ''", NULL);
        check_text("one label more",
                   verdicts(&k, pod_with(&k, "'foo': ''", SPREADS(HARD("k0", 1, EXISTS("foo"))))),
                   "ok label label label");
    }
    WITH_KIT(k, "InterPodAffinity", NULL);
    four_nodes(&k);
    const char *away = arena_printf(&k.arena, "'affinity': {'podAntiAffinity': %s%s", required,
                                    many(&k, "", term, "]}}"));
    pods_with(&k, "a b", "'foo': ''", away, "");
    check_text("theirs", kit_pre_filter(&k, pod_with(&k, "", "")), "Skip");
    check_text("away", verdicts(&k, pod_with(&k, "", away)), "ok ok ok ok");
    check_text("near",
               verdicts(&k, pod_with(&k, "",
                                     arena_printf(&k.arena, "'affinity': {'podAffinity': %s%s",
                                                  required, many(&k, "", term, "]}}")))),
               "affinity affinity affinity affinity");
    const struct census *c = container_of(*sched_cache_derived(k.cache), struct census, derived);
    CHECK(tallies_bytes(c->tallies) < 4096);
    kit_node(&k, "x", "", "'k7': 'v'", NULL);
    kit_node(&k, "a", "", "'k7': 'v'", NULL);
    check_text("one label more", verdicts(&k, pod_with(&k, "", "")), "existing ok existing ok");
}

/* ---- InterPodAffinity: score ---- */

#define LIKES(terms)    "'affinity': {'podAffinity': " PREFERRED(terms) "}"
#define DISLIKES(terms) "'affinity': {'podAntiAffinity': " PREFERRED(terms) "}"
#define S1              IN("security", "'S1'")
#define S2              IN("security", "'S2'")

struct liking_case {
    const char *name, *args, *s1, *s2, *spec /* of pods that are there */, *labels, *new_spec,
        *want;
};
static const struct liking_case liking_cases[] = {
    { "no terms anywhere", NULL, "a x", "b", "", "'security': 'S1'", "", "Skip" },
    { "nodes whose zone has pods that match", NULL, "a", "x", "", "",
      LIKES(WEIGHT(5, TERM("zone", S1, ""))), "a=100 b=100 x=0 y=0" },
    { "twice as many match", NULL, "a b x", "", "", "", LIKES(WEIGHT(5, TERM("zone", S1, ""))),
      "a=100 b=100 x=0 y=0" },
    { "three steps", NULL, "a a a b x", "", "", "", LIKES(WEIGHT(5, TERM("host", S1, ""))),
      "a=100 b=33 x=33 y=0" },
    { "weights add up", NULL, "a x", "b", "", "",
      LIKES(WEIGHT(5, TERM("host", S1, "")) "," WEIGHT(2, TERM("zone", S2, ""))),
      "a=100 b=28 x=71 y=0" },
    { "nobody matches", NULL, "a", "", "", "", LIKES(WEIGHT(5, TERM("zone", S2, ""))), "Skip" },
    { "no node has the label", NULL, "a", "", "", "", LIKES(WEIGHT(5, TERM("rack", S1, ""))),
      "Skip" },
    { "those that are there like it", NULL, "a", "", LIKES(WEIGHT(5, TERM("zone", S2, ""))),
      "'security': 'S2'", "", "a=100 b=100 x=0 y=0" },
    { "those that are there need it, by the hard weight", NULL, "a", "", NEAR(TERM("zone", S2, "")),
      "'security': 'S2'", "", "a=100 b=100 x=0 y=0" },
    { "unless that is 0", "{'hardPodAffinityWeight': 0}", "a", "", NEAR(TERM("zone", S2, "")),
      "'security': 'S2'", "", "Skip" },
    { "they like another", NULL, "a", "", LIKES(WEIGHT(5, TERM("zone", S2, ""))),
      "'security': 'S1'", "", "Skip" },
    { "dislikes", NULL, "a", "", "", "", DISLIKES(WEIGHT(5, TERM("zone", S1, ""))),
      "a=0 b=0 x=100 y=100" },
    { "dislikes more of them more", NULL, "a a x", "", "", "",
      DISLIKES(WEIGHT(5, TERM("host", S1, ""))), "a=0 b=100 x=50 y=100" },
    { "is disliked", NULL, "a", "", DISLIKES(WEIGHT(5, TERM("zone", S2, ""))), "'security': 'S2'",
      "", "a=0 b=0 x=100 y=100" },
    { "likes and dislikes", NULL, "a", "x", "", "",
      "'affinity': {'podAffinity': " PREFERRED(
          WEIGHT(8, TERM("zone", S1, ""))) ", "
                                           "'podAntiAffinity': " PREFERRED(
                                               WEIGHT(5, TERM("host", S2, ""))) "}",
      "a=100 b=100 x=0 y=38" },
    { "both ways, and the same labels", NULL, "a a x", "", LIKES(WEIGHT(5, TERM("zone", S1, ""))),
      "'security': 'S1'", LIKES(WEIGHT(5, TERM("zone", S1, ""))), "a=100 b=100 x=0 y=0" },
    { "likes of others are ignored where it likes nobody",
      "{'ignorePreferredTermsOfExistingPods': true}", "a", "",
      LIKES(WEIGHT(5, TERM("zone", S2, ""))), "'security': 'S2'", "", "Skip" },
    { "and count where it does", "{'ignorePreferredTermsOfExistingPods': true}", "a", "",
      LIKES(WEIGHT(5, TERM("zone", S2, ""))), "'security': 'S2'",
      LIKES(WEIGHT(5, TERM("host", S1, ""))), "a=100 b=50 x=0 y=0" },
    { "namespaces of a preference", NULL, "a", "", "", "",
      LIKES(WEIGHT(5, TERM("zone", S1, ", 'namespaces': ['other']"))), "Skip" },
};

TEST(nodes_are_scored_by_who_likes_whom)
{
    for (size_t i = 0; i < ARRAY_LEN(liking_cases); i++) {
        const struct liking_case *c = &liking_cases[i];
        WITH_KIT(k, "InterPodAffinity", c->args);
        four_nodes(&k);
        pods_with(&k, c->s1, "'security': 'S1'", c->spec, "");
        pods_with(&k, c->s2, "'security': 'S2'", c->spec, "");
        check_text(c->name, kit_score(&k, pod_with(&k, c->labels, c->new_spec)), c->want);
    }
}

TEST(preferences_select_namespaces)
{
    WITH_KIT(k, "InterPodAffinity", NULL);
    four_nodes(&k);
    two_namespaces(&k);
    check_text("its own",
               kit_score(&k, pod_with(&k, "",
                                      LIKES(WEIGHT(5, TERM("host", IN("service", "'securityscan'"),
                                                           TEAM("two")))))),
               "a=100 b=0 x=0 y=0");
    pods_with(&k, "x", "", LIKES(WEIGHT(5, TERM("host", S1, TEAM("one")))), "");
    check_text("of others", kit_score(&k, pod_with(&k, "'security': 'S1'", "")),
               "a=0 b=0 x=100 y=0");
    pods_with(&k, "x", "", LIKES(WEIGHT(5, TERM("host", S1, TEAM("one")))), "");
    kit_put(&k, SCHED_NAMESPACE, "{'metadata': {'name': 'default', 'labels': {'team': 'two'}}}");
    check_text("not any more", kit_score(&k, pod_with(&k, "'security': 'S1'", "")), "Skip");
}

TEST(arguments_that_are_out_of_range)
{
    WITH_KIT(k, "InterPodAffinity", NULL);
    check_text("weight", kit_plugin_error(&k, "InterPodAffinity", "{'hardPodAffinityWeight': 101}"),
               "hardPodAffinityWeight: not in valid range [0, 100]");
    kit_plugin(&k, "InterPodAffinity", NULL);
}

/* ---- hints ---- */

static const struct sched_object *other_pod(struct kit *k, const char *uid, const char *namespace,
                                            const char *labels, const char *spec)
{
    return kit_read(k, SCHED_POD,
                    "{'metadata': {'name': '%s', 'uid': '%s', 'namespace': '%s', 'labels': {%s}}, "
                    "'spec': {%s}}",
                    uid, uid, namespace, labels, spec);
}

static const char *pod_hint(struct kit *k, const struct sched_pod *pod,
                            const struct sched_object *before, const struct sched_object *after)
{
    struct sched_event e = { SCHED_ON_ASSIGNED_POD,
                             !before  ? SCHED_ADD
                             : !after ? SCHED_DELETE
                                      : SCHED_UPDATE_POD_LABEL | SCHED_UPDATE_POD_TOLERATION,
                             before, after };
    if (before && after && str_eq(after->uid, pod->o.uid))
        e.resource = SCHED_ON_UNSCHEDULED_POD;
    return kit_hint(k, pod, &e);
}

#define ON_A "'nodeName': 'a'"

TEST(pods_that_may_help_a_spread)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    const struct sched_pod *pod =
        pod_with(&k, "'foo': ''",
                 SPREADS(HARD("zone", 1, EXISTS("foo")) "," HARD("host", 1, EXISTS("bar"))));
    const struct sched_object *foo = other_pod(&k, "o", "default", "'foo': ''", ON_A),
                              *bar = other_pod(&k, "o", "default", "'bar': ''", ON_A),
                              *no = other_pod(&k, "o", "default", "'no': ''", ON_A),
                              *far = other_pod(&k, "o", "other", "'foo': ''", ON_A),
                              *waits = other_pod(&k, "o", "default", "'foo': ''", "");
    check_text("added", pod_hint(&k, pod, NULL, foo), "queue");
    check_text("added, second selector", pod_hint(&k, pod, NULL, bar), "queue");
    check_text("added, no match", pod_hint(&k, pod, NULL, no), "skip");
    check_text("added elsewhere", pod_hint(&k, pod, NULL, far), "skip");
    check_text("added, waits", pod_hint(&k, pod, NULL, waits), "skip");
    check_text("deleted", pod_hint(&k, pod, foo, NULL), "queue");
    check_text("deleted, no match", pod_hint(&k, pod, no, NULL), "skip");
    check_text("deleted, waits", pod_hint(&k, pod, waits, NULL), "skip");
    check_text("matches now", pod_hint(&k, pod, no, foo), "queue");
    check_text("does not any more", pod_hint(&k, pod, bar, no), "queue");
    check_text("other labels",
               pod_hint(&k, pod, no, other_pod(&k, "o", "default", "'yet': ''", ON_A)), "skip");
    check_text("nominated",
               pod_hint(&k, pod,
                        kit_read(&k, SCHED_POD,
                                 "{'metadata': {'name': 'o', 'uid': 'o', 'namespace': 'default', "
                                 "'labels': {'foo': ''}}, 'status': {'nominatedNodeName': 'a'}}"),
                        NULL),
               "queue");
}

TEST(a_toleration_may_help_a_spread_that_honors_taints)
{
    static const char *const policies[] = { "Honor", "Ignore" };
    for (int i = 0; i < 2; i++) {
        WITH_KIT(k, "PodTopologySpread", NULL);
        char spec[512], tolerant[600];
        (void)snprintf(spec, sizeof(spec),
                       SPREADS(HARD("zone", 1, ", 'nodeTaintsPolicy': '%s'" EXISTS("foo"))),
                       policies[i]);
        (void)snprintf(tolerant, sizeof(tolerant), "%s, 'tolerations': [{'operator': 'Exists'}]",
                       spec);
        const struct sched_pod *before = pod_with(&k, "", spec),
                               *after = pod_with(&k, "", tolerant);
        check_text(policies[i], pod_hint(&k, after, &before->o, &after->o), i ? "skip" : "queue");
    }
}

static const struct sched_object *some_node(struct kit *k, const char *labels, const char *spec)
{
    return kit_read(k, SCHED_NODE, "{'metadata': {'name': 'n', 'labels': {%s}}, 'spec': {%s}}",
                    labels, spec);
}

static const char *node_hint(struct kit *k, const struct sched_pod *pod,
                             const struct sched_object *before, const struct sched_object *after)
{
    struct sched_event e = { SCHED_ON_NODE,
                             !before  ? SCHED_ADD
                             : !after ? SCHED_DELETE
                                      : SCHED_UPDATE_NODE_LABEL | SCHED_UPDATE_NODE_TAINT,
                             before, after };
    return kit_hint(k, pod, &e);
}

TEST(nodes_that_may_help_a_spread)
{
    WITH_KIT(k, "PodTopologySpread", NULL);
    const struct sched_pod *pod =
        pod_with(&k, "'foo': ''",
                 SPREADS(HARD("zone", 1, EXISTS("foo")) "," HARD("host", 1, EXISTS("bar"))));
    const char *both = "'zone': 'z', 'host': 'h'";
    const struct sched_object *full = some_node(&k, both, ""),
                              *half = some_node(&k, "'zone': 'z'", ""),
                              *moved = some_node(&k, "'zone': 'y', 'host': 'h'", ""),
                              *half_moved = some_node(&k, "'zone': 'y'", ""),
                              *more = some_node(&k, "'zone': 'z', 'host': 'h', 'm': ''", "");
    const char *taint = "'taints': [{'key': 'k', 'effect': 'NoSchedule'}]";
    check_text("added", node_hint(&k, pod, NULL, full), "queue");
    check_text("added, half", node_hint(&k, pod, NULL, half), "skip");
    check_text("deleted", node_hint(&k, pod, full, NULL), "queue");
    check_text("deleted, half", node_hint(&k, pod, half, NULL), "skip");
    check_text("gets labels", node_hint(&k, pod, half, full), "queue");
    check_text("loses labels", node_hint(&k, pod, full, half), "queue");
    check_text("moves", node_hint(&k, pod, full, moved), "queue");
    check_text("half moves", node_hint(&k, pod, half, half_moved), "skip");
    check_text("other labels", node_hint(&k, pod, full, more), "skip");
    check_text("taints", node_hint(&k, pod, full, some_node(&k, both, taint)), "queue");
    check_text("taints, half", node_hint(&k, pod, half, some_node(&k, "'zone': 'z'", taint)),
               "skip");
}

TEST(pods_that_may_help_an_affinity)
{
    WITH_KIT(k, "InterPodAffinity", NULL);
    const struct sched_pod *near =
        pod_with(&k, "'l': 'new'", NEAR(TERM("zone", S1, "") "," TERM("zone", IN("v", "'1'"), "")));
    const struct sched_pod *away = pod_with(&k, "'l': 'new'", AWAY(TERM("zone", S1, "")));
    const struct sched_object *both =
                                  other_pod(&k, "o", "default", "'security': 'S1', 'v': '1'", ON_A),
                              *one = other_pod(&k, "o", "default", "'security': 'S1'", ON_A),
                              *none = other_pod(&k, "o", "default", "'x': ''", ON_A),
                              *waits =
                                  other_pod(&k, "o", "default", "'security': 'S1', 'v': '1'", "");
    check_text("added", pod_hint(&k, near, NULL, both), "queue");
    check_text("added, one term", pod_hint(&k, near, NULL, one), "skip");
    check_text("added, waits", pod_hint(&k, near, NULL, waits), "skip");
    check_text("matches now", pod_hint(&k, near, one, both), "queue");
    check_text("matched before", pod_hint(&k, near, both, both), "skip");
    check_text("does not any more", pod_hint(&k, near, both, one), "skip");
    check_text("deleted", pod_hint(&k, near, both, NULL), "skip");
    check_text("waits, changes", pod_hint(&k, near, waits, waits), "skip");
    check_text("itself", pod_hint(&k, near, &near->o, &near->o), "queue");
    check_text("away: deleted", pod_hint(&k, away, one, NULL), "queue");
    check_text("away: deleted, no match", pod_hint(&k, away, none, NULL), "skip");
    check_text("away: does not match any more", pod_hint(&k, away, one, none), "queue");
    check_text("away: matches now", pod_hint(&k, away, none, one), "skip");
    check_text("away: added", pod_hint(&k, away, NULL, one), "skip");
    check_text("away: one goes that wanted to be alone",
               pod_hint(&k, near,
                        other_pod(&k, "o", "default", "",
                                  ON_A ", " AWAY(TERM("zone", IN("l", "'new'"), ""))),
                        NULL),
               "queue");
    check_text("away: one goes that wanted to be away from others",
               pod_hint(&k, near,
                        other_pod(&k, "o", "default", "",
                                  ON_A ", " AWAY(TERM("zone", IN("l", "'old'"), ""))),
                        NULL),
               "skip");
}

TEST(nodes_that_may_help_an_affinity)
{
    WITH_KIT(k, "InterPodAffinity", NULL);
    const struct sched_pod *near = pod_with(&k, "", NEAR(TERM("zone", S1, ""))),
                           *away = pod_with(&k, "", AWAY(TERM("zone", S1, "")));
    const struct sched_object *z1 = some_node(&k, "'zone': 'z1'", ""),
                              *z2 = some_node(&k, "'zone': 'z2'", ""),
                              *none = some_node(&k, "'x': ''", ""),
                              *more = some_node(&k, "'zone': 'z1', 'x': ''", "");
    check_text("near: added", node_hint(&k, near, NULL, z1), "queue");
    check_text("near: added without", node_hint(&k, near, NULL, none), "skip");
    check_text("near: moves", node_hint(&k, near, z1, z2), "queue");
    check_text("near: gets it", node_hint(&k, near, none, z1), "queue");
    check_text("near: loses it", node_hint(&k, near, z1, none), "skip");
    check_text("near: other labels", node_hint(&k, near, z1, more), "skip");
    check_text("away: added", node_hint(&k, away, NULL, z1), "queue");
    check_text("away: added without", node_hint(&k, away, NULL, none), "queue");
    check_text("away: moves", node_hint(&k, away, z1, z2), "queue");
    check_text("away: gets it", node_hint(&k, away, none, z1), "skip");
    check_text("away: loses it", node_hint(&k, away, z1, none), "queue");
    check_text("away: other labels", node_hint(&k, away, z1, more), "skip");
    /* Deleted nodes and taints are no business of this plugin. */
    check_text("deleted", node_hint(&k, near, z1, NULL), "none");
}

TEST_MAIN
