/* SPDX-License-Identifier: Apache-2.0 */
/* A Pod object as the agent reads it. */
#include "agent/pod/spec.h"
#include "test.h"

static struct arena arena;

static int read_pod(const char *text, struct pod_spec *ret, struct err *err)
{
    struct json *v;
    arena_fini(&arena);
    arena.max_bytes = POD_ARENA_MAX;
    struct arena document = { 0 };
    int r = json_parse(&document, str_of(text), NULL, &v, err);
    if (r == 0)
        r = pod_spec_read(&arena, v, ret, err);
    arena_fini(&document);
    return r;
}

static void good(const char *text, struct pod_spec *ret)
{
    struct err err = { 0 };
    int r = read_pod(text, ret, &err);
    if (r < 0)
        printf("# %s\n", err_text(&err));
    CHECK(r == 0);
}

TEST(an_empty_pod_has_the_defaults_of_the_server)
{
    struct pod_spec p;
    good("{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{"
         "\"containers\":["
         "{\"name\":\"c\",\"image\":\"i\"}]}}",
         &p);
    CHECK(str_is(p.name, "a"));
    CHECK(str_is(p.restart_policy, "Always"));
    CHECK(p.grace_s == 30 && p.deadline_s == -1 && p.deletion_grace_s == -1);
    CHECK(p.service_links && p.host_users == -1 && p.security.fs_group == -1);
    CHECK(p.n_main == 1 && p.main[0].kind == POD_CONTAINER_MAIN);
    CHECK(p.main[0].security.run_as_user == -1 && p.main[0].security.privileged == -1);
    CHECK(str_is(p.main[0].termination_path, "/dev/termination-log"));
}

TEST(containers_are_found_by_name_and_order)
{
    struct pod_spec p;
    good("{\"metadata\":{\"name\":\"a\"},\"spec\":{\"initContainers\":[{\"name\":\"i\"},"
         "{\"name\":\"s\",\"restartPolicy\":\"Always\"}],\"containers\":[{\"name\":\"m\"}],"
         "\"ephemeralContainers\":[{\"name\":\"e\",\"targetContainerName\":\"m\"}]}}",
         &p);
    CHECK(!p.init[0].is_sidecar && p.init[1].is_sidecar);
    CHECK(str_is(pod_spec_at(&p, 2)->name, "m"));
    CHECK(pod_spec_at(&p, 3)->kind == POD_CONTAINER_EPHEMERAL);
    CHECK(!pod_spec_at(&p, 4));
    CHECK(str_is(pod_spec_container(&p, STR("e"))->target, "m"));
    CHECK(!pod_spec_container(&p, STR("x")));
}

TEST(volumes_have_their_kind_and_sources)
{
    struct pod_spec p;
    good(
        "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"volumes\":["
        "{\"name\":\"e\",\"emptyDir\":{\"medium\":\"Memory\",\"sizeLimit\":\"1Mi\"}},"
        "{\"name\":\"c\",\"configMap\":{\"name\":\"x\",\"defaultMode\":256,\"items\":[{\"key\":"
        "\"k\",\"path\":"
        "\"p\",\"mode\":1}]}},"
        "{\"name\":\"s\",\"secret\":{\"secretName\":\"y\",\"optional\":true}},"
        "{\"name\":\"p\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"path\":\"t\"}},"
        "{\"downwardAPI\":{\"items\":[{\"path\":\"l\",\"fieldRef\":{\"fieldPath\":\"metadata."
        "labels\"}},"
        "{\"path\":\"m\",\"resourceFieldRef\":{\"containerName\":\"c\",\"resource\":\"limits.cpu\","
        "\"divisor\":1}}]}}]}},"
        "{\"name\":\"n\",\"nfs\":{\"server\":\"x\"}}]}}",
        &p);
    CHECK(p.volumes[0].kind == POD_VOLUME_EMPTY_DIR && p.volumes[0].in_memory);
    CHECK(str_is(p.volumes[0].size_limit, "1Mi"));
    const struct pod_volume *c = pod_spec_volume(&p, STR("c"));
    CHECK(c->kind == POD_VOLUME_CONFIG_MAP && c->default_mode == 0400 && c->n_sources == 1);
    CHECK(str_is(c->sources[0].name, "x"));
    CHECK(c->sources[0].items[0].mode == 1);
    CHECK(str_is(c->kind_name, "configMap"));
    CHECK(p.volumes[2].sources[0].is_optional);
    CHECK(str_is(p.volumes[2].sources[0].name, "y"));
    const struct pod_volume *projected = &p.volumes[3];
    CHECK(projected->n_sources == 2 && projected->default_mode == 0644);
    CHECK(projected->sources[0].kind == POD_PROJECTED_TOKEN);
    CHECK(projected->sources[0].expiration_s == 3600);
    CHECK(projected->sources[1].items[0].mode == -1);
    CHECK(str_is(projected->sources[1].items[0].field_path, "metadata.labels"));
    CHECK(str_is(projected->sources[1].items[1].resource_divisor, "1"));
    CHECK(p.volumes[4].kind == POD_VOLUME_UNKNOWN);
    CHECK(str_is(p.volumes[4].kind_name, "nfs"));
}

