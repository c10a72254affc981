/* SPDX-License-Identifier: Apache-2.0 */
/* kube/rules/kinds: what the built-in kinds become when they are decoded, created, updated, shown.
 */
#include "test_kube.h"

#include "base/sys.h"
#include "kube/model/table.h"
#include "kube/rules/kinds/quotas.h"

#include <fcntl.h>

/* "group/version/plural", group "" for core. */
static const struct kube_resource *served(struct arena *a, struct str path)
{
    struct str group, rest, version, plural;
    (void)str_cut(path, '/', &group, &rest);
    (void)str_cut(rest, '/', &version, &plural);
    return resource(str_dup_arena(a, group), str_dup_arena(a, version), str_dup_arena(a, plural));
}

static void decode_tree(struct arena *a, const struct kube_resource *res, struct json *obj)
{
    struct json *status = NULL;
    struct object_warnings w = { .a = a };
    if (object_decode_tree(a, res, obj, FIELD_VALIDATION_STRICT, &w, &status) < 0)
        TEST_FAIL(STR_FMT, STR_ARG(status_message(status)));
}

/* ------------------------------------------------------------------ defaults */

/* The next line of a file that is no comment; "" at its end. */
static struct str next_line(struct str *text)
{
    struct str line = STR("");
    while (text->n && (line.n == 0 || line.p[0] == '#'))
        (void)str_cut(*text, '\n', &line, text);
    return line;
}

static struct json *json_of(struct arena *a, struct str text)
{
    struct json *v;
    struct err err = { 0 };
    if (json_parse(a, text, NULL, &v, &err) < 0)
        TEST_FAIL(STR_FMT ": %s", STR_ARG(text), err_text(&err));
    return v;
}

static bool check_default(struct arena *a, struct str head, struct str in, struct str out)
{
    struct str path, member;
    (void)str_cut(head, ' ', &path, &member);
    const struct kube_resource *res = served(a, path);
    struct json *obj = json_new_object(a);
    json_set_str(a, json_obj(a, obj, "metadata"), "name", STR("x"));
    json_set(a, obj, member, json_of(a, in));
    decode_tree(a, res, obj);
    const struct json *got = json_get(obj, member);
    /* what has its defaults does not change any more */
    struct json *again = json_clone(a, obj);
    object_default(a, res, again);
    CHECK(json_equal(obj, again));
    if (got && json_equal(got, json_of(a, out)))
        return true;
    (void)fprintf(stderr, "# " STR_FMT " " STR_FMT "\n#  got " STR_FMT "\n# want " STR_FMT "\n",
                  STR_ARG(head), STR_ARG(in), STR_ARG(text_of(a, got)), STR_ARG(out));
    return false;
}

/* Run `check` on every block of three lines; at least `min` of them. */
static void each_example(const char *path, size_t min,
                         bool (*check)(struct arena *a, struct str head, struct str in,
                                       struct str out))
{
    struct buf file = BUF_INIT(1 << 20);
    CHECK_OK(sys_read_file(AT_FDCWD, path, &file, NULL));
    struct str text = buf_str(&file);
    bool all = true;
    size_t n = 0;
    while (text.n) {
        struct arena a = { 0 };
        struct str head = next_line(&text), in = next_line(&text), out = next_line(&text);
        all = (head.n == 0 || check(&a, head, in, out)) && all;
        n += head.n > 0;
        arena_fini(&a);
    }
    CHECK(all && n >= min);
    buf_fini(&file);
}

static bool check_row(struct arena *a, struct str head, struct str in, struct str out)
{
    enum { NOW_S = 1577836800 };
    const struct kube_resource *res = served(a, head);
    struct json *obj = json_of(a, in);
    json_set_str(a, json_obj(a, obj, "metadata"), "creationTimestamp", STR("2019-12-31T23:00:00Z"));
    struct json *table = table_new(a, res, STR("v1"), true, NULL);
    table_add_row(a, table, res, obj, TABLE_INCLUDE_NONE, STR("v1"), NOW_S);
    const struct json *cells = json_getc(json_getc(table, "rows")->first, "cells");
    CHECK_INT(cells->n, json_getc(table, "columnDefinitions")->n);
    if (json_equal(cells, json_of(a, out)))
        return true;
    (void)fprintf(stderr, "# " STR_FMT " " STR_FMT "\n#  got " STR_FMT "\n# want " STR_FMT "\n",
                  STR_ARG(head), STR_ARG(in), STR_ARG(text_of(a, cells)), STR_ARG(out));
    return false;
}

