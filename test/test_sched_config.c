/* SPDX-License-Identifier: Apache-2.0 */
/* Reading KubeSchedulerConfiguration: defaults, plugin sets, validation, upstream's words. */
#include "kube/model/duration.h"
#include "sched/config/config.h"
#include "test.h"

#include <errno.h>

#define HEAD "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
#define ONE  HEAD "profiles:\n- schedulerName: s\n"

enum { PRE_ENQUEUE, QUEUE_SORT, PRE_FILTER, FILTER, POST_FILTER, PRE_SCORE, SCORE };

struct world {
    struct arena a;
    struct sched_config c;
    struct buf warnings;
    struct err err;
};

static int read_text(struct world *w, const char *text)
{
    *w = (struct world){ .warnings = BUF_INIT(1 << 20) };
    return sched_config_read(&w->a, str_of(text), &w->c, &w->warnings, &w->err);
}

static void must_read(struct world *w, const char *text)
{
    if (read_text(w, text) < 0)
        TEST_FAIL("%s\n%s", w->err.text, text);
}

static void end(struct world *w)
{
    buf_fini(&w->warnings);
    arena_fini(&w->a);
}

static struct str names(struct arena *a, const struct sched_config_set *set)
{
    struct buf b = BUF_INIT(64 << 10);
    for (size_t i = 0; i < set->n; i++) {
        (void)buf_printf(&b, "%s" STR_FMT, i ? " " : "", STR_ARG(set->p[i].name));
        if (set->p[i].weight != 1)
            (void)buf_printf(&b, "=%d", (int)set->p[i].weight);
        if (set->p[i].is_explicit)
            (void)buf_add_char(&b, '!');
    }
    struct str ret = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return ret;
}

static struct str args(struct world *w, size_t profile, const char *plugin)
{
    const struct sched_config_profile *p = &w->c.profiles[profile];
    struct buf b = BUF_INIT(64 << 10);
    for (size_t i = 0; i < p->n_args; i++)
        if (str_is(p->args[i].name, plugin))
            (void)json_write(&b, p->args[i].args);
    struct str ret = str_copy_arena(&w->a, buf_str(&b));
    buf_fini(&b);
    return ret;
}

#define DEFAULTS                                                                                   \
    "SchedulingGates PrioritySort NodeUnschedulable NodeName TaintToleration=3 NodeAffinity=2 "    \
    "NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "     \
    "PodTopologySpread=2 InterPodAffinity=2 DefaultPreemption NodeResourcesBalancedAllocation "    \
    "ImageLocality DefaultBinder NodeDeclaredFeatures"

TEST(nothing_gives_the_defaults)
{
    static const char *const texts[] = { "", HEAD, HEAD "profiles: []\n", HEAD "profiles: null\n",
                                         ("{\"apiVersion\": \"kubescheduler.config.k8s.io/v1\",\n"
                                          "\t\"kind\": \"KubeSchedulerConfiguration\"}") };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct world w;
        must_read(&w, texts[i]);
        CHECK_INT(w.c.n_profiles, 1);
        CHECK_STR(w.c.profiles[0].scheduler_name, "default-scheduler");
        CHECK_STR(names(&w.a, &w.c.profiles[0].multi_point), DEFAULTS);
        for (size_t point = 0; point < SCHED_CONFIG_POINTS; point++)
            CHECK_STR(names(&w.a, &w.c.profiles[0].at[point]), DEFAULTS);
        CHECK_INT(w.c.backoff_first_ms, 1000);
        CHECK_INT(w.c.backoff_max_ms, 10000);
        CHECK_INT(w.c.percentage, 0);
        CHECK(w.c.leader.on);
        CHECK_INT(w.c.leader.lease_ms, 15000);
        CHECK_INT(w.c.leader.deadline_ms, 10000);
        CHECK_INT(w.c.leader.retry_ms, 2000);
        CHECK_STR(w.c.leader.name, "kube-scheduler");
        CHECK_STR(w.c.leader.namespace, "kube-system");
        CHECK(w.c.qps == 50);
        CHECK_INT(w.c.burst, 100);
        CHECK_INT(w.warnings.n, 0);
        CHECK_STR(args(&w, 0, "DefaultPreemption"),
                  "{\"minCandidateNodesPercentage\":10,\"minCandidateNodesAbsolute\":100}");
        CHECK_STR(args(&w, 0, "InterPodAffinity"), "{\"hardPodAffinityWeight\":1}");
        CHECK_STR(args(&w, 0, "NodeAffinity"), "{}");
        CHECK_STR(args(&w, 0, "NodeResourcesBalancedAllocation"),
                  "{\"resources\":[{\"name\":\"cpu\",\"weight\":1},"
                  "{\"name\":\"memory\",\"weight\":1}]}");
        CHECK_STR(args(&w, 0, "NodeResourcesFit"),
                  "{\"scoringStrategy\":{\"type\":\"LeastAllocated\",\"resources\":["
                  "{\"name\":\"cpu\",\"weight\":1},{\"name\":\"memory\",\"weight\":1}]}}");
        CHECK_STR(args(&w, 0, "PodTopologySpread"), "{\"defaultingType\":\"System\"}");
        CHECK_STR(args(&w, 0, "VolumeBinding"), "{\"bindTimeoutSeconds\":600}");
        CHECK_STR(args(&w, 0, "DynamicResources"), "");
        end(&w);
    }
}

