/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of containers. */
#include "agent/pod/env.h"
#include "agent_pod_kit.h"
#include "base/buf.h"

#include <errno.h>

/* ---------------------------------------------------------------- expansion */

/* An environment with these variables: NAME, VALUE, ..., NULL. */
static struct pod_environment env_of(const char *const *texts)
{
    struct json *list = json_new_array(&kit_arena);
    for (size_t i = 0; texts[i]; i += 2) {
        struct json *e = json_new_object(&kit_arena);
        json_set_str(&kit_arena, e, "name", str_of(texts[i]));
        json_set_str(&kit_arena, e, "value", str_of(texts[i + 1]));
        json_add(list, e);
    }
    struct json *pod = kit_yaml("{metadata: {name: p}, spec: {containers: [{name: c}]}}");
    struct json *container = json_first(json_path(pod, "spec", "containers", NULL));
    json_setc(&kit_arena, container, "env", list);
    struct pod_spec *p = arena_new(&kit_arena, struct pod_spec);
    CHECK_OK(pod_spec_read(&kit_arena, pod, p, NULL));
    static const struct pod_facts facts;
    const struct pod_env_input in = { .pod = p, .container = &p->main[0], .facts = &facts };
    struct pod_environment env;
    CHECK_OK(pod_env_make(&kit_arena, &in, &env, NULL));
    return env;
}

static const char *const vars[] = { "VAR_A",   "A",         "VAR_B",     "B", "VAR_C", "C",
                                    "VAR_REF", "$$(VAR_A)", "VAR_EMPTY", "",  NULL };

static struct str expanded(const char *text)
{
    struct pod_environment env = env_of(vars);
    struct str value;
    CHECK_OK(pod_env_expand(&kit_arena, &env, str_of(text), &value, NULL));
    return value;
}

