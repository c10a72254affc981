/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes of a pod from start to end. */
#include "agent_volume_kit.h"
#include "base/clock.h"

#define ONE "containers: [{name: c}], volumes: "

/* ---------------------------------------------------------------- emptyDir, hostPath */

TEST(an_empty_dir_is_made_kept_over_a_restart_and_removed)
{
    kit_host_new(true);
    const struct pod_spec *spec = kit_spec("u", ONE "[{name: e, emptyDir: {}}]");
    struct volume_pod *p = kit_ready(spec);
    CHECK_INT(kit_stat(KIT_VOLUME("empty-dir/e")).st_mode & 07777, 0777);
    CHECK_INT(kit_stat(kit_path("pods/u")).st_mode & 07777, 0750);
    kit_write(KIT_VOLUME("empty-dir/e/file"), "x");
    CHECK(chmod(KIT_VOLUME("empty-dir/e"), 0700) == 0); /* as some programs do */
    kit_close(p, VOLUME_POD_KEEP);
    p = kit_ready(spec);
    CHECK_STR(kit_read(KIT_VOLUME("empty-dir/e/file")), "x");
    CHECK_INT(kit_stat(KIT_VOLUME("empty-dir/e")).st_mode & 07777, 0700);
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK(!kit_exists(kit_path("pods/u")) && kit_exists(kit_path("pods")));
    kit_host_free();
}

