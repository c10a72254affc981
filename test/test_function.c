/* SPDX-License-Identifier: Apache-2.0 */
/* fn/function: specs of functions, their defaults, what they must not say, and their templates. */
#include "fn/function.h"

#include "base/buf.h"
#include "test.h"

#include <string.h>

static const struct json *parse(struct arena *a, const char *text)
{
    struct json *v;
    CHECK_OK(json_parse(a, str_of(text), NULL, &v, NULL));
    return v;
}

static struct fn_spec read_spec(struct arena *a, const char *text)
{
    struct fn_spec spec;
    struct err err = { 0 };
    if (fn_spec_read(a, parse(a, text), &spec, &err) < 0)
        TEST_FAIL("%s: %s", text, err_text(&err));
    return spec;
}

#define LONG "0123456789012345678901234567890123456789012345678901234567890123" /* 64 */

TEST(a_spec_has_its_defaults)
{
    struct arena a = { 0 };
    struct fn_spec s = read_spec(&a, "{\"module\":{\"file\":\"a.wasm\"}}");
    CHECK(s.t.runtime == FN_WASM && str_is(s.t.file, "a.wasm") && s.t.abi == FN_ABI_AUTO);
    CHECK(s.concurrency == 1 && s.queue_max == 1000 && s.queue_ms == 60000);
    CHECK(s.request_ms == 300000 && s.body_max == 16 << 20 && s.t.memory == 64 << 20);
    CHECK(s.scale.policy == FN_SCALE_KPA && s.scale.stable_ms == 60000 &&
          s.scale.max == UINT32_MAX);
    CHECK(s.scale.utilization == 70 && s.scale.panic_threshold_percent == 200);
    CHECK(s.async.attempts == 3 && s.async.age_max_ms == 21600000);
    CHECK(s.t.cpu_milli == 0 && fn_reserved_memory(&s.t) == 1 << 20);
    s = read_spec(&a, "{\"image\":{\"bundle\":\"/b\"}}");
    CHECK(s.t.cpu_milli == 100 && fn_reserved_memory(&s.t) == 64 << 20);
    CHECK(s.t.runtime == FN_OCI && s.concurrency == 0 && s.t.port == 8080);
    arena_fini(&a);
}

TEST(every_member_is_read)
{
    struct arena a = { 0 };
    struct fn_spec s = read_spec(
        &a,
        "{\"module\":{\"configMap\":{\"name\":\"m\"},\"sha256\":\""
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"},"
        "\"abi\":\"reactor\",\"reuse\":true,\"args\":[\"x\",\"y\"],"
        "\"env\":[{\"name\":\"A\",\"value\":\"1\"},"
        "{\"name\":\"B\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"k\"}}}],"
        "\"secrets\":[{\"secretName\":\"s\",\"mountPath\":\"/run/s\"}],\"protocol\":\"grpc\","
        "\"nodeSelector\":{\"zone\":\"a\"},\"resources\":{\"cpu\":\"1500m\",\"memory\":\"1Gi\"},"
        "\"concurrency\":{\"limit\":10,\"target\":7,\"metric\":\"rps\"},"
        "\"scale\":{\"min\":1,\"max\":5,\"activation\":9,\"policy\":\"hybrid\",\"burstCapacity\":-"
        "1},"
        "\"limits\":{\"bodyBytes\":\"1Mi\"},\"balance\":\"p2c\",\"paths\":[\"/shop\"],"
        "\"traffic\":[{\"percent\":90},{\"revision\":3,\"percent\":10,\"tag\":\"old\"},"
        "{\"revision\":2,\"header\":{\"name\":\"x-beta\",\"value\":\"1\"}}],"
        "\"async\":{\"attempts\":5,\"retryOn\":[503]},"
        "\"triggers\":[{\"name\":\"c\",\"cron\":{\"schedule\":\"@hourly\"}},"
        "{\"name\":\"w\",\"watch\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"on\":[\"Deleted\"]}}]"
        "}");
    CHECK(str_is(s.t.config_map, "m") && str_is(s.t.key, "module.wasm") && s.t.reuse);
    CHECK(s.t.n_args == 2 && str_is(s.t.args[1], "y"));
    CHECK(s.t.n_env == 2 && s.t.env[1].is_secret && str_is(s.t.env[1].key, "k"));
    CHECK(s.t.n_secrets == 1 && s.t.protocol == FN_GRPC && s.t.n_node_selector == 1);
    CHECK(s.t.cpu_milli == 1500 && s.t.memory == 1 << 30);
    CHECK(s.concurrency == 10 && s.scale.target == 7 && s.scale.metric == FN_METRIC_RPS);
    CHECK(s.scale.min == 1 && s.scale.activation == 5 && s.scale.burst == -1);
    CHECK(s.body_max == 1 << 20 && s.balance == FN_P2C && s.n_paths == 1);
    CHECK(s.n_traffic == 3 && s.traffic[0].revision == 0 && str_is(s.traffic[1].tag, "old"));
    CHECK(str_is(s.traffic[2].header, "x-beta") && s.async.n_retry_on == 1);
    CHECK(s.n_triggers == 2 && s.triggers[1].on_deleted && !s.triggers[1].on_added);
    arena_fini(&a);
}

