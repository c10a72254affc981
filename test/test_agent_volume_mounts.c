/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts of containers, sub paths in particular. */
#include "agent_volume_kit.h"

#include <signal.h>
#include <sys/wait.h>

static struct {
    bool is_done;
    int r;
    size_t n;
    struct volume_mount *list;
    struct err err;
} got;

static void on_mounts(void *arg, int r, const struct volume_mount *mounts, size_t n,
                      const struct err *err)
{
    got.is_done = true;
    got.r = r;
    got.n = n;
    got.err = *err;
    got.list = arena_new_n(&kit_arena, struct volume_mount, n);
    for (size_t i = 0; i < n; i++) {
        got.list[i] = mounts[i];
        got.list[i].volume = str_copy_arena(&kit_arena, mounts[i].volume);
        got.list[i].source = str_copy_arena(&kit_arena, mounts[i].source);
        got.list[i].target = str_copy_arena(&kit_arena, mounts[i].target);
    }
}

static const struct pod_pair var = { { "NAME", 4 }, { "web-0", 5 } };
static const struct pod_pair *const by_name[] = { &var };
static const struct pod_environment env = { .vars = &var, .n = 1, .by_name = by_name };

/* Mounts of container c; the result in `got`. */
static int mounts_of(struct volume_pod *p, const struct pod_spec *spec)
{
    got.is_done = false;
    got.err = (struct err){ 0 };
    int r = volume_mounts_start(p, &spec->main[0], &env, on_mounts, NULL, &got.err);
    CHECK(!got.is_done);
    if (r < 0)
        return r;
    KIT_WAIT(got.is_done);
    return got.r;
}

static const struct pod_spec *spec_of(const char *mounts, const char *volumes)
{
    return kit_spec("u", arena_printf(&kit_arena,
                                      "containers: [{name: c, volumeMounts: [%s]}], volumes: [%s]",
                                      mounts, volumes));
}

TEST(mounts_of_all_kinds)
{
    kit_host_new(true);
    kit_config_maps = kit_yaml("cm: {data: {a: one}}");
    kit_supplied.image = "/images/x";
    kit_supplied.claim =
        (struct volume_claim){ .path = str_of(kit_path("pv")), .is_read_only = true };
    const struct pod_spec *spec = spec_of(
        "{name: e, mountPath: /e, mountPropagation: Bidirectional}, {name: cm, mountPath: rel/x}, "
        "{name: h, mountPath: /h, readOnly: true, recursiveReadOnly: Enabled, mountPropagation: "
        "HostToContainer}, {name: i, mountPath: /i}, {name: p, mountPath: /p, recursiveReadOnly: "
        "Disabled}, {name: e, mountPath: /e2, subPath: ./}",
        arena_printf(&kit_arena,
                     "{name: e, emptyDir: {}}, {name: cm, configMap: {name: cm}}, {name: h, "
                     "hostPath: {path: %s}}, {name: i, image: {reference: x}}, {name: p, "
                     "persistentVolumeClaim: {claimName: c}}",
                     kit_path("made-by-mount")));
    struct volume_pod *p = kit_ready(spec);
    CHECK(!kit_exists(kit_path("made-by-mount")));
    CHECK_OK(mounts_of(p, spec));
    CHECK_INT(got.n, 6);
    const struct volume_mount *m = got.list;
    CHECK_STR(m[0].source, KIT_VOLUME("empty-dir/e"));
    CHECK(str_is(m[0].target, "/e") && !m[0].is_read_only && str_is(m[0].volume, "e"));
    CHECK(m[0].propagation == VOLUME_BIDIRECTIONAL && m[0].kind == POD_VOLUME_EMPTY_DIR);
    CHECK_STR(m[1].target, "/rel/x");
    CHECK(m[1].is_read_only && m[1].propagation == VOLUME_PRIVATE);
    CHECK_STR(m[2].source, kit_path("made-by-mount"));
    CHECK(m[2].is_read_only && m[2].is_recursive_read_only);
    CHECK(m[2].propagation == VOLUME_FROM_HOST);
    CHECK(S_ISDIR(kit_stat(kit_path("made-by-mount")).st_mode));
    CHECK_STR(m[3].source, "/images/x");
    CHECK(m[3].is_read_only);
    CHECK(m[4].is_read_only && !m[4].is_recursive_read_only);
    CHECK_STR(m[5].source, KIT_VOLUME("empty-dir/e"));
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK(kit_exists(kit_path("made-by-mount")) && kit_exists(kit_path("pv")));
    kit_host_free();
}

static void check_refused(const char *mount, int code, const char *text)
{
    const struct pod_spec *spec = spec_of(mount, "{name: e, emptyDir: {}}");
    struct volume_pod *p = kit_ready(spec);
    CHECK_ERR(mounts_of(p, spec), code);
    CHECK_STR(str_of(got.err.text), text);
    kit_close(p, VOLUME_POD_REMOVE);
}