TEST(rows_show_what_upstream_shows)
{
    each_example(TEST_DATA "/kind_tables.txt", 30, check_row);
}

/* A new object as the server stores it. */
static struct json *created(struct arena *a, const char *path, const char *text)
{
    struct json *obj = parse(a, text), *status = NULL;
    const struct kube_resource *res = served(a, str_of(path));
    const struct object_env env = { .now_s = 1577836800, .uid = STR("u"), .namespace = STR("ns") };
    decode_tree(a, res, obj);
    if (object_prepare_create(a, res, obj, &env, &status) < 0)
        TEST_FAIL(STR_FMT, STR_ARG(status_message(status)));
    return obj;
}

/* "name=amount,..." in the order in which they are counted. */
static struct str uses_of(struct arena *a, const char *path, const char *text)
{
    struct quota_use *uses = arena_new_n(a, struct quota_use, QUOTA_MAX_USES);
    struct buf b = BUF_INIT(4096);
    size_t n = quota_uses(a, served(a, str_of(path)), parse(a, text), NULL, uses);
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(&b, "%s" STR_FMT "=" STR_FMT, i ? "," : "", STR_ARG(uses[i].name),
                         STR_ARG(quantity_text(a, uses[i].amount)));
    struct str out = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return out;
}

TEST(quotas_count_what_upstream_counts)
{
    struct arena a = { 0 };
    CHECK_STR(uses_of(&a, "apps/v1/deployments", "{}"), "count/deployments.apps=1");
    CHECK_STR(uses_of(&a, "/v1/secrets", "{}"), "count/secrets=1,secrets=1");
    CHECK_STR(
        uses_of(&a, "/v1/pods",
                "{'spec':{'initContainers':[{'resources':{'requests':{'cpu':'2'}}}],"
                "'containers':[{'resources':{'requests':{'cpu':'500m','memory':'1Gi'},'limits'"
                ":{'cpu':'1'}}},{'resources':{'requests':{'cpu':'1'}}}]}}"),
        "count/pods=1,pods=1,cpu=2,requests.cpu=2,memory=1Gi,requests.memory=1Gi,limits.cpu=1");
    CHECK_STR(uses_of(&a, "/v1/pods", "{'status':{'phase':'Failed'}}"), "count/pods=1");
    CHECK_STR(uses_of(&a, "/v1/services",
                      "{'spec':{'type':'LoadBalancer','ports':[{'nodePort':30000},{'port':1}]}}"),
              "count/services=1,services=1,services.nodeports=1,services.loadbalancers=1");
    CHECK_STR(
        uses_of(&a, "/v1/persistentvolumeclaims",
                "{'spec':{'storageClassName':'fast','resources':{'requests':{'storage':'1Gi'}}}}"),
        "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=1Gi,"
        "fast.storageclass.storage.k8s.io/persistentvolumeclaims=1,"
        "fast.storageclass.storage.k8s.io/requests.storage=1Gi");
    arena_fini(&a);
}

#define CLASSES(operator)                                                                          \
    "{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':" operator"}]"  \
                                                                                             "}}"
#define ACROSS   "{'scopes':['CrossNamespacePodAffinity']}"
#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution':[{"