TEST(a_pod_without_volumes_becomes_ready)
{
    kit_host_new(true);
    struct volume_pod *p = kit_ready(kit_spec("u", "containers: [{name: c}]"));
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(an_empty_dir_belongs_to_the_group_of_the_pod)
{
    if (geteuid() != 0)
        SKIP("other groups need root");
    kit_host_new(true);
    struct volume_pod *p = kit_ready(
        kit_spec("u", "securityContext: {fsGroup: 1234}, " ONE "[{name: e, emptyDir: {}}]"));
    struct stat st = kit_stat(KIT_VOLUME("empty-dir/e"));
    CHECK(st.st_gid == 1234 && (st.st_mode & 07777) == 02777);
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(an_empty_dir_in_memory_has_the_smallest_limit)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    static const struct {
        const char *volume, *memory;
        unsigned mib;
    } cases[] = { { "", "", 64 }, /* the node's allocatable memory */
                  { ", sizeLimit: 8Mi", "", 8 },
                  { ", sizeLimit: 800Mi", "", 64 },
                  { ", sizeLimit: 8Mi", "resources: {limits: {memory: 4Mi}}", 4 } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        kit_host_new(false);
        struct volume_pod *p = kit_ready(kit_spec(
            "u", arena_printf(&kit_arena,
                              "securityContext: {fsGroup: 77}, containers: [{name: c, %s}], "
                              "volumes: [{name: m, emptyDir: {medium: Memory%s}}]",
                              cases[i].memory, cases[i].volume)));
        struct statfs fs;
        const char *path = KIT_VOLUME("empty-dir/m");
        CHECK(statfs(path, &fs) == 0 && kit_is_tmpfs(path));
        CHECK_INT((uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize, (uint64_t)cases[i].mib << 20);
        struct stat st = kit_stat(path);
        CHECK(st.st_gid == 77 && (st.st_mode & 07777) == 03777);
        kit_write(KIT_VOLUME("empty-dir/m/file"), "x");
        kit_close(p, VOLUME_POD_KEEP);
        p = kit_ready(kit_spec("u", ONE "[{name: m, emptyDir: {medium: Memory}}]"));
        CHECK_STR(kit_read(KIT_VOLUME("empty-dir/m/file")), "x"); /* not mounted again */
        kit_close(p, VOLUME_POD_REMOVE);
        CHECK(!kit_exists(kit_path("pods/u")));
        kit_host_free();
    }
}

TEST(host_paths_are_checked_by_type)
{
    struct {
        const char *type, *path;
        bool is_good;
    } cases[] = {
        { "", "none", true },
        { "Directory", "dir", true },
        { "Directory", "file", false },
        { "Directory", "none", false },
        { "DirectoryOrCreate", "new/dir", true },
        { "DirectoryOrCreate", "file", false },
        { "File", "file", true },
        { "File", "dir", false },
        { "FileOrCreate", "newfile", true },
        { "FileOrCreate", "no/parent", false },
        { "Socket", "file", false },
        { "CharDevice", "file", false },
        { "BlockDevice", "dir", false },
        { "Bogus", "dir", false },
    };
    kit_host_new(true);
    kit_mkdir(kit_path("host/dir"));
    kit_write(kit_path("host/file"), "x");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct volume_pod *p = kit_started(kit_spec(
            "u", arena_printf(&kit_arena, ONE "[{name: h, hostPath: {path: %s/%s, type: '%s'}}]",
                              kit_path("host"), cases[i].path, cases[i].type)));
        if ((volume_pod_at(p) == VOLUME_POD_READY) != cases[i].is_good)
            TEST_FAIL("type %s of %s", cases[i].type, cases[i].path);
        kit_close(p, VOLUME_POD_REMOVE);
    }
    CHECK(S_ISDIR(kit_stat(kit_path("host/new/dir")).st_mode));
    CHECK(S_ISREG(kit_stat(kit_path("host/newfile")).st_mode));
    struct volume_pod *p = kit_started(
        kit_spec("u", arena_printf(&kit_arena, ONE "[{name: h, hostPath: {path: %s, type: File}}]",
                                   kit_path("host/dir"))));
    CHECK_STR(str_of(volume_pod_problem(p)->text),
              arena_printf(&kit_arena,
                           "MountVolume.SetUp failed for volume \"h\" : hostPath type check "
                           "failed: %s is not a file",
                           kit_path("host/dir")));
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(unknown_kinds_and_media_are_problems)
{
    kit_host_new(true);
    struct volume_pod *p = kit_started(kit_spec("u", ONE "[{name: x, csi: {driver: d}}]"));
    CHECK(strstr(volume_pod_problem(p)->text, "\"x\" : no volume plugin matched: csi"));
    kit_close(p, VOLUME_POD_REMOVE);
    p = kit_started(kit_spec("u", ONE "[{name: x, emptyDir: {medium: HugePages}}]"));
    CHECK(strstr(volume_pod_problem(p)->text, "unknown storage medium \"HugePages\""));
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

/* ---------------------------------------------------------------- ConfigMaps and Secrets */

TEST(keys_and_items_of_a_config_map)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {data: {a: one, b: two}, binaryData: {bin: AAEC}}");
    struct volume_pod *p = kit_ready(
        kit_spec("u", ONE "[{name: all, configMap: {name: cm, defaultMode: 0600}}, {name: some, "
                          "configMap: {name: cm, items: [{key: b, path: x/y, mode: 0400}]}}]"));
    CHECK_STR(kit_read(KIT_VOLUME("configmap/all/a")), "one");
    CHECK_INT(kit_read(KIT_VOLUME("configmap/all/bin")).n, 3);
    CHECK_INT(kit_stat(KIT_VOLUME("configmap/all/..data/a")).st_mode & 07777, 0600);
    CHECK_STR(kit_read(KIT_VOLUME("configmap/some/x/y")), "two");
    CHECK_INT(kit_stat(KIT_VOLUME("configmap/some/..data/x/y")).st_mode & 07777, 0400);
    CHECK(!kit_exists(KIT_VOLUME("configmap/some/a")));
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(a_missing_config_map_is_waited_for)
{
    kit_host_new(true);
    const struct pod_spec *spec = kit_spec("u", ONE "[{name: v, configMap: {name: cm}}]");
    struct volume_pod *p = kit_started(spec);
    CHECK(volume_pod_at(p) == VOLUME_POD_PREPARING);
    CHECK_STR(str_of(volume_pod_problem(p)->text),
              "MountVolume.SetUp failed for volume \"v\" : configmap \"cm\" not found");
    /* Tried again by time alone, later each time. */
    uint64_t due = loop_next_timer_ms(&kit_loop) - loop_now_ms(&kit_loop);
    CHECK(due <= VOLUME_RETRY_MIN_MS);
    loop_skip(&kit_loop, VOLUME_RETRY_MIN_MS);
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&kit_loop, false);
    CHECK_INT(kit_n_changes, 1); /* the same problem is not reported again */
    due = loop_next_timer_ms(&kit_loop) - loop_now_ms(&kit_loop);
    CHECK(due > VOLUME_RETRY_MIN_MS && due <= 2 * VOLUME_RETRY_MIN_MS);
    /* Or when the caller knows more. */
    kit_config_maps = kit_yaml("cm: {data: {a: one}}");
    volume_pod_update(p, spec, &kit_facts);
    KIT_WAIT(volume_pod_at(p) == VOLUME_POD_READY);
    CHECK_INT(volume_pod_problem(p)->code, 0);
    CHECK_STR(kit_read(KIT_VOLUME("configmap/v/a")), "one");
    CHECK(loop_next_timer_ms(&kit_loop) == UINT64_MAX);
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

static const char *problem_of(const char *volume)
{
    struct volume_pod *p =
        kit_started(kit_spec("u", arena_printf(&kit_arena, ONE "[{name: v, %s}]", volume)));
    const char *text = volume_pod_problem(p)->text, *prefix = "MountVolume.SetUp failed for volume "
                                                              "\"v\" : ";
    text = arena_printf(&kit_arena, "%s",
                        strncmp(text, prefix, strlen(prefix)) == 0 ? text + strlen(prefix) : text);
    kit_close(p, VOLUME_POD_REMOVE);
    return text;
}

TEST(problems_of_sources_have_upstreams_texts)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {data: {a: one}}");
    kit_secrets = kit_yaml("s: {data: {a: b25l}}");
#define PROBLEM(volume, text) CHECK_STR(str_of(problem_of(volume)), text)
    PROBLEM("secret: {secretName: x}", "secret \"x\" not found");
    PROBLEM("secret: {secretName: x, optional: true}", "");
    PROBLEM("configMap: {name: cm, items: [{key: k, path: p}]}",
            "configmap references non-existent config key: k");
    PROBLEM("configMap: {name: cm, optional: true, items: [{key: k, path: p}]}", "");
    PROBLEM("secret: {secretName: s, items: [{key: k, path: p}]}",
            "references non-existent secret key: k");
    PROBLEM("configMap: {name: cm, items: [{key: a, path: ../p}]}",
            "invalid path: must not contain '..': ../p");
    PROBLEM("projected: {sources: [{clusterTrustBundle: {path: p}}]}",
            "clusterTrustBundle projection is not supported by this node");
    PROBLEM("downwardAPI: {items: [{path: p, fieldRef: {fieldPath: spec.x}}]}",
            "unsupported fieldPath: spec.x");
    PROBLEM("downwardAPI: {items: [{path: p, resourceFieldRef: {resource: limits.cpu, "
            "containerName: z}}]}",
            "container z not found");
    kit_host_free();
}

TEST(updates_of_objects_and_labels_appear)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {data: {a: one}}");
    const char *volumes = ONE
        "[{name: v, configMap: {name: cm}}, {name: d, downwardAPI: {items: [{path: labels, "
        "fieldRef: {fieldPath: metadata.labels}}, {path: cpu, resourceFieldRef: {containerName: "
        "c, resource: limits.cpu, divisor: 1m}}]}}]";
    const struct pod_spec *spec = kit_spec("u", volumes);
    struct volume_pod *p = kit_ready(spec);
    CHECK_STR(kit_read(KIT_VOLUME("downward-api/d/labels")), "app=\"web\"");
    CHECK_STR(kit_read(KIT_VOLUME("downward-api/d/cpu")), "1000");
    ino_t before = kit_stat(KIT_VOLUME("configmap/v/..data")).st_ino;
    kit_config_maps = kit_yaml("cm: {data: {a: two, b: more}}");
    const struct pod_spec *next = kit_pod(arena_printf(
        &kit_arena,
        "{metadata: {name: web, namespace: shop, uid: u, labels: {app: new}}, spec: {%s}}",
        volumes));
    volume_pod_update(p, next, &kit_facts);
    KIT_WAIT(str_is(kit_read(KIT_VOLUME("downward-api/d/labels")), "app=\"new\""));
    CHECK_STR(kit_read(KIT_VOLUME("configmap/v/a")), "two");
    CHECK_STR(kit_read(KIT_VOLUME("configmap/v/b")), "more");
    CHECK(kit_stat(KIT_VOLUME("configmap/v/..data")).st_ino != before);
    /* Nothing changed: nothing is written. A deleted object is a problem, but the files stay. */
    before = kit_stat(KIT_VOLUME("configmap/v/..data")).st_ino;
    kit_config_maps = NULL;
    kit_n_changes = 0;
    volume_pod_update(p, next, &kit_facts);
    KIT_WAIT(kit_n_changes);
    CHECK(volume_pod_at(p) == VOLUME_POD_READY && volume_pod_problem(p)->code == -ENOENT);
    CHECK_STR(kit_read(KIT_VOLUME("configmap/v/a")), "two");
    CHECK(kit_stat(KIT_VOLUME("configmap/v/..data")).st_ino == before);
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

/* By its version alone: the content is not looked at. */
TEST(an_object_of_the_same_version_is_not_read_again)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {metadata: {resourceVersion: '7'}, data: {a: one}}");
    const struct pod_spec *spec = kit_spec("u", ONE "[{name: v, configMap: {name: cm}}]");
    struct volume_pod *p = kit_ready(spec);
    kit_config_maps = kit_yaml("cm: {metadata: {resourceVersion: '7'}, data: {a: two}}");
    volume_pod_update(p, spec, &kit_facts);
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&kit_loop, false);
    CHECK_STR(kit_read(KIT_VOLUME("configmap/v/a")), "one");
    kit_config_maps = kit_yaml("cm: {metadata: {resourceVersion: '8'}, data: {a: two}}");
    volume_pod_update(p, spec, &kit_facts);
    KIT_WAIT(str_is(kit_read(KIT_VOLUME("configmap/v/a")), "two"));
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(secrets_lie_in_memory)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    kit_host_new(false);
    kit_secrets = kit_yaml("s: {data: {user: YWRt}}");
    const struct pod_spec *spec =
        kit_spec("u", "securityContext: {fsGroup: 55}, " ONE "[{name: s, secret: {secretName: s}}, "
                      "{name: e, emptyDir: {}}]");
    struct volume_pod *p = kit_ready(spec);
    CHECK(kit_is_tmpfs(KIT_VOLUME("secret/s")) && !kit_is_tmpfs(KIT_VOLUME("empty-dir/e")));
    CHECK_STR(kit_read(KIT_VOLUME("secret/s/user")), "adm");
    struct stat st = kit_stat(KIT_VOLUME("secret/s/..data/user"));
    CHECK(st.st_gid == 55 && (st.st_mode & 07777) == 0644);
    kit_close(p, VOLUME_POD_KEEP);
    CHECK_STR(kit_read(KIT_VOLUME("secret/s/user")), "adm");
    p = kit_ready(spec); /* adopted: one mount */
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK(!kit_exists(kit_path("pods/u")));
    kit_host_free();
}

