/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that look at one node at a time: verdicts, scores, hints, and what they are told. */
#include "sched_kit.h"
#include "test.h"

#define UNRESOLVABLE "UnschedulableAndUnresolvable: "
#define NOBODY       "'containers': []"

static void check_text(const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        TEST_FAIL("%s: \"%s\", expected \"%s\"", what, got, want);
}

/* One node "n", one pod, what the filter says of it after "n: ". */
static void check_one(struct kit *k, const char *spec, const char *want)
{
    const char *got = kit_filter(k, kit_pod(k, "{%s}", spec));
    check_text(spec, strncmp(got, "n: ", 3) == 0 ? got + 3 : got, want);
}

#define WITH_KIT(k)                                                                                \
    scoped(kit_fini) struct kit k;                                                                 \
    kit_init(&k)

static struct sched_event node_event(unsigned actions, const struct sched_object *before,
                                     const struct sched_object *after)
{
    return (struct sched_event){ SCHED_ON_NODE, actions, before, after };
}

/* ---- NodeName ---- */

TEST(a_pod_that_names_its_node_goes_nowhere_else)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeName", NULL);
    kit_node(&k, "n", "", NULL, NULL);
    check_one(&k, NOBODY, "ok");
    check_one(&k, "'nodeName': 'n'", "ok");
    check_one(&k, "'nodeName': 'm'", UNRESOLVABLE "node(s) didn't match the requested node name");
}

/* ---- NodeDeclaredFeatures ---- */

TEST(what_a_pod_needs_of_a_kubelet_its_node_has_to_declare)
{
    static const char *const refused = UNRESOLVABLE "node(s) didn't match Pod's required features";
    static const char *const restarts =
        "'initContainers': [{'name': 'i'}, {'name': 'j', 'restartPolicyRules': [{'action': "
        "'Restart'}, {'action': 'RestartAllContainers'}]}]";
    static const char *const users = "'hostNetwork': true, 'hostUsers': false";
    WITH_KIT(k);
    kit_plugin(&k, "NodeDeclaredFeatures", NULL);
    kit_put(&k, SCHED_NODE, "{'metadata': {'name': 'n'}, 'status': {}}");
    CHECK_STR(str_of(kit_pre_filter(&k, kit_pod(&k, "{}"))), "Skip");
    CHECK_STR(str_of(kit_pre_filter(&k, kit_pod(&k, "{'hostUsers': false}"))), "Skip");
    check_one(&k, restarts, refused);
    check_one(&k, users, refused);
    kit_put(&k, SCHED_NODE,
            "{'metadata': {'name': 'n'}, 'status': {'declaredFeatures': ['Other', "
            "'RestartAllContainersOnContainerExits']}}");
    check_one(&k, restarts, "ok");
    check_one(&k, users, refused);
    kit_put(&k, SCHED_NODE,
            "{'metadata': {'name': 'n'}, 'status': {'declaredFeatures': "
            "['UserNamespacesHostNetworkSupport']}}");
    check_one(&k, users, "ok");
}

TEST(a_node_that_declares_something_else_may_help)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeDeclaredFeatures", NULL);
    struct sched_object *none = kit_read(&k, SCHED_NODE, "{'metadata': {'name': 'n'}}");
    struct sched_object *some =
        kit_read(&k, SCHED_NODE,
                 "{'metadata': {'name': 'n'}, 'status': {'declaredFeatures': "
                 "['UserNamespacesHostNetworkSupport']}}");
    const struct sched_pod *pod = kit_pod(&k, "{}");
    CHECK_INT(sched_node_changes(none, some), SCHED_UPDATE_NODE_DECLARED_FEATURE);
    struct sched_event e = node_event(SCHED_ADD, NULL, none);
    check_text("added", kit_hint(&k, pod, &e), "queue");
    e = node_event(SCHED_UPDATE_NODE_DECLARED_FEATURE, none, some);
    check_text("declares", kit_hint(&k, pod, &e), "queue");
    e = node_event(SCHED_UPDATE_NODE_DECLARED_FEATURE, some, some);
    check_text("another feature", kit_hint(&k, pod, &e), "skip");
}

/* ---- NodeUnschedulable ---- */

TEST(a_cordoned_node_is_for_pods_that_tolerate_it)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeUnschedulable", NULL);
    kit_node(&k, "n", "", NULL, "'spec': {'unschedulable': true}");
    check_one(&k, NOBODY, UNRESOLVABLE "node(s) were unschedulable");
    check_one(
        &k, "'tolerations': [{'key': 'node.kubernetes.io/unschedulable', 'effect': 'NoSchedule'}]",
        "ok");
    check_one(&k, "'tolerations': [{'operator': 'Exists'}]", "ok");
    check_one(&k, "'tolerations': [{'key': 'other', 'operator': 'Exists'}]",
              UNRESOLVABLE "node(s) were unschedulable");
    kit_node(&k, "n", "", NULL, "'spec': {'unschedulable': false}");
    check_one(&k, NOBODY, "ok");
}

TEST(a_node_that_is_opened_may_help_and_so_may_a_toleration_of_the_pod_itself)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeUnschedulable", NULL);
    struct sched_object *open = kit_read(&k, SCHED_NODE, "{'metadata': {'name': 'n'}}");
    struct sched_object *closed =
        kit_read(&k, SCHED_NODE, "{'metadata': {'name': 'n'}, 'spec': {'unschedulable': true}}");
    const struct sched_pod *pod = kit_pod(&k, "{}");
    struct sched_event e = node_event(SCHED_ADD, NULL, open);
    check_text("added, open", kit_hint(&k, pod, &e), "queue");
    e = node_event(SCHED_ADD, NULL, closed);
    check_text("added, closed", kit_hint(&k, pod, &e), "skip");
    e = node_event(SCHED_UPDATE_NODE_TAINT, closed, open);
    check_text("opened", kit_hint(&k, pod, &e), "queue");
    e = node_event(SCHED_UPDATE_NODE_TAINT, open, closed);
    check_text("closed", kit_hint(&k, pod, &e), "skip");
    e = node_event(SCHED_UPDATE_NODE_TAINT, open, open);
    check_text("as before", kit_hint(&k, pod, &e), "skip");
    e = node_event(SCHED_UPDATE_NODE_LABEL, closed, open);
    check_text("labels", kit_hint(&k, pod, &e), "none");

    const struct sched_pod *tolerant = kit_pod(
        &k, "{'metadata': {'uid': '1'}, 'spec': {'tolerations': [{'operator': 'Exists'}]}}");
    const struct sched_pod *mine = kit_pod(&k, "{'metadata': {'uid': '1'}, 'spec': {}}");
    e = (struct sched_event){ SCHED_ON_UNSCHEDULED_POD, SCHED_UPDATE_POD_TOLERATION, &mine->o,
                              &tolerant->o };
    check_text("tolerates", kit_hint(&k, mine, &e), "queue");
    e.after = &mine->o;
    check_text("tolerates something else", kit_hint(&k, mine, &e), "skip");
    e.after = &tolerant->o;
    check_text("another pod", kit_hint(&k, pod, &e), "skip");
}