TEST(values_are_taken)
{
    struct world w;
    must_read(&w, HEAD "leaderElection: {leaderElect: false, leaseDuration: 1m, renewDeadline: 40s,"
                       " retryPeriod: 500ms, resourceName: lock, resourceNamespace: ns}\n"
                       "clientConnection: {kubeconfig: /k, qps: 1.5, burst: 7}\n"
                       "percentageOfNodesToScore: 40\npodInitialBackoffSeconds: 2\n"
                       "podMaxBackoffSeconds: 3\nprofiles:\n- schedulerName: a\n"
                       "  percentageOfNodesToScore: 0\n- schedulerName: b\n");
    CHECK(!w.c.leader.on);
    CHECK_INT(w.c.leader.lease_ms, 60000);
    CHECK_INT(w.c.leader.deadline_ms, 40000);
    CHECK_INT(w.c.leader.retry_ms, 500);
    CHECK_STR(w.c.leader.name, "lock");
    CHECK_STR(w.c.leader.namespace, "ns");
    CHECK_STR(w.c.kubeconfig, "/k");
    CHECK(w.c.qps == 1.5);
    CHECK_INT(w.c.burst, 7);
    CHECK_INT(w.c.backoff_first_ms, 2000);
    CHECK_INT(w.c.backoff_max_ms, 3000);
    CHECK_INT(w.c.n_profiles, 2);
    CHECK_INT(w.c.profiles[0].percentage, 0);
    CHECK_INT(w.c.profiles[1].percentage, 40);
    CHECK_STR(json_get_str(json_getc(w.c.tree, "leaderElection"), "leaseDuration"), "1m");
    CHECK(!json_getc(w.c.tree, "parallelism")); /* what was read, without defaults */
    end(&w);
}

TEST(arguments_are_filled_in)
{
    struct world w;
    must_read(&w, ONE "  pluginConfig:\n"
                      "  - name: NodeResourcesFit\n"
                      "    args: {kind: NodeResourcesFitArgs, scoringStrategy: {type: "
                      "MostAllocated, resources: [{name: a/b}, {name: cpu, weight: 3}]}}\n"
                      "  - name: DefaultPreemption\n"
                      "    args: {minCandidateNodesPercentage: 0}\n"
                      "  - name: VolumeBinding\n"
                      "  - name: mine\n"
                      "    args: {guestURL: 'file:///x', more: [1, null]}\n");
    CHECK_STR(args(&w, 0, "NodeResourcesFit"),
              "{\"scoringStrategy\":{\"type\":\"MostAllocated\",\"resources\":["
              "{\"name\":\"a/b\",\"weight\":1},{\"name\":\"cpu\",\"weight\":3}]}}");
    CHECK_STR(args(&w, 0, "DefaultPreemption"),
              "{\"minCandidateNodesPercentage\":0,\"minCandidateNodesAbsolute\":100}");
    CHECK_STR(args(&w, 0, "VolumeBinding"), "{\"bindTimeoutSeconds\":600}");
    CHECK_STR(args(&w, 0, "mine"), "{\"guestURL\":\"file:///x\",\"more\":[1,null]}");
    end(&w);
}