/* The cases that the design "variable expansion" of Kubernetes and its tests document. */
TEST(references_are_replaced_by_upstreams_rules)
{
    static const char *const cases[][2] = {
        { "$(VAR_A)", "A" },
        { "$(VAR_A)-$(VAR_A)", "A-A" },
        { "$(VAR_A)-1", "A-1" },
        { "___$(VAR_B)___", "___B___" },
        { "___$(VAR_C)", "___C" },
        { "$(VAR_A)_$(VAR_B)_$(VAR_C)", "A_B_C" },
        { "$$(VAR_B)_$(VAR_A)", "$(VAR_B)_A" },
        { "$$(VAR_A)_$$(VAR_B)", "$(VAR_A)_$(VAR_B)" },
        { "f000-$$VAR_A", "f000-$VAR_A" },
        { "foo\\$(VAR_C)bar", "foo\\Cbar" },
        { "foo\\\\\\\\$(VAR_A)bar", "foo\\\\\\\\Abar" },
        { "$(VAR_A$(VAR_B))", "$(VAR_A$(VAR_B))" },
        { "$(VAR_A$(VAR_B)", "$(VAR_A$(VAR_B)" },
        { "$(VAR_REF)", "$(VAR_A)" },
        { "%%$(VAR_REF)--$(VAR_REF)%%", "%%$(VAR_A)--$(VAR_A)%%" },
        { "foo$(VAR_EMPTY)bar", "foobar" },
        { "foo$(VAR_Awhoops!", "foo$(VAR_Awhoops!" },
        { "f00__(VAR_A)__", "f00__(VAR_A)__" },
        { "$?_boo_$!", "$?_boo_$!" },
        { "$VAR_A", "$VAR_A" },
        { "$(VAR_DNE)", "$(VAR_DNE)" },
        { "$$$$$$(BIG_MONEY)", "$$$(BIG_MONEY)" },
        { "$$$$$$(VAR_A)", "$$$(VAR_A)" },
        { "$$$$$$$(GOOD_ODDS)", "$$$$(GOOD_ODDS)" },
        { "$$$$$$$(VAR_A)", "$$$A" },
        { "$VAR_A)", "$VAR_A)" },
        { "${VAR_A}", "${VAR_A}" },
        { "$(VAR_B)_______$(A", "B_______$(A" },
        { "$(VAR_C)_______$(", "C_______$(" },
        { "$(VAR_A)foobarzab$", "Afoobarzab$" },
        { "foo-\\$(VAR_A", "foo-\\$(VAR_A" },
        { "--$($($($($--", "--$($($($($--" },
        { "$($($($($--foo$(", "$($($($($--foo$(" },
        { "foo0--$($($($(", "foo0--$($($($(" },
        { "$(foo$$var)", "$(foo$$var)" },
        { "\n", "\n" },
        { "", "" },
        { "$", "$" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(expanded(cases[i][0]), cases[i][1]);
    kit_reset();
}

/* A text of many references that never end is expanded in one pass. */
TEST(many_open_references_take_linear_time)
{
    struct buf text = BUF_INIT(POD_ENV_EXPANDED_MAX);
    for (size_t i = 0; i < 250000; i++)
        (void)buf_add_cstr(&text, "$($(");
    CHECK_INT(expanded(buf_cstr(&text)).n, 1000000);
    buf_fini(&text);
    kit_reset();
}

TEST(expansion_is_bounded)
{
    struct buf value = BUF_INIT(4 << 20);
    while (value.n < 600 << 10)
        (void)buf_add_cstr(&value, "0123456789");
    const char *const big[] = { "A", buf_cstr(&value), NULL };
    struct pod_environment env = env_of(big);
    struct str to;
    struct err err = { 0 };
    CHECK_OK(pod_env_expand(&kit_arena, &env, STR("$(A)"), &to, &err));
    CHECK_ERR(pod_env_expand(&kit_arena, &env, STR("$(A)$(A)"), &to, &err), E_LIMIT);
    buf_fini(&value);
    kit_reset();
}

TEST(lists_are_expanded_element_by_element)
{
    struct pod_environment env = env_of(vars);
    const struct str args[] = { STR("x"), STR("$(VAR_A)"), STR("$(NO)") };
    const struct str *to;
    CHECK_OK(pod_env_expand_list(&kit_arena, &env, args, 3, &to, NULL));
    CHECK_STR(to[0], "x");
    CHECK_STR(to[1], "A");
    CHECK_STR(to[2], "$(NO)");
    kit_reset();
}

TEST(a_sub_path_needs_all_its_variables)
{
    struct pod_environment env = env_of(vars);
    struct err err = { 0 };
    struct str to;
    CHECK_OK(pod_env_expand_strict(&kit_arena, &env, STR("$(VAR_A)/$$(X)"), &to, &err));
    CHECK_STR(to, "A/$(X)");
    CHECK_ERR(
        pod_env_expand_strict(&kit_arena, &env, STR("$(Z)/$(B)/$(Z)/$(VAR_EMPTY)"), &to, &err),
        E_INVALID);
    CHECK_STR(str_of(err.text), "missing value for B, VAR_EMPTY, Z");
    kit_reset();
}

/* ---------------------------------------------------------------- the whole environment */

static const struct json *config_maps, *secrets;

static const struct json *get_object(void *arg, enum pod_object_kind kind, struct str namespace,
                                     struct str name)
{
    CHECK(str_is(namespace, "shop"));
    return json_get(kind == POD_OBJECT_SECRET ? secrets : config_maps, name);
}

static const struct pod_service_port kubernetes_port[] = { { STR("https"), STR("TCP"), 443 } };
static const struct pod_service_port db_ports[] = { { STR("sql"), STR(""), 3306 },
                                                    { STR("dns-x"), STR("UDP"), 53 } };
static const struct pod_service services[] = {
    { STR("default"), STR("kubernetes"), STR("10.96.0.1"), kubernetes_port, 1 },
    { STR("shop"), STR("my-db.x"), STR("10.96.0.9"), db_ports, 2 },
    { STR("shop"), STR("headless"), STR("None"), db_ports, 1 },
    { STR("other"), STR("elsewhere"), STR("10.96.0.10"), db_ports, 1 },
};
static const struct str pod_ips[] = { { "10.1.0.2", 8 } };
static const struct pod_facts facts = { .pod_ips = pod_ips, .n_pod_ips = 1 };

/* "NAME=VALUE" lines in order, or "!ERROR". */
static const char *made(const char *spec, struct pod_environment *ret)
{
    const struct pod_spec *p = kit_pod(arena_printf(
        &kit_arena, "{metadata: {name: web, namespace: shop, uid: u}, spec: {%s}}", spec));
    const struct pod_env_input in = { .pod = p,
                                      .container = &p->main[0],
                                      .facts = &facts,
                                      .objects = { .get = get_object },
                                      .services = services,
                                      .n_services = ARRAY_LEN(services) };
    struct err err = { 0 };
    struct pod_environment env;
    if (pod_env_make(&kit_arena, &in, &env, &err) < 0)
        return arena_printf(&kit_arena, "!%s", err_text(&err));
    char *text = arena_printf(&kit_arena, "%s", "");
    for (size_t i = 0; i < env.n; i++)
        text = arena_printf(&kit_arena, "%s" STR_FMT "=" STR_FMT "\n", text,
                            STR_ARG(env.vars[i].name), STR_ARG(env.vars[i].value));
    if (ret)
        *ret = env;
    return text;
}

#define NO_LINKS "enableServiceLinks: false, "
#define KUBERNETES                                                                                 \
    "KUBERNETES_SERVICE_HOST=10.96.0.1\n"                                                          \
    "KUBERNETES_SERVICE_PORT=443\n"                                                                \
    "KUBERNETES_SERVICE_PORT_HTTPS=443\n"                                                          \
    "KUBERNETES_PORT=tcp://10.96.0.1:443\n"                                                        \
    "KUBERNETES_PORT_443_TCP=tcp://10.96.0.1:443\n"                                                \
    "KUBERNETES_PORT_443_TCP_PROTO=tcp\n"                                                          \
    "KUBERNETES_PORT_443_TCP_PORT=443\n"                                                           \
    "KUBERNETES_PORT_443_TCP_ADDR=10.96.0.1\n"
/* The environment of a pod without links to services. */
#define MADE(container) str_of(made(NO_LINKS "containers: [{name: c, " container "}]", NULL))

TEST(services_of_the_namespace_and_the_api_have_variables)
{
    CHECK_STR(str_of(made("containers: [{name: c}]", NULL)),
              KUBERNETES "MY_DB_X_SERVICE_HOST=10.96.0.9\n"
                         "MY_DB_X_SERVICE_PORT=3306\n"
                         "MY_DB_X_SERVICE_PORT_SQL=3306\n"
                         "MY_DB_X_SERVICE_PORT_DNS_X=53\n"
                         "MY_DB_X_PORT=tcp://10.96.0.9:3306\n"
                         "MY_DB_X_PORT_3306_TCP=tcp://10.96.0.9:3306\n"
                         "MY_DB_X_PORT_3306_TCP_PROTO=tcp\n"
                         "MY_DB_X_PORT_3306_TCP_PORT=3306\n"
                         "MY_DB_X_PORT_3306_TCP_ADDR=10.96.0.9\n"
                         "MY_DB_X_PORT_53_UDP=udp://10.96.0.9:53\n"
                         "MY_DB_X_PORT_53_UDP_PROTO=udp\n"
                         "MY_DB_X_PORT_53_UDP_PORT=53\n"
                         "MY_DB_X_PORT_53_UDP_ADDR=10.96.0.9\n");
    CHECK_STR(str_of(made(NO_LINKS "containers: [{name: c}]", NULL)), KUBERNETES);
    kit_reset();
}

TEST(later_variables_see_earlier_ones_and_services)
{
    CHECK_STR(MADE("env: [{name: FOO, value: bar}, {name: ZOO, value: $(FOO)-1}, {name: BLU, "
                   "value: $(ZOO)-2}, {name: HOST, value: $(KUBERNETES_SERVICE_HOST)}, {name: "
                   "LATE, value: $(LATER)}, {name: LATER, value: x}, {name: FOO, value: "
                   "$(FOO)$(FOO)}, {name: KUBERNETES_PORT, value: mine}, {name: NONE}]"),
              "FOO=barbar\nZOO=bar-1\nBLU=bar-1-2\nHOST=10.96.0.1\nLATE=$(LATER)\nLATER=x\n"
              "KUBERNETES_PORT=mine\nNONE=\n"
              "KUBERNETES_SERVICE_HOST=10.96.0.1\n"
              "KUBERNETES_SERVICE_PORT=443\n"
              "KUBERNETES_SERVICE_PORT_HTTPS=443\n"
              "KUBERNETES_PORT_443_TCP=tcp://10.96.0.1:443\n"
              "KUBERNETES_PORT_443_TCP_PROTO=tcp\n"
              "KUBERNETES_PORT_443_TCP_PORT=443\n"
              "KUBERNETES_PORT_443_TCP_ADDR=10.96.0.1\n");
    kit_reset();
}

static void use_objects(void)
{
    config_maps = kit_yaml("cm: {data: {A: one, b.c: $(A), d: ''}, binaryData: {bin: AAE=}}");
    secrets = kit_yaml("s: {data: {user: YWRt, pass: c2VjcmV0}}\n"
                       "nul: {data: {k: AA==}}\n"
                       "bad: {data: {k: '***'}}\n");
}

TEST(references_of_all_kinds)
{
    use_objects();
    CHECK_STR(
        MADE("resources: {limits: {cpu: 500m}}, env: ["
             "{name: F, valueFrom: {fieldRef: {fieldPath: status.podIP}}}, "
             "{name: R, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}, "
             "{name: C, valueFrom: {configMapKeyRef: {name: cm, key: b.c}}}, "
             "{name: S, valueFrom: {secretKeyRef: {name: s, key: user}}}, "
             "{name: X, valueFrom: {secretKeyRef: {name: s, key: gone, optional: true}}}, "
             "{name: W, valueFrom: {configMapKeyRef: {name: gone, key: gone, optional: true}}}, "
             "{name: Z, value: $(S)$(X)}]"),
        "F=10.1.0.2\nR=500\nC=$(A)\nS=adm\nZ=adm$(X)\n" KUBERNETES);
    kit_reset();
}

TEST(missing_objects_have_upstreams_texts)
{
    use_objects();
#define ONE(from) MADE("env: [{name: V, valueFrom: {" from "}}]")
    CHECK_STR(ONE("configMapKeyRef: {name: x, key: k}"), "!configmap \"x\" not found");
    CHECK_STR(ONE("secretKeyRef: {name: x, key: k}"), "!secret \"x\" not found");
    CHECK_STR(ONE("configMapKeyRef: {name: cm, key: k}"),
              "!couldn't find key k in ConfigMap shop/cm");
    CHECK_STR(ONE("configMapKeyRef: {name: cm, key: bin}"),
              "!couldn't find key bin in ConfigMap shop/cm");
    CHECK_STR(ONE("secretKeyRef: {name: s, key: k}"), "!couldn't find key k in Secret shop/s");
    CHECK_STR(ONE("fieldRef: {fieldPath: gone}"), "!unsupported fieldPath: gone");
    CHECK_STR(ONE("fileKeyRef: {path: p}"),
              "!environment variable \"V\": this source is not supported");
    CHECK_STR(MADE("envFrom: [{secretRef: {name: x}}]"), "!secret \"x\" not found");
    CHECK_STR(MADE("envFrom: [{configMapRef: {name: x, optional: true}}]"), KUBERNETES);
    CHECK_STR(ONE("secretKeyRef: {name: bad, key: k}"), "!the value of key 'k' is not base64");
    CHECK_STR(ONE("secretKeyRef: {name: nul, key: k}"),
              "!environment variable \"V\": the value contains a NUL byte");
    kit_reset();
}

TEST(all_keys_of_an_object_with_a_prefix)
{
    use_objects();
    CHECK_STR(MADE("envFrom: [{configMapRef: {name: cm}, prefix: P_}, {secretRef: {name: s}}], "
                   "env: [{name: P_A, value: $(user)-$(P_A)}]"),
              "P_A=adm-one\nP_b.c=$(A)\nP_d=\nuser=adm\npass=secret\n" KUBERNETES);
    kit_reset();
}

TEST(keys_that_are_no_names_are_skipped_and_reported)
{
    struct pod_environment env;
    use_objects();
    config_maps = kit_yaml("cm: {data: {ok: v, \"b=\": v, \"a\\x01\": v}}");
    const char *text = made(NO_LINKS "containers: [{name: c, envFrom: [{configMapRef: {name: cm}}, "
                                     "{secretRef: {name: s}, prefix: '='}]}]",
                            &env);
    CHECK_STR(str_of(text), "ok=v\n" KUBERNETES);
    CHECK_INT(env.n_warnings, 2);
    CHECK_STR(env.warnings[0],
              "Keys [a\x01, b=] from the EnvFrom configMap shop/cm were skipped since they are "
              "considered invalid environment variable names.");
    CHECK_STR(env.warnings[1],
              "Keys [=pass, =user] from the EnvFrom secret shop/s were skipped since they are "
              "considered invalid environment variable names.");
    kit_reset();
}

TEST(the_environment_is_bounded)
{
    struct buf value = BUF_INIT(2 << 20);
    for (size_t i = 0; i < 100000; i++)
        (void)buf_add_cstr(&value, "0123456789");
    struct json *data = json_new_object(&kit_arena), *object = json_new_object(&kit_arena),
                *all = json_new_object(&kit_arena);
    json_setc(&kit_arena, data, "k", json_new_str(&kit_arena, buf_str(&value)));
    json_setc(&kit_arena, object, "data", data);
    json_setc(&kit_arena, all, "big", object);
    config_maps = all;
    CHECK(str_has_prefix(
        MADE("envFrom: [{prefix: a, configMapRef: {name: big}}, {prefix: b, configMapRef: {name: "
             "big}}, {prefix: c, configMapRef: {name: big}}, {prefix: d, configMapRef: {name: "
             "big}}, {prefix: e, configMapRef: {name: big}}, {prefix: f, configMapRef: {name: "
             "big}}, {prefix: g, configMapRef: {name: big}}, {prefix: h, configMapRef: {name: "
             "big}}, {prefix: i, configMapRef: {name: big}}]"),
        STR("!the environment has more than ")));
    buf_fini(&value);
    kit_reset();
}

TEST_MAIN