/* ---- TaintToleration ---- */

#define TAINT(key, value, effect) "{'key': '" key "', 'value': '" value "', 'effect': '" effect "'}"
#define TAINTS(list)              "'spec': {'taints': [" list "]}"

TEST(taints_keep_pods_away_that_do_not_tolerate_them)
{
    static const char refused[] = UNRESOLVABLE "node(s) had untolerated taint(s)";
    static const struct {
        const char *taints, *tolerations, *want;
    } t[] = {
        { "", "", "ok" },
        { TAINT("dedicated", "user1", "NoSchedule"), "", refused },
        { TAINT("dedicated", "user1", "NoExecute"), "", refused },
        { TAINT("dedicated", "user1", "PreferNoSchedule"), "", "ok" },
        { TAINT("dedicated", "user1", "NoSchedule"), TAINT("dedicated", "user1", "NoSchedule"),
          "ok" },
        { TAINT("dedicated", "user1", "NoSchedule"), TAINT("dedicated", "user2", "NoSchedule"),
          refused },
        { TAINT("dedicated", "user1", "NoSchedule"), TAINT("dedicated", "user1", "NoExecute"),
          refused },
        { TAINT("dedicated", "user1", "NoSchedule"),
          "{'key': 'dedicated', 'operator': 'Exists', 'effect': 'NoSchedule'}", "ok" },
        { TAINT("dedicated", "user1", "NoSchedule"), "{'key': 'dedicated', 'value': 'user1'}",
          "ok" },
        { TAINT("dedicated", "user1", "NoExecute"), "{'operator': 'Exists'}", "ok" },
        { TAINT("dedicated", "user1", "NoSchedule") "," TAINT("foo", "bar", "NoSchedule"),
          TAINT("dedicated", "user1", "NoSchedule"), refused },
        { TAINT("dedicated", "user1", "NoSchedule") "," TAINT("foo", "bar", "NoSchedule"),
          "{'key': 'dedicated', 'value': 'user1'}, {'key': 'foo', 'operator': 'Exists'}", "ok" },
        { TAINT("foo", "bar", "PreferNoSchedule") "," TAINT("foo", "bar", "NoSchedule"),
          TAINT("foo", "bar", "PreferNoSchedule"), refused },
        { "{'key': 'bare', 'effect': 'NoSchedule'}", "{'key': 'bare'}", "ok" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        WITH_KIT(k);
        kit_plugin(&k, "TaintToleration", NULL);
        kit_put(&k, SCHED_NODE, "{'metadata': {'name': 'n'}, 'spec': {'taints': [%s]}}",
                t[i].taints);
        const char *got = kit_filter(&k, kit_pod(&k, "{'tolerations': [%s]}", t[i].tolerations));
        check_text(t[i].taints, got + 3, t[i].want);
    }
}

TEST(each_taint_that_is_not_tolerated_makes_a_node_less_welcome)
{
    WITH_KIT(k);
    kit_plugin(&k, "TaintToleration", NULL);
    check_text("none", kit_score(&k, kit_pod(&k, "{}")), "");
    kit_node(&k, "a", "", NULL, NULL);
    kit_node(&k, "b", "", NULL, TAINTS(TAINT("cpu", "x", "PreferNoSchedule")));
    kit_node(
        &k, "c", "", NULL,
        TAINTS(TAINT("cpu", "x", "PreferNoSchedule") "," TAINT("disk", "ssd", "PreferNoSchedule")));
    kit_node(&k, "d", "", NULL, TAINTS(TAINT("cpu", "x", "NoSchedule")));
    const struct sched_pod *none = kit_pod(&k, "{}");
    check_text("raw", kit_raw_score(&k, none), "a=0 b=1 c=2 d=0");
    check_text("score", kit_score(&k, none), "a=100 b=50 c=0 d=100");
    const struct sched_pod *cpu = kit_pod(
        &k, "{'tolerations': [{'key': 'cpu', 'value': 'x', 'effect': 'PreferNoSchedule'}]}");
    check_text("tolerates one", kit_score(&k, cpu), "a=100 b=100 c=0 d=100");
    /* A toleration of another effect does not count. */
    const struct sched_pod *other =
        kit_pod(&k, "{'tolerations': [{'key': 'cpu', 'value': 'x', 'effect': 'NoSchedule'}]}");
    check_text("tolerates another effect", kit_score(&k, other), "a=100 b=50 c=0 d=100");
    check_text("tolerates everything",
               kit_score(&k, kit_pod(&k, "{'tolerations': [{'operator': 'Exists'}]}")),
               "a=100 b=100 c=100 d=100");
}

TEST(a_node_without_the_taint_may_help)
{
    WITH_KIT(k);
    kit_plugin(&k, "TaintToleration", NULL);
    struct sched_object *free = kit_read(&k, SCHED_NODE, "{'metadata': {'name': 'n'}}");
    struct sched_object *tainted = kit_read(&k, SCHED_NODE, "{'metadata': {'name': 'n'}, %s}",
                                            TAINTS(TAINT("a", "b", "NoSchedule")));
    const struct sched_pod *pod = kit_pod(&k, "{}");
    struct sched_event e = node_event(SCHED_ADD, NULL, free);
    check_text("added", kit_hint(&k, pod, &e), "queue");
    e = node_event(SCHED_ADD, NULL, tainted);
    check_text("added, tainted", kit_hint(&k, pod, &e), "skip");
    e = node_event(SCHED_UPDATE_NODE_TAINT, tainted, free);
    check_text("freed", kit_hint(&k, pod, &e), "queue");
    e = node_event(SCHED_UPDATE_NODE_TAINT, free, free);
    check_text("was free before", kit_hint(&k, pod, &e), "skip");
}

/* ---- NodeAffinity ---- */

#define REQUIRED(terms)                                                                            \
    "'affinity': {'nodeAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "             \
    "{'nodeSelectorTerms': [" terms "]}}}"
#define EXPRESSION(key, op, values)                                                                \
    "{'key': '" key "', 'operator': '" op "', 'values': [" values "]}"
#define LABELS(list) "{'matchExpressions': [" list "]}"
#define FIELDS(op, values)                                                                         \
    "{'matchFields': [{'key': 'metadata.name', 'operator': '" op "', 'values': [" values "]}]}"
static const char no_match[] = UNRESOLVABLE "node(s) didn't match Pod's node affinity/selector";

TEST(selectors_and_required_terms_choose_nodes)
{
    static const struct {
        const char *spec;
        bool matches;
    } t[] = {
        { "'nodeSelector': {'foo': 'bar'}", true },
        { "'nodeSelector': {'foo': 'baz'}", false },
        { "'nodeSelector': {'foo': 'bar', 'missing': ''}", false },
        { "'nodeSelector': {'foo': 'bar', 'n': '7'}", true },
        { REQUIRED(LABELS(EXPRESSION("foo", "In", "'bar', 'value2'"))), true },
        { REQUIRED(LABELS(EXPRESSION("foo", "In", "'value1', 'value2'"))), false },
        { REQUIRED(LABELS(EXPRESSION("foo", "NotIn", "'value1'"))), true },
        { REQUIRED(LABELS(EXPRESSION("foo", "NotIn", "'bar'"))), false },
        { REQUIRED(LABELS(EXPRESSION("missing", "NotIn", "'bar'"))), true },
        { REQUIRED(LABELS(EXPRESSION("n", "Gt", "'6'"))), true },
        { REQUIRED(LABELS(EXPRESSION("n", "Gt", "'7'"))), false },
        { REQUIRED(LABELS(EXPRESSION("n", "Lt", "'8'"))), true },
        { REQUIRED(LABELS(EXPRESSION("foo", "Lt", "'8'"))), false },
        { REQUIRED(LABELS(EXPRESSION("foo", "Exists", ""))), true },
        { REQUIRED(LABELS(EXPRESSION("foo", "DoesNotExist", ""))), false },
        { REQUIRED(LABELS(EXPRESSION("gone", "DoesNotExist", ""))), true },
        { REQUIRED(""), false },                      /* no term */
        { REQUIRED("{}"), false },                    /* an empty one */
        { REQUIRED(LABELS("")), false },              /* without expressions */
        { "'affinity': {'nodeAffinity': {}}", true }, /* nothing required */
        { "'affinity': {}", true },                   /* nothing at all */
        /* all expressions of a term, any term */
        { REQUIRED(LABELS(EXPRESSION("foo", "Exists", "") "," EXPRESSION("n", "Gt", "'9'"))),
          false },
        { REQUIRED(
              LABELS(EXPRESSION("foo", "In", "'no'")) "," LABELS(EXPRESSION("foo", "In", "'bar'"))),
          true },
        /* an operator that there is not spoils its term alone */
        { REQUIRED(LABELS(EXPRESSION("foo", "Like", "'b'"))), false },
        { REQUIRED(
              LABELS(EXPRESSION("foo", "Like", "'b'")) "," LABELS(EXPRESSION("foo", "Exists", ""))),
          true },
        /* selector and affinity: both */
        { "'nodeSelector': {'foo': 'bar'}, " REQUIRED(LABELS(EXPRESSION("foo", "Exists", ""))),
          true },
        { "'nodeSelector': {'foo': 'no'}, " REQUIRED(LABELS(EXPRESSION("foo", "Exists", ""))),
          false },
        { "'nodeSelector': {'foo': 'bar'}, " REQUIRED(LABELS(EXPRESSION("gone", "Exists", ""))),
          false },
        /* fields */
        { REQUIRED(FIELDS("In", "'n'")), true },
        { REQUIRED(FIELDS("NotIn", "'n'")), false },
        { REQUIRED(FIELDS("NotIn", "'m'")), true },
        { REQUIRED(FIELDS("In", "'n'") "," LABELS(EXPRESSION("gone", "Exists", ""))), true },
        { REQUIRED("{'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': "
                   "['n']}], 'matchExpressions': [" EXPRESSION("gone", "Exists", "") "]}"),
          false },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        WITH_KIT(k);
        kit_plugin(&k, "NodeAffinity", NULL);
        kit_node(&k, "n", "", "'foo': 'bar', 'n': '7'", NULL);
        check_one(&k, t[i].spec, t[i].matches ? "ok" : no_match);
    }
}

TEST(terms_that_all_name_nodes_leave_those_alone)
{
    static const struct {
        const char *spec, *want;
    } t[] = {
        { NOBODY, "Skip" },
        { "'nodeSelector': {'a': 'b'}", "Success" },
        { REQUIRED(LABELS(EXPRESSION("foo", "Exists", ""))), "Success" },
        { REQUIRED(FIELDS("In", "'n1'")), "Success [n1]" },
        { REQUIRED(FIELDS("In", "'n1'") "," FIELDS("In", "'n2'")), "Success [n1 n2]" },
        { REQUIRED(FIELDS("In", "'n1'") "," FIELDS("In", "'n1'")), "Success [n1]" },
        { REQUIRED(FIELDS("NotIn", "'n1'")), "Success" },
        { REQUIRED(FIELDS("In", "'n1'") "," LABELS(EXPRESSION("foo", "Exists", ""))), "Success" },
        { REQUIRED("{'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': ['n1']}, "
                   "{'key': 'metadata.name', 'operator': 'In', 'values': ['n2']}]}"),
          UNRESOLVABLE "pod affinity terms conflict" },
        { REQUIRED("{'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': ['n1']}, "
                   "{'key': 'metadata.name', 'operator': 'In', 'values': ['n2']}]}," FIELDS(
                       "In", "'n3'")),
          "Success [n3]" },
        { REQUIRED(""), "Success" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        WITH_KIT(k);
        kit_plugin(&k, "NodeAffinity", NULL);
        check_text(t[i].spec, kit_pre_filter(&k, kit_pod(&k, "{%s}", t[i].spec)), t[i].want);
    }
}

#define PREFERRED(list)                                                                            \
    "'affinity': {'nodeAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': [" list "]}" \
    "}"
#define PREFER(weight, term) "{'weight': " weight ", 'preference': " term "}"

TEST(weights_of_preferred_terms_are_added_up)
{
    WITH_KIT(k);
    kit_node(&k, "a", "", "'foo': 'bar'", NULL);
    kit_node(&k, "b", "", "'foo': 'bar', 'key': 'value', 'az': 'az1'", NULL);
    kit_node(&k, "c", "", "'key': 'value'", NULL);
    static const struct {
        const char *args, *spec, *want;
    } t[] = {
        { NULL, NOBODY, "Skip" },
        { NULL, PREFERRED(""), "Skip" },
        { NULL, PREFERRED(PREFER("2", LABELS(EXPRESSION("foo", "In", "'bar'")))),
          "a=100 b=100 c=0" },
        { NULL,
          PREFERRED(PREFER("2", LABELS(EXPRESSION("foo", "In", "'bar'"))) "," PREFER(
              "4",
              LABELS(EXPRESSION(
                  "key", "In",
                  "'value'"))) "," PREFER("5",
                                          LABELS(EXPRESSION("foo", "In", "'bar'") "," EXPRESSION(
                                              "key", "In", "'value'") "," EXPRESSION("az", "In",
                                                                                     "'az1'")))),
          "a=18 b=100 c=36" },
        { NULL, PREFERRED(PREFER("2", LABELS(EXPRESSION("gone", "Exists", "")))), "a=0 b=0 c=0" },
        { NULL, PREFERRED(PREFER("2", "{}")), "a=0 b=0 c=0" },
        { NULL, PREFERRED(PREFER("3", FIELDS("In", "'c'"))), "a=0 b=0 c=100" },
        { "{'addedAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': [" PREFER(
              "3", LABELS(EXPRESSION("az", "Exists", ""))) "]}}",
          NOBODY, "a=0 b=100 c=0" },
        { "{'addedAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': [" PREFER(
              "2", LABELS(EXPRESSION("az", "Exists", ""))) "]}}",
          PREFERRED(PREFER("4", LABELS(EXPRESSION("key", "Exists", "")))), "a=0 b=100 c=66" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        kit_plugin(&k, "NodeAffinity", t[i].args);
        check_text(t[i].spec, kit_score(&k, kit_pod(&k, "{%s}", t[i].spec)), t[i].want);
    }
}

#define ADDED                                                                                      \
    "{'addedAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': {'nodeSelectorTerms': "  \
    "[" LABELS(EXPRESSION("zone", "In", "'foo'")) "]}}}"

TEST(what_the_configuration_adds_comes_first)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeAffinity", ADDED);
    kit_node(&k, "a", "", "'zone': 'bar'", NULL);
    kit_node(&k, "b", "", "'zone': 'foo'", NULL);
    check_text("added", kit_filter(&k, kit_pod(&k, "{}")),
               "a: " UNRESOLVABLE "node(s) didn't match scheduler-enforced node affinity; b: ok");
    check_text("both", kit_filter(&k, kit_pod(&k, "{'nodeSelector': {'zone': 'bar'}}")),
               "a: " UNRESOLVABLE "node(s) didn't match scheduler-enforced node affinity; "
               "b: " UNRESOLVABLE "node(s) didn't match Pod's node affinity/selector");
}

TEST(a_node_that_begins_to_match_may_help)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeAffinity", ADDED);
    struct sched_object *foo = kit_read(
        &k, SCHED_NODE, "{'metadata': {'name': 'n', 'labels': {'zone': 'foo', 'a': 'b'}}}");
    struct sched_object *bare =
        kit_read(&k, SCHED_NODE, "{'metadata': {'name': 'n', 'labels': {'zone': 'foo'}}}");
    struct sched_object *bar = kit_read(
        &k, SCHED_NODE, "{'metadata': {'name': 'n', 'labels': {'zone': 'bar', 'a': 'b'}}}");
    const struct sched_pod *pod = kit_pod(&k, "{'nodeSelector': {'a': 'b'}}");
    struct sched_event e = node_event(SCHED_ADD, NULL, foo);
    check_text("added", kit_hint(&k, pod, &e), "queue");
    e = node_event(SCHED_ADD, NULL, bare);
    check_text("added, not selected", kit_hint(&k, pod, &e), "skip");
    e = node_event(SCHED_ADD, NULL, bar);
    check_text("added, not enforced", kit_hint(&k, pod, &e), "skip");
    e = node_event(SCHED_UPDATE_NODE_LABEL, bare, foo);
    check_text("labelled", kit_hint(&k, pod, &e), "queue");
    e = node_event(SCHED_UPDATE_NODE_LABEL, foo, foo);
    check_text("matched before", kit_hint(&k, pod, &e), "skip");
    e = node_event(SCHED_UPDATE_NODE_ALLOCATABLE, bare, foo);
    check_text("resources", kit_hint(&k, pod, &e), "none");
}

/* ---- NodePorts ---- */

#define PORT(ip, protocol, port)                                                                   \
    "{'containerPort': 1, 'hostPort': " port ", 'protocol': '" protocol "', 'hostIP': '" ip "'}"
#define WANTS(ports) "'containers': [{'name': 'c', 'image': 'i', 'ports': [" ports "]}]"

static void put_pod(struct kit *k, const char *name, const char *node, const char *spec)
{
    kit_put(k, SCHED_POD,
            "{'metadata': {'name': '%s', 'namespace': 'default', 'uid': '%s'}, "
            "'spec': {'nodeName': '%s', %s}}",
            name, name, node, spec);
}

TEST(a_host_port_is_taken_by_protocol_and_address)
{
    static const struct {
        const char *taken, *wanted;
        bool conflict;
    } t[] = {
        { PORT("", "UDP", "8080"), PORT("", "UDP", "8080"), true },
        { PORT("", "UDP", "8080"), PORT("", "UDP", "9090"), false },
        { PORT("", "UDP", "8080"), PORT("", "TCP", "8080"), false },
        { PORT("127.0.0.1", "UDP", "8080"), PORT("127.0.0.1", "UDP", "8080"), true },
        { PORT("127.0.0.1", "UDP", "8080"), PORT("127.0.0.2", "UDP", "8080"), false },
        { PORT("127.0.0.1", "UDP", "8080"), PORT("", "UDP", "8080"), true },
        { PORT("0.0.0.0", "TCP", "8080"), PORT("127.0.0.1", "TCP", "8080"), true },
        { PORT("127.0.0.1", "TCP", "8080"), PORT("0.0.0.0", "TCP", "8080"), true },
        { PORT("0.0.0.0", "TCP", "8080"), PORT("0.0.0.0", "UDP", "8080"), false },
        { PORT("0.0.0.0", "TCP", "8001") "," PORT("0.0.0.0", "UDP", "8080"),
          PORT("127.0.0.1", "TCP", "8001"), true },
        { PORT("0.0.0.0", "TCP", "8001"), PORT("", "TCP", "8080") "," PORT("", "TCP", "8001"),
          true },
        { "{'containerPort': 8080}", PORT("", "TCP", "8080"), false },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        WITH_KIT(k);
        kit_plugin(&k, "NodePorts", NULL);
        kit_node(&k, "n", "", NULL, NULL);
        kit_put(&k, SCHED_POD,
                "{'metadata': {'name': 'q', 'namespace': 'default', 'uid': 'q'}, 'spec': "
                "{'nodeName': 'n', 'containers': [{'name': 'c', 'image': 'i', 'ports': [%s]}]}}",
                t[i].taken);
        const struct sched_pod *pod = kit_pod(
            &k, "{'containers': [{'name': 'c', 'image': 'i', 'ports': [%s]}]}", t[i].wanted);
        check_text(t[i].wanted, kit_filter(&k, pod),
                   t[i].conflict ? "n: Unschedulable: node(s) didn't have free ports for the "
                                   "requested pod ports"
                                 : "n: ok");
    }
}

TEST(a_pod_without_host_ports_skips_the_filter)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodePorts", NULL);
    check_text("none", kit_pre_filter(&k, kit_pod(&k, "{}")), "Skip");
    check_text("container port alone",
               kit_pre_filter(&k, kit_pod(&k, "{" WANTS("{'containerPort': 80}") "}")), "Skip");
    check_text("host port", kit_pre_filter(&k, kit_pod(&k, "{" WANTS(PORT("", "TCP", "1")) "}")),
               "Success");
}

