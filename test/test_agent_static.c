/* SPDX-License-Identifier: Apache-2.0 */
/* Static pods: manifests, and the directory of them. */
#include "agent/static/source.h"

#include "agent_volume_kit.h"
#include "kube/rules/rules.h"

static struct kube_registry registry;
static const struct kube_resource *pods;

static const char good[] = "apiVersion: v1\n"
                           "kind: Pod\n"
                           "metadata: {name: web, labels: {app: web}}\n"
                           "spec: {containers: [{name: c, image: 'i:1'}]}\n";

static void begin(void)
{
    kube_registry_init(&registry);
    rules_register(&registry);
    pods = kube_registry_find(&registry, STR(""), STR("v1"), STR("pods"));
    CHECK(pods);
}

static void end(void)
{
    kube_registry_fini(&registry);
    kit_reset();
}

/* ---------------------------------------------------------------- manifests */

static struct str text_at(const struct json *v, const char *path)
{
    struct str rest = str_of(path), name;
    while (rest.n) {
        (void)str_cut(rest, ':', &name, &rest);
        v = json_get(v, name);
    }
    return json_str(v);
}

static int read_text(const char *text, const char *node, struct json **ret, struct err *err)
{
    const struct static_place at = { .pods = pods,
                                     .node = str_of(node),
                                     .path = STR("/etc/manifests/a.yaml"),
                                     .wall_s = 1767225600 };
    return static_manifest_read(&kit_arena, &at, str_of(text), ret, err);
}

TEST(a_manifest_becomes_a_complete_pod)
{
    struct json *pod;
    struct err err = { 0 };
    begin();
    int r = read_text(good, "node-1", &pod, &err);
    if (r < 0)
        TEST_FAIL("%s", err_text(&err));
    CHECK_STR(text_at(pod, "metadata:name"), "web-node-1");
    CHECK_STR(text_at(pod, "metadata:namespace"), "default");
    CHECK_STR(text_at(pod, "spec:nodeName"), "node-1");
    CHECK_STR(text_at(pod, "spec:restartPolicy"), "Always"); /* a default */
    CHECK_STR(text_at(pod, "status:phase"), "Pending");
    CHECK_STR(text_at(pod, "metadata:annotations:kubernetes.io/config.source"), "file");
    CHECK_STR(text_at(pod, "metadata:annotations:kubernetes.io/config.seen"),
              "2026-01-01T00:00:00Z");
    struct str uid = text_at(pod, "metadata:uid");
    CHECK_INT(uid.n, 32);
    CHECK(str_eq(uid, text_at(pod, "metadata:annotations:kubernetes.io/config.hash")));
    const struct json *t = json_first(json_path(pod, "spec", "tolerations", NULL));
    CHECK(str_is(text_at(t, "operator"), "Exists") && str_is(text_at(t, "effect"), "NoExecute"));
    struct pod_spec spec;
    CHECK_OK(pod_spec_read(&kit_arena, pod, &spec, NULL));
    end();
}

TEST(the_uid_is_that_of_the_content_on_this_node)
{
    struct json *a, *b, *c, *d;
    begin();
    CHECK_OK(read_text(good, "n", &a, NULL));
    CHECK_OK(read_text("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"containers\":[{"
                       "\"image\":\"i:1\",\"name\":\"c\"}]},\"metadata\":{\"labels\":{\"app\":"
                       "\"web\"},\"name\":\"web\"}}",
                       "n", &b, NULL));
    CHECK_OK(read_text(good, "m", &c, NULL));
    CHECK_OK(read_text(arena_printf(&kit_arena, "%s",
                                    "apiVersion: v1\nkind: Pod\nmetadata: {name: "
                                    "web, uid: mine}\nspec: {containers: "
                                    "[{name: c, image: i}]}\n"),
                       "n", &d, NULL));
    CHECK(str_eq(text_at(a, "metadata:uid"), text_at(b, "metadata:uid")));
    CHECK(!str_eq(text_at(a, "metadata:uid"), text_at(c, "metadata:uid")));
    CHECK_STR(text_at(d, "metadata:uid"), "mine");
    end();
}

static struct str refused(const char *text)
{
    struct json *pod;
    struct err err = { 0 };
    return read_text(text, "n", &pod, &err) < 0 ? str_of(arena_printf(&kit_arena, "%s", err.text))
                                                : STR("(accepted)");
}

#define POD(spec) "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {" spec "}\n"

TEST(bad_manifests_are_refused_with_a_reason)
{
    begin();
    CHECK(str_has_prefix(refused("kind: Deployment\napiVersion: v1\n"),
                         STR("couldn't parse as pod")));
    CHECK(str_has_prefix(refused(""), STR("couldn't parse as pod")));
    CHECK(refused("a: [").n && !str_is(refused("a: ["), "(accepted)"));
    CHECK(str_has_prefix(refused(POD("containers: []")), STR("invalid pod: ")));
    CHECK(str_has_prefix(refused(POD("containers: [{name: 'A b', image: i}]")),
                         STR("invalid pod: ")));
    CHECK_STR(refused(POD("serviceAccountName: x, containers: [{name: c, image: i}]")),
              "static pods may not reference serviceaccounts");
    CHECK_STR(refused(POD("containers: [{name: c, image: i}], volumes: [{name: v, secret: "
                          "{secretName: s}}]")),
              "static pods may not reference secrets");
    end();
}

/* ---------------------------------------------------------------- the directory */