TEST(mounts_that_are_refused_have_upstreams_texts)
{
    kit_host_new(true);
    check_refused("{name: x, mountPath: /x}", E_INVALID,
                  "cannot find volume \"x\" to mount into container \"c\"");
    check_refused("{name: e, mountPath: /x, subPath: /etc}", E_INVALID,
                  "error SubPath `/etc` must not be an absolute path");
    check_refused("{name: e, mountPath: /x, subPath: a/../../b}", E_INVALID,
                  "unable to provision SubPath `a/../../b`: must not contain '..'");
    check_refused("{name: e, mountPath: /x, subPathExpr: $(NAME)/$(GONE)}", E_INVALID,
                  "missing value for GONE");
    check_refused("{name: e, mountPath: /x, mountPropagation: Sideways}", E_INVALID,
                  "invalid MountPropagation mode: \"Sideways\"");
    check_refused("{name: e, mountPath: /x, subPath: a}", E_UNSUPPORTED,
                  "failed to prepare subPath for volumeMount \"e\" of container \"c\"");
    kit_host_free();
}

TEST(mounts_need_volumes_that_are_ready)
{
    kit_host_new(true);
    const struct pod_spec *spec =
        spec_of("{name: e, mountPath: /x}", "{name: e, configMap: {name: gone}}");
    struct volume_pod *p = kit_started(spec);
    CHECK_ERR(mounts_of(p, spec), -EAGAIN);
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

TEST(mounts_are_cancelled_when_the_pod_ends)
{
    kit_host_new(true);
    const struct pod_spec *spec = spec_of("{name: e, mountPath: /x}", "{name: e, emptyDir: {}}");
    struct volume_pod *p = kit_ready(spec);
    got.is_done = false;
    CHECK_OK(volume_mounts_start(p, &spec->main[0], &env, on_mounts, NULL, NULL));
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK(got.is_done);
    CHECK_INT(got.r, -ECANCELED);
    kit_host_free();
}

/* ---------------------------------------------------------------- sub paths */

TEST(sub_paths_are_made_and_bound)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    kit_host_new(false);
    kit_config_maps = kit_yaml("cm: {data: {app.conf: one}}");
    const struct pod_spec *spec =
        spec_of("{name: e, mountPath: /x, subPathExpr: data/$(NAME)}, {name: cm, mountPath: "
                "/app.conf, subPath: app.conf}",
                "{name: e, emptyDir: {}}, {name: cm, configMap: {name: cm}}");
    struct volume_pod *p = kit_ready(spec);
    CHECK_OK(mounts_of(p, spec));
    CHECK_STR(got.list[0].source, kit_path("pods/u/volume-subpaths/e/c/0"));
    CHECK_STR(got.list[1].source, kit_path("pods/u/volume-subpaths/cm/c/1"));
    CHECK_INT(kit_stat(KIT_VOLUME("empty-dir/e/data/web-0")).st_mode & 07777, 0777);
    kit_write(KIT_VOLUME("empty-dir/e/data/web-0/file"), "x");
    CHECK_STR(kit_read(kit_path("pods/u/volume-subpaths/e/c/0/file")), "x");
    CHECK_STR(kit_read(kit_path("pods/u/volume-subpaths/cm/c/1")), "one");
    CHECK(S_ISREG(kit_stat(kit_path("pods/u/volume-subpaths/cm/c/1")).st_mode));
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK(!kit_exists(kit_path("pods/u")));
    kit_host_free();
}

TEST(a_restarted_container_gets_the_present_file)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    kit_host_new(false);
    kit_config_maps = kit_yaml("cm: {data: {k: one}}");
    const struct pod_spec *spec =
        spec_of("{name: cm, mountPath: /k, subPath: k}", "{name: cm, configMap: {name: cm}}");
    struct volume_pod *p = kit_ready(spec);
    const char *bound = kit_path("pods/u/volume-subpaths/cm/c/0");
    CHECK_OK(mounts_of(p, spec));
    ino_t first = kit_stat(bound).st_ino;
    CHECK_OK(mounts_of(p, spec)); /* the same file: the same mount */
    CHECK(kit_stat(bound).st_ino == first);
    kit_config_maps = kit_yaml("cm: {data: {k: two}}");
    volume_pod_update(p, spec, &kit_facts);
    KIT_WAIT(str_is(kit_read(KIT_VOLUME("configmap/cm/k")), "two"));
    CHECK_STR(kit_read(bound), "one"); /* sub paths do not follow updates */
    CHECK_OK(mounts_of(p, spec));
    CHECK_STR(kit_read(bound), "two");
    /* And a directory where a file was. */
    kit_config_maps = kit_yaml("cm: {data: {other: x}}");
    volume_pod_update(p, spec, &kit_facts);
    KIT_WAIT(!kit_exists(KIT_VOLUME("configmap/cm/k")));
    CHECK_OK(mounts_of(p, spec));
    CHECK(S_ISDIR(kit_stat(bound).st_mode));
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK(!kit_exists(kit_path("pods/u")));
    kit_host_free();
}