TEST(a_deleted_pod_helps_if_it_had_one_of_the_ports)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodePorts", NULL);
    const struct sched_pod *pod = kit_pod(&k, "{" WANTS(PORT("", "TCP", "8080")) "}");
    static const struct {
        const char *spec, *want;
    } t[] = {
        { "'nodeName': 'n', " WANTS(PORT("", "TCP", "8080")), "queue" },
        { "'nodeName': 'n', " WANTS(PORT("127.0.0.1", "TCP", "8080")), "queue" },
        { "'nodeName': 'n', " WANTS(PORT("", "UDP", "8080")), "skip" },
        { "'nodeName': 'n', " WANTS(PORT("", "TCP", "8081")), "skip" },
        { "'nodeName': 'n', " NOBODY, "skip" },
        { WANTS(PORT("", "TCP", "8080")), "skip" }, /* it was nowhere */
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        const struct sched_pod *gone = kit_pod(&k, "{%s}", t[i].spec);
        struct sched_event e = { SCHED_ON_ASSIGNED_POD, SCHED_DELETE, &gone->o, NULL };
        check_text(t[i].spec, kit_hint(&k, pod, &e), t[i].want);
    }
    const struct sched_pod *nominated =
        kit_pod(&k, "{'metadata': {'name': 'q'}, 'status': {'nominatedNodeName': 'n'}, 'spec': "
                    "{" WANTS(PORT("", "TCP", "8080")) "}}");
    struct sched_event e = { SCHED_ON_UNSCHEDULED_POD, SCHED_DELETE, &nominated->o, NULL };
    check_text("nominated", kit_hint(&k, pod, &e), "queue");
}