static struct {
    unsigned n_added, n_gone;
    bool is_synced, is_closed;
    char last[256], gone[64];
} seen;

static void on_added(void *arg, const struct json *pod)
{
    seen.n_added++;
    (void)snprintf(seen.last, sizeof seen.last, STR_FMT " " STR_FMT,
                   STR_ARG(text_at(pod, "metadata:name")), STR_ARG(text_at(pod, "metadata:uid")));
}
static void on_gone(void *arg, struct str uid)
{
    seen.n_gone++;
    (void)snprintf(seen.gone, sizeof seen.gone, STR_FMT, STR_ARG(uid));
}
static void on_synced(void *arg)
{
    CHECK(!seen.is_synced);
    seen.is_synced = true;
}
static void on_closed(void *arg)
{
    seen.is_closed = true;
}

static struct static_source *source_start(const char *dir)
{
    static const struct static_events events = { on_added, on_gone, on_synced };
    const struct static_source_options o = {
        .loop = &kit_loop, .dir = kit_path("%s", dir), .node = "n", .pods = pods, .events = &events
    };
    struct static_source *s;
    memset(&seen, 0, sizeof seen);
    CHECK_OK(static_source_start(&o, &s, NULL));
    CHECK(!seen.is_synced);
    return s;
}

static void source_end(struct static_source *s)
{
    static_source_close(s, on_closed, NULL);
    CHECK(!seen.is_closed);
    KIT_WAIT(seen.is_closed);
    end();
}

static void put(const char *path, const char *name, const char *image)
{
    kit_write(path, arena_printf(&kit_arena,
                                 "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: "
                                 "{containers: [{name: c, image: '%s'}]}\n",
                                 name, image));
}

TEST(files_come_change_and_go)
{
    begin();
    kit_mkdir(kit_path("files/sub"));
    put(kit_path("files/a.yaml"), "a", "i:1");
    put(kit_path("files/.hidden"), "hidden", "i");
    struct static_source *s = source_start("files");
    KIT_WAIT(seen.is_synced);
    CHECK(seen.n_added == 1 && str_has_prefix(str_of(seen.last), STR("a-n ")));
    put(kit_path("files/b.json"), "b", "i:1");
    KIT_WAIT(seen.n_added == 2);
    CHECK(str_has_prefix(str_of(seen.last), STR("b-n ")));
    char uid[64];
    (void)snprintf(uid, sizeof uid, "%s", seen.last + 4);
    put(kit_path("files/new"), "b", "i:2"); /* as editors do: write beside it, then rename */
    CHECK(rename(kit_path("files/new"), kit_path("files/b.json")) == 0);
    KIT_WAIT(seen.n_added == 3 && seen.n_gone == 1);
    CHECK_STR(str_of(seen.gone), uid);
    CHECK(!str_is(str_of(seen.last + 4), uid));
    CHECK(unlink(kit_path("files/a.yaml")) == 0);
    KIT_WAIT(seen.n_gone == 2);
    CHECK_INT(seen.n_added, 3);
    source_end(s);
}

TEST(a_bad_file_keeps_its_last_good_pod)
{
    begin();
    kit_mkdir(kit_path("bad"));
    put(kit_path("bad/a"), "a", "i:1");
    kit_write(kit_path("bad/broken"), "a: [");
    struct static_source *s = source_start("bad");
    KIT_WAIT(seen.is_synced);
    CHECK_INT(seen.n_added, 1);
    kit_write(kit_path("bad/a"), "kind: Nonsense\n");
    put(kit_path("bad/z"), "z", "i:1"); /* so that the change is known to be read */
    KIT_WAIT(seen.n_added == 2);
    CHECK_INT(seen.n_gone, 0);
    put(kit_path("bad/broken"), "c", "i:1");
    KIT_WAIT(seen.n_added == 3);
    source_end(s);
}

TEST(of_two_files_with_one_pod_the_first_counts)
{
    begin();
    kit_mkdir(kit_path("two"));
    put(kit_path("two/b"), "same", "i:b");
    struct static_source *s = source_start("two");
    KIT_WAIT(seen.n_added == 1);
    put(kit_path("two/a"), "same", "i:a");
    KIT_WAIT(seen.n_added == 2 && seen.n_gone == 1);
    CHECK(unlink(kit_path("two/a")) == 0);
    KIT_WAIT(seen.n_added == 3 && seen.n_gone == 2);
    source_end(s);
}

TEST(a_directory_that_vanishes_ends_its_pods)
{
    begin();
    kit_mkdir(kit_path("vanish"));
    put(kit_path("vanish/a"), "a", "i");
    struct static_source *s = source_start("vanish");
    KIT_WAIT(seen.n_added == 1);
    CHECK(rename(kit_path("vanish"), kit_path("vanished")) == 0);
    KIT_WAIT(seen.n_gone == 1);
    source_end(s);
}

TEST(a_source_may_end_while_it_reads)
{
    begin();
    kit_mkdir(kit_path("early"));
    put(kit_path("early/a"), "a", "i");
    struct static_source *s = source_start("early");
    source_end(s);
    CHECK_INT(seen.n_added, 0);
}

TEST(a_directory_must_exist)
{
    begin();
    const struct static_source_options o = { .loop = &kit_loop,
                                             .dir = kit_path("nowhere"),
                                             .node = "n" };
    struct static_source *s;
    CHECK_ERR(static_source_start(&o, &s, NULL), -ENOENT);
    end();
}

KIT_MAIN