TEST(probes_and_handlers_have_one_action)
{
    struct pod_spec p;
    good("{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":\"m\","
         "\"livenessProbe\":{"
         "\"httpGet\":{\"path\":\"/"
         "x\",\"port\":\"web\",\"httpHeaders\":[{\"name\":\"A\",\"value\":\"b\"}]},"
         "\"periodSeconds\":3,\"failureThreshold\":2},\"startupProbe\":{\"grpc\":{\"port\":9,"
         "\"service\":\"s\"}},"
         "\"lifecycle\":{\"preStop\":{\"exec\":{\"command\":[\"a\",\"b\"]}},\"postStart\":{"
         "\"sleep\":"
         "{\"seconds\":4}},\"stopSignal\":\"SIGINT\"}}]}}",
         &p);
    const struct pod_container *c = &p.main[0];
    CHECK(c->liveness->action.kind == POD_ACTION_HTTP && c->liveness->period_s == 3);
    CHECK(c->liveness->timeout_s == 1 && c->liveness->failure_threshold == 2);
    CHECK(str_is(c->liveness->action.port.name, "web"));
    CHECK(str_is(c->liveness->action.headers[0].value, "b"));
    CHECK(c->startup->action.kind == POD_ACTION_GRPC && c->startup->action.port.number == 9);
    CHECK(!c->readiness);
    CHECK(c->pre_stop.kind == POD_ACTION_EXEC && c->pre_stop.n_command == 2);
    CHECK(c->post_start.kind == POD_ACTION_SLEEP && c->post_start.sleep_s == 4);
    CHECK(str_is(c->stop_signal, "SIGINT"));
}

TEST(environment_and_security)
{
    struct pod_spec p;
    good("{\"metadata\":{\"name\":\"a\",\"annotations\":{\"kubernetes.io/"
         "config.mirror\":\"h\"}},\"spec\":{"
         "\"securityContext\":{\"fsGroup\":7,\"supplementalGroups\":[1,2],\"sysctls\":[{\"name\":"
         "\"a\",\"value\":"
         "\"1\"}]},\"readinessGates\":[{\"conditionType\":\"g\"}],\"imagePullSecrets\":[{\"name\":"
         "\"s\"}],"
         "\"containers\":[{\"name\":\"m\",\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":"
         "\"B\",\"valueFrom\":"
         "{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"k\"}}}],\"resources\":{\"limits\":{\"cpu\":"
         "\"1\","
         "\"memory\":1024}},\"securityContext\":{\"privileged\":false,\"capabilities\":{\"drop\":["
         "\"ALL\"]}}}]}}",
         &p);
    CHECK(p.is_mirror);
    CHECK(p.security.fs_group == 7 && p.security.n_groups == 2 && p.security.groups[1] == 2);
    CHECK(str_is(p.security.sysctls[0].value, "1"));
    CHECK(str_is(p.readiness_gates[0], "g"));
    CHECK(str_is(p.pull_secrets[0], "s"));
    const struct pod_container *c = &p.main[0];
    CHECK(!c->env[0].has_value_from && c->env[1].has_value_from);
    CHECK(str_is(c->env[1].secret, "s"));
    CHECK(str_is(c->resources.limits[1].text, "1024"));
    CHECK(c->security.privileged == 0 && c->security.read_only_root == -1);
    CHECK(str_is(c->security.cap_drop[0], "ALL"));
}

TEST(what_is_wrong_is_named_by_its_path)
{
    struct pod_spec p;
    struct err err = { 0 };
    CHECK(
        read_pod(
            "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":\"m\",\"ports\":[{"
            "\"containerPort\":99999}]}]}}",
            &p, &err) == E_INVALID);
    CHECK(strstr(err_text(&err), "spec.containers[0].ports[0].containerPort"));
    CHECK(read_pod("{\"spec\":{}}", &p, &err) == E_INVALID);
    CHECK(read_pod("{\"metadata\":{},\"spec\":{}}", &p, &err) == E_INVALID);
}

TEST_MAIN