/* ---- NodeResourcesFit ---- */

#define ASKS(requests)                                                                             \
    "'containers': [{'name': 'c', 'image': 'i', 'resources': {'requests': {" requests "}}}]"
#define INIT(requests)                                                                             \
    "'initContainers': [{'name': 'c', 'image': 'i', 'resources': {'requests': {" requests "}}}]"
#define SIDECAR(requests)                                                                          \
    "'initContainers': [{'name': 'c', 'image': 'i', 'restartPolicy': 'Always', "                   \
    "'resources': {'requests': {" requests "}}}]"
#define AMPLE                                                                                      \
    "'cpu': '10m', 'memory': '20', 'ephemeral-storage': '20', 'example.com/aaa': '5', "            \
    "'hugepages-2Mi': '5'"

TEST(a_pod_fits_where_its_requests_are_left)
{
    static const struct {
        const char *used, *wanted, *want;
    } t[] = {
        { ASKS("'cpu': '10m', 'memory': '20'"), NOBODY, "ok" },
        { ASKS("'cpu': '10m', 'memory': '20'"), ASKS("'cpu': '1m', 'memory': '1'"),
          "Unschedulable: Insufficient cpu, Insufficient memory" },
        { ASKS("'cpu': '10m'"), ASKS("'cpu': '1m'"), "Unschedulable: Insufficient cpu" },
        { ASKS("'memory': '20'"), ASKS("'memory': '1'"), "Unschedulable: Insufficient memory" },
        { ASKS("'cpu': '5m', 'memory': '5'"), ASKS("'cpu': '5m', 'memory': '15'"), "ok" },
        { ASKS("'cpu': '9m', 'memory': '19'"),
          ASKS("'cpu': '1m', 'memory': '1'") "," INIT("'cpu': '3m', 'memory': '1'"),
          "Unschedulable: Insufficient cpu" },
        { ASKS("'cpu': '9m', 'memory': '19'"),
          ASKS("'cpu': '1m', 'memory': '1'") "," INIT("'cpu': '1m', 'memory': '1'"), "ok" },
        { ASKS("'cpu': '8m', 'memory': '19'"),
          ASKS("'cpu': '1m', 'memory': '1'") "," SIDECAR("'cpu': '2m'"),
          "Unschedulable: Insufficient cpu" },
        { ASKS("'cpu': '8m'"), ASKS("'cpu': '1m'") ", 'overhead': {'cpu': '2m'}",
          "Unschedulable: Insufficient cpu" },
        { ASKS("'cpu': '8m'"), ASKS("'cpu': '1m'") ", 'overhead': {'cpu': '1m'}", "ok" },
        /* larger than the whole node */
        { NOBODY, ASKS("'cpu': '11m'"), UNRESOLVABLE "Insufficient cpu" },
        { ASKS("'cpu': '5m'"), ASKS("'cpu': '6m', 'memory': '21'"),
          UNRESOLVABLE "Insufficient cpu, Insufficient memory" },
        /* ephemeral storage */
        { ASKS("'ephemeral-storage': '19'"), ASKS("'ephemeral-storage': '2'"),
          "Unschedulable: Insufficient ephemeral-storage" },
        { ASKS("'ephemeral-storage': '10'"), ASKS("'ephemeral-storage': '10'"), "ok" },
        { NOBODY, ASKS("'ephemeral-storage': '25'"),
          UNRESOLVABLE "Insufficient ephemeral-storage" },
        /* extended resources */
        { NOBODY, ASKS("'example.com/aaa': '5'"), "ok" },
        { NOBODY, ASKS("'example.com/aaa': '10'"), UNRESOLVABLE "Insufficient example.com/aaa" },
        { ASKS("'example.com/aaa': '3'"), ASKS("'example.com/aaa': '3'"),
          "Unschedulable: Insufficient example.com/aaa" },
        { ASKS("'example.com/aaa': '3'"), INIT("'example.com/aaa': '3'"),
          "Unschedulable: Insufficient example.com/aaa" },
        { ASKS("'example.com/aaa': '5'"), ASKS("'example.com/aaa': '0'"), "ok" },
        { NOBODY, ASKS("'example.com/bbb': '1'"), UNRESOLVABLE "Insufficient example.com/bbb" },
        { NOBODY, ASKS("'kubernetes.io/something': '1'"),
          UNRESOLVABLE "Insufficient kubernetes.io/something" },
        { ASKS("'hugepages-2Mi': '3'"), ASKS("'hugepages-2Mi': '3'"),
          "Unschedulable: Insufficient hugepages-2Mi" },
        { ASKS("'cpu': '5m'"), ASKS("'example.com/bbb': '1', 'cpu': '6m', 'example.com/aaa': '6'"),
          UNRESOLVABLE
          "Insufficient cpu, Insufficient example.com/aaa, Insufficient example.com/bbb" },
        /* resources of the pod as a whole */
        { ASKS("'cpu': '5m'"), ASKS("'cpu': '1m'") ", 'resources': {'requests': {'cpu': '6m'}}",
          "Unschedulable: Insufficient cpu" },
        { ASKS("'cpu': '5m'"), ASKS("'cpu': '1m'") ", 'resources': {'requests': {'cpu': '5m'}}",
          "ok" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        WITH_KIT(k);
        kit_plugin(&k, "NodeResourcesFit", NULL);
        kit_node(&k, "n", AMPLE, NULL, NULL);
        put_pod(&k, "q", "n", t[i].used);
        check_one(&k, t[i].wanted, t[i].want);
    }
}

TEST(a_node_takes_so_many_pods_and_no_more)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeResourcesFit", NULL);
    kit_put(&k, SCHED_NODE,
            "{'metadata': {'name': 'n'}, 'status': {'allocatable': {'pods': '1', 'cpu': '5m'}}}");
    check_one(&k, NOBODY, "ok");
    put_pod(&k, "q", "n", ASKS("'cpu': '3m'"));
    check_one(&k, NOBODY, "Unschedulable: Too many pods");
    check_one(&k, ASKS("'cpu': '3m'"), "Unschedulable: Too many pods, Insufficient cpu");
    check_one(&k, ASKS("'cpu': '6m'"), UNRESOLVABLE "Too many pods, Insufficient cpu");
    kit_put(&k, SCHED_NODE, "{'metadata': {'name': 'n'}}"); /* it tells nothing */
    check_one(&k, NOBODY, "Unschedulable: Too many pods");
}