TEST(plugin_sets)
{
    static const struct {
        const char *plugins; /* JSON */
        int point;           /* -1: multiPoint */
        const char *want;
    } cases[] = {
        /* defaults are replaced in their place, others come behind */
        { "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: A}, {name: B, weight: 5}]}}",
          FILTER, "A B=5" },
        { "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodeName}]}}", -1, "NodeName" },
        { "{multiPoint: {enabled: [{name: X, weight: 2}, {name: TaintToleration, weight: 9}],"
          " disabled: [{name: NodeName}, {name: PrioritySort}, {name: NodeUnschedulable},"
          " {name: VolumeZone}, {name: VolumeBinding}, {name: NodeVolumeLimits},"
          " {name: VolumeRestrictions}, {name: InterPodAffinity}, {name: PodTopologySpread}]}}",
          SCORE,
          "SchedulingGates TaintToleration=9 NodeAffinity=2 NodePorts NodeResourcesFit "
          "DefaultPreemption NodeResourcesBalancedAllocation ImageLocality DefaultBinder "
          "NodeDeclaredFeatures X=2" },
        /* enabled again loses the default's weight, and wins against disabled as a new one */
        { "{multiPoint: {enabled: [{name: TaintToleration}], disabled: [{name: '*'}]}}", SCORE,
          "TaintToleration" },
        { "{multiPoint: {enabled: [{name: A}, {name: TaintToleration, weight: 7}], disabled: "
          "[{name: TaintToleration}, {name: '*'}]}}",
          SCORE, "A TaintToleration=7" },
        /* at one point: disabled there */
        { "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: A}, {name: B}]},"
          " filter: {disabled: [{name: A}]}}",
          FILTER, "B" },
        { "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: A}, {name: B}]},"
          " filter: {disabled: [{name: A}]}}",
          SCORE, "A B" },
        { "{filter: {disabled: [{name: '*'}]}}", FILTER, "" },
        { "{filter: {disabled: [{name: '*'}], enabled: [{name: NodePorts}, {name: NodeName}]}}",
          FILTER, "NodePorts! NodeName!" },
        /* what the point configures itself and multiPoint has comes first, the new ones last */
        { "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: A}, {name: B}, {name: C}]},"
          " score: {enabled: [{name: X}, {name: C, weight: 8}, {name: Z}, {name: A}]}}",
          SCORE, "C=8! A! B X! Z!" },
        { "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: A, weight: 4}]},"
          " score: {enabled: [{name: X}, {name: A}], disabled: [{name: A}]}}",
          SCORE, "X! A!" },
        { "{multiPoint: {disabled: [{name: '*'}]}, score: {enabled: [{name: B}, {name: A}]}}",
          SCORE, "B! A!" },
        /* twice the same: the builder of profiles refuses it */
        { "{multiPoint: {disabled: [{name: '*'}], enabled: [{name: A}, {name: A}]}}", SCORE,
          "A A" },
        { "{multiPoint: {disabled: [{name: '*'}]}, bind: {enabled: [{name: A}]}}", SCORE, "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        char text[4096];
        (void)snprintf(text, sizeof text, ONE "  plugins: %s\n", cases[i].plugins);
        must_read(&w, text);
        const struct sched_config_profile *p = &w.c.profiles[0];
        CHECK_STR(names(&w.a, cases[i].point < 0 ? &p->multi_point : &p->at[cases[i].point]),
                  cases[i].want);
        end(&w);
    }
}

TEST(extenders)
{
    struct world w;
    must_read(&w, ONE "extenders:\n"
                      "- {urlPrefix: 'http://a', filterVerb: f, ignorable: true}\n"
                      "- urlPrefix: https://b\n"
                      "  prioritizeVerb: p\n"
                      "  preemptVerb: e\n"
                      "  bindVerb: b\n"
                      "  weight: 3\n"
                      "  enableHTTPS: true\n"
                      "  nodeCacheCapable: true\n"
                      "  httpTimeout: 1.5s\n"
                      "  managedResources: [{name: x.y/z, ignoredByScheduler: true}, "
                      "{name: x.y/w}]\n"
                      "  tlsConfig: {insecure: true, serverName: s, caData: Q0E=, certFile: c, "
                      "keyFile: k}\n");
    CHECK_INT(w.c.n_extenders, 2);
    const struct sched_config_extender *b = &w.c.extenders[0], *a = &w.c.extenders[1];
    CHECK_STR(a->url_prefix, "http://a"); /* ignorable ones come last */
    CHECK_INT(a->timeout_ms, 5000);
    CHECK(a->is_ignorable && !a->insecure && !a->enable_https);
    CHECK_STR(b->url_prefix, "https://b");
    CHECK_STR(b->prioritize_verb, "p");
    CHECK_STR(b->preempt_verb, "e");
    CHECK_STR(b->bind_verb, "b");
    CHECK_INT(b->weight, 3);
    CHECK_INT(b->timeout_ms, 1500);
    CHECK(b->enable_https && b->node_cache_capable && b->insecure);
    CHECK_STR(b->server_name, "s");
    CHECK_STR(b->ca_data, "CA");
    CHECK_INT(b->n_managed, 2);
    CHECK(b->managed[0].ignored_by_scheduler && !b->managed[1].ignored_by_scheduler);
    CHECK(str_find(args(&w, 0, "NodeResourcesFit"), STR("\"ignoredResources\":[\"x.y/z\"]")) >= 0);
    end(&w);
}

TEST(what_has_no_effect_is_named)
{
    struct world w;
    must_read(&w, HEAD "parallelism: 4\nenableProfiling: true\nenableContentionProfiling: false\n"
                       "delayCacheUntilActive: true\nclientConnection: {contentType: "
                       "application/vnd.kubernetes.protobuf}\n"
                       "profiles:\n- schedulerName: s\n"
                       "  plugins: {placementScore: {enabled: [{name: PodGroupPodsCount}]},\n"
                       "    multiPoint: {enabled: [{name: DynamicResources}], disabled: "
                       "[{name: GangScheduling}]}}\n"
                       "  pluginConfig: [{name: DynamicResources, args: {filterTimeout: 3s}},"
                       " {name: NodeName, args: {a: 1}}, {name: NodeResourceFit, args: {}}]\n");
    CHECK_STR(
        buf_str(&w.warnings),
        "parallelism: has no effect: one thread looks at all nodes\n"
        "enableProfiling: has no effect: there are no Go profiles\n"
        "clientConnection.contentType: has no effect: requests are JSON\n"
        "delayCacheUntilActive: has no effect: a scheduler that does not lead keeps its cache\n"
        "profiles[0].plugins.multiPoint.enabled[0]: plugin DynamicResources is left out: "
        "resource claims are not supported\n"
        "profiles[0].plugins.placementScore: has no effect: groups of pods are not supported\n"
        "profiles[0].pluginConfig[0]: arguments of DynamicResources have no effect: resource "
        "claims are not supported\n"
        "profiles[0].pluginConfig[1]: has no effect: NodeName takes no arguments\n"
        "profiles[0].pluginConfig[2]: has no effect: NodeResourceFit is not enabled\n");
    CHECK_STR(names(&w.a, &w.c.profiles[0].multi_point), DEFAULTS);
    end(&w);
}

struct bad {
    const char *text, *want;
};

static void must_fail(const struct bad *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct world w;
        if (read_text(&w, cases[i].text) >= 0)
            TEST_FAIL("was read:\n%s", cases[i].text);
        CHECK_STR(str_of(w.err.text), cases[i].want);
        end(&w);
    }
}