TEST(quotas_have_scopes)
{
    static const struct {
        const char *spec, *pod;
        bool covers;
    } cases[] = {
        { "{'scopes':['Terminating']}", "{'spec':{'activeDeadlineSeconds':5}}", true },
        { "{'scopes':['NotTerminating']}", "{'spec':{'activeDeadlineSeconds':5}}", false },
        { "{'scopes':['BestEffort']}", "{'spec':{'containers':[{}]}}", true },
        { "{'scopes':['NotBestEffort','NotTerminating']}", "{'spec':{'containers':[{}]}}", false },
        { "{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'In',"
          "'values':['high']}]}}",
          "{'spec':{'priorityClassName':'high'}}", true },
        { "{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'NotIn',"
          "'values':['high']}]}}",
          "{'spec':{'priorityClassName':'high'}}", false },
        { "{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'Exists'}]"
          "}}",
          "{}", false },
        { CLASSES("'DoesNotExist'"), "{}", true },
        { CLASSES("'DoesNotExist'"), "{'spec':{'priorityClassName':'high'}}", false },
        { CLASSES("'NotIn','values':['high']"), "{}", true },
        { CLASSES("'In','values':['high']"), "{}", false },
        { ACROSS, "{'spec':{'affinity':{'podAffinity':{" REQUIRED "'namespaces':['b']}]}}}}",
          true },
        { ACROSS,
          "{'spec':{'affinity':{'podAntiAffinity':{'"
          "preferredDuringSchedulingIgnoredDuringExecution'"
          ":[{'weight':1,'podAffinityTerm':{'namespaceSelector':{}}}]}}}}",
          true },
        { ACROSS, "{'spec':{'affinity':{'podAffinity':{" REQUIRED "'topologyKey':'k'}]}}}}",
          false },
        { ACROSS, "{'spec':{'affinity':{'nodeAffinity':{}}}}", false },
        { "{'scopes':['VolumeAttributesClass']}", "{}", false },
        { "{}", "{}", true },
    };
    static const struct {
        const char *operator, * claim;
        bool covers;
    } claims[] = {
        { "'Exists'", "{'spec':{'volumeAttributesClassName':'gold'}}", true },
        { "'Exists'", "{'spec':{}}", false },
        { "'DoesNotExist'", "{'spec':{}}", true },
        { "'In','values':['gold']", "{'status':{'currentVolumeAttributesClassName':'gold'}}",
          true },
        { "'NotIn','values':['gold']",
          "{'spec':{'volumeAttributesClassName':'gold'},'status':{'modifyVolumeStatus':{"
          "'targetVolumeAttributesClassName':'silver'}}}",
          true },
        { "'NotIn','values':['gold']", "{'spec':{'volumeAttributesClassName':'gold'}}", false },
    };
    struct arena a = { 0 };
    const struct kube_resource *pods = served(&a, STR("/v1/pods"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json *quota = json_new_object(&a);
        json_setc(&a, quota, "spec", parse(&a, cases[i].spec));
        CHECK(quota_covers(quota, pods, parse(&a, cases[i].pod)) == cases[i].covers);
    }
    for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
        scoped(free_scoped) char *text =
            xasprintf("{'spec':{'scopeSelector':{'matchExpressions':[{'scopeName':"
                      "'VolumeAttributesClass','operator':%s}]}}}",
                      claims[i].operator);
        CHECK(quota_covers(parse(&a, text), served(&a, STR("/v1/persistentvolumeclaims")),
                           parse(&a, claims[i].claim)) == claims[i].covers);
    }
    struct json *scoped_quota = parse(&a, "{'spec':{'scopes':['BestEffort']}}");
    CHECK(!quota_covers(scoped_quota, served(&a, STR("/v1/services")), parse(&a, "{}")));
    arena_fini(&a);
}

TEST(a_job_finds_its_pods_by_its_uid)
{
    struct arena a = { 0 };
    struct json *job = created(&a, "batch/v1/jobs",
                               "{'metadata':{'name':'j'},'spec':{'template':{'spec':{'containers':"
                               "[],'restartPolicy':'Never'}}},'status':{'active':7}}");
    CHECK_JSON(&a, json_path(job, "spec", "selector", NULL),
               "{'matchLabels':{'batch.kubernetes.io/controller-uid':'u'}}");
    CHECK_JSON(&a, json_path(job, "spec", "template", "metadata", "labels", NULL),
               "{'batch.kubernetes.io/job-name':'j','batch.kubernetes.io/controller-uid':'u',"
               "'job-name':'j','controller-uid':'u'}");
    CHECK_JSON(&a, json_getc(job, "status"), "{}");
    job =
        created(&a, "batch/v1/jobs",
                "{'metadata':{'name':'j'},'spec':{'manualSelector':true,'selector':{'matchLabels':{"
                "'a':'b'}},'template':{'spec':{'containers':[]}}}}");
    CHECK_JSON(&a, json_path(job, "spec", "selector", NULL), "{'matchLabels':{'a':'b'}}");
    arena_fini(&a);
}