TEST(refusals_are_the_same_object_again_and_again)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeResourcesFit", NULL);
    for (int i = 0; i < 4; i++)
        kit_node(&k, (const char *[]){ "a", "b", "c", "d" }[i], "'cpu': '1'", NULL, NULL);
    const struct sched_pod *pod = kit_pod(&k, "{" ASKS("'cpu': '2', 'x.y/z': '1'") "}");
    (void)kit_filter(&k, pod);
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(k.cache, &n);
    const struct sched_status *first = k.plugin->ops->filter(k.plugin, k.cycle, nodes[0]);
    size_t bytes = k.arena.total_bytes;
    for (size_t i = 1; i < n; i++)
        CHECK(k.plugin->ops->filter(k.plugin, k.cycle, nodes[i]) == first);
    CHECK_INT(k.arena.total_bytes, bytes);
}

TEST(resources_that_others_manage_are_ignored)
{
    static const struct {
        const char *args, *want;
    } t[] = {
        { "{}", UNRESOLVABLE "Insufficient example.com/bbb" },
        { "{'ignoredResources': ['example.com/bbb']}", "ok" },
        { "{'ignoredResources': ['example.com/aaa']}",
          UNRESOLVABLE "Insufficient example.com/bbb" },
        { "{'ignoredResourceGroups': ['example.com']}", "ok" },
        { "{'ignoredResourceGroups': ['example']}", UNRESOLVABLE "Insufficient example.com/bbb" },
    };
    WITH_KIT(k);
    kit_node(&k, "n", AMPLE, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        kit_plugin(&k, "NodeResourcesFit", t[i].args);
        check_one(&k, ASKS("'example.com/bbb': '1'"), t[i].want);
    }
    /* What is Kubernetes' own is never ignored. */
    kit_plugin(&k, "NodeResourcesFit",
               "{'ignoredResources': ['hugepages-1Gi'], 'ignoredResourceGroups': "
               "['kubernetes.io']}");
    check_one(&k, ASKS("'hugepages-1Gi': '1'"), UNRESOLVABLE "Insufficient hugepages-1Gi");
    check_one(&k, ASKS("'kubernetes.io/x': '1'"), UNRESOLVABLE "Insufficient kubernetes.io/x");
}