#define SCHEME "in scheme \"pkg/runtime/scheme.go:111\""
#define META                                                                                       \
    "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "               \
    "\"json:\\\"kind,omitempty\\\"\" }"

TEST(envelopes)
{
    static const struct bad cases[] = {
        { "a: [", "line 2, column 1: did not find expected node content" },
        { "{\"a\": }x", "line 1, column 8: did not find expected <document start>" },
        { "\n", "Object 'Kind' is missing in ''" },
        { "a: 1", "Object 'Kind' is missing in 'a: 1'" },
        { "kind: KubeSchedulerConfiguration",
          "Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration'" },
        { "kind: 1", "line 1, column 1: couldn't get version/kind; json parse error: json: cannot "
                     "unmarshal number into Go struct field .kind of type string" },
        { "[]", "line 1, column 1: couldn't get version/kind; json parse error: json: cannot "
                "unmarshal array into Go value of type " META },
        { "kind: K\napiVersion: a/b/c", "line 2, column 1: unexpected GroupVersion string: a/b/c" },
        { "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1beta3",
          "line 2, column 1: no kind \"KubeSchedulerConfiguration\" is registered for version "
          "\"kubescheduler.config.k8s.io/v1beta3\" " SCHEME },
        { "apiVersion: kubescheduler.config.k8s.io/v1\nkind: Pod",
          "line 2, column 1: no kind \"Pod\" is registered for version "
          "\"kubescheduler.config.k8s.io/v1\" " SCHEME },
        { "apiVersion: kubescheduler.config.k8s.io/v1\nkind: NodeAffinityArgs",
          "line 2, column 1: couldn't decode as KubeSchedulerConfiguration, got "
          "kubescheduler.config.k8s.io/v1, Kind=NodeAffinityArgs" },
    };
    must_fail(cases, ARRAY_LEN(cases));
}

#define JSON_HEAD                                                                                  \
    "{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":\"KubeSchedulerConfiguration\","
#define ARGS(name, args) ONE "  pluginConfig:\n  - name: " name "\n    args: " args "\n"
#define AT_ARGS          "decoding .profiles[0].pluginConfig[0]: "