TEST(a_new_object_starts_with_the_status_of_its_kind)
{
    struct arena a = { 0 };
    CHECK_JSON(
        &a,
        json_getc(created(&a, "apps/v1/daemonsets",
                          "{'metadata':{'name':'d'},'spec':{'selector':{},'template':{'spec':{"
                          "'containers':[]}}},'status':{'numberReady':1}}"),
                  "status"),
        "{'currentNumberScheduled':0,'numberMisscheduled':0,'desiredNumberScheduled':0,"
        "'numberReady':0}");
    CHECK_JSON(
        &a,
        json_getc(created(&a, "/v1/persistentvolumeclaims", "{'metadata':{'name':'c'}}"), "status"),
        "{'phase':'Pending'}");
    CHECK_JSON(&a, json_getc(created(&a, "/v1/services", "{'metadata':{'name':'s'}}"), "status"),
               "{'loadBalancer':{}}");
    arena_fini(&a);
}

TEST(an_autoscaler_of_the_older_version_gets_the_default_metric)
{
    struct arena a = { 0 };
    const struct kube_resource *v1 = served(&a, STR("autoscaling/v1/horizontalpodautoscalers"));
    struct json *obj =
        parse(&a, "{'apiVersion':'autoscaling/v1','kind':'HorizontalPodAutoscaler','metadata':{"
                  "'name':'h'},'spec':{'scaleTargetRef':{'kind':'Deployment','name':'d'},"
                  "'maxReplicas':3}}");
    decode_tree(&a, v1, obj);
    object_convert(&a, obj, v1, v1->storage);
    CHECK_JSON(&a, json_path(obj, "spec", "metrics", NULL),
               "[{'type':'Resource','resource':{'name':'cpu','target':{'type':'Utilization',"
               "'averageUtilization':80}}}]");
    arena_fini(&a);
}

TEST(an_autoscaler_survives_its_older_version)
{
    struct arena a = { 0 };
    const struct kube_resource *v1 = served(&a, STR("autoscaling/v1/horizontalpodautoscalers"));
    const struct kube_resource *v2 = served(&a, STR("autoscaling/v2/horizontalpodautoscalers"));
    CHECK(v1->storage == v2);
    struct json *obj = parse(
        &a,
        "{'apiVersion':'autoscaling/v2','kind':'HorizontalPodAutoscaler','metadata':{'name':"
        "'h'},'spec':{'scaleTargetRef':{'kind':'Deployment','name':'d'},'maxReplicas':3,'metrics'"
        ":[{'type':'Pods','pods':{'metric':{'name':'m'},'target':{'type':'AverageValue',"
        "'averageValue':'5'}}},{'type':'Resource','resource':{'name':'cpu','target':{'type':"
        "'Utilization','averageUtilization':60}}}],'behavior':{'scaleDown':{'selectPolicy':"
        "'Disabled'}}}}");
    decode_tree(&a, v2, obj);
    struct json *old = json_clone(&a, obj);
    object_convert(&a, old, v2, v1);
    CHECK_INT(json_int_or(json_path(old, "spec", "targetCPUUtilizationPercentage", NULL), 0), 60);
    CHECK(!json_path(old, "spec", "metrics", NULL));
    CHECK(
        json_path(old, "metadata", "annotations", "autoscaling.alpha.kubernetes.io/metrics", NULL));
    struct json *again = json_clone(&a, old);
    object_convert(&a, again, v1, v2);
    object_convert(&a, again, v2, v1);
    CHECK(json_equal(old, again));
    object_convert(&a, again, v1, v2);
    CHECK(json_equal(json_path(obj, "spec", "behavior", NULL),
                     json_path(again, "spec", "behavior", NULL)));
    CHECK_INT(json_path(again, "spec", "metrics", NULL)->n, 2);
    CHECK(!json_path(again, "metadata", "annotations", NULL));
    arena_fini(&a);
}

TEST(decoding_fills_in_what_upstream_fills_in)
{
    each_example(TEST_DATA "/kind_defaults.txt", 25, check_default);
}

TEST_MAIN