TEST(a_volume_of_objects_is_bounded)
{
    kit_host_new(true);
    struct buf bytes = BUF_INIT(VOLUME_PAYLOAD_MAX);
    char *at;
    CHECK_OK(buf_reserve(&bytes, VOLUME_PAYLOAD_MAX / 2, &at));
    memset(at, 'x', VOLUME_PAYLOAD_MAX / 2);
    buf_advance(&bytes, VOLUME_PAYLOAD_MAX / 2);
    struct json *data = json_new_object(&kit_arena), *object = json_new_object(&kit_arena),
                *all = json_new_object(&kit_arena);
    json_setc(&kit_arena, data, "a", json_new_str(&kit_arena, buf_str(&bytes)));
    json_setc(&kit_arena, object, "data", data);
    json_setc(&kit_arena, all, "cm", object);
    kit_config_maps = all;
    const char *text =
        problem_of("projected: {sources: [{configMap: {name: cm}}, {configMap: {name: cm, items: "
                   "[{key: a, path: b}, {key: a, path: c}]}}]}");
    CHECK(strstr(text, "the volume has more than "));
    buf_fini(&bytes);
    kit_host_free();
}

/* ---------------------------------------------------------------- tokens */

/* Files of other users need root. */
static unsigned token_user(void)
{
    return geteuid() == 0 ? 1000 : geteuid();
}