TEST(fields_are_checked)
{
    static const struct bad cases[] = {
        { HEAD "foo: 1\n", "line 3, column 1: strict decoding error: unknown field \"foo\"" },
        { HEAD "zoo: 1\nfoo: 1\n",
          "line 4, column 1: strict decoding error: unknown field \"foo\", unknown field \"zoo\"" },
        { JSON_HEAD "\"zoo\":1,\n\"foo\":1}", "line 1, column 84: strict decoding error: unknown "
                                              "field \"zoo\", unknown field \"foo\"" },
        { ONE "  plugins:\n    score:\n      enabled: [{Name: x}]\n",
          "line 7, column 18: strict decoding error: unknown field "
          "\"profiles[0].plugins.score.enabled[0].Name\"" },
        { HEAD "leaderElection:\n  leaderElect: true\n  leaderElect: false\n",
          "line 4, column 3: strict decoding error: key \"leaderElect\" already set in map" },
        { JSON_HEAD "\n\"leaderElection\":{\"leaderElect\":true,\"leaderElect\":true}}",
          "line 2, column 19: strict decoding error: duplicate field "
          "\"leaderElection.leaderElect\"" },
        { HEAD "parallelism: x\n",
          "line 3, column 1: json: cannot unmarshal string into Go struct field "
          "KubeSchedulerConfiguration.parallelism of type int32" },
        { HEAD "parallelism: 5000000000\n",
          "line 3, column 1: json: cannot unmarshal number 5000000000 into Go struct field "
          "KubeSchedulerConfiguration.parallelism of type int32" },
        { HEAD "podMaxBackoffSeconds: 1.5\n",
          "line 3, column 1: json: cannot unmarshal number 1.5 into Go struct field "
          "KubeSchedulerConfiguration.podMaxBackoffSeconds of type int64" },
        { HEAD "profiles: {}\n",
          "line 3, column 1: json: cannot unmarshal object into Go struct field "
          "KubeSchedulerConfiguration.profiles of type []v1.KubeSchedulerProfile" },
        { HEAD "profiles: [1]\n",
          "line 3, column 12: json: cannot unmarshal number into Go struct field "
          "KubeSchedulerConfiguration.profiles of type v1.KubeSchedulerProfile" },
        { HEAD "profiles:\n- schedulerName: 1\n",
          "line 4, column 3: json: cannot unmarshal number into Go struct field "
          "KubeSchedulerProfile.profiles.schedulerName of type string" },
        { HEAD "leaderElection: {leaderElect: 1}\n",
          "line 3, column 18: json: cannot unmarshal number into Go struct field "
          "LeaderElectionConfiguration.leaderElection.leaderElect of type bool" },
        { HEAD "leaderElection: {leaseDuration: 15}\n",
          "line 3, column 18: json: cannot unmarshal number into Go struct field "
          "LeaderElectionConfiguration.leaderElection.leaseDuration of type string" },
        { HEAD "leaderElection: {leaseDuration: abc}\n",
          "line 3, column 18: time: invalid duration \"abc\"" },
        { HEAD "leaderElection: {leaseDuration: '15'}\n",
          "line 3, column 18: time: missing unit in duration \"15\"" },
        { HEAD "extenders: [{tlsConfig: {caData: '?'}}]\n",
          "line 3, column 26: illegal base64 data at input byte 0" },
        { ARGS("DefaultPreemption", "{kind: InterPodAffinityArgs}"),
          "line 7, column 5: " AT_ARGS "args for plugin DefaultPreemption were not of type "
          "DefaultPreemptionArgs.kubescheduler.config.k8s.io, got "
          "InterPodAffinityArgs.kubescheduler.config.k8s.io" },
        { ARGS("DefaultPreemption", "{minCandidateNodesPercentage: x}"),
          "line 7, column 5: " AT_ARGS "decoding args for plugin DefaultPreemption: json: cannot "
          "unmarshal string into Go struct field DefaultPreemptionArgs.minCandidateNodesPercentage "
          "of type int32" },
        { ARGS("NodeResourcesFit", "{scoringStrategy: {resources: [{Name: cpu, Weight: 1}]}}"),
          "line 7, column 43: strict decoding error: " AT_ARGS
          "strict decoding error: decoding args for plugin NodeResourcesFit: strict decoding "
          "error: "
          "unknown field \"scoringStrategy.resources[0].Name\", unknown field "
          "\"scoringStrategy.resources[0].Weight\"" },
    };
    must_fail(cases, ARRAY_LEN(cases));
}