#define STRATEGY(type, more) "{'scoringStrategy': {'type': '" type "'" more "}}"
#define SHAPE(points)        ", 'requestedToCapacityRatio': {'shape': [" points "]}"
#define RESOURCES(list)      ", 'resources': [" list "]"

TEST(nodes_are_scored_by_what_is_in_use)
{
    WITH_KIT(k);
    kit_node(&k, "a", "'cpu': '4', 'memory': '10000'", NULL, NULL);
    kit_node(&k, "b", "'cpu': '6', 'memory': '10000'", NULL, NULL);
    kit_node(&k, "c", "'cpu': '4', 'memory': '10000', 'nvidia.com/gpu': '8'", NULL, NULL);
    put_pod(&k, "q", "c", ASKS("'cpu': '2', 'memory': '5000', 'nvidia.com/gpu': '2'"));
    const char *wanted = "{" ASKS("'cpu': '3', 'memory': '5000'") "}";
    static const struct {
        const char *args, *want;
    } t[] = {
        { NULL, "a=37 b=50 c=0" },
        { STRATEGY("LeastAllocated", ""), "a=37 b=50 c=0" },
        { STRATEGY("LeastAllocated",
                   RESOURCES("{'name': 'cpu', 'weight': 3}, {'name': 'memory', 'weight': 1}")),
          "a=31 b=50 c=0" },
        { STRATEGY("LeastAllocated", RESOURCES("{'name': 'cpu'}")), "a=25 b=50 c=0" },
        { STRATEGY("MostAllocated", ""), "a=62 b=50 c=100" },
        { STRATEGY("MostAllocated",
                   RESOURCES("{'name': 'cpu', 'weight': 1}, {'name': 'memory', 'weight': 2}")),
          "a=58 b=50 c=100" },
        { STRATEGY("RequestedToCapacityRatio",
                   SHAPE("{'utilization': 0, 'score': 10}, {'utilization': 100, 'score': 0}")),
          "a=38 b=50 c=0" },
        { STRATEGY("RequestedToCapacityRatio",
                   SHAPE("{'utilization': 0, 'score': 0}, {'utilization': 100, 'score': 10}")),
          "a=63 b=50 c=100" },
        { STRATEGY("RequestedToCapacityRatio", SHAPE("{'utilization': 50, 'score': 7}")),
          "a=70 b=70 c=70" },
        /* the pod asks for no GPU: it does not count */
        { STRATEGY("LeastAllocated", RESOURCES("{'name': 'nvidia.com/gpu', 'weight': 5}")),
          "a=0 b=0 c=0" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        kit_plugin(&k, "NodeResourcesFit", t[i].args);
        check_text(t[i].args ? t[i].args : "default", kit_score(&k, kit_pod(&k, "%s", wanted)),
                   t[i].want);
    }
    kit_plugin(&k, "NodeResourcesFit",
               STRATEGY("MostAllocated", RESOURCES("{'name': 'nvidia.com/gpu', 'weight': 5}")));
    check_text("gpu", kit_score(&k, kit_pod(&k, "{" ASKS("'nvidia.com/gpu': '2'") "}")),
               "a=0 b=0 c=50");
}

TEST(pods_that_ask_for_nothing_count_as_if_they_asked_for_a_little)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeResourcesFit", NULL);
    kit_node(&k, "a", "'cpu': '1', 'memory': '1000Mi'", NULL, NULL);
    kit_node(&k, "b", "'cpu': '1', 'memory': '1000Mi'", NULL, NULL);
    put_pod(&k, "q", "b", "'containers': [{'name': 'c', 'image': 'i'}]");
    /* 100m and 200 MB each: 90 and 80 on a, 80 and 60 on b. */
    check_text("none", kit_score(&k, kit_pod(&k, "{'containers': [{'name': 'c', 'image': 'i'}]}")),
               "a=85 b=70");
    /* What the pod asks for as a whole is of no account here, as upstream's scorer has it. */
    check_text("of the pod",
               kit_score(&k, kit_pod(&k, "{'containers': [{'name': 'c', 'image': 'i'}], "
                                         "'resources': {'requests': {'cpu': '700m'}}}")),
               "a=85 b=70");
}