TEST(what_breaks_a_rule_is_named)
{
    static const struct {
        const char *spec, *says;
    } cases[] = {
        { "{}", "spec needs one of module, image and fake" },
        { "{\"module\":{\"file\":\"a\"},\"fake\":{}}", "spec needs one of" },
        { "{\"module\":{}}", "spec.module needs one of" },
        { "{\"module\":null}", "spec.module must be an object" },
        { "{\"fake\":{},\"args\":[\"a\",1]}", "spec.args[1] must be a string" },
        { "{\"module\":{\"file\":\"\"}}", "names nothing" },
        { "{\"module\":{\"url\":\"http://x/y\"}}", "needs spec.module.sha256" },
        { "{\"module\":{\"file\":\"a\",\"sha256\":\"12\"}}", "64 hexadecimal" },
        { "{\"fake\":{\"createMilliseconds\":-1}}", "spec.fake.createMilliseconds" },
        { "{\"fake\":{},\"abi\":\"cgi\"}", "spec.abi 'cgi'" },
        { "{\"fake\":{},\"port\":0}", "spec.port" },
        { "{\"fake\":{},\"env\":[{\"name\":\"a=b\"}]}", "spec.env[0].name" },
        { "{\"fake\":{},\"env\":[{\"name\":\"a\",\"value\":\"b\",\"valueFrom\":{}}]}",
          "spec.env[0]" },
        { "{\"fake\":{},\"secrets\":[{\"secretName\":\"s\",\"mountPath\":\"/a/../b\"}]}",
          "mountPath" },
        { "{\"fake\":{},\"secrets\":[{\"secretName\":\"s\",\"mountPath\":\"/\"}]}", "mountPath" },
        { "{\"fake\":{},\"secrets\":[{\"secretName\":\"../../x/secrets/s\",\"mountPath\":\"/s\"}]}",
          "spec.secrets[0].secretName" },
        { "{\"fake\":{},\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"a?b\","
          "\"key\":\"k\"}}}]}",
          "spec.env[0].valueFrom" },
        { "{\"fake\":{},\"env\":[{\"name\":\"A\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\".."
          "\",\"key\":\"k\"}}}]}",
          "spec.env[0].valueFrom" },
        { "{\"image\":{\"reference\":\"a\"},\"imagePullSecrets\":[{\"name\":\"../../kube-system/"
          "secrets/pull\"}]}",
          "spec.imagePullSecrets[0].name" },
        { "{\"image\":{\"reference\":\"a\"},\"imagePullSecrets\":[{}]}",
          "spec.imagePullSecrets[0].name" },
        { "{\"module\":{\"configMap\":{\"name\":\"a%2fb\"}}}", "spec.module.configMap.name" },
        { "{\"fake\":{},\"resources\":{\"memory\":\"1\"}}", "spec.resources.memory" },
        { "{\"fake\":{},\"resources\":{\"cpu\":\"lots\"}}", "spec.resources.cpu" },
        { "{\"fake\":{},\"scale\":{\"min\":5,\"max\":2}}", "spec.scale.max" },
        { "{\"fake\":{},\"scale\":{\"burstCapacity\":-2}}", "burstCapacity" },
        { "{\"fake\":{},\"traffic\":[{\"percent\":50}]}", "add up to 50" },
        { "{\"fake\":{},\"traffic\":[{\"percent\":100,\"header\":{\"name\":\"a\",\"value\":\"b\"}}]"
          "}",
          "has a header and a percentage" },
        { "{\"fake\":{},\"paths\":[\"/a/..\"]}", "spec.paths[0]" },
        { "{\"fake\":{},\"hosts\":[\"a.example\",\"http://b\"]}", "spec.hosts[1]" },
        { "{\"fake\":{},\"async\":{\"retryOn\":[99]}}", "spec.async.retryOn" },
        { "{\"fake\":{},\"triggers\":[{\"name\":\"a\",\"cron\":{\"schedule\":\"61 * * * *\"}}]}",
          "schedule of 'a'" },
        { "{\"fake\":{},\"triggers\":[{\"name\":\"a\"}]}", "one of cron, event and watch" },
        { "{\"fake\":{},\"triggers\":[{\"name\":\"a\",\"event\":{}},{\"name\":\"a\",\"event\":{}}]"
          "}",
          "two of the name 'a'" },
        { "{\"fake\":{},\"triggers\":[{\"name\":\"a b\",\"event\":{}}]}", "is no name" },
        { "{\"fake\":{},\"triggers\":[{\"name\":\"" LONG "\",\"event\":{}}]}", "is no name" },
        { "{\"fake\":{},\"triggers\":[{\"name\":\"a\",\"watch\":{\"apiVersion\":\"a/b/c\","
          "\"kind\":\"Pod\"}}]}",
          "is no name" },
        { "{\"fake\":{},\"triggers\":[{\"name\":\"a\",\"watch\":{\"apiVersion\":\"v1?x\","
          "\"kind\":\"Pod\"}}]}",
          "is no name" },
        { "{\"fake\":{},\"triggers\":[{\"name\":\"a\",\"watch\":{\"apiVersion\":\"v1\","
          "\"kind\":\"Pod\",\"namespace\":\"../x\"}}]}",
          "is no name" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct fn_spec s;
        struct err err = { 0 };
        CHECK(fn_spec_read(&a, parse(&a, cases[i].spec), &s, &err) == E_INVALID);
        if (!strstr(err_text(&err), cases[i].says))
            TEST_FAIL("%s: %s", cases[i].spec, err_text(&err));
        arena_fini(&a);
    }
}

static void check_same_template(const char *one, const char *other, bool same)
{
    struct arena a = { 0 };
    struct buf b = BUF_INIT(FN_SPEC_MAX_BYTES), c = BUF_INIT(FN_SPEC_MAX_BYTES);
    fn_template_json(parse(&a, one), &b);
    fn_template_json(parse(&a, other), &c);
    if (str_eq(buf_str(&b), buf_str(&c)) != same)
        TEST_FAIL("%.*s and %.*s", STR_ARG(buf_str(&b)), STR_ARG(buf_str(&c)));
    struct fn_template t;
    CHECK_OK(fn_template_read(&a, parse(&a, one), &t, NULL));
    buf_fini(&b);
    buf_fini(&c);
    arena_fini(&a);
}

TEST(only_what_sandboxes_depend_on_is_in_the_template)
{
    check_same_template(
        "{\"fake\":{\"createMilliseconds\":1},\"args\":[\"a\"],\"queue\":{\"max\":1}}",
        "{\"args\":[\"a\"],\"scale\":{\"min\":3},\"fake\":{\"createMilliseconds\":1}}", true);
    check_same_template("{\"fake\":{},\"args\":[\"a\"]}", "{\"fake\":{},\"args\":[\"b\"]}", false);
    check_same_template("{\"fake\":{},\"env\":[{\"name\":\"a\",\"value\":\"1\"}]}",
                        "{\"fake\":{},\"env\":[{\"value\":\"1\",\"name\":\"a\"}]}", true);
}

/* The three definitions are there and parse. */
TEST(there_are_three_definitions)
{
    struct arena a = { 0 };
    struct json *list;
    CHECK_OK(json_parse(&a, fn_crds(), NULL, &list, NULL));
    size_t n = 0;
    json_each (item, json_getc(list, "items")) {
        if (str_is(json_get_str(item, "kind"), "ClusterRole")) /* for view and edit */
            continue;
        CHECK(str_is(json_get_str(item, "kind"), "CustomResourceDefinition"));
        n++;
    }
    CHECK(n == 3);
    arena_fini(&a);
}

TEST_MAIN