TEST(configurations_are_validated)
{
    static const struct bad cases[] = {
        { HEAD "parallelism: 0\n", "line 3, column 1: parallelism: Invalid value: 0: should be an "
                                   "integer value greater than zero" },
        { HEAD "percentageOfNodesToScore: 101\n",
          "line 3, column 1: percentageOfNodesToScore: Invalid value: 101: not in valid range "
          "[0-100]" },
        { ONE "  percentageOfNodesToScore: -1\n",
          "line 5, column 3: profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid "
          "range [0-100]" },
        { HEAD "podInitialBackoffSeconds: 0\n",
          "line 3, column 1: podInitialBackoffSeconds: Invalid value: 0: must be greater than 0" },
        { HEAD "podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 4\n",
          "line 4, column 1: podMaxBackoffSeconds: Invalid value: 4: must be greater than or equal "
          "to PodInitialBackoffSeconds" },
        { HEAD "clientConnection: {burst: -1}\n",
          "line 3, column 20: clientConnection.burst: Invalid value: -1: must be non-negative" },
        { HEAD "leaderElection: {leaseDuration: 10s}\n",
          "line 3, column 18: leaderElection.leaseDuration: Invalid value: \"10s\": must be "
          "greater "
          "than `RenewDeadline`" },
        { HEAD "leaderElection: {retryPeriod: -1m30s}\n",
          "line 3, column 18: leaderElection.retryPeriod: Invalid value: \"-1m30s\": must be "
          "greater than zero" },
        { HEAD "leaderElection: {resourceLock: endpoints}\n",
          "line 3, column 18: leaderElection.resourceLock: Invalid value: \"endpoints\": "
          "resourceLock value must be \"leases\"" },
        { HEAD "profiles: [{schedulerName: a}, {}]\n",
          "line 3, column 32: profiles[1].schedulerName: Required value" },
        { HEAD "profiles: [{schedulerName: a}, {schedulerName: a}]\n",
          "line 3, column 33: profiles[1].schedulerName: Duplicate value: "
          "\"profiles[0].schedulerName\"" },
        { HEAD "profiles: [{schedulerName: ''}]\n",
          "line 3, column 13: profiles[0].schedulerName: Required value" },
        { ONE "  plugins:\n    filter: {enabled: [{name: EBSLimits}]}\n",
          "line 6, column 24: profiles[0].plugins.filter.enabled[0]: Invalid value: \"EBSLimits\": "
          "was invalid in version \"v1\" (KubeSchedulerConfiguration is version "
          "\"kubescheduler.config.k8s.io/v1\")" },
        { ONE "  pluginConfig: [{name: x}, {name: x}]\n",
          "line 5, column 29: profiles[0].pluginConfig[1]: Duplicate value: \"x\"" },
        { HEAD "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    queueSort: "
               "{enabled: [{name: X}], disabled: [{name: '*'}]}\n",
          "line 7, column 5: profiles[1].plugins.queueSort: Invalid value: {\"Enabled\":[{\"Name\":"
          "\"X\",\"Weight\":0}],\"Disabled\":[{\"Name\":\"*\",\"Weight\":0}]}: must be the same "
          "for "
          "all profiles" },
        { ONE "  plugins: {queueSort: {enabled: [{name: X}, {name: Z}]}}\n",
          "line 5, column 13: profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one "
          "queue sort plugin can be enabled" },
        { HEAD "profiles: [{schedulerName: a, plugins: &p {queueSort: {enabled: [{name: X}]}}, "
               "pluginConfig: [{name: X, args: 1}]}, {schedulerName: b, plugins: *p, "
               "pluginConfig: [{name: X, args: 2}]}]\n",
          "line 3, column 149: profiles[1].pluginConfig.args: Invalid value: 2: queueSort must be "
          "the same for all profiles" },
        { HEAD "extenders: [{prioritizeVerb: p}]\n",
          "line 3, column 13: extenders[0].weight: Invalid value: 0: must have a positive weight "
          "applied to it" },
        { HEAD "extenders: [{bindVerb: a}, {bindVerb: b}]\n",
          "line 3, column 1: extenders: Invalid value: \"found 2 extenders implementing bind\": "
          "only one extender can implement bind" },
        { HEAD "extenders: [{managedResources: [{name: cpu}]}]\n",
          "line 3, column 34: extenders[0].managedResources[0].name: Invalid value: \"cpu\": is an "
          "invalid extended resource name" },
        { HEAD
          "extenders: [{managedResources: [{name: a/b}]}, {managedResources: [{name: a/b}]}]\n",
          "line 3, column 69: extenders[1].managedResources[0].name: Invalid value: \"a/b\": "
          "duplicate extender managed resource name" },
        { ONE "  plugins: {multiPoint: {disabled: [{name: '*'}]}}\n"
              "extenders: [{managedResources: [{name: a/b, ignoredByScheduler: true}]}]\n",
          "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config" },
    };
    must_fail(cases, ARRAY_LEN(cases));
}