static const struct pod_spec *token_spec(void)
{
    return kit_spec(
        "u", arena_printf(
                 &kit_arena,
                 "serviceAccountName: robot, securityContext: {runAsUser: %u}, " ONE
                 "[{name: t, projected: {defaultMode: 0644, sources: [{serviceAccountToken: {path: "
                 "token, audience: vault, expirationSeconds: 600}}, {configMap: {name: cm}}, "
                 "{downwardAPI: {items: [{path: namespace, fieldRef: {fieldPath: "
                 "metadata.namespace}}]}}]}}]",
                 token_user()));
}

static void answer(const char *token, int64_t life_s)
{
    struct volume_token *t = kit_supplied.asked;
    kit_supplied.asked = NULL;
    volume_token_done(t, 0, str_of(token), clock_wall_ms() + life_s * 1000, NULL);
}

TEST(a_token_is_asked_for_and_renewed)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {data: {ca.crt: CERT}}");
    struct volume_pod *p = kit_start(token_spec());
    KIT_WAIT(kit_supplied.asked);
    const struct volume_token *t = kit_supplied.asked;
    CHECK(str_is(t->namespace, "shop") && str_is(t->service_account, "robot"));
    CHECK(str_is(t->pod_name, "web") && str_is(t->pod_uid, "u") && str_is(t->audience, "vault"));
    CHECK_INT(t->expiration_s, 600);
    answer("t1", 600);
    CHECK(volume_pod_at(p) == VOLUME_POD_PREPARING);
    KIT_WAIT(volume_pod_at(p) == VOLUME_POD_READY);
    CHECK_STR(kit_read(KIT_VOLUME("projected/t/token")), "t1");
    CHECK_STR(kit_read(KIT_VOLUME("projected/t/ca.crt")), "CERT");
    CHECK_STR(kit_read(KIT_VOLUME("projected/t/namespace")), "shop");
    struct stat st = kit_stat(KIT_VOLUME("projected/t/..data/token"));
    CHECK_INT(st.st_mode & 07777, 0600);
    CHECK_INT(st.st_uid, token_user());
    uint64_t due = loop_next_timer_ms(&kit_loop) - loop_now_ms(&kit_loop);
    CHECK(due <= 480000 && due > 240000); /* the token's life began when it was answered */
    loop_skip(&kit_loop, 480000);
    KIT_WAIT(kit_supplied.asked);
    CHECK_INT(kit_supplied.n_asked, 2);
    answer("t2", 600);
    KIT_WAIT(str_is(kit_read(KIT_VOLUME("projected/t/token")), "t2"));
    KIT_WAIT(loop_next_timer_ms(&kit_loop) != UINT64_MAX);
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(a_long_lived_token_is_renewed_daily)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {data: {}}");
    struct volume_pod *p = kit_start(token_spec());
    KIT_WAIT(kit_supplied.asked);
    answer("t1", 365 * 86400);
    KIT_WAIT(volume_pod_at(p) == VOLUME_POD_READY);
    uint64_t due = loop_next_timer_ms(&kit_loop) - loop_now_ms(&kit_loop);
    CHECK(due <= 86400000 && due > 43200000);
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(a_token_that_cannot_be_renewed_stays_until_it_expires)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {data: {}}");
    kit_supplied.token_result = -ECONNREFUSED;
    struct volume_pod *p = kit_started(token_spec());
    CHECK(strstr(volume_pod_problem(p)->text, "failed to fetch token: no server"));
    kit_supplied.token_result = 0;
    loop_skip(&kit_loop, VOLUME_RETRY_MIN_MS);
    KIT_WAIT(kit_supplied.asked);
    answer("t1", 600);
    KIT_WAIT(volume_pod_at(p) == VOLUME_POD_READY);
    CHECK_INT(volume_pod_problem(p)->code, 0);
    kit_supplied.token_result = -ECONNREFUSED;
    unsigned before = kit_supplied.n_asked;
    loop_skip(&kit_loop, 480000);
    KIT_WAIT(kit_supplied.n_asked > before);
    (void)loop_turn(&kit_loop, false);
    CHECK_INT(volume_pod_problem(p)->code, 0); /* t1 is still valid */
    loop_skip(&kit_loop, 130000);
    KIT_WAIT(volume_pod_problem(p)->code);
    CHECK(volume_pod_at(p) == VOLUME_POD_READY);
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(a_pod_may_end_while_a_token_is_asked_for)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {data: {}}");
    struct volume_pod *p = kit_start(token_spec());
    KIT_WAIT(kit_supplied.asked);
    kit_close(p, VOLUME_POD_REMOVE);
    answer("late", 600);
    kit_host_free();
}