TEST(arguments_of_the_fit_are_checked)
{
    static const struct {
        const char *args, *part;
    } t[] = {
        { "{'scoringStrategy': {'type': 'Foo'}}",
          "scoringStrategy.type: Unsupported value: \"Foo\": supported values: \"LeastAllocated\", "
          "\"MostAllocated\", \"RequestedToCapacityRatio\"" },
        { STRATEGY("LeastAllocated", RESOURCES("{'name': 'cpu', 'weight': 101}")),
          "resource weight of cpu not in valid range (0, 100]" },
        { STRATEGY("RequestedToCapacityRatio", ""), "at least one point must be specified" },
        { STRATEGY("RequestedToCapacityRatio",
                   SHAPE("{'utilization': 5, 'score': 1}, {'utilization': 5, 'score': 2}")),
          "values must be sorted in increasing order" },
        { STRATEGY("RequestedToCapacityRatio", SHAPE("{'utilization': 101, 'score': 1}")),
          "not in 0 to 100" },
        { STRATEGY("RequestedToCapacityRatio", SHAPE("{'utilization': 1, 'score': 11}")),
          "score not in 0 to 10" },
    };
    WITH_KIT(k);
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        const char *got = kit_plugin_error(&k, "NodeResourcesFit", t[i].args);
        if (!strstr(got, t[i].part))
            TEST_FAIL("\"%s\", expected \"%s\" in it", got, t[i].part);
    }
}

TEST(a_node_with_more_of_what_is_asked_for_may_help)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeResourcesFit", NULL);
    const struct sched_pod *pod = kit_pod(&k, "{" ASKS("'cpu': '2', 'x.y/z': '1'") "}");
#define NODE_WITH(allocatable)                                                                     \
    kit_read(&k, SCHED_NODE, "{'metadata': {'name': 'n'}, 'status': {'allocatable': {%s}}}",       \
             allocatable)
    struct sched_object *small = NODE_WITH("'pods': '5', 'cpu': '1', 'x.y/z': '1'");
    struct sched_object *fits = NODE_WITH("'pods': '5', 'cpu': '2', 'x.y/z': '1'");
    struct sched_object *fits_memory =
        NODE_WITH("'pods': '5', 'cpu': '2', 'x.y/z': '1', 'memory': '5'");
    struct sched_object *scalar = NODE_WITH("'pods': '5', 'cpu': '2', 'x.y/z': '2'");
    struct sched_object *pods = NODE_WITH("'pods': '6', 'cpu': '2', 'x.y/z': '1'");
    struct sched_object *no_pods = NODE_WITH("'pods': '0', 'cpu': '2', 'x.y/z': '1'");
#undef NODE_WITH
    const struct {
        unsigned action;
        struct sched_object *before, *after;
        const char *want;
    } t[] = {
        { SCHED_ADD, NULL, small, "skip" },
        { SCHED_ADD, NULL, fits, "queue" },
        { SCHED_ADD, NULL, no_pods, "skip" },
        { SCHED_UPDATE_NODE_ALLOCATABLE, small, fits, "queue" },
        { SCHED_UPDATE_NODE_ALLOCATABLE, fits, small, "skip" },
        { SCHED_UPDATE_NODE_ALLOCATABLE, fits, fits_memory, "skip" },
        { SCHED_UPDATE_NODE_ALLOCATABLE, fits, scalar, "queue" },
        { SCHED_UPDATE_NODE_ALLOCATABLE, fits, pods, "queue" },
        { SCHED_UPDATE_NODE_LABEL, small, fits, "none" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct sched_event e = node_event(t[i].action, t[i].before, t[i].after);
        check_text("node", kit_hint(&k, pod, &e), t[i].want);
    }
}

TEST(a_pod_that_goes_or_asks_for_less_may_help)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeResourcesFit", NULL);
    const struct sched_pod *pod = kit_pod(&k, "{" ASKS("'cpu': '2'") "}");