/* CVE-2017-1002101: a link in the volume leads to files of the host. */
TEST(links_out_of_the_volume_are_refused)
{
    static const char *const links[] = { "/", "/etc", "../../../../../..", "/proc/self/root",
                                         "../outside" };
    if (!kit_can_mount)
        SKIP("mounting needs root");
    kit_host_new(false);
    const struct pod_spec *spec =
        spec_of("{name: e, mountPath: /x, subPath: link/below}", "{name: e, emptyDir: {}}");
    struct volume_pod *p = kit_ready(spec);
    kit_mkdir(KIT_VOLUME("empty-dir/outside"));
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        CHECK(symlink(links[i], KIT_VOLUME("empty-dir/e/link")) == 0);
        CHECK(mounts_of(p, spec) < 0);
        CHECK_STR(str_of(got.err.text),
                  "failed to prepare subPath for volumeMount \"e\" of container \"c\"");
        CHECK(unlink(KIT_VOLUME("empty-dir/e/link")) == 0);
    }
    CHECK(!kit_exists("/below") && !kit_exists("/etc/below"));
    CHECK(!kit_exists(KIT_VOLUME("empty-dir/outside/below")));
    /* A link that stays inside is fine. */
    kit_mkdir(KIT_VOLUME("empty-dir/e/real"));
    CHECK(symlink("real", KIT_VOLUME("empty-dir/e/link")) == 0);
    CHECK_OK(mounts_of(p, spec));
    CHECK(kit_exists(KIT_VOLUME("empty-dir/e/real/below")));
    kit_close(p, VOLUME_POD_REMOVE);
    kit_host_free();
}

/* CVE-2021-25741: what is bound stays, whatever the container does to the path afterwards. */
TEST(a_link_that_replaces_a_bound_directory_has_no_effect)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    kit_host_new(false);
    const struct pod_spec *spec =
        spec_of("{name: e, mountPath: /x, subPath: dir}", "{name: e, emptyDir: {}}");
    struct volume_pod *p = kit_ready(spec);
    kit_mkdir(KIT_VOLUME("empty-dir/e/dir"));
    kit_write(KIT_VOLUME("empty-dir/e/dir/mine"), "x");
    CHECK_OK(mounts_of(p, spec));
    CHECK(rename(KIT_VOLUME("empty-dir/e/dir"), KIT_VOLUME("empty-dir/e/moved")) == 0);
    CHECK(symlink("/", KIT_VOLUME("empty-dir/e/dir")) == 0);
    CHECK_STR(kit_read(kit_path("pods/u/volume-subpaths/e/c/0/mine")), "x");
    CHECK(!kit_exists(kit_path("pods/u/volume-subpaths/e/c/0/etc")));
    CHECK(mounts_of(p, spec) < 0); /* the next container is refused */
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK(kit_exists("/etc"));
    kit_host_free();
}

/* Exchange a directory and a link as fast as possible, until it is killed. */
static pid_t start_exchanging(const char *a, const char *b)
{
    pid_t child = fork();
    CHECK(child >= 0);
    while (child == 0)
        (void)renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
    return child;
}

TEST(exchanging_links_during_the_look_up_never_leads_out)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    kit_host_new(false);
    const struct pod_spec *spec =
        spec_of("{name: e, mountPath: /x, subPath: dir/sub}", "{name: e, emptyDir: {}}");
    struct volume_pod *p = kit_ready(spec);
    const char *mark = kit_path("pods/u/volume-subpaths/e/c/0/secret");
    kit_mkdir(kit_path("outside/sub"));
    kit_write(kit_path("outside/sub/secret"), "x");
    kit_mkdir(KIT_VOLUME("empty-dir/e/dir/sub"));
    CHECK(symlink(kit_path("outside"), KIT_VOLUME("empty-dir/e/evil")) == 0);
    pid_t child = start_exchanging(KIT_VOLUME("empty-dir/e/dir"), KIT_VOLUME("empty-dir/e/evil"));
    unsigned n_good = 0;
    for (int i = 0; i < 300; i++) {
        n_good += mounts_of(p, spec) == 0;
        CHECK(!kit_exists(mark));
    }
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    printf("# %u of 300 look-ups met the directory\n", n_good);
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK_STR(kit_read(kit_path("outside/sub/secret")), "x");
    kit_host_free();
}

TEST(a_pod_is_removed_after_a_restart_of_the_agent)
{
    if (!kit_can_mount)
        SKIP("mounting needs root");
    kit_host_new(false);
    kit_mkdir(kit_path("host/dir"));
    kit_write(kit_path("host/dir/file"), "precious");
    const struct pod_spec *spec =
        spec_of("{name: h, mountPath: /x, subPath: dir}",
                arena_printf(&kit_arena, "{name: h, hostPath: {path: %s}}", kit_path("host")));
    struct volume_pod *p = kit_ready(spec);
    CHECK_OK(mounts_of(p, spec));
    CHECK_STR(kit_read(kit_path("pods/u/volume-subpaths/h/c/0/file")), "precious");
    kit_close(p, VOLUME_POD_KEEP);
    p = kit_ready(spec);
    kit_close(p, VOLUME_POD_REMOVE);
    CHECK(!kit_exists(kit_path("pods/u")));
    CHECK_STR(kit_read(kit_path("host/dir/file")), "precious");
    kit_host_free();
}

KIT_MAIN