/* ---------------------------------------------------------------- claims and images */

TEST(a_claim_is_waited_for_and_gets_the_group_of_the_pod_once)
{
    if (geteuid() != 0)
        SKIP("other groups need root");
    kit_host_new(true);
    kit_mkdir(kit_path("pv/sub"));
    kit_write(kit_path("pv/sub/file"), "precious");
    kit_supplied.claim_result = -EAGAIN;
    const struct pod_spec *spec =
        kit_spec("u", "securityContext: {fsGroup: 3000}, " ONE
                      "[{name: v, persistentVolumeClaim: {claimName: data}}]");
    struct volume_pod *p = kit_started(spec);
    CHECK(strstr(volume_pod_problem(p)->text, "claim \"data\" is not bound"));
    kit_supplied.claim_result = 0;
    kit_supplied.claim = (struct volume_claim){ .path = str_of(kit_path("pv")), .is_local = true };
    volume_pod_update(p, spec, &kit_facts);
    KIT_WAIT(volume_pod_at(p) == VOLUME_POD_READY);
    struct stat st = kit_stat(kit_path("pv/sub/file"));
    CHECK(st.st_gid == 3000 && (st.st_mode & 0777) == 0664);
    /* A second pod leaves the group as it is while the first one runs. */
    struct volume_pod *q =
        kit_ready(kit_spec("u2", "securityContext: {fsGroup: 4000}, " ONE
                                 "[{name: v, persistentVolumeClaim: {claimName: data}}]"));
    CHECK_INT(kit_stat(kit_path("pv/sub/file")).st_gid, 3000);
    kit_close(q, VOLUME_POD_REMOVE);
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK_STR(kit_read(kit_path("pv/sub/file")), "precious");
    /* OnRootMismatch looks at the directory alone. */
    CHECK(chown(kit_path("pv/sub/file"), 0, 0) == 0);
    p = kit_ready(
        kit_spec("u", "securityContext: {fsGroup: 3000, fsGroupChangePolicy: OnRootMismatch}, " ONE
                      "[{name: v, persistentVolumeClaim: {claimName: data}}]"));
    CHECK_INT(kit_stat(kit_path("pv/sub/file")).st_gid, 0);
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(an_image_is_waited_for)
{
    kit_host_new(true);
    const struct pod_spec *spec =
        kit_spec("u", ONE "[{name: i, image: {reference: 'r/x:1'}}, {name: e, emptyDir: {}}]");
    struct volume_pod *p = kit_started(spec);
    CHECK(strstr(volume_pod_problem(p)->text, "pulling \"r/x:1\""));
    CHECK(kit_exists(KIT_VOLUME("empty-dir/e"))); /* others do not wait */
    kit_supplied.image = kit_path("image");
    volume_pod_update(p, spec, &kit_facts);
    KIT_WAIT(volume_pod_at(p) == VOLUME_POD_READY);
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

/* ---------------------------------------------------------------- ends */

TEST(a_pod_may_end_at_any_time)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {data: {a: one}}");
    for (int turns = 0; turns < 6; turns++) {
        struct volume_pod *p = kit_start(kit_spec(
            "u", ONE "[{name: v, configMap: {name: cm}}, {name: w, configMap: {name: gone}}]"));
        for (int i = 0; i < turns; i++)
            (void)loop_turn(&kit_loop, false);
        kit_close(p, VOLUME_POD_REMOVE);
        CHECK(!kit_exists(kit_path("pods/u")));
    }
    kit_host_free();
}

TEST(a_removal_that_fails_is_tried_again_until_the_agent_ends)
{
    kit_host_new(true);
    struct volume_pod *p = kit_ready(kit_spec("u", ONE "[{name: e, emptyDir: {}}]"));
    kit_write(KIT_VOLUME("empty-dir/e/file"), "x");
    sys_fail_nth(SYS_UNLINKAT, 1, EIO);
    kit_n_closed = 0;
    volume_pod_close(p, VOLUME_POD_REMOVE, kit_on_closed, NULL);
    KIT_WAIT(loop_next_timer_ms(&kit_loop) != UINT64_MAX);
    CHECK(kit_n_closed == 0 && kit_exists(KIT_VOLUME("empty-dir/e/file")));
    sys_fail_nth(SYS_UNLINKAT, 1, EIO);
    loop_skip(&kit_loop, VOLUME_RETRY_MIN_MS);
    KIT_WAIT(sys_call_count(SYS_UNLINKAT) > 0);
    KIT_WAIT(loop_next_timer_ms(&kit_loop) != UINT64_MAX);
    sys_fail_nth(SYS_UNLINKAT, 0, 0);
    volume_host_stop_removing(kit_host);
    KIT_WAIT(kit_n_closed);
    CHECK(kit_exists(KIT_VOLUME("empty-dir/e/file")));
    /* And without the end of the agent the second attempt succeeds. */
    p = kit_ready(kit_spec("u", ONE "[{name: e, emptyDir: {}}]"));
    sys_fail_nth(SYS_UNLINKAT, 1, EIO);
    kit_n_closed = 0;
    volume_pod_close(p, VOLUME_POD_REMOVE, kit_on_closed, NULL);
    KIT_WAIT(loop_next_timer_ms(&kit_loop) != UINT64_MAX);
    sys_fail_nth(SYS_UNLINKAT, 0, 0);
    loop_skip(&kit_loop, VOLUME_RETRY_MIN_MS);
    KIT_WAIT(kit_n_closed);
    CHECK(!kit_exists(kit_path("pods/u")));
    kit_host_free();
}

static void close_inside(struct volume_pod *p, void *arg)
{
    volume_pod_close(p, VOLUME_POD_REMOVE, kit_on_closed, NULL);
}

TEST(a_pod_may_end_inside_its_callback)
{
    struct volume_pod *p;
    kit_host_new(true);
    kit_n_closed = 0;
    CHECK_OK(volume_pod_start(kit_host, kit_spec("u", ONE "[{name: e, emptyDir: {}}]"), &kit_facts,
                              close_inside, NULL, &p, NULL));
    KIT_WAIT(kit_n_closed);
    kit_host_free();
}

TEST(names_that_are_no_file_names_are_refused)
{
    struct volume_pod *p;
    kit_host_new(true);
    CHECK_ERR(volume_pod_start(kit_host, kit_spec("'../x'", "containers: []"), &kit_facts, NULL,
                               NULL, &p, NULL),
              E_INVALID);
    CHECK_ERR(volume_pod_start(kit_host, kit_spec("u", ONE "[{name: ../../x, emptyDir: {}}]"),
                               &kit_facts, NULL, NULL, &p, NULL),
              E_INVALID);
    CHECK_ERR(volume_pod_start(kit_host, kit_spec("u", ONE "[{name: .., emptyDir: {}}]"),
                               &kit_facts, NULL, NULL, &p, NULL),
              E_INVALID);
    struct volume_pod *first = kit_ready(kit_spec("u", "containers: [{name: c}]"));
    CHECK_ERR(volume_pod_start(kit_host, kit_spec("u", "containers: [{name: c}]"), &kit_facts, NULL,
                               NULL, &p, NULL),
              -EEXIST);
    kit_close(first, VOLUME_POD_KEEP);
    kit_host_free();
}

/* Files of the host and of a privileged container's mounts survive whatever the pod leaves. */
TEST(removal_never_reaches_files_of_the_host)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    kit_host_new(false);
    kit_mkdir(kit_path("precious/dir"));
    kit_write(kit_path("precious/file"), "x");
    kit_write(kit_path("precious/dir/file"), "y");
    struct volume_pod *p = kit_ready(
        kit_spec("u", arena_printf(&kit_arena,
                                   ONE "[{name: h, hostPath: {path: %s}}, {name: e, emptyDir: {}}]",
                                   kit_path("precious"))));
    /* Links, a mount that came with bidirectional propagation, one over the volume itself. */
    CHECK(symlink(kit_path("precious"), KIT_VOLUME("empty-dir/e/link")) == 0);
    kit_mkdir(KIT_VOLUME("empty-dir/e/inner"));
    CHECK(mount(kit_path("precious"), KIT_VOLUME("empty-dir/e/inner"), NULL, MS_BIND, NULL) == 0);
    kit_mkdir(kit_path("pods/u/containers/c"));
    CHECK(mount(kit_path("precious"), kit_path("pods/u/containers"), NULL, MS_BIND, NULL) == 0);
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK(!kit_exists(kit_path("pods/u")));
    CHECK_STR(kit_read(kit_path("precious/file")), "x");
    CHECK_STR(kit_read(kit_path("precious/dir/file")), "y");
    kit_host_free();
}