#define BOUND(requests)                                                                            \
    kit_pod(&k, "{'metadata': {'uid': 'x'}, 'spec': {'nodeName': 'n', %s}}", requests)
    const struct sched_pod *large = BOUND(ASKS("'cpu': '3', 'memory': '7'"));
    const struct sched_pod *small = BOUND(ASKS("'cpu': '1', 'memory': '7'"));
    const struct sched_pod *less_memory = BOUND(ASKS("'cpu': '3', 'memory': '6'"));
#undef BOUND
    const struct sched_pod *waiting = kit_pod(&k, "{'metadata': {'uid': 'y'}, 'spec': {}}");
    struct sched_event e = { SCHED_ON_ASSIGNED_POD, SCHED_DELETE, &small->o, NULL };
    check_text("deleted", kit_hint(&k, pod, &e), "queue");
    e = (struct sched_event){ SCHED_ON_UNSCHEDULED_POD, SCHED_DELETE, &waiting->o, NULL };
    check_text("it was nowhere", kit_hint(&k, pod, &e), "skip");
    e = (struct sched_event){ SCHED_ON_ASSIGNED_POD, SCHED_UPDATE_POD_SCALE_DOWN, &large->o,
                              &small->o };
    check_text("less CPU", kit_hint(&k, pod, &e), "queue");
    e.after = &less_memory->o;
    check_text("less memory", kit_hint(&k, pod, &e), "skip");
    e = (struct sched_event){ SCHED_ON_UNSCHEDULED_POD, SCHED_UPDATE_POD_SCALE_DOWN, &pod->o,
                              &pod->o };
    check_text("itself", kit_hint(&k, pod, &e), "queue");
}

/* ---- NodeResourcesBalancedAllocation ---- */

TEST(balance_is_scored_by_the_change_that_the_pod_makes)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeResourcesBalancedAllocation", NULL);
    kit_node(&k, "a", "'cpu': '10', 'memory': '1000'", NULL, NULL);
    kit_node(&k, "b", "'cpu': '10', 'memory': '1000'", NULL, NULL);
    kit_node(&k, "c", "'cpu': '10', 'memory': '1000'", NULL, NULL);
    kit_node(&k, "d", "", NULL, NULL); /* it has neither */
    put_pod(&k, "on-b", "b", ASKS("'memory': '600'"));
    put_pod(&k, "on-c", "c", ASKS("'cpu': '6'"));
    check_text("as uneven", kit_score(&k, kit_pod(&k, "{" ASKS("'cpu': '6', 'memory': '600'") "}")),
               "a=75 b=80 c=80 d=75");
    check_text("CPU alone", kit_score(&k, kit_pod(&k, "{" ASKS("'cpu': '6'") "}")),
               "a=60 b=90 c=65 d=75");
    check_text("best effort", kit_score(&k, kit_pod(&k, "{}")), "Skip");
    check_text("an extended resource that does not count",
               kit_score(&k, kit_pod(&k, "{" ASKS("'x.y/z': '1'") "}")), "Skip");
}

TEST(balance_counts_the_resources_of_its_arguments)
{
    WITH_KIT(k);
    kit_plugin(&k, "NodeResourcesBalancedAllocation",
               "{'resources': [{'name': 'cpu'}, {'name': 'memory'}, {'name': 'nvidia.com/gpu'}]}");
    kit_node(&k, "a", "'cpu': '10', 'memory': '1000', 'nvidia.com/gpu': '10'", NULL, NULL);
    kit_node(&k, "b", "'cpu': '10', 'memory': '1000'", NULL, NULL);
    /* fractions 0.1, 0.4, 0.7: deviation 0.2449; of two: 0.15 */
    check_text("three",
               kit_score(&k, kit_pod(&k, "{" ASKS("'cpu': '1', 'memory': '400', "
                                                  "'nvidia.com/gpu': '7'") "}")),
               "a=62 b=67");
    check_text("no GPU", kit_score(&k, kit_pod(&k, "{" ASKS("'cpu': '1', 'memory': '400'") "}")),
               "a=67 b=67");
}

/* ---- ImageLocality ---- */

#define IMAGES(list)      "'status': {'allocatable': {'pods': '110'}, 'images': [" list "]}"
#define IMAGE(name, size) "{'names': ['" name "'], 'sizeBytes': " size "}"
static void put_images(struct kit *k, const char *node, const char *images)
{
    kit_put(k, SCHED_NODE, "{'metadata': {'name': '%s'}, 'status': {'images': [%s]}}", node,
            images);
}
#define USES(image) "{'name': 'c', 'image': '" image "'}"

TEST(nodes_with_a_pods_images_are_better_the_larger_they_are)
{
    WITH_KIT(k);
    kit_plugin(&k, "ImageLocality", NULL);
    put_images(&k, "a", IMAGE("gcr.io/40:latest", "41943040"));
    put_images(&k, "b", IMAGE("gcr.io/2000:latest", "2097152000"));
    put_images(
        &k, "c",
        IMAGE("gcr.io/40:latest", "41943040") "," IMAGE("gcr.io/300:v1", "314572800") "," IMAGE(
            "localhost:5000/x:latest", "1048576000"));
    static const struct {
        const char *containers, *want;
    } t[] = {
        { "'containers': [" USES("gcr.io/2000") "]", "a=0 b=65 c=0" }, /* a third of 2000 MiB */
        { "'containers': [" USES("gcr.io/40") "]", "a=0 b=0 c=0" },
        { "'containers': [" USES("gcr.io/300:v1") "]", "a=0 b=0 c=7" },
        { "'containers': [" USES("gcr.io/300") "]", "a=0 b=0 c=0" }, /* another tag */
        { "'containers': [" USES("localhost:5000/x") "]", "a=0 b=0 c=31" },
        { "'containers': [" USES("gcr.io/2000") "," USES("gcr.io/300:v1") "]", "a=0 b=32 c=3" },
        { "'containers': [" USES("gcr.io/300:v1") "], 'initContainers': [" USES(
              "gcr.io/2000:latest") "]",
          "a=0 b=32 c=3" },
        { "'containers': [" USES("gcr.io/300:v1") "," USES("gcr.io/300:v1") "]", "a=0 b=0 c=8" },
        { "'containers': [" USES("nowhere") "]", "a=0 b=0 c=0" },
        { "'containers': [" USES("nowhere") "], 'volumes': [{'name': 'v', 'image': {'reference': "
                                            "'gcr.io/2000'}}]",
          "a=0 b=65 c=0" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        check_text(t[i].containers, kit_score(&k, kit_pod(&k, "{%s}", t[i].containers)), t[i].want);
}

TEST_MAIN