#define LINE_AT(column) "line 7, column " column ": profiles[0].pluginConfig[0].args."

TEST(arguments_are_validated)
{
    static const struct bad cases[] = {
        { ARGS("DefaultPreemption", "{minCandidateNodesPercentage: 200}"),
          LINE_AT("12") "minCandidateNodesPercentage: Invalid value: 200: not in valid range "
                        "[0, 100]" },
        { ARGS("DefaultPreemption", "{minCandidateNodesAbsolute: -1}"),
          LINE_AT("12") "minCandidateNodesAbsolute: Invalid value: -1: not in valid range "
                        "[0, inf)" },
        { ARGS("InterPodAffinity", "{hardPodAffinityWeight: 101}"),
          LINE_AT("12") "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]" },
        { ARGS("VolumeBinding", "{bindTimeoutSeconds: -1}"),
          LINE_AT("12") "bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should "
                        "not be a negative value" },
        { ARGS("VolumeBinding", "{shape: [{utilization: 1, score: 1}]}"),
          LINE_AT("12") "shape: Invalid value: [{\"Utilization\":1,\"Score\":1}]: unexpected field "
                        "`shape`, remove it or turn on the feature gate StorageCapacityScoring" },
        { ARGS("NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}]}"),
          LINE_AT("36") "resources[0].weight: Invalid value: 2: must be 1" },
        { ARGS("NodeResourcesBalancedAllocation", "{resources: [{name: cpu}, {name: cpu}]}"),
          LINE_AT("38") "resources[1].name: Duplicate value: \"cpu\"" },
        { ARGS("NodeResourcesFit", "{scoringStrategy: {type: Best}}"),
          LINE_AT("30") "scoringStrategy.type: Unsupported value: \"Best\": supported values: "
                        "\"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\"" },
        { ARGS("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}"),
          LINE_AT("12") "scoringStrategy.requestedToCapacityRatio: Required value: must be "
                        "specified when type is RequestedToCapacityRatio" },
        { ARGS("NodeResourcesFit",
               "{scoringStrategy: {type: LeastAllocated, requestedToCapacityRatio: {}}}"),
          LINE_AT(
              "52") "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type "
                    "is not RequestedToCapacityRatio" },
        { ARGS("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio, "
                                   "requestedToCapacityRatio: {shape: [{utilization: 5, score: 1}, "
                                   "{utilization: 5, score: 2}]}}}"),
          LINE_AT("126") "scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid "
                         "value: 5: values must be sorted in increasing order" },
        { ARGS("NodeResourcesFit",
               "{scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 101}]}}"),
          LINE_AT("76") "scoringStrategy.resources[0].weight: Invalid value: 101: resource weight "
                        "of cpu not in valid range (0, 100]" },
        { ARGS("NodeResourcesFit", "{ignoredResourceGroups: [a/b]}"),
          LINE_AT("36") "ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name "
                        "can't contain '/'" },
        { ARGS("PodTopologySpread", "{defaultingType: Best}"),
          LINE_AT(
              "12") "defaultingType: Unsupported value: \"Best\": supported values: \"System\", "
                    "\"List\"" },
        { ARGS("PodTopologySpread", "{defaultConstraints: [{maxSkew: 1, topologyKey: k, "
                                    "whenUnsatisfiable: DoNotSchedule}]}"),
          "line 7, column 5: profiles[0].pluginConfig[0].args.defaultingType: Invalid value: "
          "\"System\": when .defaultConstraints are not empty" },
        { ARGS("PodTopologySpread", "{defaultingType: List, defaultConstraints: [{topologyKey: k, "
                                    "whenUnsatisfiable: DoNotSchedule}]}"),
          LINE_AT("55") "defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range "
                        "(0, inf)" },
        { ARGS("PodTopologySpread",
               "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: k, "
               "whenUnsatisfiable: Never}]}"),
          LINE_AT("84") "defaultConstraints[0].whenUnsatisfiable: Unsupported value: \"Never\": "
                        "supported values: \"DoNotSchedule\", \"ScheduleAnyway\"" },
        { ARGS("PodTopologySpread",
               "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: k, "
               "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}"),
          LINE_AT(
              "118") "defaultConstraints[0].labelSelector: Forbidden: constraint must not define "
                     "a selector, as they deduced for each pod" },
        { ARGS("PodTopologySpread",
               "{defaultingType: List, defaultConstraints: [&c {maxSkew: 1, topologyKey: k, "
               "whenUnsatisfiable: DoNotSchedule}, *c]}"),
          LINE_AT("122") "defaultConstraints[1]: Duplicate value: \"{k, DoNotSchedule}\"" },
        { ARGS("NodeAffinity", "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                               "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}"
                               "}}"),
          LINE_AT(
              "117") "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                     "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for "
                     "'in', 'notin' operators, values set can't be empty" },
    };
    must_fail(cases, ARRAY_LEN(cases));
}