/* ---------------------------------------------------------------- orphans */

static size_t orphans;
static bool orphans_done;
static void on_orphans(void *arg, size_t n, const struct err *err)
{
    orphans = n;
    orphans_done = true;
}
static bool is_known(void *arg, struct str uid)
{
    return str_is(uid, "known");
}

TEST(rests_of_unknown_pods_are_removed)
{
    kit_host_new(!kit_can_mount);
    kit_mkdir(kit_path("precious/dir"));
    kit_write(kit_path("precious/dir/file"), "y");
    kit_mkdir(kit_path("pods/old-1/volumes/kubernetes.io~empty-dir/e"));
    kit_mkdir(kit_path("pods/old-2"));
    kit_mkdir(kit_path("pods/known"));
    kit_mkdir(kit_path("pods/lost+found"));
    CHECK(symlink(kit_path("precious"), kit_path("pods/link")) == 0);
    if (kit_can_mount)
        CHECK(mount(kit_path("precious"), kit_path("pods/old-1/volumes/kubernetes.io~empty-dir/e"),
                    NULL, MS_BIND, NULL) == 0);
    struct volume_pod *p = kit_ready(kit_spec("u", ONE "[{name: e, emptyDir: {}}]"));
    orphans_done = false;
    CHECK_OK(volume_orphans_start(kit_host, is_known, on_orphans, NULL, NULL));
    CHECK_ERR(volume_orphans_start(kit_host, is_known, on_orphans, NULL, NULL), -EBUSY);
    CHECK(!orphans_done);
    KIT_WAIT(orphans_done);
    CHECK_INT(orphans, 2);
    CHECK(!kit_exists(kit_path("pods/old-1")) && !kit_exists(kit_path("pods/old-2")));
    CHECK(kit_exists(kit_path("pods/known")) && kit_exists(kit_path("pods/lost+found")));
    CHECK(kit_exists(KIT_VOLUME("empty-dir/e")) && kit_exists(kit_path("pods/link")));
    CHECK_STR(kit_read(kit_path("precious/dir/file")), "y");
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

/* A pod that appears while its directory is removed as an orphan waits, and is complete then. */
TEST(a_pod_that_starts_during_its_removal_waits)
{
    kit_host_new(true);
    kit_mkdir(kit_path("pods/u/volumes/kubernetes.io~empty-dir/e/old"));
    orphans_done = false;
    CHECK_OK(volume_orphans_start(kit_host, is_known, on_orphans, NULL, NULL));
    KIT_WAIT(!kit_exists(kit_path("pods/u")) || orphans_done);
    struct volume_pod *p = kit_ready(kit_spec("u", ONE "[{name: e, emptyDir: {}}]"));
    KIT_WAIT(orphans_done);
    CHECK(kit_exists(KIT_VOLUME("empty-dir/e")) && !kit_exists(KIT_VOLUME("empty-dir/e/old")));
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

/* ---------------------------------------------------------------- used bytes */

static const struct volume_usage *usage;
static size_t n_usage;
static void on_usage(void *arg, const struct volume_usage *list, size_t n)
{
    struct volume_usage *copy = arena_new_n(&kit_arena, struct volume_usage, n);
    for (size_t i = 0; i < n; i++) {
        copy[i] = list[i];
        copy[i].name = str_copy_arena(&kit_arena, list[i].name);
    }
    usage = copy;
    n_usage = n;
}

TEST(used_bytes_of_volumes_and_logs)
{
    kit_host_new(!kit_can_mount);
    kit_secrets = kit_yaml("s: {data: {user: YWRt}}");
    struct volume_pod *p = kit_ready(
        kit_spec("u", ONE "[{name: e, emptyDir: {}}, {name: s, secret: {secretName: s}}, {name: h, "
                          "hostPath: {path: /}}]"));
    char block[20000] = { 1 };
    int fd = open(KIT_VOLUME("empty-dir/e/file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK_OK(sys_write_all(fd, block, sizeof block));
    CHECK(close(fd) == 0);
    kit_mkdir(kit_path("logs"));
    const char *dirs[] = { kit_path("logs"), kit_path("none") };
    n_usage = 0;
    CHECK_OK(volume_usage_start(p, dirs, 2, on_usage, NULL, NULL));
    kit_close(p, VOLUME_POD_REMOVE); /* it may end meanwhile */
    KIT_WAIT(n_usage);
    CHECK_INT(n_usage, 4);
    CHECK_STR(usage[0].name, "e");
    CHECK_STR(usage[1].name, "s");
    CHECK(usage[0].is_ephemeral && usage[1].is_ephemeral == !kit_can_mount);
    CHECK(usage[2].is_ephemeral && usage[2].inodes == 1 && usage[2].capacity_bytes > 0);
    CHECK(usage[3].inodes == 0 && usage[3].used_bytes == 0);
    kit_host_free();
}

KIT_MAIN