TEST(limits_refuse)
{
    struct buf b = BUF_INIT(8 << 20);
    struct world w;
    (void)buf_add_cstr(&b, ONE "  plugins: {filter: {enabled: [");
    for (int i = 0; i <= SCHED_CONFIG_MAX_PLUGINS; i++)
        (void)buf_printf(&b, "{name: p%d},", i);
    (void)buf_add_cstr(&b, "]}}\n");
    CHECK_ERR(read_text(&w, buf_cstr(&b)), E_LIMIT);
    CHECK_STR(str_of(w.err.text), "profiles[0].plugins.filter.enabled: more than 256 plugins");
    end(&w);
    buf_reset(&b);
    (void)buf_add_cstr(&b, HEAD "extenders: [");
    for (int i = 0; i <= SCHED_CONFIG_MAX_EXTENDERS; i++)
        (void)buf_add_cstr(&b, "{urlPrefix: x},");
    (void)buf_add_cstr(&b, "]\n");
    CHECK_ERR(read_text(&w, buf_cstr(&b)), E_LIMIT);
    CHECK_STR(str_of(w.err.text), "line 3, column 1: extenders: more than 64");
    end(&w);
    buf_reset(&b);
    (void)buf_add_cstr(&b, HEAD "profiles: [");
    for (int i = 0; i <= SCHED_CONFIG_MAX_PROFILES; i++)
        (void)buf_printf(&b, "{schedulerName: p%d},", i);
    (void)buf_add_cstr(&b, "]\n");
    CHECK_ERR(read_text(&w, buf_cstr(&b)), E_LIMIT);
    end(&w);
    buf_reset(&b);
    (void)buf_add_cstr(&b,
                       ONE "  pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [");
    for (int i = 0; i <= SCHED_CONFIG_MAX_RESOURCES; i++)
        (void)buf_printf(&b, "r%d,", i);
    (void)buf_add_cstr(&b, "]}}]\n");
    CHECK_ERR(read_text(&w, buf_cstr(&b)), E_LIMIT);
    end(&w);
    buf_reset(&b);
    while (b.n <= SCHED_CONFIG_MAX_BYTES)
        (void)buf_add_cstr(&b, "# nothing, and much of it\n");
    CHECK_ERR(read_text(&w, buf_cstr(&b)), -EMSGSIZE);
    end(&w);
    buf_fini(&b);
}

TEST(durations_are_those_of_go)
{
    static const struct {
        const char *text;
        int64_t ns;
        const char *printed; /* NULL: not a duration */
    } cases[] = {
        { "0", 0, "0s" },
        { "1h", 3600000000000, "1h0m0s" },
        { "90s", 90000000000, "1m30s" },
        { "1.5s", 1500000000, "1.5s" },
        { "-1.5h", -5400000000000, "-1h30m0s" },
        { "300ms", 300000000, "300ms" },
        { "1500us", 1500000, "1.5ms" },
        { "1500ns", 1500, "1.5\xc2\xb5s" },
        { "7ns", 7, "7ns" },
        { "1h0m0.000000001s", 3600000000001, "1h0m0.000000001s" },
        { "", 0, NULL },
        { "15", 0, NULL },
        { "s", 0, NULL },
        { "3x", 0, NULL },
        { "10000000h", 0, NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t ns = -1;
        bool ok = duration_parse(str_of(cases[i].text), &ns);
        if (ok != !!cases[i].printed)
            TEST_FAIL("'%s' was%s read", cases[i].text, ok ? "" : " not");
        if (!ok)
            continue;
        CHECK_INT(ns, cases[i].ns);
        struct buf b = BUF_INIT(64);
        duration_print(&b, ns);
        CHECK_STR(buf_str(&b), cases[i].printed);
        buf_fini(&b);
    }
}

TEST_MAIN
